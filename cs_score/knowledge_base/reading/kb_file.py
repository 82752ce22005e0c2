"""The lines of a knowledge base file (specification 3.1 to 3.5)."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from cs_score.coldstart.lines.confidence import CERTAIN, without_exponent
from cs_score.coldstart.lines.reader import line_blocks, split_comment
from cs_score.foundation.errors import InputError
from cs_score.foundation.sources import Source
from cs_score.foundation.white_space import SPACE, WHITE_SPACE
from cs_score.knowledge_base.contents.assertions import LINK, NAMED, NOMINAL, TYPE
from cs_score.problems.log import Detail, Place, ProblemLog

_BLOCK: Final = 1 << 16

# A line of four columns with nothing to trim or cut off, with a confidence or without. Which characters there may be
# is said outright: to exclude white space takes twice the time.
_PLAIN_LINE: Final = re.compile(
    r'(:[A-Za-z0-9_]++)\t((?!type|link)[a-z0-9_:.-]++)\t(:[A-Za-z0-9_]++|"[^\t#"\\]*+")'
    r"\t([A-Za-z0-9_.+-]++:[A-Za-z0-9_:;,.+-]++)(?:\t([0-9]++\.[0-9]++))?"
)
_CONFIDENCE: Final = re.compile(r"\d+(?:\.\d+)?")
_NO_RUN_ID: Final = re.compile(rf":.*|.*{SPACE}.*|", re.DOTALL)

COLUMNS: Final = ("SUBJECT", "PREDICATE", "OBJECT", "PROVENANCE", "CONFIDENCE")
"""What the columns are called in reports for programs."""

OMITTED_RUN_ID: Final = "OmittedRunID"

# Task -> the predicates that it knows, None for all of them.
TASKS: Final[dict[str, frozenset[str] | None]] = {
    "CSED": frozenset((TYPE, NAMED)),
    "CSEDL": frozenset((TYPE, NAMED, NOMINAL, LINK)),
    "CSKB": None,
}


Line: TypeAlias = tuple[int, str, str, str, str, str, str]
"""A line with the right number of columns: number, subject, predicate, object, provenance, confidence, comment."""


class KbFile:
    """A knowledge base file whose first line has been read."""

    def __init__(self, source: Source, problems: ProblemLog, task: str) -> None:
        self.name = source.name
        self._task = task
        self._problems = problems
        self._texts = texts_of(source)
        first = next(self._texts, None)
        self.first_line = first or ""
        self.run_id = self.first_line.partition("#")[0].strip(WHITE_SPACE)
        self._first_number = 2
        if not is_run_id(self.run_id):
            problems.add("MISSING_RUNID", place=Place(self.name, 0 if first is None else 1), detail=Detail("RUNID"))
            self.run_id = OMITTED_RUN_ID
            if first is not None:  # the line is read once more, and is the second one by then
                self._texts = itertools.chain((first,), self._texts)

    def lines(self) -> Iterator[Line]:
        """The lines that can be assertions; what is wrong with the others is reported."""
        has_all_predicates = TASKS[self._task] is None
        for number, text in enumerate(self._texts, self._first_number):
            if has_all_predicates and (plain := _PLAIN_LINE.fullmatch(text)) is not None:
                subject, predicate, object_, provenance, confidence = plain.groups(CERTAIN)
                yield number, subject, predicate, object_, provenance, confidence, ""
            elif (line := self._read(number, text)) is not None:
                yield line

    def _read(self, number: int, text: str) -> Line | None:
        """A line of any kind; None of one that is no assertion."""
        comment = ""
        if "#" in text:
            text, comment = split_comment(text)
        columns = [column.strip(WHITE_SPACE) for column in text.rstrip("\t").split("\t")]
        if not any(columns):
            return None
        confidence = self._take_confidence(columns, number)
        predicate = columns[1] if len(columns) > 1 else ""
        legal = TASKS[self._task]
        if legal is not None and predicate.lower() not in legal:
            self._report("OFF_TASK_SLOT", predicate, self._task, line=number, detail=Detail("PREDICATE", predicate))
            return None
        expected = 3 if predicate.partition(".")[0].lower() in (TYPE, LINK) else 4
        if len(columns) != expected:
            self._report("WRONG_NUM_ENTRIES", expected, len(columns), line=number)
            return None
        subject, _, object_, *provenance = columns
        return number, subject, predicate, object_, provenance[0] if provenance else "", confidence, comment

    def _take_confidence(self, columns: list[str], number: int) -> str:
        """The confidence of a line, which is taken off its columns."""
        confidence = CERTAIN
        if _CONFIDENCE.fullmatch(columns[-1]):
            confidence = columns.pop()
        if columns and (decimals := without_exponent(columns[-1])) is not None:
            written = columns.pop()
            self._report(
                "IMPROPER_CONFIDENCE_VALUE", written, line=number, detail=Detail("CONFIDENCE", written, decimals)
            )
            confidence = decimals
        return confidence

    def _report(self, code: str, *arguments: object, line: int, detail: Detail | None = None) -> None:
        self._problems.add(code, *arguments, place=Place(self.name, line), detail=detail)


def is_run_id(text: str) -> bool:
    """Whether a text is a run id: one word that does not begin like the name of a node."""
    return _NO_RUN_ID.fullmatch(text.strip(WHITE_SPACE)) is None


def texts_of(source: Source) -> Iterator[str]:
    """The lines of a file, without a byte-order mark before the first.

    Only a line feed ends a line. Raises InputError where the bytes are not UTF-8.
    """
    return itertools.chain.from_iterable(_blocks(source))


def _blocks(source: Source) -> Iterator[list[str]]:
    number = 1
    for block in line_blocks(source, _BLOCK):
        try:
            text = block.decode("utf-8")
        except UnicodeDecodeError as error:
            line = number + block.count(b"\n", 0, error.start)
            raise InputError("not UTF-8", file=source.name, place=f"line {line}", code="NOT_UTF8") from None
        lines = (text.removeprefix("\ufeff") if number == 1 else text).split("\n")
        number += len(lines)
        yield lines
