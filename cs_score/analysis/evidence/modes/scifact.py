"""SciFact: abstracts that are extra, mislabelled or missed, sentences that are extra or lacking."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from cs_score.analysis.evidence.modes.examiner import NONE, Confusion, Examiner, Fault, Part, Row
from cs_score.evidence.modes.scifact.judging import GoldAbstract, PredictedAbstract, Verdict, count, judge
from cs_score.evidence.modes.scifact.reading import predicted_claim
from cs_score.evidence.modes.scifact.scoring import SciFactResult
from cs_score.evidence.reading.json_reader import as_key, text_of
from cs_score.evidence.result import counted

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
                if (missing := lacking_sentences([(listed, given.sentences) for listed in wanted.sets]))
            ),
            *(
                Fault(MISSED_ABSTRACT, abstract, None, _as_json(wanted.label, wanted.sets[0]))
                for abstract, wanted in gold.items()
                if abstract not in predicted
            ),
        ]

    def mended(self, position: int, prediction: object, faults: Iterable[Fault]) -> object:
        claim: Any = prediction
        evidence = {abstract: dict(given) for abstract, given in claim["evidence"].items()}
        for fault in faults:
            _mend(evidence, fault)
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


EXAMINER = SciFactExaminer


def extra_sentences(predicted: Iterable[Hashable], sets: Iterable[Iterable[Hashable]]) -> list[Hashable]:
    """The predicted sentences that are in none of the gold sets, each once."""
    wanted = {sentence for listed in sets for sentence in listed}
    return [sentence for sentence in dict.fromkeys(predicted) if sentence not in wanted]


def lacking_sentences(sets: Iterable[tuple[Iterable[Hashable], Iterable[Hashable]]]) -> list[Hashable]:
    """What the gold set that lacks the fewest sentences, the first of equals, lacks; nothing where a set is complete.

    Each set stands with the sentences that are predicted for it.
    """
    missing = []
    for listed, predicted in sets:
        found = frozenset(predicted)
        missing.append([sentence for sentence in dict.fromkeys(listed) if sentence not in found])
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
    """The group of a claim by the number of documents that it cites, where gold tells them."""
    return {"cited_documents": str(len(cited))} if isinstance(cited, list) else {}


def _as_json(label: object, sentences: Iterable[Hashable]) -> dict[str, object]:
    return {"label": label, "sentences": list(sentences)}


def _mend(evidence: dict[str, Any], fault: Fault) -> None:
    abstract = str(fault.part)
    gold: Any = fault.gold
    if fault.kind == EXTRA_ABSTRACT:
        del evidence[abstract]
    elif fault.kind == MISSED_ABSTRACT:
        evidence[abstract] = gold
    elif fault.kind == WRONG_LABEL:
        evidence[abstract]["label"] = gold
    elif fault.kind == INCOMPLETE_RATIONALE:
        evidence[abstract]["sentences"] = [*evidence[abstract]["sentences"], *gold]
    else:
        extra = [fault.predicted]  # `in` finds NaN, too, which is not equal to itself
        evidence[abstract]["sentences"] = [each for each in evidence[abstract]["sentences"] if each not in extra]


def _abstract_part(abstract: str, wanted: GoldAbstract, given: PredictedAbstract | None) -> Part:
    if given is None:
        return Part("abstract", abstract, False, None)
    verdict: Verdict = judge(wanted, given)
    if not verdict.label_right:
        return Part("abstract", abstract, False, f"{given.label}, gold {text_of(wanted.label)}")
    told = "rationalized" if verdict.rationalized else f"no whole gold set among its first {verdict.cap} sentences"
    return Part("abstract", abstract, True, f"{given.label}, {told}")


def _sentence_parts(abstract: str, wanted: GoldAbstract, predicted: Sequence[Hashable]) -> Iterator[Part]:
    every = frozenset(predicted)
    for number, listed in enumerate(wanted.sets, start=1):
        gold_set = frozenset(listed)
        found = len(gold_set & every)
        told = "complete" if found == len(gold_set) else f"{found} of {counted(len(gold_set), 'sentence')}"
        value = {"abstract": abstract, "set": number, "sentences": list(listed)}
        yield Part("evidence set", value, found == len(gold_set), told if found or not gold_set else None)
    for sentence in extra_sentences(predicted, wanted.sets):
        yield Part("sentence", {"abstract": abstract, "sentence": sentence}, False, "in no gold set")
