"""Which units systems share, and the messages for those that do not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import pytest

from cs_score.base.errors import InputError, UsageError
from cs_score.statistics.resampling_settings import Resampling, notes_on_intervals
from cs_score.statistics.units import ClusterDesign, Clusters, UnitTable, align_systems, require_gold_units

REFUSED: Final = {
    ("resamples", "number of resamples must be a whole number of at least 1, not"): (
        *(0, -1, 1.5, 10.0, math.nan, math.inf, "100", None, True),
    ),
    ("seed", "seed must be a whole number of at least 0, not"): (-1, 0.5, math.nan, "1", None, False),
    ("confidence", r"confidence is a percentage from 50 to 99\.99, not"): (
        *(0, 49, 99.995, 100, -5, 100.1, math.nan, math.inf, 10**400, "95", None, True),
    ),
    ("method", "no interval method called basic; there are percentile, bca"): ("basic",),
}


@pytest.mark.parametrize(
    ("name", "value", "said"), [(name, value, said) for (name, said), values in REFUSED.items() for value in values]
)
def test_what_is_no_setting_is_refused(name: str, value: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Resampling(**{name: value})


@pytest.mark.parametrize(
    ("confidence", "meant"), [(0.95, "95"), (0.999, "99.9"), (5, "95"), (0.05, "95"), (99.999, None)]
)
def test_a_likely_confidence_is_named(confidence: float, meant: str | None) -> None:
    with pytest.raises(UsageError) as caught:
        Resampling(confidence=confidence)
    assert str(caught.value).endswith(f"percent: did you mean {meant}?") == (meant is not None)


def test_few_units_have_other_intervals() -> None:
    """By their number, or that of their clusters; a method that was asked for stays."""
    units = [f"u{at}" for at in range(40)]
    pairs = Clusters("file", {unit: str(at // 2) for at, unit in enumerate(units)})
    for size, method in ((20, "percentile"), (19, "bca")):
        assert Resampling().choose_methods_for_units(units[:size])[0].method == method
        assert Resampling(clusters=pairs).choose_methods_for_units(units[: 2 * size])[0].method == method
    assert Resampling(method="bca").choose_methods_for_units(units)[0].method == "bca"


@pytest.mark.parametrize(
    ("units", "drawn", "confidence", "said"),
    [
        (20, None, 95.0, []),
        (19, None, 95.0, [("FEW_UNITS", "19 units only: below 20 ")]),
        (1, None, 95.0, [("FEW_UNITS", "1 unit only: below 20 ")]),
        (
            2,
            ClusterDesign((0, 0), (1,)),
            95.0,
            [("CLUSTERS", "2 units in 1 clusters, "), ("FEW_UNITS", "1 cluster only: ")],
        ),
        (20, None, 97.0, [("FEW_RESAMPLES", "39 resamples cannot give limits at 97 %, ")]),
    ],
)
def test_what_is_said_of_few_units_and_resamples(
    units: int, drawn: ClusterDesign | None, confidence: float, said: Sequence[tuple[str, str]]
) -> None:
    notes = notes_on_intervals(units, Resampling(39, confidence=confidence), drawn)
    assert [(note.code, note.text.startswith(text)) for note, (_, text) in zip(notes, said)] == [
        (code, True) for code, _ in said
    ]
    assert len(notes) == len(said)
    assert all("at least 66 (" in note.text for note in notes if note.code == "FEW_RESAMPLES")
    assert [len(notes_on_intervals(20, Resampling(resamples, confidence=94.0))) for resamples in (32, 33)] == [1, 0]


def table(ids: str) -> UnitTable:
    """Units by letter, each with its place as its statistic."""
    return UnitTable(tuple(ids), ("correct",), [(place,) for place in range(len(ids))])


def test_an_id_that_occurs_twice_counts_twice() -> None:
    found = align_systems({"A": table("aba"), "B": table("baa")})
    assert found.ids == ("a", "b", "a")
    assert found.rows["B"] == [(1,), (0,), (2,)]
    with pytest.raises(InputError, match=r"system B lacks 1 unit \(a\), which system A has"):
        align_systems({"A": table("aba"), "B": table("ab")})
    assert align_systems({"A": table("aba"), "B": table("ab")}, common=True).ids == ("a", "b")


def test_different_units_are_named() -> None:
    with pytest.raises(InputError) as refused:
        align_systems({"A": table("abcdefgh"), "B": table("a"), "C": table("ab")})
    assert str(refused.value) == (
        "system B lacks 7 units (b, c, d, e, f and 2 more), which system A has; "
        "compare them on the units that all systems have (--common)"
    )
    with pytest.raises(InputError, match=r"system A lacks 1 unit \(z\), which system B has"):
        align_systems({"A": table("a"), "B": table("az")})


def test_common_units() -> None:
    found = align_systems({"A": table("abcd"), "B": table("xdb"), "C": table("bad")}, common=True)
    assert found.ids == ("b", "d")
    assert found.rows == {"A": [(1,), (3,)], "B": [(2,), (1,)], "C": [(0,), (2,)]}
    with pytest.raises(InputError, match=r"^the systems have no unit in common$"):
        align_systems({"A": table("ab"), "B": table("cd")}, common=True)


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
