"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import IO, Final

from cs_score.errors import OutputError
from cs_score.sources import reason_of

_BLOCK: Final = 1 << 18

_STREAMS: Final = {"/dev/stdout": 1, "/dev/stderr": 2}


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A binary file that takes the name `path` only when the block ends well; otherwise nothing is left behind.

    The temporary file lies in the same folder, so the final step is a rename. A device or a pipe such as `/dev/stdout`
    is written directly. Raises OutputError where the file cannot be written.
    """
    target = os.path.realpath(path)
    stream = _STREAMS.get(os.fspath(path))
    if stream is not None or (os.path.exists(target) and not os.path.isfile(target)):
        try:
            # A copy of the stream's own descriptor: opened anew, a file behind it would be written from its beginning.
            with open(path if stream is None else os.dup(stream), "wb") as device:
                yield device
        except OSError as error:
            raise cannot_write(path, error) from None
        return
    folder = os.path.dirname(target)
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(target)}.", suffix=".part", dir=folder)
    except OSError as error:
        raise cannot_write(path, error) from None
    try:
        with open(descriptor, "wb", buffering=_BLOCK) as file:
            yield file
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, OSError):
            raise cannot_write(path, error) from None
        raise


def write_whole(path: str | os.PathLike[str], blocks: Iterable[bytes]) -> None:
    """Write `blocks` one after the other into `path`, which appears whole or not at all."""
    with whole_file(path) as file:
        for block in blocks:
            file.write(block)


def encoded(pieces: Iterable[str]) -> Iterator[bytes]:
    """UTF-8, in blocks of about a quarter of a megabyte, which stay in the processor's cache."""
    block: list[str] = []
    size = 0
    for piece in pieces:
        block.append(piece)
        size += len(piece)
        if size >= _BLOCK:
            yield "".join(block).encode("utf-8", "surrogateescape")
            block, size = [], 0
    yield "".join(block).encode("utf-8", "surrogateescape")


def cannot_write(path: str | os.PathLike[str], error: OSError) -> OutputError:
    """The one-line error for an output that cannot be written."""
    return OutputError(f"Could not write {os.fspath(path)}: {reason_of(error)}")


def _umask() -> int:
    """The process's file creation mask, which mkstemp ignores and an ordinary file honours."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
