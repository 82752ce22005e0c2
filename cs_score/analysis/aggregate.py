"""The summary of a scored run for participants of a closed evaluation: scores with intervals, and counts of mistakes.

The summary says nothing about a single unit, line, answer or group, and quotes nothing from the gold data, so that it
can be shown to people who must not learn them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.budget import KINDS
from cs_score.analysis.coldstart.changes import Editor
from cs_score.analysis.coldstart.faults import find_faults
from cs_score.analysis.coldstart.scored import AnalysedRun
from cs_score.analysis.evidence.examination import Examination
from cs_score.base import VERSION
from cs_score.base.documents import Document
from cs_score.base.errors import UsageError
from cs_score.base.records import Record, replace
from cs_score.coldstart.unit_statistics import intervals_of_run, resampled_unit
from cs_score.evidence import mode as evidence
from cs_score.measures import measure_names, parse_measure
from cs_score.statistics.resampling_settings import Resampling, limits_in_words, note_sentences
from cs_score.statistics.results import ScoreIntervals
from cs_score.tables.layout import Layout, headed
from cs_score.tables.statistics import Printout

FEWEST_SHOWN: Final = 10
"""The smallest number of mistakes that is shown: a smaller one could tell something about single lines."""


class MeasuredScore(Record):
    """The score of a run by one measure, with the limits of its interval.

    `score` is None where the measure has no value for the run, the limits also where too many resamples have none.
    """

    measure: str
    score: float | None
    low: float | None
    high: float | None


class MistakeCount(Record):
    """The number of mistakes of a kind in the whole run; None where it is smaller than the smallest that is shown."""

    kind: str
    count: int | None


class Aggregate(Document, frozen=True, kw_only=True, tag="aggregate"):
    """Scores of a run with intervals, and how many mistakes of each kind it has; nothing about any part of it.

    `scores` begin with the measure that the document is about. `limits` says how the limits of the intervals came
    about: level, method, resamples, units, seed; `notes` are what a reader must know of them. Counts below `fewest`
    are not given. `version` is that of cs-score. `answered` says on how many of gold's units the run was scored where
    only the units that it predicts count, as `100 of 7,405 questions`.
    """

    schema_version: Literal[1] = 1
    version: str
    scores: tuple[MeasuredScore, ...]
    limits: str
    notes: tuple[str, ...]
    fewest: int
    mistakes: tuple[MistakeCount, ...]
    answered: str | UnsetType = UNSET

    @property
    def first(self) -> MeasuredScore:
        """The score by the measure that the document is about."""
        return self.scores[0]


def aggregate_of_run(scored: AnalysedRun, measure: str | None, resampling: Resampling) -> Aggregate:
    """Return the summary of a Cold Start run for participants of a closed evaluation.

    The score by `measure` comes first, even if it is undefined for the run; None means the headline measure. Raises
    UsageError for an unknown measure, and for a measure of a single hop.
    """
    first_measure = scored.headline if measure is None else parse_measure(measure)
    if first_measure.hop is not None:
        raise UsageError(f"{first_measure} is about one hop; --aggregate-only shows scores over all hops alone")
    unit = resampled_unit(scored.run.gold.has_clusters)
    return _make_aggregate(
        task=scored.origin.task,
        first_measure=str(first_measure),
        score_by_measure=scored.result.scores,
        intervals=intervals_of_run(scored.result, replace(resampling, unit=unit)),
        count_by_kind=_count_mistakes_of_run(scored),
    )


def _count_mistakes_of_run(scored: AnalysedRun) -> dict[str, int]:
    """Return the number of mistakes of each kind in a Cold Start run: `{"incorrect": 12, "missed": 30, ...}`.

    The error budget of `analyze` has the same kinds. Each kind stands for a category of wrong lines or of missed
    equivalence classes. A kind without mistakes has the count 0.
    """
    count_by_category: Counter[str | None] = Counter()
    for fault in find_faults(scored, Editor(scored.run, scored.run_id)):
        is_node = fault.kind == "node"
        if not is_node:  # the wrong lines of a node are faults themselves
            count_by_category[fault.category] += 1
    return {name: count_by_category[mistake_kind.category] for name, mistake_kind in KINDS.items()}


def aggregate_of_predictions(result: evidence.ScoredPredictions, measure: str, resampling: Resampling) -> Aggregate:
    """Return the summary of the predictions of an evidence task for participants of a closed evaluation.

    The score by `measure` comes first.
    """
    aggregate = _make_aggregate(
        task=result.origin.task,
        first_measure=measure,
        score_by_measure=result.scores,
        intervals=evidence.intervals(result, resampling),
        count_by_kind=_count_mistakes_of_predictions(result, measure),
    )
    return replace(aggregate, answered=result.origin.answered_count_text or UNSET)


def _count_mistakes_of_predictions(result: evidence.ScoredPredictions, measure: str) -> dict[str, int]:
    """Return the number of mistakes of each kind among the predictions of an evidence task.

    Kinds that differ only in the gold label are counted together: `wrong_answer:WRONG` and `wrong_answer:RIGHT` are
    both counted as `wrong_answer`. A kind without mistakes has the count 0.
    """
    count_by_kind = {_without_label(kind): 0 for kind in result.mode.kinds}
    for examined_unit in Examination(result, measure).entries:
        for fault in examined_unit.faults:
            count_by_kind[_without_label(fault.kind)] += 1
    return count_by_kind


def _without_label(kind: str) -> str:
    """Return a kind of mistakes without the gold label that it may name: `wrong_answer:WRONG` -> `wrong_answer`."""
    return kind.partition(":")[0]


def _make_aggregate(
    task: str,
    first_measure: str,
    score_by_measure: Mapping[str, float],
    intervals: ScoreIntervals,
    count_by_kind: Mapping[str, int],
) -> Aggregate:
    """Return a summary of the scores, their intervals and the number of mistakes of each kind.

    It leaves out scores of single hops, and numbers of mistakes below `FEWEST_SHOWN`.
    """
    # The shown measures do not include measures of a single hop.
    other_measures = [name for name in shown_measures(task, score_by_measure) if name != first_measure]
    measures = [first_measure, *other_measures]
    scores = [_score_with_interval(measure, score_by_measure, intervals) for measure in measures]
    mistakes = [_mistake_count(kind, count) for kind, count in count_by_kind.items()]
    return Aggregate(
        task=task,
        measure=first_measure,
        version=VERSION,
        scores=tuple(scores),
        limits=limits_in_words(intervals.resampling, intervals.units),
        notes=tuple(note_sentences(intervals.notes)),
        fewest=FEWEST_SHOWN,
        mistakes=tuple(mistakes),
    )


def _mistake_count(kind: str, count: int) -> MistakeCount:
    """Return the number of mistakes of a kind, as it is shown: a number below `FEWEST_SHOWN` is replaced by None."""
    if count < FEWEST_SHOWN:
        return MistakeCount(kind, None)
    return MistakeCount(kind, count)


def shown_measures(task: str, score_by_measure: Mapping[str, float]) -> Sequence[str]:
    """Return the measures over all hops that the summary shows, in the order in which the task lists them.

    These are all measures of every table in which the run has a score. For example, `SF-AP` is shown as undefined if
    only other measures of the SF table, such as `SF-ALL-Micro-F1`, have a value.
    """
    tables = {_table_of(measure) for measure in score_by_measure}
    measures = []
    for measure in measure_names(task):  # all of them are over all hops
        if _table_of(measure) in tables:
            measures.append(measure)
    return measures


def _table_of(measure: str) -> str:
    """Return the name of the table that a Cold Start measure belongs to: `LDC-MEAN-AP` -> `LDC-MEAN`.

    All measures of another task belong to a single table, whose name is empty.
    """
    for table in ("SF", "LDC-MAX", "LDC-MEAN"):
        if measure.startswith(f"{table}-"):
            return table
    return ""


def _score_with_interval(
    measure: str, score_by_measure: Mapping[str, float], intervals: ScoreIntervals
) -> MeasuredScore:
    """Return the score by a measure with the limits of its interval. An undefined score or limit is None."""
    score = score_by_measure.get(measure)
    interval = intervals.scores.get(measure)
    if interval is None:
        return MeasuredScore(measure, score, None, None)
    return MeasuredScore(measure, score, interval.low, interval.high)


# ---- The tables of the summary


def _score_rows(aggregate: Aggregate) -> Iterator[dict[str, Any]]:
    """Yield a row for each score, with the limits of its interval; a score without a value is called `undefined`."""
    for score in aggregate.scores:
        value = "undefined" if score.score is None else score.score
        yield {"measure": score.measure, "score": value, "low": score.low, "high": score.high}


def _mistake_rows(aggregate: Aggregate) -> Iterator[dict[str, Any]]:
    """Yield a row for each kind of mistake, with its count, or with `fewer than 10` if the count is smaller."""
    for mistake in aggregate.mistakes:
        count = f"fewer than {aggregate.fewest}" if mistake.count is None else mistake.count
        yield {"kind": mistake.kind, "count": count}


SCORES: Final = Layout(
    "scores",
    "Scores",
    headed(measure="Measure", score="Score", low="Low", high="High"),
    _score_rows,
    row_selection="whole",
)
"""The table of scores with their limits."""

MISTAKES: Final = Layout(
    "mistakes", "Mistakes of the whole run", headed(kind="Kind", count="Mistakes"), _mistake_rows, row_selection="whole"
)
"""The table of mistakes by kind."""


def notes_of(aggregate: Aggregate) -> list[str]:
    """Return the sentences below the tables: how the limits were computed, and by which program version."""
    notes = [f"Low, High: {aggregate.limits}.", *aggregate.notes]
    answered_count_text = aggregate.answered  # `100 of 7,405 questions`, or UNSET
    if answered_count_text:
        notes.append(f"Scored on {answered_count_text}, those that were predicted.")
    notes.append(f"cs-score {aggregate.version}, {aggregate.task}.")
    return notes


PRINTOUT: Final = Printout(SCORES, notes_of, layouts_before=(MISTAKES,))
"""How the document is printed: counts and scores for people, the scores alone for programs."""
