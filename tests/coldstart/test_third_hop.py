"""Queries with three slots: what the third hop gives in the AP report and in LDC-MAX (specification 8.2 and 9.2)."""

from __future__ import annotations

from typing import Final

import pytest

from tests.coldstart.handmade import CHILDREN, SCHOOLS, Inputs, Line, query_xml, row, sf_query
from tests.coldstart.worlds import Scored

SLOTS: Final = (CHILDREN, CHILDREN, SCHOOLS)
Q: Final = sf_query(SLOTS)
BO: Final = Line(query=Q)
SON: Final = BO.child("Cy", ":C1", CHILDREN)
SCHOOL: Final = SON.child("Sch", ":D1")
SON_2: Final = Line("Di", "N_ENG_2", ":E1", query=BO.follow_on)
SCHOOL_2: Final = SON_2.child("Uni", ":D2")


@pytest.fixture
def family(inputs: Inputs) -> Inputs:
    """One child with two children, the schools of both; the run has all but the second school."""
    inputs.queries(query_xml(slots=SLOTS))
    schools = (SCHOOL.judged("1:1:1"), SCHOOL_2.judged("1:2:1"))
    inputs.pool(BO.judged("1"), SON.judged("1:1"), SON_2.judged("1:2"), *schools)
    inputs.run(BO, SON, SCHOOL)
    return inputs


def ldc_max(scored: Scored) -> list[tuple[str, str, str]]:
    """Name, level and number of classes to be found of each row."""
    rows = [line.split() for line in scored.outcome.files["out.ldcmax"].decode().split("\n") if line[:4] == "CSX_"]
    return [(cells[0], cells[2], cells[3]) for cells in rows]


def test_classes_of_the_third_hop_make_a_level_without_nodes(family: Inputs) -> None:
    scored = family.score()
    levels = {key[2]: score for key, score in scored.average_precision.items() if key[:2] == ("SF", Q)}
    assert levels == {"0": 1.0, "1": 0.5, "2": 0.0, "ALL": 0.6667}
    assert {level for _, name, level in scored.average_precision if name == "ALL-Macro"} == {"0", "1", "2", "ALL"}
    ranking = scored.outcome.files["out.debug"].decode().partition("LEVEL:            2\n")[2].partition("=" * 80)[0]
    assert ranking == (
        "AP:               0.0000\nNUM_GROUND_TRUTH: 2\n"
        f"GROUND TRUTH:\n  {Q}:1:1:1\n  {Q}:1:2:1\nRANKING:\n........\nRANK NODEID CONFIDENCE MAPPED_EC V\n"
    )
    # LDC-MAX names the first class only and has children before it.
    further = [("CSX_0001:1", "2", "1"), ("CSX_0001:1", "2", "1"), ("CSX_0001:1", "1", "2")]
    assert ldc_max(scored) == [("CSX_0001", "0", "1"), *further]


def test_a_single_valued_third_slot_takes_nothing_from_its_level(inputs: Inputs) -> None:
    slots = (CHILDREN, CHILDREN, "per:age")
    bo = Line(query=sf_query(slots))
    son = bo.child("Cy", ":C1", CHILDREN)
    age, other = (son.child(value, None, "per:age") for value in ("5", "6"))
    inputs.queries(query_xml(slots=slots))
    inputs.pool(bo.judged("1"), son.judged("1:1"), age.judged("1:1:1"), other.judged("1:1:2"))
    inputs.run(bo)
    debug = inputs.score().outcome.files["out.debug"].decode()
    assert "LEVEL:            2\nAP:               0.0000\nNUM_GROUND_TRUTH: 2\n" in debug


def test_children_of_one_class_stand_in_numerical_order(family: Inputs) -> None:
    further = [Line(f"V{n}", "N_ENG_2", ":E1", query=BO.follow_on) for n in range(3, 11)]
    pool = [SON.judged("1:1"), SON_2.judged("1:2")]
    pool += [line.judged(f"1:{n}") for n, line in enumerate(further, 3)]
    tenth = [further[-1].child(f"S{n}", None).judged(f"1:10:{n}") for n in range(1, 4)]
    family.pool(BO.judged("1"), *pool, SCHOOL_2.judged("1:2:1"), *tenth)
    family.run(BO)
    scored = family.score()
    assert row(scored, f"{Q}:1:10").counts["GT"] == 3
    assert ldc_max(scored)[1:] == [("CSX_0001:1", "2", "1"), ("CSX_0001:1", "2", "3"), ("CSX_0001:1", "1", "10")]
