"""From numbers to places: an axis with round ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from cs_score.base.records import Record

_TICKS: Final = 5
"""About how many ticks an axis has."""


class Scale(Record):
    """A range of numbers, from `low` to `high`, over places from `start` to `end`; `step` is between two ticks."""

    low: float
    high: float
    step: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """The place of a number."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """Places with their texts, as many decimals as tell them apart."""
        decimals = max(0, -math.floor(math.log10(self.step) + 1e-9))
        count = round((self.high - self.low) / self.step)
        values = (self.low + position * self.step for position in range(count + 1))
        return [(self.at(value), f"{round(value, decimals) + 0.0:.{decimals}f}") for value in values]


def scale(values: Iterable[float], start: float, end: float, *, with_zero: bool = False) -> Scale:
    """A scale of round numbers around all `values`."""
    known = [*values, *([0.0] if with_zero else [])] or [0.0]
    low, high = min(known), max(known)
    if high - low < 1e-12:
        low, high = (low, low + 1e-2) if with_zero else (low - 0.5, high + 0.5)
    rough = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    return Scale(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step, step, start, end)


def unit_scale(start: float, end: float) -> Scale:
    """From 0 to 1."""
    return Scale(0.0, 1.0, 0.2, start, end)
