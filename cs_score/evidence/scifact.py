"""SciFact leaderboard scoring: abstracts found and labelled, sentences given as evidence (Wadden et al. 2020).

The numbers are those of the public leaderboard evaluator; section numbers refer to the project's SciFact contract.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Annotated, ClassVar, Final, Generic, NamedTuple, TypeAlias, TypeVar

from msgspec import Meta

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.runtime import paused_collector
from cs_score.base.sources import Input, Source
from cs_score.evidence import reading
from cs_score.evidence.reading import Gold, as_key, key_set, plain, quoted
from cs_score.evidence.result import Mode, Result, counted, report_rows
from cs_score.measures.registry import Divide, Number, names, precision_recall_f1
from cs_score.statistics.units import UnitTable

Abstract = TypeVar("Abstract")

COLUMNS: Final = (
    *("relevant_abstracts", "retrieved_abstracts", "relevant_sentences", "retrieved_sentences"),
    *("label_only_correct", "rationalized_correct", "selection_correct", "label_correct"),
)

GROUPS: Final = ("abstract_label_only", "abstract_rationalized", "sentence_selection", "sentence_label")

SENTENCE_CAP: Final = 3
"""Predicted sentences that count for an abstract, unless each of its gold sets is longer."""

LABELS: Final = ("SUPPORT", "CONTRADICT")

_LEAVE_OUT: Final = "leave out abstracts without a verdict"
# What other tasks and earlier texts call the two labels, and the third label that is not predicted here.
_REMEDIES: Final = {
    **dict.fromkeys(("SUPPORT", "SUPPORTS", "SUPPORTED"), "write SUPPORT"),
    **dict.fromkeys(("CONTRADICT", "CONTRADICTS", "CONTRADICTED", "REFUTE", "REFUTES", "REFUTED"), "write CONTRADICT"),
    **dict.fromkeys(("NOT_ENOUGH_INFO", "NOT ENOUGH INFO", "NOTENOUGHINFO", "NEI", "NOINFO"), _LEAVE_OUT),
}


def measures(sums: Sequence[Number], divide: Divide[Number]) -> tuple[Number, ...]:
    """The twelve measures from the sums of COLUMNS (section 5)."""
    abstracts, retrieved_abstracts, sentences, retrieved_sentences, label_only, rationalized, selection, label = sums
    return (
        *precision_recall_f1(label_only, retrieved_abstracts, abstracts, divide),
        *precision_recall_f1(rationalized, retrieved_abstracts, abstracts, divide),
        *precision_recall_f1(selection, retrieved_sentences, sentences, divide),
        *precision_recall_f1(label, retrieved_sentences, sentences, divide),
    )


class Options(Record):
    """What can be chosen."""

    any_order: Annotated[
        bool, Meta(description="Match claims by id; the official evaluator refuses another order than gold's")
    ] = False


MODE: Final = Mode(
    name="scifact",
    unit="claim",
    columns=COLUMNS,
    formula=measures,
    headings=("precision", "recall", "f1", "correct", "retrieved", "relevant"),
    rows=report_rows(
        GROUPS,
        names("scifact"),
        [
            (correct, f"retrieved_{unit}", f"relevant_{unit}")
            for correct, unit in zip(COLUMNS[4:], ("abstracts", "abstracts", "sentences", "sentences"))
        ],
    ),
    options=Options,
)

Sentences: TypeAlias = tuple[object, ...]
"""Sentence numbers as listed, repeats included; compared by value."""


class GoldAbstract(NamedTuple):
    """Verdict and evidence sets ("rationales") of one abstract."""

    label: object
    sets: tuple[Sentences, ...]


class PredictedAbstract(NamedTuple):
    """Label and sentences that a system gave for one abstract."""

    label: str
    sentences: Sentences


class Claim(NamedTuple, Generic[Abstract]):
    """A claim and its abstracts by id, relevant or predicted; `cited` is `cited_doc_ids`, which no score looks at."""

    id: Hashable
    abstracts: Mapping[str, Abstract]
    cited: object


GoldClaim: TypeAlias = Claim[GoldAbstract]
PredictedClaim: TypeAlias = Claim[PredictedAbstract]


class Verdict(NamedTuple):
    """What is correct in one predicted abstract (sections 4.1 and 4.2).

    `cap` is the number of leading sentences that count for the abstract, `contained` the first gold set found whole
    among them, if any; `correct` holds the correct sentences. Sets are of keys (`as_key`).
    """

    label_right: bool
    cap: int
    contained: frozenset[Hashable] | None
    correct: frozenset[Hashable]

    @property
    def rationalized(self) -> bool:
        """Whether the abstract has the right label and one whole gold set among its leading sentences."""
        return self.label_right and self.contained is not None


class SciFactResult(Result):
    """Scores of a SciFact run; `claims` holds gold beside prediction, in the order of the table."""

    mode: ClassVar[Mode] = MODE

    claims: Sequence[tuple[GoldClaim, PredictedClaim]]

    def explained(self, position: int) -> list[str]:
        return list(explain(*self.claims[position]))


def read_gold(gold: Input | Iterable[object]) -> Gold[list[GoldClaim]]:
    """Read gold once, to score many predictions against it. Raises InputError for what is no gold."""
    return reading.read(gold, "gold", partial(_claims, _gold_abstract), has_lines=True)


@paused_collector()
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
    known = gold if isinstance(gold, Gold) else read_gold(gold)
    given = reading.read(predictions, "predictions", partial(_claims, predicted_abstract), has_lines=True)
    _check_claims(known, given, any_order)
    predicted = given.content
    if any_order:
        waiting: defaultdict[Hashable, deque[PredictedClaim]] = defaultdict(deque)
        for claim in predicted:
            waiting[as_key(claim.id)].append(claim)
        predicted = [waiting[as_key(claim.id)].popleft() for claim in known.content]
    claims, rows = list(zip(known.content, predicted)), []
    with reading.located(known.name) as place:
        for number, pair in enumerate(claims, start=1):
            place.update(line=number, claim=pair[0].id)
            rows.append(count(*pair))
    table = UnitTable(tuple(reading.text_of(claim.id) for claim in known.content), COLUMNS, rows)
    contents = [
        (len(claims), "claim"),
        *zip(map(int, table.sums()), ("abstract", "abstract", *["evidence sentence"] * 2)),
    ]
    return SciFactResult.of(
        table,
        known,
        given,
        options={"any_order": any_order},
        read=(tuple(contents[at] for at in (0, 1, 3)), tuple(contents[at] for at in (0, 2, 4))),
        claims=claims,
    )


def _claims(read_abstract: Callable[[object], Abstract], source: Source) -> list[Claim[Abstract]]:
    claims = []
    for number, value in reading.json_lines(source):
        claim = value.get("id", []) if isinstance(value, dict) else []
        with reading.located(place={"line": number, "claim": claim}):
            claims.append(claim_of(value, read_abstract))
    return claims


def claim_of(value: object, read_abstract: Callable[[object], Abstract]) -> Claim[Abstract]:
    """A line of either file. Raises InputError, which names the abstract, for what is no claim."""
    fields = reading.as_object(value, "the line")
    claim = reading.identifier(fields, "id")
    abstracts = {}
    evidence = reading.as_object(reading.member(fields, "evidence"), "'evidence'")
    with reading.located() as place:
        for abstract, given in evidence.items():
            place["abstract"] = abstract
            abstracts[abstract] = read_abstract(given)
    return Claim(claim, abstracts, fields.get("cited_doc_ids"))


def _gold_abstract(value: object) -> GoldAbstract:
    sets = [reading.as_object(each, "an evidence set") for each in reading.as_list(value, "the gold evidence")]
    if not sets:
        raise InputError("no evidence sets are listed", remedy="leave out abstracts without evidence")
    label = reading.member(sets[0], "label")
    for each in sets[1:]:
        other = reading.member(each, "label")
        if other != label:
            raise InputError(f"evidence sets labelled {quoted(label)} and {quoted(other)}")
    return GoldAbstract(label, tuple(tuple(reading.sentences_of(each)) for each in sets))


def predicted_abstract(value: object) -> PredictedAbstract:
    """What is predicted of an abstract. Raises InputError for what is no prediction."""
    if isinstance(value, list):
        raise InputError(
            "a list of entries where one object with label and sentences is expected",
            remedy="files in this shape are scored with cs-score claims",
        )
    fields = reading.as_object(value, "the prediction")
    label = reading.member(fields, "label")
    if not isinstance(label, str) or label not in LABELS:
        spelled = label.strip().upper() if isinstance(label, str) else ""
        remedy = _REMEDIES.get(spelled)
        raise InputError(f"label {quoted(label)} is not one of {', '.join(LABELS)}", remedy=remedy)
    return PredictedAbstract(sys.intern(label), tuple(reading.sentences_of(fields)))


def _check_claims(gold: Gold[list[GoldClaim]], predicted: Gold[list[PredictedClaim]], any_order: bool) -> None:
    """Rule 1 of section 2: the same claims, in the same order unless `any_order`."""
    wanted_ids, ids = ([claim.id for claim in each.content] for each in (gold, predicted))
    if wanted_ids == ids:
        return
    wanted, found = Counter(map(as_key, wanted_ids)), Counter(map(as_key, ids))
    missing, unknown = wanted - found, found - wanted
    if any_order and not missing and not unknown:
        return
    remedy = None
    if not missing and not unknown:
        remedy = "the claims are those of gold in another order: --any-order matches them by id"
    elif Counter(map(str, wanted_ids)) == Counter(map(str, ids)):
        remedy = "ids are text in one file and numbers in the other"
    if any_order:
        line = next((line for line, claim in enumerate(ids) if as_key(claim) in unknown), len(ids))
    else:
        pairs = enumerate(zip(wanted_ids, ids))
        line = next((line for line, (one, other) in pairs if one != other), min(len(wanted_ids), len(ids)))
    if line == len(ids):
        claim = next(claim for claim in wanted_ids if as_key(claim) in missing)
        problem = f"no prediction for claim {quoted(claim)} of {gold.name}"
        raise InputError(problem, file=predicted.name, remedy=remedy)
    if any_order:
        problem = f"{gold.name} has no such claim (or fewer of them)"
    elif line >= len(wanted_ids):
        problem = f"{gold.name} ends before this line"
    else:
        problem = f"id {quoted(ids[line])} where {gold.name} has {quoted(wanted_ids[line])}"
    place = f"line {line + 1}, claim {plain(ids[line])}"
    raise InputError(problem, file=predicted.name, place=place, remedy=remedy)


def count(gold: GoldClaim, predicted: PredictedClaim) -> tuple[int, ...]:
    """The row of a claim: the four totals of section 3 and the four correct counts of section 4.

    Raises InputError, which names the abstract, as `judge`.
    """
    label_only = rationalized = selection = label = 0
    with reading.located() as place:
        for abstract, given in predicted.abstracts.items():
            place["abstract"] = abstract
            verdict = judge(gold.abstracts.get(abstract), given)
            selection += len(verdict.correct)
            if verdict.label_right:
                label_only += 1
                rationalized += verdict.rationalized
                label += len(verdict.correct)
    return (
        len(gold.abstracts),
        len(predicted.abstracts),
        sum(len(listed) for abstract in gold.abstracts.values() for listed in abstract.sets),
        sum(len(given.sentences) for given in predicted.abstracts.values()),
        label_only,
        rationalized,
        selection,
        label,
    )


def judge(gold: GoldAbstract | None, predicted: PredictedAbstract) -> Verdict:
    """What is correct in a predicted abstract, given its gold abstract (None where it is not relevant).

    Raises InputError where a predicted sentence lies in several gold sets (section 4.2).
    """
    if gold is None:
        return Verdict(False, SENTENCE_CAP, None, frozenset())
    sets = [frozenset(map(as_key, listed)) for listed in gold.sets]
    sentences = list(map(as_key, predicted.sentences))
    cap = max(SENTENCE_CAP, min(map(len, sets)))
    leading, every = frozenset(sentences[:cap]), frozenset(sentences)
    claimed: set[Hashable] = set()
    correct: set[Hashable] = set()
    for gold_set in sets:
        found = gold_set & every
        if not claimed.isdisjoint(found):
            shared = min(map(plain, claimed & found))
            raise InputError(f"the predicted sentence {shared} lies in two evidence sets of the abstract")
        claimed |= found
        if len(found) == len(gold_set):
            correct |= found
    contained = next((gold_set for gold_set in sets if gold_set <= leading), None)
    return Verdict(predicted.label == gold.label, cap, contained, frozenset(correct))


def explain(gold: GoldClaim, predicted: PredictedClaim) -> Iterator[str]:
    """How a claim was scored: each predicted abstract with its sentences, then the abstracts not found."""
    yield f"claim {plain(gold.id)}"
    for abstract, given in predicted.abstracts.items():
        yield ""
        yield from _explained_abstract(abstract, gold.abstracts.get(abstract), given)
    for abstract, wanted in gold.abstracts.items():
        if abstract not in predicted.abstracts:
            yield ""
            yield f"abstract {plain(abstract)}: not predicted"
            yield f"  gold       {plain(wanted.label)}  {_shown_sets(wanted)}"
            yield f"  missed     1 abstract, {counted(sum(map(len, wanted.sets)), 'sentence')}"
    if not gold.abstracts and not predicted.abstracts:
        yield ""
        yield "no abstract is relevant and none is predicted"


def _shown_sets(gold: GoldAbstract) -> str:
    return " ".join(key_set(map(as_key, listed)) for listed in gold.sets)


def _explained_abstract(abstract: str, gold: GoldAbstract | None, given: PredictedAbstract) -> Iterator[str]:
    verdict = judge(gold, given)
    yield f"abstract {plain(abstract)}: {'not relevant' if gold is None else 'relevant'}"
    yield f"  gold       {'-' if gold is None else f'{plain(gold.label)}  {_shown_sets(gold)}'}"
    yield f"  predicted  {given.label}  [{', '.join(map(quoted, given.sentences))}]"
    if gold is None:
        yield f"  wrong      1 abstract, {counted(len(given.sentences), 'sentence')}"
        return
    label_only, labels = ("correct", "labels agree") if verdict.label_right else ("wrong", "labels differ")
    rationalized = "correct" if verdict.rationalized else "wrong"
    contained = "no whole gold set" if verdict.contained is None else key_set(verdict.contained)
    yield f"  label only       {label_only}: {labels}"
    yield f"  rationalized     {rationalized}: {labels}, the first {verdict.cap} sentences contain {contained}"
    every = frozenset(map(as_key, given.sentences))
    lacking: dict[Hashable, str] = {}  # what the first gold set that a sentence lies in needs beside those predicted
    for listed in gold.sets:
        gold_set = dict.fromkeys(map(as_key, listed))
        needed = key_set(key for key in gold_set if key not in every)
        for key in gold_set:
            lacking.setdefault(key, needed)
    seen: set[Hashable] = set()
    for sentence in given.sentences:
        key = as_key(sentence)
        if key in seen:
            reason = "wrong: listed before"
        elif key in verdict.correct:
            reason = "correct" if verdict.label_right else "correct for selection, not with label"
        elif key in lacking:
            reason = f"wrong: its gold set also needs {lacking[key]}"
        else:
            reason = "wrong: in no gold set"
        seen.add(key)
        yield f"  sentence {quoted(sentence)}: {reason}"
