"""Why a query found what it found: the mentions that its entry point met."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from cs_score.base.display import spreadsheet_cell
from cs_score.base.planned_outputs import Format, OwnOption
from cs_score.coldstart.queries import Query
from cs_score.knowledge_base.resolution.answering import Resolution
from cs_score.knowledge_base.resolution.entry_points import Entrance, Meeting, Mention

_HEADER: Final = "query\tentry point\toutcome\tnode\tmention\toffsets\tline\tcommon\trest\n"

OPTION: Final = OwnOption(
    "--explain", {".tsv": Format(re.compile(re.escape(_HEADER.encode())))}, "entrances.tsv", takes_dash=True
)
"""The option that names the file of the table."""


def explanation_text(resolution: Resolution) -> Iterator[str]:
    """A table: for each query the mentions that its entry point met, the chosen one first, or why there is none.

    Texts of the inputs stand in it as in every table that a spreadsheet may open.
    """
    yield _HEADER
    for query, entrance in resolution.entrances:
        for row in _rows(query, entrance):
            yield "\t".join(map(spreadsheet_cell, row)) + "\n"


def _rows(query: Query, entrance: Entrance | None) -> Iterator[tuple[str, ...]]:
    if entrance is None:
        yield query.full_id, "", "no entry point", "", "", "", "", "", ""
        return
    point = entrance.entry_point
    head = (query.full_id, f"{point.docid or ''}:{point.start or ''}-{point.end or ''}")
    if entrance.chosen is not None:
        yield from _met(head, entrance.meetings())
    elif (nearest := entrance.nearest()) is not None:
        yield (*head, "nothing met; nearest in the document", *_shown(nearest), "", "")
    else:
        yield (*head, "nothing met; no mention in the document", "", "", "", "", "", "")


def _met(head: tuple[str, str], meetings: Iterable[Meeting]) -> Iterator[tuple[str, ...]]:
    for number, meeting in enumerate(meetings):
        outcome = "met, weaker" if number else "chosen"
        # Characters in common: both ends of a span are inclusive.
        yield (*head, outcome, *_shown(meeting.mention), f"{meeting.common + 1:.15g}", f"{meeting.rest:.15g}")


def _shown(mention: Mention) -> tuple[str, ...]:
    return mention.node, mention.text, f"{mention.start:.15g}-{mention.end:.15g}", str(mention.line)
