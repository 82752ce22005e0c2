"""Recorded results computed again from the files found for them: scores, runs of a batch, what a batch says of all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from msgspec import UNSET

from cs_score.analysis.many.overview import Overview
from cs_score.base.errors import InputError
from cs_score.base.records import replace, to_builtins
from cs_score.base.runtime import paused_collector
from cs_score.base.signature import GOLD, POOL, QUERIES, QUERY_LIST, RUN, SAMPLES
from cs_score.base.sources import Input
from cs_score.batch.coldstart import ColdStartPlan
from cs_score.batch.documents import FAILED, Leaderboard, Outcome, Row, RunOrigin
from cs_score.batch.documents import Overview as OverviewDocument
from cs_score.batch.leaderboard import make_leaderboard
from cs_score.batch.plan import EvidencePlan, InputFile, Plan, Prepared, RunFile, is_page
from cs_score.batch.store import digest_of, written_files
from cs_score.batch.tables import PROBLEMS, document_of, files_of, overview_of, problem_lines
from cs_score.batch.tables import TABLES as OVERVIEW_TABLES
from cs_score.coldstart import documents as cold_start
from cs_score.coldstart.converters import converter_for
from cs_score.coldstart.gold import Gold, Run, open_gold, with_pool
from cs_score.coldstart.linking import kind_of
from cs_score.coldstart.options import APART, NamedPolicy, Options
from cs_score.coldstart.outputs import Layout, file_blocks
from cs_score.coldstart.result import Result
from cs_score.coldstart.scorer import OneRun, runs_of, score_apart, score_runs
from cs_score.coldstart.unit_statistics import intervals as cold_start_intervals
from cs_score.evidence.mode import intervals as evidence_intervals
from cs_score.evidence.report import document_of as evidence_document
from cs_score.evidence.report import result_object
from cs_score.measures.registry import COLD_START_MODE
from cs_score.preparation.inputs import PreparationSettings, prepare_inputs
from cs_score.preparation.runs import load_prepared
from cs_score.problems.log import ProblemLog
from cs_score.tasks import mode_named
from cs_score.verification.recorded import (
    FoundInput,
    Head,
    Places,
    Recorded,
    check_task,
    cold_start_options,
    evidence_arguments,
    resampling_of,
)

if TYPE_CHECKING:
    from cs_score.statistics.options import Resampling
    from cs_score.statistics.results import ScoreIntervals


class RunsAgain(NamedTuple):
    """Runs as they are scored now, with the intervals that the record has, too."""

    result: Result
    intervals: Sequence[ScoreIntervals]

    def document(self, head: Head) -> object:
        """Return the document that the record would be now."""
        if not head.measures:
            return cold_start.document_of(self.result, self.intervals)
        whole = cold_start.document_of(self.result, self.intervals, ())
        return cold_start.chosen_scores(whole, head.measures, head.measure)

    def file_texts(self, layout: Layout, params: str) -> dict[str, str]:
        """Return the text of each file that the call wrote beside the document, by its ending."""
        return {
            ending: b"".join(blocks).decode("utf-8", "surrogateescape")
            for ending, blocks in file_blocks(self.result, layout, params, self.intervals)
        }


def runs_again(recorded: Recorded, head: Head, places: Places) -> RunsAgain:
    """Score the runs of a record again. Raises InputError, NotFoundError for inputs, ScoringStopped."""
    found = places.find(head.origin.inputs)
    resampling = _resampling_of(recorded, head, places)
    with paused_collector():
        result = _cold_start(head.origin.options, found, recorded.file)
        intervals: Sequence[ScoreIntervals] = ()
        if resampling is not None:
            intervals = cold_start_intervals(result, resampling)
    return RunsAgain(result, intervals)


def predictions_again(recorded: Recorded, head: Head, places: Places) -> object:
    """Return the document that recorded scores of predictions would be now. Raises InputError, NotFoundError."""
    file = recorded.file
    found = places.find(head.origin.inputs)
    resampling = _resampling_of(recorded, head, places)
    arguments = evidence_arguments(head.task, head.origin.options, file, recorded.inside("origin.options"))
    with paused_collector():
        mode = mode_named(head.task)
        gold: Input | None = None
        if mode.needs_gold or any(each.recorded.role == GOLD for each in found):
            gold = _the_one(found, GOLD, file, recorded.inside("origin.inputs")).held().open()
        predictions = _the_one(found, RUN, file, recorded.inside("origin.inputs")).held().open()
        scored = mode.score(gold, predictions, **arguments)
        intervals = None if resampling is None else evidence_intervals(scored, resampling)
        write = result_object if recorded.place else evidence_document
        return write(scored, intervals, with_units=head.units is not UNSET)


def _resampling_of(recorded: Recorded, head: Head, places: Places) -> Resampling | None:
    """Return the settings of the intervals of recorded scores; None where there are none. Raises InputError."""
    place = recorded.inside("origin.options.bootstrap")
    return resampling_of(head.origin.options.get("bootstrap"), recorded.file, place, is_forced=places.is_forced)


def _the_one(found: Sequence[FoundInput], role: str, file: str, place: str = "origin.inputs") -> FoundInput:
    """The input that has a role which one input has. Raises InputError for another number."""
    of_role = [each for each in found if each.recorded.role == role]
    if len(of_role) != 1:
        raise InputError(f"has {len(of_role)} of the role {role}", file=file, place=place)
    return of_role[0]


def _cold_start(options: Mapping[str, object], found: Sequence[FoundInput], file: str) -> Result:
    """The result of a call of the scorer with these options and inputs, in their order."""
    asked, validated = cold_start_options(options, file, "origin.options"), options.get("validate") is True
    held = {role: given.open() for role, given in _named(asked, found, file).items()}

    def of(*roles: str) -> list[Input]:
        return [each.held().open() for each in found if each.recorded.role in roles]

    def loaded(gold: Gold, files: Sequence[Input], problems: ProblemLog | None = None) -> Run:
        known = [file for file in files if _is_knowledge_base(file)]
        limits = gold.options.justifications
        settings = PreparationSettings(gold.table, limits, validated, alone=gold.alone)
        prepared = prepare_inputs(files, settings, known)
        return load_prepared(gold, prepared, problems=problems)

    def loaded_alone(gold: Gold, run: OneRun, pool: Sequence[Input], problems: ProblemLog) -> Run:
        return loaded(run.over(gold), [*pool, run.file], problems)

    is_apart = APART in options
    gold = open_gold(
        of(QUERIES), replace(asked, runids=None) if is_apart else asked, file_by_role=held, validates=validated
    )
    if not is_apart:
        return score_runs(loaded(gold, of(POOL, RUN)), asked.policy)
    gold, files = with_pool(gold, of(POOL)), of(RUN)
    runs = runs_of(files, [file for file in files if _is_knowledge_base(file)], asked.runids)
    return score_apart(gold, runs, gold.problems.branch(), loaded_alone)


def _named(options: Options, found: Sequence[FoundInput], file: str) -> dict[str, InputFile]:
    """The inputs that options name, by role. Raises InputError where options name a file, or anything else on the disk,
    that is none of the inputs.
    """
    held = {each.recorded.role: each.held() for each in found if each.recorded.role in (QUERY_LIST, SAMPLES)}
    for name, option, role in (("queries", options.queries, QUERY_LIST), ("samples", options.samples, SAMPLES)):
        if option is not None and role not in held and os.path.lexists(option.replace("\0", "")):
            problem = f"names a file that is no input of the role {role}, so that it is not opened"
            raise InputError(problem, file=file, place=f"origin.options.{name}")
    return held


def _is_knowledge_base(file: Input) -> bool:
    """Whether it looks like one, or is neither a run nor assessments by its first line: then it was one, too."""
    if converter_for(file) is not None:
        return True
    try:
        kind_of(file)
    except InputError:
        return True
    return False


class BatchRuns:
    """Scores runs again as a batch does; gold is read once for those that share it, and each run is scored once."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._prepared: dict[str, Prepared] = {}
        self._scored: dict[str, tuple[Outcome, Prepared]] = {}

    def score(self, run: Row | Outcome, file: str) -> tuple[Outcome, Prepared]:
        """What becomes now of a run that `file` records, and what it is scored with; a record of its own says what its
        files are. Raises InputError where nothing says what the run was made from, NotFoundError.
        """
        made = origin_in(run, file)
        key = _key(run.run, run.policy, made)
        if key in self._scored:
            return self._scored[key]
        with paused_collector():
            found = self._places.find(made.inputs)
            of_run = _the_one(found, RUN, file)
            shared = [each for each in found if each is not of_run]
            records = isinstance(run, Outcome) and run.occurrences is not None
            gold = _key(str(records), run.policy, replace(made, inputs=tuple(each.recorded for each in shared)))
            if gold not in self._prepared:
                is_forced = self._places.is_forced
                resampling = resampling_of(made.bootstrap, file, "origin.bootstrap", is_forced=is_forced)
                plan = _plan(made, run.policy, shared, file, resampling=resampling, records=records)
                self._prepared[gold] = plan.prepare()
            (scored,) = self._prepared[gold].score(RunFile(run.run, of_run.held()), [run.policy])
            outcome = scored.outcome
            if isinstance(run, Outcome):
                outcome = replace(outcome, files=written_files(scored.files))
        self._scored[key] = outcome, self._prepared[gold]
        return self._scored[key]


def origin_in(run: Row | Outcome, file: str) -> RunOrigin:
    """What a run was made from. Raises InputError where nothing says it."""
    if not run.origin:
        raise InputError(f"has no origin of the run {run.run}", file=file)
    check_task(run.origin.task, file, "origin.task")
    return run.origin


def _key(name: str, policy: str, made: RunOrigin) -> str:
    return json.dumps([name, policy, to_builtins(made)], sort_keys=True)


def _plan(
    made: RunOrigin,
    policy: str,
    shared: Sequence[FoundInput],
    file: str,
    *,
    resampling: Resampling | None,
    records: bool,
) -> Plan:
    """Return the plan of a batch whose runs were made so."""
    if made.task != COLD_START_MODE:
        arguments = evidence_arguments(made.task, made.options, file, "origin.options")
        has_gold = mode_named(made.task).needs_gold or any(each.recorded.role == GOLD for each in shared)
        gold = _the_one(shared, GOLD, file).held() if has_gold else None
        return EvidencePlan(task=made.task, gold=gold, options=arguments, resampling=resampling)
    asked = cold_start_options(made.options, file, "origin.options")
    return ColdStartPlan(
        queries=tuple(each.held() for each in shared if each.recorded.role == QUERIES),
        pool=tuple(each.held() for each in shared if each.recorded.role == POOL),
        options=asked,
        policies=(NamedPolicy(policy, asked.policy, asked.justifications, asked.policy.texts()),),
        layout=Layout(made.fields, made.tabs),
        with_json=made.json,
        named=_named(asked, shared, file),
        resampling=resampling,
        validates=made.options.get("validate") is True,
        records=records,
    )


def run_again(recorded: Recorded, one: Outcome, runs: BatchRuns) -> Outcome:
    """What the record of one run would say now. Raises InputError, NotFoundError."""
    outcome, _ = runs.score(one, recorded.file)
    recorded_by_name = {written.name: written for written in one.files}
    files = []
    for written in outcome.files:
        if written.name.endswith(".params"):  # it holds the words and the folder of the call, which nobody knows
            written = recorded_by_name.get(written.name, written)
        files.append(written)
    files += [written for written in one.files if is_page(written.name)]  # they only show what is verified
    return replace(outcome, files=tuple(files), digest=digest_of(recorded.value))


# ---- What is over all runs

OF_OVERVIEW: Final = tuple(OVERVIEW_TABLES)
"""Tables that cannot be computed without `batch.json`, which alone has the order of the runs."""

TABLES: Final = ("leaderboard.tsv", "leaderboard.md", "leaderboard.tex", *OF_OVERVIEW, PROBLEMS)
"""The tables over all runs that are no JSON."""


class WholeBatch(BatchRuns):
    """A leaderboard, and the `batch.json` beside it, where there is one, computed again from all that they record. Runs
    that failed are taken as they are recorded. Methods raise InputError and NotFoundError for what cannot be scored.
    """

    def __init__(self, places: Places, recorded: Recorded, overview: OverviewDocument | None) -> None:
        super().__init__(places)
        self.recorded, self.board = recorded, cast(Leaderboard, recorded.made)
        self._overview = overview
        self._editions = {row.run: row.edition for row in self.board.rows if row.edition}
        of_batch = {each.run for each in overview.runs} if overview and self._editions else None
        scored = (row for row in self.board.rows if row.state != FAILED)
        self._first = next((row for row in scored if of_batch is None or row.run in of_batch), None)

    @property
    def was_scored(self) -> bool:
        """Whether any run was: without gold nobody knows what there is to be found."""
        return self._first is not None

    def overview_again(self) -> object:
        """What `batch.json` would say now; that no run was scored is all that can be said where none was."""
        if not self.was_scored or self._overview is None:
            return {"runs": []}
        return document_of(self._found, self.board_again, pages=self._overview.pages)

    def table_again(self, name: str, recorded: str) -> str:
        """What one of TABLES would say now. Problems of runs that failed are taken from `recorded`."""
        if name == PROBLEMS:
            return self._problems(recorded)
        return b"".join(files_of(self.board_again, self._found)[name]).decode()

    @cached_property
    def _in_order(self) -> list[Outcome]:
        """The outcomes run by run and policy by policy."""
        found: dict[tuple[str, str], Outcome] = {}
        file, first = self.recorded.file, self._first
        task = None if first is None else origin_in(first, file).task
        for at, row in enumerate(self.board.rows):
            if (row.run, row.policy) in found:
                continue
            if task is not None and row.state != FAILED and origin_in(row, file).task != task:
                raise InputError(f"is not {task}", file=file, place=f"rows[{at}].origin.task")
            if task not in (None, COLD_START_MODE) and row.policy:
                problem = f"is {row.policy!r}, where {task} has no policies"
                raise InputError(problem, file=file, place=f"rows[{at}].policy")
            if row.state == FAILED:
                names = ("run", "file", "policy", "state", "errors", "warnings", "remarks", "failure")
                as_recorded = {name: getattr(row, name) for name in names}
                found[row.run, row.policy] = Outcome(task=self.board.task, **as_recorded)
            else:
                found[row.run, row.policy], _ = self.score(row, file)
        there = {run for run, _ in found}
        known = dict.fromkeys(each.run for each in self._overview.runs) if self._overview else {}
        policies = dict.fromkeys(policy for _, policy in found)
        order = _order(self.board.rows, [run for run in known if run in there])
        return [found[run, policy] for run in order for policy in policies if (run, policy) in found]

    @cached_property
    def board_again(self) -> Leaderboard:
        """What the leaderboard would say now."""
        headline = tuple(self._gold.plan.headline()) if self.was_scored else self.board.headline
        return make_leaderboard(self._in_order, self.board.task, self.board.measure, headline, self._editions)

    @cached_property
    def _gold(self) -> Prepared:
        assert self._first is not None
        return self.score(self._first, self.recorded.file)[1]

    @cached_property
    def _found(self) -> Overview:
        assert self._first is not None
        own = self._editions.get(self._first.run)
        of_batch = [each for each in self._in_order if self._editions.get(each.run) == own]
        return overview_of(of_batch, self.board_again, self._gold.evaluation)

    def _problems(self, recorded: str) -> str:
        """The table of problems, in the order of runs in which it is recorded."""
        known = _by_run(f"{line}\n" for line in recorded.split("\n")[1:-1])
        own = {owner: list[str]() for owner in known}
        for outcome in self._in_order:
            for owner, lines in _by_run(line.decode() for line in problem_lines([outcome])[1:]).items():
                # What its leaderboard lacks of a run that failed stands before the rest.
                before = known.get(owner, [])[: -len(lines)] if outcome.state == FAILED else []
                own[owner] = [*before, *lines]
        return "".join([problem_lines([])[0].decode(), *chain.from_iterable(own.values())])


def _by_run(lines: Iterable[str]) -> dict[str, list[str]]:
    """Lines of the table of problems by run and policy, which are their first cells."""
    found: dict[str, list[str]] = {}
    for line in lines:
        found.setdefault("\t".join(line.split("\t", 2)[:2]), []).append(line)
    return found


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
