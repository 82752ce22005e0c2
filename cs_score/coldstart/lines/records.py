"""The rows of runs and assessments once they are linked to queries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from cs_score.base.records import Record, Struct
from cs_score.coldstart.lines.provenance import document_of
from cs_score.problems.log import Place

Judgment: TypeAlias = Literal["CORRECT", "INCORRECT", "INEXACT", "IGNORE", "INEXACT_SHORT", "INEXACT_LONG"]
"""What an assessor said of an answer; also the name of its category before any policy (specification 4.8)."""

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
    """A query that lines answer: one of the query files, or a follow-on query asked about an answer.

    `slots` are the slots still to be filled, the first being the one that answers must have (there is none after the
    last hop); `known_slot` is the first of them where the inventory has it, and `single` tells whether it takes one
    value. `parent` is the query whose answer this one asks about. `is_ldc` marks an id of the LDC form, whose answers
    have no follow-on id that could be parsed. `unknown_next` are the slots after the first that the inventory lacks.
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


Answer: TypeAlias = tuple[str, str, str]
"""What a line answers: canonical relation provenance, value, canonical value provenance."""


class Judgement(NamedTuple):
    """Of the assessments of one answer the one that counts, and whether several of them are correct."""

    assessment: Assessment
    is_ambiguous: bool

    def and_also(self, assessment: Assessment) -> Judgement:
        """With one more assessment, in load order: the first correct one counts, or the first of all."""
        if assessment.judgment != CORRECT:
            return self
        was_correct = self.assessment.judgment == CORRECT
        return Judgement(self.assessment if was_correct else assessment, was_correct)


class FollowOn(Struct, eq=False):
    """What is known of the query that asks about one answer, by its short id.

    `query` is the query that was answered; None where a query file defines a query of this id, whose place no answer
    takes. `assessment` is the first assessment that leads here; `judgements` are those of all, by query and answer,
    where there are several (they differ in their relation provenance). `accepting` is the last accepted assessment
    (specification 4.8). What runs add, which may differ from run to run, stands in their `Links`.
    """

    id: str
    query: LinkedQuery | None
    accepting: Assessment | None = None
    assessment: Assessment | None = None
    judgements: dict[tuple[LinkedQuery, Answer], Judgement] | None = None

    def copy(self) -> FollowOn:
        """The same for another layer of lines, to which assessments are added."""
        judgements = None if self.judgements is None else self.judgements.copy()
        return FollowOn(self.id, self.query, self.accepting, self.assessment, judgements)

    def add(self, assessment: Assessment) -> None:
        """Take in an assessment, in load order."""
        if assessment.is_accepted:
            self.accepting = assessment
        if self.assessment is None:
            self.assessment = assessment
            return
        if self.judgements is None:
            self.judgements = {(self.assessment.query, self.assessment.answer): Judgement(self.assessment, False)}
        key = assessment.query, assessment.answer
        known = self.judgements.get(key)
        self.judgements[key] = Judgement(assessment, False) if known is None else known.and_also(assessment)

    def judgement_of(self, query: LinkedQuery, answer: Answer) -> Judgement | None:
        """How the answer to a query was judged with just this justification, None where it was not."""
        if self.judgements is not None:
            return self.judgements.get((query, answer))
        first = self.assessment
        return Judgement(first, False) if first and first.query is query and first.answer == answer else None


class AnswerLine:
    """Columns common to responses and assessments."""

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
        """The text that answers the query."""
        return self.answer[1]

    @property
    def provenance(self) -> str:
        """The canonical value provenance."""
        return self.answer[2]

    @property
    def place(self) -> Place:
        """File and line number."""
        return Place(self.file, self.number)


class Response(Record, AnswerLine):
    """A line of a run.

    `index` counts the run lines of the whole input from 0 (load order); `node` is the fully qualified node id, None in
    layouts without node ids; `follow_on` is the query that asks about this answer; `docid` is the document of the value
    provenance. `kept` is the answer where its columns had to be brought into canonical form, or where an
    assessment is known to hold it. For most lines it is None and the answer is read from the text: runs are long, and
    few answers are asked for more than once.
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
    docid: str
    kept: Answer | None

    @property
    def target(self) -> str:
        """Short id of the query that asks about this answer."""
        return self.follow_on.id

    @property
    def answer(self) -> Answer:
        """Relation provenance, value and value provenance as they count."""
        if self.kept is not None:
            return self.kept
        _, _, _, relation, value, _, provenance, _ = self.text.split("\t", 7)
        return relation, value, provenance

    @property
    def target_full_id(self) -> str:
        """Full id of the query that asks about this answer."""
        return f"{self.query.full_id}_{self.follow_on.id}"


class SkippedLine(NamedTuple):
    """A line that was not accepted though its answer created a follow-on query.

    `target` is that query's short id, `docid` the document of the value provenance, `before` the number of lines of
    its kind that had been accepted by then. `query` is the query that it answers.
    """

    target: str
    docid: str
    before: int
    file: str
    number: int
    query: LinkedQuery
    text: str


class UnreadLine(NamedTuple):
    """A line that nothing is taken from: blank, a comment, a repetition, or of another number of columns."""

    file: str
    number: int
    text: str


class Assessment(Record, AnswerLine):
    """A line of an assessment file.

    `is_accepted` tells whether the answer was judged correct or inexact. Exactly those have an equivalence class, which
    is `value_class`; of others it is `0` or empty. The mention types are None in layouts without them. `target` is the
    short id of the query that asks about this answer. Other fields as in `Response`.
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

    @property
    def docid(self) -> str:
        """The document of the value provenance (specification 14, rule 5)."""
        return document_of(self.answer[2])
