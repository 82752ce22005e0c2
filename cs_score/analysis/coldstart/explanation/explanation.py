"""Why single lines, classes, nodes and queries scored as they did, as they were asked for."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain
from typing import Final, Literal, TypeAlias

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.explanation.case import AnyLine, Case
from cs_score.analysis.coldstart.explanation.counting import effect_of_absence
from cs_score.analysis.coldstart.explanation.document import Item, LineEffect, LineExplanation, unwrapped, walk, wrapped
from cs_score.analysis.coldstart.explanation.subjects import (
    ClassExplanation,
    NodeExplanation,
    Overview,
    QueryExplanation,
    explain_class,
    explain_line,
    explain_node,
    explain_query,
    explain_run,
)
from cs_score.analysis.coldstart.mistakes import Mistake
from cs_score.analysis.coldstart.scored import Scored, score_for_analysis
from cs_score.base.display import SCREEN, one_line
from cs_score.base.documents import Document, json_text
from cs_score.base.errors import InputError, UsageError, nearest
from cs_score.base.records import Record, field, replace
from cs_score.base.runtime import paused_collector
from cs_score.base.sources import Input
from cs_score.coldstart.gold import Gold, Run, run_of, units_of
from cs_score.coldstart.lines import LinkedQuery, Response, link_follow_on
from cs_score.coldstart.linking import Loading
from cs_score.coldstart.options import Policy
from cs_score.coldstart.queries import parse_query_id
from cs_score.coldstart.reference_range import Range, reference_range
from cs_score.coldstart.result import PrecisionRecall, RunResult, ScoringStopped, UnitResult, averaged_table
from cs_score.coldstart.scorer import Combining, score_unit
from cs_score.coldstart.tab_files import UnreadLine
from cs_score.measures.registry import usual
from cs_score.problems.log import ProblemLog
from cs_score.tables.layout import Layout, columns

MOST_SCORED_AGAIN: Final = 200_000
"""Lines that are scored again for the effects of lines that `--answer` finds: each effect takes those of its unit."""

MOST_LINES: Final = 20_000
"""Lines of one run that an analysis explains."""

Wanted: TypeAlias = str | int | Sequence[str | int]
"""One selector, or several."""


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


class Explanation(Document, frozen=True, kw_only=True, tag="explanation"):
    """What was asked for of a run: lines (those of answers among them), classes, nodes and queries, in the order asked.

    `overview` is the run as a whole, where nothing else was asked for; `reference_range` is then what the reference
    could print of the measure, where the order of its hash tables decides. `fatal` is why the run could not be
    scored, None where it could; `score` is None then.
    """

    schema_version: Literal[2] = 2
    run: str
    score: float | None
    scores: Mapping[str, float]
    fatal: str | None
    overview: Overview | None
    reference_range: Range | UnsetType = UNSET
    lines: tuple[LineExplanation, ...]
    queries: tuple[QueryExplanation, ...]
    classes: tuple[ClassExplanation, ...]
    nodes: tuple[NodeExplanation, ...]

    def __repr__(self) -> str:
        return (
            f"<explanation of run {self.run}: {len(self.lines)} lines, {len(self.queries)} queries, "
            f"{len(self.classes)} classes, {len(self.nodes)} nodes>"
        )

    def __str__(self) -> str:
        return self.text()

    def to_json(self) -> str:
        return json_text(self)

    def text(self, width: int = SCREEN) -> str:
        """A tree for people, in lines of at most `width` columns; the inputs' texts are made safe."""
        return "\n\n".join("\n".join(wrapped(item, width)) for item in self.items())

    def items(self) -> Iterator[Item]:
        """A tree for each subject that was asked for."""
        if self.fatal is not None:
            yield Item(f"{self.run or 'The run'} cannot be scored", [self.fatal])
        if self.overview is not None:
            score = "" if self.score is None else f": {self.measure} = {self.score:.4f}"
            yield self.overview.item(f"{self.run or 'The run'}{score}")
        if self.reference_range and self.reference_range.is_seen:
            yield Item(f"The reference scorer may print {self.reference_range} for {self.measure}, by hash order")
        for subjects in (self.lines, self.queries, self.classes, self.nodes):
            yield from (each.item() for each in subjects)


STEPS: Final = Layout(
    "steps",
    "Steps:",
    columns("about", "level", "text"),
    lambda found: (
        {"about": one_line(item.text), "level": level, "text": text}
        for item in found.items()
        for level, text in walk(item)
    ),
)
"""A row for each step of the text: what it is about, how deep it stands there."""


def explain(
    scored: Scored,
    *,
    line: Wanted = (),
    query: Wanted = (),
    class_name: Wanted = (),
    node: Wanted = (),
    answer: Wanted = (),
    measure: str | None = None,
) -> Explanation:
    """Why lines, queries, classes and nodes of a run scored as they did; without any of them, the run as a whole.

    `line`: numbers, or `FILE:N`. `query`: ids of the SF or LDC form, of any hop. `class_name`: equivalence classes.
    `node`: FQ node ids, or ids as lines have them. `answer`: values, in which `*` stands for any text; their lines are
    explained. `measure`: what effects are given for beside average precision; None for the one that ranks leaderboards.
    Raises InputError where a selector meets nothing, with the nearest names, UsageError for what cannot be one.
    """
    with paused_collector():
        case = Case(scored, measure)
        lines = [explain_line(found, case) for each in _each(line) for found in lines_at(each, case)]
        answers = [found for each in _each(answer) for found in answers_of(each, case)]
        scored_again = 0
        for found in answers:  # effects are computed until scoring for them would take too long
            effect = effect_of_absence([found], case, is_computed=scored_again < MOST_SCORED_AGAIN)
            lines.append(replace(explain_line(found, case, with_effect=False), effect=effect))
            scored_again += case.query(found.query.base_id).lines_of_unit
        queries = [found for each in _each(query) for found in queries_of(each, case)]
        classes = [found for each in _each(class_name) for found in classes_of(each, case)]
        nodes = [found for each in _each(node) for found in nodes_of(each, case)]
        is_whole = not any((lines, queries, classes, nodes))
        chosen, usual_measure = case.measure, usual(with_ldc=bool(scored.run.gold.table.ldc_of))
        ranges = reference_range(scored.result, scored.run.gold.table.edition) if is_whole else None
        return Explanation(
            task="coldstart",
            measure=measure or str(usual_measure) if chosen is None else str(chosen),
            signature=str(scored.signature if chosen is None else scored.signature.of(str(chosen))),
            origin=scored.origin,
            run=scored.run_id,
            score=None if chosen is None else scored.result.measures[chosen],
            scores={} if case.fatal else scored.result.scores,
            fatal=None if case.fatal is None else str(case.fatal),
            overview=explain_run(case) if is_whole else None,
            reference_range=(ranges or {}).get(str(chosen), UNSET),
            lines=tuple(lines),
            queries=tuple(explain_query(each, case) for each in queries),
            classes=tuple(explain_class(name, base_id, case) for name, base_id in classes),
            nodes=tuple(explain_node(name, case) for name in nodes),
        )


def _each(wanted: Wanted) -> tuple[str, ...]:
    return (str(wanted),) if isinstance(wanted, str | int) else tuple(map(str, wanted))


def lines_at(spec: str, case: Case) -> list[AnyLine]:
    """The lines that `[FILE:]N` names: of one run file, or of each where several have the number.

    Raises UsageError for what is no number, InputError where there is no such line.
    """
    name, _, number = spec.rpartition(":")
    if not (number.isascii() and number.isdecimal() and len(number) < 12):
        raise UsageError(f"--line {spec}: the number of a line is needed, 12 or FILE:12")
    files = case.files.files
    # A file may lack its folders.
    wanted = [file for each, file in files.items() if name in ("", each)]
    wanted = wanted or [file for each, file in files.items() if name == os.path.basename(each)]
    if not wanted:
        pools = [each for each in case.run.layouts if each not in files and name in (each, os.path.basename(each))]
        if pools:
            raise InputError(f"{pools[0]} is a pool, not a run", remedy="ask for a class of it with --class")
    lines = (chain[AnyLine](file.responses, file.skipped, file.unread) for file in wanted)
    found = [line for line in chain.from_iterable(lines) if line.number == int(number)]
    if not found:
        near = nearest(name, [*files, *map(os.path.basename, files)])
        missing = f"line {spec} to explain" if wanted else f"run file {name}{near}" if name else "run"
        ranges = [f"{file.name} has lines 1 to {file.last}" for file in wanted or files.values()]
        remedy = ", ".join(ranges) or "no run was loaded"
        remedy = remedy if case.fatal is None else f"reading stopped: {case.fatal}"
        raise InputError(f"there is no {missing}", remedy=remedy)
    return found


def queries_of(text: str, case: Case) -> list[LinkedQuery]:
    """The queries of an id, with or without its prefix: those of the entry points, of an LDC query.

    Raises InputError where there is none.
    """
    links, table = case.run.links, case.run.gold.table
    parts = parse_query_id(text)
    short = "" if parts is None else parts.short
    loaded = table.by_id.get(short)
    found: list[LinkedQuery] = []
    if loaded is not None:
        queries = [table.by_id[each] for each in loaded.expansions or ()] or [loaded]
        found = [links.root(each) for each in queries] if text in (short, loaded.full_id) else []
    elif (follow_on := links.follow_on(short)) is not None and follow_on.query is not None:
        query = link_follow_on(follow_on.query, short)
        found = [query] if text in (short, query.full_id) else []
    if not found:
        known = [each.full_id for each in table.by_id.values()]
        raise InputError(f"there is no query {text}{nearest(text, [*known, *links.queries])}", remedy=case.why_stopped)
    return found


def classes_of(text: str, case: Case) -> list[tuple[str, str]]:
    """The classes of a name, each with the short id of its query; one of an LDC query is that of each entry point.

    Raises InputError where there is none.
    """
    table, assessed = case.run.gold.table, case.run.gold.assessed
    full_id, colon, rest = text.partition(":")
    loaded = next((each for each in table.by_id.values() if full_id in (each.full_id, each.short_id)), None)
    bases = [] if loaded is None else list(loaded.expansions or (loaded.short_id,))
    found = []
    for base_id in bases if colon else ():
        name = f"{table.by_id[base_id].full_id}:{rest}"
        placement = case.query(base_id).placement
        in_pool = any(each.value_class == name for each in assessed.get(base_id, ()))
        if in_pool or (placement is not None and name in placement.tree.above):
            found.append((name, base_id))
    if not found:
        known = dict.fromkeys(each.value_class for lines in assessed.values() for each in lines if each.is_accepted)
        raise InputError(f"there is no class {text}{nearest(text, known)}", remedy=case.why_stopped)
    return found


def nodes_of(text: str, case: Case) -> list[str]:
    """The nodes of an id: an FQ node id, or a node id as lines have it, with or without its colon.

    Raises InputError where there is none.
    """
    nodes = [name for name, lines in case.run.links.nodes.items() if any(map(case.is_of_run, lines))]
    bare = text.removeprefix(":")
    found = [name for name in nodes if name == text] or [name for name in nodes if name.rpartition(":")[2] == bare]
    if not found:
        if not nodes:
            raise InputError(f"there is no node {text}", remedy="the run has no node ids (eight columns)")
        near = nearest(text, [*nodes, *(name.rpartition(":")[2] for name in nodes)])
        raise InputError(f"there is no node {text}{near}", remedy=case.why_stopped)
    return found


def answers_of(text: str, case: Case) -> list[Response]:
    """The lines that give an answer: its text, in which `*` stands for any. Raises InputError where there is none."""
    of_run = [line for line in case.run.links.responses if case.is_of_run(line)]
    found = [line for line in of_run if is_answer(text, line.value)]
    if not found:
        pool = case.run.gold.links.assessments
        classes = dict.fromkeys(one.value_class for one in pool if one.is_accepted and is_answer(text, one.value))
        near = nearest(text, dict.fromkeys(line.value for line in of_run)) if len(text) < 200 else ""
        remedy = f"the pool has it in class {next(iter(classes))}; ask for that with --class" if classes else None
        raise InputError(f"no line of the run gives the answer {text}{near}", remedy=remedy or case.why_stopped)
    return found


def is_answer(pattern: str, value: str) -> bool:
    """Whether a value is what a pattern wants, in which `*` stands for any text.

    Pieces between the stars are searched from left to right, each after the one before: no choice is ever taken back,
    so that no pattern takes long.
    """
    first, *others = pattern.split("*")
    if not others:
        return pattern == value
    *inner, last = others
    if not (value.startswith(first) and value.endswith(last)):
        return False
    at, end = len(first), len(value) - len(last)
    for piece in inner:
        if (found := value.find(piece, at, max(at, end))) < 0:
            return False
        at = found + len(piece)
    return at <= end


def load_as_far_as_possible(gold: Gold, files: Iterable[Input]) -> tuple[Run, InputError | None]:
    """Load runs and assessments; where that has to stop, what was loaded by then, and why it stopped."""
    loading = Loading(
        gold.table, gold.options.justifications, gold.problems.branch(), below=gold.links, alone=gold.alone
    )
    stop = None
    try:
        loading.load(files)
    except InputError as error:
        stop = error
    return run_of(gold, loading, gold.options.justifications), stop


def score_as_far_as_possible(
    run: Run, policy: Policy, run_id: str | None = None, stop: InputError | None = None
) -> Scored:
    """Score a run, or those of its units that can be scored. `stop` is why loading stopped: then none is.

    Raises UsageError where several runs were loaded and none is named, InputError where there is no such run.
    """
    units: Sequence[UnitResult] = ()
    run_ids = list(dict.fromkeys(run.run_ids))
    named = run_id if run_id is not None or not run_ids else run_ids[0]
    if stop is None:
        try:
            return score_for_analysis(run, policy, run_id)
        except ScoringStopped as error:
            stop = error
        if named in run_ids:
            units = [score_unit(unit, policy) for unit in units_of(run, named)]
    if named is not None and named not in run_ids:
        raise stop
    nothing = PrecisionRecall(averaged_table([]), None, None)
    result = Combining(replace(run, remarks=()), policy, ProblemLog()).result([])
    scored = RunResult(named or "", nothing, tuple(units))
    return Scored(run, named or "", policy, scored, stop, result.origin, result.signature(scored))


def explain_everything(case: Case, mistakes: Sequence[Mistake], *, with_others: bool) -> Explanations:
    """At most `MOST_LINES` lines, those of as many mistakes first, with their queries and the missed classes.

    `with_others`: lines that are no mistakes, too; their effects are left out.
    """
    mistakes = mistakes[:MOST_LINES]
    every = {(line.file, line.number): line for line in case.lines()}
    listed = ((each.file, each.line) for each in mistakes if each.kind != "class")
    wanted = dict.fromkeys(place for place in listed if place in every) | dict.fromkeys(every if with_others else ())
    chosen = {*list(wanted)[:MOST_LINES]}
    explained = [line for place, line in every.items() if place in chosen]
    at_line = {(each.file, each.line): each for each in mistakes if each.kind == "line"}
    assessed = {(each.file, each.number): each for each in case.run.gold.links.assessments}
    asked = {line.query.full_id: line.query for line in explained if not isinstance(line, UnreadLine)}
    texts: dict[str, int] = {}

    def numbered(found: LineExplanation | ClassExplanation | QueryExplanation) -> list[int]:
        below = (found.item(with_lines=False) if isinstance(found, QueryExplanation) else found.item()).below
        return [texts.setdefault(unwrapped(each), len(texts)) for each in below]

    def effect_of(mistake: Mistake) -> LineEffect:
        effects = {name: mistake.effects.get(name) for name in map(str, case.measures)}
        reason = str(mistake.reason) if None in effects.values() else None
        return LineEffect(mistake.change, effects, mistake.removed, mistake.added, reason)

    lines, queries, classes = [], [], []
    for line in explained:
        found = explain_line(line, case, with_effect=False)
        if (mistake := at_line.get((line.file, line.number))) is not None:
            found = replace(found, effect=effect_of(mistake))
        of = found.summary
        lines.append(LineSteps(of.file, of.line, of.query, of.node, of.value, of.category, of.side, numbered(found)))
    missed = [(each, assessed[each.file, each.line]) for each in mistakes if each.kind == "class"]
    asked.update((assessment.query.full_id, assessment.query) for _, assessment in missed)
    for query in asked.values():
        queries.append(_query_steps(query, case, numbered))
    for mistake, one in missed:
        of_class = explain_class(one.value_class, one.query.base_id, case, with_effect=False)
        of_class = replace(of_class, effect=effect_of(mistake))
        classes.append(ClassSteps(of_class.name, one.query.full_id, one.value, numbered(of_class)))
    return Explanations(len(every) - len(lines), lines, queries, classes, list(texts))


def _query_steps(query: LinkedQuery, case: Case, numbered: Callable[[QueryExplanation], list[int]]) -> QuerySteps:
    """A query by itself: of its lines of all hops only those are counted that answer it."""
    found = explain_query(query, case)
    result = case.query(query.base_id).result if query.level == 0 else None
    values = {
        ranking.level: accumulate(node.value for node in ranking.nodes)
        for ranking in (() if result is None else result.rankings)
    }
    return QuerySteps(
        query=found.query,
        unit=found.asked.unit,
        name=found.asked.name,
        slot=found.asked.slot,
        hop=found.asked.hop,
        lines=Counter(summary.side for summary in found.lines if summary.query == found.query),
        classes=Counter(each.status for each in found.classes),
        precision_at={level: [value / rank for rank, value in enumerate(of, 1)] for level, of in values.items()},
        steps=numbered(found),
    )
