"""Systems compared: results of one task, or any table of units by systems; and such a table of results of any task."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.outcomes import undefined_notes
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record, replace
from cs_score.base.runtime import Late
from cs_score.base.signature import GOLD, Origin, short_digest
from cs_score.base.sources import Delimited, Input, InputDigest, name_of, open_source, read_delimited
from cs_score.measures.registry import MEASURES, SumsFormula, chosen, find, headline, matching
from cs_score.statistics.arithmetic import parts_of
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.options import Note, Resampling
from cs_score.statistics.results import Comparison
from cs_score.statistics.units import Clusters, UnitTable, clusters_in, require_gold_units, unique_ids
from cs_score.tables.layout import Layout, Row, Table, columns
from cs_score.tasks.task import Comparable, Statistics

if TYPE_CHECKING:
    import numpy as np
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

    `measures` are names or patterns (`*_f1`), all if none is given; `primary` decides, the first headline measure among
    them unless given, and all others are exploratory. `common`, `equivalence` and `has_signs` are as in
    `compare_tables`, and so are the errors; UsageError also for an unknown measure, InputError for a system that
    answers no unit of gold.
    """
    if len(results) < 2:
        raise UsageError("a comparison needs at least two systems")
    known = task.measures(results.values())
    undefined = {name: dict(task.undefined(result)) for name, result in results.items()}
    undefined = {name: reasons for name, reasons in undefined.items() if reasons}
    _refuse_undefined(known, undefined, [*measures, *([] if primary is None else [primary])])
    if primary is not None:
        [primary] = chosen(known, [find(primary, known) or primary])
    compared = chosen(known, [*measures, primary] if measures and primary else measures)
    headlines = (name for mode in MEASURES for name in headline(mode))
    primary = primary or next((name for name in headlines if name in compared), compared[0])
    systems = {name: task.statistics(result, compared) for name, result in results.items()}
    for name, system in systems.items():
        require_gold_units(name, system.answered, system.known)
    found = compare_tables(
        {name: system.table for name, system in systems.items()},
        compared,
        task.formula(compared),
        replace(resampling or Resampling(can_grow=True), unit=next(iter(systems.values())).unit),
        common=common,
        primary=primary,
        **choices,
    )
    origins = {name: replace(system.origin, measure=primary) for name, system in systems.items()}
    for name, dropped in (found.dropped or {}).items():
        left_out = short_digest("".join(f"{unit}\n" for unit in sorted(dropped)))
        option = {"units": found.units, "dropped": dropped}
        origins[name] = origins[name].with_option("common", option, f"common={left_out}")
    signatures = {name: str(origin.signature) for name, origin in origins.items()}
    found = replace(found, task=task.name, signatures=signatures, origins=origins)
    if not undefined:
        return found
    notes = undefined_notes(undefined, "; nothing is compared by these")
    return replace(found, undefined=undefined, notes=(*found.notes, *notes))


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
    `summary_rows` are the rows called `all` that were left out.
    """

    names: tuple[str, ...]
    systems: Mapping[str, UnitTable]
    clusters: Clusters | UnsetType
    inputs: tuple[InputDigest, ...]
    names_measures: bool
    summary_rows: int = 0

    @property
    def name(self) -> str:
        return TASK

    def measures(self, results: object) -> Sequence[str]:
        return self.names

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


def read_table(files: Sequence[Input]) -> AnyTable:
    """Read tables that anybody may have made, wide or long as docs/statistics/any-table.md has them.

    The score of a system is the sum of its numerators over that of its denominators; a number of a wide table stands
    over 1. A row called `all` is no unit: trec_eval writes the means over all units there. Raises InputError with the
    line for text, missing cells, numbers too large or too small, a unit that stands there twice.
    """
    cells: dict[_Key, _Parts] = {}
    together: Clusters | UnsetType = UNSET
    names_measures, digests = False, []
    summary_rows: set[tuple[str, int]] = set()
    for file, system in zip(files, system_names(files)):
        table = read_delimited(file)
        has_measures = "measure" in table.columns
        is_long = {"numerator", "denominator"} <= set(table.columns)
        for line, key, value in _long(table, system) if is_long else _wide(table):
            name, measure, unit = key
            if unit == _SUMMARY_ROW:
                summary_rows.add((table.file, line))
                continue
            if key in cells:
                of = f" of {name}" + (f" by {measure}" if has_measures else "")
                raise InputError(f"unit {unit}{of} stands there twice", file=table.file, place=f"line {line}")
            cells[key] = value
        names_measures = names_measures or has_measures
        if "cluster" in table.columns:
            own = clusters_in(table)
            others = {} if together is UNSET else together.clusters
            if any(others.get(unit, cluster) != cluster for unit, cluster in own.clusters.items()):
                raise InputError("has other clusters than the file before", file=table.file)
            together = own if together is UNSET else replace(own, clusters={**others, **own.clusters})
        with open_source(file) as source:
            digests.append(source.digest(GOLD))
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
    )


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
    if not given.summary_rows:
        return found
    rows = "1 row" if given.summary_rows == 1 else f"{given.summary_rows} rows"
    text = f"{rows} called {_SUMMARY_ROW} left out: they sum up the others; a unit needs another name"
    return replace(found, notes=(*found.notes, Note("SUMMARY_ROWS", text)))


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
            clusters.drawn(table.ids)
        parts = parts_of(formula, np.asarray(table.rows, dtype=np.float64))
        for place, (unit, name) in enumerate(zip(table.ids, unique_ids(table.ids))):
            cluster = clusters.clusters[unit] if clusters else name
            about = {"unit": name, "cluster": cluster, "system": system}
            if clusters and clusters.strata:
                about["stratum"] = clusters.strata[cluster]
            for measure, *sums in zip(measures, parts.numerator[place].tolist(), parts.denominator[place].tolist()):
                above, below = (int(number) if number.is_integer() else number for number in sums)
                yield {**about, "measure": measure, "numerator": above, "denominator": below}
