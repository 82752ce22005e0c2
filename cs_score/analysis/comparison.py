"""Compare systems by the results of one task, and write the statistics of their units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import UNSET, UnsetType

from cs_score.analysis.outcomes import undefined_notes
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import replace
from cs_score.base.runtime import Late
from cs_score.base.signature import Origin, short_digest
from cs_score.measures.registry import MEASURES, chosen, find, headlines_among, matching
from cs_score.statistics.arithmetic import ratios_of
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.options import Note, Resampling
from cs_score.statistics.results import Comparison, MeasureComparison
from cs_score.statistics.units import Clusters, UnitTable, align_systems, require_gold_units, unique_ids
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

    `measures` are names or patterns (`*_f1`), all if none is given. `primary` is the measure that decides, by default
    the headline measure; all others are exploratory. If some systems have no value of a measure, the others are
    compared by it, provided that there are two of them and the baseline is one; the systems without a value have no
    rank. `common`, `equivalence` and `has_signs` are as in `compare_tables`, and so are the errors; UsageError also for
    an unknown measure, InputError for a system that answers no unit of gold.
    """
    if len(results) < 2:
        raise UsageError("a comparison needs at least two systems")
    settings = resampling or Resampling(can_grow=True)
    scope = _scope_of(task, results, settings.baseline or None)
    selection = _select_measures(task, results, scope, measures, primary)
    systems = _statistics_of_systems(task, results, scope, selection)
    settings = replace(settings, unit=next(iter(systems.values())).unit)
    comparison = _compare_selection(task, results, scope, selection, systems, settings, common=common, **choices)
    origins: dict[str, Origin] = {}
    for name, system in systems.items():
        origins[name] = _origin_of(system, name, selection.primary, comparison)
    signatures = {name: str(origin.signature) for name, origin in origins.items()}
    comparison = replace(comparison, task=task.name, signatures=signatures, origins=origins)
    if not scope.undefined:
        return comparison
    notes = _notes_on_undefined(scope, comparison)
    return replace(comparison, undefined=scope.undefined, notes=(*comparison.notes, *notes))


def headline_measure(task: Comparable, results: Mapping[str, Any]) -> str:
    """Return the measure that `compare` takes as the primary one of these results if none is given."""
    return _headline_among(task.name, _scope_of(task, results, None).known)


def _headline_among(task: str, measures: Sequence[str]) -> str:
    """Return the measure among some that people are shown first.

    For a table, whose task is not known, it is the headline measure of the first task that has it.
    """
    tasks = [task] if task in MEASURES else list(MEASURES)
    return headlines_among(tasks, measures)[0]


# ---- The measures to compare by


class _Scope(NamedTuple):
    """The measures that systems can be compared by.

    All systems have a value of the `shared` measures; only the `ranked` systems have a value of the `partial` ones.
    These are at least two, with the baseline if there is one. `undefined` has the measures without a value by system.
    """

    shared: Sequence[str]
    partial: Sequence[str]
    ranked: Sequence[str]
    undefined: Mapping[str, Mapping[str, str]]

    @property
    def known(self) -> list[str]:
        """Return all measures, those of all systems first."""
        return [*self.shared, *self.partial]


def _scope_of(task: Comparable, results: Mapping[str, Any], baseline: str | None) -> _Scope:
    """Return the measures that results can be compared by: all of them, and those without an undefined measure."""
    undefined: dict[str, Mapping[str, str]] = {}
    for name, result in results.items():
        reason_by_measure = dict(task.undefined(result))
        if reason_by_measure:
            undefined[name] = reason_by_measure
    shared = task.measures(results.values())
    ranked = [name for name in results if name not in undefined]
    can_be_ranked = bool(undefined) and len(ranked) > 1 and (baseline is None or baseline in ranked)
    if not can_be_ranked:
        return _Scope(shared=shared, partial=(), ranked=(), undefined=undefined)
    measures_of_ranked = task.measures([results[name] for name in ranked])
    partial = [name for name in measures_of_ranked if name not in shared]
    return _Scope(shared=shared, partial=partial, ranked=ranked, undefined=undefined)


class _Selection(NamedTuple):
    """The measures of a comparison and the primary one among them; values of `of_ranked` only ranked systems have."""

    measures: Sequence[str]
    primary: str
    of_all: Sequence[str]
    of_ranked: Sequence[str]


def _select_measures(
    task: Comparable, results: Mapping[str, Any], scope: _Scope, patterns: Sequence[str], primary: str | None
) -> _Selection:
    """Return the measures that fit the patterns, and the primary measure.

    Raises UsageError for an unknown measure, InputError for one that a system has no value of.
    """
    asked_patterns = list(patterns)
    if primary is not None:
        _refuse_undefined(scope, [*patterns, primary])
        [primary] = chosen(scope.known, [find(primary, scope.known) or primary])
        if patterns:
            asked_patterns.append(primary)
    else:
        _refuse_undefined(scope, patterns)
    measures = chosen(scope.known, asked_patterns)
    headline = task.headline_of(results.values())
    if primary is None and headline in measures:
        primary = headline
    return _Selection(
        measures=measures,
        primary=primary or _headline_among(task.name, measures),
        of_all=[name for name in measures if name in scope.shared],
        of_ranked=[name for name in measures if name in scope.partial],
    )


def _refuse_undefined(scope: _Scope, patterns: Iterable[str]) -> None:
    """Raise InputError if a pattern fits only measures that one of the systems has no value of."""
    for pattern in patterns:
        if matching(scope.known, pattern):
            continue
        for system, reason_by_measure in scope.undefined.items():
            for measure in matching(reason_by_measure, pattern):
                raise InputError(
                    f"{system} has no {measure}: {reason_by_measure[measure]}",
                    remedy="compare by another measure, or leave that system out",
                )


# ---- The comparison


def _statistics_of_systems(
    task: Comparable, results: Mapping[str, Any], scope: _Scope, selection: _Selection
) -> dict[str, Statistics]:
    """Return the statistics of all systems by name. Raises InputError for a system that answers no unit of gold."""
    systems: dict[str, Statistics] = {}
    for name, result in results.items():
        systems[name] = task.statistics(result, selection.of_all or scope.shared)
    for name, system in systems.items():
        require_gold_units(name, system.answered, system.known)
    return systems


def _compare_selection(
    task: Comparable,
    results: Mapping[str, Any],
    scope: _Scope,
    selection: _Selection,
    systems: Mapping[str, Statistics],
    settings: Resampling,
    *,
    common: bool,
    **choices: Any,
) -> Comparison:
    """Compare all systems by the measures that they share, and the ranked systems by the others.

    `systems` are the statistics of all systems; with `common` only their common units are compared.
    """
    tables = {name: system.table for name, system in systems.items()}
    units = align_systems(tables, common=common)
    of_all: Comparison | None = None
    if selection.of_all:
        of_all = compare_tables(
            tables,
            selection.of_all,
            task.formula(selection.of_all),
            settings,
            common=common,
            primary=_first_of(selection.primary, selection.of_all),
            **choices,
        )
        settings = of_all.resampling
    if of_all is not None and not selection.of_ranked:
        return of_all
    ranked_tables: dict[str, UnitTable] = {}
    for name in scope.ranked:
        table = task.statistics(results[name], selection.of_ranked).table
        ranked_tables[name] = _only_units(table, units.ids) if common else table
    of_ranked = compare_tables(
        ranked_tables,
        selection.of_ranked,
        task.formula(selection.of_ranked),
        settings,
        primary=_first_of(selection.primary, selection.of_ranked),
        **choices,
    )
    joined = _join_comparisons(of_all, of_ranked, selection, tuple(results))
    return replace(joined, dropped=units.dropped if common else UNSET)


def _first_of(primary: str, measures: Sequence[str]) -> str:
    """Return the primary measure if it is among some measures, otherwise the first of them."""
    return primary if primary in measures else measures[0]


def _only_units(table: UnitTable, unit_ids: Sequence[str]) -> UnitTable:
    """Return the rows of some units, in the order of the table; an id that is there twice has two rows."""
    rows_left_by_id = Counter(unit_ids)
    positions = []
    for position, unit_id in enumerate(table.ids):
        if rows_left_by_id[unit_id] > 0:
            rows_left_by_id[unit_id] -= 1
            positions.append(position)
    ids = tuple([table.ids[position] for position in positions])
    return UnitTable(ids, table.columns, [table.rows[position] for position in positions])


def _join_comparisons(
    of_all: Comparison | None, of_ranked: Comparison, selection: _Selection, names: tuple[str, ...]
) -> Comparison:
    """Return one comparison of all systems, `names`; systems that `of_ranked` lacks have no rank by its measures."""
    unranked = tuple([name for name in names if name not in of_ranked.systems])
    comparison_by_measure: dict[str, MeasureComparison] = {}
    for by_measure in of_ranked.measures:
        comparison_by_measure[by_measure.measure] = replace(by_measure, unranked=unranked)
    primary_comparison = of_ranked
    if of_all is not None:
        for by_measure in of_all.measures:
            comparison_by_measure[by_measure.measure] = by_measure
        if selection.primary not in selection.of_ranked:
            primary_comparison = of_all
    measures = []
    for measure in selection.measures:
        is_exploratory = measure != selection.primary
        measures.append(replace(comparison_by_measure[measure], exploratory=is_exploratory))
    return replace(primary_comparison, measure=selection.primary, systems=names, measures=tuple(measures))


def _origin_of(system: Statistics, name: str, primary: str, comparison: Comparison) -> Origin:
    """Return the origin of the scores of a system, with the units that were left out, if any."""
    origin = replace(system.origin, measure=primary)
    dropped_by_system = comparison.dropped or {}
    if name not in dropped_by_system:
        return origin
    dropped = dropped_by_system[name]
    digest = short_digest("".join([f"{unit}\n" for unit in sorted(dropped)]))
    return origin.with_option("common", {"units": comparison.units, "dropped": dropped}, f"common={digest}")


def _notes_on_undefined(scope: _Scope, comparison: Comparison) -> list[Note]:
    """Return a note on each system without a value of some measures, and what follows from that."""
    if comparison.primary.unranked:
        return undefined_notes(scope.undefined, "; it has no rank by these, and its pairs are not tested by them")
    if scope.partial:
        return undefined_notes(scope.undefined, "; it is compared by the other measures alone")
    return undefined_notes(scope.undefined, "; nothing is compared by these")


def first_measure(comparison: Comparison) -> Comparison:
    """Return a comparison by the primary measure alone, which people are shown first."""
    return replace(comparison, measures=(comparison.primary,))


# ---- The statistics of units


def per_unit(task: Comparable, results: Mapping[str, Any], clusters: Clusters | UnsetType = UNSET) -> Table:
    """Return the table of `--per-unit`: cluster, numerator and denominator of each unit by each measure.

    For several results it has their names. A unit without a cluster is its own cluster.
    """
    keys = ["unit", "cluster"]
    if clusters and clusters.strata:
        keys.append("stratum")
    if len(results) > 1:
        keys.append("system")
    keys += ["measure", "numerator", "denominator"]
    layout = Layout("per-unit", "", columns(*keys), lambda results: _unit_rows(task, results, clusters))
    return layout.table(results)


def _unit_rows(task: Comparable, results: Mapping[str, Any], clusters: Clusters | UnsetType) -> Iterator[Row]:
    """Yield a row for each unit of each result and each measure."""
    measures = task.measures(results.values())
    formula = task.formula(measures)
    for system, result in results.items():
        table = task.statistics(result, measures).table
        if clusters:
            clusters.design(table.ids)  # raises InputError for clusters that do not fit the units
        ratios = ratios_of(formula, np.asarray(table.rows, dtype=np.float64))
        names = unique_ids(table.ids)
        for position, unit in enumerate(table.ids):
            cells = {"unit": names[position], "cluster": names[position], "system": system}
            if clusters:
                cells["cluster"] = clusters.clusters[unit]
                if clusters.strata:
                    cells["stratum"] = clusters.strata[cells["cluster"]]
            numerators = ratios.numerator[position].tolist()
            denominators = ratios.denominator[position].tolist()
            for measure, numerator, denominator in zip(measures, numerators, denominators):
                yield {
                    **cells,
                    "measure": measure,
                    "numerator": _as_integer(numerator),
                    "denominator": _as_integer(denominator),
                }


def _as_integer(number: float) -> float:
    """Return a whole number as an integer, which is written without a point; others as they are."""
    return int(number) if number.is_integer() else number
