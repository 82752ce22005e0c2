"""Write what commands print: on files and standard streams, with colours and progress on a terminal."""

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
    """Colours the parts of a text that the named groups of a pattern match: `good`, `mild` or `bad`."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern, re.MULTILINE)

    def __call__(self, text: str) -> str:
        """Return the text with colours."""
        return self._pattern.sub(_painted, text)


def _painted(match: re.Match[str]) -> str:
    """Return the matched text in the colour of its group."""
    return f"\x1b[{_COLOURS[match.lastgroup or 'mild']}m{match.group()}\x1b[0m"


with_status: Final = _Painter(r"^(?:(?P<mild>WARNING)|(?P<bad>ERROR|FATAL_ERROR))(?=:)")
"""Colours warnings and errors at the beginning of a line."""
with_deltas: Final = _Painter(r"(?<![\w.+-])(?:(?P<good>\+\d+\.\d+)|(?P<bad>-\d+\.\d+))(?![\w.])")
"""Colours differences of scores, which are printed with their sign."""
with_changes: Final = _Painter(r"^(?:(?P<good>\+.*)|(?P<bad>-.*))$")
"""Colours the lines that a unified diff adds or removes."""

Value = TypeVar("Value")
_IS_QUIET: ContextVar[bool] = ContextVar("is_quiet", default=False)
_CAPTURED: ContextVar[list[bytes] | None] = ContextVar("captured", default=None)

is_quiet: Final = _IS_QUIET.get
"""Whether remarks are unwanted."""


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
    """Set a context variable for the time of the block."""
    token = variable.set(value)
    try:
        yield value
    finally:
        variable.reset(token)


def captured() -> AbstractContextManager[list[bytes]]:
    """Collect what the block writes on standard output, instead of printing it."""
    return _with_value(_CAPTURED, [])


def quietly(is_quiet: bool) -> AbstractContextManager[bool]:
    """Silence `say` for the time of the block if `is_quiet` (the option --quiet)."""
    return _with_value(_IS_QUIET, is_quiet)


def say(text: str) -> None:
    """Print a remark or a report on standard error, unless --quiet silences it.

    A line about an error that ends the command is printed by `main` in any case.
    """
    if not is_quiet():
        write_text("stderr", text)


def remark(text: str) -> None:
    """Print a line on standard error about what was done."""
    say(f"cs-score: {one_line(text)}\n")


def warn(*texts: str, file: str | None = None) -> None:
    """Print warnings beside a result on standard error, a line each, with the file they are about."""
    for text in texts:
        say(f"cs-score: warning: {InputError(text, file=file)}\n")


class Destination(Record):
    """The place that an output switch names: a stream, in any letter case, or a path or prefix."""

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
        """Return the file that an option names as a planned output; nothing for a stream."""
        if self.stream is not None:
            return ()
        return (PlannedOutput(option, self.text, existing),)

    def write(self, blocks: Iterable[bytes]) -> None:
        """Write blocks of bytes; a file appears whole or not at all, and a terminal gets control characters as escapes.

        Raises OutputError, also where a stream is closed, full, or nobody reads it any more.
        """
        if self.stream is None:
            write_whole(self.text, blocks)
            return
        if _is_seen(self.stream):
            blocks = shown_on_terminal(blocks)
        self.write_safe(blocks)

    def write_safe(self, blocks: Iterable[bytes]) -> None:
        """Write bytes on a stream that a terminal may get as they are, such as our own colours. Raises OutputError."""
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
    """Return the destination for a file, also where its name is that of a stream."""
    destination = Destination(text)
    if destination.stream is None:
        return destination
    return Destination(os.path.join(os.curdir, text))


def _is_seen(stream: str) -> bool:
    """Say whether `stdout` or `stderr` goes to a terminal."""
    if stream == "stdout" and _CAPTURED.get() is not None:
        return False
    handle = sys.stdout if stream == "stdout" else sys.stderr
    return handle is not None and handle.isatty()


def write_text(stream: str, text: str) -> None:
    """Write text on `stdout` or `stderr`, in UTF-8; a terminal gets control characters as escapes."""
    handle = sys.stdout if stream == "stdout" else sys.stderr
    if _is_seen(stream):
        text = terminal_safe(text)
        if can_show_colours(handle):
            text = with_status(text)
    Destination(stream).write_safe([text.encode("utf-8", "surrogateescape")])


def print_text(text: str, add_colours: Callable[[str], str] = str) -> None:
    """Print text on standard output with one line feed at its end; control characters are escaped wherever it goes.

    `add_colours` is used where a terminal shows colours. Characters that the encoding of standard output lacks are
    written as escapes. Raises OutputError.
    """
    encoding = "utf-8"
    if _CAPTURED.get() is None:
        encoding = getattr(sys.stdout, "encoding", None) or encoding
    text = terminal_safe(text.removesuffix("\n"))
    if can_show_colours(sys.stdout):
        text = add_colours(text)
    STDOUT.write_safe([f"{text}\n".encode(encoding, "backslashreplace")])


def write_report(errors: Destination, text: str, blocks: Iterable[bytes]) -> None:
    """Write a report of problems: its text on standard error, its recorded `blocks` of bytes anywhere else."""
    if errors.stream == "stderr":
        say(text)
    else:
        errors.write(blocks)


# ---- Progress

PATIENCE: Final = 2
"""Seconds after which progress is shown."""

_PROGRESS_LINE: Final[list[str]] = []
"""The line of progress on the terminal, if there is one; the next text that is written replaces it."""


def shows_progress() -> bool:
    """Say whether progress can be seen: standard error is a terminal, and --quiet was not typed."""
    return sys.stderr is not None and sys.stderr.isatty() and not is_quiet()


def _show(text: str) -> None:
    """Write a line of progress over the one before it."""
    if [text] != _PROGRESS_LINE:
        _PROGRESS_LINE[:] = [text]
        os.write(2, f"\r\x1b[K{text}".encode())


def _clear() -> None:
    """Remove the line of progress from the terminal."""
    if _PROGRESS_LINE:
        _PROGRESS_LINE.clear()
        os.write(2, b"\r\x1b[K")


def show_progress(text: str) -> None:
    """Show a line of progress on the terminal until anything else is written."""
    with contextlib.suppress(OSError):  # a closed terminal ends no work
        _show(text[: shutil.get_terminal_size().columns - 1])


@contextlib.contextmanager
def with_clock(activity: str) -> Iterator[None]:
    """Show on a terminal how long the block has been at work, once it takes over two seconds."""
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
        _clear()


def _show_clock(activity: str, is_done: threading.Event) -> None:
    """Show every second how long an activity has taken, until it is done."""
    start = time.monotonic()
    pause: float = PATIENCE
    while not is_done.wait(pause):
        pause = 1
        has_bar = any("%" in text for text in _PROGRESS_LINE)
        if not has_bar:
            _show(f"{activity}, {time.monotonic() - start:.0f} s")


def with_bar(items: Sequence[Value], activity: str = "aligning") -> Iterator[Value]:
    """Yield the items, and show on a terminal how many of them are done, once that takes over two seconds."""
    is_visible = shows_progress()
    start = time.monotonic()
    for number, item in enumerate(items):
        if is_visible and time.monotonic() - start > PATIENCE:
            _show(f"{activity} {100 * number // len(items)} %")
        yield item
    _clear()


def text_width() -> int | None:
    """Return the columns of the terminal on which a text is shown; None where it goes to a pipe or a file."""
    if sys.stdout is None or not sys.stdout.isatty() or _CAPTURED.get() is not None:
        return None
    return shutil.get_terminal_size().columns
