"""Invented gold and predictions of every mode, and predictions files in which one unit is replaced."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any, Final

from hypothesis import reject
from hypothesis import strategies as st

import cs_score.verbs.analyze.prediction_analysis as analyses
import cs_score.verbs.diff.prediction_difference as differences
import cs_score.verbs.explain.unit_explanation as explanations
from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.evidence import claims, hotpotqa, r4c, scifact
from cs_score.evidence.mode import ScoredPredictions
from cs_score.tasks import task_named
from cs_score.verbs.analyze.prediction_analysis import EvidenceAnalysis
from cs_score.verbs.diff.evidence_documents import EvidenceDifference
from cs_score.verbs.explain.unit_explanation import EvidenceExplanation

Json = Any


class World(Record):
    """A mode with gold, predictions and the options of its `score`."""

    mode: str
    gold: Json
    predictions: Json
    options: Mapping[str, Any]

    def result(self, predictions: Json = None) -> ScoredPredictions:
        """Score its predictions, or others, against its gold."""
        given = self.predictions if predictions is None else predictions
        return SCORERS[self.mode](self.gold, given, **self.options)


SCORERS: Final[Mapping[str, Callable[..., ScoredPredictions]]] = {
    "scifact": scifact.MODE.score,
    "claims": claims.MODE.score,
    "r4c": r4c.MODE.score,
    "hotpotqa": hotpotqa.MODE.score,
}


def task_of(result: ScoredPredictions) -> Any:
    return task_named(result.mode.name)


def analyze(result: ScoredPredictions, measure: str | None = None, **more: Any) -> EvidenceAnalysis:
    return analyses.analyze(task_of(result), result, measure, **more)


def diff(a: ScoredPredictions, b: ScoredPredictions, measure: str | None = None, **more: Any) -> EvidenceDifference:
    return differences.diff(task_of(a), a, b, measure, **more)


def explain(result: ScoredPredictions, units: Any = (), measure: str | None = None) -> EvidenceExplanation:
    return explanations.explain(task_of(result), result, units, measure)


def replaced(mode: str, predictions: Json, unit: object, occurrence: int, prediction: Json) -> Json:
    """The predictions with one unit's prediction replaced, added where it was missing, or left out (None)."""
    changed = copy.deepcopy(predictions)
    if mode == "r4c":
        return _entered(changed, "re", unit, prediction)
    if mode == "hotpotqa":
        for key in ("answer", "sp"):
            _entered(changed, key, unit, None if prediction is None else prediction.get(key))
        return changed
    places = [place for place, line in enumerate(changed) if _same(line["id"], unit)]
    # Of a claim that is listed twice, claim verification counts the last line, SciFact each with its own line of gold.
    place = places[occurrence - 1 if mode == "scifact" else -1] if places else len(changed)
    changed[place : place + 1] = [] if prediction is None else [prediction]
    return changed


def _entered(predictions: Json, key: str, unit: object, value: Json) -> Json:
    if value is None:
        predictions[key].pop(unit, None)
    else:
        predictions[key][unit] = value
    return predictions


def _same(one: object, other: object) -> bool:
    return one == other and isinstance(one, str) == isinstance(other, str)


labels: Final = st.sampled_from(("SUPPORT", "CONTRADICT"))
sentences: Final = st.integers(0, 7)
documents: Final = st.integers(1, 4).map(str)


@st.composite
def evidence(draw: st.DrawFn, other_labels: bool = False) -> Json:
    """Gold evidence: sentence sets of each document, now and then with sentences in common or, if wanted, with labels
    of their own."""
    found = {}
    for document in draw(st.lists(documents, max_size=3, unique=True)):
        label = draw(st.sampled_from(("SUPPORT", "CONTRADICT", "CONTRADICT", "MAYBE")))
        sets = draw(st.lists(st.lists(sentences, min_size=1, max_size=5), min_size=1, max_size=3))
        found[document] = [
            {"sentences": each, "label": draw(labels) if other_labels and draw(st.booleans()) else label}
            for each in sets
        ]
    return found


answers: Final = st.fixed_dictionaries({"label": labels, "sentences": st.lists(sentences, max_size=5)})


@st.composite
def scifact_worlds(draw: st.DrawFn) -> World:
    ids = draw(st.lists(st.sampled_from((1, 2, "1", 3.5)), min_size=1, max_size=4))
    gold = [
        {"id": each, "evidence": draw(evidence()), "cited_doc_ids": draw(st.lists(st.integers(1, 4), max_size=2))}
        for each in ids
    ]
    predictions = []
    for claim in gold:
        known = {document: sets[0]["label"] for document, sets in claim["evidence"].items()}
        given = draw(st.dictionaries(documents, answers, max_size=4))
        for document in draw(st.lists(st.sampled_from(sorted(known)), max_size=2)) if known else ():
            if known[document] != "MAYBE":
                sentences_of_sets = [s for each in claim["evidence"][document] for s in each["sentences"]]
                given[document] = {"label": known[document], "sentences": draw(st.permutations(sentences_of_sets))[:3]}
        predictions.append({"id": claim["id"], "evidence": given})
    world = World("scifact", gold, predictions, {})
    shuffled = draw(st.permutations(predictions)) if draw(st.booleans()) else predictions
    return World("scifact", gold, shuffled, {"any_order": True}) if shuffled != predictions else world


@st.composite
def claims_worlds(draw: st.DrawFn) -> World:
    gold, predictions = [], []
    for number in range(draw(st.integers(1, 4))):
        claim = {"id": number, "evidence": draw(evidence(True)), "cited_doc_ids": draw(st.lists(st.integers(1, 5)))}
        if draw(st.booleans()):
            claim["label"] = draw(labels)
        gold.append(claim)
        spelt = st.sampled_from(("1", "2", "3", "03", "6"))
        given = {"id": number, "evidence": draw(st.dictionaries(spelt, st.lists(answers, max_size=3), max_size=4))}
        if draw(st.booleans()):
            given["label"] = draw(labels)
        if draw(st.integers(0, 4)):
            predictions.append(given)
    return World("claims", gold, draw(st.permutations(predictions)), {})


facts: Final = st.tuples(*[st.text("abİ ", min_size=1, max_size=4)] * 3).map(lambda fact: ["T", 0, list(fact)])
derivations: Final = st.lists(facts, max_size=4)


@st.composite
def r4c_worlds(draw: st.DrawFn) -> World:
    instances = draw(st.lists(st.tuples(*[derivations] * 4), min_size=1, max_size=3))
    gold = {f"i{number}": references for number, (_, *references) in enumerate(instances)}
    predictions = {f"i{number}": predicted for number, (predicted, *_) in enumerate(instances)}
    if len(predictions) > 1 and draw(st.booleans()):
        del predictions["i0"]
    options = {"references": draw(st.integers(1, 3)), "ignore_missing": True}
    return World("r4c", gold, {"re": predictions}, options)


texts: Final = st.sampled_from(("yes", "no", "The Tower", "tower of Pisa", "1,984", "", "a"))
fact_lists: Final = st.lists(st.tuples(st.sampled_from("ST"), st.integers(0, 2)).map(list), max_size=4)


@st.composite
def hotpotqa_worlds(draw: st.DrawFn) -> World:
    gold: list[Json] = []
    predictions: dict[str, Json] = {"answer": {}, "sp": {}}
    for question in draw(st.lists(st.sampled_from(("q1", "q2", "q3", 4)), min_size=1, max_size=4)):
        entry = {"_id": question, "answer": draw(texts), "supporting_facts": draw(fact_lists)}
        gold.append(entry | draw(st.dictionaries(st.sampled_from(("type", "level")), texts)))
        for key, values in (("answer", texts), ("sp", fact_lists)):
            if isinstance(question, str) and draw(st.integers(0, 4)):
                predictions[key][question] = draw(values)
    return World("hotpotqa", gold, predictions, {})


WORLDS: Final = {
    "scifact": scifact_worlds(),
    "claims": claims_worlds(),
    "r4c": r4c_worlds(),
    "hotpotqa": hotpotqa_worlds(),
}


@st.composite
def scored_worlds(draw: st.DrawFn, mode: str) -> tuple[World, ScoredPredictions]:
    """A world of a mode that can be scored, and its result."""
    world = draw(WORLDS[mode])
    try:
        return world, world.result()
    except InputError:  # gold sets with a sentence in common
        reject()


@st.composite
def rivals(draw: st.DrawFn, world: World) -> Json:
    """Other predictions for the gold of a world: its own, exchanged among the units, some of them left out."""
    changed = copy.deepcopy(world.predictions)
    if world.mode in ("scifact", "claims"):
        found = draw(st.permutations([line["evidence"] for line in changed]))
        for line, given in zip(changed, found):
            line["evidence"] = given if draw(st.integers(0, 3)) else {}
        return changed
    for key, values in changed.items():
        exchanged = dict(zip(values, draw(st.permutations(list(values.values())))))
        dropped = {unit for unit in exchanged if not draw(st.integers(0, 4))}
        # Something is left: R4C refuses predictions for no instance at all.
        changed[key] = {unit: value for unit, value in exchanged.items() if unit not in dropped} or exchanged
    return changed
