"""The runs, the leaderboard and the tables of a recorded batch, computed again from the input files found for them.
The *outcome* of a run has its scores under one policy. Its *origin* lists the inputs and options of the scoring.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from cs_score.analysis.recorded import check_task, cold_start_options, evidence_arguments, resampling_of
from cs_score.base.errors import InputError
from cs_score.base.records import replace, to_builtins
from cs_score.base.runtime import paused_garbage_collection
from cs_score.base.signature import POOL, QUERIES, RUN
from cs_score.coldstart.options import NamedPolicy
from cs_score.coldstart.output_files import ColumnLayout
from cs_score.measures import COLD_START_MODE
from cs_score.verbs.batch.batch_documents import (
    FAILED,
    BatchOverview,
    LeaderboardDocument,
    LeaderboardRow,
    Outcome,
    RunOrigin,
    WrittenFile,
)
from cs_score.verbs.batch.batch_tables import TABLES as OVERVIEW_TABLES
from cs_score.verbs.batch.batch_tables import overview_document, overview_of_outcomes, problem_table_lines, table_files
from cs_score.verbs.batch.cold_start_plan import ColdStartPlan
from cs_score.verbs.batch.evidence_plan import EvidencePlan
from cs_score.verbs.batch.folder_layout import PROBLEMS, is_page
from cs_score.verbs.batch.input_files import BatchRunFile, InputFile
from cs_score.verbs.batch.leaderboard import make_leaderboard
from cs_score.verbs.batch.overview import Overview
from cs_score.verbs.batch.plan import Plan, PreparedGold
from cs_score.verbs.batch.store import digest_files, digest_of_record
from cs_score.verbs.verify.places import FoundInput, Places
from cs_score.verbs.verify.recorded_files import RecordFile
from cs_score.verbs.verify.scoring_again import gold_of, named_inputs, only_input

if TYPE_CHECKING:
    from cs_score.statistics.resampling_settings import Resampling

# ---- Single runs


class RescoredRun(NamedTuple):
    """The outcome of a run of a batch that was scored again, and the gold against which it was scored."""

    outcome: Outcome
    gold: PreparedGold


class BatchRescorer:
    """Scores recorded runs of a batch again. Gold that several runs share is read once; each run is scored once."""

    def __init__(self, places: Places) -> None:
        """Prepare to score runs. Their inputs are looked for among `places`."""
        self._places = places
        # The keys are texts that combine the policy, the inputs and the options of a scoring.
        self._gold_by_scoring: dict[str, PreparedGold] = {}
        self._run_by_scoring: dict[str, RescoredRun] = {}

    def score(self, run: LeaderboardRow | Outcome, file: str) -> RescoredRun:
        """Score a recorded run again, unless this was done before, and return its outcome with its gold.

        `run` is its row of a leaderboard or its own record, which was read from `file`. Raises InputError if the inputs
        of the run are not recorded, NotFoundError for inputs that are missing or changed.
        """
        origin = origin_of_run(run, file)
        scoring = _key_of_scoring(run.run, run.policy, origin)
        if scoring not in self._run_by_scoring:
            with paused_garbage_collection():
                self._run_by_scoring[scoring] = self._score(run, origin, file)
        return self._run_by_scoring[scoring]

    def _score(self, run: LeaderboardRow | Outcome, origin: RunOrigin, file: str) -> RescoredRun:
        """Score a run again with the inputs and options of its `origin`, and return its outcome and its gold.

        The gold is read unless it has already been read for another run. Raises the same errors as `score`.
        """
        inputs = self._places.find(origin.inputs)
        run_input = only_input(inputs, RUN, file)
        shared_inputs = [found_input for found_input in inputs if found_input is not run_input]
        # `occurrences` are the problems of a run with their details, which are recorded only in a batch with
        # `--problems`.
        records_problems = isinstance(run, Outcome) and run.occurrences is not None
        recorded_run = _RecordedRun(origin, run.policy, file, records_problems=records_problems)
        prepared_gold = self._read_gold(recorded_run, shared_inputs)
        run_file = BatchRunFile(name=run.run, file=run_input.load())
        [scored_run] = prepared_gold.score(run_file, [run.policy])  # a single policy gives a single outcome
        outcome = scored_run.outcome
        if isinstance(run, Outcome):  # an outcome lists the files of the run, so they are made again as well
            outcome = replace(outcome, files=digest_files(scored_run.files))
        return RescoredRun(outcome, prepared_gold)

    def _read_gold(self, run: _RecordedRun, shared_inputs: Sequence[FoundInput]) -> PreparedGold:
        """Return the gold of a run, read from the inputs that it shares with other runs.

        Gold is not read again for a run with the same gold, options and policy. However, if the record of the run has
        the details of problems, gold that was read without these details cannot be used. Raises the same errors as
        `score`.
        """
        shared_origin = replace(run.origin, inputs=tuple([found_input.input_digest for found_input in shared_inputs]))
        kind_of_gold = "with details of problems" if run.records_problems else "without details"
        scoring = _key_of_scoring(kind_of_gold, run.policy_name, shared_origin)
        if scoring not in self._gold_by_scoring:
            plan = _make_plan(run, shared_inputs, is_forced=self._places.allows_long_verification)
            self._gold_by_scoring[scoring] = plan.prepare()
        return self._gold_by_scoring[scoring]


class _RecordedRun(NamedTuple):
    """The origin and the policy name of a recorded run, and the file of its record.

    If `records_problems` is true, the record lists the problems of the run with their details.
    """

    origin: RunOrigin
    policy_name: str
    file: str
    records_problems: bool


def origin_of_run(run: LeaderboardRow | Outcome, file: str) -> RunOrigin:
    """Return the recorded inputs and options of the scoring of a run.

    Raises InputError if the record, which was read from `file`, lacks them or names an unknown task.
    """
    if not run.origin:
        raise InputError(f"has no origin of the run {run.run}", file=file)
    check_task(run.origin.task, file, "origin.task")
    return run.origin


def _key_of_scoring(name: str, policy: str, origin: RunOrigin) -> str:
    """Return a text that is the same for equal names, policies and origins, for the keys of dictionaries."""
    return json.dumps([name, policy, to_builtins(origin)], sort_keys=True)


def _make_plan(run: _RecordedRun, shared_inputs: Sequence[FoundInput], *, is_forced: bool) -> Plan:
    """Return the plan of a batch that scores a run with its recorded options.

    `shared_inputs` are the inputs of all runs, such as queries and pool. Raises InputError for invalid options, and for
    very many resamples unless `is_forced`.
    """
    origin = run.origin
    resampling = resampling_of(origin.bootstrap, run.file, "origin.bootstrap", is_forced=is_forced)
    if origin.task == COLD_START_MODE:
        return _cold_start_plan(run, shared_inputs, resampling)
    options = evidence_arguments(origin.task, origin.options, run.file, "origin.options")
    gold = gold_of(origin.task, shared_inputs, run.file)
    return EvidencePlan(task=origin.task, gold=gold, options=options, resampling=resampling)


def _cold_start_plan(
    run: _RecordedRun, shared_inputs: Sequence[FoundInput], resampling: Resampling | None
) -> ColdStartPlan:
    """Return the plan of a batch that scores a Cold Start run with its recorded options.

    `shared_inputs` are the queries, the pool and the files that options name. Raises InputError for invalid options.
    """
    origin = run.origin
    options = cold_start_options(origin.options, run.file, "origin.options")
    policy = NamedPolicy(run.policy_name, options.policy, options.justifications, options.policy.texts())
    return ColdStartPlan(
        queries=_files_of_role(shared_inputs, QUERIES),
        pool=_files_of_role(shared_inputs, POOL),
        options=options,
        policies=(policy,),
        layout=ColumnLayout(origin.fields, origin.tabs),
        with_json=origin.json,
        named_files=named_inputs(options, shared_inputs, run.file),
        resampling=resampling,
        validates=origin.options.get("validate") is True,
        has_problem_details=run.records_problems,
    )


def _files_of_role(inputs: Iterable[FoundInput], role: str) -> tuple[InputFile, ...]:
    """Return the inputs that have a given role, such as `pool`, with their bytes."""
    return tuple([found_input.load() for found_input in inputs if found_input.role == role])


def rescore_run(record: RecordFile, outcome: Outcome, rescorer: BatchRescorer) -> Outcome:
    """Return the outcome of a run as it would be recorded now. `outcome` is the recorded outcome.

    Raises InputError if the run cannot be scored, and NotFoundError if inputs are missing or changed.
    """
    rescored_outcome = rescorer.score(outcome, record.file).outcome
    files = _files_to_compare(rescored_outcome.files, outcome.files)
    # The digest shows whether somebody has edited the record, so it is computed from the record as it is.
    return replace(rescored_outcome, files=files, digest=digest_of_record(record.json))


def _files_to_compare(
    rescored_files: Iterable[WrittenFile], recorded_files: Sequence[WrittenFile]
) -> tuple[WrittenFile, ...]:
    """Return the sizes and digests of a rescored run's files, with the recorded ones for files that may differ.

    The file `.params` may differ, since the words and the folder of the call are not recorded. Pages are not made
    again, since they only show verified values.
    """
    recorded_file_by_name = {file.name: file for file in recorded_files}
    files = []
    for file in rescored_files:
        if file.name.endswith(".params"):
            files.append(recorded_file_by_name.get(file.name, file))
        else:
            files.append(file)
    pages = [file for file in recorded_files if is_page(file.name)]
    return (*files, *pages)


# ---- The leaderboard and the tables of all runs

TABLES_OF_OVERVIEW: Final = tuple(OVERVIEW_TABLES)
"""The tables that cannot be computed without `batch.json`: only that file records the order of the runs."""

TABLES: Final = ("leaderboard.tsv", "leaderboard.md", "leaderboard.tex", *TABLES_OF_OVERVIEW, PROBLEMS)
"""The tables of all runs that are not JSON."""


class WholeBatch(BatchRescorer):
    """A leaderboard and, if there is one, the `batch.json` beside it (the overview), computed again from all runs that
    they record. The recorded outcomes of failed runs are taken over.

    Methods raise InputError and NotFoundError for runs that cannot be scored.
    """

    def __init__(self, places: Places, board_record: RecordFile, recorded_overview: BatchOverview | None) -> None:
        """Prepare to compute a recorded leaderboard again, and the `batch.json` in the same folder if there is one.

        Inputs are looked for among `places`.
        """
        super().__init__(places)
        self.board_record = board_record
        self.board = cast(LeaderboardDocument, board_record.members)
        self._recorded_overview = recorded_overview
        # Rows name the edition of the scorer only if the runs follow several editions.
        self._edition_by_run = {row.run: row.edition for row in self.board.rows if row.edition}
        self._has_several_editions = bool(self._edition_by_run)
        self._first_scored_row = self._first_row_with_gold_of_batch()

    def _first_row_with_gold_of_batch(self) -> LeaderboardRow | None:
        """Return the first row of a run that was scored by the edition of the batch, or None if no run was scored.

        The gold of this run is the gold of the batch. A batch may have runs that follow other editions of the scorer.
        These read gold by other rules, and are in the leaderboard but not in the overview.
        """
        scored_rows = [row for row in self.board.rows if row.state != FAILED]
        if self._recorded_overview is not None and self._has_several_editions:
            runs_of_overview = {system.run for system in self._recorded_overview.runs}
            scored_rows = [row for row in scored_rows if row.run in runs_of_overview]
        if not scored_rows:
            return None
        return scored_rows[0]

    @property
    def was_scored(self) -> bool:
        """Whether any run was scored. Otherwise no gold is recorded, and there is no overview."""
        return self._first_scored_row is not None

    @cached_property
    def rescored_board(self) -> LeaderboardDocument:
        """The leaderboard that would be recorded now."""
        headline_measures = self.board.headline
        if self.was_scored:
            headline_measures = tuple(self._gold.plan.headline())
        return make_leaderboard(
            self._ordered_outcomes, self.board.task, self.board.measure, headline_measures, self._edition_by_run
        )

    def rescored_overview_document(self) -> object:
        """Return the document of `batch.json` that would be recorded now.

        If no run was scored or no `batch.json` is recorded, there is nothing to compute, and the document has only an
        empty list of runs.
        """
        if not self.was_scored or self._recorded_overview is None:
            return {"runs": []}
        return overview_document(
            self._rescored_overview_of_runs, self.rescored_board, pages=self._recorded_overview.pages
        )

    def rescored_table(self, name: str, recorded_text: str) -> str:
        """Return the text that the table called `name`, one of TABLES, would have now.

        Failed runs are not scored again, so their problems are taken from the recorded text.
        """
        if name == PROBLEMS:
            return self._rescored_problems(recorded_text)
        content_by_name = table_files(self.rescored_board, self._rescored_overview_of_runs)
        blocks_of_bytes = content_by_name[name]
        return b"".join(blocks_of_bytes).decode()

    @cached_property
    def _gold(self) -> PreparedGold:
        """The gold of the batch, as read for the first scored run."""
        assert self._first_scored_row is not None
        return self.score(self._first_scored_row, self.board_record.file).gold

    @cached_property
    def _rescored_overview_of_runs(self) -> Overview:
        """The analyses over all runs that follow the same edition of the scorer as the first scored run."""
        assert self._first_scored_row is not None
        edition = self._edition_by_run.get(self._first_scored_row.run)
        outcomes = []
        for outcome in self._ordered_outcomes:
            if self._edition_by_run.get(outcome.run) == edition:
                outcomes.append(outcome)
        return overview_of_outcomes(outcomes, self.rescored_board, self._gold.evaluation)

    @cached_property
    def _ordered_outcomes(self) -> list[Outcome]:
        """The outcomes of all runs in the order of the batch, for each run in the order of the policies."""
        outcome_by_run_and_policy = self._outcomes_of_rows()
        policies = dict.fromkeys([policy for _, policy in outcome_by_run_and_policy])
        outcomes = []
        for run in _order_of_runs(self.board.rows, self._runs_of_recorded_overview()):
            for policy in policies:
                if (run, policy) in outcome_by_run_and_policy:
                    outcomes.append(outcome_by_run_and_policy[run, policy])
        return outcomes

    def _runs_of_recorded_overview(self) -> list[str]:
        """Return the names of the runs that are in `batch.json` and in the leaderboard, in the order of `batch.json`.

        The list is empty if there is no `batch.json`.
        """
        if self._recorded_overview is None:
            return []
        runs_of_board = {row.run for row in self.board.rows}
        runs = dict.fromkeys([system.run for system in self._recorded_overview.runs])
        return [run for run in runs if run in runs_of_board]

    def _outcomes_of_rows(self) -> dict[tuple[str, str], Outcome]:
        """Return the outcome of each run of the leaderboard, by the name of the run and the policy.

        Runs are scored again; the outcome of a failed run is the recorded one. Raises InputError for a row of another
        task, and for a policy in a task that has none.
        """
        outcome_by_run_and_policy: dict[tuple[str, str], Outcome] = {}
        for position, row in enumerate(self.board.rows):
            key = (row.run, row.policy)
            if key in outcome_by_run_and_policy:  # a file with several run ids has several rows
                continue
            self._check_row(row, position)
            if row.state == FAILED:
                outcome_by_run_and_policy[key] = _failed_outcome(row, self.board.task)
            else:
                outcome_by_run_and_policy[key] = self.score(row, self.board_record.file).outcome
        return outcome_by_run_and_policy

    def _check_row(self, row: LeaderboardRow, position: int) -> None:
        """Raise InputError for a row of another task than that of the batch, and for a policy in a task without any.

        `position` is that of the row in the leaderboard. Nothing is checked if no run of the batch was scored.
        """
        if self._first_scored_row is None:
            return
        file = self.board_record.file
        task = origin_of_run(self._first_scored_row, file).task
        if row.state != FAILED and origin_of_run(row, file).task != task:
            raise InputError(f"is not {task}", file=file, place=f"rows[{position}].origin.task")
        if row.policy and task != COLD_START_MODE:
            problem = f"is {row.policy!r}, where {task} has no policies"
            raise InputError(problem, file=file, place=f"rows[{position}].policy")

    def _rescored_problems(self, recorded_text: str) -> str:
        """Return the text that the table of problems would have now, with the runs in the recorded order.

        A failed run is not scored again. Its problems are taken from `recorded_text`, except for its remarks and the
        reason for the failure, which are made from the leaderboard.
        """
        recorded_lines_by_key = _problem_lines_by_run_and_policy(recorded_text)
        lines_by_key: dict[str, list[str]] = {run_and_policy: [] for run_and_policy in recorded_lines_by_key}
        for outcome in self._ordered_outcomes:
            computed_lines = _lines_of_problems(outcome)
            if not computed_lines:
                continue
            run_and_policy = _run_and_policy_of_problem(computed_lines[0])
            if outcome.state == FAILED:
                recorded_lines = recorded_lines_by_key.get(run_and_policy, [])
                lines_by_key[run_and_policy] = _lines_of_failed_run(recorded_lines, computed_lines)
            else:
                lines_by_key[run_and_policy] = computed_lines
        [header] = problem_table_lines([])  # a table without runs has only a header
        table_lines = [header.decode()]
        for lines in lines_by_key.values():
            table_lines += lines
        return "".join(table_lines)


def _failed_outcome(row: LeaderboardRow, task: str) -> Outcome:
    """Return the outcome of a failed run as its row of the leaderboard records it."""
    return Outcome(
        task=task,
        run=row.run,
        file=row.file,
        policy=row.policy,
        state=row.state,
        errors=row.errors,
        warnings=row.warnings,
        remarks=row.remarks,
        failure=row.failure,
    )


def _problem_lines_by_run_and_policy(table_text: str) -> dict[str, list[str]]:
    """Return the lines of the table of problems, without the header, grouped by run and policy.

    A key is the text of the first two cells: `"TIDE_KB\\tsf"`.
    """
    lines = [f"{line}\n" for line in table_text.removesuffix("\n").split("\n")]
    lines_by_run_and_policy: dict[str, list[str]] = {}
    for line in lines[1:]:  # without the header
        lines_by_run_and_policy.setdefault(_run_and_policy_of_problem(line), []).append(line)
    return lines_by_run_and_policy


def _lines_of_problems(outcome: Outcome) -> list[str]:
    """Return the lines of the table of problems about a run that was scored again, without the header."""
    lines = [line.decode() for line in problem_table_lines([outcome])]
    return lines[1:]


def _lines_of_failed_run(recorded_lines: Sequence[str], computed_lines: Sequence[str]) -> list[str]:
    """Return the lines about a run in the table of problems if the run failed and was not scored again.

    The last lines (remarks and the reason for the failure) are `computed_lines`, computed again from the leaderboard.
    The earlier lines are taken from `recorded_lines`, which has all recorded lines of the run.
    """
    kept_count = max(0, len(recorded_lines) - len(computed_lines))
    return [*recorded_lines[:kept_count], *computed_lines]


def _run_and_policy_of_problem(line: str) -> str:
    """Return the first two cells of a line of the table of problems, which are a run and a policy: `"TIDE_KB\\tsf"`."""
    cells = line.split("\t")
    return "\t".join(cells[:2])


def _order_of_runs(rows: Sequence[LeaderboardRow], known_order: Sequence[str]) -> list[str]:
    """Return the names of all runs in the order of the batch, as far as it can be told from its files.

    `known_order` has the runs listed in `batch.json`. In a leaderboard, runs with the same policy and rank are in the
    order of the batch. If these orders contradict each other, somebody has edited the files. In this case, the computed
    leaderboard differs from the recorded one whatever the order.
    """
    all_runs = [row.run for row in rows]
    sorter = TopologicalSorter[str](dict.fromkeys(all_runs, ()))
    # In each list, every run comes after the one before it. The sorter finds an order that fits all lists.
    ordered_lists = [known_order]
    ordered_lists += _runs_by_rank(rows)
    for ordered_runs in ordered_lists:
        for run, next_run in pairwise(ordered_runs):
            if run != next_run:  # a file with several run ids has several rows
                sorter.add(next_run, run)
    try:
        return list(sorter.static_order())
    except CycleError:
        return list(dict.fromkeys([*known_order, *all_runs]))


def _runs_by_rank(rows: Iterable[LeaderboardRow]) -> list[list[str]]:
    """Return lists of the runs with the same policy and rank, each list in the order of the leaderboard.

    Rows of the runs a, b and c with the ranks 1, 2 and 2 give `[["a"], ["b", "c"]]`.
    """
    runs_by_rank: dict[tuple[str, int | None], list[str]] = {}
    for row in rows:
        runs_by_rank.setdefault((row.policy, row.rank), []).append(row.run)
    return list(runs_by_rank.values())
