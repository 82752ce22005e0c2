"""The command `check`, which compares a run's scores with limits, a baseline or a lock. A limit is a smallest score, or
a largest drop below the baseline, which is an earlier run. A lock is a file that fixed limits before there was a run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cs_score.base.errors import UsageError
from cs_score.base.runtime import Late
from cs_score.cli.core import CommandLine, Option, Status
from cs_score.cli.output import print_text, remark
from cs_score.cli.run_options import FILES, POLICIES, SCORING_SWITCHES
from cs_score.cli.score import score_inputs
from cs_score.cli.shared_options import FILES_OF_EVIDENCE, read_resampling_with_defaults
from cs_score.cli.verb import Verb, VerbUsage
from cs_score.verbs.check import locking
from cs_score.verbs.check.locking import LOCK_OPTIONS

if TYPE_CHECKING:
    from cs_score.verbs.check import checking, locks
else:
    checking = Late("cs_score.verbs.check.checking")
    locks = Late("cs_score.verbs.check.locks")

_TEST_OPTIONS: Final = "--bootstrap --seed --confidence --clusters"
"""The options of the test of a drop, with spaces between them."""

_LIMITS: Final = f"--baseline --max-drop --min --significant --any-baseline --write-lock --lock --force {_TEST_OPTIONS}"


def _read_limits(command_line: CommandLine) -> checking.Gate:
    """Return the gate of a command line: the limits that its options set for the scores of a run.

    Raises UsageError if the options set no limit, and for an option that has no effect without another one.
    """
    options_about_baseline = "--max-drop --significant --any-baseline"
    _require_companion(command_line, options_about_baseline, companion="--baseline PATH", subject="a baseline")
    resampling = read_resampling_with_defaults(command_line)
    _require_companion(command_line, _TEST_OPTIONS, companion="--significant", subject="the test")
    if command_line.first_typed_option("--min --baseline") is None:
        raise UsageError(checking.NOTHING_TO_CHECK)
    minima = [checking.read_limit("--min", text) for text in command_line.texts("--min")]
    drops = [checking.read_limit("--max-drop", text) for text in command_line.texts("--max-drop")]
    return checking.Gate(
        minima=tuple(minima),
        drops=tuple(drops),
        significance=resampling if "--significant" in command_line else None,
        allows_any_baseline="--any-baseline" in command_line,
    )


def _require_companion(command_line: CommandLine, options: str, *, companion: str, subject: str) -> None:
    """Raise UsageError if any of the given options was used without the option that they all require.

    `options` are the option names, separated by spaces. `companion` is the required option as it appears in the help,
    such as `--baseline PATH`. `subject` says in the error message what the options are
    about, such as `a baseline`.
    """
    typed_option = command_line.first_typed_option(options)
    name_of_companion, _space, _argument = companion.partition(" ")
    if typed_option is not None and name_of_companion not in command_line:
        raise UsageError(f"{typed_option} is about {subject}: give {companion}, too")


def _failure_text(format_: str, message: str) -> str:
    """Return an error of the command `check` in one of its formats, such as `junit`."""
    return checking.error_text(format_, message)


def _usage_for_runs() -> VerbUsage:
    """Return the usage of the command for Cold Start runs.

    In the example, the help replaces `$ONE` by the files of a sample run.
    """
    return VerbUsage(
        options=f"{SCORING_SWITCHES} -runids --validate --policy --knowledge-base --jobs --parts --run {_LIMITS}",
        formats="text json tsv junit github",
        files=FILES,
        sections=[POLICIES],
        example="--min SF-AP=0.4 $ONE",
    )


CHECK_VERB: Final = Verb(
    usage_for_runs=_usage_for_runs,
    usage_for_evidence=VerbUsage(
        options=f"--gold --predictions {_LIMITS}",
        formats="text json tsv junit github",
        files=FILES_OF_EVIDENCE,
        example="--min $MEASURE=0.1 $ONE",
    ),
    own_options=(
        Option("--baseline PATH", "What to compare with: JSON that score -o has written, or its folder"),
        Option("--significant", "A drop counts only if the paired test calls it significant"),
        Option("--any-baseline", "Accept a baseline of other gold or other options"),
        *LOCK_OPTIONS,
    ),
    sections=[
        (
            "Exit status",
            "0: every limit is kept. 3: one is not, or something has changed since the lock was written. 1: an input "
            "cannot be scored, or the baseline cannot be compared.",
        )
    ],
    text_of_failure=_failure_text,
    summary="Hold {task} predictions against limits and a baseline",
)


@CHECK_VERB.command
def check(task: str, command_line: CommandLine) -> int:
    """Score a run, check its scores against limits and a baseline, and print the result. Return the exit status.

    With --write-lock, nothing is checked. Instead, a lock file is written, which later calls can use with --lock.

    Raises CsScoreError if the run cannot be scored or the baseline cannot be compared.
    """
    if "--write-lock" in command_line:
        return locking.write_lock(task, command_line)
    checked_run = (
        _judge_by_lock(task, command_line) if "--lock" in command_line else _judge_by_limits(task, command_line)
    )
    print_text(checking.WRITERS[command_line.format](checked_run))
    return Status.DONE if checked_run.passed else Status.CHECK_FAILED


def _judge_by_limits(task: str, command_line: CommandLine) -> checking.Checked:
    """Score a run, check it against the limits and the baseline of the command line, and return the checked run.

    Raises CsScoreError if the run cannot be scored or the baseline cannot be compared.
    """
    gate = _read_limits(command_line)
    # Computing the scores does not need resamples. Here, the options of the test would be taken as options for
    # intervals.
    command_line_of_scoring = command_line.with_changes(without=_TEST_OPTIONS.split())
    run = _score_run(task, command_line_of_scoring)
    baseline_path = command_line.get("--baseline")
    if baseline_path is None:
        return gate.judge(run, baseline=None)
    baseline = checking.read_baseline(baseline_path, run.name)
    checked_run = gate.judge(run, baseline)
    # The user did not name a measure, so the headline measure was checked, or its substitute if the baseline does not
    # have it.
    checks_headline_measure = not gate.minima and not gate.drops
    if checks_headline_measure:
        _print_replaced_headline_remark(run, baseline)
    return checked_run


def _print_replaced_headline_remark(run: checking.MeasuredRun, baseline: checking.MeasuredRun) -> None:
    """Print a remark on standard error if another measure replaces average precision as the headline measure."""
    replaced_headline_remark = checking.replaced_headline_remark(run, baseline)
    if replaced_headline_remark is not None:
        remark(replaced_headline_remark)


def _score_run(task: str, command_line: CommandLine) -> checking.MeasuredRun:
    """Score the run of a command line, and return its scores. Raises CsScoreError if it cannot be scored."""
    with score_inputs(task, command_line) as scored:
        return checking.measured_run_of_result(scored.result)


def _judge_by_lock(task: str, command_line: CommandLine) -> checking.Checked:
    """Score a run, check it against the limits of a lock, and return the checked run.

    If the options or the gold have changed since the lock was written, the run fails the check without being scored.
    Raises CsScoreError if the lock cannot be read or the run cannot be scored.
    """
    locking.refuse_other_limits(command_line)  # all options for limits except --min
    lock_file = locks.read_lock(command_line.text("--lock", ""))
    conditions = locking.conditions_of(task, command_line)
    # The user may repeat the limits of the lock with --min. Any other limit counts as a change.
    typed_limits = [checking.read_limit("--min", text) for text in command_line.texts("--min")]
    changes = locks.changes_since(lock_file, conditions, typed_limits)
    if changes:
        return locks.failed_by_lock(lock_file, conditions, changes)
    run = _score_run(task, command_line)
    checked_run = checking.Gate(minima=lock_file.limits).judge(run, baseline=None)
    return locks.add_lock(lock_file, checked_run)
