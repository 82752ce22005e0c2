"""Intervals of `analyze --bootstrap`: one mechanism with those of the scorer, also for groups."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.coldstart.command import score_in
from tests.documents import ROOT

SAMPLES: Final = (
    *("-expand", "ISLE26", "-queries", str(ROOT / "queries/queryids.txt"), str(ROOT / "queries/ldc-queries.xml")),
    *(str(ROOT / "assessments/pool-2016.tab"), str(ROOT / "submissions/tide-kb.tab.txt")),
)
SF: Final = ("--measure", "SF-ALL-Micro-F1")


def _analysis(folder: Path, *switches: str) -> dict[str, Any]:
    outcome = score_in(folder, ["analyze", *SF, *switches, "--format", "json", *SAMPLES])
    assert outcome.status == 0, outcome.stderr
    found: dict[str, Any] = json.loads(outcome.stdout)
    return found


@pytest.mark.parametrize("settings", [("--seed", "7"), ("--interval", "bca", "--confidence", "90")])
def test_scores_have_the_intervals_that_the_scorer_gives(settings: tuple[str, ...], tmp_path: Path) -> None:
    words = ["score", "--format", "json", "--measure", "*", "--bootstrap", "200", *settings, *SAMPLES]
    outcome = score_in(tmp_path, words)
    assert outcome.status == 0, outcome.stderr
    (run,) = json.loads(outcome.stdout)["runs"]
    found = _analysis(tmp_path, "--bootstrap", "200", *settings)
    assert found["intervals"]["scores"].items() >= run["intervals"]["scores"].items()
    assert found["origin"]["options"]["bootstrap"]["resamples"] == 200
    for hop in found["groups"]["hop"]:
        for name, measure in (("precision", "P"), ("recall", "R"), ("f1", "F1")):
            of_hop = found["intervals"]["scores"][f"SF-ALL-Micro-{measure}@{hop['group']}"]
            assert hop["intervals"][name] == of_hop


def test_which_groups_have_intervals(tmp_path: Path) -> None:
    groups = _analysis(tmp_path, "--bootstrap", "9", "--by", "slot,language", "--by", "slot,ldc_query")["groups"]
    for dimension, members in groups.items():
        for group in members:
            scored = {name for name in ("precision", "recall", "f1") if group[name] is not None}
            assert set(group.get("intervals", ())) == (set() if "ldc_query" in dimension else scored)
    assert "intervals" not in _analysis(tmp_path)
    assert all("intervals" not in group for group in _analysis(tmp_path)["groups"]["slot"])
