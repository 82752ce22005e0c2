"""The page of one run, from what `analyze --json` writes, and its charts by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from cs_score.report.charts.drawing import Drawing
from cs_score.report.model import Page, Section, Told
from cs_score.report.sections.budget import budget_section, gain_charts, step_charts
from cs_score.report.sections.confidence import confidence_section, reliability_charts, sweep_charts
from cs_score.report.sections.confusions import confusion_charts, confusions_section
from cs_score.report.sections.groups import group_charts, groups_section
from cs_score.report.sections.headline import headline_section
from cs_score.report.sections.mistakes import mistakes_section
from cs_score.report.sections.origin import origin_section, policies_section, problems_section, scenarios_section
from cs_score.report.sections.told import precision_charts, told_of
from cs_score.report.sections.units import units_section

_Part = Callable[[Mapping[str, Any], Told], Section]


def _plain(section: Callable[[Mapping[str, Any]], Section]) -> _Part:
    return lambda document, told: section(document)


# The order of the page (insight specification 7), each with the key without which there is nothing to show.
_SECTIONS: Final[tuple[tuple[str, _Part], ...]] = (
    ("scores", _plain(headline_section)),
    ("budget", _plain(budget_section)),
    ("groups", _plain(groups_section)),
    ("confusions", _plain(confusions_section)),
    ("reliability", _plain(confidence_section)),
    ("mistakes", mistakes_section),
    ("mistakes", units_section),
    ("scenarios", _plain(scenarios_section)),
    ("policies", _plain(policies_section)),
    ("problems", _plain(problems_section)),
    ("signature", _plain(origin_section)),
)

CHARTS: Final[Mapping[str, Callable[[Mapping[str, Any]], Iterable[Drawing]]]] = {
    "budget": gain_charts,
    "cumulated": step_charts,
    "groups": group_charts,
    "sweep": sweep_charts,
    "reliability": reliability_charts,
    "precision": precision_charts,
    "confusions": confusion_charts,
}
"""The charts of an analysis by kind."""


def analysis_page(document: Mapping[str, Any]) -> Page:
    """The page of one run."""
    title = document.get("run") or f"{document['mode']} predictions"
    told = told_of(document)
    sections = [section(document, told) for key, section in _SECTIONS if document.get(key) is not None]
    return Page(title, f"{document['measure']} {document['score']:.4f}", sections, told)
