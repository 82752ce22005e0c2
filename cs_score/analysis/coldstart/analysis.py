"""The whole analysis of a run, section by section (insight specification 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.coldstart.sections.bounds import Bounds, bounds
from cs_score.analysis.coldstart.sections.budget import BudgetRow, budget
from cs_score.analysis.coldstart.sections.confusions import Confusions, confusions_of
from cs_score.analysis.coldstart.sections.cost_list import Mistake, cost_list
from cs_score.analysis.coldstart.sections.counted import counted_table
from cs_score.analysis.coldstart.sections.groups import Group, crossed, groups_of
from cs_score.analysis.coldstart.sections.mistakes import mistakes_of
from cs_score.analysis.coldstart.sections.policies import PolicyRow, policy_rows
from cs_score.analysis.coldstart.sections.reliability import Reliability, reliability_of
from cs_score.analysis.coldstart.sections.structure import Structure, structure_of
from cs_score.analysis.coldstart.sections.sweep import SweepRow, best_of, sweep
from cs_score.analysis.coldstart.whatif.effects import Effects
from cs_score.coldstart.named_policies import NamedPolicy
from cs_score.foundation.garbage_collection import paused_collector
from cs_score.foundation.record import dataclass
from cs_score.foundation.signing.origin import Origin
from cs_score.foundation.signing.signature import Signature
from cs_score.measures.measure import Measure
from cs_score.measures.registry import COLD_START_MODE, MEASURES

SCHEMA_VERSION: Final = 1
"""Raised when a key changes its meaning or goes away; new keys do not raise it."""


@dataclass(frozen=True, slots=True, repr=False)
class Analysis:
    """Why a run scored what it did.

    `mistakes` are all, or the first of them where only so many were asked for; `added_to` is the file that lines which
    find classes are appended to. `groups` by dimension and `confusions` are those of `table`, the one whose lines the
    measure is made of (`SF`, `LDC-MAX`, of one hop `SF@1`).
    """

    run_id: str
    measure: Measure
    score: float
    scores: Mapping[str, float]
    signature: Signature
    origin: Origin
    added_to: str
    mistakes: Sequence[Mistake]
    mistake_count: int
    budget: Sequence[BudgetRow]
    structure: Structure
    table: str
    groups: Mapping[str, Sequence[Group]]
    confusions: Confusions
    reliability: Reliability
    bounds: Bounds
    policies: Sequence[PolicyRow]
    sweep: Sequence[SweepRow]

    def __repr__(self) -> str:
        return f"<analysis of run {self.run_id}: {self.measure} {self.score:.4f}, {self.mistake_count} mistakes>"

    @property
    def best(self) -> SweepRow | None:
        """The threshold of confidence that gains most; None where the run has no line."""
        return best_of(self.sweep)

    def as_json(self) -> dict[str, object]:
        """The analysis with the keys of the specification."""
        return {
            "schema_version": SCHEMA_VERSION,
            "mode": "coldstart",
            "measure": str(self.measure),
            "run": self.run_id,
            "score": self.score,
            "scores": dict(self.scores),
            "signature": str(self.signature),
            "origin": self.origin.as_json(),
            "added_to": self.added_to,
            "mistake_count": self.mistake_count,
            "mistakes": [mistake.as_json() for mistake in self.mistakes],
            "budget": [row.as_json() for row in self.budget],
            "structure": self.structure.as_json(),
            "table": self.table,
            "groups": {name: [group.as_json() for group in groups] for name, groups in self.groups.items()},
            "confusions": self.confusions.as_json(),
            "reliability": self.reliability.as_json(),
            "bounds": self.bounds.as_json(),
            "policies": [row.as_json() for row in self.policies],
            "sweep": [row.as_json() for row in self.sweep],
            "best": None if self.best is None else {"threshold": self.best.threshold, "gain": self.best.gain},
        }


def analyze(
    scored: Scored,
    measure: str | None = None,
    top: int | None = None,
    policies: Sequence[NamedPolicy] = (),
    *,
    by: Iterable[str] = (),
) -> Analysis:
    """Analyse a run by one measure: None for the one that ranks leaderboards.

    `top`: the number of mistakes in the cost list, None for all; `policies`: those to score under beside the published
    ones; `by`: dimensions of groups that are crossed, such as `slot,language`. Raises UsageError for an unknown measure
    or dimension, InputError for a measure that the run has no score of.
    """
    chosen = scored.measure(measure)
    crossings = crossed(by)
    with paused_collector():
        effects = Effects(scored, _measures(scored, chosen))
        mistakes = list(mistakes_of(scored, effects.rescoring.finding))
        costs = cost_list(effects, mistakes)
        table = counted_table(scored, chosen, mistakes)
        return Analysis(
            run_id=scored.run_id,
            measure=chosen,
            score=scored.result.measures[chosen],
            scores=scored.result.scores,
            signature=scored.signature.of(str(chosen)),
            origin=scored.origin,
            added_to=effects.rescoring.finding.file.name,
            mistakes=costs if top is None else costs[:top],
            mistake_count=len(costs),
            budget=budget(effects, scored.policy, mistakes),
            structure=structure_of(scored),
            table=table.name,
            groups=groups_of(table, crossings),
            confusions=confusions_of(scored, table),
            reliability=reliability_of(table),
            bounds=bounds(scored, chosen),
            policies=policy_rows(scored, chosen, policies),
            sweep=sweep(scored, effects.rescoring, chosen),
        )


def _measures(scored: Scored, chosen: Measure) -> list[Measure]:
    """The measures of effects: that which is asked about, and all over all hops."""
    known = [each for each in MEASURES[COLD_START_MODE] if each in scored.result.measures]
    return list(dict.fromkeys((chosen, *known)))
