"""Load what belongs to one command by its name, so that the modules that all commands share import no command."""

from __future__ import annotations

from typing import Any

from cs_score.base.runtime import load_value


def load_from_command_package(folder: str, part: str, needed_by: str = "this") -> Any:
    """Import and return a function or class of a command, such as `by_task:analyze_result` of the command `analyze`.

    `folder` is the folder below `verbs` with the code of the command, and `part` is `MODULE:NAME`. Raises UsageError if
    the folder is not installed; the message says what needs the command (`needed_by`).
    """
    return load_value(f"cs_score.verbs.{folder}.{part}", needed_by)
