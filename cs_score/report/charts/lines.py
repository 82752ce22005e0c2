"""Curves over one axis: scores by threshold, and how often confident answers are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from cs_score.report.charts.bars import horizontal_axis
from cs_score.report.charts.dots import legend
from cs_score.report.charts.drawing import WIDTH, Drawing
from cs_score.report.charts.scale import scale, unit_scale

Curve: TypeAlias = Sequence[tuple[float, float]]

_LEFT: Final = 52.0
_TOP: Final = 28.0
_BOTTOM: Final = 228.0
_BELOW: Final = 42.0


def lines(
    name: str,
    title: str,
    description: str,
    axes: tuple[str, str],
    curves: Mapping[str, Curve],
    *,
    mark: tuple[float, str] | None = None,
    with_diagonal: bool = False,
    of: str = "",
) -> Drawing:
    """At most three curves; what is above is from 0 to 1.

    `axes` names the one across and the one upwards. `mark` is a place across and its text; `with_diagonal` draws where
    both are equal, and the axis across is from 0 to 1 then.
    """
    drawing = Drawing(name, title, description, _BOTTOM + _BELOW, of)
    right = WIDTH - 14
    places = [x for curve in curves.values() for x, _ in curve]
    across = unit_scale(_LEFT, right) if with_diagonal else scale(places, _LEFT, right)
    upwards = unit_scale(_BOTTOM, _TOP)
    legend(drawing, list(curves), _LEFT)
    for place, text in upwards.ticks():
        drawing.line("grid", _LEFT, place, right, place)
        drawing.text("tick", _LEFT - 8, place + 4, text, anchor="end")
    horizontal_axis(drawing, across, _TOP, _BOTTOM, axes[0])
    drawing.upright_text("axis-title", 14, (_TOP + _BOTTOM) / 2, axes[1])
    if with_diagonal:
        drawing.path("dashed", [(across.at(0), upwards.at(0)), (across.at(1), upwards.at(1))])
    for position, (series, curve) in enumerate(curves.items()):
        drawing.path(f"line{position + 1}", [(across.at(x), upwards.at(y)) for x, y in curve])
        if len(curve) <= 20:
            for x, y in curve:
                drawing.marker(position, across.at(x), upwards.at(y), f"{series}: {y:.4f} at {x:.4g}")
    if mark is not None:
        place, text = across.at(mark[0]), mark[1]
        drawing.path("dashed", [(place, _TOP), (place, _BOTTOM)])
        is_right = place > (_LEFT + right) / 2
        drawing.text("note", place + (-6 if is_right else 6), _BOTTOM - 8, text, anchor="end" if is_right else "start")
    return drawing
