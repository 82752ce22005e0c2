"""Bounds: what a run would score if all that nobody assessed were wrong, or right."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cs_score.analysis.coldstart.scored import Scored, score_for_analysis
from cs_score.analysis.coldstart.sections.bounds import bounds
from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.coldstart.gold import open_gold, with_pool
from cs_score.coldstart.options import Options, Policy
from cs_score.coldstart.run import load_run
from tests.analysis.rewriting import EXACT, Call
from tests.analysis.test_effects import call_of, laws
from tests.analysis.test_policies import analysis_of
from tests.analysis.variants import Variant, variants
from tests.coldstart.recorded import Case, committed_cases
from tests.coldstart.worlds import BASE, FIRST_SLOTS, Assessment, World, worlds

UNASSESSED_WRONG = Policy(wrong=("INCORRECT", "INCORRECT_PARENT", "INEXACT", "UNASSESSED"), ignore=("DUPLICATE",))
SINGLE = {slot.name for slot in FIRST_SLOTS if slot.single}


def scored(world: World, policy: Policy) -> Scored:
    """The run of a world."""
    with tempfile.TemporaryDirectory() as folder:
        queries, pool, run = (str(Path(folder) / name) for name in world.write(Path(folder)))
        gold = with_pool(open_gold([queries], Options(expand=BASE, policy=policy)), [pool])
        return score_for_analysis(load_run(gold, [run]), policy)


def check(call: Call) -> None:
    """Law 5 for every measure of every run."""
    for run_id in call.run_ids():
        try:
            run = score_for_analysis(
                load_run(open_gold(call.queries, call.options), call.files), call.options.policy, run_id
            )
        except InputError:
            assert call.scores(run_id) == {}
            continue
        for measure, score in run.result.measures.items():
            found = bounds(run, measure)
            assert found.lower <= score == found.score <= found.upper
            assert found.unassessed or found.lower == found.upper
            assert sum(slot.unassessed for slot in found.slots) == found.unassessed


@laws
@given(worlds(), variants(), st.data())
def test_the_score_lies_between_its_bounds(world: World, variant: Variant, data: st.DataObject) -> None:
    assume(len(world.run) > 3)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        check(variant.write(world, Path(folder), data))


@pytest.mark.parametrize("case", committed_cases(), ids=lambda case: case.folder.name)
def test_the_score_lies_between_its_bounds_in_a_committed_case(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if (call := call_of(case, tmp_path)) is not None:
        monkeypatch.chdir(tmp_path)
        check(call)


@laws
@given(worlds())
def test_the_lower_bound_is_the_score_with_unassessed_lines_wrong(world: World) -> None:
    assume(world.run)
    run, strict = scored(world, Policy()), scored(world, UNASSESSED_WRONG)
    for measure, score in run.result.measures.items():
        assert bounds(run, measure).lower == min(score, strict.result.measures[measure])


@laws
@given(worlds())
def test_the_upper_bound_is_the_score_against_a_pool_that_knows_the_answers(world: World) -> None:
    """Where unassessed answers stand in lists and have nothing below them, a pool can say just what is assumed."""
    known = {each.answer for each in world.pool}
    first = {sf_query for query in world.queries for sf_query in query.sf_queries()}
    world = replace(
        world,
        run=tuple(
            line
            for line in world.run
            if line.answer in known or (line.answer.query in first and line.answer.slot not in SINGLE)
        ),
    )
    gained = list(dict.fromkeys(line.answer for line in world.run if line.answer not in known))
    assume(gained)
    classes = [Assessment(answer, "C", f"{answer.query}:{at}") for at, answer in enumerate(gained, 90)]
    extended = replace(world, pool=(*world.pool, *classes))
    run, other = scored(world, Policy()), scored(extended, Policy())
    assert run.stopped is None
    # There the scorer expects a second answer of every first one (specification 9.7), also of one that is gained.
    has_single_second = any(slot.single for query in world.queries for slot in query.slots[1:])
    for measure, score in run.result.measures.items():
        if not measure.average and has_single_second:
            continue
        found = bounds(run, measure)
        assert found.unassessed == len(gained)
        assert found.upper == pytest.approx(max(score, other.result.measures.get(measure, score)), abs=EXACT), measure


def test_the_bounds_of_a_sample_run() -> None:
    """One of its lines is unassessed, which the policy ignores."""
    found = analysis_of("--measure", "SF-ALL-Micro-P")["bounds"]
    assert found["unassessed"] == 1
    [slot] = [slot for slot in found["slots"] if slot["unassessed"]]
    assert slot == {"slot": "per:children", "lines": 12, "unassessed": 1, "share": 1 / 12}
    # Of 24 lines 7 are ignored, that one among them, and 12 of the others are right.
    assert (found["lower"], found["score"], found["upper"]) == (12 / 18, 12 / 17, 13 / 18)
    recall = analysis_of("--measure", "SF-ALL-Micro-R")["bounds"]
    assert (recall["lower"], recall["score"], recall["upper"]) == (12 / 16, 12 / 16, 13 / 17)
