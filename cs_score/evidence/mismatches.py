"""Finds ids, sentence numbers and labels that are written otherwise in predictions than in gold.

Such differences can only lower a score. The official evaluators score such files without a notice; cs-score computes
the same scores and gives a notice on standard error. Only the first units are compared, so that this takes little time.
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
"""The label that is meant, by its spelling in capitals."""

MOST_COMPARED: Final = 1000
"""The number of units that are compared. One way of writing is used in the whole file, so that the first units show it;
comparing 20,000 units would take a tenth of the time of scoring.
"""

Files: TypeAlias = tuple[str, str]
"""The names of the gold file and of the predictions file."""

SentencesOf: TypeAlias = Callable[[Any], Sequence[object]]
"""A function that returns the sentence numbers in the evidence for a document, of gold or of a prediction."""


# ---- Documents and their sentences


class DocumentsOfClaim(NamedTuple):
    """A claim with its evidence by document, in gold and as predicted."""

    id: object
    gold: Mapping[str, Any]
    predicted: Mapping[str, Any]


def document_notices(
    claims: Sequence[DocumentsOfClaim],
    files: Files,
    document_noun: str,
    gold_sentences: SentencesOf,
    predicted_sentences: SentencesOf,
) -> Iterator[str]:
    """Yield a notice if sentence numbers, and one if ids of documents, are written otherwise than in gold.

    `document_noun` is the word for a document in the notices, such as "abstract". `gold_sentences` and
    `predicted_sentences` return the sentence numbers in the evidence for a document.
    """
    gold_file, predictions_file = files
    for claim, document in _predicted_documents(claims, are_in_gold=True):
        sentences = predicted_sentences(claim.predicted[document])
        if _are_text_and_number(sentences, gold_sentences(claim.gold[document])):
            types = _describe_types(sentences, gold_file)
            place = f"claim {short_text(claim.id)}, {document_noun} {short_text(document)}"
            example = f"{place}: {quoted(sentences[0])}"
            yield f"{predictions_file}: sentence numbers are {types} ({example}), so that they equal none of gold's"
            break
    unknown_documents = _predicted_documents(claims, are_in_gold=False)
    for claim, document in islice(unknown_documents, MOST_COMPARED):
        gold_document = _find_same_document(document, claim)
        if gold_document is not None:
            example = f"claim {short_text(claim.id)}: {quoted(document)}, in {gold_file} {quoted(gold_document)}"
            difference = f"ids of {document_noun}s are written otherwise than in gold ({example})"
            yield f"{predictions_file}: {difference}, so that they are not found"
            break


def _predicted_documents(
    claims: Iterable[DocumentsOfClaim], *, are_in_gold: bool
) -> Iterator[tuple[DocumentsOfClaim, str]]:
    """Yield each predicted document with its claim: the documents with evidence in gold, or else those without.

    `are_in_gold` chooses between the two. Claims without any evidence in gold are left out.
    """
    for claim in claims:
        if not claim.gold:
            continue
        for name in claim.predicted:
            if (name in claim.gold) == are_in_gold:
                yield claim, name


def _find_same_document(name: str, claim: DocumentsOfClaim) -> str | None:
    """Return the id of gold that is the same document as a predicted id in another spelling; None if there is none.

    Documents of gold that are predicted in gold's spelling are left out.
    """
    for gold_name in claim.gold:
        if gold_name not in claim.predicted and is_same_text(name, gold_name):
            return gold_name
    return None


def _are_text_and_number(first: Sequence[object], second: Sequence[object]) -> bool:
    """Return whether one list of sentence numbers begins with a text and the other one with a number."""
    if not first or not second:
        return False
    first_is_text = isinstance(first[0], str)
    second_is_text = isinstance(second[0], str)
    return first_is_text != second_is_text


def _describe_types(predicted: Sequence[object], gold_file: str) -> str:
    """Return the type of predicted values and the other type of gold's, as `text where gold.jsonl has numbers`."""
    if isinstance(predicted[0], str):
        return f"text where {gold_file} has numbers"
    return f"numbers where {gold_file} has text"


def is_same_text(first: str, second: str) -> bool:
    """Return whether two ids are spellings of the same id.

    They may differ in letter case, in blanks around them, in leading zeros, in ".0" at the end, and in a prefix such as
    "PMC" before a number. So "PMC7", "007", "7.0" and "7" are the same id, but "17" and "7" are not.
    """
    plain_ids = [text.strip().casefold() for text in (first, second)]
    shorter, longer = sorted(plain_ids, key=len)
    if longer in (shorter, f"{shorter}.0"):
        return True
    if not shorter or not longer.endswith(shorter):
        return False
    prefix = longer.removesuffix(shorter)
    has_only_zeros = prefix.strip("0") == ""
    if has_only_zeros:
        return True
    return shorter.isdecimal() and not prefix[-1].isdecimal()  # "PMC" before "7", not "1" before "7"


# ---- Labels


def label_notices(gold: Iterable[str], predicted: Iterable[str], files: Files) -> Iterator[str]:
    """Yield a notice if a label has one spelling in gold and another one in the predictions.

    `gold` and `predicted` are the labels that occur in the two `files`.
    """
    gold_file, predictions_file = files
    gold_labels = set(gold)
    predicted_labels = set(predicted)
    notice = _describe_spellings(gold_file, gold_labels, predictions_file, predicted_labels)
    if notice is None:
        notice = _describe_spellings(predictions_file, predicted_labels, gold_file, gold_labels)
    if notice is not None:
        yield notice


def _describe_spellings(name: str, labels: set[str], other_name: str, other_labels: set[str]) -> str | None:
    """Return a notice about labels of a file that another file has only in another spelling; None if there are none.

    `labels` occur in the file `name`, `other_labels` in the file `other_name`.
    """
    meant_by_others = {_meant_label(label) for label in other_labels}
    labels_only_here = sorted(labels - other_labels)
    labels_in_other_spelling = [label for label in labels_only_here if _meant_label(label) in meant_by_others]
    if not labels_in_other_spelling:
        return None
    shown_labels = ", ".join([quoted(label) for label in labels_in_other_spelling])
    shown_others = ", ".join([quoted(label) for label in sorted(other_labels)])
    return f"{name}: labels {shown_labels}, where {other_name} has {shown_others}: never equal"


def _meant_label(spelling: str) -> str:
    """Return the label that a spelling means, such as CONTRADICT for "refutes".

    A spelling that is not known means the label in capitals.
    """
    label_in_capitals = spelling.strip().upper()
    return LABEL_BY_SPELLING.get(label_in_capitals, label_in_capitals)


# ---- Ids of units


def id_notices(unmatched: Iterable[Any], predicted: Iterable[Any], files: Files, unit_noun: str) -> Iterator[str]:
    """Yield a notice if ids are text in one file and numbers in the other.

    `unmatched` are the ids of gold without a prediction, `predicted` the ids of the predictions. `unit_noun` is the
    word for a unit in the notice, such as "claim".
    """
    gold_file, predictions_file = files
    predicted_by_text = {str(unit_id): unit_id for unit_id in predicted}
    for gold_id in unmatched:
        predicted_id = predicted_by_text.get(str(gold_id))
        if predicted_id is not None and _are_text_and_number([predicted_id], [gold_id]):
            types = _describe_types([predicted_id], gold_file)
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
    """Yield notices about predicted facts that would be facts of gold if they were written as gold writes them.

    They differ in the type of the sentence number, or in letter case or blanks of the title.
    """
    gold_file, predictions_file = files
    either_file = f"{predictions_file} or in {gold_file}"
    types_differ = f"sentence numbers of facts are text in {either_file} and numbers in the other"
    titles_differ = f"titles of facts have another letter case or other blanks than in {gold_file}"
    example_by_difference: dict[str, str] = {}
    for question in islice(questions, MOST_COMPARED):
        for difference, key_function in ((types_differ, _key_of_any_type), (titles_differ, _key_of_any_case)):
            if difference in example_by_difference:
                continue
            fact = _find_fact_in_other_writing(question, key_function)
            if fact is not None:
                title, sentence = fact
                example = f"question {short_text(question.id)}: [{quoted(title)}, {quoted(sentence)}]"
                example_by_difference[difference] = example
    for difference, example in example_by_difference.items():
        yield f"{predictions_file}: {difference} ({example}), so that they do not count as found"


def _find_fact_in_other_writing(
    question: FactsOfQuestion, key_function: Callable[[Sequence[Any]], object]
) -> Sequence[Any] | None:
    """Return the first wrong fact of a question that would be right if facts were compared by another key.

    `key_function` makes this key of a fact. Only facts of a title and a sentence number are compared. Return None if
    there is no such fact.
    """
    gold_facts = [fact for fact in question.gold if len(fact) == 2]
    gold_keys = {key_function(fact) for fact in gold_facts}
    for fact in question.predicted:
        is_wrong = len(fact) == 2 and fact not in gold_facts
        if is_wrong and key_function(fact) in gold_keys:
            return fact
    return None


def _key_of_any_type(fact: Sequence[Any]) -> object:
    """Return the title and the sentence number of a fact as texts: ["France", 0] -> ("France", "0")."""
    title, sentence = fact
    return str(title), str(sentence)


def _key_of_any_case(fact: Sequence[Any]) -> object:
    """Return the title of a fact in lower case and without underscores, and its sentence number.

    For example, ["New_York", 0] becomes ("new york", 0).
    """
    title, sentence = fact
    return str(title).strip().casefold().replace("_", " "), sentence
