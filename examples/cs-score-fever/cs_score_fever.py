"""The measures of the FEVER shared task (Thorne et al. 2018), as the public scorer computes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

from msgspec import Meta

from cs_score.tasks import (
    Divide,
    ErrorLocation,
    Fault,
    InputContent,
    InputError,
    Mode,
    Part,
    Record,
    ReportRow,
    Source,
    Unit,
    UnitTable,
    as_list,
    as_object,
    f1,
    json_lines,
    member,
)

LABELS: Final = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
NOT_ENOUGH_INFO: Final = LABELS[2]

MOST_EVIDENCE: Final = 5
"""Predicted sentences that count for a claim."""

Sentence = tuple[str | None, int | None]
"""A page and the number of a sentence on it; both None in the evidence of a claim that cannot be verified."""


class Options(Record):
    """What can be chosen."""

    any_order: Annotated[bool, Meta(description="Pair claims by id; otherwise lines are paired by position")] = False


class Claim(NamedTuple):
    """A claim of gold: its label in capitals, and groups of sentences of which each verifies it by itself."""

    id: Any
    label: str
    groups: tuple[tuple[Sentence, ...], ...]

    @property
    def is_verifiable(self) -> bool:
        return self.label != NOT_ENOUGH_INFO


class Prediction(NamedTuple):
    """What is predicted for a claim: the label as it is written, and sentences in order."""

    id: Any
    label: str
    sentences: tuple[Sentence, ...]

    @property
    def counted(self) -> tuple[Sentence, ...]:
        """The sentences that count."""
        return self.sentences[:MOST_EVIDENCE]


class Fever(Mode):
    """Claims with a label, and pages and sentences as evidence."""

    name = "fever"
    unit = "claim"
    columns = ("claims", "verifiable", "fully_right", "label_right", "precision", "recall")
    headings = ("score", "precision", "recall", "f1")
    rows = (
        ReportRow("fever", ("fever_score",)),
        ReportRow("label", ("label_accuracy",)),
        ReportRow("evidence", ("evidence_precision", "evidence_recall", "evidence_f1")),
    )
    kinds = ("wrong_label", "missed_evidence", "extra_evidence", "late_evidence")
    summary = "Score FEVER predictions: labels, and labels with evidence"
    files = (
        "Both hold one JSON object a line, in the same order: gold `label` and `evidence`, predictions "
        "`predicted_label` and `predicted_evidence`."
    )
    options = Options
    has_lines = True

    def formula(self, sums: Sequence[Any], divide: Divide) -> tuple[Any, ...]:
        """Return the five measures; without a verifiable claim precision is 1 and recall 0."""
        claims, verifiable, fully_right, label_right, precision, recall = sums
        is_empty = (verifiable == 0) * 1
        mean_precision = divide(precision + is_empty, verifiable + is_empty)
        mean_recall = divide(recall, verifiable + is_empty)
        return (
            divide(fully_right, claims),
            divide(label_right, claims),
            mean_precision,
            mean_recall,
            f1(mean_precision, mean_recall, divide),
        )

    def remarks(self, units: Sequence[Unit], table: UnitTable) -> Iterator[str]:
        scores = self.scores(table.sums())
        if not scores["evidence_precision"] + scores["evidence_recall"]:
            yield "evidence_f1 is 0, as precision and recall are (the public scorer divides by zero)"

    # ---- Reading

    def gold(self, source: Source) -> list[Claim]:
        return list(_lines(source, _claim_of))

    def predictions(self, source: Source) -> list[Prediction]:
        return list(_lines(source, prediction_of))

    def is_gold(self, first: object) -> bool | None:
        if not isinstance(first, dict):
            return None
        return "predicted_label" not in first

    def pair_units(
        self, gold: InputContent, predictions: InputContent, options: Options
    ) -> tuple[Iterable[Any], Iterable[str]]:
        """Pair lines by position, or by id. Raise InputError where files do not fit."""
        claims: list[Claim] = gold.content
        if not claims:
            raise InputError("no claim in it", file=gold.name)
        if options.any_order:
            given = _by_id(claims, gold.name, predictions)
        else:
            given = predictions.content
            _check_order(claims, given, gold.name, predictions.name)
        names = [number if claim.id is None else claim.id for number, claim in enumerate(claims, start=1)]
        return zip(names, claims, given), ()

    # ---- A claim

    def row(self, unit: Unit) -> tuple[float, ...]:
        gold: Claim = unit.gold
        given: Prediction = unit.prediction
        is_label_right = given.label.upper() == gold.label
        has_evidence = whole_group(gold, given) is not None
        is_fully_right = is_label_right and (has_evidence or not gold.is_verifiable)
        if not gold.is_verifiable:
            return 1, 0, int(is_fully_right), int(is_label_right), 0.0, 0.0
        known = sentences_of(gold)
        right = sum(sentence in known for sentence in given.counted)
        precision = right / len(given.counted) if given.counted else 1.0
        recall = float(has_evidence or not gold.groups)
        return 1, 1, int(is_fully_right), int(is_label_right), precision, recall

    def explain_unit(self, unit: Unit, row: Sequence[float]) -> Iterator[str]:
        gold: Claim = unit.gold
        given: Prediction = unit.prediction
        yield f"claim {unit.id}"
        yield f"  label     {given.label}, gold {gold.label}: {'right' if row[3] else 'wrong'}"
        if not gold.is_verifiable:
            yield "  evidence  does not count: the claim cannot be verified"
            return
        group = whole_group(gold, given)
        yield f"  evidence  {'no whole group' if group is None else f'group {group + 1} is whole'}"
        known = sentences_of(gold)
        for number, sentence in enumerate(given.sentences, start=1):
            judgment = "in a group" if sentence in known else "in no group"
            late = "" if number <= MOST_EVIDENCE else f", and behind the first {MOST_EVIDENCE}: it does not count"
            yield f"  {number}  {_shown(sentence)}: {judgment}{late}"
        for number, sentences in enumerate(gold.groups, start=1):
            yield f"  gold group {number}: {'; '.join(map(_shown, sentences))}"

    # ---- What is wrong

    def parts(self, unit: Unit, measure: str) -> Iterator[Part]:
        gold: Claim = unit.gold
        given: Prediction = unit.prediction
        is_right = given.label.upper() == gold.label
        wrong = () if is_right else (Fault(kind="wrong_label", part=None, predicted=given.label, gold=gold.label),)
        yield Part(noun="label", value=gold.label, is_right=is_right, judgment=given.label, faults=wrong)
        if not gold.is_verifiable:
            return
        known = sentences_of(gold)
        for number, sentence in enumerate(given.sentences, start=1):
            kind = None
            if number > MOST_EVIDENCE:
                kind = "late_evidence" if sentence in known else None
            elif sentence not in known:
                kind = "extra_evidence"
            faults = () if kind is None else (Fault(kind=kind, part=number, predicted=list(sentence), gold=None),)
            yield Part(
                noun="sentence",
                value=list(sentence),
                is_right=sentence in known,
                judgment=f"sentence {number}",
                faults=faults,
            )
        if gold.groups and whole_group(gold, given) is None:
            smallest = [list(sentence) for sentence in min(gold.groups, key=len)]
            fault = Fault(kind="missed_evidence", part=None, predicted=None, gold=smallest)
            yield Part(noun="group", value=smallest, is_right=False, judgment=None, faults=(fault,))

    def correct_faults(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        """Return the prediction without these faults: what has to count is put in front."""
        given: Prediction = unit.prediction
        label = given.label
        left_out = set()
        in_front = []
        for fault in faults:
            if fault.kind == "wrong_label":
                label = fault.gold
            elif fault.kind == "missed_evidence":
                in_front += [tuple(sentence) for sentence in fault.gold]
            else:
                left_out.add(fault.part)
                if fault.kind == "late_evidence":
                    in_front.append(tuple(fault.predicted))
        numbered = enumerate(given.sentences, start=1)
        kept = [sentence for number, sentence in numbered if number not in left_out]
        sentences = [*dict.fromkeys(in_front), *(sentence for sentence in kept if sentence not in in_front)]
        return self.prediction_to_json(given._replace(label=label, sentences=tuple(sentences)))

    def prediction_to_json(self, prediction: Prediction) -> Any:
        evidence = [list(sentence) for sentence in prediction.sentences]
        return {"id": prediction.id, "predicted_label": prediction.label, "predicted_evidence": evidence}

    def prediction_from_json(self, prediction: Any) -> Prediction:
        return prediction_of(prediction)

    def groups(self, unit: Unit) -> Mapping[str, str]:
        gold: Claim = unit.gold
        smallest = min(map(len, gold.groups), default=0) if gold.is_verifiable else 0
        number = len(gold.groups) if gold.is_verifiable else 0
        return {"label": gold.label, "smallest_group": str(smallest), "groups": str(number)}

    def confusions(self, unit: Unit) -> Iterator[tuple[str, str, str]]:
        yield "claim", unit.gold.label, unit.prediction.label.upper()


def sentences_of(gold: Claim) -> frozenset[Sentence]:
    """Return the sentences of all groups of a claim."""
    return frozenset(sentence for group in gold.groups for sentence in group if sentence[1] is not None)


def whole_group(gold: Claim, given: Prediction) -> int | None:
    """Return the place of the first group that is whole among the sentences that count; None where none is."""
    counted = frozenset(given.counted)
    for place, group in enumerate(gold.groups):
        if counted.issuperset(group):
            return place
    return None


def _shown(sentence: Sentence) -> str:
    return f"{sentence[0]}, sentence {sentence[1]}"


# ---- Files


def _lines(source: Source, value_of: Any) -> Iterator[Any]:
    """Yield what a function makes of each line. Raise InputError with the line."""
    with ErrorLocation(source.name) as location:
        for value in json_lines(source, location, skips_blank=True):
            yield value_of(as_object(value, "the line"))


def _claim_of(fields: Mapping[str, Any]) -> Claim:
    label = member(fields, "label")
    if not isinstance(label, str) or label.upper() not in LABELS:
        raise InputError(f"'label' is {label!r}; labels are {', '.join(LABELS)}")
    groups = []
    for group in as_list(member(fields, "evidence"), "'evidence'"):
        entries = [_sentence_of(entry, 4, may_be_null=True) for entry in as_list(group, "a group of 'evidence'")]
        groups.append(tuple(entries))
    return Claim(_id_of(fields), label.upper(), tuple(groups))


def prediction_of(fields: Mapping[str, Any]) -> Prediction:
    """Return the prediction that a line holds. Raise InputError."""
    label = member(fields, "predicted_label")
    if not isinstance(label, str):
        raise InputError(f"'predicted_label' is no text; labels are {', '.join(LABELS)}")
    entries = as_list(member(fields, "predicted_evidence"), "'predicted_evidence'")
    return Prediction(_id_of(fields), label, tuple([_sentence_of(entry, 2) for entry in entries]))


def _id_of(fields: Mapping[str, Any]) -> Any:
    name = fields.get("id")
    if isinstance(name, (dict, list)):
        raise InputError("'id' is no number and no text")
    return name


def _sentence_of(entry: object, length: int, *, may_be_null: bool = False) -> Sentence:
    """Return page and sentence, the last two members of an entry. Raise InputError for an entry of another form."""
    members = as_list(entry, "an entry of evidence")
    form = "[page, sentence]" if length == 2 else "[annotation, evidence, page, sentence]"
    if len(members) != length:
        raise InputError(f"an entry of evidence has {len(members)} members, where {form} is expected")
    page, number = members[-2:]
    if may_be_null and page is None and number is None:
        return None, None
    if not isinstance(page, str) or type(number) is not int:
        raise InputError(f"an entry of evidence is not {form} with a text and a whole number")
    return page, number


def _check_order(claims: Sequence[Claim], given: Sequence[Prediction], gold: str, predictions: str) -> None:
    """Raise InputError where files have another number of lines, or ids that differ."""
    if len(claims) != len(given):
        problem = f"{len(given)} predictions, where {gold} has {len(claims)} claims"
        raise InputError(problem, file=predictions)
    for number, (claim, prediction) in enumerate(zip(claims, given), start=1):
        if claim.id is not None and prediction.id is not None and claim.id != prediction.id:
            problem = f"id {prediction.id!r}, where {gold} has {claim.id!r} in its claim {number}"
            remedy = "--any-order pairs claims by id"
            raise InputError(problem, file=predictions, place=f"claim {number}", remedy=remedy)


def _by_id(claims: Sequence[Claim], gold: str, predictions: InputContent) -> list[Prediction]:
    """Return the predictions in the order of the claims. Raise InputError for a missing, repeated or unknown id."""
    claim_by_id = _unique(claims, gold)
    prediction_by_id = _unique(predictions.content, predictions.name)
    for name in prediction_by_id:
        if name not in claim_by_id:
            raise InputError(f"id {name!r} is no claim of {gold}", file=predictions.name)
    for name in claim_by_id:
        if name not in prediction_by_id:
            raise InputError(f"no prediction for the claim {name!r} of {gold}", file=predictions.name)
    return [prediction_by_id[name] for name in claim_by_id]


def _unique(lines: Iterable[Any], file: str) -> dict[Any, Any]:
    by_id: dict[Any, Any] = {}
    for number, line in enumerate(lines, start=1):
        if line.id is None:
            raise InputError("no id", file=file, place=f"claim {number}")
        if line.id in by_id:
            raise InputError(f"id {line.id!r} stands there twice", file=file, place=f"claim {number}")
        by_id[line.id] = line
    return by_id


MODE: Final = Fever()
