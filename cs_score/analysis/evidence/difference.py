"""`diff`: why one result scores higher than another on the same gold."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np

from cs_score.analysis.evidence.examiner import AnyExaminer, Part, Row, numbered_units
from cs_score.analysis.evidence.mistakes import examiner_of, members_of
from cs_score.analysis.outcomes import Outcome, outcome_of, significance
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record, asdict, replace, to_builtins
from cs_score.base.signing.origin import Origin
from cs_score.evidence.reading import as_key
from cs_score.evidence.result import Mode, Result, scores_at
from cs_score.measures.formulas import Ratio, divide
from cs_score.statistics.arithmetic import ColumnFormula, contributions
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.options import Note, Resampling
from cs_score.statistics.results import Comparison, PairedSystems

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
    names = [numbered_units(examiner) for examiner in examiners]
    first, second = ({(as_key(unit), number): at for at, (unit, number) in enumerate(each)} for each in names)
    found = []
    for key in dict.fromkeys((*first, *second)):
        a, b = first.get(key), second.get(key)
        unit, occurrence = names[0][a] if a is not None else names[1][b or 0]
        found.append(UnitPair(unit, occurrence, (a, b)))
    return found


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


class PartPair(Record):
    """A part in A and in B; None where the part is not among those of the result."""

    what: str
    value: object
    a: Part | None
    b: Part | None

    @property
    def differs(self) -> bool:
        """Whether it was judged differently."""
        return _judgment(self.a) != _judgment(self.b)

    @property
    def outcome(self) -> Outcome:
        """In words."""
        right = self.a is not None and self.a.right, self.b is not None and self.b.right
        return outcome_of(right, (_judgment(self.a) is not None, _judgment(self.b) is not None))

    def as_json(self) -> dict[str, object]:
        """The pair as a JSON object; null for A or B where nothing was predicted for the part."""
        return {
            "part": self.what,
            "value": self.value,
            "a": _as_json(self.a),
            "b": _as_json(self.b),
            "outcome": str(self.outcome),
        }


def paired_parts(first: Iterable[Part], second: Iterable[Part]) -> list[PartPair]:
    """The parts of A, then those that only B has, each beside that of the other with the same value."""
    ones, others = _by_value(first), _by_value(second)
    found = []
    for key in dict.fromkeys((*ones, *others)):
        one, other = ones.get(key), others.get(key)
        known = one or other
        assert known is not None
        found.append(PartPair(known.what, known.value, one, other))
    return found


def counted_outcomes(pairs: Iterable[PartPair]) -> dict[str, dict[Outcome, int]]:
    """How many parts of each sort had each outcome."""
    often = Counter((pair.what, pair.outcome) for pair in pairs)
    whats = sorted({what for what, _ in often})
    return {what: {outcome: often[what, outcome] for outcome in Outcome} for what in whats}


def _by_value(parts: Iterable[Part]) -> dict[tuple[str, str, int], Part]:
    """Parts by what they are, their value, and which of equal ones they are."""
    seen: Counter[tuple[str, str]] = Counter()
    found = {}
    for part in parts:
        key = part.what, json.dumps(part.value, sort_keys=True)
        seen[key] += 1
        found[*key, seen[key]] = part
    return found


def _judgment(part: Part | None) -> str | None:
    return None if part is None else part.judgment


def _as_json(part: Part | None) -> dict[str, object] | None:
    return None if part is None or part.judgment is None else {"right": part.right, "fate": part.judgment}


SCHEMA_VERSION: Final = 1
"""Of the JSON object; raised when a key changes its meaning or goes away."""


class UnitDifference(Record):
    """A unit that counts differently in A and B: its own scores, 0..1 (None: not scored), and what it contributes.

    The contributions of all units add up to the difference of the scores; None where they are not defined.
    """

    unit: object
    occurrence: int
    a: float | None
    b: float | None
    contribution: float | None


class Answer(Record):
    """A part of a unit that was judged differently in A and B."""

    unit: object
    occurrence: int
    pair: PartPair

    def as_json(self) -> dict[str, object]:
        """The answer as a JSON object."""
        return {"unit": self.unit, "occurrence": self.occurrence, **self.pair.as_json()}


class GroupDifference(Record):
    """The scores of a group of units in A and B, and what its units contribute together (None: not defined)."""

    group: str
    a: float
    b: float
    contribution: float | None


class Difference(Record):
    """Why B scores otherwise than A under `measure` (insight specification, sections 5 and 8).

    `names` are what people call A and B, `a` and `b` their scores. `units` are those that count differently, the
    largest contribution first; `answers` the parts of gold and predictions that were judged differently, and
    `outcomes` how often each sort of part had which outcome, equal ones included.
    `compared` has the interval of the difference and its
    p-values, None where the two have different units.
    """

    mode: Mode
    measure: str
    names: tuple[str, str]
    a: float
    b: float
    units: tuple[UnitDifference, ...]
    answers: tuple[Answer, ...]
    outcomes: Mapping[str, Mapping[Outcome, int]]
    groups: Mapping[str, tuple[GroupDifference, ...]]
    compared: Comparison | None
    remarks: tuple[Note, ...]
    origins: tuple[Origin, Origin]

    @property
    def difference(self) -> float:
        """The score of B minus that of A."""
        return self.b - self.a

    @property
    def pair(self) -> PairedSystems | None:
        """Interval and p-values of the difference."""
        return None if self.compared is None else self.compared.measures[0].pairs[0]

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader must know beside the numbers."""
        if self.compared is None or self.pair is None:
            return self.remarks
        return (*self.remarks, *self.compared.notes, *self.pair.difference.notes)

    def as_json(self, top: int | None = None) -> dict[str, object]:
        """The difference as a JSON object, with at most `top` units and answers."""
        return {
            "schema_version": SCHEMA_VERSION,
            "mode": self.mode.name,
            "measure": self.measure,
            "a": self.a,
            "b": self.b,
            "difference": self.difference,
            "names": dict(zip("ab", self.names)),
            **({} if top is None else {"top": top}),
            **significance(self.compared),
            "notes": list(to_builtins(self.notes)),
            "units": [asdict(unit) for unit in self.units[:top]],
            "answers": [answer.as_json() for answer in self.answers[:top]],
            "outcomes": [
                {"part": what, "outcome": str(outcome), "count": count}
                for what, counts in self.outcomes.items()
                for outcome, count in counts.items()
            ],
            "groups": {name: [asdict(group) for group in groups] for name, groups in self.groups.items()},
            "signatures": {side: origin.as_json() for side, origin in zip("ab", self.origins)},
        }


def diff(
    a: Result,
    b: Result,
    measure: str | None = None,
    *,
    names: tuple[str, str] = ("A", "B"),
    resampling: Resampling | None = None,
) -> Difference:
    """Where B differs from A, and what each unit contributes to the difference of their scores.

    Every measure is a ratio q = x / y of sums over units. With D for B minus A a unit contributes
    (D(x) - mean(q) D(y)) / mean(y), and all of them together D(q). A unit that only one of the two was scored on is
    nothing in the other. `resampling` has the settings of interval and p-values, as in a comparison. Raises UsageError
    for results of different modes and for a measure that the mode lacks.
    """
    if a.mode.name != b.mode.name:
        raise UsageError(f"results of different modes cannot be compared: {a.mode.name}, {b.mode.name}")
    examiners = examiner_of(a, measure), examiner_of(b, measure)
    paired = Paired(examiners, pairs_of(examiners))
    shares = paired.shares()
    compared, remarks = _compared(paired, names, resampling, is_defined=shares is not None)
    parts = [
        Answer(unit.unit, unit.occurrence, pair)
        for unit in paired.pairs
        for pair in paired_parts(paired.parts(0, unit), paired.parts(1, unit))
    ]
    return Difference(
        mode=a.mode,
        measure=paired.measure,
        names=names,
        a=a.scores[paired.measure],
        b=b.scores[paired.measure],
        units=tuple(_units(paired, shares)),
        answers=tuple(part for part in parts if part.pair.differs),
        outcomes=counted_outcomes(part.pair for part in parts),
        groups=_groups(paired, shares),
        compared=compared,
        remarks=remarks,
        origins=(replace(a.origin, measure=paired.measure), replace(b.origin, measure=paired.measure)),
    )


def _compared(
    paired: Paired, names: tuple[str, str], resampling: Resampling | None, *, is_defined: bool
) -> tuple[Comparison | None, tuple[Note, ...]]:
    """Interval and p-values where both have the same units, and notes on what there is not."""
    first, second = (examiner.result for examiner in paired.examiners)
    mode, measure = first.mode, paired.measure
    remarks: tuple[Note, ...] = ()
    if not is_defined:
        remarks = (Note("UNDEFINED", f"no contributions: {measure} is 0/0 for one of the two, and counts 0"),)
    if first.table.ids != second.table.ids:
        text = f"no interval: {names[0]} and {names[1]} were not scored on the same {mode.unit}s"
        return None, (*remarks, Note("OTHER_UNITS", text))
    formula = ColumnFormula(partial(scores_at, mode.formula, (mode.measures.index(measure),)))
    settings = replace(resampling or Resampling(can_grow=True), unit=mode.unit)
    tables = {"a": first.table, "b": second.table}
    try:
        return compare_tables(tables, [measure], formula, settings), remarks
    except InputError as error:
        return None, (*remarks, Note("NO_UNITS", f"no interval: {error.problem}"))


def _units(paired: Paired, shares: Sequence[float] | None) -> list[UnitDifference]:
    """The units whose numerator or denominator differs, the largest contribution first."""
    if not paired.pairs:
        return []
    ratios = [paired.ratio(side) for side in range(2)]
    rows = [list(zip(ratio.numerator.tolist(), ratio.denominator.tolist())) for ratio in ratios]
    found = []
    for number, pair in enumerate(paired.pairs):
        if rows[0][number] != rows[1][number] or None in pair.positions:
            a, b = (None if pair.positions[side] is None else paired.score(side, [pair]) for side in range(2))
            share = None if shares is None else shares[number]
            found.append(UnitDifference(pair.unit, pair.occurrence, a, b, share))
    return sorted(found, key=lambda unit: -abs(unit.contribution or 0.0))


def _groups(paired: Paired, shares: Sequence[float] | None) -> dict[str, tuple[GroupDifference, ...]]:
    """The groups of every dimension in A and B; a group contributes what its units do."""

    def difference(group: str, places: Sequence[int]) -> GroupDifference:
        pairs = [paired.pairs[place] for place in places]
        share = None if shares is None else math.fsum(shares[place] for place in places)
        return GroupDifference(group, paired.score(0, pairs), paired.score(1, pairs), share)

    members = members_of([paired.groups(pair) for pair in paired.pairs])
    return {
        dimension: tuple(difference(group, places) for group, places in groups.items())
        for dimension, groups in members.items()
    }
