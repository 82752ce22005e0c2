"""Counts of one query or class, and precision, recall and F1 from them (specification 7.6 and 7.7)."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, TypeAlias

from cs_score.coldstart.equivalence import ClassNode
from cs_score.coldstart.justifications import best_first
from cs_score.coldstart.options import IGNORE, RIGHT, WRONG, Options
from cs_score.coldstart.policy import (
    INCORRECT_PARENT,
    REDUNDANT,
    UNASSESSED,
    Lists,
    MatchedAssessments,
    blocked_by_mention,
    categorise_class,
    make_redundant,
)
from cs_score.coldstart.records import Response

# The lists whose lengths follow the first two counts, in the order of the fields.
_COUNTED: Final = (
    "CORRECT", "INCORRECT", "INEXACT", INCORRECT_PARENT, UNASSESSED, REDUNDANT, RIGHT, WRONG, IGNORE,
)  # fmt: skip


class Counts(NamedTuple):
    """Numbers of responses by category, and of the classes to be found (`ground_truth`).

    Precision is right / (submitted - ignored), which is not right / (right + wrong) where a response counts as both or
    as neither; recall is right / ground truth; both, and F1, are 0 where the denominator is 0.
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
    def precision(self) -> float:
        """Right / (submitted - ignored)."""
        return self.right / (self.submitted - self.ignored) if self.submitted != self.ignored else 0.0

    @property
    def recall(self) -> float:
        """Right / ground truth."""
        return self.right / self.ground_truth if self.ground_truth else 0.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        precision, recall = self.precision, self.recall
        return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def sum_counts(counts: Iterable[Counts]) -> Counts:
    """Field by field."""
    return Counts(*map(sum, zip(*counts))) if (counts := tuple(counts)) else Counts()


class Tally(NamedTuple):
    """What was counted below one node of the tree: its row, and the responses counted."""

    name: str
    counts: Counts
    responses: list[Response]


Labels: TypeAlias = dict[int, tuple[str, ...]]
"""Index of a response -> the names of the lists that it stands in, sorted, SUBMITTED left out."""


def tally(node: ClassNode, matched: MatchedAssessments, options: Options) -> tuple[Tally, Labels]:
    """Count the responses below `node`, one of the tree's inner nodes (specification 7.6)."""
    lists: Lists = {}
    last_right: list[Response] = []
    submitted: list[Response] = []
    for child in node.children:
        if not child.responses:
            continue
        submitted += child.responses
        of_class = categorise_class(child, matched, options.policy)
        if RIGHT in of_class:
            last_right.append(of_class[RIGHT][-1])
        if lists:
            for name, responses in of_class.items():
                lists.setdefault(name, []).extend(responses)
        else:
            lists = of_class
    if node.single and len(lists.get(RIGHT, ())) > 1:
        _keep_one_right(lists, last_right, options)
    _ignore_nominal_nodes(lists, submitted, matched, options)
    ground_truth = sum(not child.is_wrong_bin for child in node.children)
    counts = Counts(
        min(ground_truth, 1) if node.single else ground_truth,
        len(submitted),
        *(len(lists[name]) if name in lists else 0 for name in _COUNTED),
    )
    return Tally(node.name, counts, submitted), _labels(lists)


def _keep_one_right(lists: Lists, last_right: Sequence[Response], options: Options) -> None:
    """A single-valued slot has one right response; the others are duplicates (7.6 step 3; 14, rule 4)."""
    kept = min(last_right, key=lambda line: (-line.confidence, line.number, line.index))
    others = lists[RIGHT]
    others.remove(kept)
    lists[RIGHT] = [kept]
    make_redundant(others, lists, options.policy)


def _ignore_nominal_nodes(
    lists: Lists, submitted: Sequence[Response], matched: MatchedAssessments, options: Options
) -> None:
    """Right responses of nodes that are only described, never named, are ignored (specification 7.7)."""
    candidates = {line.node for name in (RIGHT, REDUNDANT) for line in lists.get(name, ())}
    if not candidates:
        return
    by_node: dict[str | None, list[Response]] = {}
    for line in submitted:
        if line.node in candidates:
            by_node.setdefault(line.node, []).append(line)
    wrong = {line.index for line in lists.get(WRONG, ())}
    blocked = {
        node
        for node, group in by_node.items()
        if blocked_by_mention(best_first(group), matched, lambda line: line.index in wrong, options.justifications.most)
    }
    if not blocked:
        return
    ignored = {line.number for line in lists.get(IGNORE, ())}
    for name in (RIGHT, REDUNDANT):
        for line in lists.get(name, ()):
            if line.node in blocked and line.number not in ignored:
                ignored.add(line.number)
                lists.setdefault(IGNORE, []).append(line)
        if name in lists:
            lists[name] = [line for line in lists[name] if line.node not in blocked]


def _labels(lists: Lists) -> Labels:
    labels: Labels = {}
    for name in sorted(lists):
        for line in lists[name]:
            index = line.index
            labels[index] = _with_name(labels.get(index, ()), name)
    return labels


@functools.cache
def _with_name(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    """`names` with one more; the few tuples that occur are shared by all responses."""
    return (*names, name)
