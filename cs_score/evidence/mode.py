"""Modes: what one declares about its numbers, and its rules for one unit. All else is written once against these."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar, Final, NamedTuple, Self, TypeAlias

from msgspec import Meta

from cs_score.base.display import one_line
from cs_score.base.errors import InputError, UsageError, nearest
from cs_score.base.records import Record, asdict, replace
from cs_score.base.runtime import paused_collector
from cs_score.base.signature import ANSWERED, Origin
from cs_score.base.sources import Input, InputDigest, Source
from cs_score.evidence.reading import Gold, located, read, text_of
from cs_score.measures.registry import Divide, SumsFormula, divide, enter, headline
from cs_score.statistics.options import Resampling
from cs_score.statistics.resampling import score_intervals
from cs_score.statistics.results import ScoreIntervals
from cs_score.statistics.units import UnitTable

Row: TypeAlias = tuple[float, ...]
"""The statistics of one unit, in the order of the mode's columns."""

Contents: TypeAlias = tuple[tuple[int, str], ...]
"""How much an input held of what."""

Pair: TypeAlias = tuple[Any, Any, Any]
"""The id of a unit, its gold and its prediction."""


class AnsweredOptions(Record):
    """What can be chosen in every task whose units may lack a prediction."""

    answered_only: Annotated[
        bool,
        Meta(description="Score the units that were predicted, and leave out the others; every head says how many"),
    ] = False


Progress: TypeAlias = Callable[[Sequence[Any]], Iterable[Any]]
"""Hands back the units it is given one after the other, and may show how far the work has come."""

Confusion: TypeAlias = tuple[str, str, str]
"""What has labels (abstract, claim, answer), that of gold and the predicted one; `NONE` for none."""

NONE: Final = "none"


class Unit(NamedTuple):
    """A claim, an instance or a question: its `id` and its `gold` as the mode reads them, and what is predicted for it.

    A prediction is as the mode reads it, too, None where there is none. `files` are what messages call gold and
    predictions.
    """

    id: Hashable
    gold: Any
    prediction: Any
    files: tuple[str, str]


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


RowsWithout: TypeAlias = Callable[[Fault], Sequence[Row]]
"""From a fault to the rows of the units of an entry once it is corrected."""


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


def left_out(predictions: str, answered: int, units: int, unit: str) -> list[str]:
    """Return the notice that units without a prediction are left out; none where all have one.

    Raises InputError where none has one.
    """
    if not answered:
        raise InputError(f"no {unit} has a prediction, so there is nothing to score", file=predictions)
    if answered == units:
        return []
    of_all = f"{units - answered:,} of {units:,} {unit}{'' if units == 1 else 's'}"
    return [f"{predictions}: {of_all} left out, without prediction"]


class Mode(ABC):
    """A task of evidence.

    `unit` is what it scores (singular), `columns` the statistics of a unit. `headings` and `rows`, which name the
    measures in official order, say how people are shown the result. `options` has a field for each option, with its
    description and what holds where nothing else is asked for, `fixed` is what nobody chooses, but numbers depend on.
    `kinds` are the kinds of faults in the order in which the error budget corrects them. Files hold a line for each
    unit where the mode `has_lines`; one prediction serves all units of an id where it `shares_predictions`. `summary`
    and `files` stand in the help; with `takes_long` a terminal shows how far scoring is. `stages` are parts of the task
    that are scored by themselves, with what they predict; `headlines` are the measures that people are shown first, the
    first of which ranks, where the table of measures does not say so. Without `needs_gold` gold may
    be None. Files of predictions in a folder have one of the `endings`.
    `package` names the package that a task from outside comes with, and its version, as signatures have it.

    `chosen` are the options in force, a record of the class `options`: the usual ones, unless `with_options` has made
    the mode.
    """

    name: ClassVar[str]
    unit: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    headings: ClassVar[tuple[str, ...]]
    rows: ClassVar[tuple[ReportRow, ...]]
    kinds: ClassVar[tuple[str, ...]]
    summary: ClassVar[str]
    files: ClassVar[str]
    options: ClassVar[type[Record]] = Record
    fixed: ClassVar[Mapping[str, object]] = {}
    stages: ClassVar[Mapping[str, str]] = {}
    headlines: ClassVar[tuple[str, ...]] = ()
    has_lines: ClassVar[bool] = False
    shares_predictions: ClassVar[bool] = False
    takes_long: ClassVar[bool] = False
    needs_gold: ClassVar[bool] = True
    endings: ClassVar[tuple[str, ...]] = (".jsonl", ".json")
    package: str | None = None

    def __init__(self) -> None:
        enter(self.name, self.measures, self.headlines)
        self.chosen: Any = self.options()

    def with_options(self, options: Mapping[str, Any]) -> Self:
        """Return the mode with these options in force for every hook. Raises UsageError for options that cannot be."""
        return self._with(chosen=self.options(**options))

    def _with(self, **attributes: Any) -> Self:
        """Return a copy that has other attributes; what is derived from these is made anew."""
        mode = copy.copy(self)
        mode.__dict__.pop("measures", None)
        mode.__dict__.update(attributes)
        return mode

    # ---- Its numbers

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """The official names in official order."""
        return tuple(measure for row in self.rows for measure in row.measures)

    def formula(self, sums: Sequence[Any], divide: Divide) -> tuple[Any, ...]:
        """From the sums of the columns to the measures: here means over all units, which the first column counts."""
        units, *totals = sums
        return tuple(divide(total, units) for total in totals)

    def formula_of(self, measures: Sequence[str]) -> SumsFormula:
        """The formula of some of the measures; it can be sent to another process."""
        return partial(self._some, tuple(map(self.measures.index, measures)))

    def _some(self, positions: Sequence[int], sums: Sequence[Any], divide: Divide) -> list[Any]:
        scores = self.formula(sums, divide)
        return [scores[position] for position in positions]

    def scores(self, sums: Sequence[float]) -> dict[str, float]:
        """The measures by name, each 0..1."""
        return dict(zip(self.measures, self.formula(sums, divide)))

    def official(self, scores: Mapping[str, float]) -> dict[str, object]:
        """The scores in the shape in which the official evaluator gives them."""
        return dict(scores)

    def origin(
        self, options: Mapping[str, object], gold: InputDigest | None, run: InputDigest, measure: str | None = None
    ) -> Origin:
        """What scores of predictions against gold were computed from; the signature shows what is not as usual.

        `measure` is the headline one, None for that of the registry.
        """
        usual = {**asdict(self.options()), **self.fixed}
        chosen = {**usual, **options}
        settings = [self.name] if self.package is None else [self.name, self.package]
        for name, value in chosen.items():
            if usual.get(name) != value:
                shown = value if isinstance(value, str) else str(value).lower()
                settings.append("answered-only" if name == "answered_only" else f"{name}={shown}")
        inputs = (run,) if gold is None else (gold, run)
        return Origin(self.name, chosen, inputs, tuple(settings), measure or headline(self.name)[0])

    def is_answered_only(self, options: Any) -> bool:
        """Return whether options leave out the units without a prediction."""
        return getattr(options, "answered_only", False)

    # ---- Scoring

    def read_gold(self, gold: Input | object) -> Gold | None:
        """Read gold once, to score many predictions against it. Raises InputError for what is no gold.

        None where there is none, and the mode needs none.
        """
        if gold is None and not self.needs_gold:
            return None
        return read(gold, "gold", self.gold, has_lines=self.has_lines)

    @paused_collector()
    def score(
        self, gold: Input | object, predictions: Input | object, *, progress: Progress = iter, **options: Any
    ) -> Result:
        """Score predictions against gold (or what is read of it); each is a path, an open file, or JSON values.

        `options` are fields of the mode's record. Raises InputError for what cannot be scored, UsageError for options
        that are impossible, and for a file that holds several systems.
        """
        files = self._read(gold, predictions, options)
        if len(files.systems) != 1:
            names = ", ".join(one_line(name, 40) for name in files.systems)
            raise UsageError(f"{files.predictions.name} has {len(files.systems)} runs ({names}): choose one, --run ID")
        return files.mode.result_of(files, files.systems[0], progress)

    @paused_collector()
    def score_each(
        self, gold: Input | object, predictions: Input | object, *, progress: Progress = iter, **options: Any
    ) -> dict[str, Result]:
        """Score each system of a file of predictions by itself, as `score` does; the results are by its name."""
        files = self._read(gold, predictions, options)
        return {system: files.mode.result_of(files, system, progress) for system in files.systems}

    def _read(self, gold: Input | object, predictions: Input | object, options: Mapping[str, Any]) -> FilesRead:
        """Read both files under these options. `gold` may be read already."""
        mode = self.with_options(options)
        mode.check_packages()  # before any reading: what is not installed is said at once
        known = gold if isinstance(gold, Gold) else mode.read_gold(gold)
        mode.has_gold = known is not None
        given = read(predictions, "predictions", mode.predictions, has_lines=mode.has_lines)
        return FilesRead(mode, known, given, mode.systems(given))

    def check_packages(self) -> None:  # noqa: B027  # most modes need no further package
        """Raise MissingExtraError where a package that scoring needs is not installed."""

    def result_of(self, files: FilesRead, system: str, progress: Progress) -> Result:
        """Return the result of a system of the files. Raises InputError for what cannot be scored."""
        known, given = files.gold, files.predictions
        mode = self.for_system(system, files.systems)
        paired, notices = mode.paired(known, given, mode.chosen)
        names = ("" if known is None else known.name, given.name)
        units = [Unit(unit_id, of_gold, predicted, names) for unit_id, of_gold, predicted in paired]
        ids = tuple([text_of(unit.id) for unit in units])
        table = UnitTable(ids, mode.columns, mode.rows_of(units, progress))
        undefined = mode.undefined(units, table)
        mode = mode.without(undefined)
        digest = None if known is None else known.digest
        origin = mode.origin(asdict(mode.chosen), digest, given.digest, mode.headline_of(units, table))
        if known is not None:
            if mode.is_answered_only(mode.chosen):
                counts = {"scored": len(units), "of": len(known.content), "unit": mode.unit}
                origin = origin.with_option(ANSWERED, counts)
            notices = [*known.notices, *notices, *mode.mismatches(known, given, units, table)]
        return Result(
            mode=mode,
            units=units,
            table=table,
            scores=mode.scores(table.sums()),
            origin=origin,
            read=mode.contents(None if known is None else known.content, given.content, table),
            notices=(*given.notices, *notices, *mode.remarks(units, table)),
            undefined=undefined,
            head=tuple(mode.head(units, table)),
            system=system,
        )

    # ---- What only some modes have: several systems in a file, measures without a value, a headline of the data

    has_gold: bool = True
    """Whether predictions are read beside gold."""

    def systems(self, predictions: Gold) -> Sequence[str]:
        """Return the names of the systems that a file of predictions holds; an empty one where it does not name them.

        Raises InputError where the options choose one that it does not hold.
        """
        return ("",)

    def for_system(self, system: str, systems: Sequence[str]) -> Self:
        """Return the mode that scores one of the systems of a file."""
        return self

    def undefined(self, units: Sequence[Unit], table: UnitTable) -> dict[str, str]:
        """Return the measures that have no value for these units, each with the reason."""
        return {}

    def without(self, measures: Collection[str]) -> Self:
        """Return the mode without the last of its measures. Raises ValueError where these are others."""
        if not measures:
            return self
        rows = [row for row in self.rows if not set(row.measures) & set(measures)]
        mode = self._with(rows=tuple(rows))
        if mode.measures != self.measures[: len(mode.measures)]:
            raise ValueError("only the last rows of the report can be without a value")
        return mode

    def headline_of(self, units: Sequence[Unit], table: UnitTable) -> str:
        """Return the measure that people are shown first."""
        return headline(self.name)[0]

    def remarks(self, units: Sequence[Unit], table: UnitTable) -> Iterable[str]:
        """Return what users should know of the scores, beside the notices about the files."""
        return ()

    def head(self, units: Sequence[Unit], table: UnitTable) -> Iterable[str]:
        """Return what every text says first about what was scored, a sentence each."""
        return ()

    def below(self, sums: Sequence[float]) -> list[tuple[str, ...]]:
        """Return a further table for the readable report, the first row of which is a heading; none as a rule."""
        return []

    @abstractmethod
    def gold(self, source: Source) -> Any:
        """What a gold file holds; scoring never changes it. Raises InputError."""

    @abstractmethod
    def predictions(self, source: Source) -> Any:
        """What a file of predictions holds. Raises InputError."""

    def is_gold(self, first: object) -> bool | None:
        """Whether the value that a file begins with is one of gold and not of predictions; None if uncertain."""
        return None

    @abstractmethod
    def paired(self, gold: Any, predictions: Gold, options: Any) -> tuple[Iterable[Pair], Iterable[str]]:
        """The units that are scored, and what users should know. Raises InputError for files of different units."""

    def mismatches(self, gold: Gold, predictions: Gold, units: Sequence[Unit], table: UnitTable) -> Iterable[str]:
        """Return what of the files can only lower the score, such as ids that are written otherwise in gold."""
        return ()

    def contents(self, gold: Any, predictions: Any, table: UnitTable) -> tuple[Contents, Contents]:
        """How much of what gold and predictions hold."""
        return ((len(gold), self.unit),), ((len(predictions), self.unit),)

    def rows_of(self, units: Sequence[Unit], progress: Progress) -> list[Row]:
        """The row of each unit."""
        return list(map(self.row, progress(units)))

    @abstractmethod
    def row(self, unit: Unit) -> Row:
        """The statistics of a unit. Raises InputError for what the official evaluator would refuse."""

    @abstractmethod
    def explained(self, unit: Unit, row: Row) -> Iterator[str]:
        """How a unit was scored that has this row, in lines; text from the inputs is as it was read."""

    def at(self, unit: Unit) -> located:
        """Where an InputError about the gold of a unit is; moved on to its other file, about its prediction."""
        return located(unit.files[0], {self.unit: unit.id})

    # ---- What is wrong in a prediction that `row` accepts

    @abstractmethod
    def parts(self, unit: Unit, measure: str) -> Iterable[Part]:
        """All that gold wants of the unit, and all else that is predicted for it, as `measure` looks at it."""

    def faults(self, unit: Unit, measure: str) -> list[Fault]:
        """What is wrong, kind by kind, those of a kind by the number of what they are in, if it has one."""
        return self.by_kind([fault for part in self.parts(unit, measure) for fault in part.faults])

    def by_kind(self, faults: list[Fault]) -> list[Fault]:
        """Faults in the order of `faults`."""
        if len(faults) > 1:
            faults.sort(key=lambda each: (self.kinds.index(each.kind), each.part if isinstance(each.part, int) else 0))
        return faults

    @abstractmethod
    def corrected(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        """The prediction without these of its faults, as it can stand in the predictions file."""

    def rows_without_each(self, units: Sequence[Unit], rows: Sequence[Row]) -> RowsWithout:
        """Return the function from a fault of the first unit to the rows of all units once it is corrected.

        `units` share one prediction, `rows` are theirs. The function raises InputError where the scorer would refuse
        the corrected prediction. A mode whose rows are sums over parts of a unit looks at the part alone that the
        fault is about, so that many faults of one unit take time in proportion to their number.
        """
        return partial(self._rows_without, units)

    def _rows_without(self, units: Sequence[Unit], fault: Fault) -> list[Row]:
        """Return the rows of units from the whole of their prediction without a fault of the first one."""
        prediction = self.reread(self.corrected(units[0], [fault]))
        return [self.row(unit._replace(prediction=prediction)) for unit in units]

    def written(self, prediction: Any) -> Any:
        """A prediction that was read, as it can stand in the file."""
        return prediction

    def reread(self, prediction: Any) -> Any:
        """A prediction of the file, as it is read. Raises InputError."""
        return prediction

    def groups(self, unit: Unit) -> Mapping[str, str]:
        """The group of the unit in each dimension, for which gold alone decides."""
        return {}

    def confusions(self, unit: Unit) -> Iterable[Confusion]:
        """For all that has a label."""
        return ()

    # ---- What only tasks have in which somebody has judged answers, under a policy

    has_policies: ClassVar[bool] = False

    def judgments(self, units: Sequence[Unit]) -> Mapping[tuple[str, Any], str]:
        """Return the label of each judged answer, by its unit and what the answer is found by."""
        return {}

    def scenarios(self, units: Sequence[Unit]) -> Iterable[tuple[str, str, Sequence[Unit]]]:
        """Return scenarios for what nobody has judged: a name, what is assumed, and the units under it."""
        return ()

    def under_policy(self, policy: str, units: Sequence[Unit]) -> tuple[str, Sequence[Unit]]:
        """Return the policy as it is written in full, and the units under it. Raises UsageError for what is none."""
        raise UsageError(f"{self.name} has no policies")


class FilesRead(NamedTuple):
    """Gold, None where there is none, and predictions as a mode has read them, with the systems that these hold."""

    mode: Mode
    gold: Gold | None
    predictions: Gold
    systems: Sequence[str]


class Result(Record):
    """The scores of one run, what they were computed from, and why each unit counted as it did.

    `table` holds the statistics of each of the `units`, `scores` the official measures (each 0..1), `origin` identifies
    the computation, `read` says what gold and predictions held and `notices` what the user should know about it.
    `undefined` has the measures that have no value, with the reasons; they are not in `scores`. `head` is what texts
    say first; `system` is the name of the system where the file holds several.
    """

    mode: Mode
    units: Sequence[Unit]
    table: UnitTable
    scores: Mapping[str, float]
    origin: Origin
    read: tuple[Contents, Contents]
    notices: tuple[str, ...]
    undefined: Mapping[str, str] = {}
    head: tuple[str, ...] = ()
    system: str = ""

    @property
    def names(self) -> tuple[str, str]:
        """What messages call gold and predictions; both are the one file where there is no gold."""
        return self.origin.inputs[0].name, self.origin.inputs[-1].name

    def positions_of(self, unit_id: str | int) -> list[int]:
        """The positions of the units called `unit_id`: several where gold repeats the id.

        Raises InputError, which names the nearest ids, where nothing in gold is called so.
        """
        wanted = str(unit_id)
        positions = [position for position, known in enumerate(self.table.ids) if known == wanted]
        if not positions:
            meant = nearest(wanted, self.table.ids, cutoff=0.5)
            raise InputError(f"no {self.mode.unit} {wanted} was scored{meant}", file=self.names[0])
        return positions

    def explained(self, position: int) -> list[str]:
        """How the unit at a position was scored, in lines; text from the inputs is as it was read."""
        return list(self.mode.explained(self.units[position], self.table.rows[position]))


def intervals(result: Result, resampling: Resampling | None = None) -> ScoreIntervals:
    """The intervals of every measure of `result`, from resamples of its units (claims, instances, questions).

    The name of the unit in `resampling` is set here. Raises InputError where there is no unit.
    """
    mode = result.mode
    settings = replace(resampling or Resampling(), unit=mode.unit)
    return score_intervals(result.table, mode.measures, mode.formula, settings)
