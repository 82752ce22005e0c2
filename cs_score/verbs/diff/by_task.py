"""Differences for every task: choose what compares two results of Cold Start, or of evidence, and how it is shown."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from cs_score.analysis.views import DocumentView
from cs_score.base.runtime import Late, paused_garbage_collection
from cs_score.statistics.resampling_settings import Resampling
from cs_score.tasks import COLD_START

if TYPE_CHECKING:
    from cs_score.verbs.diff import evidence_text
    from cs_score.verbs.diff import prediction_difference as evidence
    from cs_score.verbs.diff import run_difference as coldstart
    from cs_score.verbs.diff import run_tables as layouts
    from cs_score.verbs.diff import run_text as coldstart_text
else:  # a call compares results of one task only
    coldstart = Late("cs_score.verbs.diff.run_difference")
    coldstart_text = Late("cs_score.verbs.diff.run_text")
    evidence = Late("cs_score.verbs.diff.prediction_difference")
    evidence_text = Late("cs_score.verbs.diff.evidence_text")
    layouts = Late("cs_score.verbs.diff.run_tables")


def difference_of_results(
    task: Any,
    a: Any,
    b: Any,
    measure: str | None = None,
    *,
    names: tuple[str, str] = ("A", "B"),
    top: int | None = None,
    resampling: Resampling | None = None,
) -> Any:
    """Return the document that explains, unit by unit, why result B scores differently from result A.

    The document is a `RunDifference` for Cold Start runs, and an `EvidenceDifference` for results of evidence tasks.
    `measure` defaults to the headline measure. `names` are the names of A and B in the output. For evidence tasks, at
    most `top` units and answers are listed; the difference between two Cold Start runs always lists all of them.
    `resampling` holds the settings for the interval and the p-values; None selects the defaults.
    """
    if task.name == COLD_START:
        with paused_garbage_collection():  # many small objects are created, but no reference cycles
            return coldstart.diff(a, b, measure, names=names, resampling=resampling)
    return evidence.diff(task, a, b, measure, names=names, top=top, resampling=resampling)


def view_of_differences(task: Any) -> DocumentView:
    """Return how differences between a task's results are shown: their tables and their text."""
    if task.name == COLD_START:
        return DocumentView(layouts.LAYOUTS, coldstart_text.text_of)
    return DocumentView(evidence_text.layouts_of(task.mode), partial(evidence_text.text_of, task.mode))
