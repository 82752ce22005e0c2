"""Assertions as they are added to a knowledge base, one after the other, and what repeats others."""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, insort
from collections import defaultdict, deque
from collections.abc import Callable
from enum import StrEnum
from operator import attrgetter
from typing import Final, TypeAlias

from cs_score.base.records import Record, Struct, field
from cs_score.coldstart.converters import is_node_name
from cs_score.coldstart.queries import ENTITY_TYPES, NODE_TYPES
from cs_score.knowledge_base.assertions import (
    MENTIONS,
    NO_PROVENANCE,
    TYPE,
    Assertion,
    KnowledgeBase,
    ListReader,
    Node,
    ProvenanceList,
)
from cs_score.knowledge_base.kb_file import Findings, Line
from cs_score.knowledge_base.predicates import OBJECT, SUBJECT, PredicateTable, Use, Verb, declaration, use_as
from cs_score.preparation.documents import DocumentList
from cs_score.problems.log import Detail


class Multiple(StrEnum):
    """How many justifications of one relation are kept."""

    MANY = "MANY"
    ONE = "ONE"
    ONEPERDOC = "ONEPERDOC"


class KbOptions(Record):
    """How a knowledge base is validated."""

    task: str = "CSKB"
    multiple: Multiple = Multiple.MANY
    documents: DocumentList | None = None
    table: PredicateTable = field(default_factory=PredicateTable)


# What justifications have in common that repeat each other.
_KEYS: Final[dict[Multiple, Callable[[ProvenanceList], str]]] = {
    Multiple.MANY: attrgetter("key"),
    Multiple.ONE: lambda provenance: "",
    Multiple.ONEPERDOC: attrgetter("docid"),
}


class _Passes(Struct):
    """The searches among the assertions of a relation: the lines where they `end`, ascending; and the assertions of
    which it counts how many came by.
    """

    ends: list[int] = field(default_factory=list)
    watched: list[Assertion] = field(default_factory=list)


class _Values:
    """The values of one slot of one node: for each object the assertions that are not omitted, as recorded."""

    def __init__(self) -> None:
        self._ranks: dict[str, int] = {}
        self._of_rank: dict[int, deque[Assertion]] = defaultdict(deque)
        self._alive: list[int] = []  # ranks of objects that may have assertions, ascending

    def add(self, assertion: Assertion) -> None:
        rank = self._ranks.setdefault(assertion.object, len(self._ranks))
        if not self._of_rank[rank]:
            insort(self._alive, rank)
        self._of_rank[rank].append(assertion)

    def other_than(self, value: str) -> Assertion | None:
        """The first assertion of the first other object, objects in the order of their first assertion."""
        own, at = self._ranks.get(value), 0
        while at < len(self._alive):
            assertions = self._of_rank[self._alive[at]]
            while assertions and assertions[0].is_omitted:
                assertions.popleft()
            if assertions and self._alive[at] != own:
                return assertions[0]
            if assertions:
                at += 1
            else:
                del self._alive[at]
        return None


class Repetitions:
    """What was recorded so far, as far as later assertions may repeat or contradict it."""

    def __init__(self, multiple: Multiple, findings: Findings, *, one_value: bool) -> None:
        self._key, self._findings, self._one_value = _KEYS[multiple], findings, one_value
        # By relation and what repetitions have in common.
        self._alive: dict[tuple[Node, str, str, str], Assertion] = {}
        self._values: dict[tuple[Node, str], _Values] = defaultdict(_Values)
        # By relation, where one of its assertions is watched.
        self._passes: dict[_Relation, _Passes] = {}

    def accepts(self, new: Assertion, written: ProvenanceList) -> bool:
        """Whether an assertion is to be recorded, omitted or not; False for a mere repetition.

        `written` is the provenance as the column reads by itself, which is what earlier ones are compared with.
        """
        verb = new.verb
        key = (new.subject, verb.name, new.object, self._key(written))
        known = self._alive.get(key)
        has_to_look = known is not None or bool(self._passes)  # as a rule nothing was said before
        is_repetition = has_to_look and not verb.may_repeat and self._repeats(new, written, known)
        if self._one_value and verb.predicate.single:
            values = self._values[new.subject, verb.name]
            if (other := values.other_than(new.object)) is not None:
                self._findings.report("MULTIPLE_FILLS_ENTITY", new.subject.name, verb.name, line=new.line)
                self._omit_weaker(new, other)
            if not (is_repetition or new.is_omitted):
                values.add(new)
        if not (is_repetition or verb.may_repeat or new.is_inferred or new.is_omitted):
            self._alive[key if new.provenance is written else (*key[:3], self._key(new.provenance))] = new
            if new.provenance.problems:
                self._passes.setdefault(key[:3], _Passes()).watched.append(new)
        return not is_repetition

    def _repeats(self, new: Assertion, written: ProvenanceList, known: Assertion | None) -> bool:
        """Whether nothing of an assertion is new, `known` being one that it may repeat.

        The weaker of two that have only a document in common, say, is omitted.
        """
        if known is not None and known.is_omitted:
            known = None
        if (passes := self._passes.get(_relation(new))) is not None:
            insort(passes.ends, known.line if known else sys.maxsize if new.is_inferred else new.line - 1)
        if known is None:
            return False
        self._findings.look(known)
        self._findings.report("DUPLICATE_ASSERTION", str(self._findings.place(known.line)), line=new.line)
        if known.provenance.key == written.key:
            return True
        self._omit_weaker(new, known)
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

    def _omit_weaker(self, new: Assertion, known: Assertion) -> None:
        """Omit the less confident of two assertions, the later one among equals."""
        self.omit(min(new, known, key=lambda each: (float(each.confidence), -each.line, each is known)))

    def finish(self) -> None:
        """Count how often searches came by assertions whose provenance has problems."""
        for passes in self._passes.values():
            for assertion in passes.watched:
                if not assertion.is_omitted:
                    self._count_passes(assertion)

    def _count_passes(self, assertion: Assertion) -> None:
        if not assertion.is_inferred and (passes := self._passes.get(_relation(assertion))) is not None:
            # Searches that came to the assertion or beyond it; earlier ones ended at earlier lines.
            self._findings.look(assertion, len(passes.ends) - bisect_left(passes.ends, assertion.line))


_Relation: TypeAlias = tuple[Node, str, str]


def _relation(assertion: Assertion) -> _Relation:
    """What repetitions agree in: subject, verb and object."""
    return assertion.subject, assertion.verb.name, assertion.object


_TO_ESCAPE: Final = re.compile(r'["\\]')


class Builder:
    """Adds assertions to a knowledge base."""

    def __init__(self, base: KnowledgeBase, findings: Findings, options: KbOptions, *, one_value: bool) -> None:
        """With `one_value` the weaker one of several values of a slot that takes one is omitted."""
        self.base, self.findings = base, findings
        self.repetitions = Repetitions(options.multiple, findings, one_value=one_value)
        self._nodes, self._table = base.nodes, options.table
        self._lists = ListReader(None if options.documents is None else options.documents.lengths)

    def add(self, line: Line, *, is_inferred: bool = False) -> Assertion | None:
        """Add what a line says. None where it is rejected or a mere repetition, which is reported."""
        number, subject_text, predicate, object_, is_string, column, confidence, comment = line
        subject = self._nodes.get(subject_text) or self._node(subject_text, "SUBJECT", number)
        if subject is None:
            return self._reject("NO_SUBJECT")
        has_event = subject.is_event or (not is_string and object_.startswith(":Event"))
        verb, realis, problems = self._table.read(predicate, subject.type, has_event)
        for code, arguments in problems:
            repaired = arguments[2] if code == "PREDICATE_ALIAS" else None
            self.findings.report(code, *arguments, line=number, detail=Detail("PREDICATE", predicate, repaired))
        if verb is None:
            subject.uses.setdefault(use_as(SUBJECT), number)
            return self._reject("NO_PREDICATE")
        # As its column reads by itself: the object counts as it is written.
        provenance = written = NO_PROVENANCE
        if verb.has_provenance:
            has_string = not is_string and object_.startswith(":String")
            provenance = written = self._lists.read(column, has_event, has_string, verb.is_mention)
            if written.problems or written.spans > 1:
                self._report_provenance(written, verb, subject, number, is_inferred)
        text: str | None = object_
        if not (verb.takes_nodes or (verb.takes_text and is_string)):
            text = self._text(verb, object_, number)
        use = declaration(object_) if verb.name == TYPE else verb.as_subject
        if use not in subject.uses:
            self._note(subject, use, number)
        node = None
        if verb.takes_nodes:
            node = self._nodes.get(object_) or self._node(object_, "OBJECT", number)
            text = None if node is None else node.name
        if text is None:
            self.base.unrecorded += [(subject, use, number)] if verb.takes_nodes else []
            return self._reject("NO_OBJECT" if verb.takes_nodes else "BAD_PREDICATE")
        if node is not None and verb.as_object not in node.uses:
            self._note(node, verb.as_object, number)
        if text != object_ and verb.has_provenance:  # it lacked its colon or its quotes
            has_event = subject.is_event or text.startswith(":Event")
            provenance = self._lists.read(column, has_event, text.startswith(":String"), verb.is_mention)
        new = Assertion(subject, verb, realis, text, node, provenance, confidence, number, comment, is_inferred)
        if verb.is_compared and not self.repetitions.accepts(new, written):
            # What a repetition says of nodes counts all the same.
            self.base.unrecorded.append((subject, use, number))
            if node is not None:
                self.base.unrecorded.append((node, verb.as_object, number))
            return self._reject("DUPLICATE")
        self.base.assertions.append(new)
        (subject.mentions if verb.takes_text else subject.others).append(new)
        if verb.takes_text and verb.name in MENTIONS:
            subject.documents.add(provenance.docid)
        return new

    def _report_provenance(
        self, written: ProvenanceList, verb: Verb, subject: Node, line: int, is_inferred: bool
    ) -> None:
        if written.problems:
            self.findings.troubled.add(subject.name)
            self.findings.report_spans(written, line, with_fatal=not is_inferred)
        for _ in range(verb.one_span if written.spans > 1 else 0):
            detail = Detail("PROVENANCE", written.text)
            self.findings.report("TOO_MANY_PROVENANCE_TRIPLES_E", written.spans, 1, line=line, detail=detail)

    def _reject(self, reason: str) -> Assertion | None:
        """No assertion, and one more line that was rejected."""
        self.base.rejected[reason] = self.base.rejected.get(reason, 0) + 1
        return None

    def _node(self, text: str, column: str, line: int) -> Node | None:
        """The node of a name that no line has had, made if need be; None where the text cannot be one."""
        if not is_node_name(text):
            code = "STRING_USED_FOR_ENTITY" if text.startswith('"') else "ILLEGAL_NODE_NAME"
            self.findings.report(code, text, line=line, detail=Detail(column, text))
            return None
        name = text if text.startswith(":") else f":{text}"
        if name is not text:
            self.findings.report("COLON_OMITTED", text, line=line, detail=Detail(column, text, name))
        if name not in self._nodes:
            self._nodes[name] = Node(name)
        return self._nodes[name]

    def _text(self, verb: Verb, written: str, line: int) -> str | None:
        """The object of a mention, a type or a link as it is kept; None where it cannot be that of a link."""
        if verb.name == TYPE:
            return written
        detail = Detail("OBJECT", written)
        if verb.takes_text:
            quoted = '"' + _TO_ESCAPE.sub(r"\\\g<0>", written) + '"'
            self.findings.report("UNQUOTED_STRING", written, line=line, detail=detail._replace(repaired=quoted))
            return quoted
        if ":" in written:
            return written.removeprefix('"').removesuffix('"')
        self.findings.report("ILLEGAL_LINK_SPECIFICATION", written, line=line, detail=detail)
        return None

    def _note(self, node: Node, use: Use, line: int) -> None:
        """Note how a line uses a node, and the type that it gives to it.

        Where the node cannot have that type that is reported for every line that says so.
        """
        if (only := use.only) is not None:
            kind = ":String" if only == "string" else ":Entity" if only in ENTITY_TYPES else ":Event"
            is_legal = only in NODE_TYPES
            if not is_legal:
                self.findings.report("ILLEGAL_NODE_TYPE", only, line=line, detail=Detail("OBJECT", only))
            elif not node.name.startswith(kind):
                is_legal, detail = False, Detail("OBJECT" if use.role == OBJECT else "SUBJECT", node.name)
                self.findings.report("INCOMPATIBLE_NODE_NAME", node.name, only.upper(), line=line, detail=detail)
            elif only not in node.types:
                node.types += (only,)
                node.type = only if len(node.types) == 1 else None
            use = use if is_legal else use_as(use.role)
        node.uses.setdefault(use, line)
