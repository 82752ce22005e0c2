"""R4C scoring: derivations of multi-hop answers, held against three reference derivations (Inoue et al. 2020).

The numbers are those of the corpus's official script, without its solver; section numbers refer to the project's R4C
contract.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, NamedTuple, TypeAlias

from cs_score.evidence.modes.alignment import (
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
from cs_score.evidence.reading.gold import Gold, signed
from cs_score.evidence.result import InputSummary, Mode, ReportRow, Result, counted, scores_of
from cs_score.foundation.errors import InputError, UsageError
from cs_score.foundation.signature import Signature
from cs_score.foundation.sources import Input, Source
from cs_score.measures.formulas import Divide, Number, precision_recall_f1
from cs_score.measures.formulas import divide as divided
from cs_score.measures.registry import names
from cs_score.statistics.unit_table import UnitTable

WEIGHTS: Final[dict[str, Weight]] = {"e": entity_weight, "r": relation_weight, "er": full_weight}
"""The three evaluations, in the order in which they draw from the random stream: entities, relation, both."""

REFERENCE_POSITIONS: Final = 3
"""Reference derivations of an instance that may be drawn; a fourth is never used."""

SEED: Final = 3
"""Seed of the official script's random stream, which is never reset."""

ASPECTS: Final = ("prec", "recall", "f1")

MEASURES: Final = names("r4c")

COLUMNS: Final = ("instances", *MEASURES)


def measures(sums: Sequence[Number], divide: Divide[Number]) -> tuple[Number, ...]:
    """The nine measures from the sums of COLUMNS: means over the instances (section 5)."""
    instances, *totals = sums
    return tuple(divide(total, instances) for total in totals)


MODE: Final = Mode(
    name="r4c",
    unit="instance",
    columns=COLUMNS,
    measures=MEASURES,
    formula=measures,
    headings=("precision", "recall", "f1"),
    rows=tuple(ReportRow(level, tuple(f"{level}_{aspect}" for aspect in ASPECTS)) for level in WEIGHTS),
)

Derivation: TypeAlias = tuple[Fact, ...]

Order: TypeAlias = tuple[int, ...]
"""Reference positions in the order in which they are tried."""

Progress: TypeAlias = Callable[[Sequence[str]], Iterable[str]]
"""Hands back the instance ids it is given one after the other, and may show how far the work has come."""


class Choice(NamedTuple):
    """The reference that one evaluation of one instance chose.

    `order` is the draw, `totals` the total weight against each reference in that order; `reference` is the position
    chosen and `pairs` the alignment with its facts.
    """

    order: Order
    totals: tuple[float, ...]
    reference: int
    pairs: list[Pair]


class Evaluation(NamedTuple):
    """An instance with its facts told apart, and the choice that each of the three evaluations made.

    `references` holds, by position, the references that were drawn.
    """

    predicted: Derivation
    references: Mapping[int, Derivation]
    choices: tuple[Choice, ...]

    def row(self) -> tuple[float, ...]:
        """The statistics of the instance in the order of COLUMNS (section 4)."""
        scores = [1.0]
        for choice in self.choices:
            gold = self.references[choice.reference]
            scores += precision_recall_f1(max(choice.totals), len(self.predicted), len(gold), divided)
        return tuple(scores)


class Instance(NamedTuple):
    """One scored instance as read, with the order in which each evaluation tries its references."""

    id: str
    predicted: object
    references: object
    orders: tuple[Order, ...]


@dataclass(frozen=True, slots=True, repr=False)
class R4CResult(Result):
    """Scores of an R4C run; `instances` holds what was scored, in the order of the table."""

    mode: ClassVar[Mode] = MODE

    instances: Sequence[Instance]

    def official(self) -> dict[str, object]:
        return {level: {aspect: self.scores[f"{level}_{aspect}"] for aspect in ASPECTS} for level in WEIGHTS}

    def explained(self, position: int) -> list[str]:
        from cs_score.evidence.modes.explanations import explain_instance

        gold, predictions = self.inputs
        instance = self.instances[position]
        return explain_instance(instance.id, Scorer(gold.name, predictions.name).evaluate(instance))


def read_gold(gold: Input | Mapping[str, object]) -> Gold[reader.Object]:
    """Read gold once, to score many predictions against it. Raises InputError for what is no gold."""
    with reader.open_document(gold, "gold") as source:
        return signed(source, _read_gold(source))


def score(
    gold: Input | Mapping[str, object] | Gold[reader.Object],
    predictions: Input | Mapping[str, object],
    *,
    references: int = REFERENCE_POSITIONS,
    ignore_missing: bool = False,
    progress: Progress = iter,
) -> R4CResult:
    """Score predictions against gold; each is a path, an open file, or the parsed JSON value.

    `references` (1 to 3) is how many reference derivations are drawn for each evaluation of an instance. With
    `ignore_missing`, instances without prediction are left out instead of being an error.

    Raises InputError for what cannot be scored, UsageError for another number of references, MissingExtraError where
    scipy or rapidfuzz is not installed.
    """
    if references not in range(1, REFERENCE_POSITIONS + 1):
        raise UsageError(f"references is {references!r}, not a whole number from 1 to {REFERENCE_POSITIONS}")
    comparer, aligner = Comparer(), Aligner()  # before any reading: what is not installed is told at once
    prepared = gold if isinstance(gold, Gold) else read_gold(gold)
    gold_name, known = prepared.name, prepared.content
    with reader.open_document(predictions, "predictions") as source:
        predictions_name, predicted = source.name, _read_predictions(source)
        predictions_digest = source.digest()
    missing = [instance for instance in known if instance not in predicted]
    if missing and not ignore_missing:
        raise InputError(
            f"no derivation for it ({len(missing)} of {counted(len(known), 'instance')} have none)",
            file=predictions_name,
            place=f"instance {reader.plain(missing[0])}",
            remedy="--ignore-missing leaves such instances out",
        )
    ids = [instance for instance in known if instance in predicted]
    if not ids:
        raise InputError("no instance has a prediction, so there is nothing to score", file=predictions_name)
    scorer = Scorer(gold_name, predictions_name, comparer, aligner)
    orders = drawn_orders(len(ids), references)
    instances, rows = [], []
    for instance, drawn in zip(progress(ids), orders):
        scored = Instance(instance, predicted[instance], known[instance], drawn)
        instances.append(scored)
        rows.append(scorer.evaluate(scored).row())
    table = UnitTable(ids=tuple(ids), columns=COLUMNS, rows=rows)
    options = {"references": references, "ignore_missing": ignore_missing, "seed": SEED}
    notice = f"{predictions_name}: {len(missing)} of {counted(len(known), 'instance')} left out, without prediction"
    return R4CResult(
        table=table,
        scores=scores_of(MODE, table),
        signature=Signature(MODE.name, options, (prepared.digest, predictions_digest)),
        inputs=(
            InputSummary("gold", gold_name, ((len(known), "instance"),)),
            InputSummary(
                "predictions", predictions_name, ((len(predicted), "derivation"), (len(ids), "scored instance"))
            ),
        ),
        notices=(notice,) if missing else (),
        instances=instances,
    )


def drawn_orders(instances: int, references: int) -> list[tuple[Order, ...]]:
    """For each instance the reference positions that `e`, `r` and `er` try, in order (section 4).

    One stream serves the whole run: first a draw for `e` of every instance, then for `r`, then for `er`.
    """
    stream = random.Random(SEED)
    positions = range(REFERENCE_POSITIONS)
    by_level = [[tuple(stream.sample(positions, references)) for _ in range(instances)] for _ in WEIGHTS]
    return list(zip(*by_level))


@dataclass(frozen=True, slots=True)
class Scorer:
    """Evaluates instances; the names are those of the files, for messages."""

    gold_name: str
    predictions_name: str
    comparer: Comparer = field(default_factory=Comparer)
    aligner: Aligner = field(default_factory=Aligner)

    def evaluate(self, instance: Instance) -> Evaluation:
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
        return Evaluation(predicted, references, choices)

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


def _read_gold(source: Source) -> reader.Object:
    try:
        return reader.as_object(reader.json_document(source), "the file")
    except InputError as error:
        raise reader.located(error, source.name) from None


def _read_predictions(source: Source) -> reader.Object:
    try:
        fields = reader.as_object(reader.json_document(source), "the file")
        return reader.as_object(reader.member(fields, "re"), "'re'")
    except InputError as error:
        raise reader.located(error, source.name) from None
