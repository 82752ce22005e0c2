"""The records of a knowledge base. A node (an entity such as `:Entity_1`, a string or an event) is the subject of
assertions: its mentions in documents, its type, its relations with other nodes. A provenance column has the places that
justify an assertion, such as D1:3-9;D1:0-20.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
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
    read_canonical_start,
    read_provenance,
)
from cs_score.verbs.knowledge_base.predicates import KbPredicate, Use

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

    @property
    def has_only_justification(self) -> bool:
        """True if there is a justification and no other part, as in the column D1:3-9 of a mention."""
        return self.justification is not None and self == Parts(justification=self.justification)

    @property
    def docid(self) -> str:
        """The document of the first part, such as "D1"; NO_DOCUMENT if all parts are absent."""
        for part in self:
            if part is not None:
                return part.docid
        return NO_DOCUMENT

    @property
    def key(self) -> str:
        """The text by which columns are compared, such as "NIL;D1:3-9;D1:0-20;NIL" with NIL for each absent part.

        A column with only a justification has the text of this justification, such as "D1:3-9".
        """
        if self.justification is not None and self.has_only_justification:
            return self.justification.canonical_text
        part_texts = [NIL if part is None else part.canonical_text for part in self]
        return ";".join(part_texts)


class ProvenanceList(Record, eq=False):
    """A parsed provenance column. For example, the parts of "D1:3-9;D1:0-20" are the places D1:3-9 and D1:0-20.

    * `docid`: the document of its parts, or NO_DOCUMENT if there are none.
    * `start`: the first offset of the justification.
    * `place`: the justification in canonical form, or None if it is absent. Mentions are compared by their places.
    * `key`: a text that is the same for all columns with the same meaning.
    * `span_count`: the number of valid spans of the justification.
    * `kept_parts`: the parts, or None for a plain column, which has a correct justification and nothing else. Nearly
      all columns are plain; to save memory, their parts are not kept, and `parts` reads the text again.
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
    def is_plain(self) -> bool:
        """True if the column has a correct justification and nothing else, such as D1:3-9."""
        return self.kept_parts is None

    @property
    def parts(self) -> Parts:
        """The parts of the column, such as the filler D1:3-9 and the justification D1:0-20."""
        if self.kept_parts is not None:
            return self.kept_parts
        # The parts are kept unless the column is plain, in which case its whole text is a justification.
        return Parts(justification=read_provenance(self.text, _MOST_SPANS_IN_JUSTIFICATION))


NO_PROVENANCE: Final = ProvenanceList(
    text="", docid=NO_DOCUMENT, start=0, place=None, key="", span_count=0, kept_parts=Parts(), problems=()
)
"""The provenance of assertions that have none, such as those of types."""


class _Column(NamedTuple):
    """A provenance column, such as "D1:3-9;D1:0-20", and what decides how many parts it should have.

    * `has_event`: the subject or the object of the assertion is an event.
    * `has_string`: the object is a string node.
    * `is_mention`: the predicate is a mention.
    """

    text: str
    has_event: bool
    has_string: bool
    is_mention: bool

    @property
    def part_texts(self) -> list[str]:
        """The texts of the parts: ["D1:3-9", "NIL"] for the column "D1:3-9;NIL;"."""
        text_without_end = self.text.rstrip(";")
        return text_without_end.split(";") if text_without_end else []

    @property
    def part_names(self) -> list[str]:
        """The names of the parts in their order, such as "justification". Only a string node has a "filler"."""
        names = list(Parts._fields)
        if not self.has_string:
            names.remove("filler")
        return names

    @property
    def text_by_part_name(self) -> dict[str, str]:
        """The texts of the parts by name: {"justification": "D1:3-9"} for the column "D1:3-9;NIL" of a relation.

        Absent parts (NIL) are left out, and so are parts beyond the last one that a column can have.
        """
        texts = {}
        for name, text in zip(self.part_names, self.part_texts):
            if text != NIL:
                texts[name] = text
        return texts

    @property
    def part_count_of_relation(self) -> int:
        """The number of parts that the column should have if its assertion is a relation (1 to 4)."""
        part_count = 1  # the justification
        if self.has_event:
            part_count += 2  # the base filler and the further justifications
        if self.has_string:
            part_count += 1  # the filler
        return part_count

    def part_count_problems(self) -> list[SpanProblem]:
        """Return a list with one problem if the column has too many or too few parts, or an empty list otherwise.

        A mention should have a single part, and a relation should have the parts that its nodes require. Even for a
        mention, the message of the reference program states the number of parts that a relation would have.
        """
        part_count = len(self.part_texts)
        wanted_count = 1 if self.is_mention else self.part_count_of_relation
        if part_count == wanted_count:
            return []
        arguments = (self.text, part_count, self.part_count_of_relation)
        # In spite of its name, this is also the code for too few parts.
        return [SpanProblem("TOO_MANY_PROVENANCES_IN_LIST", arguments, self.text)]


class ProvenanceListReader:
    """Reads provenance columns, such as "D1:3-9;D1:0-20": places in documents, with a semicolon between them.

    Equal columns are frequent; they are read only once.
    """

    def __init__(self, documents: DocumentLengths | None) -> None:
        """Make a reader that checks spans against the lengths of the documents, or not at all if they are None."""
        self._documents = documents
        # Columns that have already been read. A plain column consists of a correct justification and nothing else. All
        # other columns are read in full, with each of their parts.
        self._list_by_plain_text: dict[str, ProvenanceList] = {}
        self._list_by_full_column: dict[_Column, ProvenanceList] = {}

    def read(self, text: str, has_event: bool, has_string: bool, is_mention: bool) -> ProvenanceList:
        """Return the provenance list of a column such as "D1:3-9;D1:0-20", with its problems.

        A column may have more parts than the justification (see `Parts`). The parts that it needs depend on whether the
        subject or the object is an event (`has_event`), whether the object is a string node (`has_string`), and whether
        the predicate is a mention (`is_mention`).
        """
        # Most columns consist of a correct justification only, and these can be read in a faster way.
        needs_more_parts = has_string or (has_event and not is_mention)
        if not needs_more_parts:
            plain_list = self._list_by_plain_text.get(text) or self._read_plain_column(text)
            if plain_list is not None:
                return plain_list
        column = _Column(text, has_event, has_string, is_mention)
        full_list = self._list_by_full_column.get(column)
        if full_list is None:
            full_list = self._read_parts(column)
            self._list_by_full_column[column] = full_list
        return full_list

    def _read_plain_column(self, text: str) -> ProvenanceList | None:
        """Return the provenance list of a plain column (only a correct justification), or None for any other column.

        The justification may have several spans separated by commas, such as "D1:3-9,D1:12-14". The list is cached for
        later columns with the same text.
        """
        first_place = read_canonical_start(text, self._documents)
        if first_place is None:
            return None
        plain_list = ProvenanceList(
            text=text,
            docid=first_place.docid,
            start=first_place.offset,
            # The text is in canonical form already. Mentions are compared by their places, whole columns by their keys.
            place=text,
            key=text,
            span_count=text.count(",") + 1,  # spans are separated by commas
            kept_parts=None,  # to save memory, `parts` reads the text again when needed
            problems=(),
        )
        self._list_by_plain_text[text] = plain_list
        return plain_list

    def _read_parts(self, column: _Column) -> ProvenanceList:
        """Return the provenance list of a column of any form, such as "D1:3-9;NIL", with its problems."""
        # As in the reference program, the column "0" is treated like an empty one: there is no provenance.
        if column.text in ("", "0"):
            return replace(NO_PROVENANCE, text=column.text)
        part_by_name: dict[str, Provenance] = {}
        for name, text in column.text_by_part_name.items():
            part_by_name[name] = read_provenance(text, _MOST_SPANS_BY_PART[name], self._documents)
        problems = _problems_of_column(column, part_by_name)
        return _make_provenance_list(column.text, Parts(**part_by_name), tuple(problems))


def _problems_of_column(column: _Column, part_by_name: Mapping[str, Provenance]) -> list[SpanProblem]:
    """Return the problems with the number of parts in a provenance column, with each part, and with their documents.

    `part_by_name` has the parts that are present: `{"justification": ...}`. Another possible problem is that a part has
    too many characters.
    """
    problems = column.part_count_problems()
    for name, part in part_by_name.items():
        problems += part.problems
        problems += _length_problems(part, column.text_by_part_name[name])
    problems += _document_problems(column.text, part_by_name.values())
    return problems


def _count_characters(part: Provenance) -> float:
    """Return the number of characters in all spans of a part: 10 for D1:3-5,D1:8-14. Both ends of a span count."""
    lengths = [offset_value(span.end) - offset_value(span.start) + 1 for span in part.spans]
    return sum(lengths)


def _length_problems(part: Provenance, text: str) -> list[SpanProblem]:
    """Return a list with the problem that the spans of a part have too many characters together, or an empty list.

    `text` is the part as written, such as "D1:3-9,D1:12-14".
    """
    if _count_characters(part) <= _MOST_CHARACTERS:
        return []
    return [SpanProblem("TOO_MANY_TOTAL_CHARS", (_MOST_CHARACTERS,), text)]


def _document_problems(text: str, parts: Iterable[Provenance]) -> list[SpanProblem]:
    """Return a list with the problem that the parts of a column are not in one document, or an empty list.

    `text` is the column as written, such as "D1:3-9;D2:0-20".
    """
    docids = {part.docid for part in parts}
    if len(docids) == 1:
        return []
    return [SpanProblem("MULTIPLE_DOCIDS_IN_PROV", arguments=(text,), text=text)]


def _make_provenance_list(text: str, parts: Parts, problems: tuple[SpanProblem, ...]) -> ProvenanceList:
    """Return the provenance list of a column with this text, such as "D1:3-9;NIL", with its parts and problems.

    Its document is that of the first part, or NO_DOCUMENT if all parts are absent.
    """
    justification = parts.justification
    return ProvenanceList(
        text=text,
        docid=parts.docid,
        start=_start_of(justification),
        place=None if justification is None else justification.canonical_text,
        key=parts.key,  # columns with the same key are equal
        span_count=0 if justification is None else len(justification.spans),
        kept_parts=parts,  # not kept for plain columns, which have a justification only
        problems=problems,
    )


def _start_of(justification: Provenance | None) -> float:
    """Return the first offset of the first span of a justification: 3 for D1:3-9; 0 if there is no span."""
    if justification is None or justification.first_span is None:
        return 0
    return offset_value(justification.first_span.start)


def offsets_without_document(part: Provenance | None) -> str:
    """Return the offsets in one part of a provenance, without the document id: `D1:3-9,D1:12-14` -> "3-9,12-14".

    A part has one or more spans. Return "NIL" if the part is absent, and an empty string if it is empty.
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

_order_in_file: Final = attrgetter("predicate.order", "provenance.docid", "provenance.start")
"""Returns the key that sorts the assertions about a node as they are written: by predicate, document and offset."""


class KbNode:
    """An entity, a string or an event.

    * `types`: all types that lines give to the node; these may contradict each other.
    * `type`: the type of the node if lines give it exactly one, otherwise None.
    * `first_line_by_use`: for each way to use the node, such as "as subject that must be a person", the first line
      that does so.
    * `mentions`: the mentions of the node, in the order of recording.
    * `other_assertions`: the other assertions with the node as subject, in the order of recording.
    * `mentioning_docids`: the documents that mention the node by name or description.
    """

    __slots__ = (
        "first_line_by_use",
        "is_event",
        "mentioning_docids",
        "mentions",
        "name",
        "other_assertions",
        "type",
        "types",
    )

    def __init__(self, name: str) -> None:
        """Make a node that has no assertions yet. Its name is, for example, ":Entity_1", ":String_1" or ":Event_1"."""
        self.name = name
        self.is_event = name.startswith(":Event")
        self.type: str | None = None
        self.types: tuple[str, ...] = ()
        # A use is the role of the node in a line, with the types that it may have there.
        self.first_line_by_use: dict[Use, int] = {}
        self.mentions: list[Assertion] = []
        self.other_assertions: list[Assertion] = []
        self.mentioning_docids: set[str] = set()

    @property
    def has_assertions(self) -> bool:
        """True if the node is the subject of an assertion, a mention among them."""
        return bool(self.other_assertions or self.mentions)

    @property
    def type_in_reports(self) -> str:
        """The type of the node in reports and statistics, such as "per".

        A node with several types gives "multiple", a node without a type gives "unknown".
        """
        if self.type is not None:
            return self.type
        return "multiple" if self.types else "unknown"

    def line_in_reports(self, node_type: str | None = None) -> int:
        """Return the number of the line at which reports locate the node.

        This is the first line that declares the type of the node. If no line does, it is the first line whose subject
        is the node or, failing that, the first line whose object is the node. If `node_type` is given, only lines that
        give the node this type are considered.
        """
        roles_and_lines = []
        for use, line in self.first_line_by_use.items():
            if node_type is None or use.single_type == node_type:
                roles_and_lines.append((use.role, line))
        # Roles are numbers in this order: TYPEDEF, SUBJECT, OBJECT.
        _first_role, line_of_first_role = min(roles_and_lines)
        return line_of_first_role


class NodeUse(NamedTuple):
    """The use of a node by a line, with the number of the line."""

    node: KbNode
    use: Use
    line: int


class Assertion(Struct, eq=False):
    """An assertion made by a line of a knowledge base, or inferred from a line.

    `object` is the object as text. If the object is a node, `object_node` is this node; otherwise it is None. `realis`
    says whether an event took place (for example, "actual"), and is None for assertions that are not about events. An
    omitted assertion is checked, but not written.
    """

    subject: KbNode
    predicate: KbPredicate
    realis: str | None
    object: str
    object_node: KbNode | None
    provenance: ProvenanceList
    confidence: str
    line: int
    comment: str = ""
    is_inferred: bool = False
    is_omitted: bool = False

    @property
    def text(self) -> str:
        """The object without its outer quotes: `"Ann"` -> Ann."""
        if not self.predicate.has_text_object:
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
        return f"{self.predicate.name}({self.subject.name}, {self.object})"


class KnowledgeBase(Struct):
    """A knowledge base that has been read from its file.

    `first_line` is the line with the run id. `assertions` are in the order of recording. `rejected` maps each reason
    for rejecting lines to the number of lines rejected. `uses_by_rejected_lines` are the uses of nodes by rejected
    lines; they are checked like all other uses.
    """

    name: str
    run_id: str
    first_line: str
    nodes: dict[str, KbNode] = field(default_factory=dict)
    assertions: list[Assertion] = field(default_factory=list)
    rejected: dict[str, int] = field(default_factory=dict)
    uses_by_rejected_lines: list[NodeUse] = field(default_factory=list)

    def node_uses(self) -> Iterator[NodeUse]:
        """Yield each use of a node by a line: first the uses by assertions, then those by rejected lines.

        A use is the role of the node, such as SUBJECT, together with the types that a node in this role may have.
        """
        for assertion in self.assertions:
            yield NodeUse(assertion.subject, assertion.predicate.subject_use, assertion.line)
            if assertion.object_node is not None:
                yield NodeUse(assertion.object_node, assertion.predicate.object_use, assertion.line)
        yield from self.uses_by_rejected_lines

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
