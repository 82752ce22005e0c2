"""Claim verification: documents, sentences and labels as in SciFact, over lists of entries, and the verdict.

The official scorer looks at entries only as far as it needs to, so that those it never reaches may be malformed. They
stay as they are.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from cs_score.analysis.evidence.scifact import (
    EXTRA_ABSTRACT,
    EXTRA_SENTENCE,
    INCOMPLETE_RATIONALE,
    MISSED_ABSTRACT,
    WRONG_LABEL,
    extra_sentences,
    group_of_citations,
    groups_of_sets,
    lacking_sentences,
    without_sentences,
)
from cs_score.analysis.evidence.task import EvidenceTask
from cs_score.base.errors import InputError
from cs_score.evidence.claims import (
    ABSENT,
    MODE,
    Claim,
    ClaimsResult,
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
from cs_score.tasks.task import NONE, Confusion, Examiner, Fault, Part, Row

WRONG_VERDICT = "wrong_verdict"


class _Entry(NamedTuple):
    """An evidence set of gold or a predicted entry; its label as `as_key` gives it, beside the label as read."""

    key: Hashable
    label: object
    sentences: list[object]


class ClaimsExaminer(Examiner[ClaimsResult]):
    """The faults of claim verification predictions."""

    kinds: ClassVar[tuple[str, ...]] = (
        EXTRA_ABSTRACT, WRONG_LABEL, EXTRA_SENTENCE, INCOMPLETE_RATIONALE, MISSED_ABSTRACT, WRONG_VERDICT,
    )  # fmt: skip

    def unit(self, position: int) -> object:
        return self.result.claims[position][0].id

    def written(self, position: int) -> object:
        predicted = self.result.claims[position][1]
        if predicted is None:
            return None
        fields = {"id": predicted.id, "label": predicted.label, "evidence": predicted.evidence}
        return {key: value for key, value in fields.items() if value is not ABSENT}

    def row(self, position: int, prediction: object) -> Row:
        predicted = None if prediction is None else claim_of(prediction)
        gold_name, predictions_name = (source.name for source in self.result.inputs)
        return count(self.result.claims[position][0], predicted, gold_name, predictions_name)

    def faults(self, position: int, prediction: object) -> Sequence[Fault]:
        gold = self.result.claims[position][0]
        wanted = _gold_sets(gold)
        given = _predicted(prediction)
        both = [(document, sets, _entries(given[document])) for document, sets in wanted.items() if document in given]
        known = _numbers((*_cited(gold), *wanted))
        there = {**_numbers(given), **_numbers(wanted)}
        label = ABSENT if prediction is None else claim_of(prediction).label
        return [
            *(
                Fault(EXTRA_ABSTRACT, document, entries, None)
                for document, entries in given.items()
                if _number(document) not in known
            ),
            *(fault for document, sets, entries in both for fault in _wrong_label(document, sets, entries)),
            *(
                Fault(EXTRA_SENTENCE, document, sentence, None)
                for document, sets, entries in both
                for sentence in extra_sentences(
                    (sentence for entry in entries for sentence in entry.sentences),
                    (gold_set.sentences for gold_set in sets),
                )
            ),
            *(fault for document, sets, entries in both for fault in _incomplete(document, sets, entries)),
            *(
                Fault(MISSED_ABSTRACT, document, None, [{"label": sets[0].label, "sentences": sets[0].sentences}])
                for document, sets in wanted.items()
                if document not in given
            ),
            *(  # documents that are only cited
                Fault(MISSED_ABSTRACT, str(number), None, [])
                for number in _numbers(_cited(gold))
                if number not in there
            ),
            *(
                [Fault(WRONG_VERDICT, None, None if label is ABSENT else label, gold.label)]
                if gold.label not in (ABSENT, label)
                else ()
            ),
        ]

    def corrected(self, position: int, prediction: object, faults: Iterable[Fault]) -> object:
        gold = self.result.claims[position][0]
        claim: dict[str, Any] = dict(prediction) if isinstance(prediction, dict) else {"id": gold.id}
        wanted = _gold_sets(gold)
        evidence: dict[str, Any] = {
            document: [dict(each) if _is_entry(each) else each for each in entries]
            if isinstance(entries, list)
            else entries
            for document, entries in _predicted(prediction).items()
        }
        extra: dict[str, list[object]] = {}
        for fault in faults:
            if fault.kind == WRONG_VERDICT:
                claim["label"] = fault.gold
                continue
            document = str(fault.part)
            if fault.kind == EXTRA_ABSTRACT:
                del evidence[document]
            elif fault.kind == MISSED_ABSTRACT:
                evidence[document] = fault.gold
            elif fault.kind == EXTRA_SENTENCE:
                extra.setdefault(document, []).append(fault.predicted)
            else:
                _correct_entries(evidence[document], fault, wanted[document])
            claim["evidence"] = evidence
        for document, sentences in extra.items():
            for entry in filter(_is_entry, evidence[document]):
                entry["sentences"] = without_sentences(entry["sentences"], sentences)
        return claim

    def groups(self, position: int) -> Mapping[str, str]:
        gold = self.result.claims[position][0]
        sets = [(gold_set.label, gold_set.sentences) for sets in _gold_sets(gold).values() for gold_set in sets]
        return {**groups_of_sets(sets), **group_of_citations(gold.cited)}

    def confusions(self, position: int) -> Iterator[Confusion]:
        gold, predicted = self.result.claims[position]
        wanted, given = _gold_sets(gold), _predicted(self.written(position))
        for document, sets in wanted.items():
            entries = _entries(given.get(document))
            found = {entry.key for entry in entries}
            for gold_set in {each.key: each for each in sets}.values():
                instead = text_of(entries[0].label) if entries else NONE
                shown = text_of(gold_set.label)
                yield Confusion("abstract", shown, shown if gold_set.key in found else instead)
        for document, value in given.items():
            if document not in wanted and (entries := _entries(value)):
                yield Confusion("abstract", NONE, text_of(entries[0].label))
        if gold.label is not ABSENT:
            is_told = predicted is not None and predicted.label is not ABSENT
            yield Confusion("claim", text_of(gold.label), text_of(predicted.label) if predicted and is_told else NONE)

    def parts(self, position: int) -> Iterator[Part]:
        gold, predicted = self.result.claims[position]
        found = _numbers(_predicted(self.written(position)))
        cited = dict.fromkeys(map(_number, _cited(gold)))
        for number in cited:
            yield Part("abstract", str(number), number in found, "cited" if number in found else None)
        for number in found:
            if number not in cited:
                yield Part("abstract", str(number), False, "not cited")
        yield from self._set_parts(gold, predicted)
        if gold.label is not ABSENT:
            label = ABSENT if predicted is None else predicted.label
            yield Part("label", gold.label, label == gold.label, None if label is ABSENT else text_of(label))

    def _set_parts(self, gold: Claim, predicted: Claim | None) -> Iterator[Part]:
        if predicted is None:
            for document, sets in _gold_sets(gold).items():
                for number, gold_set in enumerate(sets, start=1):
                    yield Part("evidence set", _set_value(document, number, gold_set.sentences), False, None)
            return
        names = [source.name for source in self.result.inputs]
        numbers: dict[str, int] = {}
        listed = {document: [each.sentences for each in sets] for document, sets in _gold_sets(gold).items()}
        for verdict in judge(gold, predicted, *names):
            number = numbers[verdict.document] = numbers.get(verdict.document, 0) + 1
            value = _set_value(verdict.document, number, listed[verdict.document][number - 1])
            shown = f"{verdict.tp} right, {verdict.fp} wrong, {verdict.fn} missed"
            yield Part("evidence set", value, not verdict.fn, shown if verdict.retrieved else None)


def _set_value(document: str, number: int, sentences: Sequence[Hashable]) -> dict[str, object]:
    return {"abstract": document, "set": number, "sentences": list(sentences)}


def _gold_sets(gold: Claim) -> dict[str, list[_Entry]]:
    return {
        document: [
            _Entry(as_key(each.get("label")), each.get("label"), listed_sentences(each)) for each in entries_of(sets)
        ]
        for document, sets in gold_documents(gold).items()
        if sets
    }


def _predicted(prediction: object) -> Mapping[str, object]:
    return {} if prediction is None else predicted_documents(claim_of(prediction), needed=False)


def _entries(value: object) -> list[_Entry]:
    return [
        _Entry(as_key(each["label"]), each["label"], each["sentences"])
        for each in (value if isinstance(value, list) else ())
        if _is_entry(each)
    ]


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


def _wrong_label(document: str, sets: Sequence[_Entry], entries: Sequence[_Entry]) -> Iterator[Fault]:
    """A label of gold that no entry has, if there are entries whose label is none of gold's for the document."""
    wanted, found = {each.key for each in sets}, {each.key for each in entries}
    lacking = [each.label for each in sets if each.key not in found]
    wrong = [each.label for each in entries if each.key not in wanted]
    if lacking and wrong:
        yield Fault(WRONG_LABEL, document, wrong[0], lacking[0])


def _incomplete(document: str, sets: Sequence[_Entry], entries: Sequence[_Entry]) -> Iterator[Fault]:
    """What the set of the document that lacks the fewest sentences lacks in the entry that it is held against."""
    first = {entry.key: frozenset(map(as_key, entry.sentences)) for entry in reversed(entries)}
    held = [(each, first.get(each.key, frozenset())) for each in sets]
    missing = lacking_sentences((each.sentences, predicted) for each, predicted in held)
    if missing:
        chosen = next(each for each, predicted in held if lacking_sentences([(each.sentences, predicted)]) == missing)
        yield Fault(INCOMPLETE_RATIONALE, document, None, {"label": chosen.label, "sentences": missing})


def _correct_entries(entries: Any, fault: Fault, sets: Sequence[_Entry]) -> None:
    """Correct the entries of a document in their place."""
    sound = [each for each in entries if _is_entry(each)]
    gold: Any = fault.gold
    if fault.kind == WRONG_LABEL:
        labels = {each.key for each in sets}
        for each in sound:
            if as_key(each["label"]) not in labels:
                each["label"] = gold
    else:
        key = as_key(gold["label"])
        first = next((each for each in sound if as_key(each["label"]) == key), None)
        if first is None:
            entries.append(dict(gold))
        else:
            first["sentences"] = [*first["sentences"], *gold["sentences"]]


TASK = EvidenceTask(
    MODE,
    read_gold,
    score,
    ClaimsExaminer,
    "Score claim verification: documents, evidence with its label, verdict",
    "Both hold one JSON object per line. Gold is as for scifact; predictions give a list of entries per document, and "
    "are matched by id.",
)
