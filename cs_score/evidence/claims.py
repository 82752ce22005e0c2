"""Claim verification scoring: documents retrieved, evidence sentences with their label, verdict.

The numbers are those that the published scorer's code computes, which differ in places from what its guide says (see
the user documentation). It looks at entries only as far as it needs to, so that those it never reaches may be
malformed; they stay as they are. Section numbers refer to the project's claims contract.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import UNSET

from cs_score.base.errors import InputError
from cs_score.base.sources import Source
from cs_score.evidence import mismatches, reading
from cs_score.evidence.abstracts import KINDS, MISSED_ABSTRACT, AbstractsMode, Claim, Entry
from cs_score.evidence.mode import (
    NONE,
    AnsweredOptions,
    Confusion,
    Fault,
    Pair,
    Part,
    ReportRow,
    Row,
    Unit,
    left_out,
    report_rows,
)
from cs_score.evidence.reading import Gold, as_key, counted, key_set, plain, text_of
from cs_score.measures.registry import Divide, names, precision_recall_f1
from cs_score.statistics.units import UnitTable

SKIPPED_MARKS: Final = reading.BYTE_ORDER_MARK + "\x1e"
"""One of these is passed over at the start of a line: a byte order mark or a record separator (RFC 7464)."""

WRONG_VERDICT: Final = "wrong_verdict"


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


class Claims(AbstractsMode):
    """Claims by id; a claim's prediction, where there is one, has a list of entries for each document.

    Of a line of either file the values are kept as read: which of them are looked at depends on the other file.
    """

    name = "claims"
    columns = (
        *("abstract_tp", "abstract_fp", "abstract_fn", "sentence_tp", "sentence_fp", "sentence_fn"),
        *("labelled", "label_correct"),
    )
    headings = ("precision", "recall", "f1", "tp", "fp", "fn")
    rows = (
        *report_rows(("abstract", "sentence"), names("claims")[:6], (columns[:3], columns[3:6])),
        ReportRow("label_accuracy", names("claims")[6:]),
    )
    kinds = (*KINDS, WRONG_VERDICT)
    options = AnsweredOptions
    summary = "Score claim verification: documents, evidence with its label, verdict"
    files = (
        "Both hold one JSON object per line. Gold is as for scifact; predictions give a list of entries per document, "
        "and are matched by id."
    )

    def formula(self, sums: Sequence[Any], divide: Divide) -> tuple[Any, ...]:
        """The seven measures (section 5)."""
        abstract_tp, abstract_fp, abstract_fn, sentence_tp, sentence_fp, sentence_fn, labelled, label_correct = sums
        return (
            *precision_recall_f1(abstract_tp, abstract_tp + abstract_fp, abstract_tp + abstract_fn, divide),
            *precision_recall_f1(sentence_tp, sentence_tp + sentence_fp, sentence_tp + sentence_fn, divide),
            divide(label_correct, labelled),
        )

    def gold(self, source: Source) -> dict[Hashable, Claim] | reading.Converted:
        claims, is_of_data_set = _claims(source)
        if is_of_data_set:
            return reading.Converted(
                claims,
                "the rows of the Hugging Face data set have no evidence that is scored; cs-score scifact says how to "
                "convert them",
            )
        return claims

    def predictions(self, source: Source) -> dict[Hashable, Claim]:
        return _claims(source)[0]

    def paired(self, gold: Gold, predictions: Gold, options: Any) -> tuple[Iterable[Pair], Iterable[str]]:
        """By id; predictions for other claims are ignored."""
        pairs = [(claim.id, claim, predictions.content.get(key)) for key, claim in gold.content.items()]
        unpredicted = sum(key not in predictions.content for key in gold.content)
        notices: list[str] = []
        if options.answered_only:
            pairs = [pair for pair in pairs if pair[2] is not None]
            notices += left_out(predictions.name, len(pairs), len(gold.content), self.unit)
        elif unpredicted:
            of_all = f"{unpredicted} of {counted(len(gold.content), 'claim')}"
            notices.append(f"{predictions.name}: no prediction for {of_all}")
        listed = sum(claim.evidence == [] for claim in predictions.content.values())
        if listed:
            notices.append(f"{predictions.name}: {counted(listed, 'claim')} with evidence [], read as {{}}")
        return pairs, notices

    def mismatches(self, gold: Gold, predictions: Gold, units: Sequence[Unit], table: UnitTable) -> Iterator[str]:
        files = gold.name, predictions.name
        sums = dict(zip(table.columns, table.sums()))
        if units and not sums["labelled"]:
            yield f"{gold.name}: no claim has a label, so that label_accuracy is 0"
        if units and not any(cited_documents(unit.gold) for unit in units):
            if any(claim.cited is not UNSET for claim in predictions.content.values()):
                yield f"{gold.name}: no claim cites documents, where {predictions.name} does: are the files swapped?"
            elif not any(unit.gold.evidence for unit in units):
                yield f"{gold.name}: no claim has evidence or cites documents, so that only labels count"
        unmatched = [unit.id for unit in units if unit.prediction is None]
        if unmatched:
            ids = (claim.id for key, claim in predictions.content.items() if key not in gold.content)
            yield from mismatches.of_ids(unmatched, ids, files, "claim")
        first_units = units[: mismatches.MOST_COMPARED]
        sentences = [_sentences_by_document(unit) for unit in first_units if unit.gold.evidence and unit.prediction]
        yield from mismatches.of_documents(sentences, files, "document", list, list)
        labels, predicted = _labels_of(first_units)
        yield from mismatches.of_labels(labels, predicted, files)

    def row(self, unit: Unit) -> Row:
        gold, predicted = unit.gold, unit.prediction
        is_labelled = gold.label is not UNSET
        with self.at(unit) as at:
            documents = gold_documents(gold)
            cited = cited_documents(gold)
            if predicted is None:
                lost = sum(len(listed_sentences(each)) for sets in documents.values() for each in entries_of(sets))
                return 0, 0, len(cited), 0, 0, lost, int(is_labelled), 0
            wanted = document_numbers(cited)
            document_numbers(documents)
            at.file = unit.files[1]
            found = document_numbers(predicted_documents(predicted, documents))
        tp = fp = fn = 0
        for verdict in self.judged(unit):
            tp, fp, fn = tp + verdict.tp, fp + verdict.fp, fn + verdict.fn
        is_right = is_labelled and predicted.label is not UNSET and gold.label == predicted.label
        documents_found = len(wanted & found), len(found - wanted), len(wanted - found)
        return *documents_found, tp, fp, fn, int(is_labelled), int(is_right)

    def judged(self, unit: Unit) -> list[SetVerdict]:
        """How each evidence set of a claim that has a prediction fared (section 4), in gold order."""
        documents = gold_documents(unit.gold)
        given = predicted_documents(unit.prediction, documents)
        verdicts = []
        with self.at(unit) as at:
            for document, sets in documents.items():
                at.file, at.place["document"] = unit.files[0], document
                listed = [(reading.member(each, "label"), _sentence_set(each)) for each in entries_of(sets)]
                at.file = unit.files[1]
                entries = _Entries(given[document]) if listed and document in given else None
                verdicts += [_judge_set(document, label, sentences, entries) for label, sentences in listed]
        return verdicts

    def explained(self, unit: Unit, row: Row) -> Iterator[str]:
        """Documents, each gold evidence set and what it was compared with, the verdict."""
        gold, predicted = unit.gold, unit.prediction
        cited, wanted = cited_documents(gold), gold_documents(gold)
        yield f"claim {plain(unit.id)}"
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
        for verdict in () if predicted is None else self.judged(unit):
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

    def reread(self, prediction: Any) -> Claim:
        return claim_of(prediction)

    def gold_sets(self, unit: Unit) -> dict[str, list[Entry]]:
        return {
            document: [{"label": each.get("label"), "sentences": listed_sentences(each)} for each in entries_of(sets)]
            for document, sets in gold_documents(unit.gold).items()
            if sets
        }

    def gold_evidence(self, unit: Unit) -> Mapping[str, Any]:
        return gold_documents(unit.gold)

    def predicted_evidence(self, unit: Unit) -> Mapping[str, Any]:
        return predicted_documents(unit.prediction, gold_documents(unit.gold))

    def cited(self, unit: Unit) -> Iterable[object]:
        return cited_documents(unit.gold)

    def comparable(self, abstract: str) -> Hashable:
        """Return the number of a document, by which the scorer compares the ids of documents."""
        return _number(abstract)

    def evidence(self, unit: Unit) -> dict[str, Any]:
        given = {} if unit.prediction is None else predicted_documents(unit.prediction, {})
        return {document: _copied(entries) for document, entries in given.items()}

    def value(self, entries: Any) -> Any:
        return entries

    def compared(self, sets: Sequence[Entry], entries: Sequence[Entry]) -> Sequence[Entry | None]:
        """The first with its label."""
        first = {as_key(entry["label"]): entry for entry in reversed(entries)}
        return [first.get(as_key(each["label"])) for each in sets]

    def lacking(self, gold: Entry, sentences: list[object]) -> object:
        return {"label": gold["label"], "sentences": sentences}

    def extra(self, unit: Unit, gold: Mapping[str, Any], given: Iterable[str]) -> list[str]:
        known = _numbers((*_cited(unit.gold), *gold))
        return [document for document in given if _number(document) not in known]

    def faults(self, unit: Unit, measure: str) -> list[Fault]:
        found = super().faults(unit, measure)
        there = {*_numbers(self.evidence(unit)), *_numbers(self.gold_sets(unit))}
        only_cited = [number for number in _numbers(_cited(unit.gold)) if number not in there]
        found += (Fault(MISSED_ABSTRACT, str(number), None, []) for number in only_cited)
        wanted, label = unit.gold.label, _label(unit.prediction)
        if wanted not in (UNSET, label):
            found.append(Fault(WRONG_VERDICT, None, None if label is UNSET else label, wanted))
        return found

    def corrected(self, unit: Unit, faults: Iterable[Fault]) -> object:
        claim, of_evidence = self.written(unit.prediction) or {"id": unit.id}, []
        for fault in faults:
            if fault.kind == WRONG_VERDICT:
                claim = {**claim, "label": fault.gold}
            else:
                of_evidence.append(fault)
        return super().corrected(unit._replace(prediction=claim_of(claim)), of_evidence) if of_evidence else claim

    def confusions(self, unit: Unit) -> Iterator[Confusion]:
        yield from super().confusions(unit)
        wanted, label = unit.gold.label, _label(unit.prediction)
        if wanted is not UNSET:
            yield "claim", text_of(wanted), NONE if label is UNSET else text_of(label)

    def parts(self, unit: Unit, measure: str) -> Iterator[Part]:
        cited, found = _numbers(_cited(unit.gold)), _numbers(self.evidence(unit))
        for number in cited:
            yield Part("abstract", str(number), number in found, "cited" if number in found else None)
        for number in found:
            if number not in cited:
                yield Part("abstract", str(number), False, "not cited")
        verdicts = iter(() if unit.prediction is None else self.judged(unit))
        for document, sets in self.gold_sets(unit).items():
            for number, each in enumerate(sets, start=1):
                verdict = next(verdicts, None)
                shown = verdict and f"{verdict.tp} right, {verdict.fp} wrong, {verdict.fn} missed"
                is_right = verdict is not None and not verdict.fn
                is_there = verdict is not None and verdict.retrieved
                value = {"abstract": document, "set": number, "sentences": each["sentences"]}
                yield Part("evidence set", value, is_right, shown if is_there else None)
        wanted, label = unit.gold.label, _label(unit.prediction)
        if wanted is not UNSET:
            yield Part("label", wanted, label == wanted, None if label is UNSET else text_of(label))


def _sentences_by_document(unit: Unit) -> tuple[object, dict[str, Any], dict[str, Any]]:
    """Return the id of a claim, and the sentences of the first entry of each document in gold and as predicted."""
    found = []
    for evidence in (unit.gold.evidence, unit.prediction.evidence):
        by_document = {}
        for document, entries in evidence.items() if isinstance(evidence, dict) else ():
            entry = entries[0] if isinstance(entries, list) and entries else None
            sentences = entry.get("sentences") if isinstance(entry, dict) else None
            by_document[document] = sentences if isinstance(sentences, list) else []
        found.append(by_document)
    return unit.id, found[0], found[1]


def _labels_of(units: Iterable[Unit]) -> tuple[set[str], set[str]]:
    """Return the labels of gold, of claims and evidence sets, and those that are predicted."""
    gold: set[str] = set()
    predicted: set[str] = set()
    for unit in units:
        for claim, labels in ((unit.gold, gold), (unit.prediction, predicted)):
            if claim is None:
                continue
            if isinstance(claim.label, str):
                labels.add(claim.label)
            for entries in claim.evidence.values() if isinstance(claim.evidence, dict) else ():
                entry = entries[0] if isinstance(entries, list) and entries else None
                if isinstance(entry, dict) and isinstance(entry.get("label"), str):
                    labels.add(entry["label"])
    return gold, predicted


def claim_of(fields: reading.Object) -> Claim:
    """A line of either file. Raises InputError for one without an id."""
    label, evidence = fields.get("label", UNSET), fields.get("evidence", UNSET)
    return Claim(reading.identifier(fields, "id"), label, evidence, fields.get("cited_doc_ids", UNSET))


def _claims(source: Source) -> tuple[dict[Hashable, Claim], bool]:
    """Read the claims, keyed by comparable id, and say whether they are rows of the Hugging Face data set.

    For a repeated id the last line wins, in the first one's position and spelling.
    """
    claims: dict[Hashable, Claim] = {}
    is_of_data_set = False
    with reading.located() as at:
        for value in reading.json_lines(source, at, skipped_marks=SKIPPED_MARKS):
            fields = reading.as_object(value, "the line")
            claim = claim_of(fields)
            key = as_key(claim.id)
            if not claims:
                is_of_data_set = "evidence_doc_id" in fields and "evidence" not in fields
            claims[key] = claim._replace(id=claims[key].id) if key in claims else claim
    return claims, is_of_data_set


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
    return reading.as_list([] if gold.cited is UNSET else gold.cited, "'cited_doc_ids'")


def gold_documents(gold: Claim) -> Mapping[str, object]:
    """Gold evidence by document id as text; absent, null and empty are the same."""
    return reading.as_object(gold.evidence or {}, "'evidence'")


def predicted_documents(predicted: Claim, gold: Mapping[str, object]) -> Mapping[str, object]:
    """Return predicted evidence by document id as text.

    Null and an empty list are as good as absent unless a document of gold has sets.
    """
    evidence = predicted.evidence
    if evidence is UNSET or ((evidence is None or evidence == []) and not any(gold.values())):
        return {}
    return reading.as_object(predicted.evidence, "'evidence'")


def _label(claim: Claim | None) -> object:
    """The predicted verdict, null being one; UNSET where there is none."""
    return UNSET if claim is None else claim.label


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


def _copied(entries: object) -> object:
    if isinstance(entries, list):
        return [dict(each) if isinstance(each, dict) else each for each in entries]
    return entries


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


MODE: Final = Claims()
