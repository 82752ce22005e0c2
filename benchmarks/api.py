"""What the Python API costs: importing it, gold that is prepared once, scoring again, and large data frames."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from benchmarks.batch import GENERATOR, batch, make_inputs, outputs
from benchmarks.process import REPOSITORY, FailedRunError, machine_line, run

IMPORTS: Final = 25
ROUNDS: Final = 3
PROGRAM: Final = (sys.executable, "-m", "benchmarks.api_programs")


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured, and the most that it should be."""

    text: str
    value: float
    limit: float
    unit: str = ""

    def __str__(self) -> str:
        met = "met" if self.value <= self.limit else "MISSED"
        return f"{self.text}: {self.value:.3g}{self.unit}  (at most {self.limit:g}{self.unit}: {met})"


def import_time(folder: str) -> list[Figure]:
    """Milliseconds that `import cs_score` adds to a process that does nothing; both in turns."""
    added = []
    for _ in range(IMPORTS):
        nothing, imported = (run((sys.executable, "-c", code), folder).seconds for code in ("pass", "import cs_score"))
        added.append(1000 * (imported - nothing))
    return [Figure("import cs_score, beyond an empty process", statistics.median(added), 20, " ms")]


def many_runs(folder: str, runs: int, lines: int) -> list[Figure]:
    """`prepare` and as many `score` and `write` as there are runs, over a batch in one process; whole processes.

    Raises FailedRunError where the bytes differ.
    """
    make_inputs(folder, runs, lines)
    ratios = []
    for _ in range(ROUNDS):
        for made in ("api", "batch"):
            shutil.rmtree(os.path.join(folder, made), ignore_errors=True)
        took = run((*PROGRAM, "many", folder), folder).seconds
        start = time.perf_counter()
        batch(folder, "batch", "--jobs", "1")
        ratios.append(took / (time.perf_counter() - start))
    ours, theirs = outputs(os.path.join(folder, "api")), outputs(os.path.join(folder, "batch"))
    if any(ours[name] != theirs[name] for name in ours):
        raise FailedRunError("the API and the batch write different bytes")
    text = f"prepare and {runs} x score and write, {lines:,} lines each, over batch --jobs 1"
    return [Figure(text, statistics.median(ratios), 1.1)]


def rescoring(folder: str, lines: int) -> list[Figure]:
    """Scoring again over scoring from files, within a process."""
    run((*GENERATOR, str(lines), folder), folder)
    took = _printed("rescore", folder)
    return [
        Figure(f"rescore of {lines:,} lines over scoring from files", took["rescore"] / took["files, kb"], 0.4),
        Figure("the same with other limits on justifications (sf)", took["rescore, sf"] / took["files, sf"], 0.4),
    ]


def frames(folder: str, lines: int) -> list[Figure]:
    """Peak memory of scoring and a frame of all responses over that of scoring alone."""
    run((*GENERATOR, str(lines), folder), folder)
    scored, framed = (run((*PROGRAM, name, folder), folder).peak for name in ("score", "frame"))
    print(f"scoring {lines:,} lines: {scored / 1e6:.0f} MB, with a frame of its responses {framed / 1e6:.0f} MB")
    return [Figure(f'to_frame("responses") of {lines:,} lines, memory over scoring', framed / scored, 1.2)]


def _printed(name: str, folder: str) -> Any:
    done = subprocess.run((*PROGRAM, name, folder), cwd=folder, env=_environment(), capture_output=True, check=False)
    if done.returncode:
        raise FailedRunError(f"{name}: {done.stderr.decode()[-2000:]}")
    return json.loads(done.stdout)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": REPOSITORY}


def main(words: Sequence[str]) -> int:
    """Measure and print; status 1 where a program failed. A missed target is only reported."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.api", description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--lines", type=int, default=10_000, help="lines of each run")
    parser.add_argument("--large", type=int, default=1_000_000, help="lines of the run that becomes a frame")
    options = parser.parse_args(words)
    try:
        for measured in (
            import_time,
            partial(rescoring, lines=options.lines),
            partial(many_runs, runs=options.runs, lines=options.lines),
            partial(frames, lines=options.large),
        ):
            with tempfile.TemporaryDirectory(prefix="cs-score-bench-") as folder:
                _print(measured(folder))
    except FailedRunError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _print(figures: Iterable[Figure]) -> None:
    for figure in figures:
        print(figure, flush=True)


if __name__ == "__main__":
    print(machine_line())
    sys.exit(main(sys.argv[1:]))
