"""The formats of a validated knowledge base, for other tracks too, and their files; statistics; the diff."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from html import escape
from typing import Any, Final, Literal, NamedTuple

from msgspec import UNSET, UnsetType

from cs_score.base.documents import Document
from cs_score.base.errors import OutputError, UsageError
from cs_score.base.outputs import FolderFile, OwnOption, encoded, note_new_folder, write_folder, write_whole
from cs_score.base.records import Record, Struct, field, to_builtins
from cs_score.base.sources import plain_name, reason_of
from cs_score.coldstart.tab_files import offset_value
from cs_score.knowledge_base.assertions import (
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
    Node,
    short_form,
)
from cs_score.knowledge_base.predicates import Verb
from cs_score.preparation.runs import file_differences


def nugget_text(base: KnowledgeBase) -> Iterator[str]:
    """A part for each document."""
    in_document: dict[str, list[Assertion]] = defaultdict(list)
    for assertion in base.in_order():
        if assertion.verb.name == NAMED and assertion.subject.is_event and not assertion.is_omitted:
            in_document[assertion.provenance.docid].append(assertion)
    for docid in sorted(in_document):
        yield f"#BeginOfDocument {docid}\n"
        ids: dict[str, list[str]] = defaultdict(list)
        lines: dict[str, list[str]] = defaultdict(list)
        for number, mention in enumerate(in_document[docid], 1):
            span = "0,0"
            if (first := mention.span) is not None:
                start, end = offset_value(first.start), offset_value(first.end)
                # The reference subtracts the wrong way round.
                span = f"{first.start},{start + (start - end + 1):.15g}"
            node_type = "_".join(map(_capitalized, (mention.subject.type or "").split(".")))
            columns = (base.run_id, docid, f"E{number}", span, mention.text, node_type, _capitalized(mention.realis))
            ids[mention.subject.name].append(f"E{number}")
            lines[mention.subject.name].append("\t".join(columns) + "\n")
        for name in sorted(lines):
            yield from sorted(lines[name])
        for name in sorted(name for name in ids if len(ids[name]) > 1):
            yield f"@Coreference\t{name}\t{','.join(sorted(ids[name]))}\n"
        yield "#EndOfDocument\n"


def _capitalized(text: str | None) -> str:
    return text[:1].upper() + text[1:] if text else ""


def argument_files(base: KnowledgeBase) -> Iterator[FolderFile]:
    """The files below the folder."""
    # By node and document the mention that stands for the node there; of several normalized ones the first recorded.
    canonical: dict[tuple[str, str], Assertion] = {}
    normalized: dict[tuple[str, str], Assertion] = {}
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
            key, verb = (argument.object, docid), argument.verb.name.capitalize()
            argument_id = f"{base.run_id}{argument.subject.name}.{docid}.{number}"
            node_type = ".".join(part.capitalize() for part in (argument.subject.type or "").split("."))
            text = place = ""
            if (mention := canonical.get(key)) is not None:
                text, place = mention.text, short_form(mention.provenance.parts.justification)
            if argument.object.startswith(":String") and key in normalized:
                text = normalized[key].text
            parts = map(short_form, argument.provenance.parts[1:])
            columns = (argument_id, docid, node_type, verb, text, place, *parts, _capitalized(argument.realis))
            argument_lines.append("\t".join((*columns, argument.confidence)) + "\n")
            if argument.realis != "generic":
                linked[argument.subject.name].append(argument_id)
        yield "arguments", docid, encoded(argument_lines)
        if linked:
            links = (f"{base.run_id}{name}.{docid}\t{' '.join(sorted(linked[name]))}\n" for name in sorted(linked))
            yield "linking", docid, encoded(links)
        for name in linked:
            in_corpus[name].append(f"{docid}-{base.run_id}{name}.{docid}")
    if in_corpus:
        lines = (f"{base.run_id}{name}\t{' '.join(sorted(in_corpus[name]))}\n" for name in sorted(in_corpus))
        yield "corpusLinking", "corpusLinking", encoded(lines)


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


def sentiment_files(base: KnowledgeBase) -> Iterator[FolderFile]:
    """The files below the folder."""
    documents: dict[str, _Document] = defaultdict(_Document)
    for assertion in base.assertions:
        name, subject, place = assertion.verb.name, assertion.subject.name, assertion.provenance.place or ""
        document = documents[assertion.provenance.docid]
        if name in _KINDS and (span := assertion.span) is not None:
            length = offset_value(span.end) - offset_value(span.start) + 1
            extent = f'offset="{_attribute(span.start)}" length="{length:.15g}"'
            mention_id = _attribute(f"{subject}.{_FIRST_ID + len(document.mentions[subject])}")
            document.at_place[subject, place] = mention = _Mention(mention_id, assertion, extent)
            document.mentions[subject].append(mention)
        elif name == CANONICAL:
            document.canonical[subject] = place
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


def tac_text(base: KnowledgeBase, labels: Collection[str]) -> Iterator[str]:
    """The lines of a validated knowledge base, node by node."""
    yield f"{base.first_line}\n\n"
    for assertions in base.by_node():
        yield "".join(tac_lines(assertions, labels))


def tac_lines(assertions: Iterable[Assertion], labels: Collection[str]) -> list[str]:
    """The lines of a node's assertions, without omitted ones and predicates of other labels."""
    lines = []
    verb: Verb | None = None
    realis: str | None = None
    beginning = ""
    for assertion in assertions:
        if assertion.is_omitted or assertion.verb.label not in labels:
            continue
        if assertion.verb is not verb or assertion.realis != realis:  # lines that begin alike follow each other
            verb, realis = assertion.verb, assertion.realis
            name = f"{assertion.subject.type}:{verb.name}" if verb.has_domain else verb.name
            beginning = f"{assertion.subject.name}\t{name}{'' if realis is None else f'.{realis}'}\t"
        end = f"{assertion.comment}\n" if verb.name == TYPE else f"\t{assertion.confidence}{assertion.comment}\n"
        lines.append(f"{beginning}{assertion.object}\t{assertion.provenance.text}{end}")
    return lines


def edl_text(base: KnowledgeBase, link_kb: str) -> Iterator[str]:
    """A line for each mention; `link_kb` is the prefix of the links that name entities."""
    types: dict[str, str] = {}
    ids: dict[str, str] = {}
    linked: dict[str, str] = {}
    mentions = []
    for assertion in base.in_order():
        name = assertion.verb.name
        subject = assertion.subject.name
        if name == TYPE:
            types[subject] = assertion.object.upper()
            ids.setdefault(subject, f"NIL_{len(ids) + 1:04d}")
        elif name == LINK:
            prefix, _, rest = assertion.object.partition(":")
            if prefix == link_kb:
                linked[subject] = rest
        elif name in MENTIONS and not assertion.is_omitted and not assertion.subject.is_event:
            mentions.append(assertion)
    ids.update(linked)
    for number, mention in enumerate(mentions, 1):
        subject = mention.subject.name
        letter, digits = divmod(number, 100_000)  # N00000 comes after M99999
        head = (
            f"{base.run_id}\t{subject}_{chr(ord('M') + letter)}{digits:05d}\t{mention.text}\t{mention.provenance.text}"
        )
        kind = _KINDS[mention.verb.name]
        yield f"{head}\t{ids.get(subject, '')}\t{types.get(subject, '')}\t{kind}\t{mention.confidence}\n"


_WITHOUT_DOMAIN: Final = frozenset((TYPE, NAMED, CANONICAL, LINK))


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
    """Count what was asserted, omitted and rejected, and the nodes, by type and predicate."""

    def ordered(counts: Mapping[str, int]) -> dict[str, int] | UnsetType:
        return dict(sorted(counts.items())) or UNSET

    def counted(assertions: list[Assertion]) -> dict[str, dict[str, int]] | UnsetType:
        domains, predicates = Counter[str](), Counter[str]()
        for assertion in assertions:
            node_type, name = assertion.subject.known_type, assertion.verb.name
            domains.update((node_type, "ALL"))
            predicates[name if name in _WITHOUT_DOMAIN else f"{node_type}:{name}"] += 1
        if not assertions:
            return UNSET
        return {"domain": dict(sorted(domains.items())), "predicate": dict(sorted(predicates.items()))}

    nodes = Counter(node.known_type for node in base.nodes.values())
    return KbStatistics(
        task="coldstart",
        run_id=base.run_id,
        has_multiple_confidences=len({float(assertion.confidence) for assertion in base.assertions}) > 1,
        asserted=counted([assertion for assertion in base.assertions if not assertion.is_omitted]),
        entity=ordered({**nodes, "ALL": nodes.total()} if nodes else {}),
        omitted=counted([assertion for assertion in base.assertions if assertion.is_omitted]),
        rejected_assertions=ordered(base.rejected),
    )


def statistics_text(statistics: KbStatistics) -> Iterator[str]:
    """The lines of the reference's statistics file."""
    yield f"RUNID\t\t{statistics.run_id}\n"
    yield f"HAS_MULTIPLE_CONFIDENCES\t\t{'YES' if statistics.has_multiple_confidences else 'NO'}\n"
    counted: dict[str, Any] = to_builtins(statistics)
    for title in ("asserted", "entity", "omitted", "rejected_assertions"):
        for first, count in counted.get(title, {}).items():
            if isinstance(count, int):
                yield f"{title.upper()}\t{first}\t{count}\n"
            else:
                yield from (f"{title.upper()}:{first.upper()}\t{key}\t{number}\n" for key, number in count.items())


JSON_OPTION: Final = OwnOption(
    "--json", {".json": rb'\{\s*"kind":\s*"kb-statistics"'}, "statistics.json", takes_dash=True
)
"""The option that names the file of the statistics as JSON."""


def differences(base: KnowledgeBase, labels: Collection[str]) -> Iterator[str]:
    """The diff of a knowledge base file; beside each line stands what is written for it and what follows from it."""
    written: dict[int, list[str]] = defaultdict(list)
    written[1].append(base.first_line)
    for assertion in base.assertions:
        written[assertion.line] += (line.removesuffix("\n") for line in tac_lines((assertion,), labels))
    return file_differences(base.name, written)


NO_OUTPUT: Final = "none"
_FILES: Final = ("tac", "edl", "nug")
_FOLDERS: Final = {"eal": "event_arguments", "sen": "sentiments"}


class KbOutputs(Record):
    """Where a validated knowledge base goes: the path of each format, in the order wanted."""

    folder: str
    paths: dict[str, str]
    labels: Collection[str]
    link_kb: str

    def write(self, base: KnowledgeBase) -> None:
        """Write all formats, each file and folder whole or not at all. Raises OutputError."""
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


def output_folder(given: str | None, kb_file: str) -> str:
    """The folder of the outputs. Raises OutputError where there cannot be one."""
    folder = given if given is not None else os.path.dirname(kb_file) or os.curdir
    if os.path.exists(folder) and not os.path.isdir(folder):
        raise OutputError(f"{folder} exists but its not a directory")
    if not os.path.isdir(os.path.dirname(os.path.abspath(folder))):
        raise OutputError(f"Could not create directory {folder}: {os.strerror(2)}")
    return folder


def output_paths(modes: str, folder: str, kb_file: str) -> dict[str, str]:
    """The path of each format of a colon-separated list. Raises UsageError for unknown formats and existing outputs."""
    name = os.path.basename(plain_name(kb_file)).removesuffix(".tac")
    legal = {mode: f"{folder}/{name}.{mode}.valid" for mode in _FILES}
    legal |= {mode: f"{folder}/{below}" for mode, below in _FOLDERS.items()}
    paths: dict[str, str] = {}
    for mode in modes.lower().split(":"):
        if mode in ("", NO_OUTPUT):
            continue
        if mode not in legal:
            raise UsageError(f"Unknown output mode: {mode}; choose from {', '.join((*legal, NO_OUTPUT))}")
        paths[mode] = path = legal[mode]
        if os.path.lexists(path):
            kind = "file" if mode in _FILES else "directory"
            raise UsageError(f"Output {kind} already exists at {path}: remove it first, or name another -output_dir")
    return paths
