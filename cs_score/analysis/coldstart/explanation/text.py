"""Explanations as text: a tree of items, each wrapped to the width that there is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from cs_score.analysis.coldstart.explanation.facts import (
    Asked,
    Assessed,
    At,
    Category,
    ClassFacts,
    ClassSummary,
    Cost,
    Counted,
    Kept,
    LineEffect,
    LineFacts,
    LineSummary,
    Met,
    NodeFacts,
    Overview,
    QueryFacts,
    Ranked,
    Read,
)
from cs_score.base.display import columns_of, one_line
from cs_score.base.records import Record

_STEP: Final = "  "
_ON: Final = "    "
_NARROWEST: Final = 20


class Item(Record):
    """A text with what stands below it."""

    text: str
    below: Sequence[Item] = ()


def _words(text: str) -> list[str]:
    """The words of a text that is made safe; a rule stays together."""
    glued = one_line(text).replace("(CS ", "(CS\0").split(" ")
    return [word.replace("\0", " ") for word in glued]


def wrapped(item: Item, width: int, indent: str = "") -> Iterator[str]:
    """The lines of a tree, of at most `width` columns (20 at least); a line that goes on is indented further."""
    most = max(width, _NARROWEST)
    begin = indent[: most // 2]  # what is deep in a narrow tree stays where there is room for it
    line = begin
    for word in _words(item.text):
        space = "" if line in (begin, f"{begin}{_ON}") else " "
        if columns_of(line + space + word) <= most:
            line += space + word
            continue
        if space:
            yield line.rstrip()
            line = f"{begin}{_ON}"
        for sign in word:  # it may be longer than a line
            if columns_of(line + sign) > most:
                yield line
                line = f"{begin}{_ON}"
            line += sign
    yield line.rstrip()
    for each in item.below:
        yield from wrapped(each, width, indent + _STEP)


def unwrapped(item: Item, indent: str = "") -> Iterator[str]:
    """The lines of a tree, one for each text, however long."""
    yield indent + one_line(item.text)
    for each in item.below:
        yield from unwrapped(each, indent + _STEP)


_LONGEST: Final = 60
_MOST_PLACES: Final = 5


def line_tree(facts: LineFacts) -> Item:
    """The steps of a line."""
    summary = facts.fate
    category = "" if summary.category is None else f" ({summary.category})"
    return Item(f"{summary.file} line {summary.line}: {summary.side}{category}", tuple(_steps(facts)))


def _steps(facts: LineFacts) -> Iterator[Item]:
    yield _read(facts.read)
    if facts.asked is not None:
        yield asked_item(facts.asked)
    if facts.kept is not None:
        yield _kept(facts.kept)
    if facts.met is not None:
        yield _met(facts.met)
    if facts.category is not None:
        yield _category(facts.category)
    if facts.label is not None:
        yield Item(f"Label: {facts.label.side}, since {facts.label.reason} (CS {facts.label.rule})")
    if facts.untold is not None:
        yield Item(f"Nothing more can be told: {facts.untold}")
    if facts.rows:
        yield Item("Counts in:", tuple(row_items(facts.rows)))
    elif facts.met is not None:
        yield Item("Counts in no row")
    if facts.ranked is not None:
        yield ranked_item(facts.ranked)
    elif facts.not_ranked is not None:
        yield Item(f"Ranks nowhere: {facts.not_ranked} (CS 9.1)")
    if facts.worth is not None:
        yield effect_item(facts.worth)


def _read(read: Read) -> Item:
    columns = read.columns
    head = read.not_read or "read"
    if read.rests_on is not None:
        head = f"{head}, {_place(read.rests_on)}"
    below = []
    if columns:
        node = columns.get("NODEID")
        below.append(
            Item(
                f"{quoted(columns.get('VALUE', ''))} at {_short(columns.get('VALUE_PROVENANCE_TRIPLES', ''))}, "
                f"justified by {_short(columns.get('RELATION_PROVENANCE_TRIPLES', ''))}; confidence "
                f"{_short(columns.get('CONFIDENCE', ''))}" + (f", node {_short(node)}" if node else "")
            )
        )
    below += [Item(f"{name} counts as {_short(text)}") for name, text in read.counted_as.items()]
    below += [Item(f"{one.severity} {one.code}: {_short(one.message, 200)}") for one in read.problems]
    return Item(f"{head[0].upper()}{head[1:]} (CS {read.rule})", below)


def asked_item(asked: Asked, head: str = "Asked by ") -> Item:
    """The query of a line and what it hangs below."""
    whom = next((parent.value for parent in reversed(asked.chain)), None) if asked.hop else asked.name
    slot = asked.slot if whom is None else f"{asked.slot} of {quoted(whom)}"
    unit = "" if asked.unit is None else f", entry point of {asked.unit}"
    below = [
        Item(f"below {quoted(parent.value)} ({parent.file} line {parent.line}), {_fate(parent.side, parent.category)}")
        for parent in asked.chain
    ]
    if asked.hop and not asked.chain:
        below.append(Item("no line of this run gives the answer that it asks about"))
    below += [Item(f"the pool has the answer that it asks about in {_place(at)}") for at in asked.in_pool]
    if asked.not_scored is not None:
        below.append(Item(f"not scored: {asked.not_scored}"))
    return Item(f"{head}{asked.query}: {slot}, hop {asked.hop}{unit} (CS {asked.rule})", below)


def _kept(kept: Kept) -> Item:
    if kept.limit is None:
        return Item(f"Kept: within the limits {kept.limits} (CS {kept.rule})")
    below = [Item(f"in favour of {_places(kept.in_favour_of)}: {kept.order}")] if kept.in_favour_of else []
    below.append(Item("only reported: a discarded line is scored all the same"))
    return Item(f"Discarded: {kept.limit} (CS {kept.rule})", below)


def _met(met: Met) -> Item:
    if met.assessment is not None:
        return Item(f"Met {_assessed(met.assessment)}", (Item(f"{met.how} (CS {met.rule})"),))
    nearest = [
        Item(
            f"near: {_assessed(near.assessment)}; {near.how}",
            [Item(f"{name} is {_short(text)} there") for name, text in near.differs.items()],
        )
        for near in met.nearest
    ]
    return Item(f"Met {met.how} (CS {met.rule})", nearest or [Item("no assessment is near")])


def _assessed(one: Assessed) -> str:
    class_text = "" if one.class_name is None else f", class {one.class_name}"
    mention = "" if one.mention is None else f", {one.mention}"
    return f"{one.file} line {one.line}: {quoted(one.value)} is {one.judgment}{class_text}{mention}"


def assessed_item(one: Assessed) -> Item:
    """An assessment in one line."""
    return Item(f"{_assessed(one)}, at {_short(one.provenance)}")


def _category(category: Category) -> Item:
    on = f" [{_places(category.rests_on)}]" if category.rests_on else ""
    text = f"Category {category.name}: {category.reason}{on} (CS {category.rule})"
    return Item(text, (Item(f"stands in {category.stands_in}"),))


def row_items(rows: Sequence[Counted]) -> Iterator[Item]:
    """Rows with their arithmetic; one that has the same as the row before it only says so."""
    before: tuple[str, ...] = ()
    for row in rows:
        head = f"{row.table} {row.row}, hop {row.hop}"
        if row.note is not None:
            yield Item(f"not in {head}: {row.note} (CS {row.rule})")
        elif row.arithmetic == before:
            yield Item(f"{head}: the same counts, since this entry point represents it (CS {row.rule})")
        else:
            yield Item(f"{head} (CS {row.rule})", tuple(map(Item, row.arithmetic)))
            before = row.arithmetic


def ranked_item(ranked: Ranked) -> Item:
    """A node in the rankings."""
    mapped = "mapped to no class" if ranked.mapped_class is None else f"mapped to {ranked.mapped_class}"
    below = [
        Item(f"confidence {ranked.confidence_arithmetic} (CS 9.3)"),
        Item(f"{mapped} (CS 9.4)", [Item(f"{name} is taken by {who}") for name, who in ranked.taken_by.items()]),
        Item(f"{ranked.value_arithmetic} (CS 9.5)"),
    ]
    below += [
        Item(
            f"hop {one.level}: rank {one.rank} of {one.nodes}, precision there {one.arithmetic}; "
            f"average precision {one.average_precision:.4f} (CS 9.7)"
        )
        for one in ranked.ranks
    ]
    return Item(f"Ranks as node {ranked.node}", below)


def effect_item(effect: LineEffect) -> Item:
    """An effect."""
    effects = ", ".join(
        f"{name} {'not told' if change is None else f'{change:+.4f}'}" for name, change in effect.effects.items()
    )
    below = [] if effect.reason is None else [Item(effect.reason)]
    if len(effect.removed) > 1:
        below.append(Item(f"{len(effect.removed)} lines would go: {_places(effect.removed)}"))
    below += [Item("would be added: " + text.replace("\t", " | ")) for text in effect.added]
    if effect.change == "absent":
        return Item(f"Worth: without it, {effects}", below)
    return Item(f"Worth: if it were found, {effects}", below)


def _fate(side: str, category: str) -> str:
    return f"{side} ({category})" if category else side


def _place(at: At) -> str:
    return f"{at.file} line {at.line}"


def _places(places: Sequence[At]) -> str:
    """Places, those of one file together."""
    by_file: dict[str, list[int]] = {}
    for at in places[:_MOST_PLACES]:
        by_file.setdefault(at.file, []).append(at.line)
    more = len(places) - _MOST_PLACES
    shown = [f"{file} line{'s' if len(of) > 1 else ''} {_listed(of)}" for file, of in by_file.items()]
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def quoted(text: str) -> str:
    """A text of an input between quotation marks, cut where it is long."""
    return f'"{_short(text)}"'


def _short(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else f"{text[:most]}..."


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
        Item(_line_in_short(summary) + ("; it counts for the class" if (summary.file, summary.line) in counted else ""))
        for summary in facts.lines
    ]
    below.append(Item("Lines that stand in it:", lines) if lines else Item("No line stands in it"))
    if facts.worth is not None:
        below.append(effect_item(facts.worth))
    return Item(f"Class {facts.name}: {facts.status}, {facts.reason}", below)


def node_tree(facts: NodeFacts) -> Item:
    """A node with its lines and ranks."""
    below = [Item("Lines:", [Item(_line_in_short(summary)) for summary in facts.lines])]
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
        below.append(effect_item(facts.worth))
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
        Item(f"{category} ({len(of)})", [Item(_line_in_short(summary)) for summary in of])
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


def _class(one: ClassSummary) -> Item:
    by = "" if one.found_by is None else f" by {one.found_by.file} line {one.found_by.line}"
    return Item(f"{one.name} {quoted(one.value or '')}: {one.status}{by}")


def _by_category(summaries: Iterable[LineSummary]) -> Mapping[str, list[LineSummary]]:
    lines: dict[str, list[LineSummary]] = {}
    for summary in summaries:
        lines.setdefault(summary.category or "without category", []).append(summary)
    return lines


def _line_in_short(summary: LineSummary) -> str:
    value = "" if summary.value is None else f" {quoted(summary.value)}"
    category = "" if summary.category is None else f" ({summary.category})"
    return f"{summary.file} line {summary.line}:{value} is {summary.side}{category}"


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
