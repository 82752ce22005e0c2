"""Results of scoring Cold Start runs, for Python programs. A result shows the values of a document, the JSON that
`--json` writes. A scored result has a source, the lines of the run; a result that was loaded from JSON has none.

If the run was scored, not loaded, the parts of the document are made when they are first needed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from cs_score.api.any_result import AnyResult
from cs_score.api.arguments import Limits, Names, PolicyAndLimits, Selectors, checked, policy_of
from cs_score.api.result_tables import PROBLEMS, QUERIES, RANKINGS, RESPONSES, ROWS, SCORES, units_of_runs
from cs_score.base.display import one_line
from cs_score.base.documents import json_text
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import Existing, OutputPlan, PlannedOutput, outputs_together, write_whole
from cs_score.base.records import replace
from cs_score.base.runtime import Late, paused_garbage_collection
from cs_score.base.signature import QUERY_LIST, SAMPLES
from cs_score.base.slices import load_from_command_package
from cs_score.coldstart import output_files as outputs
from cs_score.coldstart.gold import Run, run_under_limits
from cs_score.coldstart.options import JustificationLimits, Options, Policy, switch_words, texts_of_list
from cs_score.coldstart.result import Result, ScoredRun
from cs_score.coldstart.scorer import score_runs
from cs_score.measures import COLD_START_MODE, headline_names
from cs_score.problems.log import ProblemLog
from cs_score.statistics.resampling_settings import Resampling
from cs_score.tables.layout import Table

if TYPE_CHECKING:
    from cs_score.analysis import recorded
    from cs_score.analysis.coldstart import scored as scored_runs
    from cs_score.api import findings
    from cs_score.api.findings import Explanation
    from cs_score.coldstart import query_resampling, score_documents, unit_statistics
    from cs_score.coldstart.score_documents import RunScoresDocument, RunScoresRecord
    from cs_score.statistics.results import ScoreIntervals
else:  # scoring has no use for them
    findings = Late("cs_score.api.findings")
    query_resampling = Late("cs_score.coldstart.query_resampling")
    recorded = Late("cs_score.analysis.recorded")
    score_documents = Late("cs_score.coldstart.score_documents")
    scored_runs = Late("cs_score.analysis.coldstart.scored")
    unit_statistics = Late("cs_score.coldstart.unit_statistics")


class ScoredLines:
    """The lines of runs and their scores under a policy; the lines can be scored again without reading files.

    Lines beyond the limits on justifications are discarded and do not count. Scoring leaves them out by itself, but the
    problem report names them and therefore needs them to be marked. They are marked when the report is first made
    (`run`).
    """

    def __init__(
        self,
        loaded: Run,
        policy: Policy,
        limits: JustificationLimits,
        results_to_reuse: Sequence[ScoredRun] = (),
        *,
        preparation_notes: Sequence[str] = (),
    ) -> None:
        """Score the lines of `loaded` under a policy and limits on justifications.

        `results_to_reuse` are the results of the same lines under another policy; they save time. `preparation_notes`
        has a sentence for each converted or validated run on how it was changed. Raises InputError if scoring has to
        stop.
        """
        self._loaded = loaded
        self._run_with_discarded_lines: Run | None = None
        self.preparation_notes = preparation_notes
        self.limits = limits
        self._problems_of_scoring = ProblemLog()
        with paused_garbage_collection():
            if limits.justifications_per_node is None:
                # Usually lines beyond the limits are marked as discarded only when the problem report is needed. But
                # without a limit for each node, marking raises an error for a node without confidence: at once.
                self._run_with_discarded_lines = run_under_limits(loaded, limits)
            # Scoring applies the limits itself, and needs no marked lines. The result lacks the problems of lines
            # beyond the limits.
            run_with_limits = replace(loaded, limits=limits)
            self.result_with_scoring_problems = score_runs(
                run_with_limits, policy, self._problems_of_scoring, results_to_reuse
            )

    def rescore(self, policy: Policy, limits: JustificationLimits) -> ScoredLines:
        """Return the same lines scored under another policy and other limits; no file is read.

        Raises UsageError if the run was validated for other limits, because validation removed the lines that exceed
        them.
        """
        if self._loaded.gold.validates and limits != self.limits:
            raise UsageError(
                f"the run was validated for justifications {self.limits}, which leaves out what is beyond; score its "
                f"files again for {limits}, or rescore with justifications={str(self.limits)!r}"
            )
        return ScoredLines(
            self._loaded,
            policy,
            limits,
            results_to_reuse=self.result_with_scoring_problems.runs,
            preparation_notes=self.preparation_notes,
        )

    @property
    def run(self) -> Run:
        """The lines of the run. Lines beyond the limits are marked as discarded.

        They are marked when this is first needed.
        """
        if self._run_with_discarded_lines is None:
            with paused_garbage_collection():
                self._run_with_discarded_lines = run_under_limits(self._loaded, self.limits)
        return self._run_with_discarded_lines

    @cached_property
    def result(self) -> Result:
        """The scores with all problems: of reading the lines, of applying the limits to them, and of scoring.

        `result_with_scoring_problems` has the same scores with the problems of scoring alone.
        """
        all_problems = self.run.problems.copy()  # problems of reading and of the limits
        all_problems.add_all(self._problems_of_scoring)
        return replace(self.result_with_scoring_problems, problems=tuple(all_problems))


class RunResult(AnyResult[ScoredLines]):
    """The result of scoring a run, or all runs of one call; made by `Gold.score`, `score`, `rescore` and `load`.

    Results never change, and may be read by several threads at a time and pickled. Their tables: `rows` of the score
    tables, `queries`, `responses` (lines of the run), `rankings` (their nodes), `problems`, `units` of resampling, and
    `scores`, all averages.
    """

    _main_table = "rows"
    _source_in_words = "the lines of the run, which JSON does not hold; score its files"

    def __init__(
        self, source: ScoredLines | None, stored: RunScoresDocument | None = None, options: Options | None = None
    ) -> None:
        """Make a result from scored lines or, if it is loaded from JSON, from a stored document.

        `source` is None for a loaded result; `stored` and `options` are then its document and its scoring options.
        """
        self._source = source
        self._stored = stored
        self._options = options if source is None else source.result_with_scoring_problems.options

    @property
    def remarks(self) -> tuple[str, ...]:
        """What you should know beside the problems, one line each: a run that met no assessment, a doubtful policy.

        If the run was validated or resolved, the first remarks say how it was changed; JSON lacks these.
        """
        preparation_notes = () if self._source is None else tuple(self._source.preparation_notes)
        return (*preparation_notes, *super().remarks)

    @property
    def run_id(self) -> str:
        """The id of the run. Raises UsageError if the files held none or several (see `run_ids`)."""
        return self._only_run.run_id

    @property
    def run_ids(self) -> tuple[str, ...]:
        """The ids of the runs that were scored, in order."""
        return tuple(self.scores_by_run)

    @property
    def scores(self) -> Mapping[str, float]:
        """Every average of the run, 0 to 1, by the name of its measure (`LDC-MEAN-ALL-Macro-F1`, `SF-AP@0`).

        The order is the same as in the files `.summary` and `.ap`. Raises UsageError if the files held no run or
        several: see `scores_by_run`.
        """
        return self._only_run.scores

    @property
    def undefined(self) -> Mapping[str, str]:
        """The measures that have no value for this run, with the reasons; `scores` lacks them.

        A run whose lines have no node ids has no average precision. Raises UsageError if the files held no run or
        several.
        """
        return self._only_run.undefined or {}

    @cached_property
    def scores_by_run(self) -> Mapping[str, Mapping[str, float]]:
        """The scores of each run, by its id."""
        return {run.run_id: run.scores for run in self._document.runs}

    @property
    def units(self) -> tuple[str, ...]:
        """The ids of the units that resampling draws: LDC queries, or SF queries if the LDC queries are not known."""
        unit_ids = [row["id"] for row in self.rows("units")]
        return tuple(dict.fromkeys(unit_ids))

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        assert self._options is not None
        return self._options.policy

    @property
    def justifications(self) -> str:
        """The current limits on justifications, such as `1:3`."""
        if self._source is not None:
            return str(self._source.limits)
        assert self._options is not None  # a loaded result has no source, but it has options
        return str(self._options.justifications)

    @property
    def errors(self) -> int:
        """How often problems that are errors occurred. With any of them the command line has exit status 255."""
        return self._document.errors if self._source is None else self._source.result.error_count

    @property
    def warnings(self) -> int:
        """How often problems that are warnings occurred."""
        return self._document.warnings if self._source is None else self._source.result.warning_count

    def rescore(self, policy: str | Policy | None = None, *, justifications: Limits | None = None) -> RunResult:
        """Return the result of the same run under another policy; no file is read again.

        `policy` is `kb`, `sf` (both with their limits on justifications) or a `Policy`. An argument that is not given
        keeps its current value. The result is the same as if the files were scored again. Raises UsageError for an
        unknown policy, for a result that was loaded from JSON, and for limits that differ from those the run was
        validated for. Raises InputError if scoring has to stop.
        """
        source = self._require_source("rescore")
        old_settings = PolicyAndLimits(self.policy, source.limits)
        new_settings = policy_of(policy, justifications, defaults=old_settings)
        return RunResult(source.rescore(new_settings.policy, new_settings.limits))

    @checked
    def explain(
        self,
        unit: Selectors = (),
        *,
        line: Selectors = (),
        class_: Selectors = (),
        node: Selectors = (),
        answer: Selectors = (),
        measure: str | None = None,
    ) -> Explanation:
        """Explain the scores of lines, queries, classes and nodes, or of the whole run if none of them is named.

        Each argument is one name or several, as in `cs-score explain`: `unit` takes ids of queries of any form and hop,
        `line` takes numbers or `FILE:N`, `answer` takes values in which `*` matches any text. `measure` is the measure
        under which effects are computed, by default the one that ranks leaderboards.

        Raises InputError if a name does not occur in the run; the message suggests the nearest names. Raises UsageError
        if the files held no run or several runs, or if the result was loaded from JSON.
        """
        self.require_one_run()
        scored = self._for_analysis("explain")
        # The function belongs to the command `explain`, which an installation may lack.
        explain_run = load_from_command_package("explain", "run_explanation.explanation:explain", needed_by="explain")
        document = explain_run(
            scored, line=line, query=unit, class_name=class_, node=node, answer=answer, measure=measure
        )
        return findings.Explanation(document)

    @checked
    def write(
        self,
        prefix: str | os.PathLike[str],
        *,
        fields: Names | None = None,
        tabs: bool = False,
        error_file: str | os.PathLike[str] | None = None,
    ) -> list[str]:
        """Write the files of `cs-score score`, `PREFIX.sf` and so on, with the same bytes. Return their paths.

        `fields` are the columns of the tables (switch -fields). If `tabs` is true, the columns are separated by tabs
        (-tabs). `error_file` names a new file for the problem report. Each file is written completely or not at all,
        and no input is overwritten. Raises UsageError for an unknown field, for a path that must not be overwritten and
        for a result that was loaded from JSON, OutputError if a file cannot be written.
        """
        layout = _layout_of(fields, tabs=tabs)
        with paused_garbage_collection():
            result = self._require_source("write").result
            return _write_files(result, layout, os.fspath(prefix), error_file)

    def to_json(self) -> str:
        """Return the whole result as JSON, the text that `--json` writes; `load` reads it."""
        with paused_garbage_collection():
            document = self._stored
            if document is None:
                document = score_documents.document_of(self._require_source("to_json").result)
            return json_text(document)

    def __str__(self) -> str:
        """Return the text that `cs-score score` prints."""
        return score_documents.scores_text(score_documents.choose_measures(self._document)).removesuffix("\n")

    def __repr__(self) -> str:
        """Return runs, policy and limits, for a single run also scores: `<run1 under kb, 1:3: SF-AP 0.3, ...>`."""
        names = " ".join(self.run_ids) or "no run"
        policy_name = self._document.origin.settings[0]  # the settings of a signature begin with the policy
        text = f"{names} under {policy_name}, {self.justifications}"
        if len(self.run_ids) == 1:
            text += self._scores_in_repr()
        return one_line(f"<{text}>")

    def _scores_in_repr(self) -> str:
        """Return the first three headline scores of the only run, `: SF-ALL-Micro-F1 0.2841, ...`; empty if none."""
        measures = [name for name in headline_names(COLD_START_MODE) if name in self.scores]
        scores = [f"{name} {self.scores[name]:.4f}" for name in measures[:3]]
        return f": {', '.join(scores)}" if scores else ""

    @property
    def _only_run(self) -> RunScoresRecord:
        """The stored or computed scores of the only run. Raises UsageError if the files held no run or several."""
        self.require_one_run()
        [run] = self._document.runs
        return run

    def require_one_run(self) -> None:
        """Raise UsageError, with the ids of the runs, if the files held no run or several."""
        runs = self._document.runs
        if len(runs) == 1:
            return
        run_ids = ", ".join([run.run_id for run in runs])
        number = f"{len(runs)} runs ({run_ids})" if runs else "no run"
        raise UsageError(f"the result holds {number}, not one; see run_ids and scores_by_run")

    def _for_analysis(self, method: str, run_id: str | None = None) -> scored_runs.AnalysedRun:
        """Return the scored run that an analysis works on: the run with this id, or the only one if `run_id` is None.

        If the result holds just this run, it is not scored again. Raises UsageError if the result was loaded or if it
        is not clear which run is meant; the message names `method`.
        """
        source = self._require_source(method)
        lines_of_runs = source.run
        is_scored_already = len(self.run_ids) == 1 and run_id in (None, self.run_id)
        if not is_scored_already:
            return scored_runs.score_for_analysis(lines_of_runs, self.policy, run_id)
        (result,) = source.result.runs
        return scored_runs.AnalysedRun(
            run=lines_of_runs,
            run_id=self.run_id,
            policy=self.policy,
            result=result,
            stopping_error=None,
            origin=self._document.origin,
            signature=self.signature,
        )

    def _result_to_compare(self) -> Result:
        """Return the result of the only run in the form that comparisons take.

        Raises UsageError for no run or several and for a result that was loaded.
        """
        self.require_one_run()
        return self._require_source("compare").result

    def _intervals(self, settings: Resampling) -> ScoreIntervals:
        """Return the bootstrap intervals of all scores of the only run.

        Raises UsageError for no run or several and for a result that was loaded.
        """
        self.require_one_run()
        result = self._require_source("intervals").result
        (intervals_of_run,) = unit_statistics.intervals(result, settings)
        return intervals_of_run

    @cached_property
    def _document(self) -> RunScoresDocument:
        """The document with the scores. Only the document of a loaded result can have further details of the runs."""
        return self._document_with()

    def _document_with(self, *parts: str, all_problems: bool = False) -> RunScoresDocument:
        """Return the document with the details of its runs that `parts` name, such as `tables` and `responses`.

        Problems with limits on justifications are included with `all_problems` only. The document of a loaded result is
        returned unchanged, with all details that were stored.
        """
        if self._source is None:
            assert self._stored is not None
            return self._stored
        result = self._source.result if all_problems else self._source.result_with_scoring_problems
        return score_documents.document_of(result, parts=parts)

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables that `rows` and `to_frame` take."""
        return tuple(_TABLES)

    def _table(self, name: str | None) -> Table:
        """Return the table called `name`, for None the main table. Raises UsageError if no table has this name.

        Only those parts of the document are made that the table needs.
        """
        recipe = self._value_for_table(name, _TABLES)
        document = self._document_with(*recipe.parts, all_problems=recipe.needs_all_problems)
        return recipe.make_table(document)

    def _notes(self) -> Sequence[str]:
        """Return the notes that notebooks show below the table: the numbers of problems, remarks and the signature."""
        return [f"{self.errors} errors, {self.warnings} warnings", *super()._notes()]


class _TableRecipe(NamedTuple):
    """The function that makes a table of a result, and the parts of the document that it needs.

    If `needs_all_problems`, the document must have the problems with limits on justifications, too.
    """

    make_table: Callable[[RunScoresDocument], Table]
    parts: tuple[str, ...] = ()
    needs_all_problems: bool = False


_TABLES: Final[Mapping[str, _TableRecipe]] = {
    "rows": _TableRecipe(ROWS.table, parts=("tables",)),
    "queries": _TableRecipe(QUERIES.table, parts=("queries", "tables", "average_precision")),
    "responses": _TableRecipe(RESPONSES.table, parts=("responses",)),
    "rankings": _TableRecipe(RANKINGS.table, parts=("average_precision",)),
    "problems": _TableRecipe(PROBLEMS.table, needs_all_problems=True),
    "units": _TableRecipe(units_of_runs, parts=("units",)),
    "scores": _TableRecipe(SCORES.table),
}
"""The tables of a result by name."""


def loaded_result(scores: RunScoresDocument, name: str) -> RunResult:
    """Return the result that a stored document holds.

    Raises InputError for impossible options; the message calls the document `name`.
    """
    options = recorded.cold_start_options(scores.origin.options, name, "origin.options")
    return RunResult(source=None, stored=scores, options=options)


# ---- The files of a result


def _layout_of(fields: Names | None, *, tabs: bool) -> outputs.ColumnLayout:
    """Return the layout of the score tables with the columns `fields`; if these are None, with the usual columns.

    With `tabs` columns are separated by tabs. Raises UsageError for an unknown column.
    """
    names = outputs.DEFAULT_FIELDS if fields is None else texts_of_list(fields, "fields")
    layout = outputs.ColumnLayout(names, tabs)
    try:
        outputs.check_fields(layout.fields)
    except InputError as error:
        raise UsageError(str(error)) from None
    return layout


def _write_files(
    result: Result, layout: outputs.ColumnLayout, prefix: str, error_file: str | os.PathLike[str] | None
) -> list[str]:
    """Write the files of a result, `PREFIX.sf` and so on, and the problem report if a file is named for it.

    Returns their paths. Raises UsageError for a path that must not be overwritten, OutputError if a file cannot be
    written.
    """
    switches = switches_of(result.options, layout)
    # No file is written before all of them are known to be writable.
    planned_files = _planned_files(result, switches, prefix, error_file)
    params = _params_text(result, switches, prefix)
    result_to_write = _with_bootstrap_of_table_columns(result, layout)
    with outputs_together():
        for ending, blocks in outputs.file_blocks(result_to_write, layout, params):
            write_whole(f"{prefix}.{ending}", blocks)
        if error_file is not None:
            _write_report(result, error_file)
    return [file.path for file in planned_files]


def _planned_files(
    result: Result, switches: Sequence[str], prefix: str, error_file: str | os.PathLike[str] | None
) -> list[PlannedOutput]:
    """Return the files that a result is written to, after checking that all of them may be written.

    `switches` are the switches of a command line that would write the same files. Raises UsageError or OutputError if a
    file may not be written.
    """
    # A file of an earlier call with the same prefix is replaced, but the problem report must be a new file.
    planned_files = []
    for file in outputs.written_outputs(switches, result.options.edition):
        planned_files.append(PlannedOutput("prefix", path=f"{prefix}.{file.ending}", existing=Existing.CLEARED))
    if error_file is not None:
        planned_files.append(PlannedOutput("error_file", path=os.fspath(error_file), existing=Existing.REFUSED))
    input_names = [file.name for file in result.origin.inputs]
    OutputPlan(input_names, planned_files).check()
    return planned_files


def _params_text(result: Result, switches: Sequence[str], prefix: str) -> str:
    """Return the text of the file `PREFIX.params`, which repeats the command line that would write the same files."""
    # The list of queries and the file of samples are left out: `switches` has them as values of switches.
    file_names = [file.name for file in result.origin.inputs if file.role not in (QUERY_LIST, SAMPLES)]
    words = ["-output_file", prefix, *file_names]
    return outputs.params_text_of_options(result.options, switches, words, os.getcwd())


def _write_report(result: Result, file: str | os.PathLike[str]) -> None:
    """Write the problem report of a result into a file, with the bytes of `cs-score score -error_file FILE`."""
    report = outputs.whole_report(result)
    write_whole(file, [outputs.report_bytes(report, result.options.edition)])


def _with_bootstrap_of_table_columns(result: Result, layout: outputs.ColumnLayout) -> Result:
    """Return a result whose bootstrap covers exactly the scores in the columns of its tables, as in the reference.

    `layout` names these columns, which the caller chose after scoring. The result is returned unchanged if it has no
    bootstrap, or if the bootstrap already covers these columns.
    """
    metrics = outputs.resampled_metrics(layout.fields)
    if metrics == result.options.metrics:
        return result
    runs = []
    for run in result.runs:
        new_bootstrap = run.bootstrap
        if run.bootstrap is not None:
            new_bootstrap = query_resampling.bootstrap(
                run.tables, run.tables.score_by_measure, run.bootstrap.samples, metrics
            )
        runs.append(replace(run, bootstrap=new_bootstrap))
    return replace(result, runs=tuple(runs))


def switches_of(options: Options, layout: outputs.ColumnLayout) -> list[str]:
    """Return the switches that a command line needs for some options and columns: `["-runids", "A:B", "-tabs"]`.

    Switches for the policy and its limits are left out.
    """
    words = switch_words(options)
    if layout.fields != outputs.DEFAULT_FIELDS:
        words += ["-fields", ":".join(layout.fields)]
    if layout.is_tab_separated:
        words.append("-tabs")
    return words
