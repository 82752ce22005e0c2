"""What resampling gives: intervals of a run's scores, and systems compared on the same units. Loads no numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import UNSET, UnsetType

from cs_score.base.documents import Document
from cs_score.base.records import Record, field
from cs_score.base.signing.origin import Origin
from cs_score.statistics.options import Note, PairedTest, Resampling, never_significant


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


class RankedSystem(Interval, frozen=True, kw_only=True):
    """One system under one measure, with its score.

    `rank` counts from 1, equal systems sharing the better rank; `rank_low` to `rank_high` is the range of the rank
    over the resamples, without the extremes (`paired_tests.rank_ranges`); `tier` is explained in `paired_tests.tiers`.
    """

    system: str
    rank: int
    rank_low: int
    rank_high: int
    tier: int


class PValues(Record):
    """The p-value of one pair by one test, as it is and after Holm's correction over all pairs of the measure."""

    raw: float = field(name="p")
    holm: float = field(name="p_holm")


class Equivalence(Record):
    """Two one-sided tests of the hypothesis that two systems differ by `margin` or more, in either direction.

    `p` is the larger of the two p-values, `p_adjusted` that after Holm's correction over the pairs; `equivalent` where
    this is at most the level. Where the differences of all units are the same there is no test: None, and false.
    """

    margin: float
    p: float | None
    p_adjusted: float | None
    equivalent: bool


class PairedSystems(Record):
    """Two systems under one measure: `difference` is the score of `second` minus that of `first`.

    `wins` are the units that speak for `second`, `ties` those for neither, `losses` those for `first`: None where one
    of the scores is undefined (0/0). `standard_deviation`, `effect_size` and `superiority` are explained in
    `planning.Effect`; `equivalence` is None unless it was asked for.
    """

    first: str
    second: str
    difference: Interval
    randomisation: PValues
    bootstrap: PValues
    wins: int | None
    ties: int | None
    losses: int | None
    standard_deviation: float | None = None
    effect_size: float | None = None
    superiority: float | None = None
    equivalence: Equivalence | None = None

    def p_values(self, test: PairedTest) -> PValues:
        return self.randomisation if test == "randomisation" else self.bootstrap


class MeasureComparison(Record):
    """All systems under one measure from best to worst, and all pairs in the order in which the systems were given."""

    measure: str
    systems: tuple[RankedSystem, ...]
    pairs: tuple[PairedSystems, ...]


class Comparison(Document, frozen=True, kw_only=True, tag="comparison"):
    """Two or more systems on the same units.

    `test` is the one that decides about the tiers, at the level 1 - confidence, after Holm's correction; `enumerated`
    says that randomisation has made every exchange of units, so that its p-values are exact. `dropped` are the units
    of each system that were left out to compare all on the same. `signatures` and `origins` are by system; `task` is
    empty where it is known to nobody.
    """

    schema_version: Literal[2] = 2
    systems: tuple[str, ...]
    units: int
    resampling: Resampling
    test: PairedTest
    enumerated: bool
    notes: tuple[Note, ...]
    dropped: Mapping[str, tuple[str, ...]] | UnsetType = UNSET
    measures: tuple[MeasureComparison, ...]
    signatures: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, Origin] = field(default_factory=dict)

    @property
    def can_be_significant(self) -> bool:
        """Whether any difference could have been called significant by the test that decides about the tiers."""
        return not never_significant(self.test, self.units, len(self.systems), self.resampling)
