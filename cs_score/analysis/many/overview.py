"""Everything that the tables over many runs show, computed from what each run has handed over.

The values do not depend on who scored the runs or in which order: runs are named by their position in the batch.

What runs of an evidence mode found is read off the statistics of their units. A unit is right by a measure where
nothing that the measure looks at is wrong or missing: its own value is 1, or 0/0 because neither gold nor the run has
anything there. So a claim is right by `abstract_label_only_f1` where just its gold abstracts are predicted, each with
gold's label, and a question is right by `em` where its answer is gold's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from cs_score.analysis.many.findings import (
    WHOLE,
    Answers,
    Findings,
    Overlap,
    Pooled,
    Wanted,
    as_bits,
    bits,
    found_by,
    marks,
    overlaps,
    recall_by_systems,
)  # fmt: skip
from cs_score.analysis.many.resampled import resampled_scores, with_resamples
from cs_score.analysis.many.stability import Ranked, Stability, Unit, Values, measured, stability, united_units
from cs_score.base.records import Record
from cs_score.statistics.options import Resampling

_WHOLE: Final = 1 - 1e-12
"""A value that is 1 but for rounding."""


def units_to_find(units: Sequence[Unit], measures: Sequence[str]) -> list[Wanted]:
    """Every unit by every measure; the place says which one it is of those with its id, where it is not the first."""
    return [Wanted(measure, unit, str(n) if n > 1 else "", unit, "") for measure in measures for unit, n in units]


def unit_parts(units: int, measures: Sequence[str]) -> dict[str, int]:
    """The bits of `unit_answers` that belong to each measure, given the number of units."""
    return {measure: ((1 << units) - 1) << place * units for place, measure in enumerate(measures)}


def unit_answers(values: Mapping[Unit, Sequence[float | None]], units: Sequence[Unit], measures: int) -> Answers:
    """The units of a run that are right, and those that are wrong, by so many measures, given its own values in them.

    A unit that the run was not scored on is neither.
    """
    size = len(units) * measures
    right: list[int] = []
    wrong: list[int] = []
    for place, unit in enumerate(units):
        for thing, value in zip(range(place, size, len(units)), values.get(unit, ())):
            (right if value is None or value >= _WHOLE else wrong).append(thing)
    found = bits(right, size)
    return Answers(found, found, bits(wrong, size))


if TYPE_CHECKING:  # it loads numpy, which only resampling needs
    from cs_score.statistics.arithmetic import Floats


class System(NamedTuple):
    """A run of a batch, by its name there and its run id; a file may hold several run ids."""

    run: str
    run_id: str


class Evaluation(Record):
    """What gold gives: the mode, what a unit is called, the measure that is shown by unit, and what is to be found.

    `union_scores` are those of a run that finds some of it and does nothing wrong; none where that cannot be computed.
    Where there are `by_unit`, what is to be found are the units themselves, by each of these measures.
    """

    mode: str
    unit: str
    measure: str
    wanted: Sequence[Wanted]
    union_scores: Callable[[int], Mapping[str, float]]
    by_unit: Sequence[str] = ()


class SystemScores(Record):
    """One system under one policy: its scores and findings."""

    scores: Mapping[str, float]
    findings: Findings


class OfPolicy(Record):
    """What all systems give under one policy; values and marks are in the order of the systems.

    `units` has the measure of units of each system, None where it has none. `marks` say what a system found, in the
    order of what is to be found; None for a system that was not scored. `often` counts them, `pooled` sums them up by
    part. `right` and `wrong` compare the answers of every pair of systems that were scored, part by part in evidence
    modes. `union` has the scores of all that any of them found.
    """

    policy: str
    units: Sequence[tuple[str, Sequence[float | None]]]
    marks: Sequence[str | None]
    often: Sequence[int]
    pooled: Mapping[str, Sequence[Pooled]]
    right: Sequence[Overlap]
    wrong: Sequence[Overlap]
    union: Mapping[str, float]


class Overview(Record):
    """What many runs give together; `resampling` is None where there are no intervals."""

    evaluation: Evaluation
    wanted: Sequence[Wanted]
    systems: Sequence[System]
    policies: Sequence[OfPolicy]
    stability: Stability
    resampling: Resampling | None


def overview(
    evaluation: Evaluation,
    systems: Sequence[System],
    policies: Sequence[str],
    scores_under: Callable[[str], Sequence[SystemScores | None]],
    measures: Sequence[str],
    resampling: Resampling | None,
) -> Overview:
    """Compute everything. `scores_under` gives those of each system under a policy, None where it has none.

    It is asked policy by policy, so that the findings of one policy are in memory at a time; `measures` rank.
    """
    of_policies: list[OfPolicy] = []
    scores: dict[Ranked, list[float | None]] = {}
    resampled: dict[Ranked, Floats] = {}
    wanted = evaluation.wanted
    units: list[Unit] = []
    for policy in policies:
        given = scores_under(policy)
        tables = [None if each is None else each.findings.table for each in given]
        # All policies have the same units, and the same resamples of them.
        units = units or united_units(table.ids for table in tables if table is not None)
        if evaluation.by_unit:
            wanted = units_to_find(units, evaluation.by_unit)
        of_policies.append(_of_policy(policy, given, evaluation, units, wanted))
        for measure in measures:
            of_runs = [None if each is None else each.scores.get(measure) for each in given]
            if any(score is not None for score in of_runs):
                scores[measure, policy] = of_runs
        ranked = [measure for measure in measures if (measure, policy) in scores]
        if resampling is not None and ranked:
            drawn = resampled_scores(tables, units, measured(evaluation.mode, ranked), resampling)
            resampled.update(((measure, policy), found) for measure, found in zip(ranked, drawn))
    firm = stability(scores)
    if resampling is not None and resampled:
        firm = with_resamples(firm, scores, resampled, resampling.level)
    return Overview(evaluation, wanted, systems, of_policies, firm, resampling)


def _of_policy(
    policy: str,
    scored: Sequence[SystemScores | None],
    evaluation: Evaluation,
    units: Sequence[Unit],
    wanted: Sequence[Wanted],
) -> OfPolicy:
    # The measure of units is the first of those by which they are right.
    measure = measured(evaluation.mode, evaluation.by_unit or (evaluation.measure,))
    known: dict[tuple[float, ...], Values] = {}
    values = [{} if each is None else measure.values(each.findings.table, known) for each in scored]
    parts = WHOLE
    if evaluation.by_unit:
        parts = unit_parts(len(units), evaluation.by_unit)
        count = len(evaluation.by_unit)
        answers = [None if each is None else unit_answers(own, units, count) for each, own in zip(scored, values)]
    else:
        answers = _answers([None if each is None else each.findings for each in scored])
    found = [None if each is None else marks(each.found, len(wanted)) for each in answers]
    there = [of_run for of_run in found if of_run is not None]
    often = found_by(there, len(wanted))
    by_part: dict[str, list[int]] = {}
    for thing, times in zip(wanted, often):
        by_part.setdefault(thing.part, []).append(times)
    together = 0
    for each in answers:
        together |= 0 if each is None else each.found
    return OfPolicy(
        policy,
        [(unit[0], [own[unit][0] if unit in own else None for own in values]) for unit in units],
        found,
        often,
        {part: recall_by_systems(times, len(there)) for part, times in by_part.items()},
        overlaps([None if each is None else each.right for each in answers], parts),
        overlaps([None if each is None else each.wrong for each in answers], parts),
        evaluation.union_scores(together) if there else {},
    )


def _answers(scored: Sequence[Findings | None]) -> list[Answers | None]:
    """The answers of systems by their ids; None for one that was not scored."""
    there = [each for each in scored if each is not None]
    right, wrong = as_bits([each.right for each in there]), as_bits([each.wrong for each in there])
    known = (Answers(each.found, *sides) for each, *sides in zip(there, right, wrong))
    return [None if each is None else next(known) for each in scored]
