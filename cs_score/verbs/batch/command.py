"""The command `cs-score batch`, which scores many runs or systems against one gold standard. The words of its command
line name gold (in Cold Start query files and assessments) and the runs. A *plan* is gold with the options of scoring.
An *edition* is a version of the rules of the scorer.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from cs_score.base.errors import InputError, OutputError, UsageError
from cs_score.base.records import asdict, replace
from cs_score.base.runtime import Late
from cs_score.base.sources import is_pipe, name_of
from cs_score.cli import run_options
from cs_score.cli import shared_options as options
from cs_score.cli.core import CommandLine, Option, Status
from cs_score.cli.output import print_text, remark, show_progress, shows_progress
from cs_score.cli.predictions import find_gold_and_predictions
from cs_score.cli.run_inputs import remark_on_duplicates
from cs_score.cli.run_options import Scoring
from cs_score.cli.shared_options import INTERVAL_OPTIONS, read_test_settings, whole_number
from cs_score.cli.task_options import option_values_of_task
from cs_score.cli.verb import Verb, VerbUsage
from cs_score.coldstart.file_columns import FileKind
from cs_score.coldstart.linking import RUN_SUFFIX, expand_folder, kind_of
from cs_score.coldstart.queries import is_query_file
from cs_score.measures import find_name
from cs_score.tasks import COLD_START, mode_named
from cs_score.verbs.batch.batch_documents import FAILED, OK, WITH_ERRORS, Outcome, State
from cs_score.verbs.batch.cold_start_plan import ColdStartPlan, cold_start_plan, policies_of_batch
from cs_score.verbs.batch.evidence_plan import EvidencePlan, runs_of_systems
from cs_score.verbs.batch.execution import BatchResult, run_batch
from cs_score.verbs.batch.input_files import BatchRunFile, InputFile, find_runs
from cs_score.verbs.batch.leaderboard import WRITERS as BOARD_WRITERS
from cs_score.verbs.batch.leaderboard import leaderboard_text
from cs_score.verbs.batch.plan import BatchOptions, Plan

if TYPE_CHECKING:
    from cs_score.evidence.mode import Mode
    from cs_score.pages import making as pages
else:
    pages = Late("cs_score.pages.making")  # a batch without pages does not need the memory

MOST_JOBS: Final = 4096

_OWN_OPTIONS: Final = (
    Option("--dask ADDRESS", "Compute on the Dask cluster with this scheduler"),
    Option("--html", "Write a page for each run, and index.html over all runs, too"),
    Option("--mix-editions", "One leaderboard for runs that follow several editions (see --runs-from)"),
    Option("--pool FILE...", "Further assessments; may be repeated"),
    Option("--resume", "Keep runs that an earlier batch scored from the same inputs"),
    Option("--runs-from FILE", "File with further runs, one a line; - is standard input"),
    Option("--ship-inputs", "Send inputs to the workers of --dask, which share no storage"),
    Option("--with-json", "Write DIR/RUN/out.json for every run, too"),
)
_OPTIONS_FOR_ALL_TASKS: Final = f"--runs-from --jobs --dask --ship-inputs {options.TEST_OPTIONS} --html --resume"
_ABOUT_FILES: Final = "The files of a run are DIR/RUN/out.sf and so on, with several policies DIR/POLICY/RUN/out.sf."
_OPTIONS_FOR_RUNS: Final = f"{_OPTIONS_FOR_ALL_TASKS} --mix-editions --with-json --run --policy --also-policy --pool"


class _BatchInputs(NamedTuple):
    """What a command line asks for: the plan of a batch (gold and options), and the words that name the runs."""

    plan: Plan
    run_words: Sequence[str]


def _inputs_of_runs(command_line: CommandLine) -> _BatchInputs:
    """Return the plan of a batch of Cold Start runs, and the words that name the runs.

    The words of the command line are query files, assessments and runs. Raises UsageError if queries or assessments are
    missing, and InputError for a folder without files.
    """
    queries = [word for word in command_line.positional_words if is_query_file(word)]
    other_words = [word for word in command_line.positional_words if not is_query_file(word)]
    if not queries:
        raise UsageError("Not enough arguments; a query file (*.xml) must be given")
    if not other_words:
        raise UsageError("Not enough arguments; assessments and runs must be given after the query files")
    pool_words = _pool_words(other_words)  # recognised by the first lines of their files
    run_words = [word for word in other_words if word not in pool_words]
    pool = _files_of_pool(pool_words + command_line.texts("--pool"))
    return _BatchInputs(_plan_of_runs(command_line, queries, pool), run_words)


def _pool_words(words: Sequence[str]) -> list[str]:
    """Return the words that name assessments; if none is recognised as such, the first word is taken for them."""
    pool_words = [word for word in words if _is_pool(word)]
    return pool_words or [words[0]]


def _files_of_pool(words: Iterable[str]) -> list[str]:
    """Return the files of assessments among words that name files and folders.

    Raises InputError for a folder without a file of assessments.
    """
    files: list[str] = []
    for word in words:
        files_of_word = expand_folder(word)
        if not files_of_word:
            raise InputError(f"no file *{RUN_SUFFIX} in it", file=word, remedy="name the files of the pool")
        files.extend(name_of(file) for file in files_of_word)
    return files


def _is_pool(word: str) -> bool:
    """Return whether a word names a file of assessments, or a folder whose first file is one.

    Assessments are recognised by their first line. Standard input and pipes can be read only once, so they are not
    opened and never count as assessments.
    """
    try:
        files = expand_folder(word)
        if not files:
            return False
        first_file = files[0]
        # Standard input is written as "-". A pipe is always named by a word of the command line, never in a folder.
        is_read_once = first_file == "-" or is_pipe(word)
        if is_read_once:
            return False
        return kind_of(first_file) is FileKind.ASSESSMENTS
    except InputError:  # the error is reported when the file is read as a run
        return False


def _plan_of_runs(command_line: CommandLine, queries: Sequence[str], pool: Sequence[str]) -> ColdStartPlan:
    """Return the plan for scoring runs against queries and a pool with the options of a command line.

    Raises UsageError for impossible options, InputError if a pipe cannot be read.
    """
    scoring = Scoring(command_line)
    policy_name = command_line.get("--policy") or "given"  # "given" by single options or by default
    further_policies = command_line.texts("--also-policy")
    policies = policies_of_batch(scoring.options, scoring.policy_texts, policy_name, further_policies)
    return cold_start_plan(
        queries,
        pool,
        scoring.options,
        policies,
        layout=scoring.layout,
        with_json="--with-json" in command_line,
        switches=_switches_of_single_call(command_line),
        resampling=read_test_settings(command_line),
        validates="--validate" in command_line,
        has_problem_details="--problems" in command_line,
        make_page=pages.page_maker() if "--html" in command_line else None,
    )


def _switches_of_single_call(command_line: CommandLine) -> tuple[str, ...]:
    """Return the words with which a call of `cs-score` would score a single run as the batch does.

    They are the switches of the command line with their values, such as `("-expand", "ISLE26")`. Options that only
    batches have are left out. Policies are left out, too, because the record of each run adds the words of its own
    policy.
    """
    options_of_batches = _OPTIONS_FOR_RUNS.split()
    # These are options of many commands that a call of the scorer for one run does not need.
    options_of_batches += ["--problems", "--force", "--output", "--measure", "--format"]
    # The limits on justifications belong to a policy, too.
    options_of_policies = ["-justifications", *run_options.POLICY_SWITCHES]
    line_of_single_call = command_line.with_changes(without=options_of_batches + options_of_policies)
    words = []
    for switch, value in line_of_single_call.value_by_option.items():
        words.append(switch)
        if value is not None:
            words.append(value)
    return tuple(words)


def _inputs_of_predictions(task: str, command_line: CommandLine) -> _BatchInputs:
    """Return the plan of a batch of predictions, and the words that name files of predictions.

    Raises UsageError if gold or predictions are missing.
    """
    gold, predictions = find_gold_and_predictions(mode_named(task), command_line, is_single_file=False)
    if not predictions and "--runs-from" not in command_line:
        raise UsageError("a batch needs the gold file and files of predictions: --gold GOLD PREDICTIONS...")
    # If an option names a file, making the mode reads it: the plan has its contents, since a worker on another machine
    # may not find the file.
    options_of_mode = _mode_of_batch(task, command_line).chosen_options
    plan = EvidencePlan(
        task=task,
        gold=None if gold is None else InputFile.of(gold),
        options=asdict(options_of_mode),
        resampling=read_test_settings(command_line),
        make_page=pages.page_maker() if "--html" in command_line else None,
    )
    return _BatchInputs(plan, predictions)


def _mode_of_batch(task: str, command_line: CommandLine) -> Mode:
    """Return the mode of an evidence task (how it reads and scores files) with the options of a command line.

    The option that chooses one of the systems in a file is empty, because a batch makes a run of each system.
    """
    mode = mode_named(task)
    arguments = option_values_of_task(task, command_line)
    if mode.system_option_name:
        arguments[mode.system_option_name] = ""
    return mode.with_options(arguments)


def _usage_for_runs() -> VerbUsage:
    """Return the usage of the command for Cold Start runs, as shown in the help: options, files and an example."""
    return VerbUsage(
        options=f"{run_options.OPTIONS_OF_BATCHES} {_OPTIONS_FOR_RUNS} --measure",
        formats="text json tsv",
        files=(
            "Query files (*.xml), the assessments, and the runs. A run is a file, a folder (its files *.tab.txt, "
            "perhaps compressed) or a quoted pattern"
        ),
        sections=(run_options.POLICY_FORM, run_options.POLICIES, ("Files", _ABOUT_FILES), run_options.FIELDS),
        example="-o scored $TWO",  # the help replaces $TWO with two sample runs
        folder_format="files",  # -o names a folder in any format
    )


BATCH_VERB: Final = Verb(
    usage_for_runs=_usage_for_runs,
    usage_for_evidence=VerbUsage(
        options=f"--gold {_OPTIONS_FOR_ALL_TASKS} --force {INTERVAL_OPTIONS} --measure",
        formats="text json tsv",
        files="Files, folders or quoted patterns",
        example="-o scored $TWO",
        folder_format="files",
    ),
    own_options=_OWN_OPTIONS,
    summary="Score many files of {task} predictions against one gold file",
    needs_output=True,
)


class _BatchCall(NamedTuple):
    """A call of the command: the plan (gold and options), the runs, and the options that change no scores."""

    plan: Plan
    runs: Sequence[BatchRunFile]
    options: BatchOptions


@BATCH_VERB.command
def batch(task: str, command_line: CommandLine) -> int:
    """Find the runs, score them, write their files, and print the leaderboard. Return the exit status.

    As text only the top of the leaderboard is printed. Raises CsScoreError if nothing can be scored.
    """
    # Runs chosen with --run become the switch -runids, which the scorer of each file takes.
    line_with_run_ids = _with_switch_for_run_ids(task, command_line)
    call = _read_call(task, line_with_run_ids)
    try:
        result = run_batch(call.plan, call.runs, call.options, _remark_if_possible)
    except KeyboardInterrupt:
        folder = call.options.out
        _remark_if_possible(f"interrupted; the runs in {folder} are whole, and the same command with --resume goes on")
        return Status.INTERRUPTED
    return _report_result(task, line_with_run_ids, call, result)


def _with_switch_for_run_ids(task: str, command_line: CommandLine) -> CommandLine:
    """Return the command line with the switch `-runids` of the scorer in place of the option `--run`.

    Tasks other than Cold Start have no such switch; their command line is returned as it is.
    """
    chosen_runs = command_line.texts("--run")
    if task != COLD_START or not chosen_runs:
        return command_line
    return command_line.with_changes({"-runids": ":".join(chosen_runs)}, without=["--run"])


def _read_call(task: str, command_line: CommandLine) -> _BatchCall:
    """Return the plan, the runs and the options that a command line names.

    Remarks on runs that are given twice, and on their names, are printed.

    Raises CsScoreError for impossible options, and for runs that cannot be found.
    """
    inputs = _inputs_of_runs(command_line) if task == COLD_START else _inputs_of_predictions(task, command_line)
    batch_options = _batch_options(command_line, inputs.plan)
    _check_standard_input(inputs, batch_options.runs_from)
    runs = _runs_of_call(task, command_line, inputs.run_words)
    runs_to_score = _without_edition_of_plan(runs, inputs.plan)  # only runs of other editions keep theirs
    plan = _plan_with_editions(inputs.plan, runs_to_score, command_line)
    return _BatchCall(plan, runs_to_score, batch_options)


def _runs_of_call(task: str, command_line: CommandLine, run_words: Sequence[str]) -> list[BatchRunFile]:
    """Return the runs that words and the file of `--runs-from` name, and print remarks on them.

    In evidence tasks each system of a file of predictions is a run. Raises CsScoreError for runs that cannot be found.
    """
    runs, remarks = find_runs(run_words, command_line.get("--runs-from"), _endings_of_runs(task))
    for text in remarks:
        _remark_if_possible(text)
    if task == COLD_START:
        return runs
    return runs_of_systems(_mode_of_batch(task, command_line), runs, chosen_systems=command_line.texts("--run"))


def _report_result(task: str, command_line: CommandLine, call: _BatchCall, result: BatchResult) -> int:
    """Print the leaderboard, then remarks on standard error, and return the exit status.

    The exit status reports a failure if a run failed, if a run has problems that are errors, or if a requested run is
    missing.
    """
    _print_leaderboard(result, command_line.format)
    run_ids_not_scored: list[str] = []
    if task == COLD_START:
        run_ids_not_scored = _run_ids_not_scored(command_line, call.plan, result)
        _remark_on_lines_and_run_ids(command_line, _duplicate_count(call.plan, result), run_ids_not_scored)
    _remark_if_possible(_summary(result, call.options.out))  # not possible if standard error is closed
    all_are_ok = all(outcome.state == OK for outcome in result.outcomes)
    return Status.DONE if all_are_ok and not run_ids_not_scored else Status.FAILED


def _remark_on_lines_and_run_ids(
    command_line: CommandLine, duplicate_count: int, run_ids_not_scored: Iterable[str]
) -> None:
    """Print remarks on the duplicate lines of Cold Start runs, and on each requested run id that was not scored.

    If standard error is closed, nothing is printed.
    """
    with contextlib.suppress(OutputError):
        remark_on_duplicates(Scoring(command_line), duplicate_count)
    for run_id in run_ids_not_scored:
        _remark_if_possible(f"no run called {run_id} could be scored")


def _batch_options(command_line: CommandLine, plan: Plan) -> BatchOptions:
    """Return the options of a batch, such as its folder, the number of processes, and how to show progress.

    Raises UsageError if options exclude each other, or if the measure is unknown.
    """
    measure = _requested_measure(command_line, plan)
    jobs = whole_number(command_line, "--jobs", MOST_JOBS)
    _check_options_of_dask(command_line)
    # On a terminal, one line shows the progress and is overwritten every tenth of a second. Elsewhere, such as in a log
    # file, a new line is written every minute.
    has_progress_line = shows_progress()
    return BatchOptions(
        out=command_line.folder or "",
        measure=measure,
        resume="--resume" in command_line,
        force="--force" in command_line,
        jobs=jobs,
        dask=command_line.get("--dask"),
        ships_inputs="--ship-inputs" in command_line,
        problems=command_line.get("--problems"),
        runs_from=command_line.get("--runs-from"),
        show_progress=show_progress if has_progress_line else _remark_if_possible,
        seconds_between_lines=0.1 if has_progress_line else 60.0,
        mix_editions="--mix-editions" in command_line,
    )


def _requested_measure(command_line: CommandLine, plan: Plan) -> str | None:
    """Return the name of the measure that `--measure` asks for, or None without this option.

    Raises UsageError if no measure of the plan has this name.
    """
    typed_name = command_line.get("--measure")
    if typed_name is None:
        return None
    measure = find_name(typed_name, plan.measures())
    if measure is None:
        raise UsageError(f"--measure {typed_name}: no such measure; there are {', '.join(plan.measures())}")
    return measure


def _check_options_of_dask(command_line: CommandLine) -> None:
    """Raise UsageError if `--dask` is given with `--jobs`, or `--ship-inputs` without `--dask`."""
    if "--dask" in command_line and "--jobs" in command_line:
        raise UsageError("--jobs is for this machine; with --dask the workers of the cluster are used")
    if "--ship-inputs" in command_line and "--dask" not in command_line:
        raise UsageError("--ship-inputs goes with --dask")


def _check_standard_input(inputs: _BatchInputs, runs_from: str | None) -> None:
    """Raise UsageError if more than one of the files is standard input.

    `runs_from` is the file that lists runs, or None if there is none.
    """
    files = [gold_file.name for gold_file in inputs.plan.inputs]
    files.extend(inputs.run_words)  # the runs on the command line
    if runs_from is not None:
        files.append(runs_from)
    if files.count("-") > 1:
        raise UsageError("only one of the files can be standard input")


def _print_leaderboard(result: BatchResult, format_: str) -> None:
    """Print the leaderboard in a format (only its top in the format text). Raises OutputError if writing fails."""
    if format_ == "text":
        print_text(leaderboard_text(result.leaderboard))
    else:
        print_text(BOARD_WRITERS[format_](result.leaderboard))


def _run_ids_not_scored(command_line: CommandLine, plan: Plan, result: BatchResult) -> list[str]:
    """Return the run ids of `-runids` that no run scored under the first policy has, sorted."""
    scored_ids: set[str] = set()
    for outcome in _outcomes_of_first_policy(plan, result):
        scored_ids.update(run.run_id for run in outcome.runs)
    wanted_ids = Scoring(command_line).run_ids or ()
    return sorted(set(wanted_ids) - scored_ids)


def _duplicate_count(plan: Plan, result: BatchResult) -> int:
    """Return how many responses of all runs are duplicates. They are counted under the first policy."""
    duplicates = 0
    for outcome in _outcomes_of_first_policy(plan, result):
        for run in outcome.runs:
            duplicates += run.duplicates or 0
    return duplicates


def _outcomes_of_first_policy(plan: Plan, result: BatchResult) -> list[Outcome]:
    """Return the outcome of each run under the first policy of a batch."""
    return [outcome for outcome in result.outcomes if outcome.policy == plan.policy_names[0]]


def _endings_of_runs(task: str) -> Sequence[str]:
    """Return the endings by which the files of a folder are recognised as runs or predictions: `(".jsonl",)`."""
    return (RUN_SUFFIX,) if task == COLD_START else mode_named(task).endings


def _without_edition_of_plan(runs: Sequence[BatchRunFile], plan: Plan) -> list[BatchRunFile]:
    """Return the runs. A run with the plan's own edition of the scorer gets an empty edition.

    An empty edition means that a run follows the edition of the plan.
    """
    changed_runs = []
    for run in runs:
        if run.edition == plan.edition:
            changed_runs.append(replace(run, edition=""))
        else:
            changed_runs.append(run)
    return changed_runs


def _plan_with_editions(plan: Plan, runs: Sequence[BatchRunFile], command_line: CommandLine) -> Plan:
    """Return the plan of a batch with a further plan for each edition of the scorer that is named for a run.

    The file of --runs-from says which edition a run follows. Raises UsageError if it names an edition, but the task has
    no editions.
    """
    editions = dict.fromkeys(run.edition for run in runs if run.edition)
    if not editions:
        return plan
    if not isinstance(plan, ColdStartPlan):
        raise UsageError(f"--runs-from: follow={next(iter(editions))} is for Cold Start runs")
    plan_by_edition = {}
    for edition in editions:
        # Other editions than the plan's refuse the option --mention-types, which only the latest edition has.
        command_line_of_edition = command_line.with_changes({"--follow": edition}, without=["--mention-types"])
        # The files are taken from the plan because a pipe can be read only once, and the plan has kept its bytes.
        plan_without_files = _plan_of_runs(command_line_of_edition, queries=(), pool=())
        plan_by_edition[edition] = replace(plan_without_files, queries=plan.queries, pool=plan.pool)
    return replace(plan, editions=plan_by_edition)


def _remark_if_possible(text: str) -> None:
    """Print a remark on standard error. If standard error is closed, the batch goes on without it."""
    with contextlib.suppress(OutputError):
        remark(text)


def _summary(result: BatchResult, out: str) -> str:
    """Return a line with the numbers of runs that were scored or failed, and the files that say more.

    For example `3 scored (1 of them before); all ranks in scored/leaderboard.tsv`. `out` is the folder of the batch.
    """
    count_by_state = Counter([outcome.state for outcome in result.outcomes])
    scored_count = len(result.outcomes) - count_by_state[FAILED]
    scored_text = f"{scored_count} scored"
    if result.kept_count:
        scored_text += f" ({result.kept_count} of them before)"
    parts = [scored_text]
    parts += _words_on_errors(count_by_state, out)
    parts.append(f"all ranks in {os.path.join(out, 'leaderboard.tsv')}")
    return "; ".join(parts)


def _words_on_errors(count_by_state: Mapping[State, int], out: str) -> list[str]:
    """Return how many runs failed, and how many were scored with errors in the input; nothing if there are none.

    The last text names the file of problems: `["1 failed (see out/problems.tsv)"]`.
    """
    texts = []
    if count_by_state[FAILED]:
        texts.append(f"{count_by_state[FAILED]} failed")
    if count_by_state[WITH_ERRORS]:
        texts.append(f"{count_by_state[WITH_ERRORS]} of those scored with errors in the input")
    if texts:
        texts[-1] += f" (see {os.path.join(out, 'problems.tsv')})"
    return texts
