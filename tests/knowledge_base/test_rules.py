"""Rules of the specification that no recorded case tells apart, by their sections."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.knowledge_base.invented import FAMILY, Inputs
from tests.preparation.invented import AskedQuery

ANN = FAMILY[:3]
PLACES = tuple(
    line
    for number in (2, 3, 4, 5)
    for line in (
        f":Entity_{number}\ttype\tGPE",
        f':Entity_{number}\tmention\t"P{number}"\tENG_1:{10 * number}-{10 * number + 1}',
        f':Entity_{number}\tcanonical_mention\t"P{number}"\tENG_1:{10 * number}-{10 * number + 1}',
    )
)
EVENTS = tuple(
    line
    for number in (1, 2)
    for line in (
        f":Event_{number}\ttype\tLIFE.DIE",
        f':Event_{number}\tmention.actual\t"died"\tENG_1:{number}00-{number}03',
        f':Event_{number}\tcanonical_mention.actual\t"died"\tENG_1:{number}00-{number}03',
    )
)


@pytest.fixture
def inputs(tmp_path: Path) -> Inputs:
    return Inputs(tmp_path)


@pytest.mark.parametrize("column", [".5", "1.", "-0.5", "1e-05", "1.0E-05", "1.0e-5", "x"])
def test_3_3_what_is_no_confidence_is_a_fifth_column(column: str, inputs: Inputs) -> None:
    inputs.kb(*ANN, f':Entity_1\tmention\t"Ann"\tENG_1:6-8\t{column}')
    assert inputs.validate().status == 255
    assert inputs.report == [
        "ERROR: Wrong number of entries on line (expected 4, got 5) (kb.tac line 5)",
        "1 error encountered",
    ]


def test_3_3_a_confidence_before_an_exponent_is_taken_off_too(inputs: Inputs) -> None:
    inputs.kb(*ANN, ':Entity_1\tmention\t"Ann"\tENG_1:6-8\t5.0e-01\t0.9')
    assert inputs.validate("-output", "tac").status == 0
    assert inputs.report[0] == "WARNING: Confidence value in scientific format: 5.0e-01 (kb.tac line 5)"
    assert inputs.lines("kb.tac.valid")[-1] == ':Entity_1\tmention\t"Ann"\tENG_1:6-8\t0.500000000000'


@pytest.mark.parametrize(
    ("line", "comment"),
    [
        (':Entity_1\tmention\t"A#n"\tENG_1:6-8 \t0.5  # c', "# c"),
        (':Entity_1\tmention\t"A#n"\tENG_1:6-8\t0.5#c#d', "#c#d"),
        (':Entity_1\tmention\t"A\\"#n"\tENG_1:6-8\t0.5# "', '# "'),
        (':Entity_1\tmention\t"A#n"\tENG_1:6-8\t0.5\t\t', ""),
    ],
)
def test_3_2_a_comment_begins_outside_of_strings(line: str, comment: str, inputs: Inputs) -> None:
    inputs.kb(ANN[0], line, line.replace("mention", "canonical_mention"))
    assert inputs.validate("-output", "tac").status == 0
    assert inputs.lines("kb.tac.valid")[-1].endswith(f"\t0.5{comment}")


def test_3_2_a_quotation_that_is_never_closed_hides_a_comment(inputs: Inputs) -> None:
    inputs.kb(ANN[0], ':Entity_1\tmention\tA"n\tENG_1:6-8\t0.5 # c')
    assert inputs.validate().status == 255
    assert "ERROR: Wrong number of entries on line (expected 4, got 5) (kb.tac line 3)" in inputs.report


@pytest.mark.parametrize("predicate", ["children", "per:children", "PER:children", ":children", "0:children"])
def test_4_3_ways_to_name_a_domain(predicate: str, inputs: Inputs) -> None:
    inputs.kb(*FAMILY[:6], f":Entity_1\t{predicate}\t:Entity_2\tENG_1:6-21\t0.5")
    assert inputs.validate("-output", "tac").status == 0
    assert ":Entity_1\tper:children\t:Entity_2\tENG_1:6-21\t0.5" in inputs.lines("kb.tac.valid")


@pytest.mark.parametrize("written", [":String_9", ":Event_9", ":Entity_2"])
def test_4_5_a_mention_of_what_looks_like_a_node_is_read_as_text_once_it_is_quoted(
    written: str, inputs: Inputs
) -> None:
    """The object counts as it is written when a line is added, and as it is recorded ever after."""
    inputs.kb(
        ANN[0], f":Entity_1\tmention\t{written}\tENG_1:6-8", f":Entity_1\tcanonical_mention\t{written}\tENG_1:6-8"
    )
    inputs.validate("-ignore", "MULTIPLE_FILLS_ENTITY", "-output", "tac")
    assert not any("Only PREDICATE_JUSTIFICATION" in line for line in inputs.report)
    realis = "Unexpected value of realis (expected actual, generic, or other, got none)"
    assert any(realis in line for line in inputs.report) == (written == ":Event_9")
    if written != ":Event_9":
        assert f':Entity_1\tmention\t"{written}"\tENG_1:6-8\t1.0' in inputs.lines("kb.tac.valid")


def test_17_1_values_are_compared_in_the_order_in_which_they_were_first_recorded(inputs: Inputs) -> None:
    """The first justification of 2 gives way to 3, its second one stays; so 4 meets that, and not 3."""
    born = ":Entity_1\tper:city_of_birth\t:Entity_{}\tENG_1:{}-90\t{}"
    values = (born.format(2, 6, 0.1), born.format(2, 7, 0.9), born.format(3, 6, 0.5), born.format(4, 6, 0.7))
    inputs.kb(*ANN, *PLACES, *values)
    assert inputs.validate("-ignore", "NO_MENTIONS", "-output", "tac").status == 0
    kept = [line.split("\t")[2:5] for line in inputs.lines("kb.tac.valid") if "\tper:city_of_birth\t" in line]
    assert kept == [[":Entity_3", "ENG_1:6-90", "0.5"], [":Entity_2", "ENG_1:7-90", "0.9"]]


def test_17_2_answers_that_come_together_come_in_the_order_of_the_queries(inputs: Inputs) -> None:
    inputs.kb()
    inputs.validate("-output", "tac")
    ids = ("CSX_ENG_00000000b2", "CSX_ENG_00000000a1", "CSX_ENG_00000000c3")
    inputs.queries(*(AskedQuery(one, ("per:children",), docid="ENG_1", begin="6", end="8") for one in ids))
    inputs.resolve()
    assert tuple(line.split("\t")[0] for line in inputs.lines("run.tab")) == ids


def test_17_3_nodes_in_a_linking_file_come_in_the_order_of_their_names(inputs: Inputs) -> None:
    died = ":Event_{}\tlife.die:victim.actual\t:Entity_1\tENG_1:6-20;ENG_1:6-8;NIL\t0.5"
    inputs.kb(*ANN, *EVENTS[3:], *EVENTS[:3], died.format(2), died.format(1))
    assert inputs.validate("-output", "eal").status == 0
    linked = inputs.lines("event_arguments/linking/ENG_1")
    assert [line.partition("\t")[0] for line in linked] == ["inv1:Event_1.ENG_1", "inv1:Event_2.ENG_1"]


def test_17_4_the_first_normalized_mention_of_a_string_stands_for_it(inputs: Inputs) -> None:
    when = (
        ":String_1\ttype\tSTRING",
        ':String_1\tmention\t"May"\tENG_1:50-52',
        ':String_1\tcanonical_mention\t"May"\tENG_1:50-52',
        ':String_1\tnormalized_mention\t"2015-05"\tENG_1:50-52',
        ':String_1\tnormalized_mention\t"2015"\tENG_1:50-52',
        ":Event_1\tlife.die:time.actual\t:String_1\tENG_1:50-52;ENG_1:40-60;ENG_1:50-52;NIL\t0.5",
    )
    inputs.kb(*EVENTS[:3], *when)
    inputs.validate("-output", "eal")
    assert inputs.report[-1].endswith("warnings encountered") or inputs.report == ["No warnings encountered"]
    (line,) = inputs.lines("event_arguments/arguments/ENG_1")
    assert line.split("\t")[4:6] == ["2015-05", "50-52"]


def test_7_event_argument_files_are_utf_8(inputs: Inputs) -> None:
    inputs.kb(*(line.replace('"Ann"', '"Zoë 日"') for line in ANN), *EVENTS[:3],
              ":Event_1\tlife.die:victim.actual\t:Entity_1\tENG_1:6-20;ENG_1:6-8;NIL\t0.5")  # fmt: skip
    assert inputs.validate("-output", "eal").status == 0
    assert "\tZoë 日\t" in (inputs.folder / "event_arguments" / "arguments" / "ENG_1").read_bytes().decode("utf-8")


def test_9_answers_below_two_justifications_of_one_answer_come_twice(inputs: Inputs) -> None:
    second = ":Entity_1\tper:children\t:Entity_2\tENG_1:7-21\t0.4"
    inputs.kb(*FAMILY[:6], FAMILY[6], second, ":Entity_2\tper:spouse\t:Entity_1\tENG_1:6-21\t0.5")
    inputs.validate("-output", "tac")
    inputs.queries(AskedQuery("CSX_ENG_e2b374da95", ("per:children", "per:spouse"), docid="ENG_1", begin="6", end="8"))
    inputs.resolve()
    *_, one, other = inputs.lines("run.tab")
    assert one == other
    assert one.split("\t")[1] == "per:spouse"


def test_11_after_99999_mentions_the_letter_changes(inputs: Inputs) -> None:
    inputs.kb(*ANN, *[ANN[1]] * 99_999)
    assert inputs.validate("-output", "edl").status == 0
    ids = [line.split("\t")[1] for line in inputs.lines("kb.edl.valid")]
    assert (ids[0], *ids[-2:]) == (":Entity_1_M00001", ":Entity_1_M99999", ":Entity_1_N00000")


def test_12_a_predicate_called_like_a_module_of_the_reference_is_merely_illegal(inputs: Inputs) -> None:
    inputs.kb(*ANN, ":Entity_1\tLOGGER\t:Entity_1\tENG_1:6-8")
    assert inputs.validate().status == 255
    assert inputs.report[0] == "ERROR: Illegal predicate: LOGGER (kb.tac line 5)"


def test_2_3_predicates_of_ones_own_are_written_where_their_label_is_wanted(inputs: Inputs) -> None:
    inputs.write("my.predicates.txt", "# mine\n\nPER knows PER known_by\nper motto* string none\n")
    inputs.kb(*FAMILY, ":Entity_1\tknows\t:Entity_2\tENG_1:6-21\t0.5")
    own = ":Entity_1\tper:knows\t:Entity_2\tENG_1:6-21\t0.5"
    inverse = ":Entity_2\tper:known_by\t:Entity_1\tENG_1:6-21\t0.5"
    assert inputs.validate("-predicates", "my.predicates.txt", "-labels", "my:tac", "-output", "tac").status == 0
    assert {own, inverse} <= set(inputs.lines("kb.tac.valid"))
    assert inputs.validate("-predicates", "my.predicates.txt", "-output", "tac").status == 0
    assert not {own, inverse} & set(inputs.lines("kb.tac.valid"))


@pytest.mark.parametrize(
    ("line", "reported"),
    [
        ("per", "ERROR: Illegal predicate: knows (kb.tac line 14)"),
        ("per knows per", "WARNING: No inverse relation asserted for knows(:Entity_1, :Entity_2) (kb.tac line 14)"),
        ("per children per", "Attempt to redefine inverse of predicate per:children from parents to "),
    ],
)
def test_2_3_missing_columns_of_a_predicate_are_empty(line: str, reported: str, inputs: Inputs) -> None:
    inputs.write("my.predicates.txt", f"{line}\n")
    inputs.kb(*FAMILY, ":Entity_1\tper:knows\t:Entity_2\tENG_1:6-21\t0.5")
    inputs.validate("-predicates", "my.predicates.txt", "-labels", "MY:TAC", "-output", "tac")
    assert any(reported in shown for shown in inputs.report)
    if "WARNING" in reported:  # the inverse has the empty name
        assert ":Entity_2\tper:\t:Entity_1\tENG_1:6-21\t0.5" in inputs.lines("kb.tac.valid")


@pytest.mark.parametrize("beg", ["<beg>6</beg>", "<beg>6.0</beg>", "<beg> +6e0</beg>"])
@pytest.mark.parametrize(("end", "answers"), [("<end>8x</end>", 1), ("<end>eight</end>", 0), ("", 0)])
def test_16_3_offsets_of_queries_are_read_as_the_reference_reads_numbers(
    beg: str, end: str, answers: int, inputs: Inputs
) -> None:
    point = f"<name>Ann</name><docid>ENG_1</docid>{beg}{end}<enttype>per</enttype><slot0>per:children</slot0>"
    inputs.write("q.xml", f'<query_set><query id="CSX_ENG_e2b374da95">{point}</query></query_set>')
    inputs.kb(*FAMILY)
    inputs.validate("-output", "tac")
    assert inputs.resolve("--explain", "why.tsv").status == 0
    assert len(inputs.lines("run.tab")) == answers
    pool = "1\tCSX_ENG_e2b374da95:per:children\tENG_1:6-21\tBo\tENG_1:20-21\tC\tNAM\tC\tCSX_ENG_e2b374da95:1\tNAM"
    inputs.write("pool.tab", f"{pool}\n")
    for command in ("score", "analyze"):
        said = inputs.call(command, "q.xml", "kb.tac", "pool.tab").stderr
        assert f"{answers} of 1 queries found their entity, {answers} answers".encode() in said


def test_16_2_only_lower_case_predicates_without_generic_realis_count(inputs: Inputs) -> None:
    inputs.write(
        "kb.tac.valid",
        "r1\n:Entity_1\tTYPE\tORG\n:Entity_1\tmention\t\"A\"\tD:6-8\t1.0\n:Entity_2\tCANONICAL_MENTION\t\"no\"\tD:1-2\t1.0\n"
        ":Entity_2\tcanonical_mention.generic\t\"nor\"\tD:1-2\t1.0\n:Entity_2\tcanonical_mention.other\t\"B\"\tD:3-4\n"
        ":Entity_1\tper:children.actual\t:Entity_2\tD:6-9\t0.5\n:Entity_1\tper:children.generic\t:Entity_2\tD:6-9\t0.5\n"
        ":Entity_2\ttype\tper\t\n:Entity_2\ttype\tGpe\n",
    )  # fmt: skip
    inputs.queries(AskedQuery("CSX_ENG_e2b374da95", ("per:children",), docid="D", begin="6", end="8"))
    assert inputs.resolve().status == 0
    (line,) = inputs.lines("run.tab")
    assert line.split("\t")[3:] == ["D:6-9", "B", "Gpe", "D:3-4", "0.5", ":Entity_2"]


def test_16_4_any_predicate_may_be_asked_for(inputs: Inputs) -> None:
    """Mentions in documents where no entry point lies are not passed over where a slot asks for them."""
    inputs.kb(*ANN, ':Entity_1\tmention\t"Anna"\tENG_2:6-9', ':Entity_1\tcanonical_mention\t"Anna"\tENG_2:6-9')
    inputs.validate("-output", "tac")
    inputs.queries(AskedQuery("CSX_ENG_e2b374da95", ("mention",), docid="ENG_1", begin="6", end="8"))
    inputs.resolve()
    assert [line.split("\t")[6] for line in inputs.lines("run.tab")] == ["ENG_1:6-8", "ENG_2:6-9"]
