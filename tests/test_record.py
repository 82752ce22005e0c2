"""Records: what the type checker freezes is a plain slotted dataclass at run time."""

from __future__ import annotations

import pickle

import pytest

from cs_score.foundation.record import record


@record()
class Point:
    """Equal by its fields."""

    x: int
    y: int = 0


@record(eq=False)
class Thing:
    """Equal to itself only."""

    name: str


def test_equal_fields_make_equal_records() -> None:
    assert Point(1) == Point(1, 0) != Point(1, 2)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Point(1))


def test_without_eq_a_record_is_a_key_of_its_own() -> None:
    one, other = Thing("a"), Thing("a")
    assert {one: 1, other: 2} == {one: 1, other: 2}
    assert one != other


def test_a_record_has_its_fields_only_and_travels_between_processes() -> None:
    assert Point.__slots__ == ("x", "y")  # type: ignore[attr-defined]
    assert not hasattr(Point(1), "__dict__")
    assert pickle.loads(pickle.dumps(Point(3, 4))) == Point(3, 4)
