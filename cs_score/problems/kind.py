"""What a problem code is: how bad, what is said of it, and how it is mended."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import Final, NamedTuple


class Severity(StrEnum):
    """How bad a problem is: warnings leave the exit status 0, errors make it 255, and fatal ones end the program."""

    WARNING = "WARNING"
    ERROR = "ERROR"
    FATAL = "FATAL_ERROR"


class ProblemKind(NamedTuple):
    """All that is known of a problem code.

    `template` is the message, in which `%s` and `%d` stand for the arguments; None for a condition that ends a program
    in words of its own, which is no code of the reference. `meaning`: what is wrong. `example`: what such an input
    looks like. `action`: what cs-score does. `remedy`: what the author of the input does. `column`: the column it is
    always in, if it is, or which argument names it, counted from 0. `offender`: which argument is the offending text.
    """

    severity: Severity
    template: str | None
    meaning: str
    example: str
    action: str
    remedy: str
    column: str | int | None = None
    offender: int | None = None

    def message(self, arguments: tuple[object, ...]) -> str:
        """What reports say of one problem of this kind."""
        assert self.template is not None, "a condition has words of its own"
        return self.template % arguments


warning: Final = partial(ProblemKind, Severity.WARNING)
error: Final = partial(ProblemKind, Severity.ERROR)
fatal: Final = partial(ProblemKind, Severity.FATAL)
condition: Final = partial(ProblemKind, Severity.FATAL, None)

KEPT: Final = "Counts as an error: nothing is written by the validators, and the scorer ends with status 255."
ENDS: Final = "Fatal: nothing is written."
"""What is done about many problems."""
