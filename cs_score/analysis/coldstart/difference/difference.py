"""`diff`: why one Cold Start run scores higher than another, or than itself under another policy or pool."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from cs_score.analysis.coldstart.difference.fates import (
    AnswerPair,
    ClassPair,
    answer_pairs,
    class_pairs,
    counted,
)
from cs_score.analysis.coldstart.difference.line_groups import line_groups_of
from cs_score.analysis.coldstart.difference.units import Part, groups_of, unit_parts
from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.significance import significance
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace, to_builtins
from cs_score.base.signing.origin import Origin
from cs_score.coldstart.unit_statistics import resampled_unit, unit_table
from cs_score.measures.measure import Measure
from cs_score.measures.registry import formula_of
from cs_score.statistics.arithmetic import ColumnFormula
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.options import Note, Resampling
from cs_score.statistics.results import Comparison
from cs_score.statistics.units import UnitTable

SCHEMA_VERSION: Final = 1
"""Raised when a key changes its meaning or goes away; new keys do not raise it."""


class Difference(Record):
    """Why B scores otherwise than A under `measure` (insight specification 5).

    `names` are what people call A and B. `units` are those that count differently, the largest contribution first; all
    contributions add up to the difference. `answers` are those that fared differently, and `classes` those that only
    one of the two has found; `outcomes` and `found` count all of them. `groups` has the rows of the measure's table put
    together by slot, hop and entity type, and for micro averages its lines by what tells them apart. `compared` has
    interval and p-values, None where the two have other units.
    """

    measure: Measure
    names: tuple[str, str]
    a: float
    b: float
    unit: str
    units: Sequence[Part]
    answers: Sequence[AnswerPair]
    outcomes: Mapping[str, int]
    classes: Sequence[ClassPair]
    found: Mapping[str, int]
    groups: Mapping[str, Sequence[Part]]
    compared: Comparison | None
    remarks: Sequence[Note]
    origins: tuple[Origin, Origin]

    def __repr__(self) -> str:
        return f"<{self.measure}: {self.names[1]} - {self.names[0]} = {self.difference:+.4f}>"

    @property
    def difference(self) -> float:
        """The score of B minus that of A."""
        return self.b - self.a

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a reader must know beside the numbers."""
        if self.compared is None:
            return tuple(self.remarks)
        return (*self.remarks, *self.compared.notes, *self.compared.measures[0].pairs[0].difference.notes)

    def as_json(self, top: int | None = None) -> dict[str, object]:
        """The difference as a JSON object, with at most `top` units, answers and classes."""
        return {
            "schema_version": SCHEMA_VERSION,
            "mode": "coldstart",
            "measure": str(self.measure),
            "a": self.a,
            "b": self.b,
            "difference": self.difference,
            "names": dict(zip("ab", self.names)),
            **({} if top is None else {"top": top}),
            **significance(self.compared),
            "notes": list(to_builtins(self.notes)),
            "unit": self.unit,
            "units": [{"unit": part.name, **_scores(part)} for part in self.units[:top]],
            "answers": [answer.as_json() for answer in self.answers[:top]],
            "outcomes": dict(self.outcomes),
            "classes": [each.as_json() for each in self.classes[:top]],
            "found": dict(self.found),
            "groups": {
                dimension: [{"group": part.name, **_scores(part)} for part in parts]
                for dimension, parts in self.groups.items()
            },
            "signatures": {side: origin.as_json() for side, origin in zip("ab", self.origins)},
        }


def _scores(part: Part) -> dict[str, object]:
    return {"a": part.a, "b": part.b, "contribution": part.contribution}


def diff(
    a: Scored,
    b: Scored,
    measure: str | None = None,
    *,
    names: tuple[str, str] = ("A", "B"),
    resampling: Resampling | None = None,
) -> Difference:
    """Where B differs from A, and what each unit contributes to the difference of their scores.

    `measure`: its name, None for the one that ranks leaderboards; `resampling`: the settings of interval and p-values,
    as in a comparison. A unit that only one of the two was scored on is nothing in the other. Raises UsageError for an
    unknown measure, InputError for one that a run has no score of.
    """
    chosen = a.measure(measure)
    b.measure(str(chosen))
    tables = unit_table(a.result, [chosen]), unit_table(b.result, [chosen])
    parts = unit_parts(tables, chosen)
    unit = _unit_name(a, b)
    compared, remarks = _compared(tables, chosen, names, replace(resampling or Resampling(can_grow=True), unit=unit))
    if parts and parts[0].contribution is None:
        remarks = (Note("UNDEFINED", f"no contributions: {chosen} is 0/0 for one of the two, and counts 0"), *remarks)
    answers, classes = answer_pairs(a, b), class_pairs(a, b)
    return Difference(
        measure=chosen,
        names=names,
        a=a.result.measures[chosen],
        b=b.result.measures[chosen],
        unit=unit,
        units=sorted((part for part in parts if part.differs), key=lambda part: -abs(part.contribution or 0.0)),
        answers=[pair for pair in answers if pair.differs],
        outcomes=counted(pair.outcome for pair in answers),
        classes=[pair for pair in classes if pair.a != pair.b],
        found=counted(pair.outcome for pair in classes),
        groups=groups_of(a, b, chosen) | line_groups_of(a, b, chosen),
        compared=compared,
        remarks=remarks,
        origins=(replace(a.origin, measure=str(chosen)), replace(b.origin, measure=str(chosen))),
    )


def _unit_name(a: Scored, b: Scored) -> str:
    has_clusters = any(unit != query for scored in (a, b) for query, unit in scored.result.unit_of.items())
    return resampled_unit(bool(a.run.gold.table.ldc_of) or has_clusters)


def _compared(
    tables: tuple[UnitTable, UnitTable], measure: Measure, names: tuple[str, str], settings: Resampling
) -> tuple[Comparison | None, tuple[Note, ...]]:
    """Interval and p-values where both have the same units, or a note that they have not."""
    first, second = tables
    if first.ids != second.ids:
        text = f"no interval: {names[0]} and {names[1]} were not scored on the same units"
        return None, (Note("OTHER_UNITS", text),)
    sides = {"a": first, "b": second}
    try:
        return compare_tables(sides, [str(measure)], ColumnFormula(formula_of([measure])), settings), ()
    except InputError as error:
        return None, (Note("NO_UNITS", f"no interval: {error.problem}"),)
