"""The problem report as people see it on a terminal; elsewhere it is the reference's."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from cs_score.coldstart.outputs import report_text
from cs_score.problems.log import Problem

SHOWN: Final = 10
"""Messages of one code that are shown."""


def report_on_stderr(problems: Iterable[Problem], *, twice: bool = False) -> str:
    """The problems as standard error shows them; `twice` where the reference writes its report twice."""
    if sys.stderr is not None and sys.stderr.isatty():
        return "".join(_for_people(problems))
    return "".join(report_text(problems)) * (2 if twice else 1)


def _for_people(problems: Iterable[Problem]) -> Iterator[str]:
    """Messages with their codes; of each code so many, then their number and where to learn more."""
    for code, found in groupby(problems, key=lambda problem: problem.code):
        messages = list(found)
        for text in report_text(messages[:SHOWN]):
            yield f"{text.rstrip()} [{code}]\n"
        if len(messages) > SHOWN:
            yield f"({len(messages) - SHOWN} more of {code}, which cs-score problems {code} explains)\n"
