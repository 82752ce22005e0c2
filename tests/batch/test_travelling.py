"""Plans and runs that go to a worker with another working folder, or with other files altogether."""

from __future__ import annotations

import contextlib
import pickle
import tempfile
from pathlib import Path

import pytest

from cs_score.batch.coldstart import ColdStartPlan
from cs_score.batch.execution import Job, Scorer
from cs_score.batch.plan import InputFile, RunFile, Scored
from cs_score.cli.batch import _plan_of_runs
from cs_score.cli.core import load
from tests.batch.command import without_time
from tests.coldstart.recorded import Case, committed_cases, copy_inputs

CASES = [case for case in committed_cases() if case.folder.name in ("samples_009", "queries_sw_010")]


def _plan_of(case: Case) -> ColdStartPlan:
    line = load("").read(case.args)
    switches = [(name, value) for name, value in line.switches.items() if name not in ("-output_file", "-error_file")]
    words = [word for name, value in switches for word in ([name] if value is None else [name, value])]
    queries = tuple(word for word in line.words if word.endswith(".xml"))
    return _plan_of_runs(load("batch").read(["-o", "out", "--with-json", *words, *line.words]), queries, ("pool.tab",))


def _scored(plan: ColdStartPlan, run: InputFile) -> Scored:
    [scored] = Scorer(plan)(Job("coldstart", RunFile("run", run), {"": None}))
    return scored


@pytest.mark.parametrize("ship", [False, True], ids=["shared", "shipped"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.folder.name)
def test_files_of_options_travel_too(case: Case, ship: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    there.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # what lives as long as this process goes with its folder
    copy_inputs(case, here)
    with contextlib.chdir(here):
        plan = _plan_of(case)
        expected = _scored(plan, InputFile("run.tab"))
        run = InputFile("run.tab")
        sent = pickle.dumps((plan.travelling(ship), run.travelling(ship)))
    if ship:
        for path in here.iterdir():
            path.unlink()
    with contextlib.chdir(there):
        arrived = _scored(*pickle.loads(sent))
    assert expected.outcome.failure is None
    assert (plan.query_list or plan.samples) is not None
    assert arrived.outcome == expected.outcome
    of_each = [{name: without_time(b"".join(blocks)) for name, blocks in each.files} for each in (arrived, expected)]
    assert of_each[0] == of_each[1]
