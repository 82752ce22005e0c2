"""`cs-score check MODE --gold GOLD --predictions FILE`: whether predictions of an evidence mode keep limits."""

from __future__ import annotations

from functools import partial
from typing import Final

from cs_score.cli.checking.gate_options import STATUSES, errors_in_format, gate_options, judge, read_gate
from cs_score.cli.evidence import GOLD, PREDICTIONS, input_files, measure_names, own_arguments, score, tell_notices
from cs_score.cli.evidence_modes import EVIDENCE_MODES, EvidenceMode
from cs_score.cli.form import Form
from cs_score.cli.options import CommandLine


def _run(mode: EvidenceMode, line: CommandLine) -> int:
    """Score and judge; the exit status. Raises CsScoreError where that cannot be done."""
    from cs_score.verification.checking import of_evidence

    gate = read_gate(line)
    with errors_in_format(line):
        gold, predictions = input_files(line)
        result = score(mode, gold, predictions, own_arguments(mode, line))
        tell_notices(result)
        return judge(gate, of_evidence(result), line)


def _form(mode: EvidenceMode) -> Form:
    return Form(
        f"check {mode.name}",
        (GOLD, PREDICTIONS, *mode.options, *gate_options(partial(measure_names, mode.name))),
        (),
        required=(GOLD.name, PREDICTIONS.name),
        sections=lambda: (STATUSES, ("Files", mode.files)),
        body=partial(_run, mode),
    )


FORMS: Final = {name: _form(mode) for name, mode in EVIDENCE_MODES.items()}
