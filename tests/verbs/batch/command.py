"""Batches in this process and as processes of their own, and the files that they leave."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from cs_score.coldstart.output_files import MAY_BE_REPLACED
from tests.coldstart.command import Outcome, score_in

REPOSITORY: Final = Path(__file__).parents[3]


def batch_words(*words: str) -> list[str]:
    """The words of a process that runs a batch."""
    return [sys.executable, "-W", "error", "-m", "cs_score", "batch", *words]


def environment() -> dict[str, str]:
    """The environment of such a process."""
    return {**os.environ, "PYTHONPATH": str(REPOSITORY)}


def batch_process(folder: Path, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run `cs-score batch` in `folder`."""
    return subprocess.run(
        batch_words(*words), cwd=folder, env=environment(), input=stdin, capture_output=True, timeout=120, check=False
    )


FILES: Final = ("queries.xml", "pool.tab", "runs")


def batch_in(world: Path, *more: str, out: str = "out", files: Sequence[str] = FILES) -> Outcome:
    """A batch of the small evaluation, in this process."""
    return score_in(world, ["batch", "-expand", "CSSF17", "--jobs", "1", "-o", out, *more, *files])


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by relative name; the time in `.params` files is left out."""
    return {
        path.relative_to(folder).as_posix(): without_time(path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def without_time(data: bytes) -> bytes:
    """The bytes of an output without the time of the call."""
    return re.sub(rb"(?m)^#At: .*$", b"#At: <TIME>", data)


def without_call(data: bytes) -> bytes:
    """The bytes of an output without time and command line of the call, nor what only a failed single call adds."""
    data = data.removesuffix(MAY_BE_REPLACED.encode())
    return re.sub(rb"(?m)^(#Invoked as:\n).*$", rb"\1<COMMAND>", without_time(data))


def files_of_call(folder: Path) -> dict[str, bytes]:
    """What a call of the scorer leaves in a folder, as far as it does not say which call it was."""
    return {name: without_call(data) for name, data in contents(folder).items() if name != "signature.json"}


def change_confidence(path: Path, confidence: str) -> None:
    """Put another confidence into the second line of a run."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    columns = lines[1].split("\t")
    columns[7] = confidence
    path.write_text("".join([lines[0], "\t".join(columns), *lines[2:]]), encoding="utf-8")


def table(text: str) -> list[dict[str, str]]:
    """The rows of a tab-separated table by header."""
    header, *lines = text.splitlines()
    return [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]


def leaderboard(folder: Path) -> list[dict[str, str]]:
    """The rows of `leaderboard.tsv`."""
    return table((folder / "leaderboard.tsv").read_text(encoding="utf-8"))


def problems(folder: Path) -> list[dict[str, str]]:
    """The rows of `problems.tsv`."""
    return table((folder / "problems.tsv").read_text(encoding="utf-8"))


def invented_runs(folder: Path, source: Path, ids: Sequence[str]) -> list[str]:
    """Runs made from one recorded run, each with fewer of its lines; their paths relative to `folder`."""
    lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    run_id = lines[0].split("\t")[2]
    (folder / "runs").mkdir(exist_ok=True)
    for at, name in enumerate(ids):
        kept = [line.replace(f"\t{run_id}\t", f"\t{name}\t") for line in lines[: len(lines) - at]]
        (folder / "runs" / f"{name}.tab.txt").write_text("".join(kept), encoding="utf-8")
    return [f"runs/{name}.tab.txt" for name in ids]
