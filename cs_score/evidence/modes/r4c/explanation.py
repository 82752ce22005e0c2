"""How one R4C instance was scored, in words: gold beside predicted, what counted and what did not.

Nothing is decided here: every statement is read off the verdict by which the unit was counted.
"""

from __future__ import annotations

from cs_score.evidence.modes.explanation_text import INDENT
from cs_score.evidence.modes.r4c.alignment import Comparer, Fact
from cs_score.evidence.modes.r4c.judging import ASPECTS, WEIGHTS, Choice, ScoredInstance
from cs_score.evidence.reading.json_reader import plain
from cs_score.evidence.report import aligned


def explain(instance: str, scored: ScoredInstance) -> list[str]:
    """An R4C instance: for each evaluation the references tried, the one chosen, and the alignment with its weights."""
    lines = [f"instance {plain(instance)}"]
    for level, choice, scores in zip(WEIGHTS, scored.choices, scored.scores()):
        tried = ", ".join(
            f"reference {position + 1} total {total:.4f}" for position, total in zip(choice.order, choice.totals)
        )
        shown = ", ".join(f"{aspect} {score:.4f}" for aspect, score in zip(ASPECTS, scores))
        lines += [
            "",
            f"{level}: {shown}",
            f"{INDENT}tried in this order: {tried}",
            f"{INDENT}chosen: reference {choice.reference + 1}",
            *(f"{INDENT}{line}" for line in _alignment(scored, choice)),
        ]
    return lines


def _alignment(scored: ScoredInstance, choice: Choice) -> list[str]:
    """A line per aligned pair with the similarities of its parts, then the facts that stay alone on either side."""
    gold = scored.references[choice.reference]
    comparer = Comparer()
    rows: list[tuple[str, ...]] = [("predicted", "gold", "head", "relation", "tail", "weight")]
    for pair in choice.pairs:
        facts = scored.predicted[pair.predicted], gold[pair.gold]
        parts = (f"{part.item():.4f}" for part in comparer.compare(*([fact] for fact in facts)))
        rows.append((*map(_fact, facts), *parts, f"{pair.weight:.4f}"))
    matched, found = {pair.predicted for pair in choice.pairs}, {pair.gold for pair in choice.pairs}
    rows += [(_fact(fact), "-") for position, fact in enumerate(scored.predicted) if position not in matched]
    rows += [("-", _fact(fact)) for position, fact in enumerate(gold) if position not in found]
    return aligned(rows)


def _fact(fact: Fact) -> str:
    return f"({', '.join(map(plain, fact))})"
