"""The mistakes of a run: lines that count as wrong, and classes of the ground truth that nothing counted has found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from cs_score.analysis.coldstart.changes import Finding
from cs_score.analysis.coldstart.scored import Scored
from cs_score.base.records import Record
from cs_score.coldstart.judging import REDUNDANT, ClassTree, Labels, category_in, is_wrong_bin
from cs_score.coldstart.lines import CORRECT, Assessment, Response
from cs_score.coldstart.options import DUPLICATE, RIGHT, WRONG, Policy
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
