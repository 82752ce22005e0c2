"""The folder of one run: files that appear whole, and last of all the signature that says that they are complete."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import stat
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from cs_score.analysis.many.findings import findings_of
from cs_score.base.documents import document_in
from cs_score.base.errors import InputError
from cs_score.base.outputs import cannot_write, write_whole
from cs_score.base.records import replace, to_builtins
from cs_score.batch.store.outcomes import FAILED, Outcome, ProblemPlace, RunScores, WrittenFile
from cs_score.batch.store.pages import is_page
from cs_score.coldstart.outputs import OUTPUTS
from cs_score.problems.codes import Severity
from cs_score.problems.occurrences import Occurrence

SIGNATURE: Final = "signature.json"

_ENDINGS: Final = (*(output.ending for output in OUTPUTS), "errlog", "json", "txt", "tsv")

_NAMES: Final = frozenset({SIGNATURE, *(f"out.{ending}" for ending in _ENDINGS)})
"""All that batches of any kind write into the folder of a run; whatever else lies there is the user's."""

SCHEMA_VERSION: Final = 3
"""Raised when a key changes its meaning or goes away: `--resume` keeps nothing that another version wrote."""

_LARGEST_SIGNATURE: Final = 1 << 28
"""Bytes; it may hold the problems of a run with their details."""

_TIMED: Final = ".params"
"""Ending of the file that holds the time of the call."""


def write_run(folder: str, outcome: Outcome, files: Iterable[tuple[str, Iterable[bytes]]]) -> Outcome:
    """Replace what the folder holds of an earlier scoring; returns the outcome with the files written.

    A failed run gets no signature, so that `--resume` tries it again. Raises OutputError where the folder cannot be
    written.
    """
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from None
    clear(folder)
    written = []
    for name, blocks in files:
        counted = _Counted(blocks)
        write_whole(os.path.join(folder, name), counted)
        written.append(counted.written(name))
    outcome = replace(outcome, files=tuple(written))
    if outcome.state != FAILED:
        text = json.dumps(record_of(outcome), indent=1)
        write_whole(os.path.join(folder, SIGNATURE), [text.encode("ascii"), b"\n"])
    return outcome


def record_of(outcome: Outcome) -> dict[str, Any]:
    """The object that the signature file of a run holds, with the digest of all its other members."""
    # As JSON reads it again, so that the digest is of the same.
    record = json.loads(json.dumps({"schema_version": SCHEMA_VERSION, **to_builtins(outcome)}))
    if not outcome.intervals:  # nobody asked for them
        del record["intervals"]
    return {**record, "digest": digest_of(record)}


def written_files(files: Iterable[tuple[str, Iterable[bytes]]]) -> tuple[WrittenFile, ...]:
    """What a signature would say of these files, which are not written."""
    written = []
    for name, blocks in files:
        counted = _Counted(blocks)
        deque(counted, maxlen=0)
        written.append(counted.written(name))
    return tuple(written)


class UnfitError(Exception):
    """A file of an earlier batch that is not as the batch has written it; its text names the file."""


def read_whole_run(folder: str, signature: Mapping[str, object]) -> Outcome | None:
    """The outcome of a run that was scored before; None where there is none, or it was made from something else.

    Raises UnfitError where the signature or one of the files that it lists was changed.
    """
    path = os.path.join(folder, SIGNATURE)
    if not os.path.lexists(path):
        return None
    record = _read_record(path)
    if not _is_same(record["signature"], signature):
        return None
    try:
        outcome = Outcome(
            **{
                **record,
                "scores": tuple(RunScores(*scores) for scores in record["scores"]),
                "problems": tuple(ProblemPlace(*place) for place in record["problems"]),
                "remarks": tuple(record["remarks"]),
                "files": tuple(WrittenFile(*written) for written in record["files"]),
                "occurrences": _occurrences(record["occurrences"]),
                "intervals": tuple(record.get("intervals", ())),
                "findings": tuple(record["findings"]),
            }
        )
        told = [findings_of(findings) for findings in outcome.findings]
    except (InputError, ValueError, TypeError, KeyError, AttributeError):
        raise UnfitError(path) from None
    if signature.get("bootstrap") is not None and len(outcome.intervals) != len(outcome.scores):
        raise UnfitError(path)  # earlier versions kept intervals in the run's own files only
    if len(told) != len(outcome.scores):
        raise UnfitError(path)
    for written in outcome.files:
        check_file(os.path.join(folder, written.name), written)
    return outcome


def _is_same(recorded: Mapping[str, Any], signature: Mapping[str, object]) -> bool:
    """Whether a run was made from what it would be made from now, wherever its inputs lay."""
    return _without_names(recorded) == _without_names(json.loads(json.dumps(signature)))


def _without_names(signature: Mapping[str, Any]) -> dict[str, Any]:
    """A signature with the digests of the inputs alone; options that name an input have its digest, too."""
    digests = {given["name"]: given["sha256"] for given in signature["inputs"]}
    options = {
        name: digests.get(value, value) if isinstance(value, str) else value
        for name, value in signature["options"].items()
    }
    inputs = [(given["role"], given["sha256"]) for given in signature["inputs"]]
    return {**signature, "options": options, "inputs": inputs}


def _read_record(path: str) -> dict[str, Any]:
    """What a batch has written into a signature file, without its version and digest. Raises UnfitError."""
    try:
        with _plain_file(path) as file:
            record = document_in(file.read(_LARGEST_SIGNATURE), path)
        digest = record.pop("digest")
        if record.get("schema_version") != SCHEMA_VERSION or digest != digest_of(record):
            raise UnfitError(path)
        del record["schema_version"]
        return record
    except (InputError, OSError, ValueError, TypeError, KeyError, MemoryError):
        raise UnfitError(path) from None


def digest_of(record: Mapping[str, object]) -> str:
    """The SHA-256 of a record, by which a change of it is noticed. Raises ValueError for what JSON does not know."""
    return hashlib.sha256(json.dumps(record, sort_keys=True, allow_nan=False).encode("ascii")).hexdigest()


def check_file(path: str, written: WrittenFile) -> None:
    """Raises UnfitError where a file is not as it was written."""
    try:
        with _plain_file(path) as file:
            if os.fstat(file.fileno()).st_size != written.size:
                raise UnfitError(path)
            if written.sha256 not in ("", hashlib.file_digest(file, "sha256").hexdigest()):
                raise UnfitError(path)
    except (OSError, ValueError):
        raise UnfitError(path) from None


def _plain_file(path: str) -> io.BufferedReader:
    """A file that is neither a link nor a pipe, where reading might never end. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a file")
    return open(descriptor, "rb")


def _occurrences(record: Sequence[Mapping[str, Any]] | None) -> tuple[Occurrence, ...] | None:
    if record is None:
        return None
    return tuple(Occurrence(**{**one, "severity": Severity(one["severity"])}) for one in record)


def clear(folder: str) -> None:
    """Remove the signature, then the files of an earlier scoring and what a killed one left half written."""
    clear_leftovers(folder)
    with contextlib.suppress(OSError):
        os.unlink(os.path.join(folder, SIGNATURE))
    _remove(folder, is_of_run)


def clear_leftovers(folder: str) -> None:
    """Remove the temporary files that a killed process left behind."""
    _remove(folder, is_leftover)


def is_of_run(name: str) -> bool:
    """Whether a file of this name in the folder of a run is replaced or removed when the run is scored again."""
    return name in _NAMES or is_page(name) or is_leftover(name)


def is_leftover(name: str) -> bool:
    """Whether a file is called like what a killed process left half written."""
    return name.startswith(".") and name.endswith(".part")


def files_in(folder: str, is_meant: Callable[[str], bool]) -> list[str]:
    """What has such a name in a folder and is no folder: files, links, pipes; none where there is no folder."""
    try:
        names = sorted(filter(is_meant, os.listdir(folder)))
    except OSError:
        return []
    paths = [os.path.join(folder, name) for name in names]
    return [path for path in paths if os.path.islink(path) or not os.path.isdir(path)]


def _remove(folder: str, is_meant: Callable[[str], bool]) -> None:
    for path in files_in(folder, is_meant):
        with contextlib.suppress(OSError):
            os.unlink(path)


class _Counted:
    """Blocks that are counted and hashed as they pass."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = blocks
        self.size = 0
        self.sha256 = hashlib.sha256()

    def __iter__(self) -> Iterator[bytes]:
        for block in self._blocks:
            self.size += len(block)
            self.sha256.update(block)
            yield block

    def written(self, name: str) -> WrittenFile:
        """What has passed, as a file of this name."""
        return WrittenFile(name, self.size, "" if name.endswith(_TIMED) else self.sha256.hexdigest())
