"""Write the output of commands to files and standard streams, with colours and progress on a terminal."""

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
from typing import IO, Any, Final, TypeVar

from cs_score.base.display import one_line, terminal_safe
from cs_score.base.errors import InputError, OutputError, ReportError
from cs_score.base.outputs import Existing, PlannedOutput, shown_on_terminal, write_whole
from cs_score.base.records import Record
from cs_score.base.sources import reason_of

_COLOURS: Final = {"good": 32, "mild": 33, "bad": 31}


class _Painter:
    """Colours the parts of a text that the groups `good`, `mild` and `bad` of a regular expression match."""

    def __init__(self, pattern: str) -> None:
        """Make a painter from a regular expression whose groups are called `good`, `mild` or `bad`."""
        self._pattern = re.compile(pattern, re.MULTILINE)

    def __call__(self, text: str) -> str:
        """Return the text with colours."""
        return self._pattern.sub(_painted, text)


def _painted(match: re.Match[str]) -> str:
    """Return the text of a match with the codes that colour it on a terminal, by the name of its group."""
    return f"\x1b[{_COLOURS[match.lastgroup or 'mild']}m{match.group()}\x1b[0m"


with_coloured_severities: Final = _Painter(r"^(?:(?P<mild>WARNING)|(?P<bad>ERROR|FATAL_ERROR))(?=:)")
"""Colours warnings and errors at the beginning of a line."""
with_coloured_differences: Final = _Painter(r"(?<![\w.+-])(?:(?P<good>\+\d+\.\d+)|(?P<bad>-\d+\.\d+))(?![\w.])")
"""Colours differences of scores, which are printed with their sign."""
with_coloured_changes: Final = _Painter(r"^(?:(?P<good>\+.*)|(?P<bad>-.*))$")
"""Colours the lines that a unified diff adds or removes."""

Value = TypeVar("Value")
_IS_QUIET: ContextVar[bool] = ContextVar("is_quiet", default=False)
_CAPTURED: ContextVar[list[bytes] | None] = ContextVar("captured", default=None)

is_quiet: Final = _IS_QUIET.get
"""Whether --quiet was typed, so that no remarks are printed."""


def can_show_colours(stream: IO[str] | None) -> bool:
    """Say whether a stream goes to a terminal that can show colours."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    if stream is None or is_plain or _CAPTURED.get() is not None:
        return False
    try:
        return os.isatty(stream.fileno())
    except (OSError, ValueError):
        return False


@contextlib.contextmanager
def _with_value(variable: ContextVar[Any], value: Value) -> Iterator[Value]:
    """Set a context variable while the block runs, and give the value to the block."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)


def captured() -> AbstractContextManager[list[bytes]]:
    """Return a context manager that collects the output of its block as blocks of bytes, instead of printing it."""
    return _with_value(_CAPTURED, [])


def quietly(is_quiet: bool) -> AbstractContextManager[bool]:
    """Return a context manager during which `print_unless_quiet` prints nothing if `is_quiet` is true."""
    return _with_value(_IS_QUIET, is_quiet)


def print_unless_quiet(text: str) -> None:
    """Print a remark or a report on standard error, unless --quiet was typed.

    An error that ends the command is not printed here but by `main`, even with --quiet.
    """
    if not is_quiet():
        write_text("stderr", text)


def remark(text: str) -> None:
    """Print a line on standard error that tells the user about the work or the result."""
    print_unless_quiet(f"cs-score: {one_line(text)}\n")


def warn(*texts: str, file: str | None = None) -> None:
    """Print warnings about a result on standard error, one line each; `file` is the file that they are about."""
    for text in texts:
        print_unless_quiet(f"cs-score: warning: {InputError(text, file=file)}\n")


class Destination(Record):
    """The destination of an output: standard output or standard error, a file, or the prefix of several files.

    `name` is the value of an option: `stdout` or `stderr` in any letter case, or a path.
    """

    name: str

    @classmethod
    def of_report(cls, text: str) -> Destination:
        """Return the destination for a value of -error_file; an empty text and `0` mean standard error."""
        return cls("stderr" if text in ("", "0") else text)

    @property
    def stream(self) -> str | None:
        """`stdout` or `stderr`, or None for a path."""
        name = self.name.lower()
        return name if name in ("stdout", "stderr") else None

    def planned(self, option: str, existing: Existing) -> tuple[PlannedOutput, ...]:
        """Return a description of the file, so that it is checked before the work begins; empty for a stream.

        `option` is the option that names the file. `existing` says what happens to a file that is already there.
        """
        if self.stream is not None:
            return ()
        return (PlannedOutput(option, self.name, existing),)

    def write(self, blocks: Iterable[bytes]) -> None:
        """Write blocks of bytes to the stream or the file. Raises OutputError if they cannot all be written.

        A file appears with all blocks or not at all. On a terminal control characters are shown as escapes.
        """
        if self.stream is None:
            write_whole(self.name, blocks)
            return
        if _is_terminal(self.stream):
            blocks = shown_on_terminal(blocks)
        self.write_unescaped(blocks)

    def write_unescaped(self, blocks: Iterable[bytes]) -> None:
        """Write bytes to the stream without escaping control characters.

        The caller has escaped the control characters of the inputs, so that only our codes for colours are left. Raises
        OutputError if the stream is closed or full, or if nobody reads it any more.
        """
        is_output = self.stream == "stdout"
        captured_blocks = _CAPTURED.get()
        if is_output and captured_blocks is not None:
            captured_blocks.extend(blocks)
            return

        name = "standard output" if is_output else "standard error"
        stream = sys.stdout if is_output else sys.stderr
        failure = OutputError if is_output else ReportError
        if stream is None:  # the process was started with the stream closed
            raise failure(f"{name} is closed")

        _remove_progress_line()  # a line of progress would stand in the middle of the text
        try:
            stream.flush()
            for block in blocks:
                stream.buffer.write(block)
            stream.flush()
        except OSError as error:
            # The interpreter flushes the buffer once more when it ends: that must not fail again.
            with contextlib.suppress(OSError):
                null_device = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null_device, stream.fileno())
            if isinstance(error, BrokenPipeError):
                raise failure(f"{name} was closed before everything was written") from None
            raise failure(f"Could not write {name}: {reason_of(error)}") from None


STDOUT: Final = Destination("stdout")
STDERR: Final = Destination("stderr")


def file_named(text: str) -> Destination:
    """Return the destination for a file, even if its name is `stdout` or `stderr`."""
    destination = Destination(text)
    if destination.stream is None:
        return destination
    return Destination(os.path.join(os.curdir, text))


def _is_terminal(stream: str) -> bool:
    """Say whether a stream, `stdout` or `stderr`, is connected to a terminal and not captured."""
    if stream == "stdout" and _CAPTURED.get() is not None:
        return False
    handle = sys.stdout if stream == "stdout" else sys.stderr
    return handle is not None and handle.isatty()


def stderr_is_terminal() -> bool:
    """Return whether standard error is connected to a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def write_text(stream: str, text: str) -> None:
    """Write a text in UTF-8 to a stream, `stdout` or `stderr`; on a terminal control characters are escaped."""
    handle = sys.stdout if stream == "stdout" else sys.stderr
    if _is_terminal(stream):
        text = terminal_safe(text)
        if can_show_colours(handle):
            text = with_coloured_severities(text)
    Destination(stream).write_unescaped([text.encode("utf-8", "surrogateescape")])


def print_text(text: str, add_colours: Callable[[str], str] = str) -> None:
    """Print a text on standard output, with one line feed at its end. Raises OutputError.

    Control characters, and characters that the encoding of standard output lacks, are written as escapes. If standard
    output is a terminal with colours, `add_colours` is called for the text.
    """
    encoding = "utf-8"
    is_captured = _CAPTURED.get() is not None
    if not is_captured:
        encoding = getattr(sys.stdout, "encoding", None) or encoding
    text = terminal_safe(text.removesuffix("\n"))
    if can_show_colours(sys.stdout):
        text = add_colours(text)
    STDOUT.write_unescaped([f"{text}\n".encode(encoding, "backslashreplace")])


def write_report(errors: Destination, text: str, blocks: Iterable[bytes]) -> None:
    """Write a report of problems to its destination.

    On standard error it is printed as `text`. Any other destination gets `blocks`, the same report as bytes in the
    encoding of the reference program.
    """
    if errors.stream == "stderr":
        print_unless_quiet(text)
    else:
        errors.write(blocks)


# ---- Progress

SECONDS_BEFORE_PROGRESS: Final = 2
"""How many seconds a command runs before progress is shown."""

_PROGRESS_LINE: Final[list[str]] = []
"""The line of progress that is shown on the terminal, or nothing; it is removed before another text is written."""


def shows_progress() -> bool:
    """Say whether progress is shown: standard error is a terminal, and --quiet was not typed."""
    return stderr_is_terminal() and not is_quiet()


def _show_progress_line(text: str) -> None:
    """Show a line of progress on the terminal in place of the previous one."""
    if [text] != _PROGRESS_LINE:
        _PROGRESS_LINE[:] = [text]
        os.write(2, f"\r\x1b[K{text}".encode())


def _remove_progress_line() -> None:
    """Remove the line of progress from the terminal."""
    if _PROGRESS_LINE:
        _PROGRESS_LINE.clear()
        os.write(2, b"\r\x1b[K")


def show_progress(text: str) -> None:
    """Show a line of progress on the terminal, cut to its width; it stays until another text is written."""
    with contextlib.suppress(OSError):  # a closed terminal ends no work
        _show_progress_line(text[: shutil.get_terminal_size().columns - 1])


@contextlib.contextmanager
def with_clock(activity: str) -> Iterator[None]:
    """Show on a terminal how long the block has been running, as soon as it takes more than two seconds."""
    if not shows_progress():
        yield
        return
    is_done = threading.Event()
    thread = threading.Thread(target=_show_clock, args=(activity, is_done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_done.set()
        thread.join()
        _remove_progress_line()


def _show_clock(activity: str, is_done: threading.Event) -> None:
    """Show every second how long an activity has taken, until `is_done` is set; a progress bar is left alone."""
    start = time.monotonic()
    pause: float = SECONDS_BEFORE_PROGRESS  # before the first line; each further one is shown a second later
    while not is_done.wait(pause):
        pause = 1
        has_bar = any("%" in text for text in _PROGRESS_LINE)
        if not has_bar:
            _show_progress_line(f"{activity}, {time.monotonic() - start:.0f} s")


def with_bar(items: Sequence[Value], activity: str = "aligning") -> Iterator[Value]:
    """Yield the items, and show on a terminal what percentage of them is done if that takes more than two seconds."""
    is_visible = shows_progress()
    start = time.monotonic()
    for done_count, item in enumerate(items):
        if is_visible and time.monotonic() - start > SECONDS_BEFORE_PROGRESS:
            percentage = 100 * done_count // len(items)
            _show_progress_line(f"{activity} {percentage} %")
        yield item
    _remove_progress_line()


def text_width() -> int | None:
    """Return the width in columns of the terminal that shows standard output; None for a pipe or a file."""
    if not _is_terminal("stdout"):
        return None
    return shutil.get_terminal_size().columns
