"""What a second assessor changes: agreement by slot, scores and ranks under either, intervals that draw assessors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from cs_score.analysis.many.rankings import order_of, ranks_of, tau_b
from cs_score.base.documents import Document
from cs_score.base.records import Record, asdict, replace
from cs_score.coldstart.lines import Assessment
from cs_score.measures.registry import headline
from cs_score.statistics.arithmetic import ColumnFormula
from cs_score.statistics.assessments import alpha, assessor_intervals, kappa
from cs_score.statistics.intervals import bootstrap_intervals
from cs_score.statistics.options import Resampling
from cs_score.statistics.results import Interval
from cs_score.statistics.units import UnitTable, aligned
from cs_score.tables.layout import Column, Layout, Row
from cs_score.tables.statistics import Printout, rankings_agree
from cs_score.tasks.task import Task

EVERYTHING: Final = "all"

_SIDES: Final = ("first", "second")


class Agreement(Record):
    """How far the assessors agree about the answers of a slot that both have judged; `all` for all slots.

    Cohen's kappa and Krippendorff's alpha are None where all judgments are the same.
    """

    slot: str
    both: int
    agreed: int
    kappa: float | None
    alpha: float | None


class UnderAssessor(Record):
    """The score and rank of a run under one assessor, with the interval over units."""

    score: float
    rank: int
    low: float | None
    high: float | None


class AssessedRun(Record):
    """A run under either assessor; `low` to `high` is the interval that draws units and, for each, the assessor."""

    run: str
    first: UnderAssessor
    second: UnderAssessor
    low: float
    high: float


class Assessors(Document, frozen=True, kw_only=True, tag="assessors"):
    """Two assessors: their agreement, what only one of them has judged, and runs under either.

    `tau_b` is that of the two rankings, None where all runs are tied under one of them.
    """

    schema_version: Literal[1] = 1
    measure: str
    resampling: Resampling
    agreement: tuple[Agreement, ...]
    only_first: int
    only_second: int
    runs: tuple[AssessedRun, ...]
    tau_b: float | None
    signatures: Mapping[str, str]


Judged = Mapping[tuple[Any, ...], tuple[str, str]]
"""The slot of an answer and how it was judged, by what it says."""


def judged_in(assessments: Sequence[Assessment]) -> Judged:
    """The judgments of a pool; the last one of several of the same line."""
    return {(each.query.full_id, each.answer): (each.query.slots[0], each.judgment) for each in assessments}


def assessors(
    task: Task,
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    measure: str | None = None,
    judged: tuple[Judged, Judged] = ({}, {}),
    resampling: Resampling | None = None,
) -> Assessors:
    """Results of the same runs, by name, under either assessor, compared by one measure, the headline one unless given.

    Raises UsageError for a measure that the task lacks, InputError where the units differ.
    """
    settings, known = resampling or Resampling(), task.measures(first.values())
    measure = task.measure_of(measure) or next(each for each in headline(task.name) if each in known)
    formula = ColumnFormula(task.formula([measure]))
    names, tables, signatures = list(first), dict[str, UnitTable](), dict[str, str]()
    for place, side in zip(_SIDES, (first, second)):
        for name, result in side.items():
            found = task.statistics(result, [measure])
            tables[f"{name} ({place})"] = found.table
            signatures[f"{name} ({place})"] = str(found.origin.signature.of(measure))
            settings = replace(settings, unit=found.unit)
    of_all = aligned(tables)
    rows = [[of_all.rows[f"{name} ({place})"] for name in names] for place in _SIDES]
    under = [_under([bootstrap_intervals(each, formula, settings)[0] for each in side]) for side in rows]
    return Assessors(
        task=task.name,
        measure=measure,
        resampling=settings,
        agreement=tuple(_agreement(*judged)),
        only_first=len(judged[0].keys() - judged[1].keys()),
        only_second=len(judged[1].keys() - judged[0].keys()),
        runs=tuple(
            AssessedRun(name, one, other, *limits)
            for name, one, other, limits in zip(names, *under, assessor_intervals(rows[0], rows[1], formula, settings))
        ),
        tau_b=tau_b(*(order_of(tuple(each.score for each in side)) for side in under)),
        signatures=signatures,
    )


def _under(found: Sequence[Interval]) -> list[UnderAssessor]:
    ranks = ranks_of([each.point for each in found])
    return [UnderAssessor(each.point, rank, each.low, each.high) for each, rank in zip(found, ranks)]


def _agreement(first: Judged, second: Judged) -> Iterator[Agreement]:
    """All slots together, then each by itself in the order of the alphabet."""
    pairs: dict[str, list[tuple[str, str]]] = {EVERYTHING: []}
    for answer in first.keys() & second.keys():
        slot, judgment = first[answer]
        for name in (EVERYTHING, slot):
            pairs.setdefault(name, []).append((judgment, second[answer][1]))
    for name in (EVERYTHING, *sorted(pairs.keys() - {EVERYTHING})):
        each = pairs[name]
        if each:
            yield Agreement(name, len(each), sum(one == other for one, other in each), kappa(each), alpha(each))


AGREEMENT: Final = Layout(
    "agreement",
    "Agreement of two assessors",
    (
        Column("slot", "Slot"),
        Column("both", "Both", meaning="answers that both have judged"),
        Column("agreed", "Agreed", meaning="answers that both have judged alike"),
        Column("kappa", "Kappa", meaning="Cohen's kappa"),
        Column("alpha", "Alpha", meaning="Krippendorff's alpha, nominal"),
    ),
    lambda found: found.agreement,
    most="whole",
)


def _row(run: AssessedRun) -> Row:
    sides = {f"{place}_{key}": value for place in _SIDES for key, value in asdict(getattr(run, place)).items()}
    return {"run": run.run, **sides, "low": run.low, "high": run.high}


def _notes(found: Assessors) -> Iterator[str]:
    yield rankings_agree(found.tau_b)
    if found.only_first or found.only_second:
        yield f"Judged by one alone: {found.only_first} by the first, {found.only_second} by the second."
    yield f"Low, High: {found.resampling.confidence:g} % bootstrap interval over units ({found.resampling.unit}),"
    yield "and over assessors: each unit is drawn with the judgments of one of them."


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
        lambda found: map(_row, sorted(found.runs, key=lambda run: run.first.rank)),
        shown=("run", "first_rank", "first_score", "second_rank", "second_score", "low", "high"),
        most="whole",
    ),
    _notes,
    (AGREEMENT,),
)
