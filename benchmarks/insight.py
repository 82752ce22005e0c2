"""What it costs to analyse, explain and compare Cold Start runs, beside scoring the same files."""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from benchmarks.api import Figure
from benchmarks.coldstart import GENERATOR
from benchmarks.generate import BASE, RUN_ID
from benchmarks.process import SCORER, Cost, FailedRunError, machine_line, run

ROUNDS: Final = 5
LINES: Final = 10_000
ONE_QUERY: Final = 2000
LARGE: Final = 100_000
TOP: Final = 20

GOLD: Final = ("queries.xml", "pool.tab")
RUN_FILE: Final = "run.tab"
OTHER_RUN: Final = "other.tab"


def small(folder: str, lines: int, rounds: int = ROUNDS) -> list[Figure]:
    """Processor time of each command over that of `score`, in turns: the medians of the ratios."""
    run((*GENERATOR, str(lines), folder), folder)
    write_other_run(folder)
    commands = {
        "analyze": (("analyze",), (*GOLD, RUN_FILE), 15.0),
        "explain --line": (("explain", "--line", str(lines // 2)), (*GOLD, RUN_FILE), 1.5),
        "diff": (("diff",), ("queries.xml", RUN_FILE, OTHER_RUN, "pool.tab"), 2.5),
    }
    ratios: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        scored = _score(folder)
        for name, (words, files, _) in commands.items():
            ratios[name].append(_command(words, files, folder).processor / scored.processor)
    return [
        Figure(f"{name}, {lines:,} lines, over score", statistics.median(ratios[name]), limit)
        for name, (_, _, limit) in commands.items()
    ]


def one_query(folder: str, lines: int) -> list[Figure]:
    """A run whose lines answer one query, in which the time of an analysis grows with the square of the lines."""
    run((*GENERATOR, str(lines), folder, f"--lines-per-query={lines}"), folder)
    cost = _command(("analyze",), (*GOLD, RUN_FILE), folder)
    return [Figure(f"analyze, {lines:,} lines in one query", cost.seconds, 30, " s")]


def large(folder: str, lines: int) -> list[Figure]:
    """The greatest mistakes of a large run: processor time over that of `score`, and peak memory."""
    run((*GENERATOR, str(lines), folder), folder)
    scored = _score(folder)
    cost = _command(("analyze", "--top", str(TOP)), (*GOLD, RUN_FILE), folder)
    print(f"score of {lines:,} lines: {_told(scored)}; analyze --top {TOP}: {_told(cost)}")
    return [
        Figure(f"analyze --top {TOP}, {lines:,} lines, over score", cost.processor / scored.processor, 15),
        Figure(f"analyze --top {TOP}, {lines:,} lines, peak memory", cost.peak / 1e9, 1, " GB"),
    ]


def write_other_run(folder: str) -> None:
    """A run that says less than the other: without each seventh line of the second hop, on which no other depends."""
    with (
        open(os.path.join(folder, RUN_FILE), encoding="utf-8") as lines,
        open(os.path.join(folder, OTHER_RUN), "w", encoding="utf-8") as file,
    ):
        second_hop = 0
        for line in lines:
            query, rest = line.split("\t", 1)
            second_hop += query.count("_") > 2
            if query.count("_") <= 2 or second_hop % 7:
                file.write(f"{query}\t{rest.replace(RUN_ID, 'OTHER', 1)}")


def _score(folder: str) -> Cost:
    return _command(("score",), (*GOLD, RUN_FILE), folder)


def _command(words: Sequence[str], files: Sequence[str], folder: str) -> Cost:
    return run((*SCORER, *words, "-expand", BASE, *files), folder)


def _told(cost: Cost) -> str:
    return f"{cost.processor:.0f} s of processor time, {cost.seconds:.0f} s, {cost.peak / 1e6:.0f} MB"


def main(words: Sequence[str]) -> int:
    """Measure and print; status 1 where a program failed. A missed target is only reported."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.insight", description=__doc__)
    parser.add_argument("--lines", type=int, default=LINES, help="lines of the runs of which all mistakes are listed")
    parser.add_argument("--one-query", type=int, default=ONE_QUERY, help="lines of the run that answers one query")
    parser.add_argument("--large", type=int, default=LARGE, help="lines of the large run; 0: without it")
    options = parser.parse_args(words)
    parts: list[tuple[Callable[[str, int], Iterable[Figure]], int]] = [
        (small, options.lines),
        (one_query, options.one_query),
        (large, options.large),
    ]
    try:
        for measure, lines in parts:
            if lines:
                with tempfile.TemporaryDirectory(prefix="cs-score-bench-") as folder:
                    for figure in measure(folder, lines):
                        print(figure, flush=True)
    except FailedRunError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    print(machine_line())
    sys.exit(main(sys.argv[1:]))
