"""`diff`: why one result scores higher than another on the same gold."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import UNSET

from cs_score.analysis.evidence.documents import (
    Answer,
    Difference,
    GroupDifference,
    Judgment,
    OutcomeCount,
    UnitDifference,
)
from cs_score.analysis.outcomes import Outcome, compared_units, contributions_of, members_of, outcome_of, sides_of
from cs_score.evidence.reading import as_key
from cs_score.measures.registry import Ratio, divide
from cs_score.statistics.options import Resampling
from cs_score.tasks.task import Examiner, Part

Unit: TypeAlias = tuple[object, int]
"""A unit by its id as a key, and which of those with the id it is, from 1."""


class _Side:
    """One of two results: its units by their keys, in the order of its table."""

    def __init__(self, examiner: Examiner[Any]) -> None:
        self._examiner, table = examiner, examiner.result.table
        self._formula = examiner.result.mode.formula_of([examiner.measure])
        self._nothing = (0.0,) * len(table.columns)
        self.shown = {(as_key(unit), number): (unit, number) for unit, number in examiner.numbered()}
        self.rows = dict(zip(self.shown, table.rows))
        self._positions = {unit: position for position, unit in enumerate(self.shown)}

    def score(self, units: Iterable[Unit]) -> float:
        """Of some units; those that were not scored add nothing."""
        sums = [math.fsum(column) for column in zip(*(self.rows.get(unit, self._nothing) for unit in units))]
        return float(self._formula(sums, divide)[0])

    def ratio(self, unit: Unit) -> tuple[float, float] | None:
        """Numerator and denominator of the score of a unit; None where it was not scored."""
        found: Ratio | None = self._formula(self.rows[unit], Ratio)[0] if unit in self.rows else None
        return None if found is None else (found.numerator, found.denominator)

    def groups(self, unit: Unit) -> Mapping[str, str]:
        return self._examiner.groups(self._positions[unit])

    def parts(self, unit: Unit) -> Mapping[tuple[str, str, int], Part]:
        """The parts of a unit by what they are, their value, and which of equal ones they are."""
        position = self._positions.get(unit)
        seen: Counter[tuple[str, str]] = Counter()
        found = {}
        for part in () if position is None else self._examiner.parts(position, self._examiner.written(position)):
            key = part.what, json.dumps(part.value, sort_keys=True)
            seen[key] += 1
            found[*key, seen[key]] = part
        return found


def diff(
    examiners: Sequence[Examiner[Any]], names: tuple[str, str], top: int | None, resampling: Resampling | None
) -> Difference:
    """Where B differs from A, and what each unit contributes to the difference of their scores.

    Every measure is a ratio q = x / y of sums over units. With D for B minus A a unit contributes
    (D(x) - mean(q) D(y)) / mean(y), and all of them together D(q). A unit that only one of the two was scored on is
    nothing in the other. `resampling` has the settings of interval and p-values, as in a comparison.
    """
    a, b = (examiner.result for examiner in examiners)
    mode, measure = a.mode, examiners[0].measure
    formula = mode.formula_of([measure])
    first, second = sides = [_Side(examiner) for examiner in examiners]
    shown = second.shown | first.shown
    shares = contributions_of((first.rows, second.rows), formula)
    is_defined = bool(shares) and None not in shares.values()
    units = [
        UnitDifference(*shown[unit], one, other, share)
        for unit, share in shares.items()
        if first.ratio(unit) != second.ratio(unit)
        for one, other in [[side.score([unit]) if unit in side.rows else None for side in sides]]
    ]
    keys = list(shares)

    def group(name: str, places: Iterable[int]) -> GroupDifference:
        members = [keys[place] for place in places]
        share = math.fsum(shares[unit] or 0.0 for unit in members) if is_defined else None
        return GroupDifference(name, first.score(members), second.score(members), share)

    groups = members_of([(first if unit in first.rows else second).groups(unit) for unit in keys])
    answers, outcomes = _answers(first, second, shown)
    compared = compared_units(
        (a.table, b.table), measure, formula, names, resampling, mode.unit, f"{mode.unit}s", is_defined
    )
    return Difference(
        task=mode.name,
        **sides_of(measure, names, (a.scores[measure], b.scores[measure]), (a.origin, b.origin), *compared),
        top=UNSET if top is None else top,
        units=tuple(sorted(units, key=lambda unit: -abs(unit.contribution or 0.0))[:top]),
        answers=tuple(answers[:top]),
        outcomes=outcomes,
        groups={name: tuple(group(*each) for each in members.items()) for name, members in groups.items()},
    )


def _answers(
    first: _Side, second: _Side, shown: Mapping[Unit, tuple[object, int]]
) -> tuple[list[Answer], tuple[OutcomeCount, ...]]:
    """The parts of each unit that were judged differently, those of A and then those that only B has; all counted."""
    differing = []
    often: Counter[tuple[str, Outcome]] = Counter()
    for unit in dict.fromkeys((*first.shown, *second.shown)):
        ones, others = first.parts(unit), second.parts(unit)
        for key in dict.fromkeys((*ones, *others)):
            known = ones[key] if key in ones else others[key]
            one, other = (
                None if part is None or part.judgment is None else Judgment(part.right, part.judgment)
                for part in (ones.get(key), others.get(key))
            )
            right = one is not None and one.right, other is not None and other.right
            outcome = outcome_of(right, (one is not None, other is not None))
            often[known.what, outcome] += 1
            if (one and one.judgment) != (other and other.judgment):
                differing.append(Answer(*shown[unit], known.what, known.value, one, other, outcome))
    whats = sorted({what for what, _ in often})
    return differing, tuple(OutcomeCount(what, each, often[what, each]) for what in whats for each in Outcome)
