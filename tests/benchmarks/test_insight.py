"""The benchmark of analyses: what it measures, and that a failing program ends it."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import insight
from benchmarks.generate import RUN_ID


def test_commands_are_measured_beside_scoring(tmp_path: Path) -> None:
    figures = insight.small(str(tmp_path), 200, rounds=1)
    assert [figure.limit for figure in figures] == [10, 1.5, 2.5]
    assert all(figure.value > 0 for figure in figures)


def test_the_other_run_lacks_lines_that_no_line_depends_on(tmp_path: Path) -> None:
    insight.small(str(tmp_path), 200, rounds=1)
    one, other = ((tmp_path / name).read_text().splitlines() for name in (insight.RUN_FILE, insight.OTHER_RUN))
    missing = {line.replace(RUN_ID, "OTHER", 1) for line in one} - set(other)
    assert len(other) + len(missing) == len(one)
    assert missing
    assert all(line.split("\t")[0].count("_") == 3 for line in missing)


def test_one_query_and_a_large_run_are_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = tmp_path / "one", tmp_path / "large"
    for folder in folders:
        folder.mkdir()
    (seconds,) = insight.one_query(str(folders[0]), 250)
    ratio, memory = insight.large(str(folders[1]), 200)
    assert (seconds.limit, ratio.limit, memory.limit) == (60, 5, 3)
    assert min(seconds.value, ratio.value, memory.value) > 0
    assert "score of 200 lines:" in capsys.readouterr().out


def test_a_program_that_fails_ends_the_benchmark(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(insight, "BASE", "no base")
    assert insight.main(["--lines", "20", "--one-query", "0", "--large", "0"]) == 1
    assert "ended with status" in capsys.readouterr().err
