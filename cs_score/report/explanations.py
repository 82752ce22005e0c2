"""How lines, queries, classes and nodes, or units of the evidence modes, are explained: what opens on a page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from cs_score.measures.registry import COLD_START_MODE
from cs_score.report.charts import lines
from cs_score.report.drawing import Drawing
from cs_score.report.page import Entry, Openings, unit_text


def line_key(file: str, number: int) -> str:
    """The key of a line of the run."""
    return f"line {file}:{number}"


def query_key(query: str) -> str:
    """The key of a query, or of a unit as text."""
    return f"query {query}"


def class_key(name: str) -> str:
    """The key of a class that was missed."""
    return f"class {name}"


def node_key(name: str) -> str:
    """The key of a node."""
    return f"node {name}"


def openings_of(document: Any) -> Openings:
    """What opens on the page of an analysis; nothing where it holds no explanations."""
    explanations = document.explanations
    if not explanations:
        return Openings()
    if document.task == COLD_START_MODE:
        return Openings(explanations.texts, entries=dict(_entries(explanations)))
    units = {query_key(unit_text(unit)): Entry(unit_text(unit), unit.steps) for unit in explanations.units}
    return Openings(explanations.texts, are_trees=False, entries=units)


def _entries(explanations: Any) -> Iterator[tuple[str, Entry]]:
    of_query: dict[str, list[str]] = defaultdict(list)
    of_node: dict[str, list[str]] = defaultdict(list)
    missed: dict[str, list[str]] = defaultdict(list)
    for line in explanations.lines:
        key = line_key(line.file, line.line)
        category = "" if line.category is None else f" ({line.category})"
        value = "" if line.value is None else f" {line.value}"
        yield key, Entry(f"{line.side}{category}:{value}, {line.file} line {line.line}", line.steps)
        if line.query is not None:
            of_query[line.query].append(key)
        if line.node is not None:
            of_node[line.node].append(key)
    for each in explanations.classes:
        key = class_key(each.class_name)
        yield key, Entry(f"{each.class_name} {each.value}", each.steps)
        missed[each.query].append(key)
    for at, query in enumerate(explanations.queries):
        groups = [("Missed classes", missed[query.query]), ("Lines", of_query[query.query])]
        filled = [(title, keys) for title, keys in groups if keys]
        drawing = _precision_chart(query, f"precision-{at}")
        yield query_key(query.query), Entry(query.query, query.steps, filled, drawing)
    for node, keys in of_node.items():
        if len(keys) > 1:
            yield node_key(node), Entry(node, (), [("Lines", keys)])


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
