"""Cold Start runs compared from Python: what the command prints, and records of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cs_score as cs
from tests.coldstart.command import score_in
from tests.schemas import check

RUNS = ("alpha", "beta", "gamma")


@pytest.fixture
def results(world: Path) -> dict[str, cs.RunResult]:
    gold = cs.prepare(world / "queries.xml", world / "pool.tab", expand="CSSF17")
    return {f"{name}.tab.txt": gold.score(world / "runs" / f"{name}.tab.txt") for name in RUNS}


def test_a_comparison_is_that_of_the_command(world: Path, results: dict[str, cs.RunResult]) -> None:
    words = ["-expand", "CSSF17", "--bootstrap", "50", "--seed", "3", "queries.xml", "pool.tab"]
    words = ["compare", "coldstart", *words, *(f"runs/{name}.tab.txt" for name in RUNS)]
    compared = cs.compare(results, bootstrap=50, seed=3)
    assert compared.to_text() == score_in(world, [*words, "--all"]).stdout.decode()
    assert f"{compared}\n" == score_in(world, words).stdout.decode()
    chosen = cs.compare(results, bootstrap=50, seed=3, measure="SF-ALL-*")
    assert f"{chosen}\n" == score_in(world, [*words, "--measure", "SF-ALL-*"]).stdout.decode()
    told = json.loads(compared.to_json())
    check(told)
    assert compared.systems == tuple(results)
    again = cs.load(compared.to_json())
    assert isinstance(again, cs.Comparison)
    assert (str(again), again.rows("pairs")) == (str(compared), compared.rows("pairs"))
    assert [row["score"] for row in compared.rows()] == [
        system["score"] for measure in told["measures"] for system in measure["systems"]
    ]
    assert repr(compared).startswith("<comparison of alpha.tab.txt, beta.tab.txt, gamma.tab.txt: ")


def test_arguments_are_checked(results: dict[str, cs.RunResult]) -> None:
    one, other, _ = results.values()
    cases: list[tuple[Any, dict[str, Any], str]] = [
        ([one, other], {}, "compare takes results by name"),
        ({"a": one}, {}, "a comparison needs at least two systems"),
        ({"a": one, "b": 5}, {}, "compare takes results of one kind, not <alpha under kb"),
        ({"a": one, "b": other}, {"measure": "F2"}, "no measure called F2; there are"),
        ({"a": one, "b": other}, {"bootstrap": 0}, "the number of resamples must be a whole number of at least 1"),
        ({"a": one, "b": other}, {"interval": "normal"}, "no interval method called normal; there are percentile, bca"),
        ({"a": one, "b": cs.load(other.to_json())}, {}, "compare needs the lines of the run, which JSON does not hold"),
    ]
    for systems, options, said in cases:
        with pytest.raises(cs.UsageError, match=said):
            cs.compare(systems, **options)
    unknown: Any = "yaml"
    with pytest.raises(cs.UsageError, match="no format called yaml; there are text, json, tsv, markdown, latex"):
        cs.compare({"a": one, "b": other}, bootstrap=20).to_text(unknown)


def test_families_and_clusters_are_those_of_the_command(world: Path, results: dict[str, cs.RunResult]) -> None:
    words = ["compare", "-expand", "CSSF17", "--bootstrap", "50", "queries.xml", "pool.tab", "--format", "json"]
    words += [f"runs/{name}.tab.txt" for name in RUNS]
    units = [unit.split(":")[0] for unit in results["alpha.tab.txt"].units]
    together = {unit: str(place // 2) for place, unit in enumerate(units)}
    (world / "clusters.csv").write_text("unit,cluster\n" + "".join(f"{unit},{at}\n" for unit, at in together.items()))
    options = {"correction": "hsd", "baseline": "beta.tab.txt", "primary": "SF-ALL-Micro-R"}
    words += [word for name, value in options.items() for word in (f"--{name}", value)]
    outcome = score_in(world, [*words, "--clusters", "clusters.csv"])
    told = json.loads(outcome.stdout)
    for clusters in (world / "clusters.csv", together):
        found = json.loads(cs.compare(results, bootstrap=50, clusters=clusters, **options).to_json())  # type: ignore[arg-type]
        assert found["measures"] == told["measures"]
    assert told["measure"] == "SF-ALL-Micro-R"
    assert [each["measure"] for each in told["measures"] if not each["exploratory"]] == ["SF-ALL-Micro-R"]
    with pytest.raises(cs.InputError, match=f"clusters: no cluster for 1 unit .{units[0]}"):
        cs.compare(results, clusters={"another": "1"})
    assert all("SF-ALL-Micro-R|" in signature for signature in told["signatures"].values())
