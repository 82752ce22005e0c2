"""Bootstrap intervals of the scores of one result, as records."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cs_score.statistics.results import ScoreIntervals


class IntervalRow(NamedTuple):
    """The interval of one score.

    `score` (0 to 1) with the limits of its interval and its standard error, None where too many resamples are
    undefined; `note` is what a reader must know of it, empty where there is nothing.
    """

    measure: str
    score: float
    low: float | None
    high: float | None
    standard_error: float | None
    note: str


def interval_rows(found: ScoreIntervals) -> list[IntervalRow]:
    """The intervals as records, in the order of tables."""
    return [
        IntervalRow(measure, one.point, one.low, one.high, one.standard_error, one.note)
        for measure, one in found.scores.items()
    ]
