"""What SciFact and claim verification share: evidence by abstract, each with a label and sentences, and its faults."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

from msgspec import UNSET

from cs_score.base.errors import InputError
from cs_score.evidence.mode import NONE, Confusion, Fault, Mode, Row, RowsWithout, Unit
from cs_score.evidence.reading import as_key, text_of

EXTRA_ABSTRACT = "extra_abstract"
WRONG_LABEL = "wrong_label"
EXTRA_SENTENCE = "extra_sentence"
INCOMPLETE_RATIONALE = "incomplete_rationale"
MISSED_ABSTRACT = "missed_abstract"
KINDS = (EXTRA_ABSTRACT, WRONG_LABEL, EXTRA_SENTENCE, INCOMPLETE_RATIONALE, MISSED_ABSTRACT)

Entry: TypeAlias = dict[str, Any]
"""An evidence set of gold, or what is predicted of an abstract, as files have it: `label` and `sentences`."""


class Claim(NamedTuple):
    """A claim of either file as it is read; UNSET stands for a key that it does not have, which null is not."""

    id: Hashable
    label: object
    evidence: Any
    cited: object


class AbstractsMode(Mode):
    """A mode whose gold and predictions are claims: objects whose `evidence` has entries for each abstract."""

    unit = "claim"
    has_lines = True
    kinds: ClassVar[tuple[str, ...]] = KINDS

    def is_gold(self, first: object) -> bool | None:
        return "claim" in first if isinstance(first, dict) else None

    def written(self, prediction: Claim | None) -> Any:
        if prediction is None:
            return None
        fields = {"id": prediction.id, "label": prediction.label, "evidence": prediction.evidence}
        return {name: value for name, value in fields.items() if value is not UNSET}

    @abstractmethod
    def gold_sets(self, unit: Unit) -> Mapping[str, list[Entry]]:
        """The evidence sets of each relevant abstract."""

    @abstractmethod
    def evidence(self, unit: Unit) -> dict[str, Any]:
        """What is predicted of each abstract: a list of entries, which may be changed, or anything that is none."""

    @abstractmethod
    def value(self, entries: Any) -> Any:
        """What stands for them in the predictions file."""

    @abstractmethod
    def compared(self, sets: Sequence[Entry], entries: Sequence[Entry]) -> Sequence[Entry | None]:
        """The predicted entry that each gold set is held against."""

    @abstractmethod
    def lacking(self, gold: Entry, sentences: list[object]) -> object:
        """How a fault says that a gold set lacks these sentences."""

    @abstractmethod
    def gold_evidence(self, unit: Unit) -> Mapping[str, Any]:
        """Return the evidence sets of each abstract as gold was read."""

    @abstractmethod
    def predicted_evidence(self, unit: Unit) -> Mapping[str, Any]:
        """Return what is predicted of each abstract as the prediction was read."""

    def cited(self, unit: Unit) -> Iterable[object]:
        """Return the documents that gold cites and that are scored; none where only evidence is."""
        return ()

    def extra(self, unit: Unit, gold: Mapping[str, Any], given: Iterable[str]) -> list[str]:
        """Which of the predicted abstracts are faults."""
        return [abstract for abstract in given if abstract not in gold]

    def order(self, gold: Iterable[str], given: Iterable[str]) -> Iterable[str]:
        """The relevant abstracts in the order in which their faults are listed."""
        return gold

    def comparable(self, abstract: str) -> Hashable:
        """Return what abstracts are compared by."""
        return abstract

    def rows_without_each(self, units: Sequence[Unit], rows: Sequence[Row]) -> RowsWithout:
        try:
            return OneAbstract(self, units[0], rows[0]).rows_without
        except InputError:  # the scorer would refuse any prediction for the claim
            return super().rows_without_each(units, rows)

    def faults(self, unit: Unit, measure: str) -> list[Fault]:
        gold, given = self.gold_sets(unit), self.evidence(unit)
        found = [Fault(EXTRA_ABSTRACT, each, self.value(given[each]), None) for each in self.extra(unit, gold, given)]
        for abstract in self.order(gold, given):
            sets = gold[abstract]
            if abstract not in given:
                found.append(Fault(MISSED_ABSTRACT, abstract, None, self.value(sets[:1])))
                continue
            entries = sound(given[abstract])
            wanted, there = _labels(sets), _labels(entries)
            unused = [label for key, label in wanted.items() if key not in there]
            wrong = [label for key, label in there.items() if key not in wanted]
            if unused and wrong:
                found.append(Fault(WRONG_LABEL, abstract, wrong[0], unused[0]))
            found += (Fault(EXTRA_SENTENCE, abstract, each, None) for each in extra_sentences(entries, sets))
            nearest, _, sentences = self._nearest(sets, entries)
            if sentences:
                found.append(Fault(INCOMPLETE_RATIONALE, abstract, None, self.lacking(nearest, sentences)))
        return self.by_kind(found)

    def _nearest(self, sets: Sequence[Entry], entries: Sequence[Entry]) -> tuple[Entry, Entry | None, list[object]]:
        """The gold set that lacks the fewest sentences, the entry that it is held against, and those sentences."""
        there = {id(entry): sentence_keys(entry["sentences"]) for entry in entries}
        found = []
        for gold, entry in zip(sets, self.compared(sets, entries)):
            keys = there.get(id(entry), frozenset())
            lacking = [sentence for key, sentence in _by_key(gold["sentences"]).items() if key not in keys]
            found.append((gold, entry, lacking))
        return min(found, key=lambda each: len(each[2]))

    def corrected(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        gold, evidence = self.gold_sets(unit), self.evidence(unit)
        extra: dict[str, set[Hashable]] = {}
        for fault in faults:
            abstract = str(fault.part)
            if fault.kind == EXTRA_ABSTRACT:
                del evidence[abstract]
            elif fault.kind == MISSED_ABSTRACT:
                evidence[abstract] = gold.get(abstract, [])[:1]
            elif fault.kind == EXTRA_SENTENCE:
                extra.setdefault(abstract, set()).add(as_key(fault.predicted))
            elif fault.kind == INCOMPLETE_RATIONALE:
                nearest, entry, sentences = self._nearest(gold[abstract], sound(evidence[abstract]))
                if entry is None:
                    evidence[abstract].append({"label": nearest["label"], "sentences": sentences})
                else:
                    entry["sentences"] = [*entry["sentences"], *sentences]
            else:
                labels = _labels(gold[abstract])
                for entry in sound(evidence[abstract]):
                    if as_key(entry["label"]) not in labels:
                        entry["label"] = fault.gold
        for abstract, gone in extra.items():
            for entry in sound(evidence[abstract]):
                entry["sentences"] = [sentence for sentence in entry["sentences"] if as_key(sentence) not in gone]
        values = {abstract: self.value(value) for abstract, value in evidence.items()}
        return {**self.written(unit.prediction), "evidence": values}

    def groups(self, unit: Unit) -> Mapping[str, str]:
        sets = [each for sets in self.gold_sets(unit).values() for each in sets]
        labels = sorted({text_of(each["label"]) for each in sets})
        sizes, cited = (len(sentence_keys(each["sentences"])) for each in sets), unit.gold.cited
        return {
            "gold_label": " and ".join(labels) or "no evidence",
            "gold_sets": str(len(sets)),
            "shortest_set": str(min(sizes, default=NONE)),
            **({"cited_documents": str(len(cited))} if isinstance(cited, list) else {}),
        }

    def confusions(self, unit: Unit) -> Iterator[Confusion]:
        gold, given = self.gold_sets(unit), self.evidence(unit)
        for abstract, sets in gold.items():
            entries = sound(given.get(abstract))
            found, instead = _labels(entries), text_of(entries[0]["label"]) if entries else NONE
            for key, label in _labels(sets).items():
                yield "abstract", text_of(label), text_of(label) if key in found else instead
        for abstract, value in given.items():
            if abstract not in gold and (entries := sound(value)):
                yield "abstract", NONE, text_of(entries[0]["label"])


class OneAbstract:
    """Scores a claim again by the one abstract that a fault is about: the row of a claim is the sum over its abstracts.

    Abstracts that are compared as equal are looked at together.
    """

    def __init__(self, mode: AbstractsMode, unit: Unit, row: Row) -> None:
        """Raise InputError where nothing may be predicted for the claim."""
        if unit.prediction is None:  # that counts otherwise than a prediction without evidence
            unit = unit._replace(prediction=mode.reread({"id": unit.id, "evidence": {}}))
            row = mode.row(unit)
        self._mode = mode
        self._unit = unit
        self._row = row
        self._gold = self._by_abstract(mode.gold_evidence(unit))
        self._predicted = self._by_abstract(mode.predicted_evidence(unit))
        self._cited: dict[Hashable, list[Any]] = {}
        for document in mode.cited(unit):
            self._cited.setdefault(mode.comparable(text_of(document)), []).append(document)

    def _by_abstract(self, evidence: Mapping[str, Any]) -> dict[Hashable, dict[str, Any]]:
        """Return evidence by what abstracts are compared by."""
        found: dict[Hashable, dict[str, Any]] = {}
        for abstract, entries in evidence.items():
            found.setdefault(self._mode.comparable(abstract), {})[abstract] = entries
        return found

    def rows_without(self, fault: Fault) -> list[Row]:
        """Return the row of the claim once a fault is corrected. Raises InputError where that would be refused."""
        mode = self._mode
        key = mode.comparable(str(fault.part))
        gold = self._unit.gold._replace(evidence=self._gold.get(key, {}), cited=self._cited.get(key, []))
        prediction = self._unit.prediction._replace(evidence=self._predicted.get(key, {}))
        part = self._unit._replace(gold=gold, prediction=prediction)
        corrected = part._replace(prediction=mode.reread(mode.corrected(part, [fault])))
        return [tuple(map(_changed, self._row, mode.row(part), mode.row(corrected)))]


def _changed(total: float, before: float, after: float) -> float:
    return total + (after - before)


def _labels(entries: Iterable[Entry]) -> dict[Hashable, Any]:
    """The labels of entries by what they are compared by."""
    return _by_key(entry["label"] for entry in entries)


def sound(entries: object) -> list[Entry]:
    """The predicted entries that a scorer would accept; what it never reaches may be anything."""
    return list(filter(_is_entry, entries)) if isinstance(entries, list) else []


def _is_entry(value: object) -> bool:
    if not isinstance(value, dict) or "label" not in value or not isinstance(value.get("sentences"), (list, tuple)):
        return False
    return not any(isinstance(sentence, (dict, list)) for sentence in value["sentences"])


def _by_key(values: Iterable[object]) -> dict[Hashable, Any]:
    """Values by what they are compared by, each once."""
    found: dict[Hashable, Any] = {}
    for value in values:
        found.setdefault(as_key(value), value)
    return found


def sentence_keys(sentences: Iterable[object]) -> frozenset[Hashable]:
    """Sentences as they are compared."""
    return frozenset(map(as_key, sentences))


def extra_sentences(entries: Iterable[Entry], sets: Iterable[Entry]) -> list[object]:
    """The predicted sentences that are in none of the gold sets, each once."""
    wanted = {as_key(sentence) for each in sets for sentence in each["sentences"]}
    predicted = _by_key(sentence for entry in entries for sentence in entry["sentences"])
    return [sentence for key, sentence in predicted.items() if key not in wanted]
