"""Everything that the tables over many runs show, computed from what each run has handed over.

The values do not depend on who scored the runs or in which order: runs are named by their position in the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cs_score.analysis.many.agreement import Overlap, Pooled, found_by, marks, overlaps, recall_by_systems
from cs_score.analysis.many.findings import Findings, Wanted
from cs_score.analysis.many.measured import Unit, measured, united_units
from cs_score.analysis.many.stability import Stability, stability
from cs_score.foundation.record import dataclass, replace
from cs_score.statistics.options import Resampling

if TYPE_CHECKING:  # it loads numpy, which only resampling needs
    from cs_score.statistics.arithmetic import Floats


class System(NamedTuple):
    """A run of a batch, by its name there and its run id; a file may hold several run ids."""

    run: str
    run_id: str


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What gold tells: the mode, what a unit is called, the measure that is shown by unit, and what is to be found.

    `union_scores` are those of a run that finds some of it and does nothing wrong; none where that cannot be told.
    """

    mode: str
    unit: str
    measure: str
    wanted: Sequence[Wanted]
    union_scores: Callable[[int], Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Told:
    """One system under one policy: its scores and findings."""

    scores: Mapping[str, float]
    findings: Findings


@dataclass(frozen=True, slots=True)
class OfPolicy:
    """What all systems tell under one policy; values and marks are in the order of the systems.

    `units` has the measure of units of each system, None where it has none. `marks` tell what a system found, in the
    order of what is to be found; None for a system that was not scored. `often` counts them, `pooled` sums them up by
    part. `right` and `wrong` compare the answers of every pair of systems that were scored. `union` has the scores of
    all that any of them found.
    """

    policy: str
    units: Sequence[tuple[str, Sequence[float | None]]]
    marks: Sequence[str | None]
    often: Sequence[int]
    pooled: Mapping[str, Sequence[Pooled]]
    right: Sequence[Overlap]
    wrong: Sequence[Overlap]
    union: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Overview:
    """What many runs tell together; `resampling` is None where there are no intervals."""

    evaluation: Evaluation
    systems: Sequence[System]
    policies: Sequence[OfPolicy]
    stability: Stability
    resampling: Resampling | None


def overview(
    evaluation: Evaluation,
    systems: Sequence[System],
    policies: Sequence[str],
    told: Callable[[str], Sequence[Told | None]],
    measures: Sequence[str],
    resampling: Resampling | None,
) -> Overview:
    """Compute everything. `told` has what each system tells under a policy, None where it has no scores; it is asked
    policy by policy, so that the findings of one policy are in memory at a time. `measures` are those that rank.
    """
    of_policies: list[OfPolicy] = []
    scores: dict[tuple[str, str], list[float | None]] = {}
    resampled: dict[tuple[str, str], Floats] = {}
    units: list[Unit] | None = None
    for policy in policies:
        given = told(policy)
        of_policies.append(_of_policy(policy, given, evaluation))
        tables = [None if each is None else each.findings.table for each in given]
        for measure in measures:
            of_runs = [None if each is None else each.scores.get(measure) for each in given]
            if any(score is not None for score in of_runs):
                scores[measure, policy] = of_runs
        ranked = [measure for measure in measures if (measure, policy) in scores]
        if resampling is not None and ranked:
            from cs_score.analysis.many.resampled_ranks import resampled_scores

            # The same resamples for all policies, which have the same units.
            units = units or united_units(table.ids for table in tables if table is not None)
            drawn = resampled_scores(tables, units, measured(evaluation.mode, ranked), resampling)
            resampled.update(((measure, policy), found) for measure, found in zip(ranked, drawn))
    firm = stability(scores)
    if resampling is not None and resampled:
        from cs_score.analysis.many.resampled_ranks import with_resamples

        firm = with_resamples(firm, scores, resampled, resampling.level)
    return Overview(evaluation, systems, of_policies, firm, resampling)


def _of_policy(policy: str, told: Sequence[Told | None], evaluation: Evaluation) -> OfPolicy:
    size = len(evaluation.wanted)
    found = [None if each is None else marks(each.findings.found, size) for each in told]
    scored = [(place, each.findings) for place, each in enumerate(told) if each is not None]
    often = found_by([of_run for of_run in found if of_run is not None], size)
    by_part: dict[str, list[int]] = {}
    for wanted, times in zip(evaluation.wanted, often):
        by_part.setdefault(wanted.part, []).append(times)
    together = 0
    for _, findings in scored:
        together |= findings.found
    return OfPolicy(
        policy,
        _unit_values(told, evaluation),
        found,
        often,
        {part: recall_by_systems(times, len(scored)) for part, times in by_part.items()},
        _overlaps([(place, findings.right) for place, findings in scored]),
        _overlaps([(place, findings.wrong) for place, findings in scored]),
        evaluation.union_scores(together) if scored else {},
    )


def _overlaps(answers: Sequence[tuple[int, Collection[str]]]) -> list[Overlap]:
    """The overlaps of systems, named by their positions."""
    places = [place for place, _ in answers]
    return [
        replace(overlap, a=places[overlap.a], b=places[overlap.b])
        for overlap in overlaps([of_run for _, of_run in answers])
    ]


def _unit_values(told: Sequence[Told | None], evaluation: Evaluation) -> list[tuple[str, Sequence[float | None]]]:
    measure = measured(evaluation.mode, [evaluation.measure])
    of_runs = [{} if each is None else measure.values(each.findings.table) for each in told]
    units = dict.fromkeys(unit for of_run in of_runs for unit in of_run)
    return [(unit[0], [of_run.get(unit) for of_run in of_runs]) for unit in units]
