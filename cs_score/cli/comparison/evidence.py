"""`cs-score compare MODE --gold GOLD PREDICTIONS...`: systems compared by the measures of an evidence mode."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cs_score.cli.comparison.options import comparison_options, make_way, print_comparison, read_settings
from cs_score.cli.evidence import COMMANDS, GOLD, EvidenceCommand, measure_names, tell_notices
from cs_score.cli.form import Form, Parameter
from cs_score.cli.options import CommandLine
from cs_score.foundation.errors import UsageError

if TYPE_CHECKING:
    from cs_score.evidence.result import Result


def _run(command: EvidenceCommand, line: CommandLine) -> int:
    from cs_score.analysis.comparison import compare_evidence, system_names

    gold, predictions = line.text("--gold", ""), line.words
    settings = read_settings(line)
    own = command.own(line)
    if "-" in (gold, *predictions):
        raise UsageError("standard input cannot be read once for each system: name a file")
    make_way(line, (gold, *predictions))
    if len(predictions) < 2:
        raise UsageError("a comparison needs the predictions of at least two systems")
    results: dict[str, Result] = {
        name: command.score(gold, file, own) for name, file in zip(system_names(predictions), predictions)
    }
    for result in results.values():
        tell_notices(result)
    compared = compare_evidence(results, settings.resampling, measures=settings.measures, common=settings.common)
    print_comparison(compared, settings)
    return 0


def _form(command: EvidenceCommand) -> Form:
    return Form(
        f"compare {command.name}",
        (GOLD, *comparison_options(partial(measure_names, command.name)), *command.options),
        (Parameter("predictions", "One file for each system", is_optional=True, is_repeated=True),),
        required=("--gold",),
        sections=lambda: (("Files", command.files),),
        body=partial(_run, command),
    )


SCIFACT, CLAIMS, R4C, HOTPOTQA = map(_form, COMMANDS.values())
