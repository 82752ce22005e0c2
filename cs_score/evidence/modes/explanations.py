"""How one claim, instance or question was scored, in words: gold beside predicted, what counted and what did not.

Nothing is decided here: every statement is read off the verdict by which the unit was counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Final

from cs_score.evidence.modes import claims, hotpotqa, r4c, scifact
from cs_score.evidence.modes.alignment import Comparer, Fact
from cs_score.evidence.reading.json_reader import plain, quoted
from cs_score.evidence.report import aligned
from cs_score.evidence.result import counted

INDENT: Final = "  "


def explain_scifact(gold: scifact.GoldClaim, predicted: scifact.PredictedClaim) -> list[str]:
    """A SciFact claim: each predicted abstract with the fate of its sentences, then the abstracts not found."""
    lines = [f"claim {plain(gold.id)}"]
    for abstract, given in predicted.abstracts.items():
        lines += ["", *_predicted_abstract(abstract, given, scifact.judge(gold.abstracts.get(abstract), given))]
    for abstract, wanted in gold.abstracts.items():
        if abstract not in predicted.abstracts:
            sentences = sum(map(len, wanted.sets))
            lines += [
                "",
                f"abstract {plain(abstract)}: not predicted",
                f"{INDENT}gold       {plain(wanted.label)}  {_sets(wanted.sets)}",
                f"{INDENT}missed     1 abstract, {counted(sentences, 'sentence')}",
            ]
    if not gold.abstracts and not predicted.abstracts:
        lines += ["", "no abstract is relevant and none is predicted"]
    return lines


def _predicted_abstract(abstract: str, given: scifact.PredictedAbstract, verdict: scifact.Verdict) -> list[str]:
    predicted = f"{INDENT}predicted  {given.label}  {_list(given.sentences)}"
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
        else f"the first {verdict.cap} sentences contain {_set(verdict.contained)}"
    )
    return [
        f"abstract {plain(abstract)}: relevant",
        f"{INDENT}gold       {plain(gold.label)}  {_sets(gold.sets)}",
        predicted,
        f"{INDENT}label only       {_correct(verdict.label_right)}: labels {_agree(verdict.label_right)}",
        f"{INDENT}rationalized     {_correct(verdict.rationalized)}: labels {_agree(verdict.label_right)}, {contained}",
        *_sentence_lines(given, verdict, gold),
    ]


def _sentence_lines(
    given: scifact.PredictedAbstract, verdict: scifact.Verdict, gold: scifact.GoldAbstract
) -> Iterable[str]:
    every = frozenset(given.sentences)
    lacking: dict[Hashable, str] = {}  # what the first gold set that a sentence lies in needs beside those predicted
    for listed in gold.sets:
        needed = _set(frozenset(listed) - every)
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


def explain_claim(
    gold: claims.Claim, predicted: claims.Claim | None, verdicts: Iterable[claims.SetVerdict]
) -> list[str]:
    """A claim of the claims mode: documents, then each gold evidence set and what was held against it, then verdict."""
    cited = claims.cited_documents(gold)
    wanted = claims.gold_documents(gold)
    lines = [
        f"claim {plain(gold.id)}",
        f"{INDENT}gold       cited {_ids(cited)}, evidence in {_ids(wanted)}",
    ]
    if predicted is None:
        lines.append(f"{INDENT}predicted  nothing: every cited document and every listed gold sentence is missed")
    else:
        given = claims.predicted_documents(predicted, needed=claims.has_sets(wanted))
        lines.append(f"{INDENT}predicted  documents {_ids(given)}")
        documents = claims.compare_documents(cited, given)
        for outcome, numbers in zip(("right (tp)", "wrong (fp)", "missed (fn)"), documents):
            lines.append(f"{INDENT}documents {outcome}: {len(numbers)}  {_ids(sorted(numbers))}")
        for verdict in verdicts:
            lines += _gold_set(verdict)
    return [*lines, "", f"label: {_label(gold, predicted)}"]


def _gold_set(verdict: claims.SetVerdict) -> list[str]:
    if not verdict.retrieved:
        held = "the document is not predicted"
    elif verdict.entry is None:
        held = f"no predicted entry has this label, so every listed sentence ({verdict.fp}) is wrong"
    else:
        held = f"entry {verdict.entry + 1}, the first with this label: {_set(verdict.predicted)}"
    return [
        "",
        f"document {plain(verdict.document)}, gold set {plain(verdict.label)} {_set(verdict.gold)}",
        f"{INDENT}predicted  {held}",
        f"{INDENT}sentences  tp {verdict.tp}, fp {verdict.fp}, fn {verdict.fn}",
    ]


def _label(gold: claims.Claim, predicted: claims.Claim | None) -> str:
    if gold.label is claims.ABSENT:
        return "not counted, gold has none"
    if predicted is None or predicted.label is claims.ABSENT:
        return f"wrong, gold {plain(gold.label)} and nothing predicted"
    return f"{_correct(gold.label == predicted.label)}, gold {plain(gold.label)}, predicted {plain(predicted.label)}"


def explain_question(
    question: hotpotqa.Question, row: Mapping[str, float], answer: object | None, facts: object | None
) -> list[str]:
    """A HotpotQA question: answers as given and as compared, facts right, wrong and missed, and its twelve values.

    `row` holds the question's statistics; `answer` and `facts` are what was predicted, None where nothing was.
    """
    lines = [f"question {plain(question.id)}"]
    if answer is None:
        lines.append(f"{INDENT}answer: none predicted")
    else:
        for role, text in (("gold", question.fields["answer"]), ("predicted", answer)):
            given = hotpotqa.answer_text(text)
            compared = quoted(hotpotqa.normalised(given))
            lines.append(f"{INDENT}answer {role:9}  {plain(given)}  (compared as {compared})")
    if facts is None:
        lines.append(f"{INDENT}facts: none predicted")
    else:
        gold, predicted = hotpotqa.fact_set(question.fields["supporting_facts"]), hotpotqa.fact_set(facts)
        for outcome, some in (("right", gold & predicted), ("wrong", predicted - gold), ("missed", gold - predicted)):
            shown = "; ".join(sorted(map(_list, some)))
            lines.append(f"{INDENT}facts {outcome:6}  {len(some)}  {shown}".rstrip())
    rows = [("", *hotpotqa.MODE.headings)]
    rows += [(line.name, *(f"{row[measure]:.4f}" for measure in line.measures)) for line in hotpotqa.MODE.rows]
    return [*lines, *(f"{INDENT}{line}" for line in aligned(rows))]


def explain_instance(instance: str, evaluation: r4c.Evaluation) -> list[str]:
    """An R4C instance: for each evaluation the references tried, the one chosen, and the alignment with its weights."""
    lines = [f"instance {plain(instance)}"]
    row = dict(zip(r4c.COLUMNS, evaluation.row()))
    for level, choice in zip(r4c.WEIGHTS, evaluation.choices):
        tried = ", ".join(
            f"reference {position + 1} total {total:.4f}" for position, total in zip(choice.order, choice.totals)
        )
        scores = ", ".join(f"{aspect} {row[f'{level}_{aspect}']:.4f}" for aspect in r4c.ASPECTS)
        lines += [
            "",
            f"{level}: {scores}",
            f"{INDENT}tried in this order: {tried}",
            f"{INDENT}chosen: reference {choice.reference + 1}",
            *(f"{INDENT}{line}" for line in _alignment(evaluation, choice)),
        ]
    return lines


def _alignment(evaluation: r4c.Evaluation, choice: r4c.Choice) -> list[str]:
    """A line per aligned pair with the similarities of its parts, then the facts that stay alone on either side."""
    gold = evaluation.references[choice.reference]
    comparer = Comparer()
    rows: list[tuple[str, ...]] = [("predicted", "gold", "head", "relation", "tail", "weight")]
    for pair in choice.pairs:
        facts = evaluation.predicted[pair.predicted], gold[pair.gold]
        parts = (f"{part.item():.4f}" for part in comparer.compare(*([fact] for fact in facts)))
        rows.append((*map(_fact, facts), *parts, f"{pair.weight:.4f}"))
    matched, found = {pair.predicted for pair in choice.pairs}, {pair.gold for pair in choice.pairs}
    rows += [(_fact(fact), "-") for position, fact in enumerate(evaluation.predicted) if position not in matched]
    rows += [("-", _fact(fact)) for position, fact in enumerate(gold) if position not in found]
    return aligned(rows)


def _fact(fact: Fact) -> str:
    return f"({', '.join(map(plain, fact))})"


def _correct(right: bool) -> str:
    return "correct" if right else "wrong"


def _agree(right: bool) -> str:
    return "agree" if right else "differ"


def _ids(values: Iterable[object]) -> str:
    return f"[{', '.join(map(plain, values))}]"


def _list(values: Iterable[object]) -> str:
    return f"[{', '.join(map(quoted, values))}]"


def _set(values: Iterable[object]) -> str:
    """A set of sentences, small numbers first."""
    return f"{{{', '.join(sorted(map(quoted, values), key=lambda shown: (len(shown), shown)))}}}"


def _sets(sets: Iterable[Iterable[object]]) -> str:
    return " ".join(map(_set, sets))
