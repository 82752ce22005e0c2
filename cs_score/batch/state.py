"""The folder of one run: files that appear whole, and last of all the signature that says that they are complete."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final

from cs_score.batch.outcomes import FAILED, Outcome, ProblemPlace, RunScores, WrittenFile
from cs_score.outputs import cannot_write, write_whole
from cs_score.problem_reports import Occurrence
from cs_score.problems import Severity
from cs_score.signature import without_names

SIGNATURE: Final = "signature.json"

_FIRST_FORMAT: Final = 1

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
        written.append(WrittenFile(name, counted.size, "" if name.endswith(_TIMED) else counted.sha256.hexdigest()))
    outcome = replace(outcome, files=tuple(written))
    if outcome.state != FAILED:
        text = json.dumps({"format": _FIRST_FORMAT, **asdict(outcome)}, indent=1)
        write_whole(os.path.join(folder, SIGNATURE), [text.encode("ascii"), b"\n"])
    return outcome


def read_whole_run(folder: str, signature: Mapping[str, object]) -> Outcome | None:
    """The outcome of a run that was scored before; None unless it was made from the same and its files are whole."""
    try:
        with open(os.path.join(folder, SIGNATURE), "rb") as file:
            record = json.load(file)
        if record.pop("format") != _FIRST_FORMAT or not _is_same(record["signature"], signature):
            return None
        outcome = Outcome(
            **{
                **record,
                "scores": tuple(RunScores(*scores) for scores in record["scores"]),
                "problems": tuple(ProblemPlace(*place) for place in record["problems"]),
                "remarks": tuple(record["remarks"]),
                "files": tuple(WrittenFile(*written) for written in record["files"]),
                "occurrences": _occurrences(record["occurrences"]),
            }
        )
        for written in outcome.files:
            with open(os.path.join(folder, written.name), "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                if file.tell() != written.size or written.sha256 not in ("", digest):
                    return None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):  # no record, or one that was damaged
        return None
    return outcome


def _is_same(recorded: Mapping[str, Any], signature: Mapping[str, object]) -> bool:
    """Whether a run was made from what it would be made from now, wherever its inputs lay."""
    return without_names(recorded) == without_names(json.loads(json.dumps(signature)))


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
    return name.startswith("out.") or name == SIGNATURE or is_leftover(name)


def is_leftover(name: str) -> bool:
    """Whether a file is called like what a killed process left half written."""
    return name.startswith(".") and name.endswith(".part")


def files_in(folder: str, is_meant: Callable[[str], bool]) -> list[str]:
    """The files of such names in a folder, links as well; none where there is no folder."""
    try:
        names = sorted(filter(is_meant, os.listdir(folder)))
    except OSError:
        return []
    paths = [os.path.join(folder, name) for name in names]
    return [path for path in paths if os.path.islink(path) or os.path.isfile(path)]


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
