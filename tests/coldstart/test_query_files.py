"""Query files: tags and values are paired as the specification (3.2) says, whatever stands there."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from typing import Final

from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from cs_score.coldstart.queries import load_queries
from cs_score.problems.log import ProblemLog
from tests.coldstart.lines import CHILDREN


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


_DECLARATIONS: Final = (
    "",
    "\ufeff",
    '<?xml version="1.0"?>',
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<?xml version="1.0" encoding="latin-1"?>',
    '<?xml version="2.0"?>',
    "<!DOCTYPE query_set>",
    "<!DOCTYPE query_set [<!ENTITY known 'x'>]>",
)
_MARKUP: Final = (
    "<a>", "</a>", "<a/>", "<b:a/>", '<a b:c="1"/>', '<a xmlns:b="u"><b:c/></a>', '<a b="1" b="2"/>', "<a b/>",
    "<é/>", '<a xml:id="1"/>', "text", "é", "&amp;", "&#0;", "&known;", "&", "\x01", "\ufffe", "]]>", "<![CDATA[<]]>",
    "<!-- -->", "<!-- -- -->", "<?a?>", "<?xml?>", "<", ">", "\r\n", "\x85",
)  # fmt: skip


@given(st.sampled_from(_DECLARATIONS), st.lists(st.sampled_from(_MARKUP), max_size=5).map("".join))
def test_a_file_is_remarked_on_if_lxml_finds_it_not_well_formed(declaration: str, markup: str) -> None:
    data = f'{declaration}<query_set><query id="CSX_1"><slot0>{CHILDREN}</slot0></query>{markup}</query_set>'.encode()
    try:
        etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True))
        complaint = None
    except etree.XMLSyntaxError as error:
        complaint = error.msg
    remarks = load_queries([io.BytesIO(data)], None, ProblemLog()).remarks
    assert [f"({complaint})" in remark for remark in remarks] == ([] if complaint is None else [True])
