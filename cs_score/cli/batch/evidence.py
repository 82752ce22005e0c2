"""`cs-score batch MODE --gold G --out DIR PREDICTIONS...`: many files of predictions against one gold file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click

from cs_score.batch.evidence import EvidencePlan
from cs_score.cli.batch.command import MOST_JOBS, Choices, held, score_batch
from cs_score.cli.commands import SUBCOMMANDS
from cs_score.cli.destinations import write_text
from cs_score.cli.evidence import COMMANDS, RESAMPLING_NAMES, with_options
from cs_score.cli.main import WRONG_USAGE
from cs_score.cli.resampling_options import click_options, read_resampling
from cs_score.foundation.errors import UsageError

_MEMBERS: Final = (".jsonl", ".json")

_BATCH_OPTIONS: Final[tuple[Callable[[Callable[..., int]], Callable[..., int]], ...]] = (
    click.option("--gold", required=True, metavar="FILE", help="Gold annotation; - is standard input."),
    click.option("--out", required=True, metavar="DIR", help="Output folder; made if missing."),
    click.option("--runs-from", metavar="FILE", help="File with further predictions, one path a line."),
    click.option("--sort-by", metavar="MEASURE", help="Measure that ranks the leaderboard."),
    click.option("--jobs", type=click.IntRange(1, MOST_JOBS), help="Processes; default: the number of processors."),
    click.option("--dask", metavar="ADDRESS", help="Compute on the Dask cluster with this scheduler."),
    click.option("--ship-inputs", is_flag=True, help="Send inputs to the workers of --dask."),
    click.option("--resume", is_flag=True, help="Keep what an earlier batch scored from the same inputs."),
    click.argument("predictions", nargs=-1),
)


def run(words: list[str]) -> int:
    """Run the words after `batch`, the first of which is a mode. Raises CsScoreError where nothing can be scored."""
    try:
        result = batch_command(words[0]).main(
            args=words[1:], prog_name=f"cs-score batch {words[0]}", standalone_mode=False
        )
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:  # wrong usage: click's own text
        error.show()
        return error.exit_code
    except UsageError as error:
        write_text("stderr", f"cs-score: {error}\n")
        return WRONG_USAGE
    return result if isinstance(result, int) else 0


def batch_command(mode: str) -> click.Command:
    """The command of a mode."""

    def score(gold: str, out: str, predictions: tuple[str, ...], runs_from: str | None, sort_by: str | None,
              jobs: int | None, dask: str | None, ship_inputs: bool, resume: bool, **options: Any) -> int:  # fmt: skip
        if [gold, *predictions, runs_from].count("-") > 1:
            raise click.UsageError("only one of the files can be standard input.")
        choices = Choices(out, predictions, runs_from, sort_by, jobs, dask, ship_inputs, resume, (gold,))
        resampling = read_resampling({name: options.pop(name.removeprefix("--")) for name in RESAMPLING_NAMES})
        return score_batch(EvidencePlan(mode, held(gold), options, resampling), choices, _MEMBERS)

    command: Callable[..., Any] = with_options(score, (*click_options(), *COMMANDS[mode].options))
    for option in reversed(_BATCH_OPTIONS):
        command = option(command)
    help_text = f"{SUBCOMMANDS[mode].summary[:-1]}: many files of predictions against one gold file."
    return click.command(mode, help=help_text)(command)
