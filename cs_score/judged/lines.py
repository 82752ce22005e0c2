"""Read the lines of assessments and runs, unit by unit: the answers, their labels, and what they belong to."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.sources import Source
from cs_score.evidence.reading import quoted
from cs_score.judged.tables import Headings, JudgedTable

NO_CONFIDENCE: Final = 1.0
"""The confidence of a line whose file gives it none."""

_MOST_DIGITS_OF_WANTED: Final = 9
"""The most digits of a number of wanted answers."""

_MOST_SHARED: Final = 1 << 16
"""The most texts and the most numbers of cells that are kept, so that equal cells share one object.

That saves 200 bytes a line if the file has few different cells.
"""


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

    `heading_by_column` has the names of the columns in the file, by their meaning; the cells of `columns_unread` are
    taken for empty. With `needs_label` every line needs a label; otherwise either all lines have one or none has.
    Raises InputError with the line for a cell that is malformed.
    """
    table = JudgedTable(source, heading_by_column, columns_unread)
    reader = _Reader(table)
    reader.read_rows()
    reader.check_labels_and_runs(needs_label)
    return reader.judged_file()


class _SharedTexts(dict[str, str]):
    """Gives one text for all equal texts: `shared[text]` is the first text that was equal to `text`.

    Once it holds as many texts as it may, it gives further texts back as they are.
    """

    def __missing__(self, text: str) -> str:
        """Return a text that was not looked up before, and keep it for later texts that are equal to it."""
        if len(self) < _MOST_SHARED:
            self[text] = text
        return text


class _Reader:
    """Collects the rows of one file by run and unit."""

    def __init__(self, table: JudgedTable) -> None:
        """Begin to read a table. Counts of labels have the lines without a label, too, under the empty text."""
        self._table = table
        self._units_by_run: dict[str, dict[str, list[LabelledLine]]] = {}
        self._groups_by_unit: dict[str, Mapping[str, str]] = {}
        self._wanted_by_unit: dict[str, int] = {}
        self._line_of_wanted: dict[str, int] = {}
        self._count_by_label: defaultdict[str, int] = defaultdict(int)
        self._confidence_by_cell: dict[str, float] = {"": NO_CONFIDENCE}

    # ---- Rows

    def read_rows(self) -> None:
        """Collect all rows of the table. Raises InputError with the line for a cell that is malformed.

        There may be a million rows. So equal texts share one object, which saves a third of the memory, and no function
        is called for an empty cell or for a number that was read before. A call for each cell would take twice the
        time.
        """
        shared_texts = _SharedTexts()
        for number, cells, other_cells in self._table.rows():
            unit, answer, evidence, label, class_name, wanted_cell, weight_cell, confidence_cell, run = cells
            if not unit:
                raise self._error_of_empty_cell(number, "unit")
            if not answer:
                raise self._error_of_empty_cell(number, "answer")
            if wanted_cell:
                self._keep_wanted(number, unit, wanted_cell)
            weight = None
            if weight_cell:
                weight = self._read_weight(number, weight_cell)
            confidence = self._confidence_by_cell.get(confidence_cell)  # which knows that of an empty cell, too
            if confidence is None:
                confidence = self._read_confidence(number, confidence_cell)
            self._count_by_label[label] += 1
            line = LabelledLine(
                number=number,
                answer=shared_texts[answer],
                evidence=shared_texts[evidence],
                label=shared_texts[label],
                class_name=shared_texts[class_name],
                confidence=confidence,
                weight=weight,
            )
            self._add_line(line, unit, run, other_cells)

    def _add_line(self, line: LabelledLine, unit: str, run: str, other_cells: Sequence[str]) -> None:
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
            self._groups_by_unit[unit] = dict(zip(self._table.other_columns, other_cells))

    def _keep_wanted(self, number: int, unit: str, cell: str) -> None:
        """Keep how many answers a unit wants, which a cell in the line with this number says.

        Raises InputError if the cell holds no whole number, or if an earlier line of the unit says another one.
        """
        is_whole_number = cell.isascii() and cell.isdecimal()
        if not is_whole_number or len(cell) > _MOST_DIGITS_OF_WANTED:
            raise self._error(number, f"wanted: {quoted(cell)} is no whole number")
        wanted_count = int(cell)
        earlier_count = self._wanted_by_unit.setdefault(unit, wanted_count)
        if earlier_count != wanted_count:
            earlier = f"{earlier_count} in line {self._line_of_wanted[unit]}"
            raise self._error(number, f"unit {quoted(unit)} wants {wanted_count} here and {earlier}")
        self._line_of_wanted.setdefault(unit, number)

    def _read_weight(self, number: int, cell: str) -> float:
        """Return the weight that a cell in the line with this number gives a class.

        Raises InputError if it is no number above 0.
        """
        weight = self._read_number(number, "weight", cell)
        if weight <= 0:
            raise self._error(number, f"weight: {quoted(cell)} is not above 0")
        return weight

    def _read_confidence(self, number: int, cell: str) -> float:
        """Return the confidence that a cell in the line with this number holds, and keep it for equal cells.

        Raises InputError if the cell holds no number.
        """
        confidence = self._read_number(number, "confidence", cell)
        if len(self._confidence_by_cell) < _MOST_SHARED:
            self._confidence_by_cell[cell] = confidence
        return confidence

    def _read_number(self, number: int, column: str, cell: str) -> float:
        """Return the number that a cell of a column holds. Raises InputError, with the line, if it holds none."""
        try:
            value = float(cell)
        except ValueError:
            value = math.nan
        # Python also reads "1_000" and " 1", which no table writes for a number.
        is_written_as_usual = "_" not in cell and cell == cell.strip()
        if not math.isfinite(value) or not is_written_as_usual:
            raise self._error(number, f"{column}: {quoted(cell)} is no number")
        return value

    # ---- The whole file

    def check_labels_and_runs(self, needs_label: bool) -> None:
        """Raise InputError, with the first line concerned, if a label or a run is missing in the rows that were read.

        Either all lines or none have a label, and either all or none name a run. With `needs_label` all lines have a
        label; but a table without that column passes, since whoever pairs the files says more about it.
        """
        has_some_label = any(self._count_by_label)  # the text of some label is not empty
        should_have_labels = has_some_label or (needs_label and self._has_column("label"))
        if should_have_labels and "" in self._count_by_label:
            numbers_without_label = [line.number for line in self._lines() if not line.label]
            raise self._error_of_empty_cell(min(numbers_without_label), "label")
        lines_without_run = self._units_by_run.get("", {})
        if lines_without_run and len(self._units_by_run) > 1:
            numbers_without_run = [lines[0].number for lines in lines_without_run.values()]
            raise self._error_of_empty_cell(min(numbers_without_run), "run")

    def _lines(self) -> Iterator[LabelledLine]:
        """Yield the lines of all runs and units that were read."""
        for lines_by_unit in self._units_by_run.values():
            for lines in lines_by_unit.values():
                yield from lines

    def judged_file(self) -> JudgedFile:
        """Return the content of the file, once its rows are read."""
        count_by_label = {label: count for label, count in self._count_by_label.items() if label}
        return JudgedFile(
            name=self._table.name,
            units_by_run=self._units_by_run,
            filled_columns=self._filled_columns(),
            columns=tuple(self._table.columns),
            wanted_by_unit=self._wanted_by_unit,
            groups_by_unit=self._groups_by_unit,
            count_by_label=count_by_label,
            line_count=sum(self._count_by_label.values()),
        )

    def _filled_columns(self) -> frozenset[str]:
        """Return the columns with a meaning in which some cell is not empty; only columns that scoring asks about."""
        is_filled = {
            "label": any(self._count_by_label),
            "wanted": bool(self._wanted_by_unit),
            "run": any(self._units_by_run),
        }
        # All lines are looked through only for a column that the table has; usually its first line has a cell there.
        if self._has_column("evidence"):
            is_filled["evidence"] = any(line.evidence for line in self._lines())
        if self._has_column("class"):
            is_filled["class"] = any(line.class_name for line in self._lines())
        if self._has_column("weight"):
            is_filled["weight"] = any(line.weight is not None for line in self._lines())
        return frozenset([column for column, has_cells in is_filled.items() if has_cells])

    def _has_column(self, meaning: str) -> bool:
        """Return whether the table has a column with a meaning, such as "label"."""
        return self._table.column_of(meaning) in self._table.columns

    # ---- Errors

    def _error_of_empty_cell(self, number: int, column: str) -> InputError:
        """Return the error about an empty cell in the line with this number, in a column where none may be empty."""
        return self._error(number, f"column {self._table.column_of(column)} is empty")

    def _error(self, number: int, problem: str) -> InputError:
        """Return the error about the line with this number."""
        return InputError(problem, file=self._table.name, place=f"line {number}")
