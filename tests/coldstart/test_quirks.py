"""What the reference does oddly and scripts rely on, each test marked with its rule.

Quirks without a test here are held by committed cases or worked examples, which fail where one of them changes.
"""

from __future__ import annotations

import pytest

from cs_score.base.records import replace
from tests.coldstart.handmade import Inputs, average_precision, blocks, ranking, report, row
from tests.coldstart.lines import AGE, BIRTHPLACE, CHILDREN, SCHOOLS, Line, Q, query_xml, sf_query

BO, CY = Line(), Line("Cy", "N_ENG_2", "0.8", ":E2")
BO_AGAIN = replace(BO, value="Bo Q", confidence="0.5", span="7-9")
CLEAN = "No warnings encountered\n"
BOTH = ("pool.tab", "run.tab", "second.tab")


def counted(inputs: Inputs, *names: str, files: tuple[str, ...] = ()) -> tuple[int, ...]:
    counts = row(inputs.score(files=files), Q).counts
    return tuple(counts[name] for name in names)


@pytest.mark.rule("nothing-to-score")
def test_nothing_to_score_is_said_in_one_line(inputs: Inputs) -> None:
    inputs.run(BO)
    assert "nothing to score: no query was chosen" in inputs.refusal("-queries", "CSX_0099")
    assert "nothing to score: run nobody has no row" in inputs.refusal("-runids", "nobody")
    inputs.queries(query_xml().replace("CSX_0001", Q))  # without LDC queries the tables are empty
    scored = inputs.score("-runids", "nobody")
    assert (scored.sf, report(scored)) == ([], CLEAN)


@pytest.mark.rule("unlimited-single-values")
def test_a_single_valued_node_of_discarded_lines_ends_with_its_place(inputs: Inputs) -> None:
    query = sf_query((CHILDREN, AGE))
    inputs.queries(query_xml(slots=(CHILDREN, AGE)))
    parent, second = replace(BO, query=query), replace(BO_AGAIN, query=query)
    inputs.run(parent, second, second.child("41", slot=AGE))
    line = inputs.refusal("-justifications", "1:M")
    assert f"run.tab: line 3: no confidence for node {query}:E1:C1: all of its lines were discarded" in line
    assert inputs.score("-justifications", "1:9").outcome.status == 0


@pytest.mark.rule("above-one")
def test_an_average_precision_above_1_ends_the_run_after_its_tables(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"), BO_AGAIN.judged("1"))
    inputs.run(BO, BO_AGAIN)
    outcome = inputs.call()
    assert (outcome.status, b"AP is greater than 1.0" in outcome.stderr) == (255, True)
    for name in ("sf", "ldcmax", "ldcmean", "summary"):
        assert b"ALL-M" in outcome.files[f"call.{name}"]
    assert outcome.files["call.debug"].count(b"FQNODEID") == 2
    assert b"AP COMPUTATION" not in outcome.files["call.debug"]
    assert "call.ap" not in outcome.files

    inputs.pool(BO.judged("1"), BO_AGAIN.judged("1"), CY.judged("2"))  # the sum allows it
    scored = inputs.score()
    assert (ranking(scored)[0].value, average_precision(scored)) == ("2.0000", 1)


@pytest.mark.rule("seven-column-runs")
def test_runs_of_seven_columns_are_refused(inputs: Inputs) -> None:
    inputs.run(f"{Q}\t{CHILDREN}\trunA\tN_ENG_1:1-20\tBo\tN_ENG_1:3-5\t0.9")
    assert "run.tab: line 1: Query  not loaded; runs of 2014 (seven columns) cannot be scored" in inputs.refusal()


@pytest.mark.parametrize("fault", [{"slot": SCHOOLS}, {"node": " "}])
@pytest.mark.rule("skipped-parents", "queries")
def test_a_child_of_a_skipped_line_is_incorrect_parent(fault: dict[str, str], inputs: Inputs) -> None:
    inputs.run(CY, replace(BO, **fault), BO.child())
    outcome = inputs.call()  # without assessment of the parent scoring ends
    assert (outcome.status, b"queryid undefined in QuerySet->get()" in outcome.stderr) == (255, True)
    inputs.pool(BO.judged("1"), BO.child().judged("1:1"))
    scored = inputs.score()
    assert row(scored, f"{Q}:1").counts["PIncorrect"] == 1
    assert [block.node for block in blocks(scored)] == [f"{Q}:E2", ":C1"]


@pytest.mark.rule("child-before-parent", "queries")
def test_a_child_before_its_parent_has_no_query_yet(inputs: Inputs) -> None:
    inputs.run(BO.child(), BO)
    assert f"run.tab: line 1: Query {BO.follow_on} not loaded" in inputs.refusal()
    inputs.pool(BO.judged("1"), BO.child().judged("1:1"))  # makes the query; the node is missing from AP
    scored = inputs.score()
    assert row(scored, f"{Q}:1").scores == (1, 1, 1)
    assert [block.node for block in blocks(scored)] == [f"{Q}:E1", ":C1"]
    assert (ranking(scored, "1"), average_precision(scored, "1")) == ([], 0)
    said = "1 second-hop line(s) come before their parent line or have none (run.tab line 1)"
    assert said in scored.outcome.stderr.decode()


@pytest.mark.rule("odd-node-ids")
def test_a_node_without_colon_counts_but_is_not_ranked(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"))
    inputs.run(replace(BO, node="E2"))
    scored = inputs.score()
    assert row(scored, Q).scores == (1, 1, 1)
    assert blocks(scored)[0].node == f"{Q}E2"
    assert (ranking(scored), average_precision(scored)) == ([], 0)
    inputs.run(replace(BO, node=":x:y"))  # an inner colon makes a second hop
    scored = inputs.score()
    assert [(node.node, node.confidence) for node in ranking(scored)] == [(f"{Q}:x", "0.4909")]
    assert [node.node for node in ranking(scored, "1")] == [f"{Q}:x:y"]
    inputs.pool(BO.judged("1"), BO.child().judged("1:1"))
    inputs.run(BO, BO.child(node=":0"))  # a second-hop node 0 is a first-hop node
    scored = inputs.score()
    assert row(scored, f"{Q}:1").counts["Right"] == 1
    assert (ranking(scored, "1"), average_precision(scored, "1")) == ([], 0)


@pytest.mark.rule("odd-node-ids", "single-values")
def test_nodes_without_colon_share_one_single_value(inputs: Inputs) -> None:
    inputs.queries(query_xml(slots=(BIRTHPLACE,)), query_xml(2, (BIRTHPLACE,), ("N_ENG_R",)))
    one, two = (replace(BO, query=sf_query((BIRTHPLACE,), docid), slot=BIRTHPLACE) for docid in ("N_ENG_Q", "N_ENG_R"))
    inputs.run(one, two)
    assert report(inputs.score()) == CLEAN
    inputs.run(replace(one, node="E1"), replace(two, node="E1", confidence="0.5"))
    said = report(inputs.score())
    assert " (run.tab line 2)\n" in said
    assert said.endswith("\n1 warning encountered\n")


@pytest.mark.rule("equal-line-numbers")
def test_lines_of_one_number_share_a_block(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"), CY.judged())
    inputs.run(BO)
    inputs.run(CY, name="second.tab")
    assert counted(inputs, "Submitted", "Right", "Wrong", files=BOTH) == (2, 1, 1)
    # The line loaded first; of its own category before the policies none is shown, of the other's it is.
    (block,) = blocks(inputs.score(files=BOTH))
    assert (block.submission, block.before, block.after) == (BO.text(), "CORRECT", "INCORRECT,RIGHT,WRONG")
    (block,) = blocks(inputs.score(files=("pool.tab", "second.tab", "run.tab")))
    assert (block.submission, block.before, block.after) == (CY.text(), "INCORRECT", "CORRECT,RIGHT,WRONG")


@pytest.mark.rule("equal-line-numbers")
def test_the_nominal_rule_ignores_one_line_of_a_number(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1", mention="NOM"), CY.judged("2", mention="NOM"))
    inputs.run(BO, CY)
    assert counted(inputs, "Submitted", "Right", "Ignored") == (2, 0, 2)
    inputs.run(BO)
    inputs.run(CY, name="second.tab")
    assert counted(inputs, "Submitted", "Right", "Ignored", files=BOTH) == (2, 0, 1)


@pytest.mark.rule("shared-limits")
def test_limits_are_shared_between_runs_and_files(inputs: Inputs) -> None:
    inputs.run(BO)
    inputs.run(replace(BO, run_id="runB", confidence="0.5"), name="second.tab")
    assert report(inputs.score(files=("run.tab",))) == CLEAN
    said = report(inputs.score(files=("run.tab", "second.tab")))
    assert "discarded due to constraints on multiple justifications: \n" in said
    assert " (second.tab line 1)\n" in said
    assert "(run.tab" not in said


@pytest.mark.rule("wide-names")
def test_wide_names_push_the_rows_of_the_summary(inputs: Inputs) -> None:
    inputs.run(replace(BO, query=Q.replace("CSX", "X")))
    outcome = inputs.call("-expand", "X")
    header, *rows = outcome.files["call.summary"].decode().split("\n")
    assert header.startswith("QID/EC           RunID Hop Prec")  # as wide as X_ENG_00fb79cef8
    assert [text[: text.index(" ")] for text in rows if " runA " in text][-1] == "LDC-MEAN-ALL-Macro"
    assert "LDC-MEAN-ALL-Macro runA  0 " in outcome.files["call.summary"].decode()
