"""The error budget against the scorer: each score is that of files with all mistakes of a kind mended (law 3)."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from cs_score.analysis.coldstart.scored import Scored, score_for_analysis
from cs_score.analysis.coldstart.sections.budget import KINDS, MISSED, Mending, moved
from cs_score.analysis.coldstart.sections.mistakes import mistakes_of
from cs_score.analysis.coldstart.whatif.effects import Effects
from cs_score.base.records import replace
from cs_score.coldstart.gold import load_run, noting_folders, open_gold
from cs_score.coldstart.options import WRONG, Policy
from tests.analysis.rewriting import EXACT, Call
from tests.analysis.test_effects import call_of, laws
from tests.analysis.variants import Variant, variants
from tests.coldstart.recorded import Case, committed_cases, shared_cases
from tests.coldstart.worlds import World, worlds


def check(call: Call) -> int:
    """Hold the budget of every run of a call against the scorer; the number of kinds that there were."""
    kinds = 0
    for run_id in call.run_ids():
        outcome, analysis = call.analyze("--run", run_id, "--top", "1")
        if outcome.status:
            continue
        before = analysis["score"]
        for row in analysis["budget"]:
            found = _score(call, analysis, row, Policy(**{side: _items(text) for side, text in row["policy"].items()}))
            assert _same(row["score"], found), row["kind"]
            assert _same(row["gain"], None if found is None else found - before), row["kind"]
            assert ("reason" in row) == (None in (row["score"], row["cumulated"]))
            kinds += row["count"] > 0
        assert _same(analysis["budget"][-1]["cumulated"], _fully_mended(call, analysis))
    return kinds


def _score(call: Call, analysis: Mapping[str, Any], change: Mapping[str, Any], policy: Policy) -> float | None:
    """The score of the files as changed, under a policy; None where the scorer gives none."""
    with call.rewritten(change["removed"], change["added"], analysis["added_to"]):
        return call.scores(analysis["run"], replace(call.options, policy=policy)).get(analysis["measure"])


def _fully_mended(call: Call, analysis: Mapping[str, Any]) -> float | None:
    """The score with all mistakes mended at once."""
    with contextlib.chdir(call.folder):
        scored = _scored(call, analysis["run"])
        effects = Effects(scored, [scored.measure(analysis["measure"])])
        units = list(mistakes_of(scored, effects.rescoring.finding))
        policy = scored.policy
        gone = []
        for category, side in KINDS.values():
            lines = [each.line for unit in units for each in unit.lines if each.category == category]
            if side is None:
                gone += lines
            elif lines:
                policy = moved(policy, category, WRONG, side)
        order = effects.rescoring.files.order
        classes = [missed for unit in units for missed in unit.classes]
        classes.sort(key=lambda missed: (order[missed.assessment.file], missed.assessment.number))
        change = Mending(policy, tuple(gone), tuple(classes)).change(effects)
    return _score(call, analysis, change.as_json(), policy)


def _scored(call: Call, run_id: str) -> Scored:
    gold = noting_folders(open_gold(call.queries, call.options), call.files)
    return score_for_analysis(load_run(gold, call.files), call.options.policy, run_id)


def _items(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(":")))


def _same(one: float | None, other: float | None) -> bool:
    return one is other if one is None or other is None else abs(one - other) <= EXACT


@laws
@given(worlds(), variants(), st.data())
def test_in_an_invented_world(world: World, variant: Variant, data: st.DataObject) -> None:
    """Law 3, whatever the layout, the files, the policy and the order."""
    assume(len(world.run) > 3)
    with tempfile.TemporaryDirectory() as folder:
        event(f"{check(variant.write(world, Path(folder), data))} kinds")


@pytest.mark.parametrize("case", committed_cases(), ids=lambda case: case.folder.name)
def test_in_a_committed_case(case: Case, tmp_path: Path) -> None:
    if (call := call_of(case, tmp_path)) is not None:
        check(call)


@pytest.mark.slow
@pytest.mark.parametrize("case", shared_cases(), ids=lambda case: case.folder.name)
def test_in_a_shared_case(case: Case, tmp_path: Path) -> None:
    if (call := call_of(case, tmp_path)) is not None:
        check(call)


def test_all_that_is_missed_is_the_last_kind() -> None:
    assert [*KINDS, MISSED] == ["incorrect", "incorrect_parent", "inexact", "duplicate", "unassessed", "missed"]
