"""Explain classes, nodes, queries and a run as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from cs_score.analysis.coldstart.faults import find_faults
from cs_score.analysis.coldstart.mistakes import Mistake, cost_list
from cs_score.base.errors import InputError
from cs_score.base.records import convert
from cs_score.coldstart import judging
from cs_score.coldstart.lines import CORRECT, LinkedQuery, Response
from cs_score.problems.codes import Severity
from cs_score.verbs.explain.run_explanation import document
from cs_score.verbs.explain.run_explanation.case import Case, QueryCase
from cs_score.verbs.explain.run_explanation.categories import SIDE_TEXTS, at, summary_of
from cs_score.verbs.explain.run_explanation.line_steps import describe_assessment, explain_asking

_COSTS: Final = 3
"""The number of mistakes that the overview of a run names."""


# ---- Classes


class _Status(NamedTuple):
    """Whether a class is `found`, `missed` or `not counted`, and why."""

    status: str
    reason: str


def explain_class(name: str, base_id: str, case: Case, *, with_effect: bool = True) -> document.ClassExplanation:
    """Return the explanation of a class: whether it was found and why, with its assessments and lines.

    `base_id` is the short id of its query. With `with_effect` the effect of finding a missed class is computed.
    """
    query_case = case.query(base_id)
    assessments = query_case.accepted_by_class.get(name, ())
    status = _status_of(name, query_case)
    query = None
    effect = None
    if assessments:
        query = assessments[0].query
        if with_effect and status.status == "missed":
            correct_answers = [answer for answer in assessments if answer.judgment == CORRECT]
            best_answer = correct_answers[0] if correct_answers else assessments[0]
            effect = case.effect_with(best_answer)
    row = name.rpartition(":")[0]
    return document.ClassExplanation(
        name=name,
        query=None if query is None else query.full_id,
        slot=None if query is None else query.slots[0],
        hop=name.count(":") - 1,
        row=row,
        parent=row if ":" in row else None,
        status=status.status,
        reason=status.reason,
        assessments=tuple([describe_assessment(assessment, case) for assessment in assessments]),
        lines=tuple([summary_of(line, case) for line in query_case.lines_in_class(name)]),
        counted=tuple([at(line) for line in query_case.right_lines(name)]),
        effect=effect,
    )


def _status_of(name: str, query_case: QueryCase) -> _Status:
    """Return whether a class of a query was found, missed or not counted, with the reason."""
    if query_case.placement is None:
        return _Status("not counted", "its query was not scored")
    tree = query_case.placement.tree
    if judging.is_wrong_bin(name, tree.root):
        return _Status("not counted", "it holds what belongs to no class, and is no ground truth (rule ground-truth)")
    row = tree.parent_by_class.get(name)
    if row is None or row not in query_case.right_lines_by_row:
        return _Status("not counted", "no row of the tables has it")
    if query_case.right_lines(name):
        return _Status("found", "a right line counts for it")
    if tree.is_single_by_row.get(row, False):
        # One right class is enough for the slot: the others are not counted.
        found_classes = query_case.right_lines_by_row[row]
        for class_name in [*tree.parent_by_class, *found_classes]:
            if class_name in found_classes:
                reason = f"its slot takes one value, and class {class_name} was found (rule counts)"
                return _Status("not counted", reason)
        return _Status("missed", "its slot takes one value, and none was found: any class would do (rule counts)")
    if query_case.lines_in_class(name):
        return _Status("missed", "none of the lines placed in it counts as right")
    return _Status("missed", "no line of the run gives one of its answers")


# ---- Nodes


def explain_node(name: str, case: Case) -> document.NodeExplanation:
    """Return the explanation of a node, given by its FQ node id: its lines, classes, ranks and effect."""
    lines_of_all_runs = case.run.links.lines_by_node[name]
    query = lines_of_all_runs[0].query
    query_case = case.query(query.base_id)
    lines = [line for line in lines_of_all_runs if case.is_of_run(line)]
    classes: dict[str, None] = {}
    for line in lines:
        assessment = query_case.assessment_by_index.get(line.index)
        if assessment is not None and assessment.is_accepted:
            classes[assessment.value_class] = None
    ranked_node, not_ranked = query_case.ranked_node(name)
    return document.NodeExplanation(
        name=name,
        query=query.full_id,
        lines=tuple([summary_of(line, case) for line in lines]),
        classes=tuple(classes),
        ranked=ranked_node,
        not_ranked=not_ranked,
        effect=case.effect_without(lines),
    )


# ---- Queries


def explain_query(query: LinkedQuery, case: Case) -> document.QueryExplanation:
    """Return the explanation of a query: its classes, lines, rows and average precision.

    A query of a query file is explained together with its follow-on queries, a follow-on query alone.
    """
    query_case = case.query(query.base_id)
    result = query_case.result
    lines: Sequence[Response] = query_case.lines
    rows = query_case.counted_rows
    average_precision = {ranking.level: ranking.score for ranking in result.rankings}
    if query.level:
        lines = [line for line in lines if line.query.full_id == query.full_id]
        own_row = _row_of_follow_on(query, case)
        rows = {name: counted_rows for name, counted_rows in rows.items() if name == own_row}
        average_precision = {}
    summaries = [summary_of(line, case) for line in lines]
    all_rows: list[document.Counted] = []
    for counted_rows in rows.values():
        all_rows += counted_rows
    entry_points = []
    for entry_point in query_case.query.entry_points:
        entry_points.append(convert(entry_point, document.ExplainedEntryPoint, from_attributes=True))
    stopped_by = result.counting_error or result.ranking_error
    return document.QueryExplanation(
        query=query.full_id,
        asked=explain_asking(query, case),
        slots=query.slots,
        entry_points=tuple(entry_points),
        classes=tuple(_classes_in_rows(query_case, list(rows))),
        categories=Counter([summary.category for summary in summaries if summary.category is not None]),
        lines=tuple(summaries),
        rows=tuple(all_rows),
        average_precision=average_precision,
        stopped_by=None if stopped_by is None else str(stopped_by),
    )


def _row_of_follow_on(query: LinkedQuery, case: Case) -> str:
    """Return the row that counts the answers to a follow-on query; an empty text if no accepted answer leads to it."""
    with suppress(InputError):
        return case.run.links.class_of_query(query)
    return ""


def _classes_in_rows(query_case: QueryCase, row_names: Sequence[str]) -> list[document.ClassSummary]:
    """Return summaries of the classes with accepted answers that are counted in some rows of a query."""
    if query_case.placement is None:
        return []
    summaries = []
    for class_name, row in query_case.placement.tree.parent_by_class.items():
        if row not in row_names or class_name not in query_case.accepted_by_class:
            continue
        right_lines = query_case.right_lines(class_name)
        summaries.append(
            document.ClassSummary(
                name=class_name,
                row=row,
                status=_status_of(class_name, query_case).status,
                value=query_case.accepted_by_class[class_name][0].value,
                found_by=at(right_lines[0]) if right_lines else None,
            )
        )
    return summaries


# ---- The run


def explain_run(case: Case) -> document.RunOverview:
    """Return the overview of a run: how many lines have each status and side, and the three costliest mistakes."""
    lines = list(case.lines())
    summaries = [summary_of(line, case) for line in lines]
    counted_lines = [summary for summary in summaries if summary.status == "counted"]
    matched_count = 0
    discarded_count = 0
    for line in lines:
        if not isinstance(line, Response):
            continue
        if line.index in case.query(line.query.base_id).assessment_by_index:
            matched_count += 1
        if line.index in case.run.discard_by_index:
            discarded_count += 1
    problems = case.run.problems
    return document.RunOverview(
        read=Counter([summary.status for summary in summaries]),
        met=matched_count,
        discarded=discarded_count,
        sides=_count_sides(counted_lines),
        categories=Counter([summary.category for summary in counted_lines if summary.category is not None]),
        errors=problems.count(Severity.ERROR),
        warnings=problems.count(Severity.WARNING),
        costs=tuple([convert(mistake, document.Cost, from_attributes=True) for mistake in _largest_costs(case)]),
        lines=tuple(summaries),
    )


def _count_sides(summaries: Sequence[document.LineSummary]) -> dict[str, int]:
    """Return the number of lines on each side that occurs: right, wrong and ignored first, then others by name."""
    count_by_side = Counter([summary.side for summary in summaries])
    sides = list(SIDE_TEXTS.values())
    sides += [side for side in sorted(count_by_side) if side not in sides]
    return {side: count_by_side[side] for side in sides if count_by_side[side]}


def _largest_costs(case: Case) -> Sequence[Mistake]:
    """Return the mistakes whose correction gains most; none if the run has no scores."""
    if case.measure is None:
        return ()
    effects = case.effects.for_first_measure()
    return cost_list(effects, find_faults(case.scored, effects.editor), _COSTS)
