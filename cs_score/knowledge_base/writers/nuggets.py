"""Event nuggets: the mentions of events by document (specification 12)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from cs_score.coldstart.provenance import offset_value
from cs_score.knowledge_base.contents.assertions import NAMED, Assertion, KnowledgeBase, Node


def nugget_text(base: KnowledgeBase) -> Iterator[str]:
    """A part for each document."""
    in_document: dict[str, list[Assertion]] = defaultdict(list)
    for assertion in base.in_order():
        if assertion.verb.name == NAMED and assertion.subject.is_event and not assertion.is_omitted:
            in_document[assertion.provenance.docid].append(assertion)
    for docid in sorted(in_document):
        yield f"#BeginOfDocument {docid}\n"
        yield from _of_document(base.run_id, docid, in_document[docid])
        yield "#EndOfDocument\n"


def _of_document(run_id: str, docid: str, mentions: Iterable[Assertion]) -> Iterator[str]:
    ids: dict[str, list[str]] = defaultdict(list)
    lines: dict[str, list[str]] = defaultdict(list)
    for number, mention in enumerate(mentions, 1):
        subject = mention.subject
        columns = (
            run_id, docid, f"E{number}", _span(mention), mention.text, _type(subject),
            capitalized(mention.realis or ""),
        )  # fmt: skip
        ids[subject.name].append(f"E{number}")
        lines[subject.name].append("\t".join(columns) + "\n")
    for name in sorted(lines):
        yield from sorted(lines[name])
    for name in sorted(lines):
        if len(ids[name]) > 1:
            yield f"@Coreference\t{name}\t{','.join(sorted(ids[name]))}\n"


def _span(mention: Assertion) -> str:
    """The start of a mention, and what the reference takes for its end: it subtracts the wrong way round (18.5)."""
    justification = mention.provenance.parts.justification
    span = justification.first if justification is not None else None
    if span is None:
        return "0,0"
    start, end = offset_value(span.start), offset_value(span.end)
    return f"{span.start},{start + (start - end + 1):.15g}"


def _type(node: Node) -> str:
    return "_".join(map(capitalized, (node.type or "").split(".")))


def capitalized(text: str) -> str:
    """A text with its first letter as a capital."""
    return text[:1].upper() + text[1:]
