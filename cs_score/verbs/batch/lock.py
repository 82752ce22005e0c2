"""The lock of an output folder, which prevents two batches from writing into the folder at once. The folder contains a
lock file while a batch is at work. The file names its *owner*, the process that has locked it.
"""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import socket
import stat
import time
from collections.abc import Iterator
from typing import Final

from cs_score.base.documents import document_in
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import writing_error
from cs_score.base.records import Record, convert, to_builtins
from cs_score.verbs.batch.folder_layout import LOCK

_PATIENCE_SECONDS: Final = 3.0
"""How long to wait for the lock of a batch that was killed: its workers hold it until they notice."""

_RETRY_SECONDS: Final = 0.05

_LARGEST_PID: Final = (1 << 31) - 1

_MOST_BYTES_OF_LOCK_FILE: Final = 4096
"""How many bytes of a lock file are read."""


class _Owner(Record):
    """The process that made a lock file, as the file names it."""

    pid: int
    host: str

    def may_be_alive(self) -> bool:
        """Return whether the process may still be running. The answer is always True for a process of another host."""
        if self.host != socket.gethostname():
            return True
        try:
            os.kill(self.pid, 0)  # signal 0 only tests whether the process exists
        except ProcessLookupError:
            return False
        except OSError:  # it exists, but belongs to another user
            return True
        return True


@contextlib.contextmanager
def locked(folder: str) -> Iterator[str | None]:
    """Hold the lock of an output folder until the context is left.

    Yields a remark if a batch that was killed has left its lock file behind; otherwise, yields None. When a process
    ends for any reason, the kernel releases its lock. A lock file of another host counts as locked as long as it
    exists, because some shared storage does not support locks between hosts.

    Raises UsageError if another batch holds the lock, and OutputError if no file can be made in the folder.
    """
    path = os.path.join(folder, LOCK)
    with contextlib.closing(_acquire_lock(path)) as lock_file:
        earlier_owner = _read_owner(lock_file)
        _take_over(lock_file, earlier_owner, path)
        remark = None
        if earlier_owner is not None:
            remark = f"process {earlier_owner.pid}, which had locked {folder}, is gone; its lock is taken over"
        try:
            yield remark
        finally:
            with contextlib.suppress(OSError):
                os.unlink(path)


def _take_over(lock_file: io.FileIO, earlier_owner: _Owner | None, path: str) -> None:
    """Make this process, which holds the lock, the owner in the lock file at `path`.

    `earlier_owner` is the process that the file named before, or None. Raises UsageError if the earlier owner is a
    process on another host, which may still be at work. Raises OutputError if the disk is full.
    """
    this_process = _Owner(os.getpid(), socket.gethostname())
    if earlier_owner is not None and earlier_owner.host != this_process.host:
        raise _folder_in_use_error(path, earlier_owner)
    _write_owner(lock_file, this_process, path)


def _acquire_lock(path: str) -> io.FileIO:
    """Open the lock file at `path`, which is made if it is missing, lock it for this process, and return it.

    Waits a few seconds if the owner has died but its workers still hold the lock. Raises UsageError if a living process
    holds the lock, and OutputError if the file cannot be made.
    """
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        lock_file = _open_lock_file(path)
        if not _try_to_lock(lock_file):
            owner = _read_owner(lock_file)
            lock_file.close()
            _pause_or_refuse(owner, path, deadline)
        elif _is_still_at(path, lock_file):
            return lock_file
        else:
            lock_file.close()  # its owner has removed it, so that another process may make and lock a new one


def _try_to_lock(lock_file: io.FileIO) -> bool:
    """Lock an open file for this process, and return True; return False if another process has locked it."""
    try:
        fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _pause_or_refuse(owner: _Owner | None, path: str, deadline: float) -> None:
    """Pause before the next attempt to lock the file at `path`, or refuse the folder.

    If its `owner` is dead, the owner's workers may not have released the lock yet, so another attempt makes sense.
    Raises UsageError if the owner is alive, or if the monotonic clock has passed the `deadline`.
    """
    has_living_owner = owner is not None and owner.may_be_alive()
    if has_living_owner or time.monotonic() > deadline:
        raise _folder_in_use_error(path, owner)
    time.sleep(_RETRY_SECONDS)


def _open_lock_file(path: str) -> io.FileIO:
    """Open the lock file at `path` for reading and writing, and return it; a missing file is created.

    Raises UsageError if there is something else at this path that would be overwritten: a link, a pipe, or a file with
    a second name. Raises OutputError if the file cannot be created.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with contextlib.suppress(FileNotFoundError):  # a missing file is created below
            status = os.lstat(path)
            is_plain_file = stat.S_ISREG(status.st_mode)
            has_second_name = status.st_nlink > 1
            if not is_plain_file or has_second_name:
                raise UsageError(f"{path} is not the lock file of a batch; remove it, or take another -o")
        return io.FileIO(os.open(path, flags, 0o666), "r+")
    except OSError as error:
        raise writing_error(path, error) from None


def _is_still_at(path: str, lock_file: io.FileIO) -> bool:
    """Return whether the open lock file is still at `path`. Its earlier owner may have removed it since."""
    try:
        return os.path.samestat(os.fstat(lock_file.fileno()), os.lstat(path))
    except OSError:
        return False


def _read_owner(lock_file: io.FileIO) -> _Owner | None:
    """Return the process named in a lock file, or None if the file has other content."""
    try:
        content = os.pread(lock_file.fileno(), _MOST_BYTES_OF_LOCK_FILE, 0)
        owner = convert(document_in(content, "the lock"), _Owner)
    except (InputError, OSError, ValueError):
        return None
    if not 0 < owner.pid <= _LARGEST_PID:
        return None
    return owner


def _write_owner(lock_file: io.FileIO, owner: _Owner, path: str) -> None:
    """Write a process into the lock file, in place of the earlier owner.

    If the disk is full, the lock file is removed to give up the lock, and OutputError is raised.
    """
    try:
        lock_file.truncate(0)
        os.pwrite(lock_file.fileno(), json.dumps(to_builtins(owner)).encode(), 0)
    except OSError as error:
        os.unlink(path)
        raise writing_error(path, error) from None


def _folder_in_use_error(path: str, owner: _Owner | None) -> UsageError:
    """Return the error for a folder in which another batch is at work; `path` is the path of the folder's lock file."""
    other_batch = "another batch"
    if owner is not None:
        other_batch += f" (process {owner.pid} on {owner.host})"
    return UsageError(
        f"{other_batch} is at work in {os.path.dirname(path)}; wait for it, take another -o, or, if it is gone for "
        f"certain, remove {path}"
    )
