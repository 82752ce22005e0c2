"""Charts: bars, dots by row, curves, and grids of coloured cells. Each takes numbers and untrusted texts.

The first arguments of all are the name and the title of the drawing, and the names of its axes: of the one across with
its unit, and of what the rows are. `about` describes it to those who do not see it; numbers of bars and dots follow.
`of` distinguishes a chart from others of its kind.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, TypeAlias

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


class Target(Record):
    """The rows of a table of the page whose column `column` is `value`."""

    table: str
    column: str
    value: str


class Drawing:
    """An SVG image of `WIDTH` times `height` units with a title, and a description of what it shows. `of` distinguishes
    it from others of its kind.
    """

    def __init__(self, name: str, title: str, description: str, height: float, of: str = "") -> None:
        self.of = of
        self.title = title
        self.height = height
        attributes = {
            "xmlns": _NAMESPACE,
            "viewBox": f"0 0 {_number(WIDTH)} {_number(height)}",
            "role": "img",
            "aria-labelledby": f"{name}-title {name}-desc",
            "class": "chart",
        }
        self._parent = self._root = etree.Element("svg", attributes)
        etree.SubElement(self._root, "title", {"id": f"{name}-title"}).text = _safe(title)
        etree.SubElement(self._root, "desc", {"id": f"{name}-desc"}).text = _safe(with_minus_signs(description))

    @contextmanager
    def leading_to(self, target: Target | None) -> Iterator[None]:
        """What is drawn meanwhile leads there."""
        if target is not None:
            self._root.set("role", "group")  # what is in an image can not be reached
            names = {"href": f"#{target.table}", "data-column": target.column, "data-value": _safe(target.value)}
            self._parent = etree.SubElement(self._root, "a", names)
        yield
        self._parent = self._root

    def line(self, kind: str, x1: float, y1: float, x2: float, y2: float) -> None:
        self._add("line", kind, x1=x1, y1=y1, x2=x2, y2=y2)

    def rectangle(self, kind: str, x: float, y: float, width: float, height: float, title: str | None = None) -> None:
        """A filled rectangle; `title` is what a pointer over it shows."""
        self._add("rect", kind, title, x=x, y=y, width=width, height=height)

    def path(self, kind: str, points: Iterable[tuple[float, float]]) -> None:
        """Straight lines from point to point."""
        self._add("path", kind, d=" ".join(f"{'L' if at else 'M'}{_pair(*point)}" for at, point in enumerate(points)))

    def marker(self, series: int, x: float, y: float, title: str | None = None) -> None:
        """A marker whose form shows the series as its colour does: disc, square, triangle."""
        forms = ("M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "M-3.5-3.5h7v7h-7z", "M0-4.5L4.5 3.5h-9z")
        place = f"translate({_pair(x, y)})"
        self._add("path", f"fill{series + 1}", title, d=forms[series % len(forms)], transform=place)

    def text(self, kind: str, x: float, y: float, text: str, *, anchor: str = "start", wide: float = WIDTH) -> None:
        """A line of text, shortened to `wide` units; a pointer over it shows all of it then."""
        self._write(text, wide, kind, x=x, y=y, **{"text-anchor": anchor})

    def upright_text(self, kind: str, x: float, y: float, text: str, *, wide: float | None = None) -> None:
        """A line of text that runs upwards, its middle at the point; from there on where it is shortened to `wide`."""
        turned, anchor = f"translate({_pair(x, y)}) rotate(-90)", "middle" if wide is None else "start"
        self._write(text, math.inf if wide is None else wide, kind, transform=turned, **{"text-anchor": anchor})

    def axis(self, across: Scale, top: float, bottom: float, title: str) -> None:
        """Grid lines from top to bottom, their numbers and the title of the axis below."""
        for place, text in across.ticks():
            self.line("grid", place, top, place, bottom)
            self.text("tick", place, bottom + 15, text, anchor="middle")
        middle = (across.start + across.end) / 2
        self.text("axis-title", middle, bottom + 33, title, anchor="middle", wide=2 * (WIDTH - middle) + _NOTES)

    def legend(self, series: Iterable[str], left: float) -> None:
        """The names of the series behind their markers, in one line at the top."""
        for position, each in enumerate(series):
            self.marker(position, left + 4, 12)
            self.text("label", left + 13, 16, each)
            left += 13 + LETTER * len(each) + 18

    def _write(self, text: str, wide: float, kind: str, **attributes: float | str) -> None:
        safe = _safe(with_minus_signs(text) if kind in _KINDS_OF_NUMBERS else text)
        short = shortened(safe, wide)
        self._add("text", kind, None if short == safe else text, **attributes).text = short

    def _add(self, tag: str, kind: str, title: str | None = None, **attributes: float | str) -> etree._Element:
        texts = {name: value if isinstance(value, str) else _number(value) for name, value in attributes.items()}
        element = etree.SubElement(self._parent, tag, {"class": kind, **texts})
        if title is not None:
            etree.SubElement(element, "title").text = _safe(title)
        return element

    def svg(self) -> str:
        """The drawing for a page, which has the style sheet."""
        return etree.tostring(self._root, encoding="unicode")

    def standalone(self) -> str:
        """Return the drawing as a file of its own: with its title above, a margin, and the colours for paper."""
        root = etree.fromstring(self.svg())
        root.set("role", "img")
        etree.strip_tags(root, f"{{{_NAMESPACE}}}a")
        width, height = WIDTH + 2 * _MARGIN, self.height + _TITLE_HEIGHT + 2 * _MARGIN
        root.set("viewBox", f"0 0 {_number(width)} {_number(height)}")
        root.set("width", _number(width))
        root.set("height", _number(height))
        self._put_title(root)
        style = etree.Element(f"{{{_NAMESPACE}}}style")
        # Not every reader knows the names of colours, which the first rule of the style sheet defines.
        first, _, rest = chart_style().partition("}")
        colours = dict(re.findall(r"--([a-z0-9-]+):\s*([^;]+);", first))
        rules = re.sub(r"@media[^{]*\{[^{}]*\{[^{}]*\}\s*\}", "", rest)
        style.text = re.sub(r"var\(--([a-z0-9-]+)\)", lambda match: colours[match.group(1)], rules).strip()
        root.insert(0, style)
        return f"{etree.tostring(root, encoding='unicode')}\n"

    def _put_title(self, root: etree._Element) -> None:
        """Move all that is drawn below a line of text with the title."""
        drawn = [element for element in root if etree.QName(element).localname not in ("title", "desc")]
        group = etree.Element(f"{{{_NAMESPACE}}}g", transform=f"translate({_pair(_MARGIN, _MARGIN + _TITLE_HEIGHT)})")
        group.extend(drawn)
        place = {"class": "title", "x": _number(_MARGIN), "y": _number(_MARGIN + 12)}
        title = etree.SubElement(root, f"{{{_NAMESPACE}}}text", place)
        title.text = shortened(_safe(with_minus_signs(self.title)), WIDTH)
        root.append(group)


def chart_style() -> str:
    """The style sheet of all charts."""
    return (files("cs_score.report") / "templates" / "chart.css").read_text("utf-8")


def shortened(text: str, wide: float) -> str:
    """As much of a text as fits into so many units; wide characters count twice."""
    width = 0.0
    for at, character in enumerate(text):
        is_wide = unicodedata.east_asian_width(character) in "WF"
        width += LETTER * (2 if is_wide else 1.3 if character.isupper() else 1)
        if width > wide and at < len(text) - 1:
            return text[: max(at - 1, 0)] + "…"
    return text


def _safe(text: str) -> str:
    return cell(text, 500)


def _pair(x: float, y: float) -> str:
    return f"{_number(x)} {_number(y)}"


def _number(value: float) -> str:
    """At most two decimals, none that say nothing."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")  # adding 0.0 turns minus zero into zero


class Scale(Record):
    """Places from `start` to `end` for numbers from `low` to `high`; `step` is between two ticks."""

    start: float
    end: float
    low: float = 0.0
    high: float = 1.0
    step: float = 0.2

    def at(self, value: float) -> float:
        """The place of a number."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """Places with their texts, as many decimals as distinguish them."""
        decimals = max(0, -math.floor(math.log10(self.step) + 1e-9))
        count = round((self.high - self.low) / self.step)
        values = (self.low + position * self.step for position in range(count + 1))
        return [(self.at(value), f"{round(value, decimals) + 0.0:.{decimals}f}") for value in values]


def scale(values: Iterable[float], start: float, end: float, with_zero: bool = False) -> Scale:
    """A scale of round numbers around all `values`."""
    known = [*values, *([0.0] if with_zero else [])] or [0.0]
    low, high = min(known), max(known)
    if high - low < 1e-12:
        low, high = (low, low + 1e-2) if with_zero else (low - 0.5, high + 0.5)
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    return Scale(start, end, math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step, step)


LABELS: Final = 152.0
"""Units for the labels of rows, to the left."""

DOT_PLACES: Final = (LABELS + 14, WIDTH - 14)
"""Where the axis of dots begins and ends."""

SHADES: Final = 6
_ROW: Final = 24.0
_APART: Final = 7.0
"""Units between the markers of two series of a row, which would hide each other on one line."""

_HEAD: Final = 24.0
"""Units above the rows of bars, where the name of the rows stands."""

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
    top = _HEAD
    bottom = top + _ROW * len(rows)
    drawing = Drawing(name, title, description, bottom + _BELOW, of)
    across = scale([end for row in rows for end in (row.start, row.end)], LABELS + 10, WIDTH - _NOTES, from_zero)
    drawing.axis(across, top, bottom, axes[0])
    drawing.text("axis-title", LABELS, top - 8, axes[1], anchor="end", wide=LABELS)
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
    row_height = max(_ROW, 10 * len(series))
    bottom = _LEGEND + row_height * len(rows)
    drawing = Drawing(name, title, description, bottom + _BELOW, of)
    across = across or Scale(*DOT_PLACES)
    drawing.legend(series, across.start)
    drawing.axis(across, _LEGEND, bottom, axes[0])
    drawing.text("axis-title", LABELS, 16, axes[1], anchor="end", wide=LABELS)
    for at, row in enumerate(rows):
        middle = _LEGEND + row_height * (at + 0.5)
        drawing.text("label", LABELS, middle + 4, row.label, anchor="end", wide=LABELS)
        drawing.line("grid", across.start, middle, across.end, middle)
        for position, each in enumerate(series):
            y = middle + (position - (len(series) - 1) / 2) * _APART
            if each in row.intervals:
                low, high = row.intervals[each]
                drawing.line(f"line{position + 1}", across.at(low), y, across.at(high), y)
            if each in row.values:
                value = row.values[each]
                drawing.marker(position, across.at(value), y, f"{row.label}: {each} {value:.4f}")
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
    counts: Sequence[int] = (),
    of: str = "",
) -> Drawing:
    """At most three curves; what is above is from 0 to 1. `mark` is a place across and its text; `with_diagonal` draws
    where both are equal, and the axis across is from 0 to 1 then. `counts` are numbers beside the points of the first
    curve, such as how many answers a point stands for.
    """
    left, right, bottom = 52.0, WIDTH - 14, 228.0
    drawing = Drawing(name, title, about, bottom + _BELOW, of)
    places = [x for curve in curves.values() for x, _ in curve]
    across = Scale(left, right) if with_diagonal else scale(places, left, right)
    upwards = Scale(bottom, _LEGEND)
    drawing.legend(curves, left)
    for place, text in upwards.ticks():
        drawing.line("grid", left, place, right, place)
        drawing.text("tick", left - 8, place + 4, text, anchor="end")
    drawing.axis(across, _LEGEND, bottom, axes[0])
    drawing.upright_text("axis-title", 14, (_LEGEND + bottom) / 2, axes[1])
    if with_diagonal:
        drawing.path("dashed", [(across.at(0), upwards.at(0)), (across.at(1), upwards.at(1))])
    for position, (series, curve) in enumerate(curves.items()):
        drawing.path(f"line{position + 1}", ((across.at(x), upwards.at(y)) for x, y in curve))
        if len(curve) <= 20:
            for x, y in curve:
                drawing.marker(position, across.at(x), upwards.at(y), f"{series}: {y:.4f} at {x:.4g}")
    first_curve = next(iter(curves.values()), ())
    for (x, y), count in zip(first_curve, counts):
        is_high = y > _HIGH
        drawing.text("note", across.at(x), upwards.at(y) + (16 if is_high else -8), str(count), anchor="middle")
    if mark is not None:
        place, text = across.at(mark[0]), mark[1]
        drawing.path("dashed", [(place, _LEGEND), (place, bottom)])
        is_right = place > (left + right) / 2
        drawing.text("note", place + (-6 if is_right else 6), bottom - 8, text, anchor="end" if is_right else "start")
    return drawing


_HIGH: Final = 0.9
"""Points above this have their number below them, where it does not meet the legend."""


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
    height, legend, left = 14.0, 48.0, LABELS + 8
    head = min(110.0, max(map(len, columns), default=0) * LETTER + 14)
    bottom = legend + head + height * len(rows)
    drawing = Drawing(name, title, about, bottom + 8, of)
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
    drawing.text("axis-title", left, legend - 4, axes[0])
    drawing.text("axis-title", LABELS, legend + head - 6, axes[1], anchor="end", wide=LABELS)
    return drawing
