"""What a file records: which kind of result, and what it was computed from. Anybody may have written it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, cast, get_type_hints

from msgspec import UNSET, UnsetType

from cs_score.analysis.evidence.task import EvidenceTask
from cs_score.base.documents import Document, Json, check_kind, converted, member_place, read_document, record_in
from cs_score.base.documents import Kind as Type
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record
from cs_score.base.signature import Origin
from cs_score.batch.documents import Leaderboard, Outcome, Overview
from cs_score.coldstart.documents import PARTS
from cs_score.coldstart.documents import Scores as ColdStartScores
from cs_score.coldstart.options import Justifications, Options, Policy
from cs_score.evidence.report import Scores as EvidenceScores
from cs_score.measures.registry import COLD_START_MODE, parse
from cs_score.statistics.options import Resampling
from cs_score.tasks import TASKS, task_named

MOST_RESAMPLES: Final = 1_000_000
"""More were never drawn; a file that asks for more is not ours."""


class Kind(Enum):
    """What a file records."""

    SCORES = "scores"
    LEADERBOARD = "the leaderboard of a batch"
    BATCH_RUN = "a run of a batch"
    OVERVIEW = "the analyses over all runs of a batch"


_OF_BATCH: Final[Mapping[str, tuple[Kind, type[Document]]]] = {
    "leaderboard": (Kind.LEADERBOARD, Leaderboard),
    "batch-run": (Kind.BATCH_RUN, Outcome),
    "batch": (Kind.OVERVIEW, Overview),
}


class Head(Record):
    """What is read of recorded scores: every other value is only held against the one that is computed."""

    task: str
    origin: Origin
    measure: str | UnsetType = UNSET
    measures: tuple[str, ...] | UnsetType = UNSET
    units: Json | UnsetType = UNSET


class Recorded(Record):
    """A file that records a result; scores of evidence modes may stand below `signature`, beside the official ones."""

    kind: Kind
    value: Mapping[str, Json]
    file: str
    place: str = ""

    def read(self, type_: type[Type], *members: str) -> Type:
        """A member of a member of the document, or the whole, as this type. Raises InputError where it is none."""
        value: Json = self.value
        place = ""
        for name in (*filter(None, [self.place]), *members):
            if not isinstance(value, dict) or name not in value:
                problem = f"has no {name}" if isinstance(value, dict) else "is no object"
                raise InputError(problem, file=self.file, place=place or "the whole")
            value, place = value[name], member_place(place, name)
        return converted(value, type_, self.file, place)

    def head(self) -> Head:
        """What scores were computed from. Raises InputError."""
        head = self.read(Head)
        check_task(head.origin.task, self.file, self.inside("origin.task"))
        if head.task != head.origin.task:
            problem = f"is {head.task}, its origin {head.origin.task}"
            raise InputError(problem, file=self.file, place=self.inside("task"))
        return head

    def inside(self, name: str) -> str:
        """The place of a member of the document."""
        return member_place(self.place, name)


def read_recorded(path: str) -> Recorded:
    """What a file records. Raises InputError for what is no result of cs-score, and for another version.

    Only the kind and the version are looked at; the rest when it is used.
    """
    value = read_document(path, stdin_as_dash=False)
    place, head = _scores_within(value)
    if head.get("kind") == "score":
        known = ColdStartScores if head.get("task") == COLD_START_MODE else EvidenceScores
        check_kind(head, known, path, place)
        return Recorded(Kind.SCORES, value, path, place)
    if (named := str(value.get("kind"))) in _OF_BATCH:
        kind, record = _OF_BATCH[named]
        check_kind(value, record, path)
        return Recorded(kind, value, path)
    raise InputError(
        "no result that can be verified",
        file=path,
        remedy="verify takes the JSON of score and of evidence tasks, and that of a batch: leaderboard.json, "
        "batch.json, signature.json",
    )


def _scores_within(value: Mapping[str, Json]) -> tuple[str, Mapping[str, Json]]:
    """The place of the document in what a file holds: evidence tasks put it below the official measures."""
    nested = value.get("signature")
    is_official = "kind" not in value and isinstance(nested, dict)
    return ("signature", nested) if is_official and isinstance(nested, dict) else ("", value)


def read_scores(path: str) -> ColdStartScores | EvidenceScores:
    """The whole result that a file holds. Raises InputError for anything else."""
    return scores_in(read_document(path, stdin_as_dash=False), path)


def scores_in(value: Mapping[str, Json], file: str) -> ColdStartScores | EvidenceScores:
    """The whole result that an object is, all of it checked. Raises InputError for anything else."""
    place, document = _scores_within(value)
    task = str(document.get("task"))
    if document.get("kind") != "score" or task not in TASKS:
        raise InputError("no result of cs-score", file=file, remedy="a result is what -o FILE.json and to_json make")
    if task == COLD_START_MODE:
        scores = record_in(document, ColdStartScores, file, place)
        if scores.measures or any(getattr(run, part) is UNSET for run in scores.runs for part in PARTS):
            raise InputError(
                "chosen scores, not a whole result", file=file, remedy="score -o FOLDER and to_json store it"
            )
        _check_head(scores, file, place)
        for run in scores.runs:
            for measure in run.scores:
                try:
                    parse(measure)
                except UsageError as error:
                    raise InputError(str(error), file=file, place=f"runs[{run.run_id}].scores") from None
        return scores
    found = record_in(document, EvidenceScores, file, place)
    _check_head(found, file, place)
    mode = cast(EvidenceTask, task_named(task)).mode
    if found.units and found.units.columns != mode.columns:
        raise InputError(f"are not those of {task}", file=file, place=member_place(place, "units.columns"))
    if tuple(found.scores) != mode.measures:
        raise InputError(f"are not the measures of {task}", file=file, place=member_place(place, "scores"))
    return found


def _check_head(scores: ColdStartScores | EvidenceScores, file: str, place: str) -> None:
    """Raises InputError where task or signature are not those of the origin."""
    if scores.origin.task != scores.task:
        raise InputError(f"is {scores.origin.task}", file=file, place=member_place(place, "origin.task"))
    if scores.signature != str(scores.origin.signature):
        raise InputError("is not that of its origin", file=file, place=member_place(place, "signature"))


def check_task(task: str, file: str, place: str) -> None:
    """Raises InputError for what is no task."""
    if task not in TASKS:
        raise InputError(f"is none of {', '.join(TASKS)}", file=file, place=place)


class _ColdStartOptions(Record):
    right: tuple[str, ...]
    wrong: tuple[str, ...]
    ignore: tuple[str, ...]
    justifications: str
    discipline: str
    expand: str | None
    queries: str | None
    samples: str | None
    runids: tuple[str, ...] | None
    metrics: tuple[str, ...] = Options().metrics
    follow: str = Options().follow
    mention_types: str = Options().mention_types


def cold_start_options(options: Json, file: str, place: str) -> Options:
    """The options of a Cold Start scoring, from those of its origin. Raises InputError."""
    found = converted(options, _ColdStartOptions, file, place)
    try:
        return Options(
            discipline=found.discipline,
            expand=found.expand,
            justifications=Justifications.parse(found.justifications),
            policy=Policy(found.right, found.wrong, found.ignore),
            queries=found.queries,
            runids=found.runids,
            samples=found.samples,
            metrics=found.metrics,
            follow=found.follow,
            mention_types=found.mention_types,
        )
    except UsageError as error:
        raise InputError(str(error), file=file, place=place) from None


def resampling_of(settings: Json, file: str, place: str) -> Resampling | None:
    """The settings of intervals; None where there are none. Raises InputError."""
    if settings is None:
        return None
    found = converted(settings, Resampling, file, place)
    if found.resamples > MOST_RESAMPLES or found.can_grow:
        raise InputError(f"more than {MOST_RESAMPLES} resamples", file=file, place=place)
    return found


def evidence_arguments(task: str, options: Mapping[str, Json], file: str, place: str) -> dict[str, object]:
    """The arguments of an evidence task's `score`, from the options of its origin. Raises InputError."""
    types = get_type_hints(cast(EvidenceTask, task_named(task)).mode.options, include_extras=True)
    known = {name: type_ for name, type_ in types.items() if name in options}
    return {name: converted(options[name], type_, file, f"{place}.{name}") for name, type_ in known.items()}
