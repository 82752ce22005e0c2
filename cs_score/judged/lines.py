"""Read the lines of assessments and runs, unit by unit: the answers, their labels, and what they belong to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.sources import Source
from cs_score.evidence.reading import quoted
from cs_score.judged.tables import Headings, JudgedTable

NO_CONFIDENCE: Final = 1.0
"""The confidence of a line whose file gives it none."""


_MOST_SHARED: Final = 1 << 16
"""The most texts of cells that are kept, so that equal cells share one: it saves 200 bytes a line if they are few."""


class LabelledLine(Record, gc=False):
    """A line of assessments or of a run.

    `number` is its line in the file, 0 for a line that an analysis has added. `label` is empty in a run without labels,
    and `class_name` if the line names no class; `weight` is None if it gives no weight. The garbage collector leaves
    out these records (`gc=False`), which saves 16 bytes a line: they refer to no other record.
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

    `units_by_run` has for each run the lines of each unit, in the order of the file. Assessments, and a file without a
    column `run`, have one run, whose name is empty. `columns` are all columns of the header, `filled_columns` those in
    which some cell is not empty. `wanted_by_unit` has the units for which the column `wanted` says how many answers
    they want, `groups_by_unit` the cells of further columns in the first line of each unit.
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
    source: Source, heading_by_column: Headings, *, columns_unread: Sequence[str], needs_label: bool
) -> JudgedFile:
    """Return the content of a file of assessments or of runs.

    `heading_by_column` has what the file calls its columns; the cells of `columns_unread` are taken for empty. With
    `needs_label` every line needs a label; otherwise either all lines have one or none has. Raises InputError with the
    line for a cell that is malformed.
    """
    reader = _Reader(JudgedTable(source, heading_by_column, columns_unread))
    reader.read_rows()
    return reader.judged_file(needs_label)


class _Reader:
    """Collects the rows of one file by run and unit."""

    def __init__(self, table: JudgedTable) -> None:
        """Begin to read a table. Lines without a label or a run are remembered by number, 0 if there is none yet."""
        self.table = table
        self._units_by_run: dict[str, dict[str, list[LabelledLine]]] = {}
        self._groups_by_unit: dict[str, Mapping[str, str]] = {}
        self._wanted_by_unit: dict[str, int] = {}
        self._line_of_wanted: dict[str, int] = {}
        self._count_by_label: dict[str, int] = {}
        self._filled_columns: set[str] = set()
        self._line_count = 0
        self._line_without_label = 0
        self._line_without_run = 0
        self._shared_texts: dict[str, str] = {}
        self._shared_numbers: dict[str, float] = {}

    def read_rows(self) -> None:
        """Collect all rows of the table. Raises InputError with the line for a cell that is malformed.

        One loop over local names, in which equal texts share one object, takes half the time and two thirds of the
        memory that a million lines take with a call for each cell.
        """
        shared_texts = self._shared_texts
        shared_numbers = self._shared_numbers
        add_filled_column = self._filled_columns.add
        for number, cells, other_cells in self.table.rows():
            unit, answer, evidence, label, class_name, wanted, weight, confidence, run = cells
            if not unit or not answer:
                raise self._error_of_empty_cell(number, "answer" if unit else "unit")
            self._line_count += 1
            answer = shared_texts.get(answer) or self._share(answer)
            if evidence:
                add_filled_column("evidence")
                evidence = shared_texts.get(evidence) or self._share(evidence)
            if label:
                label = shared_texts.get(label) or self._share(label)
                self._count_by_label[label] = self._count_by_label.get(label, 0) + 1
            elif not self._line_without_label:
                self._line_without_label = number
            if class_name:
                add_filled_column("class")
                class_name = shared_texts.get(class_name) or self._share(class_name)
            if wanted:
                self._keep_wanted(number, unit, wanted)
            line_weight = self._weight(number, weight) if weight else None
            line_confidence = NO_CONFIDENCE
            if confidence:
                earlier_number = shared_numbers.get(confidence)
                line_confidence = self._confidence(number, confidence) if earlier_number is None else earlier_number
            if run:
                add_filled_column("run")
            elif not self._line_without_run:
                self._line_without_run = number
            line = LabelledLine(number, answer, evidence, label, class_name, line_confidence, line_weight)
            self._add(line, unit, run, other_cells)

    def _add(self, line: LabelledLine, unit: str, run: str, other_cells: Sequence[str]) -> None:
        """Add a line of a run to its unit, and for the first line of a unit the groups that its other cells give."""
        lines_by_unit = self._units_by_run.get(run)
        if lines_by_unit is None:
            lines_by_unit = self._units_by_run[run] = {}
        lines = lines_by_unit.get(unit)
        if lines is not None:
            lines.append(line)
            return
        lines_by_unit[unit] = [line]
        if other_cells and unit not in self._groups_by_unit:
            self._groups_by_unit[unit] = dict(zip(self.table.other_columns, other_cells))

    def _share(self, text: str) -> str:
        """Return a text, and keep it for later cells with an equal text, unless too many texts are kept already."""
        if len(self._shared_texts) < _MOST_SHARED:
            self._shared_texts[text] = text
        return text

    def _confidence(self, number: int, text: str) -> float:
        """Return the confidence in a cell, and keep it for equal cells. Raises InputError if it is no number."""
        confidence = self._number(number, "confidence", text)
        if len(self._shared_numbers) < _MOST_SHARED:
            self._shared_numbers[text] = confidence
        return confidence

    def judged_file(self, needs_label: bool) -> JudgedFile:
        """Return the content of the file, once its rows are read.

        Raises InputError if some lines lack a label or a run and others have one, or all lack a label that they need.
        """
        if self._count_by_label:
            self._filled_columns.add("label")
            if self._line_without_label:
                raise self._error_of_empty_cell(self._line_without_label, "label")
        elif needs_label and self._line_count and self.table.column_of("label") in self.table.columns:
            raise self._error_of_empty_cell(self._line_without_label, "label")
        if "run" in self._filled_columns and self._line_without_run:
            raise self._error_of_empty_cell(self._line_without_run, "run")
        return JudgedFile(
            name=self.table.name,
            units_by_run=self._units_by_run,
            filled_columns=frozenset(self._filled_columns),
            columns=tuple(self.table.columns),
            wanted_by_unit=self._wanted_by_unit,
            groups_by_unit=self._groups_by_unit,
            count_by_label=self._count_by_label,
            line_count=self._line_count,
        )

    def _keep_wanted(self, number: int, unit: str, text: str) -> None:
        """Keep how many answers a unit wants, by the cell in the line with this number.

        Raises InputError if the cell is no whole number, or an earlier line of the unit has another one.
        """
        self._filled_columns.add("wanted")
        if not (text.isascii() and text.isdecimal()) or len(text) > 9:
            raise self._error(number, f"wanted: {quoted(text)} is no whole number")
        wanted_count = int(text)
        earlier_count = self._wanted_by_unit.setdefault(unit, wanted_count)
        if earlier_count != wanted_count:
            earlier = f"{earlier_count} in line {self._line_of_wanted[unit]}"
            raise self._error(number, f"unit {quoted(unit)} wants {wanted_count} here and {earlier}")
        self._line_of_wanted.setdefault(unit, number)

    def _weight(self, number: int, text: str) -> float:
        """Return the weight that a cell gives a class. Raises InputError if it is no number above 0."""
        self._filled_columns.add("weight")
        weight = self._number(number, "weight", text)
        if weight <= 0:
            raise self._error(number, f"weight: {quoted(text)} is not above 0")
        return weight

    def _number(self, number: int, column: str, text: str) -> float:
        """Return the number that a cell of a column holds. Raises InputError, with the line, if it holds none."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or "_" in text or text != text.strip():
            raise self._error(number, f"{column}: {quoted(text)} is no number")
        return value

    def _error_of_empty_cell(self, number: int, column: str) -> InputError:
        """Return the error about an empty cell in the line with this number, in a column where none may be empty."""
        return self._error(number, f"column {self.table.column_of(column)} is empty")

    def _error(self, number: int, problem: str) -> InputError:
        """Return the error about the line with this number."""
        return InputError(problem, file=self.table.name, place=f"line {number}")
