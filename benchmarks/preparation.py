"""What validating a run costs per line, beside the floor of reading and writing the same files."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.coldstart import FLOOR, GENERATOR, repeats
from benchmarks.generate import BASE
from benchmarks.process import SCORER, Cost, FailedRunError, median, run

SIZES: Final = (10_000, 100_000, 1_000_000)
MOST_OVER_FLOOR: Final = 3.0
"""The target: at a million lines validate-run takes at most so many times the floor."""

MILLION: Final = 1_000_000

# Program -> its words, the inputs that it reads, and the file that it writes.
PROGRAMS: Final = {
    "validate-run": (("-output_file", "out.tab", "sf.xml", "run.tab"), ("sf.xml", "run.tab"), "out.tab"),
    "validate-run -docs": (
        ("-docs", "docs.txt", "-output_file", "out.tab", "sf.xml", "run.tab"),
        ("sf.xml", "run.tab", "docs.txt"),
        "out.tab",
    ),
    "apply-k": (("run.tab", "out.tab"), ("run.tab",), "out.tab"),
}

ROW: Final = "{:20}{:>10}{:>6}{:>10}{:>10}{:>10}{:>10}{:>8}"


@dataclass(frozen=True, slots=True)
class Measured:
    """Median costs of a program at one size, and of the floor on the same files; `runs` of each."""

    program: str
    lines: int
    runs: int
    cost: Cost
    floor: Cost

    @property
    def ratio(self) -> float:
        return self.cost.seconds / self.floor.seconds

    def row(self) -> str:
        """One line of the report."""
        cells = (
            f"{self.lines:,}", self.runs, f"{self.cost.seconds:.3f}", f"{1e6 * self.cost.seconds / self.lines:.1f}",
            f"{self.cost.peak / 1e6:.0f}", f"{self.floor.seconds:.3f}", f"{self.ratio:.2f}",
        )  # fmt: skip
        return ROW.format(self.program, *cells).rstrip()


def prepare(lines: int, folder: str) -> None:
    """Make a run of so many lines, the slot-filling queries it answers, and a list of its documents."""
    run((*GENERATOR, str(lines), folder), folder)
    run((*SCORER, "validate-queries", "-expand", "-query_base", BASE, "queries.xml", "sf.xml"), folder)
    documents: dict[str, None] = {}
    for name, column in (("run.tab", 6), ("run.tab", 3)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            for line in file:
                for span in line.split("\t")[column].split(","):
                    documents[span.partition(":")[0]] = None
    with open(os.path.join(folder, "sf.xml"), encoding="utf-8") as file:
        text = file.read()
    for part in text.split("<docid>")[1:]:
        documents[part.partition("<")[0]] = None
    with open(os.path.join(folder, "docs.txt"), "w", encoding="utf-8") as file:
        file.writelines(f"{docid}\t1000000\n" for docid in documents)


def measure(program: str, lines: int, folder: str, runs: int) -> Measured:
    """Run a program and the floor in turns on what `prepare` made."""
    words, inputs, output = PROGRAMS[program]
    costs: list[Cost] = []
    floors: list[Cost] = []
    for _ in range(runs):
        costs.append(run((*SCORER, program.split()[0], *words), folder))
        size = os.path.getsize(os.path.join(folder, output))
        floors.append(run((*FLOOR, "floor.bytes", str(size), *inputs), folder))
    return Measured(program, lines, runs, median(costs), median(floors))


def verdict(measured: Sequence[Measured]) -> str:
    """The target and the figure that stands against it."""
    target = f"validate-run, {MILLION:,} lines, time over the floor: at most {MOST_OVER_FLOOR:g} x"
    figure = next((one.ratio for one in measured if one.program == "validate-run" and one.lines == MILLION), None)
    if figure is None:
        return f"{target} - not measured"
    return f"{target} - reached {figure:.2f} x, {'met' if figure <= MOST_OVER_FLOOR else 'MISSED'}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; status 1 when a program failed. A missed target is reported, not a failure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.preparation", description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="run lines, separated by commas")
    parser.add_argument("--repeats", type=int, help="runs at every size (default: 3 to 15, by size)")
    options = parser.parse_args(arguments)
    print(ROW.format("program", "lines", "runs", "seconds", "us/line", "peak MB", "floor s", "ratio").rstrip())
    measured = []
    try:
        for lines in map(int, options.sizes.split(",")):
            with tempfile.TemporaryDirectory(prefix="cs-score-bench-") as folder:
                prepare(lines, folder)
                for program in PROGRAMS:
                    measured.append(measure(program, lines, folder, options.repeats or repeats(lines)))
                    print(measured[-1].row(), flush=True)
    except FailedRunError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"\n{verdict(measured)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
