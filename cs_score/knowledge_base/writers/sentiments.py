"""Sentiments: who likes whom, by document, with the mentions of all nodes (specification 14)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Final, NamedTuple

from cs_score.base.outputs import FolderFile, encoded
from cs_score.base.patterns import pattern
from cs_score.base.records import Struct, field
from cs_score.coldstart.provenance import Span, offset_value
from cs_score.knowledge_base.contents.assertions import (
    CANONICAL,
    NAMED,
    NOMINAL,
    PRONOMINAL,
    Assertion,
    KnowledgeBase,
    Node,
)

FOLDER: Final = "sentiments"
FOLDERS: Final = ("predicted-ere", "predicted-best")

_KINDS: Final = {NAMED: "NAM", NOMINAL: "NOM", PRONOMINAL: "PRO"}
_POLARITIES: Final = {"likes": "pos", "dislikes": "neg"}
_FIRST_ID: Final = 500_001
# Characters that no XML can hold, not even as references.
_NOT_IN_XML: Final = pattern("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'


class _Mention(NamedTuple):
    """A mention with its id and the place where it stands."""

    id: str
    assertion: Assertion
    span: Span

    @property
    def extent(self) -> str:
        """Offset and length, as attributes."""
        length = offset_value(self.span.end) - offset_value(self.span.start) + 1
        return f'offset="{_attribute(self.span.start)}" length="{length:.15g}"'


class _Document(Struct):
    """What is said of one document: mentions by node, the last one at each place, canonical places, sentiments."""

    mentions: dict[str, list[_Mention]] = field(default_factory=lambda: defaultdict(list))
    at_place: dict[tuple[str, str], _Mention] = field(default_factory=dict)
    canonical: dict[str, str] = field(default_factory=dict)
    sentiments: list[Assertion] = field(default_factory=list)


def sentiment_files(base: KnowledgeBase) -> Iterator[FolderFile]:
    """The files below the folder."""
    documents = _documents(base)
    for docid in sorted(documents):
        document = documents[docid]
        if document.mentions:
            yield "predicted-ere", f"{docid}.rich_ere.xml", encoded(_ere(base.run_id, docid, document, base.nodes))
            yield "predicted-best", f"{docid}.best.xml", encoded(_best(docid, document))


def _documents(base: KnowledgeBase) -> dict[str, _Document]:
    documents: dict[str, _Document] = defaultdict(_Document)
    for assertion in base.assertions:
        name = assertion.verb.name
        if name in _KINDS:
            _note_mention(documents[assertion.provenance.docid], assertion)
        elif name == CANONICAL:
            documents[assertion.provenance.docid].canonical[assertion.subject.name] = assertion.provenance.place or ""
        elif name in _POLARITIES:
            documents[assertion.provenance.docid].sentiments.append(assertion)
    return documents


def _note_mention(document: _Document, assertion: Assertion) -> None:
    justification = assertion.provenance.parts.justification
    if justification is None or justification.first is None:
        return
    name = assertion.subject.name
    mention = _Mention(f"{name}.{_FIRST_ID + len(document.mentions[name])}", assertion, justification.first)
    document.mentions[name].append(mention)
    document.at_place[name, justification.canonical] = mention


def _ere(run_id: str, docid: str, document: _Document, nodes: Mapping[str, Node]) -> Iterator[str]:
    source = f'source="{_attribute(docid)}"'
    source_type = "multi_post" if "_DF_" in docid else "newswire"
    yield _HEAD
    yield (
        f'<deft_ere kit_id="{_attribute(run_id)}" doc_id="{_attribute(docid)}" source_type="{source_type}">\n'
        "  <entities>\n"
    )
    for name in sorted(document.mentions):
        node_type = (nodes[name].type or "").upper()
        yield f'    <entity id="{_attribute(name)}" type="{node_type}" specificity="specificIndividual">\n'
        for mention in document.mentions[name]:
            kind = _KINDS[mention.assertion.verb.name]
            text = _text(mention.assertion.text)
            yield (
                f'      <entity_mention id="{_attribute(mention.id)}" noun_type="{kind}" {source} '
                f"{mention.extent}>\n        <mention_text>{text}</mention_text>\n"
            )
            if kind == "NOM":
                yield f"        <nom_head {source} {mention.extent}>{text}</nom_head>\n"
            yield "      </entity_mention>\n"
        yield "    </entity>\n"
    yield "  </entities>\n</deft_ere>\n"


def _best(docid: str, document: _Document) -> Iterator[str]:
    yield _HEAD
    yield (f'<belief_sentiment_doc id="{_attribute(docid)}">\n  <sentiment_annotations>\n    <entities>\n')
    at_target: dict[tuple[str, str], list[Assertion]] = defaultdict(list)
    for sentiment in document.sentiments:
        at_target[sentiment.object, sentiment.provenance.place or ""].append(sentiment)
    for place in sorted(at_target):
        target = document.at_place.get(place)
        if target is not None:
            yield from _target(target, at_target[place], document)
    yield "    </entities>\n  </sentiment_annotations>\n</belief_sentiment_doc>\n"


def _target(target: _Mention, sentiments: Iterable[Assertion], document: _Document) -> Iterator[str]:
    yield (
        f'      <entity ere_id="{_attribute(target.id)}" {target.extent}>\n'
        f"        <text>{_text(target.assertion.text)}</text>\n        <sentiments>\n"
    )
    for sentiment in sentiments:
        holder = sentiment.subject.name
        source = document.at_place.get((holder, document.canonical.get(holder, "")))
        if source is None:
            continue
        yield (
            f'          <sentiment polarity="{_POLARITIES[sentiment.verb.name]}" sarcasm="no" '
            f'confidence="{sentiment.confidence}">\n'
            f'            <source ere_id="{_attribute(source.id)}" {source.extent}>'
            f"{_text(source.assertion.text)}</source>\n          </sentiment>\n"
        )
    yield "        </sentiments>\n      </entity>\n"


def _text(text: str) -> str:
    return escape(_NOT_IN_XML.sub("\ufffd", text), quote=False)


def _attribute(text: str) -> str:
    return _text(text).replace('"', "&quot;")
