"""How far the confidences of a run can be relied on (insight specification 4.7).

Two questions: over judgments, every assessed line of the run once, right (y = 1) if its assessment is correct, whatever
deduplication, limits and parents make of it; and over the labels of the policy, the assessed lines of a table that
count as right or as wrong (y = 0). With the confidence c of a line:

* Brier score: the mean of (c - y)^2 (Brier 1950).
* Expected calibration error: the mean over the bins of |mean y - mean c|, weighted by their lines (Naeini et al. 2015).
* Area under the ROC curve: the share of pairs of a right and a wrong line in which the right one is the more confident;
  equal confidences count half (Hanley and McNeil 1982).

Confidences are as the scorer reads them, and lie between 0 and 1: illegal ones count as 1 (specification 4.3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Final, TypeAlias

from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.coldstart.sections.counted import CountedTable, lines_of
from cs_score.base.records import Record
from cs_score.coldstart.lines import CORRECT
from cs_score.coldstart.options import RIGHT, WRONG

BINS: Final = 10

Judged: TypeAlias = tuple[float, bool]
"""The confidence of a line, and whether it is right."""


class Bin(Record):
    """Lines of like confidence: how many, the least and the greatest confidence, the mean, and the share right."""

    lines: int
    low: float
    high: float
    confidence: float
    right: float

    def as_json(self) -> dict[str, float]:
        """The numbers by name."""
        return {
            "lines": self.lines,
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
            "right": self.right,
        }


class Reliability(Record):
    """Bins from the least confidence to the greatest, and three numbers of all `lines`, 0..1.

    Brier score and calibration error are 0 at best and None without any line; the area is 1 at best and None where all
    lines are right or all are wrong.
    """

    lines: int
    bins: Sequence[Bin]
    brier: float | None
    ece: float | None
    auc: float | None

    def as_json(self) -> dict[str, object]:
        """Reliability with the keys of the specification."""
        return {
            "lines": self.lines,
            "bins": [each.as_json() for each in self.bins],
            "brier": self.brier,
            "ece": self.ece,
            "auc": self.auc,
        }


def reliability_of_judgments(scored: Scored) -> Reliability:
    """Reliability of the confidences of a run's assessed lines, which are right where they were judged correct."""
    of_run = scored.run.lines.get(scored.run_id, {})
    judged = sorted(
        (line.confidence, line.index, assessment.judgment == CORRECT)
        for unit in scored.result.units
        for lines in of_run.get(unit.id, {}).values()
        for line in lines
        if (assessment := unit.matched.get(line.index)) is not None
    )
    return reliability([(confidence, is_right) for confidence, _, is_right in judged])


def reliability_of_labels(table: CountedTable) -> Reliability:
    """Reliability over the labels of a table's lines. A line that counts as right and as wrong is right."""
    judged = [
        (line.confidence, line.index, RIGHT in labels)
        for row in table.rows
        for line, labels, assessment in lines_of(row)
        if assessment is not None and (RIGHT in labels or WRONG in labels)
    ]
    judged.sort()
    return reliability([(confidence, is_right) for confidence, _, is_right in judged])


def reliability(judged: Sequence[Judged]) -> Reliability:
    """Reliability of lines in order of confidence; equal ones are in load order.

    Ten bins have as many lines as each other, or one more: bin k of N lines ends before line N * k // 10. A bin without
    lines is left out.
    """
    total = len(judged)
    ends = [total * at // BINS for at in range(BINS + 1)]
    bins = [_bin(judged[start:end]) for start, end in pairwise(ends) if start < end]
    if not judged:
        return Reliability(0, (), None, None, None)
    brier = math.fsum((confidence - is_right) ** 2 for confidence, is_right in judged) / total
    ece = math.fsum(each.lines * abs(each.right - each.confidence) for each in bins) / total
    return Reliability(total, bins, brier, ece, _area(judged))


def _bin(judged: Sequence[Judged]) -> Bin:
    confidences = [confidence for confidence, _ in judged]
    right = sum(is_right for _, is_right in judged)
    lines = len(judged)
    return Bin(lines, confidences[0], confidences[-1], math.fsum(confidences) / lines, right / lines)


def _area(judged: Sequence[Judged]) -> float | None:
    right = sum(is_right for _, is_right in judged)
    wrong = len(judged) - right
    if not right or not wrong:
        return None
    wrong_below, pairs_won = 0, 0.0
    for _, equals in groupby(judged, key=itemgetter(0)):
        sides = [is_right for _, is_right in equals]
        right_here = sum(sides)
        wrong_here = len(sides) - right_here
        pairs_won += right_here * (wrong_below + wrong_here / 2)
        wrong_below += wrong_here
    return pairs_won / (right * wrong)
