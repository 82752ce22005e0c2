"""The documents that pages and charts are made from. They are read with care: anybody may have written them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from cs_score.base import documents
from cs_score.base.documents import document_record
from cs_score.base.errors import InputError, UsageError, nearest
from cs_score.base.records import convert, to_builtins
from cs_score.batch.documents import BatchOverview
from cs_score.report.aggregate import AggregatePage
from cs_score.report.analysis import AnalysisPage
from cs_score.report.batch import BatchPage
from cs_score.report.charts import Drawing
from cs_score.report.difference import ComparisonPage, DifferencePage
from cs_score.report.page import PageMaker, page_html, page_template
from cs_score.tasks import is_task

_PAGE_MAKERS: Final[Mapping[str, type[PageMaker]]] = {
    "analysis": AnalysisPage,
    "difference": DifferencePage,
    "batch": BatchPage,
    "comparison": ComparisonPage,
    "aggregate": AggregatePage,
}
"""The classes that make pages and charts, by the kind of documents."""

CHART_KINDS: Final = tuple(dict.fromkeys([kind for maker in _PAGE_MAKERS.values() for kind in maker.CHARTS]))
"""The kinds of charts of all documents."""

_REMEDY: Final = "analyze, diff and compare with -o FILE.json and batch write what is wanted here"

# ---- Pages and charts


def page_of(document: Any) -> str:
    """Return the page of a document as HTML. Raises MissingExtraError without jinja2."""
    # As it would be read from JSON: 0 becomes 0.0 where numbers have fractions.
    as_read = convert(to_builtins(document), type(document))
    return page_html(_page_maker(as_read).page())


def page_maker() -> Callable[[Any], str]:
    """Return the function that makes pages, for a job that makes them at its end.

    Raises MissingExtraError without jinja2, before the job begins.
    """
    page_template()
    return page_of


def chart_of(document: Any, kind: str, name: str | None = None) -> Drawing:
    """Return the chart of a kind, such as `groups`; `name` chooses among several of the kind, None: the first.

    Raises UsageError for a kind or a name that there is not, InputError if the document has nothing to draw.
    """
    if kind not in CHART_KINDS:
        raise UsageError(f"no chart called {kind}; there are {', '.join(CHART_KINDS)}{nearest(kind, CHART_KINDS)}")
    maker = _page_maker(document)
    drawing_by_name = {}
    if kind in maker.CHARTS:
        for drawing in maker.CHARTS[kind](maker):
            drawing_by_name[drawing.of] = drawing
    if not drawing_by_name:
        raise InputError(f"there is nothing for the chart {kind} to show")
    if name is None:
        return next(iter(drawing_by_name.values()))
    if name not in drawing_by_name:
        names = ", ".join(drawing_by_name)
        raise UsageError(f"no chart {kind} of {name}; there are {names}{nearest(name, drawing_by_name)}")
    return drawing_by_name[name]


def _page_maker(document: Any) -> PageMaker:
    """Return the object that makes the page and the charts of a document."""
    return _PAGE_MAKERS[document.__struct_config__.tag](document)


# ---- Reading documents


def read_document(name: str) -> Any:
    """Read a document that has a page from its file. Raises InputError for anything else."""
    return checked(documents.read_document(name), name)


def checked(value: object, name: str) -> Any:
    """Return the document that JSON holds, if it has a page; messages call its file `name`.

    Raises InputError for anything else, and for a document whose parts contradict each other.
    """
    if not isinstance(value, dict) or not _has_page(value):
        raise InputError("neither an analysis nor a difference nor a comparison nor a batch", file=name, remedy=_REMEDY)
    document = document_record(value, name)
    if value["kind"] == "batch":
        contradictions = _contradictions_of_batch(document)
    else:
        contradictions = _missing_texts(value.get("explanations", {}))
    for contradiction in contradictions:
        raise InputError(contradiction.problem, file=name, place=contradiction.place or None, remedy=_REMEDY)
    return document


def _has_page(value: Mapping[str, Any]) -> bool:
    """Return whether a JSON object names a kind of document for which there are pages, and a known task."""
    task = value.get("task")
    is_known_task = is_task(task) or task == "table"
    return is_known_task and value.get("kind") in list(_PAGE_MAKERS)


class _Contradiction(NamedTuple):
    """A place of a document that contradicts another one, which no schema can say; empty for the whole."""

    place: str
    problem: str


def _missing_texts(explanations: Mapping[str, Any]) -> Iterator[_Contradiction]:
    """Yield the entries of explanations with steps whose text there is not."""
    for kind in ("lines", "queries", "classes", "units"):
        for position, entry in enumerate(explanations.get(kind, ())):
            number = max(entry["steps"], default=-1)
            if number >= len(explanations["texts"]):
                yield _Contradiction(f"/explanations/{kind}/{position}/steps", f"there is no text {number}")


def _contradictions_of_batch(batch: BatchOverview) -> Iterator[_Contradiction]:
    """Yield the places of a batch that do not fit its runs or its policies."""
    yield from _lists_of_wrong_length(batch)
    positions: list[int] = []
    for agreement in batch.agreement:
        for pair in agreement.pairs:
            positions += [pair.a, pair.b]
    for ranking in batch.stability.first:
        positions += ranking.runs
    last_position = max(positions, default=-1)
    if last_position >= len(batch.runs):
        yield _Contradiction("", f"there is no run {last_position}")
    for member in ("leaderboard", "queries", "answers", "agreement"):
        for position, row in enumerate(getattr(batch, member)):
            if row.policy not in batch.policies:
                yield _Contradiction(f"/{member}/{position}/policy", "is no policy of the batch")
    if not batch.policies or not all(row.found_by for row in batch.answers):
        yield _Contradiction("", "there are no policies, or no numbers of runs")


def _lists_of_wrong_length(batch: BatchOverview) -> Iterator[_Contradiction]:
    """Yield the lists of a batch that should have an entry for each run, but have another number."""
    run_count = len(batch.runs)
    problem = f"must have an entry for each of {run_count} runs"
    for position, unit in enumerate(batch.queries):
        if len(unit.scores) != run_count:
            yield _Contradiction(f"/queries/{position}/scores", problem)
    for position, difficulty in enumerate(batch.answers):
        if len(difficulty.only) != run_count:
            yield _Contradiction(f"/answers/{position}/only", problem)
    for position, ranking in enumerate(batch.stability.first):
        if len(ranking.shares) != run_count:
            yield _Contradiction(f"/stability/first/{position}/shares", problem)
