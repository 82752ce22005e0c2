"""`cs-score compare`: two or more systems on the same gold, with intervals, paired tests, ranks and tiers."""

from __future__ import annotations

from typing import Final

from cs_score.base.errors import UsageError
from cs_score.cli.form import Form
from cs_score.cli.options import CommandLine
from cs_score.cli.registry import sub_forms


def _run(line: CommandLine) -> int:
    names = [command.name.rpartition(" ")[2] for command in sub_forms("compare")]
    raise UsageError(f"say what to compare: {', '.join(names)}; see cs-score compare -help")


FORM: Final = Form(
    "compare",
    (),
    (),
    sections=lambda: (
        (
            "Result",
            "Per measure: scores with intervals, ranks and tiers. Per pair of systems: the difference with its "
            "interval, two p-values (approximate randomisation and paired bootstrap), corrected for the number of "
            "pairs, and wins, ties and losses by unit.",
        ),
    ),
    body=_run,
)
