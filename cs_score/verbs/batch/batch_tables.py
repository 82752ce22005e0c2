"""The tables of a batch other than its leaderboard: answers, agreement, stability and problems, and `batch.json`. The
*outcome* of a run has its scores under one policy. A *system* is a run id of a run; most runs have only one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from cs_score.analysis.rankings import FirstPlace, RankingLimits, RankingPair
from cs_score.base.display import spreadsheet_cell
from cs_score.base.errors import InputError
from cs_score.base.outputs import utf8_blocks
from cs_score.base.records import replace, to_builtins
from cs_score.problems.log import Occurrence, merge_occurrences, occurrence_of_error
from cs_score.problems.reports import write_occurrences
from cs_score.statistics.resampling_settings import Note, Resampling
from cs_score.tables.layout import Layout, Table, columns, tsv
from cs_score.verbs.batch.batch_documents import (
    BatchOverview,
    LeaderboardDocument,
    LeaderboardRow,
    Outcome,
    ProblemPlace,
    RankedRow,
)
from cs_score.verbs.batch.leaderboard import WRITERS, distinct_labels
from cs_score.verbs.batch.overview import (
    FOUND,
    Evaluation,
    Overview,
    PolicyOverview,
    SharedAnswers,
    System,
    SystemResult,
    Target,
    make_overview,
)

# ---- The overview of all runs


def overview_of_outcomes(outcomes: Sequence[Outcome], board: LeaderboardDocument, evaluation: Evaluation) -> Overview:
    """Return the overview of the runs that follow one edition of the scorer: their answers, and how much they agree.

    Its rankings are by the headline measures (the main ones) of the leaderboard `board`. `evaluation` describes gold:
    its units, and what is to be found in them.
    """
    systems = _systems_of(outcomes)
    results_by_policy = _results_by_policy(outcomes, systems)
    return make_overview(evaluation, systems, results_by_policy, board.headline, _resampling_of_board(board))


def _systems_of(outcomes: Iterable[Outcome]) -> list[System]:
    """Return the systems of a batch, each once: a system is a run id of a run."""
    systems: dict[System, None] = {}
    for outcome in outcomes:
        for run in outcome.runs:
            systems[System(outcome.run, run.run_id)] = None
    return list(systems)


def _results_by_policy(outcomes: Sequence[Outcome], systems: Sequence[System]) -> dict[str, list[SystemResult | None]]:
    """Return the results under each policy, in the order of `systems`.

    If a system was not scored under a policy, its result is None. A run that was scored has findings: its units, and
    the answers that it found.
    """
    results_by_policy: dict[str, list[SystemResult | None]] = {}
    for outcome in outcomes:
        results_by_policy[outcome.policy] = [None] * len(systems)
    position_by_system = {system: position for position, system in enumerate(systems)}
    for outcome in outcomes:
        for run in outcome.runs:
            if run.findings:
                position = position_by_system[System(outcome.run, run.run_id)]
                results_by_policy[outcome.policy][position] = SystemResult(run.scores, run.findings)
    return results_by_policy


def _resampling_of_board(board: LeaderboardDocument) -> Resampling | None:
    """Return the settings of the intervals in a leaderboard, which all rows share, or None if it has no intervals."""
    for row in board.rows:
        if row.intervals:
            return row.intervals.resampling
    return None


def overview_document(overview: Overview, board: LeaderboardDocument, *, pages: bool) -> BatchOverview:
    """Return the overview and the leaderboard as the document of `batch.json`; `pages` says that runs have pages.

    The document calls the systems `runs`. In JSON its `unit_scores` have the key `queries`, and its `difficulties` have
    the key `answers`.
    """
    evaluation = overview.evaluation
    resampling = None
    if overview.resampling is not None:
        resampling = replace(overview.resampling, unit=evaluation.unit)
    return BatchOverview(
        task=evaluation.task,
        measure=board.measure,
        unit=evaluation.unit,
        unit_measure=evaluation.measure,
        policies=tuple([policy_overview.policy for policy_overview in overview.policies]),
        bootstrap=resampling,
        families=board.families,
        verdicts=board.verdicts,
        notes=_distinct_notes(board),
        pages=pages,
        runs=tuple(overview.systems),
        leaderboard=tuple([_ranked_row(row, board.measure) for row in board.rows]),
        unit_scores=tuple(overview.unit_scores),
        difficulties=tuple(overview.difficulties),
        agreement=tuple([policy_overview.agreement for policy_overview in overview.policies]),
        stability=overview.stability,
    )


def _distinct_notes(board: LeaderboardDocument) -> tuple[Note, ...]:
    """Return the notes of a leaderboard, each once: those on the intervals of its rows, then those on its tests."""
    notes: list[Note] = []
    for row in board.rows:
        if row.intervals:
            notes += row.intervals.notes
    notes += board.notes
    return tuple(dict.fromkeys(notes))


def _ranked_row(row: LeaderboardRow, measure: str) -> RankedRow:
    """Return a row of the leaderboard for `batch.json`, with the score by `measure` as its only score.

    The row also has the tier of the run, and the p-value of its difference from the row above or from the baseline.
    Both are None if nothing was tested.
    """
    return RankedRow(
        policy=row.policy,
        rank=row.rank,
        run=row.run,
        run_id=row.run_id,
        score=row.scores.get(measure),
        interval=_interval_of(row, measure),
        tier=row.tier or None,
        p_above=row.p_above or None,
        p_baseline=row.p_baseline,
        undefined=row.undefined,
    )


def _interval_of(row: LeaderboardRow, measure: str) -> RankingLimits | None:
    """Return the limits of a row's score by `measure`, or None if the row has no such score or no intervals."""
    if not row.intervals or measure not in row.scores:
        return None
    low, high = row.limits(measure)
    return RankingLimits(low, high)


# ---- Tables of the overview


def _answers_table(overview: Overview) -> Table:
    """Return the table `answers.tsv`, which shows the runs that gave each answer that gold asks for.

    It has a row for each policy and each target. In Cold Start, a target is an equivalence class of the ground truth;
    in other tasks, it is a unit by a measure. The last columns are for the runs: each run has a column with its label
    as the heading.
    """
    labels = distinct_labels(overview.systems)
    rows: list[tuple[Any, ...]] = []
    for policy_overview in overview.policies:
        for position, target in enumerate(overview.targets):
            rows.append(_answer_cells(policy_overview, position, target, labels))
    # `part` to `value` describe the target, `found_by` counts the runs that found it. If there is just one such run,
    # `only` names it.
    keys = ["policy", "part", "unit", "place", "name", "value", "found_by", "only"]
    keys += [spreadsheet_cell(label) for label in labels]
    # The layout's function that makes rows from a document is never called here, because `Table` is given the rows.
    layout = Layout(name="answers", title="", columns=columns(*keys), rows=iter)
    return Table(layout, rows, total=len(rows))


def _answer_cells(
    policy_overview: PolicyOverview, position: int, target: Target, labels: Sequence[str]
) -> tuple[Any, ...]:
    """Return the cells of a row of `answers.tsv`: who found a target under one policy.

    The first cells name the target, count the runs that found it and, if only one run found it, name that run. The last
    cells, one for each run, are 1 if the run found the target and 0 if it did not. The cell of a run that was not
    scored is empty. `position` is the position of the target among all targets, and `labels` are the labels of the
    runs.
    """
    marks = []
    for marks_of_run in policy_overview.marks_of_systems:
        marks.append("" if marks_of_run is None else marks_of_run[position])
    finder_count = policy_overview.finder_counts[position]
    only_finder = labels[marks.index(FOUND)] if finder_count == 1 else ""
    cells_of_target = (target.part, target.unit, target.place, target.name, target.value)
    return (policy_overview.policy, *cells_of_target, finder_count, only_finder, *marks)


_AGREEMENT_COLUMNS: Final = columns(
    "policy",
    "what",
    "run",
    "run_id",
    "other_run",
    "other_run_id",
    "right_shared",
    "right_either",
    "right_jaccard",
    "wrong_shared",
    "wrong_either",
    "wrong_jaccard",
    "part",
    "systems",
    "recall",
    "agreed",
    "measure",
    "score",
)


def _agreement_rows(overview: Overview) -> Iterator[dict[str, Any]]:
    """Yield the rows of `agreement.tsv`, policy by policy, each row as a dictionary by the keys of the columns.

    The rows of a policy are of three kinds, which the column `what` tells apart: `pair` for two runs and the numbers of
    answers that they share, `systems` for the share of the answers that one, two ... runs find together, and `union`
    for a score of all right answers of all runs together.
    """
    for policy_overview in overview.policies:
        policy = policy_overview.policy
        for right, wrong in zip(policy_overview.right_answers, policy_overview.wrong_answers):
            yield {"policy": policy, "what": "pair", **_cells_of_pair(overview.systems, right, wrong)}
        for found_together in policy_overview.agreement.found_together:
            yield {"policy": policy, "what": "systems", **to_builtins(found_together)}
        for measure, score in policy_overview.agreement.union.scores.items():
            yield {"policy": policy, "what": "union", "measure": measure, "score": score}


def _cells_of_pair(
    systems: Sequence[System], right_answers: SharedAnswers, wrong_answers: SharedAnswers
) -> dict[str, Any]:
    """Return the cells of `agreement.tsv` about two runs: their names, and how many answers they share.

    `right_answers` has the number of right answers of both runs, and the number of right answers of either run.
    `wrong_answers` has the same two numbers for wrong answers. Both have the positions of the two runs in `systems`, as
    `a` and `b`. The cell `part` is a measure in evidence tasks; it is empty in Cold Start.
    """
    system = systems[right_answers.a]
    other_system = systems[right_answers.b]
    return {
        "run": system.run,
        "run_id": system.run_id,
        "other_run": other_system.run,
        "other_run_id": other_system.run_id,
        "right_shared": right_answers.shared_count,
        "right_either": right_answers.either_count,
        "right_jaccard": right_answers.jaccard,
        "wrong_shared": wrong_answers.shared_count,
        "wrong_either": wrong_answers.either_count,
        "wrong_jaccard": wrong_answers.jaccard,
        "part": right_answers.part,
    }


_STABILITY_COLUMNS: Final = columns(
    "what",
    "measure",
    "policy",
    "run",
    "run_id",
    "is_first",
    "first",
    "other_measure",
    "other_policy",
    "runs",
    "tau_b",
    "tau_b:low",
    "tau_b:high",
)


def _stability_rows(overview: Overview) -> Iterator[dict[str, Any]]:
    """Yield the rows of `stability.tsv`, each as a dictionary by the keys of the columns.

    A ranking orders the runs by a measure under a policy. Rows of the kind `run` come first: for each ranking and each
    run, the share of resamples in which the run is first. Rows of the kind `pair` follow: for each pair of rankings,
    their correlation (Kendall's tau-b) with its limits.
    """
    for ranking in overview.stability.first_places:
        yield from _first_place_rows(ranking, overview.systems)
    for pair in overview.stability.pairs:
        ranked_by_both = overview.ranked_positions[pair.a] & overview.ranked_positions[pair.b]
        yield _correlation_row(pair, len(ranked_by_both))


def _first_place_rows(ranking: FirstPlace, systems: Sequence[System]) -> Iterator[dict[str, Any]]:
    """Yield a row of `stability.tsv` for each run: whether it is first in a ranking, and in what share of resamples."""
    for position, first_share in enumerate(ranking.shares):
        system = systems[position]
        yield {
            "what": "run",  # the kind of row
            "measure": ranking.measure,
            "policy": ranking.policy,
            "run": system.run,
            "run_id": system.run_id,
            "is_first": int(position in ranking.first_positions),
            "first": first_share,
        }


def _correlation_row(pair: RankingPair, run_count: int) -> dict[str, Any]:
    """Return the row of `stability.tsv` for two rankings: their correlation with its limits.

    `run_count` is the number of runs that both rankings have. The limits are None if nothing was resampled.
    """
    return {
        "what": "pair",
        "measure": pair.a.measure,
        "policy": pair.a.policy,
        "other_measure": pair.b.measure,
        "other_policy": pair.b.policy,
        "runs": run_count,
        "tau_b": pair.tau,
        "tau_b:low": None if pair.interval is None else pair.interval.low,
        "tau_b:high": None if pair.interval is None else pair.interval.high,
    }


TABLES: Final[Mapping[str, Callable[[Overview], Table]]] = {
    "answers.tsv": _answers_table,
    "agreement.tsv": Layout(name="agreement", title="", columns=_AGREEMENT_COLUMNS, rows=_agreement_rows).table,
    "stability.tsv": Layout(name="stability", title="", columns=_STABILITY_COLUMNS, rows=_stability_rows).table,
}
"""The functions that make the tables of an overview, by the name of the file."""


def table_files(board: LeaderboardDocument, overview: Overview) -> dict[str, Iterator[bytes]]:
    """Return the content of each table of a batch, by the name of its file.

    These are the leaderboard as TSV, Markdown and LaTeX, and the tables of the overview. The leaderboard as JSON and
    the table of problems are not among them.
    """
    content_by_name: dict[str, Iterator[bytes]] = {}
    for ending, make_text in WRITERS.items():
        if ending != "json":
            content_by_name[f"leaderboard.{ending}"] = utf8_blocks([make_text(board)])
    for name, make_table in TABLES.items():
        content_by_name[name] = tsv(make_table(overview))
    return content_by_name


# ---- Problems


def _problem_rows(outcomes: Iterable[Outcome]) -> Iterator[dict[str, str]]:
    """Yield the rows of `problems.tsv`, each as a dictionary by the keys of the columns.

    The rows of a run are its problems, then its remarks, then the reason of its failure if it failed.
    """
    for outcome in outcomes:
        run_and_policy = {"run": outcome.run, "policy": outcome.policy}
        for problem in outcome.problems:
            yield run_and_policy | _cells_of_problem(problem)
        for remark in outcome.remarks:
            yield run_and_policy | {"severity": "NOTE", "code": "REMARK", "message": remark}
        if outcome.failure is not None:
            cells = {"severity": "ERROR", "code": "FATAL", "file": outcome.file, "message": outcome.failure}
            yield run_and_policy | cells


def _cells_of_problem(problem: ProblemPlace) -> dict[str, str]:
    """Return the cells of `problems.tsv` about a problem at one place: its severity, code, file, line and message."""
    return {
        "severity": problem.severity,
        "code": problem.code,
        "file": problem.file,
        "line": problem.line,
        "message": problem.message.strip(),
    }


_PROBLEM_LAYOUT: Final = Layout(
    name="problems",
    title="",
    columns=columns("run", "policy", "severity", "code", "file", "line", "message"),
    rows=_problem_rows,
)


def problem_table_lines(outcomes: Iterable[Outcome]) -> list[bytes]:
    """Return the lines of `problems.tsv` with the problems of all runs; the first line is the header."""
    return list(tsv(_PROBLEM_LAYOUT.table(outcomes)))


def write_problem_report(path: str, gold_problems: Iterable[Occurrence], outcomes: Iterable[Outcome]) -> None:
    """Write the report of `--problems` into the file `path`: the problems of gold and of all runs with their details.

    Each problem is reported once. Raises OutputError if the file cannot be written.
    """
    problems = list(gold_problems)
    for outcome in outcomes:
        problems += _problems_of_run(outcome)
    write_occurrences(merge_occurrences(problems), path)


def _problems_of_run(outcome: Outcome) -> Sequence[Occurrence]:
    """Return the problems of a run with their details.

    If the worker of a run died, the run has no list of problems. Its only problem is then the reason for its failure.
    """
    if outcome.occurrences is not None:
        return outcome.occurrences
    if outcome.failure is None:
        return ()
    return [occurrence_of_error(InputError(outcome.failure, file=outcome.file))]
