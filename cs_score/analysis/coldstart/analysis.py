"""The whole analysis of a run, section by section."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Literal

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart import groups as grouping
from cs_score.analysis.coldstart.confidence import Best, Reliability, SweepRow, best_of, reliability_of, sweep
from cs_score.analysis.coldstart.effects import Effects
from cs_score.analysis.coldstart.explanation.case import Case
from cs_score.analysis.coldstart.explanation.document import Explanations
from cs_score.analysis.coldstart.explanation.explanation import explain_everything
from cs_score.analysis.coldstart.mistakes import BudgetRow, Mistake, budget, cost_list, mistakes_of
from cs_score.analysis.coldstart.scenarios import PolicyRow, Scenarios, policy_rows, scenarios
from cs_score.analysis.coldstart.scored import Progress, Scored, silent
from cs_score.base.documents import Document
from cs_score.base.records import Record, replace
from cs_score.base.runtime import paused_collector
from cs_score.coldstart.options import NamedPolicy
from cs_score.coldstart.unit_statistics import drawn_units, intervals_of_run, resampled_unit
from cs_score.measures.registry import COLD_START_MODE, MEASURES
from cs_score.statistics.options import Resampling
from cs_score.statistics.results import ScoreIntervals


class ProblemRow(Record):
    """Problems of one code: how often they were met, and the message of the first one."""

    code: str
    severity: str
    count: int
    message: str


class Analysis(Document, frozen=True, kw_only=True, tag="analysis"):
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
    structure: grouping.Structure
    table: str
    groups: Mapping[str, Sequence[grouping.Group]]
    confusions: grouping.Confusions
    reliability: Reliability
    scenarios: Scenarios
    policies: Sequence[PolicyRow]
    sweep: Sequence[SweepRow]
    best: Best | None
    intervals: ScoreIntervals | UnsetType = UNSET
    problems: Sequence[ProblemRow]
    explanations: Explanations | UnsetType = UNSET

    def __repr__(self) -> str:
        return f"<analysis of run {self.run}: {self.measure} {self.score:.4f}, {self.mistake_count} mistakes>"


# Long, since it has one section of the document after the other.
def analyze(
    scored: Scored,
    measure: str | None = None,
    top: int | None = None,
    policies: Sequence[NamedPolicy] = (),
    *,
    by: Iterable[str] = (),
    resampling: Resampling | None = None,
    with_explanations: bool = True,
    progress: Progress = silent,
) -> Analysis:
    """Analyse a run by one measure: None for the one that ranks leaderboards.

    `top`: the number of mistakes in the cost list, None for all; `policies`: those to score under beside the published
    ones; `by`: dimensions of groups that are crossed, such as `slot,language`; `resampling`: the settings of bootstrap
    intervals. Raises UsageError for an unknown measure or dimension, InputError for one that the run has no score of.
    """
    chosen, crossings = scored.measure(measure), grouping.crossed(by)
    origin, intervals, units = scored.origin, None, drawn_units(scored.result)
    if resampling is not None:
        resampling = replace(resampling, unit=resampled_unit(scored.run.gold.has_clusters))
        origin = origin.with_option("bootstrap", resampling.as_json())
        intervals = intervals_of_run(scored.result, resampling)
    with paused_collector():
        # What scores the whole run again needs the most memory for a while: it comes before what is kept.
        unassessed, under = scenarios(scored, chosen), policy_rows(scored, chosen, policies, progress)
        # Effects are on the measure that is asked about, and on all over all hops.
        known = [each for each in MEASURES[COLD_START_MODE] if each in scored.result.measures]
        effects = Effects(scored, list(dict.fromkeys((chosen, *known))))
        swept = sweep(scored, effects, chosen, progress)
        mistakes = list(mistakes_of(scored, effects.editor))
        faults = list(chain.from_iterable(mistakes))
        table = grouping.counted_table(scored, chosen, mistakes)
        listed = cost_list(effects, progress(faults, "weighing mistakes"), top)
        case, is_whole = Case(scored, str(chosen)), top is None
        return Analysis(
            task=COLD_START_MODE,
            measure=str(chosen),
            run=scored.run_id,
            score=scored.result.measures[chosen],
            scores=scored.result.scores,
            undefined=scored.result.undefined or UNSET,
            signature=str(scored.signature.of(str(chosen))),
            origin=replace(origin, measure=str(chosen)),
            added_to=effects.editor.file.name,
            mistake_count=len(faults),
            top=UNSET if top is None else top,
            mistakes=listed,
            budget=budget(effects, scored.policy, faults, [row.tally for row in table.rows], progress),
            structure=grouping.structure_of(scored),
            table=table.name,
            groups=grouping.groups_of(table, crossings, units, resampling),
            confusions=grouping.confusions_of(scored, table),
            reliability=reliability_of(scored),
            scenarios=unassessed,
            policies=under,
            sweep=swept,
            best=best_of(swept),
            intervals=UNSET if intervals is None else intervals,
            problems=problems_of(scored),
            explanations=explain_everything(case, listed, with_others=is_whole) if with_explanations else UNSET,
        )


def problems_of(scored: Scored) -> list[ProblemRow]:
    """The problems of all that was read and of the queries that were scored, by code."""
    of_units = ((unit.problems, *(query.problems for query in unit.queries)) for unit in scored.result.units)
    rows: dict[str, ProblemRow] = {}
    for log in (scored.run.problems, *chain.from_iterable(of_units)):
        for problem in log:
            first = ProblemRow(problem.code, str(problem.severity), 0, problem.message.strip())
            row = rows.get(problem.code, first)
            rows[problem.code] = replace(row, count=row.count + problem.occurrences)
    return [rows[code] for code in sorted(rows)]
