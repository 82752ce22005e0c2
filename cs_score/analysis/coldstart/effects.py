"""The difference that one change makes to each measure.

Every measure is made of sums over units (`coldstart.unit_statistics`), and LDC-MAX and LDC-MEAN look at nothing outside
their LDC query, which is the unit. So what changes in one unit changes the scores by recombining the sums.
"""

from __future__ import annotations

import functools
import operator
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from cs_score.analysis.coldstart.changes import NOTHING, Change, Removal
from cs_score.analysis.coldstart.rescoring import Rescoring
from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.coldstart.options import Policy
from cs_score.coldstart.result import ALL_LEVELS, UnitResult, left_sum
from cs_score.measures.registry import LDC_MAX, LDC_MEAN, RANKED, SF, Measure, divide, f1, formula_of, sums_of

Level: TypeAlias = tuple[str, bool, str]
"""A table, whether it counts (else it ranks), and a level that it has rows of."""

Sums: TypeAlias = tuple[Sequence[float], frozenset[Level]]
"""What a unit adds to the columns of `sums_of`, and the levels that it has rows of."""

Row: TypeAlias = tuple[float, ...]
"""What a row of a table adds, in the order of `_COUNTED` or `_RANKED`."""

_COUNTED: Final = ("right", "answered", "ground_truth", "precision", "recall", "f1", "rows")
_RANKED: Final = (*RANKED, "rankings")


class Effect(Record):
    """The difference that a change makes to each measure, by name.

    A difference is None where the scorer would not give the score, and `reason` says why.
    """

    differences: Mapping[str, float | None]
    reason: str | None = None


class Scores(Record):
    """The scores of measures, in their order; None where the scorer would not give one, for the reason said.

    `is_refused`: the changed files could not be scored at all.
    """

    values: Sequence[float | None]
    reason: str | None = None
    is_refused: bool = False


class Effects:
    """What changes of one run would make of its scores, from the sums of the units that change and those that do not.

    An effect is the score of the changed files minus the score of the run, each as the scorer would give it.
    """

    def __init__(self, scored: Scored, measures: Sequence[Measure], rescoring: Rescoring | None = None) -> None:
        """`measures`: those that effects are on, which the run must have scores of; the first is asked about."""
        self._scored = scored
        self._measures = tuple(measures)
        self.rescoring = rescoring or Rescoring(scored)
        self._is_ranked = any(not each.average for each in measures)
        self._formula = formula_of(measures)
        self._places: list[tuple[Level, int]] = []
        for table, level, name in (column.split(":") for column in sums_of(measures)):
            is_counted = name in _COUNTED
            self._places.append(((table, is_counted, level), (_COUNTED if is_counted else _RANKED).index(name)))
        self._wanted = {(SF, True, ALL_LEVELS), *(level for level, _ in self._places)}
        self._nothing: Sums = (0.0,) * len(self._places), frozenset()
        queries = scored.run.gold.table
        self._ranks_all_levels = queries.edition.ranks_all_levels
        self._entry_points = {
            ldc_id: list(dict.fromkeys(queries.by_id[ldc_id].expansions or ())) for ldc_id in queries.ldc_of.values()
        }
        self._sums = {unit.id: self._sums_of(unit) for unit in scored.result.units}
        self._total: Sequence[float] = self._nothing[0]
        self._levels: Counter[Level] = Counter()
        for values, levels in self._sums.values():
            self._total = [total + value for total, value in zip(self._total, values)]
            self._levels.update(levels)
        self._unranked = {unit.id: reason for unit in scored.result.units if (reason := _why_unranked(unit))}
        self.base = self._combined(self._total, self._levels, self._unranked)
        """The scores without any change."""

    def of_first_measure(self) -> Effects:
        """Effects on the measure that is asked about alone, which take less time."""
        return self if len(self._measures) == 1 else Effects(self._scored, self._measures[:1], self.rescoring)

    def of(self, change: Change) -> Effect:
        after = self.scores(change)
        differences = {
            str(measure): None if new is None or old is None else new - old
            for measure, new, old in zip(self._measures, after.values, self.base.values)
        }
        return Effect(differences, after.reason)

    def scores(
        self, change: Change, policy: Policy | None = None, *, before: Removal = NOTHING, stays: bool = False
    ) -> Scores:
        """The scores of the changed files, under another policy where one is given.

        They were those without the lines of `before`. If the change `stays`, later ones start from here, or from where
        this one did if the changed files cannot be scored.
        """
        total, levels, unranked, moved = self._total, self._levels, dict(self._unranked), {}
        try:
            for unit_id, result in self.rescoring.rescored(change, policy, before=before, is_ranked=self._is_ranked):
                moved[unit_id] = new_values, new_levels = self._sums_of(result)
                old_values, old_levels = self._sums.get(unit_id, self._nothing)
                total = [sum_ + new - old for sum_, new, old in zip(total, new_values, old_values)]
                if new_levels != old_levels:
                    levels = levels + Counter(new_levels)
                    levels.subtract(old_levels)
                unranked.pop(unit_id, None)
                if (reason := _why_unranked(result)) is not None:
                    unranked[unit_id] = reason
        except InputError as refusal:
            return Scores([None] * len(self._measures), str(refusal), is_refused=True)
        if stays:
            self._total, self._levels, self._unranked = total, levels, unranked
            self._sums |= moved
        return self._combined(total, levels, unranked)

    def _combined(self, total: Sequence[float], levels: Mapping[Level, int], unranked: Mapping[str, str]) -> Scores:
        scores: list[float | None] = self._formula(total, divide)
        if self._entry_points and not levels.get((SF, True, ALL_LEVELS)):
            return Scores([None] * len(scores), "nothing to score: no row would be left")
        reason = None
        for at, each in enumerate(self._measures):
            if unranked and not each.average:
                scores[at], reason = None, next(iter(unranked.values()))
            elif not levels.get((each.table, bool(each.average), each.level)):
                scores[at] = None
                reason = reason or f"there would be no row of hop {each.level}"
        return Scores(scores, reason)

    def _sums_of(self, unit: UnitResult) -> Sums:
        """What a unit adds to the sums.

        LDC-MAX takes the rows of the entry point with the highest F1, LDC-MEAN the means over the entry points that
        have a row (rules ldc-max, ldc-mean).
        """
        sums: dict[Level, Row] = {}

        def add(table: str, is_counted: bool, level: str, row: Row) -> None:
            for each in (level, ALL_LEVELS) if is_counted or self._ranks_all_levels else (level,):
                key = table, is_counted, each
                if key in self._wanted:
                    known = sums.get(key)
                    sums[key] = row if known is None else tuple(map(operator.add, known, row))

        means: dict[tuple[bool, str], list[Row]] = defaultdict(list)
        of_query: dict[str, list[tuple[str, Row]]] = {}
        entry_points = self._entry_points.get(unit.id, ())
        for query in sorted(unit.queries, key=lambda query: query.query.short_id):
            short_id = query.query.short_id
            rows = of_query[short_id] = [
                (_level(tally.name), _row(tally.counts.right, tally.counts.answered, tally.counts.ground_truth))
                for tally in query.tallies
            ]
            for level, row in rows:
                add(SF, True, level, row)
            for tally, (_, row) in zip(query.tallies, rows if short_id in entry_points else ()):
                means[True, ":".join(tally.name.split(":", 2)[:2]).partition(":")[2]].append(row)
            for ranking in query.rankings:
                row = (*ranking.scores, (ranking.ground_truth or 0) > 0)
                add(SF, False, ranking.level, row)
                if short_id in entry_points:
                    means[False, ranking.level].append(row)
        best = [of_query[short_id] for short_id in entry_points if of_query.get(short_id)]
        for level, row in max(best, key=_f1) if best else ():
            add(LDC_MAX, True, level, row)
        for (is_counted, name), members in means.items():
            columns = list(zip(*members))
            scores = [left_sum(column) / len(members) for column in columns[:-1]]
            add(LDC_MEAN, is_counted, str(int(name != "")) if is_counted else name, (*scores, any(columns[-1])))
        values = [sums[level][place] if level in sums else 0.0 for level, place in self._places]
        return values, frozenset(sums)


@functools.lru_cache(maxsize=1 << 12)
def _row(right: int, answered: int, ground_truth: int) -> Row:
    precision, recall = divide(right, answered), divide(right, ground_truth)
    return right, answered, ground_truth, precision, recall, f1(precision, recall), ground_truth > 0


@functools.lru_cache(maxsize=1 << 12)
def _level(name: str) -> str:
    return str(name.count(":"))


def _f1(rows: Sequence[tuple[str, Row]]) -> float:
    right, answered, ground_truth, *_ = map(sum, zip(*(row for _, row in rows)))
    return float(f1(divide(right, answered), divide(right, ground_truth)))


def _why_unranked(unit: UnitResult) -> str | None:
    return next((str(query.unranked) for query in unit.queries if query.unranked is not None), None)
