"""Score a run under other policies: the published ones, and further ones that a user names. A policy says which
categories of lines count as right, wrong or ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.scenarios import try_scores
from cs_score.analysis.coldstart.scored import AnalysedRun, Progress, silent
from cs_score.base.records import Record
from cs_score.coldstart.options import PRESETS, NamedPolicy
from cs_score.measures import COLD_START_MODE, Measure, headline_names


class PolicyRow(Record, kw_only=True):
    """The scores of a run under one policy; None where the scorer would not give one, and `reason` says why.

    `policy` has the switches that it stands for.
    """

    name: str
    policy: Mapping[str, str]
    scores: Mapping[str, float | None]
    reason: str | UnsetType = UNSET


def policy_rows(
    scored: AnalysedRun, measure: Measure, more_policies: Sequence[NamedPolicy] = (), progress: Progress = silent
) -> list[PolicyRow]:
    """Return the scores of a run under each published policy, then under some more policies.

    There is a score by the analysed measure and by each headline measure, the same as if the files were scored with the
    switches of the policy. A further policy with the name of a published one replaces it.
    """
    measure_names = _measures_to_show(scored, measure)
    policy_by_name = dict(PRESETS)
    for policy in more_policies:
        policy_by_name[policy.name] = policy
    named_policies = list(policy_by_name.values())
    rows = []
    for named_policy in progress(named_policies, "scoring under policies"):
        rows.append(_policy_row(scored, named_policy, measure_names))
    return rows


def _measures_to_show(scored: AnalysedRun, measure: Measure) -> list[str]:
    """Return the names of the analysed measure and of the headline measures by which the run has a score."""
    names = [str(measure)]
    for name in headline_names(COLD_START_MODE):
        if name in scored.result.scores and name not in names:
            names.append(name)
    return names


def _policy_row(scored: AnalysedRun, named_policy: NamedPolicy, measure_names: Sequence[str]) -> PolicyRow:
    """Return the scores of a run under a policy by the named measures, with the switches of the policy.

    A switch is the text of one of its settings: `{"right": "CORRECT", "wrong": ..., "justifications": "2"}`. If the run
    cannot be scored under the policy, every score is None, and the row has the reason.
    """
    limits = named_policy.justifications
    score_under_policy = partial(scored.under, named_policy.policy, limits, with_problems=False)
    scores = try_scores(score_under_policy, measure_names)
    switches = {switch.lower(): text for switch, text in named_policy.policy.texts().items()}
    switches["justifications"] = str(limits)
    return PolicyRow(name=named_policy.name, policy=switches, scores=scores.by_measure, reason=scores.reason or UNSET)
