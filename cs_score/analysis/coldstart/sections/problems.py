"""What was wrong with the input, by code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.records import Record
from cs_score.problems.log import ProblemLog


class ProblemRow(Record):
    """Problems of one code: how often they were met, and the message of the first one."""

    code: str
    severity: str
    count: int
    message: str

    def as_json(self) -> dict[str, object]:
        """The row as a JSON object."""
        return {"code": self.code, "severity": self.severity, "count": self.count, "message": self.message}


def problems_of(scored: Scored) -> Sequence[ProblemRow]:
    """The problems of all that was read and of the queries that were scored, by code."""
    rows: dict[str, ProblemRow] = {}
    for log in _logs(scored):
        for problem in log:
            before = rows.get(problem.code)
            count = problem.occurrences + (0 if before is None else before.count)
            message = problem.message.strip() if before is None else before.message
            rows[problem.code] = ProblemRow(problem.code, str(problem.severity), count, message)
    return [rows[code] for code in sorted(rows)]


def _logs(scored: Scored) -> Iterator[ProblemLog]:
    yield scored.run.problems
    for unit in scored.result.units:
        yield unit.problems
        yield from (query.problems for query in unit.queries)
