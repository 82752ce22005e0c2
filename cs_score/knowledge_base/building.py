"""Assertions as they are added to a knowledge base, one after the other (specification 4)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from cs_score.coldstart.queries.predicates import NODE_TYPES
from cs_score.coldstart.spans import DocumentLengths
from cs_score.knowledge_base.assertions import TYPE, Assertion, KnowledgeBase
from cs_score.knowledge_base.findings import Findings
from cs_score.knowledge_base.kb_file import Line
from cs_score.knowledge_base.nodes import OBJECT, SUBJECT, TYPEDEF, Node, is_node_name, suits
from cs_score.knowledge_base.predicates import PredicateProblem, PredicateTable, Verb
from cs_score.knowledge_base.provenance_lists import NO_PROVENANCE, ListReader, ProvenanceList
from cs_score.knowledge_base.repetitions import Repetitions
from cs_score.problems.log import Detail

_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
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
        number, subject_text, predicate, object_, text, confidence, comment = line
        subject = self._nodes.get(subject_text) or self._node(subject_text, "SUBJECT", number)
        if subject is None:
            return self._reject("NO_SUBJECT")
        is_event = subject.is_event or object_.startswith(":Event")
        key = (predicate, subject.type, is_event)
        verb, realis, problems = self._readings.get(key) or self._table.read(*key)
        if problems:
            self._report_predicate(problems, predicate, number)
        if verb is None:
            subject.uses[SUBJECT] = min(subject.uses[SUBJECT], number)
            return self._reject("NO_PREDICATE")
        written = NO_PROVENANCE
        if verb.has_provenance:
            has_string = object_.startswith(":String")
            known = None if has_string or (is_event and not verb.is_mention) else self._plain.get(text)
            written = known or self._lists.read(text, is_event, has_string, verb.is_mention)
            if written.problems or (written.spans > 1 and verb.one_span):
                self._report_provenance(written, verb, subject.name, number, is_inferred)
        provenance, node = written, None
        if verb.takes_nodes:
            node = self._take_nodes(subject, verb, object_, number)
            if node is None:
                return self._reject("NO_OBJECT")
            if node.name != object_:
                provenance = self._read_again(subject, verb, node, text)
            object_ = node.name
        else:
            taken = self._take_text(subject, verb, object_, number)
            if taken is None:
                return self._reject("BAD_PREDICATE")
            object_ = taken
        assertion = Assertion(
            subject, verb, realis, object_, node, provenance, confidence, number, comment, is_inferred
        )
        if verb.is_compared and not self.repetitions.accepts(assertion, written):
            return self._reject("DUPLICATE")
        self._record(assertion)
        subject.assertions.append(assertion)
        return assertion

    def _reject(self, reason: str) -> Assertion | None:
        """No assertion, and one more that was rejected."""
        self.base.rejected[reason] = self.base.rejected.get(reason, 0) + 1
        return None

    def _report_predicate(self, problems: Iterable[PredicateProblem], predicate: str, line: int) -> None:
        for code, arguments in problems:
            repaired = arguments[2] if code == "PREDICATE_ALIAS" else None
            self.findings.report(code, *arguments, line=line, detail=Detail("PREDICATE", predicate, repaired))

    def _report_provenance(self, written: ProvenanceList, verb: Verb, node: str, line: int, is_inferred: bool) -> None:
        if written.problems:
            self.findings.read(written, node, line, again=is_inferred)
        if written.spans > 1:
            for _ in range(verb.one_span):
                self.findings.report(
                    "TOO_MANY_PROVENANCE_TRIPLES_E", written.spans, 1, line=line,
                    detail=Detail("PROVENANCE", written.text),
                )  # fmt: skip

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

    def _read_again(self, subject: Node, verb: Verb, object_: Node, text: str) -> ProvenanceList:
        """The provenance of a relation whose object lacked its colon when the column was first read."""
        is_event = subject.is_event or object_.is_event
        return self._lists.read(text, is_event, object_.name.startswith(":String"), verb.is_mention)

    def _take_nodes(self, subject: Node, verb: Verb, object_: str, line: int) -> Node | None:
        """Note what a relation says of its nodes; the object, or None where it is no node."""
        self._use(subject, SUBJECT, verb.domain, verb.only_domain, line)
        node = self._nodes.get(object_) or self._node(object_, "OBJECT", line)
        if node is not None:
            self._use(node, OBJECT, verb.range, verb.only_range, line)
        return node

    def _take_text(self, subject: Node, verb: Verb, object_: str, line: int) -> str | None:
        """Note what a line says of its subject; the object as it is written, or None where it cannot be one."""
        if verb.takes_text:
            self._use(subject, SUBJECT, verb.domain, verb.only_domain, line)
            return object_ if _STRING.fullmatch(object_) else self._quoted(object_, line)
        if verb.name == TYPE:
            self._use(subject, TYPEDEF, verb.domain, object_.lower(), line)
            return object_
        subject.uses[SUBJECT] = min(subject.uses[SUBJECT], line)
        if ":" in object_:
            return object_.removeprefix('"').removesuffix('"')
        self.findings.report("ILLEGAL_LINK_SPECIFICATION", object_, line=line, detail=Detail("OBJECT", object_))
        return None

    def _quoted(self, text: str, line: int) -> str:
        quoted = f'"{_TO_ESCAPE.sub(_escaped, text)}"'
        self.findings.report("UNQUOTED_STRING", text, line=line, detail=Detail("OBJECT", text, quoted))
        return quoted

    def _use(self, node: Node, use: int, types: frozenset[str], only: str | None, line: int) -> None:
        """Note a use of a node, and the type that it gives to it: `only` one, or a choice of `types`."""
        if line < node.uses[use]:
            node.uses[use] = line
        if only is None:
            lines = node.possible.get(types)
            if lines is None:
                lines = node.possible[types] = []
            lines.append(line)
            return
        known = node.types.get(only)
        if known is None:
            if not self._may_have(node, only, use, line):
                return
            known = node.add_type(only)
        if line < known[use]:
            known[use] = line

    def _may_have(self, node: Node, node_type: str, use: int, line: int) -> bool:
        """Whether a node may have a type; if not, the findings tell why."""
        if node_type not in NODE_TYPES:
            self.findings.report("ILLEGAL_NODE_TYPE", node_type, line=line, detail=Detail("OBJECT", node_type))
            return False
        if not suits(node.name, node_type):
            self.findings.report(
                "INCOMPATIBLE_NODE_NAME", node.name, node_type.upper(), line=line,
                detail=Detail("OBJECT" if use == OBJECT else "SUBJECT", node.name),
            )  # fmt: skip
            return False
        return True


def _escaped(match: re.Match[str]) -> str:
    return f"\\{match.group()}"
