"""What SciFact and claim verification share: evidence by abstract, each with a label and sentences, and its faults."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, ClassVar, TypeAlias

from cs_score.evidence.mode import NONE, Confusion, Fault, Mode, Unit
from cs_score.evidence.reading import as_key, text_of

EXTRA_ABSTRACT = "extra_abstract"
WRONG_LABEL = "wrong_label"
EXTRA_SENTENCE = "extra_sentence"
INCOMPLETE_RATIONALE = "incomplete_rationale"
MISSED_ABSTRACT = "missed_abstract"

Entry: TypeAlias = dict[str, Any]
"""An evidence set of gold, or what is predicted of an abstract: a `label` and a list of `sentences`."""


class AbstractsMode(Mode):
    """A mode whose gold and predictions are claims: objects whose `evidence` has a value for each abstract.

    A value of gold is a list of entries; one of predictions holds one entry or several.
    """

    unit = "claim"
    has_lines = True
    kinds: ClassVar[tuple[str, ...]] = (
        EXTRA_ABSTRACT,
        WRONG_LABEL,
        EXTRA_SENTENCE,
        INCOMPLETE_RATIONALE,
        MISSED_ABSTRACT,
    )

    @abstractmethod
    def gold_sets(self, unit: Unit) -> Mapping[str, list[Entry]]:
        """The evidence sets of each relevant abstract."""

    @abstractmethod
    def evidence(self, unit: Unit) -> Mapping[str, Any]:
        """The value of each predicted abstract."""

    @abstractmethod
    def entries(self, value: Any) -> list[Entry]:
        """The entries of a predicted value, which may be changed in their place; none of None."""

    @abstractmethod
    def value(self, entry: Entry) -> Any:
        """A predicted value of one entry."""

    @abstractmethod
    def lacking(self, sets: Sequence[Entry], entries: Sequence[Entry]) -> Any:
        """What an abstract needs for one whole gold set; nothing where it has one."""

    @abstractmethod
    def complete(self, value: Any, lacking: Any) -> None:
        """Enter what `lacking` has found."""

    def order(self, gold: Mapping[str, Any], given: Mapping[str, Any]) -> Iterable[str]:
        """The relevant abstracts in the order in which their faults are listed."""
        return gold

    def extra(self, unit: Unit, gold: Mapping[str, Any], given: Iterable[str]) -> list[str]:
        """Which of the predicted abstracts are faults."""
        return [abstract for abstract in given if abstract not in gold]

    def faults(self, unit: Unit, measure: str) -> list[Fault]:
        gold, given = self.gold_sets(unit), self.evidence(unit)
        found = [Fault(EXTRA_ABSTRACT, each, given[each], None) for each in self.extra(unit, gold, given)]
        for abstract in self.order(gold, given):
            sets, entries = gold[abstract], self.entries(given.get(abstract))
            if abstract not in given:
                found.append(Fault(MISSED_ABSTRACT, abstract, None, self.value(sets[0])))
                continue
            wanted, there = _labels(sets), _labels(entries)
            unused = [label for key, label in wanted.items() if key not in there]
            wrong = [label for key, label in there.items() if key not in wanted]
            if unused and wrong:
                found.append(Fault(WRONG_LABEL, abstract, wrong[0], unused[0]))
            found += (Fault(EXTRA_SENTENCE, abstract, each, None) for each in extra_sentences(entries, sets))
            if lacking := self.lacking(sets, entries):
                found.append(Fault(INCOMPLETE_RATIONALE, abstract, None, lacking))
        return self.by_kind(found)

    def corrected(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        evidence = {abstract: _copied(value) for abstract, value in self.evidence(unit).items()}
        extra: dict[str, set[Hashable]] = {}
        for fault in faults:
            abstract = str(fault.part)
            if fault.kind == EXTRA_ABSTRACT:
                del evidence[abstract]
            elif fault.kind == MISSED_ABSTRACT:
                evidence[abstract] = fault.gold
            elif fault.kind == EXTRA_SENTENCE:
                extra.setdefault(abstract, set()).add(as_key(fault.predicted))
            elif fault.kind == INCOMPLETE_RATIONALE:
                self.complete(evidence[abstract], fault.gold)
            else:
                labels = _labels(self.gold_sets(unit)[abstract])
                for entry in self.entries(evidence[abstract]):
                    if as_key(entry["label"]) not in labels:
                        entry["label"] = fault.gold
        for abstract, gone in extra.items():
            for entry in self.entries(evidence[abstract]):
                entry["sentences"] = [sentence for sentence in entry["sentences"] if as_key(sentence) not in gone]
        return {**unit.prediction, "evidence": evidence}

    def groups(self, unit: Unit) -> Mapping[str, str]:
        sets = [each for sets in self.gold_sets(unit).values() for each in sets]
        labels = sorted({text_of(each["label"]) for each in sets})
        sizes = (len(set(map(as_key, each["sentences"]))) for each in sets)
        cited = unit.gold.get("cited_doc_ids")
        return {
            "gold_label": " and ".join(labels) or "no evidence",
            "gold_sets": str(len(sets)),
            "shortest_set": str(min(sizes, default=NONE)),
            **({"cited_documents": str(len(cited))} if isinstance(cited, list) else {}),
        }

    def confusions(self, unit: Unit) -> Iterator[Confusion]:
        gold, given = self.gold_sets(unit), self.evidence(unit)
        for abstract, sets in gold.items():
            entries = self.entries(given.get(abstract))
            found, instead = _labels(entries), text_of(entries[0]["label"]) if entries else NONE
            for key, label in _labels(sets).items():
                yield Confusion("abstract", text_of(label), text_of(label) if key in found else instead)
        for abstract, value in given.items():
            if abstract not in gold and (entries := self.entries(value)):
                yield Confusion("abstract", NONE, text_of(entries[0]["label"]))


def _labels(entries: Iterable[Entry]) -> dict[Hashable, Any]:
    """The labels of entries by what they are compared by."""
    return _by_key(entry["label"] for entry in entries)


def _copied(value: Any) -> Any:
    """A value whose entries may be changed."""
    if isinstance(value, list):
        return [dict(each) if isinstance(each, dict) else each for each in value]
    return dict(value) if isinstance(value, dict) else value


def _by_key(values: Iterable[object]) -> dict[Hashable, Any]:
    """Values by what they are compared by, each once."""
    found: dict[Hashable, Any] = {}
    for value in values:
        found.setdefault(as_key(value), value)
    return found


def sentence_keys(entry: Entry) -> frozenset[Hashable]:
    """The sentences of an entry as they are compared."""
    return frozenset(map(as_key, entry["sentences"]))


def extra_sentences(entries: Iterable[Entry], sets: Iterable[Entry]) -> list[object]:
    """The predicted sentences that are in none of the gold sets, each once."""
    wanted = {as_key(sentence) for each in sets for sentence in each["sentences"]}
    predicted = _by_key(sentence for entry in entries for sentence in entry["sentences"])
    return [sentence for key, sentence in predicted.items() if key not in wanted]


def lacking_sentences(gold: Entry, predicted: Set[Hashable]) -> list[object]:
    """The sentences of a gold set that are not among those predicted, which are keys."""
    return [sentence for key, sentence in _by_key(gold["sentences"]).items() if key not in predicted]


def set_value(abstract: str, number: int, entry: Entry) -> dict[str, object]:
    """What identifies an evidence set among the parts of a claim."""
    return {"abstract": abstract, "set": number, "sentences": entry["sentences"]}
