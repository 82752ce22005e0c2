"""Base classes of the results and findings that Python programs see: tables by name, text for people, and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from msgspec import UNSET

from cs_score.api.arguments import checked
from cs_score.base.display import one_line
from cs_score.base.documents import failures_as_input_error, json_text
from cs_score.base.errors import InputError, UsageError, did_you_mean
from cs_score.base.records import to_builtins
from cs_score.base.runtime import paused_garbage_collection
from cs_score.tables.layout import Table, frame, html

if TYPE_CHECKING:
    import pandas

WIDTH: Final = 120
"""The width of texts in characters, as commands print them if standard output is no terminal."""

_MOST_ROWS: Final = 25
"""How many rows of a table a notebook shows."""

LONGEST_TEXT: Final = 200
"""How many characters of a text a notebook shows."""

_STYLE: Final = "<style>table.cs-score :is(td:not(.number), th.text) { text-align: left }</style>"

Value = TypeVar("Value")


class Shown:
    """An object with tables by name, text for people (`str`) and one line for programmers (`repr`)."""

    _main_table: ClassVar[str]
    """The name of the main table, which `rows` and `to_frame` return if no name is given."""

    _notebook_table: ClassVar[str] = ""
    """The name of the table that notebooks show. If it is empty, they show the main table."""

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables that `rows` and `to_frame` take."""
        return tuple([table.layout.name for table in self._tables()])

    @checked
    def rows(self, name: str | None = None) -> list[dict[str, Any]]:
        """Return the rows of the table called `name`, or of the main table, as dictionaries by column.

        Raises UsageError if there is no table of this name.
        """
        with paused_garbage_collection():
            return rows_of(self._table(name))

    @checked
    def to_frame(self, name: str | None = None) -> pandas.DataFrame:
        """Return the table called `name`, or the main table, as a pandas data frame.

        Its `attrs` hold the signature or measure by which the numbers can be cited. Texts that repeat are categories,
        numbers that may be missing are `Int64` or NaN. Raises UsageError if there is no table of this name,
        MissingExtraError without pandas (`pip install 'cs-score[frames]'`).
        """
        with paused_garbage_collection():
            data = frame(self._table(name))
        data.attrs |= self._citation_attributes()
        return data

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows: the first rows of a table, and notes below it."""
        table = self._table(self._notebook_table or None)
        caption = repr(self).removeprefix("<").removesuffix(">")
        table_lines = html(table, _MOST_ROWS, caption=caption, max_text_length=LONGEST_TEXT)
        paragraphs = [_html_paragraph(note) for note in self._notes()]
        return _STYLE + "\n".join(table_lines) + "".join(paragraphs)

    def _tables(self) -> Iterable[Table]:
        """Return all tables of the object, in order."""
        raise NotImplementedError

    def _table(self, name: str | None) -> Table:
        """Return the table called `name`, for None the main table. Raises UsageError if no table has this name."""
        table_by_name = {table.layout.name: table for table in self._tables()}
        return self._value_for_table(name, table_by_name)

    def _value_for_table(self, name: str | None, value_by_name: Mapping[str, Value]) -> Value:
        """Return the value for the table called `name`, or for the main table if `name` is None.

        `value_by_name` has a value for each table, such as the table itself. Raises UsageError if there is no table of
        this name.
        """
        if name is None:
            name = self._main_table
        if name not in value_by_name:
            names = ", ".join(value_by_name)
            raise UsageError(f"no table called {name!r}; there are {names}{did_you_mean(str(name), value_by_name)}")
        return value_by_name[name]

    def _citation_attributes(self) -> Mapping[str, object]:
        """Return the attributes by which data frames can be cited, such as the signature, by name."""
        return {}

    def _notes(self) -> Sequence[str]:
        """Return the notes below the table in a notebook: the object's member `notes`, or else its member `remarks`.

        An object with neither has no notes.
        """
        remarks = getattr(self, "remarks", ())
        return getattr(self, "notes", remarks)


def _html_paragraph(text: str) -> str:
    """Return a text, cut if it is long, as a paragraph of HTML: `"a < b"` -> `"<p>a &lt; b</p>"`."""
    short_text = one_line(text, LONGEST_TEXT)
    return f"<p>{escape(short_text)}</p>"


def rows_of(table: Table) -> list[dict[str, Any]]:
    """Return the rows of a table as dictionaries by column, `[{"measure": "SF-AP", "score": 0.41}, ...]`."""
    columns = table.layout.keys
    return [dict(zip(columns, row)) for row in table.rows]


class ShownDocument(Shown):
    """An object that shows the values of a document, the record that a command writes as JSON."""

    _citation_members: ClassVar[tuple[str, ...]] = ()
    """The members of the document that data frames have as attributes."""

    def __init__(self, document: Any) -> None:
        """Make the object that shows the values of `document`, a record that a command can write as JSON."""
        self._document = document

    def to_json(self) -> str:
        """Return the document as JSON, the text that `--format json` prints; `load` reads it."""
        return json_text(self._document)

    def _citation_attributes(self) -> Mapping[str, object]:
        """Return the values by which a data frame can be cited, such as `{"signature": "..."}`, from the document."""
        value_by_member = {}
        for name in self._citation_members:
            value_by_member[name] = to_builtins(getattr(self._document, name))
        return value_by_member


class _Member(property):
    """A property that reads the member of the document that has the same name."""

    def __init__(self, meaning: str, convert: Callable[[Any], Any] | None) -> None:
        """Make a property with the docstring `meaning`.

        `convert` computes the value of the property from the member. If it is None, the value is the member itself.
        The member has the name of the property, which Python tells `__set_name__` later.
        """

        def value_of_member(instance: ShownDocument) -> Any:
            """Return the value of the property for an object. Help shows the property's meaning, set below, instead."""
            value = getattr(instance._document, self._name, None)
            if value is UNSET:
                value = None
            return value if convert is None else convert(value)

        value_of_member.__doc__ = meaning
        super().__init__(value_of_member)
        self._value_of_member = value_of_member  # a function for this property alone; `__set_name__` annotates it

    def __set_name__(self, owner: type, name: str) -> None:
        """Store the name of the property, and use its annotation as the return type shown in the documentation.

        Python calls this when the class `owner`, in which the property is defined, has been made.
        """
        self._name = name
        function = self._value_of_member  # made for this property alone, so that its annotations are not shared
        function.__annotations__["return"] = owner.__annotations__[name]


def member(meaning: str, convert: Callable[[Any], Any] | None = None) -> Any:
    """Return a property that shows the member of the same name of the object's document.

    `meaning` is its docstring. `convert` computes the value from the member, which is None if the document lacks it.
    """
    return _Member(meaning, convert)


def _names_of_members(kind: type) -> list[str]:
    """Return the names of the properties of a class that `member` made."""
    return [name for name in dir(kind) if isinstance(getattr(kind, name), _Member)]


def refuse_incomplete(object_to_check: ShownDocument, file: str) -> None:
    """Raise InputError if the document that was read from `file` lacks a value that its methods need.

    To find out, all members, texts and tables are computed once.
    """
    try:
        with failures_as_input_error(file):  # errors such as KeyError become InputErrors, UsageErrors do not
            _compute_all_values(object_to_check)
    except UsageError as error:  # for example, the signature is a text that cannot be parsed
        raise InputError(str(error), file=file) from None


def _compute_all_values(object_to_check: ShownDocument) -> None:
    """Compute all members, texts and tables of an object, and discard them; a missing value raises some exception."""
    for name in _names_of_members(type(object_to_check)):
        getattr(object_to_check, name)
    repr(object_to_check)
    str(object_to_check)
    object_to_check._repr_html_()
    object_to_check._citation_attributes()
