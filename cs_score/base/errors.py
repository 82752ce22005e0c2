"""The errors that cs-score raises on purpose, each of which prints as one line.

Everything else that escapes is a defect of cs-score and not of its input.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from cs_score.base.display import one_line


class CsScoreError(Exception):
    """Base of all deliberate errors; `str()` is one line fit for a terminal."""

    @property
    def remarks(self) -> Sequence[str]:
        """Return what was noticed before the error and may be its cause, such as XML that is not well-formed."""
        return getattr(self, "__notes__", ())

    def add_remarks(self, remarks: Iterable[str]) -> None:
        """Add remarks that are not there yet; a traceback shows them, too."""
        for remark in remarks:
            if remark not in self.remarks:
                self.add_note(remark)

    def __str__(self) -> str:
        return one_line(super().__str__())


class InputError(CsScoreError):
    """An input that cannot be scored.

    `file` is the name as the user gave it, `place` says where in it ("line 2, claim 52"), `problem` what is wrong
    and `remedy`, where the fix is known, what to do about it. `code` names the condition in problem reports
    (`cs_score.problems.codes`).
    """

    def __init__(
        self,
        problem: str,
        *,
        file: str | None = None,
        place: str | None = None,
        remedy: str | None = None,
        code: str | None = None,
    ):
        super().__init__(problem, file, place, remedy)
        self.problem, self.file, self.place, self.remedy, self.code = problem, file, place, remedy, code

    def __reduce__(self) -> tuple[object, ...]:
        """Keep the keyword-only fields when the error crosses a process boundary."""
        rebuild = partial(type(self), file=self.file, place=self.place, remedy=self.remedy, code=self.code)
        return rebuild, (self.problem,)

    def __str__(self) -> str:
        text = ": ".join(part for part in (self.file, self.place, self.problem) if part)
        return one_line(f"{text}; {self.remedy}" if self.remedy else text, keep_tabs=True)


class OutputError(CsScoreError):
    """An output that cannot be written: the folder is missing, the disk is full, the pipe is closed."""


class ReportError(OutputError):
    """Standard error, where remarks and reports of problems go, cannot be written; files of results do not need it."""


class UsageError(CsScoreError):
    """A command line, or a set of options, that contradicts itself."""


class MissingExtraError(CsScoreError):
    """An optional dependency that is not installed."""

    def __init__(self, package: str, extra: str):
        super().__init__(package, extra)
        self.package, self.extra = package, extra

    def __str__(self) -> str:
        return f"this needs the package {self.package}: pip install 'cs-score[{self.extra}]'"


def nearest(word: str, names: Iterable[str], cutoff: float = 0.7) -> str:
    """Up to three of the names, `; did you mean ...?`; empty where none is near. Letter case and dashes are ignored.
    `cutoff`, 0..1, is how alike they have to be; short ids that differ in one of two characters are so by half.
    """
    import difflib

    plain: dict[str, str] = {}
    for name in names:
        plain.setdefault(_plain(name), name)
    key = _plain(word)
    begun = [each for each in plain if len(key) > 2 and each.startswith(key)]
    found = dict.fromkeys((*difflib.get_close_matches(key, plain, cutoff=cutoff), *begun))
    *some, last = [plain[each] for each in found][:3] or [""]
    return f"; did you mean {', '.join(some)}{' or ' if some else ''}{last}?" if last else ""


def _plain(name: str) -> str:
    return name.lstrip("-").replace("_", "-").casefold()
