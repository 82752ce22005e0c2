"""Measure how reliable the confidences of a run are: whether lines with the confidence 0.8 are right four times in
five.

Every assessed line of the run counts once. A line is right (y = 1) if its assessment is correct, whatever
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
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final, NamedTuple

from cs_score.analysis.coldstart.scored import AnalysedRun, ScoredLine
from cs_score.base.records import Record
from cs_score.coldstart.lines import CORRECT

BINS: Final = 10

FEWEST_CALIBRATED: Final = 100
"""The fewest lines for which there is a calibration error."""


class Judged(NamedTuple):
    """The confidence of an assessed line, and whether it is right."""

    confidence: float
    is_right: bool


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
        """The three numbers by their names in words; undefined ones are left out."""
        number_by_name = {
            "Brier score": self.brier,
            "expected calibration error": self.ece,
            "area under the ROC curve": self.auc,
        }
        return {name: number for name, number in number_by_name.items() if number is not None}


def reliability_of(scored: AnalysedRun) -> Reliability:
    """Return the reliability of the confidences of a run's assessed lines; a line is right if it was judged correct."""
    judged_lines = []
    for _, line, assessment in sorted(scored.lines(), key=_confidence_order):
        if assessment is not None:
            judged_lines.append(Judged(line.confidence, is_right=assessment.judgment == CORRECT))
    return reliability(judged_lines)


def _confidence_order(scored_line: ScoredLine) -> tuple[float, int]:
    """Return the key that sorts lines from the least confident; lines of equal confidence stay in load order."""
    return scored_line.line.confidence, scored_line.line.index


def reliability(judged_lines: Sequence[Judged]) -> Reliability:
    """Return how well the confidences of lines say whether the lines are right.

    The result has bins of lines of similar confidence, and three numbers: the Brier score, the expected calibration
    error (ECE) and the area under the ROC curve (AUC). The lines must be sorted by confidence; lines of equal
    confidence are in load order.
    """
    if not judged_lines:
        return Reliability(lines=0, bins=[], brier=None, ece=None, auc=None)
    bins = _bins_of(judged_lines)
    squared_errors = [(confidence - is_right) ** 2 for confidence, is_right in judged_lines]
    return Reliability(
        lines=len(judged_lines),
        bins=bins,
        brier=math.fsum(squared_errors) / len(judged_lines),
        ece=_calibration_error(bins, len(judged_lines)),
        auc=_area_under_curve(judged_lines),
    )


def _calibration_error(bins: Iterable[Bin], line_count: int) -> float | None:
    """Return the expected calibration error of lines in bins, or None if there are too few lines for it.

    It is the distance between the mean confidence of a bin and its share of right lines, averaged over all lines.
    """
    if line_count < FEWEST_CALIBRATED:
        return None
    weighted_distances = []
    for bin_of_lines in bins:
        right_share = bin_of_lines.right
        mean_confidence = bin_of_lines.confidence
        weighted_distances.append(bin_of_lines.lines * abs(right_share - mean_confidence))
    return math.fsum(weighted_distances) / line_count


def _bins_of(judged_lines: Sequence[Judged]) -> list[Bin]:
    """Return ten bins of lines, given the lines sorted by confidence; bin sizes differ by at most one line.

    If there are N lines, bin k (from 1 to 10) ends before the line at position N * k // 10, counted from 0. Empty bins
    are left out.
    """
    line_count = len(judged_lines)
    bins = []
    for number in range(BINS):
        start = line_count * number // BINS
        end = line_count * (number + 1) // BINS
        if start < end:
            bins.append(_bin_of(judged_lines[start:end]))
    return bins


def _bin_of(judged_lines: Sequence[Judged]) -> Bin:
    """Return the bin of lines that are sorted by confidence: their number, confidences and share of right lines."""
    line_count = len(judged_lines)
    confidences = [line.confidence for line in judged_lines]
    right_count = sum([line.is_right for line in judged_lines])
    mean_confidence = math.fsum(confidences) / line_count
    right_share = right_count / line_count
    return Bin(line_count, low=confidences[0], high=confidences[-1], confidence=mean_confidence, right=right_share)


def _area_under_curve(judged_lines: Sequence[Judged]) -> float | None:
    """Return the area under the ROC curve of lines sorted by confidence, or None if all are right or all are wrong.

    Of all pairs of a right and a wrong line, this is the share in which the right line has the greater confidence.
    Pairs of equal confidence count half.
    """
    right_count = sum([line.is_right for line in judged_lines])
    wrong_count = len(judged_lines) - right_count
    if right_count == 0 or wrong_count == 0:
        return None
    # From the least confidence up: each right line wins against all wrong lines below it.
    pairs_won = 0.0
    wrong_lines_below = 0
    for _, lines_of_confidence in groupby(judged_lines, key=attrgetter("confidence")):
        rightness = [line.is_right for line in lines_of_confidence]
        right_here = sum(rightness)
        wrong_here = len(rightness) - right_here
        pairs_won += right_here * (wrong_lines_below + wrong_here / 2)  # a draw is half a win
        wrong_lines_below += wrong_here
    return pairs_won / (right_count * wrong_count)
