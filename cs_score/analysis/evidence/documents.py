"""The documents about results of evidence tasks, which are written as JSON: analysis, difference, explanation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import UNSET, UnsetType

from cs_score.analysis.outcomes import PairOutcome, TwoSided
from cs_score.base.documents import Document
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


class EvidenceAnalysis(Document, frozen=True, kw_only=True, tag="analysis"):
    """Why a score is what it is.

    `score` is that of the measure that was asked about, 0..1. `mistakes` are sorted by gain, at most `top`; `budget`
    has a row for each kind of mistakes, `groups` are by dimension; `units` counts those that were scored. `head` says
    what was scored, `undefined` why measures have no value; `scenarios` and `policies` are there in tasks that have
    them.
    """

    schema_version: Literal[3] = 3
    head: tuple[str, ...] | UnsetType = UNSET
    score: float
    scores: dict[str, float]
    undefined: dict[str, str] | UnsetType = UNSET
    scenarios: tuple[EvidenceScenario, ...] | UnsetType = UNSET
    policies: tuple[PolicyScores, ...] | UnsetType = UNSET
    units: int
    top: int | UnsetType = UNSET
    mistakes: Sequence[EvidenceMistake]
    budget: tuple[EvidenceBudgetRow, ...]
    groups: dict[str, tuple[EvidenceGroup, ...]]
    confusions: tuple[ConfusionCount, ...]
    explanations: EvidenceExplanations | UnsetType = UNSET


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


class EvidenceExplanation(Document, frozen=True, kw_only=True, tag="explanation"):
    """Units explained, or the whole run: then `units` is empty and `mistakes` has its largest costs.

    `scores` and `statistics` are those of the run, `head` says what was scored, `undefined` why measures have no value.
    """

    schema_version: Literal[3] = 3
    head: tuple[str, ...] | UnsetType = UNSET
    undefined: dict[str, str] | UnsetType = UNSET
    units: tuple[ExplainedUnit, ...]
    mistakes: tuple[EvidenceMistake, ...]
    score: float
    scores: dict[str, float]
    statistics: dict[str, int | float]
