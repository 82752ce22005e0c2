"""An explanation as text for people."""

from __future__ import annotations

from cs_score.analysis.evidence.explanation import ExplainedUnit, Explanation
from cs_score.analysis.evidence.text import mistake_rows, unit_name
from cs_score.base.display import one_line
from cs_score.evidence.report import aligned, table_text
from cs_score.evidence.result import Result


def explanation_text(explanation: Explanation, result: Result, width: int) -> str:
    """How each unit was scored, what it counts, and what its mistakes cost; without units the run in one screen."""
    if explanation.units:
        return "\n\n".join("\n".join(_unit(explanation, unit, width)) for unit in explanation.units)
    unit = explanation.mode.unit
    costs = ["There are no mistakes."]
    if explanation.mistakes:
        costs = [_worth(explanation, "The largest costs"), *mistake_rows(explanation.mistakes, unit, width)]
    hint = f"--unit ID tells how one {unit} was scored, cs-score analyze {explanation.mode.name} all mistakes"
    return "\n".join((table_text(result), "", *costs, "", hint))


def _unit(explanation: Explanation, explained: ExplainedUnit, width: int) -> list[str]:
    mode = explanation.mode
    name = f"{mode.unit} {unit_name(explained.unit, explained.occurrence)}"
    lines = [one_line(line) for line in explained.lines]
    if any(row.totals for row in mode.rows):
        rows = [("", *mode.headings)]
        rows += [
            (
                row.name,
                *(f"{explained.scores[measure]:.4f}" for measure in row.measures),
                *(str(int(explained.statistics[column])) for column in row.totals),
            )
            for row in mode.rows
        ]
        lines += ["", f"alone, {name} would score:", *(f"  {line}" for line in aligned(rows))]
    if not explained.mistakes:
        return [*lines, "", f"no mistakes in {name}"]
    costs = mistake_rows(explained.mistakes, mode.unit, width - 2)
    return [*lines, "", _worth(explanation, f"what mistakes in {name} cost"), *(f"  {line}" for line in costs)]


def _worth(explanation: Explanation, what: str) -> str:
    return f"{what}: mended alone, each would change {explanation.measure} = {explanation.score:.4f} by"
