"""Where what a command says and writes goes: files, standard output, standard error; colours; how far a command is."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import partial
from typing import IO, Any, Final, TypeVar

from cs_score.base.display import one_line, terminal_safe
from cs_score.base.errors import InputError, OutputError, ReportError
from cs_score.base.outputs import Existing, PlannedOutput, shown_on_terminal, write_whole
from cs_score.base.records import Record
from cs_score.base.sources import reason_of

_COLOURS: Final = {"good": 32, "mild": 33, "bad": 31}


def _paints(pattern: str) -> Callable[[str], str]:
    """What colours the groups of a pattern in a text."""

    def painted(match: re.Match[str]) -> str:
        return f"\x1b[{_COLOURS[match.lastgroup or 'mild']}m{match.group()}\x1b[0m"

    return partial(re.compile(pattern, re.MULTILINE).sub, painted)


with_status: Final = _paints(r"^(?:(?P<mild>WARNING)|(?P<bad>ERROR|FATAL_ERROR))(?=:)")
"""Warnings and errors at the beginning of a line."""
with_deltas: Final = _paints(r"(?<![\w.+-])(?:(?P<good>\+\d+\.\d+)|(?P<bad>-\d+\.\d+))(?![\w.])")
"""Differences of scores, which are printed with their sign."""
with_changes: Final = _paints(r"^(?:(?P<good>\+.*)|(?P<bad>-.*))$")
"""Lines that a unified diff adds or takes away."""

Value = TypeVar("Value")
_IS_QUIET: ContextVar[bool] = ContextVar("is_quiet", default=False)
_CAPTURED: ContextVar[list[bytes] | None] = ContextVar("captured", default=None)

is_quiet: Final = _IS_QUIET.get
"""Whether remarks are unwanted."""


def can_show_colours(stream: IO[str] | None) -> bool:
    """Whether what is written there is seen on a terminal that can show colours."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    if stream is None or is_plain or _CAPTURED.get() is not None:
        return False
    try:
        return os.isatty(stream.fileno())
    except (OSError, ValueError):
        return False


@contextlib.contextmanager
def _with(variable: ContextVar[Any], value: Value) -> Iterator[Value]:
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)


def captured() -> AbstractContextManager[list[bytes]]:
    """Within, what is written on standard output is kept instead."""
    return _with(_CAPTURED, [])


def quietly(is_quiet: bool) -> AbstractContextManager[bool]:
    """Within, `say` prints nothing if so wanted (`--quiet`)."""
    return _with(_IS_QUIET, is_quiet)


def say(text: str) -> None:
    """A remark or a report on standard error, which `--quiet` silences; what ends a command is written in any case."""
    if not is_quiet():
        write_text("stderr", text)


def remark(text: str) -> None:
    """A line on standard error about what was done."""
    say(f"cs-score: {one_line(text)}\n")


def warn(*texts: str, file: str | None = None) -> None:
    """Lines on standard error about what should be known beside a result."""
    for text in texts:
        say(f"cs-score: warning: {InputError(text, file=file)}\n")


class Destination(Record):
    """The value of an output switch: a stream, in any letter case, or a path or prefix."""

    text: str

    @classmethod
    def of_report(cls, text: str) -> Destination:
        """Return the destination that -error_file names; an empty text and `0` are standard error."""
        return cls("stderr" if text in ("", "0") else text)

    @property
    def stream(self) -> str | None:
        """`stdout` or `stderr`, or None for a path."""
        return self.text.lower() if self.text.lower() in ("stdout", "stderr") else None

    def planned(self, option: str, existing: Existing) -> tuple[PlannedOutput, ...]:
        """The file that an option names; none for a stream."""
        return () if self.stream is not None else (PlannedOutput(option, self.text, existing),)

    def write(self, blocks: Iterable[bytes]) -> None:
        """Write there; a file appears whole or not at all, and a terminal gets control characters as escapes.

        Raises OutputError, also where a stream is closed, full, or nobody reads it any more.
        """
        if self.stream is None:
            write_whole(self.text, blocks)
            return
        if _is_seen(self.stream):
            blocks = shown_on_terminal(blocks)
        self.write_safe(blocks)

    def write_safe(self, blocks: Iterable[bytes]) -> None:
        """Write on a stream what a terminal may get as it is, such as colours of our own. Raises OutputError."""
        is_output = self.stream == "stdout"
        captured_blocks = _CAPTURED.get()
        if is_output and captured_blocks is not None:
            captured_blocks.extend(blocks)
            return
        name, stream = ("standard output", sys.stdout) if is_output else ("standard error", sys.stderr)
        failure = OutputError if is_output else ReportError
        if stream is None:  # the process was started with the stream closed
            raise failure(f"{name} is closed")
        _clear()
        try:
            stream.flush()
            for block in blocks:
                stream.buffer.write(block)
            stream.flush()
        except OSError as error:
            with contextlib.suppress(OSError):  # the buffer is flushed once more when the interpreter ends
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if isinstance(error, BrokenPipeError):
                raise failure(f"{name} was closed before everything was written") from None
            raise failure(f"Could not write {name}: {reason_of(error)}") from None


STDOUT: Final = Destination("stdout")
STDERR: Final = Destination("stderr")


def file_named(text: str) -> Destination:
    """A file, also where its name is that of a stream."""
    destination = Destination(text)
    return destination if destination.stream is None else Destination(os.path.join(os.curdir, text))


def _is_seen(stream: str) -> bool:
    """Return whether a terminal shows what is written on `stdout` or `stderr`."""
    if stream == "stdout" and _CAPTURED.get() is not None:
        return False
    handle = sys.stdout if stream == "stdout" else sys.stderr
    return handle is not None and handle.isatty()


def write_text(stream: str, text: str) -> None:
    """Text on `stdout` or `stderr`, in UTF-8; control characters are escaped where it is a terminal."""
    handle = sys.stdout if stream == "stdout" else sys.stderr
    if _is_seen(stream):
        text = terminal_safe(text)
        if can_show_colours(handle):
            text = with_status(text)
    Destination(stream).write_safe([text.encode("utf-8", "surrogateescape")])


def print_text(text: str, painted: Callable[[str], str] = str) -> None:
    """Text on standard output, with one line feed at its end, control characters escaped wherever it goes.

    `painted` adds colours, where these are wanted. What the encoding of standard output lacks is written as an escape.
    Raises OutputError.
    """
    encoding = (_CAPTURED.get() is None and getattr(sys.stdout, "encoding", None)) or "utf-8"
    text = terminal_safe(text.removesuffix("\n"))
    if can_show_colours(sys.stdout):
        text = painted(text)
    STDOUT.write_safe([f"{text}\n".encode(encoding, "backslashreplace")])


def write_report(errors: Destination, text: str, blocks: Iterable[bytes]) -> None:
    """Write a problem report: as text on standard error, elsewhere the `blocks` that it is recorded as."""
    if errors.stream == "stderr":
        say(text)
    else:
        errors.write(blocks)


# ---- How far a command is

PATIENCE: Final = 2
"""Seconds without a word of how far a command is."""

_SHOWN: Final[list[str]] = []
"""What stands on the terminal of how far the command is: a line that whatever is written next takes away."""


def shows_progress() -> bool:
    """Whether somebody may see how far a command is."""
    return sys.stderr is not None and sys.stderr.isatty() and not is_quiet()


def _show(text: str) -> None:
    if [text] != _SHOWN:
        _SHOWN[:] = [text]
        os.write(2, f"\r\x1b[K{text}".encode())


def _clear() -> None:
    if _SHOWN:
        _SHOWN.clear()
        os.write(2, b"\r\x1b[K")


def show_progress(text: str) -> None:
    """Show how far a command is in a line of the terminal, until anything else is written."""
    with contextlib.suppress(OSError):  # a closed terminal ends no work
        _show(text[: shutil.get_terminal_size().columns - 1])


@contextlib.contextmanager
def with_clock(doing: str) -> Iterator[None]:
    """Within, what takes over two seconds shows on a terminal for how long it has been at work."""
    if not shows_progress():
        yield
        return
    start, done = time.monotonic(), threading.Event()

    def tick() -> None:
        pause: float = PATIENCE
        while not done.wait(pause):
            pause = 1
            if not any("%" in text for text in _SHOWN):  # a bar says more
                _show(f"{doing}, {time.monotonic() - start:.0f} s")

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        _clear()


def with_bar(items: Sequence[Value], doing: str = "aligning") -> Iterator[Value]:
    """Pass `items` on; what takes over two seconds shows on a terminal how far it is."""
    is_shown, start = shows_progress(), time.monotonic()
    for number, item in enumerate(items):
        if is_shown and time.monotonic() - start > PATIENCE:
            _show(f"{doing} {100 * number // len(items)} %")
        yield item
    _clear()


def text_width() -> int | None:
    """Return the columns of the terminal on which a text is shown; None where it goes to a pipe or a file."""
    if sys.stdout is None or not sys.stdout.isatty() or _CAPTURED.get() is not None:
        return None
    return shutil.get_terminal_size().columns
