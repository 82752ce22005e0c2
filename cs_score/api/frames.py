"""Records as a pandas data frame, which the extra `frames` brings.

Values are packed column by column as they come, so that a frame of a million rows needs little beside itself: texts
that repeat become categories, numbers arrays.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import nan
from typing import TYPE_CHECKING, Any, Final, Protocol

from cs_score.api.kinds import Values
from cs_score.base.errors import MissingExtraError

if TYPE_CHECKING:
    import pandas

_CHUNK: Final = 10_000

_DISTINCT: Final = frozenset({"name", "node", "value", "message", "id"})
"""Columns of texts most of which stand there once."""


class _Column(Protocol):
    """A column that grows."""

    def extend(self, values: Iterable[Any]) -> None:
        """Add values behind those that are there."""

    def packed(self) -> object:
        """What pandas makes a column of."""


class _Texts:
    """Texts that repeat, or None, as categories in the order in which they were met."""

    def __init__(self) -> None:
        self._codes = array("i")
        self._code_of: dict[str | None, int] = {None: -1}

    def extend(self, values: Iterable[str | None]) -> None:
        code_of = self._code_of
        for value in values:
            code = code_of.get(value)
            if code is None:
                code = code_of[value] = len(code_of) - 1
            self._codes.append(code)

    def packed(self) -> object:
        import numpy as np
        import pandas

        del self._code_of[None]
        codes = np.frombuffer(self._codes, dtype=np.int32) if self._codes else np.zeros(0, np.int32)
        return pandas.Categorical.from_codes(codes, pandas.Index(list(self._code_of), dtype=object))


class _Objects:
    """Values as they are."""

    def __init__(self) -> None:
        self._values: list[object] = []

    def extend(self, values: Iterable[object]) -> None:
        self._values.extend(values)

    def packed(self) -> object:
        import pandas

        return pandas.Series(self._values, dtype=object)


class _Floats:
    """Numbers, or None, which becomes NaN."""

    def __init__(self) -> None:
        self._values = array("d")

    def extend(self, values: Iterable[float | None]) -> None:
        self._values.extend(nan if value is None else value for value in values)

    def packed(self) -> object:
        import numpy as np

        return np.frombuffer(self._values) if self._values else np.zeros(0)


class _Integers:
    """Whole numbers, or None where they may be missing, which becomes pandas' NA."""

    def __init__(self, may_be_missing: bool) -> None:
        self._may_be_missing = may_be_missing
        self._values = array("q")
        self._missing = bytearray()

    def extend(self, values: Iterable[int | None]) -> None:
        for value in values:
            self._values.append(0 if value is None else value)
            self._missing.append(value is None)

    def packed(self) -> object:
        import numpy as np
        import pandas

        numbers = np.frombuffer(self._values, np.int64) if self._values else np.zeros(0, np.int64)
        if not self._may_be_missing:
            return numbers
        missing = np.frombuffer(self._missing, np.bool_) if self._missing else np.zeros(0, np.bool_)
        return pandas.arrays.IntegerArray(numbers, missing)


def _column(name: str, annotation: str) -> _Column:
    """An empty column for the values of a field."""
    kinds = {*annotation.split(" | ")}
    may_be_missing = "None" in kinds
    kinds -= {"None"}
    if kinds == {"float"}:
        return _Floats()
    if kinds == {"int"}:
        return _Integers(may_be_missing)
    return _Texts() if kinds == {"str"} and name not in _DISTINCT else _Objects()


def frame_of_rows(rows: Sequence[Mapping[str, object]], attrs: Mapping[str, object]) -> pandas.DataFrame:
    """Rows of any keys as a frame with these `attrs`. Raises MissingExtraError without pandas."""
    try:
        import pandas
    except ModuleNotFoundError:
        raise MissingExtraError("pandas", "frames") from None
    frame = pandas.DataFrame(list(rows))
    frame.attrs |= attrs
    return frame


def frame_of(fields: Mapping[str, str], values: Iterator[Values], attrs: Mapping[str, object]) -> pandas.DataFrame:
    """The records with these values as a frame with these `attrs`; `fields` are their names with their annotations.

    Raises MissingExtraError without pandas.
    """
    try:
        import pandas
    except ModuleNotFoundError:
        raise MissingExtraError("pandas", "frames") from None
    columns = {name: _column(name, annotation) for name, annotation in fields.items()}
    while chunk := list(islice(values, _CHUNK)):
        for column, of_column in zip(columns.values(), zip(*chunk)):
            column.extend(of_column)
    frame = pandas.DataFrame({name: column.packed() for name, column in columns.items()}, copy=False)
    frame.attrs |= attrs
    return frame
