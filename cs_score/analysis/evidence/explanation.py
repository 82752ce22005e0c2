"""`explain`: how single units of an evidence mode were scored, and what their mistakes cost.

from cs_score.evidence import scifact

print("\\n".join(explain(scifact.score("gold.jsonl", "run.jsonl"), ["52"]).units[0].lines))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from cs_score.analysis.evidence.examiner import AnyExaminer, Progress, numbered_units, unit_at, units_of
from cs_score.analysis.evidence.mistakes import Mistake, examiner_of, mistakes_of
from cs_score.base.display import one_line
from cs_score.base.records import Record, replace
from cs_score.base.signing.origin import Origin
from cs_score.evidence.result import Mode, Result
from cs_score.measures.formulas import divide

SCHEMA_VERSION: Final = 1
"""Of the JSON object; raised when a key changes its meaning or goes away."""

LARGEST_COSTS: Final = 3
"""Mistakes that are shown of a whole run."""


class ExplainedUnit(Record):
    """How one unit was scored.

    `lines` say it in words, text from the inputs as it was read; `statistics` are what it adds to the totals, `scores`
    the measures (0..1) that it would have alone; `mistakes` are sorted by gain.
    """

    unit: object
    occurrence: int
    lines: tuple[str, ...]
    statistics: Mapping[str, float]
    scores: Mapping[str, float]
    prediction: object
    mistakes: tuple[Mistake, ...]

    def as_json(self) -> dict[str, object]:
        """The unit as a JSON object."""
        return {
            "unit": self.unit,
            "occurrence": self.occurrence,
            "lines": list(self.lines),
            "statistics": dict(self.statistics),
            "scores": dict(self.scores),
            "prediction": self.prediction,
            "mistakes": [mistake.as_json() for mistake in self.mistakes],
        }


class Explanation(Record):
    """Units explained, or the whole run: then `units` is empty and `mistakes` has its largest costs."""

    mode: Mode
    measure: str
    score: float
    units: tuple[ExplainedUnit, ...]
    mistakes: tuple[Mistake, ...]
    origin: Origin

    def as_json(self) -> dict[str, object]:
        """The explanation as a JSON object."""
        return {
            "schema_version": SCHEMA_VERSION,
            "mode": self.mode.name,
            "measure": self.measure,
            "units": [unit.as_json() for unit in self.units],
            "mistakes": [mistake.as_json() for mistake in self.mistakes],
            "score": self.score,
            "signature": self.origin.as_json(),
        }


def explain(
    result: Result, units: Sequence[str | int] = (), measure: str | None = None, *, progress: Progress = iter
) -> Explanation:
    """How units were scored and what their mistakes cost; without units the largest costs of the run.

    A unit is named by its id; where gold repeats it, all that are called so are explained. `progress` hands back all
    units where none is named. Raises InputError, with the nearest ids, where no unit is called so, and UsageError for a
    measure that the mode lacks.
    """
    examiner = examiner_of(result, measure)
    explained = tuple(unit for name in units for unit in _explained(examiner, result.positions_of(name)))
    costs = () if units else tuple(mistakes_of(examiner, progress(units_of(examiner)))[:LARGEST_COSTS])
    return Explanation(
        mode=result.mode,
        measure=examiner.measure,
        score=result.scores[examiner.measure],
        units=explained,
        mistakes=costs,
        origin=replace(result.origin, measure=examiner.measure),
    )


def _explained(examiner: AnyExaminer, positions: Sequence[int]) -> list[ExplainedUnit]:
    """The units at these positions, which have one id as text."""
    result, mode = examiner.result, examiner.result.mode
    together = {
        position: unit for unit in examiner.together() for position in unit if not {*unit}.isdisjoint(positions)
    }
    mistakes = mistakes_of(examiner, [unit_at(examiner, unit) for unit in dict.fromkeys(together.values())])
    found = []
    names = numbered_units(examiner)
    for position in positions:
        row = result.table.rows[position]
        unit, occurrence = names[position]
        found.append(
            ExplainedUnit(
                unit=unit,
                occurrence=occurrence,
                lines=tuple(result.explained(position)),
                statistics=dict(zip(result.table.columns, row)),
                scores=dict(zip(mode.measures, mode.formula(row, divide))),
                prediction=examiner.written(position),
                mistakes=tuple(mistake for mistake in mistakes if mistake.position in together[position]),
            )
        )
    return found


MOST_UNITS: Final = 20_000
"""Units of one run that are explained."""


def explain_everything(examiner: AnyExaminer, mistakes: Sequence[Mistake], *, with_others: bool) -> dict[str, object]:
    """How units were scored, at most `MOST_UNITS`: those of the mistakes first, and without mistakes `with_others`.

    The keys of the result stand in the JSON of an analysis below `explanations`.
    """
    result = examiner.result
    positions = range(len(result.table.ids))
    wanted = [*dict.fromkeys((*(each.position for each in mistakes), *(positions if with_others else ())))]
    chosen = set(wanted[:MOST_UNITS])
    units: list[dict[str, object]] = []
    texts: list[str] = []
    for position, (unit, occurrence) in enumerate(numbered_units(examiner)):
        if position in chosen:
            units.append({"unit": unit, "occurrence": occurrence, "steps": [len(texts)]})
            texts.append("\n".join(map(one_line, result.explained(position))))
    return {"left_out": len(positions) - len(units), "units": units, "texts": texts}
