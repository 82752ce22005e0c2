"""What the benchmark of the Python API measures, each in a process of its own.

`python -m benchmarks.api_programs NAME [FOLDER]`; what is timed within a process is printed as JSON, in seconds.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from typing import Final

import cs_score as cs
from benchmarks.generate import BASE

ROUNDS: Final = 9


def many(folder: str) -> None:
    """Prepare gold, score all runs, and write the files of each."""
    gold = _gold(folder)
    os.makedirs(os.path.join(folder, "api"))
    for name in sorted(os.listdir(os.path.join(folder, "runs"))):
        run = name.removesuffix(".tab.txt")
        os.makedirs(os.path.join(folder, "api", run))
        gold.score(os.path.join(folder, "runs", name)).write(os.path.join(folder, "api", run, "out"))


def rescore(folder: str) -> None:
    """Score from files and score again, in turns: under a policy with the same limits, and with others."""
    lenient = cs.Policy(right=("CORRECT", "INEXACT"), wrong=("INCORRECT", "INCORRECT_PARENT"))
    queries, run, pool = (os.path.join(folder, name) for name in ("queries.xml", "run.tab", "pool.tab"))
    took: dict[str, list[float]] = {"files, kb": [], "rescore": [], "files, sf": [], "rescore, sf": []}
    for _ in range(ROUNDS):
        first = _timed(took["files, kb"], lambda: cs.score(queries, run, pool, expand=BASE))
        _timed(took["rescore"], lambda: first.rescore(lenient))  # noqa: B023  # called at once
        _timed(took["files, sf"], lambda: cs.score(queries, run, pool, expand=BASE, policy="sf"))
        _timed(took["rescore, sf"], lambda: first.rescore("sf"))  # noqa: B023  # called at once
    print(json.dumps({name: statistics.median(seconds) for name, seconds in took.items()}))


def score(folder: str) -> None:
    """Score a run."""
    _gold(folder).score(os.path.join(folder, "run.tab"))


def frame(folder: str) -> None:
    """Score a run, and make a frame of its responses."""
    result = _gold(folder).score(os.path.join(folder, "run.tab"))
    result.to_frame("responses")


def _gold(folder: str) -> cs.Gold:
    return cs.prepare(os.path.join(folder, "queries.xml"), os.path.join(folder, "pool.tab"), expand=BASE)


def _timed(took: list[float], work: Callable[[], cs.RunResult]) -> cs.RunResult:
    start = time.perf_counter()
    result = work()
    took.append(time.perf_counter() - start)
    return result


PROGRAMS: Final[Mapping[str, Callable[[str], None]]] = {
    "many": many, "rescore": rescore, "score": score, "frame": frame,
}  # fmt: skip


if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](sys.argv[2])
