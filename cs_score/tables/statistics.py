"""What is said of test sets and pools, as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from cs_score.base.display import one_line
from cs_score.base.documents import json_text
from cs_score.base.errors import UsageError
from cs_score.statistics.planning import Power
from cs_score.tables.layout import Column, Layout, Row
from cs_score.tables.renderers import text, tsv


def written(found: Any, format_: str, layout: Layout, as_text: Callable[[Any, int], str], width: int) -> str:
    """A document as `json`, its table as `tsv`, or its `text` of this width. Raises UsageError for another format."""
    if format_ not in ("text", "json", "tsv"):
        raise UsageError(f"this is printed as text, json or tsv, not as {format_}")
    if format_ == "json":
        return json_text(found).removesuffix("\n")
    shown = b"".join(tsv(layout.table(found))).decode() if format_ == "tsv" else as_text(found, width)
    return shown.removesuffix("\n")


def _designs(power: Power) -> Iterator[Row]:
    """A row for each pair, or one for all where a standard deviation was given."""
    for each in power.pairs or (power,):
        row = {
            key: getattr(each, key, None) or None for key in ("a", "b", "standard_deviation", "detectable", "needed")
        }
        yield {**row, "measure": power.measure or None, "units": power.units or None}


POWER: Final = Layout(
    "power",
    "Smallest difference that is detected, and units that a difference needs",
    (
        Column("measure", "Measure"),
        Column("a", "A"),
        Column("b", "B"),
        Column("standard_deviation", "Std. dev.", meaning="standard deviation of the units' differences"),
        Column("units", "Units"),
        Column(
            "detectable", "Detectable", meaning="smallest difference that the test detects with the power asked for"
        ),
        Column("needed", "Needed", meaning="units with which it detects the difference asked for"),
    ),
    _designs,
    most="whole",
)


def power_text(power: Power, width: int) -> str:
    """The table, and what it rests on."""
    lines = [*text(POWER.table(power), None, width)][1:]
    lines += ["", f"Paired t test of two sides: alpha {power.alpha:g}, power {power.power:g}, one pair at a time."]
    if power.difference:
        lines.append(f"Needed: units for a difference of {power.difference:g}; - where a thousand million are too few.")
    if len(power.pairs) > 1:
        alpha = power.alpha / len(power.pairs)
        lines.append(
            f"For the strictest test of all {len(power.pairs)} pairs by Holm's correction: --alpha {alpha:.2g}."
        )
    return "".join(f"{one_line(line)}\n" for line in lines)
