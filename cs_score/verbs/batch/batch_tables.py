"""The tables of a batch beside its leaderboard: answers, agreement, stability and problems, and `batch.json`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from cs_score.analysis.rankings import RankingLimits
from cs_score.base.display import spreadsheet_cell
from cs_score.base.errors import InputError
from cs_score.base.outputs import encoded
from cs_score.base.records import asdict, replace
from cs_score.problems.log import Occurrence, merge_occurrences, occurrence_of_error
from cs_score.problems.reports import write_occurrences
from cs_score.statistics.resampling_settings import Note
from cs_score.tables.layout import Layout, Table, columns, tsv
from cs_score.verbs.batch.batch_documents import BatchOverview, LeaderboardDocument, LeaderboardRow, Outcome, RankedRow
from cs_score.verbs.batch.leaderboard import WRITERS, distinct_labels
from cs_score.verbs.batch.overview import (
    FOUND,
    Difficulty,
    Evaluation,
    Overview,
    System,
    SystemResult,
    UnitScores,
    make_overview,
)

# ---- The overview of all runs


def overview_of_outcomes(outcomes: Sequence[Outcome], board: LeaderboardDocument, evaluation: Evaluation) -> Overview:
    """Return the overview of the runs of one edition: the answers of each run, and how much the runs agree.

    Rankings in it are by the headline measures of the leaderboard `board`. `evaluation` has the properties of gold.
    """
    # A system is a run id of a run. It has one result under each policy.
    systems: dict[System, None] = {}
    result_by_key: dict[tuple[str, System], SystemResult] = {}
    for outcome in outcomes:
        for run in outcome.runs:
            system = System(outcome.run, run.run_id)
            systems[system] = None
            if run.findings:
                result_by_key[outcome.policy, system] = SystemResult(run.scores, run.findings)
    results_by_policy = {}
    for outcome in outcomes:
        policy = outcome.policy
        if policy not in results_by_policy:
            results_by_policy[policy] = [result_by_key.get((policy, system)) for system in systems]
    resampling = None
    for row in board.rows:
        if row.intervals:  # all rows with intervals have the same settings
            resampling = row.intervals.resampling
            break
    return make_overview(evaluation, list(systems), results_by_policy, board.headline, resampling)


def overview_document(overview: Overview, board: LeaderboardDocument, *, pages: bool) -> BatchOverview:
    """Return the overview and the leaderboard as the document of `batch.json`; `pages` says that runs have pages."""
    evaluation = overview.evaluation
    # Collect the notes of all rows, and the lists of all policies.
    notes: list[Note] = []
    for row in board.rows:
        if row.intervals:
            notes += row.intervals.notes
    notes += board.notes
    units: list[UnitScores] = []
    answers: list[Difficulty] = []
    for policy_overview in overview.policies:
        units += policy_overview.unit_scores
        answers += policy_overview.difficulties
    resampling = overview.resampling
    if resampling is not None:
        resampling = replace(resampling, unit=evaluation.unit)
    return BatchOverview(
        task=evaluation.task,
        measure=board.measure,
        unit=evaluation.unit,
        unit_measure=evaluation.measure,
        policies=tuple([policy_overview.policy for policy_overview in overview.policies]),
        bootstrap=resampling,
        families=board.families,
        verdicts=board.verdicts,
        notes=tuple(dict.fromkeys(notes)),
        pages=pages,
        runs=tuple(overview.systems),
        leaderboard=tuple([_ranked_row(row, board.measure) for row in board.rows]),
        queries=tuple(units),
        answers=tuple(answers),
        agreement=tuple([policy_overview.agreement for policy_overview in overview.policies]),
        stability=overview.stability,
    )


def _ranked_row(row: LeaderboardRow, measure: str) -> RankedRow:
    """Return a row of the leaderboard for `batch.json`, with the score by `measure` as its only score."""
    interval = None
    if row.intervals and measure in row.scores:
        low, high = row.limits(measure)
        interval = RankingLimits(low, high)
    return RankedRow(
        policy=row.policy,
        rank=row.rank,
        run=row.run,
        run_id=row.run_id,
        score=row.scores.get(measure),
        interval=interval,
        tier=row.tier or None,
        p_above=row.p_above or None,
        p_baseline=row.p_baseline,
        undefined=row.undefined,
    )


# ---- Tables of the overview


def _answers_table(overview: Overview) -> Table:
    """Return the table `answers.tsv`, which says for each answer that gold asks for which runs gave it.

    It has a row for each policy and each target (in Cold Start an equivalence class of the ground truth, in other tasks
    a unit by a measure). The row names the target, counts the runs that found it, and names the run that alone found
    it, if there is one. The last columns, one for each run, hold 1 if the run found the target and 0 if it did not; the
    cell of a run that was not scored is empty.
    """
    labels = distinct_labels(overview.systems)
    rows: list[tuple[Any, ...]] = []
    for policy_overview in overview.policies:
        for position, target in enumerate(overview.targets):
            marks = []
            for marks_of_run in policy_overview.marks_of_systems:
                marks.append("" if marks_of_run is None else marks_of_run[position])
            finder_count = policy_overview.finder_counts[position]
            only_finder = ""
            if finder_count == 1:
                only_finder = labels[marks.index(FOUND)]
            row: list[Any] = [policy_overview.policy, target.part, target.unit, target.place, target.name, target.value]
            row += [finder_count, only_finder]
            row += marks
            rows.append(tuple(row))
    keys = ["policy", "part", "unit", "place", "name", "value", "found_by", "only"]
    keys += [spreadsheet_cell(label) for label in labels]
    layout = Layout(name="answers", title="", columns=columns(*keys), rows=iter)
    return Table(layout, rows, total=len(rows))


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
            run = overview.systems[right.a]
            other_run = overview.systems[right.b]
            yield {
                "policy": policy,
                "what": "pair",
                "run": run.run,
                "run_id": run.run_id,
                "other_run": other_run.run,
                "other_run_id": other_run.run_id,
                "right_shared": right.shared_count,
                "right_either": right.either_count,
                "right_jaccard": right.jaccard,
                "wrong_shared": wrong.shared_count,
                "wrong_either": wrong.either_count,
                "wrong_jaccard": wrong.jaccard,
                "part": right.part,
            }
        for found_together in policy_overview.agreement.systems:
            yield {"policy": policy, "what": "systems", **asdict(found_together)}
        for measure, score in policy_overview.agreement.union.scores.items():
            yield {"policy": policy, "what": "union", "measure": measure, "score": score}


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
    for ranking in overview.stability.first:
        for position, share in enumerate(ranking.shares):
            system = overview.systems[position]
            yield {
                "what": "run",
                "measure": ranking.measure,
                "policy": ranking.policy,
                "run": system.run,
                "run_id": system.run_id,
                "is_first": int(position in ranking.runs),
                "first": share,
            }
    for pair in overview.stability.pairs:
        shared_runs = overview.ranked_positions[pair.a] & overview.ranked_positions[pair.b]
        low = None
        high = None
        if pair.interval is not None:
            low = pair.interval.low
            high = pair.interval.high
        yield {
            "what": "pair",
            "measure": pair.a.measure,
            "policy": pair.a.policy,
            "other_measure": pair.b.measure,
            "other_policy": pair.b.policy,
            "runs": len(shared_runs),
            "tau_b": pair.tau,
            "tau_b:low": low,
            "tau_b:high": high,
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
            content_by_name[f"leaderboard.{ending}"] = encoded([make_text(board)])
    for name, make_table in TABLES.items():
        content_by_name[name] = tsv(make_table(overview))
    return content_by_name


# ---- Problems


def _problem_rows(outcomes: Iterable[Outcome]) -> Iterator[dict[str, str]]:
    """Yield the rows of `problems.tsv`, each as a dictionary by the keys of the columns.

    The rows of a run are its problems, then its remarks, then the reason of its failure if it failed.
    """
    for outcome in outcomes:
        for problem in outcome.problems:
            yield {
                "run": outcome.run,
                "policy": outcome.policy,
                "severity": problem.severity,
                "code": problem.code,
                "file": problem.file,
                "line": problem.line,
                "message": problem.message.strip(),
            }
        for remark in outcome.remarks:
            yield {
                "run": outcome.run,
                "policy": outcome.policy,
                "severity": "NOTE",
                "code": "REMARK",
                "message": remark,
            }
        if outcome.failure is not None:
            yield {
                "run": outcome.run,
                "policy": outcome.policy,
                "severity": "ERROR",
                "code": "FATAL",
                "file": outcome.file,
                "message": outcome.failure,
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

    Each problem is reported once. If a run has no list of problems because its worker died, the reason of its failure
    is reported instead. Raises OutputError if the file cannot be written.
    """
    problems = list(gold_problems)
    for outcome in outcomes:
        if outcome.occurrences is not None:
            problems += outcome.occurrences
        elif outcome.failure is not None:
            problems.append(occurrence_of_error(InputError(outcome.failure, file=outcome.file)))
    write_occurrences(merge_occurrences(problems), path)
