"""Finds ids, sentence numbers and labels that the predictions spell differently than gold, such as "7" and 7.
A notice, which is a warning of one line, tells the user.

Values with different spellings are never equal, so that they lower the score. The official evaluators score these files
without a notice; cs-score computes the same scores and gives a notice on standard error. Only the first units are
compared, which takes little time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

from cs_score.evidence.reading import quoted, short_text

LABEL_BY_SPELLING: Final[Mapping[str, str]] = {
    **dict.fromkeys(("SUPPORT", "SUPPORTS", "SUPPORTED"), "SUPPORT"),
    **dict.fromkeys(("CONTRADICT", "CONTRADICTS", "CONTRADICTED", "REFUTE", "REFUTES", "REFUTED"), "CONTRADICT"),
    **dict.fromkeys(("NOT_ENOUGH_INFO", "NOT ENOUGH INFO", "NOTENOUGHINFO", "NEI", "NOINFO"), "NOT_ENOUGH_INFO"),
}
"""The label that a spelling, written in capitals, stands for."""

MOST_COMPARED: Final = 1000
"""The largest number of units that are compared.

A file usually has one spelling throughout, so that the first units show it. Comparing 20,000 units would take a tenth
of the time of scoring.
"""

Files: TypeAlias = tuple[str, str]
"""The names of the gold file and of the predictions file."""

SentencesByDocument: TypeAlias = Mapping[str, Sequence[object]]
"""The sentence numbers of the first evidence for each document: {"11": [2, 5]}."""


# ---- Documents and their sentences


class DocumentsOfClaim(NamedTuple):
    """A claim with sentence numbers of its documents, in gold and as predicted: {"11": [2, 5]} and {"11": ["2"]}."""

    id: object
    gold: SentencesByDocument
    predicted: SentencesByDocument


def document_notices(claims: Sequence[DocumentsOfClaim], files: Files, document_noun: str) -> Iterator[str]:
    """Yield a notice if gold spells sentence numbers differently, and one if it spells ids of documents differently.

    `document_noun` is the word for a document in the notices, such as "abstract".
    """
    yield from _sentence_number_notices(claims, files, document_noun)
    yield from _document_id_notices(claims, files, document_noun)


def _sentence_number_notices(claims: Iterable[DocumentsOfClaim], files: Files, document_noun: str) -> Iterator[str]:
    """Yield a notice if sentence numbers are texts in one file and numbers in the other.

    The notice names the first such document. `document_noun` is its word for a document, such as "abstract".
    """
    gold_file, predictions_file = files
    for claim, document in _predicted_documents(claims, are_in_gold=True):
        predicted_sentences = claim.predicted[document]
        if _are_text_and_number(predicted_sentences, claim.gold[document]):
            types = _types_in_words(predicted_sentences[0], gold_file)  # "text where gold.jsonl has numbers"
            place = f"claim {short_text(claim.id)}, {document_noun} {short_text(document)}"
            example = f"{place}: {quoted(predicted_sentences[0])}"
            yield f"{predictions_file}: sentence numbers are {types} ({example}), so that they equal none of gold's"
            return


def _document_id_notices(claims: Iterable[DocumentsOfClaim], files: Files, document_noun: str) -> Iterator[str]:
    """Yield a notice if the id of a predicted document is another spelling of an id in gold, such as "007" of "7".

    The notice names the first such document. `document_noun` is its word for a document, such as "abstract".
    """
    gold_file, predictions_file = files
    unknown_documents = _predicted_documents(claims, are_in_gold=False)
    for claim, document in islice(unknown_documents, MOST_COMPARED):
        gold_document = _find_same_document(document, claim)
        if gold_document is not None:
            example = f"claim {short_text(claim.id)}: {quoted(document)}, in {gold_file} {quoted(gold_document)}"
            difference = f"ids of {document_noun}s are written otherwise than in gold ({example})"
            yield f"{predictions_file}: {difference}, so that they are not found"
            return


def _predicted_documents(
    claims: Iterable[DocumentsOfClaim], *, are_in_gold: bool
) -> Iterator[tuple[DocumentsOfClaim, str]]:
    """Yield each predicted document with its claim.

    If `are_in_gold` is true, only documents with evidence in gold are yielded, and otherwise only the others. Claims
    without any evidence in gold are left out.
    """
    for claim in claims:
        if not claim.gold:
            continue
        for document in claim.predicted:
            is_in_gold = document in claim.gold
            if is_in_gold == are_in_gold:
                yield claim, document


def _find_same_document(predicted_id: str, claim: DocumentsOfClaim) -> str | None:
    """Return the id in gold that is another spelling of a predicted document id, or None if there is no such id.

    An id in gold that is itself predicted is not considered.
    """
    for gold_id in claim.gold:
        if gold_id not in claim.predicted and is_same_id(predicted_id, gold_id):
            return gold_id
    return None


def _are_text_and_number(first: Sequence[object], second: Sequence[object]) -> bool:
    """Return whether one list of sentence numbers begins with a text and the other one with a number."""
    if not first or not second:
        return False
    first_is_text = isinstance(first[0], str)
    second_is_text = isinstance(second[0], str)
    return first_is_text != second_is_text


def _types_in_words(predicted_value: object, gold_file: str) -> str:
    """Return the types of a predicted value and the gold value in words: `text where gold.jsonl has numbers`.

    One of the two types is text and the other is number. `gold_file` is the name of the gold file.
    """
    if isinstance(predicted_value, str):
        return f"text where {gold_file} has numbers"
    return f"numbers where {gold_file} has text"


def is_same_id(first: str, second: str) -> bool:
    """Return whether two texts are spellings of the same id.

    Spellings may differ in letter case and in surrounding blanks. In addition, one of them may have leading zeros, ".0"
    at the end, or a prefix such as "PMC" before a number. So "PMC7", "007" and "7.0" are each the same id as "7", but
    "17" is not.
    """
    plain_ids = [text.strip().casefold() for text in (first, second)]
    shorter, longer = sorted(plain_ids, key=len)
    if longer in (shorter, f"{shorter}.0"):
        return True
    if not shorter or not longer.endswith(shorter):
        return False
    prefix = longer.removesuffix(shorter)  # "00" of "007", "pmc" of "pmc7", but also "1" of "17"
    has_only_zeros = prefix.strip("0") == ""
    is_prefix_of_number = shorter.isdecimal() and not prefix[-1].isdecimal()
    return has_only_zeros or is_prefix_of_number


# ---- Labels


def label_notices(gold: Iterable[str], predicted: Iterable[str], files: Files) -> Iterator[str]:
    """Yield a notice if a label is spelled differently in gold and in the predictions.

    `gold` and `predicted` are the labels that occur in the two `files`.
    """
    gold_file, predictions_file = files
    gold_labels = set(gold)
    predicted_labels = set(predicted)
    notice = _spelling_notice(gold_file, gold_labels, predictions_file, predicted_labels)
    if notice is None:  # each label of gold is also predicted, but the predictions may spell it in other ways as well
        notice = _spelling_notice(predictions_file, predicted_labels, gold_file, gold_labels)
    if notice is not None:
        yield notice


def _spelling_notice(file: str, labels: set[str], other_file: str, other_labels: set[str]) -> str | None:
    """Return a notice about labels of a file that another file spells differently. Return None without such labels.

    `labels` occur in the file called `file`, and `other_labels` in the file called `other_file`.
    """
    standard_labels_of_other_file = {_standard_label(label) for label in other_labels}
    labels_only_here = sorted(labels - other_labels)
    other_spellings = [label for label in labels_only_here if _standard_label(label) in standard_labels_of_other_file]
    if not other_spellings:
        return None
    shown_labels = ", ".join([quoted(label) for label in other_spellings])
    shown_others = ", ".join([quoted(label) for label in sorted(other_labels)])
    return f"{file}: labels {shown_labels}, where {other_file} has {shown_others}: never equal"


def _standard_label(spelling: str) -> str:
    """Return the standard spelling of a label, such as CONTRADICT for "refutes".

    A label that is not known is returned in capitals.
    """
    label_in_capitals = spelling.strip().upper()
    return LABEL_BY_SPELLING.get(label_in_capitals, label_in_capitals)


# ---- Ids of units


def id_notices(
    ids_without_prediction: Iterable[Any], predicted_ids: Iterable[Any], files: Files, unit_noun: str
) -> Iterator[str]:
    """Yield a notice if ids are texts in one file and numbers in the other.

    `ids_without_prediction` are ids in gold, and `predicted_ids` are the ids of the predictions. `unit_noun` is the
    word for a unit in the notice, such as "claim".
    """
    gold_file, predictions_file = files
    predicted_by_text = {str(unit_id): unit_id for unit_id in predicted_ids}
    for gold_id in ids_without_prediction:
        predicted_id = predicted_by_text.get(str(gold_id))
        if predicted_id is not None and _are_text_and_number([predicted_id], [gold_id]):
            types = _types_in_words(predicted_id, gold_file)  # "text where gold.jsonl has numbers"
            example = f"{unit_noun} {short_text(gold_id)}"
            yield f"{predictions_file}: ids are {types} ({example}), so that they are not matched"
            return


# ---- Supporting facts


class FactsOfQuestion(NamedTuple):
    """A question with its supporting facts, in gold and as predicted."""

    id: object
    gold: Iterable[Sequence[Any]]
    predicted: Iterable[Sequence[Any]]


def fact_notices(questions: Iterable[FactsOfQuestion], files: Files) -> Iterator[str]:
    """Yield notices about supporting facts, such as ["France", 0], that the predictions spell differently than gold.

    One notice is about sentence numbers that are texts in one file and numbers in the other. Another notice is about
    titles that differ in letter case or blanks.
    """
    gold_file, predictions_file = files
    compared_questions = list(islice(questions, MOST_COMPARED))

    example_of_type = _example_of_other_spelling(compared_questions, _key_without_type)
    if example_of_type is not None:
        yield (
            f"{predictions_file}: sentence numbers of facts are text in {predictions_file} or in {gold_file} and "
            f"numbers in the other ({example_of_type}), so that they do not count as found"
        )

    example_of_case = _example_of_other_spelling(compared_questions, _key_without_case)
    if example_of_case is not None:
        yield (
            f"{predictions_file}: titles of facts have another letter case or other blanks than in {gold_file} "
            f"({example_of_case}), so that they do not count as found"
        )


def _example_of_other_spelling(
    questions: Iterable[FactsOfQuestion], key_function: Callable[[Sequence[Any]], object]
) -> str | None:
    """Return the first predicted fact that gold spells differently: `question q1: ['France', '0']`.

    `key_function` returns a key that is the same for both spellings of a fact. Return None if there is no such fact.
    """
    for question in questions:
        fact = _find_differently_spelled_fact(question, key_function)
        if fact is not None:
            title, sentence = fact
            return f"question {short_text(question.id)}: [{quoted(title)}, {quoted(sentence)}]"
    return None


def _find_differently_spelled_fact(
    question: FactsOfQuestion, key_function: Callable[[Sequence[Any]], object]
) -> Sequence[Any] | None:
    """Return the first predicted fact of a question that is wrong, but has the same key as a fact of gold.

    `key_function` returns the key of a fact. Only facts that consist of a title and a sentence number are compared.
    Return None if there is no such fact.
    """
    gold_facts = [fact for fact in question.gold if len(fact) == 2]
    gold_keys = {key_function(fact) for fact in gold_facts}
    for fact in question.predicted:
        is_wrong = len(fact) == 2 and fact not in gold_facts
        if is_wrong and key_function(fact) in gold_keys:
            return fact
    return None


def _key_without_type(fact: Sequence[Any]) -> object:
    """Return the title and the sentence number of a fact as texts: ["France", 0] -> ("France", "0")."""
    title, sentence = fact
    return str(title), str(sentence)


def _key_without_case(fact: Sequence[Any]) -> object:
    """Return the title of a fact in lower case and without underscores, and its sentence number.

    For example, ["New_York", 0] becomes ("new york", 0).
    """
    title, sentence = fact
    return str(title).strip().casefold().replace("_", " "), sentence
