"""Checks and repairs of a whole knowledge base, in the order of the reference (specification 6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import Final

from cs_score.base.errors import InputError
from cs_score.coldstart.linking import plain_confidence, read_confidence
from cs_score.coldstart.provenance import Provenance, offset_value
from cs_score.knowledge_base.assertions import (
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
    KnowledgeBase,
    Node,
    as_written,
)
from cs_score.knowledge_base.building import Builder, Findings
from cs_score.knowledge_base.predicates import NONE, Use
from cs_score.preparation.documents import DocumentList, holds, source_text
from cs_score.problems.log import Detail


def check_types(base: KnowledgeBase, findings: Findings) -> None:
    """Report nodes without type, with several types, and with types that no line declares."""
    has_excluded = False
    for node in base.nodes.values():
        if not node.types:
            findings.report("UNKNOWN_TYPE", node.name, line=node.best_line)
        elif node.type is None:
            definitions = ", ".join(f"{name} at line {node.definition(name)}" for name in sorted(node.types))
            findings.report_without_place("MULTITYPED_ENTITY", node.name, definitions, line=node.best_line)
        for node_type in node.types:
            if not node.declares(node_type):
                findings.report("MISSING_TYPEDEF", node.name, line=node.definition(node_type))
        has_excluded = has_excluded or any(_excludes(use, node) for use in node.uses)
    if has_excluded:  # only then all that lines say is looked at once more
        _check_choices(base, findings)


def _excludes(use: Use, node: Node) -> bool:
    """Whether a use leaves a choice of types that the node's is not among."""
    return use.only is None and node.type not in use.types and bool(use.types)


def _check_choices(base: KnowledgeBase, findings: Findings) -> None:
    """Report the choices of types that leave out the type that a node has."""
    for node, use, line in _statements(base):
        if _excludes(use, node):
            choice = " or ".join(sorted(use.types))
            shown = f"{choice} at line {line} and {node.known_type} at line {node.best_line}"
            findings.report_without_place("MULTITYPED_ENTITY", node.name, shown, line=line)


def _statements(base: KnowledgeBase) -> Iterator[tuple[Node, Use, int]]:
    """How each line uses its nodes, those that were not recorded last."""
    for assertion in base.assertions:
        yield assertion.subject, assertion.verb.as_subject, assertion.line
        if assertion.node is not None:
            yield assertion.node, assertion.verb.as_object, assertion.line
    yield from base.unrecorded


# Sentiment -> whether its justification must be a mention of the object, not of the subject.
_SENTIMENTS: Final = {"likes": True, "dislikes": True, "is_liked_by": False, "is_disliked_by": False}

_NOT_ATTESTED: Final = frozenset((TYPE, NAMED, CANONICAL, LINK))
# Predicates that a plain justification may be wrong for.
_PARTICULAR: Final = frozenset((NORMALIZED, *_SENTIMENTS))


class MentionPlaces:
    """Where nodes are mentioned; looked up node by node, as few nodes are asked for."""

    def __init__(self) -> None:
        self._places: dict[Node, set[tuple[str | None, bool]]] = {}

    def has(self, node: Node, part: Provenance, *, or_pronoun: bool = False) -> bool:
        """Whether a node is mentioned at a place by name or description, or by a pronoun where that will do."""
        places = self._places.get(node)
        if places is None:
            places = self._places[node] = {
                (mention.provenance.place, mention.verb.name == PRONOMINAL)
                for mention in node.mentions
                if mention.verb.name in MENTIONS or mention.verb.name == PRONOMINAL
            }
        return (part.canonical, False) in places or (or_pronoun and (part.canonical, True) in places)


def check_strings(nodes: Iterable[Node], findings: Findings) -> None:
    """Report places at which mentions, but for pronouns, have different texts."""
    mentions = [mention for node in nodes for mention in node.mentions if mention.verb.name in MENTIONS]
    texts: dict[str | None, str] = {}
    disputed: set[str | None] = set()
    for mention in mentions:
        place, text = mention.provenance.place, mention.object
        if texts.setdefault(place, text) != text:
            disputed.add(place)
    at_place: dict[str, list[Assertion]] = defaultdict(list)
    for mention in mentions if disputed else ():
        if (place := mention.provenance.place) is not None and place in disputed:
            at_place[place].append(mention)
    for of_place in at_place.values():
        of_place.sort(key=attrgetter("line"))
        shown = ", ".join(f"{mention.object} at line {mention.line}" for mention in of_place)
        line, text = of_place[0].line, of_place[0].provenance.text
        findings.report_without_place("MULTIPLE_STRINGS_FOR_PROV", text, shown, line=line, column="PROVENANCE")


def check_provenances(assertions: Iterable[Assertion], findings: Findings) -> None:
    """Report provenances that lack a part, or have one that they must not have."""
    places = MentionPlaces()
    for assertion in assertions:
        if assertion.provenance.kept is None and assertion.verb.name not in _PARTICULAR:
            continue
        findings.look(assertion)
        if assertion.verb.is_mention:
            _check_mention(assertion, places, findings)
        elif assertion.node is not None:
            _check_relation(assertion, assertion.node, places, findings)


def _check_mention(assertion: Assertion, places: MentionPlaces, findings: Findings) -> None:
    is_normalized = assertion.verb.name == NORMALIZED
    filler, justification, *others = assertion.provenance.parts
    text = assertion.provenance.text
    if justification is None or filler is not None or any(part is not None for part in others):
        findings.report("UNEXPECTED_PROVENANCE", text, line=assertion.line, detail=Detail("PROVENANCE", text))
    if is_normalized and justification is not None and not places.has(assertion.subject, justification):
        _report_mention("Provenance", justification, assertion.subject, assertion, findings)


def _check_relation(assertion: Assertion, node: Node, places: MentionPlaces, findings: Findings) -> None:
    sentiment = _SENTIMENTS.get(assertion.verb.name)
    has_event = assertion.subject.is_event or node.is_event
    filler, justification, base_filler, _ = assertion.provenance.parts
    text = assertion.provenance.text
    detail = Detail("PROVENANCE", text)
    if node.type == "string" and filler is None:
        findings.report("MISSING_FILLER_STRING_PROV", text, line=assertion.line, detail=detail)
    if filler is not None and not places.has(node, filler):
        _report_mention("FILLER_STRING", filler, node, assertion, findings)
    if sentiment is not None and justification is not None:
        holder = node if sentiment else assertion.subject
        if not places.has(holder, justification, or_pronoun=True):
            _report_mention("PREDICATE_JUSTIFICATION", justification, holder, assertion, findings)
    if has_event and base_filler is None:
        findings.report("UNEXPECTED_BASE_FILLER", NIL, line=assertion.line, detail=detail)


def _report_mention(what: str, part: Provenance, node: Node, assertion: Assertion, findings: Findings) -> None:
    shown = as_written(part)
    findings.report(
        "MISSING_MENTION_E", what, shown, node.name, line=assertion.line, detail=Detail("PROVENANCE", shown)
    )


def check_endpoints(assertions: Iterable[Assertion], findings: Findings) -> None:
    """Report relations whose subject or object is not mentioned in their document."""
    for assertion in assertions:
        if assertion.verb.name in _NOT_ATTESTED:
            continue
        if assertion.provenance.problems:
            findings.look(assertion)
        docid, node = assertion.provenance.docid, assertion.node
        if docid not in assertion.subject.documents:
            _report_endpoint(assertion, assertion.subject, findings)
        if node is not None and docid not in node.documents:
            _report_endpoint(assertion, node, findings)


def _report_endpoint(assertion: Assertion, node: Node, findings: Findings) -> None:
    text = assertion.provenance.text
    findings.report(
        "UNATTESTED_RELATION_ENTITY", str(assertion), node.name, text, line=assertion.line,
        detail=Detail("PROVENANCE", text),
    )  # fmt: skip


def check_confidences(assertions: Iterable[Assertion], findings: Findings) -> None:
    """Report confidences that are no good; those that can be mended are."""
    assertions = list(assertions)
    # Many assertions have few confidences, and few of those are bad.
    bad = {written for written in {assertion.confidence for assertion in assertions} if not _is_good(written)}
    for assertion in assertions if bad else ():
        written = assertion.confidence
        if written in bad:
            text, _, codes = read_confidence(written)
            for code in codes:
                repaired = text if code == "MISSING_DECIMAL_POINT" else None
                findings.report(code, written, line=assertion.line, detail=Detail("CONFIDENCE", written, repaired))
            assertion.confidence = text


def _is_good(confidence: str) -> bool:
    return plain_confidence(confidence) is not None or not read_confidence(confidence).codes


_KINDS: Final = {NAMED: 0, NOMINAL: 1, PRONOMINAL: 2, CANONICAL: 3}


class MentionStrings:
    """Compares mentions with the texts of their documents.

    Mentions are grouped by document, so that each is opened once. `fatal` holds a document that cannot be read.
    """

    def __init__(self, documents: DocumentList | None, findings: Findings) -> None:
        self._files = documents.files if documents is not None else {}
        self._findings = findings
        self._in_document: dict[str, list[Assertion]] = defaultdict(list)
        self.fatal: list[InputError] = []

    def check(self, nodes: Iterable[Node]) -> None:
        """Check the mentions of all nodes that are the subject of an assertion."""
        for node in nodes:
            if node.others or node.mentions:
                self._check_node(node)
        for docid, mentions in self._in_document.items():
            try:
                text = source_text(self._files[docid], self._findings.place(mentions[0].line))
            except InputError as error:
                self.fatal.append(error)
                continue
            for mention in mentions:
                self._compare(mention, text)

    def _check_node(self, node: Node) -> None:
        mentions = [mention for mention in node.mentions if mention.verb.name in _KINDS]
        if not mentions:
            self._findings.report_without_place("NO_MENTIONS", node.name, line=node.best_line)
        if not self._files and node.name not in self._findings.troubled:
            return
        mentions.sort(key=lambda mention: _KINDS[mention.verb.name])
        first_of: dict[str, Assertion] = {}
        for mention in mentions:
            docid = mention.provenance.docid
            first_of.setdefault(docid, mention)
            if docid in self._files:
                self._in_document[docid].append(mention)
        for mention in first_of.values():
            self._findings.look(mention)

    def _compare(self, mention: Assertion, text: str) -> None:
        self._findings.look(mention)
        justification = mention.provenance.parts.justification
        span = justification.first if justification is not None else None
        if justification is None or span is None:
            return
        if not holds(text, offset_value(span.start), offset_value(span.end), mention.text):
            self._findings.report(
                "INACCURACTE_MENTION_STRING", mention.text, justification.canonical, line=mention.line,
                detail=Detail("OBJECT", mention.text),
            )  # fmt: skip


def infer_inverses(builder: Builder) -> None:
    """Add the inverse of every relation that has none with the same provenance."""
    known: dict[Node, set[tuple[str, str, str]]] = {}
    for assertion in list(builder.base.assertions):
        node, subject = assertion.node, assertion.subject
        if node is None or not assertion.verb.has_inverse or ":String" in node.name:
            continue
        inverse = assertion.verb.predicate.inverse
        if inverse is None:
            inverse = NONE
        if builder.repetitions.has_stated(node, inverse, subject.name, assertion.provenance):
            continue
        if node not in known:
            known[node] = {(other.name, other.object, other.provenance.text) for other in node.others}
        key = (inverse, subject.name, assertion.provenance.text)
        if key in known[node]:
            continue
        builder.findings.report(
            "MISSING_INVERSE", assertion.name, assertion.subject.name, assertion.object, line=assertion.line,
            detail=Detail("PREDICATE", assertion.name, inverse),
        )  # fmt: skip
        builder.findings.look(assertion)
        inferred = _infer(builder, assertion, node.name, inverse, assertion.subject.name)
        if inferred is None:
            continue
        known[node].add(key)
        if assertion.is_omitted or inferred.is_omitted:
            builder.repetitions.omit(assertion)
            builder.repetitions.omit(inferred)


def _infer(builder: Builder, source: Assertion, subject: str, name: str, object_: str) -> Assertion | None:
    """Add what follows from an assertion, with its realis, provenance and confidence."""
    predicate = name if source.realis is None else f"{name}.{source.realis}"
    line = (
        source.line,
        subject,
        predicate,
        object_,
        source.node is None,
        source.provenance.text,
        source.confidence,
        "",
    )
    return builder.add(line, is_inferred=True)


def infer_mentions(builder: Builder, nodes: Iterable[Node], *, with_canonical: bool) -> None:
    """Add canonical mentions where there is one mention to choose from, and mentions where there is only a canonical.

    Without `with_canonical` no canonical mention is needed.
    """
    for node in nodes:
        if node.others or node.mentions:
            _infer_for_node(builder, node, with_canonical)


class _InDocument:
    """The mentions of a node in a document by provenance text; of several at one place the last counts."""

    __slots__ = ("canonical", "mentions", "nominal")

    def __init__(self) -> None:
        self.mentions: dict[str, Assertion] = {}
        self.nominal: dict[str, Assertion] = {}
        self.canonical: dict[str, Assertion] = {}


def _says_all(node: Node) -> bool:
    """Whether a node has mentions, one canonical in each of their documents, and that among them."""
    texts: set[str] = set()
    canonical: dict[str, str] = {}
    for mention in node.mentions:
        name, provenance = mention.verb.name, mention.provenance
        if name == CANONICAL:
            if canonical.setdefault(provenance.docid, provenance.text) != provenance.text:
                return False
        elif name in MENTIONS:
            texts.add(provenance.text)
    return bool(texts) and node.documents == canonical.keys() and texts.issuperset(canonical.values())


def _infer_for_node(builder: Builder, node: Node, with_canonical: bool) -> None:
    if _says_all(node):  # as most do
        return
    documents: dict[str, _InDocument] = defaultdict(_InDocument)
    for assertion in node.mentions:
        name = assertion.verb.name
        if name not in MENTIONS and name != CANONICAL:
            continue
        in_document = documents[assertion.provenance.docid]
        kind = (
            in_document.canonical
            if name == CANONICAL
            else (in_document.mentions if name == NAMED else in_document.nominal)
        )
        kind[assertion.provenance.text] = assertion
    if not documents:
        builder.findings.report_without_place("NO_MENTIONS", node.name, line=node.best_line)
    for docid, in_document in documents.items():
        _infer_in_document(builder, node, docid, in_document, with_canonical)


def _infer_in_document(builder: Builder, node: Node, docid: str, known: _InDocument, with_canonical: bool) -> None:
    findings = builder.findings
    mentions = (*known.mentions.values(), *known.nominal.values())
    if not known.canonical and with_canonical:
        code = "MULTIPLE_MENTIONS_NO_CANONICAL" if len(mentions) > 1 else "MISSING_CANONICAL"
        findings.report_without_place(code, node.name, docid, line=mentions[0].line)
        if len(mentions) == 1:
            _infer(builder, mentions[0], node.name, CANONICAL, mentions[0].object)
    elif len(known.canonical) > 1:
        line = max(canonical.line for canonical in known.canonical.values())
        findings.report_without_place("MULTIPLE_CANONICAL", node.name, docid, line=line)
    for text, canonical in known.canonical.items():
        if text not in known.mentions and text not in known.nominal:
            findings.report("UNASSERTED_MENTION", str(canonical), docid, line=canonical.line)
            _infer(builder, canonical, node.name, NAMED, canonical.object)
