"""The figures of the simulations stay within their limits, and their pages show them."""

from __future__ import annotations

import pytest

from benchmarks.simulations import SIMULATIONS, Simulation, ever_rejected
from tests.documents import ROOT


@pytest.mark.slow
@pytest.mark.parametrize("simulation", SIMULATIONS, ids=lambda each: each.figure)
def test_a_figure_keeps_its_limits_and_its_page_has_it(simulation: Simulation) -> None:
    found = simulation.find()
    assert simulation.low <= found <= simulation.high
    page = (ROOT / "docs" / "statistics" / f"{simulation.page}.md").read_text("utf-8")
    assert simulation.shown(found) in " ".join(page.split())


def test_nulls_are_seldom_ever_rejected() -> None:
    """Of 100 checks at a level of 0.05 each, nearly every sequence would have some."""
    assert ever_rejected(40, 2) <= 0.05


def test_every_simulation_belongs_to_a_page() -> None:
    assert all((ROOT / "docs" / "statistics" / f"{each.page}.md").is_file() for each in SIMULATIONS)
