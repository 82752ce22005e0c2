"""One batch at a time in an output folder: a lock file with the process and the host of its owner."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import socket
import stat
import time
from collections.abc import Iterator
from typing import Final

from cs_score.base.documents import document_in
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import cannot_write

LOCK: Final = ".batch.lock"

# The workers of a batch that was killed hold its lock until they notice.
_PATIENCE_SECONDS: Final = 3.0

_LARGEST_PID: Final = (1 << 31) - 1


@contextlib.contextmanager
def locked(folder: str) -> Iterator[str | None]:
    """Hold the folder's lock for the block; gives a remark where a batch that was killed had left it.

    The kernel releases the lock of a process that ends, however it ends. A lock file of another host that was not
    removed cannot be judged from here, since not every shared storage passes locks on. Raises UsageError where another
    batch holds the folder, OutputError where no file can be made in it.
    """
    path = os.path.join(folder, LOCK)
    descriptor = _acquire(path)
    try:
        owner = _owner_to_replace(descriptor, path)
        try:
            _write_owner(descriptor, path)
            gone = f"process {owner}, which had locked {folder}, is gone; its lock is taken over"
            yield None if owner is None else gone
        finally:
            with contextlib.suppress(OSError):
                os.unlink(path)
    finally:
        os.close(descriptor)


def _acquire(path: str) -> int:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        descriptor = _opened(path)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_same_file(descriptor, path):
                return descriptor
        except OSError:
            owner = _owner(descriptor)
            if time.monotonic() > deadline or _lives(owner):
                os.close(descriptor)
                raise _refused(path, owner) from None
            time.sleep(0.05)
        os.close(descriptor)


def _opened(path: str) -> int:
    """The lock file, made where there is none. Raises OutputError, and UsageError where something else has its name.

    It will be written over, so a file that has another name, too, is no lock file.
    """
    while True:
        try:
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except FileExistsError:
            pass
        except OSError as error:
            raise cannot_write(path, error) from None
        try:
            found = os.lstat(path)
            if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
                raise UsageError(f"{path} is not the lock file of a batch; remove it, or take another --out")
            return os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:  # its owner has just removed it
            continue
        except OSError as error:
            raise cannot_write(path, error) from None


def _is_same_file(descriptor: int, path: str) -> bool:
    """Whether the locked file is still the one of that name: its owner may have removed it in between."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def _owner_to_replace(descriptor: int, path: str) -> int | None:
    """The process that left the lock; None where none did. Raises UsageError for a process of another host."""
    pid, host = _owner(descriptor)
    if pid is not None and host != socket.gethostname():
        raise _refused(path, (pid, host))
    return pid


def _write_owner(descriptor: int, path: str) -> None:
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode(), 0)
    except OSError as error:  # the disk is full
        raise cannot_write(path, error) from None


def _owner(descriptor: int) -> tuple[int | None, str]:
    """Process id and host in a lock file; no id where nothing stands in it that a batch has written."""
    try:
        owner = document_in(os.pread(descriptor, 4096, 0), "the lock")
    except (InputError, OSError):
        return None, ""
    pid, host = owner.get("pid"), owner.get("host")
    if type(pid) is not int or not 0 < pid <= _LARGEST_PID or not isinstance(host, str):
        return None, ""
    return pid, host


def _lives(owner: tuple[int | None, str]) -> bool:
    pid, host = owner
    if pid is None:
        return False
    if host != socket.gethostname():
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _refused(path: str, owner: tuple[int | None, str]) -> UsageError:
    pid, host = owner
    who = "another batch" if pid is None else f"another batch (process {pid} on {host})"
    return UsageError(
        f"{who} is at work in {os.path.dirname(path)}; wait for it, take another --out, or, if it is gone for "
        f"certain, remove {path}"
    )
