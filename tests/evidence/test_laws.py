"""Laws that hold for every input: ranges, orders that do not matter, gold against gold, damage told in one line."""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from cs_score.base.errors import InputError
from cs_score.evidence import claims, hotpotqa, r4c, scifact
from cs_score.evidence.hotpotqa import normalised
from cs_score.evidence.result import Result
from tests.evidence.command import cs_score
from tests.evidence.test_claims import GOLD as CLAIMS_GOLD
from tests.evidence.test_claims import PREDICTIONS as CLAIMS_PREDICTIONS
from tests.evidence.test_hotpotqa import GOLD as HOTPOTQA_GOLD
from tests.evidence.test_hotpotqa import PREDICTIONS as HOTPOTQA_PREDICTIONS
from tests.evidence.test_r4c import EXAMPLE_PREDICTION, EXAMPLE_REFERENCES
from tests.evidence.test_scifact import GOLD, PREDICTIONS

Json = dict[str, Any]
Scorer = Callable[[Any, Any], Result]

labels = st.sampled_from(scifact.LABELS)
sentences = st.integers(0, 9)
documents = st.integers(1, 5).map(str)


@st.composite
def evidence(draw: st.DrawFn) -> Json:
    """Gold evidence: disjoint, non-empty sentence sets of one label per document."""
    found: Json = {}
    for document in draw(st.lists(documents, max_size=3, unique=True)):
        label = draw(labels)
        listed = draw(st.lists(sentences, min_size=1, max_size=6, unique=True))
        cut = draw(st.integers(1, len(listed)))
        found[document] = [{"sentences": each, "label": label} for each in (listed[:cut], listed[cut:]) if each]
    return found


@st.composite
def claim_files(draw: st.DrawFn) -> tuple[list[Json], list[Json], list[Json]]:
    """Gold claims with predictions in the leaderboard's shape and as lists of entries."""
    gold, leaderboard, entries = [], [], []
    for number in range(draw(st.integers(1, 4))):
        wanted = draw(evidence())
        cited = draw(st.lists(documents.map(int), max_size=3))
        gold.append({"id": number, "evidence": wanted, "cited_doc_ids": cited, "label": draw(labels)})
        answer = st.fixed_dictionaries({"label": labels, "sentences": st.lists(sentences, max_size=5)})
        leaderboard.append({"id": number, "evidence": draw(st.dictionaries(documents, answer, max_size=3))})
        lists = st.dictionaries(documents, st.lists(answer, max_size=3), max_size=3)
        entries.append({"id": number, "evidence": draw(lists), "label": draw(labels)})
    return gold, leaderboard, entries


def keys_reversed(value: Any) -> Any:
    """The same JSON with the members of every object in the opposite order."""
    if isinstance(value, Mapping):
        return {key: keys_reversed(value[key]) for key in reversed(list(value))}
    return [keys_reversed(each) for each in value] if isinstance(value, (list, tuple)) else value


def sets_reversed(gold: Sequence[Json]) -> list[Json]:
    return [claim | {"evidence": {key: sets[::-1] for key, sets in claim["evidence"].items()}} for claim in gold]


@given(claim_files())
def test_claims_laws(files: tuple[list[Json], list[Json], list[Json]]) -> None:
    gold, leaderboard, entries = files
    for score, predictions in ((scifact.score, leaderboard), (claims.score, entries)):
        result: Result = score(gold, predictions)
        assert all(0 <= value <= 1 for value in result.scores.values())
        assert score(sets_reversed(gold), predictions).table == result.table
        assert score(keys_reversed(gold), keys_reversed(predictions)).table == result.table
    backwards = claims.score(gold[::-1], entries[::-1])
    assert backwards.scores == claims.score(gold, entries).scores
    assert scifact.score(gold, leaderboard[::-1], any_order=True).scores == scifact.score(gold, leaderboard).scores


@given(st.lists(evidence(), min_size=1, max_size=4))
def test_scifact_gold_against_gold_is_one(found: list[Json]) -> None:
    assume(any(found))
    gold = [{"id": number, "evidence": each} for number, each in enumerate(found)]
    predictions = []
    for claim in gold:
        predicted = {}
        for document, sets in claim["evidence"].items():  # type: ignore[attr-defined]
            shortest_first = sorted((each["sentences"] for each in sets), key=len)
            predicted[document] = {"label": sets[0]["label"], "sentences": list(itertools.chain(*shortest_first))}
        predictions.append({"id": claim["id"], "evidence": predicted})
    assert set(scifact.score(gold, predictions).scores.values()) == {1.0}


@given(claim_files())
def test_scifact_repeating_a_prediction_never_helps_nor_an_irrelevant_abstract(
    files: tuple[list[Json], list[Json], list[Json]],
) -> None:
    gold, predictions, _ = files
    before = scifact.score(gold, predictions).scores
    repeated, more = copy.deepcopy(predictions), copy.deepcopy(predictions)
    for claim in repeated:
        for predicted in claim["evidence"].values():
            predicted["sentences"] += predicted["sentences"][:1]
    more[0]["evidence"]["none such"] = {"label": "SUPPORT", "sentences": [1]}
    for changed in (repeated, more):
        after = scifact.score(gold, changed).scores
        for group in scifact.GROUPS:
            assert after[f"{group}_recall"] <= before[f"{group}_recall"]
            assert after[f"{group}_precision"] <= before[f"{group}_precision"]
            assert changed is repeated or after[f"{group}_recall"] == before[f"{group}_recall"]


facts = st.tuples(*[st.text("abİ ", min_size=1, max_size=4)] * 3)
derivations = st.lists(facts.map(lambda fact: ["T", 0, list(fact)]), max_size=4)


@given(st.lists(st.tuples(derivations, derivations, derivations, derivations), min_size=1, max_size=3))
def test_r4c_laws(instances: list[tuple[Any, ...]]) -> None:
    gold = {str(number): references for number, (_, *references) in enumerate(instances)}
    predictions = {str(number): predicted for number, (predicted, *_) in enumerate(instances)}
    for references in (1, 2, 3):
        result = r4c.score(gold, {"re": predictions}, references=references)
        assert all(0 <= value <= 1 for value in result.scores.values())
        others_first = dict(reversed(predictions.items()))
        assert r4c.score(gold, {"x": 1, "re": others_first}, references=references).table == result.table


@given(st.lists(facts.map(lambda fact: ["T", 0, list(fact)]), min_size=1, max_size=4))
def test_r4c_gold_against_gold_is_one(derivation: list[Any]) -> None:
    scores = r4c.score({"k": [derivation] * 3}, {"re": {"k": derivation}}).scores
    assert list(scores.values()) == pytest.approx([1.0] * 9, abs=1e-12)


answers = st.text("ab The.yesno", max_size=8)
fact_lists = st.lists(st.tuples(st.sampled_from("ST"), st.integers(0, 2)), max_size=4)


def questions(listed: Sequence[tuple[str, Any]]) -> list[Json]:
    return [{"_id": str(n), "answer": answer, "supporting_facts": found} for n, (answer, found) in enumerate(listed)]


def answered(listed: Sequence[tuple[str, Any]]) -> Json:
    parts = zip(*listed)
    return {part: {str(n): each for n, each in enumerate(column)} for part, column in zip(("answer", "sp"), parts)}


questions_and_answers = st.lists(st.tuples(answers, fact_lists), min_size=1, max_size=4)


@given(questions_and_answers, st.data())
def test_hotpotqa_laws(asked: list[tuple[str, Any]], data: st.DataObject) -> None:
    gold = questions(asked)
    given = data.draw(st.lists(st.tuples(answers, fact_lists), min_size=len(asked), max_size=len(asked)))
    predictions = answered(given)
    result = hotpotqa.score(gold, predictions)
    assert all(0 <= value <= 1 for value in result.scores.values())
    for part in ("em", "f1", "prec", "recall"):
        assert result.scores[f"joint_{part}"] <= min(result.scores[part], result.scores[f"sp_{part}"]) + 1e-15
    assert hotpotqa.score(keys_reversed(gold), keys_reversed(predictions)).table == result.table
    backwards = [entry | {"supporting_facts": entry["supporting_facts"][::-1]} for entry in gold]
    assert hotpotqa.score(backwards, predictions).table == result.table


@given(questions_and_answers)
def test_hotpotqa_gold_against_gold_is_one(asked: list[tuple[str, Any]]) -> None:
    assume(all(normalised(answer) and listed for answer, listed in asked))
    assert set(hotpotqa.score(questions(asked), answered(asked)).scores.values()) == {1.0}


EXAMPLES: Mapping[str, tuple[Scorer, Any, Any]] = {
    "scifact": (scifact.score, GOLD, PREDICTIONS),
    "claims": (claims.score, CLAIMS_GOLD, CLAIMS_PREDICTIONS),
    "r4c": (r4c.score, {"k": EXAMPLE_REFERENCES}, {"re": {"k": EXAMPLE_PREDICTION}}),
    "hotpotqa": (hotpotqa.score, HOTPOTQA_GOLD, HOTPOTQA_PREDICTIONS),
}

anything = st.recursive(
    st.sampled_from((None, True, False, 0, -1.5, 1e308, float("inf"), float("nan"), 10**30, "", "x", "7", "\ud800")),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(("id", "label", "7")), inner, max_size=2)
    ),
    max_leaves=4,
)


def with_a_part_replaced(draw: st.DrawFn, value: Any, part: object) -> Any:
    """`value` with one of its parts, however deep, replaced, or left out where `part` is dropped."""
    if isinstance(value, dict) and value and draw(st.integers(0, 5)):
        key = draw(st.sampled_from(sorted(value)))
        if draw(st.integers(0, 5)):
            return value | {key: with_a_part_replaced(draw, value[key], part)}
        return {name: kept for name, kept in value.items() if name != key}
    if isinstance(value, (list, tuple)) and value and draw(st.integers(0, 5)):
        position = draw(st.integers(0, len(value) - 1))
        return [*value[:position], with_a_part_replaced(draw, value[position], part), *value[position + 1 :]]
    return part


def check_told(error: InputError) -> None:
    assert "\n" not in str(error)
    assert error.file in ("<gold>", "<predictions>")


@pytest.mark.parametrize("family", EXAMPLES)
@given(data=st.data())
def test_any_damage_is_scored_or_told(family: str, data: st.DataObject) -> None:
    """Whatever stands where something else was expected: scores and explanations, or an InputError."""
    score, gold, predictions = EXAMPLES[family]
    part = data.draw(anything)

    @st.composite
    def damaged(draw: st.DrawFn, value: Any) -> Any:
        return with_a_part_replaced(draw, value, part)

    if data.draw(st.booleans()):
        gold = data.draw(damaged(gold))
    else:
        predictions = data.draw(damaged(predictions))
    assume(not isinstance(gold, str) and not isinstance(predictions, str))  # those are paths
    try:
        result = score(gold, predictions)
    except InputError as error:
        check_told(error)
        return
    assert all(0 <= value <= 1 for value in result.scores.values())
    assert all(map(result.explained, range(len(result.table.ids))))


@pytest.mark.parametrize("family", EXAMPLES)
@given(garbage=st.binary(min_size=1, max_size=12), where=st.floats(0, 1), in_gold=st.booleans())
@example(garbage=b"[", where=0.0, in_gold=False)
def test_garbage_is_scored_or_told_in_one_line(
    tmp_path: Path, family: str, garbage: bytes, where: float, in_gold: bool
) -> None:
    """A line of its own where files have lines, which is always told; anywhere in a document."""
    has_lines = family in ("scifact", "claims")
    if has_lines:
        assume(not any(separator in garbage for separator in b"\r\n"))
        with contextlib.suppress(ValueError):
            assume(not isinstance(json.loads(garbage.decode()), dict))
    damaged, place = "gold" if in_gold else "predictions", ""
    for role, value in zip(("gold", "predictions"), EXAMPLES[family][1:]):
        pieces = [json.dumps(line).encode() + b"\n" for line in value] if has_lines else [json.dumps(value).encode()]
        if role == damaged:
            at = int(where * len(pieces if has_lines else pieces[0]))
            if has_lines:
                pieces.insert(at, garbage + b"\n")
                place = f": line {at + 1}: "
            else:
                pieces = [pieces[0][:at], garbage, pieces[0][at:]]
        (tmp_path / role).write_bytes(b"".join(pieces))
    outcome = cs_score(family, "--gold", tmp_path / "gold", "--predictions", tmp_path / "predictions", "--json")
    if outcome.status or has_lines:
        assert outcome.complaint.startswith(str(tmp_path))
        assert not has_lines or f"{tmp_path}/{damaged}{place}" in outcome.complaint
    else:
        assert outcome.scores
