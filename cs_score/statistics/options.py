"""How to resample: the settings that a result depends on, checked once."""

from __future__ import annotations

import math
import operator
from typing import Final, Literal, TypeAlias, get_args

from cs_score.base.errors import UsageError
from cs_score.base.records import Record, force_setattr, replace

IntervalMethod: TypeAlias = Literal["percentile", "bca"]
PairedTest: TypeAlias = Literal["randomisation", "bootstrap"]

INTERVAL_METHODS: Final[tuple[str, ...]] = get_args(IntervalMethod)
PAIRED_TESTS: Final[tuple[str, ...]] = get_args(PairedTest)

DEFAULT_RESAMPLES: Final = 10_000

LEAST_CONFIDENCE: Final = 50.0
MOST_CONFIDENCE: Final = 99.99
"""Below, an interval says less than its absence; above, no affordable number of resamples reaches."""


class Resampling(Record):
    """Settings of a bootstrap or of a paired test; equal settings on equal input give equal results.

    `resamples` is their number (at least 1), `seed` a whole number of at least 0, `confidence` a percentage from 50
    to 99.99, `unit` the name of what is drawn ("claim"). With `can_grow` nobody has asked for just that
    number, and a comparison of many systems draws as many as significance needs. Raises UsageError for anything else.
    """

    resamples: int = DEFAULT_RESAMPLES
    seed: int = 0
    confidence: float = 95.0
    method: IntervalMethod = "percentile"
    unit: str = "unit"
    can_grow: bool = False

    def __post_init__(self) -> None:
        # The checked value replaces a numpy number, which JSON cannot print.
        force_setattr(self, "resamples", _whole_number(self.resamples, "the number of resamples", at_least=1))
        force_setattr(self, "seed", _whole_number(self.seed, "the seed", at_least=0))
        force_setattr(self, "confidence", _percentage(self.confidence))
        if self.method not in INTERVAL_METHODS:
            raise UsageError(f"no interval method called {self.method}; there are {', '.join(INTERVAL_METHODS)}")

    @property
    def level(self) -> float:
        """The probability left outside an interval, and the level of the tests: 0.05 for a confidence of 95 %."""
        from decimal import Decimal  # only who resamples asks

        return float((100 - Decimal(repr(self.confidence))) / 100)  # 0.001, not 0.00099999..., for 99.9

    def enough_for(self, pairs: int, most: int) -> Resampling:
        """The settings of tests of so many pairs: up to `most` resamples where that number may grow and has to.

        With N resamples the smallest p that Holm's correction leaves is pairs / (N + 1).
        """
        needed = math.ceil(pairs / self.level) if self.can_grow else 0
        return replace(self, resamples=max(self.resamples, min(needed, most)), can_grow=False)

    def as_json(self) -> dict[str, object]:
        """The settings as a JSON object."""
        return {
            "resamples": self.resamples,
            "seed": self.seed,
            "confidence": self.confidence,
            "method": self.method,
            "unit": self.unit,
        }


def add_one(extreme: int, resamples: int) -> float:
    """The p-value of `extreme` resamples out of `resamples`: (1 + extreme) / (1 + resamples)."""
    return (1 + extreme) / (1 + resamples)


def is_enumerated(units: int, resamples: int) -> bool:
    """Whether randomisation makes every exchange of the units once instead of so many at random."""
    return units < resamples.bit_length()  # 2^units <= resamples


def smallest_p(test: PairedTest, units: int, resamples: int) -> float:
    """The smallest p that a test can give. Of all exchanges at least two are extreme: none, and that of all units."""
    if test == "randomisation" and is_enumerated(units, resamples):
        return 2.0 ** (1 - units)
    return add_one(0, resamples)


def _whole_number(value: object, what: str, *, at_least: int) -> int:
    try:
        number = None if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or number < at_least:
        raise UsageError(f"{what} must be a whole number of at least {at_least}, not {value}")
    return number


def _percentage(value: object) -> float:
    try:
        number = math.nan if isinstance(value, (bool, str)) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not LEAST_CONFIDENCE <= number <= MOST_CONFIDENCE:
        raise UsageError(f"the confidence is a percentage from 50 to 99.99, not {value}{_meant_percentage(number)}")
    return number


def _meant_percentage(number: float) -> str:
    """A suggestion for a probability that was given in place of a percentage, or for the wrong tail."""
    for candidate in (100 * number, 100 - 100 * number, 100 - number):
        meant = round(candidate, 10)
        if LEAST_CONFIDENCE <= meant <= MOST_CONFIDENCE:
            return f"; percent: did you mean {meant:g}?"
    return ""
