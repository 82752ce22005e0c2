"""The command `diff`, for all tasks: why B scores differently from A. In the task Cold Start both are runs: the
responses of a system to queries. In the evidence tasks both are predictions about claims or questions.
"""

from __future__ import annotations

from typing import Any, Final

from cs_score.cli.core import CommandLine
from cs_score.cli.document_output import (
    DIFFERENCE_OPTIONS_OF_EVIDENCE,
    DIFFERENCE_OPTIONS_OF_RUNS,
    FORMATS,
    OWN_OPTIONS,
    POLICY_SECTIONS,
    print_or_write_document,
    remove_earlier_tables,
)
from cs_score.cli.inputs import find_inputs
from cs_score.cli.shared_options import read_resampling_with_defaults, read_top
from cs_score.cli.verb import Verb, VerbUsage
from cs_score.tasks import task_named
from cs_score.tasks.task import Task
from cs_score.verbs.diff.by_task import difference_of_results, view_of_differences

_DIFFERENCE: Final = (
    "Result",
    "Both scores with the interval and the p-values of their difference; what each unit contributes to it, which adds "
    "up to it exactly, and likewise groups of units; answers and classes with another outcome. A positive difference "
    "is in favour of the second. cs-score report --compare makes a page of it.",
)


def _usage_for_runs() -> VerbUsage:
    """Return the usage of the command for Cold Start runs."""
    return VerbUsage(
        options=f"{DIFFERENCE_OPTIONS_OF_RUNS} --all --force",
        formats="text json tsv",
        files=(
            "Query files (*.xml, perhaps compressed), assessments, and two runs: the first is A, the second B; a "
            "positive difference is in favour of B. Each run is scored by itself"
        ),
        sections=POLICY_SECTIONS,
        example="$TWO",  # help pages replace $TWO by two sample runs with their queries
        folder_format="tsv",
    )


DIFF_VERB: Final = Verb(
    usage_for_runs=_usage_for_runs,
    usage_for_evidence=VerbUsage(
        options=f"{DIFFERENCE_OPTIONS_OF_EVIDENCE} --all --force",
        formats=FORMATS,
        files="Predictions A and B, behind gold where --gold does not name it",
        example="$TWO",
        folder_format="tsv",
    ),
    own_options=OWN_OPTIONS,
    sections=[_DIFFERENCE],
    summary="Explain why one {task} system scores higher than another, unit by unit",
)


@DIFF_VERB.command
def diff(task_name: str, command_line: CommandLine) -> int:
    """Print or write the difference between two runs or two systems. Return the exit status."""
    task = task_named(task_name)
    difference = compute_difference(task, command_line)
    return print_or_write_document(command_line, view_of_differences(task), difference)


def compute_difference(task: Task, command_line: CommandLine) -> Any:
    """Score the two runs or systems of a command line, and return the difference between their scores.

    The difference is the document that `diff` prints, either a `RunDifference` or an `EvidenceDifference`. Tables from
    an earlier call are first removed from the folder of -o. Raises UsageError if the options are invalid, and
    InputError if a file is invalid.
    """
    # All faults of the command line are reported before anything is scored.
    top = read_top(command_line)
    resampling = read_resampling_with_defaults(command_line)
    inputs = find_inputs(task.name, command_line, most_systems=2)
    # Wrong options leave the earlier tables in place. If scoring fails, the folder has none, rather than those of
    # other inputs.
    remove_earlier_tables(command_line, view_of_differences(task))
    measure = task.measure_of(command_line.get("--measure"))
    result_a, result_b, names = inputs.score_pair()
    return difference_of_results(task, result_a, result_b, measure, names=names, top=top, resampling=resampling)
