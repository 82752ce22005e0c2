"""What an explanation says: records that are its JSON, each with its text. Rules are sections of the rules of scoring
(docs/background/scoring.md).

A text is a tree of items, wrapped to the width that there is; texts of the inputs are made safe and cut where they are
long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from cs_score.analysis.coldstart.changes import At
from cs_score.base.display import columns_of, one_line
from cs_score.base.records import Record

_STEP: Final = "  "
_ON: Final = "    "
_NARROWEST: Final = 20
_LONGEST: Final = 60
_MOST_PLACES: Final = 5


class Item(Record):
    """A text with what stands below it."""

    text: str
    below: Sequence[Item | str] = ()


def walk(item: Item | str, level: int = 0) -> Iterator[tuple[int, str]]:
    """The texts of a tree, made safe, each with how deep it stands."""
    if isinstance(item, str):
        item = Item(item)
    yield level, one_line(item.text)
    for each in item.below:
        yield from walk(each, level + 1)


def wrapped(item: Item, width: int) -> Iterator[str]:
    """The lines of a tree, of at most `width` columns (20 at least); a line that goes on is indented further."""
    most = max(width, _NARROWEST)
    for level, text in walk(item):
        line = begin = (_STEP * level)[: most // 2]  # what is deep in a narrow tree stays where there is room for it
        for word in text.replace("(rule ", "(rule\0").split(" "):  # a rule stays together
            word = word.replace("\0", " ")
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


def unwrapped(item: Item | str) -> str:
    """A tree with a line for each text, however long."""
    return "\n".join(_STEP * level + text for level, text in walk(item))


def short(text: str, most: int = _LONGEST) -> str:
    """A text of an input, cut where it is long."""
    return text if len(text) <= most else f"{text[:most]}..."


def quoted(text: str | None) -> str:
    """A text of an input between quotation marks, cut where it is long."""
    return f'"{short(text or "")}"'


def with_category(side: str, category: str | None) -> str:
    """What a line counts as: `wrong (INCORRECT)`."""
    return f"{side} ({category})" if category else side


def numbers(counts: Mapping[str, int]) -> str:
    """Counts by name: `3 right, 2 wrong`."""
    return ", ".join(f"{number} {name}" for name, number in counts.items()) or "none"


def gain_text(gain: float | None) -> str:
    return "unknown" if gain is None else f"{gain:+.4f}"


def listed(places: Sequence[At]) -> str:
    """Files with numbers of lines, those of one file together, the first few of them."""
    by_file: dict[str, list[str]] = {}
    for at in places[:_MOST_PLACES]:
        by_file.setdefault(at.file, []).append(str(at.line))
    shown = [f"{file} line{'s' if len(lines) > 1 else ''} {', '.join(lines)}" for file, lines in by_file.items()]
    more = len(places) - _MOST_PLACES
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


# ---- The steps of a line


class Noted(Record):
    """A problem that was reported at a line."""

    code: str
    severity: str
    message: str


class Read(Record):
    """Step 1. `columns` are those of the line as written, by name; `counted_as` has those that were repaired.

    `not_read` is why nothing is scored of the line, None where it is; `rests_on` the line that it repeats.
    """

    rule: str
    columns: Mapping[str, str]
    counted_as: Mapping[str, str]
    problems: tuple[Noted, ...]
    not_read: str | None
    rests_on: At | None

    def item(self) -> Item:
        head = self.not_read or "read"
        if self.rests_on is not None:
            head = f"{head}, {self.rests_on}"
        below = []
        if self.columns:
            value, place, relation, confidence, node = (
                short(self.columns.get(name, ""))
                for name in ("VALUE", "VALUE_PROVENANCE_TRIPLES", "RELATION_PROVENANCE_TRIPLES", "CONFIDENCE", "NODEID")
            )
            text = f'"{value}" at {place}, justified by {relation}; confidence {confidence}'
            below.append(f"{text}, node {node}" if node else text)
        below += [f"{name} counts as {short(text)}" for name, text in self.counted_as.items()]
        below += [f"{one.severity} {one.code}: {short(one.message, 200)}" for one in self.problems]
        return Item(f"{head[0].upper()}{head[1:]} (rule {self.rule})", below)


class Parent(At):
    """A line that gives the answer which another one's query asks about, with its own outcome."""

    value: str
    category: str
    side: str


class Asked(Record):
    """Step 2. `name` is that of the entity that the first hop asks about, `unit` the full id of its LDC query.

    `chain` has the lines that the query hangs below, those of the first hop first; `in_pool` the assessments that give
    the answer that it asks about. `not_scored` is why no row has the query.
    """

    rule: str
    query: str
    name: str | None
    slot: str
    hop: int
    unit: str | None
    chain: tuple[Parent, ...]
    in_pool: tuple[At, ...]
    not_scored: str | None

    def item(self, head: str = "Asked by ") -> Item:
        about = self.name
        if self.hop:
            about = self.chain[-1].value if self.chain else None
        slot = self.slot if about is None else f"{self.slot} of {quoted(about)}"
        unit = "" if self.unit is None else f", entry point of {self.unit}"
        below = [
            f"below {quoted(each.value)} ({each}), {with_category(each.side, each.category)}" for each in self.chain
        ]
        if self.hop and not self.chain:
            below.append("no line of this run gives the answer that it asks about")
        below += [f"the pool has the answer that it asks about in {at}" for at in self.in_pool]
        if self.not_scored is not None:
            below.append(f"not scored: {self.not_scored}")
        return Item(f"{head}{self.query}: {slot}, hop {self.hop}{unit} (rule {self.rule})", below)


class Kept(Record):
    """Step 3. `limit` is None where the line is kept; otherwise `in_favour_of` are the lines that stay, and `order` is
    what decided between it and the last of them. Either way it is scored.
    """

    rule: str
    limits: str
    limit: str | None = None
    in_favour_of: tuple[At, ...] = ()
    order: str = ""

    def item(self) -> Item:
        if self.limit is None:
            return Item(f"Kept: within the limits {self.limits} (rule {self.rule})")
        below = ["only reported: a discarded line is scored all the same"]
        if self.in_favour_of:
            below.insert(0, f"in favour of {listed(self.in_favour_of)}: {self.order}")
        return Item(f"Discarded: {self.limit} (rule {self.rule})", below)


class Assessed(At):
    """An assessment: its place, its id, the answer, the assessor's judgment, its class where that is accepted."""

    id: str
    query: str
    value: str
    provenance: str
    judgment: str
    class_name: str | None
    mention: str | None
    class_mention: str | None

    def text(self) -> str:
        class_text = "" if self.class_name is None else f", class {self.class_name}"
        mention = "" if self.mention is None else f", {self.mention}"
        return f"{self}: {quoted(self.value)} is {self.judgment}{class_text}{mention}"


class Near(Record):
    """An assessment that the line did not meet: how it is near, and the columns that differ with what it has there."""

    assessment: Assessed
    how: str
    differs: Mapping[str, str]


class Met(Record):
    """Step 4. `assessment` is None where none was met; then `nearest` are up to three others."""

    rule: str
    discipline: str
    how: str
    assessment: Assessed | None
    nearest: tuple[Near, ...] = ()

    def item(self) -> Item:
        if self.assessment is not None:
            return Item(f"Met {self.assessment.text()}", [f"{self.how} (rule {self.rule})"])
        nearest = [
            Item(
                f"near: {near.assessment.text()}; {near.how}",
                [f"{name} is {short(text)} there" for name, text in near.differs.items()],
            )
            for near in self.nearest
        ]
        return Item(f"Met {self.how} (rule {self.rule})", nearest or ["no assessment is near"])


class Category(Record):
    """Step 5: the category before the policies, and what else the rules made of the line.

    `stands_in` is the class or bin that the line was placed in; `rests_on` are the lines that decided.
    """

    rule: str
    name: str
    stands_in: str
    reason: str
    rests_on: tuple[At, ...] = ()

    def item(self) -> Item:
        on = f" [{listed(self.rests_on)}]" if self.rests_on else ""
        return Item(f"Category {self.name}: {self.reason}{on} (rule {self.rule})", [f"stands in {self.stands_in}"])


class Label(Record):
    """Step 6: `side` is right, wrong, ignored, or what else it counts as; `labels` are those of the debug file."""

    rule: str
    side: str
    labels: tuple[str, ...]
    reason: str

    def item(self) -> Item:
        return Item(f"Label: {self.side}, since {self.reason} (rule {self.rule})")


class Counted(Record):
    """A row that a line counts in: its scores with their arithmetic, or a `note` on why it is another's."""

    rule: str
    table: str
    row: str
    hop: str
    counts: Mapping[str, int]
    precision: float
    recall: float
    f1: float
    arithmetic: tuple[str, ...]
    note: str | None = None


def row_items(rows: Sequence[Counted]) -> Iterator[Item]:
    """Rows with their arithmetic; one that has the same as the row before it only says so."""
    before: tuple[str, ...] = ()
    for row in rows:
        head = f"{row.table} {row.row}, hop {row.hop}"
        if row.note is not None:
            yield Item(f"not in {head}: {row.note} (rule {row.rule})")
        elif row.arithmetic == before:
            yield Item(f"{head}: the same counts, since this entry point represents it (rule {row.rule})")
        else:
            yield Item(f"{head} (rule {row.rule})", row.arithmetic)
            before = row.arithmetic


class Rank(Record):
    """A node in one ranking: `precision` is the sum of the values of the nodes down to it, divided by its rank."""

    level: str
    rank: int
    nodes: int
    precision: float
    arithmetic: str
    average_precision: float


class Ranked(Record):
    """Step 8. `mapped_class` is None where no class was free, `taken_by` who has those it could have.

    `value` is V (0 or more), `arithmetic` has confidence and V written out.
    """

    rule: str
    node: str
    confidence: float
    confidence_arithmetic: str
    mapped_class: str | None
    taken_by: Mapping[str, str]
    value: float
    value_arithmetic: str
    ranks: tuple[Rank, ...]

    def item(self) -> Item:
        mapped = "mapped to no class" if self.mapped_class is None else f"mapped to {self.mapped_class}"
        taken = [f"{name} is taken by {who}" for name, who in self.taken_by.items()]
        ranks = [
            f"hop {one.level}: rank {one.rank} of {one.nodes}, precision there {one.arithmetic}; "
            f"average precision {one.average_precision:.4f} (rule average-precision)"
            for one in self.ranks
        ]
        below = (
            f"confidence {self.confidence_arithmetic} (rule node-confidence)",
            Item(f"{mapped} (rule node-classes)", taken),
            f"{self.value_arithmetic} (rule node-values)",
        )
        return Item(f"Ranks as node {self.node}", (*below, *ranks))


class LineEffect(Record):
    """Step 9: the effect of a change by measure; None where it is not known, and `reason` says why.

    `removed` lines go and `added` ones come.
    """

    change: str
    effects: Mapping[str, float | None]
    removed: Sequence[At]
    added: Sequence[str]
    reason: str | None

    def item(self) -> Item:
        effects = ", ".join(f"{name} {gain_text(change)}" for name, change in self.effects.items())
        below = [] if self.reason is None else [self.reason]
        if len(self.removed) > 1:
            below.append(f"{len(self.removed)} lines would go: {listed(self.removed)}")
        below += ["would be added: " + text.replace("\t", " | ") for text in self.added]
        return Item(f"Effect: {'without it' if self.change == 'absent' else 'if it were found'}, {effects}", below)


class LineSummary(At):
    """A line in short: its `status` is `counted` (in a row of the tables), `outside` (of them), `skipped` or `unread`.

    `category` is that of policies, `labels` those of the debug file, `row` that of the SF table.
    """

    status: str
    query: str | None = None
    value: str | None = None
    category: str | None = None
    side: str = ""
    labels: tuple[str, ...] = ()
    row: str | None = None
    node: str | None = None

    def text(self) -> str:
        value = "" if self.value is None else f" {quoted(self.value)}"
        return f"{self}:{value} is {with_category(self.side, self.category)}"


class LineExplanation(Record):
    """Explanation of one line. Steps that were not reached are None or empty; `stopped_by` says why."""

    summary: LineSummary
    text: str
    read: Read
    asked: Asked | None = None
    kept: Kept | None = None
    met: Met | None = None
    category: Category | None = None
    label: Label | None = None
    rows: tuple[Counted, ...] = ()
    ranked: Ranked | None = None
    not_ranked: str | None = None
    effect: LineEffect | None = None
    stopped_by: str | None = None

    def item(self) -> Item:
        steps = (self.read, self.asked, self.kept, self.met, self.category, self.label)
        below: list[Item | str] = [step.item() for step in steps if step is not None]
        if self.stopped_by is not None:
            below.append(f"No more is known: {self.stopped_by}")
        if self.rows:
            below.append(Item("Counts in:", tuple(row_items(self.rows))))
        elif self.met is not None:
            below.append("Counts in no row")
        if self.ranked is not None:
            below.append(self.ranked.item())
        elif self.not_ranked is not None:
            below.append(f"Ranks nowhere: {self.not_ranked} (rule nodes)")
        if self.effect is not None:
            below.append(self.effect.item())
        return Item(f"{self.summary}: {with_category(self.summary.side, self.summary.category)}", below)
