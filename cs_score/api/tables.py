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
from cs_score.tables.layout import Column, Layout, Table, columns

_RUN: Final = Column("run_id")
_COUNTS: Final = (
    Column("ground_truth", meaning="classes to be found"),
    *columns("submitted", "correct", "incorrect", "inexact", "incorrect_parent", "unassessed", "redundant"),
    *columns("right", "wrong", "ignored"),
)
_RATIOS: Final = columns("precision", "recall", "f1")


def _scores(document: Scores) -> Iterator[Mapping[str, Any]]:
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    for run in document.runs:
        for name, score in run.scores.items():
            measure = parse(name)
            average = f"{measure.table}-ALL-{measure.average}" if measure.average else measure.table
            key = {"run_id": run.run_id, "average": average, "hop": measure.level}
            rows.setdefault((run.run_id, average, measure.level), key)[measure.statistic] = score
    return iter(rows.values())


def _table_rows(document: Scores) -> Iterator[Mapping[str, Any]]:
    for run in document.runs:
        for table, of_table in (run.tables or {}).items():
            for row in of_table.rows:
                counts = {} if row.counts is None else asdict(row.counts)
                yield {"run_id": run.run_id, "table": table, **asdict(row), **counts}


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


def _responses(document: Scores) -> Iterator[Mapping[str, Any]]:
    for run in document.runs:
        for each in run.responses or ():
            row = {**asdict(each), "run_id": run.run_id, "post_policy": ",".join(each.post_policy)}
            if (met := each.assessment) is not None:
                row |= {"assessment_file": met.file, "assessment_line": met.line, "assessment_class": met.class_}
            yield row


def _rankings(document: Scores) -> Iterator[Mapping[str, Any]]:
    for run in document.runs:
        for ranking in run.average_precision.rankings if run.average_precision else ():
            head = {**asdict(ranking), "run_id": run.run_id}
            yield from ({**head, **asdict(node), "rank": rank} for rank, node in enumerate(ranking.nodes, 1))
            if not ranking.nodes:
                yield head


def _problems(document: Scores) -> Iterator[Mapping[str, Any]]:
    for problem in document.problems or ():
        for place in problem.places:
            yield {**asdict(problem), **({} if place is None else asdict(place))}


def _unit_rows(units: Units) -> Iterator[Mapping[str, Any]]:
    return ({"id": name, **dict(zip(units.columns, row))} for name, row in zip(units.ids, units.rows))


def _occurrences(found: Iterable[Occurrence]) -> Iterator[Mapping[str, Any]]:
    return ({**asdict(each), "severity": str(each.severity)} for each in found)


ROWS: Final = Layout(
    "rows",
    "Rows of the score tables without averages, a query or a class of its answers each; means of "
    "LDC-MEAN have no counts:",
    (
        _RUN,
        Column("table", meaning="SF, LDC-MAX or LDC-MEAN"),
        Column("name"),
        Column("level", meaning="the hop, as text"),
        *_COUNTS,
        *_RATIOS,
    ),
    _table_rows,
)
QUERIES: Final = Layout(
    "queries",
    "Slot-filling queries with all their rows of the SF table added up:",
    (
        _RUN,
        Column("query"),
        Column("unit", meaning="what resampling draws: its LDC query where that is known, else the query itself"),
        *_COUNTS,
        *_RATIOS,
        Column("average_precision", meaning="of all hops; missing where there is no ranking"),
    ),
    _queries,
)
RESPONSES: Final = Layout(
    "responses",
    "Lines of the run that were counted, and what they counted as:",
    (
        _RUN,
        Column("row", meaning="the query or class below which it counts"),
        Column("query", meaning="the query that it answers"),
        *columns("file", "line"),
        Column("node", meaning="its node with the query before it; missing in layouts without nodes"),
        *columns("value", "confidence"),
        Column("assessment_file", meaning="of the assessment that it matched, as the next two; missing where none did"),
        *columns("assessment_line", "assessment_class"),
        Column("pre_policy", meaning="the category before the policies"),
        Column("post_policy", meaning="what they made of it, commas between several"),
    ),
    _responses,
)
RANKINGS: Final = Layout(
    "rankings",
    "Nodes in the ranking of a query at a level; a ranking without nodes has one row without rank:",
    (
        _RUN,
        Column("query"),
        Column("level", meaning="a hop or ALL"),
        Column("average_precision", meaning="of the whole ranking"),
        Column("ground_truth", meaning="what it is divided by; missing where the slot is unknown"),
        Column("rank", meaning="from 1"),
        *columns("node", "confidence"),
        Column("mapped_class", meaning="missing where no class was free"),
        Column("value", meaning="V, what the node adds; at least 0"),
        Column("line", meaning="the number of its first line"),
    ),
    _rankings,
)
PROBLEMS: Final = Layout(
    "problems",
    "Problems, a row for each place:",
    (
        *columns("code", "severity", "message"),
        Column("occurrences", meaning="at all places of the message"),
        Column("file"),
        Column("line", meaning="a number, or text such as `In query CSX_0001` where the place is no line"),
    ),
    _problems,
)
SCORES: Final = Layout(
    "scores",
    "Every average by table, average and hop, as in .summary and .ap:",
    (_RUN, Column("average"), Column("hop", meaning="as text; ALL: all hops"), *columns("P", "R", "F1", "AP")),
    _scores,
)


def units_of_runs(document: Scores) -> Table:
    """The statistics of each unit, of which all averages are made."""
    names = dict.fromkeys(name for run in document.runs if run.units for name in run.units.columns)
    title = "What each unit that resampling draws adds to the averages:"
    layout = Layout(
        "units",
        title,
        (_RUN, *columns("id", *names)),
        lambda document: (
            {"run_id": run.run_id, **row} for run in document.runs if run.units for row in _unit_rows(run.units)
        ),
    )
    return layout.table(document)


def units_of_predictions(document: EvidenceScores) -> Table:
    """The statistics of each claim, instance or question, as --per-item writes them."""
    units = document.units
    assert units
    title = "The statistics of each unit, of whose sums every measure is made:"
    return Layout("units", title, columns("id", *units.columns), lambda _: _unit_rows(units)).table(document)


SCORES_OF_PREDICTIONS: Final = Layout(
    "scores",
    "Every official measure:",
    columns("measure", "score"),
    lambda document: ({"measure": name, "score": score} for name, score in document.scores.items()),
)

INTERVALS: Final = Layout(
    "intervals",
    "Scores with the limits of their bootstrap intervals and their standard errors:",
    columns("measure", "score", "low", "high", "standard_error", "note"),
    lambda found: (
        {**asdict(one), "measure": name, "score": one.point, "note": one.note or None}
        for name, one in found.scores.items()
    ),
)

OCCURRENCES: Final = Layout(
    "problems",
    "Problems in the order of files, lines and codes:",
    (
        *columns("code", "severity", "message", "file", "line"),
        Column("within", meaning="a place that is no line, such as a query"),
        Column("column", meaning="the name of the column"),
        Column("text", meaning="what is wrong, as written"),
        Column("repaired", meaning="what stands for it from now on"),
        Column("times", meaning="how often it was counted"),
    ),
    _occurrences,
)
