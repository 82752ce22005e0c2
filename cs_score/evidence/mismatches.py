"""Differences of writing between gold and predictions that can only lower a score: ids, sentence numbers, labels.

The official evaluators score such files without a word. cs-score gives the same scores and says so on standard error.
The checks look at the first units only and stop as soon as they can, so that they cost little where nothing is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple, TypeAlias

from cs_score.evidence.reading import plain, quoted

LABEL_FAMILIES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("SUPPORT", "SUPPORTS", "SUPPORTED"), "SUPPORT"),
    **dict.fromkeys(("CONTRADICT", "CONTRADICTS", "CONTRADICTED", "REFUTE", "REFUTES", "REFUTED"), "CONTRADICT"),
    **dict.fromkeys(("NOT_ENOUGH_INFO", "NOT ENOUGH INFO", "NOTENOUGHINFO", "NEI", "NOINFO"), "NOT_ENOUGH_INFO"),
}
"""Spellings of labels, each with the label that is meant."""

MOST_COMPARED: Final = 1000
"""The number of units whose ids, numbers and labels are compared: a habit of writing shows in the first of them, and to
compare 20,000 would take a tenth of the time of scoring.
"""

Files: TypeAlias = tuple[str, str]
"""The names of the gold file and of the predictions file."""

SentencesOf: TypeAlias = Callable[[Any], Sequence[object]]
"""Returns the sentence numbers in the evidence of gold, or of a prediction, for a document."""


# ---- Documents and their sentences


class DocumentsOfClaim(NamedTuple):
    """A claim with its evidence by document, in gold and as predicted."""

    id: object
    gold: Mapping[str, Any]
    predicted: Mapping[str, Any]


def of_documents(
    claims: Sequence[DocumentsOfClaim],
    files: Files,
    document_noun: str,
    gold_sentences: SentencesOf,
    predicted_sentences: SentencesOf,
) -> Iterator[str]:
    """Yield notices about sentence numbers and ids of documents that are written otherwise than in gold.

    `document_noun` is how the notices call a document, such as abstract. `gold_sentences` and `predicted_sentences`
    return the sentence numbers in the evidence for a document.
    """
    gold_file, file = files
    for claim, name in _predicted_documents(claims, are_in_gold=True):
        sentences = predicted_sentences(claim.predicted[name])
        if _are_text_and_number(sentences, gold_sentences(claim.gold[name])):
            types = _describe_types(sentences, gold_file)
            example = f"claim {plain(claim.id)}, {document_noun} {plain(name)}: {quoted(sentences[0])}"
            yield f"{file}: sentence numbers are {types} ({example}), so that they equal none of gold's"
            break
    for claim, name in islice(_predicted_documents(claims, are_in_gold=False), MOST_COMPARED):
        gold_name = _find_same_document(name, claim)
        if gold_name is not None:
            example = f"claim {plain(claim.id)}: {quoted(name)}, in {gold_file} {quoted(gold_name)}"
            nouns = f"{document_noun}s"
            yield f"{file}: ids of {nouns} are written otherwise than in gold ({example}), so that they are not found"
            break


def _predicted_documents(
    claims: Iterable[DocumentsOfClaim], *, are_in_gold: bool
) -> Iterator[tuple[DocumentsOfClaim, str]]:
    """Yield the predicted documents with gold evidence, or else without it, each with its claim.

    Claims without any gold evidence are left out.
    """
    for claim in claims:
        if not claim.gold:
            continue
        for name in claim.predicted:
            if (name in claim.gold) == are_in_gold:
                yield claim, name


def _find_same_document(name: str, claim: DocumentsOfClaim) -> str | None:
    """Return the document of gold whose id a predicted id is another spelling of; None if there is none."""
    for gold_name in claim.gold:
        if gold_name not in claim.predicted and is_same_text(name, gold_name):
            return gold_name
    return None


def _are_text_and_number(sentences: Sequence[object], wanted: Sequence[object]) -> bool:
    """Return whether one list of sentence numbers begins with a text and the other with a number."""
    return bool(sentences) and bool(wanted) and isinstance(sentences[0], str) != isinstance(wanted[0], str)


def _describe_types(predicted: Sequence[object], gold_file: str) -> str:
    """Return which file has text and which has numbers, such as `text where gold.jsonl has numbers`."""
    if isinstance(predicted[0], str):
        return f"text where {gold_file} has numbers"
    return f"numbers where {gold_file} has text"


def is_same_text(first: str, second: str) -> bool:
    """Return whether two ids differ in letter case, blanks, leading zeros, a last .0 or a prefix of letters alone.

    These are the same: "PMC7" and "7", "007" and "7", "12.0" and "12". These differ: "17" and "7".
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


def of_labels(gold: Iterable[str], predicted: Iterable[str], files: Files) -> Iterator[str]:
    """Yield a notice if labels are spelled otherwise in one file than in the other, so that they are never equal."""
    gold_file, file = files
    gold_labels = set(gold)
    predicted_labels = set(predicted)
    notice = _describe_spellings(gold_file, gold_labels, file, predicted_labels)
    if notice is None:
        notice = _describe_spellings(file, predicted_labels, gold_file, gold_labels)
    if notice is not None:
        yield notice


def _describe_spellings(name: str, labels: set[str], other_name: str, other_labels: set[str]) -> str | None:
    """Return a notice about labels that another file has in another spelling only; None without any."""
    other_families = {_family_of(label) for label in other_labels}
    respelled = [label for label in sorted(labels - other_labels) if _family_of(label) in other_families]
    if not respelled:
        return None
    shown_labels = ", ".join([quoted(label) for label in respelled])
    shown_others = ", ".join([quoted(label) for label in sorted(other_labels)])
    return f"{name}: labels {shown_labels}, where {other_name} has {shown_others}: never equal"


def _family_of(label: str) -> str:
    """Return the label that is meant by a spelling, such as CONTRADICT for "refutes"."""
    name = label.strip().upper()
    return LABEL_FAMILIES.get(name, name)


# ---- Ids of units


def of_ids(unmatched: Iterable[Any], predicted: Iterable[Any], files: Files, unit_noun: str) -> Iterator[str]:
    """Yield a notice if ids are text in one file and numbers in the other.

    `unmatched` are the ids of gold without a prediction, `predicted` the ids of the predictions.
    """
    gold_file, file = files
    predicted_by_text = {str(unit_id): unit_id for unit_id in predicted}
    for gold_id in unmatched:
        predicted_id = predicted_by_text.get(str(gold_id))
        if predicted_id is not None and isinstance(predicted_id, str) != isinstance(gold_id, str):
            types = _describe_types([predicted_id], gold_file)
            yield f"{file}: ids are {types} ({unit_noun} {plain(gold_id)}), so that they are not matched"
            return


# ---- Supporting facts


class FactsOfQuestion(NamedTuple):
    """A question with its supporting facts, in gold and as predicted."""

    id: object
    gold: Iterable[Sequence[Any]]
    predicted: Iterable[Sequence[Any]]


def of_facts(questions: Iterable[FactsOfQuestion], files: Files) -> Iterator[str]:
    """Yield notices about facts that differ from gold's in the type of the sentence number or the case of the title."""
    gold_file, file = files
    loose_key_by_notice: dict[str, Callable[[Sequence[Any]], object]] = {
        f"sentence numbers of facts are text in {file} or in {gold_file} and numbers in the other": _with_text_number,
        f"titles of facts have another letter case or other blanks than in {gold_file}": _with_plain_title,
    }
    example_by_notice: dict[str, str] = {}
    for _, question in zip(range(MOST_COMPARED), questions):
        gold_facts = [fact for fact in question.gold if len(fact) == 2]
        wrong_facts = [fact for fact in question.predicted if len(fact) == 2 and fact not in gold_facts]
        for notice, loose_key in loose_key_by_notice.items():
            if notice in example_by_notice:
                continue
            gold_keys = {loose_key(fact) for fact in gold_facts}
            respelled = [fact for fact in wrong_facts if loose_key(fact) in gold_keys]
            if respelled:
                title, sentence = respelled[0]
                example_by_notice[notice] = f"question {plain(question.id)}: [{quoted(title)}, {quoted(sentence)}]"
    for notice, example in example_by_notice.items():
        yield f"{file}: {notice} ({example}), so that they do not count as found"


def _with_text_number(fact: Sequence[Any]) -> object:
    """Return the title and the sentence number of a fact as texts."""
    return str(fact[0]), str(fact[1])


def _with_plain_title(fact: Sequence[Any]) -> object:
    """Return a fact with its title in lower case and with blanks in the place of underscores."""
    return str(fact[0]).strip().casefold().replace("_", " "), fact[1]
