"""Average precision: nodes, their confidences, the class each is mapped to, its value (rule average-precision).

The score follows the graded average precision of the 2017 task: a ranked node adds V, the share of its class's
justifications that it gives, instead of 0 or 1.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from cs_score.base.records import Record
from cs_score.coldstart.judging import MOST_TRIED, REDUNDANT, Choice, Labels, Matched
from cs_score.coldstart.lines import CORRECT, Assessment, Response, best_first, node_confidence
from cs_score.coldstart.options import IGNORE, LATEST, WRONG, Edition
from cs_score.coldstart.queries import Query, find_predicate
from cs_score.measures.registry import ALL_HOPS, RANKED, divide


class AssessedClasses:
    """The classes that the assessments of one query have: `by_level` are their names by hop, and of `ALL` hops."""

    def __init__(self, assessments: Iterable[Assessment], edition: Edition = LATEST) -> None:
        self.edition = edition
        self._members: dict[str, list[Assessment]] = defaultdict(list)
        for assessment in assessments:
            self._members[assessment.value_class].append(assessment)
        names = sorted([name for name, members in self._members.items() if members[0].is_accepted])
        by_hop: dict[int, list[str]] = {0: [], 1: []}
        for name in names:
            by_hop.setdefault(name.count(":") - 1, []).append(name)
        self.by_level = {str(hop): tuple(of_hop) for hop, of_hop in sorted(by_hop.items())} | {ALL_HOPS: tuple(names)}
        self._documents: dict[str, int] = {}

    def documents(self, name: str) -> int:
        """In how many documents a class was found."""
        if name not in self._documents:
            self._documents[name] = len({assessment.docid for assessment in self._members[name]})
        return self._documents[name]

    def ground_truth(self, single: Sequence[bool | None]) -> dict[str, int | None]:
        """The number of answers to be found by level (rule average-precision); below the second hop not for `ALL`.
        `single`: for each hop, whether its slot takes one value; None: the slot is unknown, and so is the number.
        """
        truth: dict[str, int | None] = {level: len(names) for level, names in self.by_level.items()}
        if self.edition.ranks_all_levels:  # a slot that takes one value has one answer, whether the pool has it or not
            if any(single[:2]):
                truth |= {level: 1 for level, takes_one in zip("01", single) if takes_one}
                truth[ALL_HOPS] = (truth["0"] or 0) + (truth["1"] or 0)
            return truth
        for hop, (level, takes_one) in enumerate(zip("01", single)):
            if takes_one is None:
                truth[level] = None
            elif takes_one and truth[level]:  # one in all at the first hop, one for each of these at the second
                truth[level] = truth["0"] if hop else 1
        first, second = truth["0"], truth["1"]
        return truth | {ALL_HOPS: first if len(single) == 1 and not second else (first or 0) + (second or 0)}


class Node(Record):
    """A node before it is ranked: level, node above (itself at level 0), lines in load order, its confidence alone."""

    name: str
    level: int
    parent: str
    lines: Sequence[Response]
    own_confidence: float
    first: Response


class Nodes:
    def __init__(self, lines_of: Mapping[str, Sequence[Response]], most: int | None) -> None:
        """`lines_of`: the lines of every node by FQ node id; `most`: how many justifications count, None for all."""
        self._lines_of = lines_of
        self._most = most
        self._of_query: dict[str, list[str]] = defaultdict(list)
        for name in lines_of:
            query, colon, _ = name.partition(":")
            if colon:
                self._of_query[query].append(name)

    def of_query(self, query_id: str) -> dict[str, Node]:
        """The nodes of a query by FQ node id; a node that only has children gets their lines."""
        nodes: dict[str, Node] = {}
        for name in self._of_query.get(query_id, ()):
            _, first, second, *_ = (*name.split(":", 3), "0")
            parent = f"{query_id}:{first}"
            level, own = (0, parent) if second in ("", "0") else (1, f"{parent}:{second}")
            nodes[own] = self._node(own, level, parent, self._lines_of[name])
        from_children: dict[str, list[Response]] = {}
        for node in nodes.values():
            if node.parent not in nodes:
                from_children.setdefault(node.parent, []).extend(node.lines)
        for parent, of_children in from_children.items():
            nodes[parent] = self._node(parent, 0, parent, sorted(of_children, key=attrgetter("index")))
        return nodes

    def _node(self, name: str, level: int, parent: str, lines: Sequence[Response]) -> Node:
        confidence = node_confidence([line.confidence for line in lines], self._most)
        first = lines[0] if len(lines) == 1 else min(lines, key=attrgetter("number"))
        return Node(name, level, parent, lines, confidence, first)


class RankedNode(Record):
    """A node in the ranking of one query. `value` (V) is the share of the class's justifications, at least 0; it
    exceeds 1 where several lines come from one document. `mapped_class` is None where no class was free.
    """

    name: str
    confidence: float
    mapped_class: str | None
    value: float
    first: Response
    level: int


class Ranking(Record):
    """Average precision of one query at one level (a hop, or `ALL`): `scores` by the ranking's measures, divided by
    `ground_truth`, which is not the number of `classes` for single-valued slots and None for unknown ones; `nodes` by
    rank.
    """

    query: str
    level: str
    scores: tuple[float, ...]
    ground_truth: int | None
    classes: tuple[str, ...]
    nodes: tuple[RankedNode, ...]

    @property
    def score(self) -> float:
        return self.scores[0]


class Ranker:
    """Ranks the nodes of one query by assessment and labels of each response; `most` justifications of a node count."""

    def __init__(
        self, classes: AssessedClasses, matched: Matched, labels: Mapping[int, Labels], most: int | None
    ) -> None:
        self._classes, self._matched, self._labels, self._most = classes, matched, labels, most

    def rankings(self, query: Query, of_query: Mapping[str, Node]) -> list[Ranking]:
        """The rankings of level 0, level 1 where there is one, deeper ones that have a class, and `ALL`."""
        classes, ranked = self._classes, self._ranked_nodes(of_query)
        single = [None if predicate is None else predicate.single for predicate in map(find_predicate, query.slots)]
        truth = classes.ground_truth(single)
        of_hop = [tuple([node for node in ranked if node.level == hop]) for hop in (0, 1)]
        of_level = {**dict.fromkeys(classes.by_level, ()), **dict(zip("01", of_hop)), ALL_HOPS: ranked}
        if classes.edition.ranks_all_levels:
            found = {level for level, nodes in of_level.items() if nodes or classes.by_level[level]}
            takes_one = {level for level, is_single in zip("01", single) if is_single}
            kept = found | {"0", "1", ALL_HOPS} if takes_one else found
            of_level = {level: nodes for level, nodes in of_level.items() if level in kept}
            truth |= dict.fromkeys({"0", "1"} - found - takes_one)
        elif len(query.slots) <= 1 and not truth["1"] and not of_level["1"]:
            del of_level["1"]
        rankings: list[Ranking] = []
        for level, nodes in of_level.items():
            values, to_find = [node.value for node in nodes], truth[level]
            scores = tuple(of_ranking(values, to_find) for of_ranking in RANKED.values())
            rankings.append(Ranking(query.full_id, level, scores, to_find, classes.by_level[level], nodes))
        return rankings

    def _ranked_nodes(self, of_query: Mapping[str, Node]) -> tuple[RankedNode, ...]:
        by_rank = [
            (node.own_confidence * of_query[node.parent].own_confidence if node.level else node.own_confidence, node)
            for node in of_query.values()
        ]
        by_rank.sort(key=lambda item: (-item[0], item[1].first.number, item[1].first.index))
        taken: set[str] = set()
        ranked_of: dict[str, RankedNode] = {}
        for confidence, node in sorted(by_rank, key=lambda item: item[1].level):  # those of a level stay in order
            # V, smallest number of a line, name of each class that the node may be mapped to: the greatest is the best.
            free = [
                (divide(*self.share(found, self._classes.documents(name))), min([line.number for line in found]), name)
                for name, found in self.useful(node.lines).items()
                if name not in taken
            ]
            value, _, mapped_class = max(free) if free else (0.0, 0, None)
            if mapped_class is not None:
                taken.add(mapped_class)
            if node.level and not ranked_of[node.parent].value:
                value = 0.0  # below a node without value it has none, but it keeps its class
            ranked_of[node.name] = RankedNode(node.name, confidence, mapped_class, value, node.first, node.level)
        return tuple(ranked_of[node.name] for _, node in by_rank)

    def useful(self, lines: Iterable[Response]) -> dict[str, list[Response]]:
        """The lines by which a node can find classes, by class."""
        useful: dict[str, list[Response]] = {}
        for line in lines:
            assessment = self._matched.get(line.index)
            if assessment is not None and can_find(assessment, self._labels[line.index], self._classes.edition):
                useful.setdefault(assessment.value_class, []).append(line)
        return useful

    def share(self, lines: Sequence[Response], documents: int) -> tuple[int, int]:
        """V of useful lines as a quotient; their class was found in so many documents."""
        most = self._most
        if len(lines) == 1:
            return 1, min(documents, most or documents)
        kept = lines if most is None or len(lines) <= most else best_first(lines)[:most]
        asked = len({line.query.short_id for line in kept})
        return (
            len(lines if self._classes.edition.ranks_correct_lines else kept),
            documents if most is None else min(documents, most * asked),
        )


def can_find(assessment: Assessment, labels: Labels, edition: Edition) -> bool:
    """Whether a line with this assessment and these labels can find a class (rule node-classes)."""
    if edition.ranks_correct_lines:
        return assessment.judgment == CORRECT
    return assessment.is_accepted and WRONG not in labels and (IGNORE not in labels or REDUNDANT in labels)


def outcomes_of_labels(
    choices: Sequence[Choice], matched: Matched, labels: Mapping[int, Labels], edition: Edition, nodes: int
) -> list[dict[int, Labels]] | None:
    """Other labels that hash order may give responses, as far as they change which of them can find a class; None where
    rankings of so many `nodes` are too many.
    """
    if not all(choice.others for choice in choices):
        return None
    by_row: list[list[Mapping[int, Labels]]] = []
    for choice in choices:
        by_useful: dict[frozenset[int], Mapping[int, Labels]] = {}
        assessed = [(index, matched[index]) for index in choice.others[0].labels if index in matched]
        for option in (labels, *(other.labels for other in choice.others)):
            useful = frozenset(index for index, found in assessed if can_find(found, option[index], edition))
            by_useful.setdefault(useful, option)
        by_row.append(list(by_useful.values()))
    rankings = math.prod(map(len, by_row))
    if rankings > 1 and rankings * nodes > MOST_TRIED:
        return None
    outcomes = []
    for chosen in itertools.islice(itertools.product(*by_row), 1, None):  # the first one is ours
        changed = dict(labels)
        for option in chosen:
            if option is not labels:
                changed.update(option)
        outcomes.append(changed)
    return outcomes
