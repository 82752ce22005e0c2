"""Scorers of evidence-based fact checking: SciFact, claims, R4C and HotpotQA, and intervals for what they give."""

from cs_score.evidence.mode import intervals
from cs_score.statistics.results import ScoreIntervals

__all__ = ["ScoreIntervals", "intervals"]
