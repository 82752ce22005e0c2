"""The base class of all tasks of evidence, in which a task declares its measures and its rules for a unit.

Scoring, analyses, comparisons and pages use only this class, so that they serve every task.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Annotated, Any, ClassVar, Final, NamedTuple, Self, TypeAlias

from msgspec import Meta

from cs_score.base.display import one_line
from cs_score.base.errors import InputError, UsageError, did_you_mean
from cs_score.base.records import Record, asdict, replace
from cs_score.base.runtime import paused_collector
from cs_score.base.signature import ANSWERED, Origin
from cs_score.base.sources import Input, InputDigest, Source
from cs_score.evidence.reading import ErrorLocation, InputContent, read_input, text_of
from cs_score.measures.registry import Divide, SumsFormula, divide, enter, headline
from cs_score.statistics.options import Resampling
from cs_score.statistics.resampling import score_intervals
from cs_score.statistics.results import ScoreIntervals
from cs_score.statistics.units import UnitTable

Row: TypeAlias = tuple[float, ...]
"""The statistics of one unit, in the order of the mode's columns."""

Contents: TypeAlias = tuple[tuple[int, str], ...]
"""How much an input holds: numbers with their nouns, such as ((300, "claim"), (412, "abstract"))."""

Pair: TypeAlias = tuple[Any, Any, Any]
"""The id of a unit, its gold and its prediction."""


class AnsweredOptions(Record):
    """The option of every task whose units may lack a prediction."""

    answered_only: Annotated[
        bool,
        Meta(description="Score the units that were predicted, and leave out the others; every head says how many"),
    ] = False


Progress: TypeAlias = Callable[[Sequence[Any]], Iterable[Any]]
"""A function that returns the values of a sequence one after the other, and may show how many are left."""

Confusion: TypeAlias = tuple[str, str, str]
"""What a part of a unit is (abstract, claim or answer), the label that it has in gold, and its predicted label.

An abstract of gold that is not predicted has the predicted label `NONE`: `("abstract", "SUPPORT", "none")`. If gold
does not have it, its label in gold is `NONE`.
"""

NONE: Final = "none"


class Unit(NamedTuple):
    """A claim, an instance or a question, with its gold and its prediction as the task reads them.

    `prediction` is None if there is none. `files` are the names of gold and predictions in messages.
    """

    id: Hashable
    gold: Any
    prediction: Any
    files: tuple[str, str]


class UnitsUnderPolicy(NamedTuple):
    """Units whose labels count as a policy says, and the text of this policy, such as "right=CORRECT,wrong=WRONG"."""

    policy: str
    units: Sequence[Unit]


class Fault(Record):
    """A mistake in the prediction for a unit: a wrong abstract, sentence, fact, label or answer.

    `kind` is its kind in the error budget. `part` says where it is: the id of an abstract or document, the number of a
    predicted fact from 1, None if there is only one place. `predicted` and `gold` are the JSON values that the
    prediction has and should have there; None for nothing.
    """

    kind: str
    part: str | int | None
    predicted: Any
    gold: Any


class Part(Record):
    """A part of gold or of a prediction, its judgment, and its faults.

    `noun` says what it is: abstract, evidence set, sentence, fact, answer or label. `value` (JSON) identifies it within
    the unit. `judgment` says in words how it counted, and is None if nothing was predicted for it.
    """

    noun: str
    value: Any
    is_right: bool
    judgment: str | None
    faults: tuple[Fault, ...] = ()


CorrectionScorer: TypeAlias = Callable[[Fault], Sequence[Row]]
"""A function that returns the rows of units that share a prediction, after the correction of a fault of it."""


class ReportRow(Record):
    """A line of the report for people: its name, a measure for each heading, and the columns shown as totals."""

    name: str
    measures: tuple[str, ...]
    totals: tuple[str, ...] = ()


def report_rows(
    names: Sequence[str], measures: tuple[str, ...], totals: Sequence[tuple[str, ...]] = ()
) -> tuple[ReportRow, ...]:
    """Return a report row for each name: the first row has the first measures, the second row the next ones.

    All rows have the same number of measures: `report_rows(("a", "b"), ("a_p", "a_r", "b_p", "b_r"))` returns a row "a"
    with `a_p` and `a_r`, and a row "b" with `b_p` and `b_r`. `totals` has for each row the columns that it shows as
    totals; it is empty if no row shows any.
    """
    measures_in_row = len(measures) // len(names)
    rows = []
    for row_number, name in enumerate(names):
        first = row_number * measures_in_row
        measures_of_row = measures[first : first + measures_in_row]
        columns = totals[row_number] if totals else ()
        rows.append(ReportRow(name, measures_of_row, columns))
    return tuple(rows)


def left_out_notices(predictions: str, answered_count: int, unit_count: int, unit_noun: str) -> list[str]:
    """Return the notice that units without a prediction are left out, in a list; an empty list if all units have one.

    `predictions` is the name of the file, `answered_count` the number of units with a prediction, `unit_count` the
    number of all units, and `unit_noun` the noun for one, such as "claim". Raises InputError if no unit has a
    prediction.
    """
    if not answered_count:
        raise InputError(f"no {unit_noun} has a prediction, so there is nothing to score", file=predictions)
    if answered_count == unit_count:
        return []
    missing_count = unit_count - answered_count
    noun = unit_noun if unit_count == 1 else f"{unit_noun}s"
    return [f"{predictions}: {missing_count:,} of {unit_count:,} {noun} left out, without prediction"]


class Mode(ABC):
    """A task of evidence: its measures, its rules for a unit, and scoring.

    A task sets these attributes:

    * `name`, and `unit`, the noun for what it scores: claim, question ...
    * `columns`: the names of the statistics of a unit. `rows`: the lines of the report, which name all measures in the
      official order, and `headings` above their columns.
    * `kinds`: the kinds of faults, in the order in which the error budget corrects them.
    * `summary` and `files`: the sentences of the help about the task and its files.
    * `options`: a record with a field for each option, its description and its default. `fixed_settings`: settings that
      numbers depend on and nobody chooses.
    * `headlines`: the measures that are shown first; the first one ranks. Empty if the table of measures has them.
    * `stages`: the stages of the task that are tasks of their own, each with its predictions in words.
    * `has_lines`: files have a JSON value on each line. `shares_predictions`: a prediction serves all units of its id.
    * `takes_long`: a terminal shows how far scoring is. `needs_gold`: there is no scoring without gold.
    * `endings`: the endings of the files of predictions in a folder.
    * `package`: the package that a task from outside comes with, and its version, as signatures have it.

    `chosen_options` are the options in force, a record of the class `options`: the defaults, or those of
    `with_options`.
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
    fixed_settings: ClassVar[Mapping[str, object]] = {}
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
        self.chosen_options: Any = self.options()

    def with_options(self, options: Mapping[str, Any]) -> Self:
        """Return a copy of the mode with these options in force; options that are not named have their defaults.

        Raises UsageError for options that are not possible.
        """
        return self._copy_with(chosen_options=self.options(**options))

    def _copy_with(self, **attributes: Any) -> Self:
        """Return a copy of the mode in which some attributes have other values."""
        mode = copy.copy(self)
        mode.__dict__.update(attributes)
        if "rows" in attributes:
            mode.__dict__.pop("measures", None)  # the cached measures, which the rows name
        return mode

    # ---- Its numbers

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """The official names of the measures in the official order."""
        measures: list[str] = []
        for row in self.rows:
            measures += row.measures
        return tuple(measures)

    def formula(self, sums: Sequence[Any], divide: Divide) -> tuple[Any, ...]:
        """Return the value of each measure, in the order of `measures`, from the sums of the columns over all units.

        Here a measure is the mean of its column: the first column counts the units, and each other one belongs to a
        measure. The sums are numbers, arrays or ratios; `divide` divides two of them, with 0 for 0 / 0.
        """
        unit_count, *totals = sums
        return tuple([divide(total, unit_count) for total in totals])

    def formula_of(self, measures: Sequence[str]) -> SumsFormula:
        """Return a function that computes some of the measures from the sums of the columns.

        The function takes the same arguments as `formula`. It can be pickled, for another process.
        """
        return partial(self._compute_measures, tuple(measures))

    def _compute_measures(self, measures: Sequence[str], sums: Sequence[Any], divide: Divide) -> list[Any]:
        """Return the values of some of the measures, from the sums of the columns."""
        value_by_measure = dict(zip(self.measures, self.formula(sums, divide)))
        return [value_by_measure[measure] for measure in measures]

    def scores(self, sums: Sequence[float]) -> dict[str, float]:
        """Return the scores by measure, each 0..1, from the sums of the columns."""
        return dict(zip(self.measures, self.formula(sums, divide)))

    def official_scores(self, scores: Mapping[str, float]) -> dict[str, object]:
        """Return the scores in the form in which the official evaluator writes them."""
        return dict(scores)

    def origin(
        self, options: Mapping[str, object], gold: InputDigest | None, run: InputDigest, measure: str | None = None
    ) -> Origin:
        """Return the origin of scores: task, options, digests of gold and predictions, and the headline measure.

        Options that differ from their defaults appear in its signature. `measure` is None for the headline measure that
        the table of measures has for the task.
        """
        defaults = asdict(self.options())
        defaults.update(self.fixed_settings)
        all_options = {**defaults, **options}
        settings = [self.name]
        if self.package is not None:
            settings.append(self.package)
        for name, value in all_options.items():
            if defaults.get(name) != value:
                settings.append(_setting_text(name, value))
        inputs = (run,) if gold is None else (gold, run)
        if measure is None:
            measure = headline(self.name)[0]
        return Origin(task=self.name, options=all_options, inputs=inputs, settings=tuple(settings), measure=measure)

    def is_answered_only(self, options: Any) -> bool:
        """Return whether the options leave out the units without a prediction."""
        return getattr(options, "answered_only", False)

    # ---- Scoring

    def read_gold(self, gold: Input | object) -> InputContent | None:
        """Return gold that is read once, to score many predictions against it.

        Without gold, return None if the task needs none. Raises InputError for a file that cannot be read as gold.
        """
        if gold is None and not self.needs_gold:
            return None
        return read_input(gold, "gold", self.gold, has_lines=self.has_lines)

    @paused_collector()
    def score(
        self, gold: Input | object, predictions: Input | object, *, progress: Progress = iter, **options: Any
    ) -> ScoredPredictions:
        """Return the result of predictions, scored against gold.

        Gold and predictions are paths, open files or JSON values; gold may also be read already. `options` are fields
        of the task's record of options, `progress` shows how far scoring is. Raises InputError for files that cannot be
        scored, UsageError for options that are not possible and for a file of several systems.
        """
        files = self._read_files(gold, predictions, options)
        if len(files.systems) != 1:
            names = ", ".join([one_line(name, 40) for name in files.systems])
            problem = f"{files.predictions.name} has {len(files.systems)} runs ({names})"
            raise UsageError(f"{problem}: choose one by its name (--run; in Python run=), or score each (score_each)")
        return files.mode.result_of(files, files.systems[0], progress)

    @paused_collector()
    def score_each(
        self, gold: Input | object, predictions: Input | object, *, progress: Progress = iter, **options: Any
    ) -> dict[str, ScoredPredictions]:
        """Return the result of each system of a file of predictions by its name, with the same arguments as `score`."""
        files = self._read_files(gold, predictions, options)
        return {system: files.mode.result_of(files, system, progress) for system in files.systems}

    def _read_files(self, gold: Input | object, predictions: Input | object, options: Mapping[str, Any]) -> FilesRead:
        """Return gold and predictions, read with these options. Gold that was read already is taken as it is.

        Raises InputError for a file that cannot be read, UsageError for options that are not possible, and
        MissingExtraError if a package that scoring needs is not installed.
        """
        mode = self.with_options(options)
        mode.check_packages()  # before any reading, so that a missing package is reported at once
        gold_content = gold if isinstance(gold, InputContent) else mode.read_gold(gold)
        mode = mode._copy_with(has_gold=gold_content is not None)
        run_content = read_input(predictions, "predictions", mode.predictions, has_lines=mode.has_lines)
        systems = mode.systems(run_content)
        return FilesRead(mode, gold_content, run_content, systems)

    def check_packages(self) -> None:  # noqa: B027  # most modes need no further package
        """Raise MissingExtraError if a package that scoring needs is not installed."""

    def result_of(self, files: FilesRead, system: str, progress: Progress) -> ScoredPredictions:
        """Return the result of the system with this name, one of `files.systems`.

        `progress` shows how far scoring is. Raises InputError for files that cannot be scored.
        """
        gold = files.gold
        predictions = files.predictions
        mode = self.mode_for_system(system, files.systems)
        pairs, pairing_notices = mode.pair_units(gold, predictions, mode.chosen_options)
        file_names = ("" if gold is None else gold.name, predictions.name)
        units = [Unit(unit_id, gold_of_unit, predicted, file_names) for unit_id, gold_of_unit, predicted in pairs]

        ids = tuple([text_of(unit.id) for unit in units])
        rows = mode.rows_of(units, progress)
        table = UnitTable(ids, mode.columns, rows)
        undefined = mode.undefined_measures(units, table)
        mode = mode.without_measures(undefined)
        scores = mode.scores(table.sums())

        notices = list(predictions.notices)
        if gold is not None:
            notices += gold.notices
        notices += pairing_notices
        if gold is not None:
            notices += mode.mismatches(gold, predictions, units, table)
        notices += mode.remarks(units, table)
        return ScoredPredictions(
            mode=mode,
            units=units,
            table=table,
            scores=scores,
            origin=mode._origin_of(files, units, table),
            contents=mode.contents(None if gold is None else gold.content, predictions.content, table),
            notices=tuple(notices),
            undefined=undefined,
            head=tuple(mode.head(units, table)),
            system=system,
        )

    def _origin_of(self, files: FilesRead, units: Sequence[Unit], table: UnitTable) -> Origin:
        """Return the origin of the scores of some units of the files; `table` has their statistics."""
        gold_digest = None if files.gold is None else files.gold.digest
        headline_measure = self.headline_of(units, table)
        origin = self.origin(asdict(self.chosen_options), gold_digest, files.predictions.digest, headline_measure)
        if files.gold is not None and self.is_answered_only(self.chosen_options):
            counts = {"scored": len(units), "of": len(files.gold.content), "unit": self.unit}
            origin = origin.with_option(ANSWERED, counts)
        return origin

    # ---- Hooks of few tasks: several systems in a file, measures without a value, a headline that depends on the data

    has_gold: bool = True
    """Whether predictions are read beside gold."""

    def systems(self, predictions: InputContent) -> Sequence[str]:
        """Return the names of the systems in a file of predictions; an empty name if the file does not name any.

        Raises InputError if the options choose a system that the file does not have.
        """
        return ("",)

    option_of_systems: ClassVar[str] = ""
    """The option that chooses one of the systems of a file; empty if files of the task have a single system."""

    def systems_of_file(self, predictions: Input) -> Sequence[str]:
        """Return the names of the systems in a file of predictions, among which the user can choose.

        There are none if the user has chosen a system, if the task has no such option, and if the file cannot be read.
        """
        if not self.option_of_systems:
            return ()
        has_chosen_system = bool(getattr(self.chosen_options, self.option_of_systems))
        if has_chosen_system:
            return ()
        try:
            content = read_input(predictions, "predictions", self.predictions, has_lines=self.has_lines)
            return self.systems(content)
        except InputError:
            return ()

    def mode_for_system(self, system: str, systems: Sequence[str]) -> Self:
        """Return the mode that scores the system with this name, which is one of the `systems` of a file."""
        return self

    def undefined_measures(self, units: Sequence[Unit], table: UnitTable) -> dict[str, str]:
        """Return the measures without a value for these units, each with the reason; `table` has their statistics."""
        return {}

    def without_measures(self, measures: Collection[str]) -> Self:
        """Return a copy of the mode without some measures, and without the lines of the report that show them.

        Raises ValueError unless these are the last lines of the report.
        """
        if not measures:
            return self
        rows = [row for row in self.rows if set(row.measures).isdisjoint(measures)]
        mode = self._copy_with(rows=tuple(rows))
        first_measures = self.measures[: len(mode.measures)]
        if mode.measures != first_measures:
            raise ValueError("only the last rows of the report can be without a value")
        return mode

    def headline_of(self, units: Sequence[Unit], table: UnitTable) -> str:
        """Return the headline measure of these units, which people are shown first."""
        return headline(self.name)[0]

    def remarks(self, units: Sequence[Unit], table: UnitTable) -> Iterable[str]:
        """Return notices about the scores of these units; they follow the notices about the files."""
        return ()

    def head(self, units: Sequence[Unit], table: UnitTable) -> Iterable[str]:
        """Return the sentences at the start of every text about the scores, such as the number of answers scored."""
        return ()

    def further_table(self, sums: Sequence[float]) -> list[tuple[str, ...]]:
        """Return the rows of a further table below the report for people, its heading first; most tasks have none."""
        return []

    # ---- Rules of the task

    @abstractmethod
    def gold(self, source: Source) -> Any:
        """Return the content of a gold file, which scoring never changes. Raises InputError for a malformed file."""

    @abstractmethod
    def predictions(self, source: Source) -> Any:
        """Return the content of a file of predictions. Raises InputError for a malformed file."""

    def is_gold(self, first: object) -> bool | None:
        """Return whether the first value of a file shows that the file is gold; False if it shows predictions.

        Return None if neither is certain.
        """
        return None

    @abstractmethod
    def pair_units(self, gold: Any, predictions: InputContent, options: Any) -> tuple[Iterable[Pair], Iterable[str]]:
        """Return the id, the gold and the prediction of each unit that is scored, and the notices for the user.

        Raises InputError if gold and predictions do not belong together.
        """

    def mismatches(
        self, gold: InputContent, predictions: InputContent, units: Sequence[Unit], table: UnitTable
    ) -> Iterable[str]:
        """Return notices about the files that explain low scores, such as ids that gold writes in another way."""
        return ()

    def contents(self, gold: Any, predictions: Any, table: UnitTable) -> tuple[Contents, Contents]:
        """Return how much gold, and how much the predictions hold, for the report: 300 claims, 412 abstracts."""
        return ((len(gold), self.unit),), ((len(predictions), self.unit),)

    def rows_of(self, units: Sequence[Unit], progress: Progress) -> list[Row]:
        """Return the row of each unit, its statistics. Raises InputError as `row` does."""
        return [self.row(unit) for unit in progress(units)]

    @abstractmethod
    def row(self, unit: Unit) -> Row:
        """Return the statistics of a unit in the order of the columns.

        Raises InputError for a unit that the official evaluator would refuse.
        """

    @abstractmethod
    def explain_unit(self, unit: Unit, row: Row) -> Iterator[str]:
        """Yield the lines that explain why a unit has this row. Text from the inputs is not made safe to print."""

    def error_location(self, unit: Unit) -> ErrorLocation:
        """Return a context that adds the name of the gold file and the id of a unit to every InputError in its block.

        The block sets `file` of the context to `unit.files[1]` while it reads the prediction.
        """
        gold_file = unit.files[0]
        return ErrorLocation(gold_file, {self.unit: unit.id})

    # ---- Faults of a prediction that `row` accepts

    @abstractmethod
    def parts(self, unit: Unit, measure: str) -> Iterable[Part]:
        """Return the parts of gold for a unit, and the predicted parts that gold does not have, with their judgments.

        The judgments are those for a measure.
        """

    def faults(self, unit: Unit, measure: str) -> list[Fault]:
        """Return the faults of the prediction for a unit, by kind and then by the number of their part.

        The kinds are in the order of `kinds`.
        """
        faults: list[Fault] = []
        for part in self.parts(unit, measure):
            faults += part.faults
        return self.sort_by_kind(faults)

    def sort_by_kind(self, faults: list[Fault]) -> list[Fault]:
        """Sort faults in place, by kind and then by the number of their part, and return them."""
        if len(faults) > 1:
            faults.sort(key=self._kind_and_number)
        return faults

    def _kind_and_number(self, fault: Fault) -> tuple[int, int]:
        """Return the position of a fault's kind in `kinds` and the number of its part, 0 for a part without number.

        Faults are sorted by this pair.
        """
        number_of_part = fault.part if isinstance(fault.part, int) else 0
        return self.kinds.index(fault.kind), number_of_part

    @abstractmethod
    def correct_faults(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        """Return the prediction for a unit, with these faults of it corrected, in the form of the predictions file."""

    def correction_scorer(self, units: Sequence[Unit], rows: Sequence[Row]) -> CorrectionScorer:
        """Return a function that returns the rows of some units after the correction of a single fault.

        The units share one prediction and have these `rows`. The function raises InputError if the scorer would refuse
        the corrected prediction. A task whose rows are sums over parts of a unit should score only the part with the
        fault again, so that the time for all faults of a unit grows in proportion to their number.
        """
        return partial(self._score_corrected, units)

    def _score_corrected(self, units: Sequence[Unit], fault: Fault) -> list[Row]:
        """Return the rows of units that share a prediction, scored again with one of its faults corrected."""
        corrected_json = self.correct_faults(units[0], [fault])
        corrected_prediction = self.prediction_from_json(corrected_json)
        return [self.row(unit._replace(prediction=corrected_prediction)) for unit in units]

    def prediction_to_json(self, prediction: Any) -> Any:
        """Return a prediction that was read, in the form of the predictions file."""
        return prediction

    def prediction_from_json(self, prediction: Any) -> Any:
        """Return a prediction in the form of the file as the task reads it. Raises InputError if it is malformed."""
        return prediction

    def groups(self, unit: Unit) -> Mapping[str, str]:
        """Return the group of a unit in each dimension, such as {"level": "hard"}; it depends on gold only."""
        return {}

    def confusions(self, unit: Unit) -> Iterable[Confusion]:
        """Return for each part of a unit with a label its label in gold and its predicted label (see `Confusion`)."""
        return ()

    # ---- Hooks of tasks whose answers were judged; a policy says which judgments count as right

    has_policies: ClassVar[bool] = False

    def judgments(self, units: Sequence[Unit]) -> Mapping[tuple[str, Any], str]:
        """Return the label of each judged answer, by its unit and its key in the unit."""
        return {}

    def scenarios(self, units: Sequence[Unit]) -> Iterable[tuple[str, str, Sequence[Unit]]]:
        """Return the scenarios for answers that nobody has judged: a name, an assumption, and the units under it."""
        return ()

    def units_under_policy(self, policy: str, units: Sequence[Unit]) -> UnitsUnderPolicy:
        """Return units whose labels count as a policy says. Raises UsageError for a text that is no policy."""
        raise UsageError(f"{self.name} has no policies")


def _setting_text(name: str, value: object) -> str:
    """Return an option as signatures show it, such as `any_order=true`; `answered_only` is shown as a word alone."""
    if name == "answered_only":
        return "answered-only"
    if isinstance(value, str):
        return f"{name}={value}"
    return f"{name}={str(value).lower()}"


class FilesRead(NamedTuple):
    """Gold and predictions as a task has read them, with the systems in the predictions; gold may be None."""

    mode: Mode
    gold: InputContent | None
    predictions: InputContent
    systems: Sequence[str]


class ScoredPredictions(Record):
    """The scores of one run, with their origin and the statistics of each unit.

    `table` has the statistics of each of the `units`, `scores` the official measures (each 0..1). `origin` identifies
    the computation. `contents` says how much gold and predictions hold, and `notices` are for the user. `undefined` has
    the measures without a value, each with the reason; they are not in `scores`. Every text begins with `head`;
    `system` is the name of the system if the file has several.
    """

    mode: Mode
    units: Sequence[Unit]
    table: UnitTable
    scores: Mapping[str, float]
    origin: Origin
    contents: tuple[Contents, Contents]
    notices: tuple[str, ...]
    undefined: Mapping[str, str] = {}
    head: tuple[str, ...] = ()
    system: str = ""

    @property
    def names(self) -> tuple[str, str]:
        """The names of gold and of the predictions in messages; without gold both are the name of the predictions."""
        return self.origin.inputs[0].name, self.origin.inputs[-1].name

    def positions_of(self, unit_id: str | int) -> list[int]:
        """Return the positions of the units with this id, which are several if gold repeats it.

        Raises InputError, with the most similar ids, if no unit has the id.
        """
        id_text = str(unit_id)
        positions = [position for position, other_id in enumerate(self.table.ids) if other_id == id_text]
        if not positions:
            suggestion = did_you_mean(id_text, self.table.ids, cutoff=0.5)
            raise InputError(f"no {self.mode.unit} {id_text} was scored{suggestion}", file=self.names[0])
        return positions

    def explain_unit_at(self, position: int) -> list[str]:
        """Return the lines that explain how the unit at a position was scored."""
        return list(self.mode.explain_unit(self.units[position], self.table.rows[position]))


def intervals(result: ScoredPredictions, resampling: Resampling | None = None) -> ScoreIntervals:
    """Return the interval of every measure of a result, from resamples of its units (claims, instances, questions).

    Raises InputError if the result has no unit.
    """
    mode = result.mode
    settings = replace(resampling or Resampling(), unit=mode.unit)
    return score_intervals(result.table, mode.measures, mode.formula, settings)
