"""The commands `report`, which makes HTML pages, and `plot`, which draws single charts. A page shows a document: the
analysis of one run or system, the difference of two, or the leaderboard of a batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from cs_score.analysis.outcomes import shortened
from cs_score.analysis.views import view_of_kind
from cs_score.base.documents import failures_as_input_error
from cs_score.base.errors import UsageError
from cs_score.base.outputs import ending_of, utf8_blocks
from cs_score.base.runtime import Late
from cs_score.base.slices import load_from_command_package
from cs_score.cli.core import FORCE, CommandLine, Option, Parameter, Status, command
from cs_score.cli.document_output import (
    ANALYSIS_OPTIONS_OF_EVIDENCE,
    ANALYSIS_OPTIONS_OF_RUNS,
    DIFFERENCE_OPTIONS_OF_EVIDENCE,
    DIFFERENCE_OPTIONS_OF_RUNS,
    OPTIONS_OF_RUNS,
    OPTIONS_OF_SIDE_B,
    OWN_OPTIONS,
    print_or_write_document,
    print_statistics,
)
from cs_score.cli.inputs import find_inputs
from cs_score.cli.output import STDOUT
from cs_score.cli.shared_options import INTERVAL_OPTIONS, read_resampling_with_defaults, read_top
from cs_score.cli.task_options import options_of_task
from cs_score.cli.verb import Verb, VerbUsage
from cs_score.pages.making import chart_kinds, chart_of, page_of, read_document
from cs_score.pages.page import MOST_ROWS, page_template
from cs_score.tasks import COLD_START, task_named
from cs_score.tasks.task import Task

if TYPE_CHECKING:
    from cs_score.analysis import aggregate
    from cs_score.analysis.aggregate import Aggregate
else:
    aggregate = Late("cs_score.analysis.aggregate")

_AGGREGATE_OPTIONS_OF_RUNS: Final = f"{OPTIONS_OF_RUNS} --measure --policy {INTERVAL_OPTIONS}"
_AGGREGATE_OPTIONS_OF_EVIDENCE: Final = f"--gold --predictions --measure {INTERVAL_OPTIONS}"
_OPTIONS_OF_EVERY_PAGE: Final = frozenset(("--output", "--format", "--force", "--quiet"))
"""The options that `report` accepts for every kind of page."""

_RESULT_SECTION: Final = (
    "Result",
    "A page that browsers show offline: scores, error budget, scores by group, what every mistake costs, "
    "and how to make it again. Tables sort, filter and copy; the address holds what is shown. Needs the "
    "extra report: pip install 'cs-score[report]'",
)


def _usage_for_runs() -> VerbUsage:
    """Return how to call `report` for Cold Start runs: its options, formats, files and an example."""
    return VerbUsage(
        options=f"--compare --aggregate-only {ANALYSIS_OPTIONS_OF_RUNS} {OPTIONS_OF_SIDE_B} --force",
        formats="html text json tsv",
        files=(
            "JSON of analyze, diff or batch (batch.json), or the files that analyze takes: query files, the run, its "
            "assessments; with --compare two runs"
        ),
        example="-o report.html $ONE",  # $ONE stands for the sample files of one run
    )


REPORT_VERB: Final = Verb(
    usage_for_runs=_usage_for_runs,
    usage_for_evidence=VerbUsage(
        options=f"--compare --aggregate-only {ANALYSIS_OPTIONS_OF_EVIDENCE} {INTERVAL_OPTIONS} --force",
        formats="html text json tsv",
        files="Gold and predictions in this order; with --compare two predictions",
        example="-o report.html $ONE",
    ),
    own_options=OWN_OPTIONS,
    sections=[_RESULT_SECTION],
    summary="Make an HTML page of {task} predictions",
)


@REPORT_VERB.command
def report(task_name: str, command_line: CommandLine) -> int:
    """Print an HTML page about one run, the difference of two runs, or a document. Return the exit status.

    In other formats, the output is the same as that of the commands analyze and diff. Raises UsageError for invalid
    options, and InputError for invalid files.
    """
    if command_line.format == "html":
        _check_page(command_line)
    if "--aggregate-only" in command_line:
        return _report_aggregate(task_name, command_line)
    if task_name == COLD_START and _names_only_document(command_line):
        return _report_document(command_line)
    task = task_named(task_name)
    if "--compare" in command_line:
        return _report_difference(task, command_line)
    return _report_analysis(task, command_line)


def _check_page(command_line: CommandLine) -> None:
    """Raise UsageError if -o does not name a file for the page, and MissingExtraError if pages cannot be made.

    With this check, both errors are reported before anything is scored.
    """
    if "--output" not in command_line:
        raise UsageError("-o PATH must be given for a page")
    page_template()  # may raise MissingExtraError; the template itself is used later


def _names_only_document(command_line: CommandLine) -> bool:
    """Return whether the only word of a command line is a JSON file, such as `analysis.json` or `batch.json.gz`."""
    words = command_line.positional_words
    return len(words) == 1 and ending_of(words[0]) == ".json"


def _report_analysis(task: Task, command_line: CommandLine) -> int:
    """Score a run, or predictions, and print the page of the analysis. Return the exit status.

    In other formats, the output is the same as that of the command analyze. Raises UsageError for invalid options, and
    InputError for invalid files.
    """
    analysis = _analyze(task, command_line)
    if command_line.format != "html":
        return print_or_write_document(command_line, view_of_kind("analysis", task), analysis)
    most_rows = MOST_ROWS if task.name == COLD_START else None  # None: all rows
    return _print_page(shortened(analysis, most_rows))


def _analyze(task: Task, command_line: CommandLine) -> Any:
    """Return the analysis of the run or predictions named on a command line, with the cost of each mistake.

    Raises UsageError for invalid options, and InputError for invalid files.
    """
    # All other options of `report` are for pages about two runs.
    _refuse_other_options(command_line, _options_of_analyses(task.name), reason="is for --compare")
    # This raises UsageError if the command analyze is not installed.
    analyze_inputs = load_from_command_package("analyze", "command:analyze_inputs", needed_by="report")
    inputs = find_inputs(task.name, command_line)
    # While `analyze` limits the analysis to one screen, a page has all of it.
    return analyze_inputs(task, command_line, inputs, is_whole=True)


def _report_difference(task: Task, command_line: CommandLine) -> int:
    """Score two runs or systems, and print the page of their difference. Return the exit status.

    In other formats, the output is the same as that of the command diff. Raises UsageError for invalid options, and
    InputError for invalid files.
    """
    difference = _compute_difference(task, command_line)
    if command_line.format != "html":
        return print_or_write_document(command_line, view_of_kind("difference", task), difference)
    return _print_page(shortened(difference, read_top(command_line)))


def _compute_difference(task: Task, command_line: CommandLine) -> Any:
    """Return the difference of the two runs or systems named on a command line.

    Raises UsageError for invalid options, and InputError for invalid files.
    """
    _refuse_other_options(command_line, _options_of_differences(task.name), reason="is not for --compare")
    # This raises UsageError if the command diff is not installed.
    compute_difference = load_from_command_package("diff", "command:compute_difference", needed_by="report --compare")
    return compute_difference(task, command_line)


def _report_document(command_line: CommandLine) -> int:
    """Print the page of a JSON document that analyze, diff or batch has written. Return the exit status.

    Raises UsageError for options that choose what to analyse, and InputError if the file is no such document.
    """
    file = command_line.positional_words[0]
    reason = f"says what to analyse, but {file} is an analysis already"
    _refuse_other_options(command_line, allowed_options=(), reason=reason)
    if command_line.format != "html":
        raise UsageError(f"--format {command_line.format}: {file} is an analysis already; report makes its page")
    document = read_document(file)
    with failures_as_input_error(file):
        page = page_of(document)
    STDOUT.write(utf8_blocks([page]))
    return Status.DONE


def _report_aggregate(task_name: str, command_line: CommandLine) -> int:
    """Print the summary of a run that participants of a closed evaluation may see. Return the exit status.

    Raises UsageError for options that would show more, and InputError if the run cannot be scored.
    """
    allowed_options = _options_of_aggregates(task_name)
    _refuse_other_options(command_line, allowed_options, reason="shows more than --aggregate-only allows")
    summary = score_aggregate(task_name, command_line)
    if command_line.format != "html":
        return print_statistics(command_line, aggregate.PRINTOUT, summary)
    return _print_page(summary)


def score_aggregate(task_name: str, command_line: CommandLine) -> Aggregate:
    """Score the inputs of a command line, and return the summary that participants of a closed evaluation may see.

    Raises UsageError for an invalid command line, and InputError if the run cannot be scored.
    """
    # All errors in the command line are reported before anything is scored.
    task = task_named(task_name)
    measure = task.measure_of(command_line.get("--measure"))
    resampling = read_resampling_with_defaults(command_line)
    inputs = find_inputs(task_name, command_line)

    result: Any = inputs.score_single()
    if task_name == COLD_START:
        return aggregate.aggregate_of_run(result, measure, resampling)
    # A run knows its headline measure. For predictions, the headline measure is recorded with their result.
    headline_measure = result.origin.measure
    return aggregate.aggregate_of_predictions(result, measure or headline_measure, resampling)


def _print_page(document: Any) -> int:
    """Print the HTML page of a document. Return the exit status."""
    page = page_of(document)
    STDOUT.write(utf8_blocks([page]))
    return Status.DONE


def _own_option_names(task_name: str) -> list[str]:
    """Return the names of the options that only this evidence task has, such as `--any-order`, and of --stage."""
    names = [option.long_name for option in options_of_task(task_name)]
    return ["--stage", *names]


def _options_of_aggregates(task_name: str) -> list[str]:
    """Return the names of the options that may be typed for a page with --aggregate-only."""
    if task_name == COLD_START:
        return f"--aggregate-only {_AGGREGATE_OPTIONS_OF_RUNS}".split()
    return f"--aggregate-only {_AGGREGATE_OPTIONS_OF_EVIDENCE}".split() + _own_option_names(task_name)


def _options_of_analyses(task_name: str) -> list[str]:
    """Return the names of the options that may be typed for a page about one run or system."""
    if task_name == COLD_START:
        return f"{ANALYSIS_OPTIONS_OF_RUNS} --also-policy".split()
    return f"{ANALYSIS_OPTIONS_OF_EVIDENCE} --also-policy".split() + _own_option_names(task_name)


def _options_of_differences(task_name: str) -> list[str]:
    """Return the names of the options that may be typed for a page about the difference of two runs or systems."""
    if task_name == COLD_START:
        return f"--compare {DIFFERENCE_OPTIONS_OF_RUNS} --policy-b".split()
    return f"--compare {DIFFERENCE_OPTIONS_OF_EVIDENCE} --policy-b".split() + _own_option_names(task_name)


def _refuse_other_options(command_line: CommandLine, allowed_options: Iterable[str], reason: str) -> None:
    """Raise UsageError for the first typed option besides `allowed_options` and those for every page.

    The message is the name of the option and the `reason`: `--by is for --compare`.
    """
    all_allowed_options = _OPTIONS_OF_EVERY_PAGE.union(allowed_options)
    for name in command_line.value_by_option:
        if name not in all_allowed_options:
            raise UsageError(f"{name} {reason}")


_CHARTS: Final = (
    ("budget", "The gain from correcting each kind of mistakes alone"),
    ("cumulated", "The score with one kind after the other corrected"),
    ("groups", "Precision, recall and F1 by slot, hop and so on"),
    ("sweep", "Scores by confidence threshold"),
    ("reliability", "How often answers of a confidence are right"),
    ("confusions", "Categories by slot, or labels predicted for those of gold"),
    ("precision", "Precision at each rank of a query's nodes"),
    ("contributions", "What units contribute to the difference of two runs"),
    ("leaderboard", "Scores of many runs with intervals and tiers"),
    ("heatmap", "Scores of queries, claims and so on by runs"),
    ("difficulty", "What is to be found, by how many runs have found it"),
    ("agreement", "How many right answers runs share"),
    ("systems", "What more and more runs find together"),
    ("stability", "How well rankings by other measures and policies agree"),
)


@command(
    "plot",
    (Option("--of NAME", "Which of several charts of a kind, such as the dimension of groups", "the first"), FORCE),
    Parameter("kind", "The chart", choices=lambda _: chart_kinds()),
    Parameter("analysis", "What analyze -o FILE.json, diff -o FILE.json or batch (batch.json) wrote"),
    needs_output=True,
    sections=[("Charts", _CHARTS)],
    formats=("svg",),
    example="budget analysis.json -o budget.svg",
)
def plot(command_line: CommandLine) -> int:
    """Print a chart of a JSON document as SVG. Return the exit status.

    Raises UsageError for invalid options, and InputError for invalid files.
    """
    kind, file = command_line.positional_words
    document = read_document(file)
    with failures_as_input_error(file):
        chart = chart_of(document, kind, command_line.get("--of"))
    STDOUT.write([chart.standalone().encode()])
    return Status.DONE
