"""The worked examples of the specification, and rules that no recorded case shows alone."""

from __future__ import annotations

import pytest

from tests.coldstart.lines import CHILDREN, SCHOOLS
from tests.verbs.preparation.invented import QUERY, AskedQuery, Inputs, Judged, RunLine, column, report_lines


def test_offsets_beyond_the_document(inputs: Inputs) -> None:
    inputs.queries(AskedQuery(docids=("ENG_A",)))
    inputs.write("docs", "ENG_A\t6\nENG_1\t4\n")
    inputs.lines(RunLine())
    outcome = inputs.validate("-docs", "docs")
    assert outcome.status == 255
    assert report_lines(outcome) == [
        "WARNING: Unable to infer language from DOCID . Using ENGLISH by default.",
        "ERROR: 20 is not a valid offset for DOCID ENG_1 (run.tab line 1)",
        "ERROR: 5 is not a valid offset for DOCID ENG_1 (run.tab line 1)",
        f"ERROR: 9 is not a valid offset for DOCID ENG_A (q.xml line In query {QUERY})",
        "3 errors encountered",
    ]


@pytest.mark.rule("first-value-span")
def test_fillers(inputs: Inputs) -> None:
    inputs.write("t1", "abcBo  \nX")
    inputs.write("docs", "ENG_A\t9\nENG_1\t20\tt1\n")
    inputs.lines(RunLine())
    assert report_lines(inputs.validate("-docs", "docs")) == [
        "WARNING: Mention (or filler) string 'Bo' not found at ENG_1:3-5 (run.tab line 1)",
        "1 warning encountered",
    ]
    inputs.lines(RunLine("Bo X", span="3-8"))
    assert report_lines(inputs.validate("-docs", "docs")) == ["No warnings encountered"]


def test_the_second_round(inputs: Inputs) -> None:
    inputs.queries(AskedQuery(slots=(CHILDREN, SCHOOLS, "per:age")))
    name = "Bo & <C> \"d\" 'e'"
    inputs.lines(RunLine(name, span="9-10,ENG_1:3-5", type="per"), RunLine(name, type="ORG", span="4-5", node=":E2"))
    outcome = inputs.call("generate-queries", "-valid", "q.xml", "stdout", "run.tab")
    assert outcome.status == 0
    assert outcome.stdout.decode().splitlines()[2:-1] == [
        f'  <query id="{QUERY}_6ebb664e0552">',
        "    <name>Bo &amp; &lt;C&gt; &quot;d&quot; &apos;e&apos;</name>",
        "    <docid>ENG_1</docid>",
        "    <beg>9</beg>",
        "    <end>10</end>",
        "    <enttype>per</enttype>",
        f"    <slot>{SCHOOLS}</slot>",
        f"    <slot0>{SCHOOLS}</slot0>",
        "    <slot1>per:age</slot1>",
        "  </query>",
    ]
    raw = inputs.call("generate-queries", "q.xml", "stdout", "run.tab").stdout.decode()
    assert f"<name>{name}</name>" in raw


@pytest.mark.rule("blanks-before-comments")
def test_comments_are_cut_outside_closed_quotations(inputs: Inputs) -> None:
    written_as = {
        ":E1#x": ":E1",
        ":E1 #x # y": ":E1 ",
        ':E"#"1#x': ':E"#"1',
        ':E"\\"#"#x': ':E"\\"#"',
        ':E"#x': ':E"#x',
        ':E"\\\\"#x': ':E"\\\\"',
        ':E"\\"#x': ':E"\\"#x',
    }
    inputs.lines(*(RunLine(f"V{number}", node=node, span=f"{number}-9") for number, node in enumerate(written_as)))
    assert column(inputs.validate("-allow_comments"), 8) == list(written_as.values())
    assert column(inputs.validate(), 8) == list(written_as)


def test_the_later_line_of_a_document_counts_and_lengths_are_leading_digits(inputs: Inputs) -> None:
    inputs.lines(RunLine())
    for listed, errors in (("99", 0), ("99\r", 0), ("", 4), ("x", 4), ("20.7", 0), ("19", 1), ("99\nENG_1\t19", 1)):
        inputs.write("docs", f"\nENG_A\t9\t\tmore\nENG_1\t{listed}\n")
        report = inputs.validate("-docs", "docs").stderr.decode()
        assert report.count("is not a valid offset for DOCID ENG_1") == errors, listed


def test_a_document_with_a_carriage_return_in_its_name_is_another_one(inputs: Inputs) -> None:
    inputs.write("docs", "ENG_A\t9\nENG_1\r\n")
    inputs.lines(RunLine())
    outcome = inputs.validate("-docs", "docs")
    assert outcome.status == 255
    assert "FATAL_ERROR: DOCID ENG_1 is not a valid DOCID for this task (run.tab line 1)" in outcome.stderr.decode()


@pytest.mark.rule("several-fatal-defects")
def test_of_several_fatal_defects_of_a_line_the_query_comes_first(inputs: Inputs) -> None:
    inputs.write("docs", "ENG_A\t9\n")
    inputs.lines(RunLine(relation="ENG_3:1-2"))
    first = inputs.validate("-docs", "docs").stderr.decode()
    assert first.splitlines()[-1] == (
        "cs-score validate-run: FATAL_ERROR: DOCID ENG_3 is not a valid DOCID for this task (run.tab line 1)"
    )
    inputs.lines(RunLine(relation="ENG_3:1-2", query="CSX_ENG_ffffffffff"))
    assert "Query CSX_ENG_ffffffffff not loaded" in inputs.validate("-docs", "docs").stderr.decode().splitlines()[-1]


def test_order_of_events(inputs: Inputs) -> None:
    """Of several faults of a command line the first in the order of the specification is named."""
    inputs.write("exists", "")
    faults = [
        (("-output_file", "no/out"), "Could not open no/out"),
        (("-error_file", "exists"), "File exists already exists"),
        (("-docs", "nope"), "Could not open nope"),
        (("-depth", "C:1"), '-depth should be of the form "[AB]:d"'),
        (("-justifications", "1:10"), "Argument to -justifications"),
        ((), "File norun does not exist"),
    ]
    for first in range(len(faults)):
        words = [word for switches, _ in faults[first:] for word in switches]
        outcome = inputs.call("validate-run", *words, "noqueries.xml", "norun")
        assert outcome.status == 255
        assert faults[first][1] in outcome.stderr.decode().splitlines()[-1]
    outcome = inputs.call("validate-run", "noqueries.xml", "exists")
    assert "Could not open noqueries.xml: No such file" in outcome.stderr.decode()


def test_the_language_of_a_follow_on_query_is_that_of_the_first_line_that_leads_to_it(inputs: Inputs) -> None:
    parent, late = Judged(docid="CMN_1", value_class="0", code="W"), RunLine(docid="CMN_1").child()
    child = Judged(query=late.query, slot=SCHOOLS, value="Yale", docid="CMN_5", value_class=f"{QUERY}:1:1", id="a2")
    other = Judged(query=late.query, slot=SCHOOLS, value="Yale", docid="ENG_5", value_class=f"{QUERY}:1:2", id="a3")
    inputs.queries(AskedQuery(docids=("CMN_A",)))
    inputs.lines(parent, child, other, name="qrel")
    outcome = inputs.call("validate-assessments", "-output_file", "out", "q.xml", "qrel")
    assert outcome.status == 0
    sizes = {name: text.count(b"\n") for name, text in outcome.files.items()}
    assert sizes == {"out.eng": 0, "out.spa": 0, "out.cmn": 2, "out.xling": 3}


def test_words_for_judgments_are_abbreviated_wherever_they_stand(inputs: Inputs) -> None:
    lines = [Judged(value="INEXACT_SHORT"), Judged(value="CORRECT", docid="ENG_2", value_class="0", code="W", id="a2")]
    inputs.lines(*lines, name="qrel")
    outcome = inputs.call("validate-assessments", "-output_file", "stdout", "q.xml", "qrel")
    values = [line.split("\t")[3] for line in outcome.stdout.decode().splitlines()]
    assert values == ["S", "S", "CORRECT", "CORRECT"]
