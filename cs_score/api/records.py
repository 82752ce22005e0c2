"""The rows of results as plain records: one kind for each thing that a table can be about.

The fields of a record are the columns of the frame of that kind, in this order. Counts and scores are those of the
output files; scores are not rounded. Rows of a Cold Start result are read off its document, the JSON of `--json`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from msgspec.structs import astuple

from cs_score.base.errors import UsageError
from cs_score.base.nearest import nearest
from cs_score.coldstart.documents import FoundProblem, RunScores
from cs_score.coldstart.judging import Counts, sum_counts
from cs_score.coldstart.result import ALL_LEVELS

if TYPE_CHECKING:
    from cs_score.statistics.results import ScoreIntervals

Values: TypeAlias = tuple[object, ...]
"""The fields of one record, in their order."""

Of = TypeVar("Of")


class TableRow(NamedTuple):
    """One row of a score table, without the averages: a query or a class of its answers (specification 8 and 10.3).

    `table` is `SF`, `LDC-MAX` or `LDC-MEAN`, `level` the hop as text. The counts are numbers of responses, but for
    `ground_truth`, the number of classes to be found; rows of `LDC-MEAN` are means and have none. `precision`, `recall`
    and `f1` lie between 0 and 1.
    """

    run_id: str
    table: str
    name: str
    level: str
    ground_truth: int | None
    submitted: int | None
    correct: int | None
    incorrect: int | None
    inexact: int | None
    incorrect_parent: int | None
    unassessed: int | None
    redundant: int | None
    right: int | None
    wrong: int | None
    ignored: int | None
    precision: float
    recall: float
    f1: float


class QueryRow(NamedTuple):
    """One slot-filling query with all its rows of the SF table added up.

    `unit` is the LDC query that it comes from where that is known, else the query itself; units are what resampling
    draws. `precision`, `recall` and `f1` (0 to 1) are those of the counts, over all hops; `average_precision` is that
    of all hops, None where there is no ranking.
    """

    run_id: str
    query: str
    unit: str
    ground_truth: int
    submitted: int
    correct: int
    incorrect: int
    inexact: int
    incorrect_parent: int
    unassessed: int
    redundant: int
    right: int
    wrong: int
    ignored: int
    precision: float
    recall: float
    f1: float
    average_precision: float | None


class ResponseRow(NamedTuple):
    """One line of the run that was counted, and what it counted as (specification 7 and 10.5).

    `row` is the query or class below which it counts, `query` the query that it answers; `line` is its number in
    `file`, from 1. `node` is its node with the query before it, None in layouts without nodes. `confidence` is that of
    the line. The assessment is given by its file, line and equivalence class (all None where there is none).
    `pre_policy` is the category before the policies, `post_policy` what they made of it, with commas between several.
    """

    run_id: str
    row: str
    query: str
    file: str
    line: int
    node: str | None
    value: str
    confidence: float
    assessment_file: str | None
    assessment_line: int | None
    assessment_class: str | None
    pre_policy: str
    post_policy: str


class RankingRow(NamedTuple):
    """One node in the ranking of a query at a level; a ranking without nodes has one record without `rank` (9).

    `level` is a hop or `ALL`; `average_precision` and `ground_truth`, the number that it is divided by (None where the
    slot is unknown), are those of the whole ranking. `rank` counts from 1; `value` (V) is what the node adds, at least
    0; `mapped_class` is None where no class was free; `line` is the number of its first line.
    """

    run_id: str
    query: str
    level: str
    average_precision: float
    ground_truth: int | None
    rank: int | None
    node: str | None
    confidence: float | None
    mapped_class: str | None
    value: float | None
    line: int | None


class ProblemRow(NamedTuple):
    """One problem at one place (12).

    `occurrences` counts all places of the message; `line` is a number, or text such as `In query CSX_0001` where the
    place is no line.
    """

    code: str
    severity: str
    message: str
    occurrences: int
    file: str | None
    line: int | str | None


RECORDS: Final[Mapping[str, type[TableRow | QueryRow | ResponseRow | RankingRow | ProblemRow]]] = {
    "rows": TableRow,
    "queries": QueryRow,
    "responses": ResponseRow,
    "rankings": RankingRow,
    "problems": ProblemRow,
}
"""The kinds of records of a Cold Start result, by the name that `rows` and `to_frame` take."""


class IntervalRow(NamedTuple):
    """The interval of one score.

    `score` (0 to 1) with the limits of its interval and its standard error, None where too many resamples are
    undefined; `note` is what a reader must know of it, empty where there is nothing.
    """

    measure: str
    score: float
    low: float | None
    high: float | None
    standard_error: float | None
    note: str


def interval_rows(found: ScoreIntervals) -> list[IntervalRow]:
    """The intervals as records, in the order of tables."""
    return [
        IntervalRow(measure, one.point, one.low, one.high, one.standard_error, one.note)
        for measure, one in found.scores.items()
    ]


def known(records: Mapping[str, Of], kind: str) -> Of:
    """The record of a kind. Raises UsageError where there is none."""
    if kind not in records:
        raise UsageError(f"no records called {kind!r}; there are {', '.join(records)}{nearest(str(kind), records)}")
    return records[kind]


def field_types(record: type) -> dict[str, str]:
    """The fields of a record with their types, as they are written above."""
    return {
        name: str(getattr(given, "__forward_arg__", given))  # a named tuple keeps them as references to come
        for name, given in record.__annotations__.items()
    }


def _table_rows(run: RunScores) -> Iterator[Values]:
    for table, of_table in (run.tables or {}).items():
        for row in of_table.rows:
            counts = (None,) * len(Counts._fields) if row.counts is None else astuple(row.counts)
            yield (run.run_id, table, row.name, row.level, *counts, row.precision, row.recall, row.f1)


def _query_rows(run: RunScores) -> Iterator[Values]:
    counts_of: dict[str, list[Counts]] = defaultdict(list)
    for row in run.tables["SF"].rows if run.tables else ():
        if row.counts is not None:
            counts_of[row.name.partition(":")[0]].append(Counts(*astuple(row.counts)))
    ranked = run.average_precision.tables["SF"].rows if run.average_precision else ()
    scores = {row.name: row.average_precision for row in ranked if row.level == ALL_LEVELS}
    for query, unit in (run.queries or {}).items():
        counts = sum_counts(counts_of[query])
        yield (run.run_id, query, unit, *counts, counts.precision, counts.recall, counts.f1, scores.get(query))


def _response_rows(run: RunScores) -> Iterator[Values]:
    for each in run.responses or ():
        met = (None, None, None) if each.assessment is None else astuple(each.assessment)
        head = (run.run_id, each.row, each.query, each.file, each.line, each.node, each.value, each.confidence)
        yield (*head, *met, each.pre_policy, ",".join(each.post_policy))


def _ranking_rows(run: RunScores) -> Iterator[Values]:
    for ranking in run.average_precision.rankings if run.average_precision else ():
        head = (run.run_id, ranking.query, ranking.level, ranking.average_precision, ranking.ground_truth)
        for rank, node in enumerate(ranking.nodes, 1):
            yield (*head, rank, *astuple(node))
        if not ranking.nodes:
            yield (*head, None, None, None, None, None, None)


def problem_rows(problem: FoundProblem) -> Iterator[Values]:
    """The values of the records of a problem."""
    for place in problem.places:
        where = (None, None) if place is None else (place.file, place.line)
        yield (problem.code, problem.severity, problem.message, problem.occurrences, *where)


ROWS_OF_RUN: Final[Mapping[str, tuple[Callable[[RunScores], Iterator[Values]], tuple[str, ...]]]] = {
    "rows": (_table_rows, ("tables",)),
    "queries": (_query_rows, ("queries", "tables", "average_precision")),
    "responses": (_response_rows, ("responses",)),
    "rankings": (_ranking_rows, ("average_precision",)),
}
"""Kind of record -> the values of the records of a run, and the members of its document that they are read off."""
