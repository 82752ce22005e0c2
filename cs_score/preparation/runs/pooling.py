"""Pooling: how deep a run is taken, by the confidence of its nodes (specification of the companions, 2.4)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from cs_score.base.errors import UsageError
from cs_score.base.records import Record
from cs_score.coldstart.limits import node_confidence
from cs_score.coldstart.lines import Response
from cs_score.problems.log import ProblemLog

_DEPTH: Final = re.compile(r"([AB]):(\d+)", re.ASCII)

_EXPECTED: Final = (
    '-depth should be of the form "[AB]:d". A/B is used to select A: top d nodes '
    "B: top d nodes from hop-0 and top dxd nodes from hop-1 (including parents to insure that there are no orphans) "
    "with respect to confidence value, in the validated output."
)


class Depth(Record):
    """How many nodes are taken: `most` of the first hop and its square of the second.

    Scheme B (`per_query`) takes as many for each query; scheme A counts over the whole run.
    """

    per_query: bool
    most: int

    @classmethod
    def parse(cls, text: str) -> Depth | None:
        """Read `A:d` or `B:d`; None for `0` and the empty text, which mean no depth. Raises UsageError otherwise."""
        if text in ("", "0"):
            return None
        match = _DEPTH.match(text)
        if match is None:
            raise UsageError(_EXPECTED)
        return cls(match.group(1) == "B", int(match.group(2)[:9]))


class _Node(NamedTuple):
    """A node that takes part: its FQ id, hop, confidence and the smallest number among its lines."""

    name: str
    level: int
    confidence: float
    first_line: float
    order: int


class Pooling:
    """Marks the run lines beyond a depth, after the limits on justifications have marked theirs."""

    def __init__(self, depth: Depth, most: int | None, problems: ProblemLog) -> None:
        self._depth = depth
        self._most = most
        self._problems = problems

    def apply(self, responses: Sequence[Response], marked: set[int]) -> None:
        """Add to `marked` the indexes of the lines that are out of depth.

        All lines without node id form one node without name (quirk 9), which is its own parent.
        """
        nodes: dict[str, list[Response]] = defaultdict(list)
        for line in responses:
            nodes[line.node or ""].append(line)
        kept = {
            name: unmarked
            for name, lines in nodes.items()
            if (unmarked := [line for line in lines if line.index not in marked])
        }
        included = self._included(self._ranked(kept, nodes))
        for name, lines in kept.items():
            if name not in included:
                self._discard(lines, marked)
        self._discard_orphans(responses, marked)

    def _ranked(
        self, kept: Mapping[str, Sequence[Response]], nodes: Mapping[str, Sequence[Response]]
    ) -> dict[str, list[_Node]]:
        """The nodes of each root, best first."""
        confidences = {name: node_confidence([line.confidence for line in kept[name]], self._most) for name in kept}
        members: dict[str, dict[tuple[str, int], _Node]] = defaultdict(dict)
        for order, (name, lines) in enumerate(kept.items()):
            level = nodes[name][-1].query.level
            confidence = confidences[name]
            of_root = members[_root(name)]
            if level == 1:
                parent = _parent(name)
                confidence *= confidences.get(parent, 0.0)
                if parent not in kept or parent == name:
                    # It has no lines at the first hop; it takes a place that is left.
                    of_root.setdefault((parent, 0), _Node(parent, 0, 0.0, 0, order))
            of_root[name, level] = _Node(name, level, confidence, min(line.number for line in lines), order)
        return {root: sorted(of_root.values(), key=self._standing) for root, of_root in members.items()}

    def _standing(self, node: _Node) -> tuple[float, float, int]:
        line = node.first_line if self._depth.per_query else -node.first_line
        return -node.confidence, line, node.order

    def _included(self, ranked: Mapping[str, Sequence[_Node]]) -> set[str]:
        return self._included_per_query(ranked) if self._depth.per_query else self._included_over_all(ranked)

    def _included_per_query(self, ranked: Mapping[str, Sequence[_Node]]) -> set[str]:
        """Scheme B: for each root its best nodes, and the parents of its best second-hop nodes."""
        most = self._depth.most
        included: set[str] = set()
        for nodes in ranked.values():
            included.update(node.name for node in _of_level(nodes, 0)[:most])
            for node in _of_level(nodes, 1)[: most * most]:
                included.update((node.name, _parent(node.name)))
        return included

    def _included_over_all(self, ranked: Mapping[str, Sequence[_Node]]) -> set[str]:
        """Scheme A: the places are taken root by root, roots in string order (9, rule 1)."""
        most = self._depth.most
        roots = [ranked[root] for root in sorted(ranked)]
        included = {node.name for node in [node for nodes in roots for node in _of_level(nodes, 0)][:most]}
        below = [node for nodes in roots for node in _of_level(nodes, 1) if _parent(node.name) in included]
        return included | {node.name for node in below[: most * most]}

    def _discard(self, lines: Iterable[Response], marked: set[int]) -> None:
        for line in lines:
            marked.add(line.index)
            if self._depth.per_query:  # scheme A is silent (quirk 8)
                self._problems.add("DISCARDED_ENTRY_DEPTH", f"\n{line.text}\n", place=line.place)

    def _discard_orphans(self, responses: Sequence[Response], marked: set[int]) -> None:
        """Discard the lines whose parent lines are all gone."""
        code = "DISCARDED_DEPENDENT_DEPTH" if self._depth.per_query else "DISCARDED_DEPENDENT"
        by_level: dict[int, list[Response]] = defaultdict(list)
        for line in responses:
            if line.index not in marked:
                by_level[line.query.level].append(line)
        for level in (0, 1):
            answered = {line.target for line in by_level[level] if line.index not in marked}
            for line in by_level[level + 1]:
                if line.query.short_id not in answered:
                    marked.add(line.index)
                    self._problems.add(code, f"\n{line.text}\n", place=line.place)


def _root(name: str) -> str:
    return name.partition(":")[0]


def _parent(name: str) -> str:
    return name.rpartition(":")[0]


def _of_level(nodes: Iterable[_Node], level: int) -> list[_Node]:
    return [node for node in nodes if node.level == level]
