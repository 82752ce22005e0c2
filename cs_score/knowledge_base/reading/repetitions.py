"""Assertions that are made more than once, and slots with more values than one (specification 4.7 and 4.8)."""

from __future__ import annotations

import heapq
import sys
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable
from enum import StrEnum
from operator import attrgetter
from typing import Final, TypeAlias

from cs_score.base.records import Struct, field
from cs_score.knowledge_base.contents.assertions import Assertion, Node
from cs_score.knowledge_base.contents.provenance_lists import ProvenanceList
from cs_score.knowledge_base.reading.findings import Findings


class Multiple(StrEnum):
    """How many justifications of one relation are kept."""

    MANY = "MANY"
    ONE = "ONE"
    ONEPERDOC = "ONEPERDOC"


# What justifications have in common that repeat each other.
_KEYS: Final[dict[Multiple, Callable[[ProvenanceList], str]]] = {
    Multiple.MANY: attrgetter("key"),
    Multiple.ONE: lambda provenance: "",
    Multiple.ONEPERDOC: attrgetter("docid"),
}

_Relation: TypeAlias = tuple[str, str]
"""Verb and object, of one subject."""


class _Passes(Struct):
    """How far the searches among the assertions of one relation went: the lines where they ended, ascending.

    `watched` are the assertions of which somebody wants to know how many searches came by.
    """

    ends: list[int] = field(default_factory=list)
    watched: list[Assertion] = field(default_factory=list)

    def of(self, assertion: Assertion) -> int:
        """Searches that came to an assertion or beyond it; earlier ones ended at earlier lines."""
        return len(self.ends) - bisect_left(self.ends, assertion.line)


class _Values:
    """The values of one slot of one node: for each object the assertions that are not omitted, as recorded."""

    __slots__ = ("_first", "_of_object", "_order")

    def __init__(self) -> None:
        self._of_object: dict[str, deque[Assertion]] = {}
        self._first: dict[str, int] = {}
        self._order: list[tuple[int, str]] = []

    def add(self, assertion: Assertion) -> None:
        first = self._first.setdefault(assertion.object, len(self._first))
        alive = self._of_object.setdefault(assertion.object, deque())
        if not alive:
            heapq.heappush(self._order, (first, assertion.object))
        alive.append(assertion)

    def other_than(self, value: str) -> Assertion | None:
        """The first assertion of the first other object, objects in the order of their first assertion."""
        own: tuple[int, str] | None = None
        found: Assertion | None = None
        while self._order and found is None:
            entry = self._order[0]
            alive = self._of_object[entry[1]]
            while alive and alive[0].is_omitted:
                alive.popleft()
            if not alive:
                heapq.heappop(self._order)
            elif entry[1] == value:
                own = heapq.heappop(self._order)
            else:
                found = alive[0]
        if own is not None:
            heapq.heappush(self._order, own)
        return found


class Repetitions:
    """What was recorded so far, as far as later assertions may repeat or contradict it."""

    def __init__(self, multiple: Multiple, findings: Findings, *, one_value: bool) -> None:
        self._key = _KEYS[multiple]
        self._findings = findings
        self._one_value = one_value
        # By subject, verb, object and what repetitions have in common.
        self._alive: dict[tuple[Node, str, str, str], Assertion] = {}
        self._values: dict[tuple[Node, str], _Values] = {}
        # By subject, as few have an assertion that somebody watches.
        self._passes: dict[Node, dict[_Relation, _Passes]] = {}

    def accepts(self, new: Assertion, written: ProvenanceList) -> bool:
        """Whether an assertion is to be recorded, omitted or not; False for a mere repetition.

        `written` is the provenance as the column reads by itself, which is what earlier ones are compared with.
        """
        verb, subject = new.verb, new.subject
        key = (subject, verb.name, new.object, self._key(written))
        known = self._alive.get(key)
        has_to_look = known is not None or subject in self._passes  # as a rule nothing was said before
        is_repetition = has_to_look and not verb.may_repeat and self._repeats(new, written, known)
        if self._one_value and verb.predicate.single:
            self._check_value(new, is_recorded=not is_repetition)
        if is_repetition:
            return False
        if not (verb.may_repeat or new.is_inferred or new.is_omitted):
            if new.provenance is not written:
                key = (*key[:3], self._key(new.provenance))
            self._alive[key] = new
            if new.provenance.problems:
                of_subject = self._passes.setdefault(subject, {})
                of_subject.setdefault(_relation(new), _Passes()).watched.append(new)
        return True

    def _check_value(self, new: Assertion, *, is_recorded: bool) -> None:
        """Omit the weaker one where a slot that takes one value has another."""
        values = self._values.setdefault((new.subject, new.name), _Values())
        other = values.other_than(new.object)
        if other is not None:
            self._findings.report("MULTIPLE_FILLS_ENTITY", new.subject.name, new.name, line=new.line)
            self.omit(_weaker(new, other))
        if is_recorded and not new.is_omitted:
            values.add(new)

    def _repeats(self, new: Assertion, written: ProvenanceList, known: Assertion | None) -> bool:
        """Whether nothing of an assertion is new, `known` being one that it may repeat.

        The weaker of two that have only a document in common, say, is omitted.
        """
        if known is not None and known.is_omitted:
            known = None
        if (passes := self._passes_of(new)) is not None:
            insort(passes.ends, known.line if known else sys.maxsize if new.is_inferred else new.line - 1)
        if known is None:
            return False
        self._findings.look(known)
        self._findings.report("DUPLICATE_ASSERTION", str(self._findings.place(known.line)), line=new.line)
        if known.provenance.key == written.key:
            return True
        self.omit(_weaker(new, known))
        return False

    def has_stated(self, subject: Node, name: str, object_: str, provenance: ProvenanceList) -> bool:
        """Whether an assertion with this provenance is known to have been recorded; False may mean either."""
        known = self._alive.get((subject, name, object_, provenance.key))
        return known is not None and known.provenance.text == provenance.text

    def omit(self, assertion: Assertion) -> None:
        """Mark an assertion as one that is not written."""
        if assertion.provenance.problems and not assertion.is_omitted:
            self._count_passes(assertion)
        assertion.is_omitted = True

    def finish(self) -> None:
        """Count how often searches came by assertions whose provenance has problems."""
        for of_subject in self._passes.values():
            for passes in of_subject.values():
                for assertion in passes.watched:
                    if not assertion.is_omitted:
                        self._count_passes(assertion)

    def _count_passes(self, assertion: Assertion) -> None:
        if not assertion.is_inferred and (passes := self._passes_of(assertion)) is not None:
            self._findings.look(assertion, passes.of(assertion))

    def _passes_of(self, assertion: Assertion) -> _Passes | None:
        """The searches among the assertions of the same relation, where one of them is watched."""
        of_subject = self._passes.get(assertion.subject)
        return None if of_subject is None else of_subject.get(_relation(assertion))


def _relation(assertion: Assertion) -> _Relation:
    return assertion.name, assertion.object


def _weaker(new: Assertion, known: Assertion) -> Assertion:
    """The less confident of two assertions, the later one among equals."""
    confidences = float(new.confidence), float(known.confidence)
    if confidences[0] != confidences[1]:
        return new if confidences[0] < confidences[1] else known
    return known if known.line > new.line else new
