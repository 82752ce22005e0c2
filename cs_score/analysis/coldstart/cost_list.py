"""The cost list: the mistakes of a run by what mending each would gain (insight specification 4.1)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from cs_score.analysis.coldstart.changes import Change
from cs_score.analysis.coldstart.effects import Effect, Effects
from cs_score.analysis.coldstart.mistakes import MISSED, MissedClass, WrongLine, missed_classes, wrong_lines
from cs_score.analysis.coldstart.scored import Scored
from cs_score.coldstart.lines.records import Response
from cs_score.coldstart.result import UnitResult
from cs_score.measures.measure import Measure


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake with what mending it changes.

    `kind` and `change` say what is mended and how: a line or a node is `absent`, a class is `found`. `file` and `line`
    are those of the line, of the node's first line, or of the assessment by which the class would be found. `node` is
    the FQ node id, `category` that of the line as policies name it, MISSED for a class; None for a node.
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
    gain: float | None

    def as_json(self) -> dict[str, object]:
        """The mistake with the keys of the specification."""
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
            **({} if self.effect.reason is None else {"reason": self.effect.reason}),
            **self.change.as_json(),
        }


def cost_list(scored: Scored, effects: Effects, measure: Measure) -> list[Mistake]:
    """All mistakes, the greatest gain in `measure` first, then by file and line.

    Gains are exact; those of two mistakes do not add up. Mistakes whose gain the scorer would not tell come last.
    """
    order = effects.rescoring.files.order
    mistakes = [
        mistake for unit in scored.result.units for mistake in _of_unit(scored, effects, measure, unit)
    ]
    mistakes.sort(
        key=lambda mistake: (
            math.inf if mistake.gain is None else -mistake.gain,
            order.get(mistake.file, len(order)),
            mistake.line,
            mistake.kind,
        )
    )
    return mistakes


def _of_unit(scored: Scored, effects: Effects, measure: Measure, unit: UnitResult) -> Iterator[Mistake]:
    wrong = list(wrong_lines(unit, scored.policy))
    for mistake in wrong:
        yield _wrong_line(mistake, effects, measure)
    nodes: dict[str, list[Response]] = defaultdict(list)
    with_wrong = dict.fromkeys(mistake.line.node for mistake in wrong if mistake.line.node is not None)
    lines_of = scored.run.lines.get(scored.run_id, {}).get(unit.id, {}) if with_wrong else {}
    for line in (line for lines in lines_of.values() for line in lines):
        if line.node in with_wrong:
            nodes[line.node].append(line)
    for node in with_wrong:
        if node is not None and len(nodes[node]) > 1:
            yield _wrong_node(node, nodes[node], unit.id, effects, measure)
    for missed in missed_classes(scored, unit, effects.rescoring.finding):
        if missed.assessment is not None:
            yield _missed_class(missed, effects, measure)


def _wrong_line(mistake: WrongLine, effects: Effects, measure: Measure) -> Mistake:
    line, assessment = mistake.line, mistake.assessment
    change = Change(effects.rescoring.dependents.with_dependents([line]))
    effect = effects.of(change)
    class_name = assessment.value_class if assessment is not None and assessment.is_accepted else None
    return Mistake(
        "line", change, line.file, line.number, line.query.full_id, line.query.slots[0], line.query.level, line.value,
        mistake.category, line.node, class_name, mistake.unit, effect, effect.differences[measure],
    )  # fmt: skip


def _wrong_node(node: str, lines: list[Response], unit: str, effects: Effects, measure: Measure) -> Mistake:
    change = Change(effects.rescoring.dependents.with_dependents(lines))
    effect = effects.of(change)
    first = lines[0]
    return Mistake(
        "node", change, first.file, first.number, first.query.full_id, first.query.slots[0], first.query.level,
        first.value, None, node, None, unit, effect, effect.differences[measure],
    )  # fmt: skip


def _missed_class(missed: MissedClass, effects: Effects, measure: Measure) -> Mistake:
    assessment = missed.assessment
    assert assessment is not None
    query = assessment.query
    change = Change(added=effects.rescoring.finding.lines(assessment))
    effect = effects.of(change)
    return Mistake(
        "class", change, assessment.file, assessment.number, query.full_id, query.slots[0], query.level,
        assessment.value, MISSED, None, missed.name, missed.unit, effect, effect.differences[measure],
    )  # fmt: skip
