"""Rules of the programs for knowledge bases that no recorded case shows; those with a name are marked with it."""

from __future__ import annotations

from typing import Final

import pytest

from tests.verbs.knowledge_base.invented import ANN as ASKED
from tests.verbs.knowledge_base.invented import FAMILY, Inputs
from tests.verbs.preparation.invented import AskedQuery

ANN: Final = FAMILY[:3]
TYPED: Final = (":Entity_1\ttype\tPER", ':Entity_1\tmention\t"A"\tD:1-1', ':Entity_1\tcanonical_mention\t"A"\tD:1-1')
EVENT: Final = (
    ":Event_1\ttype\tLIFE.DIE",
    ':Event_1\tmention.actual\t"died"\tD:418-424',
    ':Event_1\tcanonical_mention.actual\t"died"\tD:418-424',
)
PLACES: Final = tuple(
    line
    for number in (2, 3, 4, 5)
    for line in (
        f":Entity_{number}\ttype\tGPE",
        f':Entity_{number}\tmention\t"P{number}"\tENG_1:{10 * number}-{10 * number + 1}',
        f':Entity_{number}\tcanonical_mention\t"P{number}"\tENG_1:{10 * number}-{10 * number + 1}',
    )
)
EVENTS: Final = tuple(
    line
    for number in (1, 2)
    for line in (
        f":Event_{number}\ttype\tLIFE.DIE",
        f':Event_{number}\tmention.actual\t"died"\tENG_1:{number}00-{number}03',
        f':Event_{number}\tcanonical_mention.actual\t"died"\tENG_1:{number}00-{number}03',
    )
)
NO_SPAN: Final = "Only PREDICATE_JUSTIFICATION is expected"
FIFTH: Final = "ERROR: Wrong number of entries on line (expected 4, got 5) (kb.tac line 5)"
REALIS: Final = "ERROR: Unexpected value of realis"


@pytest.mark.parametrize(
    ("lines", "reported"),
    [
        *(((*ANN, f"{ANN[1]}\t{column}"), [FIFTH]) for column in (".5", "1.", "-0.5", "1e-05", "1.0E-05", "x")),
        # A quotation that is never closed hides a comment
        ((*ANN[:1], ANN[1], ANN[2], ':Entity_1\tmention\tA"n\tENG_1:6-8\t0.5 # c'), [FIFTH]),
        ((*ANN, ":Entity_1\tLOGGER\t:Entity_1\tENG_1:6-8"), ["ERROR: Illegal predicate: LOGGER (kb.tac line 5)"]),
        (
            (*TYPED, ":Entity_1\tper:nothing.actual\t:Entity_1\tD:1-1"),
            ["ERROR: Illegal realis: actual (kb.tac line 5)"],
        ),
        *(((TYPED[0], f':Entity_1\tmention\t"A"\t{column}\t0.5'), [NO_SPAN]) for column in ("", "NIL", "0")),
        ((*EVENT, ":Event_1\tlink\tKB:1"), ["ERROR: Illegal predicate: link (kb.tac line 5)", REALIS]),
        ((*EVENT, ':Event_1\tmention.actual\t"died"\tD:1-2;D:3-4'), ["provided=(2) expected=(3)"]),
        ((*TYPED, ":Entity_1\tlink.actual\tKB:1"), [f"{REALIS} (expected none, got actual) (kb.tac line 5)"]),
        (tuple(reversed(TYPED)), ["ERROR: mention: ambiguous predicate (kb.tac line 3)"]),
        (
            (*TYPED[:2], ':Entity_1\tnominal_mention\t"b"\tD:3-3'),
            ["ERROR: Node :Entity_1 has more than one named/nominal mention in document D"],
        ),
    ],
)
@pytest.mark.rule(
    "event-links",
    "link-with-realis",
    "mention-without-span",
    "type-lines-first",
    "expected-mention-parts",
    "competing-canonical-mentions",
    "legal-realis-called-illegal",
)
def test_what_is_an_error(lines: tuple[str, ...], reported: list[str], inputs: Inputs) -> None:
    inputs.kb(*lines)
    assert inputs.validate("-output", "tac").status == 255
    assert [part for part in reported if not any(part in line for line in inputs.report)] == []
    assert not (inputs.folder / "kb.tac.valid").exists()


@pytest.mark.rule("shifted-line-numbers")
def test_a_missing_run_id_shifts_line_numbers(inputs: Inputs) -> None:
    inputs.kb(first=":Entity_9\ttype\tPERSON")
    inputs.validate()
    assert "ERROR: Illegal node type: person (kb.tac line 2)" in inputs.report
    assert "ERROR: The first line of the file does not contain a legal runid (kb.tac line 1)" in inputs.report


def _with_canonical(line: str) -> tuple[str, ...]:
    return (ANN[0], line, line.replace("mention", "canonical_mention"))


@pytest.mark.parametrize(
    ("lines", "written"),
    [
        (_with_canonical(':Entity_1\tmention\t"A#n"\tENG_1:6-8 \t0.5  # c'), "\t0.5# c"),
        (_with_canonical(':Entity_1\tmention\t"A#n"\tENG_1:6-8\t0.5#c#d'), "\t0.5#c#d"),
        (_with_canonical(':Entity_1\tmention\t"A\\"#n"\tENG_1:6-8\t0.5# "'), '\t0.5# "'),
        (_with_canonical(':Entity_1\tmention\t"A#n"\tENG_1:6-8\t0.5\t\t'), "\t0.5"),
        ((*ANN, f"{ANN[1]}\t5.0e-01\t0.9"), ':Entity_1\tmention\t"Ann"\tENG_1:6-8\t0.500000000000'),
        *(
            (
                (*FAMILY[:6], f":Entity_1\t{predicate}\t:Entity_2\tENG_1:6-21\t0.5"),
                ":Entity_1\tper:children\t:Entity_2\tENG_1:6-21\t0.5",
            )
            for predicate in ("children", "per:children", "PER:children", ":children", "0:children")
        ),
    ],
)
def test_what_is_written(lines: tuple[str, ...], written: str, inputs: Inputs) -> None:
    inputs.kb(*lines)
    assert inputs.validate("-output", "tac").status == 0
    assert any(line.endswith(written) for line in inputs.lines("kb.tac.valid"))


@pytest.mark.rule("byte-order-mark-of-run-id")
def test_a_byte_order_mark_is_no_part_of_the_run_id(inputs: Inputs) -> None:
    inputs.kb(first="\ufeffrun7")
    inputs.validate("-output", "tac:edl")
    assert inputs.lines("kb.tac.valid")[0] == "run7"
    assert inputs.lines("kb.edl.valid")[0].startswith("run7\t")


@pytest.mark.parametrize("written", [":String_9", ":Event_9", ":Entity_2"])
def test_a_mention_of_what_looks_like_a_node_is_read_as_text_once_it_is_quoted(written: str, inputs: Inputs) -> None:
    """The object counts as it is written when a line is added, and as it is recorded ever after."""
    inputs.kb(
        ANN[0], f":Entity_1\tmention\t{written}\tENG_1:6-8", f":Entity_1\tcanonical_mention\t{written}\tENG_1:6-8"
    )
    inputs.validate("-ignore", "MULTIPLE_FILLS_ENTITY", "-output", "tac")
    assert not any(NO_SPAN in line for line in inputs.report)
    realis = f"{REALIS} (expected actual, generic, or other, got none)"
    assert any(realis in line for line in inputs.report) == (written == ":Event_9")
    if written != ":Event_9":
        assert f':Entity_1\tmention\t"{written}"\tENG_1:6-8\t1.0' in inputs.lines("kb.tac.valid")


def test_values_are_compared_in_the_order_in_which_they_were_first_recorded(inputs: Inputs) -> None:
    """The first justification of 2 gives way to 3, its second one stays; so 4 meets that, and not 3."""
    born = ":Entity_1\tper:city_of_birth\t:Entity_{}\tENG_1:{}-90\t{}"
    values = (born.format(2, 6, 0.1), born.format(2, 7, 0.9), born.format(3, 6, 0.5), born.format(4, 6, 0.7))
    inputs.kb(*ANN, *PLACES, *values)
    assert inputs.validate("-ignore", "NO_MENTIONS", "-output", "tac").status == 0
    kept = [line.split("\t")[2:5] for line in inputs.lines("kb.tac.valid") if "\tper:city_of_birth\t" in line]
    assert kept == [[":Entity_3", "ENG_1:6-90", "0.5"], [":Entity_2", "ENG_1:7-90", "0.9"]]


@pytest.mark.rule("event-argument-encoding")
def test_event_arguments(inputs: Inputs) -> None:
    """Nodes come in the order of their names, in UTF-8; the first normalized mention stands."""
    when = (
        ":String_1\ttype\tSTRING",
        ':String_1\tmention\t"May"\tENG_1:50-52',
        ':String_1\tcanonical_mention\t"May"\tENG_1:50-52',
        ':String_1\tnormalized_mention\t"2015-05"\tENG_1:50-52',
        ':String_1\tnormalized_mention\t"2015"\tENG_1:50-52',
        ":Event_1\tlife.die:time.actual\t:String_1\tENG_1:50-52;ENG_1:40-60;ENG_1:50-52;NIL\t0.5",
    )
    died = ":Event_{}\tlife.die:victim.actual\t:Entity_1\tENG_1:6-20;ENG_1:6-8;NIL\t0.5"
    zoe = (line.replace('"Ann"', '"Zoë 日"') for line in ANN)
    inputs.kb(*zoe, *EVENTS[3:], *EVENTS[:3], died.format(2), died.format(1), *when)
    assert inputs.validate("-output", "eal").status == 0
    linked = inputs.lines("event_arguments/linking/ENG_1")
    assert [line.partition("\t")[0] for line in linked] == ["inv1:Event_1.ENG_1", "inv1:Event_2.ENG_1"]
    texts = [line.split("\t")[4:6] for line in inputs.lines("event_arguments/arguments/ENG_1")]
    assert texts == [["2015-05", "50-52"], ["Zoë 日", "6-8"], ["Zoë 日", "6-8"]]


def test_after_99999_mentions_the_letter_changes(inputs: Inputs) -> None:
    inputs.kb(*ANN, *[ANN[1]] * 99_999)
    assert inputs.validate("-output", "edl").status == 0
    ids = [line.split("\t")[1] for line in inputs.lines("kb.edl.valid")]
    assert (ids[0], *ids[-2:]) == (":Entity_1_M00001", ":Entity_1_M99999", ":Entity_1_N00000")


@pytest.mark.rule("escaped-sentiments")
def test_texts_are_escaped_in_sentiment_files(inputs: Inputs) -> None:
    inputs.kb(*(line.replace('"A"', '"A & <B>"') for line in TYPED))
    assert inputs.validate("-output", "sen").status == 0
    written = (inputs.folder / "sentiments" / "predicted-ere" / "D.rich_ere.xml").read_text()
    assert "<mention_text>A &amp; &lt;B&gt;</mention_text>" in written


def test_predicates_of_ones_own_are_written_where_their_label_is_wanted(inputs: Inputs) -> None:
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
def test_missing_columns_of_a_predicate_are_empty(line: str, reported: str, inputs: Inputs) -> None:
    inputs.write("my.predicates.txt", f"{line}\n")
    inputs.kb(*FAMILY, ":Entity_1\tper:knows\t:Entity_2\tENG_1:6-21\t0.5")
    inputs.validate("-predicates", "my.predicates.txt", "-labels", "MY:TAC", "-output", "tac")
    assert any(reported in shown for shown in inputs.report)
    if "WARNING" in reported:  # the inverse has the empty name
        assert ":Entity_2\tper:\t:Entity_1\tENG_1:6-21\t0.5" in inputs.lines("kb.tac.valid")


@pytest.mark.rule("existing-outputs", "missing-output-folder")
def test_reports_and_statistics_are_overwritten_and_outputs_refused(inputs: Inputs) -> None:
    """A missing folder of outputs is made."""
    inputs.kb()
    inputs.write("log", "old")
    inputs.write("st", "old")
    words = ("validate-kb", "-error_file", "log", "-stats_file", "st", "-output", "tac", "-output_dir", "new", "kb.tac")
    assert inputs.call(*words).status == 0
    assert inputs.report == ["No warnings encountered"]
    assert inputs.lines("st")[0] == "RUNID\t\tinv1"
    outcome = inputs.call(*words)
    assert outcome.status == 255
    assert b"Output file already exists at new/kb.tac.valid: " in outcome.stderr


@pytest.mark.parametrize("kind", ["bytes", "folder"])
@pytest.mark.rule("unreadable-knowledge-bases")
def test_what_is_no_text_ends_in_one_line(kind: str, inputs: Inputs) -> None:
    if kind == "bytes":
        inputs.write("kb.tac", b"r1\n:Entity_1\ttype\tPER\n\xff\n")
    else:
        (inputs.folder / "kb.tac").unlink()
        (inputs.folder / "kb.tac").mkdir()
    outcome = inputs.validate("-output", "tac")
    assert outcome.status == 255
    assert len(outcome.stderr.splitlines()) == 1
    assert (b"kb.tac: line 3: not UTF-8" if kind == "bytes" else b"Is a directory") in outcome.stderr


# ---- Answers


def _answers(inputs: Inputs, *asked: AskedQuery) -> list[list[str]]:
    """Columns of the answers that the knowledge base in the folder gives."""
    inputs.validate("-output", "tac")
    inputs.queries(*asked)
    assert inputs.resolve().status == 0
    return [line.split("\t") for line in inputs.lines("run.tab")]


def _at_ann(*slots: str, id: str = ASKED.id, more: str = "") -> AskedQuery:
    return AskedQuery(id, slots, docids=("ENG_1",), begin="6", end="8", more=more)


@pytest.mark.rule("repeated-second-hop-answers")
def test_answers_below_two_justifications_of_one_answer_come_twice(inputs: Inputs) -> None:
    second = ":Entity_1\tper:children\t:Entity_2\tENG_1:7-21\t0.4"
    inputs.kb(*FAMILY[:6], FAMILY[6], second, ":Entity_2\tper:spouse\t:Entity_1\tENG_1:6-21\t0.5")
    *_, one, other = _answers(inputs, _at_ann("per:children", "per:spouse"))
    assert one == other
    assert one[1] == "per:spouse"


@pytest.mark.rule("first-entry-point")
def test_only_the_first_entry_point_counts_and_a_remark_says_so(inputs: Inputs) -> None:
    inputs.kb()
    second = "<name>x</name><docid>ENG_1</docid><beg>20</beg><end>21</end>"
    assert _answers(inputs, _at_ann("per:age", more=second)) == []
    assert b"has several entry points; only the first is used" in inputs.resolve().stderr


@pytest.mark.parametrize("beg", ["<beg>6</beg>", "<beg>6.0</beg>", "<beg> +6e0</beg>"])
@pytest.mark.parametrize(("end", "answers"), [("<end>8x</end>", 1), ("<end>eight</end>", 0), ("", 0)])
def test_offsets_of_queries_are_read_as_the_reference_reads_numbers(
    beg: str, end: str, answers: int, inputs: Inputs
) -> None:
    point = f"<name>Ann</name><docid>ENG_1</docid>{beg}{end}<enttype>per</enttype><slot0>per:children</slot0>"
    inputs.write("q.xml", f'<query_set><query id="{ASKED.id}">{point}</query></query_set>')
    inputs.kb(*FAMILY)
    inputs.validate("-output", "tac")
    assert inputs.resolve().status == 0
    assert len(inputs.lines("run.tab")) == answers
    inputs.write("pool.tab", f"1\t{ASKED.id}:per:children\tENG_1:6-21\tBo\tENG_1:20-21\tC\tNAM\tC\t{ASKED.id}:1\tNAM\n")
    said = inputs.call("analyze", "q.xml", "kb.tac", "pool.tab").stderr
    assert f"{answers} of 1 queries found their entity, {answers} answers".encode() in said


def test_only_lower_case_predicates_without_generic_realis_count(inputs: Inputs) -> None:
    inputs.write(
        "kb.tac.valid",
        "r1\n:Entity_1\tTYPE\tORG\n:Entity_1\tmention\t\"A\"\tD:6-8\t1.0\n:Entity_2\tCANONICAL_MENTION\t\"no\"\tD:1-2\t1.0\n"
        ":Entity_2\tcanonical_mention.generic\t\"nor\"\tD:1-2\t1.0\n:Entity_2\tcanonical_mention.other\t\"B\"\tD:3-4\n"
        ":Entity_1\tper:children.actual\t:Entity_2\tD:6-9\t0.5\n:Entity_1\tper:children.generic\t:Entity_2\tD:6-9\t0.5\n"
        ":Entity_2\ttype\tper\t\n:Entity_2\ttype\tGpe\n",
    )  # fmt: skip
    inputs.queries(AskedQuery(ASKED.id, ("per:children",), docids=("D",), begin="6", end="8"))
    assert inputs.resolve().status == 0
    (line,) = inputs.lines("run.tab")
    assert line.split("\t")[3:] == ["D:6-9", "B", "Gpe", "D:3-4", "0.5", ":Entity_2"]


def test_any_predicate_may_be_asked_for(inputs: Inputs) -> None:
    """Mentions in documents where no entry point lies are not passed over where a slot asks for them."""
    inputs.kb(*ANN, ':Entity_1\tmention\t"Anna"\tENG_2:6-9', ':Entity_1\tcanonical_mention\t"Anna"\tENG_2:6-9')
    assert [columns[6] for columns in _answers(inputs, _at_ann("mention"))] == ["ENG_1:6-8", "ENG_2:6-9"]
