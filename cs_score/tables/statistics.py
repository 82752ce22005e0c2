"""What is said of test sets and pools, as tables with notes below them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from cs_score.base.display import one_line
from cs_score.base.documents import json_text
from cs_score.base.errors import UsageError
from cs_score.base.records import Record, replace
from cs_score.statistics.planning import Power
from cs_score.tables.layout import Column, Layout, Row, Table, columns
from cs_score.tables.renderers import text, tsv


class Printout(Record):
    """How a document of statistics is printed: tables with sentences below them.

    Files for programs have the `main` table alone; those `before` it stand above it for people. In titles % is the
    measure of the document.
    """

    main: Layout
    notes: Callable[[Any], Iterable[str]]
    before: tuple[Layout, ...] = ()

    def tables(self, found: Any) -> dict[str, Table]:
        """Its tables by name, the main one last."""
        return {
            layout.name: replace(layout, title=title).table(found)
            for layout in (*self.before, self.main)
            for title in [layout.title if layout.by else layout.title.replace("%", str(found.measure))]
        }

    def text(self, found: Any, width: int) -> str:
        """For people, in lines of at most so many columns."""
        shown = [table for name, table in self.tables(found).items() if table.rows or name == self.main.name]
        lines = [line for table in shown for line in text(table, None, width)]
        return "\n".join(map(one_line, (*lines[1:], "", *self.notes(found))))

    def written(self, found: Any, format_: str, width: int) -> str:
        """As `text`, `json` or `tsv`. Raises UsageError for another format."""
        if format_ not in ("text", "json", "tsv"):
            raise UsageError(f"this is printed as text, json or tsv, not as {format_}")
        if format_ == "json":
            return json_text(found).removesuffix("\n")
        if format_ == "tsv":
            return b"".join(tsv(self.main.table(found))).decode().removesuffix("\n")
        return self.text(found, width)


def rankings_agree(tau_b: float | None) -> str:
    """How far two rankings of the same runs agree, in words."""
    return f"tau-b of the two rankings: {'undefined, since all runs are tied' if tau_b is None else f'{tau_b:.4f}'}."


def _designs(power: Power) -> Iterator[Row]:
    """A row for each pair, or one for all where a standard deviation was given."""
    keys = ("a", "b", "standard_deviation", "detectable", "needed")
    for each in power.pairs or (power,):
        row = {key: getattr(each, key, None) or None for key in keys}
        yield {**row, "measure": power.measure or None, "units": power.units or None}


def _of_power(power: Power) -> Iterator[str]:
    yield f"Paired t test of two sides: alpha {power.alpha:g}, power {power.power:g}, one pair at a time."
    if power.difference:
        yield f"Needed: units for a difference of {power.difference:g}; - where a thousand million are too few."
    if len(power.pairs) > 1:
        alpha = power.alpha / len(power.pairs)
        yield f"For the strictest test of all {len(power.pairs)} pairs by Holm's correction: --alpha {alpha:.2g}."


POWER: Final = Printout(
    Layout(
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
    ),
    _of_power,
)

CURVE: Final = Layout(
    "curve", "Power by units and difference:", columns("units", "difference", "power"), lambda found: found.curve
)
