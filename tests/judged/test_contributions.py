"""Micro F1 of units where right answers and found classes differ: with weights, and duplicates that count as right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.analysis.outcomes import contributions_of
from cs_score.judged.counting import UnitCount
from cs_score.judged.pool import MODE
from cs_score.measures import Ratio, divide
from cs_score.statistics.arithmetic import ratios_of

PLACES = [UnitCount._fields.index(name) for name in ("right", "answered", "found", "wanted")]

counts = st.tuples(st.integers(0, 3), st.integers(0, 3), st.floats(0, 3), st.floats(0, 3))
"""Right answers, further answers, weight that was found, further weight that is wanted."""


def table(rows: list[tuple[int, int, float, float]]) -> Any:
    """The statistics of units with these counts; everything else is 0."""
    values = np.zeros((len(rows), len(UnitCount._fields)))
    for unit, (right, others, found, missed) in enumerate(rows):
        values[unit, PLACES] = (right, right + others, found, found + missed)
    return values


def micro_f1(values: Any) -> float:
    """F1 of the sums, by its definition."""
    right, answered, found, wanted = values.sum(axis=0)[PLACES]
    precision = right / answered if answered else 0.0
    recall = found / wanted if wanted else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@given(st.lists(counts, min_size=1, max_size=8))
def test_the_parts_of_units_make_the_score(rows: list[tuple[int, int, float, float]]) -> None:
    values = table(rows)
    parts = ratios_of(MODE.formula_of(["micro-f1"]), values)
    numerator, denominator = float(parts.numerator.sum()), float(parts.denominator.sum())
    right, _, found, _ = values.sum(axis=0)[PLACES]
    if right > 0 and found > 1e-6:
        assert numerator / denominator == pytest.approx(micro_f1(values), rel=1e-9)
    assert MODE.scores(values.sum(axis=0).tolist())["micro-f1"] == pytest.approx(micro_f1(values), abs=1e-12)


def test_contributions_sum_to_the_difference() -> None:
    """Two right answers of one class: duplicates count as right, so that 3 are right and 2 found."""
    first = table([(2, 0, 1, 0), (1, 1, 1, 0), (0, 1, 0, 1)])
    second = table([(1, 0, 1, 0), (1, 0, 1, 0), (1, 0, 1, 0)])
    sums_a: Any = dict(enumerate(first.tolist()))
    sums_b: Any = dict(enumerate(second.tolist()))
    contributions: dict[int, float | None] = contributions_of(sums_a, sums_b, MODE.formula_of(["micro-f1"]))
    assert sum(filter(None, contributions.values())) == pytest.approx(micro_f1(second) - micro_f1(first), abs=1e-12)


def test_a_small_change_of_a_unit_changes_the_quotient_as_it_changes_the_score() -> None:
    """The residual x - F1 y of a unit is the derivative of F1 in its weight, times the denominator."""
    values = table([(2, 1, 1.5, 0.5), (1, 2, 2.0, 1.0), (3, 0, 0.5, 2.0)])
    formula = MODE.formula_of(["micro-f1"])
    parts = ratios_of(formula, values)
    score, step = micro_f1(values), 1e-6
    for unit in range(len(values)):
        weights = np.ones(len(values))
        weights[unit] += step
        derivative = (micro_f1(values * weights[:, None]) - score) / step
        residual = parts.numerator[unit, 0] - score * parts.denominator[unit, 0]
        assert residual / parts.denominator.sum() == pytest.approx(derivative, abs=1e-5)


def test_where_nothing_differs_it_is_the_quotient_of_sums() -> None:
    columns = [np.array([1.0, 0.0])] * len(UnitCount._fields)
    ratio = MODE.formula(columns, Ratio)[2]
    assert ratio.numerator.tolist() == [2.0, 0.0]
    assert MODE.formula([1.0] * len(UnitCount._fields), divide)[2] == 1.0
