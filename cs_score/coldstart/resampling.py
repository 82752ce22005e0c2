"""The bootstrap of the reference: scores of resamples of the queries, and percentile limits from them.

Every value is the text with four decimals that a table would show, and the limits are computed from these texts, as the
published intervals were. All samples are summed at the same time, row by row in printing order: each sum is rounded
exactly as if the table of its sample had been summed alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from cs_score.base.runtime import Late
from cs_score.coldstart.result import PrecisionRecall, ScoreRow, counted_f1, ldc_max_rows, mean_members, row_order
from cs_score.coldstart.samples import (
    ABSENT,
    LEVELS,
    METRICS,
    VALUE_CODES,
    VALUE_GROUPS,
    Bootstrap,
    Sample,
    SampleLimits,
    ValueCode,
)
from cs_score.measures.registry import Measure, precision_recall_f1
from cs_score.statistics.arithmetic import Floats, divide

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Late("numpy")

Counts: TypeAlias = "npt.NDArray[np.int64]"

CONFIDENCES: Final = ("99", "95", "90")


def bootstrap(
    tables: PrecisionRecall,
    own_scores: Mapping[Measure, float],
    samples: Sequence[Sample],
    metrics: Iterable[str] = METRICS,
) -> Bootstrap:
    """Return the values of every sample, from the rows of the tables of one run, and the limits of each value.

    `own_scores` are the averages of the run itself. `metrics` says which of P, R and F its tables show; the others
    have no value.
    """
    if not samples:
        return Bootstrap((), (), ())
    shown_metrics = frozenset(metrics)
    texts_by_code: dict[ValueCode, list[str]] = {}
    with_one_entry_point = _Replicates(tables, [sample.one_entry_point() for sample in samples])
    with_all_entry_points = _Replicates(tables, [sample.all_entry_points() for sample in samples])
    for entry_points, variant, _ in VALUE_GROUPS:
        replicates = with_one_entry_point if entry_points == "ONEEP" else with_all_entry_points
        for (average, level), (scores, exists) in replicates.averages(variant).items():
            for column, metric in enumerate(METRICS):
                code = ValueCode(entry_points, variant, average, level, metric)
                texts_by_code[code] = _value_texts(scores[:, column], exists, metric in shown_metrics)
    values = tuple(zip(*[texts_by_code[code] for code in VALUE_CODES]))
    limits: list[SampleLimits] = []
    for code in sorted(VALUE_CODES, key=str):
        score = None
        if code.entry_points == "ALLEP" and code.metric in shown_metrics:
            score = own_scores.get(code.measure)
        limits.append(_limits(code, texts_by_code[code], score))
    return Bootstrap(tuple(samples), values, tuple(limits))


def _value_texts(scores: Floats, exists: npt.NDArray[np.bool_], is_shown: bool) -> list[str]:
    """Return the text of one score for each sample; it is `ABSENT` if the score does not exist or is not shown."""
    texts = []
    for score, score_exists in zip(scores.tolist(), exists.tolist()):
        texts.append(f"{score:.4f}" if score_exists and is_shown else ABSENT)
    return texts


def _limits(code: ValueCode, texts: Sequence[str], score: float | None) -> SampleLimits:
    """Return the limits of a value from its texts in all samples; `score` is that of the run itself, if it has one."""
    total = 0.0
    for text in texts:
        total += float(text or 0)
    ordered = sorted(texts, key=lambda text: float(text or 0))
    low = {}
    high = {}
    for confidence in CONFIDENCES:
        low[confidence] = ordered[int(len(texts) * _tail(confidence))]
    for confidence in reversed(CONFIDENCES):
        high[confidence] = ordered[int(len(texts) * (1 - _tail(confidence))) - 1]
    return SampleLimits(
        value=str(code),
        measure=str(code.measure),
        low=low,
        mean=f"{total / len(texts):0.4f}",
        score=None if score is None else f"{score:.4f}",
        high=high,
    )


def _tail(confidence: str) -> float:
    """Return the share of the samples beyond each limit: 0.025 for `95`."""
    return (100 - int(confidence)) * 0.5 / 100


_Averages: TypeAlias = "dict[tuple[str, str], tuple[Floats, npt.NDArray[np.bool_]]]"
"""The scores by average and level, such as `("Mi", "0")`.

They are an array with a row of P, R and F for each sample, and an array that says whether the sample has the level.
"""


class _Replicates:
    """The rows of a run, and how often each sample draws the queries that they belong to."""

    def __init__(self, tables: PrecisionRecall, draws: Sequence[Mapping[str, int]]) -> None:
        """Prepare from the tables of a run; `draws` has for each sample how often it draws each query, by short id."""
        self._tables = tables
        self._size = len(draws)
        self._times: dict[str, Counts] = {}
        for row in tables.sf.rows:
            short_id = _short_id(row)
            if short_id not in self._times:
                times = [counts.get(short_id, 0) for counts in draws]
                self._times[short_id] = np.array(times, dtype=np.int64)

    def averages(self, variant: str) -> _Averages:
        """Return the averages of a variant (`SLOTFLG`, `LDCMAXI`, `LDCMEAN`) for all samples."""
        if variant == "LDCMEAN":
            return self._macro(self._mean_rows())
        if variant == "LDCMAXI":
            rows = self._best_rows()
        else:
            rows = [(row, self._times[_short_id(row)]) for row in self._tables.sf.rows]
        drawn_rows = []
        for row, times in rows:
            has_truth = np.broadcast_to(row.ground_truth > 0, self._size)
            drawn_rows.append((row, times, np.array(row.scores), has_truth))
        return self._micro(rows) | self._macro(drawn_rows)

    def _best_rows(self) -> list[tuple[ScoreRow, Counts]]:
        """Return the rows that may be in LDC-MAX, each with the number of times that each sample draws it.

        In each sample the best entry point that the sample draws represents its LDC query.
        """
        drawn_rows: list[tuple[ScoreRow, Counts]] = []
        for full_id, entry_points in self._tables.by_ldc:
            is_free = np.ones(self._size, dtype=bool)
            for short_id, rows in sorted(entry_points, key=lambda entry_point: -counted_f1(entry_point[1])):
                times = self._times[short_id]
                times_chosen = np.where(is_free, times, 0)
                is_free &= times == 0
                for row in ldc_max_rows(full_id, rows):
                    drawn_rows.append((row, times_chosen))
        return sorted(drawn_rows, key=lambda drawn_row: row_order(drawn_row[0].name))

    def _mean_rows(self) -> Iterator[tuple[ScoreRow, Counts, Floats, npt.NDArray[np.bool_]]]:
        """Yield the rows of LDC-MEAN, each with three arrays that have a value for each sample.

        These are how often the sample draws the row, its scores, and whether it counts in the divisor of a macro
        average.
        """
        groups: dict[tuple[str, str], list[ScoreRow]] = {}
        for full_id, entry_points in self._tables.by_ldc:
            groups |= mean_members(full_id, entry_points)
        for name, level in sorted(groups, key=lambda key: row_order(key[0])):
            distinct = np.zeros(self._size, dtype=np.int64)
            occurrences = np.zeros(self._size, dtype=np.int64)
            sums = np.zeros((self._size, len(METRICS)))
            has_truth = np.zeros(self._size, dtype=bool)
            for row in groups[name, level]:
                times = self._times[_short_id(row)]
                is_drawn = times > 0
                distinct += is_drawn
                occurrences += times
                sums += is_drawn[:, None] * np.array(row.scores)
                has_truth |= is_drawn & (row.ground_truth > 0)
            divisor = np.maximum(distinct, 1)
            times_rounded_up = -(-occurrences // divisor)
            yield ScoreRow(name, level, None, (), 0), times_rounded_up, sums / divisor[:, None], has_truth

    def _micro(self, rows: Iterable[tuple[ScoreRow, Counts]]) -> _Averages:
        """Return the micro averages for all samples, from rows and how often each sample draws them."""
        sums: dict[str, Counts] = {}
        exists: dict[str, npt.NDArray[np.bool_]] = {}
        for row, times in rows:
            assert row.counts is not None
            counts = row.counts
            numbers = np.array([counts.right, counts.answered, counts.ground_truth], dtype=np.int64)
            for level in _codes_of(row.level):
                sums[level] = sums.get(level, 0) + times[:, None] * numbers
                exists[level] = exists.get(level, False) | (times > 0)
        averages: _Averages = {}
        for level in LEVELS:
            right, answered, truth = sums.get(level, np.zeros((self._size, 3), dtype=np.int64)).T
            scores = np.stack(precision_recall_f1(right, answered, truth, divide), axis=1)
            averages["Mi", level] = scores, exists.get(level, np.zeros(self._size, dtype=bool))
        return averages

    def _macro(self, rows: Iterable[tuple[ScoreRow, Counts, Floats, npt.NDArray[np.bool_]]]) -> _Averages:
        """Return the macro averages for all samples.

        `rows` are rows, each with how often each sample draws it, its scores, and whether it counts in the divisor.
        """
        sums = {level: np.zeros((len(METRICS), self._size)) for level in LEVELS}
        divisors = {level: np.zeros(self._size, dtype=np.int64) for level in LEVELS}
        exists = {level: np.zeros(self._size, dtype=bool) for level in LEVELS}
        for row, times, scores, has_truth in rows:
            levels = _codes_of(row.level)
            columns = scores.T if scores.ndim == 2 else scores[:, None]
            for repetition in range(int(times.max(initial=0))):
                # 0 is added for samples that draw the row less often, which does not change their sums.
                summands = columns * (times > repetition)
                for level in levels:
                    sums[level] += summands
            for level in levels:
                divisors[level] += np.where(has_truth, times, 0)
                exists[level] |= times > 0
        return {("Ma", level): (divide(sums[level].T, divisors[level][:, None]), exists[level]) for level in LEVELS}


def _short_id(row: ScoreRow) -> str:
    """Return the short id of the query that a row is about."""
    return row.name.partition(":")[0].rpartition("_")[2]


def _codes_of(level: str) -> tuple[str, ...]:
    """Return the codes of the levels in which a row counts: its own, if that has values, and `A` for all levels."""
    return (level, "A") if level in LEVELS else ("A",)
