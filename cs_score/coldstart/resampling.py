"""The reference's bootstrap: scores of resamples of the queries, and percentile limits from them.

Every value is the four-decimal text that a table would show, and everything after it is computed from those texts; that
is how the published intervals were made. All samples are summed at once, row by row in printing order, so that each sum
rounds exactly as if its table had been added up by itself.
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
    Limits,
    Sample,
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
    tables: PrecisionRecall, own: Mapping[Measure, float], samples: Sequence[Sample], metrics: Iterable[str] = METRICS
) -> Bootstrap:
    """Score every sample from the rows of one run's tables; `own` are the averages of the run itself. `metrics`: those
    of P, R and F that the tables show so that they can be read; others have no value.
    """
    shown = frozenset(metrics)
    columns: dict[ValueCode, list[str]] = {}
    one = _Replicates(tables, [sample.one_entry_point() for sample in samples])
    every = _Replicates(tables, [sample.all_entry_points() for sample in samples])
    for entry_points, variant, _ in VALUE_GROUPS:
        replicates = one if entry_points == "ONEEP" else every
        for (average, level), (scores, exists) in replicates.averages(variant).items():
            for position, metric in enumerate(METRICS):
                code = ValueCode(entry_points, variant, average, level, metric)
                columns[code] = [
                    f"{score:.4f}" if present and metric in shown else ABSENT
                    for score, present in zip(scores[:, position].tolist(), exists.tolist())
                ]
    values = tuple(zip(*(columns[code] for code in VALUE_CODES))) if samples else ()
    limits: list[Limits] = []
    for code in sorted(VALUE_CODES, key=str) if samples else ():
        score = own.get(code.measure) if code.entry_points == "ALLEP" and code.metric in shown else None
        limits.append(_limits(code, columns[code], None if score is None else f"{score:.4f}"))
    return Bootstrap(tuple(samples), values, tuple(limits))


def _limits(code: ValueCode, texts: Sequence[str], score: str | None) -> Limits:
    total = 0.0
    for text in texts:
        total += float(text or 0)
    ordered = sorted(texts, key=lambda text: float(text or 0))
    tails = {confidence: (100 - int(confidence)) * 0.5 / 100 for confidence in CONFIDENCES}
    low = {confidence: ordered[int(len(texts) * tail)] for confidence, tail in tails.items()}
    high = {each: ordered[int(len(texts) * (1 - tail)) - 1] for each, tail in reversed(tails.items())}
    return Limits(str(code), str(code.measure), low, f"{total / len(texts):0.4f}", score, high)


_Averages: TypeAlias = "dict[tuple[str, str], tuple[Floats, npt.NDArray[np.bool_]]]"
"""(average, level) -> scores, one row of P, R and F per sample, and whether the sample has the level."""


class _Replicates:
    """A run's rows, with how often each sample draws the query of each."""

    def __init__(self, tables: PrecisionRecall, draws: Sequence[Mapping[str, int]]) -> None:
        self._tables, self._size = tables, len(draws)
        short_ids = dict.fromkeys(map(_short_id, tables.sf.rows))
        times = np.array([[drawn.get(short_id, 0) for drawn in draws] for short_id in short_ids], dtype=np.int64)
        self._times: Mapping[str, Counts] = dict(zip(short_ids, times))

    def averages(self, variant: str) -> _Averages:
        if variant == "LDCMEAN":
            return self._macro(self._mean_rows())
        if variant == "LDCMAXI":
            rows = self._best_rows()
        else:
            rows = [(row, self._times[_short_id(row)]) for row in self._tables.sf.rows]
        return self._micro(rows) | self._macro(
            (row, times, np.array(row.scores), np.broadcast_to(row.ground_truth > 0, self._size)) for row, times in rows
        )

    def _best_rows(self) -> list[tuple[ScoreRow, Counts]]:
        renamed: list[tuple[ScoreRow, Counts]] = []
        for full_id, entry_points in self._tables.by_ldc:
            free = np.ones(self._size, dtype=bool)
            for short_id, rows in sorted(entry_points, key=lambda item: -counted_f1(item[1])):
                times = self._times[short_id]
                chosen = np.where(free, times, 0)
                free &= times == 0
                renamed += ((row, chosen) for row in ldc_max_rows(full_id, rows))
        return sorted(renamed, key=lambda item: row_order(item[0].name))

    def _mean_rows(self) -> Iterator[tuple[ScoreRow, Counts, Floats, npt.NDArray[np.bool_]]]:
        groups = {key: rows for of_ldc in self._tables.by_ldc for key, rows in mean_members(*of_ldc).items()}
        for name, level in sorted(groups, key=lambda key: row_order(key[0])):
            distinct = np.zeros(self._size, dtype=np.int64)
            occurrences = np.zeros(self._size, dtype=np.int64)
            sums = np.zeros((self._size, len(METRICS)))
            has_truth = np.zeros(self._size, dtype=bool)
            for row in groups[name, level]:
                times = self._times[_short_id(row)]
                drawn = times > 0
                distinct += drawn
                occurrences += times
                sums += drawn[:, None] * np.array(row.scores)
                has_truth |= drawn & (row.ground_truth > 0)
            divisor = np.maximum(distinct, 1)
            yield ScoreRow(name, level, None, (), 0), -(-occurrences // divisor), sums / divisor[:, None], has_truth

    def _micro(self, rows: Iterable[tuple[ScoreRow, Counts]]) -> _Averages:
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
        sums = {level: np.zeros((len(METRICS), self._size)) for level in LEVELS}
        divisors = {level: np.zeros(self._size, dtype=np.int64) for level in LEVELS}
        exists = {level: np.zeros(self._size, dtype=bool) for level in LEVELS}
        for row, times, scores, has_truth in rows:
            levels = _codes_of(row.level)
            columns = scores.T if scores.ndim == 2 else scores[:, None]
            for repetition in range(int(times.max(initial=0))):
                # Adding 0 to the samples that have no such repetition leaves them exactly as they are.
                added = columns * (times > repetition)
                for level in levels:
                    sums[level] += added
            for level in levels:
                divisors[level] += np.where(has_truth, times, 0)
                exists[level] |= times > 0
        return {("Ma", level): (divide(sums[level].T, divisors[level][:, None]), exists[level]) for level in LEVELS}


def _short_id(row: ScoreRow) -> str:
    return row.name.partition(":")[0].rpartition("_")[2]


def _codes_of(level: str) -> tuple[str, ...]:
    return (level, "A") if level in LEVELS else ("A",)
