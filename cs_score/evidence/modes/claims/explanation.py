"""How one claim was scored, in words: gold beside predicted, what counted and what did not.

Nothing is decided here: every statement is read off the verdict by which the unit was counted.
"""

from __future__ import annotations

from collections.abc import Iterable

from cs_score.evidence.modes.claims.judging import (
    ABSENT,
    Claim,
    SetVerdict,
    cited_documents,
    compare_documents,
    gold_documents,
    has_sets,
    predicted_documents,
)
from cs_score.evidence.modes.explanation_text import INDENT, listed, quoted_set, right_or_wrong
from cs_score.evidence.reading.json_reader import plain


def explain(gold: Claim, predicted: Claim | None, verdicts: Iterable[SetVerdict]) -> list[str]:
    """A claim of the claims mode: documents, then each gold evidence set and what was held against it, then verdict."""
    cited = cited_documents(gold)
    wanted = gold_documents(gold)
    lines = [
        f"claim {plain(gold.id)}",
        f"{INDENT}gold       cited {listed(cited)}, evidence in {listed(wanted)}",
    ]
    if predicted is None:
        lines.append(f"{INDENT}predicted  nothing: every cited document and every listed gold sentence is missed")
    else:
        given = predicted_documents(predicted, needed=has_sets(wanted))
        lines.append(f"{INDENT}predicted  documents {listed(given)}")
        documents = compare_documents(cited, given)
        for outcome, numbers in zip(("right (tp)", "wrong (fp)", "missed (fn)"), documents):
            lines.append(f"{INDENT}documents {outcome}: {len(numbers)}  {listed(sorted(numbers))}")
        for verdict in verdicts:
            lines += _gold_set(verdict)
    return [*lines, "", f"label: {_label(gold, predicted)}"]


def _gold_set(verdict: SetVerdict) -> list[str]:
    if not verdict.retrieved:
        held = "the document is not predicted"
    elif verdict.entry is None:
        held = f"no predicted entry has this label, so every listed sentence ({verdict.fp}) is wrong"
    else:
        held = f"entry {verdict.entry + 1}, the first with this label: {quoted_set(verdict.predicted)}"
    return [
        "",
        f"document {plain(verdict.document)}, gold set {plain(verdict.label)} {quoted_set(verdict.gold)}",
        f"{INDENT}predicted  {held}",
        f"{INDENT}sentences  tp {verdict.tp}, fp {verdict.fp}, fn {verdict.fn}",
    ]


def _label(gold: Claim, predicted: Claim | None) -> str:
    if gold.label is ABSENT:
        return "not counted, gold has none"
    if predicted is None or predicted.label is ABSENT:
        return f"wrong, gold {plain(gold.label)} and nothing predicted"
    return (
        f"{right_or_wrong(gold.label == predicted.label)}, gold {plain(gold.label)}, predicted {plain(predicted.label)}"
    )
