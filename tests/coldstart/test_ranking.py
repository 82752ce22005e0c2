"""Nodes whose names or lines are unusual, and how many answers there are to be found for slots of each kind."""

from __future__ import annotations

import re

import pytest

from cs_score.base.records import replace
from tests.coldstart.handmade import Inputs, ranking
from tests.coldstart.lines import AGE, CHILDREN, Line, Q, query_xml, sf_query

BO, CY = Line(), Line("Cy", "N_ENG_2", node=":E2")
UNKNOWN = "per:nosuch"


@pytest.mark.parametrize("node", [":C1", ":C1:a", ":C1:a:x:y", ":C1:0"])
def test_components_of_a_node_behind_the_second_are_not_looked_at(node: str, inputs: Inputs) -> None:
    inputs.pool(BO.judged("1"), BO.child().judged("1:1"))
    inputs.run(BO, BO.child(node=node))
    scored = inputs.score()
    assert [ranked.node for level in ("0", "1") for ranked in ranking(scored, level)] == [f"{Q}:E1", f"{Q}:E1:C1"]


@pytest.mark.parametrize(("number", "first"), [(1, ":E1"), (3, ":E2")])
def test_of_the_lines_of_a_node_the_smallest_number_breaks_ties(number: int, first: str, inputs: Inputs) -> None:
    """E1 has line 3 of the first file and one of the second, E2 has line 2; (0.5 + 0.5 / 2) / (1 + 1 / 2) is 0.5."""
    fillers = [Line("No", f"N_ENG_{at}", "0.1", f":N{at}") for at in (5, 6)]
    one = replace(BO, confidence="0.5")
    inputs.pool(CY.judged("1"))
    inputs.run(fillers[0], replace(CY, confidence="0.5"), one)
    inputs.run(*fillers[: number - 1], Line("Bo", "N_ENG_3", "0.5", ":E1"), name="second.tab")
    ranked = ranking(inputs.score("-justifications", "M:M", files=("pool.tab", "run.tab", "second.tab")))
    assert [node.confidence for node in ranked[:2]] == ["0.5000", "0.5000"]
    assert ranked[0].node == f"{Q}{first}"


@pytest.mark.parametrize(
    ("slots", "edition", "by_level"),
    [
        # A slot that takes one value has one answer to be found where the pool has any; an unknown slot has no number.
        ((CHILDREN, AGE), "2017.2.0", {"0": "0", "1": "0", "ALL": "0"}),
        ((UNKNOWN,), "2017.2.0", {"0": "", "ALL": ""}),
        ((UNKNOWN, CHILDREN), "2017.2.0", {"0": "", "1": "0", "ALL": "0"}),
        ((CHILDREN, UNKNOWN), "2017.2.0", {"0": "0", "1": "", "ALL": "0"}),
        # In June 2017 it had one in any case.
        ((CHILDREN, AGE), "2017.1.5", {"0": "0", "1": "1", "ALL": "1"}),
    ],
)
def test_how_many_answers_are_to_be_found_where_the_pool_has_none(
    slots: tuple[str, ...], edition: str, by_level: dict[str, str], inputs: Inputs
) -> None:
    line = replace(BO, query=sf_query(slots), slot=slots[0])
    inputs.queries(query_xml(slots=slots))
    inputs.pool(line.judged())
    inputs.run(line)
    scored = inputs.score("--follow", edition, status=255 if UNKNOWN in slots else 0)
    debug = scored.outcome.files["out.debug"].decode()
    assert dict(re.findall(r"LEVEL: +(\w+)\n.*\nNUM_GROUND_TRUTH: (.*)", debug)) == by_level
