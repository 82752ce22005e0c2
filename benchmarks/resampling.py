"""What resampling costs a user: -samples in the reference's format, --bootstrap, and a comparison of many runs."""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.generate import BASE
from benchmarks.process import SCORER, Cost, FailedRunError, median, run

RUN_LINES: Final = 3_000
SAMPLES: Final = 1_000
RESAMPLES: Final = 10_000
SYSTEMS: Final = 20

# Seconds and bytes of the reference scorer for 1,000 samples of a run of 3,000 lines, from the task description of this
# project; measured on another machine.
REFERENCE: Final = Cost(190.0, 4_400_000_000)
REFERENCE_RATIO: Final = 200.0
"""How much faster the same files are to appear."""

COMPARISON_LIMIT: Final = 10.0
"""Seconds for the comparison of all systems once they are scored."""

GENERATOR: Final = (sys.executable, "-m", "benchmarks.generate")
INPUTS: Final = ("queries.xml", "pool.tab", "run.tab")
ROW: Final = "{:44}{:>9}{:>9}  {}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Seconds of scoring all systems and of comparing them, and the numbers of units and measures."""

    scoring: float
    comparing: float
    units: int
    measures: int


def whole_process(folder: str, switches: Sequence[str], runs: int) -> Cost:
    """The median cost of scoring the run with these switches and all output files."""
    words = (*SCORER, "-expand", BASE, "-output_file", "out", *switches, *INPUTS)
    return median([run(words, folder) for _ in range(runs)])


def write_systems(folder: str) -> list[str]:
    """Twenty runs: the generated one, less a part of its lines without children, more of them from run to run."""
    with open(os.path.join(folder, "run.tab"), encoding="utf-8") as file:
        lines = file.readlines()
    names = []
    for number in range(SYSTEMS):
        rng = random.Random(number)
        # Lines of the second hop only: a parent line that is missing would leave its children without one.
        kept = [line for line in lines if line.split("\t")[0].count("_") < 3 or rng.random() >= number / (2 * SYSTEMS)]
        names.append(f"run{number:02}.tab")
        with open(os.path.join(folder, names[-1]), "w", encoding="utf-8") as file:
            file.writelines(kept)
    return names


def compare_here(folder: str) -> Comparison:
    """Score the systems of a folder and compare them by all measures of the summaries; to be called in a child."""
    from cs_score.analysis.system_comparison import compare
    from cs_score.analysis.systems import system_names
    from cs_score.coldstart.gold import open_gold, with_pool
    from cs_score.coldstart.options import Options
    from cs_score.coldstart.scorer import runs_of, score_each
    from cs_score.statistics.resampling_settings import Resampling
    from cs_score.tasks import task_named

    queries, pool, _ = (os.path.join(folder, name) for name in INPUTS)
    runs = [os.path.join(folder, f"run{number:02}.tab") for number in range(SYSTEMS)]
    start = time.perf_counter()
    gold = with_pool(open_gold([queries], Options(expand=BASE)), [pool])
    results = dict(zip(system_names(runs), score_each(gold, runs_of(runs))))
    scored = time.perf_counter()
    compared = compare(task_named("coldstart"), results, Resampling(RESAMPLES))
    return Comparison(scored - start, time.perf_counter() - scored, compared.units, len(compared.measures))


def _line(what: str, cost: Cost, remark: str) -> str:
    return ROW.format(what, f"{cost.seconds:.2f} s", f"{cost.peak / 1e6:.0f} MB", remark)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; status 1 when a program failed or a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.resampling", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each command")
    parser.add_argument("--compare-in", metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.compare_in:
        found = compare_here(options.compare_in)
        with open(os.path.join(options.compare_in, "costs.json"), "w", encoding="utf-8") as file:
            json.dump([found.scoring, found.comparing, found.units, found.measures], file)
        return 0
    try:
        with tempfile.TemporaryDirectory(prefix="cs-score-bench-") as folder:
            return _report(folder, options.repeats)
    except FailedRunError as error:
        print(error, file=sys.stderr)
        return 1


def _report(folder: str, repeats: int) -> int:
    run((*GENERATOR, str(RUN_LINES), folder, "--samples", str(SAMPLES)), folder)
    print(f"one run of {RUN_LINES:,} lines, whole processes, medians of {repeats}")
    print(_line("scored", whole_process(folder, (), repeats), ""))
    sampled = whole_process(folder, ("-samples", "samples.txt"), repeats)
    ratio = REFERENCE.seconds / sampled.seconds
    verdict = "met" if ratio >= REFERENCE_RATIO else "MISSED"
    remark = f"reference {REFERENCE.seconds:g} s, {REFERENCE.peak / 1e6:.0f} MB: {ratio:.0f} times faster"
    print(_line(f"and -samples, {SAMPLES:,}", sampled, f"{remark} (target {REFERENCE_RATIO:g}: {verdict})"))
    native = whole_process(folder, ("--bootstrap", str(RESAMPLES)), repeats)
    print(_line(f"and --bootstrap {RESAMPLES}", native, ""))
    write_systems(folder)
    found = []
    for _ in range(min(repeats, 3)):
        cost = run((sys.executable, "-m", "benchmarks.resampling", "--compare-in", folder), folder)
        with open(os.path.join(folder, "costs.json"), encoding="utf-8") as file:
            found.append((Comparison(*json.load(file)), cost))
    compared, cost = sorted(found, key=lambda pair: pair[0].comparing)[len(found) // 2]
    in_time = compared.comparing <= COMPARISON_LIMIT
    what = f"{SYSTEMS} runs compared, {RESAMPLES:,} resamples"
    print(
        _line(
            what,
            Cost(compared.comparing, cost.peak),
            f"after {compared.scoring:.2f} s of scoring; {compared.units} units, {compared.measures} measures "
            f"(target {COMPARISON_LIMIT:g} s: {'met' if in_time else 'MISSED'})",
        )
    )
    return 0 if in_time and ratio >= REFERENCE_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
