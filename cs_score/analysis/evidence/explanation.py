"""`explain`: how single units of an evidence mode were scored, and what their mistakes cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cs_score.analysis.evidence.analysis import AnyExaminer, costs_of, listed, numbered_units, unit_at
from cs_score.analysis.evidence.documents import ExplainedUnit, Explanation
from cs_score.base.records import replace
from cs_score.measures.formulas import divide
from cs_score.tasks.task import Progress

LARGEST_COSTS: Final = 3
"""Mistakes that are shown of a whole run."""


def explain(examiner: AnyExaminer, units: Sequence[str | int] = (), *, progress: Progress = iter) -> Explanation:
    """How units were scored and what their mistakes cost; without units the largest costs of the run.

    A unit is named by its id; where gold repeats it, all that are called so are explained. `progress` hands back all
    units where none is named. Raises InputError, with the nearest ids, where no unit is called so.
    """
    result, measure = examiner.result, examiner.measure
    explained = tuple(unit for name in units for unit in _explained(examiner, result.positions_of(name)))
    every = [] if units else [unit_at(examiner, each) for each in examiner.together()]
    origin = replace(result.origin, measure=measure)
    return Explanation(
        task=result.mode.name,
        measure=measure,
        signature=str(origin.signature),
        origin=origin,
        units=explained,
        mistakes=listed(examiner, costs_of(examiner, progress(every))[:LARGEST_COSTS]),
        score=result.scores[measure],
        scores=dict(result.scores),
        statistics=dict(zip(result.table.columns, result.table.sums())),
    )


def _explained(examiner: AnyExaminer, positions: Sequence[int]) -> list[ExplainedUnit]:
    """The units at these positions, which have one id as text."""
    result = examiner.result
    names, units = numbered_units(examiner), {}
    for together in examiner.together():
        if not {*together}.isdisjoint(positions):
            units.update(dict.fromkeys(together, unit_at(examiner, together)))
    costs = costs_of(examiner, {unit.positions: unit for unit in units.values()}.values())
    return [
        ExplainedUnit(
            *names[position],
            lines=tuple(result.explained(position)),
            statistics=dict(zip(result.table.columns, result.table.rows[position])),
            scores=dict(zip(result.mode.measures, result.mode.formula(result.table.rows[position], divide))),
            prediction=examiner.written(position),
            mistakes=listed(examiner, (cost for cost in costs if position in cost.unit.positions)),
        )
        for position in positions
    ]
