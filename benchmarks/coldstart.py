"""What the Cold Start scorer costs per line, beside the floor of reading and writing, and beside the targets."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from benchmarks.generate import BASE, Shape
from benchmarks.process import SCORER, Cost, FailedRunError, machine_line, median, run

SIZES: Final = (1_000, 10_000, 30_000, 100_000, 1_000_000)
TEN_LINES: Final = 10
PER_LINE_BASE: Final = 10_000
REFERENCE_SIZE: Final = 30_000
MILLION: Final = 1_000_000

# Run lines -> seconds and bytes of the reference scorer 2017.2.0: one whole process with all output files, from the
# task description of this project; measured on another machine, memory at two of the sizes.
REFERENCE: Final[dict[int, tuple[float, int | None]]] = {
    1_000: (0.83, 49_000_000),
    3_000: (2.7, None),
    10_000: (29.0, None),
    30_000: (266.0, 801_000_000),
}

GENERATOR: Final = (sys.executable, "-m", "benchmarks.generate")
FLOOR: Final = (sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "floor.py"))


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """Median costs at one size: the scorer with all its files, and the floor; `written` in bytes, `runs` of each."""

    lines: int
    runs: int
    written: int
    scorer: Cost
    floor: Cost

    @property
    def microseconds_per_line(self) -> float:
        return 1e6 * self.scorer.seconds / self.lines

    @property
    def ratio(self) -> float:
        return self.scorer.seconds / self.floor.seconds


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """A target in words, the figure reached (None where its sizes were not measured), and the limit."""

    target: str
    figure: float | None
    limit: float
    unit: str

    @property
    def met(self) -> bool | None:
        return None if self.figure is None else self.figure <= self.limit


def repeats(lines: int) -> int:
    """More runs where one run is short and start-up noise weighs more."""
    return next(runs for limit, runs in ((100, 15), (30_000, 7), (300_000, 5), (sys.maxsize, 3)) if lines <= limit)


def measure(shape: Shape, folder: str, runs: int) -> Measured:
    """Make the inputs of one size in `folder` (unless they are there) and run scorer and floor in turns."""
    inputs = ("queries.xml", "pool.tab", "run.tab")
    if not os.path.exists(os.path.join(folder, inputs[-1])):
        os.makedirs(folder, exist_ok=True)
        proportions = (
            f"--lines-per-query={shape.lines_per_query}",
            f"--answers-per-class={shape.answers_per_class}",
            f"--seed={shape.seed}",
        )
        run((*GENERATOR, str(shape.lines), folder, *proportions), folder)
    scorer: list[Cost] = []
    floor: list[Cost] = []
    written = 0
    for _ in range(runs):
        _remove_outputs(folder)
        switches = ("-expand", BASE, "-output_file", "out", "-error_file", "out.errlog")
        scorer.append(run((*SCORER, *switches, *inputs), folder))
        written = sum(os.path.getsize(path) for path in _outputs(folder))
        floor.append(run((*FLOOR, "floor.bytes", str(written), *inputs), folder))
        os.unlink(os.path.join(folder, "floor.bytes"))
    return Measured(shape.lines, runs, written, median(scorer), median(floor))


def _outputs(folder: str) -> list[str]:
    return [entry.path for entry in os.scandir(folder) if entry.name.startswith("out.")]


def _remove_outputs(folder: str) -> None:
    for path in _outputs(folder):
        os.unlink(path)


def verdicts(measured: Sequence[Measured]) -> list[Verdict]:
    """Every target with the figure that stands against it."""
    at = {row.lines: row for row in measured}

    def figure(reached: Callable[..., float], *sizes: int) -> float | None:
        rows = [at[size] for size in sizes if size in at]
        return reached(*rows) if len(rows) == len(sizes) else None

    def growth(large: Measured, base: Measured) -> float:
        return large.microseconds_per_line / base.microseconds_per_line

    return [
        Verdict("1,000,000 lines, time over the floor", figure(lambda row: row.ratio, MILLION), 3.0, "x"),
        Verdict("1,000,000 lines, peak memory", figure(lambda row: row.scorer.peak / 1e9, MILLION), 2.5, "GB"),
        Verdict("time per line, 1,000,000 over 10,000 lines", figure(growth, MILLION, PER_LINE_BASE), 1.2, "x"),
        Verdict("ten-line run", figure(lambda row: row.scorer.seconds, TEN_LINES), 0.2, "s"),
        Verdict("30,000 lines", figure(lambda row: row.scorer.seconds, REFERENCE_SIZE), 1.3, "s"),
    ]


def table(measured: Sequence[Measured]) -> str:
    """The measurements, one size per line."""
    base = next((row.microseconds_per_line for row in measured if row.lines == PER_LINE_BASE), None)
    header = (
        "lines",
        "runs",
        "seconds",
        "us/line",
        "per line",
        "peak MB",
        "floor s",
        "ratio",
        "out MB",
        "reference",
        "",
    )
    rows = [header, ("", "", "", "", "vs 10k", "", "", "", "", "seconds", "MB")]
    for row in measured:
        seconds, peak = REFERENCE.get(row.lines, (None, None))
        rows.append(
            (
                f"{row.lines:,}",
                str(row.runs),
                f"{row.scorer.seconds:.3f}",
                f"{row.microseconds_per_line:.1f}",
                f"{row.microseconds_per_line / base:.2f}" if base else "-",
                f"{row.scorer.peak / 1e6:.0f}",
                f"{row.floor.seconds:.3f}",
                f"{row.ratio:.2f}",
                f"{row.written / 1e6:.1f}",
                f"{seconds:g}" if seconds else "-",
                f"{peak / 1e6:.0f}" if peak else "-",
            )
        )
    return _aligned(rows)


def targets(found: Sequence[Verdict]) -> str:
    """The targets, one per line, and whether each is met."""
    words = {True: "met", False: "MISSED", None: "not measured"}
    rows = [("target", "limit", "reached", "")]
    for one in found:
        reached = "-" if one.figure is None else f"{one.figure:.2f} {one.unit}"
        rows.append((one.target, f"{one.limit:g} {one.unit}", reached, words[one.met]))
    return _aligned(rows, left={0, 3})


def _aligned(rows: Sequence[Sequence[str]], left: Collection[int] = ()) -> str:
    widths = [max(map(len, column)) for column in zip(*rows)]

    def line(row: Sequence[str]) -> str:
        cells = (c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths)))
        return "  ".join(cells).rstrip()

    return "\n".join(map(line, rows))


@contextlib.contextmanager
def _folder(keep: str | None) -> Iterator[str]:
    """`keep`, or a temporary folder that is gone afterwards."""
    if keep:
        os.makedirs(keep, exist_ok=True)
        yield os.path.abspath(keep)
        return
    made = tempfile.mkdtemp(prefix="cs-score-bench-")
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.coldstart", description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="run lines, separated by commas")
    parser.add_argument("--repeats", type=int, help="runs at every size (default: 3 to 15, by size)")
    parser.add_argument("--lines-per-query", type=int, default=24, help="large: few queries with many lines")
    parser.add_argument("--answers-per-class", type=int, default=3, help="large: few classes with many answers")
    parser.add_argument("--keep", metavar="FOLDER", help="leave inputs and outputs there, and reuse such inputs")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to this file")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; status 1 when a program failed. A missed target is reported, not a failure."""
    options = _parser().parse_args(arguments)
    measured = []
    try:
        with _folder(options.keep) as folder:
            for lines in (TEN_LINES, *(int(size) for size in options.sizes.split(","))):
                shape = Shape(lines, min(options.lines_per_query, max(lines // 2, 1)), options.answers_per_class)
                name = f"{lines}-{shape.lines_per_query}-{shape.answers_per_class}"
                runs = options.repeats or repeats(lines)
                measured.append(measure(shape, os.path.join(folder, name), runs))
    except FailedRunError as error:
        print(error, file=sys.stderr)
        return 1
    found = verdicts(measured)
    print(table(measured), targets(found), sep="\n\n")
    if options.json:
        report = {
            "machine": machine_line(),
            "sizes": [dataclasses.asdict(row) for row in measured],
            "targets": [{**dataclasses.asdict(one), "met": one.met} for one in found],
        }
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(report, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
