"""The benchmark of the programs before the scorer measures what it says."""

from __future__ import annotations

from pathlib import Path

from benchmarks import preparation
from tests.coldstart.command import score_in


def test_what_is_measured_ends_without_a_warning(tmp_path: Path) -> None:
    preparation.prepare(200, str(tmp_path))
    for program, (words, inputs, output) in preparation.PROGRAMS.items():
        outcome = score_in(tmp_path, (program.split()[0], *words))
        assert outcome.status == 0
        assert outcome.stderr in (b"No warnings encountered\n", b"")
        assert all((tmp_path / name).exists() for name in (*inputs, output))
        assert (tmp_path / output).read_bytes().count(b"\n") == 200
