"""Judged lines: what assessments and runs hold, unit by unit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.sources import Source
from cs_score.evidence.reading import quoted
from cs_score.judged.tables import JudgedTable, Names

NO_CONFIDENCE: Final = 1.0
"""The confidence of a line that gives none."""


_MOST_SHARED: Final = 1 << 16
"""Texts of cells that are kept to stand for equal ones: 200 bytes less a line where answers or labels are few."""


class Line(Record, gc=False):
    """A line of assessments or of a run.

    `number` is its line in the file, 0 for a line that no file holds. `label` is empty in a run without labels,
    `class_name` where no class is named, and `weight` is None where none is given. It refers to no other record, so
    that Python need not look for circles (`gc=False`): 16 bytes less a line.
    """

    number: int
    answer: str
    evidence: str = ""
    label: str = ""
    class_name: str = ""
    confidence: float = NO_CONFIDENCE
    weight: float | None = None


class JudgedFile(Record):
    """What a file holds: for each system the lines of each unit, in the order of the file.

    Assessments, and a run without a column `run`, have one system, whose name is empty. `filled` are the columns in
    which some cell is filled, `columns` all that the header names; `wanted` has the units whose column says how many
    answers they want, `groups` the cells of further columns in the first line of each unit.
    """

    name: str
    systems: Mapping[str, Mapping[str, list[Line]]]
    filled: frozenset[str]
    columns: tuple[str, ...]
    wanted: Mapping[str, int]
    groups: Mapping[str, Mapping[str, str]]
    count_by_label: Mapping[str, int]
    line_count: int


def read_judged(source: Source, names: Names, *, ignored: Sequence[str], needs_label: bool) -> JudgedFile:
    """Return what a file of assessments or of a run holds.

    `names` are what the file calls its columns. Cells of columns that are `ignored` are not read. With `needs_label`
    every line needs a label; otherwise either all lines have one or none. Raise InputError with the line for a cell
    that cannot be.
    """
    reader = _Reader(JudgedTable(source, names, ignored))
    reader.read_rows()
    return reader.finished(needs_label)


class _Reader:
    """Collects the rows of one file by system and unit."""

    def __init__(self, table: JudgedTable) -> None:
        self.table = table
        self._systems: dict[str, dict[str, list[Line]]] = {}
        self._groups: dict[str, Mapping[str, str]] = {}
        self._wanted: dict[str, int] = {}
        self._line_of_wanted: dict[str, int] = {}
        self._count_by_label: dict[str, int] = {}
        self._filled: set[str] = set()
        self._line_count = 0
        self._line_without_label = 0
        self._line_without_run = 0
        self._shared_texts: dict[str, str] = {}
        self._shared_numbers: dict[str, float] = {}

    def read_rows(self) -> None:
        """Collect all rows of the table. Raise InputError for a cell that cannot be.

        It is one loop over local names, and equal texts are kept once: half the time and two thirds of the memory that
        a million lines take with a call for each.
        """
        shared_texts = self._shared_texts
        shared_numbers = self._shared_numbers
        add_filled = self._filled.add
        for number, cells, other_cells in self.table.rows():
            unit, answer, evidence, label, class_name, wanted, weight, confidence, run = cells
            if not unit or not answer:
                raise self._empty_cell(number, "answer" if unit else "unit")
            self._line_count += 1
            answer = shared_texts.get(answer) or self._share(answer)
            if evidence:
                add_filled("evidence")
                evidence = shared_texts.get(evidence) or self._share(evidence)
            if label:
                label = shared_texts.get(label) or self._share(label)
                self._count_by_label[label] = self._count_by_label.get(label, 0) + 1
            elif not self._line_without_label:
                self._line_without_label = number
            if class_name:
                add_filled("class")
                class_name = shared_texts.get(class_name) or self._share(class_name)
            if wanted:
                self._take_wanted(number, unit, wanted)
            line_weight = self._weight(number, weight) if weight else None
            line_confidence = NO_CONFIDENCE
            if confidence:
                known_number = shared_numbers.get(confidence)
                line_confidence = self._confidence(number, confidence) if known_number is None else known_number
            if run:
                add_filled("run")
            elif not self._line_without_run:
                self._line_without_run = number
            line = Line(number, answer, evidence, label, class_name, line_confidence, line_weight)
            self._add(line, unit, run, other_cells)

    def _add(self, line: Line, unit: str, run: str, other_cells: Sequence[str]) -> None:
        """Add a line of a system to its unit, and the unit's groups where it is the first one of the unit."""
        lines_by_unit = self._systems.get(run)
        if lines_by_unit is None:
            lines_by_unit = self._systems[run] = {}
        lines = lines_by_unit.get(unit)
        if lines is not None:
            lines.append(line)
            return
        lines_by_unit[unit] = [line]
        if other_cells and unit not in self._groups:
            self._groups[unit] = dict(zip(self.table.other_columns, other_cells))

    def _share(self, text: str) -> str:
        """Return a text, and keep it to stand for equal ones where it is among the first texts of the file."""
        if len(self._shared_texts) < _MOST_SHARED:
            self._shared_texts[text] = text
        return text

    def _confidence(self, number: int, text: str) -> float:
        """Return the confidence of a line, and keep it for equal texts. Raise InputError where it is no number."""
        confidence = self._number(number, "confidence", text)
        if len(self._shared_numbers) < _MOST_SHARED:
            self._shared_numbers[text] = confidence
        return confidence

    def finished(self, needs_label: bool) -> JudgedFile:
        """Return the file. Raise InputError where some lines lack a label or a system that others have."""
        if self._count_by_label:
            self._filled.add("label")
            if self._line_without_label:
                raise self._empty_cell(self._line_without_label, "label")
        elif needs_label and self._line_count and self.table.column_of("label") in self.table.columns:
            raise self._empty_cell(self._line_without_label, "label")
        if "run" in self._filled and self._line_without_run:
            raise self._empty_cell(self._line_without_run, "run")
        return JudgedFile(
            name=self.table.name,
            systems=self._systems,
            filled=frozenset(self._filled),
            columns=tuple(self.table.columns),
            wanted=self._wanted,
            groups=self._groups,
            count_by_label=self._count_by_label,
            line_count=self._line_count,
        )

    def _take_wanted(self, number: int, unit: str, text: str) -> None:
        """Keep how many answers a unit wants. Raise InputError for no whole number, and another one than before."""
        self._filled.add("wanted")
        if not (text.isascii() and text.isdecimal()) or len(text) > 9:
            raise self._error(number, f"wanted: {quoted(text)} is no whole number")
        wanted = int(text)
        if self._wanted.setdefault(unit, wanted) != wanted:
            before = f"{self._wanted[unit]} in line {self._line_of_wanted[unit]}"
            raise self._error(number, f"unit {quoted(unit)} wants {wanted} here and {before}")
        self._line_of_wanted.setdefault(unit, number)

    def _weight(self, number: int, text: str) -> float:
        """Return the weight of a line's class. Raise InputError where it is no number above 0."""
        self._filled.add("weight")
        weight = self._number(number, "weight", text)
        if weight <= 0:
            raise self._error(number, f"weight: {quoted(text)} is not above 0")
        return weight

    def _number(self, number: int, column: str, text: str) -> float:
        """Return the number that a cell holds. Raise InputError where it holds none."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or "_" in text or text != text.strip():
            raise self._error(number, f"{column}: {quoted(text)} is no number")
        return value

    def _empty_cell(self, number: int, column: str) -> InputError:
        """Return the error about a cell that must not be empty, in the line with this number."""
        return self._error(number, f"column {self.table.column_of(column)} is empty")

    def _error(self, number: int, problem: str) -> InputError:
        """Return the error about the line with this number."""
        return InputError(problem, file=self.table.name, place=f"line {number}")
