"""The explanation of how units of an evidence task were scored, or of the score of a whole run. A unit is a claim, an
instance or a question. The cost of a mistake is what its correction would gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import UNSET, UnsetType

from cs_score.analysis.evidence.evidence_task import EvidenceTask
from cs_score.analysis.evidence.examination import Examination
from cs_score.analysis.evidence.mistake_records import EvidenceMistake, ExplainedUnit
from cs_score.base.documents import Document
from cs_score.evidence.mode import Progress, ScoredPredictions

LARGEST_COSTS: Final = 3
"""The number of mistakes that an explanation of a whole run shows."""


class EvidenceExplanation(Document, frozen=True, kw_only=True, tag="explanation"):
    """Units explained, or the whole run: then `units` is empty and `mistakes` has its largest costs.

    `scores` and `statistics` are those of the run, `head` says what was scored, `undefined` why measures have no value.
    """

    schema_version: Literal[3] = 3
    head: tuple[str, ...] | UnsetType = UNSET
    undefined: dict[str, str] | UnsetType = UNSET
    units: tuple[ExplainedUnit, ...]
    mistakes: tuple[EvidenceMistake, ...]
    score: float
    scores: dict[str, float]
    statistics: dict[str, int | float]


def explain(
    task: EvidenceTask,
    result: ScoredPredictions,
    units: Sequence[str | int] = (),
    measure: str | None = None,
    *,
    progress: Progress = iter,
) -> EvidenceExplanation:
    """Return the explanation of how units were scored, with the costs of their mistakes.

    `units` are the ids of the units to explain. If an id occurs several times in gold, all units with this id are
    explained. Without ids, the explanation has the costliest mistakes of the run, and `progress` shows how many of the
    mistakes have been examined. Raises UsageError for an unknown measure and InputError for an unknown unit.
    """
    # An examination finds the mistakes of the units, and computes their costs.
    examination = Examination(result, task.measure_for(measure, result))
    if units:
        return _make_explanation(examination, units=_explain_units(examination, units))
    costs = examination.costs(examination.entries, progress)  # the largest first
    mistakes = [examination.mistake(cost) for cost in costs[:LARGEST_COSTS]]
    return _make_explanation(examination, mistakes=tuple(mistakes))


def _explain_units(examination: Examination, ids: Sequence[str | int]) -> tuple[ExplainedUnit, ...]:
    """Return explanations of the units with these ids. Raises InputError for an unknown id."""
    positions: list[int] = []
    for unit_id in ids:
        positions += examination.result.positions_of(unit_id)
    return examination.explain_units(positions)


def _make_explanation(
    examination: Examination, units: tuple[ExplainedUnit, ...] = (), mistakes: tuple[EvidenceMistake, ...] = ()
) -> EvidenceExplanation:
    """Return the document that explains some units, or the costliest mistakes of the whole run.

    Its first fields (task, measure, signature, scores and so on) are the same in all documents about the result.
    """
    unit_table = examination.result.table
    statistics = dict(zip(unit_table.columns, unit_table.sums()))  # the totals of the counts of all units
    return EvidenceExplanation(**examination.common_fields, units=units, mistakes=mistakes, statistics=statistics)
