"""Large inputs cut into parts: a part holds some of the queries and, of every file, the lines about them.

Nothing that is scored looks beyond a query, the answers to it and the queries that ask about those, so parts can be
scored one by one or side by side. Lines are kept as they stand in the files until their part is scored.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.base.sources import Source, open_source
from cs_score.coldstart.gold import Gold
from cs_score.coldstart.lines.layouts import FileKind, Schema
from cs_score.coldstart.lines.links import Links
from cs_score.coldstart.lines.loading import Loading, members, role_of
from cs_score.coldstart.lines.reader import TabFile, accepted_lines, line_blocks, read_tab_file
from cs_score.coldstart.queries.query_set import Query, QuerySet
from cs_score.problems.log import ProblemLog

# What the id of a follow-on query has after that of the query whose answer it asks about.
_FOLLOW_ON: Final = len("_000000000000")

_BLOCK: Final = 1 << 20
"""Bytes that are spread over the parts at a time; with small blocks the lines take a third more memory."""

Block: TypeAlias = tuple["array[int]", bytes]
"""Some lines of a file: their numbers from 1, and their texts joined by line feeds."""


class DividedFile(Record):
    """A file of a known layout whose lines are spread over the parts; `blocks` are those of each part."""

    name: str
    schema: Schema
    blocks: Sequence[Sequence[Block]]


class Cut(Record):
    """How queries fall to parts: the queries of each part, and the part of each query by full id in UTF-8.

    `lengths` are those of the ids, the longest first.
    """

    queries: Sequence[Mapping[str, Query]]
    part_of: Mapping[bytes, int]
    lengths: Sequence[int]

    def family(self, query_id: bytes) -> tuple[bytes | None, int]:
        """The query that a line names, or the first one in the chain of answers that led to that; and its part.

        A line that names no query goes to the first part, where its fault is found.
        """
        # Of all the beginnings only those as long as an id are looked up: a column may hold megabytes.
        for length in self.lengths:
            if length <= len(query_id) and (len(query_id) - length) % _FOLLOW_ON == 0:
                first = query_id[:length]
                part = self.part_of.get(first)
                if part is not None:
                    return first, part
        return None, 0


def cut_queries(queries: QuerySet, parts: int) -> Cut | None:
    """Spread queries over at most `parts` parts, so that names in one part sort before all names in the next.

    None where queries cannot be told apart by the ids that lines bear.
    """
    ordered = sorted(queries.by_id.values(), key=lambda query: query.full_id)
    if len({query.base_id for query in ordered}) < len(ordered):
        return None
    # Lines never name expanded queries, so these weigh nothing.
    size = -(-sum(query.expansions is None for query in ordered) // parts)
    of_part: list[dict[str, Query]] = [{}]
    part_of: dict[bytes, int] = {}
    family = None
    work = 0
    for query in ordered:
        # Ids that begin alike stay together: the names of their classes need not sort one query after the other.
        if family is None or not query.full_id.startswith(family):
            family = query.full_id
            if work >= size > 0:
                of_part.append({})
                work = 0
        work += query.expansions is None
        of_part[-1][query.short_id] = query
        part_of[query.full_id.encode("utf-8", "surrogatepass")] = len(of_part) - 1
    return Cut(of_part, part_of, sorted({*map(len, part_of)}, reverse=True))


def divide_files(loading: Loading, files: Iterable[str], cut: Cut) -> list[DividedFile]:
    """Read files, and spread their lines over the parts.

    Layouts, remarks and digests are added to `loading`, which gets no lines. Raises InputError where a file
    cannot be read or its layout is unknown; what is wrong with single lines is found when their part is scored.
    """
    divided: list[DividedFile] = []
    for member in (member for given in files for member in members(given)):
        with open_source(member) as source:
            head = read_tab_file(source, loading.problems)
        with open_source(member) as source:
            if head is not None:
                loading.note_layout(head.name, head.schema)
                divided.append(DividedFile(head.name, head.schema, _spread(source, head.schema, cut)))
            loading.digests.append(source.digest(role_of(None if head is None else head.schema)))
    return divided


def _spread(source: Source, schema: Schema, cut: Cut) -> list[list[Block]]:
    """The lines of a file, by part."""
    at = 0 if schema.kind is FileKind.RUN else schema.columns.index("QUERY_AND_SLOT_NAME")
    blocks: list[list[Block]] = [[] for _ in cut.queries]
    counted = 0
    family: bytes | None = None
    part = 0
    for block in line_blocks(source, _BLOCK):
        numbers: list[array[int]] = [array("L") for _ in blocks]
        lines: list[list[bytes]] = [[] for _ in blocks]
        texts = block.replace(b"\r", b"").split(b"\n")
        for number, line in enumerate(texts, counted + 1):
            columns = line.split(b"\t", at + 1)
            query_id = columns[at].partition(b":")[0] if len(columns) > at else b""
            # Most lines are about the same query as the line before, or about an answer to it.
            if query_id != family and query_id[:-_FOLLOW_ON] != family:
                family, part = cut.family(query_id)
            numbers[part].append(number)
            lines[part].append(line)
        counted += len(texts)
        for of_part, their_numbers, their_lines in zip(blocks, numbers, lines):
            if their_lines:
                of_part.append((their_numbers, b"\n".join(their_lines)))
    return blocks


def queries_of_part(queries: QuerySet, cut: Cut, part: int) -> QuerySet:
    """The queries of one part."""
    return QuerySet(cut.queries[part], queries.ldc_of, queries.was_expanded)


def open_part(gold: Gold, cut: Cut, part: int) -> Gold:
    """Gold with the queries of one part only, with problems of its own and without a pool."""
    table = queries_of_part(gold.table, cut, part)
    hop_limits = {short_id: gold.hop_limits[short_id] for short_id in table.by_id if short_id in gold.hop_limits}
    return replace(
        gold, table=table, hop_limits=hop_limits, links=Links(table), problems=ProblemLog(), remarks=(), digests=(),
        _queries={}, _values={},
    )  # fmt: skip


def load_part(loading: Loading, files: Iterable[DividedFile], part: int) -> None:
    """Link the lines of one part. Raises InputError as `Loading.load` does."""
    for file in files:
        texts = _numbered(file.blocks[part], file.name)
        lines = accepted_lines(texts, file.name, len(file.schema.columns), loading.problems, [])
        loading.load_lines(TabFile(file.name, file.schema, lines))


def _numbered(blocks: Iterable[Block], name: str) -> Iterator[tuple[int, str]]:
    for numbers, texts in blocks:
        try:
            yield from zip(numbers, texts.decode("utf-8").split("\n"))
        except UnicodeDecodeError:
            raise InputError("not UTF-8", file=name, code="NOT_UTF8") from None
