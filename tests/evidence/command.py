"""Running cs-score: inside this process, which is quick, or as a process of its own, which is how users meet it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

from cs_score.base.records import Record
from tests.coldstart.command import score_in

REPOSITORY: Final = Path(__file__).parents[2]


class Outcome(Record):
    """Exit status and what was printed."""

    status: int
    out: str
    err: str

    @property
    def scores(self) -> dict[str, object]:
        """The JSON object on standard output, without the signature."""
        scores = json.loads(self.out, parse_constant=_refuse)
        del scores["signature"]
        return dict(scores)

    @property
    def complaint(self) -> str:
        """The one line that bad input gets."""
        assert self.status == 1, self
        assert self.out == ""
        assert self.err.count("\n") == 1, self.err
        assert self.err.startswith("cs-score: ")
        return self.err.removeprefix("cs-score: ").rstrip("\n")


def _refuse(constant: str) -> float:
    raise AssertionError(f"{constant} in the output")


def cs_score(*words: str | Path) -> Outcome:
    """Run the command in this process."""
    done = score_in(None, [str(word) for word in words])
    return Outcome(done.status, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def cs_score_process(*words: str | Path, stdin: bytes = b"", **environment: str) -> Outcome:
    """Run the command as a process, warnings being errors."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "cs_score", *map(str, words)],
        input=stdin,
        capture_output=True,
        check=False,
        env={"PYTHONPATH": str(REPOSITORY), "PATH": "/usr/bin:/bin", **environment},
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())
