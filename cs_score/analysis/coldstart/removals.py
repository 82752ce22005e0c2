"""Take lines away from a scored query without scoring it again, if all other lines count as before.

Most wrong lines do not influence other lines: they give no right answer, share their node with no right line, and no
remaining line asks about their answer. Then the counts of a removed line are subtracted from its row, and its node is
moved in the rankings or removed from them. That needs one pass over the ranked values of the query, whereas scoring the
query again labels and ranks all of its lines. In all other cases the functions return None, and the query is scored
again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from cs_score.analysis.coldstart.changes import Change, Editor
from cs_score.analysis.coldstart.run_files import LinkedLine
from cs_score.analysis.coldstart.scored import AnalysedRun
from cs_score.base.records import astuple, replace
from cs_score.coldstart.judging import Counts, Tally, category_in, counts_of
from cs_score.coldstart.limits import parent_node
from cs_score.coldstart.lines import Response, load_order, node_confidence
from cs_score.coldstart.ranking import RankedNode, Ranking
from cs_score.coldstart.result import QueryResult, UnitResult
from cs_score.measures.registry import RANKING_FORMULAS

_DEEPEST_HOP: Final = 1
"""The last hop whose lines can be taken away. A line of a later hop may be the only reason for a row of its parent."""

RankKey: TypeAlias = tuple[float, int, int]
"""The sort key of nodes in a ranking: minus the confidence, then number and index of the first line."""


class Removals:
    """Takes lines of one run away from the results of its units if that is possible without scoring them again."""

    def __init__(self, scored: AnalysedRun, editor: Editor) -> None:
        """Index the results of a run by query; `editor` knows which lines depend on others."""
        self._scored = scored
        self._editor = editor
        self._query_lines_by_id: dict[str, QueryLines | None] = {}
        self._results_by_query: dict[str, list[tuple[UnitResult, QueryResult]]] = defaultdict(list)
        for unit in scored.result.units:
            for result in unit.queries:
                self._results_by_query[result.query.base_id].append((unit, result))

    def units_without(self, change: Change, *, is_ranked: bool) -> list[UnitResult] | None:
        """Return the changed units after a change; None if some of their queries have to be scored again.

        Unless `is_ranked`, the rankings stay as they were before the change.
        """
        if change.added or change.policy is not None or len(change.places) != len(change.responses):
            return None
        lines_by_query: dict[str, list[Response]] = defaultdict(list)
        for index in sorted(change.responses):
            line = self._scored.run.links.responses[index]
            lines_by_query[line.query.base_id].append(line)
        unit_by_id: dict[str, UnitResult] = {}
        for base_id, lines in lines_by_query.items():
            query_lines = self._query_lines(base_id)
            if query_lines is None:
                return None
            result = query_lines.result_without(lines, change.responses, is_ranked=is_ranked)
            if result is None:
                return None
            unit = unit_by_id.get(query_lines.unit.id, query_lines.unit)
            unit_by_id[unit.id] = _with_result(unit, result)
        return list(unit_by_id.values())

    def _query_lines(self, base_id: str) -> QueryLines | None:
        """Return the lines of a query; None if several queries share its id, or it could not be scored."""
        if base_id not in self._query_lines_by_id:
            self._query_lines_by_id[base_id] = self._index_query(base_id)
        return self._query_lines_by_id[base_id]

    def _index_query(self, base_id: str) -> QueryLines | None:
        """Return the lines of a query, indexed anew.

        None if several queries share its id, or it could not be scored.
        """
        results = self._results_by_query.get(base_id, [])
        if len(results) != 1:
            return None
        unit, result = results[0]
        if result.counting_error is not None or result.ranking_error is not None:
            return None
        return QueryLines(self._scored, self._editor, unit, result)


def _with_result(unit: UnitResult, result: QueryResult) -> UnitResult:
    """Return a unit with another result of one of its queries."""
    results = []
    for old_result in unit.queries:
        is_same_query = old_result.query.short_id == result.query.short_id
        results.append(result if is_same_query else old_result)
    return replace(unit, queries=tuple(results))


class QueryLines:
    """The scored lines of a query, indexed by row of the tables and by node; `unit` is the unit of the query."""

    def __init__(self, scored: AnalysedRun, editor: Editor, unit: UnitResult, result: QueryResult) -> None:
        """Index the lines of the query that has this result."""
        self.unit = unit
        self._result = result
        self._links = scored.run.links
        self._policy = scored.policy
        self._most_justifications = scored.run.limits.justifications_per_node
        self._ranks_all_levels = scored.run.gold.query_set.edition.ranks_all_levels
        self._answering = editor.follow_on_lines.answering
        self._creating = editor.follow_on_lines.creating
        self._row_position_by_index: dict[int, int] = {}
        for position, tally in enumerate(result.tallies):
            for line in tally.responses:
                self._row_position_by_index[line.index] = position
        tree = scored.run.gold.gold_of_query(result.query, scored.run.links).tree
        self._rows_of_gold: Collection[str] = () if tree is None else tree.ground_truth
        self._levels = [LevelRanking(ranking) for ranking in result.rankings]
        self._node_by_name: dict[str, RankedNode] = {}
        self._children_by_parent: dict[str, list[str]] = defaultdict(list)
        for ranking in result.rankings:
            for node in ranking.nodes:
                if node.name not in self._node_by_name:
                    self._node_by_name[node.name] = node
                    if node.level:
                        self._children_by_parent[parent_node(node.name)].append(node.name)

    @cached_property
    def _has_plain_nodes(self) -> bool:
        """Whether all nodes have one or two components, and are ranked under the names that their lines have."""
        if any(node.level > _DEEPEST_HOP for node in self._node_by_name.values()):
            return False
        prefix = f"{self._result.query.full_id}:"
        for tally in self._result.tallies:
            for line in tally.responses:
                if line.node is not None and line.node.startswith(prefix) and line.node not in self._node_by_name:
                    return False
        return True

    def result_without(
        self, lines: Sequence[Response], indexes: Collection[int], *, is_ranked: bool
    ) -> QueryResult | None:
        """Return the result of the query without some of its lines; None if the query has to be scored again.

        `indexes` are the indexes of all lines that the change removes, in other queries as well. Unless `is_ranked`,
        the rankings stay as they were.
        """
        orphans = self._orphans(lines, indexes)
        if orphans is None:
            return None
        lines_to_unrank = [*lines, *orphans]
        if any(self._may_influence_others(line) for line in lines_to_unrank):
            return None
        tallies = self._tallies_without(lines)
        if tallies is None:
            return None
        if not is_ranked:
            return replace(self._result, tallies=tallies)
        rankings = self._rankings_without(lines_to_unrank)
        if rankings is None:
            return None
        return replace(self._result, tallies=tallies, rankings=tuple(rankings))

    def _orphans(self, lines: Iterable[Response], indexes: Collection[int]) -> list[Response] | None:
        """Return the remaining lines whose query asks about an answer that no line of the run gives any more.

        Their counts stay the same, since they have no right parent before or after the change. But their nodes are no
        longer ranked, since they have no parent node. Returns None if another line still gives the answer, or in other
        cases in which remaining lines may count differently.
        """
        orphans: list[Response] = []
        for line in lines:
            dependents = []
            for dependent in self._answering.get(line.target, ()):
                if _index_of(dependent) not in indexes:
                    dependents.append(dependent)
            if not dependents:
                continue
            if self._links.lines_without_parent or self._links.was_skipped(line.target):
                return None
            if any(_index_of(parent) not in indexes for parent in self._creating[line.target]):
                return None
            for dependent in dependents:
                if not isinstance(dependent, Response) or self._answering.get(dependent.target):
                    return None
                orphans.append(dependent)
        return orphans

    def _may_influence_others(self, line: Response) -> bool:
        """Return whether other lines may count differently if a line is taken away."""
        if line.query.level > _DEEPEST_HOP or line.index not in self._row_position_by_index:
            return True
        if self._links.was_skipped(line.target):
            return True
        if line.node is None:
            return not self._is_without_credit(line)
        # All lines of a node decide together whether it is named, and only right lines depend on that.
        return not all(self._is_without_credit(node_line) for node_line in self._links.lines_by_node[line.node])

    def _is_without_credit(self, line: Response) -> bool:
        """Return whether a line is known to be neither right nor the duplicate of a right line."""
        labels = self.unit.labels_by_index.get(line.index)
        return labels is not None and category_in(labels) not in self._policy.right

    def _tallies_without(self, lines: Iterable[Response]) -> tuple[Tally, ...] | None:
        """Return the rows of the query without the counts of some lines; None if a row would vanish without them."""
        lines_by_position: dict[int, list[Response]] = defaultdict(list)
        for line in lines:
            lines_by_position[self._row_position_by_index[line.index]].append(line)
        tallies = list(self._result.tallies)
        for position, lines_of_row in lines_by_position.items():
            tally = tallies[position]
            if len(lines_of_row) == len(tally.responses) and tally.name not in self._rows_of_gold:
                return None
            numbers = astuple(tally.counts)
            for line in lines_of_row:
                line_numbers = astuple(counts_of(self.unit.labels_by_index[line.index]))
                numbers = tuple([number - line_number for number, line_number in zip(numbers, line_numbers)])
            tallies[position] = Tally(tally.name, Counts(*numbers), tally.responses)
        return tuple(tallies)

    # -- Rankings

    def _rankings_without(self, lines: Sequence[Response]) -> list[Ranking] | None:
        """Return the rankings without some lines; None if the query has to be ranked again.

        That is necessary unless all nodes of these lines are mapped to no class, so that no class becomes free.
        """
        if self._ranks_all_levels or not self._has_plain_nodes:
            return None
        losses = self._losses_of_nodes(lines)
        moves: list[Move] = []
        for name in losses.changed_nodes:
            if name.partition(":")[0] != self._result.query.full_id:
                continue  # nodes of lines without parent are not ranked
            node = self._node_by_name.get(name)
            if node is None or node.mapped_class is not None:
                return None
            move = self._move_of(node, losses)
            if move is None:
                return None
            moves.append(move)
        rankings = []
        for level in self._levels:
            ranking = level.ranking_after(moves)
            if ranking is None:
                return None
            rankings.append(ranking)
        return rankings

    def _losses_of_nodes(self, lines: Iterable[Response]) -> _Losses:
        """Return which nodes lose some of the given lines, and which of them lose all of their lines."""
        indexes = {line.index for line in lines}
        changed_nodes = dict.fromkeys([line.node for line in lines if line.node is not None])
        vanishing_nodes: set[str] = set()
        for name in changed_nodes:
            if all(line.index in indexes for line in self._links.lines_by_node[name]):
                vanishing_nodes.add(name)
        return _Losses(indexes, changed_nodes, vanishing_nodes)

    def _move_of(self, node: RankedNode, losses: _Losses) -> Move | None:
        """Return the new rank of a node that loses lines, or its end; None if other nodes change with it.

        A node of the second hop is ranked by its own confidence multiplied by that of its parent. A parent without
        lines of its own has the lines of its children, so that its confidence changes with them.
        """
        children = self._children_by_parent.get(node.name, ())
        if any(child not in losses.vanishing_nodes for child in children):
            return None
        parent = parent_node(node.name)
        if node.level and parent not in self._links.lines_by_node:
            return None
        if node.name in losses.vanishing_nodes:
            return Move(node, None, None)
        if node.level and parent in losses.changed_nodes:
            return None
        remaining_lines = [line for line in self._links.lines_by_node[node.name] if line.index not in losses.indexes]
        confidence = self._confidence_of(remaining_lines)
        if node.level:
            confidence *= self._confidence_of(self._links.lines_by_node[parent])
        first_line = min(remaining_lines, key=lambda line: line.number)
        moved_node = replace(node, confidence=confidence, first_line=first_line)
        return Move(node, moved_node, _rank_key(moved_node))

    def _confidence_of(self, lines: Iterable[Response]) -> float:
        """Return the confidence that a node has with these lines."""
        return node_confidence([line.confidence for line in lines], self._most_justifications)


def _index_of(line: LinkedLine) -> int | None:
    """Return the index of a response; None for a skipped line, which has no index."""
    return line.index if isinstance(line, Response) else None


class _Losses(NamedTuple):
    """The indexes of lines that are removed, the nodes that lose lines, and the nodes that lose all of theirs."""

    indexes: Collection[int]
    changed_nodes: Collection[str]
    vanishing_nodes: Collection[str]


class Move(NamedTuple):
    """A node that loses lines, the node that it becomes, and the key of its new rank; both are None if it vanishes."""

    node: RankedNode
    moved_node: RankedNode | None
    key: RankKey | None


def _rank_key(node: RankedNode) -> RankKey:
    """Return the key by which a node is ranked: the smaller, the better."""
    return -node.confidence, *load_order(node.first_line)


class LevelRanking:
    """The ranking of the nodes of one level, with their sort keys and values in lists, from which others are made."""

    def __init__(self, ranking: Ranking) -> None:
        """List the sort keys and values of the nodes of a ranking."""
        self._ranking = ranking
        self._keys = [_rank_key(node) for node in ranking.nodes]
        self._values = [node.value for node in ranking.nodes]
        self._position_by_name = {node.name: position for position, node in enumerate(ranking.nodes)}

    def ranking_after(self, moves: Iterable[Move]) -> Ranking | None:
        """Return the ranking after nodes without a class have vanished or moved; None if scoring must decide.

        Scoring decides if no node is left, since the level may then have no row, and if average precision would exceed
        the ground truth, which scoring refuses with a message.
        """
        moves_here = [move for move in moves if move.node.name in self._position_by_name]
        if not moves_here:
            return self._ranking
        keys = self._keys.copy()
        values = self._values.copy()
        nodes = list(self._ranking.nodes)
        positions = [self._position_by_name[move.node.name] for move in moves_here]
        for position in sorted(positions, reverse=True):
            del keys[position]
            del values[position]
            del nodes[position]
        for move in moves_here:
            if move.moved_node is not None and move.key is not None:
                position = bisect_left(keys, move.key)
                keys.insert(position, move.key)
                values.insert(position, move.moved_node.value)
                nodes.insert(position, move.moved_node)
        if not nodes:
            return None
        scores = tuple(
            [score_ranking(values, self._ranking.ground_truth) for score_ranking in RANKING_FORMULAS.values()]
        )
        ranking = replace(self._ranking, scores=scores, nodes=tuple(nodes))
        return None if ranking.exceeds_ground_truth else ranking
