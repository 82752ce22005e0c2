"""What is said of a problem code beyond its message."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Explanation:
    """A code in words.

    `meaning`: what is wrong. `example`: what such an input looks like. `action`: what cs-score does. `remedy`: what
    the author of the input does. `column`: the column it is always in, if it is. `offender`: which argument of the
    message is the offending text, counted from 0.
    """

    meaning: str
    example: str
    action: str
    remedy: str
    column: str | None = None
    offender: int | None = None
