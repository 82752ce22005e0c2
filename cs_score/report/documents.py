"""The JSON that pages and charts are made from, read with care: it may come from anybody."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from cs_score.foundation.errors import InputError, UsageError
from cs_score.foundation.nearest import nearest
from cs_score.foundation.sources import open_source
from cs_score.measures.registry import COLD_START_MODE, MEASURES
from cs_score.report.charts.drawing import Drawing
from cs_score.report.rendering.html import html
from cs_score.report.schema import first_fault, schema_named
from cs_score.report.sections.analysis import CHARTS, analysis_page
from cs_score.report.sections.difference import contribution_charts, difference_group_charts, difference_page

Document = Mapping[str, Any]

DIFFERENCE_CHARTS: Final = {"contributions": contribution_charts, "groups": difference_group_charts}
CHART_KINDS: Final = tuple(dict.fromkeys((*CHARTS, *DIFFERENCE_CHARTS)))
"""Kinds of charts, of one run and of two."""

_REMEDY: Final = "analyze --json FILE and diff --json FILE write what is wanted here"


def read_document(name: str) -> Document:
    """An analysis or a difference from its file. Raises InputError for anything else."""
    with open_source(name) as source:
        data = source.binary.read()
    try:
        value = json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        reason = "too deep" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"not JSON: {reason}", file=name, remedy=_REMEDY) from None
    return checked(value, name)


def document_of(value: Mapping[str, object]) -> Document:
    """An analysis as it would be read from its file, so that a page has the same bytes either way."""
    return checked(json.loads(json.dumps(value)), "analysis")


def page_of(document: Document) -> str:
    """The page as HTML. Raises MissingExtraError without jinja2."""
    return html(difference_page(document) if _is_difference(document) else analysis_page(document))


def chart_of(document: Document, kind: str, name: str | None = None) -> Drawing:
    """The chart of a kind; of several that called `name`, such as the dimension of groups, else the first.

    Raises UsageError for a kind or a name that there is not, InputError where there is nothing to draw.
    """
    if kind not in CHART_KINDS:
        raise UsageError(f"no chart called {kind}; there are {', '.join(CHART_KINDS)}{nearest(kind, CHART_KINDS)}")
    charts = DIFFERENCE_CHARTS if _is_difference(document) else CHARTS
    drawings = {drawing.of: drawing for drawing in charts[kind](document)} if kind in charts else {}
    if not drawings:
        raise InputError(f"there is nothing for the chart {kind} to show")
    if name is None:
        return next(iter(drawings.values()))
    if name not in drawings:
        raise UsageError(f"no chart {kind} of {name}; there are {', '.join(drawings)}{nearest(name, drawings)}")
    return drawings[name]


def checked(value: object, name: str) -> Document:
    """What JSON from a file of that name holds. Raises InputError where it is no analysis and no difference."""
    if not isinstance(value, dict) or value.get("mode") not in [*MEASURES] or not {"mistakes", "answers"} & set(value):
        raise InputError("neither an analysis nor a difference", file=name, remedy=_REMEDY)
    kind = "coldstart" if value["mode"] == COLD_START_MODE else "evidence"
    fault = first_fault(value, schema_named(f"{'diff' if _is_difference(value) else 'analysis'}-{kind}"))
    if fault is not None:
        raise InputError(fault.problem, file=name, place=fault.place or None, remedy=_REMEDY)
    _check_numbers(value.get("explanations", {}), name)
    return value


def _check_numbers(explanations: Mapping[str, Any], name: str) -> None:
    """Raises InputError for the number of a text that there is not, which no schema can say."""
    for kind in ("lines", "queries", "classes", "units"):
        for at, each in enumerate(explanations.get(kind, ())):
            number = max(each["steps"], default=-1)
            if number >= len(explanations["texts"]):
                place = f"/explanations/{kind}/{at}/steps"
                raise InputError(f"there is no text {number}", file=name, place=place, remedy=_REMEDY)


def _is_difference(value: Mapping[str, object]) -> bool:
    return "mistakes" not in value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
