"""The page of one run, from what `analyze --json` writes, and its charts by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from cs_score.report.charts.drawing import Drawing
from cs_score.report.model import Page, Section
from cs_score.report.sections.budget import budget_section, gain_charts, step_charts
from cs_score.report.sections.confidence import confidence_section, reliability_charts, sweep_charts
from cs_score.report.sections.groups import group_charts, groups_section
from cs_score.report.sections.headline import headline_section
from cs_score.report.sections.mistakes import mistakes_section, units_section
from cs_score.report.sections.origin import bounds_section, origin_section, policies_section, problems_section

_Part = Callable[[Mapping[str, Any]], Section]

# The order of the page (insight specification 7), each with the key without which there is nothing to show.
_SECTIONS: Final[tuple[tuple[str, _Part], ...]] = (
    ("scores", headline_section),
    ("budget", budget_section),
    ("groups", groups_section),
    ("reliability", confidence_section),
    ("mistakes", mistakes_section),
    ("mistakes", units_section),
    ("bounds", bounds_section),
    ("policies", policies_section),
    ("problems", problems_section),
    ("signature", origin_section),
)

CHARTS: Final[Mapping[str, Callable[[Mapping[str, Any]], Iterable[Drawing]]]] = {
    "budget": gain_charts,
    "cumulated": step_charts,
    "groups": group_charts,
    "sweep": sweep_charts,
    "reliability": reliability_charts,
}
"""The charts of an analysis by kind."""


def analysis_page(document: Mapping[str, Any]) -> Page:
    """The page of one run."""
    title = document.get("run") or f"{document['mode']} predictions"
    sections = [section(document) for key, section in _SECTIONS if document.get(key) is not None]
    return Page(title, f"{document['measure']} {document['score']:.4f}", sections)
