"""Which assessment counts, the tree of classes, pools that fit no tree; unusual nodes, and what is to be found."""

from __future__ import annotations

import re

import pytest

from cs_score.base.records import replace
from cs_score.coldstart.judging import MOST_COMPONENTS
from tests.coldstart.handmade import Inputs, blocks, labels, ranking, report, row
from tests.coldstart.lines import AGE, BIRTHPLACE, CHILDREN, Line, Q, query_xml, sf_query

BO, CY = Line(), Line("Cy", "N_ENG_2", node=":E2")
UNKNOWN = "per:nosuch"
SECOND, THIRD, FOURTH = (replace(BO, docid=f"N_ENG_{number}") for number in (2, 3, 4))
AMBIGUOUS = "More than one correct choice"
ORPHAN = SECOND.child()
"""An answer about SECOND."""


@pytest.mark.parametrize(
    ("pool", "counts", "is_ambiguous"),
    [
        ((SECOND.judged("1"),), 0, False),
        ((SECOND.judged(), THIRD.judged("1")), 1, False),  # the only correct one
        ((SECOND.judged("1"), THIRD.judged()), 0, False),
        ((SECOND.judged(), THIRD.judged("2", "X")), 0, False),  # none is correct: the first
        ((SECOND.judged(), THIRD.judged("1"), FOURTH.judged("2")), 1, True),  # several: the first correct one
    ],
)
@pytest.mark.rule("matching")
def test_of_several_assessments_of_a_value_one_counts(
    pool: tuple[str, ...], counts: int, is_ambiguous: bool, inputs: Inputs
) -> None:
    inputs.pool(*pool)
    inputs.run(BO)
    scored = inputs.score("-discipline", "STRING_EXACT")
    assert [block.assessment for block in blocks(scored)] == [pool[counts]]
    assert (AMBIGUOUS in report(scored)) is is_ambiguous


def test_comparing_values_needs_the_class_of_each_assessed_query(inputs: Inputs) -> None:
    """The line that gives the parent is skipped for its slot, so that no class is known for the answer below it."""
    inputs.pool(replace(SECOND, slot=BIRTHPLACE).judged("1"), ORPHAN.judged())
    inputs.run(BO)
    assert labels(inputs.score(status=255)) == ["IGNORE"]
    assert "queryid undefined in QuerySet->get()" in inputs.refusal("-discipline", "STRING_EXACT")


ASTRAY = replace(BO, relation="N_ENG_1:1-9")
"""The answer of BO with another relation provenance: another answer to assess, but about the same query."""


@pytest.mark.parametrize(
    ("of_first", "of_child"),
    [
        ((), "INCORRECT_PARENT,WRONG"),  # the first line, unassessed, stands in the class of the answer and decides
        ((ASTRAY.judged(),), "RIGHT"),  # judged wrong it stands in no class, so that the second line decides
    ],
)
@pytest.mark.rule("paths", "first-parent-decides")
def test_the_first_line_of_a_class_with_an_answer_decides_about_those_below_it(
    of_first: tuple[str, ...], of_child: str, inputs: Inputs
) -> None:
    child = BO.child()
    inputs.pool(*of_first, BO.judged("1"), child.judged("1:1"))
    inputs.run(ASTRAY, BO, child)
    assert labels(inputs.score("-justifications", "M:M"))[-1] == of_child


@pytest.mark.parametrize(
    ("name", "refusal"),
    [
        (
            "garbage:1",
            f'query {Q}: unexpected argument: "garbage" sent to parse_queryid; the equivalence class garbage:1 of one '
            f"of its answers should be {Q}:n or {Q}:n:m; correct VALUE_EC",
        ),
        (
            "CSX_ENG_ffffffffff:1",
            f"query {Q}: queryid undefined in QuerySet->get(); the equivalence class CSX_ENG_ffffffffff:1 of one of "
            f"its answers should be {Q}:n or {Q}:n:m; correct VALUE_EC",
        ),
        (
            Q + ":1" * (MOST_COMPONENTS + 1),
            f"query {Q}: equivalence class with {MOST_COMPONENTS + 1} components: {Q + ':1' * (MOST_COMPONENTS + 1)}",
        ),
        (
            Q + ":1" * MOST_COMPONENTS,  # not too deep
            f"pool.tab: line 1: Equivalence class without correct parent entry: "
            f"{BO.judged('1' + ':1' * (MOST_COMPONENTS - 1))}"
            f"; there is no correct or inexact answer of class {Q + ':1' * (MOST_COMPONENTS - 1)} before it",
        ),
    ],
)
@pytest.mark.rule("odd-classes")
def test_a_class_that_fits_no_tree_ends_the_scoring(name: str, refusal: str, inputs: Inputs) -> None:
    inputs.pool(BO.judged("1").replace(f"{Q}:1", name))
    inputs.run(BO)
    assert inputs.refusal() == f"cs-score: {refusal}"


@pytest.mark.parametrize(("code", "where"), [("C", "before it"), ("X", "in the pool")])
@pytest.mark.rule("odd-classes")
def test_an_answer_of_a_class_whose_parent_class_is_empty_ends_the_scoring(
    code: str, where: str, inputs: Inputs
) -> None:
    orphan = BO.child().judged("2:3", code)
    inputs.pool(BO.judged("1"), orphan)
    inputs.run(BO)
    assert inputs.refusal() == (
        f"cs-score: pool.tab: line 2: Equivalence class without correct parent entry: {orphan}; "
        f"there is no correct or inexact answer of class {Q}:2 {where}"
    )


@pytest.mark.parametrize(("number", "first"), [(1, ":E1"), (3, ":E2")])
@pytest.mark.rule("node-confidence")
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
        # A slot that takes one value has one answer to be found where the pool has any; an unknown slot has no number,
        # and behind a known one no level.
        ((CHILDREN, AGE), "2017.2.0", {"0": "0", "1": "0", "ALL": "0"}),
        ((UNKNOWN,), "2017.2.0", {"0": "", "ALL": ""}),
        ((UNKNOWN, CHILDREN), "2017.2.0", {"0": "", "1": "0", "ALL": "0"}),
        ((CHILDREN, UNKNOWN), "2017.2.0", {"0": "0", "ALL": "0"}),
        # In June 2017 it had one in any case.
        ((CHILDREN, AGE), "2017.1.5", {"0": "0", "1": "1", "ALL": "1"}),
    ],
)
@pytest.mark.rule("average-precision")
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


@pytest.mark.parametrize(
    ("value", "by_discipline"),
    [
        ("Bo", {"ASSESSED": "UNASSESSED", "STRING_EXACT": "CORRECT", "STRING_CASE": "CORRECT"}),
        ("bO", {"ASSESSED": "UNASSESSED", "STRING_EXACT": "UNASSESSED", "STRING_CASE": "CORRECT"}),
        ("Cy", {"ASSESSED": "UNASSESSED", "STRING_EXACT": "UNASSESSED", "STRING_CASE": "UNASSESSED"}),
    ],
)
@pytest.mark.rule("matching")
def test_a_discipline_says_whether_the_value_will_do(value: str, by_discipline: dict[str, str], inputs: Inputs) -> None:
    inputs.pool(SECOND.judged("1"))
    inputs.run(replace(BO, value=value))
    for discipline, category in by_discipline.items():
        (block,) = blocks(inputs.score("-discipline", discipline))
        assert block.before == category


@pytest.mark.rule("ground-truth")
def test_classes_below_component_0_are_not_to_be_found(inputs: Inputs) -> None:
    child = BO.child()
    inputs.pool(BO.judged("0", "C").replace("C\t0\t", f"C\t{Q}:0\t"), child.judged("0:1"), SECOND.judged("1"))
    inputs.run(BO, child)
    scored = inputs.score()
    assert [row(scored, name).counts["GT"] for name in (Q, f"{Q}:0")] == [1, 0]


@pytest.mark.rule("ground-truth")
def test_a_wrong_answer_below_a_wrong_one_is_reported_with_all_that_lead_to_it(inputs: Inputs) -> None:
    parents = [SECOND.judged(), replace(SECOND, relation="N_ENG_2:1-9").judged()]
    inputs.pool(*parents, ORPHAN.judged())
    inputs.run(BO)
    said = report(inputs.score(status=255))
    assert (
        f"Unexpected child: \n{ORPHAN.judged()}\n \nAll parents:\n" + "\n".join(parents) + "\n (pool.tab line 3)"
        in said
    )


@pytest.mark.parametrize(
    ("node", "of_hop_1", "of_all"),
    [
        (":C1", ["E1:C1"], ["E1", "E1:C1"]),
        (":C1:0", ["E1:C1"], ["E1", "E1:C1"]),
        (":C1:a", [], ["E1", "E1:C1:a"]),
        (":C1:a:x:y", [], ["E1", "E1:C1:a:x:y"]),
    ],
)
@pytest.mark.rule("nodes")
def test_a_node_with_more_components_than_hops_is_in_the_ranking_of_all_alone(
    node: str, of_hop_1: list[str], of_all: list[str], inputs: Inputs
) -> None:
    inputs.pool(BO.judged("1"), BO.child().judged("1:1"))
    inputs.run(BO, BO.child(node=node))
    scored = inputs.score()
    for level, names in (("0", ["E1"]), ("1", of_hop_1), ("ALL", of_all)):
        assert [ranked.node for ranked in ranking(scored, level)] == [f"{Q}:{name}" for name in names]
