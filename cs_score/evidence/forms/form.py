"""The records that the recognisers of all tasks share: the files of a call, and the change that a file needs."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any, TypeAlias

from cs_score.base.records import Record
from cs_score.evidence.forms.files import Advice

CanScore: TypeAlias = Callable[..., bool]
"""A function that returns whether a task can score two files.

Its arguments are the name of the task, the names of the gold file and of the predictions file, and options by keyword.
"""


class Files(Record):
    """The files of a call by their names; `predictions` is None if only gold is read.

    `is_gold` says that the task refused gold, not the predictions. `has_number_ids` returns whether the ids of gold are
    numbers, and `can_score` whether another task can score the two files. Both take time and are called only if a
    remedy depends on them.
    """

    gold: str
    predictions: str | None
    is_gold: bool
    has_number_ids: Callable[[], bool]
    can_score: CanScore

    def command_for_task(self, task: str, *switches: str, **options: Any) -> str | None:
        """Return the command that scores the files as another task; None if that task would refuse them, too.

        `switches` are the options of the command, such as `--any-order`; `options` are the same options for the scorer,
        such as `any_order=True`.
        """
        if self.predictions is None or not self.can_score(task, self.gold, self.predictions, **options):
            return None
        words = ["cs-score", task, *switches, "--gold", self.gold, "--predictions", self.predictions]
        return f"write {shlex.join(words)}"


class FormChange(Record):
    """A change that gives a file the form that the task reads.

    `expression` is a Python expression for the new value, in which `R` is the value of the file. `diagnosis` says in
    words what the file has now.
    """

    expression: str
    diagnosis: str = ""


AS_IT_IS = FormChange("R")
"""No change: the value has the form that the task reads."""

Remedy: TypeAlias = FormChange | Advice
"""The change that a file needs, or advice if no expression can make it."""
