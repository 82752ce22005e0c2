"""What a file records, which anybody may have written, and the files that have the recorded contents."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Final, TypeAlias

from msgspec import UNSET, UnsetType, defstruct

from cs_score.base.display import one_line
from cs_score.base.documents import Json, check_kind, converted, member_place, read_document, record_in
from cs_score.base.errors import CsScoreError, InputError, UsageError
from cs_score.base.records import Record, asdict
from cs_score.base.signature import QUERY_LIST, SAMPLES, Origin
from cs_score.base.sources import InputDigest, open_source, plain_name
from cs_score.batch.documents import Leaderboard, Outcome, Overview
from cs_score.batch.plan import InputFile
from cs_score.coldstart.documents import PARTS
from cs_score.coldstart.documents import Scores as ColdStartScores
from cs_score.coldstart.linking import RUN_SUFFIX
from cs_score.coldstart.options import SCORING_OPTIONS, USUAL, Options, options_of_values
from cs_score.evidence.report import Scores as EvidenceScores
from cs_score.measures.registry import COLD_START_MODE, parse
from cs_score.statistics.options import MANY_RESAMPLES, Resampling
from cs_score.tasks import TASKS, is_task, mode_named

MOST_MENTIONS: Final = 20
"""Times that a record may name one input: each time it is scored anew, and nobody names a file more often."""


class Head(Record):
    """What is read of recorded scores: every other value is only held against the one that is computed."""

    task: str
    origin: Origin
    measure: str | UnsetType = UNSET
    measures: tuple[str, ...] | UnsetType = UNSET
    units: Json | UnsetType = UNSET
    remarks: tuple[str, ...] = ()


OfBatch: TypeAlias = Leaderboard | Overview | Outcome

_OF_BATCH: Final[Mapping[str, type[Any]]] = {"leaderboard": Leaderboard, "batch": Overview, "batch-run": Outcome}


class Recorded(Record):
    """A file that records a result: what it holds, and as a record what it was made from. Scores of evidence tasks may
    stand at the `place` `signature`, beside the official ones.
    """

    file: str
    value: Mapping[str, Json]
    made: Head | OfBatch
    place: str = ""

    def inside(self, name: str) -> str:
        """The place of a member of the document."""
        return member_place(self.place, name)


def read_recorded(path: str) -> Recorded:
    """What a file records. Raises InputError for what is no result of cs-score, and for another version."""
    value = read_document(path, stdin_as_dash=False)
    place, document = _scores_within(value)
    kind = str(document.get("kind"))
    if kind == "score":
        _refuse_several(document, path)
        check_kind(document, _kind_of_scores(document), path, place)
        head = converted(document, Head, path, place)
        check_task(head.origin.task, path, member_place(place, "origin.task"))
        if head.task != head.origin.task:
            problem = f"is {head.task}, its origin {head.origin.task}"
            raise InputError(problem, file=path, place=member_place(place, "task"))
        return Recorded(path, value, head, place)
    if place or kind not in _OF_BATCH:
        raise InputError(
            "no result that can be verified",
            file=path,
            remedy="verify takes the JSON of score and of evidence tasks, and that of a batch: leaderboard.json, "
            "batch.json, signature.json",
        )
    return Recorded(path, value, record_in(value, _OF_BATCH[kind], path))


def _refuse_several(document: Mapping[str, Json], file: str) -> None:
    """Raises InputError for the results of several runs of a task of evidence, which are recorded one by one."""
    if document.get("task") != COLD_START_MODE and "runs" in document:
        remedy = "record one: score with --run ID -o FILE.json"
        raise InputError("holds the results of several runs", file=file, remedy=remedy)


def _scores_within(value: Mapping[str, Json]) -> tuple[str, Mapping[str, Json]]:
    """The place of the document in what a file holds: evidence tasks put it below the official measures."""
    nested = value.get("signature")
    return ("signature", nested) if "kind" not in value and isinstance(nested, dict) else ("", value)


def _kind_of_scores(document: Mapping[str, Json]) -> type[ColdStartScores | EvidenceScores]:
    return ColdStartScores if document.get("task") == COLD_START_MODE else EvidenceScores


def scores_in(value: Mapping[str, Json], file: str) -> ColdStartScores | EvidenceScores:
    """Return the whole result that an object is, all of it checked. Raises InputError for anything else."""
    scores = any_scores_in(value, file)
    if isinstance(scores, ColdStartScores) and not _is_whole(scores):
        raise InputError("chosen scores, not a whole result", file=file, remedy="score -o FOLDER and to_json store it")
    return scores


def _is_whole(scores: ColdStartScores) -> bool:
    if scores.measures:
        return False
    return not any(getattr(run, part) is UNSET for run in scores.runs for part in PARTS)


def any_scores_in(value: Mapping[str, Json], file: str) -> ColdStartScores | EvidenceScores:
    """Return the scores that an object is, a whole result or chosen ones, all of it checked.

    Raises InputError for anything else.
    """
    place, document = _scores_within(value)

    def refused(problem: str, member: str) -> InputError:
        return InputError(problem, file=file, place=member_place(place, member))

    _refuse_several(document, file)
    if document.get("kind") != "score" or not is_task(document.get("task")):
        raise InputError("no result of cs-score", file=file, remedy="a result is what -o FILE.json and to_json make")
    scores = record_in(document, _kind_of_scores(document), file, place)
    if scores.origin.task != scores.task:
        raise refused(f"is {scores.origin.task}", "origin.task")
    if scores.signature != str(scores.origin.signature):
        raise refused("is not that of its origin", "signature")
    if isinstance(scores, ColdStartScores):
        for run in scores.runs:
            try:
                _ = [parse(measure) for measure in run.scores]
            except UsageError as error:
                raise refused(str(error), f"runs[{run.run_id}].scores") from None
        return scores
    mode = mode_named(scores.task)
    if scores.units and scores.units.columns != mode.columns:
        raise refused(f"are not those of {scores.task}", "units.columns")
    undefined = scores.undefined or {}
    if tuple(scores.scores) != tuple(name for name in mode.measures if name not in undefined):
        raise refused(f"are not the measures of {scores.task}", "scores")
    return scores


def check_task(task: str, file: str, place: str) -> None:
    """Raises InputError for what is no task."""
    if not is_task(task):
        raise InputError(f"is none of {', '.join(TASKS)}", file=file, place=place)


def _json_fields() -> list[tuple[str, Any] | tuple[str, Any, Any]]:
    """Return the members that the options in an origin have: names, types, and usual values of what may be left out."""
    needed: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    optional: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    for option in SCORING_OPTIONS:
        if option.is_recorded(option, USUAL):
            needed.append((option.name, option.json_type))
        else:
            optional.append((option.name, option.json_type, option.usual))
    return needed + optional


_ColdStartOptions: Final = defstruct("_ColdStartOptions", _json_fields(), bases=(Record,), frozen=True)


def cold_start_options(options: Json, file: str, place: str) -> Options:
    """Return the options of a Cold Start scoring, from those of its origin. Raises InputError."""
    values = asdict(converted(options, _ColdStartOptions, file, place))
    try:
        return options_of_values(values)
    except UsageError as error:
        raise InputError(str(error), file=file, place=place) from None


def resampling_of(settings: Json, file: str, place: str, *, is_forced: bool) -> Resampling | None:
    """Return the settings of intervals; None where there are none.

    Raises InputError for what are none, and for many resamples unless that `is_forced`: anybody may have written the
    file.
    """
    if settings is None:
        return None
    resampling = converted(settings, Resampling, file, place)
    if resampling.can_grow:
        raise InputError("says no number of resamples", file=file, place=place)
    if resampling.resamples > MANY_RESAMPLES and not is_forced:
        problem = f"asks for {resampling.resamples} resamples, which may take hours and much memory"
        raise InputError(problem, file=file, place=place, remedy="verify with --force if that is meant")
    return resampling


def evidence_arguments(task: str, options: Mapping[str, Json], file: str, place: str) -> dict[str, Any]:
    """The arguments of an evidence task's `score`, from the options of its origin. Raises InputError."""
    return asdict(converted(options, mode_named(task).options, file, place))


# ---- The inputs of a result, wherever they lie now

_AS_STORED: Final = frozenset({QUERY_LIST, SAMPLES})
"""Roles in which a file is read as it is stored, since an option names it."""


class NotFoundError(CsScoreError):
    """Inputs that are missing or changed: a line for each, without the name of the file that records them."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = tuple(map(one_line, lines))
        super().__init__("; ".join(self.lines))


class FoundInput(Record, dict=True):
    """An input as recorded, and a file with that content."""

    recorded: InputDigest
    path: str

    def held(self) -> InputFile:
        """Return the content, under the name that the input had. Raises InputError where it cannot be read."""
        return InputFile(self.recorded.name, content=self._content)

    @cached_property
    def _content(self) -> bytes:
        """The content, which is read once however often the record names the input."""
        is_packed = self.recorded.role not in _AS_STORED
        with open_source(self.path, stdin_as_dash=False, decompress=is_packed) as source:
            return source.read_bytes()


class Places:
    """Where inputs may be: `given` are files and folders, `beside` is the folder of the file that records a result.
    Each file is read once, and no more of them than are needed: those that are called as an input first. With
    `is_forced` the user has allowed what takes long.
    """

    def __init__(self, given: Sequence[str], beside: str, *, is_forced: bool = False) -> None:
        self.is_forced = is_forced
        self._given = list(_files(given))
        self._named: dict[str, list[str]] = {}
        for path in self._given:
            self._named.setdefault(os.path.basename(path), []).append(path)
        self._beside = beside
        self._digests: dict[tuple[str, bool], str | None] = {}
        self._by_digest: dict[bool, dict[str | None, str]] = {}

    def find(self, inputs: Iterable[InputDigest]) -> list[FoundInput]:
        """Return a file for each input, the same one for those that are named repeatedly.

        Raises NotFoundError, which names all that have none, and InputError for an input that is named too often.
        """
        found: list[FoundInput] = []
        lines: list[str] = []
        found_by_input: dict[InputDigest, FoundInput] = {}
        mentions: Counter[str] = Counter()
        for wanted in inputs:
            mentions[wanted.sha256] += 1
            if mentions[wanted.sha256] > MOST_MENTIONS:
                raise InputError(f"the record names it more than {MOST_MENTIONS} times", file=wanted.name)
            if wanted in found_by_input:
                found.append(found_by_input[wanted])
                continue
            there = [path for path in (wanted.name, os.path.join(self._beside, wanted.name)) if _is_file(path)]
            known = chain(self._named.get(os.path.basename(wanted.name), ()), there)
            fitting = next((path for path in known if self._digest(wanted, path) == wanted.sha256), None)
            fitting = fitting or self._by_content(wanted).get(wanted.sha256)
            if fitting is None:
                lines.append(self._complaint(wanted, there))
            else:
                found_by_input[wanted] = FoundInput(wanted, fitting)
                found.append(found_by_input[wanted])
        if lines:
            raise NotFoundError(lines)
        return found

    def has_empty_folder(self, name: str) -> bool:
        """Return whether there is a folder of this name, where it was or beside the record, without a run in it."""
        for path in (name, os.path.join(self._beside, name)):
            with contextlib.suppress(OSError, ValueError):
                if os.path.isdir(path):
                    return not any(plain_name(file).endswith(RUN_SUFFIX) for file in os.listdir(path))
        return False

    def _by_content(self, wanted: InputDigest) -> dict[str | None, str]:
        """The files given by their digests as inputs of this role have them; of several with one content the first."""
        as_stored = wanted.role in _AS_STORED
        if as_stored not in self._by_digest:
            self._by_digest[as_stored] = {self._digest(wanted, path): path for path in reversed(self._given)}
        return self._by_digest[as_stored]

    def _digest(self, wanted: InputDigest, path: str) -> str | None:
        """The digest of a file as inputs of this role have it; None where it cannot be read."""
        as_stored = wanted.role in _AS_STORED
        if (path, as_stored) not in self._digests:
            try:
                with open_source(path, stdin_as_dash=False, decompress=not as_stored) as source:
                    self._digests[path, as_stored] = source.digest(wanted.role).sha256
            except (InputError, OSError):
                self._digests[path, as_stored] = None
        return self._digests[path, as_stored]

    def _complaint(self, wanted: InputDigest, there: Sequence[str]) -> str:
        number = len(self._given)
        among = f", nor has any of the {number} files given that content" if number else ""
        if not there:
            return f"{wanted.name} ({wanted.role}) is missing{among}; its SHA-256 was {wanted.sha256}"
        now = self._digest(wanted, there[0])
        state = f"its SHA-256 was {wanted.sha256}, and is {now}" if now else "it cannot be read"
        return f"{wanted.name} ({wanted.role}) was changed{among}: {state}"


def _files(given: Sequence[str]) -> Iterator[str]:
    """The files given, and those in the folders given. Raises InputError for what is neither."""
    for word in given:
        if os.path.isdir(word):
            for folder, folders, names in os.walk(word):
                folders.sort()
                yield from filter(_is_file, (os.path.join(folder, name) for name in sorted(names)))
        elif _is_file(word):
            yield word
        else:
            raise InputError(f"Could not open {word}: no file and no folder")


def _is_file(path: str) -> bool:
    """Whether there is an ordinary file, which can be read more than once."""
    try:
        return os.path.isfile(path)
    except ValueError:  # a NUL inside the name, which no file has
        return False
