"""The JSON that pages and charts are made from, read with care: it may come from anybody."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from cs_score.base import documents
from cs_score.base.documents import document_record
from cs_score.base.errors import InputError, UsageError, nearest
from cs_score.base.records import convert, to_builtins
from cs_score.batch.documents import Overview
from cs_score.report.aggregate import AggregatePage
from cs_score.report.analysis import AnalysisPage
from cs_score.report.batch import BatchPage
from cs_score.report.charts import Drawing
from cs_score.report.difference import ComparisonPage, DifferencePage
from cs_score.report.page import PageMaker, page_html, page_template
from cs_score.tasks import is_task

_PAGES: Final[Mapping[str, type[PageMaker]]] = {
    "analysis": AnalysisPage,
    "difference": DifferencePage,
    "batch": BatchPage,
    "comparison": ComparisonPage,
    "aggregate": AggregatePage,
}
"""What makes a page of each kind of documents, and its charts."""

CHART_KINDS: Final = tuple(dict.fromkeys(chart for page in _PAGES.values() for chart in page.CHARTS))
"""Kinds of charts, of one run, of two and of many."""

_REMEDY: Final = "analyze, diff and compare with -o FILE.json and batch write what is wanted here"


def read_document(name: str) -> Any:
    """An analysis, a difference or what a batch says, from its file. Raises InputError for anything else."""
    return checked(documents.read_document(name), name)


def page_of(document: Any) -> str:
    """The page as HTML. Raises MissingExtraError without jinja2."""
    as_read = convert(to_builtins(document), type(document))  # 0 is 0.0 where numbers have fractions
    return page_html(_page(as_read).page())


def page_maker() -> Callable[[Any], str]:
    """What makes pages, for a job that makes some at its end. Raises MissingExtraError without jinja2, at once."""
    page_template()
    return page_of


def _page(document: Any) -> PageMaker:
    return _PAGES[document.__struct_config__.tag](document)


def chart_of(document: Any, kind: str, name: str | None = None) -> Drawing:
    """The chart of a kind; of several that called `name`, such as the dimension of groups, else the first.

    Raises UsageError for a kind or a name that there is not, InputError where there is nothing to draw.
    """
    if kind not in CHART_KINDS:
        raise UsageError(f"no chart called {kind}; there are {', '.join(CHART_KINDS)}{nearest(kind, CHART_KINDS)}")
    page = _page(document)
    drawings = {drawing.of: drawing for drawing in page.CHARTS[kind](page)} if kind in page.CHARTS else {}
    if not drawings:
        raise InputError(f"there is nothing for the chart {kind} to show")
    if name is None:
        return next(iter(drawings.values()))
    if name not in drawings:
        raise UsageError(f"no chart {kind} of {name}; there are {', '.join(drawings)}{nearest(name, drawings)}")
    return drawings[name]


def checked(value: object, name: str) -> Any:
    """The document that JSON from a file of that name holds. Raises InputError for anything but what a page shows."""
    kind = value.get("kind") if isinstance(value, dict) else None
    task = value.get("task") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not (is_task(task) or task == "table") or kind not in (*_PAGES,):
        raise InputError("neither an analysis nor a difference nor a comparison nor a batch", file=name, remedy=_REMEDY)
    document = document_record(value, name)
    for place, problem in _misplaced(document) if kind == "batch" else _misnumbered(value.get("explanations", {})):
        raise InputError(problem, file=name, place=place or None, remedy=_REMEDY)
    return document


def _misnumbered(explanations: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Numbers of texts that there are not, which no schema can say."""
    for kind in ("lines", "queries", "classes", "units"):
        for at, each in enumerate(explanations.get(kind, ())):
            number = max(each["steps"], default=-1)
            if number >= len(explanations["texts"]):
                yield (f"/explanations/{kind}/{at}/steps", f"there is no text {number}")


def _misplaced(batch: Overview) -> Iterator[tuple[str, str]]:
    """Places of runs, and lists by run, that do not fit the runs, which no schema can say."""
    size, policies = len(batch.runs), batch.policies
    for key, by_run in {"queries": "scores", "answers": "only"}.items():
        for at, row in enumerate(getattr(batch, key)):
            if len(getattr(row, by_run)) != size:
                yield (f"/{key}/{at}/{by_run}", f"must have an entry for each of {size} runs")
    for at, first in enumerate(batch.stability.first):
        if len(first.shares) != size:
            yield (f"/stability/first/{at}/shares", f"must have an entry for each of {size} runs")
    places = [getattr(pair, side) for row in batch.agreement for pair in row.pairs for side in ("a", "b")]
    places += [place for row in batch.stability.first for place in row.runs]
    if max(places, default=-1) >= size:
        yield ("", f"there is no run {max(places)}")
    for key in ("leaderboard", "queries", "answers", "agreement"):
        for at, row in enumerate(getattr(batch, key)):
            if row.policy not in policies:
                yield (f"/{key}/{at}/policy", "is no policy of the batch")
    if not policies or not all(row.found_by for row in batch.answers):
        yield ("", "there are no policies, or no numbers of runs")
