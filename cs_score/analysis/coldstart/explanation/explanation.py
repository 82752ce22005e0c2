"""Why single lines, classes, nodes and queries scored as they did, as they were asked for."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice
from typing import Final, Literal, TypeAlias, TypeVar

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.explanation import document, subjects
from cs_score.analysis.coldstart.explanation.case import AnyLine, Case
from cs_score.analysis.coldstart.mistakes import Mistake
from cs_score.analysis.coldstart.scored import Scored, score_for_analysis
from cs_score.base.display import SCREEN
from cs_score.base.documents import Document
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


Found = TypeVar("Found")


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
    overview: document.Overview | None
    reference_range: Range | UnsetType = UNSET
    lines: tuple[document.LineExplanation, ...]
    queries: tuple[document.QueryExplanation, ...]
    classes: tuple[document.ClassExplanation, ...]
    nodes: tuple[document.NodeExplanation, ...]

    def text(self, width: int = SCREEN) -> str:
        """A tree for people, in lines of at most `width` columns; the inputs' texts are made safe."""
        return "\n\n".join("\n".join(document.wrapped(tree, width)) for tree in self.trees())

    def trees(self) -> Iterator[document.Tree]:
        """A tree for each subject that was asked for."""
        run = self.run or "The run"
        if self.fatal is not None:
            yield [f"{run} cannot be scored", self.fatal]
        if self.overview is not None:
            yield [run if self.score is None else f"{run}: {self.measure} = {self.score:.4f}", *self.overview.tree()]
        if self.reference_range and self.reference_range.is_seen:
            yield f"The reference scorer may print {self.reference_range} for {self.measure}, by hash order"
        for of_kind in (self.lines, self.queries, self.classes, self.nodes):
            yield from of_kind


def _step_rows(found: Explanation) -> Iterator[Mapping[str, object]]:
    for tree in found.trees():
        texts = list(document.walk(tree))
        yield from ({"about": texts[0][1], "level": level, "text": text} for level, text in texts)


STEPS: Final = Layout("steps", "Steps:", columns("about", "level", "text"), _step_rows)
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
        lines = [subjects.explain_line(found, case) for found in _selected(line, _lines_at, case)]
        scored_again = 0
        for found in _selected(answer, _answers, case):  # effects are computed until that would take too long
            effect = case.effect_of([found], is_computed=scored_again < MOST_SCORED_AGAIN)
            lines.append(replace(subjects.explain_line(found, case, with_effect=False), effect=effect))
            scored_again += case.query(found.query.base_id).lines_of_unit
        queries = tuple(subjects.explain_query(found, case) for found in _selected(query, _queries, case))
        classes = tuple(subjects.explain_class(*found, case) for found in _selected(class_name, _classes, case))
        nodes = tuple(subjects.explain_node(found, case) for found in _selected(node, _nodes, case))
        is_whole = not any((lines, queries, classes, nodes))
        chosen, usual_measure = case.measure, usual(with_ldc=bool(scored.run.gold.table.ldc_of))
        ranges = reference_range(scored.result, case.edition) if is_whole else None
        return Explanation(
            task="coldstart",
            measure=str(chosen or measure or usual_measure),
            signature=str(scored.signature if chosen is None else scored.signature.of(str(chosen))),
            origin=scored.origin,
            run=scored.run_id,
            score=None if chosen is None else scored.result.measures[chosen],
            scores={} if case.fatal else scored.result.scores,
            fatal=None if case.fatal is None else str(case.fatal),
            overview=subjects.explain_run(case) if is_whole else None,
            reference_range=(ranges or {}).get(str(chosen), UNSET),
            lines=tuple(lines),
            queries=queries,
            classes=classes,
            nodes=nodes,
        )


def _selected(wanted: Wanted, find: Callable[[str, Case], list[Found]], case: Case) -> list[Found]:
    """All that is found of each of the selectors of one kind."""
    each = (wanted,) if isinstance(wanted, str | int) else wanted
    return [found for text in each for found in find(str(text), case)]


def _lines_at(spec: str, case: Case) -> list[AnyLine]:
    """The lines that `[FILE:]N` names: of one run file, or of each where several have the number."""
    name, _, number = spec.rpartition(":")
    if not (number.isascii() and number.isdecimal() and len(number) < 12):
        raise UsageError(f"--line {spec}: the number of a line is needed, 12 or FILE:12")
    files = case.files
    # A file may lack its folders.
    wanted = [file for each, file in files.items() if name in ("", each)]
    wanted = wanted or [file for each, file in files.items() if name == os.path.basename(each)]
    pools = [each for each in case.run.layouts if each not in files and name in (each, os.path.basename(each))]
    if pools and not wanted:
        raise InputError(f"{pools[0]} is a pool, not a run", remedy="ask for a class of it with --class")
    found = [line for file in wanted for line in file.lines if line.number == int(number)]
    if not found:
        near = nearest(name, [*files, *map(os.path.basename, files)])
        missing = f"line {spec} to explain" if wanted else f"run file {name}{near}" if name else "run"
        ranges = ", ".join(f"{file.name} has lines 1 to {file.last}" for file in wanted or files.values())
        reading = f"reading stopped: {case.fatal}" if case.fatal else ranges or "no run was loaded"
        raise InputError(f"there is no {missing}", remedy=reading)
    return found


def _queries(text: str, case: Case) -> list[LinkedQuery]:
    """The queries of an id, with or without its prefix: those of the entry points, of an LDC query."""
    links, table = case.run.links, case.run.gold.table
    parts = parse_query_id(text)
    short = "" if parts is None else parts.short
    found: list[LinkedQuery] = []
    full_id = None
    if (loaded := table.by_id.get(short)) is not None:
        full_id = loaded.full_id
        found = [links.root(table.by_id[each]) for each in loaded.expansions or (short,)]
    elif (follow_on := links.follow_on(short)) is not None and follow_on.query is not None:
        found = [link_follow_on(follow_on.query, short)]
        full_id = found[0].full_id
    if text not in (short, full_id) or not found:
        known = [each.full_id for each in table.by_id.values()]
        raise InputError(f"there is no query {text}{nearest(text, [*known, *links.queries])}", remedy=case.why_stopped)
    return found


def _classes(text: str, case: Case) -> list[tuple[str, str]]:
    """The classes of a name, each with the short id of its query; one of an LDC query is that of each entry point."""
    table, assessed = case.run.gold.table, case.run.gold.assessed
    full_id, colon, rest = text.partition(":")
    loaded = next((each for each in table.by_id.values() if full_id in (each.full_id, each.short_id)), None)
    found = []
    for base_id in loaded.expansions or (loaded.short_id,) if loaded is not None and colon else ():
        name = f"{table.by_id[base_id].full_id}:{rest}"
        placement = case.query(base_id).placement
        in_pool = any(each.value_class == name for each in assessed.get(base_id, ()))
        if in_pool or (placement is not None and name in placement.tree.above):
            found.append((name, base_id))
    if not found:
        known = dict.fromkeys(each.value_class for lines in assessed.values() for each in lines if each.is_accepted)
        raise InputError(f"there is no class {text}{nearest(text, known)}", remedy=case.why_stopped)
    return found


def _nodes(text: str, case: Case) -> list[str]:
    """The nodes of an id: an FQ node id, or a node id as lines have it, with or without its colon."""
    nodes = [name for name, lines in case.run.links.nodes.items() if any(map(case.is_of_run, lines))]
    ids = [name.rpartition(":")[2] for name in nodes]
    found = [name for name in nodes if name == text]
    found = found or [name for name, bare in zip(nodes, ids) if bare == text.removeprefix(":")]
    if not found:
        near = nearest(text, [*nodes, *ids])
        remedy = case.why_stopped if nodes else "the run has no node ids (eight columns)"
        raise InputError(f"there is no node {text}{near}", remedy=remedy)
    return found


def _answers(text: str, case: Case) -> list[Response]:
    """The lines that give an answer: its text, in which `*` stands for any."""
    of_run = [line for line in case.run.links.responses if case.is_of_run(line)]
    found = [line for line in of_run if is_answer(text, line.value)]
    if not found:
        pool = case.run.gold.links.assessments
        known = next((one.value_class for one in pool if one.is_accepted and is_answer(text, one.value)), None)
        near = nearest(text, dict.fromkeys(line.value for line in of_run)) if len(text) < 200 else ""
        remedy = f"the pool has it in class {known}; ask for that with --class" if known else case.why_stopped
        raise InputError(f"no line of the run gives the answer {text}{near}", remedy=remedy)
    return found


def is_answer(pattern: str, value: str) -> bool:
    """Whether a value is what a pattern wants, in which `*` stands for any text. Pieces between the stars are searched
    from left to right, each after the one before: no choice is taken back, so that no pattern takes long.
    """
    first, *pieces = map(re.escape, pattern.split("*"))
    wanted = first + "".join(f"(?>.*?{piece})" for piece in pieces[:-1]) + "".join(f".*{last}" for last in pieces[-1:])
    return re.fullmatch(wanted, value, re.DOTALL) is not None


def load_as_far_as_possible(gold: Gold, files: Iterable[Input]) -> tuple[Run, InputError | None]:
    """Load runs and assessments; where that has to stop, what was loaded by then, and why it stopped."""
    limits, stop = gold.options.justifications, None
    loading = Loading(gold.table, limits, gold.problems.branch(), below=gold.links, alone=gold.alone)
    try:
        loading.load(files)
    except InputError as error:
        stop = error
    return run_of(gold, loading, limits), stop


def score_as_far_as_possible(run: Run, policy: Policy, stop: InputError | None = None) -> Scored:
    """Score a run, or those of its units that can be scored. `stop` is why loading stopped: then none is."""
    run_id = next(iter(run.run_ids), "")
    units: tuple[UnitResult, ...] = ()
    if stop is None:
        try:
            return score_for_analysis(run, policy)
        except ScoringStopped as error:
            stop = error
        units = tuple(score_unit(unit, policy) for unit in units_of(run, run_id)) if run_id else ()
    scored = RunResult(run_id, PrecisionRecall(averaged_table([]), None, None), units)
    result = Combining(replace(run, remarks=()), policy, ProblemLog()).result([])
    return Scored(run, run_id, policy, scored, stop, result.origin, result.signature(scored))


def explain_everything(case: Case, mistakes: Sequence[Mistake], *, with_others: bool) -> Explanations:
    """At most `MOST_LINES` lines, those of as many mistakes first, with their queries and the missed classes.
    `with_others`: lines that are no mistakes, too; their effects are left out.
    """
    mistakes = mistakes[:MOST_LINES]
    every = {(line.file, line.number): line for line in case.lines()}
    wanted = chain(((each.file, each.line) for each in mistakes if each.kind != "class"), every if with_others else ())
    chosen = {*islice(dict.fromkeys(place for place in wanted if place in every), MOST_LINES)}
    at_line = {(each.file, each.line): each for each in mistakes if each.kind == "line"}
    assessed = {(each.file, each.number): each for each in case.run.gold.links.assessments}
    asked: dict[str, LinkedQuery] = {}
    texts: dict[str, int] = {}

    def numbered(tree: Iterable[document.Tree]) -> list[int]:
        trees = map(document.walk, islice(tree, 1, None))
        below = ("\n".join(document.STEP * level + text for level, text in each) for each in trees)
        return [texts.setdefault(text, len(texts)) for text in below if text]

    def effect_of(mistake: Mistake) -> document.LineEffect:
        effects = {name: mistake.effects.get(name) for name in map(str, case.measures)}
        reason = str(mistake.reason) if None in effects.values() else None
        return document.LineEffect(mistake.change, effects, mistake.removed, mistake.added, reason)

    lines, queries, classes = [], [], []
    for place in filter(chosen.__contains__, every):
        line, mistake = every[place], at_line.get(place)
        if not isinstance(line, UnreadLine):
            asked[line.query.full_id] = line.query
        found = subjects.explain_line(line, case, with_effect=False)
        steps = numbered(replace(found, effect=None if mistake is None else effect_of(mistake)).tree())
        one = found.summary
        lines.append(LineSteps(one.file, one.line, one.query, one.node, one.value, one.category, one.side, steps))
    missed = [(each, assessed[each.file, each.line]) for each in mistakes if each.kind == "class"]
    asked |= {answer.query.full_id: answer.query for _, answer in missed}
    for query in asked.values():
        whole = subjects.explain_query(query, case)
        precision_at = {}
        for ranking in () if query.level else case.query(query.base_id).rankings:
            totals = accumulate(node.value for node in ranking.nodes)
            precision_at[ranking.level] = [total / rank for rank, total in enumerate(totals, 1)]
        sides = Counter(summary.side for summary in whole.lines if summary.query == whole.query)  # not of other hops
        statuses, steps = Counter(each.status for each in whole.classes), numbered(whole.tree(with_lines=False))
        of = whole.asked
        queries.append(QuerySteps(of.query, of.unit, of.name, of.slot, of.hop, sides, statuses, precision_at, steps))
    for mistake, answer in missed:
        of_class = subjects.explain_class(answer.value_class, answer.query.base_id, case, with_effect=False)
        steps = numbered(replace(of_class, effect=effect_of(mistake)).tree())
        classes.append(ClassSteps(answer.value_class, answer.query.full_id, answer.value, steps))
    return Explanations(len(every) - len(lines), lines, queries, classes, list(texts))
