"""What the reference does oddly and scripts rely on, where no recorded case shows it; marked by rule."""

from __future__ import annotations

import re

import pytest

from benchmarks.generate import follow_on_id
from tests.coldstart.lines import CHILDREN, SCHOOLS
from tests.verbs.preparation.invented import QUERY, AskedQuery, Inputs, Judged, RunLine, column, report_lines, written

VALUE, NODE = 4, 8


@pytest.mark.parametrize("depth", ["", "B:1", "A:1"])
@pytest.mark.rule("below-skipped-lines")
def test_children_of_skipped_lines_are_left_out_of_eight_column_runs(depth: str, inputs: Inputs) -> None:
    skipped = RunLine(slot="per:age", node=None)
    child = skipped.child()
    inputs.lines(RunLine("Cy", node=None), skipped, RunLine("Yale", query=child.query, slot=SCHOOLS, node=None))
    outcome = inputs.validate("-depth", depth)
    assert column(outcome, VALUE) == ["Cy"]
    if not depth:
        assert len(report_lines(outcome)) == 3  # the slot, what standard error alone says of it, the closing line
        assert "1 queries are left out" in report_lines(outcome)[0]
        assert child.query in report_lines(outcome)[0]


@pytest.mark.rule("report-on-standard-output", "none-in-lower-case")
def test_where_runs_and_reports_go(inputs: Inputs) -> None:
    words = ("q.xml", "run.tab")
    inputs.lines(RunLine(confidence="7"))
    outcome = inputs.call("validate-run", "-output_file", "out", *words)
    assert (outcome.status, outcome.files) == (255, {})  # after errors nothing is written
    inputs.lines(RunLine())
    outcome = inputs.call("validate-run", "-error_file", "STDOUT", "-output_file", "out", *words)
    assert outcome.stdout == b"No warnings encountered\n"
    assert outcome.files == {"out": f"{RunLine().text()}\n".encode()}
    assert inputs.call("validate-run", "-output_file", "none", *words).files == {}
    assert list(inputs.call("validate-run", "-output_file", "None", *words).files) == ["None"]


@pytest.mark.rule("depth-without-node-ids")
def test_a_depth_discards_nothing_of_eight_columns(inputs: Inputs) -> None:
    parent = RunLine(node=None)
    child = RunLine("Yale", query=parent.child().query, slot=SCHOOLS, node=None)
    inputs.lines(parent, RunLine("Cy", node=None), child)
    for depth in ("A:1", "B:1"):
        outcome = inputs.validate("-depth", depth)
        assert column(outcome, VALUE) == ["Bo", "Cy", "Yale"]
        assert report_lines(outcome) == ["No warnings encountered"]


@pytest.mark.rule("depth-without-node-ids")
def test_the_node_without_name_takes_one_of_the_places(inputs: Inputs) -> None:
    inputs.lines(RunLine(), RunLine("Cy", node="0", span="6-9"), RunLine("Di", node="0", span="10-12"))
    assert column(inputs.validate("-depth", "A:1"), VALUE) == ["Cy", "Di"]
    assert written(inputs.validate("-depth", "B:0")) == []


@pytest.mark.rule("node-id-0")
def test_a_single_valued_query_keeps_lines_with_node_id_0(inputs: Inputs) -> None:
    """The reference dies of it."""
    inputs.queries(AskedQuery(slots=("per:age",)))
    inputs.lines(*(RunLine(value, slot="per:age", node="0") for value in ("40", "41")))
    assert column(inputs.validate(), VALUE) == ["40", "41"]


@pytest.mark.rule("groundtruth-switch", "made-up-node-ids")
def test_groundtruth_does_nothing_and_made_up_nodes_depend_on_the_input(inputs: Inputs) -> None:
    inputs.lines(RunLine(node=None), RunLine("Cy", run_id="r2", node=None))
    first = inputs.validate("-groundtruth")
    assert first == inputs.validate()
    inputs.lines(RunLine("Di", node=None))
    assert column(first, NODE)[0] != column(inputs.validate(), NODE)[0]


def _queries(inputs: Inputs, *words: str) -> tuple[int, str, str]:
    """Status, output and report of validate-queries."""
    for name in ("out.xml", "out.log"):
        (inputs.folder / name).unlink(missing_ok=True)
    outcome = inputs.call("validate-queries", "-error_file", "out.log", *words, "q.xml", "out.xml")
    report = outcome.files.get("out.log", b"") + outcome.stderr
    return outcome.status, outcome.files.get("out.xml", b"").decode(), report.decode()


def test_places_that_do_not_fit_cut_the_slot_that_does_not_fit(inputs: Inputs) -> None:
    inputs.queries(AskedQuery(slots=("per:cities_of_residence", "gpe:residents_of_country", CHILDREN)))
    status, output, _ = _queries(inputs, "-subtypes", "delete-slot")  # the slot that does not fit
    assert (status, re.findall("<slot.*?>(.*?)<", output)) == (0, ["per:cities_of_residence"])


@pytest.mark.rule("retained-slots")
def test_retain_sf_knows_the_inverse_form_of_event_slots_only(inputs: Inputs) -> None:
    inputs.queries(
        AskedQuery("CSX_0001", slots=("conflict.attack:place",)),
        AskedQuery("CSX_0002", slots=("per:conflict.attack_attacker",)),
        AskedQuery("CSX_0003", slots=("per:likes",)),
        AskedQuery("CSX_0004", slots=(CHILDREN, "per:dislikes", "per:likes")),
    )
    _, output, _ = _queries(inputs, "-retain_sf")
    assert re.findall('id="(.*?)"', output) == ["CSX_0001", "CSX_0004"]
    assert re.findall("<(slot.)>(.*?)<", output)[1:] == [("slot0", CHILDREN), ("slot2", "per:likes")]


@pytest.mark.rule("second-round-ids")
def test_the_ids_of_second_round_queries_are_kept(inputs: Inputs) -> None:
    inputs.queries(AskedQuery(f"{QUERY}_0123456789ab"))
    assert f'<query id="{QUERY}_0123456789ab">' in _queries(inputs)[1]
    assert _queries(inputs, "-expand", "-types", "delete-slot")[0] == 0


@pytest.mark.rule("report-of-the-first-round")
def test_no_report_file_of_the_first_round(inputs: Inputs) -> None:
    inputs.queries(AskedQuery(docids=("NW_1",)))
    outcome = inputs.call("generate-queries", "-error_file", "log", "q.xml", "out.xml")
    assert (outcome.status, outcome.files["log"], outcome.stderr) == (0, b"", b"")
    assert b"Unable to infer language" in inputs.call("generate-queries", "q.xml", "out2.xml").stderr


def _assessments(inputs: Inputs, *lines: Judged, words: tuple[str, ...] = ()) -> dict[str, str]:
    """The files of an assessment that is validated without errors, by language."""
    for path in inputs.folder.glob("out.*"):
        path.unlink()
    inputs.lines(*lines, name="qrel")
    outcome = inputs.call("validate-assessments", "-output_file", "out", *words, "q.xml", "qrel")
    assert outcome.status == 0, outcome.stderr
    return {name.removeprefix("out."): text.decode() for name, text in outcome.files.items()}


@pytest.mark.rule("languages-switch")
def test_languages_selects_nothing(inputs: Inputs) -> None:
    assert _assessments(inputs, Judged(), words=("-languages", "CMN")) == _assessments(inputs, Judged())
    outcome = inputs.call("validate-assessments", "-languages", "ENG:FRA", "q.xml", "qrel")
    assert outcome.status == 255
    assert b"Unexpected language FRA for -languages" in outcome.stderr


def _kept(inputs: Inputs, *words: str) -> list[str]:
    outcome = inputs.call("apply-k", *words, "run.tab", "kept.tab")
    assert outcome.status == 0
    return (inputs.folder / "kept.tab").read_text(encoding="utf-8").split("\n")[:-1]


@pytest.mark.rule("apply-k-provenances")
def test_provenances_that_are_not_canonical_orphan_their_children(inputs: Inputs) -> None:
    canonical = follow_on_id(QUERY, "Bo", "ENG_1:3-5,ENG_1:8-9")
    for span, kept in (("3-5,ENG_1:8-9", 2), ("8-9,ENG_1:3-5", 1)):
        inputs.lines(RunLine(span=span), RunLine("Yale", query=canonical, slot=SCHOOLS, node=":C1"))
        assert len(_kept(inputs)) == kept


@pytest.mark.rule("apply-k-any-number")
def test_m_discards_everything_and_is_warned_of(inputs: Inputs) -> None:
    inputs.lines(RunLine())
    outcome = inputs.call("apply-k", "-justifications", "1:M", "run.tab", "kept.tab")
    assert outcome.files == {"kept.tab": b""}
    assert b"warning: -justifications leaves no document for a node (M counts as 0 here)" in outcome.stderr


def test_node_ids_without_a_colon_in_front_are_remarked_on(inputs: Inputs) -> None:
    inputs.lines(RunLine(node="E4"), RunLine("Cy", node="x:y"), RunLine("Di"))
    outcome = inputs.validate()
    assert column(outcome, NODE) == ["E4", "x:y", ":E1"]
    assert report_lines(outcome)[0].endswith(
        "warning: 2 line(s) have a node id without a colon in front (E4, x:y): average precision never ranks such "
        "nodes; write :E4"
    )
    inputs.lines(RunLine(node="0"), RunLine("Di"))
    assert report_lines(inputs.validate()) == ["No warnings encountered"]


def test_a_slot1_that_is_left_out_is_written_as_empty_one(inputs: Inputs) -> None:
    point = "<name>Ann</name><docid>N_ENG_Q</docid><beg>5</beg><end>9</end><enttype>per</enttype>"
    slots = f"<slot0>{CHILDREN}</slot0><slot2>{SCHOOLS}</slot2>"
    inputs.write("in.xml", f'<query id="CSX_0001">{point}{slots}</query>\n')
    outcome = inputs.call("validate-queries", "in.xml", "out.xml")
    assert f"    <slot0>{CHILDREN}</slot0>\n    <slot1></slot1>\n    <slot2>".encode() in outcome.files["out.xml"]
    inputs.write("in.xml", f'<query id="CSX_0001">{point}<slot>{CHILDREN}</slot></query>\n')
    (inputs.folder / "out.xml").unlink()
    outcome = inputs.call("validate-queries", "in.xml", "out.xml")
    assert f"    <slot0>{CHILDREN}</slot0>\n".encode() in outcome.files["out.xml"]


@pytest.mark.parametrize(("languages", "is_written"), [("0", True), ("", True), (":", False), ("SPANISH", False)])
def test_languages_0_are_all_and_a_colon_none(inputs: Inputs, languages: str, is_written: bool) -> None:
    outcome = inputs.call("validate-queries", "-languages", languages, "q.xml", "out.xml")
    assert (b"<query id" in outcome.files["out.xml"]) == is_written
