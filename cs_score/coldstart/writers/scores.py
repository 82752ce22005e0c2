"""The chosen scores of a Cold Start result, each by the name of its measure: text, JSON, TSV, Markdown."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from cs_score.base.display import aligned, cell, spreadsheet_cell
from cs_score.base.markup import escape_markdown
from cs_score.base.records import Record
from cs_score.base.signing.origin import ANY_MEASURE, RUN, Origin
from cs_score.coldstart.result import Result, RunResult
from cs_score.measures.registry import COLD_START_MODE, WHY, chosen, headline, usual

if TYPE_CHECKING:
    from cs_score.statistics.score_intervals import ScoreIntervals

SCHEMA_VERSION: Final = 1
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
    """The same as a Markdown table and a list."""
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


def scores_json(scores: ChosenScores) -> str:
    """The same as a JSON object, with all that the scores were computed from."""
    return json.dumps(scores_object(scores), indent=1, allow_nan=False) + "\n"


def scores_object(scores: ChosenScores) -> dict[str, object]:
    """That object as nested dicts and lists."""
    origin = scores.result.origin
    if scores.intervals:
        origin = origin.with_option("bootstrap", scores.intervals[0].resampling.as_json())
    runs = []
    for at, run in enumerate(scores.result.runs):
        found = run.scores
        told: dict[str, object] = {
            "run_id": run.run_id,
            "signature": scores.signature(run),
            "scores": {measure: found[measure] for measure in scores.measures if measure in found},
        }
        if scores.intervals:
            told["intervals"] = _of_measures(scores.intervals[at].as_json(), scores.measures)
        runs.append(told)
    return {
        "schema_version": SCHEMA_VERSION,
        "signature": origin.as_json(),
        "measures": list(scores.measures),
        "runs": runs,
        "errors": scores.result.error_count,
        "warnings": scores.result.warning_count,
        "remarks": list(scores.result.warnings),
    }


def _of_measures(intervals: dict[str, Any], measures: Sequence[str]) -> dict[str, object]:
    of_scores = intervals["scores"]
    return {**intervals, "scores": {measure: of_scores[measure] for measure in measures if measure in of_scores}}


Writer: TypeAlias = Callable[[ChosenScores], str]

WRITERS: Final[dict[str, Writer]] = {
    "text": scores_text,
    "json": scores_json,
    "tsv": scores_tsv,
    "markdown": scores_markdown,
}
"""Format -> writer; every text ends with a line feed."""
