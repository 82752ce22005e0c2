"""The difference that one change makes to each measure (insight specification 2)."""

from __future__ import annotations

from collections.abc import Sequence

from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.coldstart.whatif.change import Change
from cs_score.analysis.coldstart.whatif.recombination import Recombination, Scores, is_of_one_hop_of_ldc_max
from cs_score.analysis.coldstart.whatif.rescoring import Rescoring
from cs_score.analysis.coldstart.whatif.within_query import WithinQuery
from cs_score.base.records import Record
from cs_score.coldstart.options import Policy
from cs_score.measures.measure import Measure


class Effect(Record):
    """The difference that a change makes to each measure of `names`.

    A difference is None where the scorer would not give the score, and `reason` says why.
    """

    names: Sequence[str]
    differences: Sequence[float | None]
    reason: str | None = None

    def as_json(self) -> dict[str, float | None]:
        """The differences by the names of the measures."""
        return dict(zip(self.names, self.differences))


class Effects:
    """What changes of one run would make of its scores.

    An effect is the score of the changed files minus the score of the run, each as the scorer would give it.
    """

    def __init__(self, scored: Scored, measures: Sequence[Measure], rescoring: Rescoring | None = None) -> None:
        """`measures`: those that effects tell of, which the run must have scores of; the first is asked about."""
        self._scored = scored
        self._measures = measures
        self._names = tuple(map(str, measures))
        self.rescoring = rescoring or Rescoring(scored)
        self._is_ranked = any(not each.average for each in measures)
        self._within_query = WithinQuery(scored, self.rescoring, self._is_ranked)
        self._recombination = Recombination(scored, measures)
        self._needs_rows = any(map(is_of_one_hop_of_ldc_max, measures))

    def of_first_measure(self) -> Effects:
        """Effects on the measure that is asked about alone, which take less time."""
        return self if len(self._measures) == 1 else Effects(self._scored, self._measures[:1], self.rescoring)

    @property
    def before(self) -> float:
        """The score of the run as it is."""
        score = self._recombination.base.values[0]
        assert score is not None
        return score

    def of(self, change: Change) -> Effect:
        """The effect of one change."""
        after = self._scores(change, None)
        base = self._recombination.base.values
        differences = [None if new is None or old is None else new - old for new, old in zip(after.values, base)]
        return Effect(self._names, differences, after.reason)

    def score(self, change: Change, policy: Policy | None = None) -> tuple[float | None, str | None]:
        """The score of the changed files, under another policy where one is given; None for the reason said."""
        after = self._scores(change, policy)
        score = after.values[0]
        return score, after.reason if score is None else None

    def _scores(self, change: Change, policy: Policy | None) -> Scores:
        if policy is None and not self._needs_rows and self.rescoring.refusal(change) is None:
            within = self._within_query.after(change)
            if within is not None:
                return self._recombination.after_query(*within)
        return self._recombination.after(self.rescoring.rescored(change, policy, is_ranked=self._is_ranked))
