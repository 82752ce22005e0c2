"""Scores a submission so that its participant learns the scores, but nothing about gold, not even from errors.

A submission is read once before gold is read. Errors of this stage cannot reveal gold, and participants get their full
messages. Any later error gives a message that is the same for all submissions.
"""

from __future__ import annotations

import os
from typing import Any, Final

from cs_score.analysis.aggregate import Aggregate, aggregate_of_predictions, aggregate_of_run
from cs_score.analysis.coldstart.scored import score_for_analysis
from cs_score.analysis.recorded import cold_start_options, evidence_arguments
from cs_score.base.errors import CsScoreError, InputError
from cs_score.base.runtime import paused_garbage_collection
from cs_score.base.signature import GOLD, POOL, QUERIES, QUERY_LIST, SAMPLES, Origin
from cs_score.base.sources import Input
from cs_score.coldstart.file_columns import FileKind
from cs_score.coldstart.gold import ColdStartGold, Run, load_run, open_gold
from cs_score.coldstart.linking import kind_of
from cs_score.coldstart.options import Options
from cs_score.evidence.mode import ScoredPredictions
from cs_score.evidence.reading import read_input
from cs_score.statistics.resampling_settings import Resampling
from cs_score.tasks import COLD_START, mode_named
from cs_score.verbs.bundle.settings import Bundle
from cs_score.verbs.bundle.submission import SubmissionError

_DOES_NOT_FIT: Final = (
    "the submission can be read, but not scored against the reference data: see that it answers what was asked, once "
    "each, in the form of the starting kit"
)

_DEFECT: Final = "the submission could not be scored because of a fault of the scoring program: tell the organisers"


def score_submission(bundle: Bundle, gold_folder: str, submission_file: str) -> Aggregate:
    """Score a submission, and return the scores and counts that its participant may see.

    `gold_folder` contains the gold files, and `submission_file` is the file that was handed in. All errors except a
    lack of memory are converted to a SubmissionError with a message that the participant may see.
    """
    try:
        if bundle.task == COLD_START:
            return _score_run(bundle, gold_folder, submission_file)
        return _score_predictions(bundle, gold_folder, submission_file)
    except CsScoreError:
        raise SubmissionError(_DOES_NOT_FIT) from None
    except SubmissionError:  # its message is already written for the participant
        raise
    except MemoryError:  # a lack of memory is not the participant's fault
        raise
    except Exception:
        # The message of an unexpected error might reveal gold.
        raise SubmissionError(_DEFECT) from None


def defined_scores(bundle: Bundle, aggregate: Aggregate) -> dict[str, float]:
    """Return the scores of a submission by the measures of the leaderboard; measures without a value are left out."""
    score_by_measure = {row.measure: row.score for row in aggregate.scores}
    scores = {}
    for measure in bundle.measures:
        score = score_by_measure.get(measure)
        if score is not None:
            scores[measure] = score
    return scores


def gold_paths(origin: Origin, folder: str, role: str) -> list[str]:
    """Return the paths of the files in `folder` that have a role in scoring, such as that of the query files."""
    return [os.path.join(folder, file.name) for file in origin.inputs if file.role == role]


# ---- Evidence tasks


def _score_predictions(bundle: Bundle, gold_folder: str, submission_file: str) -> Aggregate:
    """Score predictions of an evidence task, and return the scores and counts that their participant may see.

    Raises SubmissionError if the predictions cannot be read, and CsScoreError if they can be read but do not match the
    gold.
    """
    arguments = evidence_arguments(bundle.task, bundle.origin.options, file="the bundle", place="options")
    # Faults that can be detected without gold are described to the participant in full.
    check_form_without_gold(bundle.task, arguments, submission_file)
    (gold_path,) = gold_paths(bundle.origin, gold_folder, GOLD)
    result: ScoredPredictions = mode_named(bundle.task).score(gold_path, submission_file, **arguments)
    resampling = Resampling(can_grow=True)  # more resamples than the default may be drawn, since no number was chosen
    return aggregate_of_predictions(result, bundle.measure, resampling)


def check_form_without_gold(task: str, arguments: dict[str, Any], submission_file: str) -> None:
    """Raise SubmissionError if predictions are malformed, or if a file has the predictions of several systems.

    The predictions are read before the gold, so that the error can describe the fault in full without revealing gold.
    `arguments` are the options of the task.
    """
    mode = mode_named(task).with_options(arguments)
    try:
        # `mode.predictions` is the function that reads predictions.
        predictions = read_input(submission_file, "predictions", mode.predictions, has_lines=mode.has_lines)
        systems = mode.systems(predictions)
    except InputError as error:
        raise _submission_error(error, submission_file) from None
    if len(systems) > 1:
        raise SubmissionError(f"{os.path.basename(submission_file)} has {len(systems)} systems: hand in one")


def _submission_error(error: InputError, submission_file: str) -> SubmissionError:
    """Return the error to show to the participant, with the folder removed from the file name in its message.

    Participants do not know the folder. Note that `error` itself is modified.
    """
    name = os.path.basename(submission_file)
    error.file = name
    text = str(error).replace(submission_file, name)
    return SubmissionError(text)


# ---- Cold Start


def _score_run(bundle: Bundle, gold_folder: str, submission_file: str) -> Aggregate:
    """Score a Cold Start run, and return the scores and counts that its participant may see.

    Raises SubmissionError if the run cannot be read, and CsScoreError if it can be read but does not match the gold.
    """
    options = cold_start_options(bundle.origin.options, file="the bundle", place="options")
    with paused_garbage_collection():
        # The run is read twice: first with the queries only, so that errors can be described to the participant in
        # full, and then with the assessments.
        queries = open_queries(options, bundle.origin, gold_folder)
        run_id = _id_of_only_run(queries, submission_file)
        assessment_paths = gold_paths(bundle.origin, gold_folder, POOL)
        run = load_run(queries, [*assessment_paths, submission_file])
        scored_run = score_for_analysis(run, options.policy, run_id)
    # More resamples than the default may be drawn if significance needs them.
    return aggregate_of_run(scored_run, bundle.measure, Resampling(can_grow=True))


def open_queries(options: Options, origin: Origin, folder: str) -> ColdStartGold:
    """Return the gold of a bundle with the queries but without the assessments.

    A run can be read with this gold without the risk that error messages reveal assessments. `folder` contains the gold
    files.
    """
    file_by_role: dict[str, Input] = {}
    for role in (QUERY_LIST, SAMPLES):
        paths = gold_paths(origin, folder, role)
        if paths:
            file_by_role[role] = paths[-1]  # gold has at most one file with each of these roles
    query_paths = gold_paths(origin, folder, QUERIES)
    return open_gold(query_paths, options, file_by_role=file_by_role)


def _id_of_only_run(queries: ColdStartGold, submission_file: str) -> str:
    """Return the run id of a submission. All its lines must have the same run id.

    The run is read without assessments, so that errors cannot reveal them. Raises SubmissionError for another kind of
    file, for lines that cannot be read, and for several runs.
    """
    run = _load_without_assessments(queries, submission_file)
    name = os.path.basename(submission_file)
    run_ids = sorted(run.lines_by_run_and_unit)
    if not run_ids:
        raise SubmissionError(f"{name} has no line that answers a query")
    if len(run_ids) > 1:
        raise SubmissionError(f"{name} has {len(run_ids)} run ids: hand in one run")
    return run_ids[0]


def _load_without_assessments(gold_without_pool: ColdStartGold, submission_file: str) -> Run:
    """Return the run in a submission, loaded with the queries but without the assessments.

    Raises SubmissionError for another kind of file and for lines that cannot be read.
    """
    try:
        if kind_of(submission_file) is not FileKind.RUN:
            name = os.path.basename(submission_file)
            raise SubmissionError(f"{name} is no run: its lines have another number of columns")
        return load_run(gold_without_pool, [submission_file])
    except InputError as error:
        raise _submission_error(error, submission_file) from None
