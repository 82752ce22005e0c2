"""The search for the input files of a recorded result, which are identified by their content."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

from cs_score.base.display import one_line
from cs_score.base.errors import CsScoreError, InputError
from cs_score.base.records import Record
from cs_score.base.signature import QUERY_LIST, SAMPLES
from cs_score.base.sources import InputDigest, open_source, plain_name
from cs_score.coldstart.linking import RUN_SUFFIX
from cs_score.verbs.batch.inputs import InputFile

MOST_MENTIONS: Final = 20
"""How often a record may name the same input. Each time it is scored again, so a forged record could take hours."""

_ROLES_READ_AS_STORED: Final = frozenset({QUERY_LIST, SAMPLES})
"""The roles of files that options name: they are not decompressed, and their digest is that of the stored bytes."""


class NotFoundError(CsScoreError):
    """An error that has a line for each input that is missing or changed, without the name of the record."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Report the lines."""
        self.lines = tuple([one_line(line) for line in lines])
        super().__init__("; ".join(self.lines))


class FoundInput(Record, dict=True):
    """A recorded input, and the path of a file with its content."""

    recorded: InputDigest
    path: str

    def load(self) -> InputFile:
        """Return the content under the name that the input had. Raises InputError if it cannot be read."""
        return InputFile(self.recorded.name, content=self._content)

    @cached_property
    def _content(self) -> bytes:
        """The content of the file, which is read once even if the record names the input repeatedly."""
        decompress = self.recorded.role not in _ROLES_READ_AS_STORED
        with open_source(self.path, stdin_as_dash=False, decompress=decompress) as source:
            return source.read_bytes()


class Places:
    """The files among which the inputs of a record are looked for.

    Each file is read once, and only if needed: files with the name of an input are tried first.
    """

    def __init__(self, files: Sequence[str], record_folder: str, *, is_forced: bool = False) -> None:
        """Look for inputs among `files`, which are files and folders, and at their recorded paths.

        Recorded paths may be relative to the working folder or to `record_folder`. With `is_forced` the user allows
        verifications that take long. Raises InputError for a name that is neither file nor folder.
        """
        self.is_forced = is_forced
        self._files = list(_expand_folders(files))
        self._files_by_name: dict[str, list[str]] = {}
        for path in self._files:
            self._files_by_name.setdefault(os.path.basename(path), []).append(path)
        self._record_folder = record_folder
        self._digest_by_file: dict[tuple[str, bool], str | None] = {}
        self._file_by_digest: dict[bool, dict[str | None, str]] = {}

    def find(self, inputs: Iterable[InputDigest]) -> list[FoundInput]:
        """Return the file that was found for each input; the same one for an input that the record names repeatedly.

        Raises NotFoundError, which names all inputs without a file, and InputError for an input that is named too
        often.
        """
        found_inputs: list[FoundInput] = []
        complaints: list[str] = []
        found_by_input: dict[InputDigest, FoundInput] = {}
        mention_count: Counter[str] = Counter()
        for recorded in inputs:
            mention_count[recorded.sha256] += 1
            if mention_count[recorded.sha256] > MOST_MENTIONS:
                raise InputError(f"the record names it more than {MOST_MENTIONS} times", file=recorded.name)
            if recorded not in found_by_input:
                path = self._find_file(recorded)
                if path is None:
                    complaints.append(self._complaint(recorded))
                    continue
                found_by_input[recorded] = FoundInput(recorded, path)
            found_inputs.append(found_by_input[recorded])
        if complaints:
            raise NotFoundError(complaints)
        return found_inputs

    def _find_file(self, recorded: InputDigest) -> str | None:
        """Return a file with the recorded content, or None.

        Files with the name of the input are tried first; then all files are compared by content.
        """
        candidates = list(self._files_by_name.get(os.path.basename(recorded.name), ()))
        candidates += self._original_files(recorded.name)
        for path in candidates:
            if self._digest(path, recorded.role) == recorded.sha256:
                return path
        return self._files_by_content(recorded.role).get(recorded.sha256)

    def _original_files(self, name: str) -> list[str]:
        """Return the existing files at the recorded path of an input, also relative to the folder of the record."""
        paths = [name, os.path.join(self._record_folder, name)]
        return [path for path in paths if _is_file(path)]

    def has_empty_folder(self, name: str) -> bool:
        """Return whether the folder called `name` exists and holds no run.

        The name may also be relative to the folder of the record.
        """
        for path in (name, os.path.join(self._record_folder, name)):
            with contextlib.suppress(OSError, ValueError):
                if os.path.isdir(path):
                    return not any(plain_name(file).endswith(RUN_SUFFIX) for file in os.listdir(path))
        return False

    def _files_by_content(self, role: str) -> dict[str | None, str]:
        """Return the files by SHA-256 as inputs with a role have it; if several have the same content, the first."""
        is_read_as_stored = role in _ROLES_READ_AS_STORED
        if is_read_as_stored not in self._file_by_digest:
            file_by_digest = {}
            for path in reversed(self._files):  # so that the first of several files is entered last
                file_by_digest[self._digest(path, role)] = path
            self._file_by_digest[is_read_as_stored] = file_by_digest
        return self._file_by_digest[is_read_as_stored]

    def _digest(self, path: str, role: str) -> str | None:
        """Return the SHA-256 that a file has as an input with a role; None if the file cannot be read."""
        is_read_as_stored = role in _ROLES_READ_AS_STORED
        key = (path, is_read_as_stored)
        if key not in self._digest_by_file:
            try:
                with open_source(path, stdin_as_dash=False, decompress=not is_read_as_stored) as source:
                    self._digest_by_file[key] = source.digest(role).sha256
            except (InputError, OSError):
                self._digest_by_file[key] = None
        return self._digest_by_file[key]

    def _complaint(self, recorded: InputDigest) -> str:
        """Return the line about an input that was not found: it is missing, or another file has its path."""
        among_files = ""
        if self._files:
            # It follows "is missing" or "was changed".
            among_files = f", nor has any of the {len(self._files)} files given that content"
        name = f"{recorded.name} ({recorded.role})"
        original_files = self._original_files(recorded.name)
        if not original_files:
            return f"{name} is missing{among_files}; its SHA-256 was {recorded.sha256}"
        digest = self._digest(original_files[0], recorded.role)
        if digest is None:
            return f"{name} was changed{among_files}: it cannot be read"
        return f"{name} was changed{among_files}: its SHA-256 was {recorded.sha256}, and is {digest}"


def _expand_folders(words: Sequence[str]) -> Iterator[str]:
    """Yield the files that words of a command line name, and all files below the folders that they name.

    Raises InputError for a word that names neither.
    """
    for word in words:
        if os.path.isdir(word):
            yield from _files_below(word)
        elif _is_file(word):
            yield word
        else:
            raise InputError(f"Could not open {word}: no file and no folder")


def _files_below(folder: str) -> Iterator[str]:
    """Yield the ordinary files of a folder and of the folders in it, in the order of their names."""
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(parent, name)
            if _is_file(path):
                yield path


def _is_file(path: str) -> bool:
    """Return whether `path` is an ordinary file, which can be read more than once."""
    try:
        return os.path.isfile(path)
    except ValueError:  # a NUL inside the name, which no file has
        return False
