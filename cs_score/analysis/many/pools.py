"""What pools and assessors do to scores: what a pool favours, what a sample of it says, what a second assessor changes.

Pool bias (J. Zobel, SIGIR 1998): each run is scored against the pool as it would be if its team had not taken part. A
team's own assessments are those of lines that some run of the team has and no run of another team. They are taken out
of the pool, and with them the assessments of answers below those that nothing in the pool stands for any more.

Sampled pools: a table of strata has the probabilities with which answers were assessed. An answer is of the first
stratum that it fits. Both, and assessors: docs/statistics.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.mistakes import counted_lines
from cs_score.analysis.coldstart.scenarios import Scenario, Scenarios, scenarios
from cs_score.analysis.coldstart.scored import Progress, Scored, score_for_analysis, silent
from cs_score.analysis.comparison import system_names
from cs_score.analysis.many.rankings import ranks_of, tau_b
from cs_score.base.documents import Document
from cs_score.base.errors import InputError, UsageError, nearest
from cs_score.base.records import Record, asdict, replace
from cs_score.base.runtime import Late
from cs_score.base.sources import InMemory, Input, name_of, open_source, plain_name, read_delimited
from cs_score.coldstart.gold import Gold, Run, with_pool
from cs_score.coldstart.lines import Answer, Assessment, Response
from cs_score.coldstart.options import RIGHT, WRONG
from cs_score.coldstart.scorer import OneRun, load_alone
from cs_score.measures.registry import COLD_START_MODE, usual_among
from cs_score.statistics.assessments import (
    Estimate,
    Estimated,
    Items,
    Judgments,
    assessor_intervals,
    estimated,
    interval_of,
    kappa,
    kappa_limits,
)
from cs_score.statistics.options import FEW, Note, Resampling, sentences
from cs_score.statistics.resampling import Systems
from cs_score.statistics.units import aligned, counted
from cs_score.tables.layout import Column, Layout, Row, headed
from cs_score.tables.statistics import Printout
from cs_score.tasks.task import Task

if TYPE_CHECKING:
    import numpy as np
else:
    np = Late("numpy")

# ---- Pool bias

FEW_RUNS: Final = 6
"""Runs below which even a perfect rank correlation can be chance: of five runs one order in 120 agrees."""

Given: TypeAlias = tuple[str, Answer]
"""A line as the pool knows it: its query, by full id, and its answer."""


class PoolLine(Record):
    """A line of the pool."""

    file: str
    line: int


class LeftOut(Record):
    """The score against the pool without the team's own assessments, and its rank among such scores of all runs."""

    score: float
    rank: int


class PooledRun(Record):
    """One run. `unique` counts the assessments of lines that only its team has, `unique_classes` the classes that go
    with them, `removed` are all that were taken out. `scenarios` are those of `analyze` by measure, None where the
    scorer would give no score; `pessimistic` and `optimistic` are those of the measure that ranks.
    """

    run: str
    team: str
    score: float
    rank: int
    left_out: LeftOut
    unique: int
    unique_classes: int
    pessimistic: float | None
    optimistic: float | None
    scenarios: Mapping[str, Scenario]
    removed: tuple[PoolLine, ...]


class PoolBias(Document, frozen=True, kw_only=True, tag="pool-bias"):
    """All runs in the order given, and tau-b between their scores and their left-out scores (None: all are tied)."""

    schema_version: Literal[2] = 2
    measure: str
    runs: tuple[PooledRun, ...]
    tau_b: float | None
    signatures: Mapping[str, str]


def read_teams(given: Input, runs: Sequence[str]) -> dict[str, str]:
    """The team of each run: lines of a run and its team, with a tab between them; a run without is its own team. Raises
    InputError with the place for a line that is none, a run that there is not, and one that has two teams.
    """
    with open_source(given) as source:
        name, text = source.name, source.read_bytes().decode("utf-8", "replace")
    teams: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        columns = line.split("\t") if "\t" in line else line.split()
        if not line.strip() or (number == 1 and columns == ["run", "team"]):
            continue
        place = f"line {number}"
        if len(columns) != 2 or not all(map(str.strip, columns)):
            raise InputError("not a run and its team, with a tab between them", file=name, place=place)
        run, team = map(str.strip, columns)
        if run not in runs:
            raise InputError(f"no run is called {run}{nearest(run, runs)}", file=name, place=place)
        if teams.setdefault(run, team) != team:
            raise InputError(f"{run} is in {teams[run]} already", file=name, place=place)
    if not teams:
        raise InputError("names no run", file=name)
    return {run: teams.get(run, run) for run in runs}


def pool_bias(
    opened: Gold, pool: Sequence[Input], runs: Sequence[OneRun], teams: Input | None = None,
    measure: str | None = None, *, load: Callable[[Gold, OneRun], Run] = load_alone, progress: Progress = silent,
) -> PoolBias:  # fmt: skip
    """How each run scores with and without what only its team brought into the pool; `opened` has the queries alone.
    Raises UsageError for fewer than two runs, runs of one id and an unknown measure, InputError for files.
    """
    names = [run.run_id for run in runs]
    if len(set(names)) < max(2, len(names)):
        raise UsageError(f"pool-bias needs at least two runs with ids of their own, not {', '.join(names) or 'none'}")
    team_of = {name: name for name in names} if teams is None else read_teams(teams, names)

    def scored_against(gold: Gold, team: str | None = None) -> dict[str, Scored]:
        """The runs of a team, or all, by their ids."""
        chosen = [run for run in runs if team in (None, team_of[run.run_id])]
        return {run.run_id: score_for_analysis(load(gold, run), gold.options.policy) for run in chosen}

    def scores_of(found: Mapping[str, Scored]) -> dict[str, float]:
        return {name: each.result.measures[each.measure(str(about))] for name, each in found.items()}

    gold = with_pool(opened, pool)
    scored = scored_against(gold)
    about = scored[names[0]].measure(measure)
    given: dict[str, set[Given]] = {}
    for name, each in scored.items():
        lines = {(line.query.full_id, line.answer) for line in each.run.links.responses}
        given.setdefault(team_of[name], set()).update(lines)
    own = {
        team: _Own.of(gold.links.assessments, lines.difference(*(given[other] for other in given if other != team)))
        for team, lines in given.items()
    }
    before = scores_of(scored)
    after = dict(before)
    for team in progress([team for team in own if own[team].removed], "leaving out"):
        after |= scores_of(scored_against(with_pool(opened, [*_without(pool, own[team].removed)]), team))
    ranks, ranks_after = (dict(zip(names, ranks_of(list(scores.values())))) for scores in (before, after))
    rows = []
    for name, each in scored.items():
        team = team_of[name]
        left_out = LeftOut(after[name], ranks_after[name])
        head = _PooledHead(run=name, team=team, score=before[name], rank=ranks[name])
        rows.append(_pooled_run(head, left_out, own[team], scenarios(each, about)))
    return PoolBias(
        task=COLD_START_MODE,
        measure=str(about),
        runs=tuple(rows),
        tau_b=tau_b(before.values(), after.values()),
        signatures={name: str(each.signature.of(str(about))) for name, each in scored.items()},
    )


class _Own(Record):
    """How many assessments are a team's own, the classes that stand on nothing else, and all lines that go."""

    unique: int
    classes: frozenset[str]
    removed: tuple[PoolLine, ...]

    @classmethod
    def of(cls, assessments: Sequence[Assessment], lines: set[Given]) -> _Own:
        """What goes from the pool with these lines, assessments of what stands below them included."""
        gone = {each for each in assessments if (each.query.full_id, each.answer) in lines}
        unique, found = len(gone), -1
        while found < len(gone):
            found = len(gone)
            known = {each.target for each in assessments if each not in gone}
            gone |= {each for each in assessments if each.query.level and each.query.short_id not in known}
        kept = {each.value_class for each in assessments if each not in gone}
        classes = frozenset(each.value_class for each in gone if each.is_accepted) - kept
        return cls(unique, classes, tuple(PoolLine(each.file, each.number) for each in assessments if each in gone))


class _PooledHead(NamedTuple):
    """A run with its team, its score against the whole pool, and its rank."""

    run: str
    team: str
    score: float
    rank: int


def _pooled_run(head: _PooledHead, left_out: LeftOut, own: _Own, scenarios_of_run: Scenarios) -> PooledRun:
    """Return what is said of a run: `own` is what only its team brought into the pool."""
    return PooledRun(
        run=head.run,
        team=head.team,
        score=head.score,
        rank=head.rank,
        left_out=left_out,
        unique=own.unique,
        unique_classes=len(own.classes),
        pessimistic=scenarios_of_run.pessimistic,
        optimistic=scenarios_of_run.optimistic,
        scenarios=scenarios_of_run.scores,
        removed=own.removed,
    )


def _without(pool: Sequence[Input], removed: Sequence[PoolLine]) -> Iterator[InMemory]:
    """The files of the pool without some of their lines; a file of which no line is left is none of them."""
    gone = {(each.file, each.line) for each in removed}
    for file in pool:
        with open_source(file) as source:
            lines = source.read_bytes().split(b"\n")
        name = name_of(file)
        kept = [line for number, line in enumerate(lines, 1) if (name, number) not in gone]
        if any(kept):
            yield InMemory(plain_name(name), b"\n".join(kept))


def _tau_in_words(tau_b: float | None, runs: int) -> str:
    """Return the agreement of two rankings in words, with how little it can say where there are few runs."""
    if tau_b is None:
        return "tau-b of the two rankings: undefined, since all runs are tied."
    text = f"tau-b of the two rankings: {tau_b:.4f}"
    if runs == 2:
        return f"{text}; of two runs it says only whether they change places."
    pairs = math.comb(runs, 2)
    few = "; so few say little" if runs < FEW_RUNS else ""
    return f"{text}, from {runs} runs, {pairs} pairs{few}."


_SCENARIO_MEASURE: Final = "SF-ALL-Micro-F1"
"""The measure whose scenarios are shown, whatever measure ranks: of others they say too little."""


def _bias_rows(bias: PoolBias) -> Iterator[dict[str, Any]]:
    """Yield the row of each run, the best one first."""
    for run in sorted(bias.runs, key=lambda run: run.rank):
        scenario = run.scenarios[_SCENARIO_MEASURE]
        yield {
            **asdict(run),
            "left_out": run.left_out.score,
            "rank_left_out": run.left_out.rank,
            "f1": scenario.score,
            "f1_pessimistic": scenario.pessimistic,
            "f1_optimistic": scenario.optimistic,
        }


BIAS: Final = Printout(
    Layout(
        "pool-bias",
        "%: Runs with and without what only their team brought into the pool",
        (
            *headed(rank="Rank", run="Run", team="Team", score="Score"),
            Column("left_out", "Left out", meaning="score against the pool without the team's own assessments"),
            Column("rank_left_out", "Rank", meaning="rank among the scores of this kind"),
            Column("unique", "Unique", meaning="assessments of lines that only the team has"),
            Column("unique_classes", "Classes", meaning="classes that go with them"),
            Column("f1", "F1", meaning=f"{_SCENARIO_MEASURE}"),
            Column("f1_pessimistic", "all wrong", meaning=f"{_SCENARIO_MEASURE} with every unassessed answer wrong"),
            Column("f1_optimistic", "all right", meaning=f"{_SCENARIO_MEASURE} with every unassessed answer right"),
        ),
        _bias_rows,
        most="whole",
    ),
    lambda bias: (
        _tau_in_words(bias.tau_b, len(bias.runs)),
        "Left out: score against the pool without what only the team's runs have.",
        f"F1: {_SCENARIO_MEASURE}, and what it would be in two scenarios: every unassessed answer wrong, or right.",
    ),
)

# ---- Sampled pools

MEASURE: Final = "SF-ALL-Micro-P"
RIGHT_ANSWERS: Final = "Numerator of SF-ALL-Micro-R"

_PARENT: Final = "INCORRECT_PARENT"
_ANSWER: Final = ("query", "slot", "value", "provenance")
_NUMBERS: Final = ("probability", "prediction", "confidence")
_REMEDY: Final = (
    "an estimate needs the probability with which each answer was assessed; without it see the scenarios of "
    "cs-score analyze"
)


class Stratum(Record):
    """A line of the file: what its answers are like, and the numbers of all of them."""

    number: int
    fits: Mapping[str, str]
    probability: float
    prediction: float
    confidence: float


class Inclusion(Record):
    """How probable it was that an answer is assessed; `file` is what messages call where that was read."""

    file: str
    strata: tuple[Stratum, ...]

    def stratum(self, line: Response) -> int:
        """The place of the first stratum that an answer fits. Raises InputError for one of none."""
        says = dict(zip(_ANSWER, (line.query.full_id, line.query.slots[0], line.value, line.provenance)))
        for place, stratum in enumerate(self.strata):
            if line.confidence >= stratum.confidence and stratum.fits.items() <= says.items():
                return place
        problem = f"no stratum has {line.file} line {line.number} ({line.query.full_id}, {line.value})"
        raise InputError(problem, file=self.file, remedy=_REMEDY)


def read_inclusion(given: Input) -> Inclusion:
    """The table of strata: what an answer says (`query`, `slot`, `value`, `provenance`; * for any), its least
    `confidence`, the `probability` that it was assessed, and the `prediction`, how probable it is that it is right.
    Raises InputError with the place for what is none.
    """
    table = read_delimited(given)
    if "probability" not in table.columns or not {*table.columns} <= {*_ANSWER, *_NUMBERS}:
        problem = f"columns are {', '.join((*_ANSWER, *_NUMBERS))}, not {', '.join(table.columns)}"
        raise InputError(problem, file=table.file, place="line 1", remedy=_REMEDY)

    def number_of(key: str, cell: str, place: str) -> float:
        """A cell from 0 to 1, above 0 for a probability; an empty one is 0."""
        try:
            value = float(cell or 0)
        except ValueError:
            value = -1.0
        if not (0 < value <= 1 if key == "probability" else 0 <= value <= 1):
            allowed = "above 0 and at most 1" if key == "probability" else "from 0 to 1"
            raise InputError(f"{key} {cell or 'missing'}: a number {allowed} is needed", file=table.file, place=place)
        return value

    strata = []
    for number, cells in table.rows:
        row = dict(zip(table.columns, cells))
        fits = {key: row[key] for key in _ANSWER if row.get(key, "*") not in ("", "*")}
        numbers = (number_of(key, row.get(key, "0"), f"line {number}") for key in _NUMBERS)
        strata.append(Stratum(number, fits, *numbers))
    return Inclusion(table.file, tuple(strata))


class SampledStratum(Record):
    """The answers of a run that a stratum has, and how many of them were assessed.

    `line` is that of the stratum in the table, `probability` the one with which its answers were assessed.
    """

    line: int
    probability: float
    answers: int
    assessed: int


class SampledRun(Record):
    """A run: its answers and how many of them were assessed, in all and by stratum, with the estimates.

    `precision` estimates the share of right answers among those that count, `right` the number of right ones, which
    recall divides. `score` and `score_right` are the same as the scorer has them, from what was assessed alone.
    """

    run: str
    answers: int
    assessed: int
    score: float
    score_right: int
    precision: Estimate
    right: Estimate
    strata: tuple[SampledStratum, ...]


class SampledDifference(Record):
    """B minus A, from the same sample."""

    a: str
    b: str
    precision: Estimate
    right: Estimate


class SampledPool(Document, frozen=True, kw_only=True, tag="sampled-pool"):
    """Estimates for runs, with limits at `confidence` percent: for this pool were all of it assessed (`low`, `high`),
    and for answers like those in it (`population_low`, `population_high`). The measures are those of the table SF, all
    hops: SF-ALL-Micro-P and the numerator of SF-ALL-Micro-R.
    """

    schema_version: Literal[2] = 2
    confidence: float
    runs: tuple[SampledRun, ...]
    differences: tuple[SampledDifference, ...]
    signatures: Mapping[str, str]


def names_of(runs: Sequence[OneRun]) -> list[str]:
    """The ids of runs, or the names of their files where several have one id."""
    names = [run.run_id for run in runs]
    return names if len(set(names)) == len(names) else system_names([run.file for run in runs])


def sampled_pool(runs: Mapping[str, Scored], inclusion: Inclusion, confidence: float = 95.0) -> SampledPool:
    """Estimates for each run by itself, by name, and for the difference of any two. Raises InputError for an answer of
    unknown probability, strata of which nothing was assessed, and answers that were not though that is certain.
    """
    numbers: dict[object, int] = {}
    found, parts = list[SampledRun](), dict[str, tuple[Estimated, Estimated]]()
    for name, scored in runs.items():
        items, strata = _items(scored, inclusion, numbers)
        share = estimated(items)
        total = estimated(items, is_total=True)
        parts[name] = share, total
        found.append(
            SampledRun(
                run=name,
                answers=len(items.answer),
                assessed=int(np.count_nonzero(items.assessed)),
                score=scored.result.scores[MEASURE],
                score_right=int(items.right.sum()),
                precision=interval_of([(1.0, share)], confidence, 1.0),
                right=interval_of([(1.0, total)], confidence, len(items.answer)),
                strata=strata,
            )
        )
    return SampledPool(
        task=COLD_START_MODE,
        measure=MEASURE,
        confidence=confidence,
        runs=tuple(found),
        differences=tuple(
            SampledDifference(
                a, b, *(interval_of([(-1.0, x), (1.0, y)], confidence) for x, y in zip(parts[a], parts[b]))
            )
            for a, b in combinations(parts, 2)
        ),
        signatures={name: str(scored.signature.of(MEASURE)) for name, scored in runs.items()},
    )


def _items(
    scored: Scored, inclusion: Inclusion, numbers: dict[object, int]
) -> tuple[Items, tuple[SampledStratum, ...]]:
    """Return the answers of a run, and how many each stratum has; `numbers` numbers what they say, for all runs."""
    links = scored.run.links
    units = [(unit, [*counted_lines(unit)]) for unit in scored.result.units]
    parents = {line.target: line for _, lines in units for line in lines}
    rows: list[tuple[float, ...]] = []
    for unit, line in ((unit, line) for unit, lines in units for line in lines):
        labels, is_matched = unit.labels[line.index], line.index in unit.matched
        own = inclusion.strata[stratum := inclusion.stratum(line)]
        said = numbers.setdefault((line.query.full_id, line.value, line.provenance), len(numbers))
        below, chances, is_known = said, (1.0, own.probability), is_matched
        if line.query.level:
            parent, follow_on = parents.get(line.query.short_id), links.follow_on(line.query.short_id)
            is_judged = follow_on is not None and follow_on.assessment is not None
            key = (parent.query.full_id, parent.value, parent.provenance) if parent else line.query.full_id
            below = numbers.setdefault(key, len(numbers))
            of_parent = inclusion.strata[inclusion.stratum(parent)].probability if parent else 1.0
            # What stands below a wrong answer is wrong, whether or not somebody looked at it.
            is_wrong = is_judged and _PARENT in labels
            chances = (1.0 if is_wrong else own.probability), of_parent
            is_known = is_wrong or (is_judged and is_matched)
        if not is_known and chances == (1.0, 1.0):
            problem = f"the probability is 1, but {line.file} line {line.number} was not assessed"
            raise InputError(problem, file=inclusion.file, place=f"line {own.number}")
        seen = (RIGHT in labels, (RIGHT in labels) + (WRONG in labels), is_known)
        rows.append((*seen, chances[0], said, below, chances[1], stratum, own.prediction))
    if not rows:
        raise InputError(f"run {scored.run_id} has no answer that counts: there is nothing to estimate")
    right, counted, known, chance, answer, above, chance_above, of_stratum, predicted = np.array(rows, np.float64).T
    counts = []
    for place in np.unique(of_stratum).tolist():
        own = inclusion.strata[int(place)]
        is_own = of_stratum == place
        answers = int(np.count_nonzero(is_own))
        assessed = int(np.count_nonzero(known[is_own]))
        if not assessed:
            problem = f"none of the {answers} answers of run {scored.run_id} was assessed"
            remedy = "put it together with another stratum"
            raise InputError(problem, file=inclusion.file, place=f"line {own.number}", remedy=remedy)
        counts.append(SampledStratum(own.number, own.probability, answers, assessed))
    items = Items(
        right=right,
        counted=counted,
        assessed=known == 1,
        chance=chance,
        answer=answer.astype(np.intp),
        above=above.astype(np.intp),
        chance_above=chance_above,
        stratum=np.unique(of_stratum, return_inverse=True)[1],
        predicted=predicted,
    )
    return items, tuple(counts)


def _estimates(pool: SampledPool) -> Iterator[Row]:
    """A row for each run and for each difference, of either estimate."""
    for part, name in (("precision", pool.measure), ("right", RIGHT_ANSWERS)):
        for run in pool.runs:
            score = run.score if part == "precision" else run.score_right
            yield {**asdict(run), **asdict(getattr(run, part)), "measure": name, "score": score}
        for pair in pool.differences:
            yield {"run": f"{pair.b} - {pair.a}", **asdict(getattr(pair, part)), "measure": name}


def _strata(pool: SampledPool) -> Iterator[Row]:
    """Return a row for each stratum of each run."""
    for run in pool.runs:
        for stratum in run.strata:
            yield {"run": run.run, **asdict(stratum)}


def _sample_notes(pool: SampledPool) -> Iterator[str]:
    yield (
        f"Low, High: {pool.confidence:g} % normal limits of the estimate, for this pool were all of it assessed; *: "
        "for answers like these. Known: answers that were assessed. Score: the ordinary one, from what was assessed."
    )
    few = sorted({stratum.line for run in pool.runs for stratum in run.strata if stratum.assessed < FEW})
    if few:
        lines = ", ".join(map(str, few))
        yield (
            f"Note: fewer than {FEW} answers of a run were assessed in strata of the table (line {lines}): the limits "
            "are too narrow there."
        )


_STRATA: Final = Layout(
    "strata",
    "Answers by stratum of the table",
    (
        Column("run", "Run"),
        Column("line", "Line", meaning="line of the stratum in the table"),
        Column("probability", "Probability", meaning="with which its answers were assessed"),
        *headed(answers="Answers", assessed="Known"),
    ),
    _strata,
    most="whole",
)

_LIMITS: Final = {
    "low": ("Low", "for this pool, were all of it assessed"),
    "high": ("High", "for this pool, were all of it assessed"),
    "population_low": ("Low*", "for answers like those in this pool"),
    "population_high": ("High*", "for answers like those in this pool"),
}

SAMPLED: Final = Printout(
    Layout(
        "sampled-pool",
        "%, estimated from a sample of the pool",
        (
            Column("measure"),
            *headed(run="Run", answers="Answers", assessed="Known", score="Score", estimate="Estimate"),
            Column("standard_error", "Std. error"),
            *(Column(key, heading, meaning=meaning) for key, (heading, meaning) in _LIMITS.items()),
        ),
        _estimates,
        shown=("run", "answers", "assessed", "score", "estimate", *_LIMITS),
        by="measure",
        most="whole",
    ),
    _sample_notes,
    (_STRATA,),
)

# ---- Two assessors

EVERYTHING: Final = "all"

_SIDES: Final = ("first", "second")


class Agreement(Record):
    """How far the assessors agree about the `both` answers of a slot that both have judged; `all` for all slots.

    `kappa` is Cohen's, None where all judgments are the same. `kappa_low` and `kappa_high` are its limits, from
    resamples of the `units` that the answers belong to: None for a single unit, and where kappa is undefined too often.
    """

    slot: str
    both: int
    agreed: int
    kappa: float | None
    kappa_low: float | None
    kappa_high: float | None
    units: int


class LabelPair(Record):
    """How often answers that both have judged have one label from the first, and one from the second."""

    first: str
    second: str
    count: int


class JudgedTwice(Record):
    """An answer to which the two have given another label each."""

    unit: str
    answer: str
    first: str
    second: str


class UnderAssessor(Record):
    """The score and rank of a run under one assessor, with the interval over units."""

    score: float
    rank: int
    low: float | None
    high: float | None


class AssessedRun(Record):
    """A run under either assessor; `low` to `high` is the interval that draws units and an assessor for all of them."""

    run: str
    first: UnderAssessor
    second: UnderAssessor
    low: float | None
    high: float | None


class Assessors(Document, frozen=True, kw_only=True, tag="assessors"):
    """Two assessors: their agreement, what only one of them has judged, and runs under either.

    `units` were resampled, and `notes` hold for all intervals of runs. `tau_b` is that of the two rankings, None where
    all runs are tied under one of them. `labels` and `differing` have the labels of judged answers (task `pool`), side
    by side, and the answers that have other ones.
    """

    schema_version: Literal[2] = 2
    measure: str
    resampling: Resampling
    units: int
    notes: tuple[Note, ...]
    agreement: tuple[Agreement, ...]
    only_first: int
    only_second: int
    labels: tuple[LabelPair, ...] | UnsetType = UNSET
    differing: tuple[JudgedTwice, ...] | UnsetType = UNSET
    runs: tuple[AssessedRun, ...]
    tau_b: float | None
    signatures: Mapping[str, str]


class JudgedAnswer(NamedTuple):
    """How an answer was judged, with its slot and the unit that it is drawn with."""

    slot: str
    unit: str
    judgment: str


Judged: TypeAlias = Mapping[tuple[str, Any], JudgedAnswer]
"""The judged answers by their unit (the full id of the query) and what they say; of several that say the same the last.
"""


def assessors(
    task: Task,
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    measure: str | None = None,
    judged: Sequence[Judged] = (),
    resampling: Resampling | None = None,
    *,
    with_labels: bool = False,
) -> Assessors:
    """Compare results of the same runs, by name, under either assessor by one measure, the headline one unless given.

    Where answers are judged `judged` has those of either assessor, for their agreement; `with_labels` also has their
    labels side by side. Raises UsageError for a measure that the task lacks, InputError where the units differ.
    """
    known = task.measures(first.values())
    measure = task.measure_of(measure) or task.headline_of(first.values()) or str(usual_among(task.name, known))
    formula = task.formula([measure])
    found = {
        f"{name} ({place})": task.statistics(result, [measure])
        for place, side in zip(_SIDES, (first, second))
        for name, result in side.items()
    }
    settings = replace(resampling or Resampling(), unit=next(iter(found.values())).unit)
    matched = aligned({name: each.table for name, each in found.items()})
    rows = list(matched.rows.values())
    first_systems, second_systems = (
        Systems(side, formula, settings, matched.ids) for side in (rows[: len(first)], rows[len(first) :])
    )
    settings = first_systems.settings
    under_first, under_second = _under_assessor(first_systems), _under_assessor(second_systems)
    limits = assessor_intervals(first_systems.rows, second_systems.rows, formula, settings)
    runs = [
        AssessedRun(run=name, first=one, second=other, low=reach.low, high=reach.high)
        for name, one, other, reach in zip(first, under_first, under_second, limits)
    ]
    judged_first: Judged = {}
    judged_second: Judged = {}
    if len(judged) == len(_SIDES):
        judged_first, judged_second = judged
    return Assessors(
        task=task.name,
        measure=measure,
        resampling=settings,
        units=len(matched.ids),
        notes=first_systems.notes,
        agreement=tuple(_agreement(judged_first, judged_second, settings)),
        only_first=len(judged_first.keys() - judged_second.keys()),
        only_second=len(judged_second.keys() - judged_first.keys()),
        labels=_labels(judged_first, judged_second) if with_labels else UNSET,
        differing=_differing(judged_first, judged_second) if with_labels else UNSET,
        runs=tuple(runs),
        tau_b=tau_b([run.first.score for run in runs], [run.second.score for run in runs]),
        signatures={name: str(each.origin.signature.of(measure)) for name, each in found.items()},
    )


def _under_assessor(systems: Systems) -> list[UnderAssessor]:
    """Return the score, rank and interval of each run under one assessor."""
    scores = [systems.score(place, 0) for place in range(len(systems.points))]
    ranks = ranks_of([score.point for score in scores])
    return [UnderAssessor(score.point, rank, score.low, score.high) for score, rank in zip(scores, ranks)]


def _labels(first: Judged, second: Judged) -> tuple[LabelPair, ...]:
    """Return the labels of answers that both have judged, side by side, the most frequent pair first."""
    counts = Counter((first[key].judgment, second[key].judgment) for key in first if key in second)
    return tuple(LabelPair(one, other, count) for (one, other), count in counts.most_common())


def _differing(first: Judged, second: Judged) -> tuple[JudgedTwice, ...]:
    """Return the answers that both have judged, and not alike."""
    rows = []
    for key, answer in first.items():
        if key in second and second[key].judgment != answer.judgment:
            said = key[1]
            text = " ".join(said) if isinstance(said, tuple) else str(said)
            rows.append(JudgedTwice(answer.unit, text, answer.judgment, second[key].judgment))
    return tuple(rows)


def judged_of(result: Any) -> Judged:
    """Return the judged answers of a result of a task of evidence; none where the task has no such answers."""
    judgments: Mapping[tuple[str, Any], str] = result.mode.judgments(result.units)
    return {key: JudgedAnswer(EVERYTHING, key[0], label) for key, label in judgments.items()}


def judged_in(gold: Gold) -> Judged:
    """Return how the answers of a pool were judged."""
    judged = {}
    for assessment in gold.links.assessments:
        query = assessment.query
        entry_query = gold.table.by_id.get(query.base_id)
        unit = query.base_id if entry_query is None else gold.cluster_of(entry_query)
        judged[query.full_id, assessment.answer] = JudgedAnswer(query.slots[0], unit, assessment.judgment)
    return judged


def _agreement(first: Judged, second: Judged, settings: Resampling) -> Iterator[Agreement]:
    """Return the agreement over all slots, then over each by itself in the order of the alphabet."""
    pairs: dict[str, dict[str, list[Judgments]]] = {}
    for key, answer in first.items():
        if key not in second:
            continue
        cluster = settings.clusters.clusters.get(answer.unit, answer.unit) if settings.clusters else answer.unit
        for slot in dict.fromkeys((EVERYTHING, answer.slot)):
            pairs.setdefault(slot, {}).setdefault(cluster, []).append((answer.judgment, second[key].judgment))
    for slot in sorted(pairs, key=lambda name: (name != EVERYTHING, name)):
        by_unit = dict(sorted(pairs[slot].items()))  # in an order that does not depend on who is called the first
        judged = list(chain.from_iterable(by_unit.values()))
        low, high = kappa_limits(by_unit, settings)
        yield Agreement(
            slot=slot,
            both=len(judged),
            agreed=sum(one == other for one, other in judged),
            kappa=kappa(judged),
            kappa_low=low,
            kappa_high=high,
            units=len(by_unit),
        )


def _assessed(found: Assessors) -> Iterable[Row]:
    for run in sorted(found.runs, key=lambda run: run.first.rank):
        sides = {f"{place}_{key}": value for place in _SIDES for key, value in asdict(getattr(run, place)).items()}
        yield {"run": run.run, **sides, "low": run.low, "high": run.high}


def _notes(found: Assessors) -> Iterator[str]:
    yield _tau_in_words(found.tau_b, len(found.runs))
    if found.only_first or found.only_second:
        yield f"Judged by one alone: {found.only_first} by the first, {found.only_second} by the second."
    settings = found.resampling
    how = f"{settings.resamples:,} resamples, seed {settings.seed}"
    if found.agreement:
        yield (
            f"Kappa: of the answers that both have judged; Low, High: {settings.confidence:g} % percentile bootstrap "
            f"limits over the units ({settings.unit}) that these belong to, {how}."
        )
        if found.agreement[0].units < FEW:
            yield (
                f"Note: {counted(found.agreement[0].units)} with answers that both have judged: below {FEW} the limits "
                "of kappa are too narrow."
            )
    yield (
        f"Low, High of a run: {settings.confidence:g} % percentile bootstrap limits over {counted(found.units)} "
        f"({settings.unit}) and over assessors, {how}: a resample draws units, and one assessor for all of them."
    )
    yield from sentences(found.notes)


AGREEMENT: Final = Layout(
    "agreement",
    "Agreement of two assessors",
    (
        Column("slot", "Slot"),
        Column("both", "Both", meaning="answers that both have judged"),
        Column("agreed", "Agreed", meaning="answers that both have judged alike"),
        Column("kappa", "Kappa", meaning="Cohen's kappa"),
        Column("kappa_low", "Low", meaning="of the interval of kappa over resampled units"),
        Column("kappa_high", "High", meaning="of the interval of kappa over resampled units"),
        Column("units", "Units", meaning="units that these answers belong to"),
    ),
    lambda found: found.agreement,
    most="whole",
)

LABELS: Final = Layout(
    "labels",
    "Labels of the first assessor by those of the second",
    headed(first="First", second="Second", count="Answers"),
    lambda found: found.labels or (),
    fewest=1,
    most="whole",
)

DIFFERING: Final = Layout(
    "differing",
    "Answers that have another label from each",
    headed(unit="Unit", answer="Answer", first="First", second="Second"),
    lambda found: found.differing or (),
    fewest=1,
)

ASSESSED: Final = Printout(
    Layout(
        "assessed",
        "%: Runs under either assessor",
        (
            Column("run", "Run"),
            *(
                Column(f"{place}_{key}", title)
                for place in _SIDES
                for key, title in (("rank", "Rank"), ("score", place.title()), ("low", "Low"), ("high", "High"))
            ),
            Column("low", "Low", meaning="of the interval that draws the assessor as well"),
            Column("high", "High", meaning="of the interval that draws the assessor as well"),
        ),
        _assessed,
        shown=("run", "first_rank", "first_score", "second_rank", "second_score", "low", "high"),
        most="whole",
    ),
    _notes,
    (AGREEMENT, LABELS, DIFFERING),
)
