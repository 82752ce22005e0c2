"""Files that have the recorded contents: among those given, else where they were when the result was made."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from cs_score.base.display import one_line
from cs_score.base.errors import CsScoreError, InputError
from cs_score.base.records import Record
from cs_score.base.signature import QUERY_LIST, SAMPLES
from cs_score.base.sources import READING_ERRORS, InputDigest, open_source

_AS_STORED = frozenset({QUERY_LIST, SAMPLES})
"""Roles in which a file is read as it is stored."""


class NotFoundError(CsScoreError):
    """Inputs that are missing or changed: a line for each, without the name of the file that records them."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = tuple(map(one_line, lines))
        super().__init__("; ".join(self.lines))


class FoundInput(Record):
    """An input as recorded, and a file with that content."""

    recorded: InputDigest
    path: str

    @property
    def is_read_whole(self) -> bool:
        """Whether its content is what is wanted of it, and not the file on the disk."""
        return self.recorded.role not in _AS_STORED

    def content(self) -> bytes:
        """What is in it, unpacked. Raises InputError where it cannot be read."""
        with open_source(self.path, stdin_as_dash=False) as source:
            return source.read_bytes()


class Places:
    """Where inputs may be: `given` are files and folders, `beside` is the folder of the file that records a result.

    Each file is read once, and no more of them than are needed: those that are called as an input first.
    """

    def __init__(self, given: Sequence[str], beside: str) -> None:
        self._given: dict[str, list[str]] = {}
        for path in _files(given):
            self._given.setdefault(os.path.basename(path), []).append(path)
        self._beside = beside
        self._digests: dict[tuple[str, bool], str | None] = {}
        self._by_digest: dict[bool, dict[str | None, str]] = {}
        self._renamed: dict[str, str] = {}

    def find(self, inputs: Iterable[InputDigest]) -> list[FoundInput]:
        """A file for each input. Raises NotFoundError, which names all that have none."""
        found: list[FoundInput] = []
        lines: list[str] = []
        for wanted in inputs:
            path = next((path for path in self._candidates(wanted) if self._fits(path, wanted)), None)
            if path is None:
                lines.append(self._complaint(wanted))
                continue
            found.append(FoundInput(wanted, path))
            if wanted.role in _AS_STORED and path != wanted.name:
                self._renamed[path] = wanted.name
        if lines:
            raise NotFoundError(lines)
        return found

    def renamed(self) -> dict[str, str]:
        """The names that files had, by their paths now: those that are read from disk, and so called by their paths."""
        return dict(self._renamed)

    def _candidates(self, wanted: InputDigest) -> Iterator[str]:
        yield from self._given.get(os.path.basename(wanted.name), ())
        yield from self._recorded(wanted)
        as_stored = wanted.role in _AS_STORED
        if as_stored not in self._by_digest:
            paths = [path for named in self._given.values() for path in named]
            self._by_digest[as_stored] = {self._digest(path, wanted): path for path in reversed(paths)}
        if found := self._by_digest[as_stored].get(wanted.sha256):
            yield found

    def _recorded(self, wanted: InputDigest) -> Iterator[str]:
        """The recorded place, from the working folder and from the folder of the record."""
        for path in dict.fromkeys((wanted.name, os.path.join(self._beside, wanted.name))):
            if _is_file(path):
                yield path

    def _fits(self, path: str, wanted: InputDigest) -> bool:
        return self._digest(path, wanted) == wanted.sha256

    def _digest(self, path: str, wanted: InputDigest) -> str | None:
        as_stored = wanted.role in _AS_STORED
        if (path, as_stored) not in self._digests:
            try:
                with open_source(path, stdin_as_dash=False, decompress=not as_stored) as source:
                    self._digests[path, as_stored] = source.digest(wanted.role).sha256
            except (InputError, *READING_ERRORS):
                self._digests[path, as_stored] = None
        return self._digests[path, as_stored]

    def _complaint(self, wanted: InputDigest) -> str:
        number = sum(map(len, self._given.values()))
        among = f", nor has any of the {number} files given that content" if number else ""
        there = next(self._recorded(wanted), None)
        if there is None:
            return f"{wanted.name} ({wanted.role}) is missing{among}; its SHA-256 was {wanted.sha256}"
        now = self._digest(there, wanted)
        state = f"its SHA-256 was {wanted.sha256}, and is {now}" if now else "it cannot be read"
        return f"{wanted.name} ({wanted.role}) was changed{among}: {state}"


def _files(given: Sequence[str]) -> Iterator[str]:
    """The files given, and those in the folders given. Raises InputError for what is neither."""
    for word in given:
        if os.path.isdir(word):
            for folder, folders, names in os.walk(word):
                folders.sort()
                paths = (os.path.join(folder, name) for name in sorted(names))
                yield from (path for path in paths if _is_file(path))
        elif _is_file(word):
            yield word
        else:
            raise InputError(f"Could not open {word}: no file and no folder")


def _is_file(path: str) -> bool:
    """Whether there is an ordinary file, which can be read more than once."""
    try:
        return os.path.isfile(path)
    except ValueError:  # a NUL inside the name, which no file has
        return False
