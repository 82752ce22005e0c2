"""What the analysis asks of a mode, and predictions with their faults corrected: one unit at a time, scored again."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.evidence.reading import as_key
from cs_score.evidence.result import Result
from cs_score.measures.formulas import divide

Scored = TypeVar("Scored", bound=Result)

Row: TypeAlias = tuple[float, ...]
"""The statistics of one unit, in the order of the mode's columns."""

NONE = "none"
"""What a confusion says where gold or a prediction has no label."""


class Fault(Record):
    """One thing that is wrong in a unit's prediction: an abstract, a sentence, a fact, a label or an answer.

    `kind` is its kind in the error budget. `part` says where it is: the id of an abstract or document, the number of a
    predicted fact from 1, None where there is only one place. `predicted` and `gold` are JSON values: what stands there
    and what should; None where nothing does.
    """

    kind: str
    part: str | int | None
    predicted: object
    gold: object


def exchanged(row: Row, before: Row, after: Row) -> Row:
    """Statistics of a unit of which one part counts as `after` where it counted as `before`."""
    return tuple([total - old + new for total, old, new in zip(row, before, after)])


class Confusion(Record):
    """A label of gold beside that predicted for the same abstract, claim or answer (`of`); `none` for none."""

    of: str
    gold: str
    predicted: str


class Part(Record):
    """A part of gold or of a prediction, and how it was judged.

    `what` is an abstract, an evidence set, a sentence, a fact, an answer or a label, `value` (JSON) tells it from
    others of the unit, `judgment` says in words what became of it, None where nothing was predicted for it.
    """

    what: str
    value: object
    right: bool
    judgment: str | None


class Examiner(Record, Generic[Scored]):
    """How the predictions of one result are taken apart, corrected and scored again (insight specification, section 8).

    `measure` is the one that is asked about. Units are named by their position in the result's table.
    """

    result: Scored
    measure: str

    kinds: ClassVar[tuple[str, ...]]
    """The kinds of faults, in the order in which the error budget mends them."""

    def together(self) -> Sequence[tuple[int, ...]]:
        """The positions that one entry of the predictions file serves; each by itself unless gold repeats an id."""
        return [(position,) for position in range(len(self.result.table.ids))]

    @abstractmethod
    def unit(self, position: int) -> object:
        """The unit's id, as it stands in gold (a JSON value)."""

    @abstractmethod
    def written(self, position: int) -> object:
        """The unit's prediction as it can stand in the predictions file (a JSON value); None where there is none."""

    @abstractmethod
    def row(self, position: int, prediction: object) -> Row:
        """The unit's statistics with this prediction. Raises InputError where the scorer would refuse the file."""

    @abstractmethod
    def faults(self, position: int, prediction: object) -> Sequence[Fault]:
        """What is wrong in a prediction that `row` accepts, kind by kind in the order of `kinds`."""

    @abstractmethod
    def corrected(self, position: int, prediction: object, faults: Iterable[Fault]) -> object:
        """The prediction without these faults, which `faults` has found in it."""

    def rows_without_each(
        self, position: int, prediction: object, row: Row, faults: Sequence[Fault]
    ) -> Iterator[Row | InputError]:
        """The unit's statistics without each of its faults alone, given those with all of them (`row`).

        The error where the scorer would refuse that prediction. A mode whose units can have many parts scores only the
        part that a fault concerns: all others count as they did.
        """
        for fault in faults:
            try:
                yield self.row(position, self.corrected(position, prediction, [fault]))
            except InputError as error:
                yield error

    @abstractmethod
    def groups(self, position: int) -> Mapping[str, str]:
        """The group of the unit in each dimension; those of a run are those of any other, for gold alone decides."""

    @abstractmethod
    def confusions(self, position: int) -> Iterable[Confusion]:
        """Gold label against predicted label, for all that has a label."""

    @abstractmethod
    def parts(self, position: int) -> Iterable[Part]:
        """All that gold wants of the unit, and all else that is predicted for it."""


AnyExaminer: TypeAlias = Examiner[Any]


class Unit(Record):
    """A prediction as it is or as it would be, its faults, and the rows of the units of gold that it serves."""

    positions: tuple[int, ...]
    prediction: object
    rows: tuple[Row, ...]
    faults: tuple[Fault, ...]


Progress: TypeAlias = Callable[[Sequence[Unit]], Iterable[Unit]]
"""Hands back the units it is given one after the other, and may show how far the work has come."""


def numbered_units(examiner: AnyExaminer) -> list[tuple[object, int]]:
    """The id of the unit at each position, and which of those with the id it is, from 1."""
    seen: Counter[Hashable] = Counter()
    found = []
    for position in range(len(examiner.result.table.ids)):
        unit = examiner.unit(position)
        key = as_key(unit)
        seen[key] += 1
        found.append((unit, seen[key]))
    return found


def units_of(examiner: AnyExaminer) -> list[Unit]:
    """The units of the result that is examined, as they were predicted."""
    return [unit_at(examiner, positions) for positions in examiner.together()]


def unit_at(examiner: AnyExaminer, positions: tuple[int, ...]) -> Unit:
    """The unit at these positions, as it was predicted."""
    rows = examiner.result.table.rows
    return _unit(examiner, positions, examiner.written(positions[0]), tuple(rows[each] for each in positions))


def _unit(examiner: AnyExaminer, positions: tuple[int, ...], prediction: object, rows: tuple[Row, ...]) -> Unit:
    return Unit(positions, prediction, rows, tuple(examiner.faults(positions[0], prediction)))


def rows_without(examiner: AnyExaminer, unit: Unit, faults: Iterable[Fault]) -> tuple[Row, ...]:
    """The rows of a unit without these faults. Raises InputError where the scorer would refuse that prediction."""
    prediction = examiner.corrected(unit.positions[0], unit.prediction, faults)
    return tuple(examiner.row(position, prediction) for position in unit.positions)


def rows_without_each(
    examiner: AnyExaminer, unit: Unit, faults: Sequence[Fault]
) -> Iterator[tuple[Row, ...] | InputError]:
    """The rows of a unit without each of these faults alone; the error where the scorer would refuse that."""
    if len(unit.positions) == 1:
        for row in examiner.rows_without_each(unit.positions[0], unit.prediction, unit.rows[0], faults):
            yield row if isinstance(row, InputError) else (row,)
        return
    for fault in faults:
        try:
            yield rows_without(examiner, unit, [fault])
        except InputError as error:
            yield error


class Correction(Record):
    """Faults of a unit that can be mended together, and the unit's rows without them."""

    faults: tuple[Fault, ...]
    rows: tuple[Row, ...]

    def of(self, examiner: AnyExaminer, unit: Unit) -> Unit:
        """The unit as it is once they are mended, with the faults that are left or have come to light."""
        if not self.faults:
            return unit
        prediction = examiner.corrected(unit.positions[0], unit.prediction, self.faults)
        return _unit(examiner, unit.positions, prediction, self.rows)


def correction_of_kind(examiner: AnyExaminer, unit: Unit, kind: str) -> Correction:
    """All faults of one kind; those without which the scorer would refuse the prediction are left out."""
    faults = tuple(fault for fault in unit.faults if fault.kind == kind)
    if not faults:
        return Correction((), unit.rows)
    try:
        return Correction(faults, rows_without(examiner, unit, faults))
    except InputError:  # the scorer refuses a part for what is wrong in it, whatever the others are
        each_alone = zip(faults, rows_without_each(examiner, unit, faults))
        left = tuple(fault for fault, rows in each_alone if not isinstance(rows, InputError))
        return Correction(left, rows_without(examiner, unit, left)) if left else Correction((), unit.rows)


def scores_with(result: Result, sums: Row, before: Sequence[Row], after: Sequence[Row]) -> tuple[float, ...]:
    """The measures if rows that went into `sums`, the totals of the result's table, were others."""
    for old, new in zip(before, after):
        sums = tuple([total + (then - now) for total, now, then in zip(sums, old, new)])
    return result.mode.formula(sums, divide)
