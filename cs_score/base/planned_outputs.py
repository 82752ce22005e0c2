"""What a call reads and what it is going to write, checked before anything is opened for writing.

Every command makes one plan. Its check refuses an output that is an input, another output or a folder, under whatever
name or link, and a file that stands in the way and must not be replaced. `clear` then removes what earlier calls left
at these places, as far as it is recognised as theirs, so that it is not taken for the result of a call that fails.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from typing import Final, TypeAlias

from cs_score.base.errors import InputError, OutputError, UsageError
from cs_score.base.outputs import is_device
from cs_score.base.records import Record
from cs_score.base.sources import READING_ERRORS, open_source, plain_name, reason_of

_BEGINNING: Final = 4096
"""Bytes by which a file is recognised."""

_Identity: TypeAlias = tuple[int, int] | str


class Existing(Enum):
    """What becomes of a file that is there already."""

    REFUSED = "the output must be a new file"
    REPLACED = "the user named this very file: it is replaced when the result is there, and stays where there is none"
    CLEARED = "it belongs to a family of files that earlier calls wrote: it is removed, whatever comes of this call"
    RECOGNISED = "only an earlier output of the same option is replaced, others by force alone"
    KNOWN = "as RECOGNISED, but it stays until the result is there: another call may still be at work on it"


class Format(Record):
    """How an own option's files of one ending begin: the pattern fits all that cs-score writes there, little else."""

    beginning: re.Pattern[bytes]

    def fits(self, path: str) -> bool:
        """Whether a file was written in this format. Of a compressed file what is inside counts."""
        try:
            with open_source(path) as source:
                return self.beginning.match(source.binary.read(_BEGINNING)) is not None
        except (InputError, *READING_ERRORS):
            return False


class OwnOption(Record):
    """An option that the reference does not have: its name, the formats by ending, and a name to propose."""

    name: str
    formats: Mapping[str, Format]
    example: str
    takes_dash: bool = False

    def outputs(self, path: str | None) -> Iterator[PlannedOutput]:
        """The file that the option names; none for standard output. Raises UsageError for an impossible name."""
        if path is None or (path == "-" and self.takes_dash):
            return
        format_ = self.formats.get(ending_of(path))
        if format_ is None and not (self.takes_dash and is_stream(path)):
            *some, last = self.formats
            raise UsageError(
                f"{self.name} takes a file; did you mean {self.name} {self.example}? {path} does not end in "
                f"{', '.join(some)}{' or ' if some else ''}{last} (perhaps compressed)"
            )
        yield PlannedOutput(self.name, path, Existing.RECOGNISED, format_)


def ending_of(path: str) -> str:
    """The ending of a file's name that gives its format, that of a compression aside."""
    return os.path.splitext(plain_name(path))[1].lower()


class PlannedOutput(Record):
    """A file to be written: the option or parameter that it comes from, and what may be there before."""

    option: str
    path: str
    existing: Existing
    format: Format | None = None

    def check_place(self) -> None:
        """Raises UsageError where something is in the way, OutputError where no file can be made."""
        if os.path.isdir(self.path):
            raise UsageError(f"{self.path} is a folder, where {self.option} writes a file")
        if self.existing is Existing.REFUSED and os.path.exists(self.path):
            raise UsageError(f"File {self.path} already exists; {self.option} must name a new file")
        if (reason := why_not_writable(self.path)) is not None:
            raise OutputError(f"Could not open {self.path}: {reason}; choose another {self.option}")

    def check_content(self) -> None:
        """Raises UsageError where an own option would replace what it has not written."""
        is_guarded = self.existing in (Existing.RECOGNISED, Existing.KNOWN)
        if is_guarded and os.path.exists(self.path) and not self.is_recognised():
            raise UsageError(f"{self.path} exists; name another {self.option}, or replace it with --force")

    def is_recognised(self) -> bool:
        """Whether the existing file is one that an earlier call wrote, as far as its content shows."""
        if self.existing is Existing.CLEARED:
            return True
        return self.format is not None and self.format.fits(self.path)


class OutputPlan(Record):
    """All that a call reads and all that it writes; `folder` is one that it makes, so that files may lie there."""

    inputs: Sequence[str]
    outputs: Sequence[PlannedOutput]
    forced: bool = False
    folder: str | None = None

    def check(self) -> None:
        """Raises UsageError or OutputError for the first output that cannot be; touches nothing."""
        taken: dict[_Identity, PlannedOutput] = {}
        for output in self._files():
            if not self._is_in_new_folder(output):
                output.check_place()
            other = taken.setdefault(_identity(output.path), output)
            # Files of one option never share a path; what is left of earlier calls may have been linked to save space.
            if other.option != output.option:
                raise UsageError(f"{output.path} is what {other.option} writes; choose another {output.option}")
        for identity in map(_identity_of_input, self.inputs if taken else ()):
            if identity in taken:
                raise UsageError(f"{taken[identity].path} is an input; choose another {taken[identity].option}")
        for output in taken.values() if not self.forced else ():
            output.check_content()

    def clear(self) -> None:
        """Remove the files of earlier calls, as far as they are recognised."""
        for output in self._files():
            if output.existing is not Existing.KNOWN and os.path.isfile(output.path) and output.is_recognised():
                with suppress(OSError):
                    os.unlink(output.path)

    def _files(self) -> Iterator[PlannedOutput]:
        """The outputs but for devices and pipes, to which anything may be written any number of times."""
        return (output for output in self.outputs if output.existing is Existing.REFUSED or not is_stream(output.path))

    def _is_in_new_folder(self, output: PlannedOutput) -> bool:
        if self.folder is None or os.path.isdir(self.folder):
            return False
        return os.path.dirname(os.path.abspath(output.path)) == os.path.abspath(self.folder)


def is_stream(path: str) -> bool:
    """Whether a path is that of a device or a pipe, which takes anything any number of times."""
    return is_device(path) and not os.path.isdir(os.path.realpath(path))


def _identity(path: str) -> _Identity:
    """What two names of one file have in common: device and inode, or where the file would lie."""
    try:
        found = os.stat(path)
        return found.st_dev, found.st_ino
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            return os.path.realpath(path)
    return path


def _identity_of_input(name: str) -> _Identity:
    if name != "-":
        return _identity(name)
    try:
        found = os.fstat(0)  # it may be a file, by redirection
    except OSError:
        return "-"
    return found.st_dev, found.st_ino


def why_not_writable(path: str) -> str | None:
    """Why a file `path` cannot be made or replaced, in the operating system's words; None where it can."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        folder = os.path.dirname(os.path.realpath(path))  # a link may lead to where the file will be
        if not os.path.exists(folder):
            return os.strerror(errno.ENOENT)
        return None if os.access(folder, os.W_OK | os.X_OK) else os.strerror(errno.EACCES)
    except (OSError, ValueError) as error:  # a circle of links, a file on the way; a NUL, which no name has
        return reason_of(error)
    if stat.S_ISDIR(found.st_mode):
        return os.strerror(errno.EISDIR)
    return None if os.access(path, os.W_OK) else os.strerror(errno.EACCES)
