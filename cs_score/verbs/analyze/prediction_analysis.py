"""The analysis of a result of an evidence task: what each mistake costs, and everything else that explains the score. A
unit of the result is a claim, an instance or a question with its predictions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import UNSET, UnsetType

from cs_score.analysis.evidence.evidence_task import EvidenceTask
from cs_score.analysis.evidence.examination import CostedMistakes, Examination
from cs_score.analysis.evidence.mistake_records import (
    ConfusionCount,
    EvidenceBudgetRow,
    EvidenceExplanations,
    EvidenceGroup,
    EvidenceMistake,
    EvidenceScenario,
    PolicyScores,
)
from cs_score.base.documents import Document
from cs_score.base.runtime import paused_garbage_collection
from cs_score.evidence.mode import Progress, ScoredPredictions
from cs_score.tables.layout import TOP


class EvidenceAnalysis(Document, frozen=True, kw_only=True, tag="analysis"):
    """Why a score is what it is.

    `score` is that of the measure that was asked about, 0..1. `mistakes` are sorted by gain, at most `top`; `budget`
    has a row for each kind of mistakes, `groups` are by dimension; `units` counts those that were scored. `head` says
    what was scored, `undefined` why measures have no value; `scenarios` and `policies` are there in tasks that have
    them.
    """

    schema_version: Literal[3] = 3
    head: tuple[str, ...] | UnsetType = UNSET
    score: float
    scores: dict[str, float]
    undefined: dict[str, str] | UnsetType = UNSET
    scenarios: tuple[EvidenceScenario, ...] | UnsetType = UNSET
    policies: tuple[PolicyScores, ...] | UnsetType = UNSET
    units: int
    top: int | UnsetType = UNSET
    mistakes: Sequence[EvidenceMistake]
    budget: tuple[EvidenceBudgetRow, ...]
    groups: dict[str, tuple[EvidenceGroup, ...]]
    confusions: tuple[ConfusionCount, ...]
    explanations: EvidenceExplanations | UnsetType = UNSET


@paused_garbage_collection()
def analyze(
    task: EvidenceTask,
    result: ScoredPredictions,
    measure: str | None = None,
    *,
    top: int | None = None,
    is_whole: bool = True,
    progress: Progress = iter,
    policies: Sequence[str] = (),
) -> EvidenceAnalysis:
    """Return the analysis of a result: its mistakes, error budget, groups, confusions, and scores under other policies.

    The analysis lists the `top` costliest mistakes and explains their units in words. If `top` is None, it lists all
    mistakes and explains all units. Without `is_whole`, the analysis has no explanations, and if `top` is None, it
    lists only as many mistakes as a text shows. `progress` shows how many predictions, and then how many mistakes, have
    been processed. `policies` are further policies to score under. Raises UsageError if the measure is unknown.
    """
    examination = Examination(result, task.measure_for(measure, result))
    budget = examination.budget(progress(examination.entries))
    costs = examination.costs(examination.entries, progress)
    listed_count = top  # None for all
    if not is_whole:
        listed_count = top or TOP  # as many as a text shows
    listed_costs = costs[:listed_count]
    explanations: EvidenceExplanations | UnsetType = UNSET
    if is_whole:
        explanations = examination.explanations(listed_costs, with_others=top is None)
    return EvidenceAnalysis(
        **examination.common_fields,
        scenarios=examination.scenarios(),
        policies=examination.policies(policies),
        units=len(result.units),
        top=UNSET if top is None else top,
        mistakes=CostedMistakes(examination, listed_costs),
        budget=budget,
        groups=examination.groups(costs),
        confusions=examination.confusions(),
        explanations=explanations,
    )
