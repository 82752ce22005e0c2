"""The base class of all evidence tasks. A unit is a claim, a question or an instance.
It has gold, which is the right answer with its evidence, and a prediction. A task computes a row of statistics for each
unit, and its measures from the sums of the columns. A fault is a mistake in a prediction.

Scoring, analyses, comparisons and pages use only this class, so that they work for every task.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, NamedTuple, Self, TypeAlias

from msgspec import Meta

from cs_score.base.display import one_line
from cs_score.base.errors import InputError, UsageError, did_you_mean
from cs_score.base.records import Record, asdict, replace
from cs_score.base.runtime import Late, paused_garbage_collection
from cs_score.base.signature import ANSWERED, Origin
from cs_score.base.sources import Input, InputDigest, Source
from cs_score.evidence.reading import ErrorLocation, InputContent, read_input, text_of
from cs_score.measures import Divide, SumsFormula, add_measures, divide, headline_names
from cs_score.statistics.resampling_settings import Resampling
from cs_score.statistics.results import ScoreIntervals
from cs_score.statistics.units import UnitTable

if TYPE_CHECKING:
    from cs_score.statistics import resampling as resampled
else:  # scores without intervals need no resamples
    resampled = Late("cs_score.statistics.resampling")

Row: TypeAlias = tuple[float, ...]
"""The statistics of a unit, such as numbers of right sentences, in the order of the mode's columns."""

Contents: TypeAlias = tuple[tuple[int, str], ...]
"""What an input contains, as numbers with their nouns: ((300, "claim"), (412, "abstract"))."""

PairedUnit: TypeAlias = tuple[Any, Any, Any]
"""The id of a unit, its gold and its prediction, which is None if the unit has none."""


class AnsweredOptions(Record):
    """The option of every task whose units may lack a prediction."""

    answered_only: Annotated[
        bool,
        Meta(description="Score the units that were predicted, and leave out the others; every head says how many"),
    ] = False


Progress: TypeAlias = Callable[[Sequence[Any]], Iterable[Any]]
"""A function that returns the values of a sequence one after the other, and may show how many are left."""

Confusion: TypeAlias = tuple[str, str, str]
"""The noun for a part of a unit (abstract, claim or answer), the label of this part in gold, and its predicted label.

If an abstract of gold is not predicted, its predicted label is `NONE`: `("abstract", "SUPPORT", "none")`. If a
predicted abstract is not in gold, its label in gold is `NONE`.
"""

NONE: Final = "none"


class Unit(NamedTuple):
    """A claim, an instance or a question, with its gold and its prediction as the task reads them.

    `prediction` is None if the unit has none. `files` are the names of the gold file and of the predictions file.
    """

    id: Hashable
    gold: Any
    prediction: Any
    files: tuple[str, str]

    @property
    def gold_file(self) -> str:
        """The name of the gold file."""
        return self.files[0]

    @property
    def predictions_file(self) -> str:
        """The name of the predictions file."""
        return self.files[1]


class UnitsUnderPolicy(NamedTuple):
    """Units whose labels count as a policy says, and the text of this policy, such as "right=CORRECT,wrong=WRONG"."""

    policy: str
    units: Sequence[Unit]


class Fault(Record):
    """A mistake in the prediction for a unit: a wrong abstract, sentence, fact, label or answer.

    `kind` is its kind in the error budget. `part` says where in the prediction it is: the id of an abstract or
    document, or the number of a predicted fact from 1; it is None if there is only one place. `predicted` is the JSON
    value that the prediction has there, and `gold` is the value that it should have. Each is None if there is no such
    value.
    """

    kind: str
    part: str | int | None
    predicted: Any
    gold: Any


class Part(Record):
    """A part of gold or of a prediction, with its judgment and its faults.

    `noun` says what the part is: abstract, evidence set, sentence, fact, answer or label. `value` is a JSON value that
    identifies it within the unit. `judgment` says in words how it was counted, or is None if nothing was predicted for
    it.
    """

    noun: str
    value: Any
    is_right: bool
    judgment: str | None
    faults: tuple[Fault, ...] = ()


CorrectionScorer: TypeAlias = Callable[[Fault], Sequence[Row]]
"""A function that returns the rows of some units after the correction of one fault of the prediction they share."""


class ReportRow(Record):
    """A line of the report: its name, a measure for each heading, and the columns whose totals it shows."""

    name: str
    measures: tuple[str, ...]
    totals: tuple[str, ...] = ()


def report_rows(
    row_names: Sequence[str], measures: tuple[str, ...], totals: Sequence[tuple[str, ...]] = ()
) -> tuple[ReportRow, ...]:
    """Return a report row for each name; each row has the same number of measures.

    For example, `report_rows(("a", "b"), ("a_p", "a_r", "b_p", "b_r"))` returns a row "a" with the measures `a_p` and
    `a_r`, and a row "b" with `b_p` and `b_r`. `totals` holds for each row the columns whose totals it shows; it is
    empty if no row shows totals.
    """
    measures_in_row = len(measures) // len(row_names)
    rows = []
    for row_number, name in enumerate(row_names):
        first_position = row_number * measures_in_row
        measures_of_row = measures[first_position : first_position + measures_in_row]
        columns = totals[row_number] if totals else ()
        rows.append(ReportRow(name, measures_of_row, columns))
    return tuple(rows)


def paired_units_with_prediction(paired_units: Iterable[PairedUnit]) -> list[PairedUnit]:
    """Return the triples `(id, gold, prediction)` whose prediction is not None."""
    answered_units = []
    for paired_unit in paired_units:
        _unit_id, _gold, prediction = paired_unit
        if prediction is not None:
            answered_units.append(paired_unit)
    return answered_units


def left_out_notices(predictions_file: str, answered_count: int, unit_count: int, unit_noun: str) -> list[str]:
    """Return a list with a notice if units without a prediction were left out: "2 of 300 claims left out, ...".

    The list is empty if all units have a prediction. `predictions_file` is the name of the predictions file.
    `answered_count` is the number of units with a prediction, `unit_count` is the total number of units, and
    `unit_noun` is the noun for a unit, such as "claim". Raises InputError if no unit has a prediction.
    """
    if not answered_count:
        raise InputError(f"no {unit_noun} has a prediction, so there is nothing to score", file=predictions_file)
    if answered_count == unit_count:
        return []
    missing_count = unit_count - answered_count
    return [f"{predictions_file}: {missing_count:,} of {unit_count:,} {unit_noun}s left out, without prediction"]


class Mode(ABC):
    """An evidence task: its measures, its rules for a unit, and the methods that score predictions.

    A task sets these attributes:

    * `name` is the name of the task, and `unit` is the noun for what it scores, such as "claim" or "question".
    * `columns` are the names of the statistics of a unit. `rows` are the lines of the report, which name all measures
      in the official order. `headings` are the headings of the report.
    * `kinds` are the kinds of faults, in the order in which the error budget corrects them.
    * `summary` and `files` are the sentences of the help about the task and its files.
    * `options` is a record class with a field for each option, with its description and default. `fixed_settings` are
      settings that affect the scores but cannot be chosen.
    * `headlines` are the measures that reports show first. Leaderboards are sorted by the first one. It is empty if the
      table of measures names them.
    * `stages` are the stages of the task that are tasks of their own, with a description of what each one predicts.
    * `has_lines` is true if files have a JSON value on each line. `shares_predictions` is true if all units with the
      same id share one prediction.
    * `takes_long` is true if scoring shows its progress on a terminal. `needs_gold` is true if scoring needs gold.
    * `endings` are the endings of the names of predictions files, by which they are found in a folder.
    * `package` is the package that offers the task, and its version, or None for a task of cs-score.

    `chosen_options` are the options in force, as a record of the class `options`.
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
        add_measures(self.name, self.measures, self.headlines)
        self.chosen_options: Any = self.options()

    def with_options(self, options: Mapping[str, Any]) -> Self:
        """Return a copy of the mode with these options in force. All other options have their defaults.

        Raises UsageError for invalid options.
        """
        return self._copy_with(chosen_options=self.options(**options))

    def _copy_with(self, **attributes: Any) -> Self:
        """Return a copy of the mode in which these attributes have the given values."""
        mode = copy.copy(self)
        mode.__dict__.update(attributes)
        if "rows" in attributes:
            mode.__dict__.pop("measures", None)  # the cached measures, which depend on the rows
        return mode

    # ---- Its numbers

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """The official names of the measures in the official order."""
        measures: list[str] = []
        for row_of_report in self.rows:
            measures += row_of_report.measures
        return tuple(measures)

    def formula(self, sums: Sequence[Any], divide: Divide) -> tuple[Any, ...]:
        """Return the value of each measure, in the order of `measures`, from the sums of the columns over all units.

        In this base class each measure is the mean of a column: the first column counts the units, and every other
        column belongs to a measure. The sums are numbers, arrays or ratios. `divide` divides two of them and returns 0
        for 0 / 0.
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
        """Return the score of each measure, from 0 to 1, from the sums of the columns: `{"micro-p": 0.5, ...}`."""
        return dict(zip(self.measures, self.formula(sums, divide)))

    def official_scores(self, scores: Mapping[str, float]) -> dict[str, object]:
        """Return the scores as the official evaluator writes them."""
        return dict(scores)

    def origin(
        self,
        options: Mapping[str, object],
        gold: InputDigest | None,
        predictions: InputDigest,
        measure: str | None = None,
    ) -> Origin:
        """Return the origin of scores, which records how they were computed.

        The origin contains the task, all options, the digests of gold and predictions, and the headline measure. Its
        settings are shown in its signature: the task, and only those options that differ from their defaults. If
        `measure` is None, the headline measure is taken from the table of measures.
        """
        all_options = {**self._default_options(), **options}
        return Origin(
            task=self.name,
            options=all_options,
            inputs=(predictions,) if gold is None else (gold, predictions),
            settings=self._settings_in_signature(all_options),
            measure=headline_names(self.name)[0] if measure is None else measure,
        )

    def _default_options(self) -> dict[str, object]:
        """Return the default of each option, and the settings that cannot be chosen: {"references": 3, "seed": 3}."""
        return {**asdict(self.options()), **self.fixed_settings}

    def _settings_in_signature(self, options: Mapping[str, object]) -> tuple[str, ...]:
        """Return the settings that a signature shows: the task, its package, and options that are not the defaults.

        A signature is a line that says how scores were computed. An example of its settings is ("scifact",
        "any_order=true").
        """
        settings = [self.name]
        if self.package is not None:
            settings.append(self.package)
        defaults = self._default_options()
        for name, value in options.items():
            if defaults.get(name) != value:
                settings.append(_setting_text(name, value))
        return tuple(settings)

    def is_answered_only(self, options: Any) -> bool:
        """Return whether the options leave out the units without a prediction."""
        return getattr(options, "answered_only", False)

    # ---- Scoring

    def read_gold(self, gold: Input | object) -> InputContent | None:
        """Return the content of gold, which can then be used for many predictions.

        Return None if `gold` is None and the task does not need gold. Raises InputError for a file that cannot be read
        as gold.
        """
        if gold is None and not self.needs_gold:
            return None
        read_content = self.gold  # the method that reads gold in a task
        return read_input(gold, "gold", read_content, has_lines=self.has_lines)

    @paused_garbage_collection()
    def score(
        self, gold: Input | object, predictions: Input | object, *, progress: Progress = iter, **options: Any
    ) -> ScoredPredictions:
        """Return the result of predictions, scored against gold.

        `gold` and `predictions` are paths, open files or JSON values; `gold` may also be a value of `read_gold`.
        `options` are fields of the task's record of options. `progress` displays the progress of scoring; the built-in
        `iter` displays nothing. Raises InputError for files that cannot be scored, and UsageError for invalid options
        and for a file with several systems.
        """
        files = self._read_files(gold, predictions, options)
        has_several_systems = len(files.systems) != 1
        if has_several_systems:
            names = ", ".join([one_line(name, 40) for name in files.systems])
            problem = f"{files.predictions.name} has {len(files.systems)} runs ({names})"
            raise UsageError(f"{problem}: choose one by its name (--run; in Python run=), or score each (score_each)")
        mode_with_options = files.mode
        return mode_with_options.result_of(files, files.systems[0], progress)

    @paused_garbage_collection()
    def score_each(
        self, gold: Input | object, predictions: Input | object, *, progress: Progress = iter, **options: Any
    ) -> dict[str, ScoredPredictions]:
        """Return the result of each system in a file of predictions, by the name of the system.

        `gold` and `predictions` are paths, open files or JSON values; `gold` may also be a value of `read_gold`.
        `options` are fields of the task's record of options, and `progress` displays the progress of scoring. Raises
        InputError for files that cannot be scored, and UsageError for invalid options.
        """
        files = self._read_files(gold, predictions, options)
        # `files.mode` is this task with the chosen options.
        return {system: files.mode.result_of(files, system, progress) for system in files.systems}

    def _read_files(self, gold: Input | object, predictions: Input | object, options: Mapping[str, Any]) -> FilesRead:
        """Return gold and predictions read with these options, together with a mode that has the options.

        The names of the systems in the predictions are also returned. Gold from `read_gold` is not read again. Raises
        InputError for a file that cannot be read, UsageError for invalid options, and MissingExtraError if a package
        that scoring needs is not installed.
        """
        mode_with_options = self.with_options(options)
        mode_with_options.check_packages()  # before reading, so that a missing package is reported at once
        gold_content = gold if isinstance(gold, InputContent) else mode_with_options.read_gold(gold)
        mode = mode_with_options._copy_with(has_gold=gold_content is not None)
        run_content = read_input(predictions, "predictions", mode.predictions, has_lines=mode.has_lines)
        systems = mode.systems(run_content)
        return FilesRead(mode, gold_content, run_content, systems)

    def check_packages(self) -> None:  # noqa: B027  # most modes need no further package
        """Raise MissingExtraError if a package that scoring needs is not installed."""

    def result_of(self, files: FilesRead, system: str, progress: Progress) -> ScoredPredictions:
        """Return the result of the system with this name, which must be one of `files.systems`.

        A mode is a task with its options. One copy of this mode scores the system. Another copy, which omits the
        measures without a value, produces the report. `progress` displays the progress of scoring. Raises InputError
        for files that cannot be scored.
        """
        system_mode = self.mode_for_system(system, files.systems)
        pairs, pairing_notices = system_mode.pair_units(files.gold, files.predictions, system_mode.chosen_options)
        units = [Unit(unit_id, gold, prediction, files.names) for unit_id, gold, prediction in pairs]
        ids = tuple([text_of(unit.id) for unit in units])
        table = UnitTable(ids, system_mode.columns, system_mode.rows_of(units, progress))
        undefined = system_mode.undefined_measures(units, table)
        report_mode = system_mode.without_measures(undefined)  # the report shows only measures with a value
        sentences_above_scores = tuple(report_mode.head(units, table))
        return ScoredPredictions(
            mode=report_mode,
            units=units,
            table=table,
            scores=report_mode.scores(table.sums()),
            notices=report_mode._all_notices(files, pairing_notices, units, table),
            origin=report_mode._origin_of(files, units, table),
            contents=report_mode.contents(files.gold_content, files.predictions.content, table),
            undefined=undefined,
            head=sentences_above_scores,
            system=system,
        )

    def _all_notices(
        self, files: FilesRead, pairing_notices: Iterable[str], units: Sequence[Unit], table: UnitTable
    ) -> tuple[str, ...]:
        """Return remarks and notices for the user, on how the files were read and paired and what explains low scores.

        `table` contains the statistics of the units. `files.gold` is None if the task scores predictions without gold.
        """
        notices = list(files.predictions.notices)
        if files.gold is not None:
            notices += files.gold.notices
        notices += pairing_notices
        if files.gold is not None:
            notices += self.mismatches(files.gold, files.predictions, units, table)
        notices += self.remarks(units, table)
        return tuple(notices)

    def _origin_of(self, files: FilesRead, units: Sequence[Unit], table: UnitTable) -> Origin:
        """Return the origin of the scores of some units: the task, its options, and the digests of the files.

        If only units with a prediction are scored, it also says how many of how many. `table` has the statistics of the
        units, on which the headline measure may depend.
        """
        gold_digest = None if files.gold is None else files.gold.digest
        headline_measure = self.headline_of(units, table)
        origin = self.origin(asdict(self.chosen_options), gold_digest, files.predictions.digest, headline_measure)
        if files.gold is None or not self.is_answered_only(self.chosen_options):
            return origin
        counts = {"scored": len(units), "of": len(files.gold.content), "unit": self.unit}
        return origin.with_option(ANSWERED, counts)

    # ---- Hooks that few tasks need, such as those for several systems in a file and for measures without a value

    has_gold: bool = True
    """Whether the predictions are scored against gold."""

    def systems(self, predictions: InputContent) -> Sequence[str]:
        """Return the names of the systems in a file of predictions.

        If the file names no system, it has a single one, whose name is empty. Raises InputError if the options choose a
        system that the file does not have.
        """
        return ("",)

    system_option_name: ClassVar[str] = ""
    """The name of the option that chooses one of the systems of a file, or an empty text if files have only one."""

    def systems_of_file(self, predictions: Input) -> Sequence[str]:
        """Return the names of the systems in a file of predictions from which the user can choose.

        The sequence is empty if the user has already chosen a system, if the task has no such option, or if the file
        cannot be read.
        """
        if not self.system_option_name:
            return ()
        has_chosen_system = bool(getattr(self.chosen_options, self.system_option_name))
        if has_chosen_system:
            return ()
        try:
            read_predictions = self.predictions  # the method of each task that reads a file of predictions
            content = read_input(predictions, "predictions", read_predictions, has_lines=self.has_lines)
            return self.systems(content)
        except InputError:
            return ()

    def mode_for_system(self, system: str, systems: Sequence[str]) -> Self:
        """Return the mode that scores the system with this name, which is one of the `systems` of a file."""
        return self

    def undefined_measures(self, units: Sequence[Unit], table: UnitTable) -> dict[str, str]:
        """Return the reason why a measure has no value for these units, by the name of the measure.

        `table` has the statistics of the units.
        """
        return {}

    def without_measures(self, measures: Collection[str]) -> Self:
        """Return a copy of the task without these measures and the rows of the report that show them.

        Raises ValueError unless these rows are the last ones of the report.
        """
        if not measures:
            return self
        remaining_rows = [row for row in self.rows if set(row.measures).isdisjoint(measures)]
        reduced_mode = self._copy_with(rows=tuple(remaining_rows))  # the copy has the measures of these rows only
        # If only the last rows are left out, the remaining measures are at the beginning of all measures.
        first_measures = self.measures[: len(reduced_mode.measures)]
        if reduced_mode.measures != first_measures:
            raise ValueError("only the last rows of the report can be without a value")
        return reduced_mode

    def headline_of(self, units: Sequence[Unit], table: UnitTable) -> str:
        """Return the headline measure of these units: the measure that reports show first."""
        return headline_names(self.name)[0]

    def remarks(self, units: Sequence[Unit], table: UnitTable) -> Iterable[str]:
        """Return notices about the scores of these units, which are shown after the notices about the files."""
        return ()

    def head(self, units: Sequence[Unit], table: UnitTable) -> Iterable[str]:
        """Return the sentences at the start of every text about the scores, such as the number of answers scored."""
        return ()

    def further_table(self, sums: Sequence[float]) -> list[tuple[str, ...]]:
        """Return the rows of another table that the report shows below the scores, the heading first.

        Most tasks have no such table and return an empty list.
        """
        return []

    # ---- Rules of the task

    @abstractmethod
    def gold(self, source: Source) -> Any:
        """Return the content of a gold file, which scoring never changes. Raises InputError for a malformed file."""

    @abstractmethod
    def predictions(self, source: Source) -> Any:
        """Return the content of a file of predictions. Raises InputError for a malformed file."""

    def is_gold(self, first: object) -> bool | None:
        """Return True if the first JSON value of a file shows that the file is gold, and False if it shows predictions.

        Return None if neither is certain.
        """
        return None

    @abstractmethod
    def pair_units(
        self, gold: Any, predictions: InputContent, options: Any
    ) -> tuple[Iterable[PairedUnit], Iterable[str]]:
        """Return the id, the gold and the prediction of each unit that is scored, and the notices for the user.

        Raises InputError if gold and predictions do not belong together.
        """

    def mismatches(
        self, gold: InputContent, predictions: InputContent, units: Sequence[Unit], table: UnitTable
    ) -> Iterable[str]:
        """Return notices about causes of low scores in the files, such as ids that are spelled differently in gold.

        There are none by default. Tasks with such notices override this method.
        """
        return ()

    def contents(self, gold: Any, predictions: Any, table: UnitTable) -> tuple[Contents, Contents]:
        """Return what gold and what the predictions contain: `((300, "claim"),)` and `((412, "abstract"),)`."""
        return ((len(gold), self.unit),), ((len(predictions), self.unit),)

    def rows_of(self, units: Sequence[Unit], progress: Progress) -> list[Row]:
        """Return the row of each unit, which holds its statistics. Raises InputError as `row` does."""
        return [self.row(unit) for unit in progress(units)]

    @abstractmethod
    def row(self, unit: Unit) -> Row:
        """Return the statistics of a unit in the order of the columns.

        Raises InputError for a unit that the official evaluator would refuse.
        """

    @abstractmethod
    def explain_unit(self, unit: Unit, row: Row) -> Iterator[str]:
        """Yield the lines that explain why a unit has this row.

        Texts from the inputs are not made safe to print.
        """

    def error_location(self, unit: Unit) -> ErrorLocation:
        """Return a context manager that adds the gold file and the id of a unit to each InputError in its block.

        While the block reads the prediction, it sets the attribute `file` of the context manager to the predictions
        file.
        """
        unit_noun = self.unit  # such as "claim"
        return ErrorLocation(unit.gold_file, {unit_noun: unit.id})

    # ---- Faults of a prediction that `row` accepts

    @abstractmethod
    def parts(self, unit: Unit, measure: str) -> Iterable[Part]:
        """Return the parts of gold for a unit, and the predicted parts that gold does not have, with their judgments.

        In some tasks the judgments depend on the measure.
        """

    def faults(self, unit: Unit, measure: str) -> list[Fault]:
        """Return the faults of the prediction for a unit.

        They are sorted by kind, in the order of `kinds`, and then by the number of their part.
        """
        faults: list[Fault] = []
        for part in self.parts(unit, measure):
            faults += part.faults
        return self.sort_by_kind(faults)

    def sort_by_kind(self, faults: list[Fault]) -> list[Fault]:
        """Sort faults in place, by kind and then by the number of their part, and return them."""
        faults.sort(key=self._kind_and_number)
        return faults

    def _kind_and_number(self, fault: Fault) -> tuple[int, int]:
        """Return the key by which faults are sorted: the position of the fault's kind in `kinds`, and a number.

        This number is the fault's part, such as 3 for the third fact, or 0 if the part is not a number.
        """
        number_of_part = fault.part if isinstance(fault.part, int) else 0
        return self.kinds.index(fault.kind), number_of_part

    @abstractmethod
    def correct_faults(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        """Return the prediction for a unit, with these faults of it corrected, as a JSON value of its file."""

    def correction_scorer(self, units: Sequence[Unit], rows: Sequence[Row]) -> CorrectionScorer:
        """Return a function that returns the rows of some units after the correction of a single fault.

        The units share one prediction, and `rows` are their rows before the correction. The function raises InputError
        if the scorer would refuse the corrected prediction. If the rows of a task are sums over parts of a unit, the
        function should score only the part with the fault, so that the time for all faults of a unit is proportional to
        their number.
        """
        return partial(self._score_corrected, units)

    def _score_corrected(self, units: Sequence[Unit], fault: Fault) -> list[Row]:
        """Return the new rows of units that share a prediction, after correcting a fault of this prediction."""
        any_unit = units[0]  # each unit has the same prediction
        corrected_json = self.correct_faults(any_unit, [fault])
        corrected_prediction = self.prediction_from_json(corrected_json)
        return [self.row(unit._replace(prediction=corrected_prediction)) for unit in units]

    def prediction_to_json(self, prediction: Any) -> Any:
        """Return a prediction that was read as a JSON value of the predictions file."""
        return prediction

    def prediction_from_json(self, prediction: Any) -> Any:
        """Return a prediction as the task reads it from a JSON value. Raises InputError if the value is malformed."""
        return prediction

    def groups(self, unit: Unit) -> Mapping[str, str]:
        """Return the groups of a unit by dimension, such as {"level": "hard"}; they depend only on gold."""
        return {}

    def confusions(self, unit: Unit) -> Iterable[Confusion]:
        """Return the label in gold and the predicted label of each labelled part of a unit (see `Confusion`)."""
        return ()

    # ---- Hooks of tasks whose answers somebody has labelled; a policy says which labels count as right

    has_policies: ClassVar[bool] = False

    def judgments(self, units: Sequence[Unit]) -> Mapping[tuple[str, Any], str]:
        """Return the label of each judged answer, such as `{("q1", "Paris"): "CORRECT"}`.

        The key of the dictionary is the id of the unit and the key of the answer within the unit.
        """
        return {}

    def scenarios(self, units: Sequence[Unit]) -> Iterable[tuple[str, str, Sequence[Unit]]]:
        """Return scenarios for the answers that nobody has judged.

        A scenario is a name, an assumption about these answers, and the units as they are under the assumption.
        """
        return ()

    def units_under_policy(self, policy: str, units: Sequence[Unit]) -> UnitsUnderPolicy:
        """Return units whose labels count according to a policy. Raises UsageError for a text that is not a policy."""
        raise UsageError(f"{self.name} has no policies")


def _setting_text(name: str, value: object) -> str:
    """Return an option as signatures show it: `any_order=true`, or `answered-only` for `answered_only`."""
    if name == "answered_only":
        return "answered-only"
    if isinstance(value, str):
        return f"{name}={value}"
    return f"{name}={str(value).lower()}"


class FilesRead(NamedTuple):
    """Gold and predictions as a task has read them, and the names of the systems in the predictions.

    `mode` is the task with its options in force. `gold` is None if the predictions are scored without gold.
    """

    mode: Mode
    gold: InputContent | None
    predictions: InputContent
    systems: Sequence[str]

    @property
    def names(self) -> tuple[str, str]:
        """The names of the gold file and of the predictions file. The name of gold is empty if there is none."""
        return "" if self.gold is None else self.gold.name, self.predictions.name

    @property
    def gold_content(self) -> Any:
        """The content of gold as read by the task, or None if there is no gold."""
        return None if self.gold is None else self.gold.content


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
        """The names of the gold file and of the predictions file: `("gold.jsonl", "run.jsonl")`.

        Without gold, both names are that of the predictions file.
        """
        inputs = self.origin.inputs  # gold, if there is any, and then the predictions
        return inputs[0].name, inputs[-1].name

    def positions_of(self, unit_id: str | int) -> list[int]:
        """Return the positions of the units with this id. There are several positions if gold repeats the id.

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
    """Return the confidence interval of every measure of a result, estimated from resamples of its units.

    Raises InputError if the result has no unit.
    """
    mode = result.mode
    settings = replace(resampling or Resampling(), unit=mode.unit)
    return resampled.score_intervals(result.table, mode.measures, mode.formula, settings)
