"""A difference as text for people: what a screen holds, or all of it as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap
from typing import Any, Final

from cs_score.analysis.coldstart.difference import AnswerLabel, Difference
from cs_score.analysis.outcomes import heading
from cs_score.base.display import SCREEN, aligned
from cs_score.base.records import replace, to_builtins
from cs_score.tables.layout import Column, Format, Layout, columns
from cs_score.tables.renderers import text

_SHARE: Final = Column("contribution", format=Format.CONTRIBUTION)
_SCORES: Final = (Column("a", "A"), Column("b", "B"))


def _groups(difference: Difference) -> Iterator[Mapping[str, Any]]:
    for dimension, groups in difference.groups.items():
        yield from ({"dimension": dimension.replace("_", " "), **to_builtins(group)} for group in groups)


def _answers(difference: Difference) -> Iterator[Mapping[str, Any]]:
    for pair in difference.answers:
        yield {"value": pair.value, "query": pair.query, "a": _label(pair.a), "b": _label(pair.b)}


def _label(found: AnswerLabel | None) -> str | None:
    return None if found is None else f"{found.label} ({found.category}, line {found.line})"


def _rules(difference: Difference) -> Iterator[Mapping[str, Any]]:
    for rule in difference.rules or ():
        rows = [f"{row.row} ({row.table} {row.level})" for row in rule.rows]
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        yield {"rule": rule.rule or "no rule alone", "rows": len(rows), "which": f"{rows[0]}{more}" if rows else
               f"not scored: {rule.reason}"}  # fmt: skip


UNITS: Final = Layout(
    "units", "Units by their contribution to the difference:", (_SHARE, Column("unit"), *_SCORES), lambda d: d.units
)
GROUPS: Final = Layout(
    "groups",
    "By %:",
    (Column("dimension"), _SHARE, Column("group"), Column("n"), *_SCORES),
    _groups,
    by="dimension",
)
_LARGEST_GROUPS: Final = replace(
    GROUPS,
    title="Groups by the size of their contribution:",
    rows=lambda difference: sorted(_groups(difference), key=lambda group: -abs(group["contribution"] or 0.0)),
    shown=("contribution", "dimension", "group", "n", "a", "b"),
    by="",
)
RULES: Final = Layout(
    "rules",
    "Rows that change by one rule of the edition alone:",
    columns("rule", "rows", "which"),
    _rules,
    fewest=1,
    longest=100,
)
ANSWERS: Final = Layout(
    "answers",
    "Answers that counted differently:",
    (Column("value"), *_SCORES, Column("query")),
    _answers,
    fewest=1,
)
CLASSES: Final = Layout(
    "classes", "Classes that one of the two has found:", columns("outcome", "class"),
    lambda difference: map(to_builtins, difference.classes), fewest=1,
)  # fmt: skip

OF_DIFFERENCE: Final = (UNITS, GROUPS, RULES, ANSWERS, CLASSES)
"""The tables of a difference, a file each."""


def difference_text(difference: Difference, width: int, top: int | None = None) -> str:
    """Every table with at most `top` rows in lines of at most `width` columns; None: what a screen of 40 lines holds.

    The inputs' texts are made safe.
    """
    return _first_screen(difference, min(width, SCREEN)) if top is None else _tables(difference, width, top)


def _first_screen(difference: Difference, width: int) -> str:
    lines = heading(difference, "run", width, str(difference.measure))
    for layout, most in ((UNITS, 7), (_LARGEST_GROUPS, 8), (RULES, 5)):
        lines += text(layout.table(difference), most, width)
    rest = "--all shows every unit, group, answer and class; --format json has all of it."
    return "\n".join([*lines, "", *wrap(rest, width)])


def _tables(difference: Difference, width: int, top: int) -> str:
    lines = heading(difference, "run", width, str(difference.measure))
    for layout in (UNITS, GROUPS, RULES):
        lines += text(layout.table(difference), top, width)
    for counts, layout in ((difference.outcomes, ANSWERS), (difference.found, CLASSES)):
        if counts:
            lines += ["", *aligned([(f"{layout.name}", "count"), *((name, str(n)) for name, n in counts.items())],
                                   (False, True))]  # fmt: skip
        lines += text(layout.table(difference), top, width)
    return "\n".join(lines)
