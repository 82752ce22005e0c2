"""What results of all tasks have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from cs_score.api.arguments import Together, checked, resampling_of
from cs_score.api.shown import Document, member, rows_of
from cs_score.api.tables import INTERVALS
from cs_score.base.errors import UsageError
from cs_score.base.runtime import Late
from cs_score.base.signature import Signature
from cs_score.statistics.options import IntervalMethod, Resampling
from cs_score.tasks import task_named

if TYPE_CHECKING:
    from cs_score.api import pages
    from cs_score.api.pages import Report
    from cs_score.statistics.results import ScoreIntervals
    from cs_score.tasks.task import Task
else:
    pages = Late("cs_score.api.pages")  # few calls make pages

_MOST_REMARKS: Final = 5
"""Remarks that a notebook shows."""

Source = TypeVar("Source")


class AnyResult(Document, Generic[Source]):
    """A result of any task.

    A result that was scored keeps its source, from which it is scored again; one that was loaded from JSON has none.
    """

    _in_notebooks = "scores"
    _cited = ("signature", "origin")

    _source: Source | None

    _needed: ClassVar[str]
    """What is missing to score a loaded result again, for messages."""

    task: str = member("`coldstart`, `scifact`, `claims`, `r4c` or `hotpotqa`.")

    @property
    def remarks(self) -> tuple[str, ...]:
        """What you should know beside the problems, one line each: a run that met no assessment, a doubtful policy."""
        return tuple(self._document.remarks)

    signature: Signature = member(
        "One citable line of what the scores were computed from: `str` prints it, `Signature.parse` reads it.\n\n"
        '`signature.of("SF-AP")` is that of another measure.',
        Signature.parse,
    )

    @checked
    def intervals(
        self,
        bootstrap: int = 10_000,
        *,
        seed: int = 0,
        confidence: float = 95.0,
        interval: IntervalMethod | None = None,
        clusters: Together = None,
        force: bool = False,
    ) -> list[dict[str, Any]]:
        """Return bootstrap intervals of all scores, from resamples of the units: `measure`, `score`, `low`, `high`, ...

        `confidence` is a percentage, `interval` `percentile` or `bca`, `clusters` as in `compare`. Limits
        are None where too many resamples are undefined; `note` is what a reader must know of it. More than 100,000
        resamples are drawn with `force` alone.
        Raises UsageError for impossible arguments, several runs and a result that was loaded from JSON, InputError
        where there is no unit.
        """
        settings = resampling_of(bootstrap, seed, confidence, interval, clusters, force=force)
        return rows_of(INTERVALS.table(self._intervals(settings)))

    @checked
    def report(self, measure: str | None = None) -> Report:
        """Return a page of what each mistake costs, as `cs-score report` makes it; a notebook shows it.

        `measure` is what gains are measured by, None for the one that ranks leaderboards. Raises UsageError for a
        measure that there is not and for a result that was loaded from JSON, InputError for a run without that score,
        MissingExtraError without jinja2 (`pip install 'cs-score[report]'`).
        """
        analysis = task_named(self.task).analyze(self._for_analysis("report"), measure)
        return pages.Report(analysis)

    def _scored(self, method: str) -> Source:
        """Return the source of a result that was scored. Raises UsageError, which names `method`, for a loaded one."""
        if self._source is None:
            raise UsageError(f"{method} needs {self._needed} again")
        return self._source

    def _intervals(self, settings: Resampling) -> ScoreIntervals:
        """Return the intervals of all scores. Raises UsageError for a loaded result."""
        raise NotImplementedError

    def _for_analysis(self, method: str) -> Any:
        """Return the value that analyses of the task begin with. Raises UsageError as `_scored`."""
        return self._scored(method)

    def _to_compare(self) -> Any:
        """Return the value that comparisons begin with. Raises UsageError for several runs and for a loaded result."""
        return self._scored("compare")

    def _notes(self) -> Sequence[str]:
        return [*self.remarks[:_MOST_REMARKS], str(self.signature)]


def task_of(function: str, *results: object) -> Task:
    """Return the task of some results.

    Raises UsageError, which names `function`, if they are not results, or are results of several tasks.
    """
    names = {result.task if isinstance(result, AnyResult) else None for result in results}
    if len(names) != 1 or None in names:
        wanted = "a result" if len(results) == 1 else "results of one kind"
        shown = " and ".join([repr(result) for result in results])
        raise UsageError(f"{function} takes {wanted}, not {shown}")
    (name,) = names
    return task_named(str(name))
