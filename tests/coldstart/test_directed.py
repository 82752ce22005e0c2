"""Rules that directed cases showed, beside the recorded ones: their neighbours, and what people are told of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cs_score.base.records import replace
from tests.coldstart.command import score_in
from tests.coldstart.handmade import Inputs, report, row
from tests.coldstart.lines import AGE, CHILDREN, SCHOOLS, AskedQuery, Line, Q, query_xml, sf_query
from tests.coldstart.worlds import AnalysedRun

BO = Line()
CY = Line("Cy", "N_ENG_2", "0.8", ":E2")
OTHER = sf_query(docid="N_ENG_R")


def rows(scored: AnalysedRun) -> list[str]:
    """The names of the SF rows before the averages."""
    table = scored.outcome.files["out.sf"].decode().splitlines()[1:]
    return [line.split()[0] for line in table if line.startswith(("CSX", "csx"))]


def rankings(scored: AnalysedRun) -> dict[tuple[str, str], list[str]]:
    """What stands in part 2 of the debug file, by query and level: ground truth, then the nodes without their ranks."""
    found: dict[tuple[str, str], list[str]] = {}
    part = scored.outcome.files["out.debug"].decode().partition("AP COMPUTATION")[2]
    for section in part.split("=" * 80 + "\n")[1:]:
        lines = section.splitlines()
        query, level = (line.partition(":")[2].strip() for line in lines[:2])
        nodes = [line.split(" ", 1)[1] for line in lines if line[:1].isdigit()]
        found[query, level] = [lines[3].partition(": ")[2], *nodes]
    return found


def said(inputs: Inputs, *switches: str) -> str:
    """What a call that succeeds says on standard error."""
    outcome = inputs.call(*switches)
    assert outcome.status == 0, outcome.stderr
    return outcome.stderr.decode()


# ---- Queries that are chosen


@pytest.mark.parametrize("end", [" ", "\r"])
def test_an_empty_third_column_of_queries_is_hop_0_and_said_so(inputs: Inputs, end: str) -> None:
    inputs.pool(BO.judged("1"), BO.child().judged("1:1"))
    inputs.run(BO, BO.child())
    inputs.write("ids.txt", f"CSX_0001 {Q}{end}\n")
    assert "warning: CSX_0001: hop 0 only (the third column of ids.txt)\n" in said(inputs, "-queries", "ids.txt")
    assert rows(inputs.score("-queries", "ids.txt")) == [Q]
    inputs.write("ids.txt", f"CSX_0001 {Q}\n")
    assert "hop 0 only" not in said(inputs, "-queries", "ids.txt")
    assert rows(inputs.score("-queries", "ids.txt")) == [Q, f"{Q}:1"]


def test_an_empty_and_a_written_hop_limit_contradict_each_other(inputs: Inputs) -> None:
    inputs.queries(query_xml(docids=("N_ENG_Q", "N_ENG_R")))
    inputs.pool(BO.judged("1"))
    inputs.run(BO)
    inputs.write("ids.txt", f"CSX_0001 {Q} 1\nCSX_0001 {OTHER} \n")
    assert "CSX_0001 has multiple/conflicting num_slots in ids.txt" in inputs.refusal("-queries", "ids.txt")


def test_an_ldc_query_alone_is_hop_0_and_said_so(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"), BO.child().judged("1:1"))
    inputs.run(BO, BO.child())
    assert "CSX_0001: hop 0 only (-queries names an LDC query" in said(inputs, "-queries", "CSX_0001")


# ---- Classes


def test_a_class_of_another_query_has_its_row_there_and_no_value(inputs: Inputs) -> None:
    inputs.queries(query_xml(docids=("N_ENG_Q", "N_ENG_R")))
    inputs.pool(BO.assessed(f"{OTHER}:7", "C", "NAM", "NAM"), CY.judged("2"))
    inputs.run(BO, CY)
    scored = inputs.score()
    counts = row(scored, OTHER).counts
    assert (counts["Right"], counts["GT"], row(scored, Q).counts["GT"]) == (1, 1, 1)
    assert rankings(scored)[Q, "0"] == ["2", f"{Q}:E1 0.4909 {OTHER}:7 0.0000", f"{Q}:E2 0.4364 {Q}:2 1.0000"]
    assert "0.2500" in next(line for line in scored.outcome.files["out.ap"].decode().splitlines() if Q in line)


def test_a_class_of_a_follow_on_query_is_scored(inputs: Inputs) -> None:
    inputs.pool(BO.assessed(f"{BO.follow_on}:1", "C", "NAM", "NAM"), CY.judged("2"))
    inputs.run(BO, CY)
    assert sorted(rows(inputs.score())) == [Q, BO.follow_on, "CSX_0001"][:2]


def test_a_class_of_an_unknown_query_is_scored_where_nothing_was_expanded(inputs: Inputs) -> None:
    inputs.lines("<query_set>", AskedQuery(Q).xml(), "</query_set>", name="queries.xml")
    inputs.pool(BO.assessed("CSX_ENG_00FB79CEF8:1", "C", "NAM", "NAM"))
    inputs.run(BO)
    words = ("-output_file", "out", "-error_file", "log", "queries.xml", "pool.tab", "run.tab")
    outcome = score_in(inputs.folder, words)
    assert outcome.status == 0
    assert "CSX_ENG_00FB79CEF8 runA  0" in (inputs.folder / "out.sf").read_text()
    inputs.queries()
    assert "queryid undefined in QuerySet->get()" in inputs.refusal()


def test_colons_at_the_end_of_a_class_do_not_count(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1:"), BO.child().judged("1:1"))
    inputs.run(BO, BO.child())
    assert rows(inputs.score()) == [Q, f"{Q}:1"]


def test_an_inexact_answer_below_wrong_ones_is_no_error(inputs: Inputs) -> None:
    inputs.pool(BO.judged(), BO.child().judged("0:1", "X"))
    inputs.run(BO, BO.child())
    assert inputs.call().status == 0
    inputs.pool(BO.judged(), BO.child().judged("0:1", "C"))
    assert "Equivalence class without correct parent entry" in inputs.refusal()


def test_a_class_that_is_the_query_is_counted_nowhere_and_may_find_something(inputs: Inputs) -> None:
    inputs.pool(BO.assessed(Q, "C", "NAM", "NAM"), CY.judged("2"))
    inputs.run(CY)
    assert rows(inputs.score()) == [Q]
    inputs.run(BO, CY)
    assert "AP is greater than 1.0" in inputs.refusal()


def test_an_answer_with_nothing_to_find_exceeds_it(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"), BO.child().judged("3"))
    inputs.run(BO, BO.child())
    assert "AP is greater than 1.0" in inputs.refusal()


# ---- Slots


def asked(inputs: Inputs, *queries: str) -> None:
    inputs.lines("<query_set>", *queries, "</query_set>", name="queries.xml")


def without_expansion(inputs: Inputs, status: int) -> str:
    words = ("-output_file", "out", "-error_file", "out.errlog", "queries.xml", "pool.tab", "run.tab")
    for name in ("out.errlog", "out.sf", "out.ap"):
        (inputs.folder / name).unlink(missing_ok=True)
    assert score_in(inputs.folder, words).status == status
    return (inputs.folder / "out.errlog").read_text()


def test_slot_stands_for_a_slot0_that_is_missing_or_unknown(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"), BO.child().judged("1:1"))
    inputs.run(BO, BO.child())
    for slot0, status in (("", 0), ("<slot0>per:nope</slot0>", 255)):
        more = f"<slot>{CHILDREN}</slot>{slot0}<slot1>{SCHOOLS}</slot1>"
        asked(inputs, AskedQuery(Q, (), more=more).xml())
        assert "is not the requested slot" not in without_expansion(inputs, status)
        assert f"{Q}:1" in (inputs.folder / "out.sf").read_text()


def test_a_query_of_slot_alone_asks_for_it(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"), BO.child().judged("1:1"))
    inputs.run(BO, BO.child())
    asked(inputs, AskedQuery(Q, (), more=f"<slot>{CHILDREN}</slot>").xml())
    assert f"Slot {SCHOOLS} is not the requested slot for query {BO.follow_on} (expected )" in without_expansion(
        inputs, 0
    )
    assert Q in (inputs.folder / "out.sf").read_text()


def test_an_unknown_slot0_has_as_much_to_find_as_there_are_classes(inputs: Inputs) -> None:
    slots = ("per:nope", AGE)
    query = sf_query(slots)
    answer = Line(query=query, slot="per:nope")
    inputs.queries(query_xml(slots=slots))
    inputs.pool(answer.judged("1"))
    inputs.run(answer)
    scored = inputs.score(status=255)
    assert rankings(scored)[query, "0"] == ["1", f"{query}:E1 0.4909 {query}:1 1.0000"]


def test_a_line_feed_at_the_end_of_a_slot_is_ignored_by_the_inventory_only(inputs: Inputs) -> None:
    slots = (f"{CHILDREN}\n", SCHOOLS)
    inputs.queries(query_xml(slots=slots))
    inputs.pool(Line(query=sf_query(slots)).judged("1"))
    inputs.run(Line(query=sf_query(slots)))
    told = said(inputs)
    assert "Unknown slot" not in told
    assert f"(expected {CHILDREN}\n)" in told
    said(inputs, "-justifications", "1:3\n")


# ---- Provenances


def test_the_line_that_creates_a_query_with_an_empty_provenance_is_met_by_none(inputs: Inputs) -> None:
    nowhere = Line(docid="NO_DOCUMENT")
    again = Line(docid="NO_DOCUMENT", node=":E2")
    inputs.run(nowhere, again, name="first.tab")
    inputs.pool(nowhere.judged("1"))
    scored = inputs.score(files=("first.tab", "pool.tab"))
    counts = row(scored, Q).counts
    assert (counts["Right"], counts["Unassessed"]) == (1, 1)


def test_a_document_0_gives_way_to_the_next_one(inputs: Inputs) -> None:
    inputs.pool(Line(span="3-5,N_ENG_1:8-9").judged("1"))
    inputs.run(Line(docid="0", span="3-5,N_ENG_1:8-9", relation="N_ENG_1:1-20"))
    scored = inputs.score()
    assert row(scored, Q).counts["Right"] == 1
    assert report(scored).endswith("No warnings encountered\n")


# ---- Node ids


@pytest.mark.parametrize(
    ("node", "levels"),
    [
        (":E1:0", {"0": [f"{Q}:E1 0.4909"], "1": [], "ALL": [f"{Q}:E1 0.4909"]}),
        (":E1:0:x", {"0": [], "1": [], "ALL": []}),
        (":", {"0": [], "1": [], "ALL": []}),
        (":0", {"0": [], "1": [], "ALL": []}),
        (
            ":ns:E1",
            {"0": [f"{Q}:ns 0.4909"], "1": [f"{Q}:ns:E1 0.2410"], "ALL": [f"{Q}:ns 0.4909", f"{Q}:ns:E1 0.2410"]},
        ),
        (":a:b:c", {"0": [f"{Q}:a 0.4909"], "1": [], "ALL": [f"{Q}:a 0.4909", f"{Q}:a:b:c 0.2410"]}),
    ],
)
def test_node_ids_are_cut_at_their_colons(inputs: Inputs, node: str, levels: dict[str, list[str]]) -> None:
    inputs.pool(BO.judged("1"))
    inputs.run(Line(node=node))
    ranked = rankings(inputs.score())
    for level, nodes in levels.items():
        assert [" ".join(text.split()[:2]) for text in ranked[Q, level][1:]] == nodes, level
    values = {text.split()[0]: text.split()[2:] for text in ranked[Q, "ALL"][1:]}
    for name, (mapped, value) in values.items():
        if node != ":E1:0":  # implied nodes find nothing, and what hangs below them is worth nothing
            assert (mapped, value) == (("-" if name.count(":") == 1 else f"{Q}:1"), "0.0000")


# ---- Folders and switches


def test_members_of_a_folder_come_by_name_whatever_its_letter_case(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"))
    (inputs.folder / "runs").mkdir()
    for name in ("B", "a", "_c", ".d"):
        inputs.run(Line(run_id=f"run{name}", node=f":{name}"), name=f"runs/{name}.tab.txt")
    scored = inputs.score(files=("runs", "pool.tab"))
    ap_rows = [line for line in scored.outcome.files["out.ap"].decode().splitlines() if line.startswith(Q)]
    assert {line.split()[1] for line in ap_rows} == {"run_c"}  # the first run line names the rows
    assert ".d" not in scored.outcome.files["out.debug"].decode()


@pytest.mark.parametrize("nothing", ["", "0"])
def test_empty_switches_and_zero_ask_for_nothing(inputs: Inputs, nothing: str) -> None:
    inputs.pool(BO.judged("1"))
    inputs.run(BO)
    assert said(inputs, "-error_file", nothing).endswith("No warnings encountered\n")
    assert not (inputs.folder / "0").exists()
    said(inputs, "-runids", nothing, "-samples", nothing)
    for ending in ("sample", "samplescores", "confidence"):
        assert (inputs.folder / f"call.{ending}").read_bytes() == b""
    assert "SAMPLE" not in (inputs.folder / "call.params").read_text()
    assert Q in (inputs.folder / "call.sf").read_text()
    said(inputs, "-runids", ":")
    assert (inputs.folder / "call.sf").read_bytes() == b""


def test_samples_are_read_byte_by_byte_and_numbered_as_numbers(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"))
    inputs.run(BO)
    inputs.write("s.txt", f"\ufeff3 CSX_0001:{Q}\n1e1 CSX\u00a00001:{Q}\n2.5 CSX_0001:{Q}\n")
    files = inputs.score("-samples", "s.txt").outcome.files
    numbers = [line.split("#")[0].split()[0] for line in files["out.samplescores"].decode().splitlines()[1:]]
    assert numbers == ["0", "2", "10"]
    assert files["out.sample"].decode().splitlines() == [
        f"\u00ef\u00bb\u00bf3 CSX_0001:{Q}", f"2.5 CSX_0001:{Q}", f"1e1 CSX\u00c2\u00a00001:{Q}"
    ]  # fmt: skip


def test_digits_of_other_scripts_end_a_number(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"))
    inputs.run(CY, Line(confidence="0.5\u0660e-00"))
    assert "Illegal" not in said(inputs)  # 0.5 stands before the first other digit
    inputs.run(CY, Line(confidence="5.\u0660e-01"))
    outcome = inputs.call()
    assert outcome.status == 255
    assert "Illegal confidence value: 5.\u0660e-01".encode() in outcome.stderr


# ---- Departures that stay ours


def test_brackets_in_the_name_of_a_folder_are_plain_characters(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"))
    (inputs.folder / "r[1]{a,b}").mkdir()
    inputs.run(BO, name="r[1]{a,b}/x.tab.txt")
    assert row(inputs.score(files=("r[1]{a,b}", "pool.tab")), Q).counts["Right"] == 1


def test_pattern_signs_in_the_prefix_of_expand_are_plain_characters(inputs: Inputs) -> None:
    answer = Line(query=Q.replace("CSX", "C.*(X"))
    inputs.pool(answer.assessed(f"{answer.query}:1", "C", "NAM", "NAM"))
    inputs.run(answer)
    said(inputs, "-expand", "C.*(X")
    assert answer.query in (inputs.folder / "call.sf").read_text()


def test_odd_numbers_are_no_hop_limits(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"))
    inputs.run(BO)
    for limit in ("9", "-1"):
        inputs.write("ids.txt", f"CSX_0001 {Q} {limit}\n")
        assert "Unexpected num_slots value" in inputs.refusal("-queries", "ids.txt")


def test_bytes_that_are_no_utf_8_are_refused(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"))
    (Path(inputs.folder) / "run.tab").write_bytes(BO.text().replace("Bo", "\udcff").encode("utf-8", "surrogateescape"))
    assert "not UTF-8" in inputs.refusal()


# ---- Several runs in one file


def test_each_run_of_a_file_is_validated_by_itself(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"))
    inputs.run(BO, replace(BO, run_id="runB"), replace(CY, run_id="runB"))
    words = ("score", "--validate", "-expand", "CSX", "queries.xml", "pool.tab", "run.tab", "--format", "tsv")
    told = score_in(inputs.folder, words).stdout.decode()
    scores = {tuple(line.split("\t")[:2]): line.split("\t")[2] for line in told.splitlines()[1:]}
    assert float(scores["runA", "SF-ALL-Micro-R"]) == float(scores["runB", "SF-ALL-Micro-R"]) == 1.0
