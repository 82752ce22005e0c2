"""The problem report and its closing line (specification 12.2 and 12.3)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Final

from cs_score.problems.log import NO_PLACE, Problem

MAY_BE_REPLACED: Final = "\n(cs-score stopped here; its next call may write this file anew)\n"
"""The end of the error file of a call that was stopped."""

_LARGEST: Final = 1 << 28
_CLOSING: Final = re.compile(rb"[0-9]+ errors? encountered")


def report_text(problems: Iterable[Problem]) -> Iterator[str]:
    """Each message with the first of its places and the number of others, then an empty line."""
    for problem in problems:
        # Places are compared as the bytes they are written in; code points order the same way.
        first, *others = sorted(NO_PLACE if place is None else str(place) for place in problem.places)
        where = ""
        if first != NO_PLACE:
            count = f" and {len(others)} other place{'s' if len(others) > 1 else ''}" if others else ""
            where = f" ({first}{count})"
        yield f"{problem.severity}: {problem.message}{where}\n\n"


def closing_line(errors: int, warnings: int) -> str:
    """The last line of the report: errors if there are any, else warnings."""
    if errors:
        return f"{errors} error{'s' if errors > 1 else ''} encountered\n"
    if warnings:
        return f"{warnings} warning{'s' if warnings > 1 else ''} encountered\n"
    return "No warnings encountered\n"


def whole_report(problems: Iterable[Problem], errors: int, warnings: int) -> str:
    """The report of a scoring that came to its end: twice, as the reference writes it, and the closing line."""
    return "".join(report_text(problems)) * 2 + closing_line(errors, warnings)


def stopped_report(problems: Iterable[Problem], cause: Exception) -> str:
    """The report of a scoring that was stopped: the problems so far and what stopped it."""
    return "".join(report_text(problems)) + f"{cause}\n"


def doubly_encoded(text: str) -> bytes:
    """The bytes of a report as the reference writes them: UTF-8, encoded to UTF-8 once more."""
    if text.isascii():
        return text.encode("ascii")
    return text.encode("utf-8", "surrogateescape").decode("latin-1").encode("utf-8")


def is_of_failed_call(path: str) -> bool:
    """Whether a file is the report of a call of ours that was stopped, or ended with errors."""
    if not os.path.isfile(path) or os.path.getsize(path) > _LARGEST:
        return False
    with open(path, "rb") as file:
        report = file.read()
    if report.endswith(MAY_BE_REPLACED.encode()):
        return True
    body, _, closing = report.removesuffix(b"\n").rpartition(b"\n")
    half = (len(body) + 1) // 2
    if _CLOSING.fullmatch(closing) is None or not report.startswith((b"ERROR: ", b"WARNING: ")):
        return False
    return report[:half] == report[half : 2 * half]
