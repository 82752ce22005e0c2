"""Several runs or systems, and results held against what was recorded: `batch`, `compare`, `check`, `verify`."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from cs_score.analysis.comparison import compare as compare_systems
from cs_score.analysis.comparison import first_measure
from cs_score.base.display import one_line
from cs_score.base.documents import json_text
from cs_score.base.errors import InputError, OutputError, UsageError
from cs_score.base.outputs import write_whole
from cs_score.base.records import replace
from cs_score.base.sources import is_pipe, name_of
from cs_score.batch.batch import BatchOptions, BatchResult, run_batch
from cs_score.batch.coldstart import ColdStartPlan
from cs_score.batch.documents import FAILED
from cs_score.batch.evidence import EvidencePlan
from cs_score.batch.leaderboard import WRITERS as BOARD_WRITERS
from cs_score.batch.leaderboard import leaderboard_text
from cs_score.batch.plan import Plan
from cs_score.batch.runs import InputFile, RunFile, find_runs, read_policies
from cs_score.batch.store import planned_batch
from cs_score.cli.core import FORCE, FORMAT, OUTPUT, Command, Line, Option, Parameter, Section, Status
from cs_score.cli.options import (
    ALL,
    ALSO,
    EXAMPLE,
    EXAMPLE_OF_TWO,
    FAMILY,
    FILES,
    INCLUSION,
    INTERVALS,
    KNOWLEDGE_BASE,
    OF_A_BATCH,
    OF_A_CALL,
    POLICY,
    POLICY_SWITCHES,
    PROBLEMS,
    RUN,
    RUNIDS,
    SCORING,
    SECOND,
    TOP,
    defaults_of,
    fields,
    layout_of,
    measure_option,
    options_of,
    own_arguments,
    policies,
    policy_form,
    policy_texts,
    positive_number,
    read_measures,
    read_resampling,
    read_tests,
    task_command,
    top_of,
    whole_number,
)
from cs_score.cli.output import Destination, is_quiet, print_text, remark, with_deltas, write_text, write_to_stream
from cs_score.cli.scoring import FILES_OF_EVIDENCE, GOLD, PREDICTIONS, RunsScored, gold_and_words, sampled, scored_by
from cs_score.cli.verbs import named_by
from cs_score.coldstart.linking import RUN_SUFFIX, kind_of, members
from cs_score.coldstart.options import NamedPolicy
from cs_score.coldstart.queries import is_query_file
from cs_score.coldstart.tab_files import FileKind
from cs_score.measures.registry import find
from cs_score.problems.reports import OPTION
from cs_score.report.documents import page_maker
from cs_score.tables.renderers import tsv
from cs_score.tasks import COLD_START, task_named
from cs_score.verification.checking import Gate, error_text, of_cold_start, of_evidence, read_limit
from cs_score.verification.inputs import NotFoundError

if TYPE_CHECKING:
    from cs_score.batch.coldstart import ColdStartPlan
    from cs_score.batch.runs import InputFile
    from cs_score.verification.checking import Gate, Measured
    from cs_score.verification.verifying import Verdict


# ---- Batches

MOST_JOBS: Final = 4096

SHOWN_ROWS: Final = 10
"""Rows of the leaderboard that are printed."""

MIX: Final = Option("--mix-editions", None, "One leaderboard for runs that follow several editions (see --runs-from)")

BATCH_OPTIONS: Final = (
    Option("--runs-from", "FILE", "File with further runs, one a line; - is standard input"),
    Option("--jobs", "N", "Processes on this machine", "the number of processors"),
    Option("--dask", "ADDRESS", "Compute on the Dask cluster with this scheduler"),
    Option("--ship-inputs", None, "Send inputs to the workers of --dask, which share no storage"),
    *FAMILY,
    Option("--html", None, "Write a page for each run, and index.html over all runs, too"),
    Option("--resume", None, "Keep runs that an earlier batch scored from the same inputs"),
)
_OF_RUNS: Final = (
    *BATCH_OPTIONS,
    MIX,
    Option("--with-json", None, "Write DIR/RUN/out.json for every run, too"),
    POLICY,
    ALSO,
    Option("--pool", "FILE", "Further assessments, after POOL; may be repeated", many=True),
)

# The batch chooses the names of files.
BATCH_SWITCHES: Final = (*OF_A_BATCH, *_OF_RUNS)


class Asked(NamedTuple):
    """What a batch is asked for: words that name runs, files that all of them share, endings of the files of a folder
    that are runs, and the plan of runs that follow another edition."""

    plan: Plan
    runs: Sequence[str]
    shared: Sequence[str]
    endings: Sequence[str]
    following: Callable[[str], ColdStartPlan] | None = None


def _asked_of_runs(line: Line) -> Asked:
    queries = tuple(word for word in line.words if is_query_file(word))
    others = [word for word in line.words if not is_query_file(word)]
    if not queries:
        raise UsageError("Not enough arguments; a query file (*.xml) must be given")
    if not others:
        raise UsageError("Not enough arguments; assessments and runs must be given after the query files")
    found = [word for word in others if _is_pool(word)] or others[:1]
    pool = _pool_files([*found, *line.texts("--pool")])
    lists = [name for name in map(line.switches.get, ("-queries", "-samples")) if name and os.path.isfile(name)]

    def following(edition: str) -> ColdStartPlan:
        return _plan_of_runs(line.without(["--mention-types"]).with_value("--follow", edition), queries, pool)

    runs = [word for word in others if word not in found]
    return Asked(_plan_of_runs(line, queries, pool), runs, (*queries, *pool, *lists), (RUN_SUFFIX,), following)


def _is_pool(word: str) -> bool:
    """Whether a word names assessments, by the first line of the file, or of the first one of a folder."""
    try:
        first = next(iter(members(word)), None)
        return first is not None and first != "-" and not is_pipe(word) and kind_of(first) is FileKind.ASSESSMENTS
    except InputError:  # whoever reads it says so
        return False


def _asked_of_predictions(task: str, line: Line) -> Asked:
    gold, predictions = gold_and_words(line)
    if not predictions and "--runs-from" not in line.switches:
        raise UsageError("a batch needs the gold file and files of predictions: --gold GOLD PREDICTIONS...")
    plan = EvidencePlan(
        task=task,
        gold=_held(gold),
        options=own_arguments(task, line),
        resampling=read_tests(line),
        page=page_maker() if "--html" in line.switches else None,
    )
    return Asked(plan, predictions, (gold,), (".jsonl", ".json"))


def _plan_of_runs(line: Line, queries: tuple[str, ...], pool: Sequence[str]) -> ColdStartPlan:
    defaults = defaults_of(line)
    options, texts = options_of(line, defaults), policy_texts(line, defaults)
    also = read_policies(line.texts(ALSO.long), options, texts)
    name = line.switches.get(POLICY.long) or "given" if also else ""
    if name in (policy.name for policy in also):
        raise UsageError(f"{ALSO.long} {name} is the policy in force already")
    # A single call takes all other switches as well.
    own = {option.long for option in (*_OF_RUNS, PROBLEMS, FORCE, OUTPUT, measure_option(COLD_START))}
    given = line.without((*own, *POLICY_SWITCHES, "-justifications", FORMAT.long)).switches
    return ColdStartPlan(
        queries=tuple(map(_held, queries)),
        pool=tuple(map(_held, pool)),
        options=options,
        policies=(NamedPolicy(name, options.policy, options.justifications, texts), *also),
        layout=layout_of(line),
        with_json="--with-json" in line.switches,
        switches=tuple(word for pair in given.items() for word in pair if word is not None),
        folder=os.getcwd(),
        query_list=_option_file(options.queries),
        samples=_option_file(options.samples),
        resampling=read_tests(line),
        validates="--validate" in line.switches,
        records=PROBLEMS.long in line.switches,
        page=page_maker() if "--html" in line.switches else None,
    )


def _held(path: str) -> InputFile:
    """An input as all runs share it: standard input and pipes can be read only once."""
    given = InputFile(path)
    return given.loaded() if path == "-" or is_pipe(path) else given


def _pool_files(pool: Sequence[str]) -> list[str]:
    """The files of the pool; a folder stands for its members. Raises InputError for a folder without any."""
    for word in pool:
        if not members(word):
            raise InputError(f"no file *{RUN_SUFFIX} in it", file=word, remedy="name the files of the pool")
    return [name_of(member) for word in pool for member in members(word)]


def _option_file(choice: str | None) -> InputFile | None:
    """The file that an option names; None where its value is a list, or there is no such file."""
    return InputFile(choice) if choice is not None and os.path.isfile(choice) else None


def _batch(task: str, line: Line) -> int:
    """Find the runs, score them, print the top of the leaderboard; the exit status.

    Raises CsScoreError where nothing can be scored.
    """
    asked = _asked_of_runs(line) if task == COLD_START else _asked_of_predictions(task, line)
    runs_from, dask, problems = map(line.switches.get, ("--runs-from", "--dask", PROBLEMS.long))
    jobs, ships, out = whole_number(line, "--jobs", MOST_JOBS), "--ship-inputs" in line.switches, line.folder or ""
    if [*asked.shared, *asked.runs, runs_from].count("-") > 1:
        raise UsageError("only one of the files can be standard input")
    measure = wanted = line.switches.get("--measure")
    if wanted is not None and (measure := find(wanted, asked.plan.measures())) is None:
        raise UsageError(f"--measure {wanted}: no such measure; there are {', '.join(asked.plan.measures())}")
    if dask is not None and jobs is not None:
        raise UsageError("--jobs is for this machine; with --dask the workers of the cluster are used")
    if ships and dask is None:
        raise UsageError("--ship-inputs goes with --dask")
    runs, remarks = find_runs(asked.runs, runs_from, asked.endings)
    for text in remarks:
        _remark(text)
    plan, runs = _with_editions(asked.plan, runs, asked.following)
    shared = [*asked.shared, *([] if runs_from is None else [runs_from])]
    with_pages = "--html" in line.switches
    outputs = planned_batch(
        plan, out, runs, shared, tuple(OPTION.outputs(problems)), FORCE.long in line.switches, with_pages=with_pages
    )
    outputs.check()
    outputs.clear()
    for at, run in enumerate(runs):
        if run.file.name == "-" or is_pipe(run.file.name):
            runs[at] = replace(run, file=run.file.loaded())
        elif dask is not None and not ships:
            runs[at] = replace(run, file=run.file.located())
    options = BatchOptions(
        out, measure, "--resume" in line.switches, ships, problems, page_maker() if with_pages else None, jobs, dask,
        None if is_quiet() else sys.stderr, MIX.long in line.switches,
    )  # fmt: skip
    try:
        result = run_batch(plan, runs, options, _remark)
    except KeyboardInterrupt:
        _remark(f"interrupted; the runs in {out} are whole, and the same command with --resume goes on")
        return Status.INTERRUPTED
    board = result.leaderboard
    text = leaderboard_text(board, SHOWN_ROWS) if line.format == "text" else BOARD_WRITERS[line.format](board)
    print_text(text.removesuffix("\n"))
    _remark(_summary(result, out))
    return Status.FAILED if result.failed else Status.DONE


def _with_editions(
    plan: Plan, runs: Sequence[RunFile], following: Callable[[str], ColdStartPlan] | None
) -> tuple[Plan, list[RunFile]]:
    """The plan with those of other editions, and the runs that ask for them. Raises UsageError without editions."""
    own = plan.edition_of(RunFile("", InputFile("")))
    runs = [replace(run, follow="") if run.follow == own else run for run in runs]
    editions = dict.fromkeys(run.follow for run in runs if run.follow)
    if editions and following is None:
        raise UsageError(f"--runs-from: follow={next(iter(editions))} is for Cold Start runs")
    if editions and following is not None:
        plan = replace(plan, editions={name: following(name) for name in editions})
    return plan, runs


def _remark(text: str) -> None:
    with contextlib.suppress(OutputError):
        remark(text)


def _summary(result: BatchResult, out: str) -> str:
    """How many runs were scored, failed, taken from before, and where the rest stands."""
    scored = sum(outcome.state != FAILED for outcome in result.outcomes)
    parts = [f"{scored} scored" if not result.kept else f"{scored} scored ({result.kept} of them before)"]
    if failed := len(result.outcomes) - scored:
        parts.append(f"{failed} failed")
    if with_errors := result.failed - failed:
        parts.append(f"{with_errors} of those scored with errors in the input")
    if result.failed:
        parts[-1] += f" (see {os.path.join(out, 'problems.tsv')})"
    return "; ".join([*parts, f"all ranks in {os.path.join(out, 'leaderboard.tsv')}"])


# ---- Comparisons, limits, recorded results


def comparison_options(task: str) -> tuple[Option, ...]:
    """The options of a comparison in a task."""
    return (
        *INTERVALS,
        *FAMILY,
        measure_option(task),
        Option(
            "--primary",
            "NAME",
            "The measure that decides; all others are exploratory",
            "the headline measure",
            measure_option(task).choices,
        ),
        Option("--common", None, "Compare on the units that all systems have; otherwise they must be the same"),
        Option("--equivalence", "D", "Also test every pair for a difference below D, a number above 0, either way"),
        *([INCLUSION] if task == COLD_START else []),
        SECOND,
        TOP,
        ALL,
        FORCE,
    )


def _compare(name: str, line: Line) -> int:
    """Compare as the command line says. Raises UsageError, InputError where a run cannot be scored or compared."""
    from cs_score.tables.comparison import WRITERS, comparison_screen

    if INCLUSION.long in line.switches and SECOND.long in line.switches:
        raise UsageError(f"{INCLUSION.long} is about one pool, {SECOND.long} about two: give one of them")
    if INCLUSION.long in line.switches:
        return sampled(line)
    if SECOND.long in line.switches:
        from cs_score.cli.statistics import compare_assessors

        return compare_assessors(name, line)
    resampling, measures = read_tests(line, always=True), read_measures(line)
    given = named_by(name, line, fewest=2, most=None)
    found = compare_systems(
        task_named(name), given.several(), resampling, measures=measures, primary=line.switches.get("--primary"),
        common="--common" in line.switches, equivalence=positive_number(line, "--equivalence"),
    )  # fmt: skip
    if line.format not in ("json", "tsv") and not measures and ALL.long not in line.switches:
        found = first_measure(found)
    is_screen = line.format == "text" and ALL.long not in line.switches
    text = comparison_screen(found, top_of(line) or SHOWN_ROWS) if is_screen else WRITERS[line.format](found)
    print_text(text.removesuffix("\n"), with_deltas if line.format == "text" else str)
    return Status.DONE


CHECK_FORMATS: Final = ("text", "json", "tsv", "junit", "github")


_OF_TEST: Final = tuple(option for option in INTERVALS if option.long != "--interval")


STATUSES: Final[Section] = (
    "Exit status",
    "0: every limit is kept. 3: one is not. 1: an input cannot be scored, or the baseline cannot be compared.",
)


def gate_options(task: str) -> tuple[Option, ...]:
    """The options of a check in a task."""
    measures = measure_option(task).choices
    return (
        Option("--baseline", "FILE.json", "What to compare with: an earlier result, as -o FILE.json wrote it"),
        Option(
            "--max-drop",
            "MEASURE=N",
            "Largest drop of a measure or pattern below the baseline; may be repeated",
            "0 for the main measures, where no limit is given",
            measures,
            many=True,
        ),
        Option(
            "--min",
            "MEASURE=N",
            "Minimum of a measure, or of those that match a pattern; may be repeated",
            None,
            measures,
            many=True,
        ),
        Option("--significant", None, "A drop counts only if the paired test calls it significant"),
        Option(
            "--sequential",
            "[FILE.json]",
            "With --significant: one of many checks against this test set, which all together err with the probability "
            "of one; FILE has the earlier ones and is written anew, without it BASELINE.checks.json",
        ),
        Option("--any-baseline", None, "Accept a baseline of other gold or other options"),
        FORCE,
        *_OF_TEST,
    )


def read_gate(line: Line) -> Gate:
    """What the options ask for. Raises UsageError for values that mean nothing."""
    for option in ("--max-drop", "--significant", "--any-baseline"):
        if option in line.switches and "--baseline" not in line.switches:
            raise UsageError(f"{option} is about a baseline: give --baseline FILE, too")
    resampling = read_resampling(line, always=True)
    for option in (each.long for each in _OF_TEST):
        if option in line.switches and "--significant" not in line.switches:
            raise UsageError(f"{option} is about the test: give --significant, too")
    if "--sequential" in line.switches and "--significant" not in line.switches:
        raise UsageError("--sequential is about the test: give --significant, too")
    return Gate(
        tuple(read_limit("--min", text) for text in line.texts("--min")),
        tuple(read_limit("--max-drop", text) for text in line.texts("--max-drop")),
        resampling if "--significant" in line.switches else None,
        "--any-baseline" in line.switches,
    )


def judge(gate: Gate, run: Measured, line: Line) -> int:
    """Hold a run against the limits and print the result; the exit status. Raises UsageError and InputError."""
    from cs_score.verification.checking import WRITERS, checks_in, of_record

    path, checks = line.switches.get("--baseline"), line.switches.get("--sequential")
    baseline = None if path is None else of_record(path, run.name)
    if checks is not None and gate.significance is not None:
        checks = f"{path}.checks.json" if checks == "-" else checks
        gate = replace(gate, earlier=checks_in(checks, run, gate.significance.level))
    judgement = gate.judge(run, baseline)
    if checks is not None and baseline is not None:
        write_whole(checks, [json_text(gate.after(judgement, run, baseline)).encode()])
    print_text(WRITERS[line.format](judgement).removesuffix("\n"))
    return 0 if judgement.passed else Status.NOT_KEPT


# They are about files that are not written here.
_LEFT_OUT: Final = {"-fields", "-tabs", "-samples", PROBLEMS.long, FORCE.long, *(option.long for option in INTERVALS)}


def _check(task: str, line: Line) -> int:
    """Score and judge; the exit status. Raises CsScoreError where that cannot be done."""
    gate = read_gate(line)
    with scored_by(task, line.without(option.long for option in _OF_TEST)) as scored:
        run = of_cold_start(scored.result) if isinstance(scored, RunsScored) else of_evidence(scored.result)
    return judge(gate, run, line)


SHOWN_VALUES: Final = 20

"""Values that differ, of one file, that are printed."""


def _verify(line: Line) -> int:
    """Verify, file by file; the exit status. Raises CsScoreError where something cannot be verified."""
    from cs_score.verification.verifying import VERIFIED, verification, verify

    result, *files = line.words
    if line.format != "text":
        try:
            found = verification(result, files)
        except NotFoundError as error:
            raise InputError(str(error), file=result) from None
        as_json = line.format == "json"
        blocks = [json_text(found).encode()] if as_json else tsv(VERIFIED.table(found))
        write_to_stream(Destination("stdout"), blocks)
        return Status.DONE if found.reproduced else Status.NOT_KEPT
    status = 0
    try:
        for verdict in verify(result, files):
            print_text("\n".join(_lines(verdict)))
            status = status if verdict.is_reproduced else Status.NOT_KEPT
    except NotFoundError as error:
        for text in error.lines:
            write_text("stderr", f"cs-score: {one_line(f'{result}: {text}')}\n")
        return 1
    return status


def _lines(verdict: Verdict) -> list[str]:
    found = verdict.differences
    lines = [f"{verdict.file}: {difference}" for difference in found[:SHOWN_VALUES]]
    if len(found) > SHOWN_VALUES:
        lines.append(f"{verdict.file}: ... and {len(found) - SHOWN_VALUES} more")
    end = f"differs from its record in {_counted(len(found), 'value')}" if found else "reproduced"
    lines.append(f"{verdict.file}: {end} ({_counted(verdict.compared, verdict.unit)} compared)")
    lines += [f"{verdict.file}: note: {note}" for note in verdict.notes]
    return [one_line(text) for text in lines]


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def batch(task: str) -> Command:
    """The command of a task."""
    is_cold_start = task == COLD_START
    files = (
        "Query files (*.xml), the assessments, and the runs. A run is a file, a folder (its files *.tab.txt, perhaps "
        "compressed) or a quoted pattern"
    )
    meaning = "The files of a run are DIR/RUN/out.sf and so on, with several policies DIR/POLICY/RUN/out.sf."
    options = BATCH_SWITCHES if is_cold_start else (GOLD, *BATCH_OPTIONS, FORCE, *INTERVALS)
    return task_command(
        "batch", task, _batch, (*options, measure_option(task)),
        files=files if is_cold_start else "Files, folders or quoted patterns",
        of_runs=lambda: (policy_form(), policies(), ("Files", meaning), fields()),
        required=(OUTPUT.long,), formats=("text", "json", "tsv"), folder="files",
        summary=f"Score many files of {task} predictions against one gold file",
        example=f"-o scored {EXAMPLE_OF_TWO}",
    )  # fmt: skip


def compare(task: str) -> Command:
    """The command of a task."""
    is_cold_start = task == COLD_START
    files = (
        "Query files (*.xml, perhaps compressed), assessment files, and two or more runs, in any order. Each run is "
        "scored by itself. A folder stands for its files *.tab.txt"
    )
    options = (*SCORING, RUNIDS, RUN, POLICY, KNOWLEDGE_BASE) if is_cold_start else (GOLD,)
    return task_command(
        "compare", task, _compare, (*options, *comparison_options(task)),
        files=files if is_cold_start else "One file for each system", is_file_needed=False,
        of_runs=lambda: (policies(),), formats=("text", "json", "tsv", "markdown", "latex"),
        summary=f"Compare {task} systems on the same gold file", example=EXAMPLE_OF_TWO,
    )  # fmt: skip


def check(task: str) -> Command:
    """The command of a task."""
    is_cold_start = task == COLD_START
    scoring = (*(option for option in OF_A_CALL if option.long not in _LEFT_OUT), RUN)
    return task_command(
        "check", task, _check, (*(scoring if is_cold_start else (GOLD, PREDICTIONS)), *gate_options(task)),
        files=f"{FILES[0].upper()}{FILES[1:]}" if is_cold_start else FILES_OF_EVIDENCE.meaning,
        sections=(STATUSES,), of_runs=lambda: (policies(),), formats=CHECK_FORMATS, failure=error_text,
        summary=f"Hold {task} predictions against limits and a baseline", example=f"--min SF-AP=0.4 {EXAMPLE}",
    )  # fmt: skip


def verify() -> Command:
    """Whether a recorded result is reproduced."""
    return Command(
        "verify",
        (FORCE,),
        (
            Parameter(
                "result",
                "A result as JSON: of the scorer, of cs-score score, of a task of evidence, leaderboard.json, "
                "batch.json or signature.json of a batch; or the folder of a batch, for all of these and its tables",
            ),
            Parameter(
                "files",
                "Files and folders in which inputs are looked for by their contents; what is not among them is looked "
                "for where it was",
                is_optional=True,
                is_repeated=True,
            ),
        ),
        sections=lambda: (
            (
                "Exit status",
                "0: reproduced; 3: a value differs; 1: an input is missing or changed, or the file is no result.",
            ),
        ),
        formats=("text", "json", "tsv"),
        body=_verify,
    )
