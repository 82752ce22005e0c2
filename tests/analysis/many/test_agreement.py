"""What runs have in common and find together, against sets and all choices of runs."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.analysis.many.overview import (
    Findings,
    as_bits,
    bits,
    findings,
    found_by,
    marks,
    overlaps,
    recall_by_systems,
    unit_parts,
)
from cs_score.base.errors import InputError
from cs_score.base.records import convert, replace, to_builtins
from cs_score.statistics.units import UnitTable

ids = st.integers(0, 30).map(lambda number: f"{number:012x}")


@given(st.lists(st.frozensets(ids, max_size=8), max_size=5))
def test_overlaps_are_those_of_sets(answers: list[frozenset[str]]) -> None:
    found = [(each.a, each.b, each.shared, each.either) for each in overlaps(as_bits(answers))]
    assert found == [
        (a, b, len(answers[a] & answers[b]), len(answers[a] | answers[b]))
        for a, b in combinations(range(len(answers)), 2)
    ]


def test_parts_are_never_pooled() -> None:
    """Two parts of two units each: the first run has all of the first, the second all of the second and one more."""
    parts = unit_parts(2, ("label", "sentence"))
    assert parts == {"label": 0b0011, "sentence": 0b1100}
    found = [(each.part, each.shared, each.either) for each in overlaps([0b0011, 0b1101], parts)]
    assert found == [("label", 1, 2), ("sentence", 0, 2)]


def test_two_runs_without_answers_have_no_overlap() -> None:
    (pair,) = overlaps(as_bits([(), ()]))
    assert pair.jaccard is None
    (pair,) = overlaps(as_bits([("a",), ()]))
    assert pair.jaccard == 0.0


@given(st.integers(1, 5).flatmap(lambda things: st.lists(st.integers(0, 2**things - 1).map(lambda n: (n, things)))))
def test_pooled_recall_is_the_mean_over_all_choices_of_runs(runs: list[tuple[int, int]]) -> None:
    things = runs[0][1] if runs else 0
    found = [{thing for thing in range(things) if bitset >> thing & 1} for bitset, _ in runs]
    of_runs = [marks(bitset, things) for bitset, _ in runs]
    pooled = recall_by_systems(found_by(of_runs, things), len(runs))
    assert [each.systems for each in pooled] == list(range(1, len(runs) + 1) if things else [])
    for each in pooled[:4]:
        unions = [set().union(*chosen) for chosen in combinations(found, each.systems)]
        assert each.recall == pytest.approx(sum(map(len, unions)) / len(unions) / things)
        agreed = [sum(thing in of_run for of_run in found) >= each.systems for thing in range(things)]
        assert each.agreed == pytest.approx(sum(agreed) / things)


def test_nothing_to_find() -> None:
    assert recall_by_systems([], 3) == []
    assert (marks(0, 0), found_by([], 2), found_by(["01"], 2)) == ("", [0, 0], [0, 1])


@given(st.sets(st.integers(0, 40)), st.frozensets(ids), st.lists(st.floats(0, 9), min_size=4, max_size=4))
def test_findings_are_read_as_they_were_written(found: set[int], right: frozenset[str], numbers: list[float]) -> None:
    table = UnitTable(("a", "b;,"), ("x", "y"), [(numbers[0], 3), (numbers[2], numbers[3])])
    read = convert(to_builtins(findings(table, bits(found, 41), right)), Findings)
    assert (read.table(), read.right, read.wrong) == (table, "".join(sorted(right)), "")
    assert {number for number in range(41) if read.bits() >> number & 1} == found


@pytest.mark.parametrize(("key", "value"), [("units", "x,y;z"), ("columns", ()), ("rows", "x,y;z"), ("found", "x,y;z")])
def test_findings_that_no_batch_has_written_are_refused(key: str, value: object) -> None:
    changed: Findings = replace(findings(UnitTable(("a",), ("x",), [(1.0,)])), **{key: value})
    with pytest.raises((InputError, ValueError)):
        changed.check()
