"""Missed classes: which of them an answer of the pool could find, and which recall is left."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cs_score.analysis.coldstart.changes import Finding
from cs_score.analysis.coldstart.mistakes import NO_RIGHT_PARENT, ONLY_INEXACT, ONLY_NOMINAL, mistakes_of
from cs_score.analysis.coldstart.scored import Scored, score_for_analysis
from cs_score.base.records import replace
from cs_score.coldstart.gold import load_run, open_gold, with_pool
from cs_score.coldstart.options import Options, Policy
from tests.analysis.test_sections import INEXACT_RIGHT, analysis_of
from tests.coldstart.worlds import BASE, Answer, Assessment, Query, Response, Slot, World, worlds


def missed(world: World, policy: Policy) -> dict[str, str | None]:
    """The missed classes of a world, each with why no answer finds it; None where one does."""
    with tempfile.TemporaryDirectory() as folder:
        queries, pool, run = (str(Path(folder) / name) for name in world.write(Path(folder)))
        gold = with_pool(open_gold([queries], Options(expand=BASE, policy=policy)), [pool])
        scored: Scored = score_for_analysis(load_run(gold, [run]), policy)
    faults = (fault for of_unit in mistakes_of(scored, Finding(scored.run, scored.run_id)) for fault in of_unit)
    return {str(fault.class_name): fault.unreachable for fault in faults if fault.kind == "class"}


def giving(world: World, answer: Answer, at: int) -> World:
    """The world whose run gives an answer, too, below the answers of the pool that lead to it."""
    parents = [each.answer for each in world.pool if each.answer.follow_on() == answer.query]
    world = giving(world, parents[0], at) if parents else world
    return world.adding(Response(answer, "0.01", f":N{at}x{len(world.run)}"))


@given(worlds(), st.sampled_from((Policy(), INEXACT_RIGHT)))
def test_a_class_is_reachable_if_an_answer_of_the_pool_finds_it(world: World, policy: Policy) -> None:
    assume(world.run)
    single = {slot.name for query in world.queries for slot in query.slots if slot.single}
    for name, reason in missed(world, policy).items():
        answers = [each.answer for each in world.pool if each.code in "CX" and each.ec == name]
        if answers[0].slot in single:  # any class of its row would do
            continue
        finds = [name not in missed(giving(world, answer, 90), policy) for answer in answers]
        assert any(finds) == (reason is None), (name, reason)


CHILDREN = Query("Q_0001", (Slot("per:children"), Slot("per:schools_attended")), ("ENG_DOC",))


@pytest.mark.parametrize(
    ("code", "mention", "reasons"),
    [("C", "NAM", [None, None]), ("X", "NAM", [ONLY_INEXACT, NO_RIGHT_PARENT]), ("C", "NOM", [ONLY_NOMINAL, None])],
)
def test_why_no_answer_finds_a_class(code: str, mention: str, reasons: list[str | None]) -> None:
    (query,) = CHILDREN.sf_queries()
    child, other = (Answer(query, "per:children", f"V{at}", f"ENG_{at}") for at in (1, 2))
    school = Answer(child.follow_on(), "per:schools_attended", "School", "ENG_3")
    pool = (
        Assessment(child, code, f"{query}:1", mention),
        Assessment(school, "C", f"{query}:1:1"),
        Assessment(other, "C", f"{query}:2"),
    )
    world = World((CHILDREN,), pool, (Response(other, "0.5", ":A"),))
    assert missed(world, Policy()) == dict(zip([f"{query}:1", f"{query}:1:1"], reasons))
    if code == "X":
        both = replace(INEXACT_RIGHT, ignore=("UNASSESSED",))
        assert set(missed(world, both).values()) == {None}


def test_the_budget_counts_what_no_answer_finds(tmp_path: Path) -> None:
    """Without CORRECT on the right side no class of the sample can be found by any answer that is not inexact."""
    found = analysis_of("-right", "INEXACT", "-wrong", "INCORRECT", "--measure", "SF-ALL-Micro-R")
    row = found["budget"][-1]
    classes = [each for each in found["mistakes"] if each["kind"] == "class"]
    lost = [each for each in classes if not each["reachable"]]
    assert lost
    assert sum(row["unreachable"].values()) == len(lost)
    assert all(each["reason"] in row["unreachable"] for each in lost)
    assert row["reachable_recall"] == (16 - len(lost)) / 16
    all_reachable = analysis_of("--measure", "SF-ALL-Micro-R")["budget"][-1]
    assert (all_reachable["unreachable"], all_reachable["reachable_recall"]) == ({}, 1.0)
