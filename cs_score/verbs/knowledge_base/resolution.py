"""Answers queries from a validated knowledge base; the answers are the lines of a run. A query has an entry point, a
place such as D1:3-9, and is about the node with the best mention there. The lines about this node with the query's
slot, such as per:children, are the answers.
"""

from __future__ import annotations

import heapq
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Final, NamedTuple

from cs_score.base.display import spreadsheet_cell
from cs_score.base.errors import InputError
from cs_score.base.outputs import OwnOption
from cs_score.base.records import Record
from cs_score.base.sources import SPACE, WHITE_SPACE, Source
from cs_score.coldstart.queries import EntryPoint, Query, follow_on_id, parse_query_id
from cs_score.coldstart.tab_files import CERTAIN, Span, offset_value, read_provenance, split_comment
from cs_score.verbs.knowledge_base.assertions import CANONICAL, LINK, NAMED, NIL, TYPE
from cs_score.verbs.knowledge_base.kb_file import split_lines, text_blocks

# ---- Mentions and entry points


class Mention(NamedTuple):
    """A mention of a node by name, with its first and last offsets, its line, the node and the text.

    `start` and `end` are the offsets of the first and the last character in the document. They are floats because a
    knowledge base may contain any numbers. Mentions are sorted by `start`, and then by the other fields.
    """

    start: float
    end: float
    line: int
    node: str
    text: str


class MentionOverlap(NamedTuple):
    """A mention that overlaps an entry point, with the numbers of its characters inside and outside this span.

    Overlaps are compared by `shared_count_less_one`, a difference of two offsets: the number of characters inside,
    minus one. `unshared_count` is the number of characters outside. For example, if the mention is at 3-9 and the entry
    point at 8-12, these fields are 1 and 5. They are floats because offsets may be any numbers.
    """

    mention: Mention
    shared_count_less_one: float
    unshared_count: float

    @property
    def shared_count(self) -> float:
        """The number of characters that the mention and the entry point share."""
        return self.shared_count_less_one + 1


def _overlap_rank(overlap: MentionOverlap) -> tuple[float, float, int]:
    """Return the key by which overlaps are sorted, the best one first.

    The best mention shares the most characters with the entry point. Of several such mentions, the one with the fewest
    other characters is the best; if these are equal, too, the one in the first line.
    """
    return -overlap.shared_count_less_one, overlap.unshared_count, overlap.mention.line


class MentionIndex:
    """The mentions of nodes in a document, in an order that allows a quick search for those at a place."""

    def __init__(self, mentions: Iterable[Mention]) -> None:
        """Sort the mentions of a document, given in the order of their lines."""
        # If several mentions have the same offsets, only the first can be chosen.
        mention_by_span: dict[tuple[float, float], Mention] = {}
        for mention in mentions:
            mention_by_span.setdefault((mention.start, mention.end), mention)
        self._mentions: Sequence[Mention] = sorted(mention_by_span.values())
        self._starts = [mention.start for mention in self._mentions]
        # For each position, the mention up to this position that ends last. If it ends before a span, no mention up to
        # this position overlaps the span, and a backward search can stop.
        self._last_ending_up_to = _last_ending_mentions(self._mentions)

    def best_mention(self, start: float, end: float) -> Mention | None:
        """Return the mention that has the largest overlap with a span, or None if no mention overlaps it.

        Ties are resolved in favour of the mention with the fewest characters outside the span. `start` and `end` are
        the offsets of the first and the last character of the span.
        """
        best_overlap = min(self.overlaps(start, end), key=_overlap_rank, default=None)
        return None if best_overlap is None else best_overlap.mention

    def overlaps(self, start: float, end: float) -> Iterator[MentionOverlap]:
        """Yield the mentions that overlap a span, from last to first, with the sizes of the overlaps.

        `start` and `end` are the offsets of the first and the last character of the span.
        """
        count_up_to_end = bisect_right(self._starts, end)  # mentions that start at or before the end of the span
        for position in reversed(range(count_up_to_end)):
            largest_end = self._last_ending_up_to[position].end  # of this mention and all earlier ones
            if largest_end < start:
                return
            mention = self._mentions[position]
            if mention.end >= start:
                # An end is the offset of the last character, so a difference of two offsets is a number of characters
                # minus one. Both differences below are one too small, which cancels out when one is subtracted from the
                # other.
                shared_count_less_one = min(mention.end, end) - max(mention.start, start)
                length_less_one = mention.end - mention.start
                unshared_count = length_less_one - shared_count_less_one
                yield MentionOverlap(mention, shared_count_less_one, unshared_count)

    def nearest_mention(self, start: float, end: float) -> Mention | None:
        """Return the mention nearest to a span that no mention overlaps, or None if the document has no mentions.

        `start` and `end` are the offsets of the first and the last character of the span.
        """
        # Mentions are sorted by their start, and none overlaps the span: each is entirely before or after it.
        count_before_span = bisect_right(self._starts, end)
        mentions_after = self._mentions[count_before_span:]
        if count_before_span == 0:
            return mentions_after[0] if mentions_after else None
        # The nearest mention before the span is the one that ends last.
        mention_before = self._last_ending_up_to[count_before_span - 1]
        if not mentions_after:
            return mention_before
        distance_before = start - mention_before.end
        distance_after = mentions_after[0].start - end
        return mention_before if distance_before <= distance_after else mentions_after[0]


def _last_ending_mentions(mentions: Sequence[Mention]) -> list[Mention]:
    """Return, for each position, the mention that ends last among the mentions up to this position.

    Of mentions that end at the same offset the first one is taken.
    """
    last_ending_mentions: list[Mention] = []
    last_ending: Mention | None = None
    for mention in mentions:
        if last_ending is None or mention.end > last_ending.end:
            last_ending = mention
        last_ending_mentions.append(last_ending)
    return last_ending_mentions


class QueryEntry(NamedTuple):
    """A query with its first entry point and the mentions in the document of that entry point.

    `entry_point` is None if the query has no entry point.
    """

    query: Query
    entry_point: EntryPoint | None
    mentions: MentionIndex

    @property
    def best_mention(self) -> Mention | None:
        """The mention that overlaps the entry point most, or None if there is no such mention or no entry point."""
        if self.entry_point is None:
            return None
        start, end = _offsets(self.entry_point)
        return self.mentions.best_mention(start, end)


def _offsets(entry_point: EntryPoint) -> tuple[float, float]:
    """Return the first and the last offset of an entry point."""
    return offset_value(entry_point.start or ""), offset_value(entry_point.end or "")


# ---- Reading a validated knowledge base

_CONFIDENCE_PATTERN: Final = re.compile(r"\d+\.\d+")
_SPAN_PATTERN: Final = re.compile(r"(.*):(\d+)-(\d+)", re.DOTALL)
_READ_PART_COUNT: Final = 3
"""The number of parts of a provenance that are read; later parts are further justifications, which no run contains."""

_GENERIC_ENDING: Final = ".generic"
# The endings of predicates that say whether an event took place; lines with the ending ".generic" are not kept.
_REALIS_ENDINGS: Final = (".actual", ".other")

_line_number: Final = attrgetter("line")


class KbFact(Record, eq=False):
    """A line of the knowledge base with an assertion about a node, its subject.

    `docid` is the document of the first span of the provenance. `has_realis` is True if the predicate is that of an
    event with its realis, which says whether the event took place, such as `life.marry_person.actual`.
    """

    line: int
    subject: str
    object: str
    provenance: str
    confidence: str
    docid: str
    has_realis: bool


class _KbLine(NamedTuple):
    """The columns of an assertion in a validated knowledge base. The confidence is empty if the line has none."""

    number: int
    subject: str
    predicate: str
    object: str
    provenance: str
    confidence: str

    @property
    def docid(self) -> str:
        """The document of the first span of the provenance, which must be legal: "D1" for "D1:3-9;D1:0-20"."""
        return self.provenance.partition(":")[0]

    @property
    def name_without_realis(self) -> str:
        """The predicate without "actual" or "other" at its end: "life.marry_person" for "life.marry_person.actual"."""
        if not self.predicate.endswith(_REALIS_ENDINGS):
            return self.predicate
        name, _dot, _actual_or_other = self.predicate.rpartition(".")
        return name

    def fact(self, docid: str) -> KbFact:
        """Return the line as a fact; `docid` is the document of the first span of its provenance."""
        return KbFact(
            line=self.number,
            subject=self.subject,
            object=self.object,
            provenance=self.provenance,
            confidence=self.confidence or CERTAIN,
            docid=docid,
            has_realis=self.predicate.endswith(_REALIS_ENDINGS),
        )

    def mention(self) -> Mention | None:
        """Return the mention of a node that the line asserts; None if the first span of its provenance is illegal."""
        span = first_span(self.provenance)
        if span is None:
            return None
        return Mention(
            start=offset_value(span.start),
            end=offset_value(span.end),
            line=self.number,
            node=self.subject,
            text=self.object,
        )


class _NeededLines:
    """Says which lines of a knowledge base some queries need.

    * `slots`: the names of the slots that the queries ask for, such as "children".
    * `docids`: the documents of the entry points, at which the queries begin.
    * `predicates`: the predicates of the lines that may be needed: those of the slots, and those of mentions.
    """

    def __init__(self, queries: Iterable[Query]) -> None:
        """Collect the slots and the documents of these queries, and the predicates of their lines."""
        self.slots: set[str] = set()
        self.docids: set[str] = set()
        for query in queries:
            self.slots.update(query.slots)
            if query.entry_points:
                # The reference program uses only the first entry point of a query (rule first-entry-point).
                first_entry_point = query.entry_points[0]
                self.docids.add(first_entry_point.docid or "")  # "" if the query file does not name a document
        self.predicates = _predicates_with_realis((NAMED, CANONICAL, *self.slots))
        self._has_mention_slot = NAMED in self.slots
        self._has_canonical_slot = CANONICAL in self.slots

    def is_only_canonical(self, predicate: str) -> bool:
        """Return whether lines with a predicate are needed only as canonical mentions of other answers.

        That is so for the predicate of canonical mentions, unless a query asks for it.
        """
        return predicate == CANONICAL and not self._has_canonical_slot

    def includes(self, line: _KbLine) -> bool:
        """Return whether a line with one of the `predicates` is needed.

        Mentions by name matter only in the documents of entry points, unless a query asks for them.
        """
        return line.predicate != NAMED or self._has_mention_slot or line.docid in self.docids


def _predicates_with_realis(names: Iterable[str]) -> frozenset[str]:
    """Return predicates with these names: each without a realis, and with "actual" and "other" as its realis.

    The realis says whether an event took place. Lines with the realis "generic" are not needed. For the name
    `life.marry_person` the predicates are `life.marry_person`, `life.marry_person.actual` and
    `life.marry_person.other`.
    """
    predicates = set()
    for name in names:
        predicates.add(name)
        for ending in _REALIS_ENDINGS:
            predicates.add(f"{name}{ending}")
    return frozenset(predicates)


class ValidatedKb:
    """The lines of a validated knowledge base that some queries need: possible answers, and mentions of nodes.

    * `facts_by_node_and_slot`: the lines by subject and slot, such as (":Entity_1", "children"). The slot is the
      predicate without its realis (whether an event took place).
    * `canonical_mentions_by_node_and_docid`: the lines of canonical mentions (which give a node its name), by node and
      document.
    * `type_by_node`: the type of each node, as given by its last type line.
    * `mentions_by_docid`: for each document with an entry point, the mentions of nodes by name.
    """

    def __init__(self, source: Source, queries: Sequence[Query]) -> None:
        """Read the lines that answer these queries. Raises InputError unless the file is a validated knowledge base."""
        self.facts_by_node_and_slot: dict[tuple[str, str], list[KbFact]] = defaultdict(list)
        self.canonical_mentions_by_node_and_docid: dict[tuple[str, str], list[KbFact]] = defaultdict(list)
        self.type_by_node: dict[str, str] = {}
        self.mentions_by_docid: dict[str, list[Mention]] = defaultdict(list)
        self._file = source.name
        self._needed_lines = _NeededLines(queries)
        self._canonical_lines: list[_KbLine] = []

        blocks = text_blocks(source)
        first_line, line_feed, text_after_first_line = next(blocks, "").partition("\n")
        self.run_id = self._read_run_id(first_line)
        first_text = [text_after_first_line] if line_feed else []
        line_count = 1
        for text in chain(first_text, blocks):
            line_count += self._read_block(text, line_count)
        self._keep_canonical_mentions()

    def _read_run_id(self, first_line: str) -> str:
        """Return the run id: the first line, without any comment. Raises InputError if there is none."""
        text, _comment = split_comment(first_line)
        run_id = text.strip(WHITE_SPACE)
        if run_id in ("", "0"):  # the reference program treats "0" as an empty text
            raise InputError("No runid found", file=self._file, place="line 1", code="NOT_A_VALIDATED_KB")
        return run_id

    def _read_block(self, block: str, line_count: int) -> int:
        """Read a block of lines, keep the lines that queries need, and return the number of lines in the block.

        `line_count` is the number of lines before the block. Raises InputError for an illegal line.
        """
        predicates = self._needed_lines.predicates
        lines = split_lines(block)
        for number, columns in enumerate(lines, start=line_count + 1):
            # A plain assertion has a predicate, and its object is in `node` or `string`. A plain type line has a type.
            # For any other line, such as a line with a comment, only its whole text is given.
            subject, predicate, node, string, provenance, confidence, node_type, unusual_line = columns
            if predicate in predicates:
                line = _KbLine(number, subject, predicate, node or string, provenance, confidence)
                self._keep_if_needed(line)
            elif node_type:
                self.type_by_node[subject] = node_type
            elif unusual_line:
                self._read_unusual_line(number, unusual_line)
        return len(lines)

    def _keep_if_needed(self, line: _KbLine) -> None:
        """Keep a line if queries need it. The caller has checked that they need lines with its predicate.

        Canonical mentions are only collected here. After the last block, they are kept if their nodes answer a query.
        """
        if self._needed_lines.is_only_canonical(line.predicate):
            self._canonical_lines.append(line)
        elif self._needed_lines.includes(line):
            self._keep(line, line.docid)

    def _keep_canonical_mentions(self) -> None:
        """Keep the canonical mentions of nodes that are subject or object of a kept line, in the order of lines."""
        nodes_in_slots: set[str] = set()
        for facts in self.facts_by_node_and_slot.values():
            for fact in facts:
                nodes_in_slots.update((fact.subject, fact.object))
        for line in self._canonical_lines:
            if line.subject in nodes_in_slots:
                self._keep(line, line.docid)  # adds the line to `canonical_mentions_by_node_and_docid`
        # Canonical mentions in unusual lines, such as lines with a comment, have been added already.
        for mentions in self.canonical_mentions_by_node_and_docid.values():
            mentions.sort(key=_line_number)

    def _read_unusual_line(self, number: int, text: str) -> None:
        """Read a line that may have comments, white space and empty columns, and keep it if queries need it.

        A line that declares the type of a node sets this type. A line with a link is only checked. Raises InputError
        for an illegal line.
        """
        columns = _filled_columns(text)
        if not columns:
            return
        predicate = columns[1] if len(columns) > 1 else ""
        confidence = columns.pop() if _CONFIDENCE_PATTERN.fullmatch(columns[-1]) else ""
        has_provenance = predicate.lower() not in (TYPE, LINK)
        wanted_count = 4 if has_provenance else 3
        if len(columns) != wanted_count:
            raise self._illegal_line_error(f"Wrong number of arguments for predicate {predicate.lower()}", number)
        if has_provenance:
            subject, _, object_, provenance = columns
            self._read_assertion(_KbLine(number, subject, predicate, object_, provenance, confidence))
        elif predicate == TYPE:  # as in the reference program, "TYPE" is checked but does not declare a type
            subject, _, node_type = columns
            self.type_by_node[subject] = node_type

    def _read_assertion(self, line: _KbLine) -> None:
        """Keep a line if queries need it, unless it is about events in general (`.generic`).

        Raises InputError if a span of its provenance is illegal.
        """
        # The parts that may appear in a run: a filler, a justification and a base filler, if present.
        for position in range(_READ_PART_COUNT):
            for span in _spans_of_part(line.provenance, position):
                if _SPAN_PATTERN.fullmatch(span) is None:
                    raise self._illegal_line_error(f"illegal offset specification: {span}", line.number)
        if line.predicate.endswith(_GENERIC_ENDING):
            return
        place = first_span(line.provenance)
        docid = "" if place is None else place.docid
        self._keep(line, docid)

    def _illegal_line_error(self, problem: str, number: int) -> InputError:
        """Return the error about a line that a validated knowledge base cannot have."""
        return InputError(problem, file=self._file, place=f"line {number}", code="NOT_A_VALIDATED_KB")

    def _keep(self, line: _KbLine, docid: str) -> None:
        """Keep a line if queries ask for its slot, or if it is a mention that may be needed.

        Every canonical mention is kept. A mention by name is kept if it is in the document of an entry point. `docid`
        is the document of the first span of the provenance.
        """
        # The realis of an event, as in "life.marry_person.actual", is not part of the name of a slot.
        name = line.name_without_realis
        fact = line.fact(docid)
        if name in self._needed_lines.slots:
            self.facts_by_node_and_slot[line.subject, name].append(fact)
        if name == CANONICAL:
            self.canonical_mentions_by_node_and_docid[line.subject, docid].append(fact)
        if name == NAMED and docid in self._needed_lines.docids:
            mention = line.mention()
            if mention is not None:
                self.mentions_by_docid[docid].append(mention)


def _filled_columns(text: str) -> list[str]:
    """Return the columns of a line that are not empty, without white space around them and without a comment."""
    if "#" in text:
        text, _comment = split_comment(text)
    columns = [column.strip(WHITE_SPACE) for column in text.split("\t")]
    return [column for column in columns if column]


def _spans_of_part(provenance: str, position: int) -> list[str]:
    """Return the spans of one part of a provenance. The parts are numbered from 0 by their `position`.

    Part 1 of "D:0-9;D:3-5,D:8-9" has the spans ["D:3-5", "D:8-9"]. A part that is absent has no spans.
    """
    part_texts = provenance.split(";", _READ_PART_COUNT)  # further parts are never asked for
    if position >= len(part_texts):
        return []
    spans = part_texts[position].rstrip(",").split(",")
    return [span for span in spans if span not in ("", NIL)]


def first_span(provenance: str) -> Span | None:
    """Return the first span of the first part of a provenance: "D:3-5,D:8-9;D:0-9" -> the span D:3-5.

    Return None if that part is absent, and if its first span is illegal.
    """
    spans = _spans_of_part(provenance, 0)
    if not spans:
        return None
    match = _SPAN_PATTERN.fullmatch(spans[0])
    if match is None:
        return None
    docid, start, end = match.groups()
    return Span(docid, start, end)


def canonical_part(provenance: str, position: int) -> str:
    """Return one part of a provenance in canonical form, in which its spans are sorted.

    The parts are numbered from 0 by their `position`: part 1 of "D:0-9;D:8-9,D:3-5" is "D:3-5,D:8-9". The text is empty
    if the part is absent.
    """
    spans = _spans_of_part(provenance, position)
    return read_provenance(",".join(spans), max_span_count=len(spans)).canonical_text


# ---- Answering queries

_QUOTED_PATTERN: Final = re.compile(r'"(.*)"', re.DOTALL)
_ESCAPED_PATTERN: Final = re.compile(r"\\(.)", re.DOTALL)
_WHITE_SPACE: Final = re.compile(SPACE)
_STRING_TYPE: Final = "STRING"

_LAST_STATISTICS_COLUMN: Final = "RESOLUTION_STATISTICS"
"""The text at the end of both lines of statistics, by which they are found among the other lines of a log."""


class _Question(Record):
    """A query, or a follow-on query, which asks for the next slot about an answer.

    `slots` are those that remain to be filled, and `query` is the query of the first hop.
    """

    full_id: str
    slots: tuple[str, ...]
    query: Query


class _Task(Record, eq=False):
    """A task that reads some lines of the knowledge base (`facts`), one by one, to answer a question.

    If `answer` is None, the facts are the answers to the question. Otherwise, the task looks for the name of an answer
    that is a node, and the only fact is the canonical mention of that node, if it has one. `number` counts the tasks
    from 1.
    """

    number: int
    question: _Question
    facts: Sequence[KbFact]
    answer: KbFact | None = None


class _Moment(NamedTuple):
    """The moment at which a line of the knowledge base is read.

    The reference program reads the knowledge base in rounds, each from the first line to the last.
    """

    round: int
    line: int

    def next_moment_of(self, line: int) -> _Moment:
        """Return when another line is read: in the same round if it is further down, otherwise in the next round."""
        next_round = self.round if line > self.line else self.round + 1
        return _Moment(next_round, line)


class _QueuedTask(NamedTuple):
    """A task in the queue and the moment at which its next line is read.

    The queue is sorted by this moment and the number of the task. `position` is the position of the line among the
    facts of the task.
    """

    moment: _Moment
    task_number: int
    position: int
    task: _Task

    @property
    def fact(self) -> KbFact:
        """The line that the task needs next."""
        return self.task.facts[self.position]


class Resolution:
    """The answers of a knowledge base to queries, in the order of the reference program. That program reads the
    knowledge base in rounds, from the first line to the last; tasks wait in a queue for the lines that they need.

    `query_entries` has the entry point of each query, `matched_query_count` is the number of queries whose entry point
    is overlapped by a mention of a node, and `lines` are the lines of the run. Tasks that wait for the same line of the
    knowledge base are processed in the order in which they were made.
    """

    def __init__(self, kb: ValidatedKb, queries: Sequence[Query]) -> None:
        """Answer the queries in their order. Raises InputError if a follow-on query about an answer is impossible."""
        self.query_entries = _query_entries(kb, queries)
        self.lines: list[str] = []
        self.matched_query_count = 0
        self._kb = kb
        # The counts of the statistics: answers ("fills"), answers that are strings, tasks that look for the name of an
        # answer, and tasks that look for the answers to a question.
        self._answer_count = 0
        self._string_answer_count = 0
        self._name_task_count = 0
        self._slot_task_count = 0
        self._queue: list[_QueuedTask] = []
        for query_entry in self.query_entries:
            self._ask_first_slot(query_entry)
        # Each task may queue further tasks.
        while self._queue:
            self._process_next_line(heapq.heappop(self._queue))

    def _ask_first_slot(self, query_entry: QueryEntry) -> None:
        """Queue a task for the first slot of a query, if there is a node at its entry point."""
        mention = query_entry.best_mention
        if mention is None:
            return
        self.matched_query_count += 1
        query = query_entry.query
        # A question asks only for its first slot; follow-on questions ask for the others.
        question = _Question(full_id=query.full_id, slots=query.slots, query=query)
        before_first_line = _Moment(round=1, line=0)
        self._ask(question, mention.node, before_first_line)

    def statistics(self) -> str:
        """Return the two tab-separated lines that the reference program prints at its end: headings and counts."""
        count_by_heading = self._count_by_heading()
        headings = "\t".join(count_by_heading)
        counts = "\t".join([str(count) for count in count_by_heading.values()])
        # The reference program prints this word in the last column of both lines.
        heading_line = f"\t{headings}\t{_LAST_STATISTICS_COLUMN}\n"
        count_line = f"{self._kb.run_id}\t{counts}\t{_LAST_STATISTICS_COLUMN}\n"
        return heading_line + count_line

    def _count_by_heading(self) -> dict[str, int]:
        """Return the counts of the statistics by their headings: entry points that were found, answers, and tasks."""
        entry_task_count = len(self.query_entries)
        return {
            "Entry points": self.matched_query_count,
            "Fills": self._answer_count,
            "String fills": self._string_answer_count,
            "ResolutionTasks": self._name_task_count + self._slot_task_count + entry_task_count,
            "Entity2NameTasks": self._name_task_count,
            "FillSlotTasks": self._slot_task_count,
            "FindEntrypointsTasks": entry_task_count,
        }

    def _ask(self, question: _Question, node: str, now: _Moment) -> None:
        """Queue a task for the lines about a node that fill the first slot of a question.

        `now` is the moment at which the question is asked. The lines after the present one are read first, the lines
        before it in the next round.
        """
        facts = self._kb.facts_by_node_and_slot.get((node, question.slots[0]), ())
        count_before = bisect_right(facts, now.line, key=_line_number)
        facts_before = facts[:count_before]
        facts_after = facts[count_before:]
        task = _Task(self._next_task_number, question, [*facts_after, *facts_before])
        self._slot_task_count += 1
        self._queue_line(task, position=0, now=now)

    def _ask_for_name(self, question: _Question, answer: KbFact, now: _Moment) -> None:
        """Queue a task for the canonical mention that gives its name to a node that answers a question.

        The task takes the first canonical mention after the line of the answer, among those in the same document. If
        there is none after that line, it takes the first one in the document. `now` is the moment at which the answer
        is read.
        """
        mentions = self._kb.canonical_mentions_by_node_and_docid.get((answer.object, answer.docid), ())
        count_before = bisect_right(mentions, now.line, key=_line_number)
        mentions_after = mentions[count_before:]
        mentions_to_read = (mentions_after or mentions)[:1]  # a single mention, or none
        task = _Task(self._next_task_number, question, mentions_to_read, answer)
        self._name_task_count += 1
        self._queue_line(task, position=0, now=now)

    @property
    def _next_task_number(self) -> int:
        """The number of the next task. Tasks of both sorts are numbered from 1."""
        return self._slot_task_count + self._name_task_count + 1

    def _queue_line(self, task: _Task, position: int, now: _Moment) -> None:
        """Queue a task for the line at `position` among its facts. If there is no such line, the task is finished.

        `now` is the moment of the line being read. An earlier line is read in the next round.
        """
        if position < len(task.facts):
            moment = now.next_moment_of(task.facts[position].line)
            heapq.heappush(self._queue, _QueuedTask(moment, task.number, position, task))

    def _process_next_line(self, queued_task: _QueuedTask) -> None:
        """Process the next line of a task, and queue the resulting tasks.

        If the task looks for a name, the line is a canonical mention, and the answer is written with this name.
        Otherwise, the line is an answer, and the task is queued again for its next line.
        """
        task = queued_task.task
        line = queued_task.fact
        now = queued_task.moment
        if task.answer is not None:
            self._write_named_answer(task.question, task.answer, line, now)
        else:
            self._process_answer(task.question, line, now)
            self._queue_line(task, queued_task.position + 1, now)

    def _write_named_answer(self, question: _Question, answer: KbFact, mention: KbFact, now: _Moment) -> None:
        """Write an answer, named by its canonical mention, to the run, and ask the follow-on query about it.

        `question` is the query that is being answered. There is no follow-on query after its last slot. `now` is the
        moment at which the mention is read.
        """
        self.lines.append(self._run_line(question, answer, mention=mention))
        follow_on = _make_follow_on(question, mention)
        if follow_on.slots:  # empty after the last slot
            self._ask(follow_on, mention.subject, now)

    def _process_answer(self, question: _Question, answer: KbFact, now: _Moment) -> None:
        """Count an answer, and write it to the run if it is a string. If it is a node, look for its canonical mention.

        `now` is the moment at which the answer is read.
        """
        self._answer_count += 1
        is_node = answer.object.startswith(":")
        if is_node:
            self._ask_for_name(question, answer, now)
        else:
            self._string_answer_count += 1
            self.lines.append(self._run_line(question, answer, mention=answer))

    def _run_line(self, question: _Question, answer: KbFact, *, mention: KbFact) -> str:
        """Return the line of the run for an answer to a question; `mention` has the answer's name and its place."""
        columns = (
            question.full_id,
            question.slots[0],
            self._kb.run_id,
            self._justification_of(answer),
            _plain_text(mention.object),
            self._kb.type_by_node.get(answer.object, _STRING_TYPE),
            mention.provenance,
            answer.confidence,
            answer.object,
        )
        return "\t".join(columns) + "\n"

    def _justification_of(self, answer: KbFact) -> str:
        """Return the justification of an answer in the form used in runs, such as "D1:0-20".

        For a relation that involves an event, the place of the subject comes first, as in "D1:3-5,D1:0-20". If the
        subject is an event itself, this place is empty, as in ",D1:0-20".
        """
        # In the provenance of a string node, the place of its text comes before the justification.
        position = 1 if answer.object.startswith(":String") else 0
        justification = canonical_part(answer.provenance, position)
        has_event = answer.subject.startswith(":Event") or answer.object.startswith(":Event")
        if has_event:
            return f"{self._subject_place(answer)},{justification}"
        return justification

    def _subject_place(self, answer: KbFact) -> str:
        """Return the place of the last canonical mention of an answer's subject in the document of the answer.

        Mentions of events with a realis are left out. The place is in canonical form, such as "D1:3-9". It is empty if
        the document has no such mention.
        """
        mentions = self._kb.canonical_mentions_by_node_and_docid.get((answer.subject, answer.docid), ())
        for mention in reversed(mentions):
            if not mention.has_realis:
                return canonical_part(mention.provenance, 0)
        return ""


def _query_entries(kb: ValidatedKb, queries: Iterable[Query]) -> list[QueryEntry]:
    """Return the first entry point of each query, with an index of the mentions in its document.

    The index is empty if the document has no mentions, or if the query has no entry point.
    """
    index_by_docid = {docid: MentionIndex(mentions) for docid, mentions in kb.mentions_by_docid.items()}
    empty_index = MentionIndex(())
    entries = []
    for query in queries:
        if query.entry_points:
            entry_point = query.entry_points[0]
            index = index_by_docid.get(entry_point.docid or "", empty_index)
            entries.append(QueryEntry(query, entry_point, index))
        else:
            entries.append(QueryEntry(query, None, empty_index))
    return entries


def _make_follow_on(question: _Question, mention: KbFact) -> _Question:
    """Return the follow-on query, which asks for the next slot about an answer to a question.

    `mention` is the canonical mention of the answer. Raises InputError if the query of the first hop has several entry
    points, and if its id cannot be extended.
    """
    query = question.query
    _check_single_entry_point(query)
    full_id = _full_id_of_follow_on(question.full_id, mention)
    _check_query_id(full_id, query)
    return _Question(full_id=full_id, slots=question.slots[1:], query=query)


def _check_single_entry_point(query: Query) -> None:
    """Raise InputError if a query has several entry points; no follow-on query can be made from such a query."""
    if len(query.entry_points) > 1:
        raise InputError(
            f"Attempt to execute method generate_query on query {query.short_id}, which has multiple entrypoints",
            file=query.place.file,
            remedy="split the queries by entry point first (cs-score validate-queries -expand)",
            code="QUERY_NOT_EXPANDED",
        )


def _check_query_id(full_id: str, query: Query) -> None:
    """Raise InputError if the id of a follow-on query cannot be read; `query` is the query of the first hop."""
    if parse_query_id(full_id) is None:
        raise InputError(
            f'unexpected argument: "{full_id}" sent to parse_queryid',
            file=query.place.file,
            place=str(query.place.line),
            remedy="answers can be asked about only where the query's id ends in ten hexadecimal digits",
            code="UNPARSABLE_QUERY_ID",
        )


def _full_id_of_follow_on(full_id: str, mention: KbFact) -> str:
    """Return the id of the follow-on query about an answer: the id of the query, an underscore and twelve digits.

    The digits are hexadecimal, from a hash of the query id, the text of the answer and the first span of its mention.
    """
    span = first_span(mention.provenance)
    # The span is read as in a run: a span that ends before it starts gives an empty text, and a long span is truncated.
    place = "" if span is None else read_provenance(str(span), max_span_count=1).canonical_text
    text = _plain_text(mention.object)
    return f"{full_id}_{follow_on_id(full_id, text, place)}"


def _plain_text(text: str) -> str:
    r"""Return the text of a mention without its quotes and escapes, with each white space character as a blank.

    `"The \"Boss\""` -> `The "Boss"`.
    """
    quoted = _QUOTED_PATTERN.fullmatch(text)
    if quoted is not None:
        text = _ESCAPED_PATTERN.sub(r"\1", quoted.group(1))
    return _WHITE_SPACE.sub(" ", text)


# ---- Explaining the entry points

_HEADER: Final = "query\tentry point\toutcome\tnode\tmention\toffsets\tline\tcommon\trest\n"

EXPLANATION: Final = OwnOption("--explain", {".tsv": re.escape(_HEADER.encode())}, "entrances.tsv", takes_dash=True)
"""The option that names the file of the table."""


def explanation_text(resolution: Resolution) -> Iterator[str]:
    """Yield the lines of a table with the mentions that overlap the entry point of each query, the chosen one first.

    A query without such a mention has a line with the reason. Texts from the inputs are written so that a spreadsheet
    does not take them for formulas.
    """
    yield _HEADER
    for query_entry in resolution.query_entries:
        for row in _explain_entry(query_entry):
            yield "\t".join([spreadsheet_cell(cell) for cell in row.columns()]) + "\n"


class _ExplanationRow(NamedTuple):
    """A row of the table: a query, its entry point (`place`), and a mention with its outcome.

    The outcome says whether the mention was chosen; `overlap` says how it overlaps the entry point.
    """

    query_id: str
    place: str
    outcome: str
    mention: Mention | None = None
    overlap: MentionOverlap | None = None

    def columns(self) -> list[str]:
        """Return the texts of the columns of the table; those about an absent mention or overlap are empty."""
        # Offsets are floats; the format `.15g` writes a whole one without a decimal point.
        node = text = offsets = line = shared_count = unshared_count = ""
        if self.mention is not None:
            node = self.mention.node
            text = self.mention.text
            offsets = f"{self.mention.start:.15g}-{self.mention.end:.15g}"
            line = str(self.mention.line)
        if self.overlap is not None:
            shared_count = f"{self.overlap.shared_count:.15g}"
            unshared_count = f"{self.overlap.unshared_count:.15g}"
        return [self.query_id, self.place, self.outcome, node, text, offsets, line, shared_count, unshared_count]


def _explain_entry(query_entry: QueryEntry) -> list[_ExplanationRow]:
    """Return the rows of the table about a query: one for each mention that overlaps its entry point, the best first.

    If no mention overlaps the entry point, there is one row with the nearest mention in the document.
    """
    query_id = query_entry.query.full_id
    entry_point = query_entry.entry_point
    if entry_point is None:
        return [_ExplanationRow(query_id, place="", outcome="no entry point")]
    place = f"{entry_point.docid or ''}:{entry_point.start or ''}-{entry_point.end or ''}"
    start, end = _offsets(entry_point)
    overlaps = sorted(query_entry.mentions.overlaps(start, end), key=_overlap_rank)
    if overlaps:
        return _explain_overlaps(query_id, place, overlaps)
    return [_explain_no_overlap(query_id, place, query_entry.mentions.nearest_mention(start, end))]


def _explain_no_overlap(query_id: str, place: str, nearest_mention: Mention | None) -> _ExplanationRow:
    """Return the row of a query whose entry point no mention overlaps, with the nearest mention in the document.

    `place` is the entry point, such as "D1:8-12". The nearest mention is None if the document has no mention.
    """
    if nearest_mention is None:
        return _ExplanationRow(query_id, place, "nothing met; no mention in the document")
    return _ExplanationRow(query_id, place, "nothing met; nearest in the document", nearest_mention)


def _explain_overlaps(query_id: str, place: str, overlaps: Iterable[MentionOverlap]) -> list[_ExplanationRow]:
    """Return a row for each mention that overlaps the entry point of a query; the first one was chosen.

    `place` is the entry point, such as "D1:8-12".
    """
    rows: list[_ExplanationRow] = []
    for overlap in overlaps:
        outcome = "met, weaker" if rows else "chosen"
        rows.append(_ExplanationRow(query_id, place, outcome, overlap.mention, overlap))
    return rows
