"""Laws that hold for every input: ranges, orders that do not matter, gold against gold, damage told in one line."""

from __future__ import annotations

import copy
import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.evidence import hotpotqa, r4c, scifact
from cs_score.evidence.hotpotqa import normalise_answer
from cs_score.evidence.mode import ScoredPredictions
from tests.evidence.recorded import FAMILIES, example
from tests.evidence.worlds import SCORERS, World, fact_lists, facts, labels, scored_worlds, texts

Json = Any


def keys_reversed(value: Json) -> Json:
    """The same JSON with the members of every object in the opposite order."""
    if isinstance(value, Mapping):
        return {key: keys_reversed(value[key]) for key in reversed(list(value))}
    return [keys_reversed(each) for each in value] if isinstance(value, (list, tuple)) else value


def with_lists_reversed(mode: str, gold: Json) -> Json:
    """Gold with evidence sets and supporting facts in the opposite order; R4C draws among references in theirs."""
    if mode == "hotpotqa":
        return [entry | {"supporting_facts": entry["supporting_facts"][::-1]} for entry in gold]
    if mode == "r4c":
        return gold
    return [claim | {"evidence": {key: sets[::-1] for key, sets in claim["evidence"].items()}} for claim in gold]


@pytest.mark.parametrize("mode", FAMILIES)
@given(data=st.data())
def test_scores_are_shares_and_orders_do_not_matter(mode: str, data: st.DataObject) -> None:
    world, result = data.draw(scored_worlds(mode))
    assert all(0 <= value <= 1 for value in result.scores.values())
    gold = world.gold if mode == "r4c" else keys_reversed(world.gold)
    assert replace(world, gold=gold, predictions=keys_reversed(world.predictions)).result().table == result.table
    assert replace(world, gold=with_lists_reversed(mode, world.gold)).result().table == result.table
    if mode == "claims":
        backwards = replace(world, gold=world.gold[::-1], predictions=world.predictions[::-1])
        assert backwards.result().scores == result.scores
    if mode == "hotpotqa":
        for part in ("em", "f1", "prec", "recall"):
            assert result.scores[f"joint_{part}"] <= min(result.scores[part], result.scores[f"sp_{part}"]) + 1e-15


@given(scored_worlds("scifact"))
def test_scifact_repeating_a_prediction_never_helps_nor_an_irrelevant_abstract(
    scored: tuple[World, ScoredPredictions],
) -> None:
    world, before = scored[0], scored[1].scores
    repeated, more = copy.deepcopy(world.predictions), copy.deepcopy(world.predictions)
    for claim in repeated:
        for predicted in claim["evidence"].values():
            predicted["sentences"] += predicted["sentences"][:1]
    more[0]["evidence"]["none such"] = {"label": "SUPPORT", "sentences": [1]}
    for changed in (repeated, more):
        after = world.result(changed).scores
        for group in scifact.GROUPS:
            assert after[f"{group}_recall"] <= before[f"{group}_recall"]
            assert after[f"{group}_precision"] <= before[f"{group}_precision"]
            assert changed is repeated or after[f"{group}_recall"] == before[f"{group}_recall"]


@given(st.lists(st.tuples(labels, st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=4), st.randoms())
def test_scifact_gold_against_gold_is_one(abstracts: list[tuple[str, int, int]], rng: random.Random) -> None:
    """Gold sets are disjoint; the shorter one is predicted first."""
    gold, predictions = [], []
    for number, (label, size, cut) in enumerate(abstracts):
        listed = rng.sample(range(10), size)
        sets = sorted(filter(None, (listed[:cut], listed[cut:])), key=len)
        gold.append({"id": number, "evidence": {"7": [{"sentences": each, "label": label} for each in sets[::-1]]}})
        predictions.append(
            {"id": number, "evidence": {"7": {"label": label, "sentences": [each for some in sets for each in some]}}}
        )
    assert set(scifact.MODE.score(gold, predictions).scores.values()) == {1.0}


@given(st.lists(facts, min_size=1, max_size=4))
def test_r4c_gold_against_gold_is_one(derivation: list[Any]) -> None:
    scores = r4c.MODE.score({"k": [derivation] * 3}, {"re": {"k": derivation}}).scores
    assert list(scores.values()) == pytest.approx([1.0] * 9, abs=1e-12)


@given(st.lists(st.tuples(texts.filter(normalise_answer), fact_lists.filter(bool)), min_size=1, max_size=4))
def test_hotpotqa_gold_against_gold_is_one(asked: Sequence[tuple[str, Json]]) -> None:
    gold = [{"_id": str(n), "answer": answer, "supporting_facts": found} for n, (answer, found) in enumerate(asked)]
    answers, found = ({q["_id"]: q[part] for q in gold} for part in ("answer", "supporting_facts"))
    assert set(hotpotqa.MODE.score(gold, {"answer": answers, "sp": found}).scores.values()) == {1.0}


anything = st.recursive(
    st.sampled_from((None, True, False, 0, -1.5, 1e308, float("inf"), float("nan"), 10**30, "", "x", "7", "\ud800")),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(("id", "label", "7")), inner, max_size=2)
    ),
    max_leaves=4,
)


@st.composite
def with_a_part_replaced(draw: st.DrawFn, value: Any, part: object) -> Any:
    """`value` with one of its parts, however deep, replaced or left out."""
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        key = draw(st.sampled_from(sorted(value)))
        if draw(st.integers(0, 5)):
            return value | {key: draw(with_a_part_replaced(value[key], part))}
        return {name: kept for name, kept in value.items() if name != key}
    if isinstance(value, (list, tuple)) and value and draw(st.integers(0, 5)):
        position = draw(st.integers(0, len(value) - 1))
        return [*value[:position], draw(with_a_part_replaced(value[position], part)), *value[position + 1 :]]
    return part


@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data())
def test_any_damage_is_scored_or_told(family: str, data: st.DataObject) -> None:
    """Whatever stands where something else was expected: scores and explanations, or an InputError."""
    files = [*example(family)]
    damaged = data.draw(st.integers(0, 1))
    files[damaged] = data.draw(with_a_part_replaced(files[damaged], data.draw(anything)))
    assume(not isinstance(files[damaged], str))  # that is a path
    result: ScoredPredictions | InputError
    try:
        result = SCORERS[family](*files)
    except InputError as error:
        result = error
    if isinstance(result, InputError):
        assert "\n" not in str(result)
        assert result.file in ("<gold>", "<predictions>")
    else:
        assert all(0 <= value <= 1 for value in result.scores.values())
        assert all(map(result.explain_unit_at, range(len(result.table.ids))))
