"""What a knowledge base says without saying it: inverses, canonical mentions, mentions (specification 6.5, 6.6)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from cs_score.knowledge_base.contents.assertions import CANONICAL, MENTIONS, NAMED, Assertion, Node
from cs_score.knowledge_base.contents.predicates import NONE
from cs_score.knowledge_base.reading.building import Builder
from cs_score.problems.log import Detail


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
