"""Analyses for every task: choose what analyses a result of Cold Start, or of evidence, and how analyses are shown."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from cs_score.analysis.views import DocumentView
from cs_score.base.runtime import Late
from cs_score.tables.layout import TOP
from cs_score.tasks import COLD_START

if TYPE_CHECKING:
    from cs_score.verbs.analyze import evidence_text
    from cs_score.verbs.analyze import prediction_analysis as evidence
    from cs_score.verbs.analyze import run_analysis as coldstart
    from cs_score.verbs.analyze import run_tables as layouts
    from cs_score.verbs.analyze import run_text as coldstart_text
else:  # a call analyses results of one task only
    coldstart = Late("cs_score.verbs.analyze.run_analysis")
    coldstart_text = Late("cs_score.verbs.analyze.run_text")
    evidence = Late("cs_score.verbs.analyze.prediction_analysis")
    evidence_text = Late("cs_score.verbs.analyze.evidence_text")
    layouts = Late("cs_score.verbs.analyze.run_tables")


def analyze_result(
    task: Any,
    result: Any,
    measure: str | None = None,
    *,
    top: int | None = None,
    is_whole: bool = True,
    **settings: Any,
) -> Any:
    """Return the analysis of a result of a task: what each mistake costs, the error budget, and groups.

    `measure` is the measure to analyse, by default the headline measure. At most `top` mistakes are listed. With
    `is_whole` the analysis explains how everything was scored, and lists all mistakes if `top` is None. Without
    `is_whole` the analysis has only the parts of a first screen, and lists `TOP` mistakes if `top` is None. `settings`
    are further arguments of the function for the task, such as `progress`.
    """
    if task.name != COLD_START:
        return evidence.analyze(task, result, measure, top=top, is_whole=is_whole, **settings)
    mistake_count = top
    if not is_whole and not top:
        mistake_count = TOP  # as many as a text shows
    return coldstart.analyze(result, measure, mistake_count, with_explanations=is_whole, **settings)


def view_of_analyses(task: Any) -> DocumentView:
    """Return how analyses of a task's results are shown: their tables and their text."""
    if task.name == COLD_START:
        return DocumentView(layouts.LAYOUTS, coldstart_text.text_of)
    return DocumentView(evidence_text.layouts_of(task.mode), partial(evidence_text.text_of, task.mode))
