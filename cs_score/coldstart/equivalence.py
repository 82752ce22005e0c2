"""The tree of equivalence classes of one query, and where assessments and responses stand in it.

Source: specification, sections 7.1 to 7.4. The root is the query; its children are the classes of its answers, theirs
the classes of the second hop. The component `0` collects what belongs to no class.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from cs_score.coldstart.identifiers import parse_query_id
from cs_score.coldstart.linking import Linker
from cs_score.coldstart.predicates import find_predicate
from cs_score.coldstart.records import CORRECT, Assessment, LinkedQuery, Response
from cs_score.errors import InputError
from cs_score.problems import ProblemLog

DEEPEST: Final = 100
"""Components that a class may have after its query; queries have two or three hops."""


@dataclass(slots=True, eq=False)
class ClassNode:
    """One node of the tree while it is being filled: an equivalence class, or the query itself at the root.

    `depth` is 0 for the query, 1 for the classes of its answers, 2 for those of the second hop. `single` tells whether
    the slot that its members' children fill takes one value; None until known.
    """

    name: str
    parent: ClassNode | None
    depth: int = 0
    single: bool | None = None
    is_wrong_bin: bool = False
    holds_accepted: bool = False
    children: list[ClassNode] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    first_answers: dict[str, Response] = field(default_factory=dict)
    """Follow-on query id -> the first response of this class that it asks about; filled at first use."""

    def first_answer(self, query: LinkedQuery) -> Response | None:
        """The first response in this class that `query` asks about; it decides about all answers to `query`."""
        if not self.first_answers:
            for response in self.responses:
                self.first_answers.setdefault(response.target, response)
        return self.first_answers.get(query.short_id)


class ClassTree:
    """The classes of one query, by name, in the order in which they were first met."""

    def __init__(self, query: LinkedQuery) -> None:
        self.root = ClassNode(query.full_id, None, single=query.single)
        self.nodes = {query.full_id: self.root}

    def copy(self) -> ClassTree:
        """A tree of its own with the same nodes in the same order, before any response stands in it."""
        other = ClassTree.__new__(ClassTree)
        made: dict[str, ClassNode] = {}
        for name, node in self.nodes.items():
            parent = None if node.parent is None else made[node.parent.name]
            twin = ClassNode(name, parent, node.depth, node.single, node.is_wrong_bin, node.holds_accepted)
            made[name] = twin
            if parent is not None:
                parent.children.append(twin)
        other.root = made[self.root.name]
        other.nodes = made
        return other

    def dissolve(self) -> None:
        """Cut the links from parents to children, so that the tree goes without help of the cyclic collector."""
        for node in self.nodes.values():
            node.children.clear()

    def node(self, name: str) -> ClassNode:
        """The node of a class, made with its ancestors where it is not there yet.

        Raises InputError where the class belongs to another query or has no query id.
        """
        found = self.nodes.get(name)
        if found is not None:
            return found
        parent_name, _, component = name.rpartition(":")
        if ":" not in parent_name and parent_name != self.root.name:
            raise _foreign_class(name, parent_name, self.root.name)
        if name.count(":") > DEEPEST:
            raise InputError(
                f"equivalence class with {name.count(':')} components: {name}", place=f"query {self.root.name}"
            )
        parent = self.node(parent_name)
        made = ClassNode(name, parent, parent.depth + 1, is_wrong_bin=parent.is_wrong_bin or component == "0")
        parent.children.append(made)
        self.nodes[name] = made
        return made


def _foreign_class(name: str, root: str, query: str) -> InputError:
    remedy = f"the equivalence class {name} of one of its answers should be {query}:n or {query}:n:m; mend VALUE_EC"
    if parse_query_id(root) is None:
        problem = f'unexpected argument: "{root}" sent to parse_queryid'
    else:
        problem = "queryid undefined in QuerySet->get()"
    return InputError(problem, place=f"query {query}", remedy=remedy)


def plant_tree(
    query: LinkedQuery, assessments: Sequence[Assessment], linker: Linker, problems: ProblemLog
) -> ClassTree:
    """The tree of `query` with its assessments placed (specification 7.2).

    Raises InputError where a correct answer stands below a class that holds no accepted answer before it, and where an
    inexact one stands below a class that holds none at all (specification 13.20).
    """
    tree = ClassTree(query)
    inexact: list[tuple[Assessment, ClassNode]] = []
    for assessment in assessments:
        name = class_of_assessment(assessment, linker)
        if name is None:
            _report_orphan(assessment, linker, problems)
            continue
        node = tree.nodes.get(name) or tree.node(name)
        if node.single is None and len(assessment.query.slots) > 1:
            predicate = find_predicate(assessment.query.slots[1])
            node.single = predicate is not None and predicate.single
        if assessment.is_accepted:
            node.holds_accepted = True
            if node.depth >= 2 and not (node.parent or node).holds_accepted:
                if assessment.judgment == CORRECT:
                    raise _without_parent_class(assessment, "before it")
                inexact.append((assessment, node))
    for assessment, node in inexact:
        if not (node.parent or node).holds_accepted:
            raise _without_parent_class(assessment, "in the pool")
    return tree


def _without_parent_class(assessment: Assessment, where: str) -> InputError:
    return InputError(
        f"Equivalence class without correct parent entry: {assessment.text}",
        file=assessment.file,
        place=f"line {assessment.number}",
        remedy=f"no correct or inexact answer of class {assessment.value_class.rpartition(':')[0]} stands {where}",
    )


def place_responses(
    tree: ClassTree, responses: Iterable[Response], matched: Sequence[Assessment | None], linker: Linker
) -> None:
    """Put each response into the class of its assessment, or where an answer without one belongs (7.3).

    `matched` holds the assessment of each response by index.
    """
    nodes, accepting = tree.nodes, linker.accepting
    wrong_bins: dict[LinkedQuery, str] = {}
    for response in responses:
        assessment = matched[response.index]
        name = None if assessment is None else class_of_assessment(assessment, linker)
        if name is None:
            same_answer = accepting.get(response.target)
            if same_answer is not None:
                name = same_answer.value_class
            else:
                name = wrong_bins.get(response.query)
                if name is None:
                    name = wrong_bins[response.query] = f"{linker.class_of_query(response.query)}:0"
        (nodes.get(name) or tree.node(name)).responses.append(response)


def class_of_assessment(assessment: Assessment, linker: Linker) -> str | None:
    """The node that an assessment stands in; None where it answers a query that no accepted answer leads to."""
    value_class = assessment.value_class
    if value_class != "0" and value_class:
        return value_class
    query = assessment.query
    if query.level == 0:
        return f"{query.full_id}:0"
    accepting = linker.accepting.get(query.short_id)
    return None if accepting is None else f"{accepting.value_class}:0"


def _report_orphan(assessment: Assessment, linker: Linker, problems: ProblemLog) -> None:
    parents = [parent.text for parent in linker.assessments if parent.target == assessment.query.short_id]
    problems.add(
        "UNEXPECTED_ASSESSMENT_ENTRY",
        f"\nUnexpected child: \n{assessment.text}\n",
        "\nAll parents:\n{}\n".format("\n".join(parents)),
        place=assessment.place,
    )
