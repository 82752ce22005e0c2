"""Locks of `check`: `--write-lock` fixes limits before there is a run, `--lock` checks a run against them. A lock also
fixes the conditions of scoring: the options and the files of the gold standard.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from cs_score.base.documents import json_text
from cs_score.base.errors import UsageError
from cs_score.base.outputs import Existing, OwnOption, write_packed
from cs_score.base.records import asdict, replace
from cs_score.base.runtime import Late, paused_garbage_collection
from cs_score.base.signature import Origin
from cs_score.base.sources import Input, name_of
from cs_score.cli.core import CommandLine, Option, Status
from cs_score.cli.output import print_text
from cs_score.cli.predictions import find_gold_and_predictions
from cs_score.cli.run_inputs import Runs
from cs_score.cli.task_options import option_values_of_task
from cs_score.coldstart.gold import open_gold, with_pool
from cs_score.coldstart.options import origin_of
from cs_score.coldstart.scorer import split_runs_and_assessments
from cs_score.tasks import COLD_START, mode_named
from cs_score.tasks.score_files import read_gold

if TYPE_CHECKING:
    from cs_score.verbs.check import checking, locks
else:
    checking, locks = Late("cs_score.verbs.check.checking"), Late("cs_score.verbs.check.locks")

LOCK_OPTIONS: Final = (
    Option(
        "--write-lock FILE",
        "Fix the bar before there is a run: write limits, options and the hashes of gold into a new FILE (.json)",
    ),
    Option("--lock FILE", "Hold the run against the limits of this lock; whatever has changed since fails"),
)
"""The options of `check` about locks."""

_WRITE_LOCK: Final = OwnOption("--write-lock", {".json": b""}, "lock.json")


def write_lock(task: str, command_line: CommandLine) -> int:
    """Write a lock into the file of --write-lock, print it, and return the exit status.

    The lock fixes the minimum scores that a later run must reach. Raises UsageError if the files include a run, if
    there are no limits, or if the file already exists.
    """
    minima = _read_minima(command_line)
    path = command_line.text("--write-lock", "")
    planned_outputs = [replace(output, existing=Existing.REFUSED) for output in _WRITE_LOCK.outputs(path)]
    # Raises an error if the file cannot be written. This is checked first because reading gold may take a long time.
    command_line.plan(planned_outputs)
    conditions = conditions_of(task, command_line, message_if_run_given="--write-lock comes before there is a run")
    lock = locks.make_lock(conditions, minima)
    write_packed(path, [json_text(lock).encode()])
    print_text(json_text(lock) if command_line.format == "json" else locks.lock_report(path, lock))
    return Status.DONE


def _read_minima(command_line: CommandLine) -> list[checking.Limit]:
    """Return the smallest scores that a lock fixes.

    Raises UsageError if there are none, for options that need a run, and for a format in which no lock is printed.
    """
    unsuitable_option = command_line.first_typed_option(
        "--lock --baseline --max-drop --significant --any-baseline --predictions --run -runids"
    )
    if unsuitable_option is not None:
        raise UsageError(f"--write-lock fixes least scores before there is a run: leave out {unsuitable_option}")
    if command_line.format not in ("text", "json"):
        raise UsageError(f"--write-lock prints text or json, not {command_line.format}")
    minima = [checking.read_limit("--min", text) for text in command_line.texts("--min")]
    if not minima:
        raise UsageError("--write-lock fixes least scores: give --min MEASURE=NUMBER, too")
    return minima


def conditions_of(task: str, command_line: CommandLine, *, message_if_run_given: str = "") -> Origin:
    """Return the conditions under which runs are scored: the scoring options and the SHA-256 of each gold file.

    If the command line must not name a run, `message_if_run_given` is the start of the error message, such as
    `--write-lock comes before there is a run`. It is empty if a run is allowed. Raises UsageError if a run is given but
    not allowed or if there is no gold, and InputError if gold cannot be read.
    """
    if task == COLD_START:
        return _conditions_of_runs(command_line, message_if_run_given=message_if_run_given)
    mode = mode_named(task).with_options(option_values_of_task(task, command_line))
    may_name_run = not message_if_run_given
    gold_file, words = find_gold_and_predictions(mode, command_line, is_single_file=may_name_run)
    if gold_file is None:
        raise UsageError("there is nothing to score against: name the assessments with --gold FILE")
    if words and not may_name_run:
        raise UsageError(f"{message_if_run_given}: leave out {' '.join(words)}")
    gold = read_gold(mode, gold_file)
    assert gold is not None  # `read_gold` returns None only if there is no gold file
    # An origin always needs predictions. Since there are none yet, gold is used in their place as the only input.
    return mode.origin(asdict(mode.chosen_options), gold=None, predictions=gold.digest)


def _conditions_of_runs(command_line: CommandLine, *, message_if_run_given: str) -> Origin:
    """Return the conditions under which Cold Start runs are scored: options, and the SHA-256 of queries and pool.

    If the command line must not name a run, `message_if_run_given` is the start of the error message. It is empty if a
    run is allowed. Raises UsageError if a run is given but not allowed or if there is no gold, and InputError if gold
    cannot be read.
    """
    runs = Runs(command_line)
    if "-" in [*runs.query_files, *runs.run_and_pool_files]:
        raise UsageError("gold has to be read again later, which standard input cannot: name a file")
    options = runs.options_without_run_ids
    options.check()
    assessments = _assessment_files(runs, message_if_run_given)
    with paused_garbage_collection():
        gold_without_pool = open_gold(runs.query_files, options, validates=runs.has_validation)
        gold = with_pool(gold_without_pool, assessments)
    has_ldc_ids = bool(gold.query_set.ldc_id_by_query)
    return origin_of(options, gold.digests, has_ldc_ids, are_runs_validated=gold.validates)


def _assessment_files(runs: Runs, message_if_run_given: str) -> Sequence[Input]:
    """Return the files of assessments among the files of a command line.

    If the command line must not name a run, `message_if_run_given` is the start of the error message. It is empty if a
    run is allowed. Raises UsageError if a run is given but not allowed, or if there are no queries or no assessments.
    """
    if not runs.query_files:
        raise UsageError("no query file (*.xml) among the files; name queries and assessments")
    run_files, assessments = split_runs_and_assessments(runs.run_and_pool_files, runs.knowledge_bases)
    if run_files and message_if_run_given:
        raise UsageError(f"{message_if_run_given}: leave out {name_of(run_files[0])}")
    if not assessments:
        raise UsageError("no assessments (pool) among the files; name queries and assessments")
    return assessments


def refuse_other_limits(command_line: CommandLine) -> None:
    """Raise UsageError for options and files that cannot be used together with --lock."""
    unsuitable_option = command_line.first_typed_option("--baseline --max-drop --significant --any-baseline")
    if unsuitable_option is not None:
        raise UsageError(f"--lock holds a run against the limits that were locked: leave out {unsuitable_option}")
    files = [*command_line.positional_words, command_line.get("--gold")]
    if "-" in files:
        raise UsageError("a lock is about files that can be read again, which standard input cannot: name a file")
