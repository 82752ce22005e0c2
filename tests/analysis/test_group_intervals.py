"""Intervals of `analyze --bootstrap`: one mechanism with those of the scorer, also for groups."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.coldstart.command import score_in
from tests.documents import ROOT
from tests.report.analyses import MEASURE, analysis, page_in

SAMPLES: Final = (
    *("-expand", "ISLE26", "-queries", str(ROOT / "queries/queryids.txt"), str(ROOT / "queries/ldc-queries.xml")),
    *(str(ROOT / "assessments/pool-2016.tab"), str(ROOT / "submissions/tide-kb.tab.txt")),
)
SF: Final = ("--measure", "SF-ALL-Micro-F1")


def _analysis(folder: Path, *switches: str) -> dict[str, Any]:
    outcome = score_in(folder, ["analyze", *SF, *switches, "--json", "-", *SAMPLES])
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


def test_equal_seeds_give_equal_intervals(tmp_path: Path) -> None:
    first, again = (_analysis(tmp_path, "--bootstrap", "50", "--seed", "3") for _ in range(2))
    assert first == again
    other = _analysis(tmp_path, "--bootstrap", "50", "--seed", "4")
    assert other["intervals"]["scores"] != first["intervals"]["scores"]


def test_the_text_and_the_tables_have_them(tmp_path: Path) -> None:
    outcome = score_in(tmp_path, ["analyze", *SF, "--bootstrap", "1000", "--tsv", "tables", *SAMPLES])
    lines = outcome.stdout.decode().splitlines()
    assert lines[0] == "TIDE_KB: SF-ALL-Micro-F1 = 0.7273 [0.6667, 1.0000]"
    assert any(
        "percentile bootstrap intervals from 1000 resamples of 3 units (LDC query), seed 0." in each for each in lines
    )
    assert "Note: 3 units only" in lines[-1]
    rows = [line.split("\t") for line in (tmp_path / "tables/groups.tsv").read_text().splitlines()]
    hop = dict(zip(rows[0], next(row for row in rows if row[:2] == ["hop", "1"])))
    assert (hop["f1_low"], hop["f1_high"]) == ("0.5", "0.75")
    table = (tmp_path / "tables/intervals.tsv").read_text().splitlines()
    assert table[0].split("\t") == ["measure", "score", "low", "high", "standard_error", "note"]
    assert [line.split("\t")[2:4] for line in table if line.startswith("SF-ALL-Micro-F1@1")] == [["0.5", "0.75"]]


@pytest.mark.parametrize(
    ("switches", "complaint"),
    [
        (("--seed", "1"), "--seed is about intervals: give --bootstrap N, too"),
        (("--bootstrap", "0"), "--bootstrap takes a whole number from 1"),
        (("--bootstrap", "9", "--interval", "exact"), "--interval takes percentile or bca, not exact"),
    ],
)
def test_settings_that_mean_nothing(switches: tuple[str, ...], complaint: str, tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables/budget.tsv").write_bytes(b"kind\tcount\tgain\tscore\tcumulated\treason\n")
    outcome = score_in(tmp_path, ["analyze", *switches, "--tsv", "tables", *SAMPLES])
    assert (outcome.status, outcome.stdout) == (2, b"")
    assert complaint in outcome.stderr.decode()
    assert (tmp_path / "tables/budget.tsv").exists()  # nothing is cleared for a call that cannot be


def test_the_page_shows_them(tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    outcome = score_in(tmp_path, ["report", *SF, "--bootstrap", "1000", *SAMPLES, "--out", "page.html"])
    assert outcome.status == 0, outcome.stderr
    page = (tmp_path / "page.html").read_text()
    assert "0.6667 to 1.0000" in page
    assert "F1, low" in page


def test_the_page_of_scores_without_limits(tmp_path: Path) -> None:
    """Where too many resamples are 0/0, or where a score has no interval at all."""
    pytest.importorskip("jinja2")
    value = analysis()
    none = {"point": value["score"], "low": None, "high": None, "standard_error": None}
    settings = {"resamples": 9, "seed": 0, "confidence": 95.0, "method": "percentile", "unit": "LDC query"}
    value["intervals"] = {**settings, "units": 2, "notes": [], "scores": {MEASURE: none}}
    assert b"0.4375" in page_in(tmp_path, value)
