"""Output files that appear whole or not at all, and the plan of a call: its inputs and outputs, checked beforehand."""

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
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from enum import Enum
from typing import IO, Any, Final, NamedTuple, TypeAlias

from cs_score.base.display import terminal_safe
from cs_score.base.errors import CsScoreError, InputError, OutputError, ReportError, UsageError
from cs_score.base.records import Record
from cs_score.base.runtime import delayed_signals
from cs_score.base.sources import open_source, plain_name, reason_of

_BLOCK: Final = 1 << 18
"""Bytes that are read or written at once: a quarter of a megabyte."""

_STREAMS: Final = {"/dev/stdout": 1, "/dev/stderr": 2}
"""The file descriptors of streams by name."""


def _gzip_compressor() -> Any:
    """Return a compressor of gzip without name and time in its header: equal blocks give equal bytes."""
    return zlib.compressobj(wbits=31)


_COMPRESSORS: Final[Mapping[str, Callable[[], Any]]] = {
    ".gz": _gzip_compressor,
    ".bz2": bz2.BZ2Compressor,
    ".xz": lzma.LZMACompressor,
}
"""Functions that make a compressor, by the ending of the file. Sources decompress files of these endings."""

# ---- Several files together


class _PendingOutputs:
    """The files and folders that a block of `outputs_together` has written, before they get their final names.

    `target_by_temporary` has the final path of each by its temporary path; `new_folders` were made for them.
    """

    def __init__(self) -> None:
        self.target_by_temporary: dict[str, str] = {}
        self.new_folders: list[str] = []

    def discard(self) -> None:
        """Remove all files and folders."""
        for temporary in self.target_by_temporary:
            _remove(temporary)
        for folder in reversed(self.new_folders):
            with contextlib.suppress(OSError):  # somebody else may have put something there
                os.rmdir(folder)

    def commit(self) -> None:
        """Give all files and folders their final names. Raises OutputError.

        Where one cannot be renamed, the others are renamed back, files that they replaced are brought back, and nothing
        new is left. Signals wait meanwhile, so that none comes between two names.
        """
        renamed: list[_Renamed] = []
        with delayed_signals():
            for temporary, target in self.target_by_temporary.items():
                backup = _second_name(target) if len(self.target_by_temporary) > 1 else None
                try:
                    os.replace(temporary, target)
                except OSError as error:
                    _remove_backup(backup)
                    _undo(renamed)
                    self.discard()
                    raise cannot_write(target, error) from None
                renamed.append(_Renamed(target, backup))
            for output in renamed:
                _remove_backup(output.backup)


class _Renamed(NamedTuple):
    """A file that has got its final name `target`, and the second name of the file that it replaced, if it did."""

    target: str
    backup: str | None


_PENDING: ContextVar[_PendingOutputs | None] = ContextVar("pending", default=None)
"""The outputs of the innermost block of `outputs_together`; None outside."""


@contextlib.contextmanager
def outputs_together() -> Iterator[None]:
    """Let all files written in the block appear at its end, all of them or none.

    None appears where one cannot be written or the user interrupts. Files that were written before an input turned out
    to be wrong stay: they were written on purpose, such as a report of problems. So do results where standard error is
    closed. The files of a block within another block appear at the end of the outer block. Raises OutputError where a
    file cannot get its name.
    """
    outer_outputs = _PENDING.get()
    outputs = _PendingOutputs()
    token = _PENDING.set(outputs)
    try:
        try:
            yield
        finally:
            _PENDING.reset(token)
    except BaseException as error:
        is_about_outputs = isinstance(error, OutputError) and not isinstance(error, ReportError)
        if isinstance(error, CsScoreError) and not is_about_outputs:
            _hand_over(outputs, outer_outputs)
        else:
            outputs.discard()
        raise
    _hand_over(outputs, outer_outputs)


def _hand_over(outputs: _PendingOutputs, outer_outputs: _PendingOutputs | None) -> None:
    """Let files appear, or add them to the files of an outer block. Raises OutputError."""
    if outer_outputs is None:
        outputs.commit()
        return
    outer_outputs.target_by_temporary |= outputs.target_by_temporary
    outer_outputs.new_folders += outputs.new_folders


def note_new_folder(path: str) -> None:
    """Remember a folder made for the files of `outputs_together`: it is removed where they do not appear."""
    outputs = _PENDING.get()
    if outputs is not None:
        outputs.new_folders.append(path)


@contextlib.contextmanager
def outputs_at_once() -> Iterator[None]:
    """Let each file written in the block appear by itself, as soon as it is whole, also within `outputs_together`."""
    token = _PENDING.set(None)
    try:
        yield
    finally:
        _PENDING.reset(token)


def _second_name(path: str) -> str | None:
    """Give a file a second name in its folder, by which it can be brought back, and return this name.

    None where the file does not exist, or its file system gives no second names.
    """
    second_name = _temporary_path(path)
    try:
        os.link(path, second_name, follow_symlinks=False)
    except OSError:
        return None
    return second_name


def _remove_backup(backup: str | None) -> None:
    """Remove the second name of a file, if it has one."""
    if backup is not None:
        _remove(backup)


def _undo(renamed: Sequence[_Renamed]) -> None:
    """Remove files that have got their final names, and bring back the files that they replaced."""
    for output in reversed(renamed):
        if output.backup is None:
            _remove(output.target)
            continue
        with contextlib.suppress(OSError):
            os.replace(output.backup, output.target)


def _remove(path: str) -> None:
    """Remove a file, or a folder with all files in it, as far as possible."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        os.unlink(path)


def _let_appear(temporary: str, target: str) -> None:
    """Give a whole file or folder its final name, at once or at the end of the block of `outputs_together`."""
    outputs = _PENDING.get()
    if outputs is None:
        os.replace(temporary, target)
    else:
        outputs.target_by_temporary[temporary] = target


# ---- One file


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary file for writing that appears as `path` when the block ends well, and otherwise leaves no trace.

    The temporary file is in the same folder, so that the last step is to rename it. A device or a pipe such as
    `/dev/stdout` is written directly, a terminal without control characters. Raises OutputError where the file cannot
    be written.
    """
    try:
        open_file = _open_stream if is_stream(path) else _open_temporary
        with open_file(path) as file:
            yield file
    except OSError as error:
        raise cannot_write(path, error) from None


@contextlib.contextmanager
def _open_stream(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a device or a pipe for writing. Control characters for a terminal are escaped. Raises OSError."""
    stream = _STREAMS.get(os.fspath(path))
    # A copy of the stream's own descriptor: opened anew, a file behind it would be written from its beginning.
    with open(path if stream is None else os.dup(stream), "wb") as device:
        if not device.isatty():
            yield device
            return
        content = io.BytesIO()
        yield content
        device.writelines(shown_on_terminal([content.getvalue()]))


@contextlib.contextmanager
def _open_temporary(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file beside `path` that takes its place when the block ends well. Raises OSError."""
    target = os.path.realpath(path)
    temporary = _temporary_path(target)
    try:
        with open(temporary, "xb", buffering=_BLOCK) as file:
            yield file
        _let_appear(temporary, target)
    except BaseException:
        _remove(temporary)
        raise


def shown_on_terminal(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield blocks of UTF-8 as a terminal may get them: control characters are escaped, and bytes of no character."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    for block in blocks:
        yield terminal_safe(decoder.decode(block)).encode()
    yield terminal_safe(decoder.decode(b"", final=True)).encode()


def _temporary_path(path: str) -> str:
    """Return a path in the same folder that no file has yet: `out/run.json` gives `out/.run.json.1f2e3d4c.part`."""
    folder, name = os.path.split(os.path.realpath(path))
    return os.path.join(folder, f".{name}.{os.urandom(4).hex()}.part")


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a device or a pipe, which is not replaced and may be written any number of times."""
    try:
        target = os.path.realpath(path)
    except ValueError:  # a NUL inside the name, which no file has
        return False
    is_special = os.path.exists(target) and not os.path.isfile(target) and not os.path.isdir(target)
    return os.fspath(path) in _STREAMS or is_special


def blocks_of(paths: Iterable[str]) -> Iterator[bytes]:
    """Yield the bytes of files, one file after the other, in blocks of at most a quarter of a megabyte."""
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            block = file.read(_BLOCK)
            while block:
                yield block
                block = file.read(_BLOCK)


@contextlib.contextmanager
def folder_beside(path: str | None, mode: int = 0o700) -> Iterator[str]:
    """Make a temporary folder beside the file `path`, and remove it at the end of the block. Raises OutputError.

    Without a path it is made where temporary files go.
    """
    if path is None:
        import tempfile  # it takes 1.5 ms, and short runs need no temporary folder

        path = os.path.join(tempfile.gettempdir(), "cs-score")
    temporary = _temporary_path(path)
    try:  # from here on: a signal may stop the process as soon as the folder is there
        try:
            os.mkdir(temporary, mode)
        except OSError as error:
            raise cannot_write(path, error) from None
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_whole(path: str | os.PathLike[str], blocks: Iterable[bytes]) -> None:
    """Write blocks one after the other to a file, which appears whole or not at all. Raises OutputError."""
    with whole_file(path) as file:
        file.writelines(blocks)


def write_packed(path: str, blocks: Iterable[bytes]) -> None:
    """Write blocks to a file as `write_whole` does, compressed if its name ends in .gz, .bz2 or .xz."""
    write_whole(path, _compress(path, blocks))


def write_together(files: Iterable[tuple[str, Iterable[bytes]]]) -> None:
    """Write files by path and blocks, as `write_packed` does; all of them appear, or none. Raises OutputError."""
    with outputs_together():
        for path, blocks in files:
            write_packed(path, blocks)


def _compress(path: str, blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield blocks as they are stored in a file: compressed if its name ends like that."""
    make_compressor = _COMPRESSORS.get(os.path.splitext(path)[1])
    if make_compressor is None:
        yield from blocks
        return
    compressor = make_compressor()
    for block in blocks:
        yield compressor.compress(block)
    yield compressor.flush()


# ---- Folders

FolderFile: TypeAlias = tuple[str, str, Iterable[bytes]]
"""A file of a new folder: the subfolder, the file's name there, and its content in blocks."""


def write_folder(path: str | os.PathLike[str], folders: Iterable[str], files: Iterable[FolderFile]) -> None:
    """Write a folder with subfolders and files in these; it appears whole or not at all.

    Names of files may come from inputs: a name that leads elsewhere is refused. Raises OutputError.
    """
    temporary = _temporary_path(os.fspath(path))
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
    """Write subfolders and files into the temporary folder that will be the folder `path`.

    Raises OSError, and OutputError for an impossible name of a file.
    """
    for folder in folders:
        os.mkdir(os.path.join(temporary, folder))
    for folder, file_name, blocks in files:
        if file_name in ("", os.curdir, os.pardir) or os.sep in file_name or "\0" in file_name:
            raise OutputError(f"Could not write {path}: {file_name!r} cannot be the name of a file")
        with open(os.path.join(temporary, folder, file_name), "xb") as file:
            file.writelines(blocks)


@contextlib.contextmanager
def folder_made(path: str | None, option: str) -> Iterator[None]:
    """Make the folder that an option names, if it does not exist; it is removed again if the block fails.

    `path` is None where the option is not given. Raises OutputError where a file has this name, or no folder can be
    made.
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
    """Yield pieces of text as UTF-8, joined to blocks of about a quarter of a megabyte.

    Such blocks stay in the processor's cache.
    """
    parts: list[bytes] = []
    size = 0
    for piece in pieces:
        data = piece.encode("utf-8", "surrogateescape")  # piece by piece: ASCII pieces are merely copied
        parts.append(data)
        size += len(data)
        if size >= _BLOCK:
            yield b"".join(parts)
            parts = []
            size = 0
    yield b"".join(parts)


def cannot_write(path: str | os.PathLike[str], error: OSError) -> OutputError:
    """Return the one-line error for an output that cannot be written."""
    return OutputError(f"Could not write {os.fspath(path)}: {reason_of(error)}")


# ---- The plan of a call

_BEGINNING: Final = 4096
"""Bytes at the beginning of a file by which it is recognised."""

_Identity: TypeAlias = tuple[int, int] | str
"""The device and inode of a file, or the path where it would be."""


class Existing(Enum):
    """How a call deals with a file that exists at the place of an output."""

    REFUSED = "the output must be a new file"
    REPLACED = "the user named this very file: it is replaced when the result is there, and stays where there is none"
    CLEARED = "it belongs to a family of files that earlier calls wrote: it is removed, whatever comes of this call"
    RECOGNISED = "only an earlier output of the same option is replaced, others by force alone"
    KNOWN = "as RECOGNISED, but it stays until the result is there: another call may still be at work on it"


class OwnOption(Record):
    """An option that names an output file, and that the reference does not have.

    `formats` has the possible endings of the file, each with a pattern for the beginning of such a file: it fits all
    files that cs-score writes there, and little else. It leaves white space of JSON open, so that a file of another
    version with other indentation is recognised. `example` is a name to propose. With `takes_dash` the path `-` is
    standard output.
    """

    name: str
    formats: Mapping[str, bytes]
    example: str
    takes_dash: bool = False

    def outputs(self, path: str | None) -> Iterator[PlannedOutput]:
        """Yield the file that the option names; none for standard output. Raises UsageError for an impossible name."""
        if path is None or (path == "-" and self.takes_dash):
            return
        beginning = self.formats.get(ending_of(path))
        if beginning is None and not (self.takes_dash and is_stream(path)):
            endings = list(self.formats)
            listed = endings[-1]
            if len(endings) > 1:
                listed = f"{', '.join(endings[:-1])} or {listed}"
            raise UsageError(
                f"{self.name} takes a file; did you mean {self.name} {self.example}? {path} does not end in {listed} "
                "(perhaps compressed)"
            )
        yield PlannedOutput(self.name, path, Existing.RECOGNISED, beginning)


def ending_of(path: str) -> str:
    """Return the ending of a file's name that gives its format: `page.HTML.gz` gives `.html`."""
    return os.path.splitext(plain_name(path))[1].lower()


class PlannedOutput(Record):
    """A file to be written.

    `option` is the option or parameter that names it, `existing` says how a file at this place is dealt with.
    `beginning` is the pattern by which a file that cs-score wrote is recognised.
    """

    option: str
    path: str
    existing: Existing
    beginning: bytes | None = None

    def check_place(self) -> None:
        """Raise UsageError where a folder or file is in the way, OutputError where no file can be made."""
        if os.path.isdir(self.path):
            raise UsageError(f"{self.path} is a folder, where {self.option} writes a file")
        if self.existing is Existing.REFUSED and os.path.exists(self.path):
            raise UsageError(f"File {self.path} already exists; {self.option} must name a new file")
        reason = why_not_writable(self.path)
        if reason is not None:
            raise OutputError(f"Could not open {self.path}: {reason}; choose another {self.option}")

    def is_recognised(self) -> bool:
        """Return whether an earlier call wrote the existing file, as far as its decompressed content shows."""
        if self.existing is Existing.CLEARED:
            return True
        if self.beginning is None:
            return False
        try:
            with open_source(self.path) as source:
                first_bytes = source.binary.read(_BEGINNING)
        except (InputError, OSError):
            return False
        return re.match(self.beginning, first_bytes) is not None


class OutputPlan(Record):
    """All inputs and outputs of a call; `folder` is a folder that it makes for outputs, if it makes one.

    `check` refuses an output that is an input, another output or a folder, under whatever name or link, and a file that
    is in the way and must not be replaced. `clear` then removes the files of earlier calls at these places, as far as
    they are recognised, so that none is taken for the result of a call that fails. A call that is `forced` replaces any
    file.
    """

    inputs: Sequence[str]
    outputs: Sequence[PlannedOutput]
    forced: bool = False
    folder: str | None = None

    def check(self) -> None:
        """Raise UsageError or OutputError for the first output that is impossible; nothing is changed."""
        output_by_identity = self._check_places()
        if not output_by_identity:
            return
        for name in self.inputs:
            output = output_by_identity.get(_identity(name, is_input=True))
            if output is not None:
                raise UsageError(f"{output.path} is an input; choose another {output.option}")
        if self.forced:
            return
        for output in output_by_identity.values():
            is_guarded = output.existing in (Existing.RECOGNISED, Existing.KNOWN)
            if is_guarded and os.path.exists(output.path) and not output.is_recognised():
                raise UsageError(f"{output.path} exists; name another {output.option}, or replace it with --force")

    def _check_places(self) -> dict[_Identity, PlannedOutput]:
        """Return the outputs by their identity. Raises UsageError or OutputError for an impossible place."""
        new_folder = None
        if self.folder is not None and not os.path.isdir(self.folder):
            new_folder = os.path.abspath(self.folder)
        output_by_identity: dict[_Identity, PlannedOutput] = {}
        for output in self._files():
            if new_folder is None or os.path.dirname(os.path.abspath(output.path)) != new_folder:
                output.check_place()
            other_output = output_by_identity.setdefault(_identity(output.path), output)
            # Files of one option never share a path; files of earlier calls may have been linked to save space.
            if other_output.option != output.option:
                raise UsageError(f"{output.path} is what {other_output.option} writes; choose another {output.option}")
        return output_by_identity

    def clear(self) -> None:
        """Remove the files of earlier calls, as far as they are recognised."""
        for output in self._files():
            if output.existing is not Existing.KNOWN and os.path.isfile(output.path) and output.is_recognised():
                with contextlib.suppress(OSError):
                    os.unlink(output.path)

    def _files(self) -> Iterator[PlannedOutput]:
        """Yield the outputs but for devices and pipes, which may be written any number of times."""
        for output in self.outputs:
            if output.existing is Existing.REFUSED or not is_stream(output.path):
                yield output


def _identity(path: str, *, is_input: bool = False) -> _Identity:
    """Return what all names of a file have in common: its device and inode, or the path where it would be.

    The input `-` is standard input, which may be a file by redirection.
    """
    try:
        status = os.fstat(0) if is_input and path == "-" else os.stat(path)
        return status.st_dev, status.st_ino
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            return os.path.realpath(path)
    return path


def why_not_writable(path: str) -> str | None:
    """Return why a file cannot be made or replaced, in the operating system's words; None where it can.

    A path in a folder that does not exist gives `No such file or directory`.
    """
    try:
        status = os.stat(path)
    except FileNotFoundError:
        folder = os.path.dirname(os.path.realpath(path))  # a link may lead to where the file will be
        if not os.path.exists(folder):
            return os.strerror(errno.ENOENT)
        return None if os.access(folder, os.W_OK | os.X_OK) else os.strerror(errno.EACCES)
    except (OSError, ValueError) as error:  # a circle of links, a file on the way; a NUL, which no name has
        return reason_of(error)
    if stat.S_ISDIR(status.st_mode):
        return os.strerror(errno.EISDIR)
    return None if os.access(path, os.W_OK) else os.strerror(errno.EACCES)
