"""Tasks: the table of those that there are; `task` says what each offers. A new one needs a module and a row here."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

from cs_score.base.errors import UsageError, nearest

if TYPE_CHECKING:  # they load what only some calls need
    from cs_score.evidence.mode import Mode
    from cs_score.tasks.task import Task

COLD_START: Final = "coldstart"
"""The task of a command line that names none."""

TASKS: Final[dict[str, str]] = {
    COLD_START: "cs_score.analysis.coldstart.task:TASK",
    "scifact": "cs_score.evidence.scifact:MODE",
    "claims": "cs_score.evidence.claims:MODE",
    "r4c": "cs_score.evidence.r4c:MODE",
    "hotpotqa": "cs_score.evidence.hotpotqa:MODE",
}
"""Tasks by name, each as `module:value`, which is imported when it is asked for; of a task of evidence the mode."""

STAGES: Final[dict[str, str]] = {
    "scifact-retrieval": "cs_score.evidence.stages:RETRIEVAL",
    "scifact-rationale": "cs_score.evidence.stages:RATIONALE",
    "scifact-label": "cs_score.evidence.stages:LABEL",
}
"""Stages of tasks by what documents call them; a command line names the task and `--stage`."""

OF_EVIDENCE: Final = "cs_score.analysis.evidence.task:EvidenceTask"
"""What makes a task of a mode."""


def mode_named(name: str) -> Mode:
    """The mode of a task of evidence, which is all that scoring needs. Raises UsageError where there is none."""
    mode: Mode = _value_of(name)
    return mode


def task_named(name: str) -> Task:
    """The task of that name, with all that can be found of its results. Raises UsageError where there is none."""
    found = _value_of(name)
    task: Task = found if name == COLD_START else _imported(OF_EVIDENCE)(found)
    return task


def is_task(name: object) -> bool:
    """Return whether documents can be of a task of this name, or of a stage."""
    return isinstance(name, str) and (name in TASKS or name in STAGES)


def words_of(name: str) -> list[str]:
    """Return the words of a command line that name a task or a stage."""
    if name not in STAGES:
        return [name]
    task, _, stage = name.partition("-")
    return [task, "--stage", stage]


def stage_named(task: str, stage: str) -> str:
    """Return the name of a stage of a task. Raises UsageError where there is none."""
    name = f"{task}-{stage}"
    if name not in STAGES:
        stages = mode_named(task).stages
        raise UsageError(f"--stage takes {', '.join(stages)}, not {stage}{nearest(stage, stages)}")
    return name


def _value_of(name: str) -> Any:
    if not is_task(name):
        raise UsageError(f"no task called {name}; there are {', '.join(TASKS)}{nearest(name, TASKS)}")
    return _imported(TASKS[name] if name in TASKS else STAGES[name])


def _imported(path: str) -> Any:
    module, _, value = path.partition(":")
    return getattr(importlib.import_module(module), value)
