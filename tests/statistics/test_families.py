"""Families of tests: HSD against enumeration and the studentised range, corrections, baselines, the sign test."""

from __future__ import annotations

import math
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from cs_score.base.errors import UsageError
from cs_score.measures.registry import Ratio
from cs_score.statistics.arithmetic import Floats, exact_statistics
from cs_score.statistics.options import Correction, Resampling
from cs_score.statistics.paired_tests import FamilyTests, family_pairs, family_tests, holm, unit_record
from cs_score.statistics.resampling import permuted_sums
from cs_score.statistics.results import Comparison
from tests.statistics.cases import FORMULA, MEAN, compared, present, system


def values(matrix: Floats) -> list[Floats]:
    """The statistics of systems whose values stand in the columns of (units, systems)."""
    return [np.stack([column, np.ones(len(column))], axis=1) for column in matrix.T]


def family_of(matrix: Floats, correction: Correction, permutations: int = 10_000, seed: int = 0) -> FamilyTests:
    pairs = list(combinations(range(matrix.shape[1]), 2))
    settings = Resampling(permutations, seed, correction=correction)
    return family_tests(exact_statistics(values(matrix)), MEAN, pairs, settings)


def comparison(matrix: Any, settings: Resampling, **how: Any) -> Comparison:
    return compared(dict(zip("ABCDEFGHIJ", values(matrix))), settings, measures=["mean"], formula=MEAN, **how)


def test_three_systems_and_four_units_equal_the_enumeration_of_all_permutations() -> None:
    """6 ** 4 of them, each made here by hand; numbers that are no sums of powers of two."""
    matrix = np.random.default_rng(0).random((4, 3)) / 3
    ranges = []
    for orders in product(permutations(range(3)), repeat=4):
        means = [math.fsum(matrix[unit, order[slot]] for unit, order in enumerate(orders)) / 4 for slot in range(3)]
        ranges.append(max(means) - min(means))
    found = family_of(matrix, "hsd")
    assert (found.family.exact, found.family.permutations) == (True, 6**4)
    for p, (first, second) in zip(found.p_adjusted[0], combinations(range(3), 2)):
        difference = abs(matrix[:, first].mean() - matrix[:, second].mean())
        assert p == sum(each >= difference - 1e-12 for each in ranges) / 6**4
    drawn = family_of(matrix, "hsd", 1295)
    assert not drawn.family.exact
    assert drawn.p_adjusted[0] == pytest.approx(found.p_adjusted[0], abs=0.06)


def test_hsd_of_a_ratio_permutes_both_of_its_sides() -> None:
    """F1 of three systems on three units."""
    matrices = [system(quality, units=3, seed=seed) for seed, quality in enumerate((0.9, 0.5, 0.2))]
    exact = exact_statistics(matrices)
    scores = [FORMULA(matrix.sum(axis=0, keepdims=True))[0] for matrix in matrices]
    ranges = []
    for orders in product(permutations(range(3)), repeat=3):
        sums = np.array([sum(matrices[order[slot]][unit] for unit, order in enumerate(orders)) for slot in range(3)])
        ranges.append(FORMULA(sums).max(axis=0) - FORMULA(sums).min(axis=0))
    found = family_tests(exact, FORMULA, [(0, 1), (0, 2), (1, 2)], Resampling(216, correction="hsd"))
    for measure in range(3):
        for p, (first, second) in zip(found.p_adjusted[measure], [(0, 1), (0, 2), (1, 2)]):
            limit = abs(scores[first][measure] - scores[second][measure]) - 1e-12
            assert p == np.mean([each[measure] >= limit for each in ranges])


def test_hsd_of_normal_values_is_near_the_studentised_range() -> None:
    rng = np.random.default_rng(5)
    matrix = rng.normal(size=(60, 8)) + rng.normal(size=(60, 1)) + np.linspace(0, 0.5, 8)
    found = family_of(matrix, "hsd", 100_000)
    centred = matrix - matrix.mean(axis=1, keepdims=True) - matrix.mean(axis=0) + matrix.mean()
    freedom = 59 * 7
    error = math.sqrt((centred**2).sum() / freedom / 60)
    for p, (first, second) in zip(found.p_adjusted[0], combinations(range(8), 2)):
        difference = abs(matrix[:, first].mean() - matrix[:, second].mean())
        assert p == pytest.approx(stats.studentized_range.sf(difference / error, 8, freedom), abs=0.01)


@pytest.mark.parametrize("units", [1, 2, 5, 70, 1000])
def test_permutations_keep_what_a_unit_has_and_are_uniform(units: int) -> None:
    """Every system's rows come to every place equally often."""
    rows = np.random.default_rng(units).integers(0, 9, (units, 7, 2))
    statistics = exact_statistics([rows[:, system] for system in range(7)])
    drawn = np.concatenate(list(permuted_sums(statistics, 20_000, 3)))
    assert (drawn.sum(axis=1) == rows.sum(axis=(0, 1))).all()
    error = rows.std(axis=1).mean(axis=1).max() * math.sqrt(units / 20_000)
    assert drawn.mean(axis=0) == pytest.approx(np.tile(rows.sum(axis=0).mean(axis=0), (7, 1)), abs=12 * error + 1e-9)
    assert (np.concatenate(list(permuted_sums(statistics, 20_000, 3))) == drawn).all()


def test_the_usual_correction_and_the_family_in_words() -> None:
    matrix = np.random.default_rng(1).integers(0, 2, (40, 6))
    six = comparison(matrix, Resampling(999)).measures[0].family
    assert six.words("F1") == "HSD over 6 systems, 15 pairs, 999 permutations, F1"
    five = comparison(matrix[:, :5], Resampling(999)).measures[0].family
    assert five.words("F1") == "Holm's correction over 5 systems, 10 pairs, 999 permutations, F1"
    few = comparison(matrix[:9, :2], Resampling(999, correction="none")).measures[0].family
    assert few.words("F1") == "no correction over 2 systems, 1 pair, all 512 permutations, F1"
    with pytest.raises(UsageError, match="no correction called tukey; there are hsd, holm, none"):
        Resampling(correction="tukey")  # type: ignore[arg-type]


@pytest.mark.parametrize("correction", ["hsd", "holm", "none"])
def test_with_a_baseline_its_pairs_alone_are_the_family(correction: Correction) -> None:
    matrix = np.random.default_rng(2).integers(0, 2, (40, 6)) + np.array([0, 0, 1, 0, 0, 0])
    whole = comparison(matrix, Resampling(999, correction=correction))
    found = comparison(matrix, Resampling(999, correction=correction, baseline="C"))
    (measure,) = found.measures
    assert [(pair.a, pair.b) for pair in measure.pairs] == [("C", other) for other in "ABDEF"]
    assert (measure.family.pairs, measure.family.baseline) == (5, "C")
    assert measure.family.words("F1").endswith("5 pairs with C, 999 permutations, F1")
    assert {entry.tier for entry in measure.systems} == {None}
    alone = {frozenset((pair.a, pair.b)): pair for pair in whole.measures[0].pairs}
    for pair in measure.pairs:
        same = alone[frozenset((pair.a, pair.b))]
        assert pair.p == same.p
        assert pair.p_adjusted <= same.p_adjusted
        assert abs(pair.difference) == abs(same.difference)
    if correction == "holm":
        assert [pair.p_adjusted for pair in measure.pairs] == holm([pair.p for pair in measure.pairs])
    assert family_pairs("AB", Resampling(baseline="B")) == [(1, 0)]


def test_all_equal_and_one_unit_have_no_p_but_one() -> None:
    for matrix in (np.ones((30, 7)), np.zeros((30, 7)), np.arange(7.0)[np.newaxis]):
        for correction in ("hsd", "holm", "none"):
            found = comparison(matrix, Resampling(500, correction=correction))
            assert {pair.p_adjusted for pair in found.measures[0].pairs} == {1.0}
            assert {entry.tier for entry in found.measures[0].systems} == {1}


@pytest.mark.parametrize(("more", "less", "p"), [(18, 18, 1.0), (33, 31, 0.901), (37, 31, 0.545)])
def test_the_sign_test_of_published_counts(more: int, less: int, p: float) -> None:
    """Units on which one of two systems is right, and some on which both are, or none."""
    matrix = np.array([(0, 1)] * more + [(1, 0)] * less + [(1, 1)] * 20 + [(0, 0)] * 10)
    found = comparison(matrix, Resampling(99), has_signs=True)
    (pair,) = found.measures[0].pairs
    assert pair.p == pair.p_adjusted == pytest.approx(p, abs=0.0005)
    assert pair.p == pytest.approx(stats.binomtest(more, more + less).pvalue, rel=1e-12)
    assert "exact sign test" in found.measures[0].family.words("F1")
    assert comparison(matrix / 2, Resampling(99), has_signs=True).measures[0].family.test == "randomisation"


def test_where_interval_and_test_disagree_the_test_governs() -> None:
    """Four units, all won: no resample is on the other side, and p is an eighth."""
    matrix = np.array([[1.0, 0.9], [0.8, 0.5], [0.9, 0.7], [0.6, 0.5]])
    (measure,) = comparison(matrix, Resampling(999)).measures
    (pair,) = measure.pairs
    assert present(pair.high) < 0
    assert pair.p_adjusted == 2 / 16
    assert [note.code for note in measure.notes] == ["TEST_GOVERNS"]
    assert measure.notes[0].text == "interval and corrected test disagree for A and B: the test governs"
    agreed = np.concatenate([matrix] * 4)
    assert comparison(agreed, Resampling(999)).measures[0].notes == ()


def test_a_baseline_that_is_no_system_is_refused_with_the_systems() -> None:
    with pytest.raises(UsageError, match=r"^the baseline Q is none of the systems; there are alpha, beta$"):
        family_pairs(["alpha", "beta"], Resampling(baseline="Q"))


def test_a_unit_is_won_by_what_it_adds_however_large_the_numbers_are() -> None:
    """Unit 1 adds 1/3 for the first system, unit 2 nothing, unit 3 takes 1/6."""
    large = np.full(3, 1e6)
    first, second = np.array([1e6, 5e5, 0]), np.array([0, 5e5, 5e5])
    assert unit_record(Ratio(first, large), Ratio(second, large)) == (1, 1, 1)


@pytest.mark.parametrize(("permutations", "warned"), [(18, True), (19, False)])
def test_hsd_that_cannot_be_significant_says_so(permutations: int, warned: bool) -> None:
    """Whatever the number of pairs: the smallest p of HSD is that of one test."""
    matrix = np.random.default_rng(3).random((40, 7)) + np.arange(7)
    found = comparison(matrix, Resampling(permutations, correction="hsd"))
    assert ("NEVER_SIGNIFICANT" in [note.code for note in found.notes]) == warned
    smallest = min(pair.p_adjusted for pair in found.measures[0].pairs)
    assert smallest == found.measures[0].family.smallest_p(40) == 1 / (permutations + 1)
    assert ({entry.tier for entry in found.measures[0].systems} == {1}) == warned
