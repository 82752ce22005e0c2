"""The worked examples of the specification (section 20), and the cost of looking at a provenance (section 7)."""

from __future__ import annotations

from tests.knowledge_base.invented import Inputs
from tests.preparation.invented import AskedQuery

REPAIRS = """\
demo1 # try
:Entity_1	type	PER
:Entity_1	mention	"Ann"	N_ENG_1:6-8	0.9
:Entity_1	canonical_mention	"Ann"	N_ENG_1:6-8
:Entity_2	type	PER
:Entity_2	mention	Bo	N_ENG_1:20-21	1
:Entity_1	per:children	:Entity_2	N_ENG_1:6-240	0.5 # sure
:Entity_2	link	"LDC2015E42:m7"
"""
REPAIRED = """\
demo1 # try

:Entity_1	type	PER\t
:Entity_1	canonical_mention	"Ann"	N_ENG_1:6-8	1.0
:Entity_1	mention	"Ann"	N_ENG_1:6-8	0.9
:Entity_1	per:children	:Entity_2	N_ENG_1:6-240	0.5# sure
:Entity_2	type	PER\t
:Entity_2	link	LDC2015E42:m7		1.0
:Entity_2	canonical_mention	"Bo"	N_ENG_1:20-21	1.0
:Entity_2	mention	"Bo"	N_ENG_1:20-21	1.0
:Entity_2	per:parents	:Entity_1	N_ENG_1:6-240	0.5
"""
EDL = """\
demo1	:Entity_1_M00001	Ann	N_ENG_1:6-8	NIL_0001	PER	NAM	0.9
demo1	:Entity_2_M00002	Bo	N_ENG_1:20-21	m7	PER	NAM	1.0
"""
REPORT = [
    "WARNING: Entity :Entity_2 has no canonical mention in document N_ENG_1",
    "WARNING: Decimal point missing in confidence value: 1 (kb.tac line 6)",
    "WARNING: No inverse relation asserted for children(:Entity_1, :Entity_2) (kb.tac line 7)",
    "WARNING: Provenance contains too many characters; only the first 200 will be used (kb.tac line 7)",
    "WARNING: String Bo not surrounded by double quotes (kb.tac line 6)",
    "11 warnings encountered",
]
RESOLVABLE = """\
demo2

:Entity_1	type	PER\t
:Entity_1	canonical_mention	"Ann"	N_ENG_1:6-8	1.0
:Entity_1	mention	"Ann"	N_ENG_1:6-8	1.0
:Entity_1	per:children	:Entity_2	N_ENG_1:6-21	0.5
:Entity_1	per:children	:Entity_2	N_ENG_1:6-8,N_ENG_1:1-4	0.4
:Entity_1	per:title	:String_1	N_ENG_1:30-33;N_ENG_1:6-33	0.8
:Entity_2	type	PER\t
:Entity_2	canonical_mention	"Bo \\"B\\""	N_ENG_1:20-21	1.0
:Entity_2	mention	"Bo \\"B\\""	N_ENG_1:20-21	1.0
:Entity_2	per:parents	:Entity_1	N_ENG_1:6-21	0.5
:Entity_2	per:life.die_victim.actual	:Event_1	N_ENG_1:20-50;N_ENG_1:20-21;NIL	0.7
:Event_1	type	LIFE.DIE\t
:Event_1	canonical_mention.actual	"died"	N_ENG_1:47-50	1.0
:Event_1	mention.actual	"died"	N_ENG_1:47-50	1.0
:Event_1	life.die:victim.actual	:Entity_2	N_ENG_1:20-50;N_ENG_1:20-21;NIL	0.7
:String_1	type	STRING\t
:String_1	canonical_mention	"boss"	N_ENG_1:30-33	1.0
:String_1	mention	"boss"	N_ENG_1:30-33	1.0
"""
ANSWERS = """\
CSX_ENG_e2b374da95	per:children	demo2	N_ENG_1:6-21	Bo "B"	PER	N_ENG_1:20-21	0.5	:Entity_2
CSX_ENG_e2b374da95	per:children	demo2	N_ENG_1:1-4,N_ENG_1:6-8	Bo "B"	PER	N_ENG_1:20-21	0.4	:Entity_2
CSX_ENG_e2b374da95_a8c1a6fd0cff	per:life.die_victim	demo2	N_ENG_1:20-21,N_ENG_1:20-50\
	died	LIFE.DIE	N_ENG_1:47-50	0.7	:Event_1
CSX_ENG_e2b374da95_a8c1a6fd0cff	per:life.die_victim	demo2	N_ENG_1:20-21,N_ENG_1:20-50\
	died	LIFE.DIE	N_ENG_1:47-50	0.7	:Event_1
CSX_ENG_961288ffc7	per:title	demo2	N_ENG_1:6-33	boss	STRING	N_ENG_1:30-33	0.8	:String_1
CSX_ENG_97402d448d	life.die:victim	demo2	,N_ENG_1:20-50	Bo "B"	PER	N_ENG_1:20-21	0.7	:Entity_2
"""


def test_repairs(inputs: Inputs) -> None:
    inputs.write("kb.tac", REPAIRS)
    assert inputs.validate("-output", "tac:edl", "-stats_file", "st").status == 0
    assert inputs.report == REPORT
    assert (inputs.folder / "kb.tac.valid").read_text() == REPAIRED
    assert (inputs.folder / "kb.edl.valid").read_text() == EDL
    assert inputs.lines("st")[:4] == [
        "RUNID\t\tdemo1",
        "HAS_MULTIPLE_CONFIDENCES\t\tYES",
        "ASSERTED:DOMAIN\tALL\t9",
        "ASSERTED:DOMAIN\tper\t9",
    ]


def test_answers(inputs: Inputs) -> None:
    inputs.write("kb.tac.valid", RESOLVABLE)
    inputs.queries(
        AskedQuery("CSX_ENG_e2b374da95", ("per:children", "per:life.die_victim"), docids=("N_ENG_1",)),
        AskedQuery("CSX_ENG_961288ffc7", ("per:title",), docids=("N_ENG_1",), begin="6", end="8"),
        AskedQuery("CSX_ENG_97402d448d", ("life.die:victim",), docids=("N_ENG_1",), begin="47", end="50"),
    )
    assert inputs.resolve().status == 0
    assert (inputs.folder / "run.tab").read_text() == ANSWERS
    assert inputs.lines("statistics")[1] == "demo2\t3\t6\t0\t14\t6\t5\t3\tRESOLUTION_STATISTICS"


def test_a_problem_of_a_provenance_counts_at_every_look(inputs: Inputs) -> None:
    """Section 7: 4.5, 6.3, 6.5, the inverse at 4.5, and 6.7 for both."""
    inputs.kb(
        ":Entity_1\ttype\tPER", ':Entity_1\tmention\t"A"\tD:1-1', ':Entity_1\tcanonical_mention\t"A"\tD:1-1',
        ":Entity_2\ttype\tPER", ':Entity_2\tmention\t"B"\tD:3-3', ':Entity_2\tcanonical_mention\t"B"\tD:3-3',
        ":Entity_1\tper:children\t:Entity_2\tD:1-300",
    )  # fmt: skip
    inputs.validate("-ignore", "MISSING_INVERSE:MULTIPLE_FILLS_ENTITY")
    assert inputs.report[-1] == "6 warnings encountered"


def test_passes_over_a_repeated_relation_count(inputs: Inputs) -> None:
    """Each of the three later justifications passes by the first one, whose span is too long; each repeats no other."""
    inputs.kb(
        ":Entity_1\ttype\tPER", ':Entity_1\tmention\t"A"\tD:1-1', ':Entity_1\tcanonical_mention\t"A"\tD:1-1',
        ":Entity_2\ttype\tPER", ':Entity_2\tmention\t"B"\tD:3-3', ':Entity_2\tcanonical_mention\t"B"\tD:3-3',
        ":Entity_1\tsiblings\t:Entity_2\tD:1-300", *(f":Entity_1\tsiblings\t:Entity_2\tD:1-{n}" for n in range(10, 13)),
        ":Entity_2\tsiblings\t:Entity_1\tD:1-300", *(f":Entity_2\tsiblings\t:Entity_1\tD:1-{n}" for n in range(10, 13)),
    )  # fmt: skip
    inputs.validate()
    assert inputs.report[-1] == f"{2 * (1 + 3 + 1 + 1)} warnings encountered"
