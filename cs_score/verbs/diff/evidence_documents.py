"""The difference of two results of an evidence task, as a document that is written as JSON."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, UnsetType

from cs_score.analysis.outcomes import PairOutcome, TwoSided
from cs_score.base.records import Record


class UnitDifference(Record):
    """A unit that counts differently in A and B: its own scores, 0..1 (null: not scored), and what it contributes.

    The contributions of all units add up to the difference of the scores; null where they are not defined.
    """

    unit: Any
    occurrence: int
    a: float | None
    b: float | None
    contribution: float | None


class Judgment(Record):
    """How a part was judged on one side."""

    right: bool
    judgment: str


class Answer(Record):
    """A part of a unit that was judged differently in A and B; null where nothing was predicted for it."""

    unit: Any
    occurrence: int
    part: str
    value: Any
    a: Judgment | None
    b: Judgment | None
    outcome: PairOutcome


class OutcomeCount(Record):
    """How many parts of a sort had an outcome, equal ones included."""

    part: str
    outcome: PairOutcome
    count: int


class GroupDifference(Record):
    """The scores of a group of units in A and B, and what its units contribute together (null: not defined)."""

    group: str
    a: float
    b: float
    contribution: float | None


class EvidenceDifference(TwoSided, frozen=True, kw_only=True, tag="difference"):
    """Why B scores otherwise than A under a measure.

    `units` are those that count differently, the largest contribution first, `answers` the parts of gold and
    predictions that were judged differently. `heads` say what was scored on either side.
    """

    schema_version: Literal[3] = 3
    heads: dict[str, tuple[str, ...]] | UnsetType = UNSET
    units: tuple[UnitDifference, ...]
    answers: tuple[Answer, ...]
    outcomes: tuple[OutcomeCount, ...]
    groups: dict[str, tuple[GroupDifference, ...]]
