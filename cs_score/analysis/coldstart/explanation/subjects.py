"""Classes, nodes, queries and the run as a whole, explained; and lines, from their steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from cs_score.analysis.coldstart.changes import At
from cs_score.analysis.coldstart.explanation.case import AnyLine, Case, QueryCase, side_of
from cs_score.analysis.coldstart.explanation.counting import effect_of_absence, effect_of_finding, ranked_of, rows_of
from cs_score.analysis.coldstart.explanation.document import (
    Asked,
    Assessed,
    Counted,
    Item,
    LineEffect,
    LineExplanation,
    LineSummary,
    Ranked,
    gain_text,
    numbers,
    quoted,
    row_items,
    short,
)
from cs_score.analysis.coldstart.explanation.steps import (
    asked_of,
    assessed_of,
    at,
    category_of,
    kept_of,
    label_of,
    met_of,
    read_of,
)
from cs_score.analysis.coldstart.mistakes import cost_list, mistakes_of
from cs_score.base.errors import InputError
from cs_score.base.records import Record, replace
from cs_score.coldstart.judging import is_wrong_bin
from cs_score.coldstart.lines import LinkedQuery, Response, SkippedLine
from cs_score.coldstart.tab_files import UnreadLine
from cs_score.problems.codes import Severity


def explain_line(line: AnyLine, case: Case, *, with_effect: bool = True) -> LineExplanation:
    """All steps of a line; without its effect, which takes the longest, where that is not wanted."""
    found = LineExplanation(summary_of(line, case), line.text, read_of(line, case))
    if isinstance(line, UnreadLine):
        return found
    found = replace(found, asked=asked_of(line.query, case))
    if isinstance(line, Response):
        if case.units:  # limits are applied when a file has been read
            found = replace(found, kept=kept_of(line, case))
        query = case.query(line.query.base_id)
        if (stopped_by := _stopped_by(line, query, case)) is not None:
            return replace(found, stopped_by=stopped_by)
        category, tally = category_of(line, case), query.tally_of.get(line.index)
        ranked, not_ranked = ranked_of(line.node, query, case)
        found = replace(
            found,
            met=met_of(line, case),
            category=category,
            label=None if category is None else label_of(category, case.labels_of(line), case),
            rows=() if tally is None else rows_of(tally, query, case),
            ranked=ranked,
            not_ranked=not_ranked,
        )
    # A skipped line that creates a query takes what depends on that with it.
    return replace(found, effect=effect_of_absence([line], case)) if with_effect else found


def _stopped_by(line: Response, query: QueryCase, case: Case) -> str | None:
    """Why nothing more is known of a line than how it was read; None where there is more."""
    if not case.is_of_run(line):
        return f"it belongs to run {line.run_id}; this is about run {case.scored.run_id} (--run {line.run_id})"
    if query.unit is None:
        return "its query is not among those to score" if case.fatal is None else f"nothing was scored: {case.fatal}"
    if query.unit.unmatched is not None:
        return f"it could not be matched: {query.unit.unmatched}"
    if query.result is not None and query.result.uncounted is not None:
        return f"its query could not be counted: {query.result.uncounted}"
    return None


def summary_of(line: AnyLine, case: Case) -> LineSummary:
    """A line in short."""
    if isinstance(line, UnreadLine):
        return LineSummary(line.file, line.number, "unread", side="not read")
    if isinstance(line, SkippedLine):
        return LineSummary(line.file, line.number, "skipped", line.query.full_id, side="skipped")
    tally, labels = case.query(line.query.base_id).tally_of.get(line.index), case.labels_of(line)
    status, row = ("outside", None) if tally is None else ("counted", tally.name)
    return LineSummary(
        line.file, line.number, status, line.query.full_id, line.value, case.category_of(line), side_of(labels),
        tuple(labels), row, line.node,
    )  # fmt: skip


class ClassExplanation(Record):
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
    effect: LineEffect | None

    def item(self) -> Item:
        slot = "" if self.slot is None else f", {self.slot}, hop {self.hop}"
        assessments = [f"{one.text()}, at {short(one.provenance)}" for one in self.assessments]
        counted = {str(at) for at in self.counted}
        lines = [line.text() + "; it counts for the class" * (str(line) in counted) for line in self.lines]
        below = [
            Item(f"stands below {self.row}{slot}"),
            Item("Assessments:" if assessments else "The pool has no accepted answer of it", assessments),
            Item("Lines that stand in it:" if lines else "No line stands in it", lines),
            *([] if self.effect is None else [self.effect.item()]),
        ]
        return Item(f"Class {self.name}: {self.status}, {self.reason}", below)


def explain_class(name: str, base_id: str, case: Case, *, with_effect: bool = True) -> ClassExplanation:
    """All of a class of a query, by the short id of that; without its effect where that is not wanted."""
    query = case.query(base_id)
    members = query.accepted.get(name, ())
    first = members[0] if members else None
    row = name.rpartition(":")[0]
    status, reason = status_of(name, query)
    lines = () if query.placement is None else query.placement.members.get(name, ())
    effect = None
    if with_effect and status == "missed" and members:
        correct = next((each for each in members if each.judgment == "CORRECT"), members[0])
        effect = effect_of_finding(correct, case)
    return ClassExplanation(
        name=name,
        query=None if first is None else first.query.full_id,
        slot=None if first is None else first.query.slots[0],
        hop=name.count(":") - 1,
        row=row,
        parent=row if ":" in row else None,
        status=status,
        reason=reason,
        assessments=tuple(assessed_of(each, case) for each in members),
        lines=tuple(summary_of(line, case) for line in lines),
        counted=tuple(map(at, _counted_lines(name, query))),
        effect=effect,
    )


def status_of(name: str, query: QueryCase) -> tuple[str, str]:
    """Whether a class is found, missed or not counted, and why."""
    if query.placement is None:
        return "not counted", "its query was not scored"
    tree = query.placement.tree
    if is_wrong_bin(name, tree.root):
        return "not counted", "it holds what belongs to no class, and is no ground truth (rule ground-truth)"
    row = tree.above.get(name)
    if row is None or row not in query.found:
        return "not counted", "no row of the tables has it"
    if _counted_lines(name, query):
        return "found", "a right line counts for it"
    if tree.single.get(row, False):
        if others := query.found[row]:
            found = next(each for each in (*tree.above, *others) if each in others)
            return "not counted", f"its slot takes one value, and class {found} was found (rule counts)"
        return "missed", "its slot takes one value, and none was found: any class would do (rule counts)"
    if query.placement.members.get(name):
        return "missed", "none of the lines that stand in it counts as right"
    return "missed", "no line of the run gives one of its answers"


def _counted_lines(name: str, query: QueryCase) -> Sequence[Response]:
    """The lines that count as right and whose assessment is of this class."""
    return query.found.get(name.rpartition(":")[0], {}).get(name, ())


class NodeExplanation(Record):
    """A node: its lines, the classes of those that are accepted (several: it merges them), its ranks, its effect."""

    name: str
    query: str
    lines: tuple[LineSummary, ...]
    classes: tuple[str, ...]
    ranked: Ranked | None
    not_ranked: str | None
    effect: LineEffect | None

    def item(self) -> Item:
        classes = "None of its answers was accepted"
        if self.classes:
            classes = f"Its accepted answers are of class {self.classes[0]}"
        if len(self.classes) > 1:
            classes = f"It merges {len(self.classes)} classes: {', '.join(self.classes)}"
        below: list[Item | str] = [Item("Lines:", [line.text() for line in self.lines]), classes]
        if self.ranked is not None:
            below.append(self.ranked.item())
        elif self.not_ranked is not None:
            below.append(f"Ranks nowhere: {self.not_ranked}")
        if self.effect is not None:
            below.append(self.effect.item())
        return Item(f"Node {self.name}, {len(self.lines)} line{'s' if len(self.lines) != 1 else ''}", below)


def explain_node(name: str, case: Case) -> NodeExplanation:
    """All of a node, by its FQ node id."""
    of_all_runs = case.run.links.nodes[name]
    query = case.query(of_all_runs[0].query.base_id)
    lines = [line for line in of_all_runs if case.is_of_run(line)]
    met = (query.assessment_of(line) for line in lines)
    return NodeExplanation(
        name,
        of_all_runs[0].query.full_id,
        tuple(summary_of(line, case) for line in lines),
        tuple(dict.fromkeys(each.value_class for each in met if each is not None and each.is_accepted)),
        *ranked_of(name, query, case),
        effect_of_absence(lines, case),
    )


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

    def text(self) -> str:
        by = "" if self.found_by is None else f" by {self.found_by}"
        return f"{self.name} {quoted(self.value)}: {self.status}{by}"


class QueryExplanation(Record):
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
    stopped_by: str | None

    def item(self, *, with_lines: bool = True) -> Item:
        asked = self.asked.item("Query ")
        below: list[Item | str] = [*asked.below]
        if self.asked.hop == 0:
            below.append(f"Slots: {', '.join(self.slots)}")
            below += [f"Entry point: {quoted(at.name)} at {at.docid}:{at.start}-{at.end}" for at in self.entry_points]
        if self.stopped_by is not None:
            below.append(f"Not all is known: {self.stopped_by}")
        statuses = numbers(Counter(each.status for each in self.classes))
        head = f"Classes ({statuses}):" if self.classes else "No class of it is to be found"
        below.append(Item(head, [each.text() for each in self.classes]))
        if not self.lines:
            below.append("No line answers it")
        elif with_lines:
            of_category: dict[str, list[str]] = {}
            for line in self.lines:
                of_category.setdefault(line.category or "without category", []).append(line.text())
            lines = [Item(f"{category} ({len(of)})", of) for category, of in of_category.items()]
            below.append(Item(f"Lines ({len(self.lines)}):", lines))
        if self.rows:
            below.append(Item("Rows:", tuple(row_items(self.rows))))
        if self.average_precision:
            shown = ", ".join(f"hop {level} {score:.4f}" for level, score in self.average_precision.items())
            below.append(f"Average precision: {shown} (rule average-precision)")
        return Item(asked.text, below)


def explain_query(query: LinkedQuery, case: Case) -> QueryExplanation:
    """All of a query: of one of a query file with its follow-on queries, of a follow-on query by itself."""
    of = case.query(query.base_id)
    lines, tallies = of.lines, of.tallies
    rankings = () if of.result is None else of.result.rankings
    if query.level:
        try:
            row = case.run.links.class_of_query(query)
        except InputError:  # no accepted line leads to it
            row = ""
        lines = [line for line in lines if line.query.full_id == query.full_id]
        tallies, rankings = [tally for tally in tallies if tally.name == row], ()
    stops = () if of.result is None else (of.result.uncounted, of.result.unranked)
    summaries = tuple(summary_of(line, case) for line in lines)
    rows = {tally.name for tally in tallies}
    classes = []
    for name, row in {} if of.placement is None else of.placement.tree.above.items():
        if row in rows and name in of.accepted:
            found = _counted_lines(name, of)
            found_by = at(found[0]) if found else None
            classes.append(ClassSummary(name, row, status_of(name, of)[0], of.accepted[name][0].value, found_by))
    return QueryExplanation(
        query=query.full_id,
        asked=asked_of(query, case),
        slots=query.slots,
        entry_points=tuple(EntryPoint(each.name, each.docid, each.start, each.end) for each in of.query.entry_points),
        classes=tuple(classes),
        categories=Counter(summary.category for summary in summaries if summary.category is not None),
        lines=summaries,
        rows=tuple(row for tally in tallies for row in rows_of(tally, of, case)),
        average_precision={ranking.level: ranking.score for ranking in rankings},
        stopped_by=next((str(stop) for stop in stops if stop is not None), None),
    )


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

    def text(self) -> str:
        what = "not found" if self.kind == "class" else f"that is {self.category or 'partly wrong'}"
        place = f"({self.file} line {self.line})"
        return f"{gain_text(self.gain)}: {self.kind} {what}, {self.slot} {quoted(self.value)} {place}"


_STATUSES: Final = {
    "counted": "counted in the tables",
    "outside": "outside of the tables",
    "skipped": "skipped",
    "unread": "not read (comments, blank lines, repetitions, wrong numbers of columns)",
}


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

    def item(self, head: str) -> Item:
        reading = numbers({_STATUSES[status]: number for status, number in self.read.items()})
        below: list[Item | str] = [
            f"{len(self.lines)} lines: {reading}",
            f"{self.met} met an assessment; {self.discarded} are beyond a limit on justifications",
            f"Of those counted: {numbers(self.sides)}",
            f"By category: {numbers(self.categories)}",
            f"Problems reported: {self.errors} errors, {self.warnings} warnings",
        ]
        if self.costs:
            costs = [each.text() for each in self.costs]
            below.append(Item("The largest costs, with what correcting each one alone would gain:", costs))
        return Item(head, below)


_COSTS: Final = 3
_FIRST: Final = ("right", "wrong", "ignored")


def explain_run(case: Case) -> Overview:
    """What became of the lines of a run, and its three largest costs."""
    lines = list(case.lines())
    summaries = tuple(summary_of(line, case) for line in lines)
    counted = [summary for summary in summaries if summary.status == "counted"]
    of_run = [line for line in lines if isinstance(line, Response)]
    sides = Counter(summary.side for summary in counted)
    costs: Sequence[Cost] = ()
    if case.measure is not None:
        effects = case.effects.of_first_measure()
        costs = [
            Cost(each.kind, each.change, each.file, each.line, each.slot, each.value, each.category, each.gain)
            for each in cost_list(effects, mistakes_of(case.scored, effects.rescoring.finding), _COSTS)
        ]
    return Overview(
        read=Counter(summary.status for summary in summaries),
        met=sum(case.query(line.query.base_id).assessment_of(line) is not None for line in of_run),
        discarded=sum(line.index in case.run.discarded for line in of_run),
        sides={side: sides[side] for side in dict.fromkeys((*_FIRST, *sorted(sides))) if sides[side]},
        categories=Counter(summary.category for summary in counted if summary.category is not None),
        errors=case.run.problems.count(Severity.ERROR),
        warnings=case.run.problems.count(Severity.WARNING),
        costs=tuple(costs),
        lines=summaries,
    )
