"""What results and findings from Python have in common: tables by name, text for people, and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from msgspec import UNSET

from cs_score.api.arguments import checked
from cs_score.base.display import one_line
from cs_score.base.documents import failures_as_input_error, json_text
from cs_score.base.errors import InputError, UsageError, nearest
from cs_score.base.records import to_builtins
from cs_score.base.runtime import paused_collector
from cs_score.tables.layout import Table, frame, html

if TYPE_CHECKING:
    import pandas

WIDTH: Final = 120
"""Columns of texts, as commands print them where there is no terminal."""

_MOST_ROWS: Final = 25
"""Rows of a table that a notebook shows."""

LONGEST_TEXT: Final = 200
"""Characters of a text that a notebook shows."""

_STYLE: Final = "<style>table.cs-score :is(td:not(.number), th.text) { text-align: left }</style>"

Value = TypeVar("Value")


class Shown:
    """An object with tables by name, text for people (`str`) and one line for programmers (`repr`)."""

    _default: ClassVar[str]
    """The table that `rows` and `to_frame` take."""

    _in_notebooks: ClassVar[str] = ""
    """The table that notebooks show, if it is another."""

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of its tables."""
        return tuple([table.layout.name for table in self._tables()])

    @checked
    def rows(self, name: str | None = None) -> list[dict[str, Any]]:
        """Return the rows of a table by the keys of its columns; None: of the main one.

        Raises UsageError for a name that there is not.
        """
        with paused_collector():
            return rows_of(self._table(name))

    @checked
    def to_frame(self, name: str | None = None) -> pandas.DataFrame:
        """Return a table as a pandas data frame, None: the main one; its `attrs` hold what cites it.

        Texts that repeat are categories, numbers that may be missing are `Int64` or NaN. Raises UsageError as `rows`,
        MissingExtraError without pandas (`pip install 'cs-score[frames]'`).
        """
        with paused_collector():
            data = frame(self._table(name))
        data.attrs |= self._attrs()
        return data

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows: the beginning of a table, and notes below it."""
        table = self._table(self._in_notebooks or None)
        caption = repr(self).removeprefix("<").removesuffix(">")
        lines = html(table, _MOST_ROWS, caption=caption, longest=LONGEST_TEXT)
        notes = [f"<p>{escape(one_line(note, LONGEST_TEXT))}</p>" for note in self._notes()]
        return _STYLE + "\n".join(lines) + "".join(notes)

    def _tables(self) -> Iterable[Table]:
        """Return all tables."""
        raise NotImplementedError

    def _table(self, name: str | None) -> Table:
        """Return the table of a name; None: the main one. Raises UsageError for a name that there is not."""
        table_by_name = {table.layout.name: table for table in self._tables()}
        return self._choose(name, table_by_name)

    def _choose(self, name: str | None, value_by_name: Mapping[str, Value]) -> Value:
        """Return the value that belongs to the name of a table; None: to the main one. Raises UsageError."""
        if name is None:
            name = self._default
        if name not in value_by_name:
            names = ", ".join(value_by_name)
            raise UsageError(f"no table called {name!r}; there are {names}{nearest(str(name), value_by_name)}")
        return value_by_name[name]

    def _attrs(self) -> Mapping[str, object]:
        """Return the attributes of data frames, by which they can be cited."""
        return {}

    def _notes(self) -> Sequence[str]:
        """Return the notes that notebooks show below the table."""
        return getattr(self, "notes", getattr(self, "remarks", ()))


def rows_of(table: Table) -> list[dict[str, Any]]:
    """Return the rows of a table by the keys of its columns."""
    return [dict(zip(table.layout.keys, row)) for row in table.rows]


class Document(Shown):
    """An object whose values are those of a document: of the JSON that a command writes."""

    _cited: ClassVar[tuple[str, ...]] = ()
    """Members of the document that go with its frames."""

    def __init__(self, document: Any) -> None:
        """Show the values of `document`, a record of the library."""
        self._document = document

    def to_json(self) -> str:
        """Return the document as JSON, the text that `--format json` prints; `load` reads it."""
        return json_text(self._document)

    def _attrs(self) -> Mapping[str, object]:
        return {name: to_builtins(getattr(self._document, name)) for name in self._cited}


class _Member(property):
    """A property that reads the member of the document that has the same name."""

    def __init__(self, meaning: str, convert: Callable[[Any], Any] | None) -> None:
        """Document the property by `meaning`; `convert` makes its value from the member, None: the member itself."""

        def read(shown: Document) -> Any:
            value = getattr(shown._document, self._name, None)
            if value is UNSET:
                value = None
            return value if convert is None else convert(value)

        read.__doc__ = meaning
        super().__init__(read)
        self._read = read

    def __set_name__(self, owner: type, name: str) -> None:
        """Note the name of the property; its type, which documentation shows, is that of the annotation."""
        self._name = name
        self._read.__annotations__["return"] = owner.__annotations__[name]


def member(meaning: str, convert: Callable[[Any], Any] | None = None) -> Any:
    """Return a property for a class of documents: the member of the document with the name of the property.

    `meaning` is its documentation. `convert` makes the value from the member, which is None if the document lacks it.
    """
    return _Member(meaning, convert)


def refuse_incomplete(shown: Document, file: str) -> None:
    """Raise InputError if the document that was read from `file` lacks something that may be asked of it later.

    All members, texts and tables are made once to find out.
    """
    try:
        with failures_as_input_error(file):
            for name in dir(type(shown)):
                if isinstance(getattr(type(shown), name), _Member):
                    getattr(shown, name)
            repr(shown)
            str(shown)
            shown._repr_html_()
            shown._attrs()
    except UsageError as error:  # such as a text in the place of a signature that is none
        raise InputError(str(error), file=file) from None
