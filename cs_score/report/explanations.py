"""How lines, queries, classes and nodes, or units of the evidence modes, are explained: what opens on a page.

Keys of entries are `line FILE:N`, `class NAME`, `node NAME` and `query ID`, of units of evidence, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from cs_score.measures.registry import COLD_START_MODE
from cs_score.report.charts import Drawing, lines
from cs_score.report.page import Entry, Openings, unit_text


def openings_of(document: Any) -> Openings:
    """What opens on the page of an analysis; nothing where it holds no explanations."""
    explanations = document.explanations
    if not explanations:
        return Openings()
    if document.task == COLD_START_MODE:
        return Openings(explanations.texts, entries=dict(_entries(explanations)))
    names = ((unit_text(unit), unit) for unit in explanations.units)
    units = {f"query {name}": Entry(name, unit.steps) for name, unit in names}
    return Openings(explanations.texts, are_trees=False, entries=units)


def _entries(explanations: Any) -> Iterator[tuple[str, Entry]]:
    of_query: dict[str, list[str]] = defaultdict(list)
    of_node: dict[str, list[str]] = defaultdict(list)
    missed: dict[str, list[str]] = defaultdict(list)
    for line in explanations.lines:
        key = f"line {line.file}:{line.line}"
        category = "" if line.category is None else f" ({line.category})"
        value = "" if line.value is None else f" {line.value}"
        yield key, Entry(f"{line.side}{category}:{value}, {line.file} line {line.line}", line.steps)
        if line.query is not None:
            of_query[line.query].append(key)
        if line.node is not None:
            of_node[line.node].append(key)
    for each in explanations.classes:
        key = f"class {each.class_name}"
        yield key, Entry(f"{each.class_name} {each.value}", each.steps)
        missed[each.query].append(key)
    for at, query in enumerate(explanations.queries):
        groups = [("Missed classes", missed[query.query]), ("Lines", of_query[query.query])]
        filled = [(title, keys) for title, keys in groups if keys]
        drawing = _precision_chart(query, f"precision-{at}")
        yield f"query {query.query}", Entry(query.query, query.steps, filled, drawing)
    for node, keys in of_node.items():
        if len(keys) > 1:
            yield f"node {node}", Entry(node, (), [("Lines", keys)])


def precision_charts(document: Any) -> Iterator[Drawing]:
    """Precision at each rank of each query."""
    for query in getattr(document.explanations, "queries", ()):
        if (drawing := _precision_chart(query, "precision")) is not None:
            yield drawing


def _precision_chart(query: Any, name: str) -> Drawing | None:
    """The precision at each rank of a query; None where it has no nodes."""
    curves = {
        f"hop {level}" if level != "ALL" else "all hops": list(enumerate(values, 1))
        for level, values in query.precision_at.items()
        if values
    }
    if not curves:
        return None
    text = "; ".join(f"{level}: " + ", ".join(f"{value:.4f}" for _, value in curve) for level, curve in curves.items())
    title, axes = f"Precision at rank: {query.query}", ("rank of the node", "precision")
    return lines(name, title, axes, f"{text}.", curves, of=query.query)
