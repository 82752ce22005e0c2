"""How two documents differ, value by value, and two tables, line by line and cell by cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from cs_score.base.documents import Json, member_place
from cs_score.base.records import Record

_NAMES: Final = ("run_id", "query", "row", "system", "run", "code", "role")
"""Members that distinguish the entries of an array, where they have one."""

_SHOWN: Final = 80
_BEFORE: Final = 30
"""Characters that are shown of a value, and of a text before what differs."""


class Difference(Record):
    """A value that differs: its name, such as `runs[TIDE_KB].scores.SF-AP`, as recorded and as computed."""

    name: str
    recorded: str
    computed: str

    def __str__(self) -> str:
        return f"{self.name}: recorded {self.recorded}, computed {self.computed}"


def differences(recorded: Json, computed: Json, name: str = "") -> Iterator[Difference]:
    """What differs, in the order of what is computed."""
    if isinstance(recorded, dict) and isinstance(computed, dict):
        for key in computed:
            if key in recorded:
                yield from differences(recorded[key], computed[key], member_place(name, key))
            else:
                yield Difference(member_place(name, key), "nothing", shown(computed[key]))
        for key in recorded:
            if key not in computed:
                yield Difference(member_place(name, key), shown(recorded[key]), "nothing")
    elif isinstance(recorded, list) and isinstance(computed, list):
        if len(recorded) != len(computed):
            yield Difference(f"the number of entries of {name}", str(len(recorded)), str(len(computed)))
            return
        labels = _labels(computed)
        for label, one, other in zip(labels, recorded, computed):
            yield from differences(one, other, f"{name}[{label}]")
    elif not _is_equal(recorded, computed):
        yield Difference(name or "the whole", shown(recorded), shown(computed))


def table_differences(recorded: str, computed: str) -> Iterator[Difference]:
    """What differs between two texts, line by line, and cell by cell in lines of equally many cells.

    Cells are named by the first line of what is computed.
    """
    before, now = _cells(recorded), _cells(computed)
    if len(before) != len(now):
        yield Difference("the number of lines", str(len(before) - 1), str(len(now) - 1))
        return
    names = now[0]
    for number, (old, new) in enumerate(zip(before, now), 1):
        if not len(old) == len(new) == len(names) > 1:
            old, new = ["\t".join(old)], ["\t".join(new)]
        for at, (one, other) in enumerate(zip(old, new)):
            if one != other:
                cell = f"line {number}" if len(new) == 1 else f"line {number}, {names[at]}"
                was, is_now = _around_difference(one, other)
                yield Difference(cell, shown(was), shown(is_now))


def numbers(value: Json) -> int:
    """How many numbers a JSON value holds."""
    if isinstance(value, dict):
        return sum(map(numbers, value.values()))
    if isinstance(value, list):
        return sum(map(numbers, value))
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def shown(value: Json) -> str:
    """A value in a message: numbers in full precision, what is long cut off."""
    if isinstance(value, (dict, list)):
        return f"{'an object' if isinstance(value, dict) else 'an array'} of {len(value)}"
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _around_difference(one: str, other: str) -> tuple[str, str]:
    """Two texts without most of a long beginning that they share."""
    differ = (at for at, (a, b) in enumerate(zip(one, other)) if a != b)
    start = next(differ, min(len(one), len(other))) - _BEFORE
    return (one, other) if start <= 0 else (f"...{one[start:]}", f"...{other[start:]}")


def _cells(table: str) -> list[list[str]]:
    return [line.split("\t") for line in table.split("\n")]


def _is_equal(recorded: Json, computed: Json) -> bool:
    if isinstance(recorded, bool) or isinstance(computed, bool):
        return recorded is computed
    if isinstance(recorded, (int, float)) and isinstance(computed, (int, float)):
        return recorded == computed
    return type(recorded) is type(computed) and bool(recorded == computed)


def _labels(values: Sequence[Json]) -> list[str]:
    """What entries are called: by a member that names them, where that distinguishes them, else by place."""
    for member in _NAMES:
        found = [value.get(member) if isinstance(value, dict) else None for value in values]
        if all(isinstance(each, str) for each in found) and len(set(found)) == len(found):
            return list(map(str, found))
    return list(map(str, range(len(values))))
