"""Dataclasses that are soon made are those of the standard library to whoever uses them; records are not frozen."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Any

import pytest

from cs_score.base.record import dataclass, field, record, replace


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


@dataclass(frozen=True, slots=True)
class Soon:
    """A class of ours with everything that there is."""

    name: str
    size: int = 1
    parts: list[int] = field(default_factory=list)
    _: KW_ONLY
    note: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "note", self.note.strip())


@dataclasses.dataclass(frozen=True, slots=True)
class Theirs:
    """The same by the standard library."""

    name: str
    size: int = 1
    parts: list[int] = dataclasses.field(default_factory=list)
    _: KW_ONLY
    note: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "note", self.note.strip())


@dataclass(frozen=True)
class Open:
    """Without slots."""

    name: str = "a"


@dataclass(frozen=True)
class Wider(Open):
    """With a field more."""

    size: int = 2

    def __repr__(self) -> str:
        return "wider"


def _outcome(act: Callable[[Any], object], kind: type[Any]) -> str:
    """What an act comes to, the name of the class aside."""
    try:
        result = act(kind)
    except Exception as error:
        result = f"{type(error).__name__}: {error}"
    return str(result).replace(kind.__name__, "Class")


@pytest.mark.parametrize(
    "act",
    [
        lambda kind: kind("a"),
        lambda kind: kind("a", 2, [3], note=" n "),
        lambda kind: kind(),
        lambda kind: kind("a", 1, [], "n"),
        lambda kind: kind("a", other=1),
        lambda kind: kind("a") == kind("a"),
        lambda kind: kind("a") == kind("a", note="n"),
        lambda kind: kind("a") == "a",
        lambda kind: kind("a").parts is kind("a").parts,
        lambda kind: hash(kind("a")),
        lambda kind: hash(kind("a", parts=())) == hash(kind("a", parts=())),
        lambda kind: setattr(kind("a"), "name", "b"),
        lambda kind: delattr(kind("a"), "name"),
        lambda kind: kind("a").__dict__,
        lambda kind: kind.__slots__,
        lambda kind: kind.__match_args__,
        lambda kind: inspect.signature(kind),
        lambda kind: pickle.loads(pickle.dumps(kind("a", 2, [3], note="n"))),
        lambda kind: copy.deepcopy(kind("a", 2, [3], note="n")),
        lambda kind: replace(kind("a", 2), size=3),
        lambda kind: dataclasses.replace(kind("a", 2), size=3),
        lambda kind: dataclasses.asdict(kind("a", 2)),
        lambda kind: [(found.name, found.type) for found in dataclasses.fields(kind)],
        lambda kind: dataclasses.is_dataclass(kind),
    ],
)
def test_our_dataclasses_do_as_those_of_the_standard_library(act: Callable[[Any], object]) -> None:
    assert _outcome(act, Soon) == _outcome(act, Theirs)


def test_a_class_takes_over_the_fields_of_its_base() -> None:
    assert Wider("b", 3) == replace(Wider("b"), size=3) != Wider()
    assert (Open("x").name, repr(Open("x")), repr(Wider())) == ("x", "Open(name='x')", "wider")
    assert [found.name for found in dataclasses.fields(Wider)] == ["name", "size"]


def test_the_standard_library_can_extend_a_class_of_ours() -> None:
    @dataclasses.dataclass(frozen=True)
    class Theirs(Open):
        size: int = 2

    assert dataclasses.asdict(Theirs("b")) == {"name": "b", "size": 2}
