"""Claim verification scoring: documents retrieved, evidence sentences with their label, verdict.

The numbers are those that the published scorer's code computes, which differ in places from what its guide says (see
the user documentation). Section numbers refer to the project's claims contract.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import ClassVar, Final

from cs_score.base.errors import InputError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.signing.origin import RUN
from cs_score.base.sources import Input, Source
from cs_score.evidence.modes.claims.explanation import explain
from cs_score.evidence.modes.claims.judging import (
    ABSENT,
    Claim,
    cited_documents,
    compare_documents,
    document_numbers,
    entries_of,
    gold_documents,
    has_sets,
    judge,
    predicted_documents,
    sentences_of,
)
from cs_score.evidence.reading import json_reader as reader
from cs_score.evidence.reading.gold import Gold, signed
from cs_score.evidence.result import InputSummary, Mode, ReportRow, Result, counted, report_rows, scores_of
from cs_score.measures.formulas import Divide, Number, precision_recall_f1
from cs_score.measures.registry import names
from cs_score.statistics.units import UnitTable

COLUMNS: Final = (
    "abstract_tp",
    "abstract_fp",
    "abstract_fn",
    "sentence_tp",
    "sentence_fp",
    "sentence_fn",
    "labelled",
    "label_correct",
)

MEASURES: Final = names("claims")

SKIPPED_MARKS: Final = reader.BYTE_ORDER_MARK + "\x1e"
"""One of these is passed over at the start of a line: a byte order mark or a record separator (RFC 7464)."""


def measures(sums: Sequence[Number], divide: Divide[Number]) -> tuple[Number, ...]:
    """The seven measures from the sums of COLUMNS (section 5)."""
    abstract_tp, abstract_fp, abstract_fn, sentence_tp, sentence_fp, sentence_fn, labelled, label_correct = sums
    return (
        *precision_recall_f1(abstract_tp, abstract_tp + abstract_fp, abstract_tp + abstract_fn, divide),
        *precision_recall_f1(sentence_tp, sentence_tp + sentence_fp, sentence_tp + sentence_fn, divide),
        divide(label_correct, labelled),
    )


MODE: Final = Mode(
    name="claims",
    unit="claim",
    columns=COLUMNS,
    measures=MEASURES,
    formula=measures,
    headings=("precision", "recall", "f1", "tp", "fp", "fn"),
    rows=(
        *report_rows(("abstract", "sentence"), MEASURES[:6], (COLUMNS[:3], COLUMNS[3:6])),
        ReportRow("label_accuracy", MEASURES[6:]),
    ),
)


class ClaimsResult(Result):
    """Scores of a claim verification run; `claims` holds gold beside prediction (None: missing) in table order."""

    mode: ClassVar[Mode] = MODE

    claims: Sequence[tuple[Claim, Claim | None]]

    def answered(self) -> tuple[str, ...]:
        return tuple(unit for unit, (_, predicted) in zip(self.table.ids, self.claims) if predicted is not None)

    def explained(self, position: int) -> list[str]:
        gold, predicted = self.claims[position]
        names = [source.name for source in self.inputs]
        return explain(gold, predicted, judge(gold, predicted, *names) if predicted else ())

    __repr__ = object.__repr__


def read_gold(gold: Input | Iterable[object]) -> Gold[dict[Hashable, Claim]]:
    """Read gold once, to score many predictions against it. Raises InputError for what is no gold."""
    with paused_collector(), reader.open_lines(gold, "gold") as source:
        return signed(source, _read(source))


def score(
    gold: Input | Iterable[object] | Gold[dict[Hashable, Claim]], predictions: Input | Iterable[object]
) -> ClaimsResult:
    """Score predictions against gold; each is a path, an open file, or the claims as parsed JSON objects.

    Claims are matched by id, in any order; the last line with an id counts, predictions for other claims are ignored.
    Raises InputError for what cannot be scored.
    """
    with paused_collector():
        known = gold if isinstance(gold, Gold) else read_gold(gold)
        with reader.open_lines(predictions, "predictions") as source:
            given = signed(source, _read(source), RUN)
        claims = [(claim, given.content.get(claim.id)) for claim in known.content.values()]
        table = UnitTable(
            ids=tuple(reader.text_of(claim) for claim in known.content),
            columns=COLUMNS,
            rows=[count(claim, predicted, known.name, given.name) for claim, predicted in claims],
        )
    unpredicted = sum(predicted is None for _, predicted in claims)
    notice = f"{given.name}: no prediction for {unpredicted} of {counted(len(claims), 'claim')}"
    return ClaimsResult(
        table=table,
        scores=scores_of(MODE, table),
        origin=MODE.origin({}, known.digest, given.digest),
        inputs=(
            InputSummary("gold", known.name, ((len(known.content), "claim"),)),
            InputSummary("predictions", given.name, ((len(given.content), "claim"),)),
        ),
        notices=(notice,) if unpredicted else (),
        claims=claims,
    )


def _read(source: Source) -> dict[Hashable, Claim]:
    claims: dict[Hashable, Claim] = {}
    for number, value in reader.json_lines(source, skipped_marks=SKIPPED_MARKS):
        try:
            claim = claim_of(value)
        except InputError as error:
            raise reader.located(error, source.name, f"line {number}") from None
        # Assigning to a key that exists keeps the first spelling of the id (1 or 1.0) and the place of its first line.
        claims[claim.id] = claim
    return claims


def claim_of(value: object) -> Claim:
    """A line of either file as a claim. Raises InputError for what is no object with an id."""
    fields = reader.as_object(value, "the line")
    return Claim(
        reader.identifier(fields, "id"),
        fields.get("label", ABSENT),
        fields.get("evidence", ABSENT),
        fields.get("cited_doc_ids", ABSENT),
    )


def count(gold: Claim, predicted: Claim | None, gold_name: str, predictions_name: str) -> tuple[int, ...]:
    """The row of one gold claim; the names are for the InputError raised where what is looked at is malformed."""
    try:
        documents = gold_documents(gold)
        cited = cited_documents(gold)
        if predicted is None:
            lost = sum(len(sentences_of(each)) for sets in documents.values() for each in entries_of(sets))
            return 0, 0, len(cited), 0, 0, lost, int(gold.label is not ABSENT), 0
        document_numbers(cited)
        document_numbers(documents)
    except InputError as error:
        raise reader.located(error, gold_name, f"claim {reader.plain(gold.id)}") from None
    try:
        right, wrong, missed = compare_documents(cited, predicted_documents(predicted, needed=has_sets(documents)))
    except InputError as error:
        raise reader.located(error, predictions_name, f"claim {reader.plain(gold.id)}") from None
    verdicts = judge(gold, predicted, gold_name, predictions_name)
    return (
        len(right),
        len(wrong),
        len(missed),
        sum(verdict.tp for verdict in verdicts),
        sum(verdict.fp for verdict in verdicts),
        sum(verdict.fn for verdict in verdicts),
        int(gold.label is not ABSENT),
        int(gold.label is not ABSENT and predicted.label is not ABSENT and gold.label == predicted.label),
    )
