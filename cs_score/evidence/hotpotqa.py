"""HotpotQA scoring: answers, supporting facts, and both jointly (Yang et al. 2018).

The numbers are those of the official evaluation; section numbers refer to the project's HotpotQA contract.
"""

from __future__ import annotations

import json
import re
import string
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.runtime import Late
from cs_score.base.sources import Source
from cs_score.evidence import mismatches, reading
from cs_score.evidence.mode import (
    NONE,
    AnsweredOptions,
    Confusion,
    Contents,
    Fault,
    Mode,
    Pair,
    Part,
    Row,
    RowsWithout,
    Unit,
    left_out,
    report_rows,
)
from cs_score.evidence.reading import Gold, counted, plain, quoted, text_of
from cs_score.evidence.report import score_lines
from cs_score.measures.registry import divide, names
from cs_score.measures.registry import f1 as harmonic_mean
from cs_score.statistics.units import UnitTable

if TYPE_CHECKING:
    from cs_score.evidence.forms import hotpotqa as forms
else:
    forms = Late("cs_score.evidence.forms.hotpotqa")  # only files of other forms need it

WRONG_ANSWER: Final = "wrong_answer"
MISSED_ANSWER: Final = "missed_answer"
EXTRA_FACT: Final = "extra_fact"
MISSED_FACT: Final = "missed_fact"

ANSWER: Final = "answer"
FACTS: Final = "sp"
"""The keys of the predictions file, and those of the prediction of one question."""

SPECIAL_ANSWERS: Final = frozenset({"yes", "no", "noanswer"})
"""Answers that are right or wrong as a whole."""

YES_OR_NO: Final = ("yes", "no")

NOTICED_IDS: Final = 5
"""Questions without prediction that a notice names."""

TYPES_OF_2WIKI: Final = frozenset({"compositional", "inference", "bridge_comparison"})
"""Types of questions that 2WikiMultihopQA has and HotpotQA has not."""

TYPES_LOOKED_AT: Final = 100

_GOLD_KEYS: Final = frozenset(
    {"_id", "answer", "supporting_facts", "type", "level", "id", "title", "sent_id"}  # the last three: the data set
)
_PUNCTUATION: Final = str.maketrans("", "", string.punctuation)
_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")

FactKey: TypeAlias = tuple[Hashable, ...]
"""A supporting fact as it is compared: the keys (`as_key`) of title and sentence number."""


class Agreement(NamedTuple):
    """Exact match, F1, precision and recall of one prediction, each 0..1."""

    em: float
    f1: float
    precision: float
    recall: float


NOTHING: Final = Agreement(0.0, 0.0, 0.0, 0.0)
"""What a missing prediction adds."""


class HotpotQA(Mode):
    """Questions with an answer and supporting facts; a prediction is an object with `answer` and `sp`, or one of them.

    Of the gold of a question the official evaluation looks only at that for which there is a prediction.
    """

    name = "hotpotqa"
    unit = "question"
    columns = ("questions", *names("hotpotqa"))
    headings = ("em", "f1", "prec", "recall")
    rows = report_rows(("answer", "sp", "joint"), columns[1:])
    kinds = (WRONG_ANSWER, MISSED_ANSWER, EXTRA_FACT, MISSED_FACT)
    shares_predictions = True
    options = AnsweredOptions
    summary = "Score HotpotQA answers, supporting facts, and both jointly"
    files = (
        "Gold is the corpus's JSON list of questions; predictions hold answers and supporting facts by question id "
        'under the keys "answer" and "sp".'
    )

    def gold(self, source: Source) -> list[Any] | reading.Converted:
        # What is neither scored nor grouped by, nine tenths of the file, is dropped as it is read.
        decoder = json.JSONDecoder(
            object_pairs_hook=lambda pairs: {key: each for key, each in pairs if key in _GOLD_KEYS}
        )
        text = reading.document_text(source)
        try:
            value = reading.document_in(text, source.name, decoder)
        except InputError:
            questions = reading.lines_in(text, decoder)
            if questions is None or forms.questions_of_data_set(questions) is None:
                raise
            return _checked_questions(questions, is_of_lines=True)
        return _checked_questions(reading.as_list(value, "the file"))

    def predictions(self, source: Source) -> dict[str, Any] | reading.Converted:
        text = reading.document_text(source)
        try:
            return _answers_and_facts(reading.document_in(text, source.name))
        except InputError:
            converted = _predictions_of_other_form(text)
            if converted is None:
                raise
            return converted

    def is_gold(self, first: object) -> bool:
        return isinstance(first, list)

    def paired(self, gold: Gold, predictions: Gold, options: Any) -> tuple[Iterable[Pair], Iterable[str]]:
        """By id. What is not predicted counts as 0, which a notice says."""
        pairs, notices = [], []
        for question in gold.content:
            named = question["_id"]
            given = {key: values[named] for key, values in predictions.content.items() if named in values}
            pairs.append((named, question, given or None))
        if options.answered_only:
            answered = [pair for pair in pairs if pair[2] is not None]
            notices += left_out(predictions.name, len(answered), len(pairs), self.unit)
            pairs = answered
        for key, what in ((ANSWER, "answer"), (FACTS, "supporting facts")):
            if missing := [plain(named) for named, *_ in pairs if named not in predictions.content[key]]:
                shown = ", ".join(missing[:NOTICED_IDS]) + (", ..." if len(missing) > NOTICED_IDS else "")
                number = f"{len(missing)} of {counted(len(pairs), 'question')}"
                notices.append(f"{predictions.name}: no {what} for {number}: {shown}")
        return pairs, notices

    def mismatches(self, gold: Gold, predictions: Gold, units: Sequence[Unit], table: UnitTable) -> Iterator[str]:
        files = gold.name, predictions.name
        if any(str(unit.gold.get("type")) in TYPES_OF_2WIKI for unit in units[:TYPES_LOOKED_AT]):
            yield (
                f"{gold.name} looks like gold of 2WikiMultihopQA, whose own evaluation also accepts the aliases of "
                "answers and compares titles without letter case; here both count as they are written"
            )
        unmatched = [unit.id for unit in units if unit.prediction is None]
        if unmatched:
            known = (named for key in (ANSWER, FACTS) for named in predictions.content[key])
            yield from mismatches.of_ids(unmatched, known, files, "question")
        place = table.columns.index("sp_em")
        facts = (
            (unit.id, facts_of(unit.gold["supporting_facts"]).values(), facts_of(unit.prediction[FACTS]).values())
            for unit, row in zip(units, table.rows)
            if not row[place] and unit.prediction and FACTS in unit.prediction
        )
        yield from mismatches.of_facts(facts, files)

    def contents(self, gold: Any, predictions: Any, table: UnitTable) -> tuple[Contents, Contents]:
        of_predictions = (len(predictions[ANSWER]), "answer"), (len(predictions[FACTS]), "fact list")
        return ((len(gold), "question"),), of_predictions

    def row(self, unit: Unit) -> Row:
        answer = supported = joint = NOTHING
        given = unit.prediction or {}
        with self.at(unit) as at:
            if ANSWER in given:
                at.file = unit.files[1]
                predicted_answer = answer_text(given[ANSWER])
                at.file = unit.files[0]
                gold_answer = answer_text(reading.member(unit.gold, "answer"))
                answer = compare_answers(normalised(predicted_answer), normalised(gold_answer))
            if FACTS in given:
                at.file = unit.files[1]
                predicted = facts_of(given[FACTS]).keys()
                at.file = unit.files[0]
                gold = facts_of(reading.member(unit.gold, "supporting_facts")).keys()
                supported = fact_agreement(len(predicted & gold), len(predicted), len(gold))
        if len(given) == 2:
            joint = combine(answer, supported)
        return 1, *answer, *supported, *joint

    def explained(self, unit: Unit, row: Row) -> Iterator[str]:
        """Answers as given and as compared, facts right, wrong and missed, the twelve values."""
        given = unit.prediction or {}
        yield f"question {plain(unit.id)}"
        if ANSWER not in given:
            yield "  answer: none predicted"
        else:
            for role, text in (("gold", unit.gold["answer"]), ("predicted", given[ANSWER])):
                yield f"  answer {role:9}  {plain(text)}  (compared as {quoted(normalised(text))})"
        if FACTS not in given:
            yield "  facts: none predicted"
        else:
            gold, predicted = (facts_of(each).keys() for each in (unit.gold["supporting_facts"], given[FACTS]))
            outcomes = {"right": gold & predicted, "wrong": predicted - gold, "missed": gold - predicted}
            for outcome, some in outcomes.items():
                shown = "; ".join(sorted(map(reading.listed, some)))
                yield f"  facts {outcome:6}  {len(some)}  {shown}".rstrip()
        yield from (f"  {line}" for line in score_lines(self, dict(zip(self.columns, row)), {}))

    def parts(self, unit: Unit, measure: str) -> Iterator[Part]:
        given = unit.prediction or {}
        can_be_predicted = isinstance(unit.id, str)  # keys of JSON are text

        def part(what: str, value: Any, right: bool, judgment: str | None, fault: Fault) -> Part:
            return Part(what, value, right, judgment, () if right or not can_be_predicted else (fault,))

        answer, gold = given.get(ANSWER), _gold_answer(unit)
        if gold is not None:
            right = answer is not None and normalised(answer) == normalised(gold)
            kind = MISSED_ANSWER if answer is None else WRONG_ANSWER
            yield part("answer", gold, right, answer, Fault(kind, ANSWER, answer, gold))
        wanted, predicted = _gold_facts(unit), facts_of(given.get(FACTS, []))
        for key, fact in wanted.items():
            judgment = "supports" if key in predicted else None
            yield part("fact", fact, key in predicted, judgment, Fault(MISSED_FACT, FACTS, None, fact))
        for key, fact in predicted.items():
            if key not in wanted:
                yield part("fact", fact, False, "not in gold", Fault(EXTRA_FACT, FACTS, fact, None))

    def rows_without_each(self, units: Sequence[Unit], rows: Sequence[Row]) -> RowsWithout:
        return OneFact(units, rows, super().rows_without_each(units, rows)).rows_without

    def corrected(self, unit: Unit, faults: Iterable[Fault]) -> object:
        given, missed, gone = dict(unit.prediction or {}), list[Any](), set[FactKey]()
        for fault in faults:
            if fault.kind in (WRONG_ANSWER, MISSED_ANSWER):
                given[ANSWER] = fault.gold
            elif fault.kind == MISSED_FACT:
                missed.append(fault.gold)
            else:
                gone.add(fact_key(fault.predicted))
        if missed or gone:
            given[FACTS] = [fact for fact in given.get(FACTS, ()) if fact_key(fact) not in gone] + missed
        return given

    def groups(self, unit: Unit) -> Mapping[str, str]:
        groups = {key: text_of(unit.gold[key]) for key in ("type", "level") if key in unit.gold}
        answer = _gold_answer(unit)
        if answer is not None:
            kind = _kind(answer)
            groups["answer_kind"] = "yes/no" if kind in YES_OR_NO else kind
        return {**groups, "supporting_facts": str(len(_gold_facts(unit)))}

    def confusions(self, unit: Unit) -> Iterator[Confusion]:
        gold, predicted = _gold_answer(unit), (unit.prediction or {}).get(ANSWER)
        shown = _kind(predicted) if isinstance(predicted, str) else NONE
        yield "answer", NONE if gold is None else _kind(gold), shown


class OneFact:
    """Scores questions again by the numbers of their facts, which are all that a single fact changes."""

    def __init__(self, units: Sequence[Unit], rows: Sequence[Row], rows_without: RowsWithout) -> None:
        """`rows_without` scores all of the prediction again, which faults of answers and a first fact need."""
        given = units[0].prediction or {}
        self._rows_without = rows_without
        self._rows = rows
        self._has_facts = FACTS in given
        self._has_answer = ANSWER in given
        self._predicted = facts_of(given.get(FACTS, [])).keys()
        self._gold = [_gold_facts(unit).keys() for unit in units]
        self._right = [len(self._predicted & gold) for gold in self._gold]

    def rows_without(self, fault: Fault) -> Sequence[Row]:
        """Return the rows of the questions once a fault is corrected."""
        if fault.kind not in (EXTRA_FACT, MISSED_FACT) or not self._has_facts:
            return self._rows_without(fault)
        if fault.kind == EXTRA_FACT:
            key = fact_key(fault.predicted)
            change = -1
        else:
            key = fact_key(fault.gold)
            change = 0 if key in self._predicted else 1
        rows: list[Row] = []
        for row, gold, right in zip(self._rows, self._gold, self._right):
            right_now = right + change if key in gold else right
            supported = fact_agreement(right_now, len(self._predicted) + change, len(gold))
            answer = Agreement(*row[1:5])
            joint = combine(answer, supported) if self._has_answer else NOTHING
            rows.append((1, *answer, *supported, *joint))
        return rows


def _answers_and_facts(value: object) -> dict[str, Any]:
    """Return the answers and the facts of predictions of the official form. Raises InputError for anything else."""
    fields = reading.as_object(value, "the file")
    return {key: reading.as_object(reading.member(fields, key), f"'{key}'") for key in (ANSWER, FACTS)}


def _predictions_of_other_form(text: str) -> reading.Converted | None:
    """Return predictions that have an object for each question; None for a form that is not known for certain."""
    values = reading.lines_in(text)
    if values is None:
        try:
            values = json.loads(text)
        except (ValueError, RecursionError):
            return None
    elif len(values) == 1:
        values = values[0]
    converted = forms.predictions_by_question(values)
    if converted is None:
        return None
    shape, content = converted
    return reading.Converted(content, f"read as {shape}")


def _checked_questions(questions: list[Any], *, is_of_lines: bool = False) -> list[Any] | reading.Converted:
    """Return the questions of gold, with a notice where the file has another form. Raises InputError."""
    has_ids = all(isinstance(each, dict) and "_id" in each for each in questions)
    facts = questions[0].get("supporting_facts") if has_ids and questions else None
    shapes = ["one question a line"] if is_of_lines else []
    if not has_ids or isinstance(facts, dict):
        converted = forms.questions_of_data_set(questions)
        if converted is not None:
            questions = converted
            shapes.append("rows of the Hugging Face data set")
    for number, value in enumerate(questions, start=1):
        with reading.located(place={"question number": number}):
            reading.identifier(reading.as_object(value, "the question"), "_id")
    if not questions:
        raise InputError("no questions, so there is nothing to score")
    return reading.Converted(questions, f"read as {', '.join(shapes)}") if shapes else questions


def answer_text(answer: object) -> str:
    """A predicted or gold answer. Raises InputError where it is not text."""
    if not isinstance(answer, str):
        raise InputError(f"answer is not text but {reading.kind_of(answer)}")
    return answer


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


def facts_of(facts: object) -> dict[FactKey, Any]:
    """Supporting facts by what they are compared by, each once. Raises InputError for what is no list of flat lists."""
    found: dict[FactKey, Any] = {}
    for fact in reading.as_list(facts, "the list of facts"):
        found.setdefault(fact_key(fact), fact)
    return found


def fact_key(fact: object) -> FactKey:
    """One supporting fact as it is compared."""
    parts = reading.as_list(fact, "a supporting fact")
    for part in parts:
        if isinstance(part, (list, dict)):
            raise InputError("a supporting fact holds a list or an object")
    return tuple(map(reading.as_key, parts))


def fact_agreement(right: int, predicted: int, gold: int) -> Agreement:
    """How well so many facts agree with so many of gold, of which both have some (`right`; section 4)."""
    precision, recall = divide(right, predicted), divide(right, gold)
    return Agreement(float(right == predicted == gold), harmonic_mean(precision, recall), precision, recall)


def combine(answer: Agreement, facts: Agreement) -> Agreement:
    """Joint agreement of a question that has both an answer and supporting facts (section 5)."""
    precision, recall = answer.precision * facts.precision, answer.recall * facts.recall
    return Agreement(answer.em * facts.em, harmonic_mean(precision, recall), precision, recall)


def _gold_answer(unit: Unit) -> str | None:
    """Gold's answer; None where it has none that can be predicted."""
    answer = unit.gold.get("answer")
    return answer if isinstance(answer, str) else None


def _gold_facts(unit: Unit) -> Mapping[FactKey, list[object]]:
    """Gold's facts in their order; none where they cannot be read, which is no error while nothing is predicted."""
    try:
        return facts_of(unit.gold.get("supporting_facts", []))
    except InputError:
        return {}


def _kind(answer: str) -> str:
    """What kind of answer a text is: yes, no, number (digits alone, once punctuation is gone) or other."""
    text = normalised(answer)
    if text in YES_OR_NO:
        return text
    return "number" if text.replace(" ", "").isdecimal() else "other"


MODE: Final = HotpotQA()
