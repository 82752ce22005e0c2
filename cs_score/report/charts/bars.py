"""Horizontal bars: gains and contributions from zero, to the left where they are negative; steps of a score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cs_score.base.records import Record
from cs_score.report.charts.drawing import WIDTH, Drawing, Target
from cs_score.report.charts.scale import Scale, scale

LABELS: Final = 152.0
ROW: Final = 24.0
NOTES: Final = 56.0
_TOP: Final = 8.0
_BELOW: Final = 42.0


class Bar(Record):
    """A bar from one number to another, named by `label`; `note` stands beside it, `target` is where it leads."""

    label: str
    start: float
    end: float
    note: str
    target: Target | None = None


def bars(
    name: str,
    title: str,
    description: str,
    axes: tuple[str, str],
    rows: Sequence[Bar],
    *,
    from_zero: bool = True,
    of: str = "",
) -> Drawing:
    """One bar under the other. `axes` names the numbers with their unit, and what the rows are."""
    drawing = Drawing(name, title, description, _TOP + ROW * len(rows) + _BELOW, of)
    ends = [end for row in rows for end in (row.start, row.end)]
    across = scale(ends, LABELS + 10, WIDTH - NOTES, with_zero=from_zero)
    bottom = _TOP + ROW * len(rows)
    horizontal_axis(drawing, across, _TOP, bottom, axes[0])
    drawing.text("axis-title", 0, bottom + 33, axes[1], wide=LABELS)
    for at, row in enumerate(rows):
        top = _TOP + ROW * at
        left, right = sorted((across.at(row.start), across.at(row.end)))
        kind = "fill1" if row.end >= row.start else "fill2"
        with drawing.leading_to(row.target):
            drawing.text("label", LABELS, top + ROW / 2 + 4, row.label, anchor="end", wide=LABELS)
            if row.end != row.start:
                drawing.rectangle(kind, left, top + 5, max(right - left, 1), ROW - 10, f"{row.label}: {row.note}")
        drawing.text("note", WIDTH, top + ROW / 2 + 4, row.note, anchor="end")
    if from_zero:
        drawing.line("axis", across.at(0.0), _TOP, across.at(0.0), bottom)
    return drawing


def horizontal_axis(drawing: Drawing, across: Scale, top: float, bottom: float, title: str) -> None:
    """Grid lines from top to bottom, their numbers and the title of the axis below."""
    for place, text in across.ticks():
        drawing.line("grid", place, top, place, bottom)
        drawing.text("tick", place, bottom + 15, text, anchor="middle")
    middle = (across.start + across.end) / 2
    drawing.text("axis-title", middle, bottom + 33, title, anchor="middle", wide=2 * (WIDTH - middle) + NOTES)
