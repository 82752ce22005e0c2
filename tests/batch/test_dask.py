"""Batches on a real Dask cluster: a scheduler and two workers on this machine."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.batch.cluster import Cluster, local_cluster
from tests.batch.command import batch_process, batch_words, contents, environment, invented_runs, leaderboard
from tests.coldstart.recorded import COMMITTED

pytest.importorskip("distributed")

RUNS = [f"run{number}" for number in range(8)]
SWITCHES = ("-expand", "CSSF17", "--json")


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
    invented_runs(folder, COMMITTED / "medium_001" / "run.tab", RUNS)
    (folder / "runs" / "run5.tab.txt").write_bytes(b"no run\n")
    done = batch_process(folder, *SWITCHES, "--out", "local", "--jobs", "1", "queries.xml", "pool.tab", "runs")
    assert done.returncode == 1, done.stderr
    assert sum(row["state"] == "ok" for row in leaderboard(folder / "local")) == len(RUNS) - 1
    return folder


@pytest.mark.parametrize("how", [(), ("--ship-inputs",)], ids=["shared", "shipped"])
def test_the_cluster_gives_the_bytes_of_a_local_batch(cluster: Cluster, world: Path, how: tuple[str, ...]) -> None:
    out = f"out{len(how)}"
    words = (*SWITCHES, *how, "--dask", cluster.address, "--out", out, "queries.xml", "pool.tab", "runs")
    done = batch_process(world, *words)
    assert done.returncode == 1, done.stderr
    assert b"8 scored; 1 failed" in done.stderr
    assert contents(world / out) == contents(world / "local")


def test_a_worker_that_is_killed_costs_nothing(world: Path, tmp_path: Path) -> None:
    """One of two workers dies while it has runs; the other one scores them."""
    with local_cluster(tmp_path / "cluster", workers=2) as cluster:
        words = (*SWITCHES, "--dask", cluster.address, "--out", str(tmp_path / "out"))
        copies = []
        for number in range(40):
            path = tmp_path / f"copy{number:02}.tab.txt"
            shutil.copy(world / "runs" / "run0.tab.txt", path)
            copies.append(str(path))
        with subprocess.Popen(
            batch_words(*words, "queries.xml", "pool.tab", *copies), cwd=world, env=environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as batch:  # fmt: skip
            killer = threading.Thread(target=_kill_after_first, args=(cluster, tmp_path / "out"))
            killer.start()
            _, stderr = batch.communicate(timeout=60)
            killer.join()
        assert batch.returncode == 0, stderr
        assert cluster.workers[0].poll() is not None
    rows = leaderboard(tmp_path / "out")
    assert [row["state"] for row in rows] == ["ok"] * 40
    summaries = {(tmp_path / "out" / row["run"] / "out.summary").read_bytes() for row in rows}
    assert summaries == {(world / "local" / "run0" / "out.summary").read_bytes()}


def _kill_after_first(cluster: Cluster, out: Path) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not any(out.glob("*/signature.json")):
        time.sleep(0.005)
    cluster.workers[0].kill()


def test_an_address_that_does_not_answer_is_one_line_within_half_a_minute(world: Path) -> None:
    with socket.socket() as deaf:  # it is bound and never listens
        deaf.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{deaf.getsockname()[1]}"
        start = time.monotonic()
        done = batch_process(world, *SWITCHES, "--dask", address, "--out", "none", "queries.xml", "pool.tab", "runs")
    assert time.monotonic() - start < 30
    assert (done.returncode, done.stdout) == (255, b"")
    assert done.stderr.count(b"\n") == 1
    assert f"no Dask scheduler answers at {address}".encode() in done.stderr
