"""The kinds of files that are converted to runs before they are scored, and how they are recognised."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any, Final

from cs_score.base.errors import InputError
from cs_score.base.records import Record
from cs_score.base.sources import SPACE, WHITE_SPACE, Input, Source, name_of, open_source
from cs_score.coldstart.tab_files import line_blocks, split_comment

_BLOCK_SIZE: Final = 1 << 16
_FEWEST_COLUMNS: Final = 3

_TEXT_WITHOUT_RUN_ID: Final = re.compile(rf":.*|.*{SPACE}.*|", re.DOTALL)
_NODE_NAME: Final = re.compile(r":?(?:entity|event|string)[^-]+", re.IGNORECASE | re.DOTALL)


def is_knowledge_base(file: Input) -> bool:
    """Return whether a file is a knowledge base, which has a line with a run id, and then facts about nodes.

    The lines of facts begin with the name of a node; no run or assessment file begins like this. Standard input is
    never taken for a knowledge base, since it can be read only once.
    """
    if file == "-":
        return False
    with open_source(file) as source:
        try:
            is_knowledge_base_file = _begins_like_knowledge_base(_lines_of(source))
        except (InputError, UnicodeDecodeError):  # a damaged file is reported when its lines are read
            is_knowledge_base_file = False
    if not isinstance(file, str) and hasattr(file, "seek"):
        file.seek(0)  # the next reader of an open file must find its first line
    return is_knowledge_base_file


def _lines_of(source: Source) -> Iterator[bytes]:
    """Yield the lines of a file, without the line feeds at their ends."""
    for block in line_blocks(source, _BLOCK_SIZE):
        yield from block.split(b"\n")


def _begins_like_knowledge_base(lines: Iterator[bytes]) -> bool:
    """Return whether the first line is a run id, and the next line with text begins with the name of a node.

    For example, the first line is `TIDE_KB`, and the next one `:Entity_0012`, `type` and `PER`, separated by tabs.
    Raises UnicodeDecodeError for a line that is not UTF-8.
    """
    first_line = next(lines, b"").removeprefix(BOM_UTF8)
    if not _is_line_with_run_id(first_line):
        return False
    columns = _columns_of_next_fact(lines)
    return len(columns) >= _FEWEST_COLUMNS and is_node_name(columns[0].strip(WHITE_SPACE))


def _is_line_with_run_id(line: bytes) -> bool:
    """Return whether a line has nothing but a run id, and perhaps a comment: `TIDE_KB # our second run`."""
    text_before_comment, _, _ = line.partition(b"#")
    run_id = text_before_comment.strip()
    has_columns = b"\t" in run_id  # as the lines of every run and of all assessments have
    return not has_columns and is_run_id(run_id.decode("utf-8"))


def _columns_of_next_fact(lines: Iterable[bytes]) -> list[str]:
    """Return the columns of the first line that is neither blank nor a comment; an empty list if there is none."""
    for line in lines:
        text_before_comment, _ = split_comment(line.decode("utf-8"))
        text = text_before_comment.strip(WHITE_SPACE)
        if text:
            return text.split("\t")
    return []


def is_run_id(text: str) -> bool:
    """Return whether a text is a run id, such as `TIDE_KB`: one word that does not begin with a colon."""
    return _TEXT_WITHOUT_RUN_ID.fullmatch(text.strip(WHITE_SPACE)) is None


def is_node_name(text: str) -> bool:
    """Return whether a text is the name of a node, such as `:Entity_0012`, with or without its colon."""
    return _NODE_NAME.fullmatch(text) is not None


# ---- The table


class Converter(Record, eq=False):
    """The conversion of files of one kind to runs, which happens before they are scored.

    `kind` is the name of the kind for messages, such as `knowledge base`. `recognizes` returns whether a file is of
    this kind. `function_path` names the function that converts a file, as `MODULE:FUNCTION`. The module is imported
    only when a file is converted, so that runs can be scored without it.
    """

    kind: str
    recognizes: Callable[[Input], bool]
    function_path: str

    def load_function(self, file: Input) -> Callable[..., Any]:
        """Return the function that converts files of this kind, after importing its module.

        Raises InputError, which names `file`, if the module is not installed.
        """
        module_name, _, name = self.function_path.partition(":")
        try:
            module = import_module(module_name)
        except ModuleNotFoundError as error:
            missing_module = error.name
            # Either the module itself or one of its packages may be missing: for `a.b.c`, also `a` or `a.b`. The
            # trailing dots ensure that `a.bc` is not mistaken for a module of the package `a.b`.
            is_own_module = f"{module_name}.".startswith(f"{missing_module}.")
            if missing_module is not None and is_own_module:
                raise self._error_of_missing_module(missing_module, file) from None
            raise  # the module imports another one that is missing, so the installation is broken
        convert: Callable[..., Any] = getattr(module, name)
        return convert

    def _error_of_missing_module(self, module: str, file: Input) -> InputError:
        """Return the error for a file that cannot be converted because the module for it is not installed."""
        return InputError(
            f"a {self.kind}, and this installation lacks {module}, which makes a run of it",
            file=name_of(file),
            remedy="install cs-score as a whole, or name a run",
        )


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
