"""Print and write what analyses and comparisons find, and hold the options that these commands share. The findings are
in a document, a record that can be written as JSON. A view makes text and tables of a document.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from cs_score.analysis.coldstart.counted_table import DIMENSIONS
from cs_score.analysis.outcomes import TwoSided, json_text, shortened
from cs_score.analysis.views import DocumentView
from cs_score.base.display import escape_latex, escape_markdown
from cs_score.base.errors import OutputError, UsageError
from cs_score.base.outputs import Existing, PlannedOutput, folder_made, utf8_blocks, write_together
from cs_score.base.records import replace
from cs_score.base.signature import answered_only_lines
from cs_score.cli import run_options
from cs_score.cli import shared_options as options
from cs_score.cli.core import CommandLine, Option, Status
from cs_score.cli.output import STDOUT, print_text, text_width, with_coloured_differences
from cs_score.cli.run_options import FILES, SCORING_SWITCHES
from cs_score.cli.shared_options import INTERVAL_OPTIONS, read_top
from cs_score.coldstart.options import EDITIONS, PRESETS
from cs_score.tables.layout import Table, latex, markdown, tsv

if TYPE_CHECKING:
    from cs_score.tables.statistics import Printout

# ---- Where results go


def remove_earlier_tables(command_line: CommandLine, view: DocumentView) -> None:
    """Check that tables can be written into the folder that -o names, and remove the tables of an earlier call.

    `view` says which tables there are. A file with the name of a table is removed only if it begins with the columns of
    that table. Nothing happens if -o names no folder. Raises UsageError or OutputError if a file may not be written.
    """
    folder = command_line.folder
    if folder is None:
        return
    _check_folder(folder)
    planned_tables = []
    for file_name, columns in view.headers().items():
        header_pattern = re.escape("\t".join(columns).encode())
        path = os.path.join(folder, file_name)
        planned_tables.append(PlannedOutput("-o", path, Existing.RECOGNISED, header_pattern))
    plan = command_line.plan(planned_tables, folder=folder)  # raises an error if a file must not be replaced
    plan.remove_earlier_files()


def _check_folder(path: str) -> None:
    """Raise UsageError if there is a file at the path, and OutputError if it is a link that does not lead to a folder.

    A path that does not exist is accepted, because the folder will be made.
    """
    if os.path.isdir(path):
        return
    if os.path.exists(path):
        raise UsageError(f"{path} is a file, where -o makes a folder")
    if os.path.islink(path):
        raise OutputError(f"Could not open {path}: a link that leads to no folder; choose another -o")


def print_or_write_document(command_line: CommandLine, view: DocumentView, document: Any) -> int:
    """Print a document in the format of the command line, or write its tables into the folder of -o. Return 0.

    `view` says how documents of this kind are shown. Raises OutputError; no table is written in that case.
    """
    row_limit = read_top(command_line)  # the value of --top, or None
    if command_line.folder is not None:
        _write_tables(view, document, command_line.folder)
    elif command_line.format == "text":
        # For people tables are cut by default, which --all prevents. Other formats have all rows without --top.
        most_rows = options.LARGEST_NUMBER if "--all" in command_line else row_limit
        _print_for_people(view, document, most_rows)
    else:
        _print_in_format(command_line.format, view, document, row_limit)
    return Status.DONE


def _print_for_people(view: DocumentView, document: Any, most_rows: int | None) -> None:
    """Print a document as text that fits the terminal, with colours for differences.

    `most_rows` is the largest number of rows of a table; if it is None, as many are shown as fit on a screen.
    """
    text = view.text(document, text_width(), most_rows)
    print_text(text, with_coloured_differences)


def _print_in_format(format_: str, view: DocumentView, document: Any, row_limit: int | None) -> None:
    """Print a document as `json`, `tsv`, `markdown` or `latex`.

    `row_limit` is the largest number of rows of a table, or None for all rows.
    """
    if format_ == "json":
        pieces = json_text(shortened(document, row_limit))
        STDOUT.write(utf8_blocks(pieces))
    elif format_ == "tsv":
        _print_one_table(view, document, row_limit)
    else:
        _print_markup(view, document, _MARKUP[format_], row_limit)


def print_statistics(command_line: CommandLine, printout: Printout, document: Any) -> int:
    """Print a document of statistics as text, JSON or TSV, as the command line asks. Return 0.

    `printout` says how such documents are printed.
    """
    text = printout.text_in_format(document, command_line.format, text_width())
    print_text(text, with_coloured_differences)
    return Status.DONE


def _write_tables(view: DocumentView, document: Any, folder: str) -> None:
    """Write the tables of a document into a folder, as `NAME.tsv`, except tables with a layout for the screen only.

    Raises OutputError if a file cannot be written.
    """
    files = []
    for table in view.tables(document):
        if table.layout.for_files:
            files.append((os.path.join(folder, f"{table.layout.name}.tsv"), tsv(table)))
    with folder_made(folder, "-o"):
        write_together(files)


def _print_one_table(view: DocumentView, document: Any, row_limit: int | None) -> None:
    """Print one table of a document as TSV: the first one of `_PRINTED_TABLES` that has rows.

    `row_limit` is the largest number of rows, None for all. If no table has rows, the header of the last one is
    printed.
    """
    table_by_name = {table.layout.name: table for table in view.tables(document)}
    candidates = [table_by_name[name] for name in _PRINTED_TABLES if name in table_by_name]
    tables_with_rows = [table for table in candidates if table.rows]
    printed_table = tables_with_rows[0] if tables_with_rows else candidates[-1]
    first_rows = printed_table.rows[:row_limit]
    STDOUT.write(tsv(replace(printed_table, rows=first_rows)))


def _print_markup(view: DocumentView, document: Any, markup: _Markup, row_limit: int | None) -> None:
    """Print the tables of a document that are meant for people, as Markdown or LaTeX, each with its title above it.

    `row_limit` is the largest number of rows of a table, or None for all rows.
    """
    texts = _lines_on_answered_units(document, markup)
    for table in view.tables(document):
        if table.layout.for_people and table.rows:  # some tables are for programs alone
            texts.extend(_titled_table(part, markup, row_limit) for part in table.parts())
    print_text("\n\n".join(texts))


def _titled_table(table: Table, markup: _Markup, row_limit: int | None) -> str:
    """Return a title and below it a table, as text in Markdown or LaTeX.

    The table has at most `row_limit` rows, or all rows if `row_limit` is None.
    """
    title = markup.escape(table.title.removesuffix(":"))
    lines = [markup.title_form.format(title), ""]
    lines.extend(markup.render(table, row_limit))
    return "\n".join(lines)


def _lines_on_answered_units(document: Any, markup: _Markup) -> list[str]:
    """Return lines that say how many units a score is based on, if only the answered units were scored.

    For example `er_f1: scored on 100 of 7,405 questions, those it answers`. The document of a difference may have a
    line for each of its sides, A and B. There is no line if all units were scored.
    """
    if isinstance(document, TwoSided):  # a difference; its JSON calls the sides `a` and `b`
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

# ---- Options and help

OPTIONS_OF_RUNS: Final = f"{SCORING_SWITCHES} --knowledge-base -runids --run"
OPTIONS_OF_SIDE_B: Final = "--policy-b --pool-b --follow-b"
ANALYSIS_OPTIONS_OF_RUNS: Final = f"{OPTIONS_OF_RUNS} --measure --policy --also-policy --top --by {INTERVAL_OPTIONS}"
ANALYSIS_OPTIONS_OF_EVIDENCE: Final = "--gold --predictions --measure --top"
DIFFERENCE_OPTIONS_OF_RUNS: Final = f"{OPTIONS_OF_RUNS} --policy --measure {OPTIONS_OF_SIDE_B} --top {INTERVAL_OPTIONS}"
DIFFERENCE_OPTIONS_OF_EVIDENCE: Final = f"--gold --measure --top {INTERVAL_OPTIONS}"

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

FILES_OF_RUNS: Final = f"The queries, the run and its assessments, in any order. {FILES}"
ABOUT_MISTAKES: Final = (
    "Mistakes",
    "A mistake is one abstract, sentence, fact, label or answer. Its gain is the difference between two scores: of "
    "predictions in which it is corrected, and of those given. Gains of several mistakes do not add up.",
)
POLICY_SECTIONS: Final = (run_options.POLICY_FORM, run_options.POLICIES)
FORMATS: Final = "text json tsv markdown latex"
