"""What an explanation says, as records. Of a line its steps in order, each with the rule that it rests on.

Rules are sections of the Cold Start specification. Keys of the JSON are the names of these fields.
"""

from __future__ import annotations

from collections.abc import Mapping

from cs_score.base.records import Record


class At(Record):
    """A line by its file and its number there, from 1."""

    file: str
    line: int


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


class Parent(Record):
    """A line that gives the answer which another one's query asks about, with its own outcome."""

    file: str
    line: int
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


class Kept(Record):
    """Step 3. `limit` is None where the line is kept; otherwise `in_favour_of` are the lines that stay, and `order` is
    what decided between it and the last of them. Either way it is scored.
    """

    rule: str
    limits: str
    limit: str | None
    in_favour_of: tuple[At, ...]
    order: str


class Assessed(Record):
    """An assessment: its place, its id, the answer, the assessor's judgment, its class where that is accepted."""

    file: str
    line: int
    id: str
    query: str
    value: str
    provenance: str
    judgment: str
    class_name: str | None
    mention: str | None
    class_mention: str | None


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
    nearest: tuple[Near, ...]


class Category(Record):
    """Step 5: the category before the policies, and what else the rules made of the line.

    `stands_in` is the class or bin that the line was placed in; `rests_on` are the lines that decided.
    """

    rule: str
    name: str
    stands_in: str
    reason: str
    rests_on: tuple[At, ...]


class Label(Record):
    """Step 6: `side` is right, wrong, ignored, or what else it counts as; `labels` are those of the debug file."""

    rule: str
    side: str
    labels: tuple[str, ...]
    reason: str


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


class LineEffect(Record):
    """Step 9: the effect of a change by measure; None where it is not known, and `reason` says why.

    `removed` lines go and `added` ones come.
    """

    change: str
    effects: Mapping[str, float | None]
    removed: tuple[At, ...]
    added: tuple[str, ...]
    reason: str | None


class LineSummary(Record):
    """A line in short: its `status` is `counted` (in a row of the tables), `outside` (of them), `skipped` or `unread`.

    `category` is that of policies, `labels` those of the debug file, `row` that of the SF table.
    """

    file: str
    line: int
    status: str
    query: str | None
    value: str | None
    category: str | None
    side: str
    labels: tuple[str, ...]
    row: str | None
    node: str | None


class LineFacts(Record):
    """Explanation of one line. Steps that were not reached are None or empty; `untold` says why."""

    fate: LineSummary
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
    worth: LineEffect | None = None
    untold: str | None = None


class ClassFacts(Record):
    """A class: the query or class that it stands below (`row`), and whether it is `found`, `missed`, or `not counted`.

    `reason` says why it is that; `lines` stand in it, `counted` are those that have found it; `parent` is the class
    above it where there is one.
    """

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
    worth: LineEffect | None


class NodeFacts(Record):
    """A node: its lines, the classes of those that are accepted (several: it merges them), its ranks, its effect."""

    name: str
    query: str
    lines: tuple[LineSummary, ...]
    classes: tuple[str, ...]
    ranked: Ranked | None
    not_ranked: str | None
    worth: LineEffect | None


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


class QueryFacts(Record):
    """A query: what it asks, its classes, its lines by category, its rows, its average precision by hop.

    Of a query of a query file `lines` has those of all hops, of a follow-on query its own.
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
    untold: str | None


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


class Overview(Record):
    """The run as a whole. `read` counts its lines by what became of them, `met` those with an assessment, `discarded`
    those beyond a limit; `sides` and `categories` count the lines that stand in rows. `lines` has every line once.
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
