"""An input as a task carries it: by name, by name and absolute path, or with its bytes."""

from __future__ import annotations

import atexit
import functools
import os
import sys
from typing import Final

from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.base.sources import InMemory, Input, InputDigest, open_source, reason_of

_BLOCK: Final = 1 << 20


class InputFile(Record):
    """One input file.

    `name` is what messages call it: the path as given. `path` is where it lies if the worker may have another working
    folder, `content` its stored bytes if the worker may not see the file at all.
    """

    name: str
    path: str | None = None
    content: bytes | None = None

    def open(self) -> Input:
        """What the library reads it from. Raises InputError where there is no such file."""
        if self.content is not None:
            return InMemory(self.name, self.content)
        if self.path is None:
            return self.name
        try:
            with open(self.path, "rb") as file:
                return InMemory(self.name, file.read())
        except (OSError, ValueError) as error:
            raise InputError(f"Could not open {self.name}: {reason_of(error)}") from None

    def on_disk(self) -> str:
        """A path to read it from, for a reader that takes nothing else; shipped bytes go into a temporary file."""
        if self.content is None:
            return self.path or self.name
        return _on_disk(self.content)

    def located(self) -> InputFile:
        """The same input for a worker with another working folder that sees the same files."""
        if self.content is not None:
            return self
        return replace(self, path=os.path.abspath(self.name))

    def loaded(self) -> InputFile:
        """The same input with its bytes. Raises InputError where it cannot be read."""
        if self.content is not None:
            return self
        try:
            with open(sys.stdin.fileno() if self.name == "-" else self.name, "rb", closefd=self.name != "-") as file:
                return replace(self, content=file.read())
        except (OSError, ValueError) as error:
            raise InputError(f"Could not open {self.name}: {reason_of(error)}") from None

    def digest(self, role: str) -> InputDigest:
        """The digest of its content. Raises InputError where it cannot be read."""
        with open_source(self.open()) as source:
            return source.digest(role)


@functools.cache
def _on_disk(content: bytes) -> str:
    """A temporary file that lives as long as the process."""
    import tempfile

    descriptor, path = tempfile.mkstemp(prefix="cs-score-")
    with open(descriptor, "wb") as file:
        file.write(content)
    atexit.register(os.unlink, path)
    return path
