"""The leaderboard of a batch: its runs by rank, tested against each other, as TSV, JSON, Markdown, LaTeX and text."""

from __future__ import annotations

import itertools
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import UNSET

from cs_score.analysis.rankings import RowTests, TestedRow, compare_rows, measure_formula
from cs_score.base.display import SCREEN, escape_latex, escape_markdown, one_line, wrap_lines
from cs_score.base.documents import json_text
from cs_score.base.records import asdict, replace
from cs_score.measures.registry import undefined_sentences
from cs_score.statistics.options import Family, Note, Resampling, note_sentences
from cs_score.tables.layout import Column, Format, Layout, latex, markdown, text, tsv
from cs_score.verbs.batch.documents import (
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

    Runs without a score come last. If runs have intervals, rows get tiers and p-values. `headline` are the further
    measures that readable tables show. `edition_by_run` is given if runs follow several editions of the scorer: nothing
    is tested then.
    """
    edition_by_run = edition_by_run or {}
    rows: list[LeaderboardRow] = []
    families: dict[str, Family] = {}
    verdicts: dict[str, str] = {}
    notes: dict[Note, None] = {}
    if edition_by_run:
        notes[_note_on_editions(edition_by_run)] = None
    for policy in dict.fromkeys([outcome.policy for outcome in outcomes]):
        outcomes_of_policy = [outcome for outcome in outcomes if outcome.policy == policy]
        ranked_runs = _rank(outcomes_of_policy, measure)
        resampling = _resampling_of(ranked_runs)
        tested_positions: list[int] = []
        tests = RowTests([])
        if resampling is not None and not edition_by_run:
            tested_positions = _positions_to_test(ranked_runs)
            tests = _test_rows([ranked_runs[position] for position in tested_positions], task, measure, resampling)
        notes |= dict.fromkeys(tests.notes)
        if tests.family is not None:
            families[policy] = tests.family
            verdicts[policy] = tests.verdict
        test_by_position = dict(zip(tested_positions, tests.rows))
        for position, (row, _) in enumerate(ranked_runs):
            test = test_by_position.get(position, TestedRow())
            row = _with_test(row, test, tests.family, is_resampled=resampling is not None)
            rows.append(replace(row, edition=edition_by_run.get(row.run, UNSET)))
    shown_measures = dict.fromkeys([measure, *headline])
    all_measures = dict(shown_measures)
    for row in rows:
        all_measures |= dict.fromkeys(row.scores)
    return LeaderboardDocument(
        task=task,
        measure=measure,
        measures=tuple(all_measures),
        headline=tuple(shown_measures),
        families=families,
        verdicts=verdicts,
        notes=tuple(notes),
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

    An outcome without any run id has one row without scores. Rows with equal scores share a rank, and the next rank is
    left out: 1, 1, 3.
    """
    systems = []
    for outcome in outcomes:
        for run in outcome.runs or (RunScores("", {}),):
            systems.append((outcome, run))
    systems.sort(key=lambda system: -system[1].scores.get(measure, -math.inf))
    rank_by_score: dict[float, int] = {}
    ranked_runs = []
    for position, (outcome, run) in enumerate(systems, 1):
        score = run.scores.get(measure)
        rank = None if score is None else rank_by_score.setdefault(score, position)
        ranked_runs.append(_RankedRun(_make_row(outcome, run, measure, rank), run))
    return ranked_runs


def _make_row(outcome: Outcome, run: RunScores, measure: str, rank: int | None) -> LeaderboardRow:
    """Return the row of one run id of an outcome, without tests."""
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
    """Return the signature of a score of one run id; it names the run id if the file has several. Empty for none."""
    if not outcome.origin:
        return ""
    signature = outcome.origin.signature
    if len(outcome.runs) > 1:
        signature = signature.of_run(run_id)
    return str(signature.of(measure))


def _resampling_of(ranked_runs: Iterable[_RankedRun]) -> Resampling | None:
    """Return the settings of the intervals of the first run that has any, or None."""
    for row, _ in ranked_runs:
        if row.intervals:
            return row.intervals.resampling
    return None


def _positions_to_test(ranked_runs: Iterable[_RankedRun]) -> list[int]:
    """Return the positions of the rows that can be tested: they have a rank, intervals, and statistics of units."""
    positions = []
    for position, (row, run) in enumerate(ranked_runs):
        if row.rank is not None and row.intervals and run.findings:
            positions.append(position)
    return positions


def _test_rows(ranked_runs: Sequence[_RankedRun], task: str, measure: str, resampling: Resampling) -> RowTests:
    """Test the rows of a ranking against each other, or against a baseline; an empty result if there are none."""
    if not ranked_runs:
        return RowTests([])
    tables = [run.findings.table() for _, run in ranked_runs if run.findings]
    rows = [row for row, _ in ranked_runs]
    labels = distinct_labels(rows)
    settings = _with_baseline_label(resampling, rows, labels)
    return compare_rows(labels, tables, measure_formula(task, [measure]), settings)


def _with_baseline_label(resampling: Resampling, rows: Sequence[LeaderboardRow], labels: Sequence[str]) -> Resampling:
    """Return settings in which the baseline is the label of a row, if the user named its run, file or run id."""
    if not resampling.baseline or resampling.baseline in labels:
        return resampling
    for row, label in zip(rows, labels):
        if resampling.baseline in (row.run, row.run_id, row.file, os.path.basename(row.file)):
            return replace(resampling, baseline=label)
    return resampling


def _with_test(row: LeaderboardRow, test: TestedRow, family: Family | None, *, is_resampled: bool) -> LeaderboardRow:
    """Return a row with the result of its test.

    If any row of a policy has columns of tests, all rows have them; their values are None for a row without a test.
    """
    if family is not None and family.baseline:
        row = replace(row, p_baseline=test.p_baseline)
    elif is_resampled:
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
    labels: dict[str, None] = {}
    for name in names:
        label = name if name not in labels else _numbered(name, {*labels, *names})
        labels[label] = None
    return list(labels)


def _numbered(name: str, taken_names: set[str]) -> str:
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
    """Return the table of a leaderboard.

    Files for programs have every column. Readable tables have the score that ranks, with its limits, the headline
    measures, tests and state.
    """
    is_resampled = any(row.intervals for row in board.rows)
    leading_columns = _leading_columns(board)
    trailing_columns = _test_columns(board, is_resampled=is_resampled)
    trailing_columns += [Column(key, key.capitalize()) for key in ("errors", "warnings", "state", "file", "signature")]
    ranking_keys = [column.key for column in _score_columns(board.measure, is_resampled=is_resampled)]
    readable_keys = [column.key for column in leading_columns]
    readable_keys += [*ranking_keys, *board.headline[1:]]
    readable_keys += [column.key for column in trailing_columns]
    hidden_keys = set(_HIDDEN_KEYS)
    if not board.has_policies:
        hidden_keys.add("policy")
    if all(row.run_id in ("", row.run) for row in board.rows):
        hidden_keys.add("run_id")
    columns = leading_columns
    for measure in board.measures:
        columns += _score_columns(measure, is_resampled=is_resampled)
    columns += [*trailing_columns, Column("failure", "Failure")]
    return Layout(
        name="leaderboard",
        title=f"Leaderboard by {board.measure}:",
        columns=tuple(columns),
        rows=_values_of_rows,
        shown=tuple([key for key in readable_keys if key not in hidden_keys]),
        longest=60,
    )


def _leading_columns(board: LeaderboardDocument) -> list[Column]:
    """Return the columns before the scores; edition and answered units have one only if a row has a value there."""
    columns = [Column("rank", "Rank"), Column("policy", "Policy"), Column("run", "Run"), Column("run_id", "Run id")]
    if any(row.edition for row in board.rows):
        columns.append(Column("edition", "Edition"))
    if any(row.answered for row in board.rows):
        columns.append(Column("answered", "Answered"))
    return columns


def _score_columns(measure: str, *, is_resampled: bool) -> list[Column]:
    """Return the column of the scores by a measure, followed by columns of the limits if runs have intervals."""
    columns = [Column(measure, measure)]
    if is_resampled:
        columns += [Column(f"{measure}:low", "Low"), Column(f"{measure}:high", "High")]
    return columns


def _test_columns(board: LeaderboardDocument, *, is_resampled: bool) -> list[Column]:
    """Return the columns of the tests of rows: p-values against a baseline or tiers, then sizes of the differences."""
    columns = []
    if any(family.baseline for family in board.families.values()):
        columns.append(Column("p_baseline", "p (baseline)", Format.P))
    elif is_resampled:
        columns += [Column("tier", "Tier"), Column("p_above", "p (row above)", Format.P)]
    if board.families:
        columns += [Column("effect_size", "Effect", Format.GAIN), Column("units", "W/T/L")]
        columns += [Column("wins"), Column("ties"), Column("losses")]
    return columns


def _values_of_rows(board: LeaderboardDocument) -> Iterator[dict[str, Any]]:
    """Yield the values of each row by the key of the column: `rank`, `SF-F1`, `SF-F1:low`, `units` (2/0/1) ..."""
    for row in board.rows:
        values: dict[str, Any] = {}
        for name, value in asdict(row).items():
            values[name] = None if value is UNSET else value
        values |= row.scores
        if row.intervals:
            for measure in row.scores:
                values[f"{measure}:low"], values[f"{measure}:high"] = row.limits(measure)
        if isinstance(row.wins, int):
            values["units"] = f"{row.wins}/{row.ties}/{row.losses}"
        yield values


# ---- The sentences below it


def _notes(board: LeaderboardDocument) -> list[str]:
    """Return the sentences below a leaderboard: verdicts and tests, how intervals were found, missing scores, notes."""
    explanations: list[str] = []
    for row in board.rows:
        if row.intervals:
            explanations += limit_lines(row.intervals.resampling, row.intervals.units, board.families)
            explanations += note_sentences(row.intervals.notes)
    if board.families:
        explanations.append(f"Ranks and tests are by {board.measure}, the primary measure; all others are exploratory.")
    lines = family_lines(board.families, board.verdicts, board.measure)
    lines += dict.fromkeys(explanations)  # each once: rows share most of them
    lines += _undefined_scores(board)
    lines += note_sentences(board.notes)
    return lines


def _undefined_scores(board: LeaderboardDocument) -> list[str]:
    """Return a sentence for each run that has no value of some measures, and so no rank by them."""
    lines = []
    for row in board.rows:
        for sentence in undefined_sentences(row.undefined or {}):
            lines.append(f"{_name_with_policy(row, board)} has no {sentence}; it has no rank by these.")
    return lines


def _failures(board: LeaderboardDocument) -> list[str]:
    """Return a sentence for each run that was not scored to its end: `run (policy): reason`."""
    return [f"{_name_with_policy(row, board)}: {row.failure}" for row in board.rows if row.failure is not None]


def _name_with_policy(row: LeaderboardRow, board: LeaderboardDocument) -> str:
    """Return the name of a row's run, followed by its policy if the leaderboard has several: `run (sf)`."""
    return f"{row.run} ({row.policy})" if board.has_policies else row.run


def signatures(board: LeaderboardDocument) -> list[str]:
    """Return for each policy the signature that the scores of its runs share, as a line that can be cited."""
    lines = []
    for row in board.rows:
        if row.origin:
            lines.append(str(row.origin.signature.of(board.measure).of_all_runs()))
    return list(dict.fromkeys(lines))


# ---- Its formats


def _tsv_text(board: LeaderboardDocument) -> str:
    """Return the leaderboard as a table with tabs between the cells, with every column."""
    return b"".join(tsv(leaderboard_layout(board).table(board))).decode()


def _markdown_text(board: LeaderboardDocument) -> str:
    """Return the leaderboard as a Markdown table with a list of notes, failures and signatures below it."""
    items = [f"- {escape_markdown(line)}" for line in _notes(board) + _failures(board)]
    items += [f"- `{signature}`" for signature in signatures(board)]
    lines = list(markdown(leaderboard_layout(board).table(board)))
    if items:
        lines += ["", *items]
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

    The only scores in it are those by the ranking measure.
    """
    layout = leaderboard_layout(board)
    hidden_keys = {*board.headline[1:], "errors", "warnings", "effect_size"}
    columns = []
    for column in layout.columns:
        is_ranking = column.key == board.measure
        columns.append(replace(column, heading="Score") if is_ranking else column)
    narrow_layout = replace(
        layout, columns=tuple(columns), shown=tuple([key for key in layout.shown if key not in hidden_keys])
    )
    _, *lines = text(narrow_layout.table(board), most, SCREEN)  # the first line is blank
    failures = _failures(board)
    sentences_below = _notes(board)
    sentences_below += [one_line(failure, 300) for failure in failures[:most]]
    for sentence in sentences_below:
        lines += wrap_lines(sentence)
    if len(failures) > most:
        lines.append(f"... and {len(failures) - most} more that failed")
    lines += [f"signature  {signature}" for signature in signatures(board)]
    return "\n".join(lines)
