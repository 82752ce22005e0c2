"""`cs-score analyze`: what is analysed is said by the next word."""

from __future__ import annotations

from functools import partial
from typing import Final

from cs_score.cli.form import Form
from cs_score.cli.options import CommandLine
from cs_score.cli.registry import sub_forms
from cs_score.foundation.errors import UsageError


def _run(name: str, line: CommandLine) -> int:
    names = [command.name.rpartition(" ")[2] for command in sub_forms(name)]
    raise UsageError(f"say which scores: {', '.join(names)}; see cs-score {name} -help")


ANALYZE: Final = Form(
    "analyze",
    (),
    (),
    sections=lambda: (
        (
            "Result",
            "Every mistake with what mending it alone would bring, exactly; an error budget by kind of mistakes; "
            "scores by group; confusions of labels.",
        ),
    ),
    body=partial(_run, "analyze"),
)
