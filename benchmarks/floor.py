"""The floor: what reading and writing alone cost in Python.

It reads the scorer's input files line by line, splits each line at tabs, makes one MD5 and one dictionary entry per
line, and writes as many bytes as the scorer does. It keeps the columns, as any scorer must, and switches the cyclic
collector off, as a competent one would. Nothing is scored, so no scorer in pure Python can be expected below it.
"""

from __future__ import annotations

import gc
import hashlib
import sys
from collections.abc import Iterable, Sequence

_BLOCK = 1 << 20


def read(paths: Iterable[str]) -> dict[bytes, list[str]]:
    """Columns of every line of the files by the MD5 of the line."""
    rows: dict[bytes, list[str]] = {}
    md5 = hashlib.md5
    for path in paths:
        with open(path, encoding="utf-8", newline="\n") as file:
            for line in file:
                rows[md5(line.encode()).digest()] = line.rstrip("\n").split("\t")
    return rows


def write(path: str, size: int) -> None:
    """`size` bytes of lines of text."""
    block = (b"." * 99 + b"\n") * (_BLOCK // 100)
    with open(path, "wb") as file:
        while size > 0:
            file.write(block[:size])
            size -= len(block)


def main(arguments: Sequence[str]) -> int:
    """`floor.py OUTPUT BYTES FILE...`"""
    output, size, *inputs = arguments
    gc.disable()
    rows = read(inputs)
    write(output, int(size))
    print(len(rows), "rows")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
