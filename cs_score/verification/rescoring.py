"""Results scored again from the files that were found for them: single ones, and runs of a batch as the batch does."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from msgspec import UNSET, UnsetType

from cs_score.analysis.evidence.task import EvidenceTask
from cs_score.base.documents import Json
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace, to_builtins
from cs_score.base.runtime import paused_collector
from cs_score.base.signature import GOLD, POOL, QUERIES, QUERY_LIST, RUN, SAMPLES
from cs_score.base.sources import InMemory, Input
from cs_score.batch import store as state
from cs_score.batch.coldstart import ColdStartPlan
from cs_score.batch.documents import Outcome, RunOrigin
from cs_score.batch.evidence import EvidencePlan
from cs_score.batch.plan import Plan, Prepared
from cs_score.batch.runs import InputFile, RunFile
from cs_score.coldstart.documents import chosen_scores
from cs_score.coldstart.documents import document_of as cold_start_document
from cs_score.coldstart.gold import Gold, Run, open_gold, with_pool
from cs_score.coldstart.linking import kind_of
from cs_score.coldstart.options import APART, NamedPolicy, Options
from cs_score.coldstart.outputs import Layout
from cs_score.coldstart.result import Result
from cs_score.coldstart.scorer import score_runs
from cs_score.coldstart.several import OneRun, as_asked, runs_of, score_apart
from cs_score.coldstart.unit_statistics import intervals as cold_start_intervals
from cs_score.evidence import intervals as evidence_intervals
from cs_score.evidence.report import document_of as evidence_document
from cs_score.evidence.report import result_object
from cs_score.knowledge_base.recognition import is_knowledge_base
from cs_score.knowledge_base.validation import prepared_files
from cs_score.measures.registry import COLD_START_MODE
from cs_score.preparation.prevalidation import load_prepared
from cs_score.problems.log import ProblemLog
from cs_score.tasks import task_named
from cs_score.verification.recorded import (
    FoundInput,
    Places,
    Recorded,
    check_task,
    cold_start_options,
    evidence_arguments,
    resampling_of,
)

if TYPE_CHECKING:
    from cs_score.evidence.result import Result as EvidenceResult
    from cs_score.statistics.results import ScoreIntervals


def scored_again(recorded: Recorded, places: Places) -> object:
    """What recorded scores would be now, as a record. Raises InputError, NotFoundError for inputs, ScoringStopped."""
    head, file = recorded.head(), recorded.file
    place = recorded.inside("origin.options")
    found = places.find(head.origin.inputs)
    resampling = resampling_of(head.origin.options.get("bootstrap"), file, f"{place}.bootstrap")
    with paused_collector():
        if head.task != COLD_START_MODE:
            score = cast(EvidenceTask, task_named(head.task)).score
            gold, predictions = (
                _held(_the_one(found, role, file, recorded.inside("origin.inputs"))) for role in (GOLD, RUN)
            )
            arguments = evidence_arguments(head.task, head.origin.options, file, place)
            scored: EvidenceResult = score(gold, predictions, **arguments)
            intervals = None if resampling is None else evidence_intervals(scored, resampling)
            write = result_object if recorded.place else evidence_document
            return write(scored, intervals, with_units=head.units is not UNSET)
        result = _cold_start(head.origin.options, found, file)
        of_runs: Sequence[ScoreIntervals] = () if resampling is None else cold_start_intervals(result, resampling)
        if head.measures:
            return chosen_scores(cold_start_document(result, of_runs, ()), head.measures, head.measure)
        return cold_start_document(result, of_runs)


def _held(found: FoundInput) -> InMemory:
    """An input in memory, under the name that it had."""
    return InMemory(found.recorded.name, found.content())


def _the_one(found: Sequence[FoundInput], role: str, file: str, place: str = "origin.inputs") -> FoundInput:
    """The input that has a role which one input has. Raises InputError for another number."""
    of_role = [each for each in found if each.recorded.role == role]
    if len(of_role) != 1:
        raise InputError(f"has {len(of_role)} of the role {role}", file=file, place=place)
    return of_role[0]


def _cold_start(options: Mapping[str, Json], found: Sequence[FoundInput], file: str) -> Result:
    """The result of a call of the scorer with these options and inputs, in their order."""
    asked, validated = cold_start_options(options, file, "origin.options"), options.get("validate") is True
    paths = {each.recorded.role: each.path for each in found}
    _check_named(asked, paths, file)
    located = replace(asked, queries=paths.get(QUERY_LIST, asked.queries), samples=paths.get(SAMPLES, asked.samples))
    if APART in options:
        located = replace(located, runids=None)
    gold = open_gold([_held(each) for each in found if each.recorded.role == QUERIES], located)
    if APART in options:
        gold = with_pool(gold, [_held(each) for each in found if each.recorded.role == POOL])
        held = [_held(each) for each in found if each.recorded.role == RUN]
        runs = runs_of(held, [file for file in held if _is_knowledge_base(file)], asked.runids)
        load = partial(_loaded_alone, validated=validated)
        result = score_apart(gold, runs, gold.problems.branch(), load, validated=validated)
        return as_asked(result, asked, validated=validated)
    files = [_held(each) for each in found if each.recorded.role in (POOL, RUN)]
    result = score_runs(_loaded(gold, files, validated), located.policy)
    return as_asked(result, asked, validated=validated)


def _check_named(options: Options, roles: Collection[str], file: str) -> None:
    """Raises InputError where options name a file, or anything else on the disk, that is none of the inputs."""
    for name, option, role in (("queries", options.queries, QUERY_LIST), ("samples", options.samples, SAMPLES)):
        if option is not None and role not in roles and os.path.lexists(option.replace("\0", "")):
            problem = f"names a file that is no input of the role {role}, so that it is not opened"
            raise InputError(problem, file=file, place=f"origin.options.{name}")


def _loaded(gold: Gold, files: Sequence[InMemory], validated: bool, problems: ProblemLog | None = None) -> Run:
    """The lines of the files as the scorer loads them, knowledge bases resolved and runs validated."""
    known = [file for file in files if _is_knowledge_base(file)]
    limits = gold.options.justifications
    prepared = prepared_files(files, gold.table, limits, validate=validated, known=known)
    return load_prepared(gold, prepared, problems=problems)


def _loaded_alone(gold: Gold, run: OneRun, pool: Sequence[Input], problems: ProblemLog, validated: bool) -> Run:
    files = [file for file in (*pool, run.file) if isinstance(file, InMemory)]
    return _loaded(run.over(gold), files, validated, problems)


def _is_knowledge_base(file: InMemory) -> bool:
    """Whether it looks like one, or is neither a run nor assessments by its first line: then it was one, too."""
    if is_knowledge_base(file):
        return True
    try:
        kind_of(file)
    except InputError:
        return True
    return False


class BatchedRun(Record):
    """A run of a batch as a file records it: its name in the batch, its policy, and what it was made from.

    `records` is whether its problems were kept with their details.
    """

    name: str
    policy: str
    origin: RunOrigin | UnsetType
    file: str
    records: bool = False

    @property
    def made(self) -> RunOrigin:
        """What it was made from. Raises InputError where nothing says it."""
        if not self.origin:
            raise InputError(f"has no origin of the run {self.name}", file=self.file)
        check_task(self.origin.task, self.file, "origin.task")
        return self.origin


class BatchGold(Record):
    """What runs are scored with: the plan, and what is prepared from it."""

    plan: Plan
    prepared: Prepared


class BatchRuns:
    """Scores runs again; gold is read once for those that share it, and each run is scored once."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._read: dict[str, BatchGold] = {}
        self._gold: dict[str, BatchGold] = {}
        self._outcomes: dict[str, Outcome] = {}

    def outcome(self, run: BatchedRun, *, with_files: bool) -> Outcome:
        """What becomes of a run now; `with_files` adds what its files would be. Raises InputError, NotFoundError."""
        key = _key(run)
        if key not in self._outcomes:
            with paused_collector():
                self._outcomes[key] = self._scored(run, with_files)
        return self._outcomes[key]

    def gold(self, run: BatchedRun) -> BatchGold:
        """What a run is scored with. Raises InputError, NotFoundError."""
        self.outcome(run, with_files=False)
        return self._gold[_key(run)]

    def _scored(self, run: BatchedRun, with_files: bool) -> Outcome:
        found = self._places.find(run.made.inputs)
        of_run = _the_one(found, RUN, run.file)
        gold = self._prepare(run, [each for each in found if each is not of_run])
        self._gold[_key(run)] = gold
        file = InputFile(of_run.recorded.name, content=of_run.content())
        (scored,) = gold.prepared.score(RunFile(run.name, file), [run.policy])
        return replace(scored.outcome, files=state.written_files(scored.files)) if with_files else scored.outcome

    def _prepare(self, run: BatchedRun, shared: Sequence[FoundInput]) -> BatchGold:
        """Gold and options of a run, read once for all runs that have the same."""
        shared_origin = replace(run.made, inputs=tuple(each.recorded for each in shared))
        key = json.dumps([to_builtins(shared_origin), run.policy, run.records], sort_keys=True)
        if key not in self._read:
            plan = _plan(run, shared)
            self._read[key] = BatchGold(plan, plan.prepare())
        return self._read[key]


def _key(run: BatchedRun) -> str:
    return json.dumps([run.name, run.policy, to_builtins(run.made)], sort_keys=True)


def _plan(run: BatchedRun, shared: Sequence[FoundInput]) -> Plan:
    made, file = run.made, run.file
    resampling = made.bootstrap and resampling_of(to_builtins(made.bootstrap), file, "origin.bootstrap")
    content = {each: InputFile(each.recorded.name, content=each.content()) for each in shared if each.is_read_whole}
    if made.task != COLD_START_MODE:
        arguments = evidence_arguments(made.task, made.options, file, "origin.options")
        gold = content[_the_one(shared, GOLD, file)]
        return EvidencePlan(task=made.task, gold=gold, options=arguments, resampling=resampling)
    asked = cold_start_options(made.options, file, "origin.options")
    located = {
        each.recorded.role: InputFile(each.recorded.name, path=None if each.path == each.recorded.name else each.path)
        for each in shared
    }
    _check_named(asked, located, file)
    return ColdStartPlan(
        queries=tuple(content[each] for each in shared if each.recorded.role == QUERIES),
        pool=tuple(content[each] for each in shared if each.recorded.role == POOL),
        options=asked,
        policies=(NamedPolicy(run.policy, asked.policy, asked.justifications, asked.policy.texts()),),
        layout=Layout(made.fields, made.tabs),
        with_json=made.json,
        query_list=located.get(QUERY_LIST),
        samples=located.get(SAMPLES),
        resampling=resampling,
        validates=made.options.get("validate") is True,
        records=run.records,
    )
