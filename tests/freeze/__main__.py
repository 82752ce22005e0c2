"""Look at the freeze, and change it by name.

NAME is the name of a call, a group, or a pattern such as 'analyze*'; without an option the calls whose outputs differ
are listed. Where a rebase conflicts in a file of digests, take either side and --update the calls that both changed.
"""

from __future__ import annotations

import argparse
import difflib
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

from tests.freeze.calls import Call
from tests.freeze.outputs import COMMAND, Outputs, by_name, differing, digests, keep, outputs


def main() -> int:
    """Run the command; the exit status."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--update", action="store_true", help="keep what these calls put out now")
    parser.add_argument("--update-all", action="store_true", help="keep what all calls put out now")
    parser.add_argument("--show", action="store_true", help="print what these calls put out")
    parser.add_argument("--against", metavar="TREE", help="show the difference to another work tree with a .venv")
    given = parser.parse_args()
    chosen = [
        call
        for call in by_name().values()
        if given.update_all or not given.names or any(_means(name, call) for name in given.names)
    ]
    if not chosen or (given.update and not given.names):
        parser.error("no call of these names")
    if given.update or given.update_all:
        return _update(chosen, everything=given.update_all)
    if given.against:
        return _compare(chosen, Path(given.against))
    if given.show:
        for call in chosen:
            print(_text(call, outputs(call)), end="")
        return 0
    for call in chosen:
        if found := differing(call):
            print(f"{call.name}\t{', '.join(found)}")
    return 0


def _means(name: str, call: Call) -> bool:
    return name in (call.name, call.group) or fnmatchcase(call.name, name)


def _update(chosen: list[Call], *, everything: bool) -> int:
    names = list(by_name().values())
    for group in dict.fromkeys(call.group for call in names):
        changed = {call.name: digests(outputs(call)) for call in chosen if call.group == group}
        if changed or everything:
            keep(group, changed, [call.name for call in names if call.group == group])
    print(f"{len(chosen)} calls kept; look at the change: git diff --stat tests/freeze")
    return 0


def _compare(chosen: list[Call], tree: Path) -> int:
    names = [call.name for call in chosen]
    command = [str(tree / ".venv" / "bin" / "python"), "-m", "tests.freeze", "--show", *names]
    before = subprocess.run(command, cwd=tree, capture_output=True, check=True).stdout.decode("utf-8", "replace")
    after = "".join(_text(call, outputs(call)) for call in chosen)
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), str(tree), "here", lineterm="", n=1)
    print("\n".join(lines))
    return 0


def _text(call: Call, found: Outputs) -> str:
    parts = [f"==== {call.name}: cs-score {' '.join(call.words)}\n"]
    for name, content in found.items():
        parts += [f"---- {name}\n", content.decode("utf-8", "backslashreplace").rstrip("\n"), "\n"]
    return "".join(parts)


if __name__ == "__main__":
    sys.exit(main())
