"""Make the expandable entries of the page of an analysis: how each query, line, class, node or unit was scored. An
entry has a head, the steps that explain it, and further entries below it. Its key looks like "line run.tab:12".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from cs_score.measures import COLD_START_MODE
from cs_score.pages.charts import Caption, Curve, Drawing, curve_chart
from cs_score.pages.page import ExpandableEntries, ExpandableEntry, unit_text


def expandable_entries_of(analysis: Any) -> ExpandableEntries:
    """Return the entries that readers can open on the page of an analysis, with the texts of their steps.

    Each entry explains how a query, line, class, node or unit was scored. The result is empty if the analysis has no
    explanations.
    """
    explanations = analysis.explanations
    if not explanations:
        return ExpandableEntries()
    if analysis.task == COLD_START_MODE:
        return ExpandableEntries(explanations.texts, entry_by_key=_entries_of_runs(explanations))
    # The explanation of a unit is plain text. Only Cold Start explanations have nested steps.
    entry_by_key = _entries_of_units(explanations.units)
    return ExpandableEntries(explanations.texts, are_trees=False, entry_by_key=entry_by_key)


def _entries_of_units(units: Iterable[Any]) -> dict[str, ExpandableEntry]:
    """Return the entries of the units of an evidence task, such as claims, by keys such as "query 1234".

    Their keys begin with "query", like those of Cold Start queries, so that all tasks can use the same tables of units.
    """
    entries = {}
    for unit in units:
        name = unit_text(unit)
        entries[f"query {name}"] = ExpandableEntry(name, unit.steps)
    return entries


def _entries_of_runs(explanations: Any) -> dict[str, ExpandableEntry]:
    """Return the entries of a Cold Start analysis: lines, missed classes, queries with both, and nodes.

    Their keys are such as "line run.tab:12", "class CS14_0001:003", "query CS14_0001" and "node :Entity_1".
    """
    entries: dict[str, ExpandableEntry] = {}
    for line in explanations.lines:
        entries[_key_of_line(line)] = ExpandableEntry(_head_of_line(line), line.steps)
    for missed_class in explanations.classes:
        head = f"{missed_class.class_name} {missed_class.value}"
        entries[_key_of_class(missed_class)] = ExpandableEntry(head, missed_class.steps)
    entries |= _entries_of_queries(explanations)
    entries |= _entries_of_nodes(explanations.lines)
    return entries


def _key_of_line(line: Any) -> str:
    """Return the key of the entry of a line: "line run.tab:12"."""
    return f"line {line.file}:{line.line}"


def _key_of_class(missed_class: Any) -> str:
    """Return the key of the entry of a missed equivalence class: "class CS14_0001:003"."""
    return f"class {missed_class.class_name}"


def _entries_of_queries(explanations: Any) -> dict[str, ExpandableEntry]:
    """Return the entries of queries by keys such as "query CS14_0001".

    The missed classes and the lines of a query are below its entry, next to a chart of its precisions.
    """
    line_keys_by_query = _keys_by_query(explanations.lines, _key_of_line)
    class_keys_by_query = _keys_by_query(explanations.classes, _key_of_class)
    entries = {}
    for position, explanation in enumerate(explanations.queries):
        query_id = explanation.query
        groups = []
        if query_id in class_keys_by_query:
            groups.append(("Missed classes", class_keys_by_query[query_id]))
        if query_id in line_keys_by_query:
            groups.append(("Lines", line_keys_by_query[query_id]))
        chart = _precision_chart(explanation, chart_name=f"precision-{position}")
        entries[f"query {query_id}"] = ExpandableEntry(query_id, explanation.steps, groups, chart)
    return entries


def _keys_by_query(records: Iterable[Any], key_of: Callable[[Any], str]) -> dict[Any, list[str]]:
    """Return the keys of the entries of lines or classes, grouped by query: {"CS14_0001": ["line run.tab:12"]}.

    `key_of` returns the key of the entry of a record.
    """
    keys_by_query: dict[Any, list[str]] = defaultdict(list)
    for record in records:
        keys_by_query[record.query].append(key_of(record))
    return dict(keys_by_query)


def _entries_of_nodes(lines: Iterable[Any]) -> dict[str, ExpandableEntry]:
    """Return the entries of the nodes with several lines, by keys such as "node :Entity_1".

    Below the entry of a node are its lines.
    """
    lines_by_node: dict[Any, list[str]] = defaultdict(list)
    for line in lines:
        if line.node is not None:
            lines_by_node[line.node].append(_key_of_line(line))
    entries = {}
    for node, keys in lines_by_node.items():
        if len(keys) > 1:
            entries[f"node {node}"] = ExpandableEntry(node, steps=(), groups=[("Lines", keys)])
    return entries


def _head_of_line(line: Any) -> str:
    """Return the head of the entry of a line: `RIGHT (CORRECT): value, run.tab line 3`."""
    category = "" if line.category is None else f" ({line.category})"
    value = "" if line.value is None else f" {line.value}"
    return f"{line.side}{category}:{value}, {line.file} line {line.line}"


def precision_charts(document: Any) -> Iterator[Drawing]:
    """Yield a chart for each query that has ranked nodes: the precision at each rank."""
    for explanation in getattr(document.explanations, "queries", ()):
        chart = _precision_chart(explanation, chart_name="precision")
        if chart is not None:
            yield chart


def _precision_chart(explanation: Any, chart_name: str) -> Drawing | None:
    """Return the chart of the precision at each rank of a query, with a curve for each hop.

    The result is None if the query has no ranked nodes. `explanation` is the explanation of the query. `chart_name` is
    the prefix of the ids of the chart's elements.
    """
    precisions_by_series = _precisions_by_series(explanation)
    if not precisions_by_series:
        return None
    curves: dict[str, Curve] = {}
    texts = []
    for series, precisions in precisions_by_series.items():
        curves[series] = list(enumerate(precisions, start=1))
        numbers = ", ".join([f"{precision:.4f}" for precision in precisions])
        texts.append(f"{series}: {numbers}")
    query_id = explanation.query
    caption = Caption(
        name=chart_name,
        title=f"Precision at rank: {query_id}",
        x_title="rank of the node",
        y_title="precision",
        subject=query_id,
    )
    return curve_chart(caption, f"{'; '.join(texts)}.", curves)


def _precisions_by_series(explanation: Any) -> dict[str, Sequence[float]]:
    """Return the precision of a query at the ranks 1, 2, ... for each series, such as "all hops" and "hop 0".

    Hops without ranked nodes are left out. `explanation` is the explanation of the query.
    """
    precisions_by_series = {}
    for level, precisions in explanation.precision_at.items():
        if precisions:
            series = "all hops" if level == "ALL" else f"hop {level}"
            precisions_by_series[series] = precisions
    return precisions_by_series
