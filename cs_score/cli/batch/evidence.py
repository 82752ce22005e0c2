"""`cs-score batch MODE --gold G --out DIR PREDICTIONS...`: many files of predictions against one gold file."""

from __future__ import annotations

from functools import partial
from typing import Final

from cs_score.base.errors import UsageError
from cs_score.cli.batch.options import BATCH_OPTIONS, MOST_JOBS
from cs_score.cli.evidence import GOLD, measure_names, own_arguments
from cs_score.cli.evidence_modes import EVIDENCE_MODES, EvidenceMode
from cs_score.cli.form import BATCH_OF_EVIDENCE, Form, Parameter, whole_number
from cs_score.cli.options import FORCE, CommandLine, Option
from cs_score.cli.resampling_options import OPTIONS as RESAMPLING
from cs_score.cli.resampling_options import read_resampling

_MEMBERS: Final = (".jsonl", ".json")


def _run(mode: EvidenceMode, line: CommandLine) -> int:
    """Score a batch; the exit status. Raises CsScoreError where nothing can be scored."""
    from cs_score.batch.evidence import EvidencePlan
    from cs_score.cli.batch.command import choices_of, held, page_maker_if, score_batch

    gold = line.text("--gold", "")
    if [gold, *line.words, line.switches.get("--runs-from")].count("-") > 1:
        raise UsageError("only one of the files can be standard input")
    resampling = read_resampling({option.name: line.switches.get(option.name) for option in RESAMPLING})
    choices = choices_of(line, line.words, (gold,), whole_number(line, "--jobs", MOST_JOBS))
    plan = EvidencePlan(mode.name, held(gold), own_arguments(mode, line), resampling, page_maker_if(choices.html))
    return score_batch(plan, choices, _MEMBERS)


def _form(mode: EvidenceMode) -> Form:
    sort_by = Option(
        "--sort-by",
        "MEASURE",
        "Measure that ranks the leaderboard",
        choices=partial(measure_names, mode.name),
    )
    return Form(
        f"batch {mode.name}",
        (GOLD, *BATCH_OPTIONS, sort_by, FORCE, *RESAMPLING, *mode.options),
        (Parameter("predictions", "Files, folders or quoted patterns", is_optional=True, is_repeated=True),),
        contract=BATCH_OF_EVIDENCE,
        required=("--gold", "--out"),
        sections=lambda: (("Files", mode.files),),
        body=partial(_run, mode),
    )


FORMS: Final = {name: _form(mode) for name, mode in EVIDENCE_MODES.items()}
