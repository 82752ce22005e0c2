"""What wrong lines say instead: categories by slot, frequent wrong values, near misses (insight specification 4.4)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from cs_score.analysis.coldstart.scored import Scored
from cs_score.analysis.coldstart.sections.counted import Cell, CountedRow, CountedTable, Key, lines_of
from cs_score.analysis.coldstart.sections.groups import members_of
from cs_score.analysis.coldstart.sections.mistakes import MISSED
from cs_score.coldstart.judging.labels import category_in
from cs_score.coldstart.lines.records import CORRECT, Assessment, Response
from cs_score.coldstart.options import RIGHT, WRONG
from cs_score.foundation.record import dataclass

MOST_VALUES: Final = 100
"""Wrong values that are listed."""


@dataclass(frozen=True, slots=True)
class SlotCategory:
    """How many lines of a slot are of a category before the policies."""

    slot: str
    category: str
    count: int

    def as_json(self) -> dict[str, object]:
        """The count as a JSON object."""
        return {"slot": self.slot, "category": self.category, "count": self.count}


@dataclass(frozen=True, slots=True)
class WrongValue:
    """How many lines of a slot that count as wrong give a value."""

    slot: str
    value: str
    count: int

    def as_json(self) -> dict[str, object]:
        """The count as a JSON object."""
        return {"slot": self.slot, "value": self.value, "count": self.count}


@dataclass(frozen=True, slots=True)
class NearMisses:
    """Of the lines of a category that are neither right nor correct, how many are near to what the pool has.

    `same_place`: the pool has their value provenance with another value; `same_value`: it has their value with another
    value provenance, both for the same LDC query and hop. `..._accepted`: such an answer of the pool is correct or
    inexact. A line may be both.
    """

    category: str
    lines: int
    same_place: int
    same_place_accepted: int
    same_value: int
    same_value_accepted: int

    def as_json(self) -> dict[str, object]:
        """The numbers by name."""
        return {
            "category": self.category,
            "lines": self.lines,
            "same_place": self.same_place,
            "same_place_accepted": self.same_place_accepted,
            "same_value": self.same_value,
            "same_value_accepted": self.same_value_accepted,
        }


@dataclass(frozen=True, slots=True)
class Confusions:
    """Lines by slot and category; the most frequent wrong values; lines near to what the pool has."""

    slots: Sequence[SlotCategory]
    wrong_values: Sequence[WrongValue]
    near: Sequence[NearMisses]

    def as_json(self) -> dict[str, object]:
        """The three tables by name."""
        return {
            "slots": [each.as_json() for each in self.slots],
            "wrong_values": [each.as_json() for each in self.wrong_values],
            "near": [each.as_json() for each in self.near],
        }


def confusions_of(scored: Scored, table: CountedTable) -> Confusions:
    """The confusions of the lines of a table."""
    return Confusions(_slots(table.cells), _wrong_values(table.rows), _near(scored, table.rows))


def _slots(cells: Mapping[Key, Cell]) -> list[SlotCategory]:
    found = [
        SlotCategory(slot, category, sum(cell.counts.submitted for cell in members))
        for (slot, category), members in members_of(cells, ("slot", "category")).items()
        if category != MISSED
    ]
    return sorted(found, key=lambda each: (each.slot, -each.count, each.category))


def _wrong_values(rows: Sequence[CountedRow]) -> list[WrongValue]:
    often = Counter((row.slot, line.value) for row in rows for line, labels, _ in lines_of(row) if WRONG in labels)
    found = [WrongValue(slot, value, count) for (slot, value), count in often.items()]
    found.sort(key=lambda each: (-each.count, each.slot, each.value))
    return found[:MOST_VALUES]


def _near(scored: Scored, rows: Sequence[CountedRow]) -> list[NearMisses]:
    """The near misses of each category, the one with the most lines first."""
    not_right: dict[str, list[tuple[str, Response]]] = defaultdict(list)
    for row in rows:
        for line, labels, _ in lines_of(row):
            category = category_in(labels)
            if RIGHT not in labels and category != CORRECT:
                not_right[category].append((row.unit.id, line))
    lines = [each for members in not_right.values() for each in members]
    # What is assessed in the places of these lines, and with their values.
    values_at = {(unit, line.query.level, line.provenance): _Known() for unit, line in lines}
    places_of = {(unit, line.query.level, line.value): _Known() for unit, line in lines}
    for unit, assessment in _assessed(scored, {unit for unit, _ in lines}):
        level = assessment.query.level
        if (known := values_at.get((unit, level, assessment.provenance))) is not None:
            known.add(assessment.value, assessment.is_accepted)
        if (known := places_of.get((unit, level, assessment.value))) is not None:
            known.add(assessment.provenance, assessment.is_accepted)
    found = []
    for category, members in not_right.items():
        told = [
            (
                *values_at[unit, line.query.level, line.provenance].beside(line.value),
                *places_of[unit, line.query.level, line.value].beside(line.provenance),
            )
            for unit, line in members
        ]
        found.append(NearMisses(category, len(members), *map(sum, zip(*told))))
    return sorted(found, key=lambda each: (-each.lines, each.category))


class _Known:
    """What the pool has: texts, and those of them that it accepts."""

    __slots__ = ("accepted", "texts")

    def __init__(self) -> None:
        self.texts: set[str] = set()
        self.accepted: set[str] = set()

    def add(self, text: str, is_accepted: bool) -> None:
        """Take up a text."""
        self.texts.add(text)
        if is_accepted:
            self.accepted.add(text)

    def beside(self, text: str) -> tuple[bool, bool]:
        """Whether there is another text, and another that is accepted."""
        return len(self.texts) > (text in self.texts), len(self.accepted) > (text in self.accepted)


def _assessed(scored: Scored, units: set[str]) -> Iterator[tuple[str, Assessment]]:
    gold = scored.run.gold
    for base_id, assessments in gold.assessed.items():
        unit = gold.unit_of(base_id)
        if unit in units:
            for assessment in assessments:
                yield unit, assessment
