"""Where results and reports go: streams, closed pipes, full disks, existing files; and Python's strict modes."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.coldstart.command import score_in
from tests.coldstart.recorded import FILES

EXPAND: Final = ("-expand", "CSSF17")
OUTPUTS: Final = ("params", "debug", "sf", "ldcmax", "ldcmean", "summary", "ap")

needs_full_disk = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")


def _command(*words: str, python: tuple[str, ...] = ()) -> list[str]:
    return [sys.executable, *python, "-m", "cs_score", *words]


ENVIRONMENT: Final = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}


def _process(
    sound: Path, *words: str, python: tuple[str, ...] = (), shell: str = ""
) -> subprocess.CompletedProcess[bytes]:
    """The command as a process of its own; `shell` is what follows the command on a shell's line."""
    command = _command(*words, python=python)
    if shell:
        command = ["sh", "-c", f'"$@" {shell}', "sh", *command]
    return subprocess.run(
        command, cwd=sound, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
    )


def test_the_error_file_of_a_call_that_failed_is_written_anew(sound: Path) -> None:
    words = ["-output_file", "out", "-error_file", "log", *EXPAND]
    stopped = score_in(sound, [*words, *FILES, "nosuch.tab"])
    assert stopped.status == 255
    assert stopped.files["log"].startswith(b"Could not open nosuch.tab")
    run = (sound / FILES[-1]).read_text(encoding="utf-8").rstrip("\n").split("\n")
    (sound / "bad.tab").write_text("\n".join([*run, run[-1] + "\tx", ""]), encoding="utf-8")
    with_errors = score_in(sound, [*words, *FILES[:-1], "bad.tab"])
    assert with_errors.status == 255
    assert (sound / "log").read_bytes().endswith(b"\n\n1 error encountered\n")
    assert score_in(sound, [*words, *FILES]).status == 0
    assert (sound / "log").read_bytes() == b"No warnings encountered\n"
    refused = score_in(sound, [*words, *FILES])
    assert (refused.status, b"File log already exists" in refused.stderr) == (255, True)
    assert (sound / "log").read_bytes() == b"No warnings encountered\n"


def test_outputs_of_an_earlier_run_are_replaced_whole(sound: Path) -> None:
    words = ["-output_file", "out", *EXPAND, *FILES]
    expected = score_in(sound, words).files
    for name in OUTPUTS:
        (sound / f"out.{name}").write_bytes(b"old\n" * 100_000)
    assert score_in(sound, words).status == 0
    for name in set(OUTPUTS) - {"params"}:
        assert (sound / f"out.{name}").read_bytes() == expected[f"out.{name}"]


def _says_one_line(stderr: bytes) -> bool:
    return stderr.count(b"\n") == 1 and b"Traceback" not in stderr and b"Exception ignored" not in stderr


@pytest.mark.parametrize("words", [(*EXPAND, *FILES), ("-help",)])
def test_a_reader_that_goes_away_costs_one_line(sound: Path, words: tuple[str, ...]) -> None:
    """The pipe's reader closes before anything is written."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb", buffering=0) as pipe:
        process = subprocess.run(
            _command(*words), cwd=sound, env=ENVIRONMENT, stdout=pipe, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert process.returncode not in (0, 120)
    assert _says_one_line(process.stderr), process.stderr


def _on_a_terminal(sound: Path, *words: str) -> bytes:
    """What a terminal behind standard error is sent; less than a terminal's buffer holds."""
    master, slave = os.openpty()
    with open(master, "rb", buffering=0) as screen:
        with open(slave, "wb", buffering=0) as terminal:
            subprocess.run(_command(*words), cwd=sound, env=ENVIRONMENT, stderr=terminal, timeout=60, check=False)
        shown = b""
        with contextlib.suppress(OSError):  # how the end of a terminal reads
            while block := screen.read(4096):
                shown += block
        return shown


def test_a_terminal_gets_no_escape_sequences_and_a_file_gets_the_bytes(sound: Path) -> None:
    """A real terminal, where the hostile tests have a stream that calls itself one."""
    line = b"\x1b]0;owned\x07"
    (sound / "run.tab").write_bytes((sound / "run.tab").read_bytes() + line + b"\n" + line)
    words = ("-output_file", "out", *EXPAND, *FILES)
    shown = _on_a_terminal(sound, *words)
    assert b"appears more than once" in shown
    colours_of_ours = re.compile(rb"\x1b\[(3[123]|0)m")
    assert b"\x1b" not in colours_of_ours.sub(b"", shown)
    assert b"\x07" not in shown
    assert line in _process(sound, *words).stderr


@needs_full_disk
@pytest.mark.parametrize("words", [(*EXPAND, *FILES), ("-help",), ("-version",)])
def test_a_full_disk_behind_standard_output(sound: Path, words: tuple[str, ...]) -> None:
    process = _process(sound, *words, shell="> /dev/full")
    assert process.returncode == 255
    assert b"No space left on device" in process.stderr
    assert _says_one_line(process.stderr), process.stderr


@needs_full_disk
def test_a_full_disk_behind_one_output_file_and_behind_the_report(sound: Path) -> None:
    words = ("-output_file", "out", *EXPAND, *FILES)
    assert _process(sound, *words, shell="2> /dev/full").returncode == 255
    (sound / "out.sf").unlink(missing_ok=True)
    (sound / "out.sf").symlink_to("/dev/full")
    outcome = score_in(sound, words)
    assert outcome.status == 255
    assert b"out.sf: No space left on device" in outcome.stderr
    assert {name for name in outcome.files if name.removeprefix("out.") not in OUTPUTS} == set()


@pytest.mark.parametrize("python", [("-O",), ("-OO",), ("-W", "error"), ("-X", "dev", "-W", "error"), ("-bb",)])
def test_strict_and_optimised_python_write_the_same(sound: Path, python: tuple[str, ...]) -> None:
    expected = score_in(sound, ["-output_file", "want", *EXPAND, *FILES]).files
    process = _process(sound, "-output_file", "out", *EXPAND, *FILES, python=python)
    assert (process.returncode, process.stderr) == (0, b"No warnings encountered\n")
    for name in set(OUTPUTS) - {"params"}:
        assert (sound / f"out.{name}").read_bytes() == expected[f"want.{name}"]
