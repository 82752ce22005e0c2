"""The table of all tasks. A new task needs a module and a row here; `task.py` describes the interface of the module.
A mode is an object with the rules by which an evidence task scores predictions.

Other installed packages can offer tasks, too (`outside.py`). They use the names in `__all__`, which are as stable as
the public API.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from cs_score.base.errors import CsScoreError, InputError, OutputError, UsageError, did_you_mean
from cs_score.base.records import Record
from cs_score.base.runtime import load_value

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
    from cs_score.measures import Divide, f1
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
    "cs_score.measures": ("Divide", "f1"),
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
"""The names of `__all__` that are imported only when they are first used, by the module that defines them."""

COLD_START: Final = "coldstart"
"""The task of command lines that name no task."""

_TASK_NAME: Final = re.compile("[a-z][a-z0-9_-]*")
"""The form of the name of a task. A word of any other form is never looked up among the tasks of other packages."""


class _Tasks(dict[str, str]):
    """A table of all tasks by name, including the tasks of other installed packages.

    The value of a task is an import path `module:value`, such as "cs_score.evidence.r4c:MODE". Searching other packages
    takes 20 ms, so they are only searched if a name is not found among the tasks of cs-score, or if all names are
    listed. `offer_by_task` has the tasks that other packages offer. If a second package offers a task with the same
    name, its offer is in `clashing_offer_by_task`, and the name cannot be used.
    """

    def __init__(self, import_path_by_task: dict[str, str]) -> None:
        """Make a table of the tasks of cs-score, to which the tasks of other packages are added later."""
        super().__init__(import_path_by_task)
        self._own_names = frozenset(import_path_by_task)
        self.offer_by_task: dict[str, outside.Offer] = {}
        self.clashing_offer_by_task: dict[str, outside.Offer] = {}
        self._has_searched_packages = False

    def __contains__(self, name: object) -> bool:
        """Return whether a task has this name. Other packages are searched if no task of cs-score has it."""
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
        """Add the tasks that installed packages offer to the table, unless an earlier call has done so.

        A package cannot replace a task of cs-score.
        """
        if self._has_searched_packages:
            return
        self._has_searched_packages = True
        from cs_score.tasks import outside

        for offer in outside.find_offers():
            is_possible_name = _TASK_NAME.fullmatch(offer.task) is not None
            if is_possible_name and offer.task not in self._own_names:
                self._add_offer(offer)

    def _add_offer(self, offer: outside.Offer) -> None:
        """Add a task that a package offers, or only keep the offer if another package offers a task of this name."""
        if offer.task in self.offer_by_task:
            self.clashing_offer_by_task[offer.task] = offer
        else:
            self.offer_by_task[offer.task] = offer
            self[offer.task] = offer.mode_path


OWN_TASKS: Final[dict[str, str]] = {
    COLD_START: "cs_score.analysis.coldstart.cold_start_task:TASK",
    "scifact": "cs_score.evidence.scifact:MODE",
    "claims": "cs_score.evidence.claims:MODE",
    "r4c": "cs_score.evidence.r4c:MODE",
    "hotpotqa": "cs_score.evidence.hotpotqa:MODE",
    "pool": "cs_score.judged.pool:MODE",
}
"""The tasks of cs-score by name, each as a path `module:value`. The module is imported when the task is used."""

TASKS: Final = _Tasks(OWN_TASKS)
"""All tasks by name, including those of other packages. The path of an evidence task leads to its mode (`Mode`)."""

STAGES: Final[dict[str, str]] = {
    "scifact-retrieval": "cs_score.evidence.stages:RETRIEVAL",
    "scifact-rationale": "cs_score.evidence.stages:RATIONALE",
    "scifact-label": "cs_score.evidence.stages:LABEL",
}
"""The stages of tasks by name, such as "scifact-label" for `cs-score scifact --stage label`."""

EVIDENCE_TASK: Final = "cs_score.analysis.evidence.evidence_task:EvidenceTask"
"""The path of the class that makes a task with all its verbs from a mode."""


def mode_named(name: str) -> Mode:
    """Return the mode of an evidence task or of a stage, given its name.

    A mode scores predictions; to compare and analyse results, use `task_named`. Raises UsageError if the name is
    unknown, or if two packages offer the task.
    """
    mode: Mode = _load_mode_or_task(name)
    return mode


def task_named(name: str) -> Task:
    """Return the task with this name, which has a method for each verb of the command, such as `analyze`.

    Raises UsageError if the name is unknown, or if two packages offer the task.
    """
    mode_or_task = _load_mode_or_task(name)
    if name == COLD_START:  # the only entry of the table that is a task; all others are modes
        cold_start: Task = mode_or_task
        return cold_start
    make_task = load_value(EVIDENCE_TASK)
    evidence_task: Task = make_task(mode_or_task)
    return evidence_task


def is_task(name: object) -> bool:
    """Return whether a value is the name of a task or of a stage."""
    return isinstance(name, str) and (name in STAGES or name in TASKS)


def words_of(name: str) -> list[str]:
    """Return the words that name a task or a stage on a command line.

    For the stage "scifact-label" they are `["scifact", "--stage", "label"]`. For a task, the only word is its name.
    """
    if name not in STAGES:
        return [name]
    task, _, stage = name.partition("-")
    return [task, "--stage", stage]


def stage_named(task: str, stage: str) -> str:
    """Return the full name of a stage: "scifact-label" for the stage "label" of the task "scifact".

    Documents identify a stage by this name. Raises UsageError for an unknown stage.
    """
    name = f"{task}-{stage}"
    if name not in STAGES:
        stages = mode_named(task).stages
        raise UsageError(f"--stage takes {', '.join(stages)}, not {stage}{did_you_mean(stage, stages)}")
    return name


def _load_mode_or_task(name: str) -> Any:
    """Return the mode of an evidence task or of a stage, such as "scifact-label", or the Cold Start task itself.

    A stage is a step of a task that can be scored by itself. Raises UsageError if the name is unknown, or if two
    packages offer the task.
    """
    if not is_task(name):
        raise UsageError(f"no task called {name}; there are {', '.join(TASKS)}{did_you_mean(name, TASKS)}")
    if name in STAGES:
        return load_value(STAGES[name])
    offer = TASKS.offer_by_task.get(name)
    if offer is None:  # a task of cs-score
        return load_value(TASKS[name])
    _check_single_offer(offer)
    from cs_score.tasks import outside

    return outside.load_mode(offer)


def _check_single_offer(offer: outside.Offer) -> None:
    """Raise UsageError, which names both packages, if another package offers a task of the same name."""
    other_offer = TASKS.clashing_offer_by_task.get(offer.task)
    if other_offer is not None:
        packages = f"{offer.package} {offer.version} and {other_offer.package} {other_offer.version}"
        raise UsageError(f"task {offer.task} is offered by two packages, {packages}; uninstall one of them")


def __getattr__(name: str) -> Any:
    """Return the object with a name of `__all__`, after its module has been imported.

    Python calls this function when one of these names is used for the first time. Raises AttributeError for any other
    name.
    """
    for module_name, names in _NAMES_BY_MODULE.items():
        if name in names:
            module = importlib.import_module(module_name)
            value = getattr(module, name)
            globals()[name] = value  # so that Python does not call this function again for the name
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
