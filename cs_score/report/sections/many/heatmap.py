"""The heat map: the score of each unit in each run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from cs_score.report.charts.drawing import Drawing
from cs_score.report.charts.grid import grid, shade
from cs_score.report.model import Away, Charts, Column, Section, Table, Text, Value, kept
from cs_score.report.sections.many.runs import Document, labels_of, page_of_run, policy_text

_MOST_UNITS: Final = 60
_MOST_RUNS: Final = 60


def heatmap_section(document: Document) -> Section:
    """The charts, and the table of all units, whose cells lead to the pages of the runs at that unit."""
    unit, labels = document["unit"], labels_of(document)
    columns = [Column("unit", unit), Column("policy", "Policy")]
    columns += [Column("mean", "Mean", "score"), *(Column(f"r{at}", label, "score") for at, label in enumerate(labels))]
    rows = [_row(document, row) for row in document["queries"]]
    if len(document["policies"]) == 1:
        columns, rows = [columns[0], *columns[2:]], [[row[0], *row[2:]] for row in rows]
    about = f"{document['unit_measure']} of each {unit} in each run; the lowest means are the hardest."
    if document["pages"]:
        about += f" A cell leads to the page of the run at that {unit}."
    table = Table("units", f"Scores by {unit} and run", columns, *kept(rows))
    return Section("heatmap", "Heat map", (Text(about), Charts(list(heatmap_charts(document))), table))


def heatmap_charts(document: Document) -> Iterator[Drawing]:
    """Units by runs, by policy; of many units those whose scores differ the most."""
    labels = labels_of(document)
    for at, policy in enumerate(document["policies"]):
        every = [row for row in document["queries"] if row["policy"] == policy]
        widest = sorted(every, key=lambda row: -_spread(row["scores"]))[:_MOST_UNITS]
        drawn = [(row["unit"], row["scores"][:_MOST_RUNS]) for row in every if row in widest]
        if not drawn or not labels:
            continue
        some = []
        if len(every) > _MOST_UNITS:
            some.append(f" The {_MOST_UNITS} of {len(every)} in which runs differ the most.")
        if len(labels) > _MOST_RUNS:
            some.append(f" The first {_MOST_RUNS} of {len(labels)} runs.")
        means = ((unit, _mean(values)) for unit, values in drawn)
        told = "; ".join(f"{unit}: mean {mean:.4f}" for unit, mean in means if mean is not None)
        title = f"{document['unit_measure']} by {document['unit']} and run{policy_text(document, policy)}"
        axes = ("run", document["unit"])
        text = f"{told}.{''.join(some)}"
        yield grid(f"heatmap-{at}", title, text, axes, drawn, labels[:_MOST_RUNS], of=policy)


def _row(document: Document, row: Mapping[str, Any]) -> list[Value]:
    cells = [_cell(document, row, place, value) for place, value in enumerate(row["scores"])]
    return [row["unit"], row["policy"], _mean(row["scores"]), *cells]


def _cell(document: Document, row: Mapping[str, Any], place: int, value: float | None) -> Value:
    if value is None:
        return None
    address = page_of_run(document, row["policy"], place, row["unit"]) if document["pages"] else ""
    return Away(value, address, shade(value))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _spread(values: Sequence[float | None]) -> float:
    known = [value for value in values if value is not None]
    return max(known) - min(known) if known else -1.0
