"""What a file records: the kind of result, and what that was computed from."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from enum import Enum
from typing import Final, Literal

from cs_score.base.documents import Document, Json, check_kind, converted, read_document
from cs_score.base.documents import Kind as Type
from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record
from cs_score.base.signing.origin import Origin
from cs_score.base.signing.signature import Signature
from cs_score.base.sources import InputDigest
from cs_score.batch.documents import Leaderboard, Outcome, Overview
from cs_score.coldstart import documents
from cs_score.coldstart.options import Justifications, Options, Policy
from cs_score.evidence import report
from cs_score.measures.registry import MEASURES
from cs_score.statistics.options import Resampling
from cs_score.statistics.units import UnitTable

MOST_RESAMPLES: Final = 1_000_000
"""More were never drawn; a file that asks for more is not ours."""


class Kind(Enum):
    """What a file records."""

    COLD_START = "a Cold Start result"
    SCORES = "chosen scores of a Cold Start result"
    EVIDENCE = "a result of an evidence mode"
    LEADERBOARD = "the leaderboard of a batch"
    BATCH_RUN = "a run of a batch"
    OVERVIEW = "what the runs of a batch tell together"


_KINDS: Final[tuple[tuple[Kind, str, int], ...]] = (
    (Kind.SCORES, "measures", documents.SCORES_SCHEMA_VERSION),
    (Kind.COLD_START, "runs", documents.SCHEMA_VERSION),
    (Kind.EVIDENCE, "signature", report.SCHEMA_VERSION),
)
"""Each kind with a member that those below it lack, and the version of its schema that is written."""

_DOCUMENTS: Final[Mapping[str, tuple[Kind, type[Document]]]] = {
    "leaderboard": (Kind.LEADERBOARD, Leaderboard),
    "batch-run": (Kind.BATCH_RUN, Outcome),
    "batch": (Kind.OVERVIEW, Overview),
}


class Recorded(Record):
    """A document that records a result.

    `older` is the version of its schema where that is older than the one that is written now, else None.
    """

    kind: Kind
    value: Mapping[str, Json]
    file: str
    older: int | None = None

    def read(self, type_: type[Type], *members: str) -> Type:
        """A member of a member of the document, or the whole, as this type. Raises InputError where it is none."""
        value: Json = self.value
        for at, name in enumerate(members):
            if not isinstance(value, dict) or name not in value:
                place = ".".join(members[:at]) or "the whole"
                problem = f"has no {name}" if isinstance(value, dict) else "is no object"
                raise InputError(problem, file=self.file, place=place)
            value = value[name]
        return converted(value, type_, self.file, ".".join(members))


class Made(Record):
    """What a result was computed from, as its `signature` or `made_from` has it."""

    tool: Literal["cs-score"]
    version: str
    mode: str
    line: str
    options: dict[str, Json]
    inputs: tuple[InputDigest, ...]


class Units(Record):
    """The statistics of each unit, a row each."""

    columns: tuple[str, ...]
    ids: tuple[str, ...]
    rows: list[tuple[int | float, ...]]
    unit: str = ""

    def table(self, file: str, place: str) -> UnitTable:
        """The table. Raises InputError where rows or their numbers are missing."""
        if len(self.ids) != len(self.rows) or any(len(row) != len(self.columns) for row in self.rows):
            problem = "does not have a row for each of ids with a number for each of columns"
            raise InputError(problem, file=file, place=place)
        return UnitTable(self.ids, self.columns, self.rows)


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


def read_recorded(path: str) -> Recorded:
    """What a file records. Raises InputError for what is no result of cs-score, and for a later version of its schema.

    Only the kind and the version are looked at; the rest when it is used.
    """
    value = read_document(path, stdin_as_dash=False)
    if (named := str(value.get("kind"))) in _DOCUMENTS:
        kind_of, record = _DOCUMENTS[named]
        check_kind(value, record, path)
        return Recorded(kind_of, value, path)
    kind, _, newest = next((each for each in _KINDS if value.get(each[1]) is not None), (None, "", 0))
    if kind is None or (kind is Kind.SCORES and value.get("systems") is not None):
        raise InputError(
            "no result that can be verified",
            file=path,
            remedy="verify takes the JSON of the scorer and of evidence modes, and that of a batch: leaderboard.json, "
            "batch.json, signature.json",
        )
    place = ("signature", "schema_version") if kind is Kind.EVIDENCE else ("schema_version",)
    version = Recorded(kind, value, path).read(int, *place)
    if not 1 <= version <= newest:
        problem = f"is {version}, where this version of cs-score reads 1 to {newest}; use the version that wrote it"
        raise InputError(problem, file=path, place=".".join(place))
    return Recorded(kind, value, path, None if version == newest else version)


def made_from(value: Json, file: str, place: str) -> Made:
    """What stands at a place of a file. Raises InputError."""
    made = converted(value, Made, file, place)
    if made.mode not in MEASURES:
        raise InputError(f"is none of {', '.join(MEASURES)}", file=file, place=f"{place}.mode")
    return made


def origin_of(value: Json, file: str, place: str) -> Origin:
    """The origin that stands at a place of a file. Raises InputError."""
    made = made_from(value, file, place)
    try:
        line = Signature.parse(made.line)
    except UsageError as error:
        raise InputError(str(error), file=file, place=f"{place}.line") from None
    return Origin(made.mode, made.options, made.inputs, line.settings, line.measure, made.version)


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


def evidence_arguments(options: Mapping[str, Json], file: str, place: str) -> dict[str, object]:
    """The arguments of an evidence mode's `score`, from the options of its origin. Raises InputError."""
    types: dict[str, type] = {"any_order": bool, "ignore_missing": bool, "references": Literal[1, 2, 3]}  # type: ignore[dict-item]  # it is a type to msgspec
    known = {name: type_ for name, type_ in types.items() if name in options}
    return {name: converted(options[name], type_, file, f"{place}.{name}") for name, type_ in known.items()}


def evidence_scores(value: Mapping[str, Json], mode: str, file: str) -> dict[str, float]:
    """The measures of an evidence mode by name; some stand in groups by the first part of their names.

    Raises InputError where one is missing.
    """
    found = {}
    for measure in importlib.import_module(f"cs_score.evidence.{mode}").MODE.measures:
        group, _, last = measure.rpartition("_")
        stands = value if measure in value else value.get(group)
        name = measure if measure in value else last
        if not isinstance(stands, dict) or name not in stands:
            raise InputError(f"has no {measure}", file=file, place="the whole")
        found[measure] = converted(stands[name], float, file, measure)
    return found
