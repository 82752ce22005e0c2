"""The kinds of files that are converted to runs before they are scored, and how they are recognised."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Final

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.sources import SPACE, WHITE_SPACE, Input, Source, name_of, open_source
from cs_score.coldstart.tab_files import line_blocks, split_comment

_BLOCK: Final = 1 << 16
_FEWEST_COLUMNS: Final = 3

_NO_RUN_ID: Final = re.compile(rf":.*|.*{SPACE}.*|", re.DOTALL)
_NODE_NAME: Final = re.compile(r":?(?:entity|event|string)[^-]+", re.IGNORECASE | re.DOTALL)


def is_knowledge_base(file: Input) -> bool:
    """Return whether a file is a knowledge base: a line with a run id, then lines that begin with the name of a node.

    No run or assessment file begins like this. Standard input is never taken for a knowledge base, since it can be read
    only once.
    """
    if file == "-":
        return False
    with open_source(file) as source:
        try:
            is_one = _begins_like_knowledge_base(_lines_of(source))
        except (InputError, UnicodeDecodeError):  # a damaged file is reported when its lines are read
            is_one = False
    if not isinstance(file, str) and hasattr(file, "seek"):
        file.seek(0)
    return is_one


def _lines_of(source: Source) -> Iterator[bytes]:
    """Yield the lines of a file."""
    for block in line_blocks(source, _BLOCK):
        yield from block.split(b"\n")


def _begins_like_knowledge_base(lines: Iterator[bytes]) -> bool:
    """Return whether the first line is a run id, and the next line that is not blank begins with the name of a node.

    Raises UnicodeDecodeError for a line that is not UTF-8.
    """
    first = next(lines, b"").removeprefix(BOM_UTF8).partition(b"#")[0].strip()
    if b"\t" in first or not is_run_id(first.decode("utf-8")):  # every run has tabs
        return False
    for line in lines:
        text = split_comment(line.decode("utf-8"))[0].strip(WHITE_SPACE)
        if text:
            columns = text.split("\t")
            return len(columns) >= _FEWEST_COLUMNS and is_node_name(columns[0].strip(WHITE_SPACE))
    return False


def is_run_id(text: str) -> bool:
    """Return whether a text is a run id: one word that does not begin like the name of a node."""
    return _NO_RUN_ID.fullmatch(text.strip(WHITE_SPACE)) is None


def is_node_name(text: str) -> bool:
    """Return whether a text is the name of a node, with or without its colon."""
    return _NODE_NAME.fullmatch(text) is not None


# ---- The table


class Converter(Record, eq=False):
    """A kind of files that are converted to runs before they are scored.

    `recognizes` returns whether a file is of this `kind`. `function` is the name of the function that converts it, as
    `module:name`; the module is imported only when a file is converted, so that runs can be scored without it.
    """

    kind: str
    recognizes: Callable[[Input], bool]
    function: str

    def load(self, file: Input) -> Callable[..., Any]:
        """Return the function that converts a file. Raises InputError, which names the file, if it is not installed."""
        module, _, name = self.function.partition(":")
        try:
            return getattr(import_module(module), name)  # type: ignore[no-any-return]
        except ModuleNotFoundError as error:
            if error.name is None or not module.startswith(error.name):
                raise
            raise InputError(
                f"a {self.kind}, and this installation lacks {error.name}, which makes a run of it",
                file=name_of(file),
                remedy="install cs-score as a whole, or name a run",
            ) from None


KNOWLEDGE_BASE: Final = Converter(
    "knowledge base", is_knowledge_base, "cs_score.verbs.knowledge_base.validation:resolve_to_run"
)
CONVERTERS: Final = (KNOWLEDGE_BASE,)
"""The kinds of files that are converted; the first that recognises a file converts it."""


def converter_for(file: Input) -> Converter | None:
    """Return the converter of a file to a run, None for a file that needs no conversion."""
    for converter in CONVERTERS:
        if converter.recognizes(file):
            return converter
    return None
