"""The search for the input files of a recorded result, which are identified by their content. A record lists each
input by its name, its role (queries, pool, run, gold) and its SHA-256.
"""

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
from cs_score.base.sources import InputDigest, name_without_compression, open_source
from cs_score.coldstart.linking import RUN_SUFFIX
from cs_score.verbs.batch.input_files import InputFile

MOST_MENTIONS: Final = 20
"""How often a record may name the same input. Each time it is scored again, so a forged record could take hours."""

_ROLES_READ_AS_STORED: Final = frozenset({QUERY_LIST, SAMPLES})
"""The roles of files that options name: they are not decompressed, and their digest is that of the stored bytes."""


class NotFoundError(CsScoreError):
    """An error that has a line for each input that is missing or changed, without the name of the record."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Make the error from `lines`, one for each input: `run.tab (run) is missing; its SHA-256 was ...`."""
        self.lines = tuple([one_line(line) for line in lines])
        super().__init__("; ".join(self.lines))


class FoundInput(Record, dict=True):
    """An input of a record, and the path of a file with its content.

    `input_digest` has the recorded name, role and SHA-256 of the input.
    """

    input_digest: InputDigest
    path: str

    @property
    def role(self) -> str:
        """The role that the record gives the input, such as `run`."""
        return self.input_digest.role

    def load(self) -> InputFile:
        """Return the input with the bytes of the file, under the name that the input had when it was recorded.

        Raises InputError if the file cannot be read.
        """
        return InputFile(self.input_digest.name, content=self._content)

    @cached_property
    def _content(self) -> bytes:
        """The content of the file, which is read once even if the record names the input repeatedly."""
        decompress = self.role not in _ROLES_READ_AS_STORED
        with open_source(self.path, dash_is_stdin=False, decompress=decompress) as source:
            return source.read_bytes()


class Places:
    """The files among which the inputs of a record are looked for. An input is recognised by its SHA-256. Each file is
    read once, and only if needed: files with the name of an input are tried first.
    """

    def __init__(self, files: Sequence[str], record_folder: str, *, allows_long_verification: bool = False) -> None:
        """Prepare to look for inputs among `files` (files and folders) and at the recorded paths of the inputs.

        Recorded paths may be relative to the working folder or to `record_folder`. `allows_long_verification` is true
        if the user has allowed a long verification with `--force`. Raises InputError for a name that is neither a file
        nor a folder.
        """
        self.allows_long_verification = allows_long_verification
        self._files = list(_expand_folders(files))
        self._files_by_name: dict[str, list[str]] = {}
        for path in self._files:
            self._files_by_name.setdefault(os.path.basename(path), []).append(path)
        self._record_folder = record_folder
        # The content of a file depends on whether it is read as stored (True) or decompressed (False).
        self._digest_by_path: dict[tuple[str, bool], str | None] = {}
        # These map the SHA-256 of a file's content to the path of the file, for each of these two ways of reading. They
        # are computed when an input is looked for among all files.
        self._path_by_stored_digest: dict[str, str] | None = None
        self._path_by_decompressed_digest: dict[str, str] | None = None

    def find(self, inputs: Sequence[InputDigest]) -> list[FoundInput]:
        """Return the file that was found for each input. An input that is named repeatedly has the same file each time.

        Raises NotFoundError, which names all inputs without a file, and InputError for an input that is named too
        often.
        """
        _check_mentions(inputs)
        lines_on_missing_inputs: list[str] = []
        found_input_by_digest: dict[InputDigest, FoundInput] = {}
        for input_digest in inputs:
            if input_digest in found_input_by_digest:
                continue
            path = self._find_file(input_digest)
            if path is None:
                lines_on_missing_inputs.append(self._line_on_missing_input(input_digest))
            else:
                found_input_by_digest[input_digest] = FoundInput(input_digest, path)
        if lines_on_missing_inputs:
            raise NotFoundError(lines_on_missing_inputs)
        return [found_input_by_digest[input_digest] for input_digest in inputs]

    def _find_file(self, input_digest: InputDigest) -> str | None:
        """Return the path of a file with the recorded content, or None if there is none.

        `input_digest` has the name, the role and the SHA-256 of an input, as recorded. Because reading a file takes
        time, files with the name of the input are tried first, both those given by the user and those at the recorded
        path. After that, all other files given by the user are tried.
        """
        candidates = list(self._files_by_name.get(os.path.basename(input_digest.name), ()))
        candidates += self._original_files(input_digest.name)
        for path in candidates:
            if self._digest(path, input_digest.role) == input_digest.sha256:
                return path
        return self._path_by_digest(input_digest.role).get(input_digest.sha256)

    def _original_files(self, name: str) -> list[str]:
        """Return the files that exist at the recorded path of an input.

        A path that is not absolute is looked for in the working folder and in the folder of the record.
        """
        paths = [name, os.path.join(self._record_folder, name)]
        return [path for path in paths if _is_file(path)]

    def has_folder_without_runs(self, name: str) -> bool:
        """Return whether the folder called `name` exists and contains no run; it may contain other files.

        The name may also be relative to the folder of the record. The first of these folders that exists is checked.
        """
        for path in (name, os.path.join(self._record_folder, name)):
            with contextlib.suppress(OSError, ValueError):
                if os.path.isdir(path):
                    return not any(name_without_compression(file).endswith(RUN_SUFFIX) for file in os.listdir(path))
        return False

    def _path_by_digest(self, role: str) -> dict[str, str]:
        """Return the paths of all files by their SHA-256, computed as for inputs with a `role` such as `run`.

        The role determines whether files are hashed as they are stored or after decompression. If several files have
        the same content, the first one is returned.
        """
        if role in _ROLES_READ_AS_STORED:
            if self._path_by_stored_digest is None:
                self._path_by_stored_digest = self._digest_all_files(role)
            return self._path_by_stored_digest
        if self._path_by_decompressed_digest is None:
            self._path_by_decompressed_digest = self._digest_all_files(role)
        return self._path_by_decompressed_digest

    def _digest_all_files(self, role: str) -> dict[str, str]:
        """Read all files given by the user as inputs with a `role`, and return their paths by SHA-256."""
        path_by_digest: dict[str, str] = {}
        for path in self._files:
            digest = self._digest(path, role)
            if digest is not None:
                path_by_digest.setdefault(digest, path)
        return path_by_digest

    def _digest(self, path: str, role: str) -> str | None:
        """Return the SHA-256 of a file that is an input with a `role`, such as `run`; None if it cannot be read.

        The SHA-256 of a compressed file is that of its decompressed content, except for roles whose files are read as
        they are stored. A digest is kept, so that no file is read twice in the same way.
        """
        is_read_as_stored = role in _ROLES_READ_AS_STORED
        key = (path, is_read_as_stored)
        if key not in self._digest_by_path:
            self._digest_by_path[key] = _digest_of_file(path, role, decompress=not is_read_as_stored)
        return self._digest_by_path[key]

    def _line_on_missing_input(self, input_digest: InputDigest) -> str:
        """Return the line about an input that was not found: either it is missing, or another file has its path."""
        clause_on_given_files = ""  # continues "is missing" or "was changed"
        if self._files:
            clause_on_given_files = f", nor has any of the {len(self._files)} files given that content"
        name = f"{input_digest.name} ({input_digest.role})"
        original_files = self._original_files(input_digest.name)
        if not original_files:
            return f"{name} is missing{clause_on_given_files}; its SHA-256 was {input_digest.sha256}"
        digest = self._digest(original_files[0], input_digest.role)
        if digest is None:
            return f"{name} was changed{clause_on_given_files}: it cannot be read"
        return f"{name} was changed{clause_on_given_files}: its SHA-256 was {input_digest.sha256}, and is {digest}"


def _digest_of_file(path: str, role: str, *, decompress: bool) -> str | None:
    """Return the SHA-256 of a file, or of its decompressed content; None if the file cannot be read.

    `role` is the role of the input that the file may be, such as `run`.
    """
    try:
        with open_source(path, dash_is_stdin=False, decompress=decompress) as source:
            return source.digest(role).sha256
    except (InputError, OSError):
        return None


def _check_mentions(inputs: Iterable[InputDigest]) -> None:
    """Raise InputError for an input of a record that is named more than `MOST_MENTIONS` times."""
    mention_count: Counter[str] = Counter()
    for input_digest in inputs:
        mention_count[input_digest.sha256] += 1
        if mention_count[input_digest.sha256] > MOST_MENTIONS:
            raise InputError(f"the record names it more than {MOST_MENTIONS} times", file=input_digest.name)


def _expand_folders(words: Sequence[str]) -> Iterator[str]:
    """Yield the files that words of a command line name, and all files below the named folders.

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
