"""Two runs of an evidence mode: contributions add up to the difference, and every part has an outcome."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cs_score.analysis.outcomes import PairOutcome
from cs_score.base.errors import InputError
from cs_score.base.records import to_builtins
from cs_score.evidence import r4c, scifact
from cs_score.evidence.mode import ScoredPredictions
from cs_score.statistics.resampling_settings import Resampling
from cs_score.verbs.diff.evidence_documents import EvidenceDifference
from tests.evidence.recorded import FAMILIES, example
from tests.evidence.worlds import diff, rivals, scored_worlds

GOLD, PREDICTIONS = example("scifact")
QUICK = Resampling(9)

SWAPPED = {
    PairOutcome.RIGHT_IN_A: PairOutcome.RIGHT_IN_B,
    PairOutcome.RIGHT_IN_B: PairOutcome.RIGHT_IN_A,
    PairOutcome.WRONG_IN_A: PairOutcome.WRONG_IN_B,
    PairOutcome.WRONG_IN_B: PairOutcome.WRONG_IN_A,
}


@st.composite
def two_results(draw: st.DrawFn, mode: str) -> tuple[ScoredPredictions, ScoredPredictions, str]:
    world, first = draw(scored_worlds(mode))
    try:
        second = world.result(draw(rivals(world)))
    except InputError:  # gold sets with a sentence in common
        assume(False)
    return first, second, draw(st.sampled_from(first.mode.measures))


@pytest.mark.parametrize("mode", FAMILIES)
@given(data=st.data())
def test_contributions_add_up_to_the_difference(mode: str, data: st.DataObject) -> None:
    first, second, measure = data.draw(two_results(mode))
    found = diff(first, second, measure, resampling=QUICK)
    assert (found.a, found.b) == (first.scores[measure], second.scores[measure])
    shares = [unit.contribution for unit in found.units]
    if any("no contributions" in note.text for note in found.notes):
        assert set(shares) <= {None}
    else:
        assert math.fsum(map(float, filter(None, shares))) == pytest.approx(found.difference, abs=1e-12)
        assert None not in shares
        for groups in found.groups.values():
            assert math.fsum(group.contribution or 0.0 for group in groups) == pytest.approx(
                found.difference, abs=1e-12
            )
    json.dumps(to_builtins(found), allow_nan=False)


@pytest.mark.parametrize("mode", FAMILIES)
@given(data=st.data())
def test_with_itself_nothing_differs_and_the_other_way_round_all_is_negated(mode: str, data: st.DataObject) -> None:
    first, second, measure = data.draw(two_results(mode))
    same = diff(first, first, measure, resampling=QUICK)
    assert (same.difference, same.units, same.answers) == (0.0, (), ())
    forth, back = (diff(*pair, measure, resampling=QUICK) for pair in ((first, second), (second, first)))
    assert back.difference == -forth.difference
    for found, other in ((forth, back), (back, forth)):
        negated = {
            (str(each.unit), each.occurrence): (each.b, each.a, each.contribution and -each.contribution)
            for each in other.units
        }
        assert {
            (str(each.unit), each.occurrence): (each.a, each.b, each.contribution) for each in found.units
        } == negated
        outcomes = {(row.part, SWAPPED.get(row.outcome, row.outcome)): row.count for row in other.outcomes}
        assert {(row.part, row.outcome): row.count for row in found.outcomes} == outcomes
    assert len(forth.answers) == len(back.answers)


def shown(found: EvidenceDifference) -> list[tuple[object, str, Any, object, object, str]]:
    """Each answer: unit, part, value, what became of it in A and in B, and the outcome."""
    return [
        (each.unit, each.part, each.value, each.a and each.a.judgment, each.b and each.b.judgment, str(each.outcome))
        for each in found.answers
    ]


def test_scifact_by_hand() -> None:
    """B labels abstract 102 right and leaves out claim 8: P 2/4 -> 3/3, R 2/3 -> 3/3."""
    better = [
        {"id": 7, "evidence": {**PREDICTIONS[0]["evidence"], "102": {"label": "CONTRADICT", "sentences": [0, 5]}}},
        {"id": 8, "evidence": {}},
        PREDICTIONS[2],
    ]
    results = scifact.MODE.score(GOLD, PREDICTIONS), scifact.MODE.score(GOLD, better)
    found = diff(*results, "abstract_label_only_f1")
    assert found.a == pytest.approx(4 / 7)
    assert found.b == 1.0
    # F1 = 2c / (retrieved + relevant): 4/7 and 6/6; mean of the scores 11/14, of the denominators 13/2
    shares = {each.unit: each.contribution for each in found.units}
    assert shares == {7: pytest.approx(2 / 6.5), 8: pytest.approx(11 / 14 / 6.5)}
    assert [(each.unit, each.a, each.b) for each in found.units] == [(7, 0.5, 1.0), (8, 0.0, 0.0)]
    assert shown(found) == [
        (7, "abstract", "102", "SUPPORT, gold CONTRADICT", "CONTRADICT, rationalized", "right in B only"),
        (7, "sentence", {"abstract": "102", "sentence": 5}, None, "in no gold set", "wrong in B only"),
        (8, "abstract", "104", "SUPPORT, not relevant", None, "wrong in A only"),
    ]
    assert {row.outcome: row.count for row in found.outcomes if row.count and row.part == "abstract"} == {
        PairOutcome.RIGHT_IN_BOTH: 2, PairOutcome.RIGHT_IN_B: 1, PairOutcome.WRONG_IN_A: 1,
    }  # fmt: skip
    assert [(group.group, group.a, group.b) for group in found.groups["gold_label"]] == [
        ("CONTRADICT", 1.0, 1.0), ("CONTRADICT and SUPPORT", 0.5, 1.0), ("no evidence", 0.0, 0.0),
    ]  # fmt: skip
    assert found.notes[0].code == "NEVER_SIGNIFICANT"


def test_a_unit_that_one_was_not_scored_on_is_nothing_there() -> None:
    fact = [["T", 0, ["a", "b", "c"]]]
    gold = {"x": [fact] * 3, "y": [fact] * 3}
    first, second = (r4c.MODE.score(gold, {"re": dict.fromkeys(ids, fact)}, ignore_missing=True) for ids in ("x", "xy"))
    worse = r4c.MODE.score(gold, {"re": {"x": fact, "y": []}}, ignore_missing=True)
    assert diff(first, second).difference == 0.0
    found = diff(first, worse)
    (unit,) = found.units
    assert (unit.unit, unit.a, unit.b) == ("y", None, 0.0)
    assert unit.contribution == pytest.approx(-0.5)
    assert (found.interval, found.p) == (None, None)
    assert [note.text for note in found.notes] == ["no interval: A and B were not scored on the same instances"]


def test_a_score_without_denominator_has_no_contributions() -> None:
    gold = {"id": 1, "evidence": {}}
    nothing = {"id": 1, "evidence": {}}
    something = {"id": 1, "evidence": {"7": {"label": "SUPPORT", "sentences": [1]}}}
    found = diff(
        scifact.MODE.score([gold], [nothing]), scifact.MODE.score([gold], [something]), "abstract_label_only_precision"
    )
    assert [unit.contribution for unit in found.units] == [None]
    assert "is 0/0 for one of the two" in found.notes[0].text
