"""What a batch records over all its runs, computed again: its leaderboard has what each was scored from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import chain, pairwise
from typing import Final

from cs_score.analysis.many.overview import Overview
from cs_score.base.documents import Json, record_in
from cs_score.base.errors import InputError
from cs_score.base.records import replace, to_builtins
from cs_score.batch import store as state
from cs_score.batch.documents import FAILED, Leaderboard, Outcome, ProblemPlace, Row
from cs_score.batch.documents import Overview as OverviewDocument
from cs_score.batch.leaderboard import LEADERBOARD as BOARD
from cs_score.batch.leaderboard import WRITERS as BOARD_WRITERS
from cs_score.batch.leaderboard import make_leaderboard
from cs_score.batch.overview import PROBLEMS, document_of, overview_of, problem_lines
from cs_score.batch.overview import TABLES as OVERVIEW_TABLES
from cs_score.batch.plan import is_page
from cs_score.measures.registry import COLD_START_MODE
from cs_score.tables.layout import tsv
from cs_score.verification.recorded import Recorded
from cs_score.verification.rescoring import BatchedRun, BatchRuns

LEADERBOARD: Final = f"{BOARD}.json"
OVERVIEW: Final = "batch.json"

_OF_BOARD: Final = {f"{BOARD}.{ending}": text for ending, text in BOARD_WRITERS.items() if ending != "json"}

OF_OVERVIEW: Final = tuple(OVERVIEW_TABLES)
"""Tables that cannot be computed without `batch.json`, which alone has the order of the runs."""

TABLES: Final = (*_OF_BOARD, *OF_OVERVIEW, PROBLEMS)
"""The tables over all runs that are no JSON."""

Rename = Callable[[Json], Json]
"""A JSON value with files called as the record calls them."""


class WholeBatch:
    """A leaderboard, and the `batch.json` beside it, where there is one, scored again once for all that they record.

    Runs that failed are taken as they are recorded. Methods raise InputError and NotFoundError for what cannot be
    scored.
    """

    def __init__(self, board: Recorded, overview: Recorded | None, runs: BatchRuns) -> None:
        self.recorded = board
        self.board = record_in(board.value, Leaderboard, board.file)
        self._overview = None if overview is None else record_in(overview.value, OverviewDocument, overview.file)
        self._runs = runs
        self._editions = {row.run: row.edition for row in self.board.rows if row.edition}

    @property
    def was_scored(self) -> bool:
        """Whether any run was: without gold nobody knows what there is to be found."""
        return self._a_run is not None

    def failed_runs(self) -> list[str]:
        """The names of the runs that were not scored to their end."""
        return list(dict.fromkeys(row.run for row in self.board.rows if row.state == FAILED))

    def board_again(self) -> Json:
        """What the leaderboard would say now."""
        return to_builtins(self._board)

    def overview_again(self) -> Json:
        """What `batch.json` would say now; that no run was scored is all that can be said where none was."""
        if not self.was_scored or self._overview is None:
            return {"runs": []}
        return to_builtins(document_of(self._found, self._board, pages=self._overview.pages))

    def table_again(self, name: str, recorded: str, renamed: Rename) -> str:
        """What one of TABLES would say now. Problems of runs that failed are taken from `recorded`."""
        if name in OVERVIEW_TABLES:
            return b"".join(tsv(OVERVIEW_TABLES[name](self._found))).decode()
        return _OF_BOARD[name](self._board) if name in _OF_BOARD else self._problems(recorded, renamed)

    @cached_property
    def _a_run(self) -> BatchedRun | None:
        """A run that was scored, under the edition of the batch."""
        of_batch = {each.run for each in self._overview.runs} if self._overview and self._editions else None
        rows = (row for row in self.board.rows if row.state != FAILED and (of_batch is None or row.run in of_batch))
        return next(map(self._batched, rows), None)

    def _batched(self, row: Row) -> BatchedRun:
        return BatchedRun(row.run, row.policy, row.origin, self.recorded.file)

    @cached_property
    def _outcomes(self) -> dict[tuple[str, str], Outcome]:
        """The outcomes by run and policy, as the leaderboard names them."""
        found: dict[tuple[str, str], Outcome] = {}
        for at, row in enumerate(self.board.rows):
            if (row.run, row.policy) in found:
                continue
            self._check(row, f"rows[{at}]")
            if row.state == FAILED:
                found[row.run, row.policy] = Outcome(
                    task=self.board.task,
                    run=row.run,
                    file=row.file,
                    policy=row.policy,
                    state=FAILED,
                    errors=row.errors,
                    warnings=row.warnings,
                    remarks=row.remarks,
                    failure=row.failure,
                )
            else:
                found[row.run, row.policy] = self._runs.outcome(self._batched(row), with_files=False)
        return found

    def _check(self, row: Row, place: str) -> None:
        """Raises InputError for a row that cannot stand beside the others: of another task or policy."""
        if self._a_run is None:
            return
        task, file = self._a_run.made.task, self.recorded.file
        if row.state != FAILED and self._batched(row).made.task != task:
            raise InputError(f"is not {task}", file=file, place=f"{place}.origin.task")
        if task != COLD_START_MODE and row.policy:
            problem = f"is {row.policy!r}, where {task} has no policies"
            raise InputError(problem, file=file, place=f"{place}.policy")

    @cached_property
    def _policies(self) -> list[str]:
        return list(dict.fromkeys(policy for _, policy in self._outcomes))

    @cached_property
    def _in_order(self) -> list[Outcome]:
        """The outcomes run by run and policy by policy."""
        known = () if self._overview is None else [each.run for each in self._overview.runs]
        there = {run for run, _ in self._outcomes}
        order = _order(self.board.rows, [run for run in dict.fromkeys(known) if run in there])
        by_run = ((run, policy) for run in order for policy in self._policies)
        return [self._outcomes[key] for key in by_run if key in self._outcomes]

    @cached_property
    def _board(self) -> Leaderboard:
        headline = self.board.headline
        if self._a_run is not None:
            headline = tuple(self._runs.gold(self._a_run).plan.headline())
        return make_leaderboard(self._in_order, self.board.task, self.board.measure, headline, self._editions)

    @cached_property
    def _found(self) -> Overview:
        assert self._a_run is not None
        evaluation = self._runs.gold(self._a_run).prepared.evaluation
        own = self._editions.get(self._a_run.name)
        of_batch = [each for each in self._in_order if self._editions.get(each.run) == own]
        return overview_of(of_batch, self._board, evaluation)

    def _problems(self, recorded: str, renamed: Rename) -> str:
        """The table of problems, in the order of runs in which it is recorded."""
        known: dict[str, list[str]] = {}
        for line in recorded.split("\n")[1:-1]:
            known.setdefault(_owner(line), []).append(f"{line}\n")
        own: dict[str, list[str]] = {}
        for outcome in self._in_order:
            problems = tuple(ProblemPlace(*renamed(list(place))) for place in outcome.problems)
            outcome = replace(outcome, problems=problems, remarks=tuple(renamed(list(outcome.remarks))))
            lines = [line.decode() for line in problem_lines([outcome])[1:]]
            if lines:
                owner = _owner(lines[0])
                # What its leaderboard lacks of a run that failed stands before the rest.
                before = known.get(owner, [])[: -len(lines)] if outcome.state == FAILED else []
                own[owner] = [*before, *lines]
        return "".join(
            [problem_lines([])[0].decode(), *(line for owner in {**known, **own} for line in own.get(owner, ()))]
        )


def run_again(recorded: Recorded, runs: BatchRuns) -> Json:
    """What the record of one run would say now. Raises InputError, NotFoundError."""
    one = record_in(recorded.value, Outcome, recorded.file)
    run = BatchedRun(one.run, one.policy, one.origin, recorded.file, records=one.occurrences is not None)
    outcome = runs.outcome(run, with_files=True)
    sizes = {written.name: written.size for written in one.files}
    files = [
        # It holds the words and the time of the call.
        each._replace(size=sizes.get(each.name, each.size)) if each.name.endswith(".params") else each
        for each in outcome.files
    ]
    files += [written for written in one.files if is_page(written.name)]  # they only show what is verified
    return to_builtins(replace(outcome, files=tuple(files), digest=state.digest_of(recorded.value)))


def _owner(line: str) -> str:
    """The run and the policy of a line of the table of problems."""
    return "\t".join(line.split("\t", 2)[:2])


def _order(rows: Sequence[Row], known: Sequence[str]) -> list[str]:
    """The order of the runs, from `known` and from the rows of equal rank; if those contradict each other, the files
    were edited and any order shows it.
    """
    of_rank: dict[tuple[str, int | None], list[str]] = {}
    for row in rows:
        of_rank.setdefault((row.policy, row.rank), []).append(row.run)
    sorter = TopologicalSorter[str]({row.run: () for row in rows})
    for first, second in chain(pairwise(known), *map(pairwise, of_rank.values())):
        if first != second:  # a file of several run ids
            sorter.add(second, first)
    try:
        return list(sorter.static_order())
    except CycleError:
        return list(dict.fromkeys([*known, *(row.run for row in rows)]))
