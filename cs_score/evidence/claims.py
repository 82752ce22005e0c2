"""Scoring for claim verification: documents retrieved, evidence sentences with their label, and the claim's label.
Gold has evidence sets for a document, and a prediction has entries. Each of them is a label, such as SUPPORT, with
sentence numbers. A fault is a mistake in a prediction.

The numbers are those of the published scorer. Its code differs in places from its guide (see the user documentation).
That scorer does not read all entries of a file, and it accepts malformed entries that it does not read. Entries are
therefore checked only when they are compared.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import UNSET

from cs_score.base.display import number_with_noun
from cs_score.base.errors import InputError
from cs_score.base.sources import Source
from cs_score.evidence import reading
from cs_score.evidence.abstracts import KINDS, MISSED_ABSTRACT, AbstractsMode, Claim, Entry, sentence_keys
from cs_score.evidence.mismatches import MOST_COMPARED, DocumentsOfClaim, document_notices, id_notices, label_notices
from cs_score.evidence.mode import (
    NONE,
    AnsweredOptions,
    Confusion,
    Fault,
    PairedUnit,
    Part,
    ReportRow,
    Row,
    Unit,
    left_out_notices,
    paired_units_with_prediction,
    report_rows,
)
from cs_score.evidence.reading import InputContent, as_key, braced_text, short_text, text_of
from cs_score.measures import Divide, measure_names, precision_recall_f1
from cs_score.statistics.units import UnitTable

SKIPPED_MARKS: Final = reading.BYTE_ORDER_MARK + "\x1e"
"""Characters that may stand at the start of a line: the byte order mark and the record separator (RFC 7464)."""

WRONG_VERDICT: Final = "wrong_verdict"


class SetVerdict(NamedTuple):
    """The comparison of an evidence set of gold with the predicted entries for its document.

    `label` is the label of the set, and `gold_keys` are the keys of its sentences (`as_key`). `is_retrieved` says
    whether the document is predicted. The set is compared with the first predicted entry that has the same label.
    `entry_position` is the position of this entry, or None if there is none, and `predicted_keys` are the keys of its
    sentences. `right_count`, `wrong_count` and `missed_count` are the numbers of right, wrong and missed sentences.
    """

    document: str
    label: object
    gold_keys: frozenset[Hashable]
    is_retrieved: bool
    entry_position: int | None
    predicted_keys: frozenset[Hashable]
    right_count: int
    wrong_count: int

    @property
    def missed_count(self) -> int:
        """The number of sentences of the set that are missed."""
        return len(self.gold_keys) - self.right_count


class GoldSet(NamedTuple):
    """An evidence set of gold: its label, and the keys of its sentences (`as_key`), such as {"2", "5"}."""

    label: object
    keys: frozenset[Hashable]


class FirstEntry(NamedTuple):
    """The first predicted entry with a label: its position among the entries, and the keys of its sentences."""

    position: int
    keys: frozenset[Hashable]


class DocumentNumbers(NamedTuple):
    """The numbers of the documents that gold cites for a claim, and of the predicted documents: {"10"}, {"7", "10"}."""

    cited: set[str]
    predicted: set[str]


class ClaimCounts(NamedTuple):
    """The counts of a claim: of documents ("abstracts") and sentences that are right, wrong and missed (tp, fp, fn).

    `labelled` is 1 if gold has a label for the claim, and `label_correct` is 1 if this label is predicted.
    """

    abstract_tp: int
    abstract_fp: int
    abstract_fn: int
    sentence_tp: int
    sentence_fp: int
    sentence_fn: int
    labelled: int
    label_correct: int


class Claims(AbstractsMode):
    """Claims by id, with evidence sets in documents, and a label of the claim itself.

    The prediction for a claim, if there is one, has a list of entries for each document. An entry has a label and
    sentence numbers, as an evidence set of gold.
    """

    name = "claims"
    columns = ClaimCounts._fields
    headings = ("precision", "recall", "f1", "tp", "fp", "fn")
    rows = (
        *report_rows(("abstract", "sentence"), measure_names("claims")[:6], (columns[:3], columns[3:6])),
        ReportRow("label_accuracy", measure_names("claims")[6:]),
    )
    kinds = (*KINDS, WRONG_VERDICT)
    options = AnsweredOptions
    summary = "Score claim verification: documents, evidence with its label, verdict"
    files = (
        "Both hold one JSON object per line. Gold is as for scifact; predictions give a list of entries per document, "
        "and are matched by id."
    )

    def formula(self, sums: Sequence[Any], divide: Divide) -> tuple[Any, ...]:
        """Return precision, recall and F1 of abstracts (documents) and of sentences, then the label accuracy."""
        totals: Any = ClaimCounts(*sums)
        predicted_abstracts = totals.abstract_tp + totals.abstract_fp
        gold_abstracts = totals.abstract_tp + totals.abstract_fn
        predicted_sentences = totals.sentence_tp + totals.sentence_fp
        gold_sentences = totals.sentence_tp + totals.sentence_fn
        abstract_scores = precision_recall_f1(totals.abstract_tp, predicted_abstracts, gold_abstracts, divide)
        sentence_scores = precision_recall_f1(totals.sentence_tp, predicted_sentences, gold_sentences, divide)
        label_accuracy = divide(totals.label_correct, totals.labelled)
        return *abstract_scores, *sentence_scores, label_accuracy

    # ---- Files

    def gold(self, source: Source) -> dict[Hashable, Claim] | reading.ConvertedContent:
        """Return the claims of a gold file by the key of their id.

        If the file contains rows of the Hugging Face data set, which have no evidence, the claims are returned with a
        notice. Raises InputError for a malformed line.
        """
        file = _read_claims(source)
        if not file.has_hugging_face_rows:
            return file.claims
        notice = (
            "the rows of the Hugging Face data set have no evidence that is scored; cs-score scifact says how to "
            "convert them"
        )
        return reading.ConvertedContent(file.claims, notice)

    def predictions(self, source: Source) -> dict[Hashable, Claim]:
        """Return the claims of a predictions file by the key of their id. Raises InputError for a malformed line."""
        return _read_claims(source).claims

    def pair_units(
        self, gold: InputContent, predictions: InputContent, options: Any
    ) -> tuple[Iterable[PairedUnit], Iterable[str]]:
        """Return each claim of gold with its prediction, and the notices for the user.

        The prediction is None if it is missing. Predictions for claims that are not in gold are ignored.
        """
        # Ids are matched by their keys, because 5 and 5.0 are two spellings of the same id.
        pairs = [(claim.id, claim, predictions.content.get(key)) for key, claim in gold.content.items()]
        answered_pairs = paired_units_with_prediction(pairs)
        if options.answered_only:
            notices = left_out_notices(predictions.name, len(answered_pairs), len(pairs), self.unit)
            pairs = answered_pairs
        else:
            notices = _missing_prediction_notices(predictions.name, len(answered_pairs), len(pairs))
        return pairs, notices + _empty_list_notices(predictions)

    def mismatches(
        self, gold: InputContent, predictions: InputContent, units: Sequence[Unit], table: UnitTable
    ) -> Iterator[str]:
        """Yield notices about the files that explain low scores.

        Labels or citations may be missing in gold, and the predictions may spell ids or labels differently than gold.
        """
        yield from self._missing_gold_notices(gold, predictions, units, table)
        yield from _claim_id_notices(gold, predictions, units)
        yield from _spelling_notices(units[:MOST_COMPARED], (gold.name, predictions.name))

    def _missing_gold_notices(
        self, gold: InputContent, predictions: InputContent, units: Sequence[Unit], table: UnitTable
    ) -> Iterator[str]:
        """Yield a notice if no claim of gold has a label, and one if no claim cites documents.

        `units` are the claims, and `table` contains their counts.
        """
        if not units:
            return
        totals = dict(zip(table.columns, table.sums()))
        if not totals["labelled"]:
            yield f"{gold.name}: no claim has a label, so that label_accuracy is 0"
        has_cited_documents = any(cited_documents(unit.gold) for unit in units)
        if has_cited_documents:
            return
        predictions_have_citations = any(claim.citations is not UNSET for claim in predictions.content.values())
        has_evidence = any(unit.gold.evidence for unit in units)
        if predictions_have_citations:  # only gold should cite documents
            yield f"{gold.name}: no claim cites documents, where {predictions.name} does: are the files swapped?"
        elif not has_evidence:
            yield f"{gold.name}: no claim has evidence or cites documents, so that only labels count"

    # ---- Scoring

    def row(self, unit: Unit) -> Row:
        """Return the counts of a claim. If it has no prediction, all documents and sentences of gold are missed.

        An abstract is a document. The right documents are those cited by gold.
        Raises InputError for a document id that is not a number, and for malformed evidence that is compared.
        """
        is_labelled = unit.gold.label is not UNSET
        if unit.prediction is None:
            document_count, sentence_count = self._count_all_missed(unit)
            return ClaimCounts(
                abstract_tp=0,
                abstract_fp=0,
                abstract_fn=document_count,
                sentence_tp=0,
                sentence_fp=0,
                sentence_fn=sentence_count,
                labelled=int(is_labelled),
                label_correct=0,
            )
        numbers = self._read_document_numbers(unit)
        verdicts = self.judge_sets(unit)
        return ClaimCounts(
            abstract_tp=len(numbers.cited & numbers.predicted),
            abstract_fp=len(numbers.predicted - numbers.cited),
            abstract_fn=len(numbers.cited - numbers.predicted),
            sentence_tp=sum([verdict.right_count for verdict in verdicts]),
            sentence_fp=sum([verdict.wrong_count for verdict in verdicts]),
            sentence_fn=sum([verdict.missed_count for verdict in verdicts]),
            labelled=int(is_labelled),
            label_correct=int(is_labelled and _has_right_label(unit.gold, unit.prediction)),
        )

    def _read_document_numbers(self, unit: Unit) -> DocumentNumbers:
        """Return the numbers of the documents that gold cites for a claim, and of the predicted documents.

        Raises InputError, naming the file, for an id that is not a number. Documents with evidence in gold are checked
        as well, because the published scorer would refuse such ids.
        """
        with self.error_location(unit) as location:
            location.file = unit.gold_file  # errors name this file, until another one is set
            gold_evidence = gold_evidence_by_document(unit.gold)
            cited_numbers = document_numbers(cited_documents(unit.gold))
            document_numbers(gold_evidence)  # only raises InputError
            location.file = unit.predictions_file
            predicted_numbers = document_numbers(predicted_evidence_by_document(unit.prediction, gold_evidence))
        return DocumentNumbers(cited_numbers, predicted_numbers)

    def _count_all_missed(self, unit: Unit) -> tuple[int, int]:
        """Return how many documents and how many sentences are missed if a claim has no prediction.

        All documents that gold cites for the claim are missed, and all sentences of its evidence sets. A sentence
        counts as often as it is listed. Raises InputError for malformed evidence.
        """
        with self.error_location(unit):
            sets_by_document = gold_evidence_by_document(unit.gold)
            document_count = len(cited_documents(unit.gold))
            sentence_count = sum([_count_listed_sentences(sets) for sets in sets_by_document.values()])
        return document_count, sentence_count

    def judge_sets(self, unit: Unit) -> list[SetVerdict]:
        """Return the verdict on each evidence set of a claim that has a prediction, in the order of gold.

        A set is compared with the first predicted entry that has the same document and label. Later entries are not
        read. Raises InputError for a malformed set, and for a malformed entry among those that are read.
        """
        gold_evidence = gold_evidence_by_document(unit.gold)
        predicted_evidence = predicted_evidence_by_document(unit.prediction, gold_evidence)
        verdicts = []
        with self.error_location(unit) as location:
            for document, sets in gold_evidence.items():
                location.place["document"] = document
                # An error in reading names the file that is being read: first the gold file, then the predictions.
                location.file = unit.gold_file
                gold_sets = _read_gold_sets(sets)
                location.file = unit.predictions_file
                verdicts += _judge_sets_of_document(document, gold_sets, predicted_evidence)
        return verdicts

    def explain_unit(self, unit: Unit, row: Row) -> Iterator[str]:
        """Yield the lines that explain the score of a claim, with its documents, gold evidence sets and label.

        The counts in `row` are not needed, because the claim is compared again.
        """
        cited = reading.list_text(cited_documents(unit.gold))
        documents = reading.list_text(gold_evidence_by_document(unit.gold))
        yield f"claim {short_text(unit.id)}"
        yield f"  gold       cited {cited}, evidence in {documents}"
        if unit.prediction is None:
            yield "  predicted  nothing: every cited document and every listed gold sentence is missed"
        else:
            yield from self._explain_prediction(unit)
        yield ""
        yield _explain_label(unit.gold, unit.prediction)

    def _explain_prediction(self, unit: Unit) -> Iterator[str]:
        """Yield the lines about the predicted documents of a claim, and a block of lines for each gold set.

        The claim has already been scored, so all document ids are known to be numbers.
        """
        predicted_documents = predicted_evidence_by_document(unit.prediction, gold_evidence_by_document(unit.gold))
        cited_numbers = document_numbers(cited_documents(unit.gold))
        yield f"  predicted  documents {reading.list_text(predicted_documents)}"
        yield from _explain_documents(cited_numbers, document_numbers(predicted_documents))
        for verdict in self.judge_sets(unit):
            yield ""
            yield from _explain_set(verdict)

    # ---- Claims as the shared rules see them

    def prediction_from_json(self, prediction: Any) -> Claim:
        """Return the prediction for a claim from the JSON object of its line. Raises InputError if it has no id."""
        return parse_claim(prediction)

    def gold_sets(self, unit: Unit) -> dict[str, list[Entry]]:
        """Return the evidence sets of gold for a claim by document; documents without sets are left out."""
        sets_by_document: dict[str, list[Entry]] = {}
        for document, sets in gold_evidence_by_document(unit.gold).items():
            for gold_set in iterate_entries(sets or []):
                entry = {"label": gold_set.get("label"), "sentences": listed_sentences(gold_set)}
                sets_by_document.setdefault(document, []).append(entry)
        return sets_by_document

    def gold_evidence(self, unit: Unit) -> Mapping[str, Any]:
        """Return the evidence of gold for a claim by document, in the form of the file."""
        return gold_evidence_by_document(unit.gold)

    def predicted_evidence(self, unit: Unit) -> Mapping[str, Any]:
        """Return the predicted evidence for a claim by document, in the form of the file."""
        return predicted_evidence_by_document(unit.prediction, gold_evidence_by_document(unit.gold))

    def scored_citations(self, unit: Unit) -> Iterable[object]:
        """Return the documents that a claim of gold cites, with which predicted documents are compared."""
        return cited_documents(unit.gold)

    def abstract_key(self, abstract: str) -> Hashable:
        """Return the number by which the scorer compares a document: "10" both for "10" and for "010"."""
        return _document_key(abstract)

    def predicted_entries(self, unit: Unit) -> dict[str, Any]:
        """Return the predicted entries for a claim by document, as copies that the caller may change.

        If the value for a document is not a list, it is returned unchanged.
        """
        if unit.prediction is None:
            return {}
        # Passing no gold sets makes null and an empty list count as no evidence instead of raising an error.
        predicted = predicted_evidence_by_document(unit.prediction, {})
        return {document: _copy_entries(entries) for document, entries in predicted.items()}

    def entries_to_json(self, entries: Any) -> Any:
        """Return the entries of a document unchanged, since files have the same list of entries."""
        return entries

    def entry_for_each_set(self, sets: Sequence[Entry], entries: Sequence[Entry]) -> Sequence[Entry | None]:
        """Return the predicted entry that each gold set of a document is compared with.

        It is the first entry that has the same label as the set, or None if there is none.
        """
        first_entry_by_label: dict[Hashable, Entry] = {}
        for entry in entries:
            first_entry_by_label.setdefault(as_key(entry["label"]), entry)
        return [first_entry_by_label.get(as_key(gold_set["label"])) for gold_set in sets]

    def missing_to_json(self, gold_set: Entry, sentences: list[object]) -> object:
        """Return the missing sentences of a gold set and its label: `{"label": "SUPPORT", "sentences": [2]}`."""
        return {"label": gold_set["label"], "sentences": sentences}

    # ---- Faults, confusions and parts

    def extra_abstracts(self, unit: Unit, gold: Mapping[str, Any], predicted: Iterable[str]) -> list[str]:
        """Return the predicted documents that are wrong: gold neither cites them nor has evidence in them."""
        gold_keys = _document_keys([*_cited_unless_malformed(unit.gold), *gold])
        return [document for document in predicted if _document_key(document) not in gold_keys]

    def faults(self, unit: Unit, measure: str) -> list[Fault]:
        """Return the faults of the prediction for a claim: in its evidence, missed citations, and a wrong verdict."""
        faults = super().faults(unit, measure)
        faults += self._missed_citation_faults(unit)
        faults += _verdict_faults(unit)
        return faults

    def _missed_citation_faults(self, unit: Unit) -> list[Fault]:
        """Return a fault for each document of a claim that gold cites without evidence and that is not predicted.

        A document with evidence in gold is left out, because its missing evidence is already a fault. The kinds of
        faults refer to a document as an abstract, as in the SciFact task.
        """
        predicted_keys = _document_keys(self.predicted_entries(unit))
        evidence_keys = _document_keys(self.gold_sets(unit))
        faults = []
        for document_key in _document_keys(_cited_unless_malformed(unit.gold)):
            if document_key not in predicted_keys and document_key not in evidence_keys:
                faults.append(Fault(kind=MISSED_ABSTRACT, part=str(document_key), predicted=None, gold=[]))
        return faults

    def correct_faults(self, unit: Unit, faults: Iterable[Fault]) -> object:
        """Return the prediction for a claim after the correction of these faults, as a JSON object."""
        claim_fields = self.prediction_to_json(unit.prediction) or {"id": unit.id}
        evidence_faults = []
        for fault in faults:
            if fault.kind == WRONG_VERDICT:
                claim_fields["label"] = fault.gold
            else:
                evidence_faults.append(fault)
        if not evidence_faults:
            return claim_fields
        unit_with_corrected_label = unit._replace(prediction=parse_claim(claim_fields))
        return super().correct_faults(unit_with_corrected_label, evidence_faults)

    def confusions(self, unit: Unit) -> Iterator[Confusion]:
        """Yield the labels of a claim's abstracts in gold and as predicted, then the labels of the claim itself.

        The last item is `("claim", label of gold, predicted label)`.
        """
        yield from super().confusions(unit)
        gold_label = unit.gold.label
        predicted_label = _predicted_label(unit.prediction)
        if gold_label is not UNSET:
            predicted_text = NONE if predicted_label is UNSET else text_of(predicted_label)
            yield "claim", text_of(gold_label), predicted_text

    def parts(self, unit: Unit, measure: str) -> Iterator[Part]:
        """Yield each document of a claim, each evidence set of gold, and the claim's label, with their judgments."""
        yield from self._document_parts(unit)
        yield from self._evidence_set_parts(unit)
        gold_label = unit.gold.label
        if gold_label is UNSET:
            return
        predicted_label = _predicted_label(unit.prediction)
        judgment = None if predicted_label is UNSET else text_of(predicted_label)
        yield Part(noun="label", value=gold_label, is_right=predicted_label == gold_label, judgment=judgment)

    def _document_parts(self, unit: Unit) -> Iterator[Part]:
        """Yield each document that gold cites for a claim, then all other predicted documents, with their judgments.

        Reports call a document an abstract. The key of a document is its number, which is the same for 5 and "5". A
        cited document that is not predicted has no judgment.
        """
        cited_keys = _document_keys(_cited_unless_malformed(unit.gold))
        predicted_keys = _document_keys(self.predicted_entries(unit))
        for document_key in cited_keys:
            document = str(document_key)
            if document_key in predicted_keys:
                yield Part(noun="abstract", value=document, is_right=True, judgment="cited")
            else:
                yield Part(noun="abstract", value=document, is_right=False, judgment=None)
        for document_key in predicted_keys:
            if document_key not in cited_keys:
                yield Part(noun="abstract", value=str(document_key), is_right=False, judgment="not cited")

    def _evidence_set_parts(self, unit: Unit) -> Iterator[Part]:
        """Yield each evidence set of gold for a claim; its judgment counts the right, wrong and missed sentences.

        A set is right if none of its sentences is missed. Its judgment is None if its document is not predicted or if
        the claim has no prediction.
        """
        values = self._values_of_sets(unit)
        verdicts: Sequence[SetVerdict | None] = [None] * len(values)  # for a claim without a prediction
        if unit.prediction is not None:
            verdicts = self.judge_sets(unit)  # in the same order as `values`
        for value, verdict in zip(values, verdicts):
            is_right = verdict is not None and verdict.missed_count == 0
            judgment = None
            if verdict is not None and verdict.is_retrieved:
                judgment = f"{verdict.right_count} right, {verdict.wrong_count} wrong, {verdict.missed_count} missed"
            yield Part(noun="evidence set", value=value, is_right=is_right, judgment=judgment)

    def _values_of_sets(self, unit: Unit) -> list[dict[str, Any]]:
        """Return a value that identifies each evidence set: `[{"abstract": "11", "set": 1, "sentences": [2, 5]}]`."""
        values = []
        for document, sets in self.gold_sets(unit).items():
            for number, gold_set in enumerate(sets, start=1):
                values.append({"abstract": document, "set": number, "sentences": gold_set["sentences"]})
        return values


# ---- Reading claims


def _missing_prediction_notices(predictions_file: str, answered_count: int, claim_count: int) -> list[str]:
    """Return a list with a notice if claims have no prediction: "run.jsonl: no prediction for 2 of 9 claims".

    The list is empty if `answered_count`, the number of claims with a prediction, is the number of all claims.
    """
    missing_count = claim_count - answered_count
    if not missing_count:
        return []
    return [f"{predictions_file}: no prediction for {missing_count:,} of {number_with_noun(claim_count, 'claim')}"]


def _empty_list_notices(predictions: InputContent) -> list[str]:
    """Return the notice about predictions whose evidence is an empty list: "run.jsonl: 3 claims with evidence [], ...".

    The result is a list of at most one notice, and is empty if there are no such predictions.
    """
    claims_with_list = [claim for claim in predictions.content.values() if claim.evidence == []]
    if not claims_with_list:
        return []
    claims_in_words = number_with_noun(len(claims_with_list), "claim")
    return [f"{predictions.name}: {claims_in_words} with evidence [], read as {{}}"]


def _claim_id_notices(gold: InputContent, predictions: InputContent, units: Iterable[Unit]) -> Iterator[str]:
    """Yield a notice if no prediction is found for a claim because ids are texts in one file and numbers in the other.

    `units` are all claims of gold.
    """
    ids_without_prediction = [unit.id for unit in units if unit.prediction is None]
    if ids_without_prediction:
        unknown_ids = [claim.id for key, claim in predictions.content.items() if key not in gold.content]
        yield from id_notices(ids_without_prediction, unknown_ids, (gold.name, predictions.name), "claim")


def _spelling_notices(units: Sequence[Unit], files: tuple[str, str]) -> Iterator[str]:
    """Yield notices about sentence numbers, ids of documents and labels that the predictions spell differently.

    `units` are the claims that are compared, and `files` are the names of the gold file and of the predictions file.
    """
    answered_units = [unit for unit in units if unit.prediction is not None]
    claims = [_documents_of_claim(unit) for unit in answered_units if unit.gold.evidence]
    yield from document_notices(claims, files, "document")
    gold_labels = _labels_of([unit.gold for unit in units])
    predicted_labels = _labels_of([unit.prediction for unit in answered_units])
    yield from label_notices(gold_labels, predicted_labels, files)


def _verdict_faults(unit: Unit) -> list[Fault]:
    """Return the fault of a claim with a wrong or missing predicted label, in a list of length 1.

    The list is empty if the label is right, and if gold has no label for the claim.
    """
    gold_label = unit.gold.label
    predicted_label = _predicted_label(unit.prediction)
    has_right_label = gold_label == predicted_label
    if gold_label is UNSET or has_right_label:
        return []
    shown_label = None if predicted_label is UNSET else predicted_label
    return [Fault(kind=WRONG_VERDICT, part=None, predicted=shown_label, gold=gold_label)]


class _ClaimsFile(NamedTuple):
    """The claims of a file by the key of their id, and whether they are rows of the Hugging Face data set."""

    claims: dict[Hashable, Claim]
    has_hugging_face_rows: bool


def parse_claim(fields: reading.Object) -> Claim:
    """Return the claim in a line of gold or predictions. Only its id is checked.

    Raises InputError if the line has no id.
    """
    return Claim(
        id=reading.identifier(fields, "id"),
        label=fields.get("label", UNSET),
        evidence=fields.get("evidence", UNSET),
        citations=fields.get("cited_doc_ids", UNSET),
    )


def _read_claims(source: Source) -> _ClaimsFile:
    """Return the claims of a file of gold or of predictions, and whether they are rows of the Hugging Face data set.

    The rows are recognised by the first line. If several lines have the same id, the claim of the last of these lines
    is kept, at the position of the first. Raises InputError for a malformed line.
    """
    claims: dict[Hashable, Claim] = {}
    has_hugging_face_rows = False
    with reading.ErrorLocation() as location:
        for value in reading.json_lines(source, location, skipped_marks=SKIPPED_MARKS):
            fields = reading.as_object(value, "the line")
            claim = parse_claim(fields)
            is_first_line = not claims
            if is_first_line:
                has_hugging_face_rows = _is_hugging_face_row(fields)
            key = as_key(claim.id)
            if key in claims:
                claim = claim._replace(id=claims[key].id)  # 5 and 5.0 are spellings of the same id
            claims[key] = claim
    return _ClaimsFile(claims, has_hugging_face_rows)


def _is_hugging_face_row(fields: reading.Object) -> bool:
    """Return whether the JSON object of a line is a row of the Hugging Face data set, which has no key `evidence`."""
    return "evidence_doc_id" in fields and "evidence" not in fields


def cited_documents(gold: Claim) -> list[object]:
    """Return the documents that a claim of gold cites; there are none if its line has no key `cited_doc_ids`.

    Raises InputError if the value of the key is not a list.
    """
    if gold.citations is UNSET:
        return []
    return reading.as_list(gold.citations, "'cited_doc_ids'")


def _cited_unless_malformed(gold: Claim) -> Iterable[object]:
    """Return the documents that a claim of gold cites, or an empty tuple if the line does not have a list of them.

    The scorer does not read the citations of a claim without a prediction, so that they may be malformed.
    """
    try:
        return cited_documents(gold)
    except InputError:
        return ()


def gold_evidence_by_document(gold: Claim) -> Mapping[str, object]:
    """Return the evidence of a claim of gold by document: `{"11": [{"label": "SUPPORT", "sentences": [2]}]}`.

    The published scorer treats a missing key, null, 0, "" and [] as an empty object, and so does this function. Raises
    InputError for any other value that is not an object.
    """
    if not gold.evidence:
        return {}
    return reading.as_object(gold.evidence, "'evidence'")


def predicted_evidence_by_document(prediction: Claim, gold_evidence: Mapping[str, object]) -> Mapping[str, object]:
    """Return the predicted evidence for a claim by document: `{"11": [{"label": "SUPPORT", "sentences": [2]}]}`.

    The result is empty if the line has no evidence. Null and an empty list also count as empty, unless gold has
    evidence sets for the claim. `gold_evidence` is the evidence of gold by document. Raises InputError for any other
    value that is not an object.
    """
    evidence = prediction.evidence
    if evidence is UNSET:
        return {}
    is_null_or_empty_list = evidence is None or evidence == []
    has_gold_sets = any(gold_evidence.values())
    if is_null_or_empty_list and not has_gold_sets:
        return {}
    return reading.as_object(evidence, "'evidence'")


def _predicted_label(claim: Claim | None) -> object:
    """Return the predicted label of a claim, which may be null. Return UNSET if there is no label or no prediction."""
    return UNSET if claim is None else claim.label


def _has_right_label(gold: Claim, prediction: Claim) -> bool:
    """Return whether a claim has a predicted label that equals its label in gold."""
    return prediction.label is not UNSET and gold.label == prediction.label


def iterate_entries(value: object) -> Iterator[reading.Object]:
    """Yield the entries of evidence for a document, given its JSON value.

    An entry is checked only just before it is yielded, so that later entries may be malformed. Raises InputError for
    anything but a list of objects.
    """
    for entry in reading.as_list(value, "the evidence of the document"):
        yield reading.as_object(entry, "an entry")


def listed_sentences(entry: reading.Object) -> list[object]:
    """Return the sentences of an entry as listed in the file. Raises InputError if they are not a list."""
    return reading.as_list(reading.member(entry, "sentences"), "'sentences'")


def _count_listed_sentences(sets: object) -> int:
    """Return the number of sentences in the evidence sets of a document, given their JSON value.

    A sentence counts as often as it is listed. Raises InputError for a malformed set.
    """
    return sum([len(listed_sentences(gold_set)) for gold_set in iterate_entries(sets)])


def _sentence_keys_of(entry: reading.Object) -> frozenset[Hashable]:
    """Return the keys of the sentences of an entry. Raises InputError for anything but a list of numbers or texts."""
    return sentence_keys(reading.sentences_of(entry))


def _read_gold_sets(value: object) -> list[GoldSet]:
    """Return the evidence sets of gold for a document, given its JSON value.

    Raises InputError for a malformed set.
    """
    gold_sets = []
    for fields in iterate_entries(value):
        label = reading.member(fields, "label")
        gold_sets.append(GoldSet(label, _sentence_keys_of(fields)))
    return gold_sets


def _copy_entries(entries: object) -> object:
    """Return a copy of the predicted entries for a document, which should be a list of objects.

    If the list or one of the entries has another type, it is returned unchanged.
    """
    if not isinstance(entries, list):
        return entries
    return [dict(entry) if isinstance(entry, dict) else entry for entry in entries]


# ---- Document ids


def document_numbers(ids: Iterable[object]) -> set[str]:
    """Return the numbers of documents as text: ["010", 7] -> {"10", "7"}.

    Python's `int` converts each id. Raises InputError for an id that `int` cannot convert.
    """
    numbers = set()
    for document_id in ids:
        try:
            numbers.add(str(int(document_id)))  # type: ignore[call-overload]  # the errors of int are caught below
        except (TypeError, ValueError, OverflowError):
            place = f"document {short_text(document_id)}"
            raise InputError("document id is not an integer", place=place) from None
    return numbers


def _document_key(document: object) -> object:
    """Return the number of a document, such as "10" for "010", or the text of its id if the id is not a number."""
    try:
        numbers = document_numbers([document])  # a set with a single number
    except InputError:
        return text_of(document)
    return numbers.pop()


def _document_keys(documents: Iterable[object]) -> dict[object, None]:
    """Return the distinct numbers of documents in their order, as the keys of a dictionary with values of None."""
    return dict.fromkeys([_document_key(document) for document in documents])


# ---- Judging evidence sets


class _PredictedEntries:
    """The predicted entries for a document, which are read only as far as they are needed.

    The published scorer reads entries until it finds the label of a gold set, and accepts malformed entries after that.
    """

    def __init__(self, value: object) -> None:
        """Prepare to read the entries in the JSON value of a document.

        Raises InputError if the value is an object, as in files of the scifact task.
        """
        if isinstance(value, dict):
            raise InputError(
                "one object where a list of entries is expected",
                remedy="files in this shape are scored with cs-score scifact",
            )
        self._value = value
        # An iterator over the entries with their positions, which resumes where the previous loop over it stopped.
        self._unread_entries = enumerate(iterate_entries(value))
        self._first_entry_by_label: dict[Hashable, tuple[int, reading.Object]] = {}
        self._keys_by_position: dict[int, frozenset[Hashable]] = {}

    def first_with_label(self, label: object) -> FirstEntry | None:
        """Return the first entry with a label, or None if no entry has the label.

        Entries are read until one with the label is found. Raises InputError if an entry that is read is malformed.
        """
        is_nan = label != label  # NaN equals nothing
        if is_nan:
            return None
        label_key = as_key(label)
        if label_key not in self._first_entry_by_label:  # the entries read so far do not have the label
            self._read_up_to_label(label_key)
        if label_key not in self._first_entry_by_label:  # no entry has it
            return None
        position, entry = self._first_entry_by_label[label_key]
        if position not in self._keys_by_position:  # keys are computed once for each entry
            self._keys_by_position[position] = _sentence_keys_of(entry)
        return FirstEntry(position, self._keys_by_position[position])

    def _read_up_to_label(self, label_key: Hashable) -> None:
        """Read further entries, up to the first one whose label has this key, or to the last one if there is none.

        Raises InputError for a malformed entry.
        """
        for position, entry in self._unread_entries:
            key_of_entry = as_key(reading.member(entry, "label"))
            self._first_entry_by_label.setdefault(key_of_entry, (position, entry))
            if key_of_entry == label_key:
                return

    @functools.cached_property
    def sentence_count(self) -> int:
        """The number of sentences of all entries. A sentence counts as often as it is listed."""
        return sum([len(listed_sentences(entry)) for entry in iterate_entries(self._value)])


def _judge_sets_of_document(
    document: str, gold_sets: Sequence[GoldSet], predicted_value_by_document: Mapping[str, object]
) -> list[SetVerdict]:
    """Return the verdict on each evidence set of gold for a document.

    `predicted_value_by_document` contains the JSON value of each predicted document. Entries are read one by one, and
    only as far as the labels of the sets require. Raises InputError if an entry that is read is malformed.
    """
    entries = None
    if gold_sets and document in predicted_value_by_document:
        entries = _PredictedEntries(predicted_value_by_document[document])
    return [_judge_set(document, gold_set, entries) for gold_set in gold_sets]


def _judge_set(document: str, gold_set: GoldSet, entries: _PredictedEntries | None) -> SetVerdict:
    """Return the verdict on an evidence set of gold for a document.

    `entries` are the predicted entries for the document of the set, or None if the document is not predicted. If no
    entry has the label, the sentences of all entries are wrong. Raises InputError for a malformed entry.
    """
    first_entry = None if entries is None else entries.first_with_label(gold_set.label)
    if first_entry is None:
        return _verdict_without_entry(document, gold_set, entries)
    right_count = len(gold_set.keys & first_entry.keys)
    return SetVerdict(
        document=document,
        label=gold_set.label,
        gold_keys=gold_set.keys,
        is_retrieved=True,
        entry_position=first_entry.position,
        predicted_keys=first_entry.keys,
        right_count=right_count,
        wrong_count=len(first_entry.keys) - right_count,
    )


def _verdict_without_entry(document: str, gold_set: GoldSet, entries: _PredictedEntries | None) -> SetVerdict:
    """Return the verdict on an evidence set of gold whose label is not predicted: all its sentences are missed.

    The sentences of all predicted `entries` for the document count as wrong. `entries` is None if the document is not
    predicted.
    """
    return SetVerdict(
        document=document,
        label=gold_set.label,
        gold_keys=gold_set.keys,
        is_retrieved=entries is not None,
        entry_position=None,
        predicted_keys=frozenset(),
        right_count=0,
        wrong_count=0 if entries is None else entries.sentence_count,
    )


# ---- Explaining a claim


def _explain_documents(cited_numbers: set[str], predicted_numbers: set[str]) -> Iterator[str]:
    """Yield three lines that list the right, the wrong and the missed documents.

    `cited_numbers` are the numbers of the documents that gold cites, and `predicted_numbers` are the numbers of the
    predicted documents.
    """
    numbers_by_outcome = {
        "right (tp)": cited_numbers & predicted_numbers,
        "wrong (fp)": predicted_numbers - cited_numbers,
        "missed (fn)": cited_numbers - predicted_numbers,
    }
    for outcome, numbers in numbers_by_outcome.items():
        sorted_numbers = sorted(numbers, key=int)
        yield f"  documents {outcome}: {len(numbers)}  {reading.list_text(sorted_numbers)}"


def _explain_set(verdict: SetVerdict) -> Iterator[str]:
    """Yield three lines that explain the verdict on an evidence set: the set, the predicted entry, the counts."""
    gold_set = f"{short_text(verdict.label)} {braced_text(verdict.gold_keys)}"
    yield f"document {short_text(verdict.document)}, gold set {gold_set}"
    yield f"  predicted  {_describe_predicted_entry(verdict)}"
    yield f"  sentences  tp {verdict.right_count}, fp {verdict.wrong_count}, fn {verdict.missed_count}"


def _describe_predicted_entry(verdict: SetVerdict) -> str:
    """Return a description of the predicted entry that an evidence set was compared with, or why there is none.

    An example is "entry 1, the first with this label: {2, 5}".
    """
    if not verdict.is_retrieved:
        return "the document is not predicted"
    if verdict.entry_position is None:
        return f"no predicted entry has this label, so every listed sentence ({verdict.wrong_count}) is wrong"
    number = verdict.entry_position + 1
    return f"entry {number}, the first with this label: {braced_text(verdict.predicted_keys)}"


def _explain_label(gold: Claim, prediction: Claim | None) -> str:
    """Return a line that shows the label of a claim in gold, the predicted label, and whether they are equal."""
    if gold.label is UNSET:
        return "label: not counted, gold has none"
    if prediction is None or prediction.label is UNSET:
        return f"label: wrong, gold {short_text(gold.label)} and nothing predicted"
    outcome = "correct" if gold.label == prediction.label else "wrong"
    return f"label: {outcome}, gold {short_text(gold.label)}, predicted {short_text(prediction.label)}"


# ---- Labels and sentences for notices about different spellings


def _documents_of_claim(unit: Unit) -> DocumentsOfClaim:
    """Return the documents of a claim in gold and in the prediction, each with the sentences of its first entry."""
    return DocumentsOfClaim(
        unit.id, _sentences_of_first_entries(unit.gold.evidence), _sentences_of_first_entries(unit.prediction.evidence)
    )


def _sentences_of_first_entries(evidence: object) -> dict[str, list[object]]:
    """Return the sentences of the first entry for each document: `{"11": [2, 5]}`.

    The list of a document is empty if its first entry is malformed.
    """
    sentences_by_document: dict[str, list[object]] = {}
    if isinstance(evidence, dict):
        for document, entries in evidence.items():
            sentences = _first_entry(entries).get("sentences")
            sentences_by_document[document] = sentences if isinstance(sentences, list) else []
    return sentences_by_document


def _labels_of(claims: Iterable[Claim]) -> set[str]:
    """Return the labels of claims, together with the label of the first entry for each of their documents.

    Labels that are not texts are left out.
    """
    labels: list[object] = []
    for claim in claims:
        labels.append(claim.label)
        if isinstance(claim.evidence, dict):
            labels += [_first_entry(entries).get("label") for entries in claim.evidence.values()]
    return {label for label in labels if isinstance(label, str)}


def _first_entry(entries: object) -> dict[str, Any]:
    """Return the first entry of evidence for a document, given the document's JSON value.

    Return an empty object if there is no entry or if the first entry is malformed.
    """
    if isinstance(entries, list) and entries and isinstance(entries[0], dict):
        return entries[0]
    return {}


MODE: Final = Claims()
