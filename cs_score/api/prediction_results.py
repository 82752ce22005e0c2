"""Functions that score evidence tasks (SciFact, claims, R4C, HotpotQA, judged answers), and their results. Gold is the
annotation of a task, and a unit is a claim, an instance or a question in it. A mode is the object with a task's rules.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from msgspec import UNSET

from cs_score.api.any_result import AnyResult
from cs_score.api.arguments import Selectors, checked
from cs_score.api.result_tables import units_of_predictions
from cs_score.api.shown import member
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import Existing, OutputPlan, PlannedOutput, utf8_blocks, write_together
from cs_score.base.records import asdict, replace
from cs_score.base.runtime import Late
from cs_score.base.separators import escape_separators
from cs_score.base.slices import load_from_command_package
from cs_score.base.sources import Input, rereadable
from cs_score.evidence.mode import intervals
from cs_score.evidence.report import PredictionScores, document_of, report_text, score_lines, scores_table, units_option
from cs_score.measures import headline_names
from cs_score.statistics.resampling_settings import Resampling
from cs_score.tables.layout import Table, tsv
from cs_score.tasks import COLD_START, mode_named, stage_named, task_named
from cs_score.tasks.score_files import score_predictions, score_systems

if TYPE_CHECKING:
    from cs_score.api import findings
    from cs_score.api.findings import Explanation
    from cs_score.evidence.mode import ScoredPredictions
    from cs_score.judged import policy as policies
    from cs_score.statistics.results import ScoreIntervals
else:
    policies = Late("cs_score.judged.policy")  # the other tasks work without the room of judged answers
    findings = Late("cs_score.api.findings")  # scoring has no use for it

Lines: TypeAlias = Input | Iterable[object]
"""A path, an open file, or the values of its JSON as Python objects."""

_BEGINNING_OF_SCORE_DOCUMENT: Final = rb'\{\s*"kind":\s*"score"'
"""How the JSON of a result begins: a file that begins otherwise is not overwritten."""


class FilesToScore(NamedTuple):
    """The gold standard and the predictions of a scoring, which can be read again, and its options by name."""

    gold: Any
    predictions: Any
    options: Mapping[str, Any]


class EvidenceResult(AnyResult["ScoredPredictions"]):
    """The scores of one file of predictions; made by `scifact`, `claims`, `r4c`, `hotpotqa`, `pool` and `load`.

    It has two tables. `units` has the statistics of each claim, instance or question, as `--per-item` writes them;
    every measure is computed from their sums. `scores` has every measure.
    """

    _main_table = "units"
    _source_in_words = "the predictions, which JSON does not hold; score their file"

    def __init__(
        self,
        document: PredictionScores,
        scored_predictions: ScoredPredictions | None = None,
        files: FilesToScore | None = None,
    ) -> None:
        """Make a result from the document with its scores.

        `files` holds the files of the scored predictions and the options of scoring. The last two arguments are None if
        the document was loaded from JSON.
        """
        super().__init__(document)
        self._source = scored_predictions
        self._files = files

    scores: Mapping[str, float] = member("Every official measure by its name; 0 to 1.")

    @property
    def units(self) -> tuple[str, ...]:
        """The ids of the claims, instances or questions in the gold standard."""
        return tuple(self._document.units.ids)

    @property
    def undefined(self) -> Mapping[str, str]:
        """The measures that have no value, with the reasons; they are not in `scores`."""
        return dict(self._document.undefined or {})

    @property
    def remarks(self) -> tuple[str, ...]:
        """What you should know about the predictions, one line each; none if the result was loaded."""
        return () if self._source is None else self._source.notices

    def rescore(self, **options: Any) -> EvidenceResult:
        """Return the result of the same predictions with other options of the task (`any_order`, `references`, ...).

        An option that is not given keeps its value; the files are read again. Raises UsageError for an option that the
        task lacks and for a result that was loaded from JSON, InputError if the predictions cannot be scored.
        """
        if self._files is None:
            raise self._missing_source_error("rescore")
        options_of_task = mode_named(self.task).options.__struct_fields__
        _check_options(f"rescore of {self.task}", options, options_of_task)
        new_options = dict(self._files.options)
        new_options.update(options)
        return _score(self.task, self._files.gold, self._files.predictions, new_options)

    @checked
    def explain(self, unit: Selectors = (), *, measure: str | None = None) -> Explanation:
        """Explain how claims, instances or questions were scored, by comparing their predictions with gold.

        `unit` is one id or several; without ids, the worst mistakes are explained. `measure` is the measure under which
        effects are computed, by default the one that ranks leaderboards. Raises InputError if the gold
        standard lacks one of the units, UsageError for an unknown measure and for a result that was loaded from JSON.
        """
        unit_ids = [unit] if isinstance(unit, str | int) else list(unit)
        task: Any = task_named(self.task)
        # The function belongs to the command `explain`, which an installation may lack.
        explain_units = load_from_command_package("explain", "unit_explanation:explain", needed_by="explain")
        document = explain_units(task, self._require_source("explain"), unit_ids, measure)
        return findings.Explanation(document)

    @checked
    def write(self, prefix: str | os.PathLike[str]) -> list[str]:
        """Write `PREFIX.json`, the text of `to_json`, and `PREFIX.tsv`, the table of units. Return their paths.

        Both files appear whole or not at all. A file is overwritten only if cs-score wrote it and it is not an input.
        Raises UsageError for a file that must not be overwritten, OutputError if one cannot be written.
        """
        json_path = f"{os.fspath(prefix)}.json"
        table_path = f"{os.fspath(prefix)}.tsv"
        self._check_paths(json_path, table_path)
        json_content = utf8_blocks([self.to_json()])
        table_content = tsv(self._table("units"))
        write_together([(json_path, json_content), (table_path, table_content)])
        return [json_path, table_path]

    def _check_paths(self, json_path: str, table_path: str) -> None:
        """Raise UsageError or OutputError if `write` may not write the JSON and the table of units to these paths.

        An existing file is overwritten only if it begins like a file written by cs-score.
        """
        # The pattern of the headings of the table, as `--per-item` writes them.
        beginning_of_table = units_option(mode_named(self.task)).formats[".tsv"]
        json_file = PlannedOutput(
            "prefix", json_path, existing=Existing.RECOGNISED, pattern=_BEGINNING_OF_SCORE_DOCUMENT
        )
        table_file = PlannedOutput("prefix", table_path, existing=Existing.RECOGNISED, pattern=beginning_of_table)
        input_names = [file.name for file in self._document.origin.inputs]
        OutputPlan(input_names, [json_file, table_file]).check()

    def __str__(self) -> str:
        """Return the text that the command prints. For a loaded result, the lines about its files are missing."""
        if self._source is not None:  # the result was not loaded
            return report_text(self._source)
        units = self._document.units
        sum_by_column = dict(zip(units.columns, units.sums()))
        lines = list(score_lines(mode_named(self.task), self.scores, sum_by_column, self.undefined))
        lines.extend(["", f"signature  {self.signature}"])
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Return the task, the number of units, and the headline scores: `<r4c, 7 units: entity_f1 0.5000, ...>`."""
        measures = [name for name in headline_names(self.task) if name in self.scores]
        scores = ", ".join([f"{name} {self.scores[name]:.4f}" for name in measures])
        return f"<{self.task}, {len(self.units)} units: {scores}>"

    def _intervals(self, settings: Resampling) -> ScoreIntervals:
        """Return the bootstrap intervals of all scores. Raises UsageError for a result that was loaded."""
        return intervals(self._require_source("intervals"), settings)

    def _tables(self) -> Iterable[Table]:
        """Return the table of the statistics of units, and the table of scores without intervals."""
        document_without_intervals = replace(self._document, intervals=UNSET)
        return [units_of_predictions(self._document), scores_table(document_without_intervals)]


@checked
def scifact(
    gold: Lines, predictions: Lines, stage: str | None = None, *, any_order: bool = False, answered_only: bool = False
) -> EvidenceResult:
    """Score SciFact predictions: abstracts found and labelled, sentences given as evidence.

    `gold` and `predictions` hold a JSON object for each claim. The predictions list the claims in the order of `gold`,
    or in any order if `any_order` is true. If `answered_only` is true, claims without a prediction are left out.
    `stage` (`retrieval`, `rationale` or `label`) scores the measures of a single stage instead. Raises InputError for
    files that cannot be scored, UsageError for impossible arguments.
    """
    task = "scifact" if stage is None else stage_named("scifact", stage)
    return _score(task, gold, predictions, {"any_order": any_order, "answered_only": answered_only})


@checked
def claims(gold: Lines, predictions: Lines, *, answered_only: bool = False) -> EvidenceResult:
    """Score claim verification: documents retrieved, evidence sentences with their label, verdict.

    Claims are matched by id, in any order. If `answered_only` is true, claims without a prediction are left out. Raises
    InputError for files that cannot be scored, UsageError for impossible arguments.
    """
    return _score("claims", gold, predictions, {"answered_only": answered_only})


@checked
def r4c(
    gold: Lines, predictions: Lines, *, references: int = 3, ignore_missing: bool = False, answered_only: bool = False
) -> EvidenceResult:
    """Score R4C derivations against their reference derivations.

    `references` is the number of reference derivations (1 to 3) that are drawn for each evaluation of an instance.
    `ignore_missing` and `answered_only` are two names for the same option: instances without a prediction are left out.
    Raises InputError for files that cannot be scored, UsageError for impossible arguments, MissingExtraError if the
    packages of `cs-score[r4c]` are not installed.
    """
    options = {"references": references, "ignore_missing": ignore_missing, "answered_only": answered_only}
    return _score("r4c", gold, predictions, options)


@checked
def hotpotqa(gold: Lines, predictions: Lines, *, answered_only: bool = False) -> EvidenceResult:
    """Score HotpotQA: answers, supporting facts, and both jointly.

    If `answered_only` is true, questions that have neither an answer nor facts are left out. Raises InputError for
    files that cannot be scored, UsageError for impossible arguments.
    """
    return _score("hotpotqa", gold, predictions, {"answered_only": answered_only})


@checked
def pool(
    predictions: Lines,
    gold: Lines | None = None,
    *,
    policy: str | Mapping[str, Iterable[str]],
    key: str | None = None,
    columns: str | Mapping[str, str] = "",
    run: str = "",
) -> EvidenceResult:
    """Score judged answers: either `predictions` with labels, or `predictions` and their assessments in `gold`.

    Both arguments are paths, open files, or rows given as mappings. `policy` says which labels count as right and
    wrong: `"right=CORRECT,wrong=WRONG"` or `{"right": [...], "wrong": [...]}`. `key` names the columns that join
    predictions to assessments, such as `answer`. `columns` gives the names of the columns in the files. If a file of
    predictions holds several runs, `run` chooses one; `task("pool").score_each(...)` scores all. Raises InputError for
    files that cannot be scored, UsageError for impossible arguments.
    """
    options = {"policy": policy, "key": key, "columns": columns, "run": run}
    return _score("pool", gold, predictions, _mappings_as_texts(options))


def _mappings_as_texts(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of judged answers in the form in which the command takes them.

    A policy or columns that are given as a mapping become a text: the columns `{"id": "query"}` become `"id=query"`.
    """
    texts = dict(options)
    policy = options.get("policy")
    if isinstance(policy, Mapping):
        labels_by_side = {side: list(labels) for side, labels in policy.items()}
        texts["policy"] = str(policies.policy_of_sides(labels_by_side))
    columns = options.get("columns")
    if isinstance(columns, Mapping):
        texts["columns"] = _columns_as_text(columns)
    return texts


def _columns_as_text(columns: Mapping[str, str]) -> str:
    """Return the names of columns and their headings in a file as a text: `{"id": "query"}` -> `"id=query"`.

    Commas and equals signs in the names and headings are escaped.
    """
    pairs = []
    for name, heading in columns.items():
        pairs.append(f"{escape_separators(name)}={escape_separators(heading)}")
    return ",".join(pairs)


class ScoringTask:
    """A task of evidence, which may come from another installed package; made by `task`."""

    def __init__(self, name: str) -> None:
        """Look up the task called `name`. Raises UsageError if no task has this name."""
        self.name = name
        self._mode = mode_named(name)

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of its measures, in official order."""
        return self._mode.measures

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the options that `score` takes."""
        return tuple(self._mode.options.__struct_fields__)

    def score(self, gold: Lines | None, predictions: Lines, **options: Any) -> EvidenceResult:
        """Score predictions with the options of the task by name.

        Raises InputError for files that cannot be scored, UsageError for impossible options.
        """
        return _score(self.name, gold, predictions, self._check_and_convert(options))

    def score_each(self, gold: Lines | None, predictions: Lines, **options: Any) -> dict[str, EvidenceResult]:
        """Score each run of a file with several runs (judged answers with a column `run`). Return results by run.

        Options and errors are the same as for `score`. If the file names no run, its only run is called `""`.
        """
        files = _files_to_score(gold, predictions, self._check_and_convert(options))
        scored_by_run = score_systems(self._mode, files.gold, files.predictions, **files.options)
        return {run: _result_of_run(scored, files) for run, scored in scored_by_run.items()}

    def _check_and_convert(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options in the form that the task reads. Raises UsageError for an option that it lacks."""
        _check_options(self.name, options, self.options)
        return _mappings_as_texts(options) if self.name == "pool" else dict(options)

    def __repr__(self) -> str:
        return f"<task {self.name}: {', '.join(self.measures)}>"


@checked
def task(name: str) -> ScoringTask:
    """Return a task of evidence by its name; installed packages may offer further tasks.

    Raises UsageError if no task has this name, and if the package that offers it cannot be loaded.
    """
    if name == COLD_START:
        raise UsageError("coldstart is scored by prepare and score")
    return ScoringTask(name)


def _score(name: str, gold: Lines | None, predictions: Lines, options: Mapping[str, Any]) -> EvidenceResult:
    """Return the result of scoring predictions for the task called `name`.

    Raises InputError for files that cannot be scored, UsageError for impossible options.
    """
    files = _files_to_score(gold, predictions, options)  # the result keeps the files and options for `rescore`
    scored = score_predictions(mode_named(name), files.gold, files.predictions, **files.options)
    document = document_of(scored, with_units=True)
    return EvidenceResult(document, scored, files)


def _result_of_run(scored: ScoredPredictions, files: FilesToScore) -> EvidenceResult:
    """Return the result of one run in a file with several runs; its options include the name of the run."""
    options_of_run = asdict(scored.mode.chosen_options)
    document = document_of(scored, with_units=True)
    return EvidenceResult(document, scored, files._replace(options=options_of_run))


def _files_to_score(gold: Lines | None, predictions: Lines, options: Mapping[str, Any]) -> FilesToScore:
    """Return gold and predictions in a form that can be read several times, together with the options.

    Raises UsageError for a value that is neither a file nor JSON as Python objects.
    """
    return FilesToScore(
        gold=None if gold is None else _repeatable(gold, "gold"),
        predictions=_repeatable(predictions, "predictions"),
        options=options,
    )


def _check_options(function: str, options: Iterable[str], known_options: Sequence[str]) -> None:
    """Raise UsageError if one of the options is not among the known options of the task.

    The message names `function`, the function that was called.
    """
    for name in options:
        if name not in known_options:
            raise UsageError(f"{function} takes {', '.join(known_options) or 'no options'}, not {name}")


def loaded_evidence(scores: PredictionScores, name: str) -> EvidenceResult:
    """Return the result that a stored document holds.

    Raises InputError if the document lacks the statistics of the units; the message calls the document `name`.
    """
    if not scores.units:
        remedy = "-o FILE.json and to_json store them"
        raise InputError("stored without the statistics of the units", file=name, remedy=remedy)
    return EvidenceResult(scores)


def _repeatable(source: Any, name: str) -> Any:
    """Return the value of an argument in a form that can be read several times: an input, a mapping or a list.

    `name` is the name of the argument in messages.

    Raises UsageError for a value that is neither a path nor an open file nor JSON as Python objects.
    """
    if isinstance(source, Mapping):
        return source
    if isinstance(source, (str, os.PathLike)) or hasattr(source, "read"):
        return rereadable(source)
    if isinstance(source, (bytes, bytearray)) or not isinstance(source, Iterable):
        raise UsageError(f"{name} takes a path, an open file, or what its JSON holds, not {source!r}")
    return list(source)
