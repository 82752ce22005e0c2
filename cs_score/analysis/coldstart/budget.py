"""Compute the error budget of a run: its score if all mistakes of one kind were corrected. Mistakes are wrong lines and
missed equivalence classes (sets of answers that mean the same). A policy has three sides: categories of lines that are
right, wrong or ignored, such as `INEXACT`.
"""

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


class _CorrectedRun(NamedTuple):
    """A change that corrects mistakes, and the score by the analysed measure after it.

    The score is None if the scorer would not give it, for the `reason`.
    """

    change: Change
    score: float | None
    reason: str | None = None


def budget(
    effects: Effects, policy: Policy, faults: Iterable[RunFault], tallies: Sequence[Tally], progress: Progress = silent
) -> list[BudgetRow]:
    """Return a row for each kind of mistake, with the number of mistakes and the gain in score without them.

    Each row also has the score after correcting this kind and all kinds before it (`cumulated`). A correction may cause
    new mistakes, which are not counted. A kind has no mistakes if the `policy` does not count it as wrong. `effects`
    computes scores after changes to the run, `faults` are all mistakes of the run, and `tallies` are the rows of the
    measure's table.
    """
    corrector = _Corrector(effects.for_first_measure(), policy, faults)
    result_of_all_so_far = corrector.correct([])  # the run as it is
    corrected_kinds: list[str] = []
    rows = []
    for kind in progress(list(KINDS), "correcting mistakes"):
        result_of_kind = corrector.correct([kind])
        if corrector.has_mistakes(kind):
            corrected_kinds.append(kind)
            is_first = len(corrected_kinds) == 1
            # The first kind alone has just been scored; scoring it again would take as long.
            result_of_all_so_far = result_of_kind if is_first else corrector.correct(corrected_kinds)
        row = corrector.row(kind, result_of_kind, result_of_all_so_far)
        if kind == "missed":
            row = _with_unreachable_classes(row, corrector.faults, tallies)
        rows.append(row)
    return rows


class _Corrector:
    """Corrects all faults (mistakes) of some kinds in a run at once, and scores the corrected run.

    `faults` are all faults in the order in which they are corrected.
    """

    def __init__(self, effects: Effects, policy: Policy, faults: Iterable[RunFault]) -> None:
        """Take the faults of a run under a policy; `effects` computes scores by the analysed measure only."""
        self.faults = _in_order_of_correction(faults, effects.editor)
        self._effects = effects
        self._policy = policy
        self._count_by_category = Counter([fault.category for fault in self.faults])
        self._uncorrected_score = effects.first_score

    def has_mistakes(self, kind: str) -> bool:
        """Return whether the run has mistakes of a kind."""
        return self._count_of(kind) > 0

    def _count_of(self, kind: str) -> int:
        """Return the number of mistakes of a kind."""
        return self._count_by_category[KINDS[kind].category]

    def correct(self, kinds: Sequence[str]) -> _CorrectedRun:
        """Return the change that corrects all mistakes of some kinds, and the score after the change.

        If the corrected run has no score, the result gives the reason.
        """
        change = correction_of(kinds, self._effects, self._policy, self.faults)
        if not any(self.has_mistakes(kind) for kind in kinds):
            return _CorrectedRun(change, self._uncorrected_score)
        effect = self._effects.effect_of(change)
        return _CorrectedRun(change, effect.score, effect.reason if effect.score is None else None)

    def row(self, kind: str, result_of_kind: _CorrectedRun, result_of_all_so_far: _CorrectedRun) -> BudgetRow:
        """Return the row for a kind of mistake.

        `result_of_kind` is the run with only this kind corrected, and `result_of_all_so_far` is the run with all kinds
        up to this one corrected. The `reason` of the row says why either of them has no score. The `note` says that
        there is nothing to correct because the policy does not count lines of this kind as wrong.
        """
        change = result_of_kind.change
        policy = change.policy or self._policy
        return BudgetRow(
            kind=kind,
            count=self._count_of(kind),
            gain=_gain(result_of_kind.score, self._uncorrected_score),
            score=result_of_kind.score,
            cumulated=result_of_all_so_far.score,
            reason=result_of_kind.reason or result_of_all_so_far.reason or UNSET,
            note=_why_not_wrong(KINDS[kind].category, self._policy) or UNSET,
            removed=self._effects.editor.places_removed_by(change),
            added=change.added_texts,
            policy={side.lower(): text for side, text in policy.texts().items()},
        )


def _gain(score: float | None, score_before: float | None) -> float | None:
    """Return a score minus the score before the correction, or None if either of them is undefined."""
    if score is None or score_before is None:
        return None
    return score - score_before


def _in_order_of_correction(faults: Iterable[RunFault], editor: Editor) -> list[RunFault]:
    """Return the wrong lines, then the missed classes in load order of the pool; nodes are left out.

    A missed class is sorted by the position of the pool's answer that would find it. In load order, an answer comes
    after the answer that its query asks about, so both can be added in turn.
    """
    wrong_lines = []
    missed_classes = []
    for fault in faults:
        if fault.kind == "line":
            wrong_lines.append(fault)
        elif fault.kind == "class":
            missed_classes.append(fault)
    missed_classes.sort(key=lambda fault: (editor.position_by_file[fault.listed_line.file], fault.listed_line.number))
    return wrong_lines + missed_classes


def _with_unreachable_classes(row: BudgetRow, faults: Iterable[RunFault], tallies: Sequence[Tally]) -> BudgetRow:
    """Return the row of missed classes with the counts of unreachable classes and the highest possible recall.

    A class is unreachable if no answer of the pool would find it. The unreachable classes of the whole run are counted
    by reason. The highest possible recall is the recall of the table if all its reachable classes were found. `faults`
    are all mistakes of the run, and `tallies` are the rows of the table.
    """
    unreachable_classes = [fault for fault in faults if fault.why_unreachable is not None]
    count_by_reason = Counter([str(fault.why_unreachable) for fault in unreachable_classes])
    # The table may lack rows of the run: rows of other hops, or of other entry points.
    row_names = {tally.name for tally in tallies}
    unreachable_count_in_table = len([fault for fault in unreachable_classes if fault.row in row_names])
    class_count = sum([tally.counts.ground_truth for tally in tallies])
    recall = (class_count - unreachable_count_in_table) / class_count if class_count else None
    return replace(row, unreachable=count_by_reason, reachable_recall=recall)


def _why_not_wrong(category: str, policy: Policy) -> str:
    """Return a phrase that says how a policy counts the lines of a category, or an empty text if they count as wrong.

    The text is also empty for missed classes, which policies do not list.
    """
    sides = _sides_of(category, policy)
    if category == MISSED or WRONG in sides:
        return ""
    if RIGHT in sides:
        return "right under this policy"
    if IGNORE in sides:
        return "ignored under this policy"
    return "not counted under this policy"


def _sides_of(category: str, policy: Policy) -> list[PolicySide]:
    """Return the sides of a policy with a category on their lists: `["WRONG"]`.

    If several sides list the category DUPLICATE, only the last of them is returned, since the scorer counts duplicates
    only on this side.
    """
    sides = [side for side in SIDES if category in policy.categories_on(side)]
    return sides[-1:] if category == DUPLICATE else sides


def correction_of(kinds: Iterable[str], effects: Effects, policy: Policy, faults: Sequence[RunFault]) -> Change:
    """Return the change to the files and the policy of a run that corrects all mistakes of some kinds.

    `faults` are all mistakes; the missed classes among them are in load order of their answers.
    """
    chosen_kinds = [KINDS[kind] for kind in kinds]
    # Kinds without a side are corrected by editing lines, the others by the policy.
    categories_to_edit = {kind.category for kind in chosen_kinds if kind.side is None}
    faults_to_edit = [fault for fault in faults if fault.category in categories_to_edit]
    change = _change_correcting(faults_to_edit, effects.editor)
    new_policy = _policy_correcting(chosen_kinds, policy, faults)
    return change if new_policy == policy else replace(change, policy=new_policy)


def _change_correcting(faults: Iterable[RunFault], editor: Editor) -> Change:
    """Return the change that removes wrong lines and adds answers that find missed classes.

    An answer is not added if no line of the run or of the change creates its query.
    """
    wrong_lines: list[Response] = []
    missed_answers: list[Assessment] = []
    for fault in faults:
        wrong_lines += fault.lines_to_remove
        if fault.missed_answer is not None:
            missed_answers.append(fault.missed_answer)
    removal = editor.removal_of(wrong_lines)
    return replace(
        removal, added_lines=editor.lines_to_add(missed_answers, removal.removed_places, skips_unlinkable=True)
    )


def _policy_correcting(kinds: Iterable[Kind], policy: Policy, faults: Iterable[RunFault]) -> Policy:
    """Return a policy that no longer counts lines of some kinds as wrong, if the run has such lines.

    The category of each kind is moved to the `side` of the kind. A kind without `side` changes nothing: it is corrected
    in the files of the run.
    """
    categories = {fault.category for fault in faults}
    for category, side in kinds:
        if side is not None and category in categories:
            policy = move_category(policy, category, WRONG, side)
    return policy


def move_category(policy: Policy, category: str, source: PolicySide, target: PolicySide) -> Policy:
    """Return a policy in which a category is moved from one side (such as `WRONG`) to the end of another (`RIGHT`)."""
    items_by_side: dict[PolicySide, tuple[str, ...]] = {}
    for side in SIDES:
        items_by_side[side] = policy.categories_on(side)
    items_by_side[source] = tuple([item for item in policy.categories_on(source) if item != category])
    if category not in items_by_side[target]:
        items_by_side[target] = (*items_by_side[target], category)
    return Policy(right=items_by_side[RIGHT], wrong=items_by_side[WRONG], ignore=items_by_side[IGNORE])
