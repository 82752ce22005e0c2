"""Power, needed units, equivalence and effect sizes, against scipy and statsmodels, and by simulation."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy
from scipy import stats
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import ttost_paired

import cs_score as cs
from cs_score.base.errors import UsageError
from cs_score.measures.registry import Ratio
from cs_score.statistics.arithmetic import Floats
from cs_score.statistics.comparison import effect_of
from cs_score.statistics.options import Resampling
from cs_score.statistics.planning import Checks, detectable_effect, level_of, needed_units, power_of, t_tail
from cs_score.statistics.results import PairedSystems
from tests.coldstart.command import Outcome, json_in, score_in
from tests.documents import copy_samples
from tests.statistics.cases import MEAN, compared, system, tiled

exact_oracle = pytest.mark.skipif(
    tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 15), reason="its noncentral t was less exact before"
)


@exact_oracle
@pytest.mark.parametrize("freedom", [1, 2, 3, 10, 199, 100_000])
@pytest.mark.parametrize("shift", [0.0, 0.5, -1.0, 2.8, 30.0])
def test_tails_are_those_of_scipy(freedom: int, shift: float) -> None:
    for value in (-3.0, 0.0, 0.1, 2.0, 12.7, 6366.0):
        wanted = stats.nct.sf(value, freedom, shift) if shift else stats.t.sf(value, freedom)
        assert t_tail(value, freedom, shift) == pytest.approx(wanted, abs=1e-10)


@exact_oracle
@pytest.mark.parametrize("units", [6, 10, 34, 1000])
@pytest.mark.parametrize("level", [0.01, 0.05])
def test_power_is_that_of_statsmodels(units: int, level: float) -> None:
    oracle = TTestPower()
    for power in (0.5, 0.8, 0.95):
        effect = detectable_effect(units, level, power)
        assert power_of(effect, units, level) == pytest.approx(power, abs=1e-9)
        assert oracle.power(effect, units, level) == pytest.approx(power, abs=1e-9)
    # Its own root is where the power is within 1e-5; the slope of the power there says how near that lies.
    solved = float(np.ravel(oracle.solve_power(None, 34, 0.05, 0.8))[0])
    assert power_of(solved, 34, 0.05) == pytest.approx(oracle.power(solved, 34, 0.05), abs=1e-6)


def test_needed_units() -> None:
    assert needed_units(0.5, 0.05, 0.8) == 34
    for effect in (0.05, 0.2, 0.9, 3.0):
        assert needed_units(effect, 0.05, 0.8) == math.ceil(TTestPower().solve_power(effect, None, 0.05, 0.8))
    assert needed_units(1e-9, 0.05, 0.8) is None


def numbers(seed: int, units: int) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    first = rng.beta(2, 2, units)
    return first, first + rng.normal(0.02, 0.1, units)


def paired(first: Floats, second: Floats, margin: float | None = None) -> PairedSystems:
    """The comparison of two systems by the mean of their units' numbers."""
    rows = {name: np.column_stack([values, np.ones(len(values))]) for name, values in (("a", first), ("b", second))}
    found = compared(rows, Resampling(99), measures=["mean"], formula=MEAN, equivalence=margin)
    return found.measures[0].pairs[0]


def test_equivalence_is_that_of_statsmodels() -> None:
    for seed, units in ((1, 4), (2, 30), (3, 400)):
        first, second = numbers(seed, units)
        for margin in (0.005, 0.02, 0.1):
            found = paired(first, second, margin).equivalence
            assert found is not None
            assert found.p == pytest.approx(ttost_paired(second, first, -margin, margin)[0], abs=1e-9)
            assert found.equivalent == (found.p is not None and found.p <= 0.05)


def test_effects_of_ratios_go_by_what_units_contribute() -> None:
    first, second = system(0.4), system(0.8, seed=2)
    x, y = Ratio(first[:, 0], first[:, 1]), Ratio(second[:, 0], second[:, 1])
    q, whole = (x.numerator.sum() / x.denominator.sum() + y.numerator.sum() / y.denominator.sum()) / 2, 60
    each = (y.numerator - x.numerator - q * (y.denominator - x.denominator)) * 2 * whole
    each /= x.denominator.sum() + y.denominator.sum()
    found = effect_of(x, y)
    assert found["standard_deviation"] == pytest.approx(each.std(ddof=1), rel=1e-12)
    assert found["effect_size"] == pytest.approx(each.mean() / each.std(ddof=1), rel=1e-12)
    assert found["superiority"] == (np.count_nonzero(each > 1e-9) + np.count_nonzero(abs(each) < 1e-9) / 2) / 60


def test_a_unit_is_won_by_what_it_adds_however_large_the_numbers_are() -> None:
    """Unit 1 adds 1/3 for the first system, unit 2 nothing, unit 3 takes 1/6."""
    large = np.full(3, 1e6)
    first, second = np.array([1e6, 5e5, 0]), np.array([0, 5e5, 5e5])
    found = effect_of(Ratio(first, large), Ratio(second, large))
    assert (found["wins"], found["ties"], found["losses"]) == (1, 1, 1)


def test_where_there_is_no_number() -> None:
    same = paired(np.full(9, 0.1), np.full(9, 0.3), 0.1)
    assert (same.standard_deviation, same.effect_size) == (0.0, None)
    assert same.equivalence is not None
    assert (same.equivalence.p, same.equivalence.equivalent) == (None, False)
    one = paired(np.array([0.1]), np.array([0.3]))
    assert (one.standard_deviation, one.effect_size, one.superiority) == (None, None, 1.0)
    nothing = compared({"a": tiled([0, 0, 1], 9), "b": tiled([1, 1, 1], 9)})
    assert nothing.measures[0].pairs[0].superiority is None


@pytest.mark.parametrize("margin", [0.0, -0.1, math.inf, math.nan])
def test_impossible_margins(margin: float) -> None:
    with pytest.raises(UsageError, match="the margin of an equivalence is a number above 0, not "):
        paired(*numbers(1, 5), margin)


# ---- From files, and from Python

RUNS = (
    "-expand ISLE26 queries/ldc-queries.xml assessments/pool-2016.tab "
    "submissions/tide-kb.tab.txt submissions/gull-sf.tab.txt"
).split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = copy_samples(tmp_path_factory.mktemp("planning"))
    assert score_in(copy, ["compare", "-o", "c.json", *RUNS]).status == 0
    return copy


def printed(folder: Path, *words: str) -> Any:
    return json_in(folder, "power", *words)


def test_power_of_runs_is_that_of_their_comparison(folder: Path) -> None:
    found = printed(folder, "--difference", "0.1", *RUNS)
    assert found == printed(folder, "--difference", "0.1", "c.json")
    assert (found["measure"], found["units"], found["alpha"], found["power"]) == ("LDC-MEAN-ALL-Macro-F1", 4, 0.05, 0.8)
    effect = found["detectable"] / found["standard_deviation"]
    assert effect == pytest.approx(float(np.ravel(TTestPower().solve_power(None, 4, 0.05, 0.8))[0]), rel=1e-5)
    wanted = TTestPower().solve_power(0.1 / found["standard_deviation"], None, 0.05, 0.8)
    assert found["needed"] == math.ceil(wanted)
    compared = json.loads((folder / "c.json").read_text("utf-8"))
    pair = next(each for each in compared["measures"] if each["measure"] == found["measure"])["pairs"][0]
    assert pair["standard_deviation"] == found["standard_deviation"]
    assert {point["units"] for point in found["curve"]} == {4, 8, 16}
    for point in found["curve"]:
        shift = point["difference"] / found["standard_deviation"]
        assert point["power"] == pytest.approx(power_of(shift, point["units"], 0.05))


def test_power_without_files(folder: Path) -> None:
    assert printed(folder, "--sd", "2", "--difference", "1")["needed"] == 34
    given = printed(folder, "--sd", "0.5", "--units", "30", "--alpha", "0.01", "--power", "0.9")
    assert given["detectable"] == 0.5 * detectable_effect(30, 0.01, 0.9)
    assert max(point["difference"] for point in given["curve"]) == pytest.approx(2 * given["detectable"])
    rows = score_in(folder, ["power", "--format=tsv", "c.json"]).stdout.decode().splitlines()
    assert [row.split("\t")[0] for row in rows] == ["measure", "LDC-MEAN-ALL-Macro-F1"]


def test_the_curve_is_a_chart(folder: Path) -> None:
    assert score_in(folder, ["power", "-o", "curve.svg", "c.json"]).status == 0
    assert (folder / "curve.svg").read_text("utf-8").count('class="line') == 3


@pytest.mark.parametrize(
    ("words", "status", "line"),
    [
        (["--sd", "-1", "--difference", "1"], 2, "--sd -1: a number above 0 is needed, such as 0.02"),
        (["--sd", "1"], 2, "there is nothing to plan: give the number of units or a difference"),
        (["--sd", "1", "--units", "1"], 2, "a paired test needs at least two units, not 1"),
        (["--sd", "1", "c.json"], 2, "--sd stands for files: give the one or the others"),
        (["--units", "9", "c.json"], 2, "--units goes with --sd; files have their own number of units"),
        (["--sd", "1", "--units", "9", "--alpha", "0.9"], 2, "alpha and power are 0 < alpha < power <= 0.9999, not "),
        (["--sd", "1", "--units", "9", "--power", "2"], 2, "alpha and power are 0 < alpha < power <= 0.9999, not "),
        (["c.json", "--measure", "F7"], 2, "no measure called F7"),
        (["equal.json"], 1, "nothing can be planned from this comparison by LDC-MEAN-ALL-Macro-F1: no pair differs"),
        (["analysed.json"], 1, "analysed.json"),
    ],
    ids=str,
)  # fmt: skip
def test_bad_input_of_power(folder: Path, words: list[str], status: int, line: str) -> None:
    if "equal.json" in words:
        assert score_in(folder, ["compare", "-o", "equal.json", *RUNS[:-1], RUNS[-2], "--force"]).status == 0
    outcome = score_in(folder, ["power", *words])
    assert (outcome.status, outcome.stdout) == (status, b"")
    (said,) = outcome.stderr.decode().splitlines()
    assert line in said


def test_power_in_python(folder: Path) -> None:
    found = cs.power(str(folder / "c.json"), difference=0.1)
    assert json.loads(found.to_json()) == printed(folder, "--difference", "0.1", "c.json")
    assert found.rows("curve")[0].keys() == {"units", "difference", "power"}
    for wrong in ({}, {"sd": 1.0, "units": 1}, {"comparison": "c.json", "sd": 1.0}, {"comparison": "x", "units": 3}):
        with pytest.raises(UsageError):
            cs.power(**wrong)


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
def checked(tmp_path: Path) -> Path:
    copy = copy_samples(tmp_path)
    assert score_in(copy, ["scifact", *GOLD, B, "-o", "base.json"]).status == 0
    return copy


def check(
    checked: Path, run: str, *words: str, sequential: tuple[str, ...] = ("--sequential", "asked.json")
) -> Outcome:
    words = ("--baseline", "base.json", "--significant", *sequential, "--max-drop", f"{MEASURE}=0", *words)
    return score_in(checked, ["check", "scifact", *GOLD, run, "--format", "json", *words])


def only(outcome: Outcome) -> Any:
    assert outcome.status in (0, 3), outcome.stderr
    (found,) = json.loads(outcome.stdout)["checks"]
    return found


def stored(checked: Path, name: str = "asked.json") -> Any:
    return json.loads((checked / name).read_text("utf-8"))


def variants(checked: Path, number: int) -> list[str]:
    """Predictions that differ in blanks alone."""
    for at in range(number):
        text = (checked / A).read_text("utf-8").replace("{", "{" + " " * (at + 1), 1)
        (checked / f"v{at}.jsonl").write_text(text, "utf-8")
    return [f"v{at}.jsonl" for at in range(number)]


def test_each_further_check_has_a_stricter_level(checked: Path) -> None:
    found = [only(check(checked, run)) for run in (A, A, *variants(checked, 3), A)]
    assert [each["number"] for each in found] == [1, 1, 2, 3, 4, 1]
    assert [each["level"] for each in found] == [level_of(each["number"], 0.05) for each in found]
    assert [each["number"] for each in stored(checked)["asked"]] == [1, 2, 3, 4]
    assert [each["p"] for each in stored(checked)["asked"]] == [each["p"] for each in found[1:5]]
    plain = only(check(checked, A, sequential=()))
    assert (plain["p"], plain["difference"]) == (found[0]["p"], found[0]["difference"])
    assert not {"number", "level", "low", "high"} & plain.keys()


def test_limits_hold_at_the_level_of_the_check(checked: Path) -> None:
    score_in(checked, ["compare", "scifact", *GOLD[:2], B, A, "--measure", MEASURE, "-o", "c.json"])
    (pair,) = stored(checked, "c.json")["measures"][0]["pairs"]
    found = only(check(checked, A))
    reach = stats.t.isf(found["level"] / 2, 11) * pair["standard_deviation"] / math.sqrt(12)
    assert (found["low"], found["high"]) == pytest.approx((found["difference"] - reach, found["difference"] + reach))


def test_a_drop_counts_only_at_the_level_that_is_left(checked: Path) -> None:
    """p = 0.1875 is significant at 50 % confidence by itself and as the first check of many, not as the fourth."""
    alone = check(checked, A, "--confidence", "50", sequential=())
    assert (alone.status, only(alone)["p"]) == (3, 0.1875)
    assert check(checked, A, "--confidence", "50").status == 3
    (checked / "asked.json").unlink()
    for run in variants(checked, 3):
        check(checked, run, "--confidence", "50")
    last = check(checked, A, "--confidence", "50")
    assert (last.status, only(last)["level"]) == (0, level_of(4, 0.5))
    assert "check 4 at level" in only(last)["message"]


def test_levels_that_no_p_can_reach_are_said(checked: Path) -> None:
    asked = [
        {"number": at, "run": f"r{at}", "baseline": "b", "measure": "F1", "level": 0.01, "p": 1.0, "significant": False}
        for at in range(1, 300)
    ]
    only(check(checked, A))
    (checked / "asked.json").write_text(json.dumps({**stored(checked), "asked": asked}), "utf-8")
    notes = json.loads(check(checked, A).stdout)["notes"]
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
def test_a_file_that_does_not_go_with_the_check_stays_as_it_is(checked: Path, content: str, line: str) -> None:
    only(check(checked, A))
    changed = json.dumps({**stored(checked), **json.loads(content)})
    (checked / "asked.json").write_text(changed, "utf-8")
    outcome = check(checked, A)
    assert outcome.status == 1
    (said,) = outcome.stderr.decode().splitlines()
    assert line in said
    assert (checked / "asked.json").read_text("utf-8") == changed


def test_what_is_no_check_among_many(checked: Path) -> None:
    words = ["check", "scifact", *GOLD, A, "--baseline", "base.json", "--sequential", "asked.json"]
    outcome = score_in(checked, words)
    assert (outcome.status, b"--sequential is about the test: give --significant, too" in outcome.stderr) == (2, True)
    assert (check(checked, "none.jsonl").status, (checked / "asked.json").exists()) == (1, False)
    only(check(checked, A, sequential=("--sequential",)))
    assert [each["measure"] for each in stored(checked, "base.json.checks.json")["asked"]] == [MEASURE]
    nowhere = check(checked, A, sequential=("--sequential", "none/asked.json"))
    assert (nowhere.status, b"none/asked.json" in nowhere.stderr) == (1, True)
