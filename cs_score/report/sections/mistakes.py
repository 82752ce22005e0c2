"""The cost list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from cs_score.measures.registry import COLD_START_MODE
from cs_score.report import MOST_ROWS
from cs_score.report.model import Column, Details, Section, Table, Text, Told, Value
from cs_score.report.sections.names import as_text, unit_text
from cs_score.report.sections.told import class_key, line_key, node_key, query_key

MOST_DETAILS: Final = 1000
"""Mistakes, from the costliest on, whose effects on all measures the page keeps."""

_SHOWN_OF_UNIT: Final = 50

_GAIN: Final = Column("gain", "Gain", "gain")
_COLD_START: Final = (
    _GAIN,
    Column("place", "File and line"),
    Column("category", "Category"),
    Column("change", "Mended by"),
    Column("unit", "Query"),
    Column("slot", "Slot"),
    Column("hop", "Hop", "count"),
    Column("value", "Value"),
    Column("node", "Node or class"),
    Column("effects", "Effects"),
)
_EVIDENCE: Final = (
    _GAIN,
    Column("kind", "Kind"),
    Column("unit", "Unit"),
    Column("part", "Part"),
    Column("predicted", "Predicted"),
    Column("gold", "Gold"),
    Column("effects", "Effects"),
)


def kind_of_budget(document: Mapping[str, Any], kind: str) -> tuple[str, str]:
    """The column of the cost list that tells a kind of the error budget, and its value there."""
    return ("category", kind.upper()) if document["mode"] == COLD_START_MODE else ("kind", kind)


def mistakes_section(document: Mapping[str, Any], told: Told) -> Section:
    """The cost list, the costliest first; places and units open what is told of them."""
    mistakes: Sequence[Mapping[str, Any]] = document["mistakes"]
    is_cold_start = document["mode"] == COLD_START_MODE
    row = _cold_start_row if is_cold_start else _evidence_row
    left_out = document.get("mistake_count", len(mistakes)) - min(len(mistakes), MOST_ROWS)
    rows = [[*row(mistake, told), _effects(mistake, at)] for at, mistake in enumerate(mistakes[:MOST_ROWS])]
    about = (
        f"What mending each mistake alone would bring to {document['measure']}. The effects on other measures open "
        f"for the {MOST_DETAILS} costliest."
    )
    table = Table("mistakes", "Cost list", _COLD_START if is_cold_start else _EVIDENCE, rows, left_out)
    return Section("costs", "Cost list", (Text(about), table))


def _cold_start_row(mistake: Mapping[str, Any], told: Told) -> list[Value]:
    keys = {
        "line": line_key(mistake["file"], mistake["line"]),
        "class": class_key(mistake["class"] or ""),
        "node": node_key(mistake["node"] or ""),
    }
    return [
        mistake["gain"],
        told.opening(f"{mistake['file']}:{mistake['line']}", keys[mistake["kind"]]),
        mistake["category"] or "NODE",
        f"{mistake['kind']} {mistake['change']}",
        mistake["query"],
        mistake["slot"],
        mistake["hop"],
        mistake["value"],
        mistake["node"] or mistake["class"],
    ]


def _evidence_row(mistake: Mapping[str, Any], told: Told) -> list[Value]:
    texts = (as_text(mistake[key]) for key in ("part", "predicted", "gold"))
    unit = unit_text(mistake)
    return [mistake["gain"], mistake["kind"], told.opening(unit, query_key(unit)), *texts]


def _effects(mistake: Mapping[str, Any], at: int) -> Value:
    """The effects on all measures, and the files that they stand for."""
    if at >= MOST_DETAILS:
        return None
    name = "not told" if mistake.get("reachable", True) else "no answer of the pool finds it"
    items = [(name, mistake["reason"])] if "reason" in mistake else []
    effects: Mapping[str, float | None] = mistake["effects"]
    items += [(measure, _gain(effect)) for measure, effect in effects.items() if effect]
    items += [("without", f"{line['file']}:{line['line']}") for line in mistake.get("removed", ())[:_SHOWN_OF_UNIT]]
    items += [("with", line) for line in mistake.get("added", ())]
    if "prediction" in mistake:
        mended = mistake["prediction"]
        items.append(("prediction", "left out" if mended is None else as_text(mended)))
    return Details(f"{sum(map(bool, effects.values()))} measures", items)


def _gain(gain: float | None) -> str:
    return "unknown" if gain is None else f"{gain:+.4f}"
