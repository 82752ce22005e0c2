"""What results of all tasks have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET

from cs_score.analysis.outcomes import as_builtins
from cs_score.api.shown import Report, Shown
from cs_score.base.records import to_builtins
from cs_score.statistics.options import IntervalMethod, Resampling
from cs_score.tasks import task_named

if TYPE_CHECKING:
    from cs_score.base.signing.origin import Origin
    from cs_score.base.signing.signature import Signature

_REMARKS: Final = 5
"""Remarks that a notebook shows."""


class AnyResult(Shown):
    """A result of any task."""

    @property
    def task(self) -> str:
        """`coldstart`, `scifact`, `claims`, `r4c` or `hotpotqa`."""
        raise NotImplementedError

    @property
    def remarks(self) -> tuple[str, ...]:
        """What you should know of the run, one line each."""
        raise NotImplementedError

    @property
    def signature(self) -> Signature:
        """One citable line of what the scores were computed from: `str` prints it, `Signature.parse` reads it.

        `signature.of("SF-AP")` is that of another measure.
        """
        return self._origin().signature

    def intervals(
        self,
        bootstrap: int = 10_000,
        *,
        seed: int = 0,
        confidence: float = 95.0,
        interval: IntervalMethod | None = None,
    ) -> list[dict[str, Any]]:
        """Bootstrap intervals of all scores, from resamples of the units: `measure`, `score`, `low`, `high`, ...

        `confidence` is a percentage, `interval` `percentile` or `bca`. Limits and `standard_error` are None where too
        many resamples are undefined; `note` is what a reader must know of it. Raises UsageError for impossible
        arguments, several runs and a result that was loaded from JSON, InputError where there is no unit.
        """
        return self._intervals(Resampling(bootstrap, seed, confidence, interval or UNSET))

    def report(self, measure: str | None = None) -> Report:
        """A page of what each mistake costs, as `cs-score report` makes it; a notebook shows it.

        `measure` is what gains are measured by, None for the one that ranks leaderboards. Raises UsageError for a
        measure that there is not and for a result that was loaded from JSON, InputError for a run without that score,
        MissingExtraError without jinja2 (`pip install 'cs-score[report]'`).
        """
        return Report(as_builtins(task_named(self.task).analyze(self._for_analysis("report"), measure)))

    def _origin(self) -> Origin:
        raise NotImplementedError

    def _intervals(self, settings: Resampling) -> list[dict[str, Any]]:
        raise NotImplementedError

    def _for_analysis(self, what: str, run: str | None = None) -> Any:
        """What analyses begin with: of several runs that of this id. Raises UsageError, also for what was loaded."""
        raise NotImplementedError

    def _to_compare(self) -> Any:
        """What comparisons begin with. Raises UsageError for several runs and for what was loaded."""
        raise NotImplementedError

    def _attrs(self) -> Mapping[str, object]:
        return {"signature": str(self.signature), "origin": to_builtins(self._origin())}

    def _notes(self) -> Sequence[str]:
        return *self.remarks[:_REMARKS], str(self.signature)
