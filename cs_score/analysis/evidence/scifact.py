"""SciFact: abstracts that are extra, mislabelled or missed, sentences that are extra or lacking."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, ClassVar, TypeAlias

from cs_score.analysis.evidence.task import EvidenceTask
from cs_score.evidence.reading import as_key, text_of
from cs_score.evidence.result import counted
from cs_score.evidence.scifact import MODE, claim_of, count, judge, predicted_abstract, read_gold, score
from cs_score.tasks.task import NONE, Confusion, Examiner, Fault, Part, Row

EXTRA_ABSTRACT = "extra_abstract"
WRONG_LABEL = "wrong_label"
EXTRA_SENTENCE = "extra_sentence"
INCOMPLETE_RATIONALE = "incomplete_rationale"
MISSED_ABSTRACT = "missed_abstract"

Entry: TypeAlias = dict[str, Any]
"""An evidence set of gold, or what is predicted of an abstract: a label and a list of sentences."""


class AbstractsExaminer(Examiner[Any]):
    """The faults of predictions of abstracts with labels and sentences, as SciFact and claim verification have them.

    A prediction is an object whose `evidence` has a value for each abstract; a value is made of entries.
    """

    kinds: ClassVar[tuple[str, ...]] = (
        EXTRA_ABSTRACT,
        WRONG_LABEL,
        EXTRA_SENTENCE,
        INCOMPLETE_RATIONALE,
        MISSED_ABSTRACT,
    )

    @abstractmethod
    def gold(self, position: int) -> Mapping[str, list[Entry]]:
        """The evidence sets of each relevant abstract."""

    @abstractmethod
    def evidence(self, prediction: Any) -> Mapping[str, Any]:
        """The value of each predicted abstract."""

    @abstractmethod
    def entries(self, value: Any) -> list[Entry]:
        """The entries of a value, which may be changed in their place; none of None."""

    @abstractmethod
    def value(self, entry: Entry) -> Any:
        """A value of one entry."""

    @abstractmethod
    def lacking(self, sets: Sequence[Entry], entries: Sequence[Entry]) -> Any:
        """What an abstract needs for one whole gold set; None where it has one."""

    @abstractmethod
    def complete(self, value: Any, lacking: Any) -> None:
        """Enter what `lacking` has found."""

    def order(self, gold: Mapping[str, Any], given: Mapping[str, Any]) -> Iterable[str]:
        """The relevant abstracts in the order in which their faults are listed."""
        return gold

    def extra(self, position: int, gold: Mapping[str, Any], given: Iterable[str]) -> list[str]:
        """Which of the predicted abstracts are faults."""
        return [abstract for abstract in given if abstract not in gold]

    def unit(self, position: int) -> object:
        return self.result.claims[position][0].id

    def faults(self, position: int, prediction: Any) -> list[Fault]:
        gold, given = self.gold(position), self.evidence(prediction)
        found = [
            Fault(EXTRA_ABSTRACT, abstract, given[abstract], None) for abstract in self.extra(position, gold, given)
        ]
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

    def corrected(self, position: int, prediction: Any, faults: Iterable[Fault]) -> Any:
        evidence = {abstract: _copied(value) for abstract, value in self.evidence(prediction).items()}
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
                labels = _labels(self.gold(position)[abstract])
                for entry in self.entries(evidence[abstract]):
                    if as_key(entry["label"]) not in labels:
                        entry["label"] = fault.gold
        for abstract, gone in extra.items():
            for entry in self.entries(evidence[abstract]):
                entry["sentences"] = [sentence for sentence in entry["sentences"] if as_key(sentence) not in gone]
        return {**prediction, "evidence": evidence}

    def groups(self, position: int) -> Mapping[str, str]:
        sets = [each for sets in self.gold(position).values() for each in sets]
        labels = sorted({text_of(each["label"]) for each in sets})
        sizes = (len(set(map(as_key, each["sentences"]))) for each in sets)
        cited = self.result.claims[position][0].cited
        return {
            "gold_label": " and ".join(labels) or "no evidence",
            "gold_sets": str(len(sets)),
            "shortest_set": str(min(sizes, default=NONE)),
            **({"cited_documents": str(len(cited))} if isinstance(cited, list) else {}),
        }

    def confusions(self, position: int) -> Iterator[Confusion]:
        gold, given = self.gold(position), self.evidence(self.written(position))
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
    found: dict[Hashable, Any] = {}
    for entry in entries:
        found.setdefault(as_key(entry["label"]), entry["label"])
    return found


def _copied(value: Any) -> Any:
    """A value whose entries may be changed."""
    if isinstance(value, list):
        return [dict(each) if isinstance(each, dict) else each for each in value]
    return dict(value) if isinstance(value, dict) else value


def _by_key(sentences: Iterable[object]) -> dict[Hashable, object]:
    """Sentences, each once."""
    found: dict[Hashable, object] = {}
    for sentence in sentences:
        found.setdefault(as_key(sentence), sentence)
    return found


def extra_sentences(entries: Iterable[Entry], sets: Iterable[Entry]) -> list[object]:
    """The predicted sentences that are in none of the gold sets, each once."""
    wanted = {as_key(sentence) for each in sets for sentence in each["sentences"]}
    predicted = _by_key(sentence for entry in entries for sentence in entry["sentences"])
    return [sentence for key, sentence in predicted.items() if key not in wanted]


def lacking_sentences(gold: Entry, predicted: Set[Hashable]) -> list[object]:
    """The sentences of a gold set that are not among those predicted, which are keys."""
    return [sentence for key, sentence in _by_key(gold["sentences"]).items() if key not in predicted]


def set_value(abstract: str, number: int, sentences: Iterable[object]) -> dict[str, object]:
    """What identifies an evidence set among the parts of a claim."""
    return {"abstract": abstract, "set": number, "sentences": list(sentences)}


class SciFactExaminer(AbstractsExaminer):
    """The faults of SciFact predictions: a value is one entry."""

    def gold(self, position: int) -> dict[str, list[Entry]]:
        return {
            abstract: [{"label": wanted.label, "sentences": list(listed)} for listed in wanted.sets]
            for abstract, wanted in self.result.claims[position][0].abstracts.items()
        }

    def evidence(self, prediction: Any) -> dict[str, Any]:
        evidence: dict[str, Any] = prediction["evidence"]
        return evidence

    def entries(self, value: Any) -> list[Entry]:
        return [] if value is None else [value]

    def value(self, entry: Entry) -> Entry:
        return entry

    def lacking(self, sets: Sequence[Entry], entries: Sequence[Entry]) -> list[object]:
        predicted = set(map(as_key, entries[0]["sentences"]))
        return min((lacking_sentences(each, predicted) for each in sets), key=len)

    def complete(self, value: Any, lacking: Any) -> None:
        value["sentences"] = [*value["sentences"], *lacking]

    def order(self, gold: Mapping[str, Any], given: Mapping[str, Any]) -> Iterable[str]:
        return dict.fromkeys((*(abstract for abstract in given if abstract in gold), *gold))

    def written(self, position: int) -> object:
        predicted = self.result.claims[position][1]
        evidence = {
            abstract: {"label": given.label, "sentences": list(given.sentences)}
            for abstract, given in predicted.abstracts.items()
        }
        return {"id": predicted.id, "evidence": evidence}

    def row(self, position: int, prediction: object) -> Row:
        return count(self.result.claims[position][0], claim_of(prediction, predicted_abstract))

    def parts(self, position: int, prediction: object) -> Iterator[Part]:
        gold, predicted = self.result.claims[position][0].abstracts, claim_of(prediction, predicted_abstract).abstracts
        for abstract, wanted in gold.items():
            given = predicted.get(abstract)
            verdict = None if given is None else judge(wanted, given)
            if given is None or verdict is None:
                shown = None
            elif not verdict.label_right:
                shown = f"{given.label}, gold {text_of(wanted.label)}"
            elif verdict.rationalized:
                shown = f"{given.label}, rationalized"
            else:
                shown = f"{given.label}, no whole gold set among its first {verdict.cap} sentences"
            yield Part("abstract", abstract, verdict is not None and verdict.label_right, shown)
            sentences = given.sentences if given else ()
            there = set(map(as_key, sentences))
            for number, listed in enumerate(wanted.sets, start=1):
                keys = set(map(as_key, listed))
                found = len(keys & there)
                shown = "complete" if found == len(keys) else f"{found} of {counted(len(keys), 'sentence')}"
                value = set_value(abstract, number, listed)
                yield Part("evidence set", value, found == len(keys), shown if found or not keys else None)
            for sentence in extra_sentences([{"sentences": sentences}], [{"sentences": each} for each in wanted.sets]):
                yield Part("sentence", {"abstract": abstract, "sentence": sentence}, False, "in no gold set")
        for abstract, given in predicted.items():
            if abstract not in gold:
                yield Part("abstract", abstract, False, f"{given.label}, not relevant")


TASK = EvidenceTask(
    MODE,
    read_gold,
    score,
    SciFactExaminer,
    "Score SciFact predictions with the measures of the public leaderboard",
    "Both hold one JSON object per line: gold a claim with its evidence sets, predictions the same claims in the same "
    "order, each with a label and a list of sentences per abstract.",
)
