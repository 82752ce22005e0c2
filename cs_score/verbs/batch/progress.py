"""The line that shows the progress of a batch."""

from __future__ import annotations

import time
from collections.abc import Callable

from cs_score.base.display import one_line


class Progress:
    """Counts the finished runs of a batch and, from time to time, shows a line about them.

    A line is `12/40 runs, 2.5 runs/s, 0:11 left, run13`.
    """

    def __init__(
        self,
        show: Callable[[str], None] | None,
        seconds_between_lines: float,
        total: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin with none of `total` runs finished. `show` is the function that prints a line; None: print none."""
        self._show = show
        self._seconds_between_lines = seconds_between_lines
        self._total = total
        self._clock = clock
        self._start_time = clock()
        self._last_line_time = self._start_time
        self._finished_count = 0
        self._latest_run = ""

    def starts(self, run: str) -> None:
        """Note that a run was handed to a worker."""
        self._latest_run = run
        self.tick()

    def finished(self) -> None:
        """Count one more finished run."""
        self._finished_count += 1
        self.tick()

    def tick(self) -> None:
        """Show the line if `seconds_between_lines` have passed since the last one."""
        if self._show is None:
            return
        now = self._clock()
        if now - self._last_line_time >= self._seconds_between_lines:
            self._last_line_time = now
            self._show(self.line(now))

    def line(self, now: float) -> str:
        """Return the line: finished runs, their rate, the time left, and the run that was started last."""
        seconds = now - self._start_time
        rate = self._finished_count / seconds if seconds > 0 else 0.0
        parts = [f"{self._finished_count}/{self._total} runs"]
        if rate:
            parts.append(_rate_text(rate))
            seconds_left = round((self._total - self._finished_count) / rate)
            parts.append(f"{_duration_text(seconds_left)} left")
        if self._latest_run:
            parts.append(self._latest_run)
        return one_line(", ".join(parts))


def _rate_text(runs_per_second: float) -> str:
    """Return a rate per second or, if it is below one run a second, per minute: `30.0 runs/min`."""
    if runs_per_second >= 1:
        return f"{runs_per_second:.1f} runs/s"
    return f"{runs_per_second * 60:.1f} runs/min"


def _duration_text(seconds: int) -> str:
    """Return a duration as minutes and seconds, `5:00`, with hours before them if there are any: `1:05:00`."""
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{seconds:02}"
    return f"{minutes}:{seconds:02}"
