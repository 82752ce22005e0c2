"""`python -m benchmarks [NAME...]`: a line on the machine, then the named benchmarks, or all of them."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from typing import Final

from benchmarks.process import machine_line

NAMES: Final = ("coldstart", "preparation", "evidence", "statistics", "resampling")


def main(names: Sequence[str]) -> int:
    """Run the benchmarks one after the other; the highest of their statuses."""
    if unknown := [name for name in names if name not in NAMES]:
        print(f"no benchmark is called {unknown[0]!r}; there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    print(machine_line(), flush=True)
    statuses = [0]
    for name in names or NAMES:
        module = f"benchmarks.{name}"
        if importlib.util.find_spec(module) is None:
            continue
        print(f"\n== {name}", flush=True)
        statuses.append(importlib.import_module(module).main([]))
    return max(statuses)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
