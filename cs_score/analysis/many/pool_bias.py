"""What a pool favours: each run scored against the pool as it would be if its team had not taken part.

A team's own assessments are those of lines that some run of the team has and no run of another team; a line is its
query, value and the provenance of both relation and value. They are taken out of the pool, and with them the
assessments of answers below those that nothing in the pool stands for any more. What nobody here gave stays.

Source: J. Zobel, "How reliable are the results of large-scale information retrieval experiments?", SIGIR 1998.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from cs_score.analysis.coldstart.scenarios import scenarios
from cs_score.analysis.coldstart.scored import Progress, Scored, score_for_analysis, silent
from cs_score.analysis.many.rankings import order_of, ranks_of, tau_b
from cs_score.base.documents import Document
from cs_score.base.errors import InputError, UsageError, nearest
from cs_score.base.records import Record, asdict
from cs_score.base.sources import InMemory, Input, name_of, open_source, plain_name
from cs_score.coldstart.gold import Gold, Run, with_pool
from cs_score.coldstart.lines import Answer, Assessment
from cs_score.coldstart.scorer import OneRun, load_alone
from cs_score.measures.registry import COLD_START_MODE
from cs_score.tables.layout import Column, Layout, Row, headed
from cs_score.tables.statistics import Printout, rankings_agree

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
    with them, `removed` are all that were taken out. The scenarios are those of `analyze`, None where the scorer would
    give no score.
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
    removed: tuple[PoolLine, ...]


class PoolBias(Document, frozen=True, kw_only=True, tag="pool-bias"):
    """All runs in the order given, and tau-b between their scores and their left-out scores (None: all are tied)."""

    schema_version: Literal[1] = 1
    measure: str
    runs: tuple[PooledRun, ...]
    tau_b: float | None
    signatures: Mapping[str, str]


def read_teams(given: Input, runs: Sequence[str]) -> dict[str, str]:
    """The team of each run: lines of a run and its team, with a tab between them. Runs without one are their own team.

    Raises InputError with the place for a line that is none, a run that there is not, and one that has two teams.
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

    Raises UsageError for fewer than two runs, runs of one id and an unknown measure, InputError for files that cannot
    be read or scored.
    """

    def scored_against(gold: Gold, run: OneRun) -> Scored:
        return score_for_analysis(load(gold, run), gold.options.policy)

    names = [run.run_id for run in runs]
    if len(set(names)) < max(2, len(names)):
        raise UsageError(f"pool-bias needs at least two runs with ids of their own, not {', '.join(names) or 'none'}")
    team_of = {name: name for name in names} if teams is None else read_teams(teams, names)
    gold = with_pool(opened, pool)
    scored = [scored_against(gold, run) for run in runs]
    about = scored[0].measure(measure)
    given: dict[str, set[Given]] = {}
    for name, each in zip(names, scored):
        lines = {(line.query.full_id, line.answer) for line in each.run.links.responses}
        given[team_of[name]] = given.get(team_of[name], set()) | lines
    own = {
        team: _own(gold.links.assessments, lines.difference(*(given[other] for other in given if other != team)))
        for team, lines in given.items()
    }
    before = [each.result.measures[each.measure(str(about))] for each in scored]
    after = list(before)
    for team in progress([team for team in own if own[team].removed], "leaving out"):
        left_out = with_pool(opened, [*_without(pool, own[team].removed)])
        for at, run in enumerate(runs):
            if team_of[run.run_id] == team:
                left = scored_against(left_out, run)
                after[at] = left.result.measures[left.measure(str(about))]
    ranks, ranks_after = ranks_of(before), ranks_of(after)
    rows = []
    for at, (name, each) in enumerate(zip(names, scored)):
        whole, of_team = scenarios(each, about), own[team_of[name]]
        rows.append(PooledRun(
            name, team_of[name], before[at], ranks[at], LeftOut(after[at], ranks_after[at]), of_team.unique,
            len(of_team.classes), whole.pessimistic, whole.optimistic, of_team.removed,
        ))  # fmt: skip
    return PoolBias(
        task=COLD_START_MODE,
        measure=str(about),
        runs=tuple(rows),
        tau_b=tau_b(order_of(tuple(before)), order_of(tuple(after))),
        signatures={name: str(each.signature.of(str(about))) for name, each in zip(names, scored)},
    )


class _Own(Record):
    """How many assessments are a team's own, the classes that stand on nothing else, and all lines that go."""

    unique: int
    classes: frozenset[str]
    removed: tuple[PoolLine, ...]


def _own(assessments: Sequence[Assessment], lines: set[Given]) -> _Own:
    """What goes from the pool with these lines, assessments of what stands below them included."""
    gone = {each for each in assessments if (each.query.full_id, each.answer) in lines}
    unique = len(gone)
    found = -1
    while found < len(gone):
        found = len(gone)
        known = {each.target for each in assessments if each not in gone}
        gone |= {each for each in assessments if each.query.level and each.query.short_id not in known}
    kept = {each.value_class for each in assessments if each not in gone}
    classes = frozenset(each.value_class for each in gone if each.is_accepted) - kept
    return _Own(unique, classes, tuple(PoolLine(each.file, each.number) for each in assessments if each in gone))


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


def _rows(bias: PoolBias) -> Iterator[Row]:
    for row in sorted(bias.runs, key=lambda row: row.rank):
        yield {**asdict(row), "left_out": row.left_out.score, "rank_left_out": row.left_out.rank}


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
            Column("pessimistic", "Pessim.", meaning="score with every unassessed answer wrong"),
            Column("optimistic", "Optim.", meaning="score with every unassessed answer right"),
        ),
        _rows,
        most="whole",
    ),
    lambda bias: (
        rankings_agree(bias.tau_b),
        "Left out: score against the pool without what only the team's runs have.",
        "Pessim., Optim.: scenarios for what nobody assessed; no bounds.",
    ),
)
