"""The whole result as JSON, for programs: rows, averages, rankings, responses, problems, signature."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

from cs_score.base.planned_outputs import Format, OwnOption
from cs_score.coldstart.counting.projection import ScoreRow, Table
from cs_score.coldstart.judging.labels import pre_policy_category, without
from cs_score.coldstart.ranking.average_precision import Ranking
from cs_score.coldstart.ranking.tables import ApRow, ApTable
from cs_score.coldstart.resampling.values import Bootstrap
from cs_score.coldstart.result import AveragePrecision, Result, RunResult
from cs_score.coldstart.unit_statistics import unit_name, unit_table
from cs_score.statistics.score_intervals import ScoreIntervals

SCHEMA_VERSION: Final = 3
"""Raised when a key changes its meaning or goes away; new keys do not raise it."""


OPTION: Final = OwnOption(
    "--json",
    {".json": Format(re.compile(rb'\{\s*"schema_version":\s*\d+,\s*"signature":\s*\{\s*"tool":\s*"cs-score"'))},
    "result.json",
    takes_dash=True,
)
"""The option that names the file of this object."""


def json_text(result: Result, intervals: Sequence[ScoreIntervals] = ()) -> Iterator[str]:
    """The result as one JSON object, in pieces; `intervals` are those of its runs, or none."""
    encoder = json.JSONEncoder(ensure_ascii=True, indent=1, allow_nan=False)
    yield from encoder.iterencode(result_object(result, intervals))
    yield "\n"


def result_object(result: Result, intervals: Sequence[ScoreIntervals] = ()) -> dict[str, object]:
    """The result as nested dicts and lists of plain values; scores are in full precision."""
    origin = result.origin
    if intervals:
        origin = origin.with_option("bootstrap", intervals[0].resampling.as_json())
    of_runs: list[dict[str, object]] = [{"intervals": each.as_json()} for each in intervals] or [{}] * len(result.runs)
    return {
        "schema_version": SCHEMA_VERSION,
        "signature": origin.as_json(),
        "runs": [_run(result, run) | of_run for run, of_run in zip(result.runs, of_runs)],
        "problems": [
            {
                "code": problem.code,
                "severity": str(problem.severity),
                "message": problem.message,
                "occurrences": problem.occurrences,
                "places": [
                    None if place is None else {"file": place.file, "line": place.line} for place in problem.places
                ],
            }
            for problem in result.problems
        ],
        "errors": result.error_count,
        "warnings": result.warning_count,
        "remarks": list(result.warnings),
    }


def _run(result: Result, run: RunResult) -> dict[str, object]:
    return {
        "run_id": run.run_id,
        "signature": str(result.signature(run)),
        "scores": run.scores,
        "units": {"unit": unit_name(result), **unit_table(run, run.measures).as_json()},
        "queries": dict(run.unit_of),
        "tables": {name: _table(table) for name, table in run.tables.variants},
        "average_precision": None if run.average_precision is None else _average_precision(run.average_precision),
        "bootstrap": None if run.bootstrap is None else _bootstrap(run.bootstrap),
        "responses": list(_responses(run)),
    }


def _bootstrap(bootstrap: Bootstrap) -> dict[str, object]:
    """The limits of the reference's bootstrap; texts of four decimals, as it computes with them."""
    return {
        "samples": len(bootstrap.samples),
        "limits": [
            {
                "value": str(limits.code),
                "measure": str(limits.code.measure),
                "low": dict(zip(("99", "95", "90"), limits.low)),
                "mean": limits.mean,
                "score": limits.score.strip(" -") or None,
                "high": dict(zip(("90", "95", "99"), limits.high)),
            }
            for limits in bootstrap.limits
        ],
    }


def _table(table: Table) -> dict[str, object]:
    return {
        "rows": [_score_row(row) for row in table.rows],
        "micro": [_score_row(row) for row in table.micro],
        "macro": [_score_row(row) for row in table.macro],
    }


def _score_row(row: ScoreRow) -> dict[str, object]:
    return {
        "name": row.name,
        "level": row.level,
        "counts": None if row.counts is None else row.counts._asdict(),
        "precision": row.precision,
        "recall": row.recall,
        "f1": row.f1,
    }


def _average_precision(scores: AveragePrecision) -> dict[str, object]:
    return {
        "run_id": scores.run_id,
        "tables": {name: _ap_table(table) for name, table in scores.variants},
        "rankings": [_ranking(ranking) for ranking in scores.rankings],
    }


def _ap_table(table: ApTable) -> dict[str, object]:
    return {"rows": [_ap_row(row) for row in table.rows], "macro": [_ap_row(row) for row in table.macro]}


def _ap_row(row: ApRow) -> dict[str, object]:
    return {"name": row.name, "level": row.level, "average_precision": row.score}


def _ranking(ranking: Ranking) -> dict[str, object]:
    return {
        "query": ranking.query,
        "level": ranking.level,
        "average_precision": ranking.score,
        "ground_truth": ranking.ground_truth,
        "classes": list(ranking.classes),
        "nodes": [
            {
                "node": node.name,
                "confidence": node.confidence,
                "mapped_class": node.mapped_class,
                "value": node.value,
                "line": node.first.number,
            }
            for node in ranking.nodes
        ],
    }


def _responses(run: RunResult) -> Iterator[dict[str, object]]:
    """Every scored response: its place, its assessment, and what it counted as."""
    for tally, unit in run.tallies():
        for response in tally.responses:
            assessment = unit.matched.get(response.index)
            category = pre_policy_category(assessment)
            yield {
                "row": tally.name,
                "query": response.query.full_id,
                "file": response.file,
                "line": response.number,
                "node": response.node,
                "value": response.value,
                "confidence": response.confidence,
                "target_query": response.target_full_id,
                "assessment": None
                if assessment is None
                else {"file": assessment.file, "line": assessment.number, "class": assessment.value_class},
                "pre_policy": str(category),
                "post_policy": without(unit.labels[response.index], category),
            }
