"""The progress of a batch: one line that is written over on a terminal, a plain line a minute otherwise."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable
from typing import Final, TextIO

from cs_score.base.display import one_line

MINUTE: Final = 60.0
TERMINAL_INTERVAL: Final = 0.1


class Progress:
    """Counts the runs that are done and shows them on `stream`."""

    def __init__(self, stream: TextIO, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._total = total
        self._clock = clock
        self._on_terminal = stream.isatty()
        self._interval = TERMINAL_INTERVAL if self._on_terminal else MINUTE
        self._started = self._last = clock()
        self._done = 0
        self._current = ""
        self._drawn = False

    def starts(self, run: str) -> None:
        """A run has been handed out."""
        self._current = run
        self.tick()

    def finished(self) -> None:
        """A run is done."""
        self._done += 1
        self.tick()

    def tick(self) -> None:
        """Show the progress if enough time has passed."""
        now = self._clock()
        if now - self._last >= self._interval:
            self._last = now
            self._show(now)

    def close(self) -> None:
        """Clear the line of a terminal."""
        if self._drawn:
            self._write("\r\x1b[K")

    def line(self, now: float) -> str:
        """The line: runs done, rate, time left, the run handed out last."""
        seconds = now - self._started
        rate = self._done / seconds if seconds > 0 else 0.0
        parts = [f"{self._done}/{self._total} runs"]
        if rate:
            parts += [_rate_text(rate), f"{_duration((self._total - self._done) / rate)} left"]
        return one_line(", ".join((*parts, self._current) if self._current else parts))

    def _show(self, now: float) -> None:
        text = self.line(now)
        if self._on_terminal:
            width = shutil.get_terminal_size().columns - 1
            self._write(f"\r\x1b[K{text[:width]}")
            self._drawn = True
        else:
            self._write(f"cs-score: {text}\n")

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError):  # a closed terminal does not end the batch
            self._stream.write(text)
            self._stream.flush()


def _rate_text(rate: float) -> str:
    return f"{rate:.1f} runs/s" if rate >= 1 else f"{rate * MINUTE:.1f} runs/min"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
