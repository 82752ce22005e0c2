"""Scoring a large run share by share, in several processes, with little in memory at a time.

The files written are those of `score_loaded`. What only a scoring in one piece can tell - which of several fatal
conditions is the first, how several runs mix - is left to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from cs_score.coldstart.counting.projection import ScoreRow, averaged_table
from cs_score.coldstart.lines.layouts import RUN_2014
from cs_score.coldstart.loading import Evaluation
from cs_score.coldstart.partition.debug_text import DebugFiles, DebugText, Stretch, write_at
from cs_score.coldstart.partition.part_places import PartPlaces
from cs_score.coldstart.partition.parts import Cut, SharedFile, cut_queries, load_share, open_share, share_files
from cs_score.coldstart.partition.workers import NeedsWholeError, map_shares
from cs_score.coldstart.ranking.tables import ApRow, averaged_ap_table, slot_filling_ap
from cs_score.coldstart.remarks import remark_on_matches
from cs_score.coldstart.result import Result
from cs_score.coldstart.scorer import Scoring, score_rows
from cs_score.coldstart.writers.debug import rankings_text, responses_text
from cs_score.foundation.errors import InputError
from cs_score.foundation.outputs import encoded
from cs_score.problems.log import ProblemLog


@dataclass(frozen=True, slots=True)
class _Task:
    """What all shares have in common, and where each writes its parts of the debug file."""

    evaluation: Evaluation
    files: Sequence[SharedFile]
    cut: Cut
    debug: DebugFiles
    places: PartPlaces


@dataclass(frozen=True, slots=True)
class _ShareScore:
    """What scoring one share gave.

    `run_ids` are the runs that lines were accepted of, `lines` their number; `rows` and `ap_rows` those of the SF
    tables in printing order.
    """

    run_ids: frozenset[str]
    lines: int
    has_met: bool
    rows: Sequence[ScoreRow]
    ap_rows: Sequence[ApRow]
    problems: ProblemLog


def score_in_shares(
    evaluation: Evaluation, files: Sequence[str], shares: int, jobs: int, debug: DebugFiles
) -> Result | None:
    """Score the runs among `files` in at most `shares` shares, `jobs` of them at a time.

    `evaluation` has its queries and no lines yet, and stays as it is. The text of the debug file is written into those
    of `debug`, to which the result refers. None: the files must be scored in one piece. Raises OutputError where the
    text cannot be written.
    """
    try:
        return _score(evaluation.branch(), files, shares, jobs, debug)
    except (NeedsWholeError, InputError):
        return None


def _score(evaluation: Evaluation, files: Sequence[str], shares: int, jobs: int, debug: DebugFiles) -> Result:
    cut = cut_queries(evaluation.queries, shares)
    if cut is None or evaluation.options.runids is not None:
        raise NeedsWholeError
    shared = share_files(evaluation, files, cut)
    if any(file.schema is RUN_2014 for file in shared):
        raise NeedsWholeError
    places = PartPlaces(len(cut.queries), texts=2)
    task = _Task(evaluation, shared, cut, debug, places)
    scores = map_shares(partial(_score_share, task), len(cut.queries), jobs)
    run_ids = frozenset[str]().union(*(score.run_ids for score in scores))
    if len(run_ids) != 1:
        raise NeedsWholeError
    (run_id,) = run_ids
    for score in scores:
        evaluation.problems.take_over(score.problems)
    lines, has_met = sum(score.lines for score in scores), any(score.has_met for score in scores)
    remark = remark_on_matches(evaluation, run_id, lines, has_met)
    if remark is not None:
        evaluation.remarks.append(remark)
    scoring = Scoring(evaluation)
    run = scoring.projected(run_id, averaged_table(row for score in scores for row in score.rows))
    scoring.check_something_scored(run)
    ranked = scoring.averaged(run_id, averaged_ap_table(row for score in scores for row in score.ap_rows))
    responses, rankings = places.lengths
    text = DebugText(debug.begun, Stretch(debug.responses, responses), Stretch(debug.rankings, rankings))
    run = replace(run, average_precision=ranked, debug_text=text)
    if evaluation.options.samples is not None:
        run = scoring.with_bootstrap(run, evaluation.options.samples)
    return scoring.result([run])


def _score_share(task: _Task, share: int) -> _ShareScore:
    """Link, match, count and rank the lines of one share, and write its parts of the debug file.

    Raises NeedsWholeError, also for what is fatal: another share may hold an earlier line that is.
    """
    try:
        return _score_lines(task, share)
    except InputError:
        raise NeedsWholeError from None


def _score_lines(task: _Task, share: int) -> _ShareScore:
    evaluation = open_share(task.evaluation, task.cut, share)
    load_share(evaluation, task.files, share)
    linker = evaluation.linker
    scoring = Scoring(evaluation)
    run_ids = frozenset(scoring.run_ids)
    if len(run_ids) > 1 or linker.without_parent:  # average precision mixes the nodes of such lines across queries
        raise NeedsWholeError
    tallies = scoring.tallies(next(iter(run_ids), ""))
    rankings = scoring.rankings()
    rows = score_rows(tallies)
    tallies.sort(key=lambda tally: tally.name)
    texts = (
        list(encoded(responses_text(tallies, scoring.matched, scoring.labels))),
        list(encoded(rankings_text(rankings))),
    )
    starts = task.places.place(share, [sum(map(len, text)) for text in texts])
    for file, start, text in zip((task.debug.responses, task.debug.rankings), starts, texts):
        write_at(file, start, text)
    return _ShareScore(
        run_ids, len(linker.responses), scoring.has_met(linker.responses), rows, slot_filling_ap(rankings),
        evaluation.problems,
    )  # fmt: skip
