"""What is correct in a predicted SciFact abstract; section numbers refer to the project's SciFact contract."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final, NamedTuple, TypeAlias

from cs_score.base.errors import InputError
from cs_score.evidence.reading import json_reader as reader

SENTENCE_CAP: Final = 3
"""Predicted sentences that count for an abstract, unless each of its gold sets is longer."""

Sentences: TypeAlias = tuple[Hashable, ...]
"""Sentence numbers as listed, repeats included; compared by value."""


class GoldAbstract(NamedTuple):
    """Verdict and evidence sets ("rationales") of one abstract."""

    label: object
    sets: tuple[Sentences, ...]


class PredictedAbstract(NamedTuple):
    """Label and sentences that a system gave for one abstract."""

    label: str
    sentences: Sentences


class GoldClaim(NamedTuple):
    """A claim and its relevant abstracts by id; `cited` is `cited_doc_ids` as it was read, which no score looks at."""

    id: Hashable
    abstracts: Mapping[str, GoldAbstract]
    cited: object = None


class PredictedClaim(NamedTuple):
    """A claim and the abstracts that a system gave for it, by id."""

    id: Hashable
    abstracts: Mapping[str, PredictedAbstract]


class Verdict(NamedTuple):
    """What is correct in one predicted abstract (sections 4.1 and 4.2).

    `gold` is None for an abstract that is not relevant. `cap` is the number of leading sentences that count for the
    abstract, `contained` the first gold set found whole among them, if any; `correct` holds the correct sentences.
    """

    gold: GoldAbstract | None
    label_right: bool
    cap: int
    contained: Sentences | None
    correct: frozenset[Hashable]

    @property
    def rationalized(self) -> bool:
        """Whether the abstract has the right label and one whole gold set among its leading sentences."""
        return self.label_right and self.contained is not None


def judge(gold: GoldAbstract | None, predicted: PredictedAbstract) -> Verdict:
    """What is correct in a predicted abstract, given its gold abstract (None where it is not relevant).

    Raises InputError where a predicted sentence lies in several gold sets (section 4.2).
    """
    if gold is None:
        return Verdict(None, False, SENTENCE_CAP, None, frozenset())
    sets = [frozenset(listed) for listed in gold.sets]
    cap = max(SENTENCE_CAP, min(map(len, sets)))
    leading = frozenset(predicted.sentences[:cap])
    every = frozenset(predicted.sentences)
    claimed: set[Hashable] = set()
    correct: set[Hashable] = set()
    for gold_set in sets:
        found = gold_set & every
        if not claimed.isdisjoint(found):
            shared = sorted(map(reader.quoted, claimed & found))[0]
            raise InputError(f"the predicted sentence {shared} lies in two evidence sets of the abstract")
        claimed |= found
        if len(found) == len(gold_set):
            correct |= found
    contained = next((listed for listed, gold_set in zip(gold.sets, sets) if gold_set <= leading), None)
    return Verdict(gold, predicted.label == gold.label, cap, contained, frozenset(correct))


def count(gold: GoldClaim, predicted: PredictedClaim) -> tuple[int, ...]:
    """The row of a claim: the four totals of section 3 and the four correct counts of section 4.

    Raises InputError, which names the abstract, as `judge`.
    """
    label_only = rationalized = selection = label = 0
    for abstract, given in predicted.abstracts.items():
        try:
            verdict = judge(gold.abstracts.get(abstract), given)
        except InputError as error:
            raise InputError(error.problem, place=f"abstract {reader.plain(abstract)}") from None
        selection += len(verdict.correct)
        if verdict.label_right:
            label_only += 1
            rationalized += verdict.rationalized
            label += len(verdict.correct)
    return (
        len(gold.abstracts),
        len(predicted.abstracts),
        sum(len(listed) for abstract in gold.abstracts.values() for listed in abstract.sets),
        sum(len(given.sentences) for given in predicted.abstracts.values()),
        label_only,
        rationalized,
        selection,
        label,
    )
