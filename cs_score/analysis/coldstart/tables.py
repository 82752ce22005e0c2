"""The sections of an analysis as tables: what the text shows in columns, and what stands in files separated by tabs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from cs_score.analysis.coldstart.analysis import Analysis
from cs_score.foundation.display import spreadsheet_cell
from cs_score.foundation.record import dataclass

Value: TypeAlias = str | int | float | None


class Gain(float):
    """A difference of scores, which people are shown with its sign."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the name of its file, its title, its columns, and its rows (None: an empty cell)."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[Value, ...]]

    def blocks(self) -> Iterator[bytes]:
        """UTF-8 text separated by tabs; numbers read back as the same, no text is a formula to a spreadsheet."""
        yield header(self.name)
        for row in self.rows:
            yield ("\t".join(map(_cell, row)) + "\n").encode("utf-8", "backslashreplace")


COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "budget": ("kind", "count", "gain", "score", "cumulated", "reason"),
    "mistakes": (
        "gain", "kind", "category", "file", "line", "query", "slot", "hop", "value", "node", "class", "lines", "reason",
    ),
}  # fmt: skip
"""The columns of each table, by its name."""


def header(name: str) -> bytes:
    """The first line of a table's file."""
    return "\t".join(COLUMNS[name]).encode() + b"\n"


def tables_of(analysis: Analysis) -> list[Table]:
    """Every section as a table."""
    return [
        _table(
            "budget",
            "The score if all mistakes of a kind, and no others, were mended; cumulated, if those above were as well:",
            (
                (row.kind, row.count, _gain(row.gain), row.score, row.cumulated, row.reason)
                for row in analysis.budget
            ),
        ),
        _table(
            "mistakes",
            "The costliest mistakes, with what mending each one alone would bring:",
            (
                (
                    _gain(row.gain), row.kind, row.category, row.file, row.line, row.query, row.slot, row.hop,
                    row.value, row.node, row.class_name, row.change.size,
                    row.effect.reason,
                )
                for row in analysis.mistakes
            ),
        ),
    ]  # fmt: skip


def _table(name: str, title: str, rows: Iterable[tuple[Value, ...]]) -> Table:
    return Table(name, title, COLUMNS[name], list(rows))


def _gain(value: float | None) -> Gain | None:
    return None if value is None else Gain(value)


def _cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return spreadsheet_cell(value)
    return repr(float(value)) if isinstance(value, float) else str(value)
