"""Tasks: the table of those that there are; `task` says what each offers. A new one needs modules and a row here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

from cs_score.base.errors import UsageError, nearest

if TYPE_CHECKING:  # it loads what analyses need
    from cs_score.tasks.task import Task

COLD_START: Final = "coldstart"
"""The task of a command line that names none."""

TASKS: Final[dict[str, str]] = {
    COLD_START: "cs_score.analysis.coldstart.task:TASK",
    "scifact": "cs_score.analysis.evidence.scifact:TASK",
    "claims": "cs_score.analysis.evidence.claims:TASK",
    "r4c": "cs_score.analysis.evidence.r4c:TASK",
    "hotpotqa": "cs_score.analysis.evidence.hotpotqa:TASK",
}
"""Tasks by name, each as `module:value`; a module is imported when its task is asked for."""


def task_named(name: str) -> Task:
    """The task of that name. Raises UsageError where there is none."""
    if name not in TASKS:
        raise UsageError(f"no task called {name}; there are {', '.join(TASKS)}{nearest(name, TASKS)}")
    module, _, value = TASKS[name].partition(":")
    task: Task = getattr(importlib.import_module(module), value)
    return task
