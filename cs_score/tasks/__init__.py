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

_NAMES_BY_MODULE: Final = {
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
    """The value of each task by its name, as `module:value`, including the tasks that other packages offer.

    The packages are searched, which takes 20 ms, only for a name that no task of ours has, and for the list of all
    names. `offers` has the offer of each task of another package by its name. If a second package offers a task of the
    same name, its offer is in `rivals`.
    """

    def __init__(self, own: dict[str, str]) -> None:
        """Begin with the tasks of this package, `own`."""
        super().__init__(own)
        self._own_names = frozenset(own)
        self.offers: dict[str, outside.Offer] = {}
        self.rivals: dict[str, outside.Offer] = {}
        self._is_complete = False

    def __contains__(self, name: object) -> bool:
        """Return whether a task has this name; other packages are searched if no task of ours has it."""
        if super().__contains__(name):
            return True
        if not isinstance(name, str) or not _TASK_NAME.fullmatch(name):
            return False
        self._add_tasks_of_packages()
        return super().__contains__(name)

    def __iter__(self) -> Iterator[str]:
        """Yield the names of all tasks; the tasks of other packages are last."""
        self._add_tasks_of_packages()
        return super().__iter__()

    def _add_tasks_of_packages(self) -> None:
        """Add the tasks that installed packages offer, at the first call. A package cannot replace a task of ours."""
        if self._is_complete:
            return
        self._is_complete = True
        from cs_score.tasks import outside

        for offer in outside.find_offers():
            is_possible = _TASK_NAME.fullmatch(offer.task) is not None
            if not is_possible or offer.task in self._own_names:
                continue
            if offer.task in self.offers:
                self.rivals[offer.task] = offer
            else:
                self.offers[offer.task] = offer
                self[offer.task] = offer.mode_path


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
"""All tasks by name, including the tasks of other packages. The value of a task of evidence is its mode."""

STAGES: Final[dict[str, str]] = {
    "scifact-retrieval": "cs_score.evidence.stages:RETRIEVAL",
    "scifact-rationale": "cs_score.evidence.stages:RATIONALE",
    "scifact-label": "cs_score.evidence.stages:LABEL",
}
"""Stages of tasks by their names in documents; a command line names the task and `--stage`."""

EVIDENCE_TASK: Final = "cs_score.analysis.evidence.task:EvidenceTask"
"""The class that makes a task with all its verbs out of a mode."""


def mode_named(name: str) -> Mode:
    """Return the mode of an evidence task or of a stage, which is enough for scoring.

    Raises UsageError for an unknown name, and for a name that two packages offer.
    """
    mode: Mode = _value_of(name)
    return mode


def task_named(name: str) -> Task:
    """Return the task with this name and all its verbs, such as `analyze`.

    Raises UsageError for an unknown name, and for a name that two packages offer.
    """
    value = _value_of(name)
    if name == COLD_START:
        cold_start: Task = value
        return cold_start
    make_task = _import_value(EVIDENCE_TASK)
    evidence_task: Task = make_task(value)
    return evidence_task


def is_task(name: object) -> bool:
    """Return whether a value is the name of a task or of a stage."""
    return isinstance(name, str) and (name in STAGES or name in TASKS)


def words_of(name: str) -> list[str]:
    """Return the words of a command line that name a task or a stage.

    For the stage "scifact-label" they are `["scifact", "--stage", "label"]`, for a task its name alone.
    """
    if name not in STAGES:
        return [name]
    task, _, stage = name.partition("-")
    return [task, "--stage", stage]


def stage_named(task: str, stage: str) -> str:
    """Return the name of a stage of a task in documents, such as "scifact-label" for the stage "label" of SciFact.

    Raises UsageError for an unknown stage.
    """
    name = f"{task}-{stage}"
    if name not in STAGES:
        stages = mode_named(task).stages
        raise UsageError(f"--stage takes {', '.join(stages)}, not {stage}{did_you_mean(stage, stages)}")
    return name


def _value_of(name: str) -> Any:
    """Return the value of a task or a stage, from the tables above or from a package: a mode, or the Cold Start task.

    Raises UsageError for an unknown name, and for a name that two packages offer.
    """
    if not is_task(name):
        raise UsageError(f"no task called {name}; there are {', '.join(TASKS)}{did_you_mean(name, TASKS)}")
    if name in STAGES:
        return _import_value(STAGES[name])
    offer = TASKS.offers.get(name)
    if offer is None:  # a task of ours
        return _import_value(TASKS[name])
    rival = TASKS.rivals.get(name)
    if rival is not None:
        packages = f"{offer.package} {offer.version} and {rival.package} {rival.version}"
        raise UsageError(f"task {name} is offered by two packages, {packages}; uninstall one of them")
    from cs_score.tasks import outside

    return outside.load_mode(offer)


def _import_value(path: str) -> Any:
    """Return the value that a `path` of the form `module:value` names in this package.

    Raises UsageError if the part of the package with this module is not installed.
    """
    module_name, _, value_name = path.partition(":")
    try:
        module = importlib.import_module(module_name)
        return getattr(module, value_name)
    except ModuleNotFoundError as error:
        message = missing_part_message(error)
        if not message:
            raise
        raise UsageError(message) from None


def __getattr__(name: str) -> Any:
    """Return the value of a name of `__all__` whose module is loaded only now, at its first use.

    Raises AttributeError for any other name.
    """
    for module_name, names in _NAMES_BY_MODULE.items():
        if name in names:
            module = importlib.import_module(module_name)
            value = getattr(module, name)
            globals()[name] = value  # so that Python does not ask this function again
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
