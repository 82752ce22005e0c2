"""Comparisons of systems: the laws that the numbers keep among themselves, and what is refused."""

from __future__ import annotations

from operator import attrgetter
from typing import Any

import numpy as np
import pytest

from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import replace
from cs_score.statistics.arithmetic import Floats
from cs_score.statistics.comparison import compare_tables
from cs_score.statistics.families import holm
from cs_score.statistics.resampling import bootstrap_intervals
from cs_score.statistics.resampling_settings import ALL_EQUAL, Correction, Family, IntervalMethod, Resampling
from cs_score.statistics.results import Interval, RankedSystem, SystemComparison
from tests.statistics.cases import FORMULA, MEAN, MEASURES, ROUNDING, compared, present, system, table, tiled

SETTINGS = Resampling(999, seed=5, unit="claim")


def systems() -> dict[str, Floats]:
    return {"good": system(0.8), "poor": system(0.4, seed=2), "poorer": system(0.35, seed=3)}


def comparison(given: dict[str, Floats], settings: Resampling = SETTINGS, **how: Any) -> SystemComparison:
    return compared(given, settings, **how)


def score_of(entry: RankedSystem) -> Interval:
    return Interval(*(getattr(entry, "score" if name == "point" else name) for name in Interval.__struct_fields__))


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_intervals_are_those_of_each_system_alone(method: IntervalMethod) -> None:
    settings = replace(SETTINGS, method=method)
    found = comparison(systems(), settings)
    for name, matrix in systems().items():
        entries = [entry for measure in found.measures for entry in measure.systems if entry.name == name]
        assert bootstrap_intervals(matrix, FORMULA, settings) == tuple(map(score_of, entries))


def test_everything_about_the_measures() -> None:
    found = comparison(systems())
    assert (found.systems, found.units) == (("good", "poor", "poorer"), 60)
    assert [measure.measure for measure in found.measures] == list(MEASURES)
    for measure in found.measures:
        score = {entry.name: entry.score for entry in measure.systems}
        for pair in measure.pairs:
            assert pair.difference == score[pair.b] - score[pair.a]
            assert present(pair.low) < pair.difference < present(pair.high)
        by_holm = comparison(systems(), replace(SETTINGS, correction="holm")).measures[MEASURES.index(measure.measure)]
        assert [pair.p_adjusted for pair in by_holm.pairs] == holm([pair.p for pair in measure.pairs])
        assert measure.family == Family("maxt", 3, 999, None, 3, "randomisation", False)
    assert [measure.exploratory for measure in found.measures] == [False, True, True]
    f1 = found.measures[2]
    assert [(entry.name, entry.tier, entry.rank, entry.rank_low, entry.rank_high) for entry in f1.systems] == [
        ("good", 1, 1, 1, 1),
        ("poor", 2, 2, 2, 3),
        ("poorer", 2, 3, 2, 3),
    ]
    assert [pair.a + "/" + pair.b for pair in f1.pairs] == ["good/poor", "good/poorer", "poor/poorer"]
    clear, _, unclear = f1.pairs
    assert present(clear.high) < 0  # second minus first
    assert clear.p == 0.001
    assert clear.p_adjusted == 0.001
    assert present(unclear.low) < 0 < present(unclear.high)
    assert unclear.p_adjusted > 0.05


def test_a_system_against_its_copy() -> None:
    matrix = system(0.5) / 3
    for measure in comparison({"A": matrix, "B": matrix.copy()}).measures:
        [pair] = measure.pairs
        assert (pair.difference, pair.low, pair.high) == (0.0, 0.0, 0.0)
        assert pair.notes == (ALL_EQUAL,)
        assert pair.p == 1.0
        assert pair.p_adjusted == 1.0
        assert (pair.wins, pair.ties, pair.losses) == (0, 60, 0)
        for entry in measure.systems:
            assert (entry.rank, entry.rank_low, entry.rank_high, entry.tier) == (1, 1, 1, 1)


def test_rounding_is_no_difference() -> None:
    """Both systems score a third on every unit, by different counts."""
    rows = np.array([[1.0, 3], [2, 6], [3, 9], [7, 21]])
    systems = {"A": rows, "B": rows[[1, 2, 3, 0]] * 3}
    for method in ("percentile", "bca"):
        found = comparison(systems, replace(SETTINGS, method=method), measures=["ratio"], formula=ROUNDING)
        [measure] = found.measures
        [pair] = measure.pairs
        assert pair.notes == (ALL_EQUAL,)
        assert pair.low == pair.high == pair.difference
        assert pair.p == 1.0
        assert (pair.wins, pair.ties, pair.losses) == (0, 4, 0)
        assert [(entry.rank_low, entry.rank_high) for entry in measure.systems] == [(1, 1), (1, 1)]


def test_swapping_the_systems() -> None:
    first, second = system(0.6), system(0.5, seed=2)
    forth, back = comparison({"A": first, "B": second}), comparison({"B": second, "A": first})
    for one, other in zip(forth.measures, back.measures):
        [pair], [turned] = one.pairs, other.pairs
        assert pair.p == turned.p
        assert pair.difference == -turned.difference
        assert pair.low == pytest.approx(-present(turned.high), rel=0, abs=1e-14)
        assert (pair.wins, pair.ties, pair.losses) == (turned.losses, turned.ties, turned.wins)
        by_name = attrgetter("name")
        assert sorted(one.systems, key=by_name) == sorted(other.systems, key=by_name)


def test_a_further_system_changes_nothing_about_the_others_but_corrected_p_values() -> None:
    without, with_it = comparison(systems()), comparison({**systems(), "constant": tiled((1, 2, 2), 60)})
    for one, other in zip(without.measures, with_it.measures):
        scores = {entry.name: score_of(entry) for entry in other.systems}
        assert {entry.name: score_of(entry) for entry in one.systems}.items() <= scores.items()
        pairs = {(pair.a, pair.b): pair for pair in other.pairs}
        for pair in one.pairs:
            same = pairs[pair.a, pair.b]
            assert replace(same, p_adjusted=pair.p_adjusted) == pair


def test_wrong_usage_is_refused() -> None:
    with pytest.raises(UsageError, match="at least two systems"):
        comparison({"A": system(0.5)})
    with pytest.raises(UsageError, match="at least two systems"):
        compare_tables({}, MEASURES, FORMULA)
    with pytest.raises(UsageError, match="the baseline goode is none of the systems; did you mean good"):
        comparison(systems(), replace(SETTINGS, baseline="goode"))
    with pytest.raises(ValueError, match="2 names for 3 measures"):
        comparison(systems(), measures=MEASURES[:2])
    with pytest.raises(InputError, match="no unit to resample"):
        comparison({"A": np.empty((0, 3)), "B": np.empty((0, 3))})


def test_tables_are_aligned_before_they_are_compared() -> None:
    first, second = system(0.8), system(0.4, seed=2)
    ids = tuple(f"c{number}" for number in range(60))
    expected = comparison({"A": first, "B": second})
    tables = {"A": table(first, ids), "B": table(second[::-1], ids[::-1])}
    assert compare_tables(tables, MEASURES, FORMULA, SETTINGS) == expected
    common = compare_tables(tables, MEASURES, FORMULA, SETTINGS, common=True)
    assert common == replace(expected, dropped={"A": (), "B": ()}, notes=common.notes)
    assert [note.code for note in common.notes] == ["COMMON_UNITS"]


PRECISION: Any = {"measures": ["P"], "formula": MEAN}


def note_codes(found: SystemComparison) -> list[str]:
    return [note.code for note in found.notes]


def test_as_many_resamples_as_significance_needs() -> None:
    """190 pairs at 1 %: of 10,000 resamples the smallest corrected p is 0.019."""
    twenty = {f"S{number}": system(1 - number / 20, units=25, seed=number) for number in range(20)}
    grown = comparison(twenty, Resampling(confidence=99, can_grow=True, correction="holm"), **PRECISION)
    assert grown.resampling == Resampling(19_000, confidence=99, method="percentile", correction="holm")
    assert note_codes(grown) == []
    assert {entry.tier for entry in grown.measures[0].systems} > {1}
    assert min(pair.p_adjusted for pair in grown.measures[0].pairs) <= 0.01
    asked = comparison(twenty, Resampling(10_000, confidence=99, correction="holm"), **PRECISION)
    assert asked.resampling.resamples == 10_000
    assert note_codes(asked) == ["NEVER_SIGNIFICANT"]
    assert {entry.tier for entry in asked.measures[0].systems} == {1}
    assert "--bootstrap 19000" in asked.notes[0].text


@pytest.mark.parametrize(
    ("resamples", "systems", "units", "warned"),
    [
        (3799, 20, 60, False),
        (3798, 20, 60, True),  # 190 / 3799 is above 0.05
        (19, 2, 60, False),
        (18, 2, 60, True),
        (10_000, 2, 6, False),  # exact: 2 of 64 exchanges
        (10_000, 2, 5, True),  # 2 of 32
        (10_000, 2, 1, True),
    ],
)
def test_significance_that_cannot_be_is_told(resamples: int, systems: int, units: int, warned: bool) -> None:
    matrices = {f"S{number}": tiled((1, 1, 1), units) for number in range(systems)}
    found = comparison(matrices, Resampling(resamples, correction="holm"), **PRECISION)
    assert ("NEVER_SIGNIFICANT" in note_codes(found)) == warned
    if warned:
        [text] = [note.text for note in found.notes if note.code == "NEVER_SIGNIFICANT"]
        assert ("--bootstrap" in text) == (units > 10)  # no number of resamples helps where units are few


def test_a_smallest_p_is_reached_where_every_unit_is_won() -> None:
    """What the notes call possible is what the tests give."""
    for units in (6, 30):
        found = comparison({"A": tiled((1, 1, 1), units), "B": tiled((0, 1, 1), units)})
        [pair] = found.measures[0].pairs
        assert pair.p == found.measures[0].family.smallest_p(units)
        assert "NEVER_SIGNIFICANT" not in note_codes(found)


def test_a_false_alarm_counts_against_the_system_that_raised_it() -> None:
    """Precision of a system with 60 false alarms on units of which the other says nothing: 0/0 is no tie."""
    careful, rash = np.zeros((90, 3)), np.zeros((90, 3))
    careful[:30] = rash[:30] = 1.0
    rash[30:, 1] = 1.0
    found = comparison({"rash": rash, "careful": careful})
    [pair] = found.measures[0].pairs
    assert pair.difference == pytest.approx(2 / 3)
    assert pair.p < 0.05
    # The thirty right answers of both are worth more to the one with the smaller denominator.
    assert (pair.wins, pair.ties, pair.losses) == (60, 30, 0)


def test_only_units_that_hold_something_can_be_significant() -> None:
    """Six units, all won, of which two are 0/0 in both: the smallest p is that of four units."""
    won = tiled((1, 1, 1), 6)
    won[4:] = 0
    found = comparison({"A": won, "B": np.where(np.arange(3) == 0, 0, won)}, **PRECISION)
    assert found.measures[0].pairs[0].p == 2 / 16
    [text] = [note.text for note in found.notes if note.code == "NEVER_SIGNIFICANT"]
    assert "the smallest possible p is 0.125, above the level of 0.05; 4 units that hold anything are too few" in text


def test_a_measure_has_a_note_of_its_own_where_its_units_are_fewer() -> None:
    """Precision has a denominator in two of forty units, recall in all."""
    matrix = tiled((0, 0, 1), 40)
    matrix[:2] = 1
    found = comparison({"A": matrix, "B": tiled((0, 0, 1), 40)}, primary="R")
    assert note_codes(found) == ["NEAR_COPIES"]
    codes = {measure.measure: [note.code for note in measure.notes] for measure in found.measures}
    assert "NEVER_SIGNIFICANT" in codes["P"]
    assert "NEVER_SIGNIFICANT" not in codes["R"] + codes["F1"]


@pytest.mark.parametrize("gains", [(0, 1), (1, 0)])
def test_the_verdict_of_a_pair(gains: tuple[int, int]) -> None:
    matrices = {name: np.stack([np.full(12, gain), np.ones(12)], axis=1) for name, gain in zip("AB", gains)}
    found = comparison(matrices, replace(SETTINGS, resamples=5000), **PRECISION)
    better, worse = "BA" if gains == (0, 1) else "AB"
    said = f"{better} is significantly better than {worse} in P: p 0.0005 by the randomisation test, level 0.05"
    assert found.measures[0].verdict == said
    same = comparison({"A": matrices["A"], "B": matrices["A"]}, **PRECISION)
    said = "A and B do not differ significantly in P: p 1.0000 by the randomisation test, level 0.05"
    assert same.measures[0].verdict == said


def test_the_verdict_of_several_pairs() -> None:
    values = np.random.default_rng(1).random(40)
    matrices = {name: np.stack([values + gain, np.ones(40)], axis=1) for name, gain in zip("ABC", (0.0, 0.5, 0.0))}
    settings = replace(SETTINGS, confidence=99)
    assert comparison(matrices, settings, **PRECISION).measures[0].verdict == (
        "2 of 3 pairs differ significantly in P by max-T, level 0.01: B is better than A, C"
    )
    corrections: dict[Correction, str] = {
        "holm": "Holm's correction",
        "hsd": "HSD",
        "none": "the randomisation test, uncorrected",
    }
    for correction, name in corrections.items():
        said = comparison(matrices, replace(settings, correction=correction), **PRECISION).measures[0].verdict
        assert f"differ significantly in P by {name}, level 0.01" in said
    same = dict.fromkeys("ABCD", matrices["A"])
    said = "None of 6 pairs differs significantly in P by max-T, level 0.05"
    assert comparison(same, **PRECISION).measures[0].verdict == said


def test_a_verdict_names_few_systems() -> None:
    values = np.random.default_rng(1).random((40, 1)) + np.arange(9)
    matrices = {f"S{at}": np.stack([column, np.ones(40)], axis=1) for at, column in enumerate(values.T)}
    said = comparison(matrices, **PRECISION).measures[0].verdict
    assert said.startswith("36 of 36 pairs differ significantly in P by max-T, level 0.05: S8 is better than S0, S1, ")
    assert said.endswith("S4 is better than S0, S1, S2, S3; 3 more systems better than others")
