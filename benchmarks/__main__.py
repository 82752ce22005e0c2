"""`python -m benchmarks [--results FILE] [NAME...]`: a line on the machine, then the named benchmarks, or all of them.

With `--results` what is printed is also written to FILE as Markdown, whole or not at all.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from benchmarks.process import REPOSITORY, machine_line

NAMES: Final = (
    "coldstart",
    "preparation",
    "knowledge_base",
    "evidence",
    "judged",
    "statistics",
    "resampling",
    "batch",
    "api",
    "insight",
)

RESULTS: Final = "--results"


def main(words: Sequence[str]) -> int:
    """Run the benchmarks one after the other; the highest of their statuses."""
    names = list(words)
    results = None
    if names[:1] == [RESULTS]:
        if len(names) < 2:
            print(f"{RESULTS} needs the name of a file", file=sys.stderr)
            return 2
        results, names = names[1], names[2:]
    if unknown := [name for name in names if name not in NAMES]:
        print(f"no benchmark is called {unknown[0]!r}; there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    names = [name for name in names or NAMES if importlib.util.find_spec(f"benchmarks.{name}") is not None]
    if results is not None:
        return record(results, names)
    print(machine_line(), flush=True)
    statuses = [0]
    for name in names:
        print(f"\n== {name}", flush=True)
        statuses.append(importlib.import_module(f"benchmarks.{name}").main([]))
    return max(statuses)


def record(path: str, names: Sequence[str]) -> int:
    """Run benchmarks in processes of their own, show what they print, and keep it in a Markdown file.

    Their status is the highest one; nothing is written where a benchmark fails without having printed anything.
    """
    command = f"python -m benchmarks {RESULTS} {os.path.relpath(path, REPOSITORY)}"
    parts = [f"# Benchmarks\n\n{machine_line()}\n\nMade by `{' '.join((command, *names))}`. Not edited by hand.\n"]
    statuses = [0]
    for name in names:
        code = f"import sys, benchmarks.{name} as benchmark; sys.exit(benchmark.main([]))"
        done = subprocess.run(
            (sys.executable, "-c", code), cwd=REPOSITORY, stdout=subprocess.PIPE, text=True, check=False
        )
        print(f"\n== {name}\n{done.stdout}", end="", flush=True)
        if not done.stdout:
            return done.returncode or 1
        statuses.append(done.returncode)
        parts.append(f"\n## {name}\n\n```text\n{done.stdout.rstrip()}\n```\n")
    temporary = f"{path}.part"
    with open(temporary, "w", encoding="utf-8") as file:
        file.writelines(parts)
    os.replace(temporary, path)
    return max(statuses)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
