"""`cs-score explain` and `cs-score diff`: of which scores is said by the next word."""

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


def _form(name: str, result: str) -> Form:
    return Form(name, (), (), sections=lambda: (("Result", result),), body=partial(_run, name))


EXPLAIN: Final = _form(
    "explain",
    "How a unit was scored, step by step, what it would score alone, and what each of its mistakes costs.",
)
DIFF: Final = _form(
    "diff",
    "Two scores with the interval and the p-values of their difference; what each unit contributes to it, which adds "
    "up to it exactly; what is right, wrong or missed in one only.",
)
