"""What a task offers: every verb is written once against it, every analysis of evidence against its examiner."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar

from cs_score.base.records import Record
from cs_score.base.signature import Origin
from cs_score.evidence.reading import as_key
from cs_score.evidence.result import Result
from cs_score.statistics.options import Resampling
from cs_score.statistics.units import UnitTable
from cs_score.tables.layout import Layout, Table

if TYPE_CHECKING:  # it brings numpy
    from cs_score.statistics.arithmetic import ColumnMeasures


class Statistics(Record):
    """A result as comparisons see it: what measures are made of, unit by unit.

    `unit` is what a row of the table is about; `answered` are the units that the run says something of, `known` those
    of gold.
    """

    unit: str
    table: UnitTable
    answered: Sequence[str]
    known: Sequence[str]
    origin: Origin


class Comparable(Protocol):
    """What systems that are compared have in common."""

    @property
    def name(self) -> str:
        """That of the task."""

    def measures(self, results: Iterable[Any]) -> Sequence[str]:
        """The measures that results can be compared by."""

    def statistics(self, result: Any, measures: Sequence[str]) -> Statistics:
        """What these measures of a result are made of."""

    def formula(self, measures: Sequence[str]) -> ColumnMeasures:
        """From the sums of the statistics' columns to these measures."""


class Task(Comparable, Protocol):
    """A task by its name. Measures are named as on the command line; None is the one that ranks leaderboards.

    What is found is a document: a record that is written as JSON. What is scored is the task's own.
    """

    def measure_of(self, wanted: str | None) -> str | None:
        """The measure that is meant, before anything is read. Raises UsageError for one that the task lacks."""

    def analyze(
        self, result: Any, measure: str | None = None, *, top: int | None = None, is_whole: bool = True,
        progress: Any = ..., **settings: Any,
    ) -> Any:  # fmt: skip
        """What each mistake costs, the error budget, groups; at most `top` mistakes.

        `is_whole`: with every mistake, and how everything was scored. `settings` are what only this task asks for.
        """

    def diff(
        self, a: Any, b: Any, measure: str | None = None, *, names: tuple[str, str] = ..., top: int | None = None,
        resampling: Resampling | None = None,
    ) -> Any:  # fmt: skip
        """Why B scores otherwise than A, unit by unit."""

    def headers(self, kind: str) -> Mapping[str, Sequence[str]]:
        """The columns of the tables of an `analysis` or a `difference` by the name of their file."""

    def layouts(self, document: Any) -> Sequence[Layout]:
        """What the tables of a document are, those for people and those for files."""

    def tables(self, document: Any) -> Sequence[Table]:
        """The tables of a document."""

    def text(self, document: Any, width: int, top: int | None = None) -> str:
        """A document for people, in lines of at most so many columns."""


# ---- Evidence: one unit at a time, scored again

Row: TypeAlias = tuple[float, ...]
"""The statistics of one unit, in the order of the mode's columns."""

NONE = "none"
"""What a confusion says where gold or a prediction has no label."""

Examined = TypeVar("Examined", bound=Result)


class Fault(Record):
    """One thing that is wrong in a unit's prediction: an abstract, a sentence, a fact, a label or an answer.

    `kind` is its kind in the error budget. `part` says where it is: the id of an abstract or document, the number of a
    predicted fact from 1, None where there is only one place. `predicted` and `gold` are JSON values: what stands there
    and what should; None where nothing does.
    """

    kind: str
    part: str | int | None
    predicted: Any
    gold: Any


class Part(Record):
    """A part of gold or of a prediction, how it was judged, and what is wrong in it.

    `what` is an abstract, an evidence set, a sentence, a fact, an answer or a label, `value` (JSON) identifies it
    within the unit, `judgment` says in words what it counted as, None where nothing was predicted for it.
    """

    what: str
    value: Any
    right: bool
    judgment: str | None
    faults: tuple[Fault, ...] = ()


class Confusion(Record):
    """A label of gold beside that predicted for the same abstract, claim or answer (`of`); `none` for none."""

    of: str
    gold: str
    predicted: str


class Examiner(Record, Generic[Examined]):
    """How the predictions of one result are taken apart, corrected and scored again.

    `measure` is the one that is asked about. Units are named by their position in the result's table, predictions are
    JSON values.
    """

    result: Examined
    measure: str

    kinds: ClassVar[tuple[str, ...]]
    """The kinds of faults, in the order in which the error budget corrects them."""

    def numbered(self) -> list[tuple[Any, int]]:
        """The id of the unit at each position, and which of those with the id it is, from 1."""
        seen: Counter[Hashable] = Counter()
        found = []
        for position in range(len(self.result.table.ids)):
            unit = self.unit(position)
            key = as_key(unit)
            seen[key] += 1
            found.append((unit, seen[key]))
        return found

    def together(self) -> Sequence[tuple[int, ...]]:
        """The positions that one entry of the predictions file serves; each by itself unless gold repeats an id."""
        return [(position,) for position in range(len(self.result.table.ids))]

    @abstractmethod
    def unit(self, position: int) -> Any:
        """The unit's id, as it stands in gold (a JSON value)."""

    @abstractmethod
    def written(self, position: int) -> Any:
        """The unit's prediction as it can stand in the predictions file; None where there is none."""

    @abstractmethod
    def row(self, position: int, prediction: Any) -> Row:
        """The unit's statistics with this prediction. Raises InputError where the scorer would refuse the file."""

    @abstractmethod
    def parts(self, position: int, prediction: Any) -> Iterable[Part]:
        """All that gold wants of the unit, and all else that is predicted for it; `row` accepts the prediction."""

    @abstractmethod
    def corrected(self, position: int, prediction: Any, faults: Iterable[Fault]) -> Any:
        """The prediction without these faults, which `faults` has found in it."""

    def faults(self, position: int, prediction: Any) -> Sequence[Fault]:
        """What is wrong in a prediction that `row` accepts, kind by kind in the order of `kinds`."""
        return self.by_kind(fault for part in self.parts(position, prediction) for fault in part.faults)

    def by_kind(self, faults: Iterable[Fault]) -> list[Fault]:
        """Faults in the order of the kinds, those of a kind by the number of what they are in, if it has one."""
        found = list(faults)
        if len(found) > 1:
            found.sort(key=lambda each: (self.kinds.index(each.kind), each.part if isinstance(each.part, int) else 0))
        return found

    def groups(self, position: int) -> Mapping[str, str]:
        """The group of the unit in each dimension; those of a run are those of any other, for gold alone decides."""
        return {}

    def confusions(self, position: int) -> Iterable[Confusion]:
        """Gold label against predicted label, for all that has a label."""
        return ()


Progress: TypeAlias = Callable[[Sequence[Any]], Iterable[Any]]
"""Hands back the units it is given one after the other, and may show how far the work has come."""
