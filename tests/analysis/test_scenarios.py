"""Scenarios: what a run would score if all that nobody assessed were wrong, or right."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from hypothesis import assume, given
from hypothesis import strategies as st

from cs_score.coldstart.options import Options, Policy
from tests.analysis.rewriting import EXACT, Call
from tests.analysis.test_laws import with_unassessed_wrong
from tests.analysis.test_sections import SAMPLES, analysis_of
from tests.coldstart.command import score_in
from tests.coldstart.worlds import BASE, Answer, Assessment, World, worlds
from tests.documents import ROOT

NONE_WRONG = Policy()
INEXACT_RIGHT = Policy(right=("CORRECT", "INEXACT"), wrong=("INCORRECT", "INCORRECT_PARENT"))


def assignments(world: World, answers: Sequence[Answer]) -> Iterator[list[Assessment]]:
    """Every way to assess these answers, parents first: a class below that of the parent, a new one, wrong."""
    class_of = {each.answer.follow_on(): each.ec for each in world.pool if each.code in "CX"}

    def ways(at: int, given: Mapping[str, str]) -> Iterator[list[Assessment]]:
        if at == len(answers):
            yield []
            return
        answer = answers[at]
        hop = answer.query.count("_") - 2
        above = given.get(answer.query) if hop else answer.query
        names: list[str] = []
        if above is not None:
            known = {ec for ec in (*class_of.values(), *given.values()) if ec.rpartition(":")[0] == above}
            names = [*sorted(known), f"{above}:99{at}"]
        for name in names:
            for rest in ways(at + 1, {**given, answer.follow_on(): name}):
                yield [Assessment(answer, "C", name), *rest]
        for rest in ways(at + 1, given):
            # Below a wrong answer nothing needs an assessment, and nothing may have one.
            yield [*([Assessment(answer, "W", "0")] if above is not None else []), *rest]

    yield from ways(0, class_of)


@given(worlds(), st.sampled_from((NONE_WRONG, with_unassessed_wrong(NONE_WRONG), INEXACT_RIGHT)))
def test_no_assessment_of_up_to_three_answers_beats_the_optimistic_scenario(world: World, policy: Policy) -> None:
    """One may where an unassessed answer stands below another: answers below gain or lose by the class of theirs."""
    known = {each.answer for each in world.pool}
    answers = list(dict.fromkeys(line.answer for line in world.run if line.answer not in known))
    assume(0 < len(answers) <= 3)
    assume({answer.query for answer in answers}.isdisjoint(answer.follow_on() for answer in answers))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        queries, pool, run = world.write(folder)
        switches = [word for side, text in policy.texts().items() for word in (f"-{side.lower()}", text)]
        call = Call(folder, ("-expand", BASE, *switches), (queries,), (pool, run), Options(expand=BASE, policy=policy))
        analysis = call.analyzed("runA", "SF-ALL-Micro-F1")
        with call.rewritten([], analysis["scenarios"]["added_pool"], pool):
            best = call.scores("runA")
        for added in itertools.islice(assignments(world, answers), 200):
            with call.rewritten([], [each.line() for each in added], pool):
                scores = call.scores("runA")
            for measure in ("SF-ALL-Micro-P", "SF-ALL-Micro-F1"):
                assert scores[measure] <= best[measure] + EXACT, (measure, [each.line() for each in added])


def test_the_scenarios_of_a_sample_run() -> None:
    """One of its lines is unassessed, which the policy ignores; all classes of its query but others are found."""
    found = analysis_of("--measure", "SF-ALL-Micro-P")["scenarios"]
    assert found["unassessed"] == 1
    [slot] = [slot for slot in found["slots"] if slot["unassessed"]]
    assert slot == {"slot": "per:children", "lines": 12, "unassessed": 1, "share": 1 / 12}
    # Of 24 lines 7 are ignored, that one among them, and 12 of the others are right.
    assert (found["pessimistic"], found["score"], found["optimistic"]) == (12 / 18, 12 / 17, 13 / 18)
    recall = analysis_of("--measure", "SF-ALL-Micro-R")["scenarios"]
    assert (recall["pessimistic"], recall["score"], recall["optimistic"]) == (12 / 16, 12 / 16, 13 / 17)
    [line] = recall["added_pool"]
    assert line.split("\t")[1:] == [
        "ISLE26_ENG_4d2650256f:per:children", "ENG_ISLE_019:9-76", "Zeb Brandreth", "ENG_ISLE_019:33-45", "C", "NAM",
        "C", "ISLE26_ENG_4d2650256f:4", "NAM",
    ]  # fmt: skip
    assert recall["added_pool_to"] == "assessments/pool-2016.tab"


def test_people_read_the_scenarios_beside_the_score_and_no_bound() -> None:
    outcome = score_in(ROOT, ("analyze", *SAMPLES))
    text = outcome.stdout.decode()
    lines = text.splitlines()
    assert lines[0] == "TIDE_KB: LDC-MEAN-ALL-Macro-F1 = 0.7917"
    beside = " ".join(itertools.takewhile(bool, lines[1:]))
    assert beside == (
        "1 line was not assessed: the score would be 0.7870 if all were wrong (pessimistic scenario) and 0.7944 if all "
        "were right (optimistic scenario)."
    )
    assert not any(word in text.lower() for word in ("bound", "between", "at most"))
