"""Where executions of the reference differ on one input, the rule by which this scorer chooses."""

from __future__ import annotations

import pytest

from cs_score.base.records import replace
from tests.coldstart.handmade import Inputs, average_precision, blocks, labels, ranking, report
from tests.coldstart.lines import BIRTHPLACE, CHILDREN, Line, Q, query_xml, sf_query

BO, CY = Line(), Line("Cy", "N_ENG_2", "0.8", ":E2")
DI = Line("Di", "N_ENG_3", "0.7", ":E3")
TWO_FILES = ("pool.tab", "run.tab", "second.tab")


@pytest.mark.parametrize("order", [("N_ENG_Q", "N_ENG_R"), ("N_ENG_R", "N_ENG_Q")])
@pytest.mark.rule("best-entry-point")
def test_of_tied_entry_points_the_first_stands_for_the_ldc_query(order: tuple[str, str], inputs: Inputs) -> None:
    """Both find nothing; one has an answer to find, the other two."""
    asked = {docid: sf_query(docid=docid) for docid in order}
    inputs.queries(query_xml(docids=order))
    other = asked["N_ENG_R"]
    inputs.pool(BO.judged("1"), replace(BO, query=other).judged("1"), replace(CY, query=other).judged("2"))
    inputs.run(replace(BO, value="No"), replace(BO, value="No", query=other, node=":E2"))
    table = inputs.score().outcome.files["out.ldcmax"].decode()
    ground_truth = [line.split("\t")[3].strip() for line in table.split("\n") if line.startswith("CSX_0001\t")]
    assert ground_truth == ["1" if order[0] == "N_ENG_Q" else "2"]


@pytest.mark.parametrize(("found", "nothing"), [("N_ENG_Q", "N_ENG_R"), ("N_ENG_R", "N_ENG_Q")])
@pytest.mark.rule("ground-truth-of-means")
def test_the_largest_ground_truth_of_a_group_counts(found: str, nothing: str, inputs: Inputs) -> None:
    """The group of both entry points is one of the two that divide, whichever member has nothing to find."""
    right, empty = replace(BO, query=sf_query(docid=found)), replace(CY, query=sf_query(docid=nothing))
    missed = replace(CY, query=sf_query(docid="N_ENG_S"))
    inputs.queries(query_xml(docids=(found, nothing)), query_xml(2, docids=("N_ENG_S",)))
    inputs.pool(right.judged("1"), empty.judged(), missed.judged("1"))
    inputs.run(right, empty)
    table = inputs.score().outcome.files["out.ldcmean"].decode()
    assert "CSX_0001\trunA\t0\t0.5000\t0.5000\t0.5000\n" in table
    assert "ALL-Macro\trunA\t0\t0.2500\t0.2500\t0.2500\n" in table


@pytest.mark.parametrize(("first", "second", "right"), [("0.5", "0.8", 1), ("0.8", "0.5", 0), ("0.5", "0.5", 0)])
@pytest.mark.rule("single-value-winner")
def test_a_single_valued_slot_keeps_the_most_confident_then_the_first(
    first: str, second: str, right: int, inputs: Inputs
) -> None:
    """Duplicates are wrong here, so that the second class does not count twice for average precision."""
    inputs.queries(query_xml(slots=(BIRTHPLACE,)))
    asked = {"query": sf_query((BIRTHPLACE,)), "slot": BIRTHPLACE}
    lines = [replace(BO, **asked, confidence=first), replace(CY, **asked, confidence=second)]
    inputs.pool(lines[0].judged("1"), lines[1].judged("2"))
    inputs.run(*lines)
    found = labels(inputs.score("-wrong", "INCORRECT:INCORRECT_PARENT:INEXACT:DUPLICATE", "-ignore", "UNASSESSED"))
    assert [text == "RIGHT" for text in found] == [right == 0, right == 1]


@pytest.mark.rule("document-of-a-line")
def test_the_value_provenance_tells_the_document_of_a_line(inputs: Inputs) -> None:
    """Two documents by value provenance, one by relation provenance: V is 1 of 2 and not 1 of 1; so for limits."""
    astray = replace(CY, relation="N_ENG_1:1-20")
    inputs.pool(BO.judged("1"), astray.judged("1"))
    inputs.run(BO)
    scored = inputs.score(status=255)
    assert "Multiple DOCIDs used in response" in report(scored)
    assert ranking(scored)[0].value == "0.5000"
    for second, is_discarded in (
        (replace(astray, node=":E1"), False),
        (replace(CY, node=":E1", docid="N_ENG_1", span="7-9", relation="N_ENG_2:1-20"), True),
    ):
        inputs.run(BO, second)
        assert ("discarded" in report(inputs.score(status=255))) is is_discarded


@pytest.mark.rule("equal-lines")
def test_nodes_of_equal_confidence_and_line_rank_in_load_order(inputs: Inputs) -> None:
    twin = replace(CY, confidence=BO.confidence)
    inputs.pool(BO.judged("1"))
    inputs.run(BO)
    inputs.run(twin, name="second.tab")
    for files, order, score in ((TWO_FILES, "12", 1), (("pool.tab", "second.tab", "run.tab"), "21", 0.5)):
        scored = inputs.score(files=files)
        assert [node.node for node in ranking(scored)] == [f"{Q}:E{n}" for n in order]
        assert average_precision(scored) == average_precision(scored, "ALL") == score


@pytest.mark.rule("equal-lines")
def test_lines_of_equal_confidence_and_number_are_discarded_in_load_order(inputs: Inputs) -> None:
    inputs.run(BO)
    inputs.run(replace(BO, value="Bo Q"), name="second.tab")
    assert "(second.tab line 1)" in report(inputs.score(files=("run.tab", "second.tab")))
    assert "(run.tab line 1)" in report(inputs.score(files=("second.tab", "run.tab")))


@pytest.mark.parametrize("files", [TWO_FILES, ("pool.tab", "second.tab", "run.tab")])
@pytest.mark.parametrize(("classes", "last"), [(("1", "2"), "2"), (("2", "1"), "2"), (("9", "10"), "9")])
@pytest.mark.rule("last-class-name")
def test_of_classes_with_equal_value_and_line_the_last_as_a_string_is_taken(
    classes: tuple[str, str], last: str, files: tuple[str, ...], inputs: Inputs
) -> None:
    other = replace(CY, node=":E1")
    inputs.pool(BO.judged(classes[0]), other.judged(classes[1]))
    inputs.run(BO)
    inputs.run(other, name="second.tab")
    assert [node.mapped for node in ranking(inputs.score(files=files))] == [f"{Q}:{last}"]


@pytest.mark.rule("first-loaded-block")
def test_the_line_loaded_first_shows_the_labels_of_all(inputs: Inputs) -> None:
    """Of three lines with two numbers; the labels are sorted, the numbers ascending."""
    inputs.pool(BO.judged("1"), CY.judged("1"), DI.judged("2"))
    inputs.run(BO, DI)
    inputs.run(CY, name="second.tab")
    found = [(block.submission, block.after) for block in blocks(inputs.score(files=TWO_FILES))]
    assert found == [(BO.text(), "IGNORE,REDUNDANT,RIGHT"), (DI.text(), "RIGHT")]


@pytest.mark.rule("resample-order")
def test_missing_values_stand_with_zeros_in_the_order_of_the_samples(inputs: Inputs) -> None:
    """Hop 1 is answered wrongly in sample 1, which gives 0, and absent from sample 2, which gives nothing."""
    other = sf_query(docid="N_ENG_R")
    inputs.queries(query_xml(), query_xml(2, docids=("N_ENG_R",)))
    second = replace(CY, query=other)
    inputs.pool(BO.judged("1"), BO.child().judged("1:1"), second.judged("1"))
    inputs.run(BO, second)
    zero, absent = f"CSX_0001:{Q}", f"CSX_0002:{other}"
    for groups, low, high in (((zero, absent), "0.0000", "0.0000"), ((absent, zero), "", "")):
        inputs.lines(*(f"{number} {group}" for number, group in enumerate(groups, 1)), name="samples.txt")
        text = inputs.score("-samples", "samples.txt").outcome.files["out.confidence"].decode()
        (line,) = (line for line in text.split("\n") if line.startswith("ALLEP_SLOTFLG_Mi_1_F "))
        cells = line.split(" ")
        assert (cells[1], cells[-1]) == (low, high)


@pytest.mark.rule("discarded-single-values")
def test_of_discarded_nodes_the_one_with_the_first_line_is_kept(inputs: Inputs) -> None:
    """Both children hang below the second justification of their parent, which the limit discards."""
    inputs.queries(query_xml(slots=(CHILDREN, "per:age")))
    query = sf_query((CHILDREN, "per:age"))
    parent = replace(BO, query=query)
    second = replace(parent, value="Bo Q", confidence="0.5", span="7-9")
    first_age, other_age = (second.child(value, node, "per:age") for value, node in (("41", ":Z"), ("42", ":A")))
    inputs.run(parent, second, first_age, other_age)
    said = report(inputs.score())
    # Discarded with the parent and, by the slot, one more time: only the line of the later node.
    assert said.count(f"{other_age.text()} (run.tab line 4)\n") == 2  # the report stands twice
    assert f"{first_age.text()} (run.tab" not in said


@pytest.mark.rule("several-fatal-defects")
def test_an_unknown_query_is_said_before_the_faults_of_the_line(inputs: Inputs) -> None:
    unknown = replace(BO, query="CSX_ENG_0123456789")
    inputs.run(BO)
    inputs.pool(unknown.judged("0", "C"))
    assert "Query CSX_ENG_0123456789 not loaded" in inputs.refusal()
    inputs.pool(BO.judged("0", "C"))
    assert "Correct entry without equivalence class" in inputs.refusal()


def test_a_field_that_is_named_twice_has_two_columns(inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"), CY.judged("2"))
    inputs.run(BO, CY)
    lines = inputs.call("-fields", "EC:F:EC").files["call.sf"].decode().splitlines()
    assert [line.split() for line in lines[:2]] == [["QID/EC", "F1", "QID/EC"], [Q, "1.0000", Q]]


@pytest.mark.rule("average-precision")
def test_a_single_valued_third_slot_takes_nothing_from_its_level(inputs: Inputs) -> None:
    """Below the second hop each class counts."""
    slots = (CHILDREN, CHILDREN, "per:age")
    bo = Line(query=sf_query(slots))
    son = bo.child("Cy", ":C1", CHILDREN)
    age, other = (son.child(value, None, "per:age") for value in ("5", "6"))
    inputs.queries(query_xml(slots=slots))
    inputs.pool(bo.judged("1"), son.judged("1:1"), age.judged("1:1:1"), other.judged("1:1:2"))
    inputs.run(bo)
    debug = inputs.score().outcome.files["out.debug"].decode()
    assert "LEVEL:            2\nAP:               0.0000\nNUM_GROUND_TRUTH: 2\n" in debug
