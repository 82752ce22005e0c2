"""Writes a validated knowledge base in its own format and in those of other tracks (event nuggets, event arguments,
sentiments, entity linking), with statistics and a diff. A mention is an assertion that a node has a text at a place;
the canonical mention gives a node its name.
"""

from __future__ import annotations

import errno
import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Final, Literal, NamedTuple

from msgspec import UNSET, UnsetType

from cs_score.base.documents import Document
from cs_score.base.errors import OutputError, UsageError
from cs_score.base.outputs import FolderFile, OwnOption, note_new_folder, utf8_blocks, write_folder, write_whole
from cs_score.base.records import Record, Struct, field
from cs_score.base.sources import name_without_compression, reason_of
from cs_score.coldstart.tab_files import Span, offset_value
from cs_score.preparation.prepared_runs import file_differences
from cs_score.verbs.knowledge_base.assertions import (
    CANONICAL,
    LINK,
    MENTIONS,
    NAMED,
    NOMINAL,
    NORMALIZED,
    PRONOMINAL,
    TYPE,
    Assertion,
    KnowledgeBase,
    offsets_without_document,
)

# ---- Event nuggets


def nugget_text(kb: KnowledgeBase) -> Iterator[str]:
    """Yield the lines of the file of event nuggets, in which other tracks find the places that mention events.

    It has a section for each document, with the mentions of events and then, for each event with several mentions, a
    line with their ids: `@Coreference`, the event and `E1,E2`.
    """
    mentions_by_docid: dict[str, list[Assertion]] = defaultdict(list)
    for assertion in kb.assertions_as_written():
        is_mention_of_event = assertion.predicate.name == NAMED and assertion.subject.is_event
        if is_mention_of_event and not assertion.is_omitted:
            mentions_by_docid[assertion.provenance.docid].append(assertion)
    for docid in sorted(mentions_by_docid):
        yield f"#BeginOfDocument {docid}\n"
        yield from _nugget_lines(kb.run_id, docid, mentions_by_docid[docid])
        yield "#EndOfDocument\n"


def _nugget_lines(run_id: str, docid: str, mentions: Iterable[Assertion]) -> Iterator[str]:
    """Yield the lines for a document in the nugget file: its mentions, sorted by event, then the coreference lines.

    Each event with several mentions has a coreference line. The mentions get the ids E1, E2, ... in the order in which
    they are given.
    """
    ids_by_event: dict[str, list[str]] = defaultdict(list)
    lines_by_event: dict[str, list[str]] = defaultdict(list)
    for number, mention in enumerate(mentions, start=1):
        event = mention.subject.name
        mention_id = f"E{number}"
        ids_by_event[event].append(mention_id)
        lines_by_event[event].append(_nugget_line(run_id, docid, mention_id, mention))
    for event in sorted(lines_by_event):
        yield from sorted(lines_by_event[event])  # sorted as text, so that E10 comes before E2
    for event in sorted(ids_by_event):
        yield from _coreference_lines(event, ids_by_event[event])


def _coreference_lines(event: str, mention_ids: Sequence[str]) -> Iterator[str]:
    """Yield the line that says which mentions are of an event: `@Coreference :Event_1 E1,E2`, with tabs.

    An event with a single mention has no such line.
    """
    if len(mention_ids) > 1:
        ids = ",".join(sorted(mention_ids))
        yield f"@Coreference\t{event}\t{ids}\n"


def _nugget_line(run_id: str, docid: str, mention_id: str, mention: Assertion) -> str:
    """Return the line of the nugget file for a mention of an event.

    The tab-separated columns are the run, the document, the id of the mention in the document (such as E1), the
    offsets, the text (without quotes), the type of the event and the realis: `run1 D1 E1 3,2 "met" Contact_Meet
    Actual`.
    """
    parts_of_type = (mention.subject.type or "").split(".")
    event_type = "_".join([_capitalize_first(part) for part in parts_of_type])
    realis = _capitalize_first(mention.realis or "")
    columns = (run_id, docid, mention_id, _nugget_offsets(mention.span), mention.text, event_type, realis)
    return "\t".join(columns) + "\n"


def _nugget_offsets(span: Span | None) -> str:
    """Return the offsets of a mention for the nugget file: "3,2" for D1:3-5, or "0,0" if the mention has no span.

    The second number should be the end, which is 5 here. To reproduce the output of the reference program, it is start
    + (start - end + 1) instead, in this case 3 + (3 - 5 + 1).
    """
    if span is None:
        return "0,0"
    start = offset_value(span.start)
    second_offset = start + (start - offset_value(span.end) + 1)
    return f"{span.start},{second_offset:.15g}"


def _capitalize_first(text: str) -> str:
    """Return a text with its first letter in upper case and the others unchanged: "someDay" -> "SomeDay"."""
    return text[:1].upper() + text[1:]


# ---- Event arguments


def argument_files(kb: KnowledgeBase) -> Iterator[FolderFile]:
    """Yield the files of event arguments, such as the attacker of an attack: folder, name and content of each file.

    For each document, there is a file of its arguments (in the folder "arguments") and a file that groups them by event
    (in "linking"). One last file lists the groups of each event in all documents (in "corpusLinking").
    """
    mentions = _MentionsOfFillers(kb)
    # The arguments of an event in one document form a group. This maps each event to the ids of its groups.
    groups_by_event: dict[str, list[str]] = defaultdict(list)
    for docid, arguments in _arguments_by_document(kb).items():
        numbered_arguments = _number_arguments(kb.run_id, docid, arguments)
        lines = [_argument_line(argument, docid, mentions) for argument in numbered_arguments]
        yield "arguments", docid, utf8_blocks(lines)
        ids_by_event = _ids_by_event(numbered_arguments)
        if ids_by_event:
            yield "linking", docid, utf8_blocks(_link_lines(kb.run_id, ids_by_event, suffix=f".{docid}"))
        for event in ids_by_event:
            groups_by_event[event].append(_id_of_group(kb.run_id, event, docid))
    if groups_by_event:
        yield "corpusLinking", "corpusLinking", utf8_blocks(_link_lines(kb.run_id, groups_by_event, suffix=""))


def _id_of_group(run_id: str, event: str, docid: str) -> str:
    """Return the id of an event's group of arguments in a document: "D1-run1:Event_1.D1" for the event ":Event_1"."""
    name_in_linking_file = f"{run_id}{event}.{docid}"
    return f"{docid}-{name_in_linking_file}"


class _EventArgument(NamedTuple):
    """An argument of an event, such as the attacker of an attack, with its id, such as "run1:Event_1.D1.2"."""

    id: str
    assertion: Assertion


def _number_arguments(run_id: str, docid: str, assertions: Iterable[Assertion]) -> list[_EventArgument]:
    """Return the arguments of events in a document with their ids, which end with the numbers 1, 2, ..."""
    arguments = []
    for number, assertion in enumerate(assertions, start=1):
        event = assertion.subject.name  # begins with a colon, such as ":Event_1"
        argument_id = f"{run_id}{event}.{docid}.{number}"
        arguments.append(_EventArgument(argument_id, assertion))
    return arguments


def _ids_by_event(arguments: Iterable[_EventArgument]) -> dict[str, list[str]]:
    """Return the ids of arguments by event, such as ":Event_1". Events that happen in general are left out."""
    ids_by_event: dict[str, list[str]] = defaultdict(list)
    for argument in arguments:
        if argument.assertion.realis != "generic":
            ids_by_event[argument.assertion.subject.name].append(argument.id)
    return ids_by_event


def _arguments_by_document(kb: KnowledgeBase) -> dict[str, list[Assertion]]:
    """Return the arguments of events (all assertions about events except mentions and types) by document.

    Omitted assertions are left out.
    """
    arguments_by_docid: dict[str, list[Assertion]] = defaultdict(list)
    for assertion in kb.assertions_as_written():
        if assertion.is_omitted or not assertion.subject.is_event:
            continue
        # As in the reference program, "type" may be any part of the name.
        is_mention_or_type = assertion.predicate.is_mention or TYPE in assertion.predicate.name
        if not is_mention_or_type:
            arguments_by_docid[assertion.provenance.docid].append(assertion)
    return arguments_by_docid


class _MentionsOfFillers:
    """The mentions that name the fillers of events. A filler is the object of an argument of an event.

    A canonical mention is the name of a node in a document. A normalized mention is a standard form, such as a date in
    figures. If there are several, the last canonical mention and the first normalized mention are used.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        """Collect the canonical and the normalized mentions of a knowledge base."""
        self._canonical_by_node_and_docid: dict[tuple[str, str], Assertion] = {}
        self._normalized_by_node_and_docid: dict[tuple[str, str], Assertion] = {}
        for assertion in kb.assertions:
            key = (assertion.subject.name, assertion.provenance.docid)
            # As in the reference program, the last canonical mention and the first normalized mention count.
            if assertion.predicate.name == CANONICAL:
                self._canonical_by_node_and_docid[key] = assertion
            elif assertion.predicate.name == NORMALIZED:
                self._normalized_by_node_and_docid.setdefault(key, assertion)

    def text_and_place(self, filler: str, docid: str) -> tuple[str, str]:
        """Return the text of a node, such as ":Entity_1", in a document, and the place of this text: "Ann", "3-9".

        Both come from the canonical mention of the node in the document, and are empty if there is no such mention. For
        a string, the text is replaced by a normalized form (such as a date in figures) if there is one, even without a
        canonical mention.
        """
        text = ""
        place = ""
        canonical = self._canonical_by_node_and_docid.get((filler, docid))
        if canonical is not None:
            text = canonical.text
            place = offsets_without_document(canonical.provenance.parts.justification)
        normalized = self._normalized_by_node_and_docid.get((filler, docid))
        if normalized is not None and filler.startswith(":String"):
            text = normalized.text
        return text, place


def _argument_line(argument: _EventArgument, docid: str, mentions: _MentionsOfFillers) -> str:
    """Return the line of the arguments file for an argument of an event, such as the attacker of an attack.

    Its columns are the id, the document, the type of the event, the role, the text and place of the filler, the three
    parts of the provenance, the realis and the confidence. The filler is the object of the assertion, and `mentions`
    give its text and place.
    """
    assertion = argument.assertion
    text, place = mentions.text_and_place(assertion.object, docid)
    parts_of_type = (assertion.subject.type or "").split(".")
    parts = assertion.provenance.parts
    columns = (
        argument.id,
        docid,
        ".".join([part.capitalize() for part in parts_of_type]),
        assertion.predicate.name.capitalize(),
        text,
        place,
        offsets_without_document(parts.justification),
        offsets_without_document(parts.base_filler),
        offsets_without_document(parts.additional),
        _capitalize_first(assertion.realis or ""),  # all other letters stay as they are
        assertion.confidence,
    )
    return "\t".join(columns) + "\n"


def _link_lines(run_id: str, ids_by_event: Mapping[str, list[str]], suffix: str) -> list[str]:
    """Return a line for each event: its name, such as "run1:Event_1.D1", a tab, and ids separated by blanks.

    The ids are those of the event's arguments in one document, or of its groups of arguments in all documents. The name
    consists of the run id, the event and `suffix`.
    """
    lines = []
    for event in sorted(ids_by_event):
        ids = " ".join(sorted(ids_by_event[event]))
        lines.append(f"{run_id}{event}{suffix}\t{ids}\n")  # an event such as ":Event_1" begins with a colon
    return lines


# ---- Sentiments

_MENTION_KINDS: Final = {NAMED: "NAM", NOMINAL: "NOM", PRONOMINAL: "PRO"}
_POLARITY_BY_PREDICATE: Final = {"likes": "pos", "dislikes": "neg"}
_FIRST_ID: Final = 500_001
# Ids of documents from discussion forums contain this text. Their posts have several authors.
_DISCUSSION_FORUM: Final = "_DF_"
# Characters that are not allowed in XML, not even as references.
_NOT_IN_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_XML_HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'


class _Mention(NamedTuple):
    """A mention of an entity with its id, and with its offset and length as XML attributes."""

    id: str
    assertion: Assertion
    offset_and_length: str


class _MentionsAndSentiments(Struct):
    """The mentions and sentiments of a knowledge base in a document.

    `mentions_by_node` has the mentions of each node, `mention_by_node_and_place` the last mention of a node at a place,
    and `canonical_place_by_node` the place of the canonical mention of each node.
    """

    mentions_by_node: dict[str, list[_Mention]] = field(default_factory=lambda: defaultdict(list))
    mention_by_node_and_place: dict[tuple[str, str], _Mention] = field(default_factory=dict)
    canonical_place_by_node: dict[str, str] = field(default_factory=dict)
    sentiments: list[Assertion] = field(default_factory=list)

    def add(self, assertion: Assertion) -> None:
        """Add an assertion whose provenance is in the document. Only mentions and sentiments are kept."""
        predicate_name = assertion.predicate.name
        if predicate_name == CANONICAL:
            self.canonical_place_by_node[assertion.subject.name] = assertion.provenance.place or ""
        elif predicate_name in _POLARITY_BY_PREDICATE:
            self.sentiments.append(assertion)
        elif predicate_name in _MENTION_KINDS and assertion.span is not None:
            self._add_mention(assertion, assertion.span)

    def _add_mention(self, assertion: Assertion, span: Span) -> None:
        """Add a mention at a span; it gets the next id of its node: ":Entity_1.500001", ":Entity_1.500002", ..."""
        node = assertion.subject.name
        mentions_of_node = self.mentions_by_node[node]
        mention_number = _FIRST_ID + len(mentions_of_node)
        mention = _Mention(
            id=_xml_attribute(f"{node}.{mention_number}"),
            assertion=assertion,
            offset_and_length=_offset_and_length(span),
        )
        mentions_of_node.append(mention)
        self.mention_by_node_and_place[node, assertion.provenance.place or ""] = mention

    def canonical_mention(self, node: str) -> _Mention | None:
        """Return the mention of a node at the place of its canonical mention, its name here; None if there is none."""
        place = self.canonical_place_by_node.get(node, "")
        return self.mention_by_node_and_place.get((node, place))

    def sentiments_by_target(self) -> dict[tuple[str, str], list[Assertion]]:
        """Return the sentiments by target, which is a node and its place in the document: (":Entity_1", "D1:3-9").

        The target is the entity that is liked or disliked. Its place is the justification of the sentiment. A sentiment
        is left out if the node has no mention at this place.
        """
        sentiments_by_target: dict[tuple[str, str], list[Assertion]] = defaultdict(list)
        for sentiment in self.sentiments:
            target = (sentiment.object, sentiment.provenance.place or "")
            if target in self.mention_by_node_and_place:
                sentiments_by_target[target].append(sentiment)
        return sentiments_by_target


def sentiment_files(kb: KnowledgeBase) -> Iterator[FolderFile]:
    """Yield the files of the sentiments: folder, name and content of each file.

    For each document with mentions, there is a file of its entities (in the folder "predicted-ere") and a file of its
    sentiments (in "predicted-best").
    """
    statements_by_docid: dict[str, _MentionsAndSentiments] = defaultdict(_MentionsAndSentiments)
    for assertion in kb.assertions:
        statements_by_docid[assertion.provenance.docid].add(assertion)
    for docid, statements in sorted(statements_by_docid.items()):
        if statements.mentions_by_node:
            yield "predicted-ere", f"{docid}.rich_ere.xml", utf8_blocks(_entities_xml(kb, docid, statements))
            yield "predicted-best", f"{docid}.best.xml", utf8_blocks(_sentiments_xml(docid, statements))


def _offset_and_length(span: Span) -> str:
    """Return the offset and the length of a span as XML attributes: for D1:3-9 `offset="3" length="7"`."""
    length = offset_value(span.end) - offset_value(span.start) + 1
    return f'offset="{_xml_attribute(span.start)}" length="{length:.15g}"'


def _entities_xml(kb: KnowledgeBase, docid: str, statements: _MentionsAndSentiments) -> Iterator[str]:
    """Yield the lines of the XML file with the entities of a document and their mentions, which are in `statements`."""
    source_type = "multi_post" if _DISCUSSION_FORUM in docid else "newswire"
    kit_id = _xml_attribute(kb.run_id)
    yield _XML_HEAD
    yield f'<deft_ere kit_id="{kit_id}" doc_id="{_xml_attribute(docid)}" source_type="{source_type}">\n'
    yield "  <entities>\n"
    for name in sorted(statements.mentions_by_node):
        node_type = (kb.nodes[name].type or "").upper()
        yield f'    <entity id="{_xml_attribute(name)}" type="{node_type}" specificity="specificIndividual">\n'
        for mention in statements.mentions_by_node[name]:
            yield from _entity_mention_xml(docid, mention)
        yield "    </entity>\n"
    yield "  </entities>\n</deft_ere>\n"


def _entity_mention_xml(docid: str, mention: _Mention) -> Iterator[str]:
    """Yield the lines of the element of a mention, such as "the mayor" with its place in the document."""
    source = f'source="{_xml_attribute(docid)}"'
    kind = _MENTION_KINDS[mention.assertion.predicate.name]
    text = _xml_text(mention.assertion.text)
    yield f'      <entity_mention id="{mention.id}" noun_type="{kind}" {source} {mention.offset_and_length}>\n'
    yield f"        <mention_text>{text}</mention_text>\n"
    if kind == "NOM":
        yield f"        <nom_head {source} {mention.offset_and_length}>{text}</nom_head>\n"
    yield "      </entity_mention>\n"


def _sentiments_xml(docid: str, statements: _MentionsAndSentiments) -> Iterator[str]:
    """Yield the lines of the XML file with the sentiments of a document, which are in `statements`.

    They are grouped by the mention that is liked or disliked, the target.
    """
    yield _XML_HEAD
    yield f'<belief_sentiment_doc id="{_xml_attribute(docid)}">\n  <sentiment_annotations>\n    <entities>\n'
    sentiments_by_target = statements.sentiments_by_target()
    for node_and_place in sorted(sentiments_by_target):
        target_mention = statements.mention_by_node_and_place[node_and_place]
        yield from _target_xml(target_mention, statements, sentiments_by_target[node_and_place])
    yield "    </entities>\n  </sentiment_annotations>\n</belief_sentiment_doc>\n"


def _target_xml(target: _Mention, statements: _MentionsAndSentiments, sentiments: Iterable[Assertion]) -> Iterator[str]:
    """Yield the lines of the element of a mention that is the target of sentiments.

    A sentiment is left out if its holder has no canonical mention in the document.
    """
    yield f'      <entity ere_id="{target.id}" {target.offset_and_length}>\n'
    yield f"        <text>{_xml_text(target.assertion.text)}</text>\n        <sentiments>\n"
    for sentiment in sentiments:
        holder_mention = statements.canonical_mention(sentiment.subject.name)
        if holder_mention is not None:
            yield from _sentiment_xml(sentiment, holder_mention)
    yield "        </sentiments>\n      </entity>\n"


def _sentiment_xml(sentiment: Assertion, holder: _Mention) -> Iterator[str]:
    """Yield the lines of the element of a sentiment.

    Its polarity is "pos" if the holder likes the target, "neg" if the holder dislikes it. `holder` is the mention of
    the node with the sentiment.
    """
    polarity = _POLARITY_BY_PREDICATE[sentiment.predicate.name]
    holder_text = _xml_text(holder.assertion.text)
    holder_attributes = f'ere_id="{holder.id}" {holder.offset_and_length}'
    yield f'          <sentiment polarity="{polarity}" sarcasm="no" confidence="{sentiment.confidence}">\n'
    yield f"            <source {holder_attributes}>{holder_text}</source>\n"
    yield "          </sentiment>\n"


def _xml_text(text: str) -> str:
    """Return a text escaped for XML, with a replacement character for each character that XML does not allow."""
    allowed_text = _NOT_IN_XML.sub("\ufffd", text)
    return escape(allowed_text, quote=False)


def _xml_attribute(text: str) -> str:
    """Return a text escaped for an XML attribute in double quotes."""
    return _xml_text(text).replace('"', "&quot;")


# ---- The validated knowledge base, and entity discovery and linking


def tac_text(kb: KnowledgeBase, labels: Collection[str]) -> Iterator[str]:
    """Yield the text of a validated knowledge base, node by node.

    Only assertions whose predicates have one of the `labels` are written. The predicates of the evaluation have the
    label TAC. The label of a user's predicates, such as SPORTS, is part of the name of their file.
    """
    yield f"{kb.first_line}\n\n"
    for assertions in kb.assertions_by_node():
        yield "".join(tac_lines(assertions, labels))


def tac_lines(assertions: Iterable[Assertion], labels: Collection[str]) -> list[str]:
    """Return the lines of assertions in a validated knowledge base: `:Entity_1 per:children :Entity_2 D1:6-21 0.5`.

    The columns are separated by tabs. Omitted assertions are left out, and so are assertions whose predicates have none
    of the `labels`. A label is either TAC (for predicates of the evaluation) or the label of a file of predicates, such
    as SPORTS.
    """
    lines = []
    for assertion in assertions:
        predicate = assertion.predicate
        if assertion.is_omitted or predicate.label not in labels:
            continue
        predicate_column = predicate.name
        if predicate.has_domain:
            predicate_column = f"{assertion.subject.type}:{predicate_column}"
        if assertion.realis is not None:
            predicate_column = f"{predicate_column}.{assertion.realis}"
        columns = f"{assertion.subject.name}\t{predicate_column}\t{assertion.object}\t{assertion.provenance.text}"
        # The type of a node has no confidence.
        if predicate.name != TYPE:
            columns = f"{columns}\t{assertion.confidence}"
        lines.append(f"{columns}{assertion.comment}\n")  # a comment begins with `#`, or is empty
    return lines


def edl_text(kb: KnowledgeBase, link_kb: str) -> Iterator[str]:
    """Yield a line for each mention of an entity, in the format of entity discovery and linking.

    An entity has the id of its link to the knowledge base `link_kb`. Entities without such a link have the ids
    NIL_0001, NIL_0002, ...
    """
    entities = _LinkedEntities(link_kb)
    for assertion in kb.assertions_as_written():
        entities.add(assertion)
    for number, mention in enumerate(entities.mentions, start=1):
        node = mention.subject.name
        columns = (
            kb.run_id,
            f"{node}_{_mention_number(number)}",
            mention.text,
            mention.provenance.text,
            entities.id_of(node),
            entities.type_by_node.get(node, ""),
            _MENTION_KINDS[mention.predicate.name],
            mention.confidence,
        )
        yield "\t".join(columns) + "\n"


class _LinkedEntities:
    """The mentions of entities, the types of their nodes, and the entities of a knowledge base that they are linked to.

    The types are in upper case, such as "PER", by the names of the nodes.
    """

    def __init__(self, link_kb: str) -> None:
        """Make an empty collection. Only links to the knowledge base named `link_kb` are counted."""
        self.mentions: list[Assertion] = []
        self.type_by_node: dict[str, str] = {}
        self._link_kb = link_kb
        # The ids of nodes without a link, such as NIL_0001.
        self._nil_id_by_node: dict[str, str] = {}
        self._entity_id_by_node: dict[str, str] = {}

    def add(self, assertion: Assertion) -> None:
        """Add a type, a link or a mention by name or description; other assertions are left out."""
        predicate_name = assertion.predicate.name
        if predicate_name == TYPE:
            self._add_type(assertion.subject.name, assertion.object)
        elif predicate_name == LINK:
            self._add_link(assertion.subject.name, assertion.object)
        elif predicate_name in MENTIONS:
            is_of_entity = not assertion.subject.is_event
            if is_of_entity and not assertion.is_omitted:
                self.mentions.append(assertion)

    def _add_type(self, node: str, node_type: str) -> None:
        """Record the type of a node, and number the node: the first one is NIL_0001, the next one NIL_0002."""
        self.type_by_node[node] = node_type.upper()
        if node not in self._nil_id_by_node:
            next_number = len(self._nil_id_by_node) + 1
            self._nil_id_by_node[node] = f"NIL_{next_number:04d}"

    def _add_link(self, node: str, link: str) -> None:
        """Record the link of a node, such as "LDC2015E42:m.0abc", if it is a link to the right knowledge base."""
        linked_kb, _colon, entity_id = link.partition(":")
        if linked_kb == self._link_kb:
            self._entity_id_by_node[node] = entity_id

    def id_of(self, node: str) -> str:
        """Return the id of the entity that a node is linked to, or else NIL_ with the number of the node.

        The id is empty for a node without a link and without a type.
        """
        if node in self._entity_id_by_node:
            return self._entity_id_by_node[node]
        return self._nil_id_by_node.get(node, "")


def _mention_number(number: int) -> str:
    """Return the number of a mention as a letter with five digits: 1 -> "M00001", 100,000 -> "N00000"."""
    letters_after_m, last_digits = divmod(number, 100_000)
    letter = chr(ord("M") + letters_after_m)
    return f"{letter}{last_digits:05d}"


# ---- Statistics

_WITHOUT_DOMAIN: Final = frozenset((TYPE, NAMED, CANONICAL, LINK))
"""The predicates that are counted without the type of their subject."""


class KbStatistics(Document, frozen=True, kw_only=True, tag="kb-statistics"):
    """What was asserted and omitted, by domain and predicate; nodes by type; lines that were rejected, by reason."""

    schema_version: Literal[3] = 3
    run_id: str
    has_multiple_confidences: bool
    asserted: Mapping[str, Mapping[str, int]] | UnsetType = UNSET
    entity: Mapping[str, int] | UnsetType = UNSET
    omitted: Mapping[str, Mapping[str, int]] | UnsetType = UNSET
    rejected_assertions: Mapping[str, int] | UnsetType = UNSET


def statistics_of(kb: KnowledgeBase) -> KbStatistics:
    """Return the statistics of a knowledge base: numbers of assertions, of nodes by type, and of rejected lines."""
    node_counts = Counter([node.type_in_reports for node in kb.nodes.values()])
    if node_counts:
        node_counts["ALL"] = node_counts.total()
    distinct_confidences = {float(assertion.confidence) for assertion in kb.assertions}
    written_assertions = [assertion for assertion in kb.assertions if not assertion.is_omitted]
    omitted_assertions = [assertion for assertion in kb.assertions if assertion.is_omitted]
    return KbStatistics(
        task="coldstart",
        run_id=kb.run_id,
        has_multiple_confidences=len(distinct_confidences) > 1,
        asserted=_count_assertions(written_assertions),
        entity=_sort_by_key(node_counts) or UNSET,
        omitted=_count_assertions(omitted_assertions),
        rejected_assertions=_sort_by_key(kb.rejected) or UNSET,
    )


def _sort_by_key(counts: Mapping[str, int]) -> dict[str, int]:
    """Return counts sorted by their keys, such as the names of predicates."""
    return dict(sorted(counts.items()))


def _count_assertions(assertions: Sequence[Assertion]) -> dict[str, dict[str, int]] | UnsetType:
    """Return the numbers of assertions by the type of their subject ("domain") and by predicate ("predicate").

    "domain" also has the total number of assertions, under the type "ALL". Return UNSET if there are no assertions.
    """
    if not assertions:
        return UNSET
    domain_counts = Counter([assertion.subject.type_in_reports for assertion in assertions])
    domain_counts["ALL"] = domain_counts.total()
    predicate_counts = Counter([_name_in_statistics(assertion) for assertion in assertions])
    return {"domain": _sort_by_key(domain_counts), "predicate": _sort_by_key(predicate_counts)}


def _name_in_statistics(assertion: Assertion) -> str:
    """Return the predicate of an assertion as statistics name it, such as "mention", or "per:spouse" with its domain.

    The domain is the type of the subject.
    """
    name = assertion.predicate.name
    if name in _WITHOUT_DOMAIN:
        return name
    return f"{assertion.subject.type_in_reports}:{name}"


def statistics_text(statistics: KbStatistics) -> Iterator[str]:
    """Yield the lines of the statistics file, in the format of the reference program: `ENTITY PER 12` with tabs."""
    yield f"RUNID\t\t{statistics.run_id}\n"
    yes_or_no = "YES" if statistics.has_multiple_confidences else "NO"
    yield f"HAS_MULTIPLE_CONFIDENCES\t\t{yes_or_no}\n"
    yield from _lines_of_assertion_counts("ASSERTED", statistics.asserted)
    yield from _lines_of_counts("ENTITY", statistics.entity)
    yield from _lines_of_assertion_counts("OMITTED", statistics.omitted)
    yield from _lines_of_counts("REJECTED_ASSERTIONS", statistics.rejected_assertions)


def _lines_of_assertion_counts(
    title: str, counts_by_kind: Mapping[str, Mapping[str, int]] | UnsetType
) -> Iterator[str]:
    """Yield the lines of counts under headings such as "ASSERTED:DOMAIN", where "ASSERTED" is the title.

    Nothing is yielded if `counts_by_kind` is UNSET.
    """
    if counts_by_kind is not UNSET:
        for kind, counts in counts_by_kind.items():
            yield from _lines_of_counts(f"{title}:{kind.upper()}", counts)


def _lines_of_counts(title: str, counts: Mapping[str, int] | UnsetType) -> Iterator[str]:
    """Yield a tab-separated line for each count, starting with the title of the counts: `ENTITY per 12`.

    Nothing is yielded if `counts` is UNSET.
    """
    if counts is not UNSET:
        for key, count in counts.items():
            yield f"{title}\t{key}\t{count}\n"


JSON_OPTION: Final = OwnOption(
    "--json", {".json": rb'\{\s*"kind":\s*"kb-statistics"'}, "statistics.json", takes_dash=True
)
"""The option that names the file of the statistics as JSON."""


def differences(kb: KnowledgeBase, labels: Collection[str]) -> Iterator[str]:
    """Yield the lines of a diff between a knowledge base file and its validated form.

    Each line of the file is compared with the lines written for it, including the lines of inferred assertions. Only
    predicates with one of the `labels`, such as TAC, are written.
    """
    written_lines_by_number: dict[int, list[str]] = defaultdict(list)
    written_lines_by_number[1].append(kb.first_line)  # the run id, which is written unchanged
    for assertion in kb.assertions:
        for line in tac_lines((assertion,), labels):
            written_lines_by_number[assertion.line].append(line.removesuffix("\n"))
    return file_differences(kb.name, written_lines_by_number)


# ---- Files


NO_OUTPUT: Final = "none"
_SINGLE_FILES: Final = ("tac", "edl", "nug")
_SUBFOLDER_BY_FORMAT: Final = {"eal": "event_arguments", "sen": "sentiments"}


class KbOutputs(Record):
    """The outputs of a validated knowledge base: the path of each format, in the order of the option -output.

    Predicates are written if the files that define them have one of the `labels`. `link_kb` is the knowledge base to
    which entities are linked; its ids are written for them.
    """

    folder: str
    paths: dict[str, str]
    labels: Collection[str]
    link_kb: str

    def write(self, kb: KnowledgeBase) -> None:
        """Write a knowledge base in all formats.

        The folder of the outputs is created if it does not exist. Raises OutputError if an output cannot be written; no
        part of that output remains.
        """
        if self.paths and not os.path.isdir(self.folder):
            _make_folder(self.folder)
        for format_name, path in self.paths.items():
            if format_name in _SINGLE_FILES:
                write_whole(path, utf8_blocks(self._text_of_file(format_name, kb)))
            elif format_name == "eal":  # event arguments and their links
                write_folder(path, ("arguments", "corpusLinking", "linking"), argument_files(kb))
            else:  # "sen", sentiments: `output_paths` allows no other format
                write_folder(path, ("predicted-ere", "predicted-best"), sentiment_files(kb))

    def _text_of_file(self, format_name: str, kb: KnowledgeBase) -> Iterator[str]:
        """Return the pieces of text of a knowledge base in a format that is a single file: "tac", "edl" or "nug"."""
        if format_name == "tac":
            return tac_text(kb, self.labels)
        if format_name == "edl":
            return edl_text(kb, self.link_kb)
        return nugget_text(kb)


def _make_folder(folder: str) -> None:
    """Make the folder of the outputs. Raises OutputError if that is impossible."""
    try:
        os.mkdir(folder)
    except OSError as error:
        raise OutputError(f"Could not create directory {folder}: {reason_of(error)}") from None
    note_new_folder(folder)  # so that it is removed again if no files are written to it


def output_folder(option: str | None, kb_file: str) -> str:
    """Return the folder of the outputs: that of the option -output_dir, or else that of the knowledge base file.

    `option` is None if the option is not used. Raises OutputError if the folder is a file, and if its parent folder
    does not exist.
    """
    folder_of_kb = os.path.dirname(kb_file) or os.curdir
    folder = folder_of_kb if option is None else option
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise OutputError(f"{folder} exists but its not a directory")
    parent_folder = os.path.dirname(os.path.abspath(folder))
    if not os.path.isdir(parent_folder):
        raise OutputError(f"Could not create directory {folder}: {os.strerror(errno.ENOENT)}")
    return folder


def output_paths(format_names: str, folder: str, kb_file: str) -> dict[str, str]:
    """Return the path of the output of each format; `format_names` is a text such as "tac:edl".

    For the file kb.tac these are FOLDER/kb.tac.valid and FOLDER/kb.edl.valid. Raises UsageError for an unknown format,
    and if an output exists already.
    """
    path_by_format = _possible_paths(folder, kb_file)
    paths: dict[str, str] = {}
    for format_name in format_names.lower().split(":"):
        if format_name in ("", NO_OUTPUT):
            continue
        if format_name not in path_by_format:
            choices = ", ".join([*path_by_format, NO_OUTPUT])
            raise UsageError(f"Unknown output mode: {format_name}; choose from {choices}")
        paths[format_name] = path_by_format[format_name]
        _check_new(format_name, paths[format_name])
    return paths


def _possible_paths(folder: str, kb_file: str) -> dict[str, str]:
    """Return the path that the output of each format would have: a file for "tac", a folder for "eal"."""
    name = os.path.basename(name_without_compression(kb_file)).removesuffix(".tac")
    path_by_format = {format_name: f"{folder}/{name}.{format_name}.valid" for format_name in _SINGLE_FILES}
    for format_name, subfolder in _SUBFOLDER_BY_FORMAT.items():
        path_by_format[format_name] = f"{folder}/{subfolder}"
    return path_by_format


def _check_new(format_name: str, path: str) -> None:
    """Raise UsageError if the path of the output of a format exists already."""
    if os.path.lexists(path):
        kind = "file" if format_name in _SINGLE_FILES else "directory"
        raise UsageError(f"Output {kind} already exists at {path}: remove it first, or name another -output_dir")
