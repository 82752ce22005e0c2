"""What a million judged answers cost: seconds beside what `csv.DictReader` takes to read both files, and peak memory.

python -m benchmarks.judged [--lines 1000000] [--per-unit 20]
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import sys
import tempfile
from typing import Final

from benchmarks.process import SCORER, run

MOST_TIMES: Final = 3.0
"""The limit: as often the time that Python takes to read the files."""

MOST_MEMORY: Final = 1 << 30

POLICY: Final = "right=CORRECT,wrong=INCORRECT,ignore=ERROR"
READ: Final = (
    "import csv, sys\nfor name in sys.argv[1:]:\n    for row in csv.DictReader(open(name, newline='')):\n        pass"
)


def write_files(folder: str, lines: int, per_unit: int) -> tuple[str, str]:
    """Write assessments and a run of so many lines; one answer in ten of the run has no assessment."""
    drawn = random.Random(1)
    names = os.path.join(folder, "assessments.csv"), os.path.join(folder, "run.csv")
    with open(names[0], "w", newline="") as gold_file, open(names[1], "w", newline="") as run_file:
        gold, answers = csv.writer(gold_file), csv.writer(run_file)
        gold.writerow(("unit", "answer", "evidence", "label", "class"))
        answers.writerow(("unit", "answer", "evidence", "confidence"))
        for number in range(lines):
            unit, place = divmod(number, per_unit)
            answer = f"text of answer {place}"
            evidence = f"doc{number % 977}:{number % 100}-{number % 100 + 40}"
            label = ("CORRECT", "INCORRECT")[number % 2] if number % 10 else "ERROR"
            class_name = f"c{place // 2}" if label == "CORRECT" else ""
            gold.writerow((f"question-{unit:07d}", answer, evidence, label, class_name))
            given = f"{answer}?" if number % 10 == 3 else answer
            answers.writerow((f"question-{unit:07d}", given, evidence, round(drawn.random(), 3)))
    return names


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--per-unit", type=int, default=20)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        gold, answers = write_files(folder, asked.lines, asked.per_unit)
        read = run((sys.executable, "-c", READ, gold, answers), folder)
        words = (*SCORER, "score", "pool", "--gold", gold, "--predictions", answers, "--policy", POLICY)
        scored = run(words, folder)
    times = scored.seconds / read.seconds
    is_met = times <= MOST_TIMES and scored.peak <= MOST_MEMORY
    print(f"{asked.lines:,} lines, {asked.per_unit} a unit: read {read.seconds:.1f} s, scored {scored.seconds:.1f} s")
    print(f"{times:.2f} times (limit {MOST_TIMES:g}), {scored.peak / 1e6:.0f} MB: {'met' if is_met else 'MISSED'}")
    return 0 if is_met else 1


if __name__ == "__main__":
    sys.exit(main())
