"""Measures from what each unit adds to them, so that a change in one unit costs no more than that unit.

Every measure is made of sums over units (`measures.registry.sums_of`): the counts behind a micro average, the sums of
P, R, F1 or AP and the number of rows that they are divided by behind a macro average (specification 8.4, 9.8). LDC-MAX
and LDC-MEAN look at nothing outside their LDC query, which is the unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.coldstart.whatif.unit_state import QueryChange
from cs_score.analysis.coldstart.whatif.unit_sums import RowCounts, UnitSums
from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.coldstart.projection import ALL_LEVELS
from cs_score.coldstart.result import UnitResult
from cs_score.measures.formulas import divide
from cs_score.measures.measure import Measure
from cs_score.measures.registry import LDC_MAX, formula_of, sums_of

_QueryKey: TypeAlias = tuple[str, tuple[object, ...], tuple[object, ...]]
"""A query of the current unit, its rows that change, and its rankings."""

_Added: TypeAlias = tuple[Sequence[float], RowCounts]
"""What a unit adds to the sums and to the numbers of rows."""


class Scores(Record):
    """The scores of measures, in their order; None where the scorer would not give one, for the reason said."""

    values: Sequence[float | None]
    reason: str | None = None


class Recombination:
    """Scores after changes, from the sums of the units that changed and of those that did not."""

    def __init__(self, scored: Scored, measures: Sequence[Measure]) -> None:
        self._table = scored.run.gold.table
        self._measures = tuple(measures)
        self._formula = formula_of(measures)
        self._columns = sums_of(measures)
        self._rows_of = [
            (measure.table if is_of_one_hop_of_ldc_max(measure) else bool(measure.average), measure.level)
            for measure in measures
        ]
        self._units = {unit.id: unit for unit in scored.result.units}
        self._total: list[float] = [0.0] * len(self._columns)
        self._rows: RowCounts = Counter()
        for unit in scored.result.units:
            sums = UnitSums(unit, self._table, self._columns)
            self._total = [total + value for total, value in zip(self._total, sums.values)]
            self._rows.update(sums.rows)
        self._unranked = {
            unit.id: reason for unit in scored.result.units if (reason := _why_unranked(unit)) is not None
        }
        self._current: tuple[str, UnitSums] | None = None
        # Most lines of a row change it in the same way: a tenth of the time of a cost list.
        self._known: dict[_QueryKey, Scores] = {}
        self._moved: dict[str, _Added] = {}
        self.base = self._scores(self._total, self._rows, self._unranked)
        """The scores without any change."""

    def after(self, units: Iterable[tuple[str, UnitResult]]) -> Scores:
        """The scores once these units, by id, have changed; none where telling them raises InputError."""
        try:
            return self._scores(*self._sums_after(units, None))
        except InputError as refusal:
            return self.refused(refusal)

    def refused(self, refusal: InputError) -> Scores:
        """No score at all, since the changed files could not be scored."""
        return Scores([None] * len(self._measures), str(refusal))

    def move_to(self, units: Iterable[tuple[str, UnitResult]]) -> Scores:
        """The scores once these units have changed; changes that come later start from there.

        Raises the InputError that telling the units raises, and stays where it is then.
        """
        moved: dict[str, _Added] = {}
        self._total, self._rows, self._unranked = self._sums_after(units, moved)
        self._moved |= moved
        self._known.clear()
        return self._scores(self._total, self._rows, self._unranked)

    def _sums_after(
        self, units: Iterable[tuple[str, UnitResult]], moved: dict[str, _Added] | None
    ) -> tuple[list[float], RowCounts, dict[str, str]]:
        """The sums over all units, the numbers of rows by level, and why units have no ranking.

        What the units that have changed add now is put into `moved`, unless it is None.
        """
        total, rows, unranked = self._total, self._rows.copy(), dict(self._unranked)
        for unit_id, result in units:
            new = UnitSums(result, self._table, self._columns)
            if moved is not None:
                moved[unit_id] = new.values, new.rows
            total = [sum_ + value for sum_, value in zip(total, new.values)]
            rows.update(new.rows)
            if unit_id in self._units or unit_id in self._moved:
                old_values, old_rows = self._added(unit_id)
                total = [sum_ - value for sum_, value in zip(total, old_values)]
                rows.subtract(old_rows)
            unranked.pop(unit_id, None)
            if (reason := _why_unranked(result)) is not None:
                unranked[unit_id] = reason
        return total, rows, unranked

    def after_query(self, unit_id: str, change: QueryChange) -> Scores:
        """The scores once one query has others; its unit is as it was before any move."""
        before = self._sums(unit_id)
        key = change.short_id, tuple(change.rows.items()), tuple(change.rankings.items())
        if (known := self._known.get(key)) is None:
            known = self._known[key] = self._with_query(before, change)
        return known

    def _with_query(self, before: UnitSums, change: QueryChange) -> Scores:
        values = before.after(change.short_id, change.rows, change.rankings)
        total = [sum_ + (new - old) for sum_, new, old in zip(self._total, values, before.values)]
        rows = self._rows
        for name in (name for name, new in change.rows.items() if new is None):
            level = before.queries[change.short_id].rows[name].level
            rows = rows - Counter({(True, level): 1, (True, ALL_LEVELS): 1})
        return self._scores(total, rows, self._unranked)

    def _added(self, unit_id: str) -> _Added:
        if unit_id in self._moved:
            return self._moved[unit_id]
        sums = self._sums(unit_id)
        return sums.values, sums.rows

    def _sums(self, unit_id: str) -> UnitSums:
        if self._current is None or self._current[0] != unit_id:
            self._current = unit_id, UnitSums(self._units[unit_id], self._table, self._columns)
            self._known.clear()
        return self._current[1]

    def _scores(self, total: Sequence[float], rows: RowCounts, unranked: Mapping[str, str]) -> Scores:
        scores: list[float | None] = self._formula(total, divide)
        reason = None
        if self._table.ldc_of and not rows.get((True, ALL_LEVELS)):
            return Scores([None] * len(scores), "nothing to score: no row would be left")
        for at, key in enumerate(self._rows_of):
            if unranked and not key[0]:
                scores[at], reason = None, next(iter(unranked.values()))
            elif not rows.get(key):
                scores[at] = None
                reason = reason or f"there would be no row of hop {key[1]}"
        return Scores(scores, reason)


def is_of_one_hop_of_ldc_max(measure: Measure) -> bool:
    """Whether the table may have no row of the hop though the run has: it has those of one entry point only."""
    return measure.table == LDC_MAX and measure.hop is not None


def _why_unranked(unit: UnitResult) -> str | None:
    return next((str(query.unranked) for query in unit.queries if query.unranked is not None), None)
