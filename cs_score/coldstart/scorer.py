"""Scoring Cold Start runs, in the task's own words (specification 6 to 9).

`score_unit` is the whole of it: one LDC query with its entry points, or one query where there is no LDC index. A run is
its units in order: `score_runs` puts them together, and does what no unit can do by itself. Lines are read, linked
and held to the limits before, by `cs_score.coldstart.lines`, since what a line may name depends on all lines before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cs_score.base.errors import InputError
from cs_score.base.garbage_collection import paused_collector
from cs_score.base.records import replace
from cs_score.base.sources import Input
from cs_score.coldstart.combining import Combining
from cs_score.coldstart.counting.counts import Counting
from cs_score.coldstart.counting.projection import ALL_LEVELS
from cs_score.coldstart.gold import QueryGold, noting_folders, open_gold
from cs_score.coldstart.judging.class_tree import place_responses
from cs_score.coldstart.judging.matching import match
from cs_score.coldstart.lines.records import Assessment
from cs_score.coldstart.options import MANY, Options, Policy
from cs_score.coldstart.queries.predicates import find_predicate
from cs_score.coldstart.ranking.average_precision import rank_query
from cs_score.coldstart.remarks import above_one, check_lines
from cs_score.coldstart.result import QueryResult, Result, RunResult, ScoringStopped, UnitResult
from cs_score.coldstart.run import Run, load_run
from cs_score.coldstart.units import Unit
from cs_score.problems.log import ProblemLog


def score(queries: Iterable[Input], files: Iterable[Input], options: Options | None = None) -> Result:
    """Score Cold Start runs.

    `queries`: query files; `files`: assessments and runs, told apart by their first line, in an order in which parent
    lines come first. Files are paths or open files. Raises UsageError for impossible options, and ScoringStopped (an
    InputError) where scoring cannot go on; what had been computed by then is its `partial` result.
    """
    options = options or Options()
    options.check()
    with paused_collector():
        given = list(files)
        gold = noting_folders(open_gold(queries, options), given)
        return score_runs(load_run(gold, given), options.policy)


def score_runs(
    run: Run, policy: Policy, problems: ProblemLog | None = None, before: Iterable[RunResult] = ()
) -> Result:
    """Score the runs of one call, one run id after the other.

    `problems` is added to; without it, what is found stands in the result only. `before`: results of the same lines
    under another policy or other limits; what they met is taken over. Raises ScoringStopped as `score` does.
    """
    combining = Combining(run, policy, run.problems.branch() if problems is None else problems, before)
    runs: list[RunResult] = []
    try:
        check_lines(run)
        combining.check_runs()
        for run_id in combining.run_ids:
            units = score_units(combining, run_id, policy)
            runs.append(combining.with_tables(run_id, units))
            combining.check_something_scored(runs[-1])
            runs[-1] = combining.with_average_precision(runs[-1], units)
            if combining.options.samples is not None:
                runs[-1] = combining.with_bootstrap(runs[-1], combining.options.samples)
    except InputError as stop:
        raise ScoringStopped(stop, combining.result(runs)) from None
    return combining.result(runs)


def score_units(combining: Combining, run_id: str, policy: Policy) -> list[UnitResult]:
    """Score every unit of a run. Raises InputError where matching or counting has to stop."""
    units = [score_unit(unit, policy) for unit in combining.units(run_id)]
    combining.take(run_id, units)
    return units


def score_unit(unit: Unit, policy: Policy, is_ranked: bool = True) -> UnitResult:
    """Match, place, label, count and, where rankings are wanted, rank the lines of one unit.

    Never raises for what is in the lines: the result tells where scoring has to stop, and the caller when.
    """
    matching = unit.before or _match(unit)  # 6: response -> assessment, or none
    if matching.unmatched is not None:
        return matching
    matched = matching.matched
    beside = unit.beside
    counting = Counting(matched, policy, unit.run.limits.most, {} if beside is None else dict(beside.labels))
    golds = [unit.gold.of_query(query, unit.run.links) for query in unit.queries]
    counted = [_count(unit, gold, counting) for gold in golds]  # 7: labels, and a row for each inner class
    if beside is not None:
        matched = {**beside.matched, **matched}
    results = [  # 9: nodes, confidence, mapping, V, average precision
        result if result.uncounted or not is_ranked else _rank(unit, gold, result, matched, counting)
        for gold, result in zip(golds, counted)
    ]
    return UnitResult(unit.id, matched, counting.labels, tuple(results), matching.problems)


def _match(unit: Unit) -> UnitResult:
    """The assessments of the lines about queries that are scored, or why there are none; nothing is counted yet."""
    gold, links, problems = unit.gold, unit.run.links, ProblemLog()
    matched: dict[int, Assessment] = {}
    try:
        for base_id in dict.fromkeys(query.base_id for query in unit.queries):
            if base_id in unit.lines:
                by_value = gold.values_of(base_id, links)
                matched |= match(unit.lines[base_id], by_value, links, gold.options.discipline, problems)
    except InputError as stop:
        return UnitResult(unit.id, {}, {}, (), problems, stop)
    return UnitResult(unit.id, matched, {}, (), problems)


def _count(unit: Unit, gold: QueryGold, counting: Counting) -> QueryResult:
    """Place the responses to one query in the tree of its classes, label and count them (7.3 to 7.7)."""
    query = gold.query
    if gold.tree is None:
        return QueryResult(query, problems=gold.problems, uncounted=gold.failure)
    tree = gold.tree.branch()
    try:
        members = place_responses(tree, unit.lines.get(query.base_id, ()), counting.matched, unit.run.links)
    except InputError as stop:
        return QueryResult(query, problems=gold.problems, uncounted=stop)
    most_hops = unit.hop_limits[query.short_id]
    tallies = tuple(tally for tally in counting.tally(tree, members) if tree.depth(tally.name) <= most_hops)
    return QueryResult(query, tallies, problems=gold.problems)


def _rank(
    unit: Unit, gold: QueryGold, counted: QueryResult, matched: Mapping[int, Assessment], counting: Counting
) -> QueryResult:
    """The rankings of one query at the levels that are scored."""
    query = gold.query
    single = [None if predicate is None else predicate.single for predicate in map(find_predicate, query.slots)]
    most = unit.run.limits.most
    rankings = rank_query(query, single, unit.nodes, gold.classes, matched, counting.labels, most)
    for ranking in rankings:
        if ranking.is_above_one:
            links = unit.run.links
            stop = above_one(ranking, links.root(query), links.nodes, MANY if most is None else str(most))
            return replace(counted, unranked=stop)
    kept = {"0", ALL_LEVELS, *map(str, range(1, unit.hop_limits[query.short_id] + 1))}
    return replace(counted, rankings=tuple(ranking for ranking in rankings if ranking.level in kept))
