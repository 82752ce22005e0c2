"""Scoring a large run part by part, in several processes, with little in memory at a time.

The files written are those of `score_runs`. What only a scoring in one piece can tell - which of several fatal
conditions is the first, how several runs mix - is left to it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial

from cs_score.base.errors import InputError
from cs_score.base.outputs import encoded, write_new
from cs_score.base.records import Record, replace
from cs_score.coldstart.combining import Combining, rankings_of, score_rows
from cs_score.coldstart.counting.projection import ScoreRow, averaged_table
from cs_score.coldstart.gold import Gold
from cs_score.coldstart.lines.layouts import RUN_2014
from cs_score.coldstart.lines.loading import loading_of
from cs_score.coldstart.partition.parts import Cut, DividedFile, cut_queries, divide_files, load_part, open_part
from cs_score.coldstart.partition.workers import NeedsWholeError, map_parts
from cs_score.coldstart.ranking.tables import ApRow, averaged_ap_table, slot_filling_ap
from cs_score.coldstart.result import DebugText, Result, tallies_of
from cs_score.coldstart.run import run_of
from cs_score.coldstart.scorer import score_units
from cs_score.coldstart.writers.debug import rankings_text, responses_text
from cs_score.problems.log import ProblemLog


class _Task(Record):
    """What all parts have in common; each writes its texts of the debug file into `folder`."""

    gold: Gold
    files: Sequence[DividedFile]
    cut: Cut
    folder: str


class _PartScore(Record):
    """What scoring one part gave.

    `run_ids` are the runs that lines were accepted of, `lines` their number; `rows` and `ap_rows` those of the SF
    tables in printing order.
    """

    run_ids: frozenset[str]
    lines: int
    has_met: bool
    rows: Sequence[ScoreRow]
    ap_rows: Sequence[ApRow]
    problems: ProblemLog


def score_in_parts(gold: Gold, files: Sequence[str], parts: int, jobs: int, folder: str) -> Result | None:
    """Score the runs among `files` in at most `parts` parts, `jobs` of them at a time.

    `gold` has its queries and no pool yet. The text of the debug file is written into files in `folder`, to which the
    result refers. None: the files must be scored in one piece. Raises OutputError where the text cannot be written.
    """
    try:
        return _score(gold, files, parts, jobs, folder)
    except (NeedsWholeError, InputError):
        return None


def _score(gold: Gold, files: Sequence[str], parts: int, jobs: int, folder: str) -> Result:
    cut = cut_queries(gold.table, parts)
    if cut is None or gold.options.runids is not None:
        raise NeedsWholeError
    loading = loading_of(gold.table, gold.options.justifications, gold.problems.branch(), below=gold.links)
    divided = divide_files(loading, files, cut)
    if any(file.schema is RUN_2014 for file in divided):
        raise NeedsWholeError
    task = _Task(gold, divided, cut, folder)
    scores = map_parts(partial(_score_part, task), len(cut.queries), jobs)
    run_ids = frozenset[str]().union(*(score.run_ids for score in scores))
    if len(run_ids) != 1:
        raise NeedsWholeError
    (run_id,) = run_ids
    for score in scores:
        loading.problems.take_over(score.problems)
    combining = Combining(run_of(gold, loading, gold.options.justifications), gold.options.policy, loading.problems)
    lines = sum(score.lines for score in scores)
    combining.remark_on_matches(run_id, lines, any(score.has_met for score in scores))
    run = combining.projected(run_id, averaged_table(row for score in scores for row in score.rows))
    combining.check_something_scored(run)
    ranked = combining.averaged(run_id, averaged_ap_table(row for score in scores for row in score.ap_rows))
    texts = [_texts_of(folder, part) for part in range(len(scores))]
    run = replace(run, average_precision=ranked, debug_text=DebugText(*zip(*texts)))
    if gold.options.samples is not None:
        run = combining.with_bootstrap(run, gold.options.samples)
    return combining.result([run])


def _texts_of(folder: str, part: int) -> tuple[str, str]:
    """The files that hold a part of the two texts of the debug file: responses, then rankings."""
    return os.path.join(folder, f"{part}.responses"), os.path.join(folder, f"{part}.rankings")


def _score_part(task: _Task, part: int) -> _PartScore:
    """Link, match, count and rank the lines of one part, and write its texts of the debug file.

    Raises NeedsWholeError, also for what is fatal: another part may hold an earlier line that is.
    """
    try:
        return _score_lines(task, part)
    except InputError:
        raise NeedsWholeError from None


def _score_lines(task: _Task, part: int) -> _PartScore:
    gold = open_part(task.gold, task.cut, part)
    loading = loading_of(gold.table, gold.options.justifications, gold.problems, below=gold.links)
    load_part(loading, task.files, part)
    run = run_of(gold, loading, gold.options.justifications)
    run_ids = frozenset(run.lines)
    if len(run_ids) > 1 or run.links.without_parent:  # average precision mixes the nodes of such lines across queries
        raise NeedsWholeError
    combining = Combining(run, gold.options.policy, gold.problems)
    run_id = next(iter(run_ids), "")
    units = score_units(combining, run_id, gold.options.policy)
    rankings = rankings_of(units)
    texts = responses_text(tallies_of(units)), rankings_text(rankings)
    for path, text in zip(_texts_of(task.folder, part), texts):
        write_new(path, encoded(text))
    return _PartScore(
        run_ids, len(run.links.responses), any(unit.matched for unit in units), score_rows(units),
        slot_filling_ap(rankings), gold.problems,
    )  # fmt: skip
