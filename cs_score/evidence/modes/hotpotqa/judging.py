"""How well an answer and its supporting facts agree with gold; section numbers refer to the HotpotQA contract."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Hashable
from typing import Final, NamedTuple

from cs_score.base.errors import InputError
from cs_score.evidence.reading import json_reader as reader
from cs_score.measures.formulas import divide
from cs_score.measures.formulas import f1 as harmonic_mean

SPECIAL_ANSWERS: Final = frozenset({"yes", "no", "noanswer"})
"""Answers that are right or wrong as a whole."""

_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")


class Question(NamedTuple):
    """A gold question; of `fields` the official evaluation looks only at those for which there is a prediction."""

    id: Hashable
    fields: reader.Object


class Agreement(NamedTuple):
    """Exact match, F1, precision and recall of one prediction, each 0..1."""

    em: float
    f1: float
    precision: float
    recall: float


NOTHING: Final = Agreement(0.0, 0.0, 0.0, 0.0)
"""What a missing prediction adds."""


def normalised(answer: str) -> str:
    """An answer as it is compared: lower case, without ASCII punctuation, articles and spare space (section 3)."""
    return " ".join(_ARTICLES.sub(" ", answer.lower().translate(_PUNCTUATION)).split())


def compare_answers(predicted: str, gold: str) -> Agreement:
    """How well a predicted answer agrees with the gold answer, both normalised (section 3)."""
    em = float(predicted == gold)
    if not em and (predicted in SPECIAL_ANSWERS or gold in SPECIAL_ANSWERS):
        return NOTHING
    words, gold_words = predicted.split(), gold.split()
    common = (Counter(words) & Counter(gold_words)).total()
    if not common:
        return Agreement(em, 0.0, 0.0, 0.0)
    precision, recall = common / len(words), common / len(gold_words)
    return Agreement(em, harmonic_mean(precision, recall), precision, recall)


def compare_facts(predicted: frozenset[Hashable], gold: frozenset[Hashable]) -> Agreement:
    """How well predicted supporting facts agree with those of gold, both as sets (section 4)."""
    right = len(predicted & gold)
    precision, recall = divide(right, len(predicted)), divide(right, len(gold))
    return Agreement(float(predicted == gold), harmonic_mean(precision, recall), precision, recall)


def combine(answer: Agreement, facts: Agreement) -> Agreement:
    """Joint agreement of a question that has both an answer and supporting facts (section 5)."""
    precision, recall = answer.precision * facts.precision, answer.recall * facts.recall
    return Agreement(answer.em * facts.em, harmonic_mean(precision, recall), precision, recall)


def fact_set(facts: object) -> frozenset[tuple[Hashable, ...]]:
    """Supporting facts as a set of tuples. Raises InputError where they are not a list of flat lists."""
    try:
        return frozenset(
            tuple(reader.as_list(fact, "a supporting fact")) for fact in reader.as_list(facts, "the list of facts")
        )
    except TypeError:
        raise InputError("a supporting fact holds a list or an object") from None


def answer_text(answer: object) -> str:
    """A predicted or gold answer. Raises InputError where it is not text."""
    if not isinstance(answer, str):
        raise InputError(f"answer is not text but {reader.kind_of(answer)}")
    return answer
