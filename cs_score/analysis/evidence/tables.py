"""An analysis as tables: what the text shows in columns, and what stands in files separated by tabs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from cs_score.analysis.evidence.analysis import Analysis
from cs_score.analysis.evidence.groups import Group
from cs_score.base.display import spreadsheet_cell
from cs_score.evidence.reading import text_of


class Table(NamedTuple):
    """A table by the name of its file: column names, and rows of texts and numbers (None: an empty cell)."""

    name: str
    columns: tuple[str, ...]
    rows: Iterable[Sequence[object]]

    def blocks(self) -> Iterator[bytes]:
        """UTF-8 text separated by tabs; numbers read back as the same, no text is a formula to a spreadsheet."""
        yield header(self.columns)
        for row in self.rows:
            yield ("\t".join(map(_cell, row)) + "\n").encode("utf-8", "backslashreplace")


MISTAKES: Final = ("unit", "occurrence", "kind", "part", "predicted", "gold", "gain", "reason", "prediction")
BUDGET: Final = ("kind", "count", "gain", "score", "cumulated")
GROUPS: Final = ("dimension", "group", "units", "precision", "recall", "f1", "mistakes", "share")
CONFUSIONS: Final = ("of", "gold", "predicted", "count")

COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "mistakes.tsv": MISTAKES,
    "budget.tsv": BUDGET,
    "groups.tsv": GROUPS,
    "confusions.tsv": CONFUSIONS,
}
"""The files of `--tsv` with the columns that each begins with; effects follow by measure, counts by statistic."""


def header(columns: Iterable[str]) -> bytes:
    """The first line of a table's file."""
    return "\t".join(columns).encode() + b"\n"


def tables(analysis: Analysis, top: int | None = None) -> list[Table]:
    """The tables of an analysis, with at most `top` mistakes."""
    mode = analysis.mode
    return [
        Table(
            "mistakes.tsv",
            (*MISTAKES, *(f"effect:{measure}" for measure in mode.measures)),
            (
                (
                    text_of(mistake.unit), mistake.occurrence, mistake.fault.kind, mistake.fault.part,
                    as_json(mistake.fault.predicted), as_json(mistake.fault.gold), mistake.gain, mistake.reason,
                    json.dumps(mistake.prediction), *mistake.effects.values(),
                )
                for mistake in analysis.mistakes[:top]
            ),
        ),
        Table(
            "budget.tsv",
            BUDGET,
            [(row.kind, row.count, row.gain, row.score, row.cumulated) for row in analysis.budget],
        ),
        Table(
            "groups.tsv",
            (*GROUPS, *mode.columns),
            [
                (*_group(dimension, group), *(group.counts.get(column) for column in mode.columns))
                for dimension, groups in analysis.groups.items()
                for group in groups
            ],
        ),
        Table(
            "confusions.tsv",
            CONFUSIONS,
            [tuple(confusion.as_json().values()) for confusion in analysis.confusions],
        ),
    ]  # fmt: skip


def as_json(value: object) -> str:
    """A JSON value on one line; nothing for None."""
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _group(dimension: str, group: Group) -> tuple[object, ...]:
    scores = (group.precision, group.recall, group.f1)
    return dimension, group.group, group.units, *scores, group.mistakes, group.share


def _cell(value: object) -> str:
    if value is None:
        return ""
    return spreadsheet_cell(value) if isinstance(value, str) else repr(value)
