"""The cost list, and the same mistakes by query, claim, instance or question."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from cs_score.measures.registry import COLD_START_MODE
from cs_score.report.model import Column, Details, Link, Section, Table, Text, Value, kept
from cs_score.report.sections.names import unit_name, unit_names

MOST_DETAILS: Final = 1000
"""Mistakes, from the costliest on, whose effects on all measures the page keeps."""

_SHOWN_OF_UNIT: Final = 50

_GAIN: Final = Column("gain", "Gain", "gain")
_COLD_START: Final = (
    _GAIN,
    Column("category", "Category"),
    Column("change", "Mended by"),
    Column("unit", "Query"),
    Column("slot", "Slot"),
    Column("hop", "Hop", "count"),
    Column("value", "Value"),
    Column("node", "Node or class"),
    Column("place", "File and line"),
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


def mistakes_section(document: Mapping[str, Any]) -> Section:
    """The cost list, the costliest first."""
    mistakes: Sequence[Mapping[str, Any]] = document["mistakes"]
    is_cold_start = document["mode"] == COLD_START_MODE
    row = _cold_start_row if is_cold_start else _evidence_row
    rows, left_out = kept([[*row(mistake), _effects(mistake, at)] for at, mistake in enumerate(mistakes)])
    left_out += document.get("mistake_count", len(mistakes)) - len(mistakes)
    about = (
        f"What mending each mistake alone would bring to {document['measure']}. The effects on other measures open "
        f"for the {MOST_DETAILS} costliest."
    )
    table = Table("mistakes", "Cost list", _COLD_START if is_cold_start else _EVIDENCE, rows, left_out)
    return Section("costs", "Cost list", (Text(about), table))


def units_section(document: Mapping[str, Any]) -> Section:
    """Queries, claims, instances or questions with their mistakes."""
    by_unit: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for mistake in document["mistakes"]:
        by_unit[unit_of(mistake)].append(mistake)
    rows: list[list[Value]] = []
    for unit, mistakes in by_unit.items():
        shown = [(_short(mistake), _gain(mistake["gain"])) for mistake in mistakes[:_SHOWN_OF_UNIT]]
        largest = max((each["gain"] for each in mistakes if each["gain"] is not None), default=None)
        rows.append([unit, Link(len(mistakes), "mistakes", "unit", unit), largest, Details("open", shown)])
    name = unit_names(document["mode"]).capitalize()
    columns = (
        Column("unit", unit_name(document["mode"]).capitalize()),
        Column("mistakes", "Mistakes", "count"),
        Column("largest", "Largest gain", "gain"),
        Column("lines", "Lines and classes" if name == "Queries" else "Parts"),
    )
    about = f"{name} with mistakes in the cost list, the costliest first; each opens up to {_SHOWN_OF_UNIT} of them."
    table = Table("units", name, columns, *kept(rows))
    return Section("queries", name, (Text(about), table))


def unit_of(mistake: Mapping[str, Any]) -> str:
    """The query or the unit that a mistake is in, as text; repetitions of an id are told apart."""
    if "query" in mistake:
        query: str = mistake["query"]
        return query
    occurrence = mistake.get("occurrence", 1)
    return as_text(mistake["unit"]) + (f" ({occurrence})" if occurrence > 1 else "")


def as_text(value: object) -> str:
    """A value of a predictions file: texts as they are, everything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def _cold_start_row(mistake: Mapping[str, Any]) -> list[Value]:
    return [
        mistake["gain"],
        mistake["category"] or "NODE",
        f"{mistake['kind']} {mistake['change']}",
        mistake["query"],
        mistake["slot"],
        mistake["hop"],
        mistake["value"],
        mistake["node"] or mistake["class"],
        f"{mistake['file']}:{mistake['line']}",
    ]


def _evidence_row(mistake: Mapping[str, Any]) -> list[Value]:
    texts = (as_text(mistake[key]) for key in ("part", "predicted", "gold"))
    return [mistake["gain"], mistake["kind"], unit_of(mistake), *texts]


def _effects(mistake: Mapping[str, Any], at: int) -> Value:
    """The effects on all measures, and the files that they stand for."""
    if at >= MOST_DETAILS:
        return None
    items = [("not told", mistake["reason"])] if "reason" in mistake else []
    effects: Mapping[str, float | None] = mistake["effects"]
    items += [(measure, _gain(effect)) for measure, effect in effects.items() if effect]
    items += [("without", f"{line['file']}:{line['line']}") for line in mistake.get("removed", ())[:_SHOWN_OF_UNIT]]
    items += [("with", line) for line in mistake.get("added", ())]
    if "prediction" in mistake:
        mended = mistake["prediction"]
        items.append(("prediction", "left out" if mended is None else as_text(mended)))
    return Details(f"{sum(map(bool, effects.values()))} measures", items)


def _short(mistake: Mapping[str, Any]) -> str:
    """A mistake in one line of its query's details."""
    if "query" in mistake:
        return f"{mistake['category'] or 'NODE'} {mistake['value']} ({mistake['file']}:{mistake['line']})"
    return " ".join(filter(None, (mistake["kind"], as_text(mistake["part"]))))


def _gain(gain: float | None) -> str:
    return "unknown" if gain is None else f"{gain:+.4f}"
