"""Validated knowledge bases as queries are asked of them (specification 16.2)."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from operator import attrgetter
from typing import Final

from cs_score.base.errors import InputError
from cs_score.base.records import Record, Struct, field
from cs_score.base.sources import Source
from cs_score.base.white_space import WHITE_SPACE
from cs_score.coldstart.provenance import Span, read_provenance
from cs_score.coldstart.tab_files import split_comment
from cs_score.knowledge_base.contents.assertions import CANONICAL, LINK, NAMED, TYPE
from cs_score.knowledge_base.contents.provenance_lists import NIL
from cs_score.knowledge_base.reading.kb_file import split_lines, text_blocks
from cs_score.knowledge_base.resolution.entry_points import Mention

_CONFIDENCE: Final = re.compile(r"\d+\.\d+")
_SPAN: Final = re.compile(r"(.*):(\d+)-(\d+)", re.DOTALL)
_READ_PARTS: Final = 3
_NO_CONFIDENCE: Final = "1.0"
_GENERIC: Final = ".generic"
_OTHER_REALIS: Final = (".actual", ".other")


class Fact(Record, eq=False):
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


class ValidatedKb(Struct):
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
    blocks = text_blocks(source)
    first_line, line_feed, rest = next(blocks, "").partition("\n")
    run_id = split_comment(first_line)[0].strip(WHITE_SPACE)
    if run_id in ("", "0"):
        raise InputError("No runid found", file=source.name, place="line 1", code="NOT_A_VALIDATED_KB")
    reader = _Reader(ValidatedKb(run_id), source.name, slots, docids)
    reader.read(itertools.chain((rest,) if line_feed else (), blocks))
    return reader.kb


class _Reader:
    """Reads the lines of a knowledge base and keeps those that somebody can ask for."""

    def __init__(self, kb: ValidatedKb, name: str, slots: Collection[str], docids: Collection[str]) -> None:
        self.kb = kb
        self._name = name
        self._slots = slots
        self._docids = docids
        names = (NAMED, CANONICAL, *slots)
        self._wanted = frozenset(f"{name}{realis}" for name in names for realis in ("", *_OTHER_REALIS))

    def read(self, blocks: Iterable[str]) -> None:
        """Read all lines but the first."""
        number = 1
        canonical: list[tuple[int, str, str, str, str]] = []
        for block in blocks:
            for subject, predicate, node, text, provenance, confidence, kind, other in split_lines(block):
                number += 1
                if predicate == CANONICAL and CANONICAL not in self._slots:
                    canonical.append((number, subject, node or text, provenance, confidence))
                elif predicate in self._wanted:
                    docid = provenance.partition(":")[0]
                    if predicate != NAMED or docid in self._docids or NAMED in self._slots:
                        self._keep(predicate, number, subject, node or text, provenance, confidence, docid)
                elif kind:
                    self.kb.types[subject] = kind
                elif other:
                    self._read_line(number, other)
        # Most canonical mentions are of nodes that nobody asks for.
        asked = {name for facts in self.kb.slots.values() for fact in facts for name in (fact.subject, fact.object)}
        for number, subject, text, provenance, confidence in canonical:
            if subject in asked:
                self._keep(CANONICAL, number, subject, text, provenance, confidence, provenance.partition(":")[0])
        for facts in self.kb.canonical.values():
            facts.sort(key=attrgetter("line"))

    def _read_line(self, number: int, text: str) -> None:
        """Read a line of any kind."""
        if "#" in text:
            text = split_comment(text)[0]
        columns = [stripped for column in text.split("\t") if (stripped := column.strip(WHITE_SPACE))]
        if not columns:
            return
        if _CONFIDENCE.fullmatch(columns[-1]) is None:
            columns.append("")
        predicate = columns[1] if len(columns) > 1 else ""
        if len(columns) != (4 if predicate.lower() in (TYPE, LINK) else 5):
            raise self._illegal(f"Wrong number of arguments for predicate {predicate.lower()}", number)
        if len(columns) == 4:
            if predicate == TYPE:
                self.kb.types[columns[0]] = columns[2]
            return
        subject, _, object_, provenance, confidence = columns
        for span in itertools.chain.from_iterable(map(_spans, _parts(provenance))):
            if _SPAN.fullmatch(span) is None:
                raise self._illegal(f"illegal offset specification: {span}", number)
        if not predicate.endswith(_GENERIC):  # which count for nothing
            first = first_span(provenance)
            docid = "" if first is None else first.docid
            self._keep(predicate, number, subject, object_, provenance, confidence, docid)

    def _keep(
        self, predicate: str, line: int, subject: str, object_: str, provenance: str, confidence: str, docid: str
    ) -> None:
        """Keep a line if somebody can ask for it."""
        has_realis = predicate.endswith(_OTHER_REALIS)
        name = predicate.rpartition(".")[0] if has_realis else predicate
        fact = Fact(line, subject, object_, provenance, confidence or _NO_CONFIDENCE, docid, has_realis)
        if name == CANONICAL:
            self.kb.canonical[subject, docid].append(fact)
        elif name == NAMED and docid in self._docids and (span := fact.first) is not None:
            self.kb.mentions[docid].append(Mention.at(span, line, subject, object_))
        if name in self._slots:
            self.kb.slots[subject, name].append(fact)

    def _illegal(self, problem: str, line: int) -> InputError:
        return InputError(problem, file=self._name, place=f"line {line}", code="NOT_A_VALIDATED_KB")


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
