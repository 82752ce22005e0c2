"""Several outputs of one call: all of them appear or none, whatever ends the call between two of them."""

# ruff: noqa: PT012  # what is written within a block is the point

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

import pytest

from cs_score.base.errors import InputError, OutputError
from cs_score.base.outputs import (
    folder_made,
    outputs_immediately,
    outputs_together,
    write_folder,
    write_together,
    write_whole,
)
from tests.documents import copy_samples


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("earlier").write_text("before")


def contents() -> dict[str, str]:
    """What is in the folder: texts of files, and the names of folders."""
    return {path.name: path.read_text() if path.is_file() else "folder" for path in Path().iterdir()}


def _write_all() -> None:
    write_whole("new", [b"1"])
    write_whole("earlier", [b"2"])
    write_folder("folder", ["inner"], [("inner", "file", [b"3"])])


def test_files_and_folders_appear_at_the_end() -> None:
    with outputs_together():
        _write_all()
        assert {name for name in contents() if not name.startswith(".")} == {"earlier"}
        assert contents()["earlier"] == "before"
    assert contents() == {"new": "1", "earlier": "2", "folder": "folder"}
    assert Path("folder/inner/file").read_text() == "3"


@pytest.mark.parametrize("error", [OutputError("full"), KeyboardInterrupt(), SystemExit(143), ValueError("a defect")])
def test_nothing_appears_where_the_call_ends_otherwise(error: BaseException) -> None:
    with pytest.raises(type(error)), outputs_together(), folder_made("made", "-o"):
        _write_all()
        write_whole("made/file", [b"4"])
        raise error
    assert contents() == {"earlier": "before"}


def test_what_was_written_before_an_input_was_wrong_stays() -> None:
    with pytest.raises(InputError), outputs_together():
        write_whole("report", [b"1"])
        raise InputError("wrong")
    assert contents()["report"] == "1"


def test_a_block_within_another_one_appears_with_it() -> None:
    with pytest.raises(OutputError), outputs_together():
        with outputs_together():
            write_whole("first", [b"1"])
        write_together([("second", [b"2"])])
        raise OutputError("full")
    assert contents() == {"earlier": "before"}
    with outputs_together(), outputs_immediately():
        write_whole("first", [b"1"])
        assert contents()["first"] == "1"


def test_where_a_name_cannot_be_given_earlier_files_get_theirs_back() -> None:
    with pytest.raises(OutputError, match="Could not write"), outputs_together():
        _write_all()
        write_whole("last", [b"5"])
        Path("last").mkdir()
        Path("last/file").touch()
    assert contents() == {"earlier": "before", "last": "folder"}


def test_a_signal_waits_until_all_names_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    replace = os.replace

    def interrupted(source: str, target: str) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        replace(source, target)

    with pytest.raises(KeyboardInterrupt), monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupted)
        with outputs_together():
            _write_all()
    assert contents() == {"new": "1", "earlier": "2", "folder": "folder"}


CALLS: Final = {
    "json and problems": (
        "--json o.json --problems p.json -output_file o -expand ISLE26 queries/ldc-queries.xml "
        "assessments/pool-2016.tab submissions/tide-kb.tab.txt"
    ),
    "score": (
        "score --problems p.tsv -o out -expand ISLE26 queries/ldc-queries.xml assessments/pool-2016.tab "
        "submissions/tide-kb.tab.txt"
    ),
    "per item": (
        "scifact --per-item i.tsv -o o.json --gold assessments/scifact-gold.jsonl --predictions "
        "submissions/scifact-a.jsonl"
    ),
    "validate-kb": (
        "validate-kb -output tac:edl:nug:eal -output_dir kb -stats_file s.txt --json s.json --problems p.json "
        "submissions/tide.tac"
    ),
    "validate-run": (
        "validate-run -output_file v.tab --problems p.json queries/sf-queries.xml submissions/gull-sf.tab.txt"
    ),
}

LIMITED: Final = """
import resource, signal, sys
from cs_score.cli.main import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
size = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
sys.exit(main())
"""


@pytest.mark.parametrize("name", CALLS)
def test_on_a_disk_that_becomes_full_there_are_all_files_or_none(name: str, tmp_path: Path) -> None:
    words = CALLS[name].split()
    whole = tmp_path / "whole"
    _call(whole, words, 1 << 30)
    expected = _results(whole)
    assert len(expected) > 1
    sizes = sorted({path.stat().st_size for path in whole.rglob("*") if str(path.relative_to(whole)) in expected})
    met = set()
    for size in {0, sizes[0], sizes[len(sizes) // 2], sizes[-1] - 1}:
        folder = tmp_path / str(size)
        error = _call(folder, words, size)
        assert b"Traceback" not in error
        met.add(frozenset(_results(folder)))
    assert met <= {frozenset(expected), frozenset()}
    assert frozenset() in met


def _call(folder: Path, words: list[str], size: int) -> bytes:
    """Call the command where no file grows beyond a size; return what it says on standard error."""
    folder.mkdir()
    copy_samples(folder)
    _BEFORE[folder] = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(size), *words], cwd=folder, capture_output=True, timeout=100, check=False
    )
    return done.stderr


_BEFORE: Final[dict[Path, set[str]]] = {}


def _results(folder: Path) -> set[str]:
    """The files that a call has left, but for the report of why it failed."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - _BEFORE[folder]


def test_files_are_written_together_in_any_thread() -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            write_together([("a", [b"1"]), ("b", [b"2"])])
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not failures
    assert contents() == {"earlier": "before", "a": "1", "b": "2"}
