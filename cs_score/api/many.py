"""Many runs from Python: scored as a batch; and what a test set, a pool and its assessors can show of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
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
from cs_score.api.documents import WIDTH, AnyResult, Comparison, Document, member, task_of
from cs_score.api.evidence import EvidenceResult
from cs_score.api.runs import RunResult, switches_of
from cs_score.base.documents import read_document, record_in
from cs_score.base.errors import UsageError
from cs_score.base.runtime import paused_collector
from cs_score.base.sources import Input, name_of, rereadable
from cs_score.batch.coldstart import cold_start_plan, policies_of_batch
from cs_score.batch.documents import OK
from cs_score.batch.execution import run_batch
from cs_score.batch.leaderboard import leaderboard_layout, leaderboard_text
from cs_score.batch.plan import BatchOptions, find_runs
from cs_score.coldstart.gold import open_gold
from cs_score.coldstart.linking import RUN_SUFFIX
from cs_score.coldstart.options import CallArguments, Policy, ScoringArguments
from cs_score.coldstart.outputs import Layout
from cs_score.coldstart.scorer import runs_of
from cs_score.measures.registry import COLD_START_MODE, find
from cs_score.report.documents import page_maker
from cs_score.statistics import planning
from cs_score.statistics.options import Correction, IntervalMethod, Resampling
from cs_score.statistics.results import Comparison as Compared
from cs_score.tables.layout import Table
from cs_score.tables.statistics import CURVE, POWER, Printout

Results: TypeAlias = Mapping[str, RunResult] | Mapping[str, EvidenceResult]
"""Results of one task by the names of their systems."""


class Leaderboard(Document):
    """The runs of a batch from best to worst; made by `batch` and `load`. Its tables are in the output folder, too.

    Its one table has the scores by measure as columns, and limits of intervals as `SF-AP:low` and `SF-AP:high`. `tier`
    is the group of rows that do not differ significantly from its first, `p_above` the p-value of the difference from
    the row above; both corrected for all pairs of rows.
    """

    _default, _cited = "leaderboard", ("measure",)

    def __init__(self, document: Any, remarks: Sequence[str] = ()) -> None:
        super().__init__(document)
        self._remarks = tuple(remarks)

    measure: str = member("The measure that ranks the runs.")

    @property
    def failed(self) -> int:
        """How many scorings did not come to their end, or met problems that are errors."""
        return len({(row.policy, row.run) for row in self._document.rows if row.state != OK})

    @property
    def remarks(self) -> tuple[str, ...]:
        """What you should know of the batch, one line each."""
        return self._remarks

    def __str__(self) -> str:
        """The text that the command prints."""
        return leaderboard_text(self._document)

    def __repr__(self) -> str:
        scored = len({(row.policy, row.run) for row in self._document.rows})
        return f"<leaderboard by {self.measure}: {scored} scored, {self.failed} failed>"

    def _tables(self) -> Iterable[Table]:
        return [leaderboard_layout(self._document).table(self._document)]


class Statistics(Document):
    """A document of statistics, printed as its command prints it."""

    _printout: ClassVar[Printout]

    def __str__(self) -> str:
        """The text that the command prints."""
        return self._printout.text(self._document, WIDTH)

    def _tables(self) -> Iterable[Table]:
        return self._printout.tables(self._document).values()


class Power(Statistics):
    """What difference a paired test detects, and how many units one needs; made by `power` and `load`."""

    _default, _printout = "power", POWER

    standard_deviation: float = member("That of the units' differences, of the pair that needs the most.")
    detectable: float | None = member(
        "The smallest difference that is detected with these units; None where there is none, or no number of units.",
        lambda found: found or None,
    )
    needed: int | None = member(
        "The units that the difference asked for needs; None where none was, or they are too many to be said.",
        lambda found: found or None,
    )

    def __repr__(self) -> str:
        numbers = {name: getattr(self, name) for name in ("standard_deviation", "detectable", "needed")}
        shown = ", ".join(f"{name} {number:.4g}" for name, number in numbers.items() if number is not None)
        return f"<power of a paired test: {shown.replace('_', ' ')}>"

    def _tables(self) -> Iterable[Table]:
        return [*super()._tables(), CURVE.table(self._document)]


class TwoRankings(Statistics):
    """A document of statistics that ranks the same runs twice."""

    _what: ClassVar[str]

    tau_b: float | None = member("Kendall's tau-b of both rankings, -1 to 1; None where all runs are tied.")

    def __repr__(self) -> str:
        tau = "undefined" if self.tau_b is None else f"{self.tau_b:.4f}"
        return f"<{self._what} of {len(self._document.runs)} runs: tau-b {tau}>"


class PoolBias(TwoRankings):
    """Scores with and without what only the own team brought into the pool; made by `pool_bias` and `load`."""

    _default, _printout, _what = "pool-bias", POOL_BIAS_PRINTOUT, "pool bias"


class SampledPool(Statistics):
    """Estimates from a sample of the pool; made by `sampled_pool` and `load`."""

    _default, _printout = "sampled-pool", SAMPLED_POOL_PRINTOUT

    def __repr__(self) -> str:
        runs = (f"{each.run} {each.precision.estimate:.4f}" for each in self._document.runs)
        return f"<sampled pool, {self._document.measure}: {', '.join(runs)}>"


class Assessors(TwoRankings):
    """Scores and ranks under two assessors, and their agreement; made by `assessors` and `load`."""

    _default, _printout, _what = "assessed", ASSESSORS_PRINTOUT, "two assessors"


# Long for what its arguments mean: all it does is to check them and to hand them on.
@checked
def batch(
    runs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    queries: Files,
    pool: Files,
    also_policy: str | Iterable[str] | Mapping[str, Policy] = (),
    measure: str | None = None,
    jobs: int | None = None,
    resume: bool = False,
    validate: bool = False,
    html: bool = False,
    bootstrap: int | None = None,
    seed: int = 0,
    confidence: float = 95.0,
    interval: IntervalMethod | None = None,
    clusters: Together = None,
    correction: Correction | None = None,
    baseline: str | None = None,
    force: bool = False,
    **options: Unpack[CallArguments],
) -> Leaderboard:
    """Score many runs into the folder `output`, each as if it were alone: the files of `cs-score batch`.

    `runs` are files, folders or patterns. `also_policy`, by name or with their Policy, stand beside `policy`. `measure`
    is the one that ranks the runs, `jobs` the number of processes (as many as processors unless given). With
    `resume` runs that are scored already are kept; `validate` validates them first; `html` writes a page for each run
    and index.html over all; `force` replaces files of others and draws more than 100,000
    resamples. With `bootstrap` scores have bootstrap intervals, and
    rows tiers and p-values, with `seed`, `confidence` (a percentage), `interval` (`percentile` or `bca`), and
    `clusters`, `correction` and `baseline` as in `compare`. Other arguments are those of `prepare`.

    Raises UsageError for impossible arguments, InputError where gold cannot be used or a run is not there, OutputError
    where the folder cannot be written, MissingExtraError for pages without jinja2 (`pip install 'cs-score[report]'`).
    What is wrong with one run stands in its row.
    """
    page = page_maker() if html else None
    scoring = arguments.options_of(options)
    policy = options.get("policy", arguments.USUAL_POLICY)
    tests = None
    if bootstrap is not None:
        tests = arguments.resampling_of(
            bootstrap, seed, confidence, interval, clusters, correction, baseline, force=force
        )
    policies = policies_of_batch(
        scoring,
        scoring.policy.texts(),
        policy if isinstance(policy, str) else "given",
        arguments.policy_words(also_policy),
        option="also_policy",
    )
    plan = cold_start_plan(
        arguments.files_of(queries, "queries"),
        arguments.files_of(pool, "pool"),
        scoring,
        policies,
        switches=tuple(switches_of(scoring, Layout())),
        resampling=tests,
        validates=validate,
        page=page,
    )
    ranking = None if measure is None else find(measure, plan.measures())
    if measure is not None and ranking is None:
        raise UsageError(f"measure: no measure called {measure}; there are {', '.join(plan.measures())}")
    arguments.at_least_one("jobs", jobs)
    found, remarks = find_runs([name_of(run) for run in arguments.files_of(runs, "runs")], None, (RUN_SUFFIX,))
    settings = BatchOptions(os.fspath(output), ranking, resume, force, jobs)
    return Leaderboard(run_batch(plan, found, settings, remarks.append).leaderboard, remarks)


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
        compared = comparison._document
    else:
        [given] = arguments.files_of(comparison or (), "comparison")
        compared = record_in(read_document(given), Compared, name_of(given))
    return Power(planning.plan_from_comparison(compared, measure, aim))


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
    asked, given, assessed = (
        [*map(rereadable, arguments.files_of(files, what))]
        for files, what in ((queries, "queries"), (runs, "runs"), (pool, "pool"))
    )
    scoring = arguments.options_of(options)
    with paused_collector():
        pooled_runs = PooledRuns(open_gold(asked, scoring), assessed, runs_of(given))
        return PoolBias(measure_pool_bias(pooled_runs, teams, measure))


@checked
def sampled_pool(
    runs: Results, inclusion: Input, *, second_assessments: Input | None = None, confidence: float = 95.0
) -> SampledPool:
    """What runs, by name, would score were all of their answers assessed, from a sample of the assessments.

    The runs are of Cold Start, or results of `pool`. `inclusion` is a table of the probabilities with which answers
    were assessed, as `cs-score score --inclusion` takes it; `confidence` that of the limits, a percentage. For judged
    answers `second_assessments` is a file of the labels of the sample, which correct those of the results.

    Raises UsageError for impossible arguments, InputError for answers of unknown probability and for strata of which
    nothing was assessed.
    """
    confidence = Resampling(1, confidence=confidence).confidence
    given = _results("sampled_pool", runs, AnyResult)
    task = task_of("sampled_pool", *given.values())
    if task.name != COLD_START_MODE:
        results = {name: result._scored("sampled_pool") for name, result in given.items()}
        columns = STRATUM_COLUMNS if second_assessments is None else STRATUM_COLUMNS_OF_SECOND
        second = read_second_assessments(next(iter(results.values())), second_assessments)
        estimates = estimate_from_labels(results, second, read_inclusion(inclusion, columns), confidence)
        return SampledPool(estimates)
    if second_assessments is not None:
        raise UsageError("second_assessments are for judged answers (pool), not for coldstart")
    scored = {name: run._for_analysis("sampled_pool") for name, run in given.items()}
    return SampledPool(estimate_from_sample(scored, read_inclusion(inclusion), confidence))


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
    """What a second assessor changes: results of the same systems, by name, over either gold standard.

    `measure` is the one that ranks leaderboards unless given, `bootstrap` the number of resamples, `confidence` a
    percentage, `clusters` as in `compare`; more than 100,000 resamples are drawn with `force` alone.

    Raises UsageError for impossible arguments, InputError where the systems or their units differ.
    """
    sides = [_results("assessors", each, AnyResult) for each in (results, second_assessments)]
    if list(sides[0]) != list(sides[1]):
        raise UsageError(f"other systems over the second assessments: {', '.join(sides[1])}, not {', '.join(sides[0])}")
    task = task_of("assessors", *sides[0].values(), *sides[1].values())
    first, second = ({name: result._to_compare() for name, result in side.items()} for side in sides)
    judgments: list[JudgedAnswers] = []
    for side in sides:
        result = next(iter(side.values()))
        if isinstance(result, RunResult):
            judgments.append(judged_answers_of_pool(result._scored("assessors").run.gold))
        elif isinstance(result, EvidenceResult) and result._source is not None:
            judgments.append(judged_answers_of_result(result._source))
    assessed = AssessedResults(first, second)
    if len(judgments) == len(sides):
        has_labels = task.name != COLD_START_MODE and bool(judgments[0])
        assessed = AssessedResults(first, second, judgments[0], judgments[1], has_labels=has_labels)
    settings = arguments.resampling_of(bootstrap, seed, confidence, None, clusters, force=force)
    return Assessors(compare_assessors(task, assessed, measure, settings))


def _results(what: str, given: object, kind: type) -> Mapping[str, Any]:
    """Results by name. Raises UsageError for anything else."""
    if not isinstance(given, Mapping) or not given or not all(isinstance(each, kind) for each in given.values()):
        raise UsageError(f"{what} takes results by name, such as {{'mine': run}}, not {given!r}")
    return given
