"""Limits on justifications and single-valued slots: which run lines are reported as discarded.

In the scorer a mark changes no score (specification 5); the validators write only unmarked lines.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final, Literal, NamedTuple, TypeAlias

from cs_score.base.errors import InputError
from cs_score.coldstart.lines import Response
from cs_score.coldstart.options import Justifications
from cs_score.problems.log import ProblemLog

CODES: Final = frozenset({"DISCARDED_ENTRY", "DISCARDED_DEPENDENT"})
"""The problems that tell of discarded lines; nothing else in the scorer reports them."""

Limit: TypeAlias = Literal["document", "node", "single-valued", "parent"]
"""What may discard a line: too many lines of its node from one document (A), or in all (B); another node fills a slot
that takes one value; all lines that give the answer its query asks about were discarded."""

_query: Final = attrgetter("query")
_target: Final = attrgetter("follow_on.id")


class Discard(NamedTuple):
    """Why a line was discarded first: by which limit, and in favour of which lines (of none for `parent`)."""

    limit: Limit
    kept: Sequence[Response] = ()


def load_order(line: Response) -> tuple[int, int]:
    """Sort key: line number, then load order among equal numbers of several files."""
    return line.number, line.index


def best_first(lines: Iterable[Response]) -> list[Response]:
    """Lines by confidence descending, then line number, then load order."""
    return sorted(lines, key=lambda line: (-line.confidence, line.number))


def node_confidence(confidences: Sequence[float], most: int | None) -> float:
    """Confidence of a node from those of its lines (specification 9.3).

    The i-th best line weighs 1/i; `most` lines count, and a node with fewer lines is divided by the weight of `most`
    all the same. None: all lines count. Without lines the confidence is 0.
    """
    if not confidences:
        return 0.0
    weights = _sum_of_weights(len(confidences) if most is None else most)
    if len(confidences) == 1:
        return confidences[0] / weights
    numerator = 0.0
    for rank, confidence in enumerate(sorted(confidences, reverse=True)[:most], 1):
        numerator += confidence / rank
    return numerator / weights


@functools.cache
def _sum_of_weights(lines: int) -> float:
    total = 0.0
    for rank in range(1, lines + 1):
        total += 1 / rank
    return total


class DiscardRules:
    """Marks the run lines beyond the limits; marks persist from one file to the next (specification 5.3)."""

    def __init__(self, limits: Justifications, problems: ProblemLog) -> None:
        self.marked: set[int] = set()
        """Indexes of the discarded responses."""
        self.why: dict[int, Discard] = {}
        """Why, by the same indexes."""
        self.applied: list[int] = []
        """How many lines had been loaded each time the rules were applied."""
        self._limits = limits
        self._problems = problems

    def apply(self, responses: Sequence[Response], nodes: Mapping[str, Sequence[Response]], are_in_order: bool) -> None:
        """Apply both rules to all run lines loaded so far.

        `nodes` are the same lines by FQ node id; `are_in_order` tells that all lines of later hops stand behind a line
        that gives the answer which they ask about.
        """
        self.applied.append(len(responses))
        crowded = list(self._crowded(nodes.values()))
        if crowded or self.marked or not are_in_order:  # otherwise all answers that are asked about are there
            self._limit_justifications(responses, crowded)
        self._keep_single_values(responses, nodes)

    def apply_again(
        self, applied: Iterable[int], responses: Sequence[Response], nodes: Mapping[str, Sequence[Response]]
    ) -> None:
        """Apply both rules to lines as often as rules with other limits were applied while they were loaded."""
        for loaded in applied:
            if loaded < len(responses):
                some = {name: [line for line in lines if line.index < loaded] for name, lines in nodes.items()}
                self.apply(responses[:loaded], {name: lines for name, lines in some.items() if lines}, False)
            else:
                self.apply(responses, nodes, False)

    def _limit_justifications(self, responses: Sequence[Response], nodes: Iterable[Sequence[Response]]) -> None:
        # The order of nodes within a level shows nowhere: they share no line, and reports are sorted.
        crowded: dict[int, list[Sequence[Response]]] = defaultdict(list)
        for lines in nodes:
            crowded[lines[-1].query.level].append(lines)
        queries = {*map(_query, responses)}
        for level in sorted({query.level for query in queries}):
            for lines in crowded[level]:
                self._limit_node(lines)
            unanswered = {query.short_id for query in queries if query.level == level + 1}
            if not unanswered:
                continue
            # Only lines of this level lead to queries of the next.
            left = responses if not self.marked else [line for line in responses if line.index not in self.marked]
            unanswered.difference_update(map(_target, left))
            for line in responses if unanswered else ():
                if line.query.level == level + 1 and line.query.short_id in unanswered:
                    self._discard(line, "DISCARDED_DEPENDENT", Discard("parent"))

    def _crowded(self, nodes: Iterable[Sequence[Response]]) -> Iterator[Sequence[Response]]:
        per_document, most = self._limits.per_document, self._limits.most
        for lines in nodes:
            if (most is not None and len(lines) > most) or (
                per_document is not None
                and len(lines) > per_document
                # A document with more lines than that leaves fewer other documents.
                and len({line.docid for line in lines}) <= len(lines) - per_document
            ):
                yield lines

    def _limit_node(self, lines: Sequence[Response]) -> None:
        per_document, most = self._limits.per_document, self._limits.most
        left = [line for line in lines if line.index not in self.marked]
        if per_document is not None and len(left) > per_document:
            by_document: dict[str, list[Response]] = {}
            for line in left:
                by_document.setdefault(line.docid, []).append(line)
            for of_document in by_document.values():
                self._keep_best(of_document, per_document, "document")
            left = [line for line in left if line.index not in self.marked]
        if most is not None:
            self._keep_best(left, most, "node")

    def _keep_best(self, lines: Sequence[Response], most: int, limit: Limit) -> None:
        if len(lines) > most:
            ordered = best_first(lines)
            why = Discard(limit, ordered[:most])
            for line in ordered[most:]:
                self._discard(line, "DISCARDED_ENTRY", why)

    def _keep_single_values(self, responses: Sequence[Response], nodes: Mapping[str, Sequence[Response]]) -> None:
        single = self._single_valued(nodes)
        if self._limits.most is not None and all(len(children) == 1 for _, _, children in single):
            return  # no node is discarded, and below those that were before nothing is left
        answers = Counter(line.follow_on.id for line in responses if line.index not in self.marked)
        asking: dict[str, list[Response]] = defaultdict(list)
        for line in responses:
            if line.query.level > 0:
                asking[line.query.short_id].append(line)
        orphaned: dict[int, dict[str, None]] = defaultdict(dict)
        for _, level, children in sorted(single, key=lambda group: len(group[0])):
            winner = self._winner(children, nodes)
            why = Discard("single-valued", nodes[winner])
            for line in (line for child in children if child != winner for line in nodes[child]):
                self._mark(line, why, answers, orphaned)
                self._problems.add("DISCARDED_ENTRY", f"\n{line.text}", place=line.place)
            # All of the level is looked at, also below nodes that other groups have discarded.
            for target in orphaned.pop(level, ()):
                for line in asking[target]:
                    if line.index not in self.marked:
                        self._mark(line, Discard("parent"), answers, orphaned)
                        self._problems.add("DISCARDED_DEPENDENT", f"\n{line.text}\n", place=line.place)

    def _single_valued(self, nodes: Mapping[str, Sequence[Response]]) -> list[tuple[str, int, list[str]]]:
        parents = {node.rpartition(":")[0] for node, lines in nodes.items() if lines[0].query.single}
        groups: dict[str, list[str]] = defaultdict(list)
        for node in nodes if parents else ():
            if (parent := node.rpartition(":")[0]) in parents:
                groups[parent].append(node)
        return [
            (parent, first_line.query.level, children)
            for parent, children in groups.items()
            if (first_line := nodes[min(children, key=len)][0]).query.single
        ]

    def _mark(
        self, line: Response, why: Discard, answers: Counter[str], orphaned: Mapping[int, dict[str, None]]
    ) -> None:
        target = line.follow_on.id
        if line.index in self.marked:
            return
        self.marked.add(line.index)
        self.why[line.index] = why
        answers[target] -= 1
        if answers[target] == 0:
            orphaned[line.query.level][target] = None

    def _winner(self, children: Sequence[str], nodes: Mapping[str, Sequence[Response]]) -> str:

        def standing(node: str) -> tuple[float, float, int, int]:
            kept = [line for line in nodes[node] if line.index not in self.marked]
            if not kept and self._limits.most is None:
                line = nodes[node][0]
                raise InputError(
                    f"no confidence for node {node}: all of its lines were discarded",
                    file=line.file,
                    place=f"line {line.number}",
                    remedy="with any number of justifications (-justifications A:M) the confidence of a node in a "
                    "single-valued slot needs a line that is left; use a number for M",
                )
            first = min(kept or nodes[node], key=lambda line: (line.number, line.index))
            confidence = node_confidence([line.confidence for line in kept], self._limits.most)
            return -confidence, 0 if kept else 1, first.number, first.index

        return min(children, key=standing)

    def _discard(self, line: Response, code: str, why: Discard) -> None:
        self.marked.add(line.index)
        self.why.setdefault(line.index, why)
        self._problems.add(code, f"\n{line.text}\n", place=line.place)
