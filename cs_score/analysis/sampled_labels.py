"""Estimates of scores of judged answers, if only a sample of them was assessed with known probabilities.

If all answers have labels of a first assessor, such as a model, and a second assessor labelled a sample, the first
labels are predictions, and the sample corrects them: prediction-powered inference. See
docs/statistics/sampled-pools.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from cs_score.analysis.sampled_pools import (
    AnswerNumbers,
    Inclusion,
    SampledItem,
    SampledPoolDocument,
    SampledRunItems,
    Stratum,
    estimate_runs,
)
from cs_score.base.errors import UsageError
from cs_score.base.runtime import Late
from cs_score.base.sources import Input
from cs_score.evidence.mode import ScoredPredictions
from cs_score.evidence.reading import read_input

if TYPE_CHECKING:
    from cs_score.judged import policy as policies
    from cs_score.judged import sampled as samples
    from cs_score.judged.labelled_lines import JudgedFile
    from cs_score.judged.sampled import SampledAnswer
else:  # other commands of this module's users work without the room of judged answers
    policies = Late("cs_score.judged.policy")
    samples = Late("cs_score.judged.sampled")

MEASURE: Final = "micro-p"
"""The measure that is estimated."""

STRATUM_COLUMNS: Final[Sequence[str]] = ("unit", "answer", "evidence")
"""The columns of the table of strata that describe an answer."""

STRATUM_COLUMNS_OF_SECOND: Final[Sequence[str]] = (*STRATUM_COLUMNS, "label")
"""The columns if a second assessor labelled the sample, which may have been drawn by the labels of the first one."""


def read_second_assessments(result: ScoredPredictions, file: Input | None) -> JudgedFile | None:
    """Return the file of a second assessor's labels of judged answers; None if no file is given.

    Raises InputError for a file that has no labels, and for a label that the policy of the result does not name;
    UsageError for the result of a task whose answers have no labels.
    """
    mode: Any = result.mode
    if not mode.has_policies:
        raise UsageError(f"--inclusion is about answers that somebody has judged, which {mode.name} has not")
    if file is None:
        return None
    second_labels: JudgedFile = read_input(file, "gold", mode.gold, has_lines=True).content
    policies.check_labels(mode.policy, second_labels.count_by_label, second_labels.name)
    return second_labels


def estimate_from_labels(
    results: Mapping[str, ScoredPredictions], second: JudgedFile | None, inclusion: Inclusion, confidence: float = 95.0
) -> SampledPoolDocument:
    """Return estimates for each run of judged answers, by name, and for the difference of every two runs.

    Raises InputError for an answer that fits no stratum, a stratum without assessed answers, and an answer that was not
    assessed though that was certain.
    """
    number_by_answer: AnswerNumbers = {}
    runs = {}
    for name, result in results.items():
        items = []
        for answer in samples.sampled_answers(result.units, second):
            items.append(_item(answer, result, inclusion, number_by_answer, has_predictions=second is not None))
        sums: Any = dict(zip(result.table.columns, result.table.sums()))
        runs[name] = SampledRunItems(
            name=name,
            items=items,
            score=result.scores[MEASURE],
            score_right=sums["right"],
            signature=str(result.origin.signature.of(MEASURE)),
        )
    task = next(iter(results.values())).mode.name
    return estimate_runs(task, MEASURE, runs, inclusion, confidence)


def _item(
    answer: SampledAnswer,
    result: ScoredPredictions,
    inclusion: Inclusion,
    number_by_answer: AnswerNumbers,
    *,
    has_predictions: bool,
) -> SampledItem:
    """Return an answer as an item of a sample.

    If `has_predictions`, the label of the first assessor predicts whether the answer is right; otherwise the prediction
    of its stratum does. Raises InputError if the answer fits no stratum, or was not assessed though that was certain.
    """
    line = answer.line
    cells = {"unit": answer.unit, "answer": line.answer, "evidence": line.evidence, "label": answer.first_label}
    place = f"{result.names[1]} line {line.number} ({answer.unit}, {line.answer})"
    position = inclusion.stratum_of(cells, line.confidence, place)
    stratum: Stratum = inclusion.strata[position]
    if not answer.is_sampled and stratum.probability == 1:
        inclusion.refuse_unassessed(stratum, f"{result.names[1]} line {line.number}")
    number = number_by_answer.setdefault(answer.identity, len(number_by_answer))
    return SampledItem(
        right=answer.value or 0.0,
        times_counted=float(answer.value is not None),
        is_assessed=answer.is_sampled,
        draw_probability=1.0,
        answer=number,
        parent=number,
        draw_probability_of_parent=stratum.probability,
        stratum=position,
        prediction=(answer.predicted or 0.0) if has_predictions else stratum.prediction,
    )
