"""The runs of a batch from best to worst by one measure, policy by policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from cs_score.batch.store.outcomes import Outcome
from cs_score.foundation.record import dataclass, field, replace
from cs_score.foundation.signing.signature import Signature


@dataclass(frozen=True, slots=True)
class Row:
    """One run id of one run under one policy.

    `rank` counts from 1 within the policy; equal scores share it and the next rank is left out. It is None where the
    run has no such score. `signature` is the citable line of the score that ranks it, empty where nothing tells
    what it was made from; `intervals` are those of the scores as JSON has them, empty without resampling.
    """

    rank: int | None
    run: str
    run_id: str
    policy: str
    scores: Mapping[str, float]
    outcome: Outcome
    signature: str = ""
    intervals: Mapping[str, Any] = field(default_factory=dict)

    def limits(self, measure: str) -> tuple[float | None, float | None]:
        """The limits of the interval of a score; None where it has none."""
        of_score = self.intervals.get("scores", {}).get(measure, {})
        return of_score.get("low"), of_score.get("high")


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Rows by policy and rank. `measures` are all measures that any row has, that of the ranking first; `headline`
    are those that readable tables show, in the same order.
    """

    measure: str
    measures: tuple[str, ...]
    headline: tuple[str, ...]
    has_policies: bool
    rows: tuple[Row, ...]

    @property
    def has_intervals(self) -> bool:
        """Whether resampling was asked for."""
        return any(row.intervals for row in self.rows)


@dataclass(frozen=True, slots=True)
class Column:
    """A column beside the measures: its name in tables for machines, its heading for people, and its cell."""

    name: str
    heading: str
    cell: Callable[[Row], str | int | None]
    is_number: bool = False


BEFORE: Final = (
    Column("rank", "Rank", lambda row: row.rank, is_number=True),
    Column("policy", "Policy", lambda row: row.policy),
    Column("run", "Run", lambda row: row.run),
    Column("run_id", "Run id", lambda row: row.run_id),
)
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
        for (run_id, scores), intervals in zip(outcome.scores, of_runs):
            signature = _signature(outcome, run_id, measure)
            rows.append(Row(None, outcome.run, run_id, outcome.policy, scores, outcome, signature, intervals))
    scored = sorted((row for row in rows if measure in row.scores), key=lambda row: -row.scores[measure])
    ranked: list[Row] = []
    for place, row in enumerate(scored, 1):
        is_tie = bool(ranked) and ranked[-1].scores[measure] == row.scores[measure]
        rank = ranked[-1].rank if is_tie else place
        ranked.append(replace(row, rank=rank))
    return ranked + [row for row in rows if measure not in row.scores]
