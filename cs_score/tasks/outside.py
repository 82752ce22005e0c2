"""Finds the tasks that installed packages offer by the entry point group `cs_score.tasks`."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from cs_score.base.errors import UsageError
from cs_score.base.records import Record
from cs_score.base.runtime import Late

if TYPE_CHECKING:  # it loads what only scoring needs
    from cs_score.evidence.mode import Mode
    from cs_score.tasks import containing
else:
    containing = Late("cs_score.tasks.containing")

GROUP: Final = "cs_score.tasks"


class Offer(Record):
    """A task that a package offers: its name, and the `module:value` of its mode."""

    task: str
    path: str
    package: str
    version: str

    def __str__(self) -> str:
        return f"task {self.task} of the package {self.package} {self.version}"


def offers() -> Iterator[Offer]:
    """Yield the tasks that installed packages offer, in the order of the packages' names."""
    from importlib.metadata import entry_points  # 20 ms, which a call that names a task of ours does not pay

    found = []
    for point in entry_points(group=GROUP):
        package = point.dist.name if point.dist is not None else "unknown"
        version = point.dist.version if point.dist is not None else "unknown"
        found.append(Offer(point.name, point.value, package, version))
    yield from sorted(found, key=lambda offer: (offer.package, offer.task))


def loaded(offer: Offer) -> Mode:
    """Return the mode that a package offers, which from now on names its package in signatures.

    A fault of one of its hooks is a line that names the package, too. Raise UsageError, which names the package, where
    it cannot be imported or offers something else.
    """
    from cs_score.evidence.mode import Mode

    module, _, names = offer.path.partition(":")
    try:
        value: Any = importlib.import_module(module)
        for name in names.split("."):
            value = getattr(value, name)
    except (Exception, SystemExit) as error:  # whatever a package does when it is imported is its own fault
        problem = f"{type(error).__name__}: {error}"
        raise UsageError(f"{offer} cannot be loaded: {problem}; mend or uninstall it") from None
    if not isinstance(value, Mode):
        raise UsageError(f"{offer}: {offer.path} is no Mode, but {type(value).__name__}; mend or uninstall it")
    if getattr(value, "name", None) != offer.task:
        raise UsageError(
            f"{offer}: {offer.path} is the mode of a task {getattr(value, 'name', '')}; mend or uninstall it"
        )
    fault = containing.problem_of_declaration(value)
    if fault is not None:
        raise UsageError(f"{offer}: {fault}; mend or uninstall it")
    if not getattr(value, "is_contained", False):
        containing.contain(value, str(offer), partial(_restored, offer))
    value.package = f"{offer.package}={offer.version}"
    return value


def _restored(offer: Offer, attributes: Mapping[str, Any]) -> Mode:
    """Return the mode that a package offers with the attributes that it had in another process."""
    return containing.with_attributes(type(loaded(offer)), attributes)
