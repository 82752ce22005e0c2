"""Event arguments: what takes part in events, by document (specification 13)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from cs_score.base.outputs import FolderFile, encoded
from cs_score.knowledge_base.contents.assertions import CANONICAL, NORMALIZED, TYPE, Assertion, KnowledgeBase
from cs_score.knowledge_base.contents.provenance_lists import short_form
from cs_score.knowledge_base.writers.nuggets import capitalized

FOLDER: Final = "event_arguments"
FOLDERS: Final = ("arguments", "corpusLinking", "linking")

_GENERIC: Final = "generic"
_InDocument: TypeAlias = dict[tuple[str, str], Assertion]
"""Node and document -> the mention of that node there which stands for it."""


def argument_files(base: KnowledgeBase) -> Iterator[FolderFile]:
    """The files below the folder."""
    canonical, normalized = _standing_mentions(base)
    by_document: dict[str, list[Assertion]] = defaultdict(list)
    for assertion in base.in_order():
        if _is_argument(assertion):
            by_document[assertion.provenance.docid].append(assertion)
    in_corpus: dict[str, list[str]] = defaultdict(list)
    for docid, arguments in by_document.items():
        linked: dict[str, list[str]] = defaultdict(list)
        argument_lines = []
        for number, argument in enumerate(arguments, 1):
            event = f"{base.run_id}{argument.subject.name}.{docid}"
            argument_lines.append(_line(f"{event}.{number}", docid, argument, canonical, normalized))
            if argument.realis != _GENERIC:
                linked[argument.subject.name].append(f"{event}.{number}")
        yield "arguments", docid, encoded(argument_lines)
        if linked:
            yield "linking", docid, encoded(_links(base.run_id, docid, linked))
        for name in linked:
            in_corpus[name].append(f"{docid}-{base.run_id}{name}.{docid}")
    if in_corpus:
        lines = (f"{base.run_id}{name}\t{' '.join(sorted(in_corpus[name]))}\n" for name in sorted(in_corpus))
        yield "corpusLinking", "corpusLinking", encoded(lines)


def _is_argument(assertion: Assertion) -> bool:
    verb = assertion.verb
    return assertion.subject.is_event and not (verb.is_mention or TYPE in verb.name or assertion.is_omitted)


def _standing_mentions(base: KnowledgeBase) -> tuple[_InDocument, _InDocument]:
    """The canonical and the normalized mentions; of several normalized ones the first recorded (17, rule 4)."""
    canonical: _InDocument = {}
    normalized: _InDocument = {}
    for assertion in base.assertions:
        key = (assertion.subject.name, assertion.provenance.docid)
        if assertion.verb.name == CANONICAL:
            canonical[key] = assertion
        elif assertion.verb.name == NORMALIZED:
            normalized.setdefault(key, assertion)
    return canonical, normalized


def _line(argument_id: str, docid: str, argument: Assertion, canonical: _InDocument, normalized: _InDocument) -> str:
    mention = canonical.get((argument.object, docid))
    text = mention.text if mention is not None else ""
    if argument.object.startswith(":String") and (argument.object, docid) in normalized:
        text = normalized[argument.object, docid].text
    _, justification, base_filler, additional = argument.provenance.parts
    columns = (
        argument_id,
        docid,
        ".".join(part.capitalize() for part in (argument.subject.type or "").split(".")),
        argument.verb.name.capitalize(),
        text,
        short_form(mention.provenance.parts.justification) if mention is not None else "",
        short_form(justification),
        short_form(base_filler),
        short_form(additional),
        capitalized(argument.realis or ""),
        argument.confidence,
    )
    return "\t".join(columns) + "\n"


def _links(run_id: str, docid: str, linked: Mapping[str, Iterable[str]]) -> Iterator[str]:
    for name in sorted(linked):
        yield f"{run_id}{name}.{docid}\t{' '.join(sorted(linked[name]))}\n"
