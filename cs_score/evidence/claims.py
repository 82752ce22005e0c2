"""Claim verification scoring: documents retrieved, evidence sentences with their label, verdict.

The numbers are those that the published scorer's code computes, which differ in places from what its guide says (see
the user documentation). Section numbers refer to the project's claims contract.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Final, NamedTuple

from msgspec import UNSET

from cs_score.base.errors import InputError
from cs_score.base.runtime import paused_collector
from cs_score.base.sources import Input, Source
from cs_score.evidence import reading
from cs_score.evidence.reading import Gold, as_key, key_set, plain
from cs_score.evidence.result import Mode, ReportRow, Result, counted, report_rows
from cs_score.measures.registry import Divide, Number, names, precision_recall_f1
from cs_score.statistics.units import UnitTable

COLUMNS: Final = (
    *("abstract_tp", "abstract_fp", "abstract_fn", "sentence_tp", "sentence_fp", "sentence_fn"),
    *("labelled", "label_correct"),
)

SKIPPED_MARKS: Final = reading.BYTE_ORDER_MARK + "\x1e"
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
    formula=measures,
    headings=("precision", "recall", "f1", "tp", "fp", "fn"),
    rows=(
        *report_rows(("abstract", "sentence"), names("claims")[:6], (COLUMNS[:3], COLUMNS[3:6])),
        ReportRow("label_accuracy", names("claims")[6:]),
    ),
)


class Claim(NamedTuple):
    """A claim of either file, its values as read: the official scorer looks at them only as far as it needs to.

    UNSET stands for a key that the claim does not have, which null is not.
    """

    id: Hashable
    label: object
    evidence: object
    cited: object


class SetVerdict(NamedTuple):
    """How one gold evidence set fared (section 4). Sets are of keys (`as_key`).

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


class ClaimsResult(Result):
    """Scores of a claim verification run; `claims` holds gold beside prediction (None: missing) in table order."""

    mode: ClassVar[Mode] = MODE

    claims: Sequence[tuple[Claim, Claim | None]]

    def answered(self) -> tuple[str, ...]:
        return tuple(unit for unit, (_, predicted) in zip(self.table.ids, self.claims) if predicted is not None)

    def explained(self, position: int) -> list[str]:
        gold, predicted = self.claims[position]
        return list(explain(gold, predicted, judge(gold, predicted, self.names) if predicted else ()))


def read_gold(gold: Input | Iterable[object]) -> Gold[dict[Hashable, Claim]]:
    """Read gold once, to score many predictions against it. Raises InputError for what is no gold."""
    return reading.read(gold, "gold", _claims, has_lines=True)


@paused_collector()
def score(
    gold: Input | Iterable[object] | Gold[dict[Hashable, Claim]], predictions: Input | Iterable[object]
) -> ClaimsResult:
    """Score predictions against gold; each is a path, an open file, or the claims as parsed JSON objects.

    Claims are matched by id, in any order; the last line with an id counts, predictions for other claims are ignored.
    Raises InputError for what cannot be scored.
    """
    known = gold if isinstance(gold, Gold) else read_gold(gold)
    given = reading.read(predictions, "predictions", _claims, has_lines=True)
    claims = [(claim, given.content.get(key)) for key, claim in known.content.items()]
    rows = [count(claim, predicted, (known.name, given.name)) for claim, predicted in claims]
    unpredicted = sum(predicted is None for _, predicted in claims)
    notice = f"{given.name}: no prediction for {unpredicted} of {counted(len(claims), 'claim')}"
    return ClaimsResult.of(
        UnitTable(tuple(reading.text_of(claim.id) for claim, _ in claims), COLUMNS, rows),
        known,
        given,
        read=(((len(known.content), "claim"),), ((len(given.content), "claim"),)),
        notices=(notice,) if unpredicted else (),
        claims=claims,
    )


def _claims(source: Source) -> dict[Hashable, Claim]:
    """The claims by the keys of their ids; of an id the first spelling (1 or 1.0), at the place of its first line."""
    claims: dict[Hashable, Claim] = {}
    for number, value in reading.json_lines(source, skipped_marks=SKIPPED_MARKS):
        with reading.located(place={"line": number}):
            claim = claim_of(value)
        key = as_key(claim.id)
        claims[key] = claim._replace(id=claims[key].id) if key in claims else claim
    return claims


def claim_of(value: object) -> Claim:
    """A line of either file as a claim. Raises InputError for what is no object with an id."""
    fields = reading.as_object(value, "the line")
    label, evidence = fields.get("label", UNSET), fields.get("evidence", UNSET)
    return Claim(reading.identifier(fields, "id"), label, evidence, fields.get("cited_doc_ids", UNSET))


def count(gold: Claim, predicted: Claim | None, files: tuple[str, str]) -> tuple[int, ...]:
    """The row of one gold claim; `files` are named in the InputError raised where what is looked at is malformed."""
    is_labelled = gold.label is not UNSET
    with reading.located(files[0], {"claim": gold.id}):
        documents = gold_documents(gold)
        cited = cited_documents(gold)
        if predicted is None:
            lost = sum(len(listed_sentences(each)) for sets in documents.values() for each in entries_of(sets))
            return 0, 0, len(cited), 0, 0, lost, int(is_labelled), 0
        wanted = document_numbers(cited)
        document_numbers(documents)
    with reading.located(files[1], {"claim": gold.id}):
        found = document_numbers(predicted_documents(predicted, documents))
    tp = fp = fn = 0
    for verdict in judge(gold, predicted, files):
        tp, fp, fn = tp + verdict.tp, fp + verdict.fp, fn + verdict.fn
    is_right = is_labelled and predicted.label is not UNSET and gold.label == predicted.label
    documents_found = len(wanted & found), len(found - wanted), len(wanted - found)
    return *documents_found, tp, fp, fn, int(is_labelled), int(is_right)


def judge(gold: Claim, predicted: Claim, files: tuple[str, str]) -> list[SetVerdict]:
    """How each evidence set of a gold claim that has a prediction fared (section 4), in gold order; as `count`."""
    documents = gold_documents(gold)
    given = predicted_documents(predicted, documents)
    in_gold, in_predictions = [reading.located(file, {"claim": gold.id}) for file in files]
    verdicts = []
    for document, sets in documents.items():
        with in_gold as place:
            place["document"] = document
            listed = [(reading.member(each, "label"), _sentence_set(each)) for each in entries_of(sets)]
        with in_predictions as place:
            place["document"] = document
            entries = _Entries(given[document]) if listed and document in given else None
            verdicts += [_judge_set(document, label, sentences, entries) for label, sentences in listed]
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
        self._first: dict[Hashable, tuple[int, reading.Object]] = {}
        self._sentences: dict[int, frozenset[Hashable]] = {}

    def first(self, label: object) -> tuple[int | None, frozenset[Hashable]]:
        """The position and the sentences of the first entry with this label; None and no sentences without any."""
        if label != label:
            return None, frozenset()  # NaN, which equals nothing
        key = as_key(label)
        while key not in self._first:
            unread = next(self._unread, None)
            if unread is None:
                return None, frozenset()
            self._first.setdefault(as_key(reading.member(unread[1], "label")), unread)
        position, entry = self._first[key]
        if position not in self._sentences:
            self._sentences[position] = _sentence_set(entry)
        return position, self._sentences[position]

    @functools.cached_property
    def listed(self) -> int:
        """The sentences of all entries, as often as they are listed."""
        return sum(len(listed_sentences(entry)) for entry in entries_of(self._value))


def _judge_set(document: str, label: object, gold: frozenset[Hashable], entries: _Entries | None) -> SetVerdict:
    position, predicted = (None, frozenset[Hashable]()) if entries is None else entries.first(label)
    right = len(gold & predicted)
    wrong = len(predicted) - right if entries is None or position is not None else entries.listed
    missed = len(gold) - right
    return SetVerdict(document, label, gold, entries is not None, position, predicted, right, wrong, missed)


def cited_documents(gold: Claim) -> list[object]:
    """The documents that gold cites, as listed; absent is empty."""
    return [] if gold.cited is UNSET else reading.as_list(gold.cited, "'cited_doc_ids'")


def gold_documents(gold: Claim) -> Mapping[str, object]:
    """Gold evidence by document id as text; absent, null and empty are the same."""
    return reading.as_object(gold.evidence or {}, "'evidence'")


def predicted_documents(predicted: Claim, gold: Mapping[str, object]) -> Mapping[str, object]:
    """Predicted evidence by document id as text; null is as good as absent unless a document of gold has sets."""
    if predicted.evidence is UNSET or (predicted.evidence is None and not any(gold.values())):
        return {}
    return reading.as_object(predicted.evidence, "'evidence'")


def document_numbers(ids: Iterable[object]) -> set[str]:
    """Document ids as whole numbers, converted as Python's `int` does, each as its digits.

    Raises InputError for one that is no integer.
    """
    numbers = set()
    for each in ids:
        try:
            numbers.add(str(int(each)))  # type: ignore[call-overload]  # whatever int refuses is the error below
        except (TypeError, ValueError, OverflowError):
            raise InputError("document id is not an integer", place=f"document {plain(each)}") from None
    return numbers


def entries_of(value: object) -> Iterator[reading.Object]:
    """The entries or evidence sets of a document, each checked only when it is reached."""
    for each in reading.as_list(value, "the evidence of the document"):
        yield reading.as_object(each, "an entry")


def listed_sentences(entry: reading.Object) -> list[object]:
    """The sentences of an entry or evidence set, whatever they are."""
    return reading.as_list(reading.member(entry, "sentences"), "'sentences'")


def _sentence_set(entry: reading.Object) -> frozenset[Hashable]:
    return frozenset(map(as_key, reading.sentences_of(entry)))


def explain(gold: Claim, predicted: Claim | None, verdicts: Iterable[SetVerdict]) -> Iterator[str]:
    """How a claim was scored: documents, each gold evidence set and what it was compared with, the verdict."""
    cited, wanted = cited_documents(gold), gold_documents(gold)
    yield f"claim {plain(gold.id)}"
    yield f"  gold       cited {reading.listed(cited)}, evidence in {reading.listed(wanted)}"
    if predicted is None:
        yield "  predicted  nothing: every cited document and every listed gold sentence is missed"
    else:
        given = predicted_documents(predicted, wanted)
        yield f"  predicted  documents {reading.listed(given)}"
        of_gold, found = document_numbers(cited), document_numbers(given)
        outcomes = {"right (tp)": of_gold & found, "wrong (fp)": found - of_gold, "missed (fn)": of_gold - found}
        for outcome, numbers in outcomes.items():
            in_order = sorted(numbers, key=lambda number: int(number))
            yield f"  documents {outcome}: {len(numbers)}  {reading.listed(in_order)}"
    for verdict in verdicts:
        if not verdict.retrieved:
            compared = "the document is not predicted"
        elif verdict.entry is None:
            compared = f"no predicted entry has this label, so every listed sentence ({verdict.fp}) is wrong"
        else:
            compared = f"entry {verdict.entry + 1}, the first with this label: {key_set(verdict.predicted)}"
        yield ""
        yield f"document {plain(verdict.document)}, gold set {plain(verdict.label)} {key_set(verdict.gold)}"
        yield f"  predicted  {compared}"
        yield f"  sentences  tp {verdict.tp}, fp {verdict.fp}, fn {verdict.fn}"
    yield ""
    if gold.label is UNSET:
        yield "label: not counted, gold has none"
    elif predicted is None or predicted.label is UNSET:
        yield f"label: wrong, gold {plain(gold.label)} and nothing predicted"
    else:
        outcome = "correct" if gold.label == predicted.label else "wrong"
        yield f"label: {outcome}, gold {plain(gold.label)}, predicted {plain(predicted.label)}"
