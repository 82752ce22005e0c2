"""The file that a participant has handed in, found among what the platform has unpacked."""

from __future__ import annotations

import os
from typing import Final

from cs_score.base.display import one_line

LONGEST_LINE: Final = 500
"""Characters of a line for a participant."""

_SHOWN: Final = 3
"""Names of files that a line lists."""

_OF_THE_PLATFORM: Final = frozenset({"metadata", "__MACOSX"})
"""Names that platforms and archivers add to a submission."""


class SubmissionError(Exception):
    """A submission that cannot be scored; the text is one line that its participant may read.

    It says nothing of gold: it is made of the submission alone, or is the same for all submissions.
    """

    def __init__(self, line: str) -> None:
        super().__init__(one_line(line)[:LONGEST_LINE])


def find_submission(folder: str) -> str:
    """Return the path of the only file of a submission that was unpacked into a folder.

    Hidden files and files that platforms add are passed over. Raises SubmissionError for no file or several, and for a
    link, which could lead to gold.
    """
    paths = _submitted_paths(folder)
    if not paths:
        raise SubmissionError("the submission has no file: hand in an archive with one file")
    if len(paths) > 1:
        names = [os.path.relpath(path, folder) for path in paths]
        shown = ", ".join(names[:_SHOWN])
        raise SubmissionError(f"the submission has {len(paths)} files ({shown}): hand in an archive with one file")
    refuse_link(paths[0])
    return paths[0]


def _submitted_paths(folder: str) -> list[str]:
    """Return the paths of the files of a submission, and of links to folders, which are not followed."""
    paths = []
    for place, folders, file_names in os.walk(folder):
        folders[:] = sorted([name for name in folders if _is_handed_in(name)])
        for name in sorted(file_names):
            if _is_handed_in(name):
                paths.append(os.path.join(place, name))
        for name in folders:
            path = os.path.join(place, name)
            if os.path.islink(path):
                paths.append(path)
    return paths


def refuse_link(path: str) -> None:
    """Raise SubmissionError for what is no ordinary file, such as a link, which could lead to gold."""
    if os.path.islink(path) or not os.path.isfile(path):
        raise SubmissionError(f"{os.path.basename(path)} is no ordinary file: hand in a file with its contents")


def _is_handed_in(name: str) -> bool:
    """Return whether a file or folder of this name comes from the participant, and not from a platform."""
    return not name.startswith(".") and name not in _OF_THE_PLATFORM
