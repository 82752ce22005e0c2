"""Scoring a submission so that its participant learns the scores and nothing of gold, neither from errors.

What is wrong with a submission by itself is said in full: that message is made before gold is read. What only shows
beside gold is said in a line that is the same for all submissions.
"""

from __future__ import annotations

import os
from typing import Any, Final

from cs_score.analysis.aggregate import Aggregate, aggregate_of_predictions, aggregate_of_run
from cs_score.analysis.coldstart.scored import score_for_analysis
from cs_score.analysis.recorded import cold_start_options, evidence_arguments
from cs_score.base.errors import CsScoreError, InputError
from cs_score.base.runtime import paused_collector
from cs_score.base.signature import GOLD, POOL, QUERIES, QUERY_LIST, SAMPLES, Origin
from cs_score.base.sources import Input
from cs_score.coldstart.gold import ColdStartGold, load_run, open_gold
from cs_score.coldstart.layouts import FileKind
from cs_score.coldstart.linking import kind_of
from cs_score.coldstart.options import Options
from cs_score.evidence.mode import ScoredPredictions
from cs_score.evidence.reading import read_input
from cs_score.statistics.options import Resampling
from cs_score.tasks import COLD_START, mode_named
from cs_score.verbs.bundle.settings import Bundle
from cs_score.verbs.bundle.submission import SubmissionError

_DOES_NOT_FIT: Final = (
    "the submission can be read, but not scored against the reference data: see that it answers what was asked, once "
    "each, in the form of the starting kit"
)
_DEFECT: Final = "the submission could not be scored because of a fault of the scoring program: tell the organisers"


def score_submission(bundle: Bundle, reference: str, submission: str) -> Aggregate:
    """Score a submission, and return what its participant may see.

    `reference` is the folder with the files of gold, `submission` the path of the file that was handed in. Raises
    SubmissionError, whose line the participant may see, for everything that goes wrong.
    """
    try:
        if bundle.task == COLD_START:
            return _score_run(bundle, reference, submission)
        return _score_predictions(bundle, reference, submission)
    except CsScoreError:
        raise SubmissionError(_DOES_NOT_FIT) from None
    except (SubmissionError, MemoryError):
        raise
    except Exception:
        # Whatever it is, its text could quote gold.
        raise SubmissionError(_DEFECT) from None


def defined_scores(bundle: Bundle, aggregate: Aggregate) -> dict[str, float]:
    """Return the scores of the leaderboard by measure, without measures that have no value for the submission."""
    score_by_measure = {row.measure: row.score for row in aggregate.scores}
    scores = {}
    for measure in bundle.measures:
        score = score_by_measure.get(measure)
        if score is not None:
            scores[measure] = score
    return scores


def gold_paths(origin: Origin, folder: str, role: str) -> list[str]:
    """Return the paths of the files of gold with a role, such as the query files."""
    return [os.path.join(folder, file.name) for file in origin.inputs if file.role == role]


# ---- Evidence tasks


def _score_predictions(bundle: Bundle, reference: str, submission: str) -> Aggregate:
    """Score predictions. Raises SubmissionError for what cannot be read, CsScoreError for what cannot be scored."""
    arguments = evidence_arguments(bundle.task, bundle.origin.options, "the bundle", "options")
    # Faults that show without gold are told to the participant in full.
    check_form_without_gold(bundle.task, arguments, submission)
    (gold_path,) = gold_paths(bundle.origin, reference, GOLD)
    result: ScoredPredictions = mode_named(bundle.task).score(gold_path, submission, **arguments)
    return aggregate_of_predictions(result, bundle.measure, Resampling(can_grow=True))


def check_form_without_gold(task: str, arguments: dict[str, Any], submission: str) -> None:
    """Raise SubmissionError for a fault in the form of predictions, and for several systems in one file.

    The predictions are read before gold is, so that the error may say in full what is wrong. `arguments` are the
    options of the task.
    """
    mode = mode_named(task).with_options(arguments)
    try:
        predictions = read_input(submission, "predictions", mode.predictions, has_lines=mode.has_lines)
        systems = mode.systems(predictions)
    except InputError as error:
        raise _with_short_name(error, submission) from None
    if len(systems) > 1:
        raise SubmissionError(f"{os.path.basename(submission)} has {len(systems)} systems: hand in one")


def _with_short_name(error: InputError, submission: str) -> SubmissionError:
    """Return an error about a submission for its participant, who knows the file by its name without a folder.

    The file of `error` is changed to this name.
    """
    name = os.path.basename(submission)
    error.file = name
    text = str(error).replace(submission, name)
    return SubmissionError(text)


# ---- Cold Start


def _score_run(bundle: Bundle, reference: str, submission: str) -> Aggregate:
    """Score a run. Raises SubmissionError for what cannot be read, CsScoreError for what cannot be scored."""
    options = cold_start_options(bundle.origin.options, "the bundle", "options")
    with paused_collector():
        queries = open_queries(options, bundle.origin, reference)
        # Faults that show without assessments are told to the participant in full.
        run_id = _id_of_only_run(queries, submission)
        assessment_paths = gold_paths(bundle.origin, reference, POOL)
        run = load_run(queries, [*assessment_paths, submission])
        scored_run = score_for_analysis(run, options.policy, run_id)
    return aggregate_of_run(scored_run, bundle.measure, Resampling(can_grow=True))


def open_queries(options: Options, origin: Origin, folder: str) -> ColdStartGold:
    """Return the queries of a bundle as gold without assessments; `folder` has the files of gold."""
    file_by_role: dict[str, Input] = {}
    for role in (QUERY_LIST, SAMPLES):
        for path in gold_paths(origin, folder, role):
            file_by_role[role] = path
    query_paths = gold_paths(origin, folder, QUERIES)
    return open_gold(query_paths, options, file_by_role=file_by_role)


def _id_of_only_run(queries: ColdStartGold, submission: str) -> str:
    """Return the id of the only run in a submission, which is read with the queries but without assessments.

    Raises SubmissionError for another kind of file, for lines that cannot be read, and for several runs.
    """
    name = os.path.basename(submission)
    try:
        if kind_of(submission) is not FileKind.RUN:
            raise SubmissionError(f"{name} is no run: its lines have another number of columns")
        run = load_run(queries, [submission])
    except InputError as error:
        raise _with_short_name(error, submission) from None
    run_ids = sorted(run.lines_by_run_id)
    if not run_ids:
        raise SubmissionError(f"{name} has no line that answers a query")
    if len(run_ids) > 1:
        raise SubmissionError(f"{name} has {len(run_ids)} run ids: hand in one run")
    return run_ids[0]
