"""`diff`: why one result scores higher than another on the same gold."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

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
from cs_score.analysis.outcomes import Outcome, Significance, outcome_of
from cs_score.base.errors import InputError
from cs_score.base.late import Late
from cs_score.base.records import Record, replace
from cs_score.evidence.reading import as_key
from cs_score.evidence.result import scores_at
from cs_score.measures.formulas import Ratio, divide
from cs_score.statistics.arithmetic import ColumnFormula, contributions
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.options import Note, Resampling
from cs_score.statistics.results import Comparison
from cs_score.tasks.task import Part, Row

if TYPE_CHECKING:
    import numpy as np
else:
    np = Late("numpy")

Examiners: TypeAlias = tuple[AnyExaminer, AnyExaminer]


class UnitPair(Record):
    """A unit by its id in gold and which of those with the id it is, from 1; its positions in the tables of A and B.

    The position is None where the unit was not scored.
    """

    unit: Any
    occurrence: int
    positions: tuple[int | None, int | None]


class Paired(Record):
    """Two results with their units side by side."""

    examiners: Examiners
    pairs: Sequence[UnitPair]

    @classmethod
    def of(cls, examiners: Examiners) -> Paired:
        """The units of A in their order, then those that only B has."""
        names = [numbered_units(examiner) for examiner in examiners]
        first, second = ({(as_key(unit), number): at for at, (unit, number) in enumerate(each)} for each in names)
        pairs = []
        for key in dict.fromkeys((*first, *second)):
            a, b = first.get(key), second.get(key)
            pairs.append(UnitPair(*(names[0][a] if a is not None else names[1][b or 0]), (a, b)))
        return cls(examiners, pairs)

    def rows(self, side: int, pairs: Iterable[UnitPair]) -> list[Row]:
        """The statistics of units on one side; zeros for those that were not scored there."""
        table = self.examiners[side].result.table
        nothing = (0.0,) * len(table.columns)
        places = (pair.positions[side] for pair in pairs)
        return [nothing if place is None else table.rows[place] for place in places]

    def score(self, side: int, pairs: Iterable[UnitPair]) -> float:
        """The score of some units on one side."""
        return float(self._measured([math.fsum(column) for column in zip(*self.rows(side, pairs))], divide))

    def ratio(self, side: int) -> Ratio:
        """Numerator and denominator of the measure by unit."""
        found: Ratio = self._measured(list(np.array(self.rows(side, self.pairs), dtype=np.float64).T), Ratio)
        return found

    def _measured(self, sums: Sequence[object], by: object) -> Any:
        mode = self.examiners[0].result.mode
        return mode.formula(sums, by)[mode.measures.index(self.examiners[0].measure)]


def diff(examiners: Examiners, names: tuple[str, str], top: int | None, resampling: Resampling | None) -> Difference:
    """Where B differs from A, and what each unit contributes to the difference of their scores.

    Every measure is a ratio q = x / y of sums over units. With D for B minus A a unit contributes
    (D(x) - mean(q) D(y)) / mean(y), and all of them together D(q). A unit that only one of the two was scored on is
    nothing in the other. `resampling` has the settings of interval and p-values, as in a comparison.
    """
    a, b = (examiner.result for examiner in examiners)
    measure = examiners[0].measure
    paired = Paired.of(examiners)
    ratios = [paired.ratio(side) for side in range(2)] if paired.pairs else []
    found = contributions(*ratios) if ratios else None
    shares = None if found is None else found.tolist()
    compared, notes = _compared(paired, names, resampling, is_defined=shares is not None)
    pair = None if compared is None else compared.measures[0].pairs[0]
    answers, outcomes = _answers(paired)
    origins = {side: replace(result.origin, measure=measure) for side, result in zip("ab", (a, b))}
    return Difference(
        task=a.mode.name,
        measure=measure,
        a=a.scores[measure],
        b=b.scores[measure],
        difference=b.scores[measure] - a.scores[measure],
        names=dict(zip("ab", names)),
        top=UNSET if top is None else top,
        interval=None if pair is None else pair.difference,
        p=None if pair is None else Significance(pair.randomisation.raw, pair.bootstrap.raw),
        resampling=None if compared is None else compared.resampling,
        notes=notes,
        units=tuple(_units(paired, ratios, shares)[:top]),
        answers=tuple(answers[:top]),
        outcomes=outcomes,
        groups=_groups(paired, shares),
        signatures={side: str(origin.signature) for side, origin in origins.items()},
        origins=origins,
    )


def _compared(
    paired: Paired, names: tuple[str, str], resampling: Resampling | None, *, is_defined: bool
) -> tuple[Comparison | None, tuple[Note, ...]]:
    """Interval and p-values where both have the same units, and what a reader must know beside the numbers."""
    first, second = (examiner.result for examiner in paired.examiners)
    mode, measure = first.mode, paired.examiners[0].measure
    notes: list[Note] = []
    if not is_defined:
        notes.append(Note("UNDEFINED", f"no contributions: {measure} is 0/0 for one of the two, and counts 0"))
    if first.table.ids != second.table.ids:
        text = f"no interval: {names[0]} and {names[1]} were not scored on the same {mode.unit}s"
        return None, (*notes, Note("OTHER_UNITS", text))
    formula = ColumnFormula(partial(scores_at, mode.formula, (mode.measures.index(measure),)))
    settings = replace(resampling or Resampling(can_grow=True), unit=mode.unit)
    try:
        compared = compare_tables({"a": first.table, "b": second.table}, [measure], formula, settings)
    except InputError as error:
        return None, (*notes, Note("NO_UNITS", f"no interval: {error.problem}"))
    return compared, (*notes, *compared.notes, *compared.measures[0].pairs[0].difference.notes)


def _units(paired: Paired, ratios: Sequence[Ratio], shares: Sequence[float] | None) -> list[UnitDifference]:
    """The units whose numerator or denominator differs, the largest contribution first."""
    rows = [list(zip(ratio.numerator.tolist(), ratio.denominator.tolist())) for ratio in ratios]
    found = []
    for number, pair in enumerate(paired.pairs):
        if rows[0][number] != rows[1][number] or None in pair.positions:
            a, b = (None if pair.positions[side] is None else paired.score(side, [pair]) for side in range(2))
            share = None if shares is None else shares[number]
            found.append(UnitDifference(pair.unit, pair.occurrence, a, b, share))
    return sorted(found, key=lambda unit: -abs(unit.contribution or 0.0))


def _answers(paired: Paired) -> tuple[list[Answer], tuple[OutcomeCount, ...]]:
    """The parts of each unit that were judged differently, those of A and then those that only B has; all counted."""
    differing = []
    often: Counter[tuple[str, Outcome]] = Counter()
    for unit in paired.pairs:
        ones, others = (_by_value(paired, side, unit) for side in range(2))
        for key in dict.fromkeys((*ones, *others)):
            known = ones[key] if key in ones else others[key]
            a, b = (_judgment(parts.get(key)) for parts in (ones, others))
            outcome = outcome_of((a is not None and a.right, b is not None and b.right), (a is not None, b is not None))
            often[known.what, outcome] += 1
            if (a and a.judgment) != (b and b.judgment):
                differing.append(Answer(unit.unit, unit.occurrence, known.what, known.value, a, b, outcome))
    whats = sorted({what for what, _ in often})
    return differing, tuple(OutcomeCount(what, each, often[what, each]) for what in whats for each in Outcome)


def _by_value(paired: Paired, side: int, unit: UnitPair) -> Mapping[tuple[str, str, int], Part]:
    """A unit's parts by what they are, their value, and which of equal ones they are."""
    position = unit.positions[side]
    seen: Counter[tuple[str, str]] = Counter()
    found = {}
    for part in () if position is None else paired.examiners[side].parts(position):
        key = part.what, json.dumps(part.value, sort_keys=True)
        seen[key] += 1
        found[*key, seen[key]] = part
    return found


def _judgment(part: Part | None) -> Judgment | None:
    return None if part is None or part.judgment is None else Judgment(part.right, part.judgment)


def _groups(paired: Paired, shares: Sequence[float] | None) -> dict[str, tuple[GroupDifference, ...]]:
    """The groups of every dimension in A and B, which are those of gold; a group contributes what its units do."""
    of_units = []
    for pair in paired.pairs:
        side = 0 if pair.positions[0] is not None else 1
        of_units.append(paired.examiners[side].groups(pair.positions[side] or 0))

    def difference(group: str, places: Sequence[int]) -> GroupDifference:
        pairs = [paired.pairs[place] for place in places]
        share = None if shares is None else math.fsum(shares[place] for place in places)
        return GroupDifference(group, paired.score(0, pairs), paired.score(1, pairs), share)

    return {
        dimension: tuple(difference(group, places) for group, places in groups.items())
        for dimension, groups in members_of(of_units).items()
    }
