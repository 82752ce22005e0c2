"""Estimates of scores of judged answers, if only a sample of them was assessed with known probabilities. A stratum is a
group of answers that were assessed with the same probability. The measure is micro-p, the share of right answers.

If all answers have labels of a first assessor, such as a model, and a second assessor labelled a sample, the first
labels are predictions, and the sample corrects them: prediction-powered inference. See
docs/statistics/sampled-pools.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from cs_score.analysis.sampled_pools import (
    AnswerNumbers,
    SampledItem,
    SampledPoolDocument,
    SampledRunItems,
    StrataTable,
    Stratum,
    estimate_runs,
)
from cs_score.base.errors import UsageError
from cs_score.base.records import Record
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

STRATUM_COLUMNS_WITH_SECOND_LABELS: Final[Sequence[str]] = (*STRATUM_COLUMNS, "label")
"""The columns if a second assessor labelled the sample, which may have been drawn by the labels of the first one."""


def read_second_assessments(result: ScoredPredictions, file: Input | None) -> JudgedFile | None:
    """Return the file with a second assessor's labels for judged answers, or None if no file is given.

    Without a file, the function still checks the task of the result: `--inclusion` always needs a task with labels.
    Raises InputError for a file without labels, and for a label that the policy of the result does not name. Raises
    UsageError if the answers of the task do not have labels.
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
    results: Mapping[str, ScoredPredictions],
    second_assessments: JudgedFile | None,
    strata_table: StrataTable,
    confidence: float = 95.0,
) -> SampledPoolDocument:
    """Return what runs of judged answers would score if all answers were assessed, estimated from a sample.

    `results` are the runs by name. The difference between every two runs is also estimated. `second_assessments` has
    the labels of a second assessor, or is None if there was no second assessor. `strata_table` has the strata, each
    with the probability that an answer was assessed. Raises InputError for an answer without a stratum, for a stratum
    without assessed answers, and for an answer that was not assessed although the probability of its stratum is 1.
    """
    # Each run adds its answers to this mapping, so that an answer has the same number in all runs.
    number_by_answer: AnswerNumbers = {}
    # With second assessments, all answers have first labels (from the gold file), which predict the labels of the
    # sample. Without them, the labels of the gold file are the sample.
    has_first_labels = second_assessments is not None
    items_by_run = {}
    for name, result in results.items():
        run = _JudgedRun(result, strata_table, number_by_answer, has_first_labels)
        items_by_run[name] = run.sampled_items(name, second_assessments)
    task = next(iter(results.values())).mode.name
    return estimate_runs(task, MEASURE, items_by_run, strata_table, confidence)


class _JudgedRun(Record):
    """A scored run of judged answers, of which a sample was assessed, and the strata of the sample.

    An item of the sample is an answer with the probability that it was assessed. `number_by_answer` numbers the answers
    of all runs; the answers of this run are added to it. If `has_first_labels`, all answers have labels of a first
    assessor, which predict whether they are right; otherwise the table of strata has a prediction.
    """

    result: ScoredPredictions
    strata_table: StrataTable
    number_by_answer: AnswerNumbers
    has_first_labels: bool

    def sampled_items(self, name: str, second_assessments: JudgedFile | None) -> SampledRunItems:
        """Return the answers of the run, which is called `name` in messages, with its ordinary score.

        `second_assessments` has the labels of a second assessor, or is None if there was none.
        """
        answers = samples.sampled_answers(self.result.units, second_assessments)
        sums: Any = dict(zip(self.result.table.columns, self.result.table.sums()))
        return SampledRunItems(
            name=name,
            items=[self._item(answer) for answer in answers],
            score=self.result.scores[MEASURE],
            right_count=sums["right"],
            signature=str(self.result.origin.signature.of(MEASURE)),
        )

    def _item(self, answer: SampledAnswer) -> SampledItem:
        """Return an answer of the run with its value, and with the probability that it was assessed.

        Items of a sample may have a parent that is drawn first. A judged answer is its own parent: as the parent, it is
        drawn with the probability of its stratum, and as the child, with the probability 1. Raises InputError if the
        answer has no stratum, or if it was not assessed although the probability is 1.

        The value of an assessed answer is 1 if it is right, 0 if it is wrong, and None if the policy ignores it.
        """
        position = self._stratum_of(answer)
        stratum: Stratum = self.strata_table.strata[position]
        if stratum.probability == 1 and not answer.is_sampled:
            self.strata_table.refuse_unassessed(stratum, self._place_of(answer))
        answer_number = self.number_by_answer.setdefault(answer.identity, len(self.number_by_answer))
        is_counted = answer.value is not None
        prediction = stratum.prediction
        if self.has_first_labels:
            prediction = answer.predicted_value or 0.0
        return SampledItem(
            right=answer.value or 0.0,
            times_counted=float(is_counted),
            is_assessed=answer.is_sampled,
            draw_probability=1.0,
            answer=answer_number,
            parent=answer_number,
            draw_probability_of_parent=stratum.probability,
            stratum=position,
            prediction=prediction,
        )

    def _stratum_of(self, answer: SampledAnswer) -> int:
        """Return the position of the first stratum that an answer fits. Raises InputError if the answer fits none."""
        line = answer.line
        # With a second assessor, strata may depend on the label that the first assessor gave the answer.
        cells = {"unit": answer.unit, "answer": line.answer, "evidence": line.evidence, "label": answer.first_label}
        place = f"{self._place_of(answer)} ({answer.unit}, {line.answer})"
        return self.strata_table.stratum_of(cells, line.confidence, place)

    def _place_of(self, answer: SampledAnswer) -> str:
        """Return the file and line of an answer: `answers.jsonl line 12`."""
        _, file_of_predictions = self.result.names
        return f"{file_of_predictions} line {answer.line.number}"
