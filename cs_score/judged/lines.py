"""Judged lines: what assessments and runs hold, unit by unit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.sources import Source
from cs_score.evidence.reading import quoted
from cs_score.judged.tables import JudgedTable, Names, TableRow

NO_CONFIDENCE: Final = 1.0
"""The confidence of a line that gives none."""


_MOST_SHARED: Final = 1 << 16
"""Texts that are kept to stand for equal ones."""


class Line(NamedTuple):
    """A line of assessments or of a run.

    `number` is its line in the file, 0 for one that no file holds; `label` is empty in a run without labels, `weight`
    None where none is given.
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
    """Read a file of assessments or of a run.

    Cells of columns that are `ignored` are not read. With `needs_label` every line needs a label; otherwise either all
    have one or none. Raise InputError with the line for a cell that cannot be.
    """
    reader = _Reader(JudgedTable(source, names, ignored))
    for row in reader.table.rows():
        reader.take(row)
    return reader.finished(needs_label)


class _Reader:
    """Collects the rows of one file."""

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
        self._shared: dict[str, str] = {}  # labels, classes, evidence: 150 bytes less for each line of a large file

    def take(self, row: TableRow) -> None:
        """Add a row. Raise InputError for a cell that cannot be."""
        number, (unit, answer, evidence, label, class_name, wanted, weight, confidence, run), others = row
        if not unit or not answer:
            raise self._error(number, f"column {self.table.column_of('answer' if unit else 'unit')} is empty")
        self._line_count += 1
        if label:
            label = self._one_text(label)
            self._count_by_label[label] = self._count_by_label.get(label, 0) + 1
        elif not self._line_without_label:
            self._line_without_label = number
        if evidence:
            self._filled.add("evidence")
            evidence = self._one_text(evidence)
        if class_name:
            self._filled.add("class")
            class_name = self._one_text(class_name)
        if wanted:
            self._filled.add("wanted")
            self._take_wanted(number, unit, wanted)
        if run:
            self._filled.add("run")
        elif not self._line_without_run:
            self._line_without_run = number
        line_confidence = self._number(number, "confidence", confidence) if confidence else NO_CONFIDENCE
        line_weight = self._weight(number, weight) if weight else None
        line = Line(number, answer, evidence, label, class_name, line_confidence, line_weight)
        lines_by_unit = self._systems.get(run)
        if lines_by_unit is None:
            lines_by_unit = self._systems[run] = {}
        lines = lines_by_unit.get(unit)
        if lines is not None:
            lines.append(line)
            return
        lines_by_unit[unit] = [line]
        if others and unit not in self._groups:
            self._groups[unit] = dict(zip(self.table.other_columns, others))

    def _one_text(self, text: str) -> str:
        """Return the text that stands for equal ones, which only the first texts of a file do."""
        if len(self._shared) < _MOST_SHARED:
            return self._shared.setdefault(text, text)
        return self._shared.get(text, text)

    def finished(self, needs_label: bool) -> JudgedFile:
        """Return the file. Raise InputError where some lines lack a label or a system that others have."""
        if self._count_by_label:
            self._filled.add("label")
            if self._line_without_label:
                raise self._error(self._line_without_label, f"column {self.table.column_of('label')} is empty")
        elif needs_label and self._line_count and self.table.column_of("label") in self.table.columns:
            raise self._error(self._line_without_label, f"column {self.table.column_of('label')} is empty")
        if "run" in self._filled and self._line_without_run:
            raise self._error(self._line_without_run, f"column {self.table.column_of('run')} is empty")
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
        if not (text.isascii() and text.isdecimal()) or len(text) > 9:
            raise self._error(number, f"wanted: {quoted(text)} is no whole number")
        wanted = int(text)
        if self._wanted.setdefault(unit, wanted) != wanted:
            before = f"{self._wanted[unit]} in line {self._line_of_wanted[unit]}"
            raise self._error(number, f"unit {quoted(unit)} wants {wanted} here and {before}")
        self._line_of_wanted.setdefault(unit, number)

    def _weight(self, number: int, text: str) -> float:
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

    def _error(self, number: int, problem: str) -> InputError:
        return InputError(problem, file=self.table.name, place=f"line {number}")
