"""How explanations of results are shown, for every task."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from cs_score.analysis.views import DocumentView
from cs_score.base.display import prose_width
from cs_score.base.runtime import Late
from cs_score.tasks import COLD_START

if TYPE_CHECKING:
    from cs_score.verbs.explain import evidence_text
    from cs_score.verbs.explain.run_explanation import document as coldstart_document
    from cs_score.verbs.explain.run_explanation.document import RunExplanation
else:  # a call explains results of one task only
    coldstart_document = Late("cs_score.verbs.explain.run_explanation.document")
    evidence_text = Late("cs_score.verbs.explain.evidence_text")


def view_of_explanations(task: Any) -> DocumentView:
    """Return how explanations of a task's results are shown: their tables and their text."""
    if task.name == COLD_START:
        return DocumentView((coldstart_document.STEPS,), _text_of_run_explanation)
    return DocumentView(evidence_text.layouts_of(task.mode), partial(evidence_text.text_of, task.mode))


def _text_of_run_explanation(explanation: RunExplanation, terminal_width: int | None, top: int | None = None) -> str:
    """Return the text of an explanation of a Cold Start run; it is never shortened to `top` rows."""
    return str(explanation.text(prose_width(terminal_width, fits_one_screen=True)))
