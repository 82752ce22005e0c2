"""Reading: tags of query files are paired as specified; the short ways of usual lines link as the long ways."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from typing import Final
from unittest import mock

from hypothesis import assume, given
from hypothesis import strategies as st
from lxml import etree

from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.coldstart import tab_files
from cs_score.coldstart.lines import Links
from cs_score.coldstart.linking import KnownAnswers, Loading, LoadingSettings
from cs_score.coldstart.options import Options
from cs_score.coldstart.queries import load_queries
from cs_score.coldstart.tab_files import RELATION_SPANS, VALUE_SPANS, are_surely_canonical, read_provenance
from cs_score.problems.log import ProblemLog
from tests.coldstart.lines import CHILDREN, Line, Q, query_xml, sf_query

_OFFSETS: Final = ("0", "1", "003", "3", "5", "20", "199", "200", "201", "9" * 15, "9" * 16)
_DOCUMENTS: Final = ("N_ENG_1", "N_ENG_1", "N_ENG_1", "OTHER-1.x", "Š 2", "")


@st.composite
def provenances(draw: st.DrawFn) -> str:
    """A column of spans: mostly of one document, in any order, of any length, separated by anything."""
    document = draw(st.sampled_from(_DOCUMENTS))
    offsets = st.tuples(st.sampled_from(_OFFSETS), st.sampled_from(_OFFSETS))
    spans = draw(st.lists(offsets, min_size=1, max_size=5))
    texts = [f"{draw(st.sampled_from((document,) * 5 + ('N_ENG_2',)))}:{start}-{end}" for start, end in spans]
    return draw(st.sampled_from((",", ",", ",", ";", ", "))).join(texts)


@given(provenances(), provenances(), st.sampled_from((None, {"N_ENG_1": 200.0}, {})))
def test_what_is_plain_is_canonical_and_has_no_faults(
    relation: str, provenance: str, documents: dict[str, float] | None
) -> None:
    read = (read_provenance(relation, RELATION_SPANS, documents), read_provenance(provenance, VALUE_SPANS, documents))
    assume(are_surely_canonical(relation, provenance, documents))
    assert [column.canonical_text for column in read] == [relation, provenance]
    assert [column.problems for column in read] == [(), ()]
    assert read[0].docid == read[1].docid


_VALUES: Final = ("Bo", "Cy", "Zoë", "日本", 'He said "hi"', "back\\slash", "a:b", "\x01", " ", "", "\u00a0", "\x1c")
_FOUND: Final = ("N_ENG_1", "CMN_1", "SPA_1", "OTHER_1", "ENG_1", "XENG_ENG_1")


# Ids of queries whose follow-on queries are sound, have a slot that the inventory lacks, have no id of their own.
_QUERIES: Final = (Q, Q, sf_query((CHILDREN, "per:nothing")), "CSX_0003")


@st.composite
def runs(draw: st.DrawFn) -> list[str]:
    """The lines of a run, of both hops; columns of some hold something else than they should."""
    lines = [Line(query=draw(st.sampled_from(_QUERIES)))]
    for _ in range(draw(st.integers(1, 8))):
        parent = draw(st.sampled_from(lines))
        line = draw(st.sampled_from((Line(query=draw(st.sampled_from(_QUERIES))), parent, parent.child())))
        lines.append(
            replace(
                line,
                value=draw(st.sampled_from(_VALUES)),
                docid=draw(st.sampled_from(_FOUND)),
                node=draw(st.sampled_from((":E1", ":E2", "0", " "))),
            )
        )
    texts = [line.text().split("\t") for line in lines]
    for columns in texts[1:]:
        if draw(st.booleans()):
            change = st.one_of(st.sampled_from(("", " ", "x", "per:nothing", CHILDREN, "1", "\t")), provenances())
            columns[draw(st.integers(0, len(columns) - 1))] = draw(change)
    return ["\t".join(columns) for columns in texts]


def _open(errors: list[InputError], below: Links | None = None, known: KnownAnswers | None = None) -> Loading:
    """The queries of `_QUERIES`, of which the last is not split by entry point, and no lines yet."""
    xml = query_xml() + query_xml(2, (CHILDREN, "per:nothing")) + query_xml(3)
    ids = ("CSX_0001", Q), ("CSX_0002", _QUERIES[2])
    for ldc_id, sf_id in ids:
        xml = xml.replace(f'id="{ldc_id}"', f'id="{sf_id}"')
    problems = ProblemLog()
    table = load_queries([io.StringIO(xml)], None, problems).query_set
    settings = LoadingSettings(on_error=errors.append)
    limits = Options().justifications
    return Loading(table, limits, problems, gold_links=below, known_answers=known, settings=settings)


def _load(lines: list[str], below: Links | None = None, known: KnownAnswers | None = None) -> tuple[Loading, list[str]]:
    """A run as it is linked, with the errors of the lines that cannot be."""
    errors: list[InputError] = []
    loading = _open(errors, below, known)
    loading.load([io.StringIO("\n".join(lines))])
    return loading, list(map(str, errors))


def _rows(loading: Loading) -> Iterator[tuple[object, ...]]:
    columns = ["index", "place", "text", "run_id", "confidence", "node", "follow_on_id", "answer"]
    columns += ["relation_provenance", "value", "value_provenance", "docid"]
    for row in loading.links.responses:
        yield (*(getattr(row, name) for name in columns), row.query.full_id, row.query.slots, row.query.level)
    for line in loading.links.skipped_lines:
        yield (
            line.follow_on_id,
            line.docid,
            line.accepted_line_count,
            line.file,
            line.number,
            line.query.full_id,
            line.text,
        )
    yield tuple(loading.problems)
    yield tuple(loading.links.lines_by_node)


@given(runs(), runs())
def test_the_short_ways_and_the_answers_of_earlier_runs_link_like_the_long_ways(
    first: list[str], second: list[str]
) -> None:
    gold, known = _open([]), KnownAnswers()
    for lines in (first, second, first):
        with mock.patch.multiple(tab_files, are_surely_canonical=lambda *_: False, plain_confidence=lambda _: None):
            long, errors = _load(lines)
        assert all(row.stored_answer is not None for row in long.links.responses)
        for short, short_errors in (_load(lines), _load(lines, gold.links, known)):
            assert short_errors == errors
            assert list(_rows(short)) == list(_rows(long))


def _pairs(body: str) -> Iterator[tuple[str, str]]:
    """The tags of a query body with their values, part by part as the specification says it."""
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
    table = load_queries([io.StringIO(f'<query id="CSX_1">{slot}{body}</query>')], None, problems).query_set
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
