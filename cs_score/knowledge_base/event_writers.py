"""Event nuggets, event arguments and sentiments, as other tracks of the evaluation read them (12 to 14)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Final, NamedTuple, TypeAlias

from cs_score.base.outputs import FolderFile, encoded
from cs_score.base.records import Struct, field
from cs_score.coldstart.tab_files import offset_value
from cs_score.knowledge_base.assertions import (
    CANONICAL,
    NAMED,
    NOMINAL,
    NORMALIZED,
    PRONOMINAL,
    TYPE,
    Assertion,
    KnowledgeBase,
    Node,
    short_form,
)


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
        name = mention.subject.name
        justification = mention.provenance.parts.justification
        span = "0,0"
        if justification is not None and (first := justification.first) is not None:
            start, end = offset_value(first.start), offset_value(first.end)
            # The reference subtracts the wrong way round.
            span = f"{first.start},{start + (start - end + 1):.15g}"
        node_type = "_".join(map(capitalized, (mention.subject.type or "").split(".")))
        columns = (run_id, docid, f"E{number}", span, mention.text, node_type, capitalized(mention.realis or ""))
        ids[name].append(f"E{number}")
        lines[name].append("\t".join(columns) + "\n")
    for name in sorted(lines):
        yield from sorted(lines[name])
    for name in sorted(name for name in ids if len(ids[name]) > 1):
        yield f"@Coreference\t{name}\t{','.join(sorted(ids[name]))}\n"


def capitalized(text: str) -> str:
    """A text with its first letter as a capital."""
    return text[:1].upper() + text[1:]


ARGUMENT_FOLDER: Final = "event_arguments"
ARGUMENT_FOLDERS: Final = ("arguments", "corpusLinking", "linking")

_InDocument: TypeAlias = dict[tuple[str, str], Assertion]
"""Node and document -> the mention of that node there which stands for it."""


def argument_files(base: KnowledgeBase) -> Iterator[FolderFile]:
    """The files below the folder."""
    canonical: _InDocument = {}
    normalized: _InDocument = {}  # of several the first recorded (17, rule 4)
    for assertion in base.assertions:
        key = (assertion.subject.name, assertion.provenance.docid)
        if assertion.verb.name == CANONICAL:
            canonical[key] = assertion
        elif assertion.verb.name == NORMALIZED:
            normalized.setdefault(key, assertion)
    by_document: dict[str, list[Assertion]] = defaultdict(list)
    for assertion in base.in_order():
        is_about_mentions = assertion.verb.is_mention or TYPE in assertion.verb.name
        if assertion.subject.is_event and not (is_about_mentions or assertion.is_omitted):
            by_document[assertion.provenance.docid].append(assertion)
    in_corpus: dict[str, list[str]] = defaultdict(list)
    for docid, arguments in by_document.items():
        linked: dict[str, list[str]] = defaultdict(list)
        argument_lines = []
        for number, argument in enumerate(arguments, 1):
            event = f"{base.run_id}{argument.subject.name}.{docid}"
            argument_lines.append(_line(f"{event}.{number}", docid, argument, canonical, normalized))
            if argument.realis != "generic":
                linked[argument.subject.name].append(f"{event}.{number}")
        yield "arguments", docid, encoded(argument_lines)
        if linked:
            links = (f"{base.run_id}{name}.{docid}\t{' '.join(sorted(linked[name]))}\n" for name in sorted(linked))
            yield "linking", docid, encoded(links)
        for name in linked:
            in_corpus[name].append(f"{docid}-{base.run_id}{name}.{docid}")
    if in_corpus:
        lines = (f"{base.run_id}{name}\t{' '.join(sorted(in_corpus[name]))}\n" for name in sorted(in_corpus))
        yield "corpusLinking", "corpusLinking", encoded(lines)


def _line(argument_id: str, docid: str, argument: Assertion, canonical: _InDocument, normalized: _InDocument) -> str:
    mention = canonical.get((argument.object, docid))
    text = mention.text if mention is not None else ""
    if argument.object.startswith(":String") and (argument.object, docid) in normalized:
        text = normalized[argument.object, docid].text
    node_type = ".".join(part.capitalize() for part in (argument.subject.type or "").split("."))
    place = short_form(mention.provenance.parts.justification) if mention is not None else ""
    parts = "\t".join(map(short_form, argument.provenance.parts[1:]))
    head = f"{argument_id}\t{docid}\t{node_type}\t{argument.verb.name.capitalize()}\t{text}\t{place}\t{parts}"
    return f"{head}\t{capitalized(argument.realis or '')}\t{argument.confidence}\n"


SENTIMENT_FOLDER: Final = "sentiments"
SENTIMENT_FOLDERS: Final = ("predicted-ere", "predicted-best")

_KINDS: Final = {NAMED: "NAM", NOMINAL: "NOM", PRONOMINAL: "PRO"}
_POLARITIES: Final = {"likes": "pos", "dislikes": "neg"}
_FIRST_ID: Final = 500_001
# Characters that no XML can hold, not even as references.
_NOT_IN_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'


class _Mention(NamedTuple):
    """A mention with its id and its offset and length, as attributes."""

    id: str
    assertion: Assertion
    extent: str


class _Document(Struct):
    """What is said of one document: mentions by node, the last one at each place, canonical places, sentiments."""

    mentions: dict[str, list[_Mention]] = field(default_factory=lambda: defaultdict(list))
    at_place: dict[tuple[str, str], _Mention] = field(default_factory=dict)
    canonical: dict[str, str] = field(default_factory=dict)
    sentiments: list[Assertion] = field(default_factory=list)

    def add_mention(self, assertion: Assertion) -> None:
        part = assertion.provenance.parts.justification
        if part is None or (span := part.first) is None:
            return
        name = assertion.subject.name
        length = offset_value(span.end) - offset_value(span.start) + 1
        extent = f'offset="{_attribute(span.start)}" length="{length:.15g}"'
        mention = _Mention(_attribute(f"{name}.{_FIRST_ID + len(self.mentions[name])}"), assertion, extent)
        self.mentions[name].append(mention)
        self.at_place[name, part.canonical] = mention


def sentiment_files(base: KnowledgeBase) -> Iterator[FolderFile]:
    """The files below the folder."""
    documents: dict[str, _Document] = defaultdict(_Document)
    for assertion in base.assertions:
        name, provenance = assertion.verb.name, assertion.provenance
        document = documents[provenance.docid]
        if name in _KINDS:
            document.add_mention(assertion)
        elif name == CANONICAL:
            document.canonical[assertion.subject.name] = provenance.place or ""
        elif name in _POLARITIES:
            document.sentiments.append(assertion)
    for docid, document in sorted(documents.items()):
        if document.mentions:
            yield "predicted-ere", f"{docid}.rich_ere.xml", encoded(_ere(base.run_id, docid, document, base.nodes))
            yield "predicted-best", f"{docid}.best.xml", encoded(_best(docid, document))


def _ere(run_id: str, docid: str, document: _Document, nodes: Mapping[str, Node]) -> Iterator[str]:
    source = f'source="{_attribute(docid)}"'
    source_type = "multi_post" if "_DF_" in docid else "newswire"
    yield _HEAD
    yield f'<deft_ere kit_id="{_attribute(run_id)}" doc_id="{_attribute(docid)}" source_type="{source_type}">\n'
    yield "  <entities>\n"
    for name in sorted(document.mentions):
        node_type = (nodes[name].type or "").upper()
        yield f'    <entity id="{_attribute(name)}" type="{node_type}" specificity="specificIndividual">\n'
        for mention in document.mentions[name]:
            kind = _KINDS[mention.assertion.verb.name]
            text = _text(mention.assertion.text)
            yield f'      <entity_mention id="{mention.id}" noun_type="{kind}" {source} {mention.extent}>\n'
            yield f"        <mention_text>{text}</mention_text>\n"
            if kind == "NOM":
                yield f"        <nom_head {source} {mention.extent}>{text}</nom_head>\n"
            yield "      </entity_mention>\n"
        yield "    </entity>\n"
    yield "  </entities>\n</deft_ere>\n"


def _best(docid: str, document: _Document) -> Iterator[str]:
    yield _HEAD
    yield f'<belief_sentiment_doc id="{_attribute(docid)}">\n  <sentiment_annotations>\n    <entities>\n'
    at_target: dict[tuple[str, str], list[Assertion]] = defaultdict(list)
    for sentiment in document.sentiments:
        at_target[sentiment.object, sentiment.provenance.place or ""].append(sentiment)
    for place in sorted(document.at_place.keys() & at_target.keys()):
        target = document.at_place[place]
        yield f'      <entity ere_id="{target.id}" {target.extent}>\n'
        yield f"        <text>{_text(target.assertion.text)}</text>\n        <sentiments>\n"
        for sentiment in at_target[place]:
            holder = sentiment.subject.name
            source = document.at_place.get((holder, document.canonical.get(holder, "")))
            if source is None:
                continue
            polarity, text = _POLARITIES[sentiment.verb.name], _text(source.assertion.text)
            yield f'          <sentiment polarity="{polarity}" sarcasm="no" confidence="{sentiment.confidence}">\n'
            yield f'            <source ere_id="{source.id}" {source.extent}>{text}</source>\n'
            yield "          </sentiment>\n"
        yield "        </sentiments>\n      </entity>\n"
    yield "    </entities>\n  </sentiment_annotations>\n</belief_sentiment_doc>\n"


def _text(text: str) -> str:
    return escape(_NOT_IN_XML.sub("\ufffd", text), quote=False)


def _attribute(text: str) -> str:
    return _text(text).replace('"', "&quot;")
