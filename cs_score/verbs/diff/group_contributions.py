"""Compute how much groups of rows and lines contribute to the difference between the scores of two runs, A and B. A
score is a ratio of sums over the rows of a table. The summands of a row are the numbers that it adds to these sums,
such as the number of its right lines. The summands of a group are the sums over its rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.changes import Editor
from cs_score.analysis.coldstart.counted_table import DIMENSIONS_OF_RUNS_ONLY, EntryCounts, count_groups, count_table
from cs_score.analysis.coldstart.faults import find_faults
from cs_score.analysis.coldstart.scored import AnalysedRun
from cs_score.analysis.outcomes import UNKNOWN, contributions_of
from cs_score.base.records import Record, replace
from cs_score.coldstart.queries import Query
from cs_score.coldstart.result import ALL_LEVELS, ScoredRun
from cs_score.coldstart.unit_statistics import unit_table
from cs_score.measures import MICRO, Measure, SumsFormula, divide, formula_of, sum_columns_of

Summands: TypeAlias = Sequence[float]
"""The summands of a unit, row or group: its numbers in the sums from which a measure is computed."""


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


def shares_of(summands_a: Mapping[str, Summands], summands_b: Mapping[str, Summands], measure: Measure) -> list[Share]:
    """Return the scores of units or groups in A and B, and the contribution of each to the difference of the runs.

    `summands_a` and `summands_b` hold the summands of each unit or group in A and B, by name.
    """
    formula = formula_of([measure])
    contribution_by_name = contributions_of(summands_a, summands_b, formula)
    shares = []
    for name, contribution in contribution_by_name.items():
        score_a = _score_of(summands_a.get(name), formula)
        score_b = _score_of(summands_b.get(name), formula)
        shares.append(Share(name, score_a, score_b, contribution))
    return shares


def _score_of(summands: Summands | None, formula: SumsFormula) -> float | None:
    """Return the score of a unit or group, computed from its summands with the formula of one measure.

    The score is None if there are no summands because the run does not have the unit or group.
    """
    if summands is None:
        return None
    scores: Sequence[float] = formula(summands, divide)
    return scores[0]


class _GroupSummands(NamedTuple):
    """The summands of each group of a dimension in A and in B, and the number of rows of each group."""

    dimension: str
    a: Mapping[str, Summands]
    b: Mapping[str, Summands]
    row_counts: Mapping[str, int]


def group_shares(a: AnalysedRun, b: AnalysedRun, measure: Measure) -> dict[str, list[GroupShare]]:
    """Return the contributions of groups to the difference, by dimension. The groups are sorted by name.

    The rows of the measure's table are grouped by slot, hop and entity type. For micro averages, their lines are also
    grouped by each dimension in which the lines of a row may differ. Some dimensions are known only for the lines of a
    run (`DIMENSIONS_OF_RUNS_ONLY`). Groups in these dimensions have contributions, but they have no scores under
    measures that depend on the number of classes.
    """
    summands_of_dimensions = list(_summands_by_row_groups(a, b, measure))
    if measure.average == MICRO:  # only micro averages are made of sums over lines
        summands_of_dimensions += _summands_by_line_groups(a, b, measure)
    shares_by_dimension = {}
    for group_summands in summands_of_dimensions:
        shares_by_dimension[group_summands.dimension] = _shares_of_groups(group_summands, measure)
    return shares_by_dimension


def _shares_of_groups(group_summands: _GroupSummands, measure: Measure) -> list[GroupShare]:
    """Return the groups of a dimension with their scores and contributions, sorted by name.

    Some measures need the number of classes, and a class that was not found has no value type or category. Groups of
    these two dimensions then have contributions without scores (`_has_scores`), and no number of rows.
    """
    shares = shares_of(group_summands.a, group_summands.b, measure)
    shares.sort(key=lambda share: share.name)
    if not _has_scores(group_summands.dimension, measure):
        return [GroupShare(group=share.name, a=None, b=None, contribution=share.contribution) for share in shares]
    groups = []
    for share in shares:
        row_count = group_summands.row_counts.get(share.name, UNSET)
        group = GroupShare(group=share.name, n=row_count, a=share.a, b=share.b, contribution=share.contribution)
        groups.append(group)
    return groups


def _has_scores(dimension: str, measure: Measure) -> bool:
    """Return whether the groups of a dimension have scores by a measure.

    They have none if the measure needs the number of classes, and the pool does not tell the group of a missed class.
    """
    needs_classes = any(column.endswith(":ground_truth") for column in sum_columns_of([measure]))
    return not needs_classes or dimension not in DIMENSIONS_OF_RUNS_ONLY


# ---- Rows


class _RowKey(NamedTuple):
    """The key of a query's rows at a hop; the hop is `ALL` for rankings of all hops."""

    query_id: str
    hop: str


def _summands_by_row_groups(a: AnalysedRun, b: AnalysedRun, measure: Measure) -> Iterator[_GroupSummands]:
    """Yield the summands of groups of rows in A and B, for each dimension of the rows: `slot`, `entity_type` ..."""
    summands_a = _summands_by_row(a, measure)
    summands_b = _summands_by_row(b, measure)
    query_by_id = _queries_of(a) | _queries_of(b)
    rows_of_both = list(summands_a) + list(summands_b)
    for dimension in _dimensions_of_rows(measure):
        group_by_row = _group_by_row(rows_of_both, dimension, query_by_id)
        yield _GroupSummands(
            dimension=dimension,
            a=_add_up_groups(summands_a, group_by_row),
            b=_add_up_groups(summands_b, group_by_row),
            row_counts=Counter(group_by_row.values()),
        )


def _group_by_row(keys: Iterable[_RowKey], dimension: str, query_by_id: Mapping[str, Query]) -> dict[_RowKey, str]:
    """Return the group of each row in a dimension: `{_RowKey("CS17_ENG_0001", "0"): "per:children"}` for `slot`."""
    return {key: _group_of_row(key, dimension, query_by_id[key.query_id]) for key in keys}


def _queries_of(scored: AnalysedRun) -> dict[str, Query]:
    """Return the queries of the query files of a run, by full id."""
    return {query.full_id: query for query in scored.run.gold.query_set.by_id.values()}


def _has_rows_by_hop(measure: Measure) -> bool:
    """Return whether a measure over all hops is computed from rows that each belong to a single hop.

    A ranking over all hops is a single row, which does not belong to any hop.
    """
    return bool(measure.average) and measure.level == ALL_LEVELS


def _dimensions_of_rows(measure: Measure) -> list[str]:
    """Return the dimensions by which the rows of a measure are grouped.

    Rows that do not belong to a hop are not grouped by slot and hop.
    """
    # Rows belong to a hop if the measure is about a single hop, or if it is an average over the rows of all hops.
    if _has_rows_by_hop(measure) or measure.level != ALL_LEVELS:
        return ["slot", "hop", "entity_type"]
    return ["entity_type"]


def _summands_by_row(scored: AnalysedRun, measure: Measure) -> dict[_RowKey, Summands]:
    """Return the summands of the rows of each query at each hop; queries that add nothing are left out.

    Each row has one summand for each sum that the measure is computed from, such as its right lines.
    """
    result = _with_queries_as_units(scored.result)
    # A measure of one hop has rows of this hop only. A ranking over all hops has rows of the level `ALL`.
    levels = [measure.level]
    if _has_rows_by_hop(measure):
        levels = _hops_of_table(scored, measure.table)
    summands_by_row: dict[_RowKey, Summands] = {}
    for level in levels:
        measure_at_level = measure.at_level(level)
        table = unit_table(result, [measure_at_level])
        for query_id, summands in zip(table.ids, table.rows):
            if any(summands):  # zeros add nothing
                summands_by_row[_RowKey(query_id, level)] = summands
    return summands_by_row


def _with_queries_as_units(result: ScoredRun) -> ScoredRun:
    """Return a result in which every query is a unit of its own, whatever LDC query it belongs to."""
    query_ids = set(result.cluster_by_query) | set(result.cluster_by_query.values())
    return replace(result, cluster_by_query={query_id: query_id for query_id in query_ids})


def _hops_of_table(scored: AnalysedRun, table_name: str) -> list[str]:
    """Return the hops of the rows of a table, sorted: `["0", "1"]`. The level of such a row is always a hop."""
    hops: set[str] = set()
    for name, table in scored.result.tables.variants:
        if name == table_name:
            hops.update([row.level for row in table.rows])
    return sorted(hops)


def _group_of_row(key: _RowKey, dimension: str, query: Query) -> str:
    """Return the group to which the rows of a query at a hop belong, in the dimension `slot`, `hop` or `entity_type`.

    Rows are grouped by slot only if they belong to a hop. In this case, the hop is a number.
    """
    if dimension == "slot":
        return query.slot_at(int(key.hop)) or UNKNOWN
    if dimension == "hop":
        return key.hop or UNKNOWN
    return query.entity_type or UNKNOWN


def _add_up_groups(
    summands_by_row: Mapping[_RowKey, Summands], group_by_row: Mapping[_RowKey, str]
) -> dict[str, Summands]:
    """Return the summands of each group, which are the sums over its rows, column by column."""
    summands_by_group: dict[str, Summands] = {}
    for key, summands in summands_by_row.items():
        group = group_by_row[key]
        if group in summands_by_group:
            summands_by_group[group] = [total + value for total, value in zip(summands_by_group[group], summands)]
        else:
            summands_by_group[group] = summands
    return summands_by_group


# ---- Lines

_LINE_DIMENSIONS: Final = ("value_type", "language", "judgment", "mention_type", "category")
"""The dimensions in which the lines of one row differ."""


def _summands_by_line_groups(a: AnalysedRun, b: AnalysedRun, measure: Measure) -> Iterator[_GroupSummands]:
    """Yield the summands of groups of lines, for each dimension in which the lines of a row may differ (`language`)."""
    counts_a = _counts_of_lines_and_classes(a, measure)
    counts_b = _counts_of_lines_and_classes(b, measure)
    count_names = _count_names(measure)
    for dimension in _LINE_DIMENSIONS:
        yield _GroupSummands(
            dimension=dimension,
            a=_add_up_line_groups(counts_a, dimension, count_names),
            b=_add_up_line_groups(counts_b, dimension, count_names),
            row_counts={},  # groups of lines have no number of rows
        )


def _count_names(measure: Measure) -> list[str]:
    """Return the names of the counts that a measure is computed from: `["right", "answered", "ground_truth"]`.

    A column of the measure, such as `SF:ALL:right`, has the count of a table and a hop.
    """
    return [column.rpartition(":")[2] for column in sum_columns_of([measure])]


def _counts_of_lines_and_classes(scored: AnalysedRun, measure: Measure) -> EntryCounts:
    """Count the lines and missed classes of a run in a measure's table, by their groups and labels."""
    faults = find_faults(scored, Editor(scored.run, scored.run_id))
    return count_table(scored, measure, faults).entry_counts


def _add_up_line_groups(entry_counts: EntryCounts, dimension: str, count_names: Iterable[str]) -> dict[str, Summands]:
    """Return the counts with the names `count_names` for each group of a dimension: `{"NAM": [3.0, 4.0], ...}`.

    In this example the names are `right` and `ground_truth`, and the dimension is `mention_type`.
    """
    summands_by_group: dict[str, Summands] = {}
    for (group,), group_counts in count_groups(entry_counts, [dimension]).items():
        summands_by_group[group] = [float(getattr(group_counts.counts, name)) for name in count_names]
    return summands_by_group
