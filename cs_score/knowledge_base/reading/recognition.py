"""Whether a file in the place of a run is a knowledge base."""

from __future__ import annotations

from cs_score.coldstart.lines.reader import split_comment
from cs_score.foundation.errors import InputError
from cs_score.foundation.sources import Input, open_source
from cs_score.foundation.white_space import WHITE_SPACE
from cs_score.knowledge_base.contents.node_names import is_node_name
from cs_score.knowledge_base.reading.kb_file import is_run_id, texts_of

_FEWEST_COLUMNS = 3


def is_knowledge_base(given: Input) -> bool:
    """Whether the first line is a run id, and the next one that is not blank begins with the name of a node.

    No run or assessment file begins like this. What can be read only once is none.
    """
    if given == "-":
        return False
    with open_source(given) as source:
        try:
            texts = texts_of(source)
            found = is_run_id(next(texts, "").partition("#")[0]) and _begins_with_node(
                next((line for text in texts if (line := split_comment(text)[0].strip(WHITE_SPACE))), "")
            )
        except InputError:  # not UTF-8, or damaged: whoever reads it says so
            found = False
    if not isinstance(given, str) and hasattr(given, "seek"):
        given.seek(0)
    return found


def _begins_with_node(line: str) -> bool:
    columns = line.split("\t")
    return len(columns) >= _FEWEST_COLUMNS and is_node_name(columns[0].strip(WHITE_SPACE))
