"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Final, Protocol

from cs_score.foundation.errors import OutputError
from cs_score.foundation.sources import reason_of

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
    try:
        with new_file(path) as new:
            yield new.file
            new.publish()
    except OSError as error:
        raise cannot_write(path, error) from None


def is_device(path: str | os.PathLike[str]) -> bool:
    """Whether this is a device or a pipe, which is written to and not replaced."""
    try:
        target = os.path.realpath(path)
    except ValueError:  # a NUL inside the name, which no file has
        return False
    return os.fspath(path) in _STREAMS or (os.path.exists(target) and not os.path.isfile(target))


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file under a temporary name, which `publish` gives the name `path`."""

    path: str
    file: IO[bytes]
    temporary: str

    def finish(self, blocks: Iterable[bytes]) -> None:
        """Write blocks behind all that is in the file, and publish it. Raises OutputError."""
        try:
            self.file.seek(0, os.SEEK_END)
            self.file.writelines(blocks)
            self.publish()
        except OSError as error:
            raise cannot_write(self.path, error) from None

    def publish(self) -> None:
        """Close the file and let it appear, whole, in place of what had its name. Raises OSError."""
        self.file.close()
        os.chmod(self.temporary, 0o666 & ~_umask())
        os.replace(self.temporary, os.path.realpath(self.path))


@contextlib.contextmanager
def new_file(path: str | os.PathLike[str]) -> Iterator[NewFile]:
    """A file to be published in the block, or nothing is left of it. Raises OutputError where it cannot be made.

    Until then it lies in the same folder, so that publishing is a rename.
    """
    folder, name = os.path.split(os.path.realpath(path))
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{name}.", suffix=".part", dir=folder)
    except OSError as error:
        raise cannot_write(path, error) from None
    try:
        with open(descriptor, "wb", buffering=_BLOCK) as file:
            yield NewFile(os.fspath(path), file, temporary)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def write_whole(path: str | os.PathLike[str], blocks: Iterable[bytes]) -> None:
    """Write `blocks` one after the other into `path`, which appears whole or not at all."""
    with whole_file(path) as file:
        for block in blocks:
            file.write(block)


def write_packed(path: str, blocks: Iterable[bytes]) -> None:
    """As `write_whole`, compressed where the name ends like that. Equal blocks give equal bytes: no time goes in."""
    write_whole(path, _packed(os.path.splitext(path)[1], blocks))


def _packed(ending: str, blocks: Iterable[bytes]) -> Iterator[bytes]:
    compressor = _compressor(ending)
    if compressor is None:
        yield from blocks
        return
    for block in blocks:
        yield compressor.compress(block)
    yield compressor.flush()


class _Compressor(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self) -> bytes: ...


def _compressor(ending: str) -> _Compressor | None:
    """What compresses files of this ending, as `sources` decompresses them."""
    if ending == ".gz":
        import zlib

        return zlib.compressobj(wbits=16 + zlib.MAX_WBITS)
    if ending == ".bz2":
        import bz2

        return bz2.BZ2Compressor()
    if ending == ".xz":
        import lzma

        return lzma.LZMACompressor()
    return None


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


def _umask() -> int:
    """The process's file creation mask, which mkstemp ignores and an ordinary file honours."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
