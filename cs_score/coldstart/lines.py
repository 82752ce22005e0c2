"""The lines of runs and assessments, linked to the queries that they answer. A line answers a query. The answer itself
leads to a follow-on query, which asks about it. A response is a line of a run; a node has the lines about one entity.

Links hold both kinds of queries with their lines. The links of a run build on the links of gold (the queries and the
pool): queries that the links of the run lack are looked up there. Gold itself never changes, so that one gold serves
many runs.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, TypeVar

from cs_score.base.errors import InputError
from cs_score.base.records import Record, Struct, field, force_setattr
from cs_score.coldstart.queries import Query, QuerySet, find_predicate, follow_on_id, parse_query_id
from cs_score.coldstart.tab_files import UnreadLine, document_of
from cs_score.problems.log import Place

# The judgment of an assessor on an answer, which is also the name of its category before any policy.
Judgment: TypeAlias = Literal["CORRECT", "INCORRECT", "INEXACT", "IGNORE", "INEXACT_SHORT", "INEXACT_LONG"]
CORRECT: Final = "CORRECT"

FOLLOW_ON_ID_LENGTH: Final = 12  # characters of the short id of a follow-on query

JUDGMENT_OF_CODE: Final[dict[str, Judgment]] = {
    "C": CORRECT,
    "W": "INCORRECT",
    "X": "INEXACT",
    "I": "IGNORE",
    "S": "INEXACT_SHORT",
    "L": "INEXACT_LONG",
}


class LinkedQuery(Record, eq=False):
    """A query that lines answer: one of a query file, or a follow-on query about an answer to the query `parent`.

    `full_id` is the id that lines name (`CSX_ENG_00fb79cef8_efa464516d81`), `short_id` its last component, `base_id`
    the short id of the query of the first hop. `level` is 0 for the first hop. `slots` are the slots that are still to
    be filled: the first one by answers to this query, the others by answers to its follow-on queries. `known_slot` is
    the first slot, None if the inventory lacks it; `is_single_valued` says whether that slot takes one value.
    `unknown_later_slots` are the other slots that the inventory lacks. `is_ldc` says whether the id has the form of an
    LDC query (`CSX_0001`).
    """

    full_id: str
    short_id: str
    base_id: str
    level: int
    slots: tuple[str, ...]
    known_slot: str | None
    is_single_valued: bool
    unknown_later_slots: tuple[str, ...]
    parent: LinkedQuery | None
    is_ldc: bool = False

    @property
    def is_follow_on(self) -> bool:
        """Whether the query is about an answer to another query, as in the second hop and later hops."""
        return self.level > 0


# The answer of a line: canonical relation provenance, value, canonical value provenance.
Answer: TypeAlias = tuple[str, str, str]


class Judgement(NamedTuple):
    """The judgement on an answer: the assessment that counts, and whether several assessments call it correct."""

    assessment: Assessment
    is_ambiguous: bool

    def with_assessment(self, assessment: Assessment) -> Judgement:
        """Return the judgement on the same answer after a further assessment, which was loaded later, is added.

        The first correct assessment counts. If no assessment is correct, the first one counts.
        """
        if assessment.judgment != CORRECT:
            return self
        if self.assessment.judgment == CORRECT:
            return Judgement(self.assessment, is_ambiguous=True)
        return Judgement(assessment, is_ambiguous=False)


JudgementKey = TypeVar("JudgementKey", bound=Hashable)


def add_judgement(judgement_by_key: dict[JudgementKey, Judgement], key: JudgementKey, assessment: Assessment) -> None:
    """Add an assessment to the judgement that is stored under a key, or store a new judgement under it.

    Answers that count as the same have the same key. Assessments must be added in load order.
    """
    judgement = judgement_by_key.get(key)
    if judgement is None:
        judgement_by_key[key] = Judgement(assessment, is_ambiguous=False)
    else:
        judgement_by_key[key] = judgement.with_assessment(assessment)


class FollowOn(Struct, eq=False, gc=False):  # nothing in it leads back to it: 16 bytes less for each answer
    """The query about one answer, and the assessments of that answer in the pool.

    `id` is the short id of the query. `query` is the query that was answered, or None if a query file defines a query
    with this id. `first_assessment` is the first assessment of the answer, and `accepting_assessment` is the last
    assessment that accepts it. `judgements` has the judgement (the assessment that counts) for each justification of
    the answer, by the query and the answer. It is None if there are fewer than two assessments, as for most answers,
    because a dictionary is not needed for a single assessment.
    """

    id: str
    query: LinkedQuery | None
    accepting_assessment: Assessment | None = None
    first_assessment: Assessment | None = None
    judgements: dict[tuple[LinkedQuery, Answer], Judgement] | None = None

    def copy(self) -> FollowOn:
        """Return a copy to which assessments can be added without changing this object."""
        judgements = None if self.judgements is None else self.judgements.copy()
        return FollowOn(
            id=self.id,
            query=self.query,
            accepting_assessment=self.accepting_assessment,
            first_assessment=self.first_assessment,
            judgements=judgements,
        )

    def add(self, assessment: Assessment) -> None:
        """Add an assessment of the answer that this query is about. Assessments must be added in load order.

        A judgement is the assessment that counts for one justification of the answer. Assessments with the same text
        and value provenance belong to the same follow-on query, even if their relation provenances differ.
        """
        if assessment.is_accepted:
            self.accepting_assessment = assessment
        # Nearly all answers have only one assessment, for which no dictionary is made.
        if self.first_assessment is None:
            self.first_assessment = assessment
            return
        if self.judgements is None:
            self.judgements = {}
            # When the second assessment is added, the first one is also entered in the dictionary.
            first_assessment = self.first_assessment
            add_judgement(self.judgements, (first_assessment.query, first_assessment.answer), first_assessment)
        add_judgement(self.judgements, (assessment.query, assessment.answer), assessment)

    def judgement_of(self, query: LinkedQuery, answer: Answer) -> Judgement | None:
        """Return the judgement on an answer to a query with exactly this justification, or None if it was not assessed.

        For example, the same text may have been judged correct at `ENG_1:10-20`, but not judged at all at `ENG_2:5-15`.
        """
        if self.judgements is not None:
            return self.judgements.get((query, answer))
        # No dictionary is made for a single assessment.
        only_assessment = self.first_assessment
        if only_assessment is None:
            return None
        is_same_answer = only_assessment.query is query and only_assessment.answer == answer
        return Judgement(only_assessment, is_ambiguous=False) if is_same_answer else None


FOLLOW_ON_PLACEHOLDER: Final = FollowOn("", None)
"""The placeholder for the follow-on query of a run line that is validated.

It is replaced as soon as a line of a later hop may name the follow-on query. Making all follow-on queries at once would
take a quarter of the time and of the memory of validation, and most of them are never named.
"""


class AnswerLine:
    """The common part of responses and assessments: a line of a file with a justified answer."""

    __slots__ = ()

    number: int
    file: str

    if TYPE_CHECKING:  # a field of assessments; responses read it from their text

        @property
        def answer(self) -> Answer: ...

    @property
    def relation_provenance(self) -> str:
        """The passage that justifies the relation, in canonical form: `"ENG_1:10-80"`."""
        relation_provenance, _, _ = self.answer
        return relation_provenance

    @property
    def value(self) -> str:
        """The text of the answer: `"Barack Obama"`."""
        _, value, _ = self.answer
        return value

    @property
    def value_provenance(self) -> str:
        """The passage in which the value is found, in canonical form: `"ENG_1:10-21"`."""
        _, _, value_provenance = self.answer
        return value_provenance

    @property
    def docid(self) -> str:
        """The id of the document in which the value is found: `"ENG_1"` (rule document-of-a-line)."""
        _, _, provenance = self.answer
        return document_of(provenance)

    @property
    def place(self) -> Place:
        """The file and the line number, for messages: `Place("run.tab", 12)`."""
        return Place(self.file, self.number)

    def error(self, problem: str, remedy: str) -> InputError:
        """Return an error that names the file and the line."""
        return InputError(problem, file=self.file, place=f"line {self.number}", remedy=remedy)


class Response(Record, AnswerLine, gc=False):  # nothing in it leads back to it: 16 bytes less for each line
    """A line of a run.

    `index` counts the run lines of the whole input from 0 (load order); `number` is the number of the line in its file,
    from 1. `node` is the full node id (`CSX_ENG_00fb79cef8:E1`), or None if the line does not have a node. `follow_on`
    is the query about the answer; it is `FOLLOW_ON_PLACEHOLDER` for some lines of a run that is validated.
    `stored_answer` is the answer if its columns had to be changed to their canonical form, or if an assessment has the
    same answer. It is None for all other lines. To save memory, their answers are read from the text when they are
    needed.
    """

    index: int
    number: int
    text: str
    query: LinkedQuery
    run_id: str
    confidence: float
    node: str | None
    follow_on: FollowOn
    file: str
    stored_answer: Answer | None

    @property
    def follow_on_id(self) -> str:
        """The short id of the query about the answer: `"efa464516d81"`."""
        if self.follow_on is FOLLOW_ON_PLACEHOLDER:
            _, value, provenance = self.answer
            return follow_on_id(self.query.full_id, value, provenance)
        return self.follow_on.id

    @property
    def answer(self) -> Answer:
        """The answer and its justification in canonical form: `("ENG_1:10-80", "Barack Obama", "ENG_1:10-21")`."""
        if self.stored_answer is not None:
            return self.stored_answer
        # The columns before the relation provenance are the query id, the slot and the run id.
        _, _, _, relation_provenance, value, _, value_provenance, _ = self.text.split("\t", 7)
        return relation_provenance, value, value_provenance


class Assessment(Record, AnswerLine):
    """A line of an assessment file.

    `is_accepted` says whether the answer was judged correct or inexact. Only in these cases is `value_class` an
    equivalence class. The mention types of the answer and of its class are None in layouts without mention types.
    `follow_on_id` is the short id of the query about the answer.
    """

    number: int
    text: str
    query: LinkedQuery
    answer: Answer
    judgment: Judgment
    is_accepted: bool
    value_class: str
    value_mention: str | None
    class_mention: str | None
    follow_on_id: str
    file: str


class SkippedLine(NamedTuple):
    """A line that does not count, although its answer created the follow-on query with the short id `follow_on_id`.

    `docid` is the document in which the value was found. `accepted_line_count` is the number of accepted lines of the
    same kind (run lines or assessments) before this line.
    """

    follow_on_id: str
    docid: str
    accepted_line_count: int
    file: str
    number: int
    query: LinkedQuery
    text: str


class Links(Struct, eq=False):
    """The accepted lines of gold or of a run, with the queries that they answer and the queries about their answers.

    The links of a run build on `underlying_links`, usually the links of gold, which are also searched by the methods.
    Lines are in load order. `follow_ons` has the follow-on queries by short id, `queries` has the answered queries by
    full id, and `lines_by_node` has the run lines by full node id. `lines_without_parent` are lines of the second hop
    that come before their parent line or do not have one. `is_in_order` says that every line of a later hop comes after
    the line with the answer that its query is about. `skipped_follow_ons` are the short ids of the queries about
    answers of `skipped_lines`.

    `node_by_follow_on` has the node of the first run line that gives the answer that a follow-on query is about. The
    value is an empty text if the line does not have a node, and None if no line is known to give the answer. The first
    `entered_line_count` run lines have been entered there. `lines_awaiting_follow_on` are the run lines whose follow-on
    queries have not been made yet. `altered_indexes` are the indexes of the run lines that may have to be changed when
    a validated run is written.
    """

    query_set: QuerySet
    underlying_links: Links | None = None
    responses: list[Response] = field(default_factory=list)
    assessments: list[Assessment] = field(default_factory=list)
    lines_by_node: dict[str, Sequence[Response]] = field(default_factory=dict)
    lines_without_parent: list[Response] = field(default_factory=list)
    is_in_order: bool = True
    skipped_lines: list[SkippedLine] = field(default_factory=list)
    unread_lines: list[UnreadLine] = field(default_factory=list)
    node_by_follow_on: dict[str, str | None] = field(default_factory=dict)
    entered_line_count: int = 0
    skipped_follow_ons: set[str] = field(default_factory=set)
    queries: dict[str, LinkedQuery] = field(default_factory=dict)
    follow_ons: dict[str, FollowOn] = field(default_factory=dict)
    lines_awaiting_follow_on: list[Response] = field(default_factory=list)
    altered_indexes: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Drop underlying links that are empty, and reserve the ids of queries that look like follow-on queries.

        Underlying links, such as the links of gold on which the links of a run build, have already reserved these ids.
        Unpickled links already have their follow-on queries.
        """
        underlying_links = self.underlying_links
        if underlying_links is not None and underlying_links.has_no_content:
            self.underlying_links = None
        was_unpickled = bool(self.follow_ons)
        if self.underlying_links is None and not was_unpickled:
            self.follow_ons = _reserved_follow_ons(self.query_set)

    @property
    def has_no_content(self) -> bool:
        """Whether there are no follow-on queries, here or in underlying links, as before a line was loaded."""
        return self.underlying_links is None and not self.follow_ons

    def make_follow_ons(self) -> None:
        """Make the follow-on queries that were postponed when their run lines were loaded, in load order."""
        for response in self.lines_awaiting_follow_on:
            short_id = response.follow_on_id
            follow_on = self.follow_ons.get(short_id)
            if follow_on is None:
                follow_on = FollowOn(short_id, response.query)
                self.follow_ons[short_id] = follow_on
            force_setattr(response, "follow_on", follow_on)  # responses are frozen for all other code
        self.lines_awaiting_follow_on.clear()

    def find_follow_on(self, short_id: str) -> FollowOn | None:
        """Return the follow-on query with this short id, or None if no line gives the answer that it is about.

        The query is also searched for in the underlying links: for the links of a run, these are the links of gold.
        """
        if self.lines_awaiting_follow_on:
            self.make_follow_ons()
        follow_on = self.follow_ons.get(short_id)
        if follow_on is None and self.underlying_links is not None:
            return self.underlying_links.find_follow_on(short_id)
        return follow_on

    def find_query(self, full_id: str) -> LinkedQuery | None:
        """Return the query with this full id, or None if no line has named it yet, here or in the underlying links."""
        query = self.queries.get(full_id)
        if query is None and self.underlying_links is not None:
            return self.underlying_links.find_query(full_id)
        return query

    def was_answer_skipped(self, follow_on_id: str) -> bool:
        """Return whether a skipped line gives the answer that a follow-on query is about.

        The skipped lines of the underlying links are also considered: for the links of a run, these are the lines of
        gold.
        """
        if follow_on_id in self.skipped_follow_ons:
            return True
        return self.underlying_links is not None and self.underlying_links.was_answer_skipped(follow_on_id)

    def parent_node_of_query(self, short_id: str) -> str | None:
        """Return the node of the first run line that gives the answer that a follow-on query is about.

        An example is `CSX_ENG_00fb79cef8:E1`. The result is an empty text if that line has no node, and None if no run
        line gives the answer. Lines of the underlying links are not considered.
        """
        if self.lines_awaiting_follow_on:
            self.make_follow_ons()
        self._enter_nodes()  # into `node_by_follow_on`
        return self.node_by_follow_on.get(short_id)

    def _enter_nodes(self) -> None:
        """Enter the nodes of all run lines that were added since the last call into `node_by_follow_on`.

        This is done only when a node is looked up. Runs without lines of the second hop thus save a dictionary that
        takes 40 bytes per line.
        """
        while self.entered_line_count < len(self.responses):
            response = self.responses[self.entered_line_count]
            self.entered_line_count += 1
            has_next_hop = len(response.query.slots) > 1
            if has_next_hop:
                # The first line with an answer decides, so an earlier entry is kept.
                self.node_by_follow_on.setdefault(response.follow_on_id, response.node or "")

    def _has_parent_line(self, short_id: str) -> bool:
        """Return whether a run line, here or in the underlying links, gives the answer that a query is about."""
        node = self.parent_node_of_query(short_id)
        # An entry of None means that the lines with the answer were removed, so no further look-up is needed.
        is_entered_here = short_id in self.node_by_follow_on
        if is_entered_here or self.underlying_links is None:
            return node is not None
        return self.underlying_links._has_parent_line(short_id)

    def linked_query_of(self, query: Query) -> LinkedQuery:
        """Return the linked query for a query of the query files; lines of the first hop answer it.

        If lines have been linked to the query, this is the object that they share. Otherwise it is a new one.
        """
        linked_query = self.find_query(query.full_id)
        if linked_query is not None:
            return linked_query
        parts = parse_query_id(query.full_id)
        is_ldc = parts is not None and not parts.is_slot_filling
        slot_facts = _look_up_slots(query.requested_slots)
        return LinkedQuery(
            full_id=query.full_id,
            short_id=query.short_id,
            base_id=query.base_id,
            level=0,
            slots=query.requested_slots,
            known_slot=slot_facts.known_slot,
            is_single_valued=slot_facts.is_single_valued,
            unknown_later_slots=slot_facts.unknown_later_slots,
            parent=None,
            is_ldc=is_ldc,
        )

    def class_of_query(self, query: LinkedQuery) -> str:
        """Return the name under which the tree of equivalence classes lists the answers to a query (rule ground-truth).

        For a query of the first hop, the name is its full id: `CSX_ENG_00fb79cef8`. For a follow-on query, the name is
        the equivalence class of the answer that the query is about: `CSX_ENG_00fb79cef8:1`, or `CSX_ENG_00fb79cef8:0`
        if that answer was not accepted. Raises InputError if only skipped lines give that answer.
        """
        if query.parent is None:  # a query of the first hop
            return query.full_id
        follow_on = self.find_follow_on(query.short_id)
        if follow_on is not None and follow_on.accepting_assessment is not None:
            return follow_on.accepting_assessment.value_class
        is_unassessed = follow_on is not None and follow_on.first_assessment is None
        if is_unassessed and self._was_only_skipped(query.short_id):
            raise _error_of_query_without_class(query)
        # The answer was not accepted, so it is in the wrong bin below the class of the query that it answers.
        class_of_parent = self.class_of_query(query.parent)
        return f"{class_of_parent}:0"

    def _was_only_skipped(self, short_id: str) -> bool:
        """Return whether the answer of a follow-on query is given by skipped lines, and by no other line."""
        return self.was_answer_skipped(short_id) and not self._has_parent_line(short_id)

    def is_about_accepted_answer(self, query: LinkedQuery) -> bool:
        """Return whether the answer that a query is about was judged correct or inexact.

        For a query of the first hop, which is about no answer, the result is True.
        """
        if query.level == 0:
            return True
        follow_on = self.find_follow_on(query.short_id)
        return follow_on is not None and follow_on.accepting_assessment is not None


def _reserved_follow_ons(query_set: QuerySet) -> dict[str, FollowOn]:
    """Return placeholders for follow-on queries, by the short ids that queries of the query files have taken.

    A query of a query file may have a short id of twelve characters, like a follow-on query. With its id reserved, no
    answer can create another query with this id.
    """
    reserved_ids = [short_id for short_id in query_set.by_id if len(short_id) == FOLLOW_ON_ID_LENGTH]
    return {short_id: FollowOn(short_id, None) for short_id in reserved_ids}


def _error_of_query_without_class(query: LinkedQuery) -> InputError:
    """Return the error for a follow-on query that has no class because all of its parent lines were skipped.

    The parent lines give the answer that the query is about.
    """
    return InputError(
        "queryid undefined in QuerySet->get()",
        place=f"query {query.full_id}",
        remedy="its lines answer a follow-on query whose only parent line was skipped (wrong slot or an empty column); "
        "correct or remove the parent line",
    )


def link_follow_on(parent: LinkedQuery, short_id: str) -> LinkedQuery:
    """Return the follow-on query of this short id, which is about an answer to `parent`.

    Its full id is the id of `parent` followed by the short id: `CSX_ENG_00fb79cef8_efa464516d81`.
    """
    slots = parent.slots[1:]
    slot_facts = _look_up_slots(slots)
    return LinkedQuery(
        full_id=f"{parent.full_id}_{short_id}",
        short_id=short_id,
        base_id=parent.base_id,
        level=parent.level + 1,
        slots=slots,
        known_slot=slot_facts.known_slot,
        is_single_valued=slot_facts.is_single_valued,
        unknown_later_slots=slot_facts.unknown_later_slots,
        parent=parent,
    )


class _SlotFacts(NamedTuple):
    """The facts of the inventory about the slots of a query, for the fields of `LinkedQuery`.

    `known_slot` is the first slot if the inventory has it, `is_single_valued` says whether that slot takes one value,
    and `unknown_later_slots` are the other slots that the inventory lacks.
    """

    known_slot: str | None
    is_single_valued: bool
    unknown_later_slots: tuple[str, ...]


@functools.lru_cache(maxsize=4096)
def _look_up_slots(slots: tuple[str, ...]) -> _SlotFacts:
    """Return the facts of the inventory about the slots of a query, such as `("per:children", "per:age")`.

    Answers to the query fill the first slot. Answers to its follow-on queries fill the other slots.
    """
    unknown_later_slots = tuple([slot for slot in slots[1:] if find_predicate(slot) is None])
    first_slot = slots[0] if slots else None
    predicate = None if first_slot is None else find_predicate(first_slot)
    if predicate is None:
        return _SlotFacts(known_slot=None, is_single_valued=False, unknown_later_slots=unknown_later_slots)
    return _SlotFacts(
        known_slot=first_slot, is_single_valued=predicate.is_single_valued, unknown_later_slots=unknown_later_slots
    )


def load_order(line: Response) -> tuple[int, int]:
    """Return the sort key of a run line: its number in its file, then its index among all run lines."""
    return line.number, line.index


def sum_from_left(values: Iterable[float]) -> float:
    """Return the sum of the values, added from left to right in double precision, as in the reference scorer.

    Since Python 3.12 the built-in `sum` compensates for rounding errors, so that its last digits may differ.
    """
    total = 0.0
    for value in values:
        total += value
    return total


def sort_by_confidence(lines: Iterable[Response]) -> list[Response]:
    """Return run lines sorted by descending confidence, and lines of equal confidence by line number.

    Lines of different files with the same confidence and line number keep their order.
    """
    return sorted(lines, key=lambda line: (-line.confidence, line.number))


def best_lines(lines: Sequence[Response], most_lines: int | None) -> Sequence[Response]:
    """Return the lines of the highest confidence, at most `most_lines` of them, or all lines if it is None.

    The lines keep their order if all of them are returned; otherwise they are sorted as by `sort_by_confidence`.
    """
    if most_lines is None or len(lines) <= most_lines:
        return lines
    return sort_by_confidence(lines)[:most_lines]


def node_confidence(confidences: Sequence[float], most_justifications: int | None) -> float:
    """Return the confidence of a node from the confidences of its lines (rule node-confidence).

    The result is a weighted mean in which the i-th best confidence has the weight 1/i. Only the best
    `most_justifications` confidences count, or all of them if it is None. The sum is divided by the weights of
    `most_justifications` lines, even if the node has fewer. If it is 3, the confidences 0.9 and 0.8 give
    (0.9 + 0.8/2) / (1 + 1/2 + 1/3) = 0.7091.
    """
    if not confidences:
        return 0.0
    weighted_count = len(confidences) if most_justifications is None else most_justifications
    sum_of_weights = _sum_of_weights(weighted_count)
    if len(confidences) == 1:  # as most nodes have: this saves the sorting
        return confidences[0] / sum_of_weights
    best_confidences = sorted(confidences, reverse=True)[:most_justifications]
    weighted_confidences = [confidence / rank for rank, confidence in enumerate(best_confidences, 1)]
    return sum_from_left(weighted_confidences) / sum_of_weights


@functools.cache
def _sum_of_weights(line_count: int) -> float:
    """Return the sum of the weights of `line_count` lines of a node: 1/1 + 1/2 + 1/3 for three lines."""
    return sum_from_left(1 / rank for rank in range(1, line_count + 1))
