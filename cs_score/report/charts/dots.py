"""Dots by row: several scores of each group on one axis, told apart by form and colour; intervals as lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from cs_score.base.records import Record, field
from cs_score.report.charts.bars import LABELS, ROW, horizontal_axis
from cs_score.report.charts.drawing import LETTER, WIDTH, Drawing
from cs_score.report.charts.scale import Scale, unit_scale

PLACES: Final = (LABELS + 14, WIDTH - 14)
"""Where the axis begins and ends."""

_TOP: Final = 28.0
_BELOW: Final = 42.0


class Dots(Record):
    """A row: its label, its numbers by series, and intervals of some."""

    label: str
    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def dots(
    name: str,
    title: str,
    description: str,
    axes: tuple[str, str],
    series: Sequence[str],
    rows: Sequence[Dots],
    *,
    of: str = "",
    across: Scale | None = None,
) -> Drawing:
    """One row under the other, on an axis from 0 to 1 where no other is given. At most three series.

    `axes` names the numbers, and what the rows are.
    """
    bottom = _TOP + ROW * len(rows)
    drawing = Drawing(name, title, description, bottom + _BELOW, of)
    across = across or unit_scale(*PLACES)
    legend(drawing, series, across.start)
    horizontal_axis(drawing, across, _TOP, bottom, axes[0])
    drawing.text("axis-title", 0, bottom + 33, axes[1], wide=LABELS)
    for at, row in enumerate(rows):
        middle = _TOP + ROW * (at + 0.5)
        drawing.text("label", LABELS, middle + 4, row.label, anchor="end", wide=LABELS)
        drawing.line("grid", across.start, middle, across.end, middle)
        for position, each in enumerate(series):
            if each in row.intervals:
                low, high = row.intervals[each]
                drawing.line(f"line{position + 1}", across.at(low), middle, across.at(high), middle)
            if each in row.values:
                value = row.values[each]
                drawing.marker(position, across.at(value), middle, f"{row.label}: {each} {value:.4f}")
    return drawing


def legend(drawing: Drawing, series: Sequence[str], left: float) -> None:
    """The names of the series behind their markers, in one line at the top."""
    for position, each in enumerate(series):
        drawing.marker(position, left + 4, 12)
        drawing.text("label", left + 13, 16, each)
        left += 13 + LETTER * len(each) + 18
