"""Score a run under other policies: the published ones, and further ones that a user names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.scenarios import try_scores
from cs_score.analysis.coldstart.scored import AnalysedRun, Progress, silent
from cs_score.base.records import Record
from cs_score.coldstart.options import PRESETS, NamedPolicy
from cs_score.measures.registry import COLD_START_MODE, Measure, headline_names


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

    They are the scores by the analysed measure and the headline measures, the same as if the files were scored with the
    switches of the policy. A policy that has the name of a published one replaces it.
    """
    # The measures, the policies, and then the scores
    names = [str(measure)]
    for name in headline_names(COLD_START_MODE):
        if name in scored.result.scores and name not in names:
            names.append(name)
    policy_by_name = dict(PRESETS)
    for policy in more_policies:
        policy_by_name[policy.name] = policy
    rows = []
    for policy in progress(list(policy_by_name.values()), "scoring under policies"):
        score_under_policy = partial(scored.under, policy.policy, policy.justifications, with_problems=False)
        scores = try_scores(score_under_policy, names)
        switches = {side.lower(): text for side, text in policy.policy.texts().items()}
        switches["justifications"] = str(policy.justifications)
        rows.append(
            PolicyRow(name=policy.name, policy=switches, scores=scores.by_measure, reason=scores.reason or UNSET)
        )
    return rows
