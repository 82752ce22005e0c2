"""Resamples of LDC queries: the file that names them, the format, the distribution, the promise of equal bytes; and the
program that draws them.
"""

from __future__ import annotations

import io
import math
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cs_score.preparation.query_files import read_groups, resample_lines
from tests.coldstart.command import Outcome, score_in

GROUPS = {"L1": ["S1", "S2"], "L10": ["S4"], "L2": ["S3"]}

IDS = st.text("abcXYZ0123456789_", min_size=1, max_size=6)


def read(text: str | bytes) -> dict[str, list[str]]:
    return read_groups(io.BytesIO(text.encode() if isinstance(text, str) else text))


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


def test_first_draws_of_seed_0() -> None:
    """The bytes belong to the seed for good."""
    assert "".join(resample_lines(GROUPS, 5, 0)) == (
        "1 L2:S3 L2:S3 L10:S4\n"
        "2 L1:S1,S2 L10:S4 L2:S3\n"
        "3 L1:S2,S1 L10:S4 L2:S3\n"
        "4 L10:S4 L1:S1,S2 L10:S4\n"
        "5 L1:S1,S2 L2:S3 L2:S3\n"
    )


@given(st.dictionaries(IDS, IDS, max_size=8), st.integers(0, 6), st.integers(0, 2**70))
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


# ---- The program


def called(folder: Path, *words: str, index: str = "L1 S1\nL1 S2\nL2 S3\n") -> Outcome:
    (folder / "index").write_text(index, encoding="utf-8")
    return score_in(folder, ("samples", *words))


@pytest.mark.parametrize("form", ["{sf} {ldc}", "{ldc} {sf}"])
def test_an_index_of_validate_queries_is_refused_until_its_columns_are_exchanged(form: str, tmp_path: Path) -> None:
    pairs = (("CSX_0001", "CSX_ENG_00fb79cef8"), ("CSX_0002", "CSX_CMN_6c75e39ab6"))
    index = "".join(f"{form.format(ldc=ldc, sf=sf)}\n" for ldc, sf in pairs)
    outcome = called(tmp_path, "1", "index", index=index)
    is_refused = form.startswith("{sf}")
    assert (outcome.status, outcome.stdout.startswith(b"1 CSX_000")) == ((255, False) if is_refused else (0, True))
    assert outcome.stderr.startswith(b"index: the columns are the other way round: SF_ID LDC_ID") is is_refused


@pytest.mark.parametrize("number", ["many", "", "1x", "nan", "inf", "٣", "1e999", "9" * 5000, "0x10"])
def test_what_is_not_a_number_gives_no_output_and_a_warning(number: str, tmp_path: Path) -> None:
    outcome = called(tmp_path, number, "index")
    assert (outcome.status, outcome.stdout, outcome.stderr.count(b"\n")) == (0, b"", 1)
    assert outcome.stderr.startswith(b"WARNING: ")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["1", "index", "-help"], "Too many arguments"),
        (["-1", "index"], "Unknown switch: -1"),
        (["-out\x1b[2J", "index"], "Unknown switch: -out\\x1b[2J"),
        (["-output_file", "-help"], "Not enough arguments; num_samples must be provided"),
        (["--seed", "1.5", "1", "index"], "--seed takes a whole number of at least 0, not 1.5"),
        (["--seed", "", "1", "index"], "--seed takes a whole number of at least 0, not "),
    ],
)
def test_wrong_usage(words: list[str], problem: str, tmp_path: Path) -> None:
    outcome = called(tmp_path, *words)
    assert (outcome.status, outcome.stderr.count(b"\n")) == (255, 1)
    assert outcome.stdout.decode().startswith(f"ERROR: {problem}\n\ncs-score samples:  ")


def test_a_full_device_is_one_line(tmp_path: Path) -> None:
    outcome = called(tmp_path, "-output_file", "/dev/full", "9", "index")
    assert (outcome.status, outcome.stderr) == (255, b"Could not write /dev/full: No space left on device\n")
