"""Draw charts as SVG: bars, dots by row, curves, and grids of coloured cells. Places and sizes are in units of the
chart: its width is 420 units, and heights count from its top downwards. A series is one kind of number in a chart, such
as recall; it has a colour and a marker. Texts may come from inputs.

Texts of inputs are untrusted. A chart has a description for readers who do not see it, with all its numbers.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from cs_score.base.display import safe_cell, with_minus_signs
from cs_score.base.records import Record, field
from cs_score.base.runtime import Late

if TYPE_CHECKING:
    from lxml import etree
else:
    etree = Late("lxml.etree")  # a batch without pages does not need it

WIDTH: Final = 420.0
"""Units of every chart: near the pixels that a telephone has, so that letters stay readable there."""

LETTER_WIDTH: Final = 7.5
"""Units that a narrow letter takes, roughly, in the larger text of a telephone."""

_NAMESPACE: Final = "http://www.w3.org/2000/svg"

_MARGIN: Final = 14.0
_TITLE_HEIGHT: Final = 26.0

_CLASSES_OF_NUMBERS: Final = ("tick", "note", "axis-title")
"""Texts of numbers, whose hyphens are minus signs; labels may be ids."""

_MARKER_SHAPES: Final = ("M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "M-3.5-3.5h7v7h-7z", "M0-4.5L4.5 3.5h-9z")
"""The paths of a disc, a square and a triangle around the origin."""


class Caption(Record):
    """The name and the title of a chart, and the titles of its axes.

    `name` is unique on a page, since the ids of the chart's elements begin with it. `x_title` is the title of the
    horizontal axis, including its unit. `y_title` is the title of the vertical axis, or says what the rows are.
    `subject`, such as the dimension of groups, distinguishes a chart from others of its kind.
    """

    name: str
    title: str
    x_title: str
    y_title: str
    subject: str = ""


class ChartTarget(Record):
    """The rows of a table of the page in which a column has a value; a part of a chart can lead there."""

    table: str
    column: str
    value: str


class Drawing:
    """An SVG image, `WIDTH` units wide, with a title and a description of what it shows."""

    def __init__(self, caption: Caption, description: str, height: float) -> None:
        """Begin an empty image of `height` units with the title of `caption`.

        `description` describes the image to readers who do not see it.
        """
        self.subject = caption.subject
        self.title = caption.title
        self.height = height
        title_id = f"{caption.name}-title"
        description_id = f"{caption.name}-desc"
        attributes = {
            "xmlns": _NAMESPACE,
            "viewBox": f"0 0 {_number(WIDTH)} {_number(height)}",
            "role": "img",
            "aria-labelledby": f"{title_id} {description_id}",
            "class": "chart",
        }
        self._root = etree.Element("svg", attributes)
        self._parent = self._root
        self._add_hidden_text("title", title_id, caption.title)
        self._add_hidden_text("desc", description_id, with_minus_signs(description))

    def _add_hidden_text(self, tag: str, element_id: str, text: str) -> None:
        """Add a text for readers who do not see the image; `tag` is "title" or "desc"."""
        etree.SubElement(self._root, tag, {"id": element_id}).text = _safe(text)

    @contextmanager
    def link_to(self, target: ChartTarget | None) -> Iterator[None]:
        """Turn everything that is drawn in the block of a `with` statement into a link to `target`.

        If `target` is None, no link is made.
        """
        if target is not None:
            # Screen readers treat an image as a whole. In a group, they can reach the links.
            self._root.set("role", "group")
            attributes = {"href": f"#{target.table}", "data-column": target.column, "data-value": _safe(target.value)}
            self._parent = etree.SubElement(self._root, "a", attributes)
        yield  # if the block raises an error, the whole drawing is discarded
        self._parent = self._root

    def line(self, css_class: str, x1: float, y1: float, x2: float, y2: float) -> None:
        """Draw a straight line; `css_class` is its class in the style sheet."""
        self._add("line", css_class, x1=x1, y1=y1, x2=x2, y2=y2)

    def rectangle(
        self, css_class: str, x: float, y: float, width: float, height: float, title: str | None = None
    ) -> None:
        """Draw a filled rectangle; a pointer over it shows `title`."""
        self._add("rect", css_class, title, x=x, y=y, width=width, height=height)

    def path(self, css_class: str, points: Iterable[tuple[float, float]]) -> None:
        """Draw straight lines from point to point, as `M10 20L30 40` in SVG.

        `css_class` is their class in the style sheet.
        """
        steps = []
        for position, (x, y) in enumerate(points):
            command = "M" if position == 0 else "L"  # move to the first point, draw a line to the others
            steps.append(f"{command}{_pair(x, y)}")
        self._add("path", css_class, d=" ".join(steps))

    def marker(self, position: int, x: float, y: float, title: str | None = None) -> None:
        """Draw a marker at the point `x`, `y`; a pointer over it shows `title`.

        The shape and colour of the marker depend on the position of its series in the legend (0: disc, 1: square, 2:
        triangle).
        """
        shape = _MARKER_SHAPES[position % len(_MARKER_SHAPES)]
        self._add("path", f"fill{position + 1}", title, d=shape, transform=f"translate({_pair(x, y)})")

    def text(
        self, css_class: str, x: float, y: float, text: str, *, anchor: str = "start", max_width: float = WIDTH
    ) -> None:
        """Write a line of text at the point `x`, `y`.

        A text wider than `max_width` units is cut, and is shown in full when the pointer is over it. `css_class` is its
        class in the style sheet. `anchor` says which part of the text is at the point: its `start`, `middle` or `end`.
        """
        self._write(text, max_width, css_class, x=x, y=y, **{"text-anchor": anchor})

    def row_label(self, css_class: str, baseline: float, text: str) -> None:
        """Write the label of a row, or the title above the labels, at the left edge of the chart, aligned to the right.

        `baseline` is the height of the line on which the letters rest. `css_class` is the class of the text in the
        style sheet.
        """
        self.text(css_class, LABELS_WIDTH, baseline, text, anchor="end", max_width=LABELS_WIDTH)

    def upright_text(self, css_class: str, x: float, y: float, text: str, *, max_width: float | None = None) -> None:
        """Write a line of text that runs from bottom to top.

        Without `max_width`, the text is centred on the point. With it, the text begins at the point and is cut to that
        many units. `css_class` is its class in the style sheet.
        """
        transform = f"translate({_pair(x, y)}) rotate(-90)"
        if max_width is None:
            self._write(text, math.inf, css_class, transform=transform, **{"text-anchor": "middle"})
        else:
            self._write(text, max_width, css_class, transform=transform, **{"text-anchor": "start"})

    def axis(self, x_scale: Scale, top: float, bottom: float, title: str) -> None:
        """Draw the horizontal axis: a vertical grid line at each number, with the numbers and the axis title below.

        The grid lines go from the height `top` to the height `bottom`.
        """
        baseline_of_numbers = bottom + 15
        baseline_of_title = bottom + 33
        for tick in x_scale.ticks():
            self.line("grid", tick.place, top, tick.place, bottom)
            self.text("tick", tick.place, baseline_of_numbers, tick.text, anchor="middle")
        middle = (x_scale.start + x_scale.end) / 2
        width_around_middle = 2 * (WIDTH - middle)  # the title is centred below the axis
        # The widths of letters are estimated generously, for the larger text of a telephone. A title may therefore be
        # estimated wider than the room up to the right edge, by the width of the notes, before it is cut.
        title_width = width_around_middle + _NOTES_WIDTH
        self.text("axis-title", middle, baseline_of_title, title, anchor="middle", max_width=title_width)

    def legend(self, series_names: Iterable[str], left: float) -> None:
        """Write the names of the series, each after its marker, on one line at the top that begins at `left`."""
        middle = 12.0  # the height of the middle of the line
        marker_width = 13.0  # with the space between a marker and its name
        gap = 18.0  # between a name and the next marker
        x = left
        for position, name in enumerate(series_names):
            self.marker(position, x + 4, middle)
            self.text("label", x + marker_width, middle + _BASELINE_SHIFT, name)
            x += marker_width + LETTER_WIDTH * len(name) + gap

    def _write(self, text: str, max_width: float, css_class: str, **attributes: float | str) -> None:
        """Add a text element, cut to `max_width` units; a cut text is shown in full when the pointer is over it.

        `css_class` is its class in the style sheet. In the classes that are used for numbers, hyphens become minus
        signs.
        """
        shown_text = with_minus_signs(text) if css_class in _CLASSES_OF_NUMBERS else text
        safe_text = _safe(shown_text)
        short_text = shortened(safe_text, max_width)
        title = None if short_text == safe_text else text  # `_add` makes a title safe itself
        self._add("text", css_class, title, **attributes).text = short_text

    def _add(self, tag: str, css_class: str, title: str | None = None, **attributes: float | str) -> etree._Element:
        """Add an element to the image and return it.

        `tag` is its name in SVG, and `css_class` is its class in the style sheet. `title` is shown when the pointer is
        over it.
        """
        text_by_attribute = {"class": css_class}
        for name, value in attributes.items():
            text_by_attribute[name] = value if isinstance(value, str) else _number(value)
        element = etree.SubElement(self._parent, tag, text_by_attribute)
        if title is not None:
            etree.SubElement(element, "title").text = _safe(title)
        return element

    def svg(self) -> str:
        """Return the image as SVG for a page; the page has the style sheet."""
        return etree.tostring(self._root, encoding="unicode")

    def standalone(self) -> str:
        """Return the image as the content of an SVG file, with its title, a margin and its own style sheet.

        The colours are suitable for paper: dark lines and letters on white.
        """
        root = etree.fromstring(self.svg())
        # The links lead to tables of a page, which an image file does not have. Only the contents of the links are
        # kept.
        etree.strip_tags(root, f"{{{_NAMESPACE}}}a")
        # Without links, screen readers can treat the image as a whole again (`link_to` may have made it a group).
        root.set("role", "img")
        self._enlarge(root)
        self._add_visible_title(root)
        # A file has its own copy of the style sheet.
        style = etree.Element(f"{{{_NAMESPACE}}}style")
        style.text = _style_for_paper()
        root.insert(0, style)
        return f"{etree.tostring(root, encoding='unicode')}\n"

    def _enlarge(self, root: etree._Element) -> None:
        """Enlarge the image to make room for margins and the title; `root` is the element with the whole image.

        The room is added at the right and at the bottom; `_add_visible_title` then moves the drawing.
        """
        width = _number(WIDTH + 2 * _MARGIN)
        height = _number(self.height + _TITLE_HEIGHT + 2 * _MARGIN)
        root.set("viewBox", f"0 0 {width} {height}")
        root.set("width", width)
        root.set("height", height)

    def _add_visible_title(self, root: etree._Element) -> None:
        """Move the drawing down and to the right, and write the title above it.

        `root` is the element with the whole image. Its elements `title` and `desc`, which are meant for screen readers,
        are not moved.
        """
        drawn_elements = [element for element in root if etree.QName(element).localname not in ("title", "desc")]
        title = etree.SubElement(root, f"{{{_NAMESPACE}}}text", {"class": "title"})
        title.set("x", _number(_MARGIN))
        title.set("y", _number(_MARGIN + 12))
        title.text = shortened(_safe(with_minus_signs(self.title)), WIDTH)
        shift = _pair(_MARGIN, _MARGIN + _TITLE_HEIGHT)
        group = etree.SubElement(root, f"{{{_NAMESPACE}}}g", transform=f"translate({shift})")
        group.extend(drawn_elements)  # takes them out of the root


def chart_style() -> str:
    """Return the style sheet of all charts; its first rule names the colours."""
    return (files("cs_score.pages") / "templates" / "chart.css").read_text("utf-8")


def _style_for_paper() -> str:
    """Return the style sheet of charts for programs that do not support CSS variables.

    `var(--NAME)` becomes the colour that the first rule gives for the name. Rules for dark screens are left out.
    """
    color_rule, _, other_rules = chart_style().partition("}")
    color_by_name = dict(re.findall(r"--([a-z0-9-]+):\s*([^;]+);", color_rule))
    # A rule for dark screens has the form `@media CONDITION { SELECTOR { PROPERTIES } }`, with no further braces.
    style = re.sub(r"@media[^{]*\{[^{}]*\{[^{}]*\}\s*\}", "", other_rules)
    for name, color in color_by_name.items():
        style = style.replace(f"var(--{name})", color)
    return style.strip()


def shortened(text: str, max_width: float) -> str:
    """Return a text, cut and with an ellipsis if it is wider than `max_width` units: `a long na…`.

    A text is not cut if only its last character is too wide.
    """
    width = 0.0
    last_position = len(text) - 1
    for position, character in enumerate(text):
        width += LETTER_WIDTH * _relative_width(character)
        if width > max_width and position < last_position:
            # The characters before `position` fit. The ellipsis takes the place of the last one of them.
            kept_count = max(position - 1, 0)
            return text[:kept_count] + "…"
    return text


def _relative_width(character: str) -> float:
    """Return the width of a character, measured in narrow letters: `a` -> 1, `A` -> 1.3, `中` -> 2."""
    if unicodedata.east_asian_width(character) in "WF":
        return 2
    return 1.3 if character.isupper() else 1


def _safe(text: str) -> str:
    """Return a text of an input on one line and without control characters, cut to 500 characters."""
    return safe_cell(text, 500)


def _pair(x: float, y: float) -> str:
    """Return a point as SVG writes it: `12 3.5`."""
    return f"{_number(x)} {_number(y)}"


def _number(value: float) -> str:
    """Return a number with at most two decimals, without zeros at the end: `12`, `3.5`."""
    text = f"{_rounded(value, 2):.2f}"
    return text.rstrip("0").rstrip(".")


def _rounded(value: float, decimals: int) -> float:
    """Return a number rounded to some decimals; zero is returned without a minus sign."""
    return round(value, decimals) + 0.0  # adding 0.0 turns minus zero into zero


# ---- Scales


class Tick(NamedTuple):
    """A number on an axis: its place and its text."""

    place: float
    text: str


class Scale(Record):
    """An axis of a chart: it begins and ends at the places `start` and `end`, given in units of the chart.

    The numbers `low` and `high` are at these places. There is a number at each `step` between them.
    """

    start: float
    end: float
    low: float = 0.0
    high: float = 1.0
    step: float = 0.2

    def at(self, value: float) -> float:
        """Return the place of a number on the axis, in units of the chart."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[Tick]:
        """Return the numbers on the axis, with as many decimals as its step: `0.0`, `0.2` ... for a step of 0.2."""
        # The power of ten is -1 for a step of 0.2. The logarithm of 0.01 may be slightly less than -2 because of
        # rounding errors.
        power_of_ten = math.floor(math.log10(self.step) + 1e-9)
        decimals = max(0, -power_of_ten)
        step_count = round((self.high - self.low) / self.step)
        ticks = []
        for position in range(step_count + 1):
            value = self.low + position * self.step
            text = f"{_rounded(value, decimals):.{decimals}f}"
            ticks.append(Tick(self.at(value), text))
        return ticks


def scale_over(values: Iterable[float], start: float, end: float, with_zero: bool = False) -> Scale:
    """Return a scale of about five round steps that holds all values, and zero if `with_zero`.

    The axis begins and ends at the places `start` and `end`. Values that are all equal get an axis around them.
    """
    numbers = list(values)
    if with_zero or not numbers:
        numbers.append(0.0)
    low, high = _widened(min(numbers), max(numbers), with_zero)  # never an empty range
    # The axis begins and ends at multiples of the step. Errors of rounding must not add a step at an end.
    step = _round_step((high - low) / 5)
    first = math.floor(low / step + 1e-9) * step
    last = math.ceil(high / step - 1e-9) * step
    return Scale(start=start, end=end, low=first, high=last, step=step)


def _widened(low: float, high: float, with_zero: bool) -> tuple[float, float]:
    """Return a range of numbers; an empty one is made wider: (3, 3) becomes (2.5, 3.5).

    `with_zero` says that the range has zero in it. If this range is empty, it holds only zero and becomes (0, 0.01).
    """
    is_empty = high - low < 1e-12
    if not is_empty:
        return low, high
    if with_zero:
        return low, low + 1e-2
    return low - 0.5, high + 0.5


def _round_step(smallest: float) -> float:
    """Return the smallest of 1, 2, 5 and 10 times a power of ten that is not less than a number: 0.13 -> 0.2."""
    power = 10.0 ** math.floor(math.log10(smallest))
    smallest_allowed = smallest * (1 - 1e-9)  # a step may be smaller by an error of rounding
    for factor in (1, 2, 5):
        if factor * power >= smallest_allowed:
            return factor * power
    return 10 * power


# ---- Bars

LABELS_WIDTH: Final = 152.0
"""The width of the labels of rows, at the left edge of the chart; so it is also the place where they end."""

DOT_PLACES: Final = (LABELS_WIDTH + 14, WIDTH - 14)
"""Where the axis of dots begins and ends."""

SHADES: Final = 6
"""The number of shades by which cells of a grid show their numbers."""

_ROW_HEIGHT: Final = 24.0
"""The height of a row of bars or dots."""

_BAR_MARGIN: Final = 5.0
"""Units between a bar and the top and the bottom of its row."""

_HEIGHT_OF_SERIES: Final = 10.0
"""The height that each series of a row of dots needs at least."""

_BASELINE_SHIFT: Final = 4.0
"""Units from the middle of a line of text to its baseline, at which a text is placed."""

_MARKER_DISTANCE: Final = 7.0
"""Units between the markers of two series of a row, which would hide each other on one line."""

_HEADING_HEIGHT: Final = 24.0
"""The height above the rows of bars. It has the name of the rows, such as "slot"."""

_NOTES_WIDTH: Final = 56.0
"""The width of the notes of bars, at the right edge of the chart."""

_LEGEND_HEIGHT: Final = 28.0
"""The height of the legend."""

_AXIS_HEIGHT: Final = 42.0
"""The height of the numbers and the title of the horizontal axis, below the rows or curves."""


class Bar(Record):
    """A bar from one number to another. `label` names it, `note` is written next to it, and `target` is its link."""

    label: str
    start: float
    end: float
    note: str
    target: ChartTarget | None = None


def bar_chart(caption: Caption, rows: Sequence[Bar], *, introduction: str = "", from_zero: bool = True) -> Drawing:
    """Return a drawing of horizontal bars: gains and contributions from zero, or the steps of a score.

    Bars that go from a larger to a smaller number have a different colour. The description of the drawing consists of
    `introduction` and the label and note of every bar. With `from_zero`, the axis includes zero.
    """
    notes = "; ".join([f"{row.label} {row.note}" for row in rows])
    top = _HEADING_HEIGHT
    bottom = top + _ROW_HEIGHT * len(rows)
    drawing = Drawing(caption, f"{introduction}{notes}.", bottom + _AXIS_HEIGHT)
    x_scale = _scale_of_bars(rows, from_zero)
    drawing.axis(x_scale, top, bottom, caption.x_title)
    baseline_of_title = top - 8
    drawing.row_label("axis-title", baseline_of_title, caption.y_title)
    for position, row in enumerate(rows):
        _draw_bar(drawing, row, x_scale, top + _ROW_HEIGHT * position)
    if from_zero:
        zero = x_scale.at(0.0)
        drawing.line("axis", zero, top, zero, bottom)
    return drawing


def _scale_of_bars(rows: Iterable[Bar], from_zero: bool) -> Scale:
    """Return the horizontal scale of bars, from their smallest to their largest number.

    The scale is placed between the labels and the notes of the bars. It includes zero if `from_zero` is true.
    """
    ends: list[float] = []
    for row in rows:
        ends += [row.start, row.end]
    left = LABELS_WIDTH + 10
    right = WIDTH - _NOTES_WIDTH
    return scale_over(ends, left, right, with_zero=from_zero)


def _draw_bar(drawing: Drawing, row: Bar, x_scale: Scale, top: float) -> None:
    """Draw a bar with its label and its note, in the row that begins at the height `top`."""
    baseline = top + _ROW_HEIGHT / 2 + _BASELINE_SHIFT
    left, right = sorted((x_scale.at(row.start), x_scale.at(row.end)))
    css_class = "fill1" if row.end >= row.start else "fill2"  # the style sheet gives losses a different colour
    with drawing.link_to(row.target):
        drawing.row_label("label", baseline, row.label)
        if row.end != row.start:
            width = max(right - left, 1)
            height = _ROW_HEIGHT - 2 * _BAR_MARGIN
            drawing.rectangle(css_class, left, top + _BAR_MARGIN, width, height, title=f"{row.label}: {row.note}")
    drawing.text("note", WIDTH, baseline, row.note, anchor="end")


# ---- Dots


class Dots(Record):
    """A row of scores: its label, the score of each series, and the limits of the interval of some scores.

    Scores and limits are given by the name of their series, such as "F1".
    """

    label: str
    score_by_series: Mapping[str, float]
    limits_by_series: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return the row in words: `A: F1 0.5000 (0.4000 to 0.6000), recall 0.2000`."""
        numbers = []
        for series, score in self.score_by_series.items():
            text = f"{series} {score:.4f}"
            if series in self.limits_by_series:
                low, high = self.limits_by_series[series]
                text += f" ({low:.4f} to {high:.4f})"
            numbers.append(text)
        return f"{self.label}: {', '.join(numbers)}"


def limits_by_series(interval: Any, series: str) -> dict[str, tuple[float, float]]:
    """Return the limits of an interval by the name of its series, for a row of dots: `{"F1": (0.4, 0.6)}`.

    The result is empty if the interval is None or lacks a limit.
    """
    low = getattr(interval, "low", None)
    high = getattr(interval, "high", None)
    if low is None or high is None:
        return {}
    return {series: (low, high)}


def dot_chart(
    caption: Caption, rows: Sequence[Dots], *, introduction: str = "", x_scale: Scale | None = None
) -> Drawing:
    """Return a drawing of the scores of each row as markers, with their intervals as lines.

    There are at most three series, which differ by form and colour. The axis is from 0 to 1 unless `x_scale` is given.
    `introduction` begins the description of the drawing, which goes on with all scores.
    """
    if x_scale is None:
        x_scale = Scale(*DOT_PLACES)
    series_names = _series_of_rows(rows)
    row_height = max(_ROW_HEIGHT, _HEIGHT_OF_SERIES * len(series_names))
    top = _LEGEND_HEIGHT
    bottom = top + row_height * len(rows)
    scores_in_words = "; ".join([str(row) for row in rows])
    drawing = Drawing(caption, f"{introduction}{scores_in_words}.", bottom + _AXIS_HEIGHT)
    drawing.legend(series_names, x_scale.start)
    drawing.axis(x_scale, top, bottom, caption.x_title)
    baseline_of_title = top - 12
    drawing.row_label("axis-title", baseline_of_title, caption.y_title)
    for position, row in enumerate(rows):
        middle = top + row_height * (position + 0.5)
        _draw_dots(drawing, row, series_names, x_scale, middle)
    return drawing


def _series_of_rows(rows: Iterable[Dots]) -> list[str]:
    """Return the distinct names of all series in the rows: ["Precision", "Recall", "F1"]."""
    names: dict[str, None] = {}  # a dictionary keeps the order, unlike a set
    for row in rows:
        names |= dict.fromkeys(row.score_by_series)
    return list(names)


def _draw_dots(drawing: Drawing, row: Dots, series_names: Sequence[str], x_scale: Scale, middle: float) -> None:
    """Draw a row of dots around the height `middle`, with its label, a grid line, and a dot for each series.

    The dots are drawn one below the other, in the order of `series_names`. An interval is drawn as a line through its
    dot.
    """
    drawing.row_label("label", middle + _BASELINE_SHIFT, row.label)
    drawing.line("grid", x_scale.start, middle, x_scale.end, middle)
    first_y = middle - _MARKER_DISTANCE * (len(series_names) - 1) / 2
    for position, series in enumerate(series_names):
        y = first_y + _MARKER_DISTANCE * position
        if series in row.limits_by_series:
            low, high = row.limits_by_series[series]
            drawing.line(f"line{position + 1}", x_scale.at(low), y, x_scale.at(high), y)
        if series in row.score_by_series:
            score = row.score_by_series[series]
            drawing.marker(position, x_scale.at(score), y, f"{row.label}: {series} {score:.4f}")


# ---- Curves

Curve: TypeAlias = Sequence[tuple[float, float]]
"""The points of a curve."""

_HIGH_VALUE: Final = 0.9
"""Points with a higher value have their number below them, so that it does not overlap the legend."""

_MOST_MARKERS: Final = 20
"""Points up to which a curve has markers."""

_PLANE_LEFT: Final = 52.0
"""The place at which curves begin; the numbers and the title of the vertical axis are to the left of it."""

_PLANE_RIGHT: Final = WIDTH - 14.0
"""The place at which curves end."""

_PLANE_BOTTOM: Final = 228.0
"""The height of the lower edge of curves."""

_Y_TITLE_PLACE: Final = 14.0
"""The place of the title of the vertical axis, whose letters stand upright to the left of the numbers."""


class Mark(NamedTuple):
    """A value on the horizontal axis at which a vertical line with a text is drawn."""

    value: float
    text: str


class _Plane(NamedTuple):
    """The horizontal and the vertical axis of a chart of curves, and its edges in units of the chart."""

    x_scale: Scale
    y_scale: Scale

    @property
    def left(self) -> float:
        """The place where the horizontal axis begins."""
        return self.x_scale.start

    @property
    def right(self) -> float:
        """The place where the horizontal axis ends."""
        return self.x_scale.end

    @property
    def top(self) -> float:
        """The height at which the vertical axis ends."""
        return self.y_scale.end

    @property
    def bottom(self) -> float:
        """The height at which the vertical axis begins, greater than `top`, since heights are measured downwards."""
        return self.y_scale.start

    def place(self, point: tuple[float, float]) -> tuple[float, float]:
        """Return the place of a point, in units of the chart."""
        x, y = point
        return self.x_scale.at(x), self.y_scale.at(y)


def curve_chart(
    caption: Caption,
    description: str,
    curves: Mapping[str, Curve],
    *,
    mark: Mark | None = None,
    with_diagonal: bool = False,
    counts: Sequence[int] = (),
) -> Drawing:
    """Return a drawing of at most three curves; `curves` holds each curve by the name of its series.

    The vertical axis goes from 0 to 1. With `with_diagonal`, the horizontal axis also goes from 0 to 1, and a line
    shows where both values are equal. `mark` is a value on the horizontal axis that gets a vertical line and a text.
    `counts` are numbers written next to the points of the first curve, such as the number of answers that each point
    summarizes. `description` describes the drawing.
    """
    plane = _plane_of_curves(curves.values(), with_diagonal)
    drawing = Drawing(caption, description, plane.bottom + _AXIS_HEIGHT)
    drawing.legend(curves, plane.left)
    _draw_axes(drawing, caption, plane)
    if with_diagonal:
        drawing.path("dashed", [plane.place((0, 0)), plane.place((1, 1))])
    for position, (name, curve) in enumerate(curves.items()):
        _draw_curve(drawing, position, name, curve, plane)
        if position == 0:
            _draw_counts(drawing, curve, counts, plane)
    if mark is not None:
        _draw_mark(drawing, mark, plane)
    return drawing


def _plane_of_curves(curves: Iterable[Curve], with_diagonal: bool) -> _Plane:
    """Return the axes of a chart of curves. The vertical axis goes from 0 to 1.

    The horizontal axis covers all points of the curves. With a diagonal it also goes from 0 to 1.
    """
    if with_diagonal:
        x_scale = Scale(_PLANE_LEFT, _PLANE_RIGHT)  # from 0 to 1 by default
    else:
        x_values = [x for curve in curves for x, _ in curve]
        x_scale = scale_over(x_values, _PLANE_LEFT, _PLANE_RIGHT)
    y_scale = Scale(start=_PLANE_BOTTOM, end=_LEGEND_HEIGHT)
    return _Plane(x_scale, y_scale)


def _draw_axes(drawing: Drawing, caption: Caption, plane: _Plane) -> None:
    """Draw the grid lines, numbers and titles of both axes of a chart of curves."""
    for tick in plane.y_scale.ticks():
        drawing.line("grid", plane.left, tick.place, plane.right, tick.place)
        drawing.text("tick", plane.left - 8, tick.place + _BASELINE_SHIFT, tick.text, anchor="end")
    drawing.axis(plane.x_scale, plane.top, plane.bottom, caption.x_title)
    middle = (plane.top + plane.bottom) / 2
    drawing.upright_text("axis-title", _Y_TITLE_PLACE, middle, caption.y_title)


def _draw_curve(drawing: Drawing, position: int, name: str, curve: Curve, plane: _Plane) -> None:
    """Draw a curve, with a marker at each point if there are only a few.

    A marker shows `name` and the coordinates of its point when the pointer is over it. `position` is the position of
    the curve among all curves (from 0), which determines its colour.
    """
    drawing.path(f"line{position + 1}", [plane.place(point) for point in curve])
    if len(curve) > _MOST_MARKERS:
        return
    for x, y in curve:
        drawing.marker(position, *plane.place((x, y)), title=f"{name}: {y:.4f} at {x:.4g}")


def _draw_counts(drawing: Drawing, curve: Curve, counts: Iterable[int], plane: _Plane) -> None:
    """Write a number above each point of a curve, but below a high point, since the legend is above it."""
    for point, count in zip(curve, counts):
        x, y = plane.place(point)
        is_high = point[1] > _HIGH_VALUE
        baseline = y + 16 if is_high else y - 8
        drawing.text("note", x, baseline, str(count), anchor="middle")


def _draw_mark(drawing: Drawing, mark: Mark, plane: _Plane) -> None:
    """Draw a vertical line at a value on the horizontal axis, with its text on the side that has more room."""
    x = plane.x_scale.at(mark.value)
    drawing.path("dashed", [(x, plane.top), (x, plane.bottom)])
    is_in_right_half = x > (plane.left + plane.right) / 2
    if is_in_right_half:
        drawing.text("note", x - 6, plane.bottom - 8, mark.text, anchor="end")
    else:
        drawing.text("note", x + 6, plane.bottom - 8, mark.text, anchor="start")


# ---- Grids


def shade(value: float) -> int:
    """Return the shade of a number from 0 to 1: 0 for the lowest numbers, 5 for the highest ones.

    Numbers outside of this range have the shade of its nearer end.
    """
    number_in_range = min(max(value, 0.0), 0.999)  # below 1, which would have a seventh shade
    return int(number_in_range * SHADES)


class GridRow(NamedTuple):
    """A row of a grid: its label and its numbers; None for a cell without a number."""

    label: str
    values: Sequence[float | None]


_CELL_HEIGHT: Final = 14.0

_MAX_CELL_WIDTH: Final = 40.0
"""The width of the cells of a grid with few columns."""

_GRID_LEFT: Final = LABELS_WIDTH + 8
"""The place at which the cells of a grid begin, after the labels of the rows."""

_SHADE_LEGEND_HEIGHT: Final = 48.0
"""The height of the legend of a grid, with the title of its columns."""

_SHADE_WIDTH: Final = 26.0
"""The width of a shade in the legend of a grid, with the gap after it."""

_COLUMN_LABELS_MARGIN: Final = 14.0
"""Units above and below the labels of columns, together."""

_MAX_COLUMN_LABELS_HEIGHT: Final = 110.0
"""The height of the labels of columns with its margin at most; longer labels are cut."""

_TITLE_GAP: Final = 6.0
"""Units between the first row of a grid and the texts above it."""

_NARROWEST_LABEL: Final = 9
"""Units that the label of a column needs; of narrower columns only some have one."""


def grid_chart(caption: Caption, description: str, rows: Sequence[GridRow], column_labels: Sequence[str]) -> Drawing:
    """Return a drawing of rows of numbers from 0 to 1 as coloured cells: a higher number has a darker cell.

    `description` describes the drawing. If the columns are narrow, only some of them are labelled.
    """
    longest_label = max([len(label) for label in column_labels], default=0)
    # The labels of columns run from bottom to top, so their length determines a height.
    labels_height = min(longest_label * LETTER_WIDTH + _COLUMN_LABELS_MARGIN, _MAX_COLUMN_LABELS_HEIGHT)
    top = _SHADE_LEGEND_HEIGHT + labels_height
    cell_width = min((WIDTH - _GRID_LEFT) / max(len(column_labels), 1), _MAX_CELL_WIDTH)
    margin_below = 8
    drawing = Drawing(caption, description, top + _CELL_HEIGHT * len(rows) + margin_below)
    _draw_shade_legend(drawing)
    max_height = labels_height - _COLUMN_LABELS_MARGIN
    _draw_column_labels(drawing, column_labels, cell_width, bottom=top - _TITLE_GAP, max_height=max_height)
    for position, row in enumerate(rows):
        _draw_cells(drawing, row, column_labels, top + _CELL_HEIGHT * position, cell_width)
    drawing.text("axis-title", _GRID_LEFT, _SHADE_LEGEND_HEIGHT - 4, caption.x_title)
    drawing.row_label("axis-title", top - _TITLE_GAP, caption.y_title)
    return drawing


def _draw_shade_legend(drawing: Drawing) -> None:
    """Draw the legend of a grid: a cell of each shade, with the smallest number of that shade below it."""
    cell_top = 4.0
    cell_height = 8.0
    gap = 2.0  # to the next cell
    baseline = 24.0  # of the numbers
    for shade_number in range(SHADES):
        x = _GRID_LEFT + _SHADE_WIDTH * shade_number
        drawing.rectangle(f"shade{shade_number}", x, cell_top, _SHADE_WIDTH - gap, cell_height)
        drawing.text("tick", x, baseline, f"{shade_number / SHADES:.2f}", max_width=_SHADE_WIDTH)


def _draw_column_labels(
    drawing: Drawing, labels: Sequence[str], cell_width: float, *, bottom: float, max_height: float
) -> None:
    """Write the column labels of a grid from bottom to top, each at most `max_height` units high.

    If the columns are narrow, only every second, third ... column is labelled.
    """
    label_step = 1
    if cell_width < _NARROWEST_LABEL:
        label_step = round(_NARROWEST_LABEL / cell_width + 0.5)  # rounds up
    for position in range(0, len(labels), label_step):
        x = _GRID_LEFT + cell_width * (position + 0.5) + _BASELINE_SHIFT
        drawing.upright_text("tick", x, bottom, labels[position], max_width=max_height)


def _draw_cells(drawing: Drawing, row: GridRow, column_labels: Sequence[str], top: float, cell_width: float) -> None:
    """Draw the label and the cells of a row of a grid; a cell has the shade of its number. The row begins at `top`."""
    gap_below_text = 3.5
    baseline = top + _CELL_HEIGHT - gap_below_text
    drawing.row_label("tick", baseline, row.label)
    for position, value in enumerate(row.values):
        css_class = "nothing" if value is None else f"shade{shade(value)}"
        number_text = "none" if value is None else f"{value:.4f}"
        title = f"{row.label}, {column_labels[position]}: {number_text}"
        x = _GRID_LEFT + cell_width * position
        width = max(cell_width - 1, 1)
        drawing.rectangle(css_class, x, top, width, _CELL_HEIGHT - 1, title)
