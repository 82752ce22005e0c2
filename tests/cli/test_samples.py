"""`cs-score samples`: switches, destinations, messages and exit statuses (specification 11.4, 1.1-1.3)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cs_score.cli.main import main

QUERIES = "L1 S1\nL1 S2\nL2 S3\n"

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def queries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("queries").write_text(QUERIES, encoding="utf-8")
    return "queries"


def run(*words: str) -> int:
    return main(["samples", *words])


@pytest.mark.parametrize("form", ["{sf} {ldc}", "{ldc} {sf}"])
def test_an_index_of_validate_queries_is_refused_until_its_columns_are_exchanged(
    queries: str, capfd: Capture, form: str
) -> None:
    pairs = (("CSX_0001", "CSX_ENG_00fb79cef8"), ("CSX_0002", "CSX_CMN_6c75e39ab6"))
    Path("index").write_text("".join(f"{form.format(ldc=ldc, sf=sf)}\n" for ldc, sf in pairs), encoding="utf-8")
    status = run("1", "index")
    out, err = capfd.readouterr()
    if form.startswith("{ldc}"):
        assert (status, err) == (0, "")
        assert out.startswith("1 CSX_000")
    else:
        assert (status, out) == (255, "")
        assert err.startswith("index: the columns are the other way round: SF_ID LDC_ID")


@pytest.mark.parametrize("number", ["many", "", "1x", "nan", "inf", "٣", "1e999", "9" * 5000, "0x10"])
def test_what_is_not_a_number_gives_no_output_and_a_warning(queries: str, capfd: Capture, number: str) -> None:
    assert run(number, queries) == 0
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("WARNING: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["1"], "Not enough arguments; queries must be provided"),
        (["1", "queries", "-help"], "Too many arguments"),
        (["-1", "queries"], "Unknown switch: -1"),
        (["-out\x1b[2J", "queries"], "Unknown switch: -out\\x1b[2J"),
        (["-output_file", "-help"], "Not enough arguments; num_samples must be provided"),
        (["--seed", "1.5", "1", "queries"], "--seed takes a whole number of at least 0, not 1.5"),
        (["--seed", "", "1", "queries"], "--seed takes a whole number of at least 0, not "),
    ],
)
def test_wrong_usage(queries: str, capfd: Capture, words: list[str], problem: str) -> None:
    assert run(*words) == 255
    out, err = capfd.readouterr()
    assert out.startswith(f"ERROR: {problem}\n\ncs-score samples:  ")
    assert err.startswith("cs-score: ")
    assert err.count("\n") == 1


def test_closed_and_full_output(queries: str) -> None:
    command = f"{sys.executable} -m cs_score samples 100000 {queries}"
    for redirection, reason in (
        (">&-", "standard output is closed"),
        (">/dev/full", "No space left"),
        ("| head -1", "closed"),
    ):
        shell = ["bash", "-c", f"set -o pipefail; {command} {redirection}"]
        done = subprocess.run(shell, capture_output=True, text=True, check=False)
        assert done.returncode == 255
        assert reason in done.stderr
        assert done.stderr.count("\n") == 1
