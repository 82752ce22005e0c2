"""The command `analyze`, for all tasks. In the task Cold Start it analyses a run: the responses of a system to queries.
In the evidence tasks it analyses predictions: a system's answers about claims or questions.
"""

from __future__ import annotations

from typing import Any, Final

from cs_score.cli import shared_options as options
from cs_score.cli.core import CommandLine
from cs_score.cli.document_output import (
    ABOUT_MISTAKES,
    ANALYSIS_OPTIONS_OF_EVIDENCE,
    ANALYSIS_OPTIONS_OF_RUNS,
    FILES_OF_RUNS,
    FORMATS,
    OWN_OPTIONS,
    POLICY_SECTIONS,
    print_or_write_document,
    remove_earlier_tables,
)
from cs_score.cli.inputs import find_inputs
from cs_score.cli.output import with_percentage
from cs_score.cli.predictions import Predictions, with_analysis_percentage
from cs_score.cli.run_inputs import Runs
from cs_score.cli.shared_options import read_top
from cs_score.cli.verb import Verb, VerbUsage
from cs_score.tasks import COLD_START, task_named
from cs_score.tasks.task import Task
from cs_score.verbs.analyze.by_task import analyze_result, view_of_analyses

_ANALYSIS: Final = (
    "Result",
    "What each mistake costs, just as the scorer would score the files without it; an error budget by kind of "
    "mistakes; scenarios for what nobody assessed; other policies. cs-score report makes a page of it.",
)


def _usage_for_runs() -> VerbUsage:
    """Return how the command is called for Cold Start runs."""
    return VerbUsage(
        options=f"{ANALYSIS_OPTIONS_OF_RUNS} --all --force",
        formats=FORMATS,
        files=FILES_OF_RUNS,
        sections=[_ANALYSIS, *POLICY_SECTIONS],
        folder_format="tsv",
    )


ANALYZE_VERB: Final = Verb(
    usage_for_runs=_usage_for_runs,
    usage_for_evidence=VerbUsage(
        options=f"{ANALYSIS_OPTIONS_OF_EVIDENCE} --all --force",
        formats=FORMATS,
        files=options.FILES_OF_EVIDENCE,
        sections=[ABOUT_MISTAKES],
        folder_format="tsv",
    ),
    own_options=OWN_OPTIONS,
    summary="List what each mistake of {task} predictions costs",
)


@ANALYZE_VERB.command
def analyze(task_name: str, command_line: CommandLine) -> int:
    """Print or write the analysis of a run or of predictions. Return the exit status."""
    task = task_named(task_name)
    # A text without --all is one screen; this needs only a part of the analysis.
    is_for_one_screen = command_line.format == "text" and command_line.folder is None and "--all" not in command_line
    inputs = find_inputs(task_name, command_line)
    analysis = analyze_inputs(task, command_line, inputs, is_whole=not is_for_one_screen)
    return print_or_write_document(command_line, view_of_analyses(task), analysis)


def analyze_inputs(task: Task, command_line: CommandLine, inputs: Runs | Predictions, *, is_whole: bool) -> Any:
    """Score one run, or the predictions of one system, and return the analysis of its scores.

    The analysis is the document printed by `analyze`: `RunAnalysis` or `EvidenceAnalysis`. With `is_whole`, it is
    complete; otherwise, it has only the parts for one screen. The tables of an earlier call are removed from the folder
    of -o first. Raises UsageError for wrong options, and InputError for wrong files.
    """
    # All faults of the command line are reported before anything is scored.
    mistake_count = read_top(command_line)
    measure = task.measure_of(command_line.get("--measure"))
    analysis_arguments = inputs.analysis_arguments  # `policies`, and for runs also `by` and `resampling`
    # A terminal shows `analysing 40 %`. For runs, each step of the analysis shows its own activity instead.
    progress = with_percentage if task.name == COLD_START else with_analysis_percentage
    remove_earlier_tables(command_line, view_of_analyses(task))
    result = inputs.score_single()
    return analyze_result(
        task, result, measure, top=mistake_count, is_whole=is_whole, progress=progress, **analysis_arguments
    )
