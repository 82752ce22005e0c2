"""The command `explain`, for all tasks. In the task Cold Start it explains a run: the responses of a system to queries.
In the evidence tasks it explains predictions: a system's answers about claims or questions, which are called units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cs_score.base.runtime import Late
from cs_score.cli import shared_options as options
from cs_score.cli.core import CommandLine, Status
from cs_score.cli.document_output import ABOUT_MISTAKES, FILES_OF_RUNS, FORMATS, OWN_OPTIONS, print_or_write_document
from cs_score.cli.inputs import find_inputs
from cs_score.cli.output import remark
from cs_score.cli.predictions import Predictions, with_analysis_percentage
from cs_score.cli.run_inputs import Runs
from cs_score.cli.run_options import SCORING_SWITCHES
from cs_score.cli.verb import Verb, VerbUsage
from cs_score.tasks import task_named
from cs_score.verbs.explain.by_task import view_of_explanations

if TYPE_CHECKING:
    from cs_score.verbs.explain import unit_explanation as evidence
    from cs_score.verbs.explain.run_explanation import explanation as coldstart
else:  # a call explains results of one task only
    coldstart = Late("cs_score.verbs.explain.run_explanation.explanation")
    evidence = Late("cs_score.verbs.explain.unit_explanation")

_EXPLANATION: Final = (
    "Result",
    "How the scorer decided, step by step, and what the line, class or node costs. Without a selection the run in one "
    "screen.",
)


def _usage_for_runs() -> VerbUsage:
    """Return the usage of the command for Cold Start runs."""
    return VerbUsage(
        options=(
            f"{SCORING_SWITCHES} --policy --knowledge-base -runids --run --line --unit --class --node --answer "
            "--measure --force"
        ),
        formats="text json tsv",
        files=FILES_OF_RUNS,
        sections=[_EXPLANATION],
        example="--line 7 $ONE",  # the help replaces `$ONE` by the files of a sample run
    )


EXPLAIN_VERB: Final = Verb(
    usage_for_runs=_usage_for_runs,
    usage_for_evidence=VerbUsage(
        options="--gold --predictions --unit --measure --force",
        formats=FORMATS,
        files=options.FILES_OF_EVIDENCE,
        sections=[ABOUT_MISTAKES],
    ),
    own_options=OWN_OPTIONS,
    summary="Explain how one {unit} of {task} was scored, and what it costs",
)


@EXPLAIN_VERB.command
def explain(task_name: str, command_line: CommandLine) -> int:
    """Print how lines, classes, nodes or units were scored. Return the exit status.

    If an error stops the scoring of the run, the explanation covers the part that was scored before. In this case, the
    error is printed as well, and the exit status is that of a failure.
    """
    task = task_named(task_name)
    inputs = find_inputs(task_name, command_line)
    measure = task.measure_of(command_line.get("--measure"))
    explanation = explain_inputs(task, command_line, inputs, measure)
    print_or_write_document(command_line, view_of_explanations(task), explanation)
    return _status_of(explanation)


def _status_of(explanation: Any) -> int:
    """Return the exit status for an explanation.

    If an error stopped the scoring of the run, the error is printed, and the status is that of a failure.
    """
    fatal_error = getattr(explanation, "fatal", None)  # only explanations of runs have this field
    if fatal_error is None:
        return Status.DONE
    remark(str(fatal_error))
    return Status.FAILED


def explain_inputs(task: Any, command_line: CommandLine, inputs: Runs | Predictions, measure: str | None) -> Any:
    """Score a run or predictions, and return the explanation of the parts selected by options.

    The options --line, --unit, --class, --node and --answer select parts of a run. For predictions, --unit selects
    units. The result is the document that `explain` prints, either a `RunExplanation` or an `EvidenceExplanation`.
    Raises UsageError or InputError.
    """
    if isinstance(inputs, Predictions):
        result = inputs.score_single()
        unit_ids = command_line.texts("--unit")
        return evidence.explain(task, result, unit_ids, measure, progress=with_analysis_percentage)
    return coldstart.explain(
        inputs.score_as_far_as_possible(),
        line=command_line.texts("--line"),
        query=command_line.texts("--unit"),  # the units of a run are its queries
        class_name=command_line.texts("--class"),
        node=command_line.texts("--node"),
        answer=command_line.texts("--answer"),
        measure=measure,
    )
