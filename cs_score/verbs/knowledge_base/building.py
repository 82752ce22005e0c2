"""Builds a knowledge base from its lines, and finds assertions that repeat or contradict earlier ones."""

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
from cs_score.preparation.documents import DocumentList
from cs_score.problems.log import Detail
from cs_score.verbs.knowledge_base.assertions import (
    MENTIONS,
    NO_PROVENANCE,
    TYPE,
    Assertion,
    KbNode,
    KnowledgeBase,
    ListReader,
    NodeUse,
    ProvenanceList,
)
from cs_score.verbs.knowledge_base.kb_file import KbFindings, KbLine
from cs_score.verbs.knowledge_base.predicates import (
    OBJECT,
    SUBJECT,
    PredicateProblem,
    PredicateTable,
    PredicateVerb,
    Use,
    declaration,
    use_as,
)


class Multiple(StrEnum):
    """How many justifications of the same relation are kept: all different ones, one, or one for each document."""

    MANY = "MANY"
    ONE = "ONE"
    ONEPERDOC = "ONEPERDOC"


class KbOptions(Record):
    """The options of the validation of a knowledge base."""

    task: str = "CSKB"
    multiple: Multiple = Multiple.MANY
    documents: DocumentList | None = None
    table: PredicateTable = field(default_factory=PredicateTable)


# ---- Repetitions and single values

_JUSTIFICATION_KEYS: Final[dict[Multiple, Callable[[ProvenanceList], str]]] = {
    Multiple.MANY: attrgetter("key"),
    Multiple.ONE: lambda provenance: "",
    Multiple.ONEPERDOC: attrgetter("docid"),
}
"""By option, the function that returns the key of a justification. Of justifications with the same key one is kept."""

_Relation: TypeAlias = tuple[KbNode, str, str]
"""Subject, predicate and object of an assertion; its repetitions have the same ones."""


def _relation_of(assertion: Assertion) -> _Relation:
    """Return the subject, the predicate and the object of an assertion."""
    return assertion.subject, assertion.verb.name, assertion.object


class _Searches(Struct):
    """The searches of the reference program for repetitions among the assertions of a relation.

    That program looks at the assertions in the order of recording until it finds a repetition, and reports the problems
    in the provenance of each assertion again. `end_lines` are the lines at which the searches ended, in ascending
    order; `assertions_with_problems` are the assertions with such problems.
    """

    end_lines: list[int] = field(default_factory=list)
    assertions_with_problems: list[Assertion] = field(default_factory=list)


class _SlotValues:
    """The values that a node has in a slot that takes a single value: the assertions of each object."""

    def __init__(self) -> None:
        # Objects are numbered in the order of their first assertion.
        self._number_by_object: dict[str, int] = {}
        self._assertions_by_number: dict[int, deque[Assertion]] = defaultdict(deque)
        self._numbers_in_use: list[int] = []  # of objects that may still have assertions, ascending

    def add(self, assertion: Assertion) -> None:
        """Add an assertion that is not omitted."""
        number = self._number_by_object.setdefault(assertion.object, len(self._number_by_object))
        if not self._assertions_by_number[number]:
            insort(self._numbers_in_use, number)
        self._assertions_by_number[number].append(assertion)

    def first_with_other_object(self, value: str) -> Assertion | None:
        """Return the first assertion of the first object other than `value`; None if there is no other object.

        Assertions that were omitted meanwhile are removed first.
        """
        own_number = self._number_by_object.get(value)
        position = 0
        while position < len(self._numbers_in_use):
            number = self._numbers_in_use[position]
            assertions = self._assertions_by_number[number]
            while assertions and assertions[0].is_omitted:
                assertions.popleft()
            if not assertions:
                del self._numbers_in_use[position]
            elif number == own_number:
                position += 1
            else:
                return assertions[0]
        return None


class Repetitions:
    """Finds assertions that repeat or contradict earlier ones, and omits the weaker ones.

    The weaker of two assertions is the one with the lower confidence, or the later one if the confidences are equal.
    """

    def __init__(self, multiple: Multiple, findings: KbFindings, *, one_value: bool) -> None:
        """Take the options. If `one_value`, only the strongest value is kept of a slot that takes a single value."""
        self._justification_key = _JUSTIFICATION_KEYS[multiple]
        self._findings = findings
        self._one_value = one_value
        # The assertions that later ones may repeat, by relation and the key of their justification.
        self._recorded: dict[tuple[KbNode, str, str, str], Assertion] = {}
        self._values_by_slot: dict[tuple[KbNode, str], _SlotValues] = defaultdict(_SlotValues)
        # Only for relations that have an assertion with problems in its provenance.
        self._searches: dict[_Relation, _Searches] = {}

    def accepts(self, new: Assertion, column: ProvenanceList) -> bool:
        """Return whether a new assertion is to be recorded, which is so unless it only repeats an earlier one.

        The new assertion, or an earlier one, may be marked as omitted. `column` is the provenance column, read with the
        object of the file. It is compared with earlier provenances; the provenance of the assertion itself may differ
        from it if the object was repaired.
        """
        verb = new.verb
        relation = (new.subject, verb.name, new.object)
        key = (*relation, self._justification_key(column))
        earlier = self._recorded.get(key)
        is_repetition = False
        # In most cases there is no earlier assertion and no search to count, and the call is saved.
        if (earlier is not None or self._searches) and not verb.may_repeat:
            is_repetition = self._repeats(new, column, earlier)
        if self._one_value and verb.predicate.is_single_valued:
            self._compare_values(new, is_repetition=is_repetition)
        if not (is_repetition or verb.may_repeat or new.is_inferred or new.is_omitted):
            if new.provenance is not column:
                key = (*relation, self._justification_key(new.provenance))
            self._recorded[key] = new
            if new.provenance.problems:
                searches = self._searches.setdefault(relation, _Searches())
                searches.assertions_with_problems.append(new)
        return not is_repetition

    def _repeats(self, new: Assertion, column: ProvenanceList, earlier: Assertion | None) -> bool:
        """Return whether a new assertion only repeats an earlier one, which has the same key of justification.

        If their provenances differ, return False and omit the weaker one. `earlier` is None if there is no earlier one;
        `column` is the provenance column of the new assertion. Report a repetition in both cases.
        """
        if earlier is not None and earlier.is_omitted:
            earlier = None
        self._count_search(new, earlier)
        if earlier is None:
            return False
        self._findings.report_again(earlier)
        self._findings.report("DUPLICATE_ASSERTION", str(self._findings.place(earlier.line)), line=new.line)
        if earlier.provenance.key == column.key:
            return True
        self._omit_weaker(new, earlier)
        return False

    def _count_search(self, new: Assertion, earlier: Assertion | None) -> None:
        """Record the line at which the search for an earlier assertion ended.

        It is the line of the earlier assertion, or, without one, the line of the last recorded assertion.
        """
        searches = self._searches.get(_relation_of(new))
        if searches is None:
            return
        if earlier is not None:
            end_line = earlier.line
        elif new.is_inferred:  # after the last line
            end_line = sys.maxsize
        else:
            end_line = new.line - 1
        insort(searches.end_lines, end_line)

    def _compare_values(self, new: Assertion, *, is_repetition: bool) -> None:
        """Omit the new assertion or an earlier one if a slot that takes a single value has two, and report that."""
        values = self._values_by_slot[new.subject, new.verb.name]
        other = values.first_with_other_object(new.object)
        if other is not None:
            self._findings.report("MULTIPLE_FILLS_ENTITY", new.subject.name, new.verb.name, line=new.line)
            self._omit_weaker(new, other)
        if not (is_repetition or new.is_omitted):
            values.add(new)

    def has_recorded(self, subject: KbNode, predicate: str, object_: str, provenance: ProvenanceList) -> bool:
        """Return True if it is certain that such an assertion was recorded; False leaves both possible.

        `predicate` and `object_` are as in `Assertion`; the text of the provenance must be equal, too.
        """
        earlier = self._recorded.get((subject, predicate, object_, provenance.key))
        return earlier is not None and earlier.provenance.text == provenance.text

    def omit(self, assertion: Assertion) -> None:
        """Mark an assertion as omitted, after reporting the problems of its provenance for the searches so far."""
        if assertion.provenance.problems and not assertion.is_omitted:
            self._report_searches(assertion)
        assertion.is_omitted = True

    def _omit_weaker(self, new: Assertion, earlier: Assertion) -> None:
        """Omit the weaker of two assertions; the new one if both have the same confidence and line."""
        new_strength = (float(new.confidence), -new.line)
        earlier_strength = (float(earlier.confidence), -earlier.line)
        self.omit(new if new_strength <= earlier_strength else earlier)

    def finish(self) -> None:
        """Report the problems of provenances again, once for each search that looked at their assertion."""
        for searches in self._searches.values():
            for assertion in searches.assertions_with_problems:
                if not assertion.is_omitted:
                    self._report_searches(assertion)

    def _report_searches(self, assertion: Assertion) -> None:
        """Report the problems of an assertion's provenance once for each search that looked at the assertion."""
        searches = self._searches.get(_relation_of(assertion))
        if searches is None or assertion.is_inferred:
            return
        count_before = bisect_left(searches.end_lines, assertion.line)  # searches that ended before this assertion
        self._findings.report_again(assertion, len(searches.end_lines) - count_before)


# ---- Adding assertions

_TO_ESCAPE: Final = re.compile(r'["\\]')


class Builder:
    """Adds assertions to a knowledge base, reports their problems, and repairs them if possible."""

    def __init__(self, base: KnowledgeBase, findings: KbFindings, options: KbOptions, *, one_value: bool) -> None:
        """Take the options. If `one_value`, only the strongest value is kept of a slot that takes a single value."""
        self.base = base
        self.findings = findings
        self.repetitions = Repetitions(options.multiple, findings, one_value=one_value)
        self._nodes = base.nodes
        self._table = options.table
        self._lists = ListReader(None if options.documents is None else options.documents.lengths)

    def add(self, line: KbLine, *, is_inferred: bool = False) -> Assertion | None:
        """Add the assertion of a line, and return it; None if the line is rejected or only repeats an earlier one.

        `is_inferred` says that the line is not in the file, but was inferred from the line with its number.
        """
        subject = self._nodes.get(line.subject) or self._find_node(line.subject, "SUBJECT", line.number)
        if subject is None:
            self._reject("NO_SUBJECT")
            return None
        has_event = subject.is_event or (not line.is_string and line.object.startswith(":Event"))
        verb, realis, problems = self._table.read(line.predicate, subject.type, has_event)
        if problems:
            self._report_predicate(problems, line)
        if verb is None:
            subject.uses.setdefault(use_as(SUBJECT), line.number)
            self._reject("NO_PREDICATE")
            return None
        column = NO_PROVENANCE
        if verb.has_provenance:
            has_string = not line.is_string and line.object.startswith(":String")
            column = self._lists.read(line.provenance, has_event, has_string, verb.is_mention)
            if column.problems or column.span_count > 1:
                self._report_provenance(column, verb, subject, line.number, with_fatal=not is_inferred)
        use = declaration(line.object) if verb.name == TYPE else verb.as_subject
        text: str | None = line.object
        if not (verb.takes_nodes or (verb.takes_text and line.is_string)):
            text = self._repair_text(verb, line)
        if use not in subject.uses:
            self._note_use(subject, use, line.number)
        node = None
        if verb.takes_nodes:
            node = self._nodes.get(line.object) or self._find_node(line.object, "OBJECT", line.number)
            if node is None:
                self.base.unrecorded_uses.append(NodeUse(subject, use, line.number))
                self._reject("NO_OBJECT")
                return None
            text = node.name
            if verb.as_object not in node.uses:
                self._note_use(node, verb.as_object, line.number)
        if text is None:
            self._reject("BAD_PREDICATE")
            return None
        assertion = Assertion(
            subject=subject,
            verb=verb,
            realis=realis,
            object=text,
            node=node,
            provenance=column if text == line.object else self._read_repaired(column, verb, subject, text),
            confidence=line.confidence,
            line=line.number,
            comment=line.comment,
            is_inferred=is_inferred,
        )
        if verb.is_compared and not self.repetitions.accepts(assertion, column):
            self._note_repetition(assertion, use)
            self._reject("DUPLICATE")
            return None
        self._record(assertion)
        return assertion

    def _read_repaired(self, column: ProvenanceList, verb: PredicateVerb, subject: KbNode, text: str) -> ProvenanceList:
        """Return the provenance list of a column, read again with the repaired object `text`."""
        if not verb.has_provenance:
            return column
        has_event = subject.is_event or text.startswith(":Event")
        return self._lists.read(column.text, has_event, text.startswith(":String"), verb.is_mention)

    def _record(self, assertion: Assertion) -> None:
        """Add an assertion to the knowledge base and to its subject."""
        self.base.assertions.append(assertion)
        subject = assertion.subject
        if not assertion.verb.takes_text:
            subject.others.append(assertion)
            return
        subject.mentions.append(assertion)
        if assertion.verb.name in MENTIONS:
            subject.documents.add(assertion.provenance.docid)

    def _note_repetition(self, assertion: Assertion, use: Use) -> None:
        """Add the uses of nodes by a repetition, which are checked although the repetition is not recorded."""
        self.base.unrecorded_uses.append(NodeUse(assertion.subject, use, assertion.line))
        if assertion.node is not None:
            self.base.unrecorded_uses.append(NodeUse(assertion.node, assertion.verb.as_object, assertion.line))

    def _reject(self, reason: str) -> None:
        """Count a line that is rejected for this reason."""
        self.base.rejected[reason] = self.base.rejected.get(reason, 0) + 1

    def _report_predicate(self, problems: tuple[PredicateProblem, ...], line: KbLine) -> None:
        """Report the problems of the predicate of a line, for an alias with the replacement."""
        for code, arguments in problems:
            repaired = arguments[2] if code == "PREDICATE_ALIAS" else None
            detail = Detail("PREDICATE", line.predicate, repaired)
            self.findings.report(code, *arguments, line=line.number, detail=detail)

    def _report_provenance(
        self, column: ProvenanceList, verb: PredicateVerb, subject: KbNode, line: int, *, with_fatal: bool
    ) -> None:
        """Report the problems of a provenance column, and several spans if the predicate allows only one.

        Fatal problems are left out unless `with_fatal`.
        """
        if column.problems:
            self.findings.troubled_nodes.add(subject.name)
            self.findings.report_spans(column, line, with_fatal=with_fatal)
        if column.span_count > 1:
            detail = Detail("PROVENANCE", column.text)
            for _ in range(verb.span_complaints):
                self.findings.report("TOO_MANY_PROVENANCE_TRIPLES_E", column.span_count, 1, line=line, detail=detail)

    def _find_node(self, text: str, column: str, line: int) -> KbNode | None:
        """Return the node with the name in a column of a line; a new node if there is none yet.

        If the text of the column is no name, report that and return None. A missing colon before the name is added, and
        reported, too.
        """
        if not is_node_name(text):
            code = "STRING_USED_FOR_ENTITY" if text.startswith('"') else "ILLEGAL_NODE_NAME"
            self.findings.report(code, text, line=line, detail=Detail(column, text))
            return None
        name = text if text.startswith(":") else f":{text}"
        if name is not text:
            self.findings.report("COLON_OMITTED", text, line=line, detail=Detail(column, text, name))
        if name not in self._nodes:
            self._nodes[name] = KbNode(name)
        return self._nodes[name]

    def _repair_text(self, verb: PredicateVerb, line: KbLine) -> str | None:
        """Return the repaired object of a mention, a type or a link, and report its problem.

        Quotes are added around the object of a mention and removed from that of a link. Return None for a link without
        a colon, which cannot be repaired.
        """
        text = line.object
        if verb.name == TYPE:
            return text
        if verb.takes_text:
            quoted = '"' + _TO_ESCAPE.sub(r"\\\g<0>", text) + '"'
            self.findings.report("UNQUOTED_STRING", text, line=line.number, detail=Detail("OBJECT", text, quoted))
            return quoted
        if ":" in text:
            return text.removeprefix('"').removesuffix('"')
        self.findings.report("ILLEGAL_LINK_SPECIFICATION", text, line=line.number, detail=Detail("OBJECT", text))
        return None

    def _note_use(self, node: KbNode, use: Use, line: int) -> None:
        """Record a use of a node by a line if it is the first such use, and the type that the use gives to the node.

        If the node cannot have that type, this is reported for every such line, and the use is recorded without it.
        """
        node_type = use.single_type
        if node_type is not None and not self._give_type(node, node_type, use.role, line):
            use = use_as(use.role)
        node.uses.setdefault(use, line)

    def _give_type(self, node: KbNode, node_type: str, role: int, line: int) -> bool:
        """Add a type to a node and return True; if the node cannot have the type, report that and return False.

        `role` is the role of the node in the line.
        """
        if node_type not in NODE_TYPES:
            self.findings.report("ILLEGAL_NODE_TYPE", node_type, line=line, detail=Detail("OBJECT", node_type))
            return False
        if not node.name.startswith(_name_prefix(node_type)):
            detail = Detail("OBJECT" if role == OBJECT else "SUBJECT", node.name)
            arguments = (node.name, node_type.upper())
            self.findings.report("INCOMPATIBLE_NODE_NAME", *arguments, line=line, detail=detail)
            return False
        if node_type not in node.types:
            node.types += (node_type,)
            node.type = node_type if len(node.types) == 1 else None
        return True


def _name_prefix(node_type: str) -> str:
    """Return the prefix of the names of all nodes of a type: ":String", ":Entity" or ":Event"."""
    if node_type == "string":
        return ":String"
    if node_type in ENTITY_TYPES:
        return ":Entity"
    return ":Event"
