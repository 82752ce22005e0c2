"""Checks and repairs of a whole knowledge base, in the order of the reference (specification 6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Final, TypeAlias

from cs_score.base.errors import InputError
from cs_score.coldstart.tab_files import Provenance, offset_value, read_confidence
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
    if not has_excluded:  # only then all that lines say is looked at once more
        return
    for node, use, line in _uses(base):
        if _excludes(use, node):
            choice = " or ".join(sorted(use.types))
            shown = f"{choice} at line {line} and {node.known_type} at line {node.best_line}"
            findings.report_without_place("MULTITYPED_ENTITY", node.name, shown, line=line)


def _excludes(use: Use, node: Node) -> bool:
    """Whether a use leaves a choice of types that the node's is not among."""
    return use.only is None and node.type not in use.types and bool(use.types)


def _uses(base: KnowledgeBase) -> Iterator[tuple[Node, Use, int]]:
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
    filler, justification, *others = assertion.provenance.parts
    text = assertion.provenance.text
    if justification is None or filler is not None or any(part is not None for part in others):
        findings.report("UNEXPECTED_PROVENANCE", text, line=assertion.line, detail=Detail("PROVENANCE", text))
    if justification is not None and assertion.verb.name == NORMALIZED:
        _check_is_mention("Provenance", justification, assertion.subject, assertion, places, findings)


def _check_relation(assertion: Assertion, node: Node, places: MentionPlaces, findings: Findings) -> None:
    sentiment = _SENTIMENTS.get(assertion.verb.name)
    filler, justification, base_filler, _ = assertion.provenance.parts
    text = assertion.provenance.text
    detail = Detail("PROVENANCE", text)
    if node.type == "string" and filler is None:
        findings.report("MISSING_FILLER_STRING_PROV", text, line=assertion.line, detail=detail)
    if filler is not None:
        _check_is_mention("FILLER_STRING", filler, node, assertion, places, findings)
    if sentiment is not None and justification is not None:
        holder = node if sentiment else assertion.subject
        _check_is_mention("PREDICATE_JUSTIFICATION", justification, holder, assertion, places, findings)
    if base_filler is None and (assertion.subject.is_event or node.is_event):
        findings.report("UNEXPECTED_BASE_FILLER", NIL, line=assertion.line, detail=detail)


def _check_is_mention(
    what: str, part: Provenance, node: Node, assertion: Assertion, places: MentionPlaces, findings: Findings
) -> None:
    if not places.has(node, part, or_pronoun=what == "PREDICATE_JUSTIFICATION"):
        shown = ",".join(map(str, part.spans))  # in the order written, each with the document of the part
        detail = Detail("PROVENANCE", shown)
        findings.report("MISSING_MENTION_E", what, shown, node.name, line=assertion.line, detail=detail)


def check_endpoints(assertions: Iterable[Assertion], findings: Findings) -> None:
    """Report relations whose subject or object is not mentioned in their document."""
    for assertion in assertions:
        if assertion.verb.name in _NOT_ATTESTED:
            continue
        if assertion.provenance.problems:
            findings.look(assertion)
        text, docid = assertion.provenance.text, assertion.provenance.docid
        for node in (assertion.subject, assertion.node):
            if node is not None and docid not in node.documents:
                arguments, detail = (str(assertion), node.name, text), Detail("PROVENANCE", text)
                findings.report("UNATTESTED_RELATION_ENTITY", *arguments, line=assertion.line, detail=detail)


def check_confidences(assertions: Sequence[Assertion], findings: Findings) -> None:
    """Report confidences that are no good; those that can be mended are."""
    # Many assertions have few confidences.
    read = {written: read_confidence(written) for written in {assertion.confidence for assertion in assertions}}
    bad = {written: (text, codes) for written, (text, _, codes) in read.items() if codes}
    for assertion in assertions if bad else ():
        written = assertion.confidence
        if written in bad:
            assertion.confidence, codes = bad[written]
            for code in codes:
                repaired = assertion.confidence if code == "MISSING_DECIMAL_POINT" else None
                findings.report(code, written, line=assertion.line, detail=Detail("CONFIDENCE", written, repaired))


_KINDS: Final = {NAMED: 0, NOMINAL: 1, PRONOMINAL: 2, CANONICAL: 3}


def check_mention_strings(
    nodes: Iterable[Node], documents: DocumentList | None, findings: Findings
) -> Iterator[InputError]:
    """Check that nodes are mentioned, and that mentions stand in their documents; those that cannot be read.

    Mentions are grouped by document, so that each is opened once.
    """
    files = documents.files if documents is not None else {}
    in_document: dict[str, list[Assertion]] = defaultdict(list)
    for node in nodes:
        if not (node.others or node.mentions):
            continue
        mentions = [mention for mention in node.mentions if mention.verb.name in _KINDS]
        if not mentions:
            findings.report_without_place("NO_MENTIONS", node.name, line=node.best_line)
        if not files and node.name not in findings.troubled:
            continue
        first_of: dict[str, Assertion] = {}
        for mention in sorted(mentions, key=lambda mention: _KINDS[mention.verb.name]):
            docid = mention.provenance.docid
            first_of.setdefault(docid, mention)
            if docid in files:
                in_document[docid].append(mention)
        for mention in first_of.values():
            findings.look(mention)
    for docid, mentions in in_document.items():
        try:
            text = source_text(files[docid], findings.place(mentions[0].line))
        except InputError as error:
            yield error
            continue
        for mention in mentions:
            findings.look(mention)
            justification = mention.provenance.parts.justification
            span = justification.first if justification is not None else None
            if justification is None or span is None:
                continue
            if not holds(text, offset_value(span.start), offset_value(span.end), mention.text):
                arguments, detail = (mention.text, justification.canonical), Detail("OBJECT", mention.text)
                findings.report("INACCURACTE_MENTION_STRING", *arguments, line=mention.line, detail=detail)


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
    text, confidence = source.provenance.text, source.confidence
    line = (source.line, subject, predicate, object_, source.node is None, text, confidence, "")
    return builder.add(line, is_inferred=True)


_Mentions: TypeAlias = dict[str, dict[str, Assertion]]


def infer_mentions(builder: Builder, nodes: Iterable[Node], *, with_canonical: bool) -> None:
    """Add canonical mentions where there is one mention to choose from, and mentions where there is only a canonical.

    Without `with_canonical` no canonical mention is needed.
    """
    for node in nodes:
        if not (node.others or node.mentions) or _says_all(node):  # as most do
            continue
        # By document, kind and provenance text; of several at one place the last counts.
        documents: dict[str, _Mentions] = defaultdict(lambda: {NAMED: {}, NOMINAL: {}, CANONICAL: {}})
        for mention in node.mentions:
            if mention.verb.name in (NAMED, NOMINAL, CANONICAL):
                documents[mention.provenance.docid][mention.verb.name][mention.provenance.text] = mention
        if not documents:
            builder.findings.report_without_place("NO_MENTIONS", node.name, line=node.best_line)
        for docid, known in documents.items():
            _infer_in_document(builder, node, docid, known, with_canonical)


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


def _infer_in_document(builder: Builder, node: Node, docid: str, known: _Mentions, with_canonical: bool) -> None:
    findings = builder.findings
    named, nominal, all_canonical = known[NAMED], known[NOMINAL], known[CANONICAL]
    mentions = (*named.values(), *nominal.values())
    if not all_canonical and with_canonical:
        code = "MULTIPLE_MENTIONS_NO_CANONICAL" if len(mentions) > 1 else "MISSING_CANONICAL"
        findings.report_without_place(code, node.name, docid, line=mentions[0].line)
        if len(mentions) == 1:
            _infer(builder, mentions[0], node.name, CANONICAL, mentions[0].object)
    elif len(all_canonical) > 1:
        line = max(canonical.line for canonical in all_canonical.values())
        findings.report_without_place("MULTIPLE_CANONICAL", node.name, docid, line=line)
    for text, canonical in all_canonical.items():
        if text not in named and text not in nominal:
            findings.report("UNASSERTED_MENTION", str(canonical), docid, line=canonical.line)
            _infer(builder, canonical, node.name, NAMED, canonical.object)
