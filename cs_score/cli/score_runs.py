"""Score the Cold Start runs of a command line for `score` and other commands, and tell people what they should know. A
call is the command line with its checked inputs, outputs and options. The pool are the assessments.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from cs_score.base import outputs as storage
from cs_score.base.errors import CsScoreError, InputError, UsageError
from cs_score.base.records import Record, replace
from cs_score.base.runtime import Late, paused_garbage_collection
from cs_score.base.sources import Input, name_of
from cs_score.cli import shared_options as options
from cs_score.cli.call import Call
from cs_score.cli.core import CommandLine
from cs_score.cli.output import Destination, is_terminal, print_unless_quiet, remark, warn
from cs_score.cli.run_inputs import RunsAndAssessments, remark_on_duplicates
from cs_score.cli.shared_options import read_measures
from cs_score.coldstart import output_files as outputs
from cs_score.coldstart.gold import ColdStartGold, open_gold, with_pool, with_remarks_on_empty_folders
from cs_score.coldstart.judging import check_discipline
from cs_score.coldstart.linking import expand_folder
from cs_score.coldstart.options import Options
from cs_score.coldstart.result import Result, ScoringStopped
from cs_score.coldstart.scorer import score_separately
from cs_score.problems.log import Problem, ProblemLog, count_of_discarded, discarded_last

if TYPE_CHECKING:
    from cs_score.coldstart import score_documents as documents
    from cs_score.coldstart.score_documents import RunScoresDocument
    from cs_score.statistics.resampling_settings import Resampling
    from cs_score.statistics.results import ScoreIntervals
else:  # texts are made after scoring
    documents = Late("cs_score.coldstart.score_documents")


class RunsScored(Record):
    """The result of scoring Cold Start runs, with the call that asked for it: its scores by measure, and the problems
    of its input. It can be written to the files of the call and printed as text.
    """

    call: Call
    result: Result
    intervals: Sequence[ScoreIntervals]

    @property
    def has_errors(self) -> bool:
        """Whether the inputs have problems that are errors, so that the command fails although there are scores."""
        return self.result.error_count > 0

    @property
    def resampling(self) -> Resampling | None:
        """The settings of the intervals, None if they are not asked for."""
        return self.call.resampling

    @property
    def result_by_run(self) -> dict[str, Any]:
        """A result for each run, by its id."""
        return {run.run_id: replace(self.result, runs=(run,)) for run in self.result.runs}

    def write(self) -> None:
        """Write the tables and the JSON that the call asks for. Raises OutputError if writing fails."""
        self.call.write(self.result, self.intervals)

    def text(self, command_line: CommandLine) -> str:
        """Return the scores by the chosen measures as text, in the format that the command line asks for.

        If `--format text` asks for one measure of one run, the text is only the number, such as `0.2841`. Prints
        warnings about scores that are undefined.
        """
        document = self._document_of_chosen_measures(command_line)
        only_measure = _only_measure(document)
        wants_number = command_line.get("--format") == "text"  # without this option the text also names the run
        if wants_number and only_measure is not None:
            score, *remarks = documents.single_score(document, only_measure)
            warn(*remarks)
            return score
        if command_line.format == "tsv":  # the other formats say themselves which scores are undefined
            warn(*[f"undefined: {text}" for text in documents.undefined_remarks(document)])
        return documents.WRITERS[command_line.format](document)

    def _document_of_chosen_measures(self, command_line: CommandLine) -> RunScoresDocument:
        """Return the scores by the measures of --measure, or by all measures with --all."""
        patterns = ("*",) if "--all" in command_line else read_measures(command_line)  # `*` chooses all measures
        document_with_all = documents.document_of(self.result, self.intervals, parts=())  # without details of the runs
        document = documents.choose_measures(document_with_all, patterns)
        if not patterns:
            self._remark_on_headline_measure()
        return document

    def _remark_on_headline_measure(self) -> None:
        """Print why the runs are not ranked by the usual measure. If they are, nothing is printed."""
        headline_remark = documents.headline_remark(self.result)
        if headline_remark is not None:
            remark(headline_remark)


@contextlib.contextmanager
def score_runs(command_line: CommandLine) -> Iterator[RunsScored]:
    """Score the Cold Start runs of a command line, and give the result to the block.

    The folder of -o is made before the block and removed if the block fails; problems of the input and remarks on the
    scores are printed after it. Raises CsScoreError if nothing can be scored.
    """
    call = _checked_call(command_line)
    problems = call.new_log()
    try:
        with (
            storage.folder_made(command_line.folder, "-o"),
            paused_garbage_collection(),
            _score_separately(call, problems) as scored,
        ):
            yield scored  # the block prints and writes the scores
            result = scored.result  # reached only if neither scoring nor the block failed
    except CsScoreError as error:
        if isinstance(error, ScoringStopped):  # has the warnings of a partial result
            warn(*error.partial_result.remarks)
        _print_problems(problems)
        call.write_problems(problems, error)
        raise
    _remark_on_result(call, result)
    call.write_problems(problems)


def _checked_call(command_line: CommandLine) -> Call:
    """Return the call of a command line after checking its inputs, outputs and options; no file is changed.

    Raises UsageError or OutputError, also for options about the layout of tables if no tables are written.
    """
    _refuse_layout_without_tables(command_line)
    unit_outputs = list(options.PER_UNIT.outputs(command_line.get("--per-unit")))
    if command_line.folder is None:  # the scores are printed, or written to one file
        result_outputs = [] if command_line.file is None else [command_line.file]
        return Call(command_line, result_outputs + unit_outputs)
    # The scores are written into a folder: as tables, FOLDER/out.sf and so on, and as FOLDER/out.json.
    prefix = Destination(os.path.join(command_line.folder, "out"))  # of the tables
    json_file = f"{prefix.name}.json"
    json_option = replace(documents.JSON_OPTION, name="-o")  # messages name -o, which was typed, and not --json
    json_outputs = list(json_option.outputs(json_file))
    return Call(command_line, json_outputs + unit_outputs, prefix, output_option="-o", json_file=json_file)


def _refuse_layout_without_tables(command_line: CommandLine) -> None:
    """Raise UsageError if -fields or -tabs is typed, and -o names no folder into which tables are written."""
    layout_option = command_line.first_typed_option("-fields -tabs")
    if command_line.folder is None and layout_option is not None:
        raise UsageError(
            f"{layout_option} lays out the tables that -o FOLDER writes: add -o FOLDER, or leave out {layout_option}"
        )


def _only_measure(document: RunScoresDocument) -> str | None:
    """Return the measure of a document with a single score (one run, one measure), or None for any other document."""
    chosen_measures = document.measures or ()
    headline_measure = document.measure  # the only one that was chosen, or else the usual one
    has_single_score = len(chosen_measures) == 1 and len(document.runs) == 1
    return headline_measure if has_single_score and headline_measure else None


@contextlib.contextmanager
def _score_separately(call: Call, problems: ProblemLog) -> Iterator[RunsScored]:
    """Score each run of a call separately against the same assessments, and give the results to the block.

    The assessments are read first, whatever the order of the files is. Raises UsageError if no run or no assessments
    are named.
    """
    call.check_inputs()
    runs_and_assessments = call.find_runs_and_assessments()
    call.plan.remove_earlier_files()  # so that nobody takes them for results of this call
    gold = _open_gold(call, problems)
    # If an assessment file has a fatal fault, all such faults are printed before the error is raised again.
    with contextlib.ExitStack() as folder_cleanup, _report_faults_of_pool(gold, runs_and_assessments.assessments):
        result = _score_in_parts(call, gold, runs_and_assessments, folder_cleanup)
        if result is None:  # there are several runs, or the only one is small or cannot be divided
            result = _score_whole_runs(call, gold, runs_and_assessments, problems)
        yield RunsScored(call, result, call.intervals_of(result))


def _open_gold(call: Call, problems: ProblemLog) -> ColdStartGold:
    """Read the queries of a call, and return them as gold that has no assessments yet.

    The gold has a remark on every folder without files to load. Raises InputError if the queries cannot be read.
    """
    gold = open_gold(call.query_files, call.options_without_run_ids, problems, validates=call.has_validation)
    return with_remarks_on_empty_folders(gold, call.run_and_pool_files)


def _score_in_parts(
    call: Call, gold: ColdStartGold, runs_and_assessments: RunsAndAssessments, folder_cleanup: contextlib.ExitStack
) -> Result | None:
    """Score a large run part by part, and return its result, or None for a small run or several runs.

    The text of the debug file is written into a folder that is removed when `folder_cleanup` is closed.
    """
    if len(runs_and_assessments.runs) != 1:
        return None
    [run] = runs_and_assessments.runs
    if run.shares_file:  # its file also holds other runs
        return None
    files = (*runs_and_assessments.assessments, run.file)
    result = call.score_in_parts(gold, files, folder_cleanup)  # None for a small run
    if result is not None:
        # When scoring part by part, assessments that nearly equal unassessed lines (near misses) are not searched for.
        _remark_on_unsearched_near_misses(call)
    return result


def _score_whole_runs(
    call: Call, gold_without_pool: ColdStartGold, runs_and_assessments: RunsAndAssessments, problems: ProblemLog
) -> Result:
    """Score each of the runs separately and as a whole, not part by part. Return their result.

    Raises UsageError for wrong options, and InputError for wrong files.
    """
    check_discipline(gold_without_pool.options.discipline)  # refuses an unknown rule of matching lines to assessments
    if len(runs_and_assessments.runs) == 1:  # the assessments are loaded together with the run
        result = score_separately(
            gold_without_pool,
            runs_and_assessments.runs,
            problems,
            call.load_with_remarks,
            runs_and_assessments.assessments,
        )
    else:  # reading the pool once for all runs saves time
        gold = with_pool(gold_without_pool, runs_and_assessments.assessments, problems)
        result = score_separately(gold, runs_and_assessments.runs, problems, call.load_with_remarks, [])
    outputs.check_fields(call.layout.fields)  # later than faults in the files, as the reference does
    return result


@contextlib.contextmanager
def _report_faults_of_pool(gold: ColdStartGold, assessments: Sequence[Input]) -> Iterator[None]:
    """Print all kinds of fatal faults in the assessments if the block raises an error about one of their files.

    Scoring stops at the first line with a fatal fault. The remarks show what else has to be corrected before the
    assessments can be used. The error is raised again.
    """
    try:
        yield
    except InputError as error:
        if _is_about(error, assessments):
            _remark_on_faults_of_pool(gold, assessments)
        raise


def _is_about(error: InputError, inputs: Iterable[Input]) -> bool:
    """Return whether an error is about one of the inputs, or about a file in a folder among them."""
    for file_or_folder in inputs:
        for file in expand_folder(file_or_folder):
            if name_of(file) == error.file:
                return True
    return False


def _remark_on_faults_of_pool(gold: ColdStartGold, assessments: Sequence[Input]) -> None:
    """Print a line for each kind of fatal fault in the assessments. Nothing is printed if they cannot be checked."""
    from cs_score.preparation.assessments import check_pool

    with contextlib.suppress(InputError):
        checked_pool = check_pool(gold.query_set, assessments, ProblemLog())
        for kind in checked_pool.problem_kinds:
            remark(f"assessments: {kind}")


def _remark_on_unsearched_near_misses(call: Call) -> None:
    """Print that a run scored in parts was not searched for answers that nearly equal assessed ones.

    A discipline is the rule by which a response finds its assessment. A whole run would only be searched under the
    usual discipline.
    """
    if call.options.discipline == Options().discipline:
        remark("a run scored in parts is not searched for answers that nearly equal assessed ones; --parts 1 does that")


def _remark_on_result(call: Call, result: Result) -> None:
    """Print the problems of the input, and remarks that help to understand the scores."""
    _print_problems(result.problems)
    if result.problems:
        print_unless_quiet(outputs.closing_line(result.error_count, result.warning_count))
    warn(*result.remarks)
    _remark_on_discarded_lines(result)
    _remark_on_files_made_in_memory(result)
    remark_on_duplicates(call, sum(run.duplicate_count for run in result.runs))


def _print_problems(problems: Iterable[Problem]) -> None:
    """Print the problems of the input on standard error; with --quiet nothing is printed. Discarded lines come last."""
    report = outputs.report_for_stderr(discarded_last(problems), is_for_people=is_terminal("stderr"))
    print_unless_quiet(report)


def _remark_on_discarded_lines(result: Result) -> None:
    """Print how many lines count in the scores although a problem says that they are discarded."""
    discarded_count = count_of_discarded(result.problems)
    if discarded_count:
        remark(
            f"{discarded_count} line(s) that are called discarded count in the scores all the same; cs-score "
            "validate-run, or --validate, leaves them out"
        )


_MEANING_BY_SUFFIX: Final = {
    "(resolved)": "the run that was made of the knowledge base, which cs-score resolve-queries writes",
    "(validated)": "the run as cs-score validate-run writes it",
}
"""Descriptions of the files that cs-score makes in memory, by what their names in messages end in.

A message about such a file says, for example, `kb.txt (resolved) line 7`.
"""


def _remark_on_files_made_in_memory(result: Result) -> None:
    """Print a description of each file made in memory if a warning or a problem refers to one of its lines."""
    messages = list(result.remarks)
    for problem in result.problems:
        messages.extend(str(place) for place in problem.places)
    for suffix, meaning in _MEANING_BY_SUFFIX.items():
        is_mentioned = any(f"{suffix} line" in message for message in messages)
        if is_mentioned:
            remark(f"FILE {suffix} is {meaning}")  # FILE stands for any name
