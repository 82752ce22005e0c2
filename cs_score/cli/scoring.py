"""The call without a command, which follows the Perl scorer; scoring as that and other commands ask for it."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from cs_score.base.errors import CsScoreError, InputError, OutputError, UsageError
from cs_score.base.outputs import (
    Existing,
    OutputPlan,
    PlannedOutput,
    encoded,
    ending_of,
    folder_beside,
    is_stream,
    why_not_writable,
    write_packed,
    write_whole,
)
from cs_score.base.records import Record, replace
from cs_score.base.runtime import Late, paused_collector
from cs_score.base.sources import InMemory, Input, name_of, open_source
from cs_score.cli.core import FORCE, FORMAT, Command, Finished, Line, Parameter, Reference, Status
from cs_score.cli.options import (
    ALL,
    FILES,
    JSON,
    KNOWLEDGE_BASE,
    POLICY,
    POLICY_SWITCHES,
    PROBLEMS,
    PROGRAM,
    RUN,
    RUNIDS,
    SWITCHES,
    Division,
    defaults_of,
    edition_followed,
    fields,
    layout_of,
    legend,
    options_of,
    outputs,
    policies,
    policy_texts,
    read_division,
    read_measures,
    read_resampling,
    report_on_stderr,
)
from cs_score.cli.output import (
    STDERR,
    Destination,
    is_quiet,
    remark,
    say,
    warn,
    write_report,
    write_text,
    write_to_stream,
)
from cs_score.coldstart.gold import Gold, Run, load_run, noting_folders, open_gold, with_pool
from cs_score.coldstart.linking import members
from cs_score.coldstart.options import Options, as_validated
from cs_score.coldstart.outputs import (
    MAY_BE_REPLACED,
    Invocation,
    averages_text,
    check_fields,
    closing_line,
    doubly_encoded,
    file_blocks,
    is_of_failed_call,
    stopped_report,
    stream_blocks,
    whole_report,
    written,
)
from cs_score.coldstart.queries import is_query_file
from cs_score.coldstart.result import Result, ScoringStopped
from cs_score.coldstart.scorer import score_runs
from cs_score.coldstart.several import OneRun, load_alone, run_files, runs_of, score_apart
from cs_score.coldstart.unit_statistics import intervals
from cs_score.knowledge_base.recognition import is_knowledge_base
from cs_score.problems.log import ProblemLog, RecordingLog
from cs_score.tasks import TASKS

if TYPE_CHECKING:
    from cs_score.coldstart import documents
    from cs_score.preparation.prevalidation import PreparedRun
    from cs_score.problems import reports
    from cs_score.statistics.options import Resampling
    from cs_score.statistics.results import ScoreIntervals
else:
    documents = Late("cs_score.coldstart.documents")
    reports = Late("cs_score.problems.reports")


class Call(Record):
    """A scoring that a command line asks for, understood and checked. Without `output` no table is written."""

    line: Line
    plan: OutputPlan
    options: Options
    output: Destination | None
    errors: Destination
    json_file: str | None
    files: tuple[Input, ...]
    invocation: Invocation
    resampling: Resampling | None
    division: Division

    @property
    def query_files(self) -> list[str]:
        """The query files among the words."""
        return [word for word in self.line.words if is_query_file(word)]

    @property
    def knowledge_bases(self) -> frozenset[str]:
        """The knowledge bases, which --knowledge-base names, or which are recognised by their first lines."""
        return frozenset(self.line.texts(KNOWLEDGE_BASE.long)) | knowledge_bases_in(self.files)

    @property
    def validates(self) -> bool:
        """Whether runs are validated before they are scored."""
        return "--validate" in self.line.switches

    def new_log(self) -> ProblemLog:
        """A log that keeps all details where they are written to a file."""
        return RecordingLog() if PROBLEMS.long in self.line.switches else ProblemLog()

    def write_problems(self, problems: ProblemLog, error: CsScoreError | None = None) -> None:
        """Write the file of --problems, with the error that ended the scoring, if one did."""
        if (path := self.line.switches.get(PROBLEMS.long)) is None:
            return
        if isinstance(problems, RecordingLog):
            if isinstance(error, InputError):
                problems.fatal.append(error)
            reports.write_problems(problems, path)

    def write(self, result: Result, intervals: Sequence[ScoreIntervals] = (), *, was_stopped: bool = False) -> None:
        """The files of -output_file and --json, or what goes to a stream; of a stopped scoring what is complete."""
        if self.json_file is not None and not was_stopped:
            text = encoded(documents.json_text(result, intervals))
            if self.json_file == "-":
                write_to_stream(Destination("stdout"), text)
            else:
                write_packed(self.json_file, text)
        layout = layout_of(self.line)
        if self.output is not None and self.output.stream is not None:
            for blocks in stream_blocks(result, layout, self.invocation, intervals):
                write_to_stream(self.output, blocks)
        elif self.output is not None:
            for ending, blocks in file_blocks(result, layout, self.invocation, intervals, was_stopped):
                write_whole(f"{self.output.text}.{ending}", blocks)


def call_of(
    line: Line, outputs: Iterable[PlannedOutput] = (), output: Destination | None = None,
    errors: Destination = STDERR, *, json_file: str | None = None, folder: str | None = None,
) -> Call:  # fmt: skip
    """The call that a command line asks for, its outputs checked. Raises UsageError or OutputError; touches no file."""
    planned = list(outputs)
    if PROBLEMS.long in line.switches:
        planned += reports.OPTION.outputs(line.switches[PROBLEMS.long])
    named = (*line.words, *filter(None, map(line.switches.get, ("-queries", "-samples"))))
    read = [name_of(member) for word in named for member in members(word)]
    plan = OutputPlan(read, planned, FORCE.long in line.switches, folder)
    plan.check()
    defaults = defaults_of(line)
    options = options_of(line, defaults)
    words = [word for word in line.words if not is_query_file(word)]
    texts = policy_texts(line, defaults)
    return Call(
        line, plan, options, output, errors, json_file, (*words, *line.texts(KNOWLEDGE_BASE.long)),
        Invocation(time.localtime(), os.getcwd(), (PROGRAM, *line.typed), texts, options.samples is not None),
        read_resampling(line), read_division(line),
    )  # fmt: skip


def _bare_call(line: Line) -> Call:
    """Check the command line in the reference's order, so that the same fault is named first; touches no file."""
    output, errors = Destination(line.text("-output_file")), Destination(line.text("-error_file"))
    if output.stream is None and (reason := why_not_writable(f"{output.text}.debug")) is not None:
        raise OutputError(
            f"Could not open {output.text} .  . lc(DEBUG): {reason}; -output_file is a prefix: {output.text}.debug and "
            "others are written, into a folder that must be there"
        )
    existing = Existing.REPLACED if is_of_failed_call(errors.text) else Existing.REFUSED
    json_file = line.switches.get(JSON.long)
    outputs = [*tables_of("-output_file", output, line), *errors.planned("-error_file", existing)]
    if json_file is not None:
        outputs += documents.OPTION.outputs(json_file)
    return call_of(line, outputs, output, errors, json_file=json_file)


def tables_of(option: str, output: Destination, line: Line) -> Iterator[PlannedOutput]:
    """The files behind the prefix that an option names; none for a stream."""
    if output.stream is None:
        for file in written(line.switches, edition_followed(line)):
            yield PlannedOutput(option, f"{output.text}.{file.ending}", Existing.CLEARED)


def _bare(line: Line) -> int:
    """Score as the command line says; the exit status, 0 or 255."""
    problems = ProblemLog()
    call: Call | None = None
    try:
        call = _bare_call(line)
        problems = call.new_log()
        with paused_collector(), scored(call, problems) as scoring:
            result = scoring.result
            steps = [partial(call.write, result, scoring.intervals), partial(_report, call, result)]
            for step in reversed(steps) if call.options.edition.reports_first else steps:
                step()
            call.write_problems(problems)
            return Finished(Status.REFERENCE if result.error_count else 0, scoring)
    except CsScoreError as error:
        return _give_up(error, problems, call)


@contextlib.contextmanager
def scored(call: Call, problems: ProblemLog) -> Iterator[RunsScored]:
    """Score as the reference does, once inputs can be opened. Within, the text of a large run's debug file is there.

    Raises InputError; where scoring is stopped what is complete has been written.
    """
    _check_inputs(call)
    knowledge_bases = call.knowledge_bases
    call.plan.clear()
    gold = open_gold(call.query_files, call.options, problems)
    if not call.files:
        raise InputError(
            "EvaluationQueryOutput->new called with no filenames", remedy="name a run and its assessments, too"
        )
    gold = noting_folders(gold, call.files)
    with contextlib.ExitStack() as unfinished:
        result = _scored_in_parts(call, gold, call.files, knowledge_bases, unfinished)
        if result is None:
            result = _scored_whole(call, gold, knowledge_bases, problems)
        yield RunsScored(call, result, () if call.resampling is None else intervals(result, call.resampling))


@contextlib.contextmanager
def scored_apart(call: Call, problems: ProblemLog) -> Iterator[RunsScored]:
    """As `scored`, but each run by itself, over a pool that is read first wherever it stands among the files.

    Raises UsageError where no run is named, or no assessments.
    """
    call = replace(call, files=tuple(map(held, call.files)))
    _check_inputs(call)
    knowledge_bases = call.knowledge_bases
    runs, assessments = runs_and_pool(call.line, call.query_files, call.files, knowledge_bases)
    call.plan.clear()
    gold = noting_folders(open_gold(call.query_files, replace(call.options, runids=None), problems), call.files)
    with contextlib.ExitStack() as unfinished:
        result = None
        if len(runs) == 1 and not runs[0].is_shared:
            result = _scored_in_parts(call, gold, (*assessments, runs[0].file), knowledge_bases, unfinished)
        if result is None:

            def load(gold: Gold, run: OneRun, pool: Sequence[Input], log: ProblemLog) -> Run:
                if not (call.validates or knowledge_bases):
                    return load_alone(gold, run, pool, log)
                known = [str(run.file)] if run.file in knowledge_bases else []
                return load_as_prepared(run.over(gold), [*pool, run.file], known, log, validates=call.validates)

            gold = with_pool(gold, assessments, problems)
            result = score_apart(gold, runs, problems, load, validated=call.validates)
            check_fields(layout_of(call.line).fields)
        yield RunsScored(call, result, () if call.resampling is None else intervals(result, call.resampling))


def held(file: Input) -> Input:
    """A file that can be read again: standard input is held in memory."""
    return InMemory("-", sys.stdin.buffer.read()) if file == "-" else file


def runs_and_pool(
    line: Line, query_files: Sequence[str], files: Sequence[Input], knowledge_bases: Collection[Input]
) -> tuple[list[OneRun], list[Input]]:
    """The runs, with knowledge bases among them, that --run or -runids choose, and the assessments.

    Raises UsageError where there are no queries, runs or assessments, or no run of that id.
    """
    for file in files:
        if isinstance(file, str) and ending_of(file) in (".json", ".jsonl") and os.path.isfile(file):
            raise UsageError(f"{file} is no file of Cold Start; name its task: {', '.join([*TASKS][1:])}")
    runs, assessments = run_files(files, knowledge_bases)
    for found, lacking in ((runs, "run"), (assessments, "assessments (pool)")):
        if not found:
            there = ", ".join(map(name_of, files)) or "no file beside the queries"
            raise UsageError(f"no {lacking} among the files: there is {there}; name queries, assessments and a run")
    if not query_files:
        listed = line.switches.get("-queries") or ""
        hint = f"; -queries chooses some of them: write {listed} without it" if is_query_file(listed) else ""
        raise UsageError(f"no query file (*.xml) among the files; name queries, assessments and a run{hint}")
    chosen = line.texts(RUN.long) or line.text(RUNIDS.long, "").split(":")
    return runs_of(runs, knowledge_bases, chosen if any(chosen) else None), assessments


def _scored_in_parts(
    call: Call, gold: Gold, files: Sequence[Input], knowledge_bases: Collection[str], unfinished: contextlib.ExitStack
) -> Result | None:
    """The result of a large run scored in parts; None where it is small, or has to be scored whole.

    The text of its debug file lies in a folder that goes with `unfinished`.
    """
    needs_all = call.validates or knowledge_bases or call.json_file is not None or PROBLEMS.long in call.line.switches
    parts = 1 if needs_all else call.division.parts_of(files)
    if parts == 1:
        return None
    from cs_score.base.processes import processors
    from cs_score.coldstart.parts import score_in_parts

    try:
        check_fields(layout_of(call.line).fields)
    except InputError:  # it comes after what is fatal in the files
        return None
    path = None if call.output is None or call.output.stream is not None else f"{call.output.text}.debug"
    beside = unfinished.enter_context(folder_beside(None if path is None or is_stream(path) else path))
    return score_in_parts(gold, list(map(name_of, files)), parts, call.division.jobs or processors(), beside)


def _scored_whole(call: Call, gold: Gold, knowledge_bases: Collection[str], problems: ProblemLog) -> Result:
    """Load all files and score the runs. The files of completed stages are written before ScoringStopped is raised."""
    try:
        if call.validates or knowledge_bases:
            run = load_as_prepared(gold, call.files, knowledge_bases, problems, validates=call.validates)
        else:
            run = load_run(gold, call.files, problems=problems)
        if run.run_ids:
            check_fields(layout_of(call.line).fields)
        result = score_runs(run, call.options.policy, problems)
        return replace(result, origin=as_validated(result.origin)) if call.validates else result
    except ScoringStopped as stop:
        call.write(stop.partial, was_stopped=True)
        raise


def _check_inputs(call: Call) -> None:
    """Raises InputError where an input cannot be opened."""
    for given in (*call.query_files, *(member for word in call.files for member in members(word))):
        if given != "-" and not isinstance(given, InMemory):
            with open_source(given):
                pass


def _report(call: Call, result: Result) -> None:
    """Remarks on standard error, then the report, twice as the reference writes it, and its closing line."""
    warn(*result.warnings)
    output, errors, edition = call.output, call.errors, call.options.edition
    # Where both go to standard output the reference has closed it by now and its report is lost.
    if not edition.reports_first and output is not None and errors.stream == output.stream == "stdout":
        errors = STDERR
    closing = closing_line(result.error_count, result.warning_count)
    if errors.stream == "stderr" and is_quiet():
        write_text("stderr", f"{PROGRAM}: {closing}" if result.error_count else "")
    elif errors.stream == "stderr" and not edition.reports_first:
        say(report_on_stderr(result.problems, twice=True) + closing)
    else:
        text = whole_report(result)
        write_report(errors, text, [doubly_encoded(text, edition)])
    if edition.reports_first or output is None or output.stream is not None:
        return
    if sys.stderr is not None and sys.stderr.isatty():
        say("".join(f"\n{averages_text(run)}\nsignature  {result.signature(run)}\n" for run in result.runs))


def say_policy(line: Line, duplicates: int) -> None:
    """Where none was named, say which policy is in force with so many duplicates, and which one counts differently."""
    if duplicates and not {POLICY.long, *POLICY_SWITCHES} & {*line.switches}:
        is_ignored = "DUPLICATE" in edition_followed(line).ignore
        name, other = ("kb", "sf") if is_ignored else ("sf", "kb")
        outcome, instead = ("ignored", "counts them as wrong") if is_ignored else ("wrong", "ignores them")
        found = f"{duplicates} duplicate{'s' if duplicates > 1 else ''} {outcome} (policy {name})"
        remark(f"{found}; --policy {other} {instead}")


def _give_up(error: CsScoreError, problems: ProblemLog, call: Call | None) -> int:
    """The problems so far and one line that says what ended the scoring, there and on standard error.

    No file is written where there is no call: its outputs have not passed all checks.
    """
    collected, errors = list(problems), STDERR if call is None else call.errors
    with contextlib.suppress(OutputError):
        if isinstance(error, ScoringStopped):
            warn(*error.partial.warnings)
        if errors.stream == "stderr":
            say(report_on_stderr(collected))
        write_text("stderr", f"{PROGRAM}: {error}\n")
    with contextlib.suppress(OutputError):
        if call is not None and errors.stream is None:
            text = stopped_report(collected, error, call.options.edition) + MAY_BE_REPLACED
            write_whole(errors.text, [doubly_encoded(text, call.options.edition)])
    if call is not None:
        with contextlib.suppress(CsScoreError):
            call.write_problems(problems, error)
    return Status.REFERENCE


def load_as_prepared(
    gold: Gold, files: Sequence[Input], knowledge_bases: Collection[str], problems: ProblemLog, *, validates: bool
) -> Run:
    """Load files as the scorer does, knowledge bases resolved and, with `validates`, every run validated first.

    What that changed is said on standard error. Raises InputError where something has errors: it would not exist.
    """
    from cs_score.preparation.prevalidation import Preparation, load_prepared, validate_runs

    prepared = Preparation(list(files))
    if knowledge_bases:
        from cs_score.knowledge_base.validation import resolve_knowledge_bases

        prepared = resolve_knowledge_bases(files, gold.table, type(problems), knowledge_bases)
        _account(prepared.runs, problems)
    if validates:
        validated = validate_runs(prepared.files, gold.table, gold.options.justifications, type(problems))
        _account(validated.runs, problems)
        prepared = Preparation(validated.files, [*prepared.runs, *validated.runs])
    return load_prepared(gold, prepared, problems=problems)


def _account(runs: Iterable[PreparedRun], problems: ProblemLog) -> None:
    """Say what was found in runs and what was made of them. Raises InputError where one has errors."""
    for run in runs:
        say(report_on_stderr(run.problems))
        if isinstance(problems, RecordingLog) and isinstance(run.problems, RecordingLog):
            problems.also_report(run.problems)
        run.check()
        remark(run.account)


def knowledge_bases_in(files: Iterable[Input]) -> frozenset[str]:
    """The knowledge bases among the files that words of the command line stand for."""
    found = (member for word in files for member in members(word))
    return frozenset(member for member in found if isinstance(member, str) and is_knowledge_base(member))


class RunsScored(Record):
    """Runs as `cs-score score` and `check` have scored them."""

    call: Call
    result: Result
    intervals: Sequence[ScoreIntervals]

    def write(self) -> None:
        """The files that are asked for."""
        self.call.write(self.result, self.intervals)

    def text(self, line: Line) -> str:
        """The chosen measures in the format of the line; the number alone for one of one run where text is wanted."""
        measures = ("*",) if ALL.long in line.switches else read_measures(line)
        chosen = documents.choose(documents.document_of(self.result, self.intervals, ()), measures)
        is_one = len(chosen.measures or ()) == len(chosen.runs) == 1
        if line.switches.get(FORMAT.long) == "text" and is_one and chosen.measure:
            warn(*(f"the reference {text}" for text in documents.reference_remarks(chosen)))
            return documents.shown(chosen.runs[0], chosen.measure)
        return documents.WRITERS[line.format](chosen)


def bare() -> Command:
    """The call without a command."""
    return Reference(
        "",
        SWITCHES,
        (Parameter("files", FILES, is_repeated=True),),
        sections=lambda: (outputs(), fields(), policies(), *legend()),
        body=_bare,
    )
