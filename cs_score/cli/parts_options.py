"""The switches that say how large runs are scored: in how many parts, by how many processes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from cs_score.base.records import Record
from cs_score.base.sources import Input, plain_name
from cs_score.cli.form import whole_number
from cs_score.cli.options import CommandLine, Option
from cs_score.coldstart.linking import members

PART: Final = 2 << 20
"""Bytes of assessments and runs that make one part. Scoring it takes some thirty times as much memory."""

# A compressed file holds about this many times its size.
_COMPRESSION: Final = 6

MOST: Final = 1024


def switches(verb: str) -> tuple[Option, Option]:
    """The options of a command that does `verb` to a large run."""
    return (
        Option("--jobs", "N", f"Processes that {verb} a large run", "the number of processors"),
        Option(
            "--parts", "N", f"Divide the queries into N parts; 1: {verb} whole", f"one for each {PART >> 20} MB",
            earlier="--shares",
        ),
    )  # fmt: skip


class Division(Record):
    """How many parts and processes were asked for; None: not said."""

    parts: int | None
    jobs: int | None

    def parts_of(self, files: Sequence[Input]) -> int:
        """Parts to score these runs and assessments in; 1 where a file can be read only once."""
        paths = [member for word in files for member in members(word)]
        if not all(isinstance(path, str) and os.path.isfile(path) for path in paths):
            return 1
        return self.parts or min(MOST, sum(map(_plain_size, map(str, paths))) // PART) or 1


def read_division(line: CommandLine) -> Division:
    """What the command line says. Raises UsageError."""
    return Division(whole_number(line, "--parts", MOST), whole_number(line, "--jobs", MOST))


def _plain_size(path: str) -> int:
    size = os.path.getsize(path)
    return size if plain_name(path) == path else size * _COMPRESSION
