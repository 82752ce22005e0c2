"""The function `diff`: why two results have different scores."""

from __future__ import annotations

from typing import Any

from cs_score.api.any_result import task_of
from cs_score.api.arguments import ClustersArgument, check_at_least_one, checked, resampling_of
from cs_score.api.findings import Difference
from cs_score.api.prediction_results import EvidenceResult
from cs_score.api.run_results import RunResult
from cs_score.base.errors import UsageError
from cs_score.statistics.resampling_settings import IntervalMethod
from cs_score.verbs.diff.by_task import difference_of_results


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
    clusters: ClustersArgument = None,
    force: bool = False,
) -> Difference:
    """Explain why `b` scores differently from `a` under `measure` (default: the measure that ranks leaderboards).

    For example, `diff(run, run.rescore("sf"))` compares two policies on the same run. `names` are the names to use for
    the two results in the output. `top` is the number of units, answers and classes to list; by default, all of them
    are listed. The interval and the p-values are computed from `bootstrap` resamples; by default, as many are drawn as
    significance needs. The arguments `seed`, `confidence`, `interval`, `clusters` and `force` have the same meaning as
    in `compare`.

    Raises UsageError if the arguments are invalid, if the results are of different kinds, or if a result was loaded
    from JSON. Raises InputError if a run has no score under the measure.
    """
    check_at_least_one("top", top)
    task = task_of("diff", [a, b])
    settings = resampling_of(bootstrap, seed, confidence, interval, clusters, force=force)
    _require_two_names(names)
    name_a, name_b = names  # a list is allowed, too
    for result in (a, b):
        if isinstance(result, RunResult):
            result.require_one_run()
    difference = difference_of_results(
        task,
        a._for_analysis("diff"),  # an error for a result loaded from JSON names the method `diff`
        b._for_analysis("diff"),
        measure,
        names=(name_a, name_b),
        top=top,
        resampling=settings,
    )
    return Difference(difference, top)


def _require_two_names(names: Any) -> None:
    """Raise UsageError unless the argument `names` has two texts, such as `("mine", "theirs")`."""
    is_pair = isinstance(names, tuple | list) and len(names) == 2
    if not is_pair or not all(isinstance(name, str) for name in names):
        raise UsageError(f"names takes what the two are called, such as ('mine', 'theirs'), not {names!r}")
