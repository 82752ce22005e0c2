"""Score a run in two scenarios for its unassessed answers, for which the pool has no assessment: all of them wrong in
the pessimistic scenario, all of them right in the optimistic one.

The pessimistic scenario counts unassessed lines as wrong. The optimistic one adds assessments by which they are right;
it is made in `optimistic.py`. Neither is a limit of the score: with other assessments it may be lower or higher.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from cs_score.analysis.coldstart.budget import move_category
from cs_score.analysis.coldstart.faults import counted_lines
from cs_score.analysis.coldstart.optimistic import OptimisticScenario, last_pool_file
from cs_score.analysis.coldstart.scored import AnalysedRun
from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.coldstart.judging import UNASSESSED
from cs_score.coldstart.options import IGNORE, WRONG
from cs_score.measures import Measure


class SlotShare(Record):
    """How many lines of a slot count anywhere, and how many of these are unassessed."""

    slot: str
    lines: int
    unassessed: int
    share: float


class Scenario(Record):
    """A measure in both scenarios and as it is; None where the scorer would not give it."""

    pessimistic: float | None
    score: float
    optimistic: float | None


SHOWN: Final = ("SF-ALL-Micro-P", "SF-ALL-Micro-R", "SF-ALL-Micro-F1")
"""The measures whose scenarios people are shown: of all others the scenarios say too little (see the documentation)."""


class Scenarios(Record, omit_defaults=True):
    """The score that is asked about in both scenarios, and every other score over all hops by measure in `scores`.

    A score is None where the scorer would not give it, for the `reason`. `unassessed` counts the answers that become
    right in the optimistic scenario; `added_pool` are the lines that it appends to the file `added_pool_to` of the
    pool, one for each of them. `slots` has the lines that nobody assessed among those that count.
    """

    pessimistic: float | None
    score: float
    optimistic: float | None
    unassessed: int
    slots: Sequence[SlotShare]
    added_pool: Sequence[str]
    added_pool_to: str | None
    scores: Mapping[str, Scenario]
    reason: str | None = None

    @property
    def shown(self) -> dict[str, Scenario]:
        """The scenarios that people are shown, by measure."""
        return {measure: self.scores[measure] for measure in SHOWN if measure in self.scores}


def scenarios(scored: AnalysedRun, measure: Measure) -> Scenarios:
    """Return the scores of a run in both scenarios, by the analysed measure and by all measures over all hops.

    If every counted answer was assessed, both scenarios have the actual scores of the run.
    """
    measure_name = str(measure)
    score_by_measure = _scores_over_all_hops(scored)
    score_by_measure[measure_name] = scored.result.score_by_measure[measure]
    slots = _slot_shares(scored)
    pool_file = last_pool_file(scored.run)
    if not any(slot.unassessed for slot in slots):
        return _unchanged_scenarios(measure_name, score_by_measure, slots, pool_file)
    pessimistic = _pessimistic_scores(scored, list(score_by_measure))
    optimistic_scenario = OptimisticScenario(scored)
    optimistic = try_scores(optimistic_scenario.score, list(score_by_measure))
    added_assessments = optimistic_scenario.added  # `optimistic_scenario.score` has filled the list, even if it failed
    return Scenarios(
        pessimistic=pessimistic.by_measure[measure_name],
        score=score_by_measure[measure_name],
        optimistic=optimistic.by_measure[measure_name],
        unassessed=len(added_assessments),
        slots=slots,
        added_pool=[assessment.text for assessment in added_assessments],
        added_pool_to=pool_file,
        scores=_scenario_by_measure(score_by_measure, pessimistic, optimistic),
        reason=pessimistic.reason or optimistic.reason,
    )


def _scores_over_all_hops(scored: AnalysedRun) -> dict[str, float]:
    """Return the scores of a run by the measures over all hops: `{"SF-ALL-Micro-F1": 0.25, ...}`."""
    return {str(measure): score for measure, score in scored.result.score_by_measure.items() if measure.hop is None}


def _pessimistic_scores(scored: AnalysedRun, measure_names: Sequence[str]) -> TriedScores:
    """Return the scores of a run by some measures if the policy counts unassessed lines as wrong."""
    all_wrong = move_category(scored.policy, UNASSESSED, IGNORE, WRONG)
    return try_scores(lambda: scored.under(all_wrong), measure_names)


def _scenario_by_measure(
    score_by_measure: Mapping[str, float], pessimistic: TriedScores, optimistic: TriedScores
) -> dict[str, Scenario]:
    """Return each measure with its scores in both scenarios and its actual score."""
    scenario_by_measure: dict[str, Scenario] = {}
    for name, score in score_by_measure.items():
        scenario_by_measure[name] = Scenario(
            pessimistic=pessimistic.by_measure[name], score=score, optimistic=optimistic.by_measure[name]
        )
    return scenario_by_measure


def _unchanged_scenarios(
    measure: str, score_by_measure: Mapping[str, float], slots: Sequence[SlotShare], pool_file: str | None
) -> Scenarios:
    """Return the scenarios of a run whose counted lines were all assessed: its scores do not change in them."""
    score = score_by_measure[measure]
    return Scenarios(
        pessimistic=score,
        score=score,
        optimistic=score,
        unassessed=0,
        slots=slots,
        added_pool=[],
        added_pool_to=pool_file,
        scores={name: Scenario(value, value, value) for name, value in score_by_measure.items()},
    )


def _slot_shares(scored: AnalysedRun) -> list[SlotShare]:
    """Return for each slot the number of counted lines, and the number and share of unassessed lines among them."""
    unassessed_flags_by_slot: dict[str, list[bool]] = defaultdict(list)
    for unit in scored.result.units:
        for line in counted_lines(unit):
            slot = line.query.slots[0]  # the line fills the first slot that its query still asks for
            is_unassessed = UNASSESSED in unit.labels_by_index[line.index]
            unassessed_flags_by_slot[slot].append(is_unassessed)
    shares = []
    for slot, unassessed_flags in sorted(unassessed_flags_by_slot.items()):
        line_count = len(unassessed_flags)
        unassessed_count = sum(unassessed_flags)
        shares.append(SlotShare(slot, line_count, unassessed_count, unassessed_count / line_count))
    return shares


class TriedScores(NamedTuple):
    """The score by each measure, None if the scorer would not give it, and the reason for the first score of None."""

    by_measure: dict[str, float | None]
    reason: str | None


def try_scores(score: Callable[[], AnalysedRun], measure_names: Sequence[str]) -> TriedScores:
    """Call `score`, which scores a run, and return the scores of the run by some measures.

    If `score` raises InputError, all scores are None, and its message is the reason.
    """
    try:
        scored = score()
    except InputError as refusal:
        return TriedScores(dict.fromkeys(measure_names), str(refusal))
    by_measure = {name: scored.result.scores.get(name) for name in measure_names}
    return TriedScores(by_measure, _why_score_missing(scored, measure_names))


def _why_score_missing(scored: AnalysedRun, measure_names: Iterable[str]) -> str | None:
    """Return why a run lacks a score, for the first of some measures without a score, or None if it has all scores.

    The run was changed and scored again to see what its scores would be.
    """
    for measure_name in measure_names:
        if measure_name in scored.result.scores:
            continue
        if scored.stopping_error is not None:
            return str(scored.stopping_error)
        return f"there would be no {measure_name}"
    return None
