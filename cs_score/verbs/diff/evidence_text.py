"""Create the tables and the text of the difference between two results, A and B, of an evidence task. They show the
units (claims, instances or questions) with their contributions, and the answers (parts of units) that were judged
differently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cs_score.analysis.evidence.document_text import (
    SHORT_VALUE,
    DocumentText,
    short_value_text,
    shorten,
    title_of,
    unit_name,
)
from cs_score.analysis.outcomes import heading
from cs_score.base.records import asdict, replace
from cs_score.evidence.mode import Mode
from cs_score.tables.layout import Column, Format, Layout, columns
from cs_score.verbs.diff.evidence_documents import EvidenceDifference, Judgment

_SIDES: Final = (Column("a", "A"), Column("b", "B"))
_CONTRIBUTION_COLUMN: Final = Column("contribution", format=Format.GAIN)

_SHORT_JUDGMENT: Final = 28
"""The most characters of a judgment in a list about many units."""

_OUTCOMES: Final = Layout(
    "outcomes",
    "Parts by outcome:",
    columns("part", "outcome", "count"),
    lambda difference: [row for row in difference.outcomes if row.count],
    min_rows=1,
    row_selection="whole",
)


def _group_rows(difference: EvidenceDifference) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each group of each dimension, with its scores in A and B and its contribution."""
    for dimension, groups in difference.groups.items():
        for group in groups:
            yield {"dimension": dimension, **asdict(group)}


_GROUPS: Final = Layout(
    "groups",
    "By %:",
    (*columns("dimension", "group"), *_SIDES, _CONTRIBUTION_COLUMN),
    _group_rows,
    split_by="dimension",
)


_UNITS_ON_SCREEN: Final = 8
_GROUPS_ON_SCREEN: Final = 8

_FEWEST_UNITS: Final = 3
"""The number of units that a first screen of a difference shows at least."""


def layouts_of(mode: Mode) -> Sequence[Layout]:
    """Return the layouts of the tables, in the order in which they appear in the text.

    A layout may be for files only (not `for_people`), or for texts only (not `for_files`).
    """
    name = Column("name", mode.unit)
    differing_units = Layout(
        "units",
        f"Each {mode.unit} that counts differently, with what it contributes to the difference:",
        (_CONTRIBUTION_COLUMN, name, *_SIDES),
        _differing_unit_rows,
        min_rows=1,  # a table without rows is left out
    )
    answer_columns = (name, *columns("part", "value"), *_SIDES)
    answers = Layout("answers", "What was judged differently:", answer_columns, _answer_rows, min_rows=1)
    # The same table occurs twice: once with shortened judgments for texts, and once with complete judgments for files.
    shortened_answers = replace(answers, rows=_shortened_answer_rows, for_files=False)
    whole_answers = replace(answers, for_people=False)
    return (differing_units, _OUTCOMES, shortened_answers, whole_answers, _GROUPS)


def _differing_unit_rows(difference: EvidenceDifference) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each unit that counts differently in A and B."""
    for unit in difference.units:
        yield {**asdict(unit), "name": unit_name(unit)}


def _answer_rows(difference: EvidenceDifference) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each answer that was judged differently, with the whole text of both judgments.

    The value is abbreviated, for example to the title and the number of a sentence.
    """
    for answer in difference.answers:
        yield {
            "name": unit_name(answer),
            "part": answer.part,
            "value": short_value_text(answer.value),
            "a": _judgment_in_words(answer.a),
            "b": _judgment_in_words(answer.b),
        }


def _shortened_answer_rows(difference: EvidenceDifference) -> Iterator[Mapping[str, Any]]:
    """Yield a row for each answer that was judged differently, with the value and the judgments shortened."""
    for row in _answer_rows(difference):
        yield {
            **row,
            "value": shorten(row["value"], SHORT_VALUE),
            "a": shorten(row["a"], _SHORT_JUDGMENT),
            "b": shorten(row["b"], _SHORT_JUDGMENT),
        }


def _judgment_in_words(judgment: Judgment | None) -> str | None:
    """Return a judgment with its label, such as `wrong: not in gold`. If `judgment` is None, so is the result."""
    if judgment is None:
        return None
    label = "right" if judgment.right else "wrong"
    reason = judgment.judgment  # such as "not in gold"
    return f"{label}: {reason}"


def text_of(mode: Mode, difference: EvidenceDifference, terminal_width: int | None, top: int | None = None) -> str:
    """Return a difference as text: whole tables with at most `top` rows, or one screen if `top` is None.

    A screen has about 40 lines and 80 columns. Whole tables are fitted to `terminal_width`. If it is None because there
    is no terminal, their cells are not shortened.
    """
    writer = DocumentText(mode, layouts_of(mode), terminal_width, top)
    lines_about_inputs = _lines_about_inputs(writer, difference)  # the more lines, the fewer units fit on a screen
    lines = heading(difference, "predictions", writer.width, title_of(difference))
    lines += lines_about_inputs
    if writer.is_shortened:
        lines += _screen_lines(writer, difference, input_line_count=len(lines_about_inputs))
    else:
        lines += writer.all_tables(difference)
    if not difference.units:
        lines += ["", f"No {mode.unit} counts differently."]
    return "\n".join(lines)


def _screen_lines(writer: DocumentText, difference: EvidenceDifference, input_line_count: int) -> list[str]:
    """Return the lines of the tables on a first screen, and a hint on how to see the full text.

    `input_line_count` is the number of lines about the inputs above the tables. That many fewer units are shown.
    """
    unit_count = max(_UNITS_ON_SCREEN - input_line_count, _FEWEST_UNITS)
    row_counts = {"units": unit_count, "groups": _GROUPS_ON_SCREEN}
    lines = writer.screen_tables(difference, row_counts, _contribution_order)
    return lines + writer.hint_lines("--all shows every unit, outcome, answer and group; --format json has all of it.")


def _lines_about_inputs(writer: DocumentText, difference: EvidenceDifference) -> list[str]:
    """Return the sentences about the inputs of either side; on a first screen only the first sentence of each."""
    lines: list[str] = []
    sentences_by_side = difference.heads or {}
    for side, sentences in sentences_by_side.items():
        shown_sentences = sentences[:1] if writer.is_shortened else sentences
        lines += writer.wrap_all([f"{side.upper()}: {sentence}" for sentence in shown_sentences])
    return lines


def _contribution_order(row: Mapping[str, Any]) -> float:
    """Return a sort key for groups: those with the largest contribution first, positive or negative."""
    contribution: float = row["contribution"] or 0.0
    return -abs(contribution)
