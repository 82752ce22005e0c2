"""Confidence values: what is accepted, what is mended, what is replaced (specification 4.3)."""

from __future__ import annotations

import functools
import re
from typing import Final, NamedTuple

from cs_score.problems import Detail, Place, ProblemLog

_SCIENTIFIC: Final = re.compile(r"\d+\.\d+e[-+]?\d\d")
_LEGAL: Final = re.compile(r"1\.0*|0?\.[0-9]*[1-9][0-9]*")


class Confidence(NamedTuple):
    """A confidence: the text after mending, and its value in (0, 1]."""

    text: str
    value: float
    is_clean: bool
    """Whether the text stood in the file like this and nothing had to be reported."""


CERTAIN: Final = "1.0"
"""What an illegal confidence is replaced with."""


def read_confidence(written: str, place: Place, problems: ProblemLog) -> Confidence:
    """The confidence that a column stands for; faults are reported at `place` and the line is kept."""
    text, codes = mended_confidence(written)
    for code in codes:
        problems.add(code, written, place=place, detail=Detail("CONFIDENCE", written, text))
    return Confidence(text, float(text), not codes)


@functools.lru_cache(maxsize=1 << 16)
def mended_confidence(written: str) -> tuple[str, tuple[str, ...]]:
    """The text that stands for a confidence from now on, and the codes of what was wrong with it."""
    codes: tuple[str, ...] = ()
    text = written
    if written == "1":
        text, codes = CERTAIN, ("MISSING_DECIMAL_POINT",)
    elif _SCIENTIFIC.fullmatch(written):
        text, codes = f"{float(written):.12f}", ("IMPROPER_CONFIDENCE_VALUE",)
    if not _LEGAL.fullmatch(text):
        text, codes = CERTAIN, (*codes, "ILLEGAL_CONFIDENCE_VALUE")
    return text, codes
