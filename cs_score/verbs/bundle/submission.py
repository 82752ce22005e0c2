"""The file that a participant has handed in, found among what the platform has unpacked."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

from cs_score.base.display import one_line

LONGEST_LINE: Final = 500
"""The largest number of characters in a message for a participant."""

_MOST_FILES_IN_MESSAGE: Final = 3
"""The largest number of files that a message names."""

_NAMES_ADDED_BY_PLATFORMS: Final = frozenset({"metadata", "__MACOSX"})
"""Names of files and folders that platforms and archivers add to a submission."""


class SubmissionError(Exception):
    """A submission that cannot be scored. The message is one line that its participant may read.

    It reveals nothing about gold: it depends on the submission only, or is the same for all submissions.
    """

    def __init__(self, line: str) -> None:
        super().__init__(one_line(line)[:LONGEST_LINE])


def find_submission(folder: str) -> str:
    """Return the path of the only file of a submission that was unpacked into a folder.

    Hidden files and files that platforms add are ignored. Raises SubmissionError if there is no file or more than one,
    and if the file is a link, which could lead to gold.
    """
    paths = _submitted_paths(folder)
    if not paths:
        raise SubmissionError("the submission has no file: hand in an archive with one file")
    if len(paths) > 1:
        names = [os.path.relpath(path, folder) for path in paths]
        shown_names = ", ".join(names[:_MOST_FILES_IN_MESSAGE])
        raise SubmissionError(
            f"the submission has {len(paths)} files ({shown_names}): hand in an archive with one file"
        )
    refuse_link(paths[0])
    return paths[0]


def _submitted_paths(folder: str) -> list[str]:
    """Return the paths of the files in a submission. Links to folders are included, but not followed."""
    paths = []
    for parent, subfolders, file_names in os.walk(folder):
        subfolders_handed_in = _names_handed_in(subfolders)
        subfolders[:] = subfolders_handed_in  # in place, because `os.walk` only enters folders that remain in its list
        links = [name for name in subfolders_handed_in if os.path.islink(os.path.join(parent, name))]
        for name in _names_handed_in(file_names) + links:
            paths.append(os.path.join(parent, name))
    return paths


def _names_handed_in(file_names: Iterable[str]) -> list[str]:
    """Return those names of files or folders that come from the participant, sorted."""
    return sorted([name for name in file_names if _is_handed_in(name)])


def refuse_link(path: str) -> None:
    """Raise SubmissionError unless a path is that of an ordinary file. A link, for example, could lead to gold."""
    if os.path.islink(path) or not os.path.isfile(path):
        raise SubmissionError(f"{os.path.basename(path)} is no ordinary file: hand in a file with its contents")


def _is_handed_in(name: str) -> bool:
    """Return whether a file or folder of this name comes from the participant, and not from a platform."""
    is_hidden = name.startswith(".")
    return not is_hidden and name not in _NAMES_ADDED_BY_PLATFORMS
