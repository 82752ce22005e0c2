"""What resampling gives: intervals of a run's scores, and systems compared on the same units. Loads no numpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from cs_score.base.records import Record, asdict, field, to_builtins
from cs_score.base.signing.origin import Origin
from cs_score.statistics.options import (
    Note,
    PairedTest,
    Resampling,
    common_only,
    is_enumerated,
    never_significant,
    notes_of,
)

SCHEMA_VERSION: Final = 1
"""Of a comparison as JSON; raised when a key changes its meaning or goes away."""


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

    def as_json(self) -> dict[str, Any]:
        """The fields, those of undefined resamples and notes only where there are any."""
        found: dict[str, Any] = to_builtins(self)
        return found if not self.notes else {**found, "notes": list(found["notes"])}


class ScoreIntervals(Record):
    """The interval of each score, by the name of the measure in the order of tables, from `units` resampled units."""

    units: int
    resampling: Resampling
    scores: Mapping[str, Interval]

    def __repr__(self) -> str:
        return f"<{len(self.scores)} intervals, {self.units} units>"

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader must know of all of them; notes on single ones stand with these."""
        return notes_of(self.units, self.resampling)

    def as_json(self) -> dict[str, object]:
        return {
            **self.resampling.as_json(),
            "units": self.units,
            "notes": list(to_builtins(self.notes)),
            "scores": {measure: interval.as_json() for measure, interval in self.scores.items()},
        }


class RankedSystem(Record):
    """One system under one measure.

    `rank` counts from 1, equal systems sharing the better rank; `rank_low` to `rank_high` is the range of the rank
    over the resamples, without the extremes (`paired_tests.rank_ranges`); `tier` is explained in `paired_tests.tiers`.
    """

    system: str
    score: Interval
    rank: int
    rank_low: int
    rank_high: int
    tier: int


class PValues(Record):
    """The p-value of one pair by one test, as it is and after Holm's correction over all pairs of the measure."""

    raw: float
    holm: float


class UnitRecord(Record):
    """How many units speak for a system, for neither, and for the other one."""

    wins: int
    ties: int
    losses: int


class PairedSystems(Record):
    """Two systems under one measure: `difference` is the score of `second` minus that of `first`, as in `diff`.

    `record` counts the units that speak for `second` as wins. There is none where one of the scores is undefined (0/0).
    """

    first: str
    second: str
    difference: Interval
    randomisation: PValues
    bootstrap: PValues
    record: UnitRecord | None

    def p_values(self, test: PairedTest) -> PValues:
        return self.randomisation if test == "randomisation" else self.bootstrap


class MeasureComparison(Record):
    """All systems under one measure from best to worst, and all pairs in the order in which the systems were given."""

    measure: str
    systems: tuple[RankedSystem, ...]
    pairs: tuple[PairedSystems, ...]


class Comparison(Record):
    """The comparison of two or more systems on the same units.

    `test` is the one that decides about the tiers, at the level 1 - confidence, after Holm's correction. `origins`
    has by system what its scores were computed from, where that is known. `dropped` are the units that were left out
    of each system to compare all on the same; None where all units had to be the same.
    """

    systems: tuple[str, ...]
    units: int
    resampling: Resampling
    test: PairedTest
    measures: tuple[MeasureComparison, ...]
    origins: Mapping[str, Origin] = field(default_factory=dict)
    dropped: Mapping[str, tuple[str, ...]] | None = None

    @property
    def is_enumerated(self) -> bool:
        """Whether randomisation has made every exchange of units, so that its p-values are exact."""
        return is_enumerated(self.units, self.resampling.resamples)

    @property
    def can_be_significant(self) -> bool:
        """Whether any difference could have been called significant by the test that decides about the tiers."""
        return not never_significant(self.test, self.units, len(self.systems), self.resampling)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader must know about all of it; notes on single numbers stand with their intervals."""
        return (
            *(() if self.dropped is None else (common_only(self.units, self.dropped),)),
            *never_significant(self.test, self.units, len(self.systems), self.resampling),
            *notes_of(self.units, self.resampling),
        )

    def as_json(self) -> dict[str, object]:
        return {
            "schema_version": SCHEMA_VERSION,
            "systems": list(self.systems),
            "units": self.units,
            "resampling": self.resampling.as_json(),
            "test": self.test,
            "enumerated": self.is_enumerated,
            "notes": list(to_builtins(self.notes)),
            **({} if self.dropped is None else {"dropped": {name: list(ids) for name, ids in self.dropped.items()}}),
            "measures": [
                {
                    "measure": measure.measure,
                    "systems": [_system_json(entry) for entry in measure.systems],
                    "pairs": [_pair_json(pair) for pair in measure.pairs],
                }
                for measure in self.measures
            ],
            **({"signatures": {name: each.as_json() for name, each in self.origins.items()}} if self.origins else {}),
        }


def _system_json(entry: RankedSystem) -> dict[str, object]:
    ranks = {"rank": entry.rank, "rank_low": entry.rank_low, "rank_high": entry.rank_high, "tier": entry.tier}
    return {"system": entry.system, **entry.score.as_json(), **ranks}


def _pair_json(pair: PairedSystems) -> dict[str, object]:
    return {
        "first": pair.first,
        "second": pair.second,
        "difference": pair.difference.as_json(),
        "randomisation": {"p": pair.randomisation.raw, "p_holm": pair.randomisation.holm},
        "bootstrap": {"p": pair.bootstrap.raw, "p_holm": pair.bootstrap.holm},
        **(dict.fromkeys(("wins", "ties", "losses")) if pair.record is None else asdict(pair.record)),
    }
