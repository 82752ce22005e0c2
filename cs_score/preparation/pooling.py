"""Choose the lines of a run that are taken: pooling to a depth, and the program apply-k."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
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
    """A node that may be taken: its FQ id, hop, confidence, the smallest number of its lines, its place in order."""

    name: str
    level: int
    confidence: float
    first_line: float
    order: int


def discard_beyond(
    depth: Depth, most: int | None, responses: Sequence[Response], marked: set[int], problems: ProblemLog
) -> None:
    """Add to `marked` the indexes of the lines that are out of depth; `most` is the limit on lines of a node.

    All lines without node id form one node without name, which is its own parent (rule depth-without-node-ids).
    """
    lines_by_node: dict[str, list[Response]] = defaultdict(list)
    for line in responses:
        lines_by_node[line.node or ""].append(line)
    lines_left: dict[str, list[Response]] = {}
    level_by_node: dict[str, int] = {}
    for name, lines in lines_by_node.items():
        unmarked = [line for line in lines if line.index not in marked]
        if unmarked:
            lines_left[name] = unmarked
            level_by_node[name] = lines[-1].query.level
    taken_nodes = _taken_nodes(depth, _nodes_by_root(depth, most, lines_left, level_by_node))
    for name, lines in lines_left.items():
        if name in taken_nodes:
            continue
        for line in lines:
            marked.add(line.index)
            if depth.per_query:  # scheme A is silent (rule depth-over-all-queries)
                _report_discarded(line, "DISCARDED_ENTRY_DEPTH", problems)
    _discard_orphans(depth, responses, marked, problems)


def _discard_orphans(depth: Depth, responses: Iterable[Response], marked: set[int], problems: ProblemLog) -> None:
    """Add to `marked` the lines whose parent lines are all marked, hop by hop."""
    code = "DISCARDED_DEPENDENT_DEPTH" if depth.per_query else "DISCARDED_DEPENDENT"
    lines_by_level: dict[int, list[Response]] = defaultdict(list)
    for line in responses:
        if line.index not in marked:
            lines_by_level[line.query.level].append(line)
    for level in (0, 1):
        targets = {line.target for line in lines_by_level[level] if line.index not in marked}
        for line in lines_by_level[level + 1]:
            if line.query.short_id not in targets:
                marked.add(line.index)
                _report_discarded(line, code, problems)


def _report_discarded(line: Response, code: str, problems: ProblemLog) -> None:
    """Report a line that is discarded, with its text."""
    problems.add(code, f"\n{line.text}\n", place=line.place)


def _nodes_by_root(
    depth: Depth, most: int | None, lines_left: Mapping[str, Sequence[Response]], level_by_node: Mapping[str, int]
) -> dict[str, list[_Node]]:
    """Return the nodes that may be taken by root, the text before the first colon of their FQ id; the best come first.

    `lines_left` are the lines of each node that are not discarded. Of nodes with equal confidence scheme B takes the
    one with the first line, scheme A that with the last.
    """
    confidence_by_node = {}
    for name, lines in lines_left.items():
        confidence_by_node[name] = node_confidence([line.confidence for line in lines], most)
    nodes_by_root: dict[str, dict[tuple[str, int], _Node]] = defaultdict(dict)
    for order, (name, lines) in enumerate(lines_left.items()):
        nodes_of_root = nodes_by_root[name.partition(":")[0]]
        confidence = confidence_by_node[name]
        level = level_by_node[name]
        if level == 1:
            parent = _parent(name)
            confidence *= confidence_by_node.get(parent, 0.0)
            if parent not in lines_left or parent == name:
                # The parent has no lines at the first hop; it takes a place that is left over.
                nodes_of_root.setdefault((parent, 0), _Node(parent, 0, 0.0, 0, order))
        first_line = min(line.number for line in lines)
        nodes_of_root[name, level] = _Node(name, level, confidence, first_line, order)
    sign = 1 if depth.per_query else -1
    ordered_nodes = {}
    for root, nodes_of_root in nodes_by_root.items():
        ordered_nodes[root] = sorted(
            nodes_of_root.values(), key=lambda node: (-node.confidence, sign * node.first_line, node.order)
        )
    return ordered_nodes


def _taken_nodes(depth: Depth, nodes_by_root: Mapping[str, Sequence[_Node]]) -> set[str]:
    """Return the FQ ids of the nodes that are taken, from the nodes of each root in the order of their ranks."""
    taken_nodes: set[str] = set()
    if depth.per_query:
        for nodes in nodes_by_root.values():
            first_hop = [node.name for node in nodes if node.level == 0]
            second_hop = [node.name for node in nodes if node.level == 1]
            taken_nodes.update(first_hop[: depth.most])
            for name in second_hop[: depth.most**2]:  # the best of the second hop bring their parents
                taken_nodes.update((name, _parent(name)))
        return taken_nodes
    # In scheme A the places are taken root by root, roots in string order (rule depth-over-all-queries).
    all_nodes: list[_Node] = []
    for root in sorted(nodes_by_root):
        all_nodes += nodes_by_root[root]
    first_hop = [node.name for node in all_nodes if node.level == 0]
    taken_nodes.update(first_hop[: depth.most])
    second_hop = [node.name for node in all_nodes if node.level == 1 and _parent(node.name) in taken_nodes]
    taken_nodes.update(second_hop[: depth.most**2])
    return taken_nodes


def _parent(name: str) -> str:
    """Return the FQ id of the node above a node: `Q:E1:C1` -> `Q:E1`."""
    return name.rpartition(":")[0]


# ---- apply-k


class _Line(NamedTuple):
    """What apply-k looks at in a line of text."""

    number: int
    query: str
    node: str
    value: str
    document: str
    provenance: str
    confidence: float

    @classmethod
    def read(cls, number: int, text: str) -> _Line:
        """Read a line; columns that are missing are empty."""
        columns = text.split("\t")
        columns += [""] * (_COLUMNS - len(columns))
        query, _, _, relation, value, _, provenance, confidence, node = columns[:_COLUMNS]
        document = relation.partition(":")[0]
        return cls(number, query, node, value, document, provenance, leading_number(confidence))

    @property
    def level(self) -> int:
        """The hop by the number of parts of the query id; blank lines and comments are below the first hop."""
        query = self.query.rstrip("_")
        part_count = query.count("_") + 1 if query else 0
        return part_count - 2


def documents_per_node(justifications: str) -> int:
    """Return how many documents a node may have: the number after the first colon of `A:B`.

    It is 0, which keeps nothing, for `M` and anything else (rule apply-k-any-number).
    """
    match = _WHOLE_NUMBER.match(justifications.partition(":")[2])
    return int(match.group(1)) if match else 0


def kept_lines(texts: Sequence[str], most: int) -> list[bool]:
    """Return for each line of a run, as text, whether apply-k keeps it.

    A node keeps its most confident lines, one for each document, from at most `most` documents; a line below answers
    that are gone goes with them.
    """
    is_kept = [True] * len(texts)
    lines_by_level: dict[int, list[_Line]] = defaultdict(list)
    for number, text in enumerate(texts):
        line = _Line.read(number, text)
        lines_by_level[line.level].append(line)
    for level in sorted(lines_by_level):
        lines = [line for line in lines_by_level[level] if is_kept[line.number]]
        best_lines = _best_lines(lines, most)
        for line in lines:
            is_kept[line.number] = False
        for line in best_lines:
            is_kept[line.number] = True
        lines_below = lines_by_level.get(level + 1)
        if level == -1 or lines_below is None:  # lines of the first hop, which come next, have no parents
            continue
        targets = {f"{line.query}_{follow_on_id(line.query, line.value, line.provenance)}" for line in best_lines}
        for line in lines_below:
            if line.query not in targets:
                is_kept[line.number] = False
    return is_kept


def _best_lines(lines: Iterable[_Line], most: int) -> list[_Line]:
    """Return the most confident lines of each node, one for each document, from at most `most` documents."""
    lines_by_node: dict[tuple[str, str], list[_Line]] = defaultdict(list)
    for line in lines:
        lines_by_node[line.query, line.node].append(line)
    best_lines: list[_Line] = []
    for lines_of_node in lines_by_node.values():
        documents: set[str] = set()
        for line in sorted(lines_of_node, key=lambda line: (-line.confidence, line.number)):
            if len(documents) < most and line.document not in documents:
                documents.add(line.document)
                best_lines.append(line)
    return best_lines
