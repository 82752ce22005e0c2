"""The rows of one query, and what they become when lines go or come: only those lines are counted again whose labels
may change.

A line that cannot be right takes nothing but its own counts with it, unless it keeps the nominal rule from looking at a
better line of its node. A right one may leave its place to a duplicate: those of its class are counted again, in a row
whose slot takes one value those of all its classes. All of it is done by the scorer's own code, on these lines alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice
from operator import attrgetter
from typing import Final, TypeAlias

from cs_score.base.records import Record
from cs_score.coldstart.counting import Counting
from cs_score.coldstart.judging import INCORRECT_PARENT, ClassTree, Labels, Members, category_in
from cs_score.coldstart.limits import best_first
from cs_score.coldstart.lines import Assessment, Response
from cs_score.coldstart.options import IGNORE, RIGHT, Policy

Group: TypeAlias = tuple[str, str | None]
"""The lines of one node in one row, which the nominal rule looks at together (specification 7.7)."""

_TWO_HOPS: Final = 2
_index: Final = attrgetter("index")


class Arrival(Record):
    """A line that comes: its assessment, None where it has none, and the class in which it stands."""

    line: Response
    assessment: Assessment | None
    class_name: str


class Recount(Record):
    """What becomes of a query: how many more lines of each row are right, and how many more count; labels that are new;
    rows that are gone with their last line."""

    rows: Mapping[str, tuple[int, int]]
    labels: Mapping[int, Labels]
    emptied: Set[str]


class CountedQuery:
    """The lines of one query as they were counted.

    The numbers of lines must tell them apart, and the justifications of a node must be limited (`most`).
    """

    def __init__(
        self, tree: ClassTree, members: Members, counting: Counting, policy: Policy, most: int, gold_rows: Set[str]
    ) -> None:
        """`tree` holds all classes of `members`; `counting` has labelled them; `gold_rows` are there without any."""
        self._tree = tree
        self._members = members
        self._counting = counting
        self._policy = policy
        self._most = most
        self._gold_rows = gold_rows
        self._class_of: dict[int, str] = {}
        self._right_in_class: dict[str, list[Response]] = {}
        self._right_in_group: dict[Group, list[Response]] = defaultdict(list)
        self._classes_of_row: dict[str, list[str]] = defaultdict(list)
        self._lines_in_row: dict[str, int] = defaultdict(int)
        for name, lines in members.items():
            row = tree.above[name]
            self._lines_in_row[row] += len(lines)
            self._class_of |= dict.fromkeys(map(_index, lines), name)
            if right := [line for line in lines if self._may_be_right(line)]:
                self._right_in_class[name] = right
                self._classes_of_row[row].append(name)
                for line in right:
                    self._right_in_group[row, line.node].append(line)
        self._assessed_in_group = self._groups()
        self._is_deep = any(tree.depth(name) > _TWO_HOPS for name in members)

    def _groups(self) -> dict[Group, list[Response]]:
        """The assessed lines of each group that has a line which may be right, those first that are looked at first."""
        groups: dict[Group, list[Response]] = {group: [] for group in self._right_in_group}
        matched = self._counting.matched
        for name, lines in self._members.items():
            row = self._tree.above[name]
            for line in lines:
                if (row, line.node) in groups and line.index in matched:
                    groups[row, line.node].append(line)
        return {group: best_first(lines) if len(lines) > 1 else lines for group, lines in groups.items()}

    def class_of(self, line: Response) -> str:
        """The class that a line stands in."""
        return self._class_of[line.index]

    def row_of(self, line: Response) -> str:
        """The query or class that a line stands below."""
        return self._tree.above[self._class_of[line.index]]

    def after(self, removed: Sequence[Response], added: Sequence[Arrival] = ()) -> Recount | None:
        """What becomes of the query without some lines and with others.

        None where rows would be gone of which more than their own lines decide.
        """
        rows: dict[str, list[int]] = {}
        for line in removed:
            of_row = rows.setdefault(self.row_of(line), [0, 0, 0])
            _count(of_row, self._counting.labels[line.index], -1)
        gone = {line.index for line in removed}
        labels = self._relabelled(gone, *self._touched(removed, added), added)
        row_of_added = {each.line.index: self._tree.above[each.class_name] for each in added}
        for index, new in labels.items():
            row = row_of_added.get(index, "") or self._tree.above[self._class_of[index]]
            if index not in row_of_added:
                _count(rows.setdefault(row, [0, 0, 0]), self._counting.labels[index], -1)
            _count(rows.setdefault(row, [0, 0, 0]), new, 1)
        emptied = {row for row, (_, _, more) in rows.items() if self._lines_in_row[row] + more == 0} - self._gold_rows
        if emptied and (self._is_deep or self._tree.root in emptied):
            return None
        counts = {row: (right, counted) for row, (right, counted, _) in rows.items() if row not in emptied}
        return Recount(counts, labels, emptied)

    def _touched(
        self, removed: Iterable[Response], added: Sequence[Arrival]
    ) -> tuple[dict[str, None], dict[Group, None]]:
        """The classes whose right lines are chosen anew, and the groups that may be named or not from now on."""
        classes: dict[str, None] = {}
        groups: dict[Group, None] = {}
        for line in removed:
            row = self.row_of(line)
            if self._may_be_right(line):
                classes |= self._chosen_together(self._class_of[line.index], row)
                groups[row, line.node] = None
            elif any(line.index == first.index for first in self._deciding((row, line.node), ())):
                groups[row, line.node] = None
        for each in added:
            row = self._tree.above[each.class_name]
            if each.assessment is not None and each.assessment.judgment in self._policy.right:
                classes |= self._chosen_together(each.class_name, row)
            groups[row, each.line.node] = None
        for name in list(classes):
            row = self._tree.above[name]
            groups |= dict.fromkeys((row, line.node) for line in self._right_in_class.get(name, ()))
        return classes, groups

    def _chosen_together(self, name: str, row: str) -> dict[str, None]:
        """The classes of which one line is chosen: that class, or all of a row whose slot takes one value."""
        return dict.fromkeys((name, *self._classes_of_row[row])) if self._tree.single.get(row, False) else {name: None}

    def _relabelled(
        self, gone: Collection[int], classes: Iterable[str], groups: Iterable[Group], added: Sequence[Arrival]
    ) -> Mapping[int, Labels]:
        """The labels of all lines whose labels may change."""
        if not groups:
            return {}
        chosen = [line for name in classes for line in self._right_in_class.get(name, ()) if line.index not in gone]
        counting = self._recounted(chosen, gone, groups, added)
        affected = {line.index for line in chosen}
        coming: dict[Group, list[Response]] = defaultdict(list)
        for each in added:
            coming[self._tree.above[each.class_name], each.line.node].append(each.line)
        turned = [
            line
            for group in groups
            if self._counting.is_named([*self._deciding(group, ())])
            is not counting.is_named([*self._deciding(group, gone), *coming.get(group, ())])
            for line in self._right_in_group.get(group, ())
            if line.index not in gone and line.index not in affected
        ]
        if turned:
            chosen += turned
            counting = self._recounted(chosen, gone, groups, added)
        return {line.index: counting.labels[line.index] for line in (*chosen, *(each.line for each in added))}

    def _recounted(
        self, chosen: Iterable[Response], gone: Collection[int], groups: Iterable[Group], added: Sequence[Arrival]
    ) -> Counting:
        """These lines counted with all that decide on them: those that name their nodes, those of their classes."""
        lines = {line.index: line for line in chosen}
        for group in groups:
            lines |= {line.index: line for line in self._deciding(group, gone)}
        of_lines = {self._class_of[index] for index, line in lines.items() if self._may_be_right(line)}
        for name in {each for of in of_lines for each in self._chosen_together(of, self._tree.above[of])}:
            right = self._right_in_class.get(name, ())
            lines |= {other.index: other for other in right if other.index not in gone}
        known: dict[str, dict[str, bool]] = defaultdict(dict)
        for index, line in lines.items():
            is_below_right = category_in(self._counting.labels[index]) != INCORRECT_PARENT
            known[self.row_of(line)][line.query.short_id] = is_below_right
        giving = {(each.class_name, each.line.target): each for each in reversed(added)}
        for each in added:
            row = self._tree.above[each.class_name]
            known[row][each.line.query.short_id] = self._is_below_right(each.line, row, gone, giving)
        placed = [(line, self._class_of[index]) for index, line in lines.items()]
        placed += ((each.line, each.class_name) for each in added)
        members: dict[str, list[Response]] = {}
        for line, name in sorted(placed, key=lambda item: item[0].index):
            members.setdefault(name, []).append(line)
        tree = ClassTree(self._tree.root, self._tree.single)
        for name in members:
            tree.add(name)
        matched = {index: met for index in lines if (met := self._counting.matched.get(index)) is not None}
        matched |= {each.line.index: each.assessment for each in added if each.assessment is not None}
        counting = Counting(matched, self._policy, self._most, {})
        counting.tally(tree, members, known)
        return counting

    def _deciding(self, group: Group, gone: Collection[int]) -> Iterator[Response]:
        """The assessed lines of a group that the nominal rule looks at."""
        left = (line for line in self._assessed_in_group.get(group, ()) if line.index not in gone)
        return islice(left, self._most)

    def _is_below_right(
        self, line: Response, row: str, gone: Collection[int], added: Mapping[tuple[str, str], Arrival]
    ) -> bool:
        """Whether the answer that the query of a line asks about is right; the first line that gives it decides.

        `added` has the first added line of a class that gives an answer, by class and id of the query about it.
        """
        if row == self._tree.root:
            return True
        asked = line.query.short_id
        for giving in self._members.get(row, ()):
            if giving.target == asked and giving.index not in gone:
                return self._may_be_right(giving)
        found = added.get((row, asked))
        if found is None or found.assessment is None or found.assessment.judgment not in self._policy.right:
            return False
        return self._is_below_right(found.line, self._tree.above[row], gone, added)

    def _may_be_right(self, line: Response) -> bool:
        """Whether a line is right but for duplicates and the nominal rule."""
        return category_in(self._counting.labels[line.index]) in self._policy.right


def _count(row: list[int], labels: Labels, sign: int) -> None:
    """Count a line into a row: as right, as one that is not ignored, and at all."""
    row[0] += sign * labels.count(RIGHT)
    row[1] += sign * (1 - labels.count(IGNORE))
    row[2] += sign
