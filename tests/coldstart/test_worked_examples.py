"""The worked examples of the specification, with its numbers."""

from __future__ import annotations

import pytest

from cs_score.base.records import replace
from cs_score.coldstart.queries import EntryPoint, follow_on_id
from cs_score.coldstart.tab_files import read_confidence, read_provenance
from tests.coldstart.handmade import Inputs, average_precision, labels, ranking, row
from tests.coldstart.lines import AGE, BIRTHPLACE, CHILDREN, LISTS, Line, Q, query_xml, sf_query

HASHED = [
    ("Ann Q", "DOC_A:30-40", "4c2141b56541"),
    ("Zoë", "DOC_A:31-41", "7424aa29d85b"),
    ('He said "hi"', "DOC_A:32-42", "f3fc4db44fbe"),
    ("back\\slash", "DOC_A:33-43", "6e3d7f9b8f58"),
    ("a/b", "DOC_A:34-44", "c03a080a9dae"),
    ("日本", "DOC_A:35-45", "23d21b1f41d9"),
    ("\x7fdel", "DOC_A:36-46", "85bf09321398"),
    ("\x01ctl", "DOC_A:37-47", "2646d2fcc366"),
    ("emoji😀", "DOC_A:40-50", "15a1c519e169"),
]


@pytest.mark.parametrize(("value", "provenance", "digits"), HASHED)
@pytest.mark.rule("follow-on-queries")
def test_hashes_of_follow_on_queries(value: str, provenance: str, digits: str) -> None:
    assert follow_on_id("CSX_ENG_979a86d86f", value, provenance) == digits


def test_hashes_of_slot_filling_queries() -> None:
    assert EntryPoint(None, "DOC_A", "5", "9").query_id(LISTS) == "979a86d86f"
    assert EntryPoint(None, "N_ENG_Q", "5", "9").query_id(LISTS) == "00fb79cef8"
    assert EntryPoint(None, "N_ENG_Q", "5", "9").query_id((CHILDREN, AGE)) == "0897791932"


DECIMAL, SCIENTIFIC, ILLEGAL = "MISSING_DECIMAL_POINT", "IMPROPER_CONFIDENCE_VALUE", "ILLEGAL_CONFIDENCE_VALUE"
ACCEPTED = ["1.", "1.0", "1.000", ".5", "0.50", "0.999999999999999"]
REFUSED = ["0", "0.0", "00.5", "1.1", "-0.5", " 0.5", "1e-05", "1.0E-05", "0.5e-5", "", "abc"]


@pytest.mark.parametrize(
    ("text", "value", "codes"),
    [
        ("1", 1.0, [DECIMAL]),
        *((text, float(text), []) for text in ACCEPTED),
        ("5.0e-05", 0.00005, [SCIENTIFIC]),
        ("2.0e-01", 0.2, [SCIENTIFIC]),
        ("1.0e+00", 1.0, [SCIENTIFIC]),
        ("1.0e00", 1.0, [SCIENTIFIC]),
        ("5.0e-15", 1.0, [SCIENTIFIC, ILLEGAL]),
        *((text, 1.0, [ILLEGAL]) for text in REFUSED),
    ],
)
@pytest.mark.rule("lines")
def test_confidence_table(text: str, value: float, codes: list[str]) -> None:
    confidence = read_confidence(text)
    assert (confidence.value, confidence.codes) == (value, tuple(codes))


@pytest.mark.parametrize(
    ("text", "canonical", "codes"),
    [
        ("D:9-10,D:3-4", "D:3-4,D:9-10", []),
        ("D:003-005", "D:003-005", []),
        ("D:100-400", "D:100-299", ["TOO_MANY_CHARS"]),
        ("D:3-10,D:3-9", "D:3-10,D:3-9", []),
        ("D:3-9,D:3-10", "D:3-10,D:3-9", []),
        ("D:3-4,D:3-4", "D:3-4,D:3-4", []),
        (" D:3-4 ", "D:3-4", []),
        ("D:3-4;D:5-6", "D:3-4,D:5-6", ["SEMICOLON_AS_SEPARATOR"]),
        ("D;x:3-4", "D;x:3-4", ["SEMICOLON_IN_PROVENANCE_E"]),
        ("D:3-4,E:5-6", "D:3-4,D:5-6", ["MULTIPLE_DOCIDS_IN_PROV"]),
        ("D:4-3,D:5-6", "D:5-6", ["ILLEGAL_OFFSET_PAIR"]),
        ("D:x-3", "", ["ILLEGAL_OFFSET_TRIPLE_STRING"]),
        ("D:1-2,D:3-4,D:5-6", "D:1-2,D:3-4", ["TOO_MANY_PROVENANCE_TRIPLES_E"]),
    ],
)
@pytest.mark.rule("lines")
def test_canonical_provenance(text: str, canonical: str, codes: list[str]) -> None:
    provenance = read_provenance(text, 2)
    assert provenance.canonical_text == canonical
    assert [problem.code for problem in provenance.problems] == codes
    assert provenance.docid == ("D;x" if ";x" in text else "D" if canonical else "NO DOCUMENT")


@pytest.mark.rule("paths", "counts")
def test_correct_and_incorrect_parent(inputs: Inputs) -> None:
    bo, cy = Line(), Line("Cy", "N_ENG_2", "0.6", ":E2")
    below_bo = replace(bo.child(node=":E9"), span="8-10", confidence="0.7")
    below_cy = replace(cy.child(node=":E9"), span="8-10", confidence="0.5")
    assert (bo.follow_on, cy.follow_on) == (f"{Q}_ab6cc6881ef7", f"{Q}_2706f59418fc")
    inputs.pool(bo.judged("1"), cy.judged(), below_bo.judged("1:1"))
    inputs.run(bo, below_bo, cy, below_cy)
    scored = inputs.score()
    header = ("GT", "Submitted", "Correct", "Incorrect", "PIncorrect", "Right", "Wrong", "Ignored")
    assert [
        (found.name, found.level, *(found.counts.get(name) for name in header), *found.scores) for found in scored.sf
    ] == [
        (Q, "0", 1, 2, 1, 1, 0, 1, 1, 0, 0.5, 1, 0.6667),
        (f"{Q}:0", "1", 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0),
        (f"{Q}:1", "1", 1, 1, 1, 0, 0, 1, 0, 0, 1, 1, 1),
        ("ALL-Micro", "0", 1, 2, 1, 1, 0, 1, 1, 0, 0.5, 1, 0.6667),
        ("ALL-Micro", "1", 1, 2, 1, 0, 1, 1, 1, 0, 0.5, 1, 0.6667),
        ("ALL-Micro", "ALL", 2, 4, 2, 1, 1, 2, 2, 0, 0.5, 1, 0.6667),
        ("ALL-Macro", "0", *[None] * 8, 0.5, 1, 0.6667),
        ("ALL-Macro", "1", *[None] * 8, 1, 1, 1),
        ("ALL-Macro", "ALL", *[None] * 8, 0.75, 1, 0.8333),
    ]
    assert [average_precision(scored, level) for level in ("0", "1", "ALL")] == [1, 1, 0.8333]
    assert [(node.node.removeprefix(Q), node.confidence) for node in ranking(scored, "ALL")] == [
        (":E1", "0.4909"),
        (":E2", "0.3273"),
        (":E1:E9", "0.1874"),
        (":E2:E9", "0.0893"),
    ]


@pytest.mark.parametrize(
    ("limits", "first", "second", "expected"),
    [
        ("1:3", ("0.8364", "1.0000"), "0.3818", 1),
        ("M:3", ("0.8364", "1.0000"), "0.3818", 1),
        ("1:1", ("0.9000", "1.0000"), "0.5000", 1),
        ("3:5", ("0.7372", "0.8000"), "0.3066", 0.85),
        ("1:9", ("0.5950", "0.8000"), "0.2474", 0.85),
        ("M:M", ("0.8080", "0.8000"), "0.4667", 0.85),
    ],
)
@pytest.mark.rule("limits", "node-values", "average-precision")
def test_limits_and_the_value_of_nodes(
    limits: str, first: tuple[str, str], second: str, expected: float, inputs: Inputs
) -> None:
    four = [Line(f"V{n}", f"N_ENG_{n}", f"0.{10 - n}", ":E1") for n in range(1, 5)]
    other = Line("W", "N_ENG_5", "0.5", ":E2")
    fifth = Line("V5", "N_ENG_6", "0.4", ":E2")
    inputs.pool(*(line.judged("1") for line in (*four, fifth)), other.judged("2"))
    inputs.run(*four, other, fifth)
    scored = inputs.score("-justifications", limits)
    assert [(node.confidence, node.mapped, node.value) for node in ranking(scored)] == [
        (first[0], f"{Q}:1", first[1]),
        (second, f"{Q}:2", "1.0000"),
    ]
    assert average_precision(scored) == expected


@pytest.mark.rule("node-classes")
def test_of_classes_with_equal_value_the_later_one_wins(inputs: Inputs) -> None:
    first, second = Line(), Line("Cy", "N_ENG_2", "0.8", ":E1")
    inputs.pool(first.judged("1"), second.judged("2"))
    inputs.run(first, second)
    assert [(node.mapped, node.value) for node in ranking(inputs.score())] == [(f"{Q}:2", "1.0000")]
    inputs.run(second, first)
    assert [node.mapped for node in ranking(inputs.score())] == [f"{Q}:1"]


@pytest.mark.rule("counts", "average-precision")
def test_a_single_valued_second_slot_has_one_answer_per_class(inputs: Inputs) -> None:
    query = sf_query((CHILDREN, AGE))
    assert query == "CSX_ENG_0897791932"
    inputs.queries(query_xml(slots=(CHILDREN, AGE)))
    children = [Line(f"V{n}", f"N_ENG_{n}", f"0.{10 - n}", f":E{n}", query=query) for n in range(1, 4)]
    ages = [children[0].child(value, ":A1", AGE) for value in ("41", "42")]
    pool = [*(child.judged(str(n)) for n, child in enumerate(children, 1))]
    inputs.pool(*pool, ages[0].judged("1:1"), ages[1].judged("1:2"))
    inputs.run(children[0], children[1], ages[0])
    scored = inputs.score()
    assert row(scored, f"{query}:1").counts["GT"] == 1
    assert average_precision(scored, "1", query) == 0.3333
    assert average_precision(scored, "ALL", query) == 0.5
    debug = scored.outcome.files["out.debug"].decode()
    assert [line.split()[1] for line in debug.split("\n") if line.startswith("NUM_GROUND_TRUTH")] == ["3", "3", "6"]


@pytest.mark.parametrize(("ec_mention", "right", "mapped"), [("NAM", 0, "-"), ("NOM", 1, f"{Q}:1")])
@pytest.mark.rule("nominal-mentions")
def test_a_nominal_answer_is_ignored_unless_its_class_is_nominal(
    ec_mention: str, right: int, mapped: str, inputs: Inputs
) -> None:
    inputs.pool(Line().judged("1", mention="NOM", ec_mention=ec_mention))
    inputs.run(Line())
    scored = inputs.score()
    counts = row(scored, Q).counts
    assert (counts["Right"], counts["Ignored"]) == (right, 1 - right)
    assert [node.mapped for node in ranking(scored)] == [mapped]


@pytest.mark.parametrize(
    ("limits", "node", "named", "after", "duplicates", "values"),
    [
        ("1:3", ":E1", "C", ["IGNORE,REDUNDANT", "RIGHT"], 1, ["1.0000"]),
        ("1:1", ":E1", "C", ["IGNORE", "IGNORE"], 0, ["0.0000"]),
        ("1:3", ":E2", "C", ["IGNORE", "RIGHT"], 0, ["0.0000", "0.5000"]),
        ("1:3", ":E1", "W", ["IGNORE", "WRONG"], 0, ["0.0000"]),
    ],
)
@pytest.mark.rule("nominal-mentions")
def test_a_name_saves_its_node(
    limits: str, node: str, named: str, after: list[str], duplicates: int, values: list[str], inputs: Inputs
) -> None:
    first, second = Line(), Line("Cy", "N_ENG_2", "0.8", node)
    inputs.pool(first.judged("1", mention="NOM"), second.judged("1" if named == "C" else "0", named))
    inputs.run(first, second)
    scored = inputs.score("-justifications", limits)
    assert labels(scored) == after
    assert row(scored, Q).counts["Dup"] == duplicates
    assert [found.value for found in ranking(scored)] == values


@pytest.mark.parametrize(
    ("switches", "counts", "precision", "after"),
    [
        (
            ("-wrong", "INCORRECT:INCORRECT_PARENT:INEXACT:DUPLICATE", "-ignore", "UNASSESSED"),
            (1, 1, 2, 0), 0.3333, ["WRONG", "RIGHT", "REDUNDANT,WRONG"],
        ),
        (
            ("-right", "CORRECT:DUPLICATE", "-ignore", "UNASSESSED"),
            (2, 2, 1, 0), 0.6667, ["WRONG", "REDUNDANT,RIGHT", "REDUNDANT,RIGHT"],
        ),
        (("-ignore", "UNASSESSED"), (1, 1, 1, 0), 0.3333, ["WRONG", "RIGHT", ",REDUNDANT"]),
        (("-right", "CORRECT:DUPLICATE"), (1, 1, 1, 1), 0.5, ["WRONG", "RIGHT", "IGNORE,REDUNDANT"]),
        (("-right", "CORRECT:INEXACT"), (1, 1, 1, 2), 1, ["IGNORE,WRONG", "RIGHT", "IGNORE,REDUNDANT"]),
    ],
    ids=["duplicates wrong", "duplicates right", "duplicates nowhere", "duplicates overruled", "inexact on two sides"],
)  # fmt: skip
@pytest.mark.rule("policies")
def test_policies(
    switches: tuple[str, ...], counts: tuple[int, ...], precision: float, after: list[str], inputs: Inputs
) -> None:
    query = sf_query((BIRTHPLACE,))
    inputs.queries(query_xml(slots=(BIRTHPLACE,)))
    # The inexact line has a node of its own, which the last example needs.
    nodes = (":E1", ":E2", ":E2")
    lines = [Line(f"V{n}", f"N_ENG_{n}", "0.9", node, query, BIRTHPLACE) for n, node in enumerate(nodes, 1)]
    inputs.pool(*(line.judged("1", code) for line, code in zip(lines, "XCC")))
    inputs.run(*lines)
    scored = inputs.score(*switches)
    found = row(scored, query)
    assert tuple(found.counts[name] for name in ("Dup", "Right", "Wrong", "Ignored")) == counts
    assert found.scores[0] == precision
    assert labels(scored) == after
    assert found.scores[1] == counts[1]  # one answer is asked for
