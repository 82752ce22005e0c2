"""Lines taken away without scoring their query again, where what they leave behind counts as before.

Most wrong lines have no part in what other lines count as: they give no right answer, share a node with none, and no
line that stays asks about their answer. Taking one away takes its counts from its row, and its node from the rankings
or to another rank there. That needs no more than one pass over the ranked values of the query, where scoring the query
again labels and ranks all of its lines. In all other cases nothing is returned here, and the query is scored again.
"""

from __future__ import annotations

import operator
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from cs_score.analysis.coldstart.changes import Change, Editor
from cs_score.analysis.coldstart.run_files import LinkedLine
from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.records import astuple, replace
from cs_score.coldstart.judging import Counts, Tally, category_in, counts_of
from cs_score.coldstart.lines import Response, load_order, node_confidence
from cs_score.coldstart.ranking import RankedNode, Ranking
from cs_score.coldstart.result import QueryResult, UnitResult
from cs_score.measures.registry import RANKED

_DEEPEST_HOP: Final = 1
"""Lines of later hops make rows for the classes above them, so that these may go with them."""

RankKey: TypeAlias = tuple[float, int, int]
"""What nodes are ranked by: confidence from the highest, number and index of the first line."""


class Removals:
    """Takes lines of one run away from its scored units, as far as that needs no scoring."""

    def __init__(self, scored: Scored, editor: Editor) -> None:
        self._scored = scored
        self._editor = editor
        self._queries: dict[str, QueryLines | None] = {}
        self._results_by_base: dict[str, list[tuple[UnitResult, QueryResult]]] = defaultdict(list)
        for unit in scored.result.units:
            for result in unit.queries:
                self._results_by_base[result.query.base_id].append((unit, result))

    def units_without(self, change: Change, *, is_ranked: bool) -> list[UnitResult] | None:
        """Return the units that a change leaves otherwise; None where their queries have to be scored again.

        Rankings are those before the change unless they are wanted (`is_ranked`).
        """
        if change.added or change.policy is not None or len(change.places) != len(change.responses):
            return None
        lines_by_base: dict[str, list[Response]] = defaultdict(list)
        for index in sorted(change.responses):
            line = self._scored.run.links.responses[index]
            lines_by_base[line.query.base_id].append(line)
        changed: dict[str, UnitResult] = {}
        for base_id, lines in lines_by_base.items():
            query_lines = self._query_lines(base_id)
            if query_lines is None:
                return None
            result = query_lines.without(lines, change.responses, is_ranked=is_ranked)
            if result is None:
                return None
            unit = changed.get(query_lines.unit.id, query_lines.unit)
            changed[unit.id] = _with_result(unit, result)
        return list(changed.values())

    def _query_lines(self, base_id: str) -> QueryLines | None:
        """Return the lines of a query; None where several queries share its id, or it could not be scored."""
        if base_id not in self._queries:
            found = None
            results = self._results_by_base.get(base_id, [])
            if len(results) == 1:
                unit, result = results[0]
                if result.uncounted is None and result.unranked is None:
                    found = QueryLines(self._scored, self._editor, unit, result)
            self._queries[base_id] = found
        return self._queries[base_id]


def _with_result(unit: UnitResult, result: QueryResult) -> UnitResult:
    """Return a unit with another result of one of its queries."""
    queries = [result if each.query.short_id == result.query.short_id else each for each in unit.queries]
    return replace(unit, queries=tuple(queries))


class QueryLines:
    """The lines of one query as they were scored, by row and by rank."""

    def __init__(self, scored: Scored, editor: Editor, unit: UnitResult, result: QueryResult) -> None:
        self.unit = unit
        self._links = scored.run.links
        self._policy = scored.policy
        self._most = scored.run.limits.most
        self._answering = editor.follow_on_lines.answering
        self._creating = editor.follow_on_lines.creating
        self._ranks_all_levels = scored.run.gold.table.edition.ranks_all_levels
        self._result = result
        self._row_by_line: dict[int, int] = {}
        for place, tally in enumerate(result.tallies):
            for line in tally.responses:
                self._row_by_line[line.index] = place
        tree = scored.run.gold.of_query(result.query, scored.run.links).tree
        self._rows_of_gold: Collection[str] = () if tree is None else tree.ground_truth
        self._levels = [LevelRanking(ranking) for ranking in result.rankings]
        self._node_by_name: dict[str, RankedNode] = {}
        self._children_by_parent: dict[str, list[str]] = defaultdict(list)
        for level in self._levels:
            for node in level.ranking.nodes:
                if node.name not in self._node_by_name:
                    self._node_by_name[node.name] = node
                    if node.level:
                        self._children_by_parent[node.name.rpartition(":")[0]].append(node.name)

    @cached_property
    def _has_plain_nodes(self) -> bool:
        """Return whether nodes have one or two components, and the names that their lines give them."""
        if any(node.level > _DEEPEST_HOP for node in self._node_by_name.values()):
            return False
        prefix = f"{self._result.query.full_id}:"
        for tally in self._result.tallies:
            for line in tally.responses:
                if line.node is not None and line.node.startswith(prefix) and line.node not in self._node_by_name:
                    return False
        return True

    def without(self, lines: Sequence[Response], indexes: Collection[int], *, is_ranked: bool) -> QueryResult | None:
        """Return the result without lines, which have these indexes; None where the query has to be scored again."""
        orphans = self._orphans(lines, indexes)
        if orphans is None:
            return None
        if not all(self._has_no_part_in_others(line) for line in (*lines, *orphans)):
            return None
        tallies = self._tallies_without(lines)
        if tallies is None:
            return None
        if not is_ranked:
            return replace(self._result, tallies=tallies)
        rankings = self._rankings_without([*lines, *orphans])
        if rankings is None:
            return None
        return replace(self._result, tallies=tallies, rankings=tuple(rankings))

    def _orphans(self, lines: Iterable[Response], indexes: Collection[int]) -> list[Response] | None:
        """Return the lines that stay and ask about an answer which no line of the run gives any more.

        They stand below no right answer before and after, but leave the rankings: their nodes have no parent. None
        where another line still gives the answer, by which they may count otherwise.
        """
        orphans: list[Response] = []
        for line in lines:
            staying = [each for each in self._answering.get(line.target, ()) if _index_of(each) not in indexes]
            if not staying:
                continue
            if self._links.without_parent or self._links.was_skipped(line.target):
                return None
            if any(_index_of(each) not in indexes for each in self._creating[line.target]):
                return None
            for each in staying:
                if not isinstance(each, Response) or self._answering.get(each.target):
                    return None
                orphans.append(each)
        return orphans

    def _has_no_part_in_others(self, line: Response) -> bool:
        """Return whether no line that stays counts otherwise without this one in its node."""
        if line.query.level > _DEEPEST_HOP or line.index not in self._row_by_line:
            return False
        if self._links.was_skipped(line.target):
            return False
        if line.node is None:
            return self._is_without_credit(line)
        # The lines of a node decide together whether it is named, which matters to those with credit.
        return all(self._is_without_credit(each) for each in self._links.nodes[line.node])

    def _is_without_credit(self, line: Response) -> bool:
        """Return whether a line can neither be right nor a duplicate of a right one."""
        labels = self.unit.labels.get(line.index)
        return labels is not None and category_in(labels) not in self._policy.right

    def _tallies_without(self, lines: Iterable[Response]) -> tuple[Tally, ...] | None:
        """Return the rows without lines; None where a row would go that only these lines have made."""
        lines_by_row: dict[int, list[Response]] = defaultdict(list)
        for line in lines:
            lines_by_row[self._row_by_line[line.index]].append(line)
        tallies = list(self._result.tallies)
        for place, removed in lines_by_row.items():
            tally = tallies[place]
            if len(removed) == len(tally.responses) and tally.name not in self._rows_of_gold:
                return None
            counts = astuple(tally.counts)
            for line in removed:
                of_line = astuple(counts_of(self.unit.labels[line.index]))
                counts = tuple(map(operator.sub, counts, of_line))
            tallies[place] = Tally(tally.name, Counts(*counts), tally.responses)
        return tuple(tallies)

    def _rankings_without(self, lines: Sequence[Response]) -> list[Ranking] | None:
        """Return the rankings without lines; None where that takes more than nodes without a class that go or move."""
        indexes = {line.index for line in lines}
        if self._ranks_all_levels or not self._has_plain_nodes:
            return None
        moves: list[Move] = []
        names = dict.fromkeys(line.node for line in lines if line.node is not None)
        gone = {name for name in names if all(line.index in indexes for line in self._links.nodes[name])}
        for name in names:
            if name.partition(":")[0] != self._result.query.full_id:
                continue  # nodes of lines without parent are not ranked
            node = self._node_by_name.get(name)
            if node is None or node.mapped_class is not None:
                return None
            move = self._move_of(node, gone, names, indexes)
            if move is None:
                return None
            moves.append(move)
        rankings = []
        for level in self._levels:
            ranking = level.after(moves)
            if ranking is None:
                return None
            rankings.append(ranking)
        return rankings

    def _move_of(
        self, node: RankedNode, gone: Collection[str], changed: Collection[str], indexes: Collection[int]
    ) -> Move | None:
        """Return where a node goes that loses lines; None where other nodes change with it.

        A node of the second hop is ranked by its own confidence times that of its parent, and a parent without lines of
        its own has those of its children.
        """
        children = self._children_by_parent.get(node.name, ())
        if any(child not in gone for child in children):
            return None
        parent = node.name.rpartition(":")[0]
        if node.level and parent not in self._links.nodes:
            return None
        if node.name in gone:
            return Move(node, None, None)
        if node.level and parent in changed:
            return None
        left = [line for line in self._links.nodes[node.name] if line.index not in indexes]
        confidence = self._confidence(left)
        if node.level:
            confidence *= self._confidence(self._links.nodes[parent])
        first = min(left, key=lambda line: line.number)
        moved = replace(node, confidence=confidence, first_line=first)
        return Move(node, moved, _rank_key(moved))

    def _confidence(self, lines: Iterable[Response]) -> float:
        return node_confidence([line.confidence for line in lines], self._most)


def _index_of(line: LinkedLine) -> int | None:
    """Return the index of a line; None for one that was skipped."""
    return line.index if isinstance(line, Response) else None


class Move(NamedTuple):
    """A node that loses lines, and what it becomes with the key that it is then ranked by; None where it goes."""

    node: RankedNode
    moved: RankedNode | None
    key: RankKey | None


def _rank_key(node: RankedNode) -> RankKey:
    return -node.confidence, *load_order(node.first_line)


class LevelRanking:
    """The ranking of one level with what it is computed from, in lists that are copied and changed."""

    def __init__(self, ranking: Ranking) -> None:
        self.ranking = ranking
        self._keys = [_rank_key(node) for node in ranking.nodes]
        self._values = [node.value for node in ranking.nodes]
        self._place_by_name = {node.name: place for place, node in enumerate(ranking.nodes)}

    def after(self, moves: Iterable[Move]) -> Ranking | None:
        """Return the ranking after nodes without a class have gone or moved; None where it may not be there then."""
        of_level = [move for move in moves if move.node.name in self._place_by_name]
        if not of_level:
            return self.ranking
        keys = self._keys.copy()
        values = self._values.copy()
        nodes = list(self.ranking.nodes)
        for place in sorted([self._place_by_name[move.node.name] for move in of_level], reverse=True):
            del keys[place]
            del values[place]
            del nodes[place]
        for move in of_level:
            if move.moved is not None and move.key is not None:
                place = bisect_left(keys, move.key)
                keys.insert(place, move.key)
                values.insert(place, move.moved.value)
                nodes.insert(place, move.moved)
        if not nodes:  # the level may have no row any more
            return None
        scores = tuple([score_ranking(values, self.ranking.ground_truth) for score_ranking in RANKED.values()])
        ranking = replace(self.ranking, scores=scores, nodes=tuple(nodes))
        # Scoring says why such an average precision is refused.
        return None if ranking.exceeds_ground_truth else ranking
