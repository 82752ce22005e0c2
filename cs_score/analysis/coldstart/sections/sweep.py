"""What a run would score without the lines that it is least sure of (insight specification 4.7).

At a threshold t the run stands without its lines whose confidence is below t and without what hangs below these
(2, `threshold t`): the scores are those of the file without these lines.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Final

from cs_score.analysis.coldstart.changes import NOTHING, Change, ReadLine
from cs_score.analysis.coldstart.effects import Recombination
from cs_score.analysis.coldstart.progress import Progress, silent
from cs_score.analysis.coldstart.rescoring import Rescoring
from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.coldstart.linking import read_confidence
from cs_score.coldstart.tab_files import FileKind, split_columns
from cs_score.measures.measure import MACRO, Measure

MOST: Final = 100
FEWEST: Final = 10
"""Thresholds: every confidence of the run, or so many percentiles of them where there are more."""

LARGE: Final = 10_000
"""Lines of a run from which there are fewer: each threshold scores a part of the run again."""

_SAME: Final = 1e-12


class SweepRow(Record):
    """The scores at one threshold, and how many lines of the run are left; None where the scorer would not give one.

    `gain` is the difference in the measure that is asked about.
    """

    threshold: float
    precision: float | None
    recall: float | None
    f1: float | None
    lines: int
    gain: float | None
    reason: str | None = None

    def as_json(self) -> dict[str, object]:
        """The row with the keys of the specification."""
        return {
            "threshold": self.threshold,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "lines": self.lines,
            "gain": self.gain,
            **({} if self.reason is None else {"reason": self.reason}),
        }


def best_of(rows: Sequence[SweepRow]) -> SweepRow | None:
    """The row with the greatest gain, of equal ones that with the most lines; None where nothing was scored."""
    best: SweepRow | None = None
    for row in rows:
        if row.gain is not None and (best is None or best.gain is None or row.gain > best.gain + _SAME):
            best = row
    return best


def sweep(scored: Scored, rescoring: Rescoring, measure: Measure, progress: Progress = silent) -> list[SweepRow]:
    """Precision, recall and F1 of the measure's table and average, macro for one of rankings, by threshold.

    Only units that lose a line from one threshold to the next are scored again.
    """
    table = [replace(measure, statistic=name, average=measure.average or MACRO) for name in ("P", "R", "F1")]
    recombination = Recombination(scored, [measure, *table])
    before = recombination.base.values[0]
    confidences, lines = _by_confidence(scored)
    others = {line.index for line in scored.run.links.responses if line.run_id != scored.run_id}
    total = len(scored.run.links.responses) - len(others)
    rows = []
    gone = NOTHING
    below = NOTHING
    at = 0
    for threshold in progress(thresholds(confidences), "raising the threshold"):
        first, at = at, bisect_left(confidences, threshold)
        below = rescoring.dependents.with_dependents(lines[first:at], below)
        try:
            units = rescoring.rescored(Change(below), before=gone, is_ranked=not measure.average)
            scores = recombination.move_to(units)
            gone = below
        except InputError as refusal:
            scores = recombination.refused(refusal)
        score, precision, recall, f1 = scores.values
        gain = None if score is None or before is None else score - before
        left = total - len(below.responses) + len(below.responses & others)
        rows.append(SweepRow(threshold, precision, recall, f1, left, gain, scores.reason))
    return rows


def thresholds(confidences: Sequence[float]) -> list[float]:
    """The confidences in ascending order, each once; where they are too many, percentiles of these.

    Up to 100 confidences, or the percentiles 0 to 99; of a large run fewer at equal distances, deciles at least. The
    percentile p of n values is the one before which p n / 100 of them stand, rounded down.
    """
    distinct = sorted(set(confidences))
    most = max(FEWEST, min(MOST, MOST * LARGE // max(1, len(confidences))))
    if len(distinct) <= most:
        return distinct
    return [distinct[at * len(distinct) // most] for at in range(most)]


def _by_confidence(scored: Scored) -> tuple[list[float], list[ReadLine]]:
    """The confidences of the run's lines in ascending order, and the lines."""
    lines = sorted(_lines(scored), key=itemgetter(0))
    return [confidence for confidence, _ in lines], [line for _, line in lines]


def _lines(scored: Scored) -> Iterator[tuple[float, ReadLine]]:
    """The lines of the run with their confidence, those among them that were read but skipped."""
    run = scored.run
    for line in run.links.responses:
        if line.run_id == scored.run_id:
            yield line.confidence, line
    for skipped in run.links.skipped:
        layout = run.layouts[skipped.file]
        if layout.kind is FileKind.RUN:
            columns = dict(zip(layout.columns, split_columns(skipped.text)))
            if columns["RUNID"] == scored.run_id:
                yield read_confidence(columns["CONFIDENCE"]).value, skipped
