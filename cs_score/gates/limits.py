"""What is asked of a measure: a least score, or how far it may lie below a baseline."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from cs_score.base.errors import UsageError
from cs_score.base.records import Record
from cs_score.measures.registry import chosen

_NUMBER: Final = re.compile(r"[0-9]{1,3}(\.[0-9]{0,20})?|\.[0-9]{1,20}")

ROUNDING: Final = Decimal("1e-12")
"""Scores that lie nearer to a limit than this are on it: they are sums of rounded numbers."""


class Limit(Record):
    """A measure by name or pattern, and a number of at least 0."""

    measure: str
    value: Decimal

    def of(self, known: Sequence[str]) -> dict[str, Decimal]:
        """The limit of each measure that it is about. Raises UsageError where there is none."""
        return dict.fromkeys(chosen(known, [self.measure]), self.value)


def read_limit(option: str, text: str) -> Limit:
    """`MEASURE=NUMBER`. Raises UsageError for anything else."""
    measure, equals, number = text.rpartition("=")
    if not (measure and equals and _NUMBER.fullmatch(number)):
        raise UsageError(f"{option} takes MEASURE=NUMBER, such as {option} SF-AP=0.4, not {text}")
    value = Decimal(number)
    if value > 1:
        meant = f": did you mean {value / 100:.2f}?" if value <= 100 else ""
        raise UsageError(f"{option} {text}: scores lie between 0 and 1{meant}")
    return Limit(measure.strip(), value)


def limits_by_measure(limits: Sequence[Limit], known: Sequence[str]) -> dict[str, Decimal]:
    """The limit of each measure, in the order of `known`; of several the last. Raises UsageError as `Limit.of`."""
    found: dict[str, Decimal] = {}
    for limit in limits:
        found |= limit.of(known)
    return {measure: found[measure] for measure in known if measure in found}


def exact(score: float) -> Decimal:
    """A score as it is printed in full precision."""
    return Decimal(repr(score))
