"""Inputs as users have them: a path, `-`, a compressed file, an open file, text already in memory; and tables.

What is read is hashed on the way, so that a score can be signed with the inputs it was made from.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from typing import IO, Any, Final, TypeAlias, cast

from cs_score.base.errors import InputError
from cs_score.base.records import Record

Input: TypeAlias = str | os.PathLike[str] | IO[str] | IO[bytes]
"""What the Python API takes for a file: a path, or an open text or binary file."""

_BLOCK: Final = 1 << 20

# Ending -> module with an `open(file)`, imported only for a file that needs it, and how its files begin.
_DECOMPRESSORS: Final = {".gz": ("gzip", b"\x1f\x8b"), ".bz2": ("bz2", b"BZh"), ".xz": ("lzma", b"\xfd7zXZ")}


class InMemory(io.BytesIO):
    """A file in memory, with the name that messages call it; whoever opens it reads it from its beginning."""

    def __init__(self, name: str, data: bytes) -> None:
        super().__init__(data)
        self.name = name


class InputDigest(Record):
    """Name of an input as the user gave it, the SHA-256 (hexadecimal) of its content, and what the input was for. The
    content of a compressed file is what is inside. `role`: queries, query list, samples, pool, gold or run.
    """

    name: str
    sha256: str
    role: str


class _HashingReader(io.RawIOBase):
    """Reads through to `inner`, feeding every byte to a running SHA-256. Raises OSError where that fails."""

    def __init__(self, inner: IO[bytes]) -> None:
        self._inner: Any = inner
        self.sha256 = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            size: int = self._inner.readinto(buffer) or 0
        except (OSError, MemoryError):
            raise
        except Exception as error:  # every module that decompresses has errors of its own
            raise OSError(str(error)) from None
        self.sha256.update(buffer[:size])
        return size


def decoded(data: bytes, name: str, lines_before: int = 0) -> str:
    """The text of a file, or of a part of it behind some lines. Raises InputError with the line that is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = lines_before + data.count(b"\n", 0, error.start) + 1
        raise InputError("not UTF-8", file=name, place=f"line {line}", code="NOT_UTF8") from None


class Source:
    """One opened input, a context manager: what messages call it, and `binary`, the decompressed stream. Reading it
    raises OSError, also for damaged compressed data.
    """

    __slots__ = ("_hashing", "_stored", "binary", "name")

    def __init__(self, name: str, raw: io.FileIO | io.BytesIO, *, decompress: bool = True) -> None:
        self.name = name
        self._stored = raw
        ending = os.path.splitext(name)[1]
        content: Any = raw
        if decompress and ending in _DECOMPRESSORS:
            packed = raw if isinstance(raw, io.BytesIO) else io.BufferedReader(raw, _BLOCK)
            content = importlib.import_module(_DECOMPRESSORS[ending][0]).open(packed)
        self._hashing = _HashingReader(content)
        self.binary = cast(IO[bytes], io.BufferedReader(self._hashing, _BLOCK))

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *exception: object) -> None:
        self.binary.close()
        self._stored.close()

    def read_bytes(self) -> bytes:
        """All bytes, decompressed. Raises InputError where reading or decompressing fails."""
        try:
            return self.binary.read()
        except OSError as error:
            raise InputError(f"cannot be read: {reason_of(error)}", file=self.name) from None

    def digest(self, role: str) -> InputDigest:
        """The digest of the content of an input that is read for `role`; what is left of it is read now. Raises
        InputError where it cannot be read.
        """
        try:
            while self._hashing.read(_BLOCK):
                pass
        except OSError as error:
            raise InputError(f"cannot be read: {reason_of(error)}", file=self.name) from None
        return InputDigest(self.name, self._hashing.sha256.hexdigest(), role)


def reason_of(error: Exception) -> str:
    """The operating system's words for an error, without number and path; the error's own words otherwise."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def plain_name(name: str) -> str:
    """A file's name without the ending of its compression."""
    stem, ending = os.path.splitext(name)
    return stem if ending in _DECOMPRESSORS else name


def name_of(given: Input) -> str:
    """What messages call an input: the path as given, `-` for standard input, an open file's own name."""
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given)
    return str(getattr(given, "name", "<input>"))


_kept_pipes: dict[tuple[int, int], bytes] | None = None


@contextlib.contextmanager
def pipes_are_kept() -> Iterator[None]:
    """A block in which a named pipe can be opened again, as a file can: what was in it is kept in memory. For commands,
    whose pipes are filled once; elsewhere a pipe may be filled again and again.
    """
    global _kept_pipes
    before, _kept_pipes = _kept_pipes, {}
    try:
        yield
    finally:
        _kept_pipes = before


def is_pipe(path: str | os.PathLike[str]) -> bool:
    """Whether there is a pipe of that name, which can be read once only."""
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def file_in_folder(path: str) -> str:
    """Return the path of a file that was found in a folder.

    Raises InputError for a pipe, a socket or a device, also behind a link: nobody has named it, and reading it might
    never end.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # said when it is opened
        return path
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return path
    raise InputError("a pipe, a socket or a device, which is read only where it is named itself", file=path)


def _opened(path: str | os.PathLike[str]) -> io.FileIO | io.BytesIO:
    if _kept_pipes is None or not is_pipe(path):
        return open(path, "rb", buffering=0)
    found = os.stat(path)
    known = (found.st_dev, found.st_ino)
    if known not in _kept_pipes:
        with open(path, "rb") as file:
            _kept_pipes[known] = file.read()
    return io.BytesIO(_kept_pipes[known])


def open_source(given: Input, *, stdin_as_dash: bool = True, decompress: bool = True) -> Source:
    """Open an input; a compressed file gives what is inside unless it is not to be decompressed. Raises InputError
    ("Could not open NAME: REASON") where the file cannot be opened or is a folder.
    """
    name = name_of(given)
    if isinstance(given, (str, os.PathLike)):
        if name == "-" and stdin_as_dash:
            return Source(name, open(sys.stdin.fileno(), "rb", buffering=0, closefd=False))
        try:
            return Source(name, _opened(given), decompress=decompress)
        except (OSError, ValueError) as error:  # ValueError: a NUL inside the path
            raise InputError(f"Could not open {name}: {reason_of(error)}") from None
    # An open file keeps belonging to its owner, so what is left of it is read now and it is not closed.
    content = given.getvalue() if isinstance(given, InMemory) else given.read()
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    # A file opened with gzip.open bears the name of the compressed file and reads as what is inside.
    beginning = _DECOMPRESSORS.get(os.path.splitext(name)[1], ("", b""))[1]
    return Source(name, io.BytesIO(data), decompress=decompress and data.startswith(beginning))


@contextlib.contextmanager
def lines_of(given: Input, encoding: str = "utf-8") -> Iterator[Iterator[str]]:
    """Yield the lines of a file as it is stored, with their line feeds. Raises InputError also while they are read."""
    with open_source(given, decompress=False) as source:
        try:
            yield io.TextIOWrapper(source.binary, encoding, newline="\n")
        except UnicodeDecodeError:
            raise InputError("not UTF-8", file=source.name) from None


def rereadable(given: Input) -> Input:
    """An input that can be opened any number of times: standard input, pipes and open files are held in memory. Raises
    InputError where these cannot be read.
    """
    name = name_of(given)
    if isinstance(given, InMemory) or (isinstance(given, (str, os.PathLike)) and name != "-" and not is_pipe(name)):
        return given
    with open_source(given, decompress=False) as source:
        return InMemory(name, source.read_bytes())


WHITE_SPACE: Final = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
"""All such characters."""

SPACE: Final = r"[^\S\x1c-\x1f]"
"""The pattern of one such character."""

NO_SPACE: Final = r"[\S\x1c-\x1f]"
"""The pattern of any other character."""

# ---- Tables that people hand over


class Delimited(Record):
    """The names of the columns, and the rows with the numbers of their lines, a cell for each column."""

    file: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[int, tuple[str, ...]]]

    def named(self, *columns: str) -> Iterator[tuple[int, tuple[str, ...]]]:
        """The line and the cells of these columns of each row, none of them empty. Raises InputError where there is no
        such column, and for an empty cell.
        """
        for column in columns:
            if column not in self.columns:
                problem = f"no column {column}; there are {', '.join(self.columns)}"
                raise InputError(problem, file=self.file, place="line 1")
        places = [self.columns.index(column) for column in columns]
        for line, row in self.rows:
            cells = tuple([row[place] for place in places])
            if "" in cells:
                column = columns[cells.index("")]
                raise InputError(f"column {column} is empty", file=self.file, place=f"line {line}")
            yield line, cells


def read_delimited(given: Input) -> Delimited:
    """A table whose columns are separated by tabs where its header has any, otherwise by commas (CSV with quotes).
    Blank lines are skipped, and white space around cells. Raises InputError with the line for what is none.
    """
    import csv  # short runs start without it

    with open_source(given) as source:
        name, data = source.name, source.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8", file=name, place=f"byte {error.start + 1}") from None
    lines = text.splitlines()
    if "\t" in next((line for line in lines if line.strip()), ""):
        reader = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE, strict=True)
    else:
        reader = csv.reader(lines, strict=True)
    rows: list[tuple[int, tuple[str, ...]]] = []
    try:
        for cells in reader:
            row = tuple([cell.strip() for cell in cells])
            if any(row):
                rows.append((reader.line_num, row))
            if any(row) and len(row) != len(rows[0][1]):
                problem = f"{len(row)} cells, where the header names {len(rows[0][1])} columns"
                raise InputError(problem, file=name, place=f"line {reader.line_num}")
    except csv.Error as error:
        raise InputError(f"no CSV: {error}", file=name, place=f"line {reader.line_num}") from None
    if not rows:
        raise InputError("empty: a table begins with a line that names its columns", file=name)
    (_, columns), *rows = rows
    _check_columns(columns, name)
    return Delimited(name, columns, rows)


def _check_columns(columns: Sequence[str], file: str) -> None:
    """Raise InputError for a column without a name, and for two of one name."""
    earlier: set[str] = set()
    for column in columns:
        if not column:
            raise InputError("a column has no name", file=file, place="line 1")
        if column in earlier:
            raise InputError(f"two columns are called {column}", file=file, place="line 1")
        earlier.add(column)
