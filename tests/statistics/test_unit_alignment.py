"""Which units systems share, and the messages for those that do not."""

from __future__ import annotations

import numpy as np
import pytest

from cs_score.base.errors import InputError
from cs_score.statistics.unit_alignment import common_units, require_gold_units, same_units
from cs_score.statistics.unit_table import UnitTable


def table(ids: str) -> UnitTable:
    """Units by letter, each with its place as its statistic."""
    return UnitTable(tuple(ids), ("correct",), [(place,) for place in range(len(ids))])


def test_rows_follow_the_order_of_the_first_system() -> None:
    aligned = same_units({"A": table("abc"), "B": table("cab")})
    assert aligned.ids == ("a", "b", "c")
    assert aligned.rows == {"A": [(0,), (1,), (2,)], "B": [(1,), (2,), (0,)]}


def test_an_id_that_occurs_twice_counts_twice() -> None:
    aligned = same_units({"A": table("aba"), "B": table("baa")})
    assert aligned.ids == ("a", "b", "a")
    assert aligned.rows["B"] == [(1,), (0,), (2,)]
    with pytest.raises(InputError, match=r"system B lacks 1 unit \(a\), which system A has"):
        same_units({"A": table("aba"), "B": table("ab")})
    assert common_units({"A": table("aba"), "B": table("ab")}).ids == ("a", "b")


def test_numpy_rows_are_taken_as_well() -> None:
    aligned = same_units({"A": UnitTable(("x", "y"), ("c", "d"), np.eye(2)), "B": table_of_two()})  # type: ignore[arg-type]
    assert [list(row) for row in aligned.rows["A"]] == [[1, 0], [0, 1]]


def table_of_two() -> UnitTable:
    return UnitTable(("y", "x"), ("c", "d"), [(1, 2), (3, 4)])


def test_different_units_are_named() -> None:
    with pytest.raises(InputError) as refused:
        same_units({"A": table("abcdefgh"), "B": table("a"), "C": table("ab")})
    assert str(refused.value) == (
        "system B lacks 7 units (b, c, d, e, f and 2 more), which system A has; "
        "compare them on the units that all systems have (--common)"
    )
    with pytest.raises(InputError, match=r"system A lacks 1 unit \(z\), which system B has"):
        same_units({"A": table("a"), "B": table("az")})


def test_common_units() -> None:
    aligned = common_units({"A": table("abcd"), "B": table("xdb"), "C": table("bad")})
    assert aligned.ids == ("b", "d")
    assert aligned.rows == {"A": [(1,), (3,)], "B": [(2,), (1,)], "C": [(0,), (2,)]}
    with pytest.raises(InputError, match="the systems have no unit in common"):
        common_units({"A": table("ab"), "B": table("cd")})


def test_tables_of_different_statistics_are_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="different statistics"):
        same_units({"A": table("a"), "B": UnitTable(("a",), ("c", "d"), [(1, 2)])})


def test_a_system_must_share_a_unit_with_the_gold_standard() -> None:
    require_gold_units("A", ["x", "b"], ["a", "b"])
    with pytest.raises(InputError) as refused:
        require_gold_units("A\x1b[2J", iter(["x", "y\n"]), {"a": 1})
    assert str(refused.value) == (
        "system A\\x1b[2J shares no unit with the gold standard: it has 2 units (x, y\\n), the gold 1 unit (a)"
    )
    with pytest.raises(InputError, match=r"answers no unit of the gold standard, which has 1 unit \(a\)"):
        require_gold_units("A", [], ["a"])
    with pytest.raises(InputError, match=r"the gold none"):
        require_gold_units("A", ["a"], [])
