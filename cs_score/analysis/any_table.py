"""Compare the systems of any table of units by systems, as the tasks compare theirs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from msgspec import UNSET, UnsetType

from cs_score.analysis.comparison import compare
from cs_score.analysis.exported import is_of_samples, read_exported
from cs_score.analysis.systems import system_names
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record, replace
from cs_score.base.signature import GOLD, Origin
from cs_score.base.sources import Delimited, Input, InputDigest, open_source
from cs_score.measures.registry import SumsFormula
from cs_score.statistics.options import Note, Resampling
from cs_score.statistics.results import Comparison
from cs_score.statistics.units import Clusters, UnitTable, clusters_of_table
from cs_score.tasks.task import Statistics

TASK: Final = "table"
"""The name of the task in documents about such a table."""

SCORE: Final = "score"
"""The measure of a table that names none."""

_ABOUT_UNITS: Final = ("unit", "cluster", "stratum")
"""The columns of a wide table that are no systems."""

_SUMMARY_ROW: Final = "all"
"""The unit of the rows in which trec_eval writes the means over all units."""

_LARGEST: Final = 1e60
"""The largest number of a table: its square, divided by the smallest denominator twice, can still be added up."""


class AnyTable(Record):
    """The statistics of each system: for each of the measures numerator and denominator. It is compared as a task is.

    `names_measures`: the table names its measures, so that its numbers are those of a task, which tests by
    randomisation. `summary_rows` is the number of rows called `all`, which were left out. `replicated` is the number of
    units of which some system has several samples, which were averaged.
    """

    names: tuple[str, ...]
    systems: Mapping[str, UnitTable]
    clusters: Clusters | UnsetType
    inputs: tuple[InputDigest, ...]
    names_measures: bool
    summary_rows: int = 0
    replicated: int = 0

    @property
    def name(self) -> str:
        """The name of the task in documents."""
        return TASK

    def measures(self, results: object) -> Sequence[str]:
        """Return the measures of the table."""
        return self.names

    def headline_of(self, results: object) -> str | None:
        """Return None: the registry of measures knows the measure to show first, by its name."""
        return None

    def undefined(self, result: str) -> Mapping[str, str]:
        """Return nothing: a table has a number for every measure of a system."""
        return {}

    def statistics(self, result: str, measures: Sequence[str]) -> Statistics:
        """Return the statistics of a system, given by its name."""
        table = self.systems[result]
        origin = Origin(task=TASK, options={"system": result}, inputs=self.inputs, settings=())
        return Statistics(unit="unit", table=table, answered=table.ids, known=table.ids, origin=origin)

    def formula(self, measures: Sequence[str]) -> SumsFormula:
        """Return the function from the sums over units to the scores by these measures."""
        numerator_positions = [2 * self.names.index(name) for name in measures]
        return partial(_ratios, numerator_positions)


def _ratios(numerator_positions: Sequence[int], sums: Sequence[Any], divide: Callable[[Any, Any], Any]) -> list[Any]:
    """Return the score by each measure, from the sums of numerators and of the denominators behind them."""
    return [divide(sums[position], sums[position + 1]) for position in numerator_positions]


# ---- Reading


class _CellKey(NamedTuple):
    """A number of a table belongs to a unit of a system, by a measure."""

    system: str
    measure: str
    unit: str


class _Fraction(NamedTuple):
    """The numerator and denominator of a unit by a measure."""

    numerator: float
    denominator: float


class _Cell(NamedTuple):
    """A number of a table, and the line that it stands in."""

    line: int
    key: _CellKey
    fraction: _Fraction


class _TableReader:
    """Collects the numbers of one table after the other.

    `fraction_by_key` are the numbers, `scores_by_key` the scores of samples, which are averaged at the end.
    `summary_lines` are the places of the rows called `all`.
    """

    def __init__(self) -> None:
        self.fraction_by_key: dict[_CellKey, _Fraction] = {}
        self.scores_by_key: dict[_CellKey, list[float]] = {}
        self.clusters: Clusters | UnsetType = UNSET
        self.summary_lines: set[tuple[str, int]] = set()
        self.names_measures = False

    def add(self, table: Delimited, system: str) -> None:
        """Add the numbers of a table; they belong to `system` unless the table names its systems.

        Raises InputError for a number that cannot be used, and for a unit that was there before.
        """
        has_samples = is_of_samples(table)
        if "measure" in table.columns:
            self.names_measures = True
        for line, key, fraction in _cells_of(table, system, has_samples=has_samples):
            if key.unit == _SUMMARY_ROW:
                self.summary_lines.add((table.file, line))
            elif has_samples:
                self.scores_by_key.setdefault(key, []).append(fraction.numerator)
            elif key in self.fraction_by_key:
                raise _repeated_unit(key, table, line)
            else:
                self.fraction_by_key[key] = fraction
        if "cluster" in table.columns:
            self._add_clusters(clusters_of_table(table), table.file)

    def _add_clusters(self, clusters: Clusters, file: str) -> None:
        """Add the clusters of a table. Raises InputError if a unit was in another cluster before."""
        if self.clusters is UNSET:
            self.clusters = clusters
            return
        earlier_clusters = self.clusters.clusters
        for unit, cluster in clusters.clusters.items():
            if earlier_clusters.get(unit, cluster) != cluster:
                raise InputError("has other clusters than the file before", file=file)
        self.clusters = replace(clusters, clusters={**earlier_clusters, **clusters.clusters})

    def average_samples(self) -> int:
        """Enter the means of samples as the scores of their units. Return how many units have several samples."""
        replicated_units: set[str] = set()
        for key, scores in self.scores_by_key.items():
            self.fraction_by_key[key] = _Fraction(math.fsum(scores) / len(scores), 1.0)
            if len(scores) > 1:
                replicated_units.add(key.unit)
        return len(replicated_units)


def _repeated_unit(key: _CellKey, table: Delimited, line: int) -> InputError:
    """Return the error that a unit of a system occurs twice in a table."""
    measure = f" by {key.measure}" if "measure" in table.columns else ""
    problem = f"unit {key.unit} of {key.system}{measure} occurs twice"
    return InputError(problem, file=table.file, place=f"line {line}")


def read_table(files: Sequence[Input], names: Mapping[str, str] = MappingProxyType({})) -> AnyTable:
    """Read tables that anybody may have made, wide or long as docs/statistics/any-table.md has them.

    `names` has the files' own names of the columns. Several scores of a unit are samples, which are averaged. The score
    of a system is the sum of its numerators over that of its denominators, which are 1 in a wide table. A row called
    `all` is no unit: trec_eval writes the means over all units there. Raises InputError with the line for text, missing
    cells, numbers too large or too small, a unit that occurs twice.
    """
    reader = _TableReader()
    digests: list[InputDigest] = []
    for file, system in zip(files, system_names(files)):
        reader.add(read_exported(file, names), system)
        with open_source(file) as source:
            digests.append(source.digest(GOLD))
    replicated = reader.average_samples()
    fraction_by_key = reader.fraction_by_key
    if not fraction_by_key:
        raise InputError("has no unit", file=str(files[0]))
    measures = tuple(dict.fromkeys([key.measure for key in fraction_by_key]))
    units = tuple(dict.fromkeys([key.unit for key in fraction_by_key]))
    table_by_system: dict[str, UnitTable] = {}
    for system in dict.fromkeys([key.system for key in fraction_by_key]):
        table_by_system[system] = _table_of_system(fraction_by_key, system, measures, units)
    return AnyTable(
        names=measures,
        systems=table_by_system,
        clusters=reader.clusters,
        inputs=tuple(digests),
        names_measures=reader.names_measures,
        summary_rows=len(reader.summary_lines),
        replicated=replicated,
    )


def _table_of_system(
    fraction_by_key: Mapping[_CellKey, _Fraction], system: str, measures: Sequence[str], units: Sequence[str]
) -> UnitTable:
    """Return the table of a system with its units. Raises InputError for a unit that lacks some measures."""
    unit_ids: list[str] = []
    rows: list[tuple[float, ...]] = []
    for unit in units:
        row: list[float] = []
        missing_measures = []
        for measure in measures:
            fraction = fraction_by_key.get(_CellKey(system, measure, unit))
            if fraction is None:
                missing_measures.append(measure)
            else:
                row += fraction
        if not row:
            continue
        if missing_measures:
            raise InputError(f"unit {unit} of {system} has no {missing_measures[0]}")
        unit_ids.append(unit)
        rows.append(tuple(row))
    columns: list[str] = []
    for measure in measures:
        columns += [f"{measure}:numerator", f"{measure}:denominator"]
    return UnitTable(tuple(unit_ids), tuple(columns), rows)


# ---- The forms of tables


def _cells_of(table: Delimited, system: str, *, has_samples: bool) -> Iterator[_Cell]:
    """Return the numbers of a table, whatever its form."""
    if has_samples:
        return _cells_of_samples(table, system)
    if {"numerator", "denominator"} <= set(table.columns):
        return _cells_of_long(table, system)
    return _cells_of_wide(table)


def _cells_of_samples(table: Delimited, system: str) -> Iterator[_Cell]:
    """Yield the score of each sample of a unit; they are of `system` unless the table has a column for it."""
    optional_columns = [name for name in ("system", "measure") if name in table.columns]
    for line, (unit, score, *texts) in table.cells_of("unit", "score", *optional_columns):
        text_by_column = dict(zip(optional_columns, texts))
        key = _CellKey(text_by_column.get("system", system), text_by_column.get("measure", SCORE), unit)
        yield _Cell(line, key, _Fraction(_read_number(table, line, "score", score), 1.0))


def _cells_of_wide(table: Delimited) -> Iterator[_Cell]:
    """Yield the numbers of a table with a row for each unit and a column for each system."""
    systems = [column for column in table.columns if column not in _ABOUT_UNITS]
    for line, (unit, *texts) in table.cells_of("unit", *systems):
        for system, text in zip(systems, texts):
            number = _read_number(table, line, system, text)
            yield _Cell(line, _CellKey(system, SCORE, unit), _Fraction(number, 1.0))


def _cells_of_long(table: Delimited, system: str) -> Iterator[_Cell]:
    """Yield the numbers of a table with a row for each number; they are of `system` unless a column names others.

    Raises InputError for a denominator that is negative or too small.
    """
    optional_columns = [name for name in ("system", "measure") if name in table.columns]
    rows = table.cells_of("unit", "numerator", "denominator", *optional_columns)
    for line, (unit, numerator_text, denominator_text, *texts) in rows:
        numerator = _read_number(table, line, "numerator", numerator_text)
        denominator = _read_number(table, line, "denominator", denominator_text)
        if denominator < 0:
            raise InputError(f"the denominator {denominator_text} is below 0", file=table.file, place=f"line {line}")
        if 0 < denominator < 1 / _LARGEST:
            raise InputError(
                f"the denominator {denominator_text} is too small to divide by",
                file=table.file,
                place=f"line {line}",
                remedy=f"multiply numerators and denominators: denominators are 0 or at least {1 / _LARGEST:g}",
            )
        text_by_column = dict(zip(optional_columns, texts))
        key = _CellKey(text_by_column.get("system", system), text_by_column.get("measure", SCORE), unit)
        yield _Cell(line, key, _Fraction(numerator, denominator))


def _read_number(table: Delimited, line: int, column: str, text: str) -> float:
    """Return the number in a cell. Raises InputError for text and for a number that is too large."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or "_" in text:
        raise InputError(f"column {column}: {text} is no number", file=table.file, place=f"line {line}")
    if abs(number) > _LARGEST:
        raise InputError(
            f"column {column}: {text} is too large to be squared and added up",
            file=table.file,
            place=f"line {line}",
            remedy=f"give the numbers in another unit of measurement: they go up to {_LARGEST:g}",
        )
    return number


# ---- Comparing


def compare_table(table: AnyTable, resampling: Resampling | None = None, **choices: Any) -> Comparison:
    """Compare the systems of a table as `compare` does it for a task. Raises UsageError for a single system."""
    if len(table.systems) < 2:
        [name] = table.systems
        raise UsageError(f"a comparison needs at least two systems; there is {name} only: name another table, too")
    settings = resampling or Resampling(can_grow=True)
    settings = replace(settings, clusters=settings.clusters or table.clusters)
    name_by_name = {name: name for name in table.systems}
    comparison = compare(table, name_by_name, settings, has_signs=not table.names_measures, **choices)
    notes = _notes_on_reading(table)
    return replace(comparison, notes=(*comparison.notes, *notes))


def _notes_on_reading(table: AnyTable) -> list[Note]:
    """Return notes on rows that were left out and on samples that were averaged."""
    notes = []
    if table.summary_rows:
        rows = "1 row" if table.summary_rows == 1 else f"{table.summary_rows} rows"
        text = f"{rows} called {_SUMMARY_ROW} left out: they sum up the others; a unit needs another name"
        notes.append(Note("SUMMARY_ROWS", text))
    if table.replicated:
        units = "1 unit has" if table.replicated == 1 else f"{table.replicated} units have"
        text = f"{units} several samples, whose mean is the score of the unit: units are what is drawn, not samples"
        notes.append(Note("SAMPLES_AVERAGED", text))
    return notes
