"""The error budget: what the score would be if all mistakes of one kind were mended (insight specification 4.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from cs_score.analysis.coldstart.changes import AddedLine, Change, Finding, Removal
from cs_score.analysis.coldstart.effects import Effects
from cs_score.analysis.coldstart.progress import Progress, silent
from cs_score.analysis.coldstart.sections.counted import CountedRow
from cs_score.analysis.coldstart.sections.mistakes import MissedClass, Mistakes
from cs_score.base.records import Record, replace
from cs_score.coldstart.lines import Response
from cs_score.coldstart.options import DUPLICATE, IGNORE, RIGHT, SIDES, WRONG, Policy, Side

# Kind -> the category of its lines, and the side that its policy puts that on; None: the lines are taken out.
KINDS: Final[dict[str, tuple[str, Side | None]]] = {
    "incorrect": ("INCORRECT", None),
    "incorrect_parent": ("INCORRECT_PARENT", None),
    "inexact": ("INEXACT", RIGHT),
    "duplicate": (DUPLICATE, IGNORE),
    "unassessed": ("UNASSESSED", None),
}
MISSED: Final = "missed"


class Mending(Record):
    """What mends mistakes: lines that go, classes that are found, and the policy under which the rest is scored."""

    policy: Policy
    lines: tuple[Response, ...] = ()
    classes: tuple[MissedClass, ...] = ()

    def change(self, effects: Effects) -> Change:
        """The lines that are deleted from the files and appended to them."""
        removal = effects.rescoring.dependents.with_dependents(self.lines)
        return Change(removal, _found(self.classes, removal, effects.rescoring.finding))


class BudgetRow(Record):
    """The mistakes of one kind: how many, and the score if they were mended, alone and with the kinds before them.

    Scores are None where the scorer would not give them, for the `reason`. `change` and `policy` say which files and
    switches the score stands for. Of missed classes `unreachable` counts those that no answer of the pool could find,
    by the reason, and `reachable_recall` is the recall of the table were all others found.
    """

    kind: str
    count: int
    gain: float | None
    score: float | None
    cumulated: float | None
    reason: str | None
    change: Change
    policy: Policy
    unreachable: Mapping[str, int] | None = None
    reachable_recall: float | None = None

    def as_json(self) -> dict[str, object]:
        """The row with the keys of the specification."""
        return {
            "kind": self.kind,
            "count": self.count,
            "gain": self.gain,
            "score": self.score,
            "cumulated": self.cumulated,
            **({} if self.reason is None else {"reason": self.reason}),
            **({} if self.unreachable is None else {"unreachable": dict(self.unreachable)}),
            **({} if self.unreachable is None else {"reachable_recall": self.reachable_recall}),
            **self.change.as_json(),
            "policy": {side.lower(): text for side, text in self.policy.texts().items()},
        }


def budget(
    effects: Effects,
    policy: Policy,
    units: Iterable[Mistakes],
    rows_of_table: Sequence[CountedRow],
    progress: Progress = silent,
) -> list[BudgetRow]:
    """The kinds of mistakes in a fixed order, each mended alone and with those before it.

    Mistakes are those of the run as it is: none that mending others would bring about. A kind that the policy does not
    count as wrong has no mistake and no gain.
    """
    lines: dict[str, list[Response]] = {category: [] for category, _ in KINDS.values()}
    classes: list[MissedClass] = []
    for mistakes in units:
        classes += mistakes.classes
        for mistake in mistakes.lines:
            lines.setdefault(mistake.category, []).append(mistake.line)
    order = effects.rescoring.files.order  # an answer comes behind the one that it hangs below
    classes.sort(key=lambda missed: (order[missed.assessment.file], missed.assessment.number))
    effects = effects.of_first_measure()
    base = so_far = Mending(policy)
    last: float | None = effects.before
    why_not_last: str | None = None
    rows = []
    for kind in progress((*KINDS, MISSED), "mending mistakes"):
        count = len(classes) if kind == MISSED else len(lines[KINDS[kind][0]])
        if not count:
            rows.append(BudgetRow(kind, 0, 0.0, effects.before, last, why_not_last, Change(), policy))
            continue
        alone, so_far = _mending(kind, base, lines, classes), _mending(kind, so_far, lines, classes)
        row = _row(kind, count, alone, effects, policy)
        last, why_not_last = row.score, row.reason
        if so_far != alone:
            last, why_not_last = _score(so_far, so_far.change(effects), effects, policy)
        rows.append(replace(row, cumulated=last, reason=row.reason or why_not_last))
    return [*rows[:-1], _with_unreachable(rows[-1], classes, rows_of_table)]


def _with_unreachable(row: BudgetRow, classes: Sequence[MissedClass], table: Sequence[CountedRow]) -> BudgetRow:
    """The row of missed classes with those among them that no answer of the pool could find."""
    lost = [missed for missed in classes if missed.unreachable is not None]
    names = {each.tally.name for each in table}
    to_find = sum(each.tally.counts.ground_truth for each in table)
    left = to_find - sum(missed.row in names for missed in lost)
    reasons = Counter(str(missed.unreachable) for missed in lost)
    return replace(row, unreachable=reasons, reachable_recall=left / to_find if to_find else None)


def _row(kind: str, count: int, alone: Mending, effects: Effects, policy: Policy) -> BudgetRow:
    change = alone.change(effects)
    score, reason = _score(alone, change, effects, policy)
    gain = None if score is None else score - effects.before
    return BudgetRow(kind, count, gain, score, None, reason, change, alone.policy)


def _mending(kind: str, before: Mending, lines: dict[str, list[Response]], missed: Sequence[MissedClass]) -> Mending:
    """`before` with all mistakes of one kind mended, too."""
    if kind == MISSED:
        return replace(before, classes=tuple(missed))
    category, side = KINDS[kind]
    if side is None:
        return replace(before, lines=(*before.lines, *lines[category]))
    return replace(before, policy=moved(before.policy, category, WRONG, side))


def moved(policy: Policy, category: str, source: Side, target: Side) -> Policy:
    """The policy with a category on another side than before."""
    sides = {side: policy.items(side) for side in SIDES}
    sides[source] = tuple(item for item in sides[source] if item != category)
    if category not in sides[target]:
        sides[target] = (*sides[target], category)
    return Policy(**{side.lower(): items for side, items in sides.items()})


def _score(mending: Mending, change: Change, effects: Effects, policy: Policy) -> tuple[float | None, str | None]:
    return effects.score(change, None if mending.policy == policy else mending.policy)


def _found(classes: Iterable[MissedClass], removal: Removal, finding: Finding) -> tuple[AddedLine, ...]:
    """The lines that find these classes, each answer once, in load order of the pool."""
    gone = frozenset(removal.places)
    added: list[AddedLine] = []
    given: set[str] = set()
    targets: set[str] = set()
    for missed in classes:
        if missed.assessment.text in given:
            continue
        lines = finding.lines(missed.assessment, gone, targets, len(added))
        if finding.why_unlinkable(lines, targets) is None:
            added += lines
            given.update(line.assessment.text for line in lines)
            targets.update(line.assessment.target for line in lines)
    return tuple(added)
