"""The Cold Start result for programs and people: chosen scores, the whole as JSON, intervals."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from cs_score.base.display import aligned, cell, spreadsheet_cell
from cs_score.base.markup import escape_markdown
from cs_score.base.planned_outputs import Format, OwnOption
from cs_score.base.records import Record
from cs_score.base.signing.origin import ANY_MEASURE, RUN, Origin
from cs_score.coldstart.judging import pre_policy_category, without
from cs_score.coldstart.result import AveragePrecision, Result, RunResult, ScoreRow
from cs_score.coldstart.samples import Bootstrap
from cs_score.coldstart.unit_statistics import unit_name, unit_table
from cs_score.measures.registry import COLD_START_MODE, WHY, chosen, headline, usual
from cs_score.statistics.options import sentences
from cs_score.statistics.results import ScoreIntervals

SCORES_SCHEMA_VERSION: Final = 1
"""Of the JSON object; raised when a key changes its meaning or goes away."""

_LONGEST_RUN_ID: Final = 40
_NONE: Final = "-"


class ChosenScores(Record):
    """A result, the names of the measures to be shown in their order, and the intervals of its runs, or none.

    `headline` is the first of the measures, where those are shown that people are shown first.
    """

    result: Result
    measures: tuple[str, ...]
    intervals: Sequence[ScoreIntervals] = ()
    headline: str | None = None

    def signature(self, run: RunResult) -> str:
        """The citable line of a run: of the measure where there is one, of them all where there are several."""
        return str(self.result.signature(run).of(self.measures[0] if len(self.measures) == 1 else ANY_MEASURE))

    def headings(self) -> list[str]:
        """The id of each run, with its file where several have the same."""
        ids = [run.run_id for run in self.result.runs]
        return [
            run_id if ids.count(run_id) == 1 or run.origin is None else f"{run_id} ({_files(run.origin)})"
            for run_id, run in zip(ids, self.result.runs)
        ]

    def limits(self, run: int, measure: str) -> tuple[float | None, float | None]:
        """The limits of the interval of a score of a run, by its position; None where there are none."""
        found = self.intervals[run].scores.get(measure) if self.intervals else None
        return (None, None) if found is None else (found.low, found.high)

    def shown(self, run: int, measure: str) -> str:
        """A score with four decimals, its interval behind it in brackets where there is one."""
        score = self.result.runs[run].scores.get(measure)
        low, high = self.limits(run, measure)
        text = _NONE if score is None else f"{score:.4f}"
        return text if low is None or high is None else f"{text} [{low:.4f}, {high:.4f}]"


def _files(origin: Origin) -> str:
    return ", ".join(given.name for given in origin.inputs if given.role == RUN)


def choose(result: Result, patterns: Sequence[str], intervals: Sequence[ScoreIntervals] = ()) -> ChosenScores:
    """The scores whose measures match a pattern; without patterns those that people are shown first.

    Raises UsageError for a pattern that no measure of any run matches.
    """
    known = list(dict.fromkeys(name for run in result.runs for name in run.scores))
    if patterns:
        return ChosenScores(result, tuple(chosen(known, patterns)), intervals)
    wanted = [name for name in headline(COLD_START_MODE, result.has_ldc_index) if name in known]
    return ChosenScores(result, tuple(wanted), intervals, str(usual(COLD_START_MODE, result.has_ldc_index)))


def scores_text(scores: ChosenScores) -> str:
    """A line for each measure, a column for each run, aligned for a terminal; below them the signatures."""
    runs = range(len(scores.result.runs))
    rows = [["", *(cell(heading, _LONGEST_RUN_ID) for heading in scores.headings())]]
    rows += [[measure, *(scores.shown(run, measure) for run in runs)] for measure in scores.measures]
    lines = [*aligned(rows, [False, *(True for _ in runs)]), ""]
    if scores.headline is not None:
        lines.append(f"headline   {scores.headline}: {WHY[scores.headline]}")
    lines += [f"signature  {scores.signature(run)}" for run in scores.result.runs]
    return "\n".join(lines) + "\n"


def scores_markdown(scores: ChosenScores) -> str:
    runs = range(len(scores.result.runs))
    rows = [
        ["Measure", *map(escape_markdown, scores.headings())],
        [":---", *("---:" for _ in runs)],
    ]
    rows += [[measure, *(scores.shown(run, measure) for run in runs)] for measure in scores.measures]
    lines = [*(f"| {' | '.join(row)} |" for row in rows), ""]
    lines += [f"- `{scores.signature(run)}`" for run in scores.result.runs]
    return "\n".join(lines) + "\n"


def scores_tsv(scores: ChosenScores) -> str:
    """A header, and a line for each run and measure: run, measure, score, low, high, signature. Full precision."""
    lines = ["run_id\tmeasure\tscore\tlow\thigh\tsignature"]
    for at, (run, heading) in enumerate(zip(scores.result.runs, scores.headings())):
        signature = scores.result.signature(run)
        for measure in scores.measures:
            numbers = (run.scores.get(measure), *scores.limits(at, measure))
            cells = ("" if number is None else repr(number) for number in numbers)
            lines.append("\t".join((spreadsheet_cell(heading), measure, *cells, str(signature.of(measure)))))
    return "\n".join(lines) + "\n"


def scores_object(scores: ChosenScores) -> dict[str, object]:
    """The same as nested dicts and lists, with all that the scores were computed from."""
    origin = scores.result.origin
    if scores.intervals:
        origin = origin.with_option("bootstrap", scores.intervals[0].resampling.as_json())
    runs = []
    for at, run in enumerate(scores.result.runs):
        found = run.scores
        shown = {measure: found[measure] for measure in scores.measures if measure in found}
        of_run: dict[str, object] = {"run_id": run.run_id, "signature": scores.signature(run), "scores": shown}
        if scores.intervals:
            intervals = scores.intervals[at].as_json()
            limits: Any = intervals["scores"]
            of_run["intervals"] = {**intervals, "scores": {name: limits[name] for name in shown if name in limits}}
        runs.append(of_run)
    return {
        "schema_version": SCORES_SCHEMA_VERSION,
        "signature": origin.as_json(),
        "measures": list(scores.measures),
        "runs": runs,
        "errors": scores.result.error_count,
        "warnings": scores.result.warning_count,
        "remarks": list(scores.result.warnings),
    }


WRITERS: Final[dict[str, Callable[[ChosenScores], str]]] = {
    "text": scores_text,
    "json": lambda scores: json.dumps(scores_object(scores), indent=1, allow_nan=False) + "\n",
    "tsv": scores_tsv,
    "markdown": scores_markdown,
}
"""Format -> writer; every text ends with a line feed."""


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
        "problems": problem_objects(result),
        "errors": result.error_count,
        "warnings": result.warning_count,
        "remarks": list(result.warnings),
    }


def _fields(record: object, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def run_parts(result: Result, run: RunResult) -> dict[str, Callable[[], object]]:
    """What the object of a run has, each member made when it is called for; responses one after the other."""
    ranked, bootstrap = run.average_precision, run.bootstrap
    return {
        "run_id": lambda: run.run_id,
        "signature": lambda: str(result.signature(run)),
        "scores": lambda: run.scores,
        "units": lambda: {"unit": unit_name(result), **unit_table(run, run.measures).as_json()},
        "queries": lambda: dict(run.unit_of),
        "tables": lambda: {
            name: {part: [_score_row(row) for row in getattr(table, part)] for part in ("rows", "micro", "macro")}
            for name, table in run.tables.variants
        },
        "average_precision": lambda: None if ranked is None else _average_precision(ranked),
        "bootstrap": lambda: None if bootstrap is None else _bootstrap(bootstrap),
        "responses": lambda: _responses(run),
    }


def _run(result: Result, run: RunResult) -> dict[str, object]:
    return {name: part() for name, part in run_parts(result, run).items()} | {"responses": list(_responses(run))}


def problem_objects(result: Result) -> list[dict[str, Any]]:
    return [
        {
            **_fields(problem, "code", "severity", "message", "occurrences"),
            "severity": str(problem.severity),
            "places": [None if place is None else _fields(place, "file", "line") for place in problem.places],
        }
        for problem in result.problems
    ]


def _bootstrap(bootstrap: Bootstrap) -> dict[str, object]:
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


def _score_row(row: ScoreRow) -> dict[str, object]:
    shown = _fields(row, "name", "level", "counts", "precision", "recall", "f1")
    return shown if row.counts is None else {**shown, "counts": row.counts._asdict()}


def _average_precision(scores: AveragePrecision) -> dict[str, object]:
    def rows(of_table: Iterable[ScoreRow]) -> list[dict[str, object]]:
        return [{"name": row.name, "level": row.level, "average_precision": row.score} for row in of_table]

    rankings = [
        {
            "query": ranking.query,
            "level": ranking.level,
            "average_precision": ranking.score,
            "ground_truth": ranking.ground_truth,
            "classes": list(ranking.classes),
            "nodes": [
                {"node": node.name, **_fields(node, "confidence", "mapped_class", "value"), "line": node.first.number}
                for node in ranking.nodes
            ],
        }
        for ranking in scores.rankings
    ]
    tables = {name: {"rows": rows(table.rows), "macro": rows(table.macro)} for name, table in scores.variants}
    return {"run_id": scores.run_id, "tables": tables, "rankings": rankings}


def _responses(run: RunResult) -> Iterator[dict[str, object]]:
    for tally, unit in run.tallies():
        for line in tally.responses:
            assessment = unit.matched.get(line.index)
            category = pre_policy_category(assessment)
            met = assessment and {"file": assessment.file, "line": assessment.number, "class": assessment.value_class}
            yield {
                "row": tally.name,
                "query": line.query.full_id,
                "file": line.file,
                "line": line.number,
                **_fields(line, "node", "value", "confidence"),
                "target_query": line.target_full_id,
                "assessment": met,
                "pre_policy": str(category),
                "post_policy": without(unit.labels[line.index], category),
            }


def intervals_text(intervals: ScoreIntervals, run_id: str, tabs: bool = False) -> Iterator[str]:
    """A line per number, with four decimals, then notes on all of them, and last how the limits were found.

    With `tabs` the columns are separated by one tab instead of being aligned, and numbers have all their digits. Where
    there is no interval stands a hyphen, with tabs nothing.
    """
    rows: list[tuple[str, ...]] = [("Measure", "RunID", "Score", "Low", "High", "StdErr", "Note")]
    for measure, interval in intervals.scores.items():
        numbers = (interval.point, interval.low, interval.high, interval.standard_error)
        if tabs:
            cells = ["" if number is None else repr(number) for number in numbers]
        else:
            cells = ["-" if number is None else f"{number:6.4f}" for number in numbers]
        rows.append((measure, run_id, *cells, interval.note))
    for line in map("\t".join, rows) if tabs else aligned(rows, [False, False, *[True] * 4, False], gap=" "):
        yield line + "\n"
    yield "\n"
    for note in sentences(intervals.notes):
        yield f"*{note}\n"
    settings = intervals.resampling
    method = "BCa" if settings.method == "bca" else settings.method
    yield (
        f"*Low and High: {settings.confidence:g}% {method} bootstrap interval from "
        f"{settings.resamples} resamples; units of resampling ({settings.unit}): {intervals.units}; "
        f"seed {settings.seed}.\n"
    )
