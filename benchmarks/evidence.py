"""What the evidence modes cost from the shell: seconds and peak memory of whole processes, beside recorded figures."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.process import SCORER, Cost, median, run


@dataclass(frozen=True, slots=True)
class Corpus:
    """A mode and a number of units; `official` is what was recorded for the official evaluator, `limit` our target."""

    mode: str
    units: int
    runs: int
    official: str = "-"
    limit: float | None = None


# The official figures come from the task description of this project and were measured on another machine.
CORPORA: Final = (
    Corpus("scifact", 300, 7, "0.02-0.08 s", 0.15),
    Corpus("scifact", 300_000, 3),
    Corpus("claims", 300, 7, "up to 0.2 s", 0.15),
    Corpus("claims", 300_000, 3),
    Corpus("r4c", 2_209, 5, "112 s", 2.2),
    Corpus("hotpotqa", 7_405, 5, "0.4-1.3 s", 1.3),
    Corpus("hotpotqa", 100_000, 3),
)

GENERATOR: Final = (sys.executable, "-m", "benchmarks.evidence_corpora")

ROW: Final = "{:10}{:>9}{:>9}{:>10}{:>10}{:>14}{:>9}  {}"


def measure(corpus: Corpus, folder: str) -> tuple[Cost, int]:
    """Generate the corpus in `folder`, score it several times: the median cost, and the bytes that were read."""
    run((*GENERATOR, corpus.mode, str(corpus.units), folder), folder)
    words = (*SCORER, corpus.mode, "--gold", "gold", "--predictions", "predictions", "--json")
    read = sum(os.path.getsize(os.path.join(folder, name)) for name in ("gold", "predictions"))
    return median([run(words, folder) for _ in range(corpus.runs)]), read


def line(corpus: Corpus, cost: Cost, read: int) -> str:
    """One line of the report."""
    limit = "-" if corpus.limit is None else f"{corpus.limit:g} s"
    verdict = "" if corpus.limit is None else "met" if cost.seconds <= corpus.limit else "MISSED"
    return ROW.format(
        corpus.mode,
        corpus.units,
        f"{read / 1e6:.1f}",
        f"{cost.seconds:.3f}",
        f"{cost.peak / 1e6:.0f}",
        corpus.official,
        limit,
        verdict,
    ).rstrip()


def main(words: Sequence[str]) -> int:
    """Measure the chosen modes; status 0, 1 where a limit was missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.evidence", description=__doc__)
    parser.add_argument("--mode", action="append", choices=sorted({corpus.mode for corpus in CORPORA}))
    parser.add_argument("--largest", type=int, default=sys.maxsize, metavar="UNITS", help="leave out larger corpora")
    options = parser.parse_args(words)
    print(ROW.format("mode", "units", "read MB", "seconds", "peak MB", "official", "limit", "").rstrip())
    missed = 0
    for corpus in CORPORA:
        if corpus.units > options.largest or (options.mode and corpus.mode not in options.mode):
            continue
        with tempfile.TemporaryDirectory(prefix="cs-score-bench-") as folder:
            cost, read = measure(corpus, folder)
        print(line(corpus, cost, read), flush=True)
        missed |= corpus.limit is not None and cost.seconds > corpus.limit
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
