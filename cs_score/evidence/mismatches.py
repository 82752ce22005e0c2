"""Differences of writing between gold and predictions that can only lower a score: ids, sentence numbers, labels.

The official evaluators score such files without a word, and so does cs-score, which says so on standard error. Only a
file that is as wanted need be quick: the checks look at the first of many, and go no further than they have to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from cs_score.evidence.reading import plain, quoted

LABEL_FAMILIES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("SUPPORT", "SUPPORTS", "SUPPORTED"), "SUPPORT"),
    **dict.fromkeys(("CONTRADICT", "CONTRADICTS", "CONTRADICTED", "REFUTE", "REFUTES", "REFUTED"), "CONTRADICT"),
    **dict.fromkeys(("NOT_ENOUGH_INFO", "NOT ENOUGH INFO", "NOTENOUGHINFO", "NEI", "NOINFO"), "NOT_ENOUGH_INFO"),
}
"""Spellings of labels, and the label that each of them stands for."""

MOST_COMPARED: Final = 1000
"""Units whose ids, numbers and labels are compared: how a file is written shows in the first of them, and all of 20,000
would take a tenth of the time of scoring.
"""

Documents: TypeAlias = Iterable[tuple[object, Mapping[str, Any], Mapping[str, Any]]]
"""A claim's id, what gold has for its documents, and what is predicted for them."""

SentencesOf: TypeAlias = Callable[[Any], Sequence[object]]
"""Returns the sentence numbers in what gold has, or what is predicted, for a document."""


def of_documents(
    claims: Documents, files: tuple[str, str], what: str, in_gold: SentencesOf, as_predicted: SentencesOf
) -> Iterator[str]:
    """Yield what differs in the writing of documents and sentence numbers; `what` is an abstract or a document."""
    gold_file, file = files
    numbers, document = "", ""
    compared = 0
    for claim, gold, predicted in claims:
        for name, content in predicted.items():
            if name in gold:
                if numbers:
                    continue
                sentences, wanted = as_predicted(content), in_gold(gold[name])
                if _are_of_two_types(sentences, wanted):
                    place = f"claim {plain(claim)}, {what} {plain(name)}"
                    numbers = f"{_types_of(sentences, wanted, gold_file)} ({place}: {quoted(sentences[0])})"
            elif gold and not document and compared < MOST_COMPARED:
                compared += 1
                same = next((other for other in gold if other not in predicted and is_same_text(name, other)), None)
                if same is not None:
                    document = f"claim {plain(claim)}: {quoted(name)}, in {gold_file} {quoted(same)}"
        if numbers and document:
            break
    if numbers:
        yield f"{file}: sentence numbers are {numbers}, so that they equal none of gold's"
    if document:
        yield f"{file}: ids of {what}s are written otherwise than in gold ({document}), so that they are not found"


def _are_of_two_types(sentences: Sequence[object], wanted: Sequence[object]) -> bool:
    """Return whether one begins with a text and the other with a number."""
    return bool(sentences) and bool(wanted) and isinstance(sentences[0], str) != isinstance(wanted[0], str)


def _types_of(sentences: Sequence[object], wanted: Sequence[object], gold_file: str) -> str:
    kinds = ("text", "numbers") if isinstance(sentences[0], str) else ("numbers", "text")
    return f"{kinds[0]} where {gold_file} has {kinds[1]}"


def is_same_text(one: str, other: str) -> bool:
    """Return whether two ids differ in letter case, blanks, leading zeros, a last .0 or a prefix of letters alone."""
    shorter, longer = sorted((one.strip().casefold(), other.strip().casefold()), key=len)
    if shorter == longer or f"{shorter}.0" == longer:
        return True
    if not shorter or not longer.endswith(shorter):
        return False
    prefix = longer.removesuffix(shorter)
    return not prefix.strip("0") or (shorter.isdecimal() and not prefix[-1].isdecimal())


def of_labels(gold: Iterable[str], predicted: Iterable[str], files: tuple[str, str]) -> Iterator[str]:
    """Yield which labels are spelled otherwise in one file than in the other, so that they are never equal."""
    gold_labels, labels = set(gold), set(predicted)
    gold_file, file = files
    for name, other_name, ones, others in (
        (gold_file, file, gold_labels, labels),
        (file, gold_file, labels, gold_labels),
    ):
        families = set(map(_family_of, others))
        otherwise = [label for label in sorted(ones - others) if _family_of(label) in families]
        if otherwise:
            there = ", ".join(map(quoted, sorted(others)))
            yield f"{name}: labels {', '.join(map(quoted, otherwise))}, where {other_name} has {there}: never equal"
            return


def _family_of(label: str) -> str:
    """Return the label that a spelling stands for."""
    name = label.strip().upper()
    return LABEL_FAMILIES.get(name, name)


def of_ids(unmatched: Iterable[Any], predicted: Iterable[Any], files: tuple[str, str], what: str) -> Iterator[str]:
    """Yield whether ids are text in one file and numbers in the other, given those of gold without a prediction."""
    by_text = {str(each): each for each in predicted}
    for named in unmatched:
        other = by_text.get(str(named))
        if other is not None and isinstance(other, str) != isinstance(named, str):
            gold_file, file = files
            kinds = ("text", "numbers") if isinstance(other, str) else ("numbers", "text")
            where = f"{gold_file} has {kinds[1]} ({what} {plain(named)})"
            yield f"{file}: ids are {kinds[0]} where {where}, so that they are not matched"
            return


Facts: TypeAlias = Iterable[tuple[object, Iterable[Sequence[Any]], Iterable[Sequence[Any]]]]
"""A question's id, gold's facts, and those that are predicted."""


def of_facts(questions: Facts, files: tuple[str, str]) -> Iterator[str]:
    """Yield what differs in the writing of supporting facts: sentence numbers as text, the letter case of titles."""
    gold_file, file = files
    checks: dict[str, Callable[[Sequence[Any]], object]] = {
        f"sentence numbers of facts are text in {file} or in {gold_file} and numbers in the other": _with_text_number,
        f"titles of facts have another letter case or other blanks than in {gold_file}": _with_plain_title,
    }
    found: dict[str, str] = {}
    for _, (named, gold, predicted) in zip(range(MOST_COMPARED), questions):
        wanted = [fact for fact in gold if len(fact) == 2]
        others = [fact for fact in predicted if len(fact) == 2 and fact not in wanted]
        for said, loosened in checks.items():
            loose = {loosened(fact) for fact in wanted}
            same = next((fact for fact in others if loosened(fact) in loose), None)
            if same is not None and said not in found:
                found[said] = f"question {plain(named)}: [{quoted(same[0])}, {quoted(same[1])}]"
    for said, example in found.items():
        yield f"{file}: {said} ({example}), so that they do not count as found"


def _with_text_number(fact: Sequence[Any]) -> object:
    return str(fact[0]), str(fact[1])


def _with_plain_title(fact: Sequence[Any]) -> object:
    return str(fact[0]).strip().casefold().replace("_", " "), fact[1]
