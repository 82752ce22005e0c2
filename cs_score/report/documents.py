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
from cs_score.report.sections.analysis import CHARTS, KEYS, analysis_page

Document = Mapping[str, Any]

_REMEDY: Final = "cs-score analyze ... --json FILE writes what is wanted here"


def read_document(name: str) -> Document:
    """An analysis from its file. Raises InputError for anything else."""
    with open_source(name) as source:
        data = source.binary.read()
    try:
        value = json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        reason = "too deep" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"not JSON: {reason}", file=name, remedy=_REMEDY) from None
    return _checked(value, name)


def document_of(value: Mapping[str, object]) -> Document:
    """An analysis as it would be read from its file, so that a page has the same bytes either way."""
    return _checked(json.loads(json.dumps(value)), "analysis")


def page_of(document: Document) -> str:
    """The page as HTML. Raises MissingExtraError without jinja2."""
    return html(analysis_page(document))


def chart_of(document: Document, kind: str, name: str | None = None) -> Drawing:
    """The chart of a kind; of several that called `name`, such as the dimension of groups, else the first.

    Raises UsageError for a kind or a name that there is not, InputError where there is nothing to draw.
    """
    if kind not in CHARTS:
        raise UsageError(f"no chart called {kind}; there are {', '.join(CHARTS)}{nearest(kind, CHARTS)}")
    key = KEYS[kind]
    drawings = {drawing.of: drawing for drawing in CHARTS[kind](document)} if document.get(key) is not None else {}
    if not drawings:
        raise InputError(f"the analysis has nothing for the chart {kind} to show (its key is {key})")
    if name is None:
        return next(iter(drawings.values()))
    if name not in drawings:
        raise UsageError(f"no chart {kind} of {name}; there are {', '.join(drawings)}{nearest(name, drawings)}")
    return drawings[name]


def _checked(value: object, name: str) -> Document:
    if not isinstance(value, dict) or "mistakes" not in value or value.get("mode") not in [*MEASURES]:
        raise InputError("not an analysis", file=name, remedy=_REMEDY)
    kind = "coldstart" if value["mode"] == COLD_START_MODE else "evidence"
    fault = first_fault(value, schema_named(f"analysis-{kind}"))
    if fault is not None:
        raise InputError(fault.problem, file=name, place=fault.place or None, remedy=_REMEDY)
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")
