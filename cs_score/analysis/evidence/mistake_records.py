"""The records that analyses, differences and explanations of evidence tasks are made of, as their JSON has them."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from cs_score.base.records import Record


class EvidenceMistake(Record):
    """One fault of a prediction, and what it costs.

    `unit` is the id of the claim, instance or question as it stands in gold, `occurrence` which of those with the id it
    is (from 1). `effects` has the difference that correcting it makes to each measure, null where the scorer would
    refuse that prediction, and `reason` says why; `gain` is the effect on the measure that was asked about.
    `prediction` is the unit's new value in the predictions file; null: the unit is left out.
    """

    kind: str
    unit: Any
    occurrence: int
    part: str | int | None
    predicted: Any
    gold: Any
    gain: float | None
    effects: dict[str, float | None]
    prediction: Any
    reason: str | UnsetType = UNSET


class EvidenceBudgetRow(Record):
    """A kind of mistakes: how many there are, the score if they and no others were corrected, and what that gains.

    `cumulated` is the score if they and those of all kinds before were corrected, one kind after the other: what that
    uncovers is corrected with its own kind.
    """

    kind: str
    count: int
    gain: float
    score: float
    cumulated: float


class EvidenceGroup(Record):
    """Units that have something in common: the totals of their statistics, their scores, their mistakes.

    `precision`, `recall` and `f1` are those that belong to the measure that was asked about, null where it has none.
    `share` is that of all mistakes, 0..1; null for an aspect, since a mistake may count in several of them. `units` is
    the number of units.
    """

    group: str
    units: int
    counts: dict[str, int | float]
    precision: float | None
    recall: float | None
    f1: float | None
    scores: dict[str, float]
    mistakes: int
    share: float | None


class ConfusionCount(Record):
    """How often a label of gold stands beside a predicted label."""

    of: str
    gold: str
    predicted: str
    count: int


class UnitSteps(Record):
    """How a unit was scored: the numbers of its texts."""

    unit: Any
    occurrence: int
    steps: tuple[int, ...]


class EvidenceExplanations(Record):
    """How units were scored, as texts; `left_out` counts the units that are not explained."""

    left_out: int
    units: tuple[UnitSteps, ...]
    texts: tuple[str, ...]


class EvidenceScenario(Record):
    """The scores if all answers that nobody has assessed were wrong, or right; they are scenarios and no limits.

    `assumption` says what is assumed, `score` is that of the measure that was asked about.
    """

    scenario: str
    assumption: str
    score: float
    scores: dict[str, float]


class PolicyScores(Record):
    """The scores under another policy, and the difference to those under the policy in force.

    `reason` says why there are none; `score` is that of the measure that was asked about.
    """

    policy: str
    score: float | None
    difference: float | None
    scores: dict[str, float]
    reason: str | None = None


class ExplainedUnit(Record):
    """How one unit was scored.

    `lines` say it in words, text from the inputs as it was read; `statistics` are what it adds to the totals, `scores`
    the measures (0..1) that it would have alone; `mistakes` are sorted by gain.
    """

    unit: Any
    occurrence: int
    lines: tuple[str, ...]
    statistics: dict[str, int | float]
    scores: dict[str, float]
    prediction: Any
    mistakes: tuple[EvidenceMistake, ...]
