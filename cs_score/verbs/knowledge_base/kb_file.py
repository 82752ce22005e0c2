"""Reads the lines of a knowledge base file, and reports the problems in them. A line has the columns subject,
predicate, object, provenance and perhaps confidence, such as `:Entity_1 per:spouse :Entity_2 D1:3-9 0.5`; the first
line has the run id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final, TypeAlias

from cs_score.base.records import Record
from cs_score.base.sources import WHITE_SPACE, Source, decode_text
from cs_score.coldstart.converters import is_run_id
from cs_score.coldstart.tab_files import CERTAIN, line_blocks, split_comment, without_exponent
from cs_score.problems.codes import CODES, Severity
from cs_score.problems.log import Detail, Place, ProblemLog
from cs_score.verbs.knowledge_base.assertions import LINK, NAMED, NOMINAL, TYPE, Assertion, ProvenanceList

_BLOCK_SIZE: Final = 1 << 16

# Three kinds of lines: an assertion with nothing to trim or cut off, the type of a node likewise, or any other line.
# The groups are the columns of `LineColumns`. The characters are listed outright, since to exclude white space instead
# takes twice the time.
_SPAN_PATTERN: Final = r"[A-Za-z0-9_.+-]++:[0-9]++-[0-9]++"
_LINE_PATTERN: Final = re.compile(
    r'(:[A-Za-z0-9_]++)\t(?:((?!type|link)[a-z0-9_:.-]++)\t(?:(:[A-Za-z0-9_]++)|("[^\t\n#"\\]*+"))'
    rf"\t({_SPAN_PATTERN}(?:[;,](?:NIL|{_SPAN_PATTERN}))*+)(?:\t([0-9]++\.[0-9]++))?|type\t([A-Za-z.-]++)\t?)\n|(.*)\n"
)
_CONFIDENCE_PATTERN: Final = re.compile(r"\d+(?:\.\d+)?")
_STRING_PATTERN: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)

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

    `nodes_with_problems` are the names of the nodes that have an assertion with problems in its provenance.
    """

    def __init__(self, file: str, problems: ProblemLog) -> None:
        """Report problems of the file with this name to the log `problems`."""
        self.nodes_with_problems: set[str] = set()
        self._file = file
        self._problems = problems

    def place(self, line: int) -> Place:
        """Return the place of a line of the file, which messages show as "kb.tac line 12"."""
        return Place(self._file, line)

    def report(self, code: str, *arguments: object, line: int, detail: Detail | None = None) -> None:
        """Report a problem at a line.

        `code` names the kind of problem, and `arguments` complete its message. `detail` names the column and its text,
        for reports that programs read.
        """
        self._problems.add(code, *arguments, place=self.place(line), detail=detail)

    def report_without_line_in_message(self, code: str, *arguments: object, line: int, column: str = "SUBJECT") -> None:
        """Report a problem whose message does not name the line. Reports that programs read name it all the same.

        `code` names the kind of problem, and `arguments` complete its message. The first argument is the text of the
        column that has the problem; `column` is the name of that column.
        """
        column_text = str(arguments[0])
        detail = Detail(column, column_text, place=self.place(line))
        self._problems.add(code, *arguments, detail=detail)

    def report_provenance_again(self, assertion: Assertion, times: int = 1) -> None:
        """Report the problems of an assertion's provenance again, as often as `times` says.

        The reference program parses the provenance whenever it looks at the assertion. It counts the problems each
        time, and its report has these counts. To reproduce them, this method is called wherever the program looks at an
        assertion.
        """
        if assertion.provenance.problems:
            self.report_provenance(assertion.provenance, assertion.line, times, with_fatal=False)

    def report_provenance(self, provenance: ProvenanceList, line: int, times: int = 1, *, with_fatal: bool) -> None:
        """Report each problem of a provenance column, such as a span that ends before it starts, at a line.

        The reference program counts a problem whenever it parses the column; `times` is the number of times it does so.
        If `with_fatal` is true, fatal problems are reported as well; callers set it when the column is read for the
        first time.
        """
        for problem in provenance.problems:
            is_fatal = CODES[problem.code].severity is Severity.FATAL
            if is_fatal and not with_fatal:
                continue
            detail = Detail("PROVENANCE", problem.text, problem.repaired_text)
            self._problems.add(problem.code, *problem.arguments, place=self.place(line), times=times, detail=detail)


class KbLine(Record, eq=False):
    """A line that has the right number of columns for an assertion, such as `:Entity_1 per:spouse :Entity_2 D1:3-9`.

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
    """A knowledge base file. The constructor reads its first line, which has the run id; `lines` reads the others."""

    def __init__(self, source: Source, findings: KbFindings, task: str) -> None:
        """Read the first line, which should be the run id.

        If the first line is not a run id, this is reported, and `lines` reads the line again as if it were the second
        line of the file. `task` is the validation task, such as "CSKB".
        """
        self._task = task
        self._accepts_all_predicates = TASKS[task] is None
        self._findings = findings
        self._blocks = text_blocks(source)
        first_block = next(self._blocks, None)  # None if the file is empty
        self.first_line, line_feed, text_after_first_line = (first_block or "").partition("\n")
        # A comment may follow the run id, as in "run1 # our first run".
        self.run_id = self.first_line.partition("#")[0].strip(WHITE_SPACE)
        # Texts that `lines` reads before the remaining blocks.
        self._unread_texts = [text_after_first_line] if line_feed else []
        if is_run_id(self.run_id):
            return
        line_number = 0 if first_block is None else 1
        self._findings.report("MISSING_RUNID", line=line_number, detail=Detail("RUNID"))
        self.run_id = "OmittedRunID"
        # `lines` reads the whole first block, so that the first line is read once more.
        self._unread_texts = [] if first_block is None else [first_block]

    def lines(self) -> Iterator[KbLine]:
        """Yield the lines that may be assertions, and report the problems of the other lines."""
        number = 1  # the number of the line before, here of the line with the run id
        for text in chain(self._unread_texts, self._blocks):
            for columns in split_lines(text):
                number += 1
                line = self._read_line(number, columns)
                if line is not None:
                    yield line

    def _read_line(self, number: int, columns: LineColumns) -> KbLine | None:
        """Return the record of a line with these columns. If it cannot be an assertion, report this and return None.

        `columns` come from `split_lines`. A plain assertion has a predicate, and its object is in the column `node` or
        `string`. A plain type line has a `node_type` instead. For any other line, only its whole text is given.
        """
        subject, predicate, node, string, provenance, confidence, node_type, unusual_line = columns
        if node_type:
            return _type_line(number, subject, node_type)
        if not predicate:
            return self._read_unusual_line(number, unusual_line)
        # A plain assertion, as nearly all lines are. Most tasks accept all predicates: the first condition then saves
        # the call of `_is_on_task` for each line.
        if not self._accepts_all_predicates and not self._is_on_task(predicate):
            self._report_off_task(predicate, number)
            return None
        return KbLine(
            number=number,
            subject=subject,
            predicate=predicate,
            object=node or string,
            is_string=not node,
            provenance=provenance,
            confidence=confidence or CERTAIN,
        )

    def _read_unusual_line(self, number: int, text: str) -> KbLine | None:
        """Return the record of a line that is not plain: it may have a comment, blanks or too many columns.

        Return None if the line is blank, or if it cannot be an assertion. In the latter case, this is reported.
        """
        comment = ""
        if "#" in text:
            text, comment = split_comment(text)
        columns = [column.strip(WHITE_SPACE) for column in text.rstrip("\t").split("\t")]
        if not any(columns):
            return None
        columns, confidence = self._split_confidence(columns, number)
        if not self._check_columns(columns, number):
            return None
        return KbLine(
            number=number,
            subject=columns[0],
            predicate=columns[1],
            object=columns[2],
            is_string=_STRING_PATTERN.fullmatch(columns[2]) is not None,
            provenance=columns[3] if _has_provenance(columns[1]) else "",
            confidence=confidence,
            comment=comment,
        )

    def _check_columns(self, columns: list[str], number: int) -> bool:
        """Return whether a line has a predicate that the task accepts, and as many columns as this predicate needs.

        If the result is False, the problem is reported at the line with this number. `columns` are the columns before
        the confidence.
        """
        predicate = columns[1] if len(columns) > 1 else ""
        if not self._is_on_task(predicate):
            self._report_off_task(predicate, number)
            return False
        wanted_count = 4 if _has_provenance(predicate) else 3
        if len(columns) != wanted_count:
            self._findings.report("WRONG_NUM_ENTRIES", wanted_count, len(columns), line=number)
            return False
        return True

    def _split_confidence(self, columns: list[str], number: int) -> tuple[list[str], str]:
        """Return the columns before the confidence, and the confidence itself, or 1.0 if there is none.

        A confidence with an exponent is repaired ("1e-3" -> "0.001"), and reported at the line with this number.
        """
        confidence = CERTAIN
        if _CONFIDENCE_PATTERN.fullmatch(columns[-1]):
            confidence = columns[-1]
            columns = columns[:-1]
        # There may now be another confidence at the end: from "D1:3-9", "1e-3", "0.5", the 0.5 was removed above. If
        # this other confidence has an exponent, the reference program also removes it, and uses it instead: "D1:3-9"
        # and 0.001 remain.
        decimals = without_exponent(columns[-1]) if columns else None
        if decimals is None:
            return columns, confidence
        with_exponent = columns[-1]
        detail = Detail("CONFIDENCE", with_exponent, decimals)
        self._findings.report("IMPROPER_CONFIDENCE_VALUE", with_exponent, line=number, detail=detail)
        return columns[:-1], decimals

    def _is_on_task(self, predicate: str) -> bool:
        """Return whether the task accepts a predicate: CSED takes only types and mentions by name, CSKB takes all."""
        accepted = TASKS[self._task]
        return accepted is None or predicate.lower() in accepted

    def _report_off_task(self, predicate: str, line: int) -> None:
        """Report a line whose predicate the task does not accept."""
        detail = Detail("PREDICATE", predicate)
        self._findings.report("OFF_TASK_SLOT", predicate, self._task, line=line, detail=detail)


def _type_line(number: int, subject: str, node_type: str) -> KbLine:
    """Return a line that declares the type of its subject, such as `:Entity_1 type PER`. It has no provenance."""
    return KbLine(
        number=number,
        subject=subject,
        predicate=TYPE,
        object=node_type,
        is_string=False,
        provenance="",
        confidence=CERTAIN,
    )


def _has_provenance(predicate: str) -> bool:
    """Return whether lines with a predicate such as "mention.actual" have a provenance. Types and links have none."""
    name, _dot, _realis = predicate.partition(".")
    return name.lower() not in (TYPE, LINK)


LineColumns: TypeAlias = tuple[str, str, str, str, str, str, str, str]
"""The columns of a line: subject, predicate, node, string, provenance, confidence, type, and the whole unusual line.

Columns that a line does not have are empty. A tuple without names is made by the pattern itself; a record for each line
would cost 7 % of the time of a validation.
"""


def split_lines(block: str) -> list[LineColumns]:
    """Return the columns of each line in a block of lines. Columns that are missing in a line are empty.

    They are the subject, predicate, node, string, provenance, confidence, type and the text of an unusual line:

    * A plain assertion has a subject, a predicate, an object, a provenance and perhaps a confidence. The object is in
      `node` if it is a node, and in `string` if it is a quoted string.
    * A plain type line has a subject and a type.
    * Any other line is unusual, for example because it has a comment. Only its whole text is given.
    """
    return _LINE_PATTERN.findall(f"{block}\n")


def text_blocks(source: Source) -> Iterator[str]:
    """Yield the text of a file in blocks of whole lines. A byte order mark at the start of the file is dropped.

    Only a line feed ends a line. The line feed at the end of a block is left out. Raises InputError for bytes that are
    not valid UTF-8.
    """
    line_count = 0
    for block in line_blocks(source, _BLOCK_SIZE):
        text = decode_text(block, source.name, line_count)
        if line_count == 0:
            text = text.removeprefix("\ufeff")
        yield text
        line_count += block.count(b"\n") + 1  # the line feed at the end of a block is left out
