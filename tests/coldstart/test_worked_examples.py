"""The worked examples of the specification (3.5, 4.3, 4.6, appendix B), each number as it stands there."""

from __future__ import annotations

import pytest

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
def test_canonical_provenance(text: str, canonical: str, codes: list[str]) -> None:
    provenance = read_provenance(text, 2)
    assert provenance.canonical == canonical
    assert [problem.code for problem in provenance.problems] == codes
    assert provenance.docid == ("D;x" if ";x" in text else "D" if canonical else "NO DOCUMENT")


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
def test_b2_limits_and_the_value_of_nodes(
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
def test_b6_policies(
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
