"""What a batch tells over all its runs, computed again: its leaderboard records what each was scored from."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import chain, pairwise
from typing import Final

from cs_score.analysis.many.overview import Overview
from cs_score.base.documents import Json
from cs_score.base.records import replace
from cs_score.batch.store.outcomes import FAILED, Outcome, ProblemPlace
from cs_score.batch.tables.leaderboard import Leaderboard, make_leaderboard, with_standings
from cs_score.batch.tables.leaderboard_writers import LEADERBOARD as BOARD
from cs_score.batch.tables.leaderboard_writers import WRITERS as BOARD_WRITERS
from cs_score.batch.tables.leaderboard_writers import leaderboard_json
from cs_score.batch.tables.many import overview_of
from cs_score.batch.tables.many_writers import WRITERS as OVERVIEW_WRITERS
from cs_score.batch.tables.many_writers import as_json
from cs_score.batch.tables.problem_table import HEADER, PROBLEMS, problem_lines
from cs_score.measures.registry import COLD_START_MODE
from cs_score.verification.batches import BatchedRun, BatchRuns
from cs_score.verification.differences import Difference, shown
from cs_score.verification.recorded import Kind, Recorded
from cs_score.verification.told import Told

LEADERBOARD: Final = f"{BOARD}.json"
OVERVIEW: Final = "batch.json"

_OF_BOARD: Final = {f"{BOARD}.{ending}": text for ending, text in BOARD_WRITERS.items() if ending != "json"}

OF_OVERVIEW: Final = tuple(OVERVIEW_WRITERS)
"""Tables that cannot be computed without `batch.json`, which alone tells the order of the runs."""

TABLES: Final = (*_OF_BOARD, *OF_OVERVIEW, PROBLEMS)
"""The tables over all runs that are no JSON."""

_LARGEST: Final = 1 << 62

Rename = Callable[[Json], Json]
"""A JSON value with files called as the record calls them."""


class WholeBatch:
    """A leaderboard, and the `batch.json` beside it, where there is one, scored again once for all that they tell.

    Runs that failed are taken as they are told. Methods raise InputError and NotFoundError for what cannot be scored.
    """

    def __init__(self, board: Told, overview: Told | None, runs: BatchRuns) -> None:
        self.told = board
        self._overview = overview
        self._runs = runs

    @property
    def was_scored(self) -> bool:
        """Whether any run was: without gold nobody knows what there is to be found."""
        return self._a_run is not None

    def failed_runs(self) -> list[str]:
        """The names of the runs that were not scored to their end."""
        rows = self.told["rows"].entries()
        return list(dict.fromkeys(row["run"].text() for row in rows if row["state"].text() == FAILED))

    def board_again(self) -> Json:
        """What the leaderboard would say now."""
        return json.loads(leaderboard_json(self._board))

    def overview_again(self, told: Told) -> Json:
        """What `batch.json` would say now; that no run was scored is all that can be said where none was."""
        if not self.was_scored:
            return {"runs": []}
        return as_json(self._found, self._board, with_pages=told["pages"].flag())

    def table_again(self, name: str, recorded: str, renamed: Rename) -> str:
        """What one of TABLES would say now. Problems of runs that failed are taken from `recorded`."""
        if name in OVERVIEW_WRITERS:
            return "".join(OVERVIEW_WRITERS[name](self._found))
        return _OF_BOARD[name](self._board) if name in _OF_BOARD else self._problems(recorded, renamed)

    @cached_property
    def _a_run(self) -> BatchedRun | None:
        rows = self.told["rows"].entries()
        return next((_batched(row) for row in rows if row["state"].text() != FAILED), None)

    @cached_property
    def _outcomes(self) -> dict[tuple[str, str], Outcome]:
        """The outcomes by run and policy, as the leaderboard names them."""
        found: dict[tuple[str, str], Outcome] = {}
        for row in self.told["rows"].entries():
            run = _batched(row)
            if (run.name, run.policy) in found:
                continue
            is_failed = row["state"].text() == FAILED
            self._check(row, is_failed)
            found[run.name, run.policy] = _failed(row) if is_failed else self._runs.outcome(run, with_files=False)
        return found

    def _check(self, row: Told, is_failed: bool) -> None:
        """Raises InputError for a row that cannot stand beside the others: of another mode or policy."""
        if self._a_run is None:
            return
        mode = self._a_run.made_from["mode"].text()
        if not is_failed:
            row["made_from"]["mode"].text((mode,))
        if mode != COLD_START_MODE and row["policy"].text():
            raise row["policy"].wrong(f"is {shown(row['policy'].value)}, where {mode} has no policies")

    @cached_property
    def _policies(self) -> list[str]:
        return list(dict.fromkeys(policy for _, policy in self._outcomes))

    @cached_property
    def _in_order(self) -> list[Outcome]:
        """The outcomes run by run and policy by policy."""
        known = () if self._overview is None else [run["run"].text() for run in self._overview["runs"].entries()]
        there = {run for run, _ in self._outcomes}
        order = _order(self.told["rows"].entries(), [run for run in dict.fromkeys(known) if run in there])
        by_run = ((run, policy) for run in order for policy in self._policies)
        return [self._outcomes[key] for key in by_run if key in self._outcomes]

    @cached_property
    def _board(self) -> Leaderboard:
        headline = () if self._a_run is None else self._runs.gold(self._a_run).plan.headline()
        return with_standings(make_leaderboard(self._in_order, self._policies, self.told["sorted_by"].text(), headline))

    @cached_property
    def _found(self) -> Overview:
        assert self._a_run is not None
        evaluation = self._runs.gold(self._a_run).prepared.evaluation
        return overview_of(self._in_order, self._policies, self._board, evaluation)

    def _problems(self, recorded: str, renamed: Rename) -> str:
        """The table of problems, in the order of runs in which it is recorded."""
        told: dict[str, list[str]] = {}
        for line in recorded.split("\n")[1:-1]:
            told.setdefault(_owner(line), []).append(f"{line}\n")
        own: dict[str, list[str]] = {}
        for outcome in self._in_order:
            problems = tuple(ProblemPlace(*renamed(list(place))) for place in outcome.problems)
            lines = problem_lines(replace(outcome, problems=problems, remarks=tuple(renamed(list(outcome.remarks)))))
            if lines:
                owner = _owner(lines[0])
                # What its leaderboard does not tell of a run that failed stands before the rest.
                before = told.get(owner, [])[: -len(lines)] if outcome.state == FAILED else []
                own[owner] = [*before, *lines]
        return "".join([HEADER, *(line for owner in {**told, **own} for line in own.get(owner, ()))])


def misplaced_runs(folder: str, records: Sequence[Recorded]) -> dict[str, list[Difference]]:
    """Where the folders of runs are not those of the leaderboard: swapped, missing or added; by the file concerned."""
    board = next((record for record in records if record.kind is Kind.LEADERBOARD), None)
    rows = [] if board is None else board.told["rows"].entries()
    has_policies = len({row["policy"].text() for row in rows}) > 1
    of_board = {
        (row["policy"].text(), row["run"].text()): row["made_from"].value
        for row in rows
        if row["state"].text() != FAILED
    }
    found: dict[str, list[Difference]] = {}
    missing = dict(of_board)
    for record in records:
        if record.kind is not Kind.BATCH_RUN:
            continue
        differences = found.setdefault(record.file, [])
        place = os.path.relpath(os.path.dirname(record.file), folder)
        policy, run = record.told["policy"].text(), record.told["run"].text()
        places = (
            [run, os.path.join(policy, run)] if board is None else [os.path.join(policy if has_policies else "", run)]
        )
        if place not in places:
            differences.append(Difference(f"the run in the folder {place}", shown(run), f"belongs into {places[-1]}"))
        elif missing.pop((policy, run), None) is None and board is not None:
            differences.append(Difference(f"the folder {place}", "a run", f"none that {LEADERBOARD} lists as scored"))
        elif board is not None and of_board[policy, run] != record.told["signature"].value:
            differences.append(Difference("signature", "another one", f"that of {LEADERBOARD}"))
    if board is not None:
        found[board.file] = [
            Difference(f"the folder of the run {run}{f' under {policy}' if policy else ''}", "scored", "no such folder")
            for policy, run in missing
        ]
    return found


def _owner(line: str) -> str:
    """The run and the policy of a line of the table of problems."""
    return "\t".join(line.split("\t", 2)[:2])


def _order(rows: Sequence[Told], known: Sequence[str]) -> list[str]:
    """The runs in an order that the batch may have had: as `known`, and as rows of equal rank stand.

    What does not follow from these shows nowhere. Where they contradict each other something was changed, which any
    order shows.
    """
    of_rank: dict[str, list[str]] = {}
    for row in rows:
        rank = row.get("rank")
        standing = json.dumps([row["policy"].text(), None if rank is None else rank.value])
        of_rank.setdefault(standing, []).append(row["run"].text())
    sorter = TopologicalSorter[str]({row["run"].text(): () for row in rows})
    for first, second in chain(pairwise(known), *map(pairwise, of_rank.values())):
        if first != second:  # a file of several run ids
            sorter.add(second, first)
    try:
        return list(sorter.static_order())
    except CycleError:
        return list(dict.fromkeys([*known, *(row["run"].text() for row in rows)]))


def _batched(row: Told) -> BatchedRun:
    return BatchedRun(row["run"].text(), row["policy"].text(), row["made_from"])


def _failed(row: Told) -> Outcome:
    return Outcome(
        run=row["run"].text(),
        file=row["file"].text(),
        policy=row["policy"].text(),
        state=FAILED,
        errors=row["errors"].whole_number(0, _LARGEST),
        warnings=row["warnings"].whole_number(0, _LARGEST),
        remarks=row["remarks"].texts(),
        failure=row["failure"].optional_text(),
    )
