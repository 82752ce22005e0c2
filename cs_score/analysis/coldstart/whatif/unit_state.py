"""One unit of a run as it was scored, ready to tell what changes of a few lines would make of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final

from cs_score.analysis.coldstart.whatif.counted_query import Arrival, CountedQuery
from cs_score.analysis.coldstart.whatif.ranked_query import RankedQuery, are_plain
from cs_score.analysis.coldstart.whatif.unit_sums import QueryScores, Rankings, Row, row, scores_of_query
from cs_score.base.records import Record
from cs_score.coldstart.counting import Counting
from cs_score.coldstart.gold import QueryGold, Run, UnitLines
from cs_score.coldstart.judging import place_responses
from cs_score.coldstart.lines import Response
from cs_score.coldstart.options import Policy
from cs_score.coldstart.queries import find_predicate
from cs_score.coldstart.ranking import Nodes
from cs_score.coldstart.result import QueryResult, UnitResult

_index: Final = attrgetter("index")


class QueryChange(Record):
    """Other scores of one query: some of its rows (None: it is gone), and its rankings."""

    short_id: str
    rows: Mapping[str, Row | None]
    rankings: Rankings


class UnitState:
    """The queries of a unit that are scored, by base id."""

    def __init__(self, unit: UnitResult, run: Run, lines: UnitLines, policy: Policy, with_rankings: bool) -> None:
        nodes: dict[str, list[Response]] = {}
        for line in sorted((line for of_query in lines.values() for line in of_query), key=_index):
            if line.node is not None:
                nodes.setdefault(line.node, []).append(line)
        self._queries: dict[str, QueryState | None] = {}
        for result in unit.queries:
            base_id = result.query.base_id
            if base_id in self._queries:  # their lines are counted twice
                self._queries[base_id] = None
                continue
            gold = run.gold.of_query(result.query, run.links)
            of_unit = Nodes(nodes, run.limits.most) if with_rankings else None
            self._queries[base_id] = QueryState(result, gold, lines.get(base_id, ()), unit, run, policy, of_unit)

    def query(self, base_id: str) -> QueryState | None:
        """The query of a base id, where its lines are counted for it alone."""
        return self._queries.get(base_id)

    def scores(self, base_id: str) -> bool:
        """Whether any query is scored from the lines of this base id."""
        return base_id in self._queries


class QueryState:
    """One query of a unit."""

    def __init__(
        self, result: QueryResult, gold: QueryGold, lines: Sequence[Response], unit: UnitResult, run: Run,
        policy: Policy, nodes: Nodes | None,
    ) -> None:  # fmt: skip
        """`nodes`: those of the unit; None where nobody asks for rankings."""
        assert gold.tree is not None
        assert run.limits.most is not None
        query = result.query
        tree = gold.tree.branch()
        members = place_responses(tree, lines, unit.matched, run.links)
        counting = Counting(unit.matched, policy, run.limits.most, dict(unit.labels))
        self._counted = CountedQuery(tree, members, counting, policy, run.limits.most, gold.tree.ground_truth.keys())
        self._scores: QueryScores = scores_of_query(result.tallies, result.rankings)
        self._short_id = query.short_id
        self._matched = unit.matched
        self._ranked: RankedQuery | None = None
        self.can_rank = True
        if nodes is not None:
            of_query = nodes.of_query(query.full_id)
            self.can_rank = are_plain(of_query)
            if self.can_rank:
                single = [None if slot is None else slot.single for slot in map(find_predicate, query.slots)]
                truth = gold.classes.ground_truth(single)
                if len(query.slots) <= 1 and not truth["1"]:
                    del truth["1"]
                self._ranked = RankedQuery(
                    query.full_id, of_query, gold.classes, truth, unit.matched, unit.labels, run.limits.most
                )

    def as_before(self, line: Response, linked: Response) -> Arrival:
        """A line of the query that comes again, linked otherwise."""
        return Arrival(linked, self._matched.get(line.index), self._counted.class_of(line))

    def after(self, removed: Sequence[Response], added: Sequence[Arrival]) -> QueryChange | None:
        """What other scores the query has without some lines and with others; None where that is not told by them."""
        recount = self._counted.after(removed, added)
        if recount is None or not self.can_rank:
            return None
        rankings = self._scores.rankings
        if self._ranked is not None:
            met = {each.line.index: each.assessment for each in added if each.assessment is not None}
            scores = self._ranked.after(removed, [each.line for each in added], recount.labels, met)
            if scores is None or any(of_level[0] > 1.0 for of_level in scores.values()):
                return None
            rankings = {level: (scores[level], ground_truth) for level, (_, ground_truth) in rankings.items()}
        rows: dict[str, Row | None] = dict.fromkeys(name for name in recount.emptied if name in self._scores.rows)
        for name, (right, answered) in recount.rows.items():
            before = self._scores.rows.get(name)
            if before is not None:
                rows[name] = row(before.level, *(int(of) + more for of, more in zip(before.adds, (right, answered, 0))))
        return QueryChange(self._short_id, rows, rankings)
