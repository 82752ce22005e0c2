"""The page of a batch, from `batch.json`, and its charts by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from cs_score.report.charts.drawing import Drawing
from cs_score.report.model import Code, Page, Section, Text
from cs_score.report.sections.many.heatmap import heatmap_charts, heatmap_section
from cs_score.report.sections.many.leaderboard import interval_charts, leaderboard_section
from cs_score.report.sections.many.runs import Document
from cs_score.report.sections.many.stability import stability_charts, stability_section
from cs_score.report.sections.many.together import (
    agreement_charts,
    agreement_section,
    difficulty_charts,
    difficulty_section,
    systems_charts,
)

CHARTS: Final[Mapping[str, Callable[[Document], Iterable[Drawing]]]] = {
    "leaderboard": interval_charts,
    "heatmap": heatmap_charts,
    "difficulty": difficulty_charts,
    "agreement": agreement_charts,
    "systems": systems_charts,
    "stability": stability_charts,
}
"""The charts of a batch by kind."""


def batch_page(document: Document) -> Page:
    """The page of a batch."""
    sections = [leaderboard_section(document), heatmap_section(document)]
    sections += [difficulty_section(document)] if document["answers"] else []
    sections += [agreement_section(document), stability_section(document), _origin()]
    count = len(document["runs"])
    return Page("Leaderboard", f"{count} run{'' if count == 1 else 's'} by {document['measure']}", sections)


def _origin() -> Section:
    about = "This page shows what stands in batch.json beside it; leaderboard.json tells what each score was made from."
    return Section(
        "origin", "How to reproduce this page", (Text(about), Code(["cs-score report batch.json --out index.html"]))
    )
