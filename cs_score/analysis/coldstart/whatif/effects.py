"""The difference that one change makes to each measure (insight specification 2)."""

from __future__ import annotations

from collections.abc import Mapping

from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.coldstart.whatif.change import Change
from cs_score.analysis.coldstart.whatif.recombination import Recombination, Scores
from cs_score.analysis.coldstart.whatif.rescoring import Rescoring
from cs_score.coldstart.options import Policy
from cs_score.foundation.record import dataclass
from cs_score.measures.measure import Measure
from cs_score.measures.registry import COLD_START_MODE, MEASURES


@dataclass(frozen=True, slots=True)
class Effect:
    """The difference of each measure; None where the scorer would not give it, and `reason` says why."""

    differences: Mapping[Measure, float | None]
    reason: str | None = None

    def as_json(self) -> dict[str, float | None]:
        """The differences by the names of the measures."""
        return {str(measure): difference for measure, difference in self.differences.items()}


class Effects:
    """What changes of one run would make of its scores.

    An effect is the score of the changed files minus the score of the run, each as the scorer would give it.
    """

    def __init__(self, scored: Scored, measure: Measure) -> None:
        self.rescoring = Rescoring(scored)
        known = [each for each in MEASURES[COLD_START_MODE] if each in scored.result.measures]
        self._recombination = Recombination(scored, list(dict.fromkeys((measure, *known))))

    @property
    def before(self) -> Mapping[Measure, float | None]:
        """The scores of the run as it is."""
        return self._recombination.base.scores

    def of(self, change: Change, policy: Policy | None = None) -> Effect:
        """The effect of one change, under another policy where one is given."""
        before = self.before
        after = self.scores(change, policy)
        differences = {
            measure: None if score is None or (base := before[measure]) is None else score - base
            for measure, score in after.scores.items()
        }
        return Effect(differences, after.reason)

    def scores(self, change: Change, policy: Policy | None = None) -> Scores:
        """The scores of the changed files, under another policy where one is given."""
        return self._recombination.after(self.rescoring.outcome(change, policy))
