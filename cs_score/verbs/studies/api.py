"""Functions for whole test sets: how large one must be, and how a pool and its assessors change the scores of runs. A
pool has the assessed answers of several runs, and an assessor is a person who judged them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, TypeAlias, Unpack

from cs_score.analysis.sampled_labels import (
    STRATUM_COLUMNS,
    STRATUM_COLUMNS_WITH_SECOND_LABELS,
    estimate_from_labels,
    read_second_assessments,
)
from cs_score.analysis.sampled_pools import SAMPLED_POOL_PRINTOUT, estimate_from_sample, read_strata_table
from cs_score.api import arguments
from cs_score.api.any_result import AnyResult, task_of
from cs_score.api.arguments import ClustersArgument, Files, checked
from cs_score.api.findings import Comparison
from cs_score.api.prediction_results import EvidenceResult
from cs_score.api.run_results import RunResult
from cs_score.api.shown import WIDTH, ShownDocument, member
from cs_score.base.documents import checked_record, read_document
from cs_score.base.errors import UsageError
from cs_score.base.runtime import paused_garbage_collection
from cs_score.base.sources import Input, name_of, rereadable
from cs_score.coldstart.gold import open_gold
from cs_score.coldstart.options import ScoringArguments
from cs_score.coldstart.scorer import runs_of
from cs_score.measures import COLD_START_MODE
from cs_score.statistics import planning
from cs_score.statistics.resampling_settings import Resampling
from cs_score.statistics.results import SystemComparison
from cs_score.tables.layout import Table
from cs_score.tables.statistics import CURVE, POWER, Printout
from cs_score.verbs.studies.assessor_comparison import (
    ASSESSORS_PRINTOUT,
    AssessedResults,
    JudgedAnswers,
    compare_assessors,
    judged_answers_of_pool,
    judged_answers_of_result,
)
from cs_score.verbs.studies.pool_bias import POOL_BIAS_PRINTOUT, PooledRuns
from cs_score.verbs.studies.pool_bias import pool_bias as measure_pool_bias

Results: TypeAlias = Mapping[str, RunResult] | Mapping[str, EvidenceResult]
"""Results of the same task, by the names of their systems."""


class Statistics(ShownDocument):
    """A document of statistics, which is printed as the command of the same name prints it."""

    _printout: ClassVar[Printout]
    """The functions that make the text and the tables of the document."""

    def __str__(self) -> str:
        """Return the text that the command prints."""
        return self._printout.text(self._document, WIDTH)

    def _tables(self) -> Iterable[Table]:
        """Return the tables that the command prints, in order."""
        return self._printout.tables(self._document).values()


class Power(Statistics):
    """The difference that a paired test detects, and how many units a test needs; made by `power` and `load`."""

    _main_table = "power"
    _printout = POWER

    standard_deviation: float = member(
        "The standard deviation of the units' differences; of several pairs, that of the pair that needs most units."
    )
    detectable: float | None = member(
        "The smallest difference that these units detect; None if they detect none, or if their number is not known.",
        lambda number: number or None,
    )
    needed: int | None = member(
        "The number of units that the given difference needs; None if no difference was given, or if it needs too many "
        "to be counted.",
        lambda number: number or None,
    )

    def __repr__(self) -> str:
        """Return a short text with the main numbers: `<power of a paired test: standard deviation 0.3, needed 72>`."""
        parts = [f"standard deviation {self.standard_deviation:.4g}"]
        if self.detectable is not None:
            parts.append(f"detectable {self.detectable:.4g}")
        if self.needed is not None:
            parts.append(f"needed {self.needed:.4g}")
        return f"<power of a paired test: {', '.join(parts)}>"

    def _tables(self) -> Iterable[Table]:
        """Return the tables that the command prints, and the table of the power curve."""
        curve = CURVE.table(self._document)
        return [*super()._tables(), curve]


class TwoRankings(Statistics):
    """A document of statistics that ranks the same runs twice."""

    _subject: ClassVar[str]
    """The subject of the rankings, for `repr`."""

    tau_b: float | None = member("Kendall's tau-b of both rankings, -1 to 1; None if all runs are tied.")

    def __repr__(self) -> str:
        tau = "undefined" if self.tau_b is None else f"{self.tau_b:.4f}"
        return f"<{self._subject} of {len(self._document.runs)} runs: tau-b {tau}>"


class PoolBias(TwoRankings):
    """Scores with and without the pool's answers that only the run's own team gave; made by `pool_bias` and `load`."""

    _main_table = "pool-bias"
    _printout = POOL_BIAS_PRINTOUT
    _subject = "pool bias"


class SampledPool(Statistics):
    """Estimates of scores from a sample of the pool; made by `sampled_pool` and `load`."""

    _main_table = "sampled-pool"
    _printout = SAMPLED_POOL_PRINTOUT

    def __repr__(self) -> str:
        runs = [f"{run.run} {run.precision.estimate:.4f}" for run in self._document.runs]
        return f"<sampled pool, {self._document.measure}: {', '.join(runs)}>"


class Assessors(TwoRankings):
    """Scores and ranks under two assessors, and their agreement; made by `assessors` and `load`."""

    _main_table = "assessed"
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
    """Return the difference between two systems that a paired test detects, and the units that a `difference` needs.

    `comparison` is the result of `compare`, or the file of its JSON. `measure` is one of its measures; the default is
    the measure that ranks leaderboards. If there is no comparison, `sd` is the standard deviation of the differences
    between units, and `units` is the number of units. `alpha` is the level of the two-sided test, and `power` is the
    probability with which the test should detect the difference. Both are between 0 and 1.

    Raises UsageError for impossible arguments, and InputError for a comparison from which no test can be planned.
    """
    goal = planning.DetectionGoal(difference=difference, alpha=alpha, power=power)
    has_comparison = comparison is not None
    has_deviation = sd is not None
    if has_comparison == has_deviation:  # both, or neither
        raise UsageError("power takes a comparison, or a standard deviation (sd)")
    if sd is not None:
        power_analysis = planning.TTestPowerAnalysis(standard_deviation=sd)
        return Power(planning.plan_test([power_analysis], units, goal))
    if units is not None:
        raise UsageError("units goes with sd; a comparison has its own number of units")
    plan = planning.plan_from_comparison(_comparison_document(comparison), measure, goal)
    return Power(plan)


def _comparison_document(comparison: object) -> SystemComparison:
    """Return the document of a comparison: the result of `compare`, or the file of its JSON.

    Raises UsageError for a value that is neither, InputError for a file that holds no comparison.
    """
    if isinstance(comparison, Comparison):
        document: SystemComparison = comparison._document
        return document
    files = arguments.files_of(comparison, "comparison")
    if len(files) != 1:
        raise UsageError(f"comparison takes one file, not {len(files)}")
    return checked_record(read_document(files[0]), SystemComparison, name_of(files[0]))


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
    """Score each run with and without the pool's answers that only its own team gave, and rank the runs by both scores.

    `teams` is a file whose lines have a run and its team with a tab between them; without it each run is its own team.
    The runs are ranked by `measure`; the default is the one that ranks leaderboards. All other arguments are those of
    `prepare`.

    Raises UsageError for fewer than two runs and impossible arguments, InputError for files that cannot be scored.
    """
    query_files = _repeatable_files(queries, "queries")
    run_files = _repeatable_files(runs, "runs")
    pool_files = _repeatable_files(pool, "pool")
    scoring = arguments.options_of(options)
    with paused_garbage_collection():
        pooled_runs = PooledRuns(open_gold(query_files, scoring), pool_files, runs_of(run_files))
        return PoolBias(measure_pool_bias(pooled_runs, teams, measure))


@checked
def sampled_pool(
    runs: Results, inclusion: Input, *, second_assessments: Input | None = None, confidence: float = 95.0
) -> SampledPool:
    """Estimate, from a sample of assessments, the scores that runs would have if all their answers were assessed.

    `runs` maps names to results, either of Cold Start runs or of `pool`. `inclusion` is a table of the probabilities
    with which answers were assessed, in the format of `cs-score score --inclusion`. `confidence` is the confidence
    level of the limits, as a percentage. For judged answers, `second_assessments` is a file with the labels of the
    sample, which correct the labels of the results.

    Raises UsageError for impossible arguments, and InputError for answers of unknown probability and for strata without
    any assessed answers.
    """
    checked_confidence = Resampling(confidence=confidence).confidence  # raises UsageError if it is not a percentage
    result_by_name = _require_results("sampled_pool", runs)
    task = task_of("sampled_pool", list(result_by_name.values()))
    if task.name != COLD_START_MODE:
        return _estimate_from_labels(result_by_name, inclusion, second_assessments, checked_confidence)
    if second_assessments is not None:
        raise UsageError("second_assessments are for judged answers (pool), not for coldstart")
    run_by_name = {name: result._for_analysis("sampled_pool") for name, result in result_by_name.items()}
    strata_table = read_strata_table(inclusion)
    return SampledPool(estimate_from_sample(run_by_name, strata_table, checked_confidence))


def _estimate_from_labels(
    result_by_name: Mapping[str, Any], inclusion_file: Input, second_assessments: Input | None, confidence: float
) -> SampledPool:
    """Return the estimates of the scores of judged answers, from a sample of their assessments.

    `inclusion_file` has the probability with which each answer was assessed. If `second_assessments` is given, the
    labels in this file correct the labels of the results.
    """
    # The scored predictions of each result. A result loaded from JSON has none, and the error message then names this
    # function.
    predictions_by_name = {name: result._require_source("sampled_pool") for name, result in result_by_name.items()}
    any_predictions = next(iter(predictions_by_name.values()))  # all have the same gold standard
    corrections = read_second_assessments(any_predictions, second_assessments)
    columns = STRATUM_COLUMNS if second_assessments is None else STRATUM_COLUMNS_WITH_SECOND_LABELS
    strata_table = read_strata_table(inclusion_file, columns)
    estimates = estimate_from_labels(predictions_by_name, corrections, strata_table, confidence)
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
    clusters: ClustersArgument = None,
    force: bool = False,
) -> Assessors:
    """Compare scores and ranks of the same systems under the assessments of two assessors, and their agreement.

    `results` and `second_assessments` map the names of the systems to their results, scored with the gold standard of
    the first and of the second assessor. The systems are ranked by `measure`; the default is the measure that ranks
    leaderboards. `bootstrap` is the number of resamples. The other arguments are as in `compare`.

    Raises UsageError for impossible arguments, and if the systems in `second_assessments` differ from those in
    `results` or are in another order. Raises InputError if the units of the systems differ.
    """
    first_results = _require_results("assessors", results)
    second_results = _require_results("assessors", second_assessments)
    if list(first_results) != list(second_results):
        raise UsageError(
            f"other systems over the second assessments: {', '.join(second_results)}, not {', '.join(first_results)}"
        )
    all_results = list(first_results.values()) + list(second_results.values())
    task = task_of("assessors", all_results)
    assessed = _assessed_results(task.name, first_results, second_results)
    settings = arguments.resampling_of(bootstrap, seed, confidence, interval=None, clusters=clusters, force=force)
    return Assessors(compare_assessors(task, assessed, measure, settings))


def _assessed_results(
    task: str, first_results: Mapping[str, Any], second_results: Mapping[str, Any]
) -> AssessedResults:
    """Return the results of the same systems under two assessors, with the judgments in both gold standards.

    There are no judgments if a result was loaded from JSON, which lacks them.
    """
    first_scored = {name: result._result_to_compare() for name, result in first_results.items()}
    second_scored = {name: result._result_to_compare() for name, result in second_results.items()}
    # All results of an assessor have the same gold standard, so the judgments are taken from the first result.
    first_judgments = _judged_answers(next(iter(first_results.values())))
    second_judgments = _judged_answers(next(iter(second_results.values())))
    if first_judgments is None or second_judgments is None:
        return AssessedResults(first_scored, second_scored)
    # Labels are shown side by side, except in Cold Start, where agreement is compared by slot. A task without labels
    # has no judgments under either assessor, so it is enough to look at one of them.
    has_labels = task != COLD_START_MODE and bool(first_judgments)
    return AssessedResults(first_scored, second_scored, first_judgments, second_judgments, has_labels=has_labels)


def _judged_answers(result: AnyResult[Any]) -> JudgedAnswers | None:
    """Return the judgments in the gold standard of a result, or None if it was loaded from JSON, which lacks them."""
    if isinstance(result, RunResult):
        # Runs loaded from JSON have already been rejected by `_result_to_compare`.
        return judged_answers_of_pool(result._require_source("assessors").run.gold)
    if isinstance(result, EvidenceResult) and result._source is not None:
        return judged_answers_of_result(result._source)
    return None


def _repeatable_files(files: Files, name: str) -> list[Input]:
    """Return the files of the argument called `name`, made readable more than once.

    Raises UsageError for a value that is no file.
    """
    return [rereadable(file) for file in arguments.files_of(files, name)]


def _require_results(function: str, results: object) -> Mapping[str, Any]:
    """Return `results` if it is a mapping from names to results.

    Raises UsageError, which names the called `function`, for anything else and for an empty mapping.
    """
    if isinstance(results, Mapping) and results:
        has_only_results = all(isinstance(result, AnyResult) for result in results.values())
        if has_only_results:
            return results
    raise UsageError(f"{function} takes results by name, such as {{'mine': run}}, not {results!r}")
