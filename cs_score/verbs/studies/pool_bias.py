"""Pool bias: how runs score against the pool as it would be if their team had not taken part (J. Zobel, SIGIR 1998). A
team's own assessments are those of answers that a run of the team gives and no run of another team. They are taken out
of the pool, together with the assessments of second-hop answers whose first-hop answer the pool then lacks, and the
team's runs are scored again. See docs/statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from cs_score.analysis.coldstart.scenarios import Scenario, scenarios
from cs_score.analysis.coldstart.scored import AnalysedRun, Progress, score_for_analysis, silent
from cs_score.analysis.rankings import ranks_of, tau_b, tau_in_words
from cs_score.base.documents import Document
from cs_score.base.errors import InputError, UsageError, did_you_mean
from cs_score.base.records import Record, asdict
from cs_score.base.sources import InMemory, Input, name_of, name_without_compression, open_source
from cs_score.coldstart.gold import ColdStartGold, Run, with_pool
from cs_score.coldstart.lines import Answer, Assessment
from cs_score.coldstart.scorer import OneRun, load_separately
from cs_score.measures import COLD_START_MODE, Measure
from cs_score.tables.layout import Column, Layout, headed
from cs_score.tables.statistics import Printout

# ---- The document


class PoolLine(Record):
    """A line of the pool."""

    file: str
    line: int


class LeftOut(Record):
    """The score against the pool without the team's own assessments, and its rank among such scores of all runs."""

    score: float
    rank: int


class PooledRun(Record):
    """One run, with its score against the whole pool and against the pool without its team's own assessments.

    `unique` counts the assessments of answers that only its team gives, `unique_classes` the equivalence classes that
    are lost with them; `removed` are all lines that were taken out of the pool. `scenarios` are those of `analyze` by
    measure, None where the scorer would give no score; `pessimistic` and `optimistic` are those of the measure that
    ranks.
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


class PoolBiasDocument(Document, frozen=True, kw_only=True, tag="pool-bias"):
    """All runs in the order given, and tau-b between their scores and their left-out scores (None: all are tied)."""

    schema_version: Literal[2] = 2
    measure: str
    runs: tuple[PooledRun, ...]
    tau_b: float | None
    signatures: Mapping[str, str]


# ---- Teams

_TEAMS_HEADER: Final = ["run", "team"]


def read_teams(file: Input, run_ids: Sequence[str]) -> dict[str, str]:
    """Return the team of each run, from a file with a line `RUN<tab>TEAM` for each run.

    A run that the file does not name is a team of its own. Raises InputError with the file and line for a line of
    another form, an unknown run, and a run in two teams.
    """
    with open_source(file) as source:
        file_name = source.name
        text = source.read_bytes().decode("utf-8", "replace")
    team_by_run: dict[str, str] = {}
    for line in _lines_with_cells(text):
        place = f"line {line.number}"
        run, team = _read_team(line.cells, run_ids, file_name, place)
        earlier_team = team_by_run.setdefault(run, team)
        if earlier_team != team:
            raise InputError(f"{run} is in {earlier_team} already", file=file_name, place=place)
    if not team_by_run:
        raise InputError("names no run", file=file_name)
    return {run: team_by_run.get(run, run) for run in run_ids}


class _TeamLine(NamedTuple):
    """A line of a file of teams: its number, and its cells, such as `["run1", "team A"]`."""

    number: int
    cells: Sequence[str]


def _lines_with_cells(text: str) -> Iterator[_TeamLine]:
    """Yield the lines of a file of teams, without blank lines and without the header `run<tab>team`."""
    for number, line in enumerate(text.splitlines(), start=1):
        cells = _cells_of_line(line)
        is_header = number == 1 and cells == _TEAMS_HEADER
        if cells and not is_header:
            yield _TeamLine(number, cells)


def _cells_of_line(line: str) -> list[str]:
    """Return the cells of a line, which tabs separate, or spaces if there is no tab. A blank line has no cells.

    Both `"run1<tab>team A"` and `"run1 teamA"` have two cells.
    """
    if not line.strip():
        return []
    cells = line.split("\t") if "\t" in line else line.split()
    return [cell.strip() for cell in cells]


def _read_team(cells: Sequence[str], run_ids: Sequence[str], file: str, place: str) -> tuple[str, str]:
    """Return the run and its team that the cells of a line name: `("run1", "team A")`.

    Raises InputError with the file and place if there are not two cells, or if no run has this id.
    """
    if len(cells) != 2 or "" in cells:
        raise InputError("not a run and its team, with a tab between them", file=file, place=place)
    run, team = cells
    if run not in run_ids:
        raise InputError(f"no run is called {run}{did_you_mean(run, run_ids)}", file=file, place=place)
    return run, team


# ---- What a team contributed to the pool

PooledAnswer: TypeAlias = tuple[str, Answer]
"""An answer as a pool has it: the full id of its query, and what the answer says."""


class Contribution(Record):
    """What would be missing from the pool if a team had not taken part.

    `assessment_count` is the number of assessments of answers that only this team gave, `classes` are the equivalence
    classes that were found in these answers alone. `removed` are all lines that leave the pool with the team.
    """

    assessment_count: int
    classes: frozenset[str]
    removed: tuple[PoolLine, ...]


def _contributions_of_teams(
    assessments: Sequence[Assessment], scored_by_run: Mapping[str, AnalysedRun], team_by_run: Mapping[str, str]
) -> dict[str, Contribution]:
    """Return the assessments and classes that the pool would lack without each team, by the name of the team.

    `assessments` are the lines of the pool. `scored_by_run` has the scored runs and `team_by_run` their teams, both by
    run id.
    """
    answers_by_team = _answers_by_team(scored_by_run, team_by_run)
    contribution_by_team = {}
    for team in answers_by_team:
        own_answers = _answers_of_no_other_team(team, answers_by_team)
        contribution_by_team[team] = _contribution(assessments, own_answers)
    return contribution_by_team


def _answers_by_team(
    scored_by_run: Mapping[str, AnalysedRun], team_by_run: Mapping[str, str]
) -> dict[str, set[PooledAnswer]]:
    """Return the answers of all runs of each team, by the name of the team."""
    answers_by_team: dict[str, set[PooledAnswer]] = {}
    for run, scored in scored_by_run.items():
        answers_of_team = answers_by_team.setdefault(team_by_run[run], set())
        for response in scored.run.links.responses:
            answers_of_team.add((response.query.full_id, response.answer))
    return answers_by_team


def _answers_of_no_other_team(team: str, answers_by_team: Mapping[str, set[PooledAnswer]]) -> set[PooledAnswer]:
    """Return the answers that only the runs of one team give."""
    own_answers = set(answers_by_team[team])
    for other_team, other_answers in answers_by_team.items():
        if other_team != team:
            own_answers -= other_answers
    return own_answers


def _contribution(assessments: Sequence[Assessment], own_answers: set[PooledAnswer]) -> Contribution:
    """Return the assessments and classes that the pool would lack without a team's runs.

    `own_answers` are the answers given only by runs of this team. `assessments` are the lines of the pool. In the
    result, the count covers only the team's own assessments. `classes` and `removed` also cover the orphans, which
    leave the pool together with these assessments.
    """
    own_assessments = set()
    for assessment in assessments:
        if (assessment.query.full_id, assessment.answer) in own_answers:
            own_assessments.add(assessment)
    # Orphans are assessments of second-hop answers whose first-hop answers are no longer in the pool.
    all_removed = _with_orphans(own_assessments, assessments)
    removed_lines = [PoolLine(line.file, line.number) for line in assessments if line in all_removed]
    return Contribution(
        assessment_count=len(own_assessments),  # orphans are excluded, since other teams may give their answers
        classes=_lost_classes(assessments, all_removed),
        removed=tuple(removed_lines),
    )


def _lost_classes(assessments: Sequence[Assessment], removed: set[Assessment]) -> frozenset[str]:
    """Return the equivalence classes that a pool loses if some of its assessments are removed.

    A class is lost if all assessments with it are removed, and one of them was accepted.
    """
    remaining_classes = set()
    removed_classes = set()
    for assessment in assessments:
        if assessment not in removed:
            remaining_classes.add(assessment.value_class)
        elif assessment.is_accepted:
            removed_classes.add(assessment.value_class)
    return frozenset(removed_classes - remaining_classes)


def _with_orphans(first_removed: set[Assessment], assessments: Sequence[Assessment]) -> set[Assessment]:
    """Return all assessments that leave a pool if some assessments (`first_removed`) are removed from it.

    The assessment of a second-hop answer leaves the pool, too, if no assessment of its first-hop answer remains. This
    is repeated until nothing more is removed. `assessments` are the lines of the pool.
    """
    all_removed = set(first_removed)
    orphans = _orphans(all_removed, assessments)
    while not orphans <= all_removed:
        all_removed |= orphans
        orphans = _orphans(all_removed, assessments)
    return all_removed


def _orphans(removed: set[Assessment], assessments: Sequence[Assessment]) -> set[Assessment]:
    """Return the assessments of second-hop answers whose first-hop answers have no assessment left in the pool.

    `removed` are the assessments that leave the pool, and `assessments` are all lines of the pool.
    """
    # `follow_on_id` is the id of the query about the answer of an assessment.
    remaining_follow_ons = {assessment.follow_on_id for assessment in assessments if assessment not in removed}
    orphans = set()
    for assessment in assessments:
        is_second_hop = assessment.query.level > 0
        if is_second_hop and assessment.query.short_id not in remaining_follow_ons:
            orphans.add(assessment)
    return orphans


def _pool_without(pool: Sequence[Input], removed_lines: Sequence[PoolLine]) -> list[Input]:
    """Return the files of a pool, as files in memory, without some of their lines.

    A file that would be empty is left out. Raises InputError for a file that cannot be read.
    """
    files: list[Input] = []
    for file in pool:
        name = name_of(file)
        removed_numbers = {pool_line.line for pool_line in removed_lines if pool_line.file == name}
        remaining_lines = _lines_without(file, removed_numbers)
        if any(remaining_lines):
            files.append(InMemory(name_without_compression(name), b"\n".join(remaining_lines)))
    return files


def _lines_without(file: Input, removed_numbers: set[int]) -> list[bytes]:
    """Return the lines of a file, except the lines with the `removed_numbers`; the first line has the number 1."""
    with open_source(file) as source:
        lines = source.read_bytes().split(b"\n")
    return [line for number, line in enumerate(lines, start=1) if number not in removed_numbers]


# ---- The study


class PooledRuns(Record):
    """Runs, and the pool that they are scored against.

    `gold` has the queries and no pool; `pool` are the files of assessments. `load` reads a run over gold with a pool.
    """

    gold: ColdStartGold
    pool: Sequence[Input]
    runs: Sequence[OneRun]
    load: Callable[[ColdStartGold, OneRun], Run] = load_separately

    def check(self) -> None:
        """Raise UsageError for fewer than two runs, and for runs that share an id."""
        run_ids = [run.run_id for run in self.runs]
        has_shared_ids = len(set(run_ids)) < len(run_ids)
        if len(run_ids) < 2 or has_shared_ids:
            ids_text = ", ".join(run_ids) or "none"
            raise UsageError(f"pool-bias needs at least two runs with ids of their own, not {ids_text}")

    def score(self, gold: ColdStartGold, runs: Sequence[OneRun]) -> dict[str, AnalysedRun]:
        """Score some of the runs against a gold standard that has a pool, and return the results by run id.

        Raises InputError for a run that cannot be read.
        """
        scored_by_run = {}
        for run in runs:
            loaded_run = self.load(gold, run)
            scored_by_run[run.run_id] = score_for_analysis(loaded_run, gold.options.policy)
        return scored_by_run


def pool_bias(
    pooled_runs: PooledRuns, teams: Input | None = None, measure: str | None = None, progress: Progress = silent
) -> PoolBiasDocument:
    """Return the score of each run against the whole pool, and against the pool without its team's own contribution.

    `teams` is a file with the team of each run; if it is not given, each run is a team of its own. The runs are ranked
    by `measure`, which defaults to the headline measure. `progress` shows how many teams have been left out so far.

    Raises UsageError for fewer than two runs, for runs that share an id, and for an unknown measure. Raises InputError
    for a file that cannot be read.
    """
    pooled_runs.check()
    run_ids = [run.run_id for run in pooled_runs.runs]
    team_by_run = {run_id: run_id for run_id in run_ids}
    if teams is not None:
        team_by_run = read_teams(teams, run_ids)
    gold = with_pool(pooled_runs.gold, pooled_runs.pool)
    scored_by_run = pooled_runs.score(gold, pooled_runs.runs)
    # The results of a run determine the headline measure, and whether there is a measure with this name.
    first_scored_run = scored_by_run[run_ids[0]]
    study = _Study(
        pooled_runs=pooled_runs,
        scored_by_run=scored_by_run,
        measure=first_scored_run.measure(measure),
        team_by_run=team_by_run,
        contribution_by_team=_contributions_of_teams(gold.links.assessments, scored_by_run, team_by_run),
    )
    # This scores the runs of each team again, against a smaller pool.
    score_without_team_by_run = study.left_out_scores(progress)
    return study.document(score_without_team_by_run)


class _Study(Record):
    """Runs that were scored against the whole pool, and what each team contributed to the pool.

    `scored_by_run` has the results of the runs and `team_by_run` their teams, both by run id. `contribution_by_team`
    has by the name of a team what the pool would lack without it.
    """

    pooled_runs: PooledRuns
    scored_by_run: Mapping[str, AnalysedRun]
    measure: Measure
    team_by_run: Mapping[str, str]
    contribution_by_team: Mapping[str, Contribution]

    def scores(self) -> dict[str, float]:
        """Return the score of each run against the whole pool, by run id."""
        return _scores_by_run(self.scored_by_run, self.measure)

    def left_out_scores(self, progress: Progress) -> dict[str, float]:
        """Return the score of each run against the pool without its team's own contribution, by run id.

        If a team has contributed nothing of its own, the pool and the scores of its runs stay the same. `progress`
        shows how many teams have been left out so far. Raises InputError for a file that cannot be read.
        """
        contributing_teams = []
        for team, contribution in self.contribution_by_team.items():
            if contribution.removed:
                contributing_teams.append(team)
        score_without_team_by_run = self.scores()
        # `progress` yields the teams themselves, and shows how many it has yielded.
        for team in progress(contributing_teams, "leaving out"):
            score_without_team_by_run.update(self._scores_without(team))
        return score_without_team_by_run

    def _scores_without(self, team: str) -> dict[str, float]:
        """Return the scores of a team's runs against the pool without what only this team contributed, by run id."""
        smaller_pool = _pool_without(self.pooled_runs.pool, self.contribution_by_team[team].removed)
        gold_without_team = with_pool(self.pooled_runs.gold, smaller_pool)
        runs_of_team = [run for run in self.pooled_runs.runs if self.team_by_run[run.run_id] == team]
        scored_again = self.pooled_runs.score(gold_without_team, runs_of_team)
        return _scores_by_run(scored_again, self.measure)

    def document(self, score_without_team_by_run: Mapping[str, float]) -> PoolBiasDocument:
        """Return the document of the study, with both scores and both ranks of each run."""
        score_by_run = self.scores()
        rank_by_run = _rank_by_run(score_by_run)
        rank_without_team_by_run = _rank_by_run(score_without_team_by_run)
        scores_without_team = [score_without_team_by_run[run_id] for run_id in score_by_run]
        runs = []
        for run_id, score in score_by_run.items():
            without_team = LeftOut(score=score_without_team_by_run[run_id], rank=rank_without_team_by_run[run_id])
            runs.append(self._pooled_run(run_id, score, rank_by_run[run_id], without_team))
        return PoolBiasDocument(
            task=COLD_START_MODE,
            measure=str(self.measure),
            runs=tuple(runs),
            tau_b=tau_b(score_by_run.values(), scores_without_team),
            signatures=self._signatures(),
        )

    def _signatures(self) -> dict[str, str]:
        """Return the signature of each run's score against the whole pool, by run id."""
        measure = str(self.measure)
        return {run_id: str(scored.signature.of(measure)) for run_id, scored in self.scored_by_run.items()}

    def _pooled_run(self, run_id: str, score: float, rank: int, score_without_team: LeftOut) -> PooledRun:
        """Return a run with its score and rank against the whole pool, and what its team contributed to the pool.

        `score_without_team` is the score and rank of the run against the pool without this contribution. The result
        also has the scores of the run in two scenarios: all unassessed answers are wrong (pessimistic), or all are
        right (optimistic).
        """
        team = self.team_by_run[run_id]
        contribution = self.contribution_by_team[team]
        scenarios_of_run = scenarios(self.scored_by_run[run_id], self.measure)
        return PooledRun(
            run=run_id,
            team=team,
            score=score,
            rank=rank,
            left_out=score_without_team,
            unique=contribution.assessment_count,  # assessments of answers that only this team gives
            unique_classes=len(contribution.classes),
            pessimistic=scenarios_of_run.pessimistic,
            optimistic=scenarios_of_run.optimistic,
            scenarios=scenarios_of_run.scores,
            removed=contribution.removed,
        )


def _rank_by_run(score_by_run: Mapping[str, float]) -> dict[str, int]:
    """Return the rank of each run by its score, from 1 for the highest: `{"run1": 2, "run2": 1}`."""
    ranks = ranks_of(list(score_by_run.values()))
    return dict(zip(score_by_run, ranks))


def _scores_by_run(scored_by_run: Mapping[str, AnalysedRun], measure: Measure) -> dict[str, float]:
    """Return the score of each run by a measure. Raises InputError if a run has no score by this measure."""
    score_by_run = {}
    for run, scored in scored_by_run.items():
        measure_of_run = scored.measure(str(measure))  # the same measure, but raises InputError if the run lacks it
        score_by_run[run] = scored.result.score_by_measure[measure_of_run]
    return score_by_run


# ---- How it is printed

_SCENARIO_MEASURE: Final = "SF-ALL-Micro-F1"
"""The measure whose scenarios are shown, whatever measure ranks: of others they say too little."""


def _rows_of_runs(bias: PoolBiasDocument) -> Iterator[dict[str, Any]]:
    """Yield the row of each run as a dictionary with column keys, starting with the best run."""
    for run in sorted(bias.runs, key=lambda run: run.rank):
        scenario = run.scenarios[_SCENARIO_MEASURE]
        cells = asdict(run)
        # In the table, the parts of nested records have columns of their own.
        cells["left_out"] = run.left_out.score
        cells["rank_left_out"] = run.left_out.rank
        cells["f1"] = scenario.score
        cells["f1_pessimistic"] = scenario.pessimistic
        cells["f1_optimistic"] = scenario.optimistic
        yield cells


def _notes(bias: PoolBiasDocument) -> list[str]:
    """Return the sentences below the table of runs."""
    return [
        tau_in_words(bias.tau_b, len(bias.runs)),
        "Left out: score against the pool without what only the team's runs have.",
        f"F1: {_SCENARIO_MEASURE}, and what it would be in two scenarios: every unassessed answer wrong, or right.",
    ]


POOL_BIAS_PRINTOUT: Final = Printout(
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
        _rows_of_runs,
        row_selection="whole",
    ),
    _notes,
)
