"""What every evidence mode returns, and the description of a mode that writers and the command line read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar, Protocol, Self, TypeAlias

from cs_score.base.errors import InputError, nearest
from cs_score.base.records import Record, asdict, field, replace
from cs_score.base.signature import Origin
from cs_score.base.sources import InputDigest
from cs_score.evidence.reading import Gold
from cs_score.measures.registry import Divide, Number, SumsFormula, divide, enter, headline
from cs_score.statistics.options import Resampling
from cs_score.statistics.resampling import score_intervals
from cs_score.statistics.results import ScoreIntervals
from cs_score.statistics.units import UnitTable


class Formula(Protocol):
    """From the sums of a table's columns, in column order, to the measures in official order."""

    def __call__(self, sums: Sequence[Number], divide: Divide[Number]) -> tuple[Number, ...]: ...


def means(sums: Sequence[Number], divide: Divide[Number]) -> tuple[Number, ...]:
    """Every column but the first, divided by the first: means over all units, where that counts them."""
    units, *totals = sums
    return tuple(divide(total, units) for total in totals)


class ReportRow(Record):
    """A line of the readable report: its name, one measure per heading, and table columns shown as totals."""

    name: str
    measures: tuple[str, ...]
    totals: tuple[str, ...] = ()


def report_rows(
    names: Sequence[str], measures: tuple[str, ...], totals: Sequence[tuple[str, ...]] = ()
) -> tuple[ReportRow, ...]:
    """A row for each name: its share of the measures, in their order, and its totals where there are any."""
    each = len(measures) // len(names)
    return tuple(
        ReportRow(name, measures[number * each : (number + 1) * each], totals[number] if totals else ())
        for number, name in enumerate(names)
    )


class Mode(Record, dict=True):
    """All that a mode declares about its numbers.

    `unit` is what it scores (singular), `columns` the statistics per unit, `formula` computes the measures from their
    sums. `headings` and `rows`, which name the measures in official order, say how people are shown the result;
    `options` has a field for each option, with its description and what holds where nothing else is asked for, `fixed`
    is what nobody chooses, but numbers depend on.
    """

    name: str
    unit: str
    columns: tuple[str, ...]
    formula: Formula
    headings: tuple[str, ...]
    rows: tuple[ReportRow, ...]
    options: type[Record] = Record
    fixed: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        enter(self.name, self.measures)

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """The official names in official order."""
        return tuple(measure for row in self.rows for measure in row.measures)

    def formula_of(self, measures: Sequence[str]) -> SumsFormula:
        """The formula of some of the measures; it can be sent to another process."""
        return partial(_scores_at, self.formula, tuple(map(self.measures.index, measures)))

    def origin(self, options: Mapping[str, object], gold: InputDigest, run: InputDigest) -> Origin:
        """What scores of predictions against gold were computed from; the signature shows what is not as usual."""
        usual = {**asdict(self.options()), **self.fixed}
        chosen = {**usual, **options}
        shown = (f"{name}={str(value).lower()}" for name, value in chosen.items() if usual.get(name) != value)
        return Origin(self.name, chosen, (gold, run), (self.name, *shown), headline(self.name)[0])


Contents: TypeAlias = tuple[tuple[int, str], ...]
"""How much an input held of what."""


class Result(Record):
    """The scores of one run, what they were computed from, and why each unit counted as it did.

    `table` holds the statistics of each unit, `scores` the official measures (each 0..1), `origin` identifies the
    computation, `read` says what gold and predictions held and `notices` what the user should know about it.
    """

    mode: ClassVar[Mode]

    table: UnitTable
    scores: Mapping[str, float]
    origin: Origin
    read: tuple[Contents, Contents]
    notices: tuple[str, ...]

    @classmethod
    def of(
        cls, table: UnitTable, gold: Gold[Any], predictions: Gold[Any], *, options: Mapping[str, object] | None = None,
        read: tuple[Contents, Contents] = ((), ()), notices: tuple[str, ...] = (), **own: Any,
    ) -> Self:  # fmt: skip
        """The result whose statistics are `table`; `options` were asked for, `own` are the fields of the mode."""
        origin = cls.mode.origin(options or {}, gold.digest, predictions.digest)
        return cls(table, scores_of(cls.mode, table), origin, read, notices, **own)

    @property
    def names(self) -> tuple[str, str]:
        """What messages call gold and predictions."""
        gold, predictions = self.origin.inputs
        return gold.name, predictions.name

    def positions_of(self, unit_id: str | int) -> list[int]:
        """The positions in the table of the units called `unit_id`: several where gold repeats the id.

        Raises InputError, which names the nearest ids, where nothing in gold is called so.
        """
        wanted = str(unit_id)
        positions = [position for position, known in enumerate(self.table.ids) if known == wanted]
        if not positions:
            meant = nearest(wanted, self.table.ids, cutoff=0.5)
            raise InputError(f"no {self.mode.unit} {wanted} was scored{meant}", file=self.names[0])
        return positions

    def official(self) -> dict[str, object]:
        """The scores in the shape in which the mode's official evaluator gives them."""
        return dict(self.scores)

    def answered(self) -> tuple[str, ...]:
        """The ids of the units for which the run has a prediction."""
        return self.table.ids

    @abstractmethod
    def explained(self, position: int) -> list[str]:
        """How the unit at `position` of the table was scored, in lines; text from the inputs is as it was read."""


def intervals(result: Result, resampling: Resampling | None = None) -> ScoreIntervals:
    """The intervals of every measure of `result`, from resamples of its units (claims, instances, questions).

    The name of the unit in `resampling` is set here. Raises InputError where there is no unit.
    """
    mode = result.mode
    settings = replace(resampling or Resampling(), unit=mode.unit)
    return score_intervals(result.table, mode.measures, mode.formula, settings)


def scores_of(mode: Mode, table: UnitTable) -> dict[str, float]:
    """The measures of a whole table."""
    return dict(zip(mode.measures, mode.formula(table.sums(), divide)))


def _scores_at(
    formula: Formula, positions: Sequence[int], sums: Sequence[Number], divide: Divide[Number]
) -> list[Number]:
    scores = formula(sums, divide)
    return [scores[position] for position in positions]


def counted(number: int, noun: str) -> str:
    """`1 claim`, `2 claims`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
