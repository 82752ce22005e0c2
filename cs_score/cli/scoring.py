"""The call without a command, which follows the Perl scorer, and `cs-score score` for every task."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET

from cs_score.base import outputs as storage
from cs_score.base.display import one_line
from cs_score.base.errors import CsScoreError, InputError, OutputError, UsageError
from cs_score.base.outputs import Existing, PlannedOutput, encoded
from cs_score.base.records import Record, replace
from cs_score.base.runtime import Late, paused_collector
from cs_score.base.sources import InMemory, Input, name_of, open_source, plain_name
from cs_score.cli import options
from cs_score.cli import output as terminal
from cs_score.cli.core import Finished, Line, Option, Parameter, Reference, Status, command
from cs_score.cli.inputs import Predictions
from cs_score.cli.options import read_measures, read_resampling, whole_number
from cs_score.cli.output import STDERR, STDOUT, Destination, remark, say, warn, write_text
from cs_score.cli.problem_report import report_on_stderr
from cs_score.cli.runs import Runs, load_with_preparation, remark_on_duplicates
from cs_score.cli.verb import Verb, VerbForm
from cs_score.coldstart import outputs
from cs_score.coldstart.gold import ColdStartGold, Run, load_run, open_gold, with_folder_remarks, with_pool
from cs_score.coldstart.judging import check_discipline
from cs_score.coldstart.linking import expand_folder
from cs_score.coldstart.options import Options, is_nothing
from cs_score.coldstart.result import Result, ScoringStopped
from cs_score.coldstart.scorer import OneRun, score_apart, score_runs
from cs_score.coldstart.unit_statistics import intervals
from cs_score.measures.registry import select_names
from cs_score.problems.log import ProblemLog, RecordingLog, count_of_discarded, discarded_last
from cs_score.tasks import COLD_START, task_named

if TYPE_CHECKING:
    from cs_score.analysis import comparison, sampled_labels, sampled_pools, systems
    from cs_score.analysis.coldstart import scored as analyses
    from cs_score.coldstart import documents
    from cs_score.evidence.mode import ScoredPredictions
    from cs_score.problems import reports
    from cs_score.statistics.options import Resampling
    from cs_score.statistics.results import ScoreIntervals
    from cs_score.tables import layout
    from cs_score.tables.statistics import Printout
else:
    comparison = Late("cs_score.analysis.comparison")
    systems = Late("cs_score.analysis.systems")
    layout = Late("cs_score.tables.layout")
    analyses = Late("cs_score.analysis.coldstart.scored")
    sampled_pools = Late("cs_score.analysis.sampled_pools")
    sampled_labels = Late("cs_score.analysis.sampled_labels")
    documents = Late("cs_score.coldstart.documents")
    reports = Late("cs_score.problems.reports")

PROGRAM: Final = "cs-score"
MOST_PARTS: Final = 1024

_COMPRESSION: Final = 6
"""How many times larger a compressed file becomes, about, when it is read."""


class Call(Runs):
    """A call that scores Cold Start runs, with its inputs, outputs and options, which have been checked."""

    def __init__(
        self,
        line: Line,
        further_outputs: Iterable[PlannedOutput],
        output: Destination | None = None,
        error_report: Destination = STDERR,
        *,
        output_option: str = "-output_file",
        json_file: str | None = None,
    ) -> None:
        """Check the inputs and outputs of a command line.

        `output` is the prefix of the files with tables, or the stream that gets all tables; no table is written if it
        is None. Messages call it `output_option`. `further_outputs` are files beside the tables and that of
        --problems. Raises UsageError or OutputError.
        """
        super().__init__(line)
        self.output = output
        self.error_report = error_report
        self.json_file = json_file
        planned_outputs = [*self._planned_tables(output_option), *further_outputs]
        if "--problems" in line:
            planned_outputs.extend(reports.OPTION.outputs(line.get("--problems")))
        self.plan = line.plan(planned_outputs, self._input_names(), line.folder)
        has_samples = not is_nothing(self.options.samples)
        self.params = outputs.params_text((PROGRAM, *line.typed), os.getcwd(), self.policy_texts, has_samples)
        self.resampling = read_resampling(line)
        self._parts = whole_number(line, "--parts", MOST_PARTS)
        self.jobs = whole_number(line, "--jobs", MOST_PARTS)

    def _planned_tables(self, option: str) -> Iterator[PlannedOutput]:
        """Yield the files into which tables are written; none if they go to a stream."""
        if self.output is None or self.output.stream is not None:
            return
        for file in outputs.written_outputs(self.line.switches, self.edition):
            yield PlannedOutput(option, f"{self.output.name}.{file.ending}", Existing.CLEARED)

    def _input_names(self) -> list[str]:
        """Return the names of all files that are read, with those inside folders."""
        words = list(self.line.words)
        for option in ("-queries", "-samples"):
            value = self.line.get(option)
            if value:
                words.append(value)
        names: list[str] = []
        for word in words:
            names.extend(name_of(file) for file in expand_folder(word))
        return names

    def parts_of(self, files: Sequence[Input]) -> int:
        """Return the number of parts into which the queries are divided for scoring runs and assessments.

        It is the value of --parts, else it depends on the size of the files; it is 1 if a file can be read only once.
        """
        total_size = 0
        for word in files:
            for file in expand_folder(word):
                if not isinstance(file, str) or not os.path.isfile(file):
                    return 1
                is_compressed = plain_name(file) != file
                total_size += os.path.getsize(file) * (_COMPRESSION if is_compressed else 1)
        if self._parts is not None:
            return self._parts
        return max(1, min(MOST_PARTS, total_size // options.PART))

    def new_log(self) -> ProblemLog:
        """Return an empty log of problems. With --problems it is one that keeps all details for the file."""
        return RecordingLog() if "--problems" in self.line else ProblemLog()

    def write_problems(self, problems: ProblemLog, error: CsScoreError | None = None) -> None:
        """Write the file of --problems, if it was asked for. Raises OutputError.

        `error` is the error that ended the scoring; if it is about an input, it is written, too.
        """
        problems_file = self.line.get("--problems")
        if not isinstance(problems, RecordingLog) or problems_file is None:
            return
        if isinstance(error, InputError):
            problems.fatal.append(error)
        reports.write_problems(problems, problems_file)

    def write(self, result: Result, intervals: Sequence[ScoreIntervals] = (), *, was_stopped: bool = False) -> None:
        """Write the tables and the JSON of a result, as far as the command line asks for them. Raises OutputError.

        If an error stopped the scoring (`was_stopped`), only the tables that are already complete are written.
        """
        if self.json_file is not None and not was_stopped:
            self._write_json(documents.json_text(result, intervals), self.json_file)
        if self.output is None:
            return
        if self.output.stream is not None:
            for blocks in outputs.stream_blocks(result, self.layout, self.params, intervals):
                self.output.write(blocks)
            return
        for ending, blocks in outputs.file_blocks(result, self.layout, self.params, intervals, was_stopped):
            storage.write_whole(f"{self.output.name}.{ending}", blocks)

    def _write_json(self, pieces: Iterable[str], json_file: str) -> None:
        """Write JSON to a file, or to standard output for `-`."""
        if json_file == "-":
            STDOUT.write(encoded(pieces))
        else:
            storage.write_packed(json_file, encoded(pieces))

    def load_with_remarks(self, gold: ColdStartGold, run: OneRun, pool: Sequence[Input], problems: ProblemLog) -> Run:
        """Load a single run, with remarks on unassessed answers that nearly equal assessed ones.

        The arguments are the same as for `load_single_run`.
        """
        from cs_score.coldstart.near_misses import remarks_on_near_misses

        loaded_run = self.load_single_run(gold, run, pool, problems)
        remarks = list(loaded_run.remarks)
        remarks.extend(remarks_on_near_misses(loaded_run))
        return replace(loaded_run, remarks=remarks)

    def intervals_of(self, result: Result) -> Sequence[ScoreIntervals]:
        """Return the bootstrap intervals of the scores of each run; none without --bootstrap."""
        if self.resampling is None:
            return ()
        return intervals(result, self.resampling)

    def check_inputs(self) -> None:
        """Raise InputError if one of the queries, runs or assessments cannot be opened."""
        files: list[Input] = list(self.queries)
        for word in self.files:
            files.extend(expand_folder(word))
        for file in files:
            if file != "-" and not isinstance(file, InMemory):
                with open_source(file):  # opening is the check
                    pass


class RunsScored(Record):
    """The result of scoring Cold Start runs, with the call that asked for it."""

    call: Call
    result: Result
    intervals: Sequence[ScoreIntervals]

    @property
    def resampling(self) -> Resampling | None:
        """The settings of the intervals, None if they are not asked for."""
        return self.call.resampling

    def write(self) -> None:
        """Write the tables and the JSON that the call asks for. Raises OutputError."""
        self.call.write(self.result, self.intervals)

    def text(self, line: Line) -> str:
        """Return the scores by the measures that were chosen, in the format of the command line.

        With `--format text`, one measure and one run, the text is only the number, such as `0.2841`. Warns of scores
        that are undefined.
        """
        measures = ("*",) if "--all" in line else read_measures(line)
        document = documents.choose(documents.document_of(self.result, self.intervals, ()), measures)
        if not measures:
            headline_remark = documents.headline_remark(self.result)
            if headline_remark is not None:
                remark(headline_remark)
        is_single = len(document.measures or ()) == len(document.runs) == 1
        if line.get("--format") == "text" and is_single and document.measure:
            score, *remarks = documents.single_score(document, document.measure)
            warn(*remarks)
            return score
        if line.format == "tsv":  # the other formats say themselves which scores are undefined
            for text in documents.undefined_remarks(document):
                warn(f"undefined: {text}")
        return documents.WRITERS[line.format](document)


class PredictionsScored(Record):
    """The results of scoring a file of predictions, one result for each system in it."""

    results: Mapping[str, ScoredPredictions]
    """The result of each system, by its name."""
    intervals: Mapping[str, ScoreIntervals]
    """The intervals of each system, by its name; empty without --bootstrap."""
    resampling: Resampling | None
    """The settings of the intervals, None without --bootstrap."""
    unit_file: str | None
    """The file into which --per-item writes the statistics of each unit, or None."""

    @property
    def result(self) -> ScoredPredictions:
        """The result of the only system. Raises UsageError if there are several."""
        if len(self.results) != 1:
            names = ", ".join(one_line(name, 40) for name in self.results)
            raise UsageError(f"there are {len(self.results)} runs ({names}): choose one with --run ID")
        return next(iter(self.results.values()))

    def write(self) -> None:
        """Write the file of --per-item, if it was asked for. Raises OutputError."""
        from cs_score.evidence.report import unit_blocks

        if self.unit_file is not None:
            storage.write_packed(self.unit_file, unit_blocks(self.result))

    def text(self, line: Line) -> str:
        """Return the scores of each system by the measures that were chosen, in the format of the command line.

        With `--format text`, one measure and one system, the text is only the number, such as `0.2841`.
        """
        from cs_score.evidence.report import format_scores

        if line.format == "json":
            return self._json_text(with_units=line.file is not None)
        if line.get("--format") == "text" and len(self.results) == 1:
            measures = self._chosen_measures(self.result, line)
            if len(measures) == 1:
                return self._single_score(measures[0])
        texts = []
        for name, result in self.results.items():
            measures = self._chosen_measures(result, line)
            texts.append(format_scores(line.format, result, self.intervals.get(name), measures))
        if line.format == "tsv" and len(texts) > 1:
            return _tables_of_runs(dict(zip(self.results, texts)))
        return "\n\n".join(texts)

    def _json_text(self, *, with_units: bool) -> str:
        """Return the scores as JSON: the object of the only system, or one object for all systems.

        With `with_units` it has the statistics of each unit as well.
        """
        from cs_score.evidence.report import json_of_several, json_text

        if len(self.results) > 1:
            return json_of_several(self.results.values(), self.intervals, with_units=with_units)
        name = next(iter(self.results))
        return json_text(self.results[name], self.intervals.get(name), with_units=with_units)

    def _single_score(self, measure: str) -> str:
        """Return the score of the only system by a measure as text, such as `0.2841`.

        Prints warnings that the user needs in order to understand the number, for example that it is undefined.
        """
        from cs_score.evidence.report import single_score

        name = next(iter(self.results))
        score, *remarks = single_score(measure, self.results[name].scores[measure], self.intervals.get(name))
        warn(*remarks)
        return score

    def _chosen_measures(self, result: ScoredPredictions, line: Line) -> Sequence[str]:
        """Return the measures of a result that the names and patterns of --measure choose; none without --measure."""
        measures = read_measures(line)
        if not measures:
            return ()
        return select_names(list(result.scores), measures)


def _tables_of_runs(text_by_run: Mapping[str, str]) -> str:
    """Return the TSV tables of several runs as one table with the run in a further first column."""
    lines: list[str] = []
    for run, text in text_by_run.items():
        header, *rows = text.removesuffix("\n").split("\n")
        if not lines:
            lines.append(f"run\t{header}")
        lines.extend(f"{one_line(run, sys.maxsize)}\t{row}" for row in rows)
    return "\n".join(lines)


# ---- The call without a command


def _bare_call(line: Line) -> Call:
    """Return the checked call of `cs-score` without a command; no file is changed.

    The checks come in the order of the reference program, so that the same fault is reported first. Raises UsageError
    or OutputError.
    """
    output = Destination(line.text("-output_file"))
    error_report = Destination.of_report(line.text("-error_file"))
    if output.stream is None:
        reason = storage.why_not_writable(f"{output.name}.debug")
        if reason is not None:
            raise OutputError(
                f"Could not open {output.name} .  . lc(DEBUG): {reason}; -output_file is a prefix: {output.name}.debug "
                "and others are written, into a folder that must be there"
            )
    may_replace_report = outputs.is_of_failed_call(error_report.name)
    existing = Existing.REPLACED if may_replace_report else Existing.REFUSED
    further_outputs = list(error_report.planned("-error_file", existing))
    json_file = line.get("--json")
    if json_file is not None:
        further_outputs.extend(documents.OPTION.outputs(json_file))
    return Call(line, further_outputs, output, error_report, json_file=json_file)


@command(
    "",
    options.select_options(f"{options.OF_A_CALL} -error_file -output_file --json"),
    Parameter("files...", options.FILES),
    contract=Reference,
    example=options.EXAMPLE,
    sections=(options.OUTPUT_FILES, options.FIELDS, options.POLICIES, *options.LEGEND),
)
def bare(line: Line) -> int:
    """Score runs, and write the same files as the Perl scorer. Return the exit status, 0 or 255."""
    problems = ProblemLog()
    call: Call | None = None
    try:
        call = _bare_call(line)
        problems = call.new_log()
        with paused_collector(), _score_together(call, problems) as scored:
            with storage.outputs_together():
                if call.edition.reports_first:
                    _report(call, scored.result)
                    scored.write()
                else:
                    scored.write()
                    _report(call, scored.result)
                call.write_problems(problems)
            status = Status.REFERENCE if scored.result.error_count else Status.DONE
            return Finished(status, scored)
    except CsScoreError as error:
        return _give_up(error, problems, call)


@contextlib.contextmanager
def _score_together(call: Call, problems: ProblemLog) -> Iterator[RunsScored]:
    """Score all runs of a call as if they were one run, as the reference does, and give the result to the block.

    The debug file of a large run is kept in a temporary folder until the block ends, so the result has to be written
    inside the block. Raises InputError. If an error stops the scoring, the complete tables are written before it is
    raised.
    """
    call.check_inputs()
    knowledge_bases = call.knowledge_bases
    call.plan.clear()
    gold = open_gold(call.queries, call.options, problems, validates=call.validates)
    if not call.files:
        raise InputError(
            "EvaluationQueryOutput->new called with no filenames", remedy="name a run and its assessments, too"
        )
    gold = with_folder_remarks(gold, call.files)
    with contextlib.ExitStack() as temporary_folders:
        result = _score_in_parts(call, gold, call.files, temporary_folders)
        if result is None:
            try:
                if gold.validates or knowledge_bases:
                    run = load_with_preparation(gold, call.files, knowledge_bases, problems)
                else:
                    run = load_run(gold, call.files, problems=problems)
                if run.run_ids:
                    outputs.check_fields(call.layout.fields)
                result = score_runs(run, call.options.policy, problems)
            except ScoringStopped as stop:
                call.write(stop.partial, was_stopped=True)
                raise
        yield RunsScored(call, result, call.intervals_of(result))


def _score_in_parts(
    call: Call, gold: ColdStartGold, files: Sequence[Input], temporary_folders: contextlib.ExitStack
) -> Result | None:
    """Return the result of a large run, scored part by part; None if the run is small or cannot be divided.

    The text of the debug file is written into a new folder, which is removed when `temporary_folders` is closed.
    """
    needs_whole_run = gold.validates or call.knowledge_bases or call.json_file is not None or "--problems" in call.line
    parts = 1 if needs_whole_run else call.parts_of(files)
    if parts == 1:
        return None
    from cs_score.base.processes import processors
    from cs_score.coldstart.parts import score_in_parts

    try:
        outputs.check_fields(call.layout.fields)
    except InputError:  # scoring the whole run reports it, after the fatal conditions in the files
        return None
    debug_file = None
    if call.output is not None and call.output.stream is None:
        debug_file = f"{call.output.name}.debug"
        if storage.is_stream(debug_file):
            debug_file = None
    folder = temporary_folders.enter_context(storage.folder_beside(debug_file))
    names = [name_of(file) for file in files]
    return score_in_parts(gold, names, parts, call.jobs or processors(), folder)


def _report(call: Call, result: Result) -> None:
    """Print warnings, then write the error report with its closing line.

    Standard error gets the report twice, as the reference program writes it. On a terminal the averages of each run
    and its signature follow if the tables go to files.
    """
    warn(*result.warnings)
    error_report = call.error_report
    output_stream = None if call.output is None else call.output.stream
    # Where both go to standard output the reference has closed it by now and its report is lost.
    if not call.edition.reports_first and error_report.stream == output_stream == "stdout":
        error_report = STDERR
    closing = outputs.closing_line(result.error_count, result.warning_count)
    if error_report.stream == "stderr" and terminal.is_quiet():
        write_text("stderr", f"{PROGRAM}: {closing}" if result.error_count else "")
    elif error_report.stream == "stderr" and not call.edition.reports_first:
        say(report_on_stderr(result.problems, twice=True) + closing)
    else:
        text = outputs.whole_report(result)
        terminal.write_report(error_report, text, [outputs.doubly_encoded(text, call.edition)])
    writes_files = call.output is not None and output_stream is None
    is_on_terminal = sys.stderr is not None and sys.stderr.isatty()
    if writes_files and is_on_terminal and not call.edition.reports_first:
        for run in result.runs:
            say(f"\n{outputs.averages_text(run)}\nsignature  {result.signature(run)}\n")


def _give_up(error: CsScoreError, problems: ProblemLog, call: Call | None) -> int:
    """Report the problems that were found and the error that ended the scoring. Return the exit status.

    `call` is None if its checks failed; then no file is written, because its outputs have not been checked.
    """
    problems_so_far = list(problems)
    error_report = STDERR if call is None else call.error_report
    with contextlib.suppress(OutputError):
        if isinstance(error, ScoringStopped):
            warn(*error.partial.warnings)
        warn(*error.remarks)
        if error_report.stream == "stderr":
            say(report_on_stderr(problems_so_far))
        write_text("stderr", f"{PROGRAM}: {error}\n")
    if call is None:
        return Status.REFERENCE
    if error_report.stream is None:
        text = outputs.stopped_report(problems_so_far, error, call.edition) + outputs.MAY_BE_REPLACED
        with contextlib.suppress(OutputError):
            storage.write_whole(error_report.name, [outputs.doubly_encoded(text, call.edition)])
    # Where an output could not be written, the file of --problems does not appear either.
    if not isinstance(error, OutputError):
        with contextlib.suppress(CsScoreError):
            call.write_problems(problems, error)
    return Status.REFERENCE


# ---- Scores for every task


def score_inputs(task: str, line: Line) -> AbstractContextManager[RunsScored | PredictionsScored]:
    """Score the files of a command line. The scored runs or predictions are the target of the `with` statement.

    Results have to be written inside the block. Raises CsScoreError if nothing can be scored.
    """
    if task == COLD_START:
        return _score_runs(line)
    return contextlib.nullcontext(_score_predictions(task, line))


@contextlib.contextmanager
def _score_runs(line: Line) -> Iterator[RunsScored]:
    """Score the Cold Start runs of a command line, and give the result to the block.

    The folder of -o is made before the block and removed if the block fails; problems of the input and remarks on the
    scores are printed after it. Raises CsScoreError if nothing can be scored.
    """
    call = _call_of_score(line)
    problems = call.new_log()
    try:
        with storage.folder_made(line.folder, "-o"), paused_collector(), _score_separately(call, problems) as scored:
            yield scored
            result = scored.result
    except CsScoreError as error:
        if isinstance(error, ScoringStopped):
            warn(*error.partial.warnings)
        say(report_on_stderr(discarded_last(problems)))
        call.write_problems(problems, error)
        raise
    _remark_on_result(call, result)
    call.write_problems(problems)


def _remark_on_result(call: Call, result: Result) -> None:
    """Print the problems of the input, and remarks that help to understand the scores."""
    say(report_on_stderr(discarded_last(result.problems)))
    if result.problems:
        say(outputs.closing_line(result.error_count, result.warning_count))
    warn(*result.warnings)
    discarded = count_of_discarded(result.problems)
    if discarded:
        remark(
            f"{discarded} line(s) that are called discarded count in the scores all the same; cs-score validate-run, "
            "or --validate, leaves them out"
        )
    _remark_on_made_files(result)
    remark_on_duplicates(call, sum(run.duplicates for run in result.runs))


_MADE_FILES: Final = {
    "(resolved)": "the run that was made of the knowledge base, which cs-score resolve-queries writes",
    "(validated)": "the run as cs-score validate-run writes it",
}
"""Descriptions of the files that cs-score makes in memory, by the end of their names in messages."""


def _remark_on_made_files(result: Result) -> None:
    """Print a description of each file made in memory if a warning or a problem refers to one of its lines."""
    messages = list(result.warnings)
    for problem in result.problems:
        messages.extend(str(place) for place in problem.places)
    for ending, meaning in _MADE_FILES.items():
        if any(f"{ending} line" in message for message in messages):
            remark(f"FILE {ending} is {meaning}")


def _call_of_score(line: Line) -> Call:
    """Return the checked call of `cs-score score`.

    Raises UsageError or OutputError, also for options about the layout of tables if no tables are written.
    """
    layout_option = line.first("-fields -tabs")
    if line.folder is None and layout_option is not None:
        raise UsageError(
            f"{layout_option} lays out the tables that -o FOLDER writes: add -o FOLDER, or leave out {layout_option}"
        )
    unit_outputs = list(options.PER_UNIT.outputs(line.get("--per-unit")))
    if line.folder is None:
        result_outputs = [] if line.file is None else [line.file]
        return Call(line, result_outputs + unit_outputs)
    prefix = Destination(os.path.join(line.folder, "out"))
    json_file = f"{prefix.name}.json"
    json_outputs = list(replace(documents.OPTION, name="-o").outputs(json_file))
    return Call(line, json_outputs + unit_outputs, prefix, output_option="-o", json_file=json_file)


@contextlib.contextmanager
def _report_faults_of_pool(gold: ColdStartGold, assessments: Sequence[Input]) -> Iterator[None]:
    """Print all kinds of fatal faults in the assessments if an error about one of their lines leaves the block.

    Scoring stops at the first such line; the remarks show what else has to be corrected. The error is raised again.
    """
    try:
        yield
    except InputError as error:
        names: list[str] = []
        for word in assessments:
            names.extend(name_of(file) for file in expand_folder(word))
        if error.file not in names:
            raise
        from cs_score.preparation.assessments import check_pool

        with contextlib.suppress(InputError):
            for kind in check_pool(gold.table, assessments, ProblemLog()).kinds:
                remark(f"assessments: {kind}")
        raise


@contextlib.contextmanager
def _score_separately(call: Call, problems: ProblemLog) -> Iterator[RunsScored]:
    """Score each run of a call separately against the same assessments, and give the results to the block.

    The assessments are read first, whatever the order of the files is. Raises UsageError if no run or no assessments
    are named.
    """
    call.check_inputs()
    selection = call.find_runs()
    runs = selection.runs
    assessments = selection.assessments
    call.plan.clear()
    gold = open_gold(call.queries, call.options_per_run, problems, validates=call.validates)
    gold = with_folder_remarks(gold, call.files)
    with contextlib.ExitStack() as temporary_folders, _report_faults_of_pool(gold, assessments):
        result = None
        if len(runs) == 1 and not runs[0].is_shared:
            result = _score_in_parts(call, gold, (*assessments, runs[0].file), temporary_folders)
        if result is not None:
            _remark_on_near_misses_of_parts(call)
        else:
            check_discipline(gold.options.discipline)
            if len(runs) > 1:  # reading the pool once saves a thirtieth of a call for each further run
                gold = with_pool(gold, assessments, problems)
                assessments = []
            result = score_apart(gold, runs, problems, call.load_with_remarks, assessments)
            outputs.check_fields(call.layout.fields)
        yield RunsScored(call, result, call.intervals_of(result))


def _remark_on_near_misses_of_parts(call: Call) -> None:
    """Print that a run scored in parts was not searched for answers that nearly equal assessed ones."""
    if call.options.discipline == Options().discipline:
        remark("a run scored in parts is not searched for answers that nearly equal assessed ones; --parts 1 does that")


def _score_predictions(task: str, line: Line) -> PredictionsScored:
    """Score each system in the predictions file of a command line. Raises UsageError or InputError."""
    from cs_score.evidence.mode import intervals
    from cs_score.evidence.report import units_option

    inputs = Predictions(task, line)
    planned_outputs = [] if line.file is None else [line.file]
    unit_file = line.get("--per-item")
    if unit_file is not None:
        planned_outputs.extend(units_option(inputs.mode).outputs(unit_file))
    planned_outputs.extend(options.PER_UNIT.outputs(line.get("--per-unit")))
    plan = line.plan(planned_outputs, inputs.inputs)
    resampling = read_resampling(line)
    plan.clear()
    results = inputs.results_of_file(inputs.files[0])
    intervals_by_name = {}
    if resampling is not None:
        intervals_by_name = {name: intervals(result, resampling) for name, result in results.items()}
    return PredictionsScored(results, intervals_by_name, resampling, unit_file)


def _unit_table(task: str, scored: RunsScored | PredictionsScored) -> Iterable[bytes]:
    """Return the lines of the table of `--per-unit`: numerator and denominator of each unit of each run."""
    results: dict[str, Any]
    if isinstance(scored, RunsScored):
        results = {run.run_id: replace(scored.result, runs=(run,)) for run in scored.result.runs}
    elif len(scored.results) == 1:
        results = {task: scored.result}
    else:
        results = dict(scored.results)
    clusters = UNSET if scored.resampling is None else scored.resampling.clusters
    return layout.tsv(comparison.per_unit(task_named(task), results, clusters))


def estimate_from_sample(task: str, line: Line, *, most: int | None = 1) -> int:
    """Print estimates of the scores that runs would have if the whole pool were assessed. Return the exit status.

    `most` is the largest number of prediction files on the command line, None if there is no limit. Raises UsageError
    or InputError.
    """
    if line.folder is not None:
        raise UsageError("--inclusion gives one document: -o FILE.json, .tsv or .txt")
    if task != COLD_START:
        return _estimate_from_labels(line, Predictions(task, line, most=most))
    inclusion = sampled_pools.read_inclusion(line.text("--inclusion"))
    resampling = read_resampling(line, always=True)
    inputs = Runs(line)
    with paused_collector():
        opened = inputs.open_runs()
        gold = with_pool(opened.gold, opened.assessments)
        scored_by_name = {}
        for name, run in zip(systems.run_names(opened.runs), opened.runs):
            loaded_run = inputs.load_with_warnings(gold, run)
            scored_by_name[name] = analyses.score_for_analysis(loaded_run, gold.options.policy)
        confidence = resampling.confidence if resampling else 95.0
        document = sampled_pools.estimate_from_sample(scored_by_name, inclusion, confidence)
    return print_document(line, sampled_pools.SAMPLED_POOL_PRINTOUT, document)


def _estimate_from_labels(line: Line, predictions: Predictions) -> int:
    """Print estimates of the scores of judged answers, based on a sample that was assessed. Return the exit status.

    With --second-assessments the labels of the sample come from that file, and correct the labels of the gold file.
    """
    second_file = line.get("--second-assessments")
    columns = sampled_labels.STRATUM_COLUMNS
    if second_file is not None:
        columns = sampled_labels.STRATUM_COLUMNS_OF_SECOND
    inclusion = sampled_pools.read_inclusion(line.text("--inclusion"), columns)
    resampling = read_resampling(line, always=True)
    results = predictions.score_all().results
    second = sampled_labels.read_second_assessments(next(iter(results.values())), second_file)
    confidence = resampling.confidence if resampling else 95.0
    estimates = sampled_labels.estimate_from_labels(results, second, inclusion, confidence)
    return print_document(line, sampled_pools.SAMPLED_POOL_PRINTOUT, estimates)


def print_document(line: Line, printout: Printout, document: Any) -> int:
    """Print a document of statistics as text, JSON or TSV, as the command line asks. Return 0."""
    text = printout.written(document, line.format, terminal.text_width())
    terminal.print_text(text, terminal.with_deltas)
    return Status.DONE


SCORE_VERB: Final = Verb(
    runs=VerbForm(
        options=f"{options.OF_A_CALL} --run --measure --inclusion --per-unit --all",
        formats="text json tsv markdown latex",
        files=options.FILES,
        sections=(options.POLICIES, options.FIELDS),
        folder="files",
    ),
    evidence=VerbForm(
        options=f"--gold --predictions --measure --per-item --per-unit --force {options.INTERVALS}",
        formats="text json tsv markdown latex",
        files=options.FILES_OF_EVIDENCE,
    ),
    own_options=[Option("--per-item FILE", "Also write the statistics of each unit, as .tsv")],
)


@SCORE_VERB.command
def score(task: str, line: Line) -> int:
    """Score runs or predictions, print the scores, and write the files of the options. Return the exit status.

    Raises CsScoreError if nothing can be scored.
    """
    if "--inclusion" in line:
        return estimate_from_sample(task, line)
    if "--second-assessments" in line:
        raise UsageError("--second-assessments goes with --inclusion here; without it give it to cs-score compare")
    with score_inputs(task, line) as scored:
        text = scored.text(line)
        scored.write()
        unit_file = line.get("--per-unit")
        if unit_file is not None:
            storage.write_packed(unit_file, _unit_table(task, scored))
    terminal.print_text(text)
    has_errors = isinstance(scored, RunsScored) and scored.result.error_count
    return Finished(Status.FAILED if has_errors else Status.DONE, scored)
