"""Values and lines that differ between a recorded result and the computed one. A value is called by its place in
the JSON, such as `runs[TIDE_KB].scores.SF-AP`, a cell of a table by its line and column, such as `line 3, SF-F1`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from cs_score.base.documents import Json, member_place
from cs_score.base.records import Record

_NAMING_MEMBERS: Final = ("run_id", "query", "row", "system", "run", "code", "role")
"""The members that may distinguish the entries of an array, in the order in which they are tried."""

_LONGEST_VALUE: Final = 80
"""How many characters of a value a message shows."""

_KEPT_SHARED_CHARACTERS: Final = 30
"""How many equal characters a message shows before the place where two texts differ."""


class ValueDifference(Record):
    """A value that differs: its name, such as `runs[TIDE_KB].scores.SF-AP`, as recorded and as computed."""

    name: str
    recorded: str
    computed: str

    def __str__(self) -> str:
        return f"{self.name}: recorded {self.recorded}, computed {self.computed}"


# ---- JSON


def differences(recorded: Json, computed: Json, place: str = "") -> Iterator[ValueDifference]:
    """Yield the values that differ between two JSON values, at any depth, in the order of the computed one.

    `place` is the place of the values in the whole document, such as `runs[TIDE_KB].scores`.
    """
    if isinstance(recorded, dict) and isinstance(computed, dict):
        yield from _object_differences(recorded, computed, place)
    elif isinstance(recorded, list) and isinstance(computed, list):
        yield from _array_differences(recorded, computed, place)
    elif not _is_same(recorded, computed):
        yield ValueDifference(place or "the whole", value_text(recorded), value_text(computed))


def _is_same(recorded: Json, computed: Json) -> bool:
    """Return whether two JSON values are the same. A boolean is no number, although True equals 1 in Python."""
    is_one_boolean = isinstance(recorded, bool) != isinstance(computed, bool)
    return recorded == computed and not is_one_boolean


def _object_differences(
    recorded: Mapping[str, Json], computed: Mapping[str, Json], place: str
) -> Iterator[ValueDifference]:
    """Yield the values that differ between two JSON objects at a `place`, also for members of only one."""
    for key, computed_value in computed.items():
        place_of_member = member_place(place, key)
        if key in recorded:
            yield from differences(recorded[key], computed_value, place_of_member)
        else:
            yield ValueDifference(place_of_member, "nothing", value_text(computed_value))
    for key, recorded_value in recorded.items():
        if key not in computed:
            yield ValueDifference(member_place(place, key), value_text(recorded_value), "nothing")


def _array_differences(recorded: Sequence[Json], computed: Sequence[Json], place: str) -> Iterator[ValueDifference]:
    """Yield the values that differ between two JSON arrays at a `place`, or only their lengths if these differ."""
    recorded_count = len(recorded)
    computed_count = len(computed)
    if recorded_count != computed_count:
        yield ValueDifference(f"the number of entries of {place}", str(recorded_count), str(computed_count))
        return
    # Messages identify entries by name, such as a run id. If the names themselves differ, this is found as a
    # difference.
    for label, recorded_entry, computed_entry in zip(_labels(computed), recorded, computed):
        yield from differences(recorded_entry, computed_entry, f"{place}[{label}]")


def _labels(entries: Sequence[Json]) -> list[str]:
    """Return a label for each entry of an array, by which messages call it.

    The label is the name of the entry if all entries have distinct names, and its position otherwise:
    `[{"run_id": "a"}, {"run_id": "b"}]` gives `["a", "b"]`, and `[0.5, 0.7]` gives `["0", "1"]`.
    """
    for member in _NAMING_MEMBERS:
        names = _texts_of_member(entries, member)
        if len(set(names)) == len(entries):
            return names
    return [str(position) for position in range(len(entries))]


def _texts_of_member(entries: Iterable[Json], member: str) -> list[str]:
    """Return the texts that the entries of an array have as a member: `[{"run": "a"}, {"run": 1}, 2]` gives `["a"]`.

    Entries that are no objects, and those whose member is missing or no text, are left out.
    """
    texts = []
    for entry in entries:
        value = entry.get(member) if isinstance(entry, dict) else None
        if isinstance(value, str):
            texts.append(value)
    return texts


def count_numbers(value: Json) -> int:
    """Return how many numbers a JSON value holds, at any depth."""
    if isinstance(value, dict):
        return sum([count_numbers(member) for member in value.values()])
    if isinstance(value, list):
        return sum([count_numbers(entry) for entry in value])
    if isinstance(value, bool):  # a boolean is an `int`, too
        return 0
    return 1 if isinstance(value, (int, float)) else 0


def value_text(value: Json) -> str:
    """Return the text of a JSON value for a message.

    Numbers have full precision, long texts are cut, objects and arrays are described by their size.
    """
    if isinstance(value, dict):
        return f"an object of {len(value)}"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    if len(text) > _LONGEST_VALUE:
        return f"{text[:_LONGEST_VALUE]}..."
    return text


# ---- Tables


def table_differences(recorded: str, computed: str) -> Iterator[ValueDifference]:
    """Yield the differences between two texts, line by line, or cell by cell if both lines have a cell for each column.

    The first line of the computed text names the columns. A cell is called `line 3, SF-F1`. If the texts have not the
    same number of lines, only these numbers are compared.
    """
    recorded_lines = recorded.split("\n")
    computed_lines = computed.split("\n")
    if len(recorded_lines) != len(computed_lines):
        # The text after the last line feed is empty, and is no line.
        yield ValueDifference("the number of lines", str(len(recorded_lines) - 1), str(len(computed_lines) - 1))
        return
    column_names = computed_lines[0].split("\t")
    for number, (recorded_line, computed_line) in enumerate(zip(recorded_lines, computed_lines), start=1):
        yield from _line_differences(f"line {number}", _TextPair(recorded_line, computed_line), column_names)


def _line_differences(name: str, line_pair: _TextPair, column_names: Sequence[str]) -> Iterator[ValueDifference]:
    """Yield the differences between a recorded and a computed line of a table; the line's `name` is like `"line 3"`.

    If both lines have a cell for each of several columns, they are compared cell by cell. Otherwise, they are compared
    as a whole.
    """
    if line_pair.recorded == line_pair.computed:
        return
    recorded_cells = line_pair.recorded.split("\t")
    computed_cells = line_pair.computed.split("\t")
    has_same_columns = len(recorded_cells) == len(computed_cells) == len(column_names)
    if len(column_names) == 1 or not has_same_columns:
        yield _text_difference(name, line_pair)
        return
    for column, recorded_cell, computed_cell in zip(column_names, recorded_cells, computed_cells):
        if recorded_cell != computed_cell:
            yield _text_difference(f"{name}, {column}", _TextPair(recorded_cell, computed_cell))


class _TextPair(NamedTuple):
    """A text as recorded and as computed."""

    recorded: str
    computed: str


def _text_difference(name: str, texts: _TextPair) -> ValueDifference:
    """Return the difference between two texts, each shown from a few characters before the place where they differ."""
    cut = _cut_common_beginning(texts)
    return ValueDifference(name, value_text(cut.recorded), value_text(cut.computed))


def _cut_common_beginning(texts: _TextPair) -> _TextPair:
    """Return two texts without most of the beginning that they share, if it is long: `"...words, and the rest"`."""
    shared_length = 0
    for recorded_character, computed_character in zip(texts.recorded, texts.computed):
        if recorded_character != computed_character:
            break
        shared_length += 1
    start = shared_length - _KEPT_SHARED_CHARACTERS
    if start <= 0:
        return texts
    return _TextPair(f"...{texts.recorded[start:]}", f"...{texts.computed[start:]}")
