"""The records of a knowledge base: nodes, the assertions about them, and the provenance lists of assertions."""

from __future__ import annotations

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
    read_canonical_column,
    read_provenance,
)
from cs_score.verbs.knowledge_base.predicates import PredicateVerb, Use

NIL: Final = "NIL"
"""The text in the place of an absent part of a provenance column."""

_MOST_CHARACTERS: Final = 800
"""The most characters that the spans of a part may have together."""

_MOST_IN_JUSTIFICATION: Final = 3
_MOST_SPANS: Final = (1, _MOST_IN_JUSTIFICATION, 1, sys.maxsize)
"""The most spans that each of the parts may have, in the order of the parts."""


class Parts(NamedTuple):
    """The parts of a provenance column in their order; an absent part is None.

    They are the places of the string of the object, of the justification of the relation and, for events, of the base
    filler and of further justifications.
    """

    filler: Provenance | None = None
    justification: Provenance | None = None
    base_filler: Provenance | None = None
    additional: Provenance | None = None


class ProvenanceList(Record, eq=False):
    """A provenance column after reading.

    `docid` is the document of its parts, NO_DOCUMENT if there are none. `start` is the first offset of the predicate
    justification, and `place` is the justification in canonical form, None if it is absent; mentions are compared by
    it. Columns with the same meaning have the same `key`. `span_count` is the number of valid spans of the
    justification. `kept_parts` is None if the column has only a correct predicate justification, as nearly all columns
    do; to save memory, `parts` then reads the text again.
    """

    text: str
    docid: str
    start: float
    place: str | None
    key: str
    span_count: int
    kept_parts: Parts | None
    problems: tuple[SpanProblem, ...]

    @property
    def parts(self) -> Parts:
        """The parts of the column."""
        return self.kept_parts or Parts(justification=read_provenance(self.text, _MOST_IN_JUSTIFICATION))


NO_PROVENANCE: Final = ProvenanceList(
    text="", docid=NO_DOCUMENT, start=0, place=None, key="", span_count=0, kept_parts=Parts(), problems=()
)
"""The provenance of assertions that have none, such as those of types."""


class ListReader:
    """Reads provenance columns. Equal columns are frequent; they are read only once."""

    def __init__(self, documents: DocumentLengths | None) -> None:
        """Take the lengths of the documents in which spans may lie; None if spans are not checked."""
        self._documents = documents
        # The columns with only a correct predicate justification, as those of mentions and of most relations.
        self._plain_lists: dict[str, ProvenanceList] = {}
        self._other_lists: dict[tuple[str, bool, bool, bool], ProvenanceList] = {}

    def read(self, text: str, has_event: bool, has_string: bool, is_mention: bool) -> ProvenanceList:
        """Return the provenance list of a column, with its problems.

        The number of parts depends on whether the subject or the object is an event (`has_event`), whether the object
        is a string node (`has_string`), and whether the predicate is a mention (`is_mention`).
        """
        if not has_string and (is_mention or not has_event):
            provenance = self._plain_lists.get(text)
            if provenance is not None:
                return provenance
            first_span = read_canonical_column(text, self._documents)
            if first_span is not None:
                docid, start = first_span
                span_count = text.count(",") + 1
                provenance = ProvenanceList(text, docid, start, text, text, span_count, None, ())
                self._plain_lists[text] = provenance
                return provenance
        key = (text, has_event, has_string, is_mention)
        if key not in self._other_lists:
            self._other_lists[key] = self._read_parts(*key)
        return self._other_lists[key]

    def _read_parts(self, text: str, has_event: bool, has_string: bool, is_mention: bool) -> ProvenanceList:
        """Return the provenance list of a column of any form, with its problems. `read` has the same arguments."""
        if not text or text == "0":
            return replace(NO_PROVENANCE, text=text)
        text_without_end = text.rstrip(";")
        part_texts = text_without_end.split(";") if text_without_end else []
        problems: list[SpanProblem] = []
        wanted_count = 1 + 2 * has_event + has_string
        if len(part_texts) != (1 if is_mention else wanted_count):
            arguments = (text, len(part_texts), wanted_count)
            problems.append(SpanProblem("TOO_MANY_PROVENANCES_IN_LIST", arguments, text))
        read_parts: list[Provenance | None] = [] if has_string else [None]  # only string nodes have a filler
        for part_text, most_spans in zip(part_texts, _MOST_SPANS[len(read_parts) :]):
            if part_text == NIL:
                read_parts.append(None)
                continue
            part = read_provenance(part_text, most_spans, self._documents)
            read_parts.append(part)
            problems += part.problems
            if _count_characters(part) > _MOST_CHARACTERS:
                problems.append(SpanProblem("TOO_MANY_TOTAL_CHARS", (_MOST_CHARACTERS,), part_text))
        parts = Parts(*read_parts)
        docids = [part.docid for part in parts if part is not None]
        if len(set(docids)) != 1:
            problems.append(SpanProblem("MULTIPLE_DOCIDS_IN_PROV", (text,), text))
        return _list_of_parts(text, parts, docids[0] if docids else NO_DOCUMENT, tuple(problems))


def _count_characters(part: Provenance) -> float:
    """Return the number of characters in all spans of a part. Both ends of a span belong to it."""
    return sum([offset_value(span.end) - offset_value(span.start) + 1 for span in part.spans])


def _list_of_parts(text: str, parts: Parts, docid: str, problems: tuple[SpanProblem, ...]) -> ProvenanceList:
    """Return the provenance list of a column with these parts and problems; `docid` is the document of the parts."""
    key = ";".join([NIL if part is None else part.canonical for part in parts])
    justification = parts.justification
    start: float = 0
    place = None
    span_count = 0
    if justification is not None:
        place = justification.canonical
        span_count = len(justification.spans)
        if span_count:
            start = offset_value(justification.spans[0].start)
        if parts.count(None) == len(parts) - 1:
            key = place  # the same key as that of an equal column which was read as a plain one
    return ProvenanceList(
        text=text,
        docid=docid,
        start=start,
        place=place,
        key=key,
        span_count=span_count,
        kept_parts=parts,
        problems=problems,
    )


def short_form(part: Provenance | None) -> str:
    """Return the offsets of a part of a provenance without its document, such as "3-9,12-14"; NIL if it is absent."""
    if part is None:
        return NIL
    if not part.canonical:
        return ""
    return ",".join([span.rpartition(":")[2] for span in part.canonical.split(",")])


NAMED: Final = "mention"
NOMINAL: Final = "nominal_mention"
PRONOMINAL: Final = "pronominal_mention"
CANONICAL: Final = "canonical_mention"
NORMALIZED: Final = "normalized_mention"
TYPE: Final = "type"
LINK: Final = "link"

MENTIONS: Final = frozenset((NAMED, NOMINAL))
"""The predicates of mentions by name and by description."""

_order: Final = attrgetter("verb.order", "provenance.docid", "provenance.start")


class KbNode:
    """An entity, a string or an event.

    `types` are the types that lines give to the node; `type` is its type if there is exactly one. `uses` are the ways
    in which lines use the node, each with the first such line. `mentions` and `others` are the assertions with the node
    as subject, in the order of recording. `documents` are the documents that mention it by name or description.
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
        """The type of the node in reports and statistics, such as "per"; "multiple" or "unknown" if it has not one."""
        return self.type or ("multiple" if self.types else "unknown")

    def best_line(self, node_type: str | None = None) -> int:
        """Return the line that reports name as the place of the node: the first line of its most specific use.

        If `node_type` is given, only uses that give the node this type count.
        """
        roles_and_lines = []
        for use, line in self.uses.items():
            if node_type is None or use.single_type == node_type:
                roles_and_lines.append((use.role, line))
        _, best_line = min(roles_and_lines)
        return best_line


class NodeUse(NamedTuple):
    """The use of a node by a line."""

    node: KbNode
    use: Use
    line: int


class Assertion(Struct, eq=False):
    """An assertion of a line of a knowledge base, or an assertion that was inferred from that of a line.

    `object` is the object as text, and `node` is the node if the object is one. An omitted assertion takes part in all
    checks but is not written.
    """

    subject: KbNode
    verb: PredicateVerb
    realis: str | None
    object: str
    node: KbNode | None
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
        """The place of a mention, which is the first span of its justification; None if there is none."""
        justification = self.provenance.parts.justification
        return None if justification is None else justification.first

    def __str__(self) -> str:
        return f"{self.verb.name}({self.subject.name}, {self.object})"


class KnowledgeBase(Struct):
    """A knowledge base after reading.

    `first_line` is the line with the run id. `assertions` are in the order of recording. `rejected` counts the lines
    that were not recorded, by reason; `unrecorded_uses` are the uses of nodes by such lines, which are checked, too.
    """

    name: str
    run_id: str
    first_line: str
    nodes: dict[str, KbNode] = field(default_factory=dict)
    assertions: list[Assertion] = field(default_factory=list)
    rejected: dict[str, int] = field(default_factory=dict)
    unrecorded_uses: list[NodeUse] = field(default_factory=list)

    def uses(self) -> Iterator[NodeUse]:
        """Yield each use of a node by a line, at last the uses by lines that were not recorded."""
        for assertion in self.assertions:
            yield NodeUse(assertion.subject, assertion.verb.as_subject, assertion.line)
            if assertion.node is not None:
                yield NodeUse(assertion.node, assertion.verb.as_object, assertion.line)
        yield from self.unrecorded_uses

    def by_node(self) -> Iterator[list[Assertion]]:
        """Yield for each node the list of its assertions. Nodes and assertions are in the order of a written file."""
        for name in sorted(self.nodes):
            node = self.nodes[name]
            yield sorted([*node.others, *node.mentions], key=_order)

    def in_order(self) -> Iterator[Assertion]:
        """Yield all assertions in the order of a written, validated knowledge base."""
        for assertions in self.by_node():
            yield from assertions
