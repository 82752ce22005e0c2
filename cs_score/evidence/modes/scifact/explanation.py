"""How one SciFact claim was scored, in words: gold beside predicted, what counted and what did not.

Nothing is decided here: every statement is read off the verdict by which the unit was counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from cs_score.evidence.modes.explanation_text import (
    INDENT,
    quoted_list,
    quoted_set,
    quoted_sets,
    right_or_wrong,
)
from cs_score.evidence.modes.scifact.judging import (
    GoldAbstract,
    GoldClaim,
    PredictedAbstract,
    PredictedClaim,
    Verdict,
    judge,
)
from cs_score.evidence.reading.json_reader import plain, quoted
from cs_score.evidence.result import counted


def explain(gold: GoldClaim, predicted: PredictedClaim) -> list[str]:
    """A SciFact claim: each predicted abstract with the fate of its sentences, then the abstracts not found."""
    lines = [f"claim {plain(gold.id)}"]
    for abstract, given in predicted.abstracts.items():
        lines += ["", *_predicted_abstract(abstract, given, judge(gold.abstracts.get(abstract), given))]
    for abstract, wanted in gold.abstracts.items():
        if abstract not in predicted.abstracts:
            sentences = sum(map(len, wanted.sets))
            lines += [
                "",
                f"abstract {plain(abstract)}: not predicted",
                f"{INDENT}gold       {plain(wanted.label)}  {quoted_sets(wanted.sets)}",
                f"{INDENT}missed     1 abstract, {counted(sentences, 'sentence')}",
            ]
    if not gold.abstracts and not predicted.abstracts:
        lines += ["", "no abstract is relevant and none is predicted"]
    return lines


def _predicted_abstract(abstract: str, given: PredictedAbstract, verdict: Verdict) -> list[str]:
    predicted = f"{INDENT}predicted  {given.label}  {quoted_list(given.sentences)}"
    gold = verdict.gold
    if gold is None:
        return [
            f"abstract {plain(abstract)}: not relevant",
            f"{INDENT}gold       -",
            predicted,
            f"{INDENT}wrong      1 abstract, {counted(len(given.sentences), 'sentence')}",
        ]
    contained = (
        f"the first {verdict.cap} sentences contain no whole gold set"
        if verdict.contained is None
        else f"the first {verdict.cap} sentences contain {quoted_set(verdict.contained)}"
    )
    labels = "labels agree" if verdict.label_right else "labels differ"
    return [
        f"abstract {plain(abstract)}: relevant",
        f"{INDENT}gold       {plain(gold.label)}  {quoted_sets(gold.sets)}",
        predicted,
        f"{INDENT}label only       {right_or_wrong(verdict.label_right)}: {labels}",
        f"{INDENT}rationalized     {right_or_wrong(verdict.rationalized)}: {labels}, {contained}",
        *_sentence_lines(given, verdict, gold),
    ]


def _sentence_lines(given: PredictedAbstract, verdict: Verdict, gold: GoldAbstract) -> Iterable[str]:
    every = frozenset(given.sentences)
    lacking: dict[Hashable, str] = {}  # what the first gold set that a sentence lies in needs beside those predicted
    for listed in gold.sets:
        needed = quoted_set(frozenset(listed) - every)
        for sentence in listed:
            lacking.setdefault(sentence, needed)
    seen: set[Hashable] = set()
    for sentence in given.sentences:
        if sentence in seen:
            reason = "wrong: listed before"
        elif sentence in verdict.correct:
            reason = "correct" if verdict.label_right else "correct for selection, not with label"
        elif sentence in lacking:
            reason = f"wrong: its gold set also needs {lacking[sentence]}"
        else:
            reason = "wrong: in no gold set"
        seen.add(sentence)
        yield f"{INDENT}sentence {quoted(sentence)}: {reason}"
