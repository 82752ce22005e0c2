"""An analysis as text for people: aligned tables, as wide as they are allowed to be."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from cs_score.analysis.evidence.analysis import Analysis
from cs_score.analysis.evidence.groups import ConfusionCount, Group
from cs_score.analysis.evidence.mistakes import Mistake
from cs_score.analysis.evidence.tables import as_json
from cs_score.base.display import one_line
from cs_score.evidence.reading import text_of
from cs_score.evidence.report import aligned
from cs_score.evidence.result import counted

TOP: Final = 20
"""Mistakes that are shown unless another number is asked for."""

LONGEST_NAME: Final = 40
"""Characters that are shown of an id, a label or the name of a group."""

_NARROWEST: Final = 16
"""Characters that a value is given even where lines get longer than they should."""

_GAP: Final = 2


def analysis_text(analysis: Analysis, width: int, top: int = TOP) -> str:
    """Score, error budget, the costliest mistakes, groups and confusions."""
    unit = analysis.mode.unit
    blocks = [
        [f"{analysis.mode.name}: {analysis.measure} = {analysis.score:.4f} over {counted(analysis.units, unit)}"],
        [
            "The score if all mistakes of a kind, and no others, were mended; cumulated, if those above were as well:",
            *_budget(analysis),
        ],
        _mistakes(analysis, width, top),
        *(_groups(unit, dimension, groups, top) for dimension, groups in analysis.groups.items()),
        *_confusions(analysis.confusions, top),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def mistake_rows(mistakes: Iterable[Mistake], unit: str, width: int) -> list[str]:
    """Mistakes in aligned columns that fit into the width, the values cut where they have to be."""
    rows = [("gain", unit, "kind", "at", "predicted", "gold")]
    rows += [
        (
            "-" if mistake.gain is None else f"{mistake.gain:+.6f}",
            unit_name(mistake.unit, mistake.occurrence),
            mistake.fault.kind,
            "" if mistake.fault.part is None else shortened(str(mistake.fault.part), LONGEST_NAME),
            value_text(mistake.fault.predicted),
            value_text(mistake.fault.gold),
        )
        for mistake in mistakes
    ]
    return aligned(fitted(rows, width))


def fitted(rows: Sequence[Sequence[str]], width: int) -> list[tuple[str, ...]]:
    """Rows of cells of which the last two are cut so that aligned lines fit into the width, the longer column first."""
    widths = [max(len(one_line(cell, width)) for cell in column) for column in zip(*rows)]
    free = max(width - sum(widths[:-2]) - _GAP * (len(widths) - 1), 2 * _NARROWEST)
    first = min(widths[-2], max(free - widths[-1], free // 2))
    last = min(widths[-1], free - first)
    return [(*row[:-2], shortened(row[-2], first), shortened(row[-1], last)) for row in rows]


def value_text(value: object) -> str:
    """A value in short: an entry as `SUPPORT [4, 5]`, other objects with their keys, everything else as JSON."""
    if isinstance(value, dict) and value.keys() == {"label", "sentences"}:
        return f"{text_of(value['label'])} {as_json(value['sentences'])}"
    if isinstance(value, dict):
        return ", ".join(f"{key} {text_of(member)}" for key, member in value.items())
    if isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        return "; ".join(map(value_text, value))
    return as_json(value)


def shortened(text: str, most: int) -> str:
    """A text on one line of at most so many characters; three dots stand for what is left out."""
    shown = one_line(text[: most + 1])
    return shown if len(shown) <= most else f"{shown[: most - 3]}..."


def unit_name(unit: object, occurrence: int) -> str:
    """The id of a unit, with which of those with the id it is unless it is the first."""
    name = shortened(text_of(unit), LONGEST_NAME)
    return name if occurrence == 1 else f"{name} ({occurrence})"


def _budget(analysis: Analysis) -> list[str]:
    rows = [
        (row.kind, str(row.count), f"{row.gain:+.4f}", f"{row.score:.4f}", f"{row.cumulated:.4f}")
        for row in analysis.budget
    ]
    return aligned([("", "mistakes", "gain", "score", "cumulated"), *rows])


def _mistakes(analysis: Analysis, width: int, top: int) -> list[str]:
    shown = analysis.mistakes[:top]
    if not shown:
        return [counted(len(analysis.mistakes), "mistake") if analysis.mistakes else "There are no mistakes."]
    number = "costliest" if len(shown) == 1 else f"{len(shown)} costliest"
    lines = [
        f"The {number} of {counted(len(analysis.mistakes), 'mistake')}, with what mending each one alone would bring:",
        *mistake_rows(shown, analysis.mode.unit, width),
    ]
    if reasons := dict.fromkeys(mistake.reason for mistake in shown if mistake.reason):
        lines += ["No gain is known where the mended prediction would be refused:", *map(one_line, reasons)]
    return lines


def _groups(unit: str, dimension: str, groups: Sequence[Group], top: int) -> list[str]:
    rows = [
        (
            group.group,
            str(group.units),
            *("-" if score is None else f"{score:.4f}" for score in (group.precision, group.recall, group.f1)),
            str(group.mistakes),
            f"{group.share:.1%}",
        )
        for group in groups
    ]
    head = (dimension.replace("_", " "), f"{unit}s", "precision", "recall", "f1", "mistakes", "share")
    return limited(head, rows, top)


def _confusions(confusions: Sequence[ConfusionCount], top: int) -> list[list[str]]:
    """A table per thing that has labels, the most frequent pairs first."""
    blocks = []
    for of in dict.fromkeys(each.confusion.of for each in confusions):
        met = [
            (each.confusion.gold, each.confusion.predicted, str(each.count))
            for each in confusions
            if each.confusion.of == of
        ]
        blocks.append(limited(("gold", "predicted", f"{of}s"), met, top))
    return blocks


def limited(head: Sequence[str], rows: Sequence[Sequence[str]], top: int) -> list[str]:
    """The first rows in aligned columns below their heads, and how many there are besides."""
    names = [tuple(shortened(cell, LONGEST_NAME) for cell in row) for row in rows[:top]]
    return [*aligned([head, *names]), *([f"({len(rows) - top} more)"] if len(rows) > top else [])]
