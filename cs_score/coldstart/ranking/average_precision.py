"""Average precision: the class each node is mapped to, and what that is worth.

Source: specification, section 9. The score follows the graded average precision of the 2017 task: a ranked node adds
V, the share of its class's justifications that it gives, instead of 0 or 1.
"""

from __future__ import annotations

import functools
from collections.abc import Container, Iterable, Mapping, Sequence

from cs_score.base.records import Record
from cs_score.coldstart.counting.projection import ALL_LEVELS
from cs_score.coldstart.judging.labels import REDUNDANT, Labels
from cs_score.coldstart.judging.matching import Matched
from cs_score.coldstart.lines.justifications import best_first
from cs_score.coldstart.lines.records import Response
from cs_score.coldstart.options import IGNORE, WRONG
from cs_score.coldstart.queries.query_set import Query
from cs_score.coldstart.ranking.classes import AssessedClasses
from cs_score.coldstart.ranking.nodes import Node, Nodes
from cs_score.measures.formulas import divide
from cs_score.measures.registry import RANKED


class RankedNode(Record):
    """A node in the ranking of one query.

    `value` (V) is the share of the class's justifications, at least 0; it exceeds 1 where the node has several lines
    from one document. `mapped_class` is None where no class was free. `first` is the node's first line.
    """

    name: str
    confidence: float
    mapped_class: str | None
    value: float
    first: Response
    level: int


class Ranking(Record):
    """Average precision of one query at one level (a hop, or `ALL`).

    `scores` are those of the ranking's measures, in the order of their table. `ground_truth` is the number that they
    are divided by, None where the slot is unknown; `classes` are the equivalence classes of the level; their number
    differs from it for single-valued slots. `nodes` are in rank order.
    """

    query: str
    level: str
    scores: tuple[float, ...]
    ground_truth: int | None
    classes: tuple[str, ...]
    nodes: tuple[RankedNode, ...]

    @property
    def score(self) -> float:
        """Average precision."""
        return self.scores[0]

    @property
    def is_above_one(self) -> bool:
        """Whether the run names more than there is to be found, which the task does not allow."""
        return self.score > 1.0


def rank_query(
    query: Query,
    single: Sequence[bool | None],
    nodes: Nodes,
    classes: AssessedClasses,
    matched: Matched,
    labels: Mapping[int, Labels],
    most: int | None,
) -> list[Ranking]:
    """The rankings of one query: level 0, level 1 where there is one, deeper ones that have a class, and `ALL`.

    Nodes are of level 0 or 1, so that deeper levels rank none (specification 9.2).

    `single`: per hop, whether the slot takes one value, None where it is unknown; `matched`, `labels`: assessment and
    labels of each response by index; `most`: how many justifications of a node count, None for all.
    """
    ranked = _ranked_nodes(nodes.of_query(query.full_id), classes, matched, labels, most)
    truth = classes.ground_truth(single)
    of_level = {
        "0": tuple(node for node in ranked if node.level == 0),
        "1": tuple(node for node in ranked if node.level == 1),
        **dict.fromkeys(classes.deeper_levels, ()),
        ALL_LEVELS: ranked,
    }
    if len(query.slots) <= 1 and not truth["1"] and not of_level["1"]:
        del of_level["1"]
    return [
        Ranking(
            query.full_id,
            level,
            ranking_scores([node.value for node in nodes_of_level], truth[level]),
            truth[level],
            classes.of_level(level),
            nodes_of_level,
        )
        for level, nodes_of_level in of_level.items()
    ]


def _ranked_nodes(
    of_query: Mapping[str, Node],
    classes: AssessedClasses,
    matched: Matched,
    labels: Mapping[int, Labels],
    most: int | None,
) -> tuple[RankedNode, ...]:
    """The nodes of a query in rank order; those of the first hop choose their classes first (specification 9.3)."""
    by_rank = [
        (node.own_confidence * of_query[node.parent].own_confidence if node.level else node.own_confidence, node)
        for node in of_query.values()
    ]
    by_rank.sort(key=lambda item: (-item[0], item[1].first.number, item[1].first.index))
    taken: set[str] = set()
    ranked_of: dict[str, RankedNode] = {}
    for level in (0, 1):
        for confidence, node in by_rank:
            if node.level == level:
                mapped_class, value = _best_class(node.lines, taken, classes, matched, labels, most)
                if level and not ranked_of[node.parent].value:
                    # Below a node without value it has none, but it keeps its class (9.6).
                    value = 0.0
                ranked_of[node.name] = RankedNode(node.name, confidence, mapped_class, value, node.first, level)
    return tuple(ranked_of[node.name] for _, node in by_rank)


def ranking_scores(values: Sequence[float], ground_truth: int | None) -> tuple[float, ...]:
    """What the table of measures computes of a ranking, from the worth of its nodes in rank order."""
    return tuple(of_ranking(values, ground_truth) for of_ranking in RANKED.values())


def _best_class(
    lines: Iterable[Response],
    taken: set[str],
    classes: AssessedClasses,
    matched: Matched,
    labels: Mapping[int, Labels],
    most: int | None,
) -> tuple[str | None, float]:
    """The best class still free for a node with these lines, which it then takes, and its V (specification 9.4)."""
    free = candidates(lines, taken, classes, matched, labels, most)
    if not free:
        return None, 0.0
    value, _, name = max(free)
    taken.add(name)
    return name, value


def candidates(
    lines: Iterable[Response],
    taken: Container[str],
    classes: AssessedClasses,
    matched: Matched,
    labels: Mapping[int, Labels],
    most: int | None,
) -> list[tuple[float, int, str]]:
    """What a node with these lines may be mapped to: V, smallest number of a line, and name of each class not taken.

    The greatest of them is the best one (specification 9.4).
    """
    useful: dict[str, list[Response]] = {}
    for line in lines:
        assessment = matched.get(line.index)
        if assessment is not None and assessment.is_accepted and is_useful(labels[line.index]):
            useful.setdefault(assessment.value_class, []).append(line)
    return [
        (_value(of_class, classes.documents(name), most), min([line.number for line in of_class]), name)
        for name, of_class in useful.items()
        if name not in taken
    ]


@functools.cache
def is_useful(labels: Labels) -> bool:
    """Whether a line with these labels can find a class, if its assessment is accepted (specification 9.4)."""
    return WRONG not in labels and (IGNORE not in labels or REDUNDANT in labels)


def _value(lines: Sequence[Response], documents: int, most: int | None) -> float:
    """V of a node for one class, from its useful lines of that class (specification 9.5)."""
    if len(lines) == 1:
        return divide(1, min(documents, most or documents))
    kept = lines if most is None or len(lines) <= most else best_first(lines)[:most]
    asked = len({line.query.short_id for line in kept})
    denominator = documents if most is None else min(documents, most * asked)
    return divide(len(kept), denominator)
