"""R4C scoring: derivations of multi-hop answers, held against three reference derivations (Inoue et al. 2020).

The numbers are those of the corpus's official script, without its solver; section numbers refer to the project's R4C
contract.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import ClassVar, Final, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.signing.origin import RUN
from cs_score.base.sources import Input, Source
from cs_score.evidence.modes.r4c.alignment import Aligner, Comparer
from cs_score.evidence.modes.r4c.explanation import explain
from cs_score.evidence.modes.r4c.judging import (
    ASPECTS,
    REFERENCE_POSITIONS,
    SEED,
    WEIGHTS,
    Instance,
    ScoredInstance,
    Scorer,
    check_references,
    drawn_orders,
)
from cs_score.evidence.reading import json_reader as reader
from cs_score.evidence.reading.gold import Gold, signed
from cs_score.evidence.result import InputSummary, Mode, Result, counted, means, report_rows, scores_of
from cs_score.measures.registry import names
from cs_score.statistics.units import UnitTable

MEASURES: Final = names("r4c")

COLUMNS: Final = ("instances", *MEASURES)

MODE: Final = Mode(
    name="r4c",
    unit="instance",
    columns=COLUMNS,
    measures=MEASURES,
    formula=means,
    headings=("precision", "recall", "f1"),
    rows=report_rows(tuple(WEIGHTS), MEASURES),
    usual={"references": REFERENCE_POSITIONS, "ignore_missing": False, "seed": SEED},
)

Progress: TypeAlias = Callable[[Sequence[str]], Iterable[str]]
"""Hands back the instance ids it is given one after the other, and may show how far the work has come."""


class R4CResult(Result):
    """Scores of an R4C run; `instances` holds what was scored, in the order of the table."""

    mode: ClassVar[Mode] = MODE

    instances: Sequence[Instance]

    def official(self) -> dict[str, object]:
        return {level: {aspect: self.scores[f"{level}_{aspect}"] for aspect in ASPECTS} for level in WEIGHTS}

    def explained(self, position: int) -> list[str]:
        gold, predictions = self.inputs
        instance = self.instances[position]
        return explain(instance.id, Scorer(gold.name, predictions.name).evaluate(instance))

    __repr__ = object.__repr__


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
    check_references(references)
    comparer, aligner = Comparer(), Aligner()  # before any reading: what is not installed is told at once
    known = gold if isinstance(gold, Gold) else read_gold(gold)
    with reader.open_document(predictions, "predictions") as source:
        given = signed(source, _read_predictions(source), RUN)
    ids = _predicted_ids(known.content, given.content, given.name, ignore_missing)
    orders = drawn_orders(len(ids), references)
    instances = [Instance(each, given.content[each], known.content[each], drawn) for each, drawn in zip(ids, orders)]
    scorer = Scorer(known.name, given.name, comparer, aligner)
    rows = [row(scorer.evaluate(instance)) for _, instance in zip(progress(ids), instances)]
    table = UnitTable(ids=tuple(ids), columns=COLUMNS, rows=rows)
    options = {"references": references, "ignore_missing": ignore_missing}
    read = ((len(given.content), "derivation"), (len(ids), "scored instance"))
    return R4CResult(
        table=table,
        scores=scores_of(MODE, table),
        origin=MODE.origin(options, known.digest, given.digest),
        inputs=(
            InputSummary("gold", known.name, ((len(known.content), "instance"),)),
            InputSummary("predictions", given.name, read),
        ),
        notices=_left_out(len(known.content) - len(ids), len(known.content), given.name),
        instances=instances,
    )


def _left_out(missing: int, instances: int, name: str) -> tuple[str, ...]:
    """The notice that instances have no prediction, if any has none."""
    return (f"{name}: {missing} of {counted(instances, 'instance')} left out, without prediction",) if missing else ()


def row(scored: ScoredInstance) -> tuple[float, ...]:
    """The statistics of one instance in the order of COLUMNS."""
    return 1.0, *chain.from_iterable(scored.scores())


def _predicted_ids(known: reader.Object, predicted: reader.Object, name: str, ignore_missing: bool) -> list[str]:
    """The instances that have a prediction. Raises InputError where there is none, and where one may not lack it."""
    ids = [instance for instance in known if instance in predicted]
    if len(ids) < len(known) and not ignore_missing:
        missing = next(instance for instance in known if instance not in predicted)
        raise InputError(
            f"no derivation for it ({len(known) - len(ids)} of {counted(len(known), 'instance')} have none)",
            file=name,
            place=f"instance {reader.plain(missing)}",
            remedy="--ignore-missing leaves such instances out",
        )
    if not ids:
        raise InputError("no instance has a prediction, so there is nothing to score", file=name)
    return ids


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
