"""The nodes of a query, whatever run they come from, with their own confidences (specification 9.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final

from cs_score.base.records import Record
from cs_score.coldstart.lines.justifications import node_confidence
from cs_score.coldstart.lines.records import Response

_number: Final = attrgetter("number")
_index: Final = attrgetter("index")


class Node(Record):
    """A node before it is ranked: its level (0 or 1), the node above it, its lines, its own confidence, its first line.

    The lines are in load order. At level 0 `parent` is the node itself. The confidence does not have the parent's in it
    yet.
    """

    name: str
    level: int
    parent: str
    lines: Sequence[Response]
    own_confidence: float
    first: Response


class Nodes:
    """All nodes of the input by query, whatever run they come from (specification 9.1)."""

    def __init__(self, lines_of: Mapping[str, Sequence[Response]], most: int | None) -> None:
        """`lines_of`: the lines of every node by FQ node id; `most`: how many justifications count, None for all."""
        self._lines_of = lines_of
        self._most = most
        self._of_query: dict[str, list[str]] = defaultdict(list)
        for name in lines_of:
            query, colon, _ = name.partition(":")
            if colon:
                self._of_query[query].append(name)

    def of_query(self, query_id: str) -> dict[str, Node]:
        """The nodes of a query by FQ node id; a node that only has children gets their lines."""
        nodes: dict[str, Node] = {}
        for name in self._of_query.get(query_id, ()):
            lines = self._lines_of[name]
            components = name.split(":", 3)
            parent = name if len(components) == 2 else f"{query_id}:{components[1]}"
            if len(components) > 2 and components[2] not in ("", "0"):
                child = name if len(components) == 3 else f"{parent}:{components[2]}"
                nodes[child] = node_of(child, 1, parent, lines, self._most)
            else:
                nodes[parent] = node_of(parent, 0, parent, lines, self._most)
        from_children: dict[str, list[Response]] = {}
        for node in nodes.values():
            if node.parent not in nodes:
                from_children.setdefault(node.parent, []).extend(node.lines)
        for parent, of_children in from_children.items():
            nodes[parent] = node_of(parent, 0, parent, sorted(of_children, key=_index), self._most)
        return nodes


def node_of(name: str, level: int, parent: str, lines: Sequence[Response], most: int | None) -> Node:
    """A node from its lines, in load order; `most`: how many justifications count, None for all."""
    if len(lines) == 1:  # as most nodes are
        (first,) = lines
        return Node(name, level, parent, lines, node_confidence((first.confidence,), most), first)
    confidence = node_confidence([line.confidence for line in lines], most)
    return Node(name, level, parent, lines, confidence, min(lines, key=_number))
