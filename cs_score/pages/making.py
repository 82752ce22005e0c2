"""Make the HTML pages and charts of documents. A document is a result as JSON, such as an analysis or a comparison;
anybody may have written it, so it is checked first. A slice is the package of a command, such as `analyze`, which may
not be installed; each kind of document belongs to one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from cs_score.base import documents
from cs_score.base.documents import document_record
from cs_score.base.errors import InputError, UsageError, did_you_mean
from cs_score.base.records import convert, to_builtins
from cs_score.base.slices import load_from_command_package
from cs_score.pages.charts import Drawing
from cs_score.pages.page import PageMaker, page_html, page_template
from cs_score.tasks import is_task
from cs_score.verbs import SLICES


class _MakerName(NamedTuple):
    """The folder of a slice, such as "analyze", and the class in it that makes pages, such as "page:AnalysisPage"."""

    slice_folder: str
    class_name: str


def _list_maker_names() -> dict[str, _MakerName]:
    """Return the names of the classes that make pages, by the kind of document: "analysis", "comparison" ..."""
    maker_name_by_kind = {}
    for slice_ in SLICES:
        for kind, class_name in slice_.pages.items():
            maker_name_by_kind[kind] = _MakerName(slice_.folder, class_name)
    return maker_name_by_kind


_MAKER_NAME_BY_KIND: Final[Mapping[str, _MakerName]] = _list_maker_names()
"""The names of the classes that make pages and charts, by the kind of document."""

_REMEDY: Final = "analyze, diff and compare with -o FILE.json and batch write what is wanted here"

# ---- Pages and charts


def page_of(document: Any) -> str:
    """Return the page of a document as HTML. Raises MissingExtraError without jinja2."""
    # The document is converted as if it were read from JSON: 0 becomes 0.0 where numbers have fractions.
    as_read = convert(to_builtins(document), type(document))
    return page_html(_page_maker(as_read).page())


def page_maker() -> Callable[[Any], str]:
    """Return the function `page_of` after loading everything that pages need.

    A long job calls this function before it starts, so that missing packages are reported early, and makes its pages at
    the end. Raises MissingExtraError if jinja2 is not installed, and UsageError if the slice of analyses is not
    installed.
    """
    # Both calls raise an error if something is not installed. Their results are loaded again when they are needed.
    page_template()
    load_from_command_package("analyze", "page:AnalysisPage", needed_by="the page of a run")
    return page_of


def chart_of(document: Any, kind: str, name: str | None = None) -> Drawing:
    """Return a chart of a document by its kind, such as `groups`.

    If there are several charts of the kind, `name` chooses one by its subject, such as `slot`; the default is the
    first. Raises UsageError if the kind or the name is unknown, and InputError if the document contains no data for the
    chart.
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
    """Return all charts of a kind. The kind `groups` has a chart for each dimension: one for slots, one for hops ...

    The list is empty if documents of this type, such as batches, do not have charts of this kind.
    """
    maker = _page_maker(document)
    if kind not in maker.CHARTS:
        return []
    make_charts = maker.CHARTS[kind]  # a method of the class of the page maker
    return list(make_charts(maker))


def chart_kinds() -> list[str]:
    """Return the kinds of charts of all types of documents whose slices are installed."""
    kinds: dict[str, None] = {}  # a dictionary keeps the order, which a set does not
    for name in _MAKER_NAME_BY_KIND.values():
        try:
            maker_class = load_from_command_package(name.slice_folder, name.class_name)
        except UsageError:  # the slice is not installed
            continue
        kinds |= dict.fromkeys(maker_class.CHARTS)
    return list(kinds)


def _page_maker(document: Any) -> PageMaker:
    """Return the object that makes the page and the charts of a document.

    Raises UsageError if the slice that makes such pages is not installed.
    """
    kind = document.__struct_config__.tag  # such as "analysis"
    name = _MAKER_NAME_BY_KIND[kind]
    maker_class: type[PageMaker] = load_from_command_package(name.slice_folder, name.class_name, needed_by="the page")
    return maker_class(document)


# ---- Reading documents


def read_document(name: str) -> Any:
    """Read a document that has a page from its file. Raises InputError for anything else."""
    return checked_document(documents.read_document(name), name)


def checked_document(value: object, name: str) -> Any:
    """Return the document in a value read from JSON; messages call its file `name`.

    Raises InputError if the value is not a document that has a page, or if parts of the document contradict each other.
    """
    if not isinstance(value, dict) or not _has_page(value):
        raise InputError("neither an analysis nor a difference nor a comparison nor a batch", file=name, remedy=_REMEDY)
    document = document_record(value, name)
    for contradiction in _page_maker(document).contradictions():  # only the first one, if any, is reported
        raise InputError(contradiction.problem, file=name, place=contradiction.place or None, remedy=_REMEDY)
    return document


def _has_page(value: Mapping[str, Any]) -> bool:
    """Return whether a JSON object names a kind of document for which there are pages, and a known task."""
    task = value.get("task")
    is_known_task = is_task(task) or task == "table"
    # A value in JSON may be a list, which is not hashable and so cannot be looked up in a dictionary. A list can be
    # searched for it.
    return is_known_task and value.get("kind") in list(_MAKER_NAME_BY_KIND)
