"""Read files of assessments and of runs: the answers for each unit, with their labels and equivalence classes.
A unit is a question, claim or topic. An equivalence class holds answers that mean the same. An assessor gives answers
labels, such as CORRECT.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.sources import Source
from cs_score.evidence.reading import quoted
from cs_score.judged.table_files import Headings, JudgedTable

NO_CONFIDENCE: Final = 1.0
"""The confidence of a line whose file gives it none."""

_MOST_DIGITS_OF_WANTED: Final = 9
"""The most digits of a number of wanted answers."""

_MOST_SHARED: Final = 1 << 16
"""The largest number of texts, and of numbers, that are kept so that equal cells share one object.

Sharing saves 200 bytes a line if the file has few different cells.
"""


class LabelledLine(Record, gc=False):
    """A line of assessments or of a run.

    `number` is the number of the line in the file, or 0 if an analysis has added the line. `label` is empty in a run
    without labels. `class_name`, the name of the answer's equivalence class, is empty if the line gives none. `weight`
    is None if the line gives no weight. The garbage collector does not track these records (`gc=False`), because they
    refer to no other record; this saves 16 bytes for each line.
    """

    number: int
    answer: str
    evidence: str = ""
    label: str = ""
    class_name: str = ""
    confidence: float = NO_CONFIDENCE
    weight: float | None = None


class JudgedFile(Record):
    """The content of a file of assessments or of runs.

    `units_by_run` holds the lines of each unit for each run, in the order of the file. Assessments, and a file without
    a column `run`, have a single run, whose name is empty. `columns` are the headings of all columns. `filled_columns`
    are the columns with a meaning, such as "label", in which at least one cell is not empty. `wanted_by_unit` says how
    many answers a unit wants, if the file states it. `groups_by_unit` holds the cells of further columns in the first
    line of each unit.
    """

    name: str
    units_by_run: Mapping[str, Mapping[str, list[LabelledLine]]]
    filled_columns: frozenset[str]
    columns: tuple[str, ...]
    wanted_by_unit: Mapping[str, int]
    groups_by_unit: Mapping[str, Mapping[str, str]]
    count_by_label: Mapping[str, int]
    line_count: int


def read_judged(
    source: Source, heading_by_meaning: Headings, *, ignored_columns: Sequence[str], needs_label: bool
) -> JudgedFile:
    """Return the content of a file of assessments or of runs.

    `heading_by_meaning` holds the headings that the file uses for columns with a meaning, such as
    `{"label": "verdict"}`. All cells of `ignored_columns` are read as empty. If `needs_label` is true, every line must
    have a label; otherwise either all lines or no lines have one. Raises InputError, with the line, for a malformed
    cell.
    """
    table = JudgedTable(source, heading_by_meaning, ignored_columns)
    reader = _Reader(table)
    reader.read_rows()
    reader.refuse_missing_labels(needs_label=needs_label)
    reader.refuse_missing_runs()
    return reader.judged_file()


class _SharedTexts(dict[str, str]):
    """Replaces equal texts by a single object: `shared_texts[text]` is the first text that was equal to `text`.

    When the dictionary has reached its largest size, it returns new texts unchanged.
    """

    def __missing__(self, text: str) -> str:
        """Return a text that is looked up for the first time, and keep it for later texts that are equal to it."""
        if len(self) < _MOST_SHARED:
            self[text] = text
        return text


class _Reader:
    """Collects the rows of one file by run and unit.

    A row is an answer for a unit, such as a question. It may have a label, evidence, an equivalence class and its
    weight, a confidence, the number of answers that the unit wants, and the name of its run.
    """

    def __init__(self, table: JudgedTable) -> None:
        """Prepare to read a table. Lines without a label are counted under an empty label."""
        self._table = table
        self._units_by_run: dict[str, dict[str, list[LabelledLine]]] = {}
        self._groups_by_unit: dict[str, Mapping[str, str]] = {}
        self._wanted_count_by_unit: dict[str, int] = {}  # how many answers a unit wants, if the file says so
        self._line_number_of_wanted_count: dict[str, int] = {}  # where the file says so, by unit
        self._count_by_label: defaultdict[str, int] = defaultdict(int)
        # The confidences that were read before. An empty cell has a confidence from the start.
        self._confidence_by_cell: dict[str, float] = {"": NO_CONFIDENCE}

    # ---- Rows

    def read_rows(self) -> None:
        """Collect all rows of the table. Raises InputError with the line number if a cell is malformed.

        A table may have a million rows. Equal texts therefore share one object, which saves a third of the memory.
        Empty cells and numbers that were read before are handled without a function call, because a call for each cell
        would double the time.
        """
        shared_texts = _SharedTexts()
        for line_number, cells, group_cells in self._table.rows():
            # The cells have the order of `COLUMNS`.
            unit, answer, evidence, label, class_name, wanted_cell, weight_cell, confidence_cell, run = cells
            if not unit:
                raise self._error_of_empty_cell(line_number, "unit")
            if not answer:
                raise self._error_of_empty_cell(line_number, "answer")
            if wanted_cell:  # the number of answers that the unit wants
                self._keep_wanted_count(line_number, unit, wanted_cell)
            weight = None
            if weight_cell:
                weight = self._read_weight(line_number, weight_cell)
            confidence = self._confidence_by_cell.get(confidence_cell)  # kept by the text of the cell
            if confidence is None:
                confidence = self._read_confidence(line_number, confidence_cell)
            self._count_by_label[label] += 1
            line = LabelledLine(
                number=line_number,
                answer=shared_texts[answer],
                evidence=shared_texts[evidence],
                label=shared_texts[label],
                class_name=shared_texts[class_name],
                confidence=confidence,
                weight=weight,
            )
            self._add_line(line, unit, run, group_cells)

    def _add_line(self, line: LabelledLine, unit: str, run: str, group_cells: Sequence[str]) -> None:
        """Add a line to the unit of a run. The first line of a unit also gives the groups that the unit belongs to.

        `group_cells` are the cells of columns that have no meaning for scoring. They name these groups.
        """
        lines_by_unit = self._units_by_run.get(run)
        if lines_by_unit is None:
            lines_by_unit = {}
            self._units_by_run[run] = lines_by_unit
        lines = lines_by_unit.get(unit)
        if lines is not None:
            lines.append(line)
            return
        lines_by_unit[unit] = [line]
        if group_cells and unit not in self._groups_by_unit:
            self._groups_by_unit[unit] = dict(zip(self._table.group_columns, group_cells))

    def _keep_wanted_count(self, line_number: int, unit: str, cell: str) -> None:
        """Keep the number of answers that a unit wants, read from a cell in the line with this number.

        Raises InputError if the cell holds no whole number, or if an earlier line of the unit has a different number.
        """
        is_whole_number = cell.isascii() and cell.isdecimal()
        if not is_whole_number or len(cell) > _MOST_DIGITS_OF_WANTED:
            raise self._error(line_number, f"wanted: {quoted(cell)} is no whole number")
        wanted_count = int(cell)
        earlier_count = self._wanted_count_by_unit.get(unit)
        if earlier_count is None:
            self._wanted_count_by_unit[unit] = wanted_count
            self._line_number_of_wanted_count[unit] = line_number
        elif earlier_count != wanted_count:
            earlier_in_words = f"{earlier_count} in line {self._line_number_of_wanted_count[unit]}"
            raise self._error(line_number, f"unit {quoted(unit)} wants {wanted_count} here and {earlier_in_words}")

    def _read_weight(self, line_number: int, cell: str) -> float:
        """Return the weight of a class, read from a cell in the line with this number.

        Raises InputError if the cell holds no number above 0.
        """
        weight = self._read_number(line_number, "weight", cell)
        if weight <= 0:
            raise self._error(line_number, f"weight: {quoted(cell)} is not above 0")
        return weight

    def _read_confidence(self, line_number: int, cell: str) -> float:
        """Return the confidence in a cell of the line with this number, and keep it for later cells with the same text.

        `read_rows` looks up kept confidences itself, so this method is called only for new texts. Raises InputError if
        the cell is not a number.
        """
        confidence = self._read_number(line_number, "confidence", cell)
        if len(self._confidence_by_cell) < _MOST_SHARED:
            self._confidence_by_cell[cell] = confidence
        return confidence

    def _read_number(self, line_number: int, column: str, cell: str) -> float:
        """Return the number that a cell of a column holds. Raises InputError, with the line, if there is none."""
        try:
            value = float(cell)
        except ValueError:
            value = math.nan
        # Python also reads "1_000" and " 1", which no table writes for a number.
        is_written_as_usual = "_" not in cell and cell == cell.strip()
        if not math.isfinite(value) or not is_written_as_usual:
            raise self._error(line_number, f"{column}: {quoted(cell)} is no number")
        return value

    # ---- The whole file

    def refuse_missing_labels(self, *, needs_label: bool) -> None:
        """Raise InputError, with the first such line, if a line that was read lacks a label.

        Either all lines or no lines may have a label. If `needs_label` is true, all lines must have one. A table
        without a column of labels is accepted all the same, because `pairing` reports it with a better message.
        """
        should_have_labels = self._has_some_label() or (needs_label and self._has_column("label"))
        has_line_without_label = "" in self._count_by_label
        if should_have_labels and has_line_without_label:
            numbers_without_label = [line.number for line in self._lines() if not line.label]
            raise self._error_of_empty_cell(min(numbers_without_label), "label")

    def refuse_missing_runs(self) -> None:
        """Raise InputError, with the first such line, if a line that was read lacks the name of a run.

        Either all lines or no lines may have the name of a run.
        """
        lines_without_run_by_unit = self._units_by_run.get("", {})
        if lines_without_run_by_unit and len(self._units_by_run) > 1:
            first_numbers = [lines[0].number for lines in lines_without_run_by_unit.values()]
            raise self._error_of_empty_cell(min(first_numbers), "run")

    def _lines(self) -> Iterator[LabelledLine]:
        """Yield the lines of all runs and units that were read."""
        for lines_by_unit in self._units_by_run.values():
            for lines in lines_by_unit.values():
                yield from lines

    def judged_file(self) -> JudgedFile:
        """Return the content of the file. Its rows must have been read before."""
        count_by_label = {label: count for label, count in self._count_by_label.items() if label}
        return JudgedFile(
            name=self._table.name,
            units_by_run=self._units_by_run,
            filled_columns=self._filled_columns(),  # decides by which columns answers are matched
            columns=tuple(self._table.columns),
            wanted_by_unit=self._wanted_count_by_unit,
            groups_by_unit=self._groups_by_unit,
            count_by_label=count_by_label,
            line_count=sum(self._count_by_label.values()),
        )

    def _filled_columns(self) -> frozenset[str]:
        """Return the columns with a meaning, such as "label", in which at least one cell is not empty.

        Only the columns that scoring needs to know about are considered. Lines are searched only for columns that exist
        in the table, and the search usually ends at the first line.
        """
        has_filled_cell_by_column = {
            "label": self._has_some_label(),
            "wanted": bool(self._wanted_count_by_unit),
            "run": any(self._units_by_run),  # the name of some run is not empty
            "evidence": self._has_column("evidence") and any(line.evidence for line in self._lines()),
            "class": self._has_column("class") and any(line.class_name for line in self._lines()),
            "weight": self._has_column("weight") and any(line.weight is not None for line in self._lines()),
        }
        return frozenset([column for column, has_filled_cell in has_filled_cell_by_column.items() if has_filled_cell])

    def _has_some_label(self) -> bool:
        """Return whether at least one line has a label. Lines without a label are counted under an empty text."""
        return any(label != "" for label in self._count_by_label)

    def _has_column(self, meaning: str) -> bool:
        """Return whether the table has a column with a meaning, such as "label"."""
        return self._table.heading_of(meaning) in self._table.columns

    # ---- Errors

    def _error_of_empty_cell(self, line_number: int, column: str) -> InputError:
        """Return the error about an empty cell in the line with this number, in a column where none may be empty."""
        return self._error(line_number, f"column {self._table.heading_of(column)} is empty")

    def _error(self, line_number: int, problem: str) -> InputError:
        """Return the error about the line with this number."""
        return InputError(problem, file=self._table.name, place=f"line {line_number}")
