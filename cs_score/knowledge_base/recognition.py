"""Whether a file in the place of a run is a knowledge base."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from typing import Final

from cs_score.base.errors import InputError
from cs_score.base.sources import SPACE, WHITE_SPACE, Input, Source, open_source
from cs_score.coldstart.tab_files import line_blocks, split_comment

_BLOCK: Final = 1 << 16
_FEWEST_COLUMNS: Final = 3

_NO_RUN_ID: Final = re.compile(rf":.*|.*{SPACE}.*|", re.DOTALL)
_NODE_NAME: Final = re.compile(r":?(?:entity|event|string)[^-]+", re.IGNORECASE | re.DOTALL)


def is_knowledge_base(given: Input) -> bool:
    """Whether the first line is a run id, and the next one that is not blank begins with the name of a node.

    No run or assessment file begins like this. What can be read only once is none.
    """
    if given == "-":
        return False
    with open_source(given) as source:
        try:
            found = _begins_like_one(source)
        except (InputError, UnicodeDecodeError):  # not UTF-8, or damaged: whoever reads it says so
            found = False
    if not isinstance(given, str) and hasattr(given, "seek"):
        given.seek(0)
    return found


def _begins_like_one(source: Source) -> bool:
    lines = (line for block in line_blocks(source, _BLOCK) for line in block.split(b"\n"))
    first = next(lines, b"").removeprefix(BOM_UTF8).partition(b"#")[0].strip()
    if b"\t" in first or not is_run_id(first.decode("utf-8")):  # every run has tabs
        return False
    texts = (split_comment(line.decode("utf-8"))[0].strip(WHITE_SPACE) for line in lines)
    columns = next(filter(None, texts), "").split("\t")
    return len(columns) >= _FEWEST_COLUMNS and is_node_name(columns[0].strip(WHITE_SPACE))


def is_run_id(text: str) -> bool:
    """Whether a text is a run id: one word that does not begin like the name of a node."""
    return _NO_RUN_ID.fullmatch(text.strip(WHITE_SPACE)) is None


def is_node_name(text: str) -> bool:
    """Whether a text is the name of a node, with or without its colon."""
    return _NODE_NAME.fullmatch(text) is not None
