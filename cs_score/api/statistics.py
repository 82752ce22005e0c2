"""What a test set and a pool can show: `power`, `pool_bias`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from cs_score.analysis.many import pool_bias as many
from cs_score.api.arguments import Files, Limits, checked, files_of, held, options_of
from cs_score.api.documents import Comparison
from cs_score.api.shown import WIDTH, Document
from cs_score.base.documents import read_document, record_in
from cs_score.base.errors import UsageError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.sources import Input, name_of
from cs_score.coldstart.editions import LATEST
from cs_score.coldstart.options import AS_GIVEN, Policy
from cs_score.coldstart.several import runs_of
from cs_score.statistics import planning
from cs_score.statistics.results import Comparison as Compared
from cs_score.tables.layout import Layout, Table, columns
from cs_score.tables.statistics import POWER, power_text


class Power(Document):
    """What difference a paired t test detects, and how many units one needs; made by `power` and `load`."""

    _default = "power"
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

    def __str__(self) -> str:
        """The text that the command prints."""
        return power_text(self._document, WIDTH).removesuffix("\n")

    def __repr__(self) -> str:
        numbers = {name: getattr(self, name) for name in ("standard_deviation", "detectable", "needed")}
        shown = ", ".join(f"{name} {number:.4g}" for name, number in numbers.items() if number is not None)
        return f"<power of a paired test: {shown.replace('_', ' ')}>"

    def _makers(self) -> Mapping[str, Callable[[], Table]]:
        return {"power": lambda: POWER.table(self._document), "curve": lambda: _CURVE.table(self._document)}


class PoolBias(Document):
    """Scores with and without what only the own team brought into the pool; made by `pool_bias` and `load`."""

    _default = "pool-bias"
    _document: many.PoolBias

    @property
    def tau_b(self) -> float | None:
        """Kendall's tau-b of both rankings, -1 to 1; None where all runs are tied."""
        return self._document.tau_b

    def __str__(self) -> str:
        """The text that the command prints."""
        return many.bias_text(self._document, WIDTH).removesuffix("\n")

    def __repr__(self) -> str:
        tau = "undefined" if self.tau_b is None else f"{self.tau_b:.4f}"
        return f"<pool bias of {len(self._document.runs)} runs: tau-b {tau}>"

    def _makers(self) -> Mapping[str, Callable[[], Table]]:
        return {"pool-bias": lambda: many.BIAS.table(self._document)}


_CURVE: Final = Layout(
    "curve", "Power by units and difference:", columns("units", "difference", "power"), lambda found: found.curve
)


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
        runs_given = runs_of([file.open() for file in given])
        found = many.pool_bias(
            [file.open() for file in asked], [file.open() for file in assessed], runs_given, options, teams, measure
        )
        return PoolBias(found)
