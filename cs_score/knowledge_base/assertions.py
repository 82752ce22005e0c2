"""Nodes, assertions and their provenance lists, and the knowledge base that they make up."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from operator import attrgetter
from typing import Final, NamedTuple

from cs_score.base.records import Record, Struct, field, replace
from cs_score.coldstart.tab_files import (
    NO_DOCUMENT,
    DocumentLengths,
    Provenance,
    Span,
    SpanProblem,
    offset_value,
    plain_column,
    read_provenance,
)
from cs_score.knowledge_base.predicates import Use, Verb

NIL: Final = "NIL"
"""What stands for a part that is absent."""

_MOST_CHARACTERS: Final = 800
_MOST_IN_JUSTIFICATION: Final = 3
_MOST_SPANS: Final = (1, _MOST_IN_JUSTIFICATION, 1, sys.maxsize)  # of each of the parts


class Parts(NamedTuple):
    """The provenances of a list; None where one is absent."""

    filler: Provenance | None = None
    justification: Provenance | None = None
    base_filler: Provenance | None = None
    additional: Provenance | None = None


class ProvenanceList(Record, eq=False):
    """A provenance column as read.

    `docid` is its document (`NO_DOCUMENT` if it has none), `start` the first offset of its predicate justification,
    `place` that in canonical form, by which mentions are found (None where it is absent), `spans` how many valid spans
    it has. Equal lists have the same `key`. `kept` are the parts of all but plain predicate justifications.
    """

    text: str
    docid: str
    start: float
    place: str | None
    key: str
    spans: int
    kept: Parts | None
    problems: tuple[SpanProblem, ...]

    @property
    def parts(self) -> Parts:
        return self.kept or Parts(justification=read_provenance(self.text, _MOST_IN_JUSTIFICATION))


NO_PROVENANCE: Final = ProvenanceList("", NO_DOCUMENT, 0, None, "", 0, Parts(), ())
"""The list of assertions that have none."""


class ListReader:
    """Reads provenance columns; equal ones, which are frequent, are read once."""

    def __init__(self, documents: DocumentLengths | None) -> None:
        self._documents = documents
        # Columns that hold a plain predicate justification and nothing else, as mentions and most relations do.
        self._plain: dict[str, ProvenanceList] = {}
        self._others: dict[tuple[str, bool, bool, bool], ProvenanceList] = {}

    def read(self, text: str, has_event: bool, has_string: bool, is_mention: bool) -> ProvenanceList:
        """Read a column of a relation with an event, or to a string, or of a mention. Never raises."""
        if not has_string and (is_mention or not has_event):
            if (known := self._plain.get(text)) is not None:
                return known
            if (plain := plain_column(text, self._documents)) is not None:
                known = self._plain[text] = ProvenanceList(text, *plain, text, text, text.count(",") + 1, None, ())
                return known
        key = (text, has_event, has_string, is_mention)
        if key not in self._others:
            self._others[key] = self._read_parts(*key)
        return self._others[key]

    def _read_parts(self, text: str, has_event: bool, has_string: bool, is_mention: bool) -> ProvenanceList:
        if not text or text == "0":
            return replace(NO_PROVENANCE, text=text)
        texts = text.rstrip(";").split(";") if text.rstrip(";") else []
        expected = 1 + 2 * has_event + has_string
        problems: list[SpanProblem] = []
        if len(texts) != (1 if is_mention else expected):
            problems.append(SpanProblem("TOO_MANY_PROVENANCES_IN_LIST", (text, len(texts), expected), text))
        read: list[Provenance | None] = [] if has_string else [None]
        for part_text, most in zip(texts, _MOST_SPANS[len(read) :]):
            part = None if part_text == NIL else read_provenance(part_text, most, self._documents)
            read.append(part)
            if part is None:
                continue
            problems += part.problems
            characters = sum(offset_value(span.end) - offset_value(span.start) + 1 for span in part.spans)
            if characters > _MOST_CHARACTERS:
                problems.append(SpanProblem("TOO_MANY_TOTAL_CHARS", (_MOST_CHARACTERS,), part_text))
        parts = Parts(*read)
        docids = [part.docid for part in parts if part is not None]
        if len(set(docids)) != 1:
            problems.append(SpanProblem("MULTIPLE_DOCIDS_IN_PROV", (text,), text))
        docid, justification = docids[0] if docids else NO_DOCUMENT, parts.justification
        key = ";".join(NIL if part is None else part.canonical for part in parts)
        if justification is None:
            return ProvenanceList(text, docid, 0, None, key, 0, parts, tuple(problems))
        start = offset_value(justification.spans[0].start) if justification.spans else 0
        place = justification.canonical
        key = place if parts.count(None) == len(parts) - 1 else key
        return ProvenanceList(text, docid, start, place, key, len(justification.spans), parts, tuple(problems))


def short_form(part: Provenance | None) -> str:
    """The offsets of a part without its document."""
    if part is None:
        return NIL
    return ",".join(span.rpartition(":")[2] for span in part.canonical.split(",")) if part.canonical else ""


NAMED: Final = "mention"
NOMINAL: Final = "nominal_mention"
PRONOMINAL: Final = "pronominal_mention"
CANONICAL: Final = "canonical_mention"
NORMALIZED: Final = "normalized_mention"
TYPE: Final = "type"
LINK: Final = "link"

MENTIONS: Final = frozenset((NAMED, NOMINAL))
"""The mentions that say that a node stands at a place."""

_ORDER: Final = attrgetter("verb.order", "provenance.docid", "provenance.start")


class Node:
    """An entity, a string or an event.

    `types` are those that lines give it, `type` the one where there is exactly one. `uses` are the ways in which lines
    use it, each with the first line that does. `mentions` and `others` are the assertions that it is the subject of, as
    recorded; `documents` those where it is mentioned by name or description.
    """

    __slots__ = ("documents", "is_event", "mentions", "name", "others", "type", "types", "uses")

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_event = name.startswith(":Event")
        self.type: str | None = None
        self.types: tuple[str, ...] = ()
        self.uses: dict[Use, int] = {}
        self.mentions: list[Assertion] = []
        self.others: list[Assertion] = []
        self.documents: set[str] = set()

    @property
    def known_type(self) -> str:
        """Its type in reports and statistics."""
        return self.type or ("multiple" if self.types else "unknown")

    def best_line(self, node_type: str | None = None) -> int:
        """The first line of the most specific use, of those that give the node a type where that is asked for."""
        return min((use.role, line) for use, line in self.uses.items() if node_type in (None, use.only))[1]


class Assertion(Struct, eq=False):
    """A line of a knowledge base, or what was inferred from the one with this number.

    `object` is the text that is written, `node` the node where the object is one. An omitted assertion takes part in
    all checks and is not written.
    """

    subject: Node
    verb: Verb
    realis: str | None
    object: str
    node: Node | None
    provenance: ProvenanceList
    confidence: str
    line: int
    comment: str = ""
    is_inferred: bool = False
    is_omitted: bool = False

    @property
    def text(self) -> str:
        """The object without its outer quotes."""
        return self.object[1:-1] if self.verb.takes_text else self.object

    @property
    def span(self) -> Span | None:
        """Where a mention stands: the first span of its justification."""
        part = self.provenance.parts.justification
        return None if part is None else part.first

    def __str__(self) -> str:
        return f"{self.verb.name}({self.subject.name}, {self.object})"


class KnowledgeBase(Struct):
    """What the knowledge base `name` holds.

    `first_line` is that with the run id, `assertions` what was recorded in order, `rejected` how many lines were not,
    by reason; `unrecorded` is what those say of nodes all the same.
    """

    name: str
    run_id: str
    first_line: str
    nodes: dict[str, Node] = field(default_factory=dict)
    assertions: list[Assertion] = field(default_factory=list)
    rejected: dict[str, int] = field(default_factory=dict)
    unrecorded: list[tuple[Node, Use, int]] = field(default_factory=list)

    def uses(self) -> Iterator[tuple[Node, Use, int]]:
        """How each line uses its nodes, those that were not recorded last."""
        for assertion in self.assertions:
            yield assertion.subject, assertion.verb.as_subject, assertion.line
            if assertion.node is not None:
                yield assertion.node, assertion.verb.as_object, assertion.line
        yield from self.unrecorded

    def by_node(self) -> Iterator[list[Assertion]]:
        """The assertions of each node in the order of a validated knowledge base."""
        for name in sorted(self.nodes):
            node = self.nodes[name]
            yield sorted(itertools.chain(node.others, node.mentions), key=_ORDER)

    def in_order(self) -> Iterator[Assertion]:
        """All assertions in that order."""
        return itertools.chain.from_iterable(self.by_node())
