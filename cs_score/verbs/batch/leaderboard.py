"""The leaderboard of a batch: its runs by rank, tested against each other, as TSV, JSON, Markdown, LaTeX and text."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, NamedTuple

from msgspec import UNSET

from cs_score.analysis.rankings import RowTests, TestedRow, compare_rows, measure_formula
from cs_score.base.display import SCREEN, escape_latex, escape_markdown, one_line, wrap_lines
from cs_score.base.documents import json_text
from cs_score.base.records import asdict, replace
from cs_score.measures.registry import undefined_sentences
from cs_score.statistics.resampling_settings import Family, Note, Resampling, note_sentences
from cs_score.tables.layout import Column, Format, Layout, latex, markdown, text, tsv
from cs_score.verbs.batch.batch_documents import (
    LeaderboardDocument,
    LeaderboardRow,
    Outcome,
    RunScores,
    family_lines,
    limit_lines,
)
from cs_score.verbs.batch.overview import System

# ---- Making a leaderboard


class _RankedRun(NamedTuple):
    """A row of the leaderboard, and the scores of the run that it was made from."""

    row: LeaderboardRow
    run: RunScores


def make_leaderboard(
    outcomes: Sequence[Outcome],
    task: str,
    measure: str,
    headline: Sequence[str],
    edition_by_run: Mapping[str, str] | None = None,
) -> LeaderboardDocument:
    """Return the leaderboard that ranks the outcomes of a batch by `measure`, separately for each policy.

    Runs without a score come last. If runs have intervals, their differences are tested, and rows get tiers and
    p-values. `headline` are the further measures that readable tables show. `edition_by_run` has the edition of the
    scorer that each run follows; it is empty or None if all follow the same. Nothing is tested if they follow several.
    """
    edition_by_run = edition_by_run or {}
    rows: list[LeaderboardRow] = []
    families: dict[str, Family] = {}
    verdicts: dict[str, str] = {}
    notes: list[Note] = []
    if edition_by_run:
        notes.append(_note_on_editions(edition_by_run))
    for policy in dict.fromkeys([outcome.policy for outcome in outcomes]):
        # Rank the runs under this policy, and test them against each other.
        outcomes_of_policy = [outcome for outcome in outcomes if outcome.policy == policy]
        ranked_runs = _rank(outcomes_of_policy, measure)
        resampling = _resampling_of(ranked_runs)
        positions_of_tests: list[int] = []
        tests = RowTests([])
        if resampling is not None and not edition_by_run:
            positions_of_tests = _positions_to_test(ranked_runs)
            runs_to_test = [ranked_runs[position] for position in positions_of_tests]
            tests = _test_rows(runs_to_test, task, measure, resampling)
        notes += tests.notes
        if tests.family is not None:
            families[policy] = tests.family
            verdicts[policy] = tests.verdict
        # Add the result of its test, and its edition if editions differ, to each row.
        test_by_position = dict(zip(positions_of_tests, tests.rows))
        for position, (row_without_test, _) in enumerate(ranked_runs):
            test = test_by_position.get(position, TestedRow())
            row = _with_test(row_without_test, test, tests.family, has_intervals=resampling is not None)
            rows.append(replace(row, edition=edition_by_run.get(row.run, UNSET)))
    shown_measures = list(dict.fromkeys([measure, *headline]))
    all_measures = list(shown_measures)
    for row in rows:
        all_measures += row.scores
    return LeaderboardDocument(
        task=task,
        measure=measure,
        measures=tuple(dict.fromkeys(all_measures)),
        headline=tuple(shown_measures),
        families=families,
        verdicts=verdicts,
        notes=tuple(dict.fromkeys(notes)),
        rows=tuple(rows),
    )


def _note_on_editions(edition_by_run: Mapping[str, str]) -> Note:
    """Return the note that the runs of a leaderboard follow several editions of the scorer."""
    editions = " and ".join(dict.fromkeys(edition_by_run.values()))
    meaning = (
        f"runs follow {editions}: ranks compare scores that other rules have made, and nothing is tested; answers, "
        "agreement and stability are those of the runs that follow the edition of the batch"
    )
    return Note("MIXED_EDITIONS", meaning)


def _rank(outcomes: Iterable[Outcome], measure: str) -> list[_RankedRun]:
    """Return a row for each run id of some outcomes, from the highest score to the lowest, then those without a score.

    An outcome without any run id, such as that of a failed run, has one row without scores. Rows with equal scores
    share a rank, and the next rank is left out: 1, 1, 3.
    """
    runs_with_score: list[tuple[float, Outcome, RunScores]] = []
    runs_without_score: list[tuple[Outcome, RunScores]] = []
    for outcome in outcomes:
        if not outcome.runs:
            runs_without_score.append((outcome, RunScores(run_id="", scores={})))
        for run in outcome.runs:
            if measure in run.scores:
                runs_with_score.append((run.scores[measure], outcome, run))
            else:
                runs_without_score.append((outcome, run))
    runs_with_score.sort(key=itemgetter(0), reverse=True)
    ranked_runs = []
    rank_by_score: dict[float, int] = {}
    for position, (score, outcome, run) in enumerate(runs_with_score, start=1):
        rank = rank_by_score.setdefault(score, position)
        ranked_runs.append(_RankedRun(_make_row(outcome, run, measure, rank), run))
    for outcome, run in runs_without_score:
        ranked_runs.append(_RankedRun(_make_row(outcome, run, measure, rank=None), run))
    return ranked_runs


def _make_row(outcome: Outcome, run: RunScores, measure: str, rank: int | None) -> LeaderboardRow:
    """Return the row of one run id of an outcome, still without the results of tests."""
    return LeaderboardRow(
        rank=rank,
        policy=outcome.policy,
        run=outcome.run,
        run_id=run.run_id,
        answered=run.answered,
        errors=outcome.errors,
        warnings=outcome.warnings,
        state=outcome.state,
        file=outcome.file,
        signature=_signature_text(outcome, run.run_id, measure),
        failure=outcome.failure,
        scores=run.scores,
        undefined=run.undefined,
        intervals=run.intervals,
        remarks=outcome.remarks,
        origin=outcome.origin,
    )


def _signature_text(outcome: Outcome, run_id: str, measure: str) -> str:
    """Return the signature that is cited with a score, which names measure, inputs and options of the scoring.

    It also names the run id if the file has several. The text is empty if the run was not scored.
    """
    if not outcome.origin:
        return ""
    signature = outcome.origin.signature
    if len(outcome.runs) > 1:
        signature = signature.of_run(run_id)
    return str(signature.of(measure))


def _resampling_of(ranked_runs: Iterable[_RankedRun]) -> Resampling | None:
    """Return the settings with which intervals of scores were computed, or None if no run has intervals.

    All runs of a batch have the same settings.
    """
    for row, _ in ranked_runs:
        if row.intervals:
            return row.intervals.resampling
    return None


def _positions_to_test(ranked_runs: Iterable[_RankedRun]) -> list[int]:
    """Return the positions, from 0, of the rows that can be tested.

    Such a row has a rank and intervals, and its run has findings, which hold the statistics of each unit.
    """
    positions = []
    for position, (row, run) in enumerate(ranked_runs):
        if row.rank is not None and row.intervals and run.findings:
            positions.append(position)
    return positions


def _test_rows(ranked_runs: Sequence[_RankedRun], task: str, measure: str, resampling: Resampling) -> RowTests:
    """Return the tests of the rows of a ranking against each other or, if the settings name one, against a baseline.

    `ranked_runs` are the rows that can be tested, each with a run that has findings. Without rows nothing is tested.
    """
    if not ranked_runs:
        return RowTests([])
    rows = []
    unit_tables = []
    for row, run in ranked_runs:
        if run.findings:
            rows.append(row)
            unit_tables.append(run.findings.table())
    labels = distinct_labels(rows)
    settings = _with_baseline_label(resampling, rows, labels)
    return compare_rows(labels, unit_tables, measure_formula(task, [measure]), settings)


def _with_baseline_label(resampling: Resampling, rows: Sequence[LeaderboardRow], labels: Sequence[str]) -> Resampling:
    """Return the settings of tests with a baseline that is the label of a row.

    The user may name the baseline by the name, file or run id of a run, too. A baseline that no row has stays as it is.
    `labels` has the label of each of the `rows`.
    """
    baseline = resampling.baseline
    if not baseline or baseline in labels:
        return resampling
    for row, label in zip(rows, labels):
        other_names = (row.run, row.run_id, row.file, os.path.basename(row.file))
        if baseline in other_names:
            return replace(resampling, baseline=label)
    return resampling


def _with_test(row: LeaderboardRow, test: TestedRow, family: Family | None, *, has_intervals: bool) -> LeaderboardRow:
    """Return a row of the leaderboard with the result of its test.

    All rows of a policy have the same columns: those against a baseline if the `family` of tests has one, otherwise
    tiers if runs have intervals. A row that was not tested has an empty `test`, and its values are None.
    """
    if family is not None and family.baseline:
        row = replace(row, p_baseline=test.p_baseline)
    elif has_intervals:
        row = replace(row, tier=test.tier, p_above=test.p_above)
    if family is None:
        return row
    return replace(row, effect_size=test.effect_size, wins=test.wins, ties=test.ties, losses=test.losses)


def distinct_labels(systems: Sequence[System | LeaderboardRow]) -> list[str]:
    """Return a label for each run of a batch; no two labels are alike.

    The label is the run id if it is unique. Otherwise it is the name of the run, followed by the run id if the file has
    several, and by a number if the label is still taken: `"ID1"`, `"b (ID2)"`, `"c"`, `"c (2)"`.
    """
    count_by_run_id = Counter([system.run_id for system in systems])
    count_by_name = Counter([system.run for system in systems])
    names = []
    for system in systems:
        if system.run_id and count_by_run_id[system.run_id] == 1:
            names.append(system.run_id)
        elif count_by_name[system.run] == 1:
            names.append(system.run)
        else:
            names.append(f"{system.run} ({system.run_id})")
    labels = []
    used_labels: set[str] = set()
    for name in names:
        label = name
        if name in used_labels:
            label = _numbered_name(name, used_labels.union(names))
        labels.append(label)
        used_labels.add(label)
    return labels


def _numbered_name(name: str, taken_names: set[str]) -> str:
    """Return `NAME (N)` with the smallest number from 2 for which this name is not taken yet."""
    for number in itertools.count(2):
        candidate = f"{name} ({number})"
        if candidate not in taken_names:
            return candidate
    raise AssertionError


# ---- Its columns

_HIDDEN_KEYS: Final = frozenset({"file", "signature", "failure", "wins", "ties", "losses"})
"""Columns that readable tables leave out: they are for programs, or too wide."""


def leaderboard_layout(board: LeaderboardDocument) -> Layout:
    """Return the layout of the table of a leaderboard.

    Files for programs have every column. Tables for people have the score that ranks with its limits, the headline
    measures, tests and state.
    """
    has_intervals = any(row.intervals for row in board.rows)
    leading_columns = _leading_columns(board)
    ranking_columns = _score_columns(board.measure, has_intervals=has_intervals)
    trailing_columns = _test_columns(board, has_intervals=has_intervals)
    for key in ("errors", "warnings", "state", "file", "signature"):
        trailing_columns.append(Column(key, key.capitalize()))

    # All columns, for programs.
    columns = list(leading_columns)
    for measure in board.measures:
        columns += _score_columns(measure, has_intervals=has_intervals)
    columns += trailing_columns
    columns.append(Column("failure", "Failure"))

    # The columns for people. The first of the headline measures is the one that ranks.
    further_measures = board.headline[1:]
    hidden_keys = set(_HIDDEN_KEYS)
    if not board.has_policies:
        hidden_keys.add("policy")
    if all(row.run_id in ("", row.run) for row in board.rows):
        hidden_keys.add("run_id")
    readable_keys = [column.key for column in [*leading_columns, *ranking_columns]]
    readable_keys += further_measures
    readable_keys += [column.key for column in trailing_columns]
    return Layout(
        name="leaderboard",
        title=f"Leaderboard by {board.measure}:",
        columns=tuple(columns),
        rows=_values_of_rows,
        shown=tuple([key for key in readable_keys if key not in hidden_keys]),
        longest=60,
    )


def _leading_columns(board: LeaderboardDocument) -> list[Column]:
    """Return the columns before the scores: rank, policy, run and run id.

    Columns for the edition and for the answered units follow if any row has such a value.
    """
    columns = [Column("rank", "Rank"), Column("policy", "Policy"), Column("run", "Run"), Column("run_id", "Run id")]
    if any(row.edition for row in board.rows):
        columns.append(Column("edition", "Edition"))
    if any(row.answered for row in board.rows):
        columns.append(Column("answered", "Answered"))
    return columns


def _score_columns(measure: str, *, has_intervals: bool) -> list[Column]:
    """Return the column of the scores by a measure, followed by two columns of their limits if runs have intervals."""
    columns = [Column(measure, measure)]
    if has_intervals:
        columns.append(Column(f"{measure}:low", "Low"))
        columns.append(Column(f"{measure}:high", "High"))
    return columns


def _test_columns(board: LeaderboardDocument, *, has_intervals: bool) -> list[Column]:
    """Return the columns that say which runs of a leaderboard differ significantly, and by how much.

    If runs were tested against a baseline, there is a column of p-values against it. Otherwise, if runs have intervals,
    there are columns of tiers and of p-values against the row above. Columns of the sizes of these differences follow
    if anything was tested.
    """
    columns = []
    has_baseline = any(family.baseline for family in board.families.values())
    if has_baseline:
        columns.append(Column("p_baseline", "p (baseline)", Format.P))
    elif has_intervals:
        columns += [Column("tier", "Tier"), Column("p_above", "p (row above)", Format.P)]
    if board.families:
        columns += [Column("effect_size", "Effect", Format.GAIN), Column("units", "W/T/L")]
        columns += [Column("wins"), Column("ties"), Column("losses")]
    return columns


def _values_of_rows(board: LeaderboardDocument) -> Iterator[dict[str, Any]]:
    """Yield the values of each row by the key of the column: `{"rank": 1, "SF-F1": 0.5, "SF-F1:low": 0.4, ...}`.

    The value of `units` counts the units that the run wins, ties and loses: `"2/0/1"`.
    """
    for row in board.rows:
        values: dict[str, Any] = {}
        for name, value in asdict(row).items():
            values[name] = None if value is UNSET else value
        values.update(row.scores)
        if row.intervals:
            for measure in row.scores:
                low, high = row.limits(measure)
                values[f"{measure}:low"] = low
                values[f"{measure}:high"] = high
        if isinstance(row.wins, int):
            values["units"] = f"{row.wins}/{row.ties}/{row.losses}"
        yield values


# ---- The sentences below it


def _notes(board: LeaderboardDocument) -> list[str]:
    """Return the sentences below a leaderboard.

    They give the verdicts and the tests, explain the limits of scores, name the runs without a value of some measures,
    and end with notes.
    """
    explanations: list[str] = []
    for row in board.rows:
        if row.intervals:
            explanations += limit_lines(row.intervals.resampling, row.intervals.units, board.families)
            explanations += note_sentences(row.intervals.notes)
    if board.families:
        explanations.append(f"Ranks and tests are by {board.measure}, the primary measure; all others are exploratory.")
    sentences = family_lines(board.families, board.verdicts, board.measure)
    sentences += dict.fromkeys(explanations)  # rows share most explanations, and each is printed once
    sentences += _sentences_on_undefined_scores(board)
    sentences += note_sentences(board.notes)
    return sentences


def _sentences_on_undefined_scores(board: LeaderboardDocument) -> list[str]:
    """Return a sentence for each run without a value of some measures, and each reason: `a has no SF-AP: ...`."""
    sentences = []
    for row in board.rows:
        for measures_and_reason in undefined_sentences(row.undefined or {}):
            name = _name_with_policy(row, board)
            sentences.append(f"{name} has no {measures_and_reason}; it has no rank by these.")
    return sentences


def _failures(board: LeaderboardDocument) -> list[str]:
    """Return a sentence for each run that was not scored to its end: `run (policy): reason`."""
    return [f"{_name_with_policy(row, board)}: {row.failure}" for row in board.rows if row.failure is not None]


def _name_with_policy(row: LeaderboardRow, board: LeaderboardDocument) -> str:
    """Return the name of a row's run, followed by its policy if the leaderboard has several: `run (sf)`."""
    if not board.has_policies:
        return row.run
    return f"{row.run} ({row.policy})"


def signatures(board: LeaderboardDocument) -> list[str]:
    """Return for each policy the signature that the scores of its runs share, as a line that can be cited."""
    lines: dict[str, None] = {}
    for row in board.rows:
        if row.origin:
            signature = row.origin.signature.of(board.measure).of_all_runs()
            lines[str(signature)] = None
    return list(lines)


# ---- Its formats


def _tsv_text(board: LeaderboardDocument) -> str:
    """Return the leaderboard as a table with tabs between the cells, with every column."""
    return b"".join(tsv(leaderboard_layout(board).table(board))).decode()


def _markdown_text(board: LeaderboardDocument) -> str:
    """Return the leaderboard as a Markdown table with a list of notes, failures and signatures below it."""
    list_items = [f"- {escape_markdown(sentence)}" for sentence in _notes(board) + _failures(board)]
    list_items += [f"- `{signature}`" for signature in signatures(board)]
    lines = list(markdown(leaderboard_layout(board).table(board)))
    if list_items:
        lines.append("")
        lines += list_items
    return "\n".join(lines) + "\n"


def _latex_text(board: LeaderboardDocument) -> str:
    """Return the leaderboard as a LaTeX tabular with a paragraph for each note and signature below it."""
    lines = [r"% \usepackage{booktabs}"]
    lines += latex(leaderboard_layout(board).table(board))
    for sentence in _notes(board) + signatures(board):
        lines += ["", escape_latex(sentence)]
    return "\n".join(lines) + "\n"


WRITERS: Final[dict[str, Callable[[LeaderboardDocument], str]]] = {
    "tsv": _tsv_text,
    "json": json_text,
    "md": _markdown_text,
    "tex": _latex_text,
}
"""The functions that make the files of a leaderboard, by the ending of the file."""


def leaderboard_text(board: LeaderboardDocument, most: int = 10) -> str:
    """Return the leaderboard for a terminal: its first `most` rows, notes, the first `most` failures, signatures.

    The only scores in it are those by the ranking measure, below the heading `Score`.
    """
    # Make a narrow table.
    layout = leaderboard_layout(board)
    columns = []
    for column in layout.columns:
        if column.key == board.measure:
            columns.append(replace(column, heading="Score"))
        else:
            columns.append(column)
    further_measures = board.headline[1:]  # the first one ranks
    hidden_keys = {*further_measures, "errors", "warnings", "effect_size"}
    shown_keys = [key for key in layout.shown if key not in hidden_keys]
    narrow_layout = replace(layout, columns=tuple(columns), shown=tuple(shown_keys))
    lines_of_table = list(text(narrow_layout.table(board), most, SCREEN))
    lines = lines_of_table[1:]  # the first line is blank
    # Add the sentences below it.
    failures = _failures(board)
    sentences = _notes(board)
    sentences += [one_line(failure, 300) for failure in failures[:most]]
    for sentence in sentences:
        lines += wrap_lines(sentence)
    if len(failures) > most:
        lines.append(f"... and {len(failures) - most} more that failed")
    lines += [f"signature  {signature}" for signature in signatures(board)]
    return "\n".join(lines)
