"""What a test set, a pool and its assessors can show: `power`, `pool_bias`, `sampled_pool`, `assessors`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from cs_score.analysis.many import assessors as assessing
from cs_score.analysis.many import pool_bias as pooling
from cs_score.analysis.many import sampled_pool as sampling
from cs_score.api.arguments import Files, Limits, Together, checked, files_of, held, options_of, resampling_of
from cs_score.api.documents import Comparison
from cs_score.api.evidence import EvidenceResult
from cs_score.api.runs import RunResult
from cs_score.api.shown import WIDTH, AnyResult, Document, task_of
from cs_score.base.documents import read_document, record_in
from cs_score.base.errors import UsageError
from cs_score.base.runtime import paused_collector
from cs_score.base.sources import Input, name_of
from cs_score.coldstart.editions import LATEST
from cs_score.coldstart.gold import open_gold
from cs_score.coldstart.lines import Assessment
from cs_score.coldstart.options import AS_GIVEN, Policy
from cs_score.coldstart.several import runs_of
from cs_score.statistics import planning
from cs_score.statistics.options import Resampling
from cs_score.statistics.results import Comparison as Compared
from cs_score.tables.layout import Table
from cs_score.tables.statistics import CURVE, POWER, Printout


class Statistics(Document):
    """A document of statistics, printed as its command prints it."""

    _printout: ClassVar[Printout]

    def __str__(self) -> str:
        """The text that the command prints."""
        return self._printout.text(self._document, WIDTH)

    def _makers(self) -> Mapping[str, Callable[[], Table]]:
        tables = self._printout.tables(self._document)
        return {name: partial(tables.__getitem__, name) for name in tables}


class Power(Statistics):
    """What difference a paired t test detects, and how many units one needs; made by `power` and `load`."""

    _default, _printout = "power", POWER
    _document: planning.Power

    @property
    def standard_deviation(self) -> float:
        """That of the units' differences; of several pairs the largest."""
        return self._document.standard_deviation

    @property
    def detectable(self) -> float | None:
        """The smallest difference that is detected with these units; None where their number is not known."""
        return self._document.detectable or None

    @property
    def needed(self) -> int | None:
        """The units that the difference asked for needs; None where none was, or they are too many to be said."""
        return self._document.needed or None

    def __repr__(self) -> str:
        numbers = {name: getattr(self, name) for name in ("standard_deviation", "detectable", "needed")}
        shown = ", ".join(f"{name} {number:.4g}" for name, number in numbers.items() if number is not None)
        return f"<power of a paired test: {shown.replace('_', ' ')}>"

    def _makers(self) -> Mapping[str, Callable[[], Table]]:
        return {**super()._makers(), "curve": lambda: CURVE.table(self._document)}


class TwoRankings(Statistics):
    """A document of statistics that ranks the same runs twice."""

    _what: ClassVar[str]

    @property
    def tau_b(self) -> float | None:
        """Kendall's tau-b of both rankings, -1 to 1; None where all runs are tied."""
        tau: float | None = self._document.tau_b
        return tau

    def __repr__(self) -> str:
        tau = "undefined" if self.tau_b is None else f"{self.tau_b:.4f}"
        return f"<{self._what} of {len(self._document.runs)} runs: tau-b {tau}>"


class PoolBias(TwoRankings):
    """Scores with and without what only the own team brought into the pool; made by `pool_bias` and `load`."""

    _default, _printout, _what = "pool-bias", pooling.BIAS, "pool bias"


class SampledPool(Statistics):
    """Estimates from a sample of the pool; made by `sampled_pool` and `load`."""

    _default, _printout = "sampled-pool", sampling.SAMPLED
    _document: sampling.SampledPool

    def __repr__(self) -> str:
        runs = (f"{each.run} {each.precision.estimate:.4f}" for each in self._document.runs)
        return f"<sampled pool, {self._document.measure}: {', '.join(runs)}>"


class Assessors(TwoRankings):
    """Scores and ranks under two assessors, and their agreement; made by `assessors` and `load`."""

    _default, _printout, _what = "assessed", assessing.ASSESSED, "two assessors"


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
    """What difference of two systems a paired t test detects, and how many units a `difference` needs.

    `comparison` is what `compare` made, or the file of its JSON, `measure` one of its measures, unless given the one
    that ranks. Without a comparison `sd` is the standard deviation of the units' paired differences, `units` their
    number. `alpha` is the level of the test of two sides, `power` the probability with which a difference is to be
    found, both between 0 and 1.

    Raises UsageError for impossible arguments, InputError for a comparison from which nothing can be planned.
    """
    if (comparison is None) == (sd is None):
        raise UsageError("power takes a comparison, or a standard deviation (sd)")
    if sd is not None:
        return Power(planning.planned({planning.NO_NAMES: sd}, units, difference, alpha, power))
    if units is not None:
        raise UsageError("units goes with sd; a comparison has its own number of units")
    if isinstance(comparison, Comparison):
        compared = comparison._document
    else:
        [given] = files_of(comparison or (), "comparison")
        compared = record_in(read_document(given), Compared, name_of(given))
    return Power(planning.of_comparison(compared, measure, difference, alpha, power))


@checked
def pool_bias(
    queries: Files,
    runs: Files,
    pool: Files,
    *,
    teams: Input | None = None,
    measure: str | None = None,
    expand: str | None = None,
    policy: str | Policy = "kb",
    justifications: Limits | None = None,
    discipline: str = "ASSESSED",
    query_ids: str | os.PathLike[str] | Iterable[str] | None = None,
    follow: str = LATEST.name,
    mention_types: str = AS_GIVEN,
) -> PoolBias:
    """Score each run with and without what only its team brought into the pool; rank both; tau-b of the rankings.

    `teams` is a file with lines of a run and its team, a tab between them; without it each run is its own team.
    `measure` is the one that ranks leaderboards unless given; all else is as in `prepare`.

    Raises UsageError for fewer than two runs and impossible arguments, InputError for files that cannot be scored.
    """
    asked, given, assessed = (
        [held(file) for file in files_of(files, what)]
        for files, what in ((queries, "queries"), (runs, "runs"), (pool, "pool"))
    )
    options = options_of(
        policy, justifications, query_ids, discipline=discipline, expand=expand, follow=follow,
        mention_types=mention_types,
    )  # fmt: skip
    with paused_collector():
        opened = open_gold([file.open() for file in asked], options)
        runs_given = runs_of([file.open() for file in given])
        return PoolBias(pooling.pool_bias(opened, [file.open() for file in assessed], runs_given, teams, measure))


@checked
def sampled_pool(runs: Mapping[str, RunResult], inclusion: Input, *, confidence: float = 95.0) -> SampledPool:
    """What Cold Start runs, by name, would score were all of their answers assessed, from a sample of the assessments.

    `inclusion` is a table of the probabilities with which answers were assessed, as `cs-score score --inclusion` takes
    it; `confidence` that of the limits, a percentage.

    Raises UsageError for impossible arguments, InputError for answers of unknown probability and for strata of which
    nothing was assessed.
    """
    confidence = Resampling(1, confidence=confidence).confidence
    scored = {
        name: run._for_analysis("sampled_pool") for name, run in _results("sampled_pool", runs, RunResult).items()
    }
    return SampledPool(sampling.sampled_pool(scored, sampling.read_inclusion(inclusion), confidence))


@checked
def assessors(
    results: Mapping[str, RunResult] | Mapping[str, EvidenceResult],
    second_assessments: Mapping[str, RunResult] | Mapping[str, EvidenceResult],
    *,
    measure: str | None = None,
    bootstrap: int | None = None,
    seed: int = 0,
    confidence: float = 95.0,
    clusters: Together = None,
) -> Assessors:
    """What a second assessor changes: results of the same systems, by name, over either gold standard.

    `measure` is the one that ranks leaderboards unless given, `bootstrap` the number of resamples, `confidence` a
    percentage, `clusters` as in `compare`.

    Raises UsageError for impossible arguments, InputError where the systems or their units differ.
    """
    sides = [_results("assessors", each, AnyResult) for each in (results, second_assessments)]
    if list(sides[0]) != list(sides[1]):
        raise UsageError(f"other systems over the second assessments: {', '.join(sides[1])}, not {', '.join(sides[0])}")
    task = task_of("assessors", *sides[0].values(), *sides[1].values())
    given = [{name: result._to_compare() for name, result in side.items()} for side in sides]
    judged = [assessing.judged_in(_assessments(next(iter(side.values())))) for side in sides]
    settings = resampling_of(bootstrap, seed, confidence, None, clusters)
    return Assessors(assessing.assessors(task, given[0], given[1], measure, (judged[0], judged[1]), settings))


def _assessments(result: Any) -> Sequence[Assessment]:
    """What the gold standard of a Cold Start run has; none of other results."""
    return result._scored("assessors").run.gold.links.assessments if isinstance(result, RunResult) else ()


def _results(what: str, given: object, kind: type) -> Mapping[str, Any]:
    """Results by name. Raises UsageError for anything else."""
    if not isinstance(given, Mapping) or not given or not all(isinstance(each, kind) for each in given.values()):
        raise UsageError(f"{what} takes results by name, such as {{'mine': run}}, not {given!r}")
    return given
