"""Make the HTML pages and charts of documents. A document is a result as JSON, such as an analysis or a comparison;
anybody may have written it, so it is checked first. A slice is the package of a command, such as `analyze`, which may
not be installed; each kind of document belongs to one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from cs_score.base import documents
from cs_score.base.documents import document_record
from cs_score.base.errors import InputError, UsageError, did_you_mean
from cs_score.base.records import convert, to_builtins
from cs_score.base.slices import load_from_command_package
from cs_score.pages.charts import Drawing
from cs_score.pages.page import PageMaker, page_html, page_template
from cs_score.tasks import is_task
from cs_score.verbs import SLICES


def _list_page_makers() -> dict[str, tuple[str, str]]:
    """Return the slice and the class that make the pages of each kind of document.

    An analysis has the slice `analyze` and the class `page:AnalysisPage` (`MODULE:CLASS`).
    """
    maker_by_kind = {}
    for slice_ in SLICES:
        for kind, maker in slice_.pages.items():
            maker_by_kind[kind] = (slice_.folder, maker)
    return maker_by_kind


_PAGE_MAKERS: Final[Mapping[str, tuple[str, str]]] = _list_page_makers()
"""The slices and classes that make pages and charts, by the kind of documents."""

_REMEDY: Final = "analyze, diff and compare with -o FILE.json and batch write what is wanted here"

# ---- Pages and charts


def page_of(document: Any) -> str:
    """Return the page of a document as HTML. Raises MissingExtraError without jinja2."""
    # The document is converted as if it were read from JSON: 0 becomes 0.0 where numbers have fractions.
    as_read = convert(to_builtins(document), type(document))
    return page_html(_page_maker(as_read).page())


def page_maker() -> Callable[[Any], str]:
    """Return the function `page_of`, once everything that pages need is loaded.

    A long job calls this before it begins, and makes its pages at its end. Raises MissingExtraError without jinja2, and
    UsageError if the slice of analyses is not installed.
    """
    page_template()
    load_from_command_package("analyze", "page:AnalysisPage", needed_by="the page of a run")
    return page_of


def chart_of(document: Any, kind: str, name: str | None = None) -> Drawing:
    """Return a chart of a document by its kind, such as `groups`.

    If there are several charts of the kind, `name` chooses one, such as `slot`, by default the first. Raises
    UsageError for an unknown kind or name, InputError if the document has nothing to draw.
    """
    _check_chart_kind(kind)
    drawings = _drawings_of_kind(document, kind)
    if not drawings:
        raise InputError(f"there is nothing for the chart {kind} to show")
    drawing_by_name = {drawing.subject: drawing for drawing in drawings}
    chosen_name = drawings[0].subject if name is None else name
    if chosen_name not in drawing_by_name:
        names = ", ".join(drawing_by_name)
        raise UsageError(f"no chart {kind} of {name}; there are {names}{did_you_mean(chosen_name, drawing_by_name)}")
    return drawing_by_name[chosen_name]


def _check_chart_kind(kind: str) -> None:
    """Raise UsageError if no document has a chart of a kind, such as `groups`."""
    kinds = chart_kinds()
    if kind not in kinds:
        raise UsageError(f"no chart called {kind}; there are {', '.join(kinds)}{did_you_mean(kind, kinds)}")


def _drawings_of_kind(document: Any, kind: str) -> list[Drawing]:
    """Return all charts of a kind, such as a chart of `groups` for slots and one for hops.

    The list is empty if documents of this sort have no such charts.
    """
    maker = _page_maker(document)
    if kind not in maker.CHARTS:
        return []
    make_charts = maker.CHARTS[kind]  # a method of the class of the page maker
    return list(make_charts(maker))


def chart_kinds() -> list[str]:
    """Return the kinds of charts of all documents whose slices are installed."""
    kinds: dict[str, None] = {}
    for folder, maker in _PAGE_MAKERS.values():
        try:
            page_maker_of_kind = load_from_command_package(folder, maker)
        except UsageError:
            continue
        kinds |= dict.fromkeys(page_maker_of_kind.CHARTS)
    return list(kinds)


def _page_maker(document: Any) -> PageMaker:
    """Return the object that makes the page and the charts of a document.

    Raises UsageError if the slice that makes such pages is not installed.
    """
    kind = document.__struct_config__.tag  # such as "analysis"
    folder, maker = _PAGE_MAKERS[kind]
    make_page: type[PageMaker] = load_from_command_package(folder, maker, needed_by="the page")
    return make_page(document)


# ---- Reading documents


def read_document(name: str) -> Any:
    """Read a document that has a page from its file. Raises InputError for anything else."""
    return checked_document(documents.read_document(name), name)


def checked_document(value: object, name: str) -> Any:
    """Return the document in a value read from JSON; messages call its file `name`.

    Raises InputError if the value is no document with a page, or if parts of the document contradict each other.
    """
    if not isinstance(value, dict) or not _has_page(value):
        raise InputError("neither an analysis nor a difference nor a comparison nor a batch", file=name, remedy=_REMEDY)
    document = document_record(value, name)
    for contradiction in _page_maker(document).contradictions():  # the first one is reported
        raise InputError(contradiction.problem, file=name, place=contradiction.place or None, remedy=_REMEDY)
    return document


def _has_page(value: Mapping[str, Any]) -> bool:
    """Return whether a JSON object names a kind of document for which there are pages, and a known task."""
    task = value.get("task")
    is_known_task = is_task(task) or task == "table"
    return is_known_task and value.get("kind") in list(_PAGE_MAKERS)
