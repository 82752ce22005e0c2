"""Find the run lines that exceed the limits on justifications, or give a second value to a single-valued slot. A node
groups the lines about one entity, and has a full id such as `CSX_ENG_00fb79cef8:E1`. The parent lines of a line give
the answer that its query is about.

The scorer reports these lines as discarded, but still counts them (rule limits). The validators leave them out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, Literal, NamedTuple, TypeAlias

from cs_score.base.errors import InputError
from cs_score.coldstart.lines import Response, load_order, node_confidence, sort_by_confidence
from cs_score.coldstart.options import JustificationLimits
from cs_score.problems.log import ProblemLog

DISCARD_CODES: Final = frozenset({"DISCARDED_ENTRY", "DISCARDED_DEPENDENT"})
"""The codes of the problems that report discarded lines."""

Limit: TypeAlias = Literal["document", "node", "single-valued", "parent"]
"""The reasons for which a line is discarded.

* `document`: its node has too many lines from one document (more than A of `-justifications A:B`).
* `node`: its node has too many lines in all (more than B).
* `single-valued`: another node fills the slot, which takes one value.
* `parent`: all lines that give the answer its query is about were discarded.
"""


class Discard(NamedTuple):
    """The first reason why a line was discarded: the limit, and the lines that were kept instead of it, if any."""

    limit: Limit
    kept_lines: Sequence[Response] = ()


class _RivalNodes(NamedTuple):
    """The nodes that compete for a slot that takes only one value.

    `parent` is the full id of the node above them, or the id of the query at the first hop. `level` is the hop of the
    slot, from 0. `node_ids` are the full ids of the competing nodes.
    """

    parent: str
    level: int
    node_ids: Sequence[str]


class DiscardRules:
    """Mark the run lines that exceed the limits as discarded (rules limits and single-values).

    `discarded_indexes` are the indexes of the discarded lines, which remain discarded when further files are loaded.
    `discard_by_index` has the reason for each of them. The rules are applied after each file: `loaded_line_counts` has
    the number of lines that had been loaded each time. `has_lines_depending_on_other_queries` becomes True if there are
    lines of a third hop below discarded lines: whether these are discarded depends on other queries.
    """

    def __init__(self, limits: JustificationLimits, problems: ProblemLog) -> None:
        """Take the limits on justifications. Discarded lines are reported to `problems`."""
        self.discarded_indexes: set[int] = set()
        self.discard_by_index: dict[int, Discard] = {}
        self.has_lines_depending_on_other_queries = False
        self.loaded_line_counts: list[int] = []  # after the first file, the second file ...
        self._limits = limits
        self._problems = problems

    def apply(
        self, responses: Sequence[Response], lines_by_node: Mapping[str, Sequence[Response]], is_in_order: bool
    ) -> None:
        """Discard the lines that exceed the limits, among all run lines loaded so far.

        `lines_by_node` has the lines by full node id. `is_in_order` says whether every line of a later hop comes after
        its parent line. Raises InputError if a node is in a slot that takes only one value and its confidence cannot be
        computed.
        """
        self.loaded_line_counts.append(len(responses))
        crowded_nodes = self._find_crowded_nodes(lines_by_node)
        # The parent line of a line may be missing because it was discarded, now or earlier, or has not been loaded yet.
        may_lack_parent_lines = bool(self.discarded_indexes) or not is_in_order
        if crowded_nodes or may_lack_parent_lines:
            self._limit_justifications(responses, crowded_nodes)
        self._keep_single_values(responses, lines_by_node)

    def apply_again(
        self,
        loaded_line_counts: Iterable[int],
        responses: Sequence[Response],
        lines_by_node: Mapping[str, Sequence[Response]],
    ) -> None:
        """Apply the limits to lines that were loaded under other limits.

        The limits are applied once after each file, as they are when files are loaded. Each time, the rules consider
        the lines of all files up to this point. `loaded_line_counts` gives the number of lines that had been loaded
        after each file. `responses` are all run lines, and `lines_by_node` has them by full node id.
        """
        for loaded_count in loaded_line_counts:
            lines_by_node_so_far = _lines_loaded_first(lines_by_node, loaded_count)
            # At this point it is not known whether these lines were in order, so all parent lines are checked.
            self.apply(responses[:loaded_count], lines_by_node_so_far, is_in_order=False)

    def _find_crowded_nodes(self, lines_by_node: Mapping[str, Sequence[Response]]) -> list[Sequence[Response]]:
        """Return the lines of each node that may exceed a limit. `lines_by_node` has the lines by full node id.

        A full id, such as `CSX_ENG_00fb79cef8:E1`, begins with the query. The result may include nodes that turn out
        not to exceed any limit.
        """
        limits = (self._limits.justifications_per_document, self._limits.justifications_per_node)
        set_limits = [limit for limit in limits if limit is not None]
        if not set_limits:
            return []
        # Most nodes have no more lines than the smaller limit allows; comparing the length first saves a call.
        smallest_limit = min(set_limits)
        large_nodes = [lines for lines in lines_by_node.values() if len(lines) > smallest_limit]
        return [lines for lines in large_nodes if self._may_exceed_limits(lines)]

    def _may_exceed_limits(self, lines: Sequence[Response]) -> bool:
        """Return whether a node has more lines than allowed, or may have too many lines from a single document."""
        justifications_per_document = self._limits.justifications_per_document
        justifications_per_node = self._limits.justifications_per_node
        if justifications_per_node is not None and len(lines) > justifications_per_node:
            return True
        if justifications_per_document is None or len(lines) <= justifications_per_document:
            return False
        # If one document has more lines than allowed, this is the largest possible number of documents: that document,
        # and one more for each remaining line. For example, with five lines and a limit of two, a document with three
        # lines leaves two others, so there are at most 5 - 2 = 3 documents.
        most_documents = len(lines) - justifications_per_document
        document_count = len({line.docid for line in lines})
        return document_count <= most_documents

    def _limit_justifications(self, responses: Sequence[Response], crowded_nodes: Iterable[Sequence[Response]]) -> None:
        """Discard the lines of nodes that exceed the limits, and the lines of later hops below them, hop by hop.

        `responses` are all run lines, and `crowded_nodes` has the lines of each node that may have too many.
        """
        # The order of the nodes within a level does not matter, because nodes do not share lines and reports are
        # sorted.
        nodes_by_level: dict[int, list[Sequence[Response]]] = defaultdict(list)
        for lines in crowded_nodes:
            level_of_node = lines[-1].query.level  # all lines of a node have the same level
            nodes_by_level[level_of_node].append(lines)
        queries_by_level = _queries_by_level(responses)
        for level in sorted(queries_by_level):
            for lines in nodes_by_level[level]:
                self._limit_node(lines)
            queries_below = queries_by_level.get(level + 1)
            if queries_below:
                self._discard_orphans(responses, level + 1, queries_below)

    def _discard_orphans(self, responses: Sequence[Response], level: int, queries: set[str]) -> None:
        """Discard the lines of a hop that have lost all of their parent lines, since these are discarded.

        `queries` are the short ids of the queries of this hop.
        """
        queries_with_parent_line = [line.follow_on.id for line in self._lines_left(responses)]
        orphaned_queries = queries.difference(queries_with_parent_line)
        if not orphaned_queries:
            return
        for line in responses:
            if line.query.level == level and line.query.short_id in orphaned_queries:
                self._discard(line, "DISCARDED_DEPENDENT", Discard("parent"))

    def _limit_node(self, lines: Sequence[Response]) -> None:
        """Discard the lines of a node that exceed the limit for a document, then those beyond the node's limit."""
        lines_by_document: dict[str, list[Response]] = defaultdict(list)
        for line in self._lines_left(lines):
            lines_by_document[line.docid].append(line)
        for lines_of_document in lines_by_document.values():
            self._keep_best(lines_of_document, self._limits.justifications_per_document, "document")
        self._keep_best(self._lines_left(lines), self._limits.justifications_per_node, "node")

    def _lines_left(self, lines: Sequence[Response]) -> Sequence[Response]:
        """Return the lines that are not discarded."""
        if not self.discarded_indexes:
            return lines
        return [line for line in lines if line.index not in self.discarded_indexes]

    def _keep_best(self, lines: Sequence[Response], most_lines: int | None, limit: Limit) -> None:
        """Keep the `most_lines` lines with the highest confidences, and discard the others. None keeps all lines.

        `limit` is the reason to discard them: `document` or `node`.
        """
        if most_lines is None or len(lines) <= most_lines:
            return
        ordered = sort_by_confidence(lines)
        kept_lines = ordered[:most_lines]
        reason = Discard(limit=limit, kept_lines=kept_lines)
        for line in ordered[most_lines:]:
            self._discard(line, "DISCARDED_ENTRY", reason)

    def _discard(self, line: Response, code: str, reason: Discard, text_after_line: str = "\n") -> None:
        """Discard a line for a reason, and report it under a problem code.

        If a line is discarded for several reasons, the first one is kept. `text_after_line` ends the message of the
        report, which quotes the line.
        """
        self.discarded_indexes.add(line.index)
        self.discard_by_index.setdefault(line.index, reason)
        self._problems.add(code, f"\n{line.text}{text_after_line}", place=line.place)

    def _keep_single_values(
        self, responses: Sequence[Response], lines_by_node: Mapping[str, Sequence[Response]]
    ) -> None:
        """Keep the best node in each slot that takes only one value, and discard the lines of the other nodes.

        The lines of later hops that depend on discarded lines are discarded as well. `responses` are all run lines, and
        `lines_by_node` has them by full node id, such as `CSX_ENG_00fb79cef8:E1`.
        """
        groups = _find_rivals(lines_by_node)
        has_rivals = any(len(group.node_ids) > 1 for group in groups)
        # If the number of lines per node is not limited, a node whose lines were all discarded is an error.
        # `_node_sort_key` raises it when it compares the nodes of a group, so groups of a single node must be processed
        # as well.
        can_raise_error = self._limits.justifications_per_node is None
        if not has_rivals and not can_raise_error:
            return
        follow_on_queries = _FollowOnQueries(responses, self._lines_left(responses))
        for group in _sorted_by_hop(groups):
            self._keep_best_rival(group, lines_by_node, follow_on_queries)
            # This includes queries about answers of nodes that were discarded for other groups.
            for orphan in follow_on_queries.pop_orphaned_queries(group.level):
                self._discard_answers(orphan, follow_on_queries)

    def _keep_best_rival(
        self, group: _RivalNodes, lines_by_node: Mapping[str, Sequence[Response]], follow_on_queries: _FollowOnQueries
    ) -> None:
        """Keep the best node of a group. Discard the other nodes' lines, and remove them from `follow_on_queries`."""
        # The best node has the smallest sort key.
        winner = min(group.node_ids, key=lambda node: self._node_sort_key(lines_by_node[node], node))
        reason = Discard(limit="single-valued", kept_lines=lines_by_node[winner])
        for node in group.node_ids:
            if node == winner:
                continue
            for line in lines_by_node[node]:
                follow_on_queries.remove(line, self.discarded_indexes)
                # Unlike the other messages about discarded lines, this one does not end with a newline.
                self._discard(line, "DISCARDED_ENTRY", reason, text_after_line="")

    def _discard_answers(self, query_id: str, follow_on_queries: _FollowOnQueries) -> None:
        """Discard the lines that answer a follow-on query whose parent lines were all discarded.

        `query_id` is the short id of the query. Its parent lines give the answer that the query is about.
        """
        for line in self._lines_left(follow_on_queries.lines_answering(query_id)):
            has_lines_below = bool(follow_on_queries.lines_answering(line.follow_on_id))
            # Whether these lines of a third hop are also discarded depends on other queries.
            if has_lines_below:
                self.has_lines_depending_on_other_queries = True
            follow_on_queries.remove(line, self.discarded_indexes)
            self._discard(line, "DISCARDED_DEPENDENT", Discard("parent"))

    def _node_sort_key(self, lines: Sequence[Response], node: str) -> tuple[float, bool, int, int]:
        """Return the sort key of a node among its rivals for a single-valued slot. The node with the smallest key wins.

        Nodes are compared by confidence, then by whether they have lines left, then by their first line. `lines` are
        the lines of the node, and `node` is its full id, such as `CSX_ENG_00fb79cef8:E1`. Raises InputError if no line
        is left and the number of lines per node is not limited, because the confidence cannot be computed in this case.
        """
        lines_left = self._lines_left(lines)
        if not lines_left and self._limits.justifications_per_node is None:
            raise _error_of_node_without_confidence(node, lines[0])
        confidences = [line.confidence for line in lines_left]
        confidence = node_confidence(confidences, self._limits.justifications_per_node)
        has_no_line_left = not lines_left
        first_line = min(lines_left or lines, key=load_order)
        return -confidence, has_no_line_left, first_line.number, first_line.index


class _FollowOnQueries:
    """The follow-on queries of a run, with the lines that answer them and the number of their parent lines.

    The parent lines of a follow-on query give the answer that it is about. Lines are removed one by one, and a
    follow-on query without parent lines is an orphan. All queries are named by their short ids.
    """

    def __init__(self, responses: Iterable[Response], lines_left: Iterable[Response]) -> None:
        """Collect the lines that answer each follow-on query, and count the parent lines of each.

        `responses` are all lines of a run. `lines_left` are the lines that are not discarded: only they are counted.
        """
        self._parent_count_by_query = Counter([line.follow_on.id for line in lines_left])
        self._lines_by_query: dict[str, list[Response]] = defaultdict(list)
        for line in responses:
            if line.query.level > 0:
                self._lines_by_query[line.query.short_id].append(line)
        # The orphans, by the hop of the answers that they are about. The keys of each inner dictionary are an ordered
        # set of query ids.
        self._orphaned_by_level: dict[int, dict[str, None]] = defaultdict(dict)

    def lines_answering(self, query_id: str) -> Sequence[Response]:
        """Return the lines that answer the follow-on query with this short id."""
        return self._lines_by_query.get(query_id, ())

    def remove(self, line: Response, discarded_indexes: AbstractSet[int]) -> None:
        """Remove a line that is about to be discarded. Lines in `discarded_indexes` have already been removed.

        If the line was the last parent line of the query about its answer, that query becomes an orphan.
        """
        if line.index in discarded_indexes:
            return
        query_about_answer = line.follow_on_id
        self._parent_count_by_query[query_about_answer] -= 1
        if self._parent_count_by_query[query_about_answer] == 0:
            orphans_of_level = self._orphaned_by_level[line.query.level]
            orphans_of_level[query_about_answer] = None  # the keys are an ordered set

    def pop_orphaned_queries(self, level: int) -> list[str]:
        """Return the queries that have become orphans since the last call, if they ask about answers of a hop."""
        return list(self._orphaned_by_level.pop(level, ()))


def _error_of_node_without_confidence(node: str, line: Response) -> InputError:
    """Return the error for a node whose lines have all been discarded.

    `node` is the full id of the node, such as `CSX_ENG_00fb79cef8:E1`, and `line` is its first line.
    """
    return line.error(
        f"no confidence for node {node}: all of its lines were discarded",
        "with any number of justifications (-justifications A:M) the confidence of a node in a single-valued "
        "slot needs a line that is left; use a number for M",
    )


def _sorted_by_hop(groups: Iterable[_RivalNodes]) -> list[_RivalNodes]:
    """Return groups of rival nodes in the order in which their best nodes are kept: groups of early hops come first.

    Their parents have short ids. Lines below a discarded node are thus discarded before the group of their own node is
    considered.
    """
    return sorted(groups, key=lambda group: len(group.parent))


def _lines_loaded_first(
    lines_by_node: Mapping[str, Sequence[Response]], loaded_count: int
) -> dict[str, Sequence[Response]]:
    """Return the first `loaded_count` lines of a run, by node. Nodes without any of these lines are left out.

    `lines_by_node` has all run lines by full node id.
    """
    lines_by_node_so_far: dict[str, Sequence[Response]] = {}
    for node, lines in lines_by_node.items():
        lines_so_far = [line for line in lines if line.index < loaded_count]
        if lines_so_far:
            lines_by_node_so_far[node] = lines_so_far
    return lines_by_node_so_far


def _queries_by_level(responses: Iterable[Response]) -> dict[int, set[str]]:
    """Return the short ids of the queries that run lines answer, by the hop of the query: `{0: {"00fb79cef8"}}`."""
    queries_by_level: dict[int, set[str]] = defaultdict(set)
    for query in {response.query for response in responses}:
        queries_by_level[query.level].add(query.short_id)
    return queries_by_level


def _find_rivals(lines_by_node: Mapping[str, Sequence[Response]]) -> list[_RivalNodes]:
    """Return the groups of nodes that compete for a slot that takes only one value.

    `lines_by_node` has the run lines by full node id, such as `CSX_ENG_00fb79cef8:E1`. A group consists of all nodes
    below one parent node. The first line of the node with the shortest id determines whether the slot of the group
    takes only one value.
    """
    groups = []
    for parent, rivals in _nodes_beside_single_values(lines_by_node).items():
        # At least one node of the group is in a slot that takes only one value, but the deciding node may be in another
        # slot.
        deciding_node = min(rivals, key=len)
        query = lines_by_node[deciding_node][0].query
        if query.is_single_valued:
            groups.append(_RivalNodes(parent=parent, level=query.level, node_ids=rivals))
    return groups


def _nodes_beside_single_values(lines_by_node: Mapping[str, Sequence[Response]]) -> dict[str, list[str]]:
    """Return the nodes in slots that take only one value, and the other nodes below the same parents.

    The result has the full ids of the nodes by the full id of their parent: `{"Q:E1": ["Q:E1:C1", "Q:E1:C2"]}` for two
    nodes below `Q:E1`. `lines_by_node` has the run lines by node.
    """
    parents = {parent_node(node) for node, lines in lines_by_node.items() if lines[0].query.is_single_valued}
    if not parents:  # true for most runs, and saves a second pass over all nodes
        return {}
    nodes_by_parent: dict[str, list[str]] = defaultdict(list)
    for node in lines_by_node:
        parent = parent_node(node)
        if parent in parents:
            nodes_by_parent[parent].append(node)
    return nodes_by_parent


def parent_node(node: str) -> str:
    """Return the full id of the node above a node, or the query of a node of the first hop.

    `Q:E1:C1` -> `Q:E1`, `Q:E1` -> `Q`.
    """
    return node.rpartition(":")[0]
