"""SciFact leaderboard scoring: abstracts found and labelled, sentences given as evidence (Wadden et al. 2020).

The numbers are those of the public leaderboard evaluator; section numbers refer to the project's SciFact contract.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, TypeVar

from cs_score.evidence.modes.scifact.explanation import explain
from cs_score.evidence.modes.scifact.judging import GoldClaim, PredictedClaim, count
from cs_score.evidence.modes.scifact.reading import gold_claim, predicted_claim
from cs_score.evidence.reading import json_reader as reader
from cs_score.evidence.reading.gold import Gold, signed
from cs_score.evidence.result import InputSummary, Mode, ReportRow, Result, scores_of
from cs_score.foundation.errors import InputError
from cs_score.foundation.garbage_collection import paused_collector
from cs_score.foundation.signature import Signature
from cs_score.foundation.sources import Input, Source
from cs_score.measures.formulas import Divide, Number, precision_recall_f1
from cs_score.measures.registry import names
from cs_score.statistics.unit_table import UnitTable

Claim = TypeVar("Claim", GoldClaim, PredictedClaim)

COLUMNS: Final = (
    "relevant_abstracts",
    "retrieved_abstracts",
    "relevant_sentences",
    "retrieved_sentences",
    "label_only_correct",
    "rationalized_correct",
    "selection_correct",
    "label_correct",
)

GROUPS: Final = ("abstract_label_only", "abstract_rationalized", "sentence_selection", "sentence_label")

MEASURES: Final = names("scifact")


def measures(sums: Sequence[Number], divide: Divide[Number]) -> tuple[Number, ...]:
    """The twelve measures from the sums of COLUMNS (section 5)."""
    abstracts, retrieved_abstracts, sentences, retrieved_sentences, label_only, rationalized, selection, label = sums
    return (
        *precision_recall_f1(label_only, retrieved_abstracts, abstracts, divide),
        *precision_recall_f1(rationalized, retrieved_abstracts, abstracts, divide),
        *precision_recall_f1(selection, retrieved_sentences, sentences, divide),
        *precision_recall_f1(label, retrieved_sentences, sentences, divide),
    )


MODE: Final = Mode(
    name="scifact",
    unit="claim",
    columns=COLUMNS,
    measures=MEASURES,
    formula=measures,
    headings=("precision", "recall", "f1", "correct", "retrieved", "relevant"),
    rows=tuple(
        ReportRow(
            group,
            MEASURES[3 * number : 3 * number + 3],
            (COLUMNS[4 + number], f"retrieved_{unit}", f"relevant_{unit}"),
        )
        for number, (group, unit) in enumerate(zip(GROUPS, ("abstracts", "abstracts", "sentences", "sentences")))
    ),
)


@dataclass(frozen=True, slots=True, repr=False)
class SciFactResult(Result):
    """Scores of a SciFact run; `claims` holds gold beside prediction, in the order of the table."""

    mode: ClassVar[Mode] = MODE

    claims: Sequence[tuple[GoldClaim, PredictedClaim]]

    def explained(self, position: int) -> list[str]:
        return explain(*self.claims[position])


def read_gold(gold: Input | Iterable[object]) -> Gold[list[GoldClaim]]:
    """Read gold once, to score many predictions against it. Raises InputError for what is no gold."""
    with paused_collector(), reader.open_lines(gold, "gold") as source:
        return signed(source, _read(source, gold_claim))


def score(
    gold: Input | Iterable[object] | Gold[list[GoldClaim]],
    predictions: Input | Iterable[object],
    *,
    any_order: bool = False,
) -> SciFactResult:
    """Score predictions against gold; each is a path, an open file, or the claims as parsed JSON objects.

    Predictions must list the same claims in the same order, as the official evaluator demands; with `any_order` they
    are matched by id (the k-th occurrence of an id with the k-th). Raises InputError for what cannot be scored.
    """
    with paused_collector():
        known = gold if isinstance(gold, Gold) else read_gold(gold)
        gold_name, gold_claims = known.name, known.content
        with reader.open_lines(predictions, "predictions") as source:
            predictions_name, predicted_claims = source.name, _read(source, predicted_claim)
            predictions_digest = source.digest()
        _check_claims(gold_claims, predicted_claims, gold_name, predictions_name, any_order)
        if any_order:
            predicted_claims = _in_gold_order(gold_claims, predicted_claims)
        claims = list(zip(gold_claims, predicted_claims))
        table = UnitTable(
            ids=tuple(reader.text_of(claim.id) for claim in gold_claims),
            columns=COLUMNS,
            rows=_count(claims, gold_name),
        )
    return SciFactResult(
        table=table,
        scores=scores_of(MODE, table),
        signature=Signature(MODE.name, {"any_order": any_order}, (known.digest, predictions_digest)),
        inputs=_summaries(table, gold_name, predictions_name),
        notices=(),
        claims=claims,
    )


def _summaries(table: UnitTable, gold_name: str, predictions_name: str) -> tuple[InputSummary, ...]:
    abstracts, retrieved_abstracts, sentences, retrieved_sentences, *_ = map(int, table.sums())
    claims = (len(table.ids), "claim")
    return (
        InputSummary("gold", gold_name, (claims, (abstracts, "abstract"), (sentences, "evidence sentence"))),
        InputSummary(
            "predictions",
            predictions_name,
            (claims, (retrieved_abstracts, "abstract"), (retrieved_sentences, "evidence sentence")),
        ),
    )


def _count(claims: Sequence[tuple[GoldClaim, PredictedClaim]], gold_name: str) -> list[tuple[int, ...]]:
    rows = []
    for number, (gold, predicted) in enumerate(claims, start=1):
        try:
            rows.append(count(gold, predicted))
        except InputError as error:
            raise reader.located(error, gold_name, f"line {number}, claim {reader.plain(gold.id)}") from None
    return rows


def _read(source: Source, claim_of: Callable[[object], Claim]) -> list[Claim]:
    claims = []
    for number, value in reader.json_lines(source):
        try:
            claims.append(claim_of(value))
        except InputError as error:
            raise reader.located(error, source.name, reader.line_place(number, value)) from None
    return claims


def _check_claims(
    gold: Sequence[GoldClaim], predicted: Sequence[PredictedClaim], gold_name: str, name: str, any_order: bool
) -> None:
    """Rule 1 of section 2: the same claims, in the same order unless `any_order`."""
    gold_ids = [claim.id for claim in gold]
    ids = [claim.id for claim in predicted]
    if gold_ids == ids:
        return
    missing, unknown = Counter(gold_ids), Counter(ids)
    missing, unknown = missing - unknown, unknown - missing
    if any_order and not missing and not unknown:
        return
    remedy = None
    if not missing and not unknown:
        remedy = "the claims are those of gold in another order: --any-order matches them by id"
    elif Counter(map(str, gold_ids)) == Counter(map(str, ids)):
        remedy = "ids are text in one file and numbers in the other"
    line = next((line for line, (one, other) in enumerate(zip(gold_ids, ids)) if one != other), len(gold_ids))
    if any_order and unknown:
        line = next(line for line, claim in enumerate(ids) if claim in unknown)
    if (any_order and not unknown) or line >= len(ids):
        claim = next(iter(missing))
        raise InputError(f"no prediction for claim {reader.quoted(claim)} of {gold_name}", file=name, remedy=remedy)
    place = f"line {line + 1}, claim {reader.plain(ids[line])}"
    if any_order:
        raise InputError(f"{gold_name} has no such claim (or fewer of them)", file=name, place=place, remedy=remedy)
    if line >= len(gold_ids):
        raise InputError(f"{gold_name} ends before this line", file=name, place=place, remedy=remedy)
    expected = reader.quoted(gold_ids[line])
    raise InputError(
        f"id {reader.quoted(ids[line])} where {gold_name} has {expected}", file=name, place=place, remedy=remedy
    )


def _in_gold_order(gold: Sequence[GoldClaim], predicted: Sequence[PredictedClaim]) -> list[PredictedClaim]:
    waiting: defaultdict[Hashable, deque[PredictedClaim]] = defaultdict(deque)
    for claim in predicted:
        waiting[claim.id].append(claim)
    return [waiting[claim.id].popleft() for claim in gold]
