"""Confidence values: what is accepted, what is mended, what is replaced (specification 4.3)."""

from __future__ import annotations

import functools
from typing import Final, NamedTuple

from cs_score.base.patterns import pattern

_SCIENTIFIC: Final = pattern(r"\d+\.\d+e[-+]?\d\d")
_LEGAL: Final = pattern(r"1\.0*|0?\.0*+[1-9][0-9]*+")


class Confidence(NamedTuple):
    """A confidence: the text that stands for it from now on, its value in (0, 1], the codes of what was wrong."""

    text: str
    value: float
    codes: tuple[str, ...]


CERTAIN: Final = "1.0"
"""What an illegal confidence is replaced with."""


def plain_confidence(written: str) -> float | None:
    """The value of a confidence that is legal as it stands and below 1; None of one that needs a second look.

    Nearly all are like this. They are not cached: to find one again takes longer, and a number lies near its line here.
    """
    digits = written[2:]
    if written[:2] == "0." and digits.isdigit() and digits.isascii():
        return float(written) or None
    return None


def without_exponent(written: str) -> str | None:
    """The decimals that stand for a confidence with an exponent; None of one without."""
    return f"{float(written):.12f}" if _SCIENTIFIC.fullmatch(written) else None


@functools.lru_cache(maxsize=1 << 10)  # a run may have the same odd one, or 1.0, on all lines
def read_confidence(written: str) -> Confidence:
    """The confidence that a column stands for. Never raises: what is illegal is replaced, and its codes tell."""
    codes: tuple[str, ...] = ()
    text = written
    if written == "1":
        text, codes = CERTAIN, ("MISSING_DECIMAL_POINT",)
    elif (decimals := without_exponent(written)) is not None:
        text, codes = decimals, ("IMPROPER_CONFIDENCE_VALUE",)
    if not _LEGAL.fullmatch(text):
        text, codes = CERTAIN, (*codes, "ILLEGAL_CONFIDENCE_VALUE")
    return Confidence(text, float(text), codes)
