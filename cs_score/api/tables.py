"""The tables of results from Python, as layouts over their documents. Scores are not rounded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from cs_score.base.records import asdict
from cs_score.coldstart.documents import Scores
from cs_score.coldstart.judging import Counts, sum_counts
from cs_score.coldstart.result import ALL_LEVELS
from cs_score.evidence.report import Scores as EvidenceScores
from cs_score.measures.registry import parse
from cs_score.problems.log import Occurrence
from cs_score.statistics.units import Units
from cs_score.tables.layout import Column, Layout, Rows, Table, columns


def _layout(name: str, keys: str, rows: Rows, **meanings: str) -> Layout:
    """A table with the columns of these keys, and what some of them mean."""
    return Layout(name, "", tuple(Column(key, meaning=meanings.get(key, "")) for key in keys.split()), rows)


def _scores(document: Scores) -> Iterable[Mapping[str, Any]]:
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for run in document.runs:
        for name, score in run.scores.items():
            measure = parse(name)
            average = f"{measure.table}-ALL-{measure.average}" if measure.average else measure.table
            key = {"run_id": run.run_id, "average": average, "hop": measure.level}
            rows.setdefault((run.run_id, average, measure.level), key)[measure.statistic] = score
    return rows.values()


SCORES: Final = _layout("scores", "run_id average hop P R F1 AP", _scores, hop="as text; ALL: all hops")
"""Every average, as in .summary and .ap."""

_COUNTS: Final = (
    "ground_truth submitted correct incorrect inexact incorrect_parent unassessed redundant right wrong ignored "
    "precision recall f1"
)
_TO_BE_FOUND: Final = "classes to be found"


def _table_rows(document: Scores) -> Iterator[Mapping[str, Any]]:
    for run in document.runs:
        for table, of_table in (run.tables or {}).items():
            for row in of_table.rows:
                counts = {} if row.counts is None else asdict(row.counts)
                yield {"run_id": run.run_id, "table": table, **asdict(row), **counts}


ROWS: Final = _layout(
    "rows",
    f"run_id table name level {_COUNTS}",
    _table_rows,
    table="SF, LDC-MAX or LDC-MEAN",
    level="the hop, as text",
    ground_truth=_TO_BE_FOUND,
)
"""Rows of the score tables without averages, a query or a class of its answers each; means of LDC-MEAN have no counts.
"""


def _queries(document: Scores) -> Iterator[Mapping[str, Any]]:
    for run in document.runs:
        counts_of: dict[str, list[Counts]] = defaultdict(list)
        for row in run.tables["SF"].rows if run.tables and "SF" in run.tables else ():
            if row.counts is not None:
                counts_of[row.name.partition(":")[0]].append(row.counts)
        ranked = (run.average_precision.tables if run.average_precision else {}).get("SF")
        of_all = [row for row in ranked.rows if row.level == ALL_LEVELS] if ranked else []
        scores = {row.name: row.average_precision for row in of_all}
        for query, unit in (run.queries or {}).items():
            counts = sum_counts(counts_of[query])
            ratios = {"precision": counts.precision, "recall": counts.recall, "f1": counts.f1}
            own = {"run_id": run.run_id, "query": query, "unit": unit, "average_precision": scores.get(query)}
            yield {**own, **asdict(counts), **ratios}


QUERIES: Final = _layout(
    "queries",
    f"run_id query unit {_COUNTS} average_precision",
    _queries,
    unit="what resampling draws: its LDC query where that is known, else the query itself",
    ground_truth=_TO_BE_FOUND,
    average_precision="of all hops; missing where there is no ranking",
)
"""Slot-filling queries with all their rows of the SF table added up."""


def _responses(document: Scores) -> Iterator[Mapping[str, Any]]:
    for run in document.runs:
        for each in run.responses or ():
            row = {**asdict(each), "run_id": run.run_id, "post_policy": ",".join(each.post_policy)}
            if (met := each.assessment) is not None:
                row |= {"assessment_file": met.file, "assessment_line": met.line, "assessment_class": met.class_}
            yield row


RESPONSES: Final = _layout(
    "responses",
    "run_id row query file line node value confidence assessment_file assessment_line assessment_class pre_policy "
    "post_policy",
    _responses,
    row="the query or class below which it counts",
    query="the query that it answers",
    node="its node with the query before it; missing in layouts without nodes",
    assessment_file="of the assessment that it matched, as the next two; missing where none did",
    pre_policy="the category before the policies",
    post_policy="what they made of it, commas between several",
)
"""Lines of the run that were counted, and what they counted as."""


def _rankings(document: Scores) -> Iterator[Mapping[str, Any]]:
    for run in document.runs:
        for ranking in run.average_precision.rankings if run.average_precision else ():
            head = {**asdict(ranking), "run_id": run.run_id}
            yield from ({**head, **asdict(node), "rank": rank} for rank, node in enumerate(ranking.nodes, 1))
            if not ranking.nodes:
                yield head


RANKINGS: Final = _layout(
    "rankings",
    "run_id query level average_precision ground_truth rank node confidence mapped_class value line",
    _rankings,
    level="a hop or ALL",
    average_precision="of the whole ranking",
    ground_truth="what it is divided by; missing where the slot is unknown",
    rank="from 1",
    mapped_class="missing where no class was free",
    value="V, what the node adds; at least 0",
    line="the number of its first line",
)
"""Nodes in the ranking of a query at a level; a ranking without nodes has one row without rank."""


def _problems(document: Scores) -> Iterator[Mapping[str, Any]]:
    for problem in document.problems or ():
        for place in problem.places:
            yield {**asdict(problem), **({} if place is None else asdict(place))}


PROBLEMS: Final = _layout(
    "problems",
    "code severity message occurrences file line",
    _problems,
    occurrences="at all places of the message",
    line="a number, or text such as `In query CSX_0001` where the place is no line",
)
"""A row for each place."""


def _unit_rows(units: Units, **run: str) -> Iterator[Mapping[str, Any]]:
    return ({**run, "id": name, **dict(zip(units.columns, row))} for name, row in zip(units.ids, units.rows))


def units_of_runs(document: Scores) -> Table:
    """What each unit that resampling draws adds to the averages."""
    names = dict.fromkeys(name for run in document.runs if run.units for name in run.units.columns)
    rows = (row for run in document.runs if run.units for row in _unit_rows(run.units, run_id=run.run_id))
    return Layout("units", "", columns("run_id", "id", *names), lambda _: rows).table(document)


def units_of_predictions(document: EvidenceScores) -> Table:
    """The statistics of each claim, instance or question, of whose sums every measure is made."""
    units = document.units
    assert units
    return Layout("units", "", columns("id", *units.columns), lambda _: _unit_rows(units)).table(document)


INTERVALS: Final = _layout(
    "intervals",
    "measure score low high note",
    lambda found: (
        {**asdict(one), "measure": name, "score": one.point, "note": one.note or None}
        for name, one in found.scores.items()
    ),
)


def _occurrences(found: Iterable[Occurrence]) -> Iterator[Mapping[str, Any]]:
    return ({**asdict(each), "severity": str(each.severity)} for each in found)


OCCURRENCES: Final = _layout(
    "problems",
    "code severity message file line within column text repaired times",
    _occurrences,
    within="a place that is no line, such as a query",
    column="the name of the column",
    text="what is wrong, as written",
    repaired="what stands for it from now on",
    times="how often it was counted",
)
"""Problems in the order of files, lines and codes."""
