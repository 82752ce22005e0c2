"""The JSON documents that a batch writes: the record of each run, the leaderboard, and the overview of all runs.
A *family* is the tests of the runs under one policy, whose p-values are corrected together. A *unit* is what
intervals resample: a query in Cold Start, a claim or question in other tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.rankings import RankingLimits, Stability
from cs_score.base.documents import Document
from cs_score.base.records import Record, field
from cs_score.base.signature import Origin
from cs_score.problems.log import Occurrence
from cs_score.statistics.resampling_settings import Family, Note, Resampling, limits_in_words
from cs_score.statistics.results import ScoreIntervals
from cs_score.verbs.batch.overview import Agreement, Difficulty, Findings, System, UnitScores

State: TypeAlias = Literal["ok", "errors", "failed"]

OK: Final = "ok"
WITH_ERRORS: Final = "errors"
FAILED: Final = "failed"
"""States: scored; scored, with problems that are errors; not scored to the end."""


class RunOrigin(Origin, kw_only=True):
    """What the scores and the files of a run were made from; `fields`, `tabs` and `json` choose its files."""

    policy: str = ""
    fields: tuple[str, ...] = ()
    tabs: bool = False
    json: bool = False
    bootstrap: Resampling | None = None


class ProblemPlace(NamedTuple):
    """One problem at one place; `file` and `line` are empty where it belongs to none."""

    severity: str
    code: str
    message: str
    file: str
    line: str


class WrittenFile(NamedTuple):
    """A file in the folder of a run: its name there, its size in bytes, the SHA-256 of its bytes.

    The latter leaves out the first line of `.params`, which holds the time of the call, so that equal batches leave
    equal records.
    """

    name: str
    size: int
    sha256: str


class RunScores(Record):
    """One run id of a file: scores by measure, intervals, what tables over many runs take of it, its duplicates.

    `undefined` has the measures that have no value for the run, with the reasons; they are not in `scores`.
    """

    run_id: str
    scores: dict[str, float]
    intervals: ScoreIntervals | UnsetType = UNSET
    findings: Findings | UnsetType = UNSET
    duplicates: int | UnsetType = UNSET
    undefined: dict[str, str] | UnsetType = UNSET
    answered: str | UnsetType = UNSET


class Outcome(Document, kw_only=True, tag="batch-run"):
    """One run under one policy.

    `run` is the name of the run in the batch, `file` its file as given, `policy` empty where a task has none, `failure`
    the reason why it failed. `files` are those written, `occurrences` the problems of the run itself with their
    details, None where nobody asked for them. `digest` is the SHA-256 of all the rest.
    """

    schema_version: Literal[5] = 5
    origin: RunOrigin | UnsetType = UNSET
    run: str
    file: str
    policy: str
    state: State
    runs: tuple[RunScores, ...] = ()
    errors: int = 0
    warnings: int = 0
    problems: tuple[ProblemPlace, ...] = ()
    remarks: tuple[str, ...] = ()
    failure: str | None = None
    files: tuple[WrittenFile, ...] = ()
    occurrences: tuple[Occurrence, ...] | None = None
    digest: str = ""


class LeaderboardRow(Record, kw_only=True):
    """One run id of one run under one policy.

    `rank` counts from 1 within the policy; equal scores share it and the next rank is left out. It is None where the
    run has no such score; `undefined` has the reasons for measures that have no value for it. `tier` groups rows that
    do not differ significantly from the first one of the group, and `p_above` is the p-value of the difference from the
    row above; `p_baseline` takes their place where the pairs with a baseline alone are tested. All are corrected as the
    family of tests says. `effect_size` is the standardised difference from that row, `wins` are the units that speak
    for this one, `losses` those against it.
    """

    rank: int | None = None
    policy: str
    run: str
    run_id: str = ""
    edition: str | UnsetType = UNSET
    answered: str | UnsetType = UNSET
    tier: int | UnsetType | None = UNSET
    p_above: float | UnsetType | None = UNSET
    p_baseline: float | UnsetType | None = UNSET
    effect_size: float | UnsetType | None = UNSET
    wins: int | UnsetType | None = UNSET
    ties: int | UnsetType | None = UNSET
    losses: int | UnsetType | None = UNSET
    errors: int
    warnings: int
    state: State
    file: str
    signature: str = ""
    failure: str | None = None
    scores: dict[str, float] = field(default_factory=dict)
    undefined: dict[str, str] | UnsetType = UNSET
    intervals: ScoreIntervals | UnsetType = UNSET
    remarks: tuple[str, ...] = ()
    origin: RunOrigin | UnsetType = UNSET

    def limits(self, measure: str) -> tuple[float | None, float | None]:
        """Return the lower and the upper limit of the interval of a score; both are None if it has no interval."""
        if not self.intervals or measure not in self.intervals.scores:
            return None, None
        interval = self.intervals.scores[measure]
        return interval.low, interval.high


class LeaderboardDocument(Document, kw_only=True, tag="leaderboard"):
    """Runs by policy and rank. `measures` are all measures that any row has, the one that ranks first; `headline` are
    those that readable tables show; `families` are the tests of rows by policy, `verdicts` what they say in words,
    `notes` are on them.
    """

    schema_version: Literal[4] = 4
    measure: str
    measures: tuple[str, ...]
    headline: tuple[str, ...]
    families: dict[str, Family] = field(default_factory=dict)
    verdicts: dict[str, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    rows: tuple[LeaderboardRow, ...]

    @property
    def has_policies(self) -> bool:
        """Whether runs were scored under several policies."""
        return len({row.policy for row in self.rows}) > 1


def sentences_on_tests(families: Mapping[str, Family], verdicts: Mapping[str, str], measure: str) -> list[str]:
    """Return sentences about the tests under each policy: which runs differ by `measure`, and how they were tested.

    `families` has the tests and `verdicts` their results in words, both by policy. If there are several policies, each
    sentence names its policy: `Verdict (sf): ...`.
    """
    sentences = []
    for policy, family in families.items():
        policy_text = f" ({policy})" if len(families) > 1 else ""
        if policy in verdicts:
            sentences.append(f"Verdict{policy_text}: {verdicts[policy]}.")
        sentences.append(f"Tests{policy_text}: {family.in_words(measure)}.")
    return sentences


def sentences_on_limits(settings: Resampling, unit_count: int, families: Mapping[str, Family]) -> list[str]:
    """Return sentences that say what limits, tiers and p-values of a leaderboard mean.

    `settings` are the settings of the intervals, and `unit_count` is the number of units that were resampled.
    `families` has the tests by policy; it is empty if nothing was tested.
    """
    sentences = [f"Low and High: {limits_in_words(settings, unit_count)}, of each run by itself."]
    if families:
        has_baseline = any(family.baseline for family in families.values())
        sentences.append(_significance_in_words(settings.significance_level, has_baseline=has_baseline))
        sentences.append(
            # "That difference" is the one in the sentence before.
            "Effect: that difference over the standard deviation of the units' differences; W/T/L: units that the run "
            "wins, ties and loses against the other one."
        )
    return sentences


def _significance_in_words(level: float, *, has_baseline: bool) -> str:
    """Return the sentence that says when a run differs significantly from the baseline, or from the row above it.

    `level` is the largest corrected p-value of a significant difference, such as 0.05.
    """
    condition = f"corrected p at most {level:g}"
    if has_baseline:
        return f"p: corrected, of the difference from the baseline; a run differs significantly with {condition}."
    return (
        f"Tier: a run opens a new tier where it differs significantly ({condition}) from the first run of the tier "
        "above; p: corrected, of the difference from the row above."
    )


class RankedRow(Record):
    """A row of the leaderboard with the score that ranks it, and why measures have no value for the run."""

    policy: str
    rank: int | None
    run: str
    run_id: str
    score: float | None
    interval: RankingLimits | None
    tier: int | None
    p_above: float | None
    p_baseline: float | UnsetType | None = UNSET
    undefined: dict[str, str] | UnsetType = UNSET


class BatchOverview(Document, kw_only=True, tag="batch"):
    """What the runs of a batch say together. Lists by run are in the order of `runs`, which are named by their place.

    `unit_measure` is the measure of `queries`; `verdicts` has by policy what the tests say in words; `pages` says that
    runs have pages.
    """

    schema_version: Literal[4] = 4
    measure: str
    unit: str
    unit_measure: str
    policies: tuple[str, ...]
    bootstrap: Resampling | None
    families: dict[str, Family] = field(default_factory=dict)
    verdicts: dict[str, str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    pages: bool
    runs: tuple[System, ...]
    leaderboard: tuple[RankedRow, ...]
    unit_scores: tuple[UnitScores, ...] = field(name="queries")
    difficulties: tuple[Difficulty, ...] = field(name="answers")
    agreement: tuple[Agreement, ...]
    stability: Stability
