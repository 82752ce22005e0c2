"""The difference of two results of an evidence task, A and B: what each unit (a claim, an instance or a question)
contributes to the difference of their scores, and what was judged differently.
"""

from __future__ import annotations

from msgspec import UNSET

from cs_score.analysis.evidence.evidence_task import EvidenceTask
from cs_score.analysis.evidence.examination import Examination
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

    `names` are the names of A and B in the output. At most `top` units and answers are listed. `resampling` holds the
    settings for the interval and the p-values, as in a comparison. Raises UsageError if the results are of different
    tasks, or if the measure is unknown.
    """
    task.measures((a, b))  # raises UsageError for results of different tasks
    pair = ExaminedPair(a, b, task.measure_for(measure, a, b))
    shared_fields = head_of(_sides_of(pair, names), resampling)  # names, scores, interval, p-value, as of a comparison
    # The head of a system's predictions has sentences about its inputs. It is not the head of the document above.
    input_sentences = UNSET if not (a.head or b.head) else {"a": a.head, "b": b.head}
    differing_answers = pair.answers()
    return EvidenceDifference(
        task=task.mode.name,
        **shared_fields,
        heads=input_sentences,
        top=UNSET if top is None else top,
        units=tuple(pair.units()[:top]),
        answers=tuple(differing_answers.answers[:top]),
        outcomes=differing_answers.outcomes,
        groups=pair.groups(),
    )


def _sides_of(pair: ExaminedPair, names: tuple[str, str]) -> Sides:
    """Return two results as the sides of a comparison, under the names that people give them."""
    unit = pair.a.mode.unit
    return Sides(
        a=_side_of(pair.a, names[0]),
        b=_side_of(pair.b, names[1]),
        measure=pair.a.measure,
        formula=pair.a.formula,
        unit=unit,
        units=f"{unit}s",
        has_contributions=pair.has_contributions,
    )


def _side_of(examination: Examination, name: str) -> Side:
    """Return a result as one side of a comparison: its name, units, score and origin."""
    result = examination.result
    return Side(name, result.table, result.scores[examination.measure], result.origin)
