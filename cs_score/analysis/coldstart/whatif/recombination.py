"""Measures from what each unit adds to them, so that a change in one unit costs no more than that unit.

Every measure is made of sums over units (`measures.registry.sums_of`): the counts behind a micro average, the sums of
P, R, F1 or AP and the number of rows that they are divided by behind a macro average (specification 8.4, 9.8). LDC-MAX
and LDC-MEAN look at nothing outside their LDC query, which is the unit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.coldstart.whatif.rescoring import Outcome
from cs_score.coldstart.combining import score_rows
from cs_score.coldstart.counting.projection import ALL_LEVELS, averaged_table, ldc_tables
from cs_score.coldstart.queries.query_set import QuerySet
from cs_score.coldstart.ranking.tables import averaged_ap_table, ldc_mean_ap, slot_filling_ap
from cs_score.coldstart.result import AveragePrecision, PrecisionRecall, RunResult, UnitResult
from cs_score.coldstart.unit_statistics import unit_table
from cs_score.foundation.record import dataclass
from cs_score.measures.formulas import divide
from cs_score.measures.measure import Measure
from cs_score.measures.registry import formula_of


@dataclass(frozen=True, slots=True)
class UnitSums:
    """What a unit adds: its `sums`, the number of its rows by level, and why its rankings could not be used."""

    sums: tuple[float, ...]
    rows: Counter[tuple[bool, str]]
    unranked: str | None


@dataclass(frozen=True, slots=True)
class Scores:
    """The score of each measure; None where the scorer would not give it, for the reason said."""

    scores: Mapping[Measure, float | None]
    reason: str | None = None


class Recombination:
    """Scores after changes from the sums of the units that changed and of those that did not."""

    def __init__(self, scored: Scored, measures: Sequence[Measure]) -> None:
        self._table = scored.run.gold.table
        self._measures = tuple(measures)
        self._formula = formula_of(measures)
        self._base = {unit.id: self.sums(unit) for unit in scored.result.units}
        columns = zip(*(unit.sums for unit in self._base.values()))
        self._total = tuple(map(math.fsum, columns))
        self._rows: Counter[tuple[bool, str]] = Counter()
        for unit in self._base.values():
            self._rows.update(unit.rows)
        self._unranked = {unit_id: unit.unranked for unit_id, unit in self._base.items() if unit.unranked is not None}
        self.base = self._scores(self._total, self._rows, self._unranked)
        """The scores without any change."""

    def sums(self, unit: UnitResult) -> UnitSums:
        """What a unit adds."""
        own = QuerySet(
            self._table.by_id,
            {
                query.query.short_id: self._table.ldc_of[query.query.short_id]
                for query in unit.queries
                if query.query.short_id in self._table.ldc_of
            },
            self._table.was_expanded,
        )
        sf = averaged_table(score_rows([unit]))
        tables = PrecisionRecall(sf, *(ldc_tables(sf, own) if own.ldc_of else (None, None)))
        rankings = [ranking for query in unit.queries for ranking in query.rankings]
        sf_ap = averaged_ap_table(slot_filling_ap(rankings))
        ranked = AveragePrecision("", sf_ap, ldc_mean_ap(sf_ap, own) if own.ldc_of else None)
        unit_of = {query.query.full_id: unit.id for query in unit.queries}
        if own.ldc_of:
            unit_of[self._table.by_id[unit.id].full_id] = unit.id
        result = RunResult("", tables, average_precision=ranked, unit_of=unit_of)
        rows = Counter((True, row.level) for row in sf.rows)
        rows.update((False, row.level) for row in sf_ap.rows)
        if sf.rows:
            rows[True, ALL_LEVELS] = len(sf.rows)
        unranked = next((str(query.unranked) for query in unit.queries if query.unranked is not None), None)
        return UnitSums(unit_table(result, self._measures).sums(), rows, unranked)

    def after(self, outcome: Outcome) -> Scores:
        """The scores once these units have changed."""
        if outcome.refusal is not None:
            return Scores(dict.fromkeys(self._measures), outcome.refusal)
        total, rows, unranked = list(self._total), self._rows.copy(), dict(self._unranked)
        for unit_id, result in outcome.units.items():
            old, new = self._base.get(unit_id), self.sums(result)
            for column, value in enumerate(new.sums):
                total[column] += value - (0 if old is None else old.sums[column])
            rows.update(new.rows)
            if old is not None:
                rows.subtract(old.rows)
            unranked.pop(unit_id, None)
            if new.unranked is not None:
                unranked[unit_id] = new.unranked
        return self._scores(total, rows, unranked)

    def _scores(
        self, total: Sequence[float], rows: Mapping[tuple[bool, str], int], unranked: Mapping[str, str]
    ) -> Scores:
        scores: dict[Measure, float | None] = dict(zip(self._measures, self._formula(total, divide)))
        reason = None
        if self._table.ldc_of and not rows.get((True, ALL_LEVELS)):
            return Scores(dict.fromkeys(self._measures), "nothing to score: no row would be left")
        for measure in self._measures:
            is_counted = bool(measure.average)
            if not is_counted and unranked:
                scores[measure], reason = None, next(iter(unranked.values()))
            elif not rows.get((is_counted, measure.level)):
                scores[measure] = None
                reason = reason or f"there would be no row of hop {measure.level}"
        return Scores(scores, reason)
