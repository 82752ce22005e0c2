"""Explain the arithmetic of scores in words: of rows of tables, and of nodes in rankings. A node has the lines of the
run that are about the same entity. It is ranked by its confidence, and has a value if it finds the class that it is
mapped to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from cs_score.base.records import asdict
from cs_score.coldstart.judging import Counts
from cs_score.coldstart.lines import Response, sum_from_left
from cs_score.coldstart.ranking import AssessedClasses, Node, RankedNode, Ranker, Ranking
from cs_score.coldstart.result import QueryResult, ScoreRow
from cs_score.measures import divide
from cs_score.verbs.explain.run_explanation.document import Counted, Rank, RankStep

# ---- Rows of tables


def explain_counts(row: ScoreRow, table: str, rule: str) -> Counted:
    """Return the explanation of a row of counts: its precision, recall and F1 with their arithmetic.

    `table` is the name of the row's table, and `rule` the name of the rule by which its lines are counted.
    """
    counts = row.counts or Counts()
    precision, recall, f1 = row.scores
    arithmetic = (
        _quotient_in_words("P", counts.right, _answered_in_words(counts), precision, is_defined=bool(counts.answered)),
        _quotient_in_words("R", counts.right, str(counts.ground_truth), recall, is_defined=bool(counts.ground_truth)),
        _f1_in_words(precision, recall, f1),
    )
    return Counted(
        rule=rule,
        table=table,
        row=row.name,
        hop=row.level,
        counts=asdict(counts),
        precision=precision,
        recall=recall,
        f1=f1,
        arithmetic=arithmetic,
    )


def _answered_in_words(counts: Counts) -> str:
    """Return the number of answered lines as a sum, such as `(3 + 1)` for three right lines and one wrong line.

    If some lines count as neither right nor wrong, or as both, this sum is not the number of answered lines. In this
    case, the result is a difference such as `(5 - 1)`: the number of submitted lines minus the number of ignored lines.
    """
    if counts.right + counts.wrong == counts.answered:
        return f"({counts.right} + {counts.wrong})"
    return f"({counts.submitted} - {counts.ignored})"


def _quotient_in_words(score: str, right: int, denominator: str, value: float, *, is_defined: bool) -> str:
    """Return the arithmetic of precision or recall: `P = 3 / (3 + 1) = 0.7500`; a quotient by 0 counts as 0."""
    quotient = f"{score} = {right} / {denominator}"
    return f"{quotient} = {value:.4f}" if is_defined else f"{quotient}, which counts as 0"


def _f1_in_words(precision: float, recall: float, f1: float) -> str:
    """Return the arithmetic of F1: `F1 = 2 * 0.7500 * 0.5000 / (0.7500 + 0.5000) = 0.6000`."""
    if not f1:
        return "F1 = 0, since P and R are 0"
    return f"F1 = 2 * {precision:.4f} * {recall:.4f} / ({precision:.4f} + {recall:.4f}) = {f1:.4f}"


def explain_mean(name: str, hop: str, members: Sequence[ScoreRow]) -> Counted:
    """Return the explanation of a row of LDC-MEAN: the means of the scores of its `members`, with their arithmetic.

    `name` is the name of the row, and `hop` is its hop or `ALL`. The members are the rows of the entry points. The
    result has no counts, because the row is a mean of scores and does not count lines itself.
    """
    # The scores of a row are its precision, its recall and its F1.
    precision = _explain_mean_of([row.scores[0] for row in members], "P")
    recall = _explain_mean_of([row.scores[1] for row in members], "R")
    f1 = _explain_mean_of([row.scores[2] for row in members], "F1")
    return Counted(
        rule="ldc-mean",
        table="LDC-MEAN",
        row=name,
        hop=hop,
        counts={},
        precision=precision.value,
        recall=recall.value,
        f1=f1.value,
        arithmetic=(precision.arithmetic, recall.arithmetic, f1.arithmetic),
    )


class _Mean(NamedTuple):
    """The mean of scores, and its arithmetic: `P = (0.5000 + 1.0000) / 2 = 0.7500`."""

    value: float
    arithmetic: str


def _explain_mean_of(values: Sequence[float], score_name: str) -> _Mean:
    """Return the mean of the values of a score (`P`, `R` or `F1`) with its arithmetic."""
    mean = sum_from_left(values) / len(values)
    terms = " + ".join([f"{value:.4f}" for value in values])
    return _Mean(mean, f"{score_name} = ({terms}) / {len(values)} = {mean:.4f}")


# ---- Nodes in rankings


class NodeExplainer:
    """Explains the nodes of a query in its rankings: their confidence, class, value and rank."""

    def __init__(self, result: QueryResult, node_by_name: Mapping[str, Node], ranker: Ranker) -> None:
        """Collect the ranked nodes of a query from the rankings of its result.

        `node_by_name` holds the nodes of the query and their lines, by full id, such as `CS14_0001:E1`. `ranker` is the
        ranker that ranked them.
        """
        self._result = result
        self._node_by_name = node_by_name
        self._ranker = ranker
        self._ranked_node_by_name: dict[str, RankedNode] = {}
        for ranking in result.rankings:
            self._ranked_node_by_name.update({node.name: node for node in ranking.nodes})
        self._node_name_by_class: dict[str, str] = {}
        for ranked_node in self._ranked_node_by_name.values():
            if ranked_node.mapped_class is not None:  # a node may have found no class
                self._node_name_by_class[ranked_node.mapped_class] = ranked_node.name

    def explain_all(self, classes: AssessedClasses, most_justifications: int | None) -> dict[str, RankStep]:
        """Return a dictionary with the explanation of every ranked node, by its full node id.

        `classes` are the classes of the query in the pool. Only the first `most_justifications` lines of a node count;
        None means that all count.
        """
        ranks_by_name = self._ranks_by_name()
        explained: dict[str, RankStep] = {}
        for name, ranks in ranks_by_name.items():
            placed_node = self._placed_node(name)
            explained[name] = RankStep(
                rule="average-precision",
                node=name,
                confidence=placed_node.ranked_node.confidence,
                confidence_arithmetic=confidence_in_words(placed_node.node, self._node_by_name, most_justifications),
                mapped_class=placed_node.ranked_node.mapped_class,
                node_by_taken_class=self._taken_classes(placed_node),
                value=placed_node.ranked_node.value,
                value_arithmetic=self._value_in_words(placed_node, classes, most_justifications),
                ranks=tuple(ranks),
            )
        return explained

    def _placed_node(self, name: str) -> _PlacedNode:
        """Return the node with the full id `name`, with its place in the rankings and its useful lines."""
        node = self._node_by_name[name]
        return _PlacedNode(node, self._ranked_node_by_name[name], self._ranker.useful_lines(node.lines))

    def _ranks_by_name(self) -> dict[str, list[Rank]]:
        """Return for each node its rank in the ranking of each level, with the precision there."""
        ranks_by_name: dict[str, list[Rank]] = defaultdict(list)
        for ranking in self._result.rankings:
            for node, rank in zip(ranking.nodes, _ranks_in(ranking)):
                ranks_by_name[node.name].append(rank)
        return ranks_by_name

    def _taken_classes(self, placed_node: _PlacedNode) -> dict[str, str]:
        """Return the classes of a node's lines that are mapped to other nodes, each with the name of the other node.

        For example, the result is `{"CS14_0001:2": "CS14_0001:E1"}` if the class `CS14_0001:2` is mapped to the node
        `E1`. Only one node is mapped to each class, and the class does not count as found by any other node.
        """
        node_by_taken_class: dict[str, str] = {}
        for class_name in placed_node.lines_by_class:
            if class_name != placed_node.ranked_node.mapped_class and class_name in self._node_name_by_class:
                node_by_taken_class[class_name] = self._node_name_by_class[class_name]
        return node_by_taken_class

    def _value_in_words(
        self, placed_node: _PlacedNode, classes: AssessedClasses, most_justifications: int | None
    ) -> str:
        """Return the value V of a node with its arithmetic: `V = 1 / 2 = 0.5000 (1 useful line, 2 documents ...)`.

        V is the number of documents in which the node has a useful line, divided by the number of documents of the
        node's class. A line is useful if it is right and the ranker counts it; at most one line counts for each
        document. `classes` are the classes of the query. At most `most_justifications` lines of a node count; None
        means that there is no limit.
        """
        mapped_class = placed_node.ranked_node.mapped_class
        if mapped_class is None or not placed_node.lines_by_class:
            return _why_without_value(placed_node, classes)
        document_count = classes.document_count(mapped_class)
        line_count, denominator = self._ranker.value_fraction(placed_node.lines_by_class[mapped_class], document_count)
        value = divide(line_count, denominator)
        lines = "1 useful line" if line_count == 1 else f"{line_count} useful lines"
        documents = _documents_in_words(document_count, denominator, most_justifications)
        text = f"V = {line_count} / {denominator} = {value:.4f} ({lines}, {documents})"
        # The value of a node counts only below a parent with a value. Otherwise the ranking has 0 in place of this
        # value.
        loses_value = bool(value) and not placed_node.ranked_node.value and bool(placed_node.node.hop)
        if loses_value:
            text += f"; but its parent, {placed_node.node.parent}, has V = 0, so that V = 0 here"
        return text


class _PlacedNode(NamedTuple):
    """A node with its place in a ranking, and its useful lines by the class that they could find.

    A line is useful if its answer counts as right, or is the duplicate of such an answer.
    """

    node: Node
    ranked_node: RankedNode
    lines_by_class: Mapping[str, Sequence[Response]]


def _ranks_in(ranking: Ranking) -> list[Rank]:
    """Return the rank of each node of a ranking, with the precision down to it: the mean of the nodes' values."""
    ranks = []
    value_so_far = 0.0
    for number, node in enumerate(ranking.nodes, 1):
        value_so_far += node.value
        precision = value_so_far / number
        rank = Rank(
            level=ranking.level,
            rank=number,
            nodes=len(ranking.nodes),
            precision=precision,
            arithmetic=f"{value_so_far:.4f} / {number} = {precision:.4f}",
            average_precision=ranking.score,
        )
        ranks.append(rank)
    return ranks


def _why_without_value(placed_node: _PlacedNode, classes: AssessedClasses) -> str:
    """Return why a node without a class has the value 0, such as `V = 0: none of its lines is correct`."""
    if placed_node.lines_by_class:
        return "V = 0: every class of its useful lines is taken by a node before it"
    if classes.edition.ranks_correct_lines:  # only lines assessed as correct are useful, right or not
        return "V = 0: none of its lines is correct"
    # Otherwise a line is useful if it counts as right, and also if it is the duplicate of a right line.
    return "V = 0: none of its lines is correct or inexact and counts as right, or is the duplicate of one that does"


def _documents_in_words(document_count: int, denominator: int, most_justifications: int | None) -> str:
    """Describe the denominator of a node's value as a number of documents, such as `3 documents of its class`.

    The class of the node occurs in `document_count` documents. At most `most_justifications` lines of a node count. If
    there are more documents than this, the limit is mentioned: `2 that count`, or `2 that count for each of 3 queries`
    for a denominator of 6.
    """
    if most_justifications is None or denominator >= document_count:
        return "1 document" if document_count == 1 else f"{document_count} documents of its class"
    query_count = denominator // most_justifications
    if query_count > 1:
        return f"{most_justifications} that count for each of {query_count} queries"
    return f"{most_justifications} that count"


_MOST_TERMS: Final = 5
"""The most terms of a sum that are all shown; of a longer one the first four and the last."""


def confidence_in_words(node: Node, node_by_name: Mapping[str, Node], most_justifications: int | None) -> str:
    """Return the confidence of a node as a weighted sum over its lines: `(0.9 + 0.6/2) / (1 + 1/2) = 0.8000`.

    The k-th best line has the weight 1/k. Only the `most_justifications` best lines count; None means that all lines
    count. The confidence of a second-hop node is multiplied by the confidence of its parent.
    """
    best_first = sorted([line.confidence for line in node.lines], reverse=True)
    # The denominator includes the weights of all lines that may count, even if the node has fewer lines.
    weight_count = len(node.lines) if most_justifications is None else most_justifications
    numerator = _weighted_terms([f"{confidence:g}" for confidence in best_first[:most_justifications]])
    denominator = _weighted_terms(["1"] * weight_count)
    own_confidence = node.own_confidence
    text = f"({_sum_in_words(numerator)}) / ({_sum_in_words(denominator)}) = {own_confidence:.4f}"
    if node.hop == 0:
        return text
    parent_confidence = node_by_name[node.parent].own_confidence
    product = own_confidence * parent_confidence
    return f"{text}; times that of its parent, {own_confidence:.4f} * {parent_confidence:.4f} = {product:.4f}"


def _weighted_terms(terms: Sequence[str]) -> list[str]:
    """Return the terms of a sum with the weights 1, 1/2, 1/3 ...: `["0.9", "0.6"]` -> `["0.9", "0.6/2"]`."""
    return [term if rank == 1 else f"{term}/{rank}" for rank, term in enumerate(terms, 1)]


def _sum_in_words(terms: list[str]) -> str:
    """Return the terms of a sum with plus signs between them, a long one without its middle."""
    if len(terms) > _MOST_TERMS:
        first_terms = terms[: _MOST_TERMS - 1]
        terms = [*first_terms, "...", terms[-1]]
    return " + ".join(terms)
