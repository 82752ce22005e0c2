"""Read recorded scores and their settings from JSON, which may have been edited by anybody. Recorded scores have an
origin (task, options and digests of the inputs), and a signature that is computed from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from msgspec import UNSET, defstruct

from cs_score.base.documents import Json, checked_record, convert_value, member_place
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record, asdict
from cs_score.coldstart.options import DEFAULT_OPTIONS, SCORING_OPTIONS, Options, options_of_values
from cs_score.coldstart.score_documents import PARTS, RunScoresDocument
from cs_score.evidence.report import PredictionScores
from cs_score.measures import COLD_START_MODE, parse_measure
from cs_score.statistics.resampling_settings import MANY_RESAMPLES, Resampling
from cs_score.tasks import TASKS, is_task, mode_named


def refuse_several_runs(document: Mapping[str, Json], file: str) -> None:
    """Raise InputError if a document, which was read from `file`, has the results of several runs of an evidence task.

    A document of such a task must be about a single run. Documents of Cold Start may have several runs.
    """
    is_evidence_task = document.get("task") != COLD_START_MODE
    if is_evidence_task and "runs" in document:
        remedy = "record one: score with --run ID -o FILE.json"
        raise InputError("holds the results of several runs", file=file, remedy=remedy)


class PlacedDocument(NamedTuple):
    """A document, and the member of a file's JSON that holds it; empty if the document is the whole JSON."""

    place: str
    document: Mapping[str, Json]


def find_scores(value: Mapping[str, Json]) -> PlacedDocument:
    """Return the document of scores in `value`, the JSON of a file, and its place there.

    Usually it is the whole JSON. Files of evidence tasks may have it in the member `signature`, beside the official
    measures: `{"f1": 0.5, "signature": {"kind": "score", ...}}`.
    """
    nested = value.get("signature")
    if "kind" not in value and isinstance(nested, dict):
        return PlacedDocument("signature", nested)
    return PlacedDocument("", value)


def type_of_scores(document: Mapping[str, Json]) -> type[RunScoresDocument | PredictionScores]:
    """Return the class of records for a document of scores: one class for Cold Start, one for all evidence tasks."""
    if document.get("task") == COLD_START_MODE:
        return RunScoresDocument
    return PredictionScores


def read_whole_scores(value: Mapping[str, Json], file: str) -> RunScoresDocument | PredictionScores:
    """Return the scores in `value`, the JSON of a file, which must hold a whole result.

    A whole result has all measures, and all details of each run. Raises InputError for anything else.
    """
    scores = read_scores(value, file)
    if isinstance(scores, RunScoresDocument) and not _is_whole(scores):
        raise InputError("chosen scores, not a whole result", file=file, remedy="score -o FOLDER and to_json store it")
    return scores


def _is_whole(scores: RunScoresDocument) -> bool:
    """Return whether scores are a whole result: all measures, with all details of each run."""
    if scores.measures:  # the measures that somebody chose
        return False
    for run in scores.runs:
        for part in PARTS:
            if getattr(run, part) is UNSET:
                return False
    return True


def read_scores(value: Mapping[str, Json], file: str) -> RunScoresDocument | PredictionScores:
    """Return the scores in `value`, the JSON of a file, which holds a whole result or chosen measures only.

    Raises InputError if it holds no scores, and if its members contradict each other.
    """
    place, document = find_scores(value)
    refuse_several_runs(document, file)
    if document.get("kind") != "score" or not is_task(document.get("task")):
        raise InputError("no result of cs-score", file=file, remedy="a result is what -o FILE.json and to_json make")
    scores = checked_record(document, type_of_scores(document), file, place)
    try:
        _check_consistency(scores)
    except _InconsistentMemberError as error:
        raise InputError(error.problem, file=file, place=member_place(place, error.member)) from None
    return scores


class _InconsistentMemberError(Exception):
    """A member of recorded scores that contradicts the rest."""

    def __init__(self, member: str, problem: str) -> None:
        """Report the problem of a member, such as `"signature"` and `"is not that of its origin"`."""
        super().__init__(member, problem)
        self.member = member
        self.problem = problem


def _check_consistency(scores: RunScoresDocument | PredictionScores) -> None:
    """Raise _InconsistentMemberError if task, origin, signature and measures of scores contradict each other."""
    if scores.origin.task != scores.task:
        raise _InconsistentMemberError("origin.task", f"is {scores.origin.task}")
    if scores.signature != str(scores.origin.signature):
        raise _InconsistentMemberError("signature", "is not that of its origin")
    if isinstance(scores, RunScoresDocument):
        _check_measures_of_runs(scores)
    else:
        _check_measures_of_predictions(scores)


def _check_measures_of_predictions(scores: PredictionScores) -> None:
    """Raise _InconsistentMemberError if the scores of an evidence task have other statistics or measures than the task.

    They must have all measures of the task, in its order, except for measures that are undefined for the predictions.
    """
    mode = mode_named(scores.task)
    if scores.units and scores.units.columns != mode.columns:
        raise _InconsistentMemberError("units.columns", f"are not those of {scores.task}")
    undefined = scores.undefined or {}
    defined_measures = [measure for measure in mode.measures if measure not in undefined]
    if list(scores.scores) != defined_measures:
        raise _InconsistentMemberError("scores", f"are not the measures of {scores.task}")


def _check_measures_of_runs(scores: RunScoresDocument) -> None:
    """Raise _InconsistentMemberError if a run has a score under a name that is no measure."""
    for run in scores.runs:
        for measure in run.scores:
            try:
                parse_measure(measure)
            except UsageError as error:
                raise _InconsistentMemberError(f"runs[{run.run_id}].scores", str(error)) from None


def check_task(task: str, file: str, place: str) -> None:
    """Raise InputError if no task is called `task`; `place` is the member of the file that names it."""
    if not is_task(task):
        raise InputError(f"is none of {', '.join(TASKS)}", file=file, place=place)


def _json_fields() -> list[tuple[str, Any] | tuple[str, Any, Any]]:
    """Return the name and type of each scoring option, which define the class of the options in JSON.

    For an option that may be left out of JSON, the default is added as a third value. These options come last.
    """
    required_fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    optional_fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for option in SCORING_OPTIONS:
        is_always_recorded = option.is_recorded(DEFAULT_OPTIONS)  # even if it has its default value
        if is_always_recorded:
            required_fields.append((option.name, option.json_type))
        else:
            optional_fields.append((option.name, option.json_type, option.default))
    return required_fields + optional_fields


_ColdStartOptions: Final = defstruct("_ColdStartOptions", _json_fields(), bases=(Record,), frozen=True)


def cold_start_options(options: Json, file: str, place: str) -> Options:
    """Return the options of a Cold Start scoring from the JSON of the options in its origin.

    Raises InputError if they are invalid; the error names the `file`, and the `place` of the options in it, such as
    `origin.options`.
    """
    values = asdict(convert_value(options, _ColdStartOptions, file, place))
    try:
        return options_of_values(values)
    except UsageError as error:
        raise InputError(str(error), file=file, place=place) from None


def resampling_of(settings: Json, file: str, place: str, *, is_forced: bool) -> Resampling | None:
    """Return the settings of intervals from their JSON, or None if the JSON is null, which means no intervals.

    Raises InputError for invalid settings; the error names the `file` and the `place` of the settings in it. Since
    anybody may have written the file, InputError is also raised for a very large number of resamples, unless
    `is_forced`.
    """
    if settings is None:
        return None
    resampling = convert_value(settings, Resampling, file, place)
    # Without a number of resamples, a computation draws as many as it needs. Recorded settings have the number of
    # resamples that were drawn and do not have the member `can_grow`.
    if resampling.can_grow:
        raise InputError("says no number of resamples", file=file, place=place)
    if resampling.resamples > MANY_RESAMPLES and not is_forced:
        problem = f"asks for {resampling.resamples} resamples, which may take hours and much memory"
        raise InputError(problem, file=file, place=place, remedy="verify with --force if that is meant")
    return resampling


def evidence_arguments(task: str, options: Mapping[str, Json], file: str, place: str) -> dict[str, Any]:
    """Return the arguments for scoring an evidence task from the JSON of the options in the origin of a result.

    Raises InputError if they are invalid; the error names the `file`, and the `place` of the options in it, such as
    `origin.options`.
    """
    class_of_options = mode_named(task).options
    return asdict(convert_value(options, class_of_options, file, place))
