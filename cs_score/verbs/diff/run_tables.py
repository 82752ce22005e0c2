"""Define the tables of the difference of two Cold Start runs, A and B: their columns and the cells of each row. A rule
is one thing that two editions of the scorer do differently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from cs_score.base.records import replace, to_builtins
from cs_score.tables.layout import Column, Format, Layout, columns
from cs_score.verbs.diff.edition_rules import EditionRule
from cs_score.verbs.diff.run_difference import AnswerLabel, RunDifference

Cells: TypeAlias = Mapping[str, Any]
"""The cells of a row by the key of their column."""

# ---- Rows


def _group_share_rows(difference: RunDifference) -> Iterator[Cells]:
    """Yield the cells of each group of each dimension, with its contribution to the difference."""
    for dimension, groups in difference.groups.items():
        for group in groups:
            yield {"dimension": dimension.replace("_", " "), **to_builtins(group)}


def _largest_group_shares(difference: RunDifference) -> list[Cells]:
    """Return the cells of the groups of all dimensions, the group with the largest contribution first."""
    return sorted(_group_share_rows(difference), key=lambda row: -abs(row["contribution"] or 0.0))


def _rule_rows(difference: RunDifference) -> Iterator[Cells]:
    """Yield the cells of each rule of the edition that changes rows of the tables."""
    for rule in difference.rules or ():
        yield {"rule": rule.rule or "no rule alone", "rows": len(rule.rows), "which": _changed_rows_in_words(rule)}


def _changed_rows_in_words(rule: EditionRule) -> str:
    """Return in words which rows a rule changes: the first one, and the number of others.

    If the run could not be scored with the rule changed, the reason is returned.
    """
    if not rule.rows:
        return f"not scored: {rule.reason}"
    first = rule.rows[0]
    text = f"{first.row} ({first.table} {first.level})"
    if len(rule.rows) > 1:
        text += f" and {len(rule.rows) - 1} more"
    return text


def _answer_rows(difference: RunDifference) -> Iterator[Cells]:
    """Yield the cells of each answer that counts differently in A and B."""
    for pair in difference.answers:
        yield {"value": pair.value, "query": pair.query, "a": _label_in_words(pair.a), "b": _label_in_words(pair.b)}


def _label_in_words(label: AnswerLabel | None) -> str | None:
    """Return how an answer counts, in words: `wrong (INCORRECT, line 7)`; None if the run does not give it."""
    return None if label is None else f"{label.label} ({label.category}, line {label.line})"


def _class_rows(difference: RunDifference) -> Iterator[Cells]:
    """Yield the cells of each class that only one of the two runs has found."""
    for pair in difference.classes:
        yield to_builtins(pair)


# ---- Tables

_CONTRIBUTION_COLUMN: Final = Column("contribution", format=Format.CONTRIBUTION)
_SIDES: Final = (Column("a", "A"), Column("b", "B"))

UNITS: Final = Layout(
    "units",
    "Units by their contribution to the difference:",
    (_CONTRIBUTION_COLUMN, Column("unit"), *_SIDES),
    lambda difference: difference.units,
)
GROUPS: Final = Layout(
    "groups",
    "By %:",
    (Column("dimension"), _CONTRIBUTION_COLUMN, *columns("group", "n"), *_SIDES),
    _group_share_rows,
    split_by="dimension",
)
LARGEST_GROUPS: Final = replace(
    GROUPS,
    title="Groups by the size of their contribution:",
    rows=_largest_group_shares,
    shown_keys=("contribution", "dimension", "group", "n", "a", "b"),
    split_by="",
)
RULES: Final = Layout(
    "rules", "Rows that change by one rule of the edition alone:", columns("rule", "rows", "which"), _rule_rows,
    min_rows=1, max_text_length=100,
)  # fmt: skip
LAYOUTS: Final[tuple[Layout, ...]] = (
    UNITS,
    GROUPS,
    RULES,
    Layout(
        "answers",
        "Answers that counted differently:",
        (Column("value"), *_SIDES, Column("query")),
        _answer_rows,
        min_rows=1,
    ),
    Layout("classes", "Classes that one of the two has found:", columns("outcome", "class"), _class_rows, min_rows=1),
)
"""The tables of a difference, a file each."""
