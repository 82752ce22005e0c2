"""SciFact leaderboard scoring: abstracts found and labelled, sentences given as evidence (Wadden et al. 2020).

The numbers are those of the public leaderboard evaluator; section numbers refer to the project's SciFact contract.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Hashable, Iterable, Sequence
from typing import ClassVar, Final

from cs_score.base.errors import InputError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.signing.origin import RUN
from cs_score.base.sources import Input
from cs_score.evidence.modes.scifact.explanation import explain
from cs_score.evidence.modes.scifact.judging import GoldClaim, PredictedClaim, count
from cs_score.evidence.modes.scifact.reading import read_gold_claims, read_predicted_claims
from cs_score.evidence.reading import json_reader as reader
from cs_score.evidence.reading.gold import Gold, signed
from cs_score.evidence.result import InputSummary, Mode, Result, report_rows, scores_of
from cs_score.measures.formulas import Divide, Number, precision_recall_f1
from cs_score.measures.registry import names
from cs_score.statistics.units import UnitTable

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
    rows=report_rows(
        GROUPS,
        MEASURES,
        [
            (correct, f"retrieved_{unit}", f"relevant_{unit}")
            for correct, unit in zip(COLUMNS[4:], ("abstracts", "abstracts", "sentences", "sentences"))
        ],
    ),
    usual={"any_order": False},
)


class SciFactResult(Result):
    """Scores of a SciFact run; `claims` holds gold beside prediction, in the order of the table."""

    mode: ClassVar[Mode] = MODE

    claims: Sequence[tuple[GoldClaim, PredictedClaim]]

    def explained(self, position: int) -> list[str]:
        return explain(*self.claims[position])

    __repr__ = object.__repr__


def read_gold(gold: Input | Iterable[object]) -> Gold[list[GoldClaim]]:
    """Read gold once, to score many predictions against it. Raises InputError for what is no gold."""
    with paused_collector(), reader.open_lines(gold, "gold") as source:
        return signed(source, read_gold_claims(source))


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
        with reader.open_lines(predictions, "predictions") as source:
            given = signed(source, read_predicted_claims(source), RUN)
        _check_claims(known, given, any_order)
        predicted = _in_gold_order(known.content, given.content) if any_order else given.content
        claims = list(zip(known.content, predicted))
        table = UnitTable(
            ids=tuple(reader.text_of(claim.id) for claim, _ in claims),
            columns=COLUMNS,
            rows=_count(claims, known.name),
        )
    return SciFactResult(
        table=table,
        scores=scores_of(MODE, table),
        origin=MODE.origin({"any_order": any_order}, known.digest, given.digest),
        inputs=_summaries(table, known.name, given.name),
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


def _check_claims(gold: Gold[list[GoldClaim]], predicted: Gold[list[PredictedClaim]], any_order: bool) -> None:
    """Rule 1 of section 2: the same claims, in the same order unless `any_order`."""
    gold_name, name = gold.name, predicted.name
    gold_ids = [claim.id for claim in gold.content]
    ids = [claim.id for claim in predicted.content]
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
