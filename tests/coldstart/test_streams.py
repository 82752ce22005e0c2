"""Where results and reports go: streams, closed pipes, full disks, existing files; and Python's strict modes."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.coldstart.command import score_in
from tests.coldstart.recorded import COMMITTED

SOUND: Final = COMMITTED / "multi_ep_011"
FILES: Final = ("queries.xml", "pool.tab", "run.tab")
EXPAND: Final = ("-expand", "CSSF17")
OUTPUTS: Final = ("params", "debug", "sf", "ldcmax", "ldcmean", "summary", "ap")
REPOSITORY: Final = Path(__file__).parents[2]

needs_full_disk = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files of a sound evaluation."""
    for name in FILES:
        shutil.copy(SOUND / name, tmp_path / name)
    return tmp_path


def _process(
    folder: Path,
    *words: str,
    python: tuple[str, ...] = (),
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
) -> subprocess.CompletedProcess[bytes]:
    """The command as a process of its own."""
    return subprocess.run(
        [sys.executable, *python, "-m", "cs_score", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        timeout=60,
        check=False,
    )


def test_files_by_default_prefix_and_streams_hold_the_same_text(folder: Path) -> None:
    files = score_in(folder, ["-output_file", "out", *EXPAND, *FILES]).files
    stream = score_in(folder, [*EXPAND, *FILES])
    assert stream.status == 0
    assert stream.files == {}
    first, ap = files["out.debug"].split(b"AP COMPUTATION DEBUG INFO BEGINS:\n")
    second = b"AP COMPUTATION DEBUG INFO BEGINS:\n" + ap
    tables = [
        first,
        *(files[f"out.{name}"] for name in ("sf", "ldcmax", "ldcmean", "summary")),
        second,
        files["out.ap"],
    ]
    assert stream.stdout.endswith(b"".join(tables))
    assert stream.stdout.startswith(b"#At: ")


def test_the_error_file_of_a_call_that_failed_is_written_anew(folder: Path) -> None:
    words = ["-output_file", "out", "-error_file", "log", *EXPAND]
    stopped = score_in(folder, [*words, *FILES, "nosuch.tab"])
    assert stopped.status == 255
    assert stopped.files["log"].startswith(b"Could not open nosuch.tab")
    run = (folder / FILES[-1]).read_text(encoding="utf-8").rstrip("\n").split("\n")
    (folder / "bad.tab").write_text("\n".join([*run, run[-1] + "\tx", ""]), encoding="utf-8")
    with_errors = score_in(folder, [*words, *FILES[:-1], "bad.tab"])
    assert with_errors.status == 255
    assert (folder / "log").read_bytes().endswith(b"\n\n1 error encountered\n")
    assert score_in(folder, [*words, *FILES]).status == 0
    assert (folder / "log").read_bytes() == b"No warnings encountered\n"
    refused = score_in(folder, [*words, *FILES])
    assert (refused.status, b"File log already exists" in refused.stderr) == (255, True)
    assert (folder / "log").read_bytes() == b"No warnings encountered\n"


def test_outputs_of_an_earlier_run_are_replaced_whole(folder: Path) -> None:
    words = ["-output_file", "out", *EXPAND, *FILES]
    expected = score_in(folder, words).files
    for name in OUTPUTS:
        (folder / f"out.{name}").write_bytes(b"old\n" * 100_000)
    assert score_in(folder, words).status == 0
    for name in set(OUTPUTS) - {"params"}:
        assert (folder / f"out.{name}").read_bytes() == expected[f"out.{name}"]


def test_a_fatal_input_leaves_no_half_output(folder: Path) -> None:
    with open(folder / "run.tab", "ab") as file:
        file.write(b"CSSF17_ENG_0123456789\tper:children\tr\tD:1-2\tv\tPER\tD:1-2\t0.5\t:E\n")
    outcome = score_in(folder, ["-output_file", "out", *EXPAND, *FILES])
    assert outcome.status == 255
    assert b"Query CSSF17_ENG_0123456789 not loaded" in outcome.stderr
    assert not [name for name, content in outcome.files.items() if content and name != "out.params"]


@pytest.mark.parametrize("words", [(*EXPAND, *FILES), ("-help",)])
def test_a_reader_that_goes_away_costs_one_line(folder: Path, words: tuple[str, ...]) -> None:
    """The pipe's reader closes before anything is written."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        process = _process(folder, *words, stdout=writing)
    finally:
        os.close(writing)
    assert process.returncode not in (0, 120)
    assert len(process.stderr.strip().split(b"\n")) == 1, process.stderr
    assert b"Traceback" not in process.stderr
    assert b"Exception ignored" not in process.stderr


def _on_a_terminal(folder: Path, *words: str) -> bytes:
    """What a terminal behind standard error is sent; less than a terminal's buffer holds."""
    master, slave = os.openpty()
    with open(master, "rb", buffering=0) as screen:
        with open(slave, "wb", buffering=0) as terminal:
            _process(folder, *words, stderr=terminal.fileno())
        shown = b""
        with contextlib.suppress(OSError):  # how the end of a terminal reads
            while block := screen.read(4096):
                shown += block
        return shown


def test_a_terminal_gets_no_escape_sequences_and_a_file_gets_the_bytes(folder: Path) -> None:
    """A real terminal, where the hostile tests have a stream that calls itself one."""
    line = b"\x1b]0;owned\x07"
    (folder / "run.tab").write_bytes((folder / "run.tab").read_bytes() + line + b"\n" + line)
    words = ("-output_file", "out", *EXPAND, *FILES)
    shown = _on_a_terminal(folder, *words)
    assert b"appears more than once" in shown
    colours_of_ours = re.compile(rb"\x1b\[(3[123]|0)m")
    assert b"\x1b" not in colours_of_ours.sub(b"", shown)
    assert b"\x07" not in shown
    assert line in _process(folder, *words).stderr


@needs_full_disk
@pytest.mark.parametrize("words", [(*EXPAND, *FILES), ("-help",), ("-version",)])
def test_a_full_disk_behind_a_stream(folder: Path, words: tuple[str, ...]) -> None:
    with open("/dev/full", "wb") as full:
        process = _process(folder, *words, stdout=full.fileno())
        assert process.returncode == 255
        assert b"No space left on device" in process.stderr
        assert b"Traceback" not in process.stderr
        assert b"Exception ignored" not in process.stderr
        if words[-1] in FILES:
            assert _process(folder, "-output_file", "out", *words, stderr=full.fileno()).returncode == 255


@needs_full_disk
def test_a_full_disk_behind_one_output_file(folder: Path) -> None:
    (folder / "out.sf").symlink_to("/dev/full")
    outcome = score_in(folder, ["-output_file", "out", *EXPAND, *FILES])
    assert outcome.status == 255
    assert b"out.sf: No space left on device" in outcome.stderr
    assert {name for name in outcome.files if name.removeprefix("out.") not in OUTPUTS} == set()


@pytest.mark.parametrize("python", [("-OO",), ("-X", "dev", "-W", "error", "-bb")])
def test_strict_and_optimised_python_write_the_same(folder: Path, python: tuple[str, ...]) -> None:
    expected = score_in(folder, ["-output_file", "want", *EXPAND, *FILES]).files
    process = _process(folder, "-output_file", "out", *EXPAND, *FILES, python=python)
    assert (process.returncode, process.stderr) == (0, b"No warnings encountered\n")
    for name in set(OUTPUTS) - {"params"}:
        assert (folder / f"out.{name}").read_bytes() == expected[f"want.{name}"]
