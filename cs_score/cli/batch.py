"""`cs-score batch`: many runs or systems against one gold standard."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from cs_score.base.errors import InputError, OutputError, UsageError
from cs_score.base.records import replace
from cs_score.base.runtime import Late
from cs_score.base.sources import is_pipe, name_of
from cs_score.batch.batch import BatchOptions, BatchResult, run_batch
from cs_score.batch.coldstart import ColdStartPlan
from cs_score.batch.documents import FAILED
from cs_score.batch.plan import EvidencePlan, Plan
from cs_score.batch.runs import InputFile, RunFile, find_runs, read_policies
from cs_score.batch.store import planned_batch
from cs_score.batch.tables import WRITERS as BOARD_WRITERS
from cs_score.batch.tables import leaderboard_text
from cs_score.cli import options
from cs_score.cli.core import Line, Option, Status
from cs_score.cli.inputs import gold_and_words, say_policy
from cs_score.cli.options import INTERVALS, Scoring, own_arguments, read_resampling, verb, whole_number
from cs_score.cli.output import is_quiet, print_text, remark
from cs_score.coldstart.linking import RUN_SUFFIX, kind_of, members
from cs_score.coldstart.options import NamedPolicy, listed
from cs_score.coldstart.queries import is_query_file
from cs_score.coldstart.tab_files import FileKind
from cs_score.measures.registry import find
from cs_score.problems.reports import OPTION
from cs_score.tasks import COLD_START

if TYPE_CHECKING:
    from cs_score.report import documents as pages
else:
    pages = Late("cs_score.report.documents")  # memory that a batch without pages keeps

MOST_JOBS: Final = 4096

SHOWN_ROWS: Final = 10
"""Rows of the leaderboard that are printed."""

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
    words = [*found, *line.texts("--pool")]
    for word in words:
        if not members(word):
            raise InputError(f"no file *{RUN_SUFFIX} in it", file=word, remedy="name the files of the pool")
    pool = [name_of(member) for word in words for member in members(word)]
    lists = [name for name in map(line.get, ("-queries", "-samples")) if name and os.path.isfile(name)]

    def following(edition: str) -> ColdStartPlan:
        return _plan_of_runs(line.but({"--follow": edition}, without=["--mention-types"]), queries, pool)

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
    if not predictions and "--runs-from" not in line:
        raise UsageError("a batch needs the gold file and files of predictions: --gold GOLD PREDICTIONS...")
    plan = EvidencePlan(
        task=task,
        gold=InputFile(gold).held(),
        options=own_arguments(task, line),
        resampling=read_resampling(line, with_family=True),
        page=pages.page_maker() if "--html" in line else None,
    )
    return Asked(plan, predictions, (gold,), (".jsonl", ".json"))


def _plan_of_runs(line: Line, queries: tuple[str, ...], pool: Sequence[str]) -> ColdStartPlan:
    asked = Scoring(line)
    chosen, texts = asked.options, asked.policy_texts
    also = read_policies(line.texts("--also-policy"), chosen, texts)
    name = line.get("--policy") or "given" if also else ""
    if name in (policy.name for policy in also):
        raise UsageError(f"--also-policy {name} is the policy in force already")
    # A single call takes all other switches as well.
    own = f"{_OF_RUNS} --problems --force --output --measure --format -justifications".split()
    given = line.but(without=(*own, *options.POLICY_SWITCHES)).switches
    return ColdStartPlan(
        queries=tuple(InputFile(name).held() for name in queries),
        pool=tuple(InputFile(name).held() for name in pool),
        options=chosen,
        policies=(NamedPolicy(name, chosen.policy, chosen.justifications, texts), *also),
        layout=asked.layout,
        with_json="--with-json" in line,
        switches=tuple(word for pair in given.items() for word in pair if word is not None),
        folder=os.getcwd(),
        query_list=InputFile.of_option(chosen.queries),
        samples=InputFile.of_option(chosen.samples),
        resampling=read_resampling(line, with_family=True),
        validates="--validate" in line,
        records="--problems" in line,
        page=pages.page_maker() if "--html" in line else None,
    )


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
    if named := line.texts("--run"):
        line = line.but({"-runids": ":".join(named)}, without=["--run"])
    asked = _asked_of_runs(line) if task == COLD_START else _asked_of_predictions(task, line)
    runs_from, dask, problems = map(line.get, ("--runs-from", "--dask", "--problems"))
    jobs, ships, out = whole_number(line, "--jobs", MOST_JOBS), "--ship-inputs" in line, line.folder or ""
    if [*asked.shared, *asked.runs, runs_from].count("-") > 1:
        raise UsageError("only one of the files can be standard input")
    measure = wanted = line.get("--measure")
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
    with_pages = "--html" in line
    reports = tuple(OPTION.outputs(problems))
    outputs = planned_batch(plan, out, runs, shared, reports, "--force" in line, with_pages=with_pages)
    outputs.check()
    outputs.clear()
    is_elsewhere = dask is not None and not ships
    files = (run.file.held() for run in runs)
    runs = [replace(run, file=file.located() if is_elsewhere else file) for run, file in zip(runs, files)]
    settings = BatchOptions(
        out, measure, "--resume" in line, ships, problems, pages.page_maker() if with_pages else None, jobs, dask,
        None if is_quiet() else sys.stderr, "--mix-editions" in line,
    )  # fmt: skip
    try:
        result = run_batch(plan, runs, settings, _remark)
    except KeyboardInterrupt:
        _remark(f"interrupted; the runs in {out} are whole, and the same command with --resume goes on")
        return Status.INTERRUPTED
    board = result.leaderboard
    text = leaderboard_text(board, SHOWN_ROWS) if line.format == "text" else BOARD_WRITERS[line.format](board)
    print_text(text)
    first = plan.policy_names()[0]
    runs_scored = [run for outcome in result.outcomes if outcome.policy == first for run in outcome.runs]
    missing = {*listed(line.text("-runids", ""))} - {run.run_id for run in runs_scored}
    with contextlib.suppress(OutputError):
        say_policy(Scoring(line), sum(run.duplicates or 0 for run in runs_scored))
        for run_id in sorted(missing):
            remark(f"no run called {run_id} could be scored")
        remark(_summary(result, out))
    return Status.FAILED if result.failed or missing else Status.DONE


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
