"""Lines, classes, nodes, queries and the run as a whole, explained."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final

from cs_score.analysis.coldstart.effects import Effects
from cs_score.analysis.coldstart.explanation.case import Case, Placement, sides_text
from cs_score.analysis.coldstart.explanation.counting import (
    effect_facts,
    effect_of_absence,
    effect_of_finding,
    ranked_of,
    rows_of,
)
from cs_score.analysis.coldstart.explanation.facts import (
    At,
    ClassFacts,
    ClassSummary,
    Cost,
    EntryPoint,
    LineEffect,
    LineFacts,
    LineSummary,
    NodeFacts,
    Overview,
    QueryFacts,
)
from cs_score.analysis.coldstart.explanation.steps import (
    asked_of,
    assessed_of,
    category_of,
    kept_of,
    label_of,
    met_of,
    read_of,
)
from cs_score.analysis.coldstart.explanation.text import Item, class_tree, line_tree, query_tree, unwrapped
from cs_score.analysis.coldstart.mistakes import Mistake, cost_list, mistakes_of
from cs_score.base.errors import InputError
from cs_score.base.records import replace
from cs_score.coldstart.judging import Tally, is_wrong_bin
from cs_score.coldstart.lines import Assessment, LinkedQuery, Response, SkippedLine, UnreadLine
from cs_score.coldstart.ranking import Ranking
from cs_score.problems.codes import Severity

AnyLine = Response | SkippedLine | UnreadLine


def explain_line(line: AnyLine, case: Case, *, with_effect: bool = True) -> LineFacts:
    """All steps of a line; without its effect, which takes the longest, where that is not wanted."""
    read = read_of(line, case)
    if isinstance(line, UnreadLine):
        return LineFacts(summary_of(line, None, case), line.text, read)
    asked = asked_of(line.query, case)
    if isinstance(line, SkippedLine):
        # One that creates a query that others depend on takes them with it.
        effect = effect_of_absence([line], case) if with_effect else None
        return LineFacts(summary_of(line, None, case), line.text, read, asked, worth=effect)
    tally = case.tally_of(line)
    facts = LineFacts(summary_of(line, tally, case), line.text, read, asked)
    if case.units:  # limits are applied when a file has been read
        facts = replace(facts, kept=kept_of(line, case))
    if (stopped := _stopped_by(line, case)) is not None:
        return replace(facts, untold=stopped)
    category = category_of(line, case)
    ranked, not_ranked = ranked_of(line.node, line.query.base_id, case)
    return replace(
        facts,
        met=met_of(line, case),
        category=category,
        label=label_of(line, category, case),
        rows=() if tally is None else rows_of(tally, line.query.base_id, case),
        ranked=ranked,
        not_ranked=not_ranked,
        worth=effect_of_absence([line], case) if with_effect else None,
    )


def _stopped_by(line: Response, case: Case) -> str | None:
    """Why nothing more is known of a line than how it was read; None where there is more."""
    if not case.is_of_run(line):
        return f"it belongs to run {line.run_id}; this is about run {case.scored.run_id} (--run {line.run_id})"
    unit = case.unit_of(line)
    if unit is None:
        return (
            f"nothing was scored: {case.fatal}" if case.fatal is not None else "its query is not among those to score"
        )
    if unit.unmatched is not None:
        return f"it could not be matched: {unit.unmatched}"
    result = case.query_result(line.query.base_id)
    if result is not None and result.uncounted is not None:
        return f"its query could not be counted: {result.uncounted}"
    return None


def summary_of(line: AnyLine, tally: Tally | None, case: Case) -> LineSummary:
    """A line in short; `tally` is the row that has it."""
    if isinstance(line, UnreadLine):
        return LineSummary(line.file, line.number, "unread", None, None, None, "not read", (), None, None)
    query = line.query.full_id
    if isinstance(line, SkippedLine):
        return LineSummary(line.file, line.number, "skipped", query, None, None, "skipped", (), None, None)
    status = "outside" if tally is None else "counted"
    labels = case.labels_of(line)
    return LineSummary(
        line.file,
        line.number,
        status,
        query,
        line.value,
        case.category_of(line),
        sides_text(labels) if labels else "not scored",
        tuple(labels),
        None if tally is None else tally.name,
        line.node,
    )


def all_summaries(case: Case) -> Iterator[LineSummary]:
    """Every line of the run's files in order; those of other runs in the same call are left out."""
    for file in case.files.files.values():
        lines: list[AnyLine] = [*file.responses, *file.skipped, *file.unread]
        for line in sorted(lines, key=lambda each: each.number):
            if not isinstance(line, Response) or case.is_of_run(line):
                yield summary_of(line, case.tally_of(line) if isinstance(line, Response) else None, case)


def explain_class(name: str, base_id: str, case: Case, *, with_effect: bool = True) -> ClassFacts:
    """All of a class of a query, by the short id of that; without its effect where that is not wanted."""
    placement = case.placement(base_id)
    members = case.accepted(base_id).get(name, ())
    first = members[0] if members else None
    row = name.rpartition(":")[0]
    status, reason = "not counted", "its query was not scored"
    counted: Sequence[Response] = ()
    lines: Sequence[Response] = ()
    if placement is not None:
        lines = placement.members.get(name, ())
        counted = counted_lines(name, base_id, case)
        status, reason = status_of(name, base_id, placement, case)
    correct = next((each for each in members if each.judgment == "CORRECT"), first)
    return ClassFacts(
        name,
        None if first is None else first.query.full_id,
        None if first is None else first.query.slots[0],
        name.count(":") - 1,
        row,
        row if ":" in row else None,
        status,
        reason,
        tuple(assessed_of(each, case) for each in members),
        tuple(summary_of(line, case.tally_of(line), case) for line in lines),
        tuple(At(line.file, line.number) for line in counted),
        effect_of_finding(correct, case) if with_effect and status == "missed" and correct is not None else None,
    )


def status_of(name: str, base_id: str, placement: Placement, case: Case) -> tuple[str, str]:
    """Whether a class is found, missed or not counted, and why."""
    tree = placement.tree
    if is_wrong_bin(name, tree.root):
        return "not counted", "it holds what belongs to no class, and is no ground truth (CS 7.2)"
    row = tree.above.get(name)
    if row is None or row not in case.found(base_id):
        return "not counted", "no row of the tables has it"
    if counted_lines(name, base_id, case):
        return "found", "a right line counts for it"
    if tree.single.get(row, False):
        if others := case.found(base_id)[row]:
            found = next(each for each in tree.above if each in others) if len(others) > 1 else next(iter(others))
            return "not counted", f"its slot takes one value, and class {found} was found (CS 7.6)"
        return "missed", "its slot takes one value, and none was found: any class would do (CS 7.6)"
    if placement.members.get(name):
        return "missed", "none of the lines that stand in it counts as right"
    return "missed", "no line of the run gives one of its answers"


def counted_lines(name: str, base_id: str, case: Case) -> Sequence[Response]:
    """The lines that count as right and whose assessment is of this class."""
    return case.found(base_id).get(name.rpartition(":")[0], {}).get(name, ())


def explain_node(name: str, case: Case) -> NodeFacts:
    """All of a node, by its FQ node id."""
    lines = [line for line in case.run.links.nodes[name] if case.is_of_run(line)]
    base_id = case.run.links.nodes[name][0].query.base_id
    classes: dict[str, None] = {}
    for line in lines:
        unit = case.unit_of(line)
        assessment = None if unit is None else unit.matched.get(line.index)
        if assessment is not None and assessment.is_accepted:
            classes[assessment.value_class] = None
    ranked, not_ranked = ranked_of(name, base_id, case)
    return NodeFacts(
        name,
        case.run.links.nodes[name][0].query.full_id,
        tuple(summary_of(line, case.tally_of(line), case) for line in lines),
        tuple(classes),
        ranked,
        not_ranked,
        effect_of_absence(lines, case),
    )


def explain_query(query: LinkedQuery, case: Case) -> QueryFacts:
    """All of a query: of one of a query file with its follow-on queries, of a follow-on query by itself."""
    base_id = query.base_id
    result, known = case.query_result(base_id), case.run.gold.table.by_id.get(base_id)
    lines = [line for line in case.lines_of(base_id) if not query.level or line.query.full_id == query.full_id]
    tallies: tuple[Tally, ...] = () if result is None else result.tallies
    if query.level:
        row = _row_of(query, case)
        tallies = tuple(tally for tally in tallies if tally.name == row)
    rows = {line.index: tally for tally in tallies for line in tally.responses}
    summaries = tuple(summary_of(line, rows.get(line.index), case) for line in lines)
    ranked = {} if result is None else {ranking.level: ranking.score for ranking in result.rankings}
    return QueryFacts(
        query.full_id,
        asked_of(query, case),
        query.slots,
        tuple(EntryPoint(each.name, each.docid, each.start, each.end) for each in known.entry_points) if known else (),
        tuple(_classes({tally.name for tally in tallies}, base_id, case)),
        Counter(summary.category for summary in summaries if summary.category is not None),
        summaries,
        tuple(row for tally in tallies for row in rows_of(tally, base_id, case)),
        ranked if not query.level else {},
        _why_not_scored(base_id, case),
    )


def _row_of(query: LinkedQuery, case: Case) -> str | None:
    try:
        return case.run.links.class_of_query(query)
    except InputError:  # no accepted line leads to it
        return None


def _why_not_scored(base_id: str, case: Case) -> str | None:
    result = case.query_result(base_id)
    stops = (None if result is None else result.uncounted, None if result is None else result.unranked)
    return next((str(stop) for stop in stops if stop is not None), None)


def _classes(rows: set[str], base_id: str, case: Case) -> Iterator[ClassSummary]:
    placement = case.placement(base_id)
    if placement is None:
        return
    answers = case.accepted(base_id)
    for name, row in placement.tree.above.items():
        if row in rows and name in answers:
            found = counted_lines(name, base_id, case)
            status, _ = status_of(name, base_id, placement, case)
            found_by = At(found[0].file, found[0].number) if found else None
            yield ClassSummary(name, row, status, answers[name][0].value, found_by)


_COSTS: Final = 3
_FIRST: Final = ("right", "wrong", "ignored")


def explain_run(case: Case) -> Overview:
    """What became of the lines of a run, and its three largest costs."""
    summaries = tuple(all_summaries(case))
    counted = [summary for summary in summaries if summary.status == "counted"]
    lines = [
        line
        for of_unit in case.run.lines.get(case.scored.run_id, {}).values()
        for of in of_unit.values()
        for line in of
    ]
    units = (case.unit_of(line) for line in lines)
    problems = case.run.problems
    return Overview(
        dict(Counter(summary.status for summary in summaries)),
        sum(unit is not None and line.index in unit.matched for line, unit in zip(lines, units)),
        sum(line.index in case.run.discarded for line in lines),
        dict(sorted(Counter(summary.side for summary in counted).items(), key=lambda item: _order(item[0]))),
        dict(Counter(summary.category for summary in counted if summary.category is not None)),
        problems.count(Severity.ERROR),
        problems.count(Severity.WARNING),
        tuple(map(_cost, _costliest(case))),
        summaries,
    )


def _order(side: str) -> tuple[int, str]:
    """Right, wrong, ignored, then the rare ones."""
    return _FIRST.index(side) if side in _FIRST else len(_FIRST), side


def _costliest(case: Case) -> list[Mistake]:
    if case.measure is None:
        return []
    effects = Effects(case.scored, [case.measure])
    return cost_list(effects, mistakes_of(case.scored, effects.rescoring.finding), _COSTS)


def _cost(mistake: Mistake) -> Cost:
    change = "found" if mistake.kind == "class" else "absent"
    return Cost(
        mistake.kind, change, mistake.file, mistake.line, mistake.slot, mistake.value, mistake.category, mistake.gain
    )


MOST_LINES: Final = 20_000
"""Lines of one run that are explained."""


def explain_everything(case: Case, mistakes: Sequence[Mistake], *, with_others: bool) -> dict[str, object]:
    """At most `MOST_LINES`, those of as many mistakes first, with their queries and the missed classes.

    `with_others`: lines that are no mistakes, too; their effects are left out. The keys of the result stand in
    the JSON of an analysis below `explanations`.
    """
    mistakes = mistakes[:MOST_LINES]
    every = {(line.file, line.number): line for line in _lines(case)}
    listed = ((each.file, each.line) for each in mistakes if each.kind != "class")
    wanted = dict.fromkeys(place for place in listed if place in every) | dict.fromkeys(every if with_others else ())
    chosen = {*list(wanted)[:MOST_LINES]}
    lines = [line for place, line in every.items() if place in chosen]
    missed = [each for each in mistakes if each.kind == "class"]
    asked = [line.query for line in lines if not isinstance(line, UnreadLine)]
    asked += [_assessment(each).query for each in missed]
    collection = _Collection(case, mistakes)
    return {
        "left_out": len(every) - len(lines),
        "lines": [collection.line(line) for line in lines],
        "queries": [collection.query(query) for query in {query.full_id: query for query in asked}.values()],
        "classes": [collection.missed(each) for each in missed],
        "texts": list(collection.texts),
    }


def _lines(case: Case) -> Iterator[AnyLine]:
    """The lines of the run in the order of its files."""
    for file in case.files.files.values():
        lines: list[AnyLine] = [*file.responses, *file.skipped, *file.unread]
        for line in sorted(lines, key=lambda each: each.number):
            if not isinstance(line, Response) or case.is_of_run(line):
                yield line


def _assessment(missed: Mistake) -> Assessment:
    """The assessment by which a missed class would be found."""
    return missed.change.added[-1].assessment


class _Collection:
    """Explains lines, queries and classes. `texts` numbers the texts of their steps, each of them once."""

    def __init__(self, case: Case, mistakes: Iterable[Mistake]) -> None:
        self.texts: dict[str, int] = {}
        self._case = case
        self._mistake_at = {(each.file, each.line): each for each in mistakes if each.kind == "line"}

    def line(self, line: AnyLine) -> dict[str, object]:
        facts = explain_line(line, self._case, with_effect=False)
        if (mistake := self._mistake_at.get((line.file, line.number))) is not None:
            facts = replace(facts, worth=self._effect("absent", mistake))
        summary = facts.fate
        return {
            "file": summary.file,
            "line": summary.line,
            "query": summary.query,
            "node": summary.node,
            "value": summary.value,
            "category": summary.category,
            "side": summary.side,
            "steps": self._numbered(line_tree(facts).below),
        }

    def query(self, query: LinkedQuery) -> dict[str, object]:
        """A query by itself: of its lines of all hops only those are counted that answer it."""
        facts = explain_query(query, self._case)
        result = self._case.query_result(query.base_id) if query.level == 0 else None
        rankings = () if result is None else result.rankings
        return {
            "query": facts.query,
            "unit": facts.asked.unit,
            "name": facts.asked.name,
            "slot": facts.asked.slot,
            "hop": facts.asked.hop,
            "lines": Counter(summary.side for summary in facts.lines if summary.query == facts.query),
            "classes": Counter(each.status for each in facts.classes),
            "precision_at": {each.level: list(_precisions(each)) for each in rankings},
            "steps": self._numbered(query_tree(facts, with_lines=False).below),
        }

    def missed(self, mistake: Mistake) -> dict[str, object]:
        assessment = _assessment(mistake)
        facts = explain_class(assessment.value_class, assessment.query.base_id, self._case, with_effect=False)
        facts = replace(facts, worth=self._effect("found", mistake))
        return {
            "class": facts.name,
            "query": assessment.query.full_id,
            "value": assessment.value,
            "steps": self._numbered(class_tree(facts).below),
        }

    def _effect(self, what: str, mistake: Mistake) -> LineEffect:
        return effect_facts(what, mistake.change, mistake.effect, self._case.measures)

    def _numbered(self, items: Iterable[Item]) -> list[int]:
        texts = ("\n".join(unwrapped(item)) for item in items)
        return [self.texts.setdefault(text, len(self.texts)) for text in texts]


def _precisions(ranking: Ranking) -> Iterator[float]:
    """Precision at each rank: the values of the nodes down to it, divided by the rank (CS 9.7)."""
    values = accumulate(node.value for node in ranking.nodes)
    return (value / rank for rank, value in enumerate(values, 1))
