"""The mistakes of a run, what each gains if it is corrected, and what all of one kind would."""

from __future__ import annotations

import functools
import heapq
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec import UNSET, UnsetType

from cs_score.analysis.coldstart.changes import At, Change, Editor
from cs_score.analysis.coldstart.effects import Effects
from cs_score.analysis.coldstart.scored import Progress, Scored, silent
from cs_score.base.records import Record, field, replace
from cs_score.coldstart.judging import REDUNDANT, Labels, Tally, category_in, is_wrong_bin
from cs_score.coldstart.lines import CORRECT, Assessment, Response
from cs_score.coldstart.options import DUPLICATE, IGNORE, RIGHT, SIDES, WRONG, Policy, Side
from cs_score.coldstart.result import UnitResult

MISSED: Final = "MISSED"
"""The category of a class that was not found."""


class Fault(Record):
    """A line that counts as wrong, a node of several lines of which one does, or a class that was not found.

    `line` is that line, the first one of the node, or the assessment by which the analysis has the class found; `lines`
    are those that go, in load order. `category` is None for a node; `class_name` that of the line's assessment where it
    is accepted. `row` is what a class stands below, `unreachable` why no answer of the pool could find it.
    """

    kind: Literal["line", "node", "class"]
    line: Response | Assessment
    category: str | None
    class_name: str | None = None
    lines: Sequence[Response] = ()
    row: str = ""
    unreachable: str | None = None


ONLY_INEXACT: Final = "only inexact answers"
NONE_RIGHT: Final = "no answer that counts as right"
NO_RIGHT_PARENT: Final = "no right parent answer"
ONLY_NOMINAL: Final = "only nominal mentions"


def reachability(scored: Scored, *, with_nodes: bool) -> Callable[[str], str | None]:
    """Why no answer of the pool finds a class under the policy (docs/background/scoring.md); None where one does.

    An answer finds its class if its judgment counts as right, an answer of the class above that leads to its query is
    right, too, and its mention names the entity. Without node ids a row has one node, which any of its answers names.
    """
    policy, links = scored.policy, scored.run.links
    of_class: dict[str, list[Assessment]] = defaultdict(list)
    leading_to: dict[tuple[str, str], list[Assessment]] = defaultdict(list)
    for each in scored.run.gold.links.assessments:
        follow_on = links.follow_on(each.target)
        judgement = follow_on and follow_on.judgement_of(each.query, each.answer)
        # Of several assessments of one answer only one is ever met.
        if each.is_accepted and judgement and judgement.assessment is each:
            of_class[each.value_class].append(each)
            leading_to[each.target, each.value_class].append(each)

    def is_name(answer: Assessment) -> bool:
        is_named = answer.value_mention == "NAM" or answer.class_mention == "NOM"
        return is_named and answer.judgment not in policy.wrong

    named = {name.rpartition(":")[0] for name, answers in of_class.items() if any(map(is_name, answers))}

    @functools.cache
    def is_asked_rightly(short_id: str, above: str) -> bool:
        """Whether a right answer of the class above leads to a follow-on query."""
        return any(each.judgment in policy.right and has_right_parent(each) for each in leading_to[short_id, above])

    def has_right_parent(answer: Assessment) -> bool:
        return not answer.query.level or is_asked_rightly(answer.query.short_id, answer.value_class.rpartition(":")[0])

    def why_not(name: str) -> str | None:
        right = [answer for answer in of_class[name] if answer.judgment in policy.right]
        if not right:
            return ONLY_INEXACT if CORRECT in policy.right else NONE_RIGHT
        right = list(filter(has_right_parent, right))
        if not right:
            return NO_RIGHT_PARENT
        is_named = any(map(is_name, right)) or (not with_nodes and name.rpartition(":")[0] in named)
        return None if is_named else ONLY_NOMINAL

    return why_not


def mistakes_of(scored: Scored, editor: Editor) -> Iterator[list[Fault]]:
    """The mistakes of a run, unit by unit: wrong lines, their nodes, and missed classes in load order of the pool.

    In a row whose slot takes one value classes are missed only if none was found, and the first one stands for them.
    """
    why_not, unit_of = reachability(scored, with_nodes=editor.has_nodes), scored.run.gold.unit_of
    for unit in scored.result.units:
        faults: list[Fault] = []
        for line in counted_lines(unit):
            if WRONG in (labels := unit.labels[line.index]):
                known = unit.matched.get(line.index)
                name = known.value_class if known is not None and known.is_accepted else None
                faults.append(Fault("line", line, category_of(labels, scored.policy), name, [line]))
        for node in dict.fromkeys(fault.lines[0].node for fault in faults):
            of_node = [] if node is None else scored.run.links.nodes[node]
            own = (line for line in of_node if line.run_id == scored.run_id)
            lines = [line for line in own if unit_of(line.query.base_id) == unit.id]
            if len(lines) > 1:
                faults.append(Fault("node", lines[0], None, lines=lines))
        for row, is_single, names, found in classes_of(scored, unit):
            not_found = [name for name in names if name not in found]
            if is_single:  # any of them would do
                not_found = [] if found else names[:1]
            for name in not_found:
                if (assessment := editor.answers.get(name)) is not None:
                    reasons = [why_not(each) for each in (names if is_single else [name])]
                    reason = None if None in reasons else reasons[0]
                    faults.append(Fault("class", assessment, MISSED, name, row=row, unreachable=reason))
        yield faults


def category_of(labels: Labels, policy: Policy) -> str:
    """The category of a line, as policies name it: that before the policies, or DUPLICATE where it counts as one."""
    category = category_in(labels)
    is_duplicate = REDUNDANT in labels or (WRONG in labels and category not in policy.wrong)
    return DUPLICATE if is_duplicate else category


def counted_lines(unit: UnitResult) -> Iterator[Response]:
    """The lines of a unit that stand in a row of the tables."""
    return (line for query in unit.queries for tally in query.tallies for line in tally.responses)


def classes_of(scored: Scored, unit: UnitResult) -> Iterator[tuple[str, bool, list[str], set[str]]]:
    """The rows of a unit that have something to find: whether the slot takes one value, the classes of the ground truth
    in load order of the pool, and those that lines counted right have found.
    """
    for query in unit.queries:
        tree = scored.run.gold.of_query(query.query, scored.run.links).tree
        assert tree is not None  # it was scored
        rows = {tally.name: tally.responses for tally in query.tallies}
        to_find: dict[str, list[str]] = defaultdict(list)
        for name, row in tree.above.items():
            if row in rows and not is_wrong_bin(name, tree.root):
                to_find[row].append(name)
        for row, names in to_find.items():
            right = (unit.matched.get(line.index) for line in rows[row] if RIGHT in unit.labels[line.index])
            yield row, tree.single.get(row, False), names, {each.value_class for each in right if each is not None}


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


def cost_list(effects: Effects, faults: Iterable[Fault], top: int | None = None) -> list[Mistake]:
    """Return all mistakes, or so many of them, the greatest gain first, then by file and line.

    Gains are exact; those of two mistakes do not add up. Mistakes whose gain the scorer would not give come last.
    """
    order = effects.editor.order

    def rank(row: Mistake) -> tuple[float, int, int, str]:
        gain = math.inf if row.gain is None else -round(row.gain, _DIGITS)
        return gain, order.get(row.file, len(order)), row.line, row.kind

    if top is None:
        return sorted((_mistake(fault, effects) for fault in faults), key=rank)
    alone = effects.of_first_measure()
    first = heapq.nsmallest(top, ((_mistake(fault, alone), fault) for fault in faults), key=lambda item: rank(item[0]))
    return [_mistake(fault, effects) for _, fault in first]


def _mistake(fault: Fault, effects: Effects) -> Mistake:
    line, is_class = fault.line, isinstance(fault.line, Assessment)
    if isinstance(line, Assessment):
        change = Change(added=effects.editor.found([line]))
    else:
        change = effects.editor.absence(fault.lines)
    effect = effects.of(change)
    return Mistake(
        kind=fault.kind,
        change="found" if is_class else "absent",
        file=line.file,
        line=line.number,
        query=line.query.full_id,
        slot=line.query.slots[0],
        hop=line.query.level,
        value=line.value,
        category=fault.category,
        node=line.node if isinstance(line, Response) else None,
        class_name=fault.class_name,
        gain=next(iter(effect.differences.values())),
        effects=effect.differences,
        reachable=fault.unreachable is None if is_class else UNSET,
        reason="; ".join(filter(None, (fault.unreachable, effect.reason))) or UNSET,
        removed=effects.editor.removed(change),
        added=change.texts,
    )


# Kind -> the category of its mistakes, and the side that its policy puts that on; None: lines go, classes are found.
KINDS: Final[dict[str, tuple[str, Side | None]]] = {
    "incorrect": ("INCORRECT", None),
    "incorrect_parent": ("INCORRECT_PARENT", None),
    "inexact": ("INEXACT", RIGHT),
    "duplicate": (DUPLICATE, IGNORE),
    "unassessed": ("UNASSESSED", None),
    "missed": (MISSED, None),
}


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


def correction_of(kinds: Iterable[str], effects: Effects, policy: Policy, faults: Sequence[Fault]) -> Change:
    """What corrects all mistakes of some kinds; classes among `faults` are in the load order of their answers."""
    there, after, corrected = {fault.category for fault in faults}, policy, set()
    for category, side in map(KINDS.__getitem__, kinds):
        if side is None:
            corrected.add(category)
        elif category in there:
            after = moved(after, category, WRONG, side)
    chosen = [fault for fault in faults if fault.category in corrected]
    change = effects.editor.absence(line for fault in chosen for line in fault.lines)
    answers = (fault.line for fault in chosen if isinstance(fault.line, Assessment))
    added = effects.editor.found(answers, change.places, only_linkable=True)
    return replace(change, added=added, policy=None if after == policy else after)


def moved(policy: Policy, category: str, source: Side, target: Side) -> Policy:
    """The policy with a category on another side than before."""
    sides = {side: tuple(each for each in policy.items(side) if each != category or side != source) for side in SIDES}
    if category not in sides[target]:
        sides[target] = (*sides[target], category)
    return Policy(**{side.lower(): items for side, items in sides.items()})


def budget(
    effects: Effects, policy: Policy, faults: Sequence[Fault], tallies: Sequence[Tally], progress: Progress = silent
) -> list[BudgetRow]:
    """The kinds of mistakes in a fixed order, each corrected alone and with those before it.

    Mistakes are those of the run as it is: none that correcting others would bring about. A kind that the policy does
    not count as wrong has no mistake and no gain.
    """
    effects, order = effects.of_first_measure(), effects.editor.order
    # An answer is given behind the one that it stands below.
    classes = [fault for fault in faults if fault.kind == "class"]
    classes.sort(key=lambda fault: (order[fault.line.file], fault.line.number))
    faults = [*(fault for fault in faults if fault.kind == "line"), *classes]
    names, to_find = {each.name for each in tallies}, sum(each.counts.ground_truth for each in tallies)
    lost = [fault for fault in classes if fault.unreachable is not None]
    left = to_find - sum(fault.row in names for fault in lost)
    counts = Counter(fault.category for fault in faults)
    (before,) = effects.base.values()
    cumulated: tuple[float | None, str | None] = before, None
    rows = []
    for at, kind in enumerate(progress([*KINDS], "correcting mistakes"), 1):
        count = counts[KINDS[kind][0]]
        change = correction_of([kind], effects, policy, faults)
        alone: tuple[float | None, str | None] = before, None
        if count:
            so_far = correction_of([*KINDS][:at], effects, policy, faults)
            alone = _score_after(change, effects)
            cumulated = alone if so_far == change else _score_after(so_far, effects)
        value, is_missed = alone[0], kind == "missed"
        rows.append(
            BudgetRow(
                kind=kind,
                count=count,
                gain=None if value is None or before is None else value - before,
                score=value,
                cumulated=cumulated[0],
                reason=alone[1] or cumulated[1] or UNSET,
                note=_why_not_wrong(KINDS[kind][0], policy) or UNSET,
                unreachable=Counter(str(fault.unreachable) for fault in lost) if is_missed else UNSET,
                reachable_recall=(left / to_find if to_find else None) if is_missed else UNSET,
                removed=effects.editor.removed(change),
                added=change.texts,
                policy={side.lower(): text for side, text in (change.policy or policy).texts().items()},
            )
        )
    return rows


def _why_not_wrong(category: str, policy: Policy) -> str:
    """Return what the policy makes of lines of a category that it does not count as wrong; nothing of others."""
    if category == MISSED:
        return ""
    sides = [side for side in SIDES if category in policy.items(side)]
    if category == DUPLICATE:  # that counts as one side alone, the last
        sides = sides[-1:]
    if WRONG in sides:
        return ""
    if RIGHT in sides:
        return "right under this policy"
    return "ignored under this policy" if IGNORE in sides else "not counted under this policy"


def _score_after(change: Change, effects: Effects) -> tuple[float | None, str | None]:
    effect = effects.of(change)
    (score,) = effect.scores.values()
    return score, effect.reason if score is None else None
