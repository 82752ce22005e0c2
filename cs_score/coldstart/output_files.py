"""Write the output files of the scorer and its report as text, in the form of the reference scorer. The SF table has
the scores of each slot-filling query and answer. An LDC query is asked by several of these queries: LDC-MAX shows the
best of them, and LDC-MEAN their mean.

The output files of a run are its tables (`.sf`, `.ldcmax`, `.ldcmean`, `.summary`, `.ap`), the debug file, and files
about resamples; `.params` is about the whole call.
"""

from __future__ import annotations

import functools
import os
import re
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from cs_score.base.display import align_columns, one_line
from cs_score.base.errors import InputError
from cs_score.base.outputs import blocks_of, utf8_blocks
from cs_score.base.records import Record
from cs_score.coldstart.judging import Counts, Labels, Tally, labels_without, pre_policy_category
from cs_score.coldstart.lines import Assessment, Response, load_order
from cs_score.coldstart.options import LATEST, Edition, Options, is_left_out
from cs_score.coldstart.ranking import RankedNode, Ranking
from cs_score.coldstart.result import (
    AveragePrecision,
    PrecisionRecall,
    Result,
    ScoredRun,
    ScoreRow,
    UnitResult,
    tallies_of,
)
from cs_score.problems.log import NO_SOURCE, Problem
from cs_score.statistics.resampling_settings import note_sentences

if TYPE_CHECKING:
    from cs_score.coldstart.samples import Bootstrap, Sample, SampleLimits
    from cs_score.statistics.results import ScoreIntervals


class Field(Record):
    """A column that tables can have.

    `header` is its heading, such as `Prec`. `attribute` is the attribute of a row, or of its counts, that the column
    shows. `meaning` explains the column to users.
    """

    header: str
    attribute: str
    meaning: str

    @property
    def is_count(self) -> bool:
        """Whether the column shows counts, which are aligned to the right."""
        return self.attribute in Counts.__struct_fields__


SCORE_FIELDS: Final[Mapping[str, Field]] = {
    "EC": Field("QID/EC", "name", "query, or query and class"),
    "RUNID": Field("RunID", "run_id", "run"),
    "LEVEL": Field("Hop", "level", "hop from 0 on, or ALL"),
    "GT": Field("GT", "ground_truth", "classes to be found"),
    "SUBMITTED": Field("Submitted", "submitted", "responses"),
    "CORRECT": Field("Correct", "correct", "responses assessed as correct, below a right parent"),
    "INCORRECT": Field("Incorrect", "incorrect", "responses assessed as incorrect, below a right parent"),
    "INEXACT": Field("Inexact", "inexact", "responses assessed as inexact, below a right parent"),
    "INCORRECT_PARENT": Field("PIncorrect", "incorrect_parent", "responses below an answer that is not right"),
    "UNASSESSED": Field("Unassessed", "unassessed", "responses without assessment, below a right parent"),
    "REDUNDANT": Field("Dup", "redundant", "duplicates of a right response"),
    "RIGHT": Field("Right", "right", "responses that count as right"),
    "WRONG": Field("Wrong", "wrong", "responses that count as wrong"),
    "IGNORED": Field("Ignored", "ignored", "responses that are left out of precision"),
    "P": Field("Prec", "precision", "precision"),
    "R": Field("Recall", "recall", "recall"),
    "F": Field("F1", "f1", "F1"),
}

DEFAULT_FIELDS: Final = tuple(SCORE_FIELDS)

# The columns of `.ldcmean` and `.summary`, whatever `-fields` says.
SUMMARY_FIELDS: Final = ("EC", "RUNID", "LEVEL", "P", "R", "F")
AP_FIELDS: Final[Mapping[str, Field]] = {
    "EC": Field("QID/EC", "name", "query"),
    "RUNID": Field("RunID", "run_id", "run"),
    "LEVEL": Field("Hop", "level", "hop"),
    "AP": Field("AP", "score", "average precision"),
}

TABLE_FOOT: Final = "\n*ALL-Macro Prec, Recall and F1 refer to mean-precision, mean-recall and mean-F1.\n"
AP_FOOT: Final = "\n*ALL-Macro AP refer to mean of corresponding AP values.\n"
# The spelling of "coressponding" is part of the format.
AP_TITLES: Final = {
    "SF": "SF: Slot-filling score variant considering all entrypoints as a separate query",
    "LDC-MEAN": "LDC-MEAN: LDC level score variant considering averaging scores for all coressponding entrypoints",
}
AP_SUMMARY: Final = "SUMMARY: This section provides summary of AP scores"


def check_fields(field_names: Iterable[str]) -> None:
    """Raise InputError if any of the names is not the name of a field of tables."""
    for field_name in field_names:
        if field_name not in SCORE_FIELDS:
            raise InputError(f"Unknown field: {field_name}", remedy=f"the fields are {':'.join(SCORE_FIELDS)}")


def resampled_metrics(fields: Collection[str]) -> tuple[str, ...]:
    """Return which of the metrics P, R and F have values in resamples if tables show these fields.

    For example: `("P", "R", "F")`. The reference scorer reads the values of a resample from its own tables. Tables must
    therefore show the metric, as well as the fields by which the reference scorer finds a row: its name (`EC`) and its
    hop (`LEVEL`).
    """
    if "EC" not in fields or "LEVEL" not in fields:
        return ()
    all_metrics = Options().metrics  # by default, all metrics
    return tuple(metric for metric in all_metrics if metric in fields)


class TableLayout:
    """Lay out the tables of one run as text, one after the other.

    A column is as wide as its widest cell in this table and in the tables before it.
    """

    def __init__(
        self, field_by_name: Mapping[str, Field], shown_names: Iterable[str], run_id: str, is_tab_separated: bool
    ) -> None:
        """Prepare to lay out tables of one run. `field_by_name` has all columns of the tables by name, such as `EC`.

        The cells of fields that are not among `shown_names` stay empty. Cells are padded and separated by blanks. If
        `is_tab_separated` is true, they are separated by tabs and not padded.
        """
        self._field_by_name = field_by_name
        self._run_id = run_id
        self._is_tab_separated = is_tab_separated
        self._width_by_name = {name: len(field_by_name[name].header) for name in shown_names}

    def header(self, field_names: Sequence[str]) -> str:
        """Return the header line of a table with these fields."""
        cells = [self._padded_cell(name, self._field_by_name[name].header) for name in field_names]
        return self._join_lines([cells])

    def table_body(self, field_names: Sequence[str], rows: Sequence[ScoreRow], prefix: str = "") -> str:
        """Return the lines of a table without its header. `field_names` lists its fields (columns), such as `EC`.

        The columns become as wide as their widest cells, and keep this width in later tables. A `prefix`, such as
        `SF-`, is put before the first cell of each line. With a prefix, the columns keep their current width.
        """
        columns = []
        for position, name in enumerate(field_names):
            prefix_of_column = prefix if position == 0 else ""
            columns.append(self._make_cells(name, rows, prefix_of_column, keeps_width=bool(prefix)))
        if not columns:  # a table without fields has an empty line for each row
            return "\n" * len(rows)
        rows_of_cells = zip(*columns)
        return self._join_lines(rows_of_cells)

    def _make_cells(self, name: str, rows: Sequence[ScoreRow], prefix: str, keeps_width: bool) -> list[str]:
        """Widen a column to its widest cell, unless `keeps_width` is true, and return its padded cells.

        `name` is the name of the column's field. `prefix` is put before the text of each cell.
        """
        is_shown = name in self._width_by_name
        if not is_shown:  # the column has no width, and its cells contain only the prefix
            return [prefix] * len(rows)
        values = self._column_values(self._field_by_name[name], rows)
        # Most columns have few distinct values, so each value is formatted and padded only once.
        cell_by_value = {value: prefix + _cell_text(value) for value in set(values)}
        if not keeps_width:
            widths = [len(cell) for cell in cell_by_value.values()]
            self._width_by_name[name] = max([self._width_by_name[name], *widths])
        padded_by_value = {value: self._padded_cell(name, cell) for value, cell in cell_by_value.items()}
        return [padded_by_value[value] for value in values]

    def _column_values(self, field: Field, rows: Sequence[ScoreRow]) -> list[object]:
        """Return the value of each row in the column of a field, before numbers are formatted.

        Rows of means do not have counts. Four blanks are shown instead.
        """
        if field.attribute == "run_id":
            return [self._run_id] * len(rows)
        if field.is_count:
            return ["    " if row.counts is None else getattr(row.counts, field.attribute) for row in rows]
        values = [getattr(row, field.attribute) for row in rows]
        if 0.0 in values:  # also True for -0.0; only the few columns with zeros are searched for -0.0
            # -0.0 is equal to 0.0, but must be printed with its sign.
            values = ["-0.0000" if value == 0 and str(value) == "-0.0" else value for value in values]
        return values

    def _join_lines(self, rows: Iterable[Sequence[str]]) -> str:
        """Return the text that has a line for each row of cells."""
        separator = "\t" if self._is_tab_separated else " "
        return "".join([f"{separator.join(cells)}\n" for cells in rows])

    def _padded_cell(self, name: str, cell: str) -> str:
        """Return a cell padded to the width of its column; it is not padded if cells are separated by tabs.

        Counts are aligned to the right, other cells to the left.
        """
        width = 0
        if not self._is_tab_separated:
            width = self._width_by_name.get(name, 0)
        return cell.rjust(width) if self._field_by_name[name].is_count else cell.ljust(width)


def _cell_text(value: object) -> str:
    """Return the text of a cell with this value: `12` -> `  12`, `0.5` -> `0.5000`; texts are not changed."""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:4d}"
    return f"{value:6.4f}"


class ColumnLayout(Record):
    """The layout of tables: the names of the fields of `.sf` and `.ldcmax`, and whether tabs separate the columns."""

    fields: Sequence[str] = DEFAULT_FIELDS
    is_tab_separated: bool = False


def _table_texts(run: ScoredRun, chosen_columns: ColumnLayout) -> Iterator[tuple[str, str]]:
    """Yield the file ending and the text of each table of one run: `sf`, `ldcmax`, `ldcmean` and then `summary`.

    The text is empty if the run does not have the table. The columns of a table are at least as wide as those of the
    earlier tables.
    """
    # The layout may widen its columns with each table, so the texts must be made in the order of the tables.
    widening_layout = TableLayout(SCORE_FIELDS, chosen_columns.fields, run.run_id, chosen_columns.is_tab_separated)
    tables_with_fields = (
        ("sf", run.tables.sf, chosen_columns.fields),
        ("ldcmax", run.tables.ldc_max, chosen_columns.fields),
        ("ldcmean", run.tables.ldc_mean, SUMMARY_FIELDS),
    )
    for ending, table, field_names in tables_with_fields:
        if table is None:
            yield ending, ""
        else:
            yield ending, _table_with_header(widening_layout, field_names, table.rows, table.averages) + TABLE_FOOT
    yield "summary", _summary_text(widening_layout, run.tables)


def _table_with_header(
    table_layout: TableLayout, field_names: Sequence[str], rows: tuple[ScoreRow, ...], averages: tuple[ScoreRow, ...]
) -> str:
    """Return the text of a table: its header, then `rows`, then `averages`.

    `field_names` lists its fields (columns), such as `EC`. A table without rows does not have a header.
    """
    # The lines are laid out before the header, because they may widen the columns.
    body = table_layout.table_body(field_names, rows + averages)
    header = table_layout.header(field_names) if rows else ""
    return header + body


def _summary_text(table_layout: TableLayout, tables: PrecisionRecall) -> str:
    """Return the text of `.summary`: the averages of all tables, with names such as `LDC-MEAN-ALL-Macro`."""
    bodies = []
    for variant, table in tables.variants:
        bodies.append(table_layout.table_body(SUMMARY_FIELDS, table.averages, prefix=f"{variant}-"))
    return table_layout.header(SUMMARY_FIELDS) + "".join(bodies) + TABLE_FOOT


def averages_text(run: ScoredRun) -> str:
    """Return the averages of a run, as shown in `.summary`, as an aligned table for a terminal.

    The names of the rows begin with the variant: `SF-ALL-Micro`, `LDC-MAX-ALL-Macro`.
    """
    table_layout = TableLayout(SCORE_FIELDS, SUMMARY_FIELDS, one_line(run.run_id), is_tab_separated=False)
    rows = []
    for variant, table in run.tables.variants:
        for row in table.averages:
            rows.append(row._replace(name=f"{variant}-{row.name}"))
    body = table_layout.table_body(SUMMARY_FIELDS, rows)  # this widens the columns, including those of the header
    return table_layout.header(SUMMARY_FIELDS) + body


def _average_precision_sections(
    run: ScoredRun, average_precision: AveragePrecision, chosen_columns: ColumnLayout
) -> Iterator[str]:
    """Yield the sections of the file `.ap` of one run: a table for each variant, then a summary of their averages.

    As in the reference scorer, the rows of every run show the id of the first run in the input, which is
    `average_precision.run_id`. Only the tables of this first run have averages.
    """
    fields = tuple(AP_FIELDS)
    first_run_id = average_precision.run_id
    table_layout = TableLayout(AP_FIELDS, fields, first_run_id, chosen_columns.is_tab_separated)
    # Later runs do not have averages, either below the tables or in the summary.
    has_averages = run.run_id == first_run_id
    averages_by_variant = {
        variant: table.macro if has_averages else () for variant, table in average_precision.variants
    }
    for variant, table in average_precision.variants:
        table_text = _table_with_header(table_layout, fields, table.rows, averages_by_variant[variant])
        yield f"{AP_TITLES[variant]}\n\n{table_text}\n"
    summary_bodies = []
    for variant, averages in averages_by_variant.items():
        summary_bodies.append(table_layout.table_body(fields, averages, prefix=f"{variant}-"))
    yield f"{AP_SUMMARY}\n\n{table_layout.header(fields)}{''.join(summary_bodies)}{AP_FOOT}"


# The end of the error file of a call that was stopped. A later call replaces an error file only if it ends like this.
MAY_BE_REPLACED: Final = "\n(cs-score stopped here; its next call may write this file anew)\n"
# The size in bytes beyond which a file cannot be a report, and is not read.
_LARGEST_REPORT: Final = 1 << 28
# How many messages of one code a terminal shows.
_MOST_OF_A_CODE: Final = 10
_CLOSING_OF_ERRORS: Final = re.compile(rb"[0-9]+ errors? encountered")


def report_for_stderr(problems: Iterable[Problem], *, is_for_people: bool, twice: bool = False) -> str:
    """Return problems as the text for standard error.

    For people, who read the report on a terminal, the list is shortened. Otherwise the text is the same as in the
    reference scorer. Some calls of the reference scorer write it `twice`.
    """
    if is_for_people:
        return "".join(_shortened_report(problems))
    text = "".join(report_text(problems))
    return text * 2 if twice else text


def _shortened_report(problems: Iterable[Problem]) -> Iterator[str]:
    """Yield a line for each problem, with its code. After ten problems with the same code, one line counts the rest.

    `problems` are sorted by code, as the log returns them.
    """
    for code, group in groupby(problems, key=lambda problem: problem.code):
        problems_of_code = list(group)
        for text in report_text(problems_of_code[:_MOST_OF_A_CODE]):
            yield f"{text.rstrip()} [{code}]\n"
        hidden_count = len(problems_of_code) - _MOST_OF_A_CODE
        if hidden_count > 0:
            yield f"({hidden_count} more of {code}, which cs-score problems {code} explains)\n"


def report_text(problems: Iterable[Problem], edition: Edition = LATEST) -> Iterator[str]:
    """Yield the text of each problem: its message, with its first place and the number of other places.

    An empty line follows each problem, but not in editions before 2017.2.0, which write the report before they score.
    """
    has_empty_lines = not edition.reports_before_scoring
    line_end = "\n\n" if has_empty_lines else "\n"
    for problem in problems:
        yield f"{problem.severity}: {problem.message}{_places_text(problem, edition)}{line_end}"


def _places_text(problem: Problem, edition: Edition) -> str:
    """Return a text with the first place of a problem and the number of its other places.

    For example: ` (run.tab line 3 and 2 other places)`. The text is empty if the problem has no place.
    """
    # The reference scorer sorts places as UTF-8 bytes; sorting by code points gives the same order. It sorts NO_SOURCE
    # among the names of files, and omits the place only if NO_SOURCE comes first.
    places = sorted([NO_SOURCE if place is None else str(place) for place in problem.places])
    if places[0] == NO_SOURCE:
        return ""
    first_place = _place_as_encoded(places[0], edition)
    other_count = len(places) - 1
    if other_count == 0:
        return f" ({first_place})"
    return f" ({first_place} and {other_count} other place{'s' if other_count > 1 else ''})"


def _place_as_encoded(place: str, edition: Edition) -> str:
    """Return a place as the report of an edition has it before the report is encoded to UTF-8.

    Most editions later encode the whole report twice; then this is the place itself. The others encode only the places,
    which have the names of files, twice.
    """
    return place if edition.encodes_report_twice else _bytes_as_characters(place)


def closing_line(errors: int, warnings: int) -> str:
    """Return the last line of the report: the number of errors or, if there are none, the number of warnings."""
    if errors:
        return f"{errors} error{'s' if errors > 1 else ''} encountered\n"
    if warnings:
        return f"{warnings} warning{'s' if warnings > 1 else ''} encountered\n"
    return "No warnings encountered\n"


def whole_report(result: Result) -> str:
    """Return the report of a scoring that was not stopped.

    As in the reference scorer, the report contains all problems twice, and a closing line (rule report-twice). In
    editions that write the report before they score, it contains all problems once, and no closing line.
    """
    text = "".join(report_text(result.problems, result.options.edition))
    if result.options.edition.reports_before_scoring:
        return text
    return text + text + closing_line(result.error_count, result.warning_count)


def stopped_report(problems: Iterable[Problem], cause: Exception, edition: Edition = LATEST) -> str:
    """Return the report of a scoring that was stopped: the problems that were found, and the error that stopped it.

    If the error is about a file that is not UTF-8, its remedy is left out. It is shown only on standard error.
    """
    text = str(cause)
    if isinstance(cause, InputError) and cause.code == "NOT_UTF8":
        text = str(InputError(cause.problem, file=cause.file, place=cause.place))  # the same error without remedy
    return "".join(report_text(problems, edition)) + f"{text}\n"


def report_bytes(text: str, edition: Edition = LATEST) -> bytes:
    """Return the bytes of a report as the reference scorer writes them (rule doubly-encoded-report).

    Most editions encode the text to UTF-8, read each byte as a character, and encode these characters again.
    """
    if edition.encodes_report_twice:
        text = _bytes_as_characters(text)
    return text.encode("utf-8", "surrogateescape")


def _bytes_as_characters(text: str) -> str:
    """Encode a text in UTF-8, and return the text that has a character for each byte, from U+0000 to U+00FF.

    For example, `é` becomes `Ã©`.
    """
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


def is_report_of_failed_call(path: str) -> bool:
    """Return whether a file is the report of an earlier call of cs-score that was stopped or ended with errors.

    A new call may overwrite such a report.
    """
    if not os.path.isfile(path) or os.path.getsize(path) > _LARGEST_REPORT:
        return False
    with open(path, "rb") as file:
        report = file.read()
    was_stopped = report.endswith(MAY_BE_REPLACED.encode())
    return was_stopped or _is_report_with_errors(report)


def _is_report_with_errors(report: bytes) -> bool:
    """Return whether these are the bytes of the report of a call that ended with errors.

    Such a report contains all problems twice, then a closing line: `2 errors encountered`.
    """
    if not report.startswith((b"ERROR: ", b"WARNING: ")):
        return False
    body, newline, closing = report.removesuffix(b"\n").rpartition(b"\n")
    problems = body + newline
    half = len(problems) // 2
    is_written_twice = problems[:half] == problems[half:]
    return is_written_twice and _CLOSING_OF_ERRORS.fullmatch(closing) is not None


_DOUBLE_LINE: Final = "=" * 80 + "\n"
_DOTTED_LINE: Final = "." * 80 + "\n"
_NO_CLASS: Final = "\n"  # the list of the classes of a ranking that has none


def responses_text(
    tallies_with_results: Iterable[tuple[Tally, UnitResult]], edition: Edition = LATEST, *, is_first_run: bool = True
) -> Iterator[str]:
    """Yield the first part of `.debug`: how each response was assessed, and what it counted as (its labels).

    A tally is a row of the tables with the responses that it counts. The text of each tally begins with its name.
    `tallies_with_results` has each tally with the result of its unit, which holds the assessments and labels of its
    responses. Responses are left out if their only label is their category. `is_first_run` says whether this run is the
    first one scored in the call.
    """
    # Some editions do not show a hyphen or a category for unassessed lines of nodes, except in the first run.
    hides_unassessed = edition.hides_later_unassessed and not is_first_run
    for tally, result in tallies_with_results:
        yield f"{_DOUBLE_LINE}{tally.name}\n"
        for response, labels in _sorted_by_line_number(tally.responses, result.labels_by_index):
            assessment = result.assessment_by_index.get(response.index)
            # The text of a hidden response lacks the hyphen for a missing assessment, and the category.
            is_hidden = hides_unassessed and assessment is None and response.node is not None
            category = "" if is_hidden else pre_policy_category(assessment)
            other_labels = _labels_text(labels, category)
            if other_labels:
                yield (
                    f"{_response_text(response, assessment, edition, is_hidden)}"
                    f"\tPREPOLICY ASSESSMENT:\t{category}\n\tPOSTPOLICY ASSESSMENT:\t{other_labels}\n{_DOTTED_LINE}"
                )


def _response_text(response: Response, assessment: Assessment | None, edition: Edition, hides_hyphen: bool) -> str:
    """Return the lines of `.debug` that show a response and its assessment, followed by an empty line.

    A missing assessment is shown as a hyphen, or as an empty text if `hides_hyphen` is true.
    """
    assessment_text = "" if hides_hyphen else "-"
    if assessment is not None:
        assessment_text = assessment.text
    if not edition.has_nodes:
        return f"\tSUBMISSION:\t{response.text}\n\tASSESSMENT:\t{assessment_text}\n\n"
    return (
        f"\tFQNODEID:\t{response.node or '-'}\n\tSUBMISSION:\t{response.text}\n"
        f"\tTARGET_QID:\t{response.query.full_id}_{response.follow_on_id}\n\tASSESSMENT:\t{assessment_text}\n\n"
    )


def _sorted_by_line_number(
    responses: Sequence[Response], labels_by_index: Mapping[int, Labels]
) -> list[tuple[Response, Labels]]:
    """Return the responses of a row of the tables with their labels, sorted by line number.

    If lines of several files have the same number, only the first loaded line is returned, with the labels of all of
    them (rules equal-line-numbers and first-loaded-block). `labels_by_index` has the labels by the index of a response.
    """
    # Nearly always all numbers differ. Sorting only numbers then takes half the time.
    response_by_number = {response.number: response for response in responses}
    if len(response_by_number) < len(responses):
        return _joined_by_line_number(responses, labels_by_index)
    sorted_responses = [response_by_number[number] for number in sorted(response_by_number)]
    return [(response, labels_by_index[response.index]) for response in sorted_responses]


def _joined_by_line_number(
    responses: Iterable[Response], labels_by_index: Mapping[int, Labels]
) -> list[tuple[Response, Labels]]:
    """Return one response for each line number, with the sorted labels of all responses that have this number.

    If several responses have the same line number, the one that was loaded first is returned. The result is sorted by
    line number.
    """
    # The load order is the order of line numbers. If numbers are equal, the line that was loaded first comes first.
    responses_by_number: dict[int, list[Response]] = defaultdict(list)
    for response in sorted(responses, key=load_order):
        responses_by_number[response.number].append(response)
    labeled_responses = []
    for responses_of_number in responses_by_number.values():
        labels: list[str] = []
        for response in responses_of_number:
            labels += labels_by_index[response.index]
        labeled_responses.append((responses_of_number[0], tuple(sorted(labels))))
    return labeled_responses


@functools.cache
def _labels_text(labels: Labels, category: str) -> str:
    """Return the labels of a response except its category, with commas between them: `IGNORE,REDUNDANT`."""
    return ",".join(labels_without(labels, category))


def rankings_text(rankings: Iterable[Ranking]) -> Iterator[str]:
    """Yield the texts of rankings for the second part of `.debug`, without the first and last lines of this part.

    The text of a ranking shows the answers to be found (classes), the answers of the run in rank order (nodes), and the
    average precision.
    """
    query: str | None = None
    # A node is ranked both at its own level and among all nodes of the query, but its line is built only once.
    line_by_node: dict[str, str] = {}
    for ranking in rankings:
        if ranking.query != query:
            query = ranking.query
            line_by_node = {}
        yield _ranking_text(ranking, _ranked_node_lines(ranking.nodes, line_by_node))


def _ranked_node_lines(nodes: Iterable[RankedNode], line_by_node: dict[str, str]) -> str:
    """Return the lines of nodes in a ranking, such as `1 CSX_1:E1 0.9000 CSX_1:1 0.5000`.

    A line shows the rank of the node, its name, its confidence, the class that it finds, and its value. `line_by_node`
    has the lines that were made before, without their ranks; lines that are not in it are added.
    """
    node_lines = []
    for rank, node in enumerate(nodes, 1):
        line = line_by_node.get(node.name)
        if line is None:
            line = f"{node.name} {node.confidence:0.4f} {node.mapped_class or '-'} {node.value:0.4f}\n"
            line_by_node[node.name] = line
        node_lines.append(f"{rank} {line}")
    return "".join(node_lines)


def _ranking_text(ranking: Ranking, node_lines: str) -> str:
    """Return the text of one ranking: its query, level, scores and classes, then the lines of its nodes."""
    class_lines = "".join([f"  {name}\n" for name in ranking.classes])
    ground_truth = "" if ranking.ground_truth is None else str(ranking.ground_truth)
    return (
        f"{_DOUBLE_LINE}"
        f"QUERY_ID:         {ranking.query}\n"
        f"LEVEL:            {ranking.level}\n"
        f"AP:               {ranking.score:0.4f}\n"
        f"NUM_GROUND_TRUTH: {ground_truth}\n"
        f"GROUND TRUTH:\n{class_lines or _NO_CLASS}RANKING:\n........\nRANK NODEID CONFIDENCE MAPPED_EC V\n"
        f"{node_lines}"
    )


def _bootstrap_files(bootstrap: Bootstrap, run_id: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the ending and the lines of each file about resamples: `.sample`, `.samplescores`, `.confidence`."""
    yield "sample", [_sample_line(sample) for sample in bootstrap.samples]
    yield "samplescores", _sample_score_lines(bootstrap, run_id)
    yield "confidence", [_LIMITS_HEADER, *[_limits_line(limits) for limits in bootstrap.limits]]


# The limits of a value are shown from the outermost low one to the outermost high one.
_LIMITS_HEADER: Final = f"{'':22}99%(   95%(   90%(   mean   scr.   )90%   )95%   )99%\n"


def _sample_line(sample: Sample) -> str:
    """Return the line of a resample: its LDC queries, each with its first slot-filling query: `1 CS14_0001:CSX_1`."""
    cells = [sample.label]
    for draw in sample.draws:
        first_query = draw.query_ids[0] if draw.query_ids else ""
        cells.append(f"{draw.ldc_id}:{first_query}")
    return f"{' '.join(cells)}\n"


def _sample_score_lines(bootstrap: Bootstrap, run_id: str) -> list[str]:
    """Return the lines of `.samplescores`: a header, then one line for each resample with its values.

    A missing value is shown as 0. Each line ends with the run id.
    """
    from cs_score.coldstart.samples import VALUE_CODES  # few calls resample

    codes = "".join([f" {code}" for code in VALUE_CODES])
    lines = [f"Sample#{codes} #RUNID\n"]
    for sample, values in zip(bootstrap.samples, bootstrap.values):
        # The reference scorer puts fifteen blanks before each value, and prints the sample number like an integer in C.
        cells = "".join([f"{'':15}{float(value or 0):0.4f}" for value in values])
        lines.append(f"{_as_64_bit_integer(sample.number):6d}{cells} #{run_id}\n")
    return lines


def _limits_line(limits: SampleLimits) -> str:
    """Return the line of a value in `.confidence`: its code, its low limits, its mean, its score, and its high limits.

    All numbers are already formatted as texts of the same width.
    """
    code = limits.value_code  # such as ALLEP_LDCMAXI_Mi_0_P
    score = "     -" if limits.score is None else limits.score
    cells = [code, *limits.low.values(), limits.mean, score, *limits.high.values()]
    return f"{' '.join(cells)}\n"


def _as_64_bit_integer(number: float) -> int:
    """Return a number as an integer of 64 bits, without its decimals, as C converts it: `2.7` -> 2.

    A number that is too large becomes the largest integer of 64 bits, and one that is too small becomes the smallest.
    """
    largest = (1 << 63) - 1
    smallest = -largest - 1
    return int(max(smallest, min(number, largest)))


def params_text(words: Iterable[str], folder: str, categories_by_side: Mapping[str, str], has_samples: bool) -> str:
    """Return the content of `.params`: the time, the working folder, the command line, and the policy.

    `categories_by_side` has the categories of IGNORE, RIGHT and WRONG as they were typed, such as `CORRECT:INEXACT`.
    `has_samples` says whether the call resamples queries.
    """
    sides = "".join([f"  {side} => {text}\n" for side, text in sorted(categories_by_side.items())])
    samples = "\nSAMPLE => BOOTSTRAP RESAMPLE" if has_samples else ""
    return f"#At: {time.asctime()}\n\n#Invoked as:\n{folder}$ {' '.join(words)}\n\n#Policy Selected:\n{sides}{samples}"


def params_text_of_options(
    options: Options,
    switches: Iterable[str],
    words_after_policy: Iterable[str],
    folder: str,
    policy_texts: Mapping[str, str] | None = None,
) -> str:
    """Return the content of `.params` for scores that were not requested on a command line.

    The content shows a command line that would give these scores. It is made from the words `switches`, the limits and
    the policy in the options, and `words_after_policy`. `policy_texts` has the categories of each side of the policy as
    they were typed. By default, it is made from the options.
    """
    import shlex  # imported only here, so that a call that does not need it starts faster

    if policy_texts is None:
        policy_texts = options.policy.texts()
    words = ["cs-score", *switches]
    if options.edition.has_limits:
        words += ["-justifications", str(options.justifications)]
    for side, text in policy_texts.items():
        words += [f"-{side.lower()}", text]
    words += words_after_policy
    quoted_words = [shlex.quote(word) for word in words]
    return params_text(quoted_words, folder, policy_texts, has_samples=not is_left_out(options.samples))


class OutputFile(Record):
    """An output file: its ending, a description of its content, and the switch that it needs, None for no switch."""

    ending: str
    content: str
    switch: str | None = None


OUTPUTS: Final = (
    OutputFile("debug", "each response with its assessment and what it counted as; each ranking"),
    OutputFile("ap", "average precision: SF, LDC-MEAN, summary"),
    OutputFile("sf", "counts and scores of each SF query and class, averages"),
    OutputFile("ldcmax", "the same for LDC-MAX", switch="-expand"),
    OutputFile("ldcmean", "P, R, F1 for LDC-MEAN", switch="-expand"),
    OutputFile("summary", "the averages of all variants"),
    OutputFile("sample", "the resamples with their first entry points", switch="-samples"),
    OutputFile("samplescores", "the values of each resample", switch="-samples"),
    OutputFile("confidence", "limits, mean, score", switch="-samples"),
    OutputFile("params", "time, command line, policies"),
    OutputFile("intervals", "every average with its interval", switch="--bootstrap"),
)
"""The output files in the order in which the reference creates them; the reference has no `.intervals`."""


def written_outputs(switches: Collection[str], edition: Edition = LATEST) -> list[OutputFile]:
    """Return the output files that a call with these switches writes, in the order in which they are created."""
    outputs = []
    for output in OUTPUTS:
        if output.switch is not None and output.switch not in switches:
            continue
        if output.ending == "ap" and not edition.has_rankings:
            continue
        outputs.append(output)
    return outputs


_WHOLE_CALL: Final = -1


class _FilePiece(NamedTuple):
    """A piece of an output file: the ending of the file, such as `debug`, and the bytes of the piece in blocks.

    Each run adds one piece to nearly every file, and two pieces to the debug file. `run_number` is the number of the
    run that added the piece, from 0. It is `_WHOLE_CALL` for a piece that is about all runs.
    """

    run_number: int
    ending: str
    blocks: Iterable[bytes]


def _pieces_of_run(
    run: ScoredRun, run_number: int, chosen_columns: ColumnLayout, edition: Edition
) -> Iterator[_FilePiece]:
    """Yield the pieces that a run adds to the output files, in the order in which the reference scorer writes them.

    If scoring was stopped, the pieces for later stages are missing. `run_number` is the number of the run in the call,
    from 0. Each run adds two pieces to the debug file: its responses before the tables, and its rankings after the
    tables.
    """
    # The blocks of responses and rankings are already bytes. The texts of tables are encoded here.
    response_blocks = _response_blocks(run, edition, is_first_run=run_number == 0)
    yield _FilePiece(run_number, "debug", response_blocks)
    for ending, text in _table_texts(run, chosen_columns):
        yield _FilePiece(run_number, ending, utf8_blocks([text]))
    if run.average_precision is not None:
        ranking_blocks = _ranking_blocks(run, run.average_precision)
        yield _FilePiece(run_number, "debug", ranking_blocks)
        sections = _average_precision_sections(run, run.average_precision, chosen_columns)
        yield _FilePiece(run_number, "ap", utf8_blocks(sections))
    if run.bootstrap is not None:
        for ending, lines in _bootstrap_files(run.bootstrap, run.run_id):
            yield _FilePiece(run_number, ending, utf8_blocks(lines))


def _response_blocks(run: ScoredRun, edition: Edition, *, is_first_run: bool) -> Iterable[bytes]:
    """Return the first part of the debug file of a run as blocks of bytes: its responses, then an empty line.

    If the run was scored in parts, the texts about its responses have already been written to files. `is_first_run`
    says whether this run is the first one scored in the call: in some editions, only the first run shows which
    responses are unassessed.
    """
    empty_line = [b"\n"]
    if run.debug_text is not None:
        return chain(blocks_of(run.debug_text.responses), empty_line)
    text = responses_text(tallies_of(run.units), edition, is_first_run=is_first_run)
    return chain(utf8_blocks(text), empty_line)


def _ranking_blocks(run: ScoredRun, average_precision: AveragePrecision) -> Iterable[bytes]:
    """Return the second part of the debug file of a run as blocks of bytes: its rankings between two lines.

    If the run was scored in parts, the texts of the rankings are in files already.
    """
    if run.debug_text is None:
        rankings = utf8_blocks(rankings_text(average_precision.rankings))
    else:
        rankings = blocks_of(run.debug_text.rankings)
    return chain([b"AP COMPUTATION DEBUG INFO BEGINS:\n"], rankings, [b"AP COMPUTATION DEBUG INFO ENDS\n"])


def _interval_blocks(run: ScoredRun, intervals: ScoreIntervals, is_tab_separated: bool) -> Iterable[bytes]:
    """Return the content of `.intervals` in blocks: a line for each score, then notes, then how limits were computed.

    Numbers have four decimals, and a missing number is shown as a hyphen. If `is_tab_separated`, tabs separate the
    columns, numbers have all their digits, and the column of a missing number is empty.
    """
    rows = _interval_rows(run.run_id, intervals, is_tab_separated)
    if is_tab_separated:
        lines = ["\t".join(row) for row in rows]
    else:
        is_right_aligned = [False, False, True, True, True, False]  # the three columns of numbers
        lines = list(align_columns(rows, is_right_aligned, gap=" "))
    lines.append("")
    for sentence in note_sentences(intervals.notes):
        lines.append(f"*{sentence}")
    lines.append(_sentence_on_resampling(intervals))
    return utf8_blocks([f"{line}\n" for line in lines])


def _interval_rows(run_id: str, intervals: ScoreIntervals, is_tab_separated: bool) -> list[list[str]]:
    """Return the cells of the table in `.intervals`: a header, then a row for each score with its two limits.

    A row is, for example, `["SF-ALL-Micro-F1", "RUN1", "0.7500", "0.6012", "0.8810", ""]`.
    """
    rows = [["Measure", "RunID", "Score", "Low", "High", "Note"]]
    for measure, interval in intervals.scores.items():
        numbers = (interval.point, interval.low, interval.high)
        cells = [_number_text(number, is_tab_separated) for number in numbers]
        rows.append([measure, run_id, *cells, interval.note])
    return rows


def _sentence_on_resampling(intervals: ScoreIntervals) -> str:
    """Return the last line of `.intervals`, which says how the limits were computed: level, method, units and seed."""
    settings = intervals.resampling
    method = "BCa" if settings.method == "bca" else settings.method
    return (
        f"*Low and High: {settings.confidence:g}% {method} bootstrap interval from {settings.resamples} resamples; "
        f"units of resampling ({settings.unit}): {intervals.units}; seed {settings.seed}."
    )


def _number_text(number: float | None, is_tab_separated: bool) -> str:
    """Return a number as `.intervals` shows it: with four decimals or, if `is_tab_separated`, with all its digits."""
    if is_tab_separated:
        return "" if number is None else repr(number)
    return "-" if number is None else f"{number:6.4f}"


def _file_pieces(
    result: Result, chosen_columns: ColumnLayout, params_content: str, intervals: Sequence[ScoreIntervals]
) -> Iterator[_FilePiece]:
    """Yield the pieces of all output files in the order in which they are written to a stream.

    `params_content` is the content of the file `.params`. `intervals` has the intervals of each run, and is empty if no
    intervals were computed.
    """
    yield _FilePiece(_WHOLE_CALL, "params", utf8_blocks([params_content]))
    for run_number, run in enumerate(result.runs):
        yield from _pieces_of_run(run, run_number, chosen_columns, result.options.edition)
    for run_number, intervals_of_run in enumerate(intervals):
        blocks = _interval_blocks(result.runs[run_number], intervals_of_run, chosen_columns.is_tab_separated)
        yield _FilePiece(run_number, "intervals", blocks)


def stream_blocks(
    result: Result, chosen_columns: ColumnLayout, params_content: str, intervals: Sequence[ScoreIntervals] = ()
) -> Iterator[Iterable[bytes]]:
    """Yield the content of all output files in blocks, in the order in which they are written to one stream.

    The file `.params` (`params_content`) comes first, followed by the files of each run and then the intervals of all
    runs.
    """
    for piece in _file_pieces(result, chosen_columns, params_content, intervals):
        yield piece.blocks


def file_blocks(
    result: Result,
    chosen_columns: ColumnLayout,
    params_content: str,
    intervals: Sequence[ScoreIntervals] = (),
    was_stopped: bool = False,
) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Yield the ending of each output file with its whole content in blocks, in the order of `OUTPUTS`.

    If scoring was stopped, only complete files are yielded, to which every run has added its piece. The options, and
    the presence of intervals, determine which files the call writes in general.
    """
    # The pieces arrive run by run, but the files are yielded one by one, so all pieces are collected first. The pieces
    # of a file are joined in the order of the runs.
    pieces = list(_file_pieces(result, chosen_columns, params_content, intervals))
    switches = _switches_of_files(result.options, has_intervals=bool(intervals))
    for output in written_outputs(switches, result.options.edition):
        pieces_of_file = [piece for piece in pieces if piece.ending == output.ending]
        if not was_stopped or _is_complete(pieces_of_file, len(result.runs)):
            yield output.ending, chain.from_iterable([piece.blocks for piece in pieces_of_file])


def _switches_of_files(options: Options, *, has_intervals: bool) -> list[str]:
    """Return the switches of a call that decide which output files there are: `["-expand", "--bootstrap"]`."""
    switches = []
    if options.expand is not None:
        switches.append("-expand")
    if options.samples is not None:
        switches.append("-samples")
    if has_intervals:
        switches.append("--bootstrap")
    return switches


def _is_complete(pieces: Iterable[_FilePiece], run_count: int) -> bool:
    """Return whether an output file that consists of these pieces is complete, after `run_count` runs.

    A file about the whole call is always complete. A file about runs must have a piece from each run, and from at least
    one run.
    """
    run_numbers = {piece.run_number for piece in pieces}
    is_about_whole_call = run_numbers == {_WHOLE_CALL}
    needed_count = max(1, run_count)  # without runs, a file about runs has no piece and is not complete
    return is_about_whole_call or len(run_numbers) == needed_count
