"""Scoring a large run part by part, in several processes, with little in memory at a time.

A part holds some of the queries and, of every file, the lines about them: nothing that is scored looks beyond a query
and what follows on it. The files written are those of `score_runs`. What only a scoring in one piece can find out is
left to it: which of several fatal conditions is the first, how several runs mix.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Final, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.outputs import encoded, outputs_at_once, write_whole
from cs_score.base.records import Record, replace
from cs_score.base.runtime import paused_collector
from cs_score.base.sources import Source, open_source
from cs_score.coldstart.gold import Gold, run_of
from cs_score.coldstart.layouts import RUN_2014, FileKind, Schema
from cs_score.coldstart.lines import Links
from cs_score.coldstart.linking import Loading, members, role_of
from cs_score.coldstart.outputs import rankings_text, responses_text
from cs_score.coldstart.queries import Query, QuerySet
from cs_score.coldstart.result import DebugText, Result, ScoreRow, ranked_rows, tallies_of
from cs_score.coldstart.scorer import Combining, rankings_of, score_rows
from cs_score.coldstart.tab_files import TabFile, accepted_lines, line_blocks, read_tab_file
from cs_score.problems.log import ProblemLog

# What the id of a follow-on query has after that of the query whose answer it asks about.
_FOLLOW_ON: Final = len("_000000000000")

# Bytes that are spread over the parts at a time; with small blocks the lines take a third more memory.
_BLOCK: Final = 1 << 20
# Some lines of a file: their numbers from 1, and their texts joined by line feeds.
Block: TypeAlias = tuple["array[int]", bytes]


class DividedFile(Record):
    """A file of a known layout whose lines are spread over the parts; `blocks` are those of each part."""

    name: str
    schema: Schema
    blocks: Sequence[Sequence[Block]]


class Cut(Record):
    """The queries of each part, the part of each by full id in UTF-8, and the lengths of ids, the longest first."""

    queries: Sequence[Mapping[str, Query]]
    part_of: Mapping[bytes, int]
    lengths: Sequence[int]

    def family(self, query_id: bytes) -> tuple[bytes | None, int]:
        """The first query in the chain of answers that a line hangs on, and its part, the first where there is none."""
        # Of all the beginnings only those as long as an id are looked up: a column may hold megabytes.
        for length in self.lengths:
            if length <= len(query_id) and (len(query_id) - length) % _FOLLOW_ON == 0:
                first = query_id[:length]
                part = self.part_of.get(first)
                if part is not None:
                    return first, part
        return None, 0


def cut_queries(queries: QuerySet, parts: int) -> Cut | None:
    """Spread queries over at most `parts` parts, so that names in one part sort before all names in the next. None
    where the ids that lines bear do not distinguish queries.
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
    """Spread the lines of files over the parts; layouts, remarks and digests are added to `loading`. Raises InputError
    for files that cannot be read or have no layout; faults of lines are found when their part is scored.
    """
    divided: list[DividedFile] = []
    for member in (member for given in files for member in members(given)):
        with open_source(member) as source:
            head = read_tab_file(source, loading.problems, edition=loading.table.edition)
        with open_source(member) as source:
            if head is not None:
                loading.note_layout(head.name, head.schema)
                divided.append(DividedFile(head.name, head.schema, _spread(source, head.schema, cut)))
            loading.digests.append(source.digest(role_of(None if head is None else head.schema)))
    return divided


def _spread(source: Source, schema: Schema, cut: Cut) -> list[list[Block]]:
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


class NeedsWholeError(Exception):
    """This input cannot be divided: it must be worked on whole."""


class _Task(Record):
    """What all parts have in common; each writes its texts of the debug file into `folder`."""

    gold: Gold
    files: Sequence[DividedFile]
    cut: Cut
    folder: str

    def texts_of(self, part: int) -> tuple[str, str]:
        return os.path.join(self.folder, f"{part}.responses"), os.path.join(self.folder, f"{part}.rankings")


class _PartScore(Record):
    """What scoring one part gave: the run ids, the number of accepted lines, the rows of the SF tables."""

    run_ids: frozenset[str]
    lines: int
    has_met: bool
    has_ranked_nodes: bool
    rows: Sequence[ScoreRow]
    ap_rows: Sequence[ScoreRow]
    problems: ProblemLog


def score_in_parts(gold: Gold, files: Sequence[str], parts: int, jobs: int, folder: str) -> Result | None:
    """Score the runs among `files` in at most `parts` parts, `jobs` at a time, over gold without pool; the result
    refers to the text of the debug file in `folder`. None: they must be scored in one piece. Raises OutputError.
    """
    cut = cut_queries(gold.table, parts)
    # Reports that come first hold the errors of all lines before anything is scored.
    if cut is None or gold.options.runids is not None or gold.table.edition.reports_first:
        return None
    limits = gold.options.justifications
    loading = Loading(gold.table, limits, gold.problems.branch(), gold_links=gold.links)
    try:
        divided = divide_files(loading, files, cut)
        if any(file.schema is RUN_2014 for file in divided):
            return None
        task = _Task(gold, divided, cut, folder)
        scores = _map_parts(partial(_score_part, task), len(cut.queries), jobs)
        run_ids = frozenset[str]().union(*(score.run_ids for score in scores))
        if len(run_ids) != 1:
            return None
        (run_id,) = run_ids
        for score in scores:
            loading.problems.take_over(score.problems)
        combining = Combining(run_of(gold, loading, limits), gold.options.policy, loading.problems)
        lines, has_met = sum(score.lines for score in scores), any(score.has_met for score in scores)
        combining.remark_on_matches(run_id, lines, has_met)
        rows = chain.from_iterable(score.rows for score in scores)
        ap_rows = chain.from_iterable(score.ap_rows for score in scores)
        has_ranked_nodes = any(score.has_ranked_nodes for score in scores)
        *_, run = combining.stages(run_id, rows, ap_rows=ap_rows, has_ranked_nodes=has_ranked_nodes)
        texts = DebugText(*zip(*map(task.texts_of, range(len(scores)))))
        return combining.result([replace(run, debug_text=texts)])
    except (NeedsWholeError, InputError):
        return None


def _map_parts(work: Callable[[int], _PartScore], parts: int, jobs: int) -> list[_PartScore]:
    """What `work` returns for each part, in order. Raises what `work` raises, and NeedsWholeError where a worker died
    or none can begin.
    """
    from cs_score.base.processes import NoWorkerError, Pool, WorkerDiedError, workers_share_memory

    if jobs == 1 or parts == 1 or not workers_share_memory():
        return [work(part) for part in range(parts)]
    try:
        with Pool(min(jobs, parts), work) as pool:
            futures = [pool.submit(part) for part in range(parts)]
            while not all(future.done() for future in futures):
                for future in pool.wait():
                    future.result()
            return [future.result() for future in futures]
    except (NoWorkerError, WorkerDiedError):
        raise NeedsWholeError from None


def _score_part(task: _Task, part: int) -> _PartScore:
    """Score the lines of one part, and write its texts of the debug file. Raises NeedsWholeError also for what is
    fatal: another part may hold an earlier line that is.
    """
    whole, queries = task.gold, task.cut.queries[part]
    hop_limits = {short_id: whole.hop_limits[short_id] for short_id in queries if short_id in whole.hop_limits}
    table = replace(whole.table, by_id=queries)
    gold = whole.changed(
        table=table, hop_limits=hop_limits, links=Links(table), problems=ProblemLog(), remarks=(), digests=()
    )
    loading = Loading(table, gold.options.justifications, gold.problems, gold_links=gold.links)
    try:
        with paused_collector():
            for file in task.files:
                texts, width = _numbered(file.blocks[part], file.name), len(file.schema.columns)
                lines = accepted_lines(texts, file.name, width, loading.problems, [], table.edition)
                loading.load_lines(TabFile(file.name, file.schema, lines))
            run = run_of(gold, loading, gold.options.justifications)
            run_ids = frozenset(run.lines)
            # AP mixes the nodes of lines without parent across queries.
            if len(run_ids) > 1 or run.links.without_parent or loading.discard.needs_all_queries:
                raise NeedsWholeError
            units = Combining(run, gold.options.policy, gold.problems).score_units(next(iter(run_ids), ""))
            rankings = rankings_of(units)
    except InputError:
        raise NeedsWholeError from None
    debug = responses_text(tallies_of(units)), rankings_text(rankings)
    with outputs_at_once():  # they are read again for the debug file
        for path, text in zip(task.texts_of(part), debug):
            write_whole(path, encoded(text))
    return _PartScore(
        run_ids=run_ids,
        lines=len(run.links.responses),
        has_met=any(unit.matched for unit in units),
        has_ranked_nodes=any(ranking.nodes for ranking in rankings),
        rows=score_rows(units),
        ap_rows=ranked_rows(rankings),
        problems=gold.problems,
    )


def _numbered(blocks: Iterable[Block], name: str) -> Iterator[tuple[int, str]]:
    for numbers, texts in blocks:
        try:
            yield from zip(numbers, texts.decode("utf-8").split("\n"))
        except UnicodeDecodeError:
            raise InputError("not UTF-8", file=name, code="NOT_UTF8") from None
