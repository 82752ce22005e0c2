"""Counts of one query or class, and precision, recall and F1 from them (specification 7.6 and 7.7)."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from cs_score.base.records import Struct, field
from cs_score.coldstart.editions import LATEST, Edition
from cs_score.coldstart.judging import (
    INCORRECT_PARENT,
    NOWHERE,
    REDUNDANT,
    UNASSESSED,
    ClassTree,
    Labels,
    Matched,
    Members,
    as_duplicate,
    labels_of_categories,
    pre_policy_category,
    without_credit,
    without_right,
)
from cs_score.coldstart.limits import best_first
from cs_score.coldstart.lines import CORRECT, Response
from cs_score.coldstart.options import IGNORE, RIGHT, WRONG, Policy
from cs_score.measures.formulas import divide, f1


class Counts(NamedTuple):
    """Numbers of responses by category, and of the classes to be found (`ground_truth`).

    Precision is right / answered, which is not right / (right + wrong) where a response counts as both or as neither;
    recall is right / ground truth; both, and F1, are 0 where the denominator is 0.
    """

    ground_truth: int = 0
    submitted: int = 0
    correct: int = 0
    incorrect: int = 0
    inexact: int = 0
    incorrect_parent: int = 0
    unassessed: int = 0
    redundant: int = 0
    right: int = 0
    wrong: int = 0
    ignored: int = 0

    @property
    def answered(self) -> int:
        """What precision divides by: submitted - ignored."""
        return self.submitted - self.ignored

    @property
    def precision(self) -> float:
        """Right / answered."""
        return divide(self.right, self.answered)

    @property
    def recall(self) -> float:
        """Right / ground truth."""
        return divide(self.right, self.ground_truth)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return float(f1(self.precision, self.recall))


def sum_counts(counts: Iterable[Counts]) -> Counts:
    """Field by field."""
    return Counts(*map(sum, zip(*counts))) if (counts := tuple(counts)) else Counts()


# The labels that `Counts` counts behind the first two fields, in the order of the fields.
_COUNTED: Final = (
    "CORRECT", "INCORRECT", "INEXACT", INCORRECT_PARENT, UNASSESSED, REDUNDANT, RIGHT, WRONG, IGNORE,
)  # fmt: skip


@functools.lru_cache(maxsize=1 << 10)
def counts_of(labels: Labels, times: int = 1) -> Counts:
    """What so many responses with these labels add to the counts of their row; there is nothing to be found."""
    return Counts(0, times, *(times * labels.count(label) for label in _COUNTED))


class Tally(NamedTuple):
    """What was counted below one node of the tree: its row, and the responses counted."""

    name: str
    counts: Counts
    responses: list[Response]


class Counting:
    """Finds the labels of responses and counts them, query by query.

    `labels` holds those found so far by the index of the response; a response that stands in no tree has none.
    """

    def __init__(
        self, matched: Matched, policy: Policy, most: int | None, labels: dict[int, Labels], edition: Edition = LATEST
    ) -> None:
        """`most`: how many justifications of a node count, None for all; `labels`: those of runs scored before."""
        self._edition = edition
        self.labels = labels
        self.matched = matched
        self._policy = policy
        self._most = most
        self._duplicate_side = policy.duplicate_side or NOWHERE
        self._labels_of = labels_of_categories(policy)

    def tally(
        self, tree: ClassTree, members: Members, known: Mapping[str, Mapping[str, bool]] | None = None
    ) -> list[Tally]:
        """Count the responses below each inner node of a query's tree (specification 7.6).

        `known` tells of classes whether the answers in them are right, by the ids of the queries about them, where
        that is known already and not to be found out from the members.
        """
        filled: dict[str, list[str]] = {}
        for name, parent in tree.above.items():
            if name in members:
                filled.setdefault(parent, []).append(name)
        # Class -> id of the query about an answer in it -> whether that answer is right.
        answers: dict[str, Mapping[str, bool]] = {tree.root: {}, **(known or {})}
        tallies: list[Tally] = []
        for name in tree.inner_nodes:
            row = Row()
            for of_class in filled.get(name, ()):
                parents = None if name == tree.root else answers.get(name, {})
                right = self._categorise(members[of_class], row, parents)
                if of_class in tree.ground_truth and of_class not in answers:
                    # The first response with an answer decides, before duplicates are found (specification 7.4).
                    needed = CORRECT if self._edition.needs_correct_parent else RIGHT
                    answers[of_class] = {
                        line.follow_on.id: needed in self.labels[line.index] for line in reversed(members[of_class])
                    }
                if len(right) > 1:
                    kept, *others = sorted(right, key=self._is_nominal)
                    right = self.keep(kept, others, row)
                if right:
                    row.right += right
                    row.last_right.append(right[-1])
            is_single = tree.single.get(name, False)
            if is_single and len(row.right) > 1:
                kept = min(row.last_right, key=lambda line: (-line.confidence, line.number, line.index))
                row.right.remove(kept)
                row.right = self.keep(kept, row.right, row)
            if row.right and self._edition.ignores_each_nominal:
                self._ignore_nominal_lines(row)
            elif row.right:
                self._ignore_nominal_nodes(row)
            found = Counter([self.labels[line.index] for line in row.submitted])
            counts = sum_counts(counts_of(labels, times) for labels, times in found.items())
            to_find = tree.ground_truth[name]
            tallies.append(
                Tally(name, counts._replace(ground_truth=min(to_find, 1) if is_single else to_find), row.submitted)
            )
        return tallies

    def _categorise(
        self, responses: Sequence[Response], row: Row, parents: Mapping[str, bool] | None
    ) -> list[Response]:
        """Label the responses of one class with their categories and sides; returns the right ones (7.4 and 7.5).

        The path to a response is correct if the answer that its query asks about is right by `parents`; where those are
        None, the responses have none.
        """
        categories: list[str] = []
        for response in responses:
            if parents is not None and not parents.get(response.query.short_id):
                category = INCORRECT_PARENT
            else:
                category = pre_policy_category(self.matched.get(response.index))
            self.labels[response.index] = self._labels_of[category]
            categories.append(category)
        row.submitted += responses
        right: list[Response] = []
        for item in self._policy.right:
            if item in categories:
                right += [response for response, category in zip(responses, categories) if category == item]
        return right

    def _is_nominal(self, response: Response) -> bool:
        assessment = self.matched.get(response.index)
        return assessment is not None and assessment.value_mention == "NOM"

    def keep(self, kept: Response, others: Sequence[Response], row: Row) -> list[Response]:
        """Count `others` as duplicates of the right response `kept`; returns those that count as right all the same."""
        for response in others:
            self.labels[response.index] = as_duplicate(self.labels[response.index], self._duplicate_side)
        row.redundant += others
        return [kept, *others] if self._duplicate_side == RIGHT else [kept]

    def _ignore_nominal_nodes(self, row: Row) -> None:
        """Ignore right responses of nodes that are only described, never named (specification 7.7)."""
        labels = self.labels
        credited = (*row.right, *row.redundant)
        by_node: dict[str | None, list[Response]] = {line.node: [] for line in credited}
        for line in row.submitted:
            if line.node in by_node:
                by_node[line.node].append(line)
        blocked = {node for node, lines in by_node.items() if not self.is_named(lines)}
        if not blocked:
            return
        ignored = {line.number for line in row.submitted if IGNORE in labels[line.index]}
        for line in credited:
            if line.node in blocked:
                labels[line.index] = without_credit(labels[line.index], line.number in ignored)
                ignored.add(line.number)

    def _ignore_nominal_lines(self, row: Row) -> None:
        """Ignore right responses that only describe an entity whose name is known, each for itself.

        Where the pool has mention types for one of them, those that it has none for are right no more.
        """
        typed = [line for line in row.right if self.matched[line.index].value_mention is not None]
        for line in row.right if typed else ():
            assessment, labels = self.matched[line.index], self.labels[line.index]
            if assessment.value_mention is None or (
                assessment.value_mention == "NOM" and assessment.class_mention != "NOM"
            ):
                self.labels[line.index] = without_right(labels, becomes_ignored=assessment.value_mention == "NOM")

    def is_named(self, lines: Sequence[Response]) -> bool:
        """Whether one of a node's best assessed lines names the entity, or the class is known by descriptions only.

        As many lines are looked at as justifications count. Wrong ones are among them, but do not name.
        """
        assessed = [line for line in lines if line.index in self.matched]
        if self._most is not None and len(assessed) > self._most:
            assessed = best_first(assessed)[: self._most]
        for line in assessed:
            assessment = self.matched[line.index]
            is_named = assessment.value_mention == "NAM" or assessment.class_mention == "NOM"
            if is_named and WRONG not in self.labels[line.index]:
                return True
        return False


class Row(Struct):
    """The responses below one inner node, and those that are right or redundant now.

    `last_right` holds the last right response of each class: the candidates for a single-valued slot.
    """

    submitted: list[Response] = field(default_factory=list)
    right: list[Response] = field(default_factory=list)
    last_right: list[Response] = field(default_factory=list)
    redundant: list[Response] = field(default_factory=list)
