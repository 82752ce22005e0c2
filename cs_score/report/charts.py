"""Charts: bars, dots by row, curves, and grids of coloured cells. Each takes numbers and untrusted texts.

The first arguments of all are the name and the title of the drawing, and the names of its axes: of the one across with
its unit, and of what the rows are. `about` describes it to those who do not see it; numbers of bars and dots follow.
`of` distinguishes a chart from others of its kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from cs_score.base.records import Record, field
from cs_score.report.drawing import LETTER, WIDTH, Drawing, Scale, Target, scale, unit_scale

LABELS: Final = 152.0
"""Units for the labels of rows, to the left."""

DOT_PLACES: Final = (LABELS + 14, WIDTH - 14)
"""Where the axis of dots begins and ends."""

SHADES: Final = 6
_ROW: Final = 24.0
_NOTES: Final = 56.0
_LEGEND: Final = 28.0
_BELOW: Final = 42.0

Axes: TypeAlias = tuple[str, str]


class Bar(Record):
    """A bar from one number to another, named by `label`; `note` stands beside it, `target` is where it leads."""

    label: str
    start: float
    end: float
    note: str
    target: Target | None = None


def bars(
    name: str, title: str, axes: Axes, rows: Sequence[Bar], *, about: str = "", from_zero: bool = True, of: str = ""
) -> Drawing:
    """Horizontal bars: gains and contributions from zero, to the left where they are negative; steps of a score."""
    description = f"{about}{'; '.join(f'{row.label} {row.note}' for row in rows)}."
    top = 8.0
    bottom = top + _ROW * len(rows)
    drawing = Drawing(name, title, description, bottom + _BELOW, of)
    across = scale([end for row in rows for end in (row.start, row.end)], LABELS + 10, WIDTH - _NOTES, from_zero)
    _horizontal_axis(drawing, across, top, bottom, axes[0])
    drawing.text("axis-title", 0, bottom + 33, axes[1], wide=LABELS)
    for at, row in enumerate(rows):
        y = top + _ROW * at
        left, right = sorted((across.at(row.start), across.at(row.end)))
        kind = "fill1" if row.end >= row.start else "fill2"
        with drawing.leading_to(row.target):
            drawing.text("label", LABELS, y + _ROW / 2 + 4, row.label, anchor="end", wide=LABELS)
            if row.end != row.start:
                drawing.rectangle(kind, left, y + 5, max(right - left, 1), _ROW - 10, f"{row.label}: {row.note}")
        drawing.text("note", WIDTH, y + _ROW / 2 + 4, row.note, anchor="end")
    if from_zero:
        drawing.line("axis", across.at(0.0), top, across.at(0.0), bottom)
    return drawing


class Dots(Record):
    """A row: its label, its numbers by series, and intervals of some."""

    label: str
    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __str__(self) -> str:
        numbers = []
        for name, value in self.values.items():
            low, high = self.intervals.get(name, (None, None))
            numbers.append(f"{name} {value:.4f}" + ("" if low is None else f" ({low:.4f} to {high:.4f})"))
        return f"{self.label}: {', '.join(numbers)}"


def limits(interval: Any, series: str) -> dict[str, tuple[float, float]]:
    """An interval as that of a series; none where it lacks a limit."""
    low, high = getattr(interval, "low", None), getattr(interval, "high", None)
    return {} if low is None or high is None else {series: (low, high)}


def dots(
    name: str,
    title: str,
    axes: Axes,
    rows: Sequence[Dots],
    *,
    about: str = "",
    of: str = "",
    across: Scale | None = None,
) -> Drawing:
    """Scores of each row, at most three, distinguished by form and colour; the axis is from 0 to 1 unless given."""
    series = list(dict.fromkeys(each for row in rows for each in row.values))
    description = f"{about}{'; '.join(map(str, rows))}."
    bottom = _LEGEND + _ROW * len(rows)
    drawing = Drawing(name, title, description, bottom + _BELOW, of)
    across = across or unit_scale(*DOT_PLACES)
    _legend(drawing, series, across.start)
    _horizontal_axis(drawing, across, _LEGEND, bottom, axes[0])
    drawing.text("axis-title", 0, bottom + 33, axes[1], wide=LABELS)
    for at, row in enumerate(rows):
        middle = _LEGEND + _ROW * (at + 0.5)
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


Curve: TypeAlias = Sequence[tuple[float, float]]


def lines(
    name: str,
    title: str,
    axes: Axes,
    about: str,
    curves: Mapping[str, Curve],
    *,
    mark: tuple[float, str] | None = None,
    with_diagonal: bool = False,
    of: str = "",
) -> Drawing:
    """At most three curves; what is above is from 0 to 1.

    `mark` is a place across and its text; `with_diagonal` draws where both are equal, and the axis across is from 0 to
    1 then.
    """
    left, right, bottom = 52.0, WIDTH - 14, 228.0
    drawing = Drawing(name, title, about, bottom + _BELOW, of)
    places = [x for curve in curves.values() for x, _ in curve]
    across = unit_scale(left, right) if with_diagonal else scale(places, left, right)
    upwards = unit_scale(bottom, _LEGEND)
    _legend(drawing, list(curves), left)
    for place, text in upwards.ticks():
        drawing.line("grid", left, place, right, place)
        drawing.text("tick", left - 8, place + 4, text, anchor="end")
    _horizontal_axis(drawing, across, _LEGEND, bottom, axes[0])
    drawing.upright_text("axis-title", 14, (_LEGEND + bottom) / 2, axes[1])
    if with_diagonal:
        drawing.path("dashed", [(across.at(0), upwards.at(0)), (across.at(1), upwards.at(1))])
    for position, (series, curve) in enumerate(curves.items()):
        drawing.path(f"line{position + 1}", [(across.at(x), upwards.at(y)) for x, y in curve])
        if len(curve) <= 20:
            for x, y in curve:
                drawing.marker(position, across.at(x), upwards.at(y), f"{series}: {y:.4f} at {x:.4g}")
    if mark is not None:
        place, text = across.at(mark[0]), mark[1]
        drawing.path("dashed", [(place, _LEGEND), (place, bottom)])
        is_right = place > (left + right) / 2
        drawing.text("note", place + (-6 if is_right else 6), bottom - 8, text, anchor="end" if is_right else "start")
    return drawing


def shade(value: float) -> int:
    """The shade of a number from 0 to 1."""
    return int(min(max(value, 0.0), 0.999) * SHADES)


def grid(
    name: str,
    title: str,
    axes: Axes,
    about: str,
    rows: Sequence[tuple[str, Sequence[float | None]]],
    columns: Sequence[str],
    *,
    of: str = "",
) -> Drawing:
    """Rows of numbers from 0 to 1, such as units by runs, None where there is none: the darker, the higher."""
    height, legend, left = 14.0, 30.0, LABELS + 8
    head = min(110.0, max(map(len, columns), default=0) * LETTER + 14)
    bottom = legend + head + height * len(rows)
    drawing = Drawing(name, title, about, bottom + 40, of)
    for each in range(SHADES):
        drawing.rectangle(f"shade{each}", left + 26 * each, 4, 24, 8)
        drawing.text("tick", left + 26 * each, 24, f"{each / SHADES:.2f}", wide=26)
    wide = min((WIDTH - left) / max(len(columns), 1), 40.0)
    for at, label in enumerate(columns):
        if wide >= 9 or at % round(9 / wide + 0.5) == 0:
            drawing.upright_text("tick", left + wide * (at + 0.5) + 4, legend + head - 6, label, wide=head - 14)
    for number, (label, values) in enumerate(rows):
        top = legend + head + height * number
        drawing.text("tick", LABELS, top + height - 3.5, label, anchor="end", wide=LABELS)
        for at, value in enumerate(values):
            kind = "nothing" if value is None else f"shade{shade(value)}"
            shown = "none" if value is None else f"{value:.4f}"
            place = (left + wide * at, top, max(wide - 1, 1), height - 1)
            drawing.rectangle(kind, *place, f"{label}, {columns[at]}: {shown}")
    drawing.text("axis-title", left, bottom + 18, axes[0])
    drawing.text("axis-title", 0, bottom + 18, axes[1], wide=LABELS)
    return drawing


def _horizontal_axis(drawing: Drawing, across: Scale, top: float, bottom: float, title: str) -> None:
    """Grid lines from top to bottom, their numbers and the title of the axis below."""
    for place, text in across.ticks():
        drawing.line("grid", place, top, place, bottom)
        drawing.text("tick", place, bottom + 15, text, anchor="middle")
    middle = (across.start + across.end) / 2
    drawing.text("axis-title", middle, bottom + 33, title, anchor="middle", wide=2 * (WIDTH - middle) + _NOTES)


def _legend(drawing: Drawing, series: Sequence[str], left: float) -> None:
    """The names of the series behind their markers, in one line at the top."""
    for position, each in enumerate(series):
        drawing.marker(position, left + 4, 12)
        drawing.text("label", left + 13, 16, each)
        left += 13 + LETTER * len(each) + 18
