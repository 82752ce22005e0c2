"""The command line as a whole: dispatch, completion, and what a scoring says beside its files."""

from __future__ import annotations

from pathlib import Path

import pytest

from cs_score.base.outputs import whole_file
from cs_score.cli.main import main

Capture = pytest.CaptureFixture[str]

REPOSITORY = Path(__file__).parents[2]
QUERIES = str(REPOSITORY / "queries" / "ldc-queries.xml")
RUN = str(REPOSITORY / "submissions" / "tide-kb.tab.txt")
POOL = str(REPOSITORY / "assessments" / "pool-2016.tab")


def test_only_the_exact_first_word_is_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["scifac"]) == 2
    assert "no command `scifac`, and no such file; did you mean scifact?" in capfd.readouterr().err
    assert main(["./scifact"]) == 255
    assert "Could not open ./scifact:" in capfd.readouterr().err


def test_a_byte_order_mark_is_named(tmp_path: Path, capfd: Capture) -> None:
    run = tmp_path / "run.tab"
    run.write_bytes(b"\xef\xbb\xbf" + Path(RUN).read_bytes())
    assert main(["-output_file", str(tmp_path / "o"), "-expand", "ISLE26", QUERIES, str(run), POOL]) == 255
    assert "begins with a byte-order mark" in capfd.readouterr().err


def test_a_file_that_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_bytes(b"old")

    def fail() -> None:
        with whole_file(target) as file:
            file.write(b"half")
            raise ValueError("stopped")

    with pytest.raises(ValueError, match="stopped"):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]
    assert target.read_bytes() == b"old"
