"""What a run would score without the lines that it is least sure of, and how far its confidences can be relied on.

Reliability counts every assessed line of the run once. A line is right (y = 1) if its assessment is correct, whatever
deduplication, limits and parents make of it, otherwise wrong (y = 0). With the confidence c of a line, as the scorer
reads it (0 to 1):

* Brier score: the mean of (c - y)^2 (Brier 1950).
* Expected calibration error: the mean over the bins of |mean y - mean c|, weighted by their lines (Naeini et al. 2015);
  left out below 100 lines, where it says how few they are: perfect confidences give .27 at 15 lines and .10 at 100.
* Area under the ROC curve: the share of pairs of a right and a wrong line in which the right one is the more confident;
  equal confidences count half (Hanley and McNeil 1982).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Final, TypeAlias

from cs_score.analysis.coldstart.changes import Change, ReadLine
from cs_score.analysis.coldstart.effects import Effects
from cs_score.analysis.coldstart.scored import Progress, Scored, silent
from cs_score.base.records import Record, replace
from cs_score.coldstart.layouts import FileKind
from cs_score.coldstart.lines import CORRECT
from cs_score.coldstart.tab_files import read_confidence, split_columns
from cs_score.measures.registry import MACRO, Measure

_MOST: Final = 100
_FEWEST: Final = 10
"""Thresholds: every confidence of the run, or so many percentiles of them where there are more."""

_LARGE: Final = 10_000
"""Lines of a run from which there are fewer: each threshold scores a part of the run again."""

_SAME: Final = 1e-12


class SweepRow(Record, omit_defaults=True):
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


class Best(Record):
    """The threshold of confidence that gains most."""

    threshold: float
    gain: float


def best_of(rows: Sequence[SweepRow]) -> Best | None:
    """That of the row with the greatest gain, of equal ones that with the most lines; None where nothing was scored."""
    best: Best | None = None
    for row in rows:
        if row.gain is not None and (best is None or row.gain > best.gain + _SAME):
            best = Best(row.threshold, row.gain)
    return best


def sweep(scored: Scored, effects: Effects, measure: Measure, progress: Progress = silent) -> list[SweepRow]:
    """Precision, recall and F1 of the measure's table and average, macro for one of rankings, by threshold.

    At a threshold the run stands without its lines of less confidence and without what hangs below these. Only queries
    that lose a line from one threshold to the next are scored again.
    """
    table = [replace(measure, statistic=name, average=measure.average or MACRO) for name in ("P", "R", "F1")]
    effects, run = effects.on([measure, *table]), scored.run
    own = [line for line in run.links.responses if line.run_id == scored.run_id]
    others = {line.index for line in run.links.responses if line.run_id != scored.run_id}
    lines: list[tuple[float, ReadLine]] = [(line.confidence, line) for line in own]
    for skipped in run.links.skipped:
        if (layout := run.layouts[skipped.file]).kind is FileKind.RUN:
            columns = dict(zip(layout.columns, split_columns(skipped.text)))
            if columns["RUNID"] == scored.run_id:
                lines.append((read_confidence(columns["CONFIDENCE"]).value, skipped))
    lines.sort(key=itemgetter(0))
    confidences = [confidence for confidence, _ in lines]
    rows = []
    below, at = Change(), 0
    for threshold in progress(thresholds(confidences), "raising the threshold"):
        first, at = at, bisect_left(confidences, threshold)
        below = effects.editor.absence((line for _, line in lines[first:at]), below)
        effect = effects.of(below, stays=True)
        precision, recall, f1 = (effect.scores[str(each)] for each in table)
        left = len(own) - len(below.responses - others)
        rows.append(SweepRow(threshold, precision, recall, f1, left, effect.differences[str(measure)], effect.reason))
    return rows


def thresholds(confidences: Sequence[float]) -> list[float]:
    """The confidences in ascending order, each once; where they are too many, percentiles of these.

    Of a large run they are fewer at equal distances, deciles at least. The percentile p of n values is the one before
    which p n / 100 of them stand, rounded down.
    """
    distinct = sorted(set(confidences))
    most = max(_FEWEST, min(_MOST, _MOST * _LARGE // max(1, len(confidences))))
    if len(distinct) <= most:
        return distinct
    return [distinct[at * len(distinct) // most] for at in range(most)]


BINS: Final = 10

FEWEST_CALIBRATED: Final = 100
"""Lines below which there is no calibration error."""

Judged: TypeAlias = tuple[float, bool]
"""The confidence of a line, and whether it is right."""


class Bin(Record):
    """Lines of like confidence: how many, the least and the greatest confidence, the mean, and the share right."""

    lines: int
    low: float
    high: float
    confidence: float
    right: float


class Reliability(Record):
    """Bins from the least confidence to the greatest, and three numbers of all `lines`, 0..1.

    Brier score and calibration error are 0 at best; the one is None without any line, the other below 100 lines. The
    area is 1 at best and None where all lines are right or all are wrong.
    """

    lines: int
    bins: Sequence[Bin]
    brier: float | None
    ece: float | None
    auc: float | None

    @property
    def numbers(self) -> dict[str, float]:
        """The three numbers by their names, those that there are."""
        named = {"Brier score": self.brier, "expected calibration error": self.ece}
        named["area under the ROC curve"] = self.auc
        return {name: number for name, number in named.items() if number is not None}


def reliability_of(scored: Scored) -> Reliability:
    """Return the reliability of the confidences of a run's assessed lines, which are right where judged correct."""
    judged = [
        (line.confidence, line.index, assessment.judgment == CORRECT)
        for _, line, assessment in scored.lines()
        if assessment is not None
    ]
    judged.sort()
    return reliability([(confidence, is_right) for confidence, _, is_right in judged])


def reliability(judged: Sequence[Judged]) -> Reliability:
    """Reliability of lines in order of confidence; equal ones are in load order.

    Ten bins have as many lines as each other, or one more: bin k of N lines ends before line N * k // 10. A bin without
    lines is left out.
    """
    total = len(judged)
    if not judged:
        return Reliability(0, [], None, None, None)
    bins = []
    for start, end in pairwise(total * at // BINS for at in range(BINS + 1)):
        if start < end:
            of_bin = judged[start:end]
            mean = math.fsum(confidence for confidence, _ in of_bin) / len(of_bin)
            right = sum(is_right for _, is_right in of_bin) / len(of_bin)
            bins.append(Bin(len(of_bin), of_bin[0][0], of_bin[-1][0], mean, right))
    brier = math.fsum((confidence - is_right) ** 2 for confidence, is_right in judged) / total
    ece: float | None = None
    if total >= FEWEST_CALIBRATED:
        ece = math.fsum(each.lines * abs(each.right - each.confidence) for each in bins) / total
    right_lines = sum(is_right for _, is_right in judged)
    wrong_below, pairs_won = 0, 0.0
    for _, equals in groupby(judged, key=itemgetter(0)):
        sides = [is_right for _, is_right in equals]
        right_here = sum(sides)
        wrong_here = len(sides) - right_here
        pairs_won += right_here * (wrong_below + wrong_here / 2)
        wrong_below += wrong_here
    pairs = right_lines * (total - right_lines)
    return Reliability(total, bins, brier, ece, pairs_won / pairs if pairs else None)
