"""`cs-score compare MODE --gold GOLD PREDICTIONS...`: systems compared by the measures of an evidence mode."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from cs_score.base.errors import UsageError
from cs_score.cli.comparison.options import comparison_options, make_way, print_comparison, read_settings
from cs_score.cli.evidence import GOLD, measure_names, own_arguments, score, tell_notices
from cs_score.cli.evidence_modes import EVIDENCE_MODES, EvidenceMode
from cs_score.cli.form import Form, Parameter
from cs_score.cli.options import CommandLine

if TYPE_CHECKING:
    from cs_score.evidence.result import Result


def _run(mode: EvidenceMode, line: CommandLine) -> int:
    from cs_score.analysis.comparison import compare_evidence, system_names

    gold, predictions = line.text("--gold", ""), line.words
    settings = read_settings(line)
    own = own_arguments(mode, line)
    if "-" in (gold, *predictions):
        raise UsageError("standard input cannot be read once for each system: name a file")
    make_way(line, (gold, *predictions))
    if len(predictions) < 2:
        raise UsageError("a comparison needs the predictions of at least two systems")
    results: dict[str, Result] = {
        name: score(mode, gold, file, own) for name, file in zip(system_names(predictions), predictions)
    }
    for result in results.values():
        tell_notices(result)
    compared = compare_evidence(results, settings.resampling, measures=settings.measures, common=settings.common)
    print_comparison(compared, settings)
    return 0


def _form(mode: EvidenceMode) -> Form:
    return Form(
        f"compare {mode.name}",
        (GOLD, *comparison_options(partial(measure_names, mode.name)), *mode.options),
        (Parameter("predictions", "One file for each system", is_optional=True, is_repeated=True),),
        required=("--gold",),
        sections=lambda: (("Files", mode.files),),
        body=partial(_run, mode),
    )


FORMS: Final = {name: _form(mode) for name, mode in EVIDENCE_MODES.items()}
