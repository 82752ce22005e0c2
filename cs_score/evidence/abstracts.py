"""The rules that SciFact and claim verification share: claims with evidence by abstract, and the faults of predictions.

The evidence for an abstract is a list of entries, each with a label, such as SUPPORT, and a list of sentence numbers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

from msgspec import UNSET

from cs_score.base.errors import InputError
from cs_score.evidence.mode import NONE, Confusion, CorrectionScorer, Fault, Mode, Row, Unit
from cs_score.evidence.reading import as_key, text_of

EXTRA_ABSTRACT = "extra_abstract"
WRONG_LABEL = "wrong_label"
EXTRA_SENTENCE = "extra_sentence"
INCOMPLETE_RATIONALE = "incomplete_rationale"
MISSED_ABSTRACT = "missed_abstract"
KINDS = (EXTRA_ABSTRACT, WRONG_LABEL, EXTRA_SENTENCE, INCOMPLETE_RATIONALE, MISSED_ABSTRACT)

Entry: TypeAlias = dict[str, Any]
"""An evidence set of gold, or an entry of a prediction, as in files: {"label": "SUPPORT", "sentences": [2]}."""


class Claim(NamedTuple):
    """A claim of gold or of the predictions. The value of a missing key is UNSET, which is not the same as null.

    `citations` has the documents under the key `cited_doc_ids`.
    """

    id: Hashable
    label: object
    evidence: Any
    citations: object


class NearestSet(NamedTuple):
    """The gold set of an abstract that has the fewest missing sentences in the prediction.

    `entry` is the predicted entry that is compared with the set, None if there is none. `missing_sentences` are the
    sentences of the set that are not in this entry.
    """

    gold_set: Entry
    entry: Entry | None
    missing_sentences: list[object]


class AbstractsMode(Mode):
    """A task whose gold and predictions are claims, with entries of evidence for each abstract."""

    unit = "claim"
    has_lines = True
    kinds: ClassVar[tuple[str, ...]] = KINDS

    def is_gold(self, first: object) -> bool | None:
        """Return whether the first line of a file is one of gold, since only gold has the text of a claim.

        Return None if the line is no object.
        """
        if not isinstance(first, dict):
            return None
        return "claim" in first

    def prediction_to_json(self, prediction: Claim | None) -> Any:
        """Return the prediction for a claim as the JSON object of its line; None if there is no prediction."""
        if prediction is None:
            return None
        fields = {"id": prediction.id, "label": prediction.label, "evidence": prediction.evidence}
        return {name: value for name, value in fields.items() if value is not UNSET}

    # ---- Evidence of a claim, which each of the two tasks reads in its own way

    @abstractmethod
    def gold_sets(self, unit: Unit) -> Mapping[str, list[Entry]]:
        """Return the evidence sets of gold for a claim, by abstract."""

    @abstractmethod
    def predicted_entries(self, unit: Unit) -> dict[str, Any]:
        """Return the predicted entries for a claim by abstract, as copies that the caller may change.

        The value of an abstract is a list of entries, or another JSON value if the predictions file has one there.
        """

    @abstractmethod
    def entries_to_json(self, entries: Any) -> Any:
        """Return the entries of an abstract in the form of the predictions file."""

    @abstractmethod
    def entry_for_each_set(self, sets: Sequence[Entry], entries: Sequence[Entry]) -> Sequence[Entry | None]:
        """Return for each gold set of an abstract the predicted entry that it is compared with.

        The entry is None for a set that is compared with none.
        """

    @abstractmethod
    def missing_to_json(self, gold_set: Entry, sentences: list[object]) -> object:
        """Return the JSON value that a fault shows for the sentences of a gold set that are not predicted."""

    @abstractmethod
    def gold_evidence(self, unit: Unit) -> Mapping[str, Any]:
        """Return the evidence of gold for a claim by abstract, as it was read."""

    @abstractmethod
    def predicted_evidence(self, unit: Unit) -> Mapping[str, Any]:
        """Return the predicted evidence for a claim by abstract, as it was read."""

    def scored_citations(self, unit: Unit) -> Iterable[object]:
        """Return the documents that a claim of gold cites, if the task scores them; here none."""
        return ()

    def extra_abstracts(self, unit: Unit, gold: Mapping[str, Any], predicted: Iterable[str]) -> list[str]:
        """Return the predicted abstracts that are wrong because gold has no evidence in them.

        `gold` has the evidence of gold by abstract.
        """
        return [abstract for abstract in predicted if abstract not in gold]

    def order_abstracts(self, gold: Iterable[str], predicted: Iterable[str]) -> Iterable[str]:
        """Return the abstracts of gold in the order in which their faults are listed; here that of gold."""
        return gold

    def abstract_key(self, abstract: str) -> Hashable:
        """Return the key by which the scorer compares the ids of abstracts; here it is the id."""
        return abstract

    # ---- Faults of predictions

    def faults(self, unit: Unit, measure: str) -> list[Fault]:
        """Return the faults of the prediction for a claim, in the order in which the error budget corrects them."""
        sets_by_abstract = self.gold_sets(unit)
        predicted = self.predicted_entries(unit)
        faults = []
        for abstract in self.extra_abstracts(unit, sets_by_abstract, predicted):
            predicted_json = self.entries_to_json(predicted[abstract])
            faults.append(Fault(kind=EXTRA_ABSTRACT, part=abstract, predicted=predicted_json, gold=None))
        for abstract in self.order_abstracts(sets_by_abstract, predicted):
            sets = sets_by_abstract[abstract]
            if abstract in predicted:
                faults += self._faults_of_abstract(abstract, sets, scorable_entries(predicted[abstract]))
            else:
                first_set_json = self.entries_to_json(sets[:1])
                faults.append(Fault(kind=MISSED_ABSTRACT, part=abstract, predicted=None, gold=first_set_json))
        return self.sort_by_kind(faults)

    def _faults_of_abstract(self, abstract: str, sets: Sequence[Entry], entries: Sequence[Entry]) -> list[Fault]:
        """Return the faults of the predicted `entries` for an abstract with the gold sets `sets`.

        A label is wrong if no gold set has it; its fault says which label of gold should be there. If all labels of
        gold are predicted, a wrong label in addition to them is no fault, since there is none to put in its place.
        """
        faults = []
        gold_labels = _labels_by_key(sets)
        predicted_labels = _labels_by_key(entries)
        missing_labels = [label for key, label in gold_labels.items() if key not in predicted_labels]
        wrong_labels = [label for key, label in predicted_labels.items() if key not in gold_labels]
        if missing_labels and wrong_labels:
            faults.append(Fault(kind=WRONG_LABEL, part=abstract, predicted=wrong_labels[0], gold=missing_labels[0]))
        for sentence in extra_sentences(entries, sets):
            faults.append(Fault(kind=EXTRA_SENTENCE, part=abstract, predicted=sentence, gold=None))
        nearest_set = self._find_nearest_set(sets, entries)
        if nearest_set.missing_sentences:
            missing_json = self.missing_to_json(nearest_set.gold_set, nearest_set.missing_sentences)
            faults.append(Fault(kind=INCOMPLETE_RATIONALE, part=abstract, predicted=None, gold=missing_json))
        return faults

    def _find_nearest_set(self, sets: Sequence[Entry], entries: Sequence[Entry]) -> NearestSet:
        """Return the gold set of an abstract that has the fewest missing sentences in the predicted entries."""
        # An entry may be compared with many sets, so its keys are made once. They are kept by the identity of the
        # entry, since a dictionary cannot be a key.
        keys_by_identity = {id(entry): sentence_keys(entry["sentences"]) for entry in entries}
        candidates = []
        for gold_set, entry in zip(sets, self.entry_for_each_set(sets, entries)):
            predicted_keys = keys_by_identity.get(id(entry), frozenset())
            sentence_by_key = _first_by_key(gold_set["sentences"])
            missing_sentences = [sentence for key, sentence in sentence_by_key.items() if key not in predicted_keys]
            candidates.append(NearestSet(gold_set, entry, missing_sentences))
        return min(candidates, key=lambda candidate: len(candidate.missing_sentences))

    def correct_faults(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        """Return the prediction for a claim, with these faults of it corrected, as a JSON object."""
        sets_by_abstract = self.gold_sets(unit)
        evidence = self.predicted_entries(unit)
        extra_keys: dict[str, set[Hashable]] = {}
        for fault in faults:
            abstract = str(fault.part)
            if fault.kind == EXTRA_SENTENCE:
                extra_keys.setdefault(abstract, set()).add(as_key(fault.predicted))
            else:
                self._correct_fault(fault, evidence, sets_by_abstract.get(abstract, []))
        # Sentences are removed last, so that they are also removed from entries that another correction has changed.
        for abstract, keys in extra_keys.items():
            for entry in scorable_entries(evidence[abstract]):
                entry["sentences"] = [sentence for sentence in entry["sentences"] if as_key(sentence) not in keys]
        evidence_json = {abstract: self.entries_to_json(entries) for abstract, entries in evidence.items()}
        return {**self.prediction_to_json(unit.prediction), "evidence": evidence_json}

    def _correct_fault(self, fault: Fault, evidence: dict[str, Any], sets: list[Entry]) -> None:
        """Change predicted evidence so that a fault is corrected; the fault is of any kind but an extra sentence.

        `evidence` has the predicted entries by abstract, `sets` are the gold sets of the abstract with the fault.
        """
        abstract = str(fault.part)
        if fault.kind == EXTRA_ABSTRACT:
            del evidence[abstract]
        elif fault.kind == MISSED_ABSTRACT:
            evidence[abstract] = sets[:1]
        elif fault.kind == INCOMPLETE_RATIONALE:
            self._complete_nearest_set(evidence[abstract], sets)
        else:  # a wrong label
            gold_labels = _labels_by_key(sets)
            for entry in scorable_entries(evidence[abstract]):
                if as_key(entry["label"]) not in gold_labels:
                    entry["label"] = fault.gold

    def _complete_nearest_set(self, entries: Any, sets: list[Entry]) -> None:
        """Add the missing sentences of the nearest gold set of an abstract to the predicted `entries` for it.

        They are added to the entry that is compared with the set; if there is none, they make a new entry.
        """
        nearest_set = self._find_nearest_set(sets, scorable_entries(entries))
        entry = nearest_set.entry
        if entry is None:
            entries.append({"label": nearest_set.gold_set["label"], "sentences": nearest_set.missing_sentences})
        else:
            entry["sentences"] = [*entry["sentences"], *nearest_set.missing_sentences]

    def correction_scorer(self, units: Sequence[Unit], rows: Sequence[Row]) -> CorrectionScorer:
        """Return a function that returns the row of a claim after the correction of a single fault.

        The function scores only the abstract with the fault again.
        """
        try:
            return AbstractCorrectionScorer(self, units[0], rows[0]).rows_after_correction
        except InputError:  # the scorer would refuse any prediction for the claim
            return super().correction_scorer(units, rows)

    # ---- Groups and confusions

    def groups(self, unit: Unit) -> Mapping[str, str]:
        """Return the groups of a claim by gold: its labels, its numbers of sets and citations, its shortest set."""
        all_sets: list[Entry] = []
        for sets in self.gold_sets(unit).values():
            all_sets += sets
        labels = {text_of(gold_set["label"]) for gold_set in all_sets}
        set_sizes = [len(sentence_keys(gold_set["sentences"])) for gold_set in all_sets]
        groups = {
            "gold_label": " and ".join(sorted(labels)) or "no evidence",
            "gold_sets": str(len(all_sets)),
            "shortest_set": str(min(set_sizes, default=NONE)),
        }
        if isinstance(unit.gold.citations, list):
            groups["cited_documents"] = str(len(unit.gold.citations))
        return groups

    def confusions(self, unit: Unit) -> Iterator[Confusion]:
        """Yield which label was predicted for which label of gold, for each abstract of a claim.

        Each is a triple of the word "abstract", a label of gold and a predicted label, such as
        `("abstract", "SUPPORT", "CONTRADICT")`. An abstract has a triple for each of its labels in gold: if the label
        is not predicted, the first label that is predicted for the abstract is in its place. A predicted abstract that
        gold does not have has the label `NONE` in gold, and an abstract that is not predicted the predicted label
        `NONE`.
        """
        sets_by_abstract = self.gold_sets(unit)
        predicted = self.predicted_entries(unit)
        for abstract, sets in sets_by_abstract.items():
            entries = scorable_entries(predicted.get(abstract))
            predicted_labels = _labels_by_key(entries)
            for key, label in _labels_by_key(sets).items():
                is_predicted = key in predicted_labels
                predicted_label = text_of(label) if is_predicted else _first_label(entries)
                yield "abstract", text_of(label), predicted_label
        for abstract, value in predicted.items():
            entries = scorable_entries(value)
            if abstract not in sets_by_abstract and entries:
                yield "abstract", NONE, _first_label(entries)


class AbstractCorrectionScorer:
    """Scores a claim again after the correction of one fault, quickly: only the abstract with the fault is scored.

    This is enough because the row of a claim is the sum over its abstracts. Abstracts with ids that are equal for the
    scorer, such as "10" and "010" in claim verification, are scored together.
    """

    def __init__(self, mode: AbstractsMode, unit: Unit, row: Row) -> None:
        """Take a claim and its row. Raises InputError if the scorer would refuse any prediction for the claim."""
        if unit.prediction is None:  # a missing prediction does not score like a prediction without evidence
            unit = unit._replace(prediction=mode.prediction_from_json({"id": unit.id, "evidence": {}}))
            row = mode.row(unit)
        self._mode = mode
        self._unit = unit
        self._row = row
        self._gold = self._group_by_key(mode.gold_evidence(unit))
        self._predicted = self._group_by_key(mode.predicted_evidence(unit))
        self._citations: dict[Hashable, list[Any]] = {}
        for document in mode.scored_citations(unit):
            key = mode.abstract_key(text_of(document))
            self._citations.setdefault(key, []).append(document)

    def _group_by_key(self, evidence: Mapping[str, Any]) -> dict[Hashable, dict[str, Any]]:
        """Return the evidence for each abstract, grouped by the key of the abstract (`abstract_key`)."""
        evidence_by_key: dict[Hashable, dict[str, Any]] = {}
        for abstract, entries in evidence.items():
            key = self._mode.abstract_key(abstract)
            evidence_by_key.setdefault(key, {})[abstract] = entries
        return evidence_by_key

    def rows_after_correction(self, fault: Fault) -> list[Row]:
        """Return the row of the claim after the correction of a fault, in a list of length 1.

        Raises InputError if the scorer would refuse the corrected prediction.
        """
        mode = self._mode
        # The claim as if it had only the abstract with the fault, before and after the correction.
        key = mode.abstract_key(str(fault.part))
        gold = self._unit.gold._replace(evidence=self._gold.get(key, {}), citations=self._citations.get(key, []))
        prediction = self._unit.prediction._replace(evidence=self._predicted.get(key, {}))
        unit_before = self._unit._replace(gold=gold, prediction=prediction)
        corrected_json = mode.correct_faults(unit_before, [fault])
        unit_after = unit_before._replace(prediction=mode.prediction_from_json(corrected_json))

        row_before = mode.row(unit_before)
        row_after = mode.row(unit_after)
        new_row = [total + (after - before) for total, before, after in zip(self._row, row_before, row_after)]
        return [tuple(new_row)]


def _labels_by_key(entries: Iterable[Entry]) -> dict[Hashable, Any]:
    """Return the labels of entries by the key by which they are compared (`as_key`); each label is there once."""
    return _first_by_key([entry["label"] for entry in entries])


def _first_label(entries: Sequence[Entry]) -> str:
    """Return the label of the first entry as text; `NONE` without entries."""
    return text_of(entries[0]["label"]) if entries else NONE


def scorable_entries(entries: object) -> list[Entry]:
    """Return the predicted entries of an abstract that the scorer would accept; none if `entries` is no list.

    Other entries occur only in places that the scorer does not read.
    """
    if not isinstance(entries, list):
        return []
    return [entry for entry in entries if _is_scorable(entry)]


def _is_scorable(entry: object) -> bool:
    """Return whether a value is an object with a label and a flat list of sentences."""
    if not isinstance(entry, dict) or "label" not in entry:
        return False
    sentences = entry.get("sentences")
    if not isinstance(sentences, (list, tuple)):
        return False
    return not any(isinstance(sentence, (dict, list)) for sentence in sentences)


def _first_by_key(values: Iterable[object]) -> dict[Hashable, Any]:
    """Return values by the key by which they are compared (`as_key`); of equal values, such as 2 and 2.0, the first."""
    first_by_key: dict[Hashable, Any] = {}
    for value in values:
        first_by_key.setdefault(as_key(value), value)
    return first_by_key


def sentence_keys(sentences: Iterable[object]) -> frozenset[Hashable]:
    """Return the keys by which sentence numbers are compared: 2 and 2.0 have the same key, the text "2" another."""
    return frozenset([as_key(sentence) for sentence in sentences])


def extra_sentences(entries: Iterable[Entry], sets: Iterable[Entry]) -> list[object]:
    """Return the predicted sentences that are in no gold set of an abstract, each once.

    `entries` are the predicted entries for the abstract, `sets` its gold sets.
    """
    gold_keys: set[Hashable] = set()
    for gold_set in sets:
        gold_keys |= sentence_keys(gold_set["sentences"])
    predicted_sentences: list[object] = []
    for entry in entries:
        predicted_sentences += entry["sentences"]
    sentence_by_key = _first_by_key(predicted_sentences)
    return [sentence for key, sentence in sentence_by_key.items() if key not in gold_keys]
