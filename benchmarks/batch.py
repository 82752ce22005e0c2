"""What a batch saves: many runs against one pool, beside as many single calls, on one process, two, and a Dask cluster.

The bytes of all runs are compared as well: whatever way they were computed, they are the same.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.generate import BASE
from benchmarks.process import SCORER, FailedRunError, machine_line, run
from benchmarks.systems import RUNS_OF_A_SYSTEM, runs_of_systems

GENERATOR: Final = (sys.executable, "-m", "benchmarks.generate")
START_SECONDS: Final = 30.0
SWITCHES: Final = ("-expand", BASE)


@dataclass(frozen=True, slots=True)
class Goal:
    """A ratio of two of the four ways, and the least (or, with `is_most`, the most) that it should be."""

    text: str
    above: str
    below: str
    limit: float
    is_most: bool = False


GOALS: Final = (
    Goal("single calls / one job", "single", "one job", 2.0),
    Goal("one job / two jobs", "one job", "two jobs", 1.7),
    Goal("two Dask workers / two jobs", "dask", "two jobs", 1.3, is_most=True),
)


def make_inputs(folder: str, runs: int, lines: int) -> list[str]:
    """One evaluation, and the runs of several systems for it; their paths relative to the folder."""
    run((*GENERATOR, str(lines), folder), folder)
    pool, first = (_text(os.path.join(folder, name)) for name in ("pool.tab", "run.tab"))
    os.makedirs(os.path.join(folder, "runs"))
    paths = []
    for run_id, text in runs_of_systems(pool, first, [f"R{number:04}" for number in range(1, runs + 1)]):
        paths.append(f"runs/{run_id}.tab.txt")
        with open(os.path.join(folder, paths[-1]), "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    return paths


def _text(path: str) -> str:
    with open(path, encoding="utf-8", newline="\n") as file:
        return file.read()


def single_calls(folder: str, paths: Sequence[str]) -> None:
    """One process a run, one after the other, into the folders that a batch would use."""
    for path in paths:
        name = os.path.basename(path).removesuffix(".tab.txt")
        prefix = f"single/{name}/out"
        os.makedirs(os.path.join(folder, "single", name))
        outputs = ("-output_file", prefix, "-error_file", f"{prefix}.errlog")
        run((*SCORER, *SWITCHES, *outputs, "queries.xml", "pool.tab", path), folder)


def batch(folder: str, out: str, *how: str) -> None:
    """One batch over all runs."""
    run((*SCORER, "batch", *SWITCHES, "-o", out, *how, "queries.xml", "pool.tab", "runs"), folder)


@contextlib.contextmanager
def dask_cluster(folder: str) -> Iterator[str]:
    """A scheduler and two workers of one thread on the loopback interface; the address of the scheduler.

    `folder` is empty, and theirs.
    """
    file = os.path.join(folder, "scheduler.json")
    python = (sys.executable, "-m")
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}
    quiet = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    words = ("--host", "127.0.0.1", "--no-dashboard")
    started: list[subprocess.Popen[bytes]] = []

    def start(program: str, *more: str) -> None:
        started.append(subprocess.Popen((*python, f"distributed.cli.dask_{program}", *words, *more), **quiet))  # type: ignore[call-overload]

    try:
        start("scheduler", "--port", "0", "--scheduler-file", file)
        end = time.monotonic() + START_SECONDS
        while not os.path.exists(file) and time.monotonic() < end:
            time.sleep(0.05)
        with open(file, encoding="utf-8") as written:
            address = str(json.load(written)["address"])
        for number in range(2):
            place = os.path.join(folder, f"worker{number}")
            start("worker", address, "--nthreads", "1", "--no-nanny", "--local-directory", place)
        _wait_for_workers(address)
        yield address
    finally:
        for process in reversed(started):
            process.kill()
        for process in started:
            process.wait(20)


def _wait_for_workers(address: str) -> None:
    """Workers are up before the clock starts: a cluster is there already when a batch comes to it."""
    code = f"import distributed; distributed.Client({address!r}).wait_for_workers(2, timeout={START_SECONDS})"
    subprocess.run((sys.executable, "-c", code), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def outputs(folder: str) -> dict[str, bytes]:
    """The scorer's files below a folder, without time and command line."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            if name.startswith("out."):
                with open(os.path.join(place, name), "rb") as file:
                    data = file.read()
                key = os.path.relpath(os.path.join(place, name), folder)
                found[key] = re.sub(rb"#At: .*|(?<=#Invoked as:\n).*", b"", data) if name == "out.params" else data
    return found


def measure(folder: str, runs: int, lines: int, rounds: int) -> tuple[list[dict[str, float]], list[str]]:
    """Seconds of each way in each round, and the ways whose bytes differ from those of single calls.

    A machine is faster at one moment than at the next, and slower once two processors have worked for a while. So in
    each round a way that needs two comes before and after those that need one, and of the round's single calls half
    come before the batch that they are compared with, half after it.
    """
    paths = make_inputs(folder, runs, lines)
    found: list[dict[str, float]] = []

    def timed(name: str, work: Callable[..., None], *arguments: object) -> None:
        start = time.perf_counter()
        work(folder, *arguments)
        found[-1][name] = found[-1].get(name, 0.0) + time.perf_counter() - start

    rounds = min(rounds, runs)  # each round has a call at least
    for number in range(rounds):
        found.append({})
        calls = paths[number::rounds]
        timed("two jobs", batch, "two jobs", "--jobs", "2")
        timed("single", single_calls, calls[::2])
        timed("one job", batch, "one job", "--jobs", "1")
        timed("single", single_calls, calls[1::2])
        found[-1]["single"] *= runs / len(calls)
        with tempfile.TemporaryDirectory(prefix="dask-") as place, dask_cluster(place) as address:
            timed("dask", batch, "dask", "--dask", address)
    expected = outputs(os.path.join(folder, "single"))
    return found, [name for name in found[0] if outputs(os.path.join(folder, name)) != expected]


def report(rounds: Sequence[Mapping[str, float]], runs: int, lines: int) -> str:
    """The figures as text: for each way the seconds of its fastest round, and the goals.

    A goal is judged by the median of the rounds' ratios: what was measured in one round met the same machine.
    """
    title = f"{runs} runs of {lines:,} lines, {RUNS_OF_A_SYSTEM} of each system, against one pool"
    rows = [title, f"{'':12}{'seconds':>9}{'a run':>9}"]
    for name in rounds[0]:
        took = min(of_round[name] for of_round in rounds)
        rows.append(f"{name:12}{took:>9.2f}{took / runs:>9.3f}")
    for goal in GOALS:
        ratios = [of_round[goal.above] / of_round[goal.below] for of_round in rounds]
        ratio = statistics.median(ratios)
        is_met = ratio <= goal.limit if goal.is_most else ratio >= goal.limit
        wanted = f"{'at most' if goal.is_most else 'at least'} {goal.limit:g}"
        each = ", ".join(f"{one:.2f}" for one in ratios)
        rows.append(f"{goal.text}: {ratio:.2f}  ({wanted}: {'met' if is_met else 'MISSED'}; by rounds {each})")
    return "\n".join(rows)


def main(words: Sequence[str]) -> int:
    """Measure and print; status 1 where a program failed or bytes differed. A missed goal is only reported."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.batch", description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--lines", type=int, default=10_000, help="lines of each run")
    parser.add_argument("--rounds", type=int, default=3, help="how often each batch is measured")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory(prefix="cs-score-bench-") as folder:
        try:
            found, different = measure(folder, options.runs, options.lines, options.rounds)
        except FailedRunError as error:
            print(error, file=sys.stderr)
            return 1
    print(report(found, options.runs, options.lines))
    print(f"bytes: {'DIFFERENT in ' + ', '.join(different) if different else 'identical in all four'}")
    return 1 if different else 0


if __name__ == "__main__":
    print(machine_line())
    sys.exit(main(sys.argv[1:]))
