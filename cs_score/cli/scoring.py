"""The call without a command, which follows the Perl scorer, and `cs-score score`."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from cs_score.base.display import one_line
from cs_score.base.errors import CsScoreError, InputError, OutputError, UsageError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.outputs import encoded, folder_beside, is_device, write_packed, write_whole
from cs_score.base.planned_outputs import Existing, OutputPlan, PlannedOutput, why_not_writable
from cs_score.base.records import Record, replace
from cs_score.base.sources import InMemory, Input, name_of, open_source
from cs_score.cli.core import FORCE, JSON_PRINTED, Command, Finished, Line, Option, Parameter, Reference, Status
from cs_score.cli.options import (
    ALL,
    DEFAULTS,
    EVIDENCE_MODES,
    EXAMPLE,
    FILES,
    INTERVALS,
    MOST_REFERENCES,
    OF_A_CALL,
    PROGRAM,
    SWITCHES,
    Division,
    EvidenceMode,
    defaults_of,
    edition_followed,
    fields,
    layout_of,
    legend,
    measure_option,
    options_of,
    outputs,
    policies,
    policy_texts,
    read_division,
    read_measures,
    read_resampling,
    report_on_stderr,
    whole_number,
)
from cs_score.cli.output import (
    Destination,
    print_text,
    say,
    with_bar,
    write_report,
    write_text,
    write_to_stream,
)
from cs_score.coldstart.editions import LATEST
from cs_score.coldstart.gold import Gold, Run, load_run, noting_folders, open_gold, with_pool
from cs_score.coldstart.linking import members
from cs_score.coldstart.options import Options, as_validated
from cs_score.coldstart.outputs import (
    MAY_BE_REPLACED,
    Invocation,
    Layout,
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
from cs_score.coldstart.scorer import Load, load_alone, run_files, score_apart, score_runs
from cs_score.problems.log import ProblemLog

if TYPE_CHECKING:
    from cs_score.evidence.result import Mode
    from cs_score.evidence.result import Result as EvidenceResult
    from cs_score.preparation.prevalidation import PreparedRun
    from cs_score.statistics.options import Resampling
    from cs_score.statistics.results import ScoreIntervals


class Call(Record):
    """What a command line asks for, understood and checked. Without `output` no table is written."""

    plan: OutputPlan
    options: Options
    layout: Layout
    output: Destination | None
    errors: Destination
    query_files: tuple[str, ...]
    files: tuple[Input, ...]
    knowledge_bases: frozenset[str]
    invocation: Invocation
    json_file: str | None
    problems_file: str | None
    validates: bool
    resampling: Resampling | None
    division: Division


def understand(line: Line) -> Call:
    """Check the command line in the reference's order, so that the same fault is named first; touches no file."""
    output = Destination(line.text("-output_file", DEFAULTS["-output_file"]))
    if output.stream is None and (reason := why_not_writable(f"{output.text}.debug")) is not None:
        raise OutputError(
            f"Could not open {output.text} .  . lc(DEBUG): {reason}; -output_file is a prefix: {output.text}.debug and "
            "others are written, into a folder that must be there"
        )
    errors = Destination(line.text("-error_file", DEFAULTS["-error_file"]))
    existing = Existing.REPLACED if is_of_failed_call(errors.text) else Existing.REFUSED
    outputs = [*tables("-output_file", output, line), *errors.planned("-error_file", existing), *_own(line)]
    plan = planned(line, outputs)
    plan.check()
    return call_of(line, plan, output, errors)


def call_of(line: Line, plan: OutputPlan, output: Destination | None, errors: Destination) -> Call:
    """The call that a command line asks for, with its outputs as planned. Raises UsageError."""
    defaults = defaults_of(line)
    options = options_of(line, defaults)
    return Call(
        plan=plan,
        options=options,
        layout=layout_of(line),
        output=output,
        errors=errors,
        query_files=tuple(word for word in line.words if is_query_file(word)),
        files=(*(word for word in line.words if not is_query_file(word)), *line.texts("--knowledge-base")),
        knowledge_bases=frozenset(line.texts("--knowledge-base")),
        invocation=Invocation(
            time.localtime(),
            os.getcwd(),
            (PROGRAM, *line.typed),
            policy_texts(line, defaults),
            options.samples is not None,
        ),
        json_file=line.switches.get("--json"),
        problems_file=line.switches.get("--problems"),
        validates="--validate" in line.switches,
        resampling=read_resampling(line),
        division=read_division(line),
    )


def planned(line: Line, outputs: Sequence[PlannedOutput], folder: str | None = None) -> OutputPlan:
    """What the call reads and writes; `folder` is one that it makes."""
    named = (*line.words, *filter(None, map(line.switches.get, ("-queries", "-samples"))))
    read = [name_of(member) for word in named for member in members(word)]
    return OutputPlan(read, outputs, "--force" in line.switches, folder)


def tables(option: str, output: Destination, line: Line) -> Iterator[PlannedOutput]:
    """The files behind the prefix that an option names; none for a stream."""
    if output.stream is None:
        for file in written(line.switches, edition_followed(line)):
            yield PlannedOutput(option, f"{output.text}.{file.ending}", Existing.CLEARED)


def _own(line: Line) -> Iterator[PlannedOutput]:
    """The files of the options that the reference does not have. Raises UsageError for a name they refuse."""
    if "--json" in line.switches:
        from cs_score.coldstart import documents

        yield from documents.OPTION.outputs(line.switches["--json"])
    yield from problems_report(line)


def problems_report(line: Line) -> Iterator[PlannedOutput]:
    """The file of --problems. Raises UsageError for a name they refuse."""
    if "--problems" in line.switches:
        from cs_score.problems import reports as problem_reports

        yield from problem_reports.OPTION.outputs(line.switches["--problems"])


def _bare(line: Line) -> int:
    """Score as the command line says; the exit status, 0 or 255."""
    problems = ProblemLog()
    call: Call | None = None
    try:
        call = understand(line)
        problems = new_log(call.problems_file)
        with paused_collector():
            return _score(call, problems)
    except CsScoreError as error:
        return give_up(error, problems, call)


def _score(call: Call, problems: ProblemLog) -> Finished:
    with scored(call, problems) as scoring:
        result = scoring.result
        steps = (partial(write_files, call, result, scoring.intervals), partial(report, call, result))
        for step in reversed(steps) if call.options.edition.reports_first else steps:
            step()
        if call.problems_file is not None:
            write_problems_file(problems, call.problems_file)
    return Finished(Status.REFERENCE if result.error_count else 0, scoring)


class Scoring(Record):
    """What a call has scored."""

    gold: Gold
    result: Result
    intervals: Sequence[ScoreIntervals]


@contextlib.contextmanager
def scored(call: Call, problems: ProblemLog) -> Iterator[Scoring]:
    """Score as a call asks for, once its inputs can be opened. Within, the text of a large run's debug file is there.

    Raises InputError; where scoring is stopped what is complete has been written.
    """
    _check_inputs(call)
    call = replace(call, knowledge_bases=call.knowledge_bases | knowledge_bases_in(call.files))
    call.plan.clear()
    gold = open_gold(call.query_files, call.options, problems)
    if not call.files:
        raise InputError(
            "EvaluationQueryOutput->new called with no filenames", remedy="name a run and its assessments, too"
        )
    gold = noting_folders(gold, call.files)
    with contextlib.ExitStack() as unfinished:
        result = _scored_in_parts(call, gold, unfinished) or _scored_whole(call, gold, problems)
        yield Scoring(gold, result, _intervals(call, result))


@contextlib.contextmanager
def scored_apart(call: Call, problems: ProblemLog) -> Iterator[Scoring]:
    """As `scored`, but each run by itself, over a pool that is read first wherever it stands among the files.

    Raises UsageError where no run is named, or no assessments.
    """
    call = replace(call, files=tuple(InMemory("-", sys.stdin.buffer.read()) if f == "-" else f for f in call.files))
    _check_inputs(call)
    call = replace(call, knowledge_bases=call.knowledge_bases | knowledge_bases_in(call.files))
    runs, assessments = _told_apart(call)
    call.plan.clear()
    wanted = call.options.runids
    options = replace(call.options, runids=None)
    gold = noting_folders(open_gold(call.query_files, options, problems), call.files)
    with contextlib.ExitStack() as unfinished:
        result = None
        if len(runs) == 1 and wanted is None:
            call = replace(call, files=(*assessments, *runs))
            result = _scored_in_parts(call, gold, unfinished)
        if result is None:
            gold = with_pool(gold, assessments, problems)
            result = score_apart(gold, runs, problems, _loader(call), wanted=wanted, validated=call.validates)
            check_fields(call.layout.fields)
        yield Scoring(gold, result, _intervals(call, result))


def _told_apart(call: Call) -> tuple[list[Input], list[Input]]:
    """The runs, with knowledge bases among them, and the assessments."""
    folders = [word for word in call.files if call.validates and isinstance(word, str) and os.path.isdir(word)]
    runs, assessments = run_files(call.files, {*call.knowledge_bases, *folders})
    for found, lacking in ((runs, "run"), (assessments, "assessments (pool)")):
        if not found:
            there = ", ".join(map(name_of, call.files)) or "no file beside the queries"
            raise UsageError(f"no {lacking} among the files: there is {there}; name queries, assessments and a run")
    if not call.query_files:
        raise UsageError("no query file (*.xml) among the files; name queries, assessments and a run")
    return runs, assessments


def _loader(call: Call) -> Load:
    def load(gold: Gold, files: Sequence[Input], problems: ProblemLog) -> Run:
        if not (call.validates or call.knowledge_bases):
            return load_alone(gold, files, problems)
        known = [file for file in files if file in call.knowledge_bases]
        return load_as_prepared(gold, files, known, problems, validates=call.validates)

    return load


def _intervals(call: Call, result: Result) -> Sequence[ScoreIntervals]:
    if call.resampling is None:
        return ()
    from cs_score.coldstart.unit_statistics import intervals

    return intervals(result, call.resampling)


def _scored_in_parts(call: Call, gold: Gold, unfinished: contextlib.ExitStack) -> Result | None:
    """The result of a large run scored in parts; None where it is small, or has to be scored whole.

    The text of its debug file lies in a folder that goes with `unfinished`.
    """
    needs_all = call.validates or call.knowledge_bases or call.json_file is not None or call.problems_file is not None
    parts = 1 if needs_all else call.division.parts_of(call.files)
    if parts == 1:
        return None
    from cs_score.base.processes import processors
    from cs_score.coldstart.parts import score_in_parts

    try:
        check_fields(call.layout.fields)
    except InputError:  # it comes after what is fatal in the files
        return None
    jobs = call.division.jobs or processors()
    path = None if call.output is None or call.output.stream is not None else f"{call.output.text}.debug"
    beside = None if path is None or is_device(path) else path
    return score_in_parts(
        gold, list(map(name_of, call.files)), parts, jobs, unfinished.enter_context(folder_beside(beside))
    )


def _scored_whole(call: Call, gold: Gold, problems: ProblemLog) -> Result:
    """Load all files and score the runs. The files of completed stages are written before ScoringStopped is raised."""
    try:
        if call.validates or call.knowledge_bases:
            validates = call.validates
            run = load_as_prepared(gold, call.files, call.knowledge_bases, problems, validates=validates)
        else:
            run = load_run(gold, call.files, problems=problems)
        if run.run_ids:
            check_fields(call.layout.fields)
        result = score_runs(run, call.options.policy, problems)
        return signed_as_validated(result) if call.validates else result
    except ScoringStopped as stop:
        write_files(call, stop.partial, was_stopped=True)
        raise


def _check_inputs(call: Call) -> None:
    """Raises InputError where an input cannot be opened."""
    for given in (*call.query_files, *(member for word in call.files for member in members(word))):
        if given != "-" and not isinstance(given, InMemory):
            with open_source(given):
                pass


def new_log(problems_file: str | None) -> ProblemLog:
    """A log that keeps all details where they are written to a file."""
    if problems_file is None:
        return ProblemLog()
    from cs_score.problems.occurrences import RecordingLog

    return RecordingLog()


def write_files(
    call: Call, result: Result, of_runs: Sequence[ScoreIntervals] = (), *, was_stopped: bool = False
) -> None:
    """The files of -output_file and --json, or what goes to a stream; of a stopped scoring what it has completed."""
    if call.json_file is not None and not was_stopped:
        _write_json(call.json_file, result, of_runs)
    if call.output is None:
        return
    if call.output.stream is not None:
        for blocks in stream_blocks(result, call.layout, call.invocation, of_runs):
            write_to_stream(call.output, blocks)
        return
    for ending, blocks in file_blocks(result, call.layout, call.invocation, of_runs, was_stopped):
        write_whole(f"{call.output.text}.{ending}", blocks)


def _write_json(path: str, result: Result, of_runs: Sequence[ScoreIntervals]) -> None:
    from cs_score.coldstart.documents import json_text

    if path == "-":
        write_to_stream(Destination("stdout"), encoded(json_text(result, of_runs)))
    else:
        write_packed(path, encoded(json_text(result, of_runs)))


def report(call: Call, result: Result) -> None:
    """Remarks on standard error, then the report, twice as the reference writes it, and its closing line."""
    remark(result.warnings)
    # Where both go to standard output the reference has closed it by now and its report is lost.
    output, edition = call.output, call.options.edition
    if edition.reports_first:
        text = whole_report(result.problems, result.error_count, result.warning_count, edition)
        write_report(call.errors, text, [doubly_encoded(text, edition)])
        return
    lost = output is not None and call.errors.stream == output.stream == "stdout"
    errors = call.errors if not lost else Destination("stderr")
    if errors.stream == "stderr":
        say(report_on_stderr(result.problems, twice=True) + closing_line(result.error_count, result.warning_count))
    else:
        text = whole_report(result.problems, result.error_count, result.warning_count)
        write_report(errors, text, [doubly_encoded(text)])
    if output is not None and output.stream is None and sys.stderr is not None and sys.stderr.isatty():
        say("".join(f"\n{averages_text(run)}\nsignature  {result.signature(run)}\n" for run in result.runs))


def remark(remarks: Sequence[str]) -> None:
    for remark in remarks:
        say(f"{PROGRAM}: warning: {InputError(remark)}\n")


def give_up(error: CsScoreError, problems: ProblemLog, call: Call | None) -> int:
    """The problems so far and one line that says what ended the scoring, there and on standard error.

    No file is written where there is no call: its outputs have not passed all checks.
    """
    collected = list(problems)
    errors = Destination("stderr") if call is None else call.errors
    with contextlib.suppress(OutputError):
        if isinstance(error, ScoringStopped):
            remark(error.partial.warnings)
        if errors.stream == "stderr":
            say(report_on_stderr(collected))
        write_text("stderr", f"{PROGRAM}: {error}\n")
    with contextlib.suppress(OutputError):
        if errors.stream is None:
            edition = LATEST if call is None else call.options.edition
            text = stopped_report(collected, error, edition) + MAY_BE_REPLACED
            write_whole(errors.text, [doubly_encoded(text, edition)])
    if call is not None and call.problems_file is not None:
        with contextlib.suppress(CsScoreError):
            write_problems_file(problems, call.problems_file, error)
    return Status.REFERENCE


def write_problems_file(problems: ProblemLog, path: str, error: CsScoreError | None = None) -> None:
    """Write all problems of a scoring, and the error that ended it, if one did."""
    from cs_score.problems.occurrences import RecordingLog
    from cs_score.problems.reports import write_problems

    if not isinstance(problems, RecordingLog):
        return
    if isinstance(error, InputError):
        problems.fatal.append(error)
    write_problems(problems, path)


def load_as_prepared(
    gold: Gold, files: Sequence[Input], knowledge_bases: Collection[str], problems: ProblemLog, *, validates: bool
) -> Run:
    """Load files as the scorer does, knowledge bases resolved and, with `validates`, every run validated first.

    What that changed is said on standard error. Raises InputError where something has errors: it would not exist.
    """
    from cs_score.preparation.prevalidation import Preparation, load_prepared, validate_runs
    from cs_score.problems.occurrences import RecordingLog

    new_log = RecordingLog if isinstance(problems, RecordingLog) else ProblemLog
    prepared = Preparation(list(files))
    if knowledge_bases:
        from cs_score.knowledge_base.validation import resolve_knowledge_bases

        prepared = resolve_knowledge_bases(files, gold.table, new_log, knowledge_bases)
        _account(prepared.runs, problems)
    if validates:
        validated = validate_runs(prepared.files, gold.table, gold.options.justifications, new_log)
        _account(validated.runs, problems)
        prepared = Preparation(validated.files, [*prepared.runs, *validated.runs])
    return load_prepared(gold, prepared, problems=problems)


def _account(runs: Iterable[PreparedRun], problems: ProblemLog) -> None:
    """Say what was found in runs and what was made of them. Raises InputError where one has errors."""
    from cs_score.problems.occurrences import RecordingLog

    for run in runs:
        say(report_on_stderr(run.problems))
        if isinstance(problems, RecordingLog) and isinstance(run.problems, RecordingLog):
            problems.also_report(run.problems)
        run.check()
        say(f"{PROGRAM}: {run.account}\n")


def knowledge_bases_in(files: Iterable[Input]) -> frozenset[str]:
    """The knowledge bases among the files that words of the command line stand for."""
    from cs_score.knowledge_base.recognition import is_knowledge_base

    found = (member for word in files for member in members(word))
    return frozenset(member for member in found if isinstance(member, str) and is_knowledge_base(member))


def signed_as_validated(result: Result) -> Result:
    """The result with a signature that tells that its runs were validated."""
    return replace(result, origin=as_validated(result.origin))


FORMATS: Final = ("text", "json", "tsv", "markdown")


_PREFIX: Final = "out"


def _score_runs(line: Line) -> int:
    """Score as the command line says; the exit status. Raises CsScoreError where nothing can be scored."""
    from cs_score.coldstart.documents import WRITERS, choose

    call = _call_of_score(line)
    problems = new_log(call.problems_file)
    try:
        with paused_collector(), scored_apart(call, problems) as scoring:
            result = scoring.result
            chosen = choose(result, ("*",) if ALL.long in line.switches else read_measures(line), scoring.intervals)
            write_files(call, result, scoring.intervals)
    except CsScoreError as error:
        if isinstance(error, ScoringStopped):
            remark(error.partial.warnings)
        say(report_on_stderr(problems))
        if call.problems_file is not None:
            write_problems_file(problems, call.problems_file, error)
        raise
    remark(result.warnings)
    say(report_on_stderr(result.problems))
    if result.problems:
        say(closing_line(result.error_count, result.warning_count))
    if call.problems_file is not None:
        write_problems_file(problems, call.problems_file)
    if line.switches.get("--format") == "text" and len(chosen.measures) == len(result.runs) == 1:
        print_text(chosen.shown(0, chosen.measures[0]))
    else:
        print_text(WRITERS[line.format](chosen).removesuffix("\n"))
    return Finished(1 if result.error_count else 0, scoring)


def _call_of_score(line: Line) -> Call:
    """The call that a command line asks for; the folder of -o is there then. Raises UsageError or OutputError."""
    from cs_score.base.outputs import make_folder
    from cs_score.coldstart import documents

    folder = line.folder
    outputs = [*problems_report(line), *([] if line.file is None else [line.file])]
    if folder is None:
        plan = planned(line, outputs)
        plan.check()
        return call_of(line, plan, None, Destination("stderr"))
    output = Destination(os.path.join(folder, _PREFIX))
    json_file = f"{output.text}.json"
    outputs += [*tables("-o", output, line), *replace(documents.OPTION, name="-o").outputs(json_file)]
    plan = planned(line, outputs, folder)
    plan.check()
    call = replace(call_of(line, plan, output, Destination("stderr")), json_file=json_file)
    make_folder(folder, "-o")
    return call


GOLD: Final = Option("--gold", "FILE", "Gold annotation; - is standard input")


PREDICTIONS: Final = Option("--predictions", "FILE", "The system's output; - is standard input")


def _shared() -> tuple[Option, ...]:
    return (
        GOLD,
        PREDICTIONS,
        JSON_PRINTED,
        Option("--per-item", "FILE", "Also write the statistics of each unit, as .tsv"),
        FORCE,
        Option("--explain", "ID", "Print how this unit was scored, instead of the scores; may be repeated", many=True),
        *INTERVALS,
    )


FILES_OF_EVIDENCE: Final = Parameter(
    "files", "Gold and predictions in this order, where --gold and --predictions do not name them",
    is_optional=True, is_repeated=True,
)  # fmt: skip


def gold_and_words(line: Line) -> tuple[str, list[str]]:
    """The file of gold, which --gold names or the first word, and the other words. Raises UsageError without any."""
    words = list(line.words)
    gold = line.switches.get("--gold") or (words.pop(0) if words else None)
    if gold is None:
        raise UsageError("--gold FILE must be given")
    return gold, words


def input_files(line: Line) -> tuple[str, str]:
    """The files of gold and predictions. Raises UsageError where one is missing, or both are standard input."""
    gold, words = gold_and_words(line)
    predictions = line.switches.get("--predictions") or (words.pop(0) if words else None)
    if predictions is None:
        raise UsageError("--predictions FILE must be given")
    if words:
        raise UsageError(f"too many words: {' '.join(words)}")
    if gold == predictions == "-":
        raise UsageError("only one of --gold and --predictions can be standard input")
    return gold, predictions


def _score_predictions(mode: EvidenceMode, line: Line) -> int:
    gold, predictions = input_files(line)
    explained = line.texts("--explain")
    plan = _plan_of_score(mode.name, (gold, predictions), line)
    plan.check()
    resampling = read_resampling(line)
    if explained and (line.format != "text" or resampling is not None):
        raise UsageError("--explain prints text; leave out --format and --bootstrap")
    own = own_arguments(mode, line)
    plan.clear()
    _deliver(score_evidence(mode, gold, predictions, own), line, explained, resampling)
    return 0


def own_arguments(mode: EvidenceMode, line: Line) -> dict[str, Any]:
    """The arguments that the mode's own options give. Raises UsageError."""
    found: dict[str, Any] = {}
    for option in mode.options:
        name = option.long.removeprefix("--").replace("-", "_")
        if option.value is None:
            found[name] = option.long in line.switches
        else:
            found[name] = whole_number(line, option.long, MOST_REFERENCES) or MOST_REFERENCES
    return found


def score_evidence(mode: EvidenceMode, gold: str, predictions: str, own: Mapping[str, Any]) -> EvidenceResult:
    """Score predictions; `own` as `own_arguments` gives them."""
    progress = {"progress": with_bar} if mode.takes_long else {}
    try:
        result: EvidenceResult = _module(mode.name).score(gold, predictions, **own, **progress)
    except InputError as error:
        if (advice := _advice(mode.name, gold, predictions)) is not None:
            raise UsageError(advice) from None
        raise error
    return result


_OF_LINES: Final = ("scifact", "claims")


def _advice(task: str, gold: str, predictions: str) -> str | None:
    """What is wrong with files that cannot be scored as a whole: they are swapped, or of another form of JSON."""
    if "-" in (gold, predictions):
        return None
    looks = [_looks_like(task, file) for file in (gold, predictions)]
    if looks == ["predictions", "gold"]:
        return f"the files are swapped: {predictions} is gold; write --gold {predictions} --predictions {gold}"
    for file, look in zip((gold, predictions), looks):
        if look == "list":
            return (
                f"{file} is a JSON list, where one object a line is expected; convert it: jq -c '.[]' {file} > {file}l"
            )
        if look == "lines":
            return f"{file} has one JSON object a line, where a single value is expected; convert it: jq -s . {file}"
    return None


def _looks_like(task: str, file: str) -> str | None:
    """What a file seems to be, by its beginning: gold, predictions, or another form of JSON; None: nobody can tell."""
    import json

    try:
        with open_source(file) as source:
            text = source.read_bytes().decode("utf-8", "replace").lstrip("\ufeff \r\n\t")
        if task in _OF_LINES and text.startswith("["):
            return "list"
        first = json.loads(text.partition("\n")[0] if task in _OF_LINES else text)
    except InputError:
        return None
    except (ValueError, RecursionError):
        lines = text.splitlines()
        is_of_lines = len(lines) > 1 and all(line[:1] == "{" and line[-1:] == "}" for line in lines[:2])
        return "lines" if is_of_lines and task not in _OF_LINES else None
    if task == "hotpotqa":
        return "gold" if isinstance(first, list) else "predictions"
    if not isinstance(first, dict):
        return None
    return "predictions" if ("re" in first if task == "r4c" else "claim" not in first) else "gold"


def _module(mode: str) -> Any:
    return importlib.import_module(f"cs_score.evidence.{mode}")


def _plan_of_score(mode: str, inputs: Sequence[str], line: Line) -> OutputPlan:
    """What is read and written. Raises UsageError for a file name that an option refuses."""
    from cs_score.evidence.report import units_option

    outputs = [] if line.file is None else [line.file]
    if "--per-item" in line.switches:
        described: Mode = _module(mode).MODE
        outputs += units_option(described).outputs(line.switches["--per-item"])
    return OutputPlan(inputs, outputs, "--force" in line.switches)


def _deliver(result: EvidenceResult, line: Line, explain: Sequence[str], resampling: Resampling | None) -> None:
    from cs_score.evidence import intervals
    from cs_score.evidence.report import explanation_text, intervals_text, json_text, table_text, unit_blocks

    explanations = [result.explain(unit) for unit in explain]
    found = None if resampling is None else intervals(result, resampling)
    if (per_item := line.switches.get("--per-item")) is not None:
        write_packed(per_item, unit_blocks(result))
    tell_notices(result)
    if explanations:
        print_text("\n\n".join(map(explanation_text, explanations)))
    elif line.format == "json":
        print_text(json_text(result, found, with_units=line.file is not None))
    else:
        print_text("\n\n".join([table_text(result), *([] if found is None else [intervals_text(found)])]))


def tell_notices(result: EvidenceResult) -> None:
    """What the predictions lack, on standard error."""
    for notice in result.notices:
        say(f"cs-score: {one_line(notice)}\n")


def measure_names(mode: str) -> Sequence[str]:
    """The measures of a mode, for completion."""
    described: Mode = _module(mode).MODE
    return described.measures


def bare() -> Command:
    """The call without a command."""
    return Reference(
        "",
        SWITCHES,
        (Parameter("files", FILES, is_repeated=True),),
        sections=lambda: (outputs(), fields(), policies(), *legend()),
        body=_bare,
    )


def score(task: str) -> Command:
    """The command of a task."""
    if task in EVIDENCE_MODES:
        mode = EVIDENCE_MODES[task]
        return Command(
            task,
            (*_shared(), *mode.options),
            (FILES_OF_EVIDENCE,),
            sections=lambda: (("Files", mode.files),),
            formats=("text", "json"),
            body=partial(_score_predictions, mode),
            summary=mode.summary,
        )
    own = (
        measure_option(task),
        ALL,
    )
    return Command(
        "score",
        (*OF_A_CALL, *own),
        (Parameter("files", FILES[0].upper() + FILES[1:].rstrip("."), is_repeated=True),),
        sections=lambda: (policies(), fields(), *legend()),
        formats=FORMATS,
        folder="files",
        example=EXAMPLE,
        body=_score_runs,
    )
