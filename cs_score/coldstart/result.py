"""The result of a Cold Start scoring: rows of scores, their projection to LDC queries, averages, and all of a run.

SF tables have a row for each query and class, or query and level; LDC-MAX has the rows of the best entry point of each
LDC query, LDC-MEAN the means over its entry points. Source: docs/background/scoring.md.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import Final, NamedTuple, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import Record, field
from cs_score.base.signature import Origin, Signature
from cs_score.coldstart.judging import Counts, Labels, Tally, sum_counts
from cs_score.coldstart.lines import Assessment, left_sum
from cs_score.coldstart.options import Options
from cs_score.coldstart.queries import Query, QuerySet, parse_query_id
from cs_score.coldstart.ranking import Ranking
from cs_score.coldstart.samples import Bootstrap
from cs_score.measures import registry as measure
from cs_score.measures.registry import LDC_MAX, LDC_MEAN, RANKED, SF, Measure, divide, f1
from cs_score.problems.log import Problem, ProblemLog

ALL_LEVELS: Final = measure.ALL_HOPS
MICRO: Final = f"{ALL_LEVELS}-{measure.MICRO}"
MACRO: Final = f"{ALL_LEVELS}-{measure.MACRO}"

_LEADING_NUMBER: Final = re.compile(r"\s*[-+]?\d+")


class ScoreRow(NamedTuple):
    """One row of a table: precision, recall and F1 of a query or class, or the measures of its rankings at a level.
    `name` is `ALL-Micro` or `ALL-Macro` for averages, `level` the hop or `ALL`; `counts` is None for means and
    rankings; rows with `ground_truth` count in the divisor of a macro average.
    """

    name: str
    level: str
    counts: Counts | None
    scores: tuple[float, ...]
    ground_truth: int

    @property
    def precision(self) -> float:
        return self.scores[0]

    @property
    def recall(self) -> float:
        return self.scores[1]

    @property
    def f1(self) -> float:
        return self.scores[2]

    @property
    def score(self) -> float:
        return self.scores[0]


# The short ids of the slot-filling queries of an LDC query, in query-file order, with their rows.
EntryPoints: TypeAlias = Sequence[tuple[str, Sequence[ScoreRow]]]


class Table(Record):
    """The rows of one variant in printing order, and their averages by level."""

    rows: tuple[ScoreRow, ...]
    micro: tuple[ScoreRow, ...]
    macro: tuple[ScoreRow, ...]

    @property
    def averages(self) -> tuple[ScoreRow, ...]:
        return self.micro + self.macro


def row_order(name: str) -> tuple[str, tuple[int, ...]]:
    """Sort key of rows: query id as text, then class numbers as numbers, then the shorter name."""
    query, colon, components = name.partition(":")
    if not colon:
        return name, ()
    if components.isdecimal():  # nearly all rows of classes
        return query, (int(components),)
    numbers = map(_LEADING_NUMBER.match, components.split(":"))
    return query, tuple(int(number.group()) if number else 0 for number in numbers)


def in_printing_order(rows: Iterable[ScoreRow]) -> list[ScoreRow]:
    return sorted(rows, key=lambda row: row_order(row.name))


def counted_row(name: str, counts: Counts, level: str | None = None) -> ScoreRow:
    """A row whose scores come from its own counts; the level is the hop of the class so named, unless given."""
    precision, recall = counts.precision, counts.recall
    scores = precision, recall, f1(precision, recall)
    return ScoreRow(name, str(name.count(":")) if level is None else level, counts, scores, counts.ground_truth)


def ranked_rows(rankings: Iterable[Ranking]) -> list[ScoreRow]:
    rows = (ScoreRow(one.query, one.level, None, one.scores, one.ground_truth or 0) for one in rankings)
    return in_printing_order(sorted(rows, key=attrgetter("level")))


def by_level(rows: Iterable[ScoreRow], all_count_for_all: bool) -> dict[str, list[ScoreRow]]:
    """The rows of each level; `all_count_for_all`: those of `ALL` are the rows of all levels, its own twice."""
    found: dict[str, list[ScoreRow]] = defaultdict(list)
    for row in rows:
        found[row.level].append(row)
        if all_count_for_all:
            found[ALL_LEVELS].append(row)
    return found


def averaged_table(ordered: Iterable[ScoreRow], *, all_count_for_all: bool = True) -> Table:
    """Rows in printing order with their averages: one row a level, `ALL` last; micro averages of those with counts."""
    rows, micro, macro = tuple(ordered), list[ScoreRow](), list[ScoreRow]()
    for level, members in sorted(by_level(rows, all_count_for_all).items()):
        if members[0].counts is not None:
            micro.append(counted_row(MICRO, sum_counts(row.counts for row in members if row.counts), level))
        # The sums of all rows, divided by the number of rows that have something to find.
        macro.append(ScoreRow(MACRO, level, None, _means(members, sum(row.ground_truth > 0 for row in members)), 0))
    return Table(rows, tuple(micro), tuple(macro))


def _means(rows: Iterable[ScoreRow], divisor: int) -> tuple[float, ...]:
    return tuple(divide(left_sum(scores), divisor) for scores in zip(*(row.scores for row in rows)))


def counted_f1(rows: Iterable[ScoreRow]) -> float:
    """F1 from the sums of the counts of some rows."""
    counts = [row.counts for row in rows if row.counts is not None]
    right, answered = sum([each.right for each in counts]), sum([each.submitted - each.ignored for each in counts])
    return float(f1(divide(right, answered), divide(right, sum([each.ground_truth for each in counts]))))


def _by_ldc_query(table: Table, queries: QuerySet) -> tuple[tuple[str, EntryPoints], ...]:
    """Each LDC query that has rows, by full id, with those of its entry points."""
    rows_of: dict[str, list[ScoreRow]] = defaultdict(list)
    for row in table.rows:
        query_id = row.name.partition(":")[0]
        short_id = query_id.rpartition("_")[2]
        if short_id not in queries.ldc_of and (parts := parse_query_id(query_id)) is not None:
            short_id = parts.base  # a row of a follow-on query belongs to the query that it starts from
        rows_of[short_id].append(row)
    found: list[tuple[str, EntryPoints]] = []
    for ldc_id in dict.fromkeys(queries.ldc_of.values()):
        query = queries.by_id[ldc_id]
        expansions = (each for each in dict.fromkeys(query.expansions or ()) if queries.ldc_of[each] == ldc_id)
        if entry_points := [(short_id, rows_of[short_id]) for short_id in expansions if short_id in rows_of]:
            found.append((query.full_id, entry_points))
    return tuple(found)


def projected(sf: Table, queries: QuerySet) -> PrecisionRecall:
    """An SF table with LDC-MAX and LDC-MEAN, where LDC queries were expanded (rules ldc-max and ldc-mean)."""
    if not queries.ldc_of:
        return PrecisionRecall(sf, None, None)
    by_ldc = _by_ldc_query(sf, queries)
    best = (row for full_id, entry_points in by_ldc for row in ldc_max_rows(full_id, representing(entry_points)[1]))
    ldc_max, ldc_mean = (averaged_table(in_printing_order(rows)) for rows in (best, ldc_means(by_ldc)))
    return PrecisionRecall(sf, ldc_max, ldc_mean, by_ldc)


def representing(entry_points: EntryPoints) -> tuple[str, Sequence[ScoreRow]]:
    """The entry point with the highest F1 over all hops, the first in query-file order where equal (rule
    best-entry-point)."""
    return entry_points[0] if len(entry_points) == 1 else max(entry_points, key=lambda item: counted_f1(item[1]))


def averaged_rankings(
    run_id: str, ordered: Iterable[ScoreRow], queries: QuerySet, rankings: Sequence[Ranking] = ()
) -> AveragePrecision:
    """The AP report with these SF rows; `run_id` is the run that its rows name."""
    for_all = queries.edition.ranks_all_levels
    sf = averaged_table(ordered, all_count_for_all=for_all)
    by_ldc, means = _by_ldc_query(sf, queries), None
    if queries.ldc_of:
        of_levels = sorted(ldc_means(by_ldc), key=attrgetter("level"))
        means = averaged_table(in_printing_order(of_levels), all_count_for_all=for_all)
    return AveragePrecision(run_id, sf, means, tuple(rankings), for_all, by_ldc)


def ldc_max_rows(full_id: str, rows: Iterable[ScoreRow]) -> list[ScoreRow]:
    """The rows of an entry point in the name of its LDC query, with the first class component only (rule ldc-max).
    Classes of the second hop so have the name of the class above them, and stand before it.
    """

    def order(row: ScoreRow) -> tuple[str, tuple[float, ...]]:
        query, components = row_order(row.name)
        # What is below a class sorts before the class itself; a query before its classes.
        return query, (*components, math.inf) if components else ()

    return [row._replace(name=":".join((full_id, *row.name.split(":", 2)[1:2]))) for row in sorted(rows, key=order)]


def mean_members(full_id: str, entry_points: EntryPoints) -> dict[tuple[str, str], list[ScoreRow]]:
    """The rows that LDC-MEAN averages in one: those of the same first class component, or rankings of one level."""
    members: dict[tuple[str, str], list[ScoreRow]] = {}
    for _, rows in sorted(entry_points):
        for row in rows:
            _, colon, components = row.name.partition(":")
            name = f"{full_id}{colon}{components.partition(':')[0]}"
            level = row.level if row.counts is None else str(name.count(":"))
            members.setdefault((name, level), []).append(row)
    return members


def ldc_means(by_ldc: Iterable[tuple[str, EntryPoints]]) -> Iterator[ScoreRow]:
    for full_id, entry_points in by_ldc:
        for (name, level), of_name in mean_members(full_id, entry_points).items():
            # A mean of one is what it is, negative zero too.
            scores = of_name[0].scores if len(of_name) == 1 else _means(of_name, len(of_name))
            yield ScoreRow(name, level, None, scores, max(row.ground_truth for row in of_name))


class QueryResult(Record, dict=True):
    """What scoring one query gave: its scored nodes, and the rankings of the levels that are scored. `problems` are
    reported when the query is counted; `uncounted` and `unranked` are why counting or ranking had to stop.
    """

    query: Query
    tallies: tuple[Tally, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    problems: ProblemLog = field(default_factory=ProblemLog)
    uncounted: InputError | None = None
    unranked: InputError | None = None

    @cached_property
    def rows(self) -> Sequence[ScoreRow]:
        return [counted_row(tally.name, tally.counts) for tally in self.tallies]

    @cached_property
    def ranked_rows(self) -> Sequence[ScoreRow]:
        return ranked_rows(self.rankings)


class UnitResult(Record):
    """What scoring one unit gave: an LDC query with its entry points, or a query by itself. By the response's index
    `matched` holds its assessment, if it has one, and `labels` what it counts as. `problems` were found while matching;
    `unmatched` is why that had to stop.
    """

    id: str
    matched: Mapping[int, Assessment]
    labels: Mapping[int, Labels]
    queries: tuple[QueryResult, ...]
    problems: ProblemLog
    unmatched: InputError | None = None


def tallies_of(units: Iterable[UnitResult]) -> list[tuple[Tally, UnitResult]]:
    """The scored nodes of all queries of some units, sorted by name as a string, each with its unit."""
    of_units = [(tally, unit) for unit in units for query in unit.queries for tally in query.tallies]
    return sorted(of_units, key=lambda item: item[0].name)


class PrecisionRecall(Record):
    """The tables of one run, without LDC variants where no LDC query was expanded; `by_ldc` are the rows of `sf` by the
    full id of the LDC query, and by entry point.
    """

    sf: Table
    ldc_max: Table | None
    ldc_mean: Table | None
    by_ldc: tuple[tuple[str, EntryPoints], ...] = ()

    @property
    def variants(self) -> list[tuple[str, Table]]:
        tables = ((SF, self.sf), (LDC_MAX, self.ldc_max), (LDC_MEAN, self.ldc_mean))
        return [(name, table) for name, table in tables if table is not None]

    @property
    def measures(self) -> dict[Measure, float]:
        return {
            Measure(statistic, name, row.name.removeprefix(f"{ALL_LEVELS}-")).at(row.level): score
            for name, table in self.variants
            for row in table.averages
            for statistic, score in zip(("P", "R", "F1"), row.scores)
        }


NO_RANKED_NODE: Final = "no node is ranked: no line has a node id (column 9) that begins with a colon, such as :E1"
"""Why a run has no average precision although its rankings can be written: all of them are empty."""


class AveragePrecision(Record):
    """The rankings of one run, sorted by query and level, and the tables made from them. `run_id` is the run that the
    rows name: that of the first run line of the input, whichever run is scored. `averages_all_levels`: the average of
    level ALL is that of the rows of all levels, those of ALL twice. Without `has_ranked_nodes` the run has nothing that
    could be ranked: the report shows zeros then, as the reference does, and there is no score.
    """

    run_id: str
    sf: Table
    ldc_mean: Table | None
    rankings: tuple[Ranking, ...] = ()
    averages_all_levels: bool = False
    by_ldc: tuple[tuple[str, EntryPoints], ...] = ()
    has_ranked_nodes: bool = True

    @property
    def variants(self) -> list[tuple[str, Table]]:
        return [(SF, self.sf), *([] if self.ldc_mean is None else [(LDC_MEAN, self.ldc_mean)])]

    @property
    def measures(self) -> dict[Measure, float]:
        return {
            Measure(statistic, name).at(row.level): score
            for name, table in self.variants
            for row in table.macro
            for statistic, score in zip(RANKED, row.scores)
        }


class DebugText(Record):
    """The two texts of a run's debug file, each in parts: the files that hold them, in order."""

    responses: Sequence[str]
    rankings: Sequence[str]


class RunResult(Record):
    """What was computed for one run. `average_precision` is None where scoring stopped before it. `unit_of` maps each
    query scored to the unit that a resample draws, by full id. `origin` is that of a run which was scored by itself
    beside others. A run that was scored in parts has its `debug_text`, and no units and rankings.
    """

    run_id: str
    tables: PrecisionRecall
    units: tuple[UnitResult, ...] = ()
    average_precision: AveragePrecision | None = None
    bootstrap: Bootstrap | None = None
    unit_of: Mapping[str, str] = field(default_factory=dict)
    debug_text: DebugText | None = None
    origin: Origin | None = None

    @property
    def duplicates(self) -> int:
        """How many lines give an answer of a class again."""
        return sum(row.counts.redundant for row in self.tables.sf.rows if row.counts)

    @property
    def measures(self) -> dict[Measure, float]:
        """Return every average that the run has a value of, by measure."""
        ranked = self.average_precision
        if ranked is None or not ranked.has_ranked_nodes:
            return self.tables.measures
        return self.tables.measures | ranked.measures

    @property
    def undefined(self) -> dict[str, str]:
        """Return the reason for each average that has no value for this run, by the name of its measure."""
        ranked = self.average_precision
        if ranked is None or ranked.has_ranked_nodes:
            return {}
        return {str(measure): NO_RANKED_NODE for measure in ranked.measures}

    @property
    def scores(self) -> dict[str, float]:
        """Every average by the name of its measure: `LDC-MEAN-ALL-Macro-F1`, `SF-AP@0`."""
        return {str(measure): score for measure, score in self.measures.items()}

    __repr__ = object.__repr__


class Result(Record):
    """A whole scoring: the runs in the order scored, the problems met, and what it was computed from. `warnings` are
    remarks that the report does not have. `has_ldc_index`: there are LDC variants.
    """

    options: Options
    runs: tuple[RunResult, ...]
    problems: tuple[Problem, ...]
    warnings: tuple[str, ...]
    has_ldc_index: bool
    origin: Origin

    def signature(self, run: RunResult) -> Signature:
        whole = (run.origin or self.origin).signature
        return whole if run.origin is not None or len(self.runs) == 1 else whole.of_run(run.run_id)

    @property
    def error_count(self) -> int:
        return sum(problem.occurrences for problem in self.problems if problem.severity == "ERROR")

    @property
    def warning_count(self) -> int:
        return sum(problem.occurrences for problem in self.problems if problem.severity == "WARNING")


class ScoringStopped(InputError):
    """A condition that ends scoring; `partial` holds what had been computed before."""

    def __init__(self, cause: InputError, partial: Result) -> None:
        super().__init__(cause.problem, file=cause.file, place=cause.place, remedy=cause.remedy, code=cause.code)
        self.partial = partial
