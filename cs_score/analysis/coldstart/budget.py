"""Compute the error budget of a run: the score that it would have if all mistakes of one kind were corrected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.changes import At, Change, Editor
from cs_score.analysis.coldstart.effects import Effects
from cs_score.analysis.coldstart.faults import MISSED, RunFault
from cs_score.analysis.coldstart.scored import Progress, silent
from cs_score.base.records import Record, replace
from cs_score.coldstart.judging import Tally
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.options import DUPLICATE, IGNORE, RIGHT, SIDES, WRONG, Policy, PolicySide


class Kind(NamedTuple):
    """A kind of mistakes, given by their category, and the way in which they are corrected.

    If there is a `side`, the policy is changed: the category is moved from its wrong side to this one. Otherwise wrong
    lines are removed, and answers that find the missed classes are added.
    """

    category: str
    side: PolicySide | None


KINDS: Final[dict[str, Kind]] = {
    "incorrect": Kind("INCORRECT", None),
    "incorrect_parent": Kind("INCORRECT_PARENT", None),
    "inexact": Kind("INEXACT", RIGHT),
    "duplicate": Kind(DUPLICATE, IGNORE),
    "unassessed": Kind("UNASSESSED", None),
    "missed": Kind(MISSED, None),
}
"""The kinds of mistakes by the name that a budget gives them, in its order."""


class BudgetRow(Record, kw_only=True):
    """The mistakes of one kind: how many, and the score if they were corrected, alone and with the kinds before them.

    Scores are None where the scorer would not give them, for the `reason`. `note` says that the policy does not count
    lines of the kind as wrong, so that there is nothing to be gained. `removed`, `added` and `policy` say which files
    and switches the score stands for. Of missed classes `unreachable` counts those that no answer of the pool
    could find, by the reason, and `reachable_recall` is the recall of the table were all others found.
    """

    kind: str
    count: int
    gain: float | None
    score: float | None
    cumulated: float | None
    reason: str | UnsetType = UNSET
    note: str | UnsetType = UNSET
    unreachable: Mapping[str, int] | UnsetType = UNSET
    reachable_recall: float | UnsetType | None = UNSET
    removed: Sequence[At]
    added: Sequence[str]
    policy: Mapping[str, str]


class _ScoreAfter(NamedTuple):
    """The score by the analysed measure after a change; None with the reason if the scorer would not give it."""

    score: float | None
    reason: str | None = None


def budget(
    effects: Effects, policy: Policy, faults: Iterable[RunFault], tallies: Sequence[Tally], progress: Progress = silent
) -> list[BudgetRow]:
    """Return a row for each kind of mistakes, with the score if these and all kinds before them were corrected.

    `faults` are all mistakes of the run as it is; mistakes that only a correction would cause are not counted. A kind
    that the `policy` does not count as wrong has no mistakes and no gain. `tallies` are the rows of the measure's
    table.
    """
    effects = effects.for_first_measure()
    [score_before] = effects.scores.values()
    faults = _in_order_of_correction(faults, effects.editor)
    count_by_category = Counter([fault.category for fault in faults])
    cumulated = _ScoreAfter(score_before)
    kinds_so_far: list[str] = []
    rows = []
    for kind in progress(list(KINDS), "correcting mistakes"):
        kinds_so_far.append(kind)
        category = KINDS[kind].category
        count = count_by_category[category]
        change = correction_of([kind], effects, policy, faults)
        corrected_alone = _ScoreAfter(score_before)
        if count:
            change_so_far = correction_of(kinds_so_far, effects, policy, faults)
            corrected_alone = _score_after(change, effects)
            cumulated = corrected_alone if change_so_far == change else _score_after(change_so_far, effects)
        row = BudgetRow(
            kind=kind,
            count=count,
            gain=_gain(corrected_alone.score, score_before),
            score=corrected_alone.score,
            cumulated=cumulated.score,
            reason=corrected_alone.reason or cumulated.reason or UNSET,
            note=_why_not_wrong(category, policy) or UNSET,
            removed=effects.editor.places_removed_by(change),
            added=change.added_texts,
            policy={side.lower(): text for side, text in (change.policy or policy).texts().items()},
        )
        if category == MISSED:
            row = _with_reach(row, faults, tallies)
        rows.append(row)
    return rows


def _gain(score: float | None, score_before: float | None) -> float | None:
    """Return a score minus the score before the correction; None if one of the two is undefined."""
    if score is None or score_before is None:
        return None
    return score - score_before


def _in_order_of_correction(faults: Iterable[RunFault], editor: Editor) -> list[RunFault]:
    """Return the wrong lines, then the missed classes in load order of the pool; nodes are left out.

    In load order an answer comes after the one that its query asks about, so that both can be added in turn.
    """
    lines = []
    classes = []
    for fault in faults:
        if fault.kind == "line":
            lines.append(fault)
        elif fault.kind == "class":
            classes.append(fault)
    classes.sort(key=lambda fault: (editor.rank_by_file[fault.line.file], fault.line.number))
    return lines + classes


def _with_reach(row: BudgetRow, faults: Iterable[RunFault], tallies: Sequence[Tally]) -> BudgetRow:
    """Return the row of missed classes with the number of classes that no answer of the pool could find, by reason.

    It also gets the recall that the table would have if all other classes were found. `faults` are all mistakes, and
    `tallies` the rows of the table.
    """
    unreachable = [fault for fault in faults if fault.unreachable is not None]
    reasons = Counter([str(fault.unreachable) for fault in unreachable])
    row_names = {tally.name for tally in tallies}
    class_count = sum([tally.counts.ground_truth for tally in tallies])
    unreachable_in_table = sum([fault.row in row_names for fault in unreachable])
    recall = (class_count - unreachable_in_table) / class_count if class_count else None
    return replace(row, unreachable=reasons, reachable_recall=recall)


def _score_after(change: Change, effects: Effects) -> _ScoreAfter:
    """Return the score by the analysed measure after a change, or the reason why there is none."""
    effect = effects.effect_of(change)
    [score] = effect.scores.values()
    return _ScoreAfter(score, effect.reason if score is None else None)


def _why_not_wrong(category: str, policy: Policy) -> str:
    """Return in words how a policy counts the lines of a category; an empty text if it counts them as wrong."""
    if category == MISSED:
        return ""
    sides = [side for side in SIDES if category in policy.categories_on(side)]
    if category == DUPLICATE:  # only the last side that lists duplicates counts
        sides = sides[-1:]
    if WRONG in sides:
        return ""
    if RIGHT in sides:
        return "right under this policy"
    if IGNORE in sides:
        return "ignored under this policy"
    return "not counted under this policy"


def correction_of(kinds: Iterable[str], effects: Effects, policy: Policy, faults: Sequence[RunFault]) -> Change:
    """Return the change to the files and the policy of a run that corrects all mistakes of some kinds.

    `faults` are all mistakes, the missed classes among them in load order of their answers.
    """
    categories = {fault.category for fault in faults}
    new_policy = policy
    categories_to_edit: set[str | None] = set()
    for kind in kinds:
        category, side = KINDS[kind]
        if side is None:
            categories_to_edit.add(category)
        elif category in categories:
            new_policy = move_category(new_policy, category, WRONG, side)
    wrong_lines: list[Response] = []
    missed_answers: list[Assessment] = []
    for fault in faults:
        if fault.category in categories_to_edit:
            wrong_lines += fault.lines
            if isinstance(fault.line, Assessment):
                missed_answers.append(fault.line)
    change = effects.editor.removal_of(wrong_lines)
    added_lines = effects.editor.lines_to_give(missed_answers, change.places, only_linkable=True)
    return replace(change, added=added_lines, policy=None if new_policy == policy else new_policy)


def move_category(policy: Policy, category: str, source: PolicySide, target: PolicySide) -> Policy:
    """Return a policy in which a category is moved from one side to the end of another."""
    items_by_side: dict[PolicySide, tuple[str, ...]] = {}
    for side in SIDES:
        items_by_side[side] = policy.categories_on(side)
    items_by_side[source] = tuple([item for item in policy.categories_on(source) if item != category])
    if category not in items_by_side[target]:
        items_by_side[target] = (*items_by_side[target], category)
    return Policy(right=items_by_side[RIGHT], wrong=items_by_side[WRONG], ignore=items_by_side[IGNORE])
