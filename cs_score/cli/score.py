"""The command `score`, for all tasks, and the scores of a command line for other commands."""

from __future__ import annotations

import contextlib
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final

from msgspec import UNSET

from cs_score.base import outputs as storage
from cs_score.base.errors import UsageError
from cs_score.base.runtime import Late
from cs_score.cli import shared_options as options
from cs_score.cli.core import CommandLine, Option, Status, StatusWithResults
from cs_score.cli.output import print_text
from cs_score.cli.verb import Verb, VerbUsage
from cs_score.tasks import COLD_START, task_named

if TYPE_CHECKING:
    from cs_score.analysis import system_comparison as comparison
    from cs_score.cli import estimates, run_options
    from cs_score.cli import score_predictions as predictions
    from cs_score.cli import score_runs as runs
    from cs_score.cli.score_predictions import PredictionsScored
    from cs_score.cli.score_runs import RunsScored
    from cs_score.tables import layout
else:  # a call scores runs or predictions
    comparison = Late("cs_score.analysis.system_comparison")
    estimates = Late("cs_score.cli.estimates")
    layout = Late("cs_score.tables.layout")
    predictions = Late("cs_score.cli.score_predictions")
    run_options = Late("cs_score.cli.run_options")
    runs = Late("cs_score.cli.score_runs")


def _usage_for_runs() -> VerbUsage:
    """Return how `score` is called for Cold Start runs: its options, formats, files and sections of help."""
    return VerbUsage(
        options=f"{run_options.OPTIONS_OF_CALLS} --run --measure --inclusion --per-unit --all",
        formats="text json tsv markdown latex",
        files=run_options.FILES,
        # Sections of the help: the policies, and the meaning of each column of the score table.
        sections=(run_options.POLICIES, run_options.FIELDS),
        folder_format="files",  # with -o FOLDER the result is written as the files of the Perl scorer
    )


SCORE_VERB: Final = Verb(
    usage_for_runs=_usage_for_runs,
    usage_for_evidence=VerbUsage(
        options=f"--gold --predictions --measure --per-item --per-unit --force {options.INTERVAL_OPTIONS}",
        formats="text json tsv markdown latex",
        files=options.FILES_OF_EVIDENCE,
    ),
    own_options=[Option("--per-item FILE", "Also write the statistics of each unit, as .tsv")],
)


@SCORE_VERB.command
def score(task: str, command_line: CommandLine) -> int:
    """Score runs or predictions, print the scores, and write the files of the options. Return the exit status.

    The status is a number that also holds the results, because freeing them would delay the end of the process. Raises
    CsScoreError if nothing can be scored.
    """
    if "--inclusion" in command_line:
        return estimates.estimate_from_sample(task, command_line)
    if "--second-assessments" in command_line:
        # Runs under the assessments of two assessors are compared by `compare`.
        raise UsageError("--second-assessments goes with --inclusion here; without it give it to cs-score compare")
    with score_inputs(task, command_line) as scored:
        text = scored.text(command_line)
        scored.write()
        _write_unit_table(task, scored, command_line.get("--per-unit"))
    print_text(text)
    status = Status.FAILED if scored.has_errors else Status.DONE
    return StatusWithResults(status, scored)


def score_inputs(task: str, command_line: CommandLine) -> AbstractContextManager[RunsScored | PredictionsScored]:
    """Score the files of a command line. The scored runs or predictions are the target of the `with` statement.

    Results have to be written inside the block. Raises CsScoreError if nothing can be scored.
    """
    if task == COLD_START:
        return runs.score_runs(command_line)
    return contextlib.nullcontext(predictions.score_predictions(task, command_line))


def _write_unit_table(task: str, scored: RunsScored | PredictionsScored, unit_file: str | None) -> None:
    """Write the file of `--per-unit`: numerator and denominator of each unit of each run, by each measure.

    It also has the cluster of each unit. Nothing is written if `unit_file` is None. Raises OutputError if the file
    cannot be written.
    """
    if unit_file is None:
        return
    # Clusters are a setting of resampling. Without it they are unset, and the cluster of a unit is the unit itself.
    clusters = UNSET if scored.resampling is None else scored.resampling.clusters
    table = comparison.per_unit(task_named(task), scored.result_by_run, clusters)
    storage.write_packed(unit_file, layout.tsv(table))
