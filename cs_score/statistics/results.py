"""What resampling gives: intervals of a run's scores, and systems compared on the same units. A resample draws units
(queries, claims) at random. The limits of an interval come from the scores in many resamples. Loads no numpy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

from msgspec import UNSET, UnsetType

from cs_score.base.documents import Document
from cs_score.base.records import Record, field
from cs_score.base.signature import Origin
from cs_score.statistics.resampling_settings import (
    Family,
    Note,
    Resampling,
    TestOfEquivalence,
    limits_in_words,
    note_sentences,
)

SETTINGS_COLUMNS: Final = ("confidence", "method", "resamples", "seed", "units", "unit", "notes")
"""Columns of files for programs that say how limits came about."""


class Interval(Record, omit_defaults=True):
    """A score with its bootstrap interval.

    `point` is the score on all units, `low` and `high` are the limits: None where too many resamples are undefined for
    an interval. `undefined_resamples` were left out; `notes` say what a reader must know of this score, `note` in one
    line.
    """

    point: float
    low: float | None
    high: float | None
    undefined_resamples: int = 0
    note: str = ""
    notes: tuple[Note, ...] = ()


class ScoreIntervals(Record):
    """The interval of each score, by the name of the measure in the order of tables, from `units` resampled units."""

    resampling: Resampling
    units: int
    scores: Mapping[str, Interval]
    notes: tuple[Note, ...] = ()

    def __repr__(self) -> str:
        return f"<{len(self.scores)} intervals, {self.units} units>"

    def explanation(self, measures: Iterable[str] | None = None, *, limits_name: str = "Low, High") -> list[str]:
        """Return the sentences below a table of limits: how limits were computed, then notes on single and all scores.

        `measures` are the measures in the table, by default all of them. `limits_name` is the heading of the limits in
        the table.
        """
        shown_measures = self.scores if measures is None else measures
        sentences = [f"{limits_name}: {limits_in_words(self.resampling, self.units)}."]
        for note, measures_of_note in self._measures_by_note(shown_measures).items():
            sentences.append(f"{', '.join(measures_of_note)}: {note}.")
        return sentences + note_sentences(self.notes)

    def _measures_by_note(self, measures: Iterable[str]) -> dict[str, list[str]]:
        """Return the measures whose score has a note, by the note: `{"one unit only": ["F1", "recall"]}`."""
        interval_by_measure = self.scores
        measures_by_note: dict[str, list[str]] = {}
        for measure in measures:
            interval = interval_by_measure.get(measure)
            if interval is not None and interval.note:
                measures_by_note.setdefault(interval.note, []).append(measure)
        return measures_by_note

    def settings_row(self) -> dict[str, str | int | float]:
        """Return the settings by which the limits were computed, by the columns of `SETTINGS_COLUMNS`."""
        settings = self.resampling
        return {
            "confidence": settings.confidence,
            "method": settings.method or "",
            "resamples": settings.resamples,
            "seed": settings.seed,
            "units": self.units,
            "unit": settings.unit,
            "notes": "; ".join(note.text for note in self.notes),
        }


class RankedSystem(Record, kw_only=True, omit_defaults=True):
    """One system under one measure: its score with the interval, as `Interval` has them.

    `rank` counts from 1, equal systems sharing the better rank; `rank_low` to `rank_high` is the range of the rank
    over the resamples, without the extremes. Systems of a `tier` do not differ significantly from the best of it; None
    where the pairs with a baseline alone were tested.
    """

    name: str
    score: float
    low: float | None
    high: float | None
    rank: int
    rank_low: int
    rank_high: int
    tier: int | None
    undefined_resamples: int = 0
    note: str = ""
    notes: tuple[Note, ...] = ()


class Equivalence(Record):
    """Two one-sided tests of the hypothesis that two systems differ by `margin` or more, in either direction.

    `p` is the larger of the two p-values, `p_adjusted` that after Holm's correction over the pairs; `equivalent` where
    this is at most the level. `test` is Nam's score test for units that are right or wrong, otherwise the t test. Where
    units that are graded do not differ, or all by the same, no test is needed: p is None, and `reason` says why.
    """

    margin: float
    p: float | None
    p_adjusted: float | None
    equivalent: bool
    test: TestOfEquivalence
    reason: str = ""


class PairedSystems(Record, kw_only=True):
    """Two systems under one measure: `difference` is the score of `b` minus that of `a`, with its interval.

    `p` is that of the test of the family, `p_adjusted` what its correction makes of it. `wins` are the units that speak
    for `b`, `ties` those for neither, `losses` those for `a`: None where one of the scores is undefined (0/0).
    `standard_deviation` is that of the units' differences, `effect_size` the difference over it (None for 0/0).
    `equivalence` is None unless it was asked for. `are_right_or_wrong`: each unit is 0 or 1 under either system, and
    drawn by itself.
    """

    a: str
    b: str
    difference: float
    low: float | None
    high: float | None
    p: float
    p_adjusted: float
    wins: int | None
    ties: int | None
    losses: int | None
    standard_deviation: float | None = None
    effect_size: float | None = None
    equivalence: Equivalence | None = None
    are_right_or_wrong: bool = False
    undefined_resamples: int = 0
    note: str = ""
    notes: tuple[Note, ...] = ()

    @property
    def interval(self) -> Interval:
        """The difference as a score with its interval."""
        return Interval(self.difference, self.low, self.high, self.undefined_resamples, self.note, self.notes)

    def disagrees(self, significance_level: float) -> bool:
        """Return whether the interval and the corrected test disagree: only one of them finds a difference."""
        if self.low is None or self.high is None:
            return False
        excludes_zero = not self.low <= 0 <= self.high
        is_significant = self.p_adjusted <= significance_level
        return excludes_zero != is_significant


class MeasureComparison(Record):
    """All systems under one measure from best to worst, and all pairs of the family in the order of the systems.

    A measure that is not the primary one is `exploratory`. `verdict` says in a sentence which systems differ; `notes`
    are on the pairs. `unranked` names the systems that have no value of the measure: they have no rank and are in no
    pair.
    """

    measure: str
    exploratory: bool
    family: Family
    systems: tuple[RankedSystem, ...]
    pairs: tuple[PairedSystems, ...]
    verdict: str = ""
    notes: tuple[Note, ...] = ()
    unranked: tuple[str, ...] | UnsetType = UNSET

    @property
    def title(self) -> str:
        """The name of the measure, and whether it is exploratory."""
        return f"{self.measure} (exploratory)" if self.exploratory else self.measure

    @property
    def tests_in_words(self) -> str:
        """The family of tests in words: `max-T over 3 systems, 3 pairs, 10,000 sign flips, F1`."""
        return self.family.in_words(self.measure)


class SystemComparison(Document, frozen=True, kw_only=True, tag="comparison"):
    """Two or more systems on the same units.

    `measure` is the primary one, by which a ranking is decided; all others are exploratory. Tiers follow the corrected
    tests at the level 1 - confidence. `dropped` are the units of each system that were left out to compare all on the
    same. `undefined` has by system the measures that have no value for it, with the reasons: it has no rank by
    these, and is in no pair. `signatures` and `origins` are by system; `task` is empty where it is known to nobody.
    """

    schema_version: Literal[4] = 4
    systems: tuple[str, ...]
    units: int
    resampling: Resampling
    notes: tuple[Note, ...]
    dropped: Mapping[str, tuple[str, ...]] | UnsetType = UNSET
    undefined: Mapping[str, Mapping[str, str]] | UnsetType = UNSET
    measures: tuple[MeasureComparison, ...]
    signatures: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, Origin] = field(default_factory=dict)

    @property
    def primary(self) -> MeasureComparison:
        """The comparison under the primary measure."""
        return next(compared for compared in self.measures if not compared.exploratory)
