"""Writes a validated knowledge base in its own format and in those of other tracks, with statistics and a diff."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final, Literal, NamedTuple

from msgspec import UNSET, UnsetType

from cs_score.base.documents import Document
from cs_score.base.errors import OutputError, UsageError
from cs_score.base.outputs import FolderFile, OwnOption, encoded, note_new_folder, write_folder, write_whole
from cs_score.base.records import Record, Struct, field, to_builtins
from cs_score.base.sources import plain_name, reason_of
from cs_score.coldstart.tab_files import Span, offset_value
from cs_score.preparation.runs import file_differences
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
    short_form,
)
from cs_score.verbs.knowledge_base.predicates import PredicateVerb

# ---- Event nuggets


def nugget_text(base: KnowledgeBase) -> Iterator[str]:
    """Yield the lines of the file of event nuggets.

    It has a section for each document, with the mentions of events and then, for each event with several mentions, a
    line with their ids.
    """
    mentions_by_docid: dict[str, list[Assertion]] = defaultdict(list)
    for assertion in base.assertions_as_written():
        if assertion.verb.name == NAMED and assertion.subject.is_event and not assertion.is_omitted:
            mentions_by_docid[assertion.provenance.docid].append(assertion)
    for docid in sorted(mentions_by_docid):
        yield f"#BeginOfDocument {docid}\n"
        ids_by_node: dict[str, list[str]] = defaultdict(list)
        lines_by_node: dict[str, list[str]] = defaultdict(list)
        for number, mention in enumerate(mentions_by_docid[docid], 1):
            ids_by_node[mention.subject.name].append(f"E{number}")
            lines_by_node[mention.subject.name].append(_nugget_line(base.run_id, docid, f"E{number}", mention))
        for name in sorted(lines_by_node):
            yield from sorted(lines_by_node[name])
        for name in sorted(ids_by_node):
            if len(ids_by_node[name]) > 1:
                yield f"@Coreference\t{name}\t{','.join(sorted(ids_by_node[name]))}\n"
        yield "#EndOfDocument\n"


def _nugget_line(run_id: str, docid: str, mention_id: str, mention: Assertion) -> str:
    """Return the line of a mention of an event; `mention_id` is its id in the document, such as E1."""
    offsets = "0,0"
    span = mention.span
    if span is not None:
        # The reference program subtracts the end from the start, and its outputs are reproduced.
        difference = offset_value(span.start) - offset_value(span.end)
        offsets = f"{span.start},{offset_value(span.start) + (difference + 1):.15g}"
    node_type = "_".join([_capitalize(part) for part in (mention.subject.type or "").split(".")])
    columns = (run_id, docid, mention_id, offsets, mention.text, node_type, _capitalize(mention.realis))
    return "\t".join(columns) + "\n"


def _capitalize(text: str | None) -> str:
    """Return a text with its first letter in upper case and the others unchanged; an empty text for None."""
    return text[:1].upper() + text[1:] if text else ""


# ---- Event arguments


def argument_files(base: KnowledgeBase) -> Iterator[FolderFile]:
    """Yield the files of the event arguments: folder, name and content of each file.

    Each document has a file of its arguments, and one that groups them by event. A last file groups the arguments of
    all documents.
    """
    mentions = _MentionsOfFillers(base)
    links_by_event: dict[str, list[str]] = defaultdict(list)
    for docid, arguments in _arguments_by_document(base).items():
        ids_by_event: dict[str, list[str]] = defaultdict(list)
        lines = []
        for number, argument in enumerate(arguments, 1):
            argument_id = f"{base.run_id}{argument.subject.name}.{docid}.{number}"
            lines.append(_argument_line(argument_id, docid, argument, mentions))
            if argument.realis != "generic":
                ids_by_event[argument.subject.name].append(argument_id)
        yield "arguments", docid, encoded(lines)
        if ids_by_event:
            yield "linking", docid, encoded(_link_lines(base.run_id, ids_by_event, f".{docid}"))
        for name in ids_by_event:
            links_by_event[name].append(f"{docid}-{base.run_id}{name}.{docid}")
    if links_by_event:
        yield "corpusLinking", "corpusLinking", encoded(_link_lines(base.run_id, links_by_event, ""))


def _arguments_by_document(base: KnowledgeBase) -> dict[str, list[Assertion]]:
    """Return the arguments of events by document, which are the assertions about events except mentions and types.

    Omitted assertions are left out.
    """
    arguments_by_docid: dict[str, list[Assertion]] = defaultdict(list)
    for assertion in base.assertions_as_written():
        is_about_mentions = assertion.verb.is_mention or TYPE in assertion.verb.name
        if assertion.subject.is_event and not (is_about_mentions or assertion.is_omitted):
            arguments_by_docid[assertion.provenance.docid].append(assertion)
    return arguments_by_docid


class _MentionsOfFillers:
    """The mentions that give the arguments of events their names: canonical and normalized ones, by node and document.

    Of several canonical mentions of a node in a document the last one counts, of several normalized ones the first.
    """

    def __init__(self, base: KnowledgeBase) -> None:
        """Collect the mentions of a knowledge base."""
        self.canonical: dict[tuple[str, str], Assertion] = {}
        self.normalized: dict[tuple[str, str], Assertion] = {}
        for assertion in base.assertions:
            key = (assertion.subject.name, assertion.provenance.docid)
            if assertion.verb.name == CANONICAL:
                self.canonical[key] = assertion
            elif assertion.verb.name == NORMALIZED:
                self.normalized.setdefault(key, assertion)


def _argument_line(argument_id: str, docid: str, argument: Assertion, mentions: _MentionsOfFillers) -> str:
    """Return the line of an argument of an event; `docid` is the document of the argument."""
    text = ""
    place = ""
    key = (argument.object, docid)
    canonical = mentions.canonical.get(key)
    if canonical is not None:
        text = canonical.text
        place = short_form(canonical.provenance.parts.justification)
    if argument.object.startswith(":String") and key in mentions.normalized:
        text = mentions.normalized[key].text
    parts = argument.provenance.parts
    columns = (
        argument_id,
        docid,
        ".".join([part.capitalize() for part in (argument.subject.type or "").split(".")]),
        argument.verb.name.capitalize(),
        text,
        place,
        short_form(parts.justification),
        short_form(parts.base_filler),
        short_form(parts.additional),
        _capitalize(argument.realis),
        argument.confidence,
    )
    return "\t".join(columns) + "\n"


def _link_lines(run_id: str, ids_by_event: Mapping[str, list[str]], suffix: str) -> list[str]:
    """Return a line for each event with the ids of its arguments; `suffix` is appended to the name of the event."""
    lines = []
    for name in sorted(ids_by_event):
        ids = " ".join(sorted(ids_by_event[name]))
        lines.append(f"{run_id}{name}{suffix}\t{ids}\n")
    return lines


# ---- Sentiments

_MENTION_KINDS: Final = {NAMED: "NAM", NOMINAL: "NOM", PRONOMINAL: "PRO"}
_POLARITIES: Final = {"likes": "pos", "dislikes": "neg"}
_FIRST_ID: Final = 500_001
# Characters that are not allowed in XML, not even as references.
_NOT_IN_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_XML_HEAD: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'


class _Mention(NamedTuple):
    """A mention with its id, and with its offset and length as XML attributes (`extent`)."""

    id: str
    assertion: Assertion
    extent: str


class _Document(Struct):
    """The mentions and sentiments of a knowledge base in a document.

    `mentions` has the mentions of each node, `mention_at_place` the last mention of a node at a place, by node and
    place, and `canonical_place` the place of the canonical mention of each node.
    """

    mentions: dict[str, list[_Mention]] = field(default_factory=lambda: defaultdict(list))
    mention_at_place: dict[tuple[str, str], _Mention] = field(default_factory=dict)
    canonical_place: dict[str, str] = field(default_factory=dict)
    sentiments: list[Assertion] = field(default_factory=list)

    def add(self, assertion: Assertion) -> None:
        """Add an assertion whose provenance is in the document if it is a mention or a sentiment."""
        predicate = assertion.verb.name
        node = assertion.subject.name
        place = assertion.provenance.place or ""
        if predicate in _MENTION_KINDS:
            span = assertion.span
            if span is not None:
                mention_id = _attribute(f"{node}.{_FIRST_ID + len(self.mentions[node])}")
                mention = _Mention(mention_id, assertion, _extent(span))
                self.mention_at_place[node, place] = mention
                self.mentions[node].append(mention)
        elif predicate == CANONICAL:
            self.canonical_place[node] = place
        elif predicate in _POLARITIES:
            self.sentiments.append(assertion)

    def canonical_mention(self, node: str) -> _Mention | None:
        """Return the mention of a node at the place of its canonical mention; None if there is none."""
        place = self.canonical_place.get(node, "")
        return self.mention_at_place.get((node, place))


def sentiment_files(base: KnowledgeBase) -> Iterator[FolderFile]:
    """Yield the files of the sentiments: folder, name and content of each file.

    Each document with mentions has a file of its entities and a file of its sentiments.
    """
    documents: dict[str, _Document] = defaultdict(_Document)
    for assertion in base.assertions:
        documents[assertion.provenance.docid].add(assertion)
    for docid, document in sorted(documents.items()):
        if document.mentions:
            entities = _entity_lines(base, docid, document)
            yield "predicted-ere", f"{docid}.rich_ere.xml", encoded(entities)
            yield "predicted-best", f"{docid}.best.xml", encoded(_sentiment_lines(docid, document))


def _extent(span: Span) -> str:
    """Return the offset and the length of a span as XML attributes: `offset="3" length="7"`."""
    length = offset_value(span.end) - offset_value(span.start) + 1
    return f'offset="{_attribute(span.start)}" length="{length:.15g}"'


def _entity_lines(base: KnowledgeBase, docid: str, document: _Document) -> Iterator[str]:
    """Yield the XML of the file with the entities of a document and their mentions."""
    source = f'source="{_attribute(docid)}"'
    source_type = "multi_post" if "_DF_" in docid else "newswire"
    kit_id = _attribute(base.run_id)
    yield _XML_HEAD
    yield f'<deft_ere kit_id="{kit_id}" doc_id="{_attribute(docid)}" source_type="{source_type}">\n'
    yield "  <entities>\n"
    for name in sorted(document.mentions):
        node_type = (base.nodes[name].type or "").upper()
        yield f'    <entity id="{_attribute(name)}" type="{node_type}" specificity="specificIndividual">\n'
        for mention in document.mentions[name]:
            kind = _MENTION_KINDS[mention.assertion.verb.name]
            text = _text(mention.assertion.text)
            yield f'      <entity_mention id="{mention.id}" noun_type="{kind}" {source} {mention.extent}>\n'
            yield f"        <mention_text>{text}</mention_text>\n"
            if kind == "NOM":
                yield f"        <nom_head {source} {mention.extent}>{text}</nom_head>\n"
            yield "      </entity_mention>\n"
        yield "    </entity>\n"
    yield "  </entities>\n</deft_ere>\n"


def _sentiment_lines(docid: str, document: _Document) -> Iterator[str]:
    """Yield the XML of the file with the sentiments of a document, grouped by their target mention."""
    yield _XML_HEAD
    yield f'<belief_sentiment_doc id="{_attribute(docid)}">\n  <sentiment_annotations>\n    <entities>\n'
    sentiments_by_target: dict[tuple[str, str], list[Assertion]] = defaultdict(list)
    for sentiment in document.sentiments:
        sentiments_by_target[sentiment.object, sentiment.provenance.place or ""].append(sentiment)
    for node_and_place in sorted(document.mention_at_place.keys() & sentiments_by_target.keys()):
        target = document.mention_at_place[node_and_place]
        yield f'      <entity ere_id="{target.id}" {target.extent}>\n'
        yield f"        <text>{_text(target.assertion.text)}</text>\n        <sentiments>\n"
        for sentiment in sentiments_by_target[node_and_place]:
            holder = document.canonical_mention(sentiment.subject.name)
            if holder is None:
                continue
            polarity = _POLARITIES[sentiment.verb.name]
            text = _text(holder.assertion.text)
            yield f'          <sentiment polarity="{polarity}" sarcasm="no" confidence="{sentiment.confidence}">\n'
            yield f'            <source ere_id="{holder.id}" {holder.extent}>{text}</source>\n'
            yield "          </sentiment>\n"
        yield "        </sentiments>\n      </entity>\n"
    yield "    </entities>\n  </sentiment_annotations>\n</belief_sentiment_doc>\n"


def _text(text: str) -> str:
    """Return a text escaped for XML, without the characters that XML does not allow."""
    return escape(_NOT_IN_XML.sub("\ufffd", text), quote=False)


def _attribute(text: str) -> str:
    """Return a text escaped for an XML attribute in double quotes."""
    return _text(text).replace('"', "&quot;")


# ---- The validated knowledge base, and entity discovery and linking


def tac_text(base: KnowledgeBase, labels: Collection[str]) -> Iterator[str]:
    """Yield the text of a validated knowledge base, node by node.

    Only predicates from files with these labels are written; the predicates of the task have the label TAC.
    """
    yield f"{base.first_line}\n\n"
    for assertions in base.assertions_by_node():
        yield "".join(tac_lines(assertions, labels))


def tac_lines(assertions: Iterable[Assertion], labels: Collection[str]) -> list[str]:
    """Return the lines of assertions in a validated knowledge base.

    Omitted assertions are left out, and those with predicates from files with other labels.
    """
    lines = []
    verb: PredicateVerb | None = None
    realis: str | None = None
    first_columns = ""
    for assertion in assertions:
        if assertion.is_omitted or assertion.verb.label not in labels:
            continue
        # Assertions with the same subject and predicate follow each other; their first columns are made once.
        if assertion.verb is not verb or assertion.realis != realis:
            verb = assertion.verb
            realis = assertion.realis
            name = f"{assertion.subject.type}:{verb.name}" if verb.has_domain else verb.name
            first_columns = f"{assertion.subject.name}\t{name}{'' if realis is None else f'.{realis}'}\t"
        end = f"{assertion.comment}\n" if verb.name == TYPE else f"\t{assertion.confidence}{assertion.comment}\n"
        lines.append(f"{first_columns}{assertion.object}\t{assertion.provenance.text}{end}")
    return lines


def edl_text(base: KnowledgeBase, link_kb: str) -> Iterator[str]:
    """Yield a line for each mention of an entity, in the format of entity discovery and linking.

    An entity has the id of its link to the knowledge base `link_kb`. Entities without such a link have the ids
    NIL_0001, NIL_0002, ...
    """
    type_by_node: dict[str, str] = {}
    nil_id_by_node: dict[str, str] = {}
    link_by_node: dict[str, str] = {}
    mentions = []
    for assertion in base.assertions_as_written():
        predicate = assertion.verb.name
        node = assertion.subject.name
        if predicate == TYPE:
            type_by_node[node] = assertion.object.upper()
            nil_id_by_node.setdefault(node, f"NIL_{len(nil_id_by_node) + 1:04d}")
        elif predicate == LINK:
            linked_kb, _, entity_id = assertion.object.partition(":")
            if linked_kb == link_kb:
                link_by_node[node] = entity_id
        elif predicate in MENTIONS and not assertion.is_omitted and not assertion.subject.is_event:
            mentions.append(assertion)
    id_by_node = nil_id_by_node | link_by_node
    for number, mention in enumerate(mentions, 1):
        node = mention.subject.name
        letter, digits = divmod(number, 100_000)  # N00000 comes after M99999
        columns = (
            base.run_id,
            f"{node}_{chr(ord('M') + letter)}{digits:05d}",
            mention.text,
            mention.provenance.text,
            id_by_node.get(node, ""),
            type_by_node.get(node, ""),
            _MENTION_KINDS[mention.verb.name],
            mention.confidence,
        )
        yield "\t".join(columns) + "\n"


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


def statistics_of(base: KnowledgeBase) -> KbStatistics:
    """Return the statistics of a knowledge base: numbers of assertions and of nodes by type."""
    node_counts = Counter([node.type_in_reports for node in base.nodes.values()])
    if node_counts:
        node_counts["ALL"] = node_counts.total()
    confidences = {float(assertion.confidence) for assertion in base.assertions}
    return KbStatistics(
        task="coldstart",
        run_id=base.run_id,
        has_multiple_confidences=len(confidences) > 1,
        asserted=_count_assertions([assertion for assertion in base.assertions if not assertion.is_omitted]),
        entity=_sort_counts(node_counts) or UNSET,
        omitted=_count_assertions([assertion for assertion in base.assertions if assertion.is_omitted]),
        rejected_assertions=_sort_counts(base.rejected) or UNSET,
    )


def _sort_counts(counts: Mapping[str, int]) -> dict[str, int]:
    """Return counts sorted by their keys."""
    return dict(sorted(counts.items()))


def _count_assertions(assertions: Sequence[Assertion]) -> dict[str, dict[str, int]] | UnsetType:
    """Return the numbers of assertions by the type of their subject ("domain") and by predicate ("predicate").

    Return UNSET if there are no assertions.
    """
    if not assertions:
        return UNSET
    domains: Counter[str] = Counter()
    predicates: Counter[str] = Counter()
    for assertion in assertions:
        node_type = assertion.subject.type_in_reports
        name = assertion.verb.name
        domains.update((node_type, "ALL"))
        predicates[name if name in _WITHOUT_DOMAIN else f"{node_type}:{name}"] += 1
    return {"domain": _sort_counts(domains), "predicate": _sort_counts(predicates)}


def statistics_text(statistics: KbStatistics) -> Iterator[str]:
    """Yield the lines of the statistics file, in the format of the reference program."""
    yield f"RUNID\t\t{statistics.run_id}\n"
    yield f"HAS_MULTIPLE_CONFIDENCES\t\t{'YES' if statistics.has_multiple_confidences else 'NO'}\n"
    fields: dict[str, Any] = to_builtins(statistics)
    for title in ("asserted", "entity", "omitted", "rejected_assertions"):
        for name, count in fields.get(title, {}).items():
            if isinstance(count, int):
                yield f"{title.upper()}\t{name}\t{count}\n"
            else:  # the counts of domains or of predicates
                heading = f"{title.upper()}:{name.upper()}"
                yield "".join([f"{heading}\t{key}\t{number}\n" for key, number in count.items()])


JSON_OPTION: Final = OwnOption(
    "--json", {".json": rb'\{\s*"kind":\s*"kb-statistics"'}, "statistics.json", takes_dash=True
)
"""The option that names the file of the statistics as JSON."""


def differences(base: KnowledgeBase, labels: Collection[str]) -> Iterator[str]:
    """Yield the lines of a diff between a knowledge base file and its validated form.

    Each line of the file is compared with the lines that are written for it, including lines of inferred assertions.
    """
    written_by_line: dict[int, list[str]] = defaultdict(list)
    written_by_line[1].append(base.first_line)
    for assertion in base.assertions:
        for line in tac_lines((assertion,), labels):
            written_by_line[assertion.line].append(line.removesuffix("\n"))
    return file_differences(base.name, written_by_line)


# ---- Files


NO_OUTPUT: Final = "none"
_FILES: Final = ("tac", "edl", "nug")
_FOLDERS: Final = {"eal": "event_arguments", "sen": "sentiments"}


class KbOutputs(Record):
    """The outputs of a validated knowledge base: the path of each format, in the order of the option.

    Predicates are written if the files that define them have one of the `labels`. `link_kb` is the knowledge base whose
    links give entities their ids.
    """

    folder: str
    paths: dict[str, str]
    labels: Collection[str]
    link_kb: str

    def write(self, base: KnowledgeBase) -> None:
        """Write a knowledge base in all formats, each file or folder whole or not at all. Raises OutputError."""
        if self.paths and not os.path.isdir(self.folder):
            try:
                os.mkdir(self.folder)
            except OSError as error:
                raise OutputError(f"Could not create directory {self.folder}: {reason_of(error)}") from None
            note_new_folder(self.folder)
        texts = {"tac": tac_text(base, self.labels), "edl": edl_text(base, self.link_kb), "nug": nugget_text(base)}
        for mode, path in self.paths.items():
            if mode in texts:
                write_whole(path, encoded(texts[mode]))
            elif mode == "eal":
                write_folder(path, ("arguments", "corpusLinking", "linking"), argument_files(base))
            else:
                write_folder(path, ("predicted-ere", "predicted-best"), sentiment_files(base))


def output_folder(option: str | None, kb_file: str) -> str:
    """Return the folder of the outputs: that of the option, or else that of the knowledge base file.

    Raises OutputError if it is a file, and if its parent folder does not exist.
    """
    folder = option
    if folder is None:
        folder = os.path.dirname(kb_file) or os.curdir
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise OutputError(f"{folder} exists but its not a directory")
    if not os.path.isdir(os.path.dirname(os.path.abspath(folder))):
        raise OutputError(f"Could not create directory {folder}: {os.strerror(2)}")
    return folder


def output_paths(modes: str, folder: str, kb_file: str) -> dict[str, str]:
    """Return the path of the output of each format; `modes` is a text such as "tac:edl".

    Raises UsageError for an unknown format, and if an output exists already.
    """
    name = os.path.basename(plain_name(kb_file)).removesuffix(".tac")
    path_by_mode = {mode: f"{folder}/{name}.{mode}.valid" for mode in _FILES}
    path_by_mode |= {mode: f"{folder}/{subfolder}" for mode, subfolder in _FOLDERS.items()}
    paths: dict[str, str] = {}
    for mode in modes.lower().split(":"):
        if mode in ("", NO_OUTPUT):
            continue
        if mode not in path_by_mode:
            raise UsageError(f"Unknown output mode: {mode}; choose from {', '.join([*path_by_mode, NO_OUTPUT])}")
        path = path_by_mode[mode]
        paths[mode] = path
        if os.path.lexists(path):
            kind = "file" if mode in _FILES else "directory"
            raise UsageError(f"Output {kind} already exists at {path}: remove it first, or name another -output_dir")
    return paths
