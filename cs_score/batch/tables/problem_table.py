"""Every problem of every run of a batch: as a table, one line a place, and for programs and editors."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from cs_score.base.display import spreadsheet_cell
from cs_score.base.errors import InputError
from cs_score.base.outputs import write_whole
from cs_score.batch.store.outcomes import Outcome
from cs_score.problems.occurrences import Occurrence, merged, of_error
from cs_score.problems.reports import write_occurrences

PROBLEMS: Final = "problems.tsv"
HEADER: Final = "\t".join(("run", "policy", "severity", "code", "file", "line", "message")) + "\n"

REMARK: Final = "REMARK"
"""Code of what the scorer remarks beside its report; such rows have the severity NOTE."""

FATAL: Final = "FATAL"
"""Code of the reason why a run was not scored to its end; such rows have the severity ERROR."""


def write_problem_table(folder: str, outcomes: Sequence[Outcome]) -> None:
    """Write `problems.tsv` into the folder. Raises OutputError."""
    write_whole(os.path.join(folder, PROBLEMS), _blocks(outcomes))


def problem_lines(outcome: Outcome) -> list[str]:
    """The lines of one run under one policy."""
    return ["\t".join(map(spreadsheet_cell, (outcome.run, outcome.policy, *cells))) + "\n" for cells in _cells(outcome)]


def write_problem_report(path: str, of_gold: Iterable[Occurrence], outcomes: Iterable[Outcome]) -> None:
    """Write the problems of the shared inputs and of all runs with their details, each once. Raises OutputError."""
    found = [*of_gold]
    for outcome in outcomes:
        if outcome.occurrences is not None:
            found += outcome.occurrences
        elif outcome.failure is not None:  # its worker died, so this is all that is known
            found.append(of_error(InputError(outcome.failure, file=outcome.file)))
    write_occurrences(merged(found), path)


def _blocks(outcomes: Iterable[Outcome]) -> Iterator[bytes]:
    yield HEADER.encode()
    for outcome in outcomes:
        yield "".join(problem_lines(outcome)).encode("utf-8", "backslashreplace")


def _cells(outcome: Outcome) -> Iterator[tuple[str, str, str, str, str]]:
    for problem in outcome.problems:
        yield problem.severity, problem.code, problem.file, problem.line, problem.message.strip()
    for remark in outcome.remarks:
        yield "NOTE", REMARK, "", "", remark
    if outcome.failure is not None:
        yield "ERROR", FATAL, outcome.file, "", outcome.failure
