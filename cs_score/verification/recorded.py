"""Which kind of result a file records, and what that was computed from."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from enum import Enum
from typing import Final, cast

from cs_score.base.errors import InputError, UsageError
from cs_score.base.records import Record
from cs_score.base.signing.origin import ROLES, Origin
from cs_score.base.signing.signature import Signature
from cs_score.base.sources import InputDigest
from cs_score.batch.store import state
from cs_score.batch.tables import leaderboard_writers, many_writers
from cs_score.coldstart import documents
from cs_score.coldstart.options import Justifications, Options, Policy
from cs_score.evidence import report
from cs_score.measures.registry import COLD_START_MODE, MEASURES
from cs_score.statistics.options import INTERVAL_METHODS, IntervalMethod, Resampling
from cs_score.verification.told import Told, read_told

MOST_RESAMPLES: Final = 1_000_000
"""More were never drawn; a file that asks for more is not ours."""

EVIDENCE_MODES: Final = tuple(mode for mode in MEASURES if mode != COLD_START_MODE)

_SHA256: Final = re.compile("[0-9a-f]{64}")


class Kind(Enum):
    """What a file records."""

    COLD_START = "a Cold Start result"
    SCORES = "chosen scores of a Cold Start result"
    EVIDENCE = "a result of an evidence mode"
    LEADERBOARD = "the leaderboard of a batch"
    BATCH_RUN = "a run of a batch"
    OVERVIEW = "what the runs of a batch tell together"


_KINDS: Final[tuple[tuple[Kind, str, int], ...]] = (
    (Kind.LEADERBOARD, "sorted_by", leaderboard_writers.SCHEMA_VERSION),
    (Kind.BATCH_RUN, "digest", state.SCHEMA_VERSION),
    (Kind.OVERVIEW, "agreement", many_writers.SCHEMA_VERSION),
    (Kind.SCORES, "measures", documents.SCORES_SCHEMA_VERSION),
    (Kind.COLD_START, "runs", documents.SCHEMA_VERSION),
    (Kind.EVIDENCE, "signature", report.SCHEMA_VERSION),
)
"""Each kind with a member that those below it lack, and the version of its schema that is read."""


class Recorded(Record):
    """A file that records a result: its kind, and what it tells.

    `older` is the version of its schema where that is older than the one that is written now, else None.
    """

    kind: Kind
    told: Told
    older: int | None = None

    @property
    def file(self) -> str:
        """The name of the file, as given."""
        return self.told.file


def read_recorded(path: str) -> Recorded:
    """What a file records. Raises InputError for what is no result of cs-score, and for a later version of its schema.

    Only the kind and the version are looked at; the rest when it is used.
    """
    told = read_told(path)
    kind = next((each for each in _KINDS if told.get(each[1]) is not None), None)
    if kind is None or (kind[0] is Kind.SCORES and told.get("systems") is not None):
        raise InputError(
            "no result that can be verified",
            file=path,
            remedy="verify takes the JSON of the scorer and of evidence modes, and that of a batch: leaderboard.json, "
            "batch.json, signature.json",
        )
    versioned = told["signature"] if kind[0] is Kind.EVIDENCE else told
    version = versioned["schema_version"]
    if type(version.value) is not int or not 1 <= version.value <= kind[2]:
        raise version.wrong(
            f"is {version.value!r}, where this version of cs-score reads 1 to {kind[2]}; use the version that wrote it"
        )
    return Recorded(kind[0], told, None if version.value == kind[2] else version.value)


def origin_of(told: Told) -> Origin:
    """What a result was computed from, as its `signature` or `made_from` tells. Raises InputError."""
    told["tool"].text(("cs-score",))
    mode = told["mode"].text(tuple(MEASURES))
    with _placed(told["line"]):
        line = Signature.parse(told["line"].text())
    options = told["options"].members()
    return Origin(
        mode,
        {name: value.value for name, value in options.items()},
        tuple(map(_input, told["inputs"].entries())),
        line.settings,
        line.measure,
        told["version"].text(),
    )


def _input(told: Told) -> InputDigest:
    sha256 = told["sha256"]
    if not _SHA256.fullmatch(sha256.text()):
        raise sha256.wrong("is no SHA-256")
    return InputDigest(told["name"].text(), sha256.text(), told["role"].text(ROLES))


def cold_start_options(told: Told) -> Options:
    """The options of a Cold Start scoring, from the `options` of its origin. Raises InputError."""
    sides = {side: told[side].texts() for side in ("right", "wrong", "ignore")}
    runids, metrics = told["runids"], told.get("metrics")
    with _placed(told):
        return Options(
            discipline=told["discipline"].text(),
            expand=told["expand"].optional_text(),
            justifications=Justifications.parse(told["justifications"].text()),
            policy=Policy(**sides),
            queries=told["queries"].optional_text(),
            runids=None if runids.value is None else runids.texts(),
            samples=told["samples"].optional_text(),
            metrics=Options().metrics if metrics is None else metrics.texts(),
        )


def was_validated(told: Told) -> bool:
    """Whether runs were validated on the way to the scorer, as the `options` of an origin tell. Raises InputError."""
    validate = told.get("validate")
    return validate is not None and validate.flag()


def resampling_of(told: Told | None) -> Resampling | None:
    """The settings of intervals; None where there are none. Raises InputError."""
    if told is None or told.value is None:
        return None
    with _placed(told):
        return Resampling(
            told["resamples"].whole_number(1, MOST_RESAMPLES),
            told["seed"].whole_number(0, 10**100),
            told["confidence"].number(),
            cast(IntervalMethod, told["method"].text(INTERVAL_METHODS)),
            told["unit"].text(),
        )


def evidence_arguments(told: Told) -> dict[str, object]:
    """The arguments of an evidence mode's `score`, from the `options` of its origin. Raises InputError."""
    found: dict[str, object] = {}
    for name, option in told.members().items():
        if name in ("any_order", "ignore_missing"):
            found[name] = option.flag()
        elif name == "references":
            found[name] = option.whole_number(1, 3)
    return found


@contextlib.contextmanager
def _placed(told: Told) -> Iterator[None]:
    """A block whose UsageErrors are what is wrong with a value."""
    try:
        yield
    except UsageError as error:
        raise told.wrong(str(error)) from None
