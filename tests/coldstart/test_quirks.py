"""What the reference does oddly and scripts rely on: a test for each quirk, named by its number."""

from __future__ import annotations

import pytest

from cs_score.base.records import replace
from cs_score.coldstart.options import Justifications, Options, Policy
from cs_score.coldstart.result import ScoringStopped
from cs_score.coldstart.scorer import score
from tests.coldstart.handmade import (
    AGE,
    BIRTHPLACE,
    CHILDREN,
    SCHOOLS,
    Inputs,
    Line,
    Q,
    average_precision,
    blocks,
    labels,
    query_xml,
    ranking,
    report,
    row,
    sf_query,
)

BO, CY, DI = Line(), Line("Cy", "N_ENG_2", ":E2", "0.8"), Line("Di", "N_ENG_3", ":E3", "0.7")


# ---- Quirk 1: nothing to score


def test_quirk_1_no_query_chosen_is_said_in_one_line(inputs: Inputs) -> None:
    inputs.run(BO)
    assert "nothing to score: no query was chosen" in inputs.refusal("-queries", "CSX_0099")


def test_quirk_1_a_run_without_rows_is_said_in_one_line_where_ldc_queries_were_expanded(inputs: Inputs) -> None:
    inputs.run(BO)
    assert "nothing to score: run nobody has no row" in inputs.refusal("-runids", "nobody")


def test_quirk_1_a_run_without_rows_has_empty_tables_without_ldc_queries(inputs: Inputs) -> None:
    inputs.queries(query_xml().replace("CSX_0001", Q))
    inputs.run(BO)
    scored = inputs.score("-runids", "nobody")
    assert scored.sf == []
    assert report(scored) == "No warnings encountered\n"


# ---- Quirks 2 to 4: -justifications


@pytest.mark.parametrize("limits", ["M:10", "1:10", "10:3", "m:3", "1", "1:", "1:3:5"])
def test_quirk_2_justifications_have_one_character_each(limits: str, inputs: Inputs) -> None:
    inputs.run(BO)
    assert "Argument to -justifications switch must be of the form A:B" in inputs.refusal("-justifications", limits)


@pytest.mark.parametrize("limits", ["1:0", "0:0", "M:0"])
def test_quirk_3_a_node_of_no_justification_is_refused(limits: str, inputs: Inputs) -> None:
    inputs.run(BO)
    assert "B = 0 leaves nothing to score" in inputs.refusal("-justifications", limits)


def test_quirk_4_a_single_valued_node_of_discarded_lines_ends_with_its_place(inputs: Inputs) -> None:
    query = sf_query((CHILDREN, AGE))
    inputs.queries(query_xml(slots=(CHILDREN, AGE)))
    parent = replace(BO, query=query)
    second = replace(parent, value="Bo Q", confidence="0.5", span="N_ENG_1:7-9")
    inputs.run(parent, second, second.child("41", slot=AGE))
    line = inputs.refusal("-justifications", "1:M")
    assert f"no confidence for node {query}:E1:C1: all of its lines were discarded" in line
    assert "run.tab" in line
    assert "line 3" in line
    assert inputs.score("-justifications", "1:9").outcome.status == 0


# ---- Quirks 5 to 10: limits, average precision, several runs


def test_quirk_5_discarded_lines_count_all_the_same(inputs: Inputs) -> None:
    second = replace(BO, value="Bo Q", confidence="0.5", span="N_ENG_1:7-9")
    inputs.pool(BO.judged("1"), second.judged("1"), DI.judged("1"))
    inputs.run(BO, second)
    limited, unlimited = inputs.score("-justifications", "1:3"), inputs.score("-justifications", "M:3")
    assert "discarded due to constraints on multiple justifications" in report(limited)
    assert report(unlimited) == "No warnings encountered\n"
    assert limited.tables() == unlimited.tables()
    assert row(limited, Q).counts["Submitted"] == 2
    assert ranking(limited)[0].value == "1.0000"  # two lines for a class in two documents


def _two_lines_of_one_document(inputs: Inputs, *others: str) -> None:
    second = replace(BO, value="Bo Q", confidence="0.5", span="N_ENG_1:7-9")
    inputs.pool(BO.judged("1"), second.judged("1"), *others)
    inputs.run(BO, second)


def test_quirk_6_an_average_precision_above_1_ends_the_run_after_its_tables(inputs: Inputs) -> None:
    _two_lines_of_one_document(inputs)
    outcome = inputs.call()
    assert outcome.status == 255
    assert "AP is greater than 1.0" in outcome.stderr.decode()
    for name in ("sf", "ldcmax", "ldcmean", "summary"):
        assert b"ALL-M" in outcome.files[f"call.{name}"]
    assert outcome.files["call.debug"].count(b"FQNODEID") == 2
    assert b"AP COMPUTATION" not in outcome.files["call.debug"]
    assert "call.ap" not in outcome.files


def test_quirk_6_in_python_what_was_computed_before_is_kept(inputs: Inputs) -> None:
    _two_lines_of_one_document(inputs)
    folder = inputs.folder
    with pytest.raises(ScoringStopped, match=r"AP is greater than 1\.0") as stopped:
        score([folder / "queries.xml"], [folder / "pool.tab", folder / "run.tab"], Options(expand="CSX"))
    (run,) = stopped.value.partial.runs
    assert run.average_precision is None
    assert [found.name for found in run.tables.sf.rows] == [Q]


def test_quirk_6_two_classes_of_a_single_valued_slot_are_too_many(inputs: Inputs) -> None:
    query = sf_query((BIRTHPLACE,))
    inputs.queries(query_xml(slots=(BIRTHPLACE,)))
    bo, cy = (replace(line, query=query, slot=BIRTHPLACE) for line in (BO, CY))
    inputs.pool(bo.judged("1"), cy.judged("2"))
    inputs.run(bo, cy)
    outcome = inputs.call()
    assert (outcome.status, "AP is greater than 1.0" in outcome.stderr.decode()) == (255, True)


def test_quirk_6_a_value_above_1_is_printed_where_the_sum_allows_it(inputs: Inputs) -> None:
    _two_lines_of_one_document(inputs, CY.judged("2"))
    scored = inputs.score()
    assert ranking(scored)[0].value == "2.0000"
    assert average_precision(scored) == 1


def test_quirk_7_duplicates_that_are_wrong_lower_v(inputs: Inputs) -> None:
    second = replace(CY, node=":E1")
    inputs.pool(BO.judged("1"), second.judged("1"))
    inputs.run(BO, second)
    assert (labels(inputs.score())[1], ranking(inputs.score())[0].value) == ("IGNORE,REDUNDANT", "1.0000")
    wrong = inputs.score("-wrong", "INCORRECT:INCORRECT_PARENT:INEXACT:DUPLICATE", "-ignore", "UNASSESSED")
    assert labels(wrong)[1] == "REDUNDANT,WRONG"
    assert ranking(wrong)[0].value == "0.5000"


def test_quirk_8_the_last_sample_narrows_the_runs_that_follow(inputs: Inputs) -> None:
    other = sf_query(docid="N_ENG_R")
    inputs.queries(query_xml(), query_xml(2, docids=("N_ENG_R",)))
    first, second = BO, replace(CY, query=other)
    inputs.pool(first.judged("1"), second.judged("1"))
    inputs.run(first, second)
    inputs.run(*(replace(line, run_id="runB", node=":F") for line in (first, second)), name="second.tab")
    inputs.write("samples.txt", f"9 CSX_0002:{other}", f"10 CSX_0001:{Q}")  # as strings, 9 comes last
    scored = inputs.score("-samples", "samples.txt", files=("pool.tab", "run.tab", "second.tab"))
    table = [line.split("\t")[:2] for line in scored.outcome.files["out.sf"].decode().split("\n")]
    assert sorted(cells for cells in table if cells[0].startswith("CSX_")) == sorted(
        [[Q, "runA"], [other, "runA"], [other, "runB"]]
    )


def test_quirk_8_later_runs_are_ranked_on_queries_that_the_first_was_not_scored_on(inputs: Inputs) -> None:
    """Lines of the first run about such a query are nodes without an assessment."""
    other = sf_query(docid="N_ENG_R")
    inputs.queries(query_xml(), query_xml(2, docids=("N_ENG_R",)))
    second = replace(CY, query=other)
    inputs.pool(BO.judged("1"), second.judged("1"))
    inputs.run(BO, second, replace(second, run_id="runB", node=":F", confidence="0.7"))
    inputs.write("samples.txt", f"1 CSX_0001:{Q} CSX_0002:{other}")
    scored = inputs.score("-queries", Q, "-samples", "samples.txt")
    ranked = [(found.query, found.node, found.mapped) for found in ranking(scored)]
    assert [found for found in ranked if found[0] == other] == [
        (other, f"{other}:E2", "-"),
        (other, f"{other}:F", f"{other}:1"),
    ]


def test_quirk_9_average_precision_pools_the_nodes_of_all_runs(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"), CY.judged("2"))
    inputs.run(replace(BO, run_id="runB"))  # the first line: runB is the primary run, though runA is scored first
    inputs.run(replace(CY, run_id="runA"), name="second.tab")
    scored = inputs.score(files=("pool.tab", "run.tab", "second.tab"))
    ap = scored.outcome.files["out.ap"].decode()
    assert "\trunA\t" not in ap
    first, second = ap.split("SF: Slot-filling")[1:]
    assert "ALL-Macro\t" not in first
    assert "ALL-Macro\trunB\t0\t" in second
    # While runA is scored, the line of runB is a node without useful lines; afterwards both count.
    assert [(node.node, node.value) for node in ranking(scored)] == [
        (f"{Q}:E1", "0.0000"),
        (f"{Q}:E2", "1.0000"),
        (f"{Q}:E1", "1.0000"),
        (f"{Q}:E2", "1.0000"),
    ]
    assert [line.split("\t")[3] for line in (first + second).split("\n") if line.startswith(f"{Q}\trunB\t0")] == [
        "0.2500",
        "1.0000",
    ]


def test_quirk_10_limits_are_shared_between_runs_and_files(inputs: Inputs) -> None:
    inputs.run(BO)
    inputs.run(replace(BO, run_id="runB", confidence="0.5"), name="second.tab")
    assert report(inputs.score(files=("run.tab",))) == "No warnings encountered\n"
    said = report(inputs.score(files=("run.tab", "second.tab")))
    assert "discarded due to constraints on multiple justifications: \n" in said
    assert " (second.tab line 1)\n" in said
    assert "(run.tab" not in said


# ---- Quirks 11 to 13: older layouts


def test_quirk_11_without_mention_types_everything_is_ignored(inputs: Inputs) -> None:
    columns = BO.judged("1").split("\t")
    inputs.run(BO)
    eight = columns[:6] + columns[7:9]
    span = columns[2]
    eleven = [columns[0], "CSX_0001", columns[1], "Ann", "N_ENG_Q:5-9", span, *columns[3:6], *columns[7:9]]
    for line in (eight, eleven):
        inputs.pool("\t".join(line))
        scored = inputs.score()
        counts = row(scored, Q).counts
        assert (counts["Correct"], counts["Right"], counts["Ignored"]) == (1, 0, 1)
        assert row(scored, Q).scores == (0, 0, 0)
        assert average_precision(scored) == 0


def test_quirk_12_runs_of_eight_columns_have_no_average_precision_and_one_group(inputs: Inputs) -> None:
    lines = [Line(f"V{n}", f"N_ENG_{n}", None, f"0.{9 - n}") for n in range(1, 5)]
    inputs.pool(*(line.judged(str(n), mention="NOM" if n < 4 else "NAM") for n, line in enumerate(lines, 1)))
    inputs.run(*lines)
    scored = inputs.score()
    assert (row(scored, Q).counts["Right"], row(scored, Q).counts["Ignored"]) == (0, 4)
    assert set(scored.average_precision.values()) == {0}
    assert row(inputs.score("-justifications", "1:4"), Q).counts["Right"] == 4
    assert {block.node for block in blocks(scored)} == {"-"}


def test_quirk_13_runs_of_seven_columns_are_refused(inputs: Inputs) -> None:
    inputs.run(f"{Q}\t{CHILDREN}\trunA\tN_ENG_1:1-20\tBo\tN_ENG_1:3-5\t0.9")
    assert "run.tab: line 1: Query  not loaded; runs of 2014 (seven columns) cannot be scored" in inputs.refusal()


# ---- Quirks 14 to 16: parents


@pytest.mark.parametrize("fault", [{"slot": SCHOOLS}, {"node": " "}])
def test_quirk_14_a_child_of_a_skipped_line_is_incorrect_parent(fault: dict[str, str], inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"), BO.child().judged("1:1"))
    inputs.run(CY, replace(BO, **fault), BO.child())
    scored = inputs.score()
    assert row(scored, f"{Q}:1").counts["PIncorrect"] == 1
    assert [block.node for block in blocks(scored)] == [f"{Q}:E2", ":C1"]


def test_quirk_14_without_assessment_of_the_parent_scoring_ends(inputs: Inputs) -> None:
    inputs.run(CY, replace(BO, slot=SCHOOLS), BO.child())
    outcome = inputs.call()
    assert outcome.status == 255
    assert "queryid undefined in QuerySet->get()" in outcome.stderr.decode()


def test_quirk_15_a_child_before_its_parent_has_no_query_yet(inputs: Inputs) -> None:
    inputs.run(BO.child(), BO)
    line = inputs.refusal()
    assert f"Query {BO.follow_on} not loaded" in line
    assert "run.tab" in line
    assert "line 1" in line


def test_quirk_15_where_the_pool_has_made_the_query_the_node_is_missing_from_ap(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"), BO.child().judged("1:1"))
    inputs.run(BO.child(), BO)
    scored = inputs.score()
    assert row(scored, f"{Q}:1").scores == (1, 1, 1)
    assert [block.node for block in blocks(scored)] == [f"{Q}:E1", ":C1"]
    assert (ranking(scored, "1"), average_precision(scored, "1")) == ([], 0)


def test_quirk_16_the_first_parent_line_decides(inputs: Inputs) -> None:
    unassessed = replace(BO, relation="N_ENG_1:2-20", confidence="0.8")
    inputs.pool(BO.judged("1"), BO.child().judged("1:1"))
    inputs.run(BO, unassessed, BO.child())
    assert row(inputs.score(), f"{Q}:1").counts["Right"] == 1
    inputs.run(unassessed, BO, BO.child())
    counts = row(inputs.score(), f"{Q}:1").counts
    assert (counts["Right"], counts["PIncorrect"]) == (0, 1)


# ---- Quirks 17 and 18: policies


def test_quirk_17_duplicates_as_right_are_overruled_by_the_default_ignore(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"), CY.judged("1"))
    inputs.run(BO, CY)
    assert inputs.score("-right", "CORRECT:DUPLICATE").tables() == inputs.score().tables()
    assert row(inputs.score(), Q).counts["Ignored"] == 1
    assert row(inputs.score("-right", "CORRECT:DUPLICATE", "-ignore", "UNASSESSED"), Q).counts["Right"] == 2


def test_quirk_18_a_category_named_twice_counts_twice(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"))
    inputs.run(BO)
    scored = inputs.score("-right", "CORRECT:CORRECT")
    counts = row(scored, Q).counts
    assert (counts["Submitted"], counts["Right"], counts["Dup"], counts["Ignored"]) == (1, 1, 1, 1)
    assert labels(scored) == ["IGNORE,REDUNDANT,RIGHT"]


# ---- Quirk 19: node ids


def test_quirk_18_a_negative_zero_keeps_its_sign_beside_a_zero(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"), CY.judged("2"))
    inputs.run(DI)
    tables = inputs.score("-ignore", "UNASSESSED:UNASSESSED").outcome.files
    precisions = [line.split("\t")[-3] for line in tables["out.sf"].decode().split("\n")[1:6]]
    assert precisions == ["-0.0000"] * 3 + ["0.0000"] * 2
    assert [line.split("\t")[3] for line in tables["out.ldcmean"].decode().split("\n")[1:3]] == ["-0.0000", "0.0000"]


def test_quirk_19_a_node_without_colon_counts_but_is_not_ranked(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"))
    inputs.run(replace(BO, node="E2"))
    scored = inputs.score()
    assert row(scored, Q).scores == (1, 1, 1)
    assert blocks(scored)[0].node == f"{Q}E2"
    assert (ranking(scored), average_precision(scored)) == ([], 0)


def test_quirk_19_nodes_without_colon_share_one_single_value(inputs: Inputs) -> None:
    inputs.queries(query_xml(slots=(BIRTHPLACE,)), query_xml(2, (BIRTHPLACE,), ("N_ENG_R",)))
    one, two = (replace(BO, query=sf_query((BIRTHPLACE,), docid), slot=BIRTHPLACE) for docid in ("N_ENG_Q", "N_ENG_R"))
    inputs.run(one, two)
    assert report(inputs.score()) == "No warnings encountered\n"
    inputs.run(replace(one, node="E1"), replace(two, node="E1", confidence="0.5"))
    assert " (run.tab line 2)\n" in report(inputs.score())
    assert report(inputs.score()).endswith("\n1 warning encountered\n")


def test_quirk_19_an_inner_colon_makes_a_second_hop(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"))
    inputs.run(replace(BO, node=":x:y"))
    scored = inputs.score()
    assert [node.node for node in ranking(scored)] == [f"{Q}:x"]
    assert [node.node for node in ranking(scored, "1")] == [f"{Q}:x:y"]
    assert ranking(scored)[0].confidence == "0.4909"


def test_quirk_19_a_second_hop_node_0_is_a_first_hop_node(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"), BO.child().judged("1:1"))
    inputs.run(BO, BO.child(node=":0"))
    scored = inputs.score()
    assert row(scored, f"{Q}:1").counts["Right"] == 1
    assert ranking(scored, "1") == []
    assert average_precision(scored, "1") == 0


# ---- Quirks 20 to 23


def test_quirk_20_a_class_without_query_is_refused_by_name(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1").replace(f"{Q}:1\t", "1\t"))
    inputs.run(BO)
    line = inputs.refusal()
    assert f"query {Q}" in line
    assert "the equivalence class 1 of one of its answers should be" in line


def test_quirk_20_an_inexact_answer_below_no_class_is_refused(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"), BO.child().judged("5:1", "X"))
    inputs.run(BO)
    line = inputs.refusal()
    assert "pool.tab" in line
    assert "line 2" in line


@pytest.mark.parametrize("name", ["pool.tab", "run.tab"])
def test_quirk_21_a_byte_order_mark_is_part_of_the_first_column(name: str, inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"))
    inputs.run(BO)
    path = inputs.folder / name
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    outcome = inputs.call()
    if name == "run.tab":
        assert outcome.status == 255
        assert "not loaded" in outcome.stderr.decode()
    else:  # the first column of an assessment is its number, which means nothing
        assert outcome.status == 0


def test_quirk_22_the_report_is_encoded_twice(inputs: Inputs) -> None:
    inputs.run(BO, replace(CY, slot="per:été"))
    scored = inputs.score(status=255)
    assert "Unknown slot name: per:été".encode().decode("latin-1") in report(scored)
    assert "per:été" not in report(scored)


def test_quirk_22_so_are_file_names(inputs: Inputs) -> None:
    inputs.run(replace(BO, confidence="1"), name="läuft.tab")
    scored = inputs.score(files=("läuft.tab",))
    assert "(läuft.tab line 1)".encode().decode("latin-1") in report(scored)


def test_quirk_23_run_ids_beyond_ascii_are_found(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"))
    inputs.run(replace(BO, run_id="Läufer"))
    assert row(inputs.score("-runids", "Läufer"), Q).scores == (1, 1, 1)


# ---- Quirk 24: line numbers of several files


def test_quirk_24_lines_of_one_number_share_a_block(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"), CY.judged())
    inputs.run(BO)
    inputs.run(CY, name="second.tab")
    scored = inputs.score(files=("pool.tab", "run.tab", "second.tab"))
    counts = row(scored, Q).counts
    assert (counts["Submitted"], counts["Right"], counts["Wrong"]) == (2, 1, 1)
    # The line loaded first; of its own category before the policies none is shown, of the other's it is.
    (block,) = blocks(scored)
    assert (block.submission, block.before, block.after) == (BO.text(), "CORRECT", "INCORRECT,RIGHT,WRONG")
    (block,) = blocks(inputs.score(files=("pool.tab", "second.tab", "run.tab")))
    assert (block.submission, block.before, block.after) == (CY.text(), "INCORRECT", "CORRECT,RIGHT,WRONG")


def test_quirk_24_the_nominal_rule_ignores_one_line_of_a_number(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1", mention="NOM"), CY.judged("2", mention="NOM"))
    inputs.run(BO, CY)
    counts = row(inputs.score(), Q).counts
    assert (counts["Submitted"], counts["Right"], counts["Ignored"]) == (2, 0, 2)
    inputs.run(BO)
    inputs.run(CY, name="second.tab")
    counts = row(inputs.score(files=("pool.tab", "run.tab", "second.tab")), Q).counts
    assert (counts["Submitted"], counts["Right"], counts["Ignored"]) == (2, 0, 1)


# ---- Quirks 25 to 29


def test_quirk_25_documents_and_fillers_are_not_checked(inputs: Inputs) -> None:
    inputs.run(replace(BO, value="never written", document="nowhere_ENG_", span="nowhere_ENG_:999999990-999999999"))
    assert report(inputs.score()) == "No warnings encountered\n"


def test_quirk_26_the_report_is_written_twice(inputs: Inputs) -> None:
    inputs.run(replace(BO, confidence="1"))
    once = "WARNING: Decimal point missing in confidence value: 1 (run.tab line 1)\n\n"
    assert report(inputs.score()) == once * 2 + "1 warning encountered\n"


@pytest.mark.parametrize("order", [("N_ENG_Q", "N_ENG_R"), ("N_ENG_R", "N_ENG_Q")])
def test_quirk_27_a_mean_of_means_stays_within_1(order: tuple[str, str], inputs: Inputs) -> None:
    """The largest GT of the group decides the divisor, so that a member without ground truth does not hide it."""
    without = replace(CY, query=sf_query(docid="N_ENG_R"))
    third = replace(DI, query=sf_query(docid="N_ENG_S"))
    inputs.queries(query_xml(docids=order), query_xml(2, docids=("N_ENG_S",)))
    inputs.pool(BO.judged("1"), without.judged(), third.judged("1"))
    inputs.run(BO, without, third)
    table = inputs.score().outcome.files["out.ldcmean"].decode()
    assert "ALL-Macro\trunA\t0\t0.7500\t0.7500\t0.7500\n" in table


def test_quirk_28_recall_exceeds_1_where_duplicates_are_right(inputs: Inputs) -> None:
    lines = (BO, CY, DI)
    inputs.pool(*(line.judged("1") for line in lines))
    inputs.run(*lines)
    found = row(inputs.score("-right", "CORRECT:DUPLICATE", "-ignore", "UNASSESSED"), Q)
    assert (found.counts["GT"], found.counts["Right"], found.scores[1]) == (1, 3, 3)


def test_quirk_29_wide_names_push_the_rows_of_the_summary(inputs: Inputs) -> None:
    inputs.run(replace(BO, query=Q.replace("CSX", "X")))
    outcome = inputs.call("-expand", "X")
    header, *rows = outcome.files["call.summary"].decode().split("\n")
    assert header.startswith("QID/EC           RunID Hop Prec")  # as wide as X_ENG_00fb79cef8
    assert [text[: text.index(" ")] for text in rows if " runA " in text][-1] == "LDC-MEAN-ALL-Macro"
    assert "LDC-MEAN-ALL-Macro runA  0 " in outcome.files["call.summary"].decode()


def test_policies_and_limits_of_the_command_are_those_of_the_library(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"), CY.judged("1"))
    inputs.run(BO, CY)
    policy = Policy(right=("CORRECT", "DUPLICATE"), ignore=("UNASSESSED",))
    options = Options(expand="CSX", policy=policy, justifications=Justifications.parse("M:M"))
    folder = inputs.folder
    result = score([folder / "queries.xml"], [folder / "pool.tab", folder / "run.tab"], options)
    found = row(inputs.score("-right", "CORRECT:DUPLICATE", "-ignore", "UNASSESSED", "-justifications", "M:M"), Q)
    counts = result.runs[0].tables.sf.rows[0].counts
    assert counts is not None
    assert (counts.right, counts.submitted) == (found.counts["Right"], found.counts["Submitted"]) == (2, 2)
