"""Charts as SVG: bars, dots by row, curves, and grids of coloured cells.

Each is drawn from numbers and from texts of inputs, which are untrusted. A chart has a description for readers who do
not see it, with all its numbers.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from cs_score.base.display import cell, with_minus_signs
from cs_score.base.records import Record, field
from cs_score.base.runtime import Late

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = Late("lxml.etree")  # a batch without pages has no use for it

WIDTH: Final = 420.0
"""Units of every chart: near the pixels that a telephone has, so that letters stay readable there."""

LETTER: Final = 7.5
"""Units that a narrow letter takes, roughly, in the larger text of a telephone."""

_NAMESPACE: Final = "http://www.w3.org/2000/svg"

_MARGIN: Final = 14.0
_TITLE_HEIGHT: Final = 26.0

_KINDS_OF_NUMBERS: Final = ("tick", "note", "axis-title")
"""Texts of numbers, whose hyphens are minus signs; labels may be ids."""

_MARKER_SHAPES: Final = ("M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "M-3.5-3.5h7v7h-7z", "M0-4.5L4.5 3.5h-9z")
"""The paths of a disc, a square and a triangle around the origin."""


class Caption(Record):
    """The name and title of a chart, and the titles of its axes.

    `name` begins the ids of its elements, so that it is unique on a page. `across` is the title of the axis across,
    with its unit; `upwards` is that of the other axis, or what the rows are. `of` distinguishes a chart from others of
    its kind, such as the dimension of groups.
    """

    name: str
    title: str
    across: str
    upwards: str
    of: str = ""


class ChartTarget(Record):
    """The rows of a table of the page in which a column has a value; a part of a chart can lead there."""

    table: str
    column: str
    value: str


class Drawing:
    """An SVG image, `WIDTH` units wide, with a title and a description of what it shows."""

    def __init__(self, caption: Caption, description: str, height: float) -> None:
        """Begin an empty image of so many units of height."""
        self.of = caption.of
        self.title = caption.title
        self.height = height
        name = caption.name
        attributes = {
            "xmlns": _NAMESPACE,
            "viewBox": f"0 0 {_number(WIDTH)} {_number(height)}",
            "role": "img",
            "aria-labelledby": f"{name}-title {name}-desc",
            "class": "chart",
        }
        self._root = etree.Element("svg", attributes)
        self._parent = self._root
        title_element = etree.SubElement(self._root, "title", {"id": f"{name}-title"})
        title_element.text = _safe(caption.title)
        description_element = etree.SubElement(self._root, "desc", {"id": f"{name}-desc"})
        description_element.text = _safe(with_minus_signs(description))

    @contextmanager
    def leading_to(self, target: ChartTarget | None) -> Iterator[None]:
        """Make a link to `target` of all that is drawn in the block; None: no link."""
        if target is not None:
            self._root.set("role", "group")  # screen readers do not reach the parts of an image
            attributes = {"href": f"#{target.table}", "data-column": target.column, "data-value": _safe(target.value)}
            self._parent = etree.SubElement(self._root, "a", attributes)
        yield
        self._parent = self._root

    def line(self, kind: str, x1: float, y1: float, x2: float, y2: float) -> None:
        """Draw a straight line; `kind` is its class in the style sheet."""
        self._add("line", kind, x1=x1, y1=y1, x2=x2, y2=y2)

    def rectangle(self, kind: str, x: float, y: float, width: float, height: float, title: str | None = None) -> None:
        """Draw a filled rectangle; a pointer over it shows `title`."""
        self._add("rect", kind, title, x=x, y=y, width=width, height=height)

    def path(self, kind: str, points: Iterable[tuple[float, float]]) -> None:
        """Draw straight lines from point to point."""
        steps = []
        for position, (x, y) in enumerate(points):
            command = "L" if position else "M"
            steps.append(f"{command}{_pair(x, y)}")
        self._add("path", kind, d=" ".join(steps))

    def marker(self, series: int, x: float, y: float, title: str | None = None) -> None:
        """Draw a marker at a point; its form and its colour tell the series (0: disc, 1: square, 2: triangle)."""
        shape = _MARKER_SHAPES[series % len(_MARKER_SHAPES)]
        self._add("path", f"fill{series + 1}", title, d=shape, transform=f"translate({_pair(x, y)})")

    def text(self, kind: str, x: float, y: float, text: str, *, anchor: str = "start", wide: float = WIDTH) -> None:
        """Write a line of text, cut to `wide` units; a pointer over a cut text shows all of it."""
        self._write(text, wide, kind, x=x, y=y, **{"text-anchor": anchor})

    def upright_text(self, kind: str, x: float, y: float, text: str, *, wide: float | None = None) -> None:
        """Write a line of text upwards: around the point or, if it is cut to `wide` units, from the point on."""
        transform = f"translate({_pair(x, y)}) rotate(-90)"
        if wide is None:
            self._write(text, math.inf, kind, transform=transform, **{"text-anchor": "middle"})
        else:
            self._write(text, wide, kind, transform=transform, **{"text-anchor": "start"})

    def axis(self, across: Scale, top: float, bottom: float, title: str) -> None:
        """Draw grid lines from top to bottom, with their numbers and the title of the axis below."""
        for tick in across.ticks():
            self.line("grid", tick.place, top, tick.place, bottom)
            self.text("tick", tick.place, bottom + 15, tick.text, anchor="middle")
        middle = (across.start + across.end) / 2
        self.text("axis-title", middle, bottom + 33, title, anchor="middle", wide=2 * (WIDTH - middle) + _NOTES)

    def legend(self, series_names: Iterable[str], left: float) -> None:
        """Write the names of the series, each behind its marker, in one line at the top."""
        for series, name in enumerate(series_names):
            self.marker(series, left + 4, 12)
            self.text("label", left + 13, 16, name)
            left += 13 + LETTER * len(name) + 18

    def _write(self, text: str, wide: float, kind: str, **attributes: float | str) -> None:
        """Add a text element, cut to `wide` units."""
        shown_text = with_minus_signs(text) if kind in _KINDS_OF_NUMBERS else text
        safe_text = _safe(shown_text)
        short_text = shortened(safe_text, wide)
        title = None if short_text == safe_text else text
        self._add("text", kind, title, **attributes).text = short_text

    def _add(self, tag: str, kind: str, title: str | None = None, **attributes: float | str) -> etree._Element:
        """Add an element with a class, a title for the pointer, and attributes; return it."""
        texts = {name: value if isinstance(value, str) else _number(value) for name, value in attributes.items()}
        element = etree.SubElement(self._parent, tag, {"class": kind, **texts})
        if title is not None:
            etree.SubElement(element, "title").text = _safe(title)
        return element

    def svg(self) -> str:
        """Return the image for a page, which has the style sheet."""
        return etree.tostring(self._root, encoding="unicode")

    def standalone(self) -> str:
        """Return the image as a file of its own: with its title above, a margin, and the colours for paper."""
        root = etree.fromstring(self.svg())
        root.set("role", "img")
        etree.strip_tags(root, f"{{{_NAMESPACE}}}a")
        width = WIDTH + 2 * _MARGIN
        height = self.height + _TITLE_HEIGHT + 2 * _MARGIN
        root.set("viewBox", f"0 0 {_number(width)} {_number(height)}")
        root.set("width", _number(width))
        root.set("height", _number(height))
        self._put_title(root)
        style = etree.Element(f"{{{_NAMESPACE}}}style")
        style.text = _style_for_paper()
        root.insert(0, style)
        return f"{etree.tostring(root, encoding='unicode')}\n"

    def _put_title(self, root: etree._Element) -> None:
        """Move all that is drawn down, and write the title above."""
        drawn = [element for element in root if etree.QName(element).localname not in ("title", "desc")]
        group = etree.Element(f"{{{_NAMESPACE}}}g", transform=f"translate({_pair(_MARGIN, _MARGIN + _TITLE_HEIGHT)})")
        group.extend(drawn)
        attributes = {"class": "title", "x": _number(_MARGIN), "y": _number(_MARGIN + 12)}
        title = etree.SubElement(root, f"{{{_NAMESPACE}}}text", attributes)
        title.text = shortened(_safe(with_minus_signs(self.title)), WIDTH)
        root.append(group)


def chart_style() -> str:
    """Return the style sheet of all charts; its first rule names the colours."""
    return (files("cs_score.pages") / "templates" / "chart.css").read_text("utf-8")


def _style_for_paper() -> str:
    """Return the style sheet with colours in the place of their names, which not every reader of SVG knows.

    Rules for dark screens are left out.
    """
    names, _, rules = chart_style().partition("}")
    color_by_name = dict(re.findall(r"--([a-z0-9-]+):\s*([^;]+);", names))
    rules = re.sub(r"@media[^{]*\{[^{}]*\{[^{}]*\}\s*\}", "", rules)
    return re.sub(r"var\(--([a-z0-9-]+)\)", lambda match: color_by_name[match.group(1)], rules).strip()


def shortened(text: str, wide: float) -> str:
    """Return as much of a text as fits into so many units, an ellipsis if it is cut; wide characters count twice."""
    width = 0.0
    for position, character in enumerate(text):
        width += LETTER * _relative_width(character)
        is_last = position == len(text) - 1
        if width > wide and not is_last:
            return text[: max(position - 1, 0)] + "…"
    return text


def _relative_width(character: str) -> float:
    """Return the width of a character, measured in narrow letters."""
    if unicodedata.east_asian_width(character) in "WF":
        return 2
    return 1.3 if character.isupper() else 1


def _safe(text: str) -> str:
    """Return a text of an input on one line and without control characters, cut to 500 characters."""
    return cell(text, 500)


def _pair(x: float, y: float) -> str:
    """Return a point as SVG writes it: `12 3.5`."""
    return f"{_number(x)} {_number(y)}"


def _number(value: float) -> str:
    """Return a number with at most two decimals, without zeros at the end: `12`, `3.5`."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")  # adding 0.0 turns minus zero into zero


# ---- Scales


class Tick(NamedTuple):
    """A number of an axis: its place, and its text."""

    place: float
    text: str


class Scale(Record):
    """An axis from `start` to `end`, in units, for numbers from `low` to `high`, with a number at each `step`."""

    start: float
    end: float
    low: float = 0.0
    high: float = 1.0
    step: float = 0.2

    def at(self, value: float) -> float:
        """Return the place of a number."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[Tick]:
        """Return the numbers of the axis, with as many decimals as distinguish them."""
        decimals = max(0, -math.floor(math.log10(self.step) + 1e-9))
        step_count = round((self.high - self.low) / self.step)
        ticks = []
        for position in range(step_count + 1):
            value = self.low + position * self.step
            ticks.append(Tick(self.at(value), f"{round(value, decimals) + 0.0:.{decimals}f}"))
        return ticks


def scale(values: Iterable[float], start: float, end: float, with_zero: bool = False) -> Scale:
    """Return a scale of about five round steps that holds all values, and zero if it is wanted."""
    numbers = list(values)
    if with_zero or not numbers:
        numbers.append(0.0)
    low = min(numbers)
    high = max(numbers)
    if high - low < 1e-12 and with_zero:
        high = low + 1e-2
    elif high - low < 1e-12:
        low -= 0.5
        high += 0.5
    step = _round_step((high - low) / 5)
    first = math.floor(low / step + 1e-9) * step
    last = math.ceil(high / step - 1e-9) * step
    return Scale(start, end, first, last, step)


def _round_step(smallest: float) -> float:
    """Return the smallest of 1, 2, 5 and 10 times a power of ten that is not less than a number: 0.13 -> 0.2."""
    power = 10.0 ** math.floor(math.log10(smallest))
    for factor in (1, 2, 5):
        if factor * power >= smallest * (1 - 1e-9):
            return factor * power
    return 10 * power


# ---- Bars

LABELS: Final = 152.0
"""Units for the labels of rows, to the left."""

DOT_PLACES: Final = (LABELS + 14, WIDTH - 14)
"""Where the axis of dots begins and ends."""

SHADES: Final = 6
_ROW: Final = 24.0
_APART: Final = 7.0
"""Units between the markers of two series of a row, which would hide each other on one line."""

_HEAD: Final = 24.0
"""The height above the rows of bars, in which the name of the rows is written."""

_NOTES: Final = 56.0
_LEGEND: Final = 28.0
_BELOW: Final = 42.0


class Bar(Record):
    """A bar from one number to another. `label` names it, `note` is written beside it, `target` is its link."""

    label: str
    start: float
    end: float
    note: str
    target: ChartTarget | None = None


def bars(caption: Caption, rows: Sequence[Bar], *, about: str = "", from_zero: bool = True) -> Drawing:
    """Draw horizontal bars: gains and contributions from zero, or the steps of a score.

    Bars that lead to a smaller number have another colour. `about` begins the description, which has all notes. With
    `from_zero` the axis holds zero.
    """
    numbers = "; ".join([f"{row.label} {row.note}" for row in rows])
    top = _HEAD
    bottom = top + _ROW * len(rows)
    drawing = Drawing(caption, f"{about}{numbers}.", bottom + _BELOW)
    ends: list[float] = []
    for row in rows:
        ends += [row.start, row.end]
    across = scale(ends, LABELS + 10, WIDTH - _NOTES, from_zero)
    drawing.axis(across, top, bottom, caption.across)
    drawing.text("axis-title", LABELS, top - 8, caption.upwards, anchor="end", wide=LABELS)
    for position, row in enumerate(rows):
        _draw_bar(drawing, row, across, top + _ROW * position)
    if from_zero:
        drawing.line("axis", across.at(0.0), top, across.at(0.0), bottom)
    return drawing


def _draw_bar(drawing: Drawing, row: Bar, across: Scale, top: float) -> None:
    """Draw a bar with its label and its note, in the row that begins at `top`."""
    baseline = top + _ROW / 2 + 4
    left, right = sorted((across.at(row.start), across.at(row.end)))
    kind = "fill1" if row.end >= row.start else "fill2"
    with drawing.leading_to(row.target):
        drawing.text("label", LABELS, baseline, row.label, anchor="end", wide=LABELS)
        if row.end != row.start:
            drawing.rectangle(kind, left, top + 5, max(right - left, 1), _ROW - 10, f"{row.label}: {row.note}")
    drawing.text("note", WIDTH, baseline, row.note, anchor="end")


# ---- Dots


class Dots(Record):
    """A row of scores: its label, the score of each series, and intervals of some."""

    label: str
    values: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __str__(self) -> str:
        numbers = []
        for series, value in self.values.items():
            text = f"{series} {value:.4f}"
            if series in self.intervals:
                low, high = self.intervals[series]
                text += f" ({low:.4f} to {high:.4f})"
            numbers.append(text)
        return f"{self.label}: {', '.join(numbers)}"


def limits(interval: Any, series: str) -> dict[str, tuple[float, float]]:
    """Return an interval as that of a series; empty if it lacks a limit, or there is none."""
    low = getattr(interval, "low", None)
    high = getattr(interval, "high", None)
    if low is None or high is None:
        return {}
    return {series: (low, high)}


def dots(caption: Caption, rows: Sequence[Dots], *, about: str = "", across: Scale | None = None) -> Drawing:
    """Draw the scores of each row as markers, with their intervals as lines.

    There are at most three series, which differ by form and colour. The axis is from 0 to 1 unless given. `about`
    begins the description, which has all scores.
    """
    series_names = list(dict.fromkeys([series for row in rows for series in row.values]))
    numbers = "; ".join([str(row) for row in rows])
    row_height = max(_ROW, 10 * len(series_names))
    bottom = _LEGEND + row_height * len(rows)
    drawing = Drawing(caption, f"{about}{numbers}.", bottom + _BELOW)
    across = across or Scale(*DOT_PLACES)
    drawing.legend(series_names, across.start)
    drawing.axis(across, _LEGEND, bottom, caption.across)
    drawing.text("axis-title", LABELS, 16, caption.upwards, anchor="end", wide=LABELS)
    for position, row in enumerate(rows):
        middle = _LEGEND + row_height * (position + 0.5)
        drawing.text("label", LABELS, middle + 4, row.label, anchor="end", wide=LABELS)
        drawing.line("grid", across.start, middle, across.end, middle)
        _draw_dots(drawing, row, series_names, across, middle)
    return drawing


def _draw_dots(drawing: Drawing, row: Dots, series_names: Sequence[str], across: Scale, middle: float) -> None:
    """Draw the interval and the marker of each series of a row, one below the other around `middle`."""
    for series, name in enumerate(series_names):
        y = middle + (series - (len(series_names) - 1) / 2) * _APART
        if name in row.intervals:
            low, high = row.intervals[name]
            drawing.line(f"line{series + 1}", across.at(low), y, across.at(high), y)
        if name in row.values:
            value = row.values[name]
            drawing.marker(series, across.at(value), y, f"{row.label}: {name} {value:.4f}")


# ---- Curves

Curve: TypeAlias = Sequence[tuple[float, float]]
"""The points of a curve."""

_HIGH: Final = 0.9
"""Points above this height have their number below them, so that it does not overlap the legend."""

_MOST_MARKERS: Final = 20
"""Points up to which a curve has markers."""


class Mark(NamedTuple):
    """A number of the axis across at which an upright line with a text is drawn."""

    value: float
    text: str


def lines(
    caption: Caption,
    about: str,
    curves: Mapping[str, Curve],
    *,
    mark: Mark | None = None,
    with_diagonal: bool = False,
    counts: Sequence[int] = (),
) -> Drawing:
    """Draw at most three curves, by the name of their series; the axis upwards is from 0 to 1.

    With `with_diagonal` the axis across is from 0 to 1, too, and a line shows where both are equal. `counts` are
    numbers that are written beside the points of the first curve, such as the number of answers behind a point. `about`
    is the description.
    """
    left = 52.0
    right = WIDTH - 14
    bottom = 228.0
    drawing = Drawing(caption, about, bottom + _BELOW)
    values_across = [x for curve in curves.values() for x, _ in curve]
    across = Scale(left, right) if with_diagonal else scale(values_across, left, right)
    upwards = Scale(bottom, _LEGEND)
    drawing.legend(curves, left)
    for tick in upwards.ticks():
        drawing.line("grid", left, tick.place, right, tick.place)
        drawing.text("tick", left - 8, tick.place + 4, tick.text, anchor="end")
    drawing.axis(across, _LEGEND, bottom, caption.across)
    drawing.upright_text("axis-title", 14, (_LEGEND + bottom) / 2, caption.upwards)
    if with_diagonal:
        drawing.path("dashed", [(across.at(0), upwards.at(0)), (across.at(1), upwards.at(1))])
    for series, (name, curve) in enumerate(curves.items()):
        points = [(across.at(x), upwards.at(y)) for x, y in curve]
        drawing.path(f"line{series + 1}", points)
        if len(curve) <= _MOST_MARKERS:
            for point, (x, y) in zip(points, curve):
                drawing.marker(series, *point, f"{name}: {y:.4f} at {x:.4g}")
    first_curve = next(iter(curves.values()), ())
    for (x, y), count in zip(first_curve, counts):
        distance = 16 if y > _HIGH else -8
        drawing.text("note", across.at(x), upwards.at(y) + distance, str(count), anchor="middle")
    if mark is not None:
        place = across.at(mark.value)
        drawing.path("dashed", [(place, _LEGEND), (place, bottom)])
        if place > (left + right) / 2:
            drawing.text("note", place - 6, bottom - 8, mark.text, anchor="end")
        else:
            drawing.text("note", place + 6, bottom - 8, mark.text, anchor="start")
    return drawing


# ---- Grids


def shade(value: float) -> int:
    """Return the shade, from 0 to 5, of a number from 0 to 1."""
    return int(min(max(value, 0.0), 0.999) * SHADES)


class GridRow(NamedTuple):
    """A row of a grid: its label and its numbers; None for a cell without a number."""

    label: str
    values: Sequence[float | None]


_CELL_HEIGHT: Final = 14.0
_GRID_LEFT: Final = LABELS + 8
_GRID_LEGEND: Final = 48.0

_NARROWEST_LABEL: Final = 9
"""Units that the label of a column needs; of narrower columns only some have one."""


def grid(caption: Caption, about: str, rows: Sequence[GridRow], column_labels: Sequence[str]) -> Drawing:
    """Draw rows of numbers from 0 to 1, such as units by runs, as cells: the darker, the higher.

    `about` is the description.
    """
    longest_label = max([len(label) for label in column_labels], default=0)
    head = min(110.0, longest_label * LETTER + 14)
    top = _GRID_LEGEND + head
    drawing = Drawing(caption, about, top + _CELL_HEIGHT * len(rows) + 8)
    for shade_number in range(SHADES):
        drawing.rectangle(f"shade{shade_number}", _GRID_LEFT + 26 * shade_number, 4, 24, 8)
        drawing.text("tick", _GRID_LEFT + 26 * shade_number, 24, f"{shade_number / SHADES:.2f}", wide=26)
    cell_width = min((WIDTH - _GRID_LEFT) / max(len(column_labels), 1), 40.0)
    for position, label in enumerate(column_labels):
        if cell_width >= _NARROWEST_LABEL or position % round(_NARROWEST_LABEL / cell_width + 0.5) == 0:
            x = _GRID_LEFT + cell_width * (position + 0.5) + 4
            drawing.upright_text("tick", x, top - 6, label, wide=head - 14)
    for position, row in enumerate(rows):
        _draw_cells(drawing, row, column_labels, top + _CELL_HEIGHT * position, cell_width)
    drawing.text("axis-title", _GRID_LEFT, _GRID_LEGEND - 4, caption.across)
    drawing.text("axis-title", LABELS, top - 6, caption.upwards, anchor="end", wide=LABELS)
    return drawing


def _draw_cells(drawing: Drawing, row: GridRow, column_labels: Sequence[str], top: float, cell_width: float) -> None:
    """Draw the label and the cells of a row of a grid that begins at `top`."""
    drawing.text("tick", LABELS, top + _CELL_HEIGHT - 3.5, row.label, anchor="end", wide=LABELS)
    for position, value in enumerate(row.values):
        kind = "nothing" if value is None else f"shade{shade(value)}"
        number = "none" if value is None else f"{value:.4f}"
        title = f"{row.label}, {column_labels[position]}: {number}"
        x = _GRID_LEFT + cell_width * position
        drawing.rectangle(kind, x, top, max(cell_width - 1, 1), _CELL_HEIGHT - 1, title)
