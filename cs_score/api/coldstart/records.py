"""The rows of a Cold Start result as plain records: one kind for each thing that a table can be about.

The fields of a record are the columns of the frame of that kind, in this order. Counts and scores are those of the
output files; scores are not rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class TableRow(NamedTuple):
    """One row of a score table, without the averages: a query or a class of its answers (specification 8 and 10.3).

    `table` is `SF`, `LDC-MAX` or `LDC-MEAN`, `level` the hop as text. The counts are numbers of responses, but for
    `ground_truth`, the number of classes to be found; rows of `LDC-MEAN` are means and have none. `precision`, `recall`
    and `f1` lie between 0 and 1.
    """

    run_id: str
    table: str
    name: str
    level: str
    ground_truth: int | None
    submitted: int | None
    correct: int | None
    incorrect: int | None
    inexact: int | None
    incorrect_parent: int | None
    unassessed: int | None
    redundant: int | None
    right: int | None
    wrong: int | None
    ignored: int | None
    precision: float
    recall: float
    f1: float


class QueryRow(NamedTuple):
    """One slot-filling query with all its rows of the SF table added up.

    `unit` is the LDC query that it comes from where that is known, else the query itself; units are what resampling
    draws. `precision`, `recall` and `f1` (0 to 1) are those of the counts, over all hops; `average_precision` is that
    of all hops, None where there is no ranking.
    """

    run_id: str
    query: str
    unit: str
    ground_truth: int
    submitted: int
    correct: int
    incorrect: int
    inexact: int
    incorrect_parent: int
    unassessed: int
    redundant: int
    right: int
    wrong: int
    ignored: int
    precision: float
    recall: float
    f1: float
    average_precision: float | None


class ResponseRow(NamedTuple):
    """One line of the run that was counted, and what it counted as (specification 7 and 10.5).

    `row` is the query or class below which it counts, `query` the query that it answers; `line` is its number in
    `file`, from 1. `node` is its node with the query before it, None in layouts without nodes. `confidence` is that of
    the line. The assessment is given by its file, line and equivalence class (all None where there is none).
    `pre_policy` is the category before the policies, `post_policy` what they made of it, with commas between several.
    """

    run_id: str
    row: str
    query: str
    file: str
    line: int
    node: str | None
    value: str
    confidence: float
    assessment_file: str | None
    assessment_line: int | None
    assessment_class: str | None
    pre_policy: str
    post_policy: str


class RankingRow(NamedTuple):
    """One node in the ranking of a query at a level; a ranking without nodes has one record without `rank` (9).

    `level` is a hop or `ALL`; `average_precision` and `ground_truth`, the number that it is divided by (None where the
    slot is unknown), are those of the whole ranking. `rank` counts from 1; `value` (V) is what the node adds, at least
    0; `mapped_class` is None where no class was free; `line` is the number of its first line.
    """

    run_id: str
    query: str
    level: str
    average_precision: float
    ground_truth: int | None
    rank: int | None
    node: str | None
    confidence: float | None
    mapped_class: str | None
    value: float | None
    line: int | None


class ProblemRow(NamedTuple):
    """One problem at one place (12).

    `occurrences` counts all places of the message; `line` is a number, or text such as `In query CSX_0001` where the
    place is no line.
    """

    code: str
    severity: str
    message: str
    occurrences: int
    file: str | None
    line: int | str | None


RECORDS: Final[Mapping[str, type[TableRow | QueryRow | ResponseRow | RankingRow | ProblemRow]]] = {
    "rows": TableRow,
    "queries": QueryRow,
    "responses": ResponseRow,
    "rankings": RankingRow,
    "problems": ProblemRow,
}
"""The kinds of records of a Cold Start result, by the name that `rows` and `to_frame` take."""
