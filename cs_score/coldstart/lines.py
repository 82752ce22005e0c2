"""The lines of runs and assessments once they are linked to the queries that they answer.

The links of a run lie over those of gold: what they lack is looked up there, and gold stays as it is, so that one gold
serves many runs.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import Record, Struct, field, force_setattr
from cs_score.coldstart.queries import Query, QuerySet, find_predicate, follow_on_id, parse_query_id
from cs_score.coldstart.tab_files import UnreadLine, document_of
from cs_score.problems.log import Place

# What an assessor said of an answer; also the name of its category before any policy.
Judgment: TypeAlias = Literal["CORRECT", "INCORRECT", "INEXACT", "IGNORE", "INEXACT_SHORT", "INEXACT_LONG"]
CORRECT: Final = "CORRECT"

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
    the short id of the query of the first hop. `level` is 0 for the first hop. `slots` are those still to be filled:
    the first one by answers to this query, the others by answers to its follow-on queries. `known_slot` is the first
    slot, None if the inventory lacks it; `single` says whether it takes one value. `unknown_next` are the later slots
    that the inventory lacks. `is_ldc` says whether the id has the form of an LDC query (`CSX_0001`).
    """

    full_id: str
    short_id: str
    base_id: str
    level: int
    slots: tuple[str, ...]
    known_slot: str | None
    single: bool
    unknown_next: tuple[str, ...]
    parent: LinkedQuery | None
    is_ldc: bool = False


# What a line answers: canonical relation provenance, value, canonical value provenance.
Answer: TypeAlias = tuple[str, str, str]


class Judgement(NamedTuple):
    """How an answer was judged: the assessment that counts, and whether several assessments of it are correct."""

    assessment: Assessment
    is_ambiguous: bool

    def and_also(self, assessment: Assessment) -> Judgement:
        """Return the judgement with one more assessment, a later one in load order.

        The first correct assessment counts, or the first of all if none is correct.
        """
        if assessment.judgment != CORRECT:
            return self
        if self.assessment.judgment == CORRECT:
            return Judgement(self.assessment, is_ambiguous=True)
        return Judgement(assessment, is_ambiguous=False)


class FollowOn(Struct, eq=False, gc=False):  # nothing in it leads back to it: 16 bytes less for each answer
    """The query about one answer, and the assessments of that answer; runs add nothing here.

    `id` is its short id. `query` is the query that was answered, None where a query file defines a query of this id.
    `assessment` is the first assessment of the answer, `accepting` the last one that accepts it. `judgements` are there
    if there are several assessments: how the answer was judged, by query and justified answer.
    """

    id: str
    query: LinkedQuery | None
    accepting: Assessment | None = None
    assessment: Assessment | None = None
    judgements: dict[tuple[LinkedQuery, Answer], Judgement] | None = None

    def copy(self) -> FollowOn:
        """Return a copy to which assessments can be added without changing this object."""
        judgements = None if self.judgements is None else self.judgements.copy()
        return FollowOn(self.id, self.query, self.accepting, self.assessment, judgements)

    def add(self, assessment: Assessment) -> None:
        """Add an assessment of the answer, in load order."""
        if assessment.is_accepted:
            self.accepting = assessment
        if self.assessment is None:
            self.assessment = assessment
            return
        if self.judgements is None:
            first_key = (self.assessment.query, self.assessment.answer)
            self.judgements = {first_key: Judgement(self.assessment, is_ambiguous=False)}
        key = (assessment.query, assessment.answer)
        judgement = self.judgements.get(key)
        if judgement is None:
            self.judgements[key] = Judgement(assessment, is_ambiguous=False)
        else:
            self.judgements[key] = judgement.and_also(assessment)

    def judgement_of(self, query: LinkedQuery, answer: Answer) -> Judgement | None:
        """Return how the answer to a query was judged with exactly this justification, None if it was not."""
        if self.judgements is not None:
            return self.judgements.get((query, answer))
        assessment = self.assessment
        if assessment is None or assessment.query is not query or assessment.answer != answer:
            return None
        return Judgement(assessment, is_ambiguous=False)


NOT_YET_MADE: Final = FollowOn("", None)
"""Stands for the follow-on query of a run line that is validated, until a line of a later hop may ask for it.

Making it takes a quarter of the time and of the memory of validation, and most lines are never asked about.
"""


class AnswerLine:
    """What responses and assessments have in common: a line of a file with a justified answer."""

    __slots__ = ()

    number: int
    file: str

    if TYPE_CHECKING:  # a field of assessments; runs read it from the text

        @property
        def answer(self) -> Answer: ...

    @property
    def relation(self) -> str:
        """The canonical relation provenance."""
        return self.answer[0]

    @property
    def value(self) -> str:
        """The text of the answer."""
        return self.answer[1]

    @property
    def provenance(self) -> str:
        """The canonical value provenance."""
        return self.answer[2]

    @property
    def docid(self) -> str:
        """The document of the value provenance (rule document-of-a-line)."""
        return document_of(self.answer[2])

    @property
    def place(self) -> Place:
        """The file and the number of the line."""
        return Place(self.file, self.number)

    def error(self, problem: str, remedy: str) -> InputError:
        """Return an error that names the file and the line."""
        return InputError(problem, file=self.file, place=f"line {self.number}", remedy=remedy)


class Response(Record, AnswerLine, gc=False):  # nothing in it leads back to it: 16 bytes less for each line
    """A line of a run.

    `index` counts the run lines of the whole input from 0 (load order); `number` is that in its file. `node` is the FQ
    node id (`CSX_ENG_00fb79cef8:E1`), None without node ids. `follow_on` is the query about the answer; some lines of a
    run that is validated have `NOT_YET_MADE` there. `stored_answer` is the answer where its columns are not canonical
    as they stand, or an assessment holds it; otherwise it is read from the text when it is needed, which saves much
    memory.
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
    def target(self) -> str:
        """The short id of the query about the answer."""
        if self.follow_on is NOT_YET_MADE:
            _, value, provenance = self.answer
            return follow_on_id(self.query.full_id, value, provenance)
        return self.follow_on.id

    @property
    def answer(self) -> Answer:
        """The answer with its justification, in canonical form."""
        if self.stored_answer is not None:
            return self.stored_answer
        _, _, _, relation, value, _, provenance, _ = self.text.split("\t", 7)
        return relation, value, provenance


class Assessment(Record, AnswerLine):
    """A line of an assessment file.

    `is_accepted` says whether the answer was judged correct or inexact; exactly such lines have an equivalence class as
    `value_class`. The mention types of the answer and of its class are None in layouts without them. `target` is the
    short id of the query about the answer.
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
    target: str
    file: str


class SkippedLine(NamedTuple):
    """A line that was not accepted, although its answer created the follow-on query `target`.

    `docid` is the document of its value provenance, `before` the number of lines of its kind accepted before it.
    """

    target: str
    docid: str
    before: int
    file: str
    number: int
    query: LinkedQuery
    text: str


class Links(Struct, eq=False):
    """The accepted lines of gold, or of a run over gold, and the queries that they answer and lead to.

    The methods also look at `below`, the links of gold. Lines are in load order, `follow_ons` by short id, `queries` by
    full id, the run lines of `nodes` by FQ node id. `without_parent` are lines of the second hop that no parent line
    precedes; `is_in_order` says that no line of a later hop precedes the line whose answer it asks about.
    `skipped_follow_ons` are the follow-on queries that `skipped` lines lead to.

    `node_by_follow_on` has the node of the first run line that gives the answer to be asked about: empty if the line
    has no node, None if no line is known to give it. The first `lines_looked_at` run lines were entered there.
    `waiting` are the run lines whose follow-on queries are not yet made. `altered` are indexes of run lines, among them
    all that a validated run writes in another way than they were read.
    """

    table: QuerySet
    below: Links | None = None
    responses: list[Response] = field(default_factory=list)
    assessments: list[Assessment] = field(default_factory=list)
    nodes: dict[str, Sequence[Response]] = field(default_factory=dict)
    without_parent: list[Response] = field(default_factory=list)
    is_in_order: bool = True
    skipped: list[SkippedLine] = field(default_factory=list)
    unread: list[UnreadLine] = field(default_factory=list)
    node_by_follow_on: dict[str, str | None] = field(default_factory=dict)
    lines_looked_at: int = 0
    skipped_follow_ons: set[str] = field(default_factory=set)
    queries: dict[str, LinkedQuery] = field(default_factory=dict)
    follow_ons: dict[str, FollowOn] = field(default_factory=dict)
    waiting: list[Response] = field(default_factory=list)
    altered: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        if self.below is not None and not self.below.follow_ons and self.below.below is None:
            self.below = None  # nothing to look up there
        if self.below is None and not self.follow_ons:  # links that were pickled have them
            # Queries of query files whose ids look like those of follow-on queries: no answer takes their place.
            self.follow_ons = {name: FollowOn(name, None) for name in self.table.by_id if len(name) == 12}

    def make_follow_ons(self) -> None:
        """Make the follow-on queries of the lines that wait for theirs, in load order."""
        for response in self.waiting:
            target = response.target
            follow_on = self.follow_ons.get(target)
            if follow_on is None:
                follow_on = FollowOn(target, response.query)
                self.follow_ons[target] = follow_on
            force_setattr(response, "follow_on", follow_on)
        self.waiting.clear()

    def follow_on(self, short_id: str) -> FollowOn | None:
        """Return the follow-on query of this short id, None if no line leads to it."""
        if self.waiting:
            self.make_follow_ons()
        follow_on = self.follow_ons.get(short_id)
        if follow_on is None and self.below is not None:
            return self.below.follow_on(short_id)
        return follow_on

    def query(self, full_id: str) -> LinkedQuery | None:
        """Return the query of this full id, None if no line has named it yet."""
        query = self.queries.get(full_id)
        if query is None and self.below is not None:
            return self.below.query(full_id)
        return query

    def was_skipped(self, short_id: str) -> bool:
        """Return whether a line that was not accepted gives the answer which a follow-on query asks about."""
        if short_id in self.skipped_follow_ons:
            return True
        return self.below is not None and self.below.was_skipped(short_id)

    def node_giving(self, short_id: str) -> str | None:
        """Return the node of the first run line of this layer with the answer that a follow-on query asks about.

        It is empty for a line without node, None where no line gives the answer. Lines are entered when somebody asks:
        without lines of a second hop nobody does, and the dictionary would take 40 bytes for each line.
        """
        if self.waiting:
            self.make_follow_ons()
        while self.lines_looked_at < len(self.responses):
            response = self.responses[self.lines_looked_at]
            self.lines_looked_at += 1
            if len(response.query.slots) > 1:
                self.node_by_follow_on.setdefault(response.target, response.node or "")
        return self.node_by_follow_on.get(short_id)

    def _has_line_giving(self, short_id: str) -> bool:
        """Return whether a run line of this layer or below gives the answer that a follow-on query asks about."""
        node = self.node_giving(short_id)
        if short_id in self.node_by_follow_on or self.below is None:
            return node is not None
        return self.below._has_line_giving(short_id)

    def root(self, query: Query) -> LinkedQuery:
        """Return a query of the query table as lines of the first hop answer it."""
        linked_query = self.query(query.full_id)
        if linked_query is not None:
            return linked_query
        parts = parse_query_id(query.full_id)
        about = _about_slots(query.requested_slots)
        return LinkedQuery(
            full_id=query.full_id,
            short_id=query.short_id,
            base_id=query.base_id,
            level=0,
            slots=query.requested_slots,
            known_slot=about.known_slot,
            single=about.single,
            unknown_next=about.unknown_next,
            parent=None,
            is_ldc=parts is not None and not parts.expanded,
        )

    def class_of_query(self, query: LinkedQuery) -> str:
        """Return the class below which the answers to a query belong (rule ground-truth).

        Answers to the query itself belong below its full id, answers to a follow-on query below the equivalence class
        of the answer it asks about: `CSX_ENG_00fb79cef8:1`, or `CSX_ENG_00fb79cef8:0` if that was not accepted. Raises
        InputError where no accepted line leads to the query.
        """
        if query.parent is None:
            return query.full_id
        follow_on = self.follow_on(query.short_id)
        if follow_on is not None:
            if follow_on.accepting is not None:
                return follow_on.accepting.value_class
            if follow_on.assessment is None and self._was_only_skipped(query.short_id):
                raise InputError(
                    "queryid undefined in QuerySet->get()",
                    place=f"query {query.full_id}",
                    remedy="its lines answer a follow-on query whose only parent line was skipped (wrong slot or an "
                    "empty column); correct or remove the parent line",
                )
        return f"{self.class_of_query(query.parent)}:0"

    def _was_only_skipped(self, short_id: str) -> bool:
        """Return whether only lines that were not accepted give the answer which a follow-on query asks about."""
        return self.was_skipped(short_id) and not self._has_line_giving(short_id)

    def is_accepted(self, query: LinkedQuery) -> bool:
        """Return whether the answer that a query asks about was judged correct or inexact; true of the first hop."""
        if not query.level:
            return True
        follow_on = self.follow_on(query.short_id)
        return follow_on is not None and follow_on.accepting is not None


def link_follow_on(parent: LinkedQuery, short_id: str) -> LinkedQuery:
    """Return the query about an answer to `parent`, as lines of the next hop answer it."""
    slots = parent.slots[1:]
    about = _about_slots(slots)
    return LinkedQuery(
        full_id=f"{parent.full_id}_{short_id}",
        short_id=short_id,
        base_id=parent.base_id,
        level=parent.level + 1,
        slots=slots,
        known_slot=about.known_slot,
        single=about.single,
        unknown_next=about.unknown_next,
        parent=parent,
    )


class _SlotFacts(NamedTuple):
    """The entries of the inventory on the slots of a query, as fields of `LinkedQuery`."""

    known_slot: str | None
    single: bool
    unknown_next: tuple[str, ...]


@functools.lru_cache(maxsize=4096)
def _about_slots(slots: tuple[str, ...]) -> _SlotFacts:
    """Look up the slots that are still to be filled in the inventory."""
    unknown_next = tuple(slot for slot in slots[1:] if find_predicate(slot) is None)
    predicate = find_predicate(slots[0]) if slots else None
    if predicate is None:
        return _SlotFacts(None, False, unknown_next)
    return _SlotFacts(slots[0], predicate.single, unknown_next)


def load_order(line: Response) -> tuple[int, int]:
    """Return the sort key of run lines by line number, then by load order."""
    return line.number, line.index


def left_sum(values: Iterable[float]) -> float:
    """Return the sum from left to right in double precision, as the reference adds up.

    Python's `sum` compensates for rounding since 3.12, and gives other last digits.
    """
    total = 0.0
    for value in values:
        total += value
    return total


def best_first(lines: Iterable[Response]) -> list[Response]:
    """Return run lines by confidence, the highest first; of equal ones by line number, then in load order."""
    return sorted(lines, key=lambda line: (-line.confidence, line.number))


def node_confidence(confidences: Sequence[float], most: int | None) -> float:
    """Return the confidence of a node from the confidences of its lines (rule node-confidence).

    The i-th best confidence weighs 1/i, and the `most` best count (None: all). The sum is divided by the weights of
    `most` lines, also where the node has fewer: 0.9 and 0.8 with 3 give (0.9 + 0.8/2) / (1 + 1/2 + 1/3) = 0.7091.
    """
    if not confidences:
        return 0.0
    weights = _sum_of_weights(len(confidences) if most is None else most)
    if len(confidences) == 1:
        return confidences[0] / weights
    numerator = 0.0
    for rank, confidence in enumerate(sorted(confidences, reverse=True)[:most], 1):
        numerator += confidence / rank
    return numerator / weights


@functools.cache
def _sum_of_weights(lines: int) -> float:
    """Return the sum of the weights 1/1, 1/2, 1/3, ... of so many lines."""
    return left_sum(1 / rank for rank in range(1, lines + 1))
