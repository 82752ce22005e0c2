"""Compute the whole analysis of a Cold Start run, section by section: what its mistakes cost, its scores by group, its
confidences, and the problems of its input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.budget import BudgetRow, budget
from cs_score.analysis.coldstart.counted_table import count_table
from cs_score.analysis.coldstart.effects import Effects
from cs_score.analysis.coldstart.faults import find_faults
from cs_score.analysis.coldstart.groups import Group, groups_of, read_crossings
from cs_score.analysis.coldstart.mistakes import Mistake, cost_list
from cs_score.analysis.coldstart.scenarios import Scenarios, scenarios
from cs_score.analysis.coldstart.scored import AnalysedRun, Progress, silent
from cs_score.base.documents import Document
from cs_score.base.records import Record, replace
from cs_score.base.runtime import Late, paused_garbage_collection
from cs_score.coldstart.options import NamedPolicy
from cs_score.coldstart.unit_statistics import drawn_units, intervals_of_run, resampled_unit
from cs_score.measures import COLD_START_MODE, MEASURES, Measure
from cs_score.problems.log import ProblemLog
from cs_score.statistics.resampling_settings import Resampling
from cs_score.statistics.results import ScoreIntervals
from cs_score.verbs.analyze.confusions import Confusions, Structure, confusions_of, structure_of
from cs_score.verbs.analyze.policies import PolicyRow, policy_rows
from cs_score.verbs.analyze.reliability import Reliability, reliability_of
from cs_score.verbs.analyze.sweep import Best, SweepRow, best_of, sweep
from cs_score.verbs.explain.run_explanation.document import RunExplanations

if TYPE_CHECKING:
    from cs_score.verbs.explain.run_explanation import everything, indexed_run
else:  # an analysis for one screen has no explanations
    indexed_run = Late("cs_score.verbs.explain.run_explanation.indexed_run")
    everything = Late("cs_score.verbs.explain.run_explanation.everything")


class ProblemRow(Record):
    """Problems of one code: how often they were met, and the message of the first one."""

    code: str
    severity: str
    count: int
    message: str


class RunAnalysis(Document, frozen=True, kw_only=True, tag="analysis"):
    """Why a run scored what it did.

    `undefined` has the measures that have no value for the run, with the reasons. `mistakes` are all, or the first of
    them where only so many (`top`) were asked for; `added_to` is the file that lines which find classes are appended
    to. `groups` by dimension and `confusions` are those of `table`, the one whose
    lines the measure is made of (`SF`, `LDC-MAX`, of one hop `SF@1`). `intervals` are those of all scores, where
    resamples were asked for. `explanations` say how lines, queries and missed classes of the mistakes listed were
    scored.
    """

    schema_version: Literal[3] = 3
    run: str
    score: float
    scores: Mapping[str, float]
    undefined: Mapping[str, str] | UnsetType = UNSET
    added_to: str
    mistake_count: int
    top: int | UnsetType = UNSET
    mistakes: Sequence[Mistake]
    budget: Sequence[BudgetRow]
    structure: Structure
    table: str
    groups: Mapping[str, Sequence[Group]]
    confusions: Confusions
    reliability: Reliability
    scenarios: Scenarios
    policies: Sequence[PolicyRow]
    sweep: Sequence[SweepRow]
    best: Best | None
    intervals: ScoreIntervals | UnsetType = UNSET
    problems: Sequence[ProblemRow]
    explanations: RunExplanations | UnsetType = UNSET

    def __repr__(self) -> str:
        return f"<analysis of run {self.run}: {self.measure} {self.score:.4f}, {self.mistake_count} mistakes>"


# Long, since it makes one section of the document after the other.
def analyze(
    scored: AnalysedRun,
    measure: str | None = None,
    top: int | None = None,
    policies: Sequence[NamedPolicy] = (),
    *,
    by: Iterable[str] = (),
    resampling: Resampling | None = None,
    with_explanations: bool = True,
    progress: Progress = silent,
) -> RunAnalysis:
    """Return the analysis of a run by one measure, by default its headline measure.

    `top` is the number of mistakes to list, or None for all. The run is also scored under the `policies`, in addition
    to the published ones. `by` has combinations of dimensions by which lines are grouped, such as `slot,language`. With
    `resampling`, scores have bootstrap intervals. Raises UsageError if the measure or a dimension is unknown, and
    InputError if the run has no score by the measure.
    """
    # The settings
    analysed_measure = scored.measure(measure)
    crossings = read_crossings(by)
    origin = replace(scored.origin, measure=str(analysed_measure))
    intervals: ScoreIntervals | UnsetType = UNSET
    if resampling is not None:
        resampling = replace(resampling, unit=resampled_unit(scored.run.gold.has_clusters))
        origin = origin.with_option("bootstrap", resampling.as_json())
        intervals = intervals_of_run(scored.result, resampling)
    with paused_garbage_collection():
        # Scoring the whole run again needs most memory, but only for a while: it comes before results are collected.
        both_scenarios = scenarios(scored, analysed_measure)
        scores_under_policies = policy_rows(scored, analysed_measure, policies, progress)
        # Mistakes, and what correcting them would gain
        effects = Effects(scored, _measures_of_effects(scored, analysed_measure))
        sweep_rows = sweep(scored, effects, analysed_measure, progress)
        faults = list(find_faults(scored, effects.editor))
        table = count_table(scored, analysed_measure, faults)
        mistakes = cost_list(effects, progress(faults, "weighing mistakes"), top)
        tallies = [row.tally for row in table.rows]
        budget_rows = budget(effects, scored.policy, faults, tallies, progress)
        groups = groups_of(table, crossings, drawn_units(scored.result), resampling)
        explanations: RunExplanations | UnsetType = UNSET
        if with_explanations:
            explained_run = indexed_run.IndexedRun(scored, str(analysed_measure))
            explanations = everything.explain_everything(explained_run, mistakes, with_others=top is None)
        return RunAnalysis(
            task=COLD_START_MODE,
            measure=str(analysed_measure),
            run=scored.run_id,
            score=scored.result.score_by_measure[analysed_measure],
            scores=scored.result.scores,
            undefined=scored.result.undefined or UNSET,
            signature=str(scored.signature.of(str(analysed_measure))),
            origin=origin,
            added_to=effects.editor.file_of_added_lines.name,
            mistake_count=len(faults),
            top=UNSET if top is None else top,
            mistakes=mistakes,
            budget=budget_rows,
            structure=structure_of(scored),
            table=table.name,
            groups=groups,
            confusions=confusions_of(scored, table),
            reliability=reliability_of(scored),
            scenarios=both_scenarios,
            policies=scores_under_policies,
            sweep=sweep_rows,
            best=best_of(sweep_rows),
            intervals=intervals,
            problems=problems_of(scored),
            explanations=explanations,
        )


def _measures_of_effects(scored: AnalysedRun, analysed_measure: Measure) -> list[Measure]:
    """Return the measures whose effects are given: the analysed measure, then all others of the run over all hops."""
    measures = [analysed_measure]
    for measure in MEASURES[COLD_START_MODE]:  # it has only the measures over all hops
        if measure in scored.result.score_by_measure and measure != analysed_measure:
            measures.append(measure)
    return measures


def problems_of(scored: AnalysedRun) -> list[ProblemRow]:
    """Return a row for each code of the problems in reading and scoring a run, sorted by code.

    A row has the number of occurrences, and the severity and the message of the first problem.
    """
    row_by_code: dict[str, ProblemRow] = {}
    for log in _problem_logs(scored):
        for problem in log:
            row = row_by_code.get(problem.code)
            if row is None:
                row = ProblemRow(problem.code, str(problem.severity), 0, problem.message.strip())
            row_by_code[problem.code] = replace(row, count=row.count + problem.occurrences)
    return [row_by_code[code] for code in sorted(row_by_code)]


def _problem_logs(scored: AnalysedRun) -> Iterator[ProblemLog]:
    """Yield the log of problems found while reading, then the logs of each unit and its queries."""
    yield scored.run.problems
    for unit in scored.result.units:
        yield unit.problems
        for result in unit.queries:
            yield result.problems
