"""Output files that appear whole or not at all, and the plan of a call: its inputs and outputs, checked beforehand. A
file is written under a temporary name in the same folder, and gets its final name when it is whole.
"""

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
from cs_score.base.sources import name_without_compression, open_source, reason_of

_BLOCK_SIZE: Final = 1 << 18
"""Bytes that are read or written at once: a quarter of a megabyte."""

_DESCRIPTOR_BY_STREAM_PATH: Final = {"/dev/stdout": 1, "/dev/stderr": 2}
"""The file descriptors of streams by name."""


def _gzip_compressor() -> Any:
    """Return a gzip compressor that does not write a name or a time, so that equal contents give equal files."""
    return zlib.compressobj(wbits=31)  # 31: the largest window, with the header and the trailer of gzip


_COMPRESSORS: Final[Mapping[str, Callable[[], Any]]] = {
    ".gz": _gzip_compressor,
    ".bz2": bz2.BZ2Compressor,
    ".xz": lzma.LZMACompressor,
}
"""The functions that make a compressor, by the ending of a file's name."""

# ---- Several files together


class _PendingOutputs:
    """The files and folders that were written inside `outputs_together` and do not have their final names yet.

    `target_by_temporary` has the final path of each by its temporary path. `new_folders` are folders that were made for
    them.
    """

    def __init__(self) -> None:
        """Begin without any file or folder."""
        self.target_by_temporary: dict[str, str] = {}
        self.new_folders: list[str] = []

    def discard(self) -> None:
        """Remove all files and folders that were written."""
        for temporary in self.target_by_temporary:
            _remove(temporary)
        for folder in reversed(self.new_folders):
            with contextlib.suppress(OSError):  # somebody else may have put something there
                os.rmdir(folder)

    def commit(self) -> None:
        """Give all files and folders their final names.

        If one of them cannot be renamed, all new files are removed, the files that they replaced are brought back, and
        OutputError is raised. Signals are handled only afterwards, so that none comes between two files.
        """
        # A single file needs no backup: it is renamed, or the old file is still there.
        has_several = len(self.target_by_temporary) > 1
        renamed: list[_Renamed] = []
        with delayed_signals():
            for temporary, target in self.target_by_temporary.items():
                try:
                    renamed.append(_rename(temporary, target, with_backup=has_several))
                except OutputError:
                    _rename_back(renamed)
                    self.discard()
                    raise
            for output in renamed:
                _remove_backup(output.backup)


class _Renamed(NamedTuple):
    """A file that has its final name `target` now, and the second name of the file that it replaced, if any."""

    target: str
    backup: str | None


_PENDING: ContextVar[_PendingOutputs | None] = ContextVar("pending", default=None)
"""The outputs of the innermost block of `outputs_together`; None outside."""


@contextlib.contextmanager
def _collecting(outputs: _PendingOutputs | None) -> Iterator[None]:
    """While the block runs, add written files to `outputs`. If it is None, each file appears when it is complete."""
    token = _PENDING.set(outputs)
    try:
        yield
    finally:
        _PENDING.reset(token)


@contextlib.contextmanager
def outputs_together() -> Iterator[None]:
    """Make the files that are written in the block appear together at its end: either all of them or none.

    No file appears if writing one of them fails, or if the user interrupts. However, if the block ends because an input
    is wrong, the files written up to then do appear, because they were written on purpose (a report of problems, for
    example). They also appear if the only failure is that standard error cannot be written. When blocks are nested, the
    files of the inner block appear at the end of the outer block. Raises OutputError if a file cannot get its final
    name.
    """
    outer_outputs = _PENDING.get()
    outputs = _PendingOutputs()
    try:
        with _collecting(outputs):
            yield
    except BaseException as error:
        if _keeps_earlier_outputs(error):  # such as an error in an input
            _commit_or_pass_on(outputs, outer_outputs)
        else:  # such as another output that cannot be written
            outputs.discard()
        raise
    _commit_or_pass_on(outputs, outer_outputs)


def _keeps_earlier_outputs(error: BaseException) -> bool:
    """Return whether the files written before an error nevertheless get their final names.

    They do if the error is about an input, the command line or standard error. They do not if another output could not
    be written, if the user interrupted, or if cs-score has a defect.
    """
    if isinstance(error, ReportError):  # only standard error cannot be written; the class is a kind of OutputError
        return True
    if isinstance(error, OutputError):
        return False
    return isinstance(error, CsScoreError)  # the input or the command line is wrong


def _commit_or_pass_on(outputs: _PendingOutputs, outer_outputs: _PendingOutputs | None) -> None:
    """Give the files of a block their final names or, if there is an outer block, leave that to the outer block.

    Raises OutputError if a file cannot get its final name.
    """
    if outer_outputs is None:
        outputs.commit()
        return
    outer_outputs.target_by_temporary |= outputs.target_by_temporary
    outer_outputs.new_folders += outputs.new_folders


def note_new_folder(path: str) -> None:
    """Remember a folder that was made for the files of `outputs_together`: it is removed if they do not appear."""
    outputs = _PENDING.get()
    if outputs is not None:
        outputs.new_folders.append(path)


@contextlib.contextmanager
def outputs_immediately() -> Iterator[None]:
    """Let each file that is written in the block appear as soon as it is whole, even inside `outputs_together`."""
    with _collecting(None):
        yield


def _rename(temporary: str, target: str, *, with_backup: bool) -> _Renamed:
    """Give a file or folder that is whole its final name. Raises OutputError if that is impossible.

    With a backup, the file that it replaces gets a second name, by which it can be brought back.
    """
    backup = _make_backup_link(target) if with_backup else None
    try:
        os.replace(temporary, target)
    except OSError as error:
        _remove_backup(backup)
        raise writing_error(target, error) from None
    return _Renamed(target, backup)


def _make_backup_link(path: str) -> str | None:
    """Make a backup of a file: a second name (a hard link) in its folder. Return this name.

    Returns None if the file does not exist, or if its file system does not support hard links.
    """
    backup = _temporary_path(path)
    try:
        os.link(path, backup, follow_symlinks=False)
    except OSError:
        return None
    return backup


def _remove_backup(backup: str | None) -> None:
    """Remove the second name of a file, if it has one."""
    if backup is not None:
        _remove(backup)


def _rename_back(renamed: Sequence[_Renamed]) -> None:
    """Remove files that already have their final names, and restore the files that they replaced."""
    for output in reversed(renamed):
        if output.backup is None:
            _remove(output.target)
            continue
        with contextlib.suppress(OSError):  # the original error is reported, and the other files are restored
            os.replace(output.backup, output.target)


def _remove(path: str) -> None:
    """Remove a file, or a folder with all files in it. What cannot be removed stays, without an error."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        os.unlink(path)


def _move_into_place(temporary: str, target: str) -> None:
    """Give a file or folder that is whole its final name: at once, or at the end of a block of `outputs_together`."""
    outputs = _PENDING.get()
    if outputs is None:
        os.replace(temporary, target)
    else:
        outputs.target_by_temporary[temporary] = target


# ---- One file


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary file for writing that appears as `path` when the block ends, unless the block fails.

    Until then it is a temporary file in the same folder, which is renamed at the end. A device or a pipe such as
    `/dev/stdout` is written directly; on a terminal, control characters are escaped. Raises OutputError if the file
    cannot be written.
    """
    try:
        opened = _open_stream(path) if is_stream(path) else _open_temporary(path)
        with opened as file:
            yield file
    except OSError as error:
        raise writing_error(path, error) from None


@contextlib.contextmanager
def _open_stream(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a device or a pipe for writing. If it is a terminal, control characters are escaped.

    Raises OSError if it cannot be opened.
    """
    with _open_device(path) as device:
        if not device.isatty():
            yield device
            return
        content = io.BytesIO()  # the block writes here, because what goes to a terminal is escaped first
        yield content
        device.writelines(shown_on_terminal([content.getvalue()]))


def _open_device(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a device or a pipe for writing and return it. Raises OSError if it cannot be opened.

    Standard output may be redirected to a file. If this file were opened by its path, it would be overwritten from its
    beginning. Therefore a copy of the open descriptor is returned, which writes after what is there already.
    """
    descriptor = _DESCRIPTOR_BY_STREAM_PATH.get(os.fspath(path))
    if descriptor is None:
        return open(path, "wb")
    return open(os.dup(descriptor), "wb")


@contextlib.contextmanager
def _open_temporary(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a temporary file in the folder of `path` that is renamed to `path` when the block ends.

    If the block fails, the temporary file is removed. Raises OSError if the file cannot be made or renamed.
    """
    target = os.path.realpath(path)
    temporary = _temporary_path(target)
    try:
        with open(temporary, "xb", buffering=_BLOCK_SIZE) as file:
            yield file
        _move_into_place(temporary, target)
    except BaseException:
        _remove(temporary)
        raise


def shown_on_terminal(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield blocks of UTF-8 that are safe on a terminal: control characters and invalid bytes are escaped."""
    # A character may be divided between two blocks: the decoder keeps its first bytes until the next block. It makes
    # surrogates of bytes that are not UTF-8, and `terminal_safe` escapes these.
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    for block in blocks:
        yield terminal_safe(decoder.decode(block)).encode()
    yield terminal_safe(decoder.decode(b"", final=True)).encode()


def _temporary_path(path: str) -> str:
    """Return a random path in the folder of `path`: `out/run.json` gives `out/.run.json.1f2e3d4c.part`."""
    folder, name = os.path.split(os.path.realpath(path))
    return os.path.join(folder, f".{name}.{os.urandom(4).hex()}.part")


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a device or a pipe. These are written directly, and any number of times."""
    try:
        target = os.path.realpath(path)
    except ValueError:  # a NUL inside the name, which no file has
        return False
    if os.fspath(path) in _DESCRIPTOR_BY_STREAM_PATH:
        return True
    is_file_or_folder = os.path.isfile(target) or os.path.isdir(target)
    return os.path.exists(target) and not is_file_or_folder


def blocks_of(paths: Iterable[str]) -> Iterator[bytes]:
    """Yield the bytes of files, one file after the other, in blocks of at most a quarter of a megabyte."""
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            block = file.read(_BLOCK_SIZE)
            while block:
                yield block
                block = file.read(_BLOCK_SIZE)


@contextlib.contextmanager
def folder_beside(path: str | None, mode: int = 0o700) -> Iterator[str]:
    """Make a temporary folder in the folder of the file `path` and give its path; it is removed when the block ends.

    Without a path it is made in the system's folder of temporary files. Raises OutputError if it cannot be made.
    """
    path_beside = _path_among_temporary_files() if path is None else path
    temporary = _temporary_path(path_beside)
    # The block that removes the folder begins before the folder is made, since a signal may stop the process in
    # between.
    try:
        try:
            os.mkdir(temporary, mode)
        except OSError as error:
            raise writing_error(path_beside, error) from None
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)  # does nothing if the folder was not made


def _path_among_temporary_files() -> str:
    """Return a path in the system's folder of temporary files, such as `/tmp/cs-score`."""
    import tempfile  # it takes 1.5 ms, and short runs need no temporary folder

    return os.path.join(tempfile.gettempdir(), "cs-score")


def write_whole(path: str | os.PathLike[str], blocks: Iterable[bytes]) -> None:
    """Write blocks one after another to a file. The file is written completely or not at all.

    Raises OutputError if writing fails.
    """
    with whole_file(path) as file:
        file.writelines(blocks)


def write_packed(path: str, blocks: Iterable[bytes]) -> None:
    """Write blocks to a file as `write_whole` does, compressed if its name ends in .gz, .bz2 or .xz."""
    write_whole(path, _compress(path, blocks))


def write_together(files: Iterable[tuple[str, Iterable[bytes]]]) -> None:
    """Write several files, each given by its path and blocks of bytes. Either all of them appear or none.

    As in `write_packed`, a file is compressed if its name says so. Raises OutputError if writing fails.
    """
    with outputs_together():
        for path, blocks in files:
            write_packed(path, blocks)


def _compress(path: str, blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield blocks as the file `path` stores them: compressed if its name ends in .gz, .bz2 or .xz."""
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
    """Write a folder with subfolders that contain files. The folder is written completely or not at all.

    `folders` are the names of the subfolders. Each file is given by the name of its subfolder, its own name, and its
    content in blocks. Because file names may come from inputs, a name with a slash or `..` is refused. Raises
    OutputError if writing fails.
    """
    temporary = _temporary_path(os.fspath(path))
    try:
        os.mkdir(temporary)
        _fill_folder(temporary, path, folders, files)  # error messages name the final path
        _move_into_place(temporary, os.path.abspath(path))
    except BaseException as error:
        _remove(temporary)
        if isinstance(error, OSError):
            raise writing_error(path, error) from None
        raise


def _fill_folder(
    temporary: str, path: str | os.PathLike[str], folders: Iterable[str], files: Iterable[FolderFile]
) -> None:
    """Write subfolders and files into a temporary folder. Its later path, `path`, is named in error messages.

    Raises OSError if writing fails, and OutputError if the name of a file is not possible.
    """
    for folder in folders:
        os.mkdir(os.path.join(temporary, folder))
    for folder, file_name, blocks in files:
        if not _is_file_name(file_name):
            raise OutputError(f"Could not write {path}: {file_name!r} cannot be the name of a file")
        with open(os.path.join(temporary, folder, file_name), "xb") as file:
            file.writelines(blocks)


def _is_file_name(name: str) -> bool:
    """Return whether a name from an input can name a file in a folder: "D1", but neither "..", "a/b" nor ""."""
    is_folder_name = name in ("", os.curdir, os.pardir)
    has_forbidden_character = os.sep in name or "\0" in name
    return not is_folder_name and not has_forbidden_character


@contextlib.contextmanager
def folder_made(path: str | None, option: str) -> Iterator[None]:
    """Make the folder that an option names, if there is none yet. If the block fails, a new folder is removed again.

    `path` is None if the option is not given; then nothing is made. Raises OutputError if a file has this name, or the
    folder cannot be made.
    """
    if path is None or os.path.isdir(path):
        yield
        return
    _make_new_folder(path, option)
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            os.rmdir(path)
        raise


def _make_new_folder(path: str, option: str) -> None:
    """Make the folder that an option names; there is none yet. Raises OutputError, for example if a file is there."""
    if os.path.exists(path):
        raise OutputError(f"{path} is a file; {option} needs a folder")
    try:
        os.makedirs(path)
    except OSError as error:
        raise writing_error(path, error) from None
    note_new_folder(path)


def utf8_blocks(pieces: Iterable[str]) -> Iterator[bytes]:
    """Yield pieces of text as UTF-8 in blocks of about a quarter of a megabyte, which fit the processor's cache."""
    parts: list[bytes] = []
    size = 0
    for piece in pieces:
        data = piece.encode("utf-8", "surrogateescape")  # piece by piece: ASCII pieces are merely copied
        parts.append(data)
        size += len(data)
        if size >= _BLOCK_SIZE:
            yield b"".join(parts)
            parts = []
            size = 0
    yield b"".join(parts)


def writing_error(path: str | os.PathLike[str], error: OSError) -> OutputError:
    """Return the error that an output cannot be written, with the reason of the operating system.

    `Could not write out/run.json: Permission denied`
    """
    return OutputError(f"Could not write {os.fspath(path)}: {reason_of(error)}")


# ---- The plan of a call

_COMPARED_BYTES: Final = 4096
"""The number of bytes at the beginning of a file that are read to recognise it."""

_Identity: TypeAlias = tuple[int, int] | str
"""The device and inode of a file, or the path where it would be."""


class Existing(Enum):
    """How a call deals with a file that exists at the place of an output."""

    REFUSED = "the output must be a new file"
    REPLACED = "the user named this very file: it is replaced when the result is there, and stays where there is none"
    CLEARED = "it belongs to a family of files that earlier calls wrote: it is removed, whatever comes of this call"
    RECOGNISED = "only an earlier output of the same option is replaced, others by force alone"
    KEPT_UNTIL_RESULT = "as RECOGNISED, but it stays until the result is there: another call may still be at work on it"


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
        """Yield the file that the option names: none if the option is not given (None), or names standard output.

        Raises UsageError for a path that does not have one of the endings of the formats.
        """
        if path is None:
            return
        if path == "-" and self.takes_dash:
            return
        # The beginning of files of this option: a file of an earlier call is recognised by it, and may be replaced.
        pattern = self.formats.get(ending_of(path))
        may_lack_ending = self.takes_dash and is_stream(path)
        if pattern is None and not may_lack_ending:
            raise self._wrong_ending_error(path)
        yield PlannedOutput(self.name, path, existing=Existing.RECOGNISED, pattern=pattern)

    def _wrong_ending_error(self, path: str) -> UsageError:
        """Return the error for a path with none of the expected endings, such as `.json`; it proposes another path."""
        *first_endings, last_ending = self.formats
        endings = f"{', '.join(first_endings)} or {last_ending}" if first_endings else last_ending
        return UsageError(
            f"{self.name} takes a file; did you mean {self.name} {self.example}? {path} does not end in {endings} "
            "(perhaps compressed)"
        )


def ending_of(path: str) -> str:
    """Return the ending of a file's name that gives its format: `page.HTML.gz` gives `.html`."""
    return os.path.splitext(name_without_compression(path))[1].lower()


class PlannedOutput(Record):
    """A file that a call of cs-score will write. An earlier call may already have written a file to the same
    place.

    `option` is the option or parameter that names the file, and `existing` says what to do with an existing file.
    `pattern` matches the beginning of a file that cs-score wrote, so that the file can be recognised.
    """

    option: str
    path: str
    existing: Existing
    pattern: bytes | None = None

    def check_place(self) -> None:
        """Raise UsageError if a folder or file is at this place already, OutputError if no file can be made there."""
        if os.path.isdir(self.path):
            raise UsageError(f"{self.path} is a folder, where {self.option} writes a file")
        if self.existing is Existing.REFUSED and os.path.exists(self.path):
            raise UsageError(f"File {self.path} already exists; {self.option} must name a new file")
        reason = why_not_writable(self.path)
        if reason is not None:
            raise OutputError(f"Could not open {self.path}: {reason}; choose another {self.option}")

    def check_existing_file(self) -> None:
        """Raise UsageError if the output would replace a file that does not look like one of an earlier call.

        Outputs that may replace any file are not checked.
        """
        must_be_recognised = self.existing in (Existing.RECOGNISED, Existing.KEPT_UNTIL_RESULT)
        if must_be_recognised and os.path.exists(self.path) and not self.is_recognised():
            raise UsageError(f"{self.path} exists; name another {self.option}, or replace it with --force")

    def is_recognised(self) -> bool:
        """Return whether the file at the place of the output looks like one that an earlier call wrote.

        The beginning of its decompressed content is compared with the pattern of such files. A file that may be cleared
        counts as recognised without being read.
        """
        if self.existing is Existing.CLEARED:
            return True
        if self.pattern is None:
            return False
        try:
            with open_source(self.path) as source:
                first_bytes = source.binary.read(_COMPARED_BYTES)
        except (InputError, OSError):
            return False
        return re.match(self.pattern, first_bytes) is not None


class OutputPlan(Record):
    """All inputs and outputs of a call of cs-score; `folder` is a folder for outputs, if the call makes one.

    `check` refuses an output that is an input, another output or a folder, under whatever name or link, and an output
    whose place is taken by a file that must not be replaced. `clear` then removes the files of earlier calls at these
    places, if they are recognised, so that nobody takes them for results of a call that fails. A call that is `forced`
    replaces any file.
    """

    inputs: Sequence[str]
    outputs: Sequence[PlannedOutput]
    forced: bool = False
    folder: str | None = None

    def check(self) -> None:
        """Raise UsageError or OutputError for the first output that cannot be written; no file is changed."""
        output_by_identity = self._check_places()
        if not output_by_identity:
            return
        for name in self.inputs:
            output = output_by_identity.get(_identity(name, is_input=True))
            if output is not None:
                raise UsageError(f"{output.path} is an input; choose another {output.option}")
        if not self.forced:
            for output in output_by_identity.values():
                output.check_existing_file()

    def _check_places(self) -> dict[_Identity, PlannedOutput]:
        """Return the outputs by the identity of their files; all names and links of a file share its identity.

        Raises UsageError or OutputError for an output that cannot be written, and for two options that name the same
        file.
        """
        output_by_identity: dict[_Identity, PlannedOutput] = {}
        for output in self._files_to_check():
            if not self._will_be_in_new_folder(output):
                output.check_place()
            # The first output with this file, which may be this one.
            other_output = output_by_identity.setdefault(_identity(output.path), output)
            # Two paths of one option may be hard links to the same file. This is allowed: each path gets a new file.
            if other_output.option != output.option:
                raise UsageError(f"{output.path} is what {other_output.option} writes; choose another {output.option}")
        return output_by_identity

    def _will_be_in_new_folder(self, output: PlannedOutput) -> bool:
        """Return whether an output is in the folder that the call makes, and this folder does not exist yet."""
        if self.folder is None or os.path.isdir(self.folder):
            return False
        return os.path.dirname(os.path.abspath(output.path)) == os.path.abspath(self.folder)

    def remove_earlier_files(self) -> None:
        """Remove the files that earlier calls wrote at the places of the outputs.

        A file that does not look like one of an earlier call stays. A file that is replaced only when the new result is
        ready also stays.
        """
        for output in self._files_to_check():
            stays_until_result = output.existing is Existing.KEPT_UNTIL_RESULT
            if stays_until_result or not os.path.isfile(output.path):
                continue
            if output.is_recognised():
                with contextlib.suppress(OSError):
                    os.unlink(output.path)

    def _files_to_check(self) -> Iterator[PlannedOutput]:
        """Yield the outputs without devices and pipes, which may be written any number of times.

        An output that has to be a new file is always yielded, so that `check` can refuse it if it is a device.
        """
        for output in self.outputs:
            must_be_new = output.existing is Existing.REFUSED
            if must_be_new or not is_stream(output.path):
                yield output


def _identity(path: str, *, is_input: bool = False) -> _Identity:
    """Return an identity that all names and links of a file share: its device and inode, or the path of a new file.

    The input `-` is standard input, which may be a file by redirection.
    """
    is_standard_input = is_input and path == "-"
    try:
        status = os.fstat(0) if is_standard_input else os.stat(path)
        return status.st_dev, status.st_ino
    except (OSError, ValueError):  # there is no such file, or no file can have this name
        pass
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def why_not_writable(path: str) -> str | None:
    """Return the operating system's reason why a file cannot be made or replaced.

    Returns None if the file can be written. For a path in a folder that does not exist, the reason is `No such file or
    directory`.
    """
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return _why_no_new_file(path)
    # For example, a loop of symbolic links, a file used as a folder, or a NUL in the path.
    except (OSError, ValueError) as error:
        return reason_of(error)
    if stat.S_ISDIR(status.st_mode):
        return os.strerror(errno.EISDIR)
    return None if os.access(path, os.W_OK) else os.strerror(errno.EACCES)


def _why_no_new_file(path: str) -> str | None:
    """Return why no new file can be made at a path, in the words of the operating system; None if it can be made."""
    folder = os.path.dirname(os.path.realpath(path))  # a link may lead to where the file will be
    if not os.path.exists(folder):
        return os.strerror(errno.ENOENT)
    return None if os.access(folder, os.W_OK | os.X_OK) else os.strerror(errno.EACCES)
