"""What runs of an evidence mode found, told by the statistics of their units alone.

A unit is right by a measure where nothing that the measure looks at is wrong or missing: its own value is 1, or 0/0
because neither gold nor the run has anything there. So a claim is right by `abstract_label_only_f1` where just its gold
abstracts are predicted, each with gold's label, and a question is right by `em` where its answer is gold's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from cs_score.analysis.many.agreement import Answers
from cs_score.analysis.many.findings import Wanted, bits
from cs_score.analysis.many.measured import Unit

_WHOLE: Final = 1 - 1e-12
"""A value that is 1 but for rounding."""


def units_to_find(units: Sequence[Unit], measures: Sequence[str]) -> list[Wanted]:
    """Every unit by every measure; the place tells which one it is of those with its id, where it is not the first."""
    return [Wanted(measure, unit, str(n) if n > 1 else "", unit, "") for measure in measures for unit, n in units]


def unit_parts(units: int, measures: Sequence[str]) -> dict[str, int]:
    """The bits of `unit_answers` that belong to each measure, given the number of units."""
    return {measure: ((1 << units) - 1) << place * units for place, measure in enumerate(measures)}


def unit_answers(values: Mapping[Unit, Sequence[float | None]], units: Sequence[Unit], measures: int) -> Answers:
    """The units of a run that are right, and those that are wrong, by so many measures, given its own values in them.

    A unit that the run was not scored on is neither.
    """
    size = len(units) * measures
    right: list[int] = []
    wrong: list[int] = []
    for place, unit in enumerate(units):
        for thing, value in zip(range(place, size, len(units)), values.get(unit, ())):
            (right if value is None or value >= _WHOLE else wrong).append(thing)
    found = bits(right, size)
    return Answers(found, found, bits(wrong, size))
