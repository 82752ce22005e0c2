"""The lines of a knowledge base file, and the problems that are found in them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from cs_score.base.sources import WHITE_SPACE, Source, decoded
from cs_score.coldstart.converters import is_run_id
from cs_score.coldstart.tab_files import CERTAIN, line_blocks, split_comment, without_exponent
from cs_score.knowledge_base.assertions import LINK, NAMED, NOMINAL, TYPE, Assertion, ProvenanceList
from cs_score.problems.codes import CODES, Severity
from cs_score.problems.log import Detail, Place, ProblemLog

_BLOCK: Final = 1 << 16

# A line with nothing to trim or cut off: four columns and perhaps a confidence, or the type of a node; or any line.
# Which characters there may be is said outright: to exclude white space takes twice the time.
_SPAN: Final = r"[A-Za-z0-9_.+-]++:[0-9]++-[0-9]++"
_LINE: Final = re.compile(
    r'(:[A-Za-z0-9_]++)\t(?:((?!type|link)[a-z0-9_:.-]++)\t(?:(:[A-Za-z0-9_]++)|("[^\t\n#"\\]*+"))'
    rf"\t({_SPAN}(?:[;,](?:NIL|{_SPAN}))*+)(?:\t([0-9]++\.[0-9]++))?|type\t([A-Za-z.-]++)\t?)\n|(.*)\n"
)
_CONFIDENCE: Final = re.compile(r"\d+(?:\.\d+)?")
_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)

COLUMNS: Final = ("SUBJECT", "PREDICATE", "OBJECT", "PROVENANCE", "CONFIDENCE")
"""What the columns are called in reports for programs."""

# Task -> the predicates that it knows, None for all of them.
TASKS: Final[dict[str, frozenset[str] | None]] = {
    "CSED": frozenset((TYPE, NAMED)),
    "CSEDL": frozenset((TYPE, NAMED, NOMINAL, LINK)),
    "CSKB": None,
}


class Findings:
    """Reports problems of one file by line. `troubled` are the nodes that an assertion with a bad provenance is of."""

    def __init__(self, file: str, problems: ProblemLog) -> None:
        self.troubled: set[str] = set()
        self._file = file
        self._problems = problems

    def place(self, line: int) -> Place:
        """A line of the file."""
        return Place(self._file, line)

    def report(self, code: str, *arguments: object, line: int, detail: Detail | None = None) -> None:
        """Report a problem at a line."""
        self._problems.add(code, *arguments, place=self.place(line), detail=detail)

    def report_without_place(self, code: str, *arguments: object, line: int, column: str = "SUBJECT") -> None:
        """Report a problem that the report names no place for; programs get the line to begin with."""
        self._problems.add(code, *arguments, detail=Detail(column, str(arguments[0]), place=self.place(line)))

    def look(self, assertion: Assertion, times: int = 1) -> None:
        """Report the problems of an assertion's provenance once more.

        The reference parses it anew whenever it looks at it, and counts what it finds.
        """
        if assertion.provenance.problems:
            self.report_spans(assertion.provenance, assertion.line, times, with_fatal=False)

    def report_spans(self, provenance: ProvenanceList, line: int, times: int = 1, *, with_fatal: bool) -> None:
        """Report the problems of a provenance; what is fatal is so only when it is read for the first time."""
        for code, arguments, text, repaired in provenance.problems:
            if with_fatal or CODES[code].severity is not Severity.FATAL:
                detail = Detail("PROVENANCE", text, repaired)
                self._problems.add(code, *arguments, place=self.place(line), times=times, detail=detail)


Line: TypeAlias = tuple[int, str, str, str, bool, str, str, str]
"""A line with the right number of columns: number, subject, predicate, object, whether that is a string in quotes,
provenance, confidence, comment."""


class KbFile:
    """A knowledge base file whose first line has been read."""

    def __init__(self, source: Source, findings: Findings, task: str) -> None:
        self._task = task
        self._findings = findings
        self._blocks = text_blocks(source)
        first_block = next(self._blocks, None)
        self.first_line, line_feed, rest = (first_block or "").partition("\n")
        self.run_id = self.first_line.partition("#")[0].strip(WHITE_SPACE)
        if not is_run_id(self.run_id):
            is_empty = first_block is None
            findings.report("MISSING_RUNID", line=0 if is_empty else 1, detail=Detail("RUNID"))
            self.run_id = "OmittedRunID"
            line_feed, rest = "" if is_empty else "\n", first_block or ""  # it is read once more, from line 2 on
        if line_feed:
            self._blocks = itertools.chain((rest,), self._blocks)

    def lines(self) -> Iterator[Line]:
        """The lines that can be assertions; what is wrong with the others is reported."""
        has_all_predicates = TASKS[self._task] is None
        number = 1
        for block in self._blocks:
            for subject, predicate, node, text, provenance, confidence, kind, other in split_lines(block):
                number += 1
                if predicate:
                    if has_all_predicates or self._is_on_task(predicate, number):
                        yield number, subject, predicate, node or text, not node, provenance, confidence or CERTAIN, ""
                elif kind:
                    yield number, subject, TYPE, kind, False, "", CERTAIN, ""
                elif (line := self._read(number, other)) is not None:
                    yield line

    def _read(self, number: int, text: str) -> Line | None:
        """A line of any kind; None of one that is no assertion."""
        comment = ""
        if "#" in text:
            text, comment = split_comment(text)
        columns = [column.strip(WHITE_SPACE) for column in text.rstrip("\t").split("\t")]
        if not any(columns):
            return None
        confidence = columns.pop() if _CONFIDENCE.fullmatch(columns[-1]) else CERTAIN
        if columns and (decimals := without_exponent(columns[-1])) is not None:
            written, confidence = columns.pop(), decimals
            detail = Detail("CONFIDENCE", written, decimals)
            self._findings.report("IMPROPER_CONFIDENCE_VALUE", written, line=number, detail=detail)
        predicate = columns[1] if len(columns) > 1 else ""
        if not self._is_on_task(predicate, number):
            return None
        expected = 3 if predicate.partition(".")[0].lower() in (TYPE, LINK) else 4
        if len(columns) != expected:
            self._findings.report("WRONG_NUM_ENTRIES", expected, len(columns), line=number)
            return None
        subject, _, object_, *provenance = columns
        is_string = _STRING.fullmatch(object_) is not None
        return number, subject, predicate, object_, is_string, provenance[0] if provenance else "", confidence, comment

    def _is_on_task(self, predicate: str, line: int) -> bool:
        """Whether the task knows a predicate; if not, that is reported."""
        legal = TASKS[self._task]
        if legal is None or predicate.lower() in legal:
            return True
        self._findings.report("OFF_TASK_SLOT", predicate, self._task, line=line, detail=Detail("PREDICATE", predicate))
        return False


def split_lines(block: str) -> list[tuple[str, str, str, str, str, str, str, str]]:
    """The columns of each line of a block.

    Of a plain assertion: subject, predicate, object (a node, or a string in quotes), provenance of legal spans, and
    confidence, if there is one. Of a plain type line: subject, and the type in the last column but one. Of any other
    line: itself in the last column. What is not there is empty.
    """
    return _LINE.findall(f"{block}\n")


def text_blocks(source: Source) -> Iterator[str]:
    """A file in blocks of whole lines without the line feed at the end of a block, nor a byte-order mark at its start.

    Only a line feed ends a line. Raises InputError where the bytes are not UTF-8.
    """
    number = 0
    for block in line_blocks(source, _BLOCK):
        text = decoded(block, source.name, number)
        yield text if number else text.removeprefix("\ufeff")
        number += block.count(b"\n") + 1
