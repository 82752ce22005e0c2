"""Scores under other policies are those of the scorer with other switches (law 1 of the insight specification)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cs_score.coldstart.options import PRESETS, Policy
from tests.analysis.test_laws import switches_of
from tests.analysis.variants import ALL_WRONG
from tests.coldstart.command import score_in
from tests.documents import ROOT

SAMPLES = ("-expand", "ISLE26", "-queries", "queries/queryids.txt", "queries/ldc-queries.xml",
           "assessments/pool-2016.tab", "submissions/tide-kb.tab.txt")  # fmt: skip


def analysis_of(*switches: str) -> Any:
    """The analysis of a sample run."""
    outcome = score_in(ROOT, ("analyze", *switches, "--format=json", *SAMPLES))
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
