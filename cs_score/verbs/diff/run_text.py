"""Print the difference of two Cold Start runs as a text for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from cs_score.analysis.outcomes import heading
from cs_score.analysis.views import ScreenTable, first_screen
from cs_score.base.display import align_columns, prose_width
from cs_score.tables.layout import text_lines
from cs_score.verbs.diff.run_difference import RunDifference
from cs_score.verbs.diff.run_tables import LARGEST_GROUPS, LAYOUTS, RULES, UNITS

_TABLES_OF_FIRST_SCREEN: Final = (ScreenTable(UNITS, 7), ScreenTable(LARGEST_GROUPS, 8), ScreenTable(RULES, 5))
_HINT_AT_OTHER_TABLES: Final = "--all shows every unit, group, answer and class; --format json has all of it."


def text_of(difference: RunDifference, terminal_width: int | None, top: int | None = None) -> str:
    """Return the text of a difference.

    If `top` is given, the text contains every table with at most `top` rows each. Otherwise, it contains only the first
    screen. Tables fit the width of the terminal; if the width is None, cells are not cut. The functions that make lines
    also replace control characters in texts from the inputs.
    """
    width = prose_width(terminal_width, fits_one_screen=top is None)
    head = heading(difference, "run", width, str(difference.measure))
    if top is None:
        return "\n".join(first_screen(difference, head, _TABLES_OF_FIRST_SCREEN, _HINT_AT_OTHER_TABLES, width))
    return "\n".join(_whole_difference(difference, head, terminal_width, top))


def _whole_difference(
    difference: RunDifference, head: Sequence[str], terminal_width: int | None, top: int
) -> list[str]:
    """Return the lines of a difference: its head and all tables.

    Before the tables of answers and of classes come the counts of their outcomes.
    """
    count_by_answer_outcome = difference.outcomes
    count_by_class_outcome = difference.found  # how many classes only A, only B or both have found
    outcome_counts_by_table = {"answers": count_by_answer_outcome, "classes": count_by_class_outcome}
    lines = list(head)
    for layout in LAYOUTS:
        outcome_counts = outcome_counts_by_table.get(layout.name)
        if outcome_counts:
            lines.append("")
            lines += _table_of_outcomes(layout.name, outcome_counts)
        lines += text_lines(layout.table(difference), top, terminal_width)
    return lines


def _table_of_outcomes(heading_of_outcomes: str, count_by_outcome: Mapping[str, int]) -> list[str]:
    """Return the lines of a small table with the count of each outcome, such as `right in both   3`."""
    rows = [(heading_of_outcomes, "count")]
    for outcome, count in count_by_outcome.items():
        rows.append((outcome, str(count)))
    return align_columns(rows, (False, True))  # only the counts are aligned on the right
