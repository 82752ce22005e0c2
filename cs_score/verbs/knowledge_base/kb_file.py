"""Reads the lines of a knowledge base file, and reports the problems in them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from cs_score.base.records import Record
from cs_score.base.sources import WHITE_SPACE, Source, decode_text
from cs_score.coldstart.converters import is_run_id
from cs_score.coldstart.tab_files import CERTAIN, line_blocks, split_comment, without_exponent
from cs_score.problems.codes import CODES, Severity
from cs_score.problems.log import Detail, Place, ProblemLog
from cs_score.verbs.knowledge_base.assertions import LINK, NAMED, NOMINAL, TYPE, Assertion, ProvenanceList

_BLOCK: Final = 1 << 16

# A line with nothing to trim or cut off: four columns and perhaps a confidence, or the type of a node; or any line.
# The characters are listed outright: to exclude white space instead takes twice the time.
_SPAN: Final = r"[A-Za-z0-9_.+-]++:[0-9]++-[0-9]++"
_LINE: Final = re.compile(
    r'(:[A-Za-z0-9_]++)\t(?:((?!type|link)[a-z0-9_:.-]++)\t(?:(:[A-Za-z0-9_]++)|("[^\t\n#"\\]*+"))'
    rf"\t({_SPAN}(?:[;,](?:NIL|{_SPAN}))*+)(?:\t([0-9]++\.[0-9]++))?|type\t([A-Za-z.-]++)\t?)\n|(.*)\n"
)
_CONFIDENCE: Final = re.compile(r"\d+(?:\.\d+)?")
_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)

COLUMNS: Final = ("SUBJECT", "PREDICATE", "OBJECT", "PROVENANCE", "CONFIDENCE")
"""The names of the columns in reports for programs."""

TASKS: Final[dict[str, frozenset[str] | None]] = {
    "CSED": frozenset((TYPE, NAMED)),
    "CSEDL": frozenset((TYPE, NAMED, NOMINAL, LINK)),
    "CSKB": None,
}
"""The predicates that each validation task accepts; None if it accepts all."""


class KbFindings:
    """Reports the problems of a knowledge base file, with their lines, to the log of problems.

    `troubled_nodes` are the names of the nodes that have an assertion with problems in its provenance.
    """

    def __init__(self, file: str, problems: ProblemLog) -> None:
        self.troubled_nodes: set[str] = set()
        self._file = file
        self._problems = problems

    def place(self, line: int) -> Place:
        """Return the place of a line of the file."""
        return Place(self._file, line)

    def report(self, code: str, *arguments: object, line: int, detail: Detail | None = None) -> None:
        """Report a problem at a line. `code` names the kind of problem, `arguments` fill in its message."""
        self._problems.add(code, *arguments, place=self.place(line), detail=detail)

    def report_without_place(self, code: str, *arguments: object, line: int, column: str = "SUBJECT") -> None:
        """Report a problem without a place in its message; only reports for programs have the line.

        `arguments` fill in the message; the first of them is the text of the column with the problem.
        """
        self._problems.add(code, *arguments, detail=Detail(column, str(arguments[0]), place=self.place(line)))

    def report_again(self, assertion: Assertion, times: int = 1) -> None:
        """Report the problems of an assertion's provenance once more, or `times` times more.

        The reference program parses the provenance again whenever it looks at the assertion, and counts the problems
        each time.
        """
        if assertion.provenance.problems:
            self.report_spans(assertion.provenance, assertion.line, times, with_fatal=False)

    def report_spans(self, provenance: ProvenanceList, line: int, times: int = 1, *, with_fatal: bool) -> None:
        """Report the problems of a provenance at a line, `times` times.

        Fatal problems are left out unless `with_fatal`; they are reported only for the first reading.
        """
        for code, arguments, text, repaired in provenance.problems:
            if with_fatal or CODES[code].severity is not Severity.FATAL:
                detail = Detail("PROVENANCE", text, repaired)
                self._problems.add(code, *arguments, place=self.place(line), times=times, detail=detail)


class KbLine(Record, eq=False):
    """A line that has the right number of columns for an assertion.

    `is_string` says that the object is a string in quotes.
    """

    number: int
    subject: str
    predicate: str
    object: str
    is_string: bool
    provenance: str
    confidence: str
    comment: str = ""


class KbFile:
    """A knowledge base file. Its first line, with the run id, is read at once; `lines` reads the others."""

    def __init__(self, source: Source, findings: KbFindings, task: str) -> None:
        """Read the first line.

        If it is no run id, that is reported, and the line is read as an assertion, with the number 2.
        """
        self._task = task
        self._findings = findings
        self._blocks = text_blocks(source)
        first_block = next(self._blocks, None)
        self.first_line, line_feed, remaining_text = (first_block or "").partition("\n")
        self.run_id = self.first_line.partition("#")[0].strip(WHITE_SPACE)
        has_more_lines = bool(line_feed)
        if not is_run_id(self.run_id):
            is_empty = first_block is None
            findings.report("MISSING_RUNID", line=0 if is_empty else 1, detail=Detail("RUNID"))
            self.run_id = "OmittedRunID"
            remaining_text = first_block or ""
            has_more_lines = not is_empty
        if has_more_lines:
            self._blocks = itertools.chain((remaining_text,), self._blocks)

    def lines(self) -> Iterator[KbLine]:
        """Yield the lines that may be assertions, and report the problems of the other lines."""
        has_all_predicates = TASKS[self._task] is None
        numbered_columns = enumerate(self._split_blocks(), start=2)
        for number, (subject, predicate, node, string, provenance, confidence, node_type, other) in numbered_columns:
            if predicate:
                if has_all_predicates or self._is_on_task(predicate, number):
                    confidence = confidence or CERTAIN
                    yield KbLine(number, subject, predicate, node or string, not node, provenance, confidence)
            elif node_type:
                yield KbLine(number, subject, TYPE, node_type, False, "", CERTAIN)
            else:
                line = self._read_line(number, other)
                if line is not None:
                    yield line

    def _split_blocks(self) -> Iterator[LineColumns]:
        """Yield the columns of each line after the first, as `split_lines` returns them."""
        for block in self._blocks:
            yield from split_lines(block)

    def _read_line(self, number: int, text: str) -> KbLine | None:
        """Return the line with this number and text, which may be of any form.

        If it cannot be an assertion, report its problem and return None. Return None for a blank line.
        """
        comment = ""
        if "#" in text:
            text, comment = split_comment(text)
        columns = [column.strip(WHITE_SPACE) for column in text.rstrip("\t").split("\t")]
        if not any(columns):
            return None
        confidence = self._take_confidence(columns, number)
        predicate = columns[1] if len(columns) > 1 else ""
        if not self._is_on_task(predicate, number):
            return None
        wanted_count = 3 if predicate.partition(".")[0].lower() in (TYPE, LINK) else 4
        if len(columns) != wanted_count:
            self._findings.report("WRONG_NUM_ENTRIES", wanted_count, len(columns), line=number)
            return None
        return KbLine(
            number=number,
            subject=columns[0],
            predicate=predicate,
            object=columns[2],
            is_string=_STRING.fullmatch(columns[2]) is not None,
            provenance=columns[3] if len(columns) > 3 else "",
            confidence=confidence,
            comment=comment,
        )

    def _take_confidence(self, columns: list[str], number: int) -> str:
        """Remove the confidence from the end of the columns and return it; 1.0 if there is none.

        A confidence with an exponent is reported and repaired: "1e-3" -> "0.001".
        """
        confidence = columns.pop() if _CONFIDENCE.fullmatch(columns[-1]) else CERTAIN
        decimals = without_exponent(columns[-1]) if columns else None
        if decimals is None:
            return confidence
        with_exponent = columns.pop()
        detail = Detail("CONFIDENCE", with_exponent, decimals)
        self._findings.report("IMPROPER_CONFIDENCE_VALUE", with_exponent, line=number, detail=detail)
        return decimals

    def _is_on_task(self, predicate: str, line: int) -> bool:
        """Return whether the task accepts a predicate; if it does not, report that at the line."""
        accepted = TASKS[self._task]
        if accepted is None or predicate.lower() in accepted:
            return True
        self._findings.report("OFF_TASK_SLOT", predicate, self._task, line=line, detail=Detail("PREDICATE", predicate))
        return False


LineColumns: TypeAlias = tuple[str, str, str, str, str, str, str, str]
"""The columns of a line: subject, predicate, node, string, provenance, confidence, type; or the whole line as the last.
"""


def split_lines(block: str) -> list[LineColumns]:
    """Return the columns of each line of a block as eight texts; columns that a line does not have are empty.

    A plain assertion has its subject, predicate, object (the third text if it is a node, the fourth if it is a string
    in quotes), provenance and perhaps confidence. A plain type line has its subject and, as the seventh text, the type.
    Any other line is the eighth text as a whole.
    """
    return _LINE.findall(f"{block}\n")


def text_blocks(source: Source) -> Iterator[str]:
    """Yield the text of a file in blocks of whole lines, without a byte order mark at its start.

    Only a line feed ends a line; the last one of a block is left out. Raises InputError for bytes that are not UTF-8.
    """
    line_count = 0
    for block in line_blocks(source, _BLOCK):
        text = decode_text(block, source.name, line_count)
        yield text if line_count else text.removeprefix("\ufeff")
        line_count += block.count(b"\n") + 1
