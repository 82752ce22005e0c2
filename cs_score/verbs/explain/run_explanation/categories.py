"""Explain the category of a line and what it counts as, which are steps 5 and 6 of its explanation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cs_score.analysis.coldstart.changes import At
from cs_score.analysis.coldstart.faults import category_of
from cs_score.analysis.coldstart.run_files import AnyLine
from cs_score.coldstart import judging
from cs_score.coldstart.judging import INCORRECT_PARENT, REDUNDANT, UNASSESSED, Labels
from cs_score.coldstart.lines import CORRECT, Assessment, Response, SkippedLine, sort_by_confidence
from cs_score.coldstart.options import DUPLICATE, IGNORE, RIGHT, SIDES, WRONG, Policy
from cs_score.coldstart.tab_files import UnreadLine
from cs_score.verbs.explain.run_explanation import document
from cs_score.verbs.explain.run_explanation.case import Case, Placement, QueryCase, Reason

SIDE_TEXTS: Final = {RIGHT: "right", WRONG: "wrong", IGNORE: "ignored"}
"""The sides of a policy, as explanations call what a line counts as."""


def at(line: AnyLine | Assessment) -> At:
    """Return the place of a line: its file, and its number there."""
    return At(line.file, line.number)


# ---- A line in short


def summary_of(line: AnyLine, case: Case) -> document.LineSummary:
    """Return the summary of a line: its place, query and value, its category, and what it counts as."""
    if isinstance(line, UnreadLine):
        return document.LineSummary(file=line.file, line=line.number, status="unread", side="not read")
    if isinstance(line, SkippedLine):
        return document.LineSummary(
            file=line.file, line=line.number, status="skipped", query=line.query.full_id, side="skipped"
        )
    query_case = case.query(line.query.base_id)
    row = query_case.row_by_index.get(line.index)
    labels: Labels = ()
    if case.is_of_run(line):
        labels = query_case.labels.get(line.index, ())
    return document.LineSummary(
        file=line.file,
        line=line.number,
        status="outside" if row is None else "counted",
        query=line.query.full_id,
        value=line.value,
        category=category_of(labels, case.policy) if labels else None,
        side=_side_in_words(labels),
        labels=labels,
        row=row,
        node=line.node,
    )


def _side_in_words(labels: Labels) -> str:
    """Return the sides of a line in words: `right`, `wrong and ignored`, `neither right nor wrong`, `not scored` ...

    A judgment is called IGNORE as well as a side; lines with this judgment have both labels.
    """
    sides = [text for side, text in SIDE_TEXTS.items() if side in labels]
    if sides:
        return " and ".join(sides)
    if not labels:
        return "not scored"
    return "duplicate" if REDUNDANT in labels else "neither right nor wrong"


# ---- Step 5: the category


def explain_category(line: Response, query_case: QueryCase) -> document.Category | None:
    """Return step 5 of a line: its category with the reason for it; None if its query was not counted."""
    placement = query_case.placement
    labels = query_case.labels.get(line.index, ())
    if placement is None or not labels:
        return None
    assessment = query_case.assessment_by_index.get(line.index)
    class_name = placement.class_by_index[line.index]
    # Three rules come before the assessment: on paths, on nodes without a name, and on duplicates.
    if INCORRECT_PARENT in labels:
        reason, places = _why_incorrect_parent(line, query_case, placement)
        return document.Category(
            rule="paths", name=INCORRECT_PARENT, stands_in=class_name, reason=reason, rests_on=places
        )
    name = judging.pre_policy_category(assessment)
    if _is_unnamed(line, name, labels, query_case, placement):
        reason, places = _cached_why_not_named(line, query_case, placement)
        return document.Category(
            rule="nominal-mentions", name=name, stands_in=class_name, reason=reason, rests_on=places
        )
    kept_line = placement.repeated_response_by_index.get(line.index)
    if REDUNDANT in labels and kept_line is not None:
        reason = _why_duplicate(line, kept_line, placement)
        return document.Category(
            rule="policies", name=DUPLICATE, stands_in=class_name, reason=reason, rests_on=(at(kept_line),)
        )
    reason = "so the assessor judged it" if assessment is not None else _why_unassessed(line, placement)
    return document.Category(rule="policies", name=name, stands_in=class_name, reason=reason)


def _is_unnamed(line: Response, category: str, labels: Labels, query_case: QueryCase, placement: Placement) -> bool:
    """Return whether a line of a right category does not count, since its node has no name (rule nominal-mentions)."""
    if line.index not in placement.nominal_lines_by_index:
        return False
    if RIGHT in labels or REDUNDANT in labels:
        return False
    return category in query_case.case.policy.right


def _why_unassessed(line: Response, placement: Placement) -> str:
    """Return the reason of a line without assessment, and why it is in a class of the pool nevertheless, if it is."""
    reason = "no assessment was met"
    accepting = line.follow_on.accepting_assessment
    if accepting is not None and accepting.value_class == placement.class_by_index[line.index]:
        reason += "; value and place are those of an accepted answer, so that it is placed in its class"
    return reason


def _why_incorrect_parent(line: Response, query_case: QueryCase, placement: Placement) -> Reason:
    """Return why the path to a line is not right, and the lines that give the answer which its query asks about."""
    class_above = placement.tree.parent_by_class[placement.class_by_index[line.index]]
    lines_giving = query_case.lines_by_target.get(line.query.short_id, ())
    if not lines_giving:
        return f"no line of the run gives the answer which its query asks about ({class_above})", ()
    parents = [giving for giving in lines_giving if placement.class_by_index[giving.index] == class_above]
    if not parents:
        parent_class = placement.class_by_index[lines_giving[0].index]
        reason = f"its parent is placed in {parent_class}, while its own answer belongs below {class_above}"
        return reason, tuple([at(giving) for giving in lines_giving])
    # Of several parents, the first one decides.
    first = "its parent"
    if len(parents) > 1:
        first = "the first line that gives the answer which its query asks about"
    case = query_case.case
    parent_summary = summary_of(parents[0], case)
    category = parent_summary.category or UNASSESSED
    why = parent_summary.side
    if case.edition.needs_correct_parent and RIGHT in parent_summary.labels:
        why = f"{case.edition.name} wants one that is {CORRECT}"
    return f"{first} is {category}, so that the path to it is not right ({why})", (at(parents[0]),)


def _cached_why_not_named(line: Response, query_case: QueryCase, placement: Placement) -> Reason:
    """Return why a line or its node is not named, with the deciding lines; it is computed once for each node."""
    node_lines = placement.nominal_lines_by_index[line.index]
    key = id(node_lines)  # the lines of a node share one list
    if key not in query_case.not_named_reasons:
        query_case.not_named_reasons[key] = _why_not_named(line, node_lines, placement, query_case.case)
    return query_case.not_named_reasons[key]


def _why_not_named(line: Response, node_lines: Sequence[Response], placement: Placement, case: Case) -> Reason:
    """Return why a line or its node is not named, with the lines that decide on it.

    `node_lines` are the lines of the node. Only its best assessed lines decide; if a worse one would name the node, it
    is added to the reason. Some editions decide on each line separately.
    """
    assessment_by_index = placement.assessment_by_index
    if case.edition.ignores_each_nominal:
        return _why_line_not_named(assessment_by_index[line.index], case), ()
    # The lines that are looked at, and the mention types that they have
    assessed_lines = sort_by_confidence(
        [node_line for node_line in node_lines if node_line.index in assessment_by_index]
    )
    most = case.run.limits.justifications_per_node
    deciding_lines = assessed_lines[:most]
    mentions = dict.fromkeys([_mention_in_words(assessment_by_index[decider.index]) for decider in deciding_lines])
    node = "the lines without node, which count as one node,"
    if line.node is not None:
        node = f"node {line.node}"
    reason = f"right, but ignored: {node} is never named by the lines that are looked at ({', '.join(mentions)})"
    places = [at(decider) for decider in deciding_lines]
    # The first line beyond the limit that would name the node, if there is one
    outranked_lines = assessed_lines[len(deciding_lines) :]
    for outranked in outranked_lines:
        if placement.is_naming(outranked):
            number = outranked.number
            reason += f"; line {number} would name it, but is outranked: only the {most} best assessed lines count"
            places.append(at(outranked))
            break
    return reason, tuple(places)


def _why_line_not_named(assessment: Assessment, case: Case) -> str:
    """Return why a line with this assessment is not named, in an edition that decides on each line separately."""
    if assessment.value_mention is None:
        return "not right: the pool has mention types for other answers of the row, and none for this one"
    mention = _mention_in_words(assessment)
    return f"right, but ignored: {mention}; {case.edition.name} looks at each line by itself"


def _mention_in_words(assessment: Assessment) -> str:
    """Return the mention types of an answer and of its class: `NOM of a NAM class`; `wrong` if it was not accepted."""
    if assessment.value_mention is None:
        return "the pool has no mention types"
    if not assessment.is_accepted:
        return "wrong"
    return f"{assessment.value_mention} of a {assessment.class_mention} class"


def _why_duplicate(line: Response, kept_line: Response, placement: Placement) -> str:
    """Return why a right line is the duplicate of another right line, which is kept."""
    own_class = placement.class_by_index[line.index]
    kept_class = placement.class_by_index[kept_line.index]
    if own_class != kept_class:
        order = "it comes first of those that are best in their class"
        if kept_line.confidence > line.confidence:
            order = f"its confidence is higher, {kept_line.confidence:g} > {line.confidence:g}"
        return f"right, but its slot takes one value, and the response of class {kept_class} stays: {order}"
    if placement.is_nominal(line) and not placement.is_nominal(kept_line):
        order = "it is a name, and this a description"
    elif kept_line.number < line.number:
        order = "it comes first in the file"
    else:
        order = "it comes first in the order of -right and of the files"
    return f"right, but a response of the same class {own_class} stays: {order}"


# ---- Step 6: the label


def explain_label(line: document.LineSummary, category: document.Category, case: Case) -> document.LabelStep:
    """Return step 6 of a line: what it counts as, and the switch or the rule that decides on it."""
    if category.rule == "nominal-mentions":
        rule = category.rule
        reason = _why_ignored_mention(line, case)
    else:
        rule = "policies"
        reason = _why_on_side(category.name, case.policy)
    return document.LabelStep(rule=rule, side=line.side, labels=line.labels, reason=reason)


def _why_on_side(category_name: str, policy: Policy) -> str:
    """Return why lines of a category count as they do, which depends on the switches: `-right lists CORRECT`."""
    listing_sides = [side for side in SIDES if category_name in policy.categories_on(side)]
    if category_name == DUPLICATE and policy.duplicate_side is not None:
        reason = f"-{policy.duplicate_side.lower()} lists DUPLICATE"
        return f"{reason}, and comes last of those that do" if len(listing_sides) > 1 else reason
    if category_name == IGNORE:
        return "the assessor's judgment IGNORE always counts as ignored"
    if not listing_sides:
        return f"no switch lists {category_name}"
    return " and ".join([f"-{side.lower()} lists {category_name}" for side in listing_sides])


def _why_ignored_mention(line: document.LineSummary, case: Case) -> str:
    """Return why a line to which the rule on nominal mentions applies does not count as right."""
    if case.edition.ignores_each_nominal:
        if IGNORE not in line.labels:
            return "an answer without mention type is not right beside those that have one, whatever the switches say"
        return "descriptions of what has a name are ignored, whatever the switches say"
    reason = "lines of nodes that are never named are ignored, whatever the switches say"
    if IGNORE not in line.labels:  # the rule looks at line numbers only
        reason += "; but not where an ignored line of another file has the same number"
    return reason
