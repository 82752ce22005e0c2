"""Batches on a real Dask cluster: a scheduler and two workers on this machine."""

from __future__ import annotations

import itertools
import shutil
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cs_score.batch import execution as dask_cluster
from tests.batch.cluster import Cluster, local_cluster
from tests.batch.command import batch_process, contents, invented_runs, leaderboard
from tests.coldstart.command import score_in
from tests.coldstart.recorded import COMMITTED

pytest.importorskip("distributed")

RUNS = [f"run{number}" for number in range(8)]
SWITCHES = ("-expand", "CSSF17", "--with-json")
LINES = 500
COPIES = 30


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with local_cluster(tmp_path_factory.mktemp("cluster"), workers=2) as started:
        yield started


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An evaluation with eight runs, one of them broken, and what a local batch makes of it in `local`."""
    folder = tmp_path_factory.mktemp("world")
    for name in ("queries.xml", "pool.tab"):
        shutil.copy(COMMITTED / "medium_001" / name, folder / name)
    with open(COMMITTED / "medium_001" / "run.tab", encoding="utf-8") as source:
        (folder / "run.tab").write_text("".join(itertools.islice(source, LINES)), encoding="utf-8")
    invented_runs(folder, folder / "run.tab", RUNS)
    (folder / "runs" / "run5.tab.txt").write_bytes(b"no run\n")
    done = batch_process(folder, *SWITCHES, "-o", "local", "--jobs", "1", "queries.xml", "pool.tab", "runs")
    assert done.returncode == 1, done.stderr
    assert sum(row["state"] == "ok" for row in leaderboard(folder / "local")) == len(RUNS) - 1
    return folder


@pytest.mark.parametrize("more", [(), ("--ship-inputs",)], ids=str)
def test_a_cluster_leaves_the_files_of_a_local_batch(
    more: tuple[str, ...], cluster: Cluster, world: Path, tmp_path: Path
) -> None:
    """In the process of the test, as a library would, so that what is executed can be seen."""
    words = [
        *SWITCHES,
        *more,
        "--dask",
        cluster.address,
        "-o",
        str(tmp_path / "out"),
        "queries.xml",
        "pool.tab",
        "runs",
    ]
    done = score_in(world, ["batch", *words])
    assert done.status == 1, done.stderr
    assert b"7 scored; 1 failed" in done.stderr
    assert contents(tmp_path / "out") == contents(world / "local")


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of the transport that finds nobody
def test_what_hinders_a_cluster_is_told(cluster: Cluster, world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def said(address: str) -> str:
        done = score_in(
            world, ["batch", *SWITCHES, "--dask", address, "-o", "never", "queries.xml", "pool.tab", "runs"]
        )
        assert (done.status, done.stdout, done.stderr.count(b"\n")) == (1, b"", 1)
        return done.stderr.decode()

    monkeypatch.setattr(dask_cluster, "CONNECT_SECONDS", 0.2)
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in said("tcp://127.0.0.1:9")
    with monkeypatch.context() as patch:
        patch.setattr(dask_cluster, "CONNECT_SECONDS", 10)
        patch.setattr(dask_cluster, "VERSION", "0.0.0")
        assert "this is 0.0.0" in said(cluster.address)
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "needs the package distributed" in said(cluster.address)


def test_a_worker_that_is_killed_costs_nothing(cluster: Cluster, world: Path, tmp_path: Path) -> None:
    """One of two workers dies while it has runs; the other one scores them. The last test of this cluster."""
    words = (*SWITCHES, "--dask", cluster.address, "-o", str(tmp_path / "out"), "queries.xml", "pool.tab")
    copies = []
    for number in range(COPIES):
        path = tmp_path / f"copy{number:02}.tab.txt"
        shutil.copy(world / "runs" / "run0.tab.txt", path)
        copies.append(str(path))
    with ThreadPoolExecutor(1) as thread:
        killed = thread.submit(_kill_after_first, cluster, tmp_path / "out")
        done = batch_process(world, *words, *copies)
    assert done.returncode == 0, done.stderr
    assert cluster.workers[0].poll() is not None
    # Four runs are handed out at a time, so that the worker had some when it was killed.
    assert 1 <= killed.result() <= COPIES - 4
    rows = leaderboard(tmp_path / "out")
    assert [row["state"] for row in rows] == ["ok"] * COPIES
    summaries = {(tmp_path / "out" / row["run"] / "out.summary").read_bytes() for row in rows}
    assert summaries == {(world / "local" / "run0" / "out.summary").read_bytes()}


def _kill_after_first(cluster: Cluster, out: Path) -> int:
    """Kill a worker as soon as a run is scored; how many were by then."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not any(out.glob("*/signature.json")):
        time.sleep(0.005)
    cluster.workers[0].kill()
    return len(list(out.glob("*/signature.json")))
