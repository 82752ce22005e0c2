"""Scoring for the three stages of SciFact's pipeline: documents retrieved, sentences selected, labels predicted.
Gold has evidence sets (gold sets) for the documents of a claim: a label, such as SUPPORT, and sentences that are enough
evidence together.

The numbers are those of the public evaluators of the stages. Predictions are in the form of the stage or in the form of
the leaderboard, which contains the predictions of all stages.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

from cs_score.base.errors import InputError
from cs_score.base.sources import Source
from cs_score.evidence import reading
from cs_score.evidence.abstracts import sentence_keys
from cs_score.evidence.mode import Confusion, Fault, Mode, PairedUnit, Part, ReportRow, Row, Unit
from cs_score.evidence.reading import InputContent, as_key, quoted, short_text, text_of
from cs_score.evidence.scifact import (
    NOT_ENOUGH_INFO,
    LabelledSentences,
    SciFactOptions,
    count_sentences,
    is_empty_evidence,
    judgment_of_set,
    pair_claims,
    read_labelled_sets,
    select_scored_claims,
)
from cs_score.measures import Divide, Ratio, precision_recall_f1

LABELS: Final = ("CONTRADICT", "NOT_ENOUGH_INFO", "SUPPORT")
"""The labels of the stage `label`, in the order of its measures."""

MISSED_DOCUMENT: Final = "missed_document"
EXTRA_SENTENCE: Final = "extra_sentence"
INCOMPLETE_RATIONALE: Final = "incomplete_rationale"
MISSED_RATIONALE: Final = "missed_rationale"
WRONG_LABEL: Final = "wrong_label"


class GoldClaim(NamedTuple):
    """A claim of gold with its evidence sets by document."""

    id: Hashable
    evidence: Mapping[str, tuple[LabelledSentences, ...]]


class Prediction(NamedTuple):
    """The prediction of a stage for a claim.

    `content` is a list of document numbers for the stage of retrieval, `{"11": [2, 5]}` for the stage of rationales,
    and `{"11": "SUPPORT"}` for the stage of labels.
    """

    id: Hashable
    content: Any


class Stage(Mode):
    """A stage of the pipeline, which is a task of its own.

    `key` is the key of the predictions in a line of the stage's file. Claims of gold and predictions are matched by
    position, as in the stage's evaluator, or by id if `matches_by_id` is true.
    """

    key: ClassVar[str]
    unit = "claim"
    options = SciFactOptions
    has_lines = True
    matches_by_id: ClassVar[bool] = False
    summary = "Score a stage of SciFact's pipeline"
    files = "Gold is a file of claims; predictions are the file of the stage or one of the leaderboard's form."

    def is_gold(self, first: object) -> bool | None:
        """Return whether a file is gold. `first` is the JSON value of its first line.

        Only gold has the texts of claims. Return None if the value is not an object.
        """
        if not isinstance(first, dict):
            return None
        return "claim" in first

    def gold(self, source: Source) -> list[GoldClaim]:
        """Return the claims of a gold file. Raises InputError for a line that is not a claim with evidence sets."""
        claims = []
        with reading.ErrorLocation() as location:
            for value in reading.json_lines(source, location):
                fields = reading.as_object(value, "the line")
                location.place["claim"] = fields.get("id", [])  # messages omit a list
                claim_id = reading.identifier(fields, "id")
                claims.append(GoldClaim(claim_id, _read_evidence(fields, self.read_gold_sets)))
        return claims

    def read_gold_sets(self, value: object) -> tuple[LabelledSentences, ...]:
        """Return the evidence sets of gold for a document, given its JSON value.

        Raises InputError for malformed sets.
        """
        return read_labelled_sets(value)

    def predictions(self, source: Source) -> list[Prediction]:
        """Return the predictions of a file in the form of the stage or of the leaderboard.

        Raises InputError for a malformed line.
        """
        predictions = []
        with reading.ErrorLocation() as location:
            for value in reading.json_lines(source, location):
                fields = reading.as_object(value, "the line")
                # If both keys are missing, the claim is an empty list, which messages leave out.
                location.place["claim"] = fields.get("claim_id", fields.get("id", []))
                predictions.append(self.prediction_from_json(fields))
        return predictions

    def prediction_from_json(self, prediction: Any) -> Prediction:
        """Return the prediction in a line, which has the form of the stage or of the leaderboard.

        Only lines of the leaderboard have their id under `id`. Raises InputError for a malformed line.
        """
        is_of_leaderboard = "id" in prediction and "claim_id" not in prediction
        if is_of_leaderboard:
            claim_id = reading.identifier(prediction, "id")
            return Prediction(claim_id, self.read_leaderboard_line(prediction))
        claim_id = reading.identifier(prediction, "claim_id")
        value = reading.member(prediction, self.key)
        return Prediction(claim_id, self.read_stage_value(value))

    def prediction_to_json(self, prediction: Prediction | None) -> Any:
        """Return the prediction for a claim as a line of the stage's file: `{"claim_id": 1, "doc_ids": [11]}`.

        Return None if there is no prediction.
        """
        if prediction is None:
            return None
        return {"claim_id": prediction.id, self.key: self.content_to_json(prediction)}

    def content_to_json(self, prediction: Prediction) -> Any:
        """Return the JSON value that a prediction has under the key of the stage, such as [11] under "doc_ids"."""
        return prediction.content

    @abstractmethod
    def read_stage_value(self, value: object) -> Any:
        """Return the content of a prediction, given the JSON value under the key of the stage.

        Raises InputError for a malformed value.
        """

    @abstractmethod
    def read_leaderboard_line(self, fields: reading.Object) -> Any:
        """Return the content of a prediction, given a line in the form of the leaderboard.

        Raises InputError for a malformed line.
        """

    def pair_units(
        self, gold: InputContent, predictions: InputContent, options: SciFactOptions
    ) -> tuple[Iterable[PairedUnit], Iterable[str]]:
        """Return each claim of gold with its prediction, and the notices for the user.

        Raises InputError if the files have different claims, or if claims are matched by position and the files have
        them in different orders.
        """
        scored = select_scored_claims(gold, predictions, options)
        if self.matches_by_id or options.any_order:
            sorted_predictions = _match_by_id(scored.gold, predictions)
        else:
            sorted_predictions = _match_by_position(scored.gold, predictions)
        return pair_claims(scored.gold.content, sorted_predictions), scored.notices

    def groups(self, unit: Unit) -> Mapping[str, str]:
        """Return the groups of a claim: the labels of its evidence sets, and its number of documents in gold."""
        labels: set[str] = set()
        for sets in unit.gold.evidence.values():
            labels |= {text_of(gold_set.label) for gold_set in sets}
        return {
            "gold_label": " and ".join(sorted(labels)) or "no evidence",
            "gold_documents": str(len(unit.gold.evidence)),
        }


def _evidence_of(fields: reading.Object) -> reading.Object:
    """Return the evidence of a line: the JSON value of each document, such as `{"11": [2, 5]}`.

    It is empty if the line has null or [] as evidence. Raises InputError if the line has no evidence, or if its
    evidence is any other value that is not an object.
    """
    value = reading.member(fields, "evidence")
    if is_empty_evidence(value):
        return {}
    return reading.as_object(value, "'evidence'")


def _read_evidence(fields: reading.Object, read_document: Callable[[object], Any]) -> dict[str, Any]:
    """Return the evidence of a line by document.

    `read_document` is a function that returns the evidence for a document, given its JSON value. Raises InputError,
    naming the document, for malformed evidence.
    """
    evidence_by_document = {}
    with reading.ErrorLocation() as location:
        for document, content in _evidence_of(fields).items():
            location.place["abstract"] = document  # for errors of the next line
            evidence_by_document[document] = read_document(content)
    return evidence_by_document


def _read_entry(value: object) -> reading.Object:
    """Return the entry that is predicted for a document. Raises InputError unless it is an object."""
    return reading.as_object(value, "the prediction")


# ---- Matching claims


def _match_by_position(gold: InputContent, predictions: InputContent) -> list[Prediction]:
    """Return the predictions unchanged, after a check that they have the same claims as gold in the same order.

    Raises InputError if the claims or their order differ.
    """
    for line_number, (claim, prediction) in enumerate(zip(gold.content, predictions.content), start=1):
        if claim.id != prediction.id:
            problem = f"id {quoted(prediction.id)} where {gold.name} has {quoted(claim.id)}"
            remedy = "--any-order matches claims by id"
            raise InputError(problem, file=predictions.name, place=f"line {line_number}", remedy=remedy)
    _check_claim_counts(gold, predictions)
    return list(predictions.content)


def _match_by_id(gold: InputContent, predictions: InputContent) -> list[Prediction]:
    """Return the predictions in the order of the claims of gold, matched by id.

    Raises InputError if an id is repeated in one of the files, if a prediction has an id that is not in gold, or if a
    claim of gold has no prediction.
    """
    gold_positions = _positions_by_id_key(gold)
    predicted_positions = _positions_by_id_key(predictions)
    for key, position in predicted_positions.items():
        if key not in gold_positions:
            raise _unknown_claim_error(gold, predictions, position)
    _check_claim_counts(gold, predictions)  # if the counts are equal, each claim of gold has a prediction
    return [predictions.content[predicted_positions[key]] for key in gold_positions]


def _unknown_claim_error(gold: InputContent, predictions: InputContent, position: int) -> InputError:
    """Return the error for the prediction at a position, whose id no claim of gold has."""
    place = f"line {position + 1}, claim {short_text(predictions.content[position].id)}"
    return InputError(f"{gold.name} has no such claim", file=predictions.name, place=place)


def _positions_by_id_key(claims_file: InputContent) -> dict[Hashable, int]:
    """Return the position of each claim of a file by the key of its id. Raises InputError for a repeated id.

    A file has one claim per line, so the claim at position 0 is on line 1.
    """
    position_by_key: dict[Hashable, int] = {}
    for position, claim in enumerate(claims_file.content):
        key = as_key(claim.id)
        if key in position_by_key:
            first_line = position_by_key[key] + 1
            problem = f"claim {short_text(claim.id)} occurs twice (line {first_line}, too)"
            raise InputError(problem, file=claims_file.name, place=f"line {position + 1}")
        position_by_key[key] = position
    return position_by_key


def _check_claim_counts(gold: InputContent, predictions: InputContent) -> None:
    """Raise InputError if gold and predictions have different numbers of claims."""
    gold_count = len(gold.content)
    predicted_count = len(predictions.content)
    if gold_count != predicted_count:
        problem = f"predictions for {predicted_count} claims, where {gold.name} has {gold_count}"
        raise InputError(problem, file=predictions.name, remedy="write a line for every claim of gold")


# ---- Retrieval


class Retrieval(Stage):
    """The stage that retrieves documents for each claim.

    `hit_one` is the share of claims for which at least one document of gold is retrieved. `hit_all` is the share of
    claims for which all documents of gold are retrieved.
    """

    name = "scifact-retrieval"
    key = "doc_ids"
    columns = ("claims", "hit_one", "hit_all")
    headings = ("hit_one", "hit_all")
    rows = (ReportRow("retrieval", ("hit_one", "hit_all")),)
    kinds = (MISSED_DOCUMENT,)
    matches_by_id = True

    def read_stage_value(self, value: object) -> list[int]:
        """Return the numbers of the retrieved documents. Raises InputError for anything but a list of whole numbers."""
        documents = []
        for document in reading.as_list(value, "'doc_ids'"):
            if not isinstance(document, int) or isinstance(document, bool):
                raise InputError(f"'doc_ids' holds {quoted(document)} where a whole number is expected")
            documents.append(document)
        return documents

    def read_leaderboard_line(self, fields: reading.Object) -> list[int]:
        """Return the numbers of the documents that have evidence in a line of the leaderboard.

        Raises InputError for an id that is not a whole number.
        """
        return [_document_number(document) for document in _evidence_of(fields)]

    def row(self, unit: Unit) -> Row:
        """Return a claim's numbers for the columns `claims`, `hit_one` and `hit_all`, such as (1, 1, 0).

        The second is 1 if at least one document of gold is retrieved, the third is 1 if all are. Both are 1 for a claim
        without documents in gold. Raises InputError if the id of a document in gold is not a whole number.
        """
        gold_numbers = self._gold_document_numbers(unit)
        hit_count = len(gold_numbers & set(unit.prediction.content))
        hits_one = hit_count > 0 or not gold_numbers
        hits_all = hit_count == len(gold_numbers)
        return 1, int(hits_one), int(hits_all)

    def _gold_document_numbers(self, unit: Unit) -> set[int]:
        """Return the ids of the gold documents of a claim as whole numbers: {11, 12}.

        Raises InputError for an id that is not a whole number.
        """
        with self.error_location(unit):
            return {_document_number(document) for document in unit.gold.evidence}

    def explain_unit(self, unit: Unit, row: Row) -> Iterator[str]:
        """Yield the lines that explain a claim, with documents of gold, retrieved documents, and whether it is a hit.

        A claim is a hit of one if at least one document of gold is retrieved, and a hit of all if all of them are
        retrieved.
        """
        gold_numbers = self._gold_document_numbers(unit)
        _claim_count, hits_one, hits_all = row
        reason = "" if gold_numbers else ": gold has no document"
        yield f"claim {short_text(unit.id)}"
        yield f"  gold       {reading.list_text(sorted(gold_numbers))}"
        yield f"  retrieved  {reading.list_text(unit.prediction.content)}"
        yield f"  hit one    {'yes' if hits_one else 'no'}{reason}"
        yield f"  hit all    {'yes' if hits_all else 'no'}{reason}"

    def parts(self, unit: Unit, measure: str) -> Iterator[Part]:
        """Yield each document of gold for a claim; it is right if it is retrieved."""
        retrieved_numbers = set(unit.prediction.content)
        for document in unit.gold.evidence:
            number = _document_number(document)
            if number in retrieved_numbers:
                yield Part(noun="document", value=document, is_right=True, judgment="retrieved")
                continue
            missed = Fault(kind=MISSED_DOCUMENT, part=document, predicted=None, gold=number)
            yield Part(noun="document", value=document, is_right=False, judgment=None, faults=(missed,))

    def correct_faults(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        """Return the prediction for a claim as a JSON object, to which the missed documents of faults are added."""
        missed_documents = [fault.gold for fault in faults]
        documents = [*unit.prediction.content, *missed_documents]
        return self.prediction_to_json(Prediction(unit.prediction.id, documents))


def _document_number(document: str) -> int:
    """Return the id of a document as a number, such as 11 for "11". Raises InputError if it is not a whole number."""
    try:
        return int(document)
    except ValueError:
        raise InputError("document id is not an integer", place=f"document {short_text(document)}") from None


# ---- Rationales


class Rationale(Stage):
    """The stage that selects sentences in each document; labels do not count.

    A predicted sentence is correct if all sentences of the first gold set with this sentence are predicted.
    """

    name = "scifact-rationale"
    key = "evidence"
    columns = ("relevant", "retrieved", "correct")
    headings = ("precision", "recall", "f1", "correct", "retrieved", "relevant")
    rows = (ReportRow("rationale", headings[:3], headings[3:]),)
    headlines = ("f1",)
    kinds = (EXTRA_SENTENCE, INCOMPLETE_RATIONALE, MISSED_RATIONALE)

    def formula(self, sums: Sequence[Any], divide: Divide) -> tuple[Any, ...]:
        """Return precision, recall and F1 of all sentences from the sums of the columns."""
        relevant, retrieved, correct = sums
        return precision_recall_f1(correct, retrieved, relevant, divide)

    def read_stage_value(self, value: object) -> dict[str, list[object]]:
        """Return the predicted sentences of each document, given the JSON value under `evidence`.

        Raises InputError for a malformed value.
        """
        return _read_evidence({"evidence": value}, _read_sentences)

    def read_leaderboard_line(self, fields: reading.Object) -> dict[str, list[object]]:
        """Return the predicted sentences of each document, given a line in the form of the leaderboard.

        Raises InputError for a malformed line.
        """
        return _read_evidence(fields, _read_sentences_of_entry)

    def row(self, unit: Unit) -> Row:
        """Return the numbers of relevant, retrieved and correct sentences of a claim, such as (3, 2, 2).

        A sentence counts as often as it is listed.
        """
        sets_by_document = unit.gold.evidence
        sentences_by_document = unit.prediction.content
        relevant_count = sum([count_sentences(sets) for sets in sets_by_document.values()])
        retrieved_count = sum([len(sentences) for sentences in sentences_by_document.values()])
        correct_count = 0
        for document, sentences in sentences_by_document.items():
            correct_count += sum(_are_correct(sets_by_document.get(document, ()), sentences))
        return relevant_count, retrieved_count, correct_count

    def explain_unit(self, unit: Unit, row: Row) -> Iterator[str]:
        """Yield the lines that explain a claim, with the gold sets and the predicted sentences of each document.

        The counts in `row` are not needed, because the sentences are compared again.
        """
        sets_by_document = unit.gold.evidence
        sentences_by_document = unit.prediction.content
        yield f"claim {short_text(unit.id)}"
        for document in dict.fromkeys([*sentences_by_document, *sets_by_document]):
            yield ""
            yield f"document {short_text(document)}"
            yield from _explain_sentences(sets_by_document.get(document, ()), sentences_by_document.get(document))

    def parts(self, unit: Unit, measure: str) -> Iterator[Part]:
        """Yield the judged parts of a claim: each gold set, then each predicted sentence that is in no gold set.

        The parts are the same for every `measure`.
        """
        sets_by_document = unit.gold.evidence
        sentences_by_document = unit.prediction.content
        for document, sets in sets_by_document.items():
            predicted_keys = sentence_keys(sentences_by_document.get(document, ()))
            for number, gold_set in enumerate(sets, start=1):
                yield _judge_gold_set(document, number, gold_set, predicted_keys)
        for document, sentences in sentences_by_document.items():
            for sentence in _extra_sentences(sets_by_document.get(document, ()), sentences):
                yield _extra_sentence_part(document, sentence)

    def correct_faults(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        """Return the prediction for a claim after the correction of these faults, as a JSON object.

        An extra sentence of a document is removed. The missing sentences of a gold set are added to its document. A
        sentence is added only once, even if several faults need it.
        """
        evidence = {document: list(sentences) for document, sentences in unit.prediction.content.items()}
        for fault in faults:
            document = str(fault.part)
            sentences = evidence.get(document, [])
            if fault.kind == EXTRA_SENTENCE:
                extra_sentence = fault.predicted
                evidence[document] = _without_sentence(sentences, extra_sentence)
            else:
                missing_sentences_of_set = fault.gold
                evidence[document] = _with_missing_sentences(sentences, missing_sentences_of_set)
        return self.prediction_to_json(Prediction(unit.prediction.id, evidence))


def _without_sentence(sentences: Iterable[object], extra_sentence: object) -> list[object]:
    """Return sentence numbers without an extra one and without numbers that equal it, such as 2.0 and 2."""
    extra_key = as_key(extra_sentence)
    return [sentence for sentence in sentences if as_key(sentence) != extra_key]


def _with_missing_sentences(sentences: Sequence[object], missing_sentences: Iterable[object]) -> list[object]:
    """Return the predicted sentence numbers of a document, followed by the missing ones that are not among them."""
    predicted_keys = sentence_keys(sentences)
    new_sentences = [sentence for sentence in missing_sentences if as_key(sentence) not in predicted_keys]
    return [*sentences, *new_sentences]


def _extra_sentence_part(document: str, sentence: object) -> Part:
    """Return a predicted sentence of a document that is in no gold set, judged as wrong, with its fault."""
    fault = Fault(kind=EXTRA_SENTENCE, part=document, predicted=sentence, gold=None)
    value = {"document": document, "sentence": sentence}
    return Part(noun="sentence", value=value, is_right=False, judgment="in no gold set", faults=(fault,))


def _read_sentences(value: object) -> list[object]:
    """Return the sentence numbers of a document, given its JSON value in the form of the stage.

    Raises InputError unless the value is a list.
    """
    return reading.sentences_of({"sentences": value})


def _read_sentences_of_entry(value: object) -> list[object]:
    """Return the sentence numbers of a document, given its entry in the form of the leaderboard.

    Raises InputError for a malformed entry.
    """
    return reading.sentences_of(_read_entry(value))


def _are_correct(sets: Sequence[LabelledSentences], sentences: Sequence[object]) -> list[bool]:
    """Return a list such as [True, False] that tells whether each predicted sentence of a document is correct.

    A sentence is correct if all sentences of the first gold set that contains it are predicted. A sentence outside the
    gold sets is wrong. `sets` are the gold sets of the document.
    """
    predicted_keys = sentence_keys(sentences)
    is_complete_by_key: dict[Hashable, bool] = {}
    for gold_set in sets:
        keys = sentence_keys(gold_set.sentences)
        is_complete = keys <= predicted_keys
        for key in keys:
            is_complete_by_key.setdefault(key, is_complete)  # the first gold set with this sentence decides
    return [is_complete_by_key.get(as_key(sentence), False) for sentence in sentences]


def _extra_sentences(sets: Iterable[LabelledSentences], sentences: Iterable[object]) -> list[object]:
    """Return the distinct predicted sentences of a document that are in no gold set."""
    gold_keys: set[Hashable] = set()
    for gold_set in sets:
        gold_keys |= sentence_keys(gold_set.sentences)
    extra_by_key = {}
    for sentence in sentences:
        key = as_key(sentence)
        if key not in gold_keys:
            extra_by_key[key] = sentence
    return list(extra_by_key.values())


def _explain_sentences(sets: Sequence[LabelledSentences], sentences: Sequence[object] | None) -> Iterator[str]:
    """Yield the lines that show the gold sets of a document and tell whether each predicted sentence is correct.

    `sentences` is None if the document is not predicted.
    """
    shown_sets = [reading.list_text(gold_set.sentences) for gold_set in sets]
    yield f"  gold sets  {' '.join(shown_sets) or '-'}"
    if sentences is None:
        yield "  predicted  nothing"
        return
    yield f"  predicted  {reading.list_text(sentences)}"
    for sentence, is_correct in zip(sentences, _are_correct(sets, sentences)):
        outcome = "correct" if is_correct else "wrong: its gold set is not whole, or there is none"
        yield f"  sentence {quoted(sentence)}: {outcome}"


def _judge_gold_set(
    document: str, number: int, gold_set: LabelledSentences, predicted_keys: frozenset[Hashable]
) -> Part:
    """Return a gold set of a document with its judgment. The set is right if all of its sentences are predicted.

    Otherwise, it has a fault, which is an incomplete rationale if some of its sentences are predicted, and a missed
    rationale if none of them are. `number` is the number of the set in the document, from 1. `predicted_keys` are the
    keys (`as_key`) of the predicted sentences of the document.
    """
    sentence_by_key = {as_key(sentence): sentence for sentence in gold_set.sentences}
    missing_sentences = [sentence for key, sentence in sentence_by_key.items() if key not in predicted_keys]
    predicted_count = len(sentence_by_key) - len(missing_sentences)
    judgment = judgment_of_set(predicted_count, len(sentence_by_key))
    value = {"document": document, "set": number, "sentences": list(gold_set.sentences)}
    if not missing_sentences:
        return Part(noun="evidence set", value=value, is_right=True, judgment=judgment)
    kind = INCOMPLETE_RATIONALE if predicted_count else MISSED_RATIONALE
    fault = Fault(kind=kind, part=document, predicted=None, gold=missing_sentences)
    return Part(noun="evidence set", value=value, is_right=False, judgment=judgment, faults=(fault,))


# ---- Labels


class LabelsOfDocument(NamedTuple):
    """The label of gold and the predicted label of a document."""

    document: str
    gold: str
    predicted: str

    @property
    def is_right(self) -> bool:
        """True if the predicted label is the label of gold."""
        return self.gold == self.predicted


class LabelCounts(NamedTuple):
    """The documents of a label: those with this label in gold, those with it as prediction, and those with both.

    The numbers may be arrays, or terms of a formula, instead of whole numbers.
    """

    gold: Any
    predicted: Any
    right: Any


_LABELS_OF_CELLS: Final = [(gold, predicted) for gold in LABELS for predicted in LABELS]
"""The label of gold and the predicted label of each cell of the confusion table, row by row."""

_CELL_BY_LABELS: Final = {labels: cell for cell, labels in enumerate(_LABELS_OF_CELLS)}
"""The position of a cell in the confusion table: {("CONTRADICT", "CONTRADICT"): 0, ...}."""


class Label(Stage):
    """The stage that predicts a label for each document. The label of a document without evidence is NOT_ENOUGH_INFO.

    The columns are the cells of a confusion table, row by row. The table has a row for each label of gold, and in each
    row a cell for each predicted label. A cell counts documents.
    """

    name = "scifact-label"
    key = "labels"
    columns = tuple(f"{gold}_as_{predicted}".lower() for gold, predicted in _LABELS_OF_CELLS)
    headings = ("precision", "recall", "f1")
    rows = (
        ReportRow("accuracy", ("accuracy",)),
        ReportRow("contradict", ("contradict_precision", "contradict_recall", "contradict_f1")),
        ReportRow("not_enough_info", ("not_enough_info_precision", "not_enough_info_recall", "not_enough_info_f1")),
        ReportRow("support", ("support_precision", "support_recall", "support_f1")),
        ReportRow("macro_f1", ("macro_f1",)),
        ReportRow("macro_f1_without_nei", ("macro_f1_without_nei",)),
    )
    headlines = ("macro_f1",)
    kinds = (WRONG_LABEL,)

    def read_gold_sets(self, value: object) -> tuple[LabelledSentences, ...]:
        """Return the evidence sets of gold for a document, given its JSON value.

        Raises InputError for malformed sets, and for sets with different labels.
        """
        return read_labelled_sets(value, one_label=True)

    def formula(self, sums: Sequence[Any], divide: Divide) -> tuple[Any, ...]:
        """Return the accuracy, then precision, recall and F1 of each label, then two means of F1.

        The order is that of the measures in `rows`, the rows of the report. `sums` are the cells of the confusion
        table. `macro_f1` is the mean over the labels that occur in gold or in the predictions. `macro_f1_without_nei`
        is the mean over the two labels other than NOT_ENOUGH_INFO.
        """
        counts_of_labels = _count_by_label(sums)
        right_count = sum([counts.right for counts in counts_of_labels])
        document_count = sum(sums)
        scores = [divide(right_count, document_count)]
        f1_values = []
        for counts in counts_of_labels:
            precision, recall, f1 = precision_recall_f1(counts.right, counts.predicted, counts.gold, divide)
            scores += [precision, recall, f1]
            f1_values.append(f1)
        macro_f1 = _mean_f1(f1_values, _count_labels_that_occur(counts_of_labels), divide)
        f1_values_without_nei = [f1 for label, f1 in zip(LABELS, f1_values) if label != NOT_ENOUGH_INFO]
        # The number of labels in the second mean. `divide` needs an array if the sums are arrays, so zeros of the same
        # shape are added to obtain an array of twos.
        two_labels = 2 + 0 * document_count
        return *scores, macro_f1, _mean_f1(f1_values_without_nei, two_labels, divide)

    def read_stage_value(self, value: object) -> dict[str, str]:
        """Return the predicted label of each document, given the JSON value under `labels`.

        Raises InputError for a malformed value.
        """
        labels = {}
        with reading.ErrorLocation() as location:
            for document, entry in reading.as_object(value, "'labels'").items():
                location.place["abstract"] = document
                labels[document] = _read_label(entry)
        return labels

    def read_leaderboard_line(self, fields: reading.Object) -> dict[str, str]:
        """Return the predicted label of each document, given a line in the form of the leaderboard.

        Raises InputError for a malformed line.
        """
        return _read_evidence(fields, _read_label)

    def content_to_json(self, prediction: Prediction) -> Any:
        """Return the value under `labels` in the stage's file, such as {"11": {"label": "SUPPORT"}}."""
        return {document: {"label": label} for document, label in prediction.content.items()}

    def pair_units(
        self, gold: InputContent, predictions: InputContent, options: SciFactOptions
    ) -> tuple[Iterable[PairedUnit], Iterable[str]]:
        """Return each claim of gold with its prediction, and the notices for the user.

        Raises InputError if the files have different claims, and if no document has a label.
        """
        pairs, notices = super().pair_units(gold, predictions, options)
        has_labels = any(prediction.content for prediction in predictions.content)
        if not has_labels:
            raise InputError("no document has a label, so there is nothing to score", file=predictions.name)
        return pairs, notices

    def row(self, unit: Unit) -> Row:
        """Return the confusion table of the predicted documents of a claim, row by row, as in `columns`.

        Each of its nine cells is the number of documents with a label in gold and a predicted label.
        """
        counts = [0] * len(self.columns)
        for labels in self._labels_of_documents(unit):
            cell = _CELL_BY_LABELS[labels.gold, labels.predicted]
            counts[cell] += 1
        return tuple(counts)

    def confusions(self, unit: Unit) -> Iterator[Confusion]:
        """Yield ("document", label of gold, predicted label) for each predicted document of a claim."""
        for labels in self._labels_of_documents(unit):
            yield "document", labels.gold, labels.predicted

    def _labels_of_documents(self, unit: Unit) -> Iterator[LabelsOfDocument]:
        """Yield the label of gold and the predicted label of each predicted document of a claim.

        Raises InputError for an unknown label of gold.
        """
        for document, predicted_label in unit.prediction.content.items():
            gold_label = self._gold_label(unit, document)
            yield LabelsOfDocument(document, gold_label, predicted_label)

    def _gold_label(self, unit: Unit, document: str) -> str:
        """Return the gold label of a document: the label of its evidence sets, or NOT_ENOUGH_INFO if there are none.

        Raises InputError, naming the gold file and the claim, if the label is not one of the three known labels.
        """
        sets = unit.gold.evidence.get(document)
        label = sets[0].label if sets else NOT_ENOUGH_INFO  # all sets of a document have the same label
        if label not in LABELS:
            with self.error_location(unit):
                raise InputError(f"label {quoted(label)} is not one of {', '.join(LABELS)}")
        return str(label)

    def explain_unit(self, unit: Unit, row: Row) -> Iterator[str]:
        """Yield the lines that explain a claim, with the label of each predicted document and whether it is correct.

        The counts in `row` are not used.
        """
        yield f"claim {short_text(unit.id)}"
        for labels in self._labels_of_documents(unit):
            outcome = "correct" if labels.is_right else f"wrong, gold {labels.gold}"
            yield f"  document {short_text(labels.document)}: {labels.predicted}, {outcome}"
        if not unit.prediction.content:
            yield "  no document is predicted, so nothing counts"

    def parts(self, unit: Unit, measure: str) -> Iterator[Part]:
        """Yield the label of each predicted document of a claim, with a fault if the label is wrong.

        The value of each part is the document, and its judgment is the predicted label. The parts do not depend on
        `measure`.
        """
        for labels in self._labels_of_documents(unit):
            document = labels.document
            faults: tuple[Fault, ...] = ()
            if not labels.is_right:
                faults = (Fault(kind=WRONG_LABEL, part=document, predicted=labels.predicted, gold=labels.gold),)
            yield Part(noun="label", value=document, is_right=labels.is_right, judgment=labels.predicted, faults=faults)

    def correct_faults(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        """Return the prediction for a claim as a JSON object, in which gold's labels replace wrong labels."""
        labels = dict(unit.prediction.content)
        for fault in faults:
            document = str(fault.part)
            labels[document] = fault.gold
        return self.prediction_to_json(Prediction(unit.prediction.id, labels))

    def further_table(self, sums: Sequence[float]) -> list[tuple[str, ...]]:
        """Return the confusion table of all documents as rows of text, starting with the heading.

        `sums` contains the cells of the table, row by row. A cell is the number of documents with a given gold label
        and a given predicted label.
        """
        table: list[tuple[str, ...]] = [("gold \\ predicted", *LABELS)]
        for position, label in enumerate(LABELS):
            counts = [str(int(count)) for count in _row_of_table(sums, position)]
            table.append((label, *counts))
        return table


def _count_by_label(sums: Sequence[Any]) -> list[LabelCounts]:
    """Return the numbers of documents of each label, in the order of `LABELS`.

    `sums` are the cells of a confusion table, row by row. The documents with a label in gold are a row of the table,
    those with a predicted label are a column, and those with both are the cell on the diagonal.
    """
    table = [_row_of_table(sums, position) for position in range(len(LABELS))]
    counts_of_labels = []
    for position in range(len(LABELS)):
        column = [row[position] for row in table]
        counts = LabelCounts(gold=sum(table[position]), predicted=sum(column), right=table[position][position])
        counts_of_labels.append(counts)
    return counts_of_labels


def _count_labels_that_occur(counts_of_labels: Iterable[LabelCounts]) -> Any:
    """Return the number of labels with a document in gold or in the predictions.

    If the claims are resampled, the counts are arrays with a number for each resample, and the result is an array, too.
    """
    label_count: Any = 0
    for counts in counts_of_labels:
        label_occurs = (counts.gold + counts.predicted) > 0  # a truth value, or an array of them
        label_count += label_occurs  # adds 1 where it is true
    return label_count


def _row_of_table(sums: Sequence[Any], position: int) -> Sequence[Any]:
    """Return the row of a confusion table for the label of gold at a position in `LABELS`.

    `sums` are the cells of the table, row by row.
    """
    start = position * len(LABELS)
    return sums[start : start + len(LABELS)]


def _mean_f1(f1s: Sequence[Any], label_count: Any, divide: Divide) -> Any:
    """Return the sum of the F1 values of labels, divided by `label_count`.

    The values are numbers, arrays or ratios. For ratios, the mean is also a ratio, with the denominator `label_count`.
    An F1 of 0 / 0 counts as 0.
    """
    if not isinstance(f1s[0], Ratio):
        return divide(sum(f1s), label_count)
    quotients = []
    for f1 in f1s:
        is_undefined = f1.denominator == 0  # a truth value, or an array of them
        # True counts as 1. If F1 is 0 / 0, the denominator becomes 1, so the quotient is 0.
        denominator = f1.denominator + is_undefined
        quotients.append(f1.numerator / denominator)
    return Ratio(sum(quotients), label_count)


def _read_label(value: object) -> str:
    """Return the label of a document, given its JSON value: {"label": "SUPPORT"} -> "SUPPORT".

    Raises InputError for a label other than the three known ones.
    """
    label = reading.member(_read_entry(value), "label")
    if not isinstance(label, str) or label not in LABELS:
        raise InputError(f"label {quoted(label)} is not one of {', '.join(LABELS)}")
    return label


RETRIEVAL: Final = Retrieval()
RATIONALE: Final = Rationale()
LABEL: Final = Label()
