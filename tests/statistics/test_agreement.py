"""Agreement of assessors against statsmodels and krippendorff; R4C's three annotators; intervals that draw them."""

from __future__ import annotations

import json
from itertools import combinations, pairwise

import krippendorff
import numpy as np
import pytest
from statsmodels.stats.inter_rater import cohens_kappa, to_table

from cs_score.statistics.assessments import alpha, assessor_intervals, kappa
from cs_score.statistics.options import Resampling
from tests.documents import ROOT
from tests.statistics.cases import FORMULA, system


def test_kappa_is_that_of_statsmodels() -> None:
    rng = np.random.default_rng(1)
    for size, kinds in ((5, 2), (50, 3), (500, 6)):
        first = rng.integers(0, kinds, size)
        second = np.where(rng.random(size) < 0.6, first, rng.integers(0, kinds, size))
        table, _ = to_table(np.stack([first, second], axis=1), kinds)
        wanted = cohens_kappa(table, return_results=False)
        assert kappa(zip(first.tolist(), second.tolist())) == pytest.approx(float(wanted), abs=1e-12)


def test_alpha_is_that_of_krippendorff() -> None:
    rng = np.random.default_rng(2)
    for coders, missing in ((2, 0.0), (2, 0.3), (3, 0.2), (5, 0.5)):
        truth = rng.integers(0, 4, 80)
        judged = np.where(rng.random((coders, 80)) < 0.7, truth, rng.integers(0, 4, (coders, 80))).astype(np.float64)
        judged[rng.random((coders, 80)) < missing] = np.nan
        wanted = krippendorff.alpha(reliability_data=judged, level_of_measurement="nominal")
        found = alpha([[None if np.isnan(each) else each for each in item] for item in judged.T.tolist()])
        assert found == pytest.approx(wanted, abs=1e-12)


def test_where_there_is_no_agreement_to_measure() -> None:
    assert kappa([]) is None
    assert kappa([("C", "C"), ("C", "C")]) is None
    assert alpha([("C", "C"), ("C", "C")]) is None
    assert alpha([("C", None), (None, "W")]) is None
    assert (kappa([("C", "W"), ("W", "C")]), kappa([("C", "C"), ("W", "W")])) == (-1.0, 1.0)


def test_the_three_annotators_of_r4c() -> None:
    """Whether a sentence supports the answer, over the sentences that any annotator named."""
    gold = json.loads((ROOT / "assessments" / "r4c-gold.json").read_text("utf-8"))
    judged = []
    for annotators in gold.values():
        named = [{(title, number) for title, number, _ in facts} for facts in annotators]
        judged += [[sentence in each for each in named] for sentence in sorted(set().union(*named))]
    assert {len(item) for item in judged} == {3}
    data = np.array(judged, np.float64).T
    wanted = krippendorff.alpha(reliability_data=data, level_of_measurement="nominal")
    assert alpha(judged) == pytest.approx(wanted, abs=1e-12)
    for one, other in combinations(range(3), 2):
        table, _ = to_table(data[[one, other]].T.astype(int), 2)
        wanted = float(cohens_kappa(table, return_results=False))
        assert kappa((item[one], item[other]) for item in judged) == pytest.approx(wanted, abs=1e-12)


def test_intervals_that_draw_the_assessor() -> None:
    """They lie around the mean of both scores; calling the first the second changes nothing."""
    first, second = [system(0.9), system(0.5)], [system(0.5, seed=1), system(0.5)]
    found = assessor_intervals(first, second, FORMULA, Resampling(999))
    assert found == assessor_intervals(second, first, FORMULA, Resampling(999))
    assert found != assessor_intervals(first, second, FORMULA, Resampling(999, seed=1))
    points = [float(FORMULA(each.sum(axis=0, keepdims=True))[0, 0]) for each in (first[0], second[0])]
    one = assessor_intervals([first[0][:1]], [second[0][:1]], FORMULA, Resampling(99))
    assert one[0] == tuple(sorted(float(FORMULA(each[0][:1])[0, 0]) for each in (first, second)))
    low, high = found[0]
    assert min(points) < (low + high) / 2 < max(points)
    limits = [assessor_intervals([each], [each], FORMULA, Resampling(999))[0] for each in (first[0], second[0])]
    assert all(wide > narrow for wide, narrow in pairwise([high - low, min(b - a for a, b in limits)]))
