"""Confidence values: what is accepted, what is mended, what is replaced (specification 4.3)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from cs_score.problems import Place, ProblemLog

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
    text = written
    clean = True
    if written == "1":
        problems.add("MISSING_DECIMAL_POINT", written, place=place)
        text, clean = CERTAIN, False
    elif _SCIENTIFIC.fullmatch(written):
        problems.add("IMPROPER_CONFIDENCE_VALUE", written, place=place)
        text, clean = f"{float(written):.12f}", False
    if not _LEGAL.fullmatch(text):
        problems.add("ILLEGAL_CONFIDENCE_VALUE", written, place=place)
        text, clean = CERTAIN, False
    return Confidence(text, float(text), clean)
