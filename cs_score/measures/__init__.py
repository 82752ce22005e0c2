"""All measures: the arithmetic that they share, and the table that leaderboards, comparisons, JSON and help use.

Nearly every measure is a quotient x / y of sums over units. Each formula has the function that divides as an argument.
With `divide` a formula computes the score of a run. With a function that divides arrays it computes the scores of all
resamples at the same time. With `Ratio` it returns x and y themselves, which show whether the quotient is defined and
what each unit contributes to it. This module does not import numpy, so that small commands start quickly.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, Final, TypeAlias

from cs_score.base.errors import UsageError, did_you_mean
from cs_score.base.records import Record, replace

# ---- The arithmetic of scores


Divide: TypeAlias = Callable[[Any, Any], Any]
"""A function that divides numbers, or arrays element by element, and returns 0 for a denominator of 0; or `Ratio`."""


class Ratio(Record):
    """The numerator and the denominator of a quotient. Both are numbers, or arrays of the same shape."""

    numerator: Any
    denominator: Any


def divide(numerator: float, denominator: float) -> float:
    """Return `numerator / denominator`, or 0.0 if the denominator is 0: `divide(1, 4)` is 0.25."""
    return numerator / denominator if denominator else 0.0


def f1(precision: Any, recall: Any, divide: Divide = divide) -> Any:
    """Return F1, the harmonic mean of a precision and a recall: 2 P R / (P + R).

    Precision and recall are results of `divide`: numbers, arrays, or `Ratio` objects. `Ratio` objects must have the
    same numerator, the number of right answers: the harmonic mean of the ratios c / r and c / g is the ratio 2c / (r +
    g).
    """
    if isinstance(precision, Ratio):  # both numerators are c, so their sum is 2c
        return Ratio(precision.numerator + recall.numerator, precision.denominator + recall.denominator)
    # As in the official evaluators, the product is doubled before it is divided, which can change the last digit.
    return divide(2 * precision * recall, precision + recall)


def precision_recall_f1(correct: Any, retrieved: Any, relevant: Any, divide: Divide) -> tuple[Any, Any, Any]:
    """Return precision, recall and F1, given the numbers of correct, retrieved and relevant items."""
    precision = divide(correct, retrieved)
    recall = divide(correct, relevant)
    return precision, recall, f1(precision, recall, divide)


def average_precision(values: Iterable[float], ground_truth: int | None) -> float:
    """Return graded average precision (rule average-precision): `average_precision([1.0, 0.0, 0.5], 2)` is 0.75.

    `values` has the value of each node, from 0 to 1, in rank order. Each value above 0 adds the sum of all values up to
    it, divided by its rank. The sum of these precisions is divided by `ground_truth`, the number of equivalence classes
    to be found. If this number is 0 or None, the result is 0.
    """
    sum_of_values = 0.0
    sum_of_precisions = 0.0
    for rank, value in enumerate(values, 1):
        if value > 0:
            sum_of_values += value
            sum_of_precisions += sum_of_values / rank
    return divide(sum_of_precisions, ground_truth or 0)


def _ratio(divide: Divide, numerator: Any, denominator: Any) -> Any:
    """Return a quotient, as `divide` computes it. This is the formula of most statistics."""
    return divide(numerator, denominator)


def _f1_of_counts(divide: Divide, right: Any, answered: Any, ground_truth: Any) -> Any:
    """Return F1, given the numbers of right answers, of answers given, and of answers to be found."""
    precision = divide(right, answered)
    recall = divide(right, ground_truth)
    return f1(precision, recall, divide)


# ---- The table of measures

MICRO: Final = "Micro"
MACRO: Final = "Macro"

ALL_HOPS: Final = "ALL"
"""The level of table rows that are about all hops together."""

SF: Final = "SF"
LDC_MAX: Final = "LDC-MAX"
LDC_MEAN: Final = "LDC-MEAN"

COLD_START_MODE: Final = "coldstart"


class Measure(Record):
    """A measure of a task: one number of a result, such as `LDC-MEAN-ALL-Macro-F1`.

    `statistic` is `P`, `R`, `F1` or `AP`, or in an evidence task the official name of the measure. `table` is the table
    of the Cold Start scorer to which the measure belongs (`SF`, `LDC-MAX`, `LDC-MEAN`), and `average` says how the rows
    of the table are averaged (`Micro`, `Macro`). Both are empty if there is only one possibility. `hop` is None for all
    hops. `parse_measure(str(measure))` returns an equal measure.
    """

    statistic: str
    table: str = ""
    average: str = ""
    hop: int | None = None

    def __str__(self) -> str:
        """Return the name of the measure: `LDC-MEAN-ALL-Macro-F1`, `SF-AP@1`, `abstract_f1`."""
        hops_and_average = f"{ALL_HOPS}-{self.average}" if self.average else ""
        parts = [part for part in (self.table, hops_and_average, self.statistic) if part]
        name = "-".join(parts)
        if self.hop is None:
            return name
        return f"{name}@{self.hop}"

    @property
    def level(self) -> str:
        """The hop as tables show it: `0`, `1` or `ALL`."""
        return ALL_HOPS if self.hop is None else str(self.hop)

    @property
    def is_of_rankings(self) -> bool:
        """Whether this is a Cold Start measure of rankings, such as average precision (`SF-AP`), and not of counts."""
        return self.statistic in RANKING_FORMULAS

    def at_level(self, level: str) -> Measure:
        """Return the same measure for a hop as tables show it: `0`, `1`, or `ALL` for all hops."""
        return replace(self, hop=None if level == ALL_HOPS else int(level))

    @property
    def sum_columns(self) -> list[str]:
        """The columns of unit statistics from which a Cold Start measure is computed: `["SF:ALL:right", ...]`."""
        statistic = _STATISTIC_BY_AVERAGE_AND_NAME[self.average, self.statistic]
        return [f"{self.table}:{self.level}:{name}" for name in statistic.sum_columns]


RankingFormula: TypeAlias = Callable[[Sequence[float], int | None], float]
"""A function that returns the score of a ranking.

Its arguments are the values of the nodes in rank order, and the number of answers to be found.
"""

SumsFormula: TypeAlias = Callable[[Sequence[Any], Divide], Sequence[Any]]
"""A function that returns the scores of measures.

Its arguments are the sums of columns, which are numbers or arrays, and a function that divides.
"""


def ratios(formula: SumsFormula, sums: Sequence[Any]) -> list[Ratio]:
    """Return each score of a formula as a ratio. A score that is not a quotient has the denominator 1."""
    scores = formula(sums, Ratio)
    return [score if isinstance(score, Ratio) else Ratio(score, 1.0) for score in scores]


class Statistic(Record):
    """A statistic of Cold Start with one way to average, such as F1 with the average `Micro`.

    `tables` are the tables that show it. `sum_columns` are the columns of unit statistics from whose totals it is
    computed, and `formula` computes it, given a function that divides and these totals. `ranking_formula` computes the
    score of a ranking from the values of its nodes; it is None for statistics of counts.
    """

    name: str
    average: str
    tables: tuple[str, ...]
    sum_columns: tuple[str, ...]
    formula: Callable[..., Any] = _ratio
    ranking_formula: RankingFormula | None = None


_TABLES_OF_COUNTS: Final = (SF, LDC_MAX)
_ALL_TABLES: Final = (SF, LDC_MAX, LDC_MEAN)

# Average precision is the first statistic of rankings, because it is the one that the reference program reports.
COLD_START_STATISTICS: Final[tuple[Statistic, ...]] = (
    Statistic("P", MICRO, _TABLES_OF_COUNTS, ("right", "answered")),
    Statistic("R", MICRO, _TABLES_OF_COUNTS, ("right", "ground_truth")),
    Statistic("F1", MICRO, _TABLES_OF_COUNTS, ("right", "answered", "ground_truth"), _f1_of_counts),
    Statistic("P", MACRO, _ALL_TABLES, ("precision", "rows")),
    Statistic("R", MACRO, _ALL_TABLES, ("recall", "rows")),
    Statistic("F1", MACRO, _ALL_TABLES, ("f1", "rows")),
    Statistic("AP", "", (SF, LDC_MEAN), ("AP", "rankings"), ranking_formula=average_precision),
)
_STATISTIC_BY_AVERAGE_AND_NAME: Final = {
    (statistic.average, statistic.name): statistic for statistic in COLD_START_STATISTICS
}

RANKING_FORMULAS: Final[Mapping[str, RankingFormula]] = {
    statistic.name: statistic.ranking_formula for statistic in COLD_START_STATISTICS if statistic.ranking_formula
}
"""The function that computes the score of a ranking, by the name of the statistic."""


def _measures_of_groups(groups: Sequence[str], statistics: Sequence[str]) -> tuple[Measure, ...]:
    """Return the measures of an evidence task that has the same statistics for each group of measures.

    The groups `e_` and `r_` with the statistics `prec` and `f1` give `e_prec`, `e_f1`, `r_prec` and `r_f1`.
    """
    measures = []
    for group in groups:
        for statistic in statistics:
            measures.append(Measure(f"{group}{statistic}"))
    return tuple(measures)


def _cold_start_measures() -> tuple[Measure, ...]:
    """Return the measures of Cold Start over all hops: measures of counts, such as F1, then measures of rankings."""
    counted_measures = []
    ranked_measures = []
    for table in _ALL_TABLES:
        for statistic in COLD_START_STATISTICS:
            if table not in statistic.tables:
                continue
            measure = Measure(statistic.name, table, statistic.average)
            if statistic.ranking_formula is None:
                counted_measures.append(measure)
            else:
                ranked_measures.append(measure)
    return tuple(counted_measures + ranked_measures)


MEASURES: Final[dict[str, tuple[Measure, ...]]] = {
    COLD_START_MODE: _cold_start_measures(),
    "scifact": _measures_of_groups(
        ("abstract_label_only_", "abstract_rationalized_", "sentence_selection_", "sentence_label_"),
        ("precision", "recall", "f1"),
    ),
    "claims": (
        *_measures_of_groups(("abstract_", "sentence_"), ("precision", "recall", "f1")),
        Measure("label_accuracy"),
    ),
    "r4c": _measures_of_groups(("e_", "r_", "er_"), ("prec", "recall", "f1")),
    "hotpotqa": _measures_of_groups(("", "sp_", "joint_"), ("em", "f1", "prec", "recall")),
    "pool": (*_measures_of_groups(("micro-", "macro-"), ("p", "r", "f1")), Measure("coverage"), Measure("ap")),
}
"""The measures of each task over all hops, in the order in which tables show them."""

_HEADLINES: Final[dict[str, tuple[str, ...]]] = {
    COLD_START_MODE: (
        *("LDC-MEAN-AP", "LDC-MEAN-ALL-Macro-F1", "LDC-MAX-ALL-Micro-F1"),
        *("SF-AP", "SF-ALL-Micro-P", "SF-ALL-Micro-R", "SF-ALL-Micro-F1", "SF-ALL-Macro-F1"),
    ),
    "scifact": ("sentence_label_f1", "sentence_selection_f1", "abstract_rationalized_f1", "abstract_label_only_f1"),
    "claims": ("sentence_f1", "abstract_f1", "label_accuracy"),
    "r4c": ("er_f1", "e_f1", "r_f1"),
    "hotpotqa": ("joint_f1", "joint_em", "f1", "em", "sp_f1", "sp_em"),
    "pool": ("micro-f1", "micro-p", "micro-r", "macro-f1", "ap"),
}
"""The measures that each task shows first. The first of them is the headline measure."""

_HEADLINE_WITHOUT_RANKINGS: Final = "LDC-MEAN-ALL-Macro-F1"
_HEADLINE_WITHOUT_RANKINGS_AND_LDC: Final = "SF-ALL-Micro-F1"

HEADLINE_REASONS: Final[Mapping[str, str]] = {
    "LDC-MEAN-AP": "the official score of TAC KBP 2017: nodes ranked by confidence, every LDC query counts alike",
    "SF-AP": "the official score of TAC KBP 2017 is an average precision; no LDC query groups these queries",
    _HEADLINE_WITHOUT_RANKINGS: "there is no average precision; every LDC query counts alike, confidences do not count",
    _HEADLINE_WITHOUT_RANKINGS_AND_LDC: "there is no average precision, and no LDC query groups these queries: "
    "all answers count alike, confidences do not count",
    "sentence_label_f1": "the publishers of SciFact select their own models by it: abstract, sentences and label must "
    "be right",
    "sentence_f1": "the primary metric of the task: document, sentences and verdict must be right",
    "er_f1": "whole facts, entities and relation together, are what R4C's derivations are made of",
    "joint_f1": "the leaderboard of HotpotQA ranks by it: answer and supporting facts together",
    "micro-f1": "all answers count alike; micro-r, the accuracy, where every unit wants one answer and gets no more",
    "micro-r": "the accuracy: every unit wants one answer and gets no more",
}
"""The reason why a measure is the headline measure of a task, as users read it."""

_MEASURE_BY_NAME: Final = {str(measure): measure for measures in MEASURES.values() for measure in measures}
_HOP_PATTERN: Final = "0|[1-9][0-9]{0,5}"
"""A hop in the name of a measure, after `@`: a number without leading zeros."""


def add_measures(task: str, names: Sequence[str], headlines: Sequence[str] = ()) -> None:
    """Add the measures of a task to the tables of this module, unless they have the task already.

    `names` are the names of its measures in the order in which tables show them. `headlines` are the names of the
    measures that are shown first; by default this is only the first measure. The first one is the headline measure, by
    which leaderboards are sorted.
    """
    if task in MEASURES:
        return
    MEASURES[task] = tuple([Measure(name) for name in names])
    _HEADLINES[task] = tuple(headlines) or (names[0],)
    for measure in MEASURES[task]:
        _MEASURE_BY_NAME[str(measure)] = measure


# ---- The search for measures


def parse_measure(text: str) -> Measure:
    """Return the measure with a name in any letter case: `sf-ap@1` gives the measure `SF-AP@1`.

    Only measures of Cold Start may have a hop. Raises UsageError if the measure does not exist.
    """
    name, at, hop = text.partition("@")
    full_name = find_name(name, _MEASURE_BY_NAME)
    if full_name is not None:
        measure = _MEASURE_BY_NAME[full_name]
        if not at:
            return measure
        is_of_cold_start = bool(measure.table)  # only measures of Cold Start belong to a table, such as SF
        if is_of_cold_start and re.fullmatch(_HOP_PATTERN, hop):
            return measure.at_level(hop)
    raise UsageError(f"no measure called {text}{_suggestion(name, _MEASURE_BY_NAME)}")


def find_name(text: str, names: Iterable[str]) -> str | None:
    """Return the name of a measure with the spelling used in `names`: `sf-ap@1` gives `SF-AP@1`.

    The letter case of `text` does not matter. `names` are names without a hop, but `text` may have a hop after `@`. The
    hop is a number; in the example it is 1, for the first follow-on queries. Returns None if the text is not one of the
    names, or if anything but a hop follows the `@`.
    """
    name_in_text, at, hop = text.partition("@")
    if at and not re.fullmatch(_HOP_PATTERN, hop):
        return None
    for name in names:
        if name.casefold() == name_in_text.casefold():
            return f"{name}{at}{hop}"
    return None


def _suggestion(word: str, names: Iterable[str]) -> str:
    """Return the end of the error message about a measure that does not exist: `; did you mean SF-AP?`.

    Up to three measures that have all parts of the word are suggested, such as `LDC-MEAN-AP` for `ap-ldc`. If there are
    none, the measure with the most similar spelling is suggested, or else up to three measures whose names contain the
    word. The result is empty if there is nothing to suggest.
    """
    names_over_all_hops = [name for name in names if "@" not in name]  # without names such as `SF-AP@1`
    plain_word = word.strip("*").casefold()
    names_with_parts = _names_with_parts(plain_word, names_over_all_hops)
    if names_with_parts:
        return f"; did you mean {' or '.join(names_with_parts[:3])}?"
    suggestion = did_you_mean(word, names_over_all_hops)
    if suggestion or not plain_word:
        return suggestion
    names_with_word = [name for name in names_over_all_hops if plain_word in name.casefold()]
    return f"; did you mean {', '.join(names_with_word[:3])}?" if names_with_word else ""


def _names_with_parts(word: str, names: Iterable[str]) -> list[str]:
    """Return the names of measures that have all hyphenated parts of a word, such as `LDC-MEAN-AP` for `ap-ldc`.

    `word` is in lower case. The list is empty if the word does not contain a hyphen.
    """
    parts = set(word.split("-"))
    if len(parts) < 2:
        return []
    return [name for name in names if parts <= set(name.casefold().split("-"))]


def measure_names(task: str) -> tuple[str, ...]:
    """Return the names of the measures of a task over all hops, in the order of tables: `("er_f1", ...)`."""
    return tuple([str(measure) for measure in MEASURES[task]])


def headline_names(task: str, has_ldc_queries: bool = True) -> tuple[str, ...]:
    """Return the names of the measures that a task shows first, beginning with the headline measure.

    If there are no LDC queries (`has_ldc_queries` is False), these are only measures of slot-filling queries.
    """
    if task != COLD_START_MODE or has_ldc_queries:
        return _HEADLINES[task]
    return tuple(name for name in _HEADLINES[task] if _MEASURE_BY_NAME[name].table == SF)


def default_measure(task: str = COLD_START_MODE, *, has_ldc_queries: bool = True, has_rankings: bool = True) -> Measure:
    """Return the headline measure of a task, by which runs are ranked and analysed unless the user names another one.

    For Cold Start it is a mean of average precision. The mean is taken over LDC queries, which may have several entry
    points, or over slot-filling queries if there are no LDC queries (`has_ldc_queries` is False). If there are no
    rankings (`has_rankings` is False), the headline measure is an F1 instead. Rankings are missing if the edition does
    not define them or if the run has no node ids.
    """
    if task != COLD_START_MODE or has_rankings:
        name = headline_names(task, has_ldc_queries)[0]
    elif has_ldc_queries:
        name = _HEADLINE_WITHOUT_RANKINGS
    else:
        name = _HEADLINE_WITHOUT_RANKINGS_AND_LDC
    return _MEASURE_BY_NAME[name]


def substitute_remark(has_ldc_queries: bool, reason: str) -> str:
    """Return a sentence that says which headline measure replaces average precision, and why.

    `has_ldc_queries` says whether LDC queries are known. They have their own measures.
    """
    average_precision_measure = default_measure(has_ldc_queries=has_ldc_queries)
    substitute = default_measure(has_ldc_queries=has_ldc_queries, has_rankings=False)
    return f"the headline measure is {substitute} in the place of {average_precision_measure}: {reason}"


def default_measure_for_scores(task: str, score_names: Iterable[str]) -> Measure:
    """Return the headline measure of a task, given the names of the measures by which runs have scores.

    The names show whether there are LDC queries, which may have several entry points, and whether there are rankings.
    """
    names_over_all_hops = [name.partition("@")[0] for name in score_names]
    measures = [_MEASURE_BY_NAME[name] for name in names_over_all_hops if name in _MEASURE_BY_NAME]
    has_ldc_queries = any(measure.table == LDC_MEAN for measure in measures)
    has_rankings = any(measure.statistic in RANKING_FORMULAS for measure in measures)
    return default_measure(task, has_ldc_queries=has_ldc_queries, has_rankings=has_rankings)


def headlines_among(tasks: Sequence[str], names: Sequence[str], score_names: Iterable[str] | None = None) -> list[str]:
    """Return the measures among `names` that are shown first, for results whose task is one of `tasks`.

    Three rules are applied in this order. (1) If the headline measure of a task is among `names`, it is returned alone.
    (2) If a task has other measures for a first screen among `names`, all of these are returned. (3) Otherwise all
    `names` are returned. Within each rule, the tasks are tried in order. If `names` are only some of the measures of a
    result, `score_names` must be all of them. They show whether the result has LDC queries and rankings, which
    determines the headline measure.
    """
    all_score_names = list(names if score_names is None else score_names)
    for task in tasks:
        headline_name = str(default_measure_for_scores(task, all_score_names))
        if headline_name in names:
            return [headline_name]
    for task in tasks:
        shown_first = [name for name in headline_names(task) if name in names]
        if shown_first:
            return shown_first
    return list(names)


def rankable_measures(task: str, *, has_ldc_queries: bool = True, has_rankings: bool = True) -> tuple[Measure, ...]:
    """Return the measures by which a leaderboard can be sorted, beginning with the headline measure.

    If there are no LDC queries (`has_ldc_queries` is False), these are only measures of slot-filling queries.
    """
    headline_measure = default_measure(task, has_ldc_queries=has_ldc_queries, has_rankings=has_rankings)
    measures = [headline_measure]
    for measure in MEASURES[task]:
        if measure != headline_measure and (has_ldc_queries or measure.table == SF):
            measures.append(measure)
    return tuple(measures)


def matching_names(names: Iterable[str], pattern: str) -> list[str]:
    """Return the names that match a pattern such as `SF-*` in any letter case. They keep their order."""
    return [name for name in names if fnmatchcase(name.casefold(), pattern.casefold())]


def undefined_sentences(reason_by_measure: Mapping[str, str]) -> list[str]:
    """Return a sentence for each reason why measures have no value: `SF-AP, LDC-MEAN-AP: no node is ...`.

    `reason_by_measure` has the reason for each such measure. A measure of one hop is left out if the same measure over
    all hops has no value either.
    """
    measures_by_reason: dict[str, list[str]] = {}
    for measure, reason in reason_by_measure.items():
        measure_over_all_hops, at, _ = measure.partition("@")
        if at and measure_over_all_hops in reason_by_measure:
            continue
        measures_by_reason.setdefault(reason, []).append(measure)
    return [f"{', '.join(measures)}: {reason}" for reason, measures in measures_by_reason.items()]


def select_names(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Return the names of measures that match at least one pattern. They keep their order.

    Patterns may have `*`, `?` and `[...]` as in a shell. Without patterns all names are returned. Raises UsageError if
    no name matches a pattern.
    """
    if not patterns:
        return list(names)
    selected_names: set[str] = set()
    for pattern in patterns:
        matches = matching_names(names, pattern)
        if not matches:
            suggestion = _suggestion(pattern, names) or f"; there are {', '.join(names)}"
            raise UsageError(f"no measure called {pattern}{suggestion}")
        selected_names.update(matches)
    return [name for name in names if name in selected_names]


# ---- Cold Start's measures from the statistics of units


def sum_columns_of(measures: Iterable[Measure]) -> tuple[str, ...]:
    """Return the columns of unit statistics from which Cold Start measures are computed: `("SF:ALL:right", ...)`."""
    columns: dict[str, None] = {}  # serves as a set that keeps the order
    for measure in measures:
        columns |= dict.fromkeys(measure.sum_columns)
    return tuple(columns)


def formula_of(measures: Iterable[Measure]) -> SumsFormula:
    """Return a function that computes the scores of Cold Start measures from the totals of their columns.

    `sum_columns_of` returns the names of these columns. The returned function takes two arguments: the totals, which
    are numbers or arrays, and a function that divides. It is a `partial`, so it can be sent to another process.
    """
    return partial(_scores, tuple(measures))


def _scores(measures: tuple[Measure, ...], totals: Sequence[Any], divide: Divide) -> list[Any]:
    """Return the scores of Cold Start measures, in the order of `measures`.

    `totals` holds the total of each column of `sum_columns_of(measures)`: numbers, or arrays with a total for each
    resample. The scores are computed from the totals with `divide`, and are also numbers or arrays.
    """
    scores = []
    for formula, positions in _formulas(measures):
        totals_of_measure = [totals[position] for position in positions]
        scores.append(formula(divide, *totals_of_measure))
    return scores


@functools.lru_cache(maxsize=64)
def _formulas(measures: tuple[Measure, ...]) -> list[tuple[Callable[..., Any], list[int]]]:
    """Return the formula of each measure, with the positions of its columns in `sum_columns_of(measures)`."""
    position_by_column = {column: position for position, column in enumerate(sum_columns_of(measures))}
    formulas = []
    for measure in measures:
        statistic = _STATISTIC_BY_AVERAGE_AND_NAME[measure.average, measure.statistic]
        positions = [position_by_column[column] for column in measure.sum_columns]
        formulas.append((statistic.formula, positions))
    return formulas
