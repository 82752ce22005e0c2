"""Whether provenances name what they must, and nodes are mentioned where they say (specification 6.3, 6.7, 6.8)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from operator import attrgetter
from typing import Final

from cs_score.coldstart.linking import plain_confidence, read_confidence
from cs_score.coldstart.provenance import Provenance
from cs_score.knowledge_base.contents.assertions import (
    CANONICAL,
    LINK,
    MENTIONS,
    NAMED,
    NORMALIZED,
    PRONOMINAL,
    TYPE,
    Assertion,
    Node,
)
from cs_score.knowledge_base.contents.provenance_lists import NIL, as_written
from cs_score.knowledge_base.reading.findings import Findings
from cs_score.problems.log import Detail

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
