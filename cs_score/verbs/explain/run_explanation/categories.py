"""Explain the category and the label of a line, which are steps 5 and 6 of its explanation. Each line has a category,
such as CORRECT, INEXACT or DUPLICATE. The sides of a policy define which categories count as right, wrong or ignored.

A nominal line describes the entity (`her son`) without naming it (`Bob`). The parents of a line give the answer that
its query is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from cs_score.analysis.coldstart.changes import At
from cs_score.analysis.coldstart.faults import category_of
from cs_score.analysis.coldstart.run_files import AnyLine
from cs_score.coldstart import judging
from cs_score.coldstart.judging import INCORRECT_PARENT, REDUNDANT, UNASSESSED, Labels
from cs_score.coldstart.lines import CORRECT, Assessment, Response, SkippedLine, sort_by_confidence
from cs_score.coldstart.options import DUPLICATE, IGNORE, RIGHT, SIDES, WRONG, Edition, Policy
from cs_score.coldstart.tab_files import UnreadLine
from cs_score.verbs.explain.run_explanation import document
from cs_score.verbs.explain.run_explanation.indexed_run import IndexedQuery, IndexedRun, Placement, Reason

SIDE_TEXTS: Final = {RIGHT: "right", WRONG: "wrong", IGNORE: "ignored"}
"""The sides of a policy, as explanations call what a line counts as."""


def place_of_line(line: AnyLine | Assessment) -> At:
    """Return the place of a line: its file, and its number there."""
    return At(line.file, line.number)


# ---- A line in short


def summary_of(line: AnyLine, indexed_run: IndexedRun) -> document.LineSummary:
    """Return the summary of a line: its place, query and value, its category, and what it counts as."""
    if isinstance(line, UnreadLine):
        return document.LineSummary(file=line.file, line=line.number, status="unread", side="not read")
    if isinstance(line, SkippedLine):
        return document.LineSummary(
            file=line.file, line=line.number, status="skipped", query=line.query.full_id, side="skipped"
        )
    return _summary_of_response(line, indexed_run)


def _summary_of_response(line: Response, indexed_run: IndexedRun) -> document.LineSummary:
    """Return the summary of a response: its place, query and value, its category, and what it counts as."""
    indexed_query = indexed_run.query(line.query.base_id)
    row = indexed_query.row_by_index.get(line.index)  # None for a line outside all rows: it was not counted
    # The file may contain lines of other runs, which have no labels here.
    labels: Labels = indexed_query.labels.get(line.index, ()) if indexed_run.is_of_run(line) else ()
    return document.LineSummary(
        file=line.file,
        line=line.number,
        status="outside" if row is None else "counted",
        query=line.query.full_id,
        value=line.value,
        category=category_of(labels, indexed_run.policy) if labels else None,
        side=_side_in_words(labels),
        labels=labels,
        row=row,
        node=line.node,
    )


def _side_in_words(labels: Labels) -> str:
    """Return the sides of a line in words: `right`, `wrong and ignored`, `neither right nor wrong`, `not scored` ...

    IGNORE is the name of both a side and a judgment. Lines with this judgment always count on the side of the same
    name.
    """
    sides = [text for side, text in SIDE_TEXTS.items() if side in labels]
    if sides:
        return " and ".join(sides)
    if not labels:
        return "not scored"
    return "duplicate" if REDUNDANT in labels else "neither right nor wrong"


# ---- Step 5: the category


class _PlacedLine(NamedTuple):
    """A line that was counted, with its labels and its assessment.

    `placement` holds the equivalence class of each line of the query.
    """

    line: Response
    labels: Labels
    assessment: Assessment | None
    indexed_query: IndexedQuery
    placement: Placement

    @property
    def class_name(self) -> str:
        """The class that the line is placed in: `CS17_ENG_0001:1`."""
        return self.placement.class_by_index[self.line.index]

    @property
    def category_name(self) -> str:
        """The category that the line has from its assessment, whatever other lines are: `CORRECT`, `UNASSESSED` ..."""
        return judging.pre_policy_category(self.assessment)


def explain_category(line: Response, indexed_query: IndexedQuery) -> document.Category | None:
    """Return step 5 of a line: its category and the reason for it, or None if its query was not counted.

    Three rules take precedence over the assessment: the rules on wrong parents, on nodes without a name, and on
    duplicates. The first rule that applies determines the category.
    """
    labels = indexed_query.labels.get(line.index, ())  # every counted line has labels
    if indexed_query.placement is None or not labels:
        return None
    assessment = indexed_query.assessment_by_index.get(line.index)
    placed_line = _PlacedLine(line, labels, assessment, indexed_query, indexed_query.placement)
    for explain_rule in (_category_by_parent, _category_by_mention, _category_of_duplicate):
        category = explain_rule(placed_line)
        if category is not None:
            return category
    return _category_by_assessment(placed_line)


def _category_by_parent(placed_line: _PlacedLine) -> document.Category | None:
    """Return the category of a line below a wrong parent answer (rule paths), or None for any other line."""
    if INCORRECT_PARENT not in placed_line.labels:
        return None
    reason, places = _why_incorrect_parent(placed_line)
    return document.Category(
        rule="paths", name=INCORRECT_PARENT, class_name=placed_line.class_name, reason=reason, deciding_lines=places
    )


def _category_by_mention(placed_line: _PlacedLine) -> document.Category | None:
    """Return the category of a line whose node describes the entity without naming it, or None for any other line.

    This is the rule nominal-mentions. Such lines do not count, even though their category counts as right.
    """
    if not _lost_credit_as_description(placed_line):
        return None
    reason, places = _why_node_does_not_name(placed_line)
    return document.Category(
        rule="nominal-mentions",
        name=placed_line.category_name,
        class_name=placed_line.class_name,
        reason=reason,
        deciding_lines=places,
    )


def _category_of_duplicate(placed_line: _PlacedLine) -> document.Category | None:
    """Return the category of a right line that repeats another right line, or None for any other line.

    The other line counts instead. It is found in `repeated_response_by_index` of the placement.
    """
    kept_line = placed_line.placement.repeated_response_by_index.get(placed_line.line.index)
    if kept_line is None or REDUNDANT not in placed_line.labels:
        return None
    return document.Category(
        rule="policies",
        name=DUPLICATE,
        class_name=placed_line.class_name,
        reason=_why_duplicate(placed_line, kept_line),
        deciding_lines=(place_of_line(kept_line),),
    )


def _category_by_assessment(placed_line: _PlacedLine) -> document.Category:
    """Return the category of a line by its assessment; a line without an assessment is UNASSESSED."""
    reason = "so the assessor judged it"
    if placed_line.assessment is None:
        reason = _why_unassessed(placed_line)
    return document.Category(
        rule="policies", name=placed_line.category_name, class_name=placed_line.class_name, reason=reason
    )


def _lost_credit_as_description(placed_line: _PlacedLine) -> bool:
    """Return whether a line does not count as right only because its node describes the entity without naming it.

    The rule is nominal-mentions.
    """
    # The rule has recorded each line to which it applied, together with the lines that were searched for a name.
    if placed_line.line.index not in placed_line.placement.nominal_lines_by_index:
        return False
    has_kept_credit = RIGHT in placed_line.labels or REDUNDANT in placed_line.labels
    if has_kept_credit:
        return False
    return placed_line.category_name in placed_line.indexed_query.indexed_run.policy.right


def _why_unassessed(placed_line: _PlacedLine) -> str:
    """Return why a line has no assessment. If it belongs to a class of the pool nevertheless, the reason says why."""
    reason = "no assessment was met"
    accepting = placed_line.line.follow_on.accepting_assessment
    if accepting is not None and accepting.value_class == placed_line.class_name:
        reason += "; value and place are those of an accepted answer, so that it is placed in its class"
    return reason


def _why_incorrect_parent(placed_line: _PlacedLine) -> Reason:
    """Return the reason why the parent of a line is not right, with the places of the lines concerned.

    The query of the line asks about an answer. The parents of the line are the lines of the run that give this answer.
    Classes form a tree, in which the class of a second-hop answer is a child of the class of the first-hop answer. The
    line counts only if the first of its parents in the parent class is right.
    """
    class_by_index = placed_line.placement.class_by_index
    class_above = placed_line.placement.tree.parent_by_class[placed_line.class_name]
    parents = placed_line.indexed_query.lines_by_follow_on.get(placed_line.line.query.short_id, ())
    if not parents:
        return f"no line of the run gives the answer which its query asks about ({class_above})", ()
    parents_in_class_above = [line for line in parents if class_by_index[line.index] == class_above]
    if parents_in_class_above:
        return _why_parent_not_right(parents_in_class_above, placed_line.indexed_query.indexed_run)
    # All parents give the same answer, so it is enough to look at the class of the first one.
    parent_class = class_by_index[parents[0].index]
    reason = f"its parent is placed in {parent_class}, while its own answer belongs below {class_above}"
    return reason, tuple([place_of_line(line) for line in parents])


def _why_parent_not_right(parents: Sequence[Response], indexed_run: IndexedRun) -> Reason:
    """Return the reason why a line does not count as right because of its parents, with the place of the first parent.

    The parents are the lines that give the answer that the query of the line asks about, in load order. Only the first
    parent matters.
    """
    if len(parents) == 1:
        phrase_for_parent = "its parent"
    else:
        phrase_for_parent = "the first line that gives the answer which its query asks about"
    first_parent = parents[0]
    summary = summary_of(first_parent, indexed_run)
    must_be_correct = indexed_run.edition.needs_correct_parent and RIGHT in summary.labels
    why = f"{indexed_run.edition.name} wants one that is {CORRECT}" if must_be_correct else summary.side
    category = summary.category or UNASSESSED
    reason = f"{phrase_for_parent} is {category}, so that the path to it is not right ({why})"
    return reason, (place_of_line(first_parent),)


def _why_node_does_not_name(placed_line: _PlacedLine) -> Reason:
    """Return why a line or its node does not name the entity, with the deciding lines.

    The reason is computed once for each node.
    """
    reasons = placed_line.indexed_query.naming_reasons
    node_lines = placed_line.placement.nominal_lines_by_index[placed_line.line.index]
    key = id(node_lines)  # the lines of a node share one list
    if key not in reasons:
        reasons[key] = _find_why_node_does_not_name(placed_line, node_lines)
    return reasons[key]


def _find_why_node_does_not_name(placed_line: _PlacedLine, node_lines: Sequence[Response]) -> Reason:
    """Return why a line or its node only describes the entity instead of naming it, with the deciding lines.

    The decision depends on all `node_lines` together, except in editions that decide on each line separately.
    """
    edition = placed_line.indexed_query.indexed_run.edition
    if edition.ignores_each_nominal:
        assessment = placed_line.placement.assessment_by_index[placed_line.line.index]
        return _why_line_is_no_name(assessment, edition), ()
    return _why_lines_do_not_name_node(placed_line, node_lines)


def _why_lines_do_not_name_node(placed_line: _PlacedLine, node_lines: Sequence[Response]) -> Reason:
    """Return the reason why no line that counts for a node names it, with the places of these lines.

    Only the best assessed lines of the node count. If a line that does not count would name the node, the reason
    mentions it.
    """
    placement = placed_line.placement
    line_limit = placed_line.indexed_query.indexed_run.run.limits.justifications_per_node  # None: there is no limit
    assessed_lines = _best_assessed_first(node_lines, placement)
    deciding_lines = assessed_lines[:line_limit]
    outranked_lines = assessed_lines[len(deciding_lines) :]
    mentions = _mentions_in_words(deciding_lines, placement)
    node = _node_in_words(placed_line.line)
    reason = f"right, but ignored: {node} is never named by the lines that are looked at ({mentions})"
    naming_lines = [line for line in outranked_lines if placement.is_naming(line)]
    if naming_lines:
        number = naming_lines[0].number
        reason += f"; line {number} would name it, but is outranked: "
        reason += f"only the {line_limit} best assessed lines count"
    lines_of_reason = [*deciding_lines, *naming_lines[:1]]
    return reason, tuple([place_of_line(line) for line in lines_of_reason])


def _best_assessed_first(lines: Iterable[Response], placement: Placement) -> list[Response]:
    """Return those lines of a node that have an assessment, the most confident ones first."""
    return sort_by_confidence([line for line in lines if line.index in placement.assessment_by_index])


def _mentions_in_words(lines: Iterable[Response], placement: Placement) -> str:
    """Return the different mention types of assessed lines: `NOM of a NAM class, wrong`."""
    mentions = [_mention_in_words(placement.assessment_by_index[line.index]) for line in lines]
    return ", ".join(dict.fromkeys(mentions))


def _node_in_words(line: Response) -> str:
    """Return the node of a line in words: `node CS17_ENG_0001:E1`; lines without node id count as one node."""
    if line.node is None:
        return "the lines without node, which count as one node,"
    return f"node {line.node}"


def _why_line_is_no_name(assessment: Assessment, edition: Edition) -> str:
    """Return why the line with this assessment does not count as right, in an edition that decides line by line.

    Either the answer is a description (mention type NOM) although its class has a name, or it has no mention type
    although other answers of the row have one.
    """
    if assessment.value_mention is None:
        return "not right: the pool has mention types for other answers of the row, and none for this one"
    mention = _mention_in_words(assessment)
    return f"right, but ignored: {mention}; {edition.name} looks at each line by itself"


def _mention_in_words(assessment: Assessment) -> str:
    """Return the mention types of an answer and of its class: `NOM of a NAM class`; `wrong` if it was not accepted."""
    if assessment.value_mention is None:
        return "the pool has no mention types"
    if not assessment.is_accepted:
        return "wrong"
    return f"{assessment.value_mention} of a {assessment.class_mention} class"


def _why_duplicate(placed_line: _PlacedLine, kept_line: Response) -> str:
    """Return why a right line does not count: another right line, `kept_line`, counts instead of it.

    Either both lines are in the same class, or their slot takes one value and they are in different classes.
    """
    kept_class = placed_line.placement.class_by_index[kept_line.index]
    if kept_class != placed_line.class_name:
        why_kept = _why_line_of_other_class_kept(placed_line.line, kept_line)
        return f"right, but its slot takes one value, and the response of class {kept_class} stays: {why_kept}"
    why_kept = _why_line_of_same_class_kept(placed_line, kept_line)
    return f"right, but a response of the same class {kept_class} stays: {why_kept}"


def _why_line_of_other_class_kept(line: Response, kept_line: Response) -> str:
    """Return why `kept_line` was preferred to `line`, which is in another class, for a slot that takes one value.

    The line with the higher confidence is kept. If the confidences are equal, the line that comes first in the file is
    kept.
    """
    if kept_line.confidence > line.confidence:
        return f"its confidence is higher, {kept_line.confidence:g} > {line.confidence:g}"
    return "it comes first of those that are best in their class"


def _why_line_of_same_class_kept(placed_line: _PlacedLine, kept_line: Response) -> str:
    """Return why `kept_line` was preferred to a line of the same class: it is a name, or it comes first.

    Lines are ordered by the position of their categories in the switch `-right`, then by their order in the files.
    """
    is_nominal = placed_line.placement.is_nominal
    if is_nominal(placed_line.line) and not is_nominal(kept_line):
        return "it is a name, and this a description"
    if kept_line.number < placed_line.line.number:
        return "it comes first in the file"
    return "it comes first in the order of -right and of the files"


# ---- Step 6: the label


def explain_label(
    line: document.LineSummary, category: document.Category, indexed_run: IndexedRun
) -> document.LabelStep:
    """Return step 6 of a line: what the line counts as, and the switch or rule that determines this."""
    if category.rule == "nominal-mentions":
        rule = category.rule
        reason = _why_ignored_mention(line, indexed_run)
    else:
        rule = "policies"
        reason = _why_on_side(category.name, indexed_run.policy)
    return document.LabelStep(rule=rule, side=line.side, labels=line.labels, reason=reason)


def _why_on_side(category_name: str, policy: Policy) -> str:
    """Return why lines of a category count as right, wrong or ignored: `-right lists CORRECT`.

    The switches `-right`, `-wrong` and `-ignore` of the scorer list categories.
    """
    listing_sides = [side for side in SIDES if category_name in policy.categories_on(side)]
    if category_name == DUPLICATE and policy.duplicate_side is not None:
        # If several switches list DUPLICATE, the last one decides: this is `policy.duplicate_side`.
        reason = f"-{policy.duplicate_side.lower()} lists DUPLICATE"
        has_several_sides = len(listing_sides) > 1
        return f"{reason}, and comes last of those that do" if has_several_sides else reason
    if category_name == IGNORE:
        return "the assessor's judgment IGNORE always counts as ignored"
    if not listing_sides:
        return f"no switch lists {category_name}"
    return " and ".join([f"-{side.lower()} lists {category_name}" for side in listing_sides])


def _why_ignored_mention(line: document.LineSummary, indexed_run: IndexedRun) -> str:
    """Return the reason why the rule nominal-mentions keeps a line from counting as right.

    Early editions look at each answer separately. They ignore an answer that only describes an entity if another answer
    of the same class names it, and they do not count an answer without a mention type as right. Later editions ignore
    all lines of a node unless one of them names the entity. They record the label IGNORE by line number only, so a line
    does not receive it if another file has an ignored line with the same number.
    """
    if indexed_run.edition.ignores_each_nominal:
        if IGNORE not in line.labels:
            return "an answer without mention type is not right beside those that have one, whatever the switches say"
        return "descriptions of what has a name are ignored, whatever the switches say"
    reason = "lines of nodes that are never named are ignored, whatever the switches say"
    if IGNORE not in line.labels:
        reason += "; but not where an ignored line of another file has the same number"
    return reason
