"""What participants of a closed evaluation may see of a scored run: scores with intervals, and counts of mistakes.

Nothing here is about a single unit, line, answer or group, and nothing quotes gold, so that a page of it can be shown
to somebody who must not learn the gold data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.budget import KINDS
from cs_score.analysis.coldstart.changes import Editor
from cs_score.analysis.coldstart.faults import find_faults
from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.evidence.examination import Examination
from cs_score.base.documents import Document
from cs_score.base.errors import UsageError
from cs_score.base.records import Record, replace
from cs_score.base.version import VERSION
from cs_score.coldstart.unit_statistics import intervals_of_run, resampled_unit
from cs_score.evidence import mode as evidence
from cs_score.measures.registry import names, parse
from cs_score.statistics.options import Resampling, limits_in_words, note_sentences
from cs_score.statistics.results import ScoreIntervals
from cs_score.tables.layout import Layout, headed
from cs_score.tables.statistics import Printout

FEWEST_SHOWN: Final = 10
"""Mistakes of a kind that are counted; a smaller number could be about single lines, and is not shown."""


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


def aggregate_of_run(scored: Scored, measure: str | None, resampling: Resampling) -> Aggregate:
    """Return what may be shown of a Cold Start run.

    `measure` comes first, also where it has no value for the run; None stands for the headline measure. Raises
    UsageError for an unknown measure, and for one of a single hop.
    """
    first = scored.headline if measure is None else parse(measure)
    if first.hop is not None:
        raise UsageError(f"{first} is about one hop; --aggregate-only shows scores over all hops alone")
    unit = resampled_unit(scored.run.gold.has_clusters)
    intervals = intervals_of_run(scored.result, replace(resampling, unit=unit))
    counts = _mistakes_by_kind_of_run(scored)
    return _aggregate(scored.origin.task, str(first), scored.result.scores, intervals, counts)


def _mistakes_by_kind_of_run(scored: Scored) -> dict[str, int]:
    """Return the number of wrong lines and missed classes of a Cold Start run, by the kinds of the error budget."""
    counts: Counter[str | None] = Counter()
    for fault in find_faults(scored, Editor(scored.run, scored.run_id)):
        if fault.kind != "node":
            counts[fault.category] += 1
    return {name: counts[kind.category] for name, kind in KINDS.items()}


def aggregate_of_predictions(result: evidence.Result, measure: str, resampling: Resampling) -> Aggregate:
    """Return what may be shown of the predictions of an evidence task; `measure` comes first."""
    count_by_kind = {_kind_without_label(kind): 0 for kind in result.mode.kinds}
    for entry in Examination(result, measure).entries:
        for fault in entry.faults:
            count_by_kind[_kind_without_label(fault.kind)] += 1
    intervals = evidence.intervals(result, resampling)
    aggregate = _aggregate(result.origin.task, measure, result.scores, intervals, count_by_kind)
    return replace(aggregate, answered=result.origin.answered or UNSET)


def _kind_without_label(kind: str) -> str:
    """Return a kind of mistakes without the label of gold that it may name: `wrong_answer` of `wrong_answer:WRONG`."""
    return kind.partition(":")[0]


def _aggregate(
    task: str, first: str, scores: Mapping[str, float], intervals: ScoreIntervals, count_by_kind: Mapping[str, int]
) -> Aggregate:
    """Return the document of scores and counts, without what either says of a group of units, such as a hop."""
    measures = [first, *[measure for measure in shown_measures(task, scores) if measure != first]]
    mistakes = []
    for kind, count in count_by_kind.items():
        mistakes.append(MistakeCount(kind, count if count >= FEWEST_SHOWN else None))
    return Aggregate(
        task=task,
        measure=first,
        version=VERSION,
        scores=tuple([_measured(measure, scores, intervals) for measure in measures]),
        limits=limits_in_words(intervals.resampling, intervals.units),
        notes=tuple(note_sentences(intervals.notes)),
        fewest=FEWEST_SHOWN,
        mistakes=tuple(mistakes),
    )


def shown_measures(task: str, scores: Mapping[str, float]) -> Sequence[str]:
    """Return the measures of a task whose tables a run has, over all hops, in the order of the task.

    A measure without a value stands among them where others of its table have one: `SF-AP` beside `SF-ALL-Micro-F1`.
    Tasks but Cold Start have one table.
    """
    tables = {_table_of(measure) for measure in scores}
    return [measure for measure in names(task) if measure in scores or _table_of(measure) in tables]


def _table_of(measure: str) -> str:
    """Return the part of a measure's name that says which table it is of, such as `LDC-MEAN` of `LDC-MEAN-AP`."""
    for table in ("SF", "LDC-MAX", "LDC-MEAN"):
        if measure.startswith(f"{table}-"):
            return table
    return ""


def _measured(measure: str, scores: Mapping[str, float], intervals: ScoreIntervals) -> MeasuredScore:
    """Return a score with its limits."""
    interval = intervals.scores.get(measure)
    if interval is None:
        return MeasuredScore(measure, scores.get(measure), None, None)
    return MeasuredScore(measure, scores.get(measure), interval.low, interval.high)


def _score_rows(aggregate: Aggregate) -> Iterator[dict[str, Any]]:
    """Yield the cells of the scores; a measure without a value is undefined."""
    for score in aggregate.scores:
        value = "undefined" if score.score is None else score.score
        yield {"measure": score.measure, "score": value, "low": score.low, "high": score.high}


def _mistake_rows(aggregate: Aggregate) -> Iterator[dict[str, Any]]:
    """Yield the cells of the counts of mistakes."""
    for mistake in aggregate.mistakes:
        count = f"fewer than {aggregate.fewest}" if mistake.count is None else mistake.count
        yield {"kind": mistake.kind, "count": count}


SCORES: Final = Layout(
    "scores", "Scores", headed(measure="Measure", score="Score", low="Low", high="High"), _score_rows, most="whole"
)
"""The table of scores with their limits."""

MISTAKES: Final = Layout(
    "mistakes", "Mistakes of the whole run", headed(kind="Kind", count="Mistakes"), _mistake_rows, most="whole"
)
"""The table of mistakes by kind."""


def notes_of(aggregate: Aggregate) -> list[str]:
    """Return what stands below the tables: how the limits came about, and which version counted."""
    notes = [f"Low, High: {aggregate.limits}.", *aggregate.notes]
    if aggregate.answered:
        notes.append(f"Scored on {aggregate.answered}, those that were predicted.")
    notes.append(f"cs-score {aggregate.version}, {aggregate.task}.")
    return notes


PRINTOUT: Final = Printout(SCORES, notes_of, before=(MISTAKES,))
"""How the document is printed: counts and scores for people, the scores alone for programs."""
