"""Define the documents of explanations: records that are written as JSON, and printed as trees of texts. A tree is a
text, a text followed by the trees below it, or a record with a tree; None is an empty tree, which is left out. The
score of a line is explained in nine steps, each a record, from reading the line (1) to its effect on the scores (9).

Fields whose name in JSON is too short for code have a longer name here: `field(name=...)` gives the name in JSON. Trees
are wrapped to the width of a terminal. Texts of the inputs are made safe for it, and cut if they are long. Rules are
named as in docs/background/scoring.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, Protocol, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.changes import At
from cs_score.base.display import SCREEN_WIDTH, columns_of, one_line
from cs_score.base.documents import Document
from cs_score.base.records import Record, field
from cs_score.measures import undefined_sentences
from cs_score.tables.layout import Layout, columns


class HasTree(Protocol):
    """A record whose text is a tree."""

    def tree(self) -> Tree:
        """Return the tree of texts that the record is printed as."""


Tree: TypeAlias = "str | Iterable[Tree] | HasTree | None"
"""A text; or a text followed by the trees below it, in order; or a record with a tree. None is left out."""


class TreeText(NamedTuple):
    """A text of a tree, and its level: the number of texts above it."""

    level: int
    text: str


def walk(tree: Tree, level: int = 0) -> Iterator[TreeText]:
    """Yield the texts of a tree from top to bottom with their levels, made safe for a terminal.

    `level` is the level of the first text. The texts below it have the next level.
    """
    if tree is None:
        return
    if isinstance(tree, str):  # must come before Iterable, which a text is as well
        yield TreeText(level, one_line(tree))
    elif isinstance(tree, Iterable):
        is_first = True  # the first branch is the text itself; the others are the trees below it
        for branch in tree:
            yield from walk(branch, level if is_first else level + 1)
            is_first = False
    else:  # a record with a tree
        yield from walk(tree.tree(), level)


def indented(tree: Tree) -> str:
    """Return the texts of a tree as lines, each indented by two spaces for every level."""
    return "\n".join(["  " * tree_text.level + tree_text.text for tree_text in walk(tree)])


_CONTINUATION_INDENT: Final = "    "
"""The further indentation of a line that goes on."""

_FEWEST_COLUMNS_OF_TREE: Final = 20
"""The fewest columns to which trees are wrapped."""


def _wrapped(tree: Tree, width: int) -> Iterator[str]:
    """Yield the lines of a tree, wrapped to at most `width` columns of a terminal."""
    for tree_text in walk(tree):
        yield from _wrapped_text(tree_text, max(width, _FEWEST_COLUMNS_OF_TREE))


def _wrapped_text(tree_text: TreeText, width: int) -> Iterator[str]:
    """Yield the lines of one text of a tree, wrapped to at most `width` columns.

    A line does not end inside `(rule NAME`. Words that are longer than a line are cut.
    """
    indent = ("  " * tree_text.level)[: width // 2]  # a deep text in a narrow tree keeps half of the width
    lines = [indent]
    for word in _words_of_text(tree_text.text):
        _add_word(lines, word, indent, width)  # to the last line, or to a new one
    yield from lines[:-1]
    yield lines[-1].rstrip()


def _add_word(lines: list[str], word: str, indent: str, width: int) -> None:
    """Add a word to the last of `lines`, or to a new line if the last one would exceed `width` columns.

    The first line begins with `indent`, further lines begin with four more spaces. A word longer than a line is split.
    """
    next_indent = indent + _CONTINUATION_INDENT
    has_words = lines[-1] not in (indent, next_indent)
    longer_line = f"{lines[-1]} {word}" if has_words else f"{lines[-1]}{word}"
    if columns_of(longer_line) <= width:
        lines[-1] = longer_line
        return
    if has_words:
        lines[-1] = lines[-1].rstrip()
        lines.append(next_indent)
    _add_characters(lines, word, next_indent, width)


def _add_characters(lines: list[str], word: str, next_indent: str, width: int) -> None:
    """Add a word to the last of `lines`, character by character. After a full line a new one begins.

    New lines begin with `next_indent`.
    """
    for character in word:
        if columns_of(lines[-1] + character) > width:
            lines.append(next_indent)
        lines[-1] += character


def _words_of_text(text: str) -> list[str]:
    """Return the words of a text; `(rule NAME` is one word."""
    words = text.replace("(rule ", "(rule\0").split(" ")
    return [word.replace("\0", " ") for word in words]


def short(text: str, most: int = 60) -> str:
    """Return a text of an input; of a long one the first `most` characters, followed by three dots."""
    return text if len(text) <= most else f"{text[:most]}..."


def quoted(text: str | None) -> str:
    """Return a text of an input in quotation marks, cut if it is long."""
    return f'"{short(text or "")}"'


def _side_and_category(side: str, category: str | None) -> str:
    """Return how a line counts: `wrong (INCORRECT)`."""
    return f"{side} ({category})" if category else side


def _counts_in_words(counts: Mapping[str, int]) -> str:
    """Return counts, given by name, in words: `3 right, 1 wrong`; `none` if there are none."""
    return ", ".join([f"{number} {name}" for name, number in counts.items()]) or "none"


def _gain_in_words(gain: float | None) -> str:
    """Return a gain with its sign: `+0.0125`; `unknown` if it is None."""
    return "unknown" if gain is None else f"{gain:+.4f}"


_MOST_PLACES: Final = 5
"""The most lines that a list of places names."""


def _places_in_words(places: Sequence[At]) -> str:
    """Return the places of lines, file by file: `a.tab lines 3, 7, b.tab line 2 and 4 more`."""
    numbers_by_file: dict[str, list[str]] = {}
    for place in places[:_MOST_PLACES]:
        numbers_by_file.setdefault(place.file, []).append(str(place.line))
    text = ", ".join([_numbers_in_words(file, numbers) for file, numbers in numbers_by_file.items()])
    if len(places) > _MOST_PLACES:
        text += f" and {len(places) - _MOST_PLACES} more"
    return text


def _numbers_in_words(file: str, numbers: Sequence[str]) -> str:
    """Return the numbers of lines in a file: `a.tab line 3` or `a.tab lines 3, 7`."""
    noun = "line" if len(numbers) == 1 else "lines"
    return f"{file} {noun} {', '.join(numbers)}"


# ---- The steps of a line


class Noted(Record):
    """A problem that was reported at a line."""

    code: str
    severity: str
    message: str


class Read(Record):
    """Step 1: the columns as written, those that were repaired, the reason why the line is not scored (None if it is
    scored), and the line that it repeats.
    """

    rule: str
    columns: Mapping[str, str]
    repaired_columns: Mapping[str, str] = field(name="counted_as")
    problems: tuple[Noted, ...]
    why_not_read: str | None = field(name="not_read")
    repeated_line: At | None = field(name="rests_on")

    def tree(self) -> Iterator[Tree]:
        """Yield the texts of the step: whether the line was read, its answer, its repaired columns and its problems."""
        heading = self.why_not_read or "read"
        if self.repeated_line is not None:
            heading += f", {self.repeated_line}"
        yield f"{heading[0].upper()}{heading[1:]} (rule {self.rule})"
        if self.columns:
            yield self._answer()
        for name, text in self.repaired_columns.items():
            yield f"{name} counts as {short(text)}"
        for problem in self.problems:
            yield f"{problem.severity} {problem.code}: {short(problem.message, 200)}"

    def _answer(self) -> str:
        """Return the answer of the line with its justification, confidence and node."""
        value = self._short_column("VALUE")
        place = self._short_column("VALUE_PROVENANCE_TRIPLES")
        relation = self._short_column("RELATION_PROVENANCE_TRIPLES")
        confidence = self._short_column("CONFIDENCE")
        node = self._short_column("NODEID")
        answer = f'"{value}" at {place}, justified by {relation}; confidence {confidence}'
        return f"{answer}, node {node}" if node else answer

    def _short_column(self, name: str) -> str:
        """Return the text of a column, cut if it is long; an empty text if the line does not have the column."""
        return short(self.columns.get(name, ""))


class Parent(At):
    """A line that gives the answer which another one's query asks about, with its own outcome."""

    value: str
    category: str
    side: str


class Asked(Record):
    """Step 2: the query, with the `name` of the entity that the first hop asks about, and its LDC query (`unit`).

    A query of a later hop asks about the answer of parent lines: they are given from the first hop on, then the places
    of this answer in the pool. `not_scored` is the reason why no row has the query.
    """

    rule: str
    query: str
    name: str | None
    slot: str
    hop: int
    unit: str | None
    parent_lines: tuple[Parent, ...] = field(name="chain")
    pool_places: tuple[At, ...] = field(name="in_pool")
    not_scored: str | None

    def tree(self, heading: str = "Asked by ") -> Iterator[Tree]:
        """Yield a text with the query, its slot and its hop, then a text for each line that leads to it.

        The first text begins with `heading`.
        """
        yield f"{heading}{self.query}: {self._question()} (rule {self.rule})"
        for parent in self.parent_lines:
            yield f"below {quoted(parent.value)} ({parent}), {_side_and_category(parent.side, parent.category)}"
        if self.hop and not self.parent_lines:
            yield "no line of this run gives the answer that it asks about"
        for place in self.pool_places:
            yield f"the pool has the answer that it asks about in {place}"
        if self.not_scored:
            yield f"not scored: {self.not_scored}"

    def _question(self) -> str:
        """Return the question of the query: `per:children of "Bo", hop 0, entry point of CS17_ENG_0001`."""
        subject = self._subject()
        slot = self.slot if subject is None else f"{self.slot} of {quoted(subject)}"
        unit = "" if self.unit is None else f", entry point of {self.unit}"
        return f"{slot}, hop {self.hop}{unit}"

    def _subject(self) -> str | None:
        """Return the entity that the query asks about; None if no line names the entity."""
        if not self.hop:
            return self.name
        return self.parent_lines[-1].value if self.parent_lines else None


class Kept(Record):
    """Step 3: the `limit` that discards the line (None: none does), the lines that are kept in its place, and why."""

    rule: str
    limits: str
    limit: str | None = None
    kept_lines: tuple[At, ...] = field(default=(), name="in_favour_of")
    why_others_kept: str = field(default="", name="order")

    def tree(self) -> Tree:
        """Return a text that says whether the line is kept; for a discarded line also the lines kept instead."""
        if self.limit is None:
            return f"Kept: within the limits {self.limits} (rule {self.rule})"
        texts = [f"Discarded: {self.limit} (rule {self.rule})"]  # the first text is the root of the tree
        if self.kept_lines:
            texts.append(f"in favour of {_places_in_words(self.kept_lines)}: {self.why_others_kept}")
        texts.append("only reported: a discarded line is scored all the same")
        return texts


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
        """Return the answer and its judgment: `pool.tab line 3: "Bo" is CORRECT, class CS17_ENG_0001:1, NAM`."""
        # The record itself as text is its place: `pool.tab line 3`.
        text = f"{self}: {quoted(self.value)} is {self.judgment}"
        if self.class_name is not None:
            text += f", class {self.class_name}"
        if self.mention is not None:
            text += f", {self.mention}"
        return text


class Near(Record):
    """An assessment that the line did not meet: how it is near, and the columns that differ with what it has there."""

    assessment: Assessed
    nearness: str = field(name="how")
    text_by_differing_column: Mapping[str, str] = field(name="differs")

    def tree(self) -> Tree:
        """Return the text `near: ASSESSMENT; HOW`, and below it a text for each column in which the line differs."""
        texts = [f"near: {self.assessment.tree()}; {self.nearness}"]
        for name, text in self.text_by_differing_column.items():
            texts.append(f"{name} is {short(text)} there")
        return texts


class Met(Record):
    """Step 4: the assessment that decides on the line, and how it was found by the rule of matching (`discipline`).

    `assessment` is None if the line has none; then `nearest` are up to three similar ones.
    """

    rule: str
    discipline: str
    way_of_matching: str = field(name="how")
    assessment: Assessed | None
    nearest: tuple[Near, ...] = ()

    def tree(self) -> Tree:
        """Return the texts about the line's assessment; if it has none, about the nearest assessments."""
        if self.assessment is not None:
            return [f"Met {self.assessment.tree()}", f"{self.way_of_matching} (rule {self.rule})"]
        heading = f"Met {self.way_of_matching} (rule {self.rule})"  # this says `no assessment`, and why
        if not self.nearest:
            return [heading, "no assessment is near"]
        return [heading, *self.nearest]


class Category(Record):
    """Step 5: the category of the line under the policies, its equivalence class or bin, and the lines that decided."""

    rule: str
    name: str
    class_name: str = field(name="stands_in")
    reason: str
    deciding_lines: tuple[At, ...] = field(default=(), name="rests_on")

    def tree(self) -> Tree:
        """Return the texts of the step: `Category INCORRECT: so the assessor judged it`, and below it the class."""
        text = f"Category {self.name}: {self.reason}"
        if self.deciding_lines:
            text += f" [{_places_in_words(self.deciding_lines)}]"
        return [f"{text} (rule {self.rule})", f"placed in {self.class_name}"]


class LabelStep(Record):
    """Step 6: `side` is right, wrong, ignored, or what else it counts as; `labels` are those of the debug file."""

    rule: str
    side: str
    labels: tuple[str, ...]
    reason: str

    def tree(self) -> Tree:
        """Return how the line counts, and why: `Label: right, since -right lists CORRECT (rule policies)`."""
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


def _rows_tree(heading: str, rows: Sequence[Counted]) -> Tree:
    """Return the tree of some rows with their arithmetic below a heading; None if there are no rows.

    A row that has the same arithmetic as the row before only says so.
    """
    if not rows:
        return None
    trees: list[Tree] = [heading]
    arithmetic_before: tuple[str, ...] = ()
    for row in rows:
        trees.append(_row_tree(row, arithmetic_before))
        if row.note is None:  # a row with a note, on why it does not count the line, has no arithmetic
            arithmetic_before = row.arithmetic
    return trees


def _row_tree(row: Counted, arithmetic_before: tuple[str, ...]) -> Tree:
    """Return the tree of a row with its arithmetic; `arithmetic_before` is that of the row before it.

    A row of an LDC query has the same arithmetic as that of its best entry point, which represents it.
    """
    name = f"{row.table} {row.row}, hop {row.hop}"
    if row.note is not None:
        return f"not in {name}: {row.note} (rule {row.rule})"
    if row.arithmetic == arithmetic_before:
        return f"{name}: the same counts, since this entry point represents it (rule {row.rule})"
    return [f"{name} (rule {row.rule})", *row.arithmetic]


class Rank(Record):
    """A node in one ranking: `precision` is the sum of the values of the nodes down to it, divided by its rank."""

    level: str
    rank: int
    nodes: int
    precision: float
    arithmetic: str
    average_precision: float

    def tree(self) -> Tree:
        """Return a text with the node's rank, the precision there, and the average precision of the ranking."""
        return (
            f"hop {self.level}: rank {self.rank} of {self.nodes}, precision there {self.arithmetic}; "
            f"average precision {self.average_precision:.4f} (rule average-precision)"
        )


class RankStep(Record):
    """Step 8: a node's class (None: none was free), the nodes that took other classes, and its `value`, V >= 0."""

    rule: str
    node: str
    confidence: float
    confidence_arithmetic: str
    mapped_class: str | None
    node_by_taken_class: Mapping[str, str] = field(name="taken_by")
    value: float
    value_arithmetic: str
    ranks: tuple[Rank, ...]

    def tree(self) -> Iterator[Tree]:
        """Yield texts about the node: its confidence, its class and its value, then its rank in each ranking."""
        yield f"Ranks as node {self.node}"
        yield f"confidence {self.confidence_arithmetic} (rule node-confidence)"
        class_tree = [f"mapped to {self.mapped_class or 'no class'} (rule node-classes)"]
        for class_name, node in self.node_by_taken_class.items():
            class_tree.append(f"{class_name} is taken by {node}")
        yield class_tree
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
        """Yield a text with the effect on each measure, then texts about the lines that would go or be added."""
        effects = [f"{name} {_gain_in_words(effect)}" for name, effect in self.effects.items()]
        condition = "without it" if self.change == "absent" else "if it were found"
        yield f"Effect: {condition}, {', '.join(effects)}"
        yield self.reason  # None is left out when the tree is printed
        if len(self.removed) > 1:
            yield f"{len(self.removed)} lines would go: {_places_in_words(self.removed)}"
        for text in self.added:
            columns_of_line = text.replace("\t", " | ")
            yield f"would be added: {columns_of_line}"


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
        """Return the line in one text: `run.tab line 7: "Bo" is wrong (INCORRECT)`."""
        value = "" if self.value is None else f" {quoted(self.value)}"
        return f"{self}:{value} is {_side_and_category(self.side, self.category)}"


class LineExplanation(Record):
    """Explanation of one line. Steps that were not reached are None or empty; `stopped_by` says why."""

    summary: LineSummary
    text: str
    reading_step: Read = field(name="read")
    query_step: Asked | None = field(default=None, name="asked")
    limits_step: Kept | None = field(default=None, name="kept")
    matching_step: Met | None = field(default=None, name="met")
    category: Category | None = None
    label: LabelStep | None = None
    rows: tuple[Counted, ...] = ()
    rank_step: RankStep | None = field(default=None, name="ranked")
    why_not_ranked: str | None = field(default=None, name="not_ranked")
    effect: LineEffect | None = None
    stopped_by: str | None = None

    def tree(self) -> Iterator[Tree]:
        """Yield a text with the side and category of the line, then the trees of the steps that it reached."""
        yield f"{self.summary}: {_side_and_category(self.summary.side, self.summary.category)}"
        # Steps that were not reached are None, and are left out when the tree is printed.
        yield from (self.reading_step, self.query_step, self.limits_step, self.matching_step, self.category, self.label)
        if self.stopped_by:
            yield f"No more is known: {self.stopped_by}"
        yield self._rows_step()
        if self.why_not_ranked:
            yield f"Ranks nowhere: {self.why_not_ranked} (rule nodes)"
        yield self.rank_step
        yield self.effect

    def _rows_step(self) -> Tree:
        """Return the tree of the rows that count the line, or a sentence that no row does.

        It is None if scoring stopped before lines were matched and counted.
        """
        if self.rows:
            return _rows_tree("Counts in:", self.rows)
        return None if self.matching_step is None else "Counts in no row"


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
        """Yield texts about the class: its status, its parent, its assessments, and the lines placed in it."""
        yield f"Class {self.name}: {self.status}, {self.reason}"
        slot = "" if self.slot is None else f", {self.slot}, hop {self.hop}"
        yield f"parent {self.row}{slot}"  # `row` is the name of the query or class above
        if self.assessments:
            yield ["Assessments:", *self._assessment_texts()]
        else:
            yield "The pool has no accepted answer of it"
        if self.lines:
            yield ["Lines placed in it:", *self._line_texts()]
        else:
            yield "No line is placed in it"
        yield self.effect

    def _assessment_texts(self) -> Iterator[str]:
        """Yield the assessments with the places of their answers."""
        for assessment in self.assessments:
            yield f"{assessment.tree()}, at {short(assessment.provenance)}"

    def _line_texts(self) -> Iterator[str]:
        """Yield a text for each line of the class: `run.tab line 7: "Bo" is right (CORRECT); it counts for the class`.

        The last part is left out for lines that do not count for it.
        """
        counted_places = {(place.file, place.line) for place in self.counted}
        for line in self.lines:
            is_counted = (line.file, line.line) in counted_places  # `line.line` is the number of the line
            yield f"{line.tree()}; it counts for the class" if is_counted else line.tree()


class NodeExplanation(Record):
    """A node: its lines, the classes of the accepted ones, its ranks, its effect. A node with several classes merges
    them.
    """

    name: str
    query: str
    lines: tuple[LineSummary, ...]
    classes: tuple[str, ...]
    rank_step: RankStep | None = field(name="ranked")
    why_not_ranked: str | None = field(name="not_ranked")
    effect: LineEffect | None

    def tree(self) -> Iterator[Tree]:
        """Yield texts about the node: its lines, their classes, and its ranks."""
        line_count = "1 line" if len(self.lines) == 1 else f"{len(self.lines)} lines"
        yield f"Node {self.name}, {line_count}"
        yield ["Lines:", *self.lines]
        yield self._classes_in_words()
        if self.why_not_ranked:
            yield f"Ranks nowhere: {self.why_not_ranked}"
        yield self.rank_step
        yield self.effect

    def _classes_in_words(self) -> str:
        """Return the classes of the accepted answers of the node's lines; several are merged by the node."""
        if len(self.classes) > 1:
            return f"It merges {len(self.classes)} classes: {', '.join(self.classes)}"
        if self.classes:
            return f"Its accepted answers are of class {self.classes[0]}"
        return "None of its answers was accepted"


class ExplainedEntryPoint(Record):
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
        """Return the class in one text: `CS17_ENG_0001:1 "Bo": found by run.tab line 7`."""
        text = f"{self.name} {quoted(self.value)}: {self.status}"
        return text if self.found_by is None else f"{text} by {self.found_by}"


class QueryExplanation(Record):
    """A query: what it asks, its classes, lines and rows, and its average precision by level.

    A level is a hop, or `ALL` for all hops. A follow-on query has no average precision.
    """

    query: str
    query_step: Asked = field(name="asked")
    slots: tuple[str, ...]
    entry_points: tuple[ExplainedEntryPoint, ...]
    classes: tuple[ClassSummary, ...]
    categories: Mapping[str, int]
    lines: tuple[LineSummary, ...]
    rows: tuple[Counted, ...]
    average_precision: Mapping[str, float]
    stopped_by: str | None

    def tree(self, *, with_lines: bool = True) -> Iterator[Tree]:
        """Yield texts about the query, in a tree: its question, classes, lines (if `with_lines`), rows, and rankings.

        A list is a text with the texts below it. The last part tells the average precision of the query.
        """
        yield from self.query_step.tree("Query ")
        yield from self._slots_and_entry_points()
        if self.stopped_by:
            yield f"Not all is known: {self.stopped_by}"
        yield self._classes_step()
        if not self.lines:
            yield "No line answers it"
        elif with_lines:
            yield [f"Lines ({len(self.lines)}):", *self._lines_by_category()]
        yield _rows_tree("Rows:", self.rows)
        yield self._average_precision_in_words()

    def _slots_and_entry_points(self) -> Iterator[Tree]:
        """Yield the slots and the entry points of a query of a query file; nothing for a follow-on query."""
        if self.query_step.hop:
            return
        yield f"Slots: {', '.join(self.slots)}"
        for point in self.entry_points:
            yield f"Entry point: {quoted(point.name)} at {point.docid}:{point.start}-{point.end}"

    def _classes_step(self) -> Tree:
        """Return the tree of the query's classes, with a heading that counts those found, missed and not counted."""
        if not self.classes:
            return "No class of it is to be found"
        statuses = Counter([class_summary.status for class_summary in self.classes])
        return [f"Classes ({_counts_in_words(statuses)}):", *self.classes]

    def _average_precision_in_words(self) -> str | None:
        """Return the average precision of the query at each level, such as `hop 0` and `hop ALL`.

        The result is None if the query has no rankings.
        """
        if not self.average_precision:
            return None
        averages = [f"hop {level} {score:.4f}" for level, score in self.average_precision.items()]
        return f"Average precision: {', '.join(averages)} (rule average-precision)"

    def _lines_by_category(self) -> Iterator[Tree]:
        """Yield a tree for each category: its name and number of lines, and below it the lines."""
        lines_by_category: dict[str, list[LineSummary]] = {}
        for line in self.lines:
            lines_by_category.setdefault(line.category or "without category", []).append(line)
        for category, lines in lines_by_category.items():
            yield [f"{category} ({len(lines)})", *lines]


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
        """Return the mistake as a text that begins with what its correction would gain."""
        fault = "not found" if self.kind == "class" else f"that is {self.category or 'partly wrong'}"
        place = f"({self.file} line {self.line})"
        return f"{_gain_in_words(self.gain)}: {self.kind} {fault}, {self.slot} {quoted(self.value)} {place}"


_STATUS_TEXTS: Final = {
    "counted": "counted in the tables",
    "outside": "outside of the tables",
    "skipped": "skipped",
    "unread": "not read (comments, blank lines, repetitions, wrong numbers of columns)",
}
"""What the statuses of lines are called."""


class RunOverview(Record):
    """The run as a whole: its lines by status, how many met an assessment and how many a limit discards, those in rows
    by side and category; `lines` has every line once.
    """

    line_count_by_status: Mapping[str, int] = field(name="read")
    assessed_count: int = field(name="met")
    discarded_count: int = field(name="discarded")
    sides: Mapping[str, int]
    categories: Mapping[str, int]
    errors: int
    warnings: int
    costs: tuple[Cost, ...]
    lines: tuple[LineSummary, ...]

    def tree(self) -> Iterator[Tree]:
        """Yield texts about the run: its numbers of lines and of problems, and its costliest mistakes."""
        count_by_status = {_STATUS_TEXTS[status]: count for status, count in self.line_count_by_status.items()}
        yield f"{len(self.lines)} lines: {_counts_in_words(count_by_status)}"
        yield f"{self.assessed_count} met an assessment; {self.discarded_count} are beyond a limit on justifications"
        yield f"Of those counted: {_counts_in_words(self.sides)}"
        yield f"By category: {_counts_in_words(self.categories)}"
        yield f"Problems reported: {self.errors} errors, {self.warnings} warnings"
        if self.costs:
            yield ["The largest costs, with what correcting each one alone would gain:", *self.costs]


class RunExplanation(Document, frozen=True, kw_only=True, tag="explanation"):
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
    overview: RunOverview | None
    lines: tuple[LineExplanation, ...]
    queries: tuple[QueryExplanation, ...]
    classes: tuple[ClassExplanation, ...]
    nodes: tuple[NodeExplanation, ...]

    def text(self, width: int = SCREEN_WIDTH) -> str:
        """Return a tree for people, in lines of at most `width` columns; the inputs' texts are made safe."""
        return "\n\n".join(["\n".join(_wrapped(tree, width)) for tree in self.trees()])

    def trees(self) -> Iterator[Tree]:
        """Yield a tree for each line, query, class and node that is explained.

        Before them come the error that stopped scoring, and the overview of the run, if the explanation has them.
        """
        if self.fatal is not None:
            yield [f"{self._name} cannot be scored", self.fatal]
        if self.overview is not None:
            heading = self._name if self.score is None else f"{self._name}: {self.measure} = {self.score:.4f}"
            yield [heading, *self.overview.tree()]
            for sentence in undefined_sentences(self.undefined or {}):
                yield f"Undefined for this run: {sentence}"
        # Each explanation of a part is a record with a tree.
        yield from self.lines
        yield from self.queries
        yield from self.classes
        yield from self.nodes

    @property
    def _name(self) -> str:
        """The id of the run at the beginning of a heading: `TIDE_KB`, or `The run` if nothing gives an id."""
        return self.run or "The run"


def _step_rows(explanation: RunExplanation) -> Iterator[Mapping[str, object]]:
    """Yield a row for each text of an explanation, with the heading of its tree."""
    for tree in explanation.trees():
        heading = None
        for tree_text in walk(tree):
            if heading is None:
                heading = tree_text.text
            yield {"about": heading, "level": tree_text.level, "text": tree_text.text}


STEPS: Final = Layout("steps", "Steps:", columns("about", "level", "text"), _step_rows)
"""A row for each step of the text: the heading of its tree, its level, and itself."""


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


class RunExplanations(Record):
    """How lines, queries and missed classes were scored; `left_out` lines are not explained."""

    left_out: int
    lines: list[LineSteps]
    queries: list[QuerySteps]
    classes: list[ClassSteps]
    texts: list[str]
