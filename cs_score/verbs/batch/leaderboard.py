"""The leaderboard of a batch: its runs by rank, tested against each other, as TSV, JSON, Markdown, LaTeX and text.
The *outcome* of a run has the scores of each run id of its file under one policy, which says which answers are right.
Each run id with its scores is a row of the leaderboard.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

from msgspec import UNSET

from cs_score.analysis.rankings import RowTests, TestedRow, compare_rows, measure_formula
from cs_score.base.display import SCREEN_WIDTH, escape_latex, escape_markdown, one_line, wrap_lines
from cs_score.base.documents import json_text
from cs_score.base.records import asdict, replace
from cs_score.measures import undefined_sentences
from cs_score.statistics.resampling_settings import Family, Note, Resampling, note_sentences
from cs_score.tables.layout import Column, Format, Layout, latex, markdown, text_lines, tsv
from cs_score.verbs.batch.batch_documents import (
    LeaderboardDocument,
    LeaderboardRow,
    Outcome,
    RunScores,
    sentences_on_limits,
    sentences_on_tests,
)
from cs_score.verbs.batch.overview import System

# ---- Making a leaderboard


class _RankedRun(NamedTuple):
    """A row of the leaderboard, and the scores of the run that it was made from."""

    row: LeaderboardRow
    run: RunScores


class _PolicyBoard(NamedTuple):
    """The part of a leaderboard that is about one policy: its rows by rank, and the tests of the rows.

    `family` are the tests that were made together, or None if nothing was tested. `verdict` says in words which runs
    differ, and `notes` are on the tests.
    """

    policy: str
    rows: Sequence[LeaderboardRow]
    family: Family | None
    verdict: str
    notes: Sequence[Note]


def make_leaderboard(
    outcomes: Sequence[Outcome],
    task: str,
    measure: str,
    further_measures: Sequence[str],
    edition_by_run: Mapping[str, str] | None = None,
) -> LeaderboardDocument:
    """Return the leaderboard that ranks the outcomes of a batch by `measure`, separately for each policy.

    Runs without a score come last. If runs have intervals, their differences are tested, and rows have tiers and
    p-values. For each policy, `families` describes the tests that were corrected together, and `verdicts` says in words
    which runs differ. Tables for people also show the `further_measures`. `edition_by_run` has the edition of the
    scorer that each run follows; it is empty or None if all runs follow the same edition. If runs follow several
    editions, nothing is tested.
    """
    editions = edition_by_run or {}
    boards = []
    for policy in dict.fromkeys([outcome.policy for outcome in outcomes]):
        outcomes_of_policy = [outcome for outcome in outcomes if outcome.policy == policy]
        ranked_runs = _rank(outcomes_of_policy, measure)
        boards.append(_board_of_policy(policy, ranked_runs, task, measure, editions))
    rows = _rows_of_boards(boards)
    shown_measures = tuple(dict.fromkeys([measure, *further_measures]))
    return LeaderboardDocument(
        task=task,
        measure=measure,
        measures=_all_measures(shown_measures, rows),
        headline=shown_measures,
        families={board.policy: board.family for board in boards if board.family is not None},
        verdicts={board.policy: board.verdict for board in boards if board.family is not None},
        notes=_notes_of_boards(boards, editions),
        rows=rows,
    )


def _rows_of_boards(boards: Iterable[_PolicyBoard]) -> tuple[LeaderboardRow, ...]:
    """Return the rows of all policies, policy by policy."""
    rows: list[LeaderboardRow] = []
    for board in boards:
        rows += board.rows
    return tuple(rows)


def _all_measures(shown_measures: Iterable[str], rows: Iterable[LeaderboardRow]) -> tuple[str, ...]:
    """Return the names of all measures that any row has, each once; the measures of readable tables come first."""
    measures = dict.fromkeys(shown_measures)
    for row in rows:
        measures.update(dict.fromkeys(row.scores))
    return tuple(measures)


def _notes_of_boards(boards: Iterable[_PolicyBoard], edition_by_run: Mapping[str, str]) -> tuple[Note, ...]:
    """Return the notes on the tests and, if runs follow several editions of the scorer, on the editions; each once."""
    notes: list[Note] = []
    has_several_editions = bool(edition_by_run)  # empty if all runs follow the same edition
    if has_several_editions:
        notes.append(_note_on_editions(edition_by_run))
    for board in boards:
        notes += board.notes
    return tuple(dict.fromkeys(notes))


def _note_on_editions(edition_by_run: Mapping[str, str]) -> Note:
    """Return the note that the runs of a leaderboard follow several editions of the scorer, with different rules.

    `edition_by_run` has the name of the edition that each run follows.
    """
    editions = " and ".join(dict.fromkeys(edition_by_run.values()))
    meaning = (
        f"runs follow {editions}: ranks compare scores that other rules have made, and nothing is tested; answers, "
        "agreement and stability are those of the runs that follow the edition of the batch"
    )
    return Note("MIXED_EDITIONS", meaning)


def _board_of_policy(
    policy: str, ranked_runs: Sequence[_RankedRun], task: str, measure: str, edition_by_run: Mapping[str, str]
) -> _PolicyBoard:
    """Return the rows of the leaderboard under one policy, with the results of their tests.

    The tests that are corrected together are the `family`, and the `verdict` says in words which runs differ.
    `ranked_runs` are the runs by rank. If they follow several editions of the scorer, `edition_by_run` has the edition
    of each run. In this case nothing is tested, and each row names its edition.
    """
    # Some rows cannot be tested. The others are tested together, and each result is assigned to its row by position.
    testable_positions = [] if edition_by_run else _positions_to_test(ranked_runs)
    tests = _test_rows([ranked_runs[position] for position in testable_positions], task, measure)
    test_by_position = dict(zip(testable_positions, tests.rows))
    has_intervals = any(ranked_run.row.intervals for ranked_run in ranked_runs)
    rows = []
    for position, ranked_run in enumerate(ranked_runs):
        test = test_by_position.get(position, TestedRow())
        row = _with_test(ranked_run.row, test, tests.family, has_intervals=has_intervals)
        rows.append(replace(row, edition=edition_by_run.get(row.run, UNSET)))
    return _PolicyBoard(policy, rows, family=tests.family, verdict=tests.verdict, notes=tests.notes)


class _LeaderboardEntry(NamedTuple):
    """A run id of an outcome with all its scores, and its score by the ranking measure, or None if it has none."""

    outcome: Outcome
    run_scores: RunScores
    score: float | None


def _rank(outcomes: Iterable[Outcome], measure: str) -> list[_RankedRun]:
    """Return a row for each run id of some outcomes, from the highest score to the lowest, then those without a score.

    Rows with equal scores share a rank, and the next rank is left out: 1, 1, 3.
    """
    entries = _leaderboard_entries(outcomes, measure)
    entries_with_score = [entry for entry in entries if entry.score is not None]
    entries_with_score.sort(key=attrgetter("score"), reverse=True)
    ranks = _ranks_of([entry.score for entry in entries_with_score])
    ranked_runs = []
    for entry, rank in zip(entries_with_score, ranks):
        row = _make_row(entry.outcome, entry.run_scores, measure, rank)
        ranked_runs.append(_RankedRun(row, entry.run_scores))
    entries_without_score = [entry for entry in entries if entry.score is None]
    for entry in entries_without_score:
        row = _make_row(entry.outcome, entry.run_scores, measure, rank=None)
        ranked_runs.append(_RankedRun(row, entry.run_scores))
    return ranked_runs


def _leaderboard_entries(outcomes: Iterable[Outcome], measure: str) -> list[_LeaderboardEntry]:
    """Return an entry for each run id of the outcomes, with its outcome, its scores, and its score by `measure`.

    An outcome without a run id, such as that of a failed run, has a single entry with an empty run id and no scores.
    """
    no_scores = RunScores(run_id="", scores={})
    entries = []
    for outcome in outcomes:
        for run_scores in outcome.runs or (no_scores,):
            entries.append(_LeaderboardEntry(outcome, run_scores, run_scores.scores.get(measure)))
    return entries


def _ranks_of(sorted_scores: Sequence[float | None]) -> list[int]:
    """Return the rank of each score: `[0.9, 0.5, 0.5, 0.1]` gives `[1, 2, 2, 4]`. The highest score comes first."""
    rank_by_score: dict[float | None, int] = {}
    for position, score in enumerate(sorted_scores, start=1):
        if score not in rank_by_score:
            rank_by_score[score] = position
    return [rank_by_score[score] for score in sorted_scores]


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
    """Return the signature to cite with a score: it names the measure, the inputs and the options of the scoring.

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


def _test_rows(ranked_runs: Sequence[_RankedRun], task: str, measure: str) -> RowTests:
    """Return the tests of the rows of a ranking against each other or, if the settings name a baseline, against it.

    `ranked_runs` are the rows that can be tested: they have intervals, and their runs have findings. If there are no
    rows, nothing is tested.
    """
    resampling = _resampling_of(ranked_runs)
    if resampling is None:
        return RowTests([])
    rows = [row for row, _ in ranked_runs]
    unit_tables = []
    for _, run in ranked_runs:
        if run.findings:  # always true, but the type checker cannot know this
            unit_tables.append(run.findings.table())
    labels = distinct_labels(rows)
    settings = _with_baseline_label(resampling, rows, labels)
    return compare_rows(labels, unit_tables, measure_formula(task, [measure]), settings)


def _with_baseline_label(resampling: Resampling, rows: Sequence[LeaderboardRow], labels: Sequence[str]) -> Resampling:
    """Return the settings of tests with the label of the baseline, the run against which all others are tested.

    The user may have called the baseline by the name, file or run id of a run instead of its label. A text that fits no
    row is kept. `labels` has the label of each of the `rows`.
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

    All rows of a policy have the same columns. If the `family` (the tests corrected together) has a baseline, each row
    has the p-value of its difference from the baseline. Otherwise, if runs have intervals, it has its tier and the
    p-value of its difference from the row above. A row that was not tested has an empty `test`; its values are None.
    """
    has_baseline = family is not None and bool(family.baseline)
    if has_baseline:
        row = replace(row, p_baseline=test.p_baseline)
    elif has_intervals:
        row = replace(row, tier=test.tier, p_above=test.p_above)
    if family is None:  # nothing was tested under the policy
        return row
    return replace(row, effect_size=test.effect_size, wins=test.wins, ties=test.ties, losses=test.losses)


def distinct_labels(systems: Sequence[System | LeaderboardRow]) -> list[str]:
    """Return a label for each run of a batch; no two labels are alike.

    The label is the run id if it is unique. Otherwise it is the name of the run, followed by the run id if the file has
    several, and by a number if the label is still taken: `"ID1"`, `"b (ID2)"`, `"c"`, `"c (2)"`.
    """
    names = _names_of_systems(systems)
    labels: list[str] = []
    taken_names = set(names)
    labels_so_far: set[str] = set()
    for name in names:
        label = name
        if name in labels_so_far:
            label = _numbered_name(name, taken_names | labels_so_far)
        labels.append(label)
        labels_so_far.add(label)
    return labels


def _names_of_systems(systems: Sequence[System | LeaderboardRow]) -> list[str]:
    """Return a name for each run of a batch: its run id if no other run has this id, otherwise the name of the run.

    The run id follows the name if several run ids have this name: `"ID1"`, `"b"`, `"c (ID2)"`. Two results may still be
    alike.
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
    return names


def _numbered_name(name: str, taken_names: set[str]) -> str:
    """Return `NAME (N)` with the smallest number from 2 for which this name is not taken yet."""
    for number in itertools.count(2):
        candidate = f"{name} ({number})"
        if candidate not in taken_names:
            return candidate
    raise AssertionError


# ---- Its columns

_KEYS_FOR_PROGRAMS: Final = frozenset({"file", "signature", "failure", "wins", "ties", "losses"})
"""Columns that readable tables leave out: they are for programs, or too wide."""


def leaderboard_layout(board: LeaderboardDocument) -> Layout:
    """Return the layout of the table of a leaderboard.

    Files for programs have all columns. Tables for people have the score by which runs are ranked and its confidence
    limits, the headline measures, the tests, and the state of each run.
    """
    leading_columns = _leading_columns(board)
    trailing_columns = _trailing_columns(board)
    columns = leading_columns + _score_columns(board, board.measures) + trailing_columns
    columns.append(Column("failure", "Failure"))

    ranking_columns = _score_columns(board, [board.measure])
    readable_keys = [column.key for column in leading_columns + ranking_columns]
    readable_keys += board.headline[1:]  # the first headline measure is the ranking measure
    readable_keys += [column.key for column in trailing_columns]
    hidden_keys = _hidden_keys(board)
    return Layout(
        name="leaderboard",
        title=f"Leaderboard by {board.measure}:",
        columns=tuple(columns),
        rows=_values_of_rows,
        shown_keys=tuple([key for key in readable_keys if key not in hidden_keys]),
        max_text_length=60,
    )


def _trailing_columns(board: LeaderboardDocument) -> list[Column]:
    """Return the columns after the scores: results of tests, then problems, state, file and signature of the run."""
    columns = _test_columns(board)
    for key in ("errors", "warnings", "state", "file", "signature"):
        columns.append(Column(key, key.capitalize()))
    return columns


def _hidden_keys(board: LeaderboardDocument) -> set[str]:
    """Return the keys of the columns that readable tables leave out.

    These are the columns for programs (`_KEYS_FOR_PROGRAMS`), such as the file. The policy is hidden if there is only
    one, and run ids are hidden if they are the names of the runs.
    """
    hidden_keys = set(_KEYS_FOR_PROGRAMS)
    if not board.has_policies:
        hidden_keys.add("policy")
    if all(row.run_id in ("", row.run) for row in board.rows):
        hidden_keys.add("run_id")
    return hidden_keys


def _has_intervals(board: LeaderboardDocument) -> bool:
    """Return whether the score of any row has an interval."""
    return any(row.intervals for row in board.rows)


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


def _score_columns(board: LeaderboardDocument, measures: Iterable[str]) -> list[Column]:
    """Return a column of scores for each of the measures, followed by columns of their limits if runs have intervals.

    The keys of the columns of a measure are `SF-F1`, `SF-F1:low` and `SF-F1:high`.
    """
    has_intervals = _has_intervals(board)
    columns = []
    for measure in measures:
        columns.append(Column(measure, measure))
        if has_intervals:
            columns.append(Column(f"{measure}:low", "Low"))
            columns.append(Column(f"{measure}:high", "High"))
    return columns


def _test_columns(board: LeaderboardDocument) -> list[Column]:
    """Return the columns that say which runs of a leaderboard differ significantly, and by how much.

    If runs were tested against a baseline, there is a column of p-values against it. Otherwise, if runs have intervals,
    there are columns of tiers and of p-values against the row above. Columns of the sizes of these differences follow
    if anything was tested.
    """
    columns = []
    has_baseline = any(family.baseline for family in board.families.values())
    if has_baseline:
        columns.append(Column("p_baseline", "p (baseline)", Format.P))
    elif _has_intervals(board):
        columns += [Column("tier", "Tier"), Column("p_above", "p (row above)", Format.P)]
    if board.families:
        columns += [Column("effect_size", "Effect", Format.GAIN), Column("units", "W/T/L")]
        columns += [Column("wins"), Column("ties"), Column("losses")]
    return columns


def _values_of_rows(board: LeaderboardDocument) -> Iterator[dict[str, Any]]:
    """Yield the values of each row of a leaderboard by the key of the column, as `_values_of_row` returns them."""
    for row in board.rows:
        yield _values_of_row(row)


def _values_of_row(row: LeaderboardRow) -> dict[str, Any]:
    """Return the values of a row by column key: `{"rank": 1, "SF-F1": 0.5, "SF-F1:low": 0.4, ...}`.

    The value of `units` counts the units that the run wins, ties and loses: `"2/0/1"`.
    """
    values: dict[str, Any] = {name: None if value is UNSET else value for name, value in asdict(row).items()}
    values.update(row.scores)
    if row.intervals:
        for measure in row.scores:
            values[f"{measure}:low"], values[f"{measure}:high"] = row.limits(measure)
    if isinstance(row.wins, int):  # not unset (nothing was tested) or None (this row was not tested)
        values["units"] = f"{row.wins}/{row.ties}/{row.losses}"
    return values


# ---- The sentences below it


def _sentences_below(board: LeaderboardDocument) -> list[str]:
    """Return the sentences below a leaderboard.

    They give the verdicts and the tests, explain the limits of scores, name the runs without a value of some measures,
    and end with notes.
    """
    sentences = sentences_on_tests(board.families, board.verdicts, board.measure)
    sentences += _explanations_of_limits(board)
    if board.families:
        sentences.append(f"Ranks and tests are by {board.measure}, the primary measure; all others are exploratory.")
    sentences += _sentences_on_undefined_scores(board)
    sentences += note_sentences(board.notes)
    return sentences


def _explanations_of_limits(board: LeaderboardDocument) -> list[str]:
    """Return the sentences that explain the confidence limits of scores and the tests, and notes on single rows.

    Rows share most sentences, but each sentence is returned only once.
    """
    sentences: dict[str, None] = {}
    for row in board.rows:
        if row.intervals:
            explanations = sentences_on_limits(row.intervals.resampling, row.intervals.units, board.families)
            explanations += note_sentences(row.intervals.notes)
            sentences.update(dict.fromkeys(explanations))
    return list(sentences)


def _sentences_on_undefined_scores(board: LeaderboardDocument) -> list[str]:
    """Return a sentence for each run and each reason why some of its measures are undefined: `a has no SF-AP: ...`."""
    sentences = []
    for row in board.rows:
        for measures_and_reason in undefined_sentences(row.undefined or {}):
            name = _name_with_policy(row, board)
            sentences.append(f"{name} has no {measures_and_reason}; it has no rank by these.")
    return sentences


def _sentences_on_failures(board: LeaderboardDocument) -> list[str]:
    """Return a sentence for each run that was not scored to its end: `run (policy): reason`."""
    return [f"{_name_with_policy(row, board)}: {row.failure}" for row in board.rows if row.failure is not None]


def _name_with_policy(row: LeaderboardRow, board: LeaderboardDocument) -> str:
    """Return the name of a row's run, followed by its policy if the leaderboard has several: `run (sf)`."""
    if not board.has_policies:
        return row.run
    return f"{row.run} ({row.policy})"


def signatures(board: LeaderboardDocument) -> list[str]:
    """Return the signature shared by the scores of all runs under each policy, as a line that can be cited.

    Without the name of the run, the signatures of all runs under a policy are the same. Each line is returned only
    once.
    """
    lines = []
    for row in board.rows:
        if row.origin:
            signature = row.origin.signature.of(board.measure).of_all_runs()
            lines.append(str(signature))
    return list(dict.fromkeys(lines))


# ---- Its formats


def _tsv_text(board: LeaderboardDocument) -> str:
    """Return the leaderboard as a table with tabs between the cells, with every column."""
    return b"".join(tsv(leaderboard_layout(board).table(board))).decode()


def _markdown_text(board: LeaderboardDocument) -> str:
    """Return the leaderboard as a Markdown table with a list of notes, failures and signatures below it."""
    list_items = [
        f"- {escape_markdown(sentence)}" for sentence in _sentences_below(board) + _sentences_on_failures(board)
    ]
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
    for sentence in _sentences_below(board) + signatures(board):
        lines += ["", escape_latex(sentence)]
    return "\n".join(lines) + "\n"


WRITERS: Final[dict[str, Callable[[LeaderboardDocument], str]]] = {
    "tsv": _tsv_text,
    "json": json_text,
    "md": _markdown_text,
    "tex": _latex_text,
}
"""The functions that make the files of a leaderboard, by the ending of the file."""


def leaderboard_text(board: LeaderboardDocument, limit: int = 10) -> str:
    """Return the leaderboard for a terminal: its first rows, notes, the first failures, and signatures.

    At most `limit` rows and `limit` failures are shown.

    The only scores in it are those by the ranking measure, below the heading `Score`.
    """
    table = _narrow_layout(board).table(board)
    lines = list(text_lines(table, limit, SCREEN_WIDTH))[1:]  # the first line is blank
    failures = _sentences_on_failures(board)
    sentences = _sentences_below(board) + [one_line(failure, 300) for failure in failures[:limit]]
    for sentence in sentences:
        lines += wrap_lines(sentence)
    if len(failures) > limit:
        lines.append(f"... and {len(failures) - limit} more that failed")
    lines += [f"signature  {signature}" for signature in signatures(board)]
    return "\n".join(lines)


def _narrow_layout(board: LeaderboardDocument) -> Layout:
    """Return the layout of a leaderboard for a terminal, which calls the ranking measure `Score` and leaves out others.

    The numbers of errors and warnings and the effect sizes are left out, too.
    """
    layout = leaderboard_layout(board)
    columns = []
    for column in layout.columns:
        heading = "Score" if column.key == board.measure else column.heading
        columns.append(replace(column, heading=heading))
    further_measures = board.headline[1:]  # the first one is the ranking measure
    hidden_keys = {*further_measures, "errors", "warnings", "effect_size"}
    shown_keys = [key for key in layout.shown_keys if key not in hidden_keys]
    return replace(layout, columns=tuple(columns), shown_keys=tuple(shown_keys))
