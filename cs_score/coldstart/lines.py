"""The lines of runs and assessments once they are linked to queries; the limits that run lines are held to.

The links of a run lie over those of the gold standard: they look things up there and leave it as it is, so that one
gold standard serves many runs. What is beyond the limits is reported; in the scorer it changes no score
(rule limits), the validators write the other lines only.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import Record, Struct, field, force_setattr
from cs_score.coldstart.options import Justifications
from cs_score.coldstart.queries import Query, QuerySet, find_predicate, follow_on_id, parse_query_id
from cs_score.coldstart.tab_files import UnreadLine, document_of
from cs_score.problems.log import Place, ProblemLog

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
    """A query that lines answer: one of the query files, or a follow-on query about the answer to its `parent`. `slots`
    are those still to be filled, its answers' own first: that is the `known_slot` where the inventory has it, and
    `single` if it takes one value; the inventory lacks the `unknown_next`. `is_ldc`: the id has the LDC form.
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
    """Of the assessments of one answer the one that counts, and whether several of them are correct."""

    assessment: Assessment
    is_ambiguous: bool

    def and_also(self, assessment: Assessment) -> Judgement:
        """With one more assessment, in load order: the first correct one counts, or the first of all."""
        if assessment.judgment != CORRECT:
            return self
        was_correct = self.assessment.judgment == CORRECT
        return Judgement(self.assessment if was_correct else assessment, was_correct)


class FollowOn(Struct, eq=False, gc=False):  # nothing in it leads back to it: 16 bytes less for each answer
    """The query about one answer, by its short id, and the assessments of that answer; runs add nothing here. `query`
    is the one that was answered, None where a query file defines a query of this id. `assessment` is the first one,
    `accepting` the last accepted one; `judgements` by query and answer are there if there are several assessments.
    """

    id: str
    query: LinkedQuery | None
    accepting: Assessment | None = None
    assessment: Assessment | None = None
    judgements: dict[tuple[LinkedQuery, Answer], Judgement] | None = None

    def copy(self) -> FollowOn:
        judgements = None if self.judgements is None else self.judgements.copy()
        return FollowOn(self.id, self.query, self.accepting, self.assessment, judgements)

    def add(self, assessment: Assessment) -> None:
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
        """How the answer to a query was judged with just this justification."""
        if self.judgements is not None:
            return self.judgements.get((query, answer))
        first = self.assessment
        return Judgement(first, False) if first and first.query is query and first.answer == answer else None


NOT_YET_MADE: Final = FollowOn("", None)
"""Stands for the follow-on query of a run line that is validated, until a line of a later hop may ask for it.

Making it takes a quarter of the time and of the memory of validation, and most lines are never asked about.
"""


class AnswerLine:
    __slots__ = ()

    number: int
    file: str

    if TYPE_CHECKING:  # a field of assessments; runs read it from the text

        @property
        def answer(self) -> Answer: ...

    @property
    def relation(self) -> str:
        return self.answer[0]

    @property
    def value(self) -> str:
        return self.answer[1]

    @property
    def provenance(self) -> str:
        return self.answer[2]

    @property
    def docid(self) -> str:
        """Return the document of the value provenance (docs/background/ties.md, 5)."""
        return document_of(self.answer[2])

    @property
    def place(self) -> Place:
        return Place(self.file, self.number)

    def error(self, problem: str, remedy: str) -> InputError:
        return InputError(problem, file=self.file, place=f"line {self.number}", remedy=remedy)


class Response(Record, AnswerLine, gc=False):  # nothing in it leads back to it: 16 bytes less for each line
    """A line of a run. `index` counts the run lines of the whole input from 0 (load order); `node` is the FQ node id,
    None without node ids. `follow_on` is `NOT_YET_MADE` for some lines of a run that is validated. `kept` is the answer
    where its columns are not canonical as they stand, or an assessment holds it; otherwise it is read from the text
    when asked for, which saves much memory.
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
    kept: Answer | None

    @property
    def target(self) -> str:
        """Return the short id of the query about the answer."""
        if self.follow_on is NOT_YET_MADE:
            _, value, provenance = self.answer
            return follow_on_id(self.query.full_id, value, provenance)
        return self.follow_on.id

    @property
    def answer(self) -> Answer:
        if self.kept is not None:
            return self.kept
        _, _, _, relation, value, _, provenance, _ = self.text.split("\t", 7)
        return relation, value, provenance


class Assessment(Record, AnswerLine):
    """A line of an assessment file. `is_accepted`: the answer was judged correct or inexact; exactly such lines have an
    equivalence class as `value_class`. Mention types are None in layouts without them; `target` is the follow-on query.
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
    """A line that was not accepted though its answer created the follow-on query `target`; `docid` is the document of
    its provenance, `before` the number of lines of its kind accepted before.
    """

    target: str
    docid: str
    before: int
    file: str
    number: int
    query: LinkedQuery
    text: str


class Links(Struct, eq=False):
    """The accepted lines of a layer in load order, with what they lead to; the methods look `below`, too. `follow_ons`
    are by short id, `queries` by full id, run lines in `nodes` by FQ node id; `without_parent` are those of the second
    hop without a parent line before them; `is_in_order`: no line of a later hop stands before one that gives the answer
    it asks about. `skipped_follow_ons` are the follow-on queries that `skipped` lines lead to. `node_by_follow_on` has, by follow-on
    query, the node of the first run line with its answer, as far as lines were looked at for that (`lines_looked_at`):
    empty if it has none, None if no line is known to give it. `waiting` are the run lines whose follow-on queries are
    not yet made; `altered` are indexes of run lines, among them all that a validated run writes in another way than
    they were read.
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
        if self.below is None and not self.follow_ons:  # what was pickled has them
            # Queries of query files whose ids look like those of follow-on queries: no answer takes their place.
            self.follow_ons = {name: FollowOn(name, None) for name in self.table.by_id if len(name) == 12}

    def make_follow_ons(self) -> None:
        """Make the follow-on queries of the lines that wait for theirs, in load order."""
        for response in self.waiting:
            target = response.target
            follow_on = self.follow_ons.get(target)
            if follow_on is None:
                follow_on = self.follow_ons[target] = FollowOn(target, response.query)
            force_setattr(response, "follow_on", follow_on)
        self.waiting.clear()

    def follow_on(self, short_id: str) -> FollowOn | None:
        if self.waiting:
            self.make_follow_ons()
        found = self.follow_ons.get(short_id)
        return found if found is not None or self.below is None else self.below.follow_on(short_id)

    def query(self, full_id: str) -> LinkedQuery | None:
        found = self.queries.get(full_id)
        return found if found is not None or self.below is None else self.below.query(full_id)

    def was_skipped(self, short_id: str) -> bool:
        """Whether a line that was not accepted gives the answer which a follow-on query asks about."""
        return short_id in self.skipped_follow_ons or (self.below is not None and self.below.was_skipped(short_id))

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

    def _is_given(self, short_id: str) -> bool:
        """Return whether a run line of this layer or below gives the answer that a follow-on query asks about."""
        node = self.node_giving(short_id)
        if short_id in self.node_by_follow_on or self.below is None:
            return node is not None
        return self.below._is_given(short_id)

    def root(self, query: Query) -> LinkedQuery:
        found = self.query(query.full_id)
        if found is not None:
            return found
        parts, slots = parse_query_id(query.full_id), query.requested_slots
        is_ldc = parts is not None and not parts.expanded
        return LinkedQuery(query.full_id, query.short_id, query.base_id, 0, slots, *_about_slots(slots), None, is_ldc)

    def class_of_query(self, query: LinkedQuery) -> str:
        """The equivalence class whose members a query's answers belong below (rule ground-truth). Raises InputError
        where no accepted line leads to the query.
        """
        if query.parent is None:
            return query.full_id
        follow_on = self.follow_on(query.short_id)
        if follow_on is not None:
            if follow_on.accepting is not None:
                return follow_on.accepting.value_class
            if follow_on.assessment is None and self.was_skipped(query.short_id) and not self._is_given(query.short_id):
                raise InputError(
                    "queryid undefined in QuerySet->get()",
                    place=f"query {query.full_id}",
                    remedy="its lines answer a follow-on query whose only parent line was skipped (wrong slot or an "
                    "empty column); correct or remove the parent line",
                )
        return f"{self.class_of_query(query.parent)}:0"

    def is_accepted(self, query: LinkedQuery) -> bool:
        """Whether the answer that a query asks about was judged correct or inexact; true of the first hop."""
        follow_on = self.follow_on(query.short_id) if query.level else None
        return not query.level or (follow_on is not None and follow_on.accepting is not None)


def link_follow_on(parent: LinkedQuery, short_id: str) -> LinkedQuery:
    full_id, slots = f"{parent.full_id}_{short_id}", parent.slots[1:]
    return LinkedQuery(full_id, short_id, parent.base_id, parent.level + 1, slots, *_about_slots(slots), parent)


@functools.lru_cache(maxsize=4096)
def _about_slots(slots: tuple[str, ...]) -> tuple[str | None, bool, tuple[str, ...]]:
    predicate = find_predicate(slots[0]) if slots else None
    unknown_next = tuple(slot for slot in slots[1:] if find_predicate(slot) is None)
    return (slots[0], predicate.single, unknown_next) if predicate is not None else (None, False, unknown_next)


def load_order(line: Response) -> tuple[int, int]:
    return line.number, line.index


def left_sum(values: Iterable[float]) -> float:
    """Sum from left to right in double precision; `sum` of newer Pythons compensates, the reference does not."""
    total = 0.0
    for value in values:
        total += value
    return total


def best_first(lines: Iterable[Response]) -> list[Response]:
    """Lines by confidence descending, then line number, then load order."""
    return sorted(lines, key=lambda line: (-line.confidence, line.number))


def node_confidence(confidences: Sequence[float], most: int | None) -> float:
    """Confidence of a node from those of its lines (rule node-confidence): the i-th best weighs 1/i, `most` count
    (None: all), and fewer lines are divided by the weight of `most` all the same.
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
    return left_sum(1 / rank for rank in range(1, lines + 1))


# The problems about discarded lines; nothing else in the scorer reports them.
CODES: Final = frozenset({"DISCARDED_ENTRY", "DISCARDED_DEPENDENT"})


Limit: TypeAlias = Literal["document", "node", "single-valued", "parent"]
"""What may discard a line: too many lines of its node from one document (A), or in all (B); another node fills a slot
that takes one value; all lines that give the answer its query asks about were discarded."""


class Discard(NamedTuple):
    """Why a line was discarded first: by which limit, and in favour of which lines (of none for `parent`)."""

    limit: Limit
    kept: Sequence[Response] = ()


class DiscardRules:
    """Marks the run lines beyond the limits; marks persist from one file to the next (rule limits). `marked` are the
    indexes of discarded responses, `why` the reasons; `applied` has how many lines had been loaded each time.
    `needs_all_queries`: lines of a third hop stand below discarded ones, so that other queries decide on them.
    """

    def __init__(self, limits: Justifications, problems: ProblemLog) -> None:
        self.marked: set[int] = set()
        self.why: dict[int, Discard] = {}
        self.needs_all_queries = False
        self.applied: list[int] = []
        self._limits, self._problems = limits, problems

    def apply(self, responses: Sequence[Response], nodes: Mapping[str, Sequence[Response]], are_in_order: bool) -> None:
        """Apply both rules to all run lines loaded so far, which are also given by FQ node id. `are_in_order`: all
        lines of later hops stand behind a line that gives the answer which they ask about.
        """
        self.applied.append(len(responses))
        per_document, most = self._limits.per_document, self._limits.most
        crowded = [
            lines
            for lines in nodes.values()
            if (most is not None and len(lines) > most)
            or (
                per_document is not None
                and len(lines) > per_document
                # A document with more lines than that leaves fewer other documents.
                and len({line.docid for line in lines}) <= len(lines) - per_document
            )
        ]
        if crowded or self.marked or not are_in_order:  # otherwise all answers that are asked about are there
            self._limit_justifications(responses, crowded)
        self._keep_single_values(responses, nodes)

    def apply_again(
        self, applied: Iterable[int], responses: Sequence[Response], nodes: Mapping[str, Sequence[Response]]
    ) -> None:
        """Apply both rules to lines as often as rules with other limits were applied while they were loaded."""
        for loaded in applied:
            some = {name: [line for line in lines if line.index < loaded] for name, lines in nodes.items()}
            self.apply(responses[:loaded], {name: lines for name, lines in some.items() if lines}, False)

    def _limit_justifications(self, responses: Sequence[Response], nodes: Iterable[Sequence[Response]]) -> None:
        # The order of nodes within a level shows nowhere: they share no line, and reports are sorted.
        crowded: dict[int, list[Sequence[Response]]] = defaultdict(list)
        for lines in nodes:
            crowded[lines[-1].query.level].append(lines)
        queries = {*map(attrgetter("query"), responses)}
        for level in sorted({query.level for query in queries}):
            for lines in crowded[level]:
                by_document: dict[str, list[Response]] = defaultdict(list)
                for line in self._left(lines):
                    by_document[line.docid].append(line)
                for of_document in by_document.values():
                    self._keep_best(of_document, self._limits.per_document, "document")
                self._keep_best(self._left(lines), self._limits.most, "node")
            unanswered = {query.short_id for query in queries if query.level == level + 1}
            if unanswered:  # only lines of this level lead to queries of the next
                unanswered.difference_update(map(attrgetter("follow_on.id"), self._left(responses)))
            for line in responses if unanswered else ():
                if line.query.level == level + 1 and line.query.short_id in unanswered:
                    self._discard(line, "DISCARDED_DEPENDENT", Discard("parent"))

    def _left(self, lines: Sequence[Response]) -> Sequence[Response]:
        return [line for line in lines if line.index not in self.marked] if self.marked else lines

    def _keep_best(self, lines: Sequence[Response], most: int | None, limit: Limit) -> None:
        if most is not None and len(lines) > most:
            ordered = best_first(lines)
            why = Discard(limit, ordered[:most])
            for line in ordered[most:]:
                self._discard(line, "DISCARDED_ENTRY", why)

    def _discard(self, line: Response, code: str, why: Discard, end: str = "\n") -> None:
        self.marked.add(line.index)
        self.why.setdefault(line.index, why)
        self._problems.add(code, f"\n{line.text}{end}", place=line.place)

    def _keep_single_values(self, responses: Sequence[Response], nodes: Mapping[str, Sequence[Response]]) -> None:
        single = _single_valued(nodes)
        if self._limits.most is not None and all(len(children) == 1 for _, _, children in single):
            return  # no node is discarded, and below those that were before nothing is left
        answers = Counter(line.follow_on.id for line in self._left(responses))
        asking: dict[str, list[Response]] = defaultdict(list)
        for line in responses:
            if line.query.level > 0:
                asking[line.query.short_id].append(line)
        orphaned: dict[int, dict[str, None]] = defaultdict(dict)

        def discard(line: Response, code: str, why: Discard, end: str) -> None:
            if line.index not in self.marked:
                answers[line.target] -= 1
                if answers[line.target] == 0:
                    orphaned[line.query.level][line.target] = None
            self._discard(line, code, why, end)

        for _, level, children in sorted(single, key=lambda group: len(group[0])):
            winner = min(children, key=lambda node: self._rank(nodes[node], node))
            why = Discard("single-valued", nodes[winner])
            for line in (line for child in children if child != winner for line in nodes[child]):
                discard(line, "DISCARDED_ENTRY", why, "")
            # All of the level is looked at, also below nodes that other groups have discarded.
            for target in orphaned.pop(level, ()):
                for line in self._left(asking[target]):
                    self.needs_all_queries |= line.target in asking
                    discard(line, "DISCARDED_DEPENDENT", Discard("parent"), "\n")

    def _rank(self, lines: Sequence[Response], node: str) -> tuple[float, float, int, int]:
        """What nodes of a single-valued slot are ranked by; the smallest wins."""
        kept = self._left(lines)
        if not kept and self._limits.most is None:
            raise lines[0].error(
                f"no confidence for node {node}: all of its lines were discarded",
                "with any number of justifications (-justifications A:M) the confidence of a node in a single-valued "
                "slot needs a line that is left; use a number for M",
            )
        first = min(kept or lines, key=load_order)
        confidence = node_confidence([line.confidence for line in kept], self._limits.most)
        return -confidence, 0 if kept else 1, first.number, first.index


def _single_valued(nodes: Mapping[str, Sequence[Response]]) -> list[tuple[str, int, list[str]]]:
    """The nodes that compete for one value: the node above them, their level, and their names."""
    parents = {node.rpartition(":")[0] for node, lines in nodes.items() if lines[0].query.single}
    groups: dict[str, list[str]] = defaultdict(list)
    for node in nodes if parents else ():
        if (parent := node.rpartition(":")[0]) in parents:
            groups[parent].append(node)
    return [
        (parent, first_line.query.level, children)
        for parent, children in groups.items()
        if (first_line := nodes[min(children, key=len)][0]).query.single
    ]
