"""A measure as a value: the one name by which leaderboards, comparisons, JSON, reports and Python call a number."""

from __future__ import annotations

from typing import Final

from cs_score.base.records import Record, replace

MICRO: Final = "Micro"
MACRO: Final = "Macro"

ALL_HOPS: Final = "ALL"
"""The level of a row about all hops."""


class Measure(Record):
    """One number of a result; `registry.parse(str(measure))` is the measure again.

    `statistic` says what is measured: `P`, `R`, `F1`, `AP`, or the official name in an evidence mode. `table` is that
    of the Cold Start scorer (`SF`, `LDC-MAX`, `LDC-MEAN`), `average` says how its rows are averaged (`Micro`, `Macro`);
    both are empty where there is only one. `hop` is None for all hops.
    """

    statistic: str
    table: str = ""
    average: str = ""
    hop: int | None = None

    def __str__(self) -> str:
        """`LDC-MEAN-ALL-Macro-F1`, `SF-AP@1`, `abstract_f1`."""
        average = f"{ALL_HOPS}-{self.average}" if self.average else ""
        name = "-".join(part for part in (self.table, average, self.statistic) if part)
        return name if self.hop is None else f"{name}@{self.hop}"

    @property
    def level(self) -> str:
        """Its hop as tables show it."""
        return ALL_HOPS if self.hop is None else str(self.hop)

    def at(self, level: str) -> Measure:
        """The same measure of one level, given as tables show it."""
        return replace(self, hop=None if level == ALL_HOPS else int(level))
