"""The limits on justifications and on slots that take one value: which lines of a run are beyond them.

The scorer reports such lines and counts them all the same (rule limits); the validators write the other lines only.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, Literal, NamedTuple, TypeAlias

from cs_score.coldstart.lines import Response, best_first, load_order, node_confidence
from cs_score.coldstart.options import Justifications
from cs_score.problems.log import ProblemLog

DISCARD_CODES: Final = frozenset({"DISCARDED_ENTRY", "DISCARDED_DEPENDENT"})
"""The problems about discarded lines; nothing else in the scorer reports them."""

Limit: TypeAlias = Literal["document", "node", "single-valued", "parent"]
"""What may discard a line: too many lines of its node from one document (A), or in all (B); another node fills a slot
that takes one value; all lines that give the answer its query asks about were discarded."""


class Discard(NamedTuple):
    """Why a line was discarded first: by which limit, and in favour of which lines (no line for `parent`)."""

    limit: Limit
    kept: Sequence[Response] = ()


class _Rivals(NamedTuple):
    """The nodes that compete for a slot with one value: the node above them, their level, and their names."""

    parent: str
    level: int
    nodes: Sequence[str]


class DiscardRules:
    """Mark the run lines that are beyond the limits (rules limits and single-values).

    `marked` are the indexes of discarded lines; they stay marked from one file to the next. `why` has the reason of
    each. `applied` has how many lines had been loaded each time that the rules were applied. `needs_all_queries` is set
    where lines of a third hop hang below discarded ones, so that other queries decide on them.
    """

    def __init__(self, limits: Justifications, problems: ProblemLog) -> None:
        self.marked: set[int] = set()
        self.why: dict[int, Discard] = {}
        self.needs_all_queries = False
        self.applied: list[int] = []
        self._limits = limits
        self._problems = problems

    def apply(self, responses: Sequence[Response], nodes: Mapping[str, Sequence[Response]], is_in_order: bool) -> None:
        """Apply both rules to all run lines loaded so far.

        `nodes` has the lines by FQ node id. `is_in_order` says that every line of a later hop comes after a line that
        gives the answer it asks about. Raises InputError where a node has no confidence to be compared by.
        """
        self.applied.append(len(responses))
        # Most nodes have fewer lines than any limit, which spares the call.
        fewest = min(
            limit for limit in (self._limits.per_document, self._limits.most, sys.maxsize) if limit is not None
        )
        crowded_nodes = [lines for lines in nodes.values() if len(lines) > fewest and self._may_exceed_limits(lines)]
        if crowded_nodes or self.marked or not is_in_order:  # otherwise every parent line is there
            self._limit_justifications(responses, crowded_nodes)
        self._keep_single_values(responses, nodes)

    def apply_again(
        self, applied: Iterable[int], responses: Sequence[Response], nodes: Mapping[str, Sequence[Response]]
    ) -> None:
        """Apply both rules to lines as often as rules with other limits were applied while they were loaded.

        `applied` is the attribute of those rules: how many lines had been loaded each time.
        """
        for loaded_count in applied:
            nodes_so_far = {}
            for name, lines in nodes.items():
                lines_so_far = [line for line in lines if line.index < loaded_count]
                if lines_so_far:
                    nodes_so_far[name] = lines_so_far
            self.apply(responses[:loaded_count], nodes_so_far, is_in_order=False)

    def _may_exceed_limits(self, lines: Sequence[Response]) -> bool:
        """Return whether a node has more lines than allowed, or may have too many of one document."""
        per_document = self._limits.per_document
        most = self._limits.most
        if most is not None and len(lines) > most:
            return True
        if per_document is None or len(lines) <= per_document:
            return False
        # A document with more lines than allowed leaves fewer lines for other documents.
        return len({line.docid for line in lines}) <= len(lines) - per_document

    def _limit_justifications(self, responses: Sequence[Response], crowded_nodes: Iterable[Sequence[Response]]) -> None:
        """Discard the lines of nodes beyond the limits, level by level, and the lines below discarded ones."""
        # The order of nodes within a level shows nowhere: they share no line, and reports are sorted.
        nodes_by_level: dict[int, list[Sequence[Response]]] = defaultdict(list)
        for lines in crowded_nodes:
            nodes_by_level[lines[-1].query.level].append(lines)
        queries = {response.query for response in responses}
        for level in sorted({query.level for query in queries}):
            for lines in nodes_by_level[level]:
                self._limit_node(lines)
            orphaned_queries = {query.short_id for query in queries if query.level == level + 1}
            if not orphaned_queries:
                continue
            # Only lines of this level lead to queries of the next.
            orphaned_queries.difference_update([line.follow_on.id for line in self._unmarked(responses)])
            if not orphaned_queries:
                continue
            for line in responses:
                if line.query.level == level + 1 and line.query.short_id in orphaned_queries:
                    self._discard(line, "DISCARDED_DEPENDENT", Discard("parent"))

    def _limit_node(self, lines: Sequence[Response]) -> None:
        """Discard the lines of a node beyond the limit for each document, then those beyond its own limit."""
        lines_by_document: dict[str, list[Response]] = defaultdict(list)
        for line in self._unmarked(lines):
            lines_by_document[line.docid].append(line)
        for document_lines in lines_by_document.values():
            self._keep_best(document_lines, self._limits.per_document, "document")
        self._keep_best(self._unmarked(lines), self._limits.most, "node")

    def _unmarked(self, lines: Sequence[Response]) -> Sequence[Response]:
        """Return the lines that are not discarded."""
        if not self.marked:
            return lines
        return [line for line in lines if line.index not in self.marked]

    def _keep_best(self, lines: Sequence[Response], most: int | None, limit: Limit) -> None:
        """Discard all but the `most` best lines; None discards nothing."""
        if most is None or len(lines) <= most:
            return
        ordered = best_first(lines)
        reason = Discard(limit, ordered[:most])
        for line in ordered[most:]:
            self._discard(line, "DISCARDED_ENTRY", reason)

    def _discard(self, line: Response, code: str, reason: Discard, end: str = "\n") -> None:
        """Mark a line and report it with its text and `end`; the first reason is kept."""
        self.marked.add(line.index)
        self.why.setdefault(line.index, reason)
        self._problems.add(code, f"\n{line.text}{end}", place=line.place)

    def _keep_single_values(self, responses: Sequence[Response], nodes: Mapping[str, Sequence[Response]]) -> None:
        """Discard the lines of all nodes but the best where a slot takes one value, and the lines below them."""
        groups = _single_valued_groups(nodes)
        if self._limits.most is not None and all(len(group.nodes) == 1 for group in groups):
            return  # no node is discarded, and below those that were before nothing is left
        descent = _Descent(responses, self._unmarked(responses))
        # Nodes near the query first: what hangs below a discarded node is gone when its own group is looked at.
        for group in sorted(groups, key=lambda group: len(group.parent)):
            winner = min(group.nodes, key=lambda node: self._rank(nodes[node], node))
            reason = Discard("single-valued", nodes[winner])
            for node in group.nodes:
                if node == winner:
                    continue
                for line in nodes[node]:
                    descent.remove(line, self.marked)
                    self._discard(line, "DISCARDED_ENTRY", reason, end="")
            # All of the level is looked at, also below nodes that other groups have discarded.
            for target in descent.take_orphaned(group.level):
                self._discard_below(target, descent)

    def _discard_below(self, target: str, descent: _Descent) -> None:
        """Discard the lines that answer a follow-on query, since all lines with the answer it asks about are gone."""
        for line in self._unmarked(descent.lines_answering(target)):
            if descent.lines_answering(line.target):
                self.needs_all_queries = True
            descent.remove(line, self.marked)
            self._discard(line, "DISCARDED_DEPENDENT", Discard("parent"))

    def _rank(self, lines: Sequence[Response], node: str) -> tuple[float, bool, int, int]:
        """Return the sort key of a node among its rivals for one value; the smallest wins.

        The most confident node comes first, then those with lines left, then by first line. Raises InputError where
        the confidence cannot be computed.
        """
        lines_left = self._unmarked(lines)
        if not lines_left and self._limits.most is None:
            raise lines[0].error(
                f"no confidence for node {node}: all of its lines were discarded",
                "with any number of justifications (-justifications A:M) the confidence of a node in a single-valued "
                "slot needs a line that is left; use a number for M",
            )
        first = min(lines_left or lines, key=load_order)
        confidence = node_confidence([line.confidence for line in lines_left], self._limits.most)
        return -confidence, not lines_left, first.number, first.index


class _Descent:
    """The lines below each other: which lines give the answer that a follow-on query asks about, and which answer it.

    Lines are removed one by one; a follow-on query is orphaned when the last line with its answer is removed.
    """

    def __init__(self, responses: Iterable[Response], unmarked: Iterable[Response]) -> None:
        self._answer_counts = Counter([line.follow_on.id for line in unmarked])
        self._lines_by_query: dict[str, list[Response]] = defaultdict(list)
        for line in responses:
            if line.query.level > 0:
                self._lines_by_query[line.query.short_id].append(line)
        self._orphaned_by_level: dict[int, dict[str, None]] = defaultdict(dict)

    def lines_answering(self, target: str) -> Sequence[Response]:
        """Return the lines that answer the follow-on query of this short id."""
        return self._lines_by_query.get(target, ())

    def remove(self, line: Response, marked: AbstractSet[int]) -> None:
        """Remove a line that is about to be discarded; `marked` are the indexes of lines discarded before."""
        if line.index in marked:
            return
        self._answer_counts[line.target] -= 1
        if self._answer_counts[line.target] == 0:
            self._orphaned_by_level[line.query.level][line.target] = None

    def take_orphaned(self, level: int) -> list[str]:
        """Return the follow-on queries that lines of a level led to and none does any more; each is returned once."""
        return list(self._orphaned_by_level.pop(level, ()))


def _single_valued_groups(nodes: Mapping[str, Sequence[Response]]) -> list[_Rivals]:
    """Return the nodes that compete for one value, by the node above them; `nodes` has the lines by FQ node id.

    The first line of the node with the shortest name decides whether a group has a slot with one value.
    """
    single_parents = {_parent_node(node) for node, lines in nodes.items() if lines[0].query.single}
    if not single_parents:
        return []
    nodes_by_parent: dict[str, list[str]] = defaultdict(list)
    for node in nodes:
        parent = _parent_node(node)
        if parent in single_parents:
            nodes_by_parent[parent].append(node)
    groups = []
    for parent, children in nodes_by_parent.items():
        query = nodes[min(children, key=len)][0].query
        if query.single:
            groups.append(_Rivals(parent, query.level, children))
    return groups


def _parent_node(node: str) -> str:
    """Return the FQ id of the node above a node, at the first hop the query: `Q:E1:C1` -> `Q:E1`, `Q:E1` -> `Q`."""
    return node.rpartition(":")[0]
