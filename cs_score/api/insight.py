"""Functions that analyse results: why a score is as it is, why two scores differ, which of several systems differ."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from cs_score.analysis.any_table import compare_table, read_table
from cs_score.analysis.comparison import compare as compare_systems
from cs_score.api.arguments import Together, at_least_one, checked, policy_words, resampling_of
from cs_score.api.evidence import EvidenceResult
from cs_score.api.findings import Analysis, Comparison, Difference
from cs_score.api.results import task_of
from cs_score.api.runs import RunResult
from cs_score.base.errors import UsageError
from cs_score.base.records import replace
from cs_score.coldstart.options import Policy, as_list, read_policies
from cs_score.statistics.options import Correction, IntervalMethod


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
    clusters: Together = None,
    force: bool = False,
) -> Analysis:
    """Return an analysis of why a result has its score under `measure`, unless given the one that ranks leaderboards.

    `top` is the number of mistakes to list; unless it is given, all are listed. The other arguments are for Cold Start
    runs only. `policy` replaces that of the result: `kb`, `sf` or a Policy. `also_policy` are further policies, by name
    or with their Policy, whose scores are given beside those of the published ones. `by` are groups that are crossed
    (`slot,language`). `run` chooses one of several runs. With `bootstrap`, the number of resamples, scores and groups
    have bootstrap intervals; `seed`, `confidence` (a percentage), `interval` (`percentile` or `bca`) and `clusters` are
    as in `compare`. More than 100,000 resamples are drawn only with `force`.

    Raises UsageError for impossible arguments and for a result that was loaded from JSON, InputError for a run without
    that score.
    """
    at_least_one("top", top)
    task = task_of("analyze", [result])
    if not isinstance(result, RunResult):
        other_policies = policy_words(also_policy)
        if policy is not None or other_policies or by or run is not None or bootstrap is not None:
            raise UsageError("policy, also_policy, by, run and bootstrap are for Cold Start runs")
        analysis = task.analyze(result._for_analysis("analyze"), measure, top=top)
        return Analysis(analysis, top)

    if policy is not None:
        result = result.rescore(policy)
    scored = result._for_analysis("analyze", run)
    options = replace(scored.run.gold.options, policy=scored.policy, justifications=scored.run.limits)
    policies = read_policies(policy_words(also_policy), options, scored.policy.texts())
    groups = [by] if isinstance(by, str) else as_list(by, "by")
    resampling = None
    if bootstrap is not None:
        resampling = resampling_of(bootstrap, seed, confidence, interval, clusters, force=force)
    analysis = task.analyze(scored, measure, top=top, policies=policies, by=groups, resampling=resampling)
    return Analysis(analysis, top)


@checked
def diff(
    a: RunResult | EvidenceResult,
    b: RunResult | EvidenceResult,
    measure: str | None = None,
    *,
    names: tuple[str, str] = ("A", "B"),
    top: int | None = None,
    bootstrap: int | None = None,
    seed: int = 0,
    confidence: float = 95.0,
    interval: IntervalMethod | None = None,
    clusters: Together = None,
    force: bool = False,
) -> Difference:
    """Explain why `b` scores otherwise than `a` under `measure`, unless given the one that ranks leaderboards.

    `diff(run, run.rescore("sf"))` compares two policies on the same run. `names` are the names of both in the texts.
    `top` is the number of units, answers and classes to list; unless it is given, all are listed. The interval and the
    p-values come from `bootstrap` resamples, as many as significance needs unless given; `seed`, `confidence`,
    `interval`, `clusters` and `force` are as in `compare`.

    Raises UsageError for impossible arguments, for results of different kinds and for one that was loaded from JSON,
    InputError for a run without that score.
    """
    at_least_one("top", top)
    task = task_of("diff", [a, b])
    settings = resampling_of(bootstrap, seed, confidence, interval, clusters, force=force)
    is_pair = isinstance(names, tuple | list) and len(names) == 2
    if not is_pair or not all(isinstance(name, str) for name in names):
        raise UsageError(f"names takes what the two are called, such as ('mine', 'theirs'), not {names!r}")
    for result in (a, b):
        if isinstance(result, RunResult):
            result.require_one_run()
    difference = task.diff(
        a._for_analysis("diff"),
        b._for_analysis("diff"),
        measure,
        names=(names[0], names[1]),
        top=top,
        resampling=settings,
    )
    return Difference(difference, top)


@checked
def compare(
    results: Mapping[str, RunResult] | Mapping[str, EvidenceResult] | str | os.PathLike[str],
    *,
    measure: str | Iterable[str] = (),
    bootstrap: int | None = None,
    seed: int = 0,
    confidence: float = 95.0,
    interval: IntervalMethod | None = None,
    clusters: Together = None,
    common: bool = False,
    equivalence: float | None = None,
    primary: str | None = None,
    correction: Correction | None = None,
    baseline: str | None = None,
    force: bool = False,
) -> Comparison:
    """Compare results of one gold standard, or of one evidence mode, by the names of their systems.

    `results` may also be the path of a table of units by systems, as `cs-score compare table` takes it.
    `measure` holds names or patterns such as `*F1` (a text has commas between several); all measures unless given.
    `bootstrap` is the number of resamples, as many as significance needs unless given. `confidence` is a percentage,
    `interval` is `percentile` or `bca`. With `common` systems are compared on the units that all of them have;
    otherwise they must have the same units. `equivalence` is a margin, a number above 0: every pair is tested for a
    difference smaller than this in both directions. `primary` is the measure that decides, the headline measure unless
    given. `correction` (`maxt`, `holm`, `hsd` or `none`) is the correction for multiple tests, max-T unless given. With
    `baseline` only the pairs with this system are tested. `clusters` are units that are drawn together: a table with
    the columns unit, cluster, [stratum], or the cluster of each unit. More than 100,000 resamples are drawn only with
    `force`.

    Raises UsageError for fewer than two systems and for impossible arguments, InputError for systems that cannot be
    compared. The documentation's pages on statistics explain how the numbers are computed.
    """
    texts = measure.split(",") if isinstance(measure, str) else as_list(measure, "measure")
    measures = [text.strip() for text in texts if text.strip()]
    has_chosen_measures = bool(measures)
    choices: Any = {"measures": measures, "primary": primary, "common": common, "equivalence": equivalence}
    settings = resampling_of(bootstrap, seed, confidence, interval, clusters, correction, baseline, force=force)
    if isinstance(results, str | os.PathLike):
        table = read_table([results])
        comparison = compare_table(table, settings, **choices)
        return Comparison(comparison, is_chosen=has_chosen_measures)
    if not isinstance(results, Mapping):
        raise UsageError(f"compare takes results by name, such as {{'mine': run}}, not {results!r}")
    if not results:
        raise UsageError("a comparison needs at least two systems")
    task = task_of("compare", list(results.values()))
    scored_by_name = {name: result._to_compare() for name, result in results.items()}
    comparison = compare_systems(task, scored_by_name, settings, **choices)
    return Comparison(comparison, is_chosen=has_chosen_measures)
