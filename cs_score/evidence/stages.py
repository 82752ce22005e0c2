"""The stages of SciFact's pipeline: documents retrieved, rationales selected, labels predicted.

The numbers are those of the evaluators by which the stages are developed. Section names refer to the project's SciFact
contract. Predictions are the file of a stage, or one of the leaderboard's form, from which the stage's part is taken.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.base.sources import Source
from cs_score.evidence import reading
from cs_score.evidence.mode import Confusion, Fault, Mode, Pair, Part, ReportRow, Row, Unit, left_out
from cs_score.evidence.reading import Gold, as_key, counted, plain, quoted, text_of
from cs_score.evidence.scifact import NOT_ENOUGH_INFO, Labelled, Options, answered_claims, is_none, labelled_sets
from cs_score.measures.registry import Divide, Ratio, precision_recall_f1

LABELS: Final = ("CONTRADICT", "NOT_ENOUGH_INFO", "SUPPORT")
"""The labels of the stage `label`, in the order of its measures."""

MISSED_DOCUMENT: Final = "missed_document"
EXTRA_SENTENCE: Final = "extra_sentence"
INCOMPLETE_RATIONALE: Final = "incomplete_rationale"
MISSED_RATIONALE: Final = "missed_rationale"
WRONG_LABEL: Final = "wrong_label"


class GoldClaim(NamedTuple):
    """A claim of gold: its evidence sets by document."""

    id: Hashable
    evidence: Mapping[str, tuple[Labelled, ...]]


class Prediction(NamedTuple):
    """What a stage predicts for a claim: document numbers, or sentences or a label by document."""

    id: Hashable
    content: Any


class Stage(Mode):
    """A stage of the pipeline. `key` is that of its predictions in a line of the stage's own file."""

    key: ClassVar[str]
    unit = "claim"
    options = Options
    has_lines = True
    matches_by_id: ClassVar[bool] = False
    summary = "Score a stage of SciFact's pipeline"
    files = "Gold is a file of claims; predictions are the file of the stage or one of the leaderboard's form."

    def is_gold(self, first: object) -> bool | None:
        return "claim" in first if isinstance(first, dict) else None

    def gold(self, source: Source) -> list[GoldClaim]:
        claims = []
        with reading.located() as at:
            for value in reading.json_lines(source, at):
                fields = reading.as_object(value, "the line")
                at.place["claim"] = fields.get("id", [])
                named = reading.identifier(fields, "id")
                claims.append(GoldClaim(named, dict(_documents_of(fields, self.gold_sets))))
        return claims

    def gold_sets(self, value: object) -> tuple[Labelled, ...]:
        """Return the evidence sets of a document. Raises InputError."""
        return labelled_sets(value)

    def predictions(self, source: Source) -> list[Prediction]:
        claims = []
        with reading.located() as at:
            for value in reading.json_lines(source, at):
                fields = reading.as_object(value, "the line")
                at.place["claim"] = fields.get("claim_id", fields.get("id", []))
                claims.append(self.reread(fields))
        return claims

    def reread(self, prediction: Any) -> Prediction:
        """Return the prediction of a line of either form. Raises InputError."""
        if "claim_id" not in prediction and "id" in prediction:
            return Prediction(reading.identifier(prediction, "id"), self.of_leaderboard(prediction))
        named = reading.identifier(prediction, "claim_id")
        return Prediction(named, self.of_stage(reading.member(prediction, self.key)))

    def written(self, prediction: Prediction | None) -> Any:
        return None if prediction is None else {"claim_id": prediction.id, self.key: self.content_of(prediction)}

    def content_of(self, prediction: Prediction) -> Any:
        """Return what stands below the key in the file of the stage."""
        return prediction.content

    @abstractmethod
    def of_stage(self, value: object) -> Any:
        """Return what stands below the key, checked. Raises InputError."""

    @abstractmethod
    def of_leaderboard(self, fields: reading.Object) -> Any:
        """Return the same from a line of the leaderboard's form. Raises InputError."""

    def paired(self, gold: Gold, predictions: Gold, options: Options) -> tuple[Iterable[Pair], Iterable[str]]:
        """Pair claims by position, or by id."""
        notices: list[str] = []
        claims = gold.content
        if options.answered_only:
            claims = answered_claims(claims, predictions.content)
            notices += left_out(predictions.name, len(claims), len(gold.content), self.unit)
        scored = replace(gold, content=claims)
        if self.matches_by_id or options.any_order:
            given = _by_id(scored, predictions)
        else:
            given = _by_position(scored, predictions)
        return [(claim.id, claim, predicted) for claim, predicted in zip(claims, given)], notices

    def groups(self, unit: Unit) -> Mapping[str, str]:
        labels = {text_of(each.label) for sets in unit.gold.evidence.values() for each in sets}
        return {
            "gold_label": " and ".join(sorted(labels)) or "no evidence",
            "gold_documents": str(len(unit.gold.evidence)),
        }


def _documents_of(fields: reading.Object, content_of: Any) -> Iterator[tuple[str, Any]]:
    """Yield each document of the evidence of a line with what `content_of` makes of it. Raises InputError."""
    value = reading.member(fields, "evidence")
    evidence = reading.as_object({} if is_none(value) else value, "'evidence'")
    with reading.located() as at:
        for document, content in evidence.items():
            at.place["abstract"] = document
            yield document, content_of(content)


def _by_position(gold: Gold, predictions: Gold) -> list[Prediction]:
    """Return the predictions in their order. Raises InputError for other claims than gold's, or in another order."""
    claims, given = gold.content, predictions.content
    for line, (claim, predicted) in enumerate(zip(claims, given), start=1):
        if claim.id != predicted.id:
            raise InputError(
                f"id {quoted(predicted.id)} where {gold.name} has {quoted(claim.id)}",
                file=predictions.name,
                place=f"line {line}",
                remedy="--any-order matches claims by id",
            )
    _check_numbers(gold, predictions)
    return list(given)


def _by_id(gold: Gold, predictions: Gold) -> list[Prediction]:
    """Return the predictions in gold's order. Raises InputError for a repeated, unknown or missing id."""
    wanted = _positions(gold)
    by_key = {}
    for key, line in _positions(predictions).items():
        predicted = predictions.content[line]
        if key not in wanted:
            place = f"line {line + 1}, claim {plain(predicted.id)}"
            raise InputError(f"{gold.name} has no such claim", file=predictions.name, place=place)
        by_key[key] = predicted
    _check_numbers(gold, predictions)
    return [by_key[key] for key in wanted]


def _positions(lines: Gold) -> dict[Hashable, int]:
    """Return the positions of claims by what their ids are compared by. Raises InputError for a repeated id."""
    positions: dict[Hashable, int] = {}
    for position, claim in enumerate(lines.content):
        key = as_key(claim.id)
        if key in positions:
            problem = f"claim {plain(claim.id)} stands there twice (line {positions[key] + 1}, too)"
            raise InputError(problem, file=lines.name, place=f"line {position + 1}")
        positions[key] = position
    return positions


def _check_numbers(gold: Gold, predictions: Gold) -> None:
    """Raise InputError where gold and predictions have another number of claims."""
    wanted, given = len(gold.content), len(predictions.content)
    if wanted != given:
        problem = f"predictions for {given} claims, where {gold.name} has {wanted}"
        raise InputError(problem, file=predictions.name, remedy="write a line for every claim of gold")


# ---- Retrieval


class Retrieval(Stage):
    """Documents retrieved for each claim, of which some or all of gold's should be among."""

    name = "scifact-retrieval"
    key = "doc_ids"
    columns = ("claims", "hit_one", "hit_all")
    headings = ("hit_one", "hit_all")
    rows = (ReportRow("retrieval", ("hit_one", "hit_all")),)
    kinds = (MISSED_DOCUMENT,)
    matches_by_id = True

    def of_stage(self, value: object) -> list[int]:
        documents = []
        for each in reading.as_list(value, "'doc_ids'"):
            if not isinstance(each, int) or isinstance(each, bool):
                raise InputError(f"'doc_ids' holds {quoted(each)} where a whole number is expected")
            documents.append(each)
        return documents

    def of_leaderboard(self, fields: reading.Object) -> list[int]:
        return [_document_number(document) for document, _ in _documents_of(fields, lambda value: value)]

    def row(self, unit: Unit) -> Row:
        wanted, found = self._wanted(unit), set(unit.prediction.content)
        hits = len(wanted & found)
        return 1, int(hits > 0 or not wanted), int(hits == len(wanted))

    def _wanted(self, unit: Unit) -> set[int]:
        """Return the numbers of gold's documents. Raises InputError for one that is no number."""
        with self.at(unit):
            return {_document_number(document) for document in unit.gold.evidence}

    def explained(self, unit: Unit, row: Row) -> Iterator[str]:
        wanted, found = self._wanted(unit), unit.prediction.content
        yield f"claim {plain(unit.id)}"
        yield f"  gold       {reading.listed(sorted(wanted))}"
        yield f"  retrieved  {reading.listed(found)}"
        yield f"  hit one    {'yes' if row[1] else 'no'}{'' if wanted else ': gold has no document'}"
        yield f"  hit all    {'yes' if row[2] else 'no'}{'' if wanted else ': gold has no document'}"

    def parts(self, unit: Unit, measure: str) -> Iterator[Part]:
        found = set(unit.prediction.content)
        for document in unit.gold.evidence:
            number = _document_number(document)
            is_there = number in found
            missed = Fault(MISSED_DOCUMENT, document, None, number)
            yield Part("document", document, is_there, "retrieved" if is_there else None, () if is_there else (missed,))

    def corrected(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        missed = [fault.gold for fault in faults]
        return self.written(Prediction(unit.prediction.id, [*unit.prediction.content, *missed]))


def _document_number(document: str) -> int:
    """Return the number that a document's id is. Raises InputError for an id that is none."""
    try:
        return int(document)
    except ValueError:
        raise InputError("document id is not an integer", place=f"document {plain(document)}") from None


# ---- Rationales


class Rationale(Stage):
    """Sentences selected in each document, labels aside."""

    name = "scifact-rationale"
    key = "evidence"
    columns = ("relevant", "retrieved", "correct")
    headings = ("precision", "recall", "f1", "correct", "retrieved", "relevant")
    rows = (ReportRow("rationale", headings[:3], headings[3:]),)
    headlines = ("f1",)
    kinds = (EXTRA_SENTENCE, INCOMPLETE_RATIONALE, MISSED_RATIONALE)

    def formula(self, sums: Sequence[Any], divide: Divide) -> tuple[Any, ...]:
        relevant, retrieved, correct = sums
        return precision_recall_f1(correct, retrieved, relevant, divide)

    def of_stage(self, value: object) -> dict[str, list[object]]:
        return dict(_documents_of({"evidence": value}, _sentences))

    def of_leaderboard(self, fields: reading.Object) -> dict[str, list[object]]:
        return dict(_documents_of(fields, lambda value: reading.sentences_of(_entry(value))))

    def row(self, unit: Unit) -> Row:
        gold = unit.gold.evidence
        correct = retrieved = 0
        for document, sentences in unit.prediction.content.items():
            retrieved += len(sentences)
            correct += sum(_are_correct(gold.get(document, ()), sentences))
        relevant = sum(len(each.sentences) for sets in gold.values() for each in sets)
        return relevant, retrieved, correct

    def explained(self, unit: Unit, row: Row) -> Iterator[str]:
        gold, predicted = unit.gold.evidence, unit.prediction.content
        yield f"claim {plain(unit.id)}"
        for document in dict.fromkeys((*predicted, *gold)):
            sets = [reading.listed(each.sentences) for each in gold.get(document, ())]
            yield ""
            yield f"document {plain(document)}"
            yield f"  gold sets  {' '.join(sets) or '-'}"
            sentences = predicted.get(document)
            if sentences is None:
                yield "  predicted  nothing"
                continue
            yield f"  predicted  {reading.listed(sentences)}"
            for sentence, is_correct in zip(sentences, _are_correct(gold.get(document, ()), sentences)):
                outcome = "correct" if is_correct else "wrong: its gold set is not whole, or there is none"
                yield f"  sentence {quoted(sentence)}: {outcome}"

    def parts(self, unit: Unit, measure: str) -> Iterator[Part]:
        gold, predicted = unit.gold.evidence, unit.prediction.content
        for document, sets in gold.items():
            keys = set(map(as_key, predicted.get(document, ())))
            for number, each in enumerate(sets, start=1):
                yield _part_of_set(document, number, each, keys)
        for document, sentences in predicted.items():
            known = {as_key(sentence) for each in gold.get(document, ()) for sentence in each.sentences}
            extra = {as_key(sentence): sentence for sentence in sentences if as_key(sentence) not in known}
            for sentence in extra.values():
                fault = Fault(EXTRA_SENTENCE, document, sentence, None)
                value = {"document": document, "sentence": sentence}
                yield Part("sentence", value, False, "in no gold set", (fault,))

    def corrected(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        evidence = {document: list(sentences) for document, sentences in unit.prediction.content.items()}
        for fault in faults:
            document = str(fault.part)
            if fault.kind == EXTRA_SENTENCE:
                gone = as_key(fault.predicted)
                evidence[document] = [each for each in evidence[document] if as_key(each) != gone]
                continue
            sentences = evidence.setdefault(document, [])
            there = set(map(as_key, sentences))
            sentences += [each for each in fault.gold if as_key(each) not in there]
        return self.written(Prediction(unit.prediction.id, evidence))


def _entry(value: object) -> reading.Object:
    return reading.as_object(value, "the prediction")


def _sentences(value: object) -> list[object]:
    return reading.sentences_of({"sentences": value})


def _are_correct(sets: Sequence[Labelled], sentences: Sequence[object]) -> list[bool]:
    """Return for each predicted sentence whether the first gold set that holds it is whole among those predicted."""
    predicted = set(map(as_key, sentences))
    is_whole_by_sentence: dict[Hashable, bool] = {}
    for each in sets:
        keys = set(map(as_key, each.sentences))
        is_whole = keys <= predicted
        for key in keys:
            is_whole_by_sentence.setdefault(key, is_whole)
    return [is_whole_by_sentence.get(as_key(sentence), False) for sentence in sentences]


def _part_of_set(document: str, number: int, gold_set: Labelled, predicted: set[Hashable]) -> Part:
    """Return a gold set of a document with the fault that it is not whole among the predicted sentences."""
    by_key = {as_key(sentence): sentence for sentence in gold_set.sentences}
    lacking = [sentence for key, sentence in by_key.items() if key not in predicted]
    value = {"document": document, "set": number, "sentences": list(gold_set.sentences)}
    if not lacking:
        return Part("evidence set", value, True, "complete")
    found = len(by_key) - len(lacking)
    kind = INCOMPLETE_RATIONALE if found else MISSED_RATIONALE
    judgment = f"{found} of {counted(len(by_key), 'sentence')}" if found else None
    return Part("evidence set", value, False, judgment, (Fault(kind, document, None, lacking),))


# ---- Labels


class Label(Stage):
    """A label for each predicted document; gold's is that of its sets, NOT_ENOUGH_INFO where it has none."""

    name = "scifact-label"
    key = "labels"
    columns = tuple(f"{gold}_as_{predicted}".lower() for gold in LABELS for predicted in LABELS)
    headings = ("precision", "recall", "f1")
    rows = (
        ReportRow("accuracy", ("accuracy",)),
        *(
            ReportRow(label.lower(), tuple(f"{label.lower()}_{name}" for name in ("precision", "recall", "f1")))
            for label in LABELS
        ),
        ReportRow("macro_f1", ("macro_f1",)),
        ReportRow("macro_f1_without_nei", ("macro_f1_without_nei",)),
    )
    headlines = ("macro_f1",)
    kinds = (WRONG_LABEL,)

    def gold_sets(self, value: object) -> tuple[Labelled, ...]:
        return labelled_sets(value, one_label=True)

    def formula(self, sums: Sequence[Any], divide: Divide) -> tuple[Any, ...]:
        size = len(LABELS)
        documents = sum(sums)
        right = sum(sums[place * size + place] for place in range(size))
        f1s, scores, occurring = [], [divide(right, documents)], 0
        for place in range(size):
            relevant = sum(sums[place * size : (place + 1) * size])
            predicted = sum(sums[place::size])
            family = precision_recall_f1(sums[place * size + place], predicted, relevant, divide)
            scores += family
            f1s.append(family[2])
            occurring = occurring + ((relevant + predicted) > 0)
        without_nei = [f1 for label, f1 in zip(LABELS, f1s) if label != NOT_ENOUGH_INFO]
        two = 2 + 0 * documents  # as many as there are documents where these are arrays
        return *scores, _mean(f1s, occurring, divide), _mean(without_nei, two, divide)

    def of_stage(self, value: object) -> dict[str, str]:
        labels = {}
        with reading.located() as at:
            for document, given in reading.as_object(value, "'labels'").items():
                at.place["abstract"] = document
                labels[document] = _label_of(given)
        return labels

    def of_leaderboard(self, fields: reading.Object) -> dict[str, str]:
        return dict(_documents_of(fields, _label_of))

    def content_of(self, prediction: Prediction) -> Any:
        return {document: {"label": label} for document, label in prediction.content.items()}

    def paired(self, gold: Gold, predictions: Gold, options: Options) -> tuple[Iterable[Pair], Iterable[str]]:
        pairs, notices = super().paired(gold, predictions, options)
        if not any(claim.content for claim in predictions.content):
            raise InputError("no document has a label, so there is nothing to score", file=predictions.name)
        return pairs, notices

    def row(self, unit: Unit) -> Row:
        counts = [0] * len(self.columns)
        for _, gold, predicted in self.confusions(unit):
            counts[LABELS.index(gold) * len(LABELS) + LABELS.index(predicted)] += 1
        return tuple(counts)

    def confusions(self, unit: Unit) -> Iterator[Confusion]:
        for document, label in unit.prediction.content.items():
            yield "document", self._gold_label(unit, document), label

    def _gold_label(self, unit: Unit, document: str) -> str:
        """Return gold's label of a document. Raises InputError for one that the stage does not know."""
        sets = unit.gold.evidence.get(document)
        label = sets[0].label if sets else NOT_ENOUGH_INFO
        if label not in LABELS:
            with self.at(unit):
                raise InputError(f"label {quoted(label)} is not one of {', '.join(LABELS)}")
        return str(label)

    def explained(self, unit: Unit, row: Row) -> Iterator[str]:
        yield f"claim {plain(unit.id)}"
        for _, document, gold, label in self._judged(unit):
            outcome = "correct" if gold == label else f"wrong, gold {gold}"
            yield f"  document {plain(document)}: {label}, {outcome}"
        if not unit.prediction.content:
            yield "  no document is predicted, so nothing counts"

    def _judged(self, unit: Unit) -> Iterator[tuple[bool, str, str, str]]:
        """Yield for each predicted document whether it is right, the document, gold's label and the predicted one."""
        for document, label in unit.prediction.content.items():
            gold = self._gold_label(unit, document)
            yield gold == label, document, gold, label

    def parts(self, unit: Unit, measure: str) -> Iterator[Part]:
        for is_right, document, gold, label in self._judged(unit):
            faults = () if is_right else (Fault(WRONG_LABEL, document, label, gold),)
            yield Part("label", document, is_right, label, faults)

    def corrected(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        labels = {**unit.prediction.content, **{str(fault.part): fault.gold for fault in faults}}
        return self.written(Prediction(unit.prediction.id, labels))

    def below(self, sums: Sequence[float]) -> list[tuple[str, ...]]:
        """Return the confusion table of all documents."""
        size = len(LABELS)
        table: list[tuple[str, ...]] = [("gold \\ predicted", *LABELS)]
        for place, label in enumerate(LABELS):
            counts = sums[place * size : (place + 1) * size]
            table.append((label, *(str(int(count)) for count in counts)))
        return table


def _mean(f1s: Sequence[Any], number: Any, divide: Divide) -> Any:
    """Return the mean of F1 values, or as a ratio their sum over their number; values are numbers or arrays."""
    if isinstance(f1s[0], Ratio):
        quotients = [f1.numerator / (f1.denominator + (f1.denominator == 0)) for f1 in f1s]
        return Ratio(sum(quotients), number)
    return divide(sum(f1s), number)


def _label_of(value: object) -> str:
    """Return the label of a predicted document. Raises InputError."""
    label = reading.member(_entry(value), "label")
    if not isinstance(label, str) or label not in LABELS:
        raise InputError(f"label {quoted(label)} is not one of {', '.join(LABELS)}")
    return label


RETRIEVAL: Final = Retrieval()
RATIONALE: Final = Rationale()
LABEL: Final = Label()
