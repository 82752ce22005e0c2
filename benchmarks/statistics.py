"""What resampling costs: seconds and memory of intervals and of a comparison, beside the targets.

Run `python -m benchmarks.statistics`. (Run as a file it would stand in the way of the standard library's `statistics`,
which is why the folder of this file is taken off the path below.)
"""

from __future__ import annotations

import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))
if sys.path and os.path.abspath(sys.path[0]) == _FOLDER:
    sys.path[0] = os.path.dirname(_FOLDER)

import json  # noqa: E402
import resource  # noqa: E402
import statistics  # noqa: E402
import subprocess  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Sequence  # noqa: E402
from dataclasses import dataclass  # noqa: E402
from typing import Any, Final  # noqa: E402

UNITS: Final = 1_000
STATISTICS: Final = 40
RESAMPLES: Final = 10_000
SYSTEMS: Final = 20
MEASURES: Final = 12

_PEAK_UNIT: Final = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True, slots=True)
class Target:
    """A job, how often to repeat it, and what it may take: seconds, and megabytes above the matrix."""

    job: str
    runs: int
    seconds: float
    megabytes: float | None = None


TARGETS: Final = (
    Target("intervals", 7, 0.3, 100),
    Target("intervals-of-fractions", 7, 0.3, 100),
    Target("intervals-bca", 7, 0.3, 100),
    Target("compare", 3, 10.0),
    Target("compare-of-fractions", 3, 10.0),
    Target("compare-table-uncorrected", 7, 1.0),
    Target("compare-table-maxt", 7, 1.3, 300),
    Target("compare-table-hsd", 7, 1.2),
    Target("compare-50-runs-maxt", 3, 10.0, 500),
    Target("compare-50-runs-hsd", 3, 10.0, 500),
)
MOST_BY_CORRECTION: Final = {"maxt": 1.3, "hsd": 1.2}
"""Times what the uncorrected tests of the same table take."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of the job after all imports, and its peak memory above what was resident before, in megabytes."""

    seconds: float
    megabytes: float


def main(words: Sequence[str] = ()) -> int:
    """Print one line per target; the status is 1 where the median misses one."""
    print(f"{RESAMPLES} resamples of {UNITS} units x {STATISTICS} statistics, {MEASURES} measures, {SYSTEMS} systems")
    print(f"{'job':<24}{'median s':>10}{'fastest':>10}{'of target':>11}{'median MB':>11}{'of target':>11}")
    missed = 0
    best: dict[str, float] = {}
    for target in TARGETS:
        costs = [run_in_child(target.job) for _ in range(target.runs)]
        seconds = statistics.median(cost.seconds for cost in costs)
        megabytes = statistics.median(cost.megabytes for cost in costs)
        of_memory = "" if target.megabytes is None else f"{megabytes / target.megabytes:.0%}"
        fastest = min(cost.seconds for cost in costs)
        of_time = f"{seconds / target.seconds:.0%}"
        print(f"{target.job:<24}{seconds:>10.3f}{fastest:>10.3f}{of_time:>11}{megabytes:>11.1f}{of_memory:>11}")
        best[target.job] = fastest
        missed += seconds > target.seconds or (target.megabytes is not None and megabytes > target.megabytes)
    for correction, most in MOST_BY_CORRECTION.items():
        ratio = best[f"compare-table-{correction}"] / best["compare-table-uncorrected"]
        print(f"{correction} over {SYSTEMS} systems takes {ratio:.2f} times the uncorrected tests; at most {most}")
        missed += ratio > most
    print("all targets met" if not missed else f"{missed} targets missed")
    return 1 if missed else 0


def run_in_child(job: str) -> Cost:
    """The cost of a job in a process of its own, whose peak memory nothing else has raised."""
    done = subprocess.run([sys.executable, os.path.abspath(__file__), job], stdout=subprocess.PIPE, check=True)
    return Cost(**json.loads(done.stdout))


def measure(job: str) -> Cost:
    """Do the job once, here, and measure it; what it needs is imported and made before."""
    work = prepare(job)
    before = resident()
    start = time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    return Cost(seconds, peak() - before)


def prepare(job: str) -> Callable[[], object]:
    """The job as a function without arguments: its matrices made, its modules imported."""
    import numpy as np

    from cs_score.statistics.comparison import compare_tables
    from cs_score.statistics.resampling import bootstrap_intervals
    from cs_score.statistics.resampling_settings import Correction, Resampling
    from cs_score.statistics.units import UnitTable

    def ratios(measures: int) -> Any:
        return lambda sums, divide: [divide(sums[3 * i], sums[3 * i + 1]) for i in range(measures)]

    def compared(matrices: Any, *how: Any) -> object:
        ids = tuple(str(number) for number in range(UNITS))
        tables = {f"system {at}": UnitTable(ids, (), matrix) for at, matrix in enumerate(matrices)}
        return compare_tables(tables, *how)

    if "table" in job or "50-runs" in job:
        count = 50 if "50-runs" in job else SYSTEMS
        rng = np.random.default_rng(0)
        table = [np.stack([rng.random(UNITS), np.ones(UNITS)], axis=1) for _ in range(count)]
        corrections: dict[str, Correction] = {"uncorrected": "none", "maxt": "maxt", "hsd": "hsd"}
        family = Resampling(RESAMPLES, correction=corrections[job.rpartition("-")[2]])
        return lambda: compared(table, ["mean"], ratios(1), family)
    generator = np.random.default_rng(0)
    divisor = 3 if job.endswith("of-fractions") else 1
    matrices = [
        generator.integers(0, 10, (UNITS, STATISTICS)) / divisor for _ in range(SYSTEMS if "compare" in job else 1)
    ]
    settings = Resampling(RESAMPLES, method="bca" if job.endswith("bca") else "percentile")
    if "compare" not in job:
        return lambda: bootstrap_intervals(matrices[0], ratios(MEASURES), settings)
    names = [f"measure {number}" for number in range(MEASURES)]
    return lambda: compared(matrices, names, ratios(MEASURES), settings)


def resident() -> float:
    """The resident memory of this process now, in megabytes; where the kernel does not tell, the largest so far."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize() / 1e6
    except OSError:
        return peak()


def peak() -> float:
    """The largest resident memory of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _PEAK_UNIT / 1e6


if __name__ == "__main__":
    if len(sys.argv) > 1:
        cost = measure(sys.argv[1])
        print(json.dumps({"seconds": cost.seconds, "megabytes": cost.megabytes}))
        sys.exit(0)
    sys.exit(main())
