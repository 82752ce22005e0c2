"""Whether a file in the place of a run is a knowledge base."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator

from cs_score.base.errors import InputError
from cs_score.base.sources import Input, Source, open_source
from cs_score.base.white_space import WHITE_SPACE
from cs_score.coldstart.tab_files import line_blocks, split_comment

_BLOCK = 1 << 16
_FEWEST_COLUMNS = 3


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
    if b"\t" in first:  # as in every run: what reads knowledge bases need not be imported
        return False
    from cs_score.knowledge_base.reading.kb_file import is_run_id

    return is_run_id(first.decode("utf-8")) and _begins_with_node(line.decode("utf-8") for line in lines)


def _begins_with_node(texts: Iterator[str]) -> bool:
    from cs_score.knowledge_base.contents.node_names import is_node_name

    columns = next((line for text in texts if (line := split_comment(text)[0].strip(WHITE_SPACE))), "").split("\t")
    return len(columns) >= _FEWEST_COLUMNS and is_node_name(columns[0].strip(WHITE_SPACE))
