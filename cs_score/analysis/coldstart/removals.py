"""Remove lines from a scored query without scoring it again, if all other lines count as before. A tally is a row of
the tables with its lines and counts. A ranking has the nodes of a query (lines about the same entity) sorted by
confidence.

Most wrong lines do not influence other lines: they do not give a right answer, their node has no right line, and no
remaining line asks about their answer. In this case, the counts of a removed line are subtracted from its row, and its
node is moved in the rankings or removed from them. This takes one pass over the ranked values of the query, whereas
scoring the query again labels and ranks all of its lines. In all other cases the functions raise `SubtractionError`,
and the query is scored again. A line has credit if it is right or the duplicate of a right line.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias, TypeVar

from cs_score.analysis.coldstart.changes import Change, Editor
from cs_score.analysis.coldstart.run_files import LinkedLine
from cs_score.analysis.coldstart.scored import AnalysedRun
from cs_score.base.records import astuple, replace
from cs_score.coldstart.judging import Counts, Tally, category_in, counts_of
from cs_score.coldstart.limits import parent_node
from cs_score.coldstart.lines import Response, best_lines, load_order, node_confidence
from cs_score.coldstart.options import WRONG
from cs_score.coldstart.ranking import RankedNode, Ranking
from cs_score.coldstart.result import QueryResult, UnitResult
from cs_score.measures import RANKING_FORMULAS

_DEEPEST_HOP: Final = 1
"""The last hop whose lines can be taken away. A line of a later hop may be the only reason for a row of its parent."""

_FORMULAS: Final = tuple(RANKING_FORMULAS.values())
"""The functions that compute the scores of a ranking, of which average precision is the first."""

RankKey: TypeAlias = tuple[float, int, int]
"""The sort key of nodes in a ranking: minus the confidence, then number and index of the first line."""


class SubtractionError(Exception):
    """Raised if other lines may count differently without the removed lines, so that the query is scored again."""


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

    def units_without(self, change: Change, *, updates_rankings: bool) -> list[UnitResult] | None:
        """Return the changed units after a change, or None if some of their queries have to be scored again.

        Rankings are updated only if `updates_rankings`; otherwise they are not needed and stay as they were.
        """
        if not _only_removes_responses(change):
            return None
        try:
            return self._subtract(change, updates_rankings=updates_rankings)
        except SubtractionError:
            return None

    def _subtract(self, change: Change, *, updates_rankings: bool) -> list[UnitResult]:
        """Return the changed units after a change that only removes responses.

        Unless `updates_rankings`, rankings stay as they were. Raises SubtractionError if some of their queries have to
        be scored again.
        """
        unit_by_id: dict[str, UnitResult] = {}
        for base_id, lines in self._removed_lines_by_query(change).items():
            query_lines = self._query_lines(base_id)
            result = query_lines.result_without(lines, change.removed_indexes, updates_rankings=updates_rankings)
            # The unit may have been changed already, for another of its queries.
            unit = unit_by_id.get(query_lines.unit.id, query_lines.unit)
            unit_by_id[unit.id] = _with_result(unit, result)
        return list(unit_by_id.values())

    def _removed_lines_by_query(self, change: Change) -> dict[str, list[Response]]:
        """Return the responses that a change removes, in load order, by the base id of their query."""
        lines_by_query: dict[str, list[Response]] = defaultdict(list)
        for index in sorted(change.removed_indexes):
            line = self._scored.run.links.responses[index]
            lines_by_query[line.query.base_id].append(line)
        return lines_by_query

    def _query_lines(self, base_id: str) -> QueryLines:
        """Return the lines of a query, indexed when they are first asked for.

        Raises SubtractionError if several queries share the id, or if the query could not be scored.
        """
        if base_id not in self._query_lines_by_id:
            self._query_lines_by_id[base_id] = self._index_query(base_id)
        query_lines = self._query_lines_by_id[base_id]
        if query_lines is None:
            raise SubtractionError
        return query_lines

    def _index_query(self, base_id: str) -> QueryLines | None:
        """Index the lines of a query. Return None if several queries share its id, or if it could not be scored."""
        results = self._results_by_query.get(base_id, [])
        if len(results) != 1:  # there is no result, or several queries have one
            return None
        unit, result = results[0]
        is_scored = result.counting_error is None and result.ranking_error is None
        if not is_scored:
            return None
        return QueryLines(self._scored, self._editor, unit, result)


def _only_removes_responses(change: Change) -> bool:
    """Return whether a change only removes lines, all of them responses, under the same policy."""
    if change.added_lines or change.policy is not None:
        return False
    # A removed line without an index is not a response: it was skipped, or repeats another line.
    return len(change.removed_places) == len(change.removed_indexes)


def _with_result(unit: UnitResult, result: QueryResult) -> UnitResult:
    """Return a unit with a new result for one of its queries."""
    results = []
    for old_result in unit.queries:
        is_same_query = old_result.query.short_id == result.query.short_id
        results.append(result if is_same_query else old_result)
    return replace(unit, queries=tuple(results))


class QueryLines:
    """The scored lines of a query, indexed by row of the tables and by node. It returns the result of the query without
    some of its lines. `unit` is the unit of the query.
    """

    def __init__(self, scored: AnalysedRun, editor: Editor, unit: UnitResult, result: QueryResult) -> None:
        """Index the lines of the query that has this result."""
        tree = scored.run.gold.gold_of_query(result.query, scored.run.links).tree
        self.unit = unit
        self._result = result
        self._links = scored.run.links
        self._policy = scored.policy
        # Only this number of a node's best lines count; None means that all of them count.
        self._most_justifications = scored.run.limits.justifications_per_node
        self._ranks_all_levels = scored.run.gold.query_set.edition.ranks_all_levels
        # By the short id of a follow-on query: the lines with answers to this query, and the lines creating the query.
        self._lines_answering = editor.follow_on_lines.lines_answering
        self._lines_creating = editor.follow_on_lines.lines_creating
        # The row in which each line counts: rows are known by their position in the query, lines by their index.
        self._row_position_by_index = _row_positions(result)
        self._naming_line_indexes_by_row: dict[int, Collection[int]] = {}  # see `_naming_line_indexes`
        # A row with classes in gold remains in the tables even without lines. Each row is a node of the class tree.
        self._names_of_gold_rows: Collection[str] = () if tree is None else tree.class_count_by_node
        # The nodes of the query, and where they are ranked. Nodes of the second hop are children of first-hop nodes.
        self._rankings_by_level = [LevelRanking(ranking) for ranking in result.rankings]
        self._node_by_name = _ranked_nodes(result)
        self._children_by_parent = _children_by_parent(self._node_by_name.values())

    @cached_property
    def _can_move_nodes(self) -> bool:
        """Whether nodes can be moved in the rankings, which must have the same node names as the lines.

        The result is False if a node of the query is not ranked, or is ranked under another name than in its lines. It
        is also False if there are nodes of a later hop than the second.
        """
        if any(node.hop > _DEEPEST_HOP for node in self._node_by_name.values()):
            return False
        for tally in self._result.tallies:
            if any(self._is_ranked_otherwise(line) for line in tally.responses):
                return False
        return True

    def _is_ranked_otherwise(self, line: Response) -> bool:
        """Return whether the node of a line belongs to the query, but is ranked under another name or not at all."""
        if line.node is None or line.node in self._node_by_name:
            return False
        return line.node.startswith(f"{self._result.query.full_id}:")

    def result_without(
        self, lines: Sequence[Response], removed_indexes: Collection[int], *, updates_rankings: bool
    ) -> QueryResult:
        """Return the result of the query without some of its lines.

        `removed_indexes` are the indexes of all lines that the change removes, including lines of other queries. Unless
        `updates_rankings`, the rankings stay as they were. Raises SubtractionError if the query has to be scored again.
        """
        # Orphans are remaining lines that lose their parent. They keep their counts, but their nodes are not ranked.
        orphans = self._orphans(lines, removed_indexes)
        lines_to_unrank = [*lines, *orphans]
        if any(self._may_influence_others(line) for line in lines_to_unrank):
            raise SubtractionError
        tallies = self._tallies_without(lines)
        if not updates_rankings:
            return replace(self._result, tallies=tallies)
        return replace(self._result, tallies=tallies, rankings=self._rankings_without(lines_to_unrank))

    def _orphans(self, lines: Iterable[Response], removed_indexes: Collection[int]) -> list[Response]:
        """Return the remaining lines whose query asks about an answer that no line of the run gives any longer.

        `lines` are the removed lines that gave these answers. The counts of orphans stay the same, since they have no
        right parent before or after the change. However, their nodes are no longer ranked, since they have no parent
        node. Raises SubtractionError if another line still gives the answer, or if remaining lines may count
        differently for another reason.
        """
        orphans: list[Response] = []
        for line in lines:
            # The lines that answer the query about the answer of the removed line depend on it.
            lines_about_answer = self._lines_answering.get(line.follow_on_id, ())
            dependents = _without_removed(lines_about_answer, removed_indexes)
            if dependents:
                self._require_sole_parent(line, removed_indexes)
            for dependent in dependents:
                orphans.append(self._response_without_dependents(dependent))
        return orphans

    def _require_sole_parent(self, line: Response, removed_indexes: Collection[int]) -> None:
        """Raise SubtractionError unless a removed line was the only parent of the lines that ask about its answer.

        Another line is also a parent if it gives the same answer and its index is not one of the removed indexes.
        """
        # Orphans could join nodes of other lines without a parent. A skipped line with this answer may also be a
        # parent.
        if self._links.lines_without_parent or self._links.was_answer_skipped(line.follow_on_id):
            raise SubtractionError
        if _without_removed(self._lines_creating[line.follow_on_id], removed_indexes):
            raise SubtractionError

    def _response_without_dependents(self, line: LinkedLine) -> Response:
        """Return a line as a response, if no other line depends on it.

        Raises SubtractionError if the line was skipped, or if other lines answer the query about its answer.
        """
        if not isinstance(line, Response) or self._lines_answering.get(line.follow_on_id):
            raise SubtractionError
        return line

    def _may_influence_others(self, line: Response) -> bool:
        """Return whether other lines may count differently if a line is taken away."""
        # A row below a class of an earlier hop may exist only because of this line (after the second hop: level 2, 3,
        # ...).
        if line.query.level > _DEEPEST_HOP:
            return True
        is_counted = line.index in self._row_position_by_index
        if not is_counted:  # its influence on the counted lines is unknown
            return True
        # A skipped line with the same answer may count differently if no other line gives the answer any longer.
        if self._links.was_answer_skipped(line.follow_on_id):
            return True
        if line.node is None:
            return self._may_be_right(line) or line.index in self._naming_line_indexes(line)
        # Whether a node names the entity, and whether its right lines count as right, depends on all of its lines.
        return any(self._may_be_right(node_line) for node_line in self._links.lines_by_node[line.node])

    def _naming_line_indexes(self, line: Response) -> Collection[int]:
        """Return the indexes of the lines without a node in a line's row whose removal may make right lines wrong.

        The lines without a node in a row are treated as one node. The right lines of this node count as right only if
        one of its best assessed lines names the entity (rule nominal-mentions), so these best lines must stay. The
        result is empty if no line without a node is right.
        """
        position = self._row_position_by_index[line.index]
        if position not in self._naming_line_indexes_by_row:
            lines = [row_line for row_line in self._result.tallies[position].responses if row_line.node is None]
            self._naming_line_indexes_by_row[position] = self._find_naming_line_indexes(lines)
        return self._naming_line_indexes_by_row[position]

    def _find_naming_line_indexes(self, lines: Sequence[Response]) -> Collection[int]:
        """Return the indexes of the lines without which right lines might count as wrong.

        `lines` are all lines without a node in a row, which are treated as one node. The right lines of this node count
        as right only if one of its best assessed lines names the entity. The result is empty if no line is right.
        """
        if not any(self._may_be_right(line) for line in lines):
            return ()
        assessed_lines = [line for line in lines if line.index in self.unit.assessment_by_index]
        best_assessed_lines = best_lines(assessed_lines, self._most_justifications)
        if len(best_assessed_lines) < len(assessed_lines):
            # Without one of the best lines the next one would take its place, and might name the entity instead.
            return {line.index for line in best_assessed_lines}
        # All assessed lines are among the best ones. A line with the label WRONG never names the entity, so it may be
        # removed.
        return {line.index for line in assessed_lines if WRONG not in self.unit.labels_by_index[line.index]}

    def _may_be_right(self, line: Response) -> bool:
        """Return whether a line is right, is the duplicate of a right line, or has unknown labels."""
        labels = self.unit.labels_by_index.get(line.index)
        return labels is None or category_in(labels) in self._policy.right

    def _tallies_without(self, lines: Iterable[Response]) -> tuple[Tally, ...]:
        """Return the rows of the query without the counts of some lines.

        Raises SubtractionError if a row would vanish without them.
        """
        lines_by_position: dict[int, list[Response]] = defaultdict(list)
        for line in lines:
            lines_by_position[self._row_position_by_index[line.index]].append(line)
        tallies = list(self._result.tallies)
        for position, lines_of_row in lines_by_position.items():
            tallies[position] = self._tally_without(tallies[position], lines_of_row)
        return tuple(tallies)

    def _tally_without(self, tally: Tally, lines: Sequence[Response]) -> Tally:
        """Return a row without the counts of some of its lines; the lines themselves stay in its `responses`.

        Raises SubtractionError if all lines of the row are removed, and it has no classes of the ground truth.
        """
        is_emptied = len(lines) == len(tally.responses)
        if is_emptied and tally.name not in self._names_of_gold_rows:
            raise SubtractionError
        numbers = astuple(tally.counts)
        for line in lines:
            line_numbers = astuple(counts_of(self.unit.labels_by_index[line.index]))
            numbers = tuple([number - line_number for number, line_number in zip(numbers, line_numbers)])
        return Tally(tally.name, Counts(*numbers), tally.responses)

    # -- Rankings

    def _rankings_without(self, lines: Sequence[Response]) -> tuple[Ranking, ...]:
        """Return the rankings without some lines. Raises SubtractionError if the query has to be ranked again."""
        # If all levels are ranked together, a level may appear or vanish with a node.
        if self._ranks_all_levels or not self._can_move_nodes:
            raise SubtractionError
        moves = self._moves_of_nodes(lines)
        return tuple([ranking.ranking_after(moves) for ranking in self._rankings_by_level])

    def _moves_of_nodes(self, removed_lines: Iterable[Response]) -> list[Move]:
        """Return a move for each ranked node that loses some of the removed lines.

        The node moves to another rank, or out of all rankings. Raises SubtractionError if the ranks of further nodes
        may change.
        """
        losses = self._losses_of_nodes(removed_lines)
        moves: list[Move] = []
        for name in losses.changed_nodes:
            # Nodes without the id of this query, such as nodes of lines without a parent, are not in its rankings.
            query_id = name.partition(":")[0]
            if query_id == self._result.query.full_id:
                node = self._node_without_class(name)
                moves.append(self._move_of(node, losses))
        return moves

    def _node_without_class(self, name: str) -> RankedNode:
        """Return the ranked node with this name, if it is not mapped to a class.

        Raises SubtractionError if the node is not ranked, or if it is mapped to a class, which would become free for
        other nodes.
        """
        node = self._node_by_name.get(name)
        if node is None or node.mapped_class is not None:
            raise SubtractionError
        return node

    def _losses_of_nodes(self, lines: Iterable[Response]) -> _Losses:
        """Return which nodes lose some of the given lines, and which of them lose all of their lines."""
        indexes = {line.index for line in lines}
        changed_nodes = dict.fromkeys([line.node for line in lines if line.node is not None])
        vanishing_nodes: set[str] = set()
        for name in changed_nodes:
            if not _without_removed(self._links.lines_by_node[name], indexes):
                vanishing_nodes.add(name)
        return _Losses(indexes, changed_nodes, vanishing_nodes)

    def _move_of(self, node: RankedNode, losses: _Losses) -> Move:
        """Return the move of a node that loses lines: to another rank, or out of the ranking.

        Raises SubtractionError if other nodes would also change.
        """
        children = self._children_by_parent.get(node.name, ())
        has_remaining_child = any(child not in losses.vanishing_nodes for child in children)
        if has_remaining_child:  # the child's name and rank depend on this parent
            raise SubtractionError
        # A parent without lines of its own has the lines of its children: if the node loses lines, so does the parent.
        is_second_hop = node.hop > 0
        if is_second_hop and parent_node(node.name) not in self._links.lines_by_node:
            raise SubtractionError
        if node.name in losses.vanishing_nodes:
            return Move(node, None)
        return Move(node, self._node_without(node, losses))

    def _node_without(self, node: RankedNode, losses: _Losses) -> RankedNode:
        """Return a node with the confidence and the first line that it has after losing some of its lines.

        A node of the second hop is ranked by its own confidence multiplied by its parent's. Raises SubtractionError if
        the parent loses lines as well.
        """
        remaining_lines = [line for line in self._links.lines_by_node[node.name] if line.index not in losses.indexes]
        confidence = self._confidence_of(remaining_lines)
        is_second_hop = node.hop > 0
        if is_second_hop:
            parent = parent_node(node.name)
            if parent in losses.changed_nodes:
                raise SubtractionError
            confidence *= self._confidence_of(self._links.lines_by_node[parent])
        first_line = min(remaining_lines, key=lambda line: line.number)
        return replace(node, confidence=confidence, first_line=first_line)

    def _confidence_of(self, lines: Iterable[Response]) -> float:
        """Return the confidence that a node has with these lines."""
        return node_confidence([line.confidence for line in lines], self._most_justifications)


def _row_positions(result: QueryResult) -> dict[int, int]:
    """Map the index of each line of a query to the position of the row that counts it: `{0: 0, 1: 0, 5: 2}`."""
    position_by_index: dict[int, int] = {}
    for position, tally in enumerate(result.tallies):
        for line in tally.responses:
            position_by_index[line.index] = position
    return position_by_index


def _ranked_nodes(result: QueryResult) -> dict[str, RankedNode]:
    """Return the nodes in the rankings of a query by full node id; if a node has several ranks, the first is used."""
    node_by_name: dict[str, RankedNode] = {}
    for ranking in result.rankings:
        for node in ranking.nodes:
            node_by_name.setdefault(node.name, node)
    return node_by_name


def _children_by_parent(nodes: Iterable[RankedNode]) -> dict[str, list[str]]:
    """Return the nodes of the second hop below each node, all by full node id: `{"Q:E1": ["Q:E1:E2"]}`."""
    children_by_parent: dict[str, list[str]] = defaultdict(list)
    for node in nodes:
        is_second_hop = node.hop > 0
        if is_second_hop:
            children_by_parent[parent_node(node.name)].append(node.name)
    return children_by_parent


Line = TypeVar("Line", bound=LinkedLine)


def _without_removed(lines: Iterable[Line], removed_indexes: Collection[int]) -> list[Line]:
    """Return the lines that are not at a removed index, among them all skipped lines, which have no index."""
    return [line for line in lines if not isinstance(line, Response) or line.index not in removed_indexes]


class _Losses(NamedTuple):
    """The indexes of lines that are removed, the nodes that lose lines, and the nodes that lose all of theirs."""

    indexes: Collection[int]
    changed_nodes: Collection[str]
    vanishing_nodes: Collection[str]


class Move(NamedTuple):
    """A node that loses lines, and the node that it becomes; None if it vanishes from the ranking."""

    node: RankedNode
    moved_node: RankedNode | None


def _rank_key(node: RankedNode) -> RankKey:
    """Return the key by which a node is ranked: the smaller, the better."""
    return -node.confidence, *load_order(node.first_line)


class _RankedNodes(NamedTuple):
    """Nodes in the order of their ranks, with the sort key and the value of each node in lists of their own.

    The lists are changed together when a node is removed or inserted.
    """

    keys: list[RankKey]
    values: list[float]
    nodes: list[RankedNode]

    def remove(self, position: int) -> None:
        """Remove the node at a position, counted from 0."""
        del self.keys[position]
        del self.values[position]
        del self.nodes[position]

    def insert(self, node: RankedNode) -> None:
        """Insert a node at the position that its sort key gives it."""
        key = _rank_key(node)
        position = bisect_left(self.keys, key)
        self.keys.insert(position, key)
        self.values.insert(position, node.value)
        self.nodes.insert(position, node)


class LevelRanking:
    """The ranking of the nodes of one level, with sort keys and values in lists, for rankings after changes."""

    def __init__(self, ranking: Ranking) -> None:
        """List the sort keys and values of the nodes of a ranking."""
        self._ranking = ranking
        self._keys = [_rank_key(node) for node in ranking.nodes]
        self._values = [node.value for node in ranking.nodes]
        self._position_by_name = {node.name: position for position, node in enumerate(ranking.nodes)}

    def ranking_after(self, moves: Iterable[Move]) -> Ranking:
        """Return the ranking after nodes without a class have vanished or moved.

        Raises SubtractionError if no node is left, since the level may then have no row. Also raises SubtractionError
        if there would be more right nodes than classes to find, since the scorer refuses such a ranking with a message.
        """
        moves_here = [move for move in moves if move.node.name in self._position_by_name]
        if not moves_here:
            return self._ranking
        ranked = self._without([move.node.name for move in moves_here])
        for move in moves_here:
            if move.moved_node is not None:
                ranked.insert(move.moved_node)
        if not ranked.nodes:
            raise SubtractionError
        ranking = self._ranking_of(ranked)
        if ranking.exceeds_ground_truth:
            raise SubtractionError
        return ranking

    def _without(self, node_ids: Iterable[str]) -> _RankedNodes:
        """Return the ranked nodes except for the nodes with these full node ids."""
        ranked = _RankedNodes(self._keys.copy(), self._values.copy(), list(self._ranking.nodes))
        positions = [self._position_by_name[node_id] for node_id in node_ids]
        for position in sorted(positions, reverse=True):  # the last one first, so the other positions stay valid
            ranked.remove(position)
        return ranked

    def _ranking_of(self, ranked: _RankedNodes) -> Ranking:
        """Return the ranking of other nodes at this level, with its scores by all formulas."""
        scores = [score_ranking(ranked.values, self._ranking.ground_truth) for score_ranking in _FORMULAS]
        return replace(self._ranking, scores=tuple(scores), nodes=tuple(ranked.nodes))
