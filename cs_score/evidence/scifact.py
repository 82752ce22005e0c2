"""Scoring for the SciFact leaderboard: abstracts with labels, and sentences as evidence (Wadden et al. 2020).
A gold set is a label, such as SUPPORT, and sentences that are enough evidence together. A predicted abstract is
rationalized if its label is right and it contains a whole gold set.

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
from cs_score.evidence import reading
from cs_score.evidence.abstracts import AbstractsMode, Claim, Entry, extra_sentences, sentence_keys
from cs_score.evidence.mismatches import MOST_COMPARED, DocumentsOfClaim, document_notices
from cs_score.evidence.mode import Contents, PairedUnit, Part, Progress, Row, Unit, left_out_notices, report_rows
from cs_score.evidence.reading import InputContent, as_key, braced_text, quoted, short_text, text_of
from cs_score.measures import Divide, measure_names, precision_recall_f1
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

    `sentences` contains the numbers as listed in the file, including repetitions.
    """

    label: Any
    sentences: tuple[object, ...]

    def as_entry(self) -> Entry:
        """Return the label and the sentences as a dictionary: {"label": "SUPPORT", "sentences": (2, 5)}."""
        return {"label": self.label, "sentences": self.sentences}


class AbstractVerdict(NamedTuple):
    """The judgment of the prediction for an abstract. Sentences are represented by their keys (`as_key`).

    Only the first predicted sentences of an abstract count for its rationale. `counted_sentence_limit` is the number of
    sentences that count. `contained_set` is the first gold set that is contained in these sentences, or None if there
    is no such set. `correct_sentences` are the sentences of all gold sets that are predicted completely.
    """

    is_label_right: bool
    counted_sentence_limit: int
    contained_set: frozenset[Hashable] | None
    correct_sentences: frozenset[Hashable]

    @property
    def is_rationalized(self) -> bool:
        """True if the label is right and the leading predicted sentences contain a whole gold set."""
        return self.is_label_right and self.contained_set is not None


class SciFact(AbstractsMode):
    """SciFact claims in the order of gold, with evidence from abstracts.

    In gold an abstract has evidence sets, each with a label and sentence numbers; all sets of an abstract have the same
    label. The prediction for a claim has a single entry for each abstract, with a label and sentence numbers.
    """

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
        # These are the abstracts with the right label, the abstracts that are also rationalized, the sentences that are
        # correctly selected, and the correct sentences in abstracts with the right label.
        label_only_abstracts, rationalized_abstracts, selected_sentences, labelled_sentences = correct_counts
        scores: list[Any] = []
        for correct_abstracts in (label_only_abstracts, rationalized_abstracts):
            scores += precision_recall_f1(correct_abstracts, retrieved_abstracts, abstracts, divide)
        for correct_sentences in (selected_sentences, labelled_sentences):
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
    ) -> tuple[Iterable[PairedUnit], Iterable[str]]:
        """Return each claim of gold with its prediction, and the notices for the user.

        Each line of gold is paired with the same line of the predictions. With the option `any_order`, claims are
        matched by id. If an id is repeated, its first claim is paired with its first prediction, its second claim with
        its second prediction, and so on. Raises InputError if the files have different claims.
        """
        # With the option `answered_only` only claims with a prediction are scored.
        scored = select_scored_claims(gold, predictions, options)
        _check_claims(scored.gold, predictions, any_order=options.any_order)
        claims: list[Claim] = scored.gold.content
        predicted_claims: list[Claim] = predictions.content
        if options.any_order:
            predicted_claims = _sort_like_gold(predicted_claims, claims)
        return pair_claims(claims, predicted_claims), scored.notices

    def mismatches(
        self, gold: InputContent, predictions: InputContent, units: Sequence[Unit], table: UnitTable
    ) -> Iterator[str]:
        """Yield a notice if gold has no evidence at all, or otherwise notices about different spellings.

        The latter concern unknown labels in gold, and ids of abstracts and sentence numbers that are spelled
        differently in gold and in the predictions.
        """
        has_evidence = any(unit.gold.evidence for unit in units)
        if units and not has_evidence:
            yield f"{gold.name}: no claim has evidence, so that every measure is 0"
            return
        first_units = units[:MOST_COMPARED]
        yield from _unknown_label_notices(first_units, gold.name)
        claims = [_documents_of_claim(unit) for unit in first_units]
        yield from document_notices(claims, (gold.name, predictions.name), "abstract")

    def contents(self, gold: Any, predictions: Any, table: UnitTable) -> tuple[Contents, Contents]:
        """Return the numbers of claims, abstracts and evidence sentences in gold and in the predictions.

        The numbers of each file are pairs such as `((300, "claim"), (412, "abstract"), (520, "evidence sentence"))`.
        """
        totals = [int(total) for total in table.sums()]
        total_by_column = dict(zip(table.columns, totals))
        claims = (len(gold), "claim")  # both files have the same claims, or they could not be scored
        gold_abstracts = (total_by_column["relevant_abstracts"], "abstract")
        gold_sentences = (total_by_column["relevant_sentences"], "evidence sentence")
        predicted_abstracts = (total_by_column["retrieved_abstracts"], "abstract")
        predicted_sentences = (total_by_column["retrieved_sentences"], "evidence sentence")
        return (claims, gold_abstracts, gold_sentences), (claims, predicted_abstracts, predicted_sentences)

    # ---- Scoring

    def rows_of(self, units: Sequence[Unit], progress: Progress) -> list[Row]:
        """Return the row of each claim, as computed by `row`. Errors (InputError) name the line of the claim.

        `progress` is not used, because claims are scored quickly.
        """
        rows = []
        with reading.ErrorLocation() as location:
            for line, unit in enumerate(units, start=1):
                location.file = unit.gold_file  # errors name this file and place until the next claim
                location.place = {"line": line, "claim": unit.id}
                rows.append(self.row(unit))
        return rows

    def row(self, unit: Unit) -> Row:
        """Return the counts of a claim in the order of the columns.

        The counts are the relevant and the retrieved abstracts, the relevant and the retrieved sentences, the abstracts
        with the right label, the abstracts that are also rationalized, the correct sentences, and the correct sentences
        of abstracts with the right label. A sentence counts as often as it is listed. Raises InputError, naming the
        abstract, if a predicted sentence is in several gold sets.
        """
        sets_by_abstract = unit.gold.evidence
        entry_by_abstract = unit.prediction.evidence
        verdicts = _judge_abstracts(sets_by_abstract, entry_by_abstract)
        return (
            len(sets_by_abstract),
            len(entry_by_abstract),
            sum([count_sentences(sets) for sets in sets_by_abstract.values()]),
            sum([len(entry.sentences) for entry in entry_by_abstract.values()]),
            *_count_correct(verdicts),
        )

    def explain_unit(self, unit: Unit, row: Row) -> Iterator[str]:
        """Yield the lines that explain a claim: each predicted abstract, then the abstracts of gold that are missed."""
        sets_by_abstract = unit.gold.evidence
        entry_by_abstract = unit.prediction.evidence
        yield f"claim {short_text(unit.id)}"
        for abstract, entry in entry_by_abstract.items():
            yield ""
            yield from _explain_abstract(abstract, sets_by_abstract.get(abstract), entry)
        for abstract, sets in sets_by_abstract.items():
            if abstract not in entry_by_abstract:
                yield ""
                yield from _explain_missed_abstract(abstract, sets)
        if not sets_by_abstract and not entry_by_abstract:
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
            sets_by_abstract[abstract] = [gold_set.as_entry() for gold_set in sets]
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
        return {abstract: [entry.as_entry()] for abstract, entry in unit.prediction.evidence.items()}

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
        """Return the abstracts of gold, starting with the predicted abstracts in the order of the prediction.

        For example, the abstracts "1", "2" and "3" of gold and the predicted abstracts "3", "9" and "2" give "3", "2"
        and "1".
        """
        gold_abstracts = list(gold)
        distinct_gold_abstracts = frozenset(gold_abstracts)
        predicted_gold_abstracts = [abstract for abstract in predicted if abstract in distinct_gold_abstracts]
        return dict.fromkeys(predicted_gold_abstracts + gold_abstracts)  # each abstract once, at its first position

    def parts(self, unit: Unit, measure: str) -> Iterator[Part]:
        """Yield the judged parts of a claim: its abstracts, their gold sets, and predicted sentences in no gold set.

        The abstracts of gold come first, followed by predicted abstracts without evidence in gold. The parts are the
        same for each measure.
        """
        sets_by_abstract = unit.gold.evidence
        entry_by_abstract = unit.prediction.evidence
        for abstract, sets in sets_by_abstract.items():
            yield from _parts_of_gold_abstract(abstract, sets, entry_by_abstract.get(abstract))
        for abstract, entry in entry_by_abstract.items():
            if abstract not in sets_by_abstract:
                yield Part(noun="abstract", value=abstract, is_right=False, judgment=f"{entry.label}, not relevant")


def _parts_of_gold_abstract(
    abstract: str, sets: Sequence[LabelledSentences], entry: LabelledSentences | None
) -> Iterator[Part]:
    """Yield the parts of an abstract of gold: the abstract, its gold sets, and predicted sentences in no gold set.

    Each part includes its judgment and its faults. `sets` are the gold sets of the abstract. `entry` is its prediction,
    or None if the abstract is not predicted.
    """
    yield _abstract_part(abstract, sets, entry)
    predicted_keys: frozenset[Hashable] = frozenset()
    if entry is not None:
        predicted_keys = sentence_keys(entry.sentences)
    for number, gold_set in enumerate(sets, start=1):
        yield _part_of_gold_set(abstract, number, gold_set, predicted_keys)
    if entry is not None:
        yield from _extra_sentence_parts(abstract, sets, entry)


def _extra_sentence_parts(abstract: str, sets: Sequence[LabelledSentences], entry: LabelledSentences) -> Iterator[Part]:
    """Yield each predicted sentence of an abstract that is in none of its gold sets. It is judged as wrong.

    `sets` are the gold sets of the abstract, and `entry` is the prediction for it.
    """
    gold_sets = [gold_set.as_entry() for gold_set in sets]
    for sentence in extra_sentences([entry.as_entry()], gold_sets):
        value = {"abstract": abstract, "sentence": sentence}
        yield Part(noun="sentence", value=value, is_right=False, judgment="in no gold set")


def count_sentences(sets: Iterable[LabelledSentences]) -> int:
    """Return the number of sentences in evidence sets. A sentence counts as often as the sets list it."""
    return sum([len(gold_set.sentences) for gold_set in sets])


def _abstract_part(abstract: str, sets: Sequence[LabelledSentences], entry: LabelledSentences | None) -> Part:
    """Return an abstract of gold with the judgment of its prediction.

    `sets` are its gold sets. `entry` is its prediction, or None if the abstract is not predicted. An abstract is
    rationalized if its label is right and its first predicted sentences (three or a few more) contain a whole gold set.
    """
    if entry is None:
        return Part(noun="abstract", value=abstract, is_right=False, judgment=None)
    verdict = judge_abstract(sets, entry)
    if not verdict.is_label_right:
        judgment = f"{entry.label}, gold {text_of(sets[0].label)}"
    elif verdict.is_rationalized:
        judgment = f"{entry.label}, rationalized"
    else:
        judgment = f"{entry.label}, no whole gold set among its first {verdict.counted_sentence_limit} sentences"
    return Part(noun="abstract", value=abstract, is_right=verdict.is_label_right, judgment=judgment)


def _part_of_gold_set(
    abstract: str, number: int, gold_set: LabelledSentences, predicted_keys: frozenset[Hashable]
) -> Part:
    """Return a gold set of an abstract with its judgment: it is right if all of its sentences are predicted.

    `number` is the number of the set in the abstract, from 1. `predicted_keys` are the keys (`as_key`) of the sentences
    that are predicted for the abstract.
    """
    gold_keys = sentence_keys(gold_set.sentences)
    predicted_count = len(gold_keys & predicted_keys)
    value = {"abstract": abstract, "set": number, "sentences": list(gold_set.sentences)}
    return Part(
        noun="evidence set",
        value=value,
        is_right=predicted_count == len(gold_keys),
        judgment=judgment_of_set(predicted_count, len(gold_keys)),
    )


def judgment_of_set(predicted_count: int, sentence_count: int) -> str | None:
    """Return a description of how much of a gold set is predicted: "complete", or "1 of 2 sentences".

    `predicted_count` is the number of predicted sentences of the set, and `sentence_count` the number of all its
    sentences. Return None if no sentence is predicted.
    """
    if predicted_count == sentence_count:
        return "complete"
    if not predicted_count:
        return None
    return f"{predicted_count:,} of {number_with_noun(sentence_count, 'sentence')}"


def _unknown_label_notices(units: Sequence[Unit], gold_file: str) -> Iterator[str]:
    """Yield a notice if gold has labels other than SUPPORT and CONTRADICT, which no prediction can have.

    `units` are the claims whose labels are looked at.
    """
    unknown_labels = _gold_labels(units).difference(LABELS)
    if unknown_labels:
        listed_labels = ", ".join(sorted([quoted(label) for label in unknown_labels]))
        possible_labels = " and ".join(LABELS)
        yield f"{gold_file}: labels {listed_labels}, which no prediction can have: these have {possible_labels}"


def _gold_labels(units: Iterable[Unit]) -> set[str]:
    """Return the gold labels of the abstracts of some claims. Labels that are not texts are left out."""
    labels: set[str] = set()
    for unit in units:
        for sets in unit.gold.evidence.values():
            label = sets[0].label  # all sets of an abstract have the same label
            if isinstance(label, str):
                labels.add(label)
    return labels


def _documents_of_claim(unit: Unit) -> DocumentsOfClaim:
    """Return the abstracts of a claim with the sentences of their first gold set and with the predicted sentences."""
    gold_sentences = {abstract: sets[0].sentences for abstract, sets in unit.gold.evidence.items()}
    predicted_sentences = {abstract: entry.sentences for abstract, entry in unit.prediction.evidence.items()}
    return DocumentsOfClaim(unit.id, gold_sentences, predicted_sentences)


# ---- Reading claims


def _read_claims(source: Source, read_evidence: Callable[[object], Any]) -> list[Claim] | reading.ConvertedContent:
    """Return the claims of a file, with a notice if some of them have null or an empty list as evidence.

    `read_evidence` is a function that returns the evidence for an abstract, given its JSON value. Raises InputError for
    a malformed line.
    """
    claims = []
    null_or_list_count = 0  # the number of lines whose evidence is null or an empty list
    no_id: list[object] = []  # messages omit a list in a place, and thus the claim
    with reading.ErrorLocation() as location:
        for value in reading.json_lines(source, location):
            fields = reading.as_object(value, "the line")
            location.place["claim"] = fields.get("id", no_id)
            claims.append(_parse_claim(fields, read_evidence))
            null_or_list_count += is_empty_evidence(fields["evidence"])
    if not null_or_list_count:
        return claims
    notice = f"{number_with_noun(null_or_list_count, 'claim')} with evidence null or [], read as {{}}"
    return reading.ConvertedContent(claims, notice)


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
                location.place["abstract"] = abstract  # for errors of the next line
                evidence[abstract] = read_evidence(entries)
    citations = fields.get("cited_doc_ids", UNSET)
    # In SciFact, each abstract of the evidence has a label, but the claim as a whole does not.
    return Claim(claim_id, label=UNSET, evidence=evidence, citations=citations)


def is_empty_evidence(evidence: object) -> bool:
    """Return whether a JSON value is null or an empty list, which some files have where a claim has no evidence."""
    return evidence is None or evidence == []


def read_labelled_sets(value: object, *, one_label: bool = False) -> tuple[LabelledSentences, ...]:
    """Return the evidence sets of gold for an abstract, given its JSON value, which is a list of objects.

    For example, [{"label": "SUPPORT", "sentences": [2, 5]}] gives a single set with this label and two sentences.
    Raises InputError for malformed sets. If `one_label` is true, it also raises it for sets with different labels.
    """
    set_objects = _objects_of_sets(value)
    labels = _labels_of_sets(set_objects, one_label=one_label)
    labelled_sets = []
    for label, fields in zip(labels, set_objects):
        sentences = reading.sentences_of(fields)
        labelled_sets.append(LabelledSentences(label, tuple(sentences)))
    return tuple(labelled_sets)


def _objects_of_sets(value: object) -> list[reading.Object]:
    """Return the evidence sets of gold for an abstract as JSON objects, whose keys are not checked.

    Raises InputError for anything but a list of at least one object.
    """
    set_objects = []
    for set_value in reading.as_list(value, "the gold evidence"):
        set_objects.append(reading.as_object(set_value, "an evidence set"))
    if not set_objects:
        raise InputError("no evidence sets are listed", remedy="leave out abstracts without evidence")
    return set_objects


def _labels_of_sets(set_objects: Sequence[reading.Object], *, one_label: bool) -> list[object]:
    """Return the label of each evidence set of an abstract.

    Raises InputError for a set without a label, and, if `one_label` is true, for a label that differs from the first.
    """
    labels: list[object] = []
    for fields in set_objects:
        label = reading.member(fields, "label")
        if one_label and labels and label != labels[0]:
            raise InputError(f"evidence sets labelled {quoted(labels[0])} and {quoted(label)}")
        labels.append(label)
    return labels


def _read_gold_sets(value: object) -> tuple[LabelledSentences, ...]:
    """Return the evidence sets of gold for an abstract. Raises InputError for malformed sets and different labels."""
    return read_labelled_sets(value, one_label=True)


def _read_predicted_entry(value: object) -> LabelledSentences:
    """Return the prediction for an abstract, given its JSON value: `{"label": "SUPPORT", "sentences": [2, 5]}`.

    Raises InputError for a malformed value, and for a label other than SUPPORT and CONTRADICT.
    """
    if isinstance(value, list):
        raise InputError("a list where one object with label and sentences is expected")
    fields = reading.as_object(value, "the prediction")
    label = _check_label(reading.member(fields, "label"))
    sentences = reading.sentences_of(fields)
    return LabelledSentences(label, tuple(sentences))


def _check_label(label: object) -> str:
    """Return the predicted label of an abstract, which is SUPPORT or CONTRADICT.

    Raises InputError for any other value, with a remedy if it is a label of another task, such as "REFUTES".
    """
    if isinstance(label, str) and label in LABELS:
        return sys.intern(label)  # the file has each of the two labels many times
    remedy = None
    if isinstance(label, str):
        remedy = _REMEDIES.get(label.strip().upper())
    raise InputError(f"label {quoted(label)} is not one of {', '.join(LABELS)}", remedy=remedy)


# ---- Matching the claims of gold and predictions


class ScoredClaims(NamedTuple):
    """Gold with the claims that are scored, and the notices about the claims that are left out."""

    gold: InputContent
    notices: list[str]


def select_scored_claims(gold: InputContent, predictions: InputContent, options: SciFactOptions) -> ScoredClaims:
    """Return gold with the claims that are scored: all claims, or with `answered_only` those with a prediction.

    Raises InputError if the option is on and no claim has a prediction.
    """
    if not options.answered_only:
        return ScoredClaims(gold, [])
    claims = claims_with_predictions(gold.content, predictions.content)
    notices = left_out_notices(predictions.name, len(claims), len(gold.content), "claim")
    return ScoredClaims(replace(gold, content=claims), notices)


def pair_claims(claims: Iterable[Any], predictions: Iterable[Any]) -> list[PairedUnit]:
    """Return a pair `(id, claim, prediction)` for each claim of gold; the predictions have the same order."""
    return [(claim.id, claim, prediction) for claim, prediction in zip(claims, predictions)]


def claims_with_predictions(claims: Sequence[Any], predictions: Sequence[Any]) -> list[Any]:
    """Return the claims of gold that have a prediction with the same id.

    If an id is repeated and has fewer predictions than claims, only its first claims are returned, one for each of the
    predictions.
    """
    predictions_left = Counter([as_key(prediction.id) for prediction in predictions])
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
    for prediction in predictions:
        predictions_by_key[as_key(prediction.id)].append(prediction)
    sorted_predictions = []
    for claim in claims:
        predictions_left = predictions_by_key[as_key(claim.id)]
        sorted_predictions.append(predictions_left.popleft())
    return sorted_predictions


class _IdMismatch(NamedTuple):
    """The difference between the claim ids of gold and those of the predictions, which an error message describes.

    `missing_predictions` counts the claims of gold that have no prediction, and `extra_predictions` counts the
    predictions that have no claim in gold. Both count by the key of the id (`as_key`). `gold_file` and
    `predictions_file` are the names of the files.
    """

    gold_file: str
    predictions_file: str
    gold_ids: list[Hashable]
    predicted_ids: list[Hashable]
    missing_predictions: Counter[Hashable]
    extra_predictions: Counter[Hashable]

    @property
    def is_other_order(self) -> bool:
        """True if both files have the same claims in different orders."""
        return not self.missing_predictions and not self.extra_predictions

    @property
    def has_only_missing_predictions(self) -> bool:
        """True if claims of gold have no prediction, and every prediction has a claim in gold."""
        return bool(self.missing_predictions) and not self.extra_predictions

    @property
    def first_id_without_prediction(self) -> Hashable:
        """The id of the first claim of gold that has no prediction."""
        return next(claim_id for claim_id in self.gold_ids if as_key(claim_id) in self.missing_predictions)

    def missing_predictions_text(self) -> str:
        """Return a description of how many claims have no prediction: `2 of 300 claims have none`."""
        return f"{self.missing_predictions.total():,} of {number_with_noun(len(self.gold_ids), 'claim')} have none"

    def error_of_matching_by_id(self) -> InputError:
        """Return the error for claims matched by id, which names the first prediction without a claim in gold.

        If every prediction has a claim, the error names the first claim without a prediction instead.
        """
        for position, claim_id in enumerate(self.predicted_ids):
            if as_key(claim_id) in self.extra_predictions:
                # If both files repeat an id, gold has fewer claims with this id than there are predictions.
                return self._error_at(position, f"{self.gold_file} has no such claim (or fewer of them)")
        return self._error_of_missing_prediction()

    def error_of_matching_by_position(self) -> InputError:
        """Return the error for claims matched by position, which names the first prediction whose id differs from gold.

        If there is no difference before the end of the predictions, the error names the first claim without a
        prediction.
        """
        position = self._first_different_position()  # or the end of the shorter file if there is no difference
        predictions_end_here = position == len(self.predicted_ids)
        if predictions_end_here:
            return self._error_of_missing_prediction()
        gold_ends_here = position == len(self.gold_ids)
        if gold_ends_here:
            return self._error_at(position, f"{self.gold_file} ends before this line")
        return self._error_at(position, self._describe_different_ids(position))

    def _first_different_position(self) -> int:
        """Return the first position at which gold and predictions have different ids.

        If there is none, it is the number of claims of the shorter file.
        """
        for position, (gold_id, predicted_id) in enumerate(zip(self.gold_ids, self.predicted_ids)):
            if gold_id != predicted_id:
                return position
        return min(len(self.gold_ids), len(self.predicted_ids))

    def _describe_different_ids(self, position: int) -> str:
        """Return a description of the ids that the files have at a position: `id 7 where gold.jsonl has 5`."""
        problem = (
            f"id {quoted(self.predicted_ids[position])} where {self.gold_file} has {quoted(self.gold_ids[position])}"
        )
        if self.has_only_missing_predictions:
            problem += f" ({self.missing_predictions_text()})"
        return problem

    def _error_at(self, position: int, problem: str) -> InputError:
        """Return an error about the prediction at a position, with the number of its line and its claim."""
        place = f"line {position + 1}, claim {short_text(self.predicted_ids[position])}"
        return InputError(problem, file=self.predictions_file, place=place, remedy=self.remedy())

    def _error_of_missing_prediction(self) -> InputError:
        """Return an error that names the first claim without a prediction, and says how many have none."""
        claim_id = quoted(self.first_id_without_prediction)
        problem = f"no prediction for claim {claim_id} of {self.gold_file} ({self.missing_predictions_text()})"
        return InputError(problem, file=self.predictions_file, remedy=self.remedy())

    def remedy(self) -> str | None:
        """Return advice to the user about the difference, or None if no advice is known."""
        if self.is_other_order:
            return "the claims are those of gold in another order: --any-order matches them by id"
        gold_texts = Counter([str(claim_id) for claim_id in self.gold_ids])
        predicted_texts = Counter([str(claim_id) for claim_id in self.predicted_ids])
        if gold_texts == predicted_texts:
            return "ids are text in one file and numbers in the other"
        if self.has_only_missing_predictions:
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
    mismatch = _compare_ids(gold_ids, predicted_ids, (gold.name, predictions.name))
    if not any_order:
        raise mismatch.error_of_matching_by_position()
    if mismatch.is_other_order:  # the same ids in another order, which `any_order` allows
        return
    raise mismatch.error_of_matching_by_id()


def _compare_ids(gold_ids: list[Hashable], predicted_ids: list[Hashable], file_names: tuple[str, str]) -> _IdMismatch:
    """Return the difference between the claim ids of gold and those of the predictions, in the order of the files.

    `file_names` are the names of the gold file and of the predictions file.
    """
    gold_counts = Counter([as_key(claim_id) for claim_id in gold_ids])
    predicted_counts = Counter([as_key(claim_id) for claim_id in predicted_ids])
    gold_file, predictions_file = file_names
    return _IdMismatch(
        gold_file=gold_file,
        predictions_file=predictions_file,
        gold_ids=gold_ids,
        predicted_ids=predicted_ids,
        missing_predictions=gold_counts - predicted_counts,
        extra_predictions=predicted_counts - gold_counts,
    )


# ---- Judging an abstract


_VERDICT_ON_IRRELEVANT: Final = AbstractVerdict(
    is_label_right=False, counted_sentence_limit=SENTENCE_CAP, contained_set=None, correct_sentences=frozenset()
)
"""The verdict on the prediction for an abstract that has no evidence in gold."""


def _judge_abstracts(
    sets_by_abstract: Mapping[str, Sequence[LabelledSentences]], entry_by_abstract: Mapping[str, LabelledSentences]
) -> list[AbstractVerdict]:
    """Return the verdict on each predicted abstract of a claim.

    `sets_by_abstract` contains the gold sets of the claim, and `entry_by_abstract` contains its predictions. Raises
    InputError, naming the abstract, if a predicted sentence is in several gold sets.
    """
    verdicts = []
    with reading.ErrorLocation() as location:
        for abstract, entry in entry_by_abstract.items():
            location.place["abstract"] = abstract
            verdicts.append(judge_abstract(sets_by_abstract.get(abstract), entry))
    return verdicts


def _count_correct(verdicts: Iterable[AbstractVerdict]) -> tuple[int, int, int, int]:
    """Return the numbers of correct abstracts and sentences of a claim, such as (2, 1, 3, 3).

    The counts are the abstracts with the right label, the abstracts that are also rationalized, the correct sentences
    of all abstracts, and the correct sentences of the abstracts with the right label.
    """
    abstract_count = 0
    rationalized_count = 0
    sentence_count = 0
    labelled_sentence_count = 0
    for verdict in verdicts:
        sentence_count += len(verdict.correct_sentences)
        if verdict.is_label_right:
            abstract_count += 1
            labelled_sentence_count += len(verdict.correct_sentences)
            if verdict.is_rationalized:
                rationalized_count += 1
    return abstract_count, rationalized_count, sentence_count, labelled_sentence_count


def judge_abstract(sets: Sequence[LabelledSentences] | None, entry: LabelledSentences) -> AbstractVerdict:
    """Return the verdict on `entry`, the prediction for an abstract: a label and sentences.

    `sets` are the gold sets of the abstract, or None if the abstract is not relevant.

    For the measures of abstracts, only leading sentences count: all sentences of a gold set must be among the first
    three predicted sentences, or among the first n if the shortest gold set has n > 3 sentences. For the measures of
    sentences, all predicted sentences count: a sentence is correct if its whole gold set is predicted.

    Raises InputError if a predicted sentence is in several gold sets.
    """
    if sets is None:
        return _VERDICT_ON_IRRELEVANT
    keys_of_sets = [sentence_keys(gold_set.sentences) for gold_set in sets]
    predicted_keys = [as_key(sentence) for sentence in entry.sentences]
    length_of_shortest_set = min([len(keys) for keys in keys_of_sets])
    counted_sentence_limit = max(SENTENCE_CAP, length_of_shortest_set)
    leading_keys = frozenset(predicted_keys[:counted_sentence_limit])
    return AbstractVerdict(
        is_label_right=entry.label == sets[0].label,  # all gold sets of an abstract have the same label
        counted_sentence_limit=counted_sentence_limit,
        contained_set=_first_contained_set(keys_of_sets, leading_keys),
        correct_sentences=_find_correct_sentences(keys_of_sets, frozenset(predicted_keys)),
    )


def _first_contained_set(
    keys_of_sets: Iterable[frozenset[Hashable]], leading_keys: frozenset[Hashable]
) -> frozenset[Hashable] | None:
    """Return the first gold set of an abstract contained in the leading predicted sentences, or None if there is none.

    Only the leading sentences of a prediction count, usually the first three (`SENTENCE_CAP`). A set consists of keys
    of sentence numbers: texts that are the same for equal numbers, such as 2 and 2.0.
    """
    for keys in keys_of_sets:
        if keys <= leading_keys:
            return keys
    return None


def _find_correct_sentences(
    keys_of_sets: Sequence[frozenset[Hashable]], predicted_keys: frozenset[Hashable]
) -> frozenset[Hashable]:
    """Return the keys of the sentences of all gold sets that are predicted completely.

    `keys_of_sets` holds the keys of the sentences of each gold set of an abstract, and `predicted_keys` the keys of the
    predicted sentences. Equal sentence numbers, such as 2 and 2.0, have the same key. Raises InputError if a predicted
    sentence is in several gold sets.
    """
    if len(keys_of_sets) > 1:
        _check_in_one_set(keys_of_sets, predicted_keys)
    correct_keys: set[Hashable] = set()
    for keys in keys_of_sets:
        if keys <= predicted_keys:
            correct_keys |= keys
    return frozenset(correct_keys)


def _check_in_one_set(keys_of_sets: Iterable[frozenset[Hashable]], predicted_keys: frozenset[Hashable]) -> None:
    """Raise InputError if a predicted sentence of an abstract is in several of its gold sets.

    A set consists of keys of sentence numbers: texts that are the same for equal numbers, such as 2 and 2.0.
    """
    keys_in_earlier_sets: set[Hashable] = set()
    for keys in keys_of_sets:
        predicted_keys_of_set = keys & predicted_keys
        shared_keys = keys_in_earlier_sets & predicted_keys_of_set
        if shared_keys:
            shared_sentence = min([short_text(key) for key in shared_keys])  # the key of the number 2 is the text "2"
            raise InputError(f"the predicted sentence {shared_sentence} lies in two evidence sets of the abstract")
        keys_in_earlier_sets |= predicted_keys_of_set


# ---- Explaining an abstract


def _show_gold_sets(sets: Sequence[LabelledSentences]) -> str:
    """Return the label of the gold sets of an abstract and the sentences of each set: `SUPPORT  {0, 1} {11}`."""
    shown_sets = [braced_text(sentence_keys(gold_set.sentences)) for gold_set in sets]
    return f"{short_text(sets[0].label)}  {' '.join(shown_sets)}"


def _explain_abstract(
    abstract: str, sets: Sequence[LabelledSentences] | None, entry: LabelledSentences
) -> Iterator[str]:
    """Yield the lines that explain how `entry`, the prediction for an abstract, was judged.

    `sets` are the gold sets of the abstract, or None if the abstract is not relevant.
    """
    if sets is None:
        yield f"abstract {short_text(abstract)}: not relevant"
        yield "  gold       -"
        yield f"  predicted  {_show_prediction(entry)}"
        yield f"  wrong      1 abstract, {number_with_noun(len(entry.sentences), 'sentence')}"
        return
    verdict = judge_abstract(sets, entry)
    yield f"abstract {short_text(abstract)}: relevant"
    yield f"  gold       {_show_gold_sets(sets)}"
    yield f"  predicted  {_show_prediction(entry)}"
    yield from _explain_verdict(verdict)
    yield from _explain_sentences(entry, sets, verdict)


def _show_prediction(entry: LabelledSentences) -> str:
    """Return the prediction for an abstract as explanations show it: `SUPPORT  [2, '5']`."""
    shown_sentences = ", ".join([quoted(sentence) for sentence in entry.sentences])
    return f"{entry.label}  [{shown_sentences}]"


def _explain_missed_abstract(abstract: str, sets: Sequence[LabelledSentences]) -> Iterator[str]:
    """Yield the lines that show an abstract of gold that is not predicted, and the number of sentences missed.

    `sets` are the gold sets of the abstract.
    """
    yield f"abstract {short_text(abstract)}: not predicted"
    yield f"  gold       {_show_gold_sets(sets)}"
    yield f"  missed     1 abstract, {number_with_noun(count_sentences(sets), 'sentence')}"


def _explain_verdict(verdict: AbstractVerdict) -> Iterator[str]:
    """Yield two lines about a predicted abstract: whether its label is right, and whether it is rationalized."""
    label_only_outcome = "correct" if verdict.is_label_right else "wrong"
    rationalized_outcome = "correct" if verdict.is_rationalized else "wrong"
    labels = "labels agree" if verdict.is_label_right else "labels differ"
    contained_set = "no whole gold set" if verdict.contained_set is None else braced_text(verdict.contained_set)
    leading_sentences = f"the first {verdict.counted_sentence_limit} sentences contain {contained_set}"
    yield f"  label only       {label_only_outcome}: {labels}"
    yield f"  rationalized     {rationalized_outcome}: {labels}, {leading_sentences}"


def _explain_sentences(
    entry: LabelledSentences, sets: Sequence[LabelledSentences], verdict: AbstractVerdict
) -> Iterator[str]:
    """Yield a line for each predicted sentence of a relevant abstract: whether the sentence is correct, or why not.

    An example is `  sentence 3: wrong: its gold set also needs {4}`.
    """
    missing_by_sentence = _missing_by_sentence(sets, sentence_keys(entry.sentences))
    explained_keys: set[Hashable] = set()
    for sentence in entry.sentences:
        key = as_key(sentence)
        outcome = _outcome_of_sentence(key, verdict, missing_by_sentence)
        if key in explained_keys:
            outcome = "wrong: listed before"
        explained_keys.add(key)
        yield f"  sentence {quoted(sentence)}: {outcome}"


def _outcome_of_sentence(key: Hashable, verdict: AbstractVerdict, missing_by_sentence: Mapping[Hashable, str]) -> str:
    """Return a description of whether a predicted sentence is correct, or why it is not: "wrong: in no gold set".

    `key` is the key of the sentence (`as_key`), and `verdict` the verdict on its abstract. `missing_by_sentence` says
    for each sentence of gold which sentences of its set are not predicted.
    """
    if key in verdict.correct_sentences:
        return "correct" if verdict.is_label_right else "correct for selection, not with label"
    if key in missing_by_sentence:
        return f"wrong: its gold set also needs {missing_by_sentence[key]}"
    return "wrong: in no gold set"


def _missing_by_sentence(sets: Iterable[LabelledSentences], predicted_keys: frozenset[Hashable]) -> dict[Hashable, str]:
    """Return a text such as "{3, 4}" for each sentence of the gold sets: the unpredicted sentences of its first set.

    The texts are indexed by the key (`as_key`) of the sentence. The caller looks up only predicted sentences, so the
    missing sentences are always other sentences of the set. `predicted_keys` are the keys of the predicted sentences of
    the abstract.
    """
    missing_by_sentence: dict[Hashable, str] = {}
    for gold_set in sets:
        keys = sentence_keys(gold_set.sentences)
        missing = braced_text(keys - predicted_keys)
        for key in keys:
            missing_by_sentence.setdefault(key, missing)
    return missing_by_sentence


MODE: Final = SciFact()
