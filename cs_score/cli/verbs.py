"""The commands that explain scores, `analyze`, `explain` and `diff`, for all tasks."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from cs_score.analysis.coldstart.counted_table import DIMENSIONS
from cs_score.analysis.outcomes import json_text, shortened
from cs_score.base.display import escape_latex, escape_markdown
from cs_score.base.errors import OutputError, UsageError
from cs_score.base.outputs import Existing, PlannedOutput, encoded, folder_made, write_together
from cs_score.base.records import replace
from cs_score.base.runtime import Late
from cs_score.base.signature import answered_only_lines
from cs_score.cli import options
from cs_score.cli.core import Line, Option, Status
from cs_score.cli.inputs import Predictions, inputs_of_line, with_analysis_bar
from cs_score.cli.options import FILES, INTERVALS, SCORING, read_resampling, top_of
from cs_score.cli.output import STDOUT, print_text, remark, text_width, with_bar, with_deltas
from cs_score.cli.runs import Runs
from cs_score.cli.verb import Verb, VerbForm
from cs_score.coldstart.options import EDITIONS, PRESETS
from cs_score.tables.layout import latex, markdown, tsv
from cs_score.tasks import COLD_START, task_named

if TYPE_CHECKING:
    from cs_score.analysis import aggregate
    from cs_score.tasks.task import Task
else:
    aggregate = Late("cs_score.analysis.aggregate")

# ---- Where results go


def prepare_folder(line: Line, task: Task, kind: str) -> None:
    """Check that tables can be written into the folder of -o, and remove the tables of an earlier call.

    `kind` is the kind of document whose tables are written, `analysis` or `difference`. Only a table that begins with
    the right columns is removed. Nothing happens without a folder. Raises UsageError or OutputError.
    """
    folder = line.folder
    if folder is None:
        return
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise UsageError(f"{folder} is a file, where -o makes a folder")
    if os.path.islink(folder) and not os.path.isdir(folder):
        raise OutputError(f"Could not open {folder}: a link that leads to no folder; choose another -o")
    planned_outputs = []
    for name, columns in task.headers(kind).items():
        beginning = re.escape("\t".join(columns).encode())
        planned_outputs.append(PlannedOutput("-o", os.path.join(folder, name), Existing.RECOGNISED, beginning))
    line.plan(planned_outputs, folder=folder).clear()


def deliver(line: Line, task: Task, document: Any) -> int:
    """Print a document in the format of the command line, or write its tables into the folder of -o. Return 0.

    Raises OutputError; then none of the tables is written.
    """
    top = top_of(line)
    if line.folder is not None:
        _write_tables(task, document, line.folder)
    elif line.format == "json":
        STDOUT.write(encoded(json_text(shortened(document, top))))
    elif line.format == "tsv":
        _print_one_table(task, document, top)
    elif line.format in _MARKUP:
        _print_markup(task, document, line.format, top)
    else:
        most_rows = options.LARGEST_NUMBER if "--all" in line else top
        print_text(task.text(document, text_width(), most_rows), with_deltas)
    return Status.DONE


def _write_tables(task: Task, document: Any, folder: str) -> None:
    """Write the tables of a document that are for files into a folder, as `NAME.tsv`. Raises OutputError."""
    files = []
    for table in task.tables(document):
        if table.layout.is_file:
            files.append((os.path.join(folder, f"{table.layout.name}.tsv"), tsv(table)))
    with folder_made(folder, "-o"):
        write_together(files)


def _print_one_table(task: Task, document: Any, top: int | None) -> None:
    """Print one table of a document as TSV: the first one of `_PRINTED_TABLES` that has rows.

    `top` is the largest number of rows, None for all. If no table has rows, a header line is printed.
    """
    table_by_name = {table.layout.name: table for table in task.tables(document)}
    candidates = [table_by_name[name] for name in _PRINTED_TABLES if name in table_by_name]
    printed_table = candidates[-1]
    for table in candidates:
        if table.rows:
            printed_table = table
            break
    STDOUT.write(tsv(replace(printed_table, rows=printed_table.rows[:top])))


def _print_markup(task: Task, document: Any, format_: str, top: int | None) -> None:
    """Print the tables of a document that are for people, as Markdown or LaTeX, each below its title.

    `top` is the largest number of rows of a table, None for all.
    """
    markup = _MARKUP[format_]
    texts = _lines_on_answered_units(document, markup)
    for table in task.tables(document):
        if not table.layout.for_people or not table.rows:
            continue
        for part in table.parts():
            title = markup.escape(part.title.removesuffix(":"))
            lines = [markup.title_form.format(title), ""]
            lines.extend(markup.render(part, top))
            texts.append("\n".join(lines))
    print_text("\n\n".join(texts))


def _lines_on_answered_units(document: Any, markup: _Markup) -> list[str]:
    """Return a line with the number of units that are scored, if only the answered units are; otherwise none.

    A difference has such a line for each of its sides.
    """
    is_difference = hasattr(document, "origins")
    if is_difference:
        origin_by_name = {side.upper(): origin for side, origin in document.origins.items()}
    else:
        origin_by_name = {document.measure: document.origin}
    return [markup.escape(text) for text in answered_only_lines(origin_by_name)]


class _Markup(NamedTuple):
    """A format of tables for people: Markdown or LaTeX."""

    render: Callable[..., Iterable[str]]
    """Returns the lines of a table, from the table and the largest number of rows."""
    escape: Callable[[str], str]
    title_form: str
    """The title of a table, with {} for its text."""


_PRINTED_TABLES: Final = ("steps", "units", "mistakes")
"""The tables that are printed as TSV, the most informative one first; only one of them is printed."""

_MARKUP: Final = {
    "markdown": _Markup(markdown, escape_markdown, "### {}"),
    "latex": _Markup(latex, escape_latex, r"\paragraph{{{}}}"),
}

# ---- The verbs

RUNS_OPTIONS: Final = f"{SCORING} --knowledge-base -runids --run"
SIDE_B: Final = "--policy-b --pool-b --follow-b"
ANALYSIS_OF_RUNS: Final = f"{RUNS_OPTIONS} --measure --policy --also-policy --top --by {INTERVALS}"
ANALYSIS_OF_EVIDENCE: Final = "--gold --predictions --measure --top"
DIFFERENCE_OF_RUNS: Final = f"{RUNS_OPTIONS} --policy --measure {SIDE_B} --top {INTERVALS}"
DIFFERENCE_OF_EVIDENCE: Final = f"--gold --measure --top {INTERVALS}"

OWN_OPTIONS: Final = (
    Option(
        "--aggregate-only",
        "Only what participants of a closed evaluation may see: scores with intervals, and counts of mistakes of the "
        "whole run, none below 10",
    ),
    Option("--answer TEXT...", "The lines that give an answer, in which * stands for any text; may be repeated"),
    Option(
        "--by LIST...",
        "Groups by several dimensions at once, such as slot,language; may be repeated",
        choices=lambda _: DIMENSIONS,
    ),
    Option("--class ID...", "An equivalence class; may be repeated"),
    Option("--compare", "The page of a difference: of two runs, as diff takes them"),
    Option("--follow-b VERSION", "Take one run, and score it as B under this edition", choices=[*EDITIONS]),
    Option(
        "--line N...",
        "A line of the run by its number, as editors show it; FILE:N in one of several files; may be repeated",
    ),
    Option("--node ID...", "A node, by its id in the run or by its full id in the scorer's tables; may be repeated"),
    Option(
        "--policy-b NAME[:LIST]", "Take one run, and score it as B under this policy; see below", choices=[*PRESETS]
    ),
    Option("--pool-b FILE", "Take one run, and score it as B with these assessments"),
)

_FILES_OF_RUNS: Final = f"The queries, the run and its assessments, in any order. {FILES}"
_MISTAKES: Final = (
    "Mistakes",
    "A mistake is one abstract, sentence, fact, label or answer. Its gain is the difference between two scores: of "
    "predictions in which it is corrected, and of those given. Gains of several mistakes do not add up.",
)
_ANALYSIS: Final = (
    "Result",
    "What each mistake costs, just as the scorer would score the files without it; an error budget by kind of "
    "mistakes; scenarios for what nobody assessed; other policies. cs-score report makes a page of it.",
)
_EXPLANATION: Final = (
    "Result",
    "How the scorer decided, step by step, and what the line, class or node costs. Without a selection the run in one "
    "screen.",
)
_DIFFERENCE: Final = (
    "Result",
    "Both scores with the interval and the p-values of their difference; what each unit contributes to it, which adds "
    "up to it exactly, and likewise groups of units; answers and classes with another outcome. A positive difference "
    "is in favour of the second. cs-score report --compare makes a page of it.",
)
_POLICIES: Final = (options.POLICY_FORM, options.POLICIES)
_FORMATS: Final = "text json tsv markdown latex"


ANALYZE_VERB: Final = Verb(
    runs=VerbForm(
        options=f"{ANALYSIS_OF_RUNS} --all --force",
        formats=_FORMATS,
        files=_FILES_OF_RUNS,
        sections=[_ANALYSIS, *_POLICIES],
        folder="tsv",
    ),
    evidence=VerbForm(
        options=f"{ANALYSIS_OF_EVIDENCE} --all --force",
        formats=_FORMATS,
        files=options.FILES_OF_EVIDENCE,
        sections=[_MISTAKES],
        folder="tsv",
    ),
    own_options=OWN_OPTIONS,
    summary="List what each mistake of {task} predictions costs",
)


@ANALYZE_VERB.command
def analyze(task_name: str, line: Line) -> int:
    """Print or write the analysis of a run or of predictions. Return the exit status."""
    task = task_named(task_name)
    is_whole = line.format != "text" or line.folder is not None or "--all" in line
    inputs = inputs_of_line(task_name, line)
    analysis = analyze_inputs(task, line, inputs, is_whole=is_whole)
    return deliver(line, task, analysis)


def analyze_inputs(task: Task, line: Line, inputs: Runs | Predictions, *, is_whole: bool) -> Any:
    """Score one run, or the predictions of one system, and return the analysis of its scores.

    With `is_whole` the analysis is complete; otherwise it has only the parts that one screen shows. The tables of
    an earlier call are removed from the folder of -o before anything is scored. Raises UsageError or InputError.
    """
    mistake_count = top_of(line)
    measure = task.measure_of(line.get("--measure"))
    settings = inputs.settings
    progress = with_bar if task.name == COLD_START else with_analysis_bar
    prepare_folder(line, task, "analysis")
    result = inputs.score_single()
    return task.analyze(result, measure, top=mistake_count, is_whole=is_whole, progress=progress, **settings)


EXPLAIN_VERB: Final = Verb(
    runs=VerbForm(
        options=(
            f"{SCORING} --policy --knowledge-base -runids --run --line --unit --class --node --answer --measure --force"
        ),
        formats="text json tsv",
        files=_FILES_OF_RUNS,
        sections=[_EXPLANATION],
        example="--line 7 $ONE",
    ),
    evidence=VerbForm(
        options="--gold --predictions --unit --measure --force",
        formats=_FORMATS,
        files=options.FILES_OF_EVIDENCE,
        sections=[_MISTAKES],
    ),
    own_options=OWN_OPTIONS,
    summary="Explain how one {unit} of {task} was scored, and what it costs",
)


@EXPLAIN_VERB.command
def explain(task_name: str, line: Line) -> int:
    """Print how lines, classes, nodes or units were scored. Return the exit status.

    If an error stops the scoring of the run, the part that was scored before it is explained, then the error is
    printed, and the exit status is that of a failure.
    """
    task = task_named(task_name)
    inputs = inputs_of_line(task_name, line)
    explanation = inputs.explain(task.measure_of(line.get("--measure")))
    deliver(line, task, explanation)
    fatal_error = getattr(explanation, "fatal", None)
    if fatal_error is None:
        return Status.DONE
    remark(str(fatal_error))
    return Status.FAILED


DIFF_VERB: Final = Verb(
    runs=VerbForm(
        options=f"{DIFFERENCE_OF_RUNS} --all --force",
        formats="text json tsv",
        files=(
            "Query files (*.xml, perhaps compressed), assessments, and two runs: the first is A, the second B; a "
            "positive difference is in favour of B. Each run is scored by itself"
        ),
        sections=_POLICIES,
        example="$TWO",
        folder="tsv",
    ),
    evidence=VerbForm(
        options=f"{DIFFERENCE_OF_EVIDENCE} --all --force",
        formats=_FORMATS,
        files="Predictions A and B, behind gold where --gold does not name it",
        example="$TWO",
        folder="tsv",
    ),
    own_options=OWN_OPTIONS,
    sections=[_DIFFERENCE],
    summary="Explain why one {task} system scores higher than another, unit by unit",
)


@DIFF_VERB.command
def diff(task_name: str, line: Line) -> int:
    """Print or write the difference between two runs or two systems. Return the exit status."""
    task = task_named(task_name)
    return deliver(line, task, compute_difference(task, line))


def compute_difference(task: Task, line: Line) -> Any:
    """Score the two runs or systems of a command line, and return the difference between their scores.

    The tables of an earlier call are removed from the folder of -o before anything is scored. Raises UsageError or
    InputError.
    """
    top = top_of(line)
    resampling = read_resampling(line, always=True)
    inputs = inputs_of_line(task.name, line, most=2)
    prepare_folder(line, task, "difference")
    measure = task.measure_of(line.get("--measure"))
    result_a, result_b, names = inputs.score_pair()
    return task.diff(result_a, result_b, measure, names=names, top=top, resampling=resampling)
