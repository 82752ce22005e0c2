"""The values of the records, read off a Cold Start result one after the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from cs_score.api.kinds import Values
from cs_score.coldstart.judging import Counts, pre_policy_category, sum_counts, without
from cs_score.coldstart.projection import ALL_LEVELS
from cs_score.coldstart.result import Result, RunResult

_NO_COUNTS: Final = (None,) * len(Counts._fields)


def _table_rows(result: Result) -> Iterator[Values]:
    for run in result.runs:
        for table, rows in run.tables.variants:
            for row in rows.rows:
                counts = _NO_COUNTS if row.counts is None else row.counts
                yield (run.run_id, table, row.name, row.level, *counts, row.precision, row.recall, row.f1)


def _query_rows(result: Result) -> Iterator[Values]:
    for run in result.runs:
        counts_of: dict[str, list[Counts]] = defaultdict(list)
        for row in run.tables.sf.rows:
            if row.counts is not None:
                counts_of[row.name.partition(":")[0]].append(row.counts)
        ranked = {} if run.average_precision is None else _average_precisions(run)
        for query, unit in run.unit_of.items():
            yield query_values(run.run_id, query, unit, sum_counts(counts_of[query]), ranked.get(query))


def query_values(run_id: str, query: str, unit: str, counts: Counts, average_precision: float | None) -> Values:
    """The fields of the record of a query with these counts."""
    return (run_id, query, unit, *counts, counts.precision, counts.recall, counts.f1, average_precision)


def _average_precisions(run: RunResult) -> dict[str, float]:
    """Those of all hops by the full id of the query."""
    assert run.average_precision is not None
    return {row.name: row.score for row in run.average_precision.sf.rows if row.level == ALL_LEVELS}


def _response_rows(result: Result) -> Iterator[Values]:
    for run in result.runs:
        for tally, unit in run.tallies():
            for response in tally.responses:
                assessment = unit.matched.get(response.index)
                category = pre_policy_category(assessment)
                yield (
                    run.run_id,
                    tally.name,
                    response.query.full_id,
                    response.file,
                    response.number,
                    response.node,
                    response.value,
                    response.confidence,
                    None if assessment is None else assessment.file,
                    None if assessment is None else assessment.number,
                    None if assessment is None else assessment.value_class,
                    category,
                    ",".join(without(unit.labels[response.index], category)),
                )


def _ranking_rows(result: Result) -> Iterator[Values]:
    for run in result.runs:
        for ranking in () if run.average_precision is None else run.average_precision.rankings:
            head = (run.run_id, ranking.query, ranking.level, ranking.score, ranking.ground_truth)
            for rank, node in enumerate(ranking.nodes, 1):
                yield (*head, rank, node.name, node.confidence, node.mapped_class, node.value, node.first.number)
            if not ranking.nodes:
                yield (*head, None, None, None, None, None, None)


def _problem_rows(result: Result) -> Iterator[Values]:
    for problem in result.problems:
        for place in problem.places:
            file, line = (None, None) if place is None else (place.file, place.line)
            yield (problem.code, str(problem.severity), problem.message, problem.occurrences, file, line)


ROWS: Final[Mapping[str, Callable[[Result], Iterator[Values]]]] = {
    "rows": _table_rows,
    "queries": _query_rows,
    "responses": _response_rows,
    "rankings": _ranking_rows,
    "problems": _problem_rows,
}
"""The values of each kind of record."""
