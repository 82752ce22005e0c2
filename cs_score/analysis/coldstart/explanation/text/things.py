"""Classes, nodes, queries and the run as a whole as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from cs_score.analysis.coldstart.explanation.facts import (
    ClassFacts,
    ClassFate,
    Cost,
    Fate,
    NodeFacts,
    Overview,
    QueryFacts,
)
from cs_score.analysis.coldstart.explanation.text.lines import (
    asked_item,
    assessed_item,
    quoted,
    ranked_item,
    row_items,
    worth_item,
)
from cs_score.analysis.coldstart.explanation.text.tree import Item

_STATUSES: Final = {
    "counted": "counted in the tables",
    "outside": "outside of the tables",
    "skipped": "skipped",
    "unread": "not read (comments, blank lines, repetitions, wrong numbers of columns)",
}


def class_tree(facts: ClassFacts) -> Item:
    """A class with its assessments and its lines."""
    below = [Item(f"stands below {facts.row}" + ("" if facts.slot is None else f", {facts.slot}, hop {facts.hop}"))]
    if facts.assessments:
        below.append(Item("Assessments:", [assessed_item(one) for one in facts.assessments]))
    else:
        below.append(Item("The pool has no accepted answer of it"))
    counted = {(at.file, at.line) for at in facts.counted}
    lines = [
        Item(_fate(fate) + ("; it counts for the class" if (fate.file, fate.line) in counted else ""))
        for fate in facts.lines
    ]
    below.append(Item("Lines that stand in it:", lines) if lines else Item("No line stands in it"))
    if facts.worth is not None:
        below.append(worth_item(facts.worth))
    return Item(f"Class {facts.name}: {facts.status}, {facts.reason}", below)


def node_tree(facts: NodeFacts) -> Item:
    """A node with its lines and ranks."""
    below = [Item("Lines:", [Item(_fate(fate)) for fate in facts.lines])]
    if len(facts.classes) > 1:
        below.append(Item(f"It merges {len(facts.classes)} classes: {', '.join(facts.classes)}"))
    elif facts.classes:
        below.append(Item(f"Its accepted answers are of class {facts.classes[0]}"))
    else:
        below.append(Item("None of its answers was accepted"))
    if facts.ranked is not None:
        below.append(ranked_item(facts.ranked))
    elif facts.not_ranked is not None:
        below.append(Item(f"Ranks nowhere: {facts.not_ranked}"))
    if facts.worth is not None:
        below.append(worth_item(facts.worth))
    return Item(f"Node {facts.name}, {len(facts.lines)} line{'s' if len(facts.lines) != 1 else ''}", below)


def query_tree(facts: QueryFacts, *, with_lines: bool = True) -> Item:
    """A query with its classes, its lines by category, its rows."""
    asked = asked_item(facts.asked, "Query ")
    return Item(asked.text, (*asked.below, *_of_query(facts, with_lines)))


def _of_query(facts: QueryFacts, with_lines: bool) -> Iterator[Item]:
    if facts.asked.hop == 0:
        yield Item(f"Slots: {', '.join(facts.slots)}")
        for point in facts.entry_points:
            yield Item(f"Entry point: {quoted(point.name or '')} at {point.docid}:{point.start}-{point.end}")
    if facts.untold is not None:
        yield Item(f"Not all can be told: {facts.untold}")
    if facts.classes:
        yield Item(
            f"Classes ({_numbers(_count(each.status for each in facts.classes))}):", tuple(map(_class, facts.classes))
        )
    else:
        yield Item("No class of it is to be found")
    lines = [
        Item(f"{category} ({len(of)})", [Item(_fate(fate)) for fate in of])
        for category, of in _by_category(facts.lines if with_lines else ()).items()
    ]
    if lines:
        yield Item(f"Lines ({len(facts.lines)}):", lines)
    elif not facts.lines:
        yield Item("No line answers it")
    if facts.rows:
        yield Item("Rows:", tuple(row_items(facts.rows)))
    if facts.average_precision:
        shown = ", ".join(f"hop {level} {score:.4f}" for level, score in facts.average_precision.items())
        yield Item(f"Average precision: {shown} (CS 9.7)")


def _class(one: ClassFate) -> Item:
    by = "" if one.found_by is None else f" by {one.found_by.file} line {one.found_by.line}"
    return Item(f"{one.name} {quoted(one.value or '')}: {one.status}{by}")


def _by_category(fates: Iterable[Fate]) -> Mapping[str, list[Fate]]:
    lines: dict[str, list[Fate]] = {}
    for fate in fates:
        lines.setdefault(fate.category or "without category", []).append(fate)
    return lines


def _fate(fate: Fate) -> str:
    value = "" if fate.value is None else f" {quoted(fate.value)}"
    category = "" if fate.category is None else f" ({fate.category})"
    return f"{fate.file} line {fate.line}:{value} is {fate.side}{category}"


def _count(names: Iterable[str]) -> Mapping[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return counts


def _numbers(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items())


def overview_tree(facts: Overview, run_id: str, measure: str, score: float | None) -> Item:
    """The run in one screen."""
    head = f"{run_id or 'The run'}"
    head += "" if score is None else f": {measure} = {score:.4f}"
    reading = {_STATUSES[status]: number for status, number in facts.read.items()}
    below = [
        Item(f"{sum(facts.read.values())} lines: {_numbers(reading) or 'none'}"),
        Item(f"{facts.met} met an assessment; {facts.discarded} are beyond a limit on justifications"),
        Item(f"Of those counted: {_numbers(facts.sides) or 'none'}"),
        Item(f"By category: {_numbers(facts.categories) or 'none'}"),
        Item(f"Problems reported: {facts.errors} errors, {facts.warnings} warnings"),
    ]
    if facts.costs:
        below.append(Item("The largest costs, with what mending each one alone would bring:", _costs(facts.costs)))
    return Item(head, below)


def _costs(costs: Sequence[Cost]) -> list[Item]:
    return [
        Item(
            f"{'not told' if cost.gain is None else f'{cost.gain:+.4f}'}: {cost.kind} {_what(cost)}, {cost.slot} "
            f"{quoted(cost.value)} ({cost.file} line {cost.line})"
        )
        for cost in costs
    ]


def _what(cost: Cost) -> str:
    return "not found" if cost.kind == "class" else f"that is {cost.category or 'partly wrong'}"
