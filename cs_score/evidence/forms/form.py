"""The files of a call, and the change that a file needs so that a task can read it.
A task that refuses a file looks for a remedy: the change, made by a Python expression, or advice in words.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from cs_score.base.records import Record
from cs_score.evidence.forms.files import Advice

CanScore: TypeAlias = Callable[..., bool]
"""A function that returns whether a task can score two files.

Its arguments are the names of the task, of the gold file and of the predictions file, and options by keyword.
"""


class Files(Record):
    """The files of a call by their names; `predictions` is None if only gold is read.

    `gold_is_refused` is true if the task refused the gold file, and false if it refused the predictions.
    `has_number_ids` is a function that returns whether the ids of gold are numbers. `can_score` is a function that
    returns whether another task can score the two files. Both functions take time and are called only if a remedy
    depends on them.
    """

    gold: str
    predictions: str | None
    gold_is_refused: bool
    has_number_ids: Callable[[], bool]
    can_score: CanScore

    def action_to_score_as(self, task: str, **options: Any) -> str | None:
        """Return the advice to score the files as another task: "write cs-score claims --gold ...".

        Return None if that task would also refuse the files. `options` are options of the task, such as
        `any_order=True`.
        """
        if self.predictions is None or not self.can_score(task, self.gold, self.predictions, **options):
            return None
        switches = _switches_of(options)
        words = ["cs-score", task, *switches, "--gold", self.gold, "--predictions", self.predictions]
        return f"write {shlex.join(words)}"


def _switches_of(options: Mapping[str, object]) -> list[str]:
    """Return options as words of a command: {"any_order": True, "stage": "label"} -> --any-order --stage label."""
    words = []
    for name, value in options.items():
        words.append(f"--{name.replace('_', '-')}")
        if value is not True:
            words.append(str(value))
    return words


class FormChange(Record):
    """A change that gives a file the form that the task reads.

    `expression` is a Python expression for the new value, in which the variable `R` is the value of the file. An
    example is `R["data"]`. `diagnosis` says in words which form the file has.
    """

    expression: str
    diagnosis: str = ""


NO_CHANGE = FormChange("R")
"""The remedy for a file that already has the form that the task reads: its value stays as it is.

The task refuses such a file for another reason, such as the value of a key, or because of its packing or layout.
"""

Remedy: TypeAlias = FormChange | Advice
"""The change that a file needs, or advice to the user if no Python expression can make the change."""
