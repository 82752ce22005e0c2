"""Choose which lines of a run are kept, by pooling to a depth or as the program apply-k does. A node is an answer of a
run, given in one or more lines. A node of the second hop answers a query about the answer of its parent node. Scheme A
takes the best nodes of the whole run, scheme B the best nodes of each query. An orphan is a line that depends on an
answer of which no line is left.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from cs_score.base.errors import UsageError
from cs_score.base.records import Record
from cs_score.coldstart.limits import parent_node
from cs_score.coldstart.lines import Response, node_confidence
from cs_score.coldstart.queries import follow_on_id
from cs_score.coldstart.tab_files import leading_number
from cs_score.problems.log import ProblemLog

_DEPTH_PATTERN: Final = re.compile(r"([AB]):(\d+)", re.ASCII)
_WHOLE_NUMBER: Final = re.compile(r"\s*([0-9]{1,9})", re.ASCII)
_COLUMN_COUNT: Final = 9

# The levels of queries: hops are counted from 0.
_FIRST_HOP: Final = 0
_SECOND_HOP: Final = 1

_EXPECTED_FORM_OF_DEPTH: Final = (
    '-depth should be of the form "[AB]:d". A/B is used to select A: top d nodes '
    "B: top d nodes from hop-0 and top dxd nodes from hop-1 (including parents to insure that there are no orphans) "
    "with respect to confidence value, in the validated output."
)


class Depth(Record):
    """The depth to which the nodes of a run are pooled, that is, given to assessors. Scheme B (`is_per_query`) takes
    the `node_count` best nodes of the first hop for each query, scheme A for the whole run.

    At the second hop, the number of nodes taken is the square of `node_count`.
    """

    is_per_query: bool
    node_count: int

    @classmethod
    def parse(cls, text: str) -> Depth | None:
        """Return the depth that a text describes: scheme B with five nodes for `B:5`.

        Returns None for `0` and for the empty text, which mean that the whole run is taken. Raises UsageError if the
        text is anything else.
        """
        if text in ("", "0"):
            return None
        match = _DEPTH_PATTERN.match(text)
        if match is None:
            raise UsageError(_EXPECTED_FORM_OF_DEPTH)
        scheme, digits = match.groups()
        # No run has so many nodes that more than nine digits are needed. Longer numbers would only slow things down.
        first_nine_digits = digits[:9]
        return cls(is_per_query=scheme == "B", node_count=int(first_nine_digits))


class _Node(NamedTuple):
    """A node (an answer of a run, given in one or more lines) that may be taken.

    * `name`: the query and the node id, such as `CS14_0001:h1`.
    * `hop`: 0 for the first hop, 1 for the second.
    * `first_line_number`: the smallest number of its lines.
    * `load_position`: the position of the node in the order in which nodes were loaded, from 0.
    """

    name: str
    hop: int
    confidence: float
    first_line_number: float
    load_position: int


def discard_beyond_depth(
    depth: Depth,
    justifications_per_node: int | None,
    responses: Sequence[Response],
    discarded_indexes: set[int],
    problems: ProblemLog,
) -> None:
    """Discard the lines of a run that are beyond the depth of pooling.

    Their indexes are added to `discarded_indexes`, and the lines are reported to `problems`. The confidence of a node
    is computed from at most `justifications_per_node` of its lines, or from all of them if it is None. All lines
    without a node id form a single unnamed node, which is its own parent. In a run without node ids this node is always
    taken, so nothing is discarded unless the depth is 0.
    """
    lines_by_node = _lines_by_node(responses, discarded_indexes)
    nodes_by_query = _nodes_by_query(depth, justifications_per_node, lines_by_node)
    if depth.is_per_query:
        taken_names = _names_taken_by_scheme_b(depth, nodes_by_query)
    else:
        taken_names = _names_taken_by_scheme_a(depth, nodes_by_query)
    for line in _lines_of_other_nodes(taken_names, lines_by_node):
        discarded_indexes.add(line.index)
        if depth.is_per_query:  # with one depth for the whole run, the reference scorer reports nothing
            _report_discarded(line, "DISCARDED_ENTRY_DEPTH", problems)
    _discard_orphans(depth, responses, discarded_indexes, problems)


def _lines_of_other_nodes(taken_names: Collection[str], lines_by_node: Mapping[str, _NodeLines]) -> list[Response]:
    """Return the remaining lines of the nodes that are beyond the depth.

    These are the nodes whose names, such as `CS14_0001:h1`, are not among `taken_names`.
    """
    lines: list[Response] = []
    for name, node_lines in lines_by_node.items():
        if name not in taken_names:
            lines += node_lines.remaining_lines
    return lines


class _NodeLines(NamedTuple):
    """The lines of a node that have not been discarded, and the hop of the node, from 0.

    The hop is that of the last line of the node, even if this line was discarded.
    """

    remaining_lines: Sequence[Response]
    hop: int


def _lines_by_node(responses: Iterable[Response], discarded_indexes: Collection[int]) -> dict[str, _NodeLines]:
    """Return the remaining lines of each node by the name of the node: `{"CS14_0001:h1": ...}`.

    Nodes without remaining lines are left out. `discarded_indexes` are the indexes of the discarded lines.
    """
    all_lines_by_node: dict[str, list[Response]] = defaultdict(list)
    for line in responses:
        all_lines_by_node[line.node or ""].append(line)
    lines_by_node = {}
    for name, lines in all_lines_by_node.items():
        remaining_lines = [line for line in lines if line.index not in discarded_indexes]
        if remaining_lines:
            hop = lines[-1].query.level  # the hop of the last line counts, even if that line is discarded
            lines_by_node[name] = _NodeLines(remaining_lines, hop)
    return lines_by_node


def _discard_orphans(
    depth: Depth, responses: Iterable[Response], discarded_indexes: set[int], problems: ProblemLog
) -> None:
    """Discard and report orphans: lines of follow-on queries about answers of which no line is left.

    The indexes of the lines are added to `discarded_indexes`. Orphans of the second hop are discarded first, because
    the third hop asks about answers of the second hop.
    """
    code = "DISCARDED_DEPENDENT_DEPTH" if depth.is_per_query else "DISCARDED_DEPENDENT"
    lines_by_hop: dict[int, list[Response]] = defaultdict(list)
    for line in responses:
        if line.index not in discarded_indexes:
            lines_by_hop[line.query.level].append(line)
    for hop_of_parents in (_FIRST_HOP, _SECOND_HOP):
        # The lines of the next hop answer the follow-on queries about the answers of this hop.
        parents = [line for line in lines_by_hop[hop_of_parents] if line.index not in discarded_indexes]
        follow_on_ids = {parent.follow_on_id for parent in parents}
        orphans = [line for line in lines_by_hop[hop_of_parents + 1] if line.query.short_id not in follow_on_ids]
        for line in orphans:
            discarded_indexes.add(line.index)
            _report_discarded(line, code, problems)


def _report_discarded(line: Response, code: str, problems: ProblemLog) -> None:
    """Report a line that is discarded, with its text."""
    problems.add(code, f"\n{line.text}\n", place=line.place)


def _nodes_by_query(
    depth: Depth, justifications_per_node: int | None, lines_by_node: Mapping[str, _NodeLines]
) -> dict[str, list[_Node]]:
    """Return the nodes that may be taken, grouped by query, with the best node of each query first.

    The name of a node begins with its query: `CS14_0001:h1` belongs to the query `CS14_0001`. Nodes are ranked by path
    confidence. At the second hop, this is the confidence of a node times that of its parent. If several nodes have the
    same confidence, scheme B (a depth for each query) puts the node with the smallest line number first, and scheme A
    (one depth for the run) the node with the largest. A parent without lines is included as a node.
    """
    confidence_by_node = _own_confidences(justifications_per_node, lines_by_node)
    nodes_by_query: dict[str, list[_Node]] = defaultdict(list)
    for load_position, (name, node_lines) in enumerate(lines_by_node.items()):
        confidence = _path_confidence(name, node_lines.hop, confidence_by_node)
        nodes_by_query[_query_of(name)].append(_make_node(name, node_lines, confidence, load_position))
    for query_id, parents in _parents_without_lines(lines_by_node).items():
        nodes_by_query[query_id] += parents
    return {query_id: _best_first(nodes, depth) for query_id, nodes in nodes_by_query.items()}


def _query_of(name: str) -> str:
    """Return the id of the query with which the name of a node begins: `CS14_0001:h1:h2` -> `CS14_0001`."""
    return name.partition(":")[0]


def _parents_without_lines(lines_by_node: Mapping[str, _NodeLines]) -> dict[str, list[_Node]]:
    """Return the parents of second-hop nodes that have no remaining lines, by query.

    Such parents are nodes of the first hop. Their confidence is 0, so they are taken last. A parent has the load
    position of its first child.
    """
    # The parents are stored by query and name, because several children may have the same parent.
    parents_by_query: dict[str, dict[str, _Node]] = defaultdict(dict)
    for load_position, (name, node_lines) in enumerate(lines_by_node.items()):
        parent_name = parent_node(name)
        # The unnamed node, which consists of the lines without a node id, is its own parent.
        has_lines_of_parent = parent_name in lines_by_node and parent_name != name
        if node_lines.hop == _SECOND_HOP and not has_lines_of_parent:
            parent = _Node(
                name=parent_name, hop=_FIRST_HOP, confidence=0.0, first_line_number=0, load_position=load_position
            )
            parents_by_query[_query_of(name)].setdefault(parent_name, parent)
    return {query_id: list(parents.values()) for query_id, parents in parents_by_query.items()}


def _make_node(name: str, node_lines: _NodeLines, confidence: float, load_position: int) -> _Node:
    """Return the node with these lines.

    The node is ranked by its `confidence`. `load_position` is its position in the order of loading, from 0.
    """
    first_line_number = min([line.number for line in node_lines.remaining_lines])
    return _Node(
        name=name,
        hop=node_lines.hop,
        confidence=confidence,
        first_line_number=first_line_number,
        load_position=load_position,
    )


def _own_confidences(justifications_per_node: int | None, lines_by_node: Mapping[str, _NodeLines]) -> dict[str, float]:
    """Return the confidence of each node, computed from its own lines: `{"CS14_0001:h1": 0.9, ...}`.

    At most `justifications_per_node` lines of each node are used, or all lines if it is None.
    """
    confidence_by_node = {}
    for name, node_lines in lines_by_node.items():
        confidences = [line.confidence for line in node_lines.remaining_lines]
        confidence_by_node[name] = node_confidence(confidences, justifications_per_node)
    return confidence_by_node


def _path_confidence(name: str, hop: int, confidence_by_node: Mapping[str, float]) -> float:
    """Return the confidence by which a node is ranked.

    This is the node's own confidence, multiplied by the confidence of its parent at the second hop. A parent without
    lines has the confidence 0.
    """
    confidence = confidence_by_node[name]
    if hop == _SECOND_HOP:
        confidence *= confidence_by_node.get(parent_node(name), 0.0)
    return confidence


def _best_first(nodes: Iterable[_Node], depth: Depth) -> list[_Node]:
    """Return nodes sorted by confidence, then by line number, which ascends in scheme B and descends in scheme A."""
    sign = 1 if depth.is_per_query else -1  # with -1, larger line numbers come first
    return sorted(nodes, key=lambda node: (-node.confidence, sign * node.first_line_number, node.load_position))


def _names_taken_by_scheme_b(depth: Depth, nodes_by_query: Mapping[str, Sequence[_Node]]) -> set[str]:
    """Return the names of the nodes that scheme B takes: the best nodes of each query.

    `nodes_by_query` has the nodes of each query, the best first. The parents of second-hop nodes are also taken.
    """
    taken_names: set[str] = set()
    for nodes in nodes_by_query.values():
        first_hop = [node.name for node in nodes if node.hop == _FIRST_HOP]
        second_hop = [node.name for node in nodes if node.hop == _SECOND_HOP]
        taken_names.update(first_hop[: depth.node_count])
        # The depth is squared: as many nodes as if each node of the first hop had `node_count` nodes below it.
        for name in second_hop[: depth.node_count**2]:
            taken_names.add(name)
            taken_names.add(parent_node(name))
    return taken_names


def _names_taken_by_scheme_a(depth: Depth, nodes_by_query: Mapping[str, Sequence[_Node]]) -> set[str]:
    """Return the names of the nodes that scheme A takes: the first nodes of the whole run.

    `nodes_by_query` has the nodes of each query, the best first. Nodes are taken query by query, as in the reference
    scorer, with the query ids sorted as text. Nodes of the second hop are taken only if their parents are taken.
    """
    all_nodes: list[_Node] = []
    for query_id in sorted(nodes_by_query):
        all_nodes += nodes_by_query[query_id]
    first_hop = [node.name for node in all_nodes if node.hop == _FIRST_HOP]
    taken_parents = set(first_hop[: depth.node_count])
    second_hop = []
    for node in all_nodes:
        if node.hop == _SECOND_HOP and parent_node(node.name) in taken_parents:
            second_hop.append(node.name)
    # The depth is squared: as many nodes as if each node of the first hop had `node_count` nodes below it.
    return taken_parents.union(second_hop[: depth.node_count**2])


# ---- apply-k


class _Line(NamedTuple):
    """The columns of a line that apply-k uses, and its position in the file from 0."""

    number: int
    query: str
    node: str
    value: str
    document: str
    provenance: str
    confidence: float

    @classmethod
    def read(cls, number: int, text: str) -> _Line:
        """Return the line with this text and this position in the file (`number`, from 0).

        The columns are separated by tabs; missing columns are empty. The relation provenance names the document.
        """
        columns = text.split("\t")
        columns += [""] * (_COLUMN_COUNT - len(columns))
        query, _slot, _run_id, relation_provenance, value, _type, provenance, confidence, node = columns[:_COLUMN_COUNT]
        return cls(
            number=number,
            query=query,
            node=node,
            value=value,
            document=relation_provenance.partition(":")[0],
            provenance=provenance,
            confidence=leading_number(confidence),
        )

    @property
    def hop(self) -> int:
        """The hop, counted from 0: 1 for the query id `CS14_0001_0123456789ab`, which has three parts.

        It is negative for blank lines and comments.
        """
        query = self.query.rstrip("_")  # as in the reference scorer, empty parts at the end do not count
        part_count = query.count("_") + 1 if query else 0
        return part_count - 2


def documents_per_node(limits_text: str) -> int:
    """Return the number of documents that a node may have, from a text such as `1:3`: the number after the colon.

    For `M` and any other text the number is 0, so that no line is kept (rule apply-k-any-number).
    """
    _first, _colon, after_colon = limits_text.partition(":")
    match = _WHOLE_NUMBER.match(after_colon)
    return int(match.group(1)) if match else 0


def kept_lines(texts: Sequence[str], most_documents: int) -> list[bool]:
    """Return, for each line of a run, whether apply-k keeps it.

    `texts` are the lines as they are in the file. For each node, the most confident line from each document is kept,
    for at most `most_documents` documents. A line of a later hop answers a query about an earlier answer. It is kept
    only if a line with this earlier answer is kept, or if the run has no lines of the previous hop. Blank lines and
    comments are treated as lines of a hop before the first one.
    """
    lines_by_hop: dict[int, list[_Line]] = defaultdict(list)
    for number, text in enumerate(texts):
        line = _Line.read(number, text)
        lines_by_hop[line.hop].append(line)
    kept_numbers: set[int] = set()
    for hop in sorted(lines_by_hop):  # the first hop is 0; blank lines and comments have negative numbers
        lines = lines_by_hop[hop]
        is_checked_against_parents = hop != _FIRST_HOP and hop - 1 in lines_by_hop
        if is_checked_against_parents:
            kept_parents = [line for line in lines_by_hop[hop - 1] if line.number in kept_numbers]
            lines = _lines_below(kept_parents, lines)
        kept_numbers.update([line.number for line in _best_lines(lines, most_documents)])
    return [number in kept_numbers for number in range(len(texts))]


def _lines_below(parents: Iterable[_Line], lines: Iterable[_Line]) -> list[_Line]:
    """Return the lines that answer a query about the answer of one of the lines in `parents`."""
    follow_on_queries = {_follow_on_query(parent) for parent in parents}
    return [line for line in lines if line.query in follow_on_queries]


def _follow_on_query(line: _Line) -> str:
    """Return the full id of the query about the answer of a line: the id of its own query and that of the answer."""
    last_part = follow_on_id(line.query, line.value, line.provenance)
    return f"{line.query}_{last_part}"


def _best_lines(lines: Iterable[_Line], most_documents: int) -> list[_Line]:
    """Return at most `most_documents` lines of each node: the most confident line from each document."""
    lines_by_node: dict[tuple[str, str], list[_Line]] = defaultdict(list)
    for line in lines:
        lines_by_node[line.query, line.node].append(line)
    best_lines: list[_Line] = []
    for lines_of_node in lines_by_node.values():
        best_lines += _best_lines_of_node(lines_of_node, most_documents)
    return best_lines


def _best_lines_of_node(lines: Iterable[_Line], most_documents: int) -> list[_Line]:
    """Return the most confident line of a node from each document, the most confident first.

    At most `most_documents` lines are returned. If several lines are equally confident, the first one in the file is
    taken.
    """
    line_by_document: dict[str, _Line] = {}
    for line in sorted(lines, key=lambda line: (-line.confidence, line.number)):
        line_by_document.setdefault(line.document, line)
    return list(line_by_document.values())[:most_documents]
