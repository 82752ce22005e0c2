"""Queries asked of a knowledge base, and the run that answers them (specification 16.4 to 16.7).

The reference reads the knowledge base as a ring, line by line, with tasks that wait for lines. Here a queue holds for
each task the next line that it waits for, so that no line is looked at in vain; everything happens in the same order.
"""

from __future__ import annotations

import heapq
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Final

from cs_score.base.errors import InputError
from cs_score.base.records import Record, Struct, field
from cs_score.base.white_space import SPACE
from cs_score.coldstart.provenance import read_provenance
from cs_score.coldstart.queries import Query, follow_on_id, parse_query_id
from cs_score.knowledge_base.resolution.entry_points import Entrance, MentionIndex, enter
from cs_score.knowledge_base.resolution.validated_kb import Fact, ValidatedKb, canonical_part

_QUOTED: Final = re.compile(r'"(.*)"', re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_WHITE_SPACE: Final = re.compile(SPACE)
_STRING_TYPE: Final = "STRING"

_STATISTICS: Final = (
    "Entry points", "Fills", "String fills", "ResolutionTasks", "Entity2NameTasks", "FillSlotTasks",
    "FindEntrypointsTasks", "RESOLUTION_STATISTICS",
)  # fmt: skip


class _Asked(Record):
    """A query as it is asked: its full id, the slots still to be filled, and the query that it comes from."""

    full_id: str
    slots: tuple[str, ...]
    origin: Query


class _SlotTask(Record, eq=False):
    """Waits for every line that fills the first slot of a query for a node."""

    asked: _Asked
    facts: Sequence[Fact]


class _NameTask(Record, eq=False):
    """Waits for the canonical mention of a node that a line gives as an answer."""

    asked: _Asked
    answer: Fact
    facts: Sequence[Fact]


class Counts(Struct):
    """What happened, for the statistics."""

    entered: int = 0
    fills: int = 0
    text_fills: int = 0
    name_tasks: int = 0
    slot_tasks: int = 0
    queries: int = 0


class Resolution(Struct):
    """The queries of a run, what they met in the knowledge base, and the lines that answer them."""

    kb: ValidatedKb
    entrances: list[tuple[Query, Entrance | None]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)

    def statistics(self) -> str:
        """The two lines that the reference ends with."""
        counts = self.counts
        tasks = (counts.name_tasks, counts.slot_tasks, counts.queries)
        values = (counts.entered, counts.fills, counts.text_fills, sum(tasks), *tasks, _STATISTICS[-1])
        return "\t".join(("", *_STATISTICS)) + "\n" + "\t".join((self.kb.run_id, *map(str, values))) + "\n"


def slots_of(queries: Iterable[Query]) -> frozenset[str]:
    """The slots that queries ask for."""
    return frozenset(slot for query in queries for slot in query.slots)


def documents_of(queries: Iterable[Query]) -> frozenset[str]:
    """The documents of the entry points that count."""
    return frozenset(query.entry_points[0].docid or "" for query in queries if query.entry_points)


def resolve(kb: ValidatedKb, queries: Sequence[Query]) -> Resolution:
    """Answer queries in their order. Raises InputError for a query whose answers cannot be named."""
    resolution = Resolution(kb)
    resolution.counts.queries = len(queries)
    indexes = {docid: MentionIndex(mentions) for docid, mentions in kb.mentions.items()}
    ring = _Ring(resolution)
    for query in queries:
        entrance = enter(query.entry_points[0], indexes) if query.entry_points else None
        resolution.entrances.append((query, entrance))
        if entrance is not None and entrance.chosen is not None:
            resolution.counts.entered += 1
            ring.ask(_Asked(query.full_id, query.slots, query), entrance.chosen.node, 1, 0)
    ring.run()
    return resolution


class _Ring:
    """The queue of tasks by round and line; several that wait for one line act in the order of their making."""

    def __init__(self, resolution: Resolution) -> None:
        self._kb = resolution.kb
        self._lines = resolution.lines
        self._counts = resolution.counts
        # Round, line, number of the task, how many lines it has met, the task.
        self._queue: list[tuple[int, int, int, int, _SlotTask | _NameTask]] = []
        self._made = 0

    def ask(self, asked: _Asked, node: str, round_: int, line: int) -> None:
        """Make the task that fills the first slot of a query."""
        self._counts.slot_tasks += 1
        facts = self._kb.slots.get((node, asked.slots[0]), ())
        start = bisect_right(facts, line, key=attrgetter("line"))
        self._await(_SlotTask(asked, (*facts[start:], *facts[:start])), round_, line)

    def _name(self, asked: _Asked, answer: Fact, round_: int, line: int) -> None:
        self._counts.name_tasks += 1
        facts = self._kb.canonical.get((answer.object, answer.docid), ())
        start = bisect_right(facts, line, key=attrgetter("line"))
        self._await(_NameTask(asked, answer, facts[start : start + 1] or facts[:1]), round_, line)

    def _await(self, task: _SlotTask | _NameTask, round_: int, line: int) -> None:
        self._made += 1
        self._await_next(task, self._made, 0, round_, line)

    def _await_next(self, task: _SlotTask | _NameTask, number: int, met: int, round_: int, line: int) -> None:
        """Queue a task for the next line that it waits for, which is in the next round unless it lies ahead."""
        if met < len(task.facts):
            awaited = task.facts[met].line
            heapq.heappush(self._queue, (round_ if awaited > line else round_ + 1, awaited, number, met, task))

    def run(self) -> None:
        """Let everything happen."""
        while self._queue:
            round_, line, number, met, task = heapq.heappop(self._queue)
            fact = task.facts[met]
            if isinstance(task, _NameTask):
                self._answer(task, fact, round_, line)
                continue
            self._counts.fills += 1
            if fact.object.startswith(":"):
                self._name(task.asked, fact, round_, line)
            else:
                self._counts.text_fills += 1
                self._lines.append(self._line(task.asked, fact, fact))
            self._await_next(task, number, met + 1, round_, line)

    def _answer(self, task: _NameTask, mention: Fact, round_: int, line: int) -> None:
        """Write an answer, and ask about it."""
        asked = task.asked
        self._lines.append(self._line(asked, task.answer, mention))
        span = mention.first
        provenance = "" if span is None else read_provenance(str(span), 1).canonical
        follow_on = _Asked(_follow_on(asked, _plain_text(mention.object), provenance), asked.slots[1:], asked.origin)
        if follow_on.slots:
            self.ask(follow_on, mention.subject, round_, line)

    def _line(self, asked: _Asked, answer: Fact, mention: Fact) -> str:
        columns = (
            asked.full_id,
            asked.slots[0],
            self._kb.run_id,
            self._relation(answer),
            _plain_text(mention.object),
            self._kb.types.get(answer.object, _STRING_TYPE),
            mention.provenance,
            answer.confidence,
            answer.object,
        )
        return "\t".join(columns) + "\n"

    def _relation(self, answer: Fact) -> str:
        """The predicate justification; of events the place of the subject comes first, which events lack (18.8)."""
        justification = canonical_part(answer.provenance, 1 if answer.object.startswith(":String") else 0)
        if answer.subject.startswith(":Event") or answer.object.startswith(":Event"):
            mentions = self._kb.canonical.get((answer.subject, answer.docid), ())
            last = next((mention.provenance for mention in reversed(mentions) if not mention.has_realis), "")
            return f"{canonical_part(last, 0)},{justification}"
        return justification


def _follow_on(asked: _Asked, value: str, provenance: str) -> str:
    """The full id of the query about an answer. Raises InputError where there cannot be one (16.6)."""
    query = asked.origin
    if len(query.entry_points) > 1:
        raise InputError(
            f"Attempt to execute method generate_query on query {query.short_id}, which has multiple entrypoints",
            file=query.place.file,
            remedy="split the queries by entry point first (cs-score validate-queries -expand)",
            code="QUERY_NOT_EXPANDED",
        )
    full_id = f"{asked.full_id}_{follow_on_id(asked.full_id, value, provenance)}"
    if parse_query_id(full_id) is None:
        raise InputError(
            f'unexpected argument: "{full_id}" sent to parse_queryid',
            file=query.place.file,
            place=str(query.place.line),
            remedy="answers can be asked about only where the query's id ends in ten hexadecimal digits",
            code="UNPARSABLE_QUERY_ID",
        )
    return full_id


def _plain_text(text: str) -> str:
    """A text without its quotes and escapes; white space becomes blanks."""
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        text = _ESCAPED.sub(r"\1", quoted.group(1))
    return _WHITE_SPACE.sub(" ", text)
