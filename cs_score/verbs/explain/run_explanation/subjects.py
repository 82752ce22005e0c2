"""Explain classes, nodes, queries and a run as a whole. An equivalence class has the answers of the pool that mean the
same, a node the lines of the run about the same entity. A row of the score tables counts the lines and classes of a
query at a hop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Final, NamedTuple

from cs_score.analysis.coldstart.faults import find_faults
from cs_score.analysis.coldstart.mistakes import cost_list
from cs_score.base.errors import InputError
from cs_score.base.records import convert
from cs_score.coldstart import judging
from cs_score.coldstart.lines import CORRECT, Assessment, LinkedQuery, Response
from cs_score.problems.codes import Severity
from cs_score.verbs.explain.run_explanation import document
from cs_score.verbs.explain.run_explanation.categories import SIDE_TEXTS, place_of_line, summary_of
from cs_score.verbs.explain.run_explanation.indexed_run import IndexedQuery, IndexedRun
from cs_score.verbs.explain.run_explanation.line_steps import describe_assessment, explain_query_step

_MOST_COSTS: Final = 3
"""The number of mistakes that the overview of a run names."""


# ---- Classes


class _ClassVerdict(NamedTuple):
    """Whether a class is `found`, `missed` or `not counted`, and why."""

    status: str
    reason: str


def explain_class(
    name: str, base_id: str, indexed_run: IndexedRun, *, with_effect: bool = True
) -> document.ClassExplanation:
    """Return the explanation of a class: whether it was found and why, with its assessments and lines.

    `name` looks like `CS14_0001:2`, and `base_id` is the short id of its query. The explanation also lists the lines
    that count for the class. If `with_effect` is true, it includes the effect that finding a missed class would have.
    """
    indexed_query = indexed_run.query(base_id)
    assessments = indexed_query.accepted_by_class.get(name, ())
    query_id = None
    slot = None
    if assessments:
        query = assessments[0].query
        query_id = query.full_id
        slot = query.slots[0]
    verdict = _verdict_on_class(name, indexed_query)
    effect = None
    if assessments and with_effect and verdict.status == "missed":
        effect = indexed_run.effect_of_adding(_best_answer(assessments))
    # `CS14_0001:2` is counted in the row `CS14_0001`, the class or query above it.
    row = judging.parent_of_class(name)
    is_below_class = ":" in row
    return document.ClassExplanation(
        name=name,
        query=query_id,
        slot=slot,
        hop=name.count(":") - 1,  # a class of hop 0 has one colon
        row=row,
        parent=row if is_below_class else None,
        status=verdict.status,
        reason=verdict.reason,
        assessments=tuple([describe_assessment(assessment, indexed_run) for assessment in assessments]),
        lines=tuple([summary_of(line, indexed_run) for line in indexed_query.lines_in_class(name)]),
        counted=tuple([place_of_line(line) for line in indexed_query.right_lines(name)]),
        effect=effect,
    )


def _best_answer(assessments: Sequence[Assessment]) -> Assessment:
    """Return the first assessment judged correct, or the first assessment if none was."""
    for assessment in assessments:
        if assessment.judgment == CORRECT:
            return assessment
    return assessments[0]


def _verdict_on_class(class_name: str, indexed_query: IndexedQuery) -> _ClassVerdict:
    """Return whether a class of a query was found, missed or not counted, and why."""
    if indexed_query.placement is None:
        return _ClassVerdict("not counted", "its query was not scored")
    tree = indexed_query.placement.tree
    # A wrong bin is the class for responses that fit no other class.
    if judging.is_wrong_bin(class_name, tree.root):
        return _ClassVerdict(
            "not counted", "it holds what belongs to no class, and is no ground truth (rule ground-truth)"
        )
    row = tree.parent_by_class.get(class_name)
    if row is None or row not in indexed_query.right_lines_by_row:
        return _ClassVerdict("not counted", "no row of the tables has it")
    if indexed_query.right_lines(class_name):
        return _ClassVerdict("found", "a right line counts for it")
    if tree.is_single_valued_by_node.get(row, False):
        return _verdict_on_unfound_class(row, indexed_query, tree)
    return _ClassVerdict("missed", _why_missed(class_name, indexed_query))


def _why_missed(name: str, indexed_query: IndexedQuery) -> str:
    """Return why no right line counts for a class: its lines are not right, or it has none."""
    if indexed_query.lines_in_class(name):
        return "none of the lines placed in it counts as right"
    return "no line of the run gives one of its answers"


def _verdict_on_unfound_class(row_name: str, indexed_query: IndexedQuery, tree: judging.ClassTree) -> _ClassVerdict:
    """Return whether a class that has no right lines, in a single-valued slot, is missed or not counted.

    A single-valued slot needs only one right class. If another class was found, this class is not counted; otherwise it
    is missed. `row_name` is the name of the class's row in the tables, and `tree` has the classes of the query.
    """
    found_classes = indexed_query.right_lines_by_row[row_name].keys()
    # The reason names the found class that comes first in the tree, or one outside the tree if the tree has none of
    # them.
    classes_in_order = [*tree.parent_by_class, *found_classes]
    for class_name in classes_in_order:
        if class_name in found_classes:
            reason = f"its slot takes one value, and class {class_name} was found (rule counts)"
            return _ClassVerdict("not counted", reason)
    return _ClassVerdict("missed", "its slot takes one value, and none was found: any class would do (rule counts)")


# ---- Nodes


def explain_node(name: str, indexed_run: IndexedRun) -> document.NodeExplanation:
    """Return the explanation of a node: its lines, its classes, its rank, and its effect on the scores of the run.

    `name` is its full id, such as `CS14_0001:E1`. The effect is how the scores change if the node's lines are removed.
    """
    lines_of_all_runs = indexed_run.run.links.lines_by_node[name]
    lines = [line for line in lines_of_all_runs if indexed_run.is_of_run(line)]
    query = lines_of_all_runs[0].query
    indexed_query = indexed_run.query(query.base_id)
    return document.NodeExplanation(
        name=name,
        query=query.full_id,
        lines=tuple([summary_of(line, indexed_run) for line in lines]),
        classes=_accepted_classes_of(lines, indexed_query),
        rank_step=indexed_query.rank_step(name),
        why_not_ranked=indexed_query.why_not_ranked(name),
        effect=indexed_run.effect_of_removing(lines),
    )


def _accepted_classes_of(lines: Iterable[Response], indexed_query: IndexedQuery) -> tuple[str, ...]:
    """Return the classes of the accepted answers among some lines of a query, each once, in the order of the lines."""
    classes: dict[str, None] = {}
    for line in lines:
        assessment = indexed_query.assessment_by_index.get(line.index)
        if assessment is not None and assessment.is_accepted:
            classes[assessment.value_class] = None
    return tuple(classes)


# ---- Queries


class _QueryContent(NamedTuple):
    """The lines of a query, the rows that count them, and average precision by level (a hop, or all hops).

    Each row of the SF table is named after the query or class whose answers it counts, such as `CS14_0001`.
    """

    lines: Sequence[Response]
    rows_by_name: Mapping[str, Sequence[document.Counted]]
    average_precision: Mapping[str, float]


def explain_query(query: LinkedQuery, indexed_run: IndexedRun) -> document.QueryExplanation:
    """Return the explanation of a query: its classes, lines, rows and average precision.

    A query of a query file is explained together with its follow-on queries, a follow-on query alone.
    """
    indexed_query = indexed_run.query(query.base_id)
    content = _content_of_follow_on(query, indexed_run) if query.is_follow_on else _content_of_query(indexed_query)
    line_summaries = [summary_of(line, indexed_run) for line in content.lines]
    return document.QueryExplanation(
        query=query.full_id,
        query_step=explain_query_step(query, indexed_run),
        slots=query.slots,
        entry_points=_explained_entry_points(indexed_query),
        classes=tuple(_classes_in_rows(indexed_query, list(content.rows_by_name))),
        categories=_count_categories(line_summaries),
        lines=tuple(line_summaries),
        rows=tuple(chain.from_iterable(content.rows_by_name.values())),
        average_precision=content.average_precision,
        stopped_by=_why_scoring_stopped(indexed_query),
    )


def _content_of_query(indexed_query: IndexedQuery) -> _QueryContent:
    """Return the lines and rows of a query of a query file, with the lines and rows of its follow-on queries."""
    average_precision = {ranking.level: ranking.score for ranking in indexed_query.result.rankings}
    return _QueryContent(indexed_query.lines, indexed_query.explained_rows, average_precision)


def _content_of_follow_on(query: LinkedQuery, indexed_run: IndexedRun) -> _QueryContent:
    """Return the lines and rows of a follow-on query, which has no rankings of its own."""
    indexed_query = indexed_run.query(query.base_id)
    own_row_name = _row_of_follow_on(query, indexed_run)
    lines = [line for line in indexed_query.lines if line.query.full_id == query.full_id]
    rows_by_name = {name: rows for name, rows in indexed_query.explained_rows.items() if name == own_row_name}
    return _QueryContent(lines, rows_by_name, average_precision={})


def _explained_entry_points(indexed_query: IndexedQuery) -> tuple[document.ExplainedEntryPoint, ...]:
    """Return the entry points of a query: the mentions of its entity, by document and offsets."""
    entry_points = []
    for entry_point in indexed_query.query.entry_points:
        entry_points.append(convert(entry_point, document.ExplainedEntryPoint, from_attributes=True))
    return tuple(entry_points)


def _count_categories(summaries: Iterable[document.LineSummary]) -> Counter[str]:
    """Return the number of lines in each category; lines without a category are left out."""
    return Counter([summary.category for summary in summaries if summary.category is not None])


def _why_scoring_stopped(indexed_query: IndexedQuery) -> str | None:
    """Return the error that stopped the counting or the ranking of a query; None if there was none."""
    error = indexed_query.result.counting_error or indexed_query.result.ranking_error
    return None if error is None else str(error)


def _row_of_follow_on(query: LinkedQuery, indexed_run: IndexedRun) -> str:
    """Return the name of the row that counts the answers to a follow-on query.

    The row is named after the class that the query asks about, such as `CS14_0001:2`, and counts the classes below it.
    Return an empty string if no accepted answer leads to the query.
    """
    with suppress(InputError):
        return indexed_run.run.links.class_of_query(query)
    return ""


def _classes_in_rows(indexed_query: IndexedQuery, row_names: Sequence[str]) -> list[document.ClassSummary]:
    """Return summaries of the classes that have accepted answers and are counted in the given rows of a query."""
    if indexed_query.placement is None:
        return []
    summaries = []
    # A class is counted in the row named after its parent node in the tree.
    for class_name, row in indexed_query.placement.tree.parent_by_class.items():
        if row in row_names and class_name in indexed_query.accepted_by_class:
            summaries.append(_summary_of_class(class_name, row, indexed_query))
    return summaries


def _summary_of_class(name: str, row: str, indexed_query: IndexedQuery) -> document.ClassSummary:
    """Return the summary of a class that a row of a query counts: its status, a value, the first line that found it."""
    right_lines = indexed_query.right_lines(name)
    return document.ClassSummary(
        name=name,
        row=row,
        status=_verdict_on_class(name, indexed_query).status,
        value=indexed_query.accepted_by_class[name][0].value,
        found_by=place_of_line(right_lines[0]) if right_lines else None,
    )


# ---- The run


def explain_run(indexed_run: IndexedRun) -> document.RunOverview:
    """Return the overview of a run: how many lines have each status and side, and the three costliest mistakes.

    The status of a line says how far it got in scoring (`counted`, `skipped` ...). Its category is the name that a
    policy gives it (`CORRECT`, `DUPLICATE` ...), and its side says what it counts as (right, wrong ...).
    """
    lines = list(indexed_run.lines())
    responses = [line for line in lines if isinstance(line, Response)]
    summaries = [summary_of(line, indexed_run) for line in lines]
    counted_lines = [summary for summary in summaries if summary.status == "counted"]
    problems = indexed_run.run.problems
    return document.RunOverview(
        line_count_by_status=Counter([summary.status for summary in summaries]),
        assessed_count=sum([_has_assessment(line, indexed_run) for line in responses]),
        discarded_count=sum([line.index in indexed_run.run.discard_by_index for line in responses]),
        sides=_count_sides(counted_lines),
        categories=_count_categories(counted_lines),
        errors=problems.count(Severity.ERROR),
        warnings=problems.count(Severity.WARNING),
        costs=_largest_costs(indexed_run),
        lines=tuple(summaries),
    )


def _has_assessment(line: Response, indexed_run: IndexedRun) -> bool:
    """Return whether a response was matched to an assessment of the pool."""
    return line.index in indexed_run.query(line.query.base_id).assessment_by_index


def _count_sides(summaries: Sequence[document.LineSummary]) -> dict[str, int]:
    """Return the number of lines on each side that occurs: right, wrong and ignored first, then others by name."""
    count_by_side = Counter([summary.side for summary in summaries])
    sides = list(SIDE_TEXTS.values())
    sides += [side for side in sorted(count_by_side) if side not in sides]
    return {side: count_by_side[side] for side in sides if count_by_side[side]}


def _largest_costs(indexed_run: IndexedRun) -> tuple[document.Cost, ...]:
    """Return the mistakes whose correction would gain most. The result is empty if the run has no scores."""
    if indexed_run.measure is None:
        return ()
    effects = indexed_run.effects.for_first_measure()  # costs are measured by the main measure only
    mistakes = cost_list(effects, find_faults(indexed_run.scored, effects.editor), _MOST_COSTS)
    return tuple([convert(mistake, document.Cost, from_attributes=True) for mistake in mistakes])
