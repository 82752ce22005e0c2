"""How lines, queries, classes and nodes, or units of the evidence modes, are explained: what opens on a page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cs_score.measures.registry import COLD_START_MODE
from cs_score.report.charts.drawing import Drawing
from cs_score.report.charts.lines import lines
from cs_score.report.model import Thing, Told
from cs_score.report.sections.names import unit_text


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


def told_of(document: Mapping[str, Any]) -> Told:
    """What opens on the page of an analysis; nothing where it holds no explanations."""
    explanations = document.get("explanations")
    if explanations is None:
        return Told()
    is_cold_start = document["mode"] == COLD_START_MODE
    things = dict(_things(explanations) if is_cold_start else _units(explanations))
    return Told(explanations["texts"], is_cold_start, things)


def _units(explanations: Mapping[str, Any]) -> Iterator[tuple[str, Thing]]:
    for unit in explanations["units"]:
        yield query_key(unit_text(unit)), Thing(unit_text(unit), unit["steps"])


def _things(explanations: Mapping[str, Any]) -> Iterator[tuple[str, Thing]]:
    of_query: dict[str, list[str]] = defaultdict(list)
    of_node: dict[str, list[str]] = defaultdict(list)
    missed: dict[str, list[str]] = defaultdict(list)
    for line in explanations["lines"]:
        key = line_key(line["file"], line["line"])
        yield key, Thing(_head(line), line["steps"])
        if line["query"] is not None:
            of_query[line["query"]].append(key)
        if line["node"] is not None:
            of_node[line["node"]].append(key)
    for each in explanations["classes"]:
        key = class_key(each["class"])
        yield key, Thing(f"{each['class']} {each['value']}", each["steps"])
        missed[each["query"]].append(key)
    for at, query in enumerate(explanations["queries"]):
        groups = [("Missed classes", missed[query["query"]]), ("Lines", of_query[query["query"]])]
        drawing = _drawing(query, f"precision-{at}")
        yield query_key(query["query"]), Thing(query["query"], query["steps"], _filled(groups), drawing)
    for node, keys in of_node.items():
        if len(keys) > 1:
            yield node_key(node), Thing(node, (), [("Lines", keys)])


def _filled(groups: Sequence[tuple[str, Sequence[str]]]) -> Sequence[tuple[str, Sequence[str]]]:
    return [(title, keys) for title, keys in groups if keys]


def _head(line: Mapping[str, Any]) -> str:
    category = "" if line["category"] is None else f" ({line['category']})"
    value = "" if line["value"] is None else f" {line['value']}"
    return f"{line['side']}{category}:{value}, {line['file']} line {line['line']}"


def precision_charts(document: Mapping[str, Any]) -> Iterator[Drawing]:
    """Precision at each rank of each query."""
    for query in document.get("explanations", {}).get("queries", ()):
        if (drawing := _drawing(query, "precision")) is not None:
            yield drawing


def _drawing(query: Mapping[str, Any], name: str) -> Drawing | None:
    """The precision at each rank of a query that has nodes."""
    curves = {
        f"hop {level}" if level != "ALL" else "all hops": [(rank, value) for rank, value in enumerate(values, 1)]
        for level, values in query.get("precision_at", {}).items()
        if values
    }
    if not curves:
        return None
    told = "; ".join(f"{level}: " + ", ".join(f"{value:.4f}" for _, value in curve) for level, curve in curves.items())
    title = f"Precision at rank: {query['query']}"
    axes = ("rank of the node", "precision")
    return lines(name, title, f"{told}.", axes, curves, of=query["query"])
