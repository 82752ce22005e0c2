"""Score a run without its least confident lines, at each of several thresholds of confidence."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from cs_score.analysis.coldstart.changes import Change
from cs_score.analysis.coldstart.effects import Effect, Effects
from cs_score.analysis.coldstart.run_files import LinkedLine
from cs_score.analysis.coldstart.scored import AnalysedRun, Progress, silent
from cs_score.base.records import Record, replace
from cs_score.coldstart.file_columns import FileKind
from cs_score.coldstart.tab_files import read_confidence, split_columns
from cs_score.measures import MACRO, Measure

_MOST_THRESHOLDS: Final = 100
"""The most thresholds of a run."""

_FEWEST_THRESHOLDS: Final = 10
"""The most thresholds of a very large run, which has fewer than others."""

_LARGE_RUN: Final = 10_000
"""The number of lines from which a run has fewer thresholds, since for each a part of it is scored again."""

_SMALLEST_DIFFERENCE: Final = 1e-12
"""Gains that differ by no more than this are equal."""


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
    """Return the threshold with the greatest gain, or the lowest of several thresholds with the same gain.

    `rows` are sorted by threshold. The greatest gain may be 0 or less. Returns None if no gain is known because the
    scorer did not give a score at any threshold.
    """
    best: Best | None = None
    for row in rows:
        if row.gain is not None and (best is None or row.gain > best.gain + _SMALLEST_DIFFERENCE):
            best = Best(row.threshold, row.gain)
    return best


class _LineWithConfidence(NamedTuple):
    """A line of the run, which may be skipped, and its confidence."""

    confidence: float
    line: LinkedLine


def sweep(scored: AnalysedRun, effects: Effects, measure: Measure, progress: Progress = silent) -> list[SweepRow]:
    """Return precision, recall and F1 at each threshold of confidence, and the measure's gain over the whole run.

    At a threshold the run is scored without the lines of lower confidence and the lines that depend on them. Precision,
    recall and F1 are computed from the table of the measure, and are averaged in the same way (micro or macro). If the
    measure is an average precision, they are macro averages. Only queries that lose a line from one threshold to the
    next are scored again.
    """
    measures = _sweep_measures(measure)
    # The removal takes out the least confident lines and computes only these measures without them.
    removal = _GrowingRemoval(scored, effects.for_measures(measures))
    rows = []
    for threshold in progress(thresholds(removal.confidences), "raising the threshold"):
        effect = removal.remove_below(threshold)
        rows.append(_sweep_row(threshold, removal.remaining_count, measures, effect))
    return rows


class _GrowingRemoval:
    """Takes more and more lines out of a run, from the least confident one on, and scores the run without them.

    `confidences` are the confidences of the lines in ascending order.
    """

    def __init__(self, scored: AnalysedRun, effects: Effects) -> None:
        """Begin with the whole run; `effects` computes the scores of the run after a change."""
        self._effects = effects
        self._lines = _lines_by_confidence(scored)
        self.confidences = [line.confidence for line in self._lines]
        self._response_indexes = {line.index for line in scored.run.links.responses if line.run_id == scored.run_id}
        self._removed_count = 0
        self._removal_so_far = Change()
        self._last_scored_removal = effects.unchanged  # a change and its scores; the next step starts from it

    def remove_below(self, threshold: float) -> Effect:
        """Remove the lines whose confidence is below a threshold, and return the effect on the scores.

        The threshold must not be lower than in earlier calls. Lines that depend on these lines are removed, too.
        """
        next_count = bisect_left(self.confidences, threshold)
        next_lines = [line for _, line in self._lines[self._removed_count : next_count]]
        self._removed_count = next_count
        self._removal_so_far = self._effects.editor.removal_of(next_lines, self._removal_so_far)
        # Only queries that have lost a line since the last scoring are scored again.
        effect, self._last_scored_removal = self._effects.effect_after(self._last_scored_removal, self._removal_so_far)
        return effect

    @property
    def remaining_count(self) -> int:
        """The number of responses of the run that are left; skipped lines do not count."""
        removed_responses = self._response_indexes & self._removal_so_far.removed_indexes
        return len(self._response_indexes) - len(removed_responses)


class _SweepMeasures(NamedTuple):
    """The measures given at each threshold: the analysed one, and precision, recall and F1 from the same table."""

    analysed: Measure
    precision: Measure
    recall: Measure
    f1: Measure


def _sweep_measures(measure: Measure) -> _SweepMeasures:
    """Return the analysed measure, and precision, recall and F1 from the same table.

    They are averaged like the analysed measure (micro or macro); for an average precision they are macro averages.
    """
    average = measure.average or MACRO
    return _SweepMeasures(
        analysed=measure,
        precision=replace(measure, statistic="P", average=average),
        recall=replace(measure, statistic="R", average=average),
        f1=replace(measure, statistic="F1", average=average),
    )


def _sweep_row(threshold: float, line_count: int, measures: _SweepMeasures, effect: Effect) -> SweepRow:
    """Return the row of a threshold at which `line_count` lines of the run are left.

    `effect` has the scores without the other lines, and their differences to the scores of the whole run.
    """
    return SweepRow(
        threshold=threshold,
        precision=effect.scores[str(measures.precision)],
        recall=effect.scores[str(measures.recall)],
        f1=effect.scores[str(measures.f1)],
        lines=line_count,
        gain=effect.differences[str(measures.analysed)],
        reason=effect.reason,
    )


def _lines_by_confidence(scored: AnalysedRun) -> list[_LineWithConfidence]:
    """Return the lines of the run, including skipped lines, from the least confident to the most confident.

    `scored.run.links` has the lines of the files, linked to their queries. They may belong to several runs.
    """
    lines: list[_LineWithConfidence] = []
    for response in scored.run.links.responses:
        if response.run_id == scored.run_id:
            lines.append(_LineWithConfidence(response.confidence, response))
    for skipped_line in scored.run.links.skipped_lines:
        layout = scored.run.layouts[skipped_line.file]
        if layout.kind is not FileKind.RUN:
            continue
        # Only responses have their confidence as a number; for a skipped line, only the text is kept.
        text_by_column = dict(zip(layout.columns, split_columns(skipped_line.text)))
        if text_by_column["RUNID"] == scored.run_id:
            confidence = read_confidence(text_by_column["CONFIDENCE"]).value
            lines.append(_LineWithConfidence(confidence, skipped_line))
    return sorted(lines, key=attrgetter("confidence"))


def thresholds(confidences: Sequence[float]) -> list[float]:
    """Return the thresholds for lines with these confidences: each confidence once, in ascending order.

    If there are more than 100 different confidences, 100 of them are taken at equal distances in their order. Runs of
    more than 10,000 lines have fewer thresholds, in inverse proportion to their lines, but up to 10 in any case.
    """
    distinct = sorted(set(confidences))
    threshold_count = _MOST_THRESHOLDS
    if len(confidences) > _LARGE_RUN:
        threshold_count = max(_FEWEST_THRESHOLDS, _MOST_THRESHOLDS * _LARGE_RUN // len(confidences))
    if len(distinct) <= threshold_count:
        return distinct
    positions = [number * len(distinct) // threshold_count for number in range(threshold_count)]
    return [distinct[position] for position in positions]
