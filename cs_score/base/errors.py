"""The errors that cs-score raises on purpose, each of which prints as one line.

Everything else that escapes is a defect of cs-score and not of its input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from cs_score.base.display import one_line


class CsScoreError(Exception):
    """The base of all deliberate errors; `str()` of an error is one line without control characters."""

    @property
    def remarks(self) -> Sequence[str]:
        """Remarks on possible causes of the error, made before it was raised: `the XML is not well-formed`."""
        return getattr(self, "__notes__", ())

    def add_remarks(self, remarks: Iterable[str]) -> None:
        """Add remarks on possible causes to the error, except those that it has already. A traceback shows them."""
        for remark in remarks:
            if remark not in self.remarks:
                self.add_note(remark)

    def __str__(self) -> str:
        return one_line(super().__str__())


class InputError(CsScoreError):
    """An input that cannot be scored.

    `problem` says what is wrong, and `remedy` what to do about it, if that is known. `file` is the name of the file as
    the user gave it, `place` the place in it: `line 2, claim 52`. `code` is the code of the problem in problem reports
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
        """Make the error of a problem, such as "not UTF-8". Its file, place, remedy and code are None if unknown."""
        super().__init__(problem, file, place, remedy)
        self.problem = problem
        self.file = file
        self.place = place
        self.remedy = remedy
        self.code = code

    def __reduce__(self) -> tuple[object, ...]:
        """Return the function and the arguments that make the error anew in another process, to which it was sent.

        By default Python would make an exception anew from its positional arguments alone.
        """
        keyword_arguments = {"file": self.file, "place": self.place, "remedy": self.remedy, "code": self.code}
        return _rebuild_error, (type(self), self.problem, keyword_arguments)

    def __str__(self) -> str:
        """Return the error on one line: `runs/a.tab: line 3: not UTF-8`, with the remedy after a semicolon."""
        text = ": ".join(part for part in (self.file, self.place, self.problem) if part)
        if self.remedy:
            text = f"{text}; {self.remedy}"
        return one_line(text, keep_tabs=True)


def _rebuild_error(kind: type[InputError], problem: str, keyword_arguments: Mapping[str, str | None]) -> InputError:
    """Return an error that was pickled, made anew from its class, its problem and its keyword arguments."""
    return kind(problem, **keyword_arguments)


class OutputError(CsScoreError):
    """An output that cannot be written: the folder is missing, the disk is full, the pipe is closed."""


class ReportError(OutputError):
    """Standard error, where remarks and reports of problems go, cannot be written; files of results do not need it."""


class UsageError(CsScoreError):
    """A command line, or a set of options, that contradicts itself."""


class MissingExtraError(CsScoreError):
    """An optional dependency that is not installed."""

    def __init__(self, package: str, extra: str):
        """Make the error that `package` is missing; `pip install 'cs-score[EXTRA]'` would install it."""
        super().__init__(package, extra)
        self.package = package
        self.extra = extra

    def __str__(self) -> str:
        return f"this needs the package {self.package}: pip install 'cs-score[{self.extra}]'"


def missing_part_message(error: ImportError, needed_by: str = "this") -> str:
    """Return the message that a module of cs-score is not installed: `compare needs cs_score.statistics, which ...`.

    Returns an empty text for an error about any other module. `needed_by` is the command that needs the module.
    """
    module_name = error.name or ""
    if not isinstance(error, ModuleNotFoundError) or not module_name.startswith("cs_score."):
        return ""
    return f"{needed_by} needs {module_name}, which this installation lacks; install cs-score as a whole"


def did_you_mean(word: str, names: Iterable[str], cutoff: float = 0.7) -> str:
    """Return the end of a message that suggests up to three names for a misspelt word: `; did you mean A, B or C?`

    It is empty if no name is similar to the word. Letter case and dashes are ignored. `cutoff`, from 0 to 1, is how
    similar names have to be; for ids of two characters that differ in one of them it has to be 0.5.
    """
    near_names = _near_names(word, names, cutoff)[:3]
    if not near_names:
        return ""
    *first_names, last_name = near_names
    if not first_names:
        return f"; did you mean {last_name}?"
    return f"; did you mean {', '.join(first_names)} or {last_name}?"


def _near_names(word: str, names: Iterable[str], cutoff: float) -> list[str]:
    """Return the names that are similar to a word, best first, then the names that begin with the word.

    `cutoff` is the similarity, from 0 to 1, that names must have at least.
    """
    import difflib  # needed only for messages

    # The keys are the names without dashes and in lower case.
    name_by_key: dict[str, str] = {}
    for name in names:
        name_by_key.setdefault(_comparison_key(name), name)
    word_key = _comparison_key(word)
    near_keys = difflib.get_close_matches(word_key, name_by_key, cutoff=cutoff)  # at most three
    if len(word_key) > 2:  # too many names begin with one or two given letters
        near_keys += [key for key in name_by_key if key.startswith(word_key)]
    distinct_keys = dict.fromkeys(near_keys)
    return [name_by_key[key] for key in distinct_keys]


def _comparison_key(name: str) -> str:
    """Return a name without the differences that people overlook: `--Max_Drop` gives `max-drop`."""
    return name.lstrip("-").replace("_", "-").casefold()
