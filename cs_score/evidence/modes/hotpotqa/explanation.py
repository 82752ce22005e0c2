"""How one question was scored, in words: gold beside predicted, what counted and what did not.

Nothing is decided here: every statement is read off the verdict by which the unit was counted.
"""

from __future__ import annotations

from collections.abc import Mapping

from cs_score.evidence.modes.explanation_text import INDENT, quoted_list
from cs_score.evidence.modes.hotpotqa.judging import Question, answer_text, fact_set, normalised
from cs_score.evidence.reading.json_reader import plain, quoted
from cs_score.evidence.report import aligned
from cs_score.evidence.result import Mode


def explain(
    mode: Mode, question: Question, row: Mapping[str, float], answer: object | None, facts: object | None
) -> list[str]:
    """A HotpotQA question: answers as given and as compared, facts right, wrong and missed, and its twelve values.

    `row` holds the question's statistics; `answer` and `facts` are what was predicted, None where nothing was.
    """
    lines = [f"question {plain(question.id)}"]
    if answer is None:
        lines.append(f"{INDENT}answer: none predicted")
    else:
        for role, text in (("gold", question.fields["answer"]), ("predicted", answer)):
            given = answer_text(text)
            compared = quoted(normalised(given))
            lines.append(f"{INDENT}answer {role:9}  {plain(given)}  (compared as {compared})")
    if facts is None:
        lines.append(f"{INDENT}facts: none predicted")
    else:
        gold, predicted = fact_set(question.fields["supporting_facts"]), fact_set(facts)
        for outcome, some in (("right", gold & predicted), ("wrong", predicted - gold), ("missed", gold - predicted)):
            shown = "; ".join(sorted(map(quoted_list, some)))
            lines.append(f"{INDENT}facts {outcome:6}  {len(some)}  {shown}".rstrip())
    rows = [("", *mode.headings)]
    rows += [(line.name, *(f"{row[measure]:.4f}" for measure in line.measures)) for line in mode.rows]
    return [*lines, *(f"{INDENT}{line}" for line in aligned(rows))]
