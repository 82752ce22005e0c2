"""A chart as a file for papers."""

from __future__ import annotations

from cs_score.base.errors import MissingExtraError
from cs_score.report.charts.drawing import Drawing

_PIXELS = 3
"""Per unit of a chart, in a PNG file."""


def chart_bytes(drawing: Drawing, ending: str) -> bytes:
    """The chart as `.svg`, `.pdf` or `.png`. Raises MissingExtraError where the last two lack what converts."""
    svg = drawing.standalone()
    if ending == ".svg":
        return svg.encode()
    try:
        import vl_convert
    except ModuleNotFoundError:
        raise MissingExtraError("vl-convert-python", "plots") from None
    converted: bytes = vl_convert.svg_to_pdf(svg) if ending == ".pdf" else vl_convert.svg_to_png(svg, scale=_PIXELS)
    return converted
