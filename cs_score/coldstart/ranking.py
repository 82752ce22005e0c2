"""Average precision: nodes, their confidences, the class each is mapped to, its value, the report (specification 9).

The score follows the graded average precision of the 2017 task: a ranked node adds V, the share of its class's
justifications that it gives, instead of 0 or 1.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from cs_score.base.records import Record
from cs_score.coldstart.editions import LATEST, Edition
from cs_score.coldstart.judging import REDUNDANT, Labels, Matched
from cs_score.coldstart.lines import CORRECT, Assessment, Response, best_first, node_confidence
from cs_score.coldstart.options import IGNORE, WRONG
from cs_score.coldstart.projection import ALL_LEVELS, MACRO, by_ldc_query, left_sum, row_order
from cs_score.coldstart.queries import Query, QuerySet
from cs_score.measures.formulas import divide
from cs_score.measures.registry import RANKED


class AssessedClasses:
    """What the assessments of one query say of its classes."""

    def __init__(self, assessments: Iterable[Assessment], edition: Edition = LATEST) -> None:
        self.edition = edition
        self._members: dict[str, list[Assessment]] = defaultdict(list)
        for assessment in assessments:
            self._members[assessment.value_class].append(assessment)
        self._documents: dict[str, int] = {}
        names = sorted([name for name, members in self._members.items() if members[0].is_accepted])
        by_hop: dict[int, list[str]] = {0: [], 1: []}
        for name in names:
            by_hop.setdefault(name.count(":") - 1, []).append(name)
        self.deeper_levels = tuple([str(hop) for hop in sorted(by_hop) if hop > 1])
        """The levels below the second hop that have a class, in ascending order."""
        self._by_level = {str(hop): tuple(of_hop) for hop, of_hop in by_hop.items()} | {ALL_LEVELS: tuple(names)}

    def documents(self, name: str) -> int:
        documents = self._documents.get(name)
        if documents is None:
            documents = self._documents[name] = len({assessment.docid for assessment in self._members[name]})
        return documents

    def of_level(self, level: str) -> tuple[str, ...]:
        return self._by_level[level]

    def ground_truth(self, single: Sequence[bool | None]) -> dict[str, int | None]:
        """The number of answers to be found by level (specification 9.7).

        `single` tells for each hop whether its slot takes one value; None: the slot is unknown, and so is the number.
        Below the second hop each class counts, but not for `ALL`.
        """
        if self.edition.ranks_all_levels:
            return self._ground_truth_by_slot(single)
        first: int | None = len(self.of_level("0"))
        if single and (single[0] is None or (single[0] and first)):
            first = None if single[0] is None else 1
        second: int | None = len(self.of_level("1"))
        if len(single) > 1 and (single[1] is None or (single[1] and second)):
            second = None if single[1] is None else first
        both = first if len(single) == 1 and not second else (first or 0) + (second or 0)
        deeper = {level: len(self.of_level(level)) for level in self.deeper_levels}
        return {"0": first, "1": second, **deeper, ALL_LEVELS: both}

    def _ground_truth_by_slot(self, single: Sequence[bool | None]) -> dict[str, int | None]:
        """One answer for a slot that takes one value, whether the pool has one or not (edition 2017.1.5)."""
        truth: dict[str, int | None] = {level: len(self.of_level(level)) for level in ("0", "1", *self.deeper_levels)}
        if not any(single[:2]):
            return truth | {ALL_LEVELS: sum(count or 0 for count in truth.values())}
        truth |= {level: 1 for level, takes_one in zip("01", single) if takes_one}
        return truth | {ALL_LEVELS: (truth["0"] or 0) + (truth["1"] or 0)}


_number: Final = attrgetter("number")
_index: Final = attrgetter("index")


class Node(Record):
    """A node before it is ranked: its level (0 or 1), the node above it, its lines, its own confidence, its first line.

    The lines are in load order. At level 0 `parent` is the node itself. The confidence does not have the parent's in it
    yet.
    """

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
            lines = self._lines_of[name]
            components = name.split(":", 3)
            parent = name if len(components) == 2 else f"{query_id}:{components[1]}"
            if len(components) > 2 and components[2] not in ("", "0"):
                child = name if len(components) == 3 else f"{parent}:{components[2]}"
                nodes[child] = node_of(child, 1, parent, lines, self._most)
            else:
                nodes[parent] = node_of(parent, 0, parent, lines, self._most)
        from_children: dict[str, list[Response]] = {}
        for node in nodes.values():
            if node.parent not in nodes:
                from_children.setdefault(node.parent, []).extend(node.lines)
        for parent, of_children in from_children.items():
            nodes[parent] = node_of(parent, 0, parent, sorted(of_children, key=_index), self._most)
        return nodes


def node_of(name: str, level: int, parent: str, lines: Sequence[Response], most: int | None) -> Node:
    """A node from its lines, in load order; `most`: how many justifications count, None for all."""
    if len(lines) == 1:  # as most nodes are
        (first,) = lines
        return Node(name, level, parent, lines, node_confidence((first.confidence,), most), first)
    confidence = node_confidence([line.confidence for line in lines], most)
    return Node(name, level, parent, lines, confidence, min(lines, key=_number))


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
    if classes.edition.ranks_all_levels:
        found = {level for level, nodes_of_level in of_level.items() if nodes_of_level or classes.of_level(level)}
        takes_one = {level for level, is_single in zip("01", single) if is_single}
        kept = found | {"0", "1", ALL_LEVELS} if takes_one else found
        of_level = {level: nodes_of_level for level, nodes_of_level in of_level.items() if level in kept}
        truth |= dict.fromkeys({"0", "1"} - found - takes_one)
    elif len(query.slots) <= 1 and not truth["1"] and not of_level["1"]:
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
        if assessment is not None and can_find(assessment, labels[line.index], classes.edition):
            useful.setdefault(assessment.value_class, []).append(line)
    return [
        (
            _value(of_class, classes.documents(name), most, classes.edition),
            min([line.number for line in of_class]),
            name,
        )
        for name, of_class in useful.items()
        if name not in taken
    ]


def can_find(assessment: Assessment, labels: Labels, edition: Edition) -> bool:
    """Whether a line with this assessment and these labels can find a class (specification 9.4)."""
    if edition.ranks_correct_lines:
        return assessment.judgment == CORRECT
    return assessment.is_accepted and is_useful(labels)


@functools.cache
def is_useful(labels: Labels) -> bool:
    """Whether a line with these labels can find a class, if its assessment is accepted (specification 9.4)."""
    return WRONG not in labels and (IGNORE not in labels or REDUNDANT in labels)


def _value(lines: Sequence[Response], documents: int, most: int | None, edition: Edition) -> float:
    if len(lines) == 1:
        return divide(1, min(documents, most or documents))
    kept = lines if most is None or len(lines) <= most else best_first(lines)[:most]
    asked = len({line.query.short_id for line in kept})
    denominator = documents if most is None else min(documents, most * asked)
    return divide(len(lines if edition.ranks_correct_lines else kept), denominator)


class ApRow(NamedTuple):
    """One row of the AP report; `ground_truth` decides whether it counts in the divisor of the macro average.

    `scores` are those of the ranking's measures, in the order of their table.
    """

    name: str
    level: str
    scores: tuple[float, ...]
    ground_truth: int

    @property
    def score(self) -> float:
        return self.scores[0]


class ApTable(Record):
    """The rows of one variant of the AP report, and the macro average of each level."""

    rows: tuple[ApRow, ...]
    macro: tuple[ApRow, ...]


def slot_filling_ap(rankings: Iterable[Ranking]) -> list[ApRow]:
    return ap_rows_in_printing_order(
        ApRow(ranking.query, ranking.level, ranking.scores, ranking.ground_truth or 0) for ranking in rankings
    )


def ldc_mean_ap(table: ApTable, queries: QuerySet) -> ApTable:
    """The LDC-MEAN variant: mean over the entry points that have the row; ground truth is the largest of theirs."""
    rows_of: dict[str, list[ApRow]] = defaultdict(list)
    for row in table.rows:
        rows_of[row.name.rpartition("_")[2]].append(row)
    means: list[ApRow] = []
    for full_id, entry_points in by_ldc_query(rows_of, queries):
        members: dict[str, list[ApRow]] = {}
        for _, rows in sorted(entry_points):
            for row in rows:
                members.setdefault(row.level, []).append(row)
        means += (_mean_ap_row(full_id, level, of_level) for level, of_level in members.items())
    return averaged_ap_table(ap_rows_in_printing_order(means), queries.edition)


def _mean_ap_row(name: str, level: str, members: Sequence[ApRow]) -> ApRow:
    if len(members) == 1:  # most LDC queries have one entry point
        return ApRow(name, level, members[0].scores, members[0].ground_truth)
    return ApRow(name, level, _means(members, len(members)), max(row.ground_truth for row in members))


def _means(rows: Sequence[ApRow], divisor: int) -> tuple[float, ...]:
    return tuple(divide(left_sum(scores), divisor) for scores in zip(*(row.scores for row in rows)))


def ap_rows_in_printing_order(rows: Iterable[ApRow]) -> list[ApRow]:
    return sorted(rows, key=lambda row: (row_order(row.name), row.level))


def averaged_ap_table(ordered: Iterable[ApRow], edition: Edition) -> ApTable:
    """Rows in printing order with their macro averages: sum / number of rows that have something to find.

    Where an edition ranks all levels, the rows of each count for ALL as well, those of ALL twice.
    """
    rows = tuple(ordered)
    macro: list[ApRow] = []
    for level in sorted({row.level for row in rows}):
        members = [row for row in rows if row.level == level]
        if edition.ranks_all_levels and level == ALL_LEVELS:
            members = [row for row in rows for _ in range(1 + (row.level == ALL_LEVELS))]
        divisor = sum(row.ground_truth > 0 for row in members)
        macro.append(ApRow(MACRO, level, _means(members, divisor), 0))
    return ApTable(rows, tuple(macro))
