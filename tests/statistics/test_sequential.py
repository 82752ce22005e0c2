"""Repeated checks against one test set: the levels, how often nulls are ever rejected, the file of earlier checks."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from cs_score.statistics.planning import Checks, level_of
from tests.coldstart.command import Outcome, score_in
from tests.documents import copy_samples

GOLD = ("--gold", "assessments/scifact-gold.jsonl", "--predictions")
A, B = "submissions/scifact-a.jsonl", "submissions/scifact-b.jsonl"
MEASURE = "abstract_label_only_f1"


def test_all_levels_together_are_at_most_alpha() -> None:
    """What is beyond the first hundred thousand is less than the integral of 1 / (n ln(n)^2), 1 / ln(n)."""
    first = sum(level_of(number, 1.0) for number in range(1, 100_000))
    assert 0.9 < first + 1 / math.log(100_000) / 2.11 <= 1
    assert level_of(1, 0.05) > level_of(2, 0.05) > level_of(100, 0.05) > 1e-5


def test_a_check_that_is_repeated_is_the_same_check() -> None:
    checks = Checks(task="claims", gold="g", alpha=0.05)
    once = checks.after("r1", "b", "F1", 0.001)
    assert once.after("r1", "b", "F1", 0.9) == once
    assert once.next("r1", "b", "F1") == (1, level_of(1, 0.05))
    assert (
        once.next("r2", "b", "F1") == once.next("r1", "c", "F1") == once.next("r1", "b", "P") == (2, level_of(2, 0.05))
    )
    level = once.next("r2", "b", "F1")[1]
    for p, is_significant in ((level, True), (math.nextafter(level, 1), False)):
        assert [each.significant for each in once.after("r2", "b", "F1", p).asked] == [True, is_significant]


# ---- The command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    copy = copy_samples(tmp_path)
    assert score_in(copy, ["scifact", *GOLD, B, "-o", "base.json"]).status == 0
    return copy


def check(folder: Path, run: str, *words: str, sequential: tuple[str, ...] = ("--sequential", "asked.json")) -> Outcome:
    words = ("--baseline", "base.json", "--significant", *sequential, "--max-drop", f"{MEASURE}=0", *words)
    return score_in(folder, ["check", "scifact", *GOLD, run, "--format", "json", *words])


def only(outcome: Outcome) -> Any:
    assert outcome.status in (0, 3), outcome.stderr
    (found,) = json.loads(outcome.stdout)["checks"]
    return found


def stored(folder: Path, name: str = "asked.json") -> Any:
    return json.loads((folder / name).read_text("utf-8"))


def variants(folder: Path, number: int) -> list[str]:
    """Predictions that differ in blanks alone."""
    for at in range(number):
        text = (folder / A).read_text("utf-8").replace("{", "{" + " " * (at + 1), 1)
        (folder / f"v{at}.jsonl").write_text(text, "utf-8")
    return [f"v{at}.jsonl" for at in range(number)]


def test_each_further_check_has_a_stricter_level(folder: Path) -> None:
    found = [only(check(folder, run)) for run in (A, A, *variants(folder, 3), A)]
    assert [each["number"] for each in found] == [1, 1, 2, 3, 4, 1]
    assert [each["level"] for each in found] == [level_of(each["number"], 0.05) for each in found]
    assert [each["number"] for each in stored(folder)["asked"]] == [1, 2, 3, 4]
    assert [each["p"] for each in stored(folder)["asked"]] == [each["p"] for each in found[1:5]]
    plain = only(check(folder, A, sequential=()))
    assert (plain["p"], plain["difference"]) == (found[0]["p"], found[0]["difference"])
    assert not {"number", "level", "low", "high"} & plain.keys()


def test_limits_hold_at_the_level_of_the_check(folder: Path) -> None:
    score_in(folder, ["compare", "scifact", *GOLD[:2], B, A, "--measure", MEASURE, "-o", "c.json"])
    (pair,) = stored(folder, "c.json")["measures"][0]["pairs"]
    found = only(check(folder, A))
    reach = stats.t.isf(found["level"] / 2, 11) * pair["standard_deviation"] / math.sqrt(12)
    assert (found["low"], found["high"]) == pytest.approx((found["difference"] - reach, found["difference"] + reach))


def test_a_drop_counts_only_at_the_level_that_is_left(folder: Path) -> None:
    """p = 0.1875 is significant at 50 % confidence by itself and as the first check of many, not as the fourth."""
    alone = check(folder, A, "--confidence", "50", sequential=())
    assert (alone.status, only(alone)["p"]) == (3, 0.1875)
    assert check(folder, A, "--confidence", "50").status == 3
    (folder / "asked.json").unlink()
    for run in variants(folder, 3):
        check(folder, run, "--confidence", "50")
    last = check(folder, A, "--confidence", "50")
    assert (last.status, only(last)["level"]) == (0, level_of(4, 0.5))
    assert "check 4 at level" in only(last)["message"]


def test_the_file_is_beside_the_baseline_unless_named(folder: Path) -> None:
    only(check(folder, A, sequential=("--sequential",)))
    assert [each["measure"] for each in stored(folder, "base.json.checks.json")["asked"]] == [MEASURE]


def test_levels_that_no_p_can_reach_are_said(folder: Path) -> None:
    asked = [
        {"number": at, "run": f"r{at}", "baseline": "b", "measure": "F1", "level": 0.01, "p": 1.0, "significant": False}
        for at in range(1, 300)
    ]
    only(check(folder, A))
    (folder / "asked.json").write_text(json.dumps({**stored(folder), "asked": asked}), "utf-8")
    notes = json.loads(check(folder, A).stdout)["notes"]
    assert any(note["code"] == "LEVEL_USED_UP" and "check 300 against this test set" in note["text"] for note in notes)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ('{"kind": "check"}', "asked.json: kind: is no checks that cs-score wrote"),
        ('{"task": "claims"}', "the earlier checks are of another test set (claims, gold:"),
        ('{"gold": "x"}', "the earlier checks are of another test set (scifact, gold:x; now scifact, gold:"),
        ('{"alpha": 0.1}', "the earlier checks share a level of 0.1, not 0.05; give their --confidence, or name "),
    ],
)
def test_a_file_that_does_not_go_with_the_check_stays_as_it_is(folder: Path, content: str, line: str) -> None:
    only(check(folder, A))
    changed = json.dumps({**stored(folder), **json.loads(content)})
    (folder / "asked.json").write_text(changed, "utf-8")
    outcome = check(folder, A)
    assert outcome.status == 1
    (said,) = outcome.stderr.decode().splitlines()
    assert line in said
    assert (folder / "asked.json").read_text("utf-8") == changed


def test_what_is_no_check_among_many(folder: Path) -> None:
    words = ["check", "scifact", *GOLD, A, "--baseline", "base.json", "--sequential", "asked.json"]
    outcome = score_in(folder, words)
    assert (outcome.status, b"--sequential is about the test: give --significant, too" in outcome.stderr) == (2, True)
    failing = check(folder, "none.jsonl")
    assert failing.status == 1
    assert not (folder / "asked.json").exists()
    nowhere = check(folder, A, sequential=("--sequential", "none/asked.json"))
    assert (nowhere.status, b"none/asked.json" in nowhere.stderr) == (1, True)
