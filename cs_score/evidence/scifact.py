"""SciFact leaderboard scoring: abstracts found and labelled, sentences given as evidence (Wadden et al. 2020).

The numbers are those of the public leaderboard evaluator; section numbers refer to the project's SciFact contract.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

from msgspec import UNSET, Meta

from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.base.sources import Source
from cs_score.evidence import mismatches, reading
from cs_score.evidence.abstracts import AbstractsMode, Claim, Entry, extra_sentences, sentence_keys
from cs_score.evidence.mode import Contents, Pair, Part, Progress, Row, Unit, left_out, report_rows
from cs_score.evidence.reading import Gold, as_key, counted, key_set, plain, quoted, text_of
from cs_score.measures.registry import Divide, names, precision_recall_f1
from cs_score.statistics.units import UnitTable

GROUPS: Final = ("abstract_label_only", "abstract_rationalized", "sentence_selection", "sentence_label")

SENTENCE_CAP: Final = 3
"""Predicted sentences that count for an abstract, unless each of its gold sets is longer."""

LABELS: Final = ("SUPPORT", "CONTRADICT")

NOT_ENOUGH_INFO: Final = "NOT_ENOUGH_INFO"
"""The third label, which the leaderboard does not take and the stage of labels does."""

STAGES: Final = {
    "retrieval": "documents retrieved",
    "rationale": "sentences selected",
    "label": "a label for each document",
}
"""The stages of the pipeline, each a mode of its own that is called scifact-STAGE, with what they predict."""

_LEAVE_OUT: Final = "leave out abstracts without a verdict"
# What other tasks and earlier texts call the two labels, and the third label that is not predicted here.
_REMEDIES: Final = {
    **dict.fromkeys(("SUPPORT", "SUPPORTS", "SUPPORTED"), "write SUPPORT"),
    **dict.fromkeys(("CONTRADICT", "CONTRADICTS", "CONTRADICTED", "REFUTE", "REFUTES", "REFUTED"), "write CONTRADICT"),
    **dict.fromkeys(("NOT_ENOUGH_INFO", "NOT ENOUGH INFO", "NOTENOUGHINFO", "NEI", "NOINFO"), _LEAVE_OUT),
}


class Options(Record):
    """What can be chosen."""

    any_order: Annotated[
        bool, Meta(description="Match claims by id; the official evaluator refuses another order than gold's")
    ] = False
    answered_only: Annotated[
        bool,
        Meta(description="Score the units that were predicted, and leave out the others; every head says how many"),
    ] = False


class Labelled(NamedTuple):
    """An evidence set of gold, or what is predicted of an abstract: sentence numbers as listed, repeats included."""

    label: Any
    sentences: tuple[object, ...]

    def entry(self) -> Entry:
        return {"label": self.label, "sentences": self.sentences}


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


class SciFact(AbstractsMode):
    """Claims in the order of gold; a claim's prediction has one entry for each abstract."""

    name = "scifact"
    columns = (
        *("relevant_abstracts", "retrieved_abstracts", "relevant_sentences", "retrieved_sentences"),
        *("label_only_correct", "rationalized_correct", "selection_correct", "label_correct"),
    )
    headings = ("precision", "recall", "f1", "correct", "retrieved", "relevant")
    rows = report_rows(
        GROUPS,
        names("scifact"),
        [
            (correct, f"retrieved_{unit}", f"relevant_{unit}")
            for correct, unit in zip(columns[4:], ("abstracts", "abstracts", "sentences", "sentences"))
        ],
    )
    options = Options
    stages = STAGES
    summary = "Score SciFact predictions with the measures of the public leaderboard"
    files = (
        "Both hold one JSON object per line: gold a claim with its evidence sets, predictions the same claims in the "
        "same order, each with a label and a list of sentences per abstract."
    )

    def formula(self, sums: Sequence[Any], divide: Divide) -> tuple[Any, ...]:
        """The twelve measures (section 5)."""
        abstracts, found_abstracts, sentences, found_sentences, label_only, rationalized, selection, label = sums
        return (
            *precision_recall_f1(label_only, found_abstracts, abstracts, divide),
            *precision_recall_f1(rationalized, found_abstracts, abstracts, divide),
            *precision_recall_f1(selection, found_sentences, sentences, divide),
            *precision_recall_f1(label, found_sentences, sentences, divide),
        )

    def gold(self, source: Source) -> list[Claim] | reading.Converted:
        return _claims(source, _gold_sets)

    def predictions(self, source: Source) -> list[Claim] | reading.Converted:
        return _claims(source, _predicted_entry)

    def paired(self, gold: Gold, predictions: Gold, options: Options) -> tuple[Iterable[Pair], Iterable[str]]:
        """Pair claims line by line, in any order the k-th line with an id and the k-th with it."""
        notices: list[str] = []
        claims: list[Claim] = gold.content
        if options.answered_only:
            claims = answered_claims(claims, predictions.content)
            notices += left_out(predictions.name, len(claims), len(gold.content), self.unit)
        _check_claims(replace(gold, content=claims), predictions, options.any_order)
        given: list[Claim] = predictions.content
        if options.any_order:
            waiting: defaultdict[Hashable, deque[Claim]] = defaultdict(deque)
            for claim in given:
                waiting[as_key(claim.id)].append(claim)
            given = [waiting[as_key(claim.id)].popleft() for claim in claims]
        return ((claim.id, claim, predicted) for claim, predicted in zip(claims, given)), notices

    def mismatches(self, gold: Gold, predictions: Gold, units: Sequence[Unit], table: UnitTable) -> Iterator[str]:
        files = gold.name, predictions.name
        if units and not any(unit.gold.evidence for unit in units):
            yield f"{gold.name}: no claim has evidence, so that every measure is 0"
            return
        labels: set[str] = set()
        first_units = units[: mismatches.MOST_COMPARED]
        for unit in first_units:
            for sets in unit.gold.evidence.values():
                if isinstance(sets[0].label, str):
                    labels.add(sets[0].label)
        unknown = sorted(map(quoted, labels.difference(LABELS)))
        if unknown:
            known = " and ".join(LABELS)
            yield f"{gold.name}: labels {', '.join(unknown)}, which no prediction can have: these have {known}"
        claims = ((unit.id, unit.gold.evidence, unit.prediction.evidence) for unit in first_units)
        yield from mismatches.of_documents(claims, files, "abstract", _first_sentences, _sentences_of)

    def contents(self, gold: Any, predictions: Any, table: UnitTable) -> tuple[Contents, Contents]:
        claims = (len(gold), "claim")
        abstracts, found_abstracts, sentences, found_sentences, *_ = map(int, table.sums())
        return (
            (claims, (abstracts, "abstract"), (sentences, "evidence sentence")),
            (claims, (found_abstracts, "abstract"), (found_sentences, "evidence sentence")),
        )

    def rows_of(self, units: Sequence[Unit], progress: Progress) -> list[Row]:
        rows = []
        with reading.located() as at:
            for line, unit in enumerate(units, start=1):
                at.file, at.place = unit.files[0], {"line": line, "claim": unit.id}
                rows.append(self.row(unit))
        return rows

    def row(self, unit: Unit) -> Row:
        """The four totals of section 3 and the four correct counts of section 4. An InputError names the abstract."""
        label_only = rationalized = selection = label = sentences = 0
        gold, given = unit.gold.evidence, unit.prediction.evidence
        with reading.located() as at:
            for abstract, entry in given.items():
                at.place["abstract"] = abstract
                verdict = judge(gold.get(abstract), entry)
                sentences += len(entry.sentences)
                selection += len(verdict.correct)
                if verdict.label_right:
                    label_only += 1
                    rationalized += verdict.rationalized
                    label += len(verdict.correct)
        wanted = sum(len(each.sentences) for sets in gold.values() for each in sets)
        return len(gold), len(given), wanted, sentences, label_only, rationalized, selection, label

    def explained(self, unit: Unit, row: Row) -> Iterator[str]:
        """Each predicted abstract with its sentences, then the abstracts not found."""
        gold, given = unit.gold.evidence, unit.prediction.evidence
        yield f"claim {plain(unit.id)}"
        for abstract, entry in given.items():
            yield ""
            yield from _explained_abstract(abstract, gold.get(abstract), entry)
        for abstract, sets in gold.items():
            if abstract not in given:
                yield ""
                yield f"abstract {plain(abstract)}: not predicted"
                yield f"  gold       {_shown(sets)}"
                missed = sum(len(each.sentences) for each in sets)
                yield f"  missed     1 abstract, {counted(missed, 'sentence')}"
        if not gold and not given:
            yield ""
            yield "no abstract is relevant and none is predicted"

    def written(self, prediction: Claim | None) -> Any:
        assert prediction is not None
        evidence = {abstract: self.value([given.entry()]) for abstract, given in prediction.evidence.items()}
        return {"id": prediction.id, "evidence": evidence}

    def reread(self, prediction: Any) -> Claim:
        return claim_of(prediction, _predicted_entry)

    def gold_sets(self, unit: Unit) -> dict[str, list[Entry]]:
        return {abstract: [each.entry() for each in sets] for abstract, sets in unit.gold.evidence.items()}

    def gold_evidence(self, unit: Unit) -> Mapping[str, Any]:
        evidence: Mapping[str, Any] = unit.gold.evidence
        return evidence

    def predicted_evidence(self, unit: Unit) -> Mapping[str, Any]:
        evidence: Mapping[str, Any] = unit.prediction.evidence
        return evidence

    def evidence(self, unit: Unit) -> dict[str, list[Entry]]:
        return {abstract: [given.entry()] for abstract, given in unit.prediction.evidence.items()}

    def value(self, entries: Any) -> Any:
        return {**entries[0], "sentences": list(entries[0]["sentences"])}

    def compared(self, sets: Sequence[Entry], entries: Sequence[Entry]) -> Sequence[Entry]:
        return [entries[0]] * len(sets)

    def lacking(self, gold: Entry, sentences: list[object]) -> object:
        return sentences

    def order(self, gold: Iterable[str], given: Iterable[str]) -> Iterable[str]:
        known = frozenset(gold)
        return dict.fromkeys((*(abstract for abstract in given if abstract in known), *gold))

    def parts(self, unit: Unit, measure: str) -> Iterator[Part]:
        gold, predicted = unit.gold.evidence, unit.prediction.evidence
        wanted, entries = self.gold_sets(unit), self.evidence(unit)
        for abstract, sets in gold.items():
            given = predicted.get(abstract)
            verdict = None if given is None else judge(sets, given)
            if given is None or verdict is None:
                shown = None
            elif not verdict.label_right:
                shown = f"{given.label}, gold {text_of(sets[0].label)}"
            elif verdict.rationalized:
                shown = f"{given.label}, rationalized"
            else:
                shown = f"{given.label}, no whole gold set among its first {verdict.cap} sentences"
            yield Part("abstract", abstract, verdict is not None and verdict.label_right, shown)
            there = frozenset[Hashable]() if given is None else sentence_keys(given.sentences)
            for number, each in enumerate(sets, start=1):
                keys = sentence_keys(each.sentences)
                found = len(keys & there)
                shown = "complete" if found == len(keys) else f"{found} of {counted(len(keys), 'sentence')}"
                value = {"abstract": abstract, "set": number, "sentences": list(each.sentences)}
                yield Part("evidence set", value, found == len(keys), shown if found or not keys else None)
            for sentence in extra_sentences(entries.get(abstract, ()), wanted[abstract]):
                yield Part("sentence", {"abstract": abstract, "sentence": sentence}, False, "in no gold set")
        for abstract, given in predicted.items():
            if abstract not in gold:
                yield Part("abstract", abstract, False, f"{given.label}, not relevant")


def _first_sentences(sets: Sequence[Labelled]) -> tuple[object, ...]:
    """Return the sentences of the first evidence set of an abstract."""
    return sets[0].sentences


def _sentences_of(entry: Labelled) -> tuple[object, ...]:
    """Return the sentences that are predicted for an abstract."""
    return entry.sentences


def claim_of(fields: reading.Object, entries_of: Callable[[object], Any]) -> Claim:
    """A line of either file, with what `entries_of` makes of the evidence for each abstract. Raises InputError."""
    evidence = {}
    claim = reading.identifier(fields, "id")
    value = reading.member(fields, "evidence")
    given = {} if not value and is_none(value) else reading.as_object(value, "'evidence'")
    with reading.located() as at:
        for abstract, entries in given.items():
            at.place["abstract"] = abstract
            evidence[abstract] = entries_of(entries)
    return Claim(claim, UNSET, evidence, fields.get("cited_doc_ids", UNSET))


def is_none(evidence: object) -> bool:
    """Return whether evidence is null or an empty list, which people write for no evidence."""
    return evidence is None or evidence == []


def _claims(source: Source, entries_of: Callable[[object], Any]) -> list[Claim] | reading.Converted:
    """Return the claims of a file, with a notice where their evidence is null or an empty list."""
    claims, nulls = [], 0
    with reading.located() as at:
        for value in reading.json_lines(source, at):
            fields = reading.as_object(value, "the line")
            at.place["claim"] = fields.get("id", [])
            claims.append(claim_of(fields, entries_of))
            if not fields["evidence"]:  # an empty object, as a rule
                nulls += is_none(fields["evidence"])
    if nulls:
        return reading.Converted(claims, f"{counted(nulls, 'claim')} with evidence null or [], read as {{}}")
    return claims


def labelled_sets(value: object, *, one_label: bool = False) -> tuple[Labelled, ...]:
    """Return the evidence sets of an abstract of gold. Raises InputError, with `one_label` also for several labels."""
    sets = [reading.as_object(each, "an evidence set") for each in reading.as_list(value, "the gold evidence")]
    if not sets:
        raise InputError("no evidence sets are listed", remedy="leave out abstracts without evidence")
    label = reading.member(sets[0], "label")
    for each in sets[1:]:
        other = reading.member(each, "label")
        if one_label and other != label:
            raise InputError(f"evidence sets labelled {quoted(label)} and {quoted(other)}")
    return tuple(Labelled(each["label"], tuple(reading.sentences_of(each))) for each in sets)


def _gold_sets(value: object) -> tuple[Labelled, ...]:
    return labelled_sets(value, one_label=True)


def _predicted_entry(value: object) -> Labelled:
    if isinstance(value, list):
        raise InputError("a list where one object with label and sentences is expected")
    fields = reading.as_object(value, "the prediction")
    label = reading.member(fields, "label")
    if not isinstance(label, str) or label not in LABELS:
        remedy = _REMEDIES.get(label.strip().upper()) if isinstance(label, str) else None
        raise InputError(f"label {quoted(label)} is not one of {', '.join(LABELS)}", remedy=remedy)
    return Labelled(sys.intern(label), tuple(reading.sentences_of(fields)))


def answered_claims(claims: Sequence[Any], predictions: Sequence[Any]) -> list[Any]:
    """Return the claims of gold that have a prediction; of those with one id as many as are predicted."""
    waiting = Counter(as_key(predicted.id) for predicted in predictions)
    answered = []
    for claim in claims:
        key = as_key(claim.id)
        if waiting[key]:
            waiting[key] -= 1
            answered.append(claim)
    return answered


def _check_claims(gold: Gold, predicted: Gold, any_order: bool) -> None:
    """Rule 1 of section 2: the same claims, in the same order unless `any_order`."""
    wanted_ids, ids = ([claim.id for claim in each.content] for each in (gold, predicted))
    if wanted_ids == ids:
        return
    wanted, found = Counter(map(as_key, wanted_ids)), Counter(map(as_key, ids))
    missing, unknown = wanted - found, found - wanted
    if any_order and not missing and not unknown:
        return
    remedy = None
    lacking = f"{missing.total()} of {counted(len(wanted_ids), 'claim')} have none"
    if not missing and not unknown:
        remedy = "the claims are those of gold in another order: --any-order matches them by id"
    elif Counter(map(str, wanted_ids)) == Counter(map(str, ids)):
        remedy = "ids are text in one file and numbers in the other"
    elif missing and not unknown:
        first = next(claim for claim in wanted_ids if as_key(claim) in missing)
        empty = json.dumps({"id": first, "evidence": {}}, ensure_ascii=False)
        remedy = f"write {empty} for a claim without evidence, or score the others with --answered-only"
    if any_order:
        line = next((line for line, claim in enumerate(ids) if as_key(claim) in unknown), len(ids))
    else:
        pairs = enumerate(zip(wanted_ids, ids))
        line = next((line for line, (one, other) in pairs if one != other), min(len(wanted_ids), len(ids)))
    if line == len(ids):
        claim = next(claim for claim in wanted_ids if as_key(claim) in missing)
        problem = f"no prediction for claim {quoted(claim)} of {gold.name} ({lacking})"
        raise InputError(problem, file=predicted.name, remedy=remedy)
    if any_order:
        problem = f"{gold.name} has no such claim (or fewer of them)"
    elif line >= len(wanted_ids):
        problem = f"{gold.name} ends before this line"
    else:
        problem = f"id {quoted(ids[line])} where {gold.name} has {quoted(wanted_ids[line])}"
        if missing and not unknown:
            problem += f" ({lacking})"
    place = f"line {line + 1}, claim {plain(ids[line])}"
    raise InputError(problem, file=predicted.name, place=place, remedy=remedy)


def judge(gold: Sequence[Labelled] | None, predicted: Labelled) -> Verdict:
    """What is correct in a predicted abstract, given its gold sets (None where it is not relevant).

    Raises InputError where a predicted sentence lies in several gold sets (section 4.2).
    """
    if gold is None:
        return Verdict(False, SENTENCE_CAP, None, frozenset())
    sets = [sentence_keys(each.sentences) for each in gold]
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
    return Verdict(predicted.label == gold[0].label, cap, contained, frozenset(correct))


def _shown(gold: Sequence[Labelled]) -> str:
    return f"{plain(gold[0].label)}  {' '.join(key_set(sentence_keys(each.sentences)) for each in gold)}"


def _explained_abstract(abstract: str, gold: Sequence[Labelled] | None, given: Labelled) -> Iterator[str]:
    verdict = judge(gold, given)
    yield f"abstract {plain(abstract)}: {'not relevant' if gold is None else 'relevant'}"
    yield f"  gold       {'-' if gold is None else _shown(gold)}"
    yield f"  predicted  {given.label}  [{', '.join(map(quoted, given.sentences))}]"
    if gold is None:
        yield f"  wrong      1 abstract, {counted(len(given.sentences), 'sentence')}"
        return
    label_only, labels = ("correct", "labels agree") if verdict.label_right else ("wrong", "labels differ")
    rationalized = "correct" if verdict.rationalized else "wrong"
    contained = "no whole gold set" if verdict.contained is None else key_set(verdict.contained)
    yield f"  label only       {label_only}: {labels}"
    yield f"  rationalized     {rationalized}: {labels}, the first {verdict.cap} sentences contain {contained}"
    every = sentence_keys(given.sentences)
    lacking: dict[Hashable, str] = {}  # what the first gold set that a sentence lies in needs beside those predicted
    for each in gold:
        gold_set = dict.fromkeys(map(as_key, each.sentences))
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


MODE: Final = SciFact()
