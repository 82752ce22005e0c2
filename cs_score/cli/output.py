"""Write the output of commands to files and standard streams, with colours and progress on a terminal. Results go to
standard output; errors, warnings, remarks and the line of progress go to standard error.
"""

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
from typing import IO, Any, Final, TextIO, TypeVar

from cs_score.base.display import one_line, terminal_safe
from cs_score.base.errors import InputError, OutputError, ReportError
from cs_score.base.outputs import Existing, PlannedOutput, shown_on_terminal, write_whole
from cs_score.base.records import Record
from cs_score.base.sources import reason_of

_COLOUR_CODE_BY_GROUP: Final = {"good": 32, "mild": 33, "bad": 31}
"""The codes of green, yellow and red on a terminal, by the name of a group of a regular expression."""


class _Painter:
    """Colours the parts of a text that the groups `good`, `mild` and `bad` of a regular expression match."""

    def __init__(self, pattern: str) -> None:
        """Make a painter from a regular expression whose groups are called `good`, `mild` or `bad`."""
        self._pattern = re.compile(pattern, re.MULTILINE)

    def __call__(self, text: str) -> str:
        """Return the text with colours."""
        return self._pattern.sub(_coloured_text, text)


def _coloured_text(match: re.Match[str]) -> str:
    """Return the text of a match with the codes that colour it on a terminal, by the name of its group."""
    colour = _COLOUR_CODE_BY_GROUP[match.lastgroup or "mild"]
    return f"\x1b[{colour}m{match.group()}\x1b[0m"  # the last code ends the colour


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
    """Return whether a stream goes to a terminal that can show colours."""
    is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb"
    is_captured = _CAPTURED.get() is not None  # the output will be written to a file
    if stream is None or is_plain or is_captured:
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


def captured_output() -> AbstractContextManager[list[bytes]]:
    """Return a context manager that collects the output of its block as blocks of bytes, instead of printing it."""
    return _with_value(_CAPTURED, [])


def quietly(is_quiet: bool) -> AbstractContextManager[bool]:
    """Return a context manager during which `print_unless_quiet` prints nothing if `is_quiet` is true."""
    return _with_value(_IS_QUIET, is_quiet)


def print_unless_quiet(text: str) -> None:
    """Print a remark or a report on standard error; with --quiet nothing is printed.

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
        warning = InputError(text, file=file)  # its text is `FILE: TEXT` on one line
        print_unless_quiet(f"cs-score: warning: {warning}\n")


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

    @property
    def is_file(self) -> bool:
        """Whether the output goes to a file, or to files with a common prefix, and not to a stream."""
        return self.stream is None

    def planned(self, option: str, existing: Existing) -> tuple[PlannedOutput, ...]:
        """Return a description of the file, so that it can be checked before the work begins; empty for a stream.

        `option` is the option that names the file. `existing` says what happens to a file that is already there. This
        is not called for a destination that is the prefix of several files, because its caller knows the files.
        """
        if not self.is_file:
            return ()
        return (PlannedOutput(option, self.name, existing),)

    def write(self, blocks: Iterable[bytes]) -> None:
        """Write blocks of bytes to the stream or the file. Raises OutputError if they cannot all be written.

        A file appears with all blocks or not at all. On a terminal control characters are shown as escapes.
        """
        if self.stream is None:
            write_whole(self.name, blocks)
            return
        if is_terminal(self.stream):
            blocks = shown_on_terminal(blocks)
        self.write_unescaped(blocks)

    def write_unescaped(self, blocks: Iterable[bytes]) -> None:
        """Write bytes to the stream without escaping control characters.

        The caller has escaped the control characters of the inputs, so that only our codes for colours are left. Raises
        OutputError if the stream is closed or full, or if nobody reads it any more.
        """
        captured_blocks = _CAPTURED.get()  # None if nobody collects what is printed
        if self.stream == "stdout" and captured_blocks is not None:
            captured_blocks.extend(blocks)
            return
        stream = _standard_stream(self.stream)
        if stream is None:  # the process was started with the stream closed
            raise self._error(f"{self._title} is closed")
        _PROGRESS.remove()  # a line of progress would stand in the middle of the text
        try:
            _write_and_flush(stream, blocks)
        except BrokenPipeError:
            raise self._error(f"{self._title} was closed before everything was written") from None
        except OSError as error:
            raise self._error(f"Could not write {self._title}: {reason_of(error)}") from None

    @property
    def _title(self) -> str:
        """The name of the stream in messages: `standard output` or `standard error`."""
        return "standard output" if self.stream == "stdout" else "standard error"

    def _error(self, message: str) -> OutputError:
        """Return an error of writing to the stream: OutputError for standard output, ReportError for standard error."""
        if self.stream == "stdout":
            return OutputError(message)
        return ReportError(message)


STDOUT: Final = Destination("stdout")
STDERR: Final = Destination("stderr")


def file_named(text: str) -> Destination:
    """Return the destination for a file, even if its name is `stdout` or `stderr`."""
    destination = Destination(text)
    if destination.stream is None:
        return destination
    return Destination(os.path.join(os.curdir, text))


def _standard_stream(name: str | None) -> TextIO | None:
    """Return standard output for `stdout`, and standard error for any other name; None if the stream is closed."""
    return sys.stdout if name == "stdout" else sys.stderr


def _write_and_flush(stream: TextIO, blocks: Iterable[bytes]) -> None:
    """Write bytes to a standard stream after the text that is in its buffer, and flush it.

    Raises OSError if this fails. Anything that is written to the stream afterwards is then discarded.
    """
    try:
        stream.flush()
        for block in blocks:
            stream.buffer.write(block)
        stream.flush()
    except OSError:
        _discard_output(stream)
        raise


def _discard_output(stream: TextIO) -> None:
    """Connect a stream to the null device, so that everything that is written to it from now on is discarded.

    The interpreter flushes the buffer of a standard stream once more when it ends: that must not fail again.
    """
    with contextlib.suppress(OSError):
        null_device = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null_device, stream.fileno())


def is_terminal(stream: str) -> bool:
    """Return whether a stream, `stdout` or `stderr`, is connected to a terminal and not captured."""
    if stream == "stdout" and _CAPTURED.get() is not None:
        return False
    handle = _standard_stream(stream)
    return handle is not None and handle.isatty()


def write_text(stream: str, text: str) -> None:
    """Write a text in UTF-8 to a stream, `stdout` or `stderr`.

    On a terminal, control characters are escaped, and the words ERROR and WARNING before a message are coloured.
    """
    if is_terminal(stream):
        text = _text_for_terminal(text, stream)
    blocks = [text.encode("utf-8", "surrogateescape")]
    Destination(stream).write_unescaped(blocks)


def _text_for_terminal(text: str, stream: str) -> str:
    """Return a text with escapes for control characters and, if the terminal has colours, with coloured severities."""
    text = terminal_safe(text)
    if can_show_colours(_standard_stream(stream)):
        return with_coloured_severities(text)
    return text


def print_text(text: str, add_colours: Callable[[str], str] | None = None) -> None:
    """Print a text on standard output, with one line feed at its end. Raises OutputError if writing fails.

    Control characters, and characters that the encoding of standard output lacks, are written as escapes. If standard
    output is a terminal with colours, the text is first passed to `add_colours`, and the result is printed.
    """
    text = terminal_safe(text.removesuffix("\n"))
    if add_colours is not None and can_show_colours(sys.stdout):
        text = add_colours(text)
    block = f"{text}\n".encode(_output_encoding(), "backslashreplace")
    STDOUT.write_unescaped([block])


def _output_encoding() -> str:
    """Return the encoding of texts on standard output, such as `latin-1`; `utf-8` if the output is captured."""
    is_captured = _CAPTURED.get() is not None
    if is_captured:
        return "utf-8"
    return getattr(sys.stdout, "encoding", None) or "utf-8"


def write_report(destination: Destination, text: str, blocks: Iterable[bytes]) -> None:
    """Write a report of problems to its destination.

    On standard error it is printed as `text`. Any other destination gets `blocks`, the same report as bytes in the
    encoding of the reference program.
    """
    if destination.stream == "stderr":
        print_unless_quiet(text)
    else:
        destination.write(blocks)


# ---- Progress

SECONDS_BEFORE_PROGRESS: Final = 2
"""How many seconds a command runs before progress is shown."""


_ERASE_LINE: Final = "\r\x1b[K"
"""What moves a terminal to the beginning of its line, and erases the line."""


class _ProgressLine:
    """The line of progress on the terminal, which is removed before another text is written."""

    def __init__(self) -> None:
        """Make a line that is not shown yet; `text` is the text on the terminal, or empty."""
        self.text = ""

    def show(self, text: str) -> None:
        """Show a text in place of the previous one."""
        if text != self.text:
            self.text = text
            os.write(2, f"{_ERASE_LINE}{text}".encode())

    def remove(self) -> None:
        """Remove the line from the terminal, if it is shown."""
        if self.text:
            self.text = ""
            os.write(2, _ERASE_LINE.encode())


_PROGRESS: Final = _ProgressLine()


def shows_progress() -> bool:
    """Return whether progress is shown.

    It is shown if standard error is a terminal that can erase a line, and if --quiet was not typed.
    """
    can_erase_line = os.environ.get("TERM") != "dumb"
    return is_terminal("stderr") and can_erase_line and not is_quiet()


def show_progress(text: str) -> None:
    """Show a line of progress on the terminal, cut to its width; it stays until another text is written."""
    width = shutil.get_terminal_size().columns - 1
    with contextlib.suppress(OSError):  # a closed terminal ends no work
        _PROGRESS.show(text[:width])


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
        is_done.set()  # ends the thread
        thread.join()
        _PROGRESS.remove()


def _show_clock(activity: str, is_done: threading.Event) -> None:
    """Show every second how long an activity has taken, until `is_done` is set, unless a percentage is shown."""
    start = time.monotonic()
    pause: float = SECONDS_BEFORE_PROGRESS  # before the first line; each further one is shown a second later
    while not is_done.wait(pause):
        pause = 1
        has_percentage = "%" in _PROGRESS.text  # another part of the program shows how much is done
        if not has_percentage:
            seconds = time.monotonic() - start
            _PROGRESS.show(f"{activity}, {seconds:.0f} s")


def with_percentage(items: Sequence[Value], activity: str = "aligning") -> Iterator[Value]:
    """Yield the items. After two seconds, a terminal shows what percentage of them is done.

    The line on the terminal names the activity, for example `aligning 40 %`.
    """
    is_visible = shows_progress()
    start = time.monotonic()
    for done_count, item in enumerate(items):
        if is_visible and time.monotonic() - start > SECONDS_BEFORE_PROGRESS:
            percentage = 100 * done_count // len(items)
            _PROGRESS.show(f"{activity} {percentage} %")
        yield item
    _PROGRESS.remove()


def text_width() -> int | None:
    """Return the width in columns of the terminal that shows standard output; None for a pipe or a file."""
    if not is_terminal("stdout"):
        return None
    return shutil.get_terminal_size().columns
