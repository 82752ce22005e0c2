"""Whole-process measurements: wall-clock seconds and peak memory of a child, as the kernel counts them."""

from __future__ import annotations

import contextlib
import os
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

REPOSITORY: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

SCORER: Final = (sys.executable, "-m", "cs_score")

# Kibibytes on Linux, bytes on macOS.
_PEAK_UNIT: Final = 1 if sys.platform == "darwin" else 1024


class FailedRunError(Exception):
    """A measured program did not end with status 0; the text holds the end of its standard error."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds from start to end of a process, and the peak memory in bytes of it and the processes it starts.

    `processor` are the seconds that processors worked for all of them, 0 where that was not measured.
    """

    seconds: float
    peak: int
    processor: float = 0.0


def run(words: Sequence[str], folder: str) -> Cost:
    """Run a program in `folder` with standard output thrown away, and measure it. Raises FailedRunError.

    A child's peak is never below that of the process it was started from (Linux hands it down across exec), so
    whoever calls this has to stay small: inputs are generated in processes of their own.
    """
    complaints = os.path.join(folder, "stderr.txt")
    with open(complaints, "wb") as stderr:
        start = time.perf_counter()
        child = subprocess.Popen(
            words, cwd=folder, env=_environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stderr
        )
        with _watched(child.pid) as family:
            _, status, usage = os.wait4(child.pid, 0)
            seconds = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        with open(complaints, encoding="utf-8", errors="replace") as file:
            raise FailedRunError(f"{' '.join(words)}\nended with status {child.returncode}: {file.read()[-2000:]}")
    return Cost(seconds, max(usage.ru_maxrss * _PEAK_UNIT, family.peak), usage.ru_utime + usage.ru_stime)


@dataclass(slots=True)
class _Family:
    """The largest memory seen of a process together with its children; 0 where it was never seen to have any."""

    peak: int = 0


@contextlib.contextmanager
def _watched(pid: int) -> Iterator[_Family]:
    """Look at the memory of a process and its children ten times a second (Linux; elsewhere nothing is seen).

    The kernel keeps the peak of each process by itself only. Pages that several share count once among them.
    """
    family = _Family()
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.1):
            children = _read(f"/proc/{pid}/task/{pid}/children").split()
            if children:
                family.peak = max(family.peak, sum(_proportional(each) for each in (str(pid), *children)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield family
    finally:
        ended.set()
        watcher.join()


def _proportional(pid: str) -> int:
    """Bytes of a process's memory, pages that n processes share counted as an n-th (PSS)."""
    match = re.search(r"^Pss:\s+(\d+) kB", _read(f"/proc/{pid}/smaps_rollup"), re.MULTILINE)
    return int(match.group(1)) * 1024 if match else 0


def _read(path: str) -> str:
    """A file of /proc; nothing where the process has ended."""
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except OSError:
        return ""


def median(costs: Iterable[Cost]) -> Cost:
    """Median seconds and median peak, each by itself."""
    costs = list(costs)
    return Cost(statistics.median(cost.seconds for cost in costs), int(statistics.median(cost.peak for cost in costs)))


def _environment() -> Mapping[str, str]:
    """The caller's environment, with the cs_score and benchmarks of this checkout before any that is installed."""
    path = os.pathsep.join(filter(None, (REPOSITORY, os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path}


def machine_line() -> str:
    """Processor, cores, Python, commit and date, for the head of a report."""
    commit = subprocess.run(
        ("git", "describe", "--always", "--dirty"), cwd=REPOSITORY, capture_output=True, text=True, check=False
    ).stdout.strip()
    python = ".".join(map(str, sys.version_info[:3]))
    parts = (_processor(), f"{os.cpu_count()} cores", f"Python {python}", f"commit {commit or 'unknown'}")
    return ", ".join((*parts, time.strftime("%Y-%m-%d")))


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return os.uname().machine
