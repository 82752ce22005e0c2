"""Finds ids, sentence numbers and labels that are written otherwise in predictions than in gold.

Such differences can only lower a score. The official evaluators score such files without a notice; cs-score computes
the same scores and gives a notice on standard error. Only the first units are compared, so that this takes little time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

from cs_score.evidence.reading import quoted, short_text

LABEL_FAMILIES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("SUPPORT", "SUPPORTS", "SUPPORTED"), "SUPPORT"),
    **dict.fromkeys(("CONTRADICT", "CONTRADICTS", "CONTRADICTED", "REFUTE", "REFUTES", "REFUTED"), "CONTRADICT"),
    **dict.fromkeys(("NOT_ENOUGH_INFO", "NOT ENOUGH INFO", "NOTENOUGHINFO", "NEI", "NOINFO"), "NOT_ENOUGH_INFO"),
}
"""Spellings of labels, each with the label that is meant."""

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
    gold_file, file = files
    for claim, name in _predicted_documents(claims, are_in_gold=True):
        sentences = predicted_sentences(claim.predicted[name])
        if _are_text_and_number(sentences, gold_sentences(claim.gold[name])):
            types = _describe_types(sentences, gold_file)
            example = f"claim {short_text(claim.id)}, {document_noun} {short_text(name)}: {quoted(sentences[0])}"
            yield f"{file}: sentence numbers are {types} ({example}), so that they equal none of gold's"
            break
    for claim, name in islice(_predicted_documents(claims, are_in_gold=False), MOST_COMPARED):
        gold_name = _find_same_document(name, claim)
        if gold_name is not None:
            example = f"claim {short_text(claim.id)}: {quoted(name)}, in {gold_file} {quoted(gold_name)}"
            nouns = f"{document_noun}s"
            yield f"{file}: ids of {nouns} are written otherwise than in gold ({example}), so that they are not found"
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
    return isinstance(first[0], str) != isinstance(second[0], str)


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
    shorter, longer = sorted((first.strip().casefold(), second.strip().casefold()), key=len)
    if shorter == longer or f"{shorter}.0" == longer:
        return True
    if not shorter or not longer.endswith(shorter):
        return False
    prefix = longer.removesuffix(shorter)
    has_only_zeros = not prefix.strip("0")
    return has_only_zeros or (shorter.isdecimal() and not prefix[-1].isdecimal())


# ---- Labels


def label_notices(gold: Iterable[str], predicted: Iterable[str], files: Files) -> Iterator[str]:
    """Yield a notice if a label has one spelling in gold and another one in the predictions.

    `gold` and `predicted` are the labels that occur in the two `files`.
    """
    gold_file, file = files
    gold_labels = set(gold)
    predicted_labels = set(predicted)
    notice = _describe_spellings(gold_file, gold_labels, file, predicted_labels)
    if notice is None:
        notice = _describe_spellings(file, predicted_labels, gold_file, gold_labels)
    if notice is not None:
        yield notice


def _describe_spellings(name: str, labels: set[str], other_name: str, other_labels: set[str]) -> str | None:
    """Return a notice about labels of a file that another file has only in another spelling; None if there are none.

    `labels` occur in the file `name`, `other_labels` in the file `other_name`.
    """
    other_families = {_family_of(label) for label in other_labels}
    respelled = [label for label in sorted(labels - other_labels) if _family_of(label) in other_families]
    if not respelled:
        return None
    shown_labels = ", ".join([quoted(label) for label in respelled])
    shown_others = ", ".join([quoted(label) for label in sorted(other_labels)])
    return f"{name}: labels {shown_labels}, where {other_name} has {shown_others}: never equal"


def _family_of(label: str) -> str:
    """Return the label that a spelling means, such as CONTRADICT for "refutes"."""
    name = label.strip().upper()
    return LABEL_FAMILIES.get(name, name)


# ---- Ids of units


def id_notices(unmatched: Iterable[Any], predicted: Iterable[Any], files: Files, unit_noun: str) -> Iterator[str]:
    """Yield a notice if ids are text in one file and numbers in the other.

    `unmatched` are the ids of gold without a prediction, `predicted` the ids of the predictions. `unit_noun` is the
    word for a unit in the notice, such as "claim".
    """
    gold_file, file = files
    predicted_by_text = {str(unit_id): unit_id for unit_id in predicted}
    for gold_id in unmatched:
        predicted_id = predicted_by_text.get(str(gold_id))
        if predicted_id is not None and isinstance(predicted_id, str) != isinstance(gold_id, str):
            types = _describe_types([predicted_id], gold_file)
            yield f"{file}: ids are {types} ({unit_noun} {short_text(gold_id)}), so that they are not matched"
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
    gold_file, file = files
    key_function_by_notice: dict[str, Callable[[Sequence[Any]], object]] = {
        f"sentence numbers of facts are text in {file} or in {gold_file} and numbers in the other": _key_of_any_type,
        f"titles of facts have another letter case or other blanks than in {gold_file}": _key_of_any_case,
    }
    example_by_notice: dict[str, str] = {}
    for question in islice(questions, MOST_COMPARED):
        gold_facts = [fact for fact in question.gold if len(fact) == 2]
        wrong_facts = [fact for fact in question.predicted if len(fact) == 2 and fact not in gold_facts]
        for notice, key_function in key_function_by_notice.items():
            if notice in example_by_notice:
                continue
            gold_keys = {key_function(fact) for fact in gold_facts}
            respelled = [fact for fact in wrong_facts if key_function(fact) in gold_keys]
            if respelled:
                title, sentence = respelled[0]
                example_by_notice[notice] = f"question {short_text(question.id)}: [{quoted(title)}, {quoted(sentence)}]"
    for notice, example in example_by_notice.items():
        yield f"{file}: {notice} ({example}), so that they do not count as found"


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
