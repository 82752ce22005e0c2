"""What the benchmarks say of a command: its seconds and its memory, that of its children included."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest

from benchmarks.process import FailedRunError, run

HOLD = "held = bytearray(b'x') * (200 << 20); import time; time.sleep(0.7)"


def test_memory_of_children_counts(tmp_path: Path) -> None:
    alone = run((sys.executable, "-c", HOLD), str(tmp_path))
    own = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # a child has the size of its parent at first
    assert 200 << 20 < alone.peak < max(400 << 20, 1.1 * own)
    assert 0.7 < alone.seconds < 30
    start = f"subprocess.Popen([sys.executable, '-c', {HOLD!r}])"
    two = f"import subprocess, sys\nfor child in [{start} for _ in '12']: child.wait()"
    assert run((sys.executable, "-c", two), str(tmp_path)).peak > 400 << 20


def test_a_command_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(FailedRunError, match=r"ended with status 1: .*no such thing"):
        run((sys.executable, "-c", "raise SystemExit('no such thing')"), str(tmp_path))
