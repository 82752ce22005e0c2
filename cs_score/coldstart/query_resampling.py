"""The bootstrap of the reference scorer: scores of resamples of the queries, and percentile limits computed from them.
A sample draws LDC queries (questions with a slot-filling query for each of their entry points), some of them several
times. The tables of a sample contain the rows of these queries, repeated as often as the sample draws them. The values
of the sample are the averages of these tables.

Every value is a text with four decimals, as a table would show it. The limits are computed from these texts, as the
published intervals were.

The sums of all samples are computed at the same time, in arrays with an element for each sample. Rows are added in
printing order, so that each sum is rounded exactly as if its sample had been summed separately.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from cs_score.base.runtime import Late
from cs_score.coldstart.result import (
    LdcQueryRows,
    PrecisionRecall,
    ScoreRow,
    counted_f1,
    ldc_max_rows,
    member_rows_of_means,
    row_sort_key,
)
from cs_score.coldstart.samples import (
    LEVELS,
    METRICS,
    NO_VALUE,
    VALUE_CODES,
    VALUE_GROUPS,
    Bootstrap,
    Sample,
    SampleLimits,
    ValueCode,
)
from cs_score.measures import Measure, precision_recall_f1
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
    """Return the values of every sample, such as its micro-averaged F1, and the confidence limits of each value.

    The values are averages of rows in the `tables` of one run. They are stored as texts with four decimals, because the
    reference scorer computes the limits from these texts. `own_scores` are the averages of the run itself. `metrics`
    says which of P, R and F are shown in the tables of the run; only these have values.
    """
    if not samples:
        return Bootstrap(samples=(), values=(), limits=())
    shown_metrics = frozenset(metrics)
    value_texts_by_code = _value_texts_by_code(tables, samples, shown_metrics)
    texts_in_order = [value_texts_by_code[code] for code in VALUE_CODES]
    values_of_samples = tuple(zip(*texts_in_order))
    limits = []
    # A code such as `ALLEP_LDCMAXI_Mi_0_P` names a choice of entry points, a table, an average, a level and a metric.
    # The reference scorer writes values in the order of VALUE_CODES, but limits sorted by the texts of the codes.
    for code in sorted(VALUE_CODES, key=str):
        # The tables of the run itself count all entry points (ALLEP). The run has no scores for first entry points
        # only.
        has_own_score = code.entry_points == "ALLEP" and code.metric in shown_metrics
        score = own_scores.get(code.measure) if has_own_score else None
        limits.append(_limits(code, value_texts_by_code[code], score))
    return Bootstrap(tuple(samples), values_of_samples, tuple(limits))


def _value_texts_by_code(
    tables: PrecisionRecall, samples: Sequence[Sample], shown_metrics: Collection[str]
) -> dict[ValueCode, list[str]]:
    """Return the samples' values as texts, by the code of the value: `{ALLEP_LDCMAXI_Mi_0_P: ["0.7500", ...]}`.

    The parts of this code stand for all entry points (`ALLEP`), the variant LDC-MAX (`LDCMAXI`), micro average (`Mi`),
    level `0` and metric `P`. Each list has one text for each sample. Values of metrics that are not shown in the tables
    have the text `NO_VALUE`.
    """
    averages_by_group = _averages_by_group(tables, samples)
    metric_names = list(METRICS)
    value_texts_by_code: dict[ValueCode, list[str]] = {}
    for code in VALUE_CODES:
        averages_of_group = averages_by_group[code.entry_points, code.variant]  # for example of ("ALLEP", "LDCMAXI")
        scores_of_level = averages_of_group[code.average, code.level]  # for example of ("Mi", "0")
        scores = scores_of_level.scores[:, metric_names.index(code.metric)]  # (samples,)
        value_texts_by_code[code] = _value_texts(scores, scores_of_level.has_rows, code.metric in shown_metrics)
    return value_texts_by_code


def _averages_by_group(tables: PrecisionRecall, samples: Sequence[Sample]) -> dict[tuple[str, str], _Averages]:
    """Return the averages of all samples, for each choice of entry points and each variant of the tables.

    An example of a key is `("ALLEP", "LDCMAXI")`. A draw of an LDC query may count for its first entry point only
    (`ONEEP`), or for all of its entry points (`ALLEP`).
    """
    draws_of_first_ones = [sample.draw_counts_of_first_entry_points() for sample in samples]
    draws_of_all = [sample.draw_counts_of_all_entry_points() for sample in samples]
    rows_by_entry_points = {
        "ONEEP": _ResampledRows(tables, draws_of_first_ones),
        "ALLEP": _ResampledRows(tables, draws_of_all),
    }
    averages_by_group = {}
    for entry_points, variant, _ in VALUE_GROUPS:  # the third element is the average; all averages are computed
        resampled_rows = rows_by_entry_points[entry_points]
        averages_by_group[entry_points, variant] = resampled_rows.averages(variant)
    return averages_by_group


def _value_texts(scores: Floats, has_rows: Flags, is_shown: bool) -> list[str]:
    """Return a score of each sample as text: `["0.7500", "0.6667", ...]`.

    The text is `NO_VALUE` if the sample has no rows for the score, or if tables do not show it (`is_shown`).
    """
    texts = []
    for score, has_score in zip(scores.tolist(), has_rows.tolist()):
        texts.append(f"{score:.4f}" if has_score and is_shown else NO_VALUE)
    return texts


def _limits(code: ValueCode, texts: Sequence[str], score: float | None) -> SampleLimits:
    """Return the limits of a value, which are percentiles of its values in the samples, with the mean of these values.

    `texts` has the value in each sample as text, where `NO_VALUE` counts as 0. `score` is the value of the run itself,
    or None if the run does not have this value. The limits are in the order of their columns: low limits for 99, 95 and
    90 %, then high limits for 90, 95 and 99 %.
    """
    sorted_texts = sorted(texts, key=_number_of)
    return SampleLimits(
        value_code=str(code),
        measure=str(code.measure),
        low={confidence: _low_limit(sorted_texts, confidence) for confidence in CONFIDENCES},
        mean=f"{_mean(texts):0.4f}",
        score=None if score is None else f"{score:.4f}",
        high={confidence: _high_limit(sorted_texts, confidence) for confidence in reversed(CONFIDENCES)},
    )


def _number_of(text: str) -> float:
    """Return the number that the text of a value shows: `0.7500` -> 0.75; `NO_VALUE` counts as 0."""
    return float(text or 0)


def _mean(texts: Sequence[str]) -> float:
    """Return the mean of the numbers in texts, added from the first to the last as in the reference scorer."""
    total = 0.0
    for text in texts:
        total += _number_of(text)
    return total / len(texts)


def _low_limit(sorted_texts: Sequence[str], confidence: str) -> str:
    """Return the text at the lower limit of a confidence: with `95`, 2.5 % of the sorted texts are before it."""
    count_below_limit = int(len(sorted_texts) * _tail(confidence))
    return sorted_texts[count_below_limit]


def _high_limit(sorted_texts: Sequence[str], confidence: str) -> str:
    """Return the text at the upper limit of a confidence: with `95`, 2.5 % of the sorted texts are after it."""
    count_up_to_limit = int(len(sorted_texts) * (1 - _tail(confidence)))
    return sorted_texts[count_up_to_limit - 1]


def _tail(confidence: str) -> float:
    """Return the share of the samples that are beyond the limit on each side: `95` -> 0.025."""
    return (100 - int(confidence)) * 0.5 / 100


class _DrawnRow(NamedTuple):
    """A row with counts of a table of the run, and how often each sample draws it.

    A sample draws a row as often as it draws the query that the row is about.
    """

    row: ScoreRow
    draw_counts: Counts
    """How often each sample draws the row."""


class _MeanRow(NamedTuple):
    """What macro averages need of a row: its level, and arrays with an element for each sample."""

    level: str
    draw_counts: Counts
    """How often each sample draws the row."""
    scores: Floats
    """A row of P, R and F for each sample."""
    has_truth: Flags
    """Whether the row has something to be found in the sample; only such rows count in the divisor of an average."""


class _SampleScores(NamedTuple):
    """The averages of one level for all samples.

    `scores` has a row of P, R and F for each sample. `has_rows` says for each sample whether it has rows of the level.
    """

    scores: Floats
    has_rows: Flags


_Averages: TypeAlias = "dict[tuple[str, str], _SampleScores]"
"""The averages of all samples, by the codes of average and level, such as `("Mi", "0")`."""


class _ResampledRows:
    """The rows of a run, and how often each sample draws the queries that the rows are about."""

    def __init__(self, tables: PrecisionRecall, draws_by_sample: Sequence[Mapping[str, int]]) -> None:
        """Prepare to average the tables of a run for each sample.

        `draws_by_sample` has for each sample how often it draws each slot-filling query: `[{"00fb79cef8": 2}, ...]`.
        """
        self._tables = tables
        self._sample_count = len(draws_by_sample)
        self._draw_counts_by_query: dict[str, Counts] = {}
        for row in tables.sf.rows:
            short_id = _short_id(row)
            if short_id not in self._draw_counts_by_query:
                draw_counts = [draws.get(short_id, 0) for draws in draws_by_sample]
                self._draw_counts_by_query[short_id] = np.array(draw_counts, dtype=np.int64)

    def averages(self, variant: str) -> _Averages:
        """Return the averages of all samples in one variant of the tables, such as `LDCMAXI`.

        The variant `LDCMEAN` has only macro averages, because its rows have no counts.
        """
        if variant == "LDCMEAN":
            return self._macro_averages(self._mean_rows())
        drawn_rows = self._best_rows() if variant == "LDCMAXI" else self._slot_filling_rows()
        # A macro average is the mean of scores, not of counts, and its divisor counts only rows with ground truth.
        rows_for_macro = [self._row_for_macro(drawn_row) for drawn_row in drawn_rows]
        return self._micro_averages(drawn_rows) | self._macro_averages(rows_for_macro)

    def _row_for_macro(self, drawn_row: _DrawnRow) -> _MeanRow:
        """Return a drawn row with arrays for macro averages: its draws, its scores, and whether it has ground truth.

        Scores and ground truth are the same in all samples. Only rows with ground truth are counted in the divisor.
        """
        row = drawn_row.row
        scores = np.array(row.scores)[None, :]  # (1, metrics)
        has_truth = np.broadcast_to(row.ground_truth > 0, self._sample_count)  # (samples,)
        return _MeanRow(row.level, drawn_row.draw_counts, scores, has_truth)

    def _slot_filling_rows(self) -> list[_DrawnRow]:
        """Return the rows of the SF table, each with the number of its draws in each sample."""
        return [_DrawnRow(row, self._draw_counts_by_query[_short_id(row)]) for row in self._tables.sf.rows]

    def _best_rows(self) -> list[_DrawnRow]:
        """Return the rows of LDC-MAX in any of the samples, each with its number of draws in each sample.

        An LDC query is a question with several entry points, and LDC-MAX is the table of the best entry point of each
        LDC query. If a sample draws several entry points of an LDC query, only the best one of them represents the
        query.
        """
        drawn_rows: list[_DrawnRow] = []
        for ldc_query in self._tables.ldc_queries:
            drawn_rows += self._best_rows_of(ldc_query)
        return sorted(drawn_rows, key=lambda drawn_row: row_sort_key(drawn_row.row.name))

    def _best_rows_of(self, ldc_query: LdcQueryRows) -> Iterator[_DrawnRow]:
        """Yield the rows of an LDC query's entry points, from the best entry point to the worst.

        Each row comes with the number of times that LDC-MAX counts it in each sample. The number is 0 in samples that
        draw a better entry point. In all other samples, it is the number of draws of the row's entry point.
        """
        best_first = sorted(ldc_query.entry_points, key=lambda entry_point: -counted_f1(entry_point.rows))
        is_undecided = np.ones(self._sample_count, dtype=bool)  # (samples,): no better entry point is drawn
        for entry_point in best_first:
            draw_counts = self._draw_counts_by_query[entry_point.short_id]  # (samples,)
            draw_counts_as_best = np.where(is_undecided, draw_counts, 0)
            is_undecided &= draw_counts == 0  # for samples that draw this entry point, the best one is now found
            for row in ldc_max_rows(ldc_query.full_id, entry_point.rows):
                yield _DrawnRow(row, draw_counts_as_best)

    def _mean_rows(self) -> Iterator[_MeanRow]:
        """Yield the rows of LDC-MEAN in printing order.

        Each row averages the rows for the same class and the same level of all entry points of one LDC query.
        """
        # The keys are the name and the level of a row of LDC-MEAN, such as ("CSX_0001:1", "0").
        rows_by_name_and_level: dict[tuple[str, str], list[ScoreRow]] = {}
        for ldc_query in self._tables.ldc_queries:
            rows_by_name_and_level |= member_rows_of_means(ldc_query.full_id, ldc_query.entry_points)
        # Printing order is the order of names. Rows with the same name keep the order in which they were found.
        for name, level in sorted(rows_by_name_and_level, key=lambda key: row_sort_key(key[0])):
            yield self._mean_row(level, rows_by_name_and_level[name, level])

    def _mean_row(self, level: str, member_rows: Iterable[ScoreRow]) -> _MeanRow:
        """Return the row of LDC-MEAN that averages `member_rows`, which are rows of several entry points.

        In each sample, the scores of the row are the means of the scores of the members that the sample draws. The
        number of draws of the row is the average number of draws of these members, rounded up.
        """
        member_counts = np.zeros(self._sample_count, dtype=np.int64)  # (samples,): how many members are drawn
        total_draws = np.zeros(self._sample_count, dtype=np.int64)  # (samples,): how often they are drawn in total
        sums = np.zeros((self._sample_count, len(METRICS)))  # (samples, metrics)
        has_truth = np.zeros(self._sample_count, dtype=bool)  # (samples,)
        for row in member_rows:
            draw_counts = self._draw_counts_by_query[_short_id(row)]
            is_drawn = draw_counts > 0
            member_counts += is_drawn
            total_draws += draw_counts
            sums += is_drawn[:, None] * np.array(row.scores)  # (samples, 1) * (metrics,) -> (samples, metrics)
            has_truth |= is_drawn & (row.ground_truth > 0)
        divisor = np.maximum(member_counts, 1)
        mean_draw_counts = (total_draws + divisor - 1) // divisor  # rounded up
        return _MeanRow(level, mean_draw_counts, sums / divisor[:, None], has_truth)

    def _micro_averages(self, drawn_rows: Iterable[_DrawnRow]) -> _Averages:
        """Return the micro averages of all samples, which are the P, R and F computed from the summed counts of rows.

        In each sample, the counts of a row are added as often as the sample draws the row.
        """
        sums = {level: np.zeros((self._sample_count, 3), dtype=np.int64) for level in LEVELS}
        has_rows = {level: np.zeros(self._sample_count, dtype=bool) for level in LEVELS}
        for row, draw_counts in drawn_rows:  # draw_counts: (samples,)
            counts = _counts_for_micro(row)  # (3,): right, answered, ground truth
            numbers_in_samples = draw_counts[:, None] * counts  # (samples, 3)
            for level in _level_codes(row.level):
                sums[level] += numbers_in_samples
                has_rows[level] |= draw_counts > 0
        averages: _Averages = {}
        for level in LEVELS:
            right, answered, truth = sums[level].T
            # `divide` divides whole arrays, and the result is 0 where the divisor is 0.
            scores = np.stack(precision_recall_f1(right, answered, truth, divide), axis=1)  # (samples, metrics)
            # The key is the code of the average (`Mi`: micro) and of the level.
            averages["Mi", level] = _SampleScores(scores, has_rows[level])
        return averages

    def _macro_averages(self, mean_rows: Iterable[_MeanRow]) -> _Averages:
        """Return the macro averages of all samples, which are the means of the P, R and F of rows.

        In each sample, a row counts as often as the sample draws it. Sums are divided by the number of drawn rows with
        ground truth.
        """
        # For each level, `sums` has an array of shape (samples, metrics). The other dictionaries have arrays of shape
        # (samples,).
        sums = {level: np.zeros((self._sample_count, len(METRICS))) for level in LEVELS}
        divisors = {level: np.zeros(self._sample_count, dtype=np.int64) for level in LEVELS}
        has_rows = {level: np.zeros(self._sample_count, dtype=bool) for level in LEVELS}
        for row in mean_rows:
            levels = _level_codes(row.level)
            # In each sample, the scores are added to the sums once for each draw of the row.
            _add_scores([sums[level] for level in levels], row)
            for level in levels:
                divisors[level] += np.where(row.has_truth, row.draw_counts, 0)
                has_rows[level] |= row.draw_counts > 0
        averages: _Averages = {}
        for level in LEVELS:
            means = divide(sums[level], divisors[level][:, None])  # (samples, metrics)
            # The key is the code of the average (`Ma`: macro) and of the level.
            averages["Ma", level] = _SampleScores(means, has_rows[level])
        return averages


def _counts_for_micro(row: ScoreRow) -> Counts:
    """Return the counts of a row from which micro averages are computed: right, answered, ground truth."""
    assert row.counts is not None
    return np.array([row.counts.right, row.counts.answered, row.counts.ground_truth], dtype=np.int64)


def _add_scores(sums_of_levels: Sequence[Floats], row: _MeanRow) -> None:
    """Add the scores of a row to the sums of each level that includes it, as often as each sample draws the row.

    `sums_of_levels` has one array of shape (samples, metrics) for the row's own level, and another for all levels
    together. The scores are added one draw at a time, so that sums are rounded as if each sample had been summed
    separately.
    """
    most_draws = int(row.draw_counts.max(initial=0))
    for repetition in range(most_draws):
        # For samples that draw the row less often, 0 is added, which does not change their sums.
        is_drawn_again = row.draw_counts > repetition  # (samples,)
        summands = row.scores * is_drawn_again[:, None]  # (samples, metrics)
        for sums_of_level in sums_of_levels:
            np.add(sums_of_level, summands, out=sums_of_level)


def _short_id(row: ScoreRow) -> str:
    """Return the short id of the query that a row is about: `CSX_ENG_00fb79cef8:1` -> `00fb79cef8`."""
    query_id = row.name.partition(":")[0]
    return query_id.rpartition("_")[2]


def _level_codes(level: str) -> tuple[str, ...]:
    """Return the codes of the levels whose averages include a row of this level: `0` -> `("0", "A")`.

    `A` is the code for all levels. Levels beyond the second hop have no averages of their own.
    """
    return (level, "A") if level in LEVELS else ("A",)
