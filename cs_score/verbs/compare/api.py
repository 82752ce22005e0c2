"""The function `compare`: which of several systems differ. A system is a run, or a file of predictions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TypedDict

from cs_score.analysis.system_comparison import compare as compare_systems
from cs_score.api.any_result import task_of
from cs_score.api.arguments import ClustersArgument, checked, resampling_of
from cs_score.api.findings import Comparison
from cs_score.api.prediction_results import EvidenceResult
from cs_score.api.run_results import RunResult
from cs_score.base.errors import UsageError
from cs_score.coldstart.options import texts_of_list
from cs_score.statistics.resampling_settings import Correction, IntervalMethod, Resampling
from cs_score.statistics.results import SystemComparison
from cs_score.verbs.compare.any_table import compare_table, read_table


@checked
def compare(
    results: Mapping[str, RunResult] | Mapping[str, EvidenceResult] | str | os.PathLike[str],
    *,
    measure: str | Iterable[str] = (),
    bootstrap: int | None = None,
    seed: int = 0,
    confidence: float = 95.0,
    interval: IntervalMethod | None = None,
    clusters: ClustersArgument = None,
    common: bool = False,
    equivalence: float | None = None,
    primary: str | None = None,
    correction: Correction | None = None,
    baseline: str | None = None,
    force: bool = False,
) -> Comparison:
    """Compare the results of several systems that were scored on the same gold standard or in the same evidence mode.

    `results` maps the name of each system to its result. It may also be the path of a table of units by systems, in the
    format that `cs-score compare table` reads. `measure` holds measure names or patterns such as `*F1`, either as a
    list or as a comma-separated string. By default, all measures are compared. `primary` is the measure that decides
    the comparison; the default is the headline measure. If `common` is true, systems are compared on the units that all
    of them have. Otherwise, all systems must have the same units.

    `bootstrap` is the number of resamples; by default, as many are drawn as significance needs. More than 100,000 are
    drawn only with `force`. `seed` is the seed of the random number generator. `confidence` is a percentage, and
    `interval` is either `percentile` or `bca`. `clusters` specifies which units are drawn together, either as a table
    with the columns unit, cluster and (optionally) stratum, or as a mapping from each unit to its cluster.

    `correction` is the correction for multiple tests: `maxt` (the default), `holm`, `hsd` or `none`. If a `baseline` is
    given, only the pairs that include this system are tested. `equivalence` is a margin greater than 0: each pair is
    tested for whether its difference is smaller than the margin in both directions.

    Raises UsageError if there are fewer than two systems or the arguments are invalid, and InputError if the systems
    cannot be compared. The statistics pages of the documentation explain how the numbers are computed.
    """
    measures = _names_of_measures(measure)
    choices: _Choices = {"measures": measures, "primary": primary, "common": common, "equivalence": equivalence}
    settings = resampling_of(bootstrap, seed, confidence, interval, clusters, correction, baseline, force=force)
    if isinstance(results, str | os.PathLike):
        comparison = compare_table(read_table([results]), settings, **choices)
    else:
        comparison = _compare_results(results, settings, choices)
    return Comparison(comparison, has_chosen_measures=bool(measures))


class _Choices(TypedDict):
    """The arguments of a comparison, other than its systems and the settings of resampling."""

    measures: list[str]
    primary: str | None
    common: bool
    equivalence: float | None


def _names_of_measures(measure: str | Iterable[str]) -> list[str]:
    """Return the names or patterns that an argument `measure` holds: `"sf-ap, *F1"` gives `["sf-ap", "*F1"]`."""
    texts = measure.split(",") if isinstance(measure, str) else texts_of_list(measure, "measure")
    return [text.strip() for text in texts if text.strip()]


def _compare_results(results: object, settings: Resampling | None, choices: _Choices) -> SystemComparison:
    """Return the comparison of results, which are given by the names of their systems.

    Raises UsageError if the argument is not a mapping of results.
    """
    if not isinstance(results, Mapping):
        raise UsageError(f"compare takes results by name, such as {{'mine': run}}, not {results!r}")
    if not results:
        raise UsageError("a comparison needs at least two systems")
    task = task_of("compare", list(results.values()))
    scored_by_name = {name: result._result_to_compare() for name, result in results.items()}
    return compare_systems(task, scored_by_name, settings, **choices)
