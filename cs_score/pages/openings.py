"""The entries that open on the page of an analysis: how each query, line, class, node or unit was scored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from cs_score.measures.registry import COLD_START_MODE
from cs_score.pages.charts import Caption, Curve, Drawing, lines
from cs_score.pages.page import ExpandableEntry, Openings, unit_text


def openings_of(document: Any) -> Openings:
    """Return the entries of an analysis; none if it holds no explanations."""
    explanations = document.explanations
    if not explanations:
        return Openings()
    if document.task == COLD_START_MODE:
        return Openings(explanations.texts, entries=_entries_of_runs(explanations))
    entries = {}
    for unit in explanations.units:
        name = unit_text(unit)
        entries[f"query {name}"] = ExpandableEntry(name, unit.steps)
    return Openings(explanations.texts, are_trees=False, entries=entries)


def _entries_of_runs(explanations: Any) -> dict[str, ExpandableEntry]:
    """Return the entries of a Cold Start analysis: lines, missed classes, queries with both, and nodes."""
    entries: dict[str, ExpandableEntry] = {}
    lines_by_query: dict[Any, list[str]] = defaultdict(list)
    lines_by_node: dict[Any, list[str]] = defaultdict(list)
    classes_by_query: dict[Any, list[str]] = defaultdict(list)
    for line in explanations.lines:
        key = f"line {line.file}:{line.line}"
        entries[key] = ExpandableEntry(_head_of_line(line), line.steps)
        lines_by_query[line.query].append(key)
        lines_by_node[line.node].append(key)
    for missed_class in explanations.classes:
        key = f"class {missed_class.class_name}"
        entries[key] = ExpandableEntry(f"{missed_class.class_name} {missed_class.value}", missed_class.steps)
        classes_by_query[missed_class.query].append(key)
    for position, query in enumerate(explanations.queries):
        groups = []
        if classes_by_query[query.query]:
            groups.append(("Missed classes", classes_by_query[query.query]))
        if lines_by_query[query.query]:
            groups.append(("Lines", lines_by_query[query.query]))
        chart = _precision_chart(query, f"precision-{position}")
        entries[f"query {query.query}"] = ExpandableEntry(query.query, query.steps, groups, chart)
    for node, keys in lines_by_node.items():
        if node is not None and len(keys) > 1:
            entries[f"node {node}"] = ExpandableEntry(node, (), [("Lines", keys)])
    return entries


def _head_of_line(line: Any) -> str:
    """Return the head of the entry of a line: `RIGHT (CORRECT): value, run.tab line 3`."""
    category = "" if line.category is None else f" ({line.category})"
    value = "" if line.value is None else f" {line.value}"
    return f"{line.side}{category}:{value}, {line.file} line {line.line}"


def precision_charts(document: Any) -> Iterator[Drawing]:
    """Yield a chart for each query that has ranked nodes: the precision at each rank."""
    for query in getattr(document.explanations, "queries", ()):
        chart = _precision_chart(query, "precision")
        if chart is not None:
            yield chart


def _precision_chart(query: Any, name: str) -> Drawing | None:
    """Return the chart of the precision at each rank of a query, by hop; None if it has no ranked nodes."""
    curves: dict[str, Curve] = {}
    texts = []
    for level, precisions in query.precision_at.items():
        if not precisions:
            continue
        series = "all hops" if level == "ALL" else f"hop {level}"
        curves[series] = list(enumerate(precisions, 1))
        numbers = ", ".join([f"{precision:.4f}" for precision in precisions])
        texts.append(f"{series}: {numbers}")
    if not curves:
        return None
    caption = Caption(name, f"Precision at rank: {query.query}", "rank of the node", "precision", of=query.query)
    return lines(caption, f"{'; '.join(texts)}.", curves)
