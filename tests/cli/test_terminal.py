"""A real terminal: control sequences of inputs reach it as escapes, wherever a result or a report is printed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

import pytest

from cs_score.base.outputs import shown_on_terminal
from tests.documents import copy_samples

ENTRY: Final = Path(sys.executable).with_name("cs-score")
ATTACK: Final = "\x1b]0;owned\x07\x1b[2J\u202e"
COLD: Final = "-expand ISLE26 queries/ldc-queries.xml assessments/pool-2016.tab run.tab.txt"

CALLS: Final = (
    f"-output_file stdout {COLD}",
    f"-output_file stdout --bootstrap 9 {COLD}",
    f"-error_file stdout -output_file o {COLD}",
    f"--json /dev/stdout {COLD}",
    f"score -o /dev/stdout --format tsv {COLD}",
    f"score --format json {COLD}",
    f"score --problems /dev/stdout {COLD}",
    f"analyze --format tsv {COLD}",
    f"analyze {COLD}",
    "validate-run -output_file stdout queries/sf-queries.xml sf.tab.txt",
    "validate-run -output_file none --diff queries/sf-queries.xml sf.tab.txt",
    "validate-run -output_file /dev/stdout -error_file /dev/stderr queries/sf-queries.xml sf.tab.txt",
    "expand-queries queries/sf-queries.xml stdout sf.tab.txt",
    "problems run.tab.txt",
    f"nope{ATTACK}",
    f"score --format {ATTACK} {COLD}",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The samples, and runs whose run ids and answers hold control sequences."""
    copy_samples(tmp_path)
    run = (tmp_path / "submissions/tide-kb.tab.txt").read_text(encoding="utf-8")
    run = run.replace("TIDE_KB", f"TIDE{ATTACK}KB").replace("Corin", f"Corin{ATTACK}")
    (tmp_path / "run.tab.txt").write_text(run, encoding="utf-8")
    run = (tmp_path / "submissions/gull-sf.tab.txt").read_text(encoding="utf-8")
    (tmp_path / "sf.tab.txt").write_text(run.replace("GULL_SF", f"GULL{ATTACK}SF"), encoding="utf-8")
    return tmp_path


def on_terminal(folder: Path, words: list[str]) -> bytes:
    """Return what a terminal gets on both streams."""
    master, slave = os.openpty()
    shown: list[bytes] = []

    def read() -> None:
        try:
            while block := os.read(master, 1 << 16):
                shown.append(block)
        except OSError:  # the last process that had the terminal has ended
            return

    thread = threading.Thread(target=read)
    thread.start()
    subprocess.run(
        [ENTRY, *words],
        cwd=folder, stdin=slave, stdout=slave, stderr=slave, timeout=100, check=False,
        env={**os.environ, "TERM": "dumb", "COLUMNS": "100"},
    )  # fmt: skip
    os.close(slave)
    thread.join()
    os.close(master)
    return b"".join(shown)


@pytest.mark.parametrize("words", CALLS)
def test_no_control_sequence_of_an_input_reaches_a_terminal(words: str, folder: Path) -> None:
    shown = on_terminal(folder, words.split()).decode().replace("\r\n", "\n")
    assert shown
    assert not [sign for sign in shown if not (sign.isprintable() or sign in "\n\t")]


@pytest.mark.parametrize("words", [CALLS[0], CALLS[9]])
def test_pipes_and_files_get_the_bytes_as_they_are(words: str, folder: Path) -> None:
    done = subprocess.run([ENTRY, *words.split()], cwd=folder, capture_output=True, timeout=100, check=False)
    assert ATTACK.encode() in done.stdout
    shown = on_terminal(folder, [*words.replace("stdout", "o").split()])
    assert ATTACK.encode() not in shown
    files = [path.read_bytes() for path in folder.glob("o*") if path.is_file()]
    assert any(ATTACK.encode() in content for content in files)


def test_characters_that_blocks_cut_are_shown_as_they_are() -> None:
    data = "é€\U0001f600\x1b".encode() + b"\xff"
    blocks = [data[place : place + 1] for place in range(len(data))]
    assert b"".join(shown_on_terminal(blocks)).decode() == "é€\U0001f600\\x1b\\udcff"
