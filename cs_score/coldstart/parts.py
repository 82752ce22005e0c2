"""Score a large run part by part, to use several processes and less memory. A part consists of some of the queries, and
of all lines about these queries and their follow-on queries (queries about answers). No other line has an effect on
their scores.

The output files are the same as those of a run that is scored in one piece. Inputs with fatal conditions or with
several runs are scored in one piece: only then is it known which condition comes first, and the scores of one run may
depend on another run.
"""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.outputs import outputs_immediately, utf8_blocks, write_whole
from cs_score.base.records import Record, replace
from cs_score.base.runtime import paused_garbage_collection
from cs_score.base.signature import RUN
from cs_score.base.sources import Input, Source, open_source
from cs_score.coldstart.file_columns import RUN_2014, FileKind, Schema
from cs_score.coldstart.gold import ColdStartGold, Run, run_of
from cs_score.coldstart.lines import Links
from cs_score.coldstart.linking import Loading, expand_folder, role_of
from cs_score.coldstart.output_files import rankings_text, responses_text
from cs_score.coldstart.queries import Query, QuerySet
from cs_score.coldstart.ranking import Ranking
from cs_score.coldstart.result import DebugText, Result, ScoreRow, UnitResult, ranked_rows, tallies_of
from cs_score.coldstart.scorer import CallScorer, RankingRows, rankings_of, slot_filling_rows
from cs_score.coldstart.tab_files import TabFile, accepted_lines, line_blocks, read_tab_file
from cs_score.problems.log import ProblemLog

# The number of characters that the id of a follow-on query adds to the id of the query that was answered.
_FOLLOW_ON_LENGTH: Final = len("_000000000000")

# The number of bytes that are divided at a time. With small blocks the lines would take a third more memory.
_BLOCK_SIZE: Final = 1 << 20
# Some lines of a file: their numbers from 1, and their texts joined by line feeds.
Block: TypeAlias = tuple["array[int]", bytes]


class DividedFile(Record):
    """A file of a known layout whose lines are divided among the parts; `blocks` has the lines of each part."""

    name: str
    schema: Schema
    blocks: Sequence[Sequence[Block]]


class QueryDivision(Record):
    """The division of queries into parts.

    `queries` has, for each part, its queries by short id. `part_by_query_id` has the number of the part that each query
    belongs to, by the full id of the query in UTF-8. `id_lengths` are the lengths of these ids, the longest first.
    """

    queries: Sequence[Mapping[str, Query]]
    part_by_query_id: Mapping[bytes, int]
    id_lengths: Sequence[int]

    def find_first_hop_query(self, query_id: bytes) -> tuple[bytes | None, int]:
        """Return the id of the first-hop query to which the id in a line leads, and the number of that query's part.

        The id in the line may be that of a follow-on query: `CSX_ENG_00fb79cef8_efa464516d81` leads to
        `CSX_ENG_00fb79cef8`. If the query is unknown, the result is None and 0, the number of the first part.
        """
        for length in self.id_lengths:  # only these lengths are tried, since a column may hold megabytes
            length_of_rest = len(query_id) - length
            # Each hop after the first one adds the same number of characters.
            rest_may_be_follow_ons = length_of_rest >= 0 and length_of_rest % _FOLLOW_ON_LENGTH == 0
            if rest_may_be_follow_ons:
                first_hop_id = query_id[:length]
                part = self.part_by_query_id.get(first_hop_id)
                if part is not None:
                    return first_hop_id, part
        return None, 0


def divide_queries(queries: QuerySet, parts: int) -> QueryDivision | None:
    """Return a division of queries, in the order of their full ids, into at most `parts` parts of similar size.

    Returns None if several queries have the same base id, because lines could not be assigned to one of these queries.
    """
    sorted_queries = sorted(queries.by_id.values(), key=lambda query: query.full_id)
    # A full id (`CSX_ENG_00fb79cef8`) consists of a prefix and a base id (`00fb79cef8`). Lines are assigned by base id.
    base_ids = {query.base_id for query in sorted_queries}
    if len(base_ids) < len(sorted_queries):
        return None
    queries_per_part = math.ceil(_count_answerable(sorted_queries) / parts)  # counts queries that lines may answer
    queries_by_part = _fill_parts(_group_by_id_prefix(sorted_queries), queries_per_part)
    part_by_query_id = _part_by_query_id(queries_by_part)
    id_lengths = sorted({len(query_id) for query_id in part_by_query_id}, reverse=True)
    return QueryDivision(queries=queries_by_part, part_by_query_id=part_by_query_id, id_lengths=id_lengths)


def _count_answerable(queries: Iterable[Query]) -> int:
    """Return the number of queries that lines may answer, which decides how much work a part is.

    Lines never name an LDC query that was expanded (replaced by a query for each of its entry points).
    """
    return sum(query.expansion_ids is None for query in queries)


def _group_by_id_prefix(sorted_queries: Iterable[Query]) -> list[list[Query]]:
    """Return queries in groups that must stay in one part. `sorted_queries` are sorted by full id.

    `CSX_1` and `CSX_12` are in one group, because one id begins with the other. In a table sorted by name, rows of
    `CSX_12` may therefore appear between rows of `CSX_1`. Separate parts could not reproduce this order.
    """
    groups: list[list[Query]] = []
    for query in sorted_queries:
        if groups and query.full_id.startswith(groups[-1][0].full_id):
            groups[-1].append(query)
        else:
            groups.append([query])
    return groups


def _fill_parts(groups: Iterable[Sequence[Query]], queries_per_part: int) -> list[dict[str, Query]]:
    """Return the queries of each part by short id. The queries of a group are in the same part.

    Groups are added to a part until it has at least `queries_per_part` queries that lines may answer. If lines cannot
    answer any query, `queries_per_part` is 0, and there is one part with all queries.
    """
    queries_by_part: list[dict[str, Query]] = [{}]
    query_count_in_part = 0
    for group in groups:
        is_part_full = queries_per_part > 0 and query_count_in_part >= queries_per_part
        if is_part_full:
            queries_by_part.append({})
            query_count_in_part = 0
        query_count_in_part += _count_answerable(group)
        for query in group:
            queries_by_part[-1][query.short_id] = query
    return queries_by_part


def _part_by_query_id(queries_by_part: Iterable[Mapping[str, Query]]) -> dict[bytes, int]:
    """Return the number of the part of each query by its full id in UTF-8: `{b"CSX_ENG_00fb79cef8": 0}`."""
    part_by_query_id = {}
    for part, queries in enumerate(queries_by_part):
        for query in queries.values():
            query_id = query.full_id.encode("utf-8", "surrogatepass")
            part_by_query_id[query_id] = part
    return part_by_query_id


def divide_files(loading: Loading, files: Iterable[str], division: QueryDivision) -> list[DividedFile]:
    """Return the files with their lines divided among the parts. Empty files are left out.

    The layouts and digests of the files, and remarks on them, are added to `loading`. Raises InputError if a file
    cannot be read or does not have a known layout. Raises NeedsWholeError for a run file of 2014: each of its lines
    stops the scoring, so the run must be scored in one piece. Problems with lines are found later, when their part is
    scored.
    """
    divided_files: list[DividedFile] = []
    for file_or_folder in files:
        for file in expand_folder(file_or_folder):
            divided_file = _divide_file(loading, file, division)
            if divided_file is None:
                continue
            if divided_file.schema is RUN_2014:
                raise NeedsWholeError
            divided_files.append(divided_file)
    return divided_files


def _divide_file(loading: Loading, file: Input, division: QueryDivision) -> DividedFile | None:
    """Return a file with its lines divided among the parts, or None if the file is empty.

    The layout of the file, its digest and remarks on it are added to `loading`.
    """
    # The file is opened twice: first its layout is read from its first line, then all lines are divided.
    with open_source(file) as source:
        tab_file = read_tab_file(source, loading.problems, edition=loading.query_set.edition)
    with open_source(file) as source:
        if tab_file is None:  # an empty file has no lines, but its digest is listed with the digests of the inputs
            loading.digests.append(source.digest(RUN))
            return None
        schema = tab_file.schema
        loading.note_layout(tab_file.name, schema)
        blocks = _divide_lines(source, schema, division)
        loading.digests.append(source.digest(role_of(schema)))
    return DividedFile(tab_file.name, schema, blocks)


def _divide_lines(source: Source, schema: Schema, division: QueryDivision) -> list[list[Block]]:
    """Return the lines of a file in blocks, separately for each part: a list of blocks by the number of the part.

    Only the column with the query id is read. In assessments, this column also contains the slot, after a colon.
    """
    # In all layouts of runs, the query id is the first column.
    query_position = 0 if schema.kind is FileKind.RUN else schema.columns.index("QUERY_AND_SLOT_NAME")
    blocks_by_part: list[list[Block]] = [[] for _ in division.queries]
    lines_before = 0
    for file_block in line_blocks(source, _BLOCK_SIZE):
        # A block does not include the line feed of its last line, so splitting gives exactly its lines.
        lines = file_block.replace(b"\r", b"").split(b"\n")
        part_by_line = _parts_of_lines(lines, query_position, division)
        _add_blocks(blocks_by_part, lines, part_by_line, first_number=lines_before + 1)
        lines_before += len(lines)
    return blocks_by_part


def _parts_of_lines(lines: Iterable[bytes], query_position: int, division: QueryDivision) -> list[int]:
    """Return the number of the part that each line belongs to. `query_position` is the column with the query id.

    A line without this column, or with an unknown query, belongs to the first part, which has the number 0.
    """
    parts = []
    first_hop_id: bytes | None = None  # of the previous line
    part = 0
    for line in lines:
        columns = line.split(b"\t", query_position + 1)
        # In assessments, the query id is followed by a colon and the slot, which are cut off.
        query_id = columns[query_position].partition(b":")[0] if len(columns) > query_position else b""
        # The id of a follow-on query ends in an additional part, which is removed here. If the id is short, the parent
        # id is empty.
        parent_id = query_id[:-_FOLLOW_ON_LENGTH]
        # Most lines answer the same query as the previous line, or a follow-on query about an answer to that query.
        # They belong to the same part, so the query need not be looked up.
        has_query_of_line_before = first_hop_id in (query_id, parent_id)
        if not has_query_of_line_before:
            first_hop_id, part = division.find_first_hop_query(query_id)
        parts.append(part)
    return parts


def _add_blocks(
    blocks_by_part: Sequence[list[Block]], lines: Iterable[bytes], part_by_line: Sequence[int], first_number: int
) -> None:
    """Add the lines of each part, as one block, to the blocks of this part; a part without lines gets no block.

    A block consists of lines and their numbers. `part_by_line` has the number of the part of each line. `first_number`
    is the number of the first line in its file.
    """
    numbers_by_part: list[array[int]] = [array("L") for _ in blocks_by_part]
    for number, part in enumerate(part_by_line, first_number):
        numbers_by_part[part].append(number)
    lines_by_part: list[list[bytes]] = [[] for _ in blocks_by_part]
    for part, line in zip(part_by_line, lines):
        lines_by_part[part].append(line)
    for blocks, numbers, lines_of_part in zip(blocks_by_part, numbers_by_part, lines_by_part):
        if lines_of_part:
            blocks.append((numbers, b"\n".join(lines_of_part)))


class NeedsWholeError(Exception):
    """The input cannot be divided into parts, and must be scored in one piece."""


class _PartTask(Record):
    """The inputs that the scoring of every part needs; the texts of the debug file are written into `folder`."""

    gold: ColdStartGold
    files: Sequence[DividedFile]
    division: QueryDivision
    folder: str

    def response_file(self, part: int) -> str:
        """Return the path of the file with the text of a part about its responses: `FOLDER/3.responses`."""
        return os.path.join(self.folder, f"{part}.responses")

    def ranking_file(self, part: int) -> str:
        """Return the path of the file with the text of a part about its rankings: `FOLDER/3.rankings`."""
        return os.path.join(self.folder, f"{part}.rankings")

    def debug_text(self, part_count: int) -> DebugText:
        """Return the text of the debug file, which consists of the texts of all parts in their order."""
        parts = range(part_count)
        return DebugText([self.response_file(part) for part in parts], [self.ranking_file(part) for part in parts])


class _PartScore(Record):
    """The scores of one part.

    `run_ids` are the ids of the runs with lines in the part, and `line_count` is the number of accepted lines.
    `has_match` says whether any line has an assessment, and `has_ranked_nodes` whether any node is ranked. `rows` are
    rows of the table of slot-filling scores, and `ap_rows` those of average precision.
    """

    run_ids: frozenset[str]
    line_count: int
    has_match: bool
    has_ranked_nodes: bool
    rows: Sequence[ScoreRow]
    ap_rows: Sequence[ScoreRow]
    problems: ProblemLog


def score_in_parts(gold: ColdStartGold, files: Sequence[str], parts: int, jobs: int, folder: str) -> Result | None:
    """Return the result of the run among `files`, after scoring it in at most `parts` parts, `jobs` of them at a time.

    `gold` does not have a pool yet, because the assessments are among the files. The texts of the debug file are
    written into `folder`, and the result refers to them. Returns None if the files must be scored in one piece. Raises
    OutputError if the texts cannot be written.
    """
    # With `-runids`, the scored runs may differ from the runs in the files, but a part considers only the runs in the
    # files. Editions that write the report before scoring need the errors of all lines first.
    if gold.options.runids is not None or gold.query_set.edition.reports_before_scoring:
        return None
    division = divide_queries(gold.query_set, parts)
    if division is None:
        return None
    loading = _new_loading(gold, gold.problems.copy())
    try:
        divided_files = divide_files(loading, files, division)
        task = _PartTask(gold=gold, files=divided_files, division=division, folder=folder)
        scores = _score_parts(partial(_score_part, task), len(division.queries), jobs)
        return _combine_part_scores(task, loading, scores)
    except (NeedsWholeError, InputError):  # scoring in one piece reports the error
        return None


def _new_loading(gold: ColdStartGold, problems: ProblemLog) -> Loading:
    """Return the state of loading lines over gold before the first line, which adds problems to `problems`."""
    return Loading(gold.query_set, gold.options.justifications, problems, gold_links=gold.links)


def _combine_part_scores(task: _PartTask, loading: Loading, scores: Sequence[_PartScore]) -> Result:
    """Return the result of the run from the scores of its parts, and add their problems to the log of `loading`.

    Raises NeedsWholeError unless the lines of all parts belong to exactly one run.
    """
    for score in scores:
        loading.problems.add_all(score.problems)
    whole = _join_part_scores(scores, loading.problems)
    if len(whole.run_ids) != 1:  # the scores of one run may depend on another run
        raise NeedsWholeError
    (run_id,) = whole.run_ids

    # Compute the averages from the rows of all parts, as if the run had been scored in one piece. The lines were loaded
    # with the parts, so the run does not have any lines here, and the scorer only computes averages and adds remarks.
    run_without_lines = run_of(task.gold, loading, task.gold.options.justifications)
    scorer = CallScorer(run_without_lines, task.gold.options.policy, loading.problems)
    scorer.remark_on_matches(run_id, whole.line_count, whole.has_match)
    ranking_rows = RankingRows(whole.ap_rows, whole.has_ranked_nodes)
    results = list(scorer.results_by_stage(run_id, whole.rows, ranking_rows=ranking_rows))
    run_result = results[-1]  # the result of the last stage includes the results of all earlier stages
    debug_text = task.debug_text(part_count=len(scores))
    return scorer.result([replace(run_result, debug_text=debug_text)])


def _join_part_scores(scores: Sequence[_PartScore], problems: ProblemLog) -> _PartScore:
    """Return the scores of all parts joined, as if one part had all lines of the run.

    The rows are in the order of the parts. `problems` is the log with the problems of all parts.
    """
    run_ids: set[str] = set()
    rows: list[ScoreRow] = []
    ap_rows: list[ScoreRow] = []
    for score in scores:
        run_ids |= score.run_ids
        rows += score.rows
        ap_rows += score.ap_rows
    return _PartScore(
        run_ids=frozenset(run_ids),
        line_count=sum(score.line_count for score in scores),
        has_match=any(score.has_match for score in scores),
        has_ranked_nodes=any(score.has_ranked_nodes for score in scores),
        rows=rows,
        ap_rows=ap_rows,
        problems=problems,
    )


def _score_parts(score_part: Callable[[int], _PartScore], part_count: int, jobs: int) -> list[_PartScore]:
    """Return the scores of all parts, in their order; `score_part` is called with the number of each part.

    Up to `jobs` parts are scored at a time, in worker processes. Raises the exception of a part that fails, and
    NeedsWholeError if a worker process dies or none can be started.
    """
    from cs_score.base.processes import NoWorkerError, WorkerDiedError, workers_share_memory

    needs_no_worker = jobs == 1 or part_count == 1
    if needs_no_worker or not workers_share_memory():
        return [score_part(part) for part in range(part_count)]
    try:
        return _score_in_workers(score_part, part_count, worker_count=min(jobs, part_count))
    except (NoWorkerError, WorkerDiedError):
        raise NeedsWholeError from None


def _score_in_workers(score_part: Callable[[int], _PartScore], part_count: int, worker_count: int) -> list[_PartScore]:
    """Return the scores of all parts, in their order, computed by `worker_count` processes.

    Raises the exception of a part that fails, without waiting for the others. Raises WorkerDiedError if a process
    dies, and NoWorkerError if none can be started.
    """
    from cs_score.base.processes import ProcessPool

    with ProcessPool(worker_count, score_part) as pool:
        futures = [pool.submit(part) for part in range(part_count)]
        while not all(future.done() for future in futures):
            for future in pool.wait():
                future.result()  # raises the exception of a part that failed
        return [future.result() for future in futures]


def _score_part(task: _PartTask, part: int) -> _PartScore:
    """Return the scores of one part, after writing its texts of the debug file.

    Raises NeedsWholeError if the part cannot be scored without the other parts. This includes fatal errors, because
    another part may contain an earlier line that is also fatal.
    """
    try:
        with paused_garbage_collection():
            run = _load_part(task, part)
            # The id of the first run is sufficient, because files with several runs are scored in one piece instead.
            run_id = next(iter(run.lines_by_run_and_unit), "")
            units = CallScorer(run, run.gold.options.policy, run.problems).score_units(run_id)
            rankings = rankings_of(units)
    except InputError:
        raise NeedsWholeError from None
    _write_debug_texts(task, part, units, rankings)
    return _part_score_of(run, units, rankings)


def _write_debug_texts(task: _PartTask, part: int, units: Iterable[UnitResult], rankings: Iterable[Ranking]) -> None:
    """Write two files with the texts of a part for the debug file: its responses and its rankings.

    The files are written immediately, because the debug file is assembled from them. Other outputs are held back until
    the end of the call.
    """
    responses = responses_text(tallies_of(units))
    with outputs_immediately():
        write_whole(task.response_file(part), utf8_blocks(responses))
        write_whole(task.ranking_file(part), utf8_blocks(rankings_text(rankings)))


def _part_score_of(run: Run, units: Sequence[UnitResult], rankings: Sequence[Ranking]) -> _PartScore:
    """Return the scores of a part, whose lines are in `run`, from the results of its units and from its rankings."""
    return _PartScore(
        run_ids=frozenset(run.lines_by_run_and_unit),
        line_count=len(run.links.responses),
        has_match=any(unit.assessment_by_index for unit in units),
        has_ranked_nodes=any(ranking.nodes for ranking in rankings),
        rows=slot_filling_rows(units),
        ap_rows=ranked_rows(rankings),
        problems=run.problems,
    )


def _load_part(task: _PartTask, part: int) -> Run:
    """Return the run that consists of the lines of one part, loaded in the order of the files.

    Raises NeedsWholeError if the scores of the lines depend on other parts, and InputError for a line that cannot be
    linked.
    """
    gold = _gold_of_part(task, part)
    loading = _new_loading(gold, gold.problems)
    for file in task.files:
        _load_lines(loading, file, file.blocks[part])
    run = run_of(gold, loading, gold.options.justifications)
    # This flag is set while lines are loaded if lines of other queries determine whether a line is discarded.
    if loading.discard_rules.has_lines_depending_on_other_queries or _depends_on_other_parts(run):
        raise NeedsWholeError
    return run


def _depends_on_other_parts(run: Run) -> bool:
    """Return whether the scores of a part may depend on other parts. `run` contains the lines of the part."""
    if len(run.lines_by_run_and_unit) > 1:  # the scores of one run may depend on another run
        return True
    # The node id of a line without a parent line does not begin with a query id. Lines of different queries may
    # therefore have the same node id. Average precision treats them as one node, although they may be in different
    # parts.
    return bool(run.links.lines_without_parent)


def _load_lines(loading: Loading, file: DividedFile, blocks: Iterable[Block]) -> None:
    """Add the lines of a file that are in `blocks` to `loading`.

    Raises InputError for a line that cannot be linked.
    """
    lines = accepted_lines(
        _numbered_lines(blocks, file.name),
        file.name,
        column_count=len(file.schema.columns),
        problems=loading.problems,
        unread_lines=[],  # the list is not used, because only remarks on whole files need it
        edition=loading.query_set.edition,
    )
    loading.load_lines(TabFile(file.name, file.schema, lines))


def _gold_of_part(task: _PartTask, part: int) -> ColdStartGold:
    """Return the gold (queries, assessments and options) for one part: a copy of the task's gold without other queries.

    The copy does not contain problems, remarks or digests, because each part would repeat them.
    """
    gold = task.gold
    queries = task.division.queries[part]
    query_set = replace(gold.query_set, by_id=queries)
    return gold.with_fields(
        query_set=query_set,
        hop_limit_by_id={
            short_id: gold.hop_limit_by_id[short_id] for short_id in queries if short_id in gold.hop_limit_by_id
        },
        links=Links(query_set),
        problems=ProblemLog(),
        remarks=(),
        digests=(),
    )


def _numbered_lines(blocks: Iterable[Block], name: str) -> Iterator[tuple[int, str]]:
    """Yield the numbers and the texts of the lines in some blocks: `(3, "CSX_ENG_00fb79cef8...")`.

    `name` is the name of their file. Raises InputError if the bytes are not UTF-8.
    """
    for numbers, block_bytes in blocks:
        try:
            lines = block_bytes.decode("utf-8").split("\n")
        except UnicodeDecodeError:
            raise InputError("not UTF-8", file=name, code="NOT_UTF8") from None
        yield from zip(numbers, lines)
