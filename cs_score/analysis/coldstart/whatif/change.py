"""A change to a run: the lines that are deleted from its files, and those that are appended to one of them."""

from __future__ import annotations

from collections.abc import Sequence

from cs_score.analysis.coldstart.whatif.dependents import NOTHING, Removal
from cs_score.analysis.coldstart.whatif.files import RunFiles
from cs_score.analysis.coldstart.whatif.found import AddedLine
from cs_score.base.records import Record


class Change(Record):
    """Lines that go and lines that come, so that anybody can score the changed files; `added` ones are for one file."""

    removal: Removal = NOTHING
    added: Sequence[AddedLine] = ()

    @property
    def size(self) -> int:
        """How many lines more the files have; fewer where it is negative."""
        return len(self.added) - len(self.removal.places)

    def as_json(self) -> dict[str, object]:
        """`removed`: file and line of each line deleted; `added`: the text of each line appended."""
        return {
            "removed": [{"file": file, "line": number} for file, number in self.removal.places],
            "added": [line.text for line in self.added],
        }

    def why_unreadable(self, files: RunFiles) -> str | None:
        """Why a file could not be read any more; None where all can."""
        for name, file in files.files.items():
            if (name, file.first) in self.removal.places:
                gone = {number for of_file, number in self.removal.places if of_file == name}
                reason = file.why_unreadable(gone, [line.text for line in self.added if line.file == name])
                if reason is not None:
                    return reason
        return None
