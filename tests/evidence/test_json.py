"""Reading JSON: line endings, encodings, damage, size; the streamed list agrees with the parser it stands for."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cs_score.base.errors import InputError
from cs_score.base.sources import Source
from cs_score.evidence import reading as reader


def lines_of(source: Source, **options: str) -> list[tuple[int, object]]:
    with reader.ErrorLocation("file") as location:
        values = reader.json_lines(source, location, **options)  # type: ignore[arg-type]
        return [(location.place["line"], value) for value in values]  # type: ignore[misc]


def lines(data: bytes, **options: str) -> list[tuple[int, object]]:
    return lines_of(Source("file", io.BytesIO(data)), **options)


def problem(read: Callable[[bytes], object], data: bytes) -> str:
    with pytest.raises(InputError) as raised:
        read(data)
    return str(raised.value)


DEEP = b"[" * 200_000 + b"]" * 200_000
LONG_NUMBER = b"9" * 5_000


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_endings(ending: bytes, last: bool) -> None:
    assert lines(ending.join((b"1", b"2", b"3")) + ending * last) == [(1, 1), (2, 2), (3, 3)]


def test_other_separators_do_not_end_a_line() -> None:
    text = "a\u2028b\u2029c\x85d"
    assert lines(f'"{text}"\n2'.encode()) == [(1, text), (2, 2)]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"1\n\n2\n", "file: line 2: a blank line"),
        (b"1\n2\n\n", "file: line 3: a blank line"),
        (b"1\n \t\n2", "file: line 2: a blank line"),
        (b"\xef\xbb\xbf1", "file: line 1: a byte order mark; save the file as UTF-8 without it"),
        (b'{"a": 1;}', "file: line 1: not JSON: Expecting ',' delimiter (character 8)"),
        (b"1 2", "file: line 1: not JSON: Extra data (character 3)"),
        (b"\x00", "file: line 1: not JSON: Expecting value (character 1)"),
        (b'"\x00"', "file: line 1: not JSON: Invalid control character at (character 2)"),
        (b'1\n"\xff"', "file: line 2: not UTF-8: byte 0xff"),
        ('"é"'.encode("utf-16"), "file: line 1: not UTF-8: byte 0xff"),
        (DEEP, "file: line 1: not usable JSON: lists or objects nested too deeply"),
        (LONG_NUMBER, "file: line 1: not usable JSON: a whole number with too many digits"),
    ],
)
def test_bad_line(data: bytes, expected: str) -> None:
    assert problem(lines, data) == expected


@pytest.mark.parametrize("mark", ["\ufeff", "\x1e"])
def test_one_mark_is_skipped_where_the_mode_says_so(mark: str) -> None:
    data = f"{mark}1\n{mark}2".encode()
    assert lines(data, skipped_marks="\ufeff\x1e") == [(1, 1), (2, 2)]
    with pytest.raises(InputError):
        lines(f"{mark}{mark}1".encode(), skipped_marks="\ufeff\x1e")


def test_later_keys_count_and_constants_are_read_as_python_does() -> None:
    assert lines(b'{"a": 1, "a": 2}\n[Infinity]') == [(1, {"a": 2}), (2, [float("inf")])]


def document(data: bytes) -> object:
    return reader.json_document(Source("file", io.BytesIO(data)))


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", "file: line 1: not JSON: Expecting value (character 1)"),
        (b"{}\n\n[", "file: line 3: not JSON: Extra data (character 1)"),
        (b'\xef\xbb\xbf{"a": 1}', "file: a byte order mark; save the file as UTF-8 without it"),
        (b'{\n"a": "\xc3"}', "file: line 2: not UTF-8: byte 0xc3"),
        (DEEP, "file: not usable JSON: lists or objects nested too deeply"),
        (LONG_NUMBER, "file: not usable JSON: a whole number with too many digits"),
    ],
)
def test_bad_document(data: bytes, expected: str) -> None:
    assert problem(document, data) == expected


class Failing(io.BytesIO):
    """A disk that fails after the first block."""

    def readinto(self, buffer: Any) -> int:
        if self.tell():
            raise OSError(5, "Input/output error")
        return super().readinto(memoryview(buffer)[:3])


@pytest.mark.parametrize("read", [lines_of, reader.json_document])
def test_reading_errors(read: Callable[[Source], object]) -> None:
    with pytest.raises(InputError, match=r"^file: cannot be read: Input/output error$"):
        read(Source("file", Failing(b"[1, 2, 3]")))


def test_packed_and_open_files(tmp_path: Path) -> None:
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress('"é"\n2'.encode()))
    with open(path, "rb") as file, gzip.open(path, "rt", encoding="utf-8") as text:
        for given in (path, file, text):
            with reader.open_input(given, "gold", has_lines=True) as source:
                assert lines_of(source) == [(1, "é"), (2, 2)]


def test_values_from_memory() -> None:
    with reader.open_input(iter([{1: (2, 3)}, "é\ud800"]), "gold", has_lines=True) as opened:
        assert opened.name == "<gold>"
        assert lines_of(opened) == [(1, {"1": [2, 3]}), (2, "é\ud800")]


def test_values_that_hold_themselves() -> None:
    circle: list[object] = []
    circle.append(circle)
    with pytest.raises(InputError, match="cannot be written as JSON: Circular reference"):
        reader.open_input(circle, "gold")
