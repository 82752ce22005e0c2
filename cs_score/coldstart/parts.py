"""Score a large run part by part, in several processes, with little in memory at a time.

A part holds some of the queries and, of every file, the lines about them: nothing that is scored looks beyond a query
and what follows on it. The files written are those of `score_runs`. What only a scoring in one piece can find out is
left to that: which of several fatal conditions is the first, how several runs mix.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
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
    """A file of a known layout whose lines are spread over the parts; `blocks` are the lines of each part."""

    name: str
    schema: Schema
    blocks: Sequence[Sequence[Block]]


class Cut(Record):
    """The division of queries into parts.

    `queries` has the queries of each part by short id, `part_of` the part of each query by full id in UTF-8, `lengths`
    the lengths of these ids, the longest first.
    """

    queries: Sequence[Mapping[str, Query]]
    part_of: Mapping[bytes, int]
    lengths: Sequence[int]

    def family(self, query_id: bytes) -> tuple[bytes | None, int]:
        """Return the query of the first hop that a line hangs on, and its part; None and the first part if unknown.

        `query_id` is the id that the line names, perhaps of a follow-on query.
        """
        # Of all the beginnings only those as long as an id are looked up: a column may hold megabytes.
        for length in self.lengths:
            if length <= len(query_id) and (len(query_id) - length) % _FOLLOW_ON == 0:
                root_id = query_id[:length]
                part = self.part_of.get(root_id)
                if part is not None:
                    return root_id, part
        return None, 0


def cut_queries(queries: QuerySet, parts: int) -> Cut | None:
    """Divide queries among at most `parts` parts, so that names in one part sort before all names in the next.

    None where the ids that lines name do not distinguish queries.
    """
    ordered = sorted(queries.by_id.values(), key=lambda query: query.full_id)
    if len({query.base_id for query in ordered}) < len(ordered):
        return None
    # Lines never name expanded queries, so these weigh nothing.
    scored_count = sum(query.expansions is None for query in ordered)
    size = -(-scored_count // parts)  # rounded up
    queries_by_part: list[dict[str, Query]] = [{}]
    part_of: dict[bytes, int] = {}
    family = None
    count_in_part = 0
    for query in ordered:
        # Ids that begin alike stay together: the names of their classes need not sort one query after the other.
        if family is None or not query.full_id.startswith(family):
            family = query.full_id
            if count_in_part >= size > 0:
                queries_by_part.append({})
                count_in_part = 0
        if query.expansions is None:
            count_in_part += 1
        queries_by_part[-1][query.short_id] = query
        part_of[query.full_id.encode("utf-8", "surrogatepass")] = len(queries_by_part) - 1
    lengths = {len(query_id) for query_id in part_of}
    return Cut(queries_by_part, part_of, sorted(lengths, reverse=True))


def divide_files(loading: Loading, files: Iterable[str], cut: Cut) -> list[DividedFile]:
    """Divide the lines of files among the parts; layouts, remarks and digests are added to `loading`.

    Raises InputError for files that cannot be read or have no layout; faults of lines are found when their part is
    scored.
    """
    divided_files: list[DividedFile] = []
    for file in files:
        for member in members(file):
            with open_source(member) as source:
                tab_file = read_tab_file(source, loading.problems, edition=loading.table.edition)
            schema = None if tab_file is None else tab_file.schema
            with open_source(member) as source:
                if tab_file is not None:
                    loading.note_layout(tab_file.name, tab_file.schema)
                    blocks = _spread(source, tab_file.schema, cut)
                    divided_files.append(DividedFile(tab_file.name, tab_file.schema, blocks))
                loading.digests.append(source.digest(role_of(schema)))
    return divided_files


def _spread(source: Source, schema: Schema, cut: Cut) -> list[list[Block]]:
    """Return the lines of a file for each part, in blocks."""
    at_query = 0 if schema.kind is FileKind.RUN else schema.columns.index("QUERY_AND_SLOT_NAME")
    blocks_by_part: list[list[Block]] = [[] for _ in cut.queries]
    line_count = 0
    family: bytes | None = None
    part = 0
    for block in line_blocks(source, _BLOCK):
        numbers_by_part: list[array[int]] = [array("L") for _ in cut.queries]
        lines_by_part: list[list[bytes]] = [[] for _ in cut.queries]
        lines = block.replace(b"\r", b"").split(b"\n")
        for number, line in enumerate(lines, line_count + 1):
            columns = line.split(b"\t", at_query + 1)
            query_id = columns[at_query].partition(b":")[0] if len(columns) > at_query else b""
            # Most lines are about the same query as the line before, or about an answer to it.
            if query_id != family and query_id[:-_FOLLOW_ON] != family:
                family, part = cut.family(query_id)
            numbers_by_part[part].append(number)
            lines_by_part[part].append(line)
        line_count += len(lines)
        for blocks, numbers, lines_of_part in zip(blocks_by_part, numbers_by_part, lines_by_part):
            if lines_of_part:
                blocks.append((numbers, b"\n".join(lines_of_part)))
    return blocks_by_part


class NeedsWholeError(Exception):
    """This input cannot be divided: it must be worked on whole."""


class _Task(Record):
    """What all parts have in common; each writes its texts of the debug file into `folder`."""

    gold: Gold
    files: Sequence[DividedFile]
    cut: Cut
    folder: str

    def texts_of(self, part: int) -> tuple[str, str]:
        """Return the files for the responses and the rankings of a part."""
        return os.path.join(self.folder, f"{part}.responses"), os.path.join(self.folder, f"{part}.rankings")


class _PartScore(Record):
    """The result of one part: its run ids, the number of its accepted lines, the rows of its SF tables.

    `has_match` says whether a line has an assessment, `has_ranked_nodes` whether a node is ranked.
    """

    run_ids: frozenset[str]
    line_count: int
    has_match: bool
    has_ranked_nodes: bool
    rows: Sequence[ScoreRow]
    ap_rows: Sequence[ScoreRow]
    problems: ProblemLog


def score_in_parts(gold: Gold, files: Sequence[str], parts: int, jobs: int, folder: str) -> Result | None:
    """Score the runs among `files` in at most `parts` parts, `jobs` at a time, over gold without pool.

    The result refers to the text of the debug file in `folder`. None: they must be scored in one piece. Raises
    OutputError where the texts cannot be written.
    """
    cut = cut_queries(gold.table, parts)
    # Reports that come first hold the errors of all lines before anything is scored.
    if cut is None or gold.options.runids is not None or gold.table.edition.reports_first:
        return None
    loading = Loading(gold.table, gold.options.justifications, gold.problems.branch(), gold_links=gold.links)
    try:
        divided_files = divide_files(loading, files, cut)
        if any(file.schema is RUN_2014 for file in divided_files):
            return None
        task = _Task(gold, divided_files, cut, folder)
        scores = _map_parts(partial(_score_part, task), len(cut.queries), jobs)
        return _combine_parts(task, loading, scores)
    except (NeedsWholeError, InputError):
        return None


def _combine_parts(task: _Task, loading: Loading, scores: Sequence[_PartScore]) -> Result:
    """Return the result of all parts. Raises NeedsWholeError where they do not hold exactly one run."""
    run_ids: set[str] = set()
    rows: list[ScoreRow] = []
    ap_rows: list[ScoreRow] = []
    for score in scores:
        run_ids |= score.run_ids
        rows += score.rows
        ap_rows += score.ap_rows
        loading.problems.take_over(score.problems)
    if len(run_ids) != 1:
        raise NeedsWholeError
    run_id = run_ids.pop()
    gold = task.gold
    run = run_of(gold, loading, gold.options.justifications)
    combining = Combining(run, gold.options.policy, loading.problems)
    line_count = sum(score.line_count for score in scores)
    combining.remark_on_matches(run_id, line_count, any(score.has_match for score in scores))
    has_ranked_nodes = any(score.has_ranked_nodes for score in scores)
    *_, run_result = combining.stages(run_id, rows, ap_rows=ap_rows, has_ranked_nodes=has_ranked_nodes)
    response_files = []
    ranking_files = []
    for part in range(len(scores)):
        response_file, ranking_file = task.texts_of(part)
        response_files.append(response_file)
        ranking_files.append(ranking_file)
    run_result = replace(run_result, debug_text=DebugText(response_files, ranking_files))
    return combining.result([run_result])


def _map_parts(score_part: Callable[[int], _PartScore], part_count: int, jobs: int) -> list[_PartScore]:
    """Return the result of `score_part` for each part, in order, `jobs` at a time.

    Raises what `score_part` raises, and NeedsWholeError where a worker died or none can begin.
    """
    from cs_score.base.processes import NoWorkerError, Pool, WorkerDiedError, workers_share_memory

    if jobs == 1 or part_count == 1 or not workers_share_memory():
        return [score_part(part) for part in range(part_count)]
    try:
        with Pool(min(jobs, part_count), score_part) as pool:
            futures = [pool.submit(part) for part in range(part_count)]
            while not all(future.done() for future in futures):
                for future in pool.wait():
                    future.result()  # raises what ended a part as soon as it is known
            return [future.result() for future in futures]
    except (NoWorkerError, WorkerDiedError):
        raise NeedsWholeError from None


def _score_part(task: _Task, part: int) -> _PartScore:
    """Score the lines of one part, and write its texts of the debug file.

    Raises NeedsWholeError also for fatal conditions: another part may hold an earlier line that is.
    """
    gold = _gold_of_part(task, part)
    loading = Loading(gold.table, gold.options.justifications, gold.problems, gold_links=gold.links)
    try:
        with paused_collector():
            for file in task.files:
                numbered_lines = _numbered(file.blocks[part], file.name)
                width = len(file.schema.columns)
                lines = accepted_lines(numbered_lines, file.name, width, loading.problems, [], gold.table.edition)
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
    response_file, ranking_file = task.texts_of(part)
    with outputs_at_once():  # they are read again for the debug file
        write_whole(response_file, encoded(responses_text(tallies_of(units))))
        write_whole(ranking_file, encoded(rankings_text(rankings)))
    return _PartScore(
        run_ids=run_ids,
        line_count=len(run.links.responses),
        has_match=any(unit.matched for unit in units),
        has_ranked_nodes=any(ranking.nodes for ranking in rankings),
        rows=score_rows(units),
        ap_rows=ranked_rows(rankings),
        problems=gold.problems,
    )


def _gold_of_part(task: _Task, part: int) -> Gold:
    """Return gold with the queries of one part, and a log of problems of its own."""
    gold = task.gold
    queries = task.cut.queries[part]
    table = replace(gold.table, by_id=queries)
    hop_limits = {short_id: gold.hop_limits[short_id] for short_id in queries if short_id in gold.hop_limits}
    return gold.changed(
        table=table, hop_limits=hop_limits, links=Links(table), problems=ProblemLog(), remarks=(), digests=()
    )


def _numbered(blocks: Iterable[Block], name: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of blocks with their numbers. Raises InputError where they are not UTF-8."""
    for numbers, texts in blocks:
        try:
            yield from zip(numbers, texts.decode("utf-8").split("\n"))
        except UnicodeDecodeError:
            raise InputError("not UTF-8", file=name, code="NOT_UTF8") from None
