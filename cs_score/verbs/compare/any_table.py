"""Compare systems by the scores that any table has of them, in the way in which the tasks compare their runs. A number
of a table belongs to a system, a measure and a unit (such as a question). It has a denominator, which is 1 for a plain
score.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from msgspec import UNSET, UnsetType

from cs_score.analysis.system_comparison import compare
from cs_score.analysis.systems import system_names
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record, replace
from cs_score.base.signature import GOLD, Origin
from cs_score.base.sources import Delimited, Input, InputDigest, open_source
from cs_score.measures import SumsFormula
from cs_score.statistics.resampling_settings import Note, Resampling
from cs_score.statistics.results import SystemComparison
from cs_score.statistics.units import Clusters, UnitTable, clusters_of_table
from cs_score.tasks.task import UnitStatistics
from cs_score.verbs.compare.exported import has_row_per_sample, read_exported

TASK: Final = "table"
"""The name of the task in documents about such a table."""

SCORE: Final = "score"
"""The measure of all scores in a table that names no measures."""

_UNIT_COLUMNS: Final = ("unit", "cluster", "stratum")
"""The columns of a wide table that describe its units; each other column has the scores of a system."""

_SUMMARY_ROW: Final = "all"
"""The unit of the rows in which trec_eval writes the means over all units."""

_LARGEST_NUMBER: Final = 1e60
"""The largest number of a table. Numbers are squared and divided by denominators, and the sums must stay finite."""

_SMALLEST_DENOMINATOR: Final = 1 / _LARGEST_NUMBER
"""The smallest denominator that is not 0."""


class AnyTable(Record):
    """The scores of systems, read from tables. `compare` calls its methods as it calls those of a task.

    `table_by_system` has for each system its units, with a numerator and a denominator for each of the `measure_names`.
    If a table has a column `measure` (`has_measure_column`), its numbers are taken for the scores of a task, whose
    differences are tested by randomisation. `summary_row_count` is the number of rows called `all`, which were left
    out. `averaged_unit_count` is the number of units with several samples in some system, which were averaged.
    """

    measure_names: tuple[str, ...]
    table_by_system: Mapping[str, UnitTable]
    clusters: Clusters | UnsetType
    inputs: tuple[InputDigest, ...]
    has_measure_column: bool
    summary_row_count: int = 0
    averaged_unit_count: int = 0

    @property
    def name(self) -> str:
        """The name that documents give the task: `table`."""
        return TASK

    def measures(self, results: object) -> Sequence[str]:
        """Return the names of the measures, which are the same for all systems."""
        return self.measure_names

    def headline_of(self, results: object) -> str | None:
        """Return None, because a table has no headline measure.

        The registry of measures chooses the measure to show first from the names of all measures.
        """
        return None

    def undefined_measures(self, result: str) -> Mapping[str, str]:
        """Return no measures: every system of a table has a score by every measure."""
        return {}

    def statistics(self, result: str, measures: Sequence[str]) -> UnitStatistics:
        """Return the numerators and denominators of a system's units by all measures.

        The parameter is called `result` in all tasks. Here, it is the name of a system.
        """
        system = result
        table = self.table_by_system[system]
        origin = Origin(task=TASK, options={"system": system}, inputs=self.inputs, settings=())
        return UnitStatistics(unit="unit", table=table, answered_units=table.ids, gold_units=table.ids, origin=origin)

    def formula(self, measures: Sequence[str]) -> SumsFormula:
        """Return the function that computes the scores by these measures from sums over units.

        A score is the sum of the numerators divided by the sum of the denominators.
        """
        # The columns of a system's table are numerator and denominator of the first measure, then of the second ...
        numerator_positions = [2 * self.measure_names.index(name) for name in measures]
        return partial(_divide_sums, numerator_positions)


def _divide_sums(
    numerator_positions: Sequence[int], sums: Sequence[Any], divide: Callable[[Any, Any], Any]
) -> list[Any]:
    """Return scores from the sums of the columns of a system's table: numerator sums over denominator sums.

    `numerator_positions` has the position of each measure's numerator in `sums`; its denominator is the next sum.
    `divide` divides two sums, and decides what 0/0 is.
    """
    scores = []
    for position in numerator_positions:
        numerator = sums[position]
        denominator = sums[position + 1]
        scores.append(divide(numerator, denominator))
    return scores


# ---- Reading


class _CellKey(NamedTuple):
    """The system, measure and unit that a number of a table belongs to."""

    system: str
    measure: str
    unit: str


class _Fraction(NamedTuple):
    """The score of a unit by a measure, as numerator and denominator; a plain score has the denominator 1."""

    numerator: float
    denominator: float


class _Cell(NamedTuple):
    """A score in a table: its line, what it belongs to, and its value."""

    line: int
    key: _CellKey
    fraction: _Fraction


class _TableReader:
    """Collects the numbers of several tables, which are added one after the other.

    If a system answers the same unit several times, each of these answers is a sample with its own score.

    `has_measure_column` says whether one of the tables names its measures. `clusters` are the groups of units that are
    drawn together, if a table has any.
    """

    def __init__(self) -> None:
        """Make a reader that has no numbers yet."""
        # The score of each system, measure and unit.
        self.fraction_by_key: dict[_CellKey, _Fraction] = {}
        # The scores of the samples. `average_samples` combines them into the scores of units.
        self.sample_scores_by_key: dict[_CellKey, list[float]] = {}
        self.clusters: Clusters | UnsetType = UNSET
        # The files and line numbers of the rows called `all`.
        self.summary_lines: set[tuple[str, int]] = set()
        self.has_measure_column = False

    def add(self, table: Delimited, system: str) -> None:
        """Add the numbers and clusters of a table. The numbers belong to `system` unless the table names its systems.

        Rows called `all` hold totals, so that only their line numbers are recorded. Raises InputError if a text is not
        a number, if a number is out of range, or if a unit has already been added.
        """
        has_samples = has_row_per_sample(table)
        for line, key, fraction in _read_cells(table, system, has_samples=has_samples):
            if key.unit == _SUMMARY_ROW:
                self.summary_lines.add((table.file, line))
            elif has_samples:
                self.sample_scores_by_key.setdefault(key, []).append(fraction.numerator)
            elif key in self.fraction_by_key:
                raise _repeated_unit_error(key, table, line)
            else:
                self.fraction_by_key[key] = fraction
        self._add_optional_columns(table)

    def _add_optional_columns(self, table: Delimited) -> None:
        """Note whether a table has a column `measure`, and add the clusters in its column `cluster` if it has one.

        Raises InputError if an earlier table has another cluster for the same unit.
        """
        if "measure" in table.columns:
            self.has_measure_column = True
        if "cluster" in table.columns:
            self._add_clusters(clusters_of_table(table), table.file)

    def _add_clusters(self, clusters: Clusters, file: str) -> None:
        """Add the clusters of a table, which was read from `file`: the units that are drawn together.

        Raises InputError if an earlier table has another cluster for the same unit.
        """
        if self.clusters is UNSET:
            self.clusters = clusters
            return
        cluster_by_unit = dict(self.clusters.cluster_by_unit)
        for unit, cluster in clusters.cluster_by_unit.items():
            earlier_cluster = cluster_by_unit.get(unit, cluster)
            if earlier_cluster != cluster:
                raise InputError("has other clusters than the file before", file=file)
            cluster_by_unit[unit] = cluster
        self.clusters = replace(clusters, cluster_by_unit=cluster_by_unit)

    def average_samples(self) -> int:
        """Make the mean of each unit's samples the score of the unit.

        Returns the number of units with several samples in any system.
        """
        units_with_several_samples: set[str] = set()
        for key, scores in self.sample_scores_by_key.items():
            mean = math.fsum(scores) / len(scores)
            self.fraction_by_key[key] = _Fraction(numerator=mean, denominator=1.0)
            if len(scores) > 1:
                units_with_several_samples.add(key.unit)
        return len(units_with_several_samples)


def _repeated_unit_error(key: _CellKey, table: Delimited, line: int) -> InputError:
    """Return the error that a table has a second number for the same unit, system and measure."""
    measure = f" by {key.measure}" if "measure" in table.columns else ""
    problem = f"unit {key.unit} of {key.system}{measure} occurs twice"
    return InputError(problem, file=table.file, place=f"line {line}")


def read_table(files: Sequence[Input], name_in_file_by_column: Mapping[str, str] = MappingProxyType({})) -> AnyTable:
    """Return the scores of all systems in some tables.

    A table has either a column for each system or a row for each score; docs/statistics/any-table.md describes both
    layouts. `name_in_file_by_column` maps our column names to the names used in the files, such as
    `{"score": "accuracy"}`. If a unit has several scores, they are treated as samples and averaged. The score of a
    system is the sum of its numerators divided by the sum of its denominators, which are 1 for plain scores. Rows for a
    unit called `all` are ignored, because trec_eval uses them for the means over all units. Raises InputError, with the
    line number, if a cell is missing or is not a number, if a number is too large or too small, or if a unit occurs
    twice.
    """
    reader = _TableReader()
    digests: list[InputDigest] = []
    for file, system in zip(files, system_names(files)):
        table = read_exported(file, name_in_file_by_column)
        reader.add(table, system)
        with open_source(file) as source:
            digests.append(source.digest(GOLD))
    averaged_unit_count = reader.average_samples()
    if not reader.fraction_by_key:
        raise InputError("has no unit", file=str(files[0]))
    measures = tuple(dict.fromkeys([key.measure for key in reader.fraction_by_key]))
    return AnyTable(
        measure_names=measures,
        table_by_system=_tables_of_systems(reader.fraction_by_key, measures),
        clusters=reader.clusters,
        inputs=tuple(digests),
        has_measure_column=reader.has_measure_column,
        summary_row_count=len(reader.summary_lines),
        averaged_unit_count=averaged_unit_count,
    )


def _tables_of_systems(fraction_by_key: Mapping[_CellKey, _Fraction], measures: Sequence[str]) -> dict[str, UnitTable]:
    """Return the numerators and denominators of each system, by name, in the order in which the tables name them.

    Raises InputError if a unit of a system has no number for one of the measures.
    """
    units = tuple(dict.fromkeys([key.unit for key in fraction_by_key]))
    systems = dict.fromkeys([key.system for key in fraction_by_key])
    return {system: _table_of_system(fraction_by_key, system, measures, units) for system in systems}


def _table_of_system(
    fraction_by_key: Mapping[_CellKey, _Fraction], system: str, measures: Sequence[str], units: Sequence[str]
) -> UnitTable:
    """Return the numerators and denominators of a system, with a row for each of its units.

    `units` are the units of all systems, some of which this system may not have. Raises InputError if a unit of the
    system has no number for one of the measures.
    """
    unit_ids: list[str] = []
    rows: list[tuple[float, ...]] = []
    for unit in units:
        row = _row_of_unit(fraction_by_key, system, measures, unit)
        if row:  # otherwise only other systems have this unit
            unit_ids.append(unit)
            rows.append(row)
    return UnitTable(tuple(unit_ids), _columns_of_measures(measures), rows)


def _columns_of_measures(measures: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a system's table: `("F1:numerator", "F1:denominator", ...)`."""
    columns: list[str] = []
    for measure in measures:
        columns += [f"{measure}:numerator", f"{measure}:denominator"]
    return tuple(columns)


def _row_of_unit(
    fraction_by_key: Mapping[_CellKey, _Fraction], system: str, measures: Sequence[str], unit: str
) -> tuple[float, ...]:
    """Return the numerators and denominators of a unit of a system: `(1.0, 2.0, 0.0, 1.0)` for two measures.

    The row is empty if the system does not have the unit. Raises InputError if the unit has no number for one of the
    measures.
    """
    row: list[float] = []
    missing_measures = []
    for measure in measures:
        fraction = fraction_by_key.get(_CellKey(system, measure, unit))
        if fraction is None:
            missing_measures.append(measure)
        else:
            row += [fraction.numerator, fraction.denominator]
    if row and missing_measures:
        raise InputError(f"unit {unit} of {system} has no {missing_measures[0]}")
    return tuple(row)


# ---- The forms of tables


def _read_cells(table: Delimited, system: str, *, has_samples: bool) -> Iterator[_Cell]:
    """Return the numbers of a table, which may have any of three forms.

    If it `has_samples`, it has a row for each sample of a unit. Otherwise it has a numerator and a denominator in each
    row, or a column for each system. The numbers belong to `system` unless the table names its systems.
    """
    if has_samples:
        return _read_samples(table, system)
    if "numerator" in table.columns and "denominator" in table.columns:
        return _read_fractions(table, system)
    return _read_columns_of_systems(table)


def _read_samples(table: Delimited, system: str) -> Iterator[_Cell]:
    """Yield the number in each row of a table with a row for each sample: the score of one answer to a unit.

    A unit has several rows if a system has answered it several times. The numbers belong to `system` unless the table
    has a column that names the system.
    """
    optional_columns = _optional_columns(table)
    for line, (unit, score_text, *texts) in table.cells_of("unit", "score", *optional_columns):
        key = _key_of_row(unit, system, dict(zip(optional_columns, texts)))
        score = _read_number(table, line, "score", score_text)
        yield _Cell(line, key, _Fraction(numerator=score, denominator=1.0))


def _optional_columns(table: Delimited) -> list[str]:
    """Return the columns of a table, other than its unit, that describe a row, such as `["system", "measure"]`."""
    return [name for name in ("system", "measure") if name in table.columns]


def _key_of_row(unit: str, system: str, text_by_column: Mapping[str, str]) -> _CellKey:
    """Return the system, measure and unit of the number in a row.

    `text_by_column` has the cells of the optional columns. A table without these columns is about one `system` and one
    measure.
    """
    system_of_row = text_by_column.get("system", system)
    measure = text_by_column.get("measure", SCORE)
    return _CellKey(system=system_of_row, measure=measure, unit=unit)


def _read_columns_of_systems(table: Delimited) -> Iterator[_Cell]:
    """Yield the numbers of a table that has a row for each unit and a column for each system."""
    systems = [column for column in table.columns if column not in _UNIT_COLUMNS]
    for line, (unit, *texts) in table.cells_of("unit", *systems):
        for system, text in zip(systems, texts):
            key = _CellKey(system=system, measure=SCORE, unit=unit)
            score = _read_number(table, line, system, text)
            yield _Cell(line, key, _Fraction(numerator=score, denominator=1.0))


def _read_fractions(table: Delimited, system: str) -> Iterator[_Cell]:
    """Yield the number in each row of a table that has a numerator and a denominator in each row.

    The numbers belong to `system` unless the table has a column with the system. Raises InputError for a denominator
    that is negative or too small.
    """
    optional_columns = _optional_columns(table)
    rows = table.cells_of("unit", "numerator", "denominator", *optional_columns)
    for line, (unit, numerator_text, denominator_text, *texts) in rows:
        numerator = _read_number(table, line, "numerator", numerator_text)
        denominator = _read_denominator(table, line, denominator_text)
        key = _key_of_row(unit, system, dict(zip(optional_columns, texts)))
        yield _Cell(line, key, _Fraction(numerator, denominator))


def _read_denominator(table: Delimited, line: int, text: str) -> float:
    """Return the denominator in a cell of a table from the `text` of the cell.

    Raises InputError if the text is not a number, or if the number is negative or too small to divide by.
    """
    denominator = _read_number(table, line, "denominator", text)
    if denominator < 0:
        raise InputError(f"the denominator {text} is below 0", file=table.file, place=f"line {line}")
    if 0 < denominator < _SMALLEST_DENOMINATOR:
        raise InputError(
            f"the denominator {text} is too small to divide by",
            file=table.file,
            place=f"line {line}",
            remedy=f"multiply numerators and denominators: denominators are 0 or at least {_SMALLEST_DENOMINATOR:g}",
        )
    return denominator


def _read_number(table: Delimited, line: int, column: str, text: str) -> float:
    """Return the number in a cell of a table from the `text` of the cell.

    `line` and `column` give the position of the cell. Raises InputError if the text is not a number, or if the
    number is too large.
    """
    try:
        number = float(text)
    except ValueError:
        number = math.nan  # refused below, as infinity is
    has_underscore = "_" in text  # Python reads 1_000 as a number
    if not math.isfinite(number) or has_underscore:
        raise InputError(f"column {column}: {text} is no number", file=table.file, place=f"line {line}")
    if abs(number) > _LARGEST_NUMBER:
        raise _too_large_error(table, line, column, text)
    return number


def _too_large_error(table: Delimited, line: int, column: str, text: str) -> InputError:
    """Return the error that a number of a table, which has the given `text`, is too large."""
    return InputError(
        f"column {column}: {text} is too large to be squared and added up",
        file=table.file,
        place=f"line {line}",
        remedy=f"give the numbers in another unit of measurement: they go up to {_LARGEST_NUMBER:g}",
    )


# ---- Comparing


def compare_table(table: AnyTable, resampling: Resampling | None = None, **choices: Any) -> SystemComparison:
    """Return the comparison of the systems of a table, with notes on rows that were left out or averaged.

    `resampling` holds the settings for intervals and tests. By default, enough resamples are drawn for a significant
    result to be possible. `choices` are further arguments of `compare`, such as `measures` and `primary`. Raises
    UsageError if there is only one system.
    """
    systems = list(table.table_by_system)
    if len(systems) < 2:
        raise UsageError(
            f"a comparison needs at least two systems; there is {systems[0]} only: name another table, too"
        )
    settings = _settings_with_clusters(resampling or Resampling(can_grow=True), table)
    # `compare` passes the result of each system to the methods of `table`, which need only the name of the system.
    result_by_system = {system: system for system in systems}
    # If a table has a column of measures, its numbers are treated as scores of a task, which are tested by
    # randomisation.
    comparison = compare(table, result_by_system, settings, with_sign_test=not table.has_measure_column, **choices)
    return replace(comparison, notes=(*comparison.notes, *_notes_on_reading(table)))


def _settings_with_clusters(settings: Resampling, table: AnyTable) -> Resampling:
    """Return the settings with the clusters of a table, unless the settings have clusters already."""
    if settings.clusters:
        return settings
    return replace(settings, clusters=table.clusters)


def _notes_on_reading(table: AnyTable) -> list[Note]:
    """Return a note on rows that were left out, if any were, and one on samples that were averaged."""
    notes = []
    if table.summary_row_count:
        rows = "1 row" if table.summary_row_count == 1 else f"{table.summary_row_count} rows"
        text = f"{rows} called {_SUMMARY_ROW} left out: they sum up the others; a unit needs another name"
        notes.append(Note("SUMMARY_ROWS", text))
    if table.averaged_unit_count:
        units = "1 unit has" if table.averaged_unit_count == 1 else f"{table.averaged_unit_count} units have"
        text = f"{units} several samples, whose mean is the score of the unit: units are what is drawn, not samples"
        notes.append(Note("SAMPLES_AVERAGED", text))
    return notes
