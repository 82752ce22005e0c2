"""Power, needed units, equivalence and effect sizes, against scipy and statsmodels, and by simulation."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy
from scipy import optimize, stats
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import ttost_paired

import cs_score as cs
from cs_score.base.errors import UsageError
from cs_score.measures import Ratio
from cs_score.statistics.arithmetic import Floats
from cs_score.statistics.comparison import size_of_difference
from cs_score.statistics.distributions import t_tail
from cs_score.statistics.equivalence import binary_equivalence_p
from cs_score.statistics.planning import (
    DetectionGoal,
    SignTestPowerAnalysis,
    TTestPowerAnalysis,
    detectable_effect_size,
    plan_from_comparison,
    plan_test,
    power_of_t_test,
    units_for_t_test,
)
from cs_score.statistics.resampling_settings import Resampling
from cs_score.statistics.results import PairedSystems
from cs_score.statistics.sign_test import OutcomeShares, SignTest, shares_of_outcomes
from cs_score.tables.statistics import POWER, WRITERS, comparison_screen
from tests.coldstart.command import json_in, score_in
from tests.documents import copy_samples
from tests.statistics.cases import MEAN, compared, present, system, tiled

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
        effect = detectable_effect_size(units, level, power)
        assert power_of_t_test(effect, units, level) == pytest.approx(power, abs=1e-9)
        assert oracle.power(effect, units, level) == pytest.approx(power, abs=1e-9)
    # Its own root is where the power is within 1e-5; the slope of the power there says how near that lies.
    solved = float(np.ravel(oracle.solve_power(None, 34, 0.05, 0.8))[0])
    assert power_of_t_test(solved, 34, 0.05) == pytest.approx(oracle.power(solved, 34, 0.05), abs=1e-6)


def test_needed_units() -> None:
    assert units_for_t_test(0.5, 0.05, 0.8) == 34
    for effect in (0.05, 0.2, 0.9, 3.0):
        assert units_for_t_test(effect, 0.05, 0.8) == math.ceil(TTestPower().solve_power(effect, None, 0.05, 0.8))
    assert units_for_t_test(1e-9, 0.05, 0.8) is None


# ---- The exact sign test


def enumerated_power(units: int, shares: OutcomeShares, level: float = 0.05) -> float:
    """Return the power of the sign test, from every number of wins and losses and the binomial test of scipy."""
    found = 0.0
    share_tied = max(0.0, 1 - shares.wins - shares.losses)
    for wins in range(units + 1):
        for losses in range(units - wins + 1):
            if wins + losses and stats.binomtest(wins, wins + losses).pvalue <= level:
                counts = (wins, losses, units - wins - losses)
                found += float(stats.multinomial.pmf(counts, units, (shares.wins, shares.losses, share_tied)))
    return found


@pytest.mark.parametrize(
    "shares", [OutcomeShares(0.3, 0.1), OutcomeShares(0.6, 0.0), OutcomeShares(0.5, 0.5), OutcomeShares(1.0, 0.0)]
)
@pytest.mark.parametrize("level", [0.05, 0.2])
def test_power_of_the_sign_test_is_that_of_enumeration(shares: OutcomeShares, level: float) -> None:
    test = SignTest(shares, level)
    for units in (1, 5, 16):
        assert test.power(units) == pytest.approx(enumerated_power(units, shares, level), abs=1e-12)


@pytest.mark.parametrize(
    ("wins", "losses", "units", "power", "needed"),
    [(0.25, 0.05, 53, 0.733, 61), (0.20, 0.10, 230, 0.768, 249), (0.30, 0.10, 84, None, 84)],
)
def test_units_that_the_sign_test_needs(
    wins: float, losses: float, units: int, power: float | None, needed: int
) -> None:
    test = SignTest(OutcomeShares(wins, losses), 0.05)
    assert power is None or test.power(units) == pytest.approx(power, abs=0.0005)
    assert test.needed_units(0.8) == needed
    assert all(test.power(needed + more) >= 0.8 for more in range(10))
    assert test.power(needed - 1) < 0.8
    analysis = SignTestPowerAnalysis(wins + losses, OutcomeShares(wins, losses).standard_deviation)
    assert analysis.needed_units(wins - losses, DetectionGoal()) == needed
    detectable = present(analysis.detectable_difference(needed, DetectionGoal()))
    assert detectable <= wins - losses
    assert analysis.power(detectable, needed, 0.05) == pytest.approx(0.8, abs=1e-9)


def test_many_units_have_the_power_of_the_t_test() -> None:
    shares = shares_of_outcomes(0.01, 0.3)
    effect = 0.01 / shares.standard_deviation
    assert SignTest(shares, 0.05).power(20_000) == pytest.approx(power_of_t_test(effect, 20_000, 0.05), abs=0.005)
    tiny = shares_of_outcomes(0.001, 0.3)
    needed = SignTestPowerAnalysis(0.3, 0.5).needed_units(0.001, DetectionGoal())
    assert needed == units_for_t_test(0.001 / tiny.standard_deviation, 0.05, 0.8)


def test_few_units_detect_no_difference() -> None:
    """Five units that are all won have p 1/16."""
    found = plan_test([SignTestPowerAnalysis(0.4, 0.6, "a", "b")], 5)
    assert (found.detectable, found.pairs[0].detectable) == (None, None)
    assert [note.code for note in found.notes] == ["FEW_UNITS", "NEVER_SIGNIFICANT"]
    assert plan_test([SignTestPowerAnalysis(0.4, 0.6, "a", "b")], 6).detectable is not None
    assert SignTestPowerAnalysis(0.4, 0.6).needed_units(1.5, DetectionGoal()) is None


def answers(wins: int, losses: int, ties: int) -> dict[str, Floats]:
    """Return two systems whose units are right or wrong."""
    matrix = np.concatenate([np.tile([0.0, 1.0], (wins, 1)), np.tile([1.0, 0.0], (losses, 1)), np.ones((ties, 2))])
    return {name: np.column_stack([matrix[:, place], np.ones(len(matrix))]) for place, name in enumerate("ab")}


def test_power_of_a_comparison_is_that_of_its_test() -> None:
    found = compared(answers(25, 5, 70), Resampling(99), measures=["mean"], formula=MEAN)
    plan = plan_from_comparison(found, None, DetectionGoal(0.2))
    assert (plan.test, plan.differing, plan.units, plan.needed) == ("sign", 0.3, 100, 61)
    shown = " ".join(POWER.text(plan, 200).split())
    assert "Exact sign: the two-sided sign test that compare makes of right and wrong units; alpha 0.05" in shown
    graded = plan_from_comparison(compared({"a": system(0.4), "b": system(0.6, seed=2)}, Resampling(99)))
    assert (graded.test, graded.differing) == ("t", None)
    assert "Paired t: the two-sided test by which the randomisation test" in POWER.text(graded, 200).replace("\n", " ")


@pytest.mark.parametrize("units", [2, 19, 20])
def test_a_plan_from_few_units_says_so(units: int) -> None:
    notes = [note.code for note in plan_test([TTestPowerAnalysis(1.0)], units).notes]
    assert notes == (["FEW_UNITS"] if units < 20 else [])


# ---- Equivalence and effects


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
    found = size_of_difference(x, y)
    assert found.standard_deviation == pytest.approx(each.std(ddof=1), rel=1e-12)
    assert found.effect_size == pytest.approx(each.mean() / each.std(ddof=1), rel=1e-12)
    assert found.wins == int(np.count_nonzero(each > 1e-9))
    assert found.ties == int(np.count_nonzero(abs(each) < 1e-9))


def test_a_unit_is_won_by_what_it_adds_however_large_the_numbers_are() -> None:
    """Unit 1 adds 1/3 for the first system, unit 2 nothing, unit 3 takes 1/6."""
    large = np.full(3, 1e6)
    first, second = np.array([1e6, 5e5, 0]), np.array([0, 5e5, 5e5])
    found = size_of_difference(Ratio(first, large), Ratio(second, large))
    assert (found.wins, found.ties, found.losses) == (1, 1, 1)


def test_where_there_is_no_number() -> None:
    same = paired(np.full(9, 0.1), np.full(9, 0.3), 0.1)
    assert (same.standard_deviation, same.effect_size) == (0.0, None)
    assert same.equivalence is not None
    assert (same.equivalence.p, same.equivalence.equivalent) == (None, False)
    assert same.equivalence.reason == "all units differ alike"
    one = paired(np.array([0.1]), np.array([0.3]))
    assert (one.standard_deviation, one.effect_size, one.wins) == (None, None, 1)
    nothing = compared({"a": tiled([0, 0, 1], 9), "b": tiled([1, 1, 1], 9)})
    assert nothing.measures[0].pairs[0].wins is None


# ---- Equivalence of right and wrong units


def exact_error(units: int, wins: float, losses: float, margin: float) -> float:
    """Return how often systems with these shares of wins and losses are called equivalent, by enumeration."""
    found = 0.0
    for won in range(units + 1):
        if won and not wins:
            break
        chance_won = stats.binom.pmf(won, units, wins)
        chances = chance_won * stats.binom.pmf(np.arange(units - won + 1), units - won, losses / (1 - wins))
        for lost in np.flatnonzero(chances > 1e-12).tolist():
            if binary_equivalence_p(won, lost, units, margin) <= 0.05:
                found += chances[lost]
    return found


@pytest.mark.parametrize(
    ("units", "wins", "losses", "margin", "error"),
    [
        (60, 0.0, 0.05, 0.05, 0.046),
        (31, 0.0, 0.1, 0.1, 0.038),
        (200, 0.01, 0.06, 0.05, 0.042),
        (60, 0.02, 0.12, 0.10, 0.044),
    ],
)
def test_systems_that_differ_by_the_margin_are_seldom_equivalent(
    units: int, wins: float, losses: float, margin: float, error: float
) -> None:
    assert exact_error(units, wins, losses, margin) == pytest.approx(error, abs=0.0005)


def score_of_nam(units: int, wins: int, losses: int, margin: float) -> float:
    """Return the score at the share of wins that makes the counts most likely, losses exceeding it by the margin."""

    def improbability(share: float) -> float:
        shares = (share, share + margin, 1 - 2 * share - margin)
        return -float(stats.multinomial.logpmf((wins, losses, units - wins - losses), units, shares))

    bounds = (1e-9, (1 - margin) / 2 - 1e-9)
    share = float(optimize.minimize_scalar(improbability, bounds=bounds, options={"xatol": 1e-12}).x)
    return (wins - losses + units * margin) / math.sqrt(units * (2 * share + margin - margin**2))


@pytest.mark.parametrize(("units", "wins", "losses"), [(50, 4, 3), (31, 1, 6), (120, 20, 18)])
def test_nam_maximises_the_likelihood_under_the_margin(units: int, wins: int, losses: int) -> None:
    either_side = (score_of_nam(units, wins, losses, 0.1), score_of_nam(units, losses, wins, 0.1))
    assert binary_equivalence_p(wins, losses, units, 0.1) == pytest.approx(stats.norm.sf(min(either_side)), abs=1e-6)
    assert binary_equivalence_p(losses, wins, units, 0.1) == binary_equivalence_p(wins, losses, units, 0.1)


def binary(units: int, right: int) -> Floats:
    return (np.arange(units) < right).astype(np.float64)


@pytest.mark.parametrize(("units", "equivalent"), [(51, False), (52, True)])
def test_identical_right_and_wrong_units_are_equivalent_from_some_number_on(units: int, equivalent: bool) -> None:
    found = paired(binary(units, 30), binary(units, 30), 0.05).equivalence
    assert found is not None
    assert (found.test, found.equivalent, found.reason) == ("score", equivalent, "")
    assert found.p == pytest.approx(stats.norm.sf(math.sqrt(units * 0.05 / 0.95)))


def test_graded_units_without_any_difference_are_equivalent_for_every_margin() -> None:
    first, _ = numbers(1, 12)
    for margin in (1e-9, 0.05, 2.0):
        found = paired(first, first, margin).equivalence
        assert found is not None
        assert (found.p, found.equivalent, found.reason) == (None, True, "no unit differs")
    alike = paired(np.full(9, 0.25), np.full(9, 0.5), 0.3).equivalence
    assert alike is not None
    assert (alike.p, alike.equivalent, alike.reason) == (None, True, "all units differ alike")


def test_the_reason_stands_in_the_place_of_a_p() -> None:
    rows = {name: np.column_stack([np.full(30, 0.5), np.ones(30)]) for name in "ab"}
    found = compared(rows, Resampling(99), measures=["mean"], formula=MEAN, equivalence=0.1)
    assert "a b +0.0000 no unit differs yes" in " ".join(comparison_screen(found).split())
    assert "no unit differs\t\tyes" in WRITERS["tsv"](found)


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
    assert (found["measure"], found["units"], found["alpha"], found["power"]) == ("LDC-MEAN-AP", 4, 0.05, 0.8)
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
        assert point["power"] == pytest.approx(power_of_t_test(shift, point["units"], 0.05))


def test_power_without_files(folder: Path) -> None:
    assert printed(folder, "--sd", "2", "--difference", "1")["needed"] == 34
    assert printed(folder, "--sd", "0.5385164807134504", "--difference", "1e-1")["needed"] == 230
    given = printed(folder, "--sd", "0.5", "--units", "30", "--alpha", "0.01", "--power", "0.9")
    assert given["detectable"] == 0.5 * detectable_effect_size(30, 0.01, 0.9)
    assert max(point["difference"] for point in given["curve"]) == pytest.approx(2 * given["detectable"])
    rows = score_in(folder, ["power", "--format=tsv", "c.json"]).stdout.decode().splitlines()
    assert [row.split("\t")[0] for row in rows] == ["measure", "LDC-MEAN-AP"]


def test_the_curve_is_a_chart(folder: Path) -> None:
    assert score_in(folder, ["power", "-o", "curve.svg", "c.json"]).status == 0
    assert (folder / "curve.svg").read_text("utf-8").count('class="line') == 3


@pytest.mark.parametrize(
    ("words", "status", "line"),
    [
        (["--sd", "-1", "--difference", "1"], 2, "--sd -1: a number above 0 is needed, such as 0.02"),
        (["--sd", "1e999", "--units", "9"], 2, "--sd 1e999: a number above 0 is needed, such as 0.02"),
        (["--sd", "0." + "0" * 999 + "1", "--units", "9"], 2, "a number above 0 is needed, such as 0.02"),
        (["--sd", "1"], 2, "there is nothing to plan: give the number of units or a difference"),
        (["--sd", "1", "--units", "1"], 2, "a paired test needs at least two units, not 1"),
        (["--sd", "1", "c.json"], 2, "--sd stands for files: give the one or the others"),
        (["--units", "9", "c.json"], 2, "--units goes with --sd; files have their own number of units"),
        (["--sd", "1", "--units", "9", "--alpha", "0.9"], 2, "alpha and power are 0 < alpha < power <= 0.9999, not "),
        (["--sd", "1", "--units", "9", "--power", "2"], 2, "alpha and power are 0 < alpha < power <= 0.9999, not "),
        (["c.json", "--measure", "F7"], 2, "no measure called F7"),
        (["equal.json"], 1, "nothing can be planned from this comparison by LDC-MEAN-AP: no pair differs"),
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
