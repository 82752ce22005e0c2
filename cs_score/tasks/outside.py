"""Find the tasks that other installed packages offer by entry points of the group `cs_score.tasks`.
A package offers a task in the form of a mode, an object that describes how predictions are scored.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from cs_score.base.errors import UsageError
from cs_score.base.records import Record
from cs_score.base.runtime import Late

if TYPE_CHECKING:  # only scoring needs these modules
    from importlib.metadata import EntryPoint

    from cs_score.evidence.mode import Mode
    from cs_score.tasks import mode_guards
else:
    mode_guards = Late("cs_score.tasks.mode_guards")

GROUP: Final = "cs_score.tasks"


class Offer(Record):
    """A task that an installed package offers.

    `mode_path` says where the mode of the task is, as `module:value`: "cs_score_fever.task:MODE".
    """

    task: str
    mode_path: str
    package: str
    version: str

    def __str__(self) -> str:
        """Return the name of the task and its package: "task fever of the package cs-score-fever 0.1.0"."""
        return f"task {self.task} of the package {self.package} {self.version}"


def find_offers() -> list[Offer]:
    """Return the tasks that installed packages offer, in the order of the packages' names."""
    from importlib.metadata import entry_points  # takes 20 ms, and tasks of cs-score do not need it

    offers = [_offer_of(point) for point in entry_points(group=GROUP)]
    return sorted(offers, key=lambda offer: (offer.package, offer.task))


def _offer_of(point: EntryPoint) -> Offer:
    """Return the task that a package offers by an entry point.

    An entry point is a line of the metadata of the package: `fever = cs_score_fever.task:MODE`.
    """
    package = "unknown" if point.dist is None else point.dist.name
    version = "unknown" if point.dist is None else point.dist.version
    return Offer(task=point.name, mode_path=point.value, package=package, version=version)


def load_mode(offer: Offer) -> Mode:
    """Return the mode that a package offers, guarded against faults of the package.

    The mode is changed so that a fault in one of its hooks raises a one-line error that names the package. Signatures
    of its scores name the package, too. Raises UsageError, which names the package, if the mode cannot be imported or
    if the package offers something other than a mode of this task.
    """
    mode = _import_mode(offer)
    problem = mode_guards.problem_of_declaration(mode)
    if problem is not None:
        raise UsageError(f"{offer}: {problem}; mend or uninstall it")
    is_guarded = getattr(mode, "is_guarded", False)  # by an earlier call
    if not is_guarded:
        # If the mode is sent to another process, this function makes it anew there.
        restore = partial(_restore_mode, offer)
        mode_guards.guard_hooks(mode, str(offer), restore)
    mode.package = f"{offer.package}={offer.version}"
    return mode


def _import_mode(offer: Offer) -> Mode:
    """Return the mode that a package offers, exactly as the package defines it.

    Raises UsageError if the mode cannot be imported, or if it is anything but a mode of the offered task.
    """
    from cs_score.evidence.mode import Mode

    try:
        mode = _import_value(offer.mode_path)
    except (Exception, SystemExit) as error:  # importing a package can raise any error
        problem = f"{type(error).__name__}: {error}"
        raise UsageError(f"{offer} cannot be loaded: {problem}; mend or uninstall it") from None
    if not isinstance(mode, Mode):
        problem = f"{offer.mode_path} is no Mode, but {type(mode).__name__}"
        raise UsageError(f"{offer}: {problem}; mend or uninstall it")
    name = getattr(mode, "name", "")
    if name != offer.task:
        raise UsageError(f"{offer}: {offer.mode_path} is the mode of a task {name}; mend or uninstall it")
    return mode


def _import_value(path: str) -> Any:
    """Return the object that a path such as `cs_score_fever.task:MODE` or `package.tasks:Tasks.fever` leads to."""
    module_name, _, attributes = path.partition(":")
    value: Any = importlib.import_module(module_name)
    for attribute in attributes.split("."):
        value = getattr(value, attribute)
    return value


def _restore_mode(offer: Offer, attributes: Mapping[str, Any]) -> Mode:
    """Return the mode offered by a package, with the attributes of the mode in the process that pickled it."""
    mode_class = type(load_mode(offer))
    return mode_guards.mode_with_attributes(mode_class, attributes)
