"""The ranking of one query, and its scores when lines go or come: only their nodes are made, placed and mapped anew.

Nodes that choose among the same classes, directly or through others, are mapped together; all others keep what they are
worth (specification 9.4).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final, Generic, TypeAlias, TypeVar

from cs_score.analysis.coldstart.whatif.edited_ranking import Edit, EditedRanking, Place
from cs_score.coldstart.judging import Labels, Matched
from cs_score.coldstart.lines import Response
from cs_score.coldstart.ranking import AssessedClasses, Node, candidates, is_useful, node_of

_NONE_TAKEN: Final[frozenset[str]] = frozenset()
_index: Final = attrgetter("index")

T = TypeVar("T")

_Candidates: TypeAlias = Sequence[tuple[float, int, str]]
"""The classes that a node may be mapped to, as `candidates` gives them."""


class RankedQuery:
    """The nodes of one query in rank order, with what each is worth.

    Nodes must be what their lines say (`are_plain`).
    """

    def __init__(
        self,
        query_id: str,
        nodes: Mapping[str, Node],
        classes: AssessedClasses,
        truth: Mapping[str, int | None],
        matched: Matched,
        labels: Mapping[int, Labels],
        most: int | None,
    ) -> None:
        """`truth`: the number of answers to be found at each level that is ranked; the rest as for `rank_query`."""
        self._query_id = query_id
        self._nodes = nodes
        self._classes = classes
        self._matched = matched
        self._labels = labels
        self._most = most
        self._node_of = {line.index: name for name, node in nodes.items() for line in node.lines}
        self._children: dict[str, list[str]] = defaultdict(list)
        for node in nodes.values():
            if node.level:
                self._children[node.parent].append(node.name)
        self._places = {name: _place(node, nodes[node.parent]) for name, node in nodes.items()}
        self._candidates = {name: found for name, node in nodes.items() if (found := self._found(node.lines, {}, {}))}
        self._rivals = _rivals(self._candidates)
        in_order = sorted(self._candidates, key=lambda name: self._places[name])
        mapped = _mapped([(name, self._candidates[name]) for name in in_order], _Over({}, nodes))
        self._mapped = {name: value for name, value in mapped.items() if value is not None}
        known = _Over({}, self._mapped)
        worth = [(node.level, self._places[name], _worth(node, known)) for name, node in nodes.items()]
        self._levels = {level: EditedRanking(level, of_level, worth) for level, of_level in truth.items()}

    def after(
        self, removed: Iterable[Response], added: Sequence[Response], labels: Mapping[int, Labels], matched: Matched
    ) -> dict[str, tuple[float, ...]] | None:
        """The scores of each level without some lines and with others.

        `labels` are those of lines that may have others than before, `matched` the assessments of added lines. None
        where a node would hang below none.
        """
        changed = self._changed(removed, added, labels)
        moved = dict.fromkeys(changed)
        for name, node in changed.items():
            before = self._nodes.get(name)
            if node is None or before is None or node.own_confidence != before.own_confidence:
                moved |= dict.fromkeys(self._children.get(name, ()))
        nodes = _Over(changed, self._nodes)
        places: dict[str, Place] = {}
        for name in moved:
            if (node := nodes.get(name)) is not None:
                if (parent := nodes.get(node.parent)) is None:
                    return None
                places[name] = _place(node, parent)
        mapped, redone = self._mapped_anew(changed, moved, places, labels, matched)
        edit = Edit([], {})
        for name in dict.fromkeys((*moved, *redone)):
            if name in self._nodes:
                edit.left.append((self._nodes[name].level, self._places[name]))
            if (node := nodes.get(name)) is not None:
                place = places.get(name) or self._places[name]
                edit.worth[place] = node.level, _worth(node, mapped)
        return {level: ranking.scores(edit) for level, ranking in self._levels.items()}

    def _changed(
        self, removed: Iterable[Response], added: Sequence[Response], labels: Mapping[int, Labels]
    ) -> dict[str, Node | None]:
        """The nodes whose lines change, or the worth of a line; None for one that is gone."""
        gone = {line.index for line in removed}
        names = {self._node_of[index] for index in gone if index in self._node_of}
        for index, new in labels.items():
            if index in self._node_of and is_useful(new) is not is_useful(self._labels[index]):
                names.add(self._node_of[index])
        parents = {name: self._nodes[name].parent for name in names}
        coming: dict[str, list[Response]] = {}
        for line in added:
            if line.node is not None and line.node.startswith(f"{self._query_id}:"):
                parents[line.node] = line.node.rpartition(":")[0] if line.query.level else line.node
                coming.setdefault(line.node, []).append(line)
        changed: dict[str, Node | None] = {}
        for name, parent in parents.items():
            before = self._nodes[name].lines if name in self._nodes else ()
            lines = [line for line in before if line.index not in gone]
            if name in coming:
                lines = sorted((*lines, *coming[name]), key=_index)
            changed[name] = node_of(name, int(name != parent), parent, lines, self._most) if lines else None
        return changed

    def _found(self, lines: Sequence[Response], labels: Mapping[int, Labels], matched: Matched) -> _Candidates:
        """The classes that a node with these lines may be mapped to; what is given of lines is other than before."""
        of_lines: dict[int, Labels] = {}
        met = {}
        for line in lines:
            assessment = matched.get(line.index) or self._matched.get(line.index)
            if assessment is not None:
                met[line.index] = assessment
                of_lines[line.index] = labels.get(line.index) or self._labels[line.index]
        return candidates(lines, _NONE_TAKEN, self._classes, met, of_lines, self._most)

    def _mapped_anew(
        self,
        changed: Mapping[str, Node | None],
        moved: Iterable[str],
        places: Mapping[str, Place],
        labels: Mapping[int, Labels],
        matched: Matched,
    ) -> tuple[_Over[float], Iterable[str]]:
        """What the best class is worth for each node; and the nodes for which that, or what is above, may differ."""
        found: dict[str, _Candidates] = {}
        for name, node in changed.items():
            if node is not None and (of_node := self._found(node.lines, labels, matched)):
                found[name] = of_node
        chosen = {name for of_node in found.values() for _, _, name in of_node}
        chosen |= {name for node in moved for _, _, name in self._candidates.get(node, ())}
        rivals = dict.fromkeys(name for each in chosen for name in self._rivals.get(each, ()))
        mapped: dict[str, float | None] = dict.fromkeys((*changed, *rivals))
        if found or rivals:
            found |= {name: self._candidates[name] for name in rivals if name not in changed}
            nodes = _Over(changed, self._nodes)
            in_order = sorted(found, key=lambda name: places.get(name) or self._places[name])
            mapped |= _mapped([(name, found[name]) for name in in_order], nodes)
        below = (child for name in mapped for child in self._children.get(name, ()))
        return _Over(mapped, self._mapped), (*rivals, *below)


class _Over(Generic[T]):
    """What is known by name, with changes laid over it; None for what is not there any more."""

    def __init__(self, changed: Mapping[str, T | None], known: Mapping[str, T]) -> None:
        self._changed = changed
        self._known = known

    def get(self, name: str) -> T | None:
        return self._changed[name] if name in self._changed else self._known.get(name)


def are_plain(nodes: Mapping[str, Node]) -> bool:
    """Whether nodes are what their lines say: of the hop that these answer, below a node that has lines of its own."""
    return all(
        node.name.count(":") == node.level + 1
        and node.parent in nodes
        and all(line.node == node.name and line.query.level == node.level for line in node.lines)
        for node in nodes.values()
    )


def _place(node: Node, parent: Node) -> Place:
    confidence = node.own_confidence * parent.own_confidence if node.level else node.own_confidence
    return -confidence, node.first.number, node.first.index


def _worth(node: Node, mapped: _Over[float]) -> float:
    """What a node is worth: nothing below one that is worth nothing (specification 9.6)."""
    value = mapped.get(node.name) or 0.0
    return value if not node.level or mapped.get(node.parent) else 0.0


def _mapped(in_order: Sequence[tuple[str, _Candidates]], nodes: _Over[Node]) -> dict[str, float | None]:
    """What the best class still free is worth for each node, those of the first hop first (specification 9.4)."""
    taken: set[str] = set()
    mapped: dict[str, float | None] = {}
    for level in (0, 1):
        for name, found in in_order:
            node = nodes.get(name)
            if node is not None and node.level == level:
                free = [each for each in found if each[2] not in taken]
                if free:
                    mapped[name], _, best = max(free)
                    taken.add(best)
    return mapped


def _rivals(found: Mapping[str, _Candidates]) -> dict[str, list[str]]:
    """For each class the nodes that choose among classes together with it, directly or through others."""
    group_of: dict[str, tuple[list[str], list[str]]] = {}
    for node, of_node in found.items():
        nodes, classes = [node], []
        for _, _, name in of_node:
            known = group_of.get(name)
            if known is None:
                classes.append(name)
            elif known[0] is not nodes:
                larger, smaller = (known, (nodes, classes)) if len(known[0]) > len(nodes) else ((nodes, classes), known)
                larger[0].extend(smaller[0])
                larger[1].extend(smaller[1])
                nodes, classes = larger
        for name in classes:
            group_of[name] = nodes, classes
    return {name: nodes for name, (nodes, _) in group_of.items()}
