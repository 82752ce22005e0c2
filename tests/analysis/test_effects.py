"""Effects against the scorer: each one is the difference of two scores, of the files as they are and as changed."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from cs_score.base.errors import CsScoreError
from cs_score.base.records import replace
from cs_score.cli.form import load
from cs_score.cli.options import HelpWanted, VersionWanted
from cs_score.cli.registry import find
from cs_score.cli.scorer.options import options_of
from cs_score.coldstart.query_files import is_query_file
from tests.analysis.rewriting import Call, wrong_effects
from tests.analysis.variants import Variant, variants
from tests.coldstart.recorded import Case, committed_cases, copy_inputs, shared_cases
from tests.coldstart.worlds import World, worlds

FEW: Final = 6
MANY: Final = 60
SCORING: Final = ("-discipline", "-expand", "-ignore", "-justifications", "-queries", "-right", "-wrong", "-runids")

laws = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def call_of(case: Case, folder: Path) -> Call | None:
    """The files that a recorded command line scores; None where it scores none."""
    command, words = find(case.words)
    if command.name:
        return None
    copy_inputs(case, folder)
    try:
        line = load(command).read(words)
        options = replace(options_of(line), samples=None)
    except (CsScoreError, HelpWanted, VersionWanted):  # what the case is about
        return None
    switches = [word for name in SCORING if name in line.switches for word in (name, line.text(name, ""))]
    queries = tuple(word for word in line.words if is_query_file(word))
    return Call(folder, tuple(switches), queries, tuple(word for word in line.words if word not in queries), options)


def check(call: Call, most: int, *switches: str) -> int:
    """Check so many effects of each run of a call, spread over its mistakes; the number of effects checked."""
    checked = 0
    for run_id in call.run_ids():
        outcome, analysis = call.analyze("--run", run_id, *switches)
        assert outcome.status in (0, 1), outcome.stderr
        if outcome.status:
            assert call.scores(run_id) == {}, outcome.stderr
            continue
        assert analysis["scores"] == call.scores(run_id)
        mistakes: Sequence[dict[str, object]] = analysis["mistakes"]
        chosen = mistakes[:: max(1, len(mistakes) // most)]
        assert list(wrong_effects(call, analysis, chosen)) == []
        checked += len(chosen)
    return checked


def _name(case: Case) -> str:
    return case.folder.name


@pytest.mark.parametrize("case", committed_cases(), ids=_name)
def test_effects_in_a_committed_case(case: Case, tmp_path: Path) -> None:
    call = call_of(case, tmp_path)
    if call is not None:
        check(call, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("case", shared_cases(), ids=_name)
def test_effects_in_a_shared_case(case: Case, tmp_path: Path) -> None:
    call = call_of(case, tmp_path)
    if call is not None:
        check(call, MANY)


@laws
@given(worlds(), variants(), st.data())
def test_effects_on_a_measure_of_one_hop(world: World, variant: Variant, data: st.DataObject) -> None:
    """A table may have no row of a hop any more: the scorer has no such score then, and neither has the effect."""
    assume(len(world.run) > 3)
    with tempfile.TemporaryDirectory() as folder:
        call = variant.write(world, Path(folder), data)
        of_runs = [call.scores(run_id) for run_id in call.run_ids()]
        hops = [
            name for name in (of_runs[0] if of_runs else ()) if "@" in name and all(name in each for each in of_runs)
        ]
        assume(hops)
        check(call, 8, "--measure", data.draw(st.sampled_from(hops)))


@laws
@given(worlds(), variants(), st.data())
def test_effects_in_an_invented_world(world: World, variant: Variant, data: st.DataObject) -> None:
    """Law 1 for lines, nodes and classes, whatever the layout, the files, the policy and the order."""
    assume(len(world.run) > 3)
    with tempfile.TemporaryDirectory() as folder:
        call = variant.write(world, Path(folder), data)
        event(f"{check(call, 1000)} effects")
