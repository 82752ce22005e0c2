"""The mistakes of a run, what each gains if it is corrected, and what all of one kind would."""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, Literal

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.changes import AddedLine, At, Change, Finding, places_of, texts_of
from cs_score.analysis.coldstart.effects import Effect, Effects
from cs_score.analysis.coldstart.scored import Progress, Scored, silent
from cs_score.base.records import Record, field
from cs_score.coldstart.judging import REDUNDANT, ClassTree, Labels, Tally, category_in, is_wrong_bin
from cs_score.coldstart.lines import CORRECT, Assessment, Response
from cs_score.coldstart.options import DUPLICATE, IGNORE, RIGHT, SIDES, WRONG, Policy, Side
from cs_score.coldstart.result import QueryResult, UnitResult

MISSED: Final = "MISSED"
"""The category of a class that was not found."""


class WrongLines(Record):
    """A line that counts as wrong, with its category as policies name it; or a node of several lines of which one does.

    `lines` are all of a node, in load order; `name` is the class of the line's assessment where that is accepted.
    """

    lines: Sequence[Response]
    category: str | None = None
    name: str | None = None


class MissedClass(Record):
    """A class to be found that was not, and the assessment by which the analysis has it found.

    `row` is the query or class that it stands below. `unreachable` is why no answer of the pool could find it, None
    where one can; in a row whose slot takes one value, the classes beside it could stand in.
    """

    name: str
    row: str
    assessment: Assessment
    unreachable: str | None


class Mistakes(Record):
    """The mistakes of one unit: `lines` and `classes`; `nodes` are another way to look at the lines."""

    lines: Sequence[WrongLines]
    nodes: Sequence[WrongLines]
    classes: Sequence[MissedClass]

    def __iter__(self) -> Iterator[WrongLines | MissedClass]:
        return chain(self.lines, self.nodes, self.classes)

    def __len__(self) -> int:
        return len(self.lines) + len(self.nodes) + len(self.classes)


ONLY_INEXACT: Final = "only inexact answers"
NONE_RIGHT: Final = "no answer that counts as right"
NO_RIGHT_PARENT: Final = "no right parent answer"
ONLY_NOMINAL: Final = "only nominal mentions"


class Reachability:
    """Which classes of the pool an answer can find under a policy, by the rules of docs/background/scoring.md.

    An answer finds its class if its judgment counts as right, an answer of the class above that leads to its query is
    right, too, and its mention names the entity. Without node ids a row has one node, which any of its answers names.
    """

    def __init__(self, scored: Scored, *, with_nodes: bool) -> None:
        self._policy = scored.policy
        self._with_nodes = with_nodes
        self._of_class: dict[str, list[Assessment]] = defaultdict(list)
        self._leading_to: dict[str, list[Assessment]] = defaultdict(list)
        self._named: set[str] = set()
        self._is_right: dict[tuple[str, str], bool] = {}
        for assessment in scored.run.gold.links.assessments:
            follow_on = scored.run.links.follow_on(assessment.target)
            judgement = follow_on and follow_on.judgement_of(assessment.query, assessment.answer)
            # Of several assessments of one answer only one is ever met.
            if assessment.is_accepted and judgement and judgement.assessment is assessment:
                self._of_class[assessment.value_class].append(assessment)
                self._leading_to[assessment.target].append(assessment)
                if self._is_name(assessment):
                    self._named.add(_above(assessment.value_class))

    def why_not(self, name: str) -> str | None:
        """Why no answer of the pool finds the class; None where one does."""
        right = [each for each in self._of_class[name] if each.judgment in self._policy.right]
        if not right:
            return ONLY_INEXACT if CORRECT in self._policy.right else NONE_RIGHT
        right = [each for each in right if self._has_right_parent(each, _above(name))]
        if not right:
            return NO_RIGHT_PARENT
        is_named = any(map(self._is_name, right)) or (not self._with_nodes and _above(name) in self._named)
        return None if is_named else ONLY_NOMINAL

    def _is_name(self, assessment: Assessment) -> bool:
        is_name = assessment.value_mention == "NAM" or assessment.class_mention == "NOM"
        return is_name and assessment.judgment not in self._policy.wrong

    def _has_right_parent(self, assessment: Assessment, above: str) -> bool:
        key = assessment.query.short_id, above
        if assessment.query.level and key not in self._is_right:
            self._is_right[key] = any(
                parent.value_class == above
                and parent.judgment in self._policy.right
                and self._has_right_parent(parent, _above(above))
                for parent in self._leading_to[assessment.query.short_id]
            )
        return not assessment.query.level or self._is_right[key]


def _above(name: str) -> str:
    return name.rpartition(":")[0]


def mistakes_of(scored: Scored, finding: Finding) -> Iterator[Mistakes]:
    """The mistakes of a run, unit by unit: wrong lines, their nodes, and missed classes in load order of the pool.

    In a row whose slot takes one value classes are missed only if none was found, and the first one stands for them.
    """
    reachability = Reachability(scored, with_nodes=finding.file.schema.position("NODEID") is not None)
    for unit in scored.result.units:
        wrong = []
        nodes: dict[str, list[Response]] = {}
        for line in counted_lines(unit):
            if WRONG in (labels := unit.labels[line.index]):
                known = unit.matched.get(line.index)
                name = known.value_class if known is not None and known.is_accepted else None
                wrong.append(WrongLines([line], category_of(labels, scored.policy), name))
                if line.node is not None:
                    nodes[line.node] = []
        lines_of = scored.run.lines.get(scored.run_id, {}).get(unit.id, {}) if nodes else {}
        for line in chain.from_iterable(lines_of.values()):
            if line.node in nodes:
                nodes[line.node].append(line)
        missed: list[MissedClass] = []
        for query in unit.queries:
            tree = scored.run.gold.of_query(query.query, scored.run.links).tree
            found = classes_found(query, unit)
            for row, names in classes_to_find(tree, query).items() if tree is not None else ():
                not_found = [name for name in names if name not in found[row]]
                is_single = tree is not None and tree.single.get(row, False)
                if is_single:  # any of them would do
                    not_found = [] if found[row] else names[:1]
                for name in not_found:
                    if (assessment := finding.answer(name)) is not None:
                        reasons = [reachability.why_not(each) for each in (names if is_single else [name])]
                        missed.append(MissedClass(name, row, assessment, None if None in reasons else reasons[0]))
        yield Mistakes(wrong, [WrongLines(lines) for lines in nodes.values() if len(lines) > 1], missed)


def category_of(labels: Labels, policy: Policy) -> str:
    """The category of a line, as policies name it: that before the policies, or DUPLICATE where it counts as one."""
    category = category_in(labels)
    is_duplicate = REDUNDANT in labels or (WRONG in labels and category not in policy.wrong)
    return DUPLICATE if is_duplicate else category


def counted_lines(unit: UnitResult) -> Iterator[Response]:
    """The lines of a unit that stand in a row of the tables."""
    return (line for query in unit.queries for tally in query.tallies for line in tally.responses)


def classes_found(query: QueryResult, unit: UnitResult) -> Mapping[str, set[str]]:
    """The classes that lines counted right have found, by row."""
    found: dict[str, set[str]] = defaultdict(set)
    for tally in query.tallies:
        for line in tally.responses:
            if RIGHT in unit.labels[line.index] and (assessment := unit.matched.get(line.index)) is not None:
                found[tally.name].add(assessment.value_class)
    return found


def classes_to_find(tree: ClassTree, query: QueryResult) -> Mapping[str, list[str]]:
    """The classes of the ground truth below each row of the query, in load order of the pool."""
    rows = {tally.name for tally in query.tallies}
    to_find: dict[str, list[str]] = defaultdict(list)
    for name, row in tree.above.items():
        if row in rows and not is_wrong_bin(name, tree.root):
            to_find[row].append(name)
    return to_find


_DIGITS: Final = 12
"""Of gains that are compared: equal ones may be computed in several ways, which differ beyond these."""


class Mistake(Record, kw_only=True):
    """A mistake with what changes if it is corrected.

    `kind` and `change` say what is corrected and how: a line or a node is `absent`, a class is `found`. `file` and
    `line` are those of the line, of the node's first line, or of the assessment by which the class would be found.
    `node` is the FQ node id, `category` that of the line as policies name it, MISSED for a class; None for a node.
    `gain` is the effect on the measure that is asked about. The effects are those of the files without the lines
    `removed` and with `added` at the end of `added_to`.
    """

    kind: Literal["line", "node", "class"]
    change: Literal["absent", "found"]
    file: str
    line: int
    query: str
    slot: str
    hop: int
    value: str
    category: str | None
    node: str | None
    class_name: str | None = field(name="class")
    gain: float | None
    effects: Mapping[str, float | None]
    reachable: bool | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    removed: Sequence[At]
    added: Sequence[str]


def cost_list(effects: Effects, units: Iterable[Mistakes], top: int | None = None) -> list[Mistake]:
    """All mistakes, or so many of them, the greatest gain first, then by file and line.

    Gains are exact; those of two mistakes do not add up. Mistakes whose gain the scorer would not give come last.
    """
    order = effects.rescoring.files.order

    def rank(row: Mistake) -> tuple[float, int, int, str]:
        gain = math.inf if row.gain is None else -round(row.gain, _DIGITS)
        return gain, order.get(row.file, len(order)), row.line, row.kind

    finding, dependents = effects.rescoring.finding, effects.rescoring.dependents
    changes = (
        (wrong, Change(added=finding.lines(wrong.assessment)))
        if isinstance(wrong, MissedClass)
        else (wrong, Change(dependents.with_dependents(wrong.lines)))
        for of_unit in units
        for wrong in of_unit
    )
    if top is None:
        return sorted((_mistake(wrong, change, effects.of(change)) for wrong, change in changes), key=rank)
    alone = effects.of_first_measure()
    listed = ((_mistake(wrong, change, alone.of(change)), wrong, change) for wrong, change in changes)
    first = heapq.nsmallest(top, listed, key=lambda item: rank(item[0]))
    return [_mistake(wrong, change, effects.of(change)) for _, wrong, change in first]


def _mistake(wrong: WrongLines | MissedClass, change: Change, effect: Effect) -> Mistake:
    is_class = isinstance(wrong, MissedClass)
    line: Response | Assessment
    category: str | None
    if isinstance(wrong, MissedClass):
        line, category, unreachable = wrong.assessment, MISSED, wrong.unreachable
    else:
        line, category, unreachable = wrong.lines[0], wrong.category, None
    reasons = [reason for reason in (unreachable, effect.reason) if reason is not None]
    return Mistake(
        kind="class" if is_class else "node" if category is None else "line",
        change="found" if is_class else "absent",
        file=line.file,
        line=line.number,
        query=line.query.full_id,
        slot=line.query.slots[0],
        hop=line.query.level,
        value=line.value,
        category=category,
        node=line.node if isinstance(line, Response) else None,
        class_name=wrong.name,
        gain=next(iter(effect.differences.values())),
        effects=effect.differences,
        reachable=unreachable is None if is_class else UNSET,
        reason="; ".join(reasons) if reasons else UNSET,
        removed=places_of(change),
        added=texts_of(change),
    )


# Kind -> the category of its lines, and the side that its policy puts that on; None: the lines are taken out.
KINDS: Final[dict[str, tuple[str, Side | None]]] = {
    "incorrect": ("INCORRECT", None),
    "incorrect_parent": ("INCORRECT_PARENT", None),
    "inexact": ("INEXACT", RIGHT),
    "duplicate": (DUPLICATE, IGNORE),
    "unassessed": ("UNASSESSED", None),
}
MISSED_KIND: Final = "missed"


class BudgetRow(Record, kw_only=True):
    """The mistakes of one kind: how many, and the score if they were corrected, alone and with the kinds before them.

    Scores are None where the scorer would not give them, for the `reason`. `removed`, `added` and `policy` say which
    files and switches the score stands for. Of missed classes `unreachable` counts those that no answer of the pool
    could find, by the reason, and `reachable_recall` is the recall of the table were all others found.
    """

    kind: str
    count: int
    gain: float | None
    score: float | None
    cumulated: float | None
    reason: str | UnsetType = UNSET
    unreachable: Mapping[str, int] | UnsetType = UNSET
    reachable_recall: float | UnsetType | None = UNSET
    removed: Sequence[At]
    added: Sequence[str]
    policy: Mapping[str, str]


class Correction(Record):
    """What corrects mistakes: lines that go, classes that are found, and the policy that the rest is scored under."""

    policy: Policy
    lines: tuple[Response, ...] = ()
    classes: tuple[MissedClass, ...] = ()

    def change(self, effects: Effects) -> Change:
        """The lines that are deleted from the files and appended to them, each answer once, in load order."""
        finding = effects.rescoring.finding
        removal = effects.rescoring.dependents.with_dependents(self.lines)
        gone = frozenset(removal.places)
        added: list[AddedLine] = []
        given: set[str] = set()
        targets: set[str] = set()
        for missed in self.classes:
            if missed.assessment.text in given:
                continue
            lines = finding.lines(missed.assessment, gone, targets, len(added))
            if finding.why_unlinkable(lines, targets) is None:
                added += lines
                given.update(line.assessment.text for line in lines)
                targets.update(line.assessment.target for line in lines)
        return Change(removal, tuple(added))


def correction_of(
    kinds: Iterable[str], policy: Policy, units: Sequence[Mistakes], order: Mapping[str, int]
) -> Correction:
    """What corrects all mistakes of some kinds; `order` has the rank of each file in load order."""
    chosen = {kind: KINDS[kind] for kind in kinds if kind != MISSED_KIND}
    there = {each.category for mistakes in units for each in mistakes.lines}
    for category, side in chosen.values():
        if side is not None and category in there:
            policy = moved(policy, category, WRONG, side)
    gone = {category for category, side in chosen.values() if side is None}
    lines = tuple(each.lines[0] for mistakes in units for each in mistakes.lines if each.category in gone)
    classes = [missed for mistakes in units for missed in mistakes.classes] if MISSED_KIND in kinds else []
    # An answer comes behind the one that it stands below.
    classes.sort(key=lambda missed: (order[missed.assessment.file], missed.assessment.number))
    return Correction(policy, lines, tuple(classes))


def moved(policy: Policy, category: str, source: Side, target: Side) -> Policy:
    """The policy with a category on another side than before."""
    sides = {side: policy.items(side) for side in SIDES}
    sides[source] = tuple(item for item in sides[source] if item != category)
    if category not in sides[target]:
        sides[target] = (*sides[target], category)
    return Policy(**{side.lower(): items for side, items in sides.items()})


def budget(
    effects: Effects, policy: Policy, units: Sequence[Mistakes], tallies: Sequence[Tally], progress: Progress = silent
) -> list[BudgetRow]:
    """The kinds of mistakes in a fixed order, each corrected alone and with those before it.

    Mistakes are those of the run as it is: none that correcting others would bring about. A kind that the policy does
    not count as wrong has no mistake and no gain.
    """
    effects = effects.of_first_measure()
    order = effects.rescoring.files.order

    def score(correction: Correction) -> tuple[float | None, str | None]:
        after = effects.scores(correction.change(effects), None if correction.policy == policy else correction.policy)
        return after.values[0], after.reason if after.values[0] is None else None

    names, to_find = {each.name for each in tallies}, sum(each.counts.ground_truth for each in tallies)
    counts = Counter(str(each.category) for mistakes in units for each in mistakes.lines)
    counts[MISSED] = sum(len(mistakes.classes) for mistakes in units)
    before = effects.base.values[0]
    cumulated: tuple[float | None, str | None] = before, None
    rows = []
    kinds = (*KINDS, MISSED_KIND)
    for at, kind in enumerate(progress(kinds, "correcting mistakes")):
        count = counts[MISSED if kind == MISSED_KIND else KINDS[kind][0]]
        alone = correction_of([kind], policy, units, order)
        value, reason = score(alone) if count else (before, None)
        if count:
            so_far = correction_of(kinds[: at + 1], policy, units, order)
            cumulated = (value, reason) if so_far == alone else score(so_far)
        change = alone.change(effects)
        is_missed = kind == MISSED_KIND
        lost = [missed for missed in alone.classes if missed.unreachable is not None]
        left = to_find - sum(each.row in names for each in lost)
        rows.append(
            BudgetRow(
                kind=kind,
                count=count,
                gain=None if value is None or before is None else value - before,
                score=value,
                cumulated=cumulated[0],
                reason=reason or cumulated[1] or UNSET,
                unreachable=Counter(str(each.unreachable) for each in lost) if is_missed else UNSET,
                reachable_recall=(left / to_find if to_find else None) if is_missed else UNSET,
                removed=places_of(change),
                added=texts_of(change),
                policy={side.lower(): text for side, text in alone.policy.texts().items()},
            )
        )
    return rows
