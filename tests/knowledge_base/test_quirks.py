"""Oddities of the reference, kept or not, by their numbers in the specification (section 18)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.knowledge_base.invented import ANN, FAMILY, Inputs
from tests.preparation.invented import AskedQuery

TYPED = (":Entity_1\ttype\tPER", ':Entity_1\tmention\t"A"\tD:1-1', ':Entity_1\tcanonical_mention\t"A"\tD:1-1')
EVENT = (
    ":Event_1\ttype\tLIFE.DIE",
    ':Event_1\tmention.actual\t"died"\tD:418-424',
    ':Event_1\tcanonical_mention.actual\t"died"\tD:418-424',
)


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    return Inputs(tmp_path)


def test_1_a_missing_output_folder_is_made(inputs: Inputs) -> None:
    inputs.kb()
    assert inputs.validate("-output", "tac", "-output_dir", "new").status == 0
    assert (inputs.folder / "new" / "kb.tac.valid").exists()


def test_2_only_the_closing_line_goes_to_standard_output(inputs: Inputs) -> None:
    inputs.kb(*FAMILY[:-5])
    outcome = inputs.call("validate-kb", "-error_file", "StdOut", "-labels", "X", "kb.tac")
    assert outcome.stdout == b"WARNING: 'TAC' not included in output labels\n1 warning encountered\n"
    assert b"No inverse relation asserted" in outcome.stderr


def test_3_a_missing_run_id_shifts_line_numbers(inputs: Inputs) -> None:
    inputs.kb(first=":Entity_9\ttype\tPERSON")
    inputs.validate()
    assert "ERROR: Illegal node type: person (kb.tac line 2)" in inputs.report
    assert "ERROR: The first line of the file does not contain a legal runid (kb.tac line 1)" in inputs.report


def test_5_nugget_spans_are_subtracted_the_wrong_way_round(inputs: Inputs) -> None:
    inputs.kb(*EVENT)
    assert inputs.validate("-output", "nug").status == 0
    assert inputs.lines("kb.nug.valid")[1].split("\t")[3:] == ["418,413", "died", "Life_Die", "Actual"]


def test_6_texts_are_escaped_in_sentiment_files(inputs: Inputs) -> None:
    inputs.kb(*(line.replace('"A"', '"A & <B>"') for line in TYPED))
    assert inputs.validate("-output", "sen").status == 0
    written = (inputs.folder / "sentiments" / "predicted-ere" / "D.rich_ere.xml").read_text()
    assert "<mention_text>A &amp; &lt;B&gt;</mention_text>" in written


def test_8_the_justification_below_an_event_begins_with_a_comma(inputs: Inputs) -> None:
    relation = "D:400-424;D:1-1;NIL"
    inputs.kb(*TYPED, *EVENT, f":Event_1\tvictim.actual\t:Entity_1\t{relation}")
    inputs.validate("-output", "tac")
    inputs.queries(AskedQuery("CSX_ENG_97402d448d", ("life.die:victim",), docid="D", begin="418", end="424"))
    inputs.resolve()
    assert inputs.lines("run.tab")[0].split("\t")[3] == ",D:400-424"


def test_10_a_realis_of_no_predicate_is_called_illegal(inputs: Inputs) -> None:
    inputs.kb(*TYPED, ":Entity_1\tper:nothing.actual\t:Entity_1\tD:1-1")
    inputs.validate()
    assert "ERROR: Illegal realis: actual (kb.tac line 5)" in inputs.report


def test_11_the_file_name_never_becomes_a_comment(inputs: Inputs) -> None:
    inputs.kb(name="kb")
    inputs.validate("-output", "tac", name="kb")
    assert not any("#" in line or line.endswith("kb") for line in inputs.lines("kb.tac.valid"))


@pytest.mark.parametrize("column", ["", "NIL", "0"])
def test_12_a_mention_without_span_is_an_error(column: str, inputs: Inputs) -> None:
    inputs.kb(":Entity_1\ttype\tPER", f':Entity_1\tmention\t"A"\t{column}\t0.5')
    outcome = inputs.validate("-output", "tac")
    assert outcome.status == 255
    assert any("Only PREDICATE_JUSTIFICATION is expected" in line for line in inputs.report)


def test_13_links_of_events_have_two_errors(inputs: Inputs) -> None:
    inputs.kb(*EVENT, ":Event_1\tlink\tKB:1")
    inputs.validate()
    assert "ERROR: Illegal predicate: link (kb.tac line 5)" in inputs.report
    assert any(line.startswith("ERROR: Unexpected value of realis") for line in inputs.report)


def test_14_the_expected_number_of_parts_of_a_mention_is_that_of_a_relation(inputs: Inputs) -> None:
    inputs.kb(*EVENT, ':Event_1\tmention.actual\t"died"\tD:1-2;D:3-4')
    inputs.validate()
    assert any("provided=(2) expected=(3)" in line for line in inputs.report)


def test_15_a_link_with_realis_has_three_columns(inputs: Inputs) -> None:
    inputs.kb(*TYPED, ":Entity_1\tlink.actual\tKB:1")
    inputs.validate()
    assert inputs.report[0] == "ERROR: Unexpected value of realis (expected none, got actual) (kb.tac line 5)"


def test_16_a_mention_before_the_type_is_ambiguous(inputs: Inputs) -> None:
    inputs.kb(*reversed(TYPED))
    inputs.validate()
    assert "ERROR: mention: ambiguous predicate (kb.tac line 3)" in inputs.report


def test_17_a_named_and_a_nominal_mention_need_a_canonical_one(inputs: Inputs) -> None:
    inputs.kb(":Entity_1\ttype\tPER", ':Entity_1\tmention\t"A"\tD:1-1', ':Entity_1\tnominal_mention\t"b"\tD:3-3')
    assert inputs.validate().status == 255
    assert inputs.report[0].startswith("ERROR: Node :Entity_1 has more than one named/nominal mention in document D")


def test_18_reports_and_statistics_are_overwritten_and_outputs_refused(inputs: Inputs) -> None:
    inputs.kb()
    inputs.write("log", "old")
    inputs.write("st", "old")
    words = ("validate-kb", "-error_file", "log", "-stats_file", "st", "-output", "tac", "kb.tac")
    assert inputs.call(*words).status == 0
    assert inputs.report == ["No warnings encountered"]
    assert inputs.lines("st")[0] == "RUNID\t\tinv1"
    outcome = inputs.call(*words)
    assert outcome.status == 255
    assert b"Output file already exists at ./kb.tac.valid: " in outcome.stderr


def test_20_only_the_first_entry_point_counts_and_a_remark_says_so(inputs: Inputs) -> None:
    inputs.kb()
    inputs.validate("-output", "tac")
    second = "<name>x</name><docid>ENG_1</docid><beg>20</beg><end>21</end>"
    inputs.queries(AskedQuery(ANN.id, ("per:age",), docid="ENG_1", begin="6", end="8", more=second))
    outcome = inputs.resolve()
    assert (outcome.status, inputs.lines("run.tab")) == (0, [])
    assert b"has several entry points; only the first is used" in outcome.stderr


def test_21_an_id_that_no_question_can_follow_ends_the_program_and_leaves_no_run(inputs: Inputs) -> None:
    inputs.kb()
    inputs.validate("-output", "tac")
    inputs.queries(AskedQuery("CSX_0001", ("per:children",), docid="ENG_1", begin="6", end="8"))
    outcome = inputs.resolve()
    assert outcome.status == 255
    assert b'unexpected argument: "CSX_0001_' in outcome.stderr
    assert not (inputs.folder / "run.tab").exists()


def test_22_a_byte_order_mark_is_no_part_of_the_run_id(inputs: Inputs) -> None:
    inputs.kb(first="\ufeffrun7")
    inputs.validate("-output", "tac:edl")
    assert inputs.lines("kb.tac.valid")[0] == "run7"
    assert inputs.lines("kb.edl.valid")[0].startswith("run7\t")


@pytest.mark.parametrize("kind", ["bytes", "folder"])
def test_23_what_is_no_text_ends_in_one_line(kind: str, inputs: Inputs) -> None:
    if kind == "bytes":
        inputs.write("kb.tac", b"r1\n:Entity_1\ttype\tPER\n\xff\n")
    else:
        (inputs.folder / "kb.tac").mkdir()
    outcome = inputs.validate("-output", "tac")
    assert outcome.status == 255
    assert len(outcome.stderr.splitlines()) == 1
    assert (b"kb.tac: line 3: not UTF-8" if kind == "bytes" else b"Is a directory") in outcome.stderr


def test_24_repeated_type_lines_are_all_written(inputs: Inputs) -> None:
    inputs.kb(*TYPED, ":Entity_1\ttype\tper")
    inputs.validate("-output", "tac")
    assert [line for line in inputs.lines("kb.tac.valid") if "\ttype\t" in line] == [
        ":Entity_1\ttype\tPER\t",
        ":Entity_1\ttype\tper\t",
    ]
