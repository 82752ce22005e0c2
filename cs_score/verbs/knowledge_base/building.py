"""Builds a knowledge base from its lines: each asserts something about a node, such as `:Entity_1`, with a provenance
(places in documents). Finds assertions that repeat or contradict earlier ones; the weaker ones are omitted, that is,
they are not written.
"""

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
from cs_score.preparation.source_documents import DocumentList
from cs_score.problems.log import Detail
from cs_score.verbs.knowledge_base.assertions import (
    MENTIONS,
    NO_PROVENANCE,
    TYPE,
    Assertion,
    KbNode,
    KnowledgeBase,
    NodeUse,
    ProvenanceList,
    ProvenanceListReader,
)
from cs_score.verbs.knowledge_base.kb_file import KbFindings, KbLine
from cs_score.verbs.knowledge_base.predicates import (
    OBJECT,
    SUBJECT,
    KbPredicate,
    PredicateProblem,
    PredicateTable,
    Use,
    use_as,
    use_by_declaration,
)


class KeptJustifications(StrEnum):
    """How many justifications are kept if several lines assert the same relation.

    MANY keeps all different justifications, ONE keeps a single one, and ONEPERDOC keeps one for each document.
    """

    MANY = "MANY"
    ONE = "ONE"
    ONEPERDOC = "ONEPERDOC"


class KbOptions(Record):
    """The options of the validation of a knowledge base.

    `task` is the validation task, such as "CSKB"; it says which predicates are accepted. `documents` are those that
    provenances may name; if it is None, provenances are not compared with documents. `table` has the predicates that
    the knowledge base may use.
    """

    task: str = "CSKB"
    kept_justifications: KeptJustifications = KeptJustifications.MANY
    documents: DocumentList | None = None
    table: PredicateTable = field(default_factory=PredicateTable)


# ---- Repetitions and single values

_KEY_FUNCTIONS: Final[dict[KeptJustifications, Callable[[ProvenanceList], str]]] = {
    KeptJustifications.MANY: attrgetter("key"),
    KeptJustifications.ONE: lambda provenance: "",
    KeptJustifications.ONEPERDOC: attrgetter("docid"),
}
"""By option, the function that returns the key of a provenance. Of the provenances with the same key one is kept."""

_Relation: TypeAlias = tuple[KbNode, str, str]
"""Subject, predicate and object of an assertion; its repetitions have the same ones."""


def _relation_of(assertion: Assertion) -> _Relation:
    """Return the subject, the predicate and the object of an assertion."""
    return assertion.subject, assertion.predicate.name, assertion.object


def _end_of_search(new: Assertion, repeated: Assertion | None) -> int:
    """Return the number of the last line that the reference program searches for a copy of a new assertion.

    This is the line of `repeated`, the assertion that the new one repeats. If the new assertion repeats nothing, the
    program searches all lines before it.
    """
    if repeated is not None:
        return repeated.line
    # Assertions are inferred after the last line of the file.
    return sys.maxsize if new.is_inferred else new.line - 1


class _SearchesOfReference(Struct):
    """The searches in which the reference program looks for repeated assertions of a relation.

    For each new assertion, the program goes through the earlier ones in the order of recording until it finds one that
    the new assertion repeats. Whenever it looks at an assertion, it reports the problems in its provenance once more.
    The searches are counted here so that these problems can be reported equally often. `end_lines` are the lines of the
    assertions at which the searches ended, in ascending order. `assertions_with_problems` are the assertions with
    problems in their provenance.
    """

    end_lines: list[int] = field(default_factory=list)
    assertions_with_problems: list[Assertion] = field(default_factory=list)


class _SlotValues:
    """The values of a node in a slot that takes a single value, such as per:date_of_birth: the assertions by object."""

    def __init__(self) -> None:
        """Start with a slot that has no values."""
        # Objects are numbered in the order of their first assertion, and compared in this order. An object keeps its
        # number when its assertions are removed, because a later assertion may bring it back.
        self._number_by_object: dict[str, int] = {}
        self._assertions_by_object: dict[str, deque[Assertion]] = {}

    def add(self, assertion: Assertion) -> None:
        """Add an assertion whose object becomes a value of the slot. The assertion may be omitted later."""
        value = assertion.object
        if value not in self._number_by_object:
            self._number_by_object[value] = len(self._number_by_object)  # objects are compared in this order
        if value not in self._assertions_by_object:
            self._assertions_by_object[value] = deque()
        self._assertions_by_object[value].append(assertion)

    def first_with_other_object(self, value: str) -> Assertion | None:
        """Return the first assertion about an object other than `value`; None if there is no other object.

        Objects are in the order of their first assertion. Assertions that have been omitted since they were added do
        not count.
        """
        for other_value in sorted(self._assertions_by_object, key=self._number_by_object.__getitem__):
            if other_value == value:
                continue
            self._drop_leading_omitted(other_value)
            assertions = self._assertions_by_object.get(other_value)
            if assertions:
                return assertions[0]
        return None

    def _drop_leading_omitted(self, object_: str) -> None:
        """Remove the leading assertions about an object, up to the first one that is not omitted.

        If all assertions about the object are omitted, the object itself is removed as well.
        """
        assertions = self._assertions_by_object[object_]
        while assertions and assertions[0].is_omitted:
            assertions.popleft()
        if not assertions:
            del self._assertions_by_object[object_]


class Repetitions:
    """Finds assertions that repeat or contradict earlier ones, and omits the weaker ones. It also counts how often the
    reference program searches for repetitions, because that program reports the problems of an assertion's provenance
    at each search.

    The weaker of two assertions is the one with the lower confidence, or the later one if the confidences are equal.
    """

    def __init__(
        self, kept_justifications: KeptJustifications, findings: KbFindings, *, only_strongest_value: bool
    ) -> None:
        """Start without any assertions. Problems are reported to `findings`.

        `kept_justifications` determines which assertions of a relation are treated as repetitions. If
        `only_strongest_value` is true, a single-valued slot keeps only the value with the highest confidence.
        """
        self._key_of_provenance = _KEY_FUNCTIONS[kept_justifications]
        self._findings = findings
        self._only_strongest_value = only_strongest_value
        # The assertions that later ones may repeat, by subject, predicate, object and the key of their provenance.
        self._assertion_by_key: dict[tuple[KbNode, str, str, str], Assertion] = {}
        # The values of each slot, by node and predicate.
        self._values_by_slot: dict[tuple[KbNode, str], _SlotValues] = defaultdict(_SlotValues)
        # The searches of the reference program among the assertions of a relation (subject, predicate and object). They
        # are counted because the program reports the problems of a provenance at each search.
        self._searches_by_relation: dict[_Relation, _SearchesOfReference] = {}

    def compare_with_earlier(self, new: Assertion, column: ProvenanceList) -> bool:
        """Report a new assertion if it repeats or contradicts an earlier one, and return whether to keep it.

        The new assertion is not kept if it has the same provenance as the assertion that it repeats. Otherwise, the
        weaker of the two may be marked as omitted. `column` is the provenance column of the new line, read with the
        object as written in the file. The provenance of `new`, by contrast, was read with the repaired object if there
        was a repair.
        """
        predicate = new.predicate
        repeated = None if predicate.is_repeatable else self._find_repeated(new, column)
        is_exact_repetition = False
        if repeated is not None:
            self._report_repetition(new, repeated)
            is_exact_repetition = repeated.provenance.key == column.key
            if not is_exact_repetition:
                self._omit_weaker(new, repeated)
        if self._only_strongest_value and predicate.definition.is_single_valued:
            self._compare_with_other_values(new, adds_value=not is_exact_repetition)
        if is_exact_repetition:
            return False
        # Later assertions are compared with this one unless its predicate allows repetition, it was inferred, or it is
        # omitted.
        if not (predicate.is_repeatable or new.is_inferred or new.is_omitted):
            self._remember(new)
        return True

    def _remember(self, new: Assertion) -> None:
        """Remember a new assertion, to be compared with later assertions."""
        relation = _relation_of(new)
        self._assertion_by_key[*relation, self._key_of_provenance(new.provenance)] = new
        if new.provenance.problems:
            # From now on, the searches of the reference program among the assertions of this relation are counted.
            searches = self._searches_by_relation.setdefault(relation, _SearchesOfReference())
            searches.assertions_with_problems.append(new)

    def _find_repeated(self, new: Assertion, column: ProvenanceList) -> Assertion | None:
        """Return the earlier assertion that a new one repeats, or None if there is none or it is omitted.

        The earlier assertion has the same subject, predicate and object, and its provenance has the same key as
        `column`, the provenance column of the new assertion.
        """
        earlier = self._assertion_by_key.get((*_relation_of(new), self._key_of_provenance(column)))
        if earlier is not None and earlier.is_omitted:
            earlier = None
        # Few knowledge bases have searches to count, and the check saves a call for all others.
        if self._searches_by_relation:
            self._count_search(new, earlier)
        return earlier

    def _report_repetition(self, new: Assertion, repeated: Assertion) -> None:
        """Report that a new assertion repeats an earlier one, after the problems in the provenance of the earlier one.

        The reference program parses that provenance for each comparison, and reports its problems every time.
        """
        self._findings.report_provenance_again(repeated)
        self._findings.report("DUPLICATE_ASSERTION", str(self._findings.place(repeated.line)), line=new.line)

    def _count_search(self, new: Assertion, repeated: Assertion | None) -> None:
        """Record the line at which the reference program's search for a repeated assertion ends.

        The searches are counted so that problems can be reported as often as the program reports them. This matters
        only for relations with at least one assertion whose provenance has problems. `repeated` is the assertion that
        is repeated, or None if there is none.
        """
        searches = self._searches_by_relation.get(_relation_of(new))
        if searches is not None:
            insort(searches.end_lines, _end_of_search(new, repeated))

    def _compare_with_other_values(self, new: Assertion, *, adds_value: bool) -> None:
        """Report that a single-valued slot gets a second value, and omit the weaker of the two assertions.

        Nothing is reported if the new assertion gives the slot its first value. If `adds_value` is true, the value of
        the new assertion is added to the slot unless that assertion is the weaker one.
        """
        values = self._values_by_slot[new.subject, new.predicate.name]
        other = values.first_with_other_object(new.object)
        if other is not None:
            self._findings.report("MULTIPLE_FILLS_ENTITY", new.subject.name, new.predicate.name, line=new.line)
            self._omit_weaker(new, other)
        if adds_value and not new.is_omitted:
            values.add(new)

    def has_recorded(self, subject: KbNode, predicate: str, object_: str, provenance: ProvenanceList) -> bool:
        """Return True if an assertion with these columns has been remembered for comparison with later ones.

        The text of the provenance must also be equal. If the result is False, the knowledge base may still have an
        assertion with these columns: inferred and omitted assertions are not remembered, and if several assertions have
        equal keys, only the last one is.
        """
        earlier = self._assertion_by_key.get((subject, predicate, object_, provenance.key))
        return earlier is not None and earlier.provenance.text == provenance.text

    def omit(self, assertion: Assertion) -> None:
        """Mark an assertion as omitted. An omitted assertion is checked like the others, but it is not written.

        Later searches for repetitions do not look at an omitted assertion. Therefore the problems of its provenance are
        reported now, once for each search that has looked at it so far.
        """
        if assertion.provenance.problems and not assertion.is_omitted:
            self._report_once_per_search(assertion)
        assertion.is_omitted = True

    def _omit_weaker(self, new: Assertion, earlier: Assertion) -> None:
        """Omit the assertion with the lower confidence, or the later one if the confidences are equal."""
        new_strength = (float(new.confidence), -new.line)
        earlier_strength = (float(earlier.confidence), -earlier.line)
        # An inferred assertion can have the line of the earlier one; then it is the weaker one.
        if new_strength <= earlier_strength:
            self.omit(new)
        else:
            self.omit(earlier)

    def report_problems_of_searches(self) -> None:
        """Report the problems of each provenance once per search of the reference program that reached its assertion.

        This must be called after all assertions have been compared.
        """
        for searches in self._searches_by_relation.values():
            for assertion in searches.assertions_with_problems:
                if not assertion.is_omitted:  # for omitted assertions, this was done when they were omitted
                    self._report_once_per_search(assertion)

    def _report_once_per_search(self, assertion: Assertion) -> None:
        """Report the problems of an assertion's provenance once for each search that looked at the assertion."""
        searches = self._searches_by_relation.get(_relation_of(assertion))
        if searches is None or assertion.is_inferred:
            return
        # Searches that ended at an earlier line did not come to this assertion.
        count_ended_before = bisect_left(searches.end_lines, assertion.line)
        count_to_report = len(searches.end_lines) - count_ended_before
        self._findings.report_provenance_again(assertion, count_to_report)


# ---- Adding assertions

_TO_ESCAPE: Final = re.compile(r'["\\]')


class Builder:
    """Adds assertions to a knowledge base, reports their problems, and repairs them if possible."""

    def __init__(
        self, kb: KnowledgeBase, findings: KbFindings, options: KbOptions, *, only_strongest_value: bool
    ) -> None:
        """Make a builder that adds assertions to the knowledge base `kb`, and reports problems to `findings`.

        If `only_strongest_value` is true, a single-valued slot keeps only the value with the highest confidence.
        """
        self.kb = kb
        self.findings = findings
        self.repetitions = Repetitions(options.kept_justifications, findings, only_strongest_value=only_strongest_value)
        self._nodes = kb.nodes
        self._predicate_table = options.table
        document_lengths = None if options.documents is None else options.documents.length_by_docid
        self._list_reader = ProvenanceListReader(document_lengths)

    def add(self, line: KbLine, *, is_inferred: bool = False) -> Assertion | None:
        """Add the assertion of a line and return it, or None if the line is rejected or only repeats an earlier one.

        `is_inferred` says that the line is not in the file, but was inferred from the line with its number. The columns
        are read in the order of the reference program, so that problems are reported in the same order.
        """
        # Nearly all nodes are known: then the look-up saves a call.
        subject = self._nodes.get(line.subject) or self._node_of_column(line.subject, "SUBJECT", line.number)
        if subject is None:
            self._count_rejected("NO_SUBJECT")
            return None
        assertion = self._read_assertion(line, subject, is_inferred=is_inferred)
        if assertion is None:
            return None
        if assertion.predicate.is_compared_with_earlier:
            provenance = self._provenance_before_repair(line, assertion)
            if not self.repetitions.compare_with_earlier(assertion, provenance):
                self._reject_repetition(assertion)
                return None
        self._record(assertion)
        return assertion

    def _read_assertion(self, line: KbLine, subject: KbNode, *, is_inferred: bool) -> Assertion | None:
        """Return the assertion that a line makes about its subject, or None if the line is rejected.

        The problems of the line are reported, and its uses of nodes (as subject or object, with certain types) are
        recorded. `is_inferred` says that the line was inferred from another one.
        """
        predicate, realis = self._read_predicate(line, subject)
        if predicate is None:
            return None
        # As in the reference program, problems of the provenance are reported before those of the object. They are
        # determined with the object as written in the file.
        provenance = self._read_provenance(line.provenance, subject, predicate, line.object)
        if provenance.problems or provenance.span_count > 1:
            self._report_provenance(provenance, predicate, subject, line.number, with_fatal=not is_inferred)
        text_and_node = self._read_object(line, predicate, subject)
        if text_and_node is None:
            return None
        text, node = text_and_node
        is_repaired = text != line.object
        if is_repaired:
            # Read the provenance again, without reporting. It needs one more part if the object is a string node, and
            # "String_1" is recognized as the name of a string node only after its repair to ":String_1".
            provenance = self._read_provenance(line.provenance, subject, predicate, text)
        return Assertion(
            subject=subject,
            predicate=predicate,
            realis=realis,
            object=text,
            object_node=node,
            provenance=provenance,
            confidence=line.confidence,
            line=line.number,
            comment=line.comment,
            is_inferred=is_inferred,
        )

    def _read_predicate(self, line: KbLine, subject: KbNode) -> tuple[KbPredicate | None, str | None]:
        """Return the predicate of a line and its realis, such as "actual", and report the problems of the column.

        The realis is None if the column has none. If the predicate is None, the line has been counted as rejected.
        """
        has_event = subject.is_event or line.object.startswith(":Event")
        predicate, realis, problems = self._predicate_table.read(line.predicate, subject.type, has_event)
        if problems:
            self._report_predicate(problems, line)
        if predicate is None:
            # The use of the subject is recorded even if the line is rejected, since problems of the node may be
            # reported at this line.
            subject.first_line_by_use.setdefault(use_as(SUBJECT), line.number)
            self._count_rejected("NO_PREDICATE")
        return predicate, realis

    def _read_provenance(self, text: str, subject: KbNode, predicate: KbPredicate, object_text: str) -> ProvenanceList:
        """Return the provenance list of a column with this text.

        The number of parts that the column should have depends on the subject, the predicate and the object.
        `object_text` is the object, either as written in the file or after repair, such as ":String_1".
        """
        if not predicate.has_provenance:
            return NO_PROVENANCE
        has_event = subject.is_event or object_text.startswith(":Event")
        has_string = object_text.startswith(":String")
        return self._list_reader.read(text, has_event, has_string, predicate.is_mention)

    def _provenance_before_repair(self, line: KbLine, assertion: Assertion) -> ProvenanceList:
        """Return the provenance list of a line, read with the object as written in the file, before any repair.

        The number of parts that a provenance should have depends on the object.
        """
        if assertion.object == line.object:
            return assertion.provenance
        return self._read_provenance(line.provenance, assertion.subject, assertion.predicate, line.object)

    def _read_object(self, line: KbLine, predicate: KbPredicate, subject: KbNode) -> tuple[str, KbNode | None] | None:
        """Return the object of a line as text and as a node, such as ":Entity_1" and the node with this name.

        The node is None if the object is plain text. The line's uses of its subject and object are recorded. If the
        object is illegal, the line is counted as rejected, and None is returned.
        """
        if predicate.has_node_object:
            return self._read_node_object(line, predicate, subject)
        text: str | None = line.object
        needs_no_repair = predicate.has_text_object and line.is_string
        if not needs_no_repair:  # true for most texts, so the check saves a call
            text = self._repair_text(predicate, line)
        # The use of the subject is recorded even if the line is rejected below.
        subject_use = use_by_declaration(line.object) if predicate.name == TYPE else predicate.subject_use
        if subject_use not in subject.first_line_by_use:
            self._record_new_use(subject, subject_use, line.number)
        if text is None:
            self._count_rejected("BAD_PREDICATE")
            return None
        return text, None

    def _read_node_object(self, line: KbLine, predicate: KbPredicate, subject: KbNode) -> tuple[str, KbNode] | None:
        """Return the object of a line that is a node: its name, such as ":Entity_1", and the node.

        The line's uses of its subject and object are recorded. If the object is not the name of a node, the line is
        counted as rejected, and None is returned.
        """
        # Most uses are already known, and the look-ups in `first_line_by_use` save calls for them.
        if predicate.subject_use not in subject.first_line_by_use:
            self._record_new_use(subject, predicate.subject_use, line.number)
        node = self._nodes.get(line.object) or self._node_of_column(line.object, "OBJECT", line.number)
        if node is None:
            # No assertion will record this use of the subject, so it is recorded here to be checked like the others.
            self.kb.uses_by_rejected_lines.append(NodeUse(subject, predicate.subject_use, line.number))
            self._count_rejected("NO_OBJECT")
            return None
        if predicate.object_use not in node.first_line_by_use:
            self._record_new_use(node, predicate.object_use, line.number)
        return node.name, node

    def _record(self, assertion: Assertion) -> None:
        """Add an assertion to the knowledge base and to its subject."""
        self.kb.assertions.append(assertion)
        subject = assertion.subject
        is_mention = assertion.predicate.has_text_object  # no other assertion has a text as its object
        if not is_mention:
            subject.other_assertions.append(assertion)
            return
        subject.mentions.append(assertion)
        # Only mentions by name or description count here, not pronouns or canonical and normalized mentions.
        if assertion.predicate.name in MENTIONS:
            subject.mentioning_docids.add(assertion.provenance.docid)

    def _reject_repetition(self, assertion: Assertion) -> None:
        """Count the line of an assertion that only repeats an earlier one as rejected.

        The assertion is not recorded, but its uses of nodes are, because they are checked all the same.
        """
        uses = self.kb.uses_by_rejected_lines
        is_type = assertion.predicate.name == TYPE
        subject_use = use_by_declaration(assertion.object) if is_type else assertion.predicate.subject_use
        uses.append(NodeUse(assertion.subject, subject_use, assertion.line))
        if assertion.object_node is not None:
            uses.append(NodeUse(assertion.object_node, assertion.predicate.object_use, assertion.line))
        self._count_rejected("DUPLICATE")

    def _count_rejected(self, reason: str) -> None:
        """Count a line that is rejected for this reason, such as "NO_SUBJECT", in the statistics."""
        self.kb.rejected[reason] = self.kb.rejected.get(reason, 0) + 1

    def _report_predicate(self, problems: tuple[PredicateProblem, ...], line: KbLine) -> None:
        """Report the problems of the predicate of a line."""
        for problem in problems:
            repaired = None
            if problem.code == "PREDICATE_ALIAS":
                _reason, _alias, repaired = problem.arguments
            detail = Detail("PREDICATE", line.predicate, repaired)
            self.findings.report(problem.code, *problem.arguments, line=line.number, detail=detail)

    def _report_provenance(
        self, provenance: ProvenanceList, predicate: KbPredicate, subject: KbNode, line: int, *, with_fatal: bool
    ) -> None:
        """Report the problems of a provenance column, and several spans if the predicate allows only one.

        Fatal problems are reported only if `with_fatal` is true. The subject is added to the nodes with problems.
        """
        if provenance.problems:
            self.findings.nodes_with_problems.add(subject.name)
            self.findings.report_provenance(provenance, line, with_fatal=with_fatal)
        if provenance.span_count > 1:
            span_count = provenance.span_count
            detail = Detail("PROVENANCE", provenance.text)
            # The number of reports depends on the predicate; it is 0 if the predicate allows several spans. As in the
            # reference program, "nominal_mention" is reported twice, because its name also contains "mention".
            for _ in range(predicate.several_spans_report_count):
                self.findings.report("TOO_MANY_PROVENANCE_TRIPLES_E", span_count, 1, line=line, detail=detail)

    def _node_of_column(self, text: str, column: str, line: int) -> KbNode | None:
        """Return the node named in a column of a line, such as ":Entity_1", and create it if it does not exist yet.

        If the text of the column is not a valid name, this is reported, and None is returned. If the colon before the
        name is missing, it is added, and this is reported as well. `column` is the name of the column in reports.
        """
        if not is_node_name(text):  # ":Entity_1", or "Entity_1" without its colon
            code = "STRING_USED_FOR_ENTITY" if text.startswith('"') else "ILLEGAL_NODE_NAME"
            self.findings.report(code, text, line=line, detail=Detail(column, text))
            return None
        name = text
        if not text.startswith(":"):
            name = f":{text}"
            self.findings.report("COLON_OMITTED", text, line=line, detail=Detail(column, text, name))
        if name not in self._nodes:
            self._nodes[name] = KbNode(name)
        return self._nodes[name]

    def _repair_text(self, predicate: KbPredicate, line: KbLine) -> str | None:
        """Return the object of a mention, a type or a link, repaired if need be; None if it cannot be repaired.

        A mention has a text in quotes such as `"Ann"`, a type a word such as PER, a link a text such as KB:E12.
        """
        if predicate.has_text_object:
            return line.object if line.is_string else self._quote(line)
        if predicate.name == TYPE:
            return line.object
        return self._repair_link(line)

    def _quote(self, line: KbLine) -> str:
        r"""Return the object of a line in quotes, and report the missing quotes: `the "Boss"` -> `"the \"Boss\""`."""
        text = line.object
        escaped_text = _TO_ESCAPE.sub(r"\\\g<0>", text)
        quoted_text = f'"{escaped_text}"'
        self.findings.report("UNQUOTED_STRING", text, line=line.number, detail=Detail("OBJECT", text, quoted_text))
        return quoted_text

    def _repair_link(self, line: KbLine) -> str | None:
        """Return the object of a line that is a link, such as KB:E12, without quotes around it.

        A link without a colon is reported, and cannot be repaired: the result is None.
        """
        text = line.object
        if ":" in text:
            return text.removeprefix('"').removesuffix('"')
        self.findings.report("ILLEGAL_LINK_SPECIFICATION", text, line=line.number, detail=Detail("OBJECT", text))
        return None

    def _record_new_use(self, node: KbNode, use: Use, line: int) -> None:
        """Record a new way in which a line uses a node, and give the node the type that follows from this use.

        If the node cannot have that type, this is reported for every line with the use, which is then recorded without
        the type.
        """
        node_type = use.single_type
        if node_type is not None and not self._add_type(node, node_type, use.role, line):
            use = use_as(use.role)  # the same role without a type
        node.first_line_by_use.setdefault(use, line)

    def _add_type(self, node: KbNode, node_type: str, role: int, line: int) -> bool:
        """Add a type to a node and return True; if the node cannot have the type, report that and return False.

        `node.type` is the type of the node as long as it has only one. `role` is the role of the node in the line.
        """
        if node_type not in NODE_TYPES:
            self.findings.report("ILLEGAL_NODE_TYPE", node_type, line=line, detail=Detail("OBJECT", node_type))
            return False
        if not node.name.startswith(_name_prefix(node_type)):
            self._report_incompatible_name(node.name, node_type, role, line)
            return False
        if node_type not in node.types:
            node.types += (node_type,)
            node.type = node_type if len(node.types) == 1 else None
        return True

    def _report_incompatible_name(self, name: str, node_type: str, role: int, line: int) -> None:
        """Report that a line gives a node a type that its name excludes: ":Event_1" cannot be a person.

        `role` says whether the node is the object or the subject of the line.
        """
        column = "OBJECT" if role == OBJECT else "SUBJECT"
        arguments = (name, node_type.upper())
        self.findings.report("INCOMPATIBLE_NODE_NAME", *arguments, line=line, detail=Detail(column, name))


def _name_prefix(node_type: str) -> str:
    """Return the prefix of the names of all nodes of a type: ":String", ":Entity" or ":Event"."""
    if node_type == "string":
        return ":String"
    if node_type in ENTITY_TYPES:
        return ":Entity"
    return ":Event"
