"""The reference that each evaluation of an R4C instance chooses; section numbers refer to the R4C contract."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record, field
from cs_score.evidence.modes.r4c.alignment import (
    Aligner,
    Comparer,
    Fact,
    Pair,
    Weight,
    entity_weight,
    full_weight,
    relation_weight,
    total_weight,
)
from cs_score.evidence.reading import json_reader as reader
from cs_score.evidence.result import counted
from cs_score.measures.formulas import divide, precision_recall_f1

WEIGHTS: Final[dict[str, Weight]] = {"e": entity_weight, "r": relation_weight, "er": full_weight}
"""The three evaluations, in the order in which they draw from the random stream: entities, relation, both."""

REFERENCE_POSITIONS: Final = 3
"""Reference derivations of an instance that may be drawn; a fourth is never used."""

SEED: Final = 3
"""Seed of the official script's random stream, which is never reset."""

ASPECTS: Final = ("prec", "recall", "f1")

Derivation: TypeAlias = tuple[Fact, ...]

Order: TypeAlias = tuple[int, ...]
"""Reference positions in the order in which they are tried."""


class Choice(NamedTuple):
    """The reference that one evaluation of one instance chose.

    `order` is the draw, `totals` the total weight against each reference in that order; `reference` is the position
    chosen and `pairs` the alignment with its facts.
    """

    order: Order
    totals: tuple[float, ...]
    reference: int
    pairs: list[Pair]


class ScoredInstance(NamedTuple):
    """An instance with its facts told apart, and the choice that each of the three evaluations made.

    `references` holds, by position, the references that were drawn.
    """

    predicted: Derivation
    references: Mapping[int, Derivation]
    choices: tuple[Choice, ...]

    def scores(self) -> list[tuple[float, ...]]:
        """Precision, recall and F1 of each of the three (section 4)."""
        return [
            precision_recall_f1(max(choice.totals), len(self.predicted), len(self.references[choice.reference]), divide)
            for choice in self.choices
        ]


class Instance(NamedTuple):
    """One scored instance as read, with the order in which each evaluation tries its references."""

    id: str
    predicted: object
    references: object
    orders: tuple[Order, ...]


def check_references(references: int) -> None:
    """Raises UsageError for a number of references that cannot be drawn."""
    if references not in range(1, REFERENCE_POSITIONS + 1):
        raise UsageError(f"references is {references!r}, not a whole number from 1 to {REFERENCE_POSITIONS}")


def drawn_orders(instances: int, references: int) -> list[tuple[Order, ...]]:
    """For each instance the reference positions that `e`, `r` and `er` try, in order (section 4).

    One stream serves the whole run: first a draw for `e` of every instance, then for `r`, then for `er`.
    """
    stream = random.Random(SEED)
    positions = range(REFERENCE_POSITIONS)
    by_level = [[tuple(stream.sample(positions, references)) for _ in range(instances)] for _ in WEIGHTS]
    return list(zip(*by_level))


class Scorer(Record):
    """Evaluates instances; the names are those of the files, for messages."""

    gold_name: str
    predictions_name: str
    comparer: Comparer = field(default_factory=Comparer)
    aligner: Aligner = field(default_factory=Aligner)

    def evaluate(self, instance: Instance) -> ScoredInstance:
        """Align the instance's derivation with its drawn references, and choose among them, three times.

        Raises InputError for a malformed derivation, a drawn reference that the instance lacks, and empty strings that
        would have to be compared.
        """
        place = f"instance {reader.plain(instance.id)}"
        try:
            predicted = _facts(instance.predicted)
        except InputError as error:
            raise reader.located(error, self.predictions_name, place) from None
        positions = {position for order in instance.orders for position in order}
        try:
            references = {position: _reference(instance.references, position) for position in positions}
            choices = tuple(self._choices(predicted, references, instance.orders))
        except InputError as error:
            raise reader.located(error, self.gold_name, place) from None
        return ScoredInstance(predicted, references, choices)

    def _choices(
        self, predicted: Derivation, references: Mapping[int, Derivation], orders: Iterable[Order]
    ) -> Iterator[Choice]:
        """What each evaluation chooses among the references that it draws."""
        facts: list[Fact] = []
        columns: dict[int, slice] = {}
        for position, gold in references.items():
            columns[position] = slice(len(facts), len(facts) + len(gold))
            facts += gold
        similarities = self.comparer.compare(predicted, facts)
        for order, weight in zip(orders, WEIGHTS.values()):
            weights = weight(similarities)
            yield _choose(order, [self.aligner.align(weights[:, columns[position]]) for position in order])


def _choose(order: Order, alignments: Sequence[list[Pair]]) -> Choice:
    """The reference of the largest total weight, the one drawn first among equals."""
    totals = tuple(map(total_weight, alignments))
    best = totals.index(max(totals))
    return Choice(order, totals, order[best], alignments[best])


def _reference(references: object, position: int) -> Derivation:
    derivations = reader.as_list(references, "its list of references")
    if position >= len(derivations):
        raise InputError(
            f"reference {position + 1} was drawn, but the instance has only {counted(len(derivations), 'reference')}"
        )
    try:
        return _facts(derivations[position])
    except InputError as error:
        raise InputError(error.problem, place=f"reference {position + 1}") from None


def _facts(derivation: object) -> Derivation:
    return tuple(_fact(step) for step in reader.as_list(derivation, "the derivation"))


def _fact(step: object) -> Fact:
    parts = reader.as_list(step, "a step")
    if len(parts) != 3:
        raise InputError(f"a step of {counted(len(parts), 'item')} where [title, sentence number, fact] is expected")
    texts = reader.as_list(parts[2], "a fact")[:3]
    if len(texts) < 3:
        raise InputError(f"a fact of {counted(len(texts), 'item')} where [head, relation, tail] is expected")
    for text in texts:
        if not isinstance(text, str):
            raise InputError(f"a fact holds {reader.kind_of(text)} where text is expected")
    return Fact(*map(str, texts))
