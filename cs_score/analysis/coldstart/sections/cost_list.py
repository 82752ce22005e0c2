"""The cost list: the mistakes of a run by what mending each would gain (insight specification 4.1)."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator
from typing import Final, Literal

from cs_score.analysis.coldstart.changes import Change
from cs_score.analysis.coldstart.effects import Effect, Effects
from cs_score.analysis.coldstart.sections.mistakes import MISSED, MissedClass, Mistakes, WrongLine, WrongNode
from cs_score.base.records import Record, replace

_DIGITS: Final = 12
"""Of gains that are compared: equal ones may be computed in several ways, which differ beyond these."""


class Mistake(Record):
    """A mistake with what mending it changes.

    `kind` and `change` say what is mended and how: a line or a node is `absent`, a class is `found`. `file` and `line`
    are those of the line, of the node's first line, or of the assessment by which the class would be found. `node` is
    the FQ node id, `category` that of the line as policies name it, MISSED for a class; None for a node.
    `unreachable` is why no answer of the pool could find the class.
    """

    kind: Literal["line", "node", "class"]
    change: Change
    file: str
    line: int
    query: str
    slot: str
    hop: int
    value: str
    category: str | None
    node: str | None
    class_name: str | None
    unit: str
    effect: Effect
    unreachable: str | None = None

    @property
    def gain(self) -> float | None:
        """The effect on the measure that is asked about."""
        return self.effect.differences[0]

    def as_json(self) -> dict[str, object]:
        """The mistake with the keys of the specification."""
        reasons = [reason for reason in (self.unreachable, self.effect.reason) if reason is not None]
        return {
            "kind": self.kind,
            "change": "found" if self.kind == "class" else "absent",
            "file": self.file,
            "line": self.line,
            "query": self.query,
            "slot": self.slot,
            "hop": self.hop,
            "value": self.value,
            "category": self.category,
            "node": self.node,
            "class": self.class_name,
            "gain": self.gain,
            "effects": self.effect.as_json(),
            **({"reachable": self.unreachable is None} if self.kind == "class" else {}),
            **({"reason": "; ".join(reasons)} if reasons else {}),
            **self.change.as_json(),
        }


def cost_list(effects: Effects, units: Iterable[Mistakes], top: int | None = None) -> list[Mistake]:
    """All mistakes, or so many of them, the greatest gain first, then by file and line.

    Gains are exact; those of two mistakes do not add up. Mistakes whose gain the scorer would not tell come last.
    """
    order = effects.rescoring.files.order

    def rank(row: Mistake) -> tuple[float, int, int, str]:
        gain = math.inf if row.gain is None else -round(row.gain, _DIGITS)
        return gain, order.get(row.file, len(order)), row.line, row.kind

    if top is None:
        return sorted(_mistakes(units, effects), key=rank)
    first = heapq.nsmallest(top, _mistakes(units, effects.of_first_measure()), key=rank)
    return [replace(row, effect=effects.of(row.change)) for row in first]


def _mistakes(units: Iterable[Mistakes], effects: Effects) -> Iterator[Mistake]:
    for of_unit in units:
        yield from (_wrong_line(wrong, effects) for wrong in of_unit.lines)
        yield from (_wrong_node(node, effects) for node in of_unit.nodes)
        yield from (_missed_class(missed, effects) for missed in of_unit.classes)


def _wrong_line(mistake: WrongLine, effects: Effects) -> Mistake:
    line, assessment = mistake.line, mistake.assessment
    change = Change(effects.rescoring.dependents.with_dependents([line]))
    effect = effects.of(change)
    class_name = assessment.value_class if assessment is not None and assessment.is_accepted else None
    return Mistake(
        "line", change, line.file, line.number, line.query.full_id, line.query.slots[0], line.query.level, line.value,
        mistake.category, line.node, class_name, mistake.unit, effect,
    )  # fmt: skip


def _wrong_node(node: WrongNode, effects: Effects) -> Mistake:
    change = Change(effects.rescoring.dependents.with_dependents(node.lines))
    effect = effects.of(change)
    first = node.lines[0]
    return Mistake(
        "node", change, first.file, first.number, first.query.full_id, first.query.slots[0], first.query.level,
        first.value, None, node.name, None, node.unit, effect,
    )  # fmt: skip


def _missed_class(missed: MissedClass, effects: Effects) -> Mistake:
    assessment = missed.assessment
    query = assessment.query
    change = Change(added=effects.rescoring.finding.lines(assessment))
    effect = effects.of(change)
    return Mistake(
        "class", change, assessment.file, assessment.number, query.full_id, query.slots[0], query.level,
        assessment.value, MISSED, None, missed.name, missed.unit, effect, missed.unreachable,
    )  # fmt: skip
