"""The function `analyze`: why a result has its score. A policy is a set of rules for what counts as right, such as
`kb` and `sf`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cs_score.api.any_result import task_of
from cs_score.api.arguments import ClustersArgument, check_at_least_one, checked, policy_words, resampling_of
from cs_score.api.findings import Analysis
from cs_score.api.prediction_results import EvidenceResult
from cs_score.api.run_results import RunResult
from cs_score.base.errors import UsageError
from cs_score.base.records import replace
from cs_score.coldstart.options import Policy, read_policies, texts_of_list
from cs_score.statistics.resampling_settings import IntervalMethod
from cs_score.verbs.analyze.by_task import analyze_result


@checked
def analyze(
    result: RunResult | EvidenceResult,
    measure: str | None = None,
    *,
    policy: str | Policy | None = None,
    also_policy: str | Iterable[str] | Mapping[str, Policy] = (),
    top: int | None = None,
    by: str | Iterable[str] = (),
    run: str | None = None,
    bootstrap: int | None = None,
    seed: int = 0,
    confidence: float = 95.0,
    interval: IntervalMethod | None = None,
    clusters: ClustersArgument = None,
    force: bool = False,
) -> Analysis:
    """Return an analysis of a result's score under `measure`, by default the measure that ranks leaderboards.

    `top` is the number of mistakes to list; by default, all mistakes are listed. The other arguments are for Cold Start
    runs only. `policy` replaces the policy of the result: `kb`, `sf` or a Policy. `also_policy` are further policies,
    by name or with their Policy; their scores are given in addition to those under the published policies. `by` names
    groups that are crossed (`slot,language`). `run` chooses one of several runs. If `bootstrap`, the number of
    resamples, is given, scores and groups have bootstrap intervals. `seed`, `confidence` (a percentage), `interval`
    (`percentile` or `bca`) and `clusters` are used as in `compare`. `force` allows more than 100,000 resamples.

    Raises UsageError for impossible arguments and for a result that was loaded from JSON. Raises InputError if the run
    has no score by the measure.
    """
    check_at_least_one("top", top)
    task = task_of("analyze", [result])
    if not isinstance(result, RunResult):
        other_policies = policy_words(also_policy)
        if policy is not None or other_policies or by or run is not None or bootstrap is not None:
            raise UsageError("policy, also_policy, by, run and bootstrap are for Cold Start runs")
        analysis = analyze_result(task, result._for_analysis("analyze"), measure, top=top)
        return Analysis(analysis, top)

    if policy is not None:
        result = result.rescore(policy)
    scored = result._for_analysis("analyze", run)
    # Switches that a further policy does not mention are taken from the policy of this result. The limits on
    # justifications (the number of supporting lines that count for an answer) are taken from it, too.
    gold = scored.run.gold
    options_of_result = replace(gold.options, policy=scored.policy, justifications=scored.run.limits)
    policies = read_policies(policy_words(also_policy), options_of_result, scored.policy.texts())
    groups = [by] if isinstance(by, str) else texts_of_list(by, "by")
    resampling = None
    if bootstrap is not None:
        resampling = resampling_of(bootstrap, seed, confidence, interval, clusters, force=force)
    analysis = analyze_result(task, scored, measure, top=top, policies=policies, by=groups, resampling=resampling)
    return Analysis(analysis, top)
