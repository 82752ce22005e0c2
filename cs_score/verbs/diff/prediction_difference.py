"""The difference of two results of an evidence task: what each unit contributes, and what was judged differently."""

from __future__ import annotations

from msgspec import UNSET

from cs_score.analysis.evidence.evidence_task import EvidenceTask
from cs_score.analysis.outcomes import Side, Sides, head_of
from cs_score.evidence.mode import ScoredPredictions
from cs_score.statistics.resampling_settings import Resampling
from cs_score.verbs.diff.evidence_documents import EvidenceDifference
from cs_score.verbs.diff.evidence_pair import ExaminedPair


def diff(
    task: EvidenceTask,
    a: ScoredPredictions,
    b: ScoredPredictions,
    measure: str | None = None,
    *,
    names: tuple[str, str] = ("A", "B"),
    top: int | None = None,
    resampling: Resampling | None = None,
) -> EvidenceDifference:
    """Return the difference of two results, with the contribution of each unit to the difference of their scores.

    `names` are the names of A and B in texts. At most `top` units and answers are listed. `resampling` has the
    settings of the interval and the p-values, as in a comparison. Raises UsageError for results of different tasks
    and for an unknown measure.
    """
    task.measures((a, b))  # raises UsageError for results of different tasks
    measure = task.measure_for(measure, a, b)
    pair = ExaminedPair(a, b, measure)
    sides = Sides(
        a=Side(names[0], a.table, a.scores[measure], a.origin),
        b=Side(names[1], b.table, b.scores[measure], b.origin),
        measure=measure,
        formula=pair.a.formula,
        unit=task.mode.unit,
        units=f"{task.mode.unit}s",
        has_contributions=pair.has_contributions,
    )
    head = head_of(sides, resampling)
    heads = {"a": a.head, "b": b.head} if a.head or b.head else UNSET
    differing = pair.answers()
    return EvidenceDifference(
        task=task.mode.name,
        **head,
        heads=heads,
        top=UNSET if top is None else top,
        units=tuple(pair.units()[:top]),
        answers=tuple(differing.answers[:top]),
        outcomes=differing.outcomes,
        groups=pair.groups(),
    )
