"""The whole analysis of a run, section by section (insight specification 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from cs_score.analysis.coldstart.confidence import (
    Reliability,
    SweepRow,
    best_of,
    reliability_of_judgments,
    reliability_of_labels,
    sweep,
)
from cs_score.analysis.coldstart.confusions import Confusions, Structure, confusions_of, structure_of
from cs_score.analysis.coldstart.effects import Effects
from cs_score.analysis.coldstart.groups import Group, counted_table, crossed, groups_of, with_intervals
from cs_score.analysis.coldstart.mistakes import BudgetRow, Mistake, budget, cost_list, mistakes_of
from cs_score.analysis.coldstart.scenarios import PolicyRow, Scenarios, policy_rows, scenarios
from cs_score.analysis.coldstart.scored import Progress, Scored, silent
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.records import Record, replace, to_builtins
from cs_score.base.signing.origin import Origin
from cs_score.base.signing.signature import Signature
from cs_score.coldstart.options import NamedPolicy
from cs_score.coldstart.unit_statistics import drawn_units, intervals_of_run, resampled_unit
from cs_score.measures.measure import Measure
from cs_score.measures.registry import COLD_START_MODE, MEASURES
from cs_score.problems.log import ProblemLog
from cs_score.statistics.options import Resampling
from cs_score.statistics.results import ScoreIntervals


class ProblemRow(Record):
    """Problems of one code: how often they were met, and the message of the first one."""

    code: str
    severity: str
    count: int
    message: str


def problems_of(scored: Scored) -> Sequence[ProblemRow]:
    """The problems of all that was read and of the queries that were scored, by code."""
    rows: dict[str, ProblemRow] = {}
    for log in _logs(scored):
        for problem in log:
            before = rows.get(problem.code)
            count = problem.occurrences + (0 if before is None else before.count)
            message = problem.message.strip() if before is None else before.message
            rows[problem.code] = ProblemRow(problem.code, str(problem.severity), count, message)
    return [rows[code] for code in sorted(rows)]


def _logs(scored: Scored) -> Iterator[ProblemLog]:
    yield scored.run.problems
    for unit in scored.result.units:
        yield unit.problems
        yield from (query.problems for query in unit.queries)


SCHEMA_VERSION: Final = 1
"""Raised when a key changes its meaning or goes away; new keys do not raise it."""


class Analysis(Record):
    """Why a run scored what it did.

    `mistakes` are all, or the first of them where only so many (`top`) were asked for; `added_to` is the file that
    lines which find classes are appended to. `groups` by dimension and `confusions` are those of `table`, the one whose
    lines the measure is made of (`SF`, `LDC-MAX`, of one hop `SF@1`). `intervals` are those of all scores, where
    resamples were asked for. `explain` gives what the JSON holds below `explanations`: how lines, queries and missed
    classes of the mistakes listed are explained.
    """

    run_id: str
    measure: Measure
    score: float
    scores: Mapping[str, float]
    signature: Signature
    origin: Origin
    added_to: str
    mistakes: Sequence[Mistake]
    mistake_count: int
    top: int | None
    budget: Sequence[BudgetRow]
    structure: Structure
    table: str
    groups: Mapping[str, Sequence[Group]]
    confusions: Confusions
    reliability: Reliability
    scenarios: Scenarios
    policies: Sequence[PolicyRow]
    sweep: Sequence[SweepRow]
    intervals: ScoreIntervals | None
    problems: Sequence[ProblemRow]
    explain: Callable[[Sequence[Mistake]], Mapping[str, object]]

    def __repr__(self) -> str:
        return f"<analysis of run {self.run_id}: {self.measure} {self.score:.4f}, {self.mistake_count} mistakes>"

    @property
    def best(self) -> SweepRow | None:
        """The threshold of confidence that gains most; None where the run has no line."""
        return best_of(self.sweep)

    def as_json(self, most: int | None = None) -> dict[str, object]:
        """The analysis with the keys of the specification, and at most so many mistakes."""
        return {
            "schema_version": SCHEMA_VERSION,
            "mode": "coldstart",
            "measure": str(self.measure),
            "run": self.run_id,
            "score": self.score,
            "scores": dict(self.scores),
            "signature": str(self.signature),
            "origin": self.origin.as_json(),
            "added_to": self.added_to,
            "mistake_count": self.mistake_count,
            **({} if self.top is None else {"top": self.top}),
            "mistakes": [mistake.as_json() for mistake in self.mistakes[:most]],
            "budget": [row.as_json() for row in self.budget],
            "structure": to_builtins(self.structure),
            "table": self.table,
            "groups": {name: [group.as_json() for group in groups] for name, groups in self.groups.items()},
            "confusions": to_builtins(self.confusions),
            "reliability": to_builtins(self.reliability),
            "scenarios": to_builtins(self.scenarios),
            "policies": [row.as_json() for row in self.policies],
            "sweep": to_builtins(self.sweep),
            "best": None if self.best is None else {"threshold": self.best.threshold, "gain": self.best.gain},
            **({} if self.intervals is None else {"intervals": self.intervals.as_json()}),
            "problems": to_builtins(self.problems),
            "explanations": self.explain(self.mistakes),
        }


def analyze(
    scored: Scored,
    measure: str | None = None,
    top: int | None = None,
    policies: Sequence[NamedPolicy] = (),
    *,
    by: Iterable[str] = (),
    resampling: Resampling | None = None,
    progress: Progress = silent,
) -> Analysis:
    """Analyse a run by one measure: None for the one that ranks leaderboards.

    `top`: the number of mistakes in the cost list, None for all; `policies`: those to score under beside the published
    ones; `by`: dimensions of groups that are crossed, such as `slot,language`; `resampling`: the settings of bootstrap
    intervals, None for none; `progress` is shown what is being done. Raises UsageError for an unknown measure or
    dimension, InputError for a measure that the run has no score of.
    """
    chosen, crossings = scored.measure(measure), crossed(by)
    with paused_collector():
        # What scores the whole run again needs the most memory for a while: it comes before what is kept.
        unassessed, under = scenarios(scored, chosen), policy_rows(scored, chosen, policies, progress)
        effects = Effects(scored, _measures(scored, chosen))
        swept = sweep(scored, effects.rescoring, chosen, progress)
        mistakes = list(mistakes_of(scored, effects.rescoring.finding))
        table = counted_table(scored, chosen, mistakes)
        analysis = Analysis(
            run_id=scored.run_id,
            measure=chosen,
            score=scored.result.measures[chosen],
            scores=scored.result.scores,
            signature=scored.signature.of(str(chosen)),
            origin=scored.origin,
            added_to=effects.rescoring.finding.file.name,
            structure=structure_of(scored),
            table=table.name,
            groups=groups_of(table, crossings),
            confusions=confusions_of(scored, table),
            reliability=replace(reliability_of_judgments(scored), labels=reliability_of_labels(table)),
            mistakes=cost_list(effects, progress(mistakes, "weighing mistakes"), top),
            mistake_count=sum(map(len, mistakes)),
            top=top,
            budget=budget(effects, scored.policy, mistakes, [row.tally for row in table.rows], progress),
            scenarios=unassessed,
            policies=under,
            sweep=swept,
            intervals=None,
            problems=problems_of(scored),
            explain=partial(_explanations, scored, chosen, top is None),
        )
    if resampling is None:
        return analysis
    settings = replace(resampling, unit=resampled_unit(scored.run.gold.has_clusters))
    return replace(
        analysis,
        origin=scored.origin.with_option("bootstrap", settings.as_json()),
        groups=with_intervals(analysis.groups, table, drawn_units(scored.result), settings),
        intervals=intervals_of_run(scored.result, settings),
    )


def _measures(scored: Scored, chosen: Measure) -> list[Measure]:
    """The measures of effects: that which is asked about, and all over all hops."""
    known = [each for each in MEASURES[COLD_START_MODE] if each in scored.result.measures]
    return list(dict.fromkeys((chosen, *known)))


def _explanations(
    scored: Scored, measure: Measure, with_others: bool, mistakes: Sequence[Mistake]
) -> Mapping[str, object]:
    from cs_score.analysis.coldstart.explanation.case import Case
    from cs_score.analysis.coldstart.explanation.explanation import explain_everything

    with paused_collector():
        return explain_everything(Case(scored, str(measure)), mistakes, with_others=with_others)
