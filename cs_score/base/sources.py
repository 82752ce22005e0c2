"""Inputs in all forms that users have: a path, `-`, a compressed file, an open file, text in memory; and tables.

All bytes are hashed while they are read, since the signature of a score includes the digests of its inputs.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import io
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, Final, NamedTuple, TypeAlias, cast

from cs_score.base.errors import InputError
from cs_score.base.records import Record

Input: TypeAlias = str | os.PathLike[str] | IO[str] | IO[bytes]
"""An input of the Python API: a path, or an open text or binary file."""

_BLOCK_SIZE: Final = 1 << 20


class _Decompressor(NamedTuple):
    """The name of a module whose `open(file)` decompresses, and the first bytes of all files of its format."""

    module: str
    first_bytes: bytes


_DECOMPRESSORS: Final = {
    ".gz": _Decompressor("gzip", b"\x1f\x8b"),
    ".bz2": _Decompressor("bz2", b"BZh"),
    ".xz": _Decompressor("lzma", b"\xfd7zXZ"),
}
"""The decompressors, by the ending of a file's name."""


class InMemory(io.BytesIO):
    """A file in memory, with its name in messages. As an input it is read from its beginning each time."""

    def __init__(self, name: str, data: bytes) -> None:
        """Make a file with these bytes, which messages call `name`."""
        super().__init__(data)
        self.name = name


class InputDigest(Record):
    """Name of an input as the user gave it, the SHA-256 (hexadecimal) of its content, and what the input was for.

    The content of a compressed file is what is inside. `role`: queries, query list, samples, pool, gold or run.
    """

    name: str
    sha256: str
    role: str


class _HashingReader(io.RawIOBase):
    """A stream that reads from another stream, and computes the SHA-256 of all bytes that were read.

    Reading raises OSError if it fails, also for damaged compressed data.
    """

    def __init__(self, inner: IO[bytes]) -> None:
        """Read from the stream `inner`. Nothing has been hashed yet."""
        self._inner: Any = inner
        self.sha256 = hashlib.sha256()

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read bytes into a buffer, and return how many; 0 at the end of the stream."""
        try:
            size: int = self._inner.readinto(buffer) or 0
        except (OSError, MemoryError):
            raise
        except Exception as error:  # every decompressor has errors of its own
            raise OSError(str(error)) from None
        self.sha256.update(buffer[:size])
        return size


def decode_text(data: bytes, name: str, lines_before: int = 0) -> str:
    """Return the bytes of a file decoded as UTF-8.

    They may be a part of the file; `lines_before` is the number of lines before this part. Raises InputError with the
    number of the line that is not UTF-8; `name` is the name of the file.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = lines_before + data.count(b"\n", 0, error.start) + 1
        raise InputError("not UTF-8", file=name, place=f"line {line}", code="NOT_UTF8") from None


class Source:
    """An opened input, to be used as a context manager.

    `name` is its name in messages, `binary` the decompressed stream. Reading this raises OSError, also for damaged
    compressed data.
    """

    __slots__ = ("_hashing", "_stored", "binary", "name")

    def __init__(self, name: str, raw: io.FileIO | io.BytesIO, *, decompress: bool = True) -> None:
        """Make a source of a file or of bytes in memory (`raw`).

        The content is decompressed if `decompress` is true and `name` has the ending of a compressed file (`.gz`).
        """
        self.name = name
        self._stored = raw
        ending = os.path.splitext(name)[1]
        content: Any = raw
        if decompress and ending in _DECOMPRESSORS:
            # The buffer saves calls for small pieces of the compressed file.
            packed = raw if isinstance(raw, io.BytesIO) else io.BufferedReader(raw, _BLOCK_SIZE)
            decompressor = importlib.import_module(_DECOMPRESSORS[ending].module)
            content = decompressor.open(packed)
        # The decompressed content is hashed while it is read.
        self._hashing = _HashingReader(content)
        # This buffer saves calls for small pieces of the content.
        self.binary = cast(IO[bytes], io.BufferedReader(self._hashing, _BLOCK_SIZE))

    def __enter__(self) -> Source:
        return self

    def __exit__(self, *exception: object) -> None:
        self.binary.close()
        self._stored.close()

    def read_bytes(self) -> bytes:
        """Read all bytes, decompressed. Raises InputError where reading or decompressing fails."""
        try:
            return self.binary.read()
        except OSError as error:
            raise InputError(f"cannot be read: {reason_of(error)}", file=self.name) from None

    def digest(self, role: str) -> InputDigest:
        """Read the rest of the input, and return the digest of its whole content.

        `role` is the purpose of the input, such as `pool`. Raises InputError if it cannot be read.
        """
        try:
            while self._hashing.read(_BLOCK_SIZE):
                pass  # reading hashes the bytes
        except OSError as error:
            raise InputError(f"cannot be read: {reason_of(error)}", file=self.name) from None
        return InputDigest(self.name, self._hashing.sha256.hexdigest(), role)


def reason_of(error: Exception) -> str:
    """Return the reason of an error: `No such file or directory`.

    For an error that does not come from the operating system it is the text of the error, or the name of its class.
    """
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


def name_without_compression(name: str) -> str:
    """Return a file's name without the ending of its compression: `run.tab.gz` gives `run.tab`."""
    stem, ending = os.path.splitext(name)
    return stem if ending in _DECOMPRESSORS else name


def name_of(file: Input) -> str:
    """Return the name of an input in messages: the path as given, `-` for standard input, the name of an open file."""
    if isinstance(file, (str, os.PathLike)):
        return os.fspath(file)
    return str(getattr(file, "name", "<input>"))


_content_by_pipe: dict[tuple[int, int], bytes] | None = None
"""The bytes of named pipes by device and inode, inside `pipes_kept_in_memory`; None outside."""


@contextlib.contextmanager
def pipes_kept_in_memory() -> Iterator[None]:
    """Keep the content of named pipes in memory during the block, so that they can be opened again, as files can.

    This is meant for commands, whose pipes are filled only once. In other programs, a pipe may be filled repeatedly.
    """
    global _content_by_pipe
    outer_content = _content_by_pipe
    _content_by_pipe = {}  # `_open_path` keeps contents here, unless it is None
    try:
        yield
    finally:
        _content_by_pipe = outer_content


def is_pipe(path: str | os.PathLike[str]) -> bool:
    """Return whether there is a named pipe at a path; it can be read only once."""
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def checked_file_or_folder(path: str) -> str:
    """Return the path of an entry of a folder, after checking that it is a file or a folder.

    Raises InputError for a pipe, a socket or a device, and for a link to one: the user has not named this entry, and
    reading it might never end.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):  # the error is reported when the file is opened
        return path
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
        return path
    raise InputError("a pipe, a socket or a device, which is read only where it is named itself", file=path)


def _open_path(path: str | os.PathLike[str]) -> io.FileIO | io.BytesIO:
    """Open a file; inside `pipes_kept_in_memory` a pipe is read and kept in memory. Raises OSError, ValueError."""
    if _content_by_pipe is None or not is_pipe(path):
        return open(path, "rb", buffering=0)
    status = os.stat(path)
    identity = (status.st_dev, status.st_ino)
    if identity not in _content_by_pipe:
        with open(path, "rb") as file:
            _content_by_pipe[identity] = file.read()
    return io.BytesIO(_content_by_pipe[identity])


def open_source(file: Input, *, dash_is_stdin: bool = True, decompress: bool = True) -> Source:
    """Open an input for reading, and return it as a context manager.

    A compressed file is decompressed, unless `decompress` is false. With `dash_is_stdin` the path `-` is standard
    input. Raises InputError (`Could not open NAME: REASON`) if the file cannot be opened or is a folder.
    """
    name = name_of(file)
    if not isinstance(file, (str, os.PathLike)):
        return _source_of_open_file(file, name, decompress)
    if name == "-" and dash_is_stdin:
        return Source(name, open(sys.stdin.fileno(), "rb", buffering=0, closefd=False))
    try:
        return Source(name, _open_path(file), decompress=decompress)
    except (OSError, ValueError) as error:  # ValueError: a NUL inside the path
        raise InputError(f"Could not open {name}: {reason_of(error)}") from None


def _source_of_open_file(file: IO[str] | IO[bytes], name: str, decompress: bool) -> Source:
    """Read the rest of an open file, and return it as a source.

    The file is not closed, since it belongs to the caller. If `decompress` is true, compressed content is decompressed.
    """
    # An input in memory gives its whole content each time. Any other file is read from its current position.
    content = file.getvalue() if isinstance(file, InMemory) else file.read()
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    # A file that was opened by `gzip.open` has the name of the compressed file, but its content is decompressed.
    decompressor = _DECOMPRESSORS.get(os.path.splitext(name)[1])
    is_compressed = decompressor is not None and data.startswith(decompressor.first_bytes)
    return Source(name, io.BytesIO(data), decompress=decompress and is_compressed)


@contextlib.contextmanager
def lines_of(file: Input, encoding: str = "utf-8") -> Iterator[Iterator[str]]:
    """Open a file without decompressing it, and give an iterator over its lines, each with its line feed.

    The encoding is UTF-8, or `latin-1`, in which any bytes are text. Raises InputError if the file cannot be opened
    and, while the lines are read, for a line that is not UTF-8.
    """
    with open_source(file, decompress=False) as source:
        try:
            yield io.TextIOWrapper(source.binary, encoding, newline="\n")
        except UnicodeDecodeError:
            raise InputError("not UTF-8", file=source.name) from None


def rereadable(file: Input) -> Input:
    """Return an input with the same content that can be opened any number of times.

    Standard input, pipes and open files are read into memory for this. Raises InputError if they cannot be read.
    """
    if isinstance(file, InMemory):
        return file
    name = name_of(file)
    is_path = isinstance(file, (str, os.PathLike))
    can_be_read_only_once = name == "-" or is_pipe(name)
    if is_path and not can_be_read_only_once:
        return file
    with open_source(file, decompress=False) as source:
        return InMemory(name, source.read_bytes())


WHITE_SPACE: Final = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""All characters of white space."""

SPACE: Final = r"[^\S\x1c-\x1f]"
"""The pattern of a character of white space."""

NO_SPACE: Final = r"[\S\x1c-\x1f]"
"""The pattern of any other character."""

# ---- Tables that people hand over


class Delimited(Record):
    """A table that a user has written.

    `file` is the name of its file, `columns` are the names of its columns. `rows` has for each row the number of its
    line in the file, and its cells, one for each column.
    """

    file: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[int, tuple[str, ...]]]

    def cells_of(self, *columns: str) -> Iterator[tuple[int, tuple[str, ...]]]:
        """Yield the line number of each row, and its cells in the columns with these names: `(2, ("q1", "0.5"))`.

        Raises InputError for a column that the table does not have, and for an empty cell.
        """
        for column in columns:
            if column not in self.columns:
                problem = f"no column {column}; there are {', '.join(self.columns)}"
                raise InputError(problem, file=self.file, place="line 1")
        positions = [self.columns.index(column) for column in columns]
        for line, row in self.rows:
            cells = tuple([row[position] for position in positions])
            if "" in cells:
                column = columns[cells.index("")]
                raise InputError(f"column {column} is empty", file=self.file, place=f"line {line}")
            yield line, cells


def read_delimited(file: Input) -> Delimited:
    """Return the table in a file whose columns are separated by tabs or commas; its first line names the columns.

    If the first line has no tab, the file is CSV, with commas and quotes. Blank lines are skipped, and white space
    around cells is dropped. Raises InputError for a row with a different number of cells (the error gives its line),
    for a column without a name, for two columns with the same name, and for a file that is not a table.
    """
    with open_source(file) as source:
        data = source.read_bytes()
    name = source.name
    numbered_rows = _filled_rows(_decode_table(data, name), name)
    header = next(numbered_rows, None)
    if header is None:
        raise InputError("empty: a table begins with a line that names its columns", file=name)
    _, columns = header
    rows = _rows_of_width(numbered_rows, len(columns), name)
    _check_columns(columns, name)
    return Delimited(name, columns, rows)


def _decode_table(data: bytes, file: str) -> str:
    """Return the text of a table, without the byte order mark that spreadsheets write.

    Raises InputError if the file is not in UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("not UTF-8", file=file, place=f"byte {error.start + 1}") from None


def _rows_of_width(
    numbered_rows: Iterable[tuple[int, tuple[str, ...]]], column_count: int, file: str
) -> list[tuple[int, tuple[str, ...]]]:
    """Return the rows of a table, each with the number of its line: `(2, ("q1", "0.5"))`.

    Raises InputError for the first row that does not have a cell for each column.
    """
    rows = []
    for line, cells in numbered_rows:
        if len(cells) != column_count:
            problem = f"{len(cells)} cells, where the header names {column_count} columns"
            raise InputError(problem, file=file, place=f"line {line}")
        rows.append((line, cells))
    return rows


def _filled_rows(text: str, file: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the rows of a table, each as its line number and its cells: `(2, ("q1", "0.5"))`. Blank rows are left out.

    White space around cells is dropped. `text` is the content of the file called `file`. Raises InputError with the
    line for a text that is no CSV.
    """
    import csv  # not imported at the start, since short runs do not need it

    lines = text.splitlines()
    has_tabs = "\t" in _first_filled_line(lines)
    tab_options: dict[str, Any] = {"delimiter": "\t", "quoting": csv.QUOTE_NONE} if has_tabs else {}
    reader = csv.reader(lines, strict=True, **tab_options)
    try:
        for cells in reader:
            row = tuple([cell.strip() for cell in cells])
            if any(row):
                yield reader.line_num, row
    except csv.Error as error:
        raise InputError(f"no CSV: {error}", file=file, place=f"line {reader.line_num}") from None


def _first_filled_line(lines: Iterable[str]) -> str:
    """Return the first line that is not blank; an empty text if all lines are blank."""
    for line in lines:
        if line.strip():
            return line
    return ""


def _check_columns(columns: Sequence[str], file: str) -> None:
    """Raise InputError for a column without a name, and for two columns of the same name."""
    earlier_columns: set[str] = set()
    for column in columns:
        if not column:
            raise InputError("a column has no name", file=file, place="line 1")
        if column in earlier_columns:
            raise InputError(f"two columns are called {column}", file=file, place="line 1")
        earlier_columns.add(column)
