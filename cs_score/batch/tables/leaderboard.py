"""The runs of a batch from best to worst by one measure, policy by policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from cs_score.analysis.many.findings import findings_of
from cs_score.analysis.many.measured import measured
from cs_score.base.records import Record, field, replace
from cs_score.base.signing.signature import Signature
from cs_score.batch.store.outcomes import Outcome
from cs_score.statistics.options import Note, Resampling


class Row(Record):
    """One run id of one run under one policy.

    `rank` counts from 1 within the policy; equal scores share it and the next rank is left out. It is None where the
    run has no such score. `signature` is the citable line of the score that ranks it, empty where nothing tells
    what it was made from; `intervals` are those of the scores as JSON has them, empty without resampling. `tier` groups
    rows that do not differ significantly from the first one of the group, and `p_above` is the p-value of the
    difference from the row above, both corrected for all pairs of rows (`analysis.many.tiers`); None where nothing was
    tested.
    """

    rank: int | None
    run: str
    run_id: str
    policy: str
    scores: Mapping[str, float]
    outcome: Outcome
    signature: str = ""
    intervals: Mapping[str, Any] = field(default_factory=dict)
    findings: Mapping[str, Any] = field(default_factory=dict)
    tier: int | None = None
    p_above: float | None = None

    def limits(self, measure: str) -> tuple[float | None, float | None]:
        """The limits of the interval of a score; None where it has none."""
        of_score = self.intervals.get("scores", {}).get(measure, {})
        return of_score.get("low"), of_score.get("high")


class Leaderboard(Record):
    """Rows by policy and rank. `measures` are all measures that any row has, that of the ranking first; `headline`
    are those that readable tables show, in the same order; `notes` are on the tests of rows.
    """

    measure: str
    measures: tuple[str, ...]
    headline: tuple[str, ...]
    has_policies: bool
    rows: tuple[Row, ...]
    notes: tuple[Note, ...] = ()

    @property
    def has_intervals(self) -> bool:
        """Whether resampling was asked for."""
        return any(row.intervals for row in self.rows)

    @property
    def after(self) -> tuple[Column, ...]:
        """The columns behind the measures."""
        return (*TESTED, *AFTER) if self.has_intervals else AFTER


class Column(Record):
    """A column beside the measures: its name in tables for machines, its heading for people, and its cell."""

    name: str
    heading: str
    cell: Callable[[Row], str | float | None]
    is_number: bool = False


BEFORE: Final = (
    Column("rank", "Rank", lambda row: row.rank, is_number=True),
    Column("policy", "Policy", lambda row: row.policy),
    Column("run", "Run", lambda row: row.run),
    Column("run_id", "Run id", lambda row: row.run_id),
)
TESTED: Final = (
    Column("tier", "Tier", lambda row: row.tier, is_number=True),
    Column("p_above", "p (row above)", lambda row: row.p_above, is_number=True),
)
"""Columns behind the measures where there are intervals."""

AFTER: Final = (
    Column("errors", "Errors", lambda row: row.outcome.errors, is_number=True),
    Column("warnings", "Warnings", lambda row: row.outcome.warnings, is_number=True),
    Column("state", "State", lambda row: row.outcome.state),
    Column("file", "File", lambda row: row.outcome.file),
    Column("signature", "Signature", lambda row: row.signature),
    Column("failure", "Failure", lambda row: row.outcome.failure),
)


def make_leaderboard(
    outcomes: Sequence[Outcome], policies: Sequence[str], measure: str, headline: Sequence[str]
) -> Leaderboard:
    """Rank the outcomes by `measure`, policy by policy in the order of `policies`; runs without scores come last."""
    rows = [row for policy in policies for row in _ranked([o for o in outcomes if o.policy == policy], measure)]
    known = dict.fromkeys([measure, *headline])
    for row in rows:
        known.update(dict.fromkeys(row.scores))
    return Leaderboard(
        measure,
        tuple(known),
        tuple(dict.fromkeys([measure, *headline])),
        len(policies) > 1,
        tuple(rows),
    )


def with_standings(board: Leaderboard) -> Leaderboard:
    """The leaderboard with tiers and p-values, policy by policy, where there are intervals."""
    ranked: dict[str, list[Row]] = {}
    for row in board.rows:
        if row.rank is not None and row.intervals and row.findings:
            ranked.setdefault(row.policy, []).append(row)
    found: dict[tuple[str, str, str], Row] = {}
    notes: dict[Note, None] = {}
    for rows in ranked.values():
        from cs_score.analysis.many.tiers import standings

        settings = resampling_of(rows[0].intervals)
        measure = measured(str(rows[0].outcome.signature["mode"]), [board.measure])
        tables = [findings_of(row.findings).table for row in rows]
        of_rows, of_tests = standings(tables, measure, settings)
        notes.update(dict.fromkeys(of_tests))
        for row, standing in zip(rows, of_rows):
            told = replace(row, tier=standing.tier, p_above=standing.p_above)
            found[row.policy, row.run, row.run_id] = told
    rows = [found.get((row.policy, row.run, row.run_id), row) for row in board.rows]
    return replace(board, rows=tuple(rows), notes=tuple(notes))


def resampling_of(intervals: Mapping[str, Any]) -> Resampling:
    """The settings of the resampling that intervals come from, as JSON has them."""
    return Resampling(**{name: intervals[name] for name in Resampling().as_json()})


def signatures(board: Leaderboard) -> list[str]:
    """What the scores of all rows have in common, as a citable line for each policy."""
    wholes = (_whole(row.outcome) for row in board.rows)
    return list(dict.fromkeys(str(whole.of(board.measure).of_all_runs()) for whole in wholes if whole is not None))


def _signature(outcome: Outcome, run_id: str, measure: str) -> str:
    whole = _whole(outcome)
    if whole is None:
        return ""
    return str((whole if len(outcome.scores) == 1 else whole.of_run(run_id)).of(measure))


def _whole(outcome: Outcome) -> Signature | None:
    """The signature of all that was scored of one file."""
    return Signature.parse(str(outcome.signature["line"])) if outcome.signature else None


def _ranked(outcomes: Sequence[Outcome], measure: str) -> list[Row]:
    rows = []
    for outcome in outcomes:
        if not outcome.scores:
            rows.append(Row(None, outcome.run, "", outcome.policy, {}, outcome))
        of_runs: Sequence[Mapping[str, Any]] = outcome.intervals or [{}] * len(outcome.scores)
        of_tables: Sequence[Mapping[str, Any]] = outcome.findings or [{}] * len(outcome.scores)
        for (run_id, scores), intervals, findings in zip(outcome.scores, of_runs, of_tables):
            signature = _signature(outcome, run_id, measure)
            rows.append(Row(None, outcome.run, run_id, outcome.policy, scores, outcome, signature, intervals, findings))
    scored = sorted((row for row in rows if measure in row.scores), key=lambda row: -row.scores[measure])
    ranked: list[Row] = []
    for place, row in enumerate(scored, 1):
        is_tie = bool(ranked) and ranked[-1].scores[measure] == row.scores[measure]
        rank = ranked[-1].rank if is_tie else place
        ranked.append(replace(row, rank=rank))
    return ranked + [row for row in rows if measure not in row.scores]
