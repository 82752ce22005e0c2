"""Test sets from Python: how large they must be, and how a pool and its assessors change the scores of runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, TypeAlias, Unpack

from cs_score.analysis.many.assessors import (
    ASSESSORS_PRINTOUT,
    AssessedResults,
    JudgedAnswers,
    compare_assessors,
    judged_answers_of_pool,
    judged_answers_of_result,
)
from cs_score.analysis.many.pool_bias import POOL_BIAS_PRINTOUT, PooledRuns
from cs_score.analysis.many.pool_bias import pool_bias as measure_pool_bias
from cs_score.analysis.many.sampled_labels import (
    STRATUM_COLUMNS,
    STRATUM_COLUMNS_OF_SECOND,
    estimate_from_labels,
    read_second_assessments,
)
from cs_score.analysis.many.sampled_pools import SAMPLED_POOL_PRINTOUT, estimate_from_sample, read_inclusion
from cs_score.api import arguments
from cs_score.api.arguments import Files, Together, checked
from cs_score.api.evidence import EvidenceResult
from cs_score.api.findings import Comparison
from cs_score.api.results import AnyResult, task_of
from cs_score.api.runs import RunResult
from cs_score.api.shown import WIDTH, Document, member
from cs_score.base.documents import read_document, record_in
from cs_score.base.errors import UsageError
from cs_score.base.runtime import paused_collector
from cs_score.base.sources import Input, name_of, rereadable
from cs_score.coldstart.gold import open_gold
from cs_score.coldstart.options import ScoringArguments
from cs_score.coldstart.scorer import runs_of
from cs_score.measures.registry import COLD_START_MODE
from cs_score.statistics import planning
from cs_score.statistics.options import Resampling
from cs_score.statistics.results import Comparison as ComparisonDocument
from cs_score.tables.layout import Table
from cs_score.tables.statistics import CURVE, POWER, Printout

Results: TypeAlias = Mapping[str, RunResult] | Mapping[str, EvidenceResult]
"""Results of one task by the names of their systems."""


class Statistics(Document):
    """A document of statistics, printed as its command prints it."""

    _printout: ClassVar[Printout]

    def __str__(self) -> str:
        """Return the text that the command prints."""
        return self._printout.text(self._document, WIDTH)

    def _tables(self) -> Iterable[Table]:
        return self._printout.tables(self._document).values()


class Power(Statistics):
    """What difference a paired test detects, and how many units one needs; made by `power` and `load`."""

    _default = "power"
    _printout = POWER

    standard_deviation: float = member("That of the units' differences, of the pair that needs the most.")
    detectable: float | None = member(
        "The smallest difference that is detected with these units; None where there is none, or no number of units.",
        lambda number: number or None,
    )
    needed: int | None = member(
        "The units that the difference asked for needs; None where none was, or they are too many to be said.",
        lambda number: number or None,
    )

    def __repr__(self) -> str:
        parts = [f"standard deviation {self.standard_deviation:.4g}"]
        if self.detectable is not None:
            parts.append(f"detectable {self.detectable:.4g}")
        if self.needed is not None:
            parts.append(f"needed {self.needed:.4g}")
        return f"<power of a paired test: {', '.join(parts)}>"

    def _tables(self) -> Iterable[Table]:
        return [*super()._tables(), CURVE.table(self._document)]


class TwoRankings(Statistics):
    """A document of statistics that ranks the same runs twice."""

    _subject: ClassVar[str]
    """What the rankings are about, for `repr`."""

    tau_b: float | None = member("Kendall's tau-b of both rankings, -1 to 1; None where all runs are tied.")

    def __repr__(self) -> str:
        tau = "undefined" if self.tau_b is None else f"{self.tau_b:.4f}"
        return f"<{self._subject} of {len(self._document.runs)} runs: tau-b {tau}>"


class PoolBias(TwoRankings):
    """Scores with and without what only the own team brought into the pool; made by `pool_bias` and `load`."""

    _default = "pool-bias"
    _printout = POOL_BIAS_PRINTOUT
    _subject = "pool bias"


class SampledPool(Statistics):
    """Estimates from a sample of the pool; made by `sampled_pool` and `load`."""

    _default = "sampled-pool"
    _printout = SAMPLED_POOL_PRINTOUT

    def __repr__(self) -> str:
        runs = [f"{run.run} {run.precision.estimate:.4f}" for run in self._document.runs]
        return f"<sampled pool, {self._document.measure}: {', '.join(runs)}>"


class Assessors(TwoRankings):
    """Scores and ranks under two assessors, and their agreement; made by `assessors` and `load`."""

    _default = "assessed"
    _printout = ASSESSORS_PRINTOUT
    _subject = "two assessors"


@checked
def power(
    comparison: Comparison | Input | None = None,
    *,
    measure: str | None = None,
    difference: float | None = None,
    alpha: float = 0.05,
    power: float = 0.8,
    sd: float | None = None,
    units: int | None = None,
) -> Power:
    """Return what difference of two systems a paired test detects, and how many units a `difference` needs.

    `comparison` is what `compare` made, or the file of its JSON, `measure` one of its measures, unless given the one
    that ranks. Without a comparison `sd` is the standard deviation of the units' paired differences, `units` their
    number. `alpha` is the level of the test of two sides, `power` the probability with which a difference is to be
    found, both between 0 and 1.

    Raises UsageError for impossible arguments, InputError for a comparison from which nothing can be planned.
    """
    aim = planning.Aim(difference, alpha, power)
    if (comparison is None) == (sd is None):
        raise UsageError("power takes a comparison, or a standard deviation (sd)")
    if sd is not None:
        return Power(planning.plan_test([planning.TDesign(sd)], units, aim))
    if units is not None:
        raise UsageError("units goes with sd; a comparison has its own number of units")
    if isinstance(comparison, Comparison):
        document = comparison._document
    else:
        [file] = arguments.files_of(comparison or (), "comparison")
        document = record_in(read_document(file), ComparisonDocument, name_of(file))
    return Power(planning.plan_from_comparison(document, measure, aim))


@checked
def pool_bias(
    queries: Files,
    runs: Files,
    pool: Files,
    *,
    teams: Input | None = None,
    measure: str | None = None,
    **options: Unpack[ScoringArguments],
) -> PoolBias:
    """Score each run with and without what only its team brought into the pool; rank both; tau-b of the rankings.

    `teams` is a file with lines of a run and its team, a tab between them; without it each run is its own team.
    `measure` is the one that ranks leaderboards unless given; all else is as in `prepare`.

    Raises UsageError for fewer than two runs and impossible arguments, InputError for files that cannot be scored.
    """
    query_files = _repeatable_files(queries, "queries")
    run_files = _repeatable_files(runs, "runs")
    pool_files = _repeatable_files(pool, "pool")
    scoring = arguments.options_of(options)
    with paused_collector():
        pooled_runs = PooledRuns(open_gold(query_files, scoring), pool_files, runs_of(run_files))
        return PoolBias(measure_pool_bias(pooled_runs, teams, measure))


@checked
def sampled_pool(
    runs: Results, inclusion: Input, *, second_assessments: Input | None = None, confidence: float = 95.0
) -> SampledPool:
    """Estimate what runs, by name, would score were all of their answers assessed, from a sample of the assessments.

    The runs are of Cold Start, or results of `pool`. `inclusion` is a table of the probabilities with which answers
    were assessed, as `cs-score score --inclusion` takes it; `confidence` that of the limits, a percentage. For judged
    answers `second_assessments` is a file of the labels of the sample, which correct those of the results.

    Raises UsageError for impossible arguments, InputError for answers of unknown probability and for strata of which
    nothing was assessed.
    """
    confidence = Resampling(1, confidence=confidence).confidence
    result_by_name = _results("sampled_pool", runs, AnyResult)
    task = task_of("sampled_pool", *result_by_name.values())
    if task.name != COLD_START_MODE:
        return _estimate_from_labels(result_by_name, inclusion, second_assessments, confidence)
    if second_assessments is not None:
        raise UsageError("second_assessments are for judged answers (pool), not for coldstart")
    scored_by_name = {name: run._for_analysis("sampled_pool") for name, run in result_by_name.items()}
    return SampledPool(estimate_from_sample(scored_by_name, read_inclusion(inclusion), confidence))


def _estimate_from_labels(
    result_by_name: Mapping[str, Any], inclusion: Input, second_assessments: Input | None, confidence: float
) -> SampledPool:
    """Return the estimates for results of judged answers, whose labels a file of second assessments may correct."""
    scored_by_name = {name: result._scored("sampled_pool") for name, result in result_by_name.items()}
    columns = STRATUM_COLUMNS if second_assessments is None else STRATUM_COLUMNS_OF_SECOND
    any_result = next(iter(scored_by_name.values()))
    corrections = read_second_assessments(any_result, second_assessments)
    estimates = estimate_from_labels(scored_by_name, corrections, read_inclusion(inclusion, columns), confidence)
    return SampledPool(estimates)


@checked
def assessors(
    results: Results,
    second_assessments: Results,
    *,
    measure: str | None = None,
    bootstrap: int | None = None,
    seed: int = 0,
    confidence: float = 95.0,
    clusters: Together = None,
    force: bool = False,
) -> Assessors:
    """Show what a second assessor changes: results of the same systems, by name, over either gold standard.

    `measure` is the one that ranks leaderboards unless given, `bootstrap` the number of resamples, `confidence` a
    percentage, `clusters` as in `compare`; more than 100,000 resamples are drawn with `force` alone.

    Raises UsageError for impossible arguments, InputError where the systems or their units differ.
    """
    first_results = _results("assessors", results, AnyResult)
    second_results = _results("assessors", second_assessments, AnyResult)
    if list(first_results) != list(second_results):
        raise UsageError(
            f"other systems over the second assessments: {', '.join(second_results)}, not {', '.join(first_results)}"
        )
    task = task_of("assessors", *first_results.values(), *second_results.values())
    first_scored = {name: result._to_compare() for name, result in first_results.items()}
    second_scored = {name: result._to_compare() for name, result in second_results.items()}
    assessed = AssessedResults(first_scored, second_scored)
    first_judgments = _judged_answers(next(iter(first_results.values())))
    second_judgments = _judged_answers(next(iter(second_results.values())))
    if first_judgments is not None and second_judgments is not None:
        has_labels = task.name != COLD_START_MODE and bool(first_judgments)
        assessed = AssessedResults(
            first_scored, second_scored, first_judgments, second_judgments, has_labels=has_labels
        )
    settings = arguments.resampling_of(bootstrap, seed, confidence, None, clusters, force=force)
    return Assessors(compare_assessors(task, assessed, measure, settings))


def _judged_answers(result: AnyResult[Any]) -> JudgedAnswers | None:
    """Return the judgments of the gold standard of a result; None if it was loaded from JSON, which lacks them."""
    if isinstance(result, RunResult):
        return judged_answers_of_pool(result._scored("assessors").run.gold)
    if isinstance(result, EvidenceResult) and result._source is not None:
        return judged_answers_of_result(result._source)
    return None


def _repeatable_files(files: Files, name: str) -> list[Input]:
    """Return the files of the argument called `name`, each of which can be read again. Raises UsageError."""
    return [rereadable(file) for file in arguments.files_of(files, name)]


def _results(function: str, results: object, kind: type) -> Mapping[str, Any]:
    """Return results by name, all of one kind. Raises UsageError, which names `function`, for anything else."""
    if isinstance(results, Mapping) and results and all(isinstance(result, kind) for result in results.values()):
        return results
    raise UsageError(f"{function} takes results by name, such as {{'mine': run}}, not {results!r}")
