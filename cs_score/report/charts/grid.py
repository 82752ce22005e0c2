"""A grid of coloured cells, such as queries by runs: the darker a cell, the higher its number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cs_score.report.charts.bars import LABELS
from cs_score.report.charts.drawing import LETTER, WIDTH, Drawing

SHADES: Final = 6
_ROW: Final = 14.0
_LEGEND: Final = 30.0
_MOST_UPWARDS: Final = 110.0
_NARROWEST: Final = 3.0


def shade(value: float) -> int:
    """The shade of a number from 0 to 1."""
    return min(int(value * SHADES), SHADES - 1)


def grid(
    name: str,
    title: str,
    description: str,
    axes: tuple[str, str],
    rows: Sequence[tuple[str, Sequence[float | None]]],
    columns: Sequence[str],
    *,
    of: str = "",
) -> Drawing:
    """Rows of numbers from 0 to 1, None where there is none; `axes` names the columns and the rows."""
    head = min(_MOST_UPWARDS, max(map(len, columns), default=0) * LETTER + 14)
    bottom = _LEGEND + head + _ROW * len(rows)
    drawing = Drawing(name, title, description, bottom + 40, of)
    _legend(drawing)
    wide = min((WIDTH - LABELS - 8) / max(len(columns), 1), 40.0)
    for at, label in enumerate(columns):
        if wide >= 9 or at % round(9 / wide + 0.5) == 0:
            drawing.upright_text("tick", LABELS + 8 + wide * (at + 0.5) + 4, _LEGEND + head - 6, label, wide=head - 14)
    for number, (label, values) in enumerate(rows):
        top = _LEGEND + head + _ROW * number
        drawing.text("tick", LABELS, top + _ROW - 3.5, label, anchor="end", wide=LABELS)
        for at, value in enumerate(values):
            kind = "nothing" if value is None else f"shade{shade(value)}"
            told = "none" if value is None else f"{value:.4f}"
            place = (LABELS + 8 + wide * at, top, max(wide - 1, 1), _ROW - 1)
            drawing.rectangle(kind, *place, f"{label}, {columns[at]}: {told}")
    drawing.text("axis-title", LABELS + 8, bottom + 18, axes[0])
    drawing.text("axis-title", 0, bottom + 18, axes[1], wide=LABELS)
    return drawing


def _legend(drawing: Drawing) -> None:
    """What the shades stand for."""
    left = LABELS + 8
    for each in range(SHADES):
        drawing.rectangle(f"shade{each}", left + 26 * each, 4, 24, 8)
        drawing.text("tick", left + 26 * each, 24, f"{each / SHADES:.2f}", wide=26)
