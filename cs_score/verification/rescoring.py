"""Single results computed again from the files that were found for them."""

from __future__ import annotations

import importlib
import os
from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING

from cs_score.base.documents import Json
from cs_score.base.errors import InputError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.records import replace
from cs_score.base.signing.origin import GOLD, POOL, QUERIES, QUERY_LIST, RUN, SAMPLES, Origin
from cs_score.base.sources import InMemory, Input
from cs_score.coldstart.documents import ChosenScores, result_object, scores_object
from cs_score.coldstart.gold import Gold, Run, load_run, open_gold, with_pool
from cs_score.coldstart.linking import kind_of
from cs_score.coldstart.options import Options, origin_of
from cs_score.coldstart.result import Result
from cs_score.coldstart.scorer import APART, score_apart, score_runs
from cs_score.coldstart.unit_statistics import intervals as cold_start_intervals
from cs_score.evidence import intervals as evidence_intervals
from cs_score.evidence.report import result_object as evidence_object
from cs_score.knowledge_base.recognition import is_knowledge_base
from cs_score.knowledge_base.validation import resolve_knowledge_bases
from cs_score.measures.registry import COLD_START_MODE
from cs_score.preparation.prevalidation import Preparation, load_prepared, validate_runs
from cs_score.problems.log import ProblemLog
from cs_score.verification.inputs import FoundInput
from cs_score.verification.recorded import (
    EVIDENCE_MODES,
    Kind,
    Recorded,
    cold_start_options,
    evidence_arguments,
    resampling_of,
    was_validated,
)
from cs_score.verification.told import Told

if TYPE_CHECKING:
    from cs_score.evidence.result import Result as EvidenceResult
    from cs_score.statistics.results import ScoreIntervals


def computed_again(recorded: Recorded, found: Sequence[FoundInput]) -> Json:
    """What the file would say now. Raises InputError for a record that is none, and where scoring stops."""
    options = recorded.told["signature"]["options"]
    resampling = resampling_of(options.get("bootstrap"))
    with paused_collector():
        if recorded.kind is Kind.EVIDENCE:
            scored = _evidence(recorded.told, found)
            of_scores = None if resampling is None else evidence_intervals(scored, resampling)
            with_units = recorded.told["signature"].get("units") is not None
            return evidence_object(scored, of_scores, with_units=with_units)
        recorded.told["signature"]["mode"].text((COLD_START_MODE,))
        result = cold_start_again(options, found)
        of_runs: Sequence[ScoreIntervals] = () if resampling is None else cold_start_intervals(result, resampling)
        if recorded.kind is Kind.SCORES:
            return scores_object(ChosenScores(result, recorded.told["measures"].texts(), of_runs))
        return result_object(result, of_runs)


def held(found: FoundInput) -> InMemory:
    """An input in memory, under the name that it had."""
    return InMemory(found.recorded.name, found.content())


def cold_start_again(told: Told, found: Sequence[FoundInput]) -> Result:
    """The result of a call of the scorer whose options are told, with these inputs in their order."""
    asked, validated = cold_start_options(told), was_validated(told)
    paths = {each.recorded.role: each.path for each in found}
    check_named(told, paths)
    located = replace(asked, queries=paths.get(QUERY_LIST, asked.queries), samples=paths.get(SAMPLES, asked.samples))
    gold = open_gold([held(each) for each in found if each.recorded.role == QUERIES], located)
    if told.get(APART) is not None:
        gold = with_pool(gold, [held(each) for each in found if each.recorded.role == POOL])
        runs = [held(each) for each in found if each.recorded.role == RUN]
        load = partial(_loaded_alone, validated=validated)
        result = score_apart(gold, runs, gold.problems.branch(), load, validated=validated)
        return _as_asked(result, asked, validated)
    files = [held(each) for each in found if each.recorded.role in (POOL, RUN)]
    result = score_runs(_loaded(gold, files, validated), located.policy)
    return _as_asked(result, asked, validated)


def check_named(options: Told, roles: Collection[str]) -> None:
    """Raises InputError where options name a file, or anything else on the disk, that is none of the inputs."""
    for option, role in (("queries", QUERY_LIST), ("samples", SAMPLES)):
        name = None if role in roles else options[option].optional_text()
        if name is not None and os.path.lexists(name.replace("\0", "")):
            raise options[option].wrong(f"names a file that is no input of the role {role}, so that it is not opened")


def _loaded(gold: Gold, files: Sequence[InMemory], validated: bool, problems: ProblemLog | None = None) -> Run:
    """The lines of the files as the scorer loads them, knowledge bases resolved and runs validated."""
    knowledge_bases = [file for file in files if is_knowledge_base(file) or not _is_tab_file(file)]
    if not knowledge_bases and not validated:
        return load_run(gold, files, problems=problems)
    prepared = resolve_knowledge_bases(files, gold.table, known=knowledge_bases)
    for one in prepared.runs:
        one.check()
    if validated:
        checked = validate_runs(prepared.files, gold.table, gold.options.justifications)
        for one in checked.runs:
            one.check()
        prepared = Preparation(checked.files, [*prepared.runs, *checked.runs])
    return load_prepared(gold, prepared, problems=problems)


def _loaded_alone(gold: Gold, files: Sequence[Input], problems: ProblemLog, validated: bool) -> Run:
    return _loaded(gold, [file for file in files if isinstance(file, InMemory)], validated, problems)


def _is_tab_file(file: InMemory) -> bool:
    """Whether it is a run or assessments by its first line: what was scored and is neither was a knowledge base."""
    try:
        kind_of(file)
    except InputError:
        return False
    finally:
        file.seek(0)
    return True


def _as_asked(result: Result, asked: Options, validated: bool) -> Result:
    """The result with the options and the names of their files as they were given."""
    names = {QUERY_LIST: asked.queries, SAMPLES: asked.samples}

    def named(origin: Origin) -> Origin:
        inputs = [replace(given, name=names.get(given.role) or given.name) for given in origin.inputs]
        return origin_of(asked, inputs, result.has_ldc_index, validated=validated)

    origin = named(result.origin)
    if APART in result.origin.options:
        origin = origin.with_option(APART, True)
    runs = (run if run.origin is None else replace(run, origin=named(run.origin)) for run in result.runs)
    return replace(result, options=asked, runs=tuple(runs), origin=origin)


def _evidence(told: Told, found: Sequence[FoundInput]) -> EvidenceResult:
    signature = told["signature"]
    module = importlib.import_module(f"cs_score.evidence.{signature['mode'].text(EVIDENCE_MODES)}")
    gold, predictions = (held(the_one(found, role, signature)) for role in (GOLD, RUN))
    scored: EvidenceResult = module.score(gold, predictions, **evidence_arguments(signature["options"]))
    return scored


def the_one(found: Sequence[FoundInput], role: str, origin: Told) -> FoundInput:
    """The input that has a role which one input has. Raises InputError for another number."""
    of_role = [each for each in found if each.recorded.role == role]
    if len(of_role) != 1:
        raise origin["inputs"].wrong(f"has {len(of_role)} of the role {role}")
    return of_role[0]
