"""The tables of results in Python. A layout makes the rows of a table from the document of a result, the record that
is written as JSON. No number is rounded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from cs_score.base.records import asdict
from cs_score.coldstart.judging import Counts, sum_counts
from cs_score.coldstart.result import ALL_LEVELS
from cs_score.measures import parse_measure
from cs_score.tables.layout import Column, Layout, Rows, Table, columns

if TYPE_CHECKING:
    from cs_score.coldstart.score_documents import RunScoresDocument
    from cs_score.evidence.report import PredictionScores
    from cs_score.problems.log import Occurrence
    from cs_score.statistics.results import ScoreIntervals
    from cs_score.statistics.units import Units


def _layout(name: str, keys: str, rows: Rows, **meanings: str) -> Layout:
    """Return the layout of the table called `name`.

    `keys` are the names of its columns, separated by blanks (`"run_id query line"`). `meanings` explain some of the
    columns. `rows` is the function that returns the rows of the table for a document.
    """
    table_columns = [Column(key, meaning=meanings.get(key, "")) for key in keys.split()]
    no_title = ""  # titles are for people
    return Layout(name, no_title, tuple(table_columns), rows)


# ---- Averages


def _score_rows(document: RunScoresDocument) -> Iterable[Mapping[str, Any]]:
    """Return a row for each run, average and hop: `{"average": "SF-ALL-Micro", "hop": "0", "P": .5, "R": .4, ...}`.

    A document has each score by its name, `SF-ALL-Micro-P@0`; a row has all scores of an average and a hop.
    """
    row_by_key: dict[tuple[str, str, str], dict[str, Any]] = {}
    for run in document.runs:
        for name, score in run.scores.items():
            measure = parse_measure(name)
            # `SF-ALL-Micro` for the micro-average of the table SF; average precision has only the name of its table.
            name_of_average = f"{measure.table}-ALL-{measure.average}" if measure.average else measure.table
            key = (run.run_id, name_of_average, measure.level)  # the level of a measure is the hop
            if key not in row_by_key:
                row_by_key[key] = {"run_id": run.run_id, "average": name_of_average, "hop": measure.level}
            row_by_key[key][measure.statistic] = score
    return row_by_key.values()


SCORES: Final = _layout("scores", "run_id average hop P R F1 AP", _score_rows, hop="as text; ALL: all hops")
"""Every average, as in .summary and .ap."""

# ---- Rows of the score tables

_COUNTS: Final = (
    "ground_truth submitted correct incorrect inexact incorrect_parent unassessed redundant right wrong ignored "
    "precision recall f1"
)
_TO_BE_FOUND: Final = "classes to be found"


def _score_table_rows(document: RunScoresDocument) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of each run's score tables. Each is about a query or an equivalence class; averages are left out.

    A row of the table `rows` has the name and the scores of a row of a score table, and a separate column for each of
    its counts: `{"table": "SF", "name": "CS14_0001", "right": 3, ..., "precision": 0.75, ...}`.
    """
    for run in document.runs:
        table_by_name = run.tables or {}
        for table_name, table in table_by_name.items():
            for score_row in table.rows:
                counts = {} if score_row.counts is None else asdict(score_row.counts)
                row = {"run_id": run.run_id, "table": table_name}
                row |= asdict(score_row)
                row |= counts
                yield row


ROWS: Final = _layout(
    "rows",
    f"run_id table name level {_COUNTS}",
    _score_table_rows,
    table="SF, LDC-MAX or LDC-MEAN",
    level="the hop, as text",
    ground_truth=_TO_BE_FOUND,
)
"""Rows of the score tables without averages, a query or a class of its answers each; means of LDC-MEAN have no counts.
"""

# ---- Queries


def _query_rows(document: RunScoresDocument) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each run and query: the sums of its rows in the SF table, and its average precision."""
    for run in document.runs:
        counts_by_query = _counts_by_query(run)
        average_precision_by_query = _average_precision_by_query(run)
        for query, unit in (run.queries or {}).items():
            row: dict[str, Any] = {"run_id": run.run_id, "query": query, "unit": unit}
            row |= _summed_row(counts_by_query[query])
            row["average_precision"] = average_precision_by_query.get(query)
            yield row


def _summed_row(counts_of_rows: Iterable[Counts]) -> dict[str, Any]:
    """Return the sum of the counts of some rows, and the scores that are computed from it.

    For example `{"right": 3, "wrong": 1, ..., "precision": 0.75, "recall": 0.5, "f1": 0.6}`.
    """
    counts = sum_counts(counts_of_rows)
    row: dict[str, Any] = asdict(counts)
    row["precision"] = counts.precision
    row["recall"] = counts.recall
    row["f1"] = counts.f1
    return row


def _counts_by_query(run: Any) -> Mapping[str, list[Counts]]:
    """Return the counts of the rows of a run's SF table in lists by query, `{"CS14_0001": [counts, ...]}`.

    A query without rows has an empty list.
    """
    counts_by_query: dict[str, list[Counts]] = defaultdict(list)  # looking up any query gives a list
    if run.tables and "SF" in run.tables:
        for row in run.tables["SF"].rows:
            if row.counts is not None:
                query = row.name.partition(":")[0]  # the row of a class is called QUERY:CLASS
                counts_by_query[query].append(row.counts)
    return counts_by_query


def _average_precision_by_query(run: Any) -> dict[str, float | None]:
    """Return the average precision of a run over all hops, by query: `{"CS14_0001": 0.5}`.

    The dictionary is empty if the run has no rankings.
    """
    if not run.average_precision or "SF" not in run.average_precision.tables:
        return {}
    rows = run.average_precision.tables["SF"].rows
    return {row.name: row.average_precision for row in rows if row.level == ALL_LEVELS}


QUERIES: Final = _layout(
    "queries",
    f"run_id query unit {_COUNTS} average_precision",
    _query_rows,
    unit="what resampling draws: its LDC query where that is known, else the query itself",
    ground_truth=_TO_BE_FOUND,
    average_precision="of all hops; missing where there is no ranking",
)
"""Slot-filling queries with all their rows of the SF table added up."""

# ---- Responses


def _response_rows(document: RunScoresDocument) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each response of each run, with the place of its assessment.

    `post_policy` has the labels that the policy gave it, such as `CORRECT,RIGHT`.
    """
    for run in document.runs:
        for response in run.responses or ():
            row = asdict(response)
            row["run_id"] = run.run_id
            row["post_policy"] = ",".join(response.post_policy)
            assessment = response.assessment
            if assessment is not None:
                row["assessment_file"] = assessment.file
                row["assessment_line"] = assessment.line
                row["assessment_class"] = assessment.class_
            yield row


RESPONSES: Final = _layout(
    "responses",
    "run_id row query file line node value confidence assessment_file assessment_line assessment_class pre_policy "
    "post_policy",
    _response_rows,
    row="the query or class below which it counts",
    query="the query that it answers",
    node="its node with the query before it; missing in layouts without nodes",
    assessment_file="of the assessment that it matched, as the next two; missing where none did",
    pre_policy="the category before the policies",
    post_policy="what they made of it, commas between several",
)
"""Lines of the run that were counted, and what they counted as."""

# ---- Rankings


def _ranking_rows(document: RunScoresDocument) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each node of each ranking, with its rank from 1 and the average precision of the ranking.

    A ranking without nodes has one row, which has no rank.
    """
    for run in document.runs:
        if not run.average_precision:
            continue
        for ranking in run.average_precision.rankings:
            row_of_ranking = asdict(ranking)  # with the list of nodes, for which the table has no column
            row_of_ranking["run_id"] = run.run_id
            if not ranking.nodes:
                yield row_of_ranking
            for rank, node in enumerate(ranking.nodes, 1):
                row_of_node = row_of_ranking | asdict(node)
                row_of_node["rank"] = rank
                yield row_of_node


RANKINGS: Final = _layout(
    "rankings",
    "run_id query level average_precision ground_truth rank node confidence mapped_class value line",
    _ranking_rows,
    level="a hop or ALL",
    average_precision="of the whole ranking",
    ground_truth="what it is divided by; missing where the slot is unknown",
    rank="from 1",
    mapped_class="missing where no class was free",
    value="V, what the node adds; at least 0",
    line="the number of its first line",
)
"""Nodes in the ranking of a query at a level; a ranking without nodes has one row without rank."""

# ---- Problems of a scoring


def _problem_rows(document: RunScoresDocument) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each place of each problem that was met in scoring.

    A row has the problem's code, severity, message and number of occurrences, and the file and line of the place:
    `{"code": "DUPLICATE_LINE", ..., "file": "run.tab", "line": 7}`. A problem without a place has a single row, in
    which file and line are missing.
    """
    for problem in document.problems or ():
        for place in problem.places:
            row = asdict(problem)  # with the list of places, for which the table has no column
            if place is not None:
                row |= asdict(place)
            yield row


PROBLEMS: Final = _layout(
    "problems",
    "code severity message occurrences file line",
    _problem_rows,
    occurrences="at all places of the message",
    line="a number, or text such as `In query CSX_0001` where the place is no line",
)
"""A row for each place."""

# ---- Units


def units_of_runs(document: RunScoresDocument) -> Table:
    """Return a table with a row for each unit of each run: its id and its statistics, such as the number right.

    A unit, such as a query, is what resampling draws. Averages are computed from the sums of these statistics.
    """
    statistics: dict[str, None] = {}  # the names of all runs' statistics, each once, in order
    rows: list[dict[str, Any]] = []
    for run in document.runs:
        if not run.units:
            continue
        statistics |= dict.fromkeys(run.units.columns)
        for row in _unit_rows(run.units):
            row["run_id"] = run.run_id
            rows.append(row)
    return _table_of_units(["run_id", "id", *statistics], rows)


def units_of_predictions(document: PredictionScores) -> Table:
    """Return a table with a row for each claim, instance or question: its id and its statistics (counts).

    Every measure is computed from the sums of these statistics.
    """
    units = document.units
    assert units  # every result has them: those without are refused when they are loaded
    rows = list(_unit_rows(units))
    return _table_of_units(["id", *units.columns], rows)


def _table_of_units(keys: Iterable[str], rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return the table `units` with the columns `keys` and these rows, which are dictionaries by column."""
    layout = Layout("units", "", columns(*keys), rows=lambda rows_of_table: rows_of_table)
    return layout.table(rows)


def _unit_rows(units: Units) -> Iterator[dict[str, Any]]:
    """Yield a row for each unit with its id and its statistics: `{"id": "CS14_0001", "right": 3, ...}`."""
    for unit_id, statistics in zip(units.ids, units.rows):
        row: dict[str, Any] = {"id": unit_id}
        row.update(zip(units.columns, statistics))
        yield row


# ---- Intervals and problems of a validation


def _interval_rows(intervals: ScoreIntervals) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each measure with its score, the limits of its interval, and a note on these.

    The note is None if there is nothing to say of the limits.
    """
    for measure, interval in intervals.scores.items():
        yield {
            "measure": measure,
            "score": interval.point,
            "low": interval.low,
            "high": interval.high,
            "note": interval.note or None,
        }


INTERVALS: Final = _layout("intervals", "measure score low high note", _interval_rows)
"""The bootstrap intervals of the scores."""


def _occurrence_rows(occurrences: Iterable[Occurrence]) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each problem that a validation found, with its severity as text."""
    for occurrence in occurrences:
        row = asdict(occurrence)
        row["severity"] = str(occurrence.severity)
        yield row


OCCURRENCES: Final = _layout(
    "problems",
    "code severity message file line within column text repaired times",
    _occurrence_rows,
    within="a place that is no line, such as a query",
    column="the name of the column",
    text="what is wrong, as written",
    repaired="what stands for it from now on",
    times="how often it was counted",
)
"""Problems in the order of files, lines and codes."""
