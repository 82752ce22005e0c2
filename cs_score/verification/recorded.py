"""Functions that read recorded results from JSON files, which may have been edited by anybody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType, defstruct

from cs_score.base.documents import Json, check_kind, convert_value, member_place, read_document, record_in
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record, asdict
from cs_score.base.signature import Origin
from cs_score.batch.documents import BatchOverview, LeaderboardDocument, Outcome
from cs_score.coldstart.documents import PARTS, RunScoresDocument
from cs_score.coldstart.options import SCORING_OPTIONS, USUAL, Options, options_of_values
from cs_score.evidence.report import PredictionScores
from cs_score.measures.registry import COLD_START_MODE, parse
from cs_score.statistics.options import MANY_RESAMPLES, Resampling
from cs_score.tasks import TASKS, is_task, mode_named


class Head(Record):
    """The members of recorded scores that are read; every other value is only compared with the computed one."""

    task: str
    origin: Origin
    measure: str | UnsetType = UNSET
    measures: tuple[str, ...] | UnsetType = UNSET
    units: Json | UnsetType = UNSET
    remarks: tuple[str, ...] = ()
    empty_folders: tuple[str, ...] = ()


BatchRecord: TypeAlias = LeaderboardDocument | BatchOverview | Outcome

_BATCH_RECORDS: Final[Mapping[str, type[Any]]] = {
    "leaderboard": LeaderboardDocument,
    "batch": BatchOverview,
    "batch-run": Outcome,
}
"""The records of a batch by the kind of their document."""


class Recorded(Record):
    """A file that records a result: its whole JSON (`value`), and its members as a record (`contents`).

    `place` is the member of the JSON that holds the document. It is `signature` for a file that has the official
    measures of an evidence task beside the document, empty otherwise.
    """

    file: str
    value: Mapping[str, Json]
    contents: Head | BatchRecord
    place: str = ""

    def inside(self, name: str) -> str:
        """Return the place of a member of the document in the file, for messages: `signature.origin`."""
        return member_place(self.place, name)


def read_recorded(path: str) -> Recorded:
    """Return the record of a result in a JSON file.

    Raises InputError for a file that holds no result, or one of another version of the format.
    """
    value = read_document(path, stdin_as_dash=False)
    place, document = _find_scores(value)
    kind = str(document.get("kind"))
    if kind == "score":
        _refuse_several(document, path)
        check_kind(document, _type_of_scores(document), path, place)
        head = convert_value(document, Head, path, place)
        check_task(head.origin.task, path, member_place(place, "origin.task"))
        if head.task != head.origin.task:
            problem = f"is {head.task}, its origin {head.origin.task}"
            raise InputError(problem, file=path, place=member_place(place, "task"))
        return Recorded(path, value, head, place)
    if place or kind not in _BATCH_RECORDS:
        raise InputError(
            "no result that can be verified",
            file=path,
            remedy="verify takes the JSON of score and of evidence tasks, and that of a batch: leaderboard.json, "
            "batch.json, signature.json",
        )
    return Recorded(path, value, record_in(value, _BATCH_RECORDS[kind], path))


def _refuse_several(document: Mapping[str, Json], file: str) -> None:
    """Raise InputError if a document has the results of several runs of an evidence task.

    Only the result of a single run can be verified.
    """
    if document.get("task") != COLD_START_MODE and "runs" in document:
        remedy = "record one: score with --run ID -o FILE.json"
        raise InputError("holds the results of several runs", file=file, remedy=remedy)


class _PlacedDocument(NamedTuple):
    """A document, and the member of a file's JSON that holds it; empty if the document is the whole JSON."""

    place: str
    document: Mapping[str, Json]


def _find_scores(value: Mapping[str, Json]) -> _PlacedDocument:
    """Return the document of scores in the JSON of a file.

    Evidence tasks may put it into the member `signature`, beside the official measures.
    """
    nested = value.get("signature")
    if "kind" not in value and isinstance(nested, dict):
        return _PlacedDocument("signature", nested)
    return _PlacedDocument("", value)


def _type_of_scores(document: Mapping[str, Json]) -> type[RunScoresDocument | PredictionScores]:
    """Return the class of records for the scores of the task that a document names."""
    return RunScoresDocument if document.get("task") == COLD_START_MODE else PredictionScores


def scores_in(value: Mapping[str, Json], file: str) -> RunScoresDocument | PredictionScores:
    """Return the scores of a JSON object that holds a whole result, not chosen scores.

    Raises InputError for anything else.
    """
    scores = any_scores_in(value, file)
    if isinstance(scores, RunScoresDocument) and not _is_whole(scores):
        raise InputError("chosen scores, not a whole result", file=file, remedy="score -o FOLDER and to_json store it")
    return scores


def _is_whole(scores: RunScoresDocument) -> bool:
    """Return whether scores are a whole result: all measures, with all details of each run."""
    if scores.measures:  # the measures that somebody chose
        return False
    missing_parts = [part for run in scores.runs for part in PARTS if getattr(run, part) is UNSET]
    return not missing_parts


def any_scores_in(value: Mapping[str, Json], file: str) -> RunScoresDocument | PredictionScores:
    """Return the scores of a JSON object, which holds a whole result or chosen measures only.

    Raises InputError for an object without scores, and if its members contradict each other.
    """
    place, document = _find_scores(value)
    _refuse_several(document, file)
    if document.get("kind") != "score" or not is_task(document.get("task")):
        raise InputError("no result of cs-score", file=file, remedy="a result is what -o FILE.json and to_json make")
    scores = record_in(document, _type_of_scores(document), file, place)
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
        return
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
                parse(measure)
            except UsageError as error:
                raise _InconsistentMemberError(f"runs[{run.run_id}].scores", str(error)) from None


def check_task(task: str, file: str, place: str) -> None:
    """Raise InputError if no task is called `task`; `place` is the member of the file that names it."""
    if not is_task(task):
        raise InputError(f"is none of {', '.join(TASKS)}", file=file, place=place)


def _json_fields() -> list[tuple[str, Any] | tuple[str, Any, Any]]:
    """Return the name and type of each member of the options in an origin, with a default if it may be left out."""
    needed: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    optional: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for option in SCORING_OPTIONS:
        if option.is_recorded(option, USUAL):
            needed.append((option.name, option.json_type))
        else:
            optional.append((option.name, option.json_type, option.default))
    return needed + optional


_ColdStartOptions: Final = defstruct("_ColdStartOptions", _json_fields(), bases=(Record,), frozen=True)


def cold_start_options(options: Json, file: str, place: str) -> Options:
    """Return the options of a Cold Start scoring from the JSON of the options in its origin.

    Raises InputError, which names the `file` and the `place` of the options, for invalid ones.
    """
    values = asdict(convert_value(options, _ColdStartOptions, file, place))
    try:
        return options_of_values(values)
    except UsageError as error:
        raise InputError(str(error), file=file, place=place) from None


def resampling_of(settings: Json, file: str, place: str, *, is_forced: bool) -> Resampling | None:
    """Return the settings of intervals from their JSON; None if there are none.

    Raises InputError for invalid settings. It is raised, too, for very many resamples unless `is_forced`, since anybody
    may have written the file.
    """
    if settings is None:
        return None
    resampling = convert_value(settings, Resampling, file, place)
    if resampling.can_grow:
        raise InputError("says no number of resamples", file=file, place=place)
    if resampling.resamples > MANY_RESAMPLES and not is_forced:
        problem = f"asks for {resampling.resamples} resamples, which may take hours and much memory"
        raise InputError(problem, file=file, place=place, remedy="verify with --force if that is meant")
    return resampling


def evidence_arguments(task: str, options: Mapping[str, Json], file: str, place: str) -> dict[str, Any]:
    """Return the arguments of an evidence task's `score` from the JSON of the options in its origin.

    Raises InputError, which names the `file` and the `place` of the options, for invalid ones.
    """
    return asdict(convert_value(options, mode_named(task).options, file, place))
