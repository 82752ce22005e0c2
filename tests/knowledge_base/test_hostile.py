"""Hostile inputs, full disks and kills: one line, nothing half written, nothing outside of the output folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks import kb_generator
from cs_score.foundation import outputs
from cs_score.foundation.errors import OutputError
from tests.batch.command import REPOSITORY, environment
from tests.knowledge_base.invented import FAMILY, Inputs

_FULL = Path("/dev/full")


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    made = Inputs(tmp_path)
    made.kb()
    made.queries()
    return made


@pytest.mark.parametrize("docid", ["../../escaped", "/tmp/escaped", "..", ".", "a/b", "\0"])
@pytest.mark.parametrize("mode", ["sen", "eal"])
def test_document_names_never_leave_the_output_folder(docid: str, mode: str, tmp_path: Path) -> None:
    inputs = Inputs(tmp_path / "deep" / "er")
    here, there = f"{docid}:1-2", f"{docid}:4-5"
    inputs.kb(
        ":Entity_1\ttype\tPER", f':Entity_1\tmention\t"A"\t{here}', ":Event_1\ttype\tLIFE.DIE",
        f':Event_1\tmention.actual\t"d"\t{there}', f":Event_1\tlife.die:victim.actual\t:Entity_1\t{here};{there};NIL",
    )  # fmt: skip
    outcome = inputs.validate("-output", mode)
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert not list(tmp_path.rglob("*.part"))
    if mode == "sen" and docid in (".", ".."):  # with its ending that is a name like others
        assert (outcome.status, len(files)) == (0, 4)
        assert all(name.startswith(("deep/er/sentiments/", "deep/er/log", "deep/er/kb.tac")) for name in files)
        return
    assert outcome.status == 255
    assert "cannot be the name of a file" in inputs.report[-1]
    assert files == {"deep/er/kb.tac", "deep/er/log"}


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    made = (("a", "first", [b"x"]), ("a", "first", [b"again"]))
    with pytest.raises(OutputError, match="File exists"):
        outputs.write_folder(tmp_path / "out", ("a",), made)
    assert list(tmp_path.iterdir()) == []
    outputs.write_folder(tmp_path / "out", ("a", "b"), made[:1])
    assert (tmp_path / "out" / "a" / "first").read_bytes() == b"x"
    assert (tmp_path / "out" / "b").is_dir()
    with pytest.raises(OutputError):
        outputs.write_folder(tmp_path / "out", (), ())  # it is there already, and not empty


@pytest.mark.skipif(not _FULL.exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("switch", ["-stats_file", "--json", "-error_file"])
def test_a_full_disk_is_told_in_one_line(switch: str, inputs: Inputs) -> None:
    outcome = inputs.call("validate-kb", "-output", "tac", switch, str(_FULL), "kb.tac")
    assert outcome.status == 255
    assert outcome.stderr.splitlines()[-1].endswith(b"Could not write /dev/full: No space left on device")


def test_control_characters_do_not_reach_a_terminal(inputs: Inputs) -> None:
    from tests.coldstart.command import score_in

    inputs.kb(":Entity_1\ttype\t\x1b[2Jred", "\x1b]0;title\x07\ttype\tPER")
    outcome = score_in(inputs.folder, ("validate-kb", "kb.tac"), terminal=True)
    assert b"\x1b" not in outcome.stderr
    assert b"\\x1b" in outcome.stderr


@pytest.mark.parametrize("line", ["\t" * 100_000, '"' * 100_000, ":Entity_1\tmention\t" + "\\" * 50_001, "#" * 100_000,
                                  ":Entity_1\tper:children\t:Entity_2\t" + "D:1-2," * 20_000,
                                  ":Entity_1\tper:children\t:Entity_2\t" + ";" * 100_000,
                                  ":Entity_1\t" + "a." * 50_000 + "\t:Entity_2\tD:1-2"])  # fmt: skip
def test_long_lines_do_not_hang(line: str, inputs: Inputs) -> None:
    inputs.kb(*FAMILY, line)
    start = time.monotonic()
    assert inputs.validate("-output", "tac").status in (0, 255)
    inputs.write("kb.tac.valid", f"r1\n{line}\n")
    inputs.resolve()
    assert time.monotonic() - start < 20


@pytest.mark.parametrize("shape", ["justifications", "passes", "fills", "answers"])
def test_work_grows_with_the_input_only(shape: str, inputs: Inputs) -> None:
    """Twenty times as much takes about twenty times as long, not four hundred times."""

    def seconds(size: int) -> float:
        people = (*FAMILY[:6],)
        relation = ":Entity_1\tper:siblings\t:Entity_2\tENG_1:{}-{}\t0.5"
        if shape == "fills":
            extra = [f":Entity_1\tper:city_of_birth\t:Entity_{n}\tENG_1:6-21\t0.{n:06d}1" for n in range(9, size + 9)]
        elif shape == "passes":
            extra = [relation.format(n, n + 900) for n in range(size)] + [relation.format(size, size + 1)] * size
        else:
            extra = [relation.format(n, n + 1) for n in range(size)]
        inputs.kb(*people, *extra)
        start = time.monotonic()
        inputs.validate("-ignore", "NO_MENTIONS", "-output", "tac")
        if shape == "answers":
            inputs.resolve()
        return time.monotonic() - start

    seconds(100)
    small, large = seconds(300), seconds(6000)
    assert large < 100 * small + 1


def test_a_killed_validation_leaves_nothing_behind(tmp_path: Path) -> None:
    kb_generator.main(["60000", "5", str(tmp_path)])
    words = [sys.executable, "-m", "cs_score", "validate-kb", "-output", "tac:edl:sen:eal", "kb.tac"]
    before = sorted(os.listdir(tmp_path))
    for delay in (0.3, 0.9, 1.6):
        child = subprocess.Popen(
            [sys.executable, "-c", "from cs_score.cli.main import console; console()", *words[3:]],
            cwd=tmp_path, env={**environment(), "PYTHONPATH": str(REPOSITORY)}, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        time.sleep(delay)
        child.send_signal(signal.SIGTERM)
        child.wait(60)
        left = set(os.listdir(tmp_path)) - set(before)
        assert not [name for name in left if name.endswith(".part")]
        if child.returncode == 0:  # it was done already
            assert {"kb.tac.valid", "kb.edl.valid", "sentiments", "event_arguments"} <= left
            break
        for name in left:
            path = tmp_path / name
            subprocess.run(["rm", "-r", str(path)], check=True)
