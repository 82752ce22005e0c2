"""Claim verification: documents, sentences and labels as in SciFact, over lists of entries, and the verdict.

The official scorer looks at entries only as far as it needs to, so that those it never reaches may be malformed. They
stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from msgspec import UNSET

from cs_score.analysis.evidence.scifact import MISSED_ABSTRACT, AbstractsExaminer, Entry, lacking_sentences, set_value
from cs_score.analysis.evidence.task import EvidenceTask
from cs_score.base.errors import InputError
from cs_score.evidence.claims import (
    MODE,
    Claim,
    cited_documents,
    claim_of,
    count,
    document_numbers,
    entries_of,
    gold_documents,
    judge,
    listed_sentences,
    predicted_documents,
    read_gold,
    score,
)
from cs_score.evidence.reading import as_key, text_of
from cs_score.tasks.task import NONE, Confusion, Fault, Part, Row

WRONG_VERDICT = "wrong_verdict"


class ClaimsExaminer(AbstractsExaminer):
    """The faults of claim verification predictions: a value is a list, whose sound entries are looked at."""

    kinds: ClassVar[tuple[str, ...]] = (*AbstractsExaminer.kinds, WRONG_VERDICT)

    def gold(self, position: int) -> dict[str, list[Entry]]:
        return {
            document: [{"label": each.get("label"), "sentences": listed_sentences(each)} for each in entries_of(sets)]
            for document, sets in gold_documents(self.result.claims[position][0]).items()
            if sets
        }

    def evidence(self, prediction: object) -> Mapping[str, Any]:
        return {} if prediction is None else predicted_documents(claim_of(prediction), {})

    def entries(self, value: Any) -> list[Entry]:
        return list(filter(_is_entry, value)) if isinstance(value, list) else []

    def value(self, entry: Entry) -> list[Entry]:
        return [entry]

    def lacking(self, sets: Sequence[Entry], entries: Sequence[Entry]) -> Entry | None:
        """Each set is held against the first entry with its label."""
        first = {as_key(entry["label"]): set(map(as_key, entry["sentences"])) for entry in reversed(entries)}
        missing = [lacking_sentences(each, first.get(as_key(each["label"]), set())) for each in sets]
        fewest = min(missing, key=len)
        return {"label": sets[missing.index(fewest)]["label"], "sentences": fewest} if fewest else None

    def complete(self, value: Any, lacking: Any) -> None:
        key = as_key(lacking["label"])
        first = next((each for each in self.entries(value) if as_key(each["label"]) == key), None)
        if first is None:
            value.append(dict(lacking))
        else:
            first["sentences"] = [*first["sentences"], *lacking["sentences"]]

    def extra(self, position: int, gold: Mapping[str, Any], given: Iterable[str]) -> list[str]:
        known = _numbers((*_cited(self.result.claims[position][0]), *gold))
        return [document for document in given if _number(document) not in known]

    def written(self, position: int) -> object:
        predicted = self.result.claims[position][1]
        if predicted is None:
            return None
        fields = {"id": predicted.id, "label": predicted.label, "evidence": predicted.evidence}
        return {key: value for key, value in fields.items() if value is not UNSET}

    def row(self, position: int, prediction: object) -> Row:
        predicted = None if prediction is None else claim_of(prediction)
        return count(self.result.claims[position][0], predicted, self.result.names)

    def faults(self, position: int, prediction: object) -> list[Fault]:
        gold = self.result.claims[position][0]
        there = {*_numbers(self.evidence(prediction)), *_numbers(self.gold(position))}
        only_cited = [number for number in _numbers(_cited(gold)) if number not in there]
        label = UNSET if prediction is None else claim_of(prediction).label
        is_wrong = gold.label not in (UNSET, label)
        return [
            *super().faults(position, prediction),
            *(Fault(MISSED_ABSTRACT, str(number), None, []) for number in only_cited),
            *([Fault(WRONG_VERDICT, None, None if label is UNSET else label, gold.label)] if is_wrong else ()),
        ]

    def corrected(self, position: int, prediction: Any, faults: Iterable[Fault]) -> object:
        of_evidence = []
        claim = prediction or {"id": self.unit(position)}
        for fault in faults:
            if fault.kind == WRONG_VERDICT:
                claim = {**claim, "label": fault.gold}
            else:
                of_evidence.append(fault)
        return super().corrected(position, claim, of_evidence) if of_evidence else claim

    def confusions(self, position: int) -> Iterator[Confusion]:
        yield from super().confusions(position)
        gold, predicted = self.result.claims[position]
        if gold.label is not UNSET:
            label = UNSET if predicted is None else predicted.label
            yield Confusion("claim", text_of(gold.label), NONE if label is UNSET else text_of(label))

    def parts(self, position: int, prediction: object) -> Iterator[Part]:
        gold, predicted = self.result.claims[position][0], None if prediction is None else claim_of(prediction)
        found = _numbers(self.evidence(prediction))
        cited = _numbers(_cited(gold))
        for number in cited:
            yield Part("abstract", str(number), number in found, "cited" if number in found else None)
        for number in found:
            if number not in cited:
                yield Part("abstract", str(number), False, "not cited")
        sets = [
            set_value(document, number, each["sentences"])
            for document, sets in self.gold(position).items()
            for number, each in enumerate(sets, start=1)
        ]
        if predicted is None:
            yield from (Part("evidence set", value, False, None) for value in sets)
        else:
            for value, verdict in zip(sets, judge(gold, predicted, self.result.names)):
                shown = f"{verdict.tp} right, {verdict.fp} wrong, {verdict.fn} missed"
                yield Part("evidence set", value, not verdict.fn, shown if verdict.retrieved else None)
        if gold.label is not UNSET:
            label = UNSET if predicted is None else predicted.label
            yield Part("label", gold.label, label == gold.label, None if label is UNSET else text_of(label))


def _is_entry(value: object) -> bool:
    if not isinstance(value, dict) or "label" not in value or not isinstance(value.get("sentences"), list):
        return False
    return not any(isinstance(sentence, (dict, list)) for sentence in value["sentences"])


def _cited(gold: Claim) -> Iterable[object]:
    try:
        return cited_documents(gold)
    except InputError:  # the scorer does not look at it where nothing is predicted
        return ()


def _number(document: object) -> object:
    """A document's number; of an id that is none, the text."""
    try:
        (number,) = document_numbers([document])
    except InputError:
        return text_of(document)
    return number


def _numbers(documents: Iterable[object]) -> dict[object, None]:
    return dict.fromkeys(map(_number, documents))


TASK = EvidenceTask(
    MODE,
    read_gold,
    score,
    ClaimsExaminer,
    "Score claim verification: documents, evidence with its label, verdict",
    "Both hold one JSON object per line. Gold is as for scifact; predictions give a list of entries per document, and "
    "are matched by id.",
)
