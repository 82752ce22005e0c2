"""`diff`: why one result scores higher than another on the same gold."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from msgspec import UNSET

from cs_score.analysis.evidence.analysis import AnyExaminer, members_of, numbered_units
from cs_score.analysis.evidence.documents import (
    Answer,
    Difference,
    GroupDifference,
    Judgment,
    OutcomeCount,
    UnitDifference,
)
from cs_score.analysis.outcomes import Outcome, compared_units, contributions_of, outcome_of, sides_of
from cs_score.evidence.reading import as_key
from cs_score.measures.registry import Ratio, divide
from cs_score.statistics.options import Resampling
from cs_score.tasks.task import Part

Unit: TypeAlias = tuple[object, int]
"""A unit by its id as a key, and which of those with the id it is, from 1."""


Sums: TypeAlias = Mapping[Unit, tuple[float, ...]]


def diff(
    examiners: tuple[AnyExaminer, AnyExaminer], names: tuple[str, str], top: int | None, resampling: Resampling | None
) -> Difference:
    """Where B differs from A, and what each unit contributes to the difference of their scores.

    Every measure is a ratio q = x / y of sums over units. With D for B minus A a unit contributes
    (D(x) - mean(q) D(y)) / mean(y), and all of them together D(q). A unit that only one of the two was scored on is
    nothing in the other. `resampling` has the settings of interval and p-values, as in a comparison.
    """
    a, b = (examiner.result for examiner in examiners)
    mode, measure = a.mode, examiners[0].measure
    formula = mode.formula_of([measure])
    shown: dict[Unit, tuple[object, int]] = {}
    sides: list[dict[Unit, int]] = []
    for examiner in examiners:
        named = {(as_key(unit), number): (unit, number) for unit, number in numbered_units(examiner)}
        sides.append({key: position for position, key in enumerate(named)})
        shown = named | shown
    first, second = ({key: result.table.rows[at] for key, at in side.items()} for result, side in zip((a, b), sides))

    def score(rows: Sums, units: Iterable[Unit]) -> float:
        nothing = (0.0,) * len(a.table.columns)
        sums = [math.fsum(column) for column in zip(*(rows.get(key, nothing) for key in units))]
        return float(formula(sums, divide)[0])

    def ratio(rows: Sums, key: Unit) -> tuple[float, float] | None:
        found: Ratio | None = formula(rows[key], Ratio)[0] if key in rows else None
        return None if found is None else (found.numerator, found.denominator)

    shares = contributions_of((first, second), formula)
    is_defined = bool(shares) and None not in shares.values()
    units = [
        UnitDifference(*shown[key], one, other, share)
        for key, share in shares.items()
        if ratio(first, key) != ratio(second, key)
        for one, other in [[score(rows, [key]) if key in rows else None for rows in (first, second)]]
    ]
    of_units = [
        examiners[0].groups(sides[0][key]) if key in first else examiners[1].groups(sides[1][key]) for key in shares
    ]
    keys = list(shares)

    def group(name: str, places: Iterable[int]) -> GroupDifference:
        members = [keys[place] for place in places]
        share = math.fsum(shares[key] or 0.0 for key in members) if is_defined else None
        return GroupDifference(name, score(first, members), score(second, members), share)

    answers, outcomes = _answers(examiners, sides, shown)
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
        groups={name: tuple(group(*each) for each in of.items()) for name, of in members_of(of_units).items()},
    )


def _answers(
    examiners: tuple[AnyExaminer, AnyExaminer],
    sides: Sequence[Mapping[Unit, int]],
    shown: Mapping[Unit, tuple[object, int]],
) -> tuple[list[Answer], tuple[OutcomeCount, ...]]:
    """The parts of each unit that were judged differently, those of A and then those that only B has; all counted."""
    differing = []
    often: Counter[tuple[str, Outcome]] = Counter()
    for unit in dict.fromkeys((*sides[0], *sides[1])):
        ones, others = (_parts(examiner, side.get(unit)) for examiner, side in zip(examiners, sides))
        for key in dict.fromkeys((*ones, *others)):
            known = ones[key] if key in ones else others[key]
            one, other = (_judgment(parts.get(key)) for parts in (ones, others))
            right = one is not None and one.right, other is not None and other.right
            outcome = outcome_of(right, (one is not None, other is not None))
            often[known.what, outcome] += 1
            if (one and one.judgment) != (other and other.judgment):
                differing.append(Answer(*shown[unit], known.what, known.value, one, other, outcome))
    whats = sorted({what for what, _ in often})
    return differing, tuple(OutcomeCount(what, each, often[what, each]) for what in whats for each in Outcome)


def _parts(examiner: AnyExaminer, position: int | None) -> Mapping[tuple[str, str, int], Part]:
    """A unit's parts by what they are, their value, and which of equal ones they are."""
    seen: Counter[tuple[str, str]] = Counter()
    found = {}
    for part in () if position is None else examiner.parts(position, examiner.written(position)):
        key = part.what, json.dumps(part.value, sort_keys=True)
        seen[key] += 1
        found[*key, seen[key]] = part
    return found


def _judgment(part: Part | None) -> Judgment | None:
    return None if part is None or part.judgment is None else Judgment(part.right, part.judgment)
