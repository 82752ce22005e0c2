"""How the documents and evidence sets of a claim fared; section numbers refer to the project's claims contract."""

from __future__ import annotations

import functools
from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Final, NamedTuple

from cs_score.base.errors import InputError
from cs_score.evidence.reading import json_reader as reader
from cs_score.evidence.reading.large_numbers import hashable_integer


class Absent:
    """Stands for a key that a claim does not have, which null is not."""


ABSENT: Final = Absent()


class Claim(NamedTuple):
    """A claim of either file, its values as read: the official scorer looks at them only as far as it needs to."""

    id: Hashable
    label: object
    evidence: object
    cited: object


class SetVerdict(NamedTuple):
    """How one gold evidence set fared (section 4).

    `label` and `gold` are the set's own. `retrieved` says whether the document is among the predicted ones; `entry` is
    the position of the first predicted entry with the set's label, `predicted` that entry's sentences.
    """

    document: str
    label: object
    gold: frozenset[Hashable]
    retrieved: bool
    entry: int | None
    predicted: frozenset[Hashable]
    tp: int
    fp: int
    fn: int


def judge(gold: Claim, predicted: Claim, gold_name: str, predictions_name: str) -> list[SetVerdict]:
    """How each evidence set of a gold claim that has a prediction fared (section 4), in gold order.

    The names are for the InputError raised where something that is looked at is malformed.
    """
    documents = gold_documents(gold)
    given = predicted_documents(predicted, needed=has_sets(documents))
    verdicts = []
    for document, sets in documents.items():
        looked_at = gold_name
        try:
            listed = [(reader.member(each, "label"), _sentence_set(each)) for each in entries_of(sets)]
            looked_at = predictions_name
            entries = _Entries(given[document]) if listed and document in given else None
            for label, sentences in listed:
                if entries is not None:
                    verdicts.append(_judge_set(document, label, sentences, entries))
                else:
                    missed = len(sentences)
                    verdicts.append(SetVerdict(document, label, sentences, False, None, frozenset(), 0, 0, missed))
        except InputError as error:
            place = f"claim {reader.plain(gold.id)}, document {reader.plain(document)}"
            raise reader.located(error, looked_at, place) from None
    return verdicts


class _Entries:
    """The predicted entries of a document, each looked at once, and only when a gold set has need of it."""

    def __init__(self, value: object) -> None:
        if isinstance(value, dict):
            raise InputError(
                "one object where a list of entries is expected",
                remedy="files in this shape are scored with cs-score scifact",
            )
        self._value = value
        self._unread = enumerate(entries_of(value))
        self._first: dict[Hashable, tuple[int, reader.Object]] = {}
        self._sentences: dict[int, frozenset[Hashable]] = {}

    def first(self, label: object) -> tuple[int, frozenset[Hashable]] | None:
        """The position and the sentences of the first entry with this label."""
        key = reader.as_key(label)
        while key not in self._first:
            unread = next(self._unread, None)
            if unread is None:
                return None
            self._first.setdefault(reader.as_key(reader.member(unread[1], "label")), unread)
        position, entry = self._first[key]
        if position not in self._sentences:
            self._sentences[position] = _sentence_set(entry)
        return position, self._sentences[position]

    @functools.cached_property
    def listed(self) -> int:
        """The sentences of all entries, as often as they are listed."""
        return sum(len(sentences_of(entry)) for entry in entries_of(self._value))


def _judge_set(document: str, label: object, gold: frozenset[Hashable], entries: _Entries) -> SetVerdict:
    found = entries.first(label)
    if found is None:
        return SetVerdict(document, label, gold, True, None, frozenset(), 0, entries.listed, len(gold))
    position, predicted = found
    right = len(gold & predicted)
    return SetVerdict(
        document, label, gold, True, position, predicted, right, len(predicted) - right, len(gold) - right
    )


def cited_documents(gold: Claim) -> list[object]:
    """The documents that gold cites, as listed; absent is empty."""
    return [] if gold.cited is ABSENT else reader.as_list(gold.cited, "'cited_doc_ids'")


def gold_documents(gold: Claim) -> Mapping[str, object]:
    """Gold evidence by document id as text; absent, null and empty are the same."""
    return reader.as_object(gold.evidence, "'evidence'") if gold.evidence and gold.evidence is not ABSENT else {}


def has_sets(documents: Mapping[str, object]) -> bool:
    """Whether any document of gold has an evidence set: only then are predictions looked at."""
    return any(documents.values())


def predicted_documents(predicted: Claim, *, needed: bool) -> Mapping[str, object]:
    """Predicted evidence by document id as text; null is as good as absent unless gold has sets (`needed`)."""
    if predicted.evidence is ABSENT or (predicted.evidence is None and not needed):
        return {}
    return reader.as_object(predicted.evidence, "'evidence'")


def compare_documents(cited: Collection[object], predicted: Collection[object]) -> tuple[set[int], set[int], set[int]]:
    """Document numbers that are right, wrong and missed (section 3)."""
    wanted, found = document_numbers(cited), document_numbers(predicted)
    return wanted & found, found - wanted, wanted - found


def document_numbers(ids: Collection[object]) -> set[int]:
    """Document ids as integers, converted as Python's `int` does. Raises InputError for one that is no integer."""
    numbers = set()
    for each in ids:
        try:
            number = int(each)  # type: ignore[call-overload]  # whatever int refuses is the error below
        except (TypeError, ValueError, OverflowError):
            raise InputError("document id is not an integer", place=f"document {reader.plain(each)}") from None
        numbers.add(hashable_integer(number))
    return numbers


def entries_of(value: object) -> Iterator[reader.Object]:
    """The entries or evidence sets of a document, each checked only when it is reached."""
    for each in reader.as_list(value, "the evidence of the document"):
        yield reader.as_object(each, "an entry")


def sentences_of(entry: reader.Object) -> list[object]:
    return reader.as_list(reader.member(entry, "sentences"), "'sentences'")


def _sentence_set(entry: reader.Object) -> frozenset[Hashable]:
    try:
        return frozenset(sentences_of(entry))
    except TypeError:
        raise InputError("'sentences' holds a list or an object where sentence numbers are expected") from None
