"""Find the inputs that a command line names: Cold Start runs, or gold and predictions of an evidence task."""

from __future__ import annotations

from cs_score.cli.core import CommandLine
from cs_score.cli.predictions import Predictions
from cs_score.cli.run_inputs import Runs
from cs_score.tasks import COLD_START


def find_inputs(
    task: str, command_line: CommandLine, *, fewest_systems: int = 1, most_systems: int | None = 1
) -> Runs | Predictions:
    """Return the inputs that a command line names: Cold Start runs, or the predictions of an evidence task.

    `fewest_systems` and `most_systems` limit the number of systems of an evidence task; `most_systems` is None if
    there is no upper limit. Raises UsageError for wrong files or options.
    """
    if task != COLD_START:
        return Predictions(task, command_line, fewest_systems, most_systems)
    runs = Runs(command_line)
    runs.check_options()  # before files are looked for
    return runs
