"""What lines and classes that have something in common contribute to the difference of two micro averages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cs_score.analysis.coldstart.changes import Finding, files_of
from cs_score.analysis.coldstart.difference.units import GROUPINGS, Part, Sums, parts_of
from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.coldstart.sections.counted import (
    DIMENSIONS,
    RUN_ONLY,
    Cell,
    Key,
    cells_of,
    counted_rows,
    together,
)
from cs_score.analysis.coldstart.sections.groups import members_of
from cs_score.analysis.coldstart.sections.mistakes import mistakes_of
from cs_score.base.records import replace
from cs_score.measures.measure import MICRO, Measure
from cs_score.measures.registry import sums_of

LINE_DIMENSIONS: Final = tuple(name for name in DIMENSIONS if name not in (*GROUPINGS, "ldc_query"))
"""What tells lines of the same row apart."""


def line_groups_of(a: Scored, b: Scored, measure: Measure) -> dict[str, list[Part]]:
    """The groups of lines and classes by each dimension, as those of an analysis (insight specification 4.3, 5.5).

    None but for micro averages: no other measure is made of sums over lines. Where the pool does not tell the group of
    a class (`RUN_ONLY`), groups have contributions, but no recall or F1 of their own.
    """
    if measure.average != MICRO:
        return {}
    columns = [column.rpartition(":")[2] for column in sums_of([measure])]
    sides = [_cells(scored, measure) for scored in (a, b)]
    found: dict[str, list[Part]] = {}
    for dimension in LINE_DIMENSIONS:
        first, second = (_sums(cells, dimension, columns) for cells in sides)
        parts = sorted(parts_of(first, second, measure), key=lambda part: part.name)
        has_scores = dimension not in RUN_ONLY or "ground_truth" not in columns
        found[dimension] = parts if has_scores else [replace(part, a=None, b=None) for part in parts]
    return found


def _cells(scored: Scored, measure: Measure) -> Mapping[Key, Cell]:
    finding = Finding(scored.run, scored.run_id, files_of(scored.run))
    missed = (each for mistakes in mistakes_of(scored, finding) for each in mistakes.classes)
    return cells_of(scored, counted_rows(scored, measure), missed)


def _sums(cells: Mapping[Key, Cell], dimension: str, columns: list[str]) -> dict[str, Sums]:
    """What each group adds to the sums that the measure is made of; `columns` are fields of `Counts`."""
    found = {}
    for (group,), members in members_of(cells, (dimension,)).items():
        counts = together(members).counts
        found[group] = tuple(float(getattr(counts, column)) for column in columns)
    return found
