"""A scored run with what explanations look up in it. Everything is worked out when it is first asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain

from cs_score.analysis.coldstart.changes import At, RunFiles, files_of
from cs_score.analysis.coldstart.effects import Effects
from cs_score.analysis.coldstart.explanation.document import Counted, Rank, Ranked
from cs_score.analysis.coldstart.mistakes import category_of
from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.errors import InputError
from cs_score.coldstart.gold import Run
from cs_score.coldstart.judging import REDUNDANT, Counting, Labels, Tally, place_responses
from cs_score.coldstart.lines import Assessment, Response, SkippedLine
from cs_score.coldstart.options import IGNORE, RIGHT, WRONG, Policy
from cs_score.coldstart.queries import Query
from cs_score.coldstart.ranking import Node, Nodes, RankedNode
from cs_score.coldstart.result import UnitResult
from cs_score.coldstart.tab_files import UnreadLine
from cs_score.measures.registry import Measure
from cs_score.problems.log import Place, Problem

AnyLine = Response | SkippedLine | UnreadLine

_SIDES = {RIGHT: "right", WRONG: "wrong", IGNORE: "ignored"}


def side_of(labels: Labels) -> str:
    """What a line counts as, in words: `right`, `wrong and ignored`, `neither right nor wrong`, `not scored`."""
    # A judgment is called IGNORE as well as a side; labels of lines with it have both.
    sides = [text for side, text in _SIDES.items() if side in labels]
    if not sides and labels:
        return "duplicate" if REDUNDANT in labels else "neither right nor wrong"
    return " and ".join(sides) or "not scored"


class Placement(Counting):
    """A query's lines counted once more, for what counting decided between: the tree of its classes, the lines in each
    class (`members`), the class of each line.
    """

    def __init__(self, query: Query, lines: Sequence[Response], unit: UnitResult, case: Case) -> None:
        """Raises InputError where the lines cannot be placed."""
        super().__init__(unit.matched, case.policy, case.run.limits.most, {}, case.run.gold.table.edition)
        tree = case.run.gold.of_query(query, case.run.links).tree
        if tree is None or unit.unmatched is not None:
            raise InputError("the query cannot be counted")
        self.tree = tree.branch()
        self.members = place_responses(self.tree, lines, unit.matched, case.run.links)
        self.class_of = {line.index: name for name, of_class in self.members.items() for line in of_class}
        self.tally(self.tree, self.members)


class QueryCase:
    """One query of a query file with its follow-on queries: their lines of the run, in load order, and their results.

    `unit` is None where nothing was scored of it, `result` also where the query is not among those to score.
    """

    def __init__(self, base_id: str, case: Case) -> None:
        gold, unit_id = case.run.gold, case.run.gold.unit_of(base_id)
        of_unit = case.run.lines.get(case.scored.run_id, {}).get(unit_id, {})
        self.base_id = base_id
        self.query = gold.table.by_id[base_id]
        self.unit = case.units.get(unit_id)
        queries = () if self.unit is None else self.unit.queries
        self.result = next((each for each in queries if each.query.short_id == base_id), None)
        self.lines: Sequence[Response] = of_unit.get(base_id, ())
        self.lines_of_unit = sum(map(len, of_unit.values()))
        self.labels: Mapping[int, Labels] = {} if self.unit is None else self.unit.labels
        self.tallies: Sequence[Tally] = () if self.result is None else self.result.tallies
        self.near: dict[tuple[object, ...], list[tuple[int, Assessment]]] = {}
        """The assessments near the query by what lines may have in common with them."""
        self.reasons: dict[object, tuple[str, tuple[At, ...]]] = {}
        """Reasons of categories that lines share, by what they share."""
        self.rows: dict[str, tuple[Counted, ...]] = {}
        """Rows of the SF table with their projections, by name."""
        self.ranked: dict[str, tuple[Ranked | None, str | None]] = {}
        """Nodes in the rankings, by name."""
        self._case = case

    @cached_property
    def giving(self) -> Mapping[str, Sequence[Response]]:
        """The lines that give the answer which a follow-on query asks about, by its short id."""
        giving: dict[str, list[Response]] = defaultdict(list)
        for line in self.lines:
            giving[line.target].append(line)
        return giving

    @cached_property
    def tally_of(self) -> Mapping[int, Tally]:
        return {line.index: tally for tally in self.tallies for line in tally.responses}

    @cached_property
    def found(self) -> Mapping[str, Mapping[str, Sequence[Response]]]:
        """For each row the classes that were found, each with the lines that count as right for it."""
        found: dict[str, dict[str, list[Response]]] = {}
        for tally in self.tallies:
            classes = found.setdefault(tally.name, {})
            for line in tally.responses:
                name = "" if (assessment := self.assessment_of(line)) is None else assessment.value_class
                if name.rpartition(":")[0] == tally.name and RIGHT in self.labels[line.index]:
                    classes.setdefault(name, []).append(line)
        return found

    def assessment_of(self, line: Response) -> Assessment | None:
        return None if self.unit is None else self.unit.matched.get(line.index)

    @cached_property
    def accepted(self) -> Mapping[str, Sequence[Assessment]]:
        """The accepted assessments by their class, in load order."""
        accepted: dict[str, list[Assessment]] = {}
        for each in self._case.run.gold.assessed.get(self.base_id, ()):
            if each.is_accepted:
                accepted.setdefault(each.value_class, []).append(each)
        return accepted

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        return self._case.nodes.of_query(self.query.full_id)

    @cached_property
    def ranks(self) -> Mapping[str, tuple[Sequence[Rank], RankedNode]]:
        """The ranks of each node, and the node as it is ranked."""
        found: dict[str, tuple[list[Rank], RankedNode]] = {}
        for ranking in () if self.result is None else self.result.rankings:
            totals = accumulate(node.value for node in ranking.nodes)
            for rank, (node, total) in enumerate(zip(ranking.nodes, totals), 1):
                text = f"{total:.4f} / {rank} = {total / rank:.4f}"
                ranks, _ = found.setdefault(node.name, ([], node))
                ranks.append(Rank(ranking.level, rank, len(ranking.nodes), total / rank, text, ranking.score))
        return found

    @cached_property
    def takers(self) -> Mapping[str, str]:
        nodes = (node for _, node in self.ranks.values())
        return {node.mapped_class: node.name for node in nodes if node.mapped_class is not None}

    @cached_property
    def placement(self) -> Placement | None:
        """Where the lines stand; None where the query was not scored."""
        if self.result is None or self.unit is None:
            return None
        try:
            return Placement(self.result.query, self.lines, self.unit, self._case)
        except InputError:
            return None


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
        self.why_stopped = None if self.fatal is None else f"scoring stopped: {self.fatal}"
        self.units = {unit.id: unit for unit in scored.result.units}
        self.nodes = Nodes(self.run.links.nodes, self.run.limits.most)
        self._queries: dict[str, QueryCase] = {}

    def query(self, base_id: str) -> QueryCase:
        if base_id not in self._queries:
            self._queries[base_id] = QueryCase(base_id, self)
        return self._queries[base_id]

    @cached_property
    def files(self) -> RunFiles:
        return files_of(self.run)

    def lines(self) -> Iterator[AnyLine]:
        """Every line of the run's files in order; those of other runs in the same call are left out."""
        for file in self.files.files.values():
            yield from (line for line in file.lines() if not isinstance(line, Response) or self.is_of_run(line))

    @cached_property
    def problems(self) -> Mapping[Place, Sequence[Problem]]:
        """The problems that were met at each line."""
        found: dict[Place, list[Problem]] = defaultdict(list)
        for log in (self.run.problems, *(unit.problems for unit in self.units.values())):
            for problem in log.in_order_met():
                for place in problem.places:
                    if place is not None:
                        found[place].append(problem)
        return found

    @cached_property
    def first_lines(self) -> Mapping[tuple[str, str], int]:
        """The number of the first line of a file that has a text."""
        links = self.run.links
        first: dict[tuple[str, str], int] = {}
        for line in chain[AnyLine](links.responses, links.skipped, links.unread):
            first[line.file, line.text] = min(first.get((line.file, line.text), line.number), line.number)
        return first

    @cached_property
    def measures(self) -> Sequence[Measure]:
        """The measure that is asked about, and average precision. Only of a run with scores."""
        assert self.measure is not None
        ranked = [each for each in self.scored.result.measures if not each.average and each.hop is None]
        return list(dict.fromkeys((self.measure, *ranked)))

    @cached_property
    def effects(self) -> Effects:
        return Effects(self.scored, self.measures)

    def is_of_run(self, line: Response) -> bool:
        return line.run_id == self.scored.run_id

    def labels_of(self, line: Response) -> Labels:
        """The labels of a line; none where it was not scored or belongs to another run."""
        return self.query(line.query.base_id).labels.get(line.index, ()) if self.is_of_run(line) else ()

    def category_of(self, line: Response) -> str | None:
        """The category of a scored line as policies name it."""
        labels = self.labels_of(line)
        return category_of(labels, self.policy) if labels else None
