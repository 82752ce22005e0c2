"""What the recognisers of all tasks share: the files of a call, and what is to be done about one of them."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any, TypeAlias

from cs_score.base.records import Record
from cs_score.evidence.forms.files import Advice

Scores: TypeAlias = Callable[..., bool]
"""Whether the files of a call can be scored as a task, given its name and options of it."""


class Files(Record):
    """The files of a call, by the names that messages call them; `predictions` is None where gold alone is read.

    `is_gold`: the file that cannot be read is gold. `has_number_ids` says whether the ids of gold are numbers, `scores`
    tries the two files as another task; both are asked only where an answer depends on it.
    """

    gold: str
    predictions: str | None
    is_gold: bool
    has_number_ids: Callable[[], bool]
    scores: Scores

    @property
    def file(self) -> str:
        """The file that cannot be read."""
        return self.gold if self.is_gold or self.predictions is None else self.predictions

    def scored_as(self, task: str, *switches: str, **options: Any) -> str | None:
        """Return the command that scores the files as another task, None where it would be refused, too."""
        if self.predictions is None or not self.scores(task, self.gold, self.predictions, **options):
            return None
        words = ["cs-score", task, *switches, "--gold", self.gold, "--predictions", self.predictions]
        return f"write {shlex.join(words)}"


class Change(Record):
    """What has to be changed in the value `R` of a file, as a Python expression; `what` says in words why."""

    expression: str
    what: str = ""


AS_IT_IS = Change("R")
"""The value has the form that the task reads."""

Answer: TypeAlias = Change | Advice
