"""The `.intervals` file: every number of the summaries with its bootstrap interval."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cs_score.base.display import aligned
from cs_score.statistics.notes import sentences
from cs_score.statistics.score_intervals import ScoreIntervals

_HEADINGS: Final = ("Measure", "RunID", "Score", "Low", "High", "StdErr", "Note")
_TO_THE_RIGHT: Final = frozenset({"Score", "Low", "High", "StdErr"})
_METHOD_NAMES: Final = {"percentile": "percentile", "bca": "BCa"}


def intervals_text(intervals: ScoreIntervals, run_id: str, tabs: bool = False) -> Iterator[str]:
    """A line per number, with four decimals, then notes on all of them, and last how the limits were found.

    With `tabs` the columns are separated by one tab instead of being aligned, and numbers have all their digits. Where
    there is no interval stands a hyphen, with tabs nothing.
    """
    rows: list[tuple[str, ...]] = [_HEADINGS]
    for measure, interval in intervals.scores.items():
        numbers = (interval.point, interval.low, interval.high, interval.standard_error)
        if tabs:
            cells = ["" if number is None else repr(number) for number in numbers]
        else:
            cells = ["-" if number is None else f"{number:6.4f}" for number in numbers]
        rows.append((measure, run_id, *cells, interval.note))
    to_the_right = [heading in _TO_THE_RIGHT for heading in _HEADINGS]
    for line in map("\t".join, rows) if tabs else aligned(rows, to_the_right, gap=" "):
        yield line + "\n"
    yield "\n"
    for note in sentences(intervals.notes):
        yield f"*{note}\n"
    settings = intervals.resampling
    yield (
        f"*Low and High: {settings.confidence:g}% {_METHOD_NAMES[settings.method]} bootstrap interval from "
        f"{settings.resamples} resamples; units of resampling ({settings.unit}): {intervals.units}; "
        f"seed {settings.seed}.\n"
    )
