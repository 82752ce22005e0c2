"""Steps 5 and 6: what a line is before the policies, what the rules made of it, and what it counts as."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cs_score.analysis.coldstart.explanation.case import Case, Standing, sides_text
from cs_score.analysis.coldstart.explanation.facts import At, Category, Label
from cs_score.coldstart.judging import INCORRECT_PARENT, REDUNDANT, UNASSESSED, Labels, pre_policy_category
from cs_score.coldstart.lines import Assessment, Response, best_first
from cs_score.coldstart.options import DUPLICATE, IGNORE, RIGHT, SIDES, WRONG, Policy, Side

_SWITCHES: Final = {side: f"-{side.lower()}" for side in SIDES}


def category_of(line: Response, case: Case) -> Category | None:
    """The category of a line and why it has it; None where its query was not counted."""
    standing, unit = case.standing(line.query.base_id), case.unit_of(line)
    if standing is None or unit is None or line.index not in unit.labels:
        return None
    labels, assessment = unit.labels[line.index], unit.matched.get(line.index)
    stands_in = standing.class_of[line.index]
    kept = standing.witness.in_favour_of.get(line.index)
    name = before_policies(labels, assessment)
    if name == INCORRECT_PARENT:
        shared: tuple[object, ...] = (line.query.short_id, standing.tree.above[stands_in])
        reason, lines = case.told.get(shared) or case.told.setdefault(shared, _incorrect_parent(line, standing, case))
        return Category("7.4", name, stands_in, reason, lines)
    if _is_blocked(labels, line, standing, case.policy):
        shared = ("nominal", id(standing.witness.not_named[line.index]))
        reason, lines = case.told.get(shared) or case.told.setdefault(shared, _nominal(line, standing, case))
        return Category("7.7", name, stands_in, reason, lines)
    if REDUNDANT in labels and kept is not None:
        reason, lines = _duplicate(line, kept, standing, case)
        return Category("7.5", DUPLICATE, stands_in, reason, lines)
    if assessment is None:
        return Category("7.5", name, stands_in, _unassessed(line, stands_in), ())
    return Category("7.5", name, stands_in, "so the assessor judged it", ())


def before_policies(labels: Labels, assessment: Assessment | None) -> str:
    """The category before the policies."""
    return INCORRECT_PARENT if INCORRECT_PARENT in labels else pre_policy_category(assessment)


def _is_blocked(labels: Labels, line: Response, standing: Standing, policy: Policy) -> bool:
    """Whether the nominal rule took the credit of a line."""
    if line.index not in standing.witness.not_named or RIGHT in labels or REDUNDANT in labels:
        return False
    assessment = standing.witness.matched.get(line.index)
    return assessment is not None and assessment.judgment in policy.right


def _incorrect_parent(line: Response, standing: Standing, case: Case) -> tuple[str, tuple[At, ...]]:
    above = standing.tree.above[standing.class_of[line.index]]
    parents = [each for each in standing.members.get(above, ()) if each.target == line.query.short_id]
    if parents:
        parent = parents[0]
        judged = case.category_of(parent) or UNASSESSED
        side = sides_text(case.labels_of(parent))
        first = "the first line that gives the answer which its query asks about" if len(parents) > 1 else "its parent"
        return f"{first} is {judged}, so that the path to it is not right ({side})", (_at(parent),)
    elsewhere = [each for each in case.lines_of(line.query.base_id) if each.target == line.query.short_id]
    if elsewhere:
        where = standing.class_of[elsewhere[0].index]
        reason = f"its parent stands in {where}, while its own answer belongs below {above}"
        return reason, tuple(map(_at, elsewhere))
    return f"no line of the run gives the answer which its query asks about ({above})", ()


def _nominal(line: Response, standing: Standing, case: Case) -> tuple[str, tuple[At, ...]]:
    """Why the node of a line is not named: the lines that were looked at, and those that they outrank."""
    most = case.run.limits.most
    matched, labels = standing.witness.matched, standing.witness.labels
    assessed = best_first(each for each in standing.witness.not_named[line.index] if each.index in matched)
    looked_at, others = (assessed, []) if most is None else (assessed[:most], assessed[most:])
    would = [each for each in others if _names(matched[each.index]) and WRONG not in labels[each.index]]
    node = f"node {line.node}" if line.node is not None else "the lines without node, which count as one node,"
    kinds = ", ".join(dict.fromkeys(_mention(matched[each.index]) for each in looked_at))
    reason = f"right, but ignored: {node} is never named by the lines that are looked at ({kinds})"
    if would:
        reason += f"; line {would[0].number} would name it, but is outranked: only the {most} best assessed lines count"
    return reason, tuple(map(_at, (*looked_at, *would[:1])))


def _names(assessment: Assessment) -> bool:
    return assessment.value_mention == "NAM" or assessment.class_mention == "NOM"


def _mention(assessment: Assessment) -> str:
    if assessment.value_mention is None:
        return "the pool has no mention types"
    return f"{assessment.value_mention} of a {assessment.class_mention} class" if assessment.is_accepted else "wrong"


def _duplicate(line: Response, kept: Response, standing: Standing, case: Case) -> tuple[str, tuple[At, ...]]:
    own, others = standing.class_of[line.index], standing.class_of[kept.index]
    if own != others:
        reason = f"right, but its slot takes one value, and the response of class {others} stays"
        return f"{reason}: {_higher(kept, line)}", (_at(kept),)
    if _is_nominal(line, standing) and not _is_nominal(kept, standing):
        order = "it is a name, and this a description"
    else:
        order = "it comes first in the file"
    if kept.number >= line.number and "first" in order:
        order = "it comes first in the order of -right and of the files"
    return f"right, but a response of the same class {own} stays: {order}", (_at(kept),)


def _higher(kept: Response, line: Response) -> str:
    if kept.confidence > line.confidence:
        return f"its confidence is higher, {kept.confidence:g} > {line.confidence:g}"
    return "it comes first of those that are best in their class"


def _is_nominal(line: Response, standing: Standing) -> bool:
    assessment = standing.witness.matched.get(line.index)
    return assessment is not None and assessment.value_mention == "NOM"


def _unassessed(line: Response, stands_in: str) -> str:
    accepting = line.follow_on.accepting
    if accepting is not None and accepting.value_class == stands_in:
        return "no assessment was met; value and place are those of an accepted answer, so that it stands in its class"
    return "no assessment was met"


def label_of(line: Response, category: Category | None, case: Case) -> Label | None:
    """What a line counts as, and the switch that says so; None where it was not scored."""
    labels = case.labels_of(line)
    if category is None or not labels:
        return None
    policy = case.policy
    reasons = [f"{_SWITCHES[side]} lists {category.name}" for side in _sides_of(category.name, policy)]
    if category.rule == "7.7":
        reason = "lines of nodes that are never named are ignored, whatever the switches say"
        if IGNORE not in labels:  # the rule looks at line numbers only
            reason += "; but not where an ignored line of another file has the same number"
    elif category.name == DUPLICATE:
        side = policy.duplicate_side
        several = len(_sides_of(DUPLICATE, policy)) > 1
        reason = "no switch lists DUPLICATE" if side is None else f"{_SWITCHES[side]} lists DUPLICATE"
        reason += ", and comes last of those that do" if several else ""
    elif category.name == IGNORE:
        reason = "the assessor's judgment IGNORE always counts as ignored"
    else:
        reason = " and ".join(reasons) or f"no switch lists {category.name}"
    return Label("7.7" if category.rule == "7.7" else "7.5", sides_text(labels), tuple(labels), reason)


def _sides_of(category: str, policy: Policy) -> Sequence[Side]:
    return [side for side in SIDES if category in policy.items(side)]


def _at(line: Response) -> At:
    return At(line.file, line.number)
