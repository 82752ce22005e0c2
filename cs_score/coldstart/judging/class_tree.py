"""The tree of equivalence classes of one query, and where assessments and responses stand in it.

Source: specification, sections 7.1 to 7.4. The root is the query; its children are the classes of its answers, theirs
the classes of the second hop. The component `0` collects what belongs to no class.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from cs_score.base.errors import InputError
from cs_score.base.records import Struct, field
from cs_score.coldstart.judging.matching import Matched
from cs_score.coldstart.lines.links import Links
from cs_score.coldstart.lines.records import CORRECT, Assessment, LinkedQuery, Response
from cs_score.coldstart.queries.identifiers import parse_query_id
from cs_score.coldstart.queries.predicates import find_predicate
from cs_score.problems.log import ProblemLog

DEEPEST: Final = 100
"""Components that a class may have after its query; queries have two or three hops."""

Members: TypeAlias = Mapping[str, Sequence[Response]]
"""Class -> the responses of a run that stand in it, in load order; classes without any are left out."""


class ClassTree(Struct):
    """The classes of one query, by name; `root` is its full id.

    `single` tells of an inner node whether the slot that the classes below it fill takes one value; where nothing is
    known, it takes several. `above` maps each class to the class above it, or to the query, in the order in which they
    were first met; nothing stands before what is above it. `ground_truth` maps each inner node to the number of classes
    below it that are to be found, those without a component `0`.
    """

    root: str
    single: dict[str, bool]
    above: dict[str, str] = field(default_factory=dict)
    ground_truth: dict[str, int] = field(default_factory=dict)

    def branch(self) -> ClassTree:
        """A tree that begins with these classes; those added to it are not added here."""
        return ClassTree(self.root, self.single, self.above.copy(), self.ground_truth.copy())

    @property
    def inner_nodes(self) -> list[str]:
        """The query and the classes that have classes below them, in the order in which they were first met."""
        return [name for name in (self.root, *self.above) if name in self.ground_truth]

    def depth(self, name: str) -> int:
        """0 for the query, 1 for the classes of its answers, 2 for those of the second hop."""
        return name.count(":") - self.root.count(":")

    def add(self, name: str) -> None:
        """Add a class, with those above it, where it is not there yet.

        Raises InputError where the class belongs to another query or has no query id.
        """
        if name in self.above or name == self.root:
            return
        parent = name.rpartition(":")[0]
        if name.count(":") > DEEPEST:
            raise InputError(f"equivalence class with {name.count(':')} components: {name}", place=f"query {self.root}")
        if parent != self.root and parent not in self.above:
            if ":" not in parent:
                raise _foreign_class(name, parent, self.root)
            self.add(parent)
        self.above[name] = parent
        self.ground_truth[parent] = self.ground_truth.get(parent, 0) + (not is_wrong_bin(name, self.root))


def is_wrong_bin(name: str, root: str) -> bool:
    """Whether a node of the tree of `root` holds what belongs to no class (specification 7.2)."""
    return name.endswith(":0") or ":0:" in name[len(root) :]


def _foreign_class(name: str, root: str, query: str) -> InputError:
    remedy = f"the equivalence class {name} of one of its answers should be {query}:n or {query}:n:m; mend VALUE_EC"
    if parse_query_id(root) is None:
        problem = f'unexpected argument: "{root}" sent to parse_queryid'
    else:
        problem = "queryid undefined in QuerySet->get()"
    return InputError(problem, place=f"query {query}", remedy=remedy)


def build_tree(root: LinkedQuery, assessments: Sequence[Assessment], links: Links, problems: ProblemLog) -> ClassTree:
    """The tree of the query `root` with its assessments placed (specification 7.2).

    Raises InputError where a correct answer stands below a class that holds no accepted answer before it, and where an
    inexact one stands below a class that holds none at all (specification 13.20).
    """
    tree = ClassTree(root.full_id, {root.full_id: root.single})
    above, single = tree.above, tree.single
    wrong_bins: dict[LinkedQuery, str] = {}
    holding_accepted: set[str] = set()
    inexact: list[tuple[Assessment, str]] = []
    texts_leading_to: dict[str, list[str]] = {}
    for assessment in assessments:
        query = assessment.query
        if assessment.is_accepted:
            name = assessment.value_class
        elif query in wrong_bins:
            name = wrong_bins[query]
        elif _is_placed(assessment, links):
            name = wrong_bins[query] = _wrong_bin(query, links)
        else:
            texts_leading_to = texts_leading_to or _texts_by_target(assessments)
            _report_orphan(assessment, texts_leading_to.get(query.short_id, ()), problems)
            continue
        if name not in above:
            tree.add(name)
        if name not in single and len(query.slots) > 1:
            predicate = find_predicate(query.slots[1])
            single[name] = predicate is not None and predicate.single
        if assessment.is_accepted:
            holding_accepted.add(name)
            parent = above.get(name, tree.root)
            if parent != tree.root and parent not in holding_accepted:
                if assessment.judgment == CORRECT:
                    raise _without_parent_class(assessment, "before it")
                inexact.append((assessment, parent))
    for assessment, parent in inexact:
        if parent not in holding_accepted:
            raise _without_parent_class(assessment, "in the pool")
    return tree


def _without_parent_class(assessment: Assessment, where: str) -> InputError:
    return InputError(
        f"Equivalence class without correct parent entry: {assessment.text}",
        file=assessment.file,
        place=f"line {assessment.number}",
        remedy=f"no correct or inexact answer of class {assessment.value_class.rpartition(':')[0]} stands {where}",
    )


def place_responses(tree: ClassTree, responses: Iterable[Response], matched: Matched, links: Links) -> Members:
    """Put each response into the class of its assessment, or where an answer without one belongs (7.3).

    Classes that the tree lacks are added to it.
    """
    members: dict[str, list[Response]] = {}
    wrong_bins: dict[LinkedQuery, str] = {}
    for response in responses:
        query, assessment = response.query, matched.get(response.index)
        if assessment is not None and assessment.is_accepted:
            name = assessment.value_class
        elif (accepting := response.follow_on.accepting) is not None and (
            assessment is None or not _is_placed(assessment, links)
        ):
            name = accepting.value_class
        elif query in wrong_bins:
            name = wrong_bins[query]
        else:
            name = wrong_bins[query] = _wrong_bin(query, links)
        of_class = members.get(name)
        if of_class is None:
            tree.add(name)
            members[name] = [response]
        else:
            of_class.append(response)
    return members


def _wrong_bin(query: LinkedQuery, links: Links) -> str:
    """The node of those answers to a query that belong to no class."""
    return f"{links.class_of_query(query)}:0"


def _is_placed(assessment: Assessment, links: Links) -> bool:
    """Whether an assessment stands in the tree; it does not where no accepted answer leads to the query it answers."""
    return assessment.is_accepted or links.is_accepted(assessment.query)


def _texts_by_target(assessments: Iterable[Assessment]) -> dict[str, list[str]]:
    """The lines that lead to each follow-on query, by its short id."""
    texts: dict[str, list[str]] = {}
    for assessment in assessments:
        texts.setdefault(assessment.target, []).append(assessment.text)
    return texts


def _report_orphan(assessment: Assessment, parents: Sequence[str], problems: ProblemLog) -> None:
    problems.add(
        "UNEXPECTED_ASSESSMENT_ENTRY",
        f"\nUnexpected child: \n{assessment.text}\n",
        "\nAll parents:\n{}\n".format("\n".join(parents)),
        place=assessment.place,
    )
