"""Scoring for the SciFact leaderboard: abstracts with labels, and sentences as evidence (Wadden et al. 2020).

The numbers are those of the official evaluator of the public leaderboard.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

from msgspec import UNSET, Meta

from cs_score.base.display import number_with_noun
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.base.sources import Source
from cs_score.evidence import mismatches, reading
from cs_score.evidence.abstracts import AbstractsMode, Claim, Entry, extra_sentences, sentence_keys
from cs_score.evidence.mismatches import DocumentsOfClaim
from cs_score.evidence.mode import Contents, Pair, Part, Progress, Row, Unit, left_out_notices, report_rows
from cs_score.evidence.reading import InputContent, as_key, quoted, set_text, short_text, text_of
from cs_score.measures.registry import Divide, measure_names, precision_recall_f1
from cs_score.statistics.units import UnitTable

GROUPS: Final = ("abstract_label_only", "abstract_rationalized", "sentence_selection", "sentence_label")

SENTENCE_CAP: Final = 3
"""The number of leading sentences of a prediction that count for an abstract, unless all its gold sets are longer."""

LABELS: Final = ("SUPPORT", "CONTRADICT")

NOT_ENOUGH_INFO: Final = "NOT_ENOUGH_INFO"
"""A third label. The leaderboard refuses it, and the stage of labels accepts it."""

STAGES: Final = {
    "retrieval": "documents retrieved",
    "rationale": "sentences selected",
    "label": "a label for each document",
}
"""The stages of the pipeline and what they predict. Each stage is a task of its own, called scifact-STAGE."""

_LEAVE_OUT: Final = "leave out abstracts without a verdict"
_REMEDIES: Final = {
    **dict.fromkeys(("SUPPORT", "SUPPORTS", "SUPPORTED"), "write SUPPORT"),
    **dict.fromkeys(("CONTRADICT", "CONTRADICTS", "CONTRADICTED", "REFUTE", "REFUTES", "REFUTED"), "write CONTRADICT"),
    **dict.fromkeys(("NOT_ENOUGH_INFO", "NOT ENOUGH INFO", "NOTENOUGHINFO", "NEI", "NOINFO"), _LEAVE_OUT),
}
"""The remedy for a label that is refused, by the label in capitals. Other tasks use these spellings."""


class SciFactOptions(Record):
    """The options of a scoring."""

    any_order: Annotated[
        bool, Meta(description="Match claims by id; the official evaluator refuses another order than gold's")
    ] = False
    answered_only: Annotated[
        bool,
        Meta(description="Score the units that were predicted, and leave out the others; every head says how many"),
    ] = False


class LabelledSentences(NamedTuple):
    """An evidence set of gold, or the prediction for an abstract: a label and the numbers of sentences.

    `sentences` holds the numbers as the file lists them, including repeated ones.
    """

    label: Any
    sentences: tuple[object, ...]

    def entry(self) -> Entry:
        """Return the label and the sentences as a dictionary: {"label": "SUPPORT", "sentences": (2, 5)}."""
        return {"label": self.label, "sentences": self.sentences}


class AbstractVerdict(NamedTuple):
    """The judgment of the prediction for an abstract. Sentences are represented by their keys (`as_key`).

    `leading_count` is the number of leading predicted sentences that count for the abstract. `contained_set` is the
    first gold set all of whose sentences are among them, or None if there is no such set. `correct_sentences` are the
    sentences of all gold sets that are predicted completely.
    """

    is_label_right: bool
    leading_count: int
    contained_set: frozenset[Hashable] | None
    correct_sentences: frozenset[Hashable]

    @property
    def is_rationalized(self) -> bool:
        """True if the label is right and the leading predicted sentences contain a whole gold set."""
        return self.is_label_right and self.contained_set is not None


class SciFact(AbstractsMode):
    """SciFact claims in the order of gold. A claim's prediction has one entry for each abstract."""

    name = "scifact"
    columns = (
        "relevant_abstracts",
        "retrieved_abstracts",
        "relevant_sentences",
        "retrieved_sentences",
        "label_only_correct",
        "rationalized_correct",
        "selection_correct",
        "label_correct",
    )
    headings = ("precision", "recall", "f1", "correct", "retrieved", "relevant")
    rows = report_rows(
        GROUPS,
        measure_names("scifact"),
        (
            ("label_only_correct", "retrieved_abstracts", "relevant_abstracts"),
            ("rationalized_correct", "retrieved_abstracts", "relevant_abstracts"),
            ("selection_correct", "retrieved_sentences", "relevant_sentences"),
            ("label_correct", "retrieved_sentences", "relevant_sentences"),
        ),
    )
    options = SciFactOptions
    stages = STAGES
    summary = "Score SciFact predictions with the measures of the public leaderboard"
    files = (
        "Both hold one JSON object per line: gold a claim with its evidence sets, predictions the same claims in the "
        "same order, each with a label and a list of sentences per abstract."
    )

    def formula(self, sums: Sequence[Any], divide: Divide) -> tuple[Any, ...]:
        """Return precision, recall and F1 of the four groups of measures from the sums of the columns."""
        abstracts, retrieved_abstracts, sentences, retrieved_sentences, *correct_counts = sums
        label_only, rationalized, selection, label = correct_counts
        scores: list[Any] = []
        for correct_abstracts in (label_only, rationalized):
            scores += precision_recall_f1(correct_abstracts, retrieved_abstracts, abstracts, divide)
        for correct_sentences in (selection, label):
            scores += precision_recall_f1(correct_sentences, retrieved_sentences, sentences, divide)
        return tuple(scores)

    # ---- Files

    def gold(self, source: Source) -> list[Claim] | reading.ConvertedContent:
        """Return the claims of a gold file. Raises InputError for a line that is not a claim with evidence sets."""
        return _read_claims(source, _read_gold_sets)

    def predictions(self, source: Source) -> list[Claim] | reading.ConvertedContent:
        """Return the claims of a predictions file. Raises InputError for a line that is not a prediction."""
        return _read_claims(source, _read_predicted_entry)

    def pair_units(
        self, gold: InputContent, predictions: InputContent, options: SciFactOptions
    ) -> tuple[Iterable[Pair], Iterable[str]]:
        """Return each claim of gold with its prediction, and the notices for the user.

        Each line of gold is paired with the same line of the predictions. With the option `any_order`, claims are
        matched by id. If an id is repeated, its first claim is paired with its first prediction, its second claim with
        its second prediction, and so on. Raises InputError if the files have different claims.
        """
        notices: list[str] = []
        claims: list[Claim] = gold.content
        if options.answered_only:
            claims = claims_with_predictions(claims, predictions.content)
            notices += left_out_notices(predictions.name, len(claims), len(gold.content), self.unit)
        _check_claims(replace(gold, content=claims), predictions, any_order=options.any_order)
        predicted_claims: list[Claim] = predictions.content
        if options.any_order:
            predicted_claims = _sort_like_gold(predicted_claims, claims)
        pairs = [(claim.id, claim, predicted) for claim, predicted in zip(claims, predicted_claims)]
        return pairs, notices

    def mismatches(
        self, gold: InputContent, predictions: InputContent, units: Sequence[Unit], table: UnitTable
    ) -> Iterator[str]:
        """Yield notices about labels, ids of abstracts and sentence numbers that gold spells differently."""
        if units and not any(unit.gold.evidence for unit in units):
            yield f"{gold.name}: no claim has evidence, so that every measure is 0"
            return
        first_units = units[: mismatches.MOST_COMPARED]
        unknown_labels = _gold_labels(first_units).difference(LABELS)
        if unknown_labels:
            listed_labels = ", ".join(sorted([quoted(label) for label in unknown_labels]))
            possible_labels = " and ".join(LABELS)
            yield f"{gold.name}: labels {listed_labels}, which no prediction can have: these have {possible_labels}"
        claims = [DocumentsOfClaim(unit.id, unit.gold.evidence, unit.prediction.evidence) for unit in first_units]
        files = (gold.name, predictions.name)
        yield from mismatches.document_notices(claims, files, "abstract", _sentences_of_first_set, _sentences_of_entry)

    def contents(self, gold: Any, predictions: Any, table: UnitTable) -> tuple[Contents, Contents]:
        """Return how many claims, abstracts and evidence sentences gold and the predictions have."""
        totals = [int(total) for total in table.sums()]
        abstracts, retrieved_abstracts, sentences, retrieved_sentences = totals[:4]
        claims = (len(gold), "claim")
        return (
            (claims, (abstracts, "abstract"), (sentences, "evidence sentence")),
            (claims, (retrieved_abstracts, "abstract"), (retrieved_sentences, "evidence sentence")),
        )

    # ---- Scoring

    def rows_of(self, units: Sequence[Unit], progress: Progress) -> list[Row]:
        """Return the row of each claim, as `row` does. Raises InputError, with the line of the claim."""
        rows = []
        with reading.ErrorLocation() as location:
            for line, unit in enumerate(units, start=1):
                location.file = unit.files[0]
                location.place = {"line": line, "claim": unit.id}
                rows.append(self.row(unit))
        return rows

    def row(self, unit: Unit) -> Row:
        """Return the counts of a claim in the order of the columns: relevant, retrieved and correct items.

        A sentence counts as often as it is listed. Raises InputError, with the abstract, if a predicted sentence is in
        several gold sets.
        """
        sets_by_abstract = unit.gold.evidence
        predicted = unit.prediction.evidence
        label_only_correct = 0
        rationalized_correct = 0
        selection_correct = 0
        label_correct = 0
        retrieved_sentences = 0
        with reading.ErrorLocation() as location:
            for abstract, entry in predicted.items():
                location.place["abstract"] = abstract
                verdict = judge_abstract(sets_by_abstract.get(abstract), entry)
                retrieved_sentences += len(entry.sentences)
                selection_correct += len(verdict.correct_sentences)
                if verdict.is_label_right:
                    label_only_correct += 1
                    label_correct += len(verdict.correct_sentences)
                if verdict.is_rationalized:
                    rationalized_correct += 1
        relevant_sentences = 0
        for sets in sets_by_abstract.values():
            relevant_sentences += _count_sentences(sets)
        return (
            len(sets_by_abstract),
            len(predicted),
            relevant_sentences,
            retrieved_sentences,
            label_only_correct,
            rationalized_correct,
            selection_correct,
            label_correct,
        )

    def explain_unit(self, unit: Unit, row: Row) -> Iterator[str]:
        """Yield the lines that explain a claim: each predicted abstract, then the abstracts of gold that are missed."""
        sets_by_abstract = unit.gold.evidence
        predicted = unit.prediction.evidence
        yield f"claim {short_text(unit.id)}"
        for abstract, entry in predicted.items():
            yield ""
            yield from _explain_abstract(abstract, sets_by_abstract.get(abstract), entry)
        for abstract, sets in sets_by_abstract.items():
            if abstract not in predicted:
                yield ""
                yield f"abstract {short_text(abstract)}: not predicted"
                yield f"  gold       {_show_gold_sets(sets)}"
                yield f"  missed     1 abstract, {number_with_noun(_count_sentences(sets), 'sentence')}"
        if not sets_by_abstract and not predicted:
            yield ""
            yield "no abstract is relevant and none is predicted"

    # ---- Claims as the shared rules see them

    def prediction_to_json(self, prediction: Claim | None) -> Any:
        """Return the prediction for a claim as the JSON object of its line."""
        assert prediction is not None  # every claim has one
        evidence = {}
        for abstract, entry in prediction.evidence.items():
            evidence[abstract] = {"label": entry.label, "sentences": list(entry.sentences)}
        return {"id": prediction.id, "evidence": evidence}

    def prediction_from_json(self, prediction: Any) -> Claim:
        """Return the prediction for a claim from the JSON object of its line. Raises InputError if it is malformed."""
        return _parse_claim(prediction, _read_predicted_entry)

    def gold_sets(self, unit: Unit) -> dict[str, list[Entry]]:
        """Return the evidence sets of gold for a claim, by abstract."""
        sets_by_abstract = {}
        for abstract, sets in unit.gold.evidence.items():
            sets_by_abstract[abstract] = [gold_set.entry() for gold_set in sets]
        return sets_by_abstract

    def gold_evidence(self, unit: Unit) -> Mapping[str, Any]:
        """Return the evidence of gold for a claim by abstract, in the form in which the task reads it."""
        evidence: Mapping[str, Any] = unit.gold.evidence
        return evidence

    def predicted_evidence(self, unit: Unit) -> Mapping[str, Any]:
        """Return the predicted evidence for a claim by abstract, in the form in which the task reads it."""
        evidence: Mapping[str, Any] = unit.prediction.evidence
        return evidence

    def predicted_entries(self, unit: Unit) -> dict[str, list[Entry]]:
        """Return the predicted entries for a claim by abstract. An abstract has a list with a single entry."""
        return {abstract: [entry.entry()] for abstract, entry in unit.prediction.evidence.items()}

    def entries_to_json(self, entries: Any) -> Any:
        """Return the first entry of an abstract as a JSON object: `{"label": "SUPPORT", "sentences": [2, 5]}`.

        The predictions file has a single entry for each abstract, and not a list of entries.
        """
        only_entry = entries[0]
        return {**only_entry, "sentences": list(only_entry["sentences"])}

    def entry_for_each_set(self, sets: Sequence[Entry], entries: Sequence[Entry]) -> Sequence[Entry]:
        """Return a list that has the only predicted entry of an abstract for each of its gold sets."""
        only_entry = entries[0]
        return [only_entry] * len(sets)

    def missing_to_json(self, gold_set: Entry, sentences: list[object]) -> object:
        """Return the sentences of a gold set that are not predicted, unchanged."""
        return sentences

    def order_abstracts(self, gold: Iterable[str], predicted: Iterable[str]) -> Iterable[str]:
        """Return the abstracts of gold, those that are predicted first, in the order of the prediction."""
        gold_abstracts = frozenset(gold)
        predicted_first = [abstract for abstract in predicted if abstract in gold_abstracts]
        return dict.fromkeys([*predicted_first, *gold])

    def parts(self, unit: Unit, measure: str) -> Iterator[Part]:
        """Yield the judged parts of a claim: its abstracts, their gold sets, and their sentences in no gold set.

        The abstracts of gold come first. The predicted abstracts that gold does not have follow.
        """
        predicted = unit.prediction.evidence
        for abstract, sets in unit.gold.evidence.items():
            entry = predicted.get(abstract)
            yield _abstract_part(abstract, sets, entry)
            yield from _set_parts(abstract, sets, entry)
            if entry is not None:
                yield from _extra_sentence_parts(abstract, sets, entry)
        for abstract, entry in predicted.items():
            if abstract not in unit.gold.evidence:
                yield Part(noun="abstract", value=abstract, is_right=False, judgment=f"{entry.label}, not relevant")


def _extra_sentence_parts(abstract: str, sets: Sequence[LabelledSentences], entry: LabelledSentences) -> Iterator[Part]:
    """Yield each predicted sentence of an abstract that is in none of its gold sets. It is judged as wrong.

    `sets` are the gold sets of the abstract, and `entry` is the prediction for it.
    """
    gold_sets = [gold_set.entry() for gold_set in sets]
    for sentence in extra_sentences([entry.entry()], gold_sets):
        value = {"abstract": abstract, "sentence": sentence}
        yield Part(noun="sentence", value=value, is_right=False, judgment="in no gold set")


def _count_sentences(sets: Iterable[LabelledSentences]) -> int:
    """Return the number of sentences in evidence sets. A sentence counts as often as the sets list it."""
    return sum([len(gold_set.sentences) for gold_set in sets])


def _abstract_part(abstract: str, sets: Sequence[LabelledSentences], entry: LabelledSentences | None) -> Part:
    """Return an abstract of gold with the judgment of its prediction.

    `sets` are its gold sets. `entry` is its prediction, or None if the abstract is not predicted.
    """
    if entry is None:
        return Part(noun="abstract", value=abstract, is_right=False, judgment=None)
    verdict = judge_abstract(sets, entry)
    if not verdict.is_label_right:
        judgment = f"{entry.label}, gold {text_of(sets[0].label)}"
    elif verdict.is_rationalized:
        judgment = f"{entry.label}, rationalized"
    else:
        judgment = f"{entry.label}, no whole gold set among its first {verdict.leading_count} sentences"
    return Part(noun="abstract", value=abstract, is_right=verdict.is_label_right, judgment=judgment)


def _set_parts(abstract: str, sets: Sequence[LabelledSentences], entry: LabelledSentences | None) -> Iterator[Part]:
    """Yield each gold set of an abstract with its judgment: it is right if all of its sentences are predicted.

    `entry` is the prediction for the abstract, or None if the abstract is not predicted.
    """
    predicted_keys: frozenset[Hashable] = frozenset()
    if entry is not None:
        predicted_keys = sentence_keys(entry.sentences)
    for number, gold_set in enumerate(sets, start=1):
        gold_keys = sentence_keys(gold_set.sentences)
        predicted_count = len(gold_keys & predicted_keys)
        is_complete = predicted_count == len(gold_keys)
        judgment = None
        if is_complete:
            judgment = "complete"
        elif predicted_count:
            judgment = f"{predicted_count:,} of {number_with_noun(len(gold_keys), 'sentence')}"
        value = {"abstract": abstract, "set": number, "sentences": list(gold_set.sentences)}
        yield Part(noun="evidence set", value=value, is_right=is_complete, judgment=judgment)


def _gold_labels(units: Iterable[Unit]) -> set[str]:
    """Return the labels that the abstracts of some claims have in gold. Labels that are not texts are left out."""
    labels: set[str] = set()
    for unit in units:
        for sets in unit.gold.evidence.values():
            if isinstance(sets[0].label, str):
                labels.add(sets[0].label)
    return labels


def _sentences_of_first_set(sets: Sequence[LabelledSentences]) -> tuple[object, ...]:
    """Return the sentences of the first evidence set of an abstract."""
    return sets[0].sentences


def _sentences_of_entry(entry: LabelledSentences) -> tuple[object, ...]:
    """Return the sentences that are predicted for an abstract."""
    return entry.sentences


# ---- Reading claims


def _read_claims(source: Source, read_evidence: Callable[[object], Any]) -> list[Claim] | reading.ConvertedContent:
    """Return the claims of a file, with a notice if some of them have null or an empty list as evidence.

    `read_evidence` is a function that returns the evidence for an abstract, given its JSON value. Raises InputError for
    a malformed line.
    """
    claims = []
    claims_without_object = 0
    with reading.ErrorLocation() as location:
        for value in reading.json_lines(source, location):
            fields = reading.as_object(value, "the line")
            location.place["claim"] = fields.get("id", [])
            claims.append(_parse_claim(fields, read_evidence))
            if is_empty_evidence(fields["evidence"]):
                claims_without_object += 1
    if claims_without_object:
        notice = f"{number_with_noun(claims_without_object, 'claim')} with evidence null or [], read as {{}}"
        return reading.ConvertedContent(claims, notice)
    return claims


def _parse_claim(fields: reading.Object, read_evidence: Callable[[object], Any]) -> Claim:
    """Return the claim in a line of gold or of the predictions.

    `read_evidence` is a function that returns the evidence for an abstract, given its JSON value. Raises InputError for
    a malformed line.
    """
    claim_id = reading.identifier(fields, "id")
    value = reading.member(fields, "evidence")
    evidence = {}
    if not is_empty_evidence(value):
        with reading.ErrorLocation() as location:
            for abstract, entries in reading.as_object(value, "'evidence'").items():
                location.place["abstract"] = abstract
                evidence[abstract] = read_evidence(entries)
    return Claim(claim_id, UNSET, evidence, fields.get("cited_doc_ids", UNSET))


def is_empty_evidence(evidence: object) -> bool:
    """Return whether a JSON value is null or an empty list, which some files have where a claim has no evidence."""
    return evidence is None or evidence == []


def read_labelled_sets(value: object, *, one_label: bool = False) -> tuple[LabelledSentences, ...]:
    """Return the evidence sets of gold for an abstract, given its JSON value, which is a list of objects.

    Raises InputError for malformed sets. If `one_label` is true, it also raises it for sets with different labels.
    """
    set_objects = []
    for set_value in reading.as_list(value, "the gold evidence"):
        set_objects.append(reading.as_object(set_value, "an evidence set"))
    if not set_objects:
        raise InputError("no evidence sets are listed", remedy="leave out abstracts without evidence")
    labels: list[object] = []
    for fields in set_objects:
        label = reading.member(fields, "label")
        if one_label and labels and label != labels[0]:
            raise InputError(f"evidence sets labelled {quoted(labels[0])} and {quoted(label)}")
        labels.append(label)
    labelled_sets = []
    for label, fields in zip(labels, set_objects):
        sentences = reading.sentences_of(fields)
        labelled_sets.append(LabelledSentences(label, tuple(sentences)))
    return tuple(labelled_sets)


def _read_gold_sets(value: object) -> tuple[LabelledSentences, ...]:
    """Return the evidence sets of gold for an abstract. Raises InputError for malformed sets and different labels."""
    return read_labelled_sets(value, one_label=True)


def _read_predicted_entry(value: object) -> LabelledSentences:
    """Return the prediction for an abstract, given its JSON value.

    Raises InputError for a malformed value, and for a label other than SUPPORT and CONTRADICT.
    """
    if isinstance(value, list):
        raise InputError("a list where one object with label and sentences is expected")
    fields = reading.as_object(value, "the prediction")
    label = reading.member(fields, "label")
    is_text = isinstance(label, str)
    if not is_text or label not in LABELS:
        remedy = None
        if is_text:
            remedy = _REMEDIES.get(str(label).strip().upper())
        raise InputError(f"label {quoted(label)} is not one of {', '.join(LABELS)}", remedy=remedy)
    sentences = reading.sentences_of(fields)
    return LabelledSentences(sys.intern(str(label)), tuple(sentences))


# ---- Matching the claims of gold and predictions


def claims_with_predictions(claims: Sequence[Any], predictions: Sequence[Any]) -> list[Any]:
    """Return the claims of gold that have a prediction with the same id.

    If an id is repeated and has fewer predictions than claims, only its first claims are returned, one for each of the
    predictions.
    """
    predictions_left = Counter([as_key(predicted.id) for predicted in predictions])
    claims_with_prediction = []
    for claim in claims:
        key = as_key(claim.id)
        if predictions_left[key]:
            predictions_left[key] -= 1
            claims_with_prediction.append(claim)
    return claims_with_prediction


def _sort_like_gold(predictions: Iterable[Claim], claims: Iterable[Claim]) -> list[Claim]:
    """Return the predictions in the order of the claims of gold, which have the same ids.

    Predictions with equal ids keep their order.
    """
    predictions_by_key: defaultdict[Hashable, deque[Claim]] = defaultdict(deque)
    for predicted in predictions:
        predictions_by_key[as_key(predicted.id)].append(predicted)
    sorted_predictions = []
    for claim in claims:
        predictions_left = predictions_by_key[as_key(claim.id)]
        sorted_predictions.append(predictions_left.popleft())
    return sorted_predictions


class _IdMismatch(NamedTuple):
    """The difference between the claim ids of gold and those of the predictions, for an error message.

    `missing_predictions` counts the claims of gold that have no prediction, and `extra_predictions` counts the
    predictions that have no claim in gold. Both count by the key of the id (`as_key`).
    """

    gold_ids: list[Hashable]
    predicted_ids: list[Hashable]
    missing_predictions: Counter[Hashable]
    extra_predictions: Counter[Hashable]

    @property
    def is_other_order(self) -> bool:
        """True if both files have the same claims in different orders."""
        return not self.missing_predictions and not self.extra_predictions

    @property
    def first_id_without_prediction(self) -> Hashable:
        """The id of the first claim of gold that has no prediction."""
        return next(claim_id for claim_id in self.gold_ids if as_key(claim_id) in self.missing_predictions)

    def missing_predictions_text(self) -> str:
        """Return how many claims have no prediction, in words: `2 of 300 claims have none`."""
        return f"{self.missing_predictions.total():,} of {number_with_noun(len(self.gold_ids), 'claim')} have none"

    def first_extra_position(self) -> int:
        """Return the position of the first prediction without a claim in gold.

        Return the number of predictions if each of them has a claim.
        """
        for position, claim_id in enumerate(self.predicted_ids):
            if as_key(claim_id) in self.extra_predictions:
                return position
        return len(self.predicted_ids)

    def first_different_position(self) -> int:
        """Return the first position at which gold and predictions have different ids.

        If there is none, it is the number of claims of the shorter file.
        """
        for position, (gold_id, predicted_id) in enumerate(zip(self.gold_ids, self.predicted_ids)):
            if gold_id != predicted_id:
                return position
        return min(len(self.gold_ids), len(self.predicted_ids))

    def problem_at(self, position: int, gold_name: str) -> str:
        """Return in words what is wrong with the prediction at the first position with different ids.

        `gold_name` is the name of the gold file. The text is empty if the position is after the last prediction.
        """
        if position == len(self.predicted_ids):
            return ""
        if position == len(self.gold_ids):
            return f"{gold_name} ends before this line"
        predicted_id = quoted(self.predicted_ids[position])
        gold_id = quoted(self.gold_ids[position])
        problem = f"id {predicted_id} where {gold_name} has {gold_id}"
        if self.missing_predictions and not self.extra_predictions:
            problem += f" ({self.missing_predictions_text()})"
        return problem

    def remedy(self) -> str | None:
        """Return advice to the user about the difference; None if no advice is known."""
        if self.is_other_order:
            return "the claims are those of gold in another order: --any-order matches them by id"
        gold_texts = Counter([str(claim_id) for claim_id in self.gold_ids])
        predicted_texts = Counter([str(claim_id) for claim_id in self.predicted_ids])
        if gold_texts == predicted_texts:
            return "ids are text in one file and numbers in the other"
        if self.missing_predictions and not self.extra_predictions:
            line = json.dumps({"id": self.first_id_without_prediction, "evidence": {}}, ensure_ascii=False)
            return f"write {line} for a claim without evidence, or score the others with --answered-only"
        return None


def _check_claims(gold: InputContent, predictions: InputContent, *, any_order: bool) -> None:
    """Raise InputError unless gold and predictions have the same claims.

    Unless `any_order` is true, the claims must also be in the same order. A repeated id must occur equally often in
    both files. The error names the first wrong line of the predictions.
    """
    gold_ids = [claim.id for claim in gold.content]
    predicted_ids = [claim.id for claim in predictions.content]
    if gold_ids == predicted_ids:
        return
    gold_counts = Counter([as_key(claim_id) for claim_id in gold_ids])
    predicted_counts = Counter([as_key(claim_id) for claim_id in predicted_ids])
    mismatch = _IdMismatch(
        gold_ids=gold_ids,
        predicted_ids=predicted_ids,
        missing_predictions=gold_counts - predicted_counts,
        extra_predictions=predicted_counts - gold_counts,
    )
    if any_order and mismatch.is_other_order:
        return
    if any_order:
        position = mismatch.first_extra_position()
        problem = f"{gold.name} has no such claim (or fewer of them)"
    else:
        position = mismatch.first_different_position()
        problem = mismatch.problem_at(position, gold.name)
    is_after_last_prediction = position == len(predicted_ids)
    if is_after_last_prediction:
        claim_id = quoted(mismatch.first_id_without_prediction)
        problem = f"no prediction for claim {claim_id} of {gold.name} ({mismatch.missing_predictions_text()})"
        raise InputError(problem, file=predictions.name, remedy=mismatch.remedy())
    place = f"line {position + 1}, claim {short_text(predicted_ids[position])}"
    raise InputError(problem, file=predictions.name, place=place, remedy=mismatch.remedy())


# ---- Judging an abstract


def judge_abstract(sets: Sequence[LabelledSentences] | None, predicted: LabelledSentences) -> AbstractVerdict:
    """Return the verdict on the prediction for an abstract.

    `sets` are the gold sets of the abstract, or None if the abstract is not relevant.

    For the measures of abstracts, only leading sentences count: all sentences of a gold set must be among the first
    three predicted sentences, or among the first n if the shortest gold set has n > 3 sentences. For the measures of
    sentences, all predicted sentences count: a sentence is correct if its whole gold set is predicted.

    Raises InputError if a predicted sentence is in several gold sets.
    """
    if sets is None:
        return AbstractVerdict(
            is_label_right=False, leading_count=SENTENCE_CAP, contained_set=None, correct_sentences=frozenset()
        )
    keys_of_sets = [sentence_keys(gold_set.sentences) for gold_set in sets]
    predicted_keys = [as_key(sentence) for sentence in predicted.sentences]
    size_of_shortest_set = min([len(keys) for keys in keys_of_sets])
    leading_count = max(SENTENCE_CAP, size_of_shortest_set)
    leading_keys = frozenset(predicted_keys[:leading_count])
    complete_sets = [keys for keys in keys_of_sets if keys <= leading_keys]
    contained_set = complete_sets[0] if complete_sets else None
    return AbstractVerdict(
        is_label_right=predicted.label == sets[0].label,
        leading_count=leading_count,
        contained_set=contained_set,
        correct_sentences=_find_correct_sentences(keys_of_sets, frozenset(predicted_keys)),
    )


def _find_correct_sentences(
    keys_of_sets: Iterable[frozenset[Hashable]], predicted_keys: frozenset[Hashable]
) -> frozenset[Hashable]:
    """Return the keys of the sentences of all gold sets that are predicted completely.

    `keys_of_sets` holds the keys (`as_key`) of the sentences of each gold set of an abstract, and `predicted_keys` the
    keys of the predicted sentences. Raises InputError if a predicted sentence is in several gold sets.
    """
    predicted_keys_of_earlier_sets: set[Hashable] = set()
    correct_keys: set[Hashable] = set()
    for keys in keys_of_sets:
        predicted_keys_of_set = keys & predicted_keys
        shared_keys = predicted_keys_of_earlier_sets & predicted_keys_of_set
        if shared_keys:
            shared_sentence = min([short_text(key) for key in shared_keys])
            raise InputError(f"the predicted sentence {shared_sentence} lies in two evidence sets of the abstract")
        predicted_keys_of_earlier_sets |= predicted_keys_of_set
        is_complete = keys <= predicted_keys
        if is_complete:
            correct_keys |= keys
    return frozenset(correct_keys)


# ---- Explaining an abstract


def _show_gold_sets(sets: Sequence[LabelledSentences]) -> str:
    """Return the label of the gold sets of an abstract and the sentences of each set: `SUPPORT  {0, 1} {11}`."""
    shown_sets = [set_text(sentence_keys(gold_set.sentences)) for gold_set in sets]
    return f"{short_text(sets[0].label)}  {' '.join(shown_sets)}"


def _explain_abstract(
    abstract: str, sets: Sequence[LabelledSentences] | None, predicted: LabelledSentences
) -> Iterator[str]:
    """Yield the lines that explain how the prediction for an abstract was judged.

    `sets` are the gold sets of the abstract, or None if the abstract is not relevant.
    """
    shown_sentences = ", ".join([quoted(sentence) for sentence in predicted.sentences])
    if sets is None:
        yield f"abstract {short_text(abstract)}: not relevant"
        yield "  gold       -"
        yield f"  predicted  {predicted.label}  [{shown_sentences}]"
        yield f"  wrong      1 abstract, {number_with_noun(len(predicted.sentences), 'sentence')}"
        return
    yield f"abstract {short_text(abstract)}: relevant"
    yield f"  gold       {_show_gold_sets(sets)}"
    yield f"  predicted  {predicted.label}  [{shown_sentences}]"
    verdict = judge_abstract(sets, predicted)
    label_only = "correct" if verdict.is_label_right else "wrong"
    labels = "labels agree" if verdict.is_label_right else "labels differ"
    rationalized = "correct" if verdict.is_rationalized else "wrong"
    contained_set = "no whole gold set" if verdict.contained_set is None else set_text(verdict.contained_set)
    leading_sentences = f"the first {verdict.leading_count} sentences contain {contained_set}"
    yield f"  label only       {label_only}: {labels}"
    yield f"  rationalized     {rationalized}: {labels}, {leading_sentences}"
    yield from _explain_sentences(predicted, sets, verdict)


def _explain_sentences(
    predicted: LabelledSentences, sets: Sequence[LabelledSentences], verdict: AbstractVerdict
) -> Iterator[str]:
    """Yield a line for each predicted sentence of a relevant abstract, which says that it is correct or why not."""
    missing_by_sentence = _missing_by_sentence(sets, sentence_keys(predicted.sentences))
    explained_keys: set[Hashable] = set()
    for sentence in predicted.sentences:
        key = as_key(sentence)
        if key in explained_keys:
            reason = "wrong: listed before"
        elif key in verdict.correct_sentences:
            reason = "correct" if verdict.is_label_right else "correct for selection, not with label"
        elif key in missing_by_sentence:
            reason = f"wrong: its gold set also needs {missing_by_sentence[key]}"
        else:
            reason = "wrong: in no gold set"
        explained_keys.add(key)
        yield f"  sentence {quoted(sentence)}: {reason}"


def _missing_by_sentence(sets: Iterable[LabelledSentences], predicted_keys: frozenset[Hashable]) -> dict[Hashable, str]:
    """Return for each sentence of the gold sets which other sentences of its first set are not predicted.

    The dictionary has texts such as "{3, 4}" by the keys (`as_key`) of the sentences. `predicted_keys` are the keys of
    the predicted sentences of the abstract.
    """
    missing_by_sentence: dict[Hashable, str] = {}
    for gold_set in sets:
        keys = sentence_keys(gold_set.sentences)
        missing = set_text(keys - predicted_keys)
        for key in keys:
            missing_by_sentence.setdefault(key, missing)
    return missing_by_sentence


MODE: Final = SciFact()
