"""The lowest and the highest value that the reference could print, where the order of its hash tables decides.

Three places do: which of several best entry points stands for an LDC query in LDC-MAX, whose ground truth says whether
a row of LDC-MEAN counts in the divisor, and which right response stays in the row of a single-valued slot. Each is a
group of options, which add rows to a table, and is independent of all other groups; each average is a ratio of two sums
over rows. Its extremes are found exactly without trying all combinations, by Dinkelbach's method.
Source: docs/background/ties.md, 1, 2 and 4.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from cs_score.base.records import Record
from cs_score.coldstart.judging import MOST_TRIED
from cs_score.coldstart.options import Edition
from cs_score.coldstart.result import (
    ALL_LEVELS,
    EntryPoints,
    RunResult,
    ScoreRow,
    Table,
    by_level,
    counted_f1,
    counted_row,
    mean_members,
)
from cs_score.measures.registry import LDC_MAX, LDC_MEAN, MACRO, MICRO, RANKED, SF, Measure

Group: TypeAlias = "list[Sequence[ScoreRow]]"
"""The rows of a table that one choice may lead to, ours first."""

Others: TypeAlias = Mapping[str, Sequence[Sequence[ScoreRow]]]
"""What else may stand in the place of a row, or of all rows of a query, by name."""

_NEGLIGIBLE: Final = 1e-12
"""Differences that only rounding makes."""


class Range(Record):
    """The lowest and the highest value of a measure."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:.4f} to {self.high:.4f}"

    @property
    def is_seen(self) -> bool:
        """Whether the two differ where four decimals are printed."""
        return f"{self.low:.4f}" != f"{self.high:.4f}"


class _TooManyOutcomesError(Exception):
    pass


def reference_range(run: RunResult, edition: Edition) -> dict[str, Range] | None:
    """The range of each measure of a run that the reference could print differently, by name; ours lies within. None
    where the outcomes of single-valued slots are too many to be worked out.
    """
    counts, of_rankings = run.alternatives.counts, run.alternatives.rankings
    if not all((*counts.values(), *of_rankings.values())):
        return None
    tables, ranked = run.tables, run.average_precision
    others: Others = {name: [[counted_row(name, each)] for each in several] for name, several in counts.items()}
    found = _ranges(SF, tables.sf, _replaced(tables.sf.rows, others))
    try:
        represented = [_represented(entry_points, others) for _, entry_points in tables.by_ldc]
    except _TooManyOutcomesError:
        return None
    if tables.ldc_max is not None and tables.ldc_mean is not None:
        found |= _ranges(LDC_MAX, tables.ldc_max, represented)
        if {row.level for row in tables.sf.macro} <= {"0", "1", ALL_LEVELS}:  # else hash order decides on hops, too
            found |= _ranges(LDC_MEAN, tables.ldc_mean, _averaged(tables.by_ldc, others, has_choice=True))
    if ranked is not None:
        each_for_all = edition.ranks_all_levels
        found |= _ranges(SF, ranked.sf, _replaced(ranked.sf.rows, of_rankings), each_for_all)
        if ranked.ldc_mean is not None:
            means = _averaged(ranked.by_ldc, of_rankings, has_choice=each_for_all)
            found |= _ranges(LDC_MEAN, ranked.ldc_mean, means, each_for_all)
    return {
        str(measure): Range(min(found[measure].low, own), max(found[measure].high, own))
        for measure, own in run.measures.items()
        if measure in found
    }


def _replaced(rows: Iterable[ScoreRow], others: Others) -> Iterator[Group]:
    """For each name that has others: the rows that bear it, then those."""
    ours: dict[str, list[ScoreRow]] = {}
    for row in rows if others else ():
        if row.name in others:
            ours.setdefault(row.name, []).append(row)
    return ([of_name, *others[name]] for name, of_name in ours.items())


def _represented(entry_points: EntryPoints, others: Others) -> Group:
    """The rows of each entry point that may stand for its LDC query: those that no other is sure to be better than."""
    if len(entry_points) == 1:
        return _outcomes(entry_points[0][1], others)
    options = [[(counted_f1(rows), rows) for rows in _outcomes(of_query, others)] for _, of_query in entry_points]
    _, ours = max((outcomes[0] for outcomes in options), key=lambda outcome: outcome[0])
    least = [min(score for score, _ in outcomes) for outcomes in options]
    group: Group = [ours]
    for at, outcomes in enumerate(options):
        needed = max(least[:at] + least[at + 1 :])
        group += [rows for score, rows in outcomes if score >= needed and rows is not ours]
    return group


def _outcomes(rows: Sequence[ScoreRow], others: Others) -> Group:
    """All rows that a query may have in the place of these, which stand first."""
    options = [[[row], *others.get(row.name, ())] for row in rows] if others else []
    outcomes = math.prod(map(len, options))
    if outcomes > 1 and outcomes * len(rows) > MOST_TRIED:
        raise _TooManyOutcomesError
    further = itertools.islice(itertools.product(*options), 1, None)
    return [rows, *(list(itertools.chain.from_iterable(chosen)) for chosen in further)]


def _averaged(by_ldc: Iterable[tuple[str, EntryPoints]], others: Others, *, has_choice: bool) -> Iterator[Group]:
    """What rows of LDC-MEAN may be: in the divisor or not, and means of other rows of their entry points, each of which
    adds its share of the mean. `has_choice`: their ground truth is that of any member; otherwise the largest.
    """
    for full_id, entry_points in by_ldc if has_choice or others else ():
        if len(entry_points) == 1 and not others:
            continue  # its own rows are the means
        mean_of: dict[tuple[str, str], tuple[str, int]] = {}
        for (name, level), members in mean_members(full_id, entry_points).items():
            for row in members if others else ():
                mean_of[row.name, row.level] = level, len(members)
            if has_choice and len(members) > 1 and len({row.ground_truth > 0 for row in members}) > 1:
                nothing = (0.0,) * len(members[0].scores)
                yield [[ScoreRow(name, level, None, nothing, truth)] for truth in (1, 0)]
        for group in _replaced((row for _, rows in entry_points for row in rows), others):
            shares: Group = []
            for option in group:
                placed = ((row, *mean_of[row.name, row.level]) for row in option)
                shares.append(
                    [
                        ScoreRow(row.name, level, None, tuple(score / members for score in row.scores), 0)
                        for row, level, members in placed
                    ]
                )
            yield shares


class _Ratio(NamedTuple):
    """What rows add to the two sums of a ratio, and their number: without any there is no average."""

    numerator: float
    denominator: int
    rows: int

    def plus(self, other: _Ratio, times: int = 1) -> _Ratio:
        numerator, denominator, rows = other
        return _Ratio(
            self.numerator + times * numerator, self.denominator + times * denominator, self.rows + times * rows
        )


_Ratios: TypeAlias = dict[tuple[str, str, str], _Ratio]
"""By statistic, average and level."""


def _ratios(rows: Iterable[ScoreRow], each_for_all: bool | None) -> _Ratios:
    """What rows add to each average. Where a policy ignores what it counts as right, so that there is no answer, a
    denominator is negative.
    """
    found: _Ratios = {}
    average, names = (MACRO, ("P", "R", "F1")) if each_for_all is None else ("", tuple(RANKED)[:1])
    for level, of_level in by_level(rows, each_for_all is not False).items():
        if counts := [row.counts for row in of_level if row.counts is not None]:
            right, answered = sum(each.right for each in counts), sum(each.answered for each in counts)
            truth = sum(each.ground_truth for each in counts)
            parts = (right, answered), (right, truth), (2 * right, answered + truth)
            for name, (above, below) in zip(names, parts):
                found[name, MICRO, level] = _Ratio(above, below if answered or not right else -1, len(of_level))
        to_find = sum(row.ground_truth > 0 for row in of_level)
        for name, scores in zip(names, zip(*(row.scores for row in of_level))):
            found[name, average, level] = _Ratio(math.fsum(scores), to_find, len(of_level))
    return found


def _ranges(
    variant: str, table: Table, groups: Iterable[Group], each_for_all: bool | None = None
) -> dict[Measure, Range]:
    """The range of each average of a table that differs. `each_for_all`: rankings have rows of level ALL; whether the
    average of ALL counts the rows of all levels, too.
    """
    options = [[_ratios(rows, each_for_all) for rows in group] for group in groups if len(group) > 1]
    found: dict[Measure, Range] = {}
    for (name, average, level), whole in _ratios(table.rows, each_for_all).items() if options else ():
        key, none = (name, average, level), _Ratio(0, 0, 0)
        each = _range(whole, [[option.get(key, none) for option in group] for group in options])
        if each and each.high - each.low > _NEGLIGIBLE:
            found[Measure(name, variant, average).at(level)] = each
    return found


def _range(base: _Ratio, groups: Iterable[Sequence[_Ratio]]) -> Range | None:
    """The extremes of a ratio, given that of our own options, the first of each group. None where nothing varies, or a
    denominator is negative: a policy names a category twice.
    """
    varying = Counter[tuple[_Ratio, ...]]()
    for ours, *others in groups:
        if any(other != ours for other in others):
            base = base.plus(ours, -1)
            varying[tuple(sorted({ours, *others}))] += 1
    if not varying or min(base.denominator, *(option.denominator for group in varying for option in group)) < 0:
        return None
    return Range(_extreme(base, varying, -1), _extreme(base, varying, 1))


def _extreme(base: _Ratio, groups: Mapping[tuple[_Ratio, ...], int], sign: int) -> float:
    """The highest ratio (`sign` 1) or the lowest (-1) over all choices of one option a group, each so many times. A
    ratio without denominator is 0. Of all others that one is extreme from which no choice has a greater numerator less
    (or a smaller one than) the ratio times its denominator.
    """
    has_none = not base.denominator and all(any(not each.denominator for each in group) for group in groups)
    rows = (each.rows for group in groups for each in group if not each.denominator)
    if has_none and sign < 0 and (base.rows or any(rows)):
        return 0.0
    ratio, best = 0.0, None
    while True:
        total = base
        least = math.inf, _Ratio(0, 0, 0), _Ratio(0, 0, 0)
        for group, times in groups.items():
            gains = [(sign * (each.numerator - ratio * each.denominator), each.denominator, each) for each in group]
            gain, _, chosen = max(gains) if best is not None else max(gains, key=lambda item: item[1])
            total = total.plus(chosen, times)
            least = min([least, *((gain - other, chosen, each) for other, some, each in gains if some)])
        if not total.denominator:
            total = total.plus(least[1], -1).plus(least[2])
        if not total.denominator:
            return 0.0
        found = total.numerator / total.denominator
        if best is not None and sign * (found - best) <= _NEGLIGIBLE:
            return best if best > _NEGLIGIBLE else 0.0
        ratio = best = found
