"""Systems compared: results of one task, or any table of units by systems; and such a table of results of any task."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.exported import is_of_samples, read_exported
from cs_score.analysis.outcomes import undefined_notes
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record, replace
from cs_score.base.runtime import Late
from cs_score.base.signature import GOLD, Origin, short_digest
from cs_score.base.sources import Delimited, Input, InputDigest, name_of, open_source
from cs_score.measures.registry import MEASURES, SumsFormula, chosen, find, headline, matching, usual_among
from cs_score.statistics.arithmetic import ratios_of
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.options import Note, Resampling
from cs_score.statistics.results import Comparison, MeasureComparison
from cs_score.statistics.units import (
    Clusters,
    UnitTable,
    align_systems,
    clusters_of_table,
    require_gold_units,
    unique_ids,
)
from cs_score.tables.layout import Layout, Row, Table, columns
from cs_score.tasks.task import Comparable, Statistics

if TYPE_CHECKING:
    import numpy as np

    from cs_score.coldstart.scorer import OneRun
else:
    np = Late("numpy")


def compare(
    task: Comparable,
    results: Mapping[str, Any],
    resampling: Resampling | None = None,
    *,
    measures: Sequence[str] = (),
    primary: str | None = None,
    common: bool = False,
    **choices: Any,
) -> Comparison:
    """Compare results of a task, by the name of the system.

    `measures` are names or patterns (`*_f1`), all if none is given; `primary` decides, the headline measure among them
    unless given, and all others are exploratory. Where some systems have no value of a measure, the others are compared
    by it, if there are two of them and the baseline is one; the measure names those that have no rank. `common`,
    `equivalence` and `has_signs` are as in `compare_tables`, and so are the errors; UsageError also for an unknown
    measure, InputError for a system that answers no unit of gold.
    """
    if len(results) < 2:
        raise UsageError("a comparison needs at least two systems")
    settings = resampling or Resampling(can_grow=True)
    scope = _scope(task, results, settings.baseline or None)
    _refuse_undefined(scope.known, scope.undefined, [*measures, *([] if primary is None else [primary])])
    if primary is not None:
        [primary] = chosen(scope.known, [find(primary, scope.known) or primary])
    compared = chosen(scope.known, [*measures, primary] if measures and primary else measures)
    headline_of_results = task.headline_of(results.values())
    if primary is None and headline_of_results in compared:
        primary = headline_of_results
    primary = primary or _headline_among(task.name, compared)
    found, origins = _compared(task, results, scope, compared, settings, primary=primary, common=common, **choices)
    for name, dropped in (found.dropped or {}).items():
        left_out = short_digest("".join(f"{unit}\n" for unit in sorted(dropped)))
        option = {"units": found.units, "dropped": dropped}
        origins[name] = origins[name].with_option("common", option, f"common={left_out}")
    signatures = {name: str(origin.signature) for name, origin in origins.items()}
    found = replace(found, task=task.name, signatures=signatures, origins=origins)
    if not scope.undefined:
        return found
    return replace(found, undefined=scope.undefined, notes=(*found.notes, *_notes_on_undefined(scope, found)))


def headline_measure(task: Comparable, results: Mapping[str, Any]) -> str:
    """Return the measure that `compare` takes as the primary one of these results where none is given."""
    return _headline_among(task.name, _scope(task, results, None).known)


class _Scope(NamedTuple):
    """The measures that systems can be compared by.

    `shared` are those that all systems have a value of; `partial` those that only the `ranked` systems have, which are
    at least two, with the baseline where there is one. `undefined` has the measures without a value by system.
    """

    shared: Sequence[str]
    partial: Sequence[str]
    ranked: Sequence[str]
    undefined: Mapping[str, Mapping[str, str]]

    @property
    def known(self) -> list[str]:
        """Return all measures, those of all systems first."""
        return [*self.shared, *self.partial]


def _scope(task: Comparable, results: Mapping[str, Any], baseline: str | None) -> _Scope:
    """Return the measures that results can be compared by, of all and of those without an undefined measure."""
    undefined = {}
    for name, result in results.items():
        reasons = dict(task.undefined(result))
        if reasons:
            undefined[name] = reasons
    shared = task.measures(results.values())
    ranked = [name for name in results if name not in undefined]
    can_be_ranked = bool(undefined) and len(ranked) > 1 and (baseline is None or baseline in ranked)
    if not can_be_ranked:
        return _Scope(shared, (), (), undefined)
    measures_of_ranked = task.measures(results[name] for name in ranked)
    return _Scope(shared, [name for name in measures_of_ranked if name not in shared], ranked, undefined)


def _compared(
    task: Comparable, results: Mapping[str, Any], scope: _Scope, measures: Sequence[str], settings: Resampling,
    *, primary: str, common: bool, **choices: Any,
) -> tuple[Comparison, dict[str, Origin]]:  # fmt: skip
    """Compare all systems by the measures that they share, and the ranked ones by the others.

    Returns the comparison and the origin of the scores of each system.
    """
    of_all = [name for name in measures if name in scope.shared]
    of_ranked = [name for name in measures if name in scope.partial]
    systems = {name: task.statistics(result, of_all or scope.shared) for name, result in results.items()}
    for name, system in systems.items():
        require_gold_units(name, system.answered, system.known)
    origins = {name: replace(system.origin, measure=primary) for name, system in systems.items()}
    tables = {name: system.table for name, system in systems.items()}
    settings = replace(settings, unit=next(iter(systems.values())).unit)
    units = align_systems(tables, common=common)
    first: Comparison | None = None
    if of_all:
        first_primary = primary if primary in of_all else of_all[0]
        first = compare_tables(
            tables, of_all, task.formula(of_all), settings, common=common, primary=first_primary, **choices
        )
    if first is not None and not of_ranked:
        return first, origins
    ranked_tables = {name: task.statistics(results[name], of_ranked).table for name in scope.ranked}
    if common:
        ranked_tables = {name: _only(table, units.ids) for name, table in ranked_tables.items()}
    ranked_primary = primary if primary in of_ranked else of_ranked[0]
    second = compare_tables(
        ranked_tables,
        of_ranked,
        task.formula(of_ranked),
        settings if first is None else first.resampling,
        primary=ranked_primary,
        **choices,
    )
    return _joined(first, second, tuple(results), measures, primary, units.dropped if common else UNSET), origins


def _only(table: UnitTable, ids: Sequence[str]) -> UnitTable:
    """Return the rows of some units, in the order of the table."""
    kept = Counter(ids)
    places = []
    for place, unit in enumerate(table.ids):
        if kept[unit] > 0:
            kept[unit] -= 1
            places.append(place)
    return UnitTable(
        tuple(table.ids[place] for place in places), table.columns, [table.rows[place] for place in places]
    )


def _joined(
    first: Comparison | None,
    second: Comparison,
    names: tuple[str, ...],
    measures: Sequence[str],
    primary: str,
    dropped: Mapping[str, tuple[str, ...]] | UnsetType,
) -> Comparison:
    """Return one comparison of all systems; `second` is of those alone that have a value of its measures."""
    unranked = tuple(name for name in names if name not in second.systems)
    comparison_by_measure: dict[str, MeasureComparison] = {}
    for found in second.measures:
        comparison_by_measure[found.measure] = replace(found, unranked=unranked)
    for found in first.measures if first is not None else ():
        comparison_by_measure[found.measure] = found
    whole = second if first is None or primary in [found.measure for found in second.measures] else first
    return replace(
        whole,
        measure=primary,
        systems=names,
        dropped=dropped,
        measures=tuple(replace(comparison_by_measure[measure], exploratory=measure != primary) for measure in measures),
    )


def _notes_on_undefined(scope: _Scope, found: Comparison) -> list[Note]:
    """Return a note on each system without a value of some measures, and what follows from that."""
    if found.primary.unranked:
        return undefined_notes(scope.undefined, "; it has no rank by these, and its pairs are not tested by them")
    if scope.partial:
        return undefined_notes(scope.undefined, "; it is compared by the other measures alone")
    return undefined_notes(scope.undefined, "; nothing is compared by these")


def _headline_among(task: str, measures: Sequence[str]) -> str:
    """Return the headline measure of a task, or the first measure where none of them is shown first.

    Of a table, whose task is not known, it is the headline measure of the first task that has it.
    """
    tasks = [task] if task in MEASURES else list(MEASURES)
    for name in tasks:
        headline_measure = str(usual_among(name, measures))
        if headline_measure in measures:
            return headline_measure
    for name in tasks:
        for measure in headline(name):
            if measure in measures:
                return measure
    return measures[0]


def _refuse_undefined(
    known: Sequence[str], undefined: Mapping[str, Mapping[str, str]], patterns: Iterable[str]
) -> None:
    """Raise InputError where a pattern asks only for measures that have no value for one of the systems."""
    for pattern in patterns:
        if matching(known, pattern):
            continue
        for system, reasons in undefined.items():
            for measure in matching(reasons, pattern):
                raise InputError(
                    f"{system} has no {measure}: {reasons[measure]}",
                    remedy="compare by another measure, or leave that system out",
                )


def first_measure(found: Comparison) -> Comparison:
    """A comparison under the primary measure alone, which is what people are shown first."""
    return replace(found, measures=(found.primary,))


def system_names(files: Sequence[Input]) -> list[str]:
    """A name for each file: its own, with as many folders before it as make it differ from the others. A file that is
    named twice is numbered: `A.jsonl`, `A.jsonl (2)`.
    """
    paths = [os.path.abspath(name_of(file)) for file in files]
    parts = {path: path.split(os.sep) for path in paths}
    shown = dict.fromkeys(parts, 1)
    short: Iterable[str] = parts
    while short:
        names = {path: os.sep.join(parts[path][-shown[path] :]) for path in parts}
        often = Counter(names.values())
        short = [path for path in parts if often[names[path]] > 1 and shown[path] < len(parts[path])]
        shown |= {path: shown[path] + 1 for path in short}
    return unique_ids([names[path] for path in paths])


def run_names(runs: Sequence[OneRun]) -> list[str]:
    """Return a name for each run: its run id, or the name of its file where several runs have this id.

    A run of such an id in a file that holds several runs is called `RUN_ID (FILE)`.
    """
    count_by_run_id = Counter([run.run_id for run in runs])
    names = []
    for run, file_name in zip(runs, system_names([run.file for run in runs])):
        if count_by_run_id[run.run_id] == 1:
            names.append(run.run_id)
        elif run.is_shared:
            names.append(f"{run.run_id} ({file_name})")
        else:
            names.append(file_name)
    return unique_ids(names)


def names_by_file(files: Sequence[Input], names: Sequence[str]) -> dict[str, str]:
    """Return the names of systems by their files: by the path as it was typed, and by the name of the file.

    A file of several systems, and a file name that several files share, is left out: it would name none of them.
    """
    name_by_file: dict[str, str] = {}
    shared = set()
    for file, file_name, name in zip(files, system_names(files), names):
        for text in {name_of(file), os.path.basename(name_of(file)), file_name}:
            if name_by_file.setdefault(text, name) != name:
                shared.add(text)
    return {text: name for text, name in name_by_file.items() if text not in shared}


class Systems(Record, eq=False):
    """Results to compare by the names of their systems, and the other names by which users may call these."""

    results: Mapping[str, Any]
    name_by_file: Mapping[str, str]

    def with_baseline(self, resampling: Resampling | None) -> Resampling | None:
        """Return settings whose baseline is the name of a system, also where it was named by its file."""
        if resampling is None or not resampling.baseline or resampling.baseline in self.results:
            return resampling
        name = self.name_by_file.get(resampling.baseline, resampling.baseline)
        return replace(resampling, baseline=name)


# ---- Any table of units by systems

TASK: Final = "table"
"""What documents call the task of such a table."""

SCORE: Final = "score"
"""The measure of a table that names none."""

_ABOUT_UNITS: Final = ("unit", "cluster", "stratum")

_SUMMARY_ROW: Final = "all"
"""What trec_eval calls the row with the means over all units."""

_LARGEST: Final = 1e60
"""The largest number of a table: its square, divided by the smallest denominator twice, can still be added up."""

_Key: TypeAlias = tuple[str, str, str]
"""System, measure and unit."""

_Parts: TypeAlias = tuple[float, float]
"""Numerator and denominator."""


class AnyTable(Record):
    """The statistics of each system: for each of the measures numerator and denominator. It is compared as a task is.

    `names_measures`: they were named, so that the numbers are those of a task, whose tests are randomisation.
    `summary_rows` are the rows called `all` that were left out, `replicated` the units of which some system has several
    samples, which were averaged.
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
        return TASK

    def measures(self, results: object) -> Sequence[str]:
        return self.names

    def headline_of(self, results: object) -> str | None:
        return None

    def undefined(self, result: str) -> Mapping[str, str]:
        """Return nothing: a table has a number for every measure of a system."""
        return {}

    def statistics(self, result: str, measures: Sequence[str]) -> Statistics:
        """Those of a system by its name."""
        table = self.systems[result]
        origin = Origin(task=TASK, options={"system": result}, inputs=self.inputs, settings=())
        return Statistics("unit", table, table.ids, table.ids, origin)

    def formula(self, measures: Sequence[str]) -> SumsFormula:
        return partial(_ratios, [2 * self.names.index(name) for name in measures])


def _ratios(places: Sequence[int], sums: Sequence[Any], divide: Callable[[Any, Any], Any]) -> list[Any]:
    return [divide(sums[place], sums[place + 1]) for place in places]


def read_table(files: Sequence[Input], names: Mapping[str, str] = MappingProxyType({})) -> AnyTable:
    """Read tables that anybody may have made, wide or long as docs/statistics/any-table.md has them.

    `names` are what the files call the columns. Several scores of a unit are samples, which are averaged. The score of
    a system is the sum of its numerators over that of its denominators; a number of a wide table stands over 1. A row
    called `all` is no unit: trec_eval writes the means over all units there. Raises InputError with the line for text,
    missing cells, numbers too large or too small, a unit that occurs twice.
    """
    cells: dict[_Key, _Parts] = {}
    samples: dict[_Key, list[float]] = {}
    together: Clusters | UnsetType = UNSET
    names_measures, digests = False, []
    summary_rows: set[tuple[str, int]] = set()
    for file, system in zip(files, system_names(files)):
        table = read_exported(file, names)
        has_measures = "measure" in table.columns
        has_samples = is_of_samples(table)
        for line, key, value in _rows_of(table, system, has_samples=has_samples):
            name, measure, unit = key
            if unit == _SUMMARY_ROW:
                summary_rows.add((table.file, line))
                continue
            if has_samples:
                samples.setdefault(key, []).append(value[0])
                continue
            if key in cells:
                of = f" of {name}" + (f" by {measure}" if has_measures else "")
                raise InputError(f"unit {unit}{of} occurs twice", file=table.file, place=f"line {line}")
            cells[key] = value
        names_measures = names_measures or has_measures
        if "cluster" in table.columns:
            own = clusters_of_table(table)
            others = {} if together is UNSET else together.clusters
            if any(others.get(unit, cluster) != cluster for unit, cluster in own.clusters.items()):
                raise InputError("has other clusters than the file before", file=table.file)
            together = own if together is UNSET else replace(own, clusters={**others, **own.clusters})
        with open_source(file) as source:
            digests.append(source.digest(GOLD))
    for key, scores in samples.items():
        cells[key] = (math.fsum(scores) / len(scores), 1.0)
    if not cells:
        raise InputError("has no unit", file=str(files[0]))
    systems, measures, units = (tuple(dict.fromkeys(key[place] for key in cells)) for place in range(3))
    tables = {system: _table(cells, system, measures, units) for system in systems}
    return AnyTable(
        names=measures,
        systems=tables,
        clusters=together,
        inputs=tuple(digests),
        names_measures=names_measures,
        summary_rows=len(summary_rows),
        replicated=len({unit for (_, _, unit), scores in samples.items() if len(scores) > 1}),
    )


def _rows_of(table: Delimited, file: str, *, has_samples: bool) -> Iterator[tuple[int, _Key, _Parts]]:
    """Yield line, key and numbers of each cell of a table, whatever its form."""
    if has_samples:
        return _samples(table, file)
    if {"numerator", "denominator"} <= set(table.columns):
        return _long(table, file)
    return _wide(table)


def _samples(table: Delimited, file: str) -> Iterator[tuple[int, _Key, _Parts]]:
    """Yield the score of each sample; without a column `system` the file is the system."""
    own = [name for name in ("system", "measure") if name in table.columns]
    for line, (unit, score, *values) in table.named("unit", "score", *own):
        named = dict(zip(own, values))
        key = (named.get("system", file), named.get("measure", SCORE), unit)
        yield line, key, (_number(table, line, "score", score), 1.0)


def _wide(table: Delimited) -> Iterator[tuple[int, _Key, _Parts]]:
    systems = [column for column in table.columns if column not in _ABOUT_UNITS]
    for line, (unit, *values) in table.named("unit", *systems):
        for system, value in zip(systems, values):
            yield line, (system, SCORE, unit), (_number(table, line, system, value), 1.0)


def _long(table: Delimited, file: str) -> Iterator[tuple[int, _Key, _Parts]]:
    own = [name for name in ("system", "measure") if name in table.columns]
    for line, (unit, above, below, *values) in table.named("unit", "numerator", "denominator", *own):
        named = dict(zip(own, values))
        numerator, denominator = _number(table, line, "numerator", above), _number(table, line, "denominator", below)
        if denominator < 0:
            raise InputError(f"the denominator {below} is below 0", file=table.file, place=f"line {line}")
        if 0 < denominator < 1 / _LARGEST:
            raise InputError(
                f"the denominator {below} is too small to divide by",
                file=table.file,
                place=f"line {line}",
                remedy=f"multiply numerators and denominators: denominators are 0 or at least {1 / _LARGEST:g}",
            )
        yield line, (named.get("system", file), named.get("measure", SCORE), unit), (numerator, denominator)


def _number(table: Delimited, line: int, column: str, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or "_" in cell:
        raise InputError(f"column {column}: {cell} is no number", file=table.file, place=f"line {line}")
    if abs(value) > _LARGEST:
        raise InputError(
            f"column {column}: {cell} is too large to be squared and added up",
            file=table.file,
            place=f"line {line}",
            remedy=f"give the numbers in another unit of measurement: they go up to {_LARGEST:g}",
        )
    return value


def _table(cells: Mapping[_Key, _Parts], system: str, measures: Sequence[str], units: Sequence[str]) -> UnitTable:
    """The table of a system, with the units that it has; one of which some measures are missing is refused."""
    ids, rows = [], []
    for unit in units:
        own = [cells.get((system, measure, unit)) for measure in measures]
        if not any(own):
            continue
        if None in own:
            raise InputError(f"unit {unit} of {system} has no {measures[own.index(None)]}")
        ids.append(unit)
        rows.append(tuple([number for pair in own if pair for number in pair]))
    parts = tuple(f"{measure}:{part}" for measure in measures for part in ("numerator", "denominator"))
    return UnitTable(tuple(ids), parts, rows)


def compare_table(given: AnyTable, resampling: Resampling | None = None, **choices: Any) -> Comparison:
    """Compare the systems of a table as `compare` does those of a task."""
    if len(given.systems) < 2:
        (name,) = given.systems
        raise UsageError(f"a comparison needs at least two systems; there is {name} only: name another table, too")
    settings = resampling or Resampling(can_grow=True)
    settings = replace(settings, clusters=settings.clusters or given.clusters)
    systems = {name: name for name in given.systems}
    found = compare(given, systems, settings, has_signs=not given.names_measures, **choices)
    notes = list(found.notes)
    if given.summary_rows:
        rows = "1 row" if given.summary_rows == 1 else f"{given.summary_rows} rows"
        text = f"{rows} called {_SUMMARY_ROW} left out: they sum up the others; a unit needs another name"
        notes.append(Note("SUMMARY_ROWS", text))
    if given.replicated:
        units = "1 unit has" if given.replicated == 1 else f"{given.replicated} units have"
        text = f"{units} several samples, whose mean is the score of the unit: units are what is drawn, not samples"
        notes.append(Note("SAMPLES_AVERAGED", text))
    return replace(found, notes=tuple(notes))


# ---- Written


def per_unit(task: Comparable, results: Mapping[str, Any], clusters: Clusters | UnsetType = UNSET) -> Table:
    """The table of `--per-unit`: cluster, numerator and denominator of each unit by each measure; of several systems
    with their names. A unit that stands for itself is its own cluster.
    """
    stratum = ["stratum"] if clusters and clusters.strata else []
    system = ["system"] if len(results) > 1 else []
    keys = ("unit", "cluster", *stratum, *system, "measure", "numerator", "denominator")
    layout = Layout("per-unit", "", columns(*keys), lambda given: _units(task, given, clusters))
    return layout.table(results)


def _units(task: Comparable, results: Mapping[str, Any], clusters: Clusters | UnsetType) -> Iterable[Row]:
    measures = task.measures(results.values())
    formula = task.formula(measures)
    for system, result in results.items():
        table = task.statistics(result, measures).table
        if clusters:
            clusters.design(table.ids)
        parts = ratios_of(formula, np.asarray(table.rows, dtype=np.float64))
        for place, (unit, name) in enumerate(zip(table.ids, unique_ids(table.ids))):
            cluster = clusters.clusters[unit] if clusters else name
            about = {"unit": name, "cluster": cluster, "system": system}
            if clusters and clusters.strata:
                about["stratum"] = clusters.strata[cluster]
            for measure, *sums in zip(measures, parts.numerator[place].tolist(), parts.denominator[place].tolist()):
                above, below = (int(number) if number.is_integer() else number for number in sums)
                yield {**about, "measure": measure, "numerator": above, "denominator": below}
