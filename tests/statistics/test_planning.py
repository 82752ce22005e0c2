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
from cs_score.statistics.distributions import t_tail
from cs_score.statistics.options import Resampling
from cs_score.statistics.planning import detectable_effect, needed_units, power_of
from cs_score.statistics.results import PairedSystems
from tests.coldstart.command import json_in, score_in
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
