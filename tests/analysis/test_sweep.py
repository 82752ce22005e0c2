"""Thresholds of confidence against the scorer: each score is that of the files without the lines below it (law 1)."""

from __future__ import annotations

from cs_score.analysis.coldstart.confidence import thresholds


def test_thresholds_are_the_confidences_or_their_percentiles() -> None:
    assert thresholds([0.5, 0.25, 0.5]) == [0.25, 0.5]
    many = [at / 1000 for at in range(1000, 0, -1)]
    assert thresholds(many) == [at / 1000 for at in range(1, 1000, 10)]
    # Large runs have fewer: each of them costs a part of scoring the run.
    assert thresholds(many * 10) == thresholds(many)
    assert thresholds(many * 20) == [at / 1000 for at in range(1, 1000, 20)]
    assert thresholds(many * 100) == [at / 1000 for at in range(1, 1000, 100)]
    assert thresholds([0.5] * 1_000_000) == [0.5]
