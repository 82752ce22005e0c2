"""What is found in a knowledge base, on its way to the log of problems."""

from __future__ import annotations

from cs_score.knowledge_base.contents.assertions import Assertion
from cs_score.knowledge_base.contents.provenance_lists import ProvenanceList
from cs_score.problems.codes import CODES, Severity
from cs_score.problems.log import Detail, Place, ProblemLog


class Findings:
    """Reports problems of one file by line."""

    def __init__(self, file: str, problems: ProblemLog) -> None:
        self.troubled: set[str] = set()
        """Names of the nodes that have an assertion whose provenance has problems."""
        self._file = file
        self._problems = problems

    def place(self, line: int) -> Place:
        """A line of the file."""
        return Place(self._file, line)

    def report(self, code: str, *arguments: object, line: int | None = None, detail: Detail | None = None) -> None:
        """Report a problem, at a line if it belongs to one."""
        self._problems.add(code, *arguments, place=None if line is None else self.place(line), detail=detail)

    def report_without_place(self, code: str, *arguments: object, line: int, column: str = "SUBJECT") -> None:
        """Report a problem that the report names no place for; programs are told the line to begin with."""
        self._problems.add(code, *arguments, detail=Detail(column, str(arguments[0]), place=self.place(line)))

    def read(self, provenance: ProvenanceList, node: str, line: int, *, again: bool = False) -> None:
        """Report the problems of a provenance of a node that is read for the first time, or `again`."""
        self.troubled.add(node)
        self._report_spans(provenance, line, 1, with_fatal=not again)

    def look(self, assertion: Assertion, times: int = 1) -> None:
        """Report the problems of an assertion's provenance once more.

        The reference parses it anew whenever it looks at it, and counts what it finds (specification 7).
        """
        if assertion.provenance.problems:
            self._report_spans(assertion.provenance, assertion.line, times, with_fatal=False)

    def _report_spans(self, provenance: ProvenanceList, line: int, times: int, *, with_fatal: bool) -> None:
        for code, arguments, text, repaired in provenance.problems:
            if with_fatal or CODES[code].severity is not Severity.FATAL:
                self._problems.add(
                    code, *arguments, place=self.place(line), times=times,
                    detail=Detail("PROVENANCE", text, repaired),
                )  # fmt: skip
