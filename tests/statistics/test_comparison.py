"""Comparisons of systems: the laws that the numbers keep among themselves, and what is refused."""

from __future__ import annotations

import dataclasses
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from cs_score.errors import InputError, UsageError
from cs_score.statistics.arithmetic import Floats
from cs_score.statistics.comparison import Comparison, compare, compare_tables
from cs_score.statistics.intervals import ALL_EQUAL, ONE_UNIT, bootstrap_intervals
from cs_score.statistics.options import Resampling
from cs_score.statistics.paired_tests import UnitRecord, holm
from cs_score.statistics.units import UnitRows
from tests.statistics.cases import FORMULA, MEASURES, ROUNDING, system

SETTINGS = Resampling(999, seed=5, unit="claim")


def systems() -> dict[str, Floats]:
    return {"good": system(0.8), "poor": system(0.4, seed=2), "poorer": system(0.35, seed=3)}


def comparison(given: dict[str, Floats], settings: Resampling = SETTINGS, **how: Any) -> Comparison:
    units = [str(number) for number in range(len(next(iter(given.values()))))]
    return compare(given, units, MEASURES, FORMULA, settings, **how)


def test_intervals_are_those_of_each_system_alone() -> None:
    for method in ("percentile", "bca"):
        settings = dataclasses.replace(SETTINGS, method=method)
        compared = comparison(systems(), settings)
        for name, matrix in systems().items():
            alone = bootstrap_intervals(matrix, FORMULA, settings)
            assert alone == tuple(
                entry.score for measure in compared.measures for entry in measure.systems if entry.system == name
            )


def test_everything_about_one_measure() -> None:
    compared = comparison(systems())
    assert (compared.systems, compared.units) == (("good", "poor", "poorer"), 60)
    assert [measure.measure for measure in compared.measures] == list(MEASURES)
    f1 = compared.measures[2]
    assert [(entry.system, entry.rank, entry.tier) for entry in f1.systems] == [
        ("good", 1, 1),
        ("poor", 2, 2),
        ("poorer", 3, 2),
    ]
    assert [(entry.rank_low, entry.rank_high) for entry in f1.systems] == [(1, 1), (2, 3), (2, 3)]
    assert [(pair.first, pair.second) for pair in f1.pairs] == [
        ("good", "poor"),
        ("good", "poorer"),
        ("poor", "poorer"),
    ]
    clear, _, unclear = f1.pairs
    assert clear.difference.low > 0
    assert clear.randomisation.raw == clear.bootstrap.raw == 0.001
    assert clear.randomisation.holm == 0.003
    assert unclear.difference.low < 0 < unclear.difference.high
    assert unclear.randomisation.holm > 0.05


def test_differences_are_those_of_the_scores_and_lie_inside_their_interval() -> None:
    for measure in comparison(systems()).measures:
        score = {entry.system: entry.score.point for entry in measure.systems}
        for pair in measure.pairs:
            assert pair.difference.point == score[pair.first] - score[pair.second]
            assert pair.difference.low < pair.difference.point < pair.difference.high


def test_holm_is_over_the_pairs_of_a_measure() -> None:
    for measure in comparison(systems()).measures:
        for test in ("randomisation", "bootstrap"):
            p_values = [pair.p_values(test) for pair in measure.pairs]
            assert [p.holm for p in p_values] == holm([p.raw for p in p_values])


def test_a_system_against_its_copy() -> None:
    matrix = system(0.5) / 3
    compared = comparison({"A": matrix, "B": matrix.copy()})
    for measure in compared.measures:
        [pair] = measure.pairs
        assert (pair.difference.point, pair.difference.low, pair.difference.high) == (0.0, 0.0, 0.0)
        assert pair.difference.note == ALL_EQUAL
        assert pair.randomisation == pair.bootstrap
        assert pair.randomisation.raw == pair.randomisation.holm == 1.0
        assert pair.record == UnitRecord(0, 60, 0)
        assert [(entry.rank, entry.rank_low, entry.rank_high, entry.tier) for entry in measure.systems] == [
            (1, 1, 1, 1)
        ] * 2


def test_rounding_is_no_difference() -> None:
    """Both systems score a third on every unit, by different counts."""
    rows = np.array([[1, 3], [2, 6], [3, 9], [7, 21]])
    systems = {"A": rows, "B": rows[[1, 2, 3, 0]] * 3}
    for method in ("percentile", "bca"):
        [measure] = compare(
            systems, list("abcd"), ["ratio"], ROUNDING, dataclasses.replace(SETTINGS, method=method)
        ).measures
        [pair] = measure.pairs
        assert pair.difference.note == ALL_EQUAL
        assert pair.difference.low == pair.difference.high == pair.difference.point
        assert pair.randomisation.raw == pair.bootstrap.raw == 1.0
        assert pair.record == UnitRecord(0, 4, 0)
        assert [(entry.rank_low, entry.rank_high) for entry in measure.systems] == [(1, 1), (1, 1)]


def test_swapping_the_systems() -> None:
    first, second = system(0.6), system(0.5, seed=2)
    forth, back = comparison({"A": first, "B": second}), comparison({"B": second, "A": first})
    for one, other in zip(forth.measures, back.measures):
        [pair], [turned] = one.pairs, other.pairs
        assert (pair.randomisation, pair.bootstrap) == (turned.randomisation, turned.bootstrap)
        assert pair.difference.point == -turned.difference.point
        assert pair.difference.low == pytest.approx(-turned.difference.high, rel=0, abs=1e-14)
        assert pair.record == UnitRecord(turned.record.losses, turned.record.ties, turned.record.wins)
        assert sorted(one.systems, key=lambda entry: entry.system) == sorted(
            other.systems, key=lambda entry: entry.system
        )


def test_a_further_system_changes_nothing_about_the_others() -> None:
    constant = np.tile([1.0, 2.0, 2.0], (60, 1))
    without, with_it = comparison(systems()), comparison({**systems(), "constant": constant})
    for one, other in zip(without.measures, with_it.measures):
        scores = {entry.system: entry.score for entry in other.systems}
        assert {entry.system: entry.score for entry in one.systems}.items() <= scores.items()
        pairs = {(pair.first, pair.second): pair for pair in other.pairs}
        for pair in one.pairs:
            same = pairs[pair.first, pair.second]
            assert (pair.difference, pair.record) == (same.difference, same.record)
            assert pair.randomisation.raw == same.randomisation.raw
            assert pair.bootstrap.raw == same.bootstrap.raw


def test_the_test_that_decides_about_tiers() -> None:
    """Two units, both won: the bootstrap sees no scatter, randomisation a coin thrown twice."""
    first, second = np.array([[2.0, 2.0, 2.0]] * 2), np.array([[1.0, 2.0, 2.0]] * 2)
    by_coin = comparison({"A": first, "B": second})
    by_bootstrap = comparison({"A": first, "B": second}, test="bootstrap")
    assert [entry.tier for entry in by_coin.measures[0].systems] == [1, 1]
    assert [entry.tier for entry in by_bootstrap.measures[0].systems] == [1, 2]
    assert by_coin.measures[0].pairs[0].randomisation.raw == pytest.approx(0.5, abs=0.1)
    assert by_coin.measures[0].pairs == by_bootstrap.measures[0].pairs


def test_one_unit() -> None:
    compared = comparison({"A": system(0.9, units=1, seed=4), "B": np.array([[0.0, 1.0, 1.0]])})
    for measure in compared.measures:
        [pair] = measure.pairs
        assert pair.difference.note == ONE_UNIT
        assert pair.randomisation.raw == pair.bootstrap.raw == 1.0
        assert {entry.tier for entry in measure.systems} == {1}


def test_executor_and_repetition_give_the_same_bytes() -> None:
    settings = dataclasses.replace(SETTINGS, resamples=5000)
    with ThreadPoolExecutor(2) as threads:
        assert comparison(systems(), settings, executor=threads) == comparison(systems(), settings)


def test_json_is_plain_and_complete() -> None:
    compared = comparison(systems())
    found = json.loads(json.dumps(compared.as_json(), allow_nan=False))
    assert found["resampling"] == {
        "resamples": 999,
        "seed": 5,
        "confidence": 95.0,
        "method": "percentile",
        "unit": "claim",
    }
    assert (found["units"], found["test"], found["systems"]) == (60, "randomisation", ["good", "poor", "poorer"])
    measure = found["measures"][2]
    assert set(measure["systems"][0]) == {
        "system", "point", "low", "high", "standard_error", "rank", "rank_low", "rank_high", "tier",
    }  # fmt: skip
    assert set(measure["pairs"][0]) == {
        "first", "second", "difference", "randomisation", "bootstrap", "wins", "ties", "losses",
    }  # fmt: skip
    assert measure["pairs"][0]["randomisation"] == {"p": 0.001, "p_holm": 0.003}


def test_wrong_usage_is_refused() -> None:
    with pytest.raises(UsageError, match="at least two systems"):
        comparison({"A": system(0.5)})
    with pytest.raises(UsageError, match="at least two systems"):
        compare_tables({}, MEASURES, FORMULA)
    with pytest.raises(UsageError, match="no paired test called sign; there are randomisation, bootstrap"):
        comparison(systems(), test="sign")
    with pytest.raises(ValueError, match="59 units for matrices of 60 rows"):
        compare(systems(), ["x"] * 59, MEASURES, FORMULA)
    with pytest.raises(ValueError, match="2 names for 3 measures"):
        compare(systems(), ["x"] * 60, MEASURES[:2], FORMULA, SETTINGS)
    with pytest.raises(InputError, match="no unit to resample"):
        comparison({"A": np.empty((0, 3)), "B": np.empty((0, 3))})


@dataclass(frozen=True)
class Table:
    ids: tuple[str, ...]
    rows: Any
    columns: tuple[str, ...] = ("correct", "retrieved", "relevant")


def test_tables_are_aligned_before_they_are_compared() -> None:
    first, second = system(0.8), system(0.4, seed=2)
    ids = tuple(f"c{number}" for number in range(60))
    expected = comparison({"A": first, "B": second})
    tables: dict[str, UnitRows] = {"A": Table(ids, first), "B": Table(ids[::-1], second[::-1])}
    assert compare_tables(tables, MEASURES, FORMULA, SETTINGS) == expected
    assert compare_tables(tables, MEASURES, FORMULA, SETTINGS, common=True) == expected


def test_tables_of_different_units_need_common() -> None:
    ids = tuple(f"c{number}" for number in range(60))
    tables: dict[str, UnitRows] = {
        "A": Table(ids, system(0.8).tolist()),
        "B": Table(ids[10:], system(0.4, seed=2).tolist()[10:]),
    }
    with pytest.raises(InputError, match=r"system B lacks 10 units \(c0, c1, c2, c3, c4 and 5 more\).*--common"):
        compare_tables(tables, MEASURES, FORMULA, SETTINGS)
    shared = compare_tables(tables, MEASURES, FORMULA, SETTINGS, common=True)
    assert shared == comparison({"A": system(0.8)[10:], "B": system(0.4, seed=2)[10:]})
