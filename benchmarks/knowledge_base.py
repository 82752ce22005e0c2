"""What it costs to validate a knowledge base and to ask queries of it, beside the floor on the same files."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.coldstart import FLOOR, repeats
from benchmarks.process import SCORER, Cost, FailedRunError, median, run

SIZES: Final = (10_000, 100_000, 1_000_000)
QUERIES: Final = 300
MILLION: Final = 1_000_000
MOST_OVER_FLOOR: Final = 3.0
MOST_MEMORY: Final = 2e9

GENERATOR: Final = (sys.executable, "-m", "benchmarks.kb_generator")
KB: Final = "kb.tac"
VALID: Final = "kb.tac.valid"
RUN: Final = "out.tab"
ASKED: Final = "queries.xml"

ROW: Final = "{:>10}{:>6}{:>10}{:>10}{:>10}{:>10}{:>10}{:>8}"


@dataclass(frozen=True, slots=True)
class Measured:
    """Median costs at one size: of the two programs, one after the other, and of the floor on all their files."""

    assertions: int
    runs: int
    validate: Cost
    resolve: Cost
    floor: Cost

    @property
    def seconds(self) -> float:
        return self.validate.seconds + self.resolve.seconds

    @property
    def peak(self) -> int:
        return max(self.validate.peak, self.resolve.peak)

    @property
    def ratio(self) -> float:
        return self.seconds / self.floor.seconds

    def row(self) -> str:
        """One line of the report."""
        cells = (
            f"{self.assertions:,}", self.runs, f"{self.validate.seconds:.3f}", f"{self.resolve.seconds:.3f}",
            f"{1e6 * self.seconds / self.assertions:.1f}", f"{self.peak / 1e6:.0f}", f"{self.floor.seconds:.3f}",
            f"{self.ratio:.2f}",
        )  # fmt: skip
        return ROW.format(*cells).rstrip()


def measure(assertions: int, folder: str, runs: int) -> Measured:
    """Validate, resolve and run the floor in turns."""
    run((*GENERATOR, str(assertions), str(QUERIES), folder), folder)
    validated: list[Cost] = []
    resolved: list[Cost] = []
    floors: list[Cost] = []
    for _ in range(runs):
        for name in (VALID, RUN):
            if os.path.exists(os.path.join(folder, name)):
                os.unlink(os.path.join(folder, name))
        validated.append(run((*SCORER, "validate-kb", "-output", "tac", KB), folder))
        resolved.append(run((*SCORER, "resolve-queries", ASKED, VALID, RUN), folder))
        size = sum(os.path.getsize(os.path.join(folder, name)) for name in (VALID, RUN))
        floors.append(run((*FLOOR, "floor.bytes", str(size), KB, VALID, ASKED), folder))
    return Measured(assertions, runs, median(validated), median(resolved), median(floors))


def verdicts(measured: Sequence[Measured]) -> list[str]:
    """The targets and the figures that stand against them."""
    million = next((one for one in measured if one.assertions == MILLION), None)
    targets = (
        ("time over the floor", MOST_OVER_FLOOR, " x", None if million is None else million.ratio),
        ("peak memory", MOST_MEMORY / 1e9, " GB", None if million is None else million.peak / 1e9),
    )
    return [f"{MILLION:,} assertions, {QUERIES} queries, {_verdict(*target)}" for target in targets]


def _verdict(what: str, limit: float, unit: str, figure: float | None) -> str:
    reached = "not measured"
    if figure is not None:
        reached = f"reached {figure:.2f}{unit}, {'met' if figure <= limit else 'MISSED'}"
    return f"{what}: at most {limit:g}{unit} - {reached}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; status 1 when a program failed. A missed target is reported, not a failure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.knowledge_base", description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="assertions, separated by commas")
    parser.add_argument("--repeats", type=int, help="runs at every size (default: 3 to 15, by size)")
    options = parser.parse_args(arguments)
    print(ROW.format("assertions", "runs", "validate", "resolve", "us/line", "peak MB", "floor s", "ratio").rstrip())
    measured = []
    try:
        for assertions in map(int, options.sizes.split(",")):
            with tempfile.TemporaryDirectory(prefix="cs-score-bench-") as folder:
                measured.append(measure(assertions, folder, options.repeats or repeats(assertions)))
                print(measured[-1].row(), flush=True)
    except FailedRunError as error:
        print(error, file=sys.stderr)
        return 1
    print("\n" + "\n".join(verdicts(measured)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
