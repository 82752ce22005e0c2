"""The errors that cs-score raises on purpose, each of which prints as one line.

Everything else that escapes is a defect of cs-score and not of its input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cs_score.base.display import one_line


class CsScoreError(Exception):
    """Base of all deliberate errors; `str()` is one line fit for a terminal."""

    @property
    def remarks(self) -> Sequence[str]:
        """Return remarks made before the error on its possible causes, such as XML that is not well-formed."""
        return getattr(self, "__notes__", ())

    def add_remarks(self, remarks: Iterable[str]) -> None:
        """Add the remarks that the error does not have yet; a traceback shows them, too."""
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
        self.problem = problem
        self.file = file
        self.place = place
        self.remedy = remedy
        self.code = code

    def __reduce__(self) -> tuple[object, ...]:
        """Keep the keyword-only fields when the error crosses a process boundary."""
        fields = {"file": self.file, "place": self.place, "remedy": self.remedy, "code": self.code}
        return _rebuild_error, (type(self), self.problem, fields)

    def __str__(self) -> str:
        text = ": ".join(part for part in (self.file, self.place, self.problem) if part)
        if self.remedy:
            text = f"{text}; {self.remedy}"
        return one_line(text, keep_tabs=True)


def _rebuild_error(kind: type[InputError], problem: str, fields: Mapping[str, str | None]) -> InputError:
    """Return an error that was pickled, from its class, problem and keyword-only fields."""
    return kind(problem, **fields)


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
        self.package = package
        self.extra = extra

    def __str__(self) -> str:
        return f"this needs the package {self.package}: pip install 'cs-score[{self.extra}]'"


def nearest(word: str, names: Iterable[str], cutoff: float = 0.7) -> str:
    """Return a question after up to three names that are like a misspelt word: `; did you mean A, B or C?`

    It is empty where no name is near. Letter case and dashes are ignored. `cutoff`, 0 to 1, is how alike names have to
    be; short ids that differ in one of two characters are alike by half.
    """
    import difflib

    name_by_key: dict[str, str] = {}
    for name in names:
        name_by_key.setdefault(_comparison_key(name), name)
    word_key = _comparison_key(word)
    near_keys = difflib.get_close_matches(word_key, name_by_key, cutoff=cutoff)
    if len(word_key) > 2:
        near_keys += [key for key in name_by_key if key.startswith(word_key)]
    near_names = [name_by_key[key] for key in dict.fromkeys(near_keys)][:3]
    if not near_names:
        return ""
    listed = near_names[-1]
    if len(near_names) > 1:
        listed = f"{', '.join(near_names[:-1])} or {listed}"
    return f"; did you mean {listed}?"


def _comparison_key(name: str) -> str:
    """Return a name without what people mix up: `--Max_Drop` gives `max-drop`."""
    return name.lstrip("-").replace("_", "-").casefold()
