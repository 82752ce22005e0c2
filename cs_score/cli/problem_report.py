"""Write the problems of a run for standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from cs_score.coldstart.output_files import report_text
from cs_score.problems.log import Problem

MOST_OF_A_CODE: Final = 10
"""How many messages of one code a terminal shows."""


def report_for_stderr(problems: Iterable[Problem], *, twice: bool = False) -> str:
    """Return problems as the text for standard error.

    On a terminal the list is shortened. Anywhere else it is the same text as that of the reference program, which
    some of its calls write `twice`.
    """
    if sys.stderr is not None and sys.stderr.isatty():
        return "".join(_lines_for_people(problems))
    text = "".join(report_text(problems))
    return text * 2 if twice else text


def _lines_for_people(problems: Iterable[Problem]) -> Iterator[str]:
    """Yield a line for each problem, with its code; only ten for each code, and then a line that counts the others."""
    for code, group in groupby(problems, key=lambda problem: problem.code):
        problems_of_code = list(group)
        for text in report_text(problems_of_code[:MOST_OF_A_CODE]):
            yield f"{text.rstrip()} [{code}]\n"
        hidden_count = len(problems_of_code) - MOST_OF_A_CODE
        if hidden_count > 0:
            yield f"({hidden_count} more of {code}, which cs-score problems {code} explains)\n"
