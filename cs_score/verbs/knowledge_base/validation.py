"""Checks and repairs a whole knowledge base, in the order of the reference program, and answers queries from it. The
assertions are about nodes (entities, strings, events); a mention is an assertion that a node has a text at a place,
such as "Ann" at D1:3-5.
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import utf8_blocks
from cs_score.base.records import Struct, field
from cs_score.base.signature import RUN
from cs_score.base.sources import InMemory, Input, Source, name_of, open_source
from cs_score.coldstart.queries import Query
from cs_score.coldstart.tab_files import Confidence, Provenance, offset_value, read_confidence
from cs_score.preparation.conversion import Conversion
from cs_score.preparation.prepared_runs import PreparedRun
from cs_score.preparation.source_documents import DocumentList, is_text_at, source_text
from cs_score.problems.codes import CODES, Severity
from cs_score.problems.log import Detail, ProblemLog
from cs_score.verbs.knowledge_base.assertions import (
    CANONICAL,
    LINK,
    MENTIONS,
    NAMED,
    NIL,
    NOMINAL,
    NORMALIZED,
    PRONOMINAL,
    TYPE,
    Assertion,
    KbNode,
    KnowledgeBase,
)
from cs_score.verbs.knowledge_base.building import Builder, KbOptions
from cs_score.verbs.knowledge_base.kb_file import KbFile, KbFindings, KbLine
from cs_score.verbs.knowledge_base.predicates import TAC, TYPEDEF, Use, inverse_of
from cs_score.verbs.knowledge_base.resolution import Resolution, ValidatedKb
from cs_score.verbs.knowledge_base.writers import tac_text

# ---- Types and strings


def check_types(kb: KnowledgeBase, findings: KbFindings) -> None:
    """Report nodes that have no type, several types or an undeclared type, and nodes used where other types belong.

    Predicates also give types to nodes: for example, the subject of per:spouse is a person. A predicate that allows
    several types gives no type, but it may contradict the type of its subject or object.
    """
    has_contradictions = False
    for node in kb.nodes.values():
        _report_types(node, findings)
        if any(_contradicts_type(use, node) for use in node.first_line_by_use):
            has_contradictions = True
    # Most knowledge bases have no such nodes, so their lines are looked for only if there are any.
    if has_contradictions:
        _report_contradictions(kb, findings)


def _report_types(node: KbNode, findings: KbFindings) -> None:
    """Report a node if it has no type or several types, and report each of its types that no line declares."""
    if not node.types:
        findings.report("UNKNOWN_TYPE", node.name, line=node.line_in_reports())
    elif len(node.types) > 1:
        types = _types_and_lines(node)
        findings.report_without_line_in_message("MULTITYPED_ENTITY", node.name, types, line=node.line_in_reports())
    for node_type in node.types:
        if not _is_declared(node, node_type):
            findings.report("MISSING_TYPEDEF", node.name, line=node.line_in_reports(node_type))


def _types_and_lines(node: KbNode) -> str:
    """Return the types of a node with the lines that give them to it: "org at line 7, per at line 3"."""
    types_and_lines = [f"{node_type} at line {node.line_in_reports(node_type)}" for node_type in sorted(node.types)]
    return ", ".join(types_and_lines)


def _is_declared(node: KbNode, node_type: str) -> bool:
    """Return whether a line declares the type of a node, such as `:Entity_1 type PER`."""
    return any(use.role == TYPEDEF and use.single_type == node_type for use in node.first_line_by_use)


def _contradicts_type(use: Use, node: KbNode) -> bool:
    """Return whether a use of a node (its role in a line) allows several types, none of which is the node's type.

    No other use can contradict the type of a node: a use without types allows all types, and a use with a single type
    gives this type to the node.
    """
    allows_several_types = len(use.types) > 1
    return allows_several_types and node.type not in use.types


def _report_contradictions(kb: KnowledgeBase, findings: KbFindings) -> None:
    """Report each use of a node that allows several types, but not the type of the node.

    For example, a line uses a person as the subject of a predicate of organizations and places.
    """
    for node, use, line in kb.node_uses():
        if _contradicts_type(use, node):
            choice = " or ".join(sorted(use.types))
            types = f"{choice} at line {line} and {node.type_in_reports} at line {node.line_in_reports()}"
            findings.report_without_line_in_message("MULTITYPED_ENTITY", node.name, types, line=line)


def check_strings(nodes: Iterable[KbNode], findings: KbFindings) -> None:
    """Report each place, such as D1:3-9, at which mentions by name or description have different texts."""
    mentions = []
    for node in nodes:
        mentions += [mention for mention in node.mentions if mention.predicate.name in MENTIONS]
    # Few places have different texts. To save memory, mentions are collected for these places only.
    places = _places_with_several_texts(mentions)
    if places:
        for mentions_at_place in _mentions_by_place(mentions, places).values():
            _report_several_texts(mentions_at_place, findings)


def _mentions_by_place(mentions: Iterable[Assertion], places: set[str | None]) -> dict[str, list[Assertion]]:
    """Return the mentions at each of some places, such as D1:3-9. Mentions without a place are left out."""
    mentions_by_place: dict[str, list[Assertion]] = defaultdict(list)
    for mention in mentions:
        place = mention.provenance.place
        if place is not None and place in places:
            mentions_by_place[place].append(mention)
    return mentions_by_place


def _places_with_several_texts(mentions: Iterable[Assertion]) -> set[str | None]:
    """Return the places, such as D1:3-9, at which mentions have different texts; None is an absent place."""
    text_by_place: dict[str | None, str] = {}
    places = set()
    for mention in mentions:
        place = mention.provenance.place
        first_text = text_by_place.setdefault(place, mention.object)
        if mention.object != first_text:
            places.add(place)
    return places


def _report_several_texts(mentions: Iterable[Assertion], findings: KbFindings) -> None:
    """Report mentions that have different texts at the same place. The report is at the first of their lines."""
    mentions_in_order = sorted(mentions, key=attrgetter("line"))
    texts = ", ".join([f"{mention.object} at line {mention.line}" for mention in mentions_in_order])
    first_mention = mentions_in_order[0]
    # The lines are already part of `texts` in the message.
    arguments = (first_mention.provenance.text, texts)
    findings.report_without_line_in_message(
        "MULTIPLE_STRINGS_FOR_PROV", *arguments, line=first_mention.line, column="PROVENANCE"
    )


# ---- Provenances

# The justification of a sentiment must be a mention of the entity that is liked or disliked.
_SENTIMENTS_ABOUT_OBJECT: Final = ("likes", "dislikes")
_SENTIMENTS_ABOUT_SUBJECT: Final = ("is_liked_by", "is_disliked_by")

_WITH_MENTION_AS_JUSTIFICATION: Final = frozenset((NORMALIZED, *_SENTIMENTS_ABOUT_OBJECT, *_SENTIMENTS_ABOUT_SUBJECT))
"""The predicates whose justification must be at the place of a mention."""


def check_provenances(assertions: Iterable[Assertion], findings: KbFindings) -> None:
    """Report provenances that lack a part, have a superfluous part, or have a part that does not mention its node."""
    check = _ProvenanceCheck(findings)
    for assertion in assertions:
        # Most predicates need only a correct justification. A plain provenance has a correct justification and no other
        # part, and only the predicates of this set require more of the justification.
        if assertion.provenance.is_plain and assertion.predicate.name not in _WITH_MENTION_AS_JUSTIFICATION:
            continue
        # The reference program parses the provenance before checking it, and reports its problems each time.
        findings.report_provenance_again(assertion)
        if assertion.predicate.is_mention:
            check.check_mention(assertion)
        elif assertion.object_node is not None:
            check.check_relation(assertion, assertion.object_node)


class _PlaceOfMention(NamedTuple):
    """A place at which a node is mentioned, and whether the mention is a pronoun."""

    place: str | None
    is_pronoun: bool


class _ProvenanceCheck:
    """Checks the provenances of assertions against the places at which nodes are mentioned."""

    def __init__(self, findings: KbFindings) -> None:
        """Make a check that reports problems to `findings`."""
        self._findings = findings
        # The places of a node are collected when they are first needed, since few nodes need them.
        self._places_by_node: dict[KbNode, set[_PlaceOfMention]] = {}

    def check_mention(self, assertion: Assertion) -> None:
        """Report a mention unless its provenance consists of a justification only, such as "D1:3-9".

        A second part, as in "D1:3-9;D1:0-20", is an error. A normalized mention is also reported if its node has no
        other mention at the same place.
        """
        parts = assertion.provenance.parts
        if not parts.has_only_justification:
            self._report("UNEXPECTED_PROVENANCE", assertion.provenance.text, assertion)
        if parts.justification is not None and assertion.predicate.name == NORMALIZED:
            self._report_unless_mention("Provenance", parts.justification, assertion.subject, assertion)

    def check_relation(self, assertion: Assertion, object_node: KbNode) -> None:
        """Report the provenance of a relation if a part is missing or does not mention its node.

        Some relations, such as per:likes, are sentiments, and their justification must be a mention. `object_node` is
        the object of the relation.
        """
        parts = assertion.provenance.parts
        self._check_filler(assertion, parts.filler, object_node)
        if parts.justification is not None:
            self._check_justification_of_sentiment(assertion, parts.justification, object_node)
        # Relations with events need a base filler. The reference program calls a missing base filler "unexpected".
        has_event = assertion.subject.is_event or object_node.is_event
        if has_event and parts.base_filler is None:
            self._report("UNEXPECTED_BASE_FILLER", NIL, assertion)

    def _check_filler(self, assertion: Assertion, filler: Provenance | None, object_node: KbNode) -> None:
        """Report a relation with a string, such as per:title, unless its filler is at a mention of the string.

        The filler is the first part of the provenance: the place of the text in the document. If it is missing (None),
        this is reported only for relations with strings, since other relations do not need a filler.
        """
        if filler is not None:
            self._report_unless_mention("FILLER_STRING", filler, object_node, assertion)
        elif object_node.type == "string":
            self._report("MISSING_FILLER_STRING_PROV", assertion.provenance.text, assertion)

    def _check_justification_of_sentiment(
        self, assertion: Assertion, justification: Provenance, object_node: KbNode
    ) -> None:
        """Report a sentiment, such as per:likes, unless its justification is a mention of the node that is liked.

        Relations other than sentiments are never reported.
        """
        predicate_name = assertion.predicate.name
        if predicate_name in _SENTIMENTS_ABOUT_OBJECT:
            self._report_unless_mention("PREDICATE_JUSTIFICATION", justification, object_node, assertion)
        elif predicate_name in _SENTIMENTS_ABOUT_SUBJECT:
            self._report_unless_mention("PREDICATE_JUSTIFICATION", justification, assertion.subject, assertion)

    def _report_unless_mention(self, part_name: str, part: Provenance, node: KbNode, assertion: Assertion) -> None:
        """Report a part of an assertion's provenance unless the node is mentioned at exactly this place.

        In a justification, the mention may be a pronoun; other parts need a mention by name or description. `part_name`
        is the name of the part in the message.
        """
        places = self._places_of(node)
        is_mentioned = _PlaceOfMention(part.canonical_text, is_pronoun=False) in places
        if part_name == "PREDICATE_JUSTIFICATION":
            is_mentioned = is_mentioned or _PlaceOfMention(part.canonical_text, is_pronoun=True) in places
        if is_mentioned:
            return
        spans = ",".join([str(span) for span in part.spans])  # in the order written, each with its document
        detail = Detail("PROVENANCE", spans)
        # The message says that the part with this name, at these spans, does not mention the node.
        self._findings.report("MISSING_MENTION_E", part_name, spans, node.name, line=assertion.line, detail=detail)

    def _places_of(self, node: KbNode) -> set[_PlaceOfMention]:
        """Return the places of the mentions of a node by name, description or pronoun."""
        if node in self._places_by_node:
            return self._places_by_node[node]
        places = set()
        for mention in node.mentions:
            is_pronoun = mention.predicate.name == PRONOMINAL
            if is_pronoun or mention.predicate.name in MENTIONS:
                places.add(_PlaceOfMention(mention.provenance.place, is_pronoun))
        self._places_by_node[node] = places
        return places

    def _report(self, code: str, argument: str, assertion: Assertion) -> None:
        """Report a problem in the provenance of an assertion; `argument` fills in the message."""
        detail = Detail("PROVENANCE", assertion.provenance.text)
        self._findings.report(code, argument, line=assertion.line, detail=detail)


_NEED_NO_MENTIONS: Final = frozenset((TYPE, NAMED, CANONICAL, LINK))
"""The predicates whose nodes need no mention in the document of the assertion."""


def check_endpoints(assertions: Iterable[Assertion], findings: KbFindings) -> None:
    """Report assertions whose subject or object is not mentioned in the document of their provenance."""
    for assertion in assertions:
        if assertion.predicate.name in _NEED_NO_MENTIONS:
            continue
        provenance = assertion.provenance
        if provenance.problems:
            # To get the document, the reference program parses the provenance once more, and reports its problems.
            findings.report_provenance_again(assertion)
        for node in (assertion.subject, assertion.object_node):  # the object may be plain text
            if node is not None and provenance.docid not in node.mentioning_docids:
                arguments = (str(assertion), node.name, provenance.text)
                detail = Detail("PROVENANCE", provenance.text)
                findings.report("UNATTESTED_RELATION_ENTITY", *arguments, line=assertion.line, detail=detail)


def check_confidences(assertions: Sequence[Assertion], findings: KbFindings) -> None:
    """Report confidences that are illegal, and replace them in the assertions by legal ones: "1" -> "1.0"."""
    repaired_by_text = _repair_confidences(assertions)
    if not repaired_by_text:
        return
    for assertion in assertions:
        text = assertion.confidence
        if text in repaired_by_text:
            assertion.confidence = repaired_by_text[text].text
            _report_confidence(text, repaired_by_text[text], assertion.line, findings)


def _repair_confidences(assertions: Iterable[Assertion]) -> dict[str, Confidence]:
    """Return a mapping from illegal confidences of assertions to their repaired texts, such as "1" to "1.0"."""
    # Many assertions share a few confidences, and so each confidence is checked only once.
    distinct_texts = {assertion.confidence for assertion in assertions}
    repaired_by_text = {}
    for text in distinct_texts:
        confidence = read_confidence(text)
        if confidence.codes:  # the text has problems
            repaired_by_text[text] = confidence
    return repaired_by_text


def _report_confidence(illegal_text: str, repaired: Confidence, line: int, findings: KbFindings) -> None:
    """Report the problems of a confidence, such as "1", at a line. `repaired` has these problems and the legal text."""
    for code in repaired.codes:
        repaired_text = repaired.text if code == "MISSING_DECIMAL_POINT" else None
        findings.report(code, illegal_text, line=line, detail=Detail("CONFIDENCE", illegal_text, repaired_text))


# ---- Mentions in documents

_RANK_OF_CHECKED_PREDICATE: Final = {NAMED: 0, NOMINAL: 1, PRONOMINAL: 2, CANONICAL: 3}
"""The predicates of mentions whose text is in a document, with their rank in the order in which they are checked."""


def _check_order(mention: Assertion) -> int:
    """Return the key by which the mentions of a node are sorted before their texts are checked."""
    return _RANK_OF_CHECKED_PREDICATE[mention.predicate.name]


def check_mention_strings(
    nodes: Iterable[KbNode], documents: DocumentList | None, findings: KbFindings
) -> list[InputError]:
    """Report nodes without a mention, and mentions whose text is not in their document.

    Without `documents`, texts are not checked. Returns an error for each document that cannot be read. These errors are
    fatal: they end the program after all checks.
    """
    file_by_docid = {} if documents is None else documents.file_by_docid
    # Mentions are grouped by document, so that each document is opened only once.
    mentions_by_docid: dict[str, list[Assertion]] = defaultdict(list)
    for node in nodes:
        for mention in _report_and_list_mentions(node, findings, has_documents=bool(file_by_docid)):
            mentions_by_docid[mention.provenance.docid].append(mention)
    errors: list[InputError] = []
    for docid, mentions in mentions_by_docid.items():
        if docid not in file_by_docid:
            continue
        try:
            _check_document(file_by_docid[docid], mentions, findings)
        except InputError as error:
            errors.append(error)
    return errors


def _report_and_list_mentions(node: KbNode, findings: KbFindings, *, has_documents: bool) -> list[Assertion]:
    """Return the mentions of a node whose texts are to be compared with their documents; report a node without any.

    The problems in the provenances of some of these mentions are reported again, as the reference program does.
    """
    mentions = [mention for mention in node.mentions if mention.predicate.name in _RANK_OF_CHECKED_PREDICATE]
    if node.has_assertions and not mentions:
        # The message does not name the line; reports for programs do.
        findings.report_without_line_in_message("NO_MENTIONS", node.name, line=node.line_in_reports())
    # Without documents, nothing remains but to report problems again, if the node has any.
    if not has_documents and node.name not in findings.nodes_with_problems:
        return []
    mentions.sort(key=_check_order)
    _report_first_mentions_again(mentions, findings)
    return mentions


def _report_first_mentions_again(mentions: Iterable[Assertion], findings: KbFindings) -> None:
    """Report the problems in the provenance of the first mention in each document again, as the reference does."""
    first_mention_by_docid: dict[str, Assertion] = {}
    for mention in mentions:
        first_mention_by_docid.setdefault(mention.provenance.docid, mention)
    for mention in first_mention_by_docid.values():
        findings.report_provenance_again(mention)


def _check_document(file: str, mentions: Sequence[Assertion], findings: KbFindings) -> None:
    """Report the mentions in a document whose text differs from the text at their place in its file.

    Raises InputError if the file cannot be read.
    """
    text = source_text(file, needed_at=findings.place(mentions[0].line))
    for mention in mentions:
        # To get the place of the text, the reference program parses the provenance, and reports its problems each time.
        findings.report_provenance_again(mention)
        _report_other_text(mention, text, findings)


def _report_other_text(mention: Assertion, document_text: str, findings: KbFindings) -> None:
    """Report a mention if the document has another text at its place."""
    span = mention.span
    if span is None:
        return
    start = offset_value(span.start)
    end = offset_value(span.end)
    if is_text_at(document_text, start, end, mention.text):
        return
    arguments = (mention.text, mention.provenance.place)
    detail = Detail("OBJECT", mention.text)
    # This is the spelling of the code in the reference program.
    findings.report("INACCURACTE_MENTION_STRING", *arguments, line=mention.line, detail=detail)


# ---- Inferring what is missing


def infer_inverses(builder: Builder) -> None:
    """Add the inverse of each relation that the file has in one direction only, and report that it was missing.

    The inverse of per:children(:Entity_1, :Entity_2) is per:parents(:Entity_2, :Entity_1) with the same provenance.
    `_InverseInference.add` ensures that a relation and its new inverse are either both written or both omitted.
    """
    inference = _InverseInference(builder)
    relations = list(builder.kb.assertions)  # a copy, because assertions are added
    for relation in relations:
        object_node = relation.object_node
        if object_node is None or not relation.predicate.has_inverse or ":String" in object_node.name:
            continue
        inverse_name = inverse_of(relation.predicate.definition)
        # This quick look-up finds nearly all inverses.
        if builder.repetitions.has_recorded(object_node, inverse_name, relation.subject.name, relation.provenance):
            continue
        # The remaining inverses are looked for among all assertions about the object.
        inverse = _Inverse(object_node, inverse_name, relation)
        if not inference.is_recorded(inverse):
            inference.add(inverse)


class _Inverse(NamedTuple):
    """The inverse of a relation, with the object of the relation as its subject.

    The inverse of `relation` per:children(:Entity_1, :Entity_2) has the subject :Entity_2 and the predicate "parents".
    """

    subject: KbNode
    predicate_name: str
    relation: Assertion

    @property
    def object(self) -> str:
        """The object of the inverse, which is the subject of the relation, such as ":Entity_1"."""
        return self.relation.subject.name

    @property
    def key(self) -> tuple[str, str, str]:
        """The predicate, the object and the provenance, such as ("parents", ":Entity_1", "D1:3-9")."""
        return self.predicate_name, self.object, self.relation.provenance.text


class _InverseInference:
    """Finds out which relations lack their inverse, and adds the missing inverses to a knowledge base.

    The inverse of `:Entity_1 per:children :Entity_2` is `:Entity_2 per:parents :Entity_1`.
    """

    def __init__(self, builder: Builder) -> None:
        """Make an inference that adds relations through `builder`."""
        self._builder = builder
        # The keys of the assertions about a node, of the same form as `_Inverse.key`; collected when first needed.
        self._keys_by_node: dict[KbNode, set[tuple[str, str, str]]] = {}

    def is_recorded(self, inverse: _Inverse) -> bool:
        """Return whether the knowledge base has an assertion with the columns of an inverse."""
        return inverse.key in self._keys_of(inverse.subject)

    def _keys_of(self, node: KbNode) -> set[tuple[str, str, str]]:
        """Return predicate, object and provenance of each assertion about a node except its mentions.

        An inverse is in the knowledge base if its own key is among these keys.
        """
        if node not in self._keys_by_node:
            keys = set()
            for assertion in node.other_assertions:
                keys.add((assertion.predicate.name, assertion.object, assertion.provenance.text))
            self._keys_by_node[node] = keys
        return self._keys_by_node[node]

    def add(self, inverse: _Inverse) -> None:
        """Add an inverse to the knowledge base, and report that it was missing.

        The inverse is not added if the builder rejects its line, for example because the line only repeats an
        assertion. If the relation or its inverse is omitted (that is, not written because another assertion is
        stronger), both are.
        """
        relation = inverse.relation
        findings = self._builder.findings
        message_arguments = (relation.predicate.name, relation.subject.name, relation.object)
        detail = Detail("PREDICATE", relation.predicate.name, inverse.predicate_name)
        findings.report("MISSING_INVERSE", *message_arguments, line=relation.line, detail=detail)
        # For the inverse, the reference program parses the provenance once more, and reports its problems.
        findings.report_provenance_again(relation)
        assertion = _add_inferred(
            self._builder,
            relation,
            subject=inverse.subject.name,
            predicate_name=inverse.predicate_name,
            object_=inverse.object,
        )
        if assertion is not None:
            self._keys_of(inverse.subject).add(inverse.key)
            self._omit_both_or_none(relation, assertion)

    def _omit_both_or_none(self, relation: Assertion, inverse: Assertion) -> None:
        """Omit a relation and its inverse if one of them is omitted."""
        if relation.is_omitted or inverse.is_omitted:
            self._builder.repetitions.omit(relation)
            self._builder.repetitions.omit(inverse)


def _add_inferred(
    builder: Builder, source: Assertion, *, subject: str, predicate_name: str, object_: str
) -> Assertion | None:
    """Add an assertion inferred from the assertion `source`, and return it, or None if it is rejected.

    `subject`, `predicate_name` and `object_` are the columns of the new assertion. It takes its realis, provenance,
    confidence and line from `source`.
    """
    predicate_column = predicate_name if source.realis is None else f"{predicate_name}.{source.realis}"
    line = KbLine(
        number=source.line,
        subject=subject,
        predicate=predicate_column,
        object=object_,
        is_string=source.object_node is None,  # the object is a node, or the quoted text of a mention
        provenance=source.provenance.text,
        confidence=source.confidence,
    )
    return builder.add(line, is_inferred=True)


class _MentionsInDocument(Struct):
    """The mentions of a node in a document, each by the text of its provenance, such as "D1:3-9".

    A named mention is a name such as "Ann Lee", a nominal mention is a description such as "the mayor". The canonical
    mention is the one that gives the node its name in this document. Of several mentions with the same provenance only
    the last one is kept.
    """

    node: KbNode
    docid: str
    named_by_provenance: dict[str, Assertion] = field(default_factory=dict)
    nominal_by_provenance: dict[str, Assertion] = field(default_factory=dict)
    canonical_by_provenance: dict[str, Assertion] = field(default_factory=dict)

    def add(self, mention: Assertion) -> None:
        """Add a mention of the node in the document; pronouns and normalized mentions are left out."""
        name = mention.predicate.name
        if name == NAMED:
            self.named_by_provenance[mention.provenance.text] = mention
        elif name == NOMINAL:
            self.nominal_by_provenance[mention.provenance.text] = mention
        elif name == CANONICAL:
            self.canonical_by_provenance[mention.provenance.text] = mention

    def lacks_other_mention(self, canonical: Assertion) -> bool:
        """Return whether no mention by name or description has the provenance of a canonical mention."""
        text = canonical.provenance.text
        return text not in self.named_by_provenance and text not in self.nominal_by_provenance


def infer_mentions(builder: Builder, nodes: Iterable[KbNode], *, with_canonical: bool) -> None:
    """Add the mentions that nodes lack in a document, and report them as missing.

    In each document that mentions it, a node needs one canonical mention (its name), and a mention by name or
    description at the same place.

    * A node without any of these mentions is reported.
    * Several canonical mentions in a document are reported.
    * A missing canonical mention is reported if `with_canonical` is true. It is added if the node has exactly one other
      mention in the document.
    * A canonical mention without a mention by name or description at its place is reported, and a mention by name is
      added there.
    """
    for node in nodes:
        if not node.has_assertions or _has_all_mentions(node):
            continue
        mentions_by_docid = _mentions_by_document(node)
        if not mentions_by_docid:
            builder.findings.report_without_line_in_message("NO_MENTIONS", node.name, line=node.line_in_reports())
        for mentions in mentions_by_docid.values():
            _report_several_canonical(mentions, builder.findings)
            if with_canonical and not mentions.canonical_by_provenance:
                _infer_canonical(builder, mentions)
            _infer_named(builder, mentions)


def _mentions_by_document(node: KbNode) -> dict[str, _MentionsInDocument]:
    """Return the mentions of a node by document: those by name or description, and the canonical ones."""
    mentions_by_docid: dict[str, _MentionsInDocument] = {}
    for mention in node.mentions:
        if mention.predicate.name in (NAMED, NOMINAL, CANONICAL):
            docid = mention.provenance.docid
            if docid not in mentions_by_docid:
                mentions_by_docid[docid] = _MentionsInDocument(node, docid)
            mentions_by_docid[docid].add(mention)
    return mentions_by_docid


def _report_several_canonical(mentions: _MentionsInDocument, findings: KbFindings) -> None:
    """Report that a node has several canonical mentions in a document, at the last of their lines."""
    lines = [mention.line for mention in mentions.canonical_by_provenance.values()]
    if len(lines) > 1:
        findings.report_without_line_in_message(
            "MULTIPLE_CANONICAL", mentions.node.name, mentions.docid, line=max(lines)
        )


def _infer_canonical(builder: Builder, mentions: _MentionsInDocument) -> None:
    """Report that a node has no canonical mention in a document, and add one if the node has a single other mention.

    If the node has several other mentions in the document, none of them can be chosen as the canonical one, and nothing
    is added.
    """
    candidates = [*mentions.named_by_provenance.values(), *mentions.nominal_by_provenance.values()]
    first = candidates[0]
    has_choice = len(candidates) > 1
    code = "MULTIPLE_MENTIONS_NO_CANONICAL" if has_choice else "MISSING_CANONICAL"
    node_name = mentions.node.name
    builder.findings.report_without_line_in_message(code, node_name, mentions.docid, line=first.line)
    if not has_choice:
        _add_inferred(builder, first, subject=node_name, predicate_name=CANONICAL, object_=first.object)


def _infer_named(builder: Builder, mentions: _MentionsInDocument) -> None:
    """Report canonical mentions that repeat no mention by name or description, and add a mention by name for each.

    A canonical mention gives a node its name in a document. It should be at the same place as a mention by name or
    description. The new mention has the text and the place of the canonical mention.
    """
    for canonical in mentions.canonical_by_provenance.values():
        if mentions.lacks_other_mention(canonical):
            builder.findings.report("UNASSERTED_MENTION", str(canonical), mentions.docid, line=canonical.line)
            node_name = mentions.node.name
            _add_inferred(builder, canonical, subject=node_name, predicate_name=NAMED, object_=canonical.object)


def _has_all_mentions(node: KbNode) -> bool:
    """Return whether a node has exactly one canonical mention in each document that mentions it.

    Each canonical mention must have the place of a mention by name or description. The result is False for a node
    without canonical mentions.
    """
    canonical_docid_by_place: dict[str, str] = {}
    other_places: set[str] = set()
    for mention in node.mentions:
        place = mention.provenance.text  # such as D1:3-9
        if mention.predicate.name == CANONICAL:
            canonical_docid_by_place[place] = mention.provenance.docid
        elif mention.predicate.name in MENTIONS:
            other_places.add(place)
    canonical_docids = set(canonical_docid_by_place.values())
    if not canonical_docids or canonical_docids != node.mentioning_docids:
        return False
    # If there are as many places as documents, each document has exactly one of the places.
    has_one_per_document = len(canonical_docid_by_place) == len(canonical_docids)
    return has_one_per_document and canonical_docid_by_place.keys() <= other_places


# ---- The programs

IGNORED_BY_DEFAULT: Final = "MULTIPLE_FILLS_ENTITY"
"""The warning that is ignored by default, so that a slot for a single value may have several values."""

# Codes of the reference program that no check reports.
_WARNINGS: Final = (
    "BAD_QUERY DUPLICATE_QUERY_ID MISSING_MENTION MULTIPLE_FILLS_SLOT MULTIPLE_LINKS TOO_MANY_PROVENANCE_TRIPLES "
    "UNLOADED_QUERY"
)
_ERROR_CODES: Final = "ILLEGAL_OFFSET_PAIR_STRING MISSING_CANONICAL_E MISSING_REALIS"
_UNUSED_CODES: Final = {
    **dict.fromkeys(_WARNINGS.split(), Severity.WARNING),
    **dict.fromkeys(_ERROR_CODES.split(), Severity.ERROR),
}


def ignored_codes(text: str) -> frozenset[str]:
    """Return the codes of warnings in a colon-separated text, such as "UNKNOWN_TYPE:NO_MENTIONS".

    Raises UsageError if a code is unknown or is the code of an error.
    """
    # Codes without a template are problems that the reference program does not report.
    severity_by_code = {code: kind.severity for code, kind in CODES.items() if kind.template is not None}
    # Users of the reference program may also ignore its other warnings.
    severity_by_code.update(_UNUSED_CODES)
    codes = [code for code in text.upper().split(":") if code]
    for code in codes:
        if code not in severity_by_code:
            raise UsageError(f"Unknown warning: {code}")
        if severity_by_code[code] is not Severity.WARNING:
            raise UsageError(f"{code} is a fatal error; cannot ignore it")
    return frozenset(codes)


def validate_kb(source: Source, options: KbOptions, problems: ProblemLog) -> KnowledgeBase:
    """Return a knowledge base after reading, checking and repairing it, in the order of the reference program.

    Its problems are added to `problems`. If these include errors, the knowledge base must not be used. Raises
    InputError for fatal problems, but only after all checks.
    """
    builder = _read_kb(source, options, problems)
    # Each of these steps reports its problems to `problems`, in the order of the reference program.
    problems.fatal_errors += _check_lines_of_file(builder.kb, options.documents, builder.findings)
    infer_inverses(builder)
    infer_mentions(builder, builder.kb.nodes.values(), with_canonical=options.task == "CSKB")
    check_endpoints(builder.kb.assertions, builder.findings)
    check_confidences(builder.kb.assertions, builder.findings)
    # The searches for repeated assertions come to an end only now, after inferred assertions were added.
    builder.repetitions.report_problems_of_searches()
    problems.end_if_fatal()
    return builder.kb


def _check_lines_of_file(kb: KnowledgeBase, documents: DocumentList | None, findings: KbFindings) -> list[InputError]:
    """Report problems of the lines of the file: types, texts and places of mentions, and provenances.

    Without `documents`, texts are not compared with their documents. Returns an error for each document that cannot be
    read.
    """
    nodes = kb.nodes.values()
    check_types(kb, findings)
    check_strings(nodes, findings)
    check_provenances(kb.assertions, findings)
    return check_mention_strings(nodes, documents, findings)


def _read_kb(source: Source, options: KbOptions, problems: ProblemLog) -> Builder:
    """Return the builder of a knowledge base after reading all lines of its file, with any problems in `problems`."""
    findings = KbFindings(source.name, problems)
    file = KbFile(source, findings, options.task)
    kb = KnowledgeBase(source.name, file.run_id, file.first_line)
    # Unless this warning is ignored, a single-valued slot keeps only its strongest value.
    ignores_several_values = "MULTIPLE_FILLS_ENTITY" in problems.ignored
    builder = Builder(kb, findings, options, only_strongest_value=not ignores_several_values)
    for line in file.lines():
        builder.add(line)
    return builder


def resolve_to_run(file: Input, queries: Sequence[Query], problems: ProblemLog) -> Conversion:
    """Validate a knowledge base, answer the queries from it in memory, and return the run with the answers.

    The problems of the knowledge base are added to `problems`, except for the warning that a single-valued slot has
    several values (`IGNORED_BY_DEFAULT`). If they include errors, there is no run.
    """
    name = name_of(file)
    run_name = f"{name} (resolved)"
    problems.ignored = ignored_codes(IGNORED_BY_DEFAULT)
    with open_source(file) as source:
        kb = validate_kb(source, KbOptions(), problems)
        digest = source.digest(RUN)
    run_file = None
    outcome = "has errors"
    if not problems.has_errors:
        resolution = _resolve(kb, name, queries)
        run_file = InMemory(run_name, b"".join(utf8_blocks(resolution.lines)))
        outcome = _outcome_text(resolution)
    prepared_run = PreparedRun(
        name=name,
        scored_as=run_name,
        problems=problems,
        change=outcome,
        digests=(digest,),
        # This is the error that `prepared_run.check` raises if the problems include errors.
        code="KB_WITH_ERRORS",
        remedy="a knowledge base with errors is not resolved; correct them first",
    )
    return Conversion(prepared_run, run_file)


def _resolve(kb: KnowledgeBase, name: str, queries: Sequence[Query]) -> Resolution:
    """Return the answers of a validated knowledge base to queries. `name` is the name of its file in messages.

    The validated knowledge base is written as text, and this text is read again, because the answers depend on the
    order of its lines. The result is therefore the same as that of `validate-kb` followed by `resolve-queries`.
    """
    valid_text = b"".join(utf8_blocks(tac_text(kb, labels=(TAC,))))
    with Source(name, io.BytesIO(valid_text), decompress=False) as source:
        validated_kb = ValidatedKb(source, queries)
    return Resolution(validated_kb, queries)


def _outcome_text(resolution: Resolution) -> str:
    """Return how a resolution ended: "validated and resolved; 1 of 2 queries found their entity, 3 answers"."""
    matched = f"{resolution.matched_query_count} of {len(resolution.query_entries)} queries found their entity"
    return f"validated and resolved; {matched}, {len(resolution.lines)} answers"
