"""The benchmark of the programs before the scorer measures what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import preparation
from benchmarks.process import Cost
from tests.coldstart.command import score_in


def test_what_is_measured_ends_without_a_warning(tmp_path: Path) -> None:
    preparation.prepare(200, str(tmp_path))
    for program, (words, inputs, output) in preparation.PROGRAMS.items():
        outcome = score_in(tmp_path, (program.split()[0], *words))
        assert outcome.status == 0
        assert outcome.stderr in (b"No warnings encountered\n", b"")
        assert all((tmp_path / name).exists() for name in (*inputs, output))
        assert (tmp_path / output).read_bytes().count(b"\n") == 200


def _row(lines: int, seconds: float) -> preparation.Measured:
    return preparation.Measured("validate-run", lines, 3, Cost(seconds, 10**6), Cost(1.0, 10**6))


def test_the_target_is_judged_by_the_measured_figure() -> None:
    assert preparation.verdict([_row(10, 9.0), _row(1_000_000, 2.5)]).endswith("reached 2.50 x, met")
    assert preparation.verdict([_row(1_000_000, 3.5)]).endswith("reached 3.50 x, MISSED")
    assert preparation.verdict([_row(10, 9.0)]).endswith("not measured")


def test_a_small_benchmark_prints_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert preparation.main(["--sizes", "50", "--repeats", "1"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in printed[1:4]] == list(preparation.PROGRAMS)
