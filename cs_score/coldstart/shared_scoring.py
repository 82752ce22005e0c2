"""Scoring a large run share by share, in several processes, with little in memory at a time.

The files written are those of `score_loaded`. What only a scoring in one piece can tell - which of several fatal
conditions is the first, how several runs mix - is left to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cs_score.coldstart.debug_text import DebugFiles, DebugText, Stretch, write_at
from cs_score.coldstart.diagnosis import remark_on_matches
from cs_score.coldstart.loading import Evaluation
from cs_score.coldstart.part_places import AbandonedError, PartPlaces
from cs_score.coldstart.projection import ScoreRow, averaged_table
from cs_score.coldstart.ranking import ApRow, averaged_ap_table, slot_filling_ap
from cs_score.coldstart.result import Result
from cs_score.coldstart.schemas import RUN_2014
from cs_score.coldstart.scorer import Scoring, score_rows
from cs_score.coldstart.shares import Cut, SharedFile, cut_queries, load_share, share_files
from cs_score.coldstart.writers.debug import rankings_text, responses_text
from cs_score.collector import paused_collector
from cs_score.errors import InputError
from cs_score.interruption import interruptible
from cs_score.outputs import encoded
from cs_score.problems import ProblemLog


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


class _NeedsWholeError(Exception):
    """The input is one that only a scoring in one piece can tell everything of."""


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
    except (_NeedsWholeError, InputError):
        return None


def _score(evaluation: Evaluation, files: Sequence[str], shares: int, jobs: int, debug: DebugFiles) -> Result:
    cut = cut_queries(evaluation.queries, shares)
    if cut is None or evaluation.options.runids is not None:
        raise _NeedsWholeError
    shared = share_files(evaluation, files, cut)
    if any(file.schema is RUN_2014 for file in shared):
        raise _NeedsWholeError
    places = PartPlaces(len(cut.queries), texts=2)
    scores = _score_all(_Task(evaluation, shared, cut, debug, places), jobs)
    run_ids = frozenset[str]().union(*(score.run_ids for score in scores))
    if len(run_ids) != 1:
        raise _NeedsWholeError
    (run_id,) = run_ids
    for score in scores:
        evaluation.problems.take_over(score.problems)
    remark = remark_on_matches(run_id, sum(score.lines for score in scores), any(score.has_met for score in scores))
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


def _score_all(task: _Task, jobs: int) -> list[_ShareScore]:
    """The scores of all shares, in their order. Raises InputError, and _NeedsWholeError where a worker died."""
    from concurrent.futures.process import BrokenProcessPool

    from cs_score.processes import process_pool, workers_share_memory

    count = len(task.cut.queries)
    if jobs == 1 or count == 1 or not workers_share_memory():
        return [_score_share(task, share) for share in range(count)]
    try:
        with process_pool(min(jobs, count), _install, (task,)) as executor:
            try:
                return list(executor.map(_score_installed, range(count)))
            except BaseException:
                task.places.abandon()  # a worker that died, or will be stopped, places no part
                raise
    except BrokenProcessPool:
        raise _NeedsWholeError from None


_installed: list[_Task] = []


def _install(task: _Task) -> None:
    _installed[:] = [task]


def _score_installed(share: int) -> _ShareScore:
    with interruptible(), paused_collector():
        return _score_share(_installed[0], share)


def _score_share(task: _Task, share: int) -> _ShareScore:
    """Link, match, count and rank the lines of one share, and write its parts of the debug file.

    Raises _NeedsWholeError, also for what is fatal: another share may hold an earlier line that is.
    """
    try:
        return _score_lines(task, share)
    except (InputError, AbandonedError):
        raise _NeedsWholeError from None
    finally:
        task.places.settle(share)


def _score_lines(task: _Task, share: int) -> _ShareScore:
    evaluation = load_share(task.evaluation, task.files, task.cut, share)
    linker = evaluation.linker
    run_ids = frozenset(evaluation.run_ids)
    if len(run_ids) > 1 or linker.without_parent:  # average precision mixes the nodes of such lines across queries
        raise _NeedsWholeError
    scoring = Scoring(evaluation)
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
