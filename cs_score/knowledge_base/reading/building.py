"""Assertions as they are added to a knowledge base, one after the other (specification 4)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from cs_score.coldstart.provenance import DocumentLengths
from cs_score.coldstart.queries import NODE_TYPES
from cs_score.knowledge_base.contents.assertions import TYPE, Assertion, KnowledgeBase, Node
from cs_score.knowledge_base.contents.node_names import is_node_name, suits
from cs_score.knowledge_base.contents.predicates import (
    OBJECT,
    SUBJECT,
    PredicateProblem,
    PredicateTable,
    Use,
    Verb,
    declaration,
    use_as,
)
from cs_score.knowledge_base.contents.provenance_lists import NO_PROVENANCE, ListReader, ProvenanceList
from cs_score.knowledge_base.reading.findings import Findings
from cs_score.knowledge_base.reading.kb_file import Line
from cs_score.knowledge_base.reading.repetitions import Repetitions
from cs_score.problems.log import Detail

_MERE_SUBJECT: Final = use_as(SUBJECT)
_TO_ESCAPE: Final = re.compile(r'["\\]')


class Builder:
    """Adds assertions to a knowledge base."""

    def __init__(
        self,
        base: KnowledgeBase,
        table: PredicateTable,
        repetitions: Repetitions,
        findings: Findings,
        documents: DocumentLengths | None,
    ) -> None:
        self.base = base
        self.repetitions = repetitions
        self.findings = findings
        self._nodes = base.nodes
        self._record = base.assertions.append
        self._table = table
        self._readings = table.readings
        self._lists = ListReader(documents)
        self._plain = self._lists.plain

    def add(self, line: Line, *, is_inferred: bool = False) -> Assertion | None:
        """Add what a line says. None where it is rejected or a mere repetition; the findings tell why."""
        number, subject_text, predicate, object_, is_string, _, _, _ = line
        subject = self._nodes.get(subject_text) or self._node(subject_text, "SUBJECT", number)
        if subject is None:
            return self._reject("NO_SUBJECT")
        has_event = subject.is_event or (not is_string and object_.startswith(":Event"))
        key = (predicate, subject.type, has_event)
        verb, realis, problems = self._readings.get(key) or self._table.read(*key)
        if problems:
            self._report_predicate(problems, predicate, number)
        if verb is None:
            self._note(subject, _MERE_SUBJECT, number)
            return self._reject("NO_PREDICATE")
        written = NO_PROVENANCE
        if verb.has_provenance:
            written = self._provenance(verb, subject, line, has_event, is_inferred)
        if verb.takes_nodes:
            return self._add_relation(subject, verb, realis, line, written, is_inferred)
        return self._add_text(subject, verb, realis, line, written, is_inferred)

    def _provenance(self, verb: Verb, subject: Node, line: Line, has_event: bool, is_inferred: bool) -> ProvenanceList:
        """The provenance as its column reads by itself: the object counts as it is written."""
        number, _, _, object_, is_string, text, _, _ = line
        has_string = not is_string and object_.startswith(":String")
        known = None if has_string or (has_event and not verb.is_mention) else self._plain.get(text)
        written = known or self._lists.read(text, has_event, has_string, verb.is_mention)
        if written.problems:
            self.findings.read(written, subject.name, number, again=is_inferred)
        if written.spans > 1:
            for _ in range(verb.one_span):
                self.findings.report(
                    "TOO_MANY_PROVENANCE_TRIPLES_E", written.spans, 1, line=number,
                    detail=Detail("PROVENANCE", written.text),
                )  # fmt: skip
        return written

    def _add_relation(
        self, subject: Node, verb: Verb, realis: str | None, line: Line, written: ProvenanceList, is_inferred: bool
    ) -> Assertion | None:
        """Add an assertion whose object is a node."""
        number, _, _, object_, _, text, confidence, comment = line
        if verb.as_subject not in subject.uses:
            self._note(subject, verb.as_subject, number)
        node = self._nodes.get(object_) or self._node(object_, "OBJECT", number)
        if node is None:
            self.base.unrecorded.append((subject, verb.as_subject, number))
            return self._reject("NO_OBJECT")
        if verb.as_object not in node.uses:
            self._note(node, verb.as_object, number)
        provenance = written if node.name == object_ else self._read_again(subject, verb, node.name, text)
        assertion = Assertion(
            subject, verb, realis, node.name, node, provenance, confidence, number, comment, is_inferred
        )
        if verb.is_compared and not self.repetitions.accepts(assertion, written):
            self.base.unrecorded += (subject, verb.as_subject, number), (node, verb.as_object, number)
            return self._reject("DUPLICATE")
        self._record(assertion)
        subject.others.append(assertion)
        return assertion

    def _add_text(
        self, subject: Node, verb: Verb, realis: str | None, line: Line, written: ProvenanceList, is_inferred: bool
    ) -> Assertion | None:
        """Add an assertion whose object is text: a mention, a type or a link."""
        number, _, _, object_, is_string, column, confidence, comment = line
        text = object_ if verb.takes_text and is_string else self._text(verb, object_, number)
        use = declaration(object_) if verb.name == TYPE else verb.as_subject
        if use not in subject.uses:
            self._note(subject, use, number)
        if text is None:
            return self._reject("BAD_PREDICATE")
        is_mended = verb.takes_text and not is_string
        provenance = self._read_again(subject, verb, text, column) if is_mended else written
        assertion = Assertion(subject, verb, realis, text, None, provenance, confidence, number, comment, is_inferred)
        if verb.is_compared and not self.repetitions.accepts(assertion, written):
            self.base.unrecorded.append((subject, use, number))
            return self._reject("DUPLICATE")
        self._record(assertion)
        if verb.takes_text:
            subject.add_mention(assertion)
        else:
            subject.others.append(assertion)
        return assertion

    def _reject(self, reason: str) -> Assertion | None:
        """No assertion, and one more that was rejected."""
        self.base.rejected[reason] = self.base.rejected.get(reason, 0) + 1
        return None

    def _report_predicate(self, problems: Iterable[PredicateProblem], predicate: str, line: int) -> None:
        for code, arguments in problems:
            repaired = arguments[2] if code == "PREDICATE_ALIAS" else None
            self.findings.report(code, *arguments, line=line, detail=Detail("PREDICATE", predicate, repaired))

    def _node(self, text: str, column: str, line: int) -> Node | None:
        """The node of this name, made if need be; None where the text cannot be one."""
        node = self._nodes.get(text)
        if node is not None:
            return node
        if not is_node_name(text):
            code = "STRING_USED_FOR_ENTITY" if text.startswith('"') else "ILLEGAL_NODE_NAME"
            self.findings.report(code, text, line=line, detail=Detail(column, text))
            return None
        name = text if text.startswith(":") else f":{text}"
        if name is not text:
            self.findings.report("COLON_OMITTED", text, line=line, detail=Detail(column, text, name))
        node = self._nodes.get(name)
        if node is None:
            node = self._nodes[name] = Node(name)
        return node

    def _read_again(self, subject: Node, verb: Verb, object_: str, text: str) -> ProvenanceList:
        """The provenance of an assertion whose object lacked its colon or its quotes when the column was first read."""
        has_event = subject.is_event or object_.startswith(":Event")
        return self._lists.read(text, has_event, object_.startswith(":String"), verb.is_mention)

    def _text(self, verb: Verb, written: str, line: int) -> str | None:
        """The object of a mention, a type or a link as it is kept; None where it cannot be that of a link."""
        if verb.name == TYPE:
            return written
        detail = Detail("OBJECT", written)
        if verb.takes_text:
            quoted = '"' + _TO_ESCAPE.sub(_escaped, written) + '"'
            self.findings.report("UNQUOTED_STRING", written, line=line, detail=detail._replace(repaired=quoted))
            return quoted
        if ":" in written:
            return written.removeprefix('"').removesuffix('"')
        self.findings.report("ILLEGAL_LINK_SPECIFICATION", written, line=line, detail=detail)
        return None

    def _note(self, node: Node, use: Use, line: int) -> None:
        """Note how a line uses a node, and the type that it gives to it.

        Where the node cannot have that type the findings tell why, for every line that says so.
        """
        if use.only is None:
            node.uses.setdefault(use, line)
        elif self._may_have(node, use.only, use.role, line):
            node.uses.setdefault(use, line)
            node.add_type(use.only)
        else:
            node.uses.setdefault(use_as(use.role), line)

    def _may_have(self, node: Node, node_type: str, role: int, line: int) -> bool:
        """Whether a node may have a type; if not, the findings tell why."""
        if node_type not in NODE_TYPES:
            self.findings.report("ILLEGAL_NODE_TYPE", node_type, line=line, detail=Detail("OBJECT", node_type))
            return False
        if not suits(node.name, node_type):
            self.findings.report(
                "INCOMPATIBLE_NODE_NAME", node.name, node_type.upper(), line=line,
                detail=Detail("OBJECT" if role == OBJECT else "SUBJECT", node.name),
            )  # fmt: skip
            return False
        return True


def _escaped(match: re.Match[str]) -> str:
    return f"\\{match.group()}"
