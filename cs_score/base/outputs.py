"""Files and folders that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from typing import IO, Any, Final, TypeAlias

from cs_score.base.errors import OutputError
from cs_score.base.sources import reason_of

_BLOCK: Final = 1 << 18

_STREAMS: Final = {"/dev/stdout": 1, "/dev/stderr": 2}


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A binary file that takes the name `path` only when the block ends well; otherwise nothing is left behind.

    The temporary file lies in the same folder, so the final step is a rename. A device or a pipe such as `/dev/stdout`
    is written directly. Raises OutputError where the file cannot be written.
    """
    if is_device(path):
        stream = _STREAMS.get(os.fspath(path))
        try:
            # A copy of the stream's own descriptor: opened anew, a file behind it would be written from its beginning.
            with open(path if stream is None else os.dup(stream), "wb") as device:
                yield device
        except OSError as error:
            raise cannot_write(path, error) from None
        return
    folder, name = os.path.split(os.path.realpath(path))
    temporary = os.path.join(folder, _temporary_name(name))
    try:
        try:
            with open(temporary, "xb", buffering=_BLOCK) as file:
                yield file
            os.replace(temporary, os.path.join(folder, name))
        finally:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
    except OSError as error:
        raise cannot_write(path, error) from None


def _temporary_name(name: str) -> str:
    """A name that nothing has yet, for what will be called `name`. To import the module tempfile takes longer."""
    return f".{name}.{os.urandom(4).hex()}.part"


def is_device(path: str | os.PathLike[str]) -> bool:
    """Whether this is a device or a pipe, which is written to and not replaced."""
    try:
        target = os.path.realpath(path)
    except ValueError:  # a NUL inside the name, which no file has
        return False
    return os.fspath(path) in _STREAMS or (os.path.exists(target) and not os.path.isfile(target))


def write_new(path: str, blocks: Iterable[bytes]) -> None:
    """Write `blocks` into a file of a temporary folder. Raises OutputError."""
    try:
        with open(path, "wb", buffering=_BLOCK) as file:
            file.writelines(blocks)
    except OSError as error:
        raise cannot_write(path, error) from None


def blocks_of(paths: Iterable[str]) -> Iterator[bytes]:
    """The bytes of files one after the other, in blocks of at most a quarter of a megabyte."""
    for path in paths:
        with open(path, "rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                yield block


@contextlib.contextmanager
def folder_beside(path: str | None) -> Iterator[str]:
    """A temporary folder in that of the file `path`; None: where temporary files go. Raises OutputError."""
    if path is None:
        import tempfile

        path = os.path.join(tempfile.gettempdir(), "cs-score")
    with _temporary_folder(path, mode=0o700) as temporary:
        yield temporary


@contextlib.contextmanager
def _temporary_folder(path: str | os.PathLike[str], mode: int = 0o777) -> Iterator[str]:
    """A new folder beside `path`, gone when the block ends. Raises OutputError where it cannot be made."""
    folder, name = os.path.split(os.path.realpath(path))
    temporary = os.path.join(folder, _temporary_name(name))
    try:  # from here on: a signal may stop the process as soon as the folder is there
        try:
            os.mkdir(temporary, mode)
        except OSError as error:
            raise cannot_write(path, error) from None
        yield temporary
    finally:
        import shutil

        shutil.rmtree(temporary, ignore_errors=True)


def write_whole(path: str | os.PathLike[str], blocks: Iterable[bytes]) -> None:
    """Write `blocks` one after the other into `path`, which appears whole or not at all."""
    with whole_file(path) as file:
        for block in blocks:
            file.write(block)


def write_together(files: Iterable[tuple[str, Iterable[bytes]]]) -> None:
    """Write files, compressed where their names end like that; all of them appear, or none. Raises OutputError."""
    with contextlib.ExitStack() as stack:
        for path, blocks in files:
            file = stack.enter_context(whole_file(path))
            file.writelines(_packed(os.path.splitext(path)[1], blocks))
            file.flush()  # what is buffered might not fit


FolderFile: TypeAlias = tuple[str, str, Iterable[bytes]]
"""A file of a new folder: the folder below it, the file's name there, what it holds."""


def write_folder(path: str | os.PathLike[str], folders: Iterable[str], files: Iterable[FolderFile]) -> None:
    """Make the folder `path` with `folders` below it and `files` in those; it appears whole or not at all.

    Names of files may come from inputs: one that leads elsewhere is refused. Raises OutputError.
    """
    try:
        with _temporary_folder(path) as temporary:
            for folder in folders:
                os.mkdir(os.path.join(temporary, folder))
            for folder, file_name, blocks in files:
                if file_name in ("", os.curdir, os.pardir) or os.sep in file_name or "\0" in file_name:
                    raise OutputError(f"Could not write {path}: {file_name!r} cannot be the name of a file")
                with open(os.path.join(temporary, folder, file_name), "xb") as file:
                    file.writelines(blocks)
            os.rename(temporary, path)
    except OSError as error:
        raise cannot_write(path, error) from None


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
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):
            os.rmdir(path)
        raise


def write_packed(path: str, blocks: Iterable[bytes]) -> None:
    """As `write_whole`, compressed where the name ends like that. Equal blocks give equal bytes: no time goes in."""
    write_whole(path, _packed(os.path.splitext(path)[1], blocks))


def _packed(ending: str, blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Blocks compressed as `sources` decompresses files of this ending; as they are for any other."""
    compressor: Any
    if ending == ".gz":
        import zlib

        compressor = zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    elif ending == ".bz2":
        import bz2

        compressor = bz2.BZ2Compressor()
    elif ending == ".xz":
        import lzma

        compressor = lzma.LZMACompressor()
    else:
        yield from blocks
        return
    for block in blocks:
        yield compressor.compress(block)
    yield compressor.flush()


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
