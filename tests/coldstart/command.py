"""The Cold Start command run inside the test process: its status, both streams, and the files it leaves."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from cs_score.base.records import Record
from cs_score.cli.main import main
from tests.schemas import check_written


class Outcome(Record):
    """What one call did. `files` are those that were not there before, by name relative to the folder."""

    status: int
    stdout: bytes
    stderr: bytes
    files: dict[str, bytes]


class _Terminal(io.TextIOWrapper):
    """A stream that calls itself a terminal."""

    def isatty(self) -> bool:
        return True


def score_in(folder: Path | None, words: Sequence[str], *, terminal: bool = False) -> Outcome:
    """Call the command in `folder`, or where we are, and hold the JSON that it writes against the schemas."""
    outcome = run_in(folder, words, terminal=terminal)
    check_written(outcome.stdout, outcome.files)
    return outcome


def json_in(folder: Path, *words: str) -> Any:
    """The JSON that a command prints in this folder."""
    outcome = score_in(folder, [*words, "--quiet", "--format", "json"])
    assert outcome.status == 0, outcome.stderr
    return json.loads(outcome.stdout)


def run_in(folder: Path | None, words: Sequence[str], *, terminal: bool = False) -> Outcome:
    """Call the command in `folder` as a shell would, with an empty standard input. Without folder no file is listed.

    With `terminal` standard error is one as far as the command can ask the stream.
    """
    before = set() if folder is None else _names(folder)
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        with _redirected(folder, stdout, stderr, _Terminal if terminal else io.TextIOWrapper):
            status = main(list(words))
        files = {name: (folder / name).read_bytes() for name in sorted(_names(folder) - before)} if folder else {}
        return Outcome(status, _content(stdout), _content(stderr), files)


def _names(folder: Path) -> set[str]:
    """Return the names of the files in a folder and below it.

    Hidden folders are left out: no command writes into one, and the environment of a checkout has 40,000 files.
    """
    names: set[str] = set()
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        relative = Path(place).relative_to(folder)
        names.update((relative / name).as_posix() for name in files)
    return names


def _content(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


@contextlib.contextmanager
def _redirected(
    folder: Path | None, stdout: IO[bytes], stderr: IO[bytes], stderr_kind: type[io.TextIOWrapper]
) -> Iterator[None]:
    """Work in `folder` with the three standard descriptors, and Python's objects on them, led to files.

    Both levels are led, so that it makes no difference whether the command prints or writes to a descriptor, and
    whether pytest captures at the one level or the other.
    """
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.chdir(folder or os.curdir))
        nothing = stack.enter_context(open(os.devnull, "rb"))
        for number, file in enumerate((nothing, stdout, stderr)):
            stack.enter_context(_descriptor_led_to(number, file))
        stack.enter_context(_stream_led_to("stdin", io.TextIOWrapper, "rb"))
        stack.enter_context(_stream_led_to("stdout", io.TextIOWrapper, "wb"))
        stack.enter_context(_stream_led_to("stderr", stderr_kind, "wb"))
        yield


@contextlib.contextmanager
def _descriptor_led_to(number: int, file: IO[bytes]) -> Iterator[None]:
    saved = os.dup(number)
    os.dup2(file.fileno(), number)
    try:
        yield
    finally:
        os.dup2(saved, number)
        os.close(saved)


@contextlib.contextmanager
def _stream_led_to(name: str, kind: type[io.TextIOWrapper], mode: str) -> Iterator[None]:
    """Python's stream of that name, on its descriptor, as the interpreter makes it."""
    saved = getattr(sys, name)
    errors = "backslashreplace" if name == "stderr" else "strict"
    number = ("stdin", "stdout", "stderr").index(name)
    with open(number, mode, closefd=False) as binary, kind(binary, encoding="utf-8", errors=errors) as stream:
        setattr(sys, name, stream)
        try:
            yield
        finally:
            setattr(sys, name, saved)
