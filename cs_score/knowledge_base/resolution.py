"""Which nodes queries mean in a validated knowledge base, what they ask of it, and the run that answers them."""

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
from cs_score.knowledge_base.assertions import CANONICAL, LINK, NAMED, NIL, TYPE
from cs_score.knowledge_base.kb_file import split_lines, text_blocks


class Mention(NamedTuple):
    """A mention of a node by name, and the line that it stands in."""

    start: float
    end: float
    line: int
    node: str
    text: str


_end: Final = attrgetter("end")


class Overlap(NamedTuple):
    """A mention that overlaps an entry point: the characters they have in common less one, and those of the rest."""

    mention: Mention
    common: float
    rest: float


def _rank(overlap: Overlap) -> tuple[float, float, int]:
    """The best has the lowest."""
    return -overlap.common, overlap.rest, overlap.mention.line


class MentionIndex:
    """The mentions of a document by offset."""

    def __init__(self, mentions: Iterable[Mention]) -> None:
        at_span: dict[tuple[float, float], Mention] = {}
        for mention in mentions:  # of several at one place only the first can be chosen
            at_span.setdefault((mention.start, mention.end), mention)
        self._mentions: Sequence[Mention] = sorted(at_span.values())
        self._starts = [mention.start for mention in self._mentions]
        # Of each mention and those before it the one that ends last.
        self._furthest = [*itertools.accumulate(self._mentions, lambda *two: max(two, key=_end))]

    def best(self, start: float, end: float) -> Mention | None:
        """The mention that overlaps a span best, None where none does."""
        met = min(self.overlaps(start, end), key=_rank, default=None)
        return None if met is None else met.mention

    def overlaps(self, start: float, end: float) -> Iterator[Overlap]:
        """All mentions that overlap a span."""
        at = bisect_right(self._starts, end) - 1
        while at >= 0 and self._furthest[at].end >= start:
            mention = self._mentions[at]
            if mention.end >= start:
                common = min(mention.end, end) - max(mention.start, start)
                yield Overlap(mention, common, mention.end - mention.start - common)
            at -= 1

    def nearest(self, start: float, end: float) -> Mention | None:
        """The mention that is closest to a span which none overlaps."""
        at = bisect_right(self._starts, end)
        before = self._furthest[at - 1] if at else None
        after = self._mentions[at] if at < len(self._mentions) else None
        if before is None or after is None:
            return before or after
        return before if start - before.end <= after.start - end else after


class Entrance(NamedTuple):
    """How a query enters: its first entry point, if any, and the mentions of that document."""

    query: Query
    entry_point: EntryPoint | None
    mentions: MentionIndex


def _offsets(entry_point: EntryPoint) -> tuple[float, float]:
    return offset_value(entry_point.start or ""), offset_value(entry_point.end or "")


_CONFIDENCE: Final = re.compile(r"\d+\.\d+")
_SPAN: Final = re.compile(r"(.*):(\d+)-(\d+)", re.DOTALL)
_READ_PARTS: Final = 3
_NO_CONFIDENCE: Final = "1.0"
_GENERIC: Final = ".generic"
_OTHER_REALIS: Final = (".actual", ".other")

_line: Final = attrgetter("line")


class Fact(Record, eq=False):
    """A line that says something of a node: its columns, the document of its first span, whether it has a realis."""

    line: int
    subject: str
    object: str
    provenance: str
    confidence: str
    docid: str
    has_realis: bool


class ValidatedKb:
    """What queries can ask for of a validated knowledge base.

    `slots`: lines by subject and predicate. `canonical`: canonical mentions by node and document. `types`: as the last
    line says. `mentions`: by document.
    """

    def __init__(self, source: Source, queries: Sequence[Query]) -> None:
        """Read it. Raises InputError for what no validated knowledge base has."""
        self.slots: dict[tuple[str, str], list[Fact]] = defaultdict(list)
        self.canonical: dict[tuple[str, str], list[Fact]] = defaultdict(list)
        self.types: dict[str, str] = {}
        self.mentions: dict[str, list[Mention]] = defaultdict(list)
        self._slots = {slot for query in queries for slot in query.slots}
        self._docids = {query.entry_points[0].docid or "" for query in queries if query.entry_points}
        names = (NAMED, CANONICAL, *self._slots)
        wanted = frozenset(f"{name}{realis}" for name in names for realis in ("", *_OTHER_REALIS))
        self._name, blocks = source.name, text_blocks(source)
        first_line, line_feed, rest = next(blocks, "").partition("\n")
        self.run_id = split_comment(first_line)[0].strip(WHITE_SPACE)
        if self.run_id in ("", "0"):
            raise InputError("No runid found", file=source.name, place="line 1", code="NOT_A_VALIDATED_KB")
        number = 1
        canonical: list[tuple[str, int, str, str, str, str]] = []
        for block in itertools.chain((rest,) if line_feed else (), blocks):
            for subject, predicate, node, text, provenance, confidence, kind, other in split_lines(block):
                number += 1
                if predicate == CANONICAL and CANONICAL not in self._slots:
                    canonical.append((CANONICAL, number, subject, node or text, provenance, confidence))
                elif predicate in wanted:
                    if predicate != NAMED or NAMED in self._slots or provenance.partition(":")[0] in self._docids:
                        docid = provenance.partition(":")[0]
                        self._keep(predicate, number, subject, node or text, provenance, confidence, docid)
                elif kind:
                    self.types[subject] = kind
                elif other:
                    self._read_line(number, other)
        # Most canonical mentions are of nodes that nobody asks for.
        asked = {name for facts in self.slots.values() for fact in facts for name in (fact.subject, fact.object)}
        for line in canonical:
            if line[2] in asked:
                self._keep(*line, docid=line[4].partition(":")[0])
        for facts in self.canonical.values():
            facts.sort(key=_line)

    def _read_line(self, number: int, text: str) -> None:
        """Read a line of any kind."""

        def illegal(problem: str) -> InputError:
            return InputError(problem, file=self._name, place=f"line {number}", code="NOT_A_VALIDATED_KB")

        if "#" in text:
            text = split_comment(text)[0]
        columns = [stripped for column in text.split("\t") if (stripped := column.strip(WHITE_SPACE))]
        if not columns:
            return
        if _CONFIDENCE.fullmatch(columns[-1]) is None:
            columns.append("")
        predicate = columns[1] if len(columns) > 1 else ""
        if len(columns) != (4 if predicate.lower() in (TYPE, LINK) else 5):
            raise illegal(f"Wrong number of arguments for predicate {predicate.lower()}")
        if len(columns) == 4:
            if predicate == TYPE:
                self.types[columns[0]] = columns[2]
            return
        subject, _, object_, provenance, confidence = columns
        for span in (span for position in range(_READ_PARTS) for span in _spans(provenance, position)):
            if _SPAN.fullmatch(span) is None:
                raise illegal(f"illegal offset specification: {span}")
        if not predicate.endswith(_GENERIC):  # which count for nothing
            docid = "" if (first := first_span(provenance)) is None else first.docid
            self._keep(predicate, number, subject, object_, provenance, confidence, docid)

    def _keep(
        self, predicate: str, line: int, subject: str, object_: str, provenance: str, confidence: str, docid: str
    ) -> None:
        """Keep a line if somebody can ask for it."""
        has_realis = predicate.endswith(_OTHER_REALIS)
        name = predicate.rpartition(".")[0] if has_realis else predicate
        fact = Fact(line, subject, object_, provenance, confidence or _NO_CONFIDENCE, docid, has_realis)
        if name == CANONICAL:
            self.canonical[subject, docid].append(fact)
        elif name == NAMED and docid in self._docids and (span := first_span(provenance)) is not None:
            start, end = offset_value(span.start), offset_value(span.end)
            self.mentions[docid].append(Mention(start, end, line, subject, object_))
        if name in self._slots:
            self.slots[subject, name].append(fact)


def _spans(provenance: str, position: int = 0) -> list[str]:
    """The spans of a part; none where there is no such part."""
    part = (*provenance.split(";", _READ_PARTS), *[""] * _READ_PARTS)[position]
    return [span for span in part.rstrip(",").split(",") if span not in ("", NIL)]


def first_span(provenance: str) -> Span | None:
    """The first span of the first part."""
    match = _SPAN.fullmatch(next(iter(_spans(provenance)), ""))
    return None if match is None else Span(*match.groups())


def canonical_part(provenance: str, position: int) -> str:
    """A part in canonical form; empty where there is none."""
    spans = _spans(provenance, position)
    return read_provenance(",".join(spans), len(spans)).canonical


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


class _Task(Record, eq=False):
    """Waits for every line that fills the first slot of a query, or for the canonical mention of an answer."""

    asked: _Asked
    facts: Sequence[Fact]
    answer: Fact | None = None


class Resolution:
    """Queries, what they met in the knowledge base (`entrances`), and the lines that answer them.

    Tasks wait in a queue, by round and line; several that wait for one line act in the order of their making.
    """

    def __init__(self, kb: ValidatedKb, queries: Sequence[Query]) -> None:
        """Answer queries in their order. Raises InputError for a query whose answers cannot be named."""
        self.entrances: list[Entrance] = []
        self.lines: list[str] = []
        self.entered = 0
        self._fills = self._text_fills = self._name_tasks = self._slot_tasks = 0
        self._kb = kb
        # Round, line, number of the task, how many lines it has met, the task.
        self._queue: list[tuple[int, int, int, int, _Task]] = []
        indexes, nothing = {docid: MentionIndex(mentions) for docid, mentions in kb.mentions.items()}, MentionIndex(())
        for query in queries:
            if not query.entry_points:
                self.entrances.append(Entrance(query, None, nothing))
                continue
            point = query.entry_points[0]
            index = indexes.get(point.docid or "", nothing)
            self.entrances.append(Entrance(query, point, index))
            if (chosen := index.best(*_offsets(point))) is not None:
                self.entered += 1
                self._ask(_Asked(query.full_id, query.slots, query), chosen.node, 1, 0)
        while self._queue:
            self._meet(*heapq.heappop(self._queue))

    def statistics(self) -> str:
        """The two lines that the reference ends with."""
        tasks = (self._name_tasks, self._slot_tasks, len(self.entrances))
        values = (self.entered, self._fills, self._text_fills, sum(tasks), *tasks, _STATISTICS[-1])
        return "\t".join(("", *_STATISTICS)) + "\n" + "\t".join((self._kb.run_id, *map(str, values))) + "\n"

    def _ask(self, asked: _Asked, node: str, round_: int, line: int) -> None:
        """Ask for what fills the first slot of a query."""
        self._slot_tasks += 1
        self._start(asked, self._kb.slots.get((node, asked.slots[0]), ()), None, round_, line)

    def _start(self, asked: _Asked, facts: Sequence[Fact], answer: Fact | None, round_: int, line: int) -> None:
        """Start a task at a line; it comes to the lines after that first. Of canonical mentions it takes one."""
        start = bisect_right(facts, line, key=_line)
        ahead = (*facts[start:], *facts[:start]) if answer is None else facts[start : start + 1] or facts[:1]
        self._await_next(_Task(asked, ahead, answer), self._slot_tasks + self._name_tasks, 0, round_, line)

    def _await_next(self, task: _Task, number: int, met: int, round_: int, line: int) -> None:
        """Queue a task for the next line that it waits for, which is in the next round unless it lies ahead."""
        if met < len(task.facts):
            awaited = task.facts[met].line
            heapq.heappush(self._queue, (round_ if awaited > line else round_ + 1, awaited, number, met, task))

    def _meet(self, round_: int, line: int, number: int, met: int, task: _Task) -> None:
        """Let a task meet the line that it waits for."""
        fact, asked = task.facts[met], task.asked
        if task.answer is not None:
            self.lines.append(self._line(asked, task.answer, fact))
            follow_on = _follow_on(asked, fact)
            if follow_on.slots:
                self._ask(follow_on, fact.subject, round_, line)
            return
        self._fills += 1
        if fact.object.startswith(":"):
            self._name_tasks += 1
            self._start(asked, self._kb.canonical.get((fact.object, fact.docid), ()), fact, round_, line)
        else:
            self._text_fills += 1
            self.lines.append(self._line(asked, fact, fact))
        self._await_next(task, number, met + 1, round_, line)

    def _line(self, asked: _Asked, answer: Fact, mention: Fact) -> str:
        justification = canonical_part(answer.provenance, 1 if answer.object.startswith(":String") else 0)
        if answer.subject.startswith(":Event") or answer.object.startswith(":Event"):
            # The place of the subject comes first, which events lack.
            mentions = self._kb.canonical.get((answer.subject, answer.docid), ())
            last = next((mention.provenance for mention in reversed(mentions) if not mention.has_realis), "")
            justification = f"{canonical_part(last, 0)},{justification}"
        value_type = self._kb.types.get(answer.object, _STRING_TYPE)
        head = (asked.full_id, asked.slots[0], self._kb.run_id, justification, _plain_text(mention.object), value_type)
        return "\t".join((*head, mention.provenance, answer.confidence, answer.object)) + "\n"


def _follow_on(asked: _Asked, mention: Fact) -> _Asked:
    """The query about an answer. Raises InputError where there cannot be one."""
    query = asked.origin
    if len(query.entry_points) > 1:
        raise InputError(
            f"Attempt to execute method generate_query on query {query.short_id}, which has multiple entrypoints",
            file=query.place.file,
            remedy="split the queries by entry point first (cs-score validate-queries -expand)",
            code="QUERY_NOT_EXPANDED",
        )
    span = first_span(mention.provenance)
    provenance = "" if span is None else read_provenance(str(span), 1).canonical
    full_id = f"{asked.full_id}_{follow_on_id(asked.full_id, _plain_text(mention.object), provenance)}"
    if parse_query_id(full_id) is None:
        raise InputError(
            f'unexpected argument: "{full_id}" sent to parse_queryid',
            file=query.place.file,
            place=str(query.place.line),
            remedy="answers can be asked about only where the query's id ends in ten hexadecimal digits",
            code="UNPARSABLE_QUERY_ID",
        )
    return _Asked(full_id, asked.slots[1:], query)


def _plain_text(text: str) -> str:
    """A text without its quotes and escapes; white space becomes blanks."""
    quoted = _QUOTED.fullmatch(text)
    if quoted is not None:
        text = _ESCAPED.sub(r"\1", quoted.group(1))
    return _WHITE_SPACE.sub(" ", text)


_HEADER: Final = "query\tentry point\toutcome\tnode\tmention\toffsets\tline\tcommon\trest\n"

EXPLANATION: Final = OwnOption("--explain", {".tsv": re.escape(_HEADER.encode())}, "entrances.tsv", takes_dash=True)
"""The option that names the file of the table."""


def explanation_text(resolution: Resolution) -> Iterator[str]:
    """A table: for each query the mentions that its entry point met, the chosen one first, or why there is none.

    Texts of the inputs stand in it as in every table that a spreadsheet may open.
    """
    yield _HEADER
    for entrance in resolution.entrances:
        for row in _rows(entrance):
            yield "\t".join(map(spreadsheet_cell, row)) + "\n"


def _rows(entrance: Entrance) -> Iterator[tuple[str, ...]]:
    full_id, point = entrance.query.full_id, entrance.entry_point
    if point is None:
        yield full_id, "", "no entry point", *[""] * 6
        return
    head = (full_id, f"{point.docid or ''}:{point.start or ''}-{point.end or ''}")
    met = sorted(entrance.mentions.overlaps(*_offsets(point)), key=_rank)
    for number, (mention, common, rest) in enumerate(met):
        outcome = "met, weaker" if number else "chosen"
        # Characters in common: both ends of a span are inclusive.
        yield (*head, outcome, *_shown(mention), f"{common + 1:.15g}", f"{rest:.15g}")
    nearest = entrance.mentions.nearest(*_offsets(point)) if not met else None
    if nearest is not None:
        yield (*head, "nothing met; nearest in the document", *_shown(nearest), "", "")
    elif not met:
        yield (*head, "nothing met; no mention in the document", *[""] * 6)


def _shown(mention: Mention) -> tuple[str, ...]:
    return mention.node, mention.text, f"{mention.start:.15g}-{mention.end:.15g}", str(mention.line)
