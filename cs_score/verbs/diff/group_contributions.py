"""Compute how much groups of rows and lines contribute to the difference between the scores of two runs.

A score is a ratio of sums over the rows of a table; the contribution of a group follows from its part of the sums.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.changes import Editor
from cs_score.analysis.coldstart.counted_table import RUN_ONLY, EntryCounts, count_groups, count_table
from cs_score.analysis.coldstart.faults import find_faults
from cs_score.analysis.coldstart.scored import AnalysedRun
from cs_score.analysis.outcomes import UNKNOWN, contributions_of
from cs_score.base.records import Record, replace
from cs_score.coldstart.queries import Query
from cs_score.coldstart.result import ALL_LEVELS
from cs_score.coldstart.unit_statistics import unit_table
from cs_score.measures.registry import MICRO, Measure, SumsFormula, divide, formula_of, sums_of

Sums: TypeAlias = Sequence[float]
"""The summands of a unit, row or group in the sums from which a measure is computed."""


class GroupShare(Record, kw_only=True):
    """A group of rows or lines, as a unit; `n` is how many rows of the table are in it, where it is one of rows."""

    group: str
    n: int | UnsetType = UNSET
    a: float | None
    b: float | None
    contribution: float | None


class Share(NamedTuple):
    """The scores of a unit or group in A and B, and its contribution to the difference.

    A score is None on a side that lacks the unit; the contribution is None where the score of a side is 0/0.
    """

    name: str
    a: float | None
    b: float | None
    contribution: float | None


def shares_of(sums_a: Mapping[str, Sums], sums_b: Mapping[str, Sums], measure: Measure) -> list[Share]:
    """Return the scores and contributions of units or groups.

    `sums_a` and `sums_b` have the summands of each unit or group in A and B, by its name.
    """
    formula = formula_of([measure])
    shares = []
    for name, contribution in contributions_of(sums_a, sums_b, formula).items():
        score_a = _score_of(sums_a.get(name), formula)
        score_b = _score_of(sums_b.get(name), formula)
        shares.append(Share(name, score_a, score_b, contribution))
    return shares


def _score_of(sums: Sums | None, formula: SumsFormula) -> float | None:
    """Return the score that follows from the sums of a unit or group, by a formula for one measure.

    It is None if there are no sums.
    """
    if sums is None:
        return None
    scores: Sequence[float] = formula(sums, divide)
    return scores[0]


class _GroupSums(NamedTuple):
    """The summands of each group of a dimension in A and in B, and the number of rows of each group."""

    dimension: str
    a: Mapping[str, Sums]
    b: Mapping[str, Sums]
    row_counts: Mapping[str, int]


def group_shares(a: AnalysedRun, b: AnalysedRun, measure: Measure) -> dict[str, list[GroupShare]]:
    """Return by dimension the contributions of its groups to the difference, the groups sorted by name.

    The rows of the measure's table are grouped by slot, hop and entity type. For micro averages, its lines are also
    grouped by the dimensions in which the lines of a row may differ. In the dimensions that the pool does not know
    (`RUN_ONLY`), groups have contributions, but no scores by measures that need the number of classes.
    """
    needs_classes = any(column.endswith(":ground_truth") for column in sums_of([measure]))
    dimensions = list(_sums_by_row_groups(a, b, measure))
    if measure.average == MICRO:  # only micro averages are made of sums over lines
        dimensions += _sums_by_line_groups(a, b, measure)
    shares_by_dimension: dict[str, list[GroupShare]] = {}
    for group_sums in dimensions:
        has_scores = not (needs_classes and group_sums.dimension in RUN_ONLY)
        shares = shares_of(group_sums.a, group_sums.b, measure)
        shares.sort(key=lambda share: share.name)
        groups = []
        for share in shares:
            group = GroupShare(group=share.name, a=None, b=None, contribution=share.contribution)
            if has_scores:
                row_count = group_sums.row_counts.get(share.name, UNSET)
                group = replace(group, n=row_count, a=share.a, b=share.b)
            groups.append(group)
        shares_by_dimension[group_sums.dimension] = groups
    return shares_by_dimension


# ---- Rows


class _RowKey(NamedTuple):
    """The key of a query's rows at a hop; the hop is `ALL` for rankings of all hops."""

    query_id: str
    hop: str


def _sums_by_row_groups(a: AnalysedRun, b: AnalysedRun, measure: Measure) -> Iterator[_GroupSums]:
    """Yield for each dimension the summands of the groups of rows that the measure is computed from."""
    # Over all hops, a ranking is one row that belongs to no hop.
    has_rows_by_hop = bool(measure.average) and measure.level == ALL_LEVELS
    sums_a = _sums_by_row(a, measure, has_rows_by_hop=has_rows_by_hop)
    sums_b = _sums_by_row(b, measure, has_rows_by_hop=has_rows_by_hop)
    query_by_id = {query.full_id: query for query in a.run.gold.query_set.by_id.values()}
    query_by_id.update({query.full_id: query for query in b.run.gold.query_set.by_id.values()})
    dimensions = ["entity_type"]
    if has_rows_by_hop or measure.level != ALL_LEVELS:
        dimensions = ["slot", "hop", "entity_type"]
    for dimension in dimensions:
        group_by_row: dict[_RowKey, str] = {}
        for key in [*sums_a, *sums_b]:
            group_by_row[key] = _group_of_row(key, dimension, query_by_id[key.query_id])
        yield _GroupSums(
            dimension=dimension,
            a=_add_up_groups(sums_a, group_by_row),
            b=_add_up_groups(sums_b, group_by_row),
            row_counts=Counter(group_by_row.values()),
        )


def _sums_by_row(scored: AnalysedRun, measure: Measure, *, has_rows_by_hop: bool) -> dict[_RowKey, Sums]:
    """Return the summands of each query at each hop of the measure; queries that add nothing are left out.

    Unless the measure `has_rows_by_hop`, it has the rows of its own level only.
    """
    result = scored.result
    # Every query is made a unit of its own, whatever LDC query it belongs to.
    query_ids = set(result.unit_by_query) | set(result.unit_by_query.values())
    result_by_query = replace(result, unit_by_query={query_id: query_id for query_id in query_ids})
    hops = [measure.level]
    if has_rows_by_hop:
        hops = _hops_of_table(scored, measure.table)
    sums_by_row: dict[_RowKey, Sums] = {}
    for hop in hops:
        table = unit_table(result_by_query, [measure.at_level(hop)])
        for query_id, sums in zip(table.ids, table.rows):
            if any(sums):
                sums_by_row[_RowKey(query_id, hop)] = sums
    return sums_by_row


def _hops_of_table(scored: AnalysedRun, table_name: str) -> list[str]:
    """Return the hops of the rows of a table, sorted."""
    hops: set[str] = set()
    for name, table in scored.result.tables.variants:
        if name == table_name:
            hops.update([row.level for row in table.rows])
    return sorted(hops)


def _group_of_row(key: _RowKey, dimension: str, query: Query) -> str:
    """Return the group of a query's rows at a hop in a dimension: `slot`, `hop` or `entity_type`."""
    if dimension == "slot":
        return query.slot_at(int(key.hop)) or UNKNOWN
    if dimension == "hop":
        return key.hop or UNKNOWN
    return query.entity_type or UNKNOWN


def _add_up_groups(sums_by_row: Mapping[_RowKey, Sums], group_by_row: Mapping[_RowKey, str]) -> dict[str, Sums]:
    """Return the summands of each group, which are the sums over its rows, column by column."""
    sums_by_group: dict[str, Sums] = {}
    for key, sums in sums_by_row.items():
        group = group_by_row[key]
        if group in sums_by_group:
            sums_by_group[group] = [total + value for total, value in zip(sums_by_group[group], sums)]
        else:
            sums_by_group[group] = sums
    return sums_by_group


# ---- Lines

_LINE_DIMENSIONS: Final = ("value_type", "language", "judgment", "mention_type", "category")
"""The dimensions in which the lines of one row differ."""


def _sums_by_line_groups(a: AnalysedRun, b: AnalysedRun, measure: Measure) -> Iterator[_GroupSums]:
    """Yield for each dimension in which the lines of a row may differ the summands of the groups of lines."""
    entry_counts_a = _entry_counts_of(a, measure)
    entry_counts_b = _entry_counts_of(b, measure)
    # A column of the measure has a count of a table and a hop: `SF:ALL:right` has the count `right`.
    count_names = [column.rpartition(":")[2] for column in sums_of([measure])]
    for dimension in _LINE_DIMENSIONS:
        yield _GroupSums(
            dimension=dimension,
            a=_sums_by_line_group(entry_counts_a, dimension, count_names),
            b=_sums_by_line_group(entry_counts_b, dimension, count_names),
            row_counts={},
        )


def _entry_counts_of(scored: AnalysedRun, measure: Measure) -> EntryCounts:
    """Return the counts of a run's lines and missed classes in the table of a measure."""
    faults = find_faults(scored, Editor(scored.run, scored.run_id))
    return count_table(scored, measure, faults).entry_counts


def _sums_by_line_group(entry_counts: EntryCounts, dimension: str, count_names: Iterable[str]) -> dict[str, Sums]:
    """Return some counts of each group of a dimension: `{"NAM": [3.0, 4.0]}` for the names `right`, `ground_truth`."""
    sums_by_group: dict[str, Sums] = {}
    for (group,), group_counts in count_groups(entry_counts, [dimension]).items():
        sums_by_group[group] = [float(getattr(group_counts.counts, name)) for name in count_names]
    return sums_by_group
