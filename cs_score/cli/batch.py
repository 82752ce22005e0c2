"""`cs-score batch`: many runs or systems against one gold standard."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from cs_score.base.errors import InputError, OutputError, UsageError
from cs_score.base.records import asdict, replace
from cs_score.base.runtime import Late
from cs_score.base.sources import is_pipe, name_of
from cs_score.batch.coldstart import ColdStartPlan, cold_start_plan, policies_of_batch
from cs_score.batch.documents import FAILED, OK, WITH_ERRORS, Outcome
from cs_score.batch.execution import BatchResult, run_batch
from cs_score.batch.leaderboard import WRITERS as BOARD_WRITERS
from cs_score.batch.leaderboard import leaderboard_text
from cs_score.batch.plan import BatchOptions, EvidencePlan, InputFile, Plan, RunFile, find_runs, runs_of_systems
from cs_score.cli import options
from cs_score.cli.core import Line, Option, Status
from cs_score.cli.inputs import gold_if_any
from cs_score.cli.options import INTERVALS, Scoring, own_arguments, read_resampling, verb, whole_number
from cs_score.cli.output import print_text, remark, show_progress, shows_progress
from cs_score.cli.runs import say_policy
from cs_score.coldstart.layouts import FileKind
from cs_score.coldstart.linking import RUN_SUFFIX, kind_of, members
from cs_score.coldstart.queries import is_query_file
from cs_score.measures.registry import find
from cs_score.tasks import COLD_START, mode_named

if TYPE_CHECKING:
    from cs_score.report import documents as pages
else:
    pages = Late("cs_score.report.documents")  # memory that a batch without pages keeps

MOST_JOBS: Final = 4096

_OWN: Final = (
    Option("--dask ADDRESS", "Compute on the Dask cluster with this scheduler"),
    Option("--html", "Write a page for each run, and index.html over all runs, too"),
    Option("--mix-editions", "One leaderboard for runs that follow several editions (see --runs-from)"),
    Option("--pool FILE...", "Further assessments; may be repeated"),
    Option("--resume", "Keep runs that an earlier batch scored from the same inputs"),
    Option("--runs-from FILE", "File with further runs, one a line; - is standard input"),
    Option("--ship-inputs", "Send inputs to the workers of --dask, which share no storage"),
    Option("--with-json", "Write DIR/RUN/out.json for every run, too"),
)
_OF_BATCHES: Final = f"--runs-from --jobs --dask --ship-inputs {options.FAMILY} --html --resume"
_WRITTEN: Final = "The files of a run are DIR/RUN/out.sf and so on, with several policies DIR/POLICY/RUN/out.sf."
_OF_RUNS: Final = f"{_OF_BATCHES} --mix-editions --with-json --run --policy --also-policy --pool"


def _plan_and_runs(line: Line) -> tuple[Plan, Sequence[str]]:
    """The plan of Cold Start runs, and the words that name runs."""
    queries = [word for word in line.words if is_query_file(word)]
    others = [word for word in line.words if not is_query_file(word)]
    if not queries:
        raise UsageError("Not enough arguments; a query file (*.xml) must be given")
    if not others:
        raise UsageError("Not enough arguments; assessments and runs must be given after the query files")
    found = [word for word in others if _is_pool(word)] or others[:1]
    words = [*found, *line.texts("--pool")]
    for word in words:
        if not members(word):
            raise InputError(f"no file *{RUN_SUFFIX} in it", file=word, remedy="name the files of the pool")
    pool = [name_of(member) for word in words for member in members(word)]
    return _plan_of_runs(line, queries, pool), [word for word in others if word not in found]


def _is_pool(word: str) -> bool:
    """Whether a word names assessments, by the first line of the file, or of the first one of a folder."""
    try:
        first = next(iter(members(word)), None)
        return first is not None and first != "-" and not is_pipe(word) and kind_of(first) is FileKind.ASSESSMENTS
    except InputError:  # whoever reads it says so
        return False


def _plan_of_runs(line: Line, queries: Sequence[str], pool: Sequence[str]) -> ColdStartPlan:
    asked = Scoring(line)
    # A single call takes all other switches as well.
    own = f"{_OF_RUNS} --problems --force --output --measure --format -justifications".split()
    given = line.with_changes(without=(*own, *options.POLICY_SWITCHES)).switches
    policies = policies_of_batch(
        asked.options, asked.policy_texts, line.get("--policy") or "given", line.texts("--also-policy")
    )
    return cold_start_plan(
        queries,
        pool,
        asked.options,
        policies,
        layout=asked.layout,
        with_json="--with-json" in line,
        switches=tuple(word for pair in given.items() for word in pair if word is not None),
        resampling=read_resampling(line, with_family=True),
        validates="--validate" in line,
        records="--problems" in line,
        page=pages.page_maker() if "--html" in line else None,
    )


def _plan_and_predictions(task: str, line: Line) -> tuple[Plan, Sequence[str]]:
    """The plan of a task of evidence, and the words that name files of predictions."""
    mode = mode_named(task)
    gold, predictions = gold_if_any(mode, line, is_one=False)
    if not predictions and "--runs-from" not in line:
        raise UsageError("a batch needs the gold file and files of predictions: --gold GOLD PREDICTIONS...")
    plan = EvidencePlan(
        task=task,
        gold=None if gold is None else InputFile.of(gold),
        # A worker elsewhere may not see a file that an option names.
        options=asdict(mode.with_options(_own_of_batch(task, line)).chosen),
        resampling=read_resampling(line, with_family=True),
        page=pages.page_maker() if "--html" in line else None,
    )
    return plan, predictions


@verb(
    (f"{options.OF_A_BATCH} {_OF_RUNS} --measure", f"--gold {_OF_BATCHES} --force {INTERVALS} --measure"),
    "text json tsv",
    files=(
        "Query files (*.xml), the assessments, and the runs. A run is a file, a folder (its files *.tab.txt, perhaps "
        "compressed) or a quoted pattern",
        "Files, folders or quoted patterns",
    ),
    own=_OWN,
    of_runs=(options.POLICY_FORM, options.POLICIES, ("Files", _WRITTEN), options.FIELDS),
    folder="files",
    summary="Score many files of {task} predictions against one gold file",
    needs_output=True,
    example="-o scored $TWO",
)
def batch(task: str, line: Line) -> int:
    """Find the runs, score them, print the top of the leaderboard; the exit status.

    Raises CsScoreError where nothing can be scored.
    """
    run_ids = line.texts("--run")
    if task == COLD_START and run_ids:
        line = line.with_changes({"-runids": ":".join(run_ids)}, without=["--run"])
    plan, words = _plan_and_runs(line) if task == COLD_START else _plan_and_predictions(task, line)
    runs_from, dask, measure = map(line.get, ("--runs-from", "--dask", "--measure"))
    asked = BatchOptions(
        line.folder or "",
        None if measure is None else find(measure, plan.measures()),
        resume="--resume" in line,
        force="--force" in line,
        jobs=whole_number(line, "--jobs", MOST_JOBS),
        dask=dask,
        ships="--ship-inputs" in line,
        problems=line.get("--problems"),
        runs_from=runs_from,
        progress=show_progress if shows_progress() else _remark,
        every=0.1 if shows_progress() else 60.0,
        mix_editions="--mix-editions" in line,
    )
    if [*(file.name for file in plan.inputs), *words, runs_from].count("-") > 1:
        raise UsageError("only one of the files can be standard input")
    if measure is not None and asked.measure is None:
        raise UsageError(f"--measure {measure}: no such measure; there are {', '.join(plan.measures())}")
    if dask is not None and asked.jobs is not None:
        raise UsageError("--jobs is for this machine; with --dask the workers of the cluster are used")
    if asked.ships and dask is None:
        raise UsageError("--ship-inputs goes with --dask")
    runs, remarks = find_runs(words, runs_from, _endings_of(task))
    for text in remarks:
        _remark(text)
    if task != COLD_START:
        runs = runs_of_systems(mode_named(task).with_options(_own_of_batch(task, line)), runs, run_ids)
    plan, runs = _with_editions(plan, runs, line)
    try:
        result = run_batch(plan, runs, asked, _remark)
    except KeyboardInterrupt:
        _remark(f"interrupted; the runs in {asked.out} are whole, and the same command with --resume goes on")
        return Status.INTERRUPTED
    board = result.leaderboard
    print_text(leaderboard_text(board) if line.format == "text" else BOARD_WRITERS[line.format](board))
    missing = _runs_not_scored(line, plan, result) if task == COLD_START else []
    with contextlib.suppress(OutputError):
        if task == COLD_START:
            say_policy(Scoring(line), _duplicate_count(plan, result))
        for run_id in missing:
            remark(f"no run called {run_id} could be scored")
        remark(_summary(result, asked.out))
    has_failed = bool(missing) or any(outcome.state != OK for outcome in result.outcomes)
    return Status.FAILED if has_failed else Status.DONE


def _runs_not_scored(line: Line, plan: Plan, result: BatchResult) -> list[str]:
    """Return the runs named by `-runids` that were not scored under the first policy, sorted."""
    scored = {run.run_id for outcome in _outcomes_of_first_policy(plan, result) for run in outcome.runs}
    return sorted(set(Scoring(line).run_ids or ()) - scored)


def _duplicate_count(plan: Plan, result: BatchResult) -> int:
    """Return how many responses of all runs are duplicates under the first policy."""
    return sum([run.duplicates or 0 for outcome in _outcomes_of_first_policy(plan, result) for run in outcome.runs])


def _outcomes_of_first_policy(plan: Plan, result: BatchResult) -> list[Outcome]:
    """Return what became of each run under the first policy of a batch."""
    return [outcome for outcome in result.outcomes if outcome.policy == plan.policy_names[0]]


def _own_of_batch(task: str, line: Line) -> dict[str, Any]:
    """Return the task's own options; the one that chooses a system is left to the runs of the batch."""
    arguments = own_arguments(task, line)
    option = mode_named(task).option_of_systems
    return {**arguments, option: ""} if option else arguments


def _endings_of(task: str) -> Sequence[str]:
    """Return how the files of runs in a folder end."""
    return (RUN_SUFFIX,) if task == COLD_START else mode_named(task).endings


def _with_editions(plan: Plan, runs: Sequence[RunFile], line: Line) -> tuple[Plan, list[RunFile]]:
    """The plan with those of other editions, and the runs that ask for them. Raises UsageError without editions."""
    runs = [replace(run, follow="") if run.follow == plan.edition else run for run in runs]
    editions = dict.fromkeys(run.follow for run in runs if run.follow)
    if not editions:
        return plan, runs
    if not isinstance(plan, ColdStartPlan):
        raise UsageError(f"--runs-from: follow={next(iter(editions))} is for Cold Start runs")
    others = {}
    for name in editions:
        following = _plan_of_runs(line.with_changes({"--follow": name}, without=["--mention-types"]), (), ())
        others[name] = replace(following, queries=plan.queries, pool=plan.pool)
    return replace(plan, editions=others), runs


def _remark(text: str) -> None:
    with contextlib.suppress(OutputError):
        remark(text)


def _summary(result: BatchResult, out: str) -> str:
    """How many runs were scored, failed, taken from before, and where the rest stands."""
    states = Counter(outcome.state for outcome in result.outcomes)
    parts = [f"{states.total() - states[FAILED]} scored{f' ({result.kept} of them before)' if result.kept else ''}"]
    parts += [f"{states[FAILED]} failed"] if states[FAILED] else []
    parts += [f"{states[WITH_ERRORS]} of those scored with errors in the input"] if states[WITH_ERRORS] else []
    if len(parts) > 1:
        parts[-1] += f" (see {os.path.join(out, 'problems.tsv')})"
    return "; ".join([*parts, f"all ranks in {os.path.join(out, 'leaderboard.tsv')}"])
