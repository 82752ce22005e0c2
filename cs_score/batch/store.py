"""The output folder: its lock, the files of a run, last of all the signature that says that they are complete."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import io
import json
import os
import re
import socket
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from cs_score.base.documents import document_in, json_text, record_in
from cs_score.base.errors import InputError, UsageError
from cs_score.base.outputs import Existing, OutputPlan, PlannedOutput, cannot_write, encoded, whole_file, write_whole
from cs_score.base.records import Record, convert, replace, to_builtins
from cs_score.base.sources import name_of
from cs_score.batch.documents import FAILED, Outcome, RunOrigin, WrittenFile
from cs_score.batch.plan import BEGINNINGS, FILES, INDEX, LOCK, BatchOptions, Plan, RunFile, RunFiles, is_page
from cs_score.coldstart.linking import members
from cs_score.coldstart.outputs import OUTPUTS
from cs_score.problems.reports import OPTION

SIGNATURE: Final = "signature.json"

_PATIENCE_SECONDS: Final = 3.0
"""The workers of a batch that was killed hold its lock until they notice."""

_TIME_LINE: Final = re.compile(rb"#At: \w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}")
"""The first line of a file `.params`, which holds the time of the call."""

_BLOCK: Final = 1 << 18

_LARGEST_PID: Final = (1 << 31) - 1

_ENDINGS: Final = (*(output.ending for output in OUTPUTS), "errlog", "json", "txt", "tsv")

_NAMES: Final = frozenset({SIGNATURE, *(f"out.{ending}" for ending in _ENDINGS)})
"""All that batches of any kind write into the folder of a run; whatever else lies there is the user's."""

_LARGEST_RECORD: Final = 1 << 28
"""Bytes; it may hold the problems of a run with their details."""


def folder_of_run(out: str, plan: Plan, run: str, policy: str) -> str:
    """The folder of a run: below that of its policy where there are several."""
    return os.path.join(out, policy, run) if len(plan.policy_names) > 1 else os.path.join(out, run)


def planned_batch(plan: Plan, runs: Sequence[RunFile], options: BatchOptions) -> OutputPlan:
    """What a batch reads and writes. Raises UsageError for an impossible file of problems, and where a link lies in the
    place of a folder: what it leads to is no part of the batch.
    """
    out, of_problems = options.out, tuple(OPTION.outputs(options.problems))
    paths = [*(os.path.join(out, name) for name in FILES), *_files_in(out, _is_leftover)]
    policies = plan.policy_names
    for folder in (folder_of_run(out, plan, run.name, policy) for run in runs for policy in policies):
        for place in (folder,) if len(policies) == 1 else (os.path.dirname(folder), folder):
            if os.path.islink(place):
                raise UsageError(f"{place} is a link, where -o makes a folder; remove it, or take another -o")
        paths += _files_in(folder, _is_of_run)
        for other in of_problems:  # it may have a name in the folder that a run uses as well
            where, name = os.path.split(os.path.realpath(other.path))
            if _is_of_run(name) and where == os.path.realpath(folder) and not os.path.exists(other.path):
                paths.append(os.path.join(folder, name))
    outputs = []
    for path in dict.fromkeys(paths):
        beginning = BEGINNINGS.get(name := os.path.basename(path))
        planned = PlannedOutput("-o", path, Existing.KNOWN if beginning else Existing.REPLACED, beginning)
        if name != INDEX or plan.page is not None:
            outputs.append(planned)
        elif planned.is_recognised():  # an earlier batch's, with other scores
            outputs.append(replace(planned, existing=Existing.CLEARED))
    shared = [name_of(member) for given in plan.inputs for member in members(given.name)]
    listed = [] if options.runs_from is None else [options.runs_from]
    return OutputPlan(
        [*shared, *listed, *(run.file.name for run in runs)], (*outputs, *of_problems), options.force, folder=out
    )


# ---- The lock


class _Owner(Record):
    """What a lock file says of the process that has made it."""

    pid: int
    host: str

    def lives(self) -> bool:
        """Whether the process may be there; of another host nobody knows."""
        try:
            if self.host == socket.gethostname():
                os.kill(self.pid, 0)
        except OSError as error:
            return not isinstance(error, ProcessLookupError)
        return True


@contextlib.contextmanager
def locked(folder: str) -> Iterator[str | None]:
    """Hold the folder's lock for the block; gives a remark where a batch that was killed had left it.

    The kernel releases the lock of a process that ends, however it ends. A lock file of another host that was not
    removed cannot be judged from here, since not every shared storage passes locks on. Raises UsageError where another
    batch holds the folder, OutputError where no file can be made in it.
    """
    path, ours = os.path.join(folder, LOCK), _Owner(os.getpid(), socket.gethostname())
    with contextlib.closing(_acquire(path)) as file:
        if (owner := _owner(file)) is not None and owner.host != ours.host:
            raise _refused(path, owner)
        try:
            file.truncate(0)
            os.pwrite(file.fileno(), json.dumps(to_builtins(ours)).encode(), 0)
        except OSError as error:  # the disk is full
            os.unlink(path)
            raise cannot_write(path, error) from None
        try:
            yield (
                None
                if owner is None
                else f"process {owner.pid}, which had locked {folder}, is gone; its lock is taken over"
            )
        finally:
            with contextlib.suppress(OSError):
                os.unlink(path)


def _acquire(path: str) -> io.FileIO:
    """The lock file, made where there is none, and locked. Raises as `locked`."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            with contextlib.suppress(FileNotFoundError):
                found = os.lstat(path)
                if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:  # it will be written over
                    raise UsageError(f"{path} is not the lock file of a batch; remove it, or take another -o")
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            file = io.FileIO(os.open(path, flags, 0o666), "r+")
        except OSError as error:
            raise cannot_write(path, error) from None
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with contextlib.suppress(FileNotFoundError):  # its owner may have removed the file in between
                if os.path.samestat(os.fstat(file.fileno()), os.lstat(path)):
                    return file
        except OSError:
            owner = _owner(file)
            if time.monotonic() > deadline or (owner is not None and owner.lives()):
                file.close()
                raise _refused(path, owner) from None
            time.sleep(0.05)
        file.close()


def _owner(file: io.FileIO) -> _Owner | None:
    """The process and the host in a lock file; None where nothing stands in it that a batch has written."""
    try:
        owner = convert(document_in(os.pread(file.fileno(), 4096, 0), "the lock"), _Owner)
    except (InputError, OSError, ValueError):
        return None
    return owner if 0 < owner.pid <= _LARGEST_PID else None


def _refused(path: str, owner: _Owner | None) -> UsageError:
    who = "another batch" if owner is None else f"another batch (process {owner.pid} on {owner.host})"
    return UsageError(
        f"{who} is at work in {os.path.dirname(path)}; wait for it, take another -o, or, if it is gone for "
        f"certain, remove {path}"
    )


# ---- The files of a run


def write_run(folder: str, outcome: Outcome, files: RunFiles) -> Outcome:
    """Replace what the folder holds of an earlier scoring; returns the outcome with the files written.

    A failed run gets no record, so that `--resume` tries it again. Raises OutputError where the folder cannot be
    written.
    """
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None
    clear(folder)
    outcome = replace(outcome, files=written_files(files, folder))
    if outcome.state != FAILED:
        outcome = replace(outcome, digest=digest_of(to_builtins(outcome)))
        write_whole(os.path.join(folder, SIGNATURE), encoded([json_text(outcome)]))
    return outcome


def written_files(files: RunFiles, folder: str | None = None) -> tuple[WrittenFile, ...]:
    """Write files into a folder; what a record says of them, also without a folder."""
    written = []
    for name, blocks in files:
        digest = _FileDigest(name)
        with contextlib.nullcontext() if folder is None else whole_file(os.path.join(folder, name)) as file:
            for block in blocks:
                digest.update(block)
                if file is not None:
                    file.write(block)
        written.append(digest.written())
    return tuple(written)


class _FileDigest:
    """Take the size and the SHA-256 of a file of a run, block by block; of `.params` without the time of the call."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._size = 0
        self._sha256 = hashlib.sha256()
        self._first_line: bytes | None = b"" if name.endswith(".params") else None

    def update(self, block: bytes) -> None:
        """Take the next block."""
        self._size += len(block)
        if self._first_line is None:
            self._sha256.update(block)
            return
        line, line_feed, rest = (self._first_line + block).partition(b"\n")
        self._first_line = line
        if line_feed:
            self._first_line = None
            self._sha256.update((b"" if _TIME_LINE.fullmatch(line) else line) + line_feed + rest)

    def written(self) -> WrittenFile:
        """Return what a record says of the file, when all blocks were taken."""
        if self._first_line is not None:
            self._sha256.update(self._first_line)
        return WrittenFile(self._name, self._size, self._sha256.hexdigest())


class UnfitError(Exception):
    """A file of an earlier batch that is not as the batch has written it; its text names the file."""


def read_whole_run(folder: str, origin: RunOrigin) -> Outcome | None:
    """The outcome of a run that was scored before; None where there is none, or it was made from something else.

    Raises UnfitError where the record or one of the files that it lists was changed.
    """
    path = os.path.join(folder, SIGNATURE)
    if not os.path.lexists(path):
        return None
    try:
        with _plain_file(path) as file:
            value = document_in(file.read(_LARGEST_RECORD), path)
        outcome = record_in(value, Outcome, path)
        findings = [each.findings for each in outcome.runs if each.findings]
        if not outcome.origin or outcome.digest != digest_of(value) or len(findings) != len(outcome.runs):
            raise UnfitError(path)
        for each in findings:
            each.check()
    except (InputError, OSError, ValueError, TypeError, KeyError, AttributeError, MemoryError):
        raise UnfitError(path) from None
    if _contents(outcome.origin) != _contents(origin):
        return None
    for written in outcome.files:
        check_file(os.path.join(folder, written.name), written)
    return outcome


def _contents(origin: RunOrigin) -> object:
    """An origin with the digests of the inputs alone; options that name an input have its digest, too."""
    digests = {given.name: given.sha256 for given in origin.inputs}
    options = {
        name: digests.get(value, value) if isinstance(value, str) else value for name, value in origin.options.items()
    }
    inputs = [(given.role, given.sha256) for given in origin.inputs]
    return json.loads(json.dumps({**to_builtins(origin), "options": options, "inputs": inputs}))


def digest_of(record: Mapping[str, object]) -> str:
    """The SHA-256 of a record, by which a change of it is noticed. Raises ValueError for what JSON does not know."""
    rest = {name: each for name, each in record.items() if name != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, allow_nan=False).encode("ascii")).hexdigest()


def check_file(path: str, written: WrittenFile) -> None:
    """Raises UnfitError where a file is not as it was written."""
    try:
        with _plain_file(path) as file:
            is_same = os.fstat(file.fileno()).st_size == written.size
            digest = _FileDigest(written.name)
            while is_same and (block := file.read(_BLOCK)):
                digest.update(block)
            is_same = is_same and digest.written() == written
    except (OSError, ValueError):
        is_same = False
    if not is_same:
        raise UnfitError(path)


def _plain_file(path: str) -> io.BufferedReader:
    """A file that is neither a link nor a pipe, where reading might never end. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a file")
    return open(descriptor, "rb")


def _files_in(folder: str, is_meant: Callable[[str], bool]) -> list[str]:
    """What has such a name in a folder and is no folder: files, links, pipes; none where there is no folder."""
    try:
        with os.scandir(folder) as entries:
            found = [each.path for each in entries if is_meant(each.name) and not each.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(found)


def _is_of_run(name: str) -> bool:
    """Whether a file of this name in the folder of a run is replaced or removed when the run is scored again."""
    return name in _NAMES or is_page(name) or _is_leftover(name)


def _is_leftover(name: str) -> bool:
    return name.startswith(".") and name.endswith(".part")


def clear(folder: str, is_meant: Callable[[str], bool] = _is_of_run) -> None:
    """Remove the files of an earlier scoring, their record first, and what a killed one left half written."""
    for path in sorted(_files_in(folder, is_meant), key=lambda path: os.path.basename(path) != SIGNATURE):
        with contextlib.suppress(OSError):
            os.unlink(path)


def clear_leftovers(folder: str) -> None:
    """Remove the temporary files that a killed process left behind."""
    clear(folder, _is_leftover)
