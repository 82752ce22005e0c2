"""Which units systems share, and the messages for those that do not."""

from __future__ import annotations

import pytest

from cs_score.base.errors import InputError
from cs_score.statistics.units import UnitTable, aligned, require_gold_units


def table(ids: str) -> UnitTable:
    """Units by letter, each with its place as its statistic."""
    return UnitTable(tuple(ids), ("correct",), [(place,) for place in range(len(ids))])


def test_an_id_that_occurs_twice_counts_twice() -> None:
    found = aligned({"A": table("aba"), "B": table("baa")})
    assert found.ids == ("a", "b", "a")
    assert found.rows["B"] == [(1,), (0,), (2,)]
    with pytest.raises(InputError, match=r"system B lacks 1 unit \(a\), which system A has"):
        aligned({"A": table("aba"), "B": table("ab")})
    assert aligned({"A": table("aba"), "B": table("ab")}, common=True).ids == ("a", "b")


def test_different_units_are_named() -> None:
    with pytest.raises(InputError) as refused:
        aligned({"A": table("abcdefgh"), "B": table("a"), "C": table("ab")})
    assert str(refused.value) == (
        "system B lacks 7 units (b, c, d, e, f and 2 more), which system A has; "
        "compare them on the units that all systems have (--common)"
    )
    with pytest.raises(InputError, match=r"system A lacks 1 unit \(z\), which system B has"):
        aligned({"A": table("a"), "B": table("az")})


def test_common_units() -> None:
    found = aligned({"A": table("abcd"), "B": table("xdb"), "C": table("bad")}, common=True)
    assert found.ids == ("b", "d")
    assert found.rows == {"A": [(1,), (3,)], "B": [(2,), (1,)], "C": [(0,), (2,)]}
    with pytest.raises(InputError, match=r"^the systems have no unit in common$"):
        aligned({"A": table("ab"), "B": table("cd")}, common=True)


@pytest.mark.parametrize(
    ("answered", "gold", "message"),
    [
        ([], ["a", "b"], "system S answers no unit of the gold standard, which has 2 units (a, b)"),
        (["x"], [], "system S shares no unit with the gold standard: it has 1 unit (x), the gold none"),
        (
            ["x" * 81, "y"],
            ["a"],
            f"system S shares no unit with the gold standard: it has 2 units ({'x' * 80}... (1 more characters), y), "
            "the gold 1 unit (a)",
        ),
    ],
)
def test_the_run_of_another_data_set_is_refused(answered: list[str], gold: list[str], message: str) -> None:
    with pytest.raises(InputError) as refused:
        require_gold_units("S", answered, gold)
    assert str(refused.value) == message
