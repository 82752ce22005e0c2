"""Validated knowledge bases as queries are asked of them (specification 16.2)."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final

from cs_score.coldstart.lines.provenance import read_provenance
from cs_score.coldstart.lines.reader import split_comment
from cs_score.coldstart.spans import Span
from cs_score.foundation.errors import InputError
from cs_score.foundation.record import record
from cs_score.foundation.sources import Source
from cs_score.foundation.white_space import WHITE_SPACE
from cs_score.knowledge_base.contents.assertions import CANONICAL, LINK, NAMED, TYPE
from cs_score.knowledge_base.contents.provenance_lists import NIL
from cs_score.knowledge_base.reading.kb_file import texts_of
from cs_score.knowledge_base.resolution.entry_points import Mention

_CONFIDENCE: Final = re.compile(r"\d+\.\d+")
_SPAN: Final = re.compile(r"(.*):(\d+)-(\d+)", re.DOTALL)
# A line of five columns without anything to trim or cut off, whose spans need no second look.
_PLAIN_LINE: Final = re.compile(
    r'(:[A-Za-z0-9_]++)\t((?!type|link)[a-z0-9_:.-]++)\t(:[A-Za-z0-9_]++|"[^\t#"\\]*+")'
    r"\t([A-Za-z0-9_.+-]++:[0-9]++-[0-9]++(?:[;,](?:NIL|[A-Za-z0-9_.+-]++:[0-9]++-[0-9]++))*+)\t([0-9]++\.[0-9]++)"
)
_READ_PARTS: Final = 3
_NO_CONFIDENCE: Final = "1.0"
_GENERIC: Final = ".generic"
_OTHER_REALIS: Final = (".actual", ".other")


@record(eq=False)
class Fact:
    """A line that says something of a node: its columns, the document of its first span, whether it has a realis."""

    line: int
    subject: str
    object: str
    provenance: str
    confidence: str
    docid: str
    has_realis: bool

    @property
    def first(self) -> Span | None:
        """The first span of its provenance."""
        return first_span(self.provenance)


@dataclass(slots=True)
class ValidatedKb:
    """What queries may ask for.

    `slots`: lines by subject and predicate. `canonical`: canonical mentions by node and document. `types`: as the last
    line says. `mentions`: by document.
    """

    run_id: str
    slots: dict[tuple[str, str], list[Fact]] = field(default_factory=lambda: defaultdict(list))
    canonical: dict[tuple[str, str], list[Fact]] = field(default_factory=lambda: defaultdict(list))
    types: dict[str, str] = field(default_factory=dict)
    mentions: dict[str, list[Mention]] = field(default_factory=lambda: defaultdict(list))


def read_validated(source: Source, slots: Collection[str], docids: Collection[str]) -> ValidatedKb:
    """Read what queries with these slots and entry points in these documents can ask for.

    Raises InputError where the file is no validated knowledge base.
    """
    texts = texts_of(source)
    run_id = split_comment(next(texts, ""))[0].strip(WHITE_SPACE)
    if run_id in ("", "0"):
        raise InputError("No runid found", file=source.name, place="line 1", code="NOT_A_VALIDATED_KB")
    kb = ValidatedKb(run_id)
    names = (NAMED, CANONICAL, *slots)
    wanted = frozenset(f"{name}{realis}" for name in names for realis in ("", *_OTHER_REALIS))
    canonical: list[tuple[int, str]] = []
    for number, text in enumerate(texts, 2):
        plain = _PLAIN_LINE.fullmatch(text)
        if plain is None:
            _read_line(kb, number, text, source.name, slots, docids)
        elif plain[2] == CANONICAL and CANONICAL not in slots:
            canonical.append((number, text))
        elif plain[2] in wanted:
            subject, predicate, object_, provenance, confidence = plain.groups(_NO_CONFIDENCE)
            docid = provenance.partition(":")[0]
            if predicate != NAMED or docid in docids:
                fact = Fact(number, subject, object_, provenance, confidence, docid, predicate.endswith(_OTHER_REALIS))
                _note(kb, predicate, fact, slots, docids)
    _note_canonical(kb, canonical)
    return kb


def _note_canonical(kb: ValidatedKb, lines: Iterable[tuple[int, str]]) -> None:
    """Keep the plain canonical mentions of the nodes that lines for the slots name; most others are never asked for."""
    asked = {name for facts in kb.slots.values() for fact in facts for name in (fact.subject, fact.object)}
    for number, text in lines:
        subject, _, object_, provenance, confidence = text.split("\t")
        if subject in asked:
            docid = provenance.partition(":")[0]
            kb.canonical[subject, docid].append(Fact(number, subject, object_, provenance, confidence, docid, False))
    for facts in kb.canonical.values():
        facts.sort(key=attrgetter("line"))


def _read_line(
    kb: ValidatedKb, number: int, text: str, name: str, slots: Collection[str], docids: Collection[str]
) -> None:
    """Read a line of any kind."""
    if "#" in text:
        text = split_comment(text)[0]
    columns = [stripped for column in text.split("\t") if (stripped := column.strip(WHITE_SPACE))]
    if not columns:
        return
    if _CONFIDENCE.fullmatch(columns[-1]) is None:
        columns.append(_NO_CONFIDENCE)
    predicate = columns[1] if len(columns) > 1 else ""
    if len(columns) != (4 if predicate.lower() in (TYPE, LINK) else 5):
        raise _illegal(f"Wrong number of arguments for predicate {predicate.lower()}", name, number)
    if len(columns) == 4:
        if predicate == TYPE:
            kb.types[columns[0]] = columns[2]
        return
    subject, _, object_, provenance, confidence = columns
    _check_spans(provenance, name, number)
    if not predicate.endswith(_GENERIC):  # which count for nothing
        first = first_span(provenance)
        docid = "" if first is None else first.docid
        _note(
            kb,
            predicate,
            Fact(number, subject, object_, provenance, confidence, docid, predicate.endswith(_OTHER_REALIS)),
            slots,
            docids,
        )


def _note(kb: ValidatedKb, predicate: str, fact: Fact, slots: Collection[str], docids: Collection[str]) -> None:
    """Keep a line if somebody can ask for it."""
    name = predicate.rpartition(".")[0] if fact.has_realis else predicate
    if name == CANONICAL:
        kb.canonical[fact.subject, fact.docid].append(fact)
    elif name == NAMED and fact.docid in docids and (span := fact.first) is not None:
        kb.mentions[fact.docid].append(Mention.at(span, fact.line, fact.subject, fact.object))
    if name in slots:
        kb.slots[fact.subject, name].append(fact)


def _illegal(problem: str, name: str, number: int) -> InputError:
    return InputError(problem, file=name, place=f"line {number}", code="NOT_A_VALIDATED_KB")


def _check_spans(provenance: str, name: str, number: int) -> None:
    for span in itertools.chain.from_iterable(map(_spans, _parts(provenance))):
        if _SPAN.fullmatch(span) is None:
            raise _illegal(f"illegal offset specification: {span}", name, number)


def _parts(provenance: str) -> list[str]:
    return provenance.split(";")[:_READ_PARTS]


def _spans(part: str) -> Iterable[str]:
    return (span for span in part.rstrip(",").split(",") if span not in ("", NIL)) if part else ()


def first_span(provenance: str) -> Span | None:
    """The first span of the first part."""
    for span in _spans(provenance.partition(";")[0]):
        match = _SPAN.fullmatch(span)
        return None if match is None else Span(*match.groups())
    return None


def canonical_part(provenance: str, position: int) -> str:
    """A part in canonical form; empty where there is none."""
    parts = _parts(provenance)
    if position >= len(parts):
        return ""
    spans = list(_spans(parts[position]))
    return read_provenance(",".join(spans), len(spans)).canonical
