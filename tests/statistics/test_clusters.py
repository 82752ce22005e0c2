"""Clusters and strata: the arithmetic of sums by hand, the same bytes without, refusals, coverage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cs_score.base.documents import json_text
from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.statistics.draws import bootstrap_counts
from cs_score.statistics.resampling import bootstrap_intervals
from cs_score.statistics.resampling_settings import Resampling
from cs_score.statistics.units import Clusters, read_clusters
from tests.documents import copy_samples
from tests.evidence.command import cs_score
from tests.statistics.cases import FORMULA, MEAN, compared, present, system

UNITS = [f"u{number}" for number in range(60)]
SYSTEMS = {"good": system(0.8), "poor": system(0.4, seed=2)}


def clusters(of: int, strata: int = 1) -> Clusters:
    """Consecutive units in clusters of so many, consecutive clusters in strata."""
    found = {unit: f"c{place // of}" for place, unit in enumerate(UNITS)}
    names = list(dict.fromkeys(found.values()))
    return Clusters("clusters.tsv", found, {name: f"s{place % strata}" for place, name in enumerate(names)})


def test_a_comparison_of_clusters_is_that_of_their_sums() -> None:
    """Resampling, permutation, jackknife and the units that speak for a system: all of them take a cluster as one."""
    for method in ("percentile", "bca"):
        settings = Resampling(500, 3, method=method)
        found = compared(SYSTEMS, replace(settings, clusters=clusters(3)), UNITS)
        sums = {name: matrix.reshape(20, 3, 3).sum(axis=1) for name, matrix in SYSTEMS.items()}
        expected = compared(sums, settings, UNITS[:20])
        for ours, theirs in zip(found.measures, expected.measures):
            assert (ours.systems, ours.pairs) == (theirs.systems, theirs.pairs)
            assert (ours.family.clusters, theirs.family.clusters) == (20, None)
            assert ", 20 clusters, " in ours.family.in_words(ours.measure)
        assert found.units == 60
        assert [note.text for note in found.notes] == ["60 units in 20 clusters, which are drawn as a whole"]
        alone = bootstrap_intervals(SYSTEMS["good"], FORMULA, replace(settings, clusters=clusters(3)), units=UNITS)
        assert alone == bootstrap_intervals(sums["good"], FORMULA, settings)


def test_each_unit_its_own_cluster_gives_the_same_bytes_as_none() -> None:
    plain = compared(SYSTEMS, Resampling(200), UNITS)
    found = compared(SYSTEMS, Resampling(200, clusters=clusters(1)), UNITS)
    assert json_text(found) == json_text(plain)


def test_strata_keep_their_numbers_in_every_resample() -> None:
    for counts in bootstrap_counts(1, 10, 128, (3, 1, 6)):
        assert (counts[:, :3].sum(axis=1) == 3).all()
        assert (counts[:, 3] == 1).all()
        assert (counts[:, 4:].sum(axis=1) == 6).all()
        assert {0, 1, 2, 3} == set(counts[:, 0].tolist())


def test_between_strata_nothing_varies() -> None:
    """Two strata that differ from each other and not within: every resample gives the same mean."""
    values = np.array([[0.0, 1.0], [1.0, 1.0]] * 30)
    within = Clusters("f", {unit: unit for unit in UNITS}, {unit: f"s{at % 2}" for at, unit in enumerate(UNITS)})
    [interval] = bootstrap_intervals(values, MEAN, Resampling(300, clusters=within), units=UNITS)
    assert (interval.low, interval.high) == (0.5, 0.5)
    [wide] = bootstrap_intervals(values, MEAN, Resampling(300), units=UNITS)
    assert present(wide.high) - present(wide.low) > 0.2


def test_one_cluster_has_no_interval_and_no_p_but_one() -> None:
    found = compared(SYSTEMS, Resampling(200, clusters=clusters(60)), UNITS)
    for measure in found.measures:
        (pair,) = measure.pairs
        assert pair.p == pair.p_adjusted == 1.0
        assert [note.code for note in pair.notes] == ["ONE_UNIT"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty: a table begins with a line that names its columns"),
        ("unit\tgroup\na\tb\n", "line 1: no column cluster; there are unit, group"),
        ("unit\tcluster\na\n", "line 2: 1 cells, where the header names 2 columns"),
        ("unit\tcluster\na\t\n", "line 2: column cluster is empty"),
        ("unit\tcluster\n\na\tx\na\ty\n", "line 4: a belongs to y here, and to x above"),
        ("unit,cluster,stratum\na,x,1\nb,x,2\n", "line 3: x belongs to 2 here, and to 1 above"),
        ("unit\tcluster\n", "names no unit"),
        ("unit\tunit\na\tb\n", "line 1: two columns are called unit"),
        ('unit,cluster\n"a,b\n', "no CSV: "),
        ("unit\tcluster\na\tx\nb\tx\nc\ty\n", "no cluster for 57 units (u3, u4, u5, u6, u7 and 52 more)"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_the_place(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "clusters.tsv"
    path.write_text(text.replace("\na\t", "\nu0\t").replace("\nb\t", "\nu1\t").replace("\nc\t", "\nu2\t"))
    with pytest.raises(InputError) as refused:
        read_clusters(str(path)).design(UNITS)
    assert problem in str(refused.value).replace("u0 belongs", "a belongs")


WORDS = ("--gold", "assessments/scifact-gold.jsonl", "submissions/scifact-a.jsonl")
BOTH = (*WORDS, "submissions/scifact-b.jsonl")


@pytest.fixture
def samples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    copy_samples(tmp_path)
    monkeypatch.chdir(tmp_path)
    gold = [line.split('"id": ')[1].split(",")[0] for line in Path(WORDS[1]).read_text("utf-8").splitlines()]
    Path("own.tsv").write_text("unit\tcluster\n" + "".join(f"{unit}\tc{unit}\n" for unit in gold))
    Path("pairs.csv").write_text("unit,cluster\n" + "".join(f"{unit},{at // 2}\n" for at, unit in enumerate(gold)))
    return gold


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "scifact", *BOTH, "--format", "json"),
        ("diff", "scifact", *BOTH, "--format", "json"),
        ("scifact", *WORDS, "--bootstrap", "99", "--format", "json"),
    ],
)
def test_every_verb_takes_clusters(words: tuple[str, ...], samples: Any) -> None:
    plain, own, pairs = (
        cs_score(*words, *option) for option in ((), ("--clusters", "own.tsv"), ("--clusters", "pairs.csv"))
    )
    assert own.out == plain.out
    assert pairs.status == 0, pairs
    assert pairs.out != plain.out
    assert f"in {len(samples) // 2} clusters" in pairs.out
    Path("few.tsv").write_text("unit\tcluster\n1\tc\n2\tc\n")
    few = cs_score(*words, "--clusters", "few.tsv")
    assert (few.status, few.out.count("measures")) == (1, 0)
    assert "few.tsv: no cluster for " in few.err
    assert len(few.err.strip().splitlines()) == 1


def test_a_batch_takes_clusters_and_is_verified(samples: Any) -> None:
    words = ("batch", "scifact", *BOTH, "-o", "scored", "--bootstrap", "99", "--clusters", "pairs.csv")
    outcome = cs_score(*words)
    assert outcome.status == 0, outcome
    assert f"{len(samples) // 2} clusters" in " ".join(outcome.out.split())
    verified = cs_score("verify", "scored")
    assert verified.status == 0, verified
