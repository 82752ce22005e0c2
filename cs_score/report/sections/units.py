"""Queries, claims, instances or questions with their lines, classes and mistakes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from cs_score.report.model import Column, Link, Section, Table, Text, Told, Value, kept
from cs_score.report.sections.names import unit_name, unit_names, unit_text
from cs_score.report.sections.told import query_key

_Record = Mapping[str, Any]

# What is known of a query itself; evidence modes have none of it.
_FACTS: Final[tuple[tuple[Column, Callable[[_Record], Value]], ...]] = (
    (Column("ldc", "LDC query"), lambda query: query["unit"]),
    (Column("name", "Entity"), lambda query: query["name"]),
    (Column("slot", "Slot"), lambda query: query["slot"]),
    (Column("hop", "Hop", "count"), lambda query: query["hop"]),
    (Column("lines", "Lines", "count"), lambda query: sum(query["lines"].values())),
    (Column("right", "Right", "count"), lambda query: query["lines"].get("right", 0)),
    (Column("wrong", "Wrong", "count"), lambda query: query["lines"].get("wrong", 0)),
    (Column("found", "Classes found", "count"), lambda query: query["classes"].get("found", 0)),
    (Column("missed", "Missed", "count"), lambda query: query["classes"].get("missed", 0)),
)


def units_section(document: _Record, told: Told) -> Section:
    """All units that are told of or have mistakes in the cost list, the costliest first; each opens what is told."""
    mistakes: dict[str, list[_Record]] = defaultdict(list)
    for mistake in document["mistakes"]:
        mistakes[unit_text(mistake)].append(mistake)
    explained = document.get("explanations", {})
    queries = {query["query"]: query for query in explained.get("queries", ())}
    units = dict.fromkeys((*mistakes, *queries, *map(unit_text, explained.get("units", ()))))
    facts = _FACTS if queries else ()
    rows: list[list[Value]] = []
    for unit in sorted(units, key=lambda unit: -(_largest(mistakes[unit]) or 0.0)):
        row = queries.get(unit)
        known = [None if row is None else value(row) for _, value in facts]
        count = len(mistakes[unit])
        opening: Value = Link(count, "mistakes", "unit", unit) if count else 0
        rows.append([told.opening(unit, query_key(unit)), *known, opening, _largest(mistakes[unit])])
    name = unit_names(document["mode"])
    columns = (
        Column("unit", unit_name(document["mode"]).capitalize()),
        *(column for column, _ in facts),
        Column("mistakes", "Mistakes", "count"),
        Column("largest", "Largest gain", "gain"),
    )
    about = f"{name.capitalize()} with what mending the costliest mistake of each would gain, the costliest first."
    if told.things:
        about += f" Each {unit_name(document['mode'])} opens, and what stands in it, as explain tells it."
    if left_out := explained.get("left_out", 0):
        about += f" {left_out} lines without mistakes in the cost list are not told."
    return Section("queries", name.capitalize(), (Text(about), Table("units", name.capitalize(), columns, *kept(rows))))


def _largest(mistakes: Sequence[_Record]) -> float | None:
    return max((each["gain"] for each in mistakes if each["gain"] is not None), default=None)
