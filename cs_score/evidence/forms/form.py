"""The records that the recognisers of all tasks share: the files of a call, and the change that a file needs."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any, TypeAlias

from cs_score.base.records import Record
from cs_score.evidence.forms.files import Advice

CanScore: TypeAlias = Callable[..., bool]
"""Returns whether two files can be scored as a task: the task's name, gold, predictions, and options as keywords."""


class Files(Record):
    """The files of a call by their names; `predictions` is None if only gold is read.

    `is_gold` says that gold is the file that cannot be read. `has_number_ids` returns whether the ids of gold are
    numbers, and `can_score` tries to score the two files as another task; both are called only if a remedy depends on
    them.
    """

    gold: str
    predictions: str | None
    is_gold: bool
    has_number_ids: Callable[[], bool]
    can_score: CanScore

    @property
    def file(self) -> str:
        """The file that cannot be read."""
        return self.gold if self.is_gold or self.predictions is None else self.predictions

    def command_for_task(self, task: str, *switches: str, **options: Any) -> str | None:
        """Return the command that scores the files as another task; None if that task would refuse them, too.

        `switches` stand on the command line, `options` are the same for the scorer: `--any-order`, `any_order=True`.
        """
        if self.predictions is None or not self.can_score(task, self.gold, self.predictions, **options):
            return None
        words = ["cs-score", task, *switches, "--gold", self.gold, "--predictions", self.predictions]
        return f"write {shlex.join(words)}"


class Change(Record):
    """A change that gives a file the form that the task reads.

    `expression` is a Python expression for the new value, in which `R` is the value of the file. `diagnosis` says in
    words what the file has now.
    """

    expression: str
    diagnosis: str = ""


AS_IT_IS = Change("R")
"""No change: the value has the form that the task reads."""

Remedy: TypeAlias = Change | Advice
"""The change that a file needs, or advice if no expression can make it."""
