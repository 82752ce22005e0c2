"""The limits on justifications and on slots that take one value: which lines of a run are beyond them.

The scorer reports such lines and counts them all the same (rule limits); the validators write the other lines only.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, Literal, NamedTuple, TypeAlias

from cs_score.coldstart.lines import Response, load_order, node_confidence, sort_by_confidence
from cs_score.coldstart.options import Justifications
from cs_score.problems.log import ProblemLog

DISCARD_CODES: Final = frozenset({"DISCARDED_ENTRY", "DISCARDED_DEPENDENT"})
"""The problems about discarded lines; nothing else in the scorer reports them."""

Limit: TypeAlias = Literal["document", "node", "single-valued", "parent"]
"""What may discard a line. `document`: its node has too many lines from one document (A of `-justifications A:B`).
`node`: its node has too many lines in all (B). `single-valued`: another node fills the slot, which takes one value.
`parent`: all lines with the answer that its query is about were discarded."""


class Discard(NamedTuple):
    """The first reason why a line was discarded: the limit, and the lines that were kept in its place, if any."""

    limit: Limit
    kept_lines: Sequence[Response] = ()


class _RivalNodes(NamedTuple):
    """The nodes that compete for a slot that takes one value.

    `parent` is the FQ id of the node above them, or the query of the first hop. `level` is the hop of the slot, from 0.
    `nodes` are the FQ ids of the rivals.
    """

    parent: str
    level: int
    nodes: Sequence[str]


class DiscardRules:
    """Mark the run lines that are beyond the limits (rules limits and single-values).

    `discarded_indexes` are the indexes of discarded lines, which remain discarded when further files are loaded.
    `discard_by_index` has the reason for each. `loaded_line_counts` has the number of lines that had been loaded, for
    each time that the rules were applied. `has_lines_depending_on_other_queries` becomes True if there are lines of a
    third hop below discarded lines: the fate of these depends on other queries.
    """

    def __init__(self, limits: Justifications, problems: ProblemLog) -> None:
        self.discarded_indexes: set[int] = set()
        self.discard_by_index: dict[int, Discard] = {}
        self.has_lines_depending_on_other_queries = False
        self.loaded_line_counts: list[int] = []
        self._limits = limits
        self._problems = problems

    def apply(self, responses: Sequence[Response], nodes: Mapping[str, Sequence[Response]], is_in_order: bool) -> None:
        """Discard the lines beyond the limits, among all run lines loaded so far.

        `nodes` has the lines by FQ node id. `is_in_order` says that every line of a later hop comes after a line that
        gives the answer it asks about. Raises InputError for a node of a slot that takes one value if the confidence of
        the node cannot be computed.
        """
        self.loaded_line_counts.append(len(responses))
        crowded_nodes = self._find_crowded_nodes(nodes)
        # A line may lack its parent line if that was discarded, now or earlier, or has not been loaded yet.
        may_lack_parent_lines = bool(self.discarded_indexes) or not is_in_order
        if crowded_nodes or may_lack_parent_lines:
            self._limit_justifications(responses, crowded_nodes)
        self._keep_single_values(responses, nodes)

    def apply_again(
        self, loaded_line_counts: Iterable[int], responses: Sequence[Response], nodes: Mapping[str, Sequence[Response]]
    ) -> None:
        """Apply these limits to lines that were loaded under other limits, once for each file, as it was done then.

        `loaded_line_counts` is the attribute of the rules that were applied then: how many lines had been loaded after
        each file. `responses` are all run lines, and `nodes` has them by FQ node id.
        """
        for loaded_count in loaded_line_counts:
            nodes_so_far = {}
            for name, lines in nodes.items():
                lines_so_far = [line for line in lines if line.index < loaded_count]
                if lines_so_far:
                    nodes_so_far[name] = lines_so_far
            # Whether the lines were in order then is not known any more.
            self.apply(responses[:loaded_count], nodes_so_far, is_in_order=False)

    def _find_crowded_nodes(self, nodes: Mapping[str, Sequence[Response]]) -> list[Sequence[Response]]:
        """Return the lines of each node with more lines than a limit allows; `nodes` has the lines by FQ node id.

        There may also be nodes whose documents turn out to have no more lines than allowed.
        """
        limits = [
            limit
            for limit in (self._limits.justifications_per_document, self._limits.justifications_per_node)
            if limit is not None
        ]
        if not limits:
            return []
        smallest_limit = min(limits)
        crowded_nodes = []
        for lines in nodes.values():
            # Most nodes have no more lines than the smaller limit allows; comparing the length first saves a call.
            if len(lines) > smallest_limit and self._may_exceed_limits(lines):
                crowded_nodes.append(lines)
        return crowded_nodes

    def _may_exceed_limits(self, lines: Sequence[Response]) -> bool:
        """Return whether a node has more lines than allowed, or may have too many of one document."""
        justifications_per_document = self._limits.justifications_per_document
        justifications_per_node = self._limits.justifications_per_node
        if justifications_per_node is not None and len(lines) > justifications_per_node:
            return True
        if justifications_per_document is None or len(lines) <= justifications_per_document:
            return False
        # A document with more than `justifications_per_document` lines leaves at most this number of documents: one for
        # itself, and one for each line of another document.
        most_documents = len(lines) - justifications_per_document
        document_count = len({line.docid for line in lines})
        return document_count <= most_documents

    def _limit_justifications(self, responses: Sequence[Response], crowded_nodes: Iterable[Sequence[Response]]) -> None:
        """Discard the lines of nodes beyond the limits, hop by hop, and the lines below discarded ones.

        `responses` are all run lines, `crowded_nodes` the lines of each node that may have too many.
        """
        # The order of the nodes within a level does not matter: they share no line, and reports are sorted.
        nodes_by_level: dict[int, list[Sequence[Response]]] = defaultdict(list)
        for lines in crowded_nodes:
            nodes_by_level[lines[-1].query.level].append(lines)
        queries = {response.query for response in responses}
        for level in sorted({query.level for query in queries}):
            for lines in nodes_by_level[level]:
                self._limit_node(lines)
            next_level = level + 1
            queries_below = {query.short_id for query in queries if query.level == next_level}
            if queries_below:
                self._discard_orphans(responses, next_level, queries_below)

    def _discard_orphans(self, responses: Sequence[Response], level: int, queries: set[str]) -> None:
        """Discard the lines of a hop if no line that is left gives the answer that their query is about.

        `queries` are the short ids of the queries of this hop.
        """
        answers_left = [line.follow_on.id for line in self._lines_left(responses)]
        orphaned_queries = queries.difference(answers_left)
        if not orphaned_queries:
            return
        for line in responses:
            if line.query.level == level and line.query.short_id in orphaned_queries:
                self._discard(line, "DISCARDED_DEPENDENT", Discard("parent"))

    def _limit_node(self, lines: Sequence[Response]) -> None:
        """Discard the lines of a node beyond the limit for each document, then those beyond the limit for the node."""
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

    def _keep_best(self, lines: Sequence[Response], most: int | None, limit: Limit) -> None:
        """Discard all lines but the `most` lines with the highest confidences; None discards nothing.

        `limit` is the limit that discards the others.
        """
        if most is None or len(lines) <= most:
            return
        ordered = sort_by_confidence(lines)
        kept_lines = ordered[:most]
        reason = Discard(limit, kept_lines)
        for line in ordered[most:]:
            self._discard(line, "DISCARDED_ENTRY", reason)

    def _discard(self, line: Response, code: str, reason: Discard, end: str = "\n") -> None:
        """Discard a line and report it under a problem code; of several reasons for a line the first one is kept.

        `end` is the text after the line in the report.
        """
        self.discarded_indexes.add(line.index)
        self.discard_by_index.setdefault(line.index, reason)
        self._problems.add(code, f"\n{line.text}{end}", place=line.place)

    def _keep_single_values(self, responses: Sequence[Response], nodes: Mapping[str, Sequence[Response]]) -> None:
        """Discard the lines of all nodes but the best of each slot that takes one value, and the lines below them.

        `responses` are all run lines, and `nodes` has them by FQ node id.
        """
        groups = _find_rivals(nodes)
        has_rivals = any(len(group.nodes) > 1 for group in groups)
        # Without a limit for nodes, a node without rivals is ranked, too: that fails if it has no line left.
        if not has_rivals and self._limits.justifications_per_node is not None:
            return
        follow_on_queries = _FollowOnQueries(responses, self._lines_left(responses))
        # The groups near the query come first, so that lines below a discarded node are gone before their own group.
        for group in sorted(groups, key=lambda group: len(group.parent)):
            self._keep_best_rival(group, nodes, follow_on_queries)
            # All orphans of the level are taken, even those below nodes that other groups have discarded.
            for orphan in follow_on_queries.pop_orphaned_queries(group.level):
                self._discard_answers(orphan, follow_on_queries)

    def _keep_best_rival(
        self, group: _RivalNodes, nodes: Mapping[str, Sequence[Response]], follow_on_queries: _FollowOnQueries
    ) -> None:
        """Discard the lines of all nodes of a group but the best, and remove them from the follow-on queries."""
        winner = min(group.nodes, key=lambda node: self._node_sort_key(nodes[node], node))
        reason = Discard("single-valued", nodes[winner])
        for node in group.nodes:
            if node == winner:
                continue
            for line in nodes[node]:
                follow_on_queries.remove(line, self.discarded_indexes)
                self._discard(line, "DISCARDED_ENTRY", reason, end="")

    def _discard_answers(self, query_id: str, follow_on_queries: _FollowOnQueries) -> None:
        """Discard the lines that answer a follow-on query, since all lines with the answer that it is about are gone.

        `query_id` is the short id of the query.
        """
        for line in self._lines_left(follow_on_queries.lines_answering(query_id)):
            has_lines_below = bool(follow_on_queries.lines_answering(line.target))
            if has_lines_below:
                self.has_lines_depending_on_other_queries = True
            follow_on_queries.remove(line, self.discarded_indexes)
            self._discard(line, "DISCARDED_DEPENDENT", Discard("parent"))

    def _node_sort_key(self, lines: Sequence[Response], node: str) -> tuple[float, bool, int, int]:
        """Return the sort key of a node among its rivals for a slot that takes one value; the smallest key wins.

        Nodes are compared by confidence, then by whether they have lines left, then by their first line. `lines` are
        the lines of the node, `node` is its FQ id. Raises InputError if the confidence cannot be computed.
        """
        lines_left = self._lines_left(lines)
        if not lines_left and self._limits.justifications_per_node is None:
            raise lines[0].error(
                f"no confidence for node {node}: all of its lines were discarded",
                "with any number of justifications (-justifications A:M) the confidence of a node in a single-valued "
                "slot needs a line that is left; use a number for M",
            )
        confidences = [line.confidence for line in lines_left]
        confidence = node_confidence(confidences, self._limits.justifications_per_node)
        has_no_line_left = not lines_left
        first_line = min(lines_left or lines, key=load_order)
        return -confidence, has_no_line_left, first_line.number, first_line.index


class _FollowOnQueries:
    """The follow-on queries of a run: how many lines give the answer that each is about, and which lines answer it.

    Lines are removed one by one. A follow-on query is an orphan as soon as the last line with the answer that it is
    about has been removed. All queries are named by their short ids.
    """

    def __init__(self, responses: Iterable[Response], lines_left: Iterable[Response]) -> None:
        """Prepare from all lines of a run, and from the lines that are not discarded."""
        self._answer_counts = Counter([line.follow_on.id for line in lines_left])
        self._lines_by_query: dict[str, list[Response]] = defaultdict(list)
        for line in responses:
            if line.query.level > 0:
                self._lines_by_query[line.query.short_id].append(line)
        # The orphans by the level of the answers that they are about; the keys of each dictionary are an ordered set.
        self._orphaned_by_level: dict[int, dict[str, None]] = defaultdict(dict)

    def lines_answering(self, query_id: str) -> Sequence[Response]:
        """Return the lines that answer the follow-on query with this short id."""
        return self._lines_by_query.get(query_id, ())

    def remove(self, line: Response, discarded_indexes: AbstractSet[int]) -> None:
        """Remove a line that is about to be discarded; nothing happens if it is among `discarded_indexes` already."""
        if line.index in discarded_indexes:
            return
        query_about_answer = line.target
        self._answer_counts[query_about_answer] -= 1
        if self._answer_counts[query_about_answer] == 0:
            self._orphaned_by_level[line.query.level][query_about_answer] = None

    def pop_orphaned_queries(self, level: int) -> list[str]:
        """Return the queries about answers of this level that have become orphans since the last call."""
        return list(self._orphaned_by_level.pop(level, ()))


def _find_rivals(nodes: Mapping[str, Sequence[Response]]) -> list[_RivalNodes]:
    """Return the groups of nodes that compete for a slot that takes one value; `nodes` has the lines by FQ node id.

    A group has all nodes below one node. The first line of the node with the shortest id decides whether the slot of
    the group takes one value.
    """
    parents = set()
    for node, lines in nodes.items():
        if lines[0].query.is_single_valued:
            parents.add(parent_node(node))
    if not parents:  # as in most runs: this saves a second pass over all nodes
        return []
    nodes_by_parent: dict[str, list[str]] = defaultdict(list)
    for node in nodes:
        parent = parent_node(node)
        if parent in parents:
            nodes_by_parent[parent].append(node)
    groups = []
    for parent, rivals in nodes_by_parent.items():
        deciding_node = min(rivals, key=len)
        query = nodes[deciding_node][0].query
        if query.is_single_valued:
            groups.append(_RivalNodes(parent=parent, level=query.level, nodes=rivals))
    return groups


def parent_node(node: str) -> str:
    """Return the FQ id of the node above a node, at the first hop the query: `Q:E1:C1` -> `Q:E1`, `Q:E1` -> `Q`."""
    return node.rpartition(":")[0]
