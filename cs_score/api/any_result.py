"""The base class of the results of all tasks. A result that was scored has a source: the scored lines of a run or the
scored predictions. A result that was loaded from JSON has no source, so some methods refuse it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, TypeVar

from cs_score.api.arguments import ClustersArgument, checked, resampling_of
from cs_score.api.result_tables import INTERVALS
from cs_score.api.shown import ShownDocument, member, rows_of
from cs_score.base.errors import UsageError
from cs_score.base.runtime import Late
from cs_score.base.signature import Signature
from cs_score.base.slices import load_from_command_package
from cs_score.statistics.resampling_settings import IntervalMethod, Resampling
from cs_score.tasks import task_named

if TYPE_CHECKING:
    from cs_score.api import pages
    from cs_score.api.pages import Report
    from cs_score.statistics.results import ScoreIntervals
    from cs_score.tasks.task import Task
else:
    pages = Late("cs_score.api.pages")  # few calls make pages

_MOST_REMARKS: Final = 5
"""How many remarks a notebook shows."""

Source = TypeVar("Source")


class AnyResult(ShownDocument, Generic[Source]):
    """A result of any task.

    A result that was scored keeps its source, from which it can be scored again. A result that was loaded from JSON has
    no source.
    """

    _notebook_table = "scores"
    _citation_members = ("signature", "origin")

    _source: Source | None

    _source_in_words: ClassVar[str]
    """The end of a message about a loaded result: "... needs the lines of the run, which JSON does not hold; ..."."""

    task: str = member("`coldstart`, `scifact`, `claims`, `r4c` or `hotpotqa`.")

    @property
    def remarks(self) -> tuple[str, ...]:
        """What you should know beside the problems, one line each: a run without any assessment, a doubtful policy."""
        return tuple(self._document.remarks)

    signature: Signature = member(
        "A citable line that says what the scores were computed from: `str` prints it, `Signature.parse` reads it.\n\n"
        '`signature.of("SF-AP")` is the signature for another measure.',
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
        clusters: ClustersArgument = None,
        force: bool = False,
    ) -> list[dict[str, Any]]:
        """Return a row for each score with the limits of its bootstrap interval.

        For example `{"measure": "SF-ALL-Micro-F1", "score": 0.28, "low": 0.21, "high": 0.35, "note": None}`.

        `bootstrap` is the number of resamples, `confidence` a percentage, and `interval` is `percentile` or `bca`.
        `clusters` has the same meaning as in `compare`. The limits `low` and `high` are None if too many resamples are
        undefined; `note` explains such limits. More than 100,000 resamples are drawn only with `force`.

        Raises UsageError for impossible arguments, for several runs and for a result that was loaded from JSON,
        InputError if there are no units.
        """
        settings = resampling_of(bootstrap, seed, confidence, interval, clusters, force=force)
        return rows_of(INTERVALS.table(self._intervals(settings)))

    @checked
    def report(self, measure: str | None = None) -> Report:
        """Return the page that `cs-score report` makes, which says what each mistake costs; notebooks can show it.

        `measure` is the measure by which gains are computed, by default the measure that ranks leaderboards. Raises
        UsageError for an unknown measure and for a result that was loaded from JSON, InputError for a run without a
        score by the measure, and MissingExtraError if jinja2 is missing (`pip install 'cs-score[report]'`).
        """
        # The function belongs to the command `analyze`, which an installation may lack.
        analyze_result = load_from_command_package("analyze", "by_task:analyze_result", needed_by="report")
        scored_result = self._for_analysis("report")
        return pages.Report(analyze_result(task_named(self.task), scored_result, measure))

    def _require_source(self, method: str) -> Source:
        """Return the scored lines or predictions from which the result was made, for the method called `method`.

        Raises UsageError, which names the method, for a result that was loaded from JSON: it has no source.
        """
        if self._source is None:
            raise self._missing_source_error(method)
        return self._source

    def _missing_source_error(self, method: str) -> UsageError:
        """Return the error that `method` cannot be called, since the result was loaded and has no source."""
        return UsageError(f"{method} needs {self._source_in_words} again")

    def _intervals(self, settings: Resampling) -> ScoreIntervals:
        """Return the bootstrap intervals of all scores. Raises UsageError for a result that was loaded."""
        raise NotImplementedError

    def _for_analysis(self, method: str) -> Any:
        """Return the scored result in the form that analyses of the task take.

        Raises UsageError, which names `method`, for a result that was loaded.
        """
        return self._require_source(method)

    def _result_to_compare(self) -> Any:
        """Return the scored result in the form that comparisons take.

        Raises UsageError for several runs and for a result that was loaded.
        """
        return self._require_source("compare")

    def _notes(self) -> Sequence[str]:
        """Return the notes that notebooks show below the table: the first remarks, and the signature."""
        return [*self.remarks[:_MOST_REMARKS], str(self.signature)]


def task_of(function: str, results: Sequence[object]) -> Task:
    """Return the common task of some results, such as SciFact.

    Raises UsageError if one of the values is not a result, or if the results belong to several tasks. The message names
    `function`, the public function that got them.
    """
    results_of_tasks = [result for result in results if isinstance(result, AnyResult)]
    task_names = {result.task for result in results_of_tasks}
    if len(results_of_tasks) < len(results) or len(task_names) != 1:
        expectation = "a result" if len(results) == 1 else "results of one kind"
        values = " and ".join([repr(result) for result in results])
        raise UsageError(f"{function} takes {expectation}, not {values}")
    (task_name,) = task_names
    return task_named(task_name)
