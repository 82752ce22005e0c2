"""A scored run with what explanations look up in it. Everything is worked out when it is first asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final

from cs_score.analysis.coldstart.changes import Dependents, ReadLine, RunFiles, files_of
from cs_score.analysis.coldstart.effects import Effects
from cs_score.analysis.coldstart.explanation.facts import At, Counted, Rank, Ranked
from cs_score.analysis.coldstart.mistakes import category_of
from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.coldstart.gold import QueryGold, Run
from cs_score.coldstart.judging import (
    REDUNDANT,
    ClassTree,
    Counting,
    Labels,
    Matched,
    Members,
    Row,
    Tally,
    place_responses,
)
from cs_score.coldstart.lines import Assessment, Discard, DiscardRules, Response, UnreadLine
from cs_score.coldstart.options import IGNORE, RIGHT, WRONG, Policy
from cs_score.coldstart.queries import Query
from cs_score.coldstart.ranking import Node, Nodes, RankedNode
from cs_score.coldstart.result import QueryResult, UnitResult
from cs_score.measures.measure import Measure
from cs_score.problems.log import Place, Problem, ProblemLog

_SIDES: Final = {RIGHT: "right", WRONG: "wrong", IGNORE: "ignored"}


class Witness(Counting):
    """Counting that remembers what it decided between: for a duplicate the response that is kept, and of each node the
    lines that the nominal rule looked at."""

    def __init__(self, matched: Matched, policy: Policy, most: int | None) -> None:
        super().__init__(matched, policy, most, {})
        self.in_favour_of: dict[int, Response] = {}
        self.not_named: dict[int, Sequence[Response]] = {}

    def keep(self, kept: Response, others: Sequence[Response], row: Row) -> list[Response]:
        """As `Counting.keep`."""
        others = list(others)
        self.in_favour_of.update((line.index, kept) for line in others)
        return super().keep(kept, others, row)

    def is_named(self, lines: Sequence[Response]) -> bool:
        """As `Counting.is_named`."""
        is_named = super().is_named(lines)
        if not is_named:
            self.not_named.update((line.index, lines) for line in lines)
        return is_named


class Placement(Record, eq=False):
    """Where the lines of one query stand: the tree of its classes, the lines in each, what counting them decided.

    `class_of` has the class of each line, by index.
    """

    gold: QueryGold
    tree: ClassTree
    members: Members
    witness: Witness
    class_of: dict[int, str]


class RankedNodes(Record):
    """The ranks of each node of a query, each node as it is ranked, and which node has taken a class."""

    ranks: dict[str, list[Rank]]
    nodes: dict[str, RankedNode]
    takers: dict[str, str]


class Case:
    """A scored run to be explained.

    `fatal` is why nothing could be scored; then there are no rows, and there may be no units.
    """

    def __init__(self, scored: Scored, measure: str | None = None) -> None:
        """Raises UsageError or InputError for a measure that there is not."""
        self.scored = scored
        self.run: Run = scored.run
        self.policy: Policy = scored.policy
        self.fatal: InputError | None = scored.stopped if not scored.result.tables.sf.rows else None
        self.measure: Measure | None = None if self.fatal else scored.measure(measure)
        self.units = {unit.id: unit for unit in scored.result.units}
        self.ranked: dict[tuple[str | None, str], tuple[Ranked | None, str | None]] = {}
        """Ranks of nodes that were asked for, by name and query."""
        self.counted: dict[str, tuple[Counted, ...]] = {}
        """Rows of the SF table with their projections, by name."""
        self.pools: dict[str, Mapping[tuple[object, ...], Sequence[tuple[int, Assessment]]]] = {}
        """The assessments near a query by what lines may have in common with them, by its short id."""
        self.reasons: dict[tuple[object, ...], tuple[str, tuple[At, ...]]] = {}
        """Reasons of categories that lines share, by what they share."""
        self._found: dict[str, dict[str, dict[str, list[Response]]]] = {}
        self._accepted: dict[str, dict[str, list[Assessment]]] = {}
        self._givers: dict[str, dict[str, list[Response]]] = {}
        self._ranks: dict[str, RankedNodes] = {}
        self._nodes: dict[str, Mapping[str, Node]] = {}
        self._placements: dict[str, Placement | None] = {}
        self._rows: dict[str, dict[int, Tally]] = {}

    @cached_property
    def files(self) -> RunFiles:
        """The files of the runs, line by line."""
        return files_of(self.run)

    @cached_property
    def problems(self) -> Mapping[Place, Sequence[Problem]]:
        """The problems that were met at each line."""
        found: dict[Place, list[Problem]] = defaultdict(list)
        for log in (self.run.problems, *(unit.problems for unit in self.units.values())):
            for place, problem in log.by_place():
                found[place].append(problem)
        return found

    def givers(self, target: str, base_id: str) -> Sequence[Response]:
        """The lines of a query of a query file that give the answer which a follow-on query asks about."""
        if base_id not in self._givers:
            givers = self._givers[base_id] = defaultdict(list)
            for line in self.lines_of(base_id):
                givers[line.target].append(line)
        return self._givers[base_id].get(target, ())

    def unit_size(self, base_id: str) -> int:
        """The lines of the run that are scored again where one of a query's lines is left out."""
        unit = self.run.gold.unit_of(base_id)
        return sum(map(len, self.run.lines.get(self.scored.run_id, {}).get(unit, {}).values()))

    def ranks_of(self, result: QueryResult) -> RankedNodes:
        """The rankings of a query by node."""
        base_id = result.query.base_id
        if base_id not in self._ranks:
            found = self._ranks[base_id] = RankedNodes({}, {}, {})
            for ranking in result.rankings:
                total = 0.0
                for rank, node in enumerate(ranking.nodes, 1):
                    total += node.value
                    text = f"{total:.4f} / {rank} = {total / rank:.4f}"
                    found.ranks.setdefault(node.name, []).append(
                        Rank(ranking.level, rank, len(ranking.nodes), total / rank, text, ranking.score)
                    )
                    found.nodes.setdefault(node.name, node)
                    if node.mapped_class is not None:
                        found.takers[node.mapped_class] = node.name
        return self._ranks[base_id]

    def found(self, base_id: str) -> Mapping[str, Mapping[str, Sequence[Response]]]:
        """For each row of a query the classes that were found, each with the lines that count as right for it."""
        if base_id not in self._found:
            found = self._found[base_id] = {}
            result, unit = self.query_result(base_id), self.units.get(self.run.gold.unit_of(base_id))
            for tally in () if result is None else result.tallies:
                classes = found.setdefault(tally.name, {})
                for line in tally.responses:
                    assessment = None if unit is None else unit.matched.get(line.index)
                    if assessment is None or unit is None or RIGHT not in unit.labels[line.index]:
                        continue
                    if assessment.value_class.rpartition(":")[0] == tally.name:
                        classes.setdefault(assessment.value_class, []).append(line)
        return self._found[base_id]

    def accepted(self, base_id: str) -> Mapping[str, Sequence[Assessment]]:
        """The accepted assessments of a query by their class, in load order."""
        if base_id not in self._accepted:
            accepted = self._accepted[base_id] = {}
            for each in self.run.gold.assessed.get(base_id, ()):
                if each.is_accepted:
                    accepted.setdefault(each.value_class, []).append(each)
        return self._accepted[base_id]

    @cached_property
    def first_lines(self) -> Mapping[tuple[str, str], int]:
        """The number of the first line of a file that has a text."""
        links = self.run.links
        first: dict[tuple[str, str], int] = {}
        lines: Iterable[ReadLine | UnreadLine] = (*links.responses, *links.skipped, *links.unread)
        for line in lines:
            first[line.file, line.text] = min(first.get((line.file, line.text), line.number), line.number)
        return first

    @cached_property
    def _all_nodes(self) -> Nodes:
        return Nodes(self.run.links.nodes, self.run.limits.most)

    def nodes_of(self, full_id: str) -> Mapping[str, Node]:
        """The nodes of a query."""
        if full_id not in self._nodes:
            self._nodes[full_id] = self._all_nodes.of_query(full_id)
        return self._nodes[full_id]

    @cached_property
    def dependents(self) -> Dependents:
        """What hangs below lines."""
        return Dependents(self.run, self.files) if self.fatal else self.effects.rescoring.dependents

    @cached_property
    def measures(self) -> Sequence[Measure]:
        """The measure that is asked about, and average precision. Only of a run with scores."""
        assert self.measure is not None
        ranked = [each for each in self.scored.result.measures if not each.average and each.hop is None]
        return list(dict.fromkeys((self.measure, *ranked)))

    @cached_property
    def effects(self) -> Effects:
        """What changes make of `measures`."""
        return Effects(self.scored, self.measures)

    def unit_of(self, line: Response) -> UnitResult | None:
        """The result of the unit that a line of this run answers a query of; None where it was not scored."""
        return self.units.get(self.run.gold.unit_of(line.query.base_id)) if self.is_of_run(line) else None

    def is_of_run(self, line: Response) -> bool:
        """Whether the line belongs to the run that is explained."""
        return line.run_id == self.scored.run_id

    def lines_of(self, base_id: str) -> Sequence[Response]:
        """The lines of the run that answer a query or its follow-on queries, in load order."""
        of_run = self.run.lines.get(self.scored.run_id, {})
        return of_run.get(self.run.gold.unit_of(base_id), {}).get(base_id, ())

    def query_result(self, base_id: str) -> QueryResult | None:
        """The result of a query of a query file, by short id; None where it was not scored."""
        unit = self.units.get(self.run.gold.unit_of(base_id))
        found = (query for query in unit.queries if query.query.short_id == base_id) if unit else iter(())
        return next(found, None)

    def tally_of(self, line: Response) -> Tally | None:
        """The row that a line is counted in."""
        base_id = line.query.base_id
        if base_id not in self._rows:
            result = self.query_result(base_id)
            tallies = () if result is None else result.tallies
            self._rows[base_id] = {each.index: tally for tally in tallies for each in tally.responses}
        return self._rows[base_id].get(line.index)

    def placement(self, base_id: str) -> Placement | None:
        """Where the lines of a query stand; None where it was not scored."""
        if base_id not in self._placements:
            result = self.query_result(base_id)
            self._placements[base_id] = None if result is None else self._new_placement(result.query)
        return self._placements[base_id]

    def _new_placement(self, query: Query) -> Placement | None:
        unit = self.units[self.run.gold.unit_of(query.base_id)]
        gold = self.run.gold.of_query(query, self.run.links)
        if gold.tree is None or unit.unmatched is not None:
            return None
        tree = gold.tree.branch()
        try:
            members = place_responses(tree, self.lines_of(query.base_id), unit.matched, self.run.links)
        except InputError:
            return None
        witness = Witness(unit.matched, self.policy, self.run.limits.most)
        witness.tally(tree, members)
        class_of = {line.index: name for name, lines in members.items() for line in lines}
        return Placement(gold, tree, members, witness, class_of)

    @cached_property
    def discards(self) -> dict[int, Discard]:
        """Why each discarded line was, by index."""
        if not self.run.discarded:
            return {}
        rules = DiscardRules(self.run.limits, ProblemLog())
        rules.apply_again(self.run.limited, self.run.links.responses, self.run.links.nodes)
        return rules.why

    def labels_of(self, line: Response) -> Labels:
        """The labels of a line of this run; none where it was not scored."""
        unit = self.unit_of(line)
        return () if unit is None else unit.labels.get(line.index, ())

    def category_of(self, line: Response) -> str | None:
        """The category of a scored line as policies name it."""
        labels = self.labels_of(line)
        return category_of(labels, self.policy) if labels else None


def sides_text(labels: Iterable[str]) -> str:
    """The sides among labels, in words: `right`, `wrong and ignored`, `neither right nor wrong`."""
    names = list(labels)
    # A judgment is called IGNORE as well as a side; labels of lines with it have both.
    sides = [text for side, text in _SIDES.items() if side in names]
    return " and ".join(sides) or ("duplicate" if REDUNDANT in names else "neither right nor wrong")
