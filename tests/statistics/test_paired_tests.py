"""Paired tests: scipy and enumeration as oracles, and the laws that a two-sided test keeps."""

from __future__ import annotations

import math
from itertools import combinations, permutations, product
from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from cs_score.base.errors import UsageError
from cs_score.statistics import families
from cs_score.statistics.arithmetic import Floats, exact_statistics, scores_of
from cs_score.statistics.comparison import assign_tiers, rank_ranges, rank_systems
from cs_score.statistics.draws import permuted_integer_sums, random_sign_flips
from cs_score.statistics.families import FamilyTests, family_pairs, family_tests, holm, near_copies, sign_flip_tests
from cs_score.statistics.resampling import ResampledSystems
from cs_score.statistics.resampling_settings import Correction, Resampling
from cs_score.statistics.results import SystemComparison
from cs_score.statistics.units import Clusters
from tests.statistics.cases import FORMULA, MEAN, MEASURES, compared, present, system


def randomisation(first: Floats, second: Floats, settings: Resampling) -> list[float]:
    tests = sign_flip_tests(ResampledSystems([first, second], FORMULA, settings), [(0, 1)])
    return [p for [p] in tests.uncorrected]


def scores(matrix: Floats) -> Floats:
    return np.asarray(scores_of(FORMULA, matrix.sum(axis=0)))


def test_randomisation_follows_its_definition() -> None:
    first, second = system(0.5, units=13), system(0.3, units=13, seed=2)
    observed = np.abs(scores(first) - scores(second))
    extreme = np.zeros(3)
    for flags in random_sign_flips(6, 13, 700):
        for row in flags.astype(bool)[:, :, np.newaxis]:
            swapped = scores(np.where(row, second, first)) - scores(np.where(row, first, second))
            extreme += np.abs(swapped) >= observed - 1e-12
    assert randomisation(first, second, Resampling(700, seed=6)) == [(1 + count) / 701 for count in extreme]


@pytest.mark.parametrize("column", range(3), ids=MEASURES)
def test_randomisation_agrees_with_scipys_enumeration(column: int) -> None:
    """Eleven units can be swapped in 2,048 ways; scipy walks them all."""
    first, second = system(0.8, units=11, seed=3), system(0.3, units=11, seed=4)
    rows = np.concatenate([first, second])

    def difference(one: Any, other: Any, axis: int) -> Any:
        both = [scores_of(FORMULA, rows[which].sum(axis=-2))[..., column] for which in (one, other)]
        return both[0] - both[1]

    samples = np.arange(11), np.arange(11, 22)
    how: Any = {"permutation_type": "samples", "vectorized": True, "n_resamples": np.inf, "axis": -1}
    exact = stats.permutation_test(samples, difference, **how).pvalue
    assert 0.01 < exact < 1.0
    assert randomisation(first, second, Resampling(2048))[column] == exact
    drawn = 2047
    ours = randomisation(first, second, Resampling(drawn))[column]
    assert ours == pytest.approx(exact, rel=0, abs=5 * math.sqrt(exact * (1 - exact) / drawn) + 2 / drawn)


def test_p_of_a_pair_does_not_depend_on_the_others_nor_on_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = system(0.5), system(0.45, seed=2), system(0.9, seed=3) / 7
    settings = Resampling(5000, seed=4)
    exact = ResampledSystems([first, second, third], FORMULA, settings)
    pairs = [(0, 1), (1, 2)]
    expected = sign_flip_tests(exact, pairs, with_max_t=True)
    assert [of_measure[0] for of_measure in expected.uncorrected] == randomisation(first, second, settings)
    monkeypatch.setattr("cs_score.statistics.draws.CELLS_PER_CHUNK", 100)
    monkeypatch.setattr(families, "_DIFFERENCES_AT_ONCE", 300)
    assert sign_flip_tests(exact, pairs, with_max_t=True) == expected


def test_equal_systems_share_the_better_rank() -> None:
    assert rank_systems(np.array([0.3, 0.9, 0.1 + 0.2, 0.1])).tolist() == [2, 1, 2, 4]
    assert rank_systems(np.array([[0.0, 1.0], [0.0, 2.0]])).tolist() == [[1, 2], [1, 1]]


HALF: Final = np.full(100, 0.5)
OFTEN_FIRST: Final = np.array([[0.0] * 3 + [1.0] * 97, HALF])  # second in three resamples of a hundred


@pytest.mark.parametrize(
    ("resampled", "level", "expected"),
    [
        (OFTEN_FIRST, 0.05, [(1, 2), (1, 2)]),
        (OFTEN_FIRST, 0.06, [(1, 1), (2, 2)]),
        (np.stack([np.repeat([0.0, 1.0], [29, 71]), HALF]), 0.58, [(1, 1), (2, 2)]),
        (np.array([[0.1], [0.2]]), 0.05, [(2, 2), (1, 1)]),
        (np.array([[0.1, 0.3, 0.1], [0.2, 0.2, 0.2]]), 0.999, [(2, 2), (1, 1)]),
        (np.array([[0.1, 0.3], [0.2, 0.2]]), 0.9999, [(1, 2), (1, 2)]),
    ],
)
def test_range_drops_the_same_share_at_either_end(
    resampled: Floats, level: float, expected: list[tuple[int, int]]
) -> None:
    assert rank_ranges(resampled, level) == expected


@pytest.mark.parametrize(
    ("systems", "differ", "expected"),
    [
        ([0, 1, 2, 3, 4], {(0, 2), (0, 3), (0, 4), (2, 4), (1, 3)}, [1, 1, 2, 2, 3]),
        # Number 2 differs from 0 and 3 does not; 3 stands below 2 and belongs to the tier of 2.
        ([0, 1, 2, 3], {(0, 2)}, [1, 1, 2, 2]),
        ([5, 3, 1], {(5, 3), (5, 1), (3, 1)}, [1, 2, 3]),
        ([5, 3, 1], set(), [1, 1, 1]),
    ],
)
def test_a_tier_begins_where_a_system_differs_from_the_best_of_the_tier(
    systems: list[int], differ: set[tuple[int, int]], expected: list[int]
) -> None:
    assert assign_tiers(systems, lambda best, system: (best, system) in differ) == dict(zip(systems, expected))


def values(matrix: Floats) -> list[Floats]:
    """The statistics of systems whose values stand in the columns of (units, systems)."""
    return [np.stack([column, np.ones(len(column))], axis=1) for column in matrix.T]


def family_of(matrix: Floats, correction: Correction, permutations: int = 10_000, seed: int = 0) -> FamilyTests:
    pairs = list(combinations(range(matrix.shape[1]), 2))
    settings = Resampling(permutations, seed, correction=correction)
    return family_tests(ResampledSystems(values(matrix), MEAN, settings), pairs)


def comparison(matrix: Any, settings: Resampling, **how: Any) -> SystemComparison:
    return compared(dict(zip("ABCDEFGHIJ", values(matrix))), settings, measures=["mean"], formula=MEAN, **how)


@given(st.lists(st.floats(1e-6, 1.0), max_size=12))
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    wanted = multipletests(p_values, method="holm")[1].tolist() if p_values else []
    assert holm(p_values) == pytest.approx(wanted, rel=1e-12)


def test_hsd_is_the_enumeration_of_all_permutations() -> None:
    """6 ** 4 of them, each made here by hand; of F1 of three systems on four units, both sides are permuted."""
    matrices = [system(quality, units=4, seed=seed) for seed, quality in enumerate((0.9, 0.5, 0.2))]
    scores = [scores_of(FORMULA, matrix.sum(axis=0)) for matrix in matrices]
    ranges = []
    for orders in product(permutations(range(3)), repeat=4):
        sums = np.array([sum(matrices[order[slot]][unit] for unit, order in enumerate(orders)) for slot in range(3)])
        ranges.append(scores_of(FORMULA, sums).max(axis=0) - scores_of(FORMULA, sums).min(axis=0))
    pairs = [(0, 1), (0, 2), (1, 2)]
    found = family_tests(ResampledSystems(matrices, FORMULA, Resampling(6**4, correction="hsd")), pairs)
    assert (found.family.exact, found.family.permutations) == (True, 6**4)
    drawn = family_tests(ResampledSystems(matrices, FORMULA, Resampling(6**4 - 1, correction="hsd")), pairs)
    assert not drawn.family.exact
    for measure in range(3):
        for p, (first, second) in zip(found.p_adjusted[measure], pairs):
            limit = abs(scores[first][measure] - scores[second][measure]) - 1e-12
            assert p == np.mean([each[measure] >= limit for each in ranges])
        assert drawn.p_adjusted[measure] == pytest.approx(found.p_adjusted[measure], abs=0.06)


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
    drawn = np.concatenate(list(permuted_integer_sums(statistics, 20_000, 3)))
    assert (drawn.sum(axis=1) == rows.sum(axis=(0, 1))).all()
    error = rows.std(axis=1).mean(axis=1).max() * math.sqrt(units / 20_000)
    assert drawn.mean(axis=0) == pytest.approx(np.tile(rows.sum(axis=0).mean(axis=0), (7, 1)), abs=12 * error + 1e-9)
    assert (np.concatenate(list(permuted_integer_sums(statistics, 20_000, 3))) == drawn).all()


def test_the_usual_correction_and_the_family_in_words() -> None:
    matrix = np.random.default_rng(1).integers(0, 2, (40, 6))
    usual = comparison(matrix, Resampling(1999)).measures[0].family
    assert usual.in_words("F1") == "max-T over 6 systems, 15 pairs, 1,999 sign flips, F1"
    hsd = comparison(matrix, Resampling(999, correction="hsd")).measures[0].family
    assert hsd.in_words("F1") == "HSD over 6 systems, 15 pairs, 999 permutations, F1"
    five = comparison(matrix[:, :5], Resampling(999, correction="holm")).measures[0].family
    assert five.in_words("F1") == "Holm's correction over 5 systems, 10 pairs, 999 sign flips, F1"
    few = comparison(matrix[:9, :2], Resampling(999, correction="none")).measures[0].family
    assert few.in_words("F1") == "no correction over 2 systems, 1 pair, all 512 sign flips, F1"
    with pytest.raises(UsageError, match="no correction called tukey; there are maxt, holm, hsd, none"):
        Resampling(correction="tukey")  # type: ignore[arg-type]


# ---- max-T


def max_t_by_hand(matrices: list[Floats], flips: list[tuple[int, ...]], measure: int) -> list[float]:
    """Step-down max-T from its definition: all pairs of systems, these sign flips, no add-one."""
    pairs = list(combinations(range(len(matrices)), 2))
    observed, scale = {}, {}
    for a, b in pairs:
        x, y = MAX_T_PARTS[measure](np.stack([matrices[a], matrices[b]]))
        q = x.sum(axis=1) / y.sum(axis=1)
        shares = ((x[1] - x[0]) - q.mean() * (y[1] - y[0])) / y.sum(axis=1).mean()
        observed[a, b] = abs(q[1] - q[0])
        assert shares.sum() == pytest.approx(q[1] - q[0])
        scale[a, b] = math.sqrt((shares**2).sum())
    drawn: dict[tuple[int, int], list[float]] = {pair: [] for pair in pairs}
    for flip in flips:
        is_swapped = np.array(flip, dtype=bool)[:, np.newaxis]
        for a, b in pairs:
            first = np.where(is_swapped, matrices[b], matrices[a])
            second = np.where(is_swapped, matrices[a], matrices[b])
            difference = abs(scores(first)[measure] - scores(second)[measure])
            drawn[a, b].append(difference / scale[a, b])
    order = sorted(pairs, key=lambda pair: -observed[pair] / scale[pair])
    p_values, least = {}, 0.0
    for place, pair in enumerate(order):
        largest = np.max([drawn[later] for later in order[place:]], axis=0)
        least = max(least, float(np.mean(largest >= observed[pair] / scale[pair] - 1e-12)))
        p_values[pair] = least
    return [p_values[pair] for pair in pairs]


MAX_T_PARTS: Final[Any] = (
    lambda rows: (rows[..., 0], rows[..., 1]),
    lambda rows: (rows[..., 0], rows[..., 2]),
    lambda rows: (2 * rows[..., 0], rows[..., 1] + rows[..., 2]),
)
"""Numerators and denominators of precision, recall and F1."""


@pytest.mark.parametrize("seed", range(4))
def test_max_t_is_the_enumeration_of_all_sign_flips(seed: int) -> None:
    """Three systems on four units: 16 sign flips."""
    matrices = [system(quality, units=4, seed=10 * seed + at) + 1 for at, quality in enumerate((0.9, 0.5, 0.2))]
    pairs = [(0, 1), (0, 2), (1, 2)]
    found = family_tests(ResampledSystems(matrices, FORMULA, Resampling(16)), pairs)
    assert (found.family.exact, found.family.permutations) == (True, 16)
    for measure in range(3):
        expected = max_t_by_hand(matrices, list(product((0, 1), repeat=4)), measure)
        assert found.p_adjusted[measure] == pytest.approx(expected, abs=1e-12)


def test_max_t_of_drawn_sign_flips_adds_one() -> None:
    """The same draws, put in by hand, with (1 + count) / (1 + N) for the share of N."""
    matrices = [system(quality, units=13, seed=at + 1) + 1 for at, quality in enumerate((0.9, 0.5, 0.2, 0.2))]
    found = family_tests(ResampledSystems(matrices, FORMULA, Resampling(300, seed=6)), list(combinations(range(4), 2)))
    flips = [tuple(row) for part in random_sign_flips(6, 13, 300) for row in part.tolist()]
    for measure in range(3):
        expected = max_t_by_hand(matrices, flips, measure)
        assert found.p_adjusted[measure] == pytest.approx([(1 + 300 * p) / 301 for p in expected], abs=1e-12)


def test_max_t_lies_between_the_test_of_a_pair_and_holm_on_the_same_draws() -> None:
    matrix = np.random.default_rng(8).random((25, 6)) + np.linspace(0, 0.3, 6)
    found = family_of(matrix, "maxt", 2000)
    for single, adjusted, by_holm in zip(found.p[0], found.p_adjusted[0], holm(found.p[0])):
        assert single <= adjusted <= by_holm + 0.02
    assert found.p == family_of(matrix, "none", 2000).p


def test_pairs_without_any_difference_have_p_1_and_do_not_count() -> None:
    matrix = np.random.default_rng(9).random((30, 3)) + np.array([0, 0.4, 0])
    with_copies = matrix[:, [0, 1, 2, 0, 1]]
    found = dict(zip(combinations(range(5), 2), family_of(with_copies, "maxt", 999).p_adjusted[0]))
    assert (found[0, 3], found[1, 4]) == (1.0, 1.0)
    alone = dict(zip(combinations(range(3), 2), family_of(matrix, "maxt", 999).p_adjusted[0]))
    assert {pair: found[pair] for pair in alone} == alone  # copies of pairs have the same differences in every draw


def test_one_pair_has_its_own_p() -> None:
    matrix = np.random.default_rng(10).random((30, 2)) + np.array([0, 0.1])
    found = family_of(matrix, "maxt", 999)
    assert found.p_adjusted == found.p
    signs = comparison(np.array([(0, 1)] * 9 + [(1, 0)] * 2), Resampling(99), with_sign_test=True).measures[0]
    assert signs.pairs[0].p_adjusted == signs.pairs[0].p == pytest.approx(stats.binomtest(2, 11).pvalue)


def test_clusters_flip_as_a_whole_in_max_t() -> None:
    """Units that repeat those of their cluster decide as much as the clusters alone."""
    matrix = np.random.default_rng(11).random((8, 3))
    ids = [f"u{at}" for at in range(24)]
    clusters = Clusters("c", {unit: str(at // 3) for at, unit in enumerate(ids)})
    settings = Resampling(256, clusters=clusters)
    pairs = list(combinations(range(3), 2))
    repeated = ResampledSystems(values(np.repeat(matrix, 3, axis=0)), MEAN, settings, ids)
    found = family_tests(repeated, pairs)
    assert (found.family.clusters, found.family.permutations) == (8, 256)
    assert found.p_adjusted[0] == pytest.approx(family_of(matrix, "maxt", 256).p_adjusted[0], abs=1e-12)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_max_t_does_not_depend_on_the_size_of_numbers(scale: float) -> None:
    matrix = np.random.default_rng(12).random((20, 4)) + np.linspace(0, 0.3, 4)
    assert family_of(matrix * scale, "maxt", 500).p_adjusted == family_of(matrix, "maxt", 500).p_adjusted


# ---- Which systems are tested


def test_near_copies_are_joined_to_groups() -> None:
    """B differs from A in 3 of 20 units, C from B in 3 others, D from all in many; E and F are one, but for 4 units."""
    matrix = np.zeros((20, 6))
    matrix[:3, 1] = matrix[:6, 2] = 0.5
    matrix[:, 3] = np.arange(1, 21)
    matrix[:, 4] = matrix[:, 5] = 100
    matrix[:4, 5] = 101
    systems = ResampledSystems(values(matrix), MEAN, Resampling(99))
    assert near_copies(systems, list(combinations(range(6), 2))) == [[0, 1, 2]]
    notes = comparison(matrix, Resampling(99)).notes
    assert [note.text for note in notes if note.code == "NEAR_COPIES"] == ["near-copies: A, B, C"]


def test_units_without_anything_make_no_near_copies() -> None:
    """Two of ten units hold something, and both differ."""
    first, second = np.zeros((10, 2)), np.zeros((10, 2))
    first[:2], second[:2] = (1, 1), (0, 1)
    assert near_copies(ResampledSystems([first, second], MEAN, Resampling(99)), [(0, 1)]) == []


def test_all_pairs_of_too_many_systems_are_refused_and_a_baseline_is_named() -> None:
    names = [f"s{number}" for number in range(101)]
    with pytest.raises(UsageError, match=r"^101 systems are 5,050 pairs; .* at most 100 systems: --baseline RUN"):
        family_pairs(names, Resampling())
    assert len(family_pairs(names[:100], Resampling())) == 4950
    assert len(family_pairs(names, Resampling(baseline="s7"))) == 100


@pytest.mark.parametrize("correction", ["maxt", "holm", "hsd", "none"])
def test_with_a_baseline_its_pairs_alone_are_the_family(correction: Correction) -> None:
    matrix = np.random.default_rng(2).integers(0, 2, (40, 6)) + np.array([0, 0, 1, 0, 0, 0])
    whole = comparison(matrix, Resampling(999, correction=correction))
    found = comparison(matrix, Resampling(999, correction=correction, baseline="C"))
    (measure,) = found.measures
    assert [(pair.a, pair.b) for pair in measure.pairs] == [("C", other) for other in "ABDEF"]
    assert (measure.family.pairs, measure.family.baseline) == (5, "C")
    resamples = "permutations" if correction == "hsd" else "sign flips"
    assert measure.family.in_words("F1").endswith(f"5 pairs with C, 999 {resamples}, F1")
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
        for correction in ("maxt", "holm", "hsd", "none"):
            found = comparison(matrix, Resampling(500, correction=correction))
            assert {pair.p_adjusted for pair in found.measures[0].pairs} == {1.0}
            assert {entry.tier for entry in found.measures[0].systems} == {1}


@pytest.mark.parametrize(("more", "less", "p"), [(18, 18, 1.0), (33, 31, 0.901), (37, 31, 0.545)])
def test_the_sign_test_of_published_counts(more: int, less: int, p: float) -> None:
    """Units on which one of two systems is right, and some on which both are, or none."""
    matrix = np.array([(0, 1)] * more + [(1, 0)] * less + [(1, 1)] * 20 + [(0, 0)] * 10)
    found = comparison(matrix, Resampling(99), with_sign_test=True)
    (pair,) = found.measures[0].pairs
    assert pair.p == pair.p_adjusted == pytest.approx(p, abs=0.0005)
    assert pair.p == pytest.approx(stats.binomtest(more, more + less).pvalue, rel=1e-12)
    assert "exact sign test" in found.measures[0].family.in_words("F1")
    assert comparison(matrix / 2, Resampling(99), with_sign_test=True).measures[0].family.test == "randomisation"


def test_where_interval_and_test_disagree_the_test_governs() -> None:
    """Four units, all won: no resample is on the other side, and p is an eighth."""
    matrix = np.array([[1.0, 0.9], [0.8, 0.5], [0.9, 0.7], [0.6, 0.5]])
    (measure,) = comparison(matrix, Resampling(999)).measures
    (pair,) = measure.pairs
    assert present(pair.high) < 0
    assert pair.p_adjusted == 2 / 16
    assert [note.code for note in measure.notes] == ["TEST_GOVERNS"]
    assert measure.notes[0].text == "interval and corrected test disagree for A and B: trust the test"
    agreed = np.concatenate([matrix] * 4)
    assert comparison(agreed, Resampling(999)).measures[0].notes == ()


def test_a_baseline_that_is_no_system_is_refused_with_the_systems() -> None:
    with pytest.raises(UsageError, match=r"^the baseline Q is none of the systems; there are alpha, beta$"):
        family_pairs(["alpha", "beta"], Resampling(baseline="Q"))


@pytest.mark.parametrize(("permutations", "warned"), [(18, True), (19, False)])
def test_hsd_that_cannot_be_significant_says_so(permutations: int, warned: bool) -> None:
    """Whatever the number of pairs: the smallest p of HSD is that of one test."""
    matrix = np.random.default_rng(3).random((40, 7)) + np.arange(7)
    found = comparison(matrix, Resampling(permutations, correction="hsd"))
    assert ("NEVER_SIGNIFICANT" in [note.code for note in found.notes]) == warned
    smallest = min(pair.p_adjusted for pair in found.measures[0].pairs)
    assert smallest == found.measures[0].family.smallest_p(40) == 1 / (permutations + 1)
    assert ({entry.tier for entry in found.measures[0].systems} == {1}) == warned
