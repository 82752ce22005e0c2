"""The rules that the tasks SciFact and claim verification have in common.
A claim has evidence from abstracts of articles. Gold has evidence sets for an abstract, and a prediction has entries.
Each of them is a label, such as SUPPORT, with sentence numbers. A fault is a mistake in a prediction.
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
"""An evidence set of gold, or a predicted entry, as files have it: {"label": "SUPPORT", "sentences": [2]}."""


class Claim(NamedTuple):
    """A claim of gold or of the predictions. A field is UNSET if the file does not have its key.

    `citations` holds the value of the key `cited_doc_ids`, which lists documents.
    """

    id: Hashable
    label: object
    evidence: Any
    citations: object


class NearestSet(NamedTuple):
    """The gold set of an abstract of which the prediction misses the fewest sentences.

    `entry` is the predicted entry that is compared with the set, or None if there is none. `missing_sentences` are the
    sentences of the set that are not in this entry.
    """

    gold_set: Entry
    entry: Entry | None
    missing_sentences: list[object]

    @property
    def missing_count(self) -> int:
        """The number of sentences of the set that are not predicted."""
        return len(self.missing_sentences)


class AbstractsMode(Mode):
    """A task whose gold and predictions are claims, with entries of evidence for each abstract."""

    unit = "claim"
    has_lines = True
    kinds: ClassVar[tuple[str, ...]] = KINDS

    def is_gold(self, first: object) -> bool | None:
        """Return whether a file is gold, given the JSON value of its first line. Only gold has the texts of claims.

        Return None if the line is not an object.
        """
        if not isinstance(first, dict):
            return None
        return "claim" in first

    def prediction_to_json(self, prediction: Claim | None) -> Any:
        """Return the prediction for a claim as the JSON object of its line, or None if there is no prediction."""
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

        An abstract has a list of entries. If the predictions file has another JSON value instead, this value is
        returned for the abstract.
        """

    @abstractmethod
    def entries_to_json(self, entries: Any) -> Any:
        """Return the entries of an abstract as the JSON value that the predictions file has for them."""

    @abstractmethod
    def entry_for_each_set(self, sets: Sequence[Entry], entries: Sequence[Entry]) -> Sequence[Entry | None]:
        """Return for each gold set of an abstract the predicted entry that it is compared with.

        The entry is None if the set is not compared with any entry.
        """

    @abstractmethod
    def missing_to_json(self, gold_set: Entry, sentences: list[object]) -> object:
        """Return the JSON value that a fault shows for the sentences of a gold set that are not predicted."""

    @abstractmethod
    def gold_evidence(self, unit: Unit) -> Mapping[str, Any]:
        """Return the evidence of gold for a claim by abstract, in the form in which the task reads it."""

    @abstractmethod
    def predicted_evidence(self, unit: Unit) -> Mapping[str, Any]:
        """Return the predicted evidence for a claim by abstract, in the form in which the task reads it."""

    def scored_citations(self, unit: Unit) -> Iterable[object]:
        """Return the documents that a claim of gold cites, if the task scores citations. This class scores none."""
        return ()

    def extra_abstracts(self, unit: Unit, gold: Mapping[str, Any], predicted: Iterable[str]) -> list[str]:
        """Return the predicted abstracts that are wrong because gold has no evidence in them.

        `gold` has the evidence of gold by abstract.
        """
        return [abstract for abstract in predicted if abstract not in gold]

    def order_abstracts(self, gold: Iterable[str], predicted: Iterable[str]) -> Iterable[str]:
        """Return the abstracts of gold in the order in which faults are listed. In this class it is that of gold."""
        return gold

    def abstract_key(self, abstract: str) -> Hashable:
        """Return the key by which the scorer compares abstracts. In this class it is the id of the abstract."""
        return abstract

    # ---- Faults of predictions

    def faults(self, unit: Unit, measure: str) -> list[Fault]:
        """Return the faults of the prediction for a claim, in the order in which an analysis corrects them.

        The faults are sorted by kind. Faults of the same kind remain in the order in which they are found.
        """
        sets_by_abstract = self.gold_sets(unit)
        entries_by_abstract = self.predicted_entries(unit)
        faults = []
        for abstract in self.extra_abstracts(unit, sets_by_abstract, entries_by_abstract):
            predicted_json = self.entries_to_json(entries_by_abstract[abstract])
            faults.append(Fault(kind=EXTRA_ABSTRACT, part=abstract, predicted=predicted_json, gold=None))
        for abstract in self.order_abstracts(sets_by_abstract, entries_by_abstract):
            faults += self._faults_of_gold_abstract(abstract, sets_by_abstract[abstract], entries_by_abstract)
        return self.sort_by_kind(faults)

    def _faults_of_gold_abstract(
        self, abstract: str, sets: list[Entry], entries_by_abstract: Mapping[str, Any]
    ) -> list[Fault]:
        """Return the faults of the prediction for an abstract of gold with these evidence sets.

        `entries_by_abstract` contains the predicted entries of the claim. If the abstract is not among them, the only
        fault is that it is missed.
        """
        if abstract not in entries_by_abstract:
            first_set_json = self.entries_to_json(sets[:1])  # one set is enough to make the abstract right
            return [Fault(kind=MISSED_ABSTRACT, part=abstract, predicted=None, gold=first_set_json)]
        entries = scorable_entries(entries_by_abstract[abstract])
        faults = _label_faults(abstract, sets, entries)
        for sentence in extra_sentences(entries, sets):
            faults.append(Fault(kind=EXTRA_SENTENCE, part=abstract, predicted=sentence, gold=None))
        return faults + self._rationale_faults(abstract, sets, entries)

    def _rationale_faults(self, abstract: str, sets: Sequence[Entry], entries: Sequence[Entry]) -> list[Fault]:
        """Return the fault of an abstract for which no gold set is predicted completely, in a list of length 1.

        The fault has the missing sentences of the set that lacks the fewest. The list is empty if a set is complete.
        `sets` are the gold sets of the abstract, and `entries` its predicted entries.
        """
        nearest_set = self._find_nearest_set(sets, entries)
        if not nearest_set.missing_sentences:
            return []
        missing_json = self.missing_to_json(nearest_set.gold_set, nearest_set.missing_sentences)
        return [Fault(kind=INCOMPLETE_RATIONALE, part=abstract, predicted=None, gold=missing_json)]

    def _find_nearest_set(self, sets: Sequence[Entry], entries: Sequence[Entry]) -> NearestSet:
        """Return the gold set of an abstract that has the fewest sentences missing from the prediction.

        `sets` are the gold sets of the abstract, and `entries` its predicted entries. Each set is compared with one
        entry. If several sets have equally few missing sentences, the first one is returned.
        """
        # The keys of an entry are computed only once, because it may be compared with many sets. They are stored by the
        # identity of the entry, because an entry is a dictionary and cannot itself be a key.
        keys_by_identity = {id(entry): sentence_keys(entry["sentences"]) for entry in entries}
        candidates = []
        for gold_set, entry in zip(sets, self.entry_for_each_set(sets, entries)):
            # If there is no entry to compare a set with, `entry` is None and all sentences of the set are missing.
            predicted_keys = keys_by_identity.get(id(entry), frozenset())
            missing_sentences = _missing_sentences(gold_set, predicted_keys)
            candidates.append(NearestSet(gold_set, entry, missing_sentences))
        return min(candidates, key=lambda candidate: candidate.missing_count)

    def correct_faults(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        """Return the prediction for a claim after the correction of these faults, as a JSON object."""
        sets_by_abstract = self.gold_sets(unit)
        evidence = self.predicted_entries(unit)  # copies of the entries, which the corrections may change
        extra_sentence_faults = []
        for fault in faults:
            if fault.kind == EXTRA_SENTENCE:
                extra_sentence_faults.append(fault)
            else:
                self._correct_fault(fault, evidence, sets_by_abstract.get(str(fault.part), []))
        _remove_extra_sentences(extra_sentence_faults, evidence)  # last, because other corrections replace entries
        evidence_json = {abstract: self.entries_to_json(entries) for abstract, entries in evidence.items()}
        return {**self.prediction_to_json(unit.prediction), "evidence": evidence_json}

    def _correct_fault(self, fault: Fault, evidence: dict[str, Any], sets: list[Entry]) -> None:
        """Correct a fault in the predicted evidence in place. The fault must not be an extra sentence.

        `evidence` holds the predicted entries by abstract. `sets` are the gold sets of the abstract with the fault.
        """
        abstract = str(fault.part)
        if fault.kind == EXTRA_ABSTRACT:
            del evidence[abstract]
        elif fault.kind == MISSED_ABSTRACT:
            evidence[abstract] = sets[:1]  # a single whole gold set is right: the others are alternatives
        elif fault.kind == INCOMPLETE_RATIONALE:
            self._complete_nearest_set(evidence[abstract], sets)
        else:  # a wrong label
            right_label = fault.gold
            _replace_wrong_labels(evidence[abstract], sets, right_label)

    def _complete_nearest_set(self, entries: Any, sets: list[Entry]) -> None:
        """Add the missing sentences of the nearest gold set of an abstract to the predicted `entries` for it.

        The sentences are added to the entry that is compared with the set. If there is no such entry, a new entry is
        added.
        """
        nearest_set = self._find_nearest_set(sets, scorable_entries(entries))
        entry = nearest_set.entry
        if entry is None:
            entries.append({"label": nearest_set.gold_set["label"], "sentences": nearest_set.missing_sentences})
        else:
            entry["sentences"] = [*entry["sentences"], *nearest_set.missing_sentences]

    def correction_scorer(self, units: Sequence[Unit], rows: Sequence[Row]) -> CorrectionScorer:
        """Return a function that scores a claim again after the correction of a single fault.

        `units` and `rows` each contain a single item, because every claim has its own prediction. The function takes a
        fault and returns a list with the new row of the claim. It is fast because it scores only the abstract with the
        fault.
        """
        [unit] = units
        [row] = rows
        try:
            abstract_correction_scorer = AbstractCorrectionScorer(self, unit, row)
            return abstract_correction_scorer.rows_after_correction
        except InputError:  # the scorer would refuse any prediction for the claim
            return super().correction_scorer(units, rows)

    # ---- Groups and confusions

    def groups(self, unit: Unit) -> Mapping[str, str]:
        """Return the groups of a claim. Analyses show the scores of each group.

        They depend on the labels of the claim in gold, its numbers of sets and citations, and its shortest set. An
        example is `{"gold_label": "SUPPORT", "gold_sets": "2", "shortest_set": "1", "cited_documents": "1"}`.
        """
        gold_sets: list[Entry] = []
        for sets_of_abstract in self.gold_sets(unit).values():
            gold_sets += sets_of_abstract
        labels = {text_of(gold_set["label"]) for gold_set in gold_sets}
        groups = {
            "gold_label": " and ".join(sorted(labels)) or "no evidence",
            "gold_sets": str(len(gold_sets)),
            "shortest_set": _size_of_shortest_set(gold_sets),
        }
        if isinstance(unit.gold.citations, list):
            groups["cited_documents"] = str(len(unit.gold.citations))
        return groups

    def confusions(self, unit: Unit) -> Iterator[Confusion]:
        """Yield the label in gold and the predicted label of each abstract of a claim.

        Each item is a triple such as `("abstract", "SUPPORT", "CONTRADICT")`. An abstract has a triple for each of its
        labels in gold. If no entry has the label, the predicted label is the first one that is predicted for the
        abstract, or `NONE` if the abstract is not predicted. A predicted abstract that gold does not have has the label
        `NONE` in gold.
        """
        sets_by_abstract = self.gold_sets(unit)
        entries_by_abstract = self.predicted_entries(unit)
        for abstract, sets in sets_by_abstract.items():
            yield from _confusions_of_gold_abstract(sets, scorable_entries(entries_by_abstract.get(abstract)))
        for abstract, value in entries_by_abstract.items():
            entries = scorable_entries(value)
            if abstract not in sets_by_abstract and entries:
                yield "abstract", NONE, _first_label(entries)


class AbstractCorrectionScorer:
    """Computes the row (the counts) of a claim after one fault of its prediction has been corrected.

    An analysis does this for every fault, so it must be quick. Only the abstract with the fault is scored, because the
    row of a claim is the sum over its abstracts. If the scorer treats the ids of two abstracts as equal, such as "10"
    and "010" in claim verification, both are scored together.
    """

    def __init__(self, mode: AbstractsMode, unit: Unit, row: Row) -> None:
        """Prepare to score a claim again by grouping its evidence by abstract.

        `row` holds the counts of the claim before any correction. Raises InputError if the scorer would refuse
        the claim whatever its prediction.
        """
        if unit.prediction is None:  # a missing prediction does not score the same as an empty one
            unit = unit._replace(prediction=mode.prediction_from_json({"id": unit.id, "evidence": {}}))
            row = mode.row(unit)
        self._mode = mode
        self._unit = unit
        self._row = row
        self._gold = self._group_by_key(mode.gold_evidence(unit))
        self._predicted = self._group_by_key(mode.predicted_evidence(unit))
        self._citations = self._group_citations()

    def _group_citations(self) -> dict[Hashable, list[Any]]:
        """Return the documents that the claim cites, in lists by the key by which the scorer compares abstracts.

        For the citations 10, 11 and "010" these are `{"10": [10, "010"], "11": [11]}`.
        """
        citations_by_key: dict[Hashable, list[Any]] = {}
        for document in self._mode.scored_citations(self._unit):
            key = self._mode.abstract_key(text_of(document))
            citations_by_key.setdefault(key, []).append(document)
        return citations_by_key

    def _group_by_key(self, evidence: Mapping[str, Any]) -> dict[Hashable, dict[str, Any]]:
        """Return the evidence by abstract, grouped by the keys of the abstracts: `{"10": {"10": ..., "010": ...}}`.

        The keys are those by which the scorer compares abstracts (`abstract_key`).
        """
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
        unit_before = self._unit_with_only(str(fault.part))
        corrected_json = mode.correct_faults(unit_before, [fault])
        unit_after = unit_before._replace(prediction=mode.prediction_from_json(corrected_json))
        row_before = mode.row(unit_before)
        row_after = mode.row(unit_after)
        # The other abstracts of the claim contribute the same counts as before.
        new_row = [total + (after - before) for total, before, after in zip(self._row, row_before, row_after)]
        return [tuple(new_row)]

    def _unit_with_only(self, abstract: str) -> Unit:
        """Return the claim with its evidence, its citations and its predictions for an abstract, and no others."""
        key = self._mode.abstract_key(abstract)
        gold = self._unit.gold._replace(evidence=self._gold.get(key, {}), citations=self._citations.get(key, []))
        prediction = self._unit.prediction._replace(evidence=self._predicted.get(key, {}))
        return self._unit._replace(gold=gold, prediction=prediction)


def _label_faults(abstract: str, sets: Sequence[Entry], entries: Sequence[Entry]) -> list[Fault]:
    """Return the fault of an abstract with a predicted label that no gold set has, in a list of length 1.

    The fault says which label of gold should replace the wrong label. If all labels of gold are predicted, there is no
    such label, and the list is empty. `sets` are the gold sets of the abstract, and `entries` its predicted entries.
    """
    gold_label_by_key = _labels_by_key(sets)
    predicted_label_by_key = _labels_by_key(entries)
    missing_labels = [label for key, label in gold_label_by_key.items() if key not in predicted_label_by_key]
    wrong_labels = [label for key, label in predicted_label_by_key.items() if key not in gold_label_by_key]
    if not missing_labels or not wrong_labels:
        return []
    return [Fault(kind=WRONG_LABEL, part=abstract, predicted=wrong_labels[0], gold=missing_labels[0])]


def _missing_sentences(gold_set: Entry, predicted_keys: frozenset[Hashable]) -> list[object]:
    """Return the distinct sentences of a gold set that are not predicted.

    `predicted_keys` are the keys of the predicted sentences. Equal sentence numbers, such as 2 and 2.0, have the same
    key.
    """
    sentence_by_key = _first_by_key(gold_set["sentences"])
    return [sentence for key, sentence in sentence_by_key.items() if key not in predicted_keys]


def _remove_extra_sentences(faults: Iterable[Fault], evidence: Mapping[str, Any]) -> None:
    """Remove the extra sentence of each of these faults from the predicted evidence, in place.

    The part of a fault is an abstract, and its predicted value is the extra sentence. `evidence` holds the predicted
    entries by abstract.
    """
    extra_keys_by_abstract: dict[str, set[Hashable]] = {}
    for fault in faults:
        abstract = str(fault.part)
        extra_keys_by_abstract.setdefault(abstract, set()).add(as_key(fault.predicted))
    for abstract, extra_keys in extra_keys_by_abstract.items():
        for entry in scorable_entries(evidence[abstract]):
            entry["sentences"] = [sentence for sentence in entry["sentences"] if as_key(sentence) not in extra_keys]


def _replace_wrong_labels(entries: object, sets: Sequence[Entry], new_label: object) -> None:
    """Replace each predicted label that no gold set has by a new label. The entries are changed in place.

    `entries` are the predicted entries of an abstract, and `sets` its gold sets.
    """
    gold_label_by_key = _labels_by_key(sets)
    for entry in scorable_entries(entries):
        if as_key(entry["label"]) not in gold_label_by_key:
            entry["label"] = new_label


def _size_of_shortest_set(sets: Iterable[Entry]) -> str:
    """Return the number of distinct sentences of the shortest evidence set, as text; `NONE` if there is no set."""
    set_sizes = [len(sentence_keys(gold_set["sentences"])) for gold_set in sets]
    return str(min(set_sizes)) if set_sizes else NONE


def _confusions_of_gold_abstract(sets: Sequence[Entry], entries: Sequence[Entry]) -> Iterator[Confusion]:
    """Yield a triple such as `("abstract", "SUPPORT", "CONTRADICT")` for each label in gold of an abstract.

    `sets` are the gold sets of the abstract, and `entries` its predicted entries. If no entry has the label of gold,
    the predicted label is that of the first entry.
    """
    predicted_label_by_key = _labels_by_key(entries)
    for label_key, label in _labels_by_key(sets).items():
        gold_label = text_of(label)
        predicted_label = gold_label if label_key in predicted_label_by_key else _first_label(entries)
        yield "abstract", gold_label, predicted_label


def _labels_by_key(entries: Iterable[Entry]) -> dict[Hashable, Any]:
    """Return the distinct labels of entries, by the keys (`as_key`) by which labels are compared."""
    return _first_by_key([entry["label"] for entry in entries])


def _first_label(entries: Sequence[Entry]) -> str:
    """Return the label of the first entry as text, or `NONE` if there is no entry."""
    return text_of(entries[0]["label"]) if entries else NONE


def scorable_entries(entries: object) -> list[Entry]:
    """Return the predicted entries of an abstract that the scorer would accept.

    The list is empty if `entries` is not a list. The scorer stops at the first malformed entry that it reads, so
    entries left out here were never read by it.
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
    """Return the distinct values, by the keys (`as_key`) by which values are compared.

    If several values are equal, such as 2 and 2.0, the first one is returned.
    """
    first_by_key: dict[Hashable, Any] = {}
    for value in values:
        first_by_key.setdefault(as_key(value), value)
    return first_by_key


def sentence_keys(sentences: Iterable[object]) -> frozenset[Hashable]:
    """Return the keys by which sentence numbers are compared: [2, 2.0, "2"] -> {"2", "'2'"}."""
    return frozenset([as_key(sentence) for sentence in sentences])


def extra_sentences(entries: Iterable[Entry], sets: Iterable[Entry]) -> list[object]:
    """Return the distinct predicted sentences that are in no gold set of an abstract.

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
