"""Scores and mistakes by group of units: by gold label, by number of sets or facts, by type of question."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from cs_score.analysis.evidence.mending import AnyExaminer
from cs_score.analysis.evidence.mistakes import Mistake
from cs_score.analysis.evidence.modes.examiner import Confusion
from cs_score.analysis.grouping import UNKNOWN, place
from cs_score.base.records import Record, replace
from cs_score.evidence.result import Mode, scores_of
from cs_score.measures.formulas import divide

ASPECT: Final = "aspect"
"""The dimension whose groups are parts of every unit's score, not units; in modes whose measures are means."""


class Group(Record):
    """Units that have something in common: the totals of their statistics, their scores, their mistakes.

    `precision`, `recall` and `f1` are those that belong to the measure that was asked about, None where it has none.
    `share` is that of all mistakes, 0..1. `units` is the number of units.
    """

    group: str
    units: int
    counts: Mapping[str, float]
    scores: Mapping[str, float]
    precision: float | None
    recall: float | None
    f1: float | None
    mistakes: int
    share: float

    def as_json(self) -> dict[str, object]:
        """The group as a JSON object."""
        return {
            "group": self.group,
            "units": self.units,
            "counts": dict(self.counts),
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "scores": dict(self.scores),
            "mistakes": self.mistakes,
            "share": self.share,
        }


class ConfusionCount(Record):
    """How often a label of gold met a predicted label."""

    confusion: Confusion
    count: int

    def as_json(self) -> dict[str, object]:
        """The count as a JSON object."""
        met = self.confusion
        return {"of": met.of, "gold": met.gold, "predicted": met.predicted, "count": self.count}


def groups_of(examiner: AnyExaminer, mistakes: Sequence[Mistake]) -> dict[str, list[Group]]:
    """The groups of each dimension. Each unit is in one group of a dimension, so that their totals are the table's."""
    members = members_of([examiner.groups(position) for position in range(len(examiner.result.table.ids))])
    found = {}
    for dimension, groups in members.items():
        group_of = {position: name for name, positions in groups.items() for position in positions}
        often = Counter(group_of[mistake.position] for mistake in mistakes)
        found[dimension] = [
            _group(examiner, name, positions, often[name], len(mistakes)) for name, positions in groups.items()
        ]
    if aspects := _aspects(examiner, mistakes):
        found[ASPECT] = aspects
    return found


def members_of(told: Sequence[Mapping[str, str]]) -> dict[str, dict[str, list[int]]]:
    """The positions of the units in each group of each dimension, the groups in order (numbers by value).

    `told` has the groups of each unit.
    """
    members: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for dimension in dict.fromkeys(name for groups in told for name in groups):
        for position, groups in enumerate(told):
            members[dimension][groups.get(dimension, UNKNOWN)].append(position)
    return {name: {group: groups[group] for group in sorted(groups, key=place)} for name, groups in members.items()}


def counted_confusions(confusions: Iterable[Confusion]) -> list[ConfusionCount]:
    """Confusions with their numbers, things of one kind together, the most frequent first."""
    often = Counter(confusions)
    kinds = list(dict.fromkeys(confusion.of for confusion in often))
    found = [ConfusionCount(confusion, count) for confusion, count in often.items()]
    return sorted(found, key=lambda each: (kinds.index(each.confusion.of), -each.count, *_labels(each.confusion)))


def _labels(confusion: Confusion) -> tuple[str, str]:
    return confusion.gold, confusion.predicted


def _group(examiner: AnyExaminer, name: str, positions: Sequence[int], mistakes: int, of: int) -> Group:
    table = examiner.result.table
    of_group = replace(table, rows=[table.rows[position] for position in positions])
    mode = examiner.result.mode
    scores = scores_of(mode, of_group)
    family = {part: scores[measure] for part, measure in family_of(mode, examiner.measure).items()}
    return Group(
        group=name,
        units=len(positions),
        counts=dict(zip(table.columns, of_group.sums())),
        scores=scores,
        precision=family.get("precision"),
        recall=family.get("recall"),
        f1=family.get("f1"),
        mistakes=mistakes,
        share=divide(mistakes, of),
    )


def family_of(mode: Mode, measure: str) -> dict[str, str]:
    """The measures called precision, recall and f1 in the line of the mode's report that a measure stands in."""
    row = next(row for row in mode.rows if measure in row.measures)
    if len(row.measures) == 1:
        return {}
    headings = {"prec": "precision"}
    return {headings.get(heading, heading): name for heading, name in zip(mode.headings, row.measures)}


def _aspects(examiner: AnyExaminer, mistakes: Sequence[Mistake]) -> list[Group]:
    """The lines of the report as groups, each with the mistakes whose effect on one of its measures is not 0."""
    result = examiner.result
    totals = dict(zip(result.table.columns, result.table.sums()))
    if not all(measure in totals for measure in result.mode.measures):
        return []
    groups = []
    for row in result.mode.rows:
        family = {part: result.scores[name] for part, name in family_of(result.mode, row.measures[0]).items()}
        concerned = sum(any(mistake.effects[measure] for measure in row.measures) for mistake in mistakes)
        groups.append(
            Group(
                group=row.name,
                units=len(result.table.ids),
                counts={measure: totals[measure] for measure in row.measures},
                scores={measure: result.scores[measure] for measure in row.measures},
                precision=family.get("precision"),
                recall=family.get("recall"),
                f1=family.get("f1"),
                mistakes=concerned,
                share=divide(concerned, len(mistakes)),
            )
        )
    return groups
