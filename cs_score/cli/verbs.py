"""What explains a score: `analyze`, `explain`, `diff`, `report` and `plot`, each written once for every task."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from cs_score.analysis.coldstart.groups import DIMENSIONS
from cs_score.analysis.outcomes import json_text, shortened
from cs_score.base.display import escape_latex, escape_markdown
from cs_score.base.documents import refusing_incomplete
from cs_score.base.errors import OutputError, UsageError
from cs_score.base.outputs import Existing, PlannedOutput, encoded, ending_of, folder_made, write_together
from cs_score.base.records import replace
from cs_score.base.runtime import Late
from cs_score.base.signature import answered_lines
from cs_score.cli import options
from cs_score.cli.core import FORCE, Line, Option, Parameter, Status, command
from cs_score.cli.inputs import Predictions, analysing, named_by
from cs_score.cli.options import FILES, INTERVALS, SCORING, own_options, read_resampling, top_of, verb
from cs_score.cli.output import STDOUT, print_text, remark, text_width, with_bar, with_deltas
from cs_score.cli.runs import Runs
from cs_score.cli.scoring import print_found
from cs_score.coldstart.options import EDITIONS, PRESETS
from cs_score.report.documents import CHART_KINDS, chart_of, page_of, read_document
from cs_score.report.page import MOST_ROWS, page_template
from cs_score.statistics.options import Resampling
from cs_score.tables.layout import latex, markdown, tsv
from cs_score.tasks import COLD_START, task_named

if TYPE_CHECKING:
    from cs_score.analysis import aggregate
    from cs_score.analysis.aggregate import Aggregate
    from cs_score.tasks.task import Task
else:
    aggregate = Late("cs_score.analysis.aggregate")

# ---- Where results go


def make_way(line: Line, task: Task, kind: str) -> None:
    """Check the tables that `-o FOLDER` will take, known by their first columns, and remove those of an earlier call.

    Raises UsageError or OutputError, also for what is no folder.
    """
    folder = line.folder
    if folder is None:
        return
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise UsageError(f"{folder} is a file, where -o makes a folder")
    if os.path.islink(folder) and not os.path.isdir(folder):
        raise OutputError(f"Could not open {folder}: a link that leads to no folder; choose another -o")
    planned = [
        PlannedOutput("-o", os.path.join(folder, name), Existing.RECOGNISED, re.escape("\t".join(columns).encode()))
        for name, columns in task.headers(kind).items()
    ]
    line.plan(planned, folder=folder).clear()


def deliver(line: Line, task: Task, document: Any) -> int:
    """Print a document in the format that is asked for, or write its tables into a folder, all or none.

    Raises OutputError.
    """
    top = top_of(line)
    if (folder := line.folder) is not None:
        tables = (table for table in task.tables(document) if table.layout.is_file)
        files = [(os.path.join(folder, f"{table.layout.name}.tsv"), tsv(table)) for table in tables]
        with folder_made(folder, "-o"):
            write_together(files)
    elif line.format == "json":
        STDOUT.write(encoded(json_text(shortened(document, top))))
    elif line.format == "tsv":
        by_name = {table.layout.name: table for table in task.tables(document)}
        found = [by_name[name] for name in _PRINTED if name in by_name]
        table = next((table for table in found if table.rows), found[-1])
        STDOUT.write(tsv(replace(table, rows=table.rows[:top])))
    elif line.format in _MARKUP:
        render, above = _MARKUP[line.format]
        shown = [table for table in task.tables(document) if table.layout.for_people and table.rows]
        parts = [part for table in shown for part in table.parts()]
        texts = ["\n".join((above(part.title), "", *render(part, top))) for part in parts]
        print_text("\n\n".join([*_answered(document, line.format), *texts]))
    else:
        print_text(task.text(document, text_width(), options.MOST_SHOWN if "--all" in line else top), with_deltas)
    return Status.DONE


def _answered(document: Any, format_: str) -> list[str]:
    """Return what stands above the tables of a document whose scores are on the units that were answered alone."""
    if hasattr(document, "origins"):
        lines = answered_lines({side.upper(): origin for side, origin in document.origins.items()})
    else:
        lines = answered_lines({document.measure: document.origin})
    escape = escape_markdown if format_ == "markdown" else escape_latex
    return [escape(text) for text in lines]


_PRINTED: Final = ("steps", "units", "mistakes")
"""The table that is printed where one is asked for: the first of these that says something."""

_MARKUP: Final[dict[str, tuple[Callable[..., Iterable[str]], Callable[[str], str]]]] = {
    "markdown": (markdown, lambda title: f"### {escape_markdown(title.removesuffix(':'))}"),
    "latex": (latex, lambda title: rf"\paragraph{{{escape_latex(title.removesuffix(':'))}}}"),
}
"""How tables are rendered, and what stands above each."""

# ---- The verbs

_RUNS: Final = f"{SCORING} --knowledge-base -runids --run"
_TWO: Final = "--policy-b --pool-b --follow-b"
_OF_ANALYSES: Final = (
    f"{_RUNS} --measure --policy --also-policy --top --by {INTERVALS}",
    "--gold --predictions --measure --top",
)
"""What says what is analysed, and how: in Cold Start, and in tasks of evidence."""

_OF_DIFFERENCES: Final = (f"{_RUNS} --policy --measure {_TWO} --top {INTERVALS}", f"--gold --measure --top {INTERVALS}")
"""Likewise which two are compared."""

_OF_AGGREGATES: Final = (f"{_RUNS} --measure --policy {INTERVALS}", f"--gold --predictions --measure {INTERVALS}")
"""Likewise what is shown to those who must not learn gold."""

_OWN: Final = (
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

_FILES: Final = (f"The queries, the run and its assessments, in any order. {FILES}", options.FILES_OF_EVIDENCE)
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
_PAGE: Final = (
    "Result",
    "A page that browsers show offline: scores, error budget, scores by group, what every mistake costs, "
    "and how to make it again. Tables sort, filter and copy; what is shown stands in the address. Needs the "
    "extra report: pip install 'cs-score[report]'",
)
_POLICIES: Final = (options.POLICY_FORM, options.POLICIES)
_FORMATS: Final = "text json tsv markdown latex"


def _analyzed(task: Task, line: Line, given: Runs | Predictions, top: int | None, *, is_whole: bool) -> Any:
    measure, settings = task.measure_of(line.get("--measure")), given.settings
    progress = with_bar if task.name == COLD_START else analysing
    make_way(line, task, "analysis")
    return task.analyze(given.one(), measure, top=top, is_whole=is_whole, progress=progress, **settings)


def _difference(task: Task, line: Line) -> Any:
    top, resampling = top_of(line), read_resampling(line, always=True)
    given = named_by(task.name, line, most=2)
    make_way(line, task, "difference")
    measure = task.measure_of(line.get("--measure"))
    a, b, names = given.both()
    return task.diff(a, b, measure, names=names, top=top, resampling=resampling)


@verb(
    (f"{_OF_ANALYSES[0]} --all --force", f"{_OF_ANALYSES[1]} --all --force"),
    _FORMATS,
    own=_OWN,
    files=_FILES,
    of_runs=[_ANALYSIS, *_POLICIES],
    of_evidence=[_MISTAKES],
    folder="tsv",
    summary="What each mistake of {task} predictions costs",
)
def analyze(name: str, line: Line) -> int:
    task, top = task_named(name), top_of(line)
    is_whole = line.format != "text" or line.folder is not None or "--all" in line
    return deliver(line, task, _analyzed(task, line, named_by(name, line), top, is_whole=is_whole))


@verb(
    (
        f"{SCORING} --policy --knowledge-base -runids --run --line --unit --class --node --answer --measure --force",
        "--gold --predictions --unit --measure --force",
    ),
    ("text json tsv", _FORMATS),
    own=_OWN,
    files=_FILES,
    of_runs=[_EXPLANATION],
    of_evidence=[_MISTAKES],
    summary="How one {unit} of {task} was scored, and what it costs",
    example=("--line 7 $ONE", "$ONE"),
)
def explain(name: str, line: Line) -> int:
    """Explain. Failed where the run cannot be scored; what can be said of it is said all the same."""
    task, given = task_named(name), named_by(name, line)
    found = given.explained(task.measure_of(line.get("--measure")))
    deliver(line, task, found)
    fatal = getattr(found, "fatal", None)
    if fatal is None:
        return Status.DONE
    remark(str(fatal))
    return Status.FAILED


@verb(
    (f"{_OF_DIFFERENCES[0]} --all --force", f"{_OF_DIFFERENCES[1]} --all --force"),
    ("text json tsv", _FORMATS),
    files=(
        "Query files (*.xml, perhaps compressed), assessments, and two runs: the first is A, the second B; a positive "
        "difference is in favour of B. Each run is scored by itself",
        "Predictions A and B, behind gold where --gold does not name it",
    ),
    own=_OWN,
    sections=[_DIFFERENCE],
    of_runs=_POLICIES,
    folder="tsv",
    example="$TWO",
    summary="Why one {task} system scores higher than another, unit by unit",
)
def diff(name: str, line: Line) -> int:
    task = task_named(name)
    return deliver(line, task, _difference(task, line))


@verb(
    (
        f"--compare --aggregate-only {_OF_ANALYSES[0]} {_TWO} --force",
        f"--compare --aggregate-only {_OF_ANALYSES[1]} {INTERVALS} --force",
    ),
    "html text json tsv",
    files=(
        "JSON of analyze, diff or batch (batch.json), or the files that analyze takes: query files, the run, its "
        "assessments; with --compare two runs",
        "Gold and predictions in this order; with --compare two predictions",
    ),
    own=_OWN,
    sections=[_PAGE],
    summary="The page of {task} predictions",
    example="-o report.html $ONE",
)
def report(name: str, line: Line) -> int:
    """The page of one run, of two, or of what was analysed before. Raises UsageError, InputError.

    In another format it is what analyze and diff give.
    """
    is_page, task, is_evidence = line.format == "html", task_named(name), name != COLD_START
    if is_page and "--output" not in line:
        raise UsageError("-o PATH must be given for a page")
    if is_page:
        page_template()
    if "--aggregate-only" in line:
        return _report_aggregate(name, line)
    if not is_evidence and len(line.words) == 1 and ending_of(line.words[0]) == ".json":
        _refuse_others(line, "", f"says what to analyse, but {line.words[0]} is an analysis already")
        if not is_page:
            raise UsageError(f"--format {line.format}: {line.words[0]} is an analysis already; report makes its page")
        document = read_document(line.words[0])
        with refusing_incomplete(line.words[0]):
            page = page_of(document)
        STDOUT.write(encoded([page]))
        return Status.DONE
    own = " ".join(["--stage", *(option.long for option in own_options(name))]) if is_evidence else ""
    if "--compare" in line:
        _refuse_others(line, f"--compare {_OF_DIFFERENCES[is_evidence]} --policy-b {own}", "is not for --compare")
        found, most = _difference(task, line), top_of(line)
    else:
        _refuse_others(line, f"{_OF_ANALYSES[is_evidence]} --also-policy {own}", "is for --compare")
        most = None if is_evidence else MOST_ROWS
        found = _analyzed(task, line, named_by(name, line), top_of(line), is_whole=True)
    if not is_page:
        return deliver(line, task, found)
    STDOUT.write(encoded([page_of(shortened(found, most))]))
    return Status.DONE


def _report_aggregate(name: str, line: Line) -> int:
    """Print what participants of a closed evaluation may see of a run, as a page or in another format.

    Raises UsageError for options that ask for more, InputError where the run cannot be scored.
    """
    is_evidence = name != COLD_START
    own = [option.long for option in own_options(name)] if is_evidence else []
    known = " ".join(["--aggregate-only", _OF_AGGREGATES[is_evidence], *own])
    _refuse_others(line, known, "shows more than --aggregate-only allows")
    found = aggregated(name, line)
    if line.format != "html":
        return print_found(line, aggregate.PRINTOUT, found)
    STDOUT.write(encoded([page_of(found)]))
    return Status.DONE


def aggregated(name: str, line: Line) -> Aggregate:
    """Score what a command line names, and return what participants of a closed evaluation may see of it.

    Raises UsageError, InputError where the run cannot be scored.
    """
    task = task_named(name)
    measure = task.measure_of(line.get("--measure"))
    resampling = read_resampling(line, always=True) or Resampling()
    result: Any = named_by(name, line).one()
    if name == COLD_START:
        return aggregate.aggregate_of_run(result, measure, resampling)
    return aggregate.aggregate_of_predictions(result, measure or result.origin.measure, resampling)


def _refuse_others(line: Line, known: str, why: str) -> None:
    """Raises UsageError for an option that means nothing here."""
    for name in line.switches:
        if name not in f"{known} --output --format --force --quiet".split():
            raise UsageError(f"{name} {why}")


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
    Parameter("kind", "The chart", choices=lambda _: CHART_KINDS),
    Parameter("analysis", "What analyze -o FILE.json, diff -o FILE.json or batch (batch.json) wrote"),
    needs_output=True,
    sections=[("Charts", _CHARTS)],
    formats=("svg",),
    example="budget analysis.json -o budget.svg",
)
def plot(line: Line) -> int:
    kind, name = line.words
    document = read_document(name)
    with refusing_incomplete(name):
        drawing = chart_of(document, kind, line.get("--of"))
    STDOUT.write([drawing.standalone().encode()])
    return Status.DONE
