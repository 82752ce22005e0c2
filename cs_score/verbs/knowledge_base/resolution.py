"""Answers queries from a validated knowledge base; the answers are the responses of a run.

An entry point of a query is a place in a document. Its node is the node with the mention that overlaps the place best,
and the lines about this node in the slot of the query are the answers.
"""

from __future__ import annotations

import heapq
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
from cs_score.coldstart.tab_files import CERTAIN, Span, offset_value, read_provenance, split_comment
from cs_score.verbs.knowledge_base.assertions import CANONICAL, LINK, NAMED, NIL, TYPE
from cs_score.verbs.knowledge_base.kb_file import split_lines, text_blocks

# ---- Mentions and entry points


class Mention(NamedTuple):
    """A mention of a node by name: the offsets of its first and last characters, its line, the node and the text.

    `start` and `end` are numbers of characters in the document; they are floats because any number may be written.
    """

    start: float
    end: float
    line: int
    node: str
    text: str


class MentionOverlap(NamedTuple):
    """A mention that overlaps an entry point.

    `common_less_one` is the number of characters that both have, less one; `rest` is the number of the other characters
    of the mention. If the mention is at 3-9 and the entry point at 8-12, they are 1 and 5.
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
        # Of mentions with the same offsets only the first can be chosen.
        mention_by_span: dict[tuple[float, float], Mention] = {}
        for mention in mentions:
            mention_by_span.setdefault((mention.start, mention.end), mention)
        self._mentions: Sequence[Mention] = sorted(mention_by_span.values())
        self._starts = [mention.start for mention in self._mentions]
        # For each mention, the mention that ends last among those up to it. It tells where a search may end.
        self._last_ending: list[Mention] = []
        for mention in self._mentions:
            last_ending = mention
            if self._last_ending and self._last_ending[-1].end >= mention.end:
                last_ending = self._last_ending[-1]
            self._last_ending.append(last_ending)

    def best(self, start: float, end: float) -> Mention | None:
        """Return the mention that overlaps a span best; None if no mention overlaps it."""
        overlap = min(self.overlaps(start, end), key=_overlap_rank, default=None)
        return None if overlap is None else overlap.mention

    def overlaps(self, start: float, end: float) -> Iterator[MentionOverlap]:
        """Yield all mentions that overlap a span, from the last one to the first.

        `start` and `end` are the offsets of the first and the last character of the span.
        """
        count_before_end = bisect_right(self._starts, end)  # of mentions that start before the end of the span
        for position in reversed(range(count_before_end)):
            if self._last_ending[position].end < start:
                return  # neither this mention nor an earlier one reaches the span
            mention = self._mentions[position]
            if mention.end >= start:
                common_less_one = min(mention.end, end) - max(mention.start, start)
                length_less_one = mention.end - mention.start
                yield MentionOverlap(mention, common_less_one, rest=length_less_one - common_less_one)

    def nearest(self, start: float, end: float) -> Mention | None:
        """Return the mention that is nearest to a span which no mention overlaps; None if the document has no mention.

        `start` and `end` are the offsets of the first and the last character of the span.
        """
        if not self._mentions:
            return None
        count_before = bisect_right(self._starts, end)
        if count_before == 0:
            return self._mentions[0]
        previous = self._last_ending[count_before - 1]
        if count_before == len(self._mentions):
            return previous
        following = self._mentions[count_before]
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
_READ_PART_COUNT: Final = 3
"""The number of parts of a provenance that are read; further ones are justifications that no run has."""

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
    """The columns of an assertion in a validated knowledge base. The confidence is empty if the line has none."""

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
        """Read the lines that answer these queries. Raises InputError unless the file is a validated knowledge base."""
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
                first_entry_point = query.entry_points[0]
                self._docids.add(first_entry_point.docid or "")

        blocks = text_blocks(source)
        first_line, line_feed, text_after_first_line = next(blocks, "").partition("\n")
        first_line_without_comment, _comment = split_comment(first_line)
        self.run_id = first_line_without_comment.strip(WHITE_SPACE)
        if self.run_id in ("", "0"):
            raise InputError("No runid found", file=self._file, place="line 1", code="NOT_A_VALIDATED_KB")
        self._canonical_lines: list[_KbLine] = []
        line_count = 1
        if line_feed:
            line_count += self._read_block(text_after_first_line, line_count)
        for block in blocks:
            line_count += self._read_block(block, line_count)
        self._keep_canonical_mentions()

    def _read_block(self, block: str, line_count: int) -> int:
        """Read a block of lines, keep the lines that queries need, and return the number of lines in the block.

        `line_count` is the number of lines before the block. Canonical mentions are only collected, since most of them
        belong to nodes in which no query is interested. Raises InputError for an illegal line.
        """
        predicates = self._predicates_to_keep()
        has_canonical_slot = CANONICAL in self._slot_names
        has_mention_slot = NAMED in self._slot_names
        lines = split_lines(block)
        for number, columns in enumerate(lines, start=line_count + 1):
            subject, predicate, node, string, provenance, confidence, node_type, other_line = columns
            if predicate == CANONICAL and not has_canonical_slot:
                line = _KbLine(number, subject, predicate, node or string, provenance, confidence)
                self._canonical_lines.append(line)
            elif predicate in predicates:
                line = _KbLine(number, subject, predicate, node or string, provenance, confidence)
                # Mentions by name matter only in the documents of entry points, unless a query asks for them.
                if predicate != NAMED or has_mention_slot or line.docid in self._docids:
                    self._keep(line, line.docid)
            elif node_type:
                self.types[subject] = node_type
            elif other_line:
                self._read_other_line(number, other_line)
        return len(lines)

    def _keep_canonical_mentions(self) -> None:
        """Keep the canonical mentions of the nodes that are in a slot of a query, in the order of their lines."""
        nodes_in_slots: set[str] = set()
        for facts in self.slots.values():
            for fact in facts:
                nodes_in_slots.update((fact.subject, fact.object))
        for line in self._canonical_lines:
            if line.subject in nodes_in_slots:
                self._keep(line, line.docid)
        for facts in self.canonical.values():
            facts.sort(key=_line)

    def _predicates_to_keep(self) -> frozenset[str]:
        """Return the predicates of lines that queries may need: those of their slots, and of mentions.

        A predicate of an event is written with a realis. Lines with the realis "actual" or "other" are kept, those with
        "generic" are not: for the slot life.marry_person, `life.marry_person`, `life.marry_person.actual` and
        `life.marry_person.other` are returned.
        """
        predicates = set()
        for name in (NAMED, CANONICAL, *self._slot_names):
            predicates.add(name)
            for realis in _OTHER_REALIS:
                predicates.add(f"{name}{realis}")
        return frozenset(predicates)

    def _read_other_line(self, number: int, text: str) -> None:
        """Read a line that may have comments, white space and empty columns; keep it if queries need it.

        A line that declares the type of a node sets its type. Raises InputError for an illegal line.
        """
        if "#" in text:
            text, _comment = split_comment(text)
        stripped_columns = [column.strip(WHITE_SPACE) for column in text.split("\t")]
        columns = [column for column in stripped_columns if column]
        if not columns:
            return

        predicate = columns[1] if len(columns) > 1 else ""
        confidence = ""
        if _CONFIDENCE.fullmatch(columns[-1]):
            confidence = columns.pop()
        has_provenance = predicate.lower() not in (TYPE, LINK)
        if len(columns) != (4 if has_provenance else 3):
            raise self._illegal_line(f"Wrong number of arguments for predicate {predicate.lower()}", number)
        if not has_provenance:
            subject, _, node_type = columns
            if predicate == TYPE:
                self.types[subject] = node_type
            return

        subject, _, object_, provenance = columns
        for position in range(_READ_PART_COUNT):
            for span in _spans_of_part(provenance, position):
                if _SPAN.fullmatch(span) is None:
                    raise self._illegal_line(f"illegal offset specification: {span}", number)
        if predicate.endswith(_GENERIC):
            return
        place = first_span(provenance)
        docid = "" if place is None else place.docid
        self._keep(_KbLine(number, subject, predicate, object_, provenance, confidence), docid)

    def _illegal_line(self, problem: str, number: int) -> InputError:
        """Return the error about a line that a validated knowledge base cannot have."""
        return InputError(problem, file=self._file, place=f"line {number}", code="NOT_A_VALIDATED_KB")

    def _keep(self, line: _KbLine, docid: str) -> None:
        """Keep a line as an answer, as a mention, or as both, if queries need it.

        `docid` is the document of its first span.
        """
        has_realis = line.predicate.endswith(_OTHER_REALIS)
        name = line.predicate
        if has_realis:
            name, _dot, _realis = line.predicate.rpartition(".")
        fact = KbFact(
            line=line.number,
            subject=line.subject,
            object=line.object,
            provenance=line.provenance,
            confidence=line.confidence or CERTAIN,
            docid=docid,
            has_realis=has_realis,
        )
        if name in self._slot_names:
            self.slots[line.subject, name].append(fact)
        if name == CANONICAL:
            self.canonical[line.subject, docid].append(fact)
        if name == NAMED and docid in self._docids:
            span = first_span(line.provenance)
            if span is not None:
                mention = Mention(
                    start=offset_value(span.start),
                    end=offset_value(span.end),
                    line=line.number,
                    node=line.subject,
                    text=line.object,
                )
                self.mentions[docid].append(mention)


def _spans_of_part(provenance: str, position: int) -> list[str]:
    """Return the spans of the part of a provenance at a position: for "D:0-9;D:3-5,D:8-9" and 1 ["D:3-5", "D:8-9"].

    Return an empty list for a part that is absent.
    """
    part_texts = provenance.split(";", _READ_PART_COUNT)
    if position >= len(part_texts):
        return []
    spans = part_texts[position].rstrip(",").split(",")
    return [span for span in spans if span not in ("", NIL)]


def first_span(provenance: str) -> Span | None:
    """Return the first span of the first part of a provenance; None if that part is absent or its span is illegal."""
    spans = _spans_of_part(provenance, 0)
    if not spans:
        return None
    match = _SPAN.fullmatch(spans[0])
    if match is None:
        return None
    docid, start, end = match.groups()
    return Span(docid, start, end)


def canonical_part(provenance: str, position: int) -> str:
    """Return the part of a provenance at a position in canonical form; an empty text if it is absent.

    For "D:0-9;D:8-9,D:3-5" and the position 1 this is "D:3-5,D:8-9".
    """
    spans = _spans_of_part(provenance, position)
    return read_provenance(",".join(spans), len(spans)).canonical_text


# ---- Answering queries

_QUOTED: Final = re.compile(r'"(.*)"', re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_WHITE_SPACE: Final = re.compile(SPACE)
_STRING_TYPE: Final = "STRING"

_LAST_STATISTICS_COLUMN: Final = "RESOLUTION_STATISTICS"
"""The text at the end of both lines of statistics, by which they are found among the other lines of a log."""


class _Question(Record):
    """A query or a follow-on query: its full id, the slots that remain to be filled, and the query of the first hop."""

    full_id: str
    slots: tuple[str, ...]
    query: Query


class _Task(Record, eq=False):
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
    task: _Task


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
            start, end = _offsets(entry_point)
            mention = index.best(start, end)
            if mention is not None:
                self.entered_count += 1
                question = _Question(full_id=query.full_id, slots=query.slots, query=query)
                self._ask(question, mention.node, round_=1, line=0)
        while self._queue:
            self._process_line(heapq.heappop(self._queue))

    def statistics(self) -> str:
        """Return the two lines of statistics, a heading and the counts, with which the reference program ends."""
        entry_task_count = len(self.entrances)
        count_by_heading = {
            "Entry points": self.entered_count,
            "Fills": self._fill_count,
            "String fills": self._string_fill_count,
            "ResolutionTasks": self._name_task_count + self._slot_task_count + entry_task_count,
            "Entity2NameTasks": self._name_task_count,
            "FillSlotTasks": self._slot_task_count,
            "FindEntrypointsTasks": entry_task_count,
        }
        headings = "\t".join(count_by_heading)
        counts = "\t".join([str(count) for count in count_by_heading.values()])
        heading_line = f"\t{headings}\t{_LAST_STATISTICS_COLUMN}\n"
        count_line = f"{self._kb.run_id}\t{counts}\t{_LAST_STATISTICS_COLUMN}\n"
        return heading_line + count_line

    def _ask(self, question: _Question, node: str, *, round_: int, line: int) -> None:
        """Queue a task for the lines about a node that fill the first slot of a question.

        `round_` and `line` say where in the knowledge base the question arises.
        """
        self._slot_task_count += 1
        facts = self._kb.slots.get((node, question.slots[0]), ())
        # The lines after the present one are read first, the lines before it in the next round.
        count_before = bisect_right(facts, line, key=_line)
        facts_as_read = list(facts[count_before:])
        facts_as_read += facts[:count_before]
        task = _Task(question, facts_as_read)
        self._wait_for_next(task, self._last_task_number, 0, round_=round_, line=line)

    def _ask_for_name(self, question: _Question, answer: KbFact, *, round_: int, line: int) -> None:
        """Queue a task for the canonical mention of the node that answers a question.

        The mention is in the document of the answer: the next one after the line of the answer, or else the first one.
        `round_` and `line` say where in the knowledge base the answer is.
        """
        self._name_task_count += 1
        mentions = self._kb.canonical.get((answer.object, answer.docid), ())
        count_before = bisect_right(mentions, line, key=_line)
        mentions_after = mentions[count_before:]
        next_mention = mentions_after[:1] if mentions_after else mentions[:1]
        task = _Task(question, next_mention, answer)
        self._wait_for_next(task, self._last_task_number, 0, round_=round_, line=line)

    @property
    def _last_task_number(self) -> int:
        """The number of the last task that was made; tasks are numbered from 1."""
        return self._slot_task_count + self._name_task_count

    def _wait_for_next(self, task: _Task, task_number: int, position: int, *, round_: int, line: int) -> None:
        """Queue a task for the line of its fact at a position; a task without a further fact is finished.

        `round_` and `line` are the present ones. A line before the present one is read in the next round.
        """
        if position >= len(task.facts):
            return
        next_line = task.facts[position].line
        next_round = round_ if next_line > line else round_ + 1
        wait = _Wait(round=next_round, line=next_line, task_number=task_number, position=position, task=task)
        heapq.heappush(self._queue, wait)

    def _process_line(self, wait: _Wait) -> None:
        """Process the line for which a task waits, and queue the tasks that follow from it.

        The line is an answer, which is written if it is a string; for a node its canonical mention is needed first. Or
        the line is that mention: then the answer is written, and the follow-on query about it is asked.
        """
        task = wait.task
        question = task.question
        fact = task.facts[wait.position]
        if task.answer is not None:
            self.lines.append(self._run_line(question, task.answer, mention=fact))
            follow_on = _make_follow_on(question, fact)
            if follow_on.slots:
                self._ask(follow_on, fact.subject, round_=wait.round, line=wait.line)
            return
        self._fill_count += 1
        is_node = fact.object.startswith(":")
        if is_node:
            self._ask_for_name(question, fact, round_=wait.round, line=wait.line)
        else:
            self._string_fill_count += 1
            self.lines.append(self._run_line(question, fact, mention=fact))
        self._wait_for_next(task, wait.task_number, wait.position + 1, round_=wait.round, line=wait.line)

    def _run_line(self, question: _Question, answer: KbFact, *, mention: KbFact) -> str:
        """Return the line of the run for an answer to a question; `mention` has the answer's name and its place."""
        # The provenance of a string node has the place of its text before the justification.
        justification_position = 1 if answer.object.startswith(":String") else 0
        justification = canonical_part(answer.provenance, justification_position)
        has_event = answer.subject.startswith(":Event") or answer.object.startswith(":Event")
        if has_event:
            # The place of the subject comes first. It is empty for an event, which has none.
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

        Mentions with realis are left out. The place is in canonical form, such as "D1:3-9"; it is empty if there is no
        such mention.
        """
        mentions = self._kb.canonical.get((answer.subject, answer.docid), ())
        for mention in reversed(mentions):
            if not mention.has_realis:
                return canonical_part(mention.provenance, 0)
        return ""


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
    # The id of the follow-on query depends on the text of the answer and on the first span of its mention.
    span = first_span(mention.provenance)
    place = "" if span is None else read_provenance(str(span), 1).canonical_text
    last_part = follow_on_id(question.full_id, _plain_text(mention.object), place)
    full_id = f"{question.full_id}_{last_part}"
    if parse_query_id(full_id) is None:
        raise InputError(
            f'unexpected argument: "{full_id}" sent to parse_queryid',
            file=query.place.file,
            place=str(query.place.line),
            remedy="answers can be asked about only where the query's id ends in ten hexadecimal digits",
            code="UNPARSABLE_QUERY_ID",
        )
    later_slots = question.slots[1:]
    return _Question(full_id=full_id, slots=later_slots, query=query)


def _plain_text(text: str) -> str:
    r"""Return the text of a mention without its quotes and escapes, with each white space character as a blank.

    `"The \"Boss\""` -> `The "Boss"`.
    """
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        text = _ESCAPED.sub(r"\1", quoted.group(1))
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
    for entrance in resolution.entrances:
        for row in _explain_entrance(entrance):
            yield "\t".join([spreadsheet_cell(cell) for cell in row.columns()]) + "\n"


class _ExplanationRow(NamedTuple):
    """A row of the table: a query, its entry point, the outcome for a mention, and how they overlap."""

    query_id: str
    place: str
    outcome: str
    mention: Mention | None = None
    overlap: MentionOverlap | None = None

    def columns(self) -> list[str]:
        """Return the texts of the columns of the table; those about an absent mention or overlap are empty."""
        node = text = offsets = line = common_count = rest_count = ""
        if self.mention is not None:
            node = self.mention.node
            text = self.mention.text
            offsets = f"{self.mention.start:.15g}-{self.mention.end:.15g}"
            line = str(self.mention.line)
        if self.overlap is not None:
            common_count = f"{self.overlap.common_less_one + 1:.15g}"
            rest_count = f"{self.overlap.rest:.15g}"
        return [self.query_id, self.place, self.outcome, node, text, offsets, line, common_count, rest_count]


def _explain_entrance(entrance: Entrance) -> list[_ExplanationRow]:
    """Return the rows of the table about a query: one for each mention that overlaps its entry point, the best first.

    If no mention does, there is one row with the nearest mention in the document.
    """
    query_id = entrance.query.full_id
    entry_point = entrance.entry_point
    if entry_point is None:
        return [_ExplanationRow(query_id, place="", outcome="no entry point")]
    place = f"{entry_point.docid or ''}:{entry_point.start or ''}-{entry_point.end or ''}"
    start, end = _offsets(entry_point)
    overlaps = sorted(entrance.mentions.overlaps(start, end), key=_overlap_rank)
    if overlaps:
        outcomes = ["chosen"] + ["met, weaker"] * (len(overlaps) - 1)
        return [
            _ExplanationRow(query_id, place, outcome, overlap.mention, overlap)
            for outcome, overlap in zip(outcomes, overlaps, strict=True)
        ]
    nearest = entrance.mentions.nearest(start, end)
    if nearest is None:
        return [_ExplanationRow(query_id, place, "nothing met; no mention in the document")]
    return [_ExplanationRow(query_id, place, "nothing met; nearest in the document", nearest)]
