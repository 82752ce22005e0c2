"""Load the parts of slices by their names in the table of slices, so that no room imports the features above it."""

from __future__ import annotations

from pkgutil import resolve_name
from typing import Any

from cs_score.base.errors import UsageError, missing_part_message
from cs_score.verbs import SLICES


def part_of_slice(folder: str, part: str, needed_by: str = "this") -> Any:
    """Return a part of a slice, such as the function `by_task:analyze_result` of the slice `analyze`.

    `needed_by` names what needs the part. Raises UsageError, with that name, if the slice is not installed.
    """
    try:
        return resolve_name(f"cs_score.verbs.{folder}.{part}")
    except ModuleNotFoundError as error:
        message = missing_part_message(error, needed_by=needed_by)
        if not message:
            raise
        raise UsageError(message) from None


def view_of_kind(kind: str, task: Any) -> Any:
    """Return how documents of a kind, such as `analysis`, are shown for a task (`DocumentView`).

    Raises UsageError if the slice that such documents belong to is not installed.
    """
    for slice_ in SLICES:
        if kind in slice_.views:
            view_of_task = part_of_slice(slice_.folder, slice_.views[kind], needed_by=f"the {kind}")
            return view_of_task(task)
    raise KeyError(kind)
