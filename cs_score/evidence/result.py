"""What every evidence mode returns, and the description of a mode that writers and the command line read."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

from cs_score.base.errors import InputError, nearest
from cs_score.base.records import Record, asdict, field, replace
from cs_score.base.signature import Origin
from cs_score.base.sources import InputDigest
from cs_score.measures.registry import Divide, Number, divide, enter, headline
from cs_score.statistics.intervals import score_intervals
from cs_score.statistics.options import Resampling
from cs_score.statistics.results import ScoreIntervals
from cs_score.statistics.units import UnitTable

if TYPE_CHECKING:
    from cs_score.base.signature import Signature


class Formula(Protocol):
    """From the sums of a table's columns, in column order, to the measures in official order."""

    def __call__(self, sums: Sequence[Number], divide: Divide[Number]) -> tuple[Number, ...]: ...


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


def means(sums: Sequence[Number], divide: Divide[Number]) -> tuple[Number, ...]:
    """Every column but the first, divided by the first: means over all units, where that counts them."""
    units, *totals = sums
    return tuple(divide(total, units) for total in totals)


class Mode(Record):
    """All that a mode declares about its numbers.

    `unit` is what it scores (singular), `columns` the statistics per unit, `measures` the official names in official
    order, `formula` computes the latter from sums of the former. `headings` and `rows` say how people are shown the
    result; `options` has a field for each option, with its description and what holds where nothing else is asked for,
    `fixed` is what nobody chooses, but numbers depend on.
    """

    name: str
    unit: str
    columns: tuple[str, ...]
    measures: tuple[str, ...]
    formula: Formula
    headings: tuple[str, ...]
    rows: tuple[ReportRow, ...]
    options: type[Record] = Record
    fixed: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        enter(self.name, self.measures)

    def origin(self, options: Mapping[str, object], gold: InputDigest, run: InputDigest) -> Origin:
        """What scores of predictions against gold were computed from; the signature shows what is not as usual."""
        usual = {**asdict(self.options()), **self.fixed}
        chosen = {**usual, **options}
        shown = (f"{name}={_plain(value)}" for name, value in chosen.items() if usual.get(name) != value)
        return Origin(self.name, chosen, (gold, run), (self.name, *shown), headline(self.name)[0])


class InputSummary(Record):
    """What was read from one input: its role (gold, predictions), its name, and how much of what it held."""

    role: str
    name: str
    contents: tuple[tuple[int, str], ...]


class UnitExplanation(Record):
    """How one unit was scored, as lines of text. Text from the inputs stands in it as it was read."""

    unit: str
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)


class Result(Record):
    """The scores of one run, what they were computed from, and why each unit counted as it did.

    `table` holds the statistics of each unit, `scores` the official measures (each 0..1), `origin` identifies the
    computation, `inputs` says what was read and `notices` what the user should know about it.
    """

    mode: ClassVar[Mode]

    table: UnitTable
    scores: Mapping[str, float]
    origin: Origin
    inputs: tuple[InputSummary, ...]
    notices: tuple[str, ...]

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={self.scores[name]:.4f}" for name in headline(self.mode.name))
        return f"<{self.mode.name} result: {counted(len(self.table.ids), self.mode.unit)}, {shown}>"

    @property
    def signature(self) -> Signature:
        """The citable line."""
        return self.origin.signature

    def explain(self, unit_id: str | int) -> UnitExplanation:
        """How the unit (each unit, where an id occurs more than once) called `unit_id` was scored.

        Raises InputError as `positions_of`.
        """
        lines = tuple(line for position in self.positions_of(unit_id) for line in self.explained(position))
        return UnitExplanation(f"{self.mode.unit} {unit_id}", lines)

    def positions_of(self, unit_id: str | int) -> list[int]:
        """The positions in the table of the units called `unit_id`.

        Raises InputError, which names the nearest ids, where nothing in gold is called so.
        """
        wanted = str(unit_id)
        positions = [position for position, known in enumerate(self.table.ids) if known == wanted]
        if not positions:
            meant = nearest(wanted, self.table.ids, cutoff=0.5)
            raise InputError(f"no {self.mode.unit} {wanted} was scored{meant}", file=self.inputs[0].name)
        return positions

    def official(self) -> dict[str, object]:
        """The scores in the shape in which the mode's official evaluator gives them."""
        return dict(self.scores)

    def answered(self) -> tuple[str, ...]:
        """The ids of the units for which the run has a prediction."""
        return self.table.ids

    @abstractmethod
    def explained(self, position: int) -> list[str]:
        """The lines of the explanation of the unit at `position` of the table."""


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


def scores_at(
    formula: Formula, positions: Sequence[int], sums: Sequence[Number], divide: Divide[Number]
) -> list[Number]:
    """Some of a formula's measures, by their positions; as a `partial` of the first two it is a formula itself."""
    scores = formula(sums, divide)
    return [scores[position] for position in positions]


def _plain(value: object) -> str:
    """The value of an option in a signature: `true`, `2`."""
    return str(value).lower()


def right_or_wrong(right: bool) -> str:
    return "correct" if right else "wrong"


def counted(number: int, noun: str) -> str:
    """`1 claim`, `2 claims`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
