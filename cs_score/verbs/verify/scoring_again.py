"""Functions that compute recorded scores again from the input files that were found for them. The *record* is the
JSON that an earlier call wrote. It lists the options of that call, and its inputs by role (queries, pool, run, gold).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import UNSET

from cs_score.analysis.recorded import cold_start_options, evidence_arguments, resampling_of
from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.base.runtime import paused_garbage_collection
from cs_score.base.signature import GOLD, POOL, QUERIES, QUERY_LIST, RUN, SAMPLES
from cs_score.base.sources import Input
from cs_score.coldstart import score_documents as cold_start
from cs_score.coldstart.converters import converter_for
from cs_score.coldstart.gold import ColdStartGold, Run, open_gold, with_pool
from cs_score.coldstart.linking import kind_of
from cs_score.coldstart.options import SCORED_SEPARATELY, Options
from cs_score.coldstart.output_files import ColumnLayout, file_blocks
from cs_score.coldstart.result import Result
from cs_score.coldstart.scorer import OneRun, runs_of, score_runs, score_separately
from cs_score.coldstart.unit_statistics import intervals as cold_start_intervals
from cs_score.evidence.mode import ScoredPredictions
from cs_score.evidence.mode import intervals as evidence_intervals
from cs_score.evidence.report import document_of as evidence_document
from cs_score.evidence.report import result_object
from cs_score.preparation.conversion import PreparationSettings, prepare_inputs
from cs_score.preparation.prepared_runs import load_prepared
from cs_score.problems.log import ProblemLog
from cs_score.tasks import mode_named
from cs_score.verbs.batch.input_files import InputFile
from cs_score.verbs.verify.places import FoundInput, Places
from cs_score.verbs.verify.recorded_files import RecordFile, ScoresHead

if TYPE_CHECKING:
    from cs_score.statistics.resampling_settings import Resampling
    from cs_score.statistics.results import ScoreIntervals

# ---- Cold Start runs


class RescoredRuns(NamedTuple):
    """The result of recorded runs that were scored again, with intervals if the record has them."""

    result: Result
    intervals: Sequence[ScoreIntervals]

    def document(self, head: ScoresHead) -> object:
        """Return the document that would be recorded now.

        The document has all details of the scores. If the record has only chosen measures, named in `head`, the
        document has only these measures as well.
        """
        chosen_measures = head.measures
        if not chosen_measures:
            return cold_start.document_of(self.result, self.intervals)
        scores = cold_start.document_of(self.result, self.intervals, parts=())
        headline_measure = head.measure  # the measure that users are shown first, or unset
        return cold_start.document_with_measures(scores, chosen_measures, headline_measure)

    def file_texts(self, layout: ColumnLayout, params_text: str) -> dict[str, str]:
        """Return the texts of the files that are written next to the document, by ending: `{"sf": "...", ...}`.

        `layout` says how the columns of tables are laid out, and `params_text` is the text of the file `.params`.
        """
        text_by_ending = {}
        for ending, blocks in file_blocks(self.result, layout, params_text, self.intervals):
            text_by_ending[ending] = b"".join(blocks).decode("utf-8", "surrogateescape")
        return text_by_ending


def rescore_runs(record: RecordFile, head: ScoresHead, places: Places) -> RescoredRuns:
    """Score the runs of a record again with the recorded options, and return the result.

    `head` has the members of the record that say how it was scored. The inputs are found among `places`. Raises
    InputError for invalid options or inputs, NotFoundError for inputs that are missing or changed, ScoringStopped if
    an error stops the scoring.
    """
    inputs = places.find(head.origin.inputs)
    resampling = _resampling_of(record, head, places)
    with paused_garbage_collection():
        result = _score_cold_start(head.origin.options, inputs, record.file)
        intervals: Sequence[ScoreIntervals] = ()
        if resampling is not None:
            intervals = cold_start_intervals(result, resampling)
    return RescoredRuns(result, intervals)


class _RecordedCall(NamedTuple):
    """A call of the scorer as its record lists it: the options, and the files that options name, by role.

    `inputs` are all inputs of the call. If it `validates`, runs are validated before they are scored.
    """

    options: Options
    named_files: Mapping[str, Input]
    inputs: Sequence[FoundInput]
    validates: bool


def _score_cold_start(options: Mapping[str, object], inputs: Sequence[FoundInput], record_file: str) -> Result:
    """Return the result of scoring with recorded options and inputs. `record_file` is the file of the record.

    If each run was scored separately according to the record (option `apart`), runs are scored separately again. Raises
    InputError for invalid options or inputs, and ScoringStopped if an error stops the scoring.
    """
    scoring_options = cold_start_options(options, record_file, "origin.options")
    named_files: dict[str, Input] = {}
    for role, input_file in named_inputs(scoring_options, inputs, record_file).items():
        named_files[role] = input_file.open()
    call = _RecordedCall(scoring_options, named_files, inputs, validates=options.get("validate") is True)
    if SCORED_SEPARATELY in options:
        return _score_runs_separately(call)
    gold_without_pool = _open_gold(call, scoring_options)
    # The pool and the runs are loaded together, in the recorded order.
    run = _load(gold_without_pool, _files_of_role(inputs, POOL, RUN))
    return score_runs(run, scoring_options.policy)


def _open_gold(call: _RecordedCall, options: Options) -> ColdStartGold:
    """Return the gold of a recorded call without its pool. The queries are read with `options`.

    Raises InputError if the queries cannot be read.
    """
    query_files = _files_of_role(call.inputs, QUERIES)
    return open_gold(query_files, options, file_by_role=call.named_files, validates=call.validates)


def _score_runs_separately(call: _RecordedCall) -> Result:
    """Return the result of scoring each run of a recorded call as if it were the only one.

    Raises InputError for invalid inputs, and ScoringStopped if an error stops the scoring.
    """
    # Gold is read once for all runs, so it is not restricted to the chosen runs.
    gold_without_pool = _open_gold(call, replace(call.options, runids=None))
    gold = with_pool(gold_without_pool, _files_of_role(call.inputs, POOL))
    run_files = _files_of_role(call.inputs, RUN)
    # A knowledge base is always a single run. The other files are searched for run ids, as they may hold several runs.
    knowledge_bases = _knowledge_bases(run_files)
    runs = runs_of(run_files, knowledge_bases, call.options.runids)
    problems = gold.problems.copy()  # scoring adds problems, but the problems of gold must not change
    return score_separately(gold, runs, problems, load=_load_single_run)


def _files_of_role(inputs: Sequence[FoundInput], *roles: str) -> list[Input]:
    """Return the inputs that have one of the roles, such as `pool`, as open files."""
    return [found_input.load().open() for found_input in inputs if found_input.role in roles]


def _load(gold: ColdStartGold, files: Sequence[Input], problems: ProblemLog | None = None) -> Run:
    """Return the run in the files, linked to the queries of gold as in the recorded call.

    Knowledge bases are converted first, and runs are validated if the recorded call did so. Problems are added to the
    log `problems`, if given. Raises InputError if a file cannot be read or linked.
    """
    settings = PreparationSettings(
        queries=gold.query_set,
        limits=gold.options.justifications,
        validates=gold.validates,
        only_run_id=gold.only_run_id,
    )
    preparation = prepare_inputs(files, settings, _knowledge_bases(files))
    return load_prepared(gold, preparation, problems=problems)


def _load_single_run(gold: ColdStartGold, run: OneRun, pool: Sequence[Input], problems: ProblemLog) -> Run:
    """Return one of several runs, loaded with the pool but without the other runs.

    Raises InputError if it cannot be read or linked.
    """
    return _load(run.restrict_gold(gold), [*pool, run.file], problems)


def _knowledge_bases(files: Sequence[Input]) -> Collection[Input]:
    """Return the knowledge bases among the files, which are converted to runs."""
    return [file for file in files if _is_knowledge_base(file)]


def _is_knowledge_base(file: Input) -> bool:
    """Return whether a file looks like a knowledge base, or its first line fits neither a run nor assessments.

    In the second case, an option of the recorded call has declared the file to be a knowledge base.
    """
    if converter_for(file) is not None:
        return True
    try:
        kind_of(file)  # raises InputError if the first line fits neither kind
    except InputError:
        return True
    return False


def named_inputs(options: Options, inputs: Sequence[FoundInput], record_file: str) -> dict[str, InputFile]:
    """Return the files that options name (a list of queries, samples), by role.

    Raises InputError if an option of the record in `record_file` names an existing file that is not among the inputs.
    Anybody may have written the record, so such a file is not opened.
    """
    input_by_role = {}
    for found_input in inputs:
        if found_input.role in (QUERY_LIST, SAMPLES):
            input_by_role[found_input.role] = found_input.load()
    if QUERY_LIST not in input_by_role and _names_a_file(options.queries):
        raise _unrecorded_file_error(QUERY_LIST, record_file, "origin.options.queries")
    if SAMPLES not in input_by_role and _names_a_file(options.samples):
        raise _unrecorded_file_error(SAMPLES, record_file, "origin.options.samples")
    return input_by_role


def _names_a_file(value: str | None) -> bool:
    """Return whether the value of an option is the path of an existing file, rather than a list of ids."""
    if value is None:
        return False
    return os.path.lexists(value.replace("\0", ""))  # `lexists` raises ValueError for a NUL character


def _unrecorded_file_error(role: str, record_file: str, place: str) -> InputError:
    """Return the error for an option that names a file although the record does not list an input with this `role`.

    `record_file` is the record, and `place` is the place of the option in the record. Unlisted files are not opened.
    """
    return InputError(
        f"names a file that is no input of the role {role}, so that it is not opened", file=record_file, place=place
    )


# ---- Predictions of evidence tasks


def rescore_predictions(record: RecordFile, head: ScoresHead, places: Places) -> object:
    """Score the predictions of a record again, and return the document that would be recorded now.

    The document has the format of the recorded file: either the official measures of the task, with the scores as a
    member, or the scores alone.

    `head` has the members of the record that say how the predictions were scored. Inputs are looked for among `places`.
    Raises InputError for invalid options or inputs, and NotFoundError if inputs are missing or changed.
    """
    inputs = places.find(head.origin.inputs)
    resampling = _resampling_of(record, head, places)
    with paused_garbage_collection():
        result = _score_predictions(record, head, inputs)
        intervals = None if resampling is None else evidence_intervals(result, resampling)
        has_units = head.units is not UNSET
        if record.has_official_measures:
            return result_object(result, intervals, with_units=has_units)
        return evidence_document(result, intervals, with_units=has_units)


def _score_predictions(record: RecordFile, head: ScoresHead, inputs: Sequence[FoundInput]) -> ScoredPredictions:
    """Return the scores of the predictions in the inputs of a record, computed with the recorded options.

    Raises InputError for invalid options or inputs.
    """
    # Error messages name the place in the JSON of the record, such as `signature.origin.options`.
    place_of_options = record.inside("origin.options")
    place_of_inputs = record.inside("origin.inputs")
    options = evidence_arguments(head.task, head.origin.options, record.file, place_of_options)
    gold = gold_of(head.task, inputs, record.file, place_of_inputs)
    predictions = only_input(inputs, RUN, record.file, place_of_inputs)
    gold_file = None if gold is None else gold.open()
    prediction_file = predictions.load().open()  # the bytes found, under the recorded name
    return mode_named(head.task).score(gold_file, prediction_file, **options)


def gold_of(
    task: str, inputs: Sequence[FoundInput], record_file: str, place: str = "origin.inputs"
) -> InputFile | None:
    """Return the gold of an evidence task among the inputs of a record.

    Returns None if the record has no gold and the task needs none. Raises InputError, which names `record_file`
    and the `place` in it, if it lacks gold or has several files of gold.
    """
    has_gold = any(found_input.role == GOLD for found_input in inputs)
    if not has_gold and not mode_named(task).needs_gold:
        return None
    return only_input(inputs, GOLD, record_file, place).load()


# ---- All tasks


def _resampling_of(record: RecordFile, head: ScoresHead, places: Places) -> Resampling | None:
    """Return the settings of the intervals of recorded scores; None if the record has no intervals.

    Raises InputError for invalid settings.
    """
    place = record.inside("origin.options.bootstrap")
    return resampling_of(
        head.origin.options.get("bootstrap"), record.file, place, is_forced=places.allows_long_verification
    )


def only_input(inputs: Sequence[FoundInput], role: str, record_file: str, place: str = "origin.inputs") -> FoundInput:
    """Return the only input that has a role, such as `run`.

    Raises InputError, which names `record_file` and the `place` in it, if no input or several have this role.
    """
    inputs_of_role = [found_input for found_input in inputs if found_input.role == role]
    if len(inputs_of_role) != 1:
        raise InputError(f"has {len(inputs_of_role)} of the role {role}", file=record_file, place=place)
    return inputs_of_role[0]
