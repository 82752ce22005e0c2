"""Kendall's tau-b, first places and tiers against numbers worked by hand, and against scipy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.analysis.rankings import (
    FirstPlace,
    RankingPair,
    RunRanking,
    compare_rankings,
    compare_rows,
    measure_formula,
    tau_b,
)
from cs_score.base.errors import InputError
from cs_score.base.records import convert, replace, to_builtins
from cs_score.statistics.resampling_settings import Resampling
from cs_score.statistics.units import UnitTable
from cs_score.verbs.batch.overview import (
    Findings,
    answers_as_bits,
    count_finders,
    count_shared_answers,
    make_findings,
    mark_targets,
    masks_by_measure,
    pack_bits,
    shares_found_together,
)


def test_scores_that_differ_by_rounding_are_a_tie() -> None:
    assert tau_b((0.3, 0.1 + 0.2), (1, 2)) is None


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12))
def test_tau_b_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    scipy = pytest.importorskip("scipy.stats")
    first, second = zip(*pairs) if pairs else ((), ())
    expected = None
    if len(set(first)) > 1 and len(set(second)) > 1:
        expected = float(scipy.kendalltau(first, second).statistic)
    assert tau_b(first, second) == pytest.approx(expected, abs=1e-12)


F1, AP = RunRanking("F1", ""), RunRanking("AP", "")


class TestStability:
    """Three runs under two measures; the second measure swaps the first two."""

    SCORES: ClassVar[dict[RunRanking, list[float | None]]] = {F1: [0.9, 0.5, 0.1], AP: [0.5, 0.9, 0.1]}

    def test_without_resamples_there_are_neither_intervals_nor_shares(self) -> None:
        found = compare_rankings(self.SCORES)
        nobody = (None, None, None)
        assert found.first_places == (FirstPlace("F1", "", (0,), nobody), FirstPlace("AP", "", (1,), nobody))
        (pair,) = found.pairs
        assert pair.tau == pytest.approx(1 / 3)
        assert pair == RankingPair(F1, AP, pair.tau, None)

    def test_first_places_are_counted_and_taus_taken_in_each_resample(self) -> None:
        # In the last of four resamples the second run is first by F1, so that both rankings are the same there.
        drawn = {
            F1: np.array([[0.9, 0.9, 0.9, 0.4], [0.5, 0.5, 0.5, 0.5], [0.1] * 4]),
            AP: np.array([[0.5] * 4, [0.9] * 4, [0.1] * 4]),
        }
        found = compare_rankings(self.SCORES, drawn, 0.5)
        assert [each.shares for each in found.first_places] == [(0.75, 0.25, 0.0), (0.0, 1.0, 0.0)]
        # The taus are 1/3, 1/3, 1/3 and 1; the upper quartile lies a quarter of the way to the last.
        limits = found.pairs[0].interval
        assert limits is not None
        assert (limits.low, limits.high) == pytest.approx((1 / 3, 1 / 3 + 0.25 * 2 / 3))

    def test_runs_that_tie_for_the_first_place_share_the_resample(self) -> None:
        """Two tied runs are first in half of the resamples each, whether the resamples are tied or not."""
        apart = np.array([[0.4, 0.6], [0.6, 0.4]])
        found = compare_rankings({F1: [0.5, 0.5]}, {F1: apart}, 0.05)
        assert found.first_places == (FirstPlace("F1", "", (0, 1), (0.5, 0.5)),)
        tied = np.array([[0.5, 0.5, 0.9], [0.5, 0.5, 0.5], [0.1, 0.5, 0.9]])
        found = compare_rankings({F1: [0.5, 0.5, None, 0.4]}, {F1: tied[[0, 1, 0, 2]]}, 0.05)
        assert found.first_places[0].shares == pytest.approx(
            ((1 / 2 + 1 / 3 + 1 / 2) / 3, (1 / 2 + 1 / 3) / 3, None, (1 / 3 + 1 / 2) / 3)
        )

    def test_runs_that_one_ranking_lacks_are_left_out_of_its_pairs(self) -> None:
        (pair,) = compare_rankings(
            {RunRanking("F1", "a"): [0.9, 0.5, 0.1], RunRanking("F1", "b"): [0.1, None, 0.9]}
        ).pairs
        assert pair.tau == -1.0

    def test_too_many_resamples_without_a_score_leave_no_interval(self) -> None:
        lacking = np.array([[0.9, np.nan, np.nan, 0.9], [0.5] * 4, [0.1] * 4])
        found = compare_rankings(self.SCORES, dict.fromkeys(self.SCORES, lacking), 0.05)
        assert [each.shares for each in found.first_places] == [(None, None, None)] * 2
        assert found.pairs[0].interval is None


def _table(right: Sequence[int]) -> UnitTable:
    """A run that answers every unit once."""
    columns = ("SF:ALL:right", "SF:ALL:answered", "SF:ALL:ground_truth")
    return UnitTable(tuple(f"q{number}" for number in range(len(right))), columns, [(one, 1, 1) for one in right])


class TestRowTests:
    MEASURE = measure_formula("coldstart", ["SF-ALL-Micro-P"])

    def test_a_row_opens_a_tier_where_it_differs_from_the_first_of_the_tier(self) -> None:
        """Ten units: every exchange is made, so that p is a share of 1024. Of two rows the other one differs; among
        four, one of which is a copy, there are six pairs and nothing does.
        """
        runs = [[1] * 10, [1] * 7 + [0] * 3, [1] * 4 + [0] * 6, [1] * 4 + [0] * 6]
        settings = Resampling(2000, correction="holm")
        found = compare_rows([str(right) for right in runs], [_table(right) for right in runs], self.MEASURE, settings)
        assert [each.tier for each in found.rows] == [1, 1, 1, 1]  # 2 / 2 ** 6, times 6 pairs
        assert [each.p_above for each in found.rows] == [None, 1.0, 1.0, 1.0]
        two = [_table([1] * 10), _table([1] * 4 + [0] * 6)]
        found = compare_rows("AB", two, self.MEASURE, Resampling(2000))
        assert [(each.tier, each.p_above) for each in found.rows] == [(1, None), (2, 2 / 64)]
        # Six units are lost by one, four are ties: the mean is -.6, the standard deviation the root of 2.4 / 9.
        assert (found.rows[1].wins, found.rows[1].ties, found.rows[1].losses) == (0, 4, 6)
        assert found.rows[1].effect_size == pytest.approx(-0.6 / (2.4 / 9) ** 0.5)
        against = compare_rows("AB", two, self.MEASURE, Resampling(2000, baseline="B")).rows
        assert [(each.wins, each.ties, each.losses) for each in against] == [(6, 4, 0), (None, None, None)]
        assert found.verdict.startswith("A is significantly better than B in SF-ALL-Micro-P: p 0.0312 by the random")
        assert not found.notes

    def test_a_unit_that_a_run_lacks_is_nothing_in_it(self) -> None:
        whole, part = _table([1, 1, 1]), _table([1, 1])
        found = compare_rows("AB", [whole, part], measure_formula("coldstart", ["SF-ALL-Micro-R"]), Resampling(100))
        assert [each.p_above for each in found.rows] == [None, 1.0]  # 3/3 and 2/2

    @pytest.mark.parametrize("tables", [[], [_table([1])], [_table([]), _table([])]])
    def test_few_rows_and_no_units(self, tables: list[UnitTable]) -> None:
        found = compare_rows("AB"[: len(tables)], tables, self.MEASURE, Resampling(10))
        assert [each.tier for each in found.rows] == [1] * len(tables)

    def test_near_copies_and_units_without_content_are_noted(self) -> None:
        runs = [[1] * 7 + [0], [1] * 6 + [0, 0], [0] * 8]
        found = compare_rows("ABC", [_table(right) for right in runs], self.MEASURE, Resampling(100))
        assert [note.text for note in found.notes] == ["near-copies: A, B"]
        found = compare_rows("ABC", [_table(right[:4]) for right in runs], self.MEASURE, Resampling(100))
        assert [note.code for note in found.notes] == ["NEVER_SIGNIFICANT", "NEAR_COPIES"]

    def test_of_too_many_rows_no_pair_is_tested_but_those_with_a_baseline(self) -> None:
        names = [f"r{number}" for number in range(101)]
        tables = [_table([1] * 20)] * 101
        found = compare_rows(names, tables, self.MEASURE, Resampling(50))
        assert ({(each.tier, each.p_above) for each in found.rows}, found.family) == ({(None, None)}, None)
        assert [note.code for note in found.notes] == ["TOO_MANY_PAIRS"]
        with_baseline = compare_rows(names, tables, self.MEASURE, Resampling(50, baseline="r3"))
        assert with_baseline.family is not None
        assert with_baseline.family.pairs == 100
        assert [each.p_baseline for each in with_baseline.rows] == [None if at == 3 else 1.0 for at in range(101)]


ids = st.integers(0, 30).map(lambda number: f"{number:012x}")


@given(st.lists(st.frozensets(ids, max_size=8), max_size=5))
def test_overlaps_are_those_of_sets(answers: list[frozenset[str]]) -> None:
    found = [
        (each.a, each.b, each.shared_count, each.either_count)
        for each in count_shared_answers(dict(enumerate(answers_as_bits(answers))), {"": -1})
    ]
    assert found == [
        (a, b, len(answers[a] & answers[b]), len(answers[a] | answers[b]))
        for a, b in combinations(range(len(answers)), 2)
    ]


def test_parts_are_never_pooled() -> None:
    """Two parts of two units each: the first run has all of the first, the second all of the second and one more."""
    parts = masks_by_measure(2, ("label", "sentence"))
    assert parts == {"label": 0b0011, "sentence": 0b1100}
    found = [
        (each.part, each.shared_count, each.either_count)
        for each in count_shared_answers({0: 0b0011, 3: 0b1101}, parts)
    ]
    assert found == [("label", 1, 2), ("sentence", 0, 2)]


def test_runs_without_answers_and_nothing_to_find() -> None:
    for answers, jaccard in (([(), ()], None), ([("a",), ()], 0.0)):
        (pair,) = count_shared_answers(dict(enumerate(answers_as_bits(answers))), {"": -1})
        assert pair.jaccard == jaccard
    assert shares_found_together([], 3) == []
    assert (mark_targets(0, 0), count_finders([], 2), count_finders(["01"], 2)) == ("", [0, 0], [0, 1])


@given(st.integers(1, 5).flatmap(lambda things: st.lists(st.integers(0, 2**things - 1).map(lambda n: (n, things)))))
def test_pooled_recall_is_the_mean_over_all_choices_of_runs(runs: list[tuple[int, int]]) -> None:
    things = runs[0][1] if runs else 0
    found = [{thing for thing in range(things) if bitset >> thing & 1} for bitset, _ in runs]
    of_runs = [mark_targets(bitset, things) for bitset, _ in runs]
    pooled = shares_found_together(count_finders(of_runs, things), len(runs))
    assert [each.run_count for each in pooled] == list(range(1, len(runs) + 1) if things else [])
    for each in pooled[:4]:
        unions = [set().union(*chosen) for chosen in combinations(found, each.run_count)]
        assert each.found_by_any == pytest.approx(sum(map(len, unions)) / len(unions) / things)
        agreed = [sum(thing in of_run for of_run in found) >= each.run_count for thing in range(things)]
        assert each.found_by_at_least == pytest.approx(sum(agreed) / things)


@given(st.sets(st.integers(0, 40)), st.frozensets(ids), st.lists(st.floats(0, 9), min_size=4, max_size=4))
def test_findings_are_read_as_they_were_written(found: set[int], right: frozenset[str], numbers: list[float]) -> None:
    table = UnitTable(("a", "b;,"), ("x", "y"), [(numbers[0], 3), (numbers[2], numbers[3])])
    read = convert(to_builtins(make_findings(table, pack_bits(found, 41), right)), Findings)
    assert (read.table(), read.right, read.wrong) == (table, "".join(sorted(right)), "")
    assert {number for number in range(41) if read.found_bits() >> number & 1} == found


@pytest.mark.parametrize(("key", "value"), [("units", "x,y;z"), ("columns", ()), ("rows", "x,y;z"), ("found", "x,y;z")])
def test_findings_that_no_batch_has_written_are_refused(key: str, value: object) -> None:
    changed: Findings = replace(make_findings(UnitTable(("a",), ("x",), [(1.0,)])), **{key: value})
    with pytest.raises((InputError, ValueError)):
        changed.check()
