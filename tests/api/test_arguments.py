"""Arguments are checked where they are given: what is of no type that an annotation names is one clear line."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest

import cs_score as cs
from cs_score.cli.core import load

_SIMPLE: Final = {"str", "int", "float", "bool", "os.PathLike[str]", "Wanted", "None"}


def _parameters() -> Iterator[tuple[str, Callable[..., Any], str, dict[str, Any]]]:
    """Every argument with a simple annotation: its id, its function, its name, and what else has to be given."""
    for name in cs.__all__:
        value = getattr(cs, name)
        members = inspect.getmembers(value, inspect.isfunction) if inspect.isclass(value) else [("", value)]
        for member, function in members:
            if member.startswith("_") or not hasattr(function, "__wrapped__"):
                continue
            given = inspect.signature(function).parameters.values()
            wanted = {each.name: "x" for each in given if each.default is inspect.Parameter.empty}
            for each in given:
                if each.name != "self" and {*str(each.annotation).split(" | ")} <= _SIMPLE:
                    yield f"{name}.{member} {each.name}", function, each.name, wanted


PARAMETERS: Final = list(_parameters())


@pytest.mark.parametrize(
    ("function", "name", "wanted"), [rest for _, *rest in PARAMETERS], ids=[p[0] for p in PARAMETERS]
)
def test_what_is_of_another_type_is_refused(function: Callable[..., Any], name: str, wanted: dict[str, Any]) -> None:
    with pytest.raises(cs.UsageError, match=f"^{name} takes .*, not <object object at 0x[0-9a-f]+>$"):
        function(**{**wanted, name: object()})


def test_the_functions_that_take_much_are_among_them() -> None:
    known = {name for name, *_ in PARAMETERS}
    assert {"analyze. top", "compare. confidence", "RunResult.write prefix", "batch. jobs", "power. alpha"} <= known


def test_numbers_of_numpy_are_numbers_and_true_is_none() -> None:
    numpy = pytest.importorskip("numpy")
    assert cs.power(sd=numpy.float64(2.0), difference=1.0).needed == 34
    with pytest.raises(cs.UsageError, match=r"^sd takes a number, not True$"):
        cs.power(sd=True)


@pytest.mark.parametrize(
    ("verb", "elsewhere"),
    [
        ("analyze", set()),
        ("diff", {"policy_b", "pool_b", "follow_b"}),  # a result scored again
        ("compare", {"second_assessments", "top"}),
    ],
)
def test_options_of_a_verb_are_arguments_of_its_function(verb: str, elsewhere: set[str]) -> None:
    """Those that `score` has say what is read or where results go."""
    arguments = {*inspect.signature(getattr(cs, verb)).parameters} - {"result", "results", "a", "b", "names"}
    options, of_score = ({str(option.name) for option in load(name).options} for name in (verb, "score"))
    assert arguments <= options
    assert options - of_score - arguments == elsewhere
