"""Files that appear whole or not at all, and the plan of a call: what it reads and will write, checked before."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import errno
import io
import lzma
import os
import re
import shutil
import signal
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from enum import Enum
from typing import IO, Any, Final, TypeAlias

from cs_score.base.display import terminal_safe
from cs_score.base.errors import CsScoreError, InputError, OutputError, ReportError, UsageError
from cs_score.base.records import Record
from cs_score.base.runtime import STOP_SIGNALS
from cs_score.base.sources import open_source, plain_name, reason_of

_BLOCK: Final = 1 << 18

_STREAMS: Final = {"/dev/stdout": 1, "/dev/stderr": 2}

# Sources decompress files of these endings. Equal blocks give equal bytes: no time goes in.
_COMPRESSORS: Final[Mapping[str, Callable[[], Any]]] = {
    ".gz": lambda: zlib.compressobj(wbits=31),
    ".bz2": lambda: bz2.BZ2Compressor(),
    ".xz": lambda: lzma.LZMACompressor(),
}


class _Together:
    """What a block of `outputs_together` has written so far, none of which has its final name yet."""

    def __init__(self) -> None:
        self.target_by_temporary: dict[str, str] = {}
        self.new_folders: list[str] = []

    def discard(self) -> None:
        """Remove everything."""
        for temporary in self.target_by_temporary:
            _remove(temporary)
        for folder in reversed(self.new_folders):
            with contextlib.suppress(OSError):  # somebody else may have put something there
                os.rmdir(folder)

    def commit(self) -> None:
        """Give everything its final name; where that fails, earlier files get their names back. Raises OutputError.

        Signals wait meanwhile, so that none comes between two names.
        """
        renamed: list[tuple[str, str | None]] = []
        with _signals_wait():
            for temporary, target in self.target_by_temporary.items():
                earlier = _second_name(target) if len(self.target_by_temporary) > 1 else None
                try:
                    os.replace(temporary, target)
                except OSError as error:
                    if earlier is not None:
                        _remove(earlier)
                    _undo(renamed)
                    self.discard()
                    raise cannot_write(target, error) from None
                renamed.append((target, earlier))
            for _, earlier in renamed:
                if earlier is not None:
                    _remove(earlier)


@contextlib.contextmanager
def _signals_wait() -> Iterator[None]:
    """Let the signals that stop a process wait until the block has ended.

    A mask would not do: the system may hand a signal to a thread of numpy, and Python handles it in the main thread.
    Outside the main thread no signal is handled, so that nothing has to wait.
    """
    received: list[int] = []
    handler_by_signal: dict[signal.Signals, Any] = {}
    for stop_signal in STOP_SIGNALS:
        handler = signal.getsignal(stop_signal)
        if handler is None or handler is signal.SIG_IGN:
            continue
        try:
            signal.signal(stop_signal, lambda number, _: received.append(number))
        except ValueError:
            break
        handler_by_signal[stop_signal] = handler
    try:
        yield
    finally:
        for stop_signal, handler in handler_by_signal.items():
            signal.signal(stop_signal, handler)
        for number in received:
            signal.raise_signal(number)


_TOGETHER: ContextVar[_Together | None] = ContextVar("together", default=None)


@contextlib.contextmanager
def outputs_together() -> Iterator[None]:
    """Let the files that are written within appear at the end of the block, all of them or none.

    None appears where one cannot be written or the user interrupts. What was written before an input turned out to be
    wrong stays: it was written on purpose, such as a report of problems; so do results where standard error is closed.
    A block within another one leaves it to that
    one to let its files appear. Raises OutputError where a file cannot get its name.
    """
    outer = _TOGETHER.get()
    own = _Together()
    token = _TOGETHER.set(own)
    try:
        try:
            yield
        finally:
            _TOGETHER.reset(token)
    except BaseException as error:
        is_of_files = isinstance(error, OutputError) and not isinstance(error, ReportError)
        if isinstance(error, CsScoreError) and not is_of_files:
            _hand_over(own, outer)
        else:
            own.discard()
        raise
    _hand_over(own, outer)


def _hand_over(own: _Together, outer: _Together | None) -> None:
    """Let files appear, or leave that to an outer block. Raises OutputError."""
    if outer is None:
        own.commit()
        return
    outer.target_by_temporary |= own.target_by_temporary
    outer.new_folders += own.new_folders


def note_new_folder(path: str) -> None:
    """Let a folder go with the files of `outputs_together`: it is removed where none of them appears."""
    together = _TOGETHER.get()
    if together is not None:
        together.new_folders.append(path)


@contextlib.contextmanager
def outputs_at_once() -> Iterator[None]:
    """Let each file that is written within appear by itself, as soon as it is whole, also within `outputs_together`."""
    token = _TOGETHER.set(None)
    try:
        yield
    finally:
        _TOGETHER.reset(token)


def _second_name(path: str) -> str | None:
    """Give a file a second name beside it, by which it can be brought back; None where there is none, or it cannot."""
    second = _beside(path)
    try:
        os.link(path, second, follow_symlinks=False)
    except OSError:
        return None
    return second


def _undo(renamed: Sequence[tuple[str, str | None]]) -> None:
    """Bring back what the targets were before, by the second names of earlier files."""
    for target, earlier in reversed(renamed):
        if earlier is None:
            _remove(target)
            continue
        with contextlib.suppress(OSError):
            os.replace(earlier, target)


def _remove(path: str) -> None:
    """Remove a file or a folder with all that it holds, as far as possible."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        os.unlink(path)


def _let_appear(temporary: str, target: str) -> None:
    """Give a whole file or folder its final name, at once or at the end of the block of `outputs_together`."""
    together = _TOGETHER.get()
    if together is None:
        os.replace(temporary, target)
    else:
        together.target_by_temporary[temporary] = target


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary file that takes the name `path` only when the block ends well; otherwise nothing is left behind.

    The temporary file lies in the same folder, so the final step is a rename. A device or a pipe such as `/dev/stdout`
    is written directly, a terminal without control characters. Raises OutputError where the file cannot be written.
    """
    try:
        if is_stream(path):
            stream = _STREAMS.get(os.fspath(path))
            # A copy of the stream's own descriptor: opened anew, a file behind it would be written from its beginning.
            with open(path if stream is None else os.dup(stream), "wb") as device:
                if not device.isatty():
                    yield device
                    return
                terminal = io.BytesIO()
                yield terminal
                device.writelines(shown_on_terminal([terminal.getvalue()]))
            return
        target = os.path.realpath(path)
        temporary = _beside(target)
        try:
            with open(temporary, "xb", buffering=_BLOCK) as file:
                yield file
            _let_appear(temporary, target)
        except BaseException:
            _remove(temporary)
            raise
    except OSError as error:
        raise cannot_write(path, error) from None


def shown_on_terminal(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield blocks of UTF-8 with control characters escaped, as a terminal may get them; bytes of no character, too."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    for block in blocks:
        yield terminal_safe(decoder.decode(block)).encode()
    yield terminal_safe(decoder.decode(b"", final=True)).encode()


def _beside(path: str) -> str:
    """A name in the same folder that nothing has yet."""
    folder, name = os.path.split(os.path.realpath(path))
    return os.path.join(folder, f".{name}.{os.urandom(4).hex()}.part")


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether this is a device or a pipe, which takes anything any number of times and is not replaced."""
    try:
        target = os.path.realpath(path)
    except ValueError:  # a NUL inside the name, which no file has
        return False
    is_special = os.path.exists(target) and not os.path.isfile(target) and not os.path.isdir(target)
    return os.fspath(path) in _STREAMS or is_special


def blocks_of(paths: Iterable[str]) -> Iterator[bytes]:
    """The bytes of files one after the other, in blocks of at most a quarter of a megabyte."""
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                yield block


@contextlib.contextmanager
def folder_beside(path: str | None, mode: int = 0o700) -> Iterator[str]:
    """A temporary folder in that of the file `path`; None: where temporary files go. Raises OutputError."""
    if path is None:
        import tempfile  # it takes 1.5 ms, and short runs need no temporary folder

        path = os.path.join(tempfile.gettempdir(), "cs-score")
    temporary = _beside(path)
    try:  # from here on: a signal may stop the process as soon as the folder is there
        try:
            os.mkdir(temporary, mode)
        except OSError as error:
            raise cannot_write(path, error) from None
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_whole(path: str | os.PathLike[str], blocks: Iterable[bytes]) -> None:
    """Write `blocks` one after the other into `path`, which appears whole or not at all."""
    with whole_file(path) as file:
        file.writelines(blocks)


def write_packed(path: str, blocks: Iterable[bytes]) -> None:
    """As `write_whole`, compressed where the name ends like that."""
    write_whole(path, _packed(path, blocks))


def write_together(files: Iterable[tuple[str, Iterable[bytes]]]) -> None:
    """Write files, compressed where their names end like that; all of them appear, or none. Raises OutputError."""
    with outputs_together():
        for path, blocks in files:
            write_packed(path, blocks)


def _packed(path: str, blocks: Iterable[bytes]) -> Iterator[bytes]:
    make = _COMPRESSORS.get(os.path.splitext(path)[1])
    if make is None:
        yield from blocks
        return
    compressor = make()
    for block in blocks:
        yield compressor.compress(block)
    yield compressor.flush()


FolderFile: TypeAlias = tuple[str, str, Iterable[bytes]]
"""A file of a new folder: the folder below it, the file's name there, what it holds."""


def write_folder(path: str | os.PathLike[str], folders: Iterable[str], files: Iterable[FolderFile]) -> None:
    """Make the folder `path` with `folders` below it and `files` in those; it appears whole or not at all. Names of
    files may come from inputs: one that leads elsewhere is refused. Raises OutputError.
    """
    temporary = _beside(os.fspath(path))
    try:
        try:
            os.mkdir(temporary)
            _fill_folder(temporary, path, folders, files)
            _let_appear(temporary, os.path.abspath(path))
        except BaseException:
            _remove(temporary)
            raise
    except OSError as error:
        raise cannot_write(path, error) from None


def _fill_folder(
    temporary: str, path: str | os.PathLike[str], folders: Iterable[str], files: Iterable[FolderFile]
) -> None:
    """Make what will be the folder `path`. Raises OSError, OutputError for an impossible name of a file."""
    for folder in folders:
        os.mkdir(os.path.join(temporary, folder))
    for folder, file_name, blocks in files:
        if file_name in ("", os.curdir, os.pardir) or os.sep in file_name or "\0" in file_name:
            raise OutputError(f"Could not write {path}: {file_name!r} cannot be the name of a file")
        with open(os.path.join(temporary, folder, file_name), "xb") as file:
            file.writelines(blocks)


@contextlib.contextmanager
def folder_made(path: str | None, option: str) -> Iterator[None]:
    """Make the folder that an option names, where it names one that is not there; if the block fails, none stays empty.
    Raises OutputError.
    """
    if path is None or os.path.isdir(path):
        yield
        return
    if os.path.exists(path):
        raise OutputError(f"{path} is a file; {option} needs a folder")
    try:
        os.makedirs(path)
    except OSError as error:
        raise cannot_write(path, error) from None
    note_new_folder(path)
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            os.rmdir(path)
        raise


def encoded(pieces: Iterable[str]) -> Iterator[bytes]:
    """UTF-8, in blocks of about a quarter of a megabyte, which stay in the processor's cache."""
    block: list[bytes] = []
    size = 0
    for piece in pieces:
        data = piece.encode("utf-8", "surrogateescape")  # piece by piece: those that are ASCII are merely copied
        block.append(data)
        size += len(data)
        if size >= _BLOCK:
            yield b"".join(block)
            block, size = [], 0
    yield b"".join(block)


def cannot_write(path: str | os.PathLike[str], error: OSError) -> OutputError:
    """The one-line error for an output that cannot be written."""
    return OutputError(f"Could not write {os.fspath(path)}: {reason_of(error)}")


_BEGINNING: Final = 4096
"""Bytes by which a file is recognised."""

_Identity: TypeAlias = tuple[int, int] | str


class Existing(Enum):
    """What becomes of a file that is there already."""

    REFUSED = "the output must be a new file"
    REPLACED = "the user named this very file: it is replaced when the result is there, and stays where there is none"
    CLEARED = "it belongs to a family of files that earlier calls wrote: it is removed, whatever comes of this call"
    RECOGNISED = "only an earlier output of the same option is replaced, others by force alone"
    KNOWN = "as RECOGNISED, but it stays until the result is there: another call may still be at work on it"


class OwnOption(Record):
    """An option that the reference does not have: its name, how its files begin by their ending, a name to propose.

    A beginning is a pattern that fits all that cs-score writes there, little else. White space of JSON is left open, so
    that a file of another version with other indentation is known again.
    """

    name: str
    formats: Mapping[str, bytes]
    example: str
    takes_dash: bool = False

    def outputs(self, path: str | None) -> Iterator[PlannedOutput]:
        """The file that the option names; none for standard output. Raises UsageError for an impossible name."""
        if path is None or (path == "-" and self.takes_dash):
            return
        beginning = self.formats.get(ending_of(path))
        if beginning is None and not (self.takes_dash and is_stream(path)):
            *some, last = self.formats
            raise UsageError(
                f"{self.name} takes a file; did you mean {self.name} {self.example}? {path} does not end in "
                f"{', '.join(some)}{' or ' if some else ''}{last} (perhaps compressed)"
            )
        yield PlannedOutput(self.name, path, Existing.RECOGNISED, beginning)


def ending_of(path: str) -> str:
    """The ending of a file's name that gives its format, that of a compression aside."""
    return os.path.splitext(plain_name(path))[1].lower()


class PlannedOutput(Record):
    """A file to be written: the option or parameter that it comes from, and what may be there before. `beginning` is
    the pattern by which a file that cs-score wrote is known.
    """

    option: str
    path: str
    existing: Existing
    beginning: bytes | None = None

    def check_place(self) -> None:
        """Raises UsageError where something is in the way, OutputError where no file can be made."""
        if os.path.isdir(self.path):
            raise UsageError(f"{self.path} is a folder, where {self.option} writes a file")
        if self.existing is Existing.REFUSED and os.path.exists(self.path):
            raise UsageError(f"File {self.path} already exists; {self.option} must name a new file")
        if (reason := why_not_writable(self.path)) is not None:
            raise OutputError(f"Could not open {self.path}: {reason}; choose another {self.option}")

    def is_recognised(self) -> bool:
        """Whether an earlier call wrote the existing file, as far as its content (if packed, what is inside) shows."""
        if self.existing is Existing.CLEARED or self.beginning is None:
            return self.existing is Existing.CLEARED
        try:
            with open_source(self.path) as source:
                return re.match(self.beginning, source.binary.read(_BEGINNING)) is not None
        except (InputError, OSError):
            return False


class OutputPlan(Record):
    """All that a call reads and all that it writes; `folder` is one that it makes, so that files may lie there.

    `check` refuses an output that is an input, another output or a folder, under whatever name or link, and a file that
    stands in the way and must not be replaced. `clear` then removes what earlier calls left at these places, as far as
    it is recognised as theirs, so that it is not taken for the result of a call that fails.
    """

    inputs: Sequence[str]
    outputs: Sequence[PlannedOutput]
    forced: bool = False
    folder: str | None = None

    def check(self) -> None:
        """Raises UsageError or OutputError for the first output that cannot be; touches nothing."""
        taken: dict[_Identity, PlannedOutput] = {}
        new_folder = None if self.folder is None or os.path.isdir(self.folder) else os.path.abspath(self.folder)
        for output in self._files():
            if new_folder is None or os.path.dirname(os.path.abspath(output.path)) != new_folder:
                output.check_place()
            other = taken.setdefault(_identity(output.path), output)
            # Files of one option never share a path; what is left of earlier calls may have been linked to save space.
            if other.option != output.option:
                raise UsageError(f"{output.path} is what {other.option} writes; choose another {output.option}")
        for name in self.inputs if taken else ():
            if (identity := _identity(name, is_input=True)) in taken:
                raise UsageError(f"{taken[identity].path} is an input; choose another {taken[identity].option}")
        for output in taken.values() if not self.forced else ():
            is_guarded = output.existing in (Existing.RECOGNISED, Existing.KNOWN)
            if is_guarded and os.path.exists(output.path) and not output.is_recognised():
                raise UsageError(f"{output.path} exists; name another {output.option}, or replace it with --force")

    def clear(self) -> None:
        """Remove the files of earlier calls, as far as they are recognised."""
        for output in self._files():
            if output.existing is not Existing.KNOWN and os.path.isfile(output.path) and output.is_recognised():
                with contextlib.suppress(OSError):
                    os.unlink(output.path)

    def _files(self) -> Iterator[PlannedOutput]:
        """The outputs but for devices and pipes, to which anything may be written any number of times."""
        return (output for output in self.outputs if output.existing is Existing.REFUSED or not is_stream(output.path))


def _identity(path: str, *, is_input: bool = False) -> _Identity:
    """What two names of one file have in common: device and inode, or where the file would lie. The input `-` is
    standard input, which may be a file by redirection.
    """
    try:
        found = os.fstat(0) if is_input and path == "-" else os.stat(path)
        return found.st_dev, found.st_ino
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            return os.path.realpath(path)
    return path


def why_not_writable(path: str) -> str | None:
    """Why a file `path` cannot be made or replaced, in the operating system's words; None where it can."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        folder = os.path.dirname(os.path.realpath(path))  # a link may lead to where the file will be
        if not os.path.exists(folder):
            return os.strerror(errno.ENOENT)
        return None if os.access(folder, os.W_OK | os.X_OK) else os.strerror(errno.EACCES)
    except (OSError, ValueError) as error:  # a circle of links, a file on the way; a NUL, which no name has
        return reason_of(error)
    if stat.S_ISDIR(found.st_mode):
        return os.strerror(errno.EISDIR)
    return None if os.access(path, os.W_OK) else os.strerror(errno.EACCES)
