"""What a test set and a pool can show: `power`, `pool_bias`."""

from __future__ import annotations

import os
from collections.abc import Iterable

from cs_score.analysis.many.pool_bias import PoolBias
from cs_score.analysis.many.pool_bias import pool_bias as found_bias
from cs_score.api.arguments import Files, Limits, files_of, held
from cs_score.api.documents import Comparison
from cs_score.api.runs import prepare
from cs_score.base.documents import read_document, record_in
from cs_score.base.errors import UsageError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.sources import Input, name_of
from cs_score.coldstart.editions import LATEST
from cs_score.coldstart.options import AS_GIVEN, Policy
from cs_score.coldstart.several import runs_of
from cs_score.statistics.planning import NO_NAMES, Power, of_comparison, planned
from cs_score.statistics.results import Comparison as Compared


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
        return planned({NO_NAMES: sd}, units, difference, alpha, power)
    if units is not None:
        raise UsageError("units goes with sd; a comparison has its own number of units")
    if isinstance(comparison, Comparison):
        compared = comparison._compared
    else:
        given: Input = comparison  # type: ignore[assignment]  # it is not None
        compared = record_in(read_document(given), Compared, name_of(given))
    return of_comparison(compared, measure, difference, alpha, power)


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
    options = prepare(
        [file.open() for file in asked], expand=expand, policy=policy, justifications=justifications,
        discipline=discipline, query_ids=query_ids, follow=follow, mention_types=mention_types,
    )._prepared.options  # fmt: skip
    with paused_collector():
        runs_given = runs_of([file.open() for file in given])
        return found_bias(
            [file.open() for file in asked], [file.open() for file in assessed], runs_given, options, teams, measure
        )
