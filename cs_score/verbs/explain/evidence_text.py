"""The tables and the text of the explanation of units of an evidence task: how a claim, an instance or a question was
scored, and which mistakes its prediction has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from cs_score.analysis.evidence.document_text import (
    DocumentText,
    costliest_layout,
    mistakes_layout,
    title_of,
    unit_name,
)
from cs_score.analysis.evidence.mistake_records import ExplainedUnit
from cs_score.analysis.views import answered_count_text
from cs_score.base.display import one_line
from cs_score.base.records import replace
from cs_score.evidence.mode import Mode
from cs_score.evidence.reading import text_of as text_of_id
from cs_score.evidence.report import score_lines
from cs_score.tables.layout import TOP, Layout, columns, text_lines
from cs_score.tasks import words_of
from cs_score.verbs.explain.unit_explanation import EvidenceExplanation


def _line_rows(explanation: EvidenceExplanation) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each line in the explanations of units; blank lines are left out."""
    for unit in explanation.units:
        for line in unit.lines:
            if line:
                yield {"unit": text_of_id(unit.unit), "occurrence": unit.occurrence, "text": line}


_STEPS = Layout("steps", "How units were scored:", columns("unit", "occurrence", "text"), _line_rows, for_people=False)


def layouts_of(mode: Mode) -> Sequence[Layout]:
    """Return the layouts of the tables: mistakes in short for texts, mistakes for files, and the steps of units."""
    return (costliest_layout(mode), mistakes_layout(mode), _STEPS)


def text_of(mode: Mode, explanation: EvidenceExplanation, terminal_width: int | None, top: int | None = None) -> str:
    """Return an explanation as human-readable text, with at most `top` rows of each table.

    `mode` is the evidence mode, such as `scifact`; it provides the names of units and measures. Lines are wrapped to
    `terminal_width`, and table cells are shortened to fit it. If `terminal_width` is None because there is no terminal,
    cells keep their full length.
    """
    # Only the rows of tables are limited; the text itself is not cut to the height of a screen.
    writer = DocumentText(mode, layouts_of(mode), terminal_width, top, can_be_shortened=False)
    describe = _lines_of_units if explanation.units else _lines_of_run
    return "\n".join(describe(writer, explanation))


def _lines_of_units(writer: DocumentText, explanation: EvidenceExplanation) -> list[str]:
    """Return the lines that explain how each unit was scored and list its mistakes."""
    lines = []
    # This text, such as `100 of 7,405 questions`, is empty unless only answered units were scored.
    answered_units_text = answered_count_text(explanation)
    if answered_units_text:  # the line of the score says that the other units were not scored
        lines += [_score_line(explanation), ""]
    for number, unit in enumerate(explanation.units):
        if number:
            lines.append("")
        lines += _lines_of_unit(writer, unit)
    return lines


def _lines_of_run(writer: DocumentText, explanation: EvidenceExplanation) -> list[str]:
    """Return the lines that explain a whole run: its scores, and its costliest mistakes."""
    mode = writer.mode
    task = " ".join(words_of(mode.name))
    lines = [_score_line(explanation)]
    lines += writer.introduction_lines(explanation)
    lines.append("")
    lines += score_lines(mode, explanation.scores, explanation.statistics, explanation.undefined or ())
    lines += writer.all_tables(explanation)
    lines += writer.hint_lines(f"--unit ID shows how one {mode.unit} was scored, cs-score analyze {task} all mistakes")
    return lines


def _score_line(explanation: EvidenceExplanation) -> str:
    """Return the score of a run: `scifact: sentence_label_f1 = 0.7500`.

    If only answered units were scored, their number follows.
    """
    answered = answered_count_text(explanation)
    over = f" over {answered}" if answered else ""
    return f"{title_of(explanation)} = {explanation.score:.4f}{over}"


def _lines_of_unit(writer: DocumentText, unit: ExplainedUnit) -> list[str]:
    """Return the lines that explain a unit: how it was scored, its own scores, and its mistakes."""
    name = f"{writer.mode.unit} {one_line(unit_name(unit))}"
    lines: list[str] = []
    for line in unit.lines:
        lines += _wrapped(one_line(line), writer.width)
    lines += _own_scores(unit, name, writer.mode)
    if not unit.mistakes:
        lines += ["", f"no mistakes in {name}"]
    layout_of_mistakes = _without_unit(costliest_layout(writer.mode))
    mistake_table = layout_of_mistakes.table(unit)
    most_rows = writer.top or TOP  # TOP is the default
    lines += text_lines(mistake_table, most_rows, writer.table_width)  # a table without rows has no lines
    return lines


def _wrapped(line: str, width: int) -> list[str]:
    """Return a line, wrapped to a width if it is longer.

    Further lines are indented by four more spaces than the first.
    """
    if len(line) <= width:
        return [line]
    own_indent = len(line) - len(line.lstrip())
    return wrap(line, width, subsequent_indent=" " * (own_indent + 4))


def _own_scores(unit: ExplainedUnit, name: str, mode: Mode) -> list[str]:
    """Return lines with the scores that a unit would have alone; no lines in tasks whose reports have no totals.

    `name` is the name of the unit with its kind: `claim 13`.
    """
    has_totals = any(row.totals for row in mode.rows)  # rows of the report of the task
    if not has_totals:
        return []
    lines = ["", f"alone, {name} would score:"]
    lines += [f"  {line}" for line in score_lines(mode, unit.scores, unit.statistics)]
    return lines


def _without_unit(layout: Layout) -> Layout:
    """Return a layout without the column of the unit's name, for a table with the mistakes of a single unit."""
    keys = layout.shown_keys or layout.keys
    return replace(layout, shown_keys=tuple([key for key in keys if key != "name"]))
