"""Sections of the analysis of a sample run: its cost list, policies, problems, thresholds, intervals of groups."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cs_score.analysis.coldstart.analysis import analyze
from cs_score.analysis.coldstart.confidence import thresholds
from cs_score.analysis.coldstart.scored import score_for_analysis
from cs_score.coldstart.gold import load_run, open_gold
from cs_score.coldstart.options import PRESETS, Options, Policy
from tests.analysis.test_laws import switches_of
from tests.analysis.variants import ALL_WRONG
from tests.coldstart.command import score_in
from tests.documents import ROOT

FILES = ("queries/ldc-queries.xml", "assessments/pool-2016.tab", "submissions/tide-kb.tab.txt")
SAMPLES = ("-expand", "ISLE26", "-queries", "queries/queryids.txt", *FILES)
OWN = ("--also-policy", "own:right=CORRECT:INEXACT,wrong=INCORRECT", "--also-policy", "sf:ignore=")


@cache
def analysis_of(*switches: str) -> Any:
    """The analysis of a sample run."""
    outcome = score_in(ROOT, ("analyze", "--quiet", *switches, "--format=json", *SAMPLES))
    assert (outcome.status, outcome.stderr) == (0, b"")
    return json.loads(outcome.stdout)


@pytest.mark.parametrize("measure", ["LDC-MEAN-ALL-Macro-F1", "SF-ALL-Micro-P@1", "SF-AP"])
def test_the_first_mistakes_are_those_of_the_whole_list(measure: str) -> None:
    """They are found by one measure alone, and have the effects on all."""
    whole, first = analysis_of("--measure", measure), analysis_of("--measure", measure, "--top", "4")
    assert first["mistake_count"] == whole["mistake_count"] == len(whole["mistakes"])
    assert first["mistakes"] == whole["mistakes"][:4]
    keys = [(-round(each["gain"], 12), FILES.index(each["file"]), each["line"]) for each in whole["mistakes"]]
    assert keys == sorted(keys)
    assert len({gain for gain, *_ in keys}) < len(keys)


def test_a_caller_is_shown_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    options = Options(expand="ISLE26")
    scored = score_for_analysis(load_run(open_gold([FILES[0]], options), FILES[1:]), options.policy)
    shown: dict[str, int] = {}

    def progress(items: Any, doing: str) -> Any:
        shown[doing] = len(items)
        return items

    analysis = analyze(scored, progress=progress)
    assert shown == {
        "scoring under policies": len(analysis.policies),
        "raising the threshold": len(analysis.sweep),
        "weighing mistakes": len(scored.result.units),
        "correcting mistakes": 6,
    }


def test_the_published_policies_come_first_and_can_be_replaced() -> None:
    rows = analysis_of(*OWN)["policies"]
    assert [row["name"] for row in rows] == [*PRESETS, "own"]
    assert switches_of(rows[1]["policy"])[0] == Policy(ignore=())
    assert rows[2]["policy"]["right"] == "CORRECT:INEXACT"
    # Parts that are left out are those of the switches.
    assert rows[2]["policy"]["ignore"] == "UNASSESSED:DUPLICATE"
    switches = [word for side, text in ALL_WRONG.texts().items() for word in (f"-{side.lower()}", text)]
    [*_, own] = analysis_of(*switches, "--also-policy", "own:right=CORRECT")["policies"]
    assert switches_of(own["policy"])[0] == ALL_WRONG


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--also-policy", "nosuch"), "--also-policy nosuch: no such preset; there are kb, sf"),
        (("--also-policy", "x:right=INCORRECT"), "Unexpected choice INCORRECT for RIGHT"),
        (("--also-policy", "../x:right=CORRECT"), "a name is made of letters"),
        (("--by", "slots"), "no groups by slots; there are slot, hop, "),
        (("--by", "slots"), "did you mean slot?"),
        (("--by", "slot,"), "no groups by ; there are"),
        (("--by", "slot,slot"), "slot,slot crosses a dimension with itself"),
    ],
)
def test_what_means_nothing_is_wrong_usage(words: tuple[str, ...], message: str) -> None:
    outcome = score_in(ROOT, ("analyze", *words, *SAMPLES))
    assert (outcome.status, outcome.stdout) == (2, b"")
    assert message in outcome.stderr.decode()


def test_problems_are_counted_as_the_report_counts_them(tmp_path: Path) -> None:
    lines = (ROOT / "submissions/gull-sf.tab.txt").read_text(encoding="utf-8").splitlines()
    damaged = ["\t".join([*line.split("\t")[:7], "often", *line.split("\t")[8:]]) for line in lines[2:4]]
    (tmp_path / "run.tab").write_text("\n".join([*lines[:2], *damaged, *lines[4:], "no line"]) + "\n", "utf-8")
    files = ["-expand", "ISLE26", *(str(ROOT / name) for name in FILES[:2]), "run.tab"]
    found = json.loads(score_in(tmp_path, ["analyze", "--format", "json", *files]).stdout)["problems"]
    score_in(tmp_path, ["-output_file", "o", "-error_file", "o.log", "--problems", "p.json", *files])
    reported = Counter(each["code"] for each in json.loads((tmp_path / "p.json").read_bytes())["problems"])
    assert len(reported) > 1
    assert {row["code"]: row["count"] for row in found} == reported
    assert [row["code"] for row in found] == sorted(reported)


def test_thresholds_are_the_confidences_or_their_percentiles() -> None:
    assert thresholds([0.5, 0.25, 0.5]) == [0.25, 0.5]
    many = [at / 1000 for at in range(1000, 0, -1)]
    assert thresholds(many) == [at / 1000 for at in range(1, 1000, 10)]
    # Large runs have fewer: each of them costs a part of scoring the run.
    assert thresholds(many * 10) == thresholds(many)
    assert thresholds(many * 20) == [at / 1000 for at in range(1, 1000, 20)]
    assert thresholds(many * 100) == [at / 1000 for at in range(1, 1000, 100)]
    assert thresholds([0.5] * 1_000_000) == [0.5]


@pytest.mark.parametrize("settings", [("--seed", "7"), ("--interval", "bca", "--confidence", "90")])
def test_scores_and_groups_have_the_intervals_that_the_scorer_gives(settings: tuple[str, ...]) -> None:
    words = ["score", "--format", "json", "--measure", "*", "--bootstrap", "200", *settings, *SAMPLES]
    (run,) = json.loads(score_in(ROOT, words).stdout)["runs"]
    crossed = ("--by", "slot,language", "--by", "slot,ldc_query")
    found = analysis_of("--measure", "SF-ALL-Micro-F1", "--bootstrap", "200", *crossed, *settings)
    assert found["intervals"]["scores"].items() >= run["intervals"]["scores"].items()
    assert found["origin"]["options"]["bootstrap"]["resamples"] == 200
    for hop in found["groups"]["hop"]:
        for name, measure in (("precision", "P"), ("recall", "R"), ("f1", "F1")):
            of_hop = found["intervals"]["scores"][f"SF-ALL-Micro-{measure}@{hop['group']}"]
            assert hop["intervals"][name] == of_hop
    for dimension, groups in found["groups"].items():
        for group in groups:
            scored = {name for name in ("precision", "recall", "f1") if group[name] is not None}
            assert set(group.get("intervals", ())) == (set() if "ldc_query" in dimension else scored)
    without = analysis_of()
    assert "intervals" not in without
    assert not any("intervals" in group for groups in without["groups"].values() for group in groups)
