"""Scores by group: slot, hop, label and so on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from cs_score.report.charts.dots import Dots, dots
from cs_score.report.charts.drawing import Drawing
from cs_score.report.model import Charts, Column, Section, Table, Text, Value, kept
from cs_score.report.sections.names import headed, slug, words

_MOST_DRAWN: Final = 20
_SERIES: Final = {"precision": "precision", "recall": "recall", "f1": "F1"}
_FIRST: Final = ("slot", "hop")
"""Dimensions that stand before all others."""


def groups_section(document: Mapping[str, Any]) -> Section:
    """A chart and a table for each dimension."""
    charts = Charts(list(group_charts(document)))
    tables = [_table(name, rows, document["measure"]) for name, rows in _dimensions(document)]
    about = "Precision, recall and F1 of the lines and ground truth of each group, and its share of all mistakes."
    if document["mode"] != "coldstart":
        about = f"Scores of the units of each group, by the family of {document['measure']}, and its mistakes."
    return Section("groups", "Scores by group", (Text(about), charts, *tables))


def group_charts(document: Mapping[str, Any]) -> Iterator[Drawing]:
    """The scores of the groups of each dimension; the groups with the most mistakes, where they are many."""
    for name, rows in _dimensions(document):
        chosen = sorted(rows, key=lambda row: -row["mistakes"])[:_MOST_DRAWN]
        drawn = [_dots(row, document["measure"]) for row in rows if row in chosen]
        series = list(dict.fromkeys(each for row in drawn for each in row.values))
        if len(drawn) < 2 or not series:
            continue
        told = "; ".join(f"{row.label}: " + _told(row) for row in drawn)
        some = f" The {_MOST_DRAWN} groups with the most mistakes." if len(rows) > _MOST_DRAWN else ""
        yield dots(
            f"groups-{slug(name)}",
            f"Scores by {words(name)}",
            f"{told}.{some}",
            ("score", words(name)),
            series,
            drawn,
            of=name,
        )


def _told(row: Dots) -> str:
    return ", ".join(f"{series} {value:.4f}" for series, value in row.values.items())


def _dots(row: Mapping[str, Any], measure: str) -> Dots:
    values = {shown: row[key] for key, shown in _SERIES.items() if row[key] is not None}
    if not values and measure in row.get("scores", {}):
        values = {measure: row["scores"][measure]}
    limits = row.get("intervals", {})
    known = {
        shown: (limits[key]["low"], limits[key]["high"])
        for key, shown in _SERIES.items()
        if key in limits and limits[key]["low"] is not None and limits[key]["high"] is not None
    }
    return Dots(row["group"], values, {name: known[name] for name in known if name == "F1"})


def _dimensions(document: Mapping[str, Any]) -> list[tuple[str, Sequence[Mapping[str, Any]]]]:
    groups = document.get("groups", {})
    names = sorted(groups, key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
    return [(name, groups[name]) for name in names if groups[name]]


def _table(name: str, rows: Sequence[Mapping[str, Any]], measure: str) -> Table:
    """The scores of each group, its mistakes, and the counts behind the scores."""
    counts = list(dict.fromkeys(key for row in rows for key in row["counts"]))
    parts: list[tuple[Column, Callable[[Mapping[str, Any]], Value]]] = [
        (Column("group", headed(name)), lambda row: row["group"]),
        (Column("units", "Units", "count"), lambda row: row.get("units")),
        (Column("measure", measure, "score"), lambda row: row.get("scores", {}).get(measure)),
        *((Column(key, shown.capitalize(), "score"), itemgetter(key)) for key, shown in _SERIES.items()),
        *((Column(f"f1-{limit}", f"F1, {limit}", "score"), _limit(limit)) for limit in ("low", "high")),
        (Column("mistakes", "Mistakes", "count"), itemgetter("mistakes")),
        (Column("share", "Share of mistakes", "score"), lambda row: row.get("share")),
        *((Column(f"count-{key}", words(key).capitalize(), "count"), _count(key)) for key in counts),
    ]
    filled = [(column, [value(row) for row in rows]) for column, value in parts]
    filled = [(column, values) for column, values in filled if any(value is not None for value in values)]
    columns = [column for column, _ in filled]
    cells = [list(row) for row in zip(*(values for _, values in filled))]
    return Table(f"by-{slug(name)}", f"By {words(name)}", columns, *kept(cells), is_small=len(rows) <= 25)


def _count(key: str) -> Callable[[Mapping[str, Any]], Value]:
    return lambda row: row["counts"].get(key)


def _limit(name: str) -> Callable[[Mapping[str, Any]], Value]:
    """The lower or upper limit of the interval of F1."""
    return lambda row: row.get("intervals", {}).get("f1", {}).get(name)
