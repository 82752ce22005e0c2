"""How far rankings by different measures and under different policies agree, and how firm their first places are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from cs_score.analysis.many.kendall import TIE_TOLERANCE, order_of, tau_b
from cs_score.base.records import Record

Ranked: TypeAlias = tuple[str, str]
"""What ranks: a measure, by name, and a policy."""

Scores: TypeAlias = Mapping[Ranked, Sequence[float | None]]
"""The score of each run, by position, under what ranks; None where it has none."""


class Ranking(Record):
    """One ranking: the runs in first place by their position, and the share of resamples in which none of them is first
    (None without resamples, and where too many give a run no score).
    """

    by: Ranked
    first: tuple[int, ...]
    changes: float | None = None


class RankPair(Record):
    """Two rankings: tau-b over the `runs` that both have (None where it is undefined), and its interval where there is
    one.
    """

    a: Ranked
    b: Ranked
    runs: int
    tau: float | None
    interval: tuple[float, float] | None = None


class Stability(Record):
    """All rankings, and all pairs of them."""

    rankings: Sequence[Ranking]
    pairs: Sequence[RankPair]


def stability(scores: Scores) -> Stability:
    """Compare all rankings; `resampled_ranks.with_resamples` adds how much they scatter."""
    return Stability([Ranking(by, _first(of_runs)) for by, of_runs in scores.items()], _pairs(scores))


def _pairs(scores: Scores) -> list[RankPair]:
    pairs = []
    orders = {by: order_of(of_runs) for by, of_runs in scores.items() if None not in of_runs}  # type: ignore[arg-type]
    for a, b in combinations(scores, 2):
        both = [(x, y) for x, y in zip(scores[a], scores[b]) if x is not None and y is not None]
        if a in orders and b in orders:
            tau = tau_b(orders[a], orders[b])
        else:
            tau = tau_b(order_of([x for x, _ in both]), order_of([y for _, y in both]))
        pairs.append(RankPair(a, b, len(both), tau))
    return pairs


def _first(scores: Sequence[float | None]) -> tuple[int, ...]:
    """The runs with the highest score, by position; scores that are equal but for rounding are equal."""
    known = [score for score in scores if score is not None]
    best = max(known, default=0.0)
    least = best - TIE_TOLERANCE * abs(best)
    return tuple(place for place, score in enumerate(scores) if score is not None and score >= least)
