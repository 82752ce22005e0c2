"""Which lines of a run are taken: pooling to a depth, and apply-k."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from cs_score.base.errors import UsageError
from cs_score.base.records import Record
from cs_score.coldstart.lines import Response, node_confidence
from cs_score.coldstart.queries import follow_on_id
from cs_score.coldstart.tab_files import leading_number
from cs_score.problems.log import ProblemLog

_DEPTH: Final = re.compile(r"([AB]):(\d+)", re.ASCII)
_WHOLE_NUMBER: Final = re.compile(r"\s*([0-9]{1,9})", re.ASCII)
_COLUMNS: Final = 9

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


def discard_beyond(
    depth: Depth, most: int | None, responses: Sequence[Response], marked: set[int], problems: ProblemLog
) -> None:
    """Add to `marked` the indexes of the lines that are out of depth; `most` is the limit on lines of a node.

    All lines without node id form one node without name (rule
    depth-without-node-ids), which is its own parent.
    """

    def discard(line: Response, code: str) -> None:
        marked.add(line.index)
        problems.add(code, f"\n{line.text}\n", place=line.place)

    nodes: dict[str, list[Response]] = defaultdict(list)
    for line in responses:
        nodes[line.node or ""].append(line)
    left = {name: [line for line in lines if line.index not in marked] for name, lines in nodes.items()}
    kept = {name: lines for name, lines in left.items() if lines}
    included = _included(depth, most, kept, {name: nodes[name][-1].query.level for name in kept})
    beyond = [line for name, lines in kept.items() if name not in included for line in lines]
    if depth.per_query:
        for line in beyond:
            discard(line, "DISCARDED_ENTRY_DEPTH")
    marked.update(line.index for line in beyond)  # scheme A is silent (rule depth-over-all-queries)
    by_level: dict[int, list[Response]] = defaultdict(list)
    for line in responses:
        if line.index not in marked:
            by_level[line.query.level].append(line)
    for level in (0, 1):  # lines whose parent lines are all gone
        answered = {line.target for line in by_level[level] if line.index not in marked}
        for line in by_level[level + 1]:
            if line.query.short_id not in answered:
                discard(line, "DISCARDED_DEPENDENT_DEPTH" if depth.per_query else "DISCARDED_DEPENDENT")


def _included(
    depth: Depth, most: int | None, kept: Mapping[str, Sequence[Response]], levels: Mapping[str, int]
) -> set[str]:
    """The nodes that are taken, by FQ id."""
    confidences = {name: node_confidence([line.confidence for line in lines], most) for name, lines in kept.items()}
    members: dict[str, dict[tuple[str, int], _Node]] = defaultdict(dict)
    for order, (name, lines) in enumerate(kept.items()):
        node = _Node(name, levels[name], confidences[name], min(line.number for line in lines), order)
        of_root = members[name.partition(":")[0]]
        if node.level == 1:
            if (parent := _parent(name)) not in kept or parent == name:
                # It has no lines at the first hop; it takes a place that is left.
                of_root.setdefault((parent, 0), _Node(parent, 0, 0.0, 0, order))
            node = node._replace(confidence=node.confidence * confidences.get(parent, 0.0))
        of_root[name, node.level] = node

    def best_first(node: _Node) -> tuple[float, float, int]:
        return -node.confidence, node.first_line if depth.per_query else -node.first_line, node.order

    ranked = {root: sorted(of_root.values(), key=best_first) for root, of_root in members.items()}
    included: set[str] = set()
    # In scheme A the places are taken root by root, roots in string order (rule depth-over-all-queries).
    in_order = [node for root in sorted(ranked) for node in ranked[root]]
    for nodes in ranked.values() if depth.per_query else [in_order]:
        first, second = ([node for node in nodes if node.level == level] for level in (0, 1))
        included.update(node.name for node in first[: depth.most])
        if depth.per_query:  # the best of the second hop bring their parents
            included.update(name for node in second[: depth.most**2] for name in (node.name, _parent(node.name)))
        else:
            below = [node.name for node in second if _parent(node.name) in included]
            included.update(below[: depth.most**2])
    return included


def _parent(name: str) -> str:
    return name.rpartition(":")[0]


class _Line(NamedTuple):
    """What apply-k looks at in a line of text."""

    number: int
    query: str
    node: str
    value: str
    document: str
    provenance: str
    confidence: float


def documents_per_node(justifications: str) -> int:
    """The number after the first colon of `A:B`; 0, which keeps nothing, for `M` and anything else (rule
    apply-k-any-number).
    """
    match = _WHOLE_NUMBER.match(justifications.partition(":")[2])
    return int(match.group(1)) if match else 0


def kept_lines(lines: Sequence[str], most: int) -> list[bool]:
    """For each line of a run, as text, whether apply-k keeps it.

    A node keeps its most confident lines, one for each document, from at most `most` documents; a line below answers
    that are gone goes with them.
    """
    kept = [True] * len(lines)
    levels: dict[int, list[_Line]] = defaultdict(list)
    for number, text in enumerate(lines):
        query, _, _, relation, value, _, provenance, confidence, node, *_ = (*text.split("\t"), *[""] * _COLUMNS)
        line = _Line(number, query, node, value, relation.partition(":")[0], provenance, leading_number(confidence))
        # Blank lines and comments stand below the first hop.
        levels[(query.rstrip("_").count("_") + 1 if query.rstrip("_") else 0) - 2].append(line)
    for level in sorted(levels):
        nodes: dict[tuple[str, str], list[_Line]] = defaultdict(list)
        for line in levels[level]:
            if kept[line.number]:
                nodes[line.query, line.node].append(line)
        best: list[_Line] = []
        for of_node in nodes.values():
            documents: set[str] = set()
            for line in sorted(of_node, key=lambda line: (-line.confidence, line.number)):
                if len(documents) >= most or line.document in documents:
                    kept[line.number] = False
                else:
                    documents.add(line.document)
                    best.append(line)
        below = levels.get(level + 1)
        if level == -1 or below is None:  # lines of the first hop, which come next, have no parents
            continue
        answered = {f"{line.query}_{follow_on_id(line.query, line.value, line.provenance)}" for line in best}
        for line in below:
            if line.query not in answered:
                kept[line.number] = False
    return kept
