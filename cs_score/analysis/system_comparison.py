"""Compare systems by their results in one task, and make the table of the statistics of their units. A measure is
shared if all systems have a score by it, and partial if only some of them (the complete systems) have one.
"""

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
from cs_score.measures import MEASURES, Ratio, find_name, headlines_among, matching_names, select_names
from cs_score.statistics.arithmetic import ratios_of
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.resampling_settings import Note, Resampling
from cs_score.statistics.results import MeasureComparison, SystemComparison
from cs_score.statistics.units import Clusters, UnitTable, align_systems, require_gold_units, unique_ids
from cs_score.tables.layout import Layout, Row, Table, columns
from cs_score.tasks.task import Comparable, UnitStatistics

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
    **further_arguments: Any,
) -> SystemComparison:
    """Return the comparison of several systems by the measures of a task.

    `results` maps the name of each system to its result. `measures` are names or patterns (`*_f1`); by default, all
    measures are used. `primary` is the measure that decides, by default the headline measure; all others are
    exploratory. If some systems have no score by a measure, the other systems are compared by it, provided that there
    are at least two of them, including the baseline. Systems without a score have no rank.

    With `common`, only the units that all systems have are compared. `further_arguments` are arguments of
    `compare_tables`: `equivalence` and `with_sign_test`. Raises the errors of `compare_tables`, UsageError for an
    unknown measure, and InputError for a system that answers no unit of gold.
    """
    if len(results) < 2:
        raise UsageError("a comparison needs at least two systems")
    settings = resampling or Resampling(can_grow=True)  # the number of resamples may grow with the number of pairs
    # 1. The measures: first the ones that the results allow, then the ones that the user has chosen among them.
    comparable_measures = _find_comparable_measures(task, results, settings.baseline or None)
    selection = _select_measures(task, results, comparable_measures, measures, primary)
    # 2. The statistics of units, and the tests on them.
    systems = _statistics_of_systems(task, results, comparable_measures, selection)
    any_system = next(iter(systems.values()))
    settings_with_unit = replace(settings, unit=any_system.unit)
    request = _Request(
        task=task,
        results=results,
        comparable_measures=comparable_measures,
        selection=selection,
        only_common_units=common,
        further_arguments=further_arguments,
    )
    comparison_of_scores = _compare_selection(request, systems, settings_with_unit)
    # 3. The origins of the scores, and notes on missing scores.
    comparison = _with_origins(comparison_of_scores, task.name, systems)
    undefined_by_system = comparable_measures.undefined_by_system
    if not undefined_by_system:
        return comparison
    notes = _notes_on_undefined(comparable_measures, comparison)
    return replace(comparison, undefined=undefined_by_system, notes=(*comparison.notes, *notes))


def headline_measure(task: Comparable, results: Mapping[str, Any]) -> str:
    """Return the measure by which `compare` decides between these results if no primary measure is given."""
    return _headline_among(task.name, _find_comparable_measures(task, results, None).all_measures)


def _headline_among(task: str, measures: Sequence[str]) -> str:
    """Return the measure to show first among some measures: the headline measure of the task.

    A table of scores has no headline measure of its own. If its measures are named like the measures of a task, the
    headline measure of the first such task is returned; otherwise, the first of the `measures` is returned.
    """
    tasks = [task] if task in MEASURES else list(MEASURES)
    return headlines_among(tasks, measures)[0]


# ---- The measures to compare by


class _ComparableMeasures(NamedTuple):
    """The measures that systems can be compared by.

    All systems have a score by the `shared_measures`. Only the `complete_systems` also have a score by the
    `partial_measures`; there are at least two of them, including the baseline if there is one. `undefined_by_system`
    maps each system to the measures by which it has no score, with the reasons.
    """

    shared_measures: Sequence[str]
    partial_measures: Sequence[str]
    complete_systems: Sequence[str]
    undefined_by_system: Mapping[str, Mapping[str, str]]

    @property
    def all_measures(self) -> list[str]:
        """All measures; the measures by which all systems have a score come first."""
        return [*self.shared_measures, *self.partial_measures]


def _find_comparable_measures(
    task: Comparable, results: Mapping[str, Any], baseline: str | None
) -> _ComparableMeasures:
    """Return the measures for comparing all systems (shared) and the measures for only some systems (partial).

    `results` are the results by the name of the system. There are no partial measures if fewer than two systems have a
    score by them, or if the `baseline`, a system, has none.
    """
    undefined_by_system = _undefined_by_system(task, results)
    comparable_measures = _ComparableMeasures(
        shared_measures=task.measures(results.values()),
        partial_measures=(),
        complete_systems=(),
        undefined_by_system=undefined_by_system,
    )
    if not undefined_by_system:
        return comparable_measures
    complete_systems = [name for name in results if name not in undefined_by_system]
    is_baseline_complete = baseline is None or baseline in complete_systems
    if len(complete_systems) < 2 or not is_baseline_complete:
        return comparable_measures
    measures_of_complete = task.measures([results[name] for name in complete_systems])
    partial_measures = [name for name in measures_of_complete if name not in comparable_measures.shared_measures]
    return comparable_measures._replace(partial_measures=partial_measures, complete_systems=complete_systems)


def _undefined_by_system(task: Comparable, results: Mapping[str, Any]) -> dict[str, Mapping[str, str]]:
    """Return why systems have no score by a measure, by system and measure: `{"A": {"SF-AP": "no confidences"}}`.

    Systems with a score by every measure are left out.
    """
    undefined_by_system: dict[str, Mapping[str, str]] = {}
    for name, result in results.items():
        reason_by_measure = dict(task.undefined_measures(result))
        if reason_by_measure:
            undefined_by_system[name] = reason_by_measure
    return undefined_by_system


class _Selection(NamedTuple):
    """The measures that a user has chosen for a comparison, and the primary one among them.

    All systems have a score by the `shared_measures`, and only the complete systems have a score by the
    `partial_measures`.
    """

    measures: Sequence[str]
    primary: str
    shared_measures: Sequence[str]
    partial_measures: Sequence[str]


def _select_measures(
    task: Comparable,
    results: Mapping[str, Any],
    comparable_measures: _ComparableMeasures,
    patterns: Sequence[str],
    primary: str | None,
) -> _Selection:
    """Return the measures that match the patterns, and the primary measure, which is always among them.

    Raises UsageError for an unknown measure, InputError for a measure by which a system has no score.
    """
    measures = _measures_of_patterns(comparable_measures, patterns, primary)
    if primary is None:
        primary_measure = _default_primary(task, results, measures)
    else:
        primary_measure = _official_name(primary, comparable_measures.all_measures)
    return _Selection(
        measures=measures,
        primary=primary_measure,
        shared_measures=[name for name in measures if name in comparable_measures.shared_measures],
        partial_measures=[name for name in measures if name in comparable_measures.partial_measures],
    )


def _measures_of_patterns(
    comparable_measures: _ComparableMeasures, patterns: Sequence[str], primary: str | None
) -> Sequence[str]:
    """Return the measures that match the patterns, and the primary measure if given; without patterns, all measures.

    Raises UsageError for an unknown measure, and InputError for a measure by which a system has no score.
    """
    if primary is None:
        _refuse_undefined(comparable_measures, patterns)
        return select_names(comparable_measures.all_measures, patterns)
    _refuse_undefined(comparable_measures, [*patterns, primary])
    primary_measure = _official_name(primary, comparable_measures.all_measures)
    # A name is also a pattern. Without patterns, all measures are selected.
    all_patterns = [*patterns, primary_measure] if patterns else []
    return select_names(comparable_measures.all_measures, all_patterns)


def _official_name(measure: str, measures: Sequence[str]) -> str:
    """Return the name of one of some measures in its official spelling. Raises UsageError if it is none of them."""
    [name] = select_names(measures, [find_name(measure, measures) or measure])
    return name


def _default_primary(task: Comparable, results: Mapping[str, Any], measures: Sequence[str]) -> str:
    """Return the measure that decides which system is better if the user did not name one.

    It is one of the `measures`: the headline measure of these results or, failing that, of the task.
    """
    headline = task.headline_of(results.values())
    if headline is not None and headline in measures:
        return headline
    return _headline_among(task.name, measures)


def _refuse_undefined(comparable_measures: _ComparableMeasures, patterns: Iterable[str]) -> None:
    """Raise InputError for a pattern such as `*AP` if each of its measures is undefined for some system.

    A pattern that matches no measure is not refused here.
    """
    for pattern in patterns:
        has_comparable_measure = bool(matching_names(comparable_measures.all_measures, pattern))
        if not has_comparable_measure:
            _refuse_undefined_measure(comparable_measures, pattern)


def _refuse_undefined_measure(comparable_measures: _ComparableMeasures, pattern: str) -> None:
    """Raise InputError if a pattern matches a measure by which a system has no score. The error says the reason."""
    for system, reason_by_measure in comparable_measures.undefined_by_system.items():
        for measure in matching_names(reason_by_measure, pattern):
            raise InputError(
                f"{system} has no {measure}: {reason_by_measure[measure]}",
                remedy="compare by another measure, or leave that system out",
            )


# ---- The comparison


def _statistics_of_systems(
    task: Comparable, results: Mapping[str, Any], comparable_measures: _ComparableMeasures, selection: _Selection
) -> dict[str, UnitStatistics]:
    """Return the statistics from which the scores by the shared measures are computed, by the name of the system.

    The selection has the measures that the user chose. If none of them is shared by all systems, all shared measures
    are used instead, since the statistics are also needed to find the units. Raises InputError for a system that
    answers no unit of gold.
    """
    measures = selection.shared_measures or comparable_measures.shared_measures
    systems: dict[str, UnitStatistics] = {}
    for name, result in results.items():
        systems[name] = task.statistics(result, measures)
    for name, system in systems.items():
        require_gold_units(name, system.answered_units, system.gold_units)
    return systems


class _Request(NamedTuple):
    """The results of systems to compare, and the measures by which they are compared.

    `results` maps the name of each system to its result. All systems are compared by the shared measures of the
    `selection`, and the complete systems of `comparable_measures` by its partial measures. If `only_common_units`, only
    the units that all systems have are compared. `further_arguments` are arguments of `compare_tables`.
    """

    task: Comparable
    results: Mapping[str, Any]
    comparable_measures: _ComparableMeasures
    selection: _Selection
    only_common_units: bool
    further_arguments: Mapping[str, Any]

    def compare_all(self, tables: Mapping[str, UnitTable], settings: Resampling) -> SystemComparison:
        """Return the comparison of all systems by the shared measures.

        `tables` has the statistics of the units of each system, by the name of the system.
        """
        measures = self.selection.shared_measures
        return compare_tables(
            tables,
            measures,
            self.task.formula(measures),
            settings,
            common=self.only_common_units,
            primary=_primary_or_first(self.selection.primary, measures),
            **self.further_arguments,
        )

    def compare_complete(self, unit_ids: Sequence[str], settings: Resampling) -> SystemComparison:
        """Return the comparison of the complete systems by the partial measures.

        `unit_ids` are the ids of the units that all systems have.
        """
        measures = self.selection.partial_measures
        tables: dict[str, UnitTable] = {}
        for name in self.comparable_measures.complete_systems:
            table = self.task.statistics(self.results[name], measures).table
            tables[name] = _rows_of_units(table, unit_ids) if self.only_common_units else table
        return compare_tables(
            tables,
            measures,
            self.task.formula(measures),
            settings,
            primary=_primary_or_first(self.selection.primary, measures),
            **self.further_arguments,
        )


def _compare_selection(
    request: _Request, systems: Mapping[str, UnitStatistics], settings: Resampling
) -> SystemComparison:
    """Return the comparison of all systems by the shared measures, and of the complete systems by the partial ones.

    `systems` are the statistics of all systems by name.
    """
    tables = {name: system.table for name, system in systems.items()}
    # `compare_all` aligns the systems itself, but the complete systems alone could have other units in common.
    units = align_systems(tables, common=request.only_common_units)
    selection = request.selection
    # First all systems are compared by the shared measures.
    shared_comparison = request.compare_all(tables, settings) if selection.shared_measures else None
    if shared_comparison is not None and not selection.partial_measures:
        return shared_comparison
    # Then the complete systems are compared by the partial measures, which need other statistics. The second comparison
    # draws as many resamples as the first one, whose settings record the number.
    settings_of_both = settings if shared_comparison is None else shared_comparison.resampling
    partial_comparison = request.compare_complete(units.ids, settings_of_both)
    all_systems = tuple(request.results)
    comparison = _join_comparisons(shared_comparison, partial_comparison, selection, all_systems)
    return replace(comparison, dropped=units.dropped if request.only_common_units else UNSET)


def _primary_or_first(primary: str, measures: Sequence[str]) -> str:
    """Return the primary measure if it is one of some measures, otherwise the first of them."""
    return primary if primary in measures else measures[0]


def _rows_of_units(table: UnitTable, unit_ids: Sequence[str]) -> UnitTable:
    """Return a table with only the rows of some units, in the order of the table.

    An id that is given twice keeps the first two rows with this id.
    """
    rows_left_by_id = Counter(unit_ids)  # an id may be given several times
    positions = []
    for position, unit_id in enumerate(table.ids):
        if rows_left_by_id[unit_id] > 0:
            rows_left_by_id[unit_id] -= 1
            positions.append(position)
    ids = tuple([table.ids[position] for position in positions])
    return UnitTable(ids, table.columns, [table.rows[position] for position in positions])


def _join_comparisons(
    shared_comparison: SystemComparison | None,
    partial_comparison: SystemComparison,
    selection: _Selection,
    system_names: tuple[str, ...],
) -> SystemComparison:
    """Return a single comparison by all measures, joined from the comparisons by shared and by partial measures.

    `shared_comparison` is None if there are no shared measures. `system_names` are the names of all systems. Systems
    that are missing in `partial_comparison` have no rank by its measures.
    """
    unranked = tuple([name for name in system_names if name not in partial_comparison.systems])
    all_measures = [replace(compared, unranked=unranked) for compared in partial_comparison.measures]
    # The settings and notes of the whole comparison come from the comparison by the primary measure.
    primary_comparison = partial_comparison
    if shared_comparison is not None:
        all_measures += shared_comparison.measures
        if selection.primary in selection.shared_measures:
            primary_comparison = shared_comparison
    measures = _in_order_of_selection(all_measures, selection)
    return replace(primary_comparison, measure=selection.primary, systems=system_names, measures=measures)


def _in_order_of_selection(
    comparisons: Iterable[MeasureComparison], selection: _Selection
) -> tuple[MeasureComparison, ...]:
    """Return comparisons by single measures in the order of the selection. All but the primary one are exploratory."""
    comparison_by_measure = {comparison.measure: comparison for comparison in comparisons}
    ordered_comparisons = []
    for measure in selection.measures:
        is_exploratory = measure != selection.primary
        ordered_comparisons.append(replace(comparison_by_measure[measure], exploratory=is_exploratory))
    return tuple(ordered_comparisons)


def _with_origins(comparison: SystemComparison, task: str, systems: Mapping[str, UnitStatistics]) -> SystemComparison:
    """Return a comparison with the name of its task, and with the origin and the signature of each system's scores."""
    origins: dict[str, Origin] = {}
    for name, system in systems.items():
        origins[name] = _origin_of(system, name, comparison)
    signatures = {name: str(origin.signature) for name, origin in origins.items()}
    return replace(comparison, task=task, signatures=signatures, origins=origins)


def _origin_of(system: UnitStatistics, name: str, comparison: SystemComparison) -> Origin:
    """Return the origin of a system's scores by the primary measure of a comparison.

    If units of the system were left out because other systems lack them, the origin names these units.
    """
    origin = replace(system.origin, measure=comparison.measure)
    dropped_by_system = comparison.dropped or {}
    if name not in dropped_by_system:
        return origin
    dropped = dropped_by_system[name]
    digest = short_digest("".join([f"{unit}\n" for unit in sorted(dropped)]))
    option_value = {"units": comparison.units, "dropped": dropped}
    return origin.with_option("common", option_value, setting=f"common={digest}")


def _notes_on_undefined(comparable_measures: _ComparableMeasures, comparison: SystemComparison) -> list[Note]:
    """Return notes that name the systems without a score by some measures, and say how they are compared instead."""
    undefined_by_system = comparable_measures.undefined_by_system
    # Systems without a score by the primary measure: the tables show them without a rank.
    if comparison.primary.unranked:
        return undefined_notes(undefined_by_system, "; it has no rank by these, and its pairs are not tested by them")
    # Systems without a score by another measure, by which the complete systems are compared.
    if comparable_measures.partial_measures:
        return undefined_notes(undefined_by_system, "; it is compared by the other measures alone")
    return undefined_notes(undefined_by_system, "; nothing is compared by these")


def with_first_measure(comparison: SystemComparison) -> SystemComparison:
    """Return a comparison with the primary measure alone, as people are shown it first."""
    return replace(comparison, measures=(comparison.primary,))


# ---- The statistics of units


def per_unit(task: Comparable, results: Mapping[str, Any], clusters: Clusters | UnsetType = UNSET) -> Table:
    """Return the table that `--per-unit` writes, with a row for each unit and measure.

    A row has the unit, its cluster, and the numerator and denominator of the score. Without `clusters`, each unit is a
    cluster of its own. `results` maps the name of each system to its result; with several systems, the table has a
    column `system`.
    """
    keys = ["unit", "cluster"]
    if clusters and clusters.strata:
        keys.append("stratum")
    if len(results) > 1:
        keys.append("system")
    keys += ["measure", "numerator", "denominator"]
    layout = Layout("per-unit", "", columns(*keys), lambda document: _unit_rows(task, document, clusters))
    return layout.table(results)


def _unit_rows(task: Comparable, results: Mapping[str, Any], clusters: Clusters | UnsetType) -> Iterator[Row]:
    """Yield a row for each result, unit and measure, with its cells by column.

    Raises InputError for clusters that do not fit the units.
    """
    measures = task.measures(results.values())
    formula = task.formula(measures)
    for system, result in results.items():
        table = task.statistics(result, measures).table
        if clusters:
            clusters.require_clusters(table.ids)
        ratios = ratios_of(formula, np.asarray(table.rows, dtype=np.float64))  # (units, measures)
        unit_names = unique_ids(table.ids)  # several units may have the same id
        for position, (unit_id, unit_name) in enumerate(zip(table.ids, unit_names)):
            cells = _cells_of_unit(unit_id, unit_name, clusters)
            ratio = Ratio(ratios.numerator[position], ratios.denominator[position])
            yield from _rows_of_unit({**cells, "system": system}, measures, ratio)


def _rows_of_unit(cells: Mapping[str, str], measures: Sequence[str], ratio: Ratio) -> Iterator[Row]:
    """Yield the row of a unit for each measure, by column.

    `cells` describe the unit and the system. `ratio` has arrays with a numerator and a denominator for each measure.
    """
    numerators = ratio.numerator.tolist()
    denominators = ratio.denominator.tolist()
    for measure, numerator, denominator in zip(measures, numerators, denominators):
        fraction = {"numerator": _as_integer(numerator), "denominator": _as_integer(denominator)}
        yield {**cells, "measure": measure, **fraction}


def _cells_of_unit(unit_id: str, unit_name: str, clusters: Clusters | UnsetType) -> dict[str, str]:
    """Return the cells that describe a unit, by column: `{"unit": "q1", "cluster": "doc7", "stratum": "news"}`.

    `unit_name` is its id, with a number if several units have the same id. Without clusters the unit itself is the
    cluster.
    """
    if not clusters:
        return {"unit": unit_name, "cluster": unit_name}
    cluster = clusters.cluster_by_unit[unit_id]
    cells = {"unit": unit_name, "cluster": cluster}
    stratum_by_cluster = clusters.strata
    if stratum_by_cluster:
        cells["stratum"] = stratum_by_cluster[cluster]
    return cells


def _as_integer(number: float) -> float:
    """Return a whole number as an integer, which is written without a decimal point; another number unchanged."""
    return int(number) if number.is_integer() else number
