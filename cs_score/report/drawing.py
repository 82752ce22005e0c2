"""An SVG drawing under construction, its scales, and a chart as a file for papers.

Shapes have classes instead of styles, which a page that forbids styles can show; colours come from `chart.css`.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Final

from lxml import etree

from cs_score.base.display import cell
from cs_score.base.errors import MissingExtraError
from cs_score.base.records import Record

WIDTH: Final = 420.0
"""Units of every chart: near the pixels that a telephone has, so that letters stay readable there."""

LETTER: Final = 6.8
"""Units that a narrow letter takes, roughly."""

_NAMESPACE: Final = "http://www.w3.org/2000/svg"
_FOLDER: Final = files("cs_score.report") / "templates"


class Target(Record):
    """The rows of a table of the page whose column `column` is `value`."""

    table: str
    column: str
    value: str


class Drawing:
    """An SVG image of `WIDTH` times `height` units with a title, and a description of what it shows.

    `of` distinguishes it from others of its kind.
    """

    def __init__(self, name: str, title: str, description: str, height: float, of: str = "") -> None:
        self.name = name
        self.of = of
        self.title = title
        self.description = description
        self.height = height
        self._root = etree.Element(
            "svg",
            {
                "xmlns": _NAMESPACE,
                "viewBox": f"0 0 {_number(WIDTH)} {_number(height)}",
                "role": "img",
                "aria-labelledby": f"{name}-title {name}-desc",
                "class": "chart",
            },
        )
        self._parent = self._root
        etree.SubElement(self._root, "title", {"id": f"{name}-title"}).text = _safe(title)
        etree.SubElement(self._root, "desc", {"id": f"{name}-desc"}).text = _safe(description)

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
        """A straight line."""
        self._add("line", kind, x1=x1, y1=y1, x2=x2, y2=y2)

    def rectangle(self, kind: str, x: float, y: float, width: float, height: float, title: str | None = None) -> None:
        """A filled rectangle; `title` is what a pointer over it shows."""
        self._titled(self._add("rect", kind, x=x, y=y, width=width, height=height), title)

    def path(self, kind: str, points: list[tuple[float, float]]) -> None:
        """Straight lines from point to point."""
        self._add("path", kind, d=" ".join(f"{'L' if at else 'M'}{_pair(*point)}" for at, point in enumerate(points)))

    def marker(self, series: int, x: float, y: float, title: str | None = None) -> None:
        """A marker whose form shows the series as its colour does: disc, square, triangle."""
        forms = ("M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "M-3.5-3.5h7v7h-7z", "M0-4.5L4.5 3.5h-9z")
        form, place = forms[series % len(forms)], f"translate({_pair(x, y)})"
        self._titled(self._add("path", f"fill{series + 1}", d=form, transform=place), title)

    def text(self, kind: str, x: float, y: float, text: str, *, anchor: str = "start", wide: float = WIDTH) -> None:
        """A line of text, shortened to `wide` units; a pointer over it shows all of it then."""
        self._write(self._add("text", kind, x=x, y=y, **{"text-anchor": anchor}), text, wide)

    def upright_text(self, kind: str, x: float, y: float, text: str, *, wide: float | None = None) -> None:
        """A line of text that runs upwards, its middle at the point; from there on where it is shortened to `wide`."""
        turned, anchor = f"translate({_pair(x, y)}) rotate(-90)", "middle" if wide is None else "start"
        element = self._add("text", kind, transform=turned, **{"text-anchor": anchor})
        self._write(element, text, math.inf if wide is None else wide)

    def _add(self, tag: str, kind: str, **attributes: float | str) -> etree._Element:
        texts = {name: value if isinstance(value, str) else _number(value) for name, value in attributes.items()}
        return etree.SubElement(self._parent, tag, {"class": kind, **texts})

    def _write(self, element: etree._Element, text: str, wide: float) -> None:
        safe = _safe(text)
        element.text = shortened(safe, wide)
        if element.text != safe:
            self._titled(element, text)

    def svg(self) -> str:
        """The drawing for a page, which has the style sheet."""
        return etree.tostring(self._root, encoding="unicode")

    def standalone(self) -> str:
        """The drawing as a file of its own, in the colours for paper."""
        root = etree.fromstring(self.svg())
        root.set("role", "img")
        etree.strip_tags(root, f"{{{_NAMESPACE}}}a")
        root.set("width", _number(WIDTH))
        root.set("height", _number(self.height))
        style = etree.Element(f"{{{_NAMESPACE}}}style")
        style.text = _on_paper(chart_style())
        root.insert(0, style)
        return f"{etree.tostring(root, encoding='unicode')}\n"

    @staticmethod
    def _titled(element: etree._Element, title: str | None) -> None:
        if title is not None:
            etree.SubElement(element, "title").text = _safe(title)


def chart_style() -> str:
    """The style sheet of all charts."""
    return (_FOLDER / "chart.css").read_text("utf-8")


def shortened(text: str, wide: float) -> str:
    """As much of a text as fits into so many units; wide characters count twice."""
    width = 0.0
    for at, character in enumerate(text):
        width += _width(character)
        if width > wide and at < len(text) - 1:
            return text[: max(at - 1, 0)] + "…"
    return text


def _width(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 2 * LETTER
    return 1.3 * LETTER if character.isupper() else LETTER


def _on_paper(style: str) -> str:
    """A style sheet with the colours of its first rule in the place of their names: not every reader knows those."""
    first, _, rest = style.partition("}")
    colours = dict(re.findall(r"--([a-z0-9-]+):\s*([^;]+);", first))
    rules = re.sub(r"@media[^{]*\{[^{}]*\{[^{}]*\}\s*\}", "", rest)
    return re.sub(r"var\(--([a-z0-9-]+)\)", lambda match: colours[match.group(1)], rules).strip()


def _safe(text: str) -> str:
    return cell(text, 500)


def _pair(x: float, y: float) -> str:
    return f"{_number(x)} {_number(y)}"


def _number(value: float) -> str:
    """At most two decimals, none that say nothing."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")  # adding 0.0 turns minus zero into zero


class Scale(Record):
    """A range of numbers, from `low` to `high`, over places from `start` to `end`; `step` is between two ticks."""

    low: float
    high: float
    step: float
    start: float
    end: float

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
    return Scale(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step, step, start, end)


def unit_scale(start: float, end: float) -> Scale:
    """From 0 to 1."""
    return Scale(0.0, 1.0, 0.2, start, end)


def chart_bytes(drawing: Drawing, ending: str) -> bytes:
    """The chart as `.svg`, `.pdf` or `.png`. Raises MissingExtraError where the last two lack what converts."""
    svg = drawing.standalone()
    if ending == ".svg":
        return svg.encode()
    try:
        import vl_convert
    except ModuleNotFoundError:
        raise MissingExtraError("vl-convert-python", "plots") from None
    converted: bytes = vl_convert.svg_to_pdf(svg) if ending == ".pdf" else vl_convert.svg_to_png(svg, scale=3)
    return converted
