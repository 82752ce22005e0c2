"""What resampling gives: intervals of a run's scores, and systems compared on the same units. Loads no numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import UNSET, UnsetType

from cs_score.base.documents import Document
from cs_score.base.records import Record, field
from cs_score.base.signature import Origin
from cs_score.statistics.options import Family, Note, Resampling


class Interval(Record, omit_defaults=True):
    """A score with its bootstrap interval.

    `point` is the score on all units, `low` and `high` the limits, `standard_error` the spread of the resamples: None
    where too many resamples are undefined for an interval. `undefined_resamples` were left out; `notes` say what a
    reader must know of this score, `note` in one line.
    """

    point: float
    low: float | None
    high: float | None
    standard_error: float | None
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
    standard_error: float | None
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
    this is at most the level. Where the differences of all units are the same there is no test: None, and false.
    """

    margin: float
    p: float | None
    p_adjusted: float | None
    equivalent: bool


class PairedSystems(Record, kw_only=True):
    """Two systems under one measure: `difference` is the score of `b` minus that of `a`, with its interval.

    `p` is that of randomisation (or of the sign test), `p_adjusted` what the correction of the family makes of it, and
    `p_bootstrap` that of the paired bootstrap, uncorrected. `wins` are the units that speak for `b`, `ties` those for
    neither, `losses` those for `a`: None where one of the scores is undefined (0/0). `standard_deviation` is that of
    the units' differences, `effect_size` the difference over it (0/0 is none), `superiority` the share of units that
    speak for `b`, those that speak for neither counting half. `equivalence` is None unless it was asked for.
    """

    a: str
    b: str
    difference: float
    low: float | None
    high: float | None
    standard_error: float | None
    p: float
    p_adjusted: float
    p_bootstrap: float
    wins: int | None
    ties: int | None
    losses: int | None
    standard_deviation: float | None = None
    effect_size: float | None = None
    superiority: float | None = None
    equivalence: Equivalence | None = None
    undefined_resamples: int = 0
    note: str = ""
    notes: tuple[Note, ...] = ()

    @property
    def interval(self) -> Interval:
        """The difference as a score with its interval."""
        limits = (self.low, self.high, self.standard_error)
        return Interval(self.difference, *limits, self.undefined_resamples, self.note, self.notes)

    def disagrees(self, level: float) -> bool:
        """Whether the interval says otherwise than the corrected test."""
        if self.low is None or self.high is None:
            return False
        return (not self.low <= 0 <= self.high) != (self.p_adjusted <= level)


class MeasureComparison(Record):
    """All systems under one measure from best to worst, and all pairs of the family in the order of the systems.

    A measure that is not the primary one is `exploratory`; `notes` are on the pairs.
    """

    measure: str
    exploratory: bool
    family: Family
    systems: tuple[RankedSystem, ...]
    pairs: tuple[PairedSystems, ...]
    notes: tuple[Note, ...] = ()

    @property
    def title(self) -> str:
        return f"{self.measure} (exploratory)" if self.exploratory else self.measure

    @property
    def tests(self) -> str:
        """Its family of tests in words."""
        return self.family.words(self.measure)


class Comparison(Document, frozen=True, kw_only=True, tag="comparison"):
    """Two or more systems on the same units.

    `measure` is the primary one, by which a ranking is decided; all others are exploratory. Tiers follow the corrected
    tests at the level 1 - confidence. `dropped` are the units of each system that were left out to compare all on the
    same. `undefined` has by system the measures that have no value for it, with the reasons: nothing is compared by
    these. `signatures` and `origins` are by system; `task` is empty where it is known to nobody.
    """

    schema_version: Literal[3] = 3
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
        """What is said of the primary measure."""
        return next(each for each in self.measures if not each.exploratory)
