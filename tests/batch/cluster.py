"""A Dask scheduler and its workers on this machine, as processes of the test."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from cs_score.base.records import Record
from tests.batch.command import environment

_DEADLINE_SECONDS = 20.0
_QUIET = {"DASK_DISTRIBUTED__ADMIN__LOG_FORMAT": "%(message)s"}


class Cluster(Record):
    """The scheduler's address and the processes of the workers."""

    address: str
    workers: list[subprocess.Popen[bytes]]


@contextlib.contextmanager
def local_cluster(folder: Path, workers: int, **variables: str) -> Iterator[Cluster]:
    """A scheduler on a free port of the loopback interface, and workers of one thread each in folders of their own."""
    folder.mkdir(exist_ok=True)
    file = folder / "scheduler.json"
    started: list[subprocess.Popen[bytes]] = []
    try:
        scheduler = ("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
        started.append(_start(folder / "scheduler", scheduler, variables))
        address = _address(file, started[0])
        for number in range(workers):
            place = folder / f"worker{number}"
            words = ("worker", address, "--host", "127.0.0.1", "--nworkers", "1", "--nthreads", "1", "--no-nanny",
                     "--no-dashboard", "--memory-limit", "0", "--death-timeout", "30",
                     "--local-directory", str(place))  # fmt: skip
            started.append(_start(place, words, variables))
        yield Cluster(address, started[1:])
    finally:
        for process in reversed(started):
            process.kill()
        for process in started:
            process.wait(10)


def _start(place: Path, words: tuple[str, ...], variables: dict[str, str]) -> subprocess.Popen[bytes]:
    place.mkdir()
    with open(place / "log.txt", "wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]],
            cwd=place, env={**environment(), **_QUIET, **variables}, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip


def _address(file: Path, scheduler: subprocess.Popen[bytes]) -> str:
    import json

    deadline = time.monotonic() + _DEADLINE_SECONDS
    while time.monotonic() < deadline and scheduler.poll() is None:
        with contextlib.suppress(OSError, ValueError, KeyError):
            return str(json.loads(file.read_text(encoding="utf-8"))["address"])
        time.sleep(0.05)
    raise AssertionError(f"the scheduler did not start: {os.listdir(file.parent)}")
