"""The result of a Cold Start scoring. An LDC query is a question about an entity with several mentions (entry points);
each entry point is scored as a slot-filling query of its own. Table SF has the rows of these queries and their classes
(answers), LDC-MAX the rows of each LDC query's best entry point, and LDC-MEAN the means over its entry points.

In a table of rankings, SF has a row for each query and level. Source: docs/background/scoring.md.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import Record, field
from cs_score.base.signature import Origin, Signature
from cs_score.coldstart.judging import Counts, Labels, Tally, sum_counts
from cs_score.coldstart.lines import Assessment, sum_from_left
from cs_score.coldstart.options import Options
from cs_score.coldstart.queries import Query, QuerySet, parse_query_id
from cs_score.coldstart.ranking import Ranking
from cs_score.measures import ALL_HOPS, LDC_MAX, LDC_MEAN, RANKING_FORMULAS, SF, Measure, divide, f1
from cs_score.measures import MACRO as MACRO_AVERAGE
from cs_score.measures import MICRO as MICRO_AVERAGE
from cs_score.problems.log import Problem, ProblemLog

if TYPE_CHECKING:
    from cs_score.coldstart.samples import Bootstrap

ALL_LEVELS: Final = ALL_HOPS
MICRO: Final = f"{ALL_LEVELS}-{MICRO_AVERAGE}"
MACRO: Final = f"{ALL_LEVELS}-{MACRO_AVERAGE}"

_LEADING_NUMBER: Final = re.compile(r"\s*[-+]?\d+")


class ScoreRow(NamedTuple):
    """One row of a table: the scores of a query or class, or the measures of a query's ranking at a level.

    `name` is the name of the query or class (`CSX_ENG_00fb79cef8:1`), or `ALL-Micro` or `ALL-Macro` for averages.
    `level` is the hop or `ALL`. `counts` is None for means and rankings. `scores` are precision, recall and F1; for
    rankings they are the measures in `RANKING_FORMULAS`. `ground_truth` is the number of classes to be found. A macro
    average is the sum of the scores of its rows, divided by the number of those rows that have something to be found.
    """

    name: str
    level: str
    counts: Counts | None
    scores: tuple[float, ...]
    ground_truth: int

    @property
    def precision(self) -> float:
        """The precision of a row that has precision, recall and F1."""
        return self.scores[0]

    @property
    def recall(self) -> float:
        """The recall of a row that has precision, recall and F1."""
        return self.scores[1]

    @property
    def f1(self) -> float:
        """The F1 of a row that has precision, recall and F1."""
        return self.scores[2]

    @property
    def score(self) -> float:
        """The average precision of a row of a ranking, which is the first of its scores."""
        return self.scores[0]


class EntryPointRows(NamedTuple):
    """The rows of one entry point (a mention of the query's entity) of an LDC query.

    `short_id` is the short id of the slot-filling query that was made from the entry point, such as `00fb79cef8`.
    """

    short_id: str
    rows: Sequence[ScoreRow]


EntryPoints: TypeAlias = Sequence[EntryPointRows]
"""The entry points of an LDC query that have rows, in the order of the query file."""


class LdcQueryRows(NamedTuple):
    """The rows of the entry points of one LDC query, whose full id is `full_id`, such as `CSX_0001`."""

    full_id: str
    entry_points: EntryPoints


class ResultTable(Record):
    """The rows of a table in printing order, and their micro and macro averages, one for each level."""

    rows: tuple[ScoreRow, ...]
    micro: tuple[ScoreRow, ...]
    macro: tuple[ScoreRow, ...]

    @property
    def averages(self) -> tuple[ScoreRow, ...]:
        """The averages in the order in which tables show them: micro averages first."""
        return self.micro + self.macro


def row_sort_key(name: str) -> tuple[str, tuple[int, ...]]:
    """Return the sort key of the name of a row: the query as text, and the components of the class as numbers.

    For example, `CSX_0001:10` -> `("CSX_0001", (10,))`. Thus `CSX_0001:2` comes before it. A component that does not
    begin with a number counts as 0.
    """
    query, colon, components = name.partition(":")
    if not colon:
        return name, ()
    if components.isdecimal():  # nearly all classes have one component: these need no regular expression
        return query, (int(components),)
    numbers = []
    for component in components.split(":"):
        match = _LEADING_NUMBER.match(component)
        numbers.append(int(match.group()) if match else 0)
    return query, tuple(numbers)


def in_printing_order(rows: Iterable[ScoreRow]) -> list[ScoreRow]:
    """Return rows sorted by name, as tables show them; rows with the same name keep their order."""
    return sorted(rows, key=lambda row: row_sort_key(row.name))


def counted_row(name: str, counts: Counts, level: str | None = None) -> ScoreRow:
    """Return the row that shows these counts, and the precision, recall and F1 that follow from them.

    `name` is the name of the query or class above the counted classes. By default `level` is their hop, the number of
    colons in `name`: 0 for the query `Q`, 1 for its class `Q:1`.
    """
    if level is None:
        level = str(name.count(":"))
    precision = counts.precision
    recall = counts.recall
    return ScoreRow(
        name=name,
        level=level,
        counts=counts,
        scores=(precision, recall, f1(precision, recall)),
        ground_truth=counts.ground_truth,
    )


def ranked_rows(rankings: Iterable[Ranking]) -> list[ScoreRow]:
    """Return a row for each ranking, sorted by name in printing order, then by level.

    The rows appear in the report of average precision. Each is named after the full id of its query.
    """
    rows = [_ranked_row(ranking) for ranking in rankings]
    # Rows of one query keep the order of their levels, because sorting is stable.
    rows.sort(key=lambda row: row.level)
    return in_printing_order(rows)


def _ranked_row(ranking: Ranking) -> ScoreRow:
    """Return the row that shows the scores of a ranking: average precision, then the other measures of rankings.

    If the ground truth of the ranking is unknown, the row shows 0.
    """
    return ScoreRow(
        name=ranking.query,
        level=ranking.level,
        counts=None,
        scores=ranking.scores,
        ground_truth=ranking.ground_truth or 0,
    )


def _rows_by_level(rows: Iterable[ScoreRow], *, are_levels_pooled: bool) -> dict[str, list[ScoreRow]]:
    """Return the rows by their level.

    If `are_levels_pooled`, the list of the level `ALL` has the rows of every level. Rows whose own level is `ALL` are
    then in the list twice.
    """
    rows_by_level: dict[str, list[ScoreRow]] = defaultdict(list)
    for row in rows:
        rows_by_level[row.level].append(row)
        if are_levels_pooled:
            rows_by_level[ALL_LEVELS].append(row)
    return rows_by_level


def averaged_table(rows_in_order: Iterable[ScoreRow], *, are_levels_pooled: bool = True) -> ResultTable:
    """Return a table of the given rows, which must be in printing order, with their averages (rule averages).

    Each level gets a macro average, and a micro average if its rows have counts. The level `ALL` comes last. If
    `are_levels_pooled` is true, the averages of `ALL` include the rows of every level.
    """
    rows = tuple(rows_in_order)
    rows_by_level = _rows_by_level(rows, are_levels_pooled=are_levels_pooled)
    micro: list[ScoreRow] = []
    macro: list[ScoreRow] = []
    for level, rows_of_level in sorted(rows_by_level.items()):  # `0`, `1`, ..., `ALL`: digits sort before letters
        if rows_of_level[0].counts is not None:
            micro.append(_micro_average(level, rows_of_level))
        macro.append(_macro_average(level, rows_of_level))
    return ResultTable(rows, tuple(micro), tuple(macro))


def _micro_average(level: str, rows: Iterable[ScoreRow]) -> ScoreRow:
    """Return the row `ALL-Micro` of a level, whose scores follow from the sums of the counts of the rows."""
    counts = sum_counts(row.counts for row in rows if row.counts)
    return counted_row(MICRO, counts, level)


def _macro_average(level: str, rows: Sequence[ScoreRow]) -> ScoreRow:
    """Return the row `ALL-Macro` of a level, whose scores are the means of the scores of the rows.

    All rows add to the sums, but the sums are divided by the number of rows that have something to be found.
    """
    divisor = sum(row.ground_truth > 0 for row in rows)
    return ScoreRow(MACRO, level, counts=None, scores=_means(rows, divisor), ground_truth=0)


def _means(rows: Sequence[ScoreRow], divisor: int) -> tuple[float, ...]:
    """Return each score of the rows, such as P, R and F1, summed over all rows and divided by `divisor`.

    If `divisor` is 0, the results are 0. As in the reference scorer, scores are added from the first row to the last.
    """
    scores_by_position = zip(*[row.scores for row in rows])
    return tuple([divide(sum_from_left(scores), divisor) for scores in scores_by_position])


def counted_f1(rows: Iterable[ScoreRow]) -> float:
    """Return the F1 that follows from the sums of the counts of rows; rows without counts are left out."""
    counts = [row.counts for row in rows if row.counts is not None]
    right = sum([row_counts.right for row_counts in counts])
    answered = sum([row_counts.answered for row_counts in counts])
    ground_truth = sum([row_counts.ground_truth for row_counts in counts])
    precision = divide(right, answered)
    recall = divide(right, ground_truth)
    return float(f1(precision, recall))


def _group_by_ldc_query(table: ResultTable, queries: QuerySet) -> tuple[LdcQueryRows, ...]:
    """Return the LDC queries that have rows in a table of slot-filling scores, each with its entry points' rows.

    LDC queries without rows, and entry points without rows, are left out.
    """
    rows_by_query: dict[str, list[ScoreRow]] = defaultdict(list)
    for row in table.rows:
        rows_by_query[_slot_filling_query(row, queries)].append(row)
    ldc_queries = []
    for ldc_id in dict.fromkeys(queries.ldc_id_by_query.values()):
        entry_points = _entry_points_with_rows(ldc_id, queries, rows_by_query)
        if entry_points:
            full_id = queries.by_id[ldc_id].full_id
            ldc_queries.append(LdcQueryRows(full_id, entry_points))
    return tuple(ldc_queries)


def _entry_points_with_rows(
    ldc_id: str, queries: QuerySet, rows_by_query: Mapping[str, Sequence[ScoreRow]]
) -> list[EntryPointRows]:
    """Return the entry points of an LDC query that have rows, in the order of the query file.

    `rows_by_query` has the rows of each slot-filling query by its short id. If two LDC queries have the same entry
    point, only one of them has its rows (rule shared-slot-filling-ids).
    """
    entry_points = []
    for short_id in dict.fromkeys(queries.by_id[ldc_id].expansion_ids or ()):
        is_shared_with_other = queries.ldc_id_by_query[short_id] != ldc_id
        if short_id in rows_by_query and not is_shared_with_other:
            entry_points.append(EntryPointRows(short_id, rows_by_query[short_id]))
    return entry_points


def _slot_filling_query(row: ScoreRow, queries: QuerySet) -> str:
    """Return the short id of the slot-filling query that a row belongs to: `CSX_ENG_00fb79cef8:1` -> `00fb79cef8`.

    A row that is named after a follow-on query, such as `CSX_ENG_00fb79cef8_efa464516d81`, belongs to the query of the
    first hop, `00fb79cef8`.
    """
    full_id = row.name.partition(":")[0]  # without the numbers of the class
    last_component = full_id.rpartition("_")[2]
    if last_component in queries.ldc_id_by_query:  # usual case; other rows may be of follow-on queries
        return last_component
    parts = parse_query_id(full_id)
    return last_component if parts is None else parts.base_id


def add_ldc_tables(sf: ResultTable, queries: QuerySet) -> PrecisionRecall:
    """Return the table of slot-filling scores (SF) with LDC-MAX and LDC-MEAN, which are computed from its rows.

    LDC-MAX contains the rows of the best entry point of each LDC query, and LDC-MEAN contains the means over all entry
    points (rules ldc-max and ldc-mean of docs/development/rules.md). Both are None if no LDC query was expanded, that
    is, replaced by a query for each of its entry points.
    """
    if not queries.ldc_id_by_query:
        return PrecisionRecall(sf, ldc_max=None, ldc_mean=None)
    ldc_queries = _group_by_ldc_query(sf, queries)
    ldc_max = averaged_table(in_printing_order(_rows_of_best_entry_points(ldc_queries)))
    ldc_mean = averaged_table(in_printing_order(ldc_means(ldc_queries)))
    return PrecisionRecall(sf, ldc_max, ldc_mean, ldc_queries)


def _rows_of_best_entry_points(ldc_queries: Iterable[LdcQueryRows]) -> list[ScoreRow]:
    """Return the rows of LDC-MAX: each LDC query has the rows of its best entry point, renamed after the LDC query."""
    rows: list[ScoreRow] = []
    for ldc_query in ldc_queries:
        entry_point = best_entry_point(ldc_query.entry_points)
        rows += ldc_max_rows(ldc_query.full_id, entry_point.rows)
    return rows


def best_entry_point(entry_points: EntryPoints) -> EntryPointRows:
    """Return the entry point that represents its LDC query in LDC-MAX (rule best-entry-point).

    This is the entry point with the highest F1 over all hops. Ties are resolved in favour of the entry point that comes
    first in the query file.
    """
    if len(entry_points) == 1:
        return entry_points[0]
    # Of several entry points with the highest F1, `max` returns the first.
    return max(entry_points, key=lambda entry_point: counted_f1(entry_point.rows))


def average_precision_of(
    run_id: str, rows_in_order: Iterable[ScoreRow], queries: QuerySet, rankings: Sequence[Ranking] = ()
) -> AveragePrecision:
    """Return the average precision of a run, in tables for slot-filling queries (SF) and LDC queries (LDC-MEAN).

    `run_id` is the run id to print in the rows. `rows_in_order` contains a row for each ranking of the run, in printing
    order. The table LDC-MEAN is omitted if no LDC queries were expanded.
    """
    # Editions that rank all levels pool the rows of all levels in the averages of level ALL.
    are_levels_pooled = queries.edition.ranks_all_levels
    sf = averaged_table(rows_in_order, are_levels_pooled=are_levels_pooled)
    ldc_queries = _group_by_ldc_query(sf, queries)
    ldc_mean = None
    if queries.ldc_id_by_query:
        # Sorting by name is stable, so rows with the same name remain sorted by level.
        mean_rows = sorted(ldc_means(ldc_queries), key=lambda row: row.level)
        ldc_mean = averaged_table(in_printing_order(mean_rows), are_levels_pooled=are_levels_pooled)
    return AveragePrecision(
        run_id=run_id,
        sf=sf,
        ldc_mean=ldc_mean,
        rankings=tuple(rankings),
        are_levels_pooled=are_levels_pooled,
        ldc_queries=ldc_queries,
    )


def ldc_max_rows(full_id: str, rows: Iterable[ScoreRow]) -> list[ScoreRow]:
    """Return the rows of an entry point with the names that they have in the table of LDC-MAX (rule ldc-max).

    Such a name has the id of the LDC query (`full_id`) and the first number of the class: `CSX_ENG_00fb79cef8:1:2` ->
    `CSX_0001:1`. Thus a class of the second hop has the same name as the class above it, and comes before it.
    """
    renamed_rows = []
    for row in sorted(rows, key=_query_then_children_first):
        _, *class_numbers = row.name.split(":")
        name = f"{full_id}:{class_numbers[0]}" if class_numbers else full_id
        renamed_rows.append(row._replace(name=name))
    return renamed_rows


def _query_then_children_first(row: ScoreRow) -> tuple[str, tuple[float, ...]]:
    """Return a sort key that puts the row of a query before its classes, and a class after the classes below it.

    `CSX_1:2` comes after `CSX_1:2:1`: infinity is added to the numbers of a class, which makes it the last.
    """
    query, class_numbers = row_sort_key(row.name)
    if not class_numbers:
        return query, ()
    return query, (*class_numbers, math.inf)


def member_rows_of_means(full_id: str, entry_points: EntryPoints) -> dict[tuple[str, str], list[ScoreRow]]:
    """Return the rows whose scores are averaged in LDC-MEAN, by the name and the level of the mean.

    A mean averages the rows of all entry points that have the same first class number. If the LDC query `CSX_0001`
    (`full_id`) has the entry points `CSX_ENG_00fb79cef8` and `CSX_ENG_0a1c9d3e55`, then `CSX_ENG_00fb79cef8:1`,
    `CSX_ENG_00fb79cef8:1:2` and `CSX_ENG_0a1c9d3e55:1` are members of `("CSX_0001:1", "1")`. For rankings, a mean
    averages the rows of one level.
    """
    members: dict[tuple[str, str], list[ScoreRow]] = {}
    for entry_point in sorted(entry_points):
        for row in entry_point.rows:
            name_and_level = _name_and_level_of_mean(full_id, row)
            members.setdefault(name_and_level, []).append(row)
    return members


def _name_and_level_of_mean(full_id: str, row: ScoreRow) -> tuple[str, str]:
    """Return the name and the level of the mean in LDC-MEAN that a row of an entry point belongs to.

    `CSX_ENG_00fb79cef8:1:2` belongs to `("CSX_0001:1", "1")` if the full id of the LDC query (`full_id`) is `CSX_0001`.
    """
    _, colon, components = row.name.partition(":")
    first_number = components.partition(":")[0]
    name = f"{full_id}{colon}{first_number}"
    # Only rows of rankings have no counts. They are named after the query alone, so only their level distinguishes
    # them. For other rows, the level follows from the name of the mean: 0 for a query, 1 for a class.
    is_of_ranking = row.counts is None
    level = row.level if is_of_ranking else str(name.count(":"))
    return name, level


def ldc_means(ldc_queries: Iterable[LdcQueryRows]) -> Iterator[ScoreRow]:
    """Yield the rows of LDC-MEAN (rule ldc-mean), which average the rows of the entry points of each LDC query.

    The ground truth of a mean is the largest ground truth of the rows that it averages.
    """
    for ldc_query in ldc_queries:
        members = member_rows_of_means(ldc_query.full_id, ldc_query.entry_points)
        for (name, level), rows in members.items():
            # The mean of a single row is simply its scores. Adding them to 0 would turn negative zero into 0.
            row_count = len(rows)
            scores = rows[0].scores if row_count == 1 else _means(rows, divisor=row_count)
            ground_truth = max(row.ground_truth for row in rows)
            yield ScoreRow(name, level, counts=None, scores=scores, ground_truth=ground_truth)


class QueryResult(Record, dict=True):
    """The result of one query: the tallies of its rows, and the rankings of the levels that are scored.

    `problems` are reported when the query is counted. `counting_error` and `ranking_error` are the errors that stopped
    counting or ranking; they are None if there was no error.
    """

    query: Query
    tallies: tuple[Tally, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    problems: ProblemLog = field(default_factory=ProblemLog)
    counting_error: InputError | None = None
    ranking_error: InputError | None = None

    @cached_property
    def rows(self) -> Sequence[ScoreRow]:
        """The rows of the query and of its classes in the SF table."""
        return [counted_row(tally.name, tally.counts) for tally in self.tallies]

    @cached_property
    def ranked_rows(self) -> Sequence[ScoreRow]:
        """The rows of the query in the report of average precision, one for each level."""
        return ranked_rows(self.rankings)


class UnitResult(Record):
    """The result of one unit: an LDC query with its entry points, or a query by itself.

    `assessment_by_index` has the assessment of each response that has one, and `labels_by_index` the labels of each
    response, both by the index of the response. `problems` were found when responses were matched to assessments.
    `matching_error` is the error that stopped the matching, None if there was no error.
    """

    id: str
    assessment_by_index: Mapping[int, Assessment]
    labels_by_index: Mapping[int, Labels]
    queries: tuple[QueryResult, ...]
    problems: ProblemLog
    matching_error: InputError | None = None


def tallies_of(units: Iterable[UnitResult]) -> list[tuple[Tally, UnitResult]]:
    """Return the tallies of all queries of the units, sorted by name, each with the result of its unit.

    A tally has the name and the counts of a row of the tables, and the responses that the row counts.
    """
    tallies_with_unit: list[tuple[Tally, UnitResult]] = []
    for unit in units:
        for query_result in unit.queries:
            for tally in query_result.tallies:
                tallies_with_unit.append((tally, unit))
    return sorted(tallies_with_unit, key=lambda tally_with_unit: tally_with_unit[0].name)


class PrecisionRecall(Record):
    """The tables of precision, recall and F1 of one run; the LDC variants are None if no LDC query was expanded.

    `ldc_queries` has the rows of `sf` grouped by LDC query and entry point.
    """

    sf: ResultTable
    ldc_max: ResultTable | None
    ldc_mean: ResultTable | None
    ldc_queries: tuple[LdcQueryRows, ...] = ()

    @property
    def variants(self) -> list[tuple[str, ResultTable]]:
        """The tables that exist, each with the name of its variant: `[("SF", ...), ("LDC-MAX", ...)]`."""
        tables = ((SF, self.sf), (LDC_MAX, self.ldc_max), (LDC_MEAN, self.ldc_mean))
        return [(name, table) for name, table in tables if table is not None]

    @property
    def score_by_measure(self) -> dict[Measure, float]:
        """The averages of P, R and F1 in all tables, by measure: 0.75 for the measure `SF-ALL-Micro-F1`."""
        score_by_measure = {}
        for variant, table in self.variants:
            for row in table.averages:
                average = row.name.removeprefix(f"{ALL_LEVELS}-")  # `ALL-Micro` -> `Micro`
                for statistic, score in zip(("P", "R", "F1"), row.scores):
                    measure = Measure(statistic, variant, average).at_level(row.level)
                    score_by_measure[measure] = score
        return score_by_measure


NO_RANKED_NODE: Final = "no node is ranked: no line has a node id (column 9) that begins with a colon, such as :E1"
"""The reason why a run has no average precision: its rankings can be written, but no node is in them."""


class AveragePrecision(Record):
    """The rankings of one run, sorted by query and level, and the tables of average precision that follow from them.

    `run_id` is the run id that the rows show, which is always the one in the first run line of the input.
    `are_levels_pooled` says that the averages of level ALL are made of the rows of every level, and that the rows of
    ALL count twice. `has_ranked_nodes` is False if the run has no node that can be ranked. Then the report shows zeros,
    as in the reference, but the run has no score.
    """

    run_id: str
    sf: ResultTable
    ldc_mean: ResultTable | None
    rankings: tuple[Ranking, ...] = ()
    are_levels_pooled: bool = False
    ldc_queries: tuple[LdcQueryRows, ...] = ()
    has_ranked_nodes: bool = True

    @property
    def variants(self) -> list[tuple[str, ResultTable]]:
        """The tables that exist, each with the name of its variant: `[("SF", ...), ("LDC-MEAN", ...)]`."""
        variants = [(SF, self.sf)]
        if self.ldc_mean is not None:
            variants.append((LDC_MEAN, self.ldc_mean))
        return variants

    @property
    def score_by_measure(self) -> dict[Measure, float]:
        """The macro averages of the rankings' scores in all tables, by measure: 0.5 for the measure `SF-AP`."""
        score_by_measure = {}
        for variant, table in self.variants:
            for row in table.macro:
                for statistic, score in zip(RANKING_FORMULAS, row.scores):
                    measure = Measure(statistic, variant).at_level(row.level)
                    score_by_measure[measure] = score
        return score_by_measure


class DebugText(Record):
    """The two texts of a run's debug file, which were written in parts: the paths of the files with these parts."""

    responses: Sequence[str]
    rankings: Sequence[str]


class ScoredRun(Record):
    """The result of one run.

    `average_precision` is None if scoring stopped before it was computed. `cluster_by_query` maps the full id of each
    scored query to the full id of its cluster. The queries of a cluster, such as those of an LDC query, are resampled
    together. `origin` is set if the run was scored separately in a call with other runs. If the run was scored in
    parts, `debug_text` is set, and there are no units or rankings.
    """

    run_id: str
    tables: PrecisionRecall
    units: tuple[UnitResult, ...] = ()
    average_precision: AveragePrecision | None = None
    bootstrap: Bootstrap | None = None
    cluster_by_query: Mapping[str, str] = field(default_factory=dict)
    debug_text: DebugText | None = None
    origin: Origin | None = None

    @property
    def duplicate_count(self) -> int:
        """The number of right responses in a class that has another right response."""
        return sum(row.counts.redundant for row in self.tables.sf.rows if row.counts)

    @property
    def score_by_measure(self) -> dict[Measure, float]:
        """Every average that has a value for this run, by measure; without ranked nodes, AP has no value."""
        average_precision = self.average_precision
        if average_precision is None or not average_precision.has_ranked_nodes:
            return self.tables.score_by_measure
        return self.tables.score_by_measure | average_precision.score_by_measure

    @property
    def undefined(self) -> dict[str, str]:
        """The reasons why averages have no value for this run, by the name of the measure."""
        average_precision = self.average_precision
        if average_precision is None or average_precision.has_ranked_nodes:
            return {}
        return {str(measure): NO_RANKED_NODE for measure in average_precision.score_by_measure}

    @property
    def scores(self) -> dict[str, float]:
        """Every average by the name of its measure: `{"LDC-MEAN-ALL-Macro-F1": 0.3125, "SF-AP@0": 0.75}`."""
        return {str(measure): score for measure, score in self.score_by_measure.items()}

    __repr__ = object.__repr__


class Result(Record):
    """The result of a scoring call: the runs in the order in which they were scored, and the problems that were found.

    `origin` says which task, options and inputs the result comes from. `remarks` are sentences for the user that are
    not part of the report. `has_ldc_index` says whether there are tables of LDC-MAX and LDC-MEAN. `empty_folders` lists
    the input folders that contain nothing to load. Each of them also has a remark.
    """

    options: Options
    runs: tuple[ScoredRun, ...]
    problems: tuple[Problem, ...]
    remarks: tuple[str, ...]
    has_ldc_index: bool
    origin: Origin
    empty_folders: tuple[str, ...] = ()

    def signature(self, run: ScoredRun) -> Signature:
        """Return the signature of a run, a short text that describes how its scores were computed.

        The signature includes the run id if several runs share the origin.
        """
        if run.origin is not None:  # the run was scored separately from the other runs
            return run.origin.signature
        if len(self.runs) == 1:
            return self.origin.signature
        return self.origin.signature.of_run(run.run_id)

    @property
    def error_count(self) -> int:
        """The number of errors in the report; an error that occurred several times is counted each time."""
        return sum(problem.occurrences for problem in self.problems if problem.severity == "ERROR")

    @property
    def warning_count(self) -> int:
        """The number of warnings in the report; a warning that occurred several times is counted each time."""
        return sum(problem.occurrences for problem in self.problems if problem.severity == "WARNING")


class ScoringStopped(InputError):
    """An error that ends scoring; `partial_result` holds the results that were computed before it."""

    def __init__(self, cause: InputError, partial_result: Result) -> None:
        super().__init__(cause.problem, file=cause.file, place=cause.place, remedy=cause.remedy, code=cause.code)
        self.partial_result = partial_result
