"""What one run under one policy tells the tables over many runs: small enough to travel and to be kept with the run.

Text is left out where gold can tell it: the things to be found are numbered, answers are known by the twelve digits
that stand for query, value and provenance (Cold Start specification 3.5; insight specification 1).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from cs_score.base.documents import value_in
from cs_score.base.patterns import pattern
from cs_score.base.records import Record
from cs_score.statistics.units import UnitTable

ID_DIGITS: Final = 12
"""Hexadecimal digits of the id of an answer."""

_ONE: Final = ord("1")
_IDS: Final = pattern(f"[0-9a-f]{{{ID_DIGITS}}}")


class Wanted(Record):
    """Something that gold wants found: what it is (`class`), its unit, the row or place it stands in, its name there.

    `value` is an example of it in words. `names` are all that finds it: a slot that takes one value may have it in
    several classes, the first of which stands for them (insight specification 1).
    """

    part: str
    unit: str
    place: str
    name: str
    value: str
    names: tuple[str, ...] = ()


class Findings(Record):
    """The statistics of each unit that scores are made of, and which answers were right, which wrong, what was found.

    Bit n of `found` tells whether thing n of gold's list was found; `right` and `wrong` are ids of answers, each once.
    """

    table: UnitTable
    found: int = 0
    right: Collection[str] = ()
    wrong: Collection[str] = ()

    def as_json(self) -> dict[str, object]:
        """The findings as a JSON object of a few texts, whose numbers are those of Python's `repr`."""
        texts = {row: ",".join(map(repr, row)) for row in set(self.table.rows)}  # many units have the same statistics
        return {
            "units": json.dumps(self.table.ids),
            "columns": list(self.table.columns),
            "rows": ";".join([texts[row] for row in self.table.rows]),
            "found": f"{self.found:x}",
            "right": "".join(sorted(self.right)),
            "wrong": "".join(sorted(self.wrong)),
        }

    __repr__ = object.__repr__


def findings_of(record: Mapping[str, Any]) -> Findings:
    """The findings in a JSON object.

    Raises InputError, ValueError, KeyError, TypeError or AttributeError for anything else.
    """
    ids, columns, text = (
        tuple(map(str, value_in(record["units"], "units"))),
        tuple(map(str, record["columns"])),
        record["rows"],
    )
    lines = text.split(";") if ids else []
    known = {line: tuple(map(float, line.split(","))) if line else () for line in set(lines)}
    rows = [known[line] for line in lines]
    if len(rows) != len(ids) or any(len(row) != len(columns) for row in rows):
        raise ValueError("another number of rows or columns")
    found = int(record["found"], 16)
    return Findings(UnitTable(ids, columns, rows), found, _IDS.findall(record["right"]), _IDS.findall(record["wrong"]))


def bits(numbers: Iterable[int], size: int) -> int:
    """The whole number whose bits of these numbers, all below `size`, are set."""
    digits = bytearray(b"0") * (size + 1)
    for number in numbers:
        digits[~number] = _ONE
    return int(digits, 2)
