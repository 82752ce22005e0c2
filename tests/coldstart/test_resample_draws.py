"""Resamples of LDC queries: the file that names them, the format, the distribution, the promise of equal bytes."""

from __future__ import annotations

import io
import itertools
import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.base.errors import InputError
from cs_score.coldstart.samples import read_groups, resample_lines

GROUPS = {"L1": ["S1", "S2"], "L10": ["S4"], "L2": ["S3"]}

IDS = st.text("abcXYZ0123456789_", min_size=1, max_size=6)


def read(text: str | bytes) -> dict[str, list[str]]:
    return read_groups(io.BytesIO(text.encode() if isinstance(text, str) else text))


def test_columns_are_separated_by_white_space_and_further_ones_ignored() -> None:
    assert read("L2 S3 1\n\tL1  S2\nL1\u00a0S1 0 x\nL10 S4\n") == GROUPS


def test_ids_sort_as_strings() -> None:
    assert list(read("L2 S3\nL10 S4\nL1 S1\n")) == ["L1", "L10", "L2"]


def test_order_of_the_lines_changes_nothing() -> None:
    lines = ["L1 S1", "L1 S2", "L2 S3", "L10 S4"]
    texts = {"".join(resample_lines(read("\n".join(order)), 5, 7)) for order in itertools.permutations(lines)}
    assert len(texts) == 1


def test_repeated_sf_id_takes_the_last_ldc_id() -> None:
    assert read("L1 S1\nL2 S1\nL2 S2\n") == {"L2": ["S1", "S2"]}


@pytest.mark.parametrize(
    "text",
    [
        b"L1 S1\nL1 S2\nL2 S3\nL10 S4",  # no last line feed
        b"L1 S1\r\nL1 S2\r\nL2 S3\r\nL10 S4\r\n",
        b"\xef\xbb\xbfL1 S1\nL1 S2\nL2 S3\nL10 S4\n",
        b"\nL1 S1\n \t\nL1 S2\nL2 S3\nL10 S4\n\n",
    ],
    ids=["no-last-line-feed", "carriage-returns", "byte-order-mark", "blank-lines"],
)
def test_files_as_they_come(text: bytes) -> None:
    assert read(text) == GROUPS


def test_bytes_that_are_no_utf8_are_carried_over() -> None:
    [line] = resample_lines(read(b"L\xff\x00 S\xe9\n"), 1, 0)
    assert line.encode("utf-8", "surrogateescape") == b"1 L\xff\x00:S\xe9\n"


def test_separators_of_python_are_no_white_space() -> None:
    assert read("L\x1c1 S\x1f1\n") == {"L\x1c1": ["S\x1f1"]}


def test_line_with_one_column_is_named() -> None:
    with pytest.raises(InputError, match=r"line 2: L2 has no SF query id; every line needs"):
        read("L1 S1\nL2\n")


def test_file_that_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"Could not open .*nowhere: No such file"):
        read_groups(tmp_path / "nowhere")
    with pytest.raises(InputError, match="Is a directory"):
        read_groups(tmp_path)


def test_first_draws_of_seed_0() -> None:
    """The bytes belong to the seed for good."""
    assert "".join(resample_lines(GROUPS, 5, 0)) == (
        "1 L2:S3 L2:S3 L10:S4\n"
        "2 L1:S1,S2 L10:S4 L2:S3\n"
        "3 L1:S2,S1 L10:S4 L2:S3\n"
        "4 L10:S4 L1:S1,S2 L10:S4\n"
        "5 L1:S1,S2 L2:S3 L2:S3\n"
    )


def test_seeds_differ_and_more_resamples_only_add() -> None:
    assert list(resample_lines(GROUPS, 9, 1)) != list(resample_lines(GROUPS, 9, 2))
    assert list(resample_lines(GROUPS, 9, 1))[:4] == list(resample_lines(GROUPS, 4, 1))


@given(
    st.dictionaries(IDS, IDS, max_size=8),
    st.integers(0, 6),
    st.integers(0, 2**70),
)
def test_every_draw_holds_all_sf_ids_of_a_known_query(ldc_of: dict[str, str], resamples: int, seed: int) -> None:
    groups = read("".join(f"{ldc} {sf}\n" for sf, ldc in ldc_of.items()))
    lines = list(resample_lines(groups, resamples, seed))
    assert len(lines) == resamples
    for number, line in enumerate(lines, 1):
        assert line.endswith("\n")
        first, *draws = line[:-1].split(" ")
        assert first == str(number)
        assert len(draws) == len(groups)
        for draw in draws:
            ldc, _, sf_ids = draw.partition(":")
            assert sorted(sf_ids.split(",")) == groups[ldc]


def test_draws_and_orders_are_uniform() -> None:
    groups = {"A": ["1", "2", "3"], "B": ["4"], "C": ["5"], "D": ["6"]}
    draws = Counter(draw for line in resample_lines(groups, 12_000, 3) for draw in line.split()[1:])
    total = sum(draws.values())
    assert total == 48_000
    for expected, outcomes in (
        (1 / 4, ["B:4", "C:5", "D:6"]),
        (1 / 24, [f"A:{o}" for o in ("1,2,3", "3,2,1", "2,3,1")]),
    ):
        for outcome in outcomes:
            spread = math.sqrt(expected * (1 - expected) / total)
            assert abs(draws[outcome] / total - expected) < 5 * spread
    assert len(draws) == 3 + 6
