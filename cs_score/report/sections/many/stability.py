"""Rank stability: how far rankings by other measures and policies are the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from cs_score.report.charts.dots import PLACES, Dots, dots
from cs_score.report.charts.drawing import Drawing
from cs_score.report.charts.scale import Scale
from cs_score.report.model import Charts, Column, Section, Text, Value
from cs_score.report.sections.many.runs import Document, labels_of, table_of

_MOST_DRAWN: Final = 40


def stability_section(document: Document) -> Section:
    """Kendall's tau-b of every two rankings, and who comes first in each."""
    labels, stability = labels_of(document), document["stability"]
    pairs: list[list[Value]] = [
        [_ranking(pair["a"]), _ranking(pair["b"]), pair["tau"], *_limits(pair)] for pair in stability["pairs"]
    ]
    first: list[list[Value]] = [
        [_ranking(row), ", ".join(labels[place] for place in row["runs"]), row["changes"]] for row in stability["first"]
    ]
    about = (
        "Kendall's tau-b between two rankings of the same runs: 1 where they are the same, -1 where one is the other "
        "reversed. How often another run comes first is told of resamples."
    )
    numbers = (Column("tau", "tau-b", "score"), Column("low", "Low", "score"), Column("high", "High", "score"))
    both = (Column("a", "Ranking"), Column("b", "Other ranking"))
    changes = Column("changes", "Share of resamples with another first", "score")
    return Section(
        "stability",
        "Rank stability",
        (
            Text(about),
            Charts(list(stability_charts(document))),
            table_of("rankings", "Pairs of rankings", (*both, *numbers), pairs),
            table_of("first", "First places", (both[0], Column("runs", "First"), changes), first),
        ),
    )


def stability_charts(document: Document) -> Iterator[Drawing]:
    """Tau-b of the ranking by the measure of the leaderboard with every other ranking."""
    own = {"measure": document["measure"], "policy": document["policies"][0]}
    rows = []
    for pair in document["stability"]["pairs"]:
        if own in (pair["a"], pair["b"]) and pair["tau"] is not None:
            other = pair["b"] if pair["a"] == own else pair["a"]
            low, high = _limits(pair)
            known = {"tau-b": (low, high)} if low is not None and high is not None else {}
            rows.append(Dots(_ranking(other), {"tau-b": pair["tau"]}, known))
    if rows:
        rows = rows[:_MOST_DRAWN]
        told = "; ".join(f"{row.label} {row.values['tau-b']:.4f}" for row in rows)
        title = f"Rankings against that by {_ranking(own)}"
        axes = ("Kendall's tau-b (-1 to 1)", "ranking")
        across = Scale(-1.0, 1.0, 0.5, *PLACES)
        yield dots("stability", title, f"{told}.", axes, ("tau-b",), rows, across=across)


def _ranking(by: Mapping[str, Any]) -> str:
    return f"{by['measure']} ({by['policy']})" if by["policy"] else str(by["measure"])


def _limits(pair: Mapping[str, Any]) -> tuple[float | None, float | None]:
    interval = pair["interval"] or {"low": None, "high": None}
    return interval["low"], interval["high"]
