"""Mistakes, budget, groups and confusions of each mode on examples that can be worked by hand."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from cs_score.analysis.evidence.mistake_records import EvidenceMistake
from cs_score.base.errors import InputError
from cs_score.evidence import claims, hotpotqa, r4c, scifact
from cs_score.tables.layout import tsv
from cs_score.verbs.analyze.evidence_text import layouts_of, text_of
from cs_score.verbs.analyze.prediction_analysis import EvidenceAnalysis
from tests.evidence.recorded import example
from tests.evidence.worlds import analyze, explain

Json = Any

GOLD, PREDICTIONS = example("scifact")


def of_kind(analysis: EvidenceAnalysis, kind: str) -> list[EvidenceMistake]:
    return [mistake for mistake in analysis.mistakes if mistake.kind == kind]


def counts(analysis: EvidenceAnalysis) -> dict[str, int]:
    """How many mistakes there are of each kind that has any, in the order of the budget."""
    return {row.kind: row.count for row in analysis.budget if row.count}


def groups(analysis: EvidenceAnalysis, dimension: str) -> dict[str, int]:
    """The units of each group."""
    return {group.group: group.units for group in analysis.groups[dimension]}


def met(analysis: EvidenceAnalysis) -> list[tuple[str, str, str, int]]:
    return [(each.of, each.gold, each.predicted, each.count) for each in analysis.confusions]


def abstract(*sentences: int, label: str = "SUPPORT") -> Json:
    return {"label": label, "sentences": list(sentences)}


# ---- SciFact


def test_the_worked_example_of_scifact() -> None:
    """Of four predicted abstracts two of three are right: P 1/2, R 2/3, F1 4/7."""
    analysis = analyze(scifact.MODE.score(GOLD, PREDICTIONS), "abstract_label_only_f1")
    first, second = analysis.mistakes[:2]
    found: Any = (first.unit, first.kind, first.part, first.predicted, first.gold, first.gain)
    assert found == (7, "wrong_label", "102", "SUPPORT", "CONTRADICT", pytest.approx(6 / 7 - 4 / 7))
    found = (second.unit, second.kind, second.prediction, second.gain)
    assert found == (8, "extra_abstract", {"id": 8, "evidence": {}}, pytest.approx(4 / 6 - 4 / 7))
    assert [row.cumulated for row in analysis.budget] == pytest.approx([2 / 3, 1, 1, 1, 1])
    assert analysis.budget[1].score == pytest.approx(6 / 7)


def scifact_of(sets: Sequence[Sequence[int]], given: Json, label: str = "SUPPORT") -> EvidenceAnalysis:
    gold = {"id": 1, "evidence": {"11": [{"sentences": each, "label": label} for each in sets]}}
    return analyze(scifact.MODE.score([gold], [{"id": 1, "evidence": given}]), "abstract_rationalized_f1")


@pytest.mark.parametrize(
    ("sets", "given", "kind", "corrected"),
    [
        ([[1, 2]], {"11": abstract(5, 1, 5, 2)}, "extra_sentence", {"11": abstract(1, 2)}),
        ([[1, 2, 3], [7, 8]], {"11": abstract(1, 7)}, "incomplete_rationale", {"11": abstract(1, 7, 8)}),
        ([[1, 2], [7, 8]], {"11": abstract(1, 7)}, "incomplete_rationale", {"11": abstract(1, 7, 2)}),
        ([[1, 2], [7]], {}, "missed_abstract", {"11": abstract(1, 2)}),
        ([[1]], {"11": abstract(1), "12": abstract(1)}, "extra_abstract", {"11": abstract(1)}),
        ([[1]], {"11": abstract(1, label="CONTRADICT")}, "wrong_label", {"11": abstract(1)}),
    ],
)
def test_what_corrects_a_scifact_prediction(
    sets: Sequence[Sequence[int]], given: Json, kind: str, corrected: Json
) -> None:
    (mistake,) = of_kind(scifact_of(sets, given), kind)
    assert mistake.prediction == {"id": 1, "evidence": corrected}


def test_a_complete_set_is_enough() -> None:
    assert counts(scifact_of([[1, 2], [7]], {"11": abstract(7)})) == {}


def test_a_mended_prediction_that_would_be_refused_has_no_gain_and_says_why() -> None:
    analysis = scifact_of([[1]], {"11": abstract(1), "12": abstract(3)}, label="MAYBE")
    extra, wrong = analysis.mistakes
    assert extra.kind == "extra_abstract"
    assert (wrong.kind, wrong.gain, set(wrong.effects.values())) == ("wrong_label", None, {None})
    assert str(wrong.reason).startswith("abstract 11: label 'MAYBE' is not one of SUPPORT, CONTRADICT")
    budget = {row.kind: row for row in analysis.budget}
    assert (budget["wrong_label"].count, budget["wrong_label"].gain) == (1, 0.0)


def test_what_can_be_mended_of_a_kind_is_mended_beside_what_cannot() -> None:
    gold = {
        "id": 1,
        "evidence": {"11": [{"sentences": [1], "label": "MAYBE"}], "12": [{"sentences": [1], "label": "SUPPORT"}]},
    }
    analysis = analyze(scifact.MODE.score([gold], [{"id": 1, "evidence": {}}]))
    (row,) = (row for row in analysis.budget if row.count)
    assert (row.kind, row.count) == ("missed_abstract", 2)
    assert row.score == row.cumulated == pytest.approx(2 / 3)


def test_groups_and_confusions_of_scifact() -> None:
    gold = [*GOLD, {"id": 10, "evidence": {}, "cited_doc_ids": [1, 2]}]
    analysis = analyze(scifact.MODE.score(gold, [*PREDICTIONS, {"id": 10, "evidence": {}}]), "abstract_label_only_f1")
    assert groups(analysis, "gold_label") == {"CONTRADICT": 1, "CONTRADICT and SUPPORT": 1, "no evidence": 2}
    assert groups(analysis, "gold_sets") == {"0": 2, "1": 1, "3": 1}
    assert groups(analysis, "shortest_set") == {"1": 1, "4": 1, "none": 2}
    assert groups(analysis, "cited_documents") == {"0": 1, "1": 1, "2": 2}
    (both,) = (group for group in analysis.groups["gold_label"] if group.group == "CONTRADICT and SUPPORT")
    assert (both.precision, both.recall, both.f1) == (0.5, 0.5, 0.5)
    assert (both.mistakes, both.share) == (2, 0.5)
    assert both.counts["retrieved_sentences"] == 4
    assert met(analysis) == [
        ("abstract", "CONTRADICT", "CONTRADICT", 1),
        ("abstract", "CONTRADICT", "SUPPORT", 1),
        ("abstract", "SUPPORT", "SUPPORT", 1),
        ("abstract", "none", "SUPPORT", 1),
    ]


# ---- Claims


def claims_of(
    sets: Json, predicted: Json, cited: Sequence[object] = (10,), measure: str = "sentence_f1"
) -> EvidenceAnalysis:
    gold = {"id": 1, "cited_doc_ids": list(cited), "evidence": {"10": sets}, "label": "SUPPORT"}
    return analyze(claims.MODE.score([gold], [predicted] if predicted else []), measure)


RIGHT = abstract(1)


@pytest.mark.parametrize(
    ("sets", "evidence", "kind", "corrected"),
    [
        ([RIGHT], {"10": [RIGHT], "60": [RIGHT]}, "extra_abstract", {"10": [RIGHT]}),
        (
            [RIGHT, abstract(2, label="CONTRADICT")],
            {"10": [abstract(1, 2), abstract(3, label="NEI")]},
            "wrong_label",
            {"10": [abstract(1, 2), abstract(3, label="CONTRADICT")]},
        ),
        ([RIGHT], {"10": [abstract(4, 1, 4), abstract(4)]}, "extra_sentence", {"10": [abstract(1), abstract()]}),
        ([abstract(1, 2)], {"10": [abstract(1)]}, "incomplete_rationale", {"10": [abstract(1, 2)]}),
        ([abstract(1, 2), RIGHT], {"010": []}, "missed_abstract", {"010": [], "10": [abstract(1, 2)]}),
    ],
)
def test_what_corrects_a_prediction_of_claims(sets: Json, evidence: Json, kind: str, corrected: Json) -> None:
    analysis = claims_of(sets, {"id": 1, "evidence": evidence, "label": "SUPPORT"})
    (mistake,) = of_kind(analysis, kind)
    assert mistake.prediction == {"id": 1, "evidence": corrected, "label": "SUPPORT"}


def test_a_claim_without_prediction_gets_one() -> None:
    analysis = claims_of([RIGHT], None, cited=(10, "020"))
    assert {mistake.kind: mistake.prediction for mistake in analysis.mistakes if mistake.part != "10"} == {
        "missed_abstract": {"id": 1, "evidence": {"20": []}},
        "wrong_verdict": {"id": 1, "label": "SUPPORT"},
    }
    assert counts(analysis) == {"missed_abstract": 2, "wrong_verdict": 1}
    assert [row.cumulated for row in analysis.budget][-2:] == [1.0, 1.0]
    assert met(analysis) == [("abstract", "SUPPORT", "none", 1), ("claim", "SUPPORT", "none", 1)]


def test_a_label_that_an_entry_has_is_not_wrong_because_of_another_entry() -> None:
    """The scorer looks at the first entry with the gold label only; relabelled, the other one would be that."""
    entries = [abstract(5, label="NEI"), abstract(1)]
    assert of_kind(claims_of([RIGHT], {"id": 1, "evidence": {"10": entries}}), "wrong_label") == []


def test_what_the_scorer_never_reaches_stays_as_it_is() -> None:
    evidence: Json = {"10": [abstract(1, 7), "no entry", {"label": "SUPPORT"}], "20": None}
    analysis = claims_of([RIGHT], {"id": 1, "evidence": evidence}, cited=(10, 20))
    assert counts(analysis) == {"extra_sentence": 1, "wrong_verdict": 1}
    (mistake,) = of_kind(analysis, "extra_sentence")
    assert mistake.prediction == {"id": 1, "evidence": {**evidence, "10": [abstract(1), *evidence["10"][1:]]}}


def test_gold_that_is_malformed_where_the_scorer_did_not_look() -> None:
    gold = {"id": 1, "cited_doc_ids": ["x"], "evidence": {"10": [{"sentences": [[1]]}]}}
    analysis = analyze(claims.MODE.score([gold], []), "abstract_f1")
    assert [(each.kind, each.part, each.gain) for each in analysis.mistakes] == [
        ("missed_abstract", "10", None), ("missed_abstract", "x", None),
    ]  # fmt: skip
    assert all("document x: document id is not an integer" in str(mistake.reason) for mistake in analysis.mistakes)
    assert groups(analysis, "shortest_set") == {"1": 1}


# ---- R4C


def step(*fact: str) -> Json:
    return ["T", 0, list(fact)]


REFERENCES = [
    [step("Ada", "born in", "London"), step("London", "is in", "England")],
    [step("Ada", "lived in", "Paris")],
    [step("Ada", "lived in", "Paris")],
]


def r4c_of(derivation: Json, measure: str = "er_f1", references: Json = REFERENCES) -> EvidenceAnalysis:
    return analyze(r4c.MODE.score({"q": references}, {"re": {"q": derivation}}), measure)


def test_what_corrects_a_derivation() -> None:
    derivation = [step("london", "in", "England"), step("Ada", "born in", "Londn", "rest"), step("x", "y", "z")]
    analysis = r4c_of(derivation)
    assert counts(analysis) == {"extra_fact": 1, "wrong_entity": 1, "wrong_relation": 1}
    corrected = {mistake.kind: (mistake.part, mistake.prediction) for mistake in analysis.mistakes}
    assert corrected == {
        "extra_fact": (3, derivation[:2]),
        "wrong_entity": (2, [derivation[0], step("Ada", "born in", "London", "rest"), derivation[2]]),
        "wrong_relation": (1, [step("london", "is in", "England"), *derivation[1:]]),
    }
    assert [row.cumulated for row in analysis.budget][-1] == pytest.approx(1.0)


def test_the_reference_is_that_of_the_evaluation_of_the_measure() -> None:
    """Entities are nearer to the second reference, the relation to the first."""
    references = [[step("qqqqq", "born in", "wwwww")], [step("Ada", "xyz", "Paris")], [step("Ada", "xyz", "Paris")]]
    derivation = [step("Ada", "born in", "Paris")]
    assert counts(r4c_of(derivation, "r_f1", references)) == {"wrong_entity": 1}
    assert counts(r4c_of(derivation, "e_f1", references)) == {"wrong_relation": 1}


# ---- HotpotQA


def test_the_worked_example_of_hotpotqa() -> None:
    """q1 has a word too many and a fact too many, q2 the wrong answer, q3 lacks facts, q4 an answer."""
    analysis = analyze(hotpotqa.MODE.score(*example("hotpotqa")), "joint_f1")
    assert counts(analysis) == {"wrong_answer": 2, "missed_answer": 1, "extra_fact": 1, "missed_fact": 1}
    of_q4 = next(mistake for mistake in analysis.mistakes if mistake.unit == "q4")
    assert of_q4.prediction == {"answer": "New York City", "sp": [["D", 0]]}
    assert of_q4.gain == pytest.approx(0.25)
    assert analysis.budget[-1].cumulated == 1.0


def test_a_question_without_answer_is_missed_and_not_wrong() -> None:
    gold: Json = [{"_id": name, "answer": "yes", "supporting_facts": []} for name in ("missed", "wrong", "right")]
    analysis = analyze(hotpotqa.MODE.score(gold, {"answer": {"wrong": "no", "right": "Yes"}, "sp": {}}))
    assert {mistake.unit: mistake.kind for mistake in analysis.mistakes} == {
        "missed": "missed_answer",
        "wrong": "wrong_answer",
    }
    assert [mistake.prediction for mistake in analysis.mistakes] == [{"answer": "yes"}, {"answer": "yes"}]


def test_shares_of_aspects_are_left_out_since_a_mistake_counts_in_several() -> None:
    analysis = analyze(hotpotqa.MODE.score(*example("hotpotqa")), "joint_f1")
    assert {group.share for group in analysis.groups["aspect"]} == {None}
    for dimension, of_dimension in analysis.groups.items():
        if dimension != "aspect":
            assert sum(group.share or 0.0 for group in of_dimension) == pytest.approx(1.0)


HOSTILE = 'He said "hi"\n\\n\tZo\u00eb \x7f\u2028'


def test_a_prediction_is_json_as_it_stands_and_texts_are_escaped_once() -> None:
    gold = [{"_id": "q", "answer": HOSTILE, "supporting_facts": []}]
    analysis = analyze(hotpotqa.MODE.score(gold, {"answer": {"q": "no"}, "sp": {}}))
    layout = next(each for each in layouts_of(hotpotqa.MODE) if each.name == "mistakes")
    head, row = b"".join(tsv(layout.table(analysis))).decode().splitlines()
    cells = dict(zip(head.split("\t"), row.split("\t")))
    assert json.loads(cells["prediction"]) == {"answer": HOSTILE}
    assert json.loads(cells["gold"]) == HOSTILE
    assert "Zo\u00eb" in cells["prediction"]
    shown = text_of(hotpotqa.MODE, analysis, 200, 5)
    assert r'"He said \"hi\"\n\\n' in shown


def test_a_line_end_and_a_backslash_with_an_n_look_different() -> None:
    gold: list[Json] = [
        {"_id": name, "answer": answer, "supporting_facts": []} for name, answer in (("a", "x\ny"), ("b", "x\\ny"))
    ]
    result = hotpotqa.MODE.score(gold, {"answer": {"a": "no", "b": "no"}, "sp": {}})
    first, second = ("\n".join(unit.lines) for unit in explain(result, ["a", "b"]).units)
    assert r"x\ny" in first
    assert r"x\\ny" in second


def test_a_repeated_question_has_one_prediction_for_both() -> None:
    question = {"_id": "q", "answer": "yes", "supporting_facts": []}
    result = hotpotqa.MODE.score([question, question], {"answer": {"q": "no"}, "sp": {}})
    (mistake,) = analyze(result, "em").mistakes
    assert (mistake.occurrence, mistake.gain) == (1, 1.0)
    assert [(unit.occurrence, len(unit.mistakes)) for unit in explain(result, ["q"]).units] == [(1, 1), (2, 1)]


@pytest.mark.parametrize(
    "question",
    [
        {"_id": 7, "answer": "yes", "supporting_facts": [["A", 0]]},  # keys of JSON are text
        {"_id": "q"},
        {"_id": "q", "answer": 1984, "supporting_facts": [7]},
    ],
)
def test_what_no_prediction_can_meet_is_no_mistake(question: Json) -> None:
    analysis = analyze(hotpotqa.MODE.score([question], {"answer": {}, "sp": {}}))
    assert analysis.mistakes == ()
    assert analysis.budget[-1].cumulated == 0.0


# ---- Explanations


def test_a_repeated_id_is_told_each_time() -> None:
    gold = [{"id": 5, "evidence": {"1": [{"sentences": [each], "label": "SUPPORT"}]}} for each in (1, 2)]
    predictions = [{"id": 5, "evidence": {"1": {"label": "SUPPORT", "sentences": [1]}}} for _ in range(2)]
    first, second = explain(scifact.MODE.score(gold, predictions), [5], "sentence_label_f1").units
    assert (first.occurrence, first.mistakes, first.scores["sentence_label_f1"]) == (1, (), 1.0)
    assert (second.occurrence, [mistake.occurrence for mistake in second.mistakes]) == (2, [2, 2])


def test_a_unit_that_gold_does_not_have() -> None:
    with pytest.raises(InputError, match="<gold>: no claim 71 was scored; did you mean 7"):
        explain(scifact.MODE.score(GOLD, PREDICTIONS), [71])
