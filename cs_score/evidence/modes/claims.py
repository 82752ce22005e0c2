"""Claim verification scoring: documents retrieved, evidence sentences with their label, verdict.

The numbers are those that the published scorer's code computes, which differ in places from what its guide says (see
the user documentation). Section numbers refer to the project's claims contract.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from cs_score.evidence.reading import json_reader as reader
from cs_score.evidence.reading.gold import Gold, signed
from cs_score.evidence.reading.large_numbers import hashable_integer
from cs_score.evidence.result import InputSummary, Mode, ReportRow, Result, counted, scores_of
from cs_score.foundation.errors import InputError
from cs_score.foundation.garbage_collection import paused_collector
from cs_score.foundation.signature import Signature
from cs_score.foundation.sources import Input, Source
from cs_score.measures.formulas import Divide, Number, precision_recall_f1
from cs_score.measures.registry import names
from cs_score.statistics.unit_table import UnitTable

COLUMNS: Final = (
    "abstract_tp",
    "abstract_fp",
    "abstract_fn",
    "sentence_tp",
    "sentence_fp",
    "sentence_fn",
    "labelled",
    "label_correct",
)

MEASURES: Final = names("claims")

SKIPPED_MARKS: Final = reader.BYTE_ORDER_MARK + "\x1e"
"""One of these is passed over at the start of a line: a byte order mark or a record separator (RFC 7464)."""


def measures(sums: Sequence[Number], divide: Divide[Number]) -> tuple[Number, ...]:
    """The seven measures from the sums of COLUMNS (section 5)."""
    abstract_tp, abstract_fp, abstract_fn, sentence_tp, sentence_fp, sentence_fn, labelled, label_correct = sums
    return (
        *precision_recall_f1(abstract_tp, abstract_tp + abstract_fp, abstract_tp + abstract_fn, divide),
        *precision_recall_f1(sentence_tp, sentence_tp + sentence_fp, sentence_tp + sentence_fn, divide),
        divide(label_correct, labelled),
    )


MODE: Final = Mode(
    name="claims",
    unit="claim",
    columns=COLUMNS,
    measures=MEASURES,
    formula=measures,
    headings=("precision", "recall", "f1", "tp", "fp", "fn"),
    rows=(
        ReportRow("abstract", MEASURES[0:3], COLUMNS[0:3]),
        ReportRow("sentence", MEASURES[3:6], COLUMNS[3:6]),
        ReportRow("label_accuracy", MEASURES[6:]),
    ),
)


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


@dataclass(frozen=True, slots=True, repr=False)
class ClaimsResult(Result):
    """Scores of a claim verification run; `claims` holds gold beside prediction (None: missing) in table order."""

    mode: ClassVar[Mode] = MODE

    claims: Sequence[tuple[Claim, Claim | None]]

    def answered(self) -> tuple[str, ...]:
        return tuple(unit for unit, (_, predicted) in zip(self.table.ids, self.claims) if predicted is not None)

    def explained(self, position: int) -> list[str]:
        from cs_score.evidence.modes.explanations import explain_claim

        gold, predicted = self.claims[position]
        names = [source.name for source in self.inputs]
        return explain_claim(gold, predicted, judge(gold, predicted, *names) if predicted else ())


def read_gold(gold: Input | Iterable[object]) -> Gold[dict[Hashable, Claim]]:
    """Read gold once, to score many predictions against it. Raises InputError for what is no gold."""
    with paused_collector(), reader.open_lines(gold, "gold") as source:
        return signed(source, _read(source))


def score(
    gold: Input | Iterable[object] | Gold[dict[Hashable, Claim]], predictions: Input | Iterable[object]
) -> ClaimsResult:
    """Score predictions against gold; each is a path, an open file, or the claims as parsed JSON objects.

    Claims are matched by id, in any order; the last line with an id counts, predictions for other claims are ignored.
    Raises InputError for what cannot be scored.
    """
    with paused_collector():
        known = gold if isinstance(gold, Gold) else read_gold(gold)
        gold_name, gold_claims = known.name, known.content
        with reader.open_lines(predictions, "predictions") as source:
            predictions_name, predicted_claims = source.name, _read(source)
            predictions_digest = source.digest()
        claims = [(claim, predicted_claims.get(claim.id)) for claim in gold_claims.values()]
        table = UnitTable(
            ids=tuple(reader.text_of(claim) for claim in gold_claims),
            columns=COLUMNS,
            rows=[_count(claim, predicted, gold_name, predictions_name) for claim, predicted in claims],
        )
    unpredicted = sum(predicted is None for _, predicted in claims)
    notice = f"{predictions_name}: no prediction for {unpredicted} of {counted(len(claims), 'claim')}"
    return ClaimsResult(
        table=table,
        scores=scores_of(MODE, table),
        signature=Signature(MODE.name, {}, (known.digest, predictions_digest)),
        inputs=(
            InputSummary("gold", gold_name, ((len(gold_claims), "claim"),)),
            InputSummary("predictions", predictions_name, ((len(predicted_claims), "claim"),)),
        ),
        notices=(notice,) if unpredicted else (),
        claims=claims,
    )


def _read(source: Source) -> dict[Hashable, Claim]:
    claims: dict[Hashable, Claim] = {}
    for number, value in reader.json_lines(source, skipped_marks=SKIPPED_MARKS):
        try:
            fields = reader.as_object(value, "the line")
            claim = reader.identifier(fields, "id")
        except InputError as error:
            raise reader.located(error, source.name, f"line {number}") from None
        # Assigning to a key that exists keeps the first spelling of the id (1 or 1.0) and the place of its first line.
        claims[claim] = Claim(
            claim, fields.get("label", ABSENT), fields.get("evidence", ABSENT), fields.get("cited_doc_ids", ABSENT)
        )
    return claims


def _count(gold: Claim, predicted: Claim | None, gold_name: str, predictions_name: str) -> tuple[int, ...]:
    """The row of one gold claim."""
    try:
        documents = gold_documents(gold)
        cited = cited_documents(gold)
        if predicted is None:
            lost = sum(len(_sentences(each)) for sets in documents.values() for each in _entries(sets))
            return 0, 0, len(cited), 0, 0, lost, int(gold.label is not ABSENT), 0
        document_numbers(cited)
        document_numbers(documents)
    except InputError as error:
        raise reader.located(error, gold_name, f"claim {reader.plain(gold.id)}") from None
    try:
        right, wrong, missed = compare_documents(cited, predicted_documents(predicted, needed=has_sets(documents)))
    except InputError as error:
        raise reader.located(error, predictions_name, f"claim {reader.plain(gold.id)}") from None
    verdicts = judge(gold, predicted, gold_name, predictions_name)
    return (
        len(right),
        len(wrong),
        len(missed),
        sum(verdict.tp for verdict in verdicts),
        sum(verdict.fp for verdict in verdicts),
        sum(verdict.fn for verdict in verdicts),
        int(gold.label is not ABSENT),
        int(gold.label is not ABSENT and predicted.label is not ABSENT and gold.label == predicted.label),
    )


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
            listed = [(reader.member(each, "label"), _sentence_set(each)) for each in _entries(sets)]
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
        self._unread = enumerate(_entries(value))
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
        return sum(len(_sentences(entry)) for entry in _entries(self._value))


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


def _entries(value: object) -> Iterator[reader.Object]:
    """The entries or evidence sets of a document, each checked only when it is reached."""
    for each in reader.as_list(value, "the evidence of the document"):
        yield reader.as_object(each, "an entry")


def _sentences(entry: reader.Object) -> list[object]:
    return reader.as_list(reader.member(entry, "sentences"), "'sentences'")


def _sentence_set(entry: reader.Object) -> frozenset[Hashable]:
    try:
        return frozenset(_sentences(entry))
    except TypeError:
        raise InputError("'sentences' holds a list or an object where sentence numbers are expected") from None
