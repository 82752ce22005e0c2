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
        """Begin with none of `total` runs finished.

        `show` is the function that prints a line; if it is None, nothing is printed. `clock` returns the time in
        seconds.
        """
        self._show = show
        self._seconds_between_lines = seconds_between_lines
        self._total = total
        self._clock = clock
        self._start_time = clock()
        self._last_line_time = self._start_time
        self._finished_count = 0
        self._latest_run = ""

    def starts(self, run: str) -> None:
        """Note that the run called `run` was handed to a worker, and show the line if it is due."""
        self._latest_run = run
        self.show_if_due()

    def finished(self) -> None:
        """Count one more finished run, and show the line if it is due."""
        self._finished_count += 1
        self.show_if_due()

    def show_if_due(self) -> None:
        """Show the line if `seconds_between_lines` have passed since it was last shown."""
        if self._show is None:
            return
        now = self._clock()
        if now - self._last_line_time < self._seconds_between_lines:
            return
        self._last_line_time = now
        self._show(self.line(now))

    def line(self, now: float) -> str:
        """Return the line at the time `now`: finished runs, their rate, the time left, and the run started last.

        Rate and time left are missing until the first run is finished: `0/40 runs, run1`.
        """
        parts = [f"{self._finished_count}/{self._total} runs"]
        seconds = now - self._start_time
        if self._finished_count > 0 and seconds > 0:
            runs_per_second = self._finished_count / seconds
            unfinished_count = self._total - self._finished_count
            seconds_left = round(unfinished_count / runs_per_second)
            parts.append(_rate_text(runs_per_second))
            parts.append(f"{_duration_text(seconds_left)} left")
        if self._latest_run:
            parts.append(self._latest_run)
        return one_line(", ".join(parts))


def _rate_text(runs_per_second: float) -> str:
    """Return a rate per second, or per minute if it is below one run a second: `2.5 runs/s`, `30.0 runs/min`."""
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
