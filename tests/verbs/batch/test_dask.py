"""Batches on a real Dask cluster: a scheduler and two workers on this machine."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cs_score.verbs.batch import workers
from tests.coldstart.command import Outcome, score_in
from tests.coldstart.recorded import COMMITTED
from tests.verbs.batch.command import FILES, batch_process, contents, invented_runs, leaderboard

distributed = pytest.importorskip("distributed")

RUNS = [f"run{number}" for number in range(8)]
SWITCHES = ("-expand", "CSSF17", "-queries", "queryids.txt", "--with-json")
LINES = 500
COPIES = 30


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A scheduler here, and two processes as workers."""
    place = str(tmp_path_factory.mktemp("cluster"))
    with distributed.LocalCluster(
        2, threads_per_worker=1, memory_limit=0, dashboard_address=None, local_directory=place
    ) as local:
        yield local


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An evaluation with eight runs, one of them broken, and what a local batch makes of it in `local`."""
    folder = tmp_path_factory.mktemp("world")
    for name in ("queries.xml", "pool.tab", "queryids.txt"):
        shutil.copy(COMMITTED / "medium_001" / name, folder / name)
    with open(COMMITTED / "medium_001" / "run.tab", encoding="utf-8") as source:
        (folder / "run.tab").write_text("".join(itertools.islice(source, LINES)), encoding="utf-8")
    invented_runs(folder, folder / "run.tab", RUNS)
    (folder / "runs" / "run5.tab.txt").write_bytes(b"no run\n")
    done = batch_process(folder, *SWITCHES, "-o", "local", "--jobs", "1", *FILES)
    assert done.returncode == 1, done.stderr
    assert sum(row["state"] == "ok" for row in leaderboard(folder / "local")) == len(RUNS) - 1
    return folder


def _on(address: str, world: Path, out: Path, *more: str) -> Outcome:
    """In the process of the test, as a library would, so that what is executed can be seen."""
    return score_in(world, ["batch", *SWITCHES, *more, "--dask", address, "-o", str(out), *FILES])


@pytest.mark.parametrize("more", [(), ("--ship-inputs",)], ids=str)
def test_a_cluster_leaves_the_files_of_a_local_batch(
    more: tuple[str, ...], cluster: Any, world: Path, tmp_path: Path
) -> None:
    done = _on(cluster.scheduler_address, world, tmp_path / "out", *more)
    assert done.status == 1, done.stderr
    assert b"7 scored; 1 failed" in done.stderr
    assert contents(tmp_path / "out") == contents(world / "local")


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of the transport that finds nobody
def test_what_hinders_a_cluster_is_told(
    cluster: Any, world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(address: str) -> str:
        done = _on(address, world, tmp_path / "never")
        assert (done.status, done.stdout, done.stderr.count(b"\n")) == (1, b"", 1)
        return done.stderr.decode()

    monkeypatch.setattr(workers, "CONNECT_SECONDS", 0.2)
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in said("tcp://127.0.0.1:9")
    with monkeypatch.context() as patch:
        patch.setattr(workers, "CONNECT_SECONDS", 10)
        patch.setattr(workers, "VERSION", "0.0.0")
        assert "this is 0.0.0" in said(cluster.scheduler_address)
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "needs the package distributed" in said(cluster.scheduler_address)


def test_a_worker_that_is_killed_costs_nothing(cluster: Any, world: Path, tmp_path: Path) -> None:
    """One of two workers dies while it has runs. The last test of this cluster."""
    out, copies = tmp_path / "out", [tmp_path / f"copy{number:02}.tab.txt" for number in range(COPIES)]
    for path in copies:
        shutil.copy(world / "runs" / "run0.tab.txt", path)

    def kill_after_first() -> int:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not any(out.glob("*/signature.json")):
            time.sleep(0.005)
        os.kill(cluster.workers[0].pid, signal.SIGKILL)
        return len(list(out.glob("*/signature.json")))

    words = (*SWITCHES, "--dask", cluster.scheduler_address, "-o", str(out), *FILES[:2], *map(str, copies))
    with ThreadPoolExecutor(1) as thread:
        killed = thread.submit(kill_after_first)
        done = batch_process(world, *words)
    assert done.returncode == 0, done.stderr
    # Four runs are handed out at a time, so that the worker had some when it was killed.
    assert 1 <= killed.result() <= COPIES - 4
    rows = leaderboard(out)
    assert [row["state"] for row in rows] == ["ok"] * COPIES
    summaries = {(out / row["run"] / "out.summary").read_bytes() for row in rows}
    assert summaries == {(world / "local" / "run0" / "out.summary").read_bytes()}
