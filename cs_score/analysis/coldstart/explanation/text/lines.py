"""A line as text: its steps as a tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from cs_score.analysis.coldstart.explanation.facts import (
    Asked,
    Assessed,
    At,
    Category,
    Counted,
    Kept,
    LineFacts,
    Met,
    Ranked,
    Read,
    Worth,
)
from cs_score.analysis.coldstart.explanation.text.tree import Item

_LONGEST: Final = 60
_MOST_PLACES: Final = 5


def line_tree(facts: LineFacts) -> Item:
    """The steps of a line."""
    fate = facts.fate
    category = "" if fate.category is None else f" ({fate.category})"
    return Item(f"{fate.file} line {fate.line}: {fate.side}{category}", tuple(_steps(facts)))


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
        yield worth_item(facts.worth)


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


def worth_item(worth: Worth) -> Item:
    """An effect."""
    effects = ", ".join(
        f"{name} {'not told' if effect is None else f'{effect:+.4f}'}" for name, effect in worth.effects.items()
    )
    below = [] if worth.reason is None else [Item(worth.reason)]
    if len(worth.removed) > 1:
        below.append(Item(f"{len(worth.removed)} lines would go: {_places(worth.removed)}"))
    below += [Item("would be added: " + text.replace("\t", " | ")) for text in worth.added]
    if worth.change == "absent":
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
