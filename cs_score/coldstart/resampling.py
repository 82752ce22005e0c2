"""The bootstrap of the reference: scores of resamples of the queries, and percentile limits from them.

A sample draws queries, some of them several times. Its tables have the rows of the queries that it draws, as often as
it draws them, and its values are the averages of these tables. Every value is the text with four decimals that a table
would show, and the limits are computed from these texts, as the published intervals were.

The sums of all samples are added up at the same time, row by row in printing order, in arrays with an element for each
sample: each sum is rounded exactly as if the table of its sample had been summed alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from cs_score.base.runtime import Late
from cs_score.coldstart.result import (
    PrecisionRecall,
    ScoreRow,
    counted_f1,
    ldc_max_rows,
    member_rows_of_means,
    row_order,
)
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
Flags: TypeAlias = "npt.NDArray[np.bool_]"

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
        return Bootstrap(samples=(), values=(), limits=())
    shown_metrics = frozenset(metrics)
    # A draw of an LDC query may count for its first entry point only, or for all of its entry points.
    with_one_entry_point = _Replicates(tables, [sample.one_entry_point() for sample in samples])
    with_all_entry_points = _Replicates(tables, [sample.all_entry_points() for sample in samples])

    # The texts of each value, one for each sample.
    texts_by_code: dict[ValueCode, list[str]] = {}
    for entry_points, variant, _ in VALUE_GROUPS:
        replicates = with_one_entry_point if entry_points == "ONEEP" else with_all_entry_points
        for (average, level), scores in replicates.averages(variant).items():
            for column, metric in enumerate(METRICS):
                code = ValueCode(entry_points, variant, average, level, metric)
                scores_of_metric = scores.scores[:, column]
                texts_by_code[code] = _value_texts(scores_of_metric, scores.exists, metric in shown_metrics)
    texts_in_order = [texts_by_code[code] for code in VALUE_CODES]
    values_of_samples = tuple(zip(*texts_in_order))

    limits: list[SampleLimits] = []
    for code in sorted(VALUE_CODES, key=str):
        score = None
        if code.entry_points == "ALLEP" and code.metric in shown_metrics:
            score = own_scores.get(code.measure)
        limits.append(_limits(code, texts_by_code[code], score))
    return Bootstrap(tuple(samples), values_of_samples, tuple(limits))


def _value_texts(scores: Floats, exists: Flags, is_shown: bool) -> list[str]:
    """Return the text of one score for each sample; it is `ABSENT` if the score does not exist or is not shown."""
    texts = []
    for score, score_exists in zip(scores.tolist(), exists.tolist()):
        texts.append(f"{score:.4f}" if score_exists and is_shown else ABSENT)
    return texts


def _limits(code: ValueCode, texts: Sequence[str], score: float | None) -> SampleLimits:
    """Return the limits of a value, which are the percentiles of its texts in all samples, and the mean of the texts.

    A text that is `ABSENT` counts as 0. `score` is the value of the run itself, None if it has none.
    """
    total = 0.0
    for text in texts:
        total += float(text or 0)
    ordered = sorted(texts, key=lambda text: float(text or 0))
    low = {}
    high = {}
    for confidence in CONFIDENCES:
        texts_below_limit = int(len(texts) * _tail(confidence))
        low[confidence] = ordered[texts_below_limit]
    for confidence in reversed(CONFIDENCES):
        texts_up_to_limit = int(len(texts) * (1 - _tail(confidence)))
        high[confidence] = ordered[texts_up_to_limit - 1]
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


class _DrawnRow(NamedTuple):
    """A row of a table that samples draw, which has counts."""

    row: ScoreRow
    times: Counts
    """How often each sample draws the row."""


class _MeanRow(NamedTuple):
    """A row as macro averages use it: its level, and arrays with an element for each sample."""

    level: str
    times: Counts
    """How often each sample draws the row."""
    scores: Floats
    """A row of P, R and F for each sample."""
    has_truth: Flags
    """Whether the row has something to find in the sample, so that it counts in the divisor of an average."""


class _SampleScores(NamedTuple):
    """The averages of one level for all samples.

    `scores` has a row of P, R and F for each sample; `exists` says whether the sample has rows of the level.
    """

    scores: Floats
    exists: Flags


_Averages: TypeAlias = "dict[tuple[str, str], _SampleScores]"
"""The averages for all samples, by average and level such as `("Mi", "0")`."""


class _Replicates:
    """The rows of a run, and how often each sample draws the queries that the rows are about."""

    def __init__(self, tables: PrecisionRecall, draws: Sequence[Mapping[str, int]]) -> None:
        """Prepare from the tables of a run; `draws` has for each sample how often it draws each query, by short id."""
        self._tables = tables
        self._sample_count = len(draws)
        self._times_by_query: dict[str, Counts] = {}
        for row in tables.sf.rows:
            short_id = _short_id(row)
            if short_id not in self._times_by_query:
                times = [counts.get(short_id, 0) for counts in draws]
                self._times_by_query[short_id] = np.array(times, dtype=np.int64)

    def averages(self, variant: str) -> _Averages:
        """Return the averages of a variant (`SLOTFLG`, `LDCMAXI`, `LDCMEAN`) for all samples.

        The rows of `LDCMEAN` have no counts, so that it has only macro averages.
        """
        if variant == "LDCMEAN":
            return self._macro(self._mean_rows())
        drawn_rows = self._best_rows() if variant == "LDCMAXI" else self._slot_filling_rows()
        mean_rows = []
        for row, times in drawn_rows:
            scores = np.array(row.scores)[None, :]  # the same for all samples
            has_truth = np.broadcast_to(row.ground_truth > 0, self._sample_count)
            mean_rows.append(_MeanRow(row.level, times, scores, has_truth))
        return self._micro(drawn_rows) | self._macro(mean_rows)

    def _slot_filling_rows(self) -> list[_DrawnRow]:
        """Return the rows of the SF table with the number of times that each sample draws them."""
        return [_DrawnRow(row, self._times_by_query[_short_id(row)]) for row in self._tables.sf.rows]

    def _best_rows(self) -> list[_DrawnRow]:
        """Return the rows that may be in LDC-MAX, each with the number of times that each sample draws it.

        In each sample the best entry point that the sample draws represents its LDC query.
        """
        drawn_rows: list[_DrawnRow] = []
        for ldc_query in self._tables.ldc_queries:
            best_first = sorted(ldc_query.entry_points, key=lambda entry_point: -counted_f1(entry_point.rows))
            needs_representative = np.ones(self._sample_count, dtype=bool)
            for entry_point in best_first:
                times = self._times_by_query[entry_point.short_id]
                times_as_representative = np.where(needs_representative, times, 0)
                needs_representative &= times == 0
                for row in ldc_max_rows(ldc_query.full_id, entry_point.rows):
                    drawn_rows.append(_DrawnRow(row, times_as_representative))
        return sorted(drawn_rows, key=lambda drawn_row: row_order(drawn_row.row.name))

    def _mean_rows(self) -> Iterator[_MeanRow]:
        """Yield the rows of LDC-MEAN in printing order.

        In each sample a row has the means of the scores of the entry points that the sample draws. It is drawn as often
        as these are drawn on average, rounded up.
        """
        rows_by_mean: dict[tuple[str, str], list[ScoreRow]] = {}
        for ldc_query in self._tables.ldc_queries:
            rows_by_mean |= member_rows_of_means(ldc_query.full_id, ldc_query.entry_points)
        for name, level in sorted(rows_by_mean, key=lambda key: row_order(key[0])):
            # For each sample: the members that it draws, how often it draws them, and the sums of their scores.
            member_counts = np.zeros(self._sample_count, dtype=np.int64)
            total_times = np.zeros(self._sample_count, dtype=np.int64)
            sums = np.zeros((self._sample_count, len(METRICS)))
            has_truth = np.zeros(self._sample_count, dtype=bool)
            for row in rows_by_mean[name, level]:
                times = self._times_by_query[_short_id(row)]
                is_drawn = times > 0
                member_counts += is_drawn
                total_times += times
                sums += is_drawn[:, None] * np.array(row.scores)
                has_truth |= is_drawn & (row.ground_truth > 0)
            divisor = np.maximum(member_counts, 1)
            times_rounded_up = (total_times + divisor - 1) // divisor
            yield _MeanRow(level, times_rounded_up, sums / divisor[:, None], has_truth)

    def _micro(self, drawn_rows: Iterable[_DrawnRow]) -> _Averages:
        """Return the micro averages for all samples: P, R and F of the sums of the counts of rows."""
        sums = {level: np.zeros((self._sample_count, 3), dtype=np.int64) for level in LEVELS}
        exists = {level: np.zeros(self._sample_count, dtype=bool) for level in LEVELS}
        for row, times in drawn_rows:
            assert row.counts is not None
            numbers = [row.counts.right, row.counts.answered, row.counts.ground_truth]
            numbers_in_samples = times[:, None] * np.array(numbers, dtype=np.int64)
            for level in _level_codes(row.level):
                sums[level] += numbers_in_samples
                exists[level] |= times > 0
        averages: _Averages = {}
        for level in LEVELS:
            right, answered, truth = sums[level].T
            scores = np.stack(precision_recall_f1(right, answered, truth, divide), axis=1)
            averages["Mi", level] = _SampleScores(scores, exists[level])
        return averages

    def _macro(self, mean_rows: Iterable[_MeanRow]) -> _Averages:
        """Return the macro averages for all samples: the means of the scores of rows."""
        sums = {level: np.zeros((self._sample_count, len(METRICS))) for level in LEVELS}
        divisors = {level: np.zeros(self._sample_count, dtype=np.int64) for level in LEVELS}
        exists = {level: np.zeros(self._sample_count, dtype=bool) for level in LEVELS}
        for row in mean_rows:
            levels = _level_codes(row.level)
            most_times = int(row.times.max(initial=0))
            for repetition in range(most_times):
                # 0 is added for samples that draw the row less often, which does not change their sums.
                is_drawn_again = row.times > repetition
                summands = row.scores * is_drawn_again[:, None]
                for level in levels:
                    sums[level] += summands
            for level in levels:
                divisors[level] += np.where(row.has_truth, row.times, 0)
                exists[level] |= row.times > 0
        averages: _Averages = {}
        for level in LEVELS:
            means = divide(sums[level], divisors[level][:, None])
            averages["Ma", level] = _SampleScores(means, exists[level])
        return averages


def _short_id(row: ScoreRow) -> str:
    """Return the short id of the query that a row is about: `CSX_ENG_00fb79cef8:1` -> `00fb79cef8`."""
    query_id = row.name.partition(":")[0]
    return query_id.rpartition("_")[2]


def _level_codes(level: str) -> tuple[str, ...]:
    """Return the codes of the levels in which a row counts: its own, if that has values, and `A` for all levels."""
    return (level, "A") if level in LEVELS else ("A",)
