"""The command line as a whole: dispatch, completion, and what a scoring says beside its files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from cs_score.base.outputs import whole_file
from cs_score.cli.main import main

Capture = pytest.CaptureFixture[str]

REPOSITORY = Path(__file__).parents[2]
QUERIES = str(REPOSITORY / "queries" / "ldc-queries.xml")
CHOICE = str(REPOSITORY / "queries" / "queryids.txt")
RUN = str(REPOSITORY / "submissions" / "tide-kb.tab.txt")
POOL = str(REPOSITORY / "assessments" / "pool-2016.tab")


def test_only_the_exact_first_word_is_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["scifac"]) == 255
    assert "there is no command scifac, and no such file; did you mean scifact?" in capfd.readouterr().err
    assert main(["./scifact"]) == 255
    assert "Could not open ./scifact:" in capfd.readouterr().err


def test_a_scoring_signs_every_file_that_it_read(tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    words = ["--json", str(out), "-output_file", str(tmp_path / "o"), "-error_file", str(tmp_path / "e")]
    assert main([*words, "-queries", CHOICE, "-expand", "ISLE26", QUERIES, RUN, POOL]) == 0
    signature = json.loads(out.read_text(encoding="utf-8"))["signature"]
    assert {digest["name"] for digest in signature["inputs"]} == {QUERIES, CHOICE, RUN, POOL}
    assert all(len(digest["sha256"]) == 64 for digest in signature["inputs"])


def test_the_limits_of_the_bootstrap_are_in_the_json(tmp_path: Path) -> None:
    samples = tmp_path / "samples.txt"
    assert main(["samples", "-output_file", str(samples), "20", CHOICE]) == 0
    out = tmp_path / "result.json"
    words = ["--json", str(out), "-output_file", str(tmp_path / "o"), "-error_file", str(tmp_path / "e")]
    assert main([*words, "-samples", str(samples), "-expand", "ISLE26", QUERIES, RUN, POOL]) == 0
    bootstrap = json.loads(out.read_text(encoding="utf-8"))["runs"][0]["bootstrap"]
    written = (tmp_path / "o.confidence").read_text(encoding="utf-8").splitlines()[1:]
    assert bootstrap["samples"] == 20
    assert [limits["value"] for limits in bootstrap["limits"]] == [line.split()[0] for line in written]
    shown = next(limits for limits in bootstrap["limits"] if limits["value"] == "ALLEP_SLOTFLG_Mi_A_F")
    line = next(line for line in written if line.startswith("ALLEP_SLOTFLG_Mi_A_F"))
    assert [*shown["low"].values(), shown["mean"], shown["score"], *shown["high"].values()] == line.split()[1:]


def test_a_run_without_lines_is_remarked_on(tmp_path: Path, capfd: Capture) -> None:
    words = ["-output_file", str(tmp_path / "o"), "-error_file", str(tmp_path / "e"), "-runids", "NOPE"]
    assert main([*words, "-expand", "ISLE26", QUERIES, RUN, POOL]) == 0
    assert "no line of run NOPE was loaded" in capfd.readouterr().err


def test_a_byte_order_mark_is_named(tmp_path: Path, capfd: Capture) -> None:
    run = tmp_path / "run.tab"
    run.write_bytes(b"\xef\xbb\xbf" + Path(RUN).read_bytes())
    assert main(["-output_file", str(tmp_path / "o"), "-expand", "ISLE26", QUERIES, str(run), POOL]) == 255
    assert "begins with a byte-order mark" in capfd.readouterr().err


def test_an_input_is_not_overwritten(tmp_path: Path, capfd: Capture) -> None:
    pool = tmp_path / "o.sf"
    pool.write_bytes(Path(POOL).read_bytes())
    assert main(["-output_file", str(tmp_path / "o"), "-expand", "ISLE26", QUERIES, RUN, str(pool)]) == 255
    assert "is an input" in capfd.readouterr().err
    assert pool.read_bytes() == Path(POOL).read_bytes()


def test_standard_output_by_name_keeps_what_others_wrote(tmp_path: Path) -> None:
    shared = tmp_path / "shared.txt"
    command = (
        "import sys; from cs_score.base.outputs import write_whole; print('before', flush=True); "
        "write_whole('/dev/stdout', [b'result\\n']); print('after')"
    )
    with open(shared, "wb") as stdout:
        subprocess.run([sys.executable, "-c", command], stdout=stdout, check=True, cwd=REPOSITORY)
    assert shared.read_text(encoding="utf-8").splitlines()[:2] == ["before", "result"]


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
