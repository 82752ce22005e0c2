"""The cost list: what mending each single fault would bring."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Protocol

from cs_score.analysis.evidence.mending import AnyExaminer, Unit, rows_without_each, scores_with
from cs_score.analysis.evidence.modes.examiner import Fault
from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.measures.formulas import divide


class Mended(Protocol):
    """Makes a prediction, which costs memory in proportion to its unit, when it is asked for."""

    def __call__(self) -> object: ...


class Mistake(Record):
    """One fault of a prediction, and what it costs.

    `unit` is the id of the claim, instance or question as it stands in gold, `occurrence` tells repetitions of an id
    (from 1). `effects` has the difference that mending makes to each measure, None where the scorer would refuse the
    mended prediction, and `reason` says why; `gain` is the effect on the measure that was asked about.
    """

    unit: object
    occurrence: int
    position: int
    fault: Fault
    gain: float | None
    effects: Mapping[str, float | None]
    reason: str | None
    mended: Mended

    @property
    def prediction(self) -> object:
        """The unit's new value in the predictions file (JSON); None: the unit is left out."""
        return self.mended()

    def as_json(self) -> dict[str, object]:
        """The mistake as a JSON object."""
        return {
            "kind": self.fault.kind,
            "unit": self.unit,
            "occurrence": self.occurrence,
            "part": self.fault.part,
            "predicted": self.fault.predicted,
            "gold": self.fault.gold,
            "gain": self.gain,
            "effects": dict(self.effects),
            **({} if self.reason is None else {"reason": self.reason}),
            "prediction": self.prediction,
        }


def mistakes_of(examiner: AnyExaminer, units: Iterable[Unit]) -> list[Mistake]:
    """All mistakes, the largest gain first, equal ones in the order of gold; last those whose effect is unknown.

    The effect of a mistake is the measure of predictions in which the unit alone is replaced by `prediction`, minus the
    measure as it is (specification, section 8).
    """
    sums = examiner.result.table.sums()
    now = examiner.result.mode.formula(sums, divide)
    found = [
        mistake
        for unit, occurrence in _counted(examiner, units)
        for mistake in _of_unit(examiner, unit, occurrence, sums, now)
    ]
    return sorted(found, key=lambda mistake: (mistake.gain is None, -(mistake.gain or 0.0), mistake.position))


def _of_unit(
    examiner: AnyExaminer, unit: Unit, occurrence: int, sums: tuple[float, ...], now: Sequence[float]
) -> Iterator[Mistake]:
    measures = examiner.result.mode.measures
    position = unit.positions[0]
    for fault, rows in zip(unit.faults, rows_without_each(examiner, unit, unit.faults)):
        effects: dict[str, float | None] = dict.fromkeys(measures)
        reason = None
        if isinstance(rows, InputError):
            reason = str(rows)
        else:
            then = scores_with(examiner.result, sums, unit.rows, rows)
            effects = {name: new - old for name, new, old in zip(measures, then, now)}
        yield Mistake(
            examiner.unit(position),
            occurrence,
            position,
            fault,
            effects[examiner.measure],
            effects,
            reason,
            partial(examiner.mended, position, unit.prediction, [fault]),
        )


def _counted(examiner: AnyExaminer, units: Iterable[Unit]) -> Iterator[tuple[Unit, int]]:
    """Units, and which of those with its id each is, from 1."""
    seen: Counter[object] = Counter()
    for unit in units:
        name = examiner.unit(unit.positions[0])
        seen[name] += 1
        yield unit, seen[name]
