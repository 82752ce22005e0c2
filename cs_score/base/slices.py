"""Load the parts of slices by their names in the table of slices, so that no room imports the features above it."""

from __future__ import annotations

from typing import Any

from cs_score.base.runtime import load_value


def load_from_command_package(folder: str, part: str, needed_by: str = "this") -> Any:
    """Import a part of a slice, such as the function `by_task:analyze_result` of the slice `analyze`, and return it.

    A slice is the folder below `verbs` with the code of one command. `needed_by` names what needs the part.
    Raises UsageError, with that name, if the slice is not installed.
    """
    return load_value(f"cs_score.verbs.{folder}.{part}", needed_by)
