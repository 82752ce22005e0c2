"""The mistakes of a run, what mending each would gain, and what mending all of one kind would (insight 4.1, 4.2)."""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from cs_score.analysis.coldstart.changes import AddedLine, Change, Finding, Removal
from cs_score.analysis.coldstart.effects import Effect, Effects
from cs_score.analysis.coldstart.scored import Progress, Scored, silent
from cs_score.base.records import Record, replace
from cs_score.coldstart.judging import REDUNDANT, ClassTree, Labels, Tally, category_in, is_wrong_bin
from cs_score.coldstart.lines import CORRECT, Assessment, Response
from cs_score.coldstart.options import DUPLICATE, IGNORE, RIGHT, SIDES, WRONG, Policy, Side
from cs_score.coldstart.result import QueryResult, UnitResult

MISSED: Final = "MISSED"
"""The category of a class that was not found."""


class WrongLine(Record):
    """A line that counts as wrong: its category as policies name it, and its assessment where it has one."""

    line: Response
    category: str
    assessment: Assessment | None
    unit: str


class MissedClass(Record):
    """A class to be found that was not, and the assessment by which the analysis has it found.

    `row` is the query or class that it stands below. `unreachable` is why no answer of the pool could find it, None
    where one can; in a row whose slot takes one value, the classes beside it could stand in.
    """

    name: str
    row: str
    assessment: Assessment
    unit: str
    unreachable: str | None


class WrongNode(Record):
    """A node of several lines of which one at least counts as wrong; `lines` are all of it, in load order."""

    name: str
    lines: Sequence[Response]
    unit: str


class Mistakes(Record):
    """The mistakes of one unit: `lines` and `classes`; `nodes` are another way to look at the lines."""

    lines: Sequence[WrongLine]
    nodes: Sequence[WrongNode]
    classes: Sequence[MissedClass]

    def __len__(self) -> int:
        return len(self.lines) + len(self.nodes) + len(self.classes)


ONLY_INEXACT: Final = "only inexact answers"
NONE_RIGHT: Final = "no answer that counts as right"
NO_RIGHT_PARENT: Final = "no right parent answer"
ONLY_NOMINAL: Final = "only nominal mentions"


class Reachability:
    """Which classes of the pool an answer can find under a policy, by the rules of specification 6 to 7.

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
        if not assessment.query.level:
            return True
        key = assessment.query.short_id, above
        if key not in self._is_right:
            self._is_right[key] = any(
                parent.value_class == above
                and parent.judgment in self._policy.right
                and self._has_right_parent(parent, _above(above))
                for parent in self._leading_to[assessment.query.short_id]
            )
        return self._is_right[key]


def _above(name: str) -> str:
    return name.rpartition(":")[0]


def mistakes_of(scored: Scored, finding: Finding) -> Iterator[Mistakes]:
    """The mistakes of a run, unit by unit (insight specification 1)."""
    reachability = Reachability(scored, with_nodes=finding.file.schema.position("NODEID") is not None)
    for unit in scored.result.units:
        wrong = list(wrong_lines(unit, scored.policy))
        nodes = list(_wrong_nodes(scored, unit.id, wrong))
        yield Mistakes(wrong, nodes, list(_missed_classes(scored, unit, finding, reachability)))


def category_of(labels: Labels, policy: Policy) -> str:
    """The category of a line, as policies name it: that before the policies, or DUPLICATE where it counts as one."""
    category = category_in(labels)
    is_duplicate = REDUNDANT in labels or (WRONG in labels and category not in policy.wrong)
    return DUPLICATE if is_duplicate else category


def counted_lines(unit: UnitResult) -> Iterator[Response]:
    """The lines of a unit that stand in a row of the tables."""
    return (line for query in unit.queries for tally in query.tallies for line in tally.responses)


def wrong_lines(unit: UnitResult, policy: Policy) -> Iterator[WrongLine]:
    """The lines of a unit that count as wrong."""
    for line in counted_lines(unit):
        labels = unit.labels[line.index]
        if WRONG in labels:
            yield WrongLine(line, category_of(labels, policy), unit.matched.get(line.index), unit.id)


def _wrong_nodes(scored: Scored, unit: str, wrong: Sequence[WrongLine]) -> Iterator[WrongNode]:
    nodes: dict[str, list[Response]] = {each.line.node: [] for each in wrong if each.line.node is not None}
    lines_of = scored.run.lines.get(scored.run_id, {}).get(unit, {}) if nodes else {}
    for line in (line for lines in lines_of.values() for line in lines):
        if line.node is not None and line.node in nodes:
            nodes[line.node].append(line)
    return (WrongNode(name, lines, unit) for name, lines in nodes.items() if len(lines) > 1)


def _missed_classes(
    scored: Scored, unit: UnitResult, finding: Finding, reachability: Reachability
) -> Iterator[MissedClass]:
    """The classes that a unit has missed, in load order of the pool.

    In a row whose slot takes one value they are missed only if none was found, and the first one stands for them.
    """
    for query in unit.queries:
        gold = scored.run.gold.of_query(query.query, scored.run.links)
        if gold.tree is not None:
            yield from _missed(gold.tree, query, unit, finding, reachability)


def _missed(
    tree: ClassTree, query: QueryResult, unit: UnitResult, finding: Finding, reachability: Reachability
) -> Iterator[MissedClass]:
    found = classes_found(query, unit)
    for row, names in classes_to_find(tree, query).items():
        missed = [name for name in names if name not in found[row]]
        is_single = tree.single.get(row, False)
        if is_single:  # any of them would do
            missed = [] if found[row] else names[:1]
        for name in missed:
            if (assessment := finding.answer(name)) is not None:
                reasons = [reachability.why_not(each) for each in (names if is_single else [name])]
                yield MissedClass(name, row, assessment, unit.id, None if None in reasons else reasons[0])


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


class Mistake(Record):
    """A mistake with what mending it changes.

    `kind` and `change` say what is mended and how: a line or a node is `absent`, a class is `found`. `file` and `line`
    are those of the line, of the node's first line, or of the assessment by which the class would be found. `node` is
    the FQ node id, `category` that of the line as policies name it, MISSED for a class; None for a node.
    `unreachable` is why no answer of the pool could find the class.
    """

    kind: Literal["line", "node", "class"]
    change: Change
    file: str
    line: int
    query: str
    slot: str
    hop: int
    value: str
    category: str | None
    node: str | None
    class_name: str | None
    unit: str
    effect: Effect
    unreachable: str | None = None

    @property
    def gain(self) -> float | None:
        """The effect on the measure that is asked about."""
        return self.effect.differences[0]

    def as_json(self) -> dict[str, object]:
        """The mistake with the keys of the specification."""
        reasons = [reason for reason in (self.unreachable, self.effect.reason) if reason is not None]
        return {
            "kind": self.kind,
            "change": "found" if self.kind == "class" else "absent",
            "file": self.file,
            "line": self.line,
            "query": self.query,
            "slot": self.slot,
            "hop": self.hop,
            "value": self.value,
            "category": self.category,
            "node": self.node,
            "class": self.class_name,
            "gain": self.gain,
            "effects": self.effect.as_json(),
            **({"reachable": self.unreachable is None} if self.kind == "class" else {}),
            **({"reason": "; ".join(reasons)} if reasons else {}),
            **self.change.as_json(),
        }


def cost_list(effects: Effects, units: Iterable[Mistakes], top: int | None = None) -> list[Mistake]:
    """All mistakes, or so many of them, the greatest gain first, then by file and line.

    Gains are exact; those of two mistakes do not add up. Mistakes whose gain the scorer would not tell come last.
    """
    order = effects.rescoring.files.order

    def rank(row: Mistake) -> tuple[float, int, int, str]:
        gain = math.inf if row.gain is None else -round(row.gain, _DIGITS)
        return gain, order.get(row.file, len(order)), row.line, row.kind

    if top is None:
        return sorted(_mistakes(units, effects), key=rank)
    first = heapq.nsmallest(top, _mistakes(units, effects.of_first_measure()), key=rank)
    return [replace(row, effect=effects.of(row.change)) for row in first]


def _mistakes(units: Iterable[Mistakes], effects: Effects) -> Iterator[Mistake]:
    without, finding = effects.rescoring.dependents.with_dependents, effects.rescoring.finding
    for of_unit in units:
        for wrong in of_unit.lines:
            known = wrong.assessment
            name = known.value_class if known is not None and known.is_accepted else None
            change = Change(without([wrong.line]))
            yield _mistake("line", wrong.line, change, effects, wrong.unit, wrong.category, wrong.line.node, name)
        for node in of_unit.nodes:
            change = Change(without(node.lines))
            yield _mistake("node", node.lines[0], change, effects, node.unit, None, node.name, None)
        for missed in of_unit.classes:
            change = Change(added=finding.lines(missed.assessment))
            found = _mistake("class", missed.assessment, change, effects, missed.unit, MISSED, None, missed.name)
            yield replace(found, unreachable=missed.unreachable) if missed.unreachable else found


def _mistake(
    kind: Literal["line", "node", "class"],
    line: Response | Assessment,
    change: Change,
    effects: Effects,
    unit: str,
    category: str | None,
    node: str | None,
    class_name: str | None,
) -> Mistake:
    query = line.query
    return Mistake(
        kind, change, line.file, line.number, query.full_id, query.slots[0], query.level, line.value, category, node,
        class_name, unit, effects.of(change),
    )  # fmt: skip


# Kind -> the category of its lines, and the side that its policy puts that on; None: the lines are taken out.
KINDS: Final[dict[str, tuple[str, Side | None]]] = {
    "incorrect": ("INCORRECT", None),
    "incorrect_parent": ("INCORRECT_PARENT", None),
    "inexact": ("INEXACT", RIGHT),
    "duplicate": (DUPLICATE, IGNORE),
    "unassessed": ("UNASSESSED", None),
}
MISSED_KIND: Final = "missed"


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
    tallies: Sequence[Tally],
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
    for kind in progress((*KINDS, MISSED_KIND), "mending mistakes"):
        count = len(classes) if kind == MISSED_KIND else len(lines[KINDS[kind][0]])
        if not count:
            rows.append(BudgetRow(kind, 0, 0.0, effects.before, last, why_not_last, Change(), policy))
            continue
        alone, so_far = _mending(kind, base, lines, classes), _mending(kind, so_far, lines, classes)
        row = _row(kind, count, alone, effects, policy)
        last, why_not_last = row.score, row.reason
        if so_far != alone:
            last, why_not_last = _score(so_far, so_far.change(effects), effects, policy)
        rows.append(replace(row, cumulated=last, reason=row.reason or why_not_last))
    return [*rows[:-1], _with_unreachable(rows[-1], classes, tallies)]


def _with_unreachable(row: BudgetRow, classes: Sequence[MissedClass], tallies: Sequence[Tally]) -> BudgetRow:
    """The row of missed classes with those among them that no answer of the pool could find."""
    lost = [missed for missed in classes if missed.unreachable is not None]
    names = {each.name for each in tallies}
    to_find = sum(each.counts.ground_truth for each in tallies)
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
    if kind == MISSED_KIND:
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
