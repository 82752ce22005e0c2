"""The measures of the FEVER shared task (Thorne et al. 2018), as the public scorer computes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
"""The number of predicted sentences that count for a claim."""

Sentence = tuple[str | None, int | None]
"""A page and the number of a sentence on it; both are None in the evidence of a claim that cannot be verified."""


class Options(Record):
    """The options of a scoring."""

    any_order: Annotated[bool, Meta(description="Pair claims by id; otherwise lines are paired by position")] = False


class Claim(NamedTuple):
    """A claim of gold: its label in capitals, and groups of sentences; each group verifies the claim by itself."""

    id: Any
    label: str
    groups: tuple[tuple[Sentence, ...], ...]

    @property
    def is_verifiable(self) -> bool:
        """Whether the claim has a label that sentences can support."""
        return self.label != NOT_ENOUGH_INFO


class Prediction(NamedTuple):
    """The prediction for a claim: the label as the file has it, and sentences in order."""

    id: Any
    label: str
    sentences: tuple[Sentence, ...]

    @property
    def first_sentences(self) -> tuple[Sentence, ...]:
        """The first sentences, which are the only ones that count."""
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
        """Return the five measures from the sums of the columns, which are numbers or arrays.

        Without a verifiable claim precision is 1 and recall 0.
        """
        claims, verifiable, fully_right, label_right, precision, recall = sums
        one_if_empty = (verifiable == 0) * 1  # 1 without a verifiable claim, else 0
        mean_precision = divide(precision + one_if_empty, verifiable + one_if_empty)
        mean_recall = divide(recall, verifiable + one_if_empty)
        return (
            divide(fully_right, claims),
            divide(label_right, claims),
            mean_precision,
            mean_recall,
            f1(mean_precision, mean_recall, divide),
        )

    def remarks(self, units: Sequence[Unit], table: UnitTable) -> Iterator[str]:
        """Yield a notice if the public scorer would fail, since precision and recall are 0."""
        scores = self.scores(table.sums())
        if not scores["evidence_precision"] + scores["evidence_recall"]:
            yield "evidence_f1 is 0, as precision and recall are (the public scorer divides by zero)"

    # ---- Reading

    def gold(self, source: Source) -> list[Claim]:
        """Return the claims of a gold file. Raises InputError for a malformed line."""
        return list(_read_lines(source, _read_claim))

    def predictions(self, source: Source) -> list[Prediction]:
        """Return the predictions of a file, in its order. Raises InputError for a malformed line."""
        return list(_read_lines(source, read_prediction))

    def is_gold(self, first: object) -> bool | None:
        """Return whether the first line of a file is one of gold; None if the line is no object."""
        if not isinstance(first, dict):
            return None
        return "predicted_label" not in first

    def pair_units(
        self, gold: InputContent, predictions: InputContent, options: Options
    ) -> tuple[Iterable[Any], Iterable[str]]:
        """Return each claim with its prediction. Lines are paired by position, or by id with the option `any_order`.

        Claims without an id have the number of their line instead. Raises InputError if the files do not have the same
        claims.
        """
        claims: list[Claim] = gold.content
        if not claims:
            raise InputError("no claim in it", file=gold.name)
        if options.any_order:
            sorted_predictions = _match_by_id(claims, gold.name, predictions)
        else:
            sorted_predictions = predictions.content
            _check_order(claims, sorted_predictions, gold.name, predictions.name)
        ids = [number if claim.id is None else claim.id for number, claim in enumerate(claims, start=1)]
        return zip(ids, claims, sorted_predictions), ()

    # ---- Scoring

    def row(self, unit: Unit) -> tuple[float, ...]:
        """Return the statistics of a claim in the order of the columns.

        Precision and recall are 0 for a claim that cannot be verified, which the formula leaves out.
        """
        gold: Claim = unit.gold
        prediction: Prediction = unit.prediction
        is_label_right = prediction.label.upper() == gold.label
        has_evidence = whole_group(gold, prediction) is not None
        is_fully_right = is_label_right and (has_evidence or not gold.is_verifiable)
        if not gold.is_verifiable:
            return 1, 0, int(is_fully_right), int(is_label_right), 0.0, 0.0
        gold_sentences = sentences_of(gold)
        right_sentences = [sentence for sentence in prediction.first_sentences if sentence in gold_sentences]
        precision = 1.0
        if prediction.first_sentences:
            precision = len(right_sentences) / len(prediction.first_sentences)
        recall = float(has_evidence or not gold.groups)
        return 1, 1, int(is_fully_right), int(is_label_right), precision, recall

    def explain_unit(self, unit: Unit, row: Sequence[float]) -> Iterator[str]:
        """Yield the lines that explain a claim: its label, its sentences, and the groups of gold."""
        gold: Claim = unit.gold
        prediction: Prediction = unit.prediction
        outcome = "right" if prediction.label.upper() == gold.label else "wrong"
        yield f"claim {unit.id}"
        yield f"  label     {prediction.label}, gold {gold.label}: {outcome}"
        if not gold.is_verifiable:
            yield "  evidence  does not count: the claim cannot be verified"
            return
        group = whole_group(gold, prediction)
        yield f"  evidence  {'no whole group' if group is None else f'group {group + 1} is whole'}"
        gold_sentences = sentences_of(gold)
        for number, sentence in enumerate(prediction.sentences, start=1):
            judgment = "in a group" if sentence in gold_sentences else "in no group"
            if number > MOST_EVIDENCE:
                judgment += f", and behind the first {MOST_EVIDENCE}: it does not count"
            yield f"  {number}  {_describe(sentence)}: {judgment}"
        for number, sentences in enumerate(gold.groups, start=1):
            sentences_in_words = "; ".join([_describe(sentence) for sentence in sentences])
            yield f"  gold group {number}: {sentences_in_words}"

    # ---- Faults of predictions

    def parts(self, unit: Unit, measure: str) -> Iterator[Part]:
        """Yield the label of a claim, its predicted sentences, and the smallest group if no group is whole.

        Each of these parts has its judgment and its faults.
        """
        gold: Claim = unit.gold
        prediction: Prediction = unit.prediction
        is_right = prediction.label.upper() == gold.label
        label_faults: tuple[Fault, ...] = ()
        if not is_right:
            label_faults = (Fault(kind="wrong_label", part=None, predicted=prediction.label, gold=gold.label),)
        yield Part(noun="label", value=gold.label, is_right=is_right, judgment=prediction.label, faults=label_faults)
        if not gold.is_verifiable:
            return
        gold_sentences = sentences_of(gold)
        for number, sentence in enumerate(prediction.sentences, start=1):
            is_in_gold = sentence in gold_sentences
            yield Part(
                noun="sentence",
                value=list(sentence),
                is_right=is_in_gold,
                judgment=f"sentence {number}",
                faults=_faults_of_sentence(number, sentence, is_in_gold=is_in_gold),
            )
        if gold.groups and whole_group(gold, prediction) is None:
            smallest_group = [list(sentence) for sentence in min(gold.groups, key=len)]
            missed = Fault(kind="missed_evidence", part=None, predicted=None, gold=smallest_group)
            yield Part(noun="group", value=smallest_group, is_right=False, judgment=None, faults=(missed,))

    def correct_faults(self, unit: Unit, faults: Iterable[Fault]) -> Any:
        """Return the prediction without these faults, as the JSON object of its line.

        Sentences that have to be among the first ones, because they were missed or too late, are put in front.
        """
        prediction: Prediction = unit.prediction
        label = prediction.label
        numbers_left_out = set()
        sentences_in_front: list[Any] = []
        for fault in faults:
            if fault.kind == "wrong_label":
                label = fault.gold
            elif fault.kind == "missed_evidence":
                sentences_in_front += [tuple(sentence) for sentence in fault.gold]
            else:  # a sentence in no group, or a late one; the part of its fault is its number
                numbers_left_out.add(fault.part)
                if fault.kind == "late_evidence":
                    sentences_in_front.append(tuple(fault.predicted))
        sentences = list(dict.fromkeys(sentences_in_front))
        for number, sentence in enumerate(prediction.sentences, start=1):
            if number not in numbers_left_out and sentence not in sentences_in_front:
                sentences.append(sentence)
        return self.prediction_to_json(prediction._replace(label=label, sentences=tuple(sentences)))

    def prediction_to_json(self, prediction: Prediction) -> Any:
        """Return the prediction for a claim as the JSON object of its line."""
        evidence = [list(sentence) for sentence in prediction.sentences]
        return {"id": prediction.id, "predicted_label": prediction.label, "predicted_evidence": evidence}

    def prediction_from_json(self, prediction: Any) -> Prediction:
        """Return the prediction for a claim from the JSON object of its line. Raises InputError if it is malformed."""
        return read_prediction(prediction)

    def groups(self, unit: Unit) -> Mapping[str, str]:
        """Return the groups of a claim by gold: its label, the size of its smallest group, its number of groups."""
        gold: Claim = unit.gold
        group_sizes: list[int] = []
        if gold.is_verifiable:
            group_sizes = [len(group) for group in gold.groups]
        return {
            "label": gold.label,
            "smallest_group": str(min(group_sizes, default=0)),
            "groups": str(len(group_sizes)),
        }

    def confusions(self, unit: Unit) -> Iterator[tuple[str, str, str]]:
        """Yield ("claim", label of gold, predicted label) for a claim."""
        yield "claim", unit.gold.label, unit.prediction.label.upper()


def _faults_of_sentence(number: int, sentence: Sentence, *, is_in_gold: bool) -> tuple[Fault, ...]:
    """Return the fault of the predicted sentence with this number, in a tuple, which is empty without a fault.

    `is_in_gold` says whether a group of gold has the sentence. Sentences after the first ones do not count: there only
    a sentence of gold is a fault, because it is too late.
    """
    is_late = number > MOST_EVIDENCE
    if is_late and is_in_gold:
        kind = "late_evidence"
    elif not is_late and not is_in_gold:
        kind = "extra_evidence"
    else:
        return ()
    return (Fault(kind=kind, part=number, predicted=list(sentence), gold=None),)


def sentences_of(gold: Claim) -> frozenset[Sentence]:
    """Return the sentences of all groups of a claim."""
    sentences: set[Sentence] = set()
    for group in gold.groups:
        sentences |= {sentence for sentence in group if sentence[1] is not None}
    return frozenset(sentences)


def whole_group(gold: Claim, prediction: Prediction) -> int | None:
    """Return the position of the first group with all of its sentences among the first predicted ones.

    Return None if there is no such group.
    """
    first_sentences = frozenset(prediction.first_sentences)
    for position, group in enumerate(gold.groups):
        if first_sentences.issuperset(group):
            return position
    return None


def _describe(sentence: Sentence) -> str:
    """Return a sentence in words: "Paris, sentence 2"."""
    page, number = sentence
    return f"{page}, sentence {number}"


# ---- Files


def _read_lines(source: Source, read_line: Callable[[Mapping[str, Any]], Any]) -> Iterator[Any]:
    """Yield what a function makes of the JSON object of each line. Raises InputError with the line."""
    with ErrorLocation(source.name) as location:
        for value in json_lines(source, location, skips_blank=True):
            yield read_line(as_object(value, "the line"))


def _read_claim(fields: Mapping[str, Any]) -> Claim:
    """Return the claim that a line of gold holds. Raises InputError for a malformed line."""
    label = member(fields, "label")
    if not isinstance(label, str) or label.upper() not in LABELS:
        raise InputError(f"'label' is {label!r}; labels are {', '.join(LABELS)}")
    groups = []
    for group in as_list(member(fields, "evidence"), "'evidence'"):
        entries = as_list(group, "a group of 'evidence'")
        sentences = [_read_sentence(entry, 4, may_be_null=True) for entry in entries]
        groups.append(tuple(sentences))
    return Claim(_read_id(fields), label.upper(), tuple(groups))


def read_prediction(fields: Mapping[str, Any]) -> Prediction:
    """Return the prediction that a line holds. Raises InputError for a malformed line."""
    label = member(fields, "predicted_label")
    if not isinstance(label, str):
        raise InputError(f"'predicted_label' is no text; labels are {', '.join(LABELS)}")
    entries = as_list(member(fields, "predicted_evidence"), "'predicted_evidence'")
    sentences = [_read_sentence(entry, 2) for entry in entries]
    return Prediction(_read_id(fields), label, tuple(sentences))


def _read_id(fields: Mapping[str, Any]) -> Any:
    """Return the id of a line, None if it has none. Raises InputError for a list or an object."""
    claim_id = fields.get("id")
    if isinstance(claim_id, (dict, list)):
        raise InputError("'id' is no number and no text")
    return claim_id


def _read_sentence(entry: object, length: int, *, may_be_null: bool = False) -> Sentence:
    """Return page and sentence number, the last two members of an entry of evidence, a list of this length.

    Raises InputError for an entry of another form. If they `may_be_null`, both may be null together.
    """
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


def _check_order(claims: Sequence[Claim], predictions: Sequence[Prediction], gold: str, file: str) -> None:
    """Raise InputError unless both files have the same number of lines, and ids that do not differ.

    `gold` and `file` are the names of the two files.
    """
    if len(claims) != len(predictions):
        problem = f"{len(predictions)} predictions, where {gold} has {len(claims)} claims"
        raise InputError(problem, file=file)
    for number, (claim, prediction) in enumerate(zip(claims, predictions), start=1):
        have_ids = claim.id is not None and prediction.id is not None
        if have_ids and claim.id != prediction.id:
            problem = f"id {prediction.id!r}, where {gold} has {claim.id!r} in its claim {number}"
            remedy = "--any-order pairs claims by id"
            raise InputError(problem, file=file, place=f"claim {number}", remedy=remedy)


def _match_by_id(claims: Sequence[Claim], gold: str, predictions: InputContent) -> list[Prediction]:
    """Return the predictions in the order of the claims of the file `gold`, matched by id.

    Raises InputError for a missing, repeated or unknown id.
    """
    claim_by_id = _index_by_id(claims, gold)
    prediction_by_id = _index_by_id(predictions.content, predictions.name)
    for claim_id in prediction_by_id:
        if claim_id not in claim_by_id:
            raise InputError(f"id {claim_id!r} is no claim of {gold}", file=predictions.name)
    for claim_id in claim_by_id:
        if claim_id not in prediction_by_id:
            raise InputError(f"no prediction for the claim {claim_id!r} of {gold}", file=predictions.name)
    return [prediction_by_id[claim_id] for claim_id in claim_by_id]


def _index_by_id(lines: Iterable[Any], file: str) -> dict[Any, Any]:
    """Return the claims or predictions of a file by id. Raises InputError for a missing or repeated id."""
    line_by_id: dict[Any, Any] = {}
    for number, line in enumerate(lines, start=1):
        if line.id is None:
            raise InputError("no id", file=file, place=f"claim {number}")
        if line.id in line_by_id:
            raise InputError(f"id {line.id!r} stands there twice", file=file, place=f"claim {number}")
        line_by_id[line.id] = line
    return line_by_id


MODE: Final = Fever()
