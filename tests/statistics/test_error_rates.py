"""How often intervals miss and tests cry wolf, on simulated test sets whose true scores are known.

Every simulation draws a fresh test set from the same population; nominal are 95 % and 5 %. The figures are printed
(`pytest -m slow -s`) and quoted in the documentation.
"""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.family_worlds import WORLDS, shares
from benchmarks.simulations import (
    SIMULATIONS,
    Simulation,
    binary_power_through_compare,
    coverage,
    graded_power_through_compare,
)
from cs_score.statistics.arithmetic import Floats
from cs_score.statistics.families import sign_flip_tests
from cs_score.statistics.resampling import ResampledSystems, bootstrap_intervals
from cs_score.statistics.resampling_settings import Resampling
from tests.documents import ROOT
from tests.statistics.cases import FORMULA, MEAN, MEASURES

SETS = 2000
UNITS = 200
RESAMPLES = 1000


def units(rng: np.random.Generator, quality: Floats) -> Floats:
    """A unit per entry of `quality`: what is right of what is retrieved, for units of very different size."""
    relevant = rng.geometric(0.4, len(quality))
    retrieved = rng.poisson(2.0, len(quality))
    correct = rng.binomial(np.minimum(relevant, retrieved), quality)
    return np.stack([correct, retrieved, relevant], axis=1).astype(np.float64)


@pytest.mark.slow
def test_equal_systems_are_called_different_as_rarely_as_promised() -> None:
    alarms = np.zeros(3)
    for simulation in range(SETS):
        rng = np.random.default_rng([2, simulation])
        quality = rng.beta(2, 2, UNITS)
        both = ResampledSystems(
            [units(rng, quality), units(rng, quality)], FORMULA, Resampling(RESAMPLES, seed=simulation)
        )
        alarms += np.array(sign_flip_tests(both, [(0, 1)]).uncorrected)[:, 0] <= 0.05
    rates = 100 * alarms / SETS
    print("\n" + ", ".join(f"{name} {rate:.1f} %" for name, rate in zip(MEASURES, rates)))
    assert ((rates >= 3.5) & (rates <= 6.5)).all()


@pytest.mark.slow
def test_a_rare_label_is_undefined_in_some_resamples_and_its_interval_is_a_hint_at_most() -> None:
    """100 claims of which a share has a label, right with probability 0.9."""
    for labelled, least in ((0.03, 15), (0.1, 55), (0.3, 90)):
        held = given = 0
        for simulation in range(SETS):
            rng = np.random.default_rng([7, int(labelled * 100), 9, simulation])
            has = rng.random(100) < labelled
            right = has & (rng.random(100) < 0.9)
            [interval] = bootstrap_intervals(np.stack([right, has], axis=1), MEAN, Resampling(500, seed=simulation))
            if interval.low is not None and interval.high is not None:
                given += 1
                held += interval.low <= 0.9 <= interval.high
                if interval.low == interval.high or has.sum() < 20:
                    assert {note.code for note in interval.notes} & {"RULE_OF_THREE", "FEW_UNITS", "ONE_UNIT"}
        coverage = 100 * held / given
        print(f"\nlabels on {labelled:.0%}: {coverage:.1f} % of {given} intervals hold the truth")
        assert coverage > least


@pytest.mark.slow
@pytest.mark.parametrize("simulation", SIMULATIONS, ids=lambda each: each.figure)
def test_a_figure_keeps_its_limits_and_its_page_has_it(simulation: Simulation) -> None:
    found = simulation.find()
    assert simulation.low <= found <= simulation.high
    page = (ROOT / "docs" / "statistics" / f"{simulation.page}.md").read_text("utf-8")
    assert simulation.shown(found) in " ".join(page.split())


def test_the_default_interval_of_differences_covers_on_few_units() -> None:
    """Where percentile and BCa limits do not; the figures of more sets stand on the page."""
    for world in ("means", "ratios"):
        assert 0.92 <= coverage("difference", world, None, 8, 500) <= 0.98
        assert coverage("difference", world, "bca", 8, 200) < 0.925


def test_power_is_what_a_comparison_finds() -> None:
    """The standard error of 300 sets is .023."""
    assert abs(binary_power_through_compare(0.25, 0.05, 300) - 0.8) < 0.06
    assert abs(graded_power_through_compare(0.5, 300) - 0.8) < 0.06


def test_max_t_keeps_its_level_among_near_copies_where_hsd_does_not() -> None:
    """Forty sets of the world in which HSD rejects most often; the page has those of 600."""
    found = shares(WORLDS[2], 40)
    assert found["maxt"] <= 0.15
    assert found["hsd"] > found["maxt"]
