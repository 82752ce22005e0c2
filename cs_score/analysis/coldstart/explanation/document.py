"""What an explanation says: records that are its JSON, each with its text. Rules are sections of the rules of scoring
(docs/background/scoring.md).

A text is a tree, wrapped to the width that there is; texts of the inputs are made safe and cut where they are long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, Protocol, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.changes import At
from cs_score.base.display import SCREEN, columns_of, one_line
from cs_score.base.documents import Document
from cs_score.base.records import Record, field
from cs_score.measures.registry import undefined_sentences
from cs_score.tables.layout import Layout, columns

_ON: Final = "    "


class HasTree(Protocol):
    """A record that stands in a tree as its own."""

    def tree(self) -> Tree: ...


Tree: TypeAlias = "str | Iterable[Tree] | HasTree | None"
"""A text, or one and what stands below it, in order; None stands nowhere."""


def walk(tree: Tree, level: int = 0) -> Iterator[tuple[int, str]]:
    """The texts of a tree, made safe, each with how deep it stands."""
    if isinstance(tree, str):
        yield level, one_line(tree)
    elif isinstance(tree, Iterable):
        for at, each in enumerate(tree):
            yield from walk(each, level + (at > 0))
    elif tree is not None:
        yield from walk(tree.tree(), level)


def indented(tree: Tree) -> str:
    """A line for each text of a tree, indented by how deep it stands."""
    return "\n".join("  " * level + text for level, text in walk(tree))


def _wrapped(tree: Tree, width: int) -> Iterator[str]:
    """The lines of a tree, of at most `width` columns (20 at least); a line that goes on is indented further."""
    most = max(width, 20)
    for level, text in walk(tree):
        line = begin = ("  " * level)[: most // 2]  # what is deep in a narrow tree stays where there is room for it
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


def short(text: str, most: int = 60) -> str:
    """A text of an input, cut where it is long."""
    return text if len(text) <= most else f"{text[:most]}..."


def quoted(text: str | None) -> str:
    return f'"{short(text or "")}"'


def _judged(side: str, category: str | None) -> str:
    """What a line counts as: `wrong (INCORRECT)`."""
    return f"{side} ({category})" if category else side


def _numbers(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items()) or "none"


def _gain(gain: float | None) -> str:
    return "unknown" if gain is None else f"{gain:+.4f}"


def _listed(places: Sequence[At]) -> str:
    """Files with numbers of lines, those of one file together, the first few of them."""
    by_file: dict[str, list[str]] = {}
    for at in places[:5]:
        by_file.setdefault(at.file, []).append(str(at.line))
    shown = ", ".join(f"{file} line{'s'[: len(of) - 1]} {', '.join(of)}" for file, of in by_file.items())
    return f"{shown} and {len(places) - 5} more" if len(places) > 5 else shown


# ---- The steps of a line


class Noted(Record):
    """A problem that was reported at a line."""

    code: str
    severity: str
    message: str


class Read(Record):
    """Step 1: the columns as written, those that were repaired, why nothing is scored of the line (None: it is), and
    the line that it repeats.
    """

    rule: str
    columns: Mapping[str, str]
    counted_as: Mapping[str, str]
    problems: tuple[Noted, ...]
    not_read: str | None
    rests_on: At | None

    def tree(self) -> Iterator[Tree]:
        head = (self.not_read or "read") + (f", {self.rests_on}" if self.rests_on else "")
        yield f"{head[0].upper()}{head[1:]} (rule {self.rule})"
        names = ("VALUE", "VALUE_PROVENANCE_TRIPLES", "RELATION_PROVENANCE_TRIPLES", "CONFIDENCE", "NODEID")
        value, place, relation, confidence, node = (short(self.columns.get(name, "")) for name in names)
        answer = f'"{value}" at {place}, justified by {relation}; confidence {confidence}'
        yield (f"{answer}, node {node}" if node else answer) if self.columns else None
        yield from (f"{name} counts as {short(text)}" for name, text in self.counted_as.items())
        yield from (f"{one.severity} {one.code}: {short(one.message, 200)}" for one in self.problems)


class Parent(At):
    """A line that gives the answer which another one's query asks about, with its own outcome."""

    value: str
    category: str
    side: str


class Asked(Record):
    """Step 2: the entity that the first hop asks about by `name`, its LDC query (`unit`), the lines that the query
    hangs below, the first hop first, assessments that give the answer that it asks about, and why no row has the query.
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

    def tree(self, head: str = "Asked by ") -> Iterator[Tree]:
        about = self.name if not self.hop else self.chain[-1].value if self.chain else None
        slot = self.slot if about is None else f"{self.slot} of {quoted(about)}"
        unit = "" if self.unit is None else f", entry point of {self.unit}"
        yield f"{head}{self.query}: {slot}, hop {self.hop}{unit} (rule {self.rule})"
        yield from (f"below {quoted(of.value)} ({of}), {_judged(of.side, of.category)}" for of in self.chain)
        if self.hop and not self.chain:
            yield "no line of this run gives the answer that it asks about"
        yield from (f"the pool has the answer that it asks about in {at}" for at in self.in_pool)
        yield self.not_scored and f"not scored: {self.not_scored}"


class Kept(Record):
    """Step 3: the `limit` that discards the line (None: none does), the lines that stay, what decided on the last."""

    rule: str
    limits: str
    limit: str | None = None
    in_favour_of: tuple[At, ...] = ()
    order: str = ""

    def tree(self) -> Tree:
        if self.limit is None:
            return f"Kept: within the limits {self.limits} (rule {self.rule})"
        favour = f"in favour of {_listed(self.in_favour_of)}: {self.order}" if self.in_favour_of else None
        scored = "only reported: a discarded line is scored all the same"
        return [f"Discarded: {self.limit} (rule {self.rule})", favour, scored]


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

    def tree(self) -> str:
        of_class = "" if self.class_name is None else f", class {self.class_name}"
        mention = "" if self.mention is None else f", {self.mention}"
        return f"{self}: {quoted(self.value)} is {self.judgment}{of_class}{mention}"


class Near(Record):
    """An assessment that the line did not meet: how it is near, and the columns that differ with what it has there."""

    assessment: Assessed
    how: str
    differs: Mapping[str, str]

    def tree(self) -> Tree:
        differs = (f"{name} is {short(text)} there" for name, text in self.differs.items())
        return [f"near: {self.assessment.tree()}; {self.how}", *differs]


class Met(Record):
    """Step 4. `assessment` is None where none was met; then `nearest` are up to three others."""

    rule: str
    discipline: str
    how: str
    assessment: Assessed | None
    nearest: tuple[Near, ...] = ()

    def tree(self) -> Tree:
        if self.assessment is not None:
            return [f"Met {self.assessment.tree()}", f"{self.how} (rule {self.rule})"]
        return [f"Met {self.how} (rule {self.rule})", *(self.nearest or ["no assessment is near"])]


class Category(Record):
    """Step 5: what policies call the line, the class or bin that it stands in, the lines that decided."""

    rule: str
    name: str
    stands_in: str
    reason: str
    rests_on: tuple[At, ...] = ()

    def tree(self) -> Tree:
        on = f" [{_listed(self.rests_on)}]" if self.rests_on else ""
        return [f"Category {self.name}: {self.reason}{on} (rule {self.rule})", f"placed in {self.stands_in}"]


class Label(Record):
    """Step 6: `side` is right, wrong, ignored, or what else it counts as; `labels` are those of the debug file."""

    rule: str
    side: str
    labels: tuple[str, ...]
    reason: str

    def tree(self) -> Tree:
        return f"Label: {self.side}, since {self.reason} (rule {self.rule})"


class Counted(Record):
    """Step 7: a row that a line counts in, its scores with their arithmetic, or a `note` on why it is another's."""

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


def _rows(head: str, rows: Sequence[Counted]) -> Tree:
    """Rows with their arithmetic; one that has the same as the row before it only says so."""
    trees: list[Tree] = [head]
    before: tuple[str, ...] = ()
    for row in rows:
        name = f"{row.table} {row.row}, hop {row.hop}"
        if row.note is not None:
            trees.append(f"not in {name}: {row.note} (rule {row.rule})")
        elif row.arithmetic == before:
            trees.append(f"{name}: the same counts, since this entry point represents it (rule {row.rule})")
        else:
            trees.append([f"{name} (rule {row.rule})", *row.arithmetic])
            before = row.arithmetic
    return trees if rows else None


class Rank(Record):
    """A node in one ranking: `precision` is the sum of the values of the nodes down to it, divided by its rank."""

    level: str
    rank: int
    nodes: int
    precision: float
    arithmetic: str
    average_precision: float

    def tree(self) -> Tree:
        return (
            f"hop {self.level}: rank {self.rank} of {self.nodes}, precision there {self.arithmetic}; "
            f"average precision {self.average_precision:.4f} (rule average-precision)"
        )


class Ranked(Record):
    """Step 8: a node's class (None: none was free, `taken_by` has the nodes that took them) and its `value`, V >= 0."""

    rule: str
    node: str
    confidence: float
    confidence_arithmetic: str
    mapped_class: str | None
    taken_by: Mapping[str, str]
    value: float
    value_arithmetic: str
    ranks: tuple[Rank, ...]

    def tree(self) -> Iterator[Tree]:
        yield f"Ranks as node {self.node}"
        yield f"confidence {self.confidence_arithmetic} (rule node-confidence)"
        mapped = f"mapped to {self.mapped_class or 'no class'} (rule node-classes)"
        yield [mapped, *(f"{name} is taken by {who}" for name, who in self.taken_by.items())]
        yield f"{self.value_arithmetic} (rule node-values)"
        yield from self.ranks


class LineEffect(Record):
    """Step 9: the effect of lines that go or come by measure; None where it is not known, and `reason` says why."""

    change: str
    effects: Mapping[str, float | None]
    removed: Sequence[At]
    added: Sequence[str]
    reason: str | None

    def tree(self) -> Iterator[Tree]:
        effects = ", ".join(f"{name} {_gain(effect)}" for name, effect in self.effects.items())
        yield f"Effect: {'without it' if self.change == 'absent' else 'if it were found'}, {effects}"
        yield self.reason
        if len(self.removed) > 1:
            yield f"{len(self.removed)} lines would go: {_listed(self.removed)}"
        yield from ("would be added: " + text.replace("\t", " | ") for text in self.added)


class LineSummary(At):
    """A line in short: `status` is `counted` (in a row of the SF table), `outside` (of it), `skipped` or `unread`, the
    category is that of policies, the labels are those of the debug file.
    """

    status: str
    query: str | None = None
    value: str | None = None
    category: str | None = None
    side: str = ""
    labels: tuple[str, ...] = ()
    row: str | None = None
    node: str | None = None

    def tree(self) -> str:
        value = "" if self.value is None else f" {quoted(self.value)}"
        return f"{self}:{value} is {_judged(self.side, self.category)}"


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

    def tree(self) -> Iterator[Tree]:
        yield f"{self.summary}: {_judged(self.summary.side, self.summary.category)}"
        yield from (self.read, self.asked, self.kept, self.met, self.category, self.label)
        yield self.stopped_by and f"No more is known: {self.stopped_by}"
        yield _rows("Counts in:", self.rows) or (self.met and "Counts in no row")
        yield self.ranked or (self.not_ranked and f"Ranks nowhere: {self.not_ranked} (rule nodes)")
        yield self.effect


# ---- What else can be asked for


class ClassExplanation(Record):
    """A class that is `found`, `missed` or `not counted`, below a query or class (`row`); which of its lines count."""

    name: str
    query: str | None
    slot: str | None
    hop: int
    row: str
    parent: str | None
    status: str
    reason: str
    assessments: tuple[Assessed, ...]
    lines: tuple[LineSummary, ...]
    counted: tuple[At, ...]
    effect: LineEffect | None

    def tree(self) -> Iterator[Tree]:
        slot = "" if self.slot is None else f", {self.slot}, hop {self.hop}"
        assessments = [f"{one.tree()}, at {short(one.provenance)}" for one in self.assessments]
        counted = {str(at) for at in self.counted}
        lines = [line.tree() + "; it counts for the class" * (str(line) in counted) for line in self.lines]
        yield f"Class {self.name}: {self.status}, {self.reason}"
        yield f"parent {self.row}{slot}"
        yield ["Assessments:" if assessments else "The pool has no accepted answer of it", *assessments]
        yield ["Lines placed in it:" if lines else "No line is placed in it", *lines]
        yield self.effect


class NodeExplanation(Record):
    """A node: its lines, the classes of those that are accepted (several: it merges them), its ranks, its effect."""

    name: str
    query: str
    lines: tuple[LineSummary, ...]
    classes: tuple[str, ...]
    ranked: Ranked | None
    not_ranked: str | None
    effect: LineEffect | None

    def tree(self) -> Iterator[Tree]:
        yield f"Node {self.name}, {len(self.lines)} line{'s' if len(self.lines) != 1 else ''}"
        yield ["Lines:", *self.lines]
        if len(self.classes) > 1:
            yield f"It merges {len(self.classes)} classes: {', '.join(self.classes)}"
        else:
            found = "".join(f"Its accepted answers are of class {name}" for name in self.classes)
            yield found or "None of its answers was accepted"
        yield self.ranked or (self.not_ranked and f"Ranks nowhere: {self.not_ranked}")
        yield self.effect


class EntryPoint(Record):
    """A mention of the entity that a query asks about."""

    name: str | None
    docid: str | None
    start: str | None
    end: str | None


class ClassSummary(Record):
    """A class in short, with the first line that has found it."""

    name: str
    row: str
    status: str
    value: str | None
    found_by: At | None

    def tree(self) -> Tree:
        by = "" if self.found_by is None else f" by {self.found_by}"
        return f"{self.name} {quoted(self.value)}: {self.status}{by}"


class QueryExplanation(Record):
    """A query: what it asks, its classes, lines, rows, and average precision by hop; of all hops unless it is a
    follow-on query.
    """

    query: str
    asked: Asked
    slots: tuple[str, ...]
    entry_points: tuple[EntryPoint, ...]
    classes: tuple[ClassSummary, ...]
    categories: Mapping[str, int]
    lines: tuple[LineSummary, ...]
    rows: tuple[Counted, ...]
    average_precision: Mapping[str, float]
    stopped_by: str | None

    def tree(self, *, with_lines: bool = True) -> Iterator[Tree]:
        yield from self.asked.tree("Query ")
        if self.asked.hop == 0:
            yield f"Slots: {', '.join(self.slots)}"
            yield from (f"Entry point: {quoted(e.name)} at {e.docid}:{e.start}-{e.end}" for e in self.entry_points)
        yield self.stopped_by and f"Not all is known: {self.stopped_by}"
        statuses = _numbers(Counter(each.status for each in self.classes))
        yield [f"Classes ({statuses}):" if self.classes else "No class of it is to be found", *self.classes]
        if not self.lines:
            yield "No line answers it"
        elif with_lines:
            of_category: dict[str, list[Tree]] = {}
            for line in self.lines:
                of_category.setdefault(line.category or "without category", []).append(line)
            lines = ([f"{category} ({len(of)})", *of] for category, of in of_category.items())
            yield [f"Lines ({len(self.lines)}):", *lines]
        yield _rows("Rows:", self.rows)
        if averages := [f"hop {level} {score:.4f}" for level, score in self.average_precision.items()]:
            yield f"Average precision: {', '.join(averages)} (rule average-precision)"


class Cost(Record):
    """A mistake with what correcting it would gain."""

    kind: str
    change: str
    file: str
    line: int
    slot: str
    value: str
    category: str | None
    gain: float | None

    def tree(self) -> Tree:
        what = "not found" if self.kind == "class" else f"that is {self.category or 'partly wrong'}"
        place = f"({self.file} line {self.line})"
        return f"{_gain(self.gain)}: {self.kind} {what}, {self.slot} {quoted(self.value)} {place}"


class Overview(Record):
    """The run as a whole: its lines by status, how many met an assessment and how many a limit discards, those in rows
    by side and category; `lines` has every line once.
    """

    read: Mapping[str, int]
    met: int
    discarded: int
    sides: Mapping[str, int]
    categories: Mapping[str, int]
    errors: int
    warnings: int
    costs: tuple[Cost, ...]
    lines: tuple[LineSummary, ...]

    def tree(self) -> Iterator[Tree]:
        """The texts that stand below the name and the score of the run."""
        statuses = {
            "counted": "counted in the tables",
            "outside": "outside of the tables",
            "skipped": "skipped",
            "unread": "not read (comments, blank lines, repetitions, wrong numbers of columns)",
        }
        yield f"{len(self.lines)} lines: {_numbers({statuses[status]: n for status, n in self.read.items()})}"
        yield f"{self.met} met an assessment; {self.discarded} are beyond a limit on justifications"
        yield f"Of those counted: {_numbers(self.sides)}"
        yield f"By category: {_numbers(self.categories)}"
        yield f"Problems reported: {self.errors} errors, {self.warnings} warnings"
        if self.costs:
            yield ["The largest costs, with what correcting each one alone would gain:", *self.costs]


class Explanation(Document, frozen=True, kw_only=True, tag="explanation"):
    """What was asked for of a run: lines (those of answers among them), classes, nodes and queries, in the order asked.

    `overview` is the run as a whole, where nothing else was asked for. `undefined` has the measures that have no value
    for the run, with the reasons. `fatal` is why the run could not be
    scored, None where it could; `score` is None then.
    """

    schema_version: Literal[3] = 3
    run: str
    score: float | None
    scores: Mapping[str, float]
    undefined: Mapping[str, str] | UnsetType = UNSET
    fatal: str | None
    overview: Overview | None
    lines: tuple[LineExplanation, ...]
    queries: tuple[QueryExplanation, ...]
    classes: tuple[ClassExplanation, ...]
    nodes: tuple[NodeExplanation, ...]

    def text(self, width: int = SCREEN) -> str:
        """A tree for people, in lines of at most `width` columns; the inputs' texts are made safe."""
        return "\n\n".join("\n".join(_wrapped(tree, width)) for tree in self.trees())

    def trees(self) -> Iterator[Tree]:
        """A tree for each subject that was asked for."""
        run = self.run or "The run"
        if self.fatal is not None:
            yield [f"{run} cannot be scored", self.fatal]
        if self.overview is not None:
            yield [run if self.score is None else f"{run}: {self.measure} = {self.score:.4f}", *self.overview.tree()]
            for sentence in undefined_sentences(self.undefined or {}):
                yield f"Undefined for this run: {sentence}"
        for of_kind in (self.lines, self.queries, self.classes, self.nodes):
            yield from of_kind


def _steps(found: Explanation) -> Iterator[Mapping[str, object]]:
    for texts in map(list, map(walk, found.trees())):
        yield from ({"about": texts[0][1], "level": level, "text": text} for level, text in texts)


STEPS: Final = Layout("steps", "Steps:", columns("about", "level", "text"), _steps)
"""A row for each step of the text: what it is about, how deep it stands there."""


# ---- What an analysis keeps


class LineSteps(Record):
    """A line and how it was scored, step by step: the numbers of `texts`."""

    file: str
    line: int
    query: str | None
    node: str | None
    value: str | None
    category: str | None
    side: str
    steps: list[int]


class QuerySteps(Record):
    """A query with its lines by side, its classes by status, and the precision at each rank of its nodes by level."""

    query: str
    unit: str | None
    name: str | None
    slot: str
    hop: int
    lines: Mapping[str, int]
    classes: Mapping[str, int]
    precision_at: Mapping[str, list[float]]
    steps: list[int]


class ClassSteps(Record):
    """A class that was missed."""

    class_name: str = field(name="class")
    query: str
    value: str
    steps: list[int]


class Explanations(Record):
    """How lines, queries and missed classes were scored; `left_out` lines are not explained."""

    left_out: int
    lines: list[LineSteps]
    queries: list[QuerySteps]
    classes: list[ClassSteps]
    texts: list[str]
