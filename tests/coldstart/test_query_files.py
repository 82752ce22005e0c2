"""Query files: tags and values are paired as the specification (3.2) says, whatever stands there."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from cs_score.coldstart.queries.loading import load_queries
from cs_score.problems.log import ProblemLog
from tests.coldstart.handmade import CHILDREN


def _pairs(body: str) -> Iterator[tuple[str, str]]:
    """The tags of a query body with their values, part by part as the specification (3.2) says it."""
    at = 0
    while True:
        open_start = body.find("<", at)
        open_end = body.find(">", open_start)
        close_start = body.find("</", open_end)
        close_end = body.find(">", close_start)
        if min(open_start, open_end, close_start, close_end) < 0:
            return
        at = close_end + 1
        yield body[open_start + 1 : open_end].upper(), body[open_end + 1 : close_start]


_PIECES: Final = ("<", ">", "/", "</", "</>", "a", "B ", "\n", "<a>", "</A>", "<name>", "<NAME>", "</name>", "<x/>")


@settings(max_examples=400)
@given(st.lists(st.sampled_from(_PIECES), max_size=25).map("".join))
def test_tags_are_paired_part_by_part(body: str) -> None:
    slot = f"<slot0>{CHILDREN}</slot0>"
    problems = ProblemLog()
    table = load_queries([io.StringIO(f'<query id="CSX_1">{slot}{body}</query>')], None, problems).table
    [query] = table.by_id.values()
    pairs = list(_pairs(slot + body))
    assert [entry_point.name for entry_point in query.entry_points] == [text for tag, text in pairs if tag == "NAME"]
    unknown = Counter(tag for tag, _ in pairs if tag not in ("NAME", "SLOT0"))
    said = {found.message: found.occurrences for found in problems if found.code == "UNKNOWN_QUERY_FIELD"}
    assert said == {f"<{tag}> is not a recognized query field": count for tag, count in unknown.items()}
