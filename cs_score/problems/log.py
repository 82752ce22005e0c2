"""The log of problems that are met while inputs are read; they are reported together, in a fixed order.

Each problem has a code, such as `WRONG_SLOT_NAME`, which decides how bad it is, and a message. It may be met at several
places of the inputs, such as `run.tab line 7`, and several times at one place.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from typing import ClassVar, Final, NamedTuple, Self

from cs_score.base.display import one_line
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.problems.codes import CODES, Severity

NO_SOURCE: Final = "NO_SOURCE"
"""What reports show as the place of a problem that belongs to no line; it is sorted among the other places."""


class Place(NamedTuple):
    """The place of a problem: a file as named by the user, and a line number or `In query ID`.

    `shown` is the text of the place in the report, if it differs from `FILE line LINE`.
    """

    file: str
    line: int | str
    shown: str | None = None

    def __str__(self) -> str:
        return self.shown or f"{self.file} line {self.line}"


class Detail(NamedTuple):
    """The details that reports for programs and editors add to the message of a problem.

    `column` is the name of the column with the problem, `text` the offending text, and `repaired` the text that is used
    instead. `place` is where the author of the input should look if the message names no place.
    """

    column: str | None = None
    text: str | None = None
    repaired: str | None = None
    place: Place | None = None


class Problem(NamedTuple):
    """A problem with its message and all places where it was met.

    `places` has each place once, in the order in which the problem was met there; None means that the problem does not
    have a place. `occurrences` is how often the problem was met, which may be several times at the same place.
    """

    code: str
    severity: Severity
    message: str
    places: tuple[Place | None, ...]
    occurrences: int


class FatalProblem(InputError):
    """A problem that ends the program. It is printed as in a report of problems: the message, then the place."""

    def __init__(self, problem: str, problem_place: Place | None, code: str) -> None:
        """Make the error for a problem: its message `problem`, its place or None, and its code."""
        if problem_place is None:
            super().__init__(problem, code=code)
        else:
            super().__init__(problem, file=problem_place.file, place=f"line {problem_place.line}", code=code)
        self.problem_place = problem_place

    def __reduce__(self) -> tuple[object, ...]:
        return FatalProblem, (self.problem, self.problem_place, self.code)

    def __str__(self) -> str:
        place = NO_SOURCE if self.problem_place is None else self.problem_place
        return one_line(f"{self.problem} ({place})")


class _Entry(NamedTuple):
    """A problem at one place, in the form in which a log stores it.

    `message_or_arguments` is the message itself, or the arguments for the template of the code.
    """

    code: str
    message_or_arguments: str | tuple[object, ...]
    place: Place | None
    detail: Detail | None

    @property
    def arguments(self) -> tuple[object, ...]:
        """The arguments for the template of the code; empty if only the message is stored."""
        return () if isinstance(self.message_or_arguments, str) else self.message_or_arguments

    @property
    def message(self) -> str:
        """The message, made from the template of the code if its arguments are stored."""
        if isinstance(self.message_or_arguments, str):
            return self.message_or_arguments
        return CODES[self.code].message(self.message_or_arguments)


class ProblemLog:
    """Collects problems of inputs. An entry of the log is a problem at one place, with a count of how often it was met.

    Problems with a code in `ignored` are neither stored nor counted. `wordings` has templates by code that replace the
    templates of the table of problems, such as those of another edition. `fatal_errors` are the errors that must end
    the program, in the order in which they were met; `end_if_fatal` raises the first one.
    """

    _keeps_details: ClassVar[bool] = False

    def __init__(self) -> None:
        """Make an empty log."""
        self.ignored: frozenset[str] = frozenset()  # codes of problems
        self.wordings: Mapping[str, str] = {}  # templates of messages by code
        self.fatal_errors: list[InputError] = []
        self._count_by_entry: dict[_Entry, int] = {}  # how often each problem was met at each place

    def add(
        self, code: str, *arguments: object, place: Place | None = None, times: int = 1, detail: Detail | None = None
    ) -> None:
        """Record that a problem was met `times` times at a place.

        The message of the problem is the template of its `code` with the `arguments`. A fatal problem is added to
        `fatal_errors`. A log that keeps details also gets an entry for a fatal problem, because reports for programs
        list all problems. Other logs do not get such an entry, and do not store the `detail`.
        """
        if times == 0 or code in self.ignored:
            return
        severity = CODES[code].severity
        is_fatal = severity is Severity.FATAL
        if is_fatal:
            self.fatal_errors.append(FatalProblem(f"{severity}: {self._message(code, arguments)}", place, code))
        has_entry = self._keeps_details or not is_fatal
        if has_entry:
            entry = self._make_entry(code, arguments, place, detail)
            self._count_by_entry[entry] = self._count_by_entry.get(entry, 0) + times

    def _make_entry(
        self, code: str, arguments: tuple[object, ...], place: Place | None, detail: Detail | None
    ) -> _Entry:
        """Return a problem in the form in which this log stores it: with its message but without the `detail`.

        `RecordingLog` overrides this to store the arguments of the message and the `detail`. This log needs less,
        because it is only used for the report for people, which shows messages.
        """
        return _Entry(code, message_or_arguments=self._message(code, arguments), place=place, detail=None)

    def end_if_fatal(self, remarks: Iterable[str] = ()) -> None:
        """Raise the first error in `fatal_errors`, if there is one, with further `remarks` on its possible causes."""
        if self.fatal_errors:
            first_error = self.fatal_errors[0]
            first_error.add_remarks(remarks)
            raise first_error

    # -- Copies

    def copy(self) -> Self:
        """Return a copy of the log with all its problems; later changes of one do not affect the other."""
        return self.without(())

    def without(self, codes: Collection[str]) -> Self:
        """Return a copy of the log without the problems that have one of these codes."""
        rest = type(self)()
        rest.ignored = self.ignored
        rest.wordings = self.wordings
        rest.fatal_errors = list(self.fatal_errors)
        rest._count_by_entry = {
            entry: count for entry, count in self._count_by_entry.items() if entry.code not in codes
        }
        return rest

    def add_all(self, other: ProblemLog) -> None:
        """Add all problems of another log."""
        self.fatal_errors += other.fatal_errors
        for entry, count in other._count_by_entry.items():
            self._count_by_entry[entry] = self._count_by_entry.get(entry, 0) + count

    # -- Counts

    def count(self, *severities: Severity) -> int:
        """Return how often problems of these severities were met; a problem may be met several times at one place."""
        return sum(count for entry, count in self._count_by_entry.items() if CODES[entry.code].severity in severities)

    @property
    def has_errors(self) -> bool:
        """Whether there is an error: a problem after which results must not be used."""
        return self.count(Severity.ERROR) > 0

    @property
    def total(self) -> int:
        """How often warnings and errors were met."""
        return self.count(Severity.WARNING, Severity.ERROR)

    # -- Problems

    def by_place(self) -> Iterator[tuple[Place, Problem]]:
        """Yield each problem at each of its places, in the order in which they were met."""
        for entry, count in self._count_by_entry.items():
            if entry.place is None:  # a problem of no single line
                continue
            problem = Problem(
                code=entry.code,
                severity=CODES[entry.code].severity,
                message=self._message(entry.code, entry.message_or_arguments),
                places=(entry.place,),
                occurrences=count,
            )
            yield entry.place, problem

    def __iter__(self) -> Iterator[Problem]:
        """Yield the problems in the order of the report: by code, then by message. Fatal ones are left out.

        A problem has all places where the same message was met.
        """
        entries_by_message = self._entries_by_message()
        for code, message in sorted(entries_by_message):  # the same order as that of their bytes in UTF-8
            count_by_place = self._count_by_place(entries_by_message[code, message])
            yield Problem(
                code=code,
                severity=CODES[code].severity,
                message=message,
                places=tuple(count_by_place),
                occurrences=sum(count_by_place.values()),
            )

    def _entries_by_message(self) -> dict[tuple[str, str], list[_Entry]]:
        """Return the entries of all problems that are not fatal, by the code and the message of the problem."""
        entries_by_message: dict[tuple[str, str], list[_Entry]] = {}
        for entry in self._count_by_entry:
            if CODES[entry.code].severity is not Severity.FATAL:
                message = self._message(entry.code, entry.message_or_arguments)
                entries_by_message.setdefault((entry.code, message), []).append(entry)
        return entries_by_message

    def _count_by_place(self, entries: Iterable[_Entry]) -> dict[Place | None, int]:
        """Return how often a problem was met at each of its places: `{Place("run.tab", 7): 2}`.

        `entries` are the entries of this problem in the log. The key None is used for a problem without a place.
        """
        count_by_place: dict[Place | None, int] = {}
        for entry in entries:
            count_by_place[entry.place] = count_by_place.get(entry.place, 0) + self._count_by_entry[entry]
        return count_by_place

    def _message(self, code: str, message_or_arguments: str | tuple[object, ...]) -> str:
        """Return the message of a problem with this code.

        `message_or_arguments` is either the message itself or the arguments for the template of the code. The template
        is taken from `wordings` if it has one for the code, and otherwise from `CODES`.
        """
        if isinstance(message_or_arguments, str):
            return message_or_arguments
        if code in self.wordings:
            return self.wordings[code] % message_or_arguments
        return CODES[code].message(message_or_arguments)


_BEGINNING_OF_DISCARD_CODES: Final = "DISCARDED_"
"""The beginning of the codes of discarded lines."""


def discarded_last(problems: Iterable[Problem]) -> list[Problem]:
    """Return problems in the given order, except that problems of discarded lines come last.

    Lines are discarded because of other problems, which readers should see first.
    """
    # False sorts before True.
    return sorted(problems, key=lambda problem: problem.code.startswith(_BEGINNING_OF_DISCARD_CODES))


def count_of_discarded(problems: Iterable[Problem]) -> int:
    """Return how many lines of the input were discarded, according to the problems of a log."""
    return sum(problem.occurrences for problem in problems if problem.code.startswith(_BEGINNING_OF_DISCARD_CODES))


# ---- Occurrences with their details


class Occurrence(Record):
    """A problem at one place.

    `file` and `line` (from 1) are given if they are known. `within` is a place within a file that is not a line, such
    as a query. `column` is the name of the column, `text` is the offending text as written, `repaired` is the text that
    is used instead, and `times` is how often the problem was counted.
    """

    code: str
    severity: Severity
    message: str
    file: str | None
    line: int | None
    within: str | None
    column: str | None = None
    text: str | None = None
    repaired: str | None = None
    times: int = 1


class RecordingLog(ProblemLog):
    """A log that keeps the details of every occurrence, for reports that are read by programs and editors.

    The message of a problem may quote a whole line. To save memory, the log stores only the arguments of messages, and
    makes each message when it is written.
    """

    _keeps_details = True

    def __init__(self) -> None:
        super().__init__()
        # The problems that `also_report` has added. They are reported, but the counts of this log leave them out.
        self._count_by_entry_of_other_logs: dict[_Entry, int] = {}

    def _make_entry(
        self, code: str, arguments: tuple[object, ...], place: Place | None, detail: Detail | None
    ) -> _Entry:
        """Return a problem in the form in which this log stores it: with the arguments of its message."""
        return _Entry(code, message_or_arguments=arguments, place=place, detail=detail)

    def also_report(self, other: RecordingLog) -> None:
        """Add the problems of another log to the occurrences of this one, but not to its counts."""
        self._count_by_entry_of_other_logs.update(other._count_by_entry)

    def without(self, codes: Collection[str]) -> Self:
        """Return a copy of the log without the problems that have one of these codes."""
        rest = super().without(codes)
        rest._count_by_entry_of_other_logs = {
            entry: count for entry, count in self._count_by_entry_of_other_logs.items() if entry.code not in codes
        }
        return rest

    def occurrences_since(self, earlier: RecordingLog, file: str) -> list[Occurrence]:
        """Return the occurrences that one more `file` added to this log, in the order of lines and codes.

        `earlier` is the log before the file was read. It must not contain fatal errors, and this log must have started
        as a copy of it. A problem that names its file keeps its full count. A problem that does not name a file is
        assigned to `file` and counted since the copy was made, because earlier files may have had the same problem.
        """
        occurrences = []
        for fatal_occurrence in self._fatal_errors_without_entry():
            occurrences.append(replace(fatal_occurrence, file=fatal_occurrence.file or file))
        earlier_count_by_entry = earlier._count_by_reported_entry()
        for entry, count in self._count_by_reported_entry().items():
            count_since_copy = count - earlier_count_by_entry.get(entry, 0)
            if count_since_copy > 0:
                occurrence = _occurrence(entry, count)
                if occurrence.file is None:  # a problem of the file as a whole
                    occurrence = replace(occurrence, file=file, times=count_since_copy)
                occurrences.append(occurrence)
        return sorted(occurrences, key=_order_of_occurrence)

    def occurrences(self) -> Iterator[Occurrence]:
        """Yield all occurrences in the order of files, lines and codes; occurrences without a file come last.

        They are made one by one, since there may be a million of them, each with a long message.
        """
        fatal_errors = sorted(self._fatal_errors_without_entry(), key=_order_of_occurrence)
        return heapq.merge(self._ordered_occurrences(), fatal_errors, key=_order_of_occurrence)

    def _ordered_occurrences(self) -> Iterator[Occurrence]:
        """Yield the occurrences of all problems in the order of files, lines, codes and messages."""
        count_by_entry = self._count_by_reported_entry()
        entries = sorted(count_by_entry, key=_order_of_entry)
        # The entries are sorted except for messages. To save memory, these are made one file, line and code at a time.
        for _, entries_of_place in itertools.groupby(entries, key=_order_of_entry):
            occurrences = [_occurrence(entry, count_by_entry[entry]) for entry in entries_of_place]
            yield from sorted(occurrences, key=_order_of_occurrence)

    def codes(self) -> Set[str]:
        """Return the codes of all occurrences of the log."""
        codes = {entry.code for entry in self._count_by_reported_entry()}
        codes.update(occurrence.code for occurrence in self._fatal_errors_without_entry())
        return codes

    def _count_by_reported_entry(self) -> Mapping[_Entry, int]:
        """Return how often each problem was met, in this log or in a log that `also_report` added."""
        if not self._count_by_entry_of_other_logs:
            return self._count_by_entry
        return {**self._count_by_entry, **self._count_by_entry_of_other_logs}

    def _fatal_errors_without_entry(self) -> list[Occurrence]:
        """Return, as occurrences, the errors in `fatal_errors` that do not have an entry in the log.

        Every `FatalProblem` has an entry. Other errors, such as those of files that cannot be read, are only in
        `fatal_errors`.
        """
        return [occurrence_of_error(error) for error in self.fatal_errors if not isinstance(error, FatalProblem)]


def _occurrence(entry: _Entry, count: int) -> Occurrence:
    """Return the occurrence of a problem, given its entry in the log and the number of times it was met.

    The column and the offending text are taken from the detail of the entry. If one of them is missing there, an
    argument of the message is used instead; the kind of the problem determines which one.
    """
    kind = CODES[entry.code]
    detail = entry.detail or Detail()
    place = _place_to_look_at(entry)
    column = kind.column_name(entry.arguments) if detail.column is None else detail.column
    offending_text = kind.offending_text(entry.arguments) if detail.text is None else detail.text
    return Occurrence(
        code=entry.code,
        severity=kind.severity,
        message=entry.message.rstrip(),
        file=None if place is None else place.file,
        line=_line_of(place),
        within=_name_inside_file(place),
        column=column,
        text=offending_text,
        repaired=detail.repaired,
        times=count,
    )


def _place_to_look_at(entry: _Entry) -> Place | None:
    """Return the place of a problem; if it has none, the place in its detail."""
    if entry.place is not None or entry.detail is None:
        return entry.place
    return entry.detail.place


def _line_of(place: Place | None) -> int | None:
    """Return the line number of a place, or None if there is no place or if it is not a line, such as a query."""
    if place is None or not isinstance(place.line, int):  # `place.line` may be a text such as `In query CSX_0001`
        return None
    return place.line if place.line > 0 else None


def _name_inside_file(place: Place | None) -> str | None:
    """Return the name of a place in a file, such as `In query CSX_0001`, or None for lines and for no place."""
    if place is None or _line_of(place) is not None:
        return None
    name = str(place.line)  # a text such as `In query CSX_0001`, since it is not a line number
    return place.shown or name


def _number_of_line(place: str | None) -> int | None:
    """Return the number of a line in the place of an error: 7 for `line 7`; None for any other place."""
    number = "" if place is None else place.removeprefix("line ")
    return int(number) if number.isdecimal() else None


def occurrence_of_error(error: InputError) -> Occurrence:
    """Convert an error that ends the program to an Occurrence, the record of a problem at a place.

    A place such as `line 7` becomes the line of the occurrence. Any other place becomes a place within the file.
    """
    line = _number_of_line(error.place)
    message = error.problem if error.remedy is None else f"{error.problem}; {error.remedy}"
    return Occurrence(
        code=error.code or "FATAL",
        severity=Severity.FATAL,
        message=message,
        file=error.file,
        line=line,
        within=error.place if line is None else None,
    )


def _order_of_entry(entry: _Entry) -> tuple[bool, str, int, str]:
    """Return the sort key of a problem: file, line and code. Problems without a place come last.

    The order is that of `_order_of_occurrence`, which also compares messages.
    """
    place = _place_to_look_at(entry)
    if place is None:
        return True, "", 0, entry.code
    return False, place.file, _line_of(place) or 0, entry.code


def _order_of_occurrence(occurrence: Occurrence) -> tuple[bool, str, int, str, str]:
    """Return the sort key of an occurrence: file, line, code and message; occurrences without a file come last."""
    has_no_file = occurrence.file is None
    return has_no_file, occurrence.file or "", occurrence.line or 0, occurrence.code, occurrence.message


def merge_occurrences(occurrences: Iterable[Occurrence]) -> list[Occurrence]:
    """Return occurrences in the order of files, lines and codes, each of them once.

    If occurrences differ only in `times`, the one with the largest number is kept.
    """
    count_by_occurrence: dict[Occurrence, int] = {}
    for occurrence in occurrences:
        without_times = replace(occurrence, times=0)
        largest_count = count_by_occurrence.get(without_times, 0)
        count_by_occurrence[without_times] = max(largest_count, occurrence.times)
    merged = [replace(occurrence, times=count) for occurrence, count in count_by_occurrence.items()]
    return sorted(merged, key=_order_of_occurrence)
