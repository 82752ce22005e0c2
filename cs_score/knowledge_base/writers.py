"""The formats of a validated knowledge base: tac, edl, statistics, the diff, and their files (10, 11, 15)."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from msgspec import UNSET, UnsetType

from cs_score.base.documents import Document
from cs_score.base.errors import OutputError, UsageError
from cs_score.base.outputs import Format, OwnOption, encoded, write_folder, write_whole
from cs_score.base.records import Record, to_builtins
from cs_score.base.sources import plain_name, reason_of
from cs_score.knowledge_base.assertions import CANONICAL, LINK, NAMED, NOMINAL, TYPE, Assertion, KnowledgeBase
from cs_score.knowledge_base.event_writers import (
    ARGUMENT_FOLDER,
    ARGUMENT_FOLDERS,
    SENTIMENT_FOLDER,
    SENTIMENT_FOLDERS,
    argument_files,
    nugget_text,
    sentiment_files,
)
from cs_score.knowledge_base.predicates import Verb
from cs_score.preparation.runs import file_differences


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


_KINDS: Final = {NAMED: "NAM", NOMINAL: "NOM"}


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
        elif name in _KINDS and not assertion.is_omitted and not assertion.subject.is_event:
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


_WITHOUT_DOMAIN = frozenset((TYPE, NAMED, CANONICAL, LINK))


class KbStatistics(Document, frozen=True, kw_only=True, tag="kb-statistics"):
    """What was asserted and omitted, by domain and predicate; nodes by type; lines that were rejected, by reason."""

    schema_version: Literal[2] = 2
    run_id: str
    has_multiple_confidences: bool
    asserted: Mapping[str, Mapping[str, int]] | UnsetType = UNSET
    entity: Mapping[str, int] | UnsetType = UNSET
    omitted: Mapping[str, Mapping[str, int]] | UnsetType = UNSET
    rejected_assertions: Mapping[str, int] | UnsetType = UNSET


def statistics_of(base: KnowledgeBase) -> KbStatistics:
    """Count what was asserted, omitted and rejected, and the nodes, by type and predicate."""
    domains: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    predicates: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    for assertion in base.assertions:
        node_type, name = assertion.subject.known_type, assertion.verb.name
        domains[assertion.is_omitted].update((node_type, "ALL"))
        predicates[assertion.is_omitted][name if name in _WITHOUT_DOMAIN else f"{node_type}:{name}"] += 1
    nodes = Counter(node.known_type for node in base.nodes.values())

    def ordered(counts: Mapping[str, int]) -> dict[str, int]:
        return dict(sorted(counts.items()))

    asserted, omitted = (
        {"domain": ordered(domains[is_omitted]), "predicate": ordered(predicates[is_omitted])}
        for is_omitted in (False, True)
    )
    return KbStatistics(
        task="coldstart",
        run_id=base.run_id,
        has_multiple_confidences=len({float(assertion.confidence) for assertion in base.assertions}) > 1,
        asserted=asserted if asserted["domain"] else UNSET,
        entity=ordered({**nodes, "ALL": nodes.total()}) if nodes else UNSET,
        omitted=omitted if omitted["domain"] else UNSET,
        rejected_assertions=ordered(base.rejected) if base.rejected else UNSET,
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
    "--json", {".json": Format(re.compile(rb'\{\s*"kind":\s*"kb-statistics"'))}, "statistics.json", takes_dash=True
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
_FOLDERS: Final = {"eal": ARGUMENT_FOLDER, "sen": SENTIMENT_FOLDER}


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
        texts = {"tac": tac_text(base, self.labels), "edl": edl_text(base, self.link_kb), "nug": nugget_text(base)}
        for mode, path in self.paths.items():
            if mode in texts:
                write_whole(path, encoded(texts[mode]))
            elif mode == "eal":
                write_folder(path, ARGUMENT_FOLDERS, argument_files(base))
            else:
                write_folder(path, SENTIMENT_FOLDERS, sentiment_files(base))


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
