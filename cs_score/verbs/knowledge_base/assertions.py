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
"""The text that a provenance column has instead of an absent part."""

_MOST_CHARACTERS: Final = 800
"""The most characters that the spans of a part may have together."""

_MOST_SPANS_IN_JUSTIFICATION: Final = 3
_MOST_SPANS_BY_PART: Final = {
    "filler": 1,
    "justification": _MOST_SPANS_IN_JUSTIFICATION,
    "base_filler": 1,
    "additional": sys.maxsize,
}
"""The most spans that each part of a provenance column may have."""


class Parts(NamedTuple):
    """The parts of a provenance column in their order; an absent part is None.

    * `filler`: the place of the text of a string node that is the object.
    * `justification`: the place that justifies the relation, or the place of the mention.
    * `base_filler`: the place of the object of a relation with an event.
    * `additional`: further justifications of a relation with an event.
    """

    filler: Provenance | None = None
    justification: Provenance | None = None
    base_filler: Provenance | None = None
    additional: Provenance | None = None


class ProvenanceList(Record, eq=False):
    """A provenance column after reading: the parts of "D1:3-9;D1:0-20" are the places D1:3-9 and D1:0-20.

    * `docid`: the document of its parts, or NO_DOCUMENT if there are none.
    * `start`: the first offset of the justification.
    * `place`: the justification in canonical form, or None if it is absent. Mentions are compared by their places.
    * `key`: a text that is the same for all columns with the same meaning.
    * `span_count`: the number of valid spans of the justification.
    * `kept_parts`: the parts, or None if the column has only a correct justification, as nearly all columns have. To
      save memory, `parts` reads the text of such a column again.
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
        """The parts of the column, such as the filler D1:3-9 and the justification D1:0-20.

        The text of the column is read again if its parts were not kept.
        """
        if self.kept_parts is not None:
            return self.kept_parts
        return Parts(justification=read_provenance(self.text, _MOST_SPANS_IN_JUSTIFICATION))


NO_PROVENANCE: Final = ProvenanceList(
    text="", docid=NO_DOCUMENT, start=0, place=None, key="", span_count=0, kept_parts=Parts(), problems=()
)
"""The provenance of assertions that have none, such as those of types."""


class ProvenanceListReader:
    """Reads provenance columns. Equal columns are frequent; they are read only once."""

    def __init__(self, documents: DocumentLengths | None) -> None:
        """Make a reader that checks spans against the lengths of the documents; None if spans are not checked."""
        self._documents = documents
        # The columns with only a correct justification, as those of mentions and of most relations, by their text.
        self._plain_lists: dict[str, ProvenanceList] = {}
        self._other_lists: dict[tuple[str, bool, bool, bool], ProvenanceList] = {}

    def read(self, text: str, has_event: bool, has_string: bool, is_mention: bool) -> ProvenanceList:
        """Return the provenance list of a column such as "D1:3-9;D1:0-20", with its problems.

        The number of parts depends on whether the subject or the object is an event (`has_event`), whether the object
        is a string node (`has_string`), and whether the predicate is a mention (`is_mention`).
        """
        needs_more_parts = has_string
        if has_event and not is_mention:
            needs_more_parts = True
        # Most columns need a justification only. If it is correct, a quicker way of reading is enough.
        if not needs_more_parts:
            provenance = self._plain_lists.get(text)
            if provenance is not None:
                return provenance
            first_span = read_canonical_column(text, self._documents)
            if first_span is not None:
                provenance = ProvenanceList(
                    text=text,
                    docid=first_span.docid,
                    start=first_span.offset,
                    place=text,
                    key=text,
                    span_count=text.count(",") + 1,
                    kept_parts=None,
                    problems=(),
                )
                self._plain_lists[text] = provenance
                return provenance
        column = (text, has_event, has_string, is_mention)
        if column not in self._other_lists:
            self._other_lists[column] = self._read_parts(text, has_event, has_string, is_mention)
        return self._other_lists[column]

    def _read_parts(self, text: str, has_event: bool, has_string: bool, is_mention: bool) -> ProvenanceList:
        """Return the provenance list of a column of any form, such as "D1:3-9;NIL", with its problems.

        `has_event` says that the subject or the object is an event, `has_string` that the object is a string node, and
        `is_mention` that the predicate is a mention.
        """
        if text in ("", "0"):
            return replace(NO_PROVENANCE, text=text)
        text_without_end = text.rstrip(";")
        part_texts = text_without_end.split(";") if text_without_end else []
        problems: list[SpanProblem] = []

        # A relation has a justification; events add a base filler and further justifications, string nodes a filler.
        part_count_of_relation = 1
        if has_event:
            part_count_of_relation += 2
        if has_string:
            part_count_of_relation += 1
        wanted_count = 1 if is_mention else part_count_of_relation
        if len(part_texts) != wanted_count:
            # The message of the reference program has the count of a relation even for a mention.
            arguments = (text, len(part_texts), part_count_of_relation)
            problems.append(SpanProblem("TOO_MANY_PROVENANCES_IN_LIST", arguments, text))

        part_names = list(_MOST_SPANS_BY_PART)
        if not has_string:
            part_names.remove("filler")
        part_by_name: dict[str, Provenance] = {}
        for part_name, part_text in zip(part_names, part_texts):
            if part_text == NIL:
                continue
            part = read_provenance(part_text, _MOST_SPANS_BY_PART[part_name], self._documents)
            part_by_name[part_name] = part
            problems += part.problems
            if _count_characters(part) > _MOST_CHARACTERS:
                problems.append(SpanProblem("TOO_MANY_TOTAL_CHARS", (_MOST_CHARACTERS,), part_text))

        docids = [part.docid for part in part_by_name.values()]
        if len(set(docids)) != 1:
            problems.append(SpanProblem("MULTIPLE_DOCIDS_IN_PROV", (text,), text))
        docid = docids[0] if docids else NO_DOCUMENT
        return _make_list(text, Parts(**part_by_name), docid, tuple(problems))


def _count_characters(part: Provenance) -> float:
    """Return the number of characters in all spans of a part: 10 for D1:3-5,D1:8-14. Both ends of a span count."""
    lengths = [offset_value(span.end) - offset_value(span.start) + 1 for span in part.spans]
    return sum(lengths)


def _make_list(text: str, parts: Parts, docid: str, problems: tuple[SpanProblem, ...]) -> ProvenanceList:
    """Return the provenance list of a column with this text, these parts and problems.

    `docid` is the document of the parts, NO_DOCUMENT if the column has none.
    """
    key = ";".join([NIL if part is None else part.canonical_text for part in parts])
    justification = parts.justification
    start: float = 0
    place = None
    span_count = 0
    if justification is not None:
        place = justification.canonical_text
        span_count = len(justification.spans)
        if justification.first_span is not None:
            start = offset_value(justification.first_span.start)
        has_only_justification = parts == Parts(justification=justification)
        if has_only_justification:
            key = place  # as for an equal column that was read in the quick way
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
    """Return the offsets of a part of a provenance without its document: `D1:3-9,D1:12-14` -> "3-9,12-14".

    Return "NIL" if the part is absent.
    """
    if part is None:
        return NIL
    if not part.canonical_text:
        return ""
    offsets = []
    for span in part.canonical_text.split(","):
        _docid, _colon, offsets_of_span = span.rpartition(":")
        offsets.append(offsets_of_span)
    return ",".join(offsets)


NAMED: Final = "mention"
NOMINAL: Final = "nominal_mention"
PRONOMINAL: Final = "pronominal_mention"
CANONICAL: Final = "canonical_mention"
NORMALIZED: Final = "normalized_mention"
TYPE: Final = "type"
LINK: Final = "link"

MENTIONS: Final = frozenset((NAMED, NOMINAL))
"""The predicates of mentions by name and by description."""

_order_in_file: Final = attrgetter("verb.order", "provenance.docid", "provenance.start")
"""Returns the key that sorts the assertions about a node as they are written: by predicate, document and offset."""


class KbNode:
    """An entity, a string or an event.

    * `types`: the types that lines give to the node. `type` is its type if there is exactly one.
    * `line_by_use`: the first line that uses the node in each way, such as "as subject that must be a person".
    * `mentions`: the mentions of the node, in the order of recording.
    * `other_assertions`: the other assertions with the node as subject, in the order of recording.
    * `mentioning_docids`: the documents that mention the node by name or description.
    """

    __slots__ = (
        "is_event",
        "line_by_use",
        "mentioning_docids",
        "mentions",
        "name",
        "other_assertions",
        "type",
        "types",
    )

    def __init__(self, name: str) -> None:
        """Make a node without assertions; its name is one such as ":Entity_1", ":String_1" or ":Event_1"."""
        self.name = name
        self.is_event = name.startswith(":Event")
        self.type: str | None = None
        self.types: tuple[str, ...] = ()
        self.line_by_use: dict[Use, int] = {}
        self.mentions: list[Assertion] = []
        self.other_assertions: list[Assertion] = []
        self.mentioning_docids: set[str] = set()

    @property
    def type_in_reports(self) -> str:
        """The type of the node in reports and statistics, such as "per".

        A node with several types gives "multiple", a node without a type gives "unknown".
        """
        if self.type is not None:
            return self.type
        return "multiple" if self.types else "unknown"

    def best_line(self, node_type: str | None = None) -> int:
        """Return the number of the line that reports name as the place of the node.

        Lines that declare the type of the node come before lines with the node as subject, and these before lines with
        the node as object. The first such line is taken. If `node_type` is given, only lines that give the node this
        type are considered.
        """
        roles_and_lines = []
        for use, line in self.line_by_use.items():
            if node_type is None or use.single_type == node_type:
                roles_and_lines.append((use.role, line))
        # Roles are numbers, the most specific one is the least.
        _best_role, best_line = min(roles_and_lines)
        return best_line


class NodeUse(NamedTuple):
    """The use of a node by a line."""

    node: KbNode
    use: Use
    line: int


class Assertion(Struct, eq=False):
    """An assertion that a line of a knowledge base makes, or that was inferred from such a line.

    `object` is the object as text. If the object is a node, `node` is this node, otherwise `node` is None. `realis`
    says whether an event took place, such as "actual"; it is None for other assertions. An omitted assertion is
    checked, but it is not written.
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
        """The object without its outer quotes: `"Ann"` -> Ann."""
        if not self.verb.has_text_object:
            return self.object
        return self.object[1:-1]  # the object of a mention always has quotes

    @property
    def span(self) -> Span | None:
        """The place of a mention, which is the first span of its justification, such as D1:3-9.

        It is None if the assertion has no justification.
        """
        justification = self.provenance.parts.justification
        return None if justification is None else justification.first_span

    def __str__(self) -> str:
        """Return the assertion as messages show it, such as "children(:Entity_1, :Entity_2)"."""
        return f"{self.verb.name}({self.subject.name}, {self.object})"


class KnowledgeBase(Struct):
    """A knowledge base after reading.

    `first_line` is the line with the run id. `assertions` are in the order of recording. `rejected` has the number of
    lines that were not recorded, by reason. `unrecorded_uses` are the uses of nodes by such lines; these uses are
    checked like the others.
    """

    name: str
    run_id: str
    first_line: str
    nodes: dict[str, KbNode] = field(default_factory=dict)
    assertions: list[Assertion] = field(default_factory=list)
    rejected: dict[str, int] = field(default_factory=dict)
    unrecorded_uses: list[NodeUse] = field(default_factory=list)

    def node_uses(self) -> Iterator[NodeUse]:
        """Yield each use of a node by a line: at first the uses by assertions, then those by lines not recorded."""
        for assertion in self.assertions:
            yield NodeUse(assertion.subject, assertion.verb.as_subject, assertion.line)
            if assertion.node is not None:
                yield NodeUse(assertion.node, assertion.verb.as_object, assertion.line)
        yield from self.unrecorded_uses

    def assertions_by_node(self) -> Iterator[list[Assertion]]:
        """Yield the list of the assertions about each node, in the order in which they are written into a file."""
        for name in sorted(self.nodes):
            node = self.nodes[name]
            assertions_of_node = node.other_assertions + node.mentions
            yield sorted(assertions_of_node, key=_order_in_file)

    def assertions_as_written(self) -> Iterator[Assertion]:
        """Yield all assertions in the order of a written, validated knowledge base."""
        for assertions in self.assertions_by_node():
            yield from assertions
