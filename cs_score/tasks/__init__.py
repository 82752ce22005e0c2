"""The table of all tasks. A new task needs a module and a row here; `task.py` says what it has to offer.

Other packages offer tasks, too (`outside.py`). They build on the names of `__all__`, which are as stable as the public
API.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from cs_score.base.errors import CsScoreError, InputError, OutputError, UsageError, did_you_mean, missing_part_message
from cs_score.base.records import Record

if TYPE_CHECKING:  # they load what only some calls need
    from cs_score.base.sources import Source
    from cs_score.evidence.mode import Fault, Mode, Part, ReportRow, Unit, report_rows
    from cs_score.evidence.reading import (
        ErrorLocation,
        InputContent,
        as_list,
        as_object,
        json_document,
        json_lines,
        member,
    )
    from cs_score.measures.registry import Divide, f1
    from cs_score.statistics.units import UnitTable
    from cs_score.tasks import outside
    from cs_score.tasks.task import Task

__all__ = [
    "CsScoreError",
    "Divide",
    "ErrorLocation",
    "Fault",
    "InputContent",
    "InputError",
    "Mode",
    "OutputError",
    "Part",
    "Record",
    "ReportRow",
    "Source",
    "Unit",
    "UnitTable",
    "UsageError",
    "as_list",
    "as_object",
    "f1",
    "json_document",
    "json_lines",
    "member",
    "report_rows",
]

_HOMES: Final = {
    "cs_score.base.sources": ("Source",),
    "cs_score.measures.registry": ("Divide", "f1"),
    "cs_score.statistics.units": ("UnitTable",),
    "cs_score.evidence.mode": ("Fault", "Mode", "Part", "ReportRow", "Unit", "report_rows"),
    "cs_score.evidence.reading": (
        "InputContent",
        "as_list",
        "as_object",
        "json_document",
        "json_lines",
        "ErrorLocation",
        "member",
    ),
}
"""The names of `__all__` that are imported only when they are first used, by their modules."""

COLD_START: Final = "coldstart"
"""The task of command lines that name no task."""

_TASK_NAME: Final = re.compile("[a-z][a-z0-9_-]*")
"""The form of the name of a task; only words of this form are looked for among the tasks of other packages."""


class _Tasks(dict[str, str]):
    """Maps the name of each task to its value as `module:value`; it also finds the tasks that other packages offer.

    The packages are searched, which takes 20 ms, only for a name that no task of ours has, and for the list of all
    names. `offers` has the offer of each task of another package, `rivals` the offer of a second package that has a
    task of the same name.
    """

    def __init__(self, own: dict[str, str]) -> None:
        """Begin with the tasks of this package."""
        super().__init__(own)
        self.offers: dict[str, outside.Offer] = {}
        self.rivals: dict[str, outside.Offer] = {}
        self._is_complete = False

    def __contains__(self, name: object) -> bool:
        """Return whether a task has this name; other packages are searched if no task of ours has it."""
        if super().__contains__(name):
            return True
        if self._is_complete or not isinstance(name, str) or not _TASK_NAME.fullmatch(name):
            return False
        self._complete()
        return super().__contains__(name)

    def __iter__(self) -> Iterator[str]:
        """Yield the names of all tasks, those of other packages last."""
        self._complete()
        return super().__iter__()

    def _complete(self) -> None:
        """Add the tasks that installed packages offer; a task of ours keeps its name."""
        if self._is_complete:
            return
        self._is_complete = True
        from cs_score.tasks import outside

        for offer in outside.offers():
            if not _TASK_NAME.fullmatch(offer.task):
                continue
            if offer.task in self.offers:
                self.rivals[offer.task] = offer
            elif not super().__contains__(offer.task):
                self[offer.task] = offer.path
                self.offers[offer.task] = offer


OWN_TASKS: Final[dict[str, str]] = {
    COLD_START: "cs_score.analysis.coldstart.task:TASK",
    "scifact": "cs_score.evidence.scifact:MODE",
    "claims": "cs_score.evidence.claims:MODE",
    "r4c": "cs_score.evidence.r4c:MODE",
    "hotpotqa": "cs_score.evidence.hotpotqa:MODE",
    "pool": "cs_score.judged.pool:MODE",
}
"""The tasks of this package by name, each as `module:value`, which is imported only when it is used."""

TASKS: Final = _Tasks(OWN_TASKS)
"""All tasks by name, those of other packages included. The value of a task of evidence is its mode."""

STAGES: Final[dict[str, str]] = {
    "scifact-retrieval": "cs_score.evidence.stages:RETRIEVAL",
    "scifact-rationale": "cs_score.evidence.stages:RATIONALE",
    "scifact-label": "cs_score.evidence.stages:LABEL",
}
"""Stages of tasks by their names in documents; a command line names the task and `--stage`."""

OF_EVIDENCE: Final = "cs_score.analysis.evidence.task:EvidenceTask"
"""The class that makes a task with all its verbs out of a mode."""


def mode_named(name: str) -> Mode:
    """Return the mode of an evidence task or of a stage, which is enough for scoring. Raises UsageError for others."""
    mode: Mode = _value_of(name)
    return mode


def task_named(name: str) -> Task:
    """Return the task with this name and all its verbs, such as `analyze`. Raises UsageError for an unknown name."""
    task: Task
    if name == COLD_START:
        task = _value_of(name)
    else:
        make_task = _import_value(OF_EVIDENCE)
        task = make_task(_value_of(name))
    return task


def is_task(name: object) -> bool:
    """Return whether a value is the name of a task or of a stage."""
    return isinstance(name, str) and (name in STAGES or name in TASKS)


def words_of(name: str) -> list[str]:
    """Return the words of a command line that name a task or a stage: "scifact-label" -> scifact --stage label."""
    if name not in STAGES:
        return [name]
    task, _, stage = name.partition("-")
    return [task, "--stage", stage]


def stage_named(task: str, stage: str) -> str:
    """Return the name of a stage of a task in documents. Raises UsageError for an unknown stage."""
    name = f"{task}-{stage}"
    if name not in STAGES:
        stages = mode_named(task).stages
        raise UsageError(f"--stage takes {', '.join(stages)}, not {stage}{did_you_mean(stage, stages)}")
    return name


def _value_of(name: str) -> Any:
    """Return the value in the tables above for a task or stage. Raises UsageError for an unknown or ambiguous name."""
    if not is_task(name):
        raise UsageError(f"no task called {name}; there are {', '.join(TASKS)}{did_you_mean(name, TASKS)}")
    if name in STAGES:
        return _import_value(STAGES[name])
    if name in TASKS.rivals:
        first = TASKS.offers[name]
        second = TASKS.rivals[name]
        packages = f"{first.package} {first.version} and {second.package} {second.version}"
        raise UsageError(f"task {name} is offered by two packages, {packages}; uninstall one of them")
    if name in TASKS.offers:
        from cs_score.tasks import outside

        return outside.loaded(TASKS.offers[name])
    return _import_value(TASKS[name])


def _import_value(path: str) -> Any:
    """Return the value that `module:value` names in this package. Raises UsageError if its room is not installed."""
    module, _, value = path.partition(":")
    try:
        return getattr(importlib.import_module(module), value)
    except ModuleNotFoundError as error:
        message = missing_part_message(error)
        if not message:
            raise
        raise UsageError(message) from None


def __getattr__(name: str) -> Any:
    """Return a name of `__all__` whose module is loaded only now. Raises AttributeError for any other name."""
    for module, names in _HOMES.items():
        if name in names:
            value = globals()[name] = getattr(importlib.import_module(module), name)
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
