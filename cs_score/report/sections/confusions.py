"""What was taken for what: categories by slot and frequent wrong values, or labels predicted for those of gold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cs_score.measures.registry import COLD_START_MODE
from cs_score.report.charts.drawing import Drawing
from cs_score.report.charts.grid import grid
from cs_score.report.model import Block, Charts, Column, Section, Table, Text, Value, kept
from cs_score.report.sections.names import slug, words

_Rows = Sequence[Mapping[str, Any]]


def confusions_section(document: Mapping[str, Any]) -> Section:
    """The charts and all that was counted."""
    charts = Charts(list(confusion_charts(document)))
    found = document["confusions"]
    if document["mode"] != COLD_START_MODE:
        about = "How often each label of gold met each predicted one; none where there was no such label."
        tables = [_table("confused", "Labels of gold and predicted", found, ("of", "gold", "predicted"))]
        return Section("confusions", "Confusions", (Text(about), charts, *tables))
    about = (
        "Lines by slot and category; the wrong values that were given most often; and of lines of a category how many "
        "have a place of which the pool knows another value, or a value that it knows elsewhere, and how many of these "
        "are accepted answers."
    )
    blocks: list[Block] = [Text(about), charts]
    blocks.append(_table("categories", "Categories by slot", found["slots"], ("slot", "category")))
    if found["wrong_values"]:
        blocks.append(_table("wrong-values", "Wrong values", found["wrong_values"], ("slot", "value")))
    if found["near"]:
        blocks.append(_table("near", "Near misses", found["near"], ("category",)))
    return Section("confusions", "Confusions", blocks)


def _table(name: str, caption: str, rows: _Rows, texts: Sequence[str]) -> Table:
    counts = [key for key in (rows[0] if rows else ()) if key not in texts]
    columns = [*(Column(key, words(key).capitalize()) for key in texts)]
    columns += [Column(key, words(key).capitalize(), "count") for key in counts]
    cells: list[list[Value]] = [[row[key] for key in (*texts, *counts)] for row in rows]
    return Table(name, caption, columns, *kept(cells))


def confusion_charts(document: Mapping[str, Any]) -> Iterator[Drawing]:
    """Shares of a row: of the lines of a slot by category, of a label of gold by that predicted."""
    found: Any = document.get("confusions") or []
    if document["mode"] == COLD_START_MODE:
        rows = found["slots"] if found else []
        if rows:
            cells = [(row["slot"], row["category"], row["count"]) for row in rows]
            yield _grid("confusions", "Categories by slot, share of its lines", ("category", "slot"), cells, "")
        return
    for of in dict.fromkeys(row["of"] for row in found):
        cells = [(row["gold"], row["predicted"], row["count"]) for row in found if row["of"] == of]
        title = f"Labels of each {of}, share of gold's"
        yield _grid(f"confusions-{slug(of)}", title, ("predicted", "gold"), cells, of)


def _grid(name: str, title: str, axes: tuple[str, str], cells: Sequence[tuple[str, str, int]], of: str) -> Drawing:
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row, column, count in cells:
        counts[row][column] += count
    columns = list(dict.fromkeys(column for _, column, _ in cells))
    rows = [
        (row, [found[column] / sum(found.values()) if column in found else None for column in columns])
        for row, found in counts.items()
    ]
    told = "; ".join(f"{row} {column}: {n}, {n / sum(counts[row].values()):.4f}" for row, column, n in cells)
    return grid(name, title, f"{told}.", axes, rows, columns, of=of)
