"""A difference as text for people."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Final

from cs_score.analysis.coldstart.difference import AnswerLabel, Difference, Part
from cs_score.analysis.outcomes import significance_lines
from cs_score.base.display import aligned, cell, one_line
from cs_score.statistics.options import sentences

TOP: Final = 20
"""Rows of a table that are shown unless another number is asked for."""

_LONGEST_CELL: Final = 40
_LONGEST_VALUE: Final = 24


def difference_text(difference: Difference, width: int, top: int | None = None) -> str:
    """Scores and difference, units by contribution, groups, answers, classes; lines have at most `width` columns."""
    most = top or TOP
    blocks = [
        _heading(difference, width),
        _parts(difference.unit, difference.units, most) or [f"No {difference.unit} counts differently."],
        *(_parts(name.replace("_", " "), parts, most) for name, parts in difference.groups.items()),
        _counts("answers", difference.outcomes),
        _answers(difference, most),
        _counts("classes", difference.found),
        _classes(difference, most),
    ]
    return "\n".join(line[:width] for line in "\n\n".join("\n".join(block) for block in blocks if block).split("\n"))


def _heading(difference: Difference, width: int) -> list[str]:
    scores = zip("AB", (difference.a, difference.b), difference.names)
    rows = [(side, f"{score:.4f}", cell(name, _LONGEST_CELL)) for side, score, name in scores]
    return [
        str(difference.measure),
        *aligned([("", "score", "run"), *rows, ("B - A", f"{difference.difference:+.4f}", "")], (False, True, False)),
        *significance_lines(difference.compared),
        *(line for note in sentences(difference.notes) for line in textwrap.wrap(one_line(note), width)),
    ]


def _parts(what: str, parts: Sequence[Part], top: int) -> list[str]:
    rows = [
        (_signed(part.contribution), cell(part.name, _LONGEST_CELL), _score(part.a), _score(part.b)) for part in parts
    ]
    return _limited(("contribution", what, "A", "B"), rows, top, (True, False, True, True))


def _counts(what: str, often: Mapping[str, int]) -> list[str]:
    return (
        aligned([(what, "count"), *((name, str(count)) for name, count in often.items())], (False, True))
        if often
        else []
    )


def _answers(difference: Difference, top: int) -> list[str]:
    rows = [
        (cell(pair.value, _LONGEST_VALUE), _label(pair.a), _label(pair.b), cell(pair.query, _LONGEST_CELL))
        for pair in difference.answers
    ]
    return _limited(("fared differently", "A", "B", "query"), rows, top)


def _classes(difference: Difference, top: int) -> list[str]:
    rows = [(pair.outcome, cell(pair.name, 2 * _LONGEST_CELL)) for pair in difference.classes]
    return _limited(("class", ""), rows, top)


def _label(found: AnswerLabel | None) -> str:
    if found is None:
        return "-"
    return f"{found.label} ({found.category}, line {found.line})"


def _limited(
    columns: tuple[str, ...], rows: Sequence[tuple[str, ...]], top: int, to_the_right: Sequence[bool] | None = None
) -> list[str]:
    if not rows:
        return []
    more = len(rows) - top
    sides = to_the_right or (False,) * len(columns)
    return [*aligned([columns, *rows[:top]], sides), *([f"({more} more)"] if more > 0 else [])]


def _signed(contribution: float | None) -> str:
    return "-" if contribution is None else f"{contribution:+.6f}"


def _score(score: float | None) -> str:
    return "-" if score is None else f"{score:.4f}"
