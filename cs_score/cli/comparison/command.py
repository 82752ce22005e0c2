"""`cs-score compare MODE`: two or more systems on the same gold, with intervals, paired tests, ranks and tiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from cs_score.cli.comparison.options import OPTIONS, ComparisonOption, print_comparison, read_settings
from cs_score.cli.evidence import COMMANDS, ClickOption, EvidenceCommand, with_options
from cs_score.cli.resampling_options import COMPARISON_OPTIONS, click_options
from cs_score.foundation.display import one_line
from cs_score.foundation.errors import UsageError


@click.group(context_settings={"help_option_names": ["--help"], "max_content_width": 100})
def compare() -> None:
    """Compare two or more systems on the same gold standard.

    Per measure: scores with intervals, ranks and tiers. Per pair of systems: the difference with its interval, two
    p-values (approximate randomisation and paired bootstrap), corrected for the number of pairs, and wins, ties and
    losses by unit.
    """


@compare.command(
    "coldstart",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    short_help="Compare Cold Start runs; takes the scorer's switches (-help).",
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def coldstart(words: tuple[str, ...]) -> None:
    """Compare Cold Start runs, each scored as if it were alone."""
    from cs_score.cli.comparison.coldstart import run

    run(words)


def _evidence_comparison(mode: EvidenceCommand) -> click.Command:
    def run(gold: str, predictions: tuple[str, ...], **given: Any) -> None:
        from cs_score.analysis.comparison import compare_evidence, system_names

        own = {name: given.pop(name) for names, _ in mode.options for name in [_parameter(names[0])]}
        settings = read_settings({f"--{name}": value for name, value in given.items()})
        if "-" in (gold, *predictions):
            raise UsageError("standard input cannot be read once for each system: name a file")
        if len(predictions) < 2:
            raise UsageError("a comparison needs the predictions of at least two systems")
        results = {name: mode.score(gold, file, **own) for name, file in zip(system_names(predictions), predictions)}
        for result in results.values():
            for notice in result.notices:
                click.echo(f"cs-score: {one_line(notice)}", err=True)
        compared = compare_evidence(results, settings.resampling, measures=settings.measures, common=settings.common)
        print_comparison(compared, settings)

    options: tuple[ClickOption, ...] = (
        (("--gold",), {"required": True, "metavar": "FILE", "help": "Gold annotation."}),
        *click_options(COMPARISON_OPTIONS),
        *map(_click_option, OPTIONS),
        *mode.options,
    )
    with_files: Callable[..., None] = click.argument("predictions", nargs=-1, metavar="PREDICTIONS...")(run)
    return click.command(
        mode.name,
        short_help=f"Compare {mode.name} systems.",
        help=f"Compare two or more systems by the measures of cs-score {mode.name}, one file of predictions each.",
    )(with_options(with_files, options))


def _click_option(option: ComparisonOption) -> ClickOption:
    attributes = {"is_flag": True} if option.value is None else {"metavar": option.value}
    return (option.name, _parameter(option.name)), {**attributes, "help": f"{option.help}."}


def _parameter(name: str) -> str:
    return name.removeprefix("--").replace("-", "_")


for _mode in COMMANDS.values():
    compare.add_command(_evidence_comparison(_mode))
