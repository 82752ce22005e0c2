"""Answers queries from a validated knowledge base; the answers are the responses of a run.

An entry point of a query is a place in a document. Its node is the node with the mention that overlaps the place best,
and the lines about this node in the slot of the query are the answers.
"""

from __future__ import annotations

import heapq
import itertools
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Final, NamedTuple

from cs_score.base.display import spreadsheet_cell
from cs_score.base.errors import InputError
from cs_score.base.outputs import OwnOption
from cs_score.base.records import Record
from cs_score.base.sources import SPACE, WHITE_SPACE, Source
from cs_score.coldstart.queries import EntryPoint, Query, follow_on_id, parse_query_id
from cs_score.coldstart.tab_files import Span, offset_value, read_provenance, split_comment
from cs_score.verbs.knowledge_base.assertions import CANONICAL, LINK, NAMED, NIL, TYPE
from cs_score.verbs.knowledge_base.kb_file import LineColumns, split_lines, text_blocks

# ---- Mentions and entry points


class Mention(NamedTuple):
    """A mention of a node by name: the offsets of its first and last characters, its line, the node and the text."""

    start: float
    end: float
    line: int
    node: str
    text: str


_end: Final = attrgetter("end")


class MentionOverlap(NamedTuple):
    """A mention that overlaps an entry point.

    `common_less_one` is the number of characters that both have, less one; `rest` is the number of the other characters
    of the mention.
    """

    mention: Mention
    common_less_one: float
    rest: float


def _overlap_rank(overlap: MentionOverlap) -> tuple[float, float, int]:
    """Return a sort key that puts the best overlap first.

    It has most characters in common, then the fewest other characters, then the first line.
    """
    return -overlap.common_less_one, overlap.rest, overlap.mention.line


class MentionIndex:
    """The mentions of a document, in which those at a place are found quickly."""

    def __init__(self, mentions: Iterable[Mention]) -> None:
        """Take the mentions of a document in the order of their lines."""
        mention_by_span: dict[tuple[float, float], Mention] = {}
        for mention in mentions:  # of mentions with the same offsets only the first can be chosen
            mention_by_span.setdefault((mention.start, mention.end), mention)
        self._mentions: Sequence[Mention] = sorted(mention_by_span.values())
        self._starts = [mention.start for mention in self._mentions]
        # For each position, the mention that ends last among those up to the position.
        self._last_ending: list[Mention] = []
        for mention in self._mentions:
            is_last = not self._last_ending or mention.end > self._last_ending[-1].end
            self._last_ending.append(mention if is_last else self._last_ending[-1])

    def best(self, start: float, end: float) -> Mention | None:
        """Return the mention that overlaps a span best; None if no mention overlaps it."""
        overlap = min(self.overlaps(start, end), key=_overlap_rank, default=None)
        return None if overlap is None else overlap.mention

    def overlaps(self, start: float, end: float) -> Iterator[MentionOverlap]:
        """Yield all mentions that overlap a span, from the last one to the first."""
        position = bisect_right(self._starts, end) - 1  # of the last mention that starts before the end of the span
        while position >= 0 and self._last_ending[position].end >= start:
            mention = self._mentions[position]
            if mention.end >= start:
                common_less_one = min(mention.end, end) - max(mention.start, start)
                yield MentionOverlap(mention, common_less_one, mention.end - mention.start - common_less_one)
            position -= 1

    def nearest(self, start: float, end: float) -> Mention | None:
        """Return the mention that is nearest to a span without overlap; None if the document has no mention."""
        position = bisect_right(self._starts, end)
        previous = self._last_ending[position - 1] if position else None
        following = self._mentions[position] if position < len(self._mentions) else None
        if previous is None or following is None:
            return previous or following
        is_previous_nearer = start - previous.end <= following.start - end
        return previous if is_previous_nearer else following


class Entrance(NamedTuple):
    """A query with its first entry point, None if it has none, and the mentions in the document of that entry point."""

    query: Query
    entry_point: EntryPoint | None
    mentions: MentionIndex


def _offsets(entry_point: EntryPoint) -> tuple[float, float]:
    """Return the first and the last offset of an entry point."""
    return offset_value(entry_point.start or ""), offset_value(entry_point.end or "")


# ---- Reading a validated knowledge base

_CONFIDENCE: Final = re.compile(r"\d+\.\d+")
_SPAN: Final = re.compile(r"(.*):(\d+)-(\d+)", re.DOTALL)
_READ_PARTS: Final = 3
"""The number of parts of a provenance that are read."""

_NO_CONFIDENCE: Final = "1.0"
_GENERIC: Final = ".generic"
_OTHER_REALIS: Final = (".actual", ".other")

_line: Final = attrgetter("line")


class KbFact(Record, eq=False):
    """A line of the knowledge base with an assertion about a node. `docid` is the document of its first span."""

    line: int
    subject: str
    object: str
    provenance: str
    confidence: str
    docid: str
    has_realis: bool


class _KbLine(NamedTuple):
    """The columns of an assertion in a validated knowledge base; the confidence may be empty."""

    number: int
    subject: str
    predicate: str
    object: str
    provenance: str
    confidence: str

    @property
    def docid(self) -> str:
        """The document of the first span of the provenance, which must be legal."""
        return self.provenance.partition(":")[0]


class ValidatedKb:
    """The lines of a validated knowledge base that some queries need.

    `slots` has the lines by subject and predicate, `canonical` has the canonical mentions by node and document. `types`
    has the type of each node, from its last type line, and `mentions` the mentions by name in each document of an entry
    point.
    """

    def __init__(self, source: Source, queries: Sequence[Query]) -> None:
        """Read the lines that these queries need. Raises InputError unless the file is a validated knowledge base."""
        self.slots: dict[tuple[str, str], list[KbFact]] = defaultdict(list)
        self.canonical: dict[tuple[str, str], list[KbFact]] = defaultdict(list)
        self.types: dict[str, str] = {}
        self.mentions: dict[str, list[Mention]] = defaultdict(list)
        self._file = source.name
        self._slot_names: set[str] = set()
        self._docids: set[str] = set()
        for query in queries:
            self._slot_names.update(query.slots)
            if query.entry_points:
                self._docids.add(query.entry_points[0].docid or "")
        self.run_id = ""
        blocks = self._read_run_id(text_blocks(source))
        self._read_blocks(blocks)
        for facts in self.canonical.values():
            facts.sort(key=_line)

    def _read_run_id(self, blocks: Iterator[str]) -> Iterator[str]:
        """Read the run id from the first line, and return the text after that line in blocks.

        Raises InputError if there is no run id.
        """
        first_line, line_feed, remaining_text = next(blocks, "").partition("\n")
        self.run_id = split_comment(first_line)[0].strip(WHITE_SPACE)
        if self.run_id in ("", "0"):
            raise InputError("No runid found", file=self._file, place="line 1", code="NOT_A_VALIDATED_KB")
        return itertools.chain((remaining_text,), blocks) if line_feed else blocks

    def _read_blocks(self, blocks: Iterator[str]) -> None:
        """Read the lines after the first one, and keep the lines that queries need.

        Raises InputError for an illegal line.
        """
        predicates = self._predicates_to_keep()
        canonical_lines: list[_KbLine] = []
        numbered_columns = enumerate(_split_blocks(blocks), start=2)
        for number, (subject, predicate, node, string, provenance, confidence, node_type, other) in numbered_columns:
            if predicate == CANONICAL and CANONICAL not in self._slot_names:
                line = _KbLine(number, subject, CANONICAL, node or string, provenance, confidence)
                canonical_lines.append(line)
            elif predicate in predicates:
                line = _KbLine(number, subject, predicate, node or string, provenance, confidence)
                if predicate != NAMED or NAMED in self._slot_names or line.docid in self._docids:
                    self._keep(line, line.docid)
            elif node_type:
                self.types[subject] = node_type
            elif other:
                self._read_line(number, other)
        # Most canonical mentions belong to nodes in which no query is interested, and are not kept.
        nodes_in_slots: set[str] = set()
        for facts in self.slots.values():
            for fact in facts:
                nodes_in_slots.update((fact.subject, fact.object))
        for line in canonical_lines:
            if line.subject in nodes_in_slots:
                self._keep(line, line.docid)

    def _predicates_to_keep(self) -> frozenset[str]:
        """Return the predicates of the lines that are kept, without realis and with any realis but generic."""
        predicates = set()
        for name in (NAMED, CANONICAL, *self._slot_names):
            predicates.add(name)
            predicates.update([f"{name}{realis}" for realis in _OTHER_REALIS])
        return frozenset(predicates)

    def _read_line(self, number: int, text: str) -> None:
        """Read a line of any form, and keep it if queries need it. Raises InputError for an illegal line."""
        if "#" in text:
            text = split_comment(text)[0]
        stripped_columns = [column.strip(WHITE_SPACE) for column in text.split("\t")]
        columns = [column for column in stripped_columns if column]
        if not columns:
            return
        if _CONFIDENCE.fullmatch(columns[-1]) is None:
            columns.append("")
        predicate = columns[1] if len(columns) > 1 else ""
        if len(columns) != (4 if predicate.lower() in (TYPE, LINK) else 5):
            raise self._illegal(f"Wrong number of arguments for predicate {predicate.lower()}", number)
        if len(columns) == 4:
            if predicate == TYPE:
                self.types[columns[0]] = columns[2]
            return
        line = _KbLine(number, *columns)
        for position in range(_READ_PARTS):
            for span in _spans(line.provenance, position):
                if _SPAN.fullmatch(span) is None:
                    raise self._illegal(f"illegal offset specification: {span}", number)
        if not predicate.endswith(_GENERIC):
            span_of_line = first_span(line.provenance)
            self._keep(line, "" if span_of_line is None else span_of_line.docid)

    def _illegal(self, problem: str, number: int) -> InputError:
        """Return the error about a line that a validated knowledge base cannot have."""
        return InputError(problem, file=self._file, place=f"line {number}", code="NOT_A_VALIDATED_KB")

    def _keep(self, line: _KbLine, docid: str) -> None:
        """Keep a line if queries need it; `docid` is the document of its first span."""
        has_realis = line.predicate.endswith(_OTHER_REALIS)
        name = line.predicate.rpartition(".")[0] if has_realis else line.predicate
        fact = KbFact(
            line=line.number,
            subject=line.subject,
            object=line.object,
            provenance=line.provenance,
            confidence=line.confidence or _NO_CONFIDENCE,
            docid=docid,
            has_realis=has_realis,
        )
        if name == CANONICAL:
            self.canonical[line.subject, docid].append(fact)
        elif name == NAMED and docid in self._docids:
            span = first_span(line.provenance)
            if span is not None:
                start = offset_value(span.start)
                end = offset_value(span.end)
                self.mentions[docid].append(Mention(start, end, line.number, line.subject, line.object))
        if name in self._slot_names:
            self.slots[line.subject, name].append(fact)


def _split_blocks(blocks: Iterable[str]) -> Iterator[LineColumns]:
    """Yield the columns of each line of blocks, as `split_lines` returns them."""
    for block in blocks:
        yield from split_lines(block)


def _spans(provenance: str, position: int = 0) -> list[str]:
    """Return the spans of the part of a provenance at a position, such as ["D:3-9", "D:12-14"].

    Return an empty list for a part that is absent.
    """
    part_texts = provenance.split(";", _READ_PARTS)
    if position >= len(part_texts):
        return []
    spans = part_texts[position].rstrip(",").split(",")
    return [span for span in spans if span not in ("", NIL)]


def first_span(provenance: str) -> Span | None:
    """Return the first span of the first part of a provenance; None if that part has no legal span first."""
    spans = _spans(provenance)
    match = _SPAN.fullmatch(spans[0]) if spans else None
    return None if match is None else Span(*match.groups())


def canonical_part(provenance: str, position: int) -> str:
    """Return the part of a provenance at a position in canonical form; an empty text if it is absent."""
    spans = _spans(provenance, position)
    return read_provenance(",".join(spans), len(spans)).canonical


# ---- Answering queries

_QUOTED: Final = re.compile(r'"(.*)"', re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_WHITE_SPACE: Final = re.compile(SPACE)
_STRING_TYPE: Final = "STRING"

_STATISTICS: Final = (
    "Entry points", "Fills", "String fills", "ResolutionTasks", "Entity2NameTasks", "FillSlotTasks",
    "FindEntrypointsTasks", "RESOLUTION_STATISTICS",
)  # fmt: skip


class _Question(Record):
    """A query or a follow-on query: its full id, the slots that remain to be filled, and the query of the first hop."""

    full_id: str
    slots: tuple[str, ...]
    query: Query


class _PathTask(Record, eq=False):
    """A task about a question, which waits for lines of the knowledge base: its `facts`, one after the other.

    If `answer` is None, the facts are the answers to the question. Otherwise there is at most one fact, the canonical
    mention of the node that is the answer, which gives the answer its name.
    """

    question: _Question
    facts: Sequence[KbFact]
    answer: KbFact | None = None


class _Wait(NamedTuple):
    """A task in the queue, with the line for which it waits.

    The reference program reads the knowledge base in rounds, each from the first line to the last. The queue is sorted
    by round, line and the number of the task. `position` is the position of the line among the facts of the task.
    """

    round: int
    line: int
    task_number: int
    position: int
    task: _PathTask


class Resolution:
    """The answers of a knowledge base to queries.

    `entrances` has the entry point of each query, `entered_count` is the number of queries whose entry point has a
    node, and `lines` are the lines of the run. The run has the order of the reference program: tasks wait in a queue
    for lines of the knowledge base; tasks that wait for the same line act in the order in which they were made.
    """

    def __init__(self, kb: ValidatedKb, queries: Sequence[Query]) -> None:
        """Answer the queries in their order. Raises InputError if a follow-on query about an answer is impossible."""
        self.entrances: list[Entrance] = []
        self.lines: list[str] = []
        self.entered_count = 0
        self._kb = kb
        self._fill_count = 0
        self._string_fill_count = 0
        self._name_task_count = 0
        self._slot_task_count = 0
        self._queue: list[_Wait] = []
        index_by_docid = {docid: MentionIndex(mentions) for docid, mentions in kb.mentions.items()}
        empty_index = MentionIndex(())
        for query in queries:
            if not query.entry_points:
                self.entrances.append(Entrance(query, None, empty_index))
                continue
            entry_point = query.entry_points[0]
            index = index_by_docid.get(entry_point.docid or "", empty_index)
            self.entrances.append(Entrance(query, entry_point, index))
            mention = index.best(*_offsets(entry_point))
            if mention is not None:
                self.entered_count += 1
                question = _Question(query.full_id, query.slots, query)
                self._ask(question, mention.node, round_=1, line=0)
        while self._queue:
            self._process_line(heapq.heappop(self._queue))

    def statistics(self) -> str:
        """Return the two lines of statistics, a heading and the counts, with which the reference program ends."""
        task_counts = (self._name_task_count, self._slot_task_count, len(self.entrances))
        counts = (self.entered_count, self._fill_count, self._string_fill_count, sum(task_counts), *task_counts)
        heading = "\t".join(["", *_STATISTICS])
        values = "\t".join([self._kb.run_id, *[str(count) for count in counts], _STATISTICS[-1]])
        return f"{heading}\n{values}\n"

    def _ask(self, question: _Question, node: str, *, round_: int, line: int) -> None:
        """Queue a task for the lines about a node that fill the first slot of a question.

        `round_` and `line` say where in the knowledge base the question arises.
        """
        self._slot_task_count += 1
        facts = self._kb.slots.get((node, question.slots[0]), ())
        start = bisect_right(facts, line, key=_line)
        task = _PathTask(question, [*facts[start:], *facts[:start]])  # the lines after the present one come first
        self._wait_for_next(task, self._task_count, 0, round_=round_, line=line)

    def _ask_for_name(self, question: _Question, answer: KbFact, *, round_: int, line: int) -> None:
        """Queue a task for the canonical mention of the node that answers a question.

        The mention is in the document of the answer: the next one after the line of the answer, or else the first one.
        `round_` and `line` say where in the knowledge base the answer is.
        """
        self._name_task_count += 1
        facts = self._kb.canonical.get((answer.object, answer.docid), ())
        start = bisect_right(facts, line, key=_line)
        next_fact = facts[start : start + 1] or facts[:1]
        task = _PathTask(question, next_fact, answer)
        self._wait_for_next(task, self._task_count, 0, round_=round_, line=line)

    @property
    def _task_count(self) -> int:
        """The number of tasks so far, which is also the number of the last task."""
        return self._slot_task_count + self._name_task_count

    def _wait_for_next(self, task: _PathTask, task_number: int, position: int, *, round_: int, line: int) -> None:
        """Queue a task for its fact at a position, if it has one.

        `round_` and `line` are the present ones. An earlier line is read in the next round.
        """
        if position < len(task.facts):
            next_line = task.facts[position].line
            next_round = round_ if next_line > line else round_ + 1
            heapq.heappush(self._queue, _Wait(next_round, next_line, task_number, position, task))

    def _process_line(self, wait: _Wait) -> None:
        """Process the line for which a task waits, and queue the tasks that follow from it.

        The line is an answer, which is written if it is a string; for a node its canonical mention is needed first. Or
        the line is that mention: then the answer is written, and the follow-on query about it is asked.
        """
        round_, line, task_number, position, task = wait
        fact = task.facts[position]
        question = task.question
        if task.answer is not None:
            self.lines.append(self._run_line(question, task.answer, fact))
            follow_on = _make_follow_on(question, fact)
            if follow_on.slots:
                self._ask(follow_on, fact.subject, round_=round_, line=line)
            return
        self._fill_count += 1
        if fact.object.startswith(":"):
            self._ask_for_name(question, fact, round_=round_, line=line)
        else:
            self._string_fill_count += 1
            self.lines.append(self._run_line(question, fact, fact))
        self._wait_for_next(task, task_number, position + 1, round_=round_, line=line)

    def _run_line(self, question: _Question, answer: KbFact, mention: KbFact) -> str:
        """Return the line of the run for an answer; `mention` has the answer's name and the place of it."""
        justification_position = 1 if answer.object.startswith(":String") else 0  # strings have a filler before it
        justification = canonical_part(answer.provenance, justification_position)
        if answer.subject.startswith(":Event") or answer.object.startswith(":Event"):
            # The place of the subject comes first, though events have none.
            justification = f"{self._subject_place(answer)},{justification}"
        columns = (
            question.full_id,
            question.slots[0],
            self._kb.run_id,
            justification,
            _plain_text(mention.object),
            self._kb.types.get(answer.object, _STRING_TYPE),
            mention.provenance,
            answer.confidence,
            answer.object,
        )
        return "\t".join(columns) + "\n"

    def _subject_place(self, answer: KbFact) -> str:
        """Return the place of the last canonical mention of an answer's subject in the document of the answer.

        Mentions with realis are left out. The place is in canonical form, empty if there is no such mention.
        """
        provenance = ""
        for mention in self._kb.canonical.get((answer.subject, answer.docid), ()):
            if not mention.has_realis:
                provenance = mention.provenance
        return canonical_part(provenance, 0)


def _make_follow_on(question: _Question, mention: KbFact) -> _Question:
    """Return the follow-on query about an answer to a question; `mention` is the canonical mention of the answer.

    Raises InputError if the query has several entry points, and if its id cannot be extended.
    """
    query = question.query
    if len(query.entry_points) > 1:
        raise InputError(
            f"Attempt to execute method generate_query on query {query.short_id}, which has multiple entrypoints",
            file=query.place.file,
            remedy="split the queries by entry point first (cs-score validate-queries -expand)",
            code="QUERY_NOT_EXPANDED",
        )
    span = first_span(mention.provenance)
    provenance = "" if span is None else read_provenance(str(span), 1).canonical
    full_id = f"{question.full_id}_{follow_on_id(question.full_id, _plain_text(mention.object), provenance)}"
    if parse_query_id(full_id) is None:
        raise InputError(
            f'unexpected argument: "{full_id}" sent to parse_queryid',
            file=query.place.file,
            place=str(query.place.line),
            remedy="answers can be asked about only where the query's id ends in ten hexadecimal digits",
            code="UNPARSABLE_QUERY_ID",
        )
    return _Question(full_id, question.slots[1:], query)


def _plain_text(text: str) -> str:
    """Return the text of a mention without its quotes and escapes, with each white space character as a blank."""
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        text = _ESCAPED.sub(r"\1", quoted.group(1))
    return _WHITE_SPACE.sub(" ", text)


# ---- Explaining the entry points

_HEADER: Final = "query\tentry point\toutcome\tnode\tmention\toffsets\tline\tcommon\trest\n"
_EMPTY_COLUMNS: Final = ("",) * 6

EXPLANATION: Final = OwnOption("--explain", {".tsv": re.escape(_HEADER.encode())}, "entrances.tsv", takes_dash=True)
"""The option that names the file of the table."""


def explanation_text(resolution: Resolution) -> Iterator[str]:
    """Yield the lines of a table with the mentions that overlap the entry point of each query, the chosen one first.

    A query without such a mention has a line with the reason. Texts from the inputs are written so that a spreadsheet
    does not take them for formulas.
    """
    yield _HEADER
    for entrance in resolution.entrances:
        for row in _explain_entrance(entrance):
            yield "\t".join([spreadsheet_cell(cell) for cell in row]) + "\n"


def _explain_entrance(entrance: Entrance) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table about a query, as texts in the order of its columns."""
    full_id = entrance.query.full_id
    entry_point = entrance.entry_point
    if entry_point is None:
        yield full_id, "", "no entry point", *_EMPTY_COLUMNS
        return
    place = f"{entry_point.docid or ''}:{entry_point.start or ''}-{entry_point.end or ''}"
    start, end = _offsets(entry_point)
    overlaps = sorted(entrance.mentions.overlaps(start, end), key=_overlap_rank)
    for number, overlap in enumerate(overlaps):
        outcome = "met, weaker" if number else "chosen"
        common_count = f"{overlap.common_less_one + 1:.15g}"
        yield full_id, place, outcome, *_mention_columns(overlap.mention), common_count, f"{overlap.rest:.15g}"
    if overlaps:
        return
    nearest = entrance.mentions.nearest(start, end)
    if nearest is None:
        yield full_id, place, "nothing met; no mention in the document", *_EMPTY_COLUMNS
    else:
        yield full_id, place, "nothing met; nearest in the document", *_mention_columns(nearest), "", ""


def _mention_columns(mention: Mention) -> tuple[str, str, str, str]:
    """Return the columns of the table for a mention: node, text, offsets and line."""
    return mention.node, mention.text, f"{mention.start:.15g}-{mention.end:.15g}", str(mention.line)
