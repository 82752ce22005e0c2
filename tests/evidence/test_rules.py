"""Rules of each mode that no recorded case shows, what is not looked at, and messages."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import pytest

from cs_score.base.errors import InputError
from cs_score.evidence import claims, hotpotqa, r4c, scifact
from cs_score.evidence.hotpotqa import normalise_answer
from tests.evidence.recorded import example
from tests.evidence.worlds import SCORERS

Json = Any


def entry(label: object, *sentences: object) -> Json:
    return {"label": label, "sentences": list(sentences)}


def problem(mode: str, gold: Json, predictions: Json, **options: Any) -> str:
    with pytest.raises(InputError) as raised:
        SCORERS[mode](gold, predictions, **options)
    return str(raised.value)


# ---- SciFact

SET, NO_AGREEMENT = entry("SUPPORT", 1), {"id": 8, "evidence": {}}


def test_published_example_of_the_guideline() -> None:
    sets = {"11": [entry("SUPPORT", 0, 1), entry("SUPPORT", 11)], "15": [entry("SUPPORT", 4)]}
    given = {"11": entry("SUPPORT", 1, 11, 13), "16": entry("CONTRADICT", 18, 20)}
    scores = scifact.MODE.score([{"id": 52, "evidence": sets}], [{"id": 52, "evidence": given}]).scores
    assert list(scores.values()) == [0.5] * 6 + [0.2, 0.25, pytest.approx(2 / 9, abs=1e-15)] * 2


@pytest.mark.parametrize(
    ("gold", "predicted", "rationalized"),
    [
        ([1, 1, 1, 1, 2], [5, 6, 7, 1, 2], 0),  # the size of a set, not the length of its list
        ([2.0], [2], 1),
        (["2"], [2], 0),
    ],
)
def test_sentences_are_sets_of_values(gold: list[object], predicted: list[object], rationalized: int) -> None:
    claim = {"id": 1, "evidence": {"11": [entry("SUPPORT", *gold)]}}
    table = scifact.MODE.score([claim], [{"id": 1, "evidence": {"11": entry("SUPPORT", *predicted)}}]).table
    assert table.rows[0][table.columns.index("rationalized_correct")] == rationalized


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ({"evidence": {}}, ": the key 'id' is missing"),
        ({"id": [6], "evidence": {}}, ": 'id' is a list where a number or text is expected"),
        ({"id": 6, "evidence": 1}, ", claim 6: 'evidence' is a number where an object is expected"),
        ([6], ": the line is a list where an object is expected"),
        ({"11": {}}, ", claim 6, abstract 11: the gold evidence is an object where a list is expected"),
        ({"11": [3]}, ", claim 6, abstract 11: an evidence set is a number where an object is expected"),
        ({"11": [{"sentences": [1]}]}, ", claim 6, abstract 11: the key 'label' is missing"),
    ],
)
def test_bad_gold_of_scifact(line: Json, expected: str) -> None:
    line = {"id": 6, "evidence": line} if "11" in line else line
    assert problem("scifact", [line], []) == f"<gold>: line 1{expected}"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (entry("REFUTES"), "label 'REFUTES' is not one of SUPPORT, CONTRADICT; write CONTRADICT"),
        (entry("maybe"), "label 'maybe' is not one of SUPPORT, CONTRADICT"),
        (entry(["SUPPORT"]), "label a list is not one of SUPPORT, CONTRADICT"),
        ({"label": "SUPPORT", "sentences": "1"}, "'sentences' is text where a list is expected"),
        (entry("SUPPORT", [1]), "'sentences' holds a list or an object where sentence numbers are expected"),
        (7, "the prediction is a number where an object is expected"),
    ],
)
def test_bad_prediction_of_an_abstract_outside_gold(given: object, expected: str) -> None:
    text = problem("scifact", [NO_AGREEMENT], [{"id": 8, "evidence": {"77": given}}])
    assert text == f"<predictions>: line 1, claim 8, abstract 77: {expected}"


@pytest.mark.parametrize(
    ("ids", "any_order", "expected"),
    [
        (
            [7, 8],
            True,
            "no prediction for claim 9 of <gold> (1 of 3 claims have none); write "
            '{"id": 9, "evidence": {}} for a claim without evidence, or score the others with --answered-only',
        ),
        ([3, 7, 8, 9], True, "line 1, claim 3: <gold> has no such claim (or fewer of them)"),
        ([7, 7, 8, 9], True, "line 1, claim 7: <gold> has no such claim (or fewer of them)"),
        ([7, 8, 3], False, "line 3, claim 3: id 3 where <gold> has 9"),
    ],
)
def test_id_mismatch(ids: list[object], any_order: bool, expected: str) -> None:
    predictions = [{"id": each, "evidence": {}} for each in ids]
    said = problem("scifact", example("scifact")[0], predictions, any_order=any_order)
    assert said == f"<predictions>: {expected}"


def test_any_order_matches_occurrences_of_an_id_one_by_one_and_ids_are_compared_by_value() -> None:
    gold, predictions = example("scifact")
    backwards = [line | {"id": float(line["id"])} for line in reversed(predictions)]
    result = scifact.MODE.score(gold, backwards, any_order=True)
    assert result.scores == scifact.MODE.score(gold, predictions).scores
    assert (result.table.ids, result.positions_of(8)) == (("7", "8", "9"), [1])
    first, second = ({"id": 1, "evidence": {key: predictions[0]["evidence"][key]}} for key in ("101", "102"))
    twice = [gold[0] | {"id": 1}] * 2
    in_order = scifact.MODE.score(twice, [first, second])
    assert scifact.MODE.score(twice, [first, second], any_order=True).table == in_order.table


# ---- Claims


def counts(gold: Json, *predictions: Json) -> dict[str, float]:
    """The statistics of one claim."""
    table = claims.MODE.score([{"id": 1, **gold}], [{"id": 1, **prediction} for prediction in predictions]).table
    return dict(zip(table.columns, table.rows[0]))


def level(counted: Mapping[str, float], name: str) -> tuple[float, ...]:
    return tuple(counted[f"{name}_{outcome}"] for outcome in ("tp", "fp", "fn"))


@pytest.mark.parametrize("cited", [[10], ["10"], ["010"], [" +10 "], [10.9], ["1_0"], ["١٠"]])
def test_document_ids_are_converted_as_python_does(cited: list[object]) -> None:
    assert level(counts({"cited_doc_ids": cited}, {"evidence": {"10": []}}), "abstract") == (1, 0, 0)


@pytest.mark.parametrize(
    ("predicted", "expected"),
    [
        ([], (0, 0, 2)),
        ([entry("S", 9), entry("S", 1, 2)], (0, 1, 2)),  # only the first entry with the label
        ([entry("C", 9), entry("S", 1, 2)], (2, 0, 0)),
        ([entry("C", 1, 1, 2)], (0, 3, 2)),  # no entry with the label: lengths of the lists
        ([entry("s", 1)], (0, 1, 2)),
        ([entry("S", 1), {"sentences": "broken"}, 5], (1, 0, 1)),  # later entries are not looked at
    ],
)
def test_first_entry_with_the_label(predicted: list[object], expected: tuple[int, ...]) -> None:
    gold = {"evidence": {"10": [entry("S", 1, 2)]}}
    assert level(counts(gold, {"evidence": {"10": predicted}}), "sentence") == expected


@pytest.mark.parametrize(("predictions", "correct"), [([{"label": None}], 1), ([{}], 0), ([], 0)])
def test_a_label_may_be_null(predictions: list[Json], correct: int) -> None:
    counted = counts({"label": None}, *predictions)
    assert (counted["labelled"], counted["label_correct"]) == (1, correct)


def test_what_is_not_compared_is_not_looked_at() -> None:
    """Documents of claims without prediction, and predicted evidence of documents that gold has none for."""
    counted = counts({"cited_doc_ids": ["PMC7"], "evidence": {"PMC7": [{"sentences": [1]}]}})
    assert (level(counted, "abstract"), level(counted, "sentence")) == ((0, 0, 1), (0, 0, 1))
    gold = {"cited_doc_ids": [10], "evidence": {"10": [entry("S", 1)]}}
    counted = counts(gold, {"evidence": {"10": [entry("S", 1)], "11": None, "12": [{"broken": 1}]}})
    assert (level(counted, "abstract"), level(counted, "sentence")) == ((1, 2, 0), (1, 0, 0))


ONE_SET: Final = {"evidence": {"5": [entry("S", 1)]}}


@pytest.mark.parametrize(
    ("gold", "prediction", "expected"),
    [
        ({"cited_doc_ids": [[1]]}, {}, "<gold>: claim 2, document a list: document id is not an integer"),
        ({"cited_doc_ids": [math.inf]}, {}, "<gold>: claim 2, document Infinity: document id is not an integer"),
        ({"cited_doc_ids": ["9" * 5000]}, {}, "document id is not an integer"),
        ({"evidence": {"x": []}}, {}, "<gold>: claim 2, document x: document id is not an integer"),
        ({"cited_doc_ids": None}, {}, "<gold>: claim 2: 'cited_doc_ids' is null where a list is expected"),
        ({"evidence": [1]}, {}, "<gold>: claim 2: 'evidence' is a list where an object is expected"),
        ({"evidence": {"5": 8}}, {}, "<gold>: claim 2, document 5: the evidence of the document is a number"),
        (ONE_SET, SET, "one object where a list of entries is expected; files in this shape are scored with cs-score"),
        (ONE_SET, None, "<predictions>: claim 2, document 5: the evidence of the document is null where a list"),
        (ONE_SET, ["S"], "<predictions>: claim 2, document 5: an entry is text where an object is expected"),
        (ONE_SET, [{"sentences": []}], "<predictions>: claim 2, document 5: the key 'label' is missing"),
        (ONE_SET, [entry("S", [1])], "<predictions>: claim 2, document 5: 'sentences' holds a list or an object"),
    ],
)
def test_bad_claim(gold: Json, prediction: Json, expected: str) -> None:
    given = {"5": prediction} if gold is ONE_SET else {}
    assert expected in problem("claims", [{"id": 2, **gold}], [{"id": 2, "evidence": given}])


@pytest.mark.parametrize("line", [{"label": "S"}, [1], {"id": {}}])
def test_bad_line(line: object) -> None:
    for role, files in (("gold", ([NO_AGREEMENT, line], [])), ("predictions", ([], [NO_AGREEMENT, line]))):
        assert problem("claims", *files).startswith(f"<{role}>: line 2: ")


DEVELOPMENT_SETS: Final = (
    ("SUPPORT", 1, False, 191), ("SUPPORT", 1, True, 8), ("SUPPORT", 2, False, 15),
    ("SUPPORT", 3, False, 1), ("SUPPORT", 3, True, 1),
    ("CONTRADICT", 1, False, 111), ("CONTRADICT", 1, True, 3), ("CONTRADICT", 2, False, 7), ("CONTRADICT", 3, False, 1),
)  # fmt: skip
"""The 338 gold sets of SciFact's public development file: label, sentences, whether the first of the abstract is one of
them, how many sets are so. Its 300 claims cite 339 abstracts."""


def test_published_baseline_of_perfect_retrieval_and_the_majority_label() -> None:
    """The guide's row "Oracle + Majority", 2.56 % and 100 %: of each cited abstract the first sentence, as SUPPORT.

    Every set is compared anew, so that it does not matter how the sets are spread over the abstracts.
    """
    sets = [
        entry(label, *range(0 if has_first else 1, size if has_first else size + 1))
        for label, size, has_first, times in DEVELOPMENT_SETS
        for _ in range(times)
    ]
    gold: list[Json] = [{"id": number, "cited_doc_ids": [], "evidence": {}} for number in range(300)]
    for document in range(339):
        claim = gold[document % 300]
        claim["cited_doc_ids"].append(document)
        claim["evidence"].update({str(document): [each] for each in sets[document : document + 1]})
    baseline = [
        {"id": claim["id"], "evidence": {str(each): [entry("SUPPORT", 0)] for each in claim["cited_doc_ids"]}}
        for claim in gold
    ]
    result = claims.MODE.score(gold, baseline)
    assert result.table.sums() == (339, 0, 0, 9, 329, 357, 0, 0)
    shown = [round(result.scores[f"sentence_{name}"], 4) for name in ("precision", "recall", "f1")]
    assert shown == [0.0266, 0.0246, 0.0256]
    assert [result.scores[f"abstract_{name}"] for name in ("precision", "recall", "f1")] == [1, 1, 1]


# ---- R4C

Step = tuple[str, int, tuple[str, ...]]


def derivation(*facts: tuple[str, ...]) -> list[Step]:
    return [("Title", 0, fact) for fact in facts]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Londn", "London", 1 - 1 / 6),
        ("LONDON", "london", 1.0),
        ("", "abc", 0.0),
        ("🙂🙃", "🙂", 0.5),  # code points, not bytes or halves of pairs
        ("İİ", "ab", 1 - 4 / 2),  # each capital I with dot becomes two code points
        ("ΣΑΣ", "σας", 1.0),  # final sigma
        ("é", "e\u0301", 0.0),  # no normalisation: two edits over two code points
        ("", "", math.nan),
    ],
)
def test_similarity(one: str, other: str, expected: float) -> None:
    assert r4c.similarities([one], [other]).item() == pytest.approx(expected, abs=0, nan_ok=True)


def best_total(weights: Sequence[Sequence[float]]) -> float:
    """The largest total over all one-to-one alignments, tried one by one."""
    rows, columns = len(weights), len(weights[0])
    if rows > columns:
        return best_total([[row[column] for row in weights] for column in range(columns)])
    return max(
        sum(max(0.0, weights[row][column]) for row, column in enumerate(chosen))
        for chosen in itertools.permutations(range(columns), rows)
    )


def test_alignment_is_as_good_as_the_best_of_all() -> None:
    draw = random.Random(11)
    for _ in range(300):
        rows, columns = draw.randint(1, 4), draw.randint(1, 4)
        weights = [[draw.choice((-0.5, 0, 0.25, 0.5, 1)) for _ in range(columns)] for _ in range(rows)]
        pairs = r4c.align(weights)
        assert r4c.total_weight(pairs) == best_total(weights)
        assert all(pair.weight == weights[pair.predicted_position][pair.gold_position] > 0 for pair in pairs)
        assert [pair.predicted_position for pair in pairs] == sorted({pair.predicted_position for pair in pairs})
        assert len({pair.gold_position for pair in pairs}) == len(pairs)


def stream(instances: int, references: int) -> Iterator[str]:
    """The draws in the order in which the stream gives them."""
    orders = r4c.draw_orders(instances, references)
    for level in range(3):
        for instance in orders:
            yield "".join(map(str, instance[level]))


@pytest.mark.parametrize(
    ("references", "expected"),
    [
        (3, "021 210 201 102 210 102 201 201 021 012 210 120 102 012 120"),
        (2, "02 12 20 20 12 20 01 21 10 02 21 20 20 02 10"),
        (1, "0 2 2 0 1 2 1 2 2 0 2 0 1 1 2"),
    ],
)
@pytest.mark.parametrize("instances", [1, 2, 5])
def test_draws(references: int, expected: str, instances: int) -> None:
    assert list(stream(instances, references)) == expected.split()[: 3 * instances]


def test_further_references_and_items_are_not_looked_at() -> None:
    gold, predictions = example("r4c")
    references, steps = gold["q1"], predictions["re"]["q1"]
    longer = [(title, number, [*fact, 5]) for title, number, fact in steps]
    wanted = r4c.MODE.score(gold, predictions).scores
    assert r4c.MODE.score({"q1": [*references, "broken"]}, {"re": {"q1": longer}}).scores == wanted
    # With one instance and one reference the draws are 0, 2 and 2.
    undrawn = {"q1": [references[0], "broken", references[0]]}
    assert r4c.MODE.score(undrawn, predictions, references=1).scores["e_prec"] == 0.9583333333333334


def test_empty_relations_matter_only_where_relations_are_compared() -> None:
    # One reference: `e`, which compares no relations, draws position 0; the others draw position 2.
    references = [derivation(("a", "", "c")), [], derivation(("a", "is", "c"))]
    result = r4c.MODE.score({"k": references}, {"re": {"k": derivation(("a", "", "c"))}}, references=1)
    assert result.scores["e_f1"] == 1.0


@pytest.mark.parametrize(
    ("predicted", "references", "expected"),
    [
        ([["T", 0, ["a", "b"]]], [[]] * 3, "<predictions>: instance k: a fact of 2 items where [head,"),
        ([["T", 0, "abc"]], [[]] * 3, "<predictions>: instance k: a fact is text where a list is expected"),
        (None, [[]] * 3, "<predictions>: instance k: the derivation is null where a list is expected"),
        ([], None, "<gold>: instance k: its list of references is null where a list is expected"),
        ([], [[], [5], []], "<gold>: instance k, reference 2: a step is a number where a list is expected"),
    ],
)
def test_bad_derivation(predicted: object, references: object, expected: str) -> None:
    assert problem("r4c", {"k": references}, {"re": {"k": predicted}}).startswith(expected)


# ---- HotpotQA


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("The Eiffel Tower", "eiffel tower"),
        ("a-b", "ab"),  # punctuation goes before articles do
        ("a.", ""),
        ("ça", "ça"),  # letters of any script make words
        ("an_a", "ana"),
        ("  An   apple,\tthe\u3000end ", "apple end"),
        ("x\u200by", "x\u200by"),  # a zero-width space is no white space
        ("x\x1cy\x85z\u2028w", "x y z w"),
        ("“the” – …", "“ ” – …"),  # only ASCII punctuation is deleted
        ("THEORY of a", "theory of"),
        ("İ", "i̇"),
    ],
)
def test_normalised(answer: str, expected: str) -> None:
    assert normalise_answer(answer) == expected


def test_unknown_ids_and_other_keys_are_ignored_as_is_gold_without_prediction() -> None:
    known, given = example("hotpotqa")
    more = {"re": 5, **{part: found | {"q9": 4} for part, found in given.items()}}
    assert hotpotqa.MODE.score(known, more).scores == hotpotqa.MODE.score(known, given).scores
    gold: list[Json] = [{"_id": "q1"}, {"_id": "q2", "answer": 5, "supporting_facts": 5}, {"_id": 3}]
    assert set(hotpotqa.MODE.score(gold, {"answer": {}, "sp": {}}).scores.values()) == {0.0}


ASKED: Final = [{"_id": "q", "answer": "x", "supporting_facts": []}]


@pytest.mark.parametrize(
    ("mode", "gold", "predictions", "expected"),
    [
        ("r4c", [], {"re": {}}, "<gold>: the file is a list where an object is expected"),
        ("r4c", {}, [], "<predictions>: the file is a list where an object is expected"),
        ("r4c", {}, {"re": {}}, "<predictions>: no instance has a prediction, so there is nothing to score"),
        ("r4c", {}, {"re": []}, "<predictions>: 're' is a list where an object is expected"),
        ("hotpotqa", [5], {}, "<gold>: question number 1: the question is a number where an object is expected"),
        ("hotpotqa", [{"_id": []}], {}, "<gold>: question number 1: '_id' is a list where a number or text is"),
        ("hotpotqa", ASKED, {"answer": {}, "sp": None}, "<predictions>: 'sp' is null where an object is expected"),
        ("hotpotqa", ASKED, {"answer": {}, "sp": {"q": "x"}}, "<predictions>: question q: the list of facts is text"),
        ("hotpotqa", ASKED, {"answer": {}, "sp": {"q": [4]}}, "<predictions>: question q: a supporting fact is a num"),
        ("hotpotqa", ASKED, {"answer": {}, "sp": {"q": [[[]]]}}, "<predictions>: question q: a supporting fact holds"),
        ("hotpotqa", [{"_id": "q"}], {"answer": {"q": "x"}, "sp": {}}, "<gold>: question q: the key 'answer' is mis"),
        ("hotpotqa", [{"_id": "q"}], {"answer": {}, "sp": {"q": []}}, "<gold>: question q: the key 'supporting_fact"),
        ("hotpotqa", [{"_id": "q", "answer": 5}], {"answer": {"q": "x"}, "sp": {}}, "<gold>: question q: answer is"),
    ],
)
def test_bad_file(mode: str, gold: Json, predictions: Json, expected: str) -> None:
    assert problem(mode, gold, predictions).startswith(expected)
