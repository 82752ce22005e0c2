"""Scores under other policies are those of the scorer with other switches (law 1 of the insight specification)."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cs_score.base.records import replace
from cs_score.coldstart.options import PRESETS, Justifications, Policy
from tests.analysis.rewriting import EXACT, Call
from tests.analysis.test_effects import call_of, laws
from tests.analysis.variants import ALL_WRONG, Variant, variants
from tests.coldstart.command import score_in
from tests.coldstart.recorded import Case, committed_cases, shared_cases
from tests.coldstart.worlds import World, worlds
from tests.documents import ROOT

SAMPLES = ("-expand", "ISLE26", "-queries", "queries/queryids.txt", "queries/ldc-queries.xml",
           "assessments/pool-2016.tab", "submissions/tide-kb.tab.txt")  # fmt: skip
STRICT = "strict:wrong=INCORRECT:INCORRECT_PARENT:INEXACT:UNASSESSED:DUPLICATE,ignore=,justifications=2:M"


def switches_of(policy: Mapping[str, str]) -> tuple[Policy, Justifications]:
    """The policy and the limits that the JSON says scores stand for."""
    sides = {side: tuple(filter(None, policy[side].split(":"))) for side in ("right", "wrong", "ignore")}
    return Policy(**sides), Justifications.parse(policy["justifications"])


def check(call: Call, *given: str) -> None:
    """Hold the scores of every run under every policy against the scorer under these switches."""
    for run_id in call.run_ids():
        outcome, analysis = call.analyze("--run", run_id, "--top", "1", *given)
        if outcome.status:
            assert call.scores(run_id) == {}, outcome.stderr
            continue
        for row in analysis["policies"]:
            policy, limits = switches_of(row["policy"])
            found = call.scores(run_id, replace(call.options, policy=policy, justifications=limits))
            assert row["scores"].keys() >= {analysis["measure"]}
            for name, score in row["scores"].items():
                assert (score is None) == (name not in found), (row["name"], name)
                assert score is None or abs(score - found[name]) <= EXACT, (row["name"], name)
            assert ("reason" in row) == (None in row["scores"].values())


@laws
@given(worlds(), variants(), st.data())
def test_in_an_invented_world(world: World, variant: Variant, data: st.DataObject) -> None:
    assume(len(world.run) > 3)
    with tempfile.TemporaryDirectory() as folder:
        check(variant.write(world, Path(folder), data), "--also-policy", STRICT)


@pytest.mark.parametrize("case", committed_cases(), ids=lambda case: case.folder.name)
def test_in_a_committed_case(case: Case, tmp_path: Path) -> None:
    if (call := call_of(case, tmp_path)) is not None:
        check(call, "--also-policy", STRICT)


@pytest.mark.slow
@pytest.mark.parametrize("case", shared_cases(), ids=lambda case: case.folder.name)
def test_in_a_shared_case(case: Case, tmp_path: Path) -> None:
    if (call := call_of(case, tmp_path)) is not None:
        check(call, "--also-policy", STRICT)


def analysis_of(*switches: str) -> Any:
    """The analysis of a sample run."""
    outcome = score_in(ROOT, ("analyze", *switches, "--json=-", *SAMPLES))
    assert outcome.status == 0, outcome.stderr
    return json.loads(outcome.stdout)


def test_the_published_policies_come_first_and_can_be_replaced() -> None:
    rows = analysis_of("--also-policy", "own:right=CORRECT:INEXACT,wrong=INCORRECT", "--also-policy", "sf:ignore=")[
        "policies"
    ]
    assert [row["name"] for row in rows] == [*PRESETS, "own"]
    assert switches_of(rows[1]["policy"])[0] == Policy(ignore=())
    assert rows[2]["policy"]["right"] == "CORRECT:INEXACT"
    # Parts that are left out are those of the switches.
    assert rows[2]["policy"]["ignore"] == "UNASSESSED:DUPLICATE"
    switches = [word for side, text in ALL_WRONG.texts().items() for word in (f"-{side.lower()}", text)]
    [*_, own] = analysis_of(*switches, "--also-policy", "own:right=CORRECT")["policies"]
    assert switches_of(own["policy"])[0] == ALL_WRONG


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nosuch", "--also-policy nosuch: no such preset; there are kb, sf"),
        ("x:right=INCORRECT", "Unexpected choice INCORRECT for RIGHT"),
        ("../x:right=CORRECT", "a name is made of letters"),
    ],
)
def test_what_is_no_policy_is_wrong_usage(given: str, said: str) -> None:
    outcome = score_in(ROOT, ("analyze", "--also-policy", given, *SAMPLES))
    assert (outcome.status, outcome.stdout) == (2, b"")
    assert said in outcome.stderr.decode()
