"""The units of two results side by side, and what each contributes to the difference of their scores."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from cs_score.analysis.evidence.mending import AnyExaminer
from cs_score.analysis.evidence.modes.examiner import Part, Row
from cs_score.base.records import Record
from cs_score.measures.formulas import Ratio, divide
from cs_score.statistics.arithmetic import contributions

Examiners: TypeAlias = tuple[AnyExaminer, AnyExaminer]


class UnitPair(Record):
    """A unit by its id in gold and which of those with the id it is, from 1; its positions in the tables of A and B.

    The position is None where the unit was not scored.
    """

    unit: object
    occurrence: int
    positions: tuple[int | None, int | None]


def pairs_of(examiners: Examiners) -> list[UnitPair]:
    """The units of A in their order, then those that only B has."""
    first, second = (dict(_places(examiner)) for examiner in examiners)
    return [UnitPair(*key, (first.get(key), second.get(key))) for key in dict.fromkeys((*first, *second))]


def _places(examiner: AnyExaminer) -> Iterator[tuple[tuple[object, int], int]]:
    seen: Counter[object] = Counter()
    for position in range(len(examiner.result.table.ids)):
        unit = examiner.unit(position)
        seen[unit] += 1
        yield (unit, seen[unit]), position


class Paired(Record):
    """Two results with their units side by side."""

    examiners: Examiners
    pairs: Sequence[UnitPair]

    @property
    def measure(self) -> str:
        """The measure that is asked about."""
        return self.examiners[0].measure

    def rows(self, side: int, pairs: Iterable[UnitPair]) -> list[Row]:
        """The statistics of units on one side; zeros for those that were not scored there."""
        table = self.examiners[side].result.table
        nothing = (0.0,) * len(table.columns)
        places = (pair.positions[side] for pair in pairs)
        return [nothing if place is None else table.rows[place] for place in places]

    def score(self, side: int, pairs: Iterable[UnitPair]) -> float:
        """The score of some units on one side."""
        sums = [math.fsum(column) for column in zip(*self.rows(side, pairs))]
        return float(self._of_measure(sums, divide))

    def ratio(self, side: int) -> Ratio:
        """Numerator and denominator of the measure by unit."""
        rows = np.array(self.rows(side, self.pairs), dtype=np.float64)
        found: Ratio = self._of_measure(list(rows.T), Ratio)
        return found

    def shares(self) -> list[float] | None:
        """What each unit contributes to the score of B minus that of A; None where a score is 0/0."""
        if not self.pairs:
            return None
        found = contributions(self.ratio(0), self.ratio(1))
        return None if found is None else found.tolist()

    def parts(self, side: int, pair: UnitPair) -> list[Part]:
        """What became of gold's and the prediction's parts of a unit."""
        place = pair.positions[side]
        return [] if place is None else list(self.examiners[side].parts(place))

    def groups(self, pair: UnitPair) -> dict[str, str]:
        """The groups of a unit, which are those of gold."""
        side, place = next((side, place) for side, place in enumerate(pair.positions) if place is not None)
        return dict(self.examiners[side].groups(place))

    def _of_measure(self, sums: Sequence[object], by: object) -> Any:
        mode = self.examiners[0].result.mode
        return mode.formula(sums, by)[mode.measures.index(self.measure)]
