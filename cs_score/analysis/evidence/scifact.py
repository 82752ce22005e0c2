"""SciFact: abstracts that are extra, mislabelled or missed, sentences that are extra or lacking."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from cs_score.analysis.evidence.task import EvidenceTask
from cs_score.evidence.reading import as_key, text_of
from cs_score.evidence.result import counted
from cs_score.evidence.scifact import (
    MODE,
    GoldAbstract,
    PredictedAbstract,
    SciFactResult,
    Verdict,
    count,
    judge,
    predicted_claim,
    read_gold,
    score,
)
from cs_score.tasks.task import NONE, Confusion, Examiner, Fault, Part, Row

EXTRA_ABSTRACT = "extra_abstract"
WRONG_LABEL = "wrong_label"
EXTRA_SENTENCE = "extra_sentence"
INCOMPLETE_RATIONALE = "incomplete_rationale"
MISSED_ABSTRACT = "missed_abstract"

KINDS = (EXTRA_ABSTRACT, WRONG_LABEL, EXTRA_SENTENCE, INCOMPLETE_RATIONALE, MISSED_ABSTRACT)


class SciFactExaminer(Examiner[SciFactResult]):
    """The faults of SciFact predictions."""

    kinds: ClassVar[tuple[str, ...]] = KINDS

    def unit(self, position: int) -> object:
        return self.result.claims[position][0].id

    def written(self, position: int) -> object:
        predicted = self.result.claims[position][1]
        evidence = {
            abstract: {"label": given.label, "sentences": list(given.sentences)}
            for abstract, given in predicted.abstracts.items()
        }
        return {"id": predicted.id, "evidence": evidence}

    def row(self, position: int, prediction: object) -> Row:
        return count(self.result.claims[position][0], predicted_claim(prediction))

    def faults(self, position: int, prediction: object) -> Sequence[Fault]:
        gold = self.result.claims[position][0].abstracts
        predicted = predicted_claim(prediction).abstracts
        both = [(abstract, gold[abstract], given) for abstract, given in predicted.items() if abstract in gold]
        return [
            *(
                Fault(EXTRA_ABSTRACT, abstract, _as_json(given.label, given.sentences), None)
                for abstract, given in predicted.items()
                if abstract not in gold
            ),
            *(
                Fault(WRONG_LABEL, abstract, given.label, wanted.label)
                for abstract, wanted, given in both
                if given.label != wanted.label
            ),
            *(
                Fault(EXTRA_SENTENCE, abstract, sentence, None)
                for abstract, wanted, given in both
                for sentence in extra_sentences(given.sentences, wanted.sets)
            ),
            *(
                Fault(INCOMPLETE_RATIONALE, abstract, None, missing)
                for abstract, wanted, given in both
                if (missing := _lacking(wanted, given))
            ),
            *(
                Fault(MISSED_ABSTRACT, abstract, None, _as_json(wanted.label, wanted.sets[0]))
                for abstract, wanted in gold.items()
                if abstract not in predicted
            ),
        ]

    def corrected(self, position: int, prediction: object, faults: Iterable[Fault]) -> object:
        claim: Any = prediction
        evidence = {abstract: dict(given) for abstract, given in claim["evidence"].items()}
        extra: dict[str, list[object]] = {}
        for fault in faults:
            if fault.kind == EXTRA_SENTENCE:
                extra.setdefault(str(fault.part), []).append(fault.predicted)
            else:
                _correct(evidence, fault)
        for abstract, sentences in extra.items():
            evidence[abstract]["sentences"] = without_sentences(evidence[abstract]["sentences"], sentences)
        return {**claim, "evidence": evidence}

    def groups(self, position: int) -> Mapping[str, str]:
        claim = self.result.claims[position][0]
        sets = [(abstract.label, listed) for abstract in claim.abstracts.values() for listed in abstract.sets]
        return {**groups_of_sets(sets), **group_of_citations(claim.cited)}

    def confusions(self, position: int) -> Iterator[Confusion]:
        gold, predicted = self.result.claims[position]
        for abstract, wanted in gold.abstracts.items():
            given = predicted.abstracts.get(abstract)
            yield Confusion("abstract", text_of(wanted.label), given.label if given else NONE)
        for abstract, given in predicted.abstracts.items():
            if abstract not in gold.abstracts:
                yield Confusion("abstract", NONE, given.label)

    def parts(self, position: int) -> Iterator[Part]:
        gold, predicted = self.result.claims[position]
        for abstract, wanted in gold.abstracts.items():
            given = predicted.abstracts.get(abstract)
            yield _abstract_part(abstract, wanted, given)
            yield from _sentence_parts(abstract, wanted, given.sentences if given else ())
        for abstract, given in predicted.abstracts.items():
            if abstract not in gold.abstracts:
                yield Part("abstract", abstract, False, f"{given.label}, not relevant")


def extra_sentences(predicted: Iterable[object], sets: Iterable[Iterable[object]]) -> list[object]:
    """The predicted sentences that are in none of the gold sets, each once."""
    wanted = {as_key(sentence) for listed in sets for sentence in listed}
    return [sentence for key, sentence in _by_key(predicted).items() if key not in wanted]


def _by_key(sentences: Iterable[object]) -> dict[Hashable, object]:
    found: dict[Hashable, object] = {}
    for sentence in sentences:
        found.setdefault(as_key(sentence), sentence)
    return found


def without_sentences(sentences: Iterable[object], extra: Iterable[object]) -> list[object]:
    gone = set(map(as_key, extra))
    return [sentence for sentence in sentences if as_key(sentence) not in gone]


def lacking_sentences(sets: Iterable[tuple[Iterable[object], frozenset[Hashable]]]) -> list[object]:
    """What the gold set that lacks the fewest sentences, the first of equals, lacks; nothing where a set is complete.

    Each set stands with the keys of the sentences that are predicted for it.
    """
    missing = [
        [sentence for key, sentence in _by_key(listed).items() if key not in predicted] for listed, predicted in sets
    ]
    return min(missing, key=len, default=[])


def groups_of_sets(sets: Sequence[tuple[object, Sequence[object]]]) -> dict[str, str]:
    """The groups of a claim that its gold evidence sets, each with its label, decide."""
    labels = sorted({text_of(label) for label, _ in sets})
    return {
        "gold_label": " and ".join(labels) or "no evidence",
        "gold_sets": str(len(sets)),
        "shortest_set": str(min((len(set(map(as_key, listed))) for _, listed in sets), default=NONE)),
    }


def group_of_citations(cited: object) -> dict[str, str]:
    """The group of a claim by the number of documents that it cites, where gold has them."""
    return {"cited_documents": str(len(cited))} if isinstance(cited, list) else {}


def _as_json(label: object, sentences: Iterable[object]) -> dict[str, object]:
    return {"label": label, "sentences": list(sentences)}


def _correct(evidence: dict[str, Any], fault: Fault) -> None:
    abstract = str(fault.part)
    gold: Any = fault.gold
    if fault.kind == EXTRA_ABSTRACT:
        del evidence[abstract]
    elif fault.kind == MISSED_ABSTRACT:
        evidence[abstract] = gold
    elif fault.kind == WRONG_LABEL:
        evidence[abstract]["label"] = gold
    else:
        evidence[abstract]["sentences"] = [*evidence[abstract]["sentences"], *gold]


def _lacking(wanted: GoldAbstract, given: PredictedAbstract) -> list[object]:
    found = frozenset(map(as_key, given.sentences))
    return lacking_sentences([(listed, found) for listed in wanted.sets])


def _abstract_part(abstract: str, wanted: GoldAbstract, given: PredictedAbstract | None) -> Part:
    if given is None:
        return Part("abstract", abstract, False, None)
    verdict: Verdict = judge(wanted, given)
    if not verdict.label_right:
        return Part("abstract", abstract, False, f"{given.label}, gold {text_of(wanted.label)}")
    shown = "rationalized" if verdict.rationalized else f"no whole gold set among its first {verdict.cap} sentences"
    return Part("abstract", abstract, True, f"{given.label}, {shown}")


def _sentence_parts(abstract: str, wanted: GoldAbstract, predicted: Sequence[object]) -> Iterator[Part]:
    every = frozenset(map(as_key, predicted))
    for number, listed in enumerate(wanted.sets, start=1):
        gold_set = frozenset(map(as_key, listed))
        found = len(gold_set & every)
        shown = "complete" if found == len(gold_set) else f"{found} of {counted(len(gold_set), 'sentence')}"
        value = {"abstract": abstract, "set": number, "sentences": list(listed)}
        yield Part("evidence set", value, found == len(gold_set), shown if found or not gold_set else None)
    for sentence in extra_sentences(predicted, wanted.sets):
        yield Part("sentence", {"abstract": abstract, "sentence": sentence}, False, "in no gold set")


TASK = EvidenceTask(
    MODE,
    read_gold,
    score,
    SciFactExaminer,
    "Score SciFact predictions with the measures of the public leaderboard",
    "Both hold one JSON object per line: gold a claim with its evidence sets, predictions the same claims in the same "
    "order, each with a label and a list of sentences per abstract.",
)
